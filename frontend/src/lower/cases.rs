//! `match`: conditionals in the order of the cases. Where many cases in a row compare one scalar with constants, a binary search finds
//! the number of the case that fits, and another one its body:
//!
//! ```text
//! match x                  let i = if x < 7 { if x == 1 { 0 } else { 3 } }
//! case 1 -> a                      else { if x < 9 { if x == 7 { 1 } else { 3 } } else { .. } }
//! case 7 -> b       ──►    if i < 2 { if i < 1 { a } else { b } }
//! case 9 -> c              else { if i < 3 { c } else { d } }
//! case _ -> d
//! ```
//!
//! So each body is there once, and conditionals are nested as deep as the logarithm of the number of cases.

use super::env::Frame;
use super::exp::literal;
use super::value::Value;
use super::{Lower, Res, unsupported};
use crate::typed::{Case, Exp, Pat, PatKind};
use midend::ir::id::Var;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body, Exp as IrExp};
use midend::ir::types::{ScalarType, Type};
use std::cmp::Ordering;
use std::rc::Rc;

/// The fewest cases that are searched instead of tried one after another.
const MANY: usize = 8;

const YES: Atom = Atom::Const(Const::Bool(true));

/// A case by its number, and the scalars that have to be equal to constants for it to fit, as far as that is not known yet.
struct Open {
    case: usize,
    tests: Vec<(Var, Const)>,
}

impl Open {
    /// What a scalar has to be.
    fn wants(&self, on: Var) -> Option<Const> {
        let test = self.tests.iter().find(|(v, _)| *v == on);
        test.map(|(_, c)| *c)
    }

    /// The case where a scalar is known to be what it has to be.
    fn without(&self, on: Var) -> Open {
        let tests = self.tests.iter().copied().filter(|(v, _)| *v != on);
        Open {
            case: self.case,
            tests: tests.collect(),
        }
    }
}

/// A `match` whose first cases are searched.
struct Match<'m, 'a> {
    v: &'m Value<'a>,
    cases: &'a [Case],
    /// How many of the cases are searched.
    searched: usize,
    e: &'a Exp,
    frame: &'m Rc<Frame<'a>>,
}

