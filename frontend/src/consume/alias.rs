//! What a value may share its memory with, by component.

use crate::typed::{Sym, Type};
use std::collections::{BTreeMap, BTreeSet};

/// A variable, or a part of one, whose memory a value may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alias {
    /// The variable.
    pub(super) id: u32,
    /// Whether it has gone out of scope: it can no longer be named, but two values that share it share memory.
    pub(super) free: bool,
    /// Which part of the variable, as a hash of the fields.
    pub(super) path: u64,
}

/// A set of aliases.
pub(super) type Set = BTreeSet<Alias>;

/// Aliases in the shape of a type.
#[derive(Clone, Debug)]
pub(super) enum Al {
    /// An array, a function, an abstract value; or a scalar, which aliases nothing.
    Leaf(Set),
    /// A tuple.
    Tuple(Vec<Al>),
    /// A record.
    Record(Vec<(Sym, Al)>),
    /// A sum.
    Sum(Vec<(Sym, Vec<Al>)>),
}

fn step(path: u64, field: &str) -> u64 {
    field
        .bytes()
        .chain([b'.'])
        .fold(path ^ 0xcbf2_9ce4_8422_2325, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        })
}

impl Al {
    /// Aliases in the shape of a type; `leaf` gives those of what is no scalar.
    fn build(ty: &Type, path: u64, leaf: &mut dyn FnMut(&Type, u64) -> Set) -> Al {
        match ty {
            Type::Prim(_) | Type::Meta(_) => Al::Leaf(Set::new()),
            Type::Array(_) | Type::Fun(_) | Type::Named(_) => Al::Leaf(leaf(ty, path)),
            Type::Tuple(ts) => Al::Tuple(
                ts.iter()
                    .enumerate()
                    .map(|(i, t)| Al::build(t, step(path, &i.to_string()), leaf))
                    .collect(),
            ),
            Type::Record(ts) => Al::Record(
                ts.iter()
                    .map(|(name, t)| (name.clone(), Al::build(t, step(path, name), leaf)))
                    .collect(),
            ),
            Type::Sum(cs) => Al::Sum(
                cs.iter()
                    .map(|(name, ts)| {
                        let ts = ts.iter().map(|t| Al::build(t, path, leaf)).collect();
                        (name.clone(), ts)
                    })
                    .collect(),
            ),
        }
    }

    /// No aliases.
    pub(super) fn none(ty: &Type) -> Al {
        Al::build(ty, 0, &mut |_, _| Set::new())
    }

    /// The same aliases everywhere.
    pub(super) fn all(ty: &Type, set: &Set) -> Al {
        Al::build(ty, 0, &mut |_, _| set.clone())
    }

    /// A variable: it aliases itself.
    pub(super) fn of_var(ty: &Type, id: u32) -> Al {
        Al::build(ty, 0, &mut |_, path| {
            let free = false;
            Set::from([Alias { id, free, path }])
        })
    }

    /// A variable of the top level: functions and abstract values there are not tracked.
    pub(super) fn of_global(ty: &Type, id: u32) -> Al {
        Al::build(ty, 0, &mut |ty, path| {
            if matches!(ty, Type::Array(_)) {
                let free = false;
                Set::from([Alias { id, free, path }])
            } else {
                Set::new()
            }
        })
    }

    /// Adds a variable that the value is bound to.
    pub(super) fn add_var(&mut self, ty: &Type, id: u32) {
        let own = Al::of_var(ty, id);
        *self = std::mem::replace(self, Al::Leaf(Set::new())).join(&own);
    }

    /// Every alias in one set.
    pub(super) fn set(&self) -> Set {
        let mut set = Set::new();
        self.collect(&mut set);
        set
    }

    /// Adds every alias to a set.
    pub(super) fn collect(&self, out: &mut Set) {
        match self {
            Al::Leaf(set) => out.extend(set),
            Al::Tuple(als) => als.iter().for_each(|a| a.collect(out)),
            Al::Record(als) => als.iter().for_each(|(_, a)| a.collect(out)),
            Al::Sum(cons) => {
                for (_, als) in cons {
                    als.iter().for_each(|a| a.collect(out));
                }
            }
        }
    }

