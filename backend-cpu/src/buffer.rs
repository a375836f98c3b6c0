//! Memory of the CPU device: counted, aligned, accounted against a limit.

use crate::cache::Cache;
use crate::foreign::Foreign;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;
use midend::with_data;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Alignment of every allocation, a cache line.
pub(crate) const ALIGN: usize = 64;

/// The bytes in use on a device, and how many may be.
#[derive(Debug)]
pub(crate) struct Account {
    used: AtomicU64,
    peak: AtomicU64,
    limit: Option<u64>,
    cache: Cache,
}

impl Account {
    /// An account with nothing in use.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self {
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            limit,
            cache: Cache::default(),
        }
    }
    /// The limit, if there is one.
    pub(crate) const fn limit(&self) -> Option<u64> {
        self.limit
    }
    /// How many bytes more may be in use, if there is a limit.
    fn left(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_sub(self.used()))
    }
    /// Bytes in use now.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
    /// The most bytes that were in use at once.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
    /// Books `bytes`, unless that would pass the limit.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), RunError> {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.limit.is_some_and(|limit| used > limit) {
            self.give(bytes);
            return Err(self.exhausted(bytes));
        }
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(())
    }
    /// Returns `bytes` that were taken.
    pub(crate) fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
    /// The error for an allocation of `bytes`; the caller adds the place.
    pub(crate) const fn exhausted(&self, bytes: u64) -> RunError {
        RunError::OutOfMemory {
            bytes,
            limit: self.limit,
            trail: Vec::new(),
        }
    }
}

/// A counted reference to memory of the CPU device.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Memory>);

/// A piece of memory. Its contents are shared: whoever holds a name may read and write through the pointer, and the
/// plan says in which order.
#[derive(Debug)]
struct Memory {
    start: NonNull<u8>,
    elem: ScalarType,
    len: usize,
    booked: u64,
    owner: Owner,
    account: Arc<Account>,
}

/// What gives the memory back.
#[derive(Debug)]
enum Owner {
    /// Allocated here.
    Heap {
        /// Bytes of the block.
        size: usize,
    },
    /// Handed over by the caller as a vector; never touched through this field again but to hand it back or to drop it.
    Vector(Data),
    /// Allocated by somebody else, who takes it back when this is dropped.
    Foreign(Foreign),
}

