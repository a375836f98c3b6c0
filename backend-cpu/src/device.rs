//! The device: options, the pool of threads, and the interface of the plan.

use crate::apart::Apart;
use crate::buffer::{Account, Buffer};
use crate::foreign::Foreign;
use crate::module::Module;
use crate::target::Target;
use crate::team::Team;
use crate::{copy, launch};
use midend::device::{Arg, Device, Properties, Steps, Stop, Strided};
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::threshold::{INFINITE, ThresholdKind, rows_shorter_than};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, OnceLock};

/// How the device is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Threads to work with; 0 for as many as there are cores.
    pub threads: usize,
    /// The most bytes of memory that programs may use at once.
    pub memory: Option<u64>,
    /// Bits of the widest vector registers to use, 128 or 256; 0 for the widest that the machine has. Results are the same.
    pub vector_bits: u32,
}

/// Sequential points per core that keep it busy nearly to the end. With more, versions for fewer points lose more by what they
/// store in between than they gain by sharing the end.
const POINTS: i64 = 4;
/// Rows of so many elements are summed faster in vector registers than by points that go through one each.
const SHORT: i64 = 16;
/// Points that are worked on together, whose arrays should be in a cache of a core.
const TOGETHER: i64 = 16;

/// Columns that are summed side by side.
const LANES: i64 = 64;

/// All cores of this machine.
pub struct CpuDevice {
    target: Target,
    pool: ThreadPool,
    team: Arc<Team>,
    account: Arc<Account>,
    /// How many times dearer points are taken to be than they are.
    dearer: f64,
}

/// Stack of each thread of the pool; only what is used takes memory.
const STACK: usize = 512 << 20;
/// Stack that is enough to run a program that calls nothing.
const ENOUGH: usize = 1 << 20;

impl CpuDevice {
    /// A device, with its threads started.
    pub fn new(options: Options) -> Result<Self, RunError> {
        let apart = Arc::new(Apart::new());
        let started = Arc::clone(&apart);
        let pool = ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .start_handler(move |_| started.started())
            .thread_name(|i| format!("arrc-{i}"))
            .stack_size(STACK)
            .build()
            .map_err(|why| RunError::Device(why.to_string()))?;
        let crowded = i64::try_from(pool.current_num_threads()).is_ok_and(|n| n > cores());
        Ok(Self {
            target: Target::new(options.vector_bits)?,
            pool,
            team: Arc::new(Team::new(crowded, apart)),
            account: Arc::new(Account::new(options.memory)),
            dearer: 1.0,
        })
    }

    /// The same, but that all maps are vectorised that can be, whether or not they gain by that.
    #[must_use]
    pub fn with_all_in_lanes(mut self) -> Self {
        self.target.all_in_lanes = true;
        self
    }

    /// The same device, which takes points to be so many times dearer than they are: tests have it share out small arrays.
    #[must_use]
    pub const fn with_dearer_points(mut self, times: f64) -> Self {
        self.dearer = times;
        self
    }

    /// The threads that kernels are compiled and run on.
    pub const fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    /// Runs a program: on this thread, which takes part in what kernels do, or on one of the pool, with a large stack, if functions of
    /// the program call each other. To hand a program to another thread and to wait for it takes as long as a small program.
    pub fn enter<T: Send>(&self, module: &Module, program: impl FnOnce() -> T + Send) -> T {
        let has_stack = || stacker::remaining_stack().is_some_and(|left| left >= ENOUGH);
        if module.is_shallow() && has_stack() {
            program()
        } else {
            self.pool.install(program)
        }
    }

    /// Moves so many bytes on threads of the pool, if they are many.
    fn moving<T: Send>(&self, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
        if bytes < copy::PARALLEL || rayon::current_thread_index().is_some() {
            work()
        } else {
            self.pool.install(work)
        }
    }

    /// The machine code of every kernel of a program, and of the functions that they call, as text for people, with names.
    pub fn assembly(&self, program: &Program<Mem>) -> Result<Vec<(String, String)>, RunError> {
        crate::assembly::assembly(program, &self.target)
    }
    /// Bytes of buffers in use now.
    pub fn memory_used(&self) -> u64 {
        self.account.used()
    }

    /// The most bytes that were in use at once.
    pub fn memory_peak(&self) -> u64 {
        self.account.peak()
    }
}

/// How many cores this process may use. To find out takes some fifty microseconds, for files of the system are read: it is done once.
fn cores() -> i64 {
    static CORES: OnceLock<i64> = OnceLock::new();
    *CORES.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        i64::try_from(cores).unwrap_or(1)
    })
}

/// The maker's name of this computer's processor, or what kind it is.
fn model() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| {
        let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = about.lines().find(|line| line.starts_with("model name"));
        let name = line.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
        name.unwrap_or_else(|| format!("CPU ({})", std::env::consts::ARCH))
    })
}

fn out_of_range(index: usize, len: usize) -> RunError {
    RunError::Device(format!("element {index} of a buffer of {len}"))
}

