//! What is computed for an element of a sequence must not depend on how many elements there are at once: chunks are as large as time and
//! memory have it. So where sums of floats could tell, guards compare what an element is, not how many there are, and operations over a
//! chunk are marked *steady*: back ends fold a row in the same way whatever is beside it.
//!
//! ```text
//! k = next 0 (p, n - p)                          k = next 0 (p, n - p)
//! g = guard outer "main:2" k                     r = quot (1048576, max (m, 1))
//!                                                g = guard rows "main:2" r
//! if g { segmap (i < k) { loop .. } }      ──►   if g { segmap (i < k) { loop .. } }
//! else { segred (i < k, j < m) { .. } .. }       else { segred steady (i < k, j < m) { .. } .. }
//! ```
//!
//! *Of a chunk* is what is computed from the number of its elements, in the loop that goes through chunks and in functions that are called
//! there.

use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::{ArrayOp, StreamOp};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SegOp, SpaceDim};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm, VarInfo, Vars};
use crate::ir::threshold::{ELEMENTS, ThresholdKind};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::{all_stms, deep, free_in_stm};

/// Looks at the loops over chunks of a program.
pub(super) fn chunks(program: &mut Program<Seg>) {
    let mut any = false;
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| any |= is_next(stm));
    }
    if !any {
        return;
    }
    let mut of_chunk = OfChunk::default();
    loop {
        let before = of_chunk.vars.len();
        for fun in program.funs.iter() {
            of_chunk.body(program, &fun.body);
        }
        if of_chunk.vars.len() == before {
            break;
        }
    }
    let Program { vars, funs, .. } = program;
    for fun in funs.iter_mut() {
        body(vars, &of_chunk.vars, &mut fun.body);
    }
}

fn is_next(stm: &Stm<Seg>) -> bool {
    matches!(&stm.exp, Exp::Op(Seg::Array(ArrayOp::Stream(stream))) if stream.op == StreamOp::Next)
}

/// The variables whose values are of a chunk.
#[derive(Default)]
struct OfChunk {
    vars: HashSet<Var>,
}

