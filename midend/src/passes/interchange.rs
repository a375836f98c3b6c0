//! A reduction of rows that a map inside makes becomes a map of reductions of their elements.
//!
//! ```text
//! s, ys = map n (xs, zss) \(x, zs) {             ys = map n (xs) \(x) { .. }
//!   r = map w (zs, vs) \(z, v) { e }             s = map w (transpose zss, vs, ne) \(col, v, ne0) {
//!   ..                                  ──►        map n (xs, col) \(x, z) { e } reduce (ne0) (+)
//!   yield r, y                                   }
//! } reduce (ne) (map (+))
//! ```
//!
//! Rows would be stored for all points, or added up one at a time; afterwards both levels are parallel, and no element is stored. What
//! elements need of the point around them is computed for each of them: only scalar operations and elements of arrays may be among it. A row from
//! outside is one that a map makes of its elements.
//! A transposed row is the transposition of the sum. Where elements are rows themselves, the reduction inside is one of rows again.
//!
//! This is the interchange of reduce with map (IRWIM) of Henriksen's thesis, chapter 4.4, with other results beside the reduction. Sums of this
//! form are what gradients of arrays that every point reads consist of.

use super::flatten::rows::{is_free, map_of_rows};
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::{ArrayOp, inverse};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::{Operator, Soac};
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Program, Stm, VarInfo, Vars};
use crate::ir::types::{Size, Type};
use crate::ir::walk::{self, deep};
use crate::pass::Pass;
use std::collections::VecDeque;

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "interchange",
    summary: "reductions of rows that maps inside make become maps of reductions of elements",
    run: |program, _| run(program),
};

fn run(program: Program<Soac>) -> Program<Soac> {
    program.map_funs(|vars, fun| {
        let filled = HashMap::default();
        Interchange { vars, filled }.body(&mut fun.body);
    })
}

fn permuted(ty: &Type, perm: &[usize]) -> Type {
    let mut ty = ty.clone();
    if let Type::Array(of) = &mut ty {
        let shape = of.shape.clone();
        of.shape = perm.iter().map(|&k| shape[k]).collect();
    }
    ty
}

struct Interchange<'v> {
    vars: &'v mut Vars,
    /// Arrays all of whose elements are one number.
    filled: HashMap<Var, Atom>,
}

/// The reduction of rows that is taken out of an operation.
struct Rows<'s> {
    /// The index of the reduction, and of its row among the results.
    red: usize,
    result: usize,
    /// How the row of a point is turned, if it is.
    perm: Option<&'s [usize]>,
    /// The map that makes the row, and the checks that it rests on.
    certs: &'s [Var],
    width: Size,
    arrays: &'s [Var],
    lam: &'s Lambda<Soac>,
    /// What an element is.
    element: Atom,
    /// The statements of the map that it needs.
    inner: Vec<&'s Stm<Soac>>,
    /// The statements of the point that these need.
    outer: Vec<&'s Stm<Soac>>,
}

