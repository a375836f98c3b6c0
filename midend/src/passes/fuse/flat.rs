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
//! So the map becomes part of the histogram or of the writes. Back ends go through rows again, where that is faster than dividing.

use super::parts::{Consumer, Screma, is_scalar_code};
use super::uses::Uses;
use super::{Fuse, add_certs, is_nothing, take};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::{SpanId, Var};
use crate::ir::rename::{Subst, substitute};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, VarInfo};
use crate::ir::types::{ScalarType, Size, Type};
use std::collections::BTreeMap;

/// A map of rows and the reshapes of what it makes.
struct Rows {
    from: usize,
    /// What each makes of an array of the map, which is in the same place in the map's results.
    reshapes: Vec<usize>,
    /// What traverses all of them.
    at: usize,
    /// The length of a row.
    row: Size,
}

/// Where elements of rows come from.
#[derive(Clone, Copy)]
enum Element {
    /// They are this, computed for the element.
    Value(Atom),
    /// They are the number of the column.
    Column,
    /// They are those of a row of this array.
    Row(Var),
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
            for gone in rows.reshapes.into_iter().chain([from]) {
                take(&mut body.stms[gone]);
            }
            stms.iter().for_each(|stm| self.aliases.learn(stm));
            new.entry(rows.at).or_default().extend(stms);
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
        let [_, row] = self.vars[*stm.binds.first()?].ty.shape()[..] else {
            return None;
        };
        let row = row.size()?;
        let mut reshapes = Vec::new();
        let mut traversing = None;
        for v in &stm.binds {
            let view = uses.only_read_by(*v, from)?;
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
            if !(wants && all && reads && same) || self.vars[*v].ty.rank() != 2 {
                return None;
            }
            traversing = Some(at);
            reshapes.push(view);
        }
        let at = traversing?;
        self.can_sink(uses, (from, at)).then_some(Rows {
            from,
            reshapes,
            at,
            row,
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
        for view in &rows.reshapes {
            add_certs(&mut certs, body.stms[*view].certs.clone());
        }
        let index = ScalarType::I64;
        let [k, i, j] = ["k", "i", "j"].map(|name| self.number(name, index));
        let divided = |bind: Var, op: BinOp| {
            let args = vec![Atom::Var(k), rows.row.into()];
            one(bind, Exp::Scalar(ScalarOp::Bin(op, index), args), span)
        };
        let mut stms = vec![divided(i, BinOp::Div), divided(j, BinOp::Mod)];
        let mut elements: BTreeMap<Var, Element> = BTreeMap::new();
        for (param, array) in lam.params.iter().zip(arrays) {
            if self.vars[*param].ty.is_array() {
                elements.insert(*param, Element::Row(*array));
                continue;
            }
            let (array, indices) = (*array, vec![Atom::Var(i)]);
            stms.push(one(*param, ArrayOp::Index { array, indices }.into(), span));
        }
        for stm in &lam.body.stms {
            add_certs(&mut certs, stm.certs.clone());
            let made = match &stm.exp {
                Exp::Op(Soac::Array(ArrayOp::Iota {
                    start: Atom::Const(Const::I64(0)),
                    step: Atom::Const(Const::I64(1)),
                    ty: ScalarType::I64,
                    ..
                })) => Element::Column,
                Exp::Op(Soac::Array(ArrayOp::Replicate { shape, value })) if shape.len() == 1 => {
                    Element::Value(*value)
                }
                Exp::Op(Soac::Screma { arrays, lam, .. })
                    if Screma::of(stm).is_some_and(|screma| screma.is_map())
                        && is_scalar_code(lam)
                        && lam.params.iter().all(|p| !self.vars[*p].ty.is_array())
                        && super::index::is_total(lam) =>
                {
                    let mut subst = Subst::new();
                    for (param, array) in lam.params.iter().zip(arrays) {
                        if let Some(element) = elements.get(array) {
                            let value = self.element(*element, (i, j), &mut stms, span);
                            subst.insert(*param, value);
                            continue;
                        }
                        // An array from outside, whose elements each row takes.
                        let (array, indices) = (*array, vec![Atom::Var(j)]);
                        stms.push(one(*param, ArrayOp::Index { array, indices }.into(), span));
                    }
                    let mut inner = lam.body.clone();
                    substitute(self.vars, &subst, &mut inner);
                    stms.extend(inner.stms);
                    for (bind, result) in stm.binds.iter().zip(inner.result) {
                        elements.insert(*bind, Element::Value(result));
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
            elements.insert(*stm.binds.first()?, made);
        }
        let mut result = Vec::new();
        for atom in &lam.body.result {
            let element = *elements.get(&atom.as_var()?)?;
            result.push(self.element(element, (i, j), &mut stms, span));
        }
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

    /// The element in a row and a column.
    fn element(
        &mut self,
        element: Element,
        (i, j): (Var, Var),
        stms: &mut Vec<Stm<Soac>>,
        span: SpanId,
    ) -> Atom {
        match element {
            Element::Value(value) => value,
            Element::Column => Atom::Var(j),
            Element::Row(array) => {
                let ty = self.vars[array].ty.elem().unwrap_or(ScalarType::I64);
                let x = self.number("x", ty);
                let indices = vec![Atom::Var(i), Atom::Var(j)];
                stms.push(one(x, ArrayOp::Index { array, indices }.into(), span));
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

fn one(bind: Var, exp: Exp<Soac>, span: SpanId) -> Stm<Soac> {
    Stm {
        binds: vec![bind],
        certs: Vec::new(),
        exp,
        span,
    }
}
