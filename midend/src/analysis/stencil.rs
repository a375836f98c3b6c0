//! Loops of which each step is one map over what the step before wrote, that reads of it only what is near its own point.
//!
//! ```text
//! loop (heat = first) for s < steps {            a point reads its neighbours and itself:
//!   next = alloc n * m                           it reaches n * 0 + m * 1 + 1 elements far
//!   launch map (i < n, j < m) {
//!     .. load heat[max(i - 1, 0) * m + j] ..     at most one row before
//!     .. load heat[i * m + min(j + 1, m - 1)] .. at most one element behind, if j <= m - 1
//!     store next[i * m + j] = ..                 its own element
//!   }
//!   yield next
//! }
//! ```
//!
//! A back end may do several steps of such a loop on some points before it goes on to others, while what these read is still near
//! (time tiling: Wonnacott, *Using time skewing to eliminate idle time due to memory bandwidth and network limitations*, 2000).
//!
//! An index is looked at as a sum of products: each index of the space, and the constant, times extents, where the numbers that are not known
//! exactly are within an interval.

mod form;

use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::mem::{Extent, Kernel, KernelKind, Mem};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, Vars};
use crate::ir::types::{ScalarType, Type};
use form::{Form, operated};
use std::collections::{BTreeMap, BTreeSet};

/// How many operations one after the other before the loop are looked at.
const DEPTH: usize = 4;

/// A number that is known before the loop: a sum of products of a constant and variables.
pub type Sum = Vec<(i64, Vec<Var>)>;

/// A loop of steps of which each reads what is near.
#[derive(Debug)]
pub struct Stencil<'b> {
    /// The kernel, of which each step is a launch.
    pub kernel: &'b Kernel,
    /// The statement that launches it.
    pub launch: &'b Exp<Mem>,
    /// What each step computes before, of its number and what is from outside, in order.
    pub scalars: Vec<(Var, ScalarOp, &'b [Atom])>,
    /// The buffers that are carried.
    pub carried: Vec<Carried>,
    /// How far, in elements, what a point reads of these is from its own place at most: for each read the sum of the magnitudes.
    pub reach: Vec<Sum>,
    /// What has to hold, else the reach is not known: each sum is 0 or more.
    pub bounds: Vec<Sum>,
}

/// A buffer that is carried.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// What a step reads: the parameter.
    pub from: Var,
    /// What it writes: allocated anew in each step.
    pub to: Var,
    /// The type of its elements, and how many there are.
    pub elem: ScalarType,
    /// See above.
    pub len: Atom,
}

/// Operations on scalars before the loop, by what they bind.
pub type Known = HashMap<Var, (ScalarOp, Vec<Atom>)>;

/// Looks whether a counted loop of host code is one.
pub fn stencil<'b>(
    (vars, known): (&Vars, &Known),
    params: &[LoopParam],
    index: Var,
    body: &'b Body<Mem>,
) -> Option<Stencil<'b>> {
    let mut made = BTreeMap::new();
    let (mut launched, mut scalars) = (None, Vec::new());
    for stm in &body.stms {
        match &stm.exp {
            Exp::Op(Mem::Alloc { elem, len, .. }) => {
                made.insert(*stm.binds.first()?, (*elem, *len));
            }
            Exp::Scalar(op, args) => scalars.push((*stm.binds.first()?, *op, &args[..])),
            Exp::Op(Mem::Free(_) | Mem::Apart(_)) => {}
            Exp::Op(Mem::Launch(kernel)) if launched.is_none() => {
                launched = Some((&**kernel, &stm.exp));
            }
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        }
    }
    // What is another number in each step.
    let varying: Vec<Var> = scalars.iter().map(|s| s.0).chain([index]).collect();
    let (kernel, launch) = launched?;
    let mut carried = Vec::new();
    for (param, result) in params.iter().zip(&body.result) {
        let to = result.as_var()?;
        // Each is made for this parameter alone, and of a size that does not change.
        let (elem, len) = made.remove(&to)?;
        let is_fixed = len.as_var().is_none_or(|v| !varying.contains(&v));
        if vars[param.var].ty != Type::Buffer(elem) || !is_fixed {
            return None;
        }
        carried.push(Carried {
            from: param.var,
            to,
            elem,
            len,
        });
    }
    if !made.is_empty() || !matches!(kernel.kind, KernelKind::Map) || kernel.tiled > 0 {
        return None;
    }
    let mut finder = Finder::new((vars, known), (kernel, &varying), &carried)?;
    finder.body(&kernel.body, true)?;
    let Finder {
        written,
        reach,
        bounds,
        ..
    } = finder;
    let is_written = carried.iter().all(|c| written.contains(&c.to));
    (is_written && !carried.is_empty()).then(|| Stencil {
        kernel,
        launch,
        scalars,
        carried,
        reach: reach.into_iter().collect(),
        bounds,
    })
}

