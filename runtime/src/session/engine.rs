//! What runs a compiled program: one variant per target.

use super::auto::{Auto, AutoDevices};
use super::costs::{self, Ceilings};
use super::times::{CompileTimes, PassTime};
use super::{Options, Shared, on_big_stack};
use crate::stream::Adaptive;
use crate::target::Target;
use backend_cpu::CpuDevice;
use backend_ptx::{CudaDevice, EmuDevice, GpuOptions, KernelStore};
use midend::device::Device;
use midend::driver::{Broken, Driver, Event};
use midend::interp;
use midend::ir::mem::Mem;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, Threshold, ThresholdKind};
use midend::pipeline;
use midend::plan::{self, Counts, Executable, Profile};
use midend::stream::{Fixed, Outside, Streams};
use midend::trace::Tracer;
use midend::trap::RunError;
use midend::value::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The devices that a session has opened.
pub(super) enum Devices {
    /// The interpreter needs none.
    Interp,
    Cpu(Box<CpuDevice>),
    Ptx(Box<Gpu>),
    /// Every call has a device of its own, with these properties.
    PtxEmu(backend_ptx::Options),
    /// The CPU, and an accelerator that is opened when it is needed.
    Auto(Box<AutoDevices>),
}

/// A GPU, for one call at a time: failures of kernels are noticed later, by whoever waits.
pub(super) struct Gpu {
    pub(super) device: CudaDevice,
    pub(super) turn: Mutex<()>,
}

impl Devices {
    /// Opens what the target needs.
    pub(super) fn open(options: &Options) -> Result<Self, RunError> {
        Self::open_one(options.target, options)
    }
    /// Opens what this target needs.
    pub(super) fn open_one(target: Target, options: &Options) -> Result<Self, RunError> {
        match target {
            Target::Auto => AutoDevices::open(options),
            Target::Interp => Ok(Self::Interp),
            Target::Cpu => {
                let device = CpuDevice::new(backend_cpu::Options {
                    threads: options.threads.unwrap_or(0),
                    memory: options.memory_limit,
                    vector_bits: options.vector_bits.unwrap_or(0),
                })?;
                Ok(Self::Cpu(Box::new(device)))
            }
            Target::Ptx => Ok(Self::Ptx(Box::new(Gpu {
                device: CudaDevice::open(GpuOptions {
                    number: options.device,
                    memory: options.memory_limit,
                    kernels: kernel_store(),
                })?,
                turn: Mutex::default(),
            }))),
            Target::PtxEmu => Ok(Self::PtxEmu(backend_ptx::Options {
                fuel: options.cap.unwrap_or(u64::MAX),
                memory: options.memory_limit,
                ..backend_ptx::Options::default()
            })),
        }
    }
    /// What the device takes for enough of a kind of parallelism.
    pub(super) fn threshold(&self, kind: ThresholdKind) -> i64 {
        match self {
            Self::Interp => 0,
            Self::Cpu(device) => device.threshold(kind),
            Self::Ptx(gpu) => gpu.device.threshold(kind),
            Self::PtxEmu(options) => EmuDevice::new(*options).map_or(0, |d| d.threshold(kind)),
            Self::Auto(devices) => devices.cpu.threshold(kind),
        }
    }
    /// See [`super::Session::is_lost`].
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Interp | Self::Cpu(_) | Self::PtxEmu(_) => false,
            Self::Ptx(gpu) => gpu.device.is_lost(),
            Self::Auto(devices) => devices.is_lost(),
        }
    }
    /// What people call the device.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Interp => Target::Interp.to_string(),
            Self::Cpu(device) => device.properties().name,
            Self::Ptx(gpu) => gpu.device.properties().name,
            Self::PtxEmu(_) => Target::PtxEmu.to_string(),
            Self::Auto(devices) => devices.cpu.name(),
        }
    }
}

/// Where compiled kernels are kept, if there is a place for them.
pub(crate) fn kernel_store() -> Option<KernelStore> {
    let directory = crate::directories::cache()?.join("kernels");
    Some(KernelStore::new(&directory))
}

