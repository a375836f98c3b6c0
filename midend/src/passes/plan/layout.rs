//! Choices of an order in memory: an array lies in another order if a condition holds, else as it is.
//!
//! ```text
//! let b = if far { manifest (1, 0) a } else { a }
//! ──►
//! let step_0 = select far 1 m
//! let step_1 = select far n 1
//! let b = if far { let c = alloc (n * m); copy .. c[1, n] .. a[m, 1]; yield c } else { yield a }
//! ```
//!
//! What reads `b` computes places with these steps. An array that was made just for such a choice is made so from the start, and
//! nothing is copied.

use super::emit::FrameKind;
use super::flow::{Definitions, Origin};
use super::view::View;
use super::{Cx, Mode};
use crate::analysis::layout::is_written;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::ScalarOp;
use crate::ir::seg::{Level, Seg, SegKind};
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{ScalarType, Type};

/// An array that lies in another order if a condition holds, else row-major from the start of its buffer.
pub(super) struct Ordered {
    when: Atom,
    view: View,
}

/// A choice of an order.
pub(super) struct Choice<'s> {
    when: Atom,
    order: &'s [usize],
    array: Var,
}

impl<'s> Choice<'s> {
    /// The choice that a statement is, if it is one.
    fn of(stm: &'s Stm<Seg>) -> Option<Self> {
        match &stm.exp {
            Exp::If {
                cond,
                then,
                otherwise,
            } => Self::between(*cond, then, otherwise),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    /// The choice between two bodies.
    pub(super) fn between(
        when: Atom,
        then: &'s Body<Seg>,
        otherwise: &'s Body<Seg>,
    ) -> Option<Self> {
        let ([stm], [], [new], [old]) = (
            &then.stms[..],
            &otherwise.stms[..],
            &then.result[..],
            &otherwise.result[..],
        ) else {
            return None;
        };
        match &stm.exp {
            Exp::Op(Seg::Array(ArrayOp::Manifest { perm, array }))
                if *old == (*array).into() && *new == stm.binds[0].into() =>
            {
                Some(Self {
                    when,
                    order: perm,
                    array: *array,
                })
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    /// Whether the elements of an array that would be neighbours are neighbours.
    fn is_in_order(&self, array: &View) -> bool {
        let innermost = self.order.last();
        array.levels.is_none() && innermost.is_some_and(|d| array.strides[*d] == Atom::ONE)
    }
}

/// What a choice of an order is of, if neighbours in that order are neighbours in a place, too.
pub(super) fn chosen_anyway(stm: &Stm<Seg>, place: &View) -> Option<Var> {
    let choice = Choice::of(stm)?;
    choice.is_in_order(place).then_some(choice.array)
}

/// The arrays that are made by the statements of a body, rows that points write, and leave it with dimensions in another order, in which
/// points are innermost; with the results that they become.
pub(super) fn turned_results(definitions: &Definitions, body: &Body<Seg>) -> Vec<(Var, Var)> {
    let results = body.result.iter().filter_map(|atom| atom.as_var());
    let turned =
        results.filter_map(|result| Some((turned_result(definitions, body, result)?, result)));
    turned.collect()
}

fn turned_result(definitions: &Definitions, body: &Body<Seg>, result: Var) -> Option<Var> {
    let (mut var, mut turns) = (result, Vec::new());
    let (i, k) = loop {
        let (i, k) = definitions.definition(&body.stms, var)?;
        if let Some(choice) = Choice::of(&body.stms[i]) {
            var = choice.array;
            continue;
        }
        match definitions.origin(&body.stms[i].exp, k) {
            Origin::Same(next) => var = next,
            Origin::Rearranged(perm, next) => {
                turns.push(perm);
                var = next;
            }
            Origin::Made => break (i, k),
            Origin::Reshaped(_) | Origin::Unknown => return None,
        }
    };
    let last = turns.first()?.len() - 1;
    let innermost = turns.iter().fold(last, |d, perm| perm[d]);
    is_of_rows(definitions, &body.stms, (i, k), innermost).then_some(var)
}

/// Whether all that the `k`-th result of a statement may be is rows that points write, and a dimension the innermost of the points.
fn is_of_rows(
    definitions: &Definitions,
    stms: &[Stm<Seg>],
    (i, k): (usize, usize),
    innermost: usize,
) -> bool {
    let of_rows = |stms: &[Stm<Seg>], array: Option<Var>| {
        let made = array.and_then(|v| definitions.definition(stms, v));
        made.is_some_and(|made| is_of_rows(definitions, stms, made, innermost))
    };
    if let Some(choice) = Choice::of(&stms[i]) {
        return of_rows(stms, Some(choice.array));
    }
    match &stms[i].exp {
        Exp::If {
            then, otherwise, ..
        } => [then, otherwise]
            .into_iter()
            .all(|branch| of_rows(&branch.stms, branch.result[k].as_var())),
        Exp::Op(Seg::Par(op)) => {
            let is_map = matches!(op.kind, SegKind::Map) && op.level == Level::Device;
            let is_innermost = op.space.dims.len() == innermost + 1;
            is_map && is_innermost && is_written(&op.body, op.body.result[k])
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    }
}

impl Cx<'_> {
    /// Before statement `i`: rows that points write and that leave the body with the points innermost are made where they leave it.
    pub(super) fn offer_turned(&mut self, stms: &[Stm<Seg>], i: usize, turned: &[(Var, Var)]) {
        for &(root, result) in turned {
            let is_made = stms[i].binds.contains(&root) && !self.dests.contains_key(&root);
            let known = is_made && self.shape_in_scope(&self.vars[result].ty);
            if known {
                fired("plan/made-turned");
                let place = self.room_for(result);
                self.want(stms, result.into(), place);
            }
        }
    }

    /// Before statement `i`: what a map makes is made in the order that is chosen for it right after.
    pub(super) fn offer_order(&mut self, stms: &[Stm<Seg>], i: usize) {
        let is_map =
            matches!(&stms[i].exp, Exp::Op(Seg::Par(op)) if matches!(op.kind, SegKind::Map));
        if !is_map || self.mode != Mode::Host {
            return;
        }
        let choices = stms[i + 1..].iter().map_while(Choice::of);
        for choice in choices {
            let (root, when) = (choice.array, self.atom(choice.when));
            let known = self.in_scope(when) && self.shape_in_scope(&self.vars[root].ty);
            if !stms[i].binds.contains(&root) || self.dests.contains_key(&root) || !known {
                continue;
            }
            let made = self.room_for(root);
            if made.levels.is_none() {
                fired("plan/made-in-order");
                let strides = self.in_order(&made, choice.order);
                let strides = self.either(when, &strides, &made.strides);
                let view = View {
                    strides,
                    dense: false,
                    ..made
                };
                self.dests.insert(root, view.clone());
                self.ordered.insert(view.buffer, Ordered { when, view });
            }
        }
    }

    /// Lowers a choice of an order.
    pub(super) fn choose_order(&mut self, bind: Var, choice: &Choice<'_>) -> bool {
        let src = self.view(choice.array);
        if self.mode != Mode::Host || src.levels.is_some() || self.dests.contains_key(&bind) {
            return false;
        }
        if choice.is_in_order(&src) {
            fired("plan/in-order-anyway");
            self.views.insert(bind, src);
            return true;
        }
        let when = self.atom(choice.when);
        let is_made = self.ordered_when(&src) == Some(when);
        if is_made && !choice.order.is_sorted() {
            self.views.insert(bind, src);
            return true;
        }
        fired("plan/choice-of-order");
        if is_made {
            let whole = self.whole(&src);
            self.views.insert(bind, whole);
            return true;
        }
        let is_whole = src.offset == Atom::ZERO && self.is_dense(&src);
        let len = self.count(&src.shape);
        let strides = self.in_order(&src, choice.order);
        self.enter(FrameKind::Branch);
        let buffer = self.alloc(src.elem, len);
        let dst = View {
            buffer,
            offset: Atom::ZERO,
            strides: strides.clone(),
            dense: false,
            ..src.clone()
        };
        self.copy(&dst, &src);
        let then = self.leave(vec![buffer.into()]);
        let otherwise = Body {
            stms: Vec::new(),
            result: vec![src.buffer.into()],
        };
        let pointer = self.pointer(bind, &[buffer, src.buffer]);
        let exp = Exp::If {
            cond: when,
            then,
            otherwise,
        };
        self.push(vec![pointer], exp);
        let offset = self.either(when, &[Atom::ZERO], &[src.offset])[0];
        let strides = self.either(when, &strides, &src.strides);
        let view = View {
            buffer: pointer,
            offset,
            strides,
            dense: false,
            ..src
        };
        if is_whole {
            let view = view.clone();
            self.ordered.insert(pointer, Ordered { when, view });
        }
        self.views.insert(bind, view);
        true
    }

    /// The condition under which an array is in another order, if it is row-major otherwise.
    fn ordered_when(&self, view: &View) -> Option<Atom> {
        let ordered = self.ordered.get(&view.buffer)?;
        (ordered.view == *view && self.in_scope(ordered.when)).then_some(ordered.when)
    }

    /// A row-major copy of an array that may be in another order; if it is not, itself.
    pub(super) fn reordered(&mut self, src: &View) -> Option<View> {
        let when = self.ordered_when(src)?;
        self.enter(FrameKind::Branch);
        let copy = self.new_array(src.elem, src.shape.clone());
        self.copy(&copy, src);
        let then = self.leave(vec![copy.buffer.into()]);
        let otherwise = Body {
            stms: Vec::new(),
            result: vec![src.buffer.into()],
        };
        let buffer = self.fresh("whole", Type::Buffer(src.elem));
        self.joined(buffer, &[copy.buffer, src.buffer]);
        let exp = Exp::If {
            cond: when,
            then,
            otherwise,
        };
        self.push(vec![buffer], exp);
        Some(View { buffer, ..copy })
    }

    /// The strides of an array in another order.
    fn in_order(&mut self, view: &View, order: &[usize]) -> Vec<Atom> {
        let shape: Vec<Atom> = order.iter().map(|d| view.shape[*d]).collect();
        let in_memory = self.row_major(&shape);
        let mut strides = vec![Atom::ONE; order.len()];
        for (d, stride) in order.iter().zip(in_memory) {
            strides[*d] = stride;
        }
        strides
    }

    /// Numbers that are these if a condition holds, else those.
    fn either(&mut self, when: Atom, these: &[Atom], those: &[Atom]) -> Vec<Atom> {
        let select = ScalarOp::Select(ScalarType::I64);
        let pairs = these.iter().zip(those);
        let chosen = pairs.map(|(a, b)| match a == b {
            true => *a,
            false => self.scalar("step", select, vec![when, *a, *b]),
        });
        chosen.collect()
    }
}
