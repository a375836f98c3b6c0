//! Types and sizes: evaluation in an environment, casts of values to the sizes of a type, binding of existential sizes.

use super::Lower;
use super::emit::int;
use super::env::{Binding, Frame, TypeDef};
use super::rows::Rows;
use super::value::{ArrayTy, Instance, Leaf, SumValue, Ty, Value, scalar_type, size_of_atom};
use crate::source::Span;
use crate::typed::{
    Atom as SizeAtom, Inst, Name, Opaque, Size as SourceSize, Type as SourceType, TypeArg,
    TypeParam,
};
use midend::ir::scalar::BinOp;
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size, Type};
use std::collections::BTreeSet;
use std::rc::Rc;

impl<'a> Lower<'a> {
    // --- Evaluation ---------------------------------------------------------

    /// A size, if everything that it names is known.
    pub fn eval_size(&mut self, size: &'a SourceSize, frame: &Rc<Frame<'a>>) -> Option<Size> {
        if let Some(n) = size.as_constant() {
            return Some(Size::Const(n));
        }
        let mut sum = int(0);
        // What is added first, so that `n - 1` is what a slice computes, too.
        for added in [true, false] {
            for (product, factor) in &size.terms {
                if (*factor > 0) != added {
                    continue;
                }
                let mut term = int(factor.wrapping_abs());
                for atom in product {
                    let atom = self.eval_size_atom(atom, frame)?;
                    term = self.i64_bin(BinOp::Mul, term, atom);
                }
                let op = if added { BinOp::Add } else { BinOp::Sub };
                sum = self.i64_bin(op, sum, term);
            }
        }
        size_of_atom(sum)
    }

    fn eval_size_atom(&mut self, atom: &'a SizeAtom, frame: &Rc<Frame<'a>>) -> Option<Atom> {
        match atom {
            SizeAtom::Name(name) => self.size_name(*name, frame).map(Atom::from),
            SizeAtom::Opaque(opaque) => self.eval_opaque(opaque, frame).map(Atom::from),
            SizeAtom::Meta(_) => None,
        }
    }

    /// What a name stands for as a size.
    pub fn size_name(&mut self, name: Name, frame: &Rc<Frame<'a>>) -> Option<Size> {
        match frame.lookup(name)? {
            Binding::Size(size) => size,
            Binding::Value(Value::Leaf(leaf)) => size_of_atom(leaf.atom),
            Binding::Global(_) | Binding::Alias(_) | Binding::Def(_) => {
                match self.name_value(name, frame, &Instance::default()) {
                    Ok(Value::Leaf(leaf)) => size_of_atom(leaf.atom),
                    Ok(_) | Err(_) => None,
                }
            }
            Binding::GlobalSize(global, name) => self.global_size(global, name),
            Binding::Value(_) | Binding::Ty(_) | Binding::TypeDef(_) | Binding::Functor(_) => None,
        }
    }

    /// A size that is an expression: evaluated once per body and frame.
    fn eval_opaque(&mut self, opaque: &'a Opaque, frame: &Rc<Frame<'a>>) -> Option<Size> {
        let key = (frame.id, opaque.key.clone());
        if let Some(size) = self.cx.opaque.get(&key) {
            return Some(*size);
        }
        let mut mentioned = BTreeSet::new();
        super::mentions::exp(&opaque.exp, &mut |m| {
            if let super::mentions::Mention::Name(name) = m {
                mentioned.insert(name);
            }
        });
        let known = mentioned
            .iter()
            .all(|name| frame.lookup(*name).is_some() || self.intrinsic_of(*name).is_some());
        if !known {
            return None;
        }
        let Ok(Value::Leaf(leaf)) = self.exp(&opaque.exp, frame) else {
            return None;
        };
        let size = size_of_atom(leaf.atom)?;
        if let Some(scope) = self.cx.scopes.last_mut() {
            scope.opaque.push(key.clone());
            self.cx.opaque.insert(key, size);
        }
        Some(size)
    }

