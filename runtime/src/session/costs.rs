//! What work costs on this computer's devices: measured with arrc's own programs, and kept in the user's cache directory.
//!
//! Other work on the computer makes everything take longer, and nothing makes it take less: the least that was ever measured is kept.
//! It is measured again where that may be more than it was: when a kernel does more than the most that is known, or after a week.

use super::engine::{Call, Devices, Engine};
use super::times::CompileTimes;
use super::{Options, Session, SessionError, Shared, on_big_stack};
use crate::loader::FileLoader;
use crate::target::Target;
use midend::device::Costs;
use midend::ir::scalar::Const;
use midend::ir::threshold::Forced;
use midend::plan::Profile;
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What is measured: steps of `n` points, one after another; a traversal of memory; kernels that do little; and operations that need
/// not wait for each other.
const PROGRAM: &str = "\
entry steps (n: i64) (k: i32): [n]i32 =
  map (\\i -> loop x = i32.i64 i for _j < k do x * 1664525 + 1013904223) (iota n)
entry traverse [n] (k: i64) (xs: [n]f32): [n]f32 =
  loop xs for _i < k do map2 (+) xs (rotate 1 xs)
entry operate (n: i64) (k: i32): [n]f32 =
  let f = \\x -> f32.fma x 0.999f32 0.5f32
  in map (\\i ->
            let x = f32.i64 (i & 1023)
            let (a, b, c, d) =
              loop (a, b, c, d) = (x, x + 1, x + 2, x + 3) for _j < k do (f a, f b, f c, f d)
            in a + b + c + d)
         (iota n)
";

/// Operations of a step of the loop in `steps`, as the estimate counts them.
const STEPS: f64 = 3.0;
/// Operations of a step of the loop in `operate`.
const OPERATIONS: f64 = 8.0;
/// Bytes that `traverse` moves for an element: two are read and one is written.
const BYTES: f64 = 12.0;
/// Host code is interpreted: about so long for a statement.
const HOST: f64 = 50e-9;

/// What is known of the devices of this computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Store {
    /// What measured: others measure differently.
    version: String,
    /// By the name of the device.
    pub devices: BTreeMap<String, Kept>,
    /// The name of the accelerator that was used last.
    accelerator: Option<String>,
    /// The name of the CPU.
    cpu: Option<String>,
}

/// What was measured of a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// What work costs.
    #[serde(with = "Fields")]
    pub costs: Costs,
    /// The most operations in a second.
    pub peak: f64,
    /// When it was measured last, in seconds since 1970.
    #[serde(default)]
    measured: u64,
}

impl Kept {
    /// The best of two measurements.
    fn best(self, other: Self) -> Self {
        let (a, b) = (self.costs, other.costs);
        let step = a.step.min(b.step);
        // Steps of all points in a second: not both parts of it need be of one measurement.
        let rate = (a.width / a.step).max(b.width / b.step);
        Self {
            costs: Costs {
                host: a.host.min(b.host),
                launch: a.launch.min(b.launch),
                wait: a.wait.min(b.wait),
                transfer: a.transfer.min(b.transfer),
                byte: a.byte.min(b.byte),
                step,
                width: (rate * step).max(1.0),
            },
            peak: self.peak.max(other.peak),
            measured: self.measured.max(other.measured),
        }
    }
    fn ceilings(&self) -> Ceilings {
        Ceilings {
            bytes: 1.0 / self.costs.byte,
            operations: self.peak,
        }
    }
    /// Whether it should be measured again, where kernels did as much as `reached`. What stays in a cache is faster than memory
    /// however often that is measured: not more often than once an hour.
    fn is_doubtful(&self, reached: &Ceilings, now: u64) -> bool {
        let age = now.saturating_sub(self.measured);
        let most = self.ceilings();
        let exceeded = reached.bytes > most.bytes || reached.operations > most.operations;
        age > WEEK || exceeded && age > HOUR
    }
}

const HOUR: u64 = 3600;
const WEEK: u64 = 7 * 24 * HOUR;

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs())
}

