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
use backend_cpu::CpuDevice;
use backend_ptx::CudaDevice;
use midend::device::Device;
use midend::plan::{self, Memory};
use midend::trap::RunError;
use midend::value::Value;
use std::sync::{Arc, PoisonError};

/// A value that a call leaves where the next one needs it: in memory of the CPU's or the GPU's own. The interpreter, the emulator and
/// the target `auto`, which may choose another device for the next call, keep it as a [`Value`]. Clones share the elements.
#[derive(Clone)]
pub struct Resident {
    shared: Arc<Shared>,
    place: Place,
}

/// Where a value is.
#[derive(Clone)]
enum Place {
    Host(Arc<Value>),
    Cpu(On<CpuDevice>),
    Gpu(On<CudaDevice>),
}

/// A value on a device.
type On<D> = plan::Resident<<D as Device>::Buffer>;

impl std::fmt::Debug for Resident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::Host(value) => f.debug_tuple("Resident").field(value).finish(),
            Place::Cpu(value) => f.debug_tuple("Resident").field(value).finish(),
            Place::Gpu(value) => f.debug_tuple("Resident").field(value).finish(),
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
        let place = match &self.shared.devices {
            Devices::Interp | Devices::PtxEmu(_) | Devices::Auto(_) => Place::Host(Arc::new(value)),
            Devices::Cpu(device) => {
                Place::Cpu(plan::Resident::put(device.as_ref(), value, &memory)?)
            }
            Devices::Ptx(gpu) => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                Place::Gpu(plan::Resident::put(&gpu.device, value, &memory)?)
            }
        };
        Ok(self.resident(place))
    }

    fn resident(&self, place: Place) -> Resident {
        Resident {
            shared: Arc::clone(&self.shared),
            place,
        }
    }
}

impl Resident {
    /// The value. On the CPU, elements that were given to [`Session::put`] and that no clone shares are handed back, others copied.
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn get(self) -> Result<Value, RunError> {
        match (self.place, &self.shared.devices) {
            (Place::Host(value), _) => Ok(Arc::unwrap_or_clone(value)),
            (Place::Cpu(value), Devices::Cpu(device)) => value.get(device.as_ref()),
            (Place::Gpu(value), Devices::Ptx(gpu)) => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                value.get(&gpu.device)
            }
            (Place::Cpu(_) | Place::Gpu(_), _) => Err(foreign()),
        }
    }

    /// The same value for a call that is to copy nothing: with elements of its own where the call `consumes` it, or needs a [`Value`].
    ///
    /// # Errors
    /// Memory is exhausted, or the device fails.
    pub fn to_argument(&self, consumes: bool) -> Result<Self, RunError> {
        let memory = Arc::new(Memory::new(None));
        let place = match (self.place.clone(), &self.shared.devices) {
            (Place::Host(value), _) => Place::Host(Arc::new(Value::clone(&value))),
            (Place::Cpu(value), Devices::Cpu(device)) if consumes => {
                Place::Cpu(value.own(device.as_ref(), &memory)?)
            }
            (Place::Gpu(value), Devices::Ptx(gpu)) if consumes => {
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                Place::Gpu(value.own(&gpu.device, &memory)?)
            }
            (place @ (Place::Cpu(_) | Place::Gpu(_)), _) => place,
        };
        Ok(Self {
            shared: Arc::clone(&self.shared),
            place,
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
        let places = match (&self.engine, &shared.devices) {
            (Engine::Cpu(compiled), Devices::Cpu(device)) => {
                let args = self.places(args, |place| match place {
                    Place::Cpu(value) => Some(value),
                    Place::Host(_) | Place::Gpu(_) => None,
                })?;
                let call = || compiled.call_resident(device.as_ref(), shared, what, args);
                let results = device.enter(compiled.kernels(), call)?;
                results.into_iter().map(Place::Cpu).collect()
            }
            (Engine::Ptx(compiled), Devices::Ptx(gpu)) => {
                let args = self.places(args, |place| match place {
                    Place::Gpu(value) => Some(value),
                    Place::Host(_) | Place::Cpu(_) => None,
                })?;
                let _turn = gpu.turn.lock().unwrap_or_else(PoisonError::into_inner);
                let call = || compiled.call_resident(&gpu.device, shared, what, args);
                let results = on_big_stack(call)?;
                results.into_iter().map(Place::Gpu).collect()
            }
            (Engine::Interp(_) | Engine::PtxEmu(_) | Engine::Auto(_), _) => {
                let args = self.places(args, |place| match place {
                    Place::Host(value) => Some(Arc::unwrap_or_clone(value)),
                    Place::Cpu(_) | Place::Gpu(_) => None,
                })?;
                let results = self.call(entry, args)?;
                let host = |value| Place::Host(Arc::new(value));
                results.into_iter().map(host).collect::<Vec<_>>()
            }
            (Engine::Cpu(_) | Engine::Ptx(_), _) => return Err(foreign()),
        };
        let resident = |place| Resident {
            shared: Arc::clone(&self.shared),
            place,
        };
        Ok(places.into_iter().map(resident).collect())
    }

    /// Where arguments are, if that is where this program runs.
    fn places<T>(
        &self,
        args: Vec<Resident>,
        here: impl Fn(Place) -> Option<T>,
    ) -> Result<Vec<T>, RunError> {
        let args = args.into_iter().map(|arg| {
            let is_ours = Arc::ptr_eq(&arg.shared, &self.shared);
            let place = is_ours.then(|| here(arg.place)).flatten();
            place.ok_or_else(|| {
                RunError::BadArguments(String::from("an argument was put into another session"))
            })
        });
        args.collect()
    }
}
