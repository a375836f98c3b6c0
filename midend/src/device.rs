//! What a back end is to the plan: a device that holds buffers and runs kernels.

mod strided;

pub use strided::{Axis, axes};

use crate::ir::mem::Mem;
use crate::ir::scalar::Const;
use crate::ir::syntax::Program;
use crate::ir::threshold::ThresholdKind;
use crate::ir::types::ScalarType;
use crate::trap::RunError;
use crate::value::Data;
use std::sync::atomic::{AtomicBool, Ordering};

/// A device. All methods may be called from several threads.
pub trait Device: Send + Sync {
    /// A counted reference to memory of the device. Clones share the memory; the last one frees it.
    type Buffer: Clone + Send + Sync;
    /// The kernels of one program, compiled.
    type Module: Send + Sync;

    /// What the device is and can do.
    fn properties(&self) -> Properties;

    /// How much parallelism of the kind is enough to keep the device busy.
    fn threshold(&self, kind: ThresholdKind) -> i64;

    /// Compiles every kernel of the program, and every function that kernels call. Kernels are known by their names.
    fn compile(&self, program: &Program<Mem>) -> Result<Self::Module, RunError>;

    /// Memory for `len` elements, without defined values. The caller adds the place to an out-of-memory error.
    fn alloc(&self, elem: ScalarType, len: usize) -> Result<Self::Buffer, RunError>;

    /// Memory holding the elements of `data`.
    fn upload(&self, data: Data) -> Result<Self::Buffer, RunError>;

    /// Whether it is at work on what it was asked for, if it works while the host goes on.
    fn is_busy(&self) -> Option<bool> {
        None
    }

    /// As [`Device::upload`], beside the work that was asked for before. Nobody may use the memory before [`Device::arrive`].
    fn upload_ahead(&self, data: &Data) -> Result<Self::Buffer, RunError> {
        self.upload(data.clone())
    }