/// The most that a device does in a second, as far as arrc's own programs found out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Bytes of its memory read and written.
    pub bytes: f64,
    /// Operations, counted in additions.
    pub operations: f64,
}

impl Ceilings {
    /// The most that kernels of a run did.
    fn reached(profile: &Profile) -> Self {
        let mut most = Self {
            bytes: 0.0,
            operations: 0.0,
        };
        for work in &profile.work {
            let seconds = work.time.as_secs_f64().max(1e-9);
            most.bytes = most.bytes.max(work.effort.bytes as f64 / seconds);
            most.operations = most.operations.max(work.effort.operations as f64 / seconds);
        }
        most
    }
}

/// Those of a device that has run this, measured if they are not known or in doubt; nothing if they cannot be.
pub(super) fn ceilings(shared: &Shared, devices: &Devices, profile: &Profile) -> Option<Ceilings> {
    let mut store = Store::read();
    let name = devices.name();
    let reached = Ceilings::reached(profile);
    let known = store.devices.get(&name);
    if known.is_none_or(|kept| kept.is_doubtful(&reached, now())) {
        // What was known before is better than nothing.
        if store.measure(shared, devices).is_ok() {
            store.write();
        }
    }
    store.devices.get(&name).map(Kept::ceilings)
}

/// How [`Costs`] are written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Costs")]
struct Fields {
    host: f64,
    launch: f64,
    wait: f64,
    transfer: f64,
    byte: f64,
    step: f64,
    width: f64,
}

/// Those of a CPU with so many cores, until they are measured.
fn typical_cpu() -> Costs {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    Costs {
        host: HOST,
        launch: 1e-6,
        wait: 0.0,
        transfer: 0.0,
        byte: 0.1e-9,
        step: 0.5e-9,
        width: 4.0 * cores,
    }
}

/// Those of a GPU, until they are measured.
const TYPICAL_GPU: Costs = Costs {
    host: HOST,
    launch: 5e-6,
    wait: 20e-6,
    transfer: 0.2e-9,
    byte: 0.002e-9,
    step: 4e-9,
    width: 20_000.0,
};

impl Store {
    /// The file, if there is a place for it.
    pub fn file() -> Option<PathBuf> {
        Some(crate::directories::cache()?.join("costs.json"))
    }
    /// What was measured before by this version of arrc; nothing if that cannot be read.
    pub fn read() -> Self {
        let text = Self::file().and_then(|file| std::fs::read_to_string(file).ok());
        let store: Option<Self> = text.and_then(|text| serde_json::from_str(&text).ok());
        let current = Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        };
        store
            .filter(|store| store.version == current.version)
            .unwrap_or(current)
    }
    /// Keeps it, if it can be kept: it is measured again otherwise.
    fn write(&self) {
        let Some(file) = Self::file() else {
            return;
        };
        let directory = file.parent().map(std::fs::create_dir_all);
        if let (Some(Ok(())), Ok(text)) = (directory, serde_json::to_string_pretty(self)) {
            // Another process may read it: it is there as a whole or not at all.
            let draft = file.with_extension(format!("{}.draft", std::process::id()));
            let written = std::fs::write(&draft, text + "\n");
            if written
                .and_then(|()| std::fs::rename(&draft, &file))
                .is_err()
            {
                // It may never have been made.
                let _ = std::fs::remove_file(&draft);
            }
        }
    }
    fn get(&self, name: Option<&String>) -> Option<Costs> {
        Some(self.devices.get(name?)?.costs)
    }
    /// Those of the CPU and of the accelerator that was used last.
    pub(super) fn pair(&self) -> (Costs, Costs) {
        (
            self.get(self.cpu.as_ref()).unwrap_or_else(typical_cpu),
            self.get(self.accelerator.as_ref()).unwrap_or(TYPICAL_GPU),
        )
    }
}