impl<'a> Lower<'a> {
    /// A `match`; the last case needs no test.
    pub fn lower_match(
        &mut self,
        v: &Value<'a>,
        cases: &'a [Case],
        e: &'a Exp,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let Some((case, rest)) = cases.split_first() else {
            return Err(unsupported(e.span, "a `match` without cases"));
        };
        let run = first_run(v, &cases[..rest.len()]);
        if run.len() >= MANY {
            let miss = run.len();
            let number = self.number(&run, miss)?;
            let whole = Match {
                v,
                cases,
                searched: miss,
                e,
                frame,
            };
            return self.numbered(&whole, number, (0, miss));
        }
        let cond = match rest {
            [] => YES,
            [..] => self.pat_test(&case.pat, v),
        };
        self.lower_if(
            cond,
            Some((&e.ty, frame)),
            &mut |l| {
                let v = l.matched(&case.pat, v, frame);
                l.bind_pat(&case.pat, &v, frame);
                l.exp(&case.body, frame)
            },
            &mut |l| deep(|| l.lower_match(v, rest, e, frame)),
            e.span,
        )
    }

    /// The number of the first case that fits; `miss` if none does.
    fn number(&mut self, cases: &[Open], miss: usize) -> Res<Atom> {
        let Some((first, rest)) = cases.split_first() else {
            return Ok(number(miss));
        };
        let Some(&(on, c)) = first.tests.first() else {
            return Ok(number(first.case));
        };
        let run = cases.iter().map_while(|case| Some((case.wants(on)?, case)));
        let mut run: Vec<(Const, &Open)> = run.collect();
        let after = &cases[run.len()..];
        if let [_] = run[..] {
            let fits = self.is(on, c);
            let first = first.without(on);
            if first.tests.is_empty() {
                return self.choice(fits, &mut |_| Ok(number(first.case)), &mut |l| {
                    deep(|| l.number(rest, miss))
                });
            }
        }
        run.sort_by(|(a, _), (b, _)| compare(*a, *b));
        let groups = run.chunk_by(|(a, _), (b, _)| compare(*a, *b) == Ordering::Equal);
        let groups: Vec<(Const, Vec<Open>)> = groups
            .map(|group| {
                let open = group.iter().map(|(_, case)| case.without(on));
                (group[0].0, open.collect())
            })
            .collect();
        let found = self.search(on, &groups, miss)?;
        if after.is_empty() {
            return Ok(found);
        }
        let missed = self.cmp(CmpOp::Eq, ScalarType::I32, found, number(miss));
        self.choice(missed, &mut |l| deep(|| l.number(after, miss)), &mut |_| {
            Ok(found)
        })
    }

    /// The number of the first case that fits, by what a scalar has to be, in order.
    fn search(&mut self, on: Var, groups: &[(Const, Vec<Open>)], miss: usize) -> Res<Atom> {
        let middle = groups.len() / 2;
        match groups {
            [] => Ok(number(miss)),
            [(c, cases)] => {
                let fits = self.is(on, *c);
                self.choice(fits, &mut |l| deep(|| l.number(cases, miss)), &mut |_| {
                    Ok(number(miss))
                })
            }
            [..] => {
                let (low, high) = groups.split_at(middle);
                let c = high[0].0;
                let less = self.cmp(CmpOp::Lt, c.ty(), Atom::Var(on), Atom::Const(c));
                self.choice(less, &mut |l| l.search(on, low, miss), &mut |l| {
                    l.search(on, high, miss)
                })
            }
        }
    }

    fn is(&mut self, on: Var, c: Const) -> Atom {
        self.cmp(CmpOp::Eq, c.ty(), Atom::Var(on), Atom::Const(c))
    }

    /// One of two numbers of cases.
    fn choice(
        &mut self,
        cond: Atom,
        then: &mut dyn FnMut(&mut Self) -> Res<Atom>,
        otherwise: &mut dyn FnMut(&mut Self) -> Res<Atom>,
    ) -> Res<Atom> {
        let side = |l: &mut Self, f: &mut dyn FnMut(&mut Self) -> Res<Atom>| -> Res<Body<Soac>> {
            let (number, stms) = l.nested(f)?;
            let result = vec![number];
            Ok(Body { stms, result })
        };
        let then = side(self, then)?;
        let otherwise = side(self, otherwise)?;
        let choice = IrExp::If {
            cond,
            then,
            otherwise,
        };
        let ty = Type::Scalar(ScalarType::I32);
        Ok(Atom::Var(self.bind1("case", ty, choice)))
    }

    /// The body of the case with this number, which lies between two, both included; the last is for all cases that were not
    /// searched.
    fn numbered(
        &mut self,
        whole: &Match<'_, 'a>,
        at: Atom,
        (first, last): (usize, usize),
    ) -> Res<Value<'a>> {
        let Match {
            v, cases, e, frame, ..
        } = *whole;
        if first < last {
            let middle = first.midpoint(last) + 1;
            let less = self.cmp(CmpOp::Lt, ScalarType::I32, at, number(middle));
            return self.lower_if(
                less,
                Some((&e.ty, frame)),
                &mut |l| l.numbered(whole, at, (first, middle - 1)),
                &mut |l| l.numbered(whole, at, (middle, last)),
                e.span,
            );
        }
        if first == whole.searched {
            return deep(|| self.lower_match(v, &cases[first..], e, frame));
        }
        let v = self.matched(&cases[first].pat, v, frame);
        self.bind_pat(&cases[first].pat, &v, frame);
        self.exp(&cases[first].body, frame)
    }

    /// Whether the value fits the pattern. Payloads of absent constructors may be looked at: they have some value.
    fn pat_test(&mut self, pat: &'a Pat, v: &Value<'a>) -> Atom {
        let yes = Atom::Const(Const::Bool(true));
        match (&pat.kind, v) {
            (PatKind::Literal(lit), Value::Leaf(leaf)) => {
                let c = literal(*lit);
                self.cmp(CmpOp::Eq, c.ty(), leaf.atom, Atom::Const(c))
            }
            (PatKind::Tuple(ps), Value::Tuple(vs)) => {
                let pairs = ps.iter().zip(vs.iter());
                pairs.fold(yes, |ok, (p, v)| {
                    let test = self.pat_test(p, v);
                    self.and(ok, test)
                })
            }
            (PatKind::Record(ps), _) => ps.iter().fold(yes, |ok, (field, p)| {
                let test = self.pat_test(p, &super::exp::project(v, field));
                self.and(ok, test)
            }),
            (PatKind::Construct(con, ps), Value::Sum(sum)) => {
                let Some(i) = sum.cons.iter().position(|(name, _)| name == con) else {
                    return Atom::Const(Const::Bool(false));
                };
                let tag = Atom::Const(Const::U8(u8::try_from(i).unwrap_or(u8::MAX)));
                let same = match sum.tag.atom {
                    Atom::Const(c) => Atom::Const(Const::Bool(Atom::Const(c) == tag)),
                    Atom::Var(_) if sum.cons.len() == 1 => yes,
                    Atom::Var(_) => self.cmp(CmpOp::Eq, ScalarType::U8, sum.tag.atom, tag),
                };
                let pairs = ps.iter().zip(&sum.cons[i].1);
                pairs.fold(same, |ok, (p, v)| {
                    let test = self.pat_test(p, v);
                    self.and(ok, test)
                })
            }
            (
                PatKind::Name(_)
                | PatKind::Wild
                | PatKind::Literal(_)
                | PatKind::Tuple(_)
                | PatKind::Construct(..),
                _,
            ) => yes,
        }
    }
}

