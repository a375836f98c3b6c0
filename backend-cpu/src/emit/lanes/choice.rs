//! Choices that differ from lane to lane. Vectors are chosen by a mask, since a branch for every lane would often be guessed
//! wrong, and a `select` of floats is a branch on some machines.

use super::choose::blends;
use super::gather::reads_or_checks;
use super::taken::is_computed;
use super::{Group, Lanes, Shape};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// The one or the other value in each lane, if such values are put in vectors. Whether they are.
    pub(super) fn lanes_select(
        &mut self,
        group: &mut Group<'_>,
        bind: Var,
        ty: ScalarType,
        args: &[Atom],
    ) -> bool {
        let varies = args[0].as_var().is_some_and(|cond| group.plan.varies(cond));
        let packs = if ty == ScalarType::Bool {
            group.masked(args).is_some()
        } else {
            group.plan.per_vector(ty).is_some()
        };
        if !(varies && packs) {
            return false;
        }
        let chosen = self.lanes_chosen(group, bind, args[0], [args[1], args[2]]);
        group.lanes.insert(bind, chosen);
        true
    }

    /// A choice that differs from lane to lane: both sides, and then for each result the one or the other. Whether
    /// both sides may be computed.
    pub(super) fn lanes_choice(
        &mut self,
        group: &mut Group<'_>,
        binds: &[Var],
        cond: Var,
        sides: [&Body<Mem>; 2],
    ) -> bool {
        let reads = |side: &Body<Mem>| {
            let is_load = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Op(Mem::Load { .. }));
            side.stms.iter().any(is_load)
        };
        if group.plan.by_vectors
            && sides.into_iter().any(reads_or_checks)
            && self.lanes_if_taken(group, binds, cond, sides)
        {
            return true;
        }
        if !blends(sides) && !sides.into_iter().any(reads) {
            return is_computed(sides) && self.lanes_if_taken(group, binds, cond, sides);
        }
        for (k, side) in sides.into_iter().enumerate() {
            if reads(side) {
                let taken = self.any_lane_is(group, Atom::Var(cond), k == 0);
                self.lanes_side(group, side, taken);
            } else {
                self.lanes_body(group, side);
            }
        }
        for (k, bind) in binds.iter().enumerate() {
            if has_value(self.ty(*bind)) {
                let sides = sides.map(|side| side.result[k]);
                let chosen = self.lanes_chosen(group, *bind, Atom::Var(cond), sides);
                group.lanes.insert(*bind, chosen);
            }
        }
        true
    }

    /// A side of a choice, for all lanes. What it reads is the same for all of them; unless a lane takes the side, it may not be
    /// there, and something else is read.
    fn lanes_side(&mut self, group: &mut Group<'_>, side: &Body<Mem>, taken: Value) {
        let elsewhere = self.stack_slot(8);
        for stm in &side.stms {
            if let Exp::Op(Mem::Load { buffer, index }) = &stm.exp
                && !self.is_there(*buffer, *index)
            {
                let (start, elem) = (self.var(*buffer), self.elem(*buffer));
                let (place, offset) = self.place(start, elem, *index);
                let place = self.b.ins().iadd_imm_s(place, i64::from(offset));
                let place = self.b.ins().select(taken, place, elsewhere);
                let value = self.load(elem, place, 0);
                self.bind(stm.binds[0], value);
            } else {
                self.lanes_stm(group, stm);
            }
        }
    }

    /// Whether an element is known to be there: its index is a constant or the counter of a loop that ends before the known end of its buffer.
    fn is_there(&self, buffer: Var, index: Atom) -> bool {
        let least = match index {
            Atom::Const(Const::I64(index)) => Some(index).filter(|k| *k >= 0),
            Atom::Const(_) => None,
            // It begins with zero.
            Atom::Var(index) => self.bounds.get(&index).map(|bound| bound - 1),
        };
        let count = self.units.extents.get(&buffer);
        least
            .zip(count)
            .is_some_and(|(least, count)| least < *count)
    }

    /// The one or the other value in each lane, of the type of `bind`.
    pub(super) fn lanes_chosen(
        &mut self,
        group: &mut Group<'_>,
        bind: Var,
        cond: Atom,
        [yes, no]: [Atom; 2],
    ) -> Lanes {
        let ty = self.elem(bind);
        if !self.is_buffer(bind) {
            if group.narrow.contains(&bind)
                && let Some(per) = group.plan.per_vector(ScalarType::I32)
            {
                let masks = self.mask(group, cond, per);
                let (yes, no) = (self.narrow_lanes(group, yes), self.narrow_lanes(group, no));
                return Lanes::Narrow(self.blended(&masks, &yes, &no));
            }
            if let Some(per) = group.plan.per_vector(ty) {
                let masks = self.mask(group, cond, per);
                let (yes, no) = (self.packed(group, yes), self.packed(group, no));
                if ty.is_integer()
                    && let Some(changed) = self.changed_where(&masks, &yes, &no)
                {
                    return Lanes::Packed(changed);
                }
                return Lanes::Packed(self.blended(&masks, &yes, &no));
            }
            if ty == ScalarType::Bool
                && let Some(per) = group.masked(&[cond, yes, no])
            {
                return Lanes::Mask(self.chosen_truth(group, per, (cond, yes, no)));
            }
        }
        let conds = self.in_shape(group, Shape::Many, cond);
        let [yes, no] = [yes, no].map(|side| self.in_shape(group, Shape::Many, side));
        let all = conds.iter().zip(yes.iter().zip(no));
        let select = |(c, (a, b)): (&Value, (&Value, Value))| self.b.ins().select(*c, *a, b);
        Lanes::Many(all.map(select).collect())
    }

    /// A choice between integers and what an operation makes of them that leaves them as they are for zero: the operation, with zero
    /// where the mask does not hold.
    ///
    /// ```text
    /// if c then x ^ v else x  →  x ^ (v & c)
    /// ```
    fn changed_where(
        &mut self,
        masks: &[Value],
        yes: &[Value],
        no: &[Value],
    ) -> Option<Vec<Value>> {
        let all = masks.iter().zip(yes.iter().zip(no));
        let changes: Option<Vec<_>> = all
            .map(|(mask, (yes, no))| {
                let dfg = &self.b.func.dfg;
                let InstructionData::Binary { opcode, args } =
                    dfg.insts[dfg.value_def(*yes).inst()?]
                else {
                    return None;
                };
                let [a, b] = args.map(|arg| dfg.resolve_aliases(arg));
                let kept = dfg.resolve_aliases(*no);
                let either = matches!(opcode, Opcode::Bxor | Opcode::Bor | Opcode::Iadd);
                let first = either || opcode == Opcode::Isub;
                let other = if first && a == kept {
                    b
                } else if either && b == kept {
                    a
                } else {
                    return None;
                };
                let alike = dfg.value_type(*mask) == dfg.value_type(other);
                alike.then_some((opcode, *mask, *no, other))
            })
            .collect();
        let changed = changes?.into_iter().map(|(opcode, mask, kept, other)| {
            let other = self.b.ins().band(other, mask);
            if opcode == Opcode::Bxor {
                self.b.ins().bxor(kept, other)
            } else if opcode == Opcode::Bor {
                self.b.ins().bor(kept, other)
            } else if opcode == Opcode::Isub {
                self.b.ins().isub(kept, other)
            } else {
                self.b.ins().iadd(kept, other)
            }
        });
        Some(changed.collect())
    }

    /// The one or the other truth value, as masks. One that is the same for all lanes is none to choose.
    fn chosen_truth(
        &mut self,
        group: &mut Group<'_>,
        per: usize,
        (cond, yes, no): (Atom, Atom, Atom),
    ) -> Vec<Value> {
        let masks = self.mask(group, cond, per);
        let is = |atom, truth| matches!(atom, Atom::Const(Const::Bool(b)) if b == truth);
        if is(no, false) {
            let yes = self.mask(group, yes, per).into_iter();
            let both = masks.into_iter().zip(yes);
            return both.map(|(a, b)| self.b.ins().band(a, b)).collect();
        }
        if is(yes, true) {
            let no = self.mask(group, no, per).into_iter();
            let either = masks.into_iter().zip(no);
            return either.map(|(a, b)| self.b.ins().bor(a, b)).collect();
        }
        let (yes, no) = (self.mask(group, yes, per), self.mask(group, no, per));
        self.blended(&masks, &yes, &no)
    }
}
