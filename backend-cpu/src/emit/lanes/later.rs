//! Long sides of choices that are computed later, for the lanes that take them alone. In a counted loop whose steps store what is chosen in arrays
//! of the lanes, all lanes get the other side at first, and the places of those that want the long one stand in a queue, which is gone through
//! in full vectors after some steps:
//!
//! ```text
//!                                                 loop t < n, many = 0 {
//! loop t < n {                                      a[t] = short xs; kept[t] = xs
//!   a[t] = if p x then long x else short x   →      queue[many..] = the places of lanes with p xs, one after the other
//! }                                               }
//!                                                 loop k < many { a[queue[k..]] = long kept[queue[k..]] }
//! ```
//!
//! A side that one lane of twenty takes is taken in every other group of sixteen, which nobody foresees, and computed for all of them there. Now it is
//! computed about as often as it is wanted. A lane computes what it would have computed, so results are the same to the bit. The last vector is
//! filled with the first place, where the same is stored again.

mod queue;

use super::choose::{BLENDED, arithmetic, computed};
use super::plan::Plan;
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::{body_binders, free_in_body, free_in_stm};
pub(super) use queue::Queue;
use std::collections::BTreeSet;

/// The least operations of a side that is worth it, and how many statements deep what is kept for it may be made again.
const LONG: usize = 2 * BLENDED;
const DEEP: usize = 4;
/// The most numbers of a lane that are kept for it.
const KEPT: usize = 6;

/// A side that is computed later.
pub(super) struct Later {
    /// The choice, its condition, and for which truth value the side is.
    bind: Var,
    cond: Var,
    wanted: bool,
    other: Body<Mem>,
    /// What is kept of each step, and what is computed of it later, with what comes behind the choice.
    inputs: Vec<Var>,
    body: Body<Mem>,
    /// Where it is stored: so many elements behind the counter.
    buffer: Var,
    behind: Option<Atom>,
    plan: Plan,
}

/// The side of a choice in a loop's body that is worth it.
pub(super) fn later(
    vars: &Vars,
    plan: &Plan,
    (index, params): (Var, &[LoopParam]),
    body: &Body<Mem>,
) -> Option<Later> {
    if !plan.has_arrays() || vars[index].ty.elem() != Some(ScalarType::I64) {
        return None;
    }
    let mut inside: BTreeSet<Var> = params.iter().map(|param| param.var).collect();
    inside.insert(index);
    body_binders(body, &mut |v| {
        inside.insert(v);
    });
    let walk = Walk {
        vars,
        plan,
        index,
        inside,
        body,
    };
    (0..body.stms.len()).find_map(|at| walk.choice(at))
}

struct Walk<'a> {
    vars: &'a Vars,
    plan: &'a Plan,
    index: Var,
    /// What may differ from step to step.
    inside: BTreeSet<Var>,
    body: &'a Body<Mem>,
}