impl OfChunk {
    fn has(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.vars.contains(&v))
    }

    /// Adds what of a body is of a chunk, as far as that is known by now.
    fn body(&mut self, program: &Program<Seg>, body: &Body<Seg>) {
        for stm in &body.stms {
            deep(|| self.stm(program, stm));
        }
    }

    fn stm(&mut self, program: &Program<Seg>, stm: &Stm<Seg>) {
        match &stm.exp {
            Exp::Loop { params, form, body } => {
                let through_chunks = body.stms.iter().any(is_next);
                for param in params {
                    if self.has(param.init) {
                        self.vars.insert(param.var);
                    }
                }
                match form {
                    LoopForm::For { index, bound } => {
                        if self.has(*bound) {
                            self.vars.insert(*index);
                        }
                    }
                    LoopForm::While(cond) => self.body(program, cond),
                }
                self.body(program, body);
                for ((param, &result), &bind) in params.iter().zip(&body.result).zip(&stm.binds) {
                    if self.has(result) {
                        self.vars.insert(param.var);
                    }
                    // What a loop through all chunks leaves is the same however they were.
                    if !through_chunks && self.vars.contains(&param.var) {
                        self.vars.insert(bind);
                    }
                }
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.body(program, then);
                self.body(program, otherwise);
                let results = then.result.iter().zip(&otherwise.result);
                for ((&then, &otherwise), &bind) in results.zip(&stm.binds) {
                    if self.has(*cond) || self.has(then) || self.has(otherwise) {
                        self.vars.insert(bind);
                    }
                }
            }
            Exp::Call { fun, args } => {
                for (&arg, param) in args.iter().zip(&program.funs[*fun].params) {
                    if self.has(arg) {
                        self.vars.insert(param.var);
                        self.vars.extend(&stm.binds);
                    }
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Op(_) => {
                let reads = || free_in_stm(&program.vars, stm);
                if is_next(stm) || reads().iter().any(|v| self.vars.contains(v)) {
                    self.vars.extend(&stm.binds);
                }
            }
        }
    }
}

/// Changes guards and operations of a body.
fn body(vars: &mut Vars, of_chunk: &HashSet<Var>, body: &mut Body<Seg>) {
    for stm in &mut body.stms {
        if let Exp::Op(Seg::Par(op)) = &mut stm.exp {
            if rounds(vars, op) && op.space.dims.iter().any(|(_, dim)| is_of(of_chunk, *dim)) {
                fired("tile/steady");
                op.steady = true;
            }
            continue;
        }
        // Whether a row fits into a block must not depend on how long a chunk is.
        if let Exp::Guard { threshold, measure } = &stm.exp
            && threshold.kind == ThresholdKind::Block
            && measure.as_var().is_some_and(|v| of_chunk.contains(&v))
        {
            stm.exp = Exp::Atom(Atom::bool(false));
            continue;
        }
        deep(|| {
            let inside = &mut |inner: &mut Body<Seg>| self::body(vars, of_chunk, inner);
            stm.exp.bodies_mut(inside);
        });
    }
    for at in (0..body.stms.len()).rev() {
        if let Some((guard, is_alone)) = guard_of(of_chunk, body, at) {
            decide(vars, of_chunk, body, (guard, at), is_alone);
        }
    }
}

fn is_of(of_chunk: &HashSet<Var>, dim: SpaceDim) -> bool {
    match dim {
        SpaceDim::Regular(Size::Var(v)) | SpaceDim::Ragged { offsets: v } => of_chunk.contains(&v),
        SpaceDim::Regular(Size::Const(_)) => false,
    }
}

/// Whether an operation folds floats, so that its result depends on the order.
fn rounds(vars: &Vars, op: &SegOp) -> bool {
    let floats = |op: &Operator<Seg>| {
        let mut params = op.lam.params.iter();
        params.any(|&p| vars[p].ty.elem().is_some_and(ScalarType::is_float))
    };
    match &op.kind {
        SegKind::Red(ops) | SegKind::Scan(ops) => ops.iter().any(floats),
        SegKind::Hist(ops) => ops.iter().any(|op| floats(&op.op)),
        SegKind::Map | SegKind::Scatter(_) | SegKind::Filter | SegKind::WithAcc(_) => false,
    }
}

/// Where the guard stands that makes the choice at `at` by the number of elements of a chunk, if the versions may round differently;
/// and whether the choice is its own.
fn guard_of(of_chunk: &HashSet<Var>, body: &Body<Seg>, at: usize) -> Option<(usize, bool)> {
    let Exp::If { cond, .. } = &body.stms[at].exp else {
        return None;
    };
    let definition = |v: Var| {
        body.stms[..at]
            .iter()
            .rposition(|stm| stm.binds.contains(&v))
    };
    let is_guard = |i: &usize| {
        let Exp::Guard { threshold, measure } = &body.stms[*i].exp else {
            return false;
        };
        let by_number = measure.as_var().is_some_and(|v| of_chunk.contains(&v));
        let versions = !matches!(threshold.kind, ThresholdKind::Layout | ThresholdKind::Block);
        by_number && versions
    };
    let cond = definition(cond.as_var()?)?;
    if is_guard(&cond) {
        return Some((cond, true));
    }
    let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
    let Exp::Scalar(op, args) = &body.stms[cond].exp else {
        return None;
    };
    let mut guards = args.iter().filter_map(|a| definition(a.as_var()?));
    let guard = (*op == and).then(|| guards.find(is_guard))??;
    Some((guard, false))
}

/// Lets the guard of a choice compare with what does not depend on the chunk: how many elements of a sequence make a number of points
/// of the second version. Where there is another guard besides, it is up to that.
fn decide(
    vars: &mut Vars,
    of_chunk: &HashSet<Var>,
    body: &mut Body<Seg>,
    (guard, at): (usize, usize),
    is_alone: bool,
) {
    let Exp::If {
        then, otherwise, ..
    } = &body.stms[at].exp
    else {
        return;
    };
    let mut differs = false;
    for version in [then, otherwise] {
        all_stms(version, &mut |stm| {
            differs |= matches!(&stm.exp, Exp::Op(Seg::Par(op)) if rounds(vars, op));
        });
    }
    if !differs {
        return;
    }
    fired("tile/steady-guard");
    if !is_alone {
        body.stms[guard].exp = Exp::Atom(Atom::bool(true));
        return;
    }
    let Some(points) = points(of_chunk, &body.stms[guard..], otherwise) else {
        // Rows of any lengths are shared out.
        body.stms[guard].exp = Exp::Atom(Atom::bool(false));
        return;
    };
    let span = body.stms[guard].span;
    let mut new = Vec::new();
    let mut bind = |name: &str, op, args| {
        let (name, ty) = (name.into(), Type::I64);
        let v = vars.push(VarInfo { name, ty });
        new.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp: Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args),
            span,
        });
        Atom::from(v)
    };
    let mut most = Atom::i64(1);
    for factors in points {
        let product = factors
            .into_iter()
            .reduce(|a, b| bind("points", BinOp::Mul, vec![a, b]));
        if let Some(product) = product {
            most = bind("points", BinOp::Max, vec![most, product]);
        }
    }
    let rows = bind("rows", BinOp::Quot, vec![Atom::i64(ELEMENTS), most]);
    if let Exp::Guard { threshold, measure } = &mut body.stms[guard].exp {
        threshold.kind = ThresholdKind::Rows;
        *measure = rows;
    }
    body.stms.splice(guard..guard, new);
}

/// For each operation of a version over a chunk the extents besides those that are of the chunk, as far as they are known before `stms`;
/// nothing if there are rows of any lengths.
fn points(
    of_chunk: &HashSet<Var>,
    stms: &[Stm<Seg>],
    version: &Body<Seg>,
) -> Option<Vec<Vec<Atom>>> {
    let mut late: HashSet<Var> = HashSet::default();
    for stm in stms {
        late.extend(&stm.binds);
        stm.exp.scopes(&mut |_, inner| {
            all_stms(inner, &mut |stm| late.extend(&stm.binds));
        });
    }
    let (mut all, mut ragged) = (Vec::new(), false);
    all_stms(version, &mut |stm| {
        let Exp::Op(Seg::Par(op)) = &stm.exp else {
            return;
        };
        let dims = op.space.dims.iter().map(|(_, dim)| *dim);
        ragged |= dims
            .clone()
            .any(|dim| matches!(dim, SpaceDim::Ragged { .. }));
        let mut factors = Vec::new();
        for dim in dims.filter(|dim| !is_of(of_chunk, *dim)) {
            match dim {
                SpaceDim::Regular(Size::Var(v)) if late.contains(&v) => return,
                SpaceDim::Regular(size) => factors.push(size.into()),
                SpaceDim::Ragged { .. } => return,
            }
        }
        all.push(factors);
    });
    (!ragged).then_some(all)
}