/// The costs of the CPU and of an accelerator, measured if they are not known.
pub(super) fn of(shared: &Shared, cpu: &Devices, other: &Devices) -> (Costs, Costs) {
    let before = Store::read();
    let mut store = before.clone();
    for devices in [cpu, other] {
        if !store.devices.contains_key(&devices.name()) {
            // What cannot be measured stays as it is with others.
            let _ = store.measure(shared, devices);
        }
    }
    (store.cpu, store.accelerator) = (Some(cpu.name()), Some(other.name()));
    if store != before {
        store.write();
    }
    store.pair()
}

impl Store {
    fn measure(&mut self, shared: &Shared, devices: &Devices) -> Result<(), RunError> {
        let found = measure(shared, devices)?;
        let name = devices.name();
        let before = self.devices.get(&name).copied();
        let kept = before.map_or(found, |before| before.best(found));
        self.devices.insert(name, kept);
        Ok(())
    }
}

/// Measures what work costs on a target that has a device, and keeps it.
pub fn measure_costs(target: Target) -> Result<(), SessionError> {
    match target {
        Target::Cpu | Target::Ptx | Target::PtxEmu => {}
        Target::Auto | Target::Interp => {
            return Err(SessionError(format!(
                "{target} is no device to be measured"
            )));
        }
    }
    let session = Session::new(Options {
        target,
        ..Options::default()
    })?;
    let shared = &session.shared;
    let mut store = Store::read();
    let measured = store.measure(shared, &shared.devices);
    measured.map_err(|why| SessionError(why.to_string()))?;
    store.write();
    Ok(())
}

/// Measures what work costs on a device.
fn measure(shared: &Shared, devices: &Devices) -> Result<Kept, RunError> {
    on_big_stack(|| {
        let mut loader = FileLoader::new();
        let file = loader.add_text("costs.fut", PROGRAM);
        let front = frontend::compile(file, &mut loader)
            .map_err(|_| RunError::Internal(String::from("the measuring program is wrong")))?;
        let mut times = CompileTimes::default();
        let plan = super::engine::plan(shared, front.program, &mut times)?;
        let engine = Engine::of_plan(shared, devices, &plan, &mut times)?;
        let meter = Meter {
            shared,
            devices,
            engine,
        };
        let costs = meter.costs()?;
        Ok(Kept {
            costs,
            peak: meter.peak()?,
            measured: now(),
        })
    })
}

/// A call of which nothing is to be told.
fn plain(entry: &str, args: Vec<Value>) -> Call<'_> {
    Call {
        entry,
        args,
        thresholds: const { &Forced::new() },
        counts: None,
        profile: None,
        ends: None,
    }
}

/// The arguments of `traverse`.
fn traversal(times: i64, len: usize) -> Vec<Value> {
    let array = ArrayValue {
        shape: vec![len as i64],
        data: Data::F32(vec![1.0; len]),
    };
    vec![Value::Scalar(Const::I64(times)), Value::Array(array)]
}

struct Meter<'a> {
    shared: &'a Shared,
    devices: &'a Devices,
    engine: Engine,
}