/// A program made ready for a target.
pub(super) enum Engine {
    Interp(Program<Soac>),
    Cpu(Box<Compiled<CpuDevice>>),
    Ptx(Box<Compiled<CudaDevice>>),
    PtxEmu(Box<Compiled<EmuDevice>>),
    Auto(Box<Auto>),
}

/// A plan, and the signatures of its entry points.
pub(super) type Plan = Arc<(Program<Mem>, Vec<plan::Signature>)>;

/// A plan for the host, and its kernels compiled.
pub(super) struct Compiled<D: Device> {
    host: Executable,
    kernels: D::Module,
    /// What both were made of, for profiles.
    plan: Plan,
    /// The text of the machine code, if it was asked for.
    assembly: Vec<(String, String)>,
}

/// A call of an entry point, and what its caller wants to know.
pub(super) struct Call<'a> {
    pub(super) entry: &'a str,
    pub(super) args: Vec<Value>,
    pub(super) thresholds: &'a Forced,
    /// Counts the work that the device is given.
    pub(super) counts: Option<&'a Counts>,
    /// Is told what time and memory are spent on.
    pub(super) profile: Option<&'a mut Profile>,
    /// Where sequences come from and go to; nothing if they are arguments and results.
    pub(super) ends: Option<&'a dyn Outside>,
}

/// Chooses the chunks of a call.
struct Chunks {
    fixed: Option<Fixed>,
    adaptive: Adaptive,
}

impl Chunks {
    fn new(shared: &Shared) -> Self {
        Self {
            fixed: shared.options.chunk.map(Fixed),
            adaptive: Adaptive::new(shared.options.memory_limit, shared.options.limits_process),
        }
    }
    fn streams<'a>(&'a self, ends: Option<&'a dyn Outside>) -> Streams<'a> {
        let streams = match &self.fixed {
            Some(fixed) => Streams::new(fixed),
            None => Streams::new(&self.adaptive),
        };
        match ends {
            Some(ends) => streams.with_outside(ends),
            None => streams,
        }
    }
}

/// The text of the machine code of a plan.
type Assembly<'a> = &'a dyn Fn(&Program<Mem>) -> Result<Vec<(String, String)>, RunError>;

impl<D: Device> Compiled<D> {
    fn new(
        whole: &Plan,
        device: &D,
        times: &mut CompileTimes,
        assembly: Assembly<'_>,
    ) -> Result<Box<Self>, RunError> {
        let (plan, signatures) = &**whole;
        let start = Instant::now();
        let kernels = device.compile(plan)?;
        times.kernels += start.elapsed();
        Ok(Box::new(Self {
            kernels,
            assembly: assembly(plan)?,
            host: Executable::new(plan, signatures.clone()),
            plan: Arc::clone(whole),
        }))
    }

    fn call(&self, device: &D, shared: &Shared, call: Call<'_>) -> Result<Vec<Value>, RunError> {
        let Call {
            entry,
            args,
            thresholds,
            counts,
            profile,
            ends,
        } = call;
        let chunks = Chunks::new(shared);
        let options = plan::Options {
            counts,
            streams: chunks.streams(ends),
            ..options(shared, thresholds)
        };
        let Some(profile) = profile else {
            return self.host.run(device, &self.kernels, entry, args, &options);
        };
        let start = Instant::now();
        let clock = || start.elapsed();
        let on = (device, &self.kernels);
        let (results, found) =
            self.host
                .profile(on, entry, args, &options, (&self.plan.0, &clock))?;
        *profile = found;
        Ok(results)
    }

    /// The kernels.
    pub(super) const fn kernels(&self) -> &D::Module {
        &self.kernels
    }

    /// A call with values that are on the device, and stay there.
    pub(super) fn call_resident(
        &self,
        device: &D,
        shared: &Shared,
        (entry, thresholds): (&str, &Forced),
        args: Vec<plan::Resident<D::Buffer>>,
    ) -> Result<Vec<plan::Resident<D::Buffer>>, RunError> {
        let chunks = Chunks::new(shared);
        let options = plan::Options {
            streams: chunks.streams(None),
            ..options(shared, thresholds)
        };
        self.host
            .run_resident(device, &self.kernels, entry, args, &options)
    }
}

