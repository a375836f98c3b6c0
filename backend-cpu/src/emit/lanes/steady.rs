//! Loops whose condition, once it does not hold, would not hold again: what is compared with a limit only moves towards it. Lanes in which the condition
//! holds behind many steps were inside all the time, so that nothing is looked at on the way:
//!
//! ```text
//! loop x while x >= 5 do x - 5          if a lane is inside:
//!                                 ──►     y = x - 5 - 5 .. - 5
//!                                         if y >= 5 in all lanes that are inside: x = y there, else a few steps with looks
//! ```
//!
//! Floats that are rounded to the nearest move in one direction, or stay, when a constant is added to them, and those that are not negative when they are
//! multiplied by a constant of at most 1. Steps of integers do so where none in vain leaves the type.

use super::sequential::Diverging;
use super::shape::Shape;
use super::{Group, Lanes};
use crate::emit::{Emit, block_args};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::ranges::integer;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopParam};
use midend::ir::types::ScalarType;

/// How many steps are taken at once: as many times as those with looks.
pub(super) const TIMES: usize = 2;
/// The most steps that are taken at once.
const MOST: i128 = 16;

/// Which way a number moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// The operation that makes a result, if it is the only one that a body has for it.
fn made(body: &Body<Mem>, result: Atom) -> Option<(ScalarOp, [Atom; 2])> {
    let stm = body
        .stms
        .iter()
        .find(|stm| Atom::Var(stm.binds[0]) == result)?;
    let Exp::Scalar(op, args) = &stm.exp else {
        return None;
    };
    Some((*op, args[..].try_into().ok()?))
}

/// Whether a loop is one of these: see above.
pub(super) fn is_steady(params: &[LoopParam], (cond, body): (&Body<Mem>, &Body<Mem>)) -> bool {
    let Some((ScalarOp::Cmp(CmpOp::Lt | CmpOp::Le, ty), [less, more])) = made(cond, cond.result[0])
    else {
        return false;
    };
    let own = |atom: Atom| params.iter().position(|param| atom == Atom::Var(param.var));
    let is_known = |atom: Atom| {
        let bound = |body: &Body<Mem>| body.stms.iter().any(|stm| Atom::Var(stm.binds[0]) == atom);
        own(atom).is_none() && !bound(cond) && !bound(body)
    };
    let (place, limit, way) = match (own(less), own(more)) {
        (Some(place), None) => (place, more, Way::Up),
        (None, Some(place)) => (place, less, Way::Down),
        _ => return false,
    };
    let Some((ScalarOp::Bin(op, _), args)) = made(body, body.result[place]) else {
        return false;
    };
    is_known(limit) && moves((op, ty), (params[place].var, args), limit) == Some(way)
}

/// Which way a step moves a number that is inside of a limit, and goes on behind it.
fn moves((op, ty): (BinOp, ScalarType), (own, args): (Var, [Atom; 2]), limit: Atom) -> Option<Way> {
    let (by, is_first) = match args {
        [Atom::Var(v), Atom::Const(by)] if v == own => (by, true),
        [Atom::Const(by), Atom::Var(v)] if v == own => (by, false),
        _ => return None,
    };
    if !(ty.is_integer() || matches!(ty, ScalarType::F32 | ScalarType::F64)) {
        return None;
    }
    if ty.is_integer() {
        let (by, limit) = (integer(by)?, integer(limit.as_const()?)?);
        let by = if op == BinOp::Add {
            by
        } else if op == BinOp::Sub && is_first {
            -by
        } else {
            return None;
        };
        let half = 1i128 << (8 * ty.bytes() - 1);
        let fits = ty.is_signed() && (-half..half).contains(&(limit + MOST * by));
        return fits.then_some(if by >= 0 { Way::Up } else { Way::Down });
    }
    let number = |constant: Const| match ty.bytes() {
        4 => f64::from(f32::from_bits(constant.word() as u32)),
        _ => f64::from_bits(constant.word()),
    };
    let by = Some(number(by)).filter(|by| by.is_finite())?;
    let not_negative = limit.as_const().is_some_and(|limit| number(limit) >= 0.0);
    let adds = if op == BinOp::Add {
        Some(by)
    } else {
        (op == BinOp::Sub && is_first).then_some(-by)
    };
    let shrinks =
        op == BinOp::Mul && (0.0..=1.0).contains(&by) || op == BinOp::Div && is_first && by >= 1.0;
    match adds {
        Some(by) => Some(if by >= 0.0 { Way::Up } else { Way::Down }),
        None => (not_negative && shrinks).then_some(Way::Down),
    }
}

