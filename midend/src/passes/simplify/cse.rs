//! Common subexpressions: an expression that was computed in this scope or around it is not computed again.
//!
//! ```text
//! let a = mul.i64(i, m)          let a = mul.i64(i, m)
//! let b = mul.i64(m, i)    ──►
//! let c = add.i64(b, j)          let c = add.i64(a, j)
//! ```
//!
//! Only what computes a scalar or an alias is merged: fresh arrays may each be consumed on their own. Nothing can
//! have been consumed in between, for then the second expression could not use it. The first computation must have had all
//! certificates of the second. Of equal ranges that operators traverse and nothing else reads is known that they are equal
//! ([`super::bodies`]); each stays, since operators that traverse one range are fused, and what they make would live longer.

use super::Simplify;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::types::{Dim, ScalarType, Size};
use crate::ir::walk::{all_stms, body_uses};

/// What identifies an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Scalar(ScalarOp, Vec<Atom>),
    Index(Vec<Atom>),
    /// Array, then for each dimension one atom and nothing, or start, length and stride.
    Slice(Vec<(Atom, Option<(Atom, Atom)>)>),
    Rearrange(Vec<usize>, Var),
    Reshape(Var, Vec<Dim>),
}

/// Length, start and step of a range, and its type.
pub(super) type Range = (Size, [Atom; 2], ScalarType);

impl<D: Dialect> Simplify<'_, D> {
    /// The variable that already has the value of this statement. If there is none, it is `v` from here on.
    pub(super) fn seen_before(&mut self, v: Var, stm: &Stm<D>) -> Option<Var> {
        if !self.rules.cse {
            return None;
        }
        let key = key(&stm.exp)?;
        if let Some(first) = self.seen.get(&key).copied() {
            let certs = self.defs.get(&first).map(|def| &def.certs[..]);
            let covered = |cert: &Var| certs.is_some_and(|certs| certs.contains(cert));
            if stm.certs.iter().all(covered) && self.same_row(first, v, &stm.exp) {
                fired(match key {
                    Key::Scalar(..) => "cse/scalar",
                    Key::Index(_) => "cse/index",
                    Key::Slice(_) => "cse/slice",
                    Key::Rearrange(..) => "cse/rearrange",
                    Key::Reshape(..) => "cse/reshape",
                });
                return Some(first);
            }
        }
        self.seen.insert(key, v);
        None
    }

    /// Notes of a range that operators alone traverse which earlier one it is equal to.
    pub(super) fn note_range(&mut self, v: Var, exp: &Exp<D>) {
        let Exp::Op(op) = exp else { return };
        if let Some(&ArrayOp::Iota {
            len,
            start,
            step,
            ty,
        }) = op.as_array()
            && self.only_traversed.contains(&v)
        {
            let range = (len, [start, step], ty);
            match self.traversed.get(&range).copied() {
                Some(first) => _ = self.equal_ranges.insert(v, first),
                None => self.traversed.insert(range, v),
            }
        }
    }

    /// Whether the two equal expressions have one type: two names of a row of a ragged array may name different sizes.
    fn same_row(&self, first: Var, v: Var, exp: &Exp<D>) -> bool {
        let Exp::Op(op) = exp else { return true };
        let Some(ArrayOp::Index { array, indices }) = op.as_array() else {
            return true;
        };
        let ragged = self.vars[*array].ty.shape().get(indices.len());
        !matches!(ragged, Some(Dim::Ragged(_))) || self.vars[first].ty == self.vars[v].ty
    }
}

fn key<D: Dialect>(exp: &Exp<D>) -> Option<Key> {
    match exp {
        Exp::Scalar(op, args) => {
            let mut args = args.clone();
            if commutes(*op) {
                args.sort_unstable();
            }
            Some(Key::Scalar(*op, args))
        }
        Exp::Op(op) if op.is_shareable() => array_key(op.as_array()?),
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    }
}

/// The ranges that operators traverse and nothing else reads.
pub(super) fn only_traversed<D: Dialect>(vars: &Vars, body: &Body<D>) -> HashSet<Var> {
    let mut others: HashMap<Var, usize> = HashMap::default();
    let mut binds = HashSet::default();
    all_stms(body, &mut |stm| {
        if let (Exp::Op(op), [v]) = (&stm.exp, &stm.binds[..])
            && let Some(ArrayOp::Iota { .. }) = op.as_array()
        {
            binds.insert(*v);
        }
    });
    if binds.is_empty() {
        return binds;
    }
    body_uses(vars, body, &mut |v| *others.entry(v).or_default() += 1);
    all_stms(body, &mut |stm| {
        if let Exp::Op(op) = &stm.exp {
            op.elements(&mut |_, array| *others.entry(array).or_default() -= 1);
        }
    });
    binds.retain(|v| others.get(v).is_none_or(|uses| *uses == 0));
    binds
}

fn array_key(op: &ArrayOp) -> Option<Key> {
    match op {
        ArrayOp::Index { array, indices } => {
            let mut key = vec![Atom::Var(*array)];
            key.extend(indices);
            Some(Key::Index(key))
        }
        ArrayOp::Slice { array, dims } => {
            let mut key = vec![(Atom::Var(*array), None)];
            key.extend(dims.iter().map(|dim| match *dim {
                SliceDim::Fix(i) => (i, None),
                SliceDim::Range { start, len, stride } => (start, Some((len.into(), stride))),
            }));
            Some(Key::Slice(key))
        }
        ArrayOp::Rearrange { perm, array } => Some(Key::Rearrange(perm.clone(), *array)),
        ArrayOp::Reshape { shape, array } => Some(Key::Reshape(*array, shape.clone())),
        ArrayOp::Update { .. }
        | ArrayOp::Literal { .. }
        | ArrayOp::Iota { .. }
        | ArrayOp::Replicate { .. }
        | ArrayOp::Scratch { .. }
        | ArrayOp::Copy(_)
        | ArrayOp::Concat { .. }
        | ArrayOp::Manifest { .. }
        | ArrayOp::Trace(_)
        | ArrayOp::Stream(_) => None,
    }
}

/// Whether the operands may be exchanged; of floats, too, since the bits of a NaN are unspecified.
fn commutes(op: ScalarOp) -> bool {
    match op {
        ScalarOp::Bin(op, _) => matches!(
            op,
            BinOp::Add
                | BinOp::Mul
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::Min
                | BinOp::Max
                | BinOp::MulHi
                | BinOp::AddSat
                | BinOp::MulSat
                | BinOp::Hypot
        ),
        ScalarOp::Cmp(op, _) => op == CmpOp::Eq,
        ScalarOp::Un(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::scalar::{all_operations, eval, same};
    use crate::ir::scalar::Const;
    use crate::ir::types::ScalarType;

    #[test]
    fn operands_that_are_exchanged_may_be() {
        let commuting = all_operations().into_iter().filter(|op| commutes(*op));
        let mut seen = 0;
        for op in commuting {
            let ty = op.operand(0);
            let [a, b] = [0, 7].map(|n| {
                let convert = ScalarOp::Convert(ScalarType::I64, ty);
                eval(convert, &[Const::I64(n)]).expect("a number")
            });
            let both = [[a, b], [b, a]].map(|args| eval(op, &args).expect("a value"));
            assert!(same(both[0], both[1]), "{op}: {both:?}");
            seen += 1;
        }
        assert!(seen > 50, "{seen} operations");
    }
}
