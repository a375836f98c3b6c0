//! From flat to plan: arrays become views of buffers, parallel operations become kernels.
//!
//! An array is a [`view::View`]: a buffer, an offset and a stride per dimension. Slices, transpositions and rows are
//! other views of the same buffer; in-place updates are stores into it, which consumption makes safe. A result that
//! is built piece by piece is built where it is wanted in the end (`dest`):
//!
//! ```text
//! let ys = segmap (i < n) { let x = xs[i]; yield x * x }
//! ──►
//! let ys = alloc n
//! launch map (i < n) { let x = load xs i; let y = x * x; store ys i y }
//! ```
//!
//! An accumulator is the view of the array that it updates, which never moves, so that nothing is left of it but stores.
//!
//! Arrays cross the boundaries of conditionals, loops and calls as row-major buffers (in kernels with an offset)
//! unless the memory is the same on every way, which is found by [`flow`].

mod acc;
mod array;
mod block;
mod control;
mod copy;
mod dest;
mod emit;
mod flow;
mod free;
mod function;
mod kernel;
mod layout;
mod looping;
mod own;
mod peel;
mod ragged;
mod scan;
mod serial;
mod view;

use crate::analysis::calls::spread;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, IdMap, IdVec, SpanId, Var};
use crate::ir::mem::Mem;
use crate::ir::seg::{Level, Seg};
use crate::ir::soac::Operator;
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, Program, Stm, Vars};
use crate::ir::threshold::{Threshold, ThresholdKind};
use crate::ir::types::{AccType, Type};
use crate::ir::walk::deep;
use crate::pass::Options;
use emit::Frame;
use std::collections::{BTreeMap, BTreeSet};
use view::View;

/// Lowers a program.
pub fn plan(program: Program<Seg>, options: &Options) -> Program<Mem> {
    let Program { vars, funs, spans } = program;
    let mut cx = Cx::new(&funs, vars);
    cx.asynchronous = options.asynchronous;
    let mut lowered: IdVec<FunId, Fun<Mem>> = IdVec::new();
    for (id, fun) in funs.enumerate() {
        let fun = if cx.runs_on_host(id) {
            cx.host_function(fun)
        } else {
            cx.kernel_function(fun)
        };
        lowered.push(fun);
    }
    let mut done = 0;
    while let Some(&id) = cx.pending.get(done) {
        lowered.push(cx.renamed_kernel_function(&funs[id]));
        done += 1;
    }
    let hosted: Vec<FunId> = funs.ids().filter(|&id| cx.runs_on_host(id)).collect();
    let mut vars = cx.vars;
    for info in vars.iter_mut() {
        if let Type::Array(array) | Type::Acc(AccType { array, .. }) = &info.ty {
            info.ty = Type::Buffer(array.elem);
        }
    }
    for id in hosted {
        free::insert(&vars, &mut lowered[id]);
    }
    Program {
        vars,
        funs: lowered,
        spans,
    }
}

/// Who executes the code that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The host.
    Host,
    /// One point of a kernel on which threads work together: kernels inside are shared out among them.
    Block,
    /// One point of a kernel.
    Kernel,
}

