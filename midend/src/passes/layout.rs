//! Layout (thesis 9.1): arrays are put in another order of dimensions where neighbouring points read, or write, far apart.
//!
//! ```text
//!                                       far = guard layout "main:1" (elements if m >= 8 else 0)
//!                                       b = if far { manifest (1, 0) a } else { a }
//! segmap device (i < n) {               segmap device (i < n) {
//!   loop .. for k < m {           ──►     loop .. for k < m {
//!     x = index a[i, k]                     x = index b[i, k]
//! ```
//!
//! A copy in another order has the same indices. It costs more than to read far apart once, for what is fetched with an element is there
//! in the next step; so it is made for loops of the host that do not change the array, before them, and for points that go through their
//! rows four times or more. Rows that points write element by element are wanted with
//! the points innermost, which costs nothing to begin with:
//!
//! ```text
//!                                       far = guard layout "main:1" ..
//! ys = segmap device (i < n) {          zs = segmap device (i < n) { .. }
//!   row = loop .. for k < m {     ──►   ys = if far { manifest (1, 0) zs } else { zs }
//! ```
//!
//! is lowered to a map that writes them so (the choice of an order is no copy then). Who wants them row-major copies them.
//!
//! Which arrays are wanted how is told by [`crate::analysis::layout`]; a device that fetches rows of each point as well as it fetches
//! neighbours wants nothing of this ([`Options::coalesce`](crate::pass::Options::coalesce)).

mod place;

use crate::analysis::layout::{Order, Wish, is_written, row_major, wishes};
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::dialect::is_by_blocks;
use crate::ir::id::{SpanId, Var};
use crate::ir::seg::{Level, Seg, SegKind, SegOp};
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, Program, Stm, Vars};
use crate::ir::threshold::Names;
use crate::ir::walk::{all_stms_mut, deep};
use crate::pass::Pass;
use place::Frame;

/// The pass.
pub const PASS: Pass<Seg> = Pass {
    name: "layout",
    summary: "arrays are put in an order in which neighbouring points read neighbours",
    run: |program, cx| {
        if cx.options.coalesce {
            layout(program)
        } else {
            program
        }
    },
};

fn layout(mut program: Program<Seg>) -> Program<Seg> {
    let Program { vars, funs, spans } = &mut program;
    for fun in funs.iter_mut() {
        let mut cx = Cx {
            vars,
            spans,
            function: fun.entry.as_ref().map_or(&fun.name, |e| &e.name).clone(),
            function_span: fun.span,
            names: Names::default(),
            frames: Vec::new(),
            depth: HashMap::default(),
            orders: HashMap::default(),
            span: fun.span,
        };
        cx.function(fun);
    }
    program
}

/// A copy pays for points that go through their rows so often.
const OFTEN: i64 = 4;

/// How an array lies in memory, if not row-major.
#[derive(Clone, Debug)]
struct Lies {
    order: Order,
    /// It lies so if this holds, else row-major.
    when: Option<Var>,
}

struct Cx<'p> {
    vars: &'p mut Vars,
    spans: &'p Spans,
    function: String,
    function_span: SpanId,
    names: Names,
    /// The bodies of the host that are being made, outermost first.
    frames: Vec<Frame>,
    /// The frame that a variable is bound in.
    depth: HashMap<Var, usize>,
    orders: HashMap<Var, Lies>,
    /// Where the operation at hand is.
    span: SpanId,
}

