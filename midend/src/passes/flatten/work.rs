//! How much work the kernels of a host loop or of a point do, estimated from the extents that are known before, and from bounds of those
//! that are not: the trip counts of triangular loops, the lengths of slices.
//!
//! Work is counted in statements that a thread of a device executes. The estimate is a sum of products of extents with constant factors, which a
//! guard computes when the program runs.

use super::label::{Label, is_cheap};
use super::{Cx, bin, int};
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::walk::{all_stms, deep};
use std::collections::BTreeMap;

/// What a block does while a kernel is launched, in statements: a launch takes 3 microseconds, in which a multiprocessor starts 5000 instructions of
/// warps of 32 threads, and a statement becomes two or three of them.
pub(super) const LAUNCH: i64 = 1 << 16;

/// What a thread of a CPU does while a kernel is launched: that takes half a microsecond.
pub(super) const LAUNCH_OF_THREAD: i64 = 1 << 15;

/// How many statements of all threads take as long as one of sequential code, each instruction of which waits for the one before.
const ALONE: i64 = 64;

/// The number of steps and the extents that are not known before the loop.
const UNKNOWN: i64 = 32;

/// Constants of up to this are left out of bounds.
const SMALL: i128 = 64;

/// The statements of an operation that becomes many instructions, such as a division or a sine, of a memory access, and of a function.
const DEAR: i64 = 8;
const ACCESS: i64 = 4;
const FUNCTION: i64 = 64;

/// A sum of products of extents.
#[derive(Default)]
pub(super) struct Work {
    /// Without extents.
    pub(super) fixed: i64,
    /// By the extents, which are in order: the factor.
    pub(super) by_extents: BTreeMap<Vec<Var>, i64>,
    /// Whether a number of steps or an extent is not known before, nor bounded by one that is.
    pub(super) guessed: bool,
}

/// The statements that are executed once for each step of a loop.
#[derive(Default)]
struct Level {
    work: Work,
    /// How many of them are kernels.
    kernels: i64,
}

impl Work {
    /// Makes it at least as much as another, whatever the extents.
    fn at_least(&mut self, other: Self) {
        self.guessed |= other.guessed;
        self.fixed = self.fixed.max(other.fixed);
        for (extents, factor) in other.by_extents {
            let own = self.by_extents.entry(extents).or_default();
            *own = factor.max(*own);
        }
    }

    /// The part of it that falls to each of several kernels.
    fn over(mut self, kernels: i64) -> Self {
        let share = |work: &mut i64| *work = work.div_euclid(kernels.max(1)).max((*work).min(1));
        share(&mut self.fixed);
        self.by_extents.values_mut().for_each(share);
        self
    }

    fn add(&mut self, times: &Times) {
        self.guessed |= times.guessed;
        let own = match times.extents.is_empty() {
            true => &mut self.fixed,
            false => self.by_extents.entry(times.extents.clone()).or_default(),
        };
        *own = own.saturating_add(times.factor);
    }
}

/// How often something is executed.
#[derive(Clone)]
struct Times {
    /// Extents that are known before the loop, in order.
    extents: Vec<Var>,
    factor: i64,
    guessed: bool,
}

impl Times {
    fn factor(factor: i64) -> Self {
        Self {
            extents: Vec::new(),
            factor,
            guessed: false,
        }
    }

    fn by(&self, n: i64) -> Self {
        Self {
            extents: self.extents.clone(),
            factor: self.factor.saturating_mul(n),
            guessed: self.guessed,
        }
    }

    fn unknown(&self) -> Self {
        Self {
            guessed: true,
            ..self.by(UNKNOWN)
        }
    }
}

/// What estimates the work of the operators of a nest.
struct Estimate<'a, 'c> {
    cx: &'a Cx<'c>,
    /// What the nest binds.
    inside: HashSet<Var>,
    /// What is known before the nest that integers inside of it do not exceed, but for a small constant.
    bounds: HashMap<Var, Atom>,
    /// The most work of a kernel, in the average of the kernels of a loop.
    most: Work,
}

impl Cx<'_> {
    /// How much work a kernel of a host loop does.
    pub(super) fn work_of_loop(&self, stm: &Stm<Soac>) -> Work {
        let mut inside = HashSet::default();
        stm.exp.inner_binders(&mut |v| {
            inside.insert(v);
        });
        let mut estimate = Estimate::new(self, inside);
        estimate.counter(&stm.exp);
        stm.exp.scopes(&mut |_, body| estimate.define(body));
        estimate.level([stm].into_iter());
        estimate.most
    }

    /// How much work a kernel of the statements of a point does.
    pub(super) fn work_of_point(&self, lam: &Lambda<Soac>) -> Work {
        let inside = lam.params.iter().copied().collect();
        let mut estimate = Estimate::new(self, inside);
        estimate.define(&lam.body);
        estimate.level(lam.body.stms.iter());
        estimate.most
    }

    /// Code that computes an amount of work.
    pub(super) fn amount(&mut self, work: Work, out: &mut Vec<Stm<Seg>>) -> Atom {
        let mut sum = int(work.fixed);
        for (extents, factor) in work.by_extents {
            let product = extents.into_iter().fold(int(factor), |product, n| {
                let mut n = self.atom(n.into());
                if let Type::Scalar(ty) = n.ty(&self.vars)
                    && ty != ScalarType::I64
                {
                    let widen = ScalarOp::Convert(ty, ScalarType::I64);
                    n = self.scalar(out, "n", widen, vec![n]);
                }
                self.scalar(out, "work", bin(BinOp::MulSat), vec![product, n])
            });
            sum = if sum == Atom::ZERO {
                product
            } else {
                self.scalar(out, "work", bin(BinOp::AddSat), vec![sum, product])
            };
        }
        sum
    }
}

