//! What runs kernels and holds memory: the emulator, or a GPU with its driver.

use crate::launch::Limits;
use crate::ptx;
use midend::device::Stop;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;

/// What a machine is.
#[derive(Clone, Debug)]
pub struct About {
    /// For people: maker and model.
    pub name: String,
    /// Threads that it works on at once.
    pub parallelism: u64,
    /// Bytes of memory, if limited.
    pub memory: Option<u64>,
}

/// Elements in memory.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where the first one is.
    pub address: u64,
    /// Their type.
    pub elem: ScalarType,
    /// How many there are.
    pub len: usize,
}

impl Place {
    /// How many bytes they take.
    pub const fn bytes(&self) -> usize {
        self.len * self.elem.bytes()
    }

    /// The elements, of their bytes.
    pub(crate) fn data(&self, bytes: &[u8]) -> Data {
        let mut data = Data::zeros(self.elem, self.len);
        for (i, bytes) in bytes.chunks_exact(self.elem.bytes()).enumerate() {
            let mut slot = [0; 8];
            slot[..bytes.len()].copy_from_slice(bytes);
            data.set(i, Const::from_slot(self.elem, u64::from_le_bytes(slot)));
        }
        data
    }
}

/// What a launch has.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// The number of blocks.
    pub blocks: u32,
    /// Bytes of shared memory that each of them is given, besides that of the kernel's own variables.
    pub shared: u32,
}

impl Grid {
    /// So many blocks, of kernels whose shared memory is all their own.
    pub const fn of(blocks: u32) -> Self {
        Self { blocks, shared: 0 }
    }
}

/// A machine. Whatever it is asked for happens in that order, perhaps later; what reads waits.
///
/// Addresses are numbers, as kernels see them. Whoever holds an address gives it back once, and stays within its memory.
pub trait Machine: Send + Sync {
    /// Whether it notices accesses that leave their array.
    const CHECKS: bool;
    /// A kernel, ready to be run.
    type Code: Send + Sync;
    /// Memory as it was.
    type Saved;

    /// What it is.
    fn about(&self) -> About;

    /// Which forms of launches suit it.
    fn limits(&self) -> Limits;

    /// Makes the kernel of a module ready.
    fn load(&self, module: &ptx::Module, kernel: &str) -> Result<Self::Code, RunError>;

    /// Memory for `len` elements, without defined values.
    fn alloc(&self, elem: ScalarType, len: usize) -> Result<u64, RunError>;

    /// Gives memory back.
    fn free(&self, address: u64);

    /// Writes zeros.
    fn zero(&self, address: u64, bytes: usize) -> Result<(), RunError>;

    /// Writes elements.
    fn write(&self, address: u64, data: &Data) -> Result<(), RunError>;

    /// Reads elements of some places, waiting once.
    fn read<const N: usize>(&self, places: [Place; N]) -> Result<[Data; N], RunError>;

    /// Copies bytes, whole elements; what is undefined stays so.
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError>;

    /// Remembers what is in memory of so many bytes.
    fn save(&self, address: u64, bytes: usize) -> Result<Self::Saved, RunError>;

    /// Puts memory back as it was.
    fn restore(&self, saved: Self::Saved) -> Result<(), RunError>;

    /// How deep calls in the kernel may be nested.
    fn depth(&self, code: &Self::Code) -> Result<u64, RunError>;

    /// Has stacks that are larger, if calls in the kernel may not be nested as deep as everywhere yet, and there is memory; whether they
    /// are.
    fn deepen(&self, _code: &Self::Code) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Runs a kernel whose parameters are slots of 8 bytes.
    fn run(
        &self,
        code: &Self::Code,
        grid: Grid,
        slots: &mut [u64],
        stop: &Stop,
    ) -> Result<(), RunError>;

    /// Whether something that was asked for is not done yet.
    fn is_busy(&self) -> bool;

    /// Memory with these elements, which come there beside what was asked for before; who uses the memory asks it to [arrive](Self::arrive)
    /// first, and so does who gives it back.
    fn put_ahead(&self, data: &Data) -> Result<u64, RunError>;

    /// All that is asked for from now on happens after what was put ahead is there.
    fn arrive(&self) -> Result<(), RunError>;

    /// Waits for all that was asked for.
    fn wait(&self) -> Result<(), RunError>;
}
