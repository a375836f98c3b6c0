//! Conditionals and calls.
//!
//! ```text
//! y = if c { S  yield r } else { .. }    ──►   x' = if c { S  S'(r' = y')  yield x' } else { .. }
//! y = f(x)                               ──►   _, x' = f_adjoint(x, y')
//! ```
//!
//! What both branches read from outside has its adjoint so far on the way in, and what became of it is a result.

use super::super::Rule;
use super::pieces::Piece;
use super::{Derive, size_results};
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::{FunId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{CmpOp, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp};
use crate::ir::types::{ScalarType, Size, Type};

/// A branch that has been undone.
struct Branch {
    stms: Vec<crate::ir::syntax::Stm<Soac>>,
    /// The adjoints of what was read.
    sums: Vec<Option<Atom>>,
    pieces: Vec<Piece>,
    found: Vec<Piece>,
}

/// Sets of arrays that may be one: what conditionals bind, with what their branches yield, and an array with its reshapes
/// (disjoint sets).
#[derive(Default)]
pub(super) struct Aliases {
    parent: HashMap<Var, Var>,
}

impl Aliases {
    /// The member that stands for the set of an array.
    fn set_of(&mut self, mut v: Var) -> Var {
        while let Some(&up) = self.parent.get(&v) {
            if let Some(&next) = self.parent.get(&up) {
                self.parent.insert(v, next);
            }
            v = up;
        }
        v
    }

    pub(super) fn unite(&mut self, a: Var, b: Var) {
        let [a, b] = [a, b].map(|v| self.set_of(v));
        if a != b {
            self.parent.insert(a, b);
        }
    }

    /// For each result of branches whether it may be an array that is also another result, of the same branch or of another one: then
    /// what is bound to both may be one array, of which none may be consumed while the other is needed.
    fn at_several(&mut self, branches: &[Vec<Atom>]) -> Vec<bool> {
        let mut first: HashMap<Var, usize> = HashMap::default();
        let mut several = vec![false; branches.iter().map(Vec::len).max().unwrap_or(0)];
        for result in branches {
            for (n, v) in result.iter().enumerate() {
                let Some(v) = v.as_var() else { continue };
                let other = *first.entry(self.set_of(v)).or_insert(n);
                if other != n {
                    several[other] = true;
                    several[n] = true;
                }
            }
        }
        several
    }
}

/// Pieces of one array from both branches, or from one of them, as one.
struct Pair {
    of: [Option<Piece>; 2],
    /// Indices that are known outside of the branches: of a piece that only one branch has, the other adds zero there.
    indices: Vec<Option<Atom>>,
}

impl Pair {
    fn like(&self) -> &Piece {
        let [a, b] = &self.of;
        a.as_ref().or(b.as_ref()).expect("one branch has it")
    }
}

/// The lists that leave branches, those of one length of one branch together.
fn lists_of(branches: &[Branch]) -> Vec<(usize, Vec<Piece>)> {
    let mut lists: Vec<(usize, Vec<Piece>)> = Vec::new();
    for (k, branch) in branches.iter().enumerate() {
        for piece in &branch.found {
            let same = |(of, own): &&mut (usize, Vec<Piece>)| {
                *of == k && own.iter().all(|other| other.dims == piece.dims)
            };
            match lists.iter_mut().find(same) {
                Some((_, own)) => own.push(piece.clone()),
                None => lists.push((k, vec![piece.clone()])),
            }
        }
    }
    lists
}

fn paired(branches: &[Branch]) -> Vec<Pair> {
    let [then, otherwise] = branches else {
        return Vec::new();
    };
    let inside: Vec<HashSet<Var>> = [then, otherwise]
        .map(|branch| {
            let binds = branch.stms.iter().flat_map(|stm| &stm.binds);
            binds.copied().collect()
        })
        .to_vec();
    let outside = |a: &Atom, k: usize| a.as_var().is_none_or(|v| !inside[k].contains(&v));
    let mut rest: Vec<Option<&Piece>> = otherwise.pieces.iter().map(Some).collect();
    let mut pairs = Vec::new();
    for piece in &then.pieces {
        let fits = |other: &&Piece| {
            other.array == piece.array
                && other.dims == piece.dims
                && other.indices.len() == piece.indices.len()
        };
        let mut found = None;
        for exact in [true, false] {
            let is_it = |other: &Option<&Piece>| {
                other
                    .is_some_and(|other| fits(&other) && (!exact || other.indices == piece.indices))
            };
            found = found.or_else(|| rest.iter().position(is_it));
        }
        let other = found.and_then(|k| rest[k].take());
        let known = |n: usize| {
            let index = piece.indices[n];
            let same = other.is_none_or(|other| other.indices[n] == index);
            (same && outside(&index, 0)).then_some(index)
        };
        pairs.push(Pair {
            indices: (0..piece.indices.len()).map(known).collect(),
            of: [Some(piece.clone()), other.cloned()],
        });
    }
    for piece in rest.into_iter().flatten() {
        let indices = piece.indices.iter();
        pairs.push(Pair {
            indices: indices.map(|a| outside(a, 1).then_some(*a)).collect(),
            of: [None, Some(piece.clone())],
        });
    }
    pairs
}

impl Derive<'_> {
    pub(super) fn undo_conditional(&mut self, binds: &[Var], cond: Atom, bodies: [Body<Soac>; 2]) {
        let seeds: Vec<Option<Atom>> = binds.iter().map(|v| self.taken(*v)).collect();
        let free = self.active_in(&bodies);
        let before: Vec<Option<Atom>> = free.iter().map(|v| self.taken(*v)).collect();
        let outside = self.set_aside();
        let from = self.back.pieces.len();
        let mut branches = Vec::new();
        for body in bodies {
            let body = rename::body(self.vars, &mut Subst::new(), &body);
            for (v, sum) in free.iter().zip(&before) {
                if let Some(sum) = sum {
                    self.back.of.insert(*v, *sum);
                }
            }
            let ((sums, pieces), stms) = self.nested(|t| {
                t.sweep(body.stms, &body.result, &seeds);
                let pieces = t.leaving(from, &[]);
                let sums: Vec<Option<Atom>> = free.iter().map(|v| t.taken(*v)).collect();
                (sums, pieces)
            });
            let _ = self.set_aside();
            branches.push(Branch {
                stms,
                sums,
                pieces: pieces.known,
                found: pieces.found,
            });
        }
        self.take_up(outside);
        let changed: Vec<usize> = (0..free.len())
            .filter(|i| branches.iter().any(|b| b.sums[*i] != before[*i]))
            .collect();
        for (i, v) in free.iter().enumerate() {
            if let (false, Some(sum)) = (changed.contains(&i), before[i]) {
                self.back.of.insert(*v, sum);
            }
        }
        let pieces = paired(&branches);
        let lists = lists_of(&branches);
        let mut results = Vec::new();
        let mut owned = vec![true; changed.len()];
        for (k, branch) in branches.iter_mut().enumerate() {
            let (result, more) = self.nested(|t| {
                let mut result = Vec::new();
                for (n, i) in changed.iter().enumerate() {
                    let v = free[*i];
                    let sum = match branch.sums[*i] {
                        Some(sum) => t.fit(sum, &t.vars[v].ty.clone()),
                        None => t.zero_adjoint(v),
                    };
                    let is_owned = |v: Var| t.back.owned.contains(&v) || !t.vars[v].ty.is_array();
                    owned[n] &= sum.as_var().is_none_or(is_owned);
                    result.push(sum);
                }
                for pair in &pieces {
                    t.piece_results(pair, k, &mut result);
                }
                for (of, pieces) in &lists {
                    t.list_results(pieces, *of == k, &mut result);
                }
                result
            });
            branch.stms.extend(more);
            results.push(result);
        }
        let several = self.back.aliases.at_several(&results);
        let mut bound = Vec::new();
        for (n, i) in changed.iter().enumerate() {
            let sum = self.like(free[*i]);
            bound.push(sum);
            for v in results.iter().filter_map(|result| result[n].as_var()) {
                if self.vars[v].ty.is_array() {
                    self.back.aliases.unite(sum, v);
                }
            }
            self.back.of.insert(free[*i], sum.into());
            if owned[n] && !several[n] {
                self.back.owned.insert(sum);
            }
        }
        let mut arrived = Vec::new();
        for pair in pieces {
            let (piece, known) = (pair.like().clone(), pair.indices);
            let from = bound.len();
            let mut piece = self.bound_piece(piece, &[], &mut bound);
            let mut at = bound.split_off(from).into_iter();
            for (index, known) in piece.indices.iter_mut().zip(known) {
                let own = at.next();
                match known {
                    Some(known) => *index = known,
                    None => bound.extend(own),
                }
            }
            bound.extend(at);
            arrived.push(piece);
        }
        for (_, pieces) in lists {
            let count = self.fresh("count", Type::I64);
            self.settle_at(count);
            bound.push(count);
            for mut piece in pieces {
                piece.dims = Vec::new();
                arrived.push(self.bound_piece(piece, &[Size::Var(count)], &mut bound));
            }
        }
        if bound.is_empty() {
            return;
        }
        let mut bodies = branches.into_iter().zip(results);
        let mut body = || {
            let (branch, result) = bodies.next()?;
            let stms = branch.stms;
            Some(Body { stms, result })
        };
        if let (Some(then), Some(otherwise)) = (body(), body()) {
            self.push(
                bound,
                Exp::If {
                    cond,
                    then,
                    otherwise,
                },
            );
        }
        for piece in arrived {
            self.arrived(piece);
        }
    }

    /// The indices and the values of a piece as results of a branch, but for indices that are known outside.
    fn piece_results(&mut self, pair: &Pair, branch: usize, result: &mut Vec<Atom>) {
        let piece = pair.like();
        let (at, ty) = (
            Type::array_of(&Type::I64, &piece.dims),
            self.value_type(piece),
        );
        for (n, known) in pair.indices.iter().enumerate() {
            if known.is_some() {
                continue;
            }
            result.push(match &pair.of[branch] {
                Some(own) => self.fit(own.indices[n], &at),
                None if piece.dims.is_empty() => Atom::i64(-1),
                None => self.replicate(&piece.dims, Atom::i64(-1)).into(),
            });
        }
        result.push(match &pair.of[branch] {
            Some(own) => self.fit(own.value, &ty),
            None => self.zero_of_type(&ty),
        });
    }

    /// The length of lists, their indices and values as results of a branch; nothing in those of the other branch.
    fn list_results(&mut self, pieces: &[Piece], own: bool, result: &mut Vec<Atom>) {
        let none = [Size::Const(0)];
        let length = pieces.first().map_or(none[0], |piece| piece.dims[0]);
        result.push(if own { length.into() } else { Atom::ZERO });
        for piece in pieces {
            if own {
                result.extend(&piece.indices);
                result.push(piece.value);
                continue;
            }
            for _ in &piece.indices {
                result.push(self.replicate(&none, Atom::ZERO).into());
            }
            let row = self.vars[piece.array].ty.peel(piece.indices.len());
            let ty = Type::array_of(&row.unwrap_or(Type::I64), &none);
            result.push(self.zero_of_type(&ty));
        }
    }

    /// A piece whose indices and values are bound by an operation around it, once for each point of further dimensions.
    pub(super) fn bound_piece(
        &mut self,
        mut piece: Piece,
        outer: &[Size],
        binds: &mut Vec<Var>,
    ) -> Piece {
        piece.dims.splice(0..0, outer.iter().copied());
        let at = Type::array_of(&Type::I64, &piece.dims);
        for index in &mut piece.indices {
            let v = self.fresh("at", at.clone());
            binds.push(v);
            *index = v.into();
        }
        let value = self.value_type(&piece);
        let v = self.fresh("part", value);
        binds.push(v);
        piece.value = v.into();
        piece
    }

    pub(super) fn undo_call(&mut self, binds: &[Var], fun: FunId, args: &[Atom]) {
        if let Some(rule) = self.rules.get(&fun).cloned() {
            return self.undo_by_rule(binds, args, &rule);
        }
        let active: Vec<bool> = args.iter().map(|a| self.depends(*a)).collect();
        let adjoint = self.adjoint(fun, active.clone());
        let mut all = args.to_vec();
        for i in size_results(self, &self.funs[fun]) {
            all.push(binds[i].into());
        }
        for v in binds {
            if self.differentiable(*v) {
                all.push(self.taken_or_zero(*v));
            }
        }
        let mut subst = Subst::new();
        let mut bound = Vec::new();
        for v in binds {
            bound.push(rename::fresh(self.vars, &mut subst, *v));
        }
        let mut parts = Vec::new();
        for (arg, _) in args.iter().zip(&active).filter(|(_, active)| **active) {
            if let Atom::Var(v) = arg {
                let part = self.like(*v);
                bound.push(part);
                parts.push((*arg, part));
            }
        }
        let exp = Exp::Call {
            fun: adjoint,
            args: all,
        };
        self.push(bound, exp);
        for (arg, part) in parts {
            self.add(arg, part.into());
        }
    }

    /// A call of a function that has a derivative of its own.
    fn undo_by_rule(&mut self, binds: &[Var], args: &[Atom], rule: &Rule) {
        fired("derivatives/custom");
        let params = rule.params.iter().copied().zip(args.iter().copied());
        let results = binds.iter().map(|v| Atom::Var(*v));
        let results = rule.results.iter().copied().zip(results);
        let given: HashMap<Var, Atom> = params.chain(results).collect();
        let before = rule.args.len() - binds.len();
        let mut all = Vec::new();
        for atom in &rule.args[..before] {
            let own = atom.as_var().and_then(|v| given.get(&v));
            all.push(own.copied().unwrap_or(*atom));
        }
        for v in binds {
            all.push(self.taken_or_zero(*v));
        }
        let own = &args[rule.first..];
        let mut parts = Vec::new();
        for arg in own {
            let ty = arg.ty(self.vars);
            parts.push(self.fresh("part", ty));
        }
        let exp = Exp::Call {
            fun: rule.fun,
            args: all,
        };
        self.push(parts.clone(), exp);
        for (arg, part) in own.iter().zip(parts) {
            self.add(*arg, part.into());
        }
    }

    /// `if i == 0 then a else b`.
    pub(super) fn at_first(&mut self, i: Atom, a: Atom, b: Atom) -> Atom {
        let first = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
        let first = self.scalar(first, &[i, Atom::ZERO]);
        match a.ty(self.vars) {
            Type::Scalar(ty) => self.scalar(ScalarOp::Select(ty), &[first, a, b]),
            Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                self.either(first, |_| a, |_| b)
            }
        }
    }

    /// A conditional.
    pub(super) fn either(
        &mut self,
        cond: Atom,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: impl FnOnce(&mut Self) -> Atom,
    ) -> Atom {
        let (a, then) = self.nested(then);
        let (b, otherwise) = self.nested(otherwise);
        let ty = a.ty(self.vars);
        let result = self.fresh("x", ty);
        let body = |stms, a| Body {
            stms,
            result: vec![a],
        };
        let (then, otherwise) = (body(then, a), body(otherwise, b));
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(vec![result], exp);
        result.into()
    }
}

#[cfg(test)]
mod tests {
    use super::Aliases;
    use crate::ir::id::{Id, Var};
    use crate::ir::syntax::Atom;

    #[test]
    fn what_branches_yield_for_different_variables_is_found() {
        let vars = [0, 1, 2, 3, 4].map(Var::new);
        let [a, b, c, d, e] = vars.map(Atom::Var);
        let mut aliases = Aliases::default();
        let mut found = |branches: [[Atom; 2]; 2]| aliases.at_several(&branches.map(Vec::from));
        assert_eq!(found([[a, b], [c, d]]), [false, false]);
        assert_eq!(found([[a, b], [a, c]]), [false, false]);
        assert_eq!(found([[a, b], [c, a]]), [true, true]);
        assert_eq!(found([[a, a], [b, c]]), [true, true]);
        aliases.unite(vars[4], vars[0]);
        let mut found = |branches: [[Atom; 2]; 2]| aliases.at_several(&branches.map(Vec::from));
        assert_eq!(found([[a, b], [e, c]]), [false, false]);
        assert_eq!(found([[a, b], [c, e]]), [true, true]);
    }
}
