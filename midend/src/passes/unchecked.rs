//! Indices and slices that are not checked (`--unsafe`): to see what their checks cost, and for programs that are known to be right.
//!
//! ```text
//! let c = within(i, n)                   let c = within(i, n)
//! let ok = assert c "index .."    ──►    let ok = assert true "index .."
//! let x = <ok> index xs[i]               let x = <ok> index xs[i]
//! ```
//!
//! What holds is not asked again, so that the rules of checks take the rest away. All other checks stay: that sizes agree is what later
//! passes rest on, and a division by zero ends a process. It is for whoever runs a program to say, never for the program.

use crate::fired::fired;
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, TrapKind};
use crate::ir::walk::all_stms_mut;
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "unchecked",
    summary: "indices and slices are not checked (only with --unsafe)",
    run: |mut program, cx| {
        if cx.options.unchecked {
            for fun in program.funs.iter_mut() {
                all_stms_mut(&mut fun.body, &mut |stm| {
                    if let Exp::Assert { cond, message } = &mut stm.exp
                        && message.kind == TrapKind::Bounds
                    {
                        fired("unchecked/bounds");
                        *cond = Atom::Const(Const::Bool(true));
                    }
                });
            }
        }
        program
    },
};