    /// A type with the sizes that it states, as far as they are known.
    pub(super) fn stated_type(&mut self, ty: &'a SourceType, frame: &Rc<Frame<'a>>) -> Ty {
        match ty {
            SourceType::Prim(p) => Ty::Scalar(scalar_type(*p)),
            SourceType::Array(array) => {
                let dim = self.eval_size(&array.size, frame);
                let elem = self.stated_type(&array.elem, frame);
                Ty::Array(Rc::new(ArrayTy {
                    dim,
                    irregular: array.size.is_irregular(),
                    unique: array.unique,
                    elem,
                }))
            }
            SourceType::Tuple(ts) => {
                Ty::Tuple(ts.iter().map(|t| self.stated_type(t, frame)).collect())
            }
            SourceType::Record(fields) => {
                let fields = fields.iter();
                Ty::Record(
                    fields
                        .map(|(name, t)| (name.clone(), self.stated_type(t, frame)))
                        .collect(),
                )
            }
            SourceType::Sum(cons) => Ty::Sum(
                cons.iter()
                    .map(|(name, ts)| {
                        let ts = ts.iter().map(|t| self.stated_type(t, frame)).collect();
                        (name.clone(), ts)
                    })
                    .collect(),
            ),
            SourceType::Fun(_) => Ty::Fun,
            SourceType::Named(named) => {
                let ty = match frame.lookup(named.name) {
                    Some(Binding::Ty(ty)) => ty,
                    Some(Binding::TypeDef(def)) => {
                        let inner = self.type_def_frame(&def, &named.args, frame);
                        self.stated_type(def.rhs, &inner)
                    }
                    _ => Ty::Tuple(Rc::from([])),
                };
                if named.unique { ty.made_unique() } else { ty }
            }
            SourceType::Meta(_) => Ty::Tuple(Rc::from([])),
        }
    }

