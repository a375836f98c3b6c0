//! How the places that a parallel operation reads move with the indices of its space and the counters of its loops
//! (thesis ch. 9: what layout and tiling are decided by).
//!
//! ```text
//! segmap device (i < n, j < p) {
//!   loop .. for k < m {
//!     x = index a[i, k]           i apart, j same, k next
//!     y = index b[k, j]           i same, j next, k apart
//!     z = index c[index q[j], k]  i same, j indirect, k next
//! ```
//!
//! A number is followed as a sum of multiples of indices and counters as far as additions, subtractions and
//! multiplications by what is the same everywhere go. Of other numbers it is known what they depend on: a variable of which
//! a form has no term does not change them. Parameters of loops stand for themselves, too, since they change from step to step.

pub mod annotate;

use crate::hash::HashMap;
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::{deep, free_in_stm};
use std::collections::BTreeMap;

/// How much a number grows when a variable grows by one and all others stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By so much.
    By(i64),
    /// By something that is the same everywhere.
    Same,
    /// Nothing is known of it.
    Any,
}

/// What a number depends on, and how. Variables without a term do not change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(BTreeMap<Var, Growth>);

impl Form {
    fn of(var: Var) -> Self {
        Self(BTreeMap::from([(var, Growth::By(1))]))
    }

    /// How the number grows with a variable; nothing if it does not depend on it.
    pub fn growth(&self, var: Var) -> Option<Growth> {
        self.0.get(&var).copied()
    }

    /// The variables that the number depends on, ascending.
    pub fn vars(&self) -> impl Iterator<Item = Var> {
        self.0.keys().copied()
    }

    /// Whether the number is the same everywhere.
    pub fn is_same(&self) -> bool {
        self.0.is_empty()
    }

    fn add(mut self, other: &Self, sign: i64) -> Self {
        for (var, growth) in &other.0 {
            let scaled = growth.times(sign);
            let sum = match self.0.get(var) {
                None => scaled,
                Some(mine) => mine.plus(scaled),
            };
            self.0.insert(*var, sum);
        }
        self.0.retain(|_, growth| *growth != Growth::By(0));
        self
    }

    /// The product with something that is the same everywhere, known or not.
    fn times(&self, factor: Option<i64>) -> Self {
        let scaled = |growth: &Growth| match (growth, factor) {
            (Growth::By(_), None) => Growth::Same,
            (growth, Some(factor)) => growth.times(factor),
            (growth, None) => *growth,
        };
        let terms = self.0.iter().map(|(v, g)| (*v, scaled(g)));
        Self(terms.filter(|(_, g)| *g != Growth::By(0)).collect())
    }

    /// Adds what something unknown depends on.
    fn depend(&mut self, on: &Self) {
        for var in on.vars() {
            self.0.insert(var, Growth::Any);
        }
    }

    fn any(&self) -> Self {
        Self(self.vars().map(|v| (v, Growth::Any)).collect())
    }
}

impl Growth {
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::By(a), Self::By(b)) => a.checked_add(b).map_or(Self::Any, Self::By),
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Same, _) | (_, Self::Same) => Self::Same,
        }
    }

    fn times(self, factor: i64) -> Self {
        match self {
            Self::By(by) => by.checked_mul(factor).map_or(Self::Any, Self::By),
            Self::Same | Self::Any => self,
        }
    }
}

/// How a place moves with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Not at all.
    Same,
    /// To the next element of a row-major array.
    Next,
    /// By some distance that is the same everywhere.
    Apart,
    /// Somehow.
    Indirect,
}

/// An element that is read.
#[derive(Clone, Debug)]
pub struct Read {
    /// The variable bound to it.
    pub var: Var,
    /// The array or buffer.
    pub array: Var,
    /// What it depends on which array that is, and what is in it.
    base: Form,
    /// One per index.
    pub indices: Vec<Form>,
    /// The counters of the loops around it, outermost first.
    pub counters: Vec<Var>,
}

