//! Derivatives of entry points at the arguments of test blocks: forward and reverse mode, the interpreter's definition and central differences
//! must tell the same.
//!
//! ```text
//! <y', J x'>  =  <J^T y', x'>  =  <y', f(x + h x') - f(x - h x')> / 2h        for random directions x' and weights y'
//! ```
//!
//! Differences say something only where a function is smooth. They are computed for several `h`, and each comes with a bound of its error, from how it
//! changes with `h` and from rounding: where the bound is large, or the differences to both sides are not the same, nothing is concluded,
//! and points nearby are tried.

mod numbers;

use super::case::{arguments, with_deadline};
use super::cause::of_run_error;
use super::property::SHOWN;
use super::{CaseKind, CaseReport, TestOptions, Verdict};
use crate::compare::compare_all;
use crate::data::value_text;
use crate::session::{Program, Session, on_big_stack};
use crate::spec::{Case, Expect, SplitMix};
use midend::analysis::derived::{Derived, FORWARD, REVERSE, derived};
use midend::trap::RunError;
use midend::value::Value;
use numbers::{Slope, Told, dot, is_finite, moved, random_like, rounding, size, sum_of_products};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Directions and weights for each case.
const DIRECTIONS: u32 = 4;
/// Points for which a direction is tried until differences tell something.
const POINTS: u32 = 4;
/// How far from the arguments other points are, in terms of their size.
const NEARBY: f64 = 1.0 / 64.0;
/// The statements that the interpreter may execute for its derivatives.
const REFERENCE_FUEL: u64 = 20_000_000;

