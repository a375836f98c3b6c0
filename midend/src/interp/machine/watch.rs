//! What the analyses claim of a program, checked while it is interpreted: canonical values, extents, and what is the same for
//! all points of the parallel operations around.
//!
//! A value that is claimed to be the same along an operation is compared with the first that was seen at the same place: the
//! same variable, after the same calls, at the same iterations of loops and indices of the operations inside. Where a claim
//! cannot be looked up at little cost (sums over many elements, elements of arrays that were consumed meanwhile), it is let be.

use super::{Exec, Machine};
use crate::analysis::regularity::Regularity;
use crate::analysis::regularity::levels::Levels;
use crate::analysis::shapes::Extent;
use crate::analysis::shapes::form::{Family, FamilyKind, Form, Term, TermKind, Value};
use crate::hash::HashMap;
use crate::interp::code::Watched;
use crate::interp::scalar;
use crate::interp::value::{Array, Run, Val, internal};
use crate::ir::id::{IdMap, Var};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Exp, Program, Stm};
use crate::ir::walk;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most elements that are looked at to check a sum, or an array.
const MOST: i64 = 64;
/// The most values that are remembered for a parallel operation.
const REMEMBERED: usize = 1 << 16;

/// The claims, and where the run is.
pub(crate) struct Watch {
    facts: Regularity,
    /// Variables of operators that are applied any number of times at one place.
    repeated: IdMap<Var, bool>,
    /// Iterations, indices and calls around the statement at hand, from outside in.
    path: Vec<i64>,
    points: Vec<Point>,
    /// For each open call, the number of points around it.
    calls: Vec<usize>,
}

/// A parallel operation that is being executed.
struct Point {
    /// The first variable that its statement binds.
    first: Option<Var>,
    /// Where the index stands in the path.
    at: usize,
    seen: HashMap<u64, Seen>,
}

/// What was seen of a value.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Scalar(Const),
    Number(u64),
}

impl Seen {
    fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => scalar::same(a, b),
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Scalar(_), Self::Number(_)) | (Self::Number(_), Self::Scalar(_)) => false,
        }
    }
}

impl Watch {
    /// The claims of all analyses.
    pub(crate) fn new(program: &Program<Soac>, facts: Regularity) -> Self {
        let mut repeated = IdMap::new();
        for fun in program.funs.iter() {
            walk::all_stms(&fun.body, &mut |stm| {
                if let Exp::Op(Soac::WithAcc { acc, .. }) = &stm.exp
                    && let Some(op) = &acc.op
                {
                    op.lam.params.iter().for_each(|v| repeated.set(*v, true));
                    walk::body_binders(&op.lam.body, &mut |v| repeated.set(v, true));
                }
            });
        }
        Self {
            facts,
            repeated,
            path: Vec::new(),
            points: Vec::new(),
            calls: vec![0],
        }
    }

    /// Whether a value that varies like this is claimed to be the same for all indices of operation `i` of those around.
    fn is_same_along(&self, i: usize, varies: Levels, v: Var) -> bool {
        let base = self.calls.last().copied().unwrap_or(0);
        match i.checked_sub(base) {
            // Of the operations around the function, as one.
            None => !varies.meets(self.facts.differs(v)),
            Some(depth) => depth < self.facts.depth(v) && !varies.meets(Levels::nest(depth)),
        }
    }

    /// Compares what is seen with what was seen at other points.
    fn compare(&mut self, v: Var, part: usize, varies: Levels, seen: Seen) -> Result<(), String> {
        for i in 0..self.points.len() {
            if !self.is_same_along(i, varies, v) {
                continue;
            }
            let mut place = DefaultHasher::new();
            (v, part, &self.path[self.points[i].at + 1..]).hash(&mut place);
            let table = &mut self.points[i].seen;
            let full = table.len() >= REMEMBERED;
            match table.get(&place.finish()) {
                Some(first) if !first.is(seen) => {
                    return Err(format!(
                        "is claimed to be the same along operation {i} around, and is {first:?} and {seen:?}"
                    ));
                }
                Some(_) => {}
                None if full => {}
                None => {
                    table.insert(place.finish(), seen);
                }
            }
        }
        Ok(())
    }
}

