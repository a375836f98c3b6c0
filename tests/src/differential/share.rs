//! What random programs hold of what flattening has most to do with: operators inside of operators, and spaces whose rows
//! have different lengths; and whether there are tables in what becomes of them.

use midend::ir::array::ArrayOp;
use midend::ir::seg::{Seg, SegOp, SpaceDim};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Exp, Program, Stm};
use midend::ir::walk::all_stms;

/// Whether an operator holds another one.
pub fn is_nested(program: &Program<Soac>) -> bool {
    let is_operator = |stm: &Stm<Soac>| matches!(&stm.exp, Exp::Op(Soac::Screma { .. }));
    let holds = |stm: &Stm<Soac>| {
        let mut inner = false;
        stm.exp.scopes(&mut |_, body| {
            all_stms(body, &mut |stm| inner |= is_operator(stm));
        });
        inner && is_operator(stm)
    };
    let mut found = false;
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| found |= holds(stm));
    }
    found
}

/// Whether what points would compute again is read from a table.
pub fn has_tables(program: &Program<Seg>) -> bool {
    let reads_table = |stm: &Stm<Seg>| match &stm.exp {
        Exp::Op(Seg::Array(ArrayOp::Index { array, .. })) => &*program.vars[*array].name == "table",
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    };
    let mut found = false;
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| found |= reads_table(stm));
    }
    found
}

/// Whether a parallel operation goes over rows of different lengths.
pub fn is_ragged(program: &Program<Seg>) -> bool {
    let ragged_space = |op: &SegOp| {
        let mut dims = op.space.dims.iter();
        dims.any(|dim| matches!(dim.1, SpaceDim::Ragged { .. }))
    };
    let mut found = false;
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| {
            found |= matches!(&stm.exp, Exp::Op(Seg::Par(op)) if ragged_space(op));
        });
    }
    found
}
