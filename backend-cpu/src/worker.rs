//! What compiled code sees of the world: one [`Worker`] per thread and launch, with the flags it polls, its arena of
//! memory for work items, and the way to report a failed check.

use crate::arena::Piece;
use crate::buffer::Account;
use crate::emit::past::NEAR;
use midend::device::Stop;
use midend::interp::message::number;
use midend::ir::id::SpanId;
use midend::ir::scalar::Const;
use midend::ir::span::Spans;
use midend::ir::syntax::TrapKind;
use midend::ir::types::ScalarType;
use midend::trap::{RunError, Trap, trail};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A check in compiled code: what to say when it fails. Compiled code knows it by its address.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) kind: TrapKind,
    pub(crate) parts: Vec<SitePart>,
    pub(crate) span: SpanId,
}

/// A piece of the message.
#[derive(Debug)]
pub(crate) enum SitePart {
    Text(String),
    /// The next value of the record.
    Value(ScalarType),
}

/// Why a launch ends early.
#[derive(Debug)]
enum Failure {
    /// A check failed. The site is alive as long as the module, which outlives the launch.
    Check { site: *const Site, values: Vec<u64> },
    /// The arena could not grow.
    Memory { bytes: u64 },
}

// SAFETY: the pointer is to immutable data of the module.
unsafe impl Send for Failure {}

/// What all workers of a launch share.
pub(crate) struct Launch<'a> {
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    /// What workers have as theirs.
    pub(crate) past: AtomicU64,
    stop: &'a Stop,
    pub(crate) account: &'a Account,
}

impl<'a> Launch<'a> {
    pub(crate) const fn new(stop: &'a Stop, account: &'a Account) -> Self {
        Self {
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            past: AtomicU64::new(NEAR),
            stop,
            account,
        }
    }

    /// Whether work should not go on.
    pub(crate) fn over(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.stop.is_raised()
    }

    /// Records a failure if it is the first.
    fn fail(&self, failure: Failure) {
        let mut record = self
            .failure
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if record.is_none() {
            *record = Some(failure);
        }
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Reports running out of memory.
    pub(crate) fn exhausted(&self, bytes: u64) {
        self.fail(Failure::Memory { bytes });
    }

    /// What the launch came to.
    pub(crate) fn outcome(self, spans: &Spans) -> Result<(), RunError> {
        let record = self
            .failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match record {
            None if self.stop.is_raised() => Err(RunError::Interrupted),
            None => Ok(()),
            Some(Failure::Memory { bytes }) => Err(self.account.exhausted(bytes)),
            Some(Failure::Check { site, values }) => {
                // SAFETY: sites live in the module, which the launch borrows.
                let site = unsafe { &*site };
                Err(RunError::Trap(Trap {
                    kind: site.kind,
                    message: message(site, &values),
                    trail: trail(spans, site.span),
                }))
            }
        }
    }
}

/// The text of a failed check.
fn message(site: &Site, values: &[u64]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    for part in &site.parts {
        match part {
            SitePart::Text(fixed) => text.push_str(fixed),
            SitePart::Value(ty) => {
                let slot = values.next().copied().unwrap_or(0);
                text.push_str(&number(Const::from_slot(*ty, slot)));
            }
        }
    }
    text
}

/// What one thread needs to run compiled code of one launch. Compiled code reads the first fields by offset.
#[repr(C)]
pub(crate) struct Worker<'a> {
    /// The flag raised from outside.
    pub(crate) stop: *const u8,
    /// The flag of the launch, raised by a failure.
    pub(crate) failed: *const u8,
    /// The lowest address that the stack may reach.
    pub(crate) stack_limit: usize,
    /// The first free byte of the arena.
    pub(crate) top: *mut u8,
    /// One past the last byte of the arena's current piece.
    pub(crate) end: *mut u8,
    /// The bits that addresses must not have at which results are stored past the caches ([`crate::emit::past`]).
    pub(crate) past: u64,
    /// How many points behind those at hand its next ones probably are, in a scan.
    pub(crate) next: i64,
    /// What all workers of the launch share.
    pub(crate) launch: &'a Launch<'a>,
    /// The pieces of the arena; the one in use is last.
    pub(crate) pieces: Vec<Piece>,
}