impl<'a, 'c> Estimate<'a, 'c> {
    fn new(cx: &'a Cx<'c>, inside: HashSet<Var>) -> Self {
        let (bounds, most) = (HashMap::default(), Work::default());
        Self {
            cx,
            inside,
            bounds,
            most,
        }
    }

    /// Enters what a body binds, and its bounds.
    fn define(&mut self, body: &Body<Soac>) {
        all_stms(body, &mut |stm| {
            self.inside.extend(&stm.binds);
            stm.exp.inner_binders(&mut |v| {
                self.inside.insert(v);
            });
            self.counter(&stm.exp);
            let bound = match &stm.exp {
                Exp::Atom(atom) => self.bound(*atom),
                Exp::Scalar(op, args) => self.bound_of_scalar(*op, args),
                Exp::Op(Soac::Filter { width, .. }) => self.bound((*width).into()),
                Exp::Op(_)
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Assert { .. }
                | Exp::Guard { .. } => None,
            };
            if let (Some(bound), Some(&v)) = (bound, stm.binds.first()) {
                self.bounds.insert(v, bound);
            }
        });
    }

    /// Enters the bound of the counter of a loop.
    fn counter(&mut self, exp: &Exp<Soac>) {
        if let Exp::Loop { form, .. } = exp
            && let LoopForm::For { index, bound } = form
            && let Some(bound) = self.bound(*bound)
        {
            self.bounds.insert(*index, bound);
        }
    }

    /// What is known before the nest that an integer does not exceed, but for a small constant.
    fn bound(&self, atom: Atom) -> Option<Atom> {
        match atom {
            Atom::Var(v) if self.inside.contains(&v) || !self.cx.labels.uniform(atom) => {
                self.bounds.get(&v).copied()
            }
            Atom::Var(_) | Atom::Const(_) => Some(atom),
        }
    }

    fn bound_of_scalar(&self, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
        let first = || self.bound(args[0]);
        let second = || self.bound(args[1]);
        let constant = |atom: &Atom| {
            let n = atom.as_const().and_then(Const::as_int);
            n.is_some_and(|n| n.abs() <= SMALL)
        };
        if let ScalarOp::Convert(from, to) = op
            && from.is_integer()
            && to.is_integer()
        {
            return first();
        }
        let ScalarOp::Bin(op, ty) = op else {
            return None;
        };
        if !ty.is_integer() {
            return None;
        }
        // What is subtracted is a counter or an extent.
        if matches!(op, BinOp::Sub | BinOp::Quot | BinOp::Div | BinOp::Shr) {
            first()
        } else if op == BinOp::Min {
            first().or_else(second)
        } else if matches!(op, BinOp::Mod | BinOp::Rem) {
            second().or_else(first)
        } else if matches!(op, BinOp::Add | BinOp::Max) && constant(&args[0]) {
            second()
        } else if matches!(op, BinOp::Add | BinOp::Max) && constant(&args[1]) {
            first()
        } else {
            None
        }
    }

