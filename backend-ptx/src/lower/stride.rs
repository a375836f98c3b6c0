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

/// Whether some load of the body is of a place that moves by one element with the innermost index.
pub(super) fn is_contiguous(kernel: &Kernel) -> bool {
    let Some((inner, _)) = kernel.space.last() else {
        return false;
    };
    let mut known: HashMap<Var, Growth> = HashMap::from([(*inner, Growth::One)]);
    let mut contiguous = false;
    statements(&kernel.body, &mut |stm| {
        let growth = |atom: &Atom| match atom {
            Atom::Const(_) => Growth::None,
            // What is not known comes from outside of the kernel.
            Atom::Var(v) => known.get(v).copied().unwrap_or(Growth::None),
        };
        let result = match &stm.exp {
            Exp::Atom(atom) => growth(atom),
            Exp::Scalar(op, args) => {
                let args: Vec<Growth> = args.iter().map(growth).collect();
                match (op, args.as_slice()) {
                    (_, args) if args.iter().all(|a| *a == Growth::None) => Growth::None,
                    (ScalarOp::Bin(BinOp::Add, _), [Growth::One, Growth::None])
                    | (ScalarOp::Bin(BinOp::Add, _), [Growth::None, Growth::One])
                    | (ScalarOp::Bin(BinOp::Sub, _), [Growth::One, Growth::None]) => Growth::One,
                    _ => Growth::Other,
                }
            }
            Exp::Op(Mem::Load { index, .. }) => {
                let growth = growth(index);
                contiguous |= growth == Growth::One;
                match growth {
                    Growth::None => Growth::None,
                    Growth::One | Growth::Other => Growth::Other,
                }
            }
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => Growth::Other,
        };
        for var in &stm.binds {
            known.insert(*var, result);
        }
    });
    contiguous
}