impl CpuDevice {
    /// Memory of somebody else as a buffer, without a copy.
    pub fn adopt(&self, foreign: Foreign) -> Result<Buffer, RunError> {
        Buffer::from_foreign(&self.account, foreign)
    }
}

impl Device for CpuDevice {
    type Buffer = Buffer;
    type Module = Module;

    fn properties(&self) -> Properties {
        let threads = self.pool.current_num_threads() as u64;
        Properties {
            name: format!("{}, {threads} threads", model()),
            parallelism: threads * 4,
            memory: self.account.limit(),
        }
    }

    fn threshold(&self, kind: ThresholdKind) -> i64 {
        // Threads asked for do not count: which version runs, and with it how floats are rounded, would depend on them.
        let cores = cores();
        match kind {
            ThresholdKind::Outer | ThresholdKind::Tiles => cores * POINTS,
            ThresholdKind::Columns => cores * POINTS * LANES,
            ThresholdKind::Rows => rows_shorter_than(SHORT),
            ThresholdKind::Arrays => TOGETHER,
            ThresholdKind::Alone => 1,
            // Lanes gather what points read far apart; a thread that meets a long row has nobody to share it with, and there are no
            // blocks of threads.
            ThresholdKind::Layout | ThresholdKind::Ragged | ThresholdKind::Block => INFINITE,
        }
    }

    fn compile(&self, program: &Program<Mem>) -> Result<Module, RunError> {
        if rayon::current_thread_index().is_some() {
            Module::new(program, &self.target)
        } else {
            self.pool.install(|| Module::new(program, &self.target))
        }
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<Buffer, RunError> {
        Buffer::new(&self.account, elem, len)
    }

    fn upload(&self, data: Data) -> Result<Buffer, RunError> {
        Buffer::from_data(&self.account, data)
    }

    fn download(&self, buffer: &Buffer, len: usize) -> Result<Data, RunError> {
        self.moving(len.saturating_mul(buffer.elem().bytes()), || {
            buffer.to_data(len)
        })
        .ok_or_else(|| out_of_range(len, buffer.len()))
    }

    fn hand_over(&self, buffer: Buffer, len: usize) -> Result<Data, RunError> {
        buffer
            .into_vector(len)
            .or_else(|buffer| self.download(&buffer, len))
    }

    fn load(&self, buffer: &Buffer, index: usize) -> Result<Const, RunError> {
        buffer
            .load(index)
            .ok_or_else(|| out_of_range(index, buffer.len()))
    }

    fn store(&self, buffer: &Buffer, index: usize, value: Const) -> Result<(), RunError> {
        buffer
            .store(index, value)
            .ok_or_else(|| out_of_range(index, buffer.len()))
    }

    fn copy(
        &self,
        shape: &[i64],
        dst: Strided<'_, Buffer>,
        src: Strided<'_, Buffer>,
    ) -> Result<(), RunError> {
        let elements = shape
            .iter()
            .fold(1i64, |n, extent| n.saturating_mul((*extent).max(0)));
        let elements = usize::try_from(elements).unwrap_or(usize::MAX);
        let bytes = elements.saturating_mul(dst.buffer.elem().bytes());
        self.moving(bytes, || copy::strided(shape, dst, src))
    }

    fn launch(
        &self,
        module: &Module,
        kernel: &str,
        args: &[Arg<Buffer>],
        stop: &Stop,
    ) -> Result<(), RunError> {
        launch::launch(
            (&self.pool, &self.team),
            (&self.account, self.dearer),
            module,
            kernel,
            args,
            None,
            stop,
        )
    }

    fn parts(&self, points: i64, bytes: u64) -> Option<usize> {
        launch::parts(
            self.pool.current_num_threads(),
            self.dearer,
            (points, bytes),
        )
    }

    fn in_parts(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        launch::in_parts((&self.pool, &self.team), count, work);
    }

    fn launch_part(
        &self,
        module: &Module,
        kernel: &str,
        args: &[Arg<Buffer>],
        points: (i64, i64),
        stop: &Stop,
    ) -> Result<(), RunError> {
        launch::launch(
            (&self.pool, &self.team),
            (&self.account, self.dearer),
            module,
            kernel,
            args,
            Some(points),
            stop,
        )
    }

    fn is_worth_steps(&self, rank: usize, bytes: u64) -> bool {
        let threads = self.pool.current_num_threads();
        launch::is_worth(threads, self.dearer, (rank, bytes))
    }

    fn steps(
        &self,
        module: &Module,
        kernel: &str,
        steps: &Steps<'_, Buffer>,
        stop: &Stop,
    ) -> Result<bool, RunError> {
        launch::steps(
            (&self.pool, &self.team),
            (&self.account, self.dearer),
            module,
            kernel,
            steps,
            stop,
        )
    }

    fn synchronise(&self) -> Result<(), RunError> {
        Ok(())
    }
}
