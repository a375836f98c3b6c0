//! Mistakes made on purpose: what a pass makes is changed as if the pass had a bug, and the campaign must notice.

mod hoisted;
pub mod tangents;

use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::dialect::Dialect;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::seg::{Seg, SegKind};
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm, Vars};
use midend::ir::types::{Dim, Type};
use midend::ir::walk::all_stms_mut;
use midend::verify::Verify;

/// A mistake.
#[derive(Debug)]
pub struct Plant {
    /// The pass that is made to look wrong.
    pub pass: &'static str,
    /// What is wrong.
    pub what: &'static str,
    change: Change,
}

/// How statements are changed.
#[derive(Debug)]
enum Change {
    Nested(fn(&Vars, &mut Stm<Soac>)),
    Flat(fn(&Vars, &mut Stm<Seg>)),
    Planned(fn(&Vars, &mut Stm<Mem>)),
    /// Sequences of statements.
    Sequences(fn(&Vars, &mut [Stm<Mem>])),
}

/// A mistake in each pass, of several where it works on several dialects.
pub static PLANTS: &[Plant] = &[
    Plant {
        pass: "inline",
        what: "what a call bound becomes zero",
        change: Change::Nested(zero_for_copy),
    },
    Plant {
        pass: "simplify",
        what: "the operands of differences change places",
        change: Change::Nested(turned_difference),
    },
    Plant {
        pass: "simplify",
        what: "a comparison that is strict is not",
        change: Change::Flat(not_strict),
    },
    Plant {
        pass: "simplify",
        what: "a minimum becomes a maximum",
        change: Change::Planned(other_extreme),
    },
    Plant {
        pass: "copies",
        what: "the second operand is taken for the first",
        change: Change::Nested(first_twice),
    },
    Plant {
        pass: "fold",
        what: "constants that are added are one too large",
        change: Change::Nested(one_too_large),
    },
    Plant {
        pass: "fold",
        what: "slices begin one further",
        change: Change::Nested(slice_further),
    },
    Plant {
        pass: "cse",
        what: "remainders are taken for quotients",
        change: Change::Flat(quotient_for_remainder),
    },
    Plant {
        pass: "checks",
        what: "checks that are not proved go",
        change: Change::Nested(no_check),
    },
    Plant {
        pass: "dead-code",
        what: "checks go that nothing names",
        change: Change::Flat(no_check),
    },
    Plant {
        pass: "dead-code",
        what: "stores of constants go",
        change: Change::Planned(no_store),
    },
    Plant {
        pass: "chunks",
        what: "the first operand is taken for the second",
        change: Change::Nested(first_twice),
    },
    Plant {
        pass: "fuse",
        what: "results of one type change places",
        change: Change::Nested(turned_results),
    },
    Plant {
        pass: "fuse",
        what: "filters keep what they should not",
        change: Change::Nested(keeps_the_rest),
    },
    Plant {
        pass: "specialize",
        what: "what a version gives that is inlined becomes zero",
        change: Change::Nested(zero_for_copy),
    },
    Plant {
        pass: "branches",
        what: "the branches of a conditional of several values are exchanged",
        change: Change::Nested(turned_branches),
    },
    Plant {
        pass: "hoist",
        what: "a check before a loop forgets that the loop may do nothing",
        change: Change::Nested(hoisted::no_disjunction),
    },
    Plant {
        pass: "hoist",
        what: "what leaves a loop is zero",
        change: Change::Nested(hoisted::nothing_left),
    },
    Plant {
        pass: "interchange",
        what: "two inputs of one type are exchanged",
        change: Change::Nested(turned_inputs),
    },
    Plant {
        pass: "operators",
        what: "two inputs of one type change places",
        change: Change::Nested(turned_inputs),
    },
    Plant {
        pass: "elide-copies",
        what: "no copy is one",
        change: Change::Nested(no_copy),
    },
    Plant {
        pass: "differences",
        what: "the operands of differences change places",
        change: Change::Flat(turned_difference),
    },
    Plant {
        pass: "flatten",
        what: "neutral elements are one too large",
        change: Change::Flat(wrong_neutral),
    },
    Plant {
        pass: "flatten",
        what: "the first row of a ragged array begins at one",
        change: Change::Flat(offsets_from_one),
    },
    Plant {
        pass: "flatten",
        what: "loops of points do one step less",
        change: Change::Flat(one_step_less),
    },
    Plant {
        pass: "tables",
        what: "the first number of its row is read from a table",
        change: Change::Flat(first_of_its_row),
    },
    Plant {
        pass: "tile",
        what: "the extents of a space in tiles change places",
        change: Change::Flat(turned_extents),
    },
    Plant {
        pass: "layout",
        what: "copies in another order hold the first row everywhere",
        change: Change::Flat(first_row_everywhere),
    },
    Plant {
        pass: "plan",
        what: "stores go to the place before",
        change: Change::Planned(store_before),
    },
    Plant {
        pass: "plan",
        what: "buffers are given back at once",
        change: Change::Planned(freed_at_once),
    },
    Plant {
        pass: "join",
        what: "loops that follow one another change places",
        change: Change::Sequences(turned_loops),
    },
    Plant {
        pass: "overwrite",
        what: "results are written over what other points read",
        change: Change::Sequences(over_any),
    },
    Plant {
        pass: "sink",
        what: "numbers that kernels load instead of the host are zero",
        change: Change::Planned(loads_nothing),
    },
    Plant {
        pass: "forward",
        what: "single elements are copied onto themselves",
        change: Change::Planned(element_stays),
    },
];