impl Meter<'_> {
    /// The shortest time of some calls, in seconds, after one that may compile.
    fn time(&self, entry: &str, args: &[Value]) -> Result<f64, RunError> {
        const TIMES: usize = 4;
        let mut best = Duration::MAX;
        for run in 0..TIMES {
            let call = plain(entry, args.to_vec());
            let start = Instant::now();
            self.engine.call(self.shared, self.devices, call)?;
            if run > 0 {
                best = best.min(start.elapsed());
            }
        }
        Ok(best.as_secs_f64())
    }
    fn steps(&self, points: i64, steps: i32) -> Result<f64, RunError> {
        let args = [Const::I64(points), Const::I32(steps)].map(Value::Scalar);
        self.time("steps", &args)
    }
    fn traverse(&self, times: i64, len: usize) -> Result<f64, RunError> {
        self.time("traverse", &traversal(times, len))
    }
    /// How long a kernel takes that traverses an array, without bringing it there, in seconds.
    fn kernel(&self, len: usize) -> Result<f64, RunError> {
        self.longest("traverse", traversal(5, len))
    }
    /// How long the longest kernel of a call takes, in seconds.
    fn longest(&self, entry: &str, args: Vec<Value>) -> Result<f64, RunError> {
        let mut profile = Profile::default();
        let call = Call {
            profile: Some(&mut profile),
            ..plain(entry, args)
        };
        self.engine.call(self.shared, self.devices, call)?;
        let each = profile
            .work
            .iter()
            .map(|work| work.time.as_secs_f64() / work.times.max(1) as f64);
        Ok(each.fold(0.0, f64::max))
    }

    /// The most operations in a second: of so many points that all of the device is at work, and long enough to be seen.
    fn peak(&self) -> Result<f64, RunError> {
        const POINTS: i64 = 1 << 18;
        const LONG: f64 = 0.02;
        let seconds = |steps: i32| -> Result<f64, RunError> {
            let args = [Const::I64(POINTS), Const::I32(steps)].map(Value::Scalar);
            Ok(self.longest("operate", args.to_vec())?.max(1e-9))
        };
        let mut steps = 100;
        // The first time, the kernel may be compiled.
        seconds(steps)?;
        while seconds(steps)? < LONG && steps < 1_000_000 {
            steps *= 4;
        }
        let best = seconds(steps)?.min(seconds(steps)?);
        Ok(POINTS as f64 * f64::from(steps) * OPERATIONS / best)
    }

    fn costs(&self) -> Result<Costs, RunError> {
        // Long enough to be seen, short enough for a GPU's slowest thread.
        const LONG: i32 = 50_000;
        const SHORT: i32 = 1000;
        const MANY: i64 = 1 << 18;
        const LARGE: usize = 1 << 24;
        const LAUNCHES: i64 = 65;
        let positive = |seconds: f64| seconds.max(1e-15);
        let smallest = self.steps(1, 1)?;
        let step = positive(self.steps(1, LONG)? - smallest) / (STEPS * f64::from(LONG));
        let all = positive(self.steps(MANY, SHORT)? - smallest);
        let width = (MANY as f64 * f64::from(SHORT) * STEPS * step / all).max(1.0);
        let few = self.traverse(1, 1024)?;
        let launch = positive(self.traverse(LAUNCHES, 1024)? - few) / (LAUNCHES - 1) as f64;
        let one = self.traverse(1, LARGE)?;
        let elements = LARGE as f64;
        let each = positive(self.kernel(LARGE)? - launch);
        // The array is brought there and back.
        let transfer = (one - each - smallest).max(0.0) / (elements * 8.0);
        Ok(Costs {
            host: HOST,
            launch,
            wait: smallest,
            transfer,
            byte: each / (elements * BYTES),
            step,
            width,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(step: f64, width: f64, byte: f64, peak: f64) -> Kept {
        Kept {
            costs: Costs {
                step,
                width,
                byte,
                ..typical_cpu()
            },
            peak,
            measured: 1_000_000,
        }
    }

    #[test]
    fn the_best_that_was_ever_measured_is_kept() {
        let quiet = kept(1e-9, 8.0, 0.1e-9, 80e9);
        // Half of the cores were busy, and then the other half.
        let busy = kept(2e-9, 8.0, 0.05e-9, 40e9);
        let best = quiet.best(busy);
        assert_eq!(best, busy.best(quiet));
        assert_eq!((best.costs.step, best.costs.byte), (1e-9, 0.05e-9));
        assert!((best.costs.width - 8.0).abs() < 1e-6 && best.peak == 80e9);
    }

    #[test]
    fn what_is_exceeded_or_old_is_in_doubt() {
        let known = kept(1e-9, 8.0, 0.1e-9, 80e9);
        let reached = |bytes, operations| Ceilings { bytes, operations };
        let less = reached(9e9, 70e9);
        assert!(!known.is_doubtful(&less, 1_000_000 + HOUR));
        assert!(known.is_doubtful(&less, 1_000_001 + WEEK));
        for more in [reached(11e9, 0.0), reached(0.0, 81e9)] {
            assert!(known.is_doubtful(&more, 1_000_001 + HOUR));
            assert!(!known.is_doubtful(&more, 1_000_000 + HOUR), "in a cache");
        }
    }
}
