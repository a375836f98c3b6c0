//! Building arrays where they are wanted: the memory of a result, or the part of an array that is updated with it,
//! is handed to the statement that makes the array.

use super::flow::{Definitions, Origin};
use super::layout::chosen_anyway;
use super::own::Part;
use super::scan::goes_anywhere;
use super::view::View;
use super::{Cx, Mode};
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::array::{ArrayOp, SliceDim, inverse};
use crate::ir::id::Var;
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::types::ScalarType;
use crate::ir::walk::free_in_stm;
use std::collections::BTreeSet;

/// The numbers of statements, by the arrays that are made for them.
type Roots = HashMap<Var, Vec<usize>>;

fn by_root(pairs: impl IntoIterator<Item = (Var, usize)>) -> Roots {
    let mut roots = Roots::default();
    for (root, at) in pairs {
        roots.entry(root).or_default().push(at);
    }
    roots
}

/// What the statements of a body make that other statements of it put into larger arrays.
pub(super) struct Offers {
    updates: Roots,
    concats: Roots,
    /// The statements that use a variable, where that is of interest.
    uses: Roots,
}

impl Offers {
    pub(super) fn of(definitions: &Definitions, vars: &Vars, stms: &[Stm<Seg>]) -> Self {
        let mut offers = Self {
            updates: update_roots(definitions, stms),
            concats: concat_roots(definitions, stms),
            uses: Roots::default(),
        };
        if !(offers.updates.is_empty() && offers.concats.is_empty()) {
            let uses = stms.iter().enumerate().flat_map(|(i, stm)| {
                let free = free_in_stm(vars, stm).into_iter();
                free.map(move |v| (v, i))
            });
            offers.uses = by_root(uses);
        }
        offers
    }

    /// The statements after one that use a variable.
    fn uses(&self, v: Var, after: usize) -> impl Iterator<Item = usize> {
        let uses = self.uses.get(&v).map_or(&[][..], Vec::as_slice);
        uses[uses.partition_point(|i| *i <= after)..]
            .iter()
            .copied()
    }
}

