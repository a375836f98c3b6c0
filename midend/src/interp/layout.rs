//! Where variables and constants stand in the frames of functions, found once for a program.
//!
//! A frame has two parts: *words*, the bits of scalars (the types of variables are declared, so that values need not
//! carry them), and values of all other kinds. The constants of a function are words like its variables, so that an
//! operand of resolved code is a row of the frame, whatever it is.

use crate::analysis::calls::calls;
use crate::hash::HashMap;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, IdVec, Var};
use crate::ir::scalar::Const;
use crate::ir::syntax::{Atom, Fun, Program};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;

/// Where the value of a variable stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A scalar of this type: a row of the words.
    Word(ScalarType, u32),
    /// A certificate: nowhere, for all are the same.
    Cert,
    /// A row of the values.
    Val(u32),
    /// The program does not bind the variable.
    Nowhere,
}

/// The places of all variables and the frames of all functions.
#[derive(Debug)]
pub(crate) struct Layout {
    places: Vec<Place>,
    owners: Vec<u32>,
    frames: IdVec<FunId, FrameLayout>,
}

/// What the frame of a function is like.
#[derive(Debug)]
pub(crate) struct FrameLayout {
    /// The words at the start of a call: zeros, and the constants in their places.
    pub(crate) words: Vec<u64>,
    /// The number of other values.
    pub(crate) vals: usize,
    /// Whether the function can come back to itself.
    pub(crate) recursive: bool,
    constants: HashMap<Const, u32>,
}

impl Layout {
    pub(crate) fn new<D: Dialect>(program: &Program<D>) -> Self {
        let mut layout = Self {
            places: vec![Place::Nowhere; program.vars.len()],
            owners: vec![u32::MAX; program.vars.len()],
            frames: IdVec::new(),
        };
        let recursive = calls(program).recursive;
        for (id, fun) in program.funs.enumerate() {
            let mut frame = layout.frame(program, id, fun);
            frame.recursive = recursive[id];
            layout.frames.push(frame);
        }
        layout
    }

    fn frame<D: Dialect>(&mut self, program: &Program<D>, id: FunId, fun: &Fun<D>) -> FrameLayout {
        let (mut words, mut vals) = (0, 0);
        walk::fun_binders(fun, &mut |v| {
            self.owners[v.index()] = id.0;
            self.places[v.index()] = match &program.vars[v].ty {
                Type::Scalar(ty) => {
                    words += 1;
                    Place::Word(*ty, words - 1)
                }
                Type::Cert => Place::Cert,
                Type::Array(_) | Type::Acc(_) | Type::Buffer(_) => {
                    vals += 1;
                    Place::Val(vals - 1)
                }
            };
        });
        let mut frame = FrameLayout {
            words: vec![0; words as usize],
            vals: vals as usize,
            recursive: false,
            constants: HashMap::default(),
        };
        let mut operand = |a| {
            if let Atom::Const(c) = a {
                frame.constant(c);
            }
        };
        walk::all_bodies(&fun.body, &mut |body| {
            body.stms
                .iter()
                .for_each(|stm| stm.exp.operands(&mut operand));
            body.result.iter().for_each(|&a| operand(a));
        });
        frame
    }

    /// The place of a variable.
    pub(crate) fn place(&self, v: Var) -> Place {
        self.places
            .get(v.index())
            .copied()
            .unwrap_or(Place::Nowhere)
    }

    /// The place of a variable as seen from a function.
    pub(crate) fn place_in(&self, fun: FunId, v: Var) -> Place {
        match self.owners.get(v.index()) {
            Some(owner) if *owner == fun.0 => self.place(v),
            Some(_) | None => Place::Nowhere,
        }
    }

    /// The word of a constant in the frame of a function that uses it.
    pub(crate) fn constant(&self, fun: FunId, c: Const) -> Option<u32> {
        self.frames[fun].constants.get(&c).copied()
    }

    /// The frame of a function.
    pub(crate) fn of(&self, fun: FunId) -> &FrameLayout {
        &self.frames[fun]
    }
}

impl FrameLayout {
    fn constant(&mut self, c: Const) {
        let words = &mut self.words;
        self.constants.entry(c).or_insert_with(|| {
            words.push(c.word());
            words.len() as u32 - 1
        });
    }
}