/// Dialects of what passes make.
pub(super) trait Planted: Verify + PartialEq {
    /// Makes the mistake, if it is one in this dialect.
    fn change(plant: &Plant, program: &mut Program<Self>);
}

impl Planted for Soac {
    fn change(plant: &Plant, program: &mut Program<Self>) {
        if let Change::Nested(change) = plant.change {
            everywhere(program, change);
        }
    }
}

impl Planted for Seg {
    fn change(plant: &Plant, program: &mut Program<Self>) {
        if let Change::Flat(change) = plant.change {
            everywhere(program, change);
        }
    }
}

impl Planted for Mem {
    fn change(plant: &Plant, program: &mut Program<Self>) {
        if let Change::Planned(change) = plant.change {
            everywhere(program, change);
        }
        if let Change::Sequences(change) = plant.change {
            let vars = &program.vars;
            for fun in program.funs.iter_mut() {
                all_bodies_mut(&mut fun.body, &mut |body| change(vars, &mut body.stms));
            }
        }
    }
}

fn all_bodies_mut(body: &mut Body<Mem>, f: &mut dyn FnMut(&mut Body<Mem>)) {
    f(body);
    for stm in &mut body.stms {
        stm.exp.bodies_mut(&mut |inner| all_bodies_mut(inner, f));
    }
}

fn everywhere<D: Dialect>(program: &mut Program<D>, change: fn(&Vars, &mut Stm<D>)) {
    let vars = &program.vars;
    for fun in program.funs.iter_mut() {
        all_stms_mut(&mut fun.body, &mut |stm| change(vars, stm));
    }
}

/// The operation and operands of a scalar operation of two operands.
fn binary<D>(stm: &mut Stm<D>) -> Option<(&mut BinOp, &mut [Atom; 2])> {
    match &mut stm.exp {
        Exp::Scalar(ScalarOp::Bin(op, _), args) => Some((op, (&mut args[..]).try_into().ok()?)),
        Exp::Scalar(..)
        | Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

fn zero_for_copy<D>(vars: &Vars, stm: &mut Stm<D>) {
    if let Exp::Atom(a @ Atom::Var(_)) = &mut stm.exp
        && let Type::Scalar(ty) = a.ty(vars)
    {
        *a = Const::zero(ty).into();
    }
}

fn turned_difference<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Some((BinOp::Sub, args)) = binary(stm) {
        args.swap(0, 1);
    }
}

fn not_strict<D>(_: &Vars, stm: &mut Stm<D>) {
    // Loops that ask whether more than none are left would never end.
    if let Exp::Scalar(ScalarOp::Cmp(op @ CmpOp::Lt, _), args) = &mut stm.exp
        && args[0] != Atom::ZERO
    {
        *op = CmpOp::Le;
    }
}

fn other_extreme<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Some((op @ BinOp::Min, _)) = binary(stm) {
        *op = BinOp::Max;
    }
}