impl Read {
    /// How the place moves with an index or a counter.
    pub fn along(&self, var: Var) -> Along {
        if self.base.growth(var).is_some() {
            return Along::Indirect;
        }
        let mut along = Along::Same;
        for (i, form) in self.indices.iter().enumerate() {
            let is_last = i + 1 == self.indices.len();
            along = match (form.growth(var), along) {
                (None, along) => along,
                (Some(Growth::Any), _) | (Some(_), Along::Indirect) => Along::Indirect,
                (Some(Growth::By(1)), Along::Same) if is_last => Along::Next,
                (Some(Growth::By(_) | Growth::Same), _) => Along::Apart,
            };
        }
        along
    }
}

/// Dialects in which elements of arrays are read.
pub trait Reads: Dialect {
    /// The array and the indices of the element that an operation reads.
    fn read(&self) -> Option<(Var, &[Atom])>;
}

impl Reads for Seg {
    fn read(&self) -> Option<(Var, &[Atom])> {
        match self.as_array() {
            Some(ArrayOp::Index { array, indices }) => Some((*array, indices)),
            Some(_) | None => None,
        }
    }
}

impl Reads for Mem {
    fn read(&self) -> Option<(Var, &[Atom])> {
        match self {
            Self::Load { buffer, index } => Some((*buffer, std::slice::from_ref(index))),
            Self::Alloc { .. }
            | Self::Free(_)
            | Self::Apart(_)
            | Self::Store { .. }
            | Self::Copy { .. }
            | Self::Launch(_)
            | Self::Trace(_)
            | Self::Stream(_) => None,
        }
    }
}

/// What is known of the body of a parallel operation.
#[derive(Debug, Default)]
pub struct Access {
    forms: HashMap<Var, Form>,
    /// The elements that are read, in order.
    pub reads: Vec<Read>,
}

/// Rounds over a body until what parameters of loops depend on is taken to be everything.
const ROUNDS: usize = 4;

/// Looks at the body of a parallel operation with these indices.
pub fn access<D: Reads>(vars: &Vars, indices: &[Var], body: &Body<D>) -> Access {
    let mut finder = Finder {
        vars,
        found: Access::default(),
        counters: Vec::new(),
        everything: Form::default(),
        changed: true,
    };
    for index in indices {
        finder.found.forms.insert(*index, Form::of(*index));
        finder.everything.depend(&Form::of(*index));
    }
    let mut round = 0;
    while finder.changed {
        finder.changed = false;
        finder.found.reads.clear();
        finder.body(body, round >= ROUNDS);
        round += 1;
    }
    finder.found
}

impl Access {
    /// The variables that depend on one.
    pub fn depending(&self, on: Var) -> impl Iterator<Item = Var> {
        let depends = move |(_, form): &(&Var, &Form)| form.growth(on).is_some();
        self.forms.iter().filter(depends).map(|(var, _)| *var)
    }

    /// The form of a number, of an array what its elements depend on besides the indices. What comes from outside is the same
    /// everywhere.
    pub fn form(&self, atom: Atom) -> Form {
        match atom {
            Atom::Const(_) => Form::default(),
            Atom::Var(v) => self.forms.get(&v).cloned().unwrap_or_default(),
        }
    }
}

struct Finder<'a> {
    vars: &'a Vars,
    found: Access,
    counters: Vec<Var>,
    /// All indices and counters so far.
    everything: Form,
    /// Whether parameters of loops were found to depend on more.
    changed: bool,
}

