//! Functions that are defined in IR (`midend::math`), put into the code where they are used.

use super::super::Lower;
use crate::ptx::{Operand, Ty};
use midend::ir::id::Id;
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;
use midend::math::code::Definition;
use midend::math::{computed_by, definition};

/// Whether GPUs have instructions for a function, which do without its definition.
const fn is_built_in(op: ScalarOp) -> bool {
    matches!(
        op,
        ScalarOp::Un(
            UnOp::ExpNear | UnOp::SqrtNear | UnOp::RsqrtNear,
            ScalarType::F32
        ) | ScalarOp::Bin(BinOp::DivNear, ScalarType::F32)
    )
}

impl Lower<'_> {
    /// The value of a function that is defined in IR; those of f16 are computed in f32.
    pub(super) fn defined(&mut self, op: ScalarOp, args: &[Operand]) -> Option<Operand> {
        if is_built_in(op) {
            return None;
        }
        let wide = computed_by(op);
        let definition = definition(wide)?;
        let definition = definition.branching.as_deref().unwrap_or(definition);
        if wide == op {
            return Some(self.expand(definition, args));
        }
        let args: Vec<Operand> = args.iter().map(|a| self.widen(*a)).collect();
        let result = self.expand(definition, &args);
        Some(self.narrow(result))
    }

    /// The code of a definition. What only few operands need is behind a branch.
    fn expand(&mut self, definition: &Definition, args: &[Operand]) -> Operand {
        let mut values = vec![Operand::Imm(0); definition.vars.len()];
        for (param, arg) in definition.params.iter().zip(args) {
            values[param.index()] = *arg;
        }
        let get = |values: &[Operand], this: &Self, atom: Atom| match atom {
            Atom::Const(c) => this.constant(c),
            Atom::Var(v) => values[v.index()],
        };
        for stm in &definition.body.stms {
            let Exp::Scalar(op, operands) = &stm.exp else {
                unreachable!("definitions are made of scalar operations");
            };
            let operands: Vec<Operand> = operands
                .iter()
                .map(|atom| get(&values, self, *atom))
                .collect();
            // The bits of a NaN may be any here, since definitions do not show them.
            let is_bits = matches!(op, ScalarOp::ToBits(ScalarType::F32 | ScalarType::F64));
            values[stm.binds[0].index()] = if is_bits {
                operands[0]
            } else {
                self.scalar(*op, &operands)
            };
        }
        let result = get(&values, self, definition.body.result[0]);
        let Some(rare) = &definition.rare else {
            return result;
        };
        let ty = definition.vars[definition.params[0]]
            .ty
            .elem()
            .unwrap_or(ScalarType::F64);
        let bits = Ty::of_class(super::ty_of(ty).class());
        let out = self.b.mov(bits, result);
        let cond = self.reg(ScalarType::Bool, values[rare.cond.index()]);
        let (slow, join) = (self.b.block(), self.b.block());
        self.b.branch(cond, slow, join, false);
        self.b.begin(slow);
        let value = self.expand(&rare.definition, args);
        self.b.set(bits, out, value);
        self.b.jump(join);
        self.b.begin(join);
        out.into()
    }
}
