//! Environments: frames that bind ids to values, sizes, types, definitions and functors.
//!
//! Ids are unique, so a frame only ever grows: what closes over it never sees a later binding by mistake. A function
//! that is applied twice gets two frames.

use super::value::{Ty, Value};
use crate::typed::{Functor, FunctorBind, Inst, Name, Scheme, Type, TypeParam, ValueDef};
use midend::hash::HashMap;
use midend::ir::types::Size;
use std::cell::RefCell;
use std::rc::Rc;

/// A part of an environment.
pub struct Frame<'a> {
    /// Its number.
    pub id: u32,
    /// The frame of a file or of an instance of a functor, not of an expression.
    pub module: bool,
    /// What is around it.
    pub parent: Option<Rc<Frame<'a>>>,
    binds: RefCell<Binds<'a>>,
}

/// Bindings in the order in which they were made. Nearly all frames are those of applications, which bind a few names; they
/// are looked through. Only a frame of many has a table.
#[derive(Default)]
struct Binds<'a> {
    rows: Vec<(Name, Binding<'a>)>,
    /// The row of each name, if there are more than [`FEW`].
    places: HashMap<Name, usize>,
}

/// So many names are looked through.
const FEW: usize = 8;

impl<'a> Binds<'a> {
    fn place(&self, name: Name) -> Option<usize> {
        if self.rows.len() > FEW {
            return self.places.get(&name).copied();
        }
        self.rows.iter().position(|(other, _)| *other == name)
    }

    fn get(&self, name: Name) -> Option<&Binding<'a>> {
        Some(&self.rows[self.place(name)?].1)
    }

    fn insert(&mut self, name: Name, binding: Binding<'a>) {
        if let Some(place) = self.place(name) {
            self.rows[place].1 = binding;
            return;
        }
        self.rows.push((name, binding));
        let last = self.rows.len() - 1;
        match last {
            0..FEW => {}
            FEW => {
                let rows = self.rows.iter().enumerate();
                self.places = rows.map(|(i, (name, _))| (*name, i)).collect();
            }
            _ => {
                self.places.insert(name, last);
            }
        }
    }
}

/// What an id stands for.
#[derive(Clone)]
pub enum Binding<'a> {
    /// A value.
    Value(Value<'a>),
    /// A size; nothing if it cannot be known.
    Size(Option<Size>),
    /// A type.
    Ty(Ty),
    /// A type with parameters.
    TypeDef(Rc<TypeDef<'a>>),
    /// A function, or a value that is evaluated wherever it is used (a polymorphic one).
    Def(Rc<DefClosure<'a>>),
    /// A value of the top level, a row of the table of globals.
    Global(usize),
    /// An existential size of such a value.
    GlobalSize(usize, Name),
    /// Another name at an instance.
    Alias(Rc<Alias<'a>>),
    /// A parametric module.
    Functor(Rc<FunctorClosure<'a>>),
}

/// A type definition in its frame.
pub struct TypeDef<'a> {
    /// Parameters.
    pub params: &'a [TypeParam],
    /// The type.
    pub rhs: &'a Type,
    /// Where it is evaluated.
    pub frame: Rc<Frame<'a>>,
}

/// A definition in its frame.
pub struct DefClosure<'a> {
    /// The definition.
    pub def: &'a ValueDef,
    /// Where it was evaluated.
    pub frame: Rc<Frame<'a>>,
}

/// A value under another name.
pub struct Alias<'a> {
    /// The new name's scheme.
    pub scheme: &'a Scheme,
    /// The old name.
    pub value: Name,
    /// The instance of the old name.
    pub inst: &'a Inst,
    /// Where the old name is looked up.
    pub frame: Rc<Frame<'a>>,
}

/// A functor in its frame.
pub enum FunctorClosure<'a> {
    /// As defined.
    Plain {
        /// The definition.
        functor: &'a Functor,
        /// Where it was evaluated.
        frame: Rc<Frame<'a>>,
    },
    /// Behind an ascription.
    Adapted {
        /// How to adapt.
        bind: &'a FunctorBind,
        /// The functor behind.
        inner: Rc<FunctorClosure<'a>>,
        /// Where the binding was evaluated.
        frame: Rc<Frame<'a>>,
    },
}

impl<'a> Frame<'a> {
    /// An empty frame inside another.
    pub fn new(id: u32, module: bool, parent: Option<Rc<Frame<'a>>>) -> Rc<Frame<'a>> {
        Rc::new(Frame {
            id,
            module,
            parent,
            binds: RefCell::default(),
        })
    }

    /// Binds an id.
    pub fn bind(&self, name: Name, binding: Binding<'a>) {
        self.binds.borrow_mut().insert(name, binding);
    }

    /// The binding of an id, here or further out.
    pub fn lookup(&self, name: Name) -> Option<Binding<'a>> {
        self.lookup_with(name).map(|(binding, _)| binding)
    }

    /// The binding of an id and whether it stands in the frame of a module.
    pub fn lookup_with(&self, name: Name) -> Option<(Binding<'a>, bool)> {
        let mut frame = self;
        loop {
            if let Some(binding) = frame.binds.borrow().get(name) {
                return Some((binding.clone(), frame.module));
            }
            frame = frame.parent.as_deref()?;
        }
    }

    /// The bindings of this frame alone, sorted by id.
    pub fn own(&self) -> Vec<(Name, Binding<'a>)> {
        let binds = self.binds.borrow();
        let mut own = binds.rows.clone();
        own.sort_by_key(|(name, _)| *name);
        own
    }

    /// Forgets everything. Frames and the closures in them refer to each other; this lets them go.
    pub fn clear(&self) {
        *self.binds.borrow_mut() = Binds::default();
    }
}

/// The frame of the module around a frame.
pub fn module_frame<'a>(frame: &Rc<Frame<'a>>) -> Rc<Frame<'a>> {
    let mut at = Rc::clone(frame);
    while !at.module {
        match &at.parent {
            Some(parent) => at = Rc::clone(parent),
            None => break,
        }
    }
    at
}