impl Emit<'_, '_> {
    /// Many steps at once of a loop of which so many are taken with looks, `few`, where all lanes that are inside go through them; else those.
    pub(super) fn many_steps(
        &mut self,
        group: &mut Group<'_>,
        (diverging, steps): (&Diverging<'_>, usize),
        values: &[Value],
        few: impl FnOnce(&mut Self, &mut Group<'_>) -> Vec<Value>,
    ) -> Vec<Value> {
        let go_on = diverging.cond.result[0];
        let packed = |(_, shape): &(usize, Shape)| matches!(shape, Shape::Packed(_));
        let is_steady = is_steady(diverging.params, (diverging.cond, diverging.body))
            && diverging.masks().is_empty()
            && diverging.carried.iter().all(packed);
        let Some(Lanes::Mask(inside)) = go_on
            .as_var()
            .and_then(|v| group.lanes.get(&v))
            .cloned()
            .filter(|_| is_steady)
        else {
            return few(self, group);
        };
        fired("cpu/steps-without-looks");
        let outside = group.lanes.clone();
        let mut next = Vec::new();
        for step in 0..(TIMES * steps).min(MOST as usize) {
            if step > 0 {
                self.bind_carried(group, diverging.vars, diverging.carried, &next);
            }
            next = self.unmasked_step(group, diverging);
        }
        let stepped = diverging.order.arranged(&next);
        self.diverging_holds(group, diverging, diverging.cond, &stepped);
        let behind = match go_on.as_var().and_then(|v| group.lanes.get(&v)) {
            Some(Lanes::Mask(behind)) => behind.clone(),
            _ => unreachable!("a condition that is a mask stays one"),
        };
        let left = inside.iter().zip(behind);
        let left = left.map(|(inside, behind)| {
            let not = self.b.ins().bnot(behind);
            self.b.ins().band(*inside, not)
        });
        let left = left.collect();
        let left = self.any_mask(left);
        group.lanes = outside.clone();
        let next = self.where_inside(group, diverging, (&next, values));
        let [some, done] = [(); 2].map(|()| self.b.create_block());
        let kinds = self.types_of(values);
        let results = self.params(done, &kinds);
        self.b.ins().brif(left, some, &[], done, &block_args(next));
        self.b.switch_to_block(some);
        group.lanes = outside;
        let next = few(self, group);
        self.b.ins().jump(done, &block_args(next));
        self.b.switch_to_block(done);
        results
    }

    /// A step in all lanes, whether they are inside or not.
    fn unmasked_step(&mut self, group: &mut Group<'_>, diverging: &Diverging<'_>) -> Vec<Value> {
        self.lanes_body(group, diverging.body);
        let mut next = Vec::new();
        for (i, shape) in diverging.carried {
            next.extend(self.in_shape(group, *shape, diverging.body.result[*i]));
        }
        next
    }

    /// The next values in the lanes that are inside, which the condition says, and what they were in others.
    fn where_inside(
        &mut self,
        group: &mut Group<'_>,
        diverging: &Diverging<'_>,
        (next, values): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let values = diverging.order.restored(values);
        let mut chosen = Vec::new();
        for (_, shape) in diverging.carried {
            let all = chosen.len()..chosen.len() + shape.count(group.plan.width);
            let lanes = self.b.func.dfg.value_type(next[all.start]).lane_count();
            let inside = self.mask(group, diverging.cond.result[0], lanes as usize);
            chosen.extend(self.blended(&inside, &next[all.clone()], &values[all]));
        }
        diverging.order.arranged(&chosen)
    }
}
