//! Whether neighbours along the innermost dimension of a kernel lie side by side in memory.

use midend::analysis::kernels::statements;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Exp};
use std::collections::HashMap;

/// How a number grows when the innermost index does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    None,
    One,
    Other,
}

/// How the numbers of a kernel's body grow.
pub(super) struct Strides(HashMap<Var, Growth>);

impl Strides {
    /// Looks at all statements of a kernel.
    pub(super) fn of(kernel: &Kernel) -> Self {
        let inner = kernel.space.last();
        let inner = inner.map(|(inner, _)| (*inner, Growth::One));
        let mut strides = Self(inner.into_iter().collect());
        statements(&kernel.body, &mut |stm| {
            let result = match &stm.exp {
                Exp::Atom(atom) => strides.growth(*atom),
                Exp::Scalar(op, args) => {
                    let args: Vec<Growth> = args.iter().map(|arg| strides.growth(*arg)).collect();
                    match (op, args.as_slice()) {
                        (_, args) if args.iter().all(|a| *a == Growth::None) => Growth::None,
                        (ScalarOp::Bin(BinOp::Add, _), [Growth::One, Growth::None])
                        | (ScalarOp::Bin(BinOp::Add, _), [Growth::None, Growth::One])
                        | (ScalarOp::Bin(BinOp::Sub, _), [Growth::One, Growth::None]) => {
                            Growth::One
                        }
                        _ => Growth::Other,
                    }
                }
                Exp::Op(Mem::Load { index, .. }) => match strides.growth(*index) {
                    Growth::None => Growth::None,
                    Growth::One | Growth::Other => Growth::Other,
                },
                Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => Growth::Other,
            };
            for var in &stm.binds {
                strides.0.insert(*var, result);
            }
        });
        strides
    }

    fn growth(&self, atom: Atom) -> Growth {
        match atom {
            Atom::Const(_) => Growth::None,
            // What is not known comes from outside of the kernel.
            Atom::Var(v) => self.0.get(&v).copied().unwrap_or(Growth::None),
        }
    }

    /// Whether a number grows by one when the innermost index does.
    pub(super) fn is_one(&self, number: Atom) -> bool {
        self.growth(number) == Growth::One
    }
}

/// Whether some load of the body is of a place that moves by one element with the innermost index.
pub(super) fn is_contiguous(kernel: &Kernel) -> bool {
    let strides = Strides::of(kernel);
    let mut contiguous = false;
    statements(&kernel.body, &mut |stm| {
        if let Exp::Op(Mem::Load { index, .. }) = &stm.exp {
            contiguous |= strides.is_one(*index);
        }
    });
    contiguous
}
