//! Simple facts about integers: which are not negative, and which are below a bound. They hold by construction of the
//! variable, or in the branch or loop at hand, so that what rests on them needs no certificate.
//!
//! The index of a loop, of a space, or of an `iota` that is mapped over is in `0..n`, and where it is in scope `n` is
//! positive. A size that is bound together with an array of this size is not negative, nor are the sizes of
//! parameters. `n - 1 - i`, `i % n`, `i / 2`, `min` and `max` of such are as well; `i + 1` and `i - 1` are where a branch
//! has excluded the last or the first index; a conditional is in the range that both its results are in.

use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Vars};
use crate::ir::types::Size;

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    not_negative: HashSet<Var>,
    below: HashMap<Var, Vec<Atom>>,
    /// `v = n - 1` by `v`.
    last: HashMap<Var, Atom>,
    /// `v = i + 1` by `v`.
    next: HashMap<Var, Atom>,
    /// What is never greater than the counter of its loop, with that.
    up_to: HashMap<Var, Atom>,
    /// The extents of matrices in memory, whose product is not negative. Of arrays with more dimensions the others may be zero.
    extents: HashSet<(Atom, Atom)>,
    /// What holds in the scope at hand only.
    scoped: Vec<Fact>,
}

/// What a branch or loop rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Positive(Atom),
    NotNegative(Atom),
    Below(Atom, Atom),
    /// The successor of the first is below the second.
    NextBelow(Atom, Atom),
}

/// The range of a value: whether it is not negative, and what it is below.
#[derive(Clone, Debug)]
pub struct Range {
    not_negative: bool,
    below: Vec<Atom>,
}

impl Ranges {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variable runs over `0..bound`. Where it is in scope the bound is positive.
    pub fn index(&mut self, v: Var, bound: Atom) {
        self.not_negative.insert(v);
        self.add_below(v, bound);
        self.scoped.push(Fact::Positive(bound));
    }

    /// How much is known of the scope at hand.
    pub fn mark(&self) -> usize {
        self.scoped.len()
    }

    /// Forgets what was learnt of the scope at hand since.
    pub fn undo(&mut self, mark: usize) {
        self.scoped.truncate(mark);
    }

    /// In the scope at hand, a comparison of integers comes out like this.
    pub fn compared(&mut self, op: CmpOp, a: Atom, b: Atom, holds: bool) {
        match (op, holds) {
            (CmpOp::Eq, true) => {}
            (CmpOp::Eq, false) => {
                self.differ(a, b);
                self.differ(b, a);
            }
            (CmpOp::Lt, true) => self.less(a, b),
            (CmpOp::Le, false) => self.less(b, a),
            (CmpOp::Le, true) => self.at_most(a, b),
            (CmpOp::Lt, false) => self.at_most(b, a),
        }
    }

    fn differ(&mut self, a: Atom, b: Atom) {
        if !self.is_not_negative(a) {
            return;
        }
        if b.as_const().and_then(integer) == Some(0) {
            self.scoped.push(Fact::Positive(a));
        }
        let last = b.as_var().and_then(|b| self.last.get(&b)).copied();
        if let Some(n) = last
            && self.is_below(a, n)
        {
            self.scoped.push(Fact::NextBelow(a, n));
        }
    }

    fn less(&mut self, a: Atom, b: Atom) {
        self.scoped.push(Fact::Below(a, b));
        if self.is_not_negative(a) {
            self.scoped.push(Fact::Positive(b));
        }
        let last = b.as_var().and_then(|b| self.last.get(&b)).copied();
        if let Some(n) = last
            && self.is_not_negative(a)
            && self.is_below(a, n)
        {
            self.scoped.push(Fact::NextBelow(a, n));
        }
    }

    fn at_most(&mut self, a: Atom, b: Atom) {
        if self.is_positive(a) {
            self.scoped.push(Fact::Positive(b));
        } else if self.is_not_negative(a) {
            self.scoped.push(Fact::NotNegative(b));
        }
    }

