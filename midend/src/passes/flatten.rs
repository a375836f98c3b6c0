//! From nested to flat: every parallel operator becomes an operation over a space of indices, or a loop.
//!
//! Moderate flattening (Henriksen's thesis, chapter 8): each operator of host code is a map nest. Maps perfectly nested in
//! it become dimensions of one space. If there is parallelism inside, there are two versions: all of the nest at once with
//! sequential code inside, or the nest distributed over its statements; a guard on the number of points chooses.
//!
//! ```text
//! map (\x -> reduce (+) 0 (map (* x) ys)) xs
//! ──►
//! if guard outer "main:1" n
//! then segmap (i < n) { let x = xs[i]; loop acc = 0 for j < m do acc + ys[j] * x }
//! else segred (i < n, j < m) { ys[j] * xs[i] } (+)
//! ```
//!
//! | rule | what | where |
//! |---|---|---|
//! | G1, G3 | code without parallelism worth having is one sequential piece | `distribute.rs` |
//! | G2 | a map extends the context | `inner.rs` |
//! | G4 | distribution over statements | `distribute.rs` |
//! | G5 | a reduction of vectors is a map of reductions | `inner.rs` |
//! | G6 | another shape for all points at once | `fill.rs` |
//! | G7 | loops, and here conditionals, change places with the nest | `interchange.rs` |
//! | E1 | versions | `version.rs` |
//! | E2 | folds of maps that hold parallelism | `inner.rs` |
//! | one block | loops of the host over small arrays | `one_block.rs`, `work.rs` |
//! | lifting | widths that differ from point to point: ragged spaces | `ragged.rs`, `filter.rs`, `flat_map.rs`, `writes.rs` |
//! | SPLIT, COMBINE | branches that some points take | `split.rs` |
//! | active set | loops with another number of steps at each point | `lifted.rs` |
//! | pushes | loops that only write: their steps are points, too | `pushes.rs` |
//! | function lifting | calls of functions that hold parallelism, and recursion | `call.rs` |
//!
//! (E3 and E4 speak of operators on chunks, which the nested dialect has not.) What is decided beforehand stands in
//! `label.rs`, what a variable of a nest is outside of it in `context.rs`.
//!
//! Functions that hold parallel operators exist several times afterwards: as host code and, where parallel bodies call them,
//! as sequential code for one point, and as host code for many points at once.

mod acc;
mod block;
mod call;
mod context;
mod distribute;
mod elementwise;
mod fill;
mod filter;
mod flat_map;
mod fold;
mod functions;
mod grow;
mod inner;
mod interchange;
mod label;
mod lifted;
mod names;
mod one_block;
mod par;
mod pushes;
mod ragged;
mod readers;
mod results;
pub(in crate::passes) mod rows;
mod seq;
mod silent;
mod split;
mod sum;
mod version;
mod work;
mod writes;

use crate::analysis::regularity::{Regularity, regularity};
use crate::hash::{HashMap, HashSet};
use crate::ir::array::{ArrayOp, SliceDim, Stream, StreamOp, Trace};
use crate::ir::id::{FunId, IdMap, IdVec, SpanId, Var};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::soac::{Operator, Soac};
use crate::ir::span::Spans;
use crate::ir::syntax::{
    Atom, Body, Exp, Fun, Lambda, LoopForm, LoopParam, Message, MessagePart, Program, Stm, Vars,
};
use crate::ir::threshold::Names;
use crate::ir::types::ScalarType;
use crate::ir::walk::{all_stms, deep};
use crate::pass::Options;
use context::{Def, MadeCheck};
pub(in crate::passes) use elementwise::is_elementwise;
use functions::{Version, parallel_functions};
use label::{Facts, Labels, Lifting};
use ragged::{FlatRows, Rows};
use version::GROWTH;

