//! Operators that traverse a concatenation read the arrays that it is made of, so that it need not be made.
//!
//! ```text
//! let zs = concat n (xs, ys)                  let zs = map n (iota n) \(i) {
//! let us = map n (zs) f               ──►       let left = lt.i64(i, m)
//!                                               let z = if left { index xs[i] } else { index ys[i - m] }
//!                                               f z
//!
//! let as = slice xs[k : n - k : 1]            let offset = select(lt.i64(i, n - k), k, k - n)
//! let bs = slice xs[0 : k : 1]        ──►     let z = index xs[i + offset]
//! let zs = concat n (as, bs)                  f z
//! let us = map n (zs) f
//! ```
//!
//! The second form is that of a rotation, for elements of any type; the first is for scalars. All that read the concatenation must traverse
//! it, and nothing else: who reads elements many times, or from anywhere, reads them faster from one array.

use super::index::statement;
use super::parts::{Consumer, traversal};
use super::uses::Uses;
use super::{Fuse, add_certs, is_nothing, take};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::dialect::Dialect as _;
use crate::ir::id::{SpanId, Var};
use crate::ir::rename::{Subst, substitute};
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{ScalarType, Type};

/// The most arrays that an element is looked for in.
const MOST_PARTS: usize = 4;

const INT: ScalarType = ScalarType::I64;

/// One of the arrays of a concatenation: elements from `start` on, side by side.
#[derive(Clone, Copy)]
struct Part {
    array: Var,
    start: Atom,
    len: Atom,
}

/// A concatenation that is read in parts.
struct Parts {
    whole: Var,
    /// At least one.
    parts: Vec<Part>,
    /// Whether all are parts of one array.
    is_rotation: bool,
    certs: Vec<Var>,
    span: SpanId,
}

