//! Arrays that repeat a scalar or a row: who reads them reads what they repeat, so that they need not be there.
//!
//! ```text
//! let vss = replicate [n] vs
//! map n (vss, xs) \(ys, x) { .. }            ──►   map n (xs) \(x) { .. with vs for ys }
//! let ys = index vss[i]                      ──►   let ys = copy vs
//! let y = index vss[i, j]                    ──►   let y = index vs[j]
//! let yss = slice vss[a : k : s]             ──►   let yss = replicate [k] vs
//! let zs = reshape [n*m] vss                       let ks = iota (n*m)
//! map (n*m) (zs) \(z) { .. }                 ──►   map (n*m) (ks) \(k) { let j = k mod m   let z = index vs[j] .. }
//! let yss = if c { let a = replicate [n] v         let y = if c { yield v } else { yield w }
//!   yield a } else { let b = replicate [n] w ──►   let yss = replicate [n] y
//!   yield b }
//! ```
//!
//! A row that is consumed somewhere, or whose copies are, stands for itself.

use super::Operators;
use crate::analysis::aliases::{Aliases, consumed};
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::{FunId, IdVec, SpanId, Var};
use crate::ir::rename::{Subst, substitute};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Stm, VarInfo};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::walk::all_stms;

/// What an array repeats, and the checks of the array's extents.
#[derive(Clone)]
pub(super) struct Repeated {
    /// A scalar or an array.
    value: Atom,
    rows: Rows,
    certs: Vec<Var>,
}

/// How the rows of an array follow from what it repeats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// An index for each of so many outer dimensions yields the value.
    Same(usize),
    /// The rows are those of the value, which has so many, again and again.
    Again(Size),
}

/// The arrays of a function that may share memory with something that is consumed.
pub(super) fn consumed_arrays(fun: &Fun<Soac>, funs: &IdVec<FunId, Fun<Soac>>) -> HashSet<Var> {
    let (mut repeats, mut taken) = (false, Vec::new());
    all_stms(&fun.body, &mut |stm| {
        repeats |= match &stm.exp {
            Exp::Op(Soac::Array(ArrayOp::Replicate { .. })) => true,
            Exp::Op(Soac::Array(ArrayOp::Literal { row, .. })) => row.is_array(),
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => false,
        };
    });
    if !repeats {
        return HashSet::default();
    }
    for stm in &fun.body.stms {
        consumed(stm, funs, &mut |v| taken.push(v));
    }
    Aliases::of(&fun.body).touching(taken)
}