/// The state of the pass.
struct Cx<'p> {
    source: &'p IdVec<FunId, Fun<Seg>>,
    /// Where its variables are bound.
    definitions: flow::Definitions,
    vars: Vars,
    /// The bodies that are being made, outermost first.
    frames: Vec<Frame>,
    /// The frame of a variable that is in scope.
    depth: IdMap<Var, Option<usize>>,
    /// Where arrays are.
    views: BTreeMap<Var, View>,
    /// What stands for a scalar or certificate, if not itself.
    subst: IdMap<Var, Option<Atom>>,
    /// Where arrays that are not made yet should be made.
    dests: BTreeMap<Var, View>,
    /// Arrays in an order that is chosen when the program runs, by their buffers.
    ordered: BTreeMap<Var, layout::Ordered>,
    /// The allocations that a buffer may be, if not just itself.
    roots: BTreeMap<Var, BTreeSet<Var>>,
    /// The offsets of array parameters of functions for kernels.
    offsets: BTreeMap<Var, Var>,
    /// Buffers of which nothing is known.
    anything: BTreeSet<Var>,
    mode: Mode,
    /// The outermost frame of the kernel or function; allocations do not leave it.
    base: usize,
    /// Whether a function holds parallel operations, also through calls.
    parallel: Vec<bool>,
    /// Whether host code calls a function.
    hosted: Vec<bool>,
    /// The operators of the accumulations around the statement at hand, by their tokens.
    operators: BTreeMap<Var, Operator<Seg>>,
    /// The version of a function for kernels, once it is asked for.
    versions: Vec<Option<FunId>>,
    /// The functions whose versions for kernels were asked for, in order of the versions' identifiers.
    pending: Vec<FunId>,
    /// The name of the function at hand, for the names of kernels.
    fun_name: String,
    kernels: usize,
    /// Whether the operation at hand is steady.
    steady: bool,
    /// The thresholds and measures of the guards of versions by blocks.
    block_guards: BTreeMap<Var, (Threshold, Atom)>,
    /// The bytes that a block of each kernel needs on whose points blocks work, in the current branch; nothing where the host does not
    /// know them.
    by_blocks: Vec<Option<Atom>>,
    /// Whether the host would wait for what kernels make.
    asynchronous: bool,
    /// Loops of which the host has executed the first iterations, by the first that they bind.
    unpeeled: BTreeSet<Var>,
    /// Place and certificates of the statement at hand.
    span: SpanId,
    certs: Vec<Var>,
}

impl<'p> Cx<'p> {
    fn new(source: &'p IdVec<FunId, Fun<Seg>>, vars: Vars) -> Self {
        let mut definitions = flow::Definitions::default();
        source.iter().for_each(|fun| definitions.add(&fun.body));
        Self {
            source,
            definitions,
            vars,
            frames: Vec::new(),
            depth: IdMap::new(),
            views: BTreeMap::new(),
            subst: IdMap::new(),
            dests: BTreeMap::new(),
            ordered: BTreeMap::new(),
            roots: BTreeMap::new(),
            offsets: BTreeMap::new(),
            anything: BTreeSet::new(),
            mode: Mode::Host,
            base: 0,
            parallel: parallel_functions(source),
            hosted: hosted_functions(source),
            operators: BTreeMap::new(),
            versions: vec![None; source.len()],
            pending: Vec::new(),
            fun_name: String::new(),
            kernels: 0,
            steady: false,
            block_guards: BTreeMap::new(),
            by_blocks: Vec::new(),
            asynchronous: false,
            unpeeled: BTreeSet::new(),
            span: Spans::NONE,
            certs: Vec::new(),
        }
    }

    /// Whether the function with this identifier is host code; otherwise it is code for kernels.
    fn runs_on_host(&self, id: FunId) -> bool {
        let i = id.0 as usize;
        self.hosted[i] || self.parallel[i]
    }

    /// Translates statements into the innermost frame.
    fn stms(&mut self, body: &Body<Seg>) {
        let stms = &body.stms;
        let offers = dest::Offers::of(&self.definitions, &self.vars, stms);
        let turned = match self.mode {
            Mode::Host => layout::turned_results(&self.definitions, body),
            Mode::Block | Mode::Kernel => Vec::new(),
        };
        for (i, stm) in stms.iter().enumerate() {
            let span = std::mem::replace(&mut self.span, stm.span);
            let certs = stm
                .certs
                .iter()
                .filter_map(|&c| self.atom(c.into()).as_var());
            let certs = certs.collect();
            let certs = std::mem::replace(&mut self.certs, certs);
            self.offer_update(body, i, &offers);
            self.offer_concat(body, i, &offers);
            self.offer_turned(stms, i, &turned);
            self.offer_order(stms, i);
            deep(|| self.stm(stm));
            self.span = span;
            self.certs = certs;
        }
    }

