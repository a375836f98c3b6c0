//! Kernels compiled by the driver: text to machine code, with the log of what it says of the text, and machine code to functions.

use super::{Failed, Function, Gpu, Result};
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// Bytes of each log, at most.
const LOG: usize = 8 << 10;

/// Where the driver writes what it has to say of a text: it keeps the addresses until it is done with it.
struct Log {
    errors: Vec<u8>,
    remarks: Vec<u8>,
}

impl Log {
    fn new() -> Self {
        Self {
            errors: vec![0; LOG],
            remarks: vec![0; LOG],
        }
    }

    /// The options that say so, with their values; the text is compiled for the device of the context.
    fn options(&mut self) -> ([sys::CUjit_option; 5], [*mut c_void; 5]) {
        use sys::CUjit_option_enum as Jit;
        let size = std::ptr::without_provenance_mut(LOG);
        (
            [
                Jit::CU_JIT_ERROR_LOG_BUFFER,
                Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                Jit::CU_JIT_INFO_LOG_BUFFER,
                Jit::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                Jit::CU_JIT_TARGET_FROM_CUCONTEXT,
            ],
            [
                self.errors.as_mut_ptr().cast::<c_void>(),
                size,
                self.remarks.as_mut_ptr().cast::<c_void>(),
                size,
                std::ptr::null_mut(),
            ],
        )
    }

    /// What went wrong, with what was written.
    fn failed(&self, kernel: &str, why: DriverError) -> Failed {
        use sys::CUresult;
        if why.0 == CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION {
            let why = "the GPU's driver is too old for the kernels that arrc makes; a newer one is needed";
            return Failed::Absent(why.to_owned());
        }
        let mut words = match Failed::from(why) {
            Failed::Driver(words) => words,
            other @ (Failed::Absent(_) | Failed::Memory(_)) => return other,
        };
        words = format!("{words}, for the kernel {kernel}");
        for log in [&self.errors, &self.remarks] {
            let end = log.iter().position(|byte| *byte == 0);
            let text = String::from_utf8_lossy(&log[..end.unwrap_or(log.len())]);
            if !text.trim().is_empty() {
                words = format!("{words}\n{}", text.trim());
            }
        }
        Failed::Driver(words)
    }
}

/// A text on its way to machine code.
struct Link(sys::CUlinkState);

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: it was made, and is given up here alone. A failure leaves some memory taken.
        let _ = unsafe { sys::cuLinkDestroy(self.0) };
    }
}

impl Gpu {
    /// The version of the driver, as the driver counts them.
    pub(in crate::cuda) fn driver_version(&self) -> Result<i32> {
        let mut version = 0;
        // SAFETY: there is a place for the number.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
        Ok(version)
    }

    /// The machine code of the text of a module, which can be loaded again by the same driver for the same kind of device.
    pub(in crate::cuda) fn assemble(&self, text: &str, kernel: &str) -> Result<Vec<u8>> {
        let text = c_string(text)?;
        self.context.bind_to_thread()?;
        let mut log = Log::new();
        let (mut options, mut values) = log.options();
        let mut state = std::ptr::null_mut();
        // SAFETY: as many options as values; what they point to lives longer than the link.
        let made = unsafe {
            let count = options.len() as u32;
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            sys::cuLinkCreate_v2(count, options, values, &raw mut state)
        };
        made.result()?;
        let link = Link(state);
        let bytes = text.as_bytes_with_nul();
        // SAFETY: the text has so many bytes, and ends with a zero; the driver reads it, and has no other options for it.
        let added = unsafe {
            sys::cuLinkAddData_v2(
                link.0,
                sys::CUjitInputType::CU_JIT_INPUT_PTX,
                bytes.as_ptr().cast_mut().cast::<c_void>(),
                bytes.len(),
                std::ptr::null(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        added.result().map_err(|why| log.failed(kernel, why))?;
        let (mut image, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: there are places for both.
        let done = unsafe { sys::cuLinkComplete(link.0, &raw mut image, &raw mut size) };
        done.result().map_err(|why| log.failed(kernel, why))?;
        // SAFETY: the image has that size, and lives as long as the link.
        let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) };
        Ok(image.to_vec())
    }

    /// Compiles the text of a module, which has one kernel.
    pub(in crate::cuda) fn load(&self, text: &str, kernel: &str) -> Result<Function> {
        self.load_image(c_string(text)?.as_bytes_with_nul(), kernel)
    }

    /// Loads a module: machine code, or text with a zero at its end.
    pub(in crate::cuda) fn load_image(&self, image: &[u8], kernel: &str) -> Result<Function> {
        let name = c_string(kernel)?;
        self.context.bind_to_thread()?;
        let mut log = Log::new();
        let (mut options, mut values) = log.options();
        let mut module = std::ptr::null_mut();
        // SAFETY: the image is machine code that the driver made, or text that ends with a zero; as many options as values, and
        // what they point to is there until the call returns.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut module,
                image.as_ptr().cast::<c_void>(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        loaded.result().map_err(|why| log.failed(kernel, why))?;
        let mut loaded = Function {
            module,
            function: std::ptr::null_mut(),
            context: Arc::clone(&self.context),
        };
        // SAFETY: the module has just been loaded.
        loaded.function = unsafe { result::module::get_function(module, name) }?;
        Ok(loaded)
    }
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Failed::Driver("a kernel has a zero byte in its text".to_owned()))
}