struct Finder<'a> {
    vars: &'a Vars,
    known: &'a Known,
    carried: &'a [Carried],
    extents: Vec<Form>,
    /// The number of the point among all: where its own elements are.
    own: Form,
    /// What is bound in the kernel, or by each step anew, and what of it is known.
    inside: BTreeMap<Var, Option<Form>>,
    /// The buffers that a point makes for itself.
    local: BTreeSet<Var>,
    written: BTreeSet<Var>,
    reach: BTreeSet<Sum>,
    bounds: Vec<Sum>,
}

impl<'a> Finder<'a> {
    fn new(
        (vars, known): (&'a Vars, &'a Known),
        (kernel, varying): (&Kernel, &[Var]),
        carried: &'a [Carried],
    ) -> Option<Self> {
        let mut finder = Self {
            vars,
            known,
            carried,
            extents: Vec::new(),
            own: Form::default(),
            inside: varying.iter().map(|v| (*v, None)).collect(),
            local: BTreeSet::new(),
            written: BTreeSet::new(),
            reach: BTreeSet::new(),
            bounds: Vec::new(),
        };
        for (d, (index, extent)) in kernel.space.iter().enumerate() {
            let Extent::Regular(extent) = extent else {
                return None;
            };
            let extent = finder.atom(*extent)?;
            let form = Form::of((Some(d), Vec::new()), 1);
            finder.own = finder.own.times(&extent)?.plus(&form)?;
            finder.extents.push(extent);
            finder.inside.insert(*index, Some(form));
        }
        Some(finder)
    }

    fn atom(&self, atom: Atom) -> Option<Form> {
        self.deep_atom(atom, DEPTH)
    }

    /// What is from outside is taken apart so deep.
    fn deep_atom(&self, atom: Atom, depth: usize) -> Option<Form> {
        let v = match atom {
            Atom::Const(Const::I64(n)) => return Some(Form::constant(n)),
            Atom::Const(_) => return None,
            Atom::Var(v) => v,
        };
        if let Some(form) = self.inside.get(&v) {
            return form.clone();
        }
        if let Some((ScalarOp::Bin(op, ScalarType::I64), args)) = self.known.get(&v)
            && depth > 0
            && let [a, b] = [args[0], args[1]].map(|arg| self.deep_atom(arg, depth - 1))
            && let Some(form) = operated(*op, &a?, &b?)
        {
            return Some(form);
        }
        (self.vars[v].ty == Type::I64).then(|| Form::of((None, vec![v]), 1))
    }

    /// Whether a buffer is carried, as what is read or written.
    fn is_carried(&self, v: Var) -> bool {
        self.carried.iter().any(|c| c.from == v || c.to == v)
    }

    /// Whether nothing is done that what is carried could be read or written by in another way.
    fn body(&mut self, body: &Body<Mem>, is_whole: bool) -> Option<()> {
        for stm in &body.stms {
            self.stm(stm, is_whole)?;
        }
        let named = body.result.iter().filter_map(|atom| atom.as_var());
        named.into_iter().all(|v| !self.is_carried(v)).then_some(())
    }

