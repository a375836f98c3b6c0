//! The calls of NVIDIA's driver that a device needs, made safe: one context, one stream, on which everything happens in the
//! order in which it was asked for.
//!
//! Addresses are numbers, as kernels see them. Whoever holds one frees it once; work that was asked for before still finds it.
#![expect(
    unsafe_code,
    reason = "the driver is C, and what a kernel does to memory is beyond what Rust can check"
)]

mod module;
mod shelf;
mod small;
mod transfer;

use crate::device::Grid;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, sys};
use shelf::Shelf;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use transfer::{Beside, Chunks};

/// Why the driver did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// There is no driver, no device, or one too old; says which.
    Absent(String),
    /// No memory for so many bytes.
    Memory(u64),
    /// Anything else, in the words of the driver.
    Driver(String),
}

impl From<DriverError> for Failed {
    fn from(error: DriverError) -> Self {
        let text = |words: Result<&std::ffi::CStr, DriverError>| {
            words.map_or_else(|_| String::new(), |s| s.to_string_lossy().into_owned())
        };
        let (name, words) = (text(error.error_name()), text(error.error_string()));
        Self::Driver(format!("{words} ({name})"))
    }
}

impl Failed {
    /// Why there is no memory of so many bytes.
    fn of_memory(why: DriverError, bytes: usize) -> Self {
        match why {
            DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY) => Self::Memory(bytes as u64),
            DriverError(_) => why.into(),
        }
    }
}

/// The bytes of numbers or truth values, all of which are defined.
fn bytes_of<T: Copy>(data: &[T]) -> &[u8] {
    // SAFETY: they are so many bytes, and nobody changes them.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size_of_val(data)) }
}

/// Bytes that are reached by one access: atomic operations on a byte change the word around it.
const WORD: usize = 8;

/// The whole words of so many bytes.
fn in_words(bytes: usize) -> Result<usize> {
    let whole = bytes.max(1).checked_next_multiple_of(WORD);
    whole.ok_or(Failed::Memory(bytes as u64))
}

/// Memory without defined contents, from a stream of the current context; whole words of it.
fn alloc_in(stream: sys::CUstream, bytes: usize) -> Result<u64> {
    let whole = in_words(bytes)?;
    // SAFETY: the stream is that of the current context; the contents are not read before they are written.
    unsafe { result::malloc_async(stream, whole) }.map_err(|why| Failed::of_memory(why, bytes))
}

type Result<T, E = Failed> = std::result::Result<T, E>;

/// The bytes that can be read by way of pinned memory.
pub(super) const STAGED: usize = 4096;

/// Pinned memory of [`STAGED`] bytes and a flag of 8, to which a device copies without the driver's help.
#[derive(Debug)]
struct Staging {
    memory: *mut u8,
    /// The number of the last report.
    reports: u64,
}

// SAFETY: whoever holds the lock is alone with the memory, which any thread may use.
unsafe impl Send for Staging {}

/// A device that is open.
#[derive(Debug)]
pub(super) struct Gpu {
    context: Arc<CudaContext>,
    staging: Mutex<Staging>,
    /// Memory that the device's kernels use, or will soon.
    shelf: Mutex<Shelf>,
    /// Pinned memory for large transfers, once there was one.
    chunks: Mutex<Option<Chunks>>,
    /// The stream for transfers beside the work, once there was one.
    beside: Mutex<Option<Beside>>,
    /// What the device says of itself.
    pub(super) about: About,
}

/// What there is to know of a device.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// Maker's name of the model.
    pub(super) name: String,
    /// As in `sm_90`.
    pub(super) capability: u32,
    /// Streaming multiprocessors.
    pub(super) multiprocessors: u32,
    /// Threads that each of them holds at once.
    pub(super) threads: u32,
    /// Bytes of shared memory that a block can have.
    pub(super) shared: u32,
    /// Bytes of memory.
    pub(super) memory: u64,
}