/// Stack that compiled code leaves to the Rust code that it calls.
const RESERVE: usize = 128 << 10;
/// What is assumed of a stack whose extent is not known.
const ASSUMED: usize = 512 << 10;

impl<'a> Worker<'a> {
    /// A worker with an empty arena, for use on this thread.
    pub(crate) fn new(launch: &'a Launch<'a>) -> Self {
        let local = 0u8;
        let here = std::hint::black_box(&raw const local) as usize;
        let left = stacker::remaining_stack().unwrap_or(ASSUMED);
        Self {
            stop: launch.stop.as_ptr(),
            failed: launch.failed.as_ptr().cast(),
            stack_limit: here.saturating_sub(left.saturating_sub(RESERVE)),
            top: std::ptr::null_mut(),
            end: std::ptr::null_mut(),
            past: launch.past.load(Ordering::Relaxed),
            next: 0,
            launch,
            pieces: Vec::new(),
        }
    }
}

/// Called by compiled code when a check fails.
///
/// # Safety
/// The worker and the site are alive; `values` holds one slot per value of the site.
pub(crate) unsafe extern "C" fn trap(
    worker: *mut Worker<'_>,
    site: *const Site,
    values: *const u64,
) {
    // SAFETY: promised by the caller.
    let (worker, parts) = unsafe { (&*worker, &(*site).parts) };
    let count = parts
        .iter()
        .filter(|part| matches!(part, SitePart::Value(_)))
        .count();
    // SAFETY: promised by the caller.
    let values = (0..count)
        .map(|i| unsafe { values.add(i).read() })
        .collect();
    worker.launch.fail(Failure::Check { site, values });
}

/// Called by compiled code to copy longer contiguous runs.
///
/// # Safety
/// Both sides hold `bytes` bytes.
pub(crate) unsafe extern "C" fn copy_bytes(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: promised by the caller; the two may be the same memory.
    unsafe { std::ptr::copy(src, dst, bytes) };
}

/// Called by compiled code to copy results that it makes one after the other to where they go, from a strip in which each has the place in a line of
/// the cache that it will have. If they are stored past the caches, a line that is not full yet stays in the strip, at its beginning, unless these
/// are the last ones. The first of all go to `begin`.
///
/// # Safety
/// The worker is alive, both sides hold `bytes` bytes and have none in common, and the strip begins with the line that `src` is in.
pub(crate) unsafe extern "C" fn copy_past(
    worker: *const Worker<'_>,
    begin: *const u8,
    dst: *mut u8,
    src: *mut u8,
    bytes: usize,
    last: u64,
) {
    // SAFETY: promised by the caller.
    unsafe {
        if (*worker).past == NEAR {
            return std::ptr::copy_nonoverlapping(src, dst, bytes);
        }
        let before = dst as usize % LINE;
        let (dst, src) = (dst.wrapping_sub(before), src.sub(before));
        let bytes = before + bytes;
        let lines = bytes / LINE * LINE;
        // What others store.
        let mut at = (begin as usize).saturating_sub(dst as usize);
        let copy = |from: usize, to: usize| {
            std::ptr::copy_nonoverlapping(src.add(from), dst.wrapping_add(from), to - from);
        };
        if lines > 0 && at > 0 {
            copy(at, LINE);
            at = LINE;
        }
        while at < lines {
            copy_line(dst.add(at), src.add(at));
            at += LINE;
        }
        if last != 0 {
            copy(at, bytes.max(at));
        } else if lines > 0 {
            std::ptr::copy_nonoverlapping(src.add(lines), src, bytes - lines);
        }
    }
}

/// Bytes of a line of the cache.
pub(crate) const LINE: usize = 64;

/// Copies to a line of the cache, past it where there are instructions for that.
///
/// # Safety
/// Both sides hold a line; the first is one.
unsafe fn copy_line(dst: *mut u8, src: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: promised by the caller; all processors of the kind have these registers.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (dst, src) = (dst.cast::<__m128i>(), src.cast::<__m128i>());
        let parts: [_; 4] = std::array::from_fn(|k| _mm_loadu_si128(src.add(k)));
        for (k, part) in parts.into_iter().enumerate() {
            _mm_stream_si128(dst.add(k), part);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: promised by the caller.
    unsafe {
        std::ptr::copy_nonoverlapping(src, dst, LINE);
    }
}
