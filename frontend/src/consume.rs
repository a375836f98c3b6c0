//! Consumption: what is updated in place, or given to a parameter `*t`, is not used afterwards, under no name.
//!
//! A pass over the typed program. Every expression gets the set of variables whose memory its value may share
//! ([`alias::Al`], by component); a variable that is consumed takes all variables with it that share its memory. Functions are judged by
//! their types: a result not marked unique may share the memory of every argument that is not consumed. Result types that the source
//! does not mark are found unique here if the body says so, and the uses of the function profit.

mod alias;
mod apply;
mod exp;
mod loops;
mod returns;

use crate::diagnostic::{Code, Diagnostic};
use crate::lower::mentions::{self, Mention};
use crate::source::Span;
use crate::typed::{Dec, Exp, ModuleExp, Name, NameKind, Pat, PatKind, Program, Type, ValueDef};
use alias::{Al, Alias, Set};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Everything that is wrong with a program's use of memory.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    let mut cx = Consume::new(program);
    for def in &program.prelude {
        cx.prelude_def(def);
    }
    for file in &program.files {
        cx.decs(&file.decs);
    }
    cx.errors
}

/// What is known of a variable in scope.
#[derive(Clone)]
struct Entry {
    al: Al,
    /// Its type, with the marks that it was declared with.
    ty: Type,
    consumable: bool,
    /// How many lambdas and loops are around its binding.
    depth: usize,
}

/// A value: what it aliases, and its type with uniqueness marks.
struct Checked {
    al: Al,
    ty: Type,
}

struct Consume<'p> {
    program: &'p Program,
    errors: Vec<Diagnostic>,
    env: HashMap<Name, Entry>,
    /// Types of functions whose results were found unique.
    found: HashMap<Name, Type>,
    depth: usize,
    consumed: BTreeMap<u32, Span>,
    log: Vec<u32>,
    /// Made-up variables for the memory of results, and what to call them.
    results: Vec<String>,
}

/// Ids of made-up variables are above those of names.
const MADE_UP: u32 = 1 << 31;