fn first_twice<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Some((BinOp::Add | BinOp::Xor | BinOp::Mul, args)) = binary(stm) {
        args[1] = args[0];
    }
}

fn one_too_large<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Some((BinOp::Add, [_, Atom::Const(Const::I64(n))])) = binary(stm) {
        *n = n.wrapping_add(1);
    }
}

fn slice_further(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Array(ArrayOp::Slice { dims, .. })) = &mut stm.exp
        && let Some(SliceDim::Range { start, .. }) = dims.first_mut()
        && *start == Atom::ZERO
    {
        *start = Atom::ONE;
    }
}

fn quotient_for_remainder<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Some((op @ BinOp::Mod, _)) = binary(stm) {
        *op = BinOp::Div;
    }
}

fn no_check<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Exp::Assert { cond, .. } = &mut stm.exp {
        *cond = Atom::bool(true);
    }
}

fn no_store(_: &Vars, stm: &mut Stm<Mem>) {
    if let Exp::Op(Mem::Store { index, value, .. }) = &mut stm.exp
        && let Atom::Const(c) = value
    {
        // It is stored to the first place instead, which is there if anything is.
        (*index, *value) = (Atom::ZERO, Const::zero(c.ty()).into());
    }
}

fn turned_results(vars: &Vars, stm: &mut Stm<Soac>) {
    let Exp::Op(Soac::Screma { lam, .. }) = &mut stm.exp else {
        return;
    };
    let results = &mut lam.body.result;
    for k in 1..results.len() {
        if results[k].ty(vars) == results[k - 1].ty(vars) {
            results.swap(k, k - 1);
        }
    }
}

fn keeps_the_rest(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Filter { lam, .. }) = &mut stm.exp {
        lam.body.result[0] = Atom::bool(true);
    }
}

fn turned_inputs(vars: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Screma { arrays, .. }) = &mut stm.exp {
        for k in 1..arrays.len() {
            if vars[arrays[k]].ty == vars[arrays[k - 1]].ty {
                arrays.swap(k, k - 1);
            }
        }
    }
}

fn turned_branches(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::If {
        then, otherwise, ..
    } = &mut stm.exp
        && stm.binds.len() > 1
    {
        std::mem::swap(then, otherwise);
    }
}

fn no_copy(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Array(ArrayOp::Copy(array))) = &stm.exp {
        stm.exp = Exp::Atom((*array).into());
    }
}

fn wrong_neutral(_: &Vars, stm: &mut Stm<Seg>) {
    let Exp::Op(Seg::Par(op)) = &mut stm.exp else {
        return;
    };
    let larger = |ops: &mut Vec<Operator<Seg>>| {
        for a in ops.iter_mut().flat_map(|op| &mut op.neutral) {
            if let Atom::Const(Const::I64(n)) = a {
                *n = n.wrapping_add(1);
            }
        }
    };
    match &mut op.kind {
        SegKind::Red(ops) | SegKind::Scan(ops) => larger(ops),
        SegKind::Map
        | SegKind::Filter
        | SegKind::Hist(_)
        | SegKind::Scatter(_)
        | SegKind::WithAcc(_) => {}
    }
}

fn offsets_from_one(_: &Vars, stm: &mut Stm<Seg>) {
    if let Exp::Op(Seg::Array(ArrayOp::Literal { elems, .. })) = &mut stm.exp
        && let [Atom::Const(Const::I64(first))] = &mut elems[..]
    {
        *first += 1;
    }
}

fn one_step_less(vars: &Vars, stm: &mut Stm<Seg>) {
    if let Exp::Loop {
        form: LoopForm::For { bound, .. },
        ..
    } = &mut stm.exp
        && let Atom::Const(Const::I64(n)) = bound
        && *n > 0
        && stm.binds.iter().all(|v| !matches!(vars[*v].ty, Type::Cert))
    {
        *n -= 1;
    }
}

fn first_of_its_row(vars: &Vars, stm: &mut Stm<Seg>) {
    if let Exp::Op(Seg::Array(ArrayOp::Index { array, indices })) = &mut stm.exp
        && &*vars[*array].name == "table"
        && let Some(last) = indices.last_mut()
    {
        *last = Atom::ZERO;
    }
}