/// What every run of a session may use. The device counts and limits memory itself.
fn options<'a>(shared: &'a Shared, thresholds: &'a Forced) -> plan::Options<'a> {
    plan::Options {
        thresholds,
        tracer: Some(Tracer::new(&super::show)),
        ..plan::Options::new(&shared.stop)
    }
}

impl Engine {
    /// Compiles the program for the session's target.
    pub(super) fn new(
        shared: &Shared,
        program: Program<Soac>,
        times: &mut CompileTimes,
    ) -> Result<Self, RunError> {
        match &shared.devices {
            Devices::Interp => {
                with_driver(shared, times, |driver| driver.start(&program))?;
                Ok(Self::Interp(program))
            }
            devices @ (Devices::Cpu(_) | Devices::Ptx(_) | Devices::PtxEmu(_)) => {
                let plan = plan(shared, program, times)?;
                Self::of_plan(shared, devices, &plan, times)
            }
            Devices::Auto(devices) => {
                let plan = plan(shared, program, times)?;
                let cpu = Self::of_plan(shared, &devices.cpu, &plan, times)?;
                Ok(Self::Auto(Box::new(Auto::new(cpu, plan))))
            }
        }
    }
    /// Compiles the kernels of a plan for these devices.
    pub(super) fn of_plan(
        shared: &Shared,
        devices: &Devices,
        plan: &Plan,
        times: &mut CompileTimes,
    ) -> Result<Self, RunError> {
        let none = |_: &Program<Mem>| Ok(Vec::new());
        match devices {
            Devices::Cpu(device) => {
                let assembly: Assembly<'_> = if shared.options.keep_assembly {
                    &|plan| device.assembly(plan)
                } else {
                    &none
                };
                Compiled::new(plan, device.as_ref(), times, assembly).map(Self::Cpu)
            }
            Devices::Ptx(gpu) => Compiled::new(plan, &gpu.device, times, &none).map(Self::Ptx),
            Devices::PtxEmu(options) => {
                let device = EmuDevice::new(*options)?;
                Compiled::new(plan, &device, times, &none).map(Self::PtxEmu)
            }
            Devices::Interp | Devices::Auto(_) => Err(foreign()),
        }
    }
    /// The program as it was given, if that is what runs.
    pub(super) fn nested(&self) -> Option<&Program<Soac>> {
        match self {
            Self::Interp(program) => Some(program),
            Self::Cpu(_) | Self::Ptx(_) | Self::PtxEmu(_) | Self::Auto(_) => None,
        }
    }
    pub(super) fn thresholds(&self) -> &[Threshold] {
        match self {
            Self::Interp(_) => &[],
            Self::Cpu(compiled) => compiled.host.thresholds(),
            Self::Ptx(compiled) => compiled.host.thresholds(),
            Self::PtxEmu(compiled) => compiled.host.thresholds(),
            Self::Auto(auto) => auto.cpu().thresholds(),
        }
    }
    /// The texts of kernels, by name, for devices of a capability; none if the target has no texts.
    pub(super) fn kernel_texts(&self, capability: u32) -> Vec<(String, String)> {
        match self {
            Self::Interp(_) => vec![],
            Self::Cpu(compiled) => compiled.assembly.clone(),
            Self::Ptx(compiled) => compiled.kernels.texts(capability),
            Self::PtxEmu(compiled) => compiled.kernels.texts(capability),
            Self::Auto(auto) => auto.cpu().kernel_texts(capability),
        }
    }
    /// The most that the device of the last call does.
    pub(super) fn ceilings(
        &self,
        shared: &Shared,
        devices: &Devices,
        profile: &Profile,
    ) -> Option<Ceilings> {
        match (self, devices) {
            (Self::Auto(auto), Devices::Auto(both)) => auto.ceilings(shared, both, profile),
            (Self::Cpu(_) | Self::Ptx(_), _) => costs::ceilings(shared, devices, profile),
            (Self::Interp(_) | Self::PtxEmu(_) | Self::Auto(_), _) => None,
        }
    }
    /// See [`super::Program::vector_bits`].
    pub(super) fn vector_bits(&self, kernel: &str) -> Option<u32> {
        match self {
            Self::Cpu(compiled) => Some(compiled.kernels.vector_bits(kernel)),
            Self::Interp(_) | Self::Ptx(_) | Self::PtxEmu(_) | Self::Auto(_) => None,
        }
    }
    /// See [`super::Program::scalar_because`].
    pub(super) fn scalar_because(&self, kernel: &str) -> Option<String> {
        match self {
            Self::Cpu(compiled) => compiled.kernels.scalar_because(kernel),
            Self::Interp(_) | Self::Ptx(_) | Self::PtxEmu(_) | Self::Auto(_) => None,
        }
    }
    /// Calls an entry point on the devices that the program was compiled for.
    pub(super) fn call(
        &self,
        shared: &Shared,
        devices: &Devices,
        call: Call<'_>,
    ) -> Result<Vec<Value>, RunError> {
        match (self, devices) {
            (Self::Interp(program), _) => {
                let tracer = Some(Tracer::new(&super::show));
                let mut streams = Streams::VARIED;
                let fixed = shared.options.chunk.map(Fixed);
                if let Some(fixed) = &fixed {
                    streams = Streams::new(fixed);
                }
                if let Some(ends) = call.ends {
                    streams = streams.with_outside(ends);
                }
                let limits = interp::Options {
                    tracer,
                    streams,
                    ..interp::Options::default()
                };
                interpret(program, shared, call.entry, call.args, limits)
            }
            (Self::Cpu(compiled), Devices::Cpu(device)) => {
                device.enter(&compiled.kernels, || compiled.call(device, shared, call))
            }
            (Self::Ptx(compiled), Devices::Ptx(gpu)) => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                let device = &gpu.device;
                on_big_stack(|| compiled.call(device, shared, call))
            }
            (Self::PtxEmu(compiled), Devices::PtxEmu(options)) => {
                let device = EmuDevice::new(*options)?;
                on_big_stack(|| compiled.call(&device, shared, call))
            }
            (Self::Auto(auto), Devices::Auto(devices)) => auto.call(shared, devices, call),
            (
                Self::Cpu(_) | Self::Ptx(_) | Self::PtxEmu(_) | Self::Auto(_),
                Devices::Interp
                | Devices::Cpu(_)
                | Devices::Ptx(_)
                | Devices::PtxEmu(_)
                | Devices::Auto(_),
            ) => Err(foreign()),
        }
    }
}

