//! Where copies in another order are made, and when: as far out as all that they need is at hand, if enough elements are
//! far enough apart.

use super::Cx;
use crate::analysis::layout::{Order, Wish, extents};
use crate::hash::HashMap;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, Stm, VarInfo};
use crate::ir::threshold::{Threshold, ThresholdKind};
use crate::ir::types::{ScalarType, Type};

/// Elements that are nearer to each other than so many are fetched together anyway.
const NEAR: i64 = 8;

/// A body that is being made.
pub(super) struct Frame {
    pub(super) stms: Vec<Stm<Seg>>,
    /// Whether statements may move out of it to where the loop stands.
    of_loop: bool,
    /// The copies in it, by array and order.
    pub(super) made: HashMap<(Var, Order), Var>,
}

impl Frame {
    pub(super) fn new(of_loop: bool) -> Self {
        Self {
            stms: Vec::new(),
            of_loop,
            made: HashMap::default(),
        }
    }
}

impl Cx<'_> {
    /// Appends a statement to the innermost body.
    pub(super) fn push(&mut self, stm: Stm<Seg>) {
        self.push_at(self.frames.len() - 1, stm);
    }

    fn push_at(&mut self, depth: usize, stm: Stm<Seg>) {
        for bind in &stm.binds {
            self.depth.insert(*bind, depth);
        }
        self.frames[depth].stms.push(stm);
    }

    /// The outermost body that statements of the innermost may move to and that knows an atom.
    pub(super) fn depth_of(&self, atom: Atom) -> usize {
        let known = atom.as_var().and_then(|v| self.depth.get(&v));
        let inside = self.frames.iter().rposition(|frame| !frame.of_loop);
        known.copied().unwrap_or(0).max(inside.unwrap_or(0))
    }

    /// The outermost body that a wish may be granted in.
    pub(super) fn depth_for(&self, wish: &Wish) -> usize {
        let halves = wish.halves.iter().flat_map(|(a, b)| [*a, *b]);
        let needed = halves.chain([wish.array.into()]);
        needed.map(|a| self.depth_of(a)).max().unwrap_or(0)
    }

    /// The copy of an array in an order that was made before and can be used here.
    pub(super) fn made(&self, array: Var, order: &Order) -> Option<Var> {
        let key = (array, order.clone());
        self.frames.iter().find_map(|f| f.made.get(&key).copied())
    }

    pub(super) fn fresh_like(&mut self, var: Var) -> Var {
        let info = self.vars[var].clone();
        self.vars.push(info)
    }

    /// Whether an array should be in an order other than now, where neighbours are as far apart as some of its dimensions make
    /// them. Nothing if they are known to be near.
    pub(super) fn guard(
        &mut self,
        depth: usize,
        array: Var,
        inner: &[usize],
        halves: &[(Atom, Atom)],
    ) -> Option<Var> {
        let extents = extents(&self.vars[array].ty)?;
        let mut distance = Atom::ONE;
        for d in inner.iter().rev() {
            distance = self.mul(depth, distance, extents[*d]);
        }
        let mut measure = extents
            .iter()
            .rev()
            .fold(Atom::ONE, |count, n| self.mul(depth, *n, count));
        let mut checks = Vec::new();
        match distance.as_i64() {
            Some(n) if n < NEAR => return None,
            Some(_) => {}
            None => checks.push((Atom::i64(NEAR), distance)),
        }
        for (end, extent) in halves {
            let twice = self.mul(depth, Atom::i64(2), *end);
            checks.push((*extent, twice));
        }
        for (low, high) in checks {
            let le = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
            let enough = self.scalar(depth, "enough", le, vec![low, high]);
            let select = ScalarOp::Select(ScalarType::I64);
            measure = self.scalar(depth, "elements", select, vec![enough, measure, Atom::ZERO]);
        }
        let threshold = self.threshold();
        let guard = Exp::Guard { threshold, measure };
        Some(self.bind(depth, "far", Type::BOOL, guard))
    }

    /// Binds an array to another one, which is put in an order if a condition holds.
    pub(super) fn choose(
        &mut self,
        depth: usize,
        (new, array): (Var, Var),
        when: Var,
        order: &Order,
    ) {
        let copy = self.fresh_like(array);
        let manifest = ArrayOp::Manifest {
            perm: order.clone(),
            array,
        };
        let then = Body {
            stms: vec![self.stm_of(copy, Exp::Op(Seg::Array(manifest)))],
            result: vec![copy.into()],
        };
        let otherwise = Body {
            stms: Vec::new(),
            result: vec![array.into()],
        };
        let cond = when.into();
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        let stm = self.stm_of(new, exp);
        self.push_at(depth, stm);
    }

    fn stm_of(&self, bind: Var, exp: Exp<Seg>) -> Stm<Seg> {
        Stm {
            binds: vec![bind],
            certs: Vec::new(),
            exp,
            span: self.span,
        }
    }

    fn bind(&mut self, depth: usize, name: &str, ty: Type, exp: Exp<Seg>) -> Var {
        let name = name.into();
        let var = self.vars.push(VarInfo { name, ty });
        let stm = self.stm_of(var, exp);
        self.push_at(depth, stm);
        var
    }

    fn scalar(&mut self, depth: usize, name: &str, op: ScalarOp, args: Vec<Atom>) -> Atom {
        let ty = Type::Scalar(op.result());
        self.bind(depth, name, ty, Exp::Scalar(op, args)).into()
    }

    /// A product, folded.
    fn mul(&mut self, depth: usize, a: Atom, b: Atom) -> Atom {
        match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Atom::i64(a.wrapping_mul(b)),
            (Some(1), None) => b,
            (None, Some(1)) => a,
            (Some(_), None) | (None, Some(_)) | (None, None) => {
                let mul = ScalarOp::Bin(BinOp::Mul, ScalarType::I64);
                self.scalar(depth, "elements", mul, vec![a, b])
            }
        }
    }

    /// A threshold with a name of its own, after the function and line at hand.
    fn threshold(&mut self) -> Threshold {
        let function = (&*self.function, self.function_span);
        let place = (self.spans, self.span);
        let kind = ThresholdKind::Layout;
        self.names.threshold(kind, function, place)
    }
}
