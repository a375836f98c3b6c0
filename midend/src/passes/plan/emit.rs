//! Making statements: frames of bodies under construction, arithmetic placed as far out as it can be, allocations.

use super::{Cx, Mode};
use crate::fired::fired;
use crate::ir::id::{SpanId, Var};
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, Message, MessagePart, Stm, VarInfo};
use crate::ir::types::{ScalarType, Type};
use std::collections::BTreeMap;

/// The operations of index arithmetic; operands of all can be exchanged. Sums and products of indices within arrays cannot overflow;
/// counts of elements that become an array saturate, so that one that overflows needs more memory than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Mul,
    AddSat,
    MulSat,
    Max,
}

impl Arithmetic {
    const fn scalar(self) -> ScalarOp {
        let op = match self {
            Self::Add => BinOp::Add,
            Self::Mul => BinOp::Mul,
            Self::AddSat => BinOp::AddSat,
            Self::MulSat => BinOp::MulSat,
            Self::Max => BinOp::Max,
        };
        ScalarOp::Bin(op, ScalarType::I64)
    }
}

/// What a body under construction belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A function, kernel or operator.
    #[default]
    Top,
    /// A branch of a conditional.
    Branch,
    /// A loop; allocations of fixed size are made once, before it.
    Loop,
    /// A loop that carries memory made in its body.
    CarryingLoop,
}

/// A body under construction.
#[derive(Default)]
pub(super) struct Frame {
    kind: FrameKind,
    stms: Vec<Stm<Mem>>,
    /// Arithmetic whose value is at hand here.
    known: BTreeMap<(ScalarOp, [Atom; 2]), Atom>,
    /// Elements of vectors of offsets that are at hand here. Nobody writes to these.
    loads: BTreeMap<(Var, Atom), Atom>,
}