/// Flattens a program.
pub fn flatten(program: Program<Soac>, options: &Options) -> Program<Seg> {
    let without = options.is_without("regularity");
    let known = !without && label::holds_nests(&program.funs);
    let facts = known.then(|| regularity(&program));
    let Program {
        vars,
        mut funs,
        spans,
    } = program;
    silent::silence(&mut funs);
    let mut statements = 0;
    for fun in funs.iter() {
        all_stms(&fun.body, &mut |_| statements += 1);
    }
    let kept = super::elide::kept_offsets(&vars, &funs);
    let mut cx = Cx {
        source: &funs,
        vars,
        spans: &spans,
        subst: IdMap::new(),
        env: HashMap::default(),
        labels: Labels::default(),
        level: 0,
        made_checks: Vec::new(),
        offsets: HashMap::default(),
        offsets_log: Vec::new(),
        row_offsets: HashMap::default(),
        as_they_are: HashSet::default(),
        marks: HashMap::default(),
        kept,
        packs: Vec::new(),
        budget: GROWTH.max(4 * statements),
        names: Names::default(),
        function: String::new(),
        function_span: Spans::NONE,
        parallel: parallel_functions(&funs),
        worth: Vec::new(),
        facts,
        without,
        asynchronous: options.asynchronous,
        loops: 0,
        pending: Vec::new(),
        span: Spans::NONE,
    };
    let known = match without {
        true => Facts::Without,
        false => Facts::Host,
    };
    cx.worth = label::worth(&cx.vars, &funs, &cx.parallel, known);
    let mut flat: IdVec<FunId, Fun<Seg>> = funs.iter().map(|fun| cx.host_function(fun)).collect();
    let mut done = 0;
    while let Some(version) = cx.pending.get(done).cloned() {
        let fun = match version {
            Version::Sequential(id) => cx.sequential_function(&funs[id]),
            Version::Lifted(id, same) => cx.lifted_function(id, &same, done),
        };
        flat.push(fun);
        done += 1;
    }
    let vars = cx.vars;
    Program {
        vars,
        funs: flat,
        spans,
    }
}

/// Who executes the code that is being made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The host: operators become parallel operations, and variables keep their names.
    Host,
    /// A point of a parallel operation: operators become loops, and variables are renamed, for the same code may be
    /// instantiated several times.
    Seq,
    /// The threads of a block that work on a point together: operators become parallel operations of their level, all else as above.
    Block,
}

/// The state of the pass.
struct Cx<'p> {
    source: &'p IdVec<FunId, Fun<Soac>>,
    vars: Vars,
    spans: &'p Spans,
    /// What stands for a variable of the source. Variables without an entry stand for themselves.
    subst: IdMap<Var, Option<Atom>>,
    /// What the variables of the map nest at hand are.
    env: HashMap<Var, Def>,
    /// What becomes of the statements of the nest at hand.
    labels: Labels,
    /// How many branches and loops of the host are around the code that is being made, since the nest began.
    level: usize,
    /// The checks that kernels made.
    made_checks: Vec<MadeCheck>,
    /// Where the rows of sizes begin that are not the same for all points, and in which order that was computed.
    offsets: HashMap<Rows, Var>,
    offsets_log: Vec<Rows>,
    /// Where the rows of a flat map begin, by arrays of their lengths.
    row_offsets: HashMap<Var, FlatRows>,
    /// The parts of a flat map's offsets from the first and from the second on, where these are to be found.
    marks: HashMap<Var, (FlatRows, i64)>,
    /// The offsets of flat maps to which nobody writes.
    kept: HashSet<Var>,
    /// Lengths that offsets are summed of as they are, whether negative or not.
    as_they_are: HashSet<Var>,
    /// Which points contexts choose from those around: for each dimension of theirs, the indices.
    packs: Vec<Vec<Var>>,
    /// By how many statements the program may still grow through versions.
    budget: usize,
    /// How many thresholds were named after a place.
    names: Names,
    /// The function at hand, and where it is.
    function: String,
    function_span: SpanId,
    /// Whether a function holds parallel operators, also through calls.
    parallel: Vec<bool>,
    /// Where functions are lifted.
    worth: Vec<Lifting>,
    /// What is the same for all points; and whether nothing is to be.
    facts: Option<Regularity>,
    without: bool,
    /// Whether one block may execute loops of the host: it costs time to launch kernels.
    asynchronous: bool,
    /// How many loops are around the code that is being made.
    loops: usize,
    /// The versions of functions that were asked for, in the order of their identifiers.
    pending: Vec<Version>,
    /// The place of the statement that is being translated.
    span: SpanId,
}

impl<'p> Cx<'p> {
    fn body(&mut self, body: &Body<Soac>, mode: Mode) -> Body<Seg> {
        let mut stms = Vec::new();
        let result = self.stms(body, mode, &mut stms);
        Body { stms, result }
    }