/// The failure of a program on devices that it was not compiled for.
pub(super) fn foreign() -> RunError {
    RunError::Internal(String::from(
        "a program was compiled for a device that its session has not",
    ))
}

/// Lowers a program to a plan.
pub(super) fn plan(
    shared: &Shared,
    program: Program<Soac>,
    times: &mut CompileTimes,
) -> Result<Plan, RunError> {
    with_driver(shared, times, |driver| pipeline::plan(program, driver)).map(Arc::new)
}

/// Runs passes as the session says. What the verifier objects to is a mistake of the compiler.
fn with_driver<T>(
    shared: &Shared,
    times: &mut CompileTimes,
    work: impl FnOnce(&mut Driver<'_>) -> Result<T, Broken>,
) -> Result<T, RunError> {
    let start = Instant::now();
    let clock = || start.elapsed();
    let mut tell = |event: Event<'_>| {
        match event {
            Event::Ran {
                pass, time, verify, ..
            } => times.passes.push(PassTime { pass, time, verify }),
            Event::Skipped { .. } | Event::Dump { .. } | Event::Remark(_) => {}
        }
        if let Some(observer) = &shared.observer {
            observer(event);
        }
    };
    work(&mut Driver::new(&shared.options.passes, &clock, &mut tell))
        .map_err(|broken| RunError::Internal(broken.to_string()))
}

/// Runs an entry point in the reference interpreter.
pub(super) fn interpret(
    program: &Program<Soac>,
    shared: &Shared,
    entry: &str,
    args: Vec<Value>,
    limits: interp::Options<'_>,
) -> Result<Vec<Value>, RunError> {
    let options = interp::Options {
        memory: shared.options.memory_limit,
        check: shared.options.check,
        claims: shared.options.claims,
        collisions: shared.options.collisions,
        stop: Some(&shared.stop),
        ..limits
    };
    on_big_stack(|| interp::run(program, entry, args, &options))
}
