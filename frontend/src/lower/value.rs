//! What an expression is while it is lowered: a tree with IR atoms at its leaves, and the types of such trees.
//!
//! An array of tuples, records or sums is the same tree with the array's dimensions on every leaf: `Array` around the
//! tree of an element. Nested arrays are merged, so that the element of an `Array` is never an `Array`.

use super::env::{DefClosure, Frame};
use super::rows::Rows;
use crate::typed::{Exp, Intrinsic, Pat, Prim, RetType, Sym};
use midend::ir::scalar::Const;
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Size};
use std::rc::Rc;

/// A scalar or an array of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The constant or variable; always a variable for an array.
    pub atom: Atom,
    /// An array that others may read although the source calls it unique (a `zip` is free): to be copied before it
    /// is consumed.
    pub shared: bool,
    /// A reading of another array's memory that the source takes for a fresh array: as long as it may be used, the other
    /// array is not to be consumed in place.
    pub lent: bool,
}

/// A value during lowering.
#[derive(Clone)]
pub enum Value<'a> {
    /// A scalar, or inside `Array` an array of scalars.
    Leaf(Leaf),
    /// An array of `dims` around an element that is no array itself.
    Array {
        /// Extents, outermost first, at least one.
        dims: Rc<[Size]>,
        /// The element's tree; its leaves have the dimensions too.
        elem: Rc<Value<'a>>,
    },
    /// A tuple.
    Tuple(Rc<[Value<'a>]>),
    /// A record, sorted by field.
    Record(Rc<[(Sym, Value<'a>)]>),
    /// A sum.
    Sum(Rc<SumValue<'a>>),
    /// A row of an irregular array, or inside `Array` rows of any lengths.
    Rows(Rc<Rows<'a>>),
    /// A function.
    Fun(Rc<FunValue<'a>>),
}

/// A value of a sum type: which constructor, and the payloads of all constructors, sorted by constructor.
#[derive(Clone)]
pub struct SumValue<'a> {
    /// The number of the constructor, a `u8`.
    pub tag: Leaf,
    /// The payloads; those of absent constructors mean nothing.
    pub cons: Vec<(Sym, Vec<Value<'a>>)>,
}

/// A function with the arguments that it has got so far, fewer than it needs.
#[derive(Clone)]
pub struct FunValue<'a> {
    /// The function.
    pub code: Code<'a>,
    /// Its first arguments.
    pub args: Vec<Value<'a>>,
}

/// A function without arguments.
#[derive(Clone)]
pub enum Code<'a> {
    /// A lambda with the frame that it closes over.
    Lambda {
        /// Parameters.
        params: &'a [Pat],
        /// Body.
        body: &'a Exp,
        /// Result type.
        ret: &'a RetType,
        /// Context.
        frame: Rc<Frame<'a>>,
    },
    /// A definition at an instance.
    Def {
        /// The definition.
        def: Rc<DefClosure<'a>>,
        /// Its type and size arguments.
        inst: Rc<Instance>,
    },
    /// A built-in function.
    Intrinsic {
        /// Which.
        intrinsic: Intrinsic,
        /// Its type and size arguments.
        inst: Rc<Instance>,
    },
}

/// Evaluated type and size arguments. A size is unknown where the source says nothing that can be evaluated.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Types.
    pub types: Vec<Ty>,
    /// Sizes.
    pub sizes: Vec<Option<Size>>,
}

/// A type with its sizes evaluated.
#[derive(Clone, Debug)]
pub enum Ty {
    /// A scalar.
    Scalar(ScalarType),
    /// An array.
    Array(Rc<ArrayTy>),
    /// A tuple.
    Tuple(Rc<[Ty]>),
    /// A record, sorted by field.
    Record(Rc<[(Sym, Ty)]>),
    /// A sum, sorted by constructor.
    Sum(Rc<[(Sym, Vec<Ty>)]>),
    /// A function: nothing of it is data.
    Fun,
}

/// An evaluated array type.
#[derive(Clone, Debug)]
pub struct ArrayTy {
    /// The extent, if the type tells it.
    pub dim: Option<Size>,
    /// `[..]t`: inside of an array, rows of any lengths.
    pub irregular: bool,
    /// `*[n]t`.
    pub unique: bool,
    /// Row type.
    pub elem: Ty,
}

/// The scalar type of the IR.
pub const fn scalar_type(prim: Prim) -> ScalarType {
    match prim {
        Prim::I8 => ScalarType::I8,
        Prim::I16 => ScalarType::I16,
        Prim::I32 => ScalarType::I32,
        Prim::I64 => ScalarType::I64,
        Prim::U8 => ScalarType::U8,
        Prim::U16 => ScalarType::U16,
        Prim::U32 => ScalarType::U32,
        Prim::U64 => ScalarType::U64,
        Prim::F16 => ScalarType::F16,
        Prim::F32 => ScalarType::F32,
        Prim::F64 => ScalarType::F64,
        Prim::Bool => ScalarType::Bool,
    }
}

/// The integer (wrapped) or float of the type.
pub fn int_const(ty: ScalarType, value: i128) -> Const {
    match ty {
        ScalarType::I8 => Const::I8(value as i8),
        ScalarType::I16 => Const::I16(value as i16),
        ScalarType::I32 => Const::I32(value as i32),
        ScalarType::I64 => Const::I64(value as i64),
        ScalarType::U8 => Const::U8(value as u8),
        ScalarType::U16 => Const::U16(value as u16),
        ScalarType::U32 => Const::U32(value as u32),
        ScalarType::U64 => Const::U64(value as u64),
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => float_const(ty, value as f64),
        ScalarType::Bool => Const::Bool(value != 0),
    }
}

/// The float of the type, rounded; an integer type gets the integer part.
pub fn float_const(ty: ScalarType, value: f64) -> Const {
    match ty {
        ScalarType::F16 => Const::f16(half::f16::from_f64(value)),
        ScalarType::F32 => Const::f32(value as f32),
        ScalarType::F64 => Const::f64(value),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::Bool => int_const(ty, value as i128),
    }
}

/// The size that an `i64` atom is.
pub fn size_of_atom(atom: Atom) -> Option<Size> {
    match atom {
        Atom::Const(Const::I64(n)) => Some(Size::Const(n)),
        Atom::Const(_) => None,
        Atom::Var(v) => Some(Size::Var(v)),
    }
}

impl Leaf {
    /// A leaf that nobody else holds.
    pub const fn new(atom: Atom) -> Self {
        Self {
            atom,
            shared: false,
            lent: false,
        }
    }
}

impl<'a> Value<'a> {
    /// A scalar.
    pub fn scalar(atom: impl Into<Atom>) -> Self {
        Value::Leaf(Leaf::new(atom.into()))
    }

    /// The unit value.
    pub fn unit() -> Self {
        Value::Tuple(Rc::from([]))
    }

    /// A tuple.
    pub fn tuple(fields: Vec<Value<'a>>) -> Self {
        Value::Tuple(fields.into())
    }

    /// `elem` with further outer dimensions that its leaves have already.
    pub fn array(outer: &[Size], elem: Value<'a>) -> Self {
        match elem {
            _ if outer.is_empty() => elem,
            Value::Array { dims, elem } => Value::Array {
                dims: outer.iter().chain(dims.iter()).copied().collect(),
                elem,
            },
            Value::Leaf(_)
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Sum(_)
            | Value::Rows(_)
            | Value::Fun(_) => Value::Array {
                dims: outer.into(),
                elem: Rc::new(elem),
            },
        }
    }

    /// The structure without the `n` outermost dimensions; the leaves still have them.
    pub fn peel(&self, n: usize) -> Value<'a> {
        match self {
            Value::Array { dims, elem } if dims.len() > n => Value::Array {
                dims: dims[n..].into(),
                elem: Rc::clone(elem),
            },
            Value::Array { elem, .. } => (**elem).clone(),
            Value::Leaf(_)
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Sum(_)
            | Value::Rows(_)
            | Value::Fun(_) => self.clone(),
        }
    }

    /// The dimensions of an array, none of anything else.
    pub fn dims(&self) -> &[Size] {
        match self {
            Value::Array { dims, .. } => dims,
            Value::Leaf(_)
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Sum(_)
            | Value::Rows(_)
            | Value::Fun(_) => &[],
        }
    }

    /// The same tree with other leaves. Functions stay, and the elements of rows.
    pub fn map_leaves(&self, f: &mut dyn FnMut(Leaf) -> Leaf) -> Value<'a> {
        self.map_with(false, f)
    }

    /// The same with the elements of rows; `deep` says whether these change too.
    pub(super) fn map_with(&self, deep: bool, f: &mut dyn FnMut(Leaf) -> Leaf) -> Value<'a> {
        let fields = |fields: &[(Sym, Value<'a>)], f: &mut dyn FnMut(Leaf) -> Leaf| {
            let fields = fields.iter();
            fields
                .map(|(name, v)| (name.clone(), v.map_with(deep, f)))
                .collect()
        };
        match self {
            Value::Leaf(leaf) => Value::Leaf(f(*leaf)),
            Value::Array { dims, elem } => Value::Array {
                dims: Rc::clone(dims),
                elem: Rc::new(elem.map_with(deep, f)),
            },
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| v.map_with(deep, f)).collect()),
            Value::Record(vs) => Value::Record(fields(vs, f)),
            Value::Sum(sum) => {
                let tag = f(sum.tag);
                let cons = sum.cons.iter();
                let cons = cons.map(|(name, vs)| {
                    let vs = vs.iter().map(|v| v.map_with(deep, f)).collect();
                    (name.clone(), vs)
                });
                let cons = cons.collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(rows.map_with(deep, f))),
            Value::Fun(_) => self.clone(),
        }
    }

    /// Calls `f` on every leaf, in order; of rows on where they begin and end.
    pub fn each_leaf(&self, f: &mut dyn FnMut(Leaf)) {
        self.each_with(false, f);
    }

    /// The same, and if `deep` says so on the elements of rows.
    pub(super) fn each_with(&self, deep: bool, f: &mut dyn FnMut(Leaf)) {
        match self {
            Value::Leaf(leaf) => f(*leaf),
            Value::Array { elem, .. } => elem.each_with(deep, f),
            Value::Tuple(vs) => vs.iter().for_each(|v| v.each_with(deep, f)),
            Value::Record(vs) => vs.iter().for_each(|(_, v)| v.each_with(deep, f)),
            Value::Sum(sum) => {
                f(sum.tag);
                for (_, vs) in &sum.cons {
                    vs.iter().for_each(|v| v.each_with(deep, f));
                }
            }
            Value::Rows(rows) => {
                f(rows.begin);
                f(rows.end);
                if deep {
                    rows.pool.each_with(deep, f);
                }
            }
            Value::Fun(_) => {}
        }
    }

    /// All leaves, in order.
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.each_leaf(&mut |leaf| leaves.push(leaf));
        leaves
    }

    /// The atoms of all leaves, in order.
    pub fn atoms(&self) -> Vec<Atom> {
        self.leaves().into_iter().map(|leaf| leaf.atom).collect()
    }

    /// The same tree with sharing as given.
    pub fn with_shared(&self, shared: bool) -> Value<'a> {
        self.map_parts(&mut |leaf| Leaf { shared, ..leaf })
    }

    /// The same tree as a reading of arrays that the source takes for fresh.
    pub fn lend(&self) -> Value<'a> {
        self.map_parts(&mut |leaf| Leaf {
            shared: true,
            lent: true,
            ..leaf
        })
    }

    /// The same tree with other sizes and atoms.
    pub fn subst(&self, f: &mut dyn FnMut(Atom) -> Atom) -> Value<'a> {
        match self {
            Value::Array { dims, elem } => Value::Array {
                dims: dims.iter().map(|d| subst_size(*d, f)).collect(),
                elem: Rc::new(elem.subst(f)),
            },
            Value::Leaf(leaf) => Value::Leaf(Leaf {
                atom: f(leaf.atom),
                ..*leaf
            }),
            Value::Tuple(fields) => Value::Tuple(fields.iter().map(|v| v.subst(f)).collect()),
            Value::Record(fields) => Value::Record(
                fields
                    .iter()
                    .map(|(name, v)| (name.clone(), v.subst(f)))
                    .collect(),
            ),
            Value::Sum(sum) => {
                let tag = Leaf {
                    atom: f(sum.tag.atom),
                    ..sum.tag
                };
                let cons = sum.cons.iter();
                let cons = cons
                    .map(|(name, vs)| (name.clone(), vs.iter().map(|v| v.subst(f)).collect()))
                    .collect();
                Value::Sum(Rc::new(SumValue { tag, cons }))
            }
            Value::Rows(rows) => Value::Rows(Rc::new(rows.subst(f))),
            Value::Fun(_) => self.clone(),
        }
    }

    /// Whether there is a function anywhere in the value.
    pub fn has_fun(&self) -> bool {
        match self {
            Value::Leaf(_) => false,
            Value::Array { elem, .. } => elem.has_fun(),
            Value::Rows(rows) => rows.pool.has_fun(),
            Value::Tuple(fields) => fields.iter().any(Value::has_fun),
            Value::Record(fields) => fields.iter().any(|(_, v)| v.has_fun()),
            Value::Sum(sum) => sum.cons.iter().any(|(_, vs)| vs.iter().any(Value::has_fun)),
            Value::Fun(_) => true,
        }
    }
}

