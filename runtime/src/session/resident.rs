//! Values that stay where programs run.
//!
//! ```
//! use arrc::session::{Options, Session};
//! use arrc::{ArrayValue, Data, Value};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::new(Options::default())?;
//! let program = session.compile("twice.fut", "def main (xs: []i32) = map (* 2) xs")?;
//! let mut xs = session.put(Value::Array(ArrayValue { shape: vec![3], data: Data::I32(vec![1, 2, 3]) }))?;
//! for _ in 0..10 {
//!     xs = program.call_resident("main", vec![xs])?.remove(0);
//! }
//! let Value::Array(xs) = xs.get()? else { panic!("an array") };
//! assert_eq!(xs.data, Data::I32(vec![1024, 2048, 3072]));
//! # Ok(())
//! # }
//! ```

use super::engine::{Devices, Engine, foreign};
use super::{Program, Session, Shared, on_big_stack};
use backend_cpu::{Adopted, CpuDevice};
use backend_ptx::CudaDevice;
use midend::device::Device;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::plan::{self, Memory};
use midend::trap::RunError;
use midend::value::entry::Argument as _;
use midend::value::{ArrayValue, Value};
use midend::with_data;
use std::sync::{Arc, PoisonError};

/// A value that a call leaves where the next one needs it: in memory of the CPU's or the GPU's own. The interpreter, the emulator and
/// the target `auto`, which may choose another device for the next call, keep it as a [`Value`]. Clones share the elements.
#[derive(Clone)]
pub struct Resident {
    shared: Arc<Shared>,
    location: Location,
}

/// Where a value is.
#[derive(Clone)]
enum Location {
    Host(Arc<Value>),
    Cpu(On<CpuDevice>),
    Gpu(On<CudaDevice>),
}

/// A value on a device.
type On<D> = plan::Resident<<D as Device>::Buffer>;

impl std::fmt::Debug for Resident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.location {
            Location::Host(value) => f.debug_tuple("Resident").field(value).finish(),
            Location::Cpu(value) => f.debug_tuple("Resident").field(value).finish(),
            Location::Gpu(value) => f.debug_tuple("Resident").field(value).finish(),
        }
    }
}

impl Session {
    /// Brings a value to where the programs of this session run. On the CPU its elements are taken over, not copied.
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn put(&self, value: Value) -> Result<Resident, RunError> {
        let memory = Arc::new(Memory::new(None));
        let location = match &self.shared.devices {
            Devices::Interp | Devices::PtxEmu(_) | Devices::Auto(_) => {
                Location::Host(Arc::new(value))
            }
            Devices::Cpu(device) => {
                Location::Cpu(plan::Resident::put(device.as_ref(), value, &memory)?)
            }
            Devices::Ptx(gpu) => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                Location::Gpu(plan::Resident::put(&gpu.device, value, &memory)?)
            }
        };
        Ok(self.resident(location))
    }

    /// As [`Session::put`], of an array of somebody else. On the CPU its elements stay where they are, for as long as a value refers to
    /// them; elsewhere they are copied.
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn put_adopted(&self, shape: Vec<i64>, array: Adopted) -> Result<Resident, RunError> {
        let data = match (array, &self.shared.devices) {
            (Adopted::Borrowed(foreign), Devices::Cpu(device)) => {
                let (elem, is_read_only) = (foreign.elem(), foreign.is_read_only());
                let memory = Arc::new(Memory::new(None));
                let buffer = (elem, device.adopt(foreign)?);
                let adopted =
                    plan::Resident::adopt::<CpuDevice>(shape, buffer, is_read_only, &memory)?;
                return Ok(self.resident(Location::Cpu(adopted)));
            }
            // TODO: a GPU could be given the elements without the copy; uploads take vectors.
            (
                Adopted::Borrowed(foreign),
                Devices::Interp | Devices::Ptx(_) | Devices::PtxEmu(_) | Devices::Auto(_),
            ) => foreign.to_data(),
            (Adopted::Copied(data), _) => data,
        };
        self.put(Value::Array(ArrayValue { shape, data }))
    }

    fn resident(&self, location: Location) -> Resident {
        Resident {
            shared: Arc::clone(&self.shared),
            location,
        }
    }
}

/// The elements of an array in memory of the host. They do not change as long as the [`Resident`] is there.
#[derive(Clone, Copy, Debug)]
pub struct HostArray<'r> {
    /// The first element; what it is of an empty array is not said.
    pub start: *const u8,
    /// The type of the elements, which are side by side in row-major order.
    pub elem: ScalarType,
    /// Extents, outermost first.
    pub shape: &'r [i64],
    /// Whether the memory belongs to somebody else ([`Session::put_adopted`]).
    pub is_foreign: bool,
    /// Whether nothing may be written to it: it belongs to somebody else, who did not give it away.
    pub is_read_only: bool,
}

impl Resident {
    /// The type of the elements.
    pub fn elem(&self) -> ScalarType {
        match &self.location {
            Location::Host(value) => value.elem(),
            Location::Cpu(value) => value.elem(),
            Location::Gpu(value) => value.elem(),
        }
    }

    /// The extents, outermost first; none of a scalar.
    pub fn shape(&self) -> &[i64] {
        match &self.location {
            Location::Host(value) => value.shape(),
            Location::Cpu(value) => value.shape(),
            Location::Gpu(value) => value.shape(),
        }
    }

    /// The number or truth value that a scalar is.
    pub fn scalar(&self) -> Option<Const> {
        match &self.location {
            Location::Host(value) => value.scalar(),
            Location::Cpu(value) => value.scalar(),
            Location::Gpu(value) => value.scalar(),
        }
    }