    fn stm(&mut self, stm: &Stm<Mem>, is_whole: bool) -> Option<()> {
        let mut form = None;
        match &stm.exp {
            Exp::Atom(atom) => {
                if atom.as_var().is_some_and(|v| self.is_carried(v)) {
                    return None;
                }
                form = self.atom(*atom);
            }
            Exp::Scalar(op, args) => form = self.scalar(*op, args),
            Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                then, otherwise, ..
            } => {
                self.body(then, false)?;
                self.body(otherwise, false)?;
                if let ([a], [b]) = (&then.result[..], &otherwise.result[..])
                    && let (Some(a), Some(b)) = (self.atom(*a), self.atom(*b))
                {
                    form = a.either(&b);
                }
            }
            Exp::Loop {
                params,
                form: kind,
                body,
            } => {
                for param in params {
                    if param.init.as_var().is_some_and(|v| self.is_carried(v)) {
                        return None;
                    }
                    self.inside.insert(param.var, None);
                }
                match kind {
                    LoopForm::For { index, bound } => {
                        let steps = match bound {
                            Atom::Const(Const::I64(n)) if *n > 0 => Some((0, n - 1)),
                            Atom::Const(_) | Atom::Var(_) => None,
                        };
                        let form = steps.map(|steps| {
                            Form(BTreeMap::from([((None, Vec::new()), steps)])).normal()
                        });
                        self.inside.insert(*index, form);
                    }
                    LoopForm::While(cond) => self.body(cond, false)?,
                }
                self.body(body, false)?;
            }
            Exp::Call { args, .. } => {
                // What a function does with a buffer is not looked at.
                let buffer = |v: Var| matches!(self.vars[v].ty, Type::Buffer(_));
                let outer = |v: Var| buffer(v) && !self.local.contains(&v);
                if args.iter().filter_map(|a| a.as_var()).any(outer) {
                    return None;
                }
            }
            Exp::Op(op) => {
                self.op(op, is_whole)?;
                if matches!(op, Mem::Alloc { .. }) {
                    self.local.extend(&stm.binds);
                }
            }
        }
        let first = stm.binds.first().copied();
        for v in &stm.binds {
            let of_first = form.take().filter(|_| first == Some(*v));
            self.inside.insert(*v, of_first);
        }
        Some(())
    }

    fn op(&mut self, op: &Mem, is_whole: bool) -> Option<()> {
        match op {
            Mem::Alloc { .. } | Mem::Free(_) | Mem::Apart(_) => Some(()),
            Mem::Load { buffer, index } => {
                if !self.is_carried(*buffer) {
                    return Some(());
                }
                // What is read of what this step writes could be another's.
                let is_read = self.carried.iter().any(|c| c.from == *buffer);
                let away = self.atom(*index)?.minus(&self.own)?;
                let far = away.0.into_iter().map(|((index, factors), (low, high))| {
                    let far = low.checked_abs()?.max(high.checked_abs()?);
                    (index.is_none() && is_read).then_some((far, factors))
                });
                self.reach.insert(far.collect::<Option<Sum>>()?);
                is_read.then_some(())
            }
            Mem::Store { buffer, index, .. } => {
                if self.local.contains(buffer) {
                    return Some(());
                }
                let is_written = self.carried.iter().any(|c| c.to == *buffer);
                let is_own = self.atom(*index)? == self.own;
                let once = is_written && is_whole && is_own && self.written.insert(*buffer);
                once.then_some(())
            }
            Mem::Copy { dst, src, .. } => {
                let is_local = self.local.contains(&dst.buffer);
                (is_local && !self.is_carried(src.buffer)).then_some(())
            }
            Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_) => None,
        }
    }

    fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Option<Form> {
        if let (ScalarOp::Select(ScalarType::I64), &[_, a, b]) = (op, args) {
            return self.atom(a)?.either(&self.atom(b)?);
        }
        let (ScalarOp::Bin(op, ScalarType::I64), &[a, b]) = (op, args) else {
            return None;
        };
        let (a, b) = (self.atom(a)?, self.atom(b)?);
        if op == BinOp::Max || op == BinOp::Min {
            return self.clamped(&a, &b, op == BinOp::Min);
        }
        operated(op, &a, &b)
    }

    /// An index of the space and something, and no less than 0, or no more than the last one: then it is between the index and that.
    fn clamped(&mut self, a: &Form, b: &Form, above: bool) -> Option<Form> {
        let (near, bound) = match (a.near(), b.near()) {
            (Some(near), None) => (near, b),
            (None, Some(near)) => (near, a),
            (None, None) | (Some(_), Some(_)) => return None,
        };
        let (index, (low, high)) = near;
        let bound = bound.known()?;
        let bound = Form(
            bound
                .into_iter()
                .map(|(n, f)| ((None, f), (n, n)))
                .collect(),
        );
        // The bound is not less than any index, or not greater than the first one.
        let (room, around) = if above {
            let last = self.extents[index].minus(&Form::constant(1))?;
            (bound.minus(&last)?, (low.min(0), high))
        } else {
            (Form::default().minus(&bound)?, (low, high.max(0)))
        };
        let room = room.known()?;
        let holds = room
            .iter()
            .all(|(n, factors)| factors.is_empty() && *n >= 0);
        if !holds && !self.bounds.contains(&room) {
            self.bounds.push(room);
        }
        let near = Form::of((Some(index), Vec::new()), 1);
        near.plus(&Form(BTreeMap::from([((None, Vec::new()), around)])).normal())
    }
}
