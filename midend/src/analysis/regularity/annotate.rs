//! A program with what the analyses found as comments, for `arrc opt --pass=regularity`.
//!
//! ```text
//! ; forall n_0. (i64, [n_0]i64) -> exists k_9. [k_9]i64      the type of a function with its sizes
//! ; lifted: ks_2                                             it is called by points that differ in this parameter
//! ; ys_3 <R Ir, varies, 0>                                   the triple ⟨n, i, k⟩
//! ; k_4 <S, same, inf> = n_0 + 1                             and the canonical value
//! ; width varies 0                                           what decides: widths, conditions, trips
//! ```

use super::Regularity;
use super::levels::Levels;
use crate::analysis::shapes::Extent;
use crate::analysis::shapes::form::{TermKind, Value};
use crate::analysis::shapes::show::Show;
use crate::hash::HashMap;
use crate::ir::id::{FunId, Var};
use crate::ir::print::Printer;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Program};
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk;

/// The text of a program with comments.
pub fn annotated(program: &Program<Soac>) -> String {
    let facts = super::regularity(program);
    let mut notes = Notes {
        program,
        facts: &facts,
        names: Printer::numbered(program),
        notes: HashMap::default(),
    };
    for (id, fun) in program.funs.enumerate() {
        notes.fun(id, fun);
    }
    let Notes { notes, .. } = notes;
    Printer::annotated(program, notes)
}

struct Notes<'p> {
    program: &'p Program<Soac>,
    facts: &'p Regularity,
    names: Printer<'p>,
    notes: HashMap<Var, Vec<String>>,
}

impl<'p> Notes<'p> {
    fn name(&mut self, v: Var) -> String {
        self.names.piece(|p| p.var(v))
    }