    /// Translates the statements of a body into `out`, and gives its results.
    fn stms(&mut self, body: &Body<Soac>, mode: Mode, out: &mut Vec<Stm<Seg>>) -> Vec<Atom> {
        for stm in &body.stms {
            self.one(stm, mode, out);
        }
        self.atoms(&body.result)
    }

    /// Translates one statement.
    fn one(&mut self, stm: &Stm<Soac>, mode: Mode, out: &mut Vec<Stm<Seg>>) {
        let start = out.len();
        let outer = std::mem::replace(&mut self.span, stm.span);
        deep(|| self.stm(stm, mode, out));
        self.span = outer;
        // What was proved before the statement is needed by everything that it became.
        let certs = self.certs(&stm.certs);
        for made in &mut out[start..] {
            made.certs
                .extend(certs.iter().filter(|c| !made.binds.contains(c)));
        }
    }

    /// What stands for certificates; those that are known to hold stand for nothing.
    fn certs(&self, certs: &[Var]) -> Vec<Var> {
        certs.iter().filter_map(|&c| self.var_atom(c)).collect()
    }

    fn stm(&mut self, stm: &Stm<Soac>, mode: Mode, out: &mut Vec<Stm<Seg>>) {
        let exp = match &stm.exp {
            // What runs in parallel shows nothing.
            Exp::Op(Soac::Array(ArrayOp::Trace(_))) if mode != Mode::Host => return,
            Exp::Op(Soac::Array(ArrayOp::Stream(stream)))
                if mode != Mode::Host && stream.op == StreamOp::Next =>
            {
                Exp::Atom(self.atom(stream.whole()))
            }
            Exp::Op(Soac::Array(op)) => {
                let op = self.array_op(op);
                self.note_marks(&op, &stm.binds, mode);
                Exp::Op(Seg::Array(op))
            }
            Exp::Op(soac) => {
                let binds = self.binds(&stm.binds, mode);
                return match mode {
                    Mode::Host => self.par_soac(soac, &binds, out),
                    Mode::Seq => self.seq_soac(soac, &binds, out),
                    Mode::Block => self.block_soac(soac, &binds, out),
                };
            }
            Exp::Atom(a) => {
                let a = self.atom(*a);
                self.note_same_marks(a, &stm.binds, mode);
                Exp::Atom(a)
            }
            Exp::Scalar(op, args) => Exp::Scalar(*op, self.atoms(args)),
            Exp::Assert { cond, message } => Exp::Assert {
                cond: self.atom(*cond),
                message: self.message(message),
            },
            Exp::Guard { threshold, measure } => match mode {
                Mode::Host => Exp::Guard {
                    threshold: threshold.clone(),
                    measure: self.atom(*measure),
                },
                Mode::Seq | Mode::Block => Exp::Atom(Atom::bool(true)),
            },
            Exp::If {
                cond,
                then,
                otherwise,
            } => Exp::If {
                cond: self.atom(*cond),
                then: self.body(then, mode),
                otherwise: self.body(otherwise, mode),
            },
            Exp::Loop { params, form, body } => {
                let parts = (&params[..], form, body);
                if mode == Mode::Host && self.loop_at_once(stm, parts, out) {
                    return;
                }
                self.loop_exp(params, form, body, mode)
            }
            Exp::Call { fun, args } => Exp::Call {
                fun: self.callee(*fun, mode),
                args: self.atoms(args),
            },
        };
        let binds = self.binds(&stm.binds, mode);
        self.push(out, binds, exp);
    }

    fn loop_exp(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Soac>,
        body: &Body<Soac>,
        mode: Mode,
    ) -> Exp<Seg> {
        let inits: Vec<Atom> = params.iter().map(|p| self.atom(p.init)).collect();
        let vars: Vec<Var> = params.iter().map(|p| self.bind(p.var, mode)).collect();
        self.loops += 1;
        let form = match form {
            LoopForm::For { index, bound } => LoopForm::For {
                bound: self.atom(*bound),
                index: self.bind(*index, mode),
            },
            LoopForm::While(cond) => LoopForm::While(self.body(cond, mode)),
        };
        let body = self.body(body, mode);
        self.loops -= 1;
        let params = vars
            .into_iter()
            .zip(inits)
            .map(|(var, init)| LoopParam { var, init })
            .collect();
        Exp::Loop { params, form, body }
    }

