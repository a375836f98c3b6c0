//! Finds the forms of all values, function by function, callees first.
//!
//! A body is walked in order; each statement binds its variables to forms over what is in scope. What a loop carries is at first
//! taken to keep its first form, in all loops of the function at once; what turns out otherwise is unknown in the next walk
//! over the function. When a walk takes nothing back, its assumptions are proved by each other (induction on iterations). After
//! [`WALKS`] walks all that is left of the assumptions is taken back, so that the analysis is linear.

mod array;
mod parallel;

use super::facts::{About, Facts, Learnt};
use super::form::{FamilyKind, Form, Nest, Table, TermKind, Value};
use super::signature::Signature;
use super::{Extent, Known, Shapes, rows_of};
use crate::analysis::calls::calls;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::{FunId, Id, IdMap, SpanId, Var};
use crate::ir::scalar::ScalarOp;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, LoopParam, Program, Stm, TrapKind, Vars};
use crate::ir::types::{Dim, Size, Type};
use crate::ir::walk::deep;
use std::cell::RefCell;

/// The most walks over a function with assumptions about its loops.
const WALKS: usize = 8;

/// Analyses a program.
pub(super) fn program(program: &Program<Soac>) -> Shapes {
    let calls = calls(program);
    let unknown = program.funs.iter().map(|fun| Signature {
        params: fun.params.iter().map(|p| p.var).collect(),
        results: vec![None; fun.results.len()],
        equal: Vec::new(),
    });
    let mut infer = Infer {
        vars: &program.vars,
        table: Table::new(),
        known: IdMap::new(),
        nests: HashMap::default(),
        facts: Facts::default(),
        signatures: unknown.collect(),
        contradictions: Vec::new(),
        all_contradictions: Vec::new(),
        fun: 0,
        now: 0,
        nest: None,
        depth: 0,
        changing: HashSet::default(),
        assume: true,
        taken_back: false,
    };
    let mut facts: Vec<Facts> = vec![Facts::default(); program.funs.len()];
    for id in calls.order {
        let fun = &program.funs[id];
        // The body of a derivative says nothing of its results yet.
        infer.function(id, fun, calls.recursive[id] || fun.derivative.is_some());
        facts[id.index()] = std::mem::take(&mut infer.facts);
    }
    Shapes {
        table: RefCell::new(infer.table),
        vars: infer.known,
        nests: infer.nests,
        facts,
        signatures: infer.signatures,
        contradictions: infer.all_contradictions,
    }
}

/// What came of walking a nested body.
struct Nested {
    /// When it began.
    start: u32,
    /// The values of its results by what is known at its end.
    inner: Vec<Option<Value>>,
    /// Other values, the same way.
    also: Vec<Option<Value>>,
    /// The values of its results by what is known around it.
    outer: Vec<Option<Value>>,
}

/// The state of the analysis.
struct Infer<'p> {
    vars: &'p Vars,
    table: Table,
    known: IdMap<Var, Known>,
    nests: HashMap<Nest, super::NestInfo>,
    facts: Facts,
    signatures: Vec<Signature>,
    /// Those of this walk, and those of the last walk of each function.
    contradictions: Vec<SpanId>,
    all_contradictions: Vec<SpanId>,
    fun: u32,
    now: u32,
    nest: Option<Nest>,
    depth: usize,
    /// What loops carry and change.
    changing: HashSet<Var>,
    /// Whether other loop-carried values are taken to keep their first form.
    assume: bool,
    /// Whether the walk took something back.
    taken_back: bool,
}

impl<'p> Infer<'p> {
    fn function(&mut self, id: FunId, fun: &'p Fun<Soac>, opaque: bool) {
        let start = self.now;
        self.fun = id.0;
        self.assume = true;
        for walk in 0.. {
            self.now = start;
            self.taken_back = false;
            self.facts = Facts::default();
            self.contradictions.clear();
            self.assume &= walk < WALKS;
            self.walk(fun);
            if !self.taken_back {
                break;
            }
        }
        self.all_contradictions.append(&mut self.contradictions);
        if !opaque {
            self.signatures[id.index()] = self.signature(fun);
        }
        let now = self.now;
        self.facts.close(0, now);
        self.now += 1;
    }

    fn walk(&mut self, fun: &'p Fun<Soac>) {
        fun.params.iter().for_each(|p| self.bind(p.var, None));
        self.body(&fun.body);
        self.tick();
    }

    fn signature(&mut self, fun: &'p Fun<Soac>) -> Signature {
        let params: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
        let results = fun.body.result.iter().map(|a| {
            let value = self.now(*a)?;
            self.table.is_over(value, &params).then_some(value)
        });
        let results = results.collect();
        let mut equal = Vec::new();
        for about in self.facts.since(0) {
            let About::Term(t) = about else { continue };
            let form = self.table.of_products(0, vec![(vec![t], 1)]);
            let value = self.facts.term(t, self.now);
            let (Some(a), Some(b)) = (form, value) else {
                continue;
            };
            if [a, b]
                .map(Value::Scalar)
                .into_iter()
                .all(|v| self.table.is_over(v, &params))
            {
                equal.push((a, b));
            }
        }
        Signature {
            params,
            results,
            equal,
        }
    }