impl Cx<'_> {
    pub(super) fn enter(&mut self, kind: FrameKind) {
        self.frames.push(Frame {
            kind,
            stms: Vec::new(),
            known: BTreeMap::new(),
            loads: BTreeMap::new(),
        });
    }

    /// Takes the innermost frame off, to be resumed or finished.
    pub(super) fn suspend(&mut self) -> Frame {
        self.frames
            .pop()
            .expect("every frame is entered before it is left")
    }

    pub(super) fn resume(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    pub(super) fn leave(&mut self, result: Vec<Atom>) -> Body<Mem> {
        let frame = self.suspend();
        Body {
            stms: frame.stms,
            result,
        }
    }

    pub(super) fn top(&self) -> usize {
        self.frames.len() - 1
    }

    /// Notes that a variable is bound in the innermost frame.
    pub(super) fn define(&mut self, var: Var) {
        let depth = self.top();
        self.depth.set(var, Some(depth));
    }

    pub(super) fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        })
    }

    /// Appends a statement to the innermost frame.
    pub(super) fn push(&mut self, binds: Vec<Var>, exp: Exp<Mem>) {
        for &bind in &binds {
            self.define(bind);
        }
        let certs = self
            .certs
            .iter()
            .copied()
            .filter(|c| !binds.contains(c))
            .collect();
        let span = self.span;
        let stm = Stm {
            binds,
            certs,
            exp,
            span,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.stms.push(stm);
        }
    }

    pub(super) fn push_op(&mut self, binds: Vec<Var>, op: Mem) {
        self.push(binds, Exp::Op(op));
    }

    /// Appends a statement to an outer frame, before the statement under construction there.
    fn push_at(&mut self, depth: usize, bind: Var, exp: Exp<Mem>) {
        self.depth.set(bind, Some(depth));
        let span: SpanId = self.span;
        self.frames[depth].stms.push(Stm {
            binds: vec![bind],
            certs: Vec::new(),
            exp,
            span,
        });
    }

    /// The frame from which on an atom can be used; nothing if it is not bound yet.
    pub(super) fn atom_depth(&self, atom: Atom) -> Option<usize> {
        match atom {
            Atom::Const(_) => Some(0),
            Atom::Var(v) => self.depth[v],
        }
    }

    /// Whether an atom can be used in the innermost frame.
    pub(super) fn in_scope(&self, atom: Atom) -> bool {
        self.atom_depth(atom).is_some_and(|d| d < self.frames.len())
    }

    // Arithmetic of indices.

    pub(super) fn add(&mut self, a: Atom, b: Atom) -> Atom {
        self.arithmetic(Arithmetic::Add, a, b)
    }

    pub(super) fn mul(&mut self, a: Atom, b: Atom) -> Atom {
        self.arithmetic(Arithmetic::Mul, a, b)
    }

    /// The sum of counts of elements.
    pub(super) fn count_sum(&mut self, a: Atom, b: Atom) -> Atom {
        self.arithmetic(Arithmetic::AddSat, a, b)
    }

    /// The product of counts of elements.
    pub(super) fn count_product(&mut self, a: Atom, b: Atom) -> Atom {
        self.arithmetic(Arithmetic::MulSat, a, b)
    }

    pub(super) fn most(&mut self, a: Atom, b: Atom) -> Atom {
        self.arithmetic(Arithmetic::Max, a, b)
    }

    /// `a op b` of type `i64`, folded, shared, and placed in the outermost frame where both operands are.
    fn arithmetic(&mut self, op: Arithmetic, a: Atom, b: Atom) -> Atom {
        if let Some(folded) = fold(op, a, b) {
            return folded;
        }
        let key = (op.scalar(), sorted(a, b));
        if let Some(known) = self.look_up(&key) {
            return known;
        }
        let top = self.top();
        let depth = |x| self.atom_depth(x).unwrap_or(top).min(top);
        let depth = depth(a).max(depth(b));
        let var = self.fresh("ix", Type::I64);
        self.push_at(depth, var, Exp::Scalar(key.0, key.1.to_vec()));
        self.frames[depth].known.insert(key, var.into());
        var.into()
    }

    fn look_up(&self, key: &(ScalarOp, [Atom; 2])) -> Option<Atom> {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| frame.known.get(key))
            .copied()
    }

    /// The element of a vector of offsets, if it is known already.
    pub(super) fn known_load(&self, buffer: Var, index: Atom) -> Option<Atom> {
        let frames = self.frames.iter().rev();
        let mut found = frames.filter_map(|frame| frame.loads.get(&(buffer, index)));
        found.next().copied()
    }

    /// Remembers an element of a vector of offsets.
    pub(super) fn know_load(&mut self, buffer: Var, index: Atom, value: Atom) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loads.insert((buffer, index), value);
        }
    }

    /// The product, if it is known already.
    pub(super) fn known_product(&self, a: Atom, b: Atom) -> Option<Atom> {
        let key = (ScalarOp::Bin(BinOp::Mul, ScalarType::I64), sorted(a, b));
        fold(Arithmetic::Mul, a, b).or_else(|| self.look_up(&key))
    }

    /// Remembers the value of a statement of the source, if it is index arithmetic.
    pub(super) fn note(&mut self, op: ScalarOp, args: &[Atom], bind: Var) {
        let (ScalarOp::Bin(BinOp::Add | BinOp::Mul, ScalarType::I64), &[a, b]) = (op, args) else {
            return;
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.known.entry((op, sorted(a, b))).or_insert(bind.into());
        }
    }

    pub(super) fn scalar(&mut self, name: &str, op: ScalarOp, args: Vec<Atom>) -> Atom {
        let var = self.fresh(name, Type::Scalar(op.result()));
        self.push(vec![var], Exp::Scalar(op, args));
        var.into()
    }

    /// Memory for `len` elements. In a kernel, an allocation in a loop whose size does not depend on the iteration
    /// is made once, before the loop: what an iteration leaves behind for the next has memory of its own. There, the check that
    /// the size is none below zero may still be to come.
    pub(super) fn alloc(&mut self, elem: ScalarType, len: Atom) -> Var {
        let buffer = self.fresh("mem", Type::Buffer(elem));
        let top = self.top();
        let depth = match self.mode {
            // What a block allocates is placed when all of its kernel is known.
            Mode::Host | Mode::Block => top,
            Mode::Kernel => self.alloc_depth(len),
        };
        let len = if depth < top {
            fired("plan/allocation-before-loop");
            self.arithmetic(Arithmetic::Max, len, Atom::ZERO)
        } else {
            len
        };
        let over = None;
        self.push_at(depth, buffer, Exp::Op(Mem::Alloc { elem, len, over }));
        buffer
    }

    fn alloc_depth(&self, len: Atom) -> usize {
        let top = self.top();
        let lowest = self.atom_depth(len).unwrap_or(top).max(self.base).min(top);
        let barrier = (lowest + 1..=top)
            .rev()
            .find(|&d| self.frames[d].kind == FrameKind::CarryingLoop);
        let lowest = barrier.unwrap_or(lowest);
        let outermost = (lowest + 1..=top).find(|&d| self.frames[d].kind == FrameKind::Loop);
        outermost.map_or(top, |d| d - 1)
    }

    pub(super) fn message(&self, message: &Message) -> Message {
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::Text(text) => MessagePart::Text(text.clone()),
            MessagePart::Value(value) => MessagePart::Value(self.atom(*value)),
        });
        Message {
            kind: message.kind,
            parts: parts.collect(),
        }
    }
}

fn sorted(a: Atom, b: Atom) -> [Atom; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// The value of a sum, product or maximum of which enough is known.
fn fold(op: Arithmetic, a: Atom, b: Atom) -> Option<Atom> {
    let (x, y) = (a.as_i64(), b.as_i64());
    if let (Some(x), Some(y)) = (x, y) {
        let value = match op {
            Arithmetic::Add => x.wrapping_add(y),
            Arithmetic::Mul => x.wrapping_mul(y),
            Arithmetic::AddSat => x.saturating_add(y),
            Arithmetic::MulSat => x.saturating_mul(y),
            Arithmetic::Max => x.max(y),
        };
        return Some(Atom::Const(Const::I64(value)));
    }
    match (op, x, y) {
        (Arithmetic::Add | Arithmetic::AddSat, Some(0), _)
        | (Arithmetic::Mul | Arithmetic::MulSat, Some(1), _) => Some(b),
        (Arithmetic::Add | Arithmetic::AddSat, _, Some(0))
        | (Arithmetic::Mul | Arithmetic::MulSat, _, Some(1)) => Some(a),
        (Arithmetic::Mul | Arithmetic::MulSat, Some(0), _)
        | (Arithmetic::Mul | Arithmetic::MulSat, _, Some(0)) => Some(Atom::ZERO),
        (
            Arithmetic::Add
            | Arithmetic::Mul
            | Arithmetic::AddSat
            | Arithmetic::MulSat
            | Arithmetic::Max,
            _,
            _,
        ) => None,
    }
}
