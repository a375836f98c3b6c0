//! From which variables each variable has its value: the rules of listings 4 and 5 as edges of a graph.
//!
//! An edge says that a variable varies with what another one varies with; the edge out of a parallel operation takes its index
//! away ([Generate-1]). The rules for operations, indexing, tuples, `let` and `fold` are edges from operands. A conditional has edges from both
//! results and from the condition ([Cond-Irr], of which [Cond-Indep] is the case of a condition that varies with nothing), a loop
//! from first values, next values, and what ends it ([While-Irr], [While-Indep]). What has a canonical form varies with no more
//! than the form does, and there the rules about equal shapes come in ([Cond-Shape], [While-Shape]).

use super::levels::Levels;
use crate::analysis::shapes::form::{Family, FamilyKind, Form, Table, TermKind, Value};
use crate::analysis::shapes::{Extent, Shapes};
use crate::ir::id::{IdMap, Var};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Fun, Lambda, LoopForm, LoopParam, Stm};
use crate::ir::types::Size;
use crate::ir::walk::deep;

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) from: Var,
    /// The depth of the operation whose index is taken away.
    pub(super) outside: Option<usize>,
}

/// What a form names.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaves {
    pub(super) own: Levels,
    pub(super) vars: Vec<Var>,
}

/// Where a variable has its value from.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    pub(super) own: Levels,
    pub(super) sources: Vec<Source>,
    /// What its canonical form names, if that is not the variable itself.
    pub(super) form: Option<Leaves>,
}

/// What is known of the results of a function: the parameters that they vary with. Nothing for recursive functions and derivatives.
pub(super) type Summary = Option<Vec<Levels>>;

/// The graph of a function.
pub(super) struct Flow<'p> {
    /// All variables, in the order of the text.
    pub(super) order: Vec<Var>,
    /// Where each of these has its value from.
    pub(super) origins: Vec<Origin>,
    /// The place of each among them. One table serves all functions, so that a function costs no more than its own length.
    places: &'p mut IdMap<Var, u32>,
    shapes: &'p Shapes,
    summaries: &'p [Summary],
    depth: usize,
}

impl<'p> Flow<'p> {
    /// The graph of `fun`.
    pub(super) fn of(
        fun: &Fun<Soac>,
        shapes: &'p Shapes,
        summaries: &'p [Summary],
        places: &'p mut IdMap<Var, u32>,
    ) -> Self {
        let mut flow = Self {
            order: Vec::new(),
            origins: Vec::new(),
            places,
            shapes,
            summaries,
            depth: 0,
        };
        for (i, p) in fun.params.iter().enumerate() {
            flow.bind(p.var, Levels::param(i));
        }
        flow.body(&fun.body);
        flow
    }

    fn bind(&mut self, v: Var, own: Levels) {
        let table = self.shapes.table();
        let form = self.shapes.value(v).and_then(|value| {
            let mut leaves = value_leaves(&table, self.shapes, value);
            // A variable of which nothing is known must not vouch for itself.
            if leaves.own.is_none() && leaves.vars == [v] {
                return None;
            }
            // An array is its elements and its extents.
            for extent in self.shapes.shape(v) {
                leaves.extent(&table, self.shapes, *extent);
            }
            leaves.vars.sort_unstable();
            leaves.vars.dedup();
            Some(leaves)
        });
        drop(table);
        self.places.set(v, self.order.len() as u32);
        self.order.push(v);
        self.origins.push(Origin {
            own,
            sources: Vec::new(),
            form,
        });
    }

    /// The place of a variable, if the function binds it.
    pub(super) fn place(&self, v: Var) -> Option<usize> {
        let place = self.places[v] as usize;
        (self.order.get(place) == Some(&v)).then_some(place)
    }