impl Interchange<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        let mut todo: VecDeque<Stm<Soac>> = std::mem::take(&mut body.stms).into();
        while let Some(mut stm) = todo.pop_front() {
            match self.interchanged(&stm) {
                Some(new) => new.into_iter().rev().for_each(|stm| todo.push_front(stm)),
                None => {
                    if let (Exp::Op(Soac::Array(ArrayOp::Replicate { value, .. })), [v]) =
                        (&stm.exp, &stm.binds[..])
                        && !value.ty(self.vars).is_array()
                    {
                        self.filled.insert(*v, *value);
                    }
                    deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
                    body.stms.push(stm);
                }
            }
        }
    }

    /// The operation without one of its reductions, and that reduction for itself.
    fn interchanged(&mut self, stm: &Stm<Soac>) -> Option<Vec<Stm<Soac>>> {
        let Exp::Op(Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        }) = &stm.exp
        else {
            return None;
        };
        if !scans.is_empty() {
            return None;
        }
        if let Some(stm) = self.with_made_row(stm) {
            return Some(vec![stm]);
        }
        let rows = (0..reds.len()).find_map(|red| self.rows(lam, reds, red))?;
        let made = self.map_of_reductions(stm, (*width, arrays, lam), &reds[rows.red], &rows)?;
        fired("interchange/reduction-of-rows");
        let (red, result) = (rows.red, rows.result);
        let mut new = Vec::new();
        if lam.body.result.len() > 1 {
            let mut rest = stm.clone();
            rest.binds.remove(result);
            if let Exp::Op(Soac::Screma { lam, reds, .. }) = &mut rest.exp {
                lam.body.result.remove(result);
                reds.remove(red);
            }
            new.push(rest);
        }
        new.extend(made);
        Some(new)
    }

    /// The operation in which a map makes the rows of a reduction that are one array from outside, if the reduction can be taken out then.
    fn with_made_row(&mut self, stm: &Stm<Soac>) -> Option<Stm<Soac>> {
        let Exp::Op(Soac::Screma { lam, reds, .. }) = &stm.exp else {
            return None;
        };
        let mut result = 0;
        for (red, op) in reds.iter().enumerate() {
            let atom = lam.body.result[result];
            let row = atom.as_var().filter(|_| !lam.binds(atom));
            if let Some(row) = row.filter(|_| map_of_rows(self.vars, op).is_some())
                && let Some(of_elements) = self.elements_of(row, stm)
            {
                let mut lam = lam.clone();
                lam.body.result[result] = of_elements.binds[0].into();
                lam.body.stms.push(of_elements);
                if self.rows(&lam, reds, red).is_some() {
                    fired("interchange/row-from-outside");
                    let mut new = stm.clone();
                    if let Exp::Op(Soac::Screma { lam: old, .. }) = &mut new.exp {
                        *old = lam;
                    }
                    return Some(new);
                }
            }
            result += op.neutral.len();
        }
        None
    }

    /// A map that yields the elements of an array.
    fn elements_of(&mut self, array: Var, stm: &Stm<Soac>) -> Option<Stm<Soac>> {
        let width = self.vars[array].ty.shape().first()?.size()?;
        let x = self.row_of(array, "x");
        let row = self.fresh("row", self.vars[array].ty.clone());
        let body = Body {
            stms: Vec::new(),
            result: vec![x.into()],
        };
        let params = vec![x];
        let map = Soac::Screma {
            width,
            arrays: vec![array],
            lam: Lambda { params, body },
            scans: Vec::new(),
            reds: Vec::new(),
        };
        Some(Stm {
            binds: vec![row],
            certs: Vec::new(),
            exp: Exp::Op(map),
            span: stm.span,
        })
    }

    /// Whether a reduction can be taken out.
    fn rows<'s>(
        &self,
        lam: &'s Lambda<Soac>,
        reds: &[Operator<Soac>],
        red: usize,
    ) -> Option<Rows<'s>> {
        let op = &reds[red];
        let result: usize = reds[..red].iter().map(|op| op.neutral.len()).sum();
        let fits = op.neutral.len() == 1
            && op.neutral[0].as_var().is_some()
            && map_of_rows(self.vars, op).is_some();
        let mut row = lam.body.result.get(result)?.as_var().filter(|_| fits)?;
        let defs: HashMap<Var, &Stm<Soac>> = (lam.body.stms.iter())
            .flat_map(|stm| stm.binds.iter().map(move |v| (*v, stm)))
            .collect();
        let local = |v: &Var| defs.contains_key(v) || lam.params.contains(v);
        let mut perm = None;
        if let Exp::Op(Soac::Array(ArrayOp::Rearrange { perm: p, array })) = &defs.get(&row)?.exp {
            perm = Some(&p[..]);
            row = *array;
        }
        let def = defs.get(&row)?;
        let Exp::Op(Soac::Screma {
            width,
            arrays,
            lam: inner,
            scans,
            reds,
        }) = &def.exp
        else {
            return None;
        };
        let folded: usize = scans.iter().chain(reds).map(|op| op.neutral.len()).sum();
        let at = def.binds.iter().position(|v| *v == row)?;
        let element = *inner.body.result.get(at).filter(|_| at >= folded)?;
        let known = |size: &Size| !matches!(size, Size::Var(v) if local(v));
        let regular = self.vars[row].ty.shape().iter();
        let mut regular = regular.map(|dim| dim.size());
        if !regular.all(|size| size.is_some_and(|size| known(&size)))
            || def.certs.iter().any(local)
            || arrays.iter().any(|v| defs.contains_key(v))
        {
            return None;
        }
        let mut needed: HashSet<Var> = element.as_var().into_iter().collect();
        let slice = |stms: &'s [Stm<Soac>], vars: &Vars, needed: &mut HashSet<Var>| {
            let mut slice: Vec<&Stm<Soac>> = Vec::new();
            for stm in stms.iter().rev() {
                if stm.binds.iter().any(|v| needed.contains(v)) {
                    needed.extend(walk::free_in_stm(vars, stm));
                    slice.push(stm);
                }
            }
            slice.reverse();
            slice
        };
        let own = slice(&inner.body.stms, self.vars, &mut needed);
        let outer = slice(&lam.body.stms, self.vars, &mut needed);
        // Nothing would execute the checks of what no result needs.
        let mut effects = false;
        walk::all_stms(&lam.body, &mut |stm| {
            effects |= matches!(stm.exp, Exp::Assert { .. } | Exp::Call { .. })
                || matches!(stm.exp, Exp::Op(Soac::Array(ArrayOp::Trace(_))));
        });
        if effects && lam.body.result.len() == 1 {
            return None;
        }
        let checked = |stm: &&Stm<Soac>| matches!(stm.exp, Exp::Assert { .. } | Exp::Guard { .. });
        let cheap = outer.iter().all(|stm| is_free(stm)) && !own.iter().any(checked);
        cheap.then_some(Rows {
            red,
            result,
            perm,
            certs: &def.certs,
            width: *width,
            arrays,
            lam: inner,
            element,
            inner: own,
            outer,
        })
    }

    fn map_of_reductions(
        &mut self,
        stm: &Stm<Soac>,
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        op: &Operator<Soac>,
        rows: &Rows<'_>,
    ) -> Option<Vec<Stm<Soac>>> {
        let mut before = Vec::new();
        let bind = stm.binds[rows.result];
        let made = match rows.perm {
            Some(perm) => {
                let ty = self.vars[bind].ty.clone();
                let turned = permuted(&ty, &inverse(perm));
                self.fresh("sums", turned)
            }
            None => bind,
        };
        // The map over the elements of rows, and in it the reduction over points.
        let (mut inputs, mut params) = (Vec::new(), Vec::new());
        let ty = self.vars[made].ty.peel(1)?;
        let neutral = op.neutral[0].as_var()?;
        let neutral = match (self.filled.get(&neutral).copied(), &ty) {
            (Some(value), Type::Array(row)) => {
                let v = self.fresh("ne", ty.clone());
                let shape = row.shape.clone();
                before.push(Stm {
                    binds: vec![v],
                    certs: Vec::new(),
                    exp: ArrayOp::Replicate { shape, value }.into(),
                    span: stm.span,
                });
                self.filled.insert(v, value);
                v.into()
            }
            (Some(value), _) => value,
            (None, _) => {
                let neutral = match rows.perm {
                    Some(perm) => self.turned(stm, neutral, inverse(perm), &mut before),
                    None => neutral,
                };
                let ne = self.row_of(neutral, "ne");
                inputs.push(neutral);
                params.push(ne);
                ne.into()
            }
        };
        let outer_of = |p: Var| lam.params.iter().position(|q| *q == p).map(|k| arrays[k]);
        let (mut points, mut own) = (Vec::new(), Vec::new());
        let mut subst = Subst::new();
        for (array, p) in rows.arrays.iter().zip(&rows.lam.params) {
            if let Some(outer) = outer_of(*array) {
                let mut perm: Vec<usize> = (0..self.vars[outer].ty.rank()).collect();
                perm.swap(0, 1);
                let turned = self.turned(stm, outer, perm, &mut before);
                let column = self.row_of(turned, "column");
                inputs.push(turned);
                params.push(column);
                points.push(column);
                own.push(rename::fresh(self.vars, &mut subst, *p));
            } else {
                let element = self.row_of(*array, "x");
                inputs.push(*array);
                params.push(element);
                subst.insert(*p, element);
            }
        }
        let mut used: HashSet<Var> = rows.element.as_var().into_iter().collect();
        for stm in rows.outer.iter().chain(&rows.inner) {
            used.extend(walk::free_in_stm(self.vars, stm));
        }
        for (p, array) in lam.params.iter().zip(arrays) {
            if used.contains(p) {
                points.push(*array);
                own.push(rename::fresh(self.vars, &mut subst, *p));
            }
        }
        let mut stms = Vec::new();
        for stm in rows.outer.iter().chain(&rows.inner) {
            stms.push(rename::stm(self.vars, &mut subst, stm));
        }
        let result = vec![subst.atom(rows.element)];
        let of_point = Lambda {
            params: own,
            body: Body { stms, result },
        };
        let op = match rows.perm {
            Some(_) => self.of_turned(op, &ty, neutral)?,
            None => self.of_elements(op, &ty, neutral)?,
        };
        let sum = self.fresh("sum", ty);
        let reduction = Stm {
            binds: vec![sum],
            certs: Vec::new(),
            exp: Exp::Op(Soac::Screma {
                width,
                arrays: points,
                lam: of_point,
                scans: Vec::new(),
                reds: vec![op],
            }),
            span: stm.span,
        };
        let lam = Lambda {
            params,
            body: Body {
                stms: vec![reduction],
                result: vec![sum.into()],
            },
        };
        before.push(Stm {
            binds: vec![made],
            certs: stm.certs.iter().chain(rows.certs).copied().collect(),
            exp: Exp::Op(Soac::Screma {
                width: rows.width,
                arrays: inputs,
                lam,
                scans: Vec::new(),
                reds: Vec::new(),
            }),
            span: stm.span,
        });
        if let Some(perm) = rows.perm {
            let perm = perm.to_vec();
            before.push(Stm {
                binds: vec![bind],
                certs: Vec::new(),
                exp: ArrayOp::Rearrange { perm, array: made }.into(),
                span: stm.span,
            });
        }
        Some(before)
    }

    /// The operator on elements.
    fn of_elements(
        &mut self,
        op: &Operator<Soac>,
        ty: &Type,
        neutral: Atom,
    ) -> Option<Operator<Soac>> {
        let (_, arrays, inner) = map_of_rows(self.vars, op)?;
        let params = vec![self.fresh("x", ty.clone()), self.fresh("y", ty.clone())];
        let mut subst = Subst::new();
        for (p, array) in inner.params.iter().zip(arrays) {
            let side = op.lam.params.iter().position(|q| q == array)?;
            subst.insert(*p, params[side]);
        }
        let body = rename::body(self.vars, &mut subst, &inner.body);
        Some(Operator {
            comm: op.comm,
            lam: Lambda { params, body },
            neutral: vec![neutral],
        })
    }

    /// The operator on elements of turned rows, which have their dimensions in another order: it must be one on numbers.
    fn of_turned(
        &mut self,
        op: &Operator<Soac>,
        ty: &Type,
        neutral: Atom,
    ) -> Option<Operator<Soac>> {
        let mut op = op.clone();
        while let Some(row) = self.vars[op.lam.params[0]].ty.peel(1) {
            op = self.of_elements(&op, &row, neutral)?;
        }
        for (k, dim) in ty.shape().iter().enumerate().rev() {
            let row = ty.peel(k)?;
            let [x, y, z] = ["x", "y", "z"].map(|name| self.fresh(name, row.clone()));
            let map = Soac::Screma {
                width: dim.size()?,
                arrays: vec![x, y],
                lam: op.lam,
                scans: Vec::new(),
                reds: Vec::new(),
            };
            let stm = Stm {
                binds: vec![z],
                certs: Vec::new(),
                exp: Exp::Op(map),
                span: Spans::NONE,
            };
            let body = Body {
                stms: vec![stm],
                result: vec![z.into()],
            };
            let params = vec![x, y];
            op.lam = Lambda { params, body };
        }
        Some(op)
    }

    /// A rearranged array, whose statement goes before.
    fn turned(
        &mut self,
        stm: &Stm<Soac>,
        array: Var,
        perm: Vec<usize>,
        before: &mut Vec<Stm<Soac>>,
    ) -> Var {
        let ty = permuted(&self.vars[array].ty, &perm);
        let turned = self.fresh("turned", ty);
        before.push(Stm {
            binds: vec![turned],
            certs: stm.certs.clone(),
            exp: ArrayOp::Rearrange { perm, array }.into(),
            span: stm.span,
        });
        turned
    }

    fn row_of(&mut self, array: Var, name: &str) -> Var {
        let ty = self.vars[array].ty.peel(1).unwrap_or(Type::I64);
        self.fresh(name, ty)
    }

    fn fresh(&mut self, name: &str, ty: Type) -> Var {
        let name = name.to_owned();
        self.vars.push(VarInfo { name, ty })
    }
}