impl<'p> Consume<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            errors: Vec::new(),
            env: HashMap::new(),
            found: HashMap::new(),
            depth: 0,
            consumed: BTreeMap::new(),
            log: Vec::new(),
            results: Vec::new(),
        }
    }

    fn decs(&mut self, decs: &'p [Dec]) {
        for dec in decs {
            match dec {
                Dec::Value(def) => self.def(def),
                Dec::Module(module) => self.module(module),
                Dec::Functor(functor) => self.module(&functor.body),
            }
        }
    }

    fn module(&mut self, module: &'p ModuleExp) {
        match module {
            ModuleExp::Known | ModuleExp::Binds(_) => {}
            ModuleExp::Struct(decs) => {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.decs(decs));
            }
            ModuleExp::Seq(modules) => modules.iter().for_each(|m| self.module(m)),
            ModuleExp::Apply { arg, .. } => self.module(arg),
        }
    }

    /// A definition of the prelude: right, but its results may be unique without a mark.
    fn prelude_def(&mut self, def: &'p ValueDef) {
        let errors = self.errors.len();
        self.def(def);
        self.errors.truncate(errors);
    }

    fn def(&mut self, def: &'p ValueDef) {
        self.consumed.clear();
        self.log.clear();
        let declared = def.ret.ty.clone();
        if def.params.is_empty() && returns::any_unique(&declared) {
            let message = "a constant of the top level cannot have a unique type";
            self.error(Code::NotConsumable, def.span, message);
        }
        let body = self.in_params(&def.params, |cx| {
            let body = cx.exp(&def.body);
            cx.check_result(&def.params, &declared, &body.al, def.body.span);
            cx.check_global_result(&def.params, &body.al, def.body.span);
            body
        });
        let ret = self.infer_unique(&def.params, &declared, &body.al);
        if !def.params.is_empty() {
            let ty = returns::with_result(&def.scheme.ty, def.params.len(), &ret);
            self.found.insert(def.name, ty);
        }
    }

    // --- Scopes -------------------------------------------------------------

    /// Checks a body in the scope of parameters. Nothing from outside can be consumed there, and what it consumes is its
    /// own.
    fn in_params(&mut self, params: &'p [Pat], f: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.depth += 1;
        for param in params {
            self.bind_param(param, false);
        }
        let ((), mut checked, _) = self.contained(|cx| ((), f(cx)));
        self.depth -= 1;
        checked.al.unscope(&names_of(params));
        checked
    }

    /// Does something and takes back what was consumed in it, which is returned.
    fn contained<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> (T, Checked),
    ) -> (T, Checked, BTreeMap<u32, Span>) {
        let mark = self.log.len();
        let (value, checked) = f(self);
        let mut new = BTreeMap::new();
        for id in self.log.split_off(mark) {
            if let Some(span) = self.consumed.remove(&id) {
                new.insert(id, span);
            }
        }
        (value, checked, new)
    }

    fn note_consumed(&mut self, new: &BTreeMap<u32, Span>) {
        for (id, span) in new {
            if self.consumed.insert(*id, *span).is_none() {
                self.log.push(*id);
            }
        }
    }

    /// Binds the names of a parameter: they alias themselves, and can be consumed if they are marked so.
    fn bind_param(&mut self, pat: &'p Pat, all_consumable: bool) {
        each_name(pat, &mut |name, ty| {
            let entry = Entry {
                al: Al::of_var(ty, name.0),
                ty: ty.clone(),
                consumable: all_consumable || returns::diet(ty),
                depth: self.depth,
            };
            self.env.insert(name, entry);
        });
    }

    /// Binds the names of a pattern to parts of a value.
    fn bind_pat(&mut self, pat: &'p Pat, value: &Checked) {
        match &pat.kind {
            PatKind::Name(name) => {
                let mut al = value.al.clone();
                al.add_var(&pat.ty, name.0);
                let entry = Entry {
                    al,
                    ty: value.ty.clone(),
                    consumable: true,
                    depth: self.depth,
                };
                self.env.insert(*name, entry);
            }
            PatKind::Wild | PatKind::Literal(_) => {}
            PatKind::Tuple(ps) => {
                for (i, p) in ps.iter().enumerate() {
                    let part = value.component(i, &p.ty);
                    self.bind_pat(p, &part);
                }
            }
            PatKind::Record(ps) => {
                for (field, p) in ps {
                    let part = value.field(field, &p.ty);
                    self.bind_pat(p, &part);
                }
            }
            PatKind::Construct(con, ps) => {
                for (i, p) in ps.iter().enumerate() {
                    let part = Checked {
                        al: value.al.payload(con, i),
                        ty: p.ty.clone(),
                    };
                    self.bind_pat(p, &part);
                }
            }
        }
    }

    /// The variables in scope that an expression mentions.
    fn free_in(&self, walk: impl FnOnce(&mut dyn FnMut(Mention))) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        walk(&mut |m| {
            if let Mention::Name(name) = m
                && self.env.contains_key(&name)
            {
                names.insert(name);
            }
        });
        names
    }

    /// What a closure over these variables aliases.
    fn closure(&self, free: &BTreeSet<Name>) -> Al {
        let mut set = Set::new();
        for name in free {
            if let Some(entry) = self.env.get(name) {
                entry.al.collect(&mut set);
            }
        }
        Al::Leaf(set)
    }

    // --- Use and consumption ------------------------------------------------

    /// The value of a variable.
    fn observe(&mut self, name: Name, ty: &Type, span: Span) -> Checked {
        let checked = match self.env.get(&name) {
            Some(entry) => Checked {
                al: entry.al.clone(),
                ty: returns::marked_as(ty, &entry.ty),
            },
            None => self.global(name, ty),
        };
        self.check_used(&checked.al.set(), span);
        checked
    }

    /// A variable of the top level. A polymorphic one at a size that is bound here is computed here, and fresh.
    fn global(&mut self, name: Name, ty: &Type) -> Checked {
        let info = self.program.names.get(name);
        let known = self
            .found
            .get(&name)
            .or(info.scheme.as_ref().map(|s| &s.ty));
        let marked = known.map_or_else(|| ty.clone(), |known| returns::marked_as(ty, known));
        let constant = matches!(info.kind, NameKind::Value) && {
            let mut local = false;
            mentions::ty(ty, &mut |m| {
                if let Mention::Name(name) = m {
                    local |= self.env.contains_key(&name);
                }
            });
            !local
        };
        let al = if constant {
            Al::of_global(ty, name.0)
        } else {
            Al::none(ty)
        };
        Checked { al, ty: marked }
    }

    fn check_used(&mut self, set: &Set, span: Span) {
        let bad = set
            .iter()
            .find_map(|a| Some((a.id, *self.consumed.get(&a.id)?)));
        if let Some((id, at)) = bad {
            let what = self.describe(id);
            let error = Diagnostic::error(
                Code::UseAfterConsume,
                span,
                format!("{what} is used, but it was consumed before"),
            )
            .label("used here, perhaps under another name")
            .also(at, "consumed here");
            self.errors.push(error);
        }
    }

    fn consume(&mut self, set: &Set, span: Span) {
        for alias in set {
            if alias.free {
                continue;
            }
            let ok = self
                .env
                .get(&Name(alias.id))
                .is_some_and(|entry| entry.consumable && entry.depth >= self.depth);
            if !ok {
                let what = self.describe(alias.id);
                let outside = self.env.get(&Name(alias.id)).is_none_or(|e| e.consumable);
                let error = Diagnostic::error(
                    Code::NotConsumable,
                    span,
                    format!("{what} cannot be consumed here"),
                );
                let error = if outside {
                    error.note("it is bound outside of this function, lambda or loop")
                } else {
                    error.note("it is a parameter whose type is not marked unique with `*`")
                };
                self.errors.push(error.hint("use `copy` to consume a copy"));
                break;
            }
        }
        self.check_used(set, span);
        for alias in set {
            if self.consumed.insert(alias.id, span).is_none() {
                self.log.push(alias.id);
            }
        }
    }

    /// How a message calls a variable.
    fn describe(&self, id: u32) -> String {
        match id.checked_sub(MADE_UP) {
            Some(i) => self.results[i as usize].clone(),
            None => format!("`{}`", self.program.names.text(Name(id))),
        }
    }

    /// A variable for memory that no name stands for.
    fn made_up(&mut self, what: String) -> Alias {
        let id = MADE_UP + u32::try_from(self.results.len()).unwrap_or(0);
        self.results.push(what);
        Alias {
            id,
            free: true,
            path: 0,
        }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(code, span, message));
    }

    /// Whether the variable is of the top level.
    fn is_global(&self, id: u32) -> bool {
        id < MADE_UP && !self.env.contains_key(&Name(id))
    }

    fn exp_names(e: &Exp) -> impl FnOnce(&mut dyn FnMut(Mention)) + '_ {
        |f| mentions::exp(e, f)
    }
}

