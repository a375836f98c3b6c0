//! Statements in normal form: a parallel operation either computes something for each element or has an operator, never both, so
//! that the rules see one thing at a time. Fusion puts the parts together again.
//!
//! ```text
//! screma f (scan o) (reduce p) xs      ──►   as, bs, ys = map f xs;  scan o as;  reduce p bs
//! scan (map o) xss                     ──►   rearrange (map (scan o) (rearrange xss))
//! hist o f xs                          ──►   is, vs = map f xs;  hist o is vs           (scatter and filter likewise)
//! hist (map o) is vss                  ──►   hist o of all elements, with one more index
//! hist o is vs                         ──►   a segmented scan of values sorted by index ([`super::segments`])
//! while                                ──►   for
//! ```

use super::Derive;
use super::adjoint::map_of;
use super::histogram::{extreme, is_row_sum};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::BinOp;
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm, Vars};
use crate::ir::types::{Size, Type};
use crate::passes::flatten::rows::map_of_rows;

impl Derive<'_> {
    /// Whether a call hands an array on whose adjoint a call of the adjoint function would give as a whole, however little of it the function reads.
    fn hands_arrays_on(&self, fun: FunId, args: &[Atom]) -> bool {
        let is_array = |a: &Atom| {
            a.as_var()
                .is_some_and(|v| self.vars[v].ty.is_array() && self.depends(v.into()))
        };
        !self.rules.contains_key(&fun)
            && !self.recursive.contains(&fun)
            && args.iter().any(is_array)
    }

    /// The body of a function in place of a call.
    fn expanded(&mut self, stm: &Stm<Soac>, fun: FunId, args: &[Atom]) -> Vec<Stm<Soac>> {
        fired("derivatives/expanded-call");
        self.write(fun);
        let callee = &self.funs[fun];
        let params = callee.params.iter().map(|p| p.var);
        let mut subst = Subst::of(params, args.iter().copied());
        let old = callee.body.clone();
        let body = rename::body(self.vars, &mut subst, &old);
        let results = stm.binds.iter().zip(body.result);
        let results: Vec<Stm<Soac>> = results
            .map(|(v, a)| Stm {
                binds: vec![*v],
                certs: Vec::new(),
                exp: match (a, &self.vars[*v].ty) {
                    // Sizes that the function has found have the names of the call.
                    (Atom::Var(array), Type::Array(ty))
                        if self.vars[array].ty != self.vars[*v].ty =>
                    {
                        let shape = ty.shape.clone();
                        ArrayOp::Reshape { shape, array }.into()
                    }
                    (_, _) => Exp::Atom(a),
                },
                span: stm.span,
            })
            .collect();
        let mut stms = body.stms;
        stms.extend(results);
        for inner in &mut stms {
            for cert in &stm.certs {
                if !inner.certs.contains(cert) {
                    inner.certs.push(*cert);
                }
            }
        }
        stms
    }

    /// What a statement is in normal form; nothing if it is in it.
    pub(super) fn normal(&mut self, stm: &Stm<Soac>) -> Option<Vec<Stm<Soac>>> {
        match &stm.exp {
            Exp::Loop {
                params,
                form: LoopForm::While(cond),
                body,
            } => Some(self.parts(|t| t.counted(stm, params, cond, body))),
            Exp::Call { fun, args } if self.hands_arrays_on(*fun, args) => {
                Some(self.expanded(stm, *fun, args))
            }
            Exp::Op(Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            }) if !(scans.is_empty() && reds.is_empty()) => {
                let alone = scans.len() + reds.len() == 1 && is_identity(lam);
                if !alone
                    || lam.params.len() != scans.iter().chain(reds).map(|op| op.neutral.len()).sum()
                {
                    return Some(
                        self.parts(|t| t.split(&stm.binds, (*width, arrays, lam), scans, reds)),
                    );
                }
                let op = scans.iter().chain(reds).next()?;
                if let Some(inner) = repeated(self.vars, op) {
                    let reduces = scans.is_empty();
                    return Some(
                        self.parts(|t| t.turned(&stm.binds, (*width, arrays), op, inner, reduces)),
                    );
                }
                None
            }
            Exp::Op(Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            }) if ops.len() > 1 || !is_identity(lam) => Some(self.parts(|t| {
                let ranks: usize = ops.iter().map(|op| op.shape.len()).sum();
                let made = t.mapped(*width, arrays, lam);
                let (mut at, mut values) = (&made[..ranks], &made[ranks..]);
                let mut binds = &stm.binds[..];
                for op in ops {
                    let (k, rank) = (op.dests.len(), op.shape.len());
                    let arrays = at[..rank].iter().chain(&values[..k]).copied().collect();
                    let hist = |arrays, lam| Soac::Hist {
                        width: *width,
                        arrays,
                        lam,
                        ops: vec![HistOp {
                            shape: op.shape.clone(),
                            dests: op.dests.clone(),
                            op: op.op.clone(),
                        }],
                    };
                    t.alone(binds[..k].to_vec(), arrays, hist);
                    (at, values, binds) = (&at[rank..], &values[k..], &binds[k..]);
                }
            })),
            Exp::Op(Soac::Hist {
                width, arrays, ops, ..
            }) => match &ops[..] {
                [op] if !is_row_sum(&op.op) && extreme(&op.op).is_none() => {
                    Some(self.parts(|t| match repeated(t.vars, &op.op) {
                        Some((rows, inner)) => {
                            t.of_elements(&stm.binds, (*width, arrays), op, (rows, inner));
                        }
                        None => t.segments(&stm.binds, (*width, arrays), op),
                    }))
                }
                _ => None,
            },
            Exp::Op(Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            }) if dests.len() > 1 || !is_identity(lam) => Some(self.parts(|t| {
                let ranks: usize = dests.iter().map(|d| d.rank).sum();
                let made = t.mapped(*width, arrays, lam);
                let (mut at, values) = (&made[..ranks], &made[ranks..]);
                for ((dest, value), v) in dests.iter().zip(values).zip(&stm.binds) {
                    let arrays = at[..dest.rank].iter().chain([value]).copied().collect();
                    let (rank, array) = (dest.rank, dest.array);
                    let scatter = |arrays, lam| Soac::Scatter {
                        width: *width,
                        arrays,
                        lam,
                        dests: vec![ScatterDest { rank, array }],
                    };
                    t.alone(vec![*v], arrays, scatter);
                    at = &at[rank..];
                }
            })),
            // A filter in normal form yields the indices of what it keeps, last.
            Exp::Op(Soac::Filter { width, arrays, lam })
                if !is_identity(lam) || !self.keeps_indices(stm) =>
            {
                Some(self.parts(|t| {
                    let mut made = t.mapped(*width, arrays, lam);
                    made.push(t.iota(*width));
                    let indices = stm.binds.first().map(|count| {
                        let ty = Type::array_of(&Type::I64, &[Size::Var(*count)]);
                        t.fresh("at", ty)
                    });
                    t.back.kept_indices.extend(indices);
                    let binds = stm.binds.iter().copied().chain(indices).collect();
                    let width = *width;
                    t.alone(binds, made, |arrays, lam| Soac::Filter {
                        width,
                        arrays,
                        lam,
                    });
                }))
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    /// Whether a filter yields indices already.
    fn keeps_indices(&self, stm: &Stm<Soac>) -> bool {
        stm.binds
            .last()
            .is_some_and(|v| self.back.kept_indices.contains(v))
    }

    /// The statements that are pushed meanwhile, with the certificates of the current one.
    fn parts(&mut self, f: impl FnOnce(&mut Self)) -> Vec<Stm<Soac>> {
        let certs = self.certs.clone();
        let ((), mut stms) = self.nested(f);
        for stm in &mut stms {
            stm.certs.extend(&certs);
        }
        stms
    }

    /// The results of a lambda for each element, as arrays.
    fn mapped(&mut self, width: Size, arrays: &[Var], lam: &Lambda<Soac>) -> Vec<Var> {
        if lam.body.stms.is_empty() {
            let inputs = lam.body.result.iter().map(|a| {
                let at = lam.params.iter().position(|p| *a == Atom::Var(*p))?;
                Some(arrays[at])
            });
            if let Some(inputs) = inputs.collect() {
                return inputs;
            }
        }
        let lam = rename::lambda(self.vars, &mut Subst::new(), lam);
        let mut made = Vec::new();
        for a in &lam.body.result {
            let ty = Type::array_of(&a.ty(self.vars), &[width]);
            made.push(self.fresh("m", ty));
        }
        self.push(made.clone(), Exp::Op(map_of(width, arrays.to_vec(), lam)));
        made
    }

    /// An operation without a lambda of its own.
    pub(super) fn alone(
        &mut self,
        binds: Vec<Var>,
        arrays: Vec<Var>,
        op: impl FnOnce(Vec<Var>, Lambda<Soac>) -> Soac,
    ) {
        let mut params = Vec::new();
        for array in &arrays {
            let row = self.vars[*array].ty.peel(1).unwrap_or(Type::I64);
            params.push(self.fresh("x", row));
        }
        let result = params.iter().map(|v| Atom::Var(*v)).collect();
        let body = Body {
            stms: Vec::new(),
            result,
        };
        let op = op(arrays, Lambda { params, body });
        self.push(binds, Exp::Op(op));
    }

    fn split(
        &mut self,
        binds: &[Var],
        (width, arrays, lam): (Size, &[Var], &Lambda<Soac>),
        scans: &[Operator<Soac>],
        reds: &[Operator<Soac>],
    ) {
        let folded: usize = scans.iter().chain(reds).map(|op| op.neutral.len()).sum();
        let mut head = lam.clone();
        let rest = head.body.result.split_off(folded);
        let made = if rest.is_empty() {
            self.mapped(width, arrays, &head)
        } else {
            let lam = rename::lambda(self.vars, &mut Subst::new(), lam);
            let mut made = Vec::new();
            for a in &lam.body.result[..folded] {
                let ty = Type::array_of(&a.ty(self.vars), &[width]);
                made.push(self.fresh("m", ty));
            }
            let all = made.iter().chain(&binds[folded..]).copied().collect();
            self.push(all, Exp::Op(map_of(width, arrays.to_vec(), lam)));
            made
        };
        let (mut made, mut binds) = (&made[..], binds);
        for (n, op) in scans.iter().chain(reds).enumerate() {
            let k = op.neutral.len();
            let op = vec![op.clone()];
            let (scans, reds) = if n < scans.len() {
                (op, Vec::new())
            } else {
                (Vec::new(), op)
            };
            self.alone(binds[..k].to_vec(), made[..k].to_vec(), |arrays, lam| {
                Soac::Screma {
                    width,
                    arrays,
                    lam,
                    scans,
                    reds,
                }
            });
            (made, binds) = (&made[k..], &binds[k..]);
        }
    }

    /// An operator that combines rows element by element: a map over the columns.
    fn turned(
        &mut self,
        binds: &[Var],
        (width, arrays): (Size, &[Var]),
        op: &Operator<Soac>,
        (rows, inner): (Size, &Lambda<Soac>),
        reduces: bool,
    ) {
        let mut inputs = Vec::new();
        let mut params = Vec::new();
        let mut neutral = Vec::new();
        for a in &op.neutral {
            inputs.extend(a.as_var());
            let elem = a.ty(self.vars).peel(1).unwrap_or(Type::I64);
            let p = self.fresh("ne", elem);
            params.push(p);
            neutral.push(Atom::Var(p));
        }
        let mut columns = Vec::new();
        let mut types = Vec::new();
        for array in arrays {
            let turned = self.exchanged(*array);
            inputs.push(turned);
            let column = self.vars[turned].ty.peel(1).unwrap_or(Type::I64);
            let p = self.fresh("column", column.clone());
            types.push(column);
            params.push(p);
            columns.push(p);
        }
        let inner = rename::lambda(self.vars, &mut Subst::new(), inner);
        let op = Operator {
            comm: op.comm,
            lam: inner,
            neutral,
        };
        let lam = self.lambda_of(params, |t, _| {
            let mut made = Vec::new();
            for ty in &types {
                let ty = if reduces {
                    ty.peel(1).unwrap_or(Type::I64)
                } else {
                    ty.clone()
                };
                made.push(t.fresh("y", ty));
            }
            let (scans, reds) = if reduces {
                (Vec::new(), vec![op])
            } else {
                (vec![op], Vec::new())
            };
            t.alone(made.clone(), columns, |arrays, lam| Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            });
            made.into_iter().map(Atom::Var).collect()
        });
        let mut made = Vec::new();
        for a in &lam.body.result {
            let ty = Type::array_of(&a.ty(self.vars), &[rows]);
            made.push(self.fresh("y", ty));
        }
        self.push(made.clone(), Exp::Op(map_of(rows, inputs, lam)));
        for (v, y) in binds.iter().zip(made) {
            if reduces {
                self.push(vec![*v], Exp::Atom(y.into()));
            } else {
                let perm = exchange(self.vars[y].ty.rank());
                let op = ArrayOp::Rearrange { perm, array: y };
                self.push(vec![*v], op.into());
            }
        }
    }

    /// A histogram of rows that are combined element by element: the elements have one more index.
    fn of_elements(
        &mut self,
        binds: &[Var],
        (width, arrays): (Size, &[Var]),
        op: &HistOp<Soac>,
        (rows, inner): (Size, &Lambda<Soac>),
    ) {
        let (at, values) = arrays.split_at(op.shape.len());
        let count = self.int(BinOp::Mul, width, rows);
        let Some(count) = count.as_size() else { return };
        let indices = self.tabulate(count, &vec![Type::I64; at.len() + 1], |t, j| {
            let row = t.int(BinOp::Quot, j, rows);
            let column = t.int(BinOp::Rem, j, rows);
            let own = at.iter().map(|v| t.index(*v, &[row]).into());
            own.chain([column]).collect()
        });
        let mut inputs = indices;
        for v in values {
            let row = self.vars[*v].ty.peel(2).unwrap_or(Type::I64);
            let flat = self.fit((*v).into(), &Type::array_of(&row, &[count]));
            inputs.extend(flat.as_var());
        }
        let some = self.in_range(Atom::ZERO, rows);
        let mut neutral = Vec::new();
        for a in &op.op.neutral {
            let Atom::Var(array) = *a else { return };
            let row = self.vars[array].ty.peel(1).unwrap_or(Type::I64);
            neutral.push(self.either(
                some,
                |t| t.index(array, &[Atom::ZERO]).into(),
                |t| t.zero_of_type(&row),
            ));
        }
        let shape = op.shape.iter().copied().chain([rows]).collect();
        let op = HistOp {
            shape,
            dests: op.dests.clone(),
            op: Operator {
                comm: op.op.comm,
                lam: rename::lambda(self.vars, &mut Subst::new(), inner),
                neutral,
            },
        };
        self.alone(binds.to_vec(), inputs, |arrays, lam| Soac::Hist {
            width: count,
            arrays,
            lam,
            ops: vec![op],
        });
    }

    /// The array with its outer two dimensions exchanged.
    fn exchanged(&mut self, array: Var) -> Var {
        let perm = exchange(self.vars[array].ty.rank());
        self.array_op("turned", ArrayOp::Rearrange { perm, array })
    }
}

fn exchange(rank: usize) -> Vec<usize> {
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(0, 1);
    perm
}

/// Whether a lambda yields its parameters.
pub(in super::super) fn is_identity(lam: &Lambda<Soac>) -> bool {
    lam.body.stms.is_empty()
        && lam.body.result.len() == lam.params.len()
        && (lam.body.result.iter().zip(&lam.params)).all(|(a, p)| *a == Atom::Var(*p))
}

/// If an operator on rows is a map of an operator over them: their length, and the inner operator.
fn repeated<'o>(vars: &Vars, op: &'o Operator<Soac>) -> Option<(Size, &'o Lambda<Soac>)> {
    let (width, arrays, lam) = map_of_rows(vars, op)?;
    let is_var = |a: &Atom| a.as_var().is_some();
    (*arrays == op.lam.params && op.neutral.iter().all(is_var)).then_some((width, lam))
}
