//! Calling entry points with values from outside.

use super::exec::{Run, Val};
use super::memory::counted;
use super::{Executable, Options, Signature};
use crate::device::Device;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::types::{ArrayType, Dim, Size, Type};
use crate::trap::RunError;
use crate::value::{ArrayValue, Value};
use std::collections::BTreeMap;

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
    let signature = exe
        .signatures
        .iter()
        .find(|s| s.name == entry)
        .ok_or_else(|| RunError::BadArguments(format!("there is no entry point `{entry}`")))?;
    let mut sizes = bind_sizes(signature, &args)?;
    let mut run = Run {
        exe,
        device,
        module,
        options,
        depth: 0,
        args: Vec::new(),
    };
    let mut inputs = Vec::new();
    for &(var, _) in &signature.params[..signature.size_params] {
        let size = sizes.get(&var).copied();
        let size = size.ok_or_else(|| {
            RunError::BadArguments(format!("`{entry}` has a size that no argument determines"))
        })?;
        inputs.push(Val::Scalar(Const::I64(size)));
    }
    for arg in args {
        inputs.push(match arg {
            Value::Scalar(c) => Val::Scalar(c),
            Value::Array(array) => {
                let (elem, len) = (array.data.elem(), array.data.len());
                let made = counted::<D>(&options.memory, elem, len, || device.upload(array.data))?;
                Val::Buffer(made)
            }
        });
    }
    let results = run.call(signature.fun, inputs)?;
    device.synchronise()?;
    outputs(signature, &mut sizes, device, results)
}

/// The sizes that the arguments determine; fails where they do not fit.
fn bind_sizes(signature: &Signature, args: &[Value]) -> Result<Sizes, RunError> {
    let bad = |why: String| Err(RunError::BadArguments(why));
    let params = &signature.params[signature.size_params..];
    if params.len() != args.len() {
        return bad(format!(
            "`{}` takes {} values, got {}",
            signature.name,
            params.len(),
            args.len()
        ));
    }
    let mut sizes = Sizes::new();
    for ((var, ty), arg) in params.iter().zip(args) {
        match (ty, arg) {
            (Type::Scalar(s), Value::Scalar(c)) if *s == c.ty() => {
                if let Const::I64(n) = c {
                    sizes.insert(*var, *n);
                }
            }
            (Type::Array(a), Value::Array(v))
                if a.elem == v.data.elem() && a.rank() == v.shape.len() => {}
            _ => {
                return bad(format!(
                    "an argument of `{}` has the wrong type",
                    signature.name
                ));
            }
        }
    }
    for ((_, ty), arg) in params.iter().zip(args) {
        for (dim, &extent) in ty.shape().iter().zip(arg.shape()) {
            let wanted = match *dim {
                Dim::Size(Size::Const(n)) => n,
                Dim::Size(Size::Var(v)) => *sizes.entry(v).or_insert(extent),
                Dim::Ragged(_) => return bad("irregular arguments are not supported".to_owned()),
            };
            if wanted != extent {
                return bad(format!(
                    "an argument of `{}` has {extent} rows where {wanted} are expected",
                    signature.name
                ));
            }
        }
    }
    Ok(sizes)
}

/// Brings the results out.
fn outputs<D: Device>(
    signature: &Signature,
    sizes: &mut Sizes,
    device: &D,
    results: Vec<Val<D::Buffer>>,
) -> Result<Vec<Value>, RunError> {
    for ((var, _), result) in signature.results.iter().zip(&results) {
        if let Val::Scalar(Const::I64(n)) = result {
            sizes.insert(*var, *n);
        }
    }
    let mut values = Vec::new();
    for ((_, ty), result) in signature
        .results
        .iter()
        .zip(results)
        .skip(signature.size_results)
    {
        values.push(match (ty, result) {
            (_, Val::Scalar(c)) => Value::Scalar(c),
            (Type::Array(array), Val::Buffer(buffer)) => {
                let shape = extents(array, sizes)?;
                let len = shape.iter().product::<i64>();
                let len = usize::try_from(len).unwrap_or(0);
                let data = device.download(&buffer.buffer, len)?;
                Value::Array(ArrayValue { shape, data })
            }
            (
                Type::Array(_) | Type::Scalar(_) | Type::Buffer(_) | Type::Cert,
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
