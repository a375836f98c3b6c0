//! Expressions: one function per construct that is not large enough for a file of its own.

use super::coerce::shape_parts;
use super::emit::text;
use super::env::Frame;
use super::value::{
    Code, FunValue, Leaf, SumValue, Ty, Value, float_const, int_const, scalar_type,
};
use super::{Lower, Res, unsupported};
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Lit, Sym, Type as SourceType};
use midend::ir::array::ArrayOp;
use midend::ir::scalar::{Const, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Lowers an expression and binds its existential sizes.
    pub fn exp(&mut self, e: &'a Exp, frame: &Rc<Frame<'a>>) -> Res<Value<'a>> {
        let here = self.span_id(e.span);
        let outer = std::mem::replace(&mut self.span, here);
        let v = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_kind(e, frame))?;
        self.span = outer;
        self.bind_exts(&e.exts, &e.ty, &v, frame);
        Ok(v)
    }

    fn exp_kind(&mut self, e: &'a Exp, frame: &Rc<Frame<'a>>) -> Res<Value<'a>> {
        match &e.kind {
            ExpKind::Lit(lit) => Ok(Value::scalar(Atom::Const(literal(*lit)))),
            ExpKind::String(bytes) => Ok(self.string(bytes)),
            ExpKind::Hole => Ok(self.hole(e, frame)),
            ExpKind::Var { name, inst } => {
                let inst = self.eval_inst(inst, frame);
                self.name_value(*name, frame, &inst)
            }
            ExpKind::Size(size) => match self.eval_size(size, frame) {
                Some(size) => Ok(Value::scalar(size)),
                None => Err(unsupported(e.span, "this size cannot be computed here")),
            },
            ExpKind::Tuple(es) => Ok(Value::Tuple(self.exps(es, frame)?.into())),
            ExpKind::Record(fields) => self.record(fields, frame),
            ExpKind::Array(es) => self.array_literal(e, es, frame),
            ExpKind::Construct(con, args) => self.construct(e, con, args, frame),
            ExpKind::Range { start, second, end } => {
                let start = self.scalar_exp(start, frame)?;
                let second = match second {
                    Some(second) => Some(self.scalar_exp(second, frame)?),
                    None => None,
                };
                let last = self.scalar_exp(&end.1, frame)?;
                let v = self.range(start, second, end.0, last);
                let ty = self.eval_type(&e.ty, frame);
                Ok(self.cast(&v, &ty))
            }
            ExpKind::Coerce(inner) => {
                let v = self.exp(inner, frame)?;
                let ty = self.stated_type(&e.ty, frame);
                let elem = type_text(elem_of(&e.ty));
                let mut message =
                    |have: &[Size], want: &[Size]| Self::coercion_message(have, want, &elem);
                self.coerce(&v, &ty, TrapKind::Coercion, &mut message)
            }
            ExpKind::Apply { fun, args, infix } => self.apply_exp(e, fun, args, *infix, frame),
            ExpKind::Negate(inner) => {
                let a = self.scalar_exp(inner, frame)?;
                let ty = self.atom_scalar(a);
                Ok(Value::scalar(
                    self.scalar(ScalarOp::Un(UnOp::Neg, ty), &[a]),
                ))
            }
            ExpKind::Not(inner) => {
                let a = self.scalar_exp(inner, frame)?;
                let ty = self.atom_scalar(a);
                Ok(Value::scalar(
                    self.scalar(ScalarOp::Un(UnOp::Not, ty), &[a]),
                ))
            }
            ExpKind::Field(inner, field) => {
                let v = self.exp(inner, frame)?;
                Ok(project(&v, field))
            }
            ExpKind::TupleField(inner, i) => {
                let v = self.exp(inner, frame)?;
                Ok(project_tuple(&v, *i))
            }
            ExpKind::Lambda { params, body, ret } => Ok(Value::Fun(Rc::new(FunValue {
                code: Code::Lambda {
                    params,
                    body,
                    ret,
                    frame: Rc::clone(frame),
                },
                args: Vec::new(),
            }))),
            ExpKind::Let {
                sizes,
                pat,
                value,
                body,
            } => {
                let v = self.exp(value, frame)?;
                self.bind_exts(sizes, &pat.ty, &v, frame);
                self.bind_pat(pat, &v, frame);
                self.exp(body, frame)
            }
            ExpKind::LetFun { def, body } => {
                self.bind_local_def(def, frame);
                self.exp(body, frame)
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.scalar_exp(cond, frame)?;
                self.lower_if(
                    cond,
                    Some((&e.ty, frame)),
                    &mut |l| l.exp(then, frame),
                    &mut |l| l.exp(otherwise, frame),
                    e.span,
                )
            }
            ExpKind::Match { scrutinee, cases } => {
                let v = self.exp(scrutinee, frame)?;
                self.lower_match(&v, cases, e, frame)
            }
            ExpKind::Loop {
                sizes,
                pat,
                init,
                form,
                body,
            } => self.lower_loop(sizes, pat, init, form, body, frame),
            ExpKind::Index { array, slices } => {
                let slices = self.slices(slices, frame)?;
                let v = self.exp(array, frame)?;
                self.index_deep(&v, &slices, e.span)
            }
            ExpKind::Update {
                source,
                path,
                value,
            } => self.update_exp(source, path, value, frame),
            ExpKind::Assert { cond, text, body } => self.assert_exp(cond, text, body, frame),
            ExpKind::Attr(attr, inner) => self.attributed(attr, inner, frame),
        }
    }

    /// Expressions from the first to the last.
    pub fn exps(&mut self, es: &'a [Exp], frame: &Rc<Frame<'a>>) -> Res<Vec<Value<'a>>> {
        es.iter().map(|e| self.exp(e, frame)).collect()
    }

    /// An expression whose value is one scalar.
    pub fn scalar_exp(&mut self, e: &'a Exp, frame: &Rc<Frame<'a>>) -> Res<Atom> {
        let v = self.exp(e, frame)?;
        self.scalar_of(&v, e.span)
    }

    /// The atom of a scalar value.
    pub fn scalar_of(&mut self, v: &Value<'a>, span: Span) -> Res<Atom> {
        match v {
            Value::Leaf(leaf) => Ok(leaf.atom),
            Value::Array { .. }
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Sum(_)
            | Value::Rows(_)
            | Value::Fun(_) => Err(unsupported(span, "a scalar is needed here")),
        }
    }

    /// The type of a scalar atom.
    pub fn atom_scalar(&self, atom: Atom) -> ScalarType {
        self.elem_type(Leaf::new(atom))
    }

    fn string(&mut self, bytes: &[u8]) -> Value<'a> {
        let elems = bytes.iter().map(|b| Atom::Const(Const::U8(*b))).collect();
        let row = Type::Scalar(ScalarType::U8);
        let len = Size::Const(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        let ty = Type::array_of(&row, &[len]);
        let v = self.array_op("text", ty, ArrayOp::Literal { elems, row });
        Value::array(&[len], Value::scalar(v))
    }

    fn hole(&mut self, e: &'a Exp, frame: &Rc<Frame<'a>>) -> Value<'a> {
        let message = vec![text("Reached hole of type "), text(type_text(&e.ty))];
        let certs = self.assert(Atom::Const(Const::Bool(false)), TrapKind::Hole, message);
        let ty = self.eval_type(&e.ty, frame);
        self.with_certs(&certs, |l| l.absent(&ty, &mut Vec::new()))
    }

    fn record(&mut self, fields: &'a [(Sym, Exp)], frame: &Rc<Frame<'a>>) -> Res<Value<'a>> {
        let mut values = Vec::with_capacity(fields.len());
        for (name, e) in fields {
            values.push((name.clone(), self.exp(e, frame)?));
        }
        values.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Value::Record(values.into()))
    }

    fn array_literal(
        &mut self,
        e: &'a Exp,
        es: &'a [Exp],
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let len = Size::Const(i64::try_from(es.len()).unwrap_or(i64::MAX));
        let ty = self.eval_type(&e.ty, frame);
        let row = match &ty {
            Ty::Array(a) => a.elem.clone(),
            Ty::Scalar(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Sum(_) | Ty::Fun => ty.clone(),
        };
        if es.is_empty() {
            return Ok(self.absent(&Ty::array(Some(len), row), &mut Vec::new()));
        }
        let mut rows = self.exps(es, frame)?;
        for v in &mut rows {
            *v = self.cast(v, &row);
        }
        let irregular = row.has_irregular() || rows.iter().any(Value::has_rows);
        if irregular && !self.of_one_shape(&rows) {
            return self.stack_rows(&rows, &row, e.span);
        }
        // What the type does not tell, the first row tells.
        let row = self.type_of(&rows[0]);
        for v in &mut rows {
            let (have, message) = (v.clone(), "rows of an array literal differ in shape: ");
            let mut parts = |a: &[Size], b: &[Size]| {
                let mut parts = vec![text(message)];
                parts.extend(shape_parts(b));
                parts.push(text(" and "));
                parts.extend(shape_parts(a));
                parts
            };
            *v = self.coerce_element(&have, &row, TrapKind::Shape, &mut parts)?;
        }
        Ok(self.stack(&rows, len))
    }

    /// The array of the given rows, all of one shape.
    pub fn stack(&mut self, rows: &[Value<'a>], len: Size) -> Value<'a> {
        let columns: Vec<Vec<Leaf>> = rows.iter().map(Value::leaves).collect();
        let mut next = 0;
        let stacked = rows[0].map_leaves(&mut |first| {
            let elems = columns.iter().map(|row| row[next].atom).collect();
            next += 1;
            let row = self.ty(first.atom);
            let ty = Type::array_of(&row, &[len]);
            let v = self.array_op("lit", ty, ArrayOp::Literal { elems, row });
            Leaf::new(Atom::Var(v))
        });
        Value::array(&[len], stacked)
    }

    fn construct(
        &mut self,
        e: &'a Exp,
        con: &Sym,
        args: &'a [Exp],
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let args = self.exps(args, frame)?;
        let Ty::Sum(cons) = self.eval_type(&e.ty, frame) else {
            return Err(unsupported(e.span, "this constructor's type is not known"));
        };
        let mut tag = 0;
        let mut payloads = Vec::with_capacity(cons.len());
        for (i, (name, types)) in cons.iter().enumerate() {
            let values = if name == con {
                tag = u8::try_from(i).unwrap_or(u8::MAX);
                let pairs = args.iter().zip(types);
                pairs.map(|(v, t)| self.cast(v, t)).collect()
            } else {
                types
                    .iter()
                    .map(|t| self.absent(t, &mut Vec::new()))
                    .collect()
            };
            payloads.push((name.clone(), values));
        }
        Ok(Value::Sum(Rc::new(SumValue {
            tag: Leaf::new(Atom::Const(Const::U8(tag))),
            cons: payloads,
        })))
    }

    fn assert_exp(
        &mut self,
        cond: &'a Exp,
        source: &str,
        body: &'a Exp,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        if self.unchecked {
            return self.exp(body, frame);
        }
        let cond = self.scalar_exp(cond, frame)?;
        let message = vec![text(format!("Assertion is false: {source}"))];
        let certs = self.assert(cond, TrapKind::Assert, message);
        let before = self.watermark();
        let v = self.with_certs(&certs, |l| l.exp(body, frame))?;
        // What was there before needs a statement of its own to be protected.
        let guarded = |l: &mut Self, leaf: Leaf| match leaf.atom {
            atom if l.visible(atom, before) && !certs.is_empty() => {
                let ty = l.ty(atom);
                let exp = midend::ir::syntax::Exp::Atom(atom);
                let copy = l.with_certs(&certs, |l| l.bind1("t", ty, exp));
                l.alias(copy, [atom]);
                Leaf {
                    atom: Atom::Var(copy),
                    ..leaf
                }
            }
            _ => leaf,
        };
        Ok(v.map_parts(&mut |leaf| guarded(self, leaf)))
    }

    // --- Names --------------------------------------------------------------
}

/// The constant of a literal.
pub fn literal(lit: Lit) -> Const {
    match lit {
        Lit::Int(prim, n) => int_const(scalar_type(prim), n),
        Lit::Float(prim, x) => float_const(scalar_type(prim), x),
        Lit::Bool(b) => Const::Bool(b),
    }
}

/// A field of a record.
pub fn project<'a>(v: &Value<'a>, field: &Sym) -> Value<'a> {
    match v {
        Value::Record(fields) => fields
            .iter()
            .find(|(name, _)| name == field)
            .map_or_else(Value::unit, |(_, v)| v.clone()),
        Value::Tuple(_) => field
            .parse()
            .map_or_else(|_| Value::unit(), |i| project_tuple(v, i)),
        Value::Leaf(_) | Value::Array { .. } | Value::Sum(_) | Value::Rows(_) | Value::Fun(_) => {
            Value::unit()
        }
    }
}

