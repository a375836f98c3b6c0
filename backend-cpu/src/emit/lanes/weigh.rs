//! Which statements have vectors.

use super::choose::{Finder, is_truth};
use super::vector::{lanes_per_vector, packed_type};
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Exp, Stm};
use midend::ir::types::ScalarType;

impl Finder<'_> {
    /// Takes note of whether a varying statement has vectors.
    pub(super) fn weigh(&mut self, stm: &Stm<Mem>) {
        let unit = |atom: &Atom| matches!(atom, Atom::Var(v) if self.unit.contains(v));
        let packed = match &stm.exp {
            Exp::Atom(_) => return,
            // Masks are made of masks, or lanes of lanes.
            Exp::Scalar(op, _) if is_truth(*op) => return,
            Exp::Scalar(ScalarOp::Select(ty), args) if self.varies(args[0]) => Some(*ty),
            Exp::If { .. }
                if stm.binds.len() == 1 && self.elem(stm.binds[0]) == Some(ScalarType::Bool) =>
            {
                return;
            }
            Exp::If { .. } => {
                let mut tys = stm.binds.iter().map(|v| self.elem(*v));
                let first = tys.next().flatten();
                first.filter(|_| {
                    tys.all(|ty| ty.is_some_and(|ty| lanes_per_vector(ty, self.integers).is_some()))
                })
            }
            Exp::Scalar(op, args) => {
                if let ScalarOp::Bin(op @ (BinOp::Add | BinOp::Sub), ScalarType::I64) = op {
                    let ahead = unit(&args[0]) && !self.varies(args[1]);
                    let behind = *op == BinOp::Add && unit(&args[1]) && !self.varies(args[0]);
                    if ahead || behind {
                        self.unit.extend(&stm.binds);
                        return;
                    }
                }
                let packed = packed_type(*op, self.integers);
                match op {
                    // An index as it grows from lane to lane.
                    ScalarOp::Convert(ScalarType::I64, to) if unit(&args[0]) => {
                        packed.filter(|_| to.is_integer()).map(|_| *to)
                    }
                    ScalarOp::Bin(BinOp::Shl | BinOp::Shr, _) if self.varies(args[1]) => None,
                    ScalarOp::Un(..)
                    | ScalarOp::Bin(..)
                    | ScalarOp::Cmp(..)
                    | ScalarOp::Tern(..)
                    | ScalarOp::Convert(..)
                    | ScalarOp::ToBits(_)
                    | ScalarOp::FromBits(_)
                    | ScalarOp::Select(_) => packed.filter(|_| !args.iter().any(unit)),
                }
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                let elem = self.vars[*buffer].ty.elem();
                elem.filter(|_| unit(index))
            }
            Exp::Op(Mem::Store {
                buffer,
                index,
                value,
            }) => {
                let elem = self.vars[*buffer].ty.elem();
                elem.filter(|_| unit(index) && !unit(value))
            }
            // Only what it says differs.
            Exp::Assert { cond, .. } if !self.varies(*cond) => return,
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => None,
            Exp::Op(
                Mem::Alloc { .. }
                | Mem::Free(_)
                | Mem::Copy { .. }
                | Mem::Launch(_)
                | Mem::Trace(_),
            ) => None,
        };
        let lanes = packed.and_then(|ty| lanes_per_vector(ty, self.integers));
        match lanes {
            Some(lanes) => {
                let load = matches!(stm.exp, Exp::Op(Mem::Load { .. }));
                self.counts.packed += usize::from(!load);
                self.counts.fills(Some(lanes));
                if let Exp::Scalar(ScalarOp::Convert(_, to), _) = &stm.exp {
                    self.counts.fills(lanes_per_vector(*to, self.integers));
                }
            }
            None => self.counts.apart += 1,
        }
        if self.counts.depth > 0 {
            self.counts.inner[usize::from(lanes.is_none())] += 1;
        }
    }
}