    /// The next moment.
    fn tick(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    /// Gives a variable its value, or one of which nothing is known.
    fn bind(&mut self, v: Var, value: Option<Value>) {
        let born = self.now;
        self.table.birth(v, born);
        let unknown = |table: &mut Table, ty: &Type| match ty {
            Type::Scalar(_) => Some(Value::Scalar(table.var(v))),
            Type::Array(array) => {
                let rows = FamilyKind::Rows {
                    array: v,
                    at: Vec::new(),
                    left: array.rank(),
                };
                Some(Value::Array(table.of_family(rows)))
            }
            Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
        };
        let ty = &self.vars[v].ty;
        let value = match value {
            Some(value) => Some(value),
            None => unknown(&mut self.table, ty),
        };
        let shape = ty.shape().iter().map(|d| self.extent(*d)).collect();
        self.known.set(
            v,
            Known {
                value,
                shape,
                born,
                fun: self.fun,
                nest: self.nest,
            },
        );
    }

    /// The extent of a dimension.
    fn extent(&mut self, dim: Dim) -> Extent {
        match dim {
            Dim::Size(size) => Extent::Fixed(self.size(size)),
            Dim::Ragged(offsets) => match self.atom(offsets.into()) {
                Some(Value::Array(family)) => {
                    let family = self.facts.resolve_family(&mut self.table, family, self.now);
                    rows_of(&mut self.table, family)
                }
                Some(Value::Scalar(f)) => Extent::Fixed(f),
                None => Extent::Fixed(self.table.constant(0)),
            },
        }
    }

    /// The canonical form of a size now.
    fn size(&mut self, size: Size) -> Form {
        match self.atom(size.into()).map(|v| self.resolved(v)) {
            Some(Value::Scalar(f)) => f,
            Some(Value::Array(_)) | None => self.table.constant(0),
        }
    }

    fn atom(&mut self, a: Atom) -> Option<Value> {
        match a {
            Atom::Const(c) => Some(Value::Scalar(self.table.scalar_constant(c))),
            Atom::Var(v) => self.known[v].value,
        }
    }

    /// The value of an atom by what is known now.
    fn now(&mut self, a: Atom) -> Option<Value> {
        let value = self.atom(a)?;
        Some(self.resolved(value))
    }

    fn scalar(&mut self, a: Atom) -> Option<Form> {
        match self.atom(a).map(|v| self.resolved(v))? {
            Value::Scalar(f) => Some(f),
            Value::Array(_) => None,
        }
    }

    fn resolved(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(f) => Value::Scalar(self.facts.resolve(&mut self.table, f, self.now)),
            Value::Array(f) => {
                Value::Array(self.facts.resolve_family(&mut self.table, f, self.now))
            }
        }
    }

    fn equal(&mut self, a: Form, b: Form, span: SpanId) {
        let learnt = self.facts.equal(&mut self.table, a, b, self.now);
        self.note(learnt, span);
    }

    fn note(&mut self, learnt: Learnt, span: SpanId) {
        match learnt {
            Learnt::Consistent => {}
            Learnt::Contradiction => self.contradictions.push(span),
        }
    }

    fn body(&mut self, body: &'p Body<Soac>) {
        for stm in &body.stms {
            self.tick();
            deep(|| self.stm(stm));
        }
    }

    /// Walks a body that may not be executed, or many times; what its checks show ends with it. `also` is resolved together
    /// with the results.
    fn nested(
        &mut self,
        body: &'p Body<Soac>,
        also: &[Option<Value>],
        begin: impl FnOnce(&mut Self),
    ) -> Nested {
        let start = self.tick();
        let mark = self.facts.mark();
        begin(self);
        self.body(body);
        self.tick();
        let inner = body.result.iter().map(|a| self.now(*a)).collect();
        let also = also.iter().map(|v| Some(self.resolved((*v)?))).collect();
        let now = self.now;
        self.facts.close(mark, now);
        self.tick();
        Nested {
            start,
            inner,
            also,
            outer: body.result.iter().map(|a| self.now(*a)).collect(),
        }
    }

