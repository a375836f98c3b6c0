//! Calling entry points with values from outside.

use super::ahead::Ahead;
use super::exec::{Run, Val, malformed};
use super::resident::{Form, Resident};
use super::{Executable, Options, Signature};
use crate::device::Device;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::threshold::Threshold;
use crate::ir::types::{ArrayType, Dim, Size, Type};
use crate::trap::RunError;
use crate::value::entry::Argument;
use std::collections::BTreeMap;

/// Values of sizes that are known.
type Sizes = BTreeMap<Var, i64>;

/// See [`Executable::run`]; `put` brings an argument to the device.
pub(super) fn call_entry<D: Device, A: Argument>(
    exe: &Executable,
    (device, module): (&D, &D::Module),
    entry: &str,
    args: Vec<A>,
    put: impl Fn(A) -> Result<Resident<D::Buffer>, RunError>,
    options: &Options<'_>,
) -> Result<Vec<Resident<D::Buffer>>, RunError> {
    let signature = exe.signatures.iter().find(|s| s.args.name == entry);
    let signature = signature.ok_or_else(|| {
        RunError::BadArguments(format!("there is no entry point called `{entry}`"))
    })?;
    let mut inputs: Vec<Val<D::Buffer>> = Vec::new();
    for n in signature.args.sizes(&args)? {
        inputs.push(Val::Scalar(Const::I64(n)));
    }
    for arg in args {
        let mut arg = put(arg)?;
        if signature.consumed.get(inputs.len()) == Some(&true) {
            arg = arg.own(device, &options.memory)?;
        }
        inputs.push(match arg.0 {
            Form::Scalar(c) => Val::Scalar(c),
            Form::Array(_, memory) => Val::Buffer(memory),
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
        ahead: Ahead::default(),
        part: None,
    };
    let called = run.call(signature.fun, inputs);
    let called = run.drop_ahead().and(called);
    let results = match (called, device.synchronise()) {
        (Ok(results), Ok(())) => results,
        // Kernels run behind the host: what failed in one comes before what failed here.
        (Ok(_), Err(why)) | (Err(RunError::Trap(_) | RunError::OutOfMemory { .. }), Err(why)) => {
            return Err(why);
        }
        (Err(why), Ok(()) | Err(_)) => return Err(why),
    };
    note_sizes(&signature.results, &results, &mut sizes);
    outputs(signature, &sizes, results)
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

/// The results with their shapes.
fn outputs<B>(
    signature: &Signature,
    sizes: &Sizes,
    results: Vec<Val<B>>,
) -> Result<Vec<Resident<B>>, RunError> {
    let results = signature.results.iter().zip(results);
    let results = results.skip(signature.args.size_results);
    let outputs = results.map(|((_, ty), result)| match (ty, result) {
        (_, Val::Scalar(c)) => Ok(Resident(Form::Scalar(c))),
        (Type::Array(array), Val::Buffer(memory)) => {
            Ok(Resident(Form::Array(extents(array, sizes)?, memory)))
        }
        (
            Type::Array(_) | Type::Acc(_) | Type::Scalar(_) | Type::Buffer(_) | Type::Cert,
            Val::Buffer(_) | Val::Empty,
        ) => Err(malformed("a result is missing")),
    });
    outputs.collect()
}

fn extents(array: &ArrayType, sizes: &Sizes) -> Result<Vec<i64>, RunError> {
    let extents = array.shape.iter().map(|dim| match *dim {
        Dim::Size(Size::Const(n)) => Some(n),
        Dim::Size(Size::Var(v)) => sizes.get(&v).copied(),
        Dim::Ragged(_) => None,
    });
    let extents: Option<Vec<i64>> = extents.collect();
    extents.ok_or_else(|| malformed("the shape of a result is unknown"))
}
