//! Conditionals: branches are lowered on their own, then joined; sizes that differ between them are results too.

use super::env::Frame;
use super::rows::Rows;
use super::value::{Leaf, SumValue, Ty, Value, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::Type as SourceType;
use midend::ir::id::Var;
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp as IrExp};
use midend::ir::types::{Size, Type};
use std::rc::Rc;

/// The results of a conditional while its branches are joined.
struct Join {
    watermark: usize,
    sizes: Vec<(Size, Size, Var)>,
    leaves: Vec<(Atom, Atom, Var)>,
    span: Span,
}

/// How a branch is lowered.
pub type Branch<'s, 'a> = &'s mut dyn FnMut(&mut Lower<'a>) -> Res<Value<'a>>;

impl<'a> Lower<'a> {
    /// A conditional. The type, if given, says which sizes the branches share.
    pub fn lower_if(
        &mut self,
        cond: Atom,
        ty: Option<(&'a SourceType, &Rc<Frame<'a>>)>,
        then: Branch<'_, 'a>,
        otherwise: Branch<'_, 'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        match cond {
            Atom::Const(Const::Bool(true)) => return then(self),
            Atom::Const(Const::Bool(false)) => return otherwise(self),
            Atom::Const(_) | Atom::Var(_) => {}
        }
        let expected = ty.map(|(ty, frame)| self.eval_type(ty, frame));
        let watermark = self.watermark();
        let branch = |l: &mut Self, f: Branch<'_, 'a>, ty: Option<&Ty>| {
            l.nested(|l| {
                let v = f(l)?;
                Ok(match ty {
                    Some(ty) => {
                        let v = l.cast_result(&v, ty);
                        l.irregular_as(&v, ty)
                    }
                    None => v,
                })
            })
        };
        let (then_value, then_stms) = branch(self, then, expected.as_ref())?;
        let expected = if then_value.has_rows() {
            expected.map(|ty| ty.irregular_like(&then_value))
        } else {
            expected
        };
        let (else_value, else_stms) = branch(self, otherwise, expected.as_ref())?;
        let mut join = Join {
            watermark,
            sizes: Vec::new(),
            leaves: Vec::new(),
            span,
        };
        let joined = self.join(&then_value, &else_value, &mut Vec::new(), &mut join)?;
        let mut binds: Vec<Var> = join.sizes.iter().map(|s| s.2).collect();
        binds.extend(join.leaves.iter().map(|l| l.2));
        let sizes = join.sizes.iter();
        let mut then_result: Vec<Atom> = sizes.clone().map(|s| s.0.into()).collect();
        let mut else_result: Vec<Atom> = sizes.map(|s| s.1.into()).collect();
        then_result.extend(join.leaves.iter().map(|l| l.0));
        else_result.extend(join.leaves.iter().map(|l| l.1));
        for (a, b, v) in &join.leaves {
            self.alias(*v, [*a, *b]);
        }
        let exp = IrExp::If {
            cond,
            then: Body {
                stms: then_stms,
                result: then_result,
            },
            otherwise: Body {
                stms: else_stms,
                result: else_result,
            },
        };
        if !binds.is_empty() {
            self.push(binds, exp);
        }
        Ok(joined)
    }

    fn join_size(&mut self, a: Size, b: Size, join: &mut Join) -> Size {
        if a == b && self.visible(a, join.watermark) {
            return a;
        }
        if let Some(known) = join.sizes.iter().find(|s| s.0 == a && s.1 == b) {
            return Size::Var(known.2);
        }
        let v = self.fresh("n", Type::I64);
        join.sizes.push((a, b, v));
        Size::Var(v)
    }

