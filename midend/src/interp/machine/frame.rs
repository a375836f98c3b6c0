//! The frame at hand: what variables hold, and whether it is what their types say.

use super::{Exec, Machine};
use crate::interp::layout::Place;
use crate::interp::shape::{Extent, Shape};
use crate::interp::value::{Array, Run, Val, internal};
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::syntax::Atom;
use crate::ir::types::{AccType, Dim, Size, Type};
use crate::value::Data;
use std::rc::Rc;

/// The variables of a call.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The bits of scalars.
    pub(crate) words: Vec<u64>,
    /// All other values.
    pub(crate) vals: Vec<Val>,
}

impl<D: Exec> Machine<'_, D> {
    /// A word of the frame.
    #[inline]
    pub(crate) fn word(&self, word: u32) -> u64 {
        self.frame.words[word as usize]
    }

    /// Sets a word of the frame.
    #[inline]
    pub(crate) fn put(&mut self, word: u32, value: u64) {
        self.frame.words[word as usize] = value;
    }

    /// The value of an atom.
    pub(crate) fn atom(&self, a: Atom) -> Run<Val> {
        match a {
            Atom::Const(c) => Ok(Val::Scalar(c)),
            Atom::Var(v) => match self.layout.place(v) {
                Place::Word(ty, word) => Ok(Val::Scalar(Const::from_word(ty, self.word(word)))),
                Place::Cert => Ok(Val::Cert),
                Place::Val(_) | Place::Nowhere => match self.val(v) {
                    Val::Array(array) => {
                        self.check_version(v, array)?;
                        Ok(Val::Array(Rc::clone(array)))
                    }
                    value @ (Val::Scalar(_) | Val::Buffer(_) | Val::Cert) => Ok(value.clone()),
                    Val::Unset => internal(format!("{v:?} is used before it is bound")),
                    Val::Gone => consumed(v),
                },
            },
        }
    }

    /// The values of atoms.
    pub(crate) fn atoms(&self, atoms: &[Atom]) -> Run<Vec<Val>> {
        atoms.iter().map(|&a| self.atom(a)).collect()
    }

    /// The value of a scalar atom.
    pub(crate) fn scalar(&self, a: Atom) -> Run<Const> {
        match a {
            Atom::Const(c) => Ok(c),
            Atom::Var(v) => match self.layout.place(v) {
                Place::Word(ty, word) => Ok(Const::from_word(ty, self.word(word))),
                Place::Cert | Place::Val(_) | Place::Nowhere => {
                    internal(format!("{v:?} is not a scalar"))
                }
            },
        }
    }

    /// The value of an `i64` atom.
    pub(crate) fn int(&self, a: Atom) -> Run<i64> {
        let c = self.scalar(a)?;
        c.as_i64()
            .map_or_else(|| internal(format!("{c:?} where an i64 is needed")), Ok)
    }

    /// The value of a `bool` atom.
    pub(crate) fn truth(&self, a: Atom) -> Run<bool> {
        let c = self.scalar(a)?;
        c.as_bool()
            .map_or_else(|| internal(format!("{c:?} where a bool is needed")), Ok)
    }

    /// The value of a size.
    pub(crate) fn size(&self, size: Size) -> Run<i64> {
        match size {
            Size::Const(n) => Ok(n),
            Size::Var(v) => self.int(Atom::Var(v)),
        }
    }

    /// The values of sizes, none of which is negative.
    pub(crate) fn shape(&self, sizes: &[Size]) -> Run<Vec<i64>> {
        let mut shape = Vec::with_capacity(sizes.len());
        for &size in sizes {
            match self.size(size)? {
                n @ 0.. => shape.push(n),
                n => return internal(format!("a size of {n}, and no check before it")),
            }
        }
        Ok(shape)
    }

    /// The extent of a regular dimension of a type.
    pub(crate) fn extent(&self, dim: Dim) -> Run<i64> {
        match dim {
            Dim::Size(size) => self.size(size),
            Dim::Ragged(_) => internal("a row of a ragged array is where no row can be"),
        }
    }

    /// The values of dimensions, which make a shape.
    pub(crate) fn dims(&self, dims: &[Dim]) -> Run<Shape> {
        let extents = dims.iter().map(|&dim| match dim {
            Dim::Size(size) => Ok(Extent::Regular(self.size(size)?)),
            Dim::Ragged(offsets) => Ok(Extent::Ragged(self.offsets(offsets)?)),
        });
        Shape::new(extents.collect::<Run<_>>()?)
    }

    /// The elements of a vector of offsets.
    pub(crate) fn offsets(&self, v: Var) -> Run<Rc<[i64]>> {
        let Data::I64(offsets) = self.array(v)?.to_value().data else {
            return internal(format!("{v:?} is no vector of offsets"));
        };
        Ok(offsets.into())
    }

    /// The shape that the type of a variable states, without its first `skip` dimensions.
    pub(crate) fn type_shape(&self, v: Var, skip: usize) -> Run<Vec<i64>> {
        let shape = self.program.vars[v].ty.shape();
        let inner = shape.get(skip..).unwrap_or_default();
        inner.iter().map(|&dim| self.extent(dim)).collect()
    }

    /// The array that a variable holds.
    pub(crate) fn array(&self, v: Var) -> Run<Rc<Array>> {
        match self.val(v) {
            Val::Array(array) => {
                self.check_version(v, array)?;
                Ok(Rc::clone(array))
            }
            Val::Gone => consumed(v),
            Val::Scalar(_) | Val::Buffer(_) | Val::Cert | Val::Unset => {
                internal(format!("{v:?} is not an array"))
            }
        }
    }

    /// What a variable holds that is not a word.
    pub(crate) fn val(&self, v: Var) -> &Val {
        const UNSET: &Val = &Val::Unset;
        match self.layout.place(v) {
            Place::Val(val) => self.frame.vals.get(val as usize).unwrap_or(UNSET),
            Place::Word(..) | Place::Cert | Place::Nowhere => UNSET,
        }
    }

    /// Forgets what a variable holds, if it is not a word.
    pub(crate) fn unset(&mut self, v: Var) {
        if let Place::Val(val) = self.layout.place(v)
            && let Some(place) = self.frame.vals.get_mut(val as usize)
        {
            *place = Val::Gone;
        }
    }

    /// Whether the array that a variable holds was not consumed.
    #[inline]
    pub(crate) fn check_version(&self, v: Var, array: &Array) -> Run<()> {
        if self.options.check && array.version != array.buf.version.get() {
            return consumed(v);
        }
        Ok(())
    }

    /// Gives a variable its value.
    pub(crate) fn set(&mut self, v: Var, value: Val) -> Run<()> {
        let place = self.layout.place(v);
        match (place, &value) {
            (Place::Word(ty, word), Val::Scalar(c)) if c.ty() == ty => {
                let Some(place) = self.frame.words.get_mut(word as usize) else {
                    return internal(format!("{v:?} is bound outside of its function"));
                };
                *place = c.word();
                return Ok(());
            }
            (Place::Cert, Val::Cert) => return Ok(()),
            (Place::Word(..) | Place::Cert, _) => return self.wrong_type(v, &value),
            (Place::Val(_) | Place::Nowhere, _) => {}
        }
        if self.options.check {
            self.check_type(v, &value)?;
        }
        match place {
            Place::Val(val) if (val as usize) < self.frame.vals.len() => {
                self.frame.vals[val as usize] = value;
                Ok(())
            }
            Place::Val(_) | Place::Word(..) | Place::Cert | Place::Nowhere => {
                internal(format!("{v:?} is bound outside of its function"))
            }
        }
    }

    /// Whether the value is one of the type that the table of variables states, in shape too.
    fn check_type(&self, v: Var, value: &Val) -> Run<()> {
        let info = &self.program.vars[v];
        let fits = match (&info.ty, value) {
            (Type::Scalar(ty), Val::Scalar(c)) => c.ty() == *ty,
            (Type::Array(ty) | Type::Acc(AccType { array: ty, .. }), Val::Array(array)) => {
                let mut fits = ty.elem == array.elem() && ty.rank() == array.rank();
                match &array.ragged {
                    Some(shape) => fits = fits && self.dims(&ty.shape)? == **shape,
                    None => {
                        for (dim, have) in ty.shape.iter().zip(&*array.dims) {
                            fits = fits && self.extent(*dim)? == have.extent;
                        }
                    }
                }
                fits
            }
            (Type::Buffer(_), Val::Buffer(_)) | (Type::Cert, Val::Cert) => true,
            (Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert, _) => {
                false
            }
        };
        if fits {
            return Ok(());
        }
        self.wrong_type(v, value)
    }

    fn wrong_type(&self, v: Var, value: &Val) -> Run<()> {
        let info = &self.program.vars[v];
        let what = match value {
            Val::Scalar(c) => format!("a scalar of type {}", c.ty()),
            Val::Array(a) => match &a.ragged {
                Some(shape) => format!("an array of shape {:?} of {}", shape.extents(), a.elem()),
                None => format!("an array of shape {:?} of {}", a.shape(), a.elem()),
            },
            Val::Buffer(_) => "a buffer".into(),
            Val::Cert => "a certificate".into(),
            Val::Unset | Val::Gone => "nothing".into(),
        };
        let shape = self.type_shape(v, 0).unwrap_or_default();
        internal(format!(
            "{}{v:?} of type {:?}, in numbers {shape:?}, is given {what}",
            info.name, info.ty
        ))
    }
}

fn consumed<T>(v: Var) -> Run<T> {
    internal(format!(
        "{v:?} is used after it, or what it aliases, was consumed"
    ))
}