    fn type_def_frame(
        &mut self,
        def: &Rc<TypeDef<'a>>,
        args: &'a [TypeArg],
        frame: &Rc<Frame<'a>>,
    ) -> Rc<Frame<'a>> {
        let inner = self.type_frame(Rc::clone(&def.frame));
        for (param, arg) in def.params.iter().zip(args) {
            match (param, arg) {
                (TypeParam::Size(name), TypeArg::Size(size)) => {
                    let size = self.eval_size(size, frame);
                    inner.bind(*name, Binding::Size(size));
                }
                (TypeParam::Type(name, _), TypeArg::Type(ty)) => {
                    let ty = self.stated_type(ty, frame);
                    inner.bind(*name, Binding::Ty(ty));
                }
                (TypeParam::Size(_), TypeArg::Type(_))
                | (TypeParam::Type(..), TypeArg::Size(_)) => {}
            }
        }
        inner
    }

    /// The type and size arguments of an occurrence.
    pub fn eval_inst(&mut self, inst: &'a Inst, frame: &Rc<Frame<'a>>) -> Instance {
        Instance {
            types: inst
                .types
                .iter()
                .map(|t| self.stated_type(t, frame))
                .collect(),
            sizes: inst
                .sizes
                .iter()
                .map(|s| self.eval_size(s, frame))
                .collect(),
        }
    }

    // --- Casts --------------------------------------------------------------

    /// A value of fresh variables of the type. `dim` gives the sizes that the type does not tell.
    pub fn template(
        &mut self,
        ty: &Ty,
        outer: &mut Vec<Size>,
        dim: &mut dyn FnMut(&mut Self, Option<Size>) -> Size,
        leaf: &mut dyn FnMut(&mut Self, Type, bool) -> Leaf,
        unique: bool,
    ) -> Value<'a> {
        match ty {
            Ty::Scalar(s) => {
                let ty = Type::array_of(&Type::Scalar(*s), outer);
                Value::Leaf(leaf(self, ty, unique))
            }
            Ty::Array(a) if a.irregular && !outer.is_empty() => {
                let mark = Type::array_of(&Type::I64, outer);
                let begin = leaf(self, mark.clone(), unique);
                let end = leaf(self, mark, unique);
                let pool = Ty::array(a.dim, a.elem.clone());
                let pool = self.template(&pool, &mut Vec::new(), dim, leaf, unique);
                Value::Rows(Rc::new(Rows {
                    begin,
                    end,
                    pool,
                    compact: false,
                }))
            }
            Ty::Array(a) => {
                let n = dim(self, a.dim);
                outer.push(n);
                let elem = self.template(&a.elem, outer, dim, leaf, unique || a.unique);
                outer.pop();
                Value::array(&[n], elem)
            }
            Ty::Tuple(ts) => Value::Tuple(
                ts.iter()
                    .map(|t| self.template(t, outer, dim, leaf, unique))
                    .collect(),
            ),
            Ty::Record(ts) => Value::Record(
                ts.iter()
                    .map(|(name, t)| (name.clone(), self.template(t, outer, dim, leaf, unique)))
                    .collect(),
            ),
            Ty::Sum(cons) => {
                let tag_ty = Type::array_of(&Type::Scalar(ScalarType::U8), outer);
                let tag = leaf(self, tag_ty, unique);
                let cons = cons.iter();
                let cons = cons
                    .map(|(name, ts)| {
                        let vs = ts.iter();
                        let vs = vs.map(|t| self.template(t, outer, dim, leaf, unique));
                        (name.clone(), vs.collect())
                    })
                    .collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Ty::Fun => Value::unit(),
        }
    }

    /// The type of a value, all its sizes known.
    pub fn type_of(&self, v: &Value<'a>) -> Ty {
        match v {
            Value::Leaf(leaf) => Ty::Scalar(self.elem_type(*leaf)),
            Value::Array { dims, elem } => {
                let elem = self.type_of(elem);
                dims.iter()
                    .rev()
                    .fold(elem, |elem, dim| Ty::array(Some(*dim), elem))
            }
            Value::Tuple(vs) => Ty::Tuple(vs.iter().map(|v| self.type_of(v)).collect()),
            Value::Record(vs) => Ty::Record(
                vs.iter()
                    .map(|(name, v)| (name.clone(), self.type_of(v)))
                    .collect(),
            ),
            Value::Sum(sum) => Ty::Sum(
                sum.cons
                    .iter()
                    .map(|(name, vs)| (name.clone(), vs.iter().map(|v| self.type_of(v)).collect()))
                    .collect(),
            ),
            Value::Rows(rows) => Ty::Array(Rc::new(ArrayTy {
                dim: rows.pool.dims().first().copied(),
                irregular: true,
                unique: false,
                elem: self.type_of(&rows.pool.peel(1)),
            })),
            Value::Fun(_) => Ty::Fun,
        }
    }

    /// Whether every size in the value was in scope where the watermark was taken.
    pub fn dims_visible(&self, v: &Value<'a>, watermark: usize) -> bool {
        let dims = super::loops::dims_of(v);
        dims.into_iter().all(|d| self.visible(d, watermark))
    }

    /// The scalar type of a leaf.
    pub fn elem_type(&self, leaf: Leaf) -> ScalarType {
        match leaf.atom {
            Atom::Const(c) => c.ty(),
            Atom::Var(v) => self.vars[v].ty.elem().unwrap_or(ScalarType::Bool),
        }
    }

    /// A place for messages of sizes that differ from iteration to iteration.
    pub fn irregular(&self, span: Span) -> Box<crate::diagnostic::Diagnostic> {
        let message = "the size of this array differs between the elements of an array";
        Box::new(
            crate::diagnostic::Diagnostic::error(
                crate::diagnostic::Code::NotYetSupported,
                span,
                message,
            )
            .note("irregular arrays are not yet supported"),
        )
    }
}
