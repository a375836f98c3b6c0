//! Conditionals and calls.

use super::emit::{Frame, FrameKind};
use super::view::View;
use super::{Cx, Mode};
use crate::fired::fired;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp};
use crate::ir::threshold::{ROOM, Threshold};
use crate::ir::types::{ScalarType, Type};

/// Where threads of a block are idle, so many blocks have room on a multiprocessor. Measured on an H200: with one there, of which the others
/// could not hide the waits, a program with 16 such points (a tridiagonal solver whose rows are those of a thread) took twenty times as
/// long as with smaller blocks inside of it.
const SIDE_BY_SIDE: i64 = 5;

/// A value of the flat program.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A scalar or certificate.
    Scalar(Atom),
    /// An array.
    Array(View),
}

impl Cx<'_> {
    pub(super) fn val(&self, atom: Atom) -> Val {
        match atom.as_var().and_then(|v| self.views.get(&v)) {
            Some(view) => Val::Array(view.clone()),
            None => Val::Scalar(self.atom(atom)),
        }
    }

    /// The array in the form in which arrays cross the boundaries of statements: row-major, on the host from the start
    /// of its buffer.
    pub(super) fn crossing(&mut self, view: &View) -> View {
        match self.mode {
            Mode::Host => self.whole(view),
            Mode::Block | Mode::Kernel => self.dense(view),
        }
    }

    pub(super) fn conditional(
        &mut self,
        binds: &[Var],
        cond: Atom,
        then: &Body<Seg>,
        otherwise: &Body<Seg>,
    ) {
        let guard = cond.as_var().and_then(|v| self.block_guards.remove(&v));
        let wanted: Vec<Option<View>> = binds.iter().map(|&b| self.wanted(b)).collect();
        let around = std::mem::take(&mut self.by_blocks);
        let (mut first, a) = self.branch(then, &wanted);
        let cond = match guard {
            Some(guard) => self.guard_of_blocks(guard),
            None => self.atom(cond),
        };
        let (mut second, b) = self.branch(otherwise, &wanted);
        self.by_blocks.extend(around);
        let mut bound = Vec::new();
        let (mut from_first, mut from_second) = (Vec::new(), Vec::new());
        let mut pointers = Vec::new();
        let mut parts = Vec::new();
        for ((&bind, a), b) in binds.iter().zip(a).zip(b) {
            match (a, b) {
                (Val::Array(a), Val::Array(b))
                    if a.equals(&b) && a.shape == b.shape && self.is_in_scope(&a) =>
                {
                    self.views.insert(bind, a);
                }
                // From one place on, but more of it in one branch than in the other.
                (Val::Array(a), Val::Array(b))
                    if a.equals(&b) && a.levels.is_none() && self.is_in_scope(&a.start()) =>
                {
                    let dense = a.dense && b.dense;
                    parts.push((bind, View { dense, ..a }));
                }
                (Val::Array(a), Val::Array(b)) => {
                    let a = self.crossing_in(&mut first, &a);
                    let b = self.crossing_in(&mut second, &b);
                    let buffer = self.pointer(bind, &[a.buffer, b.buffer]);
                    bound.push(buffer);
                    from_first.push(a.buffer.into());
                    from_second.push(b.buffer.into());
                    let mut offset = a.offset;
                    if a.offset != b.offset || !self.in_scope(a.offset) {
                        let var = self.fresh("offset", Type::I64);
                        bound.push(var);
                        from_first.push(a.offset);
                        from_second.push(b.offset);
                        offset = var.into();
                    }
                    pointers.push((bind, buffer, offset));
                }
                (a, b) => {
                    bound.push(bind);
                    from_first.extend(scalar(&a));
                    from_second.extend(scalar(&b));
                }
            }
        }
        self.resume(first);
        let then = self.leave(from_first);
        self.resume(second);
        let otherwise = self.leave(from_second);
        if !(bound.is_empty() && then.stms.is_empty() && otherwise.stms.is_empty()) {
            self.push(
                bound,
                Exp::If {
                    cond,
                    then,
                    otherwise,
                },
            );
        }
        for (bind, buffer, offset) in pointers {
            self.point_to(bind, buffer, offset);
        }
        for (bind, part) in parts {
            let shape = self.shape_of(bind);
            self.views.insert(bind, View { shape, ..part });
        }
    }

    /// The guard of a version by blocks whose branch has just been made: its measure is bounded by how many points fit into the shared
    /// memory of a block. It is false where the host does not know what a block needs: there is no such version.
    fn guard_of_blocks(&mut self, (threshold, worth): (Threshold, Atom)) -> Atom {
        let needs = std::mem::take(&mut self.by_blocks).into_iter();
        let needs = needs.reduce(|a, b| Some(self.most(a?, b?))).flatten();
        let Some(bytes) = needs.filter(|bytes| self.in_scope(*bytes)) else {
            fired("plan/no-version-by-blocks");
            return Atom::Const(Const::Bool(false));
        };
        let some = self.most(bytes, Atom::ONE);
        let op = ScalarOp::Bin(BinOp::Quot, ScalarType::I64);
        let room = if worth == Atom::ONE {
            ROOM
        } else {
            ROOM / SIDE_BY_SIDE
        };
        let mut measure = self.scalar("fitting", op, vec![Atom::i64(room), some]);
        if worth != Atom::ONE {
            let op = ScalarOp::Bin(BinOp::Min, ScalarType::I64);
            measure = self.scalar("fitting", op, vec![measure, worth]);
        }
        let guard = self.fresh("enough", Type::BOOL);
        self.push(vec![guard], Exp::Guard { threshold, measure });
        guard.into()
    }

    /// Where a result of a conditional is wanted. What threads share has one place whatever the branch.
    fn wanted(&mut self, bind: Var) -> Option<View> {
        let dest = self.dests.remove(&bind);
        let homeless = dest.is_none() && self.mode == Mode::Block && self.is_array(bind);
        match homeless && self.shape_in_scope(&self.vars[bind].ty) {
            true => Some(self.room_for(bind)),
            false => dest,
        }
    }

    /// A branch, its results made where they are wanted.
    fn branch(&mut self, body: &Body<Seg>, wanted: &[Option<View>]) -> (Frame, Vec<Val>) {
        self.enter(FrameKind::Branch);
        for (&result, dest) in body.result.iter().zip(wanted) {
            if let Some(dest) = dest {
                self.want(&body.stms, result, dest.clone());
            }
        }
        self.stms(body);
        let mut results = Vec::new();
        for (&result, dest) in body.result.iter().zip(wanted) {
            results.push(match dest {
                Some(dest) => {
                    self.put(dest, result);
                    Val::Array(dest.clone())
                }
                None => self.val(result),
            });
        }
        (self.suspend(), results)
    }

    fn crossing_in(&mut self, frame: &mut Frame, view: &View) -> View {
        let open = std::mem::take(frame);
        self.resume(open);
        let view = self.crossing(view);
        *frame = self.suspend();
        view
    }

    /// Whether a view can be used in the innermost frame.
    pub(super) fn is_in_scope(&self, view: &View) -> bool {
        self.in_scope(view.buffer.into()) && view.atoms().all(|a| self.in_scope(a))
    }

    /// A variable for the buffer of an array that may be in any of these.
    pub(super) fn pointer(&mut self, array: Var, of: &[Var]) -> Var {
        let elem = self.vars[array].ty.elem().unwrap_or(ScalarType::I64);
        let name = self.vars[array].name.clone();
        let buffer = self.fresh(&name, Type::Buffer(elem));
        self.joined(buffer, of);
        buffer
    }

    /// Lets an array be a row-major part of a buffer.
    pub(super) fn point_to(&mut self, array: Var, buffer: Var, offset: Atom) {
        let elem = self.vars[array].ty.elem().unwrap_or(ScalarType::I64);
        let view = self.placed(array, buffer, elem, offset);
        self.views.insert(array, view);
    }

    pub(super) fn call(&mut self, binds: &[Var], fun: FunId, args: &[Atom]) {
        let callee = match self.mode {
            Mode::Host => fun,
            Mode::Block | Mode::Kernel => self.version(fun),
        };
        let mut passed = Vec::new();
        let mut buffers = Vec::new();
        for &arg in args {
            match self.val(arg) {
                Val::Scalar(a) => passed.push(a),
                Val::Array(view) => {
                    let view = self.crossing(&view);
                    buffers.push(view.buffer);
                    passed.push(view.buffer.into());
                    if self.mode != Mode::Host {
                        passed.push(view.offset);
                    }
                }
            }
        }
        let mut bound = Vec::new();
        let mut pointers = Vec::new();
        for &bind in binds {
            if !self.is_array(bind) {
                bound.push(bind);
                continue;
            }
            let buffer = self.pointer(bind, &buffers);
            bound.push(buffer);
            let mut offset = Atom::ZERO;
            if self.mode != Mode::Host {
                let var = self.fresh("offset", Type::I64);
                bound.push(var);
                offset = var.into();
            }
            pointers.push((bind, buffer, offset));
        }
        self.push(
            bound,
            Exp::Call {
                fun: callee,
                args: passed,
            },
        );
        for (bind, buffer, offset) in pointers {
            self.point_to(bind, buffer, offset);
        }
    }
}

fn scalar(val: &Val) -> Option<Atom> {
    match val {
        Val::Scalar(a) => Some(*a),
        Val::Array(_) => None,
    }
}
