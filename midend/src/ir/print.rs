//! From programs to text. The form is described in [`super::text`].

use super::build::clean_name;
use super::id::{FunId, Id, SpanId, Var};
use super::scalar::Const;
use super::span::Spans;
use super::syntax::{Atom, Body, Derivative, Fun, Inline, Lambda, Mode, Param, Program, Vars};
use super::text::{Text, is_plain};
use super::types::{ArrayType, Dim, Size, Type};
use super::walk::deep;
use crate::hash::HashMap;

mod entry;
mod exp;
mod mem;
mod ops;

/// The text of a program.
pub fn program<D: Text>(program: &Program<D>) -> String {
    let mut p = Printer::new(program);
    p.program(program);
    p.out
}

/// Prints pieces of one program; numbers variables in the order in which they are printed.
pub struct Printer<'a> {
    vars: &'a Vars,
    spans: &'a Spans,
    funs: Vec<&'a str>,
    out: String,
    indent: usize,
    numbers: HashMap<Var, usize>,
    places: HashMap<SpanId, usize>,
    place_order: Vec<SpanId>,
    /// Whether nested bodies are printed as `..` only.
    brief: bool,
    /// Comments on variables, which stand before the statement or at the start of the body for which they are bound.
    notes: HashMap<Var, Vec<String>>,
}

impl<'a> Printer<'a> {
    /// A printer of pieces of `program` that has printed nothing yet.
    pub fn new<D>(program: &'a Program<D>) -> Self {
        Self {
            vars: &program.vars,
            spans: &program.spans,
            funs: program.funs.iter().map(|f| f.name.as_str()).collect(),
            out: String::new(),
            indent: 0,
            numbers: HashMap::default(),
            places: HashMap::default(),
            place_order: Vec::new(),
            brief: false,
            notes: HashMap::default(),
        }
    }

    /// The text of a program with comments on variables, lines without the mark of a comment.
    pub fn annotated<D: Text>(program: &'a Program<D>, notes: HashMap<Var, Vec<String>>) -> String {
        // Numbers are those of the program without comments.
        let mut p = Self::numbered(program);
        p.notes = notes;
        p.places.clear();
        p.place_order.clear();
        p.program(program);
        p.out
    }

    /// A printer of pieces of `program` that numbers variables as the text of the whole program does.
    pub fn numbered<D: Text>(program: &'a Program<D>) -> Self {
        let mut p = Self::new(program);
        p.program(program);
        p.out.clear();
        p
    }

    /// Ends the printing.
    pub fn finish(self) -> String {
        self.out
    }

