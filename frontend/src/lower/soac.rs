//! Built-in operations with functions: they become second-order operations of the IR, their functions lambdas.

use super::irregular::Outside;
use super::payload;
use super::value::{Instance, Leaf, Ty, Value, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use midend::analysis::totality::is_total_code;
use midend::ir::id::Var;
use midend::ir::rename::{self, Subst};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use midend::ir::types::{Size, Type};
use midend::ir::walk;

/// The inputs of a second-order operation: an array taken apart into IR arrays and the element made of fresh parameters.
pub(super) struct Input<'a> {
    pub(super) width: Size,
    pub(super) arrays: Vec<Var>,
    pub(super) params: Vec<Var>,
    pub(super) elem: Value<'a>,
}

impl<'a> Lower<'a> {
    pub(super) fn input(&mut self, v: &Value<'a>, span: Span) -> Res<Input<'a>> {
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
    pub(super) fn lambda(
        &mut self,
        params: Vec<Var>,
        expected: Option<&Ty>,
        span: Span,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<(Lambda<Soac>, Value<'a>)> {
        match self.lambda_if_same(params, expected, f)? {
            Some(made) => Ok(made),
            None => Err(self.irregular(span)),
        }
    }

    /// The same, or nothing if the sizes in its result are not known outside.
    pub(super) fn lambda_if_same(
        &mut self,
        params: Vec<Var>,
        expected: Option<&Ty>,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<Option<(Lambda<Soac>, Value<'a>)>> {
        let watermark = self.watermark_before(&params);
        let (v, stms) = self.nested(|l| l.lambda_result(expected, watermark, f))?;
        let hoisted = self.hoisted.clone();
        let outside = Outside { watermark, hoisted };
        if !self.same_for_all(&v, &outside) || v.has_fun() {
            return Ok(None);
        }
        let result = v.atoms();
        let body = Body { stms, result };
        Ok(Some((Lambda { params, body }, v)))
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
        // The size outside is the same one.
        let checks = std::mem::take(&mut self.checks_casts);
        let v = self.cast(v, &ty);
        self.checks_casts = checks;
        v
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
            Exp::Scalar(
                op @ ScalarOp::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Max, _),
                args,
            ) => {
                let args: Option<Vec<Atom>> = args
                    .into_iter()
                    .map(|a| match a {
                        Atom::Const(_) => Some(a),
                        Atom::Var(w) => self.hoist_atom(w, watermark),
                    })
                    .collect();
                Exp::Scalar(op, args?)
            }
            // The sum of lengths, say.
            Exp::Op(op @ Soac::Screma { .. }) => {
                let exp = Exp::Op(rename::op(&mut self.vars, &mut Subst::new(), &op));
                let free = walk::free_in_exp(&self.vars, &exp);
                let known = free.iter().all(|w| self.visible(*w, watermark));
                if !known || !is_total_op(&exp) {
                    return None;
                }
                exp
            }
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
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
    pub(super) fn bind_arrays(&mut self, width: Size, elem: &Value<'a>) -> (Vec<Var>, Value<'a>) {
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
        let stated = inst.types.get(1);
        let expected = stated.map(payload::without_sizes);
        let (elem, mut fun) = (input.elem.clone(), Some(f));
        let irregular = self.typed.irregular;
        self.map_over(input, expected.as_ref(), irregular, span, &mut |l| {
            let Some(f) = fun.take() else {
                return Ok(Value::unit());
            };
            let v = l.apply(f, vec![elem.clone()], span)?;
            Ok(match stated {
                Some(ty) if v.has_payload_arrays(false) => {
                    let ty = l.with_payloads(ty);
                    let ty = payload::without_others(&ty);
                    l.cast_result(&v, &ty)
                }
                Some(_) | None => v,
            })
        })
    }

    /// A map over inputs. Its results may have sizes that differ from element to element if `irregular` says so.
    pub(super) fn map_over(
        &mut self,
        input: Input<'a>,
        expected: Option<&Ty>,
        irregular: bool,
        span: Span,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<Value<'a>> {
        let params = input.params.clone();
        let watermark = self.watermark_before(&params);
        let ((v, same), stms) = self.nested(|l| {
            let v = l.lambda_result(expected, watermark, f)?;
            let hoisted = l.hoisted.clone();
            let outside = Outside { watermark, hoisted };
            let same = l.same_for_all(&v, &outside);
            if v.has_fun() || !(same || irregular) {
                return Err(l.irregular(span));
            }
            if same {
                return Ok((v, true));
            }
            l.remark_on_rows(&v, &outside);
            let v = l.pooled(&v, &mut Vec::new(), &outside, span)?;
            Ok((v, false))
        })?;
        let result = v.atoms();
        let body = Body { stms, result };
        let lam = Lambda { params, body };
        Ok(if same {
            self.emit_map(input, lam, &v)
        } else {
            self.collect(input, lam, &v)
        })
    }

    /// What a lambda yields, with sizes that are known outside as far as that is possible.
    fn lambda_result(
        &mut self,
        expected: Option<&Ty>,
        watermark: usize,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<Value<'a>> {
        let v = self.in_parallel(watermark, |l| l.lambda_value(expected, watermark, f))?;
        Ok(self.hoist_sizes(&v, watermark))
    }

    fn lambda_value(
        &mut self,
        expected: Option<&Ty>,
        watermark: usize,
        f: &mut dyn FnMut(&mut Self) -> Res<Value<'a>>,
    ) -> Res<Value<'a>> {
        let v = f(self)?;
        Ok(match expected {
            Some(ty) => {
                let ty = ty.map_dims(&mut |d| d.filter(|d| self.visible(*d, watermark)));
                self.cast_result(&v, &ty)
            }
            None => v,
        })
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
        // The source takes the result for a fresh array, but only marks of rows were moved.
        result.lend_pools()
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
}

/// Whether an operation of scalars alone cannot fail.
fn is_total_op(exp: &Exp<Soac>) -> bool {
    let mut total = true;
    exp.scopes(&mut |_, body| {
        walk::all_stms(body, &mut |stm| total &= is_total_code(stm));
    });
    total
}
