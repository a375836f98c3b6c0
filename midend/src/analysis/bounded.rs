//! Conditions of loops that bound a counter, so that it is known beforehand that this part of them holds for several steps.

use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::body_uses;

/// The part of a condition that bounds a counter.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The truth value of it.
    pub test: Var,
    /// The conjunction that it is an operand of, and the other operand.
    pub both: Option<(Var, Atom)>,
    /// The type of the counter.
    pub ty: ScalarType,
    /// The counter, a parameter of the loop.
    pub counter: Var,
    /// Which of the values that the loop carries it is.
    pub place: usize,
    /// What it stays below.
    pub limit: Atom,
}

/// What bounds a counter in the condition of a loop, which goes up by one in each step. The limit stays the same.
pub fn bounded(params: &[LoopParam], cond: &Body<Mem>, body: &Body<Mem>) -> Option<Bounded> {
    let Atom::Var(whole) = *cond.result.first()? else {
        return None;
    };
    let defines = |v: Var| move |stm: &&Stm<Mem>| stm.binds.contains(&v);
    let last = cond.stms.iter().find(defines(whole))?;
    let is_false = |body: &Body<Mem>| {
        body.stms.is_empty() && matches!(body.result[..], [Atom::Const(Const::Bool(false))])
    };
    let mut parts: Vec<(Var, Option<(Var, Atom)>)> = Vec::new();
    if let Exp::If {
        cond, otherwise, ..
    } = &last.exp
    {
        if is_false(otherwise) {
            parts.extend(cond.as_var().map(|test| (test, None)));
        }
    } else if let Exp::Scalar(ScalarOp::Bin(BinOp::And, ScalarType::Bool), args) = &last.exp {
        for (a, b) in [(args[0], args[1]), (args[1], args[0])] {
            parts.extend(a.as_var().map(|test| (test, Some((whole, b)))));
        }
    }
    parts.into_iter().find_map(|(test, both)| {
        let stm = cond.stms.iter().find(defines(test))?;
        let Exp::Scalar(ScalarOp::Cmp(CmpOp::Lt, ty), args) = &stm.exp else {
            return None;
        };
        let counter = args[0].as_var()?;
        let place = params.iter().position(|p| p.var == counter)?;
        let next = body.result[place].as_var()?;
        let step = body.stms.iter().find(defines(next))?;
        let Exp::Scalar(ScalarOp::Bin(BinOp::Add, _), added) = &step.exp else {
            return None;
        };
        let one = |atom: &Atom| matches!(atom, Atom::Const(Const::I32(1) | Const::I64(1)));
        let is_step = added.contains(&Atom::Var(counter)) && added.iter().any(one);
        let changes = |v: Var| {
            params.iter().any(|p| p.var == v) || cond.stms.iter().any(|s| s.binds.contains(&v))
        };
        let stays = args[1].as_var().is_none_or(|v| !changes(v));
        // Counters of other types are rare, and need other limits.
        let is_counted = matches!(ty, ScalarType::I32 | ScalarType::I64);
        (is_step && stays && is_counted).then_some(Bounded {
            test,
            both,
            ty: *ty,
            counter,
            place,
            limit: args[1],
        })
    })
}

impl Bounded {
    /// What is left of the condition where the counter is known to be in its bounds; nothing if that is no variable, or more than the
    /// conjunction looks at the bound.
    pub fn rest(&self, vars: &Vars, cond: &Body<Mem>) -> Option<Body<Mem>> {
        let whole = cond.result.first()?.as_var()?;
        let is_whole = |stm: &Stm<Mem>| stm.binds.contains(&whole);
        let others = |stm: &&Stm<Mem>| !stm.binds.contains(&self.test) && !is_whole(stm);
        let mut stms: Vec<Stm<Mem>> = cond.stms.iter().filter(others).cloned().collect();
        let result = match self.both {
            Some((_, other)) => other,
            None => {
                let last = cond.stms.last().filter(|stm| is_whole(stm))?;
                let Exp::If { then, .. } = &last.exp else {
                    return None;
                };
                stms.extend(then.stms.iter().cloned());
                then.result[0]
            }
        };
        let rest = Body {
            stms,
            result: vec![result],
        };
        let mut is_apart = result.as_var().is_some();
        body_uses(vars, &rest, &mut |v| {
            is_apart &= v != self.test && v != whole;
        });
        is_apart.then_some(rest)
    }
}
