//! A flat program with how places move as comments, for `arrc opt --pass=access`.
//!
//! ```text
//! ; a_4: i_16 apart, i_17 same, i_20 next        how the place of this read moves with each index and counter
//! ```

use super::{Access, Along, access};
use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::print::Printer;
use crate::ir::seg::{Seg, SegOp};
use crate::ir::syntax::{Exp, Program};
use crate::ir::walk::all_stms;

/// The text of a program with comments.
pub fn annotated(program: &Program<Seg>) -> String {
    let mut names = Printer::numbered(program);
    let mut notes: HashMap<Var, Vec<String>> = HashMap::default();
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| {
            if let Exp::Op(Seg::Par(op)) = &stm.exp {
                note(program, op, &mut names, &mut notes);
            }
        });
    }
    Printer::annotated(program, notes)
}

fn note(
    program: &Program<Seg>,
    op: &SegOp,
    names: &mut Printer<'_>,
    notes: &mut HashMap<Var, Vec<String>>,
) {
    let indices: Vec<Var> = op.space.dims.iter().map(|(i, _)| *i).collect();
    let Access { reads, .. } = access(&program.vars, &indices, &op.body);
    for read in &reads {
        let movements = indices.iter().chain(&read.counters).map(|v| {
            let along = match read.along(*v) {
                Along::Same => "same",
                Along::Next => "next",
                Along::Apart => "apart",
                Along::Indirect => "indirect",
            };
            format!("{} {along}", names.piece(|p| p.var(*v)))
        });
        let movements: Vec<String> = movements.collect();
        let array = names.piece(|p| p.var(read.array));
        let line = format!("{array}: {}", movements.join(", "));
        notes.insert(read.var, vec![line]);
    }
}