    /// The range of a value as far as it is known in the scope at hand.
    pub fn range(&self, a: Atom) -> Range {
        let mut below: Vec<Atom> = Vec::new();
        if let Atom::Var(v) = a {
            below.extend(self.below.get(&v).into_iter().flatten());
            if let Some(i) = self.next.get(&v) {
                below.extend(self.facts().filter_map(|fact| match fact {
                    Fact::NextBelow(j, n) if j == *i => Some(n),
                    Fact::NextBelow(..)
                    | Fact::Positive(_)
                    | Fact::NotNegative(_)
                    | Fact::Below(..) => None,
                }));
            }
        }
        let zero = a.as_const().and_then(integer) == Some(0);
        below.extend(self.facts().filter_map(|fact| match fact {
            Fact::Below(b, n) if a == b => Some(n),
            Fact::Positive(n) if zero => Some(n),
            Fact::Below(..) | Fact::Positive(_) | Fact::NotNegative(_) | Fact::NextBelow(..) => {
                None
            }
        }));
        below.truncate(16);
        Range {
            not_negative: self.is_not_negative(a),
            below,
        }
    }

    /// What a value is known to be below in the scope at hand.
    pub fn below(&self, a: Atom) -> Vec<Atom> {
        self.range(a).below
    }

    /// A variable is the first of these in one case and the second in the other; each range was found where its case
    /// holds.
    pub fn either(&mut self, v: Var, (a, of_a): (Atom, &Range), (b, of_b): (Atom, &Range)) {
        if of_a.not_negative && of_b.not_negative {
            self.size(v);
        }
        for bound in of_a.below.iter().chain(&of_b.below) {
            let below_a = of_a.below.contains(bound) || self.is_below(a, *bound);
            let below_b = of_b.below.contains(bound) || self.is_below(b, *bound);
            if below_a && below_b {
                self.add_below(v, *bound);
            }
        }
    }

    /// The innermost of the facts of the scope at hand; a few dozen are enough, and keep everything linear.
    fn facts(&self) -> impl Iterator<Item = Fact> {
        self.scoped.iter().rev().take(48).copied()
    }

    fn is_positive(&self, a: Atom) -> bool {
        match a {
            Atom::Const(c) => integer(c).is_some_and(|n| n > 0),
            Atom::Var(_) => self.facts().any(|fact| fact == Fact::Positive(a)),
        }
    }

    /// The variable is not negative.
    pub fn size(&mut self, v: Var) {
        self.not_negative.insert(v);
    }

    /// Sizes in the types of these variables are not negative if they are among `own` variables.
    pub fn sizes(&mut self, vars: &Vars, own: &[Var]) {
        for v in own {
            let mut before: Option<Size> = None;
            for dim in vars[*v].ty.shape() {
                if let Some(Size::Var(n)) = dim.size()
                    && own.contains(&n)
                {
                    self.size(n);
                    if let Some(m) = before
                        && vars[*v].ty.rank() == 2
                    {
                        self.extents.insert((m.into(), n.into()));
                    }
                }
                before = dim.size();
            }
        }
    }

    /// Learns from the scalar operation that defines a variable. Operations on other than integers teach nothing.
    pub fn define<D>(&mut self, v: Var, exp: &Exp<D>) {
        let Exp::Scalar(op, args) = exp else { return };
        match (*op, &args[..]) {
            (ScalarOp::Bin(op, ty), &[a, b]) if ty.is_signed() => self.define_bin(v, op, a, b),
            (ScalarOp::Convert(from, to), &[a]) if from.is_integer() && to.is_signed() => {
                let widens = to.bytes() > from.bytes();
                let keeps = widens || (to.bytes() == from.bytes() && from.is_signed());
                if (from.is_unsigned() && widens) || (keeps && self.is_not_negative(a)) {
                    self.size(v);
                }
                if from.is_unsigned() && widens {
                    self.add_below(v, Atom::i64(1 << (8 * from.bytes())));
                }
                if keeps {
                    self.inherit_constants(v, a);
                }
            }
            (
                ScalarOp::Un(..)
                | ScalarOp::Bin(..)
                | ScalarOp::Cmp(..)
                | ScalarOp::Tern(..)
                | ScalarOp::Convert(..)
                | ScalarOp::ToBits(_)
                | ScalarOp::FromBits(_)
                | ScalarOp::Select(_),
                _,
            ) => {}
        }
    }