impl Operators<'_> {
    /// Remembers an array that repeats something.
    pub(super) fn note_repeated(&mut self, stm: &Stm<Soac>) {
        let (&[v], Exp::Op(Soac::Array(op))) = (&stm.binds[..], &stm.exp) else {
            return;
        };
        let certs = |of: &[Var]| stm.certs.iter().chain(of).copied().collect();
        let known = match op {
            ArrayOp::Replicate { shape, value } => {
                let row = value.as_var().and_then(|v| self.replicated.get(&v));
                match row {
                    Some(Repeated {
                        value,
                        rows: Rows::Same(rank),
                        certs: of,
                    }) => Repeated {
                        value: *value,
                        rows: Rows::Same(rank + shape.len()),
                        certs: certs(of),
                    },
                    Some(_) | None => Repeated {
                        value: *value,
                        rows: Rows::Same(shape.len()),
                        certs: certs(&[]),
                    },
                }
            }
            ArrayOp::Reshape { shape, array } => {
                let Some(known) = self.replicated.get(array) else {
                    return;
                };
                let of = certs(&known.certs);
                let is_scalar = matches!(known.value.ty(self.vars), Type::Scalar(_));
                match known.rows {
                    // All elements are equal, whatever the shape.
                    Rows::Same(rank) if is_scalar && rank == self.vars[*array].ty.rank() => {
                        Repeated {
                            rows: Rows::Same(shape.len()),
                            certs: of,
                            ..*known
                        }
                    }
                    Rows::Same(_) => {
                        let ty = known.value.ty(self.vars);
                        match ty.shape() {
                            [Dim::Size(rows), row @ ..] if row == &shape[1..] => Repeated {
                                value: known.value,
                                rows: Rows::Again(*rows),
                                certs: of,
                            },
                            _ => return,
                        }
                    }
                    Rows::Again(_) => return,
                }
            }
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => return,
        };
        let regular = |v: Var| !self.vars[v].ty.shape().iter().any(|d| d.size().is_none());
        let keeps = |v: Var| !self.consumed.contains(&v) && regular(v);
        let row = known.value.as_var().filter(|v| self.vars[*v].ty.is_array());
        if row.is_none_or(|row| keeps(row) && keeps(v)) {
            self.replicated.insert(v, known);
        }
    }

    /// Leaves out inputs that are read twice, or whose elements are known.
    pub(super) fn inputs(&mut self, stm: &mut Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let Exp::Op(
            Soac::Screma {
                width, arrays, lam, ..
            }
            | Soac::Hist {
                width, arrays, lam, ..
            }
            | Soac::Scatter {
                width, arrays, lam, ..
            }
            | Soac::Filter {
                width, arrays, lam, ..
            }
            | Soac::FlatMap {
                width, arrays, lam, ..
            }
            | Soac::WithAcc {
                width, arrays, lam, ..
            },
        ) = &mut stm.exp
        else {
            return;
        };
        let mut subst = Subst::new();
        let mut first: HashMap<Var, Var> = HashMap::default();
        let inputs = arrays.drain(..).zip(lam.params.drain(..));
        let (mut kept, mut params) = (Vec::new(), Vec::new());
        let (mut number, mut elements) = (None, Vec::new());
        for (array, param) in inputs.collect::<Vec<_>>() {
            match self.replicated.get(&array).cloned() {
                Some(Repeated { value, rows, certs }) if rows != Rows::Same(1) => {
                    if let Rows::Same(rank) = rows {
                        let rows = Rows::Same(rank - 1);
                        let part = Repeated { value, rows, certs };
                        self.replicated.insert(param, part);
                    } else if let (Rows::Again(rows), Some(array)) = (rows, value.as_var()) {
                        fired("operators/repeated-rows");
                        let (_, k) = match number {
                            Some(known) => known,
                            None => *number.insert(self.numbers(*width, stm.span, out)),
                        };
                        let exp = modulo(k, rows);
                        let j = self.scalar("j", exp, stm.span, &mut elements);
                        let indices = vec![j];
                        elements.push(Stm {
                            binds: vec![param],
                            certs: Vec::new(),
                            exp: ArrayOp::Index { array, indices }.into(),
                            span: stm.span,
                        });
                        add(&mut stm.certs, certs);
                        continue;
                    }
                }
                Some(Repeated { value, certs, .. }) => {
                    fired("operators/replicated-input");
                    subst.insert(param, value);
                    add(&mut stm.certs, certs);
                    continue;
                }
                None => {}
            }
            if let Some(same) = first.get(&array) {
                fired("operators/input-read-twice");
                subst.insert(param, *same);
            } else {
                first.insert(array, param);
                kept.push(array);
                params.push(param);
            }
        }
        if let Some((ks, k)) = number {
            kept.push(ks);
            params.push(k);
        }
        (*arrays, lam.params) = (kept, params);
        lam.body.stms.splice(0..0, elements);
        substitute(self.vars, &subst, &mut lam.body);
    }

    /// The numbers of the elements of an operator, as an input, and one of them.
    fn numbers(&mut self, width: Size, span: SpanId, out: &mut Vec<Stm<Soac>>) -> (Var, Var) {
        let ty = Type::array_of(&Type::I64, &[width]);
        let ks = self.fresh("ks", ty);
        let exp = ArrayOp::Iota {
            len: width,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: ScalarType::I64,
        };
        out.push(Stm {
            binds: vec![ks],
            certs: Vec::new(),
            exp: exp.into(),
            span,
        });
        (ks, self.fresh("k", Type::I64))
    }

    /// Reads what an array repeats instead of a part of the array.
    pub(super) fn read(&mut self, stm: &mut Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let Exp::Op(Soac::Array(op)) = &stm.exp else {
            return;
        };
        let (ArrayOp::Index { array, .. } | ArrayOp::Slice { array, .. }) = op else {
            return;
        };
        let Some(Repeated { value, rows, certs }) = self.replicated.get(array).cloned() else {
            return;
        };
        let Some(row) = value.as_var().filter(|v| self.vars[*v].ty.is_array()) else {
            return;
        };
        let new = match (op, rows) {
            (ArrayOp::Index { indices, .. }, Rows::Same(rank)) if indices.len() >= rank => {
                match &indices[rank..] {
                    [] => ArrayOp::Copy(row),
                    indices => ArrayOp::Index {
                        array: row,
                        indices: indices.to_vec(),
                    },
                }
            }
            (ArrayOp::Index { indices, .. }, Rows::Same(rank)) => ArrayOp::Replicate {
                shape: self.vars[*array].ty.shape()[indices.len()..rank].to_vec(),
                value,
            },
            (ArrayOp::Slice { dims, .. }, Rows::Same(rank)) if dims.len() <= rank => {
                let lengths = dims.iter().filter_map(|dim| match dim {
                    SliceDim::Fix(_) => None,
                    SliceDim::Range { len, .. } => Some(Dim::Size(*len)),
                });
                let rest = &self.vars[*array].ty.shape()[dims.len()..rank];
                let shape: Vec<Dim> = lengths.chain(rest.iter().copied()).collect();
                match shape.is_empty() {
                    true => ArrayOp::Copy(row),
                    false => ArrayOp::Replicate { shape, value },
                }
            }
            (ArrayOp::Index { indices, .. }, Rows::Again(rows)) => {
                let mut indices = indices.clone();
                let exp = modulo(indices[0], rows);
                let from = out.len();
                indices[0] = self.scalar("j", exp, stm.span, out);
                // The index is in range after its checks, and there are rows then.
                out[from..]
                    .iter_mut()
                    .for_each(|stm_| stm_.certs.clone_from(&stm.certs));
                ArrayOp::Index {
                    array: row,
                    indices,
                }
            }
            _ => return,
        };
        fired("operators/part-of-repeated");
        stm.exp = new.into();
        add(&mut stm.certs, certs);
    }

    /// Branches that repeat something equally often yield what they repeat.
    pub(super) fn branches(&mut self, stm: &mut Stm<Soac>) -> Vec<Stm<Soac>> {
        let mut after = Vec::new();
        let Exp::If {
            then, otherwise, ..
        } = &mut stm.exp
        else {
            return after;
        };
        for (k, bind) in stm.binds.iter_mut().enumerate() {
            let of = |body: &Body<Soac>| {
                let known = self.replicated.get(&body.result[k].as_var()?)?;
                match known.rows {
                    Rows::Same(rank) => Some((known.value, rank)),
                    Rows::Again(_) => None,
                }
            };
            let (Some((one, rank)), Some((other, same))) = (of(&*then), of(&*otherwise)) else {
                continue;
            };
            let ty = &self.vars[*bind].ty;
            let Some(row) = ty.peel(rank).filter(|_| rank == same) else {
                continue;
            };
            let shape = ty.shape()[..rank].to_vec();
            if self.consumed.contains(bind) || shape.iter().any(|dim| dim.size().is_none()) {
                continue;
            }
            fired("operators/repeated-by-branches");
            let name = self.vars[*bind].name.clone();
            let value = self.vars.push(VarInfo { name, ty: row });
            then.result[k] = one;
            otherwise.result[k] = other;
            let array = std::mem::replace(bind, value);
            let value = Atom::Var(value);
            after.push(Stm {
                binds: vec![array],
                certs: Vec::new(),
                exp: ArrayOp::Replicate { shape, value }.into(),
                span: stm.span,
            });
        }
        after
    }

    pub(super) fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.vars.push(VarInfo {
            name: name.into(),
            ty,
        })
    }

    /// A number of type `i64`.
    fn scalar(
        &mut self,
        name: &str,
        exp: Exp<Soac>,
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Atom {
        let v = self.fresh(name, Type::I64);
        out.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp,
            span,
        });
        v.into()
    }
}

/// A number that is not negative, modulo how many rows there are.
fn modulo(k: impl Into<Atom>, rows: Size) -> Exp<Soac> {
    let op = ScalarOp::Bin(BinOp::Mod, ScalarType::I64);
    Exp::Scalar(op, vec![k.into(), rows.into()])
}

fn add(to: &mut Vec<Var>, certs: Vec<Var>) {
    for cert in certs {
        if !to.contains(&cert) {
            to.push(cert);
        }
    }
}
