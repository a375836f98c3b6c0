//! Rows that maps make, one after another, for what traverses all of their elements and has no form over rows.
//!
//! ```text
//! let yss = map n (xs) \(x) { replicate [m] x }          let ks = iota (n*m)
//! let zss = map n (xs) \(x) { iota m }                   let ys, zs = map (n*m) (ks, ..) \(k) {
//! let ys = reshape [n*m] yss                       ──►     let i = k / m; let j = k mod m
//! let zs = reshape [n*m] zss                               let y = index xs[i]
//! let b = hist (n*m) (ys, zs, ..)                          yield y, j }
//!                                                        let b = hist (n*m) (ys, zs, ..)
//! ```
//!
//! So the map becomes part of the histogram or of the writes. Back ends go through rows again, where that is faster than dividing. Nests of more maps,
//! and maps that do more than arithmetic, do so where there are few buckets, which each thread has for itself, and where a point has much to do.

use super::parts::{Consumer, Screma, is_scalar_code};
use super::uses::Uses;
use super::{Fuse, add_certs, is_nothing, take};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::{SpanId, Var};
use crate::ir::rename::{Subst, substitute};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::{all_stms, free_in_lambda};
use std::collections::BTreeMap;

/// The most buckets of a histogram into which points are put that do more than arithmetic: each thread has buckets of its own then.
const FEW: i64 = 1024;
/// The most elements that a point goes through.
const SHORT: i64 = 64;
/// From so many operations on a point has much to do.
const MUCH: usize = 16;

/// A map of rows and the reshapes of what it makes.
struct Rows {
    from: usize,
    /// Arrays that have what it makes as their only element.
    only: Vec<usize>,
    /// What each makes of an array of the map, which is in the same place in the map's results.
    reshapes: Vec<usize>,
    /// What traverses all of them.
    at: usize,
    /// The lengths of rows, from the outside to the inside.
    lengths: Vec<Size>,
    /// Whether points may do more than arithmetic.
    long: bool,
}

/// Where elements come from at a point.
#[derive(Clone)]
enum Element {
    /// They are all this.
    Same(Atom),
    /// They are this in a dimension, computed for the point.
    Value(Atom, usize),
    /// They are the numbers of points.
    Number,
    /// They are those of a part of this array, the indices of which are known.
    Part(Var, Vec<Atom>),
}

/// What is known of a point.
struct Point {
    /// Its numbers in all dimensions.
    numbers: Vec<Var>,
    elements: BTreeMap<Var, Element>,
    stms: Vec<Stm<Soac>>,
    certs: Vec<Var>,
    long: bool,
}