/// Tests the derivatives of the entry points that have cases with floats.
pub(super) fn test_derivatives(
    program: &Program,
    (session, path): (&Session, &Path),
    cases: &[Case],
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> Vec<CaseReport> {
    let mut made: BTreeMap<&str, Result<Subject, Verdict>> = BTreeMap::new();
    let mut reports = Vec::new();
    for case in cases {
        let wanted = options.entry.as_ref().is_none_or(|e| *e == case.entry);
        let fails = matches!(case.expect, Expect::Failure(_));
        if !wanted || fails || options.excludes(&case.tags) || !has_floats(program, &case.entry) {
            continue;
        }
        let mut title = format!("derivatives of {}", case.title());
        begin(&title);
        let start = Instant::now();
        let subject =
            (made.entry(&case.entry)).or_insert_with(|| Subject::of(program, session, &case.entry));
        let mut verdict = Verdict::Pass;
        match subject {
            Ok(subject) => with_deadline(session, options.timeout, || {
                verdict = match subject.tested(program, (path, case), options.properties.seed) {
                    Ok(outcome) => {
                        title.push_str(outcome.note());
                        subject.verdict()
                    }
                    Err(verdict) => verdict,
                };
            }),
            Err(why) => verdict = why.clone(),
        }
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

/// Whether floats go in and come out.
fn has_floats(program: &Program, entry: &str) -> bool {
    let Some(entry) = program.entry(entry) else {
        return false;
    };
    let has = |ty| {
        let leaves = midend::value::leaf::leaves(ty);
        leaves.iter().any(|leaf| leaf.elem.is_float())
    };
    entry.params.iter().any(|param| has(&param.ty)) && entry.results.iter().any(has)
}

/// The derivatives of an entry point.
struct Subject {
    derived: Derived,
    compiled: Program,
    /// Why there is no reverse mode on the target.
    refused: Option<String>,
}

/// What is known after all directions.
struct Outcome {
    /// How many directions differences were of use for.
    smooth: u32,
    finite: bool,
}

impl Outcome {
    const fn note(&self) -> &'static str {
        match self {
            Self { finite: false, .. } => ", which are not finite there",
            Self { smooth: 0, .. } => ", where differences tell nothing",
            Self { .. } => "",
        }
    }
}

/// Arguments, a direction and weights.
struct Probe<'a> {
    others: &'a [Value],
    x: &'a [Value],
    direction: &'a [Value],
    weights: &'a [Value],
}

impl Subject {
    fn of(program: &Program, session: &Session, entry: &str) -> Result<Self, Verdict> {
        let skip = |why: String| Verdict::Skip { why };
        let Some(nested) = program.nested() else {
            return Err(skip(String::from("the program is not kept")));
        };
        let make = |reverse| derived(nested, entry, reverse).map_err(skip);
        let compile =
            |derived: &Derived| on_big_stack(|| session.compile_ir(derived.program.clone()));
        let both = make(true)?;
        let (derived, compiled, refused) = match compile(&both) {
            Ok(compiled) => (both, compiled, None),
            Err(why) if !why.is_internal() => {
                let forward = make(false)?;
                let refused = why.to_string();
                match compile(&forward) {
                    Ok(compiled) => (forward, compiled, Some(refused)),
                    Err(_) => return Err(skip(refused)),
                }
            }
            Err(why) => {
                let text = why.to_string();
                return Err(Verdict::fail("derivatives that do not compile", text));
            }
        };
        Ok(Self {
            derived,
            compiled,
            refused,
        })
    }

    /// The verdict if nothing was wrong.
    fn verdict(&self) -> Verdict {
        match &self.refused {
            Some(why) => Verdict::Skip { why: why.clone() },
            None => Verdict::Pass,
        }
    }

    fn tested(
        &self,
        program: &Program,
        (path, case): (&Path, &Case),
        seed: u64,
    ) -> Result<Outcome, Verdict> {
        let skip = |why: String| Verdict::Skip { why };
        let directory = path.parent().unwrap_or(Path::new("."));
        let Some(entry) = program.entry(&case.entry) else {
            return Err(skip(format!("there is no entry point {}", case.entry)));
        };
        let args = arguments(program, directory, case, entry).map_err(skip)?;
        if args.len() != self.derived.inputs.len() {
            return Err(skip(String::from("its arguments are no values")));
        }
        let (mut others, mut x) = (Vec::new(), Vec::new());
        for (arg, float) in args.into_iter().zip(&self.derived.inputs) {
            if *float { &mut x } else { &mut others }.push(arg);
        }
        let mut random = SplitMix(seed);
        let mut outcome = Outcome {
            smooth: 0,
            finite: false,
        };
        let Ok(y) = self.primal(program, &case.entry, &others, &x) else {
            return Err(skip(String::from("it fails on these arguments")));
        };
        for _ in 0..DIRECTIONS {
            let direction = random_like(&x, &mut random);
            let mut at = x.clone();
            for point in 0..POINTS {
                let y = match point {
                    0 => y.clone(),
                    _ => {
                        let away = random_like(&x, &mut random);
                        at = moved(&x, &away, NEARBY * size(&x));
                        match self.primal(program, &case.entry, &others, &at) {
                            Ok(y) => y,
                            Err(_) => continue,
                        }
                    }
                };
                let weights = random_like(&y, &mut random);
                let probe = Probe {
                    others: &others,
                    x: &at,
                    direction: &direction,
                    weights: &weights,
                };
                match self.probed(program, &case.entry, &probe, &y)? {
                    Some(Told::Agrees) => {
                        outcome.finite = true;
                        outcome.smooth += 1;
                        break;
                    }
                    Some(Told::Nothing | Told::Differs) => outcome.finite = true,
                    None => {}
                }
            }
        }
        Ok(outcome)
    }

    /// The floats among the results of the entry point.
    fn primal(
        &self,
        program: &Program,
        entry: &str,
        others: &[Value],
        x: &[Value],
    ) -> Result<Vec<Value>, RunError> {
        let (mut others, mut x) = (others.iter(), x.iter());
        let args = self.derived.inputs.iter().filter_map(|float| match float {
            true => x.next(),
            false => others.next(),
        });
        let results = program.call(entry, args.cloned().collect())?;
        let results = results.into_iter().zip(&self.derived.outputs);
        Ok(results
            .filter(|(_, float)| **float)
            .map(|(y, _)| y)
            .collect())
    }

    /// The results of a derivative: those of the function, and the derivatives.
    fn call(
        &self,
        (entry, name): (&str, &str),
        probe: &Probe<'_>,
        y: &[Value],
    ) -> Result<Vec<Value>, Verdict> {
        let more = if entry == FORWARD {
            probe.direction
        } else {
            probe.weights
        };
        let args = [probe.others, probe.x, more].concat();
        let failed = |error: &RunError| {
            Verdict::fail(of_run_error(error), format!("{name} failed: {error}"))
        };
        let mut results = match self.compiled.call(entry, args.clone()) {
            Ok(results) => results,
            // Derivatives need more memory and time than what they are derivatives of.
            Err(
                error
                @ (RunError::OutOfMemory { .. } | RunError::OutOfFuel | RunError::Interrupted),
            ) => {
                let why = format!("{name}: {error}");
                return Err(Verdict::Skip { why });
            }
            Err(error) => return Err(failed(&error)),
        };
        let compared = |found: &[Value], expected: &[Value], what: &str| {
            compare_all(found, expected).0.map_err(|why| {
                let text = format!("{name}: {what}: {why}\n{}", probe.text());
                Verdict::fail(format!("{name} {what}"), text)
            })
        };
        if let Some(Ok(expected)) = self.compiled.call_reference(entry, args, REFERENCE_FUEL) {
            compared(&results, &expected, "differs from the interpreter's")?;
        }
        let derivatives = results.split_off(y.len().min(results.len()));
        compared(&results, y, "has other results than the function")?;
        Ok(derivatives)
    }

    /// Tests one direction; nothing if something is not finite.
    fn probed(
        &self,
        program: &Program,
        entry: &str,
        probe: &Probe<'_>,
        y: &[Value],
    ) -> Result<Option<Told>, Verdict> {
        let tangents = self.call((FORWARD, "forward mode"), probe, y)?;
        let gradient = match self.refused {
            None => Some(self.call((REVERSE, "reverse mode"), probe, y)?),
            Some(_) => None,
        };
        let all = [&tangents[..], gradient.as_deref().unwrap_or_default(), y].concat();
        if !is_finite(&all) {
            return Ok(None);
        }
        let forward = dot(probe.weights, &tangents);
        let mut scale = sum_of_products(probe.weights, &tangents);
        let reverse = gradient.map(|gradient| {
            scale = scale.max(sum_of_products(&gradient, probe.direction));
            dot(&gradient, probe.direction)
        });
        let eps = rounding(probe.x).max(rounding(y));
        let slopes = self.slopes(program, entry, probe, y, eps);
        let told = |derivative: f64| numbers::told(&slopes, derivative, scale, eps);
        let agree = |a: f64, b: f64| (a - b).abs() <= numbers::tolerance(eps) * scale;
        let mut text = format!("<y', J x'> = {forward:e} in forward mode");
        if let Some(reverse) = reverse {
            text.push_str(&format!("\n<J^T y', x'> = {reverse:e} in reverse mode"));
        }
        if let Some(slope) = slopes.last() {
            let Slope { h, value, .. } = slope;
            text.push_str(&format!("\n{value:e} by differences (h = {h:e})"));
        }
        text.push_str(&format!("\n{}", probe.text()));
        match (told(forward), reverse) {
            (_, Some(reverse)) if !agree(forward, reverse) => Err(Verdict::fail(
                "forward and reverse mode disagree",
                format!("forward and reverse mode disagree\n{text}"),
            )),
            (Told::Differs, _) => Err(Verdict::fail(
                "derivatives differ from differences",
                format!("derivatives differ from differences\n{text}"),
            )),
            (told @ (Told::Agrees | Told::Nothing), _) => Ok(Some(told)),
        }
    }

    /// What differences say.
    fn slopes(
        &self,
        program: &Program,
        entry: &str,
        probe: &Probe<'_>,
        y: &[Value],
        eps: f64,
    ) -> Vec<Slope> {
        let f = |h: f64| {
            let x = moved(probe.x, probe.direction, h);
            self.primal(program, entry, probe.others, &x).ok()
        };
        numbers::slopes(&f, (probe.x, y, probe.weights), eps)
    }
}

impl Probe<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, values) in [("x", self.x), ("x'", self.direction), ("y'", self.weights)] {
            let values: Vec<String> = values.iter().map(value_text).collect();
            text.push_str(&format!("{name} = {}\n", values.join(" ")));
        }
        text.pop();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }
}