    /// Aliases of a value that is one or the other.
    pub(super) fn join(self, other: &Al) -> Al {
        match (self, other) {
            (Al::Tuple(xs), Al::Tuple(ys)) if xs.len() == ys.len() => {
                Al::Tuple(xs.into_iter().zip(ys).map(|(x, y)| x.join(y)).collect())
            }
            (Al::Record(xs), Al::Record(ys)) if xs.len() == ys.len() => {
                let pairs = xs.into_iter().zip(ys);
                Al::Record(pairs.map(|((n, x), (_, y))| (n, x.join(y))).collect())
            }
            (Al::Sum(xs), Al::Sum(ys)) if xs.len() == ys.len() => {
                let pairs = xs.into_iter().zip(ys);
                let cons = pairs.map(|((n, xs), (_, ys))| {
                    let joined = xs.into_iter().zip(ys).map(|(x, y)| x.join(y));
                    (n, joined.collect())
                });
                Al::Sum(cons.collect())
            }
            (Al::Leaf(mut set), other) => {
                other.collect(&mut set);
                Al::Leaf(set)
            }
            (this, other) => {
                let mut set = this.set();
                other.collect(&mut set);
                Al::Leaf(set)
            }
        }
    }

    /// The same aliases, changed one by one or dropped.
    pub(super) fn map(&self, f: &mut dyn FnMut(Alias) -> Option<Alias>) -> Al {
        match self {
            Al::Leaf(set) => Al::Leaf(set.iter().copied().filter_map(f).collect()),
            Al::Tuple(als) => Al::Tuple(als.iter().map(|a| a.map(f)).collect()),
            Al::Record(als) => Al::Record(als.iter().map(|(n, a)| (n.clone(), a.map(f))).collect()),
            Al::Sum(cons) => Al::Sum(
                cons.iter()
                    .map(|(n, als)| (n.clone(), als.iter().map(|a| a.map(f)).collect()))
                    .collect(),
            ),
        }
    }

    /// These variables go out of scope.
    pub(super) fn unscope(&mut self, names: &BTreeSet<u32>) {
        if !names.is_empty() {
            *self = self.map(&mut |a| {
                let free = a.free || names.contains(&a.id);
                Some(Alias { free, ..a })
            });
        }
    }

    /// A component of a tuple.
    pub(super) fn component(&self, i: usize) -> Al {
        match self {
            Al::Tuple(als) => als.get(i).cloned().unwrap_or_else(|| Al::Leaf(Set::new())),
            Al::Leaf(_) | Al::Record(_) | Al::Sum(_) => Al::Leaf(self.set()),
        }
    }

    /// A field of a record.
    pub(super) fn field(&self, name: &Sym) -> Al {
        match self {
            Al::Record(als) => als
                .iter()
                .find(|(n, _)| n == name)
                .map_or_else(|| Al::Leaf(Set::new()), |(_, a)| a.clone()),
            Al::Leaf(_) | Al::Tuple(_) | Al::Sum(_) => Al::Leaf(self.set()),
        }
    }

    /// A payload of a constructor.
    pub(super) fn payload(&self, con: &Sym, i: usize) -> Al {
        match self {
            Al::Sum(cons) => cons
                .iter()
                .find(|(n, _)| n == con)
                .and_then(|(_, als)| als.get(i).cloned())
                .unwrap_or_else(|| Al::Leaf(Set::new())),
            Al::Leaf(_) | Al::Tuple(_) | Al::Record(_) => Al::Leaf(self.set()),
        }
    }

    /// The parts that are values of their own: a tuple's components and a record's fields.
    pub(super) fn parts(&self, out: &mut Vec<Set>) {
        match self {
            Al::Tuple(als) => als.iter().for_each(|a| a.parts(out)),
            Al::Record(als) => als.iter().for_each(|(_, a)| a.parts(out)),
            Al::Leaf(_) | Al::Sum(_) => out.push(self.set()),
        }
    }

    /// Variables that components which are values of their own share.
    pub(super) fn shared(&self) -> BTreeSet<u32> {
        let mut count: BTreeMap<u32, usize> = BTreeMap::new();
        let mut parts = Vec::new();
        self.parts(&mut parts);
        for part in parts {
            let ids: BTreeSet<u32> = part.iter().map(|a| a.id).collect();
            for id in ids {
                *count.entry(id).or_default() += 1;
            }
        }
        let shared = count.into_iter().filter(|(_, n)| *n > 1);
        shared.map(|(id, _)| id).collect()
    }
}