impl Fuse<'_> {
    /// Takes the rows apart that maps make for histograms and writes.
    pub(super) fn rows(&mut self, body: &mut Body<Soac>) {
        let wants =
            |stm: &Stm<Soac>| matches!(stm.exp, Exp::Op(Soac::Hist { .. } | Soac::Scatter { .. }));
        if !body.stms.iter().any(wants) {
            return;
        }
        let uses = Uses::of(body, self.vars, self.funs);
        let mut new: BTreeMap<usize, Vec<Stm<Soac>>> = BTreeMap::new();
        for from in 0..body.stms.len() {
            let Some(rows) = self.rows_of(body, &uses, from) else {
                continue;
            };
            let Some(stms) = self.elements(body, &rows) else {
                continue;
            };
            fired("fuse/map-rows");
            let Rows {
                only, reshapes, at, ..
            } = rows;
            for gone in reshapes.into_iter().chain(only).chain([from]) {
                take(&mut body.stms[gone]);
            }
            stms.iter().for_each(|stm| self.aliases.learn(stm));
            new.entry(at).or_default().extend(stms);
        }
        if new.is_empty() {
            return;
        }
        let mut out = Vec::new();
        for (at, stm) in std::mem::take(&mut body.stms).into_iter().enumerate() {
            out.extend(new.remove(&at).unwrap_or_default());
            out.push(stm);
        }
        out.retain(|stm| !is_nothing(stm));
        body.stms = out;
    }

    /// The map at this place, if all that it makes are rows of scalars, all elements of which just one operator traverses.
    fn rows_of(&self, body: &Body<Soac>, uses: &Uses, from: usize) -> Option<Rows> {
        let stm = &body.stms[from];
        if !Screma::of(stm)?.is_map() {
            return None;
        }
        let lengths = self.vars[*stm.binds.first()?].ty.shape().get(1..)?;
        let lengths: Option<Vec<Size>> = lengths.iter().map(|dim| dim.size()).collect();
        let lengths = lengths.filter(|lengths| !lengths.is_empty())?;
        let mut long = true;
        let (mut reshapes, mut only) = (Vec::new(), Vec::new());
        let mut traversing = None;
        for v in &stm.binds {
            let mut view = uses.only_read_by(*v, from)?;
            if is_only_element(&body.stms[view]) {
                only.push(view);
                view = uses.only_read_by(body.stms[view].binds[0], view)?;
            }
            let Exp::Op(Soac::Array(ArrayOp::Reshape { .. })) = &body.stms[view].exp else {
                return None;
            };
            let flat = *body.stms[view].binds.first()?;
            let at = uses.only_read_by(flat, view)?;
            let consumer = Consumer::of(&body.stms[at])?;
            let wants = matches!(consumer.soac, Soac::Hist { .. } | Soac::Scatter { .. });
            let [length] = self.vars[flat].ty.shape()[..] else {
                return None;
            };
            let all = length.size() == Some(consumer.width);
            let reads =
                consumer.arrays.contains(&flat) && !consumer.other_reads(self.vars).contains(&flat);
            let same = traversing.is_none_or(|other| other == at);
            if !(wants && all && reads && same) || self.vars[*v].ty.rank() != lengths.len() + 1 {
                return None;
            }
            long &= has_few_buckets(consumer.soac);
            traversing = Some(at);
            reshapes.push(view);
        }
        let at = traversing?;
        if !long && lengths.len() > 1 {
            return None;
        }
        self.can_sink(uses, (from, at)).then_some(Rows {
            from,
            only,
            reshapes,
            at,
            lengths,
            long,
        })
    }

    /// The map of all elements, if each comes from somewhere at little cost.
    fn elements(&mut self, body: &Body<Soac>, rows: &Rows) -> Option<Vec<Stm<Soac>>> {
        let map = &body.stms[rows.from];
        let Exp::Op(Soac::Screma { arrays, lam, .. }) = &map.exp else {
            return None;
        };
        let span = map.span;
        let mut certs = map.certs.clone();
        for view in rows.reshapes.iter().chain(&rows.only) {
            add_certs(&mut certs, body.stms[*view].certs.clone());
        }
        let index = ScalarType::I64;
        let names: &[&str] = match rows.lengths.len() {
            1 => &["i", "j"],
            _ => &["i"],
        };
        let k = self.number("k", index);
        let numbers: Vec<Var> = (0..=rows.lengths.len())
            .map(|d| self.number(names.get(d).unwrap_or(&"j"), index))
            .collect();
        let mut stms = Vec::new();
        let mut rest = k;
        for (d, length) in rows.lengths.iter().enumerate().rev() {
            let whole = match d {
                0 => numbers[0],
                _ => self.number("r", index),
            };
            let args = vec![Atom::Var(rest), (*length).into()];
            for (bind, op) in [(whole, BinOp::Div), (numbers[d + 1], BinOp::Mod)] {
                let op = ScalarOp::Bin(op, index);
                stms.push(one(bind, Exp::Scalar(op, args.clone()), span));
            }
            rest = whole;
        }
        let mut point = Point {
            numbers,
            elements: BTreeMap::new(),
            stms,
            certs,
            long: rows.long,
        };
        let result = self.level(&mut point, (lam, arrays), 0, span)?;
        let Point { stms, certs, .. } = point;
        let flats: Vec<Var> = rows
            .reshapes
            .iter()
            .map(|view| body.stms[*view].binds[0])
            .collect();
        let [length] = self.vars[*flats.first()?].ty.shape()[..] else {
            return None;
        };
        let width = length.size()?;
        let ks = self.vars.push(VarInfo {
            name: "ks".into(),
            ty: Type::array_of(&Type::Scalar(index), &[width]),
        });
        let all = ArrayOp::Iota {
            len: width,
            start: Atom::Const(Const::I64(0)),
            step: Atom::Const(Const::I64(1)),
            ty: index,
        };
        let of_all = Soac::Screma {
            width,
            arrays: vec![ks],
            lam: Lambda {
                params: vec![k],
                body: Body { stms, result },
            },
            scans: Vec::new(),
            reds: Vec::new(),
        };
        let mut all = one(ks, all.into(), span);
        all.certs.clone_from(&certs);
        Some(vec![
            all,
            Stm {
                binds: flats,
                certs,
                exp: Exp::Op(of_all),
                span,
            },
        ])
    }

    /// What a nest of maps yields at a point, from this dimension on.
    fn level(
        &mut self,
        point: &mut Point,
        (lam, arrays): (&Lambda<Soac>, &[Var]),
        depth: usize,
        span: SpanId,
    ) -> Option<Vec<Atom>> {
        let innermost = depth + 1 == point.numbers.len();
        let number = Atom::Var(point.numbers[depth]);
        let mut subst = Subst::new();
        for (param, array) in lam.params.iter().zip(arrays) {
            let known = point.elements.get(array).cloned();
            let element = known.unwrap_or_else(|| Element::Part(*array, Vec::new()));
            if self.vars[*param].ty.is_array() {
                let Element::Part(array, mut indices) = element else {
                    return None;
                };
                indices.push(number);
                point.elements.insert(*param, Element::Part(array, indices));
                continue;
            }
            match element {
                Element::Part(array, mut indices) => {
                    indices.push(number);
                    let index = ArrayOp::Index { array, indices };
                    point.stms.push(one(*param, index.into(), span));
                }
                Element::Same(value) => {
                    subst.insert(*param, value);
                }
                Element::Value(value, dimension) => {
                    if dimension != depth {
                        return None;
                    }
                    subst.insert(*param, value);
                }
                Element::Number => {
                    subst.insert(*param, number);
                }
            }
        }
        if innermost {
            let scalars = lam.params.iter().all(|p| !self.vars[*p].ty.is_array());
            let reads = free_in_lambda(self.vars, lam);
            let outside = !reads.iter().any(|v| point.elements.contains_key(v));
            let gains = has_much(lam) || point.numbers.len() == 2 && is_scalar_code(lam);
            if !(scalars
                && outside
                && gains
                && super::index::is_total(lam)
                && is_arithmetic(self.vars, lam, point.long))
            {
                return None;
            }
            let mut inner = lam.body.clone();
            substitute(self.vars, &subst, &mut inner);
            point.stms.extend(inner.stms);
            return Some(inner.result);
        }
        let mut body = lam.body.clone();
        substitute(self.vars, &subst, &mut body);
        for stm in &body.stms {
            add_certs(&mut point.certs, stm.certs.clone());
            let made = match &stm.exp {
                Exp::Op(Soac::Array(ArrayOp::Iota {
                    start: Atom::Const(Const::I64(0)),
                    step: Atom::Const(Const::I64(1)),
                    ty: ScalarType::I64,
                    ..
                })) => Element::Number,
                Exp::Op(Soac::Array(ArrayOp::Replicate { shape, value }))
                    if shape.len() == 1 && self.is_number(*value) =>
                {
                    Element::Same(*value)
                }
                Exp::Op(Soac::Screma { arrays, lam, .. })
                    if Screma::of(stm).is_some_and(|screma| screma.is_map()) =>
                {
                    let results = self.level(point, (lam, arrays), depth + 1, span)?;
                    for (bind, result) in stm.binds.iter().zip(results) {
                        let value = Element::Value(result, depth + 1);
                        point.elements.insert(*bind, value);
                    }
                    continue;
                }
                Exp::Op(_)
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. } => return None,
            };
            point.elements.insert(*stm.binds.first()?, made);
        }
        let mut results = Vec::new();
        for atom in &body.result {
            let element = point.elements.get(&atom.as_var()?)?.clone();
            results.push(self.element(element, depth, point, span));
        }
        Some(results)
    }

    fn is_number(&self, atom: Atom) -> bool {
        atom.as_var().is_none_or(|v| !self.vars[v].ty.is_array())
    }

    /// An element of what is made in a dimension, at the point.
    fn element(&mut self, element: Element, depth: usize, point: &mut Point, span: SpanId) -> Atom {
        match element {
            Element::Same(value) | Element::Value(value, _) => value,
            Element::Number => Atom::Var(point.numbers[depth + 1]),
            Element::Part(array, mut indices) => {
                let ty = self.vars[array].ty.elem().unwrap_or(ScalarType::I64);
                let x = self.number("x", ty);
                indices.extend(point.numbers[depth + 1..].iter().map(|n| Atom::Var(*n)));
                let index = ArrayOp::Index { array, indices };
                point.stms.push(one(x, index.into(), span));
                Atom::Var(x)
            }
        }
    }

    fn number(&mut self, name: &str, ty: ScalarType) -> Var {
        self.vars.push(VarInfo {
            name: name.into(),
            ty: Type::Scalar(ty),
        })
    }
}