impl Checked {
    fn component(&self, i: usize, ty: &Type) -> Checked {
        let marked = match &self.ty {
            Type::Tuple(ts) => ts.get(i).cloned(),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => None,
        };
        Checked {
            al: self.al.component(i),
            ty: marked.unwrap_or_else(|| ty.clone()),
        }
    }

    fn field(&self, name: &crate::typed::Sym, ty: &Type) -> Checked {
        let marked = match &self.ty {
            Type::Record(ts) => ts.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone()),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => None,
        };
        Checked {
            al: self.al.field(name),
            ty: marked.unwrap_or_else(|| ty.clone()),
        }
    }
}

/// Calls `f` on the names that a pattern binds, with their types.
fn each_name<'p>(pat: &'p Pat, f: &mut dyn FnMut(Name, &'p Type)) {
    match &pat.kind {
        PatKind::Name(name) => f(*name, &pat.ty),
        PatKind::Wild | PatKind::Literal(_) => {}
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter().for_each(|p| each_name(p, f)),
        PatKind::Record(ps) => ps.iter().for_each(|(_, p)| each_name(p, f)),
    }
}

fn names_of(params: &[Pat]) -> BTreeSet<u32> {
    let mut names = BTreeSet::new();
    for param in params {
        each_name(param, &mut |name, _| {
            names.insert(name.0);
        });
    }
    names
}
