//! Running entry points in the interpreters, and the values that files write down.

use libtest_mimic::Failed;
use midend::device::{Device, Stop};
use midend::interp::{self, mem::Reference};
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::scalar::Const;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, INFINITE};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use midend::verify::Verify;

/// A dialect whose programs can be run here.
pub(crate) trait Run: Verify {
    /// Runs an entry point; nothing if programs of the dialect need something that the file does not give.
    fn run(
        program: &Program<Self>,
        entry: &str,
        args: Vec<Value>,
        thresholds: &Forced,
    ) -> Option<Result<Vec<Value>, RunError>>;
}

impl Run for Soac {
    fn run(
        program: &Program<Self>,
        entry: &str,
        args: Vec<Value>,
        thresholds: &Forced,
    ) -> Option<Result<Vec<Value>, RunError>> {
        // What analyses claim must hold as well.
        let options = interp::Options {
            claims: true,
            ..options(thresholds)
        };
        Some(interp::run(program, entry, args, &options))
    }
}

impl Run for Seg {
    fn run(
        program: &Program<Self>,
        entry: &str,
        args: Vec<Value>,
        thresholds: &Forced,
    ) -> Option<Result<Vec<Value>, RunError>> {
        Some(interp::run_flat(program, entry, args, &options(thresholds)))
    }
}

impl Run for Mem {
    /// Arguments of plans are buffers whose shapes the plan does not know, so that only plans over scalars can be run.
    fn run(
        program: &Program<Self>,
        entry: &str,
        args: Vec<Value>,
        thresholds: &Forced,
    ) -> Option<Result<Vec<Value>, RunError>> {
        let scalars = args.iter().all(|arg| matches!(arg, Value::Scalar(_)));
        if !scalars {
            return None;
        }
        let signatures = midend::plan::signatures(program);
        let device = Reference::new();
        let stop = Stop::new();
        let run = device.compile(program).and_then(|module| {
            let plan = midend::plan::Executable::new(program, signatures);
            let options = midend::plan::Options {
                thresholds,
                ..midend::plan::Options::new(&stop)
            };
            plan.run(&device, &module, entry, args, &options)
        });
        Some(run)
    }
}

fn options(thresholds: &Forced) -> interp::Options<'_> {
    interp::Options {
        thresholds: Some(thresholds),
        ..interp::Options::default()
    }
}

/// A call of an entry point and what comes of it.
pub(crate) struct Case {
    pub(crate) entry: String,
    pub(crate) args: Vec<Value>,
    pub(crate) outcome: Outcome,
}

/// What comes of a call.
pub(crate) enum Outcome {
    /// These results.
    Gives(Vec<Value>),
    /// A failure whose message contains this.
    Fails(String),
}

impl Case {
    /// Runs the case in an interpreter: with the usual thresholds, with all guards true, and with none.
    pub(crate) fn check<D: Run>(&self, when: &str, program: &Program<D>) -> Result<(), Failed> {
        let choices = [
            ("", Forced::new()),
            (", all guards true", Forced::all(0)),
            (", no guard true", Forced::all(INFINITE)),
        ];
        for (how, thresholds) in choices {
            self.check_version(&format!("{when}{how}"), program, &thresholds)?;
        }
        Ok(())
    }

    fn check_version<D: Run>(
        &self,
        when: &str,
        program: &Program<D>,
        thresholds: &Forced,
    ) -> Result<(), Failed> {
        let Some(result) = D::run(program, &self.entry, self.args.clone(), thresholds) else {
            return Ok(());
        };
        let entry = &self.entry;
        match (result, &self.outcome) {
            (Ok(found), Outcome::Gives(wanted)) if found == *wanted => Ok(()),
            (Ok(found), Outcome::Gives(wanted)) => {
                Err(format!("{when}: {entry} gives {found:?}, not {wanted:?}").into())
            }
            (Err(error), Outcome::Fails(message)) if error.to_string().contains(message) => Ok(()),
            (result, Outcome::Fails(message)) => Err(format!(
                "{when}: {entry} gives {result:?} and does not fail with {message}"
            )
            .into()),
            (Err(error), Outcome::Gives(_)) => Err(format!("{when}: {entry}: {error}").into()),
        }
    }
}

/// Reads values: constants as in the text form, arrays in brackets. An array without elements is written with the type
/// of its elements, `[]i32`, or with the shape, `[0,3]i32`.
pub(crate) struct Values<'t> {
    rest: &'t str,
}

impl<'t> Values<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    /// All values up to the end.
    pub(crate) fn all(mut self) -> Result<Vec<Value>, Failed> {
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() {
                return Ok(values);
            }
            values.push(self.value()?);
        }
    }

    fn value(&mut self) -> Result<Value, Failed> {
        let mut shape = Vec::new();
        let mut elems = Vec::new();
        if !self.rest.starts_with('[') {
            return Ok(Value::Scalar(self.constant()?));
        }
        self.array(0, &mut shape, &mut elems)?;
        let elem = match elems.first() {
            // What looks like numbers was the shape.
            Some(_) if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                shape = elems.iter().filter_map(|c| c.as_i64()).collect();
                elems.clear();
                self.elem()?
            }
            Some(first) => first.ty(),
            None => self.elem()?,
        };
        let mut data = Data::zeros(elem, elems.len());
        for (i, c) in elems.iter().enumerate() {
            data.set(i, *c);
        }
        Ok(Value::Array(ArrayValue { shape, data }))
    }

    /// The type after the brackets of an array without elements.
    fn elem(&mut self) -> Result<ScalarType, Failed> {
        let word = self.word();
        ScalarType::from_name(word).ok_or_else(|| format!("`{word}` is no type").into())
    }

    fn array(
        &mut self,
        depth: usize,
        shape: &mut Vec<i64>,
        elems: &mut Vec<Const>,
    ) -> Result<(), Failed> {
        self.rest = &self.rest[1..];
        let mut len = 0;
        loop {
            self.rest = self.rest.trim_start_matches([' ', ',']);
            if let Some(rest) = self.rest.strip_prefix(']') {
                self.rest = rest;
                break;
            }
            if self.rest.is_empty() {
                return Err("an array without end".into());
            }
            len += 1;
            if self.rest.starts_with('[') {
                if shape.len() == depth {
                    shape.push(0);
                }
                self.array(depth + 1, shape, elems)?;
            } else {
                elems.push(self.constant()?);
            }
        }
        if shape.len() == depth {
            shape.push(len);
        }
        shape[depth] = len;
        Ok(())
    }

    fn word(&mut self) -> &'t str {
        let end = self.rest.find([' ', ',', ']']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn constant(&mut self) -> Result<Const, Failed> {
        let word = self.word();
        read::constant(word).ok_or_else(|| format!("`{word}` is no value").into())
    }
}