    /// What was uploaded ahead is there for all that is asked for from now on.
    fn arrive(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// The first `len` elements. Waits for the work that writes them.
    fn download(&self, buffer: &Self::Buffer, len: usize) -> Result<Data, RunError>;

    /// As [`Device::download`], of memory that nobody reads any more: it may be handed over instead of being copied.
    fn hand_over(&self, buffer: Self::Buffer, len: usize) -> Result<Data, RunError> {
        self.download(&buffer, len)
    }

    /// One element. Waits for the work that writes it.
    fn load(&self, buffer: &Self::Buffer, index: usize) -> Result<Const, RunError>;

    /// Writes one element.
    fn store(&self, buffer: &Self::Buffer, index: usize, value: Const) -> Result<(), RunError>;

    /// Copies a strided box, as [`Mem::Copy`].
    fn copy(
        &self,
        shape: &[i64],
        dst: Strided<'_, Self::Buffer>,
        src: Strided<'_, Self::Buffer>,
    ) -> Result<(), RunError>;

    /// Runs a kernel of the module. `args` are the values of the variables free in the kernel that are not
    /// certificates, in ascending order of their identifiers.
    fn launch(
        &self,
        module: &Self::Module,
        kernel: &str,
        args: &[Arg<Self::Buffer>],
        stop: &Stop,
    ) -> Result<(), RunError>;

    /// In how many parts a loop over `points` that need nothing of each other ([`crate::analysis::apart`]) is to be run, a step of which goes through so
    /// many bytes in all; nothing if all points are to be in each step.
    fn parts(&self, _points: i64, _bytes: u64) -> Option<usize> {
        None
    }

    /// Does `work` for each of so many parts, several at the same time.
    fn in_parts(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// As [`Device::launch`], of a map over a regular space, for the points whose outermost index is at least the one number and below the other.
    fn launch_part(
        &self,
        _module: &Self::Module,
        _kernel: &str,
        _args: &[Arg<Self::Buffer>],
        _points: (i64, i64),
        _stop: &Stop,
    ) -> Result<(), RunError> {
        Err(RunError::Internal("a device without parts".to_owned()))
    }

    /// Whether [`Device::steps`] is worth trying where a step, over a space of so many dimensions, reads and writes so many bytes of what is carried.
    fn is_worth_steps(&self, _rank: usize, _bytes: u64) -> bool {
        false
    }

    /// Runs a kernel several times, each time on what it wrote the time before. Whether all is done; if not, nothing is said of what is in the
    /// memory for what steps write, and the steps may be run one by one, which also tells what fails in which of them.
    fn steps(
        &self,
        _module: &Self::Module,
        _kernel: &str,
        _steps: &Steps<'_, Self::Buffer>,
        _stop: &Stop,
    ) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Waits for all work, and reports failures not reported yet.
    fn synchronise(&self) -> Result<(), RunError>;
}

/// One side of a strided copy; offsets and strides in elements.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, B> {
    /// The memory.
    pub buffer: &'a B,
    /// Index of the first element.
    pub offset: i64,
    /// One stride per dimension of the box.
    pub strides: &'a [i64],
}

/// The strides, in elements, of a contiguous array in row-major order.
pub fn row_major_strides(shape: &[i64]) -> Vec<i64> {
    let mut next = 1_i64;
    let mut strides: Vec<i64> = (shape.iter().rev())
        .map(|extent| {
            let longer = next.saturating_mul(*extent);
            std::mem::replace(&mut next, longer)
        })
        .collect();
    strides.reverse();
    strides
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg<B> {
    /// A scalar.
    Scalar(Const),
    /// Memory.
    Buffer(B),
}

/// A kernel over a regular space that is run several times: in each step every point writes its own element of what is carried, which has the
/// point's row-major number, and reads of what the step before wrote only what is near ([`crate::analysis::stencil`]).
pub struct Steps<'a, B> {
    /// Arguments as for a launch, with what the first step reads.
    pub args: &'a [Arg<B>],
    /// What is carried.
    pub carried: &'a [Stepped<B>],
    /// The arguments that each step has anew, of its number: their places and what they are. Those of step 0 are among `args`, too.
    pub numbers: &'a dyn Fn(i64) -> Result<Vec<(usize, Const)>, RunError>,
    /// How many steps there are: two or more.
    pub times: i64,
    /// How far, in elements, what a point reads of what is carried is from its own element at most: for each read, numbers times the sizes of
    /// something. The element that is read is as many of each size away as the number says, or fewer, before or behind.
    pub far: &'a [Vec<(i64, i64)>],
}

impl<B> Steps<'_, B> {
    /// How far the farthest read is, if that is a number.
    pub fn reach(&self) -> Option<i64> {
        self.far.iter().try_fold(0, |reach: i64, read| {
            let far = read.iter().try_fold(0i64, |sum, (number, size)| {
                sum.checked_add(number.checked_mul(*size)?.checked_abs()?)
            });
            Some(reach.max(far?))
        })
    }
}

/// A buffer that steps hand on.
#[derive(Debug)]
pub struct Stepped<B> {
    /// Which argument is what a step reads, and which what it writes.
    pub from: usize,
    /// See above.
    pub to: usize,
    /// Memory for what steps write: that of steps 0, 2 and so on first.
    pub memory: [B; 2],
}

/// What a device is and can do; back ends fill in what passes and predicates ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// For people: maker and model.
    pub name: String,
    /// Points that can be worked on at once (lanes times cores).
    pub parallelism: u64,
    /// Bytes of memory, if limited.
    pub memory: Option<u64>,
}

/// What work takes on a device, in seconds: what an estimate of a call is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// An operation of host code.
    pub host: f64,
    /// Giving the device a kernel or a copy.
    pub launch: f64,
    /// Waiting for one element.
    pub wait: f64,
    /// Bringing a byte to the device or back.
    pub transfer: f64,
    /// Reading or writing a byte of the device's memory, when all of the device does.
    pub byte: f64,
    /// An operation of one point, alone.
    pub step: f64,
    /// How many points take no longer than one.
    pub width: f64,
}

impl Costs {
    /// Those of a device of which all is as dear, one point after another: to compare work with other work.
    pub const ONE: Self = Self {
        host: 1.0,
        launch: 1.0,
        wait: 1.0,
        transfer: 1.0,
        byte: 1.0,
        step: 1.0,
        width: 1.0,
    };
}

/// The flag by which a run is stopped from outside. Long kernels and host loops poll it.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A flag that is not raised.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }
    /// Asks the run to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Takes the request back, before the next run.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
    /// Whether the run should stop.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The address of the flag, for compiled code to poll: one byte, not zero when raised.
    pub const fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast::<u8>().cast_const()
    }
}