// SAFETY: the memory is plain scalars; accesses from several threads are ordered by the plan, which launches one
// kernel after another and lets points of one kernel write to one place only where any value may win.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Buffer {
    /// Memory for `len` elements, without defined values.
    pub(crate) fn new(
        account: &Arc<Account>,
        elem: ScalarType,
        len: usize,
    ) -> Result<Self, RunError> {
        let bytes = len
            .checked_mul(elem.bytes())
            .filter(|bytes| *bytes <= isize::MAX as usize - 4 * ALIGN);
        let Some(bytes) = bytes else {
            return Err(account.exhausted(u64::MAX));
        };
        // A full cache line of slack at the end lets vector code overrun the last element.
        let size = Cache::size(bytes + ALIGN);
        account.take(size as u64)?;
        let Some(start) = account.cache.take(size, account.left()) else {
            account.give(size as u64);
            return Err(account.exhausted(size as u64));
        };
        Ok(Self(Arc::new(Memory {
            start,
            elem,
            len,
            booked: size as u64,
            owner: Owner::Heap { size },
            account: account.clone(),
        })))
    }

    /// Takes over the elements of `data` without copying them.
    pub(crate) fn from_data(account: &Arc<Account>, mut data: Data) -> Result<Self, RunError> {
        let (elem, len) = (data.elem(), data.len());
        let booked = (len * elem.bytes()) as u64;
        account.take(booked)?;
        let start = with_data!(&mut data, v => NonNull::from(v.as_mut_slice()).cast::<u8>());
        Ok(Self(Arc::new(Memory {
            start,
            elem,
            len,
            booked,
            owner: Owner::Vector(data),
            account: account.clone(),
        })))
    }

    /// Refers to memory of somebody else without copying it.
    pub(crate) fn from_foreign(account: &Arc<Account>, foreign: Foreign) -> Result<Self, RunError> {
        let (elem, len) = (foreign.elem(), foreign.len());
        let booked = (len * elem.bytes()) as u64;
        account.take(booked)?;
        Ok(Self(Arc::new(Memory {
            start: foreign.start(),
            elem,
            len,
            booked,
            owner: Owner::Foreign(foreign),
            account: account.clone(),
        })))
    }

    /// Whether the memory is somebody else's.
    pub fn is_foreign(&self) -> bool {
        matches!(self.0.owner, Owner::Foreign(_))
    }
    /// Whether the memory must not be written to.
    pub fn is_read_only(&self) -> bool {
        match &self.0.owner {
            Owner::Heap { .. } | Owner::Vector(_) => false,
            Owner::Foreign(foreign) => foreign.is_read_only(),
        }
    }
    /// The type of the elements.
    pub fn elem(&self) -> ScalarType {
        self.0.elem
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.len
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }
    /// The address of the first element.
    pub fn start(&self) -> *mut u8 {
        self.0.start.as_ptr()
    }

    /// The vector that the caller handed over, if this is the last reference to it and it has `len` elements; else the buffer again.
    pub(crate) fn into_vector(self, len: usize) -> Result<Data, Self> {
        if len != self.0.len || !matches!(self.0.owner, Owner::Vector(_)) {
            return Err(self);
        }
        let mut memory = Arc::try_unwrap(self.0).map_err(Self)?;
        match &mut memory.owner {
            Owner::Vector(data) => Ok(std::mem::replace(data, Data::Bool(Vec::new()))),
            Owner::Heap { .. } | Owner::Foreign(_) => Err(Self(Arc::new(memory))),
        }
    }

    /// The first `len` elements, or nothing if there are fewer.
    pub(crate) fn to_data(&self, len: usize) -> Option<Data> {
        if len > self.0.len {
            return None;
        }
        macro_rules! copied {
            ($($variant:ident: $ty:ty),*) => {
                match self.0.elem {
                    $(ScalarType::$variant => {
                        let mut elems = Vec::<$ty>::with_capacity(len);
                        // SAFETY: the memory holds at least `len` elements of this type; the vector has room for them.
                        unsafe {
                            crate::copy::bulk(
                                elems.as_mut_ptr().cast(),
                                self.start(),
                                len * size_of::<$ty>(),
                            );
                            elems.set_len(len);
                        }
                        Data::$variant(elems)
                    })*
                }
            };
        }
        Some(
            copied!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
            F16: half::f16, F32: f32, F64: f64, Bool: bool),
        )
    }

    /// The element at `index`, or nothing if it is out of range.
    pub(crate) fn load(&self, index: usize) -> Option<Const> {
        if index >= self.0.len {
            return None;
        }
        // SAFETY: the index was checked.
        Some(unsafe { load(self.0.elem, self.start(), index) })
    }

    /// Writes the element at `index`; nothing if it is out of range or of another type.
    pub(crate) fn store(&self, index: usize, value: Const) -> Option<()> {
        if index >= self.0.len || value.ty() != self.0.elem || self.is_read_only() {
            return None;
        }
        // SAFETY: index and type were checked.
        unsafe { store(self.start(), index, value) };
        Some(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.account.give(self.booked);
        match &self.owner {
            Owner::Heap { size } => {
                let left = self.account.left();
                // SAFETY: taken with this size, and this was the last reference.
                unsafe { self.account.cache.give(*size, self.start, left) };
            }
            Owner::Vector(_) | Owner::Foreign(_) => {}
        }
    }
}

/// Reads the element at `index` of memory of type `elem`.
///
/// # Safety
/// The memory holds such an element.
pub(crate) unsafe fn load(elem: ScalarType, start: *const u8, index: usize) -> Const {
    macro_rules! read {
        ($ty:ty) => {
            // SAFETY: promised by the caller.
            unsafe { start.cast::<$ty>().add(index).read_unaligned() }
        };
    }
    match elem {
        ScalarType::I8 => Const::I8(read!(i8)),
        ScalarType::I16 => Const::I16(read!(i16)),
        ScalarType::I32 => Const::I32(read!(i32)),
        ScalarType::I64 => Const::I64(read!(i64)),
        ScalarType::U8 => Const::U8(read!(u8)),
        ScalarType::U16 => Const::U16(read!(u16)),
        ScalarType::U32 => Const::U32(read!(u32)),
        ScalarType::U64 => Const::U64(read!(u64)),
        ScalarType::F16 => Const::F16(read!(u16)),
        ScalarType::F32 => Const::F32(read!(u32)),
        ScalarType::F64 => Const::F64(read!(u64)),
        ScalarType::Bool => Const::Bool(read!(u8) != 0),
    }
}

/// Writes an element.
///
/// # Safety
/// The memory holds elements of the constant's type, one at `index` among them.
pub(crate) unsafe fn store(start: *mut u8, index: usize, value: Const) {
    let bytes = value.ty().bytes();
    let slot = value.to_slot().to_le_bytes();
    // SAFETY: promised by the caller.
    unsafe { std::ptr::copy_nonoverlapping(slot.as_ptr(), start.add(index * bytes), bytes) };
}
