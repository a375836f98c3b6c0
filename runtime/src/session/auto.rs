//! The target `auto`: for each call, the CPU or the accelerator, whichever is expected to be faster.
//!
//! The plan is the same for both. For each call, what it would take on either is estimated from the sizes of the arguments
//! ([`midend::plan::estimate`]) and what work costs there (`costs`); equal sizes are estimated once. An accelerator that has not
//! been used yet takes some time to be opened and to compile the kernels. Whether that will pay is not known, as nobody knows
//! what will be called later: it is opened when the time that it would have saved so far is as long (the
//! rule of the ski rental problem: at most twice the time of who knows what will come).

use super::costs::{self, Ceilings, Store};
use super::engine::{Call, Devices, Engine, Plan};
use super::times::CompileTimes;
use super::{Options, Shared};
use crate::target::Target;
use midend::device::Costs;
use midend::ir::scalar::Const;
use midend::ir::threshold::{INFINITE, Threshold, ThresholdKind, rows_shorter_than};
use midend::plan;
use midend::trap::RunError;
use midend::value::Value;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What [`Target::Auto`] chooses between, beside the CPU.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// What runs programs instead of the CPU.
    pub target: Target,
    /// What work costs on the CPU and there; by default what was measured.
    pub costs: Option<(Costs, Costs)>,
    /// What it takes before the first call.
    pub start: Duration,
}

impl Accelerator {
    /// A GPU.
    const GPU: Self = Self {
        target: Target::Ptx,
        costs: None,
        start: Duration::from_millis(400),
    };
}

/// How a device was chosen for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Where the call runs.
    pub target: Target,
    /// What it was expected to take on the CPU.
    pub cpu: Duration,
    /// What it was expected to take on the accelerator.
    pub other: Duration,
    /// What opening the accelerator would take besides, no time if it is open; or why it cannot be used.
    pub start: Result<Duration, String>,
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (cpu, other) = (ms(self.cpu), ms(self.other));
        let target = self.target;
        write!(
            f,
            "{target}: about {cpu:.3} ms on the CPU, {other:.3} ms on the GPU"
        )?;
        match &self.start {
            Err(why) => write!(f, ", which cannot be used: {why}"),
            Ok(Duration::ZERO) => Ok(()),
            Ok(start) => write!(f, ", and {:.0} ms to open it", ms(*start)),
        }
    }
}

/// The CPU, and the accelerator if it has been needed.
pub(super) struct AutoDevices {
    pub(super) cpu: Devices,
    accelerator: Accelerator,
    /// Why not, if it cannot be opened.
    other: OnceLock<Result<Devices, String>>,
    costs: Mutex<(Costs, Costs)>,
}

impl AutoDevices {
    /// The CPU alone where there is nothing to choose between.
    pub(super) fn open(options: &Options) -> Result<Devices, RunError> {
        let cpu = Devices::open_one(Target::Cpu, options)?;
        let accelerator = match &options.accelerator {
            Some(accelerator) => accelerator.clone(),
            None if backend_ptx::is_driver_present() => Accelerator::GPU,
            None => return Ok(cpu),
        };
        let costs = accelerator.costs.unwrap_or_else(|| Store::read().pair());
        Ok(Devices::Auto(Box::new(Self {
            cpu,
            accelerator,
            other: OnceLock::new(),
            costs: Mutex::new(costs),
        })))
    }
    fn costs(&self) -> (Costs, Costs) {
        *self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether the accelerator was opened, and is lost.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.other.get(), Some(Ok(devices)) if devices.is_lost())
    }
    /// The accelerator, opened; or why it cannot be.
    fn other(&self, shared: &Shared) -> Result<&Devices, String> {
        let opened = self.other.get_or_init(|| {
            let opened = Devices::open_one(self.accelerator.target, &shared.options);
            let opened = opened.map_err(|why| why.reason())?;
            if self.accelerator.costs.is_none() {
                let costs = costs::of(shared, &self.cpu, &opened);
                *self.costs.lock().unwrap_or_else(PoisonError::into_inner) = costs;
            }
            Ok(opened)
        });
        opened.as_ref().map_err(String::clone)
    }
    /// What the accelerator takes for enough of a kind of parallelism, as far as it is known before it is opened.
    fn threshold(&self, kind: ThresholdKind, costs: &Costs) -> i64 {
        match self.other.get() {
            Some(Ok(devices)) => devices.threshold(kind),
            Some(Err(_)) | None => match kind {
                ThresholdKind::Outer
                | ThresholdKind::Tiles
                | ThresholdKind::Columns
                | ThresholdKind::Ragged => costs.width as i64,
                ThresholdKind::Rows => rows_shorter_than(1),
                ThresholdKind::Layout => INFINITE,
                ThresholdKind::Arrays => 0,
                ThresholdKind::Block | ThresholdKind::Alone => 1,
            },
        }
    }
}

/// A program for the CPU, and for the accelerator if it has been needed.
pub(super) struct Auto {
    cpu: Engine,
    plan: Plan,
    /// Why not, if the accelerator cannot run the program.
    other: OnceLock<Result<Engine, String>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What calls were found to take on either side.
    known: HashMap<Key, (Duration, Duration)>,
    /// What the accelerator would have saved so far.
    missed: Duration,
    /// How the last call was decided.
    last: Option<Choice>,
}