impl Finder<'_> {
    fn body<D: Reads>(&mut self, body: &Body<D>, give_up: bool) {
        for stm in &body.stms {
            self.stm(stm, give_up);
        }
    }

    fn stm<D: Reads>(&mut self, stm: &Stm<D>, give_up: bool) {
        match &stm.exp {
            Exp::Atom(atom) => {
                let form = self.found.form(*atom);
                self.bind(&stm.binds, &form);
            }
            Exp::Scalar(op, args) => {
                let form = self.scalar(*op, args);
                self.bind(&stm.binds, &form);
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                deep(|| {
                    self.body(then, give_up);
                    self.body(otherwise, give_up);
                });
                let cond = self.found.form(*cond);
                for (k, bind) in stm.binds.iter().enumerate() {
                    let [yes, no] = [then, otherwise].map(|body| self.found.form(body.result[k]));
                    let mut form = if yes == no { yes } else { yes.any() };
                    form.depend(&no);
                    form.depend(&cond);
                    self.bind(&[*bind], &form);
                }
            }
            Exp::Loop { params, form, body } => {
                let depth = self.counters.len();
                let mut steps = Form::default();
                match form {
                    LoopForm::For { index, bound } => {
                        steps = self.found.form(*bound);
                        self.found.forms.insert(*index, Form::of(*index));
                        self.everything.depend(&Form::of(*index));
                        self.counters.push(*index);
                    }
                    LoopForm::While(_) => {}
                }
                for param in params {
                    let mut start = Form::of(param.var).any();
                    start.depend(&self.found.form(param.init));
                    if give_up {
                        start.depend(&self.everything.clone());
                    }
                    self.grow(param.var, &start);
                }
                deep(|| {
                    if let LoopForm::While(cond) = form {
                        self.body(cond, give_up);
                        steps = self.found.form(cond.result[0]);
                    }
                    self.body(body, give_up);
                });
                self.counters.truncate(depth);
                for ((param, next), bind) in params.iter().zip(&body.result).zip(&stm.binds) {
                    let next = self.found.form(*next);
                    self.grow(param.var, &next);
                    let mut left = self.found.form(param.var.into());
                    left.depend(&steps);
                    // What only changes inside of the loop does not change what it leaves, so that forms stay short where many
                    // loops follow one another.
                    if let LoopForm::For { index, .. } = form {
                        left.0.remove(index);
                    }
                    params.iter().for_each(|param| {
                        left.0.remove(&param.var);
                    });
                    self.bind(&[*bind], &left);
                }
            }
            Exp::Op(op) => {
                let mut form = self.of_operands(stm);
                if let Some((array, indices)) = op.read() {
                    let read = Read {
                        var: stm.binds[0],
                        array,
                        base: self.found.form(array.into()),
                        indices: indices.iter().map(|i| self.found.form(*i)).collect(),
                        counters: self.counters.clone(),
                    };
                    self.found.reads.push(read);
                } else {
                    // What is inside of other operations counts with all that it uses.
                    op.scopes(&mut |bound, _| {
                        for v in bound {
                            form.depend(&Form::of(*v));
                        }
                    });
                }
                self.bind(&stm.binds, &form);
            }
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Call { .. } => {
                let form = self.of_operands(stm);
                self.bind(&stm.binds, &form);
            }
        }
    }

    /// What something unknown made of the operands of a statement depends on.
    fn of_operands<D: Reads>(&self, stm: &Stm<D>) -> Form {
        let mut form = Form::default();
        for v in free_in_stm(self.vars, stm) {
            form.depend(&self.found.form(v.into()));
        }
        form
    }

    fn bind(&mut self, binds: &[Var], form: &Form) {
        for bind in binds {
            self.found.forms.insert(*bind, form.clone());
        }
    }

    /// Lets a parameter of a loop depend on more.
    fn grow(&mut self, param: Var, on: &Form) {
        let form = self.found.forms.entry(param).or_default();
        let before = form.0.len();
        form.depend(on);
        self.changed |= form.0.len() > before;
    }

    fn scalar(&self, op: ScalarOp, args: &[Atom]) -> Form {
        let forms: Vec<Form> = args.iter().map(|a| self.found.form(*a)).collect();
        let known = |atom: &Atom| match atom {
            Atom::Const(Const::I64(n)) => Some(*n),
            Atom::Const(_) | Atom::Var(_) => None,
        };
        if let (ScalarOp::Bin(op, ScalarType::I64), [a, b]) = (op, forms.as_slice()) {
            if op == BinOp::Add {
                return a.clone().add(b, 1);
            }
            if op == BinOp::Sub {
                return a.clone().add(b, -1);
            }
            if op == BinOp::Mul && b.is_same() {
                return a.times(known(&args[1]));
            }
            if op == BinOp::Mul && a.is_same() {
                return b.times(known(&args[0]));
            }
        }
        // A counter stays in the range of its type.
        if let (ScalarOp::Convert(from, ScalarType::I64), [Atom::Var(v)]) = (op, args)
            && from.is_signed()
            && self.counters.contains(v)
        {
            return forms[0].clone();
        }
        let mut form = Form::default();
        forms.iter().for_each(|f| form.depend(f));
        form
    }
}