/// What a kernel takes of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// Registers of 4 bytes.
    pub(super) registers: u32,
    /// Bytes of local memory.
    pub(super) local: u32,
}

/// A kernel, compiled for the device.
#[derive(Debug)]
pub(super) struct Function {
    module: sys::CUmodule,
    function: sys::CUfunction,
    context: Arc<CudaContext>,
}

// SAFETY: handles of modules and functions may be used by any thread that has made their context current, as every method
// of this file does first.
unsafe impl Send for Function {}
// SAFETY: as above; the driver locks for itself.
unsafe impl Sync for Function {}

impl Drop for Function {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the module was loaded into this context, and is unloaded here alone. A failure leaves it loaded.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // A device that has failed does nothing any more.
        let _ = self.clear_shelf().and_then(|()| self.wait());
        let taken = (lock(&self.chunks).take(), lock(&self.beside).take());
        if self.context.bind_to_thread().is_err() {
            // Without the context nothing can be given back.
            std::mem::forget(taken);
        } else {
            drop(taken);
            let staging = lock(&self.staging);
            // SAFETY: it came from `malloc_host`, and nobody reads it any more. A failure leaves it taken.
            let _ = unsafe { result::free_host(staging.memory.cast::<c_void>()) };
        }
    }
}

/// What a lock guards; who panicked while it was held has left it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many devices there are.
pub(super) fn count() -> Result<usize> {
    if !is_present() {
        return Err(Failed::Absent("no NVIDIA driver is installed".to_owned()));
    }
    let count = CudaContext::device_count();
    let none = |why: DriverError| Failed::Absent(format!("no NVIDIA GPU can be used: {why}"));
    Ok(usize::try_from(count.map_err(none)?).unwrap_or(0))
}

/// Whether there is a driver, and with it perhaps a GPU. `cudarc` looks for its library by 34 names, which takes more time than parsing a program;
/// drivers install it by these.
pub(super) fn is_present() -> bool {
    let names: &[&str] = if cfg!(windows) {
        &["nvcuda.dll"]
    } else {
        &["libcuda.so.1", "libcuda.so"]
    };
    // SAFETY: loads the library of the driver, whose constructors are the driver's own affair.
    let is_there = |name: &&str| unsafe { libloading::Library::new(*name) }.is_ok();
    names.iter().any(is_there)
}

impl Gpu {
    /// Opens the device of this number.
    pub(super) fn open(ordinal: usize) -> Result<Self> {
        let count = count()?;
        if ordinal >= count {
            return Err(Failed::Absent(match count {
                0 => "there is no NVIDIA GPU".to_owned(),
                1 => format!("there is no GPU {ordinal}: the only one has the number 0"),
                _ => format!(
                    "there is no GPU {ordinal}: they have the numbers 0 to {}",
                    count - 1
                ),
            }));
        }
        let none = |why: DriverError| Failed::Absent(format!("no NVIDIA GPU can be used: {why}"));
        let context = CudaContext::new(ordinal).map_err(none)?;
        if !context.has_async_alloc() {
            let why = "the GPU's driver does not have memory pools (version 11.2 or later has)";
            return Err(Failed::Absent(why.to_owned()));
        }
        let ask = |what| context.attribute(what).map(i32::unsigned_abs);
        use sys::CUdevice_attribute_enum as Attribute;
        let (major, minor) = context.compute_capability()?;
        let about = About {
            name: context.name()?,
            capability: (10 * major + minor).unsigned_abs(),
            multiprocessors: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            threads: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            shared: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            memory: context.total_mem()? as u64,
        };
        // SAFETY: the context is current; the memory is given back when the device is closed.
        let staging = unsafe { result::malloc_host(STAGED + WORD, 0) }?.cast::<u8>();
        // SAFETY: it has so many bytes.
        unsafe { staging.write_bytes(0, STAGED + WORD) };
        let gpu = Self {
            context,
            staging: Mutex::new(Staging {
                memory: staging,
                reports: 0,
            }),
            shelf: Mutex::default(),
            chunks: Mutex::default(),
            beside: Mutex::default(),
            about,
        };
        gpu.keep_memory()?;
        Ok(gpu)
    }