impl<D: Exec> Machine<'_, D> {
    /// Something has happened that is of interest to those who check claims.
    pub(crate) fn watched(&mut self, what: Watched, vars: &[Var]) -> Run<()> {
        match what {
            Watched::Statement => {}
            Watched::Enter => self.path_in(-1),
            Watched::Round => {
                if let Some(last) = self.watch.as_mut().and_then(|w| w.path.last_mut()) {
                    *last += 1;
                }
            }
            Watched::Leave => self.path_out(),
        }
        self.check_claims(vars.iter().copied())
    }

    /// A loop begins, or a call; `n` is its iteration, or names the call.
    pub(crate) fn path_in(&mut self, n: i64) {
        if let Some(watch) = &mut self.watch {
            watch.path.push(n);
        }
    }

    /// What began has ended.
    pub(crate) fn path_out(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.path.pop();
        }
    }

    /// The body of a function begins.
    pub(super) fn call_in(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.calls.push(watch.points.len());
        }
    }

    /// The body of a function has ended.
    pub(super) fn call_out(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.calls.pop();
        }
    }

    /// An operation begins, a parallel one or another.
    pub(crate) fn points_in(&mut self, stm: &Stm<D>, op: &D) {
        if let Some(watch) = &mut self.watch {
            // The variable by which analyses name the operation.
            let mut first = stm.binds.first().copied();
            op.elements(&mut |p, _| first = first.or(Some(p)));
            watch.points.push(Point {
                first,
                at: watch.path.len(),
                seen: HashMap::default(),
            });
            watch.path.push(0);
        }
    }

    /// The innermost operation goes on to another index.
    pub(crate) fn points_at(&mut self, index: i64) {
        if let Some(watch) = &mut self.watch
            && let Some(point) = watch.points.last()
        {
            watch.path[point.at] = index;
        }
    }

    /// The operation has ended.
    pub(crate) fn points_out(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.points.pop();
            watch.path.pop();
        }
    }

    /// Checks what is claimed of variables that have been set.
    pub(crate) fn check_claims(&mut self, vars: impl Iterator<Item = Var>) -> Run<()> {
        let Some(mut watch) = self.watch.take() else {
            return Ok(());
        };
        let mut wrong = vars.map(|v| (v, self.wrong_claim(&mut watch, v)));
        let first = wrong.find_map(|(v, wrong)| Some((v, wrong.err()?)));
        self.watch = Some(watch);
        match first {
            None => Ok(()),
            Some((v, why)) => internal(format!("{}{v:?} {why}", self.program.vars[v].name)),
        }
    }

    fn wrong_claim(&self, watch: &mut Watch, v: Var) -> Result<(), String> {
        // What was consumed meanwhile is nobody's.
        let Ok(value) = self.atom(v.into()) else {
            return Ok(());
        };
        let claimed = watch.facts.shapes().value(v);
        let varies = watch.facts.varies(v.into());
        let repeated = watch.repeated[v];
        match value {
            Val::Scalar(c) => {
                if let Some(Value::Scalar(f)) = claimed {
                    self.expect(watch, f, c)?;
                }
                if !repeated {
                    watch.compare(v, 0, varies, Seen::Scalar(c))?;
                }
            }
            // A ragged array has no extents of its own to look at.
            Val::Array(array) if array.ragged.is_some() => {}
            Val::Array(array) => {
                self.wrong_shape(watch, v, &array)?;
                if let Some(Value::Array(family)) = claimed {
                    self.wrong_elements(watch, family, &array)?;
                }
                let acc = self.program.vars[v].ty.is_acc();
                if !repeated && !acc && array.count() <= MOST {
                    watch.compare(v, 0, varies, contents(&array))?;
                }
            }
            Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => {}
        }
        Ok(())
    }

    fn wrong_shape(&self, watch: &mut Watch, v: Var, array: &Array) -> Result<(), String> {
        let shape = watch.facts.shapes().shape(v).to_vec();
        for (i, (extent, have)) in shape.iter().zip(&*array.dims).enumerate() {
            if let Extent::Fixed(f) = extent {
                self.expect(watch, *f, Const::I64(have.extent))?;
            }
            let varies = watch.facts.dims(v)[i].varies;
            if !watch.repeated[v] {
                let seen = Seen::Scalar(Const::I64(have.extent));
                watch.compare(v, i + 1, varies, seen)?;
            }
        }
        Ok(())
    }

    /// The first and last elements of vectors against what they are claimed to be.
    fn wrong_elements(&self, watch: &mut Watch, of: Family, array: &Array) -> Result<(), String> {
        let [dim] = &*array.dims else { return Ok(()) };
        let n = dim.extent;
        for i in (0..n.min(4)).chain((n - 2).max(4)..n) {
            let look = Look::new(self, watch);
            let Some(claimed) = look.element(of, &[i], &mut Vec::new()) else {
                continue;
            };
            let have = array
                .buf
                .data
                .borrow()
                .get((array.offset + i * dim.stride) as usize);
            if !scalar::same(claimed, have) {
                return Err(format!(
                    "[{i}] is claimed to be {claimed:?}, and is {have:?}"
                ));
            }
        }
        Ok(())
    }

    fn expect(&self, watch: &mut Watch, f: Form, have: Const) -> Result<(), String> {
        let Some(claimed) = Look::new(self, watch).form(f, &mut Vec::new()) else {
            return Ok(());
        };
        if scalar::same(claimed, have) {
            return Ok(());
        }
        Err(format!("is claimed to be {claimed:?}, and is {have:?}"))
    }
}

