//! What a run spends its time and memory on: kernels, copies, guards and buffers, with the lines that they came from.
//!
//! This crate reads no clock: who wants a profile brings one. A run that nobody watches does not come here at all.

use super::Executable;
use super::counts::Work;
use super::estimate::{Effort, Given, Kernels};
use super::exec::{Frame, Run, Val, buffer, int, ints};
use super::memory::{Asker, Memory};
use super::resolve::{Op, OpKind};
use crate::device::Device;
use crate::ir::id::SpanId;
use crate::ir::mem::Mem;
use crate::ir::span::Place;
use crate::ir::syntax::Program;
use crate::ir::threshold::Threshold;
use crate::trap::{RunError, trail};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Gathers what one run does.
pub struct Profiler<'a> {
    /// The time since some moment.
    clock: &'a (dyn Fn() -> Duration + Sync),
    /// Tells what launches ask for.
    kernels: Kernels<'a>,
    gathered: Mutex<Gathered>,
}

/// What was gathered, by kernels and places.
#[derive(Debug, Default)]
struct Gathered {
    work: BTreeMap<Key, Spent>,
    /// The number of the work, when it began, and how long it took.
    events: Vec<(usize, Duration, Duration)>,
    guards: BTreeMap<usize, Chosen>,
}

/// What work is told apart by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Kernel(String),
    Copy(SpanId),
}

#[derive(Debug)]
struct Spent {
    /// Counts work in the order in which it was first done.
    number: usize,
    span: SpanId,
    work: Option<Work>,
    times: u64,
    time: Duration,
    bytes: u64,
    /// What the first of them asked for together, and how many those are.
    effort: Effort,
    weighed: u64,
}

/// What more launches of a kernel ask for is as much as these did, in proportion.
const WEIGHED: u64 = 100;

#[derive(Debug)]
struct Chosen {
    taken: u64,
    refused: u64,
    least: i64,
    greatest: i64,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// How long the run took.
    pub time: Duration,
    /// Kernels and copies, those that took longest first.
    pub work: Vec<WorkDone>,
    /// When work was done, in order; the first [`EVENTS`] of all.
    pub events: Vec<WorkEvent>,
    /// The guards that were come to.
    pub guards: Vec<GuardPassed>,
    /// The most bytes of buffers that were in use at once. What kernels need inside of themselves is not among them.
    pub peak: u64,
    /// Who asked for buffers, those that had most at the peak first.
    pub buffers: Vec<BuffersMade>,
}

/// More launches and copies than this are not told one by one.
pub const EVENTS: usize = 1_000_000;

/// One launch of a kernel, or one copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkEvent {
    /// Which of the profile's work.
    pub work: usize,
    /// When it began, after the beginning of the run.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
}

/// What became of a kernel, or of a statement that copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkDone {
    /// The name of the kernel; nothing for copies.
    pub kernel: Option<String>,
    /// The kind of work; nothing for sequential code.
    pub work: Option<Work>,
    /// Where it came from, and the calls that led there.
    pub places: Vec<Place>,
    /// How often it ran.
    pub times: u64,
    /// How long that took. The first run of a kernel may include its compilation.
    pub time: Duration,
    /// For kernels the bytes of the buffers that they were given, for copies the bytes read and written.
    pub bytes: u64,
    /// What it asked the device for, as far as that is known without doing it.
    pub effort: Effort,
}

/// How a guard chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardPassed {
    /// What it compares with.
    pub threshold: Threshold,
    /// The number that this was.
    pub number: i64,
    /// How often the number was reached.
    pub taken: u64,
    /// How often not.
    pub refused: u64,
    /// The least amount of parallelism that was compared.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
}

/// The buffers that one place asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuffersMade {
    /// Who asked.
    pub asker: Asker,
    /// Where that is, and the calls that led there.
    pub places: Vec<Place>,
    /// How many, in the whole run.
    pub buffers: u64,
    /// The bytes of those that lived when most bytes were in use.
    pub at_peak: u64,
}

