//! The C library: what `include/arrc.h` declares. Values are residents of the runtime, arrays cross as tensors of DLPack, errors are kept for
//! the thread that made them, and no panic crosses.

mod error;
mod tensor;
mod value;

use arrc::session::{Options, Resident, Session};
use error::{Failure, Kind, guarded, status};
use midend::device::Stop;
use midend::ir::syntax::{Entry, EntryType};
use midend::value::leaf::leaves;
use std::ffi::{CStr, c_char};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `arrc_session`
pub struct CSession {
    inner: Session,
    calls: Arc<Calls>,
}

/// `arrc_program`
pub struct CProgram {
    inner: arrc::session::Program,
    calls: Arc<Calls>,
}

/// The calls of a session that are under way, and the flag that stops them.
struct Calls {
    stop: Arc<Stop>,
    count: Mutex<u64>,
}

impl Calls {
    fn count(&self) -> MutexGuard<'_, u64> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work of a call. The flag is lowered when no call is under way that should see it.
    fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut count = self.count();
            if *count == 0 {
                self.stop.lower();
            }
            *count += 1;
        }
        let done = work();
        *self.count() -= 1;
        done
    }
}

/// `arrc_value`
pub struct CValue {
    inner: Resident,
}

/// `arrc_options`
#[repr(C)]
pub struct COptions {
    target: *const c_char,
    device: u64,
    threads: u64,
    mem_limit: u64,
}

/// A text of C's.
///
/// # Safety
/// It ends with a zero, and lives as long as is said.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument("a text is NULL"));
    }
    // SAFETY: promised by the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::argument("a text is not UTF-8"))
}

/// See `arrc.h`.
#[unsafe(no_mangle)]
pub extern "C" fn arrc_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// See `arrc.h`.
///
/// # Safety
/// The options are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_session_new(options: *const COptions) -> *mut CSession {
    guarded(|| {
        let mut wanted = Options::default();
        // SAFETY: promised by the caller.
        if let Some(options) = unsafe { options.as_ref() } {
            if !options.target.is_null() {
                // SAFETY: likewise.
                let target = unsafe { text(options.target)? };
                wanted.target = target
                    .parse()
                    .map_err(|why: String| Failure::argument(&why))?;
            }
            let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            wanted.device = number(options.device);
            wanted.threads = Some(number(options.threads)).filter(|threads| *threads > 0);
            wanted.memory_limit = Some(options.mem_limit).filter(|limit| *limit > 0);
        }
        let inner = Session::new(wanted);
        let inner = inner.map_err(|why| Failure::new(Kind::Device, why.to_string()))?;
        let calls = Arc::new(Calls {
            stop: inner.stop(),
            count: Mutex::new(0),
        });
        Ok(Box::into_raw(Box::new(CSession { inner, calls })))
    })
}

/// See `arrc.h`.
///
/// # Safety
/// The session is one, and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_session_free(session: *mut CSession) {
    if !session.is_null() {
        // SAFETY: it was a box.
        drop(unsafe { Box::from_raw(session) });
    }
}

/// See `arrc.h`.
///
/// # Safety
/// The session is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_session_stop(session: *const CSession) {
    // SAFETY: promised by the caller. A flag is raised, nothing else: handlers of signals may do that.
    unsafe { &*session }.calls.stop.raise();
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_compile(
    session: *const CSession,
    name: *const c_char,
    source: *const c_char,
) -> *mut CProgram {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (session, name, source) = unsafe { (&*session, text(name)?, text(source)?) };
        compiled(session, session.inner.compile(name, source))
    })
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_compile_file(
    session: *const CSession,
    path: *const c_char,
) -> *mut CProgram {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (session, path) = unsafe { (&*session, text(path)?) };
        compiled(session, session.inner.compile_file(Path::new(path)))
    })
}

fn compiled(
    session: &CSession,
    program: Result<arrc::session::Program, arrc::session::CompileError>,
) -> Result<*mut CProgram, Failure> {
    let inner = program.map_err(|why| {
        let kind = match why.is_internal() {
            true => Kind::Internal,
            false => Kind::Compile,
        };
        Failure::new(kind, why.to_string().trim_end().to_owned())
    })?;
    let calls = Arc::clone(&session.calls);
    Ok(Box::into_raw(Box::new(CProgram { inner, calls })))
}

/// See `arrc.h`.
///
/// # Safety
/// The program is one, and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_program_free(program: *mut CProgram) {
    if !program.is_null() {
        // SAFETY: it was a box.
        drop(unsafe { Box::from_raw(program) });
    }
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_parameters(program: *const CProgram, entry: *const c_char) -> i64 {
    // SAFETY: promised by the caller.
    let entry = unsafe { found(program, entry) };
    entry.map_or(-1, |entry| {
        count(entry.params.iter().map(|param| &param.ty))
    })
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_results(program: *const CProgram, entry: *const c_char) -> i64 {
    // SAFETY: promised by the caller.
    let entry = unsafe { found(program, entry) };
    entry.map_or(-1, |entry| count(entry.results.iter()))
}

/// The entry point of that name.
///
/// # Safety
/// The arguments are as the header says.
unsafe fn found<'a>(program: *const CProgram, entry: *const c_char) -> Option<&'a Entry> {
    // SAFETY: promised by the caller.
    let (program, name) = unsafe { (&*program, text(entry).ok()?) };
    program.inner.entry(name)
}

/// How many leaves some types have.
fn count<'a>(types: impl Iterator<Item = &'a EntryType>) -> i64 {
    let count: usize = types.map(|ty| leaves(ty).len()).sum();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// See `arrc.h`.
///
/// # Safety
/// The arguments are as the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrc_call(
    program: *const CProgram,
    entry: *const c_char,
    arguments: *const *mut CValue,
    argument_count: usize,
    results: *mut *mut CValue,
    result_count: usize,
) -> i32 {
    let mut args = Vec::with_capacity(argument_count);
    for i in 0..argument_count {
        // SAFETY: there are so many, and each was a box.
        args.push(unsafe { Box::from_raw(*arguments.add(i)) }.inner);
    }
    status(|| {
        // SAFETY: promised by the caller.
        let (program, entry) = unsafe { (&*program, text(entry)?) };
        let found = program.inner.entry(entry);
        let expected = found.map(|entry| count(entry.results.iter()));
        if let Some(expected) = expected.filter(|n| usize::try_from(*n) != Ok(result_count)) {
            let why = format!("`{entry}` has {expected} results, not {result_count}");
            return Err(Failure::argument(&why));
        }
        value::check_sharing(&args)?;
        let called = program
            .calls
            .during(|| program.inner.call_resident(entry, args));
        let called = called.map_err(Failure::run)?;
        let called: Result<Vec<Resident>, _> = called.into_iter().map(value::own).collect();
        let called = called.map_err(Failure::run)?;
        for (i, result) in called.into_iter().enumerate().take(result_count) {
            // SAFETY: there is room for so many.
            unsafe { *results.add(i) = Box::into_raw(Box::new(CValue { inner: result })) };
        }
        Ok(())
    })
}
