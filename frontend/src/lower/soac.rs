//! Built-in operations with functions: they become second-order operations of the IR, their functions lambdas.

use super::value::{Instance, Leaf, Ty, Value, int_const, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::Op;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use midend::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use midend::ir::types::{ScalarType, Size, Type};

/// The inputs of a second-order operation: an array taken apart into IR arrays and the element made of fresh parameters.
struct Input<'a> {
    width: Size,
    arrays: Vec<Var>,
    params: Vec<Var>,
    elem: Value<'a>,
}

impl<'a> Lower<'a> {
    fn input(&mut self, v: &Value<'a>, span: Span) -> Res<Input<'a>> {
        let Some(width) = v.dims().first().copied() else {
            return Err(unsupported(span, "an array is needed here"));
        };
        let mut arrays = Vec::new();
        let mut params = Vec::new();
        let elem = v.peel(1).map_leaves(&mut |leaf| {
            let Atom::Var(array) = leaf.atom else {
                return leaf;
            };
            let info = self.vars[array].clone();
            let row = info.ty.peel(1).unwrap_or(Type::I64);
            let name = if info.name == "t" { "x" } else { &info.name };
            let param = self.fresh(name, row);
            arrays.push(array);
            params.push(param);
            // The element is a part of the array: consuming it needs a copy.
            Leaf {
                shared: true,
                ..Leaf::new(param.into())
            }
        });
        Ok(Input {
            width,
            arrays,
            params,
            elem,
        })
    }

    /// Builds a lambda. Sizes in its result must be known outside; `expected` names those that the type tells.
    fn lambda(
        &mut self,
        params: Vec<Var>,
        expected: Option<&Ty>,
        span: Span,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<(Lambda<Soac>, Value<'a>)> {
        let watermark = self.watermark_before(&params);
        let (v, stms) = self.nested(|l| {
            let v = f(l)?;
            let v = match expected {
                Some(ty) => {
                    let ty = ty.map_dims(&mut |d| d.filter(|d| l.visible(*d, watermark)));
                    l.cast(&v, &ty)
                }
                None => v,
            };
            Ok(l.hoist_sizes(&v, watermark))
        })?;
        let known = |d: Size| self.visible(d, watermark) || is_in(d, &self.hoisted);
        if !super::loops::dims_of(&v).into_iter().all(known) || v.has_fun() {
            return Err(self.irregular(span));
        }
        let result = v.atoms();
        let body = Body { stms, result };
        Ok((Lambda { params, body }, v))
    }

    fn watermark_before(&self, params: &[Var]) -> usize {
        use midend::ir::id::Id;
        params
            .iter()
            .map(|p| p.index())
            .min()
            .unwrap_or(self.watermark())
    }

    /// Sizes that are computed inside a lambda from what is known outside are computed outside.
    fn hoist_sizes(&mut self, v: &Value<'a>, watermark: usize) -> Value<'a> {
        if self.dims_visible(v, watermark) {
            return v.clone();
        }
        self.hoisted.clear();
        let ty = self.type_of(v);
        let ty = ty.map_dims(&mut |dim| dim.and_then(|d| self.hoist_size(d, watermark)));
        self.cast(v, &ty)
    }

    fn hoist_size(&mut self, size: Size, watermark: usize) -> Option<Size> {
        match size {
            _ if self.visible(size, watermark) => Some(size),
            Size::Const(_) => Some(size),
            Size::Var(v) => size_of_atom(self.hoist_atom(v, watermark)?),
        }
    }

    fn hoist_atom(&mut self, v: Var, watermark: usize) -> Option<Atom> {
        if self.visible(v, watermark) {
            return Some(Atom::Var(v));
        }
        let exp = {
            let scope = self.cx.scopes.last()?;
            let stm = scope
                .stms
                .iter()
                .find(|s| s.binds == [v] && s.certs.is_empty())?;
            stm.exp.clone()
        };
        let exp = match exp {
            Exp::Atom(Atom::Var(w)) => return self.hoist_atom(w, watermark),
            Exp::Atom(atom) => return Some(atom),
            Exp::Scalar(op @ ScalarOp::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, _), args) => {
                let args: Option<Vec<Atom>> = args
                    .into_iter()
                    .map(|a| match a {
                        Atom::Const(_) => Some(a),
                        Atom::Var(w) => self.hoist_atom(w, watermark),
                    })
                    .collect();
                Exp::Scalar(op, args?)
            }
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        };
        let outer = self.fresh("n", Type::I64);
        let span = self.span;
        let depth = self.cx.scopes.len();
        let scope = self.cx.scopes.get_mut(depth.checked_sub(2)?)?;
        scope.stms.push(Stm {
            binds: vec![outer],
            certs: Vec::new(),
            exp,
            span,
        });
        self.hoisted.insert(outer);
        Some(Atom::Var(outer))
    }

    /// Binds the results of an operation over arrays of the given element.
    fn bind_arrays(&mut self, width: Size, elem: &Value<'a>) -> (Vec<Var>, Value<'a>) {
        let mut binds = Vec::new();
        let rows = elem.map_leaves(&mut |leaf| {
            let ty = Type::array_of(&self.ty(leaf.atom), &[width]);
            let v = self.fresh("t", ty);
            binds.push(v);
            Leaf::new(v.into())
        });
        (binds, Value::array(&[width], rows))
    }

    /// `map f xs`.
    pub fn map(
        &mut self,
        inst: &Instance,
        f: Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let input = self.input(xs, span)?;
        let expected = inst.types.get(1).cloned();
        let (elem, mut fun) = (input.elem.clone(), Some(f));
        let (lam, v) =
            self.lambda(
                input.params.clone(),
                expected.as_ref(),
                span,
                &mut |l| match fun.take() {
                    Some(f) => l.apply(f, vec![elem.clone()], span),
                    None => Ok(Value::unit()),
                },
            )?;
        Ok(self.emit_map(input, lam, &v))
    }

    /// A map. Components that are parameters as they are need no work: they are the inputs.
    fn emit_map(&mut self, input: Input<'a>, mut lam: Lambda<Soac>, v: &Value<'a>) -> Value<'a> {
        let mut binds = Vec::new();
        let mut results = Vec::new();
        let rows = v.map_leaves(&mut |leaf| {
            let same = input.params.iter().position(|p| leaf.atom == Atom::Var(*p));
            if let Some(i) = same {
                return Leaf {
                    atom: input.arrays[i].into(),
                    shared: true,
                    lent: true,
                };
            }
            let ty = Type::array_of(&self.ty(leaf.atom), &[input.width]);
            let v = self.fresh("t", ty);
            binds.push(v);
            results.push(leaf.atom);
            Leaf::new(v.into())
        });
        lam.body.result = results;
        let op = Soac::Screma {
            width: input.width,
            arrays: input.arrays,
            lam,
            scans: Vec::new(),
            reds: Vec::new(),
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Value::array(&[input.width], rows)
    }

    /// The operator of a reduction or scan on elements of the shape of `elem`.
    fn operator(
        &mut self,
        op: &Value<'a>,
        neutral: &Value<'a>,
        elem: &Value<'a>,
        comm: bool,
        span: Span,
    ) -> Res<Operator<Soac>> {
        let ty = self.type_of(elem);
        let neutral = self.cast(neutral, &ty);
        let mut params = Vec::new();
        let mut side = |l: &mut Self, name: &str| {
            elem.map_leaves(&mut |leaf| {
                let ty = l.ty(leaf.atom);
                let v = l.fresh(name, ty);
                params.push(v);
                Leaf {
                    shared: true,
                    ..Leaf::new(v.into())
                }
            })
        };
        let (a, b) = (side(self, "a"), side(self, "b"));
        let (lam, _) = self.lambda(params, Some(&ty), span, &mut |l| {
            l.apply(op.clone(), vec![a.clone(), b.clone()], span)
        })?;
        let comm = comm || commutes(&lam);
        Ok(Operator {
            comm,
            lam,
            neutral: neutral.atoms(),
        })
    }

    fn identity(input: &Input<'a>) -> Lambda<Soac> {
        Lambda {
            params: input.params.clone(),
            body: Body {
                stms: Vec::new(),
                result: input.params.iter().map(|p| Atom::Var(*p)).collect(),
            },
        }
    }

    /// `reduce op ne xs`.
    pub fn reduce(
        &mut self,
        op: Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        comm: bool,
        span: Span,
    ) -> Res<Value<'a>> {
        let row = self.row_shape(xs);
        let operator = self.operator(&op, neutral, &row, comm, span)?;
        let input = self.input(xs, span)?;
        let mut binds = Vec::new();
        let result = input.elem.map_leaves(&mut |leaf| {
            let ty = self.ty(leaf.atom);
            let v = self.fresh("t", ty);
            binds.push(v);
            Leaf::new(v.into())
        });
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: Vec::new(),
            reds: vec![operator],
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(result)
    }

    /// A row as a value of variables that nothing binds: only its shape and types count.
    fn row_shape(&mut self, xs: &Value<'a>) -> Value<'a> {
        xs.peel(1).map_leaves(&mut |leaf| {
            let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
            let v = self.fresh("row", row);
            Leaf::new(v.into())
        })
    }

    /// `scan op ne xs`.
    pub fn scan(
        &mut self,
        op: Value<'a>,
        neutral: &Value<'a>,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let row = self.row_shape(xs);
        let operator = self.operator(&op, neutral, &row, false, span)?;
        let input = self.input(xs, span)?;
        let (binds, result) = self.bind_arrays(input.width, &input.elem);
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: vec![operator],
            reds: Vec::new(),
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(result)
    }

    /// `sum` and its like.
    pub fn fold_op(
        &mut self,
        op: Op,
        ty: ScalarType,
        xs: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let high = super::intrinsic::extreme(ty, true);
        let low = super::intrinsic::extreme(ty, false);
        let (bin, neutral) = match op {
            Op::Product => (BinOp::Mul, int_const(ty, 1)),
            Op::Maximum => (BinOp::Max, low),
            Op::Minimum => (BinOp::Min, high),
            _ => (BinOp::Add, int_const(ty, 0)),
        };
        let input = self.input(xs, span)?;
        let scalar = Type::Scalar(ty);
        let params = vec![
            self.fresh("a", scalar.clone()),
            self.fresh("b", scalar.clone()),
        ];
        let operands = params.iter().map(|p| Atom::Var(*p)).collect();
        let (result, stms) = self.nested(|l| {
            let exp = Exp::Scalar(ScalarOp::Bin(bin, ty), operands);
            Ok(vec![Atom::Var(l.bind1("t", scalar.clone(), exp))])
        })?;
        let operator = Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![Atom::Const(neutral)],
        };
        let op = Soac::Screma {
            width: input.width,
            lam: Self::identity(&input),
            arrays: input.arrays,
            scans: Vec::new(),
            reds: vec![operator],
        };
        Ok(Value::scalar(self.bind1("t", scalar, Exp::Op(op))))
    }

    /// `filter p xs`.
    pub fn filter(&mut self, p: Value<'a>, xs: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let input = self.input(xs, span)?;
        let elem = input.elem.clone();
        let (mut lam, _) = self.lambda(input.params.clone(), None, span, &mut |l| {
            l.apply(p.clone(), vec![elem.clone()], span)
        })?;
        lam.body.result.extend(elem.atoms());
        Ok(self.emit_filter(&input, lam))
    }

    fn emit_filter(&mut self, input: &Input<'a>, lam: Lambda<Soac>) -> Value<'a> {
        let count = self.fresh("n", Type::I64);
        let (mut binds, result) = self.bind_arrays(Size::Var(count), &input.elem);
        binds.insert(0, count);
        let op = Soac::Filter {
            width: input.width,
            arrays: input.arrays.clone(),
            lam,
        };
        self.push(binds, Exp::Op(op));
        result
    }

    /// `partition p xs`: the flags once, then both sides.
    pub fn partition(&mut self, p: Value<'a>, xs: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let flags = self.map(&Instance::default(), p, xs, span)?;
        let mut sides = Vec::new();
        for keep in [true, false] {
            let Some(width) = xs.dims().first().copied() else {
                break;
            };
            let rows = Value::tuple(vec![flags.peel(1), xs.peel(1)]);
            let input = self.input(&Value::array(&[width], rows), span)?;
            let elem = input.elem.clone();
            let (flag, rest) = (
                super::exp::project_tuple(&elem, 0),
                super::exp::project_tuple(&elem, 1),
            );
            let (mut lam, _) = self.lambda(input.params.clone(), None, span, &mut |l| {
                let flag = l.scalar_of(&flag, span)?;
                Ok(Value::scalar(if keep { flag } else { l.not(flag) }))
            })?;
            lam.body.result.extend(rest.atoms());
            let kept = Input {
                elem: rest,
                ..input
            };
            sides.push(self.emit_filter(&kept, lam));
        }
        Ok(Value::tuple(sides))
    }

    /// Indices and values side by side: `(index atoms, value)` of an element.
    fn indexed(
        &mut self,
        indices: &Value<'a>,
        values: &Value<'a>,
        row: &Ty,
        span: Span,
    ) -> Res<(Input<'a>, Vec<Atom>, Value<'a>)> {
        let Some(width) = indices.dims().first().copied() else {
            return Err(unsupported(span, "an array of indices is needed here"));
        };
        let values = self.cast(values, &Ty::array(Some(width), row.clone()));
        let rows = Value::tuple(vec![indices.peel(1), values.peel(1)]);
        let input = self.input(&Value::array(&[width], rows), span)?;
        let at = super::exp::project_tuple(&input.elem, 0).atoms();
        let value = super::exp::project_tuple(&input.elem, 1);
        Ok((input, at, value))
    }

    /// `scatter dest is vs`, in up to three dimensions.
    pub fn scatter(
        &mut self,
        dest: &Value<'a>,
        indices: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let rank = indices.peel(1).leaves().len();
        let row = self.type_of(&dest.peel(rank));
        let (input, at, value) = self.indexed(indices, values, &row, span)?;
        let mut dests = Vec::new();
        let mut binds = Vec::new();
        let mut result = Vec::new();
        let updated = dest.map_leaves(&mut |leaf| {
            let Atom::Var(array) = self.consume(leaf) else {
                return leaf;
            };
            let info = self.vars[array].clone();
            let v = self.fresh(&info.name, info.ty);
            self.alias(v, [Atom::Var(array)]);
            dests.push(ScatterDest { rank, array });
            binds.push(v);
            result.extend(at.iter().copied());
            Leaf::new(v.into())
        });
        result.extend(value.atoms());
        let op = Soac::Scatter {
            width: input.width,
            arrays: input.arrays,
            lam: Lambda {
                params: input.params,
                body: Body {
                    stms: Vec::new(),
                    result,
                },
            },
            dests,
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(updated)
    }

    /// `reduce_by_index dest op ne is vs`, in up to three dimensions.
    pub fn hist(
        &mut self,
        dest: &Value<'a>,
        op: Value<'a>,
        neutral: &Value<'a>,
        indices: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let rank = indices.peel(1).leaves().len();
        let shape = dest.dims().get(..rank).unwrap_or(&[]).to_vec();
        let row = self.type_of(&dest.peel(rank));
        let (input, mut result, value) = self.indexed(indices, values, &row, span)?;
        let operator = self.operator(&op, neutral, &value, true, span)?;
        let mut dests = Vec::new();
        let mut binds = Vec::new();
        let updated = dest.map_leaves(&mut |leaf| {
            let Atom::Var(array) = self.consume(leaf) else {
                return leaf;
            };
            let info = self.vars[array].clone();
            let v = self.fresh(&info.name, info.ty);
            self.alias(v, [Atom::Var(array)]);
            dests.push(array);
            binds.push(v);
            Leaf::new(v.into())
        });
        result.extend(value.atoms());
        let op = Soac::Hist {
            width: input.width,
            arrays: input.arrays,
            lam: Lambda {
                params: input.params,
                body: Body {
                    stms: Vec::new(),
                    result,
                },
            },
            ops: vec![HistOp {
                shape,
                dests,
                op: operator,
            }],
        };
        if !binds.is_empty() {
            self.push(binds, Exp::Op(op));
        }
        Ok(updated)
    }

    /// `==` of arrays: all elements are equal.
    pub fn equal_arrays(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Res<Atom> {
        let Some(width) = a.dims().first().copied() else {
            return Ok(Atom::Const(Const::Bool(true)));
        };
        let ty = self.type_of(a);
        let b = self.cast(b, &ty);
        let rows = Value::tuple(vec![a.peel(1), b.peel(1)]);
        let input = self.input(&Value::array(&[width], rows), span)?;
        let (x, y) = (
            super::exp::project_tuple(&input.elem, 0),
            super::exp::project_tuple(&input.elem, 1),
        );
        let (lam, _) = self.lambda(input.params.clone(), None, span, &mut |l| {
            Ok(Value::scalar(l.equal(&x, &y, span)?))
        })?;
        let bool = Type::BOOL;
        let params = vec![self.fresh("a", bool.clone()), self.fresh("b", bool.clone())];
        let operands = params.iter().map(|p| Atom::Var(*p)).collect();
        let (result, stms) = self.nested(|l| {
            let exp = Exp::Scalar(ScalarOp::Bin(BinOp::And, ScalarType::Bool), operands);
            Ok(vec![Atom::Var(l.bind1("t", Type::BOOL, exp))])
        })?;
        let operator = Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![Atom::Const(Const::Bool(true))],
        };
        let op = Soac::Screma {
            width,
            arrays: input.arrays,
            lam,
            scans: Vec::new(),
            reds: vec![operator],
        };
        Ok(Atom::Var(self.bind1("same", bool, Exp::Op(op))))
    }
}

fn is_in(size: Size, vars: &std::collections::BTreeSet<Var>) -> bool {
    match size {
        Size::Const(_) => true,
        Size::Var(v) => vars.contains(&v),
    }
}

/// Whether an operator is a known commutative one on each component: `+ * min max & | ^`.
fn commutes(lam: &Lambda<Soac>) -> bool {
    let k = lam.body.result.len();
    let one = |i: usize| {
        let Atom::Var(result) = lam.body.result[i] else {
            return false;
        };
        let (Some(a), Some(b)) = (lam.params.get(i), lam.params.get(i + k)) else {
            return false;
        };
        let (a, b) = (Atom::Var(*a), Atom::Var(*b));
        lam.body.stms.iter().any(|stm| {
            stm.binds == [result]
                && match &stm.exp {
                    Exp::Scalar(ScalarOp::Bin(op, _), args) => {
                        let known = matches!(
                            op,
                            BinOp::Add
                                | BinOp::Mul
                                | BinOp::Min
                                | BinOp::Max
                                | BinOp::And
                                | BinOp::Or
                                | BinOp::Xor
                        );
                        known && (args[..] == [a, b] || args[..] == [b, a])
                    }
                    Exp::Scalar(..)
                    | Exp::Atom(_)
                    | Exp::Assert { .. }
                    | Exp::If { .. }
                    | Exp::Loop { .. }
                    | Exp::Call { .. }
                    | Exp::Op(_) => false,
                }
        })
    };
    lam.params.len() == 2 * k && (0..k).all(one)
}