    fn define_bin(&mut self, v: Var, op: BinOp, a: Atom, b: Atom) {
        let (a_low, b_low) = (self.is_not_negative(a), self.is_not_negative(b));
        if op == BinOp::Max && (a_low || b_low) || op == BinOp::Min && a_low && b_low {
            self.size(v);
        }
        if op == BinOp::Min {
            self.inherit_below(v, a);
            self.inherit_below(v, b);
        }
        // The remainder by a divisor that is not negative: it is not zero either, for that was checked before.
        if op == BinOp::Mod && b_low {
            self.index(v, b);
        }
        if matches!(op, BinOp::Div | BinOp::Quot) && a_low && positive(b) {
            self.size(v);
            self.inherit_below(v, a);
        }
        // What is below something is not the largest integer.
        if op == BinOp::Add && one(b) && a_low && self.has_bound(a)
            || op == BinOp::Add && one(a) && b_low && self.has_bound(b)
        {
            self.size(v);
        }
        if op == BinOp::Add && (one(a) || one(b)) {
            let i = if one(b) { a } else { b };
            self.next.insert(v, i);
            self.define_next(v, i);
        }
        if op == BinOp::Add && a_low {
            self.define_offset(v, a, b);
        }
        if op == BinOp::Mul && (self.extents.contains(&(a, b)) || self.extents.contains(&(b, a))) {
            self.size(v);
        }
        if op == BinOp::Sub && one(b) {
            self.last.insert(v, a);
            if a_low {
                self.add_below(v, a);
                self.inherit_below(v, a);
            }
        }
        if op == BinOp::Sub
            && b_low
            && let Some(n) = a.as_var().and_then(|a| self.last.get(&a)).copied()
            && self.is_below(b, n)
        {
            self.index(v, n);
        }
    }

    /// `v = i + 1`: below what `i + 1` is known not to reach.
    fn define_next(&mut self, v: Var, i: Atom) {
        let bounds = i.as_var().and_then(|i| self.below.get(&i)).cloned();
        for bound in bounds.into_iter().flatten() {
            match bound {
                Atom::Const(c) => {
                    let next = integer(c).and_then(|n| i64::try_from(n + 1).ok());
                    next.into_iter()
                        .for_each(|n| self.add_below(v, Atom::i64(n)));
                }
                Atom::Var(m) => {
                    let n = self.last.get(&m).copied();
                    n.into_iter().for_each(|n| self.add_below(v, n));
                }
            }
        }
    }

    /// `v = i + c` for a constant `c`: no sum wraps whose largest value is an integer of the type.
    fn define_offset(&mut self, v: Var, i: Atom, offset: Atom) {
        let (Some(i), Some(c)) = (i.as_var(), offset.as_const()) else {
            return;
        };
        let Some(offset) = integer(c).filter(|c| *c > 0) else {
            return;
        };
        let largest = (1_i128 << (8 * c.ty().bytes() - 1)) - 1;
        for bound in self.below.get(&i).cloned().into_iter().flatten() {
            let end = bound
                .as_const()
                .and_then(integer)
                .map(|bound| bound + offset);
            if let Some(end) = end.filter(|end| *end <= largest)
                && let Ok(end) = i64::try_from(end)
            {
                self.size(v);
                self.add_below(v, Atom::i64(end));
            }
        }
    }

