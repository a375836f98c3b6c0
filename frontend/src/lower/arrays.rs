//! Built-in operations on arrays without functions: `zip`, `transpose`, `concat` and their like.

use super::emit::int;
use super::index::Index;
use super::value::{Instance, Leaf, Ty, Value, size_of_atom};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::{Intrinsic, Op, RangeEnd};
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::syntax::{Atom, Mode, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};

impl<'a> Lower<'a> {
    /// Applies a built-in that is not one on scalars.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a part of the operations; `arity` lists them all"
    )]
    pub fn array_intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        ty: Option<ScalarType>,
        inst: &Instance,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Res<Value<'a>> {
        let updates = matches!(
            intrinsic.op,
            Op::Hist
                | Op::ReduceByIndex1d
                | Op::ReduceByIndex2d
                | Op::ReduceByIndex3d
                | Op::Scatter2d
                | Op::Scatter3d
                | Op::ScatterStream
                | Op::HistStream
                | Op::AccWrite
        );
        if updates && args.iter().any(Value::has_rows) {
            return Err(super::segments::refused(span, "this parallel update of"));
        }
        let rows = args.iter().any(Value::has_rows);
        let mut args = args.into_iter();
        let mut arg = || args.next().unwrap_or_else(Value::unit);
        match intrinsic.op {
            Op::SeqMake => Ok(Value::tuple(vec![arg(), arg(), arg()])),
            Op::SeqParts => Ok(arg()),
            Op::SeqRead(stream) => {
                let _place = arg();
                self.read_chunk(stream, inst, &arg(), span)
            }
            Op::SeqPut => self.put_chunk(inst, &arg()),
            Op::SeqFlat => Ok(Value::scalar(Const::Bool(!arg().has_rows()))),
            Op::SeqNext => self.next_chunk(&arg(), &arg(), span),
            Op::Segment => self.segment(&arg(), &arg(), span),
            Op::Eq => Ok(Value::scalar(self.equal(&arg(), &arg(), span)?)),
            Op::Ne => {
                let same = self.equal(&arg(), &arg(), span)?;
                Ok(Value::scalar(self.not(same)))
            }
            Op::Sum | Op::Product | Op::Maximum | Op::Minimum => {
                let ty = ty.unwrap_or(ScalarType::I32);
                self.fold_op(intrinsic.op, ty, &arg(), span)
            }
            Op::Map => self.map(inst, arg(), &arg(), span),
            Op::Reduce => self.reduce(inst, arg(), &arg(), &arg(), false, span),
            Op::ReduceComm => self.reduce(inst, arg(), &arg(), &arg(), true, span),
            Op::Scan => self.scan(inst, arg(), &arg(), &arg(), span),
            Op::Filter => self.filter(arg(), &arg(), span),
            Op::Partition => self.partition(arg(), &arg(), span),
            Op::Hist => {
                let (op, neutral, count) = (arg(), arg(), arg());
                let count = self.scalar_of(&count, span)?;
                let neutral = self.as_element(inst, &neutral);
                let dest = self.replicate(count, &neutral, span)?;
                self.hist(&dest, op, &neutral, &arg(), &arg(), span)
            }
            Op::ReduceByIndex1d | Op::ReduceByIndex2d | Op::ReduceByIndex3d => {
                let (dest, op, neutral) = (arg(), arg(), arg());
                self.hist(&dest, op, &neutral, &arg(), &arg(), span)
            }
            Op::Scatter1d if rows => self.scatter_rows(&arg(), &arg(), &arg(), span),
            Op::Scatter1d | Op::Scatter2d | Op::Scatter3d => {
                self.scatter(&arg(), &arg(), &arg(), span)
            }
            Op::ScatterStream => self.accumulate(&arg(), None, arg(), &arg(), span),
            Op::HistStream => {
                let (dest, op, neutral) = (arg(), arg(), arg());
                self.accumulate(&dest, Some((op, neutral)), arg(), &arg(), span)
            }
            Op::AccWrite => self.acc_write(&arg(), &arg(), &arg(), span),
            Op::Zip => Ok(self.zip(&arg(), &arg())),
            Op::Unzip => Ok(unzip(&arg())),
            Op::Concat => {
                let (a, b) = (arg(), arg());
                if a.has_rows() || b.has_rows() {
                    return self.concat_rows(vec![a, b], false, span);
                }
                Ok(self.concat(&a, &b))
            }
            Op::Flatten => {
                let v = arg();
                match &v {
                    Value::Array { dims, elem } if dims.len() == 1 => {
                        self.flatten_rows(elem, dims, span)
                    }
                    _ => Ok(self.flatten(&v)),
                }
            }
            Op::Unflatten => self.unflatten(inst, &arg(), span),
            Op::Transpose => {
                let v = arg();
                if v.dims().len() < 2 {
                    return Err(super::segments::refused(span, "`transpose` of"));
                }
                Ok(self.transpose(&v))
            }
            Op::Reverse => {
                let index = Index::Range(None, None, Some(int(-1)));
                Ok(self.index(&arg(), &[index]))
            }
            Op::Rotate => {
                let by = arg();
                let by = self.scalar_of(&by, span)?;
                self.rotate(by, &arg(), span)
            }
            Op::Iota => {
                let n = arg();
                let n = self.scalar_of(&n, span)?;
                Ok(self.range(int(0), Some(int(1)), RangeEnd::Below, n))
            }
            Op::Replicate => {
                let n = arg();
                let n = self.scalar_of(&n, span)?;
                let v = self.as_element(inst, &arg());
                self.replicate(n, &v, span)
            }
            Op::Length => {
                let v = arg();
                let n = v.dims().first().copied().unwrap_or(Size::Const(0));
                Ok(Value::scalar(n))
            }
            Op::Copy | Op::Manifest => {
                let v = arg();
                Ok(v.map_parts(&mut |leaf| self.copy_leaf(leaf)))
            }
            Op::Opaque | Op::Break => Ok(arg()),
            Op::Trace => {
                let v = arg();
                Ok(self.trace(String::from("trace"), &v, span))
            }
            Op::Jvp => self.derivative(Mode::Forward, arg(), &arg(), &arg(), span),
            Op::Vjp => self.derivative(Mode::Reverse, arg(), &arg(), &arg(), span),
            Op::WithVjp => self.with_rule(arg(), arg(), &arg(), span),
            Op::FlatMap => self.flat_map(inst, &arg(), &arg(), span),
            _ => {
                let name = format!("{:?}", intrinsic.op).to_lowercase();
                Err(unsupported(span, format!("`{name}` of these arguments")))
            }
        }
    }

    /// The other array with the width of the first.
    pub fn same_width(&mut self, width: Size, v: &Value<'a>) -> Value<'a> {
        let row = self.type_of(&v.peel(1));
        self.cast(v, &Ty::array(Some(width), row))
    }

    /// `zip` is free: its result reads the arrays in place, so it must be copied before it is consumed.
    fn zip(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        let Some(width) = a.dims().first().copied() else {
            return Value::unit();
        };
        let b = self.same_width(width, b);
        let rows = vec![a.peel(1).lend(), b.peel(1).lend()];
        Value::array(&[width], Value::tuple(rows))
    }

    fn concat(&mut self, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        let (Some(n), Some(m)) = (a.dims().first(), b.dims().first()) else {
            return Value::unit();
        };
        let (len, certs) = self.extents_sum(*n, *m);
        self.with_certs(&certs, |l| l.concat_to(len, a, b))
    }

    /// The concatenation of two arrays, which has this length.
    fn concat_to(&mut self, len: Size, a: &Value<'a>, b: &Value<'a>) -> Value<'a> {
        let row = self.type_of(&a.peel(1));
        let b = self.cast(b, &Ty::array(None, row));
        let mut seconds = b.atoms().into_iter();
        let elem = a.peel(1).map_leaves(&mut |leaf| {
            let arrays: Vec<Var> = [Some(leaf.atom), seconds.next()]
                .into_iter()
                .flatten()
                .filter_map(super::emit::var_of)
                .collect();
            let row = self.ty(leaf.atom).peel(1).unwrap_or(Type::I64);
            let ty = Type::array_of(&row, &[len]);
            Leaf::new(Atom::Var(self.array_op(
                "t",
                ty,
                ArrayOp::Concat { arrays, len },
            )))
        });
        Value::array(&[len], elem)
    }

    fn flatten(&mut self, v: &Value<'a>) -> Value<'a> {
        let [n, m, ..] = *v.dims() else {
            return v.clone();
        };
        let (len, _) = self.extents_product(&[n, m]);
        let elem = v.peel(2).map_leaves(&mut |leaf| {
            let ty = self.ty(leaf.atom);
            let mut shape = vec![len];
            shape.extend(ty.shape().iter().skip(2).filter_map(|d| d.size()));
            self.reshape(leaf, &shape)
        });
        Value::array(&[len], elem)
    }

    fn unflatten(&mut self, inst: &Instance, v: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let (Some(Some(n)), Some(Some(m))) = (inst.sizes.first(), inst.sizes.get(1)) else {
            return Err(unsupported(
                span,
                "the sizes of this `unflatten` are unknown",
            ));
        };
        let (n, m) = (*n, *m);
        // What the program says of sizes is arithmetic that wraps; a shape is not.
        let (len, whole) = self.extents_product(&[n, m]);
        let i64 = ScalarType::I64;
        let have = v.dims().first().copied().unwrap_or(Size::Const(0));
        let mut ok = self.cmp(CmpOp::Eq, i64, len.into(), have.into());
        for extent in [n, m] {
            let positive = self.cmp(CmpOp::Le, i64, int(0), extent.into());
            ok = self.and(ok, positive);
        }
        let mut message = vec![super::emit::text("Cannot unflatten array of shape ")];
        message.extend(super::coerce::shape_parts(&[have]));
        message.push(super::emit::text(" to array of shape "));
        message.extend(super::coerce::shape_parts(&[n, m]));
        message.push(super::emit::text("."));
        let mut certs = self.assert(ok, TrapKind::Shape, message);
        certs.extend(whole);
        let elem = self.with_certs(&certs, |l| {
            v.peel(1).map_leaves(&mut |leaf| {
                let ty = l.ty(leaf.atom);
                let mut shape = vec![n, m];
                shape.extend(ty.shape().iter().skip(1).filter_map(|d| d.size()));
                l.reshape(leaf, &shape)
            })
        });
        Ok(Value::array(&[n, m], elem))
    }

    fn transpose(&mut self, v: &Value<'a>) -> Value<'a> {
        let [n, m, ..] = *v.dims() else {
            return v.clone();
        };
        let elem = v.peel(2).map_leaves(&mut |leaf| {
            let Atom::Var(array) = leaf.atom else {
                return leaf;
            };
            let ty = self.vars[array].ty.clone();
            let mut perm: Vec<usize> = (0..ty.rank()).collect();
            perm.swap(0, 1);
            let row = ty.peel(2).unwrap_or(Type::I64);
            let op = ArrayOp::Rearrange { perm, array };
            let t = self.array_op("t", Type::array_of(&row, &[m, n]), op);
            self.alias(t, [leaf.atom]);
            Leaf {
                atom: t.into(),
                ..leaf
            }
        });
        Value::array(&[m, n], elem)
    }

    /// `a[(i + r) % n]` at `i`: the two parts of the array change places.
    fn rotate(&mut self, by: Atom, v: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let Some(n) = v.dims().first().copied() else {
            return Ok(v.clone());
        };
        let divisor = self.i64_bin(BinOp::Max, n.into(), int(1));
        let by = self.i64_bin(BinOp::Mod, by, divisor);
        let tail = self.index_unchecked(v, &[Index::Range(Some(by), None, None)]);
        let head = self.index_unchecked(v, &[Index::Range(None, Some(by), None)]);
        let joined = if v.has_rows() {
            self.concat_rows(vec![tail, head], true, span)?.lend_pools()
        } else {
            self.concat_to(n, &tail, &head)
        };
        Ok(self.same_width(n, &joined))
    }

    /// `n` times a value. A negative number is refused as the range that it would count.
    pub fn replicate(&mut self, n: Atom, v: &Value<'a>, span: Span) -> Res<Value<'a>> {
        let i64 = ScalarType::I64;
        let ok = self.cmp(CmpOp::Le, i64, int(0), n);
        let message = vec![
            super::emit::text("Range 0..1..<"),
            super::emit::value(n),
            super::emit::text(" is invalid: cannot replicate a negative number of times."),
        ];
        let certs = self.assert(ok, TrapKind::NegativeSize, message);
        let n = size_of_atom(n).unwrap_or(Size::Const(0));
        if v.has_rows() {
            // Each has rows of its own.
            let v = self.outside_rows(v, &mut Vec::new(), &mut |l, rows, shape| {
                l.compacted(rows, shape, span)
            })?;
            return self.with_certs(&certs, |l| {
                let places = l.range(int(0), Some(int(1)), RangeEnd::Below, n.into());
                let input = l.input(&places, span)?;
                l.map_over(input, None, true, span, &mut |_| Ok(v.clone()))
            });
        }
        let elem = self.with_certs(&certs, |l| {
            v.map_leaves(&mut |leaf| {
                let ty = Type::array_of(&l.ty(leaf.atom), &[n]);
                let op = ArrayOp::Replicate {
                    shape: vec![n.into()],
                    value: leaf.atom,
                };
                Leaf::new(Atom::Var(l.array_op("t", ty, op)))
            })
        });
        Ok(Value::array(&[n], elem))
    }
}

/// The arrays of an array of pairs: free.
fn unzip<'a>(v: &Value<'a>) -> Value<'a> {
    let Some(width) = v.dims().first().copied() else {
        return Value::unit();
    };
    match v.peel(1) {
        Value::Tuple(columns) => {
            let columns = columns.iter();
            Value::Tuple(columns.map(|c| Value::array(&[width], c.clone())).collect())
        }
        Value::Leaf(_)
        | Value::Array { .. }
        | Value::Record(_)
        | Value::Sum(_)
        | Value::Rows(_)
        | Value::Fun(_) => Value::unit(),
    }
}