/// A size under a substitution of atoms; the size itself if the substitute is no size.
pub fn subst_size(size: Size, f: &mut dyn FnMut(Atom) -> Atom) -> Size {
    size_of_atom(f(size.into())).unwrap_or(size)
}

impl Ty {
    /// An array type of which nothing but the extent is known.
    pub fn array(dim: Option<Size>, elem: Ty) -> Self {
        Ty::Array(Rc::new(ArrayTy {
            dim,
            irregular: false,
            unique: false,
            elem,
        }))
    }

    /// The type under a substitution of sizes.
    pub fn subst(&self, f: &mut dyn FnMut(Atom) -> Atom) -> Ty {
        self.map_dims(&mut |dim| dim.map(|d| subst_size(d, f)))
    }

    /// The type with other dimensions.
    pub fn map_dims(&self, f: &mut dyn FnMut(Option<Size>) -> Option<Size>) -> Ty {
        match self {
            Ty::Scalar(s) => Ty::Scalar(*s),
            Ty::Array(a) => Ty::Array(Rc::new(ArrayTy {
                dim: f(a.dim),
                irregular: a.irregular,
                unique: a.unique,
                elem: a.elem.map_dims(f),
            })),
            Ty::Tuple(ts) => Ty::Tuple(ts.iter().map(|t| t.map_dims(f)).collect()),
            Ty::Record(ts) => Ty::Record(
                ts.iter()
                    .map(|(name, t)| (name.clone(), t.map_dims(f)))
                    .collect(),
            ),
            Ty::Sum(cs) => Ty::Sum(
                cs.iter()
                    .map(|(name, ts)| (name.clone(), ts.iter().map(|t| t.map_dims(f)).collect()))
                    .collect(),
            ),
            Ty::Fun => Ty::Fun,
        }
    }

    /// The same type with every outermost array of its components unique.
    pub fn made_unique(&self) -> Ty {
        match self {
            Ty::Scalar(_) | Ty::Fun => self.clone(),
            Ty::Array(a) => Ty::Array(Rc::new(ArrayTy {
                dim: a.dim,
                irregular: a.irregular,
                unique: true,
                elem: a.elem.clone(),
            })),
            Ty::Tuple(ts) => Ty::Tuple(ts.iter().map(Ty::made_unique).collect()),
            Ty::Record(ts) => Ty::Record(
                ts.iter()
                    .map(|(name, t)| (name.clone(), t.made_unique()))
                    .collect(),
            ),
            Ty::Sum(cs) => Ty::Sum(
                cs.iter()
                    .map(|(name, ts)| (name.clone(), ts.iter().map(Ty::made_unique).collect()))
                    .collect(),
            ),
        }
    }

    /// The scalar type, if it is one.
    pub const fn as_scalar(&self) -> Option<ScalarType> {
        match self {
            Ty::Scalar(s) => Some(*s),
            Ty::Array(_) | Ty::Tuple(_) | Ty::Record(_) | Ty::Sum(_) | Ty::Fun => None,
        }
    }
}