/// More kinds of calls than this are estimated again.
const KNOWN: usize = 1000;

/// What an estimate depends on: the entry point, the scalars and the shapes.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    entry: String,
    args: Vec<KeyOf>,
}

#[derive(PartialEq, Eq, Hash)]
enum KeyOf {
    Scalar(Const),
    Shape(Vec<i64>),
}

impl Key {
    fn of(call: &Call<'_>) -> Self {
        let arg = |value: &Value| match value {
            Value::Scalar(c) => KeyOf::Scalar(*c),
            Value::Array(array) => KeyOf::Shape(array.shape.clone()),
        };
        Self {
            entry: call.entry.to_owned(),
            args: call.args.iter().map(arg).collect(),
        }
    }
}

impl Auto {
    pub(super) fn new(cpu: Engine, plan: Plan) -> Self {
        Self {
            cpu,
            plan,
            other: OnceLock::new(),
            state: Mutex::default(),
        }
    }
    pub(super) const fn cpu(&self) -> &Engine {
        &self.cpu
    }
    /// How the last call was decided.
    pub(super) fn last(&self) -> Option<Choice> {
        self.state().last.clone()
    }
    /// The most that the device of the last call does.
    pub(super) fn ceilings(
        &self,
        shared: &Shared,
        devices: &AutoDevices,
        profile: &plan::Profile,
    ) -> Option<Ceilings> {
        if self.last()?.target == Target::Cpu {
            return self.cpu.ceilings(shared, &devices.cpu, profile);
        }
        let (engine, other) = self.other(shared, devices).ok()?;
        engine.ceilings(shared, other, profile)
    }
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn call(
        &self,
        shared: &Shared,
        devices: &AutoDevices,
        call: Call<'_>,
    ) -> Result<Vec<Value>, RunError> {
        let mut choice = self.choose(devices, &call)?;
        if choice.target != Target::Cpu {
            match self.other(shared, devices) {
                Ok((engine, other)) => {
                    self.state().last = Some(choice);
                    return engine.call(shared, other, call);
                }
                Err(why) => (choice.target, choice.start) = (Target::Cpu, Err(why)),
            }
        }
        self.state().last = Some(choice);
        self.cpu.call(shared, &devices.cpu, call)
    }

    /// The accelerator and the program for it; or why there is none.
    fn other<'a>(
        &'a self,
        shared: &Shared,
        devices: &'a AutoDevices,
    ) -> Result<(&'a Engine, &'a Devices), String> {
        let opened = devices.other(shared)?;
        let compile = || Engine::of_plan(shared, opened, &self.plan, &mut CompileTimes::default());
        let compile = || compile().map_err(|why| why.reason());
        let engine = self.other.get_or_init(compile);
        Ok((engine.as_ref().map_err(String::clone)?, opened))
    }

    fn choose(&self, devices: &AutoDevices, call: &Call<'_>) -> Result<Choice, RunError> {
        let key = Key::of(call);
        let known = self.state().known.get(&key).copied();
        let (cpu, other) = match known {
            Some(known) => known,
            None => self.estimate(devices, call)?,
        };
        let accelerator = &devices.accelerator;
        let failed = |devices: &Result<Devices, String>| devices.as_ref().err().cloned();
        let start = match (self.other.get(), devices.other.get().and_then(failed)) {
            (Some(Ok(_)), _) => Ok(Duration::ZERO),
            (Some(Err(why)), _) => Err(why.clone()),
            (None, Some(why)) => Err(why),
            (None, None) => Ok(accelerator.start),
        };
        let mut state = self.state();
        if state.known.len() >= KNOWN {
            state.known.clear();
        }
        state.known.insert(key, (cpu, other));
        let saved = state.missed.saturating_add(cpu.saturating_sub(other));
        let is_better = other < cpu && start.as_ref().is_ok_and(|start| saved >= *start);
        state.missed = if is_better { Duration::ZERO } else { saved };
        Ok(Choice {
            target: if is_better {
                accelerator.target
            } else {
                Target::Cpu
            },
            cpu,
            other,
            start,
        })
    }

    /// What a call would take on the CPU and on the accelerator.
    fn estimate(
        &self,
        devices: &AutoDevices,
        call: &Call<'_>,
    ) -> Result<(Duration, Duration), RunError> {
        let (program, signatures) = &*self.plan;
        let signature = signatures.iter().find(|s| s.args.name == call.entry);
        let signature = signature.ok_or_else(|| {
            RunError::BadArguments(format!("there is no entry point called `{}`", call.entry))
        })?;
        let (here, there) = devices.costs();
        let mut args = call.args.clone();
        if call.ends.is_none() && signature.args.has_streams() {
            signature.args.without_streams(&mut args)?;
        }
        let estimate = |costs: &Costs, default: &dyn Fn(ThresholdKind) -> i64| {
            let number = |t: &Threshold| call.thresholds.number(t, default(t.kind));
            plan::estimate(program, signature, &args, costs, &number)
        };
        Ok((
            estimate(&here, &|kind| devices.cpu.threshold(kind))?,
            estimate(&there, &|kind| devices.threshold(kind, &there))?,
        ))
    }
}
