//! Candidates: arguments of a property, made from a size and a seed.

use super::Trouble;
use super::subject::{SIZE_AND_SEED, Subject, has_type};
use crate::data::{append, choices, leaves};
use crate::spec::{Generator, SplitMix, generate};
use half::f16;
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::value::{Data, Value};

impl Subject<'_> {
    /// A candidate of a size: what the generator of the property makes, or a random value.
    pub(super) fn candidate(&self, size: i64, seed: u64) -> Result<Vec<Value>, Trouble> {
        match &self.property.generator {
            Some(generator) => self.made_by(generator, size, seed),
            None => {
                let mut out = Vec::new();
                self.random(self.ty, size, &mut SplitMix(seed), &mut out)?;
                Ok(out)
            }
        }
    }

    fn made_by(&self, generator: &str, size: i64, seed: u64) -> Result<Vec<Value>, Trouble> {
        let args = vec![
            Value::Scalar(Const::I64(size)),
            Value::Scalar(Const::U64(seed)),
        ];
        let made = self.program.call(generator, args);
        made.map_err(|error| {
            let what = format!("the generator `{generator}` (size {size}, seed {seed}) failed");
            Trouble::Run(what, error)
        })
    }

    /// A random value: every array has `size` elements in each dimension. A type with a name `t` for which there is a
    /// generator `gen_t` is left to it.
    fn random(
        &self,
        ty: &EntryType,
        size: i64,
        seeds: &mut SplitMix,
        out: &mut Vec<Value>,
    ) -> Result<(), Trouble> {
        match ty {
            EntryType::Tuple(parts) => {
                let mut parts = parts.iter();
                parts.try_for_each(|part| self.random(part, size, seeds, out))
            }
            EntryType::Record(fields) => {
                let mut fields = fields.iter();
                fields.try_for_each(|(_, ty)| self.random(ty, size, seeds, out))
            }
            EntryType::Opaque { name, of } => {
                let generator = format!("gen_{name}");
                let entry = self.program.entry(&generator);
                if entry.is_some_and(|entry| has_type(entry, &SIZE_AND_SEED, ty)) {
                    out.extend(self.made_by(&generator, size, seeds.next())?);
                    return Ok(());
                }
                self.random(of, size, seeds, out)
            }
            EntryType::Scalar(_)
            | EntryType::Array { .. }
            | EntryType::Rows(_)
            | EntryType::Sum(_) => {
                for (leaf, choices) in leaves(ty).into_iter().zip(choices(ty)) {
                    let generator = Generator::Random {
                        shape: vec![size; leaf.rank],
                        elem: leaf.elem,
                    };
                    let made = generate(&[generator], seeds.next()).map_err(Trouble::Candidate)?;
                    out.extend(made.into_iter().map(|value| within(value, choices)));
                }
                Ok(())
            }
        }
    }
}

/// The value with constructors that there are, and floats from [-1, 1) instead of [0, 1).
fn within(value: Value, choices: Option<usize>) -> Value {
    match value {
        Value::Scalar(_) => {
            let mut one = Data::zeros(value.elem(), 0);
            append(&mut one, &value);
            adjust(&mut one, choices);
            Value::Scalar(one.get(0))
        }
        Value::Array(mut array) => {
            adjust(&mut array.data, choices);
            Value::Array(array)
        }
    }
}

fn adjust(data: &mut Data, choices: Option<usize>) {
    match data {
        Data::U8(xs) => xs.iter_mut().for_each(|x| *x = chosen(*x, choices)),
        Data::F16(xs) => xs
            .iter_mut()
            .for_each(|x| *x = f16::from_f32(x.to_f32() * 2.0 - 1.0)),
        Data::F32(xs) => xs.iter_mut().for_each(|x| *x = *x * 2.0 - 1.0),
        Data::F64(xs) => xs.iter_mut().for_each(|x| *x = *x * 2.0 - 1.0),
        Data::I8(_)
        | Data::I16(_)
        | Data::I32(_)
        | Data::I64(_)
        | Data::U16(_)
        | Data::U32(_)
        | Data::U64(_)
        | Data::Bool(_) => {}
    }
}

/// A constructor of so many, or any number if it is none.
fn chosen(x: u8, choices: Option<usize>) -> u8 {
    match choices.map(u8::try_from) {
        Some(Ok(count)) => x.checked_rem(count).unwrap_or(0),
        Some(Err(_)) | None => x,
    }
}