fn turned_extents(_: &Vars, stm: &mut Stm<Seg>) {
    if let Exp::Op(Seg::Par(op)) = &mut stm.exp
        && op.tiled == 2
    {
        let rank = op.space.dims.len();
        let (a, b) = (op.space.dims[rank - 2].1, op.space.dims[rank - 1].1);
        (op.space.dims[rank - 2].1, op.space.dims[rank - 1].1) = (b, a);
    }
}

fn first_row_everywhere(vars: &Vars, stm: &mut Stm<Seg>) {
    if let Exp::If { then, .. } = &mut stm.exp
        && let [only] = &mut then.stms[..]
        && let Exp::Op(Seg::Array(ArrayOp::Manifest { array, .. })) = only.exp
        && let Some(Dim::Size(len)) = vars[array].ty.shape().first().copied()
    {
        let (start, stride) = (Atom::ZERO, Atom::ZERO);
        let dims = vec![SliceDim::Range { start, len, stride }];
        only.exp = Exp::Op(Seg::Array(ArrayOp::Slice { array, dims }));
    }
}

fn store_before(_: &Vars, stm: &mut Stm<Mem>) {
    if let Exp::Op(Mem::Store { index, .. }) = &mut stm.exp
        && let Atom::Const(Const::I64(n)) = index
    {
        *n -= 1;
    }
}

fn freed_at_once(vars: &Vars, stm: &mut Stm<Mem>) {
    // What a branch yields is there no more once the branch has given it back.
    if let Exp::If {
        then, otherwise, ..
    } = &mut stm.exp
    {
        for body in [then, otherwise] {
            let buffers = body.result.iter().filter_map(|a| a.as_var());
            let buffer = buffers
                .into_iter()
                .find(|v| matches!(vars[*v].ty, Type::Buffer(_)));
            if let Some(buffer) = buffer {
                body.stms.push(Stm {
                    binds: Vec::new(),
                    certs: Vec::new(),
                    exp: Exp::Op(Mem::Free(buffer)),
                    span: stm.span,
                });
            }
        }
    }
}

fn over_any(vars: &Vars, stms: &mut [Stm<Mem>]) {
    let launches = (1..stms.len()).rev();
    for i in launches.filter(|i| i + 1 < stms.len()).collect::<Vec<_>>() {
        let (before, after) = stms.split_at_mut(i);
        let is_launch = matches!(after[0].exp, Exp::Op(Mem::Launch(_)));
        let freed = after[1..].iter().map_while(|stm| match stm.exp {
            Exp::Op(Mem::Free(v)) => Some(v),
            Exp::Op(_) | Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => None,
            Exp::Guard { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => None,
        });
        let made = &mut before[i - 1];
        if let (true, Exp::Op(Mem::Alloc { over, .. })) = (is_launch, &mut made.exp) {
            let ty = &vars[made.binds[0]].ty;
            *over = over.or(freed.into_iter().find(|v| vars[*v].ty == *ty));
        }
    }
}

fn turned_loops(_: &Vars, stms: &mut [Stm<Mem>]) {
    let is_loop = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Loop { .. }) && stm.binds.is_empty();
    if let Some(i) = (1..stms.len()).find(|i| is_loop(&stms[i - 1]) && is_loop(&stms[*i])) {
        stms.swap(i - 1, i);
    }
}

fn loads_nothing(vars: &Vars, stm: &mut Stm<Mem>) {
    let Exp::Op(Mem::Launch(kernel)) = &mut stm.exp else {
        return;
    };
    for stm in &mut kernel.body.stms {
        if let Exp::Op(Mem::Load { index, .. }) = &stm.exp
            && index.as_i64() == Some(0)
            && let Some(ty) = vars[stm.binds[0]].ty.elem()
        {
            stm.exp = Exp::Atom(Atom::Const(Const::zero(ty)));
        }
    }
}

fn element_stays(_: &Vars, stm: &mut Stm<Mem>) {
    if let Exp::Op(Mem::Copy { shape, dst, src }) = &mut stm.exp
        && shape.is_empty()
    {
        src.clone_from(dst);
    }
}