    fn stm(&mut self, stm: &Stm<Seg>) {
        match &stm.exp {
            Exp::Atom(a) => self.rename(stm.binds[0], *a),
            Exp::Scalar(op, args) => {
                let args = self.atoms(args);
                self.note(*op, &args, stm.binds[0]);
                self.push(stm.binds.clone(), Exp::Scalar(*op, args));
            }
            Exp::Assert { cond, message } => {
                let exp = Exp::Assert {
                    cond: self.atom(*cond),
                    message: self.message(message),
                };
                self.push(stm.binds.clone(), exp);
            }
            Exp::Guard { threshold, measure } => {
                if threshold.kind == ThresholdKind::Block {
                    // The conditional that it decides on says what a block needs.
                    let guard = (threshold.clone(), self.atom(*measure));
                    self.block_guards.insert(stm.binds[0], guard);
                    return;
                }
                let exp = Exp::Guard {
                    threshold: threshold.clone(),
                    measure: self.atom(*measure),
                };
                self.push(stm.binds.clone(), exp);
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                let choice = layout::Choice::between(*cond, then, otherwise);
                if !choice.is_some_and(|choice| self.choose_order(stm.binds[0], &choice)) {
                    self.conditional(&stm.binds, *cond, then, otherwise);
                }
            }
            Exp::Loop { params, form, body } => {
                let host = self.mode == Mode::Host;
                let is_done = host
                    && (self.peel(stm, params, form, body)
                        || self.serial_loop(stm, params, form, body));
                if !is_done {
                    self.looping(&stm.binds, (params, form, body));
                }
            }
            Exp::Call { fun, args } => {
                if !(self.mode == Mode::Host && self.serial_call(stm, *fun)) {
                    self.call(&stm.binds, *fun, args);
                }
            }
            Exp::Op(Seg::Array(op)) => self.array_op(&stm.binds, op),
            Exp::Op(Seg::Par(op)) => self.seg_op(&stm.binds, op),
            Exp::Op(Seg::UpdateAcc(update)) => self.update_acc(&stm.binds, update),
        }
    }

    /// Lets a name stand for an atom.
    fn rename(&mut self, bind: Var, atom: Atom) {
        match atom.as_var().and_then(|v| self.views.get(&v)).cloned() {
            Some(view) => {
                self.views.insert(bind, view);
            }
            None => {
                let atom = self.atom(atom);
                self.subst.set(bind, Some(atom));
            }
        }
    }

    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Const(_) => atom,
            Atom::Var(v) => self.subst[v].unwrap_or(atom),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|&a| self.atom(a)).collect()
    }

    fn is_array(&self, var: Var) -> bool {
        self.vars[var].ty.is_array()
    }
}

/// Which functions hold parallel operations or show values, and so stay on the host, directly or through calls.
fn parallel_functions(funs: &IdVec<FunId, Fun<Seg>>) -> Vec<bool> {
    spread(funs, |id, facts| is_parallel(&funs[id].body, facts))
}

/// Whether a body holds parallel operations or shows values, given which functions do.
fn is_parallel(body: &Body<Seg>, funs: &[bool]) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Op(Seg::UpdateAcc(_)) => false,
        Exp::Op(Seg::Array(op)) => matches!(op, ArrayOp::Trace(_) | ArrayOp::Stream(_)),
        Exp::If {
            then, otherwise, ..
        } => is_parallel(then, funs) || is_parallel(otherwise, funs),
        Exp::Loop { form, body, .. } => {
            is_parallel(body, funs)
                || match form {
                    LoopForm::For { .. } => false,
                    LoopForm::While(cond) => is_parallel(cond, funs),
                }
        }
        Exp::Call { fun, .. } => funs[fun.0 as usize],
        Exp::Op(Seg::Par(op)) => op.level != Level::Thread,
    })
}

/// Which functions host code reaches from the entry points; all of them if there are none.
fn hosted_functions(funs: &IdVec<FunId, Fun<Seg>>) -> Vec<bool> {
    let mut facts = vec![false; funs.len()];
    let mut todo: Vec<FunId> = funs
        .enumerate()
        .filter(|(_, fun)| fun.entry.is_some())
        .map(|(id, _)| id)
        .collect();
    if todo.is_empty() {
        todo.extend(funs.ids());
    }
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut facts[id.0 as usize], true) {
            host_calls(&funs[id].body, &mut todo);
        }
    }
    facts
}

fn host_calls(body: &Body<Seg>, calls: &mut Vec<FunId>) {
    for stm in &body.stms {
        match &stm.exp {
            Exp::Call { fun, .. } => calls.push(*fun),
            Exp::If {
                then, otherwise, ..
            } => {
                host_calls(then, calls);
                host_calls(otherwise, calls);
            }
            Exp::Loop { form, body, .. } => {
                host_calls(body, calls);
                if let LoopForm::While(cond) = form {
                    host_calls(cond, calls);
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Op(_) => {}
        }
    }
}