/// The shape and the elements of an array, in a number.
fn contents(array: &Array) -> Seen {
    let value = array.to_value();
    let mut all = DefaultHasher::new();
    value.shape.hash(&mut all);
    (0..value.data.len()).for_each(|i| value.data.get(i).hash(&mut all));
    Seen::Number(all.finish())
}

/// Evaluates forms in the frame at hand; nothing for what cannot be evaluated.
struct Look<'m, 'p, D: Exec> {
    machine: &'m Machine<'p, D>,
    watch: &'m Watch,
}

type Bound = Vec<(u32, i64)>;

impl<'m, 'p, D: Exec> Look<'m, 'p, D> {
    const fn new(machine: &'m Machine<'p, D>, watch: &'m Watch) -> Self {
        Self { machine, watch }
    }

    fn form(&self, f: Form, bound: &mut Bound) -> Option<Const> {
        let table = self.watch.facts.shapes().table();
        if let Some(t) = table.as_term(f) {
            return self.term(t, bound);
        }
        let linear = table.form(f);
        let mut sum = linear.constant;
        for p in &linear.products {
            let mut product = p.times;
            for t in &p.terms {
                product = product.wrapping_mul(self.term(*t, bound)?.as_i64()?);
            }
            sum = sum.wrapping_add(product);
        }
        Some(Const::I64(sum))
    }

    fn int(&self, f: Form, bound: &mut Bound) -> Option<i64> {
        self.form(f, bound)?.as_i64()
    }

    fn term(&self, t: Term, bound: &mut Bound) -> Option<Const> {
        let table = self.watch.facts.shapes().table();
        match table.term(t) {
            TermKind::Var(v) => self.machine.scalar((*v).into()).ok(),
            TermKind::Index(nest) => {
                let points = self.watch.points.iter().rev();
                let mut found = points.filter(|p| p.first == Some(Var(nest.0)));
                Some(Const::I64(self.watch.path[found.next()?.at]))
            }
            TermKind::Bound(b) => {
                let found = bound.iter().rev().find(|(c, _)| c == b)?;
                Some(Const::I64(found.1))
            }
            TermKind::Elem { array, at } => {
                let at: Option<Vec<i64>> = at.iter().map(|f| self.int(*f, bound)).collect();
                self.at(*array, &at?)
            }
            TermKind::Sum { width, of } => {
                let width = self.int(*width, bound).filter(|n| *n <= MOST)?;
                let mut sum = 0_i64;
                for i in 0..width {
                    sum = sum.wrapping_add(self.element(*of, &[i], bound)?.as_i64()?);
                }
                Some(Const::I64(sum))
            }
            TermKind::Op(op, args) => {
                let args: Option<Vec<Const>> = args.iter().map(|f| self.form(*f, bound)).collect();
                scalar::eval(*op, &args?).ok()
            }
            TermKind::Const(c) => Some(*c),
        }
    }

    fn element(&self, of: Family, at: &[i64], bound: &mut Bound) -> Option<Const> {
        let table = self.watch.facts.shapes().table();
        match (table.family(of), at) {
            (FamilyKind::Scalar(f), []) => self.form(*f, bound),
            (FamilyKind::Abs(b, body), [i, rest @ ..]) => {
                bound.push((*b, *i));
                let element = self.element(*body, rest, bound);
                bound.pop();
                element
            }
            (
                FamilyKind::Rows {
                    array, at: first, ..
                },
                _,
            ) => {
                let first: Option<Vec<i64>> = first.iter().map(|f| self.int(*f, bound)).collect();
                let at: Vec<i64> = first?.iter().chain(at).copied().collect();
                self.at(*array, &at)
            }
            (FamilyKind::Scalar(_) | FamilyKind::Abs(..), _) => None,
        }
    }

    /// An element of an array that was not consumed.
    fn at(&self, v: Var, at: &[i64]) -> Option<Const> {
        let Val::Array(array) = self.machine.val(v) else {
            return None;
        };
        if array.ragged.is_some()
            || array.version != array.buf.version.get()
            || at.len() != array.dims.len()
        {
            return None;
        }
        let mut offset = array.offset;
        for (dim, i) in array.dims.iter().zip(at) {
            if !(0..dim.extent).contains(i) {
                return None;
            }
            offset += i * dim.stride;
        }
        Some(array.buf.data.borrow().get(offset as usize))
    }
}
