//! What runs in parallel shows nothing: no order of what is shown would mean anything, and devices have no output.
//!
//! ```text
//! map n (xs) \(x) { do trace "x" i32 (x) .. }   →   map n (xs) \(x) { .. }
//! ```

use crate::ir::array::{ArrayOp, StreamOp};
use crate::ir::id::{FunId, IdVec};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Body, Exp, Fun};
use crate::ir::walk::deep;

/// Leaves out what the parallel operations of the functions would show.
pub(super) fn silence(funs: &mut IdVec<FunId, Fun<Soac>>) {
    for fun in funs.iter_mut() {
        outside(&mut fun.body);
    }
}

fn outside(body: &mut Body<Soac>) {
    for stm in &mut body.stms {
        let is_parallel = matches!(stm.exp, Exp::Op(_));
        deep(|| {
            stm.exp.bodies_mut(&mut |body| {
                if is_parallel {
                    inside(body);
                } else {
                    outside(body);
                }
            });
        });
    }
}

fn inside(body: &mut Body<Soac>) {
    body.stms
        .retain(|stm| !matches!(stm.exp, Exp::Op(Soac::Array(ArrayOp::Trace(_)))));
    for stm in &mut body.stms {
        if let Exp::Op(Soac::Array(ArrayOp::Stream(stream))) = &stm.exp
            && stream.op == StreamOp::Next
        {
            stm.exp = Exp::Atom(stream.whole());
        }
        deep(|| stm.exp.bodies_mut(&mut inside));
    }
}
