//! How long a call would take on a device: a guess from the sizes of its arguments, by which a session chooses a device before
//! anything runs (design 6.3).
//!
//! The plan is walked once, with the values of scalars that follow from the arguments. Work is not done but added up: the points of
//! a kernel times the operations of a point, or the bytes that it reads and writes, whichever takes the device longer.
//!
//! ```text
//! launch map (i < n) { x = load xs[i]; y = sin x; store ys[i] = y }
//!     with n = 10^6:  launch + max(10^6 * (1 + 16 + 1) * step / width, 8 * 10^6 * byte)
//! ```
//!
//! What is not known before the run is guessed: the typical point is the one in the middle of the space; a loop is as in its middle
//! step, with its parameters as they are in the first; of two branches, the longer one is taken; and what goes on until
//! something happens does so [`GUESS`] times. Loads give nothing known.

mod effort;
mod numbers;
mod weight;

pub(crate) use weight::of as additions;

pub use effort::Effort;
pub(super) use effort::{Given, Kernels};

use super::Signature;
use crate::device::Costs;
use crate::hash::{HashMap, HashSet};
use crate::interp::scalar;
use crate::ir::id::{FunId, Var};
use crate::ir::mem::{Extent, Kernel, KernelKind, Mem, Region};
use crate::ir::scalar::Const;
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Program, Stm};
use crate::ir::threshold::{Threshold, reaches};
use crate::ir::types::Type;
use crate::ir::walk::deep;
use crate::trap::RunError;
use crate::value::Value;
use std::time::Duration;

/// How often something is done if nothing is known about it.
const GUESS: f64 = 32.0;
/// As many threads share a point at least.
const TEAM: f64 = 32.0;

/// After so many statements, what was found is all that is said: the walk must not take longer than what it foretells.
const FUEL: usize = 100_000;

/// Calls are followed so deep; recursion ends somewhere.
const DEPTH: usize = 24;

/// How long a call of an entry point of the plan would take on a device with these costs. `number` yields what its thresholds are.
///
/// Fails if the arguments are not those of the entry point.
pub fn estimate(
    plan: &Program<Mem>,
    signature: &Signature,
    args: &[Value],
    costs: &Costs,
    number: &dyn Fn(&Threshold) -> i64,
) -> Result<Duration, RunError> {
    let mut walk = Walk {
        plan,
        costs,
        number,
        values: HashMap::default(),
        numbers: None,
        buffers: 0,
        touched: None,
        fuel: FUEL,
        depth: 0,
    };
    let mut given: Vec<Known> = Vec::new();
    let sizes = signature.args.sizes(args)?;
    given.extend(sizes.into_iter().map(|n| Known::Scalar(Const::I64(n))));
    let mut moved = 0.0;
    for arg in args {
        given.push(match arg {
            Value::Scalar(c) => Known::Scalar(*c),
            Value::Array(array) => {
                let bytes = (array.data.len() * array.data.elem().bytes()) as f64;
                moved += bytes;
                walk.buffer(bytes)
            }
        });
    }
    let (work, results) = walk.call(signature.fun, given);
    for result in results {
        if let Known::Buffer { bytes, .. } = result
            && bytes.is_finite()
        {
            moved += bytes;
        }
    }
    let seconds = walk.host_time(work) + moved * costs.transfer;
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    Scalar(Const),
    /// A buffer outside of kernels, with a number of its own. Infinitely many bytes are an unknown number.
    Buffer {
        number: usize,
        bytes: f64,
    },
}

/// Work: of the host and of a point of a kernel.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// Operations.
    steps: f64,
    /// Those of them that compute numbers, if somebody wants to know.
    sums: f64,
    /// Bytes loaded and stored.
    bytes: f64,
    /// What was launched and waited for, in seconds.
    seconds: f64,
}