/// For each array that is made by a statement and ends as the value of an update: its name and the number of the
/// update.
fn update_roots(definitions: &Definitions, stms: &[Stm<Seg>]) -> Roots {
    let updates = stms
        .iter()
        .enumerate()
        .filter_map(|(i, stm)| match &stm.exp {
            Exp::Op(Seg::Array(ArrayOp::Update {
                value: Atom::Var(value),
                ..
            })) => Some((root(definitions, stms, *value)?, i)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        });
    by_root(updates)
}

/// For each array that is made by a statement and concatenated: its name and the number of the concatenation.
fn concat_roots(definitions: &Definitions, stms: &[Stm<Seg>]) -> Roots {
    let mut roots = Vec::new();
    for (j, stm) in stms.iter().enumerate() {
        let Exp::Op(Seg::Array(ArrayOp::Concat { arrays, .. })) = &stm.exp else {
            continue;
        };
        let mut named: HashMap<Var, usize> = HashMap::default();
        for array in arrays {
            *named.entry(*array).or_default() += 1;
        }
        for &array in arrays {
            let made = definitions
                .definition(&stms[..j], array)
                .is_some_and(|(i, k)| {
                    let exp = &stms[i].exp;
                    let scanned = matches!(exp, Exp::Op(Seg::Par(op)) if goes_anywhere(op));
                    scanned || definitions.origin(exp, k) == Origin::Made
                });
            if made && named.get(&array) == Some(&1) {
                roots.push((array, j));
            }
        }
    }
    by_root(roots)
}

/// The array that is made for `var` in the end, by one of the statements.
fn root(definitions: &Definitions, stms: &[Stm<Seg>], mut var: Var) -> Option<Var> {
    loop {
        let (i, k) = definitions.definition(stms, var)?;
        match definitions.origin(&stms[i].exp, k) {
            Origin::Same(next) | Origin::Rearranged(_, next) | Origin::Reshaped(next) => var = next,
            Origin::Made => return Some(var),
            Origin::Unknown => return None,
        }
    }
}

impl Cx<'_> {
    /// Asks for the array `atom` to be made at `dest`, if one of the statements makes it. A scalar is never made in
    /// memory only, for there may be other uses of it.
    pub(super) fn want(&mut self, stms: &[Stm<Seg>], atom: Atom, mut dest: View) {
        let Atom::Var(mut var) = atom else { return };
        if !self.is_array(var) {
            return;
        }
        while let Some((i, k)) = self.definitions.definition(stms, var) {
            if let Some(array) = chosen_anyway(&stms[i], &dest) {
                var = array;
                continue;
            }
            match self.definitions.origin(&stms[i].exp, k) {
                Origin::Same(next) => var = next,
                Origin::Rearranged(perm, next) => {
                    dest = dest.rearranged(&inverse(&perm));
                    var = next;
                }
                Origin::Reshaped(next) => {
                    // The shapes may only be known to agree because of a check.
                    if !self.are_passed(&stms[i].certs) {
                        return;
                    }
                    if !self.is_dense(&dest) || !self.shape_in_scope(&self.vars[next].ty) {
                        return;
                    }
                    dest = self.placed(next, dest.buffer, dest.elem, dest.offset);
                    var = next;
                }
                Origin::Made => {
                    fired("plan/made-in-place");
                    self.dests.entry(var).or_insert(dest);
                    return;
                }
                Origin::Unknown => return,
            }
        }
    }

    /// Before statement `i`: if what it makes ends in an update, and the updated array is not touched until then,
    /// it is made there, unless it is still needed when something else is written there.
    pub(super) fn offer_update(&mut self, body: &Body<Seg>, i: usize, offers: &Offers) {
        for &root in &body.stms[i].binds {
            for &at in offers.updates.get(&root).into_iter().flatten() {
                if at > i
                    && self.is_array(root)
                    && !self.dests.contains_key(&root)
                    && !self.outlives(offers, body, (root, i), at)
                {
                    self.offer(&body.stms, (i, root), at);
                }
            }
        }
    }

    /// Whether an array that is made by statement `made` and put into another by the update `to` is read when that one may have been
    /// written again. What leaves the body may be read at any time.
    fn outlives(
        &self,
        offers: &Offers,
        body: &Body<Seg>,
        (root, made): (Var, usize),
        to: usize,
    ) -> bool {
        let mut parts = BTreeSet::from([root]);
        // The statements to visit that use parts, or the whole.
        let mut reading: BTreeSet<usize> = offers.uses(root, made).collect();
        let wholes = body.stms[to].binds.iter();
        let mut touching: BTreeSet<usize> = wholes.flat_map(|v| offers.uses(*v, to)).collect();
        let mut wholes: BTreeSet<Var> = body.stms[to].binds.iter().copied().collect();
        let mut written = false;
        while let Some(&first) = reading.first() {
            let at = touching.first().map_or(first, |i| first.min(*i));
            let (read, touched) = (reading.remove(&at), touching.remove(&at));
            let stm = &body.stms[at];
            if touched {
                written |= match &stm.exp {
                    Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {
                        false
                    }
                    Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => true,
                    Exp::Op(_) => {
                        let mut origins =
                            (0..stm.binds.len()).map(|k| self.definitions.origin(&stm.exp, k));
                        origins.any(|o| matches!(o, Origin::Same(v) if wholes.contains(&v)))
                    }
                };
                for v in self.not_made(stm) {
                    wholes.insert(v);
                    touching.extend(offers.uses(v, at));
                }
            }
            if read && written {
                return true;
            }
            if read && at != to {
                for v in self.not_made(stm) {
                    parts.insert(v);
                    reading.extend(offers.uses(v, at));
                }
            }
        }
        let mut results = body.result.iter().filter_map(|atom| atom.as_var());
        results.any(|v| parts.contains(&v))
    }

    /// What a statement binds that may be in the memory of something else.
    fn not_made(&self, stm: &Stm<Seg>) -> impl Iterator<Item = Var> {
        let binds = stm.binds.iter().enumerate();
        let binds = binds.filter(|(k, _)| self.definitions.origin(&stm.exp, *k) != Origin::Made);
        binds.map(|(_, v)| *v)
    }

    fn offer(&mut self, stms: &[Stm<Seg>], (from, root): (usize, Var), to: usize) {
        let Exp::Op(Seg::Array(ArrayOp::Update { array, dims, value })) = &stms[to].exp else {
            return;
        };
        let Some(target) = self.known_view(stms, *array) else {
            return;
        };
        let known = dims.iter().all(|dim| match *dim {
            SliceDim::Fix(i) => self.in_scope(self.atom(i)),
            SliceDim::Range { start, len, stride } => [start, len.into(), stride]
                .into_iter()
                .all(|a| self.in_scope(self.atom(a))),
        });
        let touched = |stm: &Stm<Seg>| {
            let mentioned = free_in_stm(&self.vars, stm);
            mentioned
                .iter()
                .filter_map(|v| self.views.get(v))
                .any(|v| self.may_alias(v.buffer, target.buffer))
        };
        let mut free = !stms[from + 1..to].iter().any(touched);
        if free && touched(&stms[from]) {
            let array = &target;
            let k = stms[from].binds.iter().position(|v| *v == root);
            let own = |k| self.reads_own_places(&stms[from], k, Part { array, dims });
            free = self.mode == Mode::Host && k.is_some_and(own);
            if free {
                fired("plan/made-over-what-is-read");
            }
        }
        if known && free && self.are_passed(&stms[to].certs) {
            fired("plan/made-in-update");
            let part = self.slice(&target, dims);
            self.want(stms, *value, part);
        }
    }

    /// Before statement `i`: if what it makes is concatenated and used for nothing else, it is made there.
    pub(super) fn offer_concat(&mut self, body: &Body<Seg>, i: usize, offers: &Offers) {
        for &root in &body.stms[i].binds {
            for &at in offers.concats.get(&root).into_iter().flatten() {
                if self.dests.contains_key(&root) {
                    continue;
                }
                let once = offers.uses(root, i).count() == 1;
                let stm = &body.stms[at];
                if once && !body.result.contains(&root.into()) && self.are_passed(&stm.certs) {
                    self.offer_part(stm, root);
                }
            }
        }
    }

    /// Makes room for a concatenation now, and asks for one of its parts to be made there.
    fn offer_part(&mut self, concat: &Stm<Seg>, root: Var) {
        let Exp::Op(Seg::Array(ArrayOp::Concat { arrays, .. })) = &concat.exp else {
            return;
        };
        let whole = concat.binds[0];
        let before = arrays.iter().take_while(|a| **a != root);
        let lengths: Vec<Atom> = before.map(|&a| self.shape_of(a)[0]).collect();
        let (shape, part) = (self.shape_of(whole), self.shape_of(root));
        let mut sizes = shape.iter().chain(&part).chain(&lengths);
        if !sizes.all(|&n| self.in_scope(n)) {
            return;
        }
        let dst = match self.dests.get(&whole) {
            Some(dst) => dst.clone(),
            None => {
                let elem = self.vars[whole].ty.elem().unwrap_or(ScalarType::I64);
                let dst = self.new_array(elem, shape);
                self.dests.insert(whole, dst.clone());
                dst
            }
        };
        let at = lengths
            .into_iter()
            .fold(Atom::ZERO, |at, n| self.add(at, n));
        fired("plan/made-in-concat");
        let part = self.rows(&dst, at, part[0]);
        self.dests.insert(root, part);
    }

    /// Whether checks stand before the statement at hand.
    fn are_passed(&self, certs: &[Var]) -> bool {
        certs
            .iter()
            .all(|&c| self.in_scope(self.atom(Atom::Var(c))))
    }

    /// Where an array is that may itself be the result of updates still to come.
    fn known_view(&self, stms: &[Stm<Seg>], mut array: Var) -> Option<View> {
        loop {
            if let Some(view) = self.views.get(&array) {
                return Some(view.clone());
            }
            let (i, k) = self.definitions.definition(stms, array)?;
            match self.definitions.origin(&stms[i].exp, k) {
                Origin::Same(next) => array = next,
                Origin::Rearranged(..) | Origin::Reshaped(_) | Origin::Made | Origin::Unknown => {
                    return None;
                }
            }
        }
    }
}