    /// Pairs of places: whose value has something of the second's.
    pub(super) fn uses(&self) -> Vec<(usize, usize)> {
        let mut uses = Vec::new();
        for (user, origin) in self.origins.iter().enumerate() {
            let named = origin.form.iter().flat_map(|f| &f.vars).copied();
            let from = origin.sources.iter().map(|s| s.from).chain(named);
            uses.extend(from.filter_map(|v| Some((self.place(v)?, user))));
        }
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    fn edge(&mut self, to: Var, from: Atom, outside: Option<usize>) {
        if let Atom::Var(from) = from {
            let source = Source { from, outside };
            if let Some(place) = self.place(to) {
                self.origins[place].sources.push(source);
            }
        }
    }

    fn body(&mut self, body: &Body<Soac>) {
        for stm in &body.stms {
            deep(|| self.stm(stm));
        }
    }

    fn stm(&mut self, stm: &Stm<Soac>) {
        match &stm.exp {
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Guard { .. }
            | Exp::Op(Soac::Array(_) | Soac::UpdateAcc(_)) => {
                self.bind_all(stm);
                stm.exp
                    .operands(&mut |a| stm.binds.iter().for_each(|v| self.edge(*v, a, None)));
            }
            // That a check was passed is no value.
            Exp::Assert { .. } => self.bind_all(stm),
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.body(then);
                self.body(otherwise);
                self.bind_all(stm);
                for (i, v) in stm.binds.iter().enumerate() {
                    self.edge(*v, *cond, None);
                    self.edge(*v, then.result[i], None);
                    self.edge(*v, otherwise.result[i], None);
                }
            }
            Exp::Loop { params, form, body } => self.repeat(stm, params, form, body),
            Exp::Call { fun, args } => {
                self.bind_all(stm);
                for (i, v) in stm.binds.iter().enumerate() {
                    let with = self.summaries[fun.0 as usize].as_ref().map(|s| s[i]);
                    for (j, a) in args.iter().enumerate() {
                        if with.is_none_or(|with| with.meets(Levels::param(j))) {
                            self.edge(*v, *a, None);
                        }
                    }
                }
            }
            Exp::Op(op) => self.parallel(stm, op),
        }
    }

    fn bind_all(&mut self, stm: &Stm<Soac>) {
        stm.binds.iter().for_each(|v| self.bind(*v, Levels::NONE));
    }

    /// Points that run a loop are at the same iteration together, so that its index varies with nothing; when it ends, those
    /// that have run it more often have other values.
    fn repeat(
        &mut self,
        stm: &Stm<Soac>,
        params: &[LoopParam],
        form: &LoopForm<Soac>,
        body: &Body<Soac>,
    ) {
        params.iter().for_each(|p| self.bind(p.var, Levels::NONE));
        let ends = match form {
            LoopForm::For { index, bound } => {
                self.bind(*index, Levels::NONE);
                Some(*bound)
            }
            LoopForm::While(cond) => {
                self.body(cond);
                cond.result.first().copied()
            }
        };
        self.body(body);
        self.bind_all(stm);
        for (i, p) in params.iter().enumerate() {
            let next = body.result[i];
            for to in [p.var].iter().chain(stm.binds.get(i)) {
                self.edge(*to, p.init, None);
                self.edge(*to, next, None);
            }
            if let (Some(v), Some(ends)) = (stm.binds.get(i), ends) {
                self.edge(*v, ends, None);
            }
        }
    }