    fn array_op(&self, op: &ArrayOp) -> ArrayOp {
        match op {
            ArrayOp::Index { array, indices } => ArrayOp::Index {
                array: self.var(*array),
                indices: self.atoms(indices),
            },
            ArrayOp::Slice { array, dims } => ArrayOp::Slice {
                array: self.var(*array),
                dims: self.slice_dims(dims),
            },
            ArrayOp::Update { array, dims, value } => ArrayOp::Update {
                array: self.var(*array),
                dims: self.slice_dims(dims),
                value: self.atom(*value),
            },
            ArrayOp::Literal { elems, row } => ArrayOp::Literal {
                elems: self.atoms(elems),
                row: self.ty(row),
            },
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => ArrayOp::Iota {
                len: self.size(*len),
                start: self.atom(*start),
                step: self.atom(*step),
                ty: *ty,
            },
            ArrayOp::Replicate { shape, value } => ArrayOp::Replicate {
                shape: self.dims(shape),
                value: self.atom(*value),
            },
            ArrayOp::Scratch { elem, shape } => ArrayOp::Scratch {
                elem: *elem,
                shape: self.dims(shape),
            },
            ArrayOp::Copy(array) => ArrayOp::Copy(self.var(*array)),
            ArrayOp::Concat { arrays, len } => ArrayOp::Concat {
                arrays: self.all_vars(arrays),
                len: self.size(*len),
            },
            ArrayOp::Rearrange { perm, array } => ArrayOp::Rearrange {
                perm: perm.clone(),
                array: self.var(*array),
            },
            ArrayOp::Reshape { shape, array } => ArrayOp::Reshape {
                shape: self.dims(shape),
                array: self.var(*array),
            },
            ArrayOp::Manifest { perm, array } => ArrayOp::Manifest {
                perm: perm.clone(),
                array: self.var(*array),
            },
            ArrayOp::Trace(trace) => ArrayOp::Trace(Box::new(Trace {
                label: trace.label.clone(),
                ty: trace.ty.clone(),
                values: self.atoms(&trace.values),
            })),
            ArrayOp::Stream(stream) => ArrayOp::Stream(Stream {
                args: self.atoms(&stream.args),
                ..*stream
            }),
        }
    }

    fn slice_dims(&self, dims: &[SliceDim]) -> Vec<SliceDim> {
        let dims = dims.iter().map(|dim| match *dim {
            SliceDim::Fix(i) => SliceDim::Fix(self.atom(i)),
            SliceDim::Range { start, len, stride } => SliceDim::Range {
                start: self.atom(start),
                len: self.size(len),
                stride: self.atom(stride),
            },
        });
        dims.collect()
    }

    fn message(&self, message: &Message) -> Message {
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::Text(text) => MessagePart::Text(text.clone()),
            MessagePart::Value(value) => MessagePart::Value(self.atom(*value)),
        });
        Message {
            kind: message.kind,
            parts: parts.collect(),
        }
    }

    /// A lambda as it stands, for operators that stay with a parallel operation; its body is sequential.
    fn lambda(&mut self, lam: &Lambda<Soac>) -> Lambda<Seg> {
        Lambda {
            params: self.binds(&lam.params, Mode::Seq),
            body: self.body(&lam.body, Mode::Seq),
        }
    }

    fn operator(&mut self, op: &Operator<Soac>) -> Operator<Seg> {
        Operator {
            comm: op.comm,
            neutral: self.atoms(&op.neutral),
            lam: self.lambda(&op.lam),
        }
    }

    /// The sequential code of a lambda applied to arguments; gives its results.
    fn apply(&mut self, lam: &Lambda<Soac>, args: &[Atom], out: &mut Vec<Stm<Seg>>) -> Vec<Atom> {
        for (&param, &arg) in lam.params.iter().zip(args) {
            self.subst.set(param, Some(arg));
        }
        self.stms(&lam.body, Mode::Seq, out)
    }
}

/// The constant `n` of type `i64`.
const fn int(n: i64) -> Atom {
    Atom::i64(n)
}

/// An operation on `i64`.
const fn bin(op: BinOp) -> ScalarOp {
    ScalarOp::Bin(op, ScalarType::I64)
}
