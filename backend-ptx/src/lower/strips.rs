//! Loops with a condition that also bounds a counter. Where so many steps are left, several follow one another without a look at
//! the counter; the others are taken one by one.
//!
//! ```text
//! while n < limit && f(x)      while n < limit - 3: f(x) or exit; step; f(x) or exit; step; ... (4 times)
//!   step                  ──►  while n < limit && f(x): step
//! ```
//!
//! Where a condition and a step are nothing but operations on numbers, the several steps are taken whatever the condition says in them, and
//! taken back if it did not hold in one: a loop with one branch for all of them. The first few steps of such a loop are taken one by one, so
//! that loops that end soon do nothing in vain.

use super::control::class;
use super::{Lower, ty_of};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{BlockId, Operand, Reg, Ty};
use midend::analysis::bounded::Bounded;
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::{ScalarType, Type};

/// Whether there is nothing but operations on numbers, which may be done in vain.
fn is_of_numbers(body: &Body<Mem>) -> bool {
    body.stms.iter().all(|stm| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::If {
            then, otherwise, ..
        } => is_of_numbers(then) && is_of_numbers(otherwise),
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    })
}

impl Lower<'_> {
    /// Steps of a loop: `copies` at a time, and then one by one. It begins in `head`, where `end`, which was computed before, tells how
    /// far the counter may be for so many steps.
    pub(super) fn strips(
        &mut self,
        (bounded, end): (&Bounded, Reg),
        (types, regs): (&[Type], &[Reg]),
        (cond, body): (&Body<Mem>, &Body<Mem>),
        (copies, head, exit): (usize, BlockId, BlockId),
    ) {
        let is_together = self.is_together();
        let (several, single) = (self.b.block(), self.b.block());
        let is_plain = is_of_numbers(cond) && is_of_numbers(body);
        if is_plain {
            let inside = self.b.block();
            self.rounds(types, regs, (cond, body), (copies, inside, exit));
        }
        let counter = self.atom(Atom::Var(bounded.counter));
        let is_far = |lower: &mut Self| lower.b.cmp(Cmp::Lt, ty_of(bounded.ty), counter, end);
        let far = is_far(self);
        self.b.branch(far, several, single, is_together);
        self.b.begin(several);
        if is_plain {
            let value = |(reg, ty): (&Reg, &Type)| self.b.mov(Ty::of_class(class(ty)), *reg);
            let old: Vec<Reg> = regs.iter().zip(types).map(value).collect();
            let held = self.b.mov(Ty::Pred, Operand::Imm(1));
            for _ in 0..copies {
                let go_on = self.go_on(bounded, cond);
                self.b.bin_to(held, Binary::And, Ty::Pred, held, go_on);
                self.step(types, regs, body);
            }
            let far = is_far(self);
            let more = self.b.bin(Binary::And, Ty::Pred, held, far);
            let back = self.b.block();
            self.b.branch(more, several, back, is_together);
            self.b.begin(back);
            for ((reg, ty), old) in regs.iter().zip(types).zip(old) {
                let ty = Ty::of_class(class(ty));
                let value = self.b.select(ty, held, *reg, old);
                self.b.set(ty, *reg, value);
            }
            self.b.jump(single);
        } else {
            for _ in 0..copies {
                let go_on = self.go_on(bounded, cond);
                let inside = self.b.block();
                self.b.branch(go_on, inside, exit, is_together);
                self.b.begin(inside);
                self.step(types, regs, body);
            }
            self.b.jump(head);
        }
        self.b.begin(single);
        let inside = self.b.block();
        self.rounds(types, regs, (cond, body), (1, inside, exit));
        self.b.jump(single);
    }

    /// Whether a step is to be taken, where the counter is far from its bound.
    fn go_on(&mut self, bounded: &Bounded, cond: &Body<Mem>) -> Reg {
        self.bind_scalar(bounded.test, Operand::Imm(1));
        let known = |stm: &&Stm<Mem>| {
            let is_both = bounded.both.is_some_and(|(v, _)| stm.binds.contains(&v));
            !stm.binds.contains(&bounded.test) && !is_both
        };
        for stm in cond.stms.iter().filter(known) {
            self.stm(stm);
        }
        let result = bounded.both.map_or(cond.result[0], |(_, other)| other);
        let go_on = self.atom(result);
        self.reg(ScalarType::Bool, go_on)
    }

    /// The counter from which on fewer than so many steps may be left.
    pub(super) fn end_of_strips(&mut self, bounded: &Bounded, copies: usize) -> Reg {
        let ty = ty_of(bounded.ty);
        let more = copies as u64 - 1;
        let least = if bounded.ty == ScalarType::I32 {
            Const::I32(i32::MIN + more as i32)
        } else {
            Const::I64(i64::MIN + more as i64)
        };
        let limit = self.atom(bounded.limit);
        // A difference that is not below all numbers.
        let limit = self
            .b
            .bin(Binary::Max, ty, limit, Operand::Imm(least.to_slot()));
        self.b.bin(Binary::Sub, ty, limit, Operand::Imm(more))
    }
}