    fn show<R>(&mut self, f: impl FnOnce(&mut Show<'_>) -> R) -> R {
        let table = self.facts.shapes().table();
        let names = &mut self.names;
        f(&mut Show {
            table: &table,
            name: &mut |v| names.piece(|p| p.var(v)),
        })
    }

    fn fun(&mut self, id: FunId, fun: &'p Fun<Soac>) {
        let first = fun.params.first().or(fun.results.first());
        let mut lines = vec![self.signature(id, fun)];
        if let Some(lifted) = self.facts.lifted(id) {
            let params = lifted.params(fun.params.len());
            let names: Vec<String> = params.map(|i| self.name(fun.params[i].var)).collect();
            lines.push(format!("lifted: {}", names.join(", ")).trim_end().into());
        }
        if let Some(first) = first {
            self.notes.insert(first.var, lines);
        }
        walk::all_bodies(&fun.body, &mut |body| self.body(body));
    }

    /// The sizes of a function's type: what is universal are parameters, what is existential are results.
    fn signature(&mut self, id: FunId, fun: &'p Fun<Soac>) -> String {
        let signature = self.facts.shapes().signature(id).clone();
        let vars = &self.program.vars;
        let names_size = |v: Var| {
            let formals = fun.params.iter().chain(&fun.results);
            let mut dims = formals.flat_map(|p| vars[p.var].ty.shape());
            dims.any(|d| d.var() == Some(v))
        };
        let mut text = String::new();
        let sizes = fun.params.iter().filter(|p| names_size(p.var));
        let sizes: Vec<String> = sizes.map(|p| self.name(p.var)).collect();
        if !sizes.is_empty() {
            text.push_str(&format!("forall {}. ", sizes.join(" ")));
        }
        let params = fun.params.iter().filter(|p| !names_size(p.var));
        let params: Vec<String> = params
            .map(|p| self.ty(p.var, &HashMap::default()))
            .collect();
        text.push_str(&format!("({}) -> ", params.join(", ")));
        // A size result is a form over parameters, or the function's own secret.
        let mut known = HashMap::default();
        let mut secret = Vec::new();
        for (p, value) in fun.results.iter().zip(&signature.results) {
            match value {
                Some(Value::Scalar(f)) if names_size(p.var) => {
                    known.insert(p.var, self.show(|s| s.form(*f)));
                }
                Some(_) | None if names_size(p.var) => secret.push(self.name(p.var)),
                Some(_) | None => {}
            }
        }
        if !secret.is_empty() {
            text.push_str(&format!("exists {}. ", secret.join(" ")));
        }
        let results = fun.results.iter().filter(|p| !names_size(p.var));
        let results: Vec<String> = results.map(|p| self.ty(p.var, &known)).collect();
        text.push_str(&format!("({})", results.join(", ")));
        for (i, (a, b)) in signature.equal.iter().enumerate() {
            let (a, b) = self.show(|s| (s.form(*a), s.form(*b)));
            text.push_str(&format!(
                "{} {a} = {b}",
                if i == 0 { " where" } else { "," }
            ));
        }
        text
    }

    /// The type of a variable, with sizes written out that are known.
    fn ty(&mut self, v: Var, known: &HashMap<Var, String>) -> String {
        let ty = &self.program.vars[v].ty;
        let mut text = String::new();
        for dim in ty.shape() {
            let size = match dim {
                Dim::Size(Size::Const(n)) => n.to_string(),
                Dim::Size(Size::Var(v)) => match known.get(v) {
                    Some(form) => form.clone(),
                    None => self.name(*v),
                },
                Dim::Ragged(v) => format!("..{}", self.name(*v)),
            };
            text.push_str(&format!("[{size}]"));
        }
        text.push_str(ty.elem().map_or("cert", |s| s.name()));
        text
    }

    fn body(&mut self, body: &'p Body<Soac>) {
        for stm in &body.stms {
            let mut lines: Vec<String> = Vec::new();
            if let Some(decides) = Regularity::decides(&stm.exp) {
                lines.push(self.decision(&stm.exp, decides, stm.binds.first().copied()));
            }
            lines.extend(stm.binds.iter().filter_map(|v| self.variable(*v)));
            if let Some(first) = stm.binds.first() {
                self.notes.insert(*first, lines);
            }
            let mut inner = Vec::new();
            stm.exp.inner_binders(&mut |v| inner.push(v));
            for v in inner {
                if let Some(line) = self.variable(v) {
                    self.notes.insert(v, vec![line]);
                }
            }
        }
    }

    fn decision(&mut self, exp: &Exp<Soac>, decides: Atom, at: Option<Var>) -> String {
        let what = match exp {
            Exp::If { .. } => "condition",
            Exp::Loop { .. } => "trips",
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => "width",
        };
        let varies = self.facts.varies(decides);
        let at = decides.as_var().or(at);
        match at {
            Some(v) if !self.facts.is_uniform_at(varies, v) => {
                format!("{what} varies {}", self.levels(varies, v))
            }
            Some(_) | None => format!("{what} uniform"),
        }
    }

    /// The levels that a value varies with, seen from where `v` is bound.
    fn levels(&self, varies: Levels, v: Var) -> String {
        let mut words = Vec::new();
        if varies.meets(self.facts.differs(v)) {
            words.push("caller".to_owned());
        }
        words.extend(varies.depths().map(|d| d.to_string()));
        words.join(" ")
    }

    fn variable(&mut self, v: Var) -> Option<String> {
        let ty = &self.program.vars[v].ty;
        match ty {
            Type::Scalar(_) | Type::Array(_) => {}
            Type::Acc(_) | Type::Buffer(_) | Type::Cert => return None,
        }
        let triple = self.facts.triple(v);
        let shapes = self.facts.shapes();
        let value = shapes.value(v).filter(|value| match value {
            Value::Scalar(f) if *ty == Type::I64 => {
                let table = shapes.table();
                let term = table.as_term(*f).map(|t| table.term(t).clone());
                term != Some(TermKind::Var(v))
            }
            Value::Scalar(_) | Value::Array(_) => false,
        });
        let called = self.facts.lifted(FunId(self.facts.owner[v])).is_some();
        if shapes.nest(v).is_none() && !called && !ty.is_array() && value.is_none() {
            return None;
        }
        let dims = triple.regular.iter().map(|r| if *r { "R" } else { "Ir" });
        let n: Vec<&str> = dims.collect();
        let n = if n.is_empty() {
            "S".into()
        } else {
            n.join(" ")
        };
        let i = if triple.independent { "same" } else { "varies" };
        let varies = self.facts.varies(v.into());
        let k = match triple.independent {
            true => "inf".into(),
            false => self.levels(varies, v),
        };
        let mut text = format!("{} <{n}, {i}, {k}>", self.name(v));
        if let Some(value) = value {
            text.push_str(&format!(" = {}", self.show(|s| s.value(value))));
        }
        let shape = shapes.shape(v).to_vec();
        let other = |(extent, dim): (&Extent, &Dim)| match (extent, dim) {
            (Extent::Fixed(f), Dim::Size(size)) => {
                let named = match size {
                    Size::Const(_) => return false,
                    Size::Var(v) => TermKind::Var(*v),
                };
                let table = shapes.table();
                table.as_term(*f).map(|t| table.term(t).clone()) != Some(named)
            }
            (Extent::Fixed(_), Dim::Ragged(_)) => true,
            (Extent::Varying(_), Dim::Size(_) | Dim::Ragged(_)) => false,
        };
        if shape.iter().zip(ty.shape()).any(other) {
            text.push_str(&format!(" shape {}", self.show(|s| s.shape(&shape))));
        }
        Some(text)
    }
}