    fn stm(&mut self, stm: &'p Stm<Soac>) {
        match &stm.exp {
            Exp::Atom(a) => {
                let value = self.atom(*a).map(|v| self.resolved(v));
                self.bind_all(stm, &[value]);
            }
            Exp::Scalar(op, args) => {
                let value = self.operation(*op, args);
                self.bind_all(stm, &[value.map(Value::Scalar)]);
            }
            Exp::Assert { cond, message } => {
                self.bind_all(stm, &[]);
                if let Some(cond) = self.scalar(*cond) {
                    let learnt = self.facts.condition(&mut self.table, cond, true, self.now);
                    // What else fails for certain may be what the program is for.
                    if matches!(message.kind, TrapKind::Shape | TrapKind::Coercion) {
                        self.note(learnt, stm.span);
                    }
                }
            }
            // Which version runs is known to the device alone.
            Exp::Guard { .. } => self.bind_all(stm, &[]),
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.branch(stm, *cond, then, otherwise),
            Exp::Loop { params, form, body } => self.repeat(stm, params, form, body),
            Exp::Call { fun, args } => self.call(stm, *fun, args),
            Exp::Op(op) => self.op(stm, op),
        }
    }

    /// Binds the variables of a statement; those without a value are unknown.
    fn bind_all(&mut self, stm: &Stm<Soac>, values: &[Option<Value>]) {
        for (i, v) in stm.binds.iter().enumerate() {
            self.bind(*v, values.get(i).copied().flatten());
        }
    }

    fn operation(&mut self, op: ScalarOp, args: &[Atom]) -> Option<Form> {
        let args: Option<Vec<Form>> = args.iter().map(|a| self.scalar(*a)).collect();
        let form = self.table.op(op, args?)?;
        Some(self.facts.resolve(&mut self.table, form, self.now))
    }

    /// [Cond-Shape]: what both branches agree in does not depend on the condition.
    fn branch(
        &mut self,
        stm: &'p Stm<Soac>,
        cond: Atom,
        then: &'p Body<Soac>,
        otherwise: &'p Body<Soac>,
    ) {
        let cond = self.scalar(cond);
        let learn = |this: &mut Self, holds| {
            if let Some(cond) = cond {
                // A branch that is never taken is no mistake.
                this.facts.condition(&mut this.table, cond, holds, this.now);
            }
        };
        let left = self.nested(then, &[], |this| learn(this, true));
        let right = self.nested(otherwise, &[], |this| learn(this, false));
        let agree = |i: usize| {
            [(&left.outer, &right.outer), (&left.inner, &right.inner)]
                .into_iter()
                .filter_map(|(a, b)| a[i].filter(|v| Some(*v) == b[i]))
                .find(|v| self.is_before(*v, left.start))
        };
        let same = (0..stm.binds.len()).map(agree);
        let values: Vec<Option<Value>> = same.collect();
        self.bind_all(stm, &values);
    }

    /// [While-Shape]: what the body keeps has the value that it had at first.
    fn repeat(
        &mut self,
        stm: &'p Stm<Soac>,
        params: &'p [LoopParam],
        form: &'p LoopForm<Soac>,
        body: &'p Body<Soac>,
    ) {
        let first: Vec<Option<Value>> = params
            .iter()
            .map(|p| {
                let kept = self.assume && !self.changing.contains(&p.var);
                self.now(p.init).filter(|_| kept)
            })
            .collect();
        let mark = self.facts.mark();
        self.tick();
        for (p, value) in params.iter().zip(&first) {
            self.bind(p.var, *value);
        }
        let step = match form {
            LoopForm::For { index, bound: _ } => {
                self.nested(body, &first, |this| this.bind(*index, None))
            }
            LoopForm::While(cond) => {
                // In one scope: what was checked to find the condition was checked before the body.
                self.body(cond);
                self.nested(body, &first, |this| {
                    let holds = cond.result.first().and_then(|c| this.scalar(*c));
                    if let Some(holds) = holds {
                        this.facts.condition(&mut this.table, holds, true, this.now);
                    }
                })
            }
        };
        let now = self.tick();
        self.facts.close(mark, now);
        self.tick();
        for (i, p) in params.iter().enumerate() {
            let kept = first[i] == step.outer[i] || step.also[i] == step.inner[i];
            if first[i].is_some() && !kept {
                self.changing.insert(p.var);
                self.taken_back = true;
            }
        }
        self.bind_all(stm, &first);
    }

    fn call(&mut self, stm: &'p Stm<Soac>, fun: FunId, args: &[Atom]) {
        let args: Vec<Option<Value>> = args.iter().map(|a| self.now(*a)).collect();
        let applied = self.signatures[fun.index()].apply(&mut self.table, &args);
        self.bind_all(stm, &applied.results);
        for (a, b) in applied.equal {
            self.equal(a, b, stm.span);
        }
    }

    /// Whether a value names only what was bound before.
    fn is_before(&self, value: Value, start: u32) -> bool {
        self.table.info(value).born < start
    }

    /// Whether a term is the element of an array at the index of an operation.
    fn element_of(&self, about: About, nest: Nest) -> Option<Var> {
        let About::Term(t) = about else { return None };
        let TermKind::Elem { array, at } = self.table.term(t) else {
            return None;
        };
        let [at] = at[..] else { return None };
        let index = self.table.as_term(at).map(|t| self.table.term(t));
        (index == Some(&TermKind::Index(nest))).then_some(*array)
    }
}