    /// Statements of which each is executed as often as the others.
    fn level<'b>(&mut self, stms: impl Iterator<Item = &'b Stm<Soac>>) {
        let mut level = Level::default();
        stms.for_each(|stm| deep(|| self.step(stm, &mut level)));
        self.most.at_least(level.work.over(level.kernels));
    }

    /// A statement that the block executes: the threads share out the work of operators, and all do the rest.
    fn step(&mut self, stm: &Stm<Soac>, level: &mut Level) {
        let alone = if self.cx.asynchronous { ALONE } else { 1 };
        match &stm.exp {
            Exp::If { .. } if self.holds_operators(stm) => {
                let mut stms = Vec::new();
                stm.exp.scopes(&mut |_, body| stms.extend(&body.stms));
                stms.into_iter()
                    .for_each(|stm| deep(|| self.step(stm, level)));
            }
            Exp::Loop { .. } if self.holds_operators(stm) => {
                let mut bodies = Vec::new();
                stm.exp.scopes(&mut |_, body| bodies.push(body));
                bodies
                    .into_iter()
                    .for_each(|body| self.level(body.stms.iter()));
            }
            Exp::Op(op) => {
                let is_array = matches!(op, Soac::Array(_));
                level.kernels += i64::from(!is_array);
                let shared = is_array || self.cx.labels.of(stm) == Label::Par;
                let times = if shared { 1 } else { alone };
                self.stm(stm, &Times::factor(times), &mut level.work);
            }
            Exp::Loop { .. } | Exp::If { .. } | Exp::Call { .. } => {
                self.stm(stm, &Times::factor(alone), &mut level.work);
            }
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
        }
    }

    fn holds_operators(&self, stm: &Stm<Soac>) -> bool {
        let mut holds = false;
        stm.exp.scopes(&mut |_, body| {
            all_stms(body, &mut |stm| {
                let is_array = matches!(stm.exp, Exp::Op(Soac::Array(_)));
                holds |= matches!(stm.exp, Exp::Op(_)) && !is_array;
            });
        });
        holds
    }

    fn body(&self, body: &Body<Soac>, times: &Times, work: &mut Work) {
        let stms = body.stms.iter();
        stms.for_each(|stm| deep(|| self.stm(stm, times, work)));
    }

    fn stm(&self, stm: &Stm<Soac>, times: &Times, work: &mut Work) {
        match &stm.exp {
            Exp::Atom(_) | Exp::Assert { .. } | Exp::Guard { .. } => work.add(times),
            Exp::Scalar(op, _) => work.add(&times.by(if is_cheap(*op) { 1 } else { DEAR })),
            Exp::Call { .. } => work.add(&times.by(FUNCTION)),
            Exp::If { .. } => stm
                .exp
                .scopes(&mut |_, branch| self.body(branch, times, work)),
            Exp::Loop { form, body, .. } => {
                let steps = match form {
                    LoopForm::For { bound, .. } => self.steps(times, *bound),
                    LoopForm::While(cond) => {
                        let steps = times.unknown();
                        self.body(cond, &steps, work);
                        steps
                    }
                };
                self.body(body, &steps, work);
            }
            Exp::Op(Soac::Array(op)) => self.array(stm, op, times, work),
            Exp::Op(Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            }) => {
                let operators = scans.iter().chain(reds).map(|op: &Operator<Soac>| &op.lam);
                let points = self.extent(times, *width);
                self.points((arrays, lam), operators, &points, work);
            }
            Exp::Op(Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            }) => {
                let operators = ops.iter().map(|op| &op.op.lam);
                let points = self.extent(times, *width);
                self.points((arrays, lam), operators, &points, work);
            }
            Exp::Op(
                Soac::Scatter {
                    width, arrays, lam, ..
                }
                | Soac::Filter { width, arrays, lam }
                | Soac::FlatMap {
                    width, arrays, lam, ..
                }
                | Soac::WithAcc {
                    width, arrays, lam, ..
                },
            ) => {
                let points = self.extent(times, *width);
                self.points((arrays, lam), [].into_iter(), &points, work);
            }
            Exp::Op(Soac::UpdateAcc(_)) => work.add(&times.by(ACCESS)),
        }
    }

    /// The points of an operator: elements are read, one for each result written.
    fn points<'b>(
        &self,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        operators: impl Iterator<Item = &'b Lambda<Soac>>,
        points: &Times,
        work: &mut Work,
    ) {
        let accesses = arrays.len() + lam.body.result.len();
        work.add(&points.by(ACCESS * accesses as i64));
        self.body(&lam.body, points, work);
        operators.for_each(|op| self.body(&op.body, points, work));
    }

    fn array(&self, stm: &Stm<Soac>, op: &ArrayOp, times: &Times, work: &mut Work) {
        let written = match op {
            ArrayOp::Index { .. } => return work.add(&times.by(ACCESS)),
            ArrayOp::Slice { .. } | ArrayOp::Rearrange { .. } | ArrayOp::Reshape { .. } => {
                return;
            }
            ArrayOp::Update { value, .. } => value.ty(&self.cx.vars),
            ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => match stm.binds.first() {
                Some(&v) => self.cx.vars[v].ty.clone(),
                None => Type::I64,
            },
        };
        let elements = written
            .shape()
            .iter()
            .fold(times.by(ACCESS), |times, dim| match *dim {
                Dim::Size(n) => self.extent(&times, n),
                Dim::Ragged(_) => times.unknown(),
            });
        work.add(&elements);
    }

    fn extent(&self, times: &Times, n: Size) -> Times {
        self.steps(times, n.into())
    }

    fn steps(&self, times: &Times, n: Atom) -> Times {
        match self.bound(n) {
            Some(Atom::Const(n)) => {
                let n = n
                    .as_int()
                    .map_or(UNKNOWN, |n| i64::try_from(n).unwrap_or(i64::MAX));
                times.by(n)
            }
            Some(Atom::Var(v)) => {
                let mut extents = times.extents.clone();
                let position = extents.partition_point(|&w| w < v);
                extents.insert(position, v);
                Times { extents, ..*times }
            }
            None => times.unknown(),
        }
    }
}
