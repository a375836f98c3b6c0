//! Whether random programs sum floats exactly, so that no order of additions shows: what is summed is a product of two integers
//! below eight, of which a hundred thousand make less than 2^24, up to which `f32` holds every integer.

use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::{HistOp, Operator, Soac};
use midend::ir::syntax::{Atom, Exp, Fun, Program};
use midend::ir::walk::all_stms;
use std::collections::BTreeSet;

/// How many sums of floats a program has, and how many of them may be inexact.
pub fn sums_of_floats(program: &Program<Soac>) -> (usize, usize) {
    let (mut all, mut inexact) = (0, 0);
    for fun in program.funs.iter() {
        let products = small_products(fun);
        let small = |a: &Atom| matches!(a, Atom::Var(v) if products.contains(v));
        let mut look = |op: &Operator<Soac>, values: &[Atom]| {
            let first = &op.lam.params[..op.neutral.len()];
            for (&param, value) in first.iter().zip(values) {
                let elem = program.vars[param].ty.elem();
                if elem.is_some_and(|elem| elem.is_float()) {
                    all += 1;
                    inexact += usize::from(!small(value));
                }
            }
        };
        all_stms(&fun.body, &mut |stm| match &stm.exp {
            Exp::Op(Soac::Screma {
                lam, scans, reds, ..
            }) => {
                let mut values = &lam.body.result[..];
                for op in scans.iter().chain(reds) {
                    look(op, values);
                    values = &values[op.neutral.len()..];
                }
            }
            Exp::Op(Soac::Hist { lam, ops, .. }) => {
                let buckets: usize = ops.iter().map(|op| op.shape.len()).sum();
                let mut values = &lam.body.result[buckets..];
                for HistOp { op, .. } in ops {
                    look(op, values);
                    values = &values[op.neutral.len()..];
                }
            }
            // What is updated through accumulators has no floats: the values are wherever the updates are.
            Exp::Op(Soac::WithAcc { acc, .. }) => {
                let none = vec![Atom::ZERO; acc.dests.len()];
                acc.op.iter().for_each(|op| look(op, &none));
            }
            Exp::Op(
                Soac::Array(_)
                | Soac::Scatter { .. }
                | Soac::Filter { .. }
                | Soac::FlatMap { .. }
                | Soac::UpdateAcc(_),
            )
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => {}
        });
    }
    (all, inexact)
}

/// The variables of a function that are products of two integers below eight. What they are made of is bound before them, so that
/// one walk is enough.
fn small_products(fun: &Fun<Soac>) -> BTreeSet<Var> {
    let (mut bits, mut products) = (BTreeSet::new(), BTreeSet::new());
    all_stms(&fun.body, &mut |stm| {
        let Exp::Scalar(op, args) = &stm.exp else {
            return;
        };
        let small = |a: &Atom| matches!(a, Atom::Var(v) if bits.contains(v));
        let seven = Atom::Const(Const::I64(7));
        match op {
            ScalarOp::Bin(BinOp::And, _) if args.contains(&seven) => {
                bits.insert(stm.binds[0]);
            }
            ScalarOp::Convert(..) if small(&args[0]) => {
                bits.insert(stm.binds[0]);
            }
            ScalarOp::Bin(BinOp::Mul, _) if args.iter().all(small) => {
                products.insert(stm.binds[0]);
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(..) => {}
        }
    });
    products
}