    /// Memory that is freed stays with this process, so that taking it again costs little.
    fn keep_memory(&self) -> Result<()> {
        let mut all = u64::MAX;
        // SAFETY: the device is that of the context; the attribute's value is 64 bits wide.
        unsafe {
            let pool = result::device::get_mem_pool(self.context.cu_device())?;
            let what = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            result::mem_pool::set_attribute(pool, what, (&raw mut all).cast::<c_void>())?;
        }
        Ok(())
    }

    /// The stream: that of the context.
    fn stream(&self) -> Result<sys::CUstream> {
        self.context.bind_to_thread()?;
        Ok(result::stream::null())
    }

    /// Memory of so many bytes, without defined contents.
    pub(super) fn alloc(&self, bytes: usize) -> Result<u64> {
        match self.try_alloc(bytes) {
            Err(Failed::Memory(_)) => {
                // What was freed may lie about in pieces, or wait for work to be done.
                self.trim()?;
                self.try_alloc(bytes)
            }
            other => other,
        }
    }

    fn try_alloc(&self, bytes: usize) -> Result<u64> {
        let whole = in_words(bytes)?;
        if let Some(address) = lock(&self.shelf).reuse(whole) {
            return Ok(address);
        }
        let address = alloc_in(self.stream()?, bytes)?;
        lock(&self.shelf).take(address, whole);
        Ok(address)
    }

    /// Gives memory that waits to be used again back to the pool.
    fn clear_shelf(&self) -> Result<()> {
        let stream = self.stream()?;
        for address in lock(&self.shelf).clear() {
            // SAFETY: it came from the pool, and nobody holds it. A failure leaves the memory taken.
            let _ = unsafe { result::free_async(address, stream) };
        }
        Ok(())
    }

    /// Gives all memory that nobody uses back to the device.
    fn trim(&self) -> Result<()> {
        self.clear_shelf()?;
        self.wait()?;
        // SAFETY: the device is that of the context, whose pool is always there.
        unsafe {
            let pool = result::device::get_mem_pool(self.context.cu_device())?;
            result::mem_pool::trim_to(pool, 0)?;
        }
        Ok(())
    }

    /// Gives memory back, once all that has been asked for is done.
    pub(super) fn free(&self, address: u64) {
        let leaves = lock(&self.shelf).give_back(address);
        if let (Some(address), Ok(stream)) = (leaves, self.stream()) {
            // SAFETY: the address came from the pool, and its holder has given it up. A failure leaves the memory taken.
            let _ = unsafe { result::free_async(address, stream) };
        }
    }

