//! Choices that differ from lane to lane. Vectors are chosen by a mask, since a branch for every lane would often be guessed
//! wrong, and a `select` of floats is a branch on some machines.

use super::{Group, Lanes, Shape};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    /// The one or the other number in each lane, if such numbers are put in vectors. Whether they are.
    pub(super) fn lanes_select(
        &mut self,
        group: &mut Group<'_>,
        bind: Var,
        ty: ScalarType,
        args: &[Atom],
    ) -> bool {
        let varies = args[0].as_var().is_some_and(|cond| group.plan.varies(cond));
        if !varies || group.plan.per_vector(ty).is_none() {
            return false;
        }
        let conds = self.in_shape(group, Shape::Many, args[0]);
        let chosen = self.lanes_chosen(group, &conds, [args[1], args[2]]);
        group.lanes.insert(bind, chosen);
        true
    }

    /// A choice that differs from lane to lane: both sides, which are cheap, and then for each result the one or the
    /// other.
    pub(super) fn lanes_choice(
        &mut self,
        group: &mut Group<'_>,
        binds: &[Var],
        cond: Var,
        sides: [&Body<Mem>; 2],
    ) {
        for side in sides {
            self.lanes_body(group, side);
        }
        let conds = self.in_shape(group, Shape::Many, Atom::Var(cond));
        for (k, bind) in binds.iter().enumerate() {
            let [yes, no] = sides.map(|side| side.result[k]);
            if !has_value(self.ty(*bind)) {
                continue;
            }
            let ty = self.elem(*bind);
            let chosen = match group.plan.per_vector(ty) {
                Some(_) if !self.is_buffer(*bind) => self.lanes_chosen(group, &conds, [yes, no]),
                Some(_) | None => {
                    let [yes, no] = [yes, no].map(|side| self.in_shape(group, Shape::Many, side));
                    let all = conds.iter().zip(yes.iter().zip(no));
                    let select =
                        |(c, (a, b)): (&Value, (&Value, Value))| self.b.ins().select(*c, *a, b);
                    Lanes::Many(all.map(select).collect())
                }
            };
            group.lanes.insert(*bind, chosen);
        }
    }

    /// The one or the other number in each lane, in vectors.
    fn lanes_chosen(
        &mut self,
        group: &mut Group<'_>,
        conds: &[Value],
        [yes, no]: [Atom; 2],
    ) -> Lanes {
        let (yes, no) = (self.packed(group, yes), self.packed(group, no));
        Lanes::Packed(self.packed_choice(group.plan.halves, conds, &yes, &no))
    }
}