    /// What `f` prints, as a text of its own.
    pub fn piece(&mut self, f: impl FnOnce(&mut Self)) -> String {
        let before = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, before)
    }

    /// A statement on one line, without its bodies.
    pub fn brief_stm<D: Text>(&mut self, stm: &super::syntax::Stm<D>) -> String {
        self.brief = true;
        let text = self.piece(|p| p.stm(stm));
        self.brief = false;
        text
    }

    /// A whole program.
    pub fn program<D: Text>(&mut self, program: &Program<D>) {
        self.word(D::NAME);
        self.word("\n");
        for fun in program.funs.iter() {
            self.word("\n");
            self.fun(fun);
        }
        self.place_table();
    }

    /// A function with a line end.
    pub fn fun<D: Text>(&mut self, fun: &Fun<D>) {
        self.notes_on(fun.params.iter().chain(&fun.results).map(|p| p.var));
        self.word("fun ");
        self.fun_name(&fun.name);
        self.params(&fun.params);
        self.word(" -> ");
        self.params(&fun.results);
        match fun.inline {
            Inline::Auto => {}
            Inline::Always => self.word(" inline"),
            Inline::Never => self.word(" noinline"),
        }
        if let Some(Derivative { mode, first, count }) = fun.derivative {
            let mode = match mode {
                Mode::Forward => "forward",
                Mode::Reverse => "reverse",
                Mode::Custom => "custom",
            };
            self.word(&format!(" derivative {mode} {first} {count}"));
        }
        if let Some(entry) = &fun.entry {
            self.word("\n  ");
            self.entry(entry);
        }
        self.place(fun.span);
        self.word(if fun.entry.is_some() { "\n" } else { " " });
        self.body(&fun.body);
        self.word("\n");
    }

    fn params(&mut self, params: &[Param]) {
        self.word("(");
        self.list(params, |p, param| {
            if param.unique {
                p.word("*");
            }
            p.binder(param.var);
        });
        self.word(")");
    }

    /// Text as it is.
    pub fn word(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Items with commas between them.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut f: impl FnMut(&mut Self, T)) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.word(", ");
            }
            f(self, item);
        }
    }

    /// Atoms in parentheses.
    pub fn atoms(&mut self, atoms: &[Atom]) {
        self.word("(");
        self.list(atoms, |p, a| p.atom(*a));
        self.word(")");
    }

    /// Variables in parentheses.
    pub fn var_list(&mut self, vars: &[Var]) {
        self.word("(");
        self.list(vars, |p, v| p.var(*v));
        self.word(")");
    }

    /// Sizes in brackets.
    pub fn sizes(&mut self, sizes: &[Size]) {
        self.word("[");
        self.list(sizes, |p, s| p.size(*s));
        self.word("]");
    }

    /// A shape that may be ragged.
    pub(super) fn dims(&mut self, dims: &[Dim]) {
        self.word("[");
        self.list(dims, |p, d| p.dim(*d));
        self.word("]");
    }

    fn dim(&mut self, dim: Dim) {
        match dim {
            Dim::Size(size) => self.size(size),
            Dim::Ragged(offsets) => {
                self.word("..");
                self.var(offsets);
            }
        }
    }

    /// A variable where it is used.
    pub fn var(&mut self, v: Var) {
        let next = self.numbers.len();
        let number = *self.numbers.entry(v).or_insert(next);
        let name = self
            .vars
            .get(v)
            .map_or("lost".into(), |info| clean_name(&info.name));
        self.word(&format!("{name}_{number}"));
    }

    /// A variable where it is bound, with its type.
    pub fn binder(&mut self, v: Var) {
        self.var(v);
        self.word(": ");
        match self.vars.get(v) {
            Some(info) => self.ty(&info.ty),
            None => self.word("lost"),
        }
    }

    /// A constant or variable.
    pub fn atom(&mut self, a: Atom) {
        match a {
            Atom::Const(c) => self.constant(c),
            Atom::Var(v) => self.var(v),
        }
    }

    /// A size.
    pub fn size(&mut self, size: Size) {
        self.atom(size.into());
    }

    /// A constant.
    pub fn constant(&mut self, c: Const) {
        let text = match c {
            Const::I64(n) => n.to_string(),
            Const::I8(n) => format!("{n}i8"),
            Const::I16(n) => format!("{n}i16"),
            Const::I32(n) => format!("{n}i32"),
            Const::U8(n) => format!("{n}u8"),
            Const::U16(n) => format!("{n}u16"),
            Const::U32(n) => format!("{n}u32"),
            Const::U64(n) => format!("{n}u64"),
            Const::Bool(b) => b.to_string(),
            Const::F16(bits) => {
                let x = half::f16::from_bits(bits);
                let canonical = half::f16::NAN.to_bits() == bits;
                float(
                    f64::from(x),
                    format!("{:?}", x.to_f32()),
                    "f16",
                    canonical,
                    bits.into(),
                )
            }
            Const::F32(bits) => {
                let x = f32::from_bits(bits);
                let canonical = f32::NAN.to_bits() == bits;
                float(
                    f64::from(x),
                    format!("{x:?}"),
                    "f32",
                    canonical,
                    bits.into(),
                )
            }
            Const::F64(bits) => {
                let x = f64::from_bits(bits);
                let canonical = f64::NAN.to_bits() == bits;
                float(x, format!("{x:?}"), "f64", canonical, bits)
            }
        };
        self.word(&text);
    }

    /// A type.
    pub fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(s) => self.word(s.name()),
            Type::Array(array) => self.array_type(array),
            Type::Acc(acc) => {
                self.word("acc(");
                self.var(acc.token);
                self.word(&format!(", {})", acc.part));
                self.array_type(&acc.array);
            }
            Type::Buffer(s) => {
                self.word("buffer ");
                self.word(s.name());
            }
            Type::Cert => self.word("cert"),
        }
    }

    fn array_type(&mut self, array: &ArrayType) {
        for dim in &array.shape {
            self.word("[");
            self.dim(*dim);
            self.word("]");
        }
        self.word(array.elem.name());
    }

    /// Comments on variables, a line each.
    pub(super) fn notes_on(&mut self, vars: impl Iterator<Item = Var>) {
        if self.notes.is_empty() || self.brief {
            return;
        }
        for line in vars.filter_map(|v| self.notes.get(&v)).flatten() {
            self.out.push_str("; ");
            self.out.push_str(line);
            self.out.push('\n');
            self.out.push_str(&"  ".repeat(self.indent));
        }
    }

    /// A body in braces, without a line end.
    pub fn body<D: Text>(&mut self, body: &Body<D>) {
        self.body_for(&[], body);
    }

    /// A body for which variables are bound.
    pub(super) fn body_for<D: Text>(&mut self, bound: &[Var], body: &Body<D>) {
        if self.brief {
            return self.word("{ .. }");
        }
        self.word("{");
        self.indent += 1;
        if bound.iter().any(|v| self.notes.contains_key(v)) {
            self.line();
            self.notes_on(bound.iter().copied());
            self.out.truncate(self.out.trim_end().len());
        }
        for stm in &body.stms {
            self.line();
            deep(|| self.stm(stm));
        }
        self.line();
        self.word("yield");
        for (i, a) in body.result.iter().enumerate() {
            self.word(if i == 0 { " " } else { ", " });
            self.atom(*a);
        }
        self.indent -= 1;
        self.line();
        self.word("}");
    }

    /// A lambda.
    pub fn lambda<D: Text>(&mut self, lam: &Lambda<D>) {
        self.word("\\(");
        self.list(&lam.params, |p, v| p.binder(*v));
        self.word(") ");
        self.body_for(&lam.params, &lam.body);
    }

    /// The place after what it belongs to, if there is one.
    pub fn place(&mut self, span: SpanId) {
        if self.spans.place(span).is_some() && !self.brief {
            let number = self.place_number(span);
            self.word(&format!(" @{number}"));
        }
    }

    fn place_number(&mut self, span: SpanId) -> usize {
        let next = self.places.len() + 1;
        *self.places.entry(span).or_insert_with(|| {
            self.place_order.push(span);
            next
        })
    }

    /// The places printed so far, and the calls through which they came there.
    fn place_table(&mut self) {
        let mut done = 0;
        while let Some(span) = self.place_order.get(done).copied() {
            if done == 0 {
                self.word("\n");
            }
            done += 1;
            let spans = self.spans;
            let Some(place) = spans.place(span) else {
                continue;
            };
            self.word(&format!("span {done} "));
            self.string(&place.file);
            let ((l0, c0), (l1, c1)) = (place.start, place.end);
            self.word(&format!(" {l0}:{c0}..{l1}:{c1}"));
            if let Some(call) = place.inlined_at.filter(|s| spans.place(*s).is_some()) {
                let number = self.place_number(call);
                self.word(&format!(" in {number}"));
            }
            self.word("\n");
        }
    }

    /// The name of a function.
    pub fn fun_ref(&mut self, fun: FunId) {
        match self.funs.get(fun.index()).copied() {
            Some(name) => self.fun_name(name),
            None => self.word("lost"),
        }
    }

    fn fun_name(&mut self, name: &str) {
        if is_plain(name) {
            self.word(name);
        } else {
            self.string(name);
        }
    }

    /// A string in quotes.
    pub fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\n' => self.out.push_str("\\n"),
                c if c.is_control() => self.out.push_str(&format!("\\u{{{:x}}}", c as u32)),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }
}

fn float(x: f64, decimal: String, ty: &str, canonical_nan: bool, bits: u64) -> String {
    if x.is_finite() {
        format!("{decimal}{ty}")
    } else if x.is_infinite() {
        format!("{ty}#{}inf", if x < 0.0 { "-" } else { "" })
    } else if canonical_nan {
        format!("{ty}#nan")
    } else {
        format!("{ty}#{bits:x}")
    }
}