    fn join_leaf(&mut self, a: Leaf, b: Leaf, outer: &[Size], join: &mut Join) -> Leaf {
        let shared = a.shared || b.shared;
        if a.atom == b.atom && self.visible(a.atom, join.watermark) {
            return Leaf {
                atom: a.atom,
                shared,
                lent: a.lent || b.lent,
            };
        }
        // A scalar that is a size already is not yielded twice.
        if let (Some(x), Some(y)) = (size_of_atom(a.atom), size_of_atom(b.atom))
            && let Some(known) = join.sizes.iter().find(|s| s.0 == x && s.1 == y)
        {
            return Leaf::new(Atom::Var(known.2));
        }
        let ty = match self.ty(a.atom) {
            acc @ Type::Acc(_) => acc,
            Type::Scalar(_) | Type::Array(_) | Type::Buffer(_) | Type::Cert => {
                Type::array_of(&Type::Scalar(self.elem_type(a)), outer)
            }
        };
        let name = match a.atom {
            Atom::Var(v) => self.vars[v].name.clone(),
            Atom::Const(_) => String::from("t"),
        };
        let v = self.fresh(&name, ty);
        join.leaves.push((a.atom, b.atom, v));
        Leaf {
            atom: Atom::Var(v),
            shared,
            lent: a.lent || b.lent,
        }
    }

    fn join(
        &mut self,
        a: &Value<'a>,
        b: &Value<'a>,
        outer: &mut Vec<Size>,
        join: &mut Join,
    ) -> Res<Value<'a>> {
        match (a, b) {
            (Value::Leaf(a), Value::Leaf(b)) => {
                if self.ty(a.atom).is_acc() != self.ty(b.atom).is_acc() {
                    let what = "an accumulator that is only there under a condition";
                    return Err(unsupported(join.span, what));
                }
                Ok(Value::Leaf(self.join_leaf(*a, *b, outer, join)))
            }
            (Value::Array { dims: xs, elem: a }, Value::Array { dims: ys, elem: b })
                if xs.len() == ys.len() =>
            {
                let dims: Vec<Size> = xs
                    .iter()
                    .zip(ys.iter())
                    .map(|(x, y)| self.join_size(*x, *y, join))
                    .collect();
                outer.extend(&dims);
                let elem = self.join(a, b, outer, join)?;
                outer.truncate(outer.len() - dims.len());
                Ok(Value::Array {
                    dims: dims.into(),
                    elem: Rc::new(elem),
                })
            }
            (Value::Tuple(xs), Value::Tuple(ys)) => {
                let pairs = xs.iter().zip(ys.iter());
                let fields: Res<Vec<_>> =
                    pairs.map(|(a, b)| self.join(a, b, outer, join)).collect();
                Ok(Value::tuple(fields?))
            }
            (Value::Record(xs), Value::Record(ys)) => {
                let pairs = xs.iter().zip(ys.iter());
                let fields: Res<Vec<_>> = pairs
                    .map(|((name, a), (_, b))| Ok((name.clone(), self.join(a, b, outer, join)?)))
                    .collect();
                Ok(Value::Record(fields?.into()))
            }
            (Value::Sum(x), Value::Sum(y)) => {
                let tag = self.join_leaf(x.tag, y.tag, outer, join);
                let mut cons = Vec::with_capacity(x.cons.len());
                for ((name, xs), (_, ys)) in x.cons.iter().zip(&y.cons) {
                    let pairs = xs.iter().zip(ys);
                    let vs: Res<Vec<_>> =
                        pairs.map(|(a, b)| self.join(a, b, outer, join)).collect();
                    cons.push((name.clone(), vs?));
                }
                Ok(Value::Sum(Rc::new(SumValue { tag, cons })))
            }
            (Value::Rows(x), Value::Rows(y)) => {
                let begin = self.join_leaf(x.begin, y.begin, outer, join);
                let end = self.join_leaf(x.end, y.end, outer, join);
                let pool = self.join(&x.pool, &y.pool, &mut Vec::new(), join)?;
                Ok(Value::Rows(Rc::new(Rows {
                    begin,
                    end,
                    pool,
                    compact: x.compact && y.compact,
                })))
            }
            (Value::Array { .. } | Value::Rows(_), Value::Array { .. } | Value::Rows(_)) => {
                let what = "a condition on which it depends whether an array is irregular, without a type that says so";
                Err(unsupported(join.span, what))
            }
            (Value::Fun(x), Value::Fun(y)) if Rc::ptr_eq(x, y) => Ok(a.clone()),
            (
                Value::Leaf(_)
                | Value::Array { .. }
                | Value::Tuple(_)
                | Value::Record(_)
                | Value::Sum(_)
                | Value::Rows(_)
                | Value::Fun(_),
                _,
            ) => Err(unsupported(
                join.span,
                "a function that depends on a condition",
            )),
        }
    }
}
