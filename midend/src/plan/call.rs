//! Calling entry points with values from outside.

use super::exec::{Run, Val};
use super::memory::{Asker, counted};
use super::{Executable, Options, Signature};
use crate::device::Device;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::threshold::Threshold;
use crate::ir::types::{ArrayType, Dim, Size, Type};
use crate::trap::RunError;
use crate::value::{ArrayValue, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values of sizes that are known.
type Sizes = BTreeMap<Var, i64>;

/// See [`Executable::run`].
pub(super) fn call_entry<D: Device>(
    exe: &Executable,
    device: &D,
    module: &D::Module,
    entry: &str,
    args: Vec<Value>,
    options: &Options<'_>,
) -> Result<Vec<Value>, RunError> {
    let signature = exe.signatures.iter().find(|s| s.args.name == entry);
    let signature = signature.ok_or_else(|| {
        RunError::BadArguments(format!("there is no entry point called `{entry}`"))
    })?;
    let sizes = signature.args.sizes(&args)?;
    let mut inputs: Vec<Val<D::Buffer>> = Vec::new();
    inputs.extend(sizes.into_iter().map(|n| Val::Scalar(Const::I64(n))));
    for arg in args {
        inputs.push(match arg {
            Value::Scalar(c) => Val::Scalar(c),
            Value::Array(array) => {
                let (elem, len) = (array.data.elem(), array.data.len());
                let made = counted::<D>(&options.memory, Asker::Caller, (elem, len), || {
                    device.upload(array.data)
                })?;
                Val::Buffer(made)
            }
        });
    }
    let mut sizes = Sizes::new();
    note_sizes(&signature.params, &inputs, &mut sizes);
    let mut run = Run {
        exe,
        device,
        module,
        options,
        numbers: numbers(exe, device, options),
        depth: 0,
        args: Vec::new(),
    };
    let called = run.call(signature.fun, inputs);
    let results = match (called, device.synchronise()) {
        (Ok(results), Ok(())) => results,
        // Kernels run behind the host: what failed in one comes before what failed here.
        (Ok(_), Err(why)) | (Err(RunError::Trap(_) | RunError::OutOfMemory { .. }), Err(why)) => {
            return Err(why);
        }
        (Err(why), Ok(()) | Err(_)) => return Err(why),
    };
    note_sizes(&signature.results, &results, &mut sizes);
    outputs(signature, &sizes, device, results)
}

/// What the thresholds are in this run.
pub(super) fn numbers<D: Device>(exe: &Executable, device: &D, options: &Options<'_>) -> Vec<i64> {
    let number = |threshold: &Threshold| {
        let default = device.threshold(threshold.kind);
        options.thresholds.number(threshold, default)
    };
    exe.thresholds.iter().map(number).collect()
}

/// Remembers the values of scalars that sizes may name.
fn note_sizes<B>(formals: &[(Var, Type)], values: &[Val<B>], sizes: &mut Sizes) {
    for ((var, _), value) in formals.iter().zip(values) {
        if let Val::Scalar(Const::I64(n)) = value {
            sizes.insert(*var, *n);
        }
    }
}

/// Brings the results out.
fn outputs<D: Device>(
    signature: &Signature,
    sizes: &Sizes,
    device: &D,
    results: Vec<Val<D::Buffer>>,
) -> Result<Vec<Value>, RunError> {
    let mut values = Vec::new();
    for ((_, ty), result) in signature
        .results
        .iter()
        .zip(results)
        .skip(signature.args.size_results)
    {
        values.push(match (ty, result) {
            (_, Val::Scalar(c)) => Value::Scalar(c),
            (Type::Array(array), Val::Buffer(buffer)) => {
                let shape = extents(array, sizes)?;
                let len = shape.iter().product::<i64>();
                let len = usize::try_from(len).unwrap_or(0);
                let data = match Arc::try_unwrap(buffer) {
                    Ok(last) => device.hand_over(last.buffer, len)?,
                    Err(shared) => device.download(&shared.buffer, len)?,
                };
                Value::Array(ArrayValue { shape, data })
            }
            (
                Type::Array(_) | Type::Acc(_) | Type::Scalar(_) | Type::Buffer(_) | Type::Cert,
                Val::Buffer(_) | Val::Empty,
            ) => {
                return Err(RunError::Internal(
                    "malformed plan: a result is missing".to_owned(),
                ));
            }
        });
    }
    Ok(values)
}

fn extents(array: &ArrayType, sizes: &Sizes) -> Result<Vec<i64>, RunError> {
    let extents = array.shape.iter().map(|dim| match *dim {
        Dim::Size(Size::Const(n)) => Some(n),
        Dim::Size(Size::Var(v)) => sizes.get(&v).copied(),
        Dim::Ragged(_) => None,
    });
    let extents: Option<Vec<i64>> = extents.collect();
    extents.ok_or_else(|| {
        RunError::Internal("malformed plan: the shape of a result is unknown".to_owned())
    })
}