impl Fuse<'_> {
    /// Lets operators read the parts of concatenations that nothing else reads.
    pub(super) fn concatenations(&mut self, body: &mut Body<Soac>) {
        let is_concat = |stm: &Stm<Soac>| concatenated(stm).is_some();
        if !body.stms.iter().any(is_concat) {
            return;
        }
        let uses = Uses::of(body, self.vars, self.funs);
        let mut before: Vec<Vec<Stm<Soac>>> = vec![Vec::new(); body.stms.len()];
        for from in 0..body.stms.len() {
            let Some(parts) = self.parts_of(body, &uses, from) else {
                continue;
            };
            for at in uses.readers(parts.whole) {
                let stms = self.read_parts(&mut body.stms[at], &parts);
                before[at].extend(stms);
            }
            take(&mut body.stms[from]);
        }
        let stms = std::mem::take(&mut body.stms).into_iter().zip(before);
        let stms = stms.flat_map(|(stm, mut new)| {
            new.push(stm);
            new
        });
        body.stms = stms.filter(|stm| !is_nothing(stm)).collect();
    }

    /// The parts of the concatenation that statement `from` is, if operators may read them instead.
    fn parts_of(&self, body: &Body<Soac>, uses: &Uses, from: usize) -> Option<Parts> {
        let stm = &body.stms[from];
        let (&[whole], arrays) = (&stm.binds[..], concatenated(stm)?) else {
            return None;
        };
        let mut readers = uses.readers(whole).peekable();
        let traversed = |at: usize| {
            let reader = Consumer::of(&body.stms[at]);
            reader.is_some_and(|reader| {
                reader.arrays.contains(&whole)
                    && !reader.other_reads(self.vars).contains(&whole)
                    && self.can_sink(uses, (from, at))
            })
        };
        readers.peek()?;
        if !(1..=MOST_PARTS).contains(&arrays.len())
            || uses.is_result(whole)
            || !readers.all(traversed)
        {
            return None;
        }
        let mut certs = stm.certs.clone();
        let mut parts = Vec::new();
        for &array in arrays {
            let len = self.vars[array].ty.shape().first()?.size()?.into();
            let mut part = Part {
                array,
                start: Atom::ZERO,
                len,
            };
            // What is not such a slice is read as it is.
            if let [at] = uses.binders(&[array])[..]
                && let Some((array, start)) = sliced(&body.stms[at])
                && self.can_sink(uses, (at, from))
            {
                add_certs(&mut certs, body.stms[at].certs.clone());
                part = Part { array, start, len };
            }
            parts.push(part);
        }
        let is_rotation = parts.iter().all(|part| part.array == parts[0].array);
        let scalars = self.vars[whole].ty.rank() == 1;
        (is_rotation || scalars).then_some(Parts {
            whole,
            parts,
            is_rotation,
            certs,
            span: stm.span,
        })
    }

    /// Lets an operator read parts; what it needs to know of them stands before it.
    fn read_parts(&mut self, stm: &mut Stm<Soac>, all: &Parts) -> Vec<Stm<Soac>> {
        let Some(width) = Consumer::of(stm).map(|reader| reader.width) else {
            return Vec::new();
        };
        let Some(reader) = traversal(&mut stm.exp) else {
            return Vec::new();
        };
        fired("fuse/map-concat");
        let counted = ArrayOp::Iota {
            len: width,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: INT,
        };
        let positions = self.fresh("positions", Type::array_of(&Type::Scalar(INT), &[width]));
        let position = self.fresh("position", Type::Scalar(INT));
        let mut before = vec![statement(
            positions,
            stm.certs.clone(),
            counted.into(),
            all.span,
        )];
        // How far behind its position in the array a position of the whole is, and where the next part begins.
        let (mut offsets, mut ends) = (vec![all.parts[0].start], Vec::new());
        let mut end = Atom::ZERO;
        for pair in all.parts.windows(2) {
            end = self.integer(&mut before, BinOp::Add, (end, pair[0].len), all.span);
            ends.push(end);
            offsets.push(self.integer(&mut before, BinOp::Sub, (pair[1].start, end), all.span));
        }
        let mut inside = Vec::new();
        for at in (0..reader.arrays.len()).rev() {
            if reader.arrays[at] != all.whole {
                continue;
            }
            reader.arrays.remove(at);
            let element = reader.lam.params.remove(at);
            let found = self.element_of(all, (&offsets, &ends), (position, element));
            let mut subst = Subst::new();
            subst.insert(element, found.1);
            substitute(self.vars, &subst, &mut reader.lam.body);
            inside.extend(found.0);
        }
        reader.arrays.push(positions);
        reader.lam.params.push(position);
        reader.lam.body.stms.splice(0..0, inside);
        before
    }

    /// Statements that find the element at a position, and what it is.
    fn element_of(
        &mut self,
        all: &Parts,
        (offsets, ends): (&[Atom], &[Atom]),
        (position, like): (Var, Var),
    ) -> (Vec<Stm<Soac>>, Atom) {
        let ty = self.vars[like].ty.clone();
        let mut stms = Vec::new();
        let last = all.parts.len() - 1;
        if all.is_rotation {
            let mut offset = offsets[last];
            for k in (0..last).rev() {
                let before = self.is_before(&mut stms, position, ends[k], all.span);
                let op = ScalarOp::Select(INT);
                let args = vec![before, offsets[k], offset];
                offset = self.at_position(&mut stms, op, args, all.span);
            }
            let found = self.part_at(all, (last, offset), position, ty);
            stms.extend(found.0);
            return (stms, found.1);
        }
        let mut found = self.part_at(all, (last, offsets[last]), position, ty.clone());
        for k in (0..last).rev() {
            let cond = self.is_before(&mut stms, position, ends[k], all.span);
            let (then, value) = self.part_at(all, (k, offsets[k]), position, ty.clone());
            let chosen = self.fresh("element", ty.clone());
            let branch = |stms, value| Body {
                stms,
                result: vec![value],
            };
            let exp = Exp::If {
                cond,
                then: branch(then, value),
                otherwise: branch(found.0, found.1),
            };
            let chosen_stm = statement(chosen, Vec::new(), exp, all.span);
            found = (vec![chosen_stm], chosen.into());
        }
        stms.extend(found.0);
        (stms, found.1)
    }

    /// The element of a part at a position of the whole.
    fn part_at(
        &mut self,
        all: &Parts,
        (part, offset): (usize, Atom),
        position: Var,
        ty: Type,
    ) -> (Vec<Stm<Soac>>, Atom) {
        let mut stms = Vec::new();
        let index = self.integer(&mut stms, BinOp::Add, (position.into(), offset), all.span);
        let element = self.fresh("element", ty);
        let op = ArrayOp::Index {
            array: all.parts[part].array,
            indices: vec![index],
        };
        stms.push(statement(element, all.certs.clone(), op.into(), all.span));
        (stms, element.into())
    }

    fn is_before(
        &mut self,
        stms: &mut Vec<Stm<Soac>>,
        position: Var,
        end: Atom,
        span: SpanId,
    ) -> Atom {
        let op = ScalarOp::Cmp(CmpOp::Lt, INT);
        self.at_position(stms, op, vec![position.into(), end], span)
    }

    fn integer(
        &mut self,
        stms: &mut Vec<Stm<Soac>>,
        op: BinOp,
        (a, b): (Atom, Atom),
        span: SpanId,
    ) -> Atom {
        self.at_position(stms, ScalarOp::Bin(op, INT), vec![a, b], span)
    }

    fn at_position(
        &mut self,
        stms: &mut Vec<Stm<Soac>>,
        op: ScalarOp,
        args: Vec<Atom>,
        span: SpanId,
    ) -> Atom {
        let v = self.fresh("position", Type::Scalar(op.result()));
        stms.push(statement(v, Vec::new(), Exp::Scalar(op, args), span));
        v.into()
    }
}

/// The arrays that a statement concatenates.
fn concatenated(stm: &Stm<Soac>) -> Option<&[Var]> {
    let Exp::Op(op) = &stm.exp else { return None };
    match op.as_array() {
        Some(ArrayOp::Concat { arrays, .. }) => Some(arrays),
        Some(_) | None => None,
    }
}

/// Where a slice along the outermost dimension, element after element, begins in its array.
fn sliced(stm: &Stm<Soac>) -> Option<(Var, Atom)> {
    let Exp::Op(op) = &stm.exp else { return None };
    let Some(ArrayOp::Slice { array, dims }) = op.as_array() else {
        return None;
    };
    let &[
        SliceDim::Range {
            start,
            len: _,
            stride: Atom::ONE,
        },
    ] = &dims[..]
    else {
        return None;
    };
    Some((*array, start))
}