    /// The elements of an array where they are, without a copy, unless they are in the memory of a GPU.
    pub fn host(&self) -> Option<HostArray<'_>> {
        let (start, is_foreign, is_read_only) = match &self.location {
            Location::Host(value) => match &**value {
                Value::Array(array) => {
                    let start = with_data!(&array.data, v => v.as_ptr().cast::<u8>());
                    (start, false, false)
                }
                Value::Scalar(_) => return None,
            },
            Location::Cpu(value) => {
                let buffer = value.buffer()?;
                let start = buffer.start().cast_const();
                (start, buffer.is_foreign(), buffer.is_read_only())
            }
            Location::Gpu(_) => return None,
        };
        Some(HostArray {
            start,
            elem: self.elem(),
            shape: self.shape(),
            is_foreign,
            is_read_only,
        })
    }

    /// The value. On the CPU, elements that were given to [`Session::put`] and that no clone shares are handed back, others copied.
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn get(self) -> Result<Value, RunError> {
        match (self.location, &self.shared.devices) {
            (Location::Host(value), _) => Ok(Arc::unwrap_or_clone(value)),
            (Location::Cpu(value), Devices::Cpu(device)) => value.get(device.as_ref()),
            (Location::Gpu(value), Devices::Ptx(gpu)) => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                value.get(&gpu.device)
            }
            (Location::Cpu(_) | Location::Gpu(_), _) => Err(foreign()),
        }
    }

    /// The same value for a call that is to copy nothing: with elements of its own where the call `consumes` it, or needs a [`Value`].
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn to_argument(&self, consumes: bool) -> Result<Self, RunError> {
        let memory = Arc::new(Memory::new(None));
        let location = match (self.location.clone(), &self.shared.devices) {
            (Location::Host(value), _) => Location::Host(Arc::new(Value::clone(&value))),
            (Location::Cpu(value), Devices::Cpu(device)) if consumes => {
                Location::Cpu(value.own(device.as_ref(), &memory)?)
            }
            (Location::Gpu(value), Devices::Ptx(gpu)) if consumes => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                Location::Gpu(value.own(&gpu.device, &memory)?)
            }
            (location @ (Location::Cpu(_) | Location::Gpu(_)), _) => location,
        };
        Ok(Self {
            shared: Arc::clone(&self.shared),
            location,
        })
    }
}

impl Program {
    /// As [`Program::call`], with values that are where the program runs, and stay there. An argument that the entry point consumes
    /// is copied if a clone shares its elements.
    ///
    /// # Errors
    /// Those of [`Program::call`]; and an argument belongs to another session.
    pub fn call_resident(
        &self,
        entry: &str,
        args: Vec<Resident>,
    ) -> Result<Vec<Resident>, RunError> {
        let what = (entry, &self.forced);
        let shared = &*self.shared;
        let has_sequences = self
            .entry(entry)
            .is_some_and(|entry| entry.streamed || entry.params.iter().any(|param| param.streamed));
        if has_sequences {
            // They go through the host anyway.
            let args: Result<Vec<Value>, RunError> = args.into_iter().map(Resident::get).collect();
            let results = self.call(entry, args?)?.into_iter();
            let session = Session {
                shared: Arc::clone(&self.shared),
            };
            return results.map(|value| session.put(value)).collect();
        }
        let locations = match (&self.engine, &shared.devices) {
            (Engine::Cpu(compiled), Devices::Cpu(device)) => {
                let args = self.locations(args, |location| match location {
                    Location::Cpu(value) => Some(value),
                    Location::Host(_) | Location::Gpu(_) => None,
                })?;
                let call = || compiled.call_resident(device.as_ref(), shared, what, args);
                let results = device.enter(compiled.kernels(), call)?;
                results.into_iter().map(Location::Cpu).collect()
            }
            (Engine::Ptx(compiled), Devices::Ptx(gpu)) => {
                let args = self.locations(args, |location| match location {
                    Location::Gpu(value) => Some(value),
                    Location::Host(_) | Location::Cpu(_) => None,
                })?;
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                let call = || compiled.call_resident(&gpu.device, shared, what, args);
                let results = on_big_stack(call)?;
                results.into_iter().map(Location::Gpu).collect()
            }
            (Engine::Interp(_) | Engine::PtxEmu(_) | Engine::Auto(_), _) => {
                let args = self.locations(args, |location| match location {
                    Location::Host(value) => Some(Arc::unwrap_or_clone(value)),
                    Location::Cpu(_) | Location::Gpu(_) => None,
                })?;
                let results = self.call(entry, args)?;
                let host = |value| Location::Host(Arc::new(value));
                results.into_iter().map(host).collect::<Vec<_>>()
            }
            (Engine::Cpu(_) | Engine::Ptx(_), _) => return Err(foreign()),
        };
        let resident = |location| Resident {
            shared: Arc::clone(&self.shared),
            location,
        };
        Ok(locations.into_iter().map(resident).collect())
    }

    /// Where arguments are, if that is where this program runs.
    fn locations<T>(
        &self,
        args: Vec<Resident>,
        here: impl Fn(Location) -> Option<T>,
    ) -> Result<Vec<T>, RunError> {
        let args = args.into_iter().map(|arg| {
            let is_ours = Arc::ptr_eq(&arg.shared, &self.shared);
            let location = is_ours.then(|| here(arg.location)).flatten();
            location.ok_or_else(|| {
                RunError::BadArguments(String::from("an argument was put into another session"))
            })
        });
        args.collect()
    }
}