impl Work {
    const fn steps(steps: f64) -> Self {
        Self {
            steps,
            sums: 0.0,
            bytes: 0.0,
            seconds: 0.0,
        }
    }
    const fn seconds(seconds: f64) -> Self {
        Self {
            steps: 0.0,
            sums: 0.0,
            bytes: 0.0,
            seconds,
        }
    }
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.sums += other.sums;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }
    fn times(self, n: f64) -> Self {
        Self {
            steps: self.steps * n,
            sums: self.sums * n,
            bytes: self.bytes * n,
            seconds: self.seconds * n,
        }
    }
}

struct Walk<'a> {
    plan: &'a Program<Mem>,
    costs: &'a Costs,
    number: &'a dyn Fn(&Threshold) -> i64,
    values: HashMap<Var, Known>,
    /// Variables that are no places, if somebody wants to know.
    numbers: Option<&'a HashSet<Var>>,
    /// How many buffers there have been.
    buffers: usize,
    /// In a kernel, the buffers that it reads, those that it writes, and their bytes.
    touched: Option<HashMap<(usize, bool), f64>>,
    fuel: usize,
    depth: usize,
}

impl Walk<'_> {
    fn buffer(&mut self, bytes: f64) -> Known {
        self.buffers += 1;
        Known::Buffer {
            number: self.buffers,
            bytes,
        }
    }
    fn value(&self, atom: Atom) -> Known {
        match atom {
            Atom::Const(c) => Known::Scalar(c),
            Atom::Var(v) => self.values.get(&v).copied().unwrap_or(Known::Nothing),
        }
    }
    fn scalar(&self, atom: Atom) -> Option<Const> {
        match self.value(atom) {
            Known::Scalar(c) => Some(c),
            Known::Nothing | Known::Buffer { .. } => None,
        }
    }
    /// A number of times, at least none.
    fn count(&self, atom: Atom) -> Option<f64> {
        Some(self.scalar(atom)?.as_int()?.max(0) as f64)
    }
    fn bind(&mut self, vars: &[Var], values: &[Known]) {
        let missing = std::iter::repeat(&Known::Nothing);
        for (var, value) in vars.iter().zip(values.iter().chain(missing)) {
            self.values.insert(*var, *value);
        }
    }
    /// The time of host code.
    fn host_time(&self, work: Work) -> f64 {
        work.seconds + work.steps * self.costs.host
    }

    fn call(&mut self, fun: FunId, args: Vec<Known>) -> (Work, Vec<Known>) {
        let plan = self.plan;
        let fun = &plan.funs[fun];
        if self.depth == DEPTH {
            return (Work::default(), vec![]);
        }
        self.depth += 1;
        let params: Vec<Var> = fun.params.iter().map(|param| param.var).collect();
        self.bind(&params, &args);
        let found = self.body(&fun.body);
        self.depth -= 1;
        found
    }

    /// The work of a body, and its results.
    fn body(&mut self, body: &Body<Mem>) -> (Work, Vec<Known>) {
        let mut work = Work::default();
        for stm in &body.stms {
            if self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            work.add(self.statement(stm));
        }
        let results = body.result.iter().map(|&atom| self.value(atom)).collect();
        (work, results)
    }

    fn statement(&mut self, stm: &Stm<Mem>) -> Work {
        let (work, values) = match &stm.exp {
            Exp::Atom(atom) => (Work::default(), vec![self.value(*atom)]),
            Exp::Scalar(op, args) => {
                let known: Option<Vec<Const>> = args.iter().map(|&a| self.scalar(a)).collect();
                let value = known.and_then(|args| scalar::eval(*op, &args).ok());
                let value = value.map_or(Known::Nothing, Known::Scalar);
                let mut work = Work::steps(weight::of(*op));
                let is_number = |v| self.numbers.is_some_and(|all| all.contains(v));
                if stm.binds.iter().any(is_number) {
                    work.sums = work.steps;
                }
                (work, vec![value])
            }
            Exp::Assert { .. } => (Work::steps(1.0), vec![]),
            Exp::Guard { threshold, measure } => {
                let measure = self.scalar(*measure).and_then(Const::as_i64);
                let reached = measure.map(|n| reaches(n, (self.number)(threshold)));
                let value = reached.map_or(Known::Nothing, |is| Known::Scalar(Const::Bool(is)));
                (Work::steps(1.0), vec![value])
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => deep(|| self.branch(*cond, then, otherwise)),
            Exp::Loop { params, form, body } => deep(|| self.repeat(params, form, body)),
            Exp::Call { fun, args } => {
                let args = args.iter().map(|&a| self.value(a)).collect();
                deep(|| self.call(*fun, args))
            }
            Exp::Op(op) => self.operation(op),
        };
        self.bind(&stm.binds, &values);
        work
    }

    /// The branch that is taken, or the longer one.
    fn branch(
        &mut self,
        cond: Atom,
        then: &Body<Mem>,
        otherwise: &Body<Mem>,
    ) -> (Work, Vec<Known>) {
        match self.scalar(cond).and_then(Const::as_bool) {
            Some(true) => self.body(then),
            Some(false) => self.body(otherwise),
            None => {
                let (one, other) = (self.body(then), self.body(otherwise));
                let time = |work: Work| {
                    self.host_time(work)
                        + work.steps * self.costs.step
                        + work.bytes * self.costs.byte
                };
                if time(one.0) >= time(other.0) {
                    one
                } else {
                    other
                }
            }
        }
    }

    /// A loop: one step of it, so many times.
    fn repeat(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) -> (Work, Vec<Known>) {
        let starts: Vec<Known> = params.iter().map(|p| self.value(p.init)).collect();
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        self.bind(&vars, &starts);
        let (times, mut work) = match form {
            LoopForm::For { index, bound } => {
                let times = self.count(*bound);
                self.bind(&[*index], &[self.middle(*bound)]);
                (times.unwrap_or(GUESS), Work::steps(1.0))
            }
            LoopForm::While(cond) => {
                let (work, holds) = self.body(cond);
                let never = matches!(holds[..], [Known::Scalar(Const::Bool(false))]);
                (if never { 0.0 } else { GUESS }, work)
            }
        };
        if times == 0.0 {
            return (work, starts);
        }
        let (step, ends) = self.body(body);
        work.add(step);
        // Scalars that a loop carries change; buffers stay as long as they are.
        let ends = ends.into_iter().map(|end| match end {
            Known::Buffer { .. } => end,
            Known::Scalar(_) | Known::Nothing => Known::Nothing,
        });
        (work.times(times), ends.collect())
    }

    /// The counter in the middle of those below the bound.
    fn middle(&self, bound: Atom) -> Known {
        let counter = |bound: Const| Const::int(bound.ty(), bound.as_int()? / 2);
        let counter = self.scalar(bound).and_then(counter);
        counter.map_or(Known::Nothing, Known::Scalar)
    }

    fn operation(&mut self, op: &Mem) -> (Work, Vec<Known>) {
        match op {
            Mem::Alloc { elem, len, .. } => {
                if self.touched.is_some() {
                    return (Work::steps(1.0), vec![]);
                }
                let len = self.count(*len).unwrap_or(f64::INFINITY);
                (
                    Work::default(),
                    vec![self.buffer(len * elem.bytes() as f64)],
                )
            }
            Mem::Free(_) | Mem::Apart(_) | Mem::Trace(_) | Mem::Stream(_) => {
                (Work::default(), vec![])
            }
            Mem::Load { buffer, .. } => (self.access((*buffer, false), 1.0), vec![]),
            Mem::Store { buffer, .. } => (self.access((*buffer, true), 1.0), vec![]),
            Mem::Copy { shape, dst, src } => (self.copy(shape, dst, src), vec![]),
            Mem::Launch(kernel) if self.touched.is_some() => (self.shared_out(kernel), vec![]),
            Mem::Launch(kernel) => (Work::seconds(self.launch(kernel)), vec![]),
        }
    }

    /// Loads or stores elements.
    fn access(&mut self, (buffer, stores): (Var, bool), elements: f64) -> Work {
        let (known, width) = (self.value(Atom::Var(buffer)), self.width(buffer));
        let Some(touched) = &mut self.touched else {
            return Work::seconds(self.costs.wait);
        };
        let bytes = match known {
            Known::Buffer { number, bytes } => {
                touched.insert((number, stores), bytes);
                elements * width
            }
            // Arrays of a point are near.
            Known::Nothing | Known::Scalar(_) => 0.0,
        };
        Work {
            bytes,
            ..Work::steps(elements)
        }
    }

    /// The bytes of an element.
    fn width(&self, buffer: Var) -> f64 {
        match &self.plan.vars[buffer].ty {
            Type::Buffer(elem) => elem.bytes() as f64,
            Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => 0.0,
        }
    }

    fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) -> Work {
        let elements = shape.iter().map(|&n| self.count(n).unwrap_or(GUESS));
        let elements: f64 = elements.product();
        if self.touched.is_some() {
            let mut work = self.access((dst.buffer, true), elements);
            work.add(self.access((src.buffer, false), elements));
            return work;
        }
        let bytes = 2.0 * elements * self.width(dst.buffer);
        Work::seconds(self.costs.launch + bytes * self.costs.byte)
    }

    /// The seconds of a kernel.
    fn launch(&mut self, kernel: &Kernel) -> f64 {
        let (points, point, touched) = self.point(kernel);
        self.kernel_time(points, point, touched)
    }

    /// The points of a kernel, the work of each, and the bytes of the buffers that they touch.
    fn point(&mut self, kernel: &Kernel) -> (f64, Work, f64) {
        self.touched = Some(HashMap::default());
        let (points, point) = self.one_point(kernel);
        let touched = self.touched.take().iter().flat_map(HashMap::values).sum();
        (points, point, touched)
    }

    /// The work of all points of a kernel inside of a point, which several threads share.
    fn shared_out(&mut self, kernel: &Kernel) -> Work {
        let (points, point) = self.one_point(kernel);
        let all = point.times(points);
        Work {
            steps: all.steps / TEAM.min(points.max(1.0)),
            ..all
        }
    }

    /// The points of a kernel and the work of each.
    fn one_point(&mut self, kernel: &Kernel) -> (f64, Work) {
        let (mut points, mut rows) = (1.0, 1.0);
        for (index, extent) in &kernel.space {
            rows = points;
            match *extent {
                Extent::Regular(bound) => {
                    points *= self.count(bound).unwrap_or(GUESS);
                    self.bind(&[*index], &[self.middle(bound)]);
                }
                Extent::Ragged { offsets, start } => {
                    points *= GUESS;
                    self.access((offsets, false), 1.0);
                    self.bind(&[*index, start], &[]);
                }
            }
        }
        let (mut point, _) = self.body(&kernel.body);
        match &kernel.kind {
            KernelKind::Map | KernelKind::Seq => {}
            KernelKind::Red { ops, outs } => self.combine(&mut point, ops, outs, rows / points),
            // Neighbours first, then what comes before them.
            KernelKind::Scan { ops, outs, then } => {
                self.combine(&mut point, ops, outs, 1.0);
                self.combine(&mut point, ops, outs, 1.0);
                if let Some(then) = then {
                    point.add(self.body(&then.body).0);
                }
            }
            KernelKind::Hist(hists) => {
                for hist in hists {
                    self.combine(&mut point, std::slice::from_ref(&hist.op), &hist.dests, 2.0);
                }
            }
        }
        (points, point)
    }

    /// Adds the operators of a reduction, and the elements written for each point.
    fn combine(&mut self, point: &mut Work, ops: &[Operator<Mem>], outs: &[Var], each: f64) {
        for op in ops {
            point.add(self.body(&op.lam.body).0);
        }
        for &out in outs {
            let write = self.access((out, true), each);
            point.add(write);
        }
    }

    /// The seconds of a kernel with so many points, which touches buffers of so many bytes.
    fn kernel_time(&self, points: f64, point: Work, touched: f64) -> f64 {
        let Costs {
            launch, step, byte, ..
        } = *self.costs;
        if points == 0.0 {
            return 0.0;
        }
        let rounds = (points / self.costs.width).max(1.0);
        // What is read again is near the second time.
        let bytes = (points * point.bytes).min(touched);
        launch + (point.steps * step * rounds).max(bytes * byte)
    }
}