impl Walk<'_> {
    fn choice(&self, at: usize) -> Option<Later> {
        let stm = &self.body.stms[at];
        let Exp::If {
            cond: Atom::Var(cond),
            then,
            otherwise,
        } = &stm.exp
        else {
            return None;
        };
        let &[bind] = &stm.binds[..] else {
            return None;
        };
        let counts = [arithmetic(then)?, arithmetic(otherwise)?];
        let is_number = |v: Var| matches!(self.vars[v].ty, Type::Scalar(elem) if self.plan.vectors(elem).is_some());
        if counts.into_iter().max() < Some(LONG) || !self.plan.varies(*cond) || !is_number(bind) {
            return None;
        }
        let wanted = counts[0] >= counts[1];
        let (side, other) = if wanted {
            (then, otherwise)
        } else {
            (otherwise, then)
        };
        let (behind_it, store) = self.behind(at, bind)?;
        let Exp::Op(Mem::Store {
            buffer,
            index,
            value,
        }) = &self.body.stms[store].exp
        else {
            return None;
        };
        let behind = self.distance(*index)?;
        if !self.is_alone(*buffer, store) || !is_number(value.as_var()?) {
            return None;
        }
        let mut stms = side.stms.clone();
        stms.push(Stm {
            binds: vec![bind],
            certs: Vec::new(),
            exp: Exp::Atom(side.result[0]),
            span: stm.span,
        });
        stms.extend(behind_it.into_iter().cloned());
        let result = vec![*value];
        let (inputs, body) = self.with_inputs(Body { stms, result })?;
        let mut varying = self.plan.varying.clone();
        body_binders(&body, &mut |v| {
            varying.remove(&v);
        });
        varying.extend(&inputs);
        vary(self.vars, &body, &mut varying);
        Some(Later {
            bind,
            cond: *cond,
            wanted,
            other: other.clone(),
            inputs,
            body,
            buffer: *buffer,
            behind,
            plan: Plan {
                varying,
                ..self.plan.clone()
            },
        })
    }

    /// What is computed of a choice, and the statement that stores that, which nothing else uses.
    fn behind(&self, at: usize, bind: Var) -> Option<(Vec<&Stm<Mem>>, usize)> {
        let mut of_it = BTreeSet::from([bind]);
        let mut computes = Vec::new();
        let mut count = 0;
        let mut stored = None;
        for (k, stm) in self.body.stms.iter().enumerate().skip(at + 1) {
            let free = free_in_stm(self.vars, stm);
            if !free.iter().any(|v| of_it.contains(v)) {
                continue;
            }
            if let Exp::Op(Mem::Store { index, .. }) = &stm.exp {
                let elsewhere = index.as_var().is_some_and(|v| of_it.contains(&v));
                if elsewhere || stored.is_some() {
                    return None;
                }
                stored = Some(k);
                continue;
            }
            let one = Body {
                stms: vec![stm.clone()],
                result: Vec::new(),
            };
            count += arithmetic(&one)?;
            of_it.extend(&stm.binds);
            computes.push(stm);
        }
        let mut carried = self.body.result.iter().filter_map(|atom| atom.as_var());
        let stays = !carried.any(|v| of_it.contains(&v)) && count <= BLENDED / 2;
        Some((computes, stored.filter(|_| stays)?))
    }

    /// How far behind the counter an index is, so that each step has an element of its own.
    fn distance(&self, at: Atom) -> Option<Option<Atom>> {
        let counter = Atom::Var(self.index);
        if at == counter {
            return Some(None);
        }
        let defined = |stm: &&Stm<Mem>| stm.binds.iter().any(|v| at == Atom::Var(*v));
        let stm = self.body.stms.iter().find(defined)?;
        let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args) = &stm.exp else {
            return None;
        };
        let other = if args[0] == counter { args[1] } else { args[0] };
        let alike = !other
            .as_var()
            .is_some_and(|v| self.inside.contains(&v) || self.plan.varies(v));
        (alike && args.contains(&counter)).then_some(Some(other))
    }

    /// Whether an array that was there before is stored to by one statement of the loop and not gone to otherwise.
    fn is_alone(&self, buffer: Var, store: usize) -> bool {
        let goes = |(k, stm): (usize, &Stm<Mem>)| {
            let free = free_in_stm(self.vars, stm);
            let mut arrays = free.iter().filter(|v| self.plan.own.contains(v));
            // What goes under another name may be the same array.
            arrays.all(|v| self.plan.is_array(*v)) && (k == store || !free.contains(&buffer))
        };
        self.plan.is_array(buffer)
            && !self.inside.contains(&buffer)
            && self.body.stms.iter().enumerate().all(goes)
    }

    /// What has to be kept for what is computed later, and that with what is made again.
    fn with_inputs(&self, mut body: Body<Mem>) -> Option<(Vec<Var>, Body<Mem>)> {
        let free = free_in_body(self.vars, &body).into_iter();
        let differs = |v: &Var| has_value(&self.vars[*v].ty) && self.differs(*v);
        let mut inputs: BTreeSet<Var> = free.filter(differs).collect();
        let mut again = BTreeSet::new();
        for stm in self.body.stms.iter().rev() {
            for v in &stm.binds {
                let mut others = inputs.clone();
                if others.remove(v)
                    && let Some(made) = self.made_of(*v, &others, DEEP)
                {
                    again.extend(made);
                    inputs = others;
                }
            }
        }
        let is_scalar = |v: &Var| matches!(self.vars[*v].ty, Type::Scalar(_));
        if inputs.len() > KEPT || !inputs.iter().all(is_scalar) {
            return None;
        }
        let first = again.into_iter().map(|k: usize| self.body.stms[k].clone());
        body.stms.splice(0..0, first);
        Some((inputs.into_iter().collect(), body))
    }

    /// Whether a number may differ from step to step or from lane to lane.
    fn differs(&self, v: Var) -> bool {
        self.inside.contains(&v) || self.plan.varies(v)
    }

    /// The statements that make a number of others, if these are few and cheap.
    fn made_of(&self, v: Var, others: &BTreeSet<Var>, deep: usize) -> Option<BTreeSet<usize>> {
        if others.contains(&v) || !self.differs(v) {
            return Some(BTreeSet::new());
        }
        let stms = &self.body.stms;
        let at = stms.iter().position(|stm| stm.binds.contains(&v))?;
        let Exp::Scalar(op, args) = &stms[at].exp else {
            return None;
        };
        let slow = matches!(
            op,
            ScalarOp::Bin(BinOp::Div, _) | ScalarOp::Un(UnOp::Sqrt, _)
        );
        if slow || computed(*op, args) != Some(1) || deep == 0 {
            return None;
        }
        let mut made = BTreeSet::from([at]);
        for arg in args.iter().filter_map(|arg| arg.as_var()) {
            made.extend(self.made_of(arg, others, deep - 1)?);
        }
        Some(made)
    }
}

/// Finds what of a body of arithmetic varies if these variables do.
fn vary(vars: &Vars, body: &Body<Mem>, varying: &mut BTreeSet<Var>) {
    for stm in &body.stms {
        if let Exp::If {
            then, otherwise, ..
        } = &stm.exp
        {
            vary(vars, then, varying);
            vary(vars, otherwise, varying);
        }
        if free_in_stm(vars, stm).iter().any(|v| varying.contains(v)) {
            varying.extend(&stm.binds);
        }
    }
}
