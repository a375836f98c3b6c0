//! Choices that come out the same for all lanes. They are branches, with lanes on each side:
//!
//! ```text
//! if row_has_it then loop .. else zero   →   if row_has_it then loop over lanes .. else zeros
//! ```

use super::Group;
use super::choose::{Finder, blends};
use super::sequential::Carried;
use crate::emit::{Emit, block_args};
use cranelift_codegen::ir::InstBuilder;
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, Stm};

impl Finder<'_> {
    /// A choice that comes out the same for all lanes, whatever its sides are: all of a group take the one or the other. Its results
    /// differ where one side's do.
    pub(super) fn branch(&mut self, stm: &Stm<Mem>, sides: [&Body<Mem>; 2]) -> Option<()> {
        // What lanes find for themselves is found by runs of statements, which end at branches.
        let finding = self.counts.finding;
        for side in sides {
            self.body(side)?;
        }
        for (k, bind) in stm.binds.iter().enumerate() {
            if sides.iter().any(|side| self.varies(side.result[k])) {
                self.varying.insert(*bind);
            }
        }
        self.branch_array(stm, sides)?;
        (self.counts.finding == finding || !self.own.is_empty()).then_some(())
    }

    /// Whether both sides of a choice between lanes may be computed when the elements that they read are the same for all lanes: they
    /// are read if any lane takes the side.
    pub(super) fn blends_around_loads(&self, sides: [&Body<Mem>; 2]) -> bool {
        // What varies inside of the sides is not known yet.
        let inside = |v: Var| {
            sides
                .iter()
                .any(|s| s.stms.iter().any(|m| m.binds.contains(&v)))
        };
        let fixed = |stm: &Stm<Mem>| match &stm.exp {
            Exp::Op(Mem::Load { buffer, index }) => {
                let inside = index.as_var().is_some_and(inside);
                Some(!self.varies(Atom::Var(*buffer)) && !self.varies(*index) && !inside)
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        };
        let all = |side: &Body<Mem>| side.stms.iter().filter_map(fixed).all(|fixed| fixed);
        let rest = sides.map(|side| {
            let stms = side.stms.iter().filter(|stm| fixed(stm).is_none());
            let result = side.result.clone();
            Body {
                stms: stms.cloned().collect(),
                result,
            }
        });
        sides.into_iter().all(all) && blends([&rest[0], &rest[1]])
    }
}

impl Emit<'_, '_> {
    /// A choice that comes out the same for all lanes.
    pub(super) fn lanes_branch(
        &mut self,
        group: &mut Group<'_>,
        stm: &Stm<Mem>,
        cond: Atom,
        sides: [&Body<Mem>; 2],
    ) {
        fired("cpu/branch-of-lanes");
        let kept = (0..stm.binds.len()).filter(|i| has_value(self.ty(stm.binds[*i])));
        let carried: Carried = kept.map(|i| (i, self.shape(group, stm.binds[i]))).collect();
        let cond = self.atom(cond);
        let [yes, no, join] = std::array::from_fn(|_| self.b.create_block());
        self.b.ins().brif(cond, yes, &[], no, &[]);
        let mut results = Vec::new();
        for (block, side) in [yes, no].into_iter().zip(sides) {
            self.b.switch_to_block(block);
            // What is put in vectors or taken out of them on one side is not there on the other.
            let outside = group.lanes.clone();
            self.lanes_body(group, side);
            let mut values = Vec::new();
            for (i, shape) in &carried {
                values.extend(self.in_shape(group, *shape, side.result[*i]));
            }
            group.lanes = outside;
            if block == yes {
                let types = self.types_of(&values);
                results = self.params(join, &types);
            }
            self.b.ins().jump(join, &block_args(values));
        }
        self.b.switch_to_block(join);
        self.bind_carried(group, &stm.binds, &carried, &results);
    }
}