impl Cx<'_> {
    fn function(&mut self, fun: &mut Fun<Seg>) {
        for param in &fun.params {
            self.depth.insert(param.var, 0);
        }
        self.body(&mut fun.body, false);
    }

    fn body(&mut self, body: &mut Body<Seg>, of_loop: bool) {
        self.frames.push(Frame::new(of_loop));
        for stm in std::mem::take(&mut body.stms) {
            deep(|| self.stm(stm));
        }
        let frame = self.frames.pop();
        body.stms = frame.map_or_else(Vec::new, |frame| frame.stms);
    }

    fn stm(&mut self, mut stm: Stm<Seg>) {
        let inside = self.frames.len();
        match &mut stm.exp {
            Exp::If {
                then, otherwise, ..
            } => {
                self.body(then, false);
                self.body(otherwise, false);
            }
            Exp::Loop { params, form, body } => {
                for param in params {
                    self.depth.insert(param.var, inside);
                }
                match form {
                    LoopForm::For { index, .. } => {
                        self.depth.insert(*index, inside);
                    }
                    LoopForm::While(cond) => self.body(cond, true),
                }
                self.body(body, true);
            }
            Exp::Op(Seg::Par(op)) if op.level == Level::Device && !is_by_blocks(&op.body) => {
                return self.operation(stm);
            }
            Exp::Op(Seg::Array(op)) => {
                if let Some((bind, lies)) = stm.binds.first().zip(self.lies(op)) {
                    self.orders.insert(*bind, lies);
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        }
        self.push(stm);
    }

    /// How the result of an array operation lies in memory, if not row-major.
    fn lies(&self, op: &ArrayOp) -> Option<Lies> {
        match op {
            ArrayOp::Manifest { perm, .. } => Some(Lies {
                order: perm.clone(),
                when: None,
            }),
            ArrayOp::Rearrange { perm, array } => {
                let now = self.order(*array);
                let to = |d: &usize| perm.iter().position(|p| p == d);
                Some(Lies {
                    order: now.iter().filter_map(to).collect(),
                    when: None,
                })
            }
            ArrayOp::Slice { array, dims } => {
                let is_left = |d: &usize| !matches!(dims.get(*d), Some(SliceDim::Fix(_)));
                self.part(*array, &is_left)
            }
            ArrayOp::Index { array, indices } => self.part(*array, &|d| *d >= indices.len()),
            ArrayOp::Update { array, .. } => self.orders.get(array).cloned(),
            ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Reshape { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        }
    }

    /// How some dimensions of an array lie.
    fn part(&self, array: Var, is_left: &dyn Fn(&usize) -> bool) -> Option<Lies> {
        let lies = self.orders.get(&array)?;
        let mut order = lies.order.clone();
        order.retain(is_left);
        let mut left = order.clone();
        left.sort_unstable();
        let renumbered = order.iter().filter_map(|d| left.binary_search(d).ok());
        Some(Lies {
            order: renumbered.collect(),
            when: lies.when,
        })
    }

    fn order(&self, array: Var) -> Order {
        let rank = self.vars[array].ty.rank();
        let lies = self.orders.get(&array);
        lies.map_or_else(|| row_major(rank), |lies| lies.order.clone())
    }

    /// The condition under which an array does not lie row-major, if there is one.
    fn chosen(&self, array: Var) -> Option<Var> {
        self.orders.get(&array).and_then(|lies| lies.when)
    }

    fn operation(&mut self, mut stm: Stm<Seg>) {
        let Exp::Op(seg) = &stm.exp else { return };
        let order = |v| self.order(v);
        let eager = |v| self.chosen(v).is_some();
        let is_tiled = matches!(seg, Seg::Par(op) if op.tiled > 0);
        let wishes = if is_tiled {
            Vec::new()
        } else {
            wishes(self.vars, seg, &order, &eager)
        };
        self.span = stm.span;
        for wish in wishes {
            if let Some(new) = self.grant(&wish)
                && let Exp::Op(Seg::Par(op)) = &mut stm.exp
            {
                replace(op, wish.array, new);
            }
        }
        self.results(stm);
    }

    /// An array in the order that somebody wishes, if that can be had.
    fn grant(&mut self, wish: &Wish) -> Option<Var> {
        let rank = self.vars[wish.array].ty.rank();
        let when = self.chosen(wish.array);
        let order = if when.is_some() && wish.along + 1 == rank {
            row_major(rank)
        } else {
            wish.order.clone()
        };
        let mut depth = self.depth_for(wish);
        if let Some(made) = self.made(wish.array, &order) {
            return Some(made);
        }
        let mut halves = wish.halves.clone();
        if when.is_none() && depth + 1 == self.frames.len() {
            let again = wish.again?;
            depth = depth.max(self.depth_of(again));
            halves.push((again, Atom::i64(2 * OFTEN)));
        }
        let far = match when {
            Some(when) if order == row_major(rank) => when,
            Some(_) | None => {
                let now = self.order(wish.array);
                let inner = now.iter().rev().take_while(|d| **d != wish.along);
                let inner: Vec<usize> = inner.copied().collect();
                self.guard(depth, wish.array, &inner, &halves)?
            }
        };
        fired("layout/read");
        let depth = depth.max(self.depth_of(far.into()));
        if depth + 1 < self.frames.len() {
            fired("layout/before-loop");
        }
        let new = self.fresh_like(wish.array);
        self.choose(depth, (new, wish.array), far, &order);
        self.frames[depth]
            .made
            .insert((wish.array, order.clone()), new);
        let when = Some(far);
        self.orders.insert(new, Lies { order, when });
        Some(new)
    }

    /// The results of an operation: rows that points write are wanted with the points innermost.
    fn results(&mut self, mut stm: Stm<Seg>) {
        let mut choices: Vec<(Var, Var, Var, Order)> = Vec::new();
        for (k, points) in rows_of_points(&stm) {
            let bind = stm.binds[k];
            let ty = &self.vars[bind].ty;
            let alike = choices.iter().find(|(b, ..)| self.vars[*b].ty == *ty);
            let (rank, far) = (ty.rank(), alike.map(|(_, _, far, _)| *far));
            let rows: Vec<usize> = (points..rank).collect();
            let depth = self.frames.len() - 1;
            let Some(far) = far.or_else(|| self.guard(depth, bind, &rows, &[])) else {
                continue;
            };
            fired("layout/written");
            let made = self.fresh_like(bind);
            stm.binds[k] = made;
            let order = rows.into_iter().chain(0..points).collect();
            choices.push((bind, made, far, order));
        }
        self.push(stm);
        for (bind, made, far, order) in choices {
            let depth = self.frames.len() - 1;
            self.choose(depth, (bind, made), far, &order);
            let when = Some(far);
            self.orders.insert(bind, Lies { order, when });
        }
    }
}

/// The results of a map that are rows which points write, by number, with the number of dimensions of the points.
fn rows_of_points(stm: &Stm<Seg>) -> Vec<(usize, usize)> {
    let Exp::Op(Seg::Par(op)) = &stm.exp else {
        return Vec::new();
    };
    if !matches!(op.kind, SegKind::Map) {
        return Vec::new();
    }
    let points = op.space.dims.len();
    let results = op.body.result.iter().enumerate();
    let written = results.filter(|(_, result)| is_written(&op.body, **result));
    written.map(|(k, _)| (k, points)).collect()
}

/// Lets an operation read another array.
fn replace(op: &mut SegOp, array: Var, new: Var) {
    all_stms_mut(&mut op.body, &mut |stm| {
        if let Exp::Op(Seg::Array(ArrayOp::Index { array: read, .. })) = &mut stm.exp
            && *read == array
        {
            *read = new;
        }
    });
}