/// A component of a tuple.
pub fn project_tuple<'a>(v: &Value<'a>, i: usize) -> Value<'a> {
    match v {
        Value::Tuple(fields) => fields.get(i).cloned().unwrap_or_else(Value::unit),
        Value::Leaf(_)
        | Value::Array { .. }
        | Value::Record(_)
        | Value::Sum(_)
        | Value::Rows(_)
        | Value::Fun(_) => Value::unit(),
    }
}

/// The element type of an array type.
fn elem_of(ty: &SourceType) -> &SourceType {
    match ty {
        SourceType::Array(a) => elem_of(&a.elem),
        SourceType::Prim(_)
        | SourceType::Tuple(_)
        | SourceType::Record(_)
        | SourceType::Sum(_)
        | SourceType::Fun(_)
        | SourceType::Named(_)
        | SourceType::Meta(_) => ty,
    }
}

/// A type in a message, without sizes.
fn type_text(ty: &SourceType) -> String {
    match ty {
        SourceType::Prim(p) => p.name().into(),
        SourceType::Array(a) => format!("[]{}", type_text(&a.elem)),
        SourceType::Tuple(ts) => {
            let ts: Vec<String> = ts.iter().map(type_text).collect();
            format!("({})", ts.join(", "))
        }
        SourceType::Record(ts) => {
            let ts = ts
                .iter()
                .map(|(name, t)| format!("{name}: {}", type_text(t)));
            format!("{{{}}}", ts.collect::<Vec<_>>().join(", "))
        }
        SourceType::Sum(cs) => {
            let cs = cs.iter().map(|(name, _)| format!("#{name}"));
            cs.collect::<Vec<_>>().join(" | ")
        }
        SourceType::Fun(f) => format!("{} -> {}", type_text(&f.arg), type_text(&f.ret.ty)),
        SourceType::Named(_) | SourceType::Meta(_) => "_".into(),
    }
}