/// The cases at the beginning that compare the same scalar with a constant.
fn first_run(v: &Value<'_>, cases: &[Case]) -> Vec<Open> {
    let mut run = Vec::new();
    let mut on = None;
    for (case, of) in cases.iter().enumerate() {
        let mut tests = Vec::new();
        let known = collect(&of.pat, v, &mut tests).is_some();
        let open = Open { case, tests };
        let on = *on.get_or_insert(open.tests.first().map(|(v, _)| *v));
        if !known || on.is_none_or(|on| open.wants(on).is_none()) {
            break;
        }
        run.push(open);
    }
    run
}

/// Collects what has to hold for a pattern to fit a value; nothing if that is no comparison of variables with constants.
fn collect(pat: &Pat, v: &Value<'_>, tests: &mut Vec<(Var, Const)>) -> Option<()> {
    let mut equal = |atom: Atom, c: Const| match atom {
        Atom::Var(v) => match tests.iter().find(|(known, _)| *known == v) {
            Some((_, known)) => (compare(*known, c) == Ordering::Equal).then_some(()),
            None => {
                tests.push((v, c));
                Some(())
            }
        },
        Atom::Const(known) => (known == c && !c.ty().is_float()).then_some(()),
    };
    match (&pat.kind, v) {
        (PatKind::Literal(lit), Value::Leaf(leaf)) => equal(leaf.atom, literal(*lit)),
        (PatKind::Tuple(ps), Value::Tuple(vs)) => {
            let mut pairs = ps.iter().zip(vs.iter());
            pairs.try_for_each(|(p, v)| collect(p, v, tests))
        }
        (PatKind::Record(ps), _) => ps
            .iter()
            .try_for_each(|(field, p)| collect(p, &super::exp::project(v, field), tests)),
        (PatKind::Construct(con, ps), Value::Sum(sum)) => {
            let i = sum.cons.iter().position(|(name, _)| name == con)?;
            if sum.cons.len() > 1 {
                equal(sum.tag.atom, Const::U8(u8::try_from(i).ok()?))?;
            }
            let mut pairs = ps.iter().zip(&sum.cons[i].1);
            pairs.try_for_each(|(p, v)| collect(p, v, tests))
        }
        (
            PatKind::Name(_)
            | PatKind::Wild
            | PatKind::Literal(_)
            | PatKind::Tuple(_)
            | PatKind::Construct(..),
            _,
        ) => Some(()),
    }
}

/// The order of two constants of one type.
fn compare(a: Const, b: Const) -> Ordering {
    let float = |c: Const| match c {
        Const::F16(bits) => f64::from(half::f16::from_bits(bits)),
        Const::F32(bits) => f64::from(f32::from_bits(bits)),
        Const::F64(bits) => f64::from_bits(bits),
        Const::I8(_)
        | Const::I16(_)
        | Const::I32(_)
        | Const::I64(_)
        | Const::U8(_)
        | Const::U16(_)
        | Const::U32(_)
        | Const::U64(_)
        | Const::Bool(_) => f64::NAN,
    };
    let floats = float(a).partial_cmp(&float(b));
    floats.unwrap_or_else(|| a.cmp(&b))
}

fn number(case: usize) -> Atom {
    Atom::Const(Const::I32(i32::try_from(case).unwrap_or(i32::MAX)))
}

fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, f)
}
