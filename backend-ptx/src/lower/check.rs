//! Checks that fail: who is first claims the failure word of the launch and stores the values of the message.

use super::{Lower, Site, SitePart, VALUES, memory_ty};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::syntax::{Atom, Message, MessagePart};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// A check: the cold path claims the failure word and leaves.
    pub(super) fn assert(&mut self, cond: Atom, message: &Message, span: midend::ir::id::SpanId) {
        let cond = match self.atom(cond) {
            Operand::Imm(1) => return,
            operand @ (Operand::Reg(_) | Operand::Imm(_)) => self.reg(ScalarType::Bool, operand),
        };
        let (bad, good) = (self.b.block(), self.b.block());
        self.b.branch(cond, good, bad, self.is_together());
        self.b.begin(bad);
        self.report(message, span);
        self.b.begin(good);
    }

    /// Reports a failure and leaves; ends the block.
    pub(super) fn report(&mut self, message: &Message, span: midend::ir::id::SpanId) {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for part in &message.parts {
            match part {
                MessagePart::Text(text) => parts.push(SitePart::Text(text.clone())),
                MessagePart::Value(_) if values.len() == VALUES => {
                    parts.push(SitePart::Text("..".to_owned()));
                }
                MessagePart::Value(atom) => {
                    let ty = self.scalar_type(atom);
                    parts.push(SitePart::Value(ty));
                    values.push((ty, self.atom(*atom)));
                }
            }
        }
        self.sites.push(Site {
            kind: message.kind,
            parts,
            span,
        });
        let number = self.sites.len() as u32;
        self.claim(number, &values);
    }

    /// Claims the failure word, if nobody has, and leaves.
    pub(super) fn claim(&mut self, number: u32, values: &[(ScalarType, Operand)]) {
        let old = self.b.reg(Class::B64);
        let word = Operand::Imm(number.into());
        let word = self.b.bin(Binary::Or, Ty::B64, self.launch, word);
        self.b.inst(Inst::Atom {
            op: crate::ptx::ops::AtomOp::Cas,
            space: Space::Global,
            order: Order::Relaxed(Scope::Gpu),
            ty: Ty::B64,
            dst: Some(old),
            at: self.failure.into(),
            a: Operand::Imm(0),
            b: Some(word.into()),
        });
        let first = self.b.cmp(Cmp::Eq, Ty::U64, old, Operand::Imm(0));
        let mut stored = Vec::new();
        for (ty, value) in values {
            stored.push((memory_ty(*ty), self.storable(*ty, *value)));
        }
        let failure = self.failure;
        for (i, (ty, value)) in stored.into_iter().enumerate() {
            let at = crate::ptx::Address {
                base: failure,
                offset: 8 * (i as i32 + 1),
            };
            let store = Inst::store(Space::Global, Order::Weak, ty, at, value);
            self.b.guarded(first, store);
        }
        let fail = self.fail;
        self.b.jump(fail);
    }

    /// Leaves if an earlier launch has failed. A failure of this launch does not matter here: whatever the threads find,
    /// they all find the same.
    pub(super) fn skip_after_failure(&mut self) {
        let order = Order::Relaxed(Scope::Gpu);
        let word = self.b.load_as(Space::Global, order, Ty::U64, self.failure);
        let other = self.b.bin(Binary::Xor, Ty::B64, word, self.launch);
        let none = self.b.cmp(Cmp::Eq, Ty::U64, word, Operand::Imm(0));
        let mine = self.b.cmp(Cmp::Lt, Ty::U64, other, Operand::Imm(1 << 32));
        let go_on = self.b.bin(Binary::Or, Ty::Pred, none, mine);
        let (start, end) = (self.b.block(), self.fail);
        self.b.branch(go_on, start, end, true);
        self.b.begin(start);
    }

    /// The scalars that `f` yields, in registers of their own. If it fails, they are 0, and the thread goes on.
    pub(super) fn protected(
        &mut self,
        types: &[ScalarType],
        f: impl FnOnce(&mut Self) -> Vec<Operand>,
    ) -> Vec<Reg> {
        let results: Vec<Reg> = types
            .iter()
            .map(|ty| self.fresh(*ty, Operand::Imm(0)))
            .collect();
        let end = self.b.block();
        let outer = std::mem::replace(&mut self.fail, end);
        let values = f(self);
        for ((result, ty), value) in results.iter().zip(types).zip(values) {
            self.assign(*ty, *result, value);
        }
        self.b.begin(end);
        self.fail = outer;
        results
    }
}