    /// Writes zeros.
    pub(super) fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        let stream = self.stream()?;
        if bytes > 0 {
            // SAFETY: the caller holds memory of so many bytes there.
            unsafe { result::memset_d8_async(address, 0, bytes, stream) }?;
        }
        Ok(())
    }

    /// Writes elements of this machine; `T` is a number or a truth value.
    pub(super) fn write<T: Copy>(&self, address: u64, data: &[T]) -> Result<()> {
        self.write_in(self.stream()?, address, bytes_of(data))
    }

    /// Reads elements, when all that has been asked for is done. `T` is a number.
    pub(super) fn read<T: Copy>(&self, data: &mut [T], address: u64) -> Result<()> {
        let stream = self.stream()?;
        let bytes = size_of_val(data);
        // SAFETY: elements are numbers: any bytes are some.
        let all = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast::<u8>(), bytes) };
        if let Some(read) = self.read_bulk(all, address) {
            return read;
        }
        if !data.is_empty() {
            // SAFETY: the caller holds memory of that size there, with elements of the type.
            unsafe { result::memcpy_dtoh_async(data, address, stream) }?;
        }
        self.wait()
    }

    /// Copies bytes from place to place.
    pub(super) fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        let stream = self.stream()?;
        if bytes > 0 {
            // SAFETY: the caller holds memory of that size at both places.
            unsafe { result::memcpy_dtod_async(to, from, bytes, stream) }?;
        }
        Ok(())
    }

    /// What a kernel takes.
    pub(super) fn usage(&self, function: &Function) -> Result<Usage> {
        use sys::CUfunction_attribute_enum as Attribute;
        self.context.bind_to_thread()?;
        let ask = |what| {
            // SAFETY: the module of the function is loaded.
            let value =
                unsafe { result::function::get_function_attribute(function.function, what) };
            value.map(i32::unsigned_abs)
        };
        Ok(Usage {
            registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            local: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        })
    }

    /// Lets launches give each block of a kernel so many bytes of shared memory, which is more than kernels may have by themselves.
    pub(super) fn allow_shared(&self, function: &Function, bytes: u32) -> Result<()> {
        use sys::CUfunction_attribute_enum as Attribute;
        self.context.bind_to_thread()?;
        let what = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: the module of the function is loaded.
        unsafe { result::function::set_function_attribute(function.function, what, bytes) }?;
        Ok(())
    }

    /// Gives every thread a stack of so many bytes, or leaves it the larger one that it has; the bytes that it has then.
    pub(super) fn make_stack(&self, bytes: u64) -> Result<u64> {
        let stack = sys::CUlimit::CU_LIMIT_STACK_SIZE;
        if (self.context.get_limit(stack)? as u64) < bytes {
            self.context.set_limit(stack, (bytes & !15) as usize)?;
        }
        Ok(self.context.get_limit(stack)? as u64)
    }

    /// Bytes of memory that nobody has taken.
    pub(super) fn free_memory(&self) -> Result<u64> {
        Ok(self.context.mem_get_info()?.0 as u64)
    }

    /// Starts a kernel of one parameter, an array of 64-bit slots.
    pub(super) fn launch(
        &self,
        function: &Function,
        threads: u32,
        Grid { blocks, shared }: Grid,
        slots: &mut [u64],
    ) -> Result<()> {
        let stream = self.stream()?;
        let parameter = slots.as_mut_ptr().cast::<c_void>();
        // SAFETY: the module is loaded; the driver copies the parameter, which is as long as the kernel says, before the
        // call returns; buffers in it are held by the caller, and freed in the order of the stream.
        unsafe {
            let grid = ((blocks, 1, 1), (threads, 1, 1));
            result::launch_kernel(
                function.function,
                grid.0,
                grid.1,
                shared,
                stream,
                &mut [parameter],
            )
        }?;
        Ok(())
    }

    /// Whether a kernel has failed in such a way that the driver refuses everything in this process from then on.
    pub(super) fn is_lost(&self) -> bool {
        // Nothing is asked for, so that only what stays can go wrong.
        let goes_on = [
            sys::CUresult::CUDA_SUCCESS,
            sys::CUresult::CUDA_ERROR_NOT_READY,
        ];
        self.state().is_none_or(|state| !goes_on.contains(&state))
    }

    /// Whether something that was asked for is not done yet.
    pub(super) fn is_busy(&self) -> bool {
        self.state() == Some(sys::CUresult::CUDA_ERROR_NOT_READY)
    }

    /// What the driver says of the stream; nothing without a context.
    fn state(&self) -> Option<sys::CUresult> {
        let stream = self.stream().ok()?;
        // SAFETY: the stream is that of the current context.
        Some(unsafe { sys::cuStreamQuery(stream) })
    }

    /// Waits until all that has been asked for is done.
    pub(super) fn wait(&self) -> Result<()> {
        let stream = self.stream()?;
        // SAFETY: the stream is that of the current context.
        unsafe { result::stream::synchronize(stream) }?;
        Ok(())
    }
}