impl<'a> Profiler<'a> {
    /// Nothing gathered yet of a run of the plan. `clock` yields the time since some moment.
    pub fn new(clock: &'a (dyn Fn() -> Duration + Sync), plan: &'a Program<Mem>) -> Self {
        Self {
            clock,
            kernels: Kernels::of(plan),
            gathered: Mutex::default(),
        }
    }

    /// What a launch asks for, if it is one of the first.
    fn weigh(&self, key: &Key, kernel: &str, given: &[Given]) -> Option<Effort> {
        let mut before = 0;
        self.gather(|all| before = all.work.get(key).map_or(0, |spent| spent.times));
        let is_first = before < WEIGHED;
        is_first.then(|| self.kernels.effort(kernel, given))?
    }

    fn gather(&self, note: impl FnOnce(&mut Gathered)) {
        note(&mut self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl std::fmt::Debug for Profiler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profiler")
            .field("gathered", &self.gathered)
            .finish_non_exhaustive()
    }
}

impl<D: Device> Run<'_, D> {
    /// Executes a statement, and notes what it does.
    pub(super) fn watched(
        &mut self,
        frame: &mut Frame<D>,
        op: &Op,
        profiler: &Profiler<'_>,
    ) -> Result<(), RunError> {
        match &op.kind {
            OpKind::Launch {
                kernel, work, args, ..
            } => {
                let given = given(frame, args);
                let bytes = bytes_of(&given);
                let key = Key::Kernel(kernel.clone());
                let effort = profiler.weigh(&key, kernel, &given);
                self.timed(frame, op, profiler, (key, *work, bytes), effort)
            }
            OpKind::Copy { shape, dst, .. } => {
                let elements: i64 = ints(frame, shape)?
                    .iter()
                    .fold(1, |count, &n| i64::saturating_mul(count, n.max(0)));
                let whole = buffer(frame, dst.buffer)?;
                let each = whole.elem.bytes() as u64;
                let bytes = 2 * u64::try_from(elements).unwrap_or(0) * each;
                let effort = Effort {
                    operations: 0,
                    bytes,
                };
                let key = Key::Copy(op.span);
                let work = (key, Some(Work::Copy), bytes);
                self.timed(frame, op, profiler, work, Some(effort))
            }
            OpKind::Guard {
                threshold, measure, ..
            } => {
                let measure = int(frame, *measure)?;
                let reached = self.reached(*threshold, measure);
                profiler.gather(|all| all.guard(*threshold, measure, reached));
                self.op(frame, op)
            }
            OpKind::Move { .. }
            | OpKind::Scalar { .. }
            | OpKind::Assert { .. }
            | OpKind::If { .. }
            | OpKind::For { .. }
            | OpKind::While { .. }
            | OpKind::Call { .. }
            | OpKind::Alloc { .. }
            | OpKind::Free(_)
            | OpKind::Load { .. }
            | OpKind::Store { .. }
            | OpKind::Trace(_)
            | OpKind::Stream(_) => self.op(frame, op),
        }
    }

    /// Executes a statement between two looks at the clock. The device is waited for, so that its work is the
    /// statement's.
    fn timed(
        &mut self,
        frame: &mut Frame<D>,
        op: &Op,
        profiler: &Profiler<'_>,
        (key, work, bytes): (Key, Option<Work>, u64),
        effort: Option<Effort>,
    ) -> Result<(), RunError> {
        self.device.synchronise()?;
        let start = (profiler.clock)();
        self.op(frame, op)?;
        self.device.synchronise()?;
        let time = (profiler.clock)().saturating_sub(start);
        profiler.gather(|all| {
            let number = all.work.len();
            let spent = all.work.entry(key).or_insert_with(|| Spent {
                number,
                span: op.span,
                work,
                times: 0,
                time: Duration::ZERO,
                bytes: 0,
                effort: Effort::default(),
                weighed: 0,
            });
            if let Some(effort) = effort {
                spent.weighed += 1;
                spent.effort.operations += effort.operations;
                spent.effort.bytes += effort.bytes;
            }
            spent.times += 1;
            spent.time += time;
            spent.bytes += bytes;
            if all.events.len() < EVENTS {
                all.events.push((spent.number, start, time));
            }
        });
        Ok(())
    }
}