    fn add_below(&mut self, v: Var, bound: Atom) {
        let bounds = self.below.entry(v).or_default();
        // A few are enough, and keep everything linear.
        if bounds.len() < 4 && !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }

    /// What is below a constant in a narrower type is below it.
    fn inherit_constants(&mut self, v: Var, from: Atom) {
        let bounds = from.as_var().and_then(|from| self.below.get(&from));
        for bound in bounds.cloned().into_iter().flatten() {
            if bound.as_const().is_some() {
                self.add_below(v, bound);
            }
        }
    }

    fn inherit_below(&mut self, v: Var, from: Atom) {
        let bounds = from
            .as_var()
            .and_then(|from| self.below.get(&from))
            .cloned();
        for bound in bounds.into_iter().flatten() {
            self.add_below(v, bound);
        }
    }

    /// The variable is never greater than this.
    pub fn up_to(&mut self, v: Var, most: Atom) {
        self.up_to.insert(v, most);
    }

    /// Whether `a <= b` is known of what loops carry.
    pub fn is_up_to(&self, a: Atom, b: Atom) -> bool {
        a.as_var().and_then(|v| self.up_to.get(&v)) == Some(&b)
    }

    fn has_bound(&self, a: Atom) -> bool {
        a.as_var().is_some_and(|v| self.below.contains_key(&v))
    }

    /// Whether the integer is known not to be negative.
    pub fn is_not_negative(&self, a: Atom) -> bool {
        match a {
            Atom::Const(c) => integer(c).is_some_and(|n| n >= 0),
            Atom::Var(v) => {
                let last_of = self.last.get(&v).copied();
                self.not_negative.contains(&v)
                    || last_of.is_some_and(|n| self.is_positive(n))
                    || self
                        .facts()
                        .any(|fact| fact == Fact::Positive(a) || fact == Fact::NotNegative(a))
            }
        }
    }

    /// Whether `a < b` is known.
    pub fn is_below(&self, a: Atom, b: Atom) -> bool {
        if a.as_const().and_then(integer) == Some(0) {
            return self.is_positive(b);
        }
        let Atom::Var(v) = a else { return false };
        let reaches = |bound: &Atom| match (*bound, b) {
            (Atom::Const(bound), Atom::Const(b)) => {
                matches!((integer(bound), integer(b)), (Some(bound), Some(b)) if bound <= b)
            }
            // What is not the last is below the number of all, from which one can be taken away if it is not negative.
            (Atom::Var(last), Atom::Var(_)) => {
                *bound == b || self.last.get(&last) == Some(&b) && self.is_not_negative(b)
            }
            (Atom::Const(_) | Atom::Var(_), _) => *bound == b,
        };
        let next = self.next.get(&v);
        self.below
            .get(&v)
            .is_some_and(|bounds| bounds.iter().any(reaches))
            || self.facts().any(|fact| match fact {
                Fact::Below(x, bound) => x == a && reaches(&bound),
                Fact::NextBelow(i, bound) => next == Some(&i) && reaches(&bound),
                Fact::Positive(_) | Fact::NotNegative(_) => false,
            })
    }
}

fn one(a: Atom) -> bool {
    a.as_const().and_then(integer) == Some(1)
}

fn positive(a: Atom) -> bool {
    a.as_const().and_then(integer).is_some_and(|n| n > 0)
}

/// The value of an integer constant.
pub fn integer(c: Const) -> Option<i128> {
    match c {
        Const::I8(n) => Some(n.into()),
        Const::I16(n) => Some(n.into()),
        Const::I32(n) => Some(n.into()),
        Const::I64(n) => Some(n.into()),
        Const::U8(n) => Some(n.into()),
        Const::U16(n) => Some(n.into()),
        Const::U32(n) => Some(n.into()),
        Const::U64(n) => Some(n.into()),
        Const::F16(_) | Const::F32(_) | Const::F64(_) | Const::Bool(_) => None,
    }
}
