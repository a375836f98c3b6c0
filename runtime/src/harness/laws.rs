//! Laws of operators: what a program gives to `reduce`, `scan` and histograms must be associative and have the neutral element
//! that it is given with, and where it is said or needed, be commutative. Each is tried on many values; a counter-example is made
//! smaller as long as it stays one.
//!
//! Values are small whole numbers and halves, for floats too, so that additions and products of them do not round; results are
//! compared with the tolerance of tests.

use super::case::with_deadline;
use super::property::SHOWN;
use super::{CaseKind, CaseReport, TestOptions, Verdict};
use crate::compare::compare_all;
use crate::data::value_text;
use crate::passes::inlined;
use crate::session::{Program, Session, on_big_stack};
use crate::spec::{SplitMix, shaped};
use frontend::PRELUDE;
use half::f16;
use midend::analysis::operators::{Found, Operators, operators};
use midend::interp;
use midend::ir::types::ScalarType;
use midend::trap::{RunError, trail};
use midend::value::{Data, Value};
use std::collections::BTreeSet;
use std::time::Instant;

/// The statements that one application of an operator may execute.
const FUEL: u64 = 1_000_000;
/// The longest dimension of operands that are arrays.
const LONGEST: u64 = 4;

/// Tests the operators of a program. Those of one place and operation are one: it was inlined several times.
pub(super) fn test_laws(
    program: &Program,
    session: &Session,
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> Vec<CaseReport> {
    let Some(nested) = program.nested() else {
        return Vec::new();
    };
    let Operators { program, found } = on_big_stack(|| operators(&inlined(nested.clone())));
    let mut seen = BTreeSet::new();
    let mut reports = Vec::new();
    for operator in &found {
        let places = trail(&program.spans, operator.span);
        let mine = places.iter().find(|place| &*place.file != PRELUDE);
        let Some(place) = mine else {
            // The prelude's own are right.
            continue;
        };
        let title = format!(
            "operator of {} at line {}:{}",
            operator.given_to, place.start.0, place.start.1
        );
        if !seen.insert(title.clone()) {
            continue;
        }
        begin(&title);
        let start = Instant::now();
        let mut verdict = Verdict::Pass;
        with_deadline(session, options.timeout, || {
            let seed = options.properties.seed;
            verdict = match Operator::of(&program, operator, session) {
                Ok(operator) => operator.tested(options.properties.tests, seed),
                Err(why) => Verdict::Skip { why },
            };
        });
        reports.push(CaseReport {
            title,
            kind: CaseKind::Property,
            verdict,
            relative_error: None,
            micros: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
    }
    reports
}

/// An operator that can be applied.
struct Operator<'a> {
    program: &'a midend::ir::syntax::Program<midend::ir::soac::Soac>,
    found: &'a Found,
    session: &'a Session,
    entry: &'a str,
    /// The shapes of an operand's values: for each dimension a number, or which of the sizes.
    parts: Vec<(Vec<Extent>, ScalarType)>,
    sizes: usize,
}

/// One extent of a part of an operand.
#[derive(Clone, Copy)]
enum Extent {
    Fixed(i64),
    /// The size of this number.
    Size(usize),
}

/// The three operands that laws speak of, one after another.
type Operands = [Vec<Value>; 3];

/// A law.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Law {
    Associative,
    Neutral,
    Commutative,
}

/// Both sides of an equation, written and computed.
struct Sides {
    left: (&'static str, Vec<Value>),
    right: (&'static str, Vec<Value>),
}

impl<'a> Operator<'a> {
    fn of(
        program: &'a midend::ir::syntax::Program<midend::ir::soac::Soac>,
        found: &'a Found,
        session: &'a Session,
    ) -> Result<Self, String> {
        let entry = found.entry.as_ref().map_err(Clone::clone)?;
        let (_, signature) =
            midend::value::entry::find(program, entry).map_err(|why| why.to_string())?;
        let mut parts = Vec::new();
        for param in signature.params.iter().take(found.arity) {
            let mut shape = Vec::new();
            for extent in &param.shape {
                shape.push(match extent {
                    midend::value::entry::Extent::Const(n) => Extent::Fixed(*n),
                    midend::value::entry::Extent::Var(v, name) => {
                        let size = signature.sizes.iter().position(|size| size.var == *v);
                        Extent::Size(size.ok_or_else(|| format!("the size {name} is unknown"))?)
                    }
                    midend::value::entry::Extent::Ragged => {
                        return Err(String::from("its operands are irregular"));
                    }
                });
            }
            parts.push((shape, param.elem));
        }
        Ok(Self {
            program,
            found,
            session,
            entry,
            parts,
            sizes: signature.sizes.len(),
        })
    }

    /// The operator on two operands, and its neutral element.
    fn apply(&self, a: &[Value], b: &[Value]) -> Result<(Vec<Value>, Vec<Value>), RunError> {
        let stop = self.session.stop();
        let options = interp::Options {
            fuel: Some(FUEL),
            memory: self.session.options().memory_limit,
            stop: Some(&stop),
            ..interp::Options::default()
        };
        let args = a.iter().chain(b).cloned().collect();
        let mut results = on_big_stack(|| interp::run(self.program, self.entry, args, &options))?;
        let neutral = results.split_off(self.found.arity.min(results.len()));
        Ok((results, neutral))
    }

    /// Tries all laws on so many operands.
    fn tested(&self, tests: u32, seed: u64) -> Verdict {
        let mut random = SplitMix(seed);
        let mut failures = 0;
        for _ in 0..tests {
            let operands = self.operands(&mut random);
            for law in [Law::Associative, Law::Neutral, Law::Commutative] {
                if law == Law::Commutative && !self.found.commutative {
                    continue;
                }
                match self.broken(law, &operands) {
                    Ok(None) => {}
                    Ok(Some(_)) => return self.failure(law, operands),
                    Err(RunError::Interrupted) => {
                        return Verdict::fail("out of time", RunError::Interrupted.to_string());
                    }
                    // It is not defined on these operands.
                    Err(_) => failures += 1,
                }
            }
        }
        if failures >= tests {
            let why = String::from("it fails on most operands");
            return Verdict::Skip { why };
        }
        Verdict::Pass
    }

    /// Random operands, all of the same shapes.
    fn operands(&self, random: &mut SplitMix) -> Operands {
        let sizes: Vec<i64> = (0..self.sizes)
            .map(|_| (random.next() % (LONGEST + 1)) as i64)
            .collect();
        let mut one = || {
            let part = |(shape, elem): &(Vec<Extent>, ScalarType)| {
                let extent = |extent: &Extent| match extent {
                    Extent::Fixed(n) => *n,
                    Extent::Size(size) => sizes[*size],
                };
                let shape: Vec<i64> = shape.iter().map(extent).collect();
                let count = shape.iter().product::<i64>().max(0);
                shaped(&shape, small(*elem, count as usize, random))
            };
            self.parts.iter().map(part).collect::<Vec<_>>()
        };
        [one(), one(), one()]
    }

    /// Both sides of the law's equation, if they differ.
    fn broken(&self, law: Law, [a, b, c]: &Operands) -> Result<Option<Sides>, RunError> {
        let equations = match law {
            Law::Associative => {
                let (ab, bc) = (self.apply(a, b)?.0, self.apply(b, c)?.0);
                let (left, right) = (self.apply(&ab, c)?.0, self.apply(a, &bc)?.0);
                vec![(("(a o b) o c", left), ("a o (b o c)", right))]
            }
            Law::Neutral => {
                let neutral = self.apply(a, a)?.1;
                let (left, right) = (self.apply(&neutral, a)?.0, self.apply(a, &neutral)?.0);
                vec![
                    (("neutral o a", left), ("a", a.clone())),
                    (("a o neutral", right), ("a", a.clone())),
                ]
            }
            Law::Commutative => {
                let (left, right) = (self.apply(a, b)?.0, self.apply(b, a)?.0);
                vec![(("a o b", left), ("b o a", right))]
            }
        };
        let differ = |((_, left), (_, right)): &((_, Vec<Value>), (_, Vec<Value>))| {
            compare_all(left, right).0.is_err()
        };
        let broken = equations.into_iter().find(differ);
        Ok(broken.map(|(left, right)| Sides { left, right }))
    }

    /// The verdict on an operator with a counter-example, the smallest that there is on the way down from this one.
    fn failure(&self, law: Law, mut operands: Operands) -> Verdict {
        let mut smaller = true;
        while smaller {
            smaller = false;
            for candidate in simpler(&operands) {
                if matches!(self.broken(law, &candidate), Ok(Some(_))) {
                    operands = candidate;
                    smaller = true;
                    break;
                }
            }
        }
        let (what, operand_names): (_, &[&str]) = match law {
            Law::Associative => ("associative", &["a", "b", "c"]),
            Law::Neutral => ("given with its neutral element", &["a"]),
            Law::Commutative => ("commutative", &["a", "b"]),
        };
        let mut detail = format!("the operator of {} is not {what}:", self.found.given_to);
        if let Ok(Some(Sides { left, right })) = self.broken(law, &operands) {
            for (name, values) in [left, right] {
                detail.push_str(&format!("\n{name} = {}", tuple(&values)));
            }
        }
        detail.push_str("\ncounterexample:");
        for (name, values) in operand_names.iter().zip(&operands) {
            detail.push_str(&format!("\n{name} = {}", tuple(values)));
        }
        Verdict::fail(format!("an operator that is not {what}"), detail)
    }
}

fn tuple(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(value_text).collect();
    let text = match texts.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Small numbers: whole ones from -4 to 4, or halves of such.
fn small(elem: ScalarType, len: usize, random: &mut SplitMix) -> Data {
    let mut whole = || (random.next() % 9) as i64 - 4;
    let mut wholes = (0..len).map(|_| whole()).collect::<Vec<_>>().into_iter();
    match elem {
        ScalarType::I8 => Data::I8(wholes.map(|n| n as i8).collect()),
        ScalarType::I16 => Data::I16(wholes.map(|n| n as i16).collect()),
        ScalarType::I32 => Data::I32(wholes.map(|n| n as i32).collect()),
        ScalarType::I64 => Data::I64(wholes.collect()),
        ScalarType::U8 => Data::U8(wholes.map(|n| n.unsigned_abs() as u8).collect()),
        ScalarType::U16 => Data::U16(wholes.map(|n| n.unsigned_abs() as u16).collect()),
        ScalarType::U32 => Data::U32(wholes.map(|n| n.unsigned_abs() as u32).collect()),
        ScalarType::U64 => Data::U64(wholes.map(i64::unsigned_abs).collect()),
        ScalarType::F16 => Data::F16(wholes.map(|n| f16::from_f64(n as f64 / 2.0)).collect()),
        ScalarType::F32 => Data::F32(wholes.map(|n| n as f32 / 2.0).collect()),
        ScalarType::F64 => Data::F64(wholes.map(|n| n as f64 / 2.0).collect()),
        ScalarType::Bool => Data::Bool(wholes.by_ref().map(|n| n > 0).collect()),
    }
}

/// Operands in which one number is 0 or 1 in place of another.
fn simpler(operands: &Operands) -> Vec<Operands> {
    let mut all = Vec::new();
    for (which, operand) in operands.iter().enumerate() {
        for (part, value) in operand.iter().enumerate() {
            let data = data_of(value);
            for at in 0..data.len() {
                for simple in simple_numbers(&data, at) {
                    let mut candidate = operands.clone();
                    candidate[which][part] = shaped(value.shape(), simple);
                    all.push(candidate);
                }
            }
        }
    }
    all
}

fn data_of(value: &Value) -> Data {
    match value {
        Value::Array(array) => array.data.clone(),
        Value::Scalar(constant) => {
            let mut data = Data::zeros(constant.ty(), 1);
            data.set(0, *constant);
            data
        }
    }
}

/// The elements with 0 or 1 at a place, if that is simpler than what is there.
fn simple_numbers(data: &Data, at: usize) -> Vec<Data> {
    let zero = Data::zeros(data.elem(), 1).get(0);
    let old = data.get(at);
    let mut all = Vec::new();
    let mut with = |constant| {
        let mut data = data.clone();
        data.set(at, constant);
        all.push(data);
    };
    if old == zero {
        return all;
    }
    with(zero);
    let one = ones(data.elem()).get(0);
    if old != one {
        with(one);
    }
    all
}

fn ones(elem: ScalarType) -> Data {
    match elem {
        ScalarType::I8 => Data::I8(vec![1]),
        ScalarType::I16 => Data::I16(vec![1]),
        ScalarType::I32 => Data::I32(vec![1]),
        ScalarType::I64 => Data::I64(vec![1]),
        ScalarType::U8 => Data::U8(vec![1]),
        ScalarType::U16 => Data::U16(vec![1]),
        ScalarType::U32 => Data::U32(vec![1]),
        ScalarType::U64 => Data::U64(vec![1]),
        ScalarType::F16 => Data::F16(vec![f16::ONE]),
        ScalarType::F32 => Data::F32(vec![1.0]),
        ScalarType::F64 => Data::F64(vec![1.0]),
        ScalarType::Bool => Data::Bool(vec![true]),
    }
}