/// Whether a statement makes an array of one element that is an array.
fn is_only_element(stm: &Stm<Soac>) -> bool {
    matches!(&stm.exp, Exp::Op(Soac::Array(ArrayOp::Literal { elems, .. })) if elems.len() == 1)
}

/// Whether it is a histogram with so few buckets that each thread has its own.
fn has_few_buckets(soac: &Soac) -> bool {
    let Soac::Hist { ops, .. } = soac else {
        return false;
    };
    let [hist] = &ops[..] else { return false };
    let mut buckets = Some(1i64);
    for length in &hist.shape {
        let length = Atom::from(*length).as_i64();
        buckets = buckets.zip(length).and_then(|(a, b)| a.checked_mul(b));
    }
    buckets.is_some_and(|buckets| buckets <= FEW)
}

/// Whether a lambda does nothing but arithmetic, or else goes through a few elements besides, and makes no arrays but for that.
fn is_arithmetic(vars: &Vars, lam: &Lambda<Soac>, long: bool) -> bool {
    let (mut few, mut made, mut traversed) = (true, Vec::<Var>::new(), Vec::<Var>::new());
    all_stms(&lam.body, &mut |stm| {
        few &= match &stm.exp {
            Exp::Op(Soac::Screma { width, arrays, .. }) => {
                made.extend(
                    stm.binds
                        .iter()
                        .filter(|v| vars[**v].ty.is_array())
                        .copied(),
                );
                traversed.extend(arrays.iter().copied());
                let width = Atom::from(*width).as_i64();
                width.is_some_and(|width| width <= SHORT)
            }
            Exp::Op(op) => matches!(op, Soac::Array(ArrayOp::Index { .. })),
            Exp::Call { .. } => false,
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => true,
        };
    });
    few &= made.iter().all(|v| traversed.contains(v));
    is_scalar_code(lam) || long && few
}

/// Whether a lambda does so much that finding out where a point is costs little beside it.
fn has_much(lam: &Lambda<Soac>) -> bool {
    let (mut repeats, mut count) = (false, 0);
    all_stms(&lam.body, &mut |stm| match &stm.exp {
        Exp::Op(Soac::Screma { .. }) | Exp::Loop { .. } => repeats = true,
        Exp::Scalar(..) => count += 1,
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Call { .. } => {}
    });
    repeats || count >= MUCH
}

fn one(bind: Var, exp: Exp<Soac>, span: SpanId) -> Stm<Soac> {
    Stm {
        binds: vec![bind],
        certs: Vec::new(),
        exp,
        span,
    }
}