/// The arguments of a launch.
fn given<B>(frame: &[Val<B>], slots: &[usize]) -> Vec<Given> {
    let arg = |&slot: &usize| match &frame[slot] {
        Val::Scalar(c) => Some(Given::Scalar(*c)),
        Val::Buffer(buffer) => Some(Given::Buffer {
            address: Arc::as_ptr(buffer).addr(),
            bytes: buffer.bytes,
        }),
        Val::Empty => None,
    };
    slots.iter().filter_map(arg).collect()
}

/// The bytes of the buffers among these, each counted once.
fn bytes_of(given: &[Given]) -> u64 {
    let buffers = given.iter().filter_map(|given| match *given {
        Given::Buffer { address, bytes } => Some((address, bytes)),
        Given::Scalar(_) => None,
    });
    buffers.collect::<BTreeMap<_, _>>().values().sum()
}

impl Spent {
    /// What all of it asked for.
    fn whole_effort(&self) -> Effort {
        let all = |some: u64| {
            let share = self.times as f64 / self.weighed.max(1) as f64;
            (some as f64 * share) as u64
        };
        Effort {
            operations: all(self.effort.operations),
            bytes: all(self.effort.bytes),
        }
    }
}

impl Gathered {
    fn guard(&mut self, threshold: usize, measure: i64, reached: bool) {
        let chosen = self.guards.entry(threshold).or_insert(Chosen {
            taken: 0,
            refused: 0,
            least: measure,
            greatest: measure,
        });
        *(if reached {
            &mut chosen.taken
        } else {
            &mut chosen.refused
        }) += 1;
        chosen.least = chosen.least.min(measure);
        chosen.greatest = chosen.greatest.max(measure);
    }
}

impl Profiler<'_> {
    /// Puts together what a run did that began at a time of the clock and took so long.
    pub(super) fn profile(
        self,
        exe: &Executable,
        numbers: &[i64],
        memory: &Memory,
        (began, time): (Duration, Duration),
    ) -> Profile {
        let gathered = self
            .gathered
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut work: Vec<(usize, WorkDone)> = gathered
            .work
            .into_iter()
            .map(|(key, spent)| {
                (
                    spent.number,
                    WorkDone {
                        kernel: match key {
                            Key::Kernel(name) => Some(name),
                            Key::Copy(_) => None,
                        },
                        work: spent.work,
                        places: trail(&exe.spans, spent.span),
                        times: spent.times,
                        time: spent.time,
                        bytes: spent.bytes,
                        effort: spent.whole_effort(),
                    },
                )
            })
            .collect();
        work.sort_by_key(|(_, done)| std::cmp::Reverse(done.time));
        let (numbers_of_work, work): (Vec<usize>, Vec<WorkDone>) = work.into_iter().unzip();
        let mut places = vec![0; work.len()];
        for (place, number) in numbers_of_work.into_iter().enumerate() {
            places[number] = place;
        }
        let events = gathered.events.into_iter();
        let events = events.map(|(number, start, time)| WorkEvent {
            work: places[number],
            start: start.saturating_sub(began),
            time,
        });
        let guards = gathered.guards.into_iter().map(|(i, chosen)| GuardPassed {
            threshold: exe.thresholds[i].clone(),
            number: numbers[i],
            taken: chosen.taken,
            refused: chosen.refused,
            least: chosen.least,
            greatest: chosen.greatest,
        });
        let mut buffers: Vec<BuffersMade> = memory
            .shares()
            .into_iter()
            .map(|(asker, share)| BuffersMade {
                asker,
                places: match asker {
                    Asker::Caller => Vec::new(),
                    Asker::Statement(span) => trail(&exe.spans, span),
                },
                buffers: share.buffers,
                at_peak: share.at_peak,
            })
            .collect();
        buffers.sort_by_key(|made| std::cmp::Reverse(made.at_peak));
        Profile {
            time,
            work,
            events: events.collect(),
            guards: guards.collect(),
            peak: memory.peak(),
            buffers,
        }
    }
}