    fn parallel(&mut self, stm: &Stm<Soac>, op: &Soac) {
        match op {
            Soac::Array(_) | Soac::UpdateAcc(_) => {}
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                self.lambda(lam, arrays);
                self.bind_all(stm);
                let mut at = 0;
                for op in scans.iter().chain(reds) {
                    let to = at + op.neutral.len();
                    self.operator(op, &op.neutral, &lam.body.result[at..to]);
                    for (k, i) in (at..to).enumerate() {
                        self.edge(stm.binds[i], op.neutral[k], None);
                        self.out(stm.binds[i], &op.lam.body.result[k..=k]);
                    }
                    at = to;
                }
                for (i, v) in stm.binds.iter().enumerate() {
                    self.edge(*v, (*width).into(), None);
                    self.out(*v, &lam.body.result[i..=i]);
                }
            }
            Soac::Filter { width, arrays, lam }
            | Soac::FlatMap {
                width, arrays, lam, ..
            } => {
                self.lambda(lam, arrays);
                self.bind_all(stm);
                self.whole(stm, *width, &[], &lam.body.result);
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                self.lambda(lam, arrays);
                self.bind_all(stm);
                for op in ops {
                    let dests: Vec<Atom> = op.dests.iter().map(|v| Atom::Var(*v)).collect();
                    self.operator(&op.op, &dests, &lam.body.result);
                    self.whole(stm, *width, &dests, &op.op.lam.body.result);
                }
                self.whole(stm, *width, &[], &lam.body.result);
            }
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                self.lambda(lam, arrays);
                self.bind_all(stm);
                let dests: Vec<Atom> = dests.iter().map(|d| Atom::Var(d.array)).collect();
                self.whole(stm, *width, &dests, &lam.body.result);
            }
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                let dests: Vec<Atom> = acc.dests.iter().map(|v| Atom::Var(*v)).collect();
                for v in acc.binders() {
                    self.bind(v, Levels::nest(self.depth));
                    dests.iter().for_each(|d| self.edge(v, *d, None));
                }
                self.lambda(lam, arrays);
                self.bind_all(stm);
                if let Some(op) = &acc.op {
                    self.operator(op, &dests, &lam.body.result);
                    self.whole(stm, *width, &dests, &op.lam.body.result);
                }
                self.whole(stm, *width, &dests, &lam.body.result);
            }
        }
    }

    fn lambda(&mut self, lam: &Lambda<Soac>, arrays: &[Var]) {
        let own = Levels::nest(self.depth);
        for (p, array) in lam.params.iter().zip(arrays) {
            self.bind(*p, own);
            self.edge(*p, (*array).into(), None);
        }
        self.depth += 1;
        self.body(&lam.body);
        self.depth -= 1;
    }

    /// The operands of an operator are elements, what was there at first, and what the operator gave.
    fn operator(&mut self, op: &Operator<Soac>, first: &[Atom], elements: &[Atom]) {
        let own = Levels::nest(self.depth);
        for p in &op.lam.params {
            self.bind(*p, own);
            for a in first.iter().chain(elements).chain(&op.lam.body.result) {
                self.edge(*p, *a, None);
            }
        }
        self.depth += 1;
        self.body(&op.lam.body);
        self.depth -= 1;
    }

    /// Edges out of the operation at hand.
    fn out(&mut self, to: Var, from: &[Atom]) {
        from.iter()
            .for_each(|a| self.edge(to, *a, Some(self.depth)));
    }

    /// Every result has something of everything.
    fn whole(&mut self, stm: &Stm<Soac>, width: Size, dests: &[Atom], results: &[Atom]) {
        for v in &stm.binds {
            self.edge(*v, width.into(), None);
            dests.iter().for_each(|a| self.edge(*v, *a, None));
            self.out(*v, results);
        }
    }
}

/// What a value names.
pub(super) fn value_leaves(table: &Table, shapes: &Shapes, value: Value) -> Leaves {
    let mut leaves = Leaves::default();
    leaves.value(table, shapes, value);
    leaves
}

impl Leaves {
    fn value(&mut self, table: &Table, shapes: &Shapes, value: Value) {
        match value {
            Value::Scalar(f) => self.form(table, shapes, f),
            Value::Array(f) => self.family(table, shapes, f),
        }
    }

    fn extent(&mut self, table: &Table, shapes: &Shapes, extent: Extent) {
        match extent {
            Extent::Fixed(f) => self.form(table, shapes, f),
            Extent::Varying(f) => self.family(table, shapes, f),
        }
    }

    fn form(&mut self, table: &Table, shapes: &Shapes, f: Form) {
        for t in table.form(f).products.iter().flat_map(|p| &p.terms) {
            match table.term(*t) {
                TermKind::Var(v) => self.vars.push(*v),
                TermKind::Index(nest) => {
                    let depth = shapes.info(*nest).map_or(usize::MAX, |info| info.depth);
                    self.own = self.own.or(Levels::nest(depth));
                }
                TermKind::Bound(_) | TermKind::Const(_) => {}
                TermKind::Elem { array, at } => {
                    self.vars.push(*array);
                    at.iter().for_each(|f| self.form(table, shapes, *f));
                }
                TermKind::Sum { width, of } => {
                    self.form(table, shapes, *width);
                    self.family(table, shapes, *of);
                }
                TermKind::Op(_, args) => args.iter().for_each(|f| self.form(table, shapes, *f)),
            }
        }
    }

    fn family(&mut self, table: &Table, shapes: &Shapes, f: Family) {
        match table.family(f) {
            FamilyKind::Scalar(f) => self.form(table, shapes, *f),
            FamilyKind::Abs(_, body) => self.family(table, shapes, *body),
            FamilyKind::Rows { array, at, .. } => {
                self.vars.push(*array);
                at.iter().for_each(|f| self.form(table, shapes, *f));
            }
        }
    }
}
