//! Places in memory, sets of them, and what a value of some type may share memory with.

use super::Var;
use crate::typed::{FunType, Sym, Type};
use midend::hash::HashMap;
use std::sync::Arc;

/// A variable or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Place(u32);

#[derive(Clone, Copy, Debug)]
struct Node {
    var: Var,
    /// The whole and which part of it this is.
    parent: Option<(Place, Step)>,
}

/// Which part of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Step {
    /// A component of a tuple or record, in the order of its type.
    Part(u32),
    /// A constructor, in the order of the type, and which of its values.
    Con(u32, u32),
}

/// All places of a definition.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    nodes: Vec<Node>,
    parts: HashMap<(Place, Step), Place>,
}

impl Places {
    /// A new place for a variable.
    pub(super) fn root(&mut self, var: Var) -> Place {
        self.push(Node { var, parent: None })
    }

    fn push(&mut self, node: Node) -> Place {
        let id = u32::try_from(self.nodes.len()).expect("a definition has fewer than 2^32 places");
        self.nodes.push(node);
        Place(id)
    }

    /// A part of a place.
    pub(super) fn part(&mut self, of: Place, step: Step) -> Place {
        if let Some(found) = self.parts.get(&(of, step)) {
            return *found;
        }
        let var = self.var(of);
        let parent = Some((of, step));
        let place = self.push(Node { var, parent });
        self.parts.insert((of, step), place);
        place
    }

    /// The variable that a place is a part of.
    pub(super) fn var(&self, place: Place) -> Var {
        self.nodes[place.0 as usize].var
    }

    /// The type of a place, given that of its variable.
    pub(super) fn type_at<'t>(&self, place: Place, ty: &'t Type) -> Option<&'t Type> {
        let Some((parent, step)) = self.nodes[place.0 as usize].parent else {
            return Some(ty);
        };
        match (self.type_at(parent, ty)?, step) {
            (Type::Tuple(ts), Step::Part(i)) => ts.get(i as usize),
            (Type::Record(fs), Step::Part(i)) => fs.get(i as usize).map(|(_, t)| t),
            (Type::Sum(cs), Step::Con(c, i)) => cs.get(c as usize)?.1.get(i as usize),
            (other, Step::Part(_) | Step::Con(..)) => Some(other),
        }
    }

    /// A place in both sets, be it that one holds only a part of what the other holds.
    pub(super) fn common(&self, a: &Set, b: &Set) -> Option<Place> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let within = |a: &Set, b: &Set| a.iter().find(|p| self.around(*p).any(|q| b.contains(q)));
        within(a, b).or_else(|| within(b, a))
    }

    /// A place and all that it is a part of.
    fn around(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(Some(place), |p| {
            self.nodes[p.0 as usize].parent.map(|(up, _)| up)
        })
    }
}

/// A set of places, sorted and shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set(Option<Arc<[Place]>>);

impl Set {
    pub(super) fn one(place: Place) -> Set {
        Set(Some(Arc::from([place])))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.0.iter().flat_map(|places| places.iter().copied())
    }

    pub(super) fn contains(&self, place: Place) -> bool {
        self.0
            .as_ref()
            .is_some_and(|places| places.binary_search(&place).is_ok())
    }

    /// The places that satisfy a condition.
    pub(super) fn filter(&self, keep: impl Fn(Place) -> bool) -> Set {
        let kept: Vec<Place> = self.iter().filter(|p| keep(*p)).collect();
        if kept.is_empty() {
            return Set(None);
        }
        Set(Some(kept.into()))
    }

    pub(super) fn union(&self, other: &Set) -> Set {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return if self.is_empty() {
                other.clone()
            } else {
                self.clone()
            };
        };
        if Arc::ptr_eq(a, b) || b.iter().all(|p| self.contains(*p)) {
            return self.clone();
        }
        let mut all: Vec<Place> = a.iter().chain(b.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        Set(Some(all.into()))
    }
}

/// What a value may share memory with, part by part as far as that is known.
#[derive(Clone, Debug, Default)]
pub(super) enum Als {
    /// Nothing.
    #[default]
    Fresh,
    /// Every part with each of these places.
    Any(Set),
    /// The value is that of the place, its parts are those of the place.
    At(Place),
    /// The components of a tuple or record, in the order of its type.
    Parts(Arc<[Als]>),
    /// The values of some constructors.
    Cons(Arc<[(Sym, Vec<Als>)]>),
    /// A function that captures these places, and its type with inferred marks.
    Fun(Set, Arc<FunType>),
}

impl Als {
    /// Every part with each of these places, for a value of this type.
    pub(super) fn any(set: Set, ty: &Type) -> Als {
        if set.is_empty() || !holds_memory(ty) {
            Als::Fresh
        } else {
            Als::Any(set)
        }
    }

    /// All places.
    pub(super) fn all(&self) -> Set {
        match self {
            Als::Fresh => Set::default(),
            Als::Any(set) | Als::Fun(set, _) => set.clone(),
            Als::At(place) => Set::one(*place),
            Als::Parts(parts) => parts.iter().fold(Set::default(), |s, p| s.union(&p.all())),
            Als::Cons(cons) => {
                let parts = cons.iter().flat_map(|(_, ps)| ps);
                parts.fold(Set::default(), |s, p| s.union(&p.all()))
            }
        }
    }

    /// Without the places that do not satisfy a condition.
    pub(super) fn filter(&self, keep: &impl Fn(Place) -> bool) -> Als {
        match self {
            Als::Fresh => Als::Fresh,
            Als::Any(set) => {
                let set = set.filter(keep);
                if set.is_empty() {
                    Als::Fresh
                } else {
                    Als::Any(set)
                }
            }
            Als::Fun(set, ty) => Als::Fun(set.filter(keep), Arc::clone(ty)),
            Als::At(place) => {
                if keep(*place) {
                    Als::At(*place)
                } else {
                    Als::Fresh
                }
            }
            Als::Parts(parts) => Als::Parts(parts.iter().map(|p| p.filter(keep)).collect()),
            Als::Cons(cons) => {
                let filtered = cons
                    .iter()
                    .map(|(c, ps)| (c.clone(), ps.iter().map(|p| p.filter(keep)).collect()));
                Als::Cons(filtered.collect())
            }
        }
    }
}

impl Places {
    /// A component, of this type, of a tuple or record.
    pub(super) fn component(&mut self, als: &Als, index: usize, ty: &Type) -> Als {
        self.step(als, Step::Part(index_u32(index)), None, ty)
    }

    /// A value, of this type, of a constructor of a sum type.
    pub(super) fn con_part(
        &mut self,
        als: &Als,
        con: &Sym,
        sum: &Type,
        index: usize,
        ty: &Type,
    ) -> Als {
        let at = match sum {
            Type::Sum(cs) => cs.iter().position(|(c, _)| c == con).unwrap_or(0),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => 0,
        };
        let step = Step::Con(index_u32(at), index_u32(index));
        self.step(als, step, Some(con), ty)
    }

    fn step(&mut self, als: &Als, step: Step, con: Option<&Sym>, ty: &Type) -> Als {
        if !holds_memory(ty) {
            return Als::Fresh;
        }
        match (als, step) {
            (Als::Fresh, _) => Als::Fresh,
            (Als::Any(set) | Als::Fun(set, _), _) => Als::Any(set.clone()),
            (Als::At(place), step) => Als::At(self.part(*place, step)),
            (Als::Parts(parts), Step::Part(i)) => {
                parts.get(i as usize).cloned().unwrap_or_default()
            }
            (Als::Cons(cons), Step::Con(_, i)) => cons
                .iter()
                .find(|(c, _)| Some(c) == con)
                .and_then(|(_, ps)| ps.get(i as usize))
                .cloned()
                .unwrap_or_default(),
            (Als::Parts(_) | Als::Cons(_), _) => Als::any(als.all(), ty),
        }
    }

    /// What the components of a value of a tuple or record type share memory with.
    pub(super) fn components(&mut self, als: &Als, ty: &Type) -> Option<Vec<(Als, Type)>> {
        let types: Vec<Type> = match ty {
            Type::Tuple(ts) => ts.to_vec(),
            Type::Record(fs) => fs.iter().map(|(_, t)| t.clone()).collect(),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => return None,
        };
        let parts = types.into_iter().enumerate();
        Some(
            parts
                .map(|(i, t)| (self.component(als, i, &t), t))
                .collect(),
        )
    }

    /// What either of two values of a type shares memory with.
    pub(super) fn either(&mut self, a: &Als, b: &Als, ty: &Type) -> Als {
        match (a, b) {
            (Als::Fresh, x) | (x, Als::Fresh) => return x.clone(),
            (Als::At(p), Als::At(q)) if p == q => return a.clone(),
            (Als::Any(x), Als::Any(y)) => return Als::any(x.union(y), ty),
            (Als::Fun(x, t), other) => return Als::Fun(x.union(&other.all()), Arc::clone(t)),
            (
                Als::Any(_) | Als::At(_) | Als::Parts(_) | Als::Cons(_),
                Als::Any(_) | Als::At(_) | Als::Parts(_) | Als::Cons(_) | Als::Fun(..),
            ) => {}
        }
        match ty {
            Type::Prim(_) => Als::Fresh,
            Type::Array(_) | Type::Named(_) | Type::Fun(_) | Type::Meta(_) => {
                Als::any(a.all().union(&b.all()), ty)
            }
            Type::Tuple(_) | Type::Record(_) => {
                let (xs, ys) = (self.components(a, ty), self.components(b, ty));
                let pairs = xs.into_iter().flatten().zip(ys.into_iter().flatten());
                let pairs: Vec<_> = pairs.collect();
                let parts = pairs.iter().map(|((x, t), (y, _))| self.either(x, y, t));
                Als::Parts(parts.collect())
            }
            Type::Sum(cs) => {
                let mut cons = Vec::new();
                for (con, ts) in cs.iter() {
                    let mut parts = Vec::new();
                    for (i, t) in ts.iter().enumerate() {
                        let x = self.con_part(a, con, ty, i, t);
                        let y = self.con_part(b, con, ty, i, t);
                        parts.push(self.either(&x, &y, t));
                    }
                    cons.push((con.clone(), parts));
                }
                Als::Cons(cons.into())
            }
        }
    }
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Whether values of the type have memory that they could share: not scalars.
pub(super) fn holds_memory(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) => false,
        Type::Array(_) | Type::Fun(_) | Type::Named(_) | Type::Meta(_) => true,
        Type::Tuple(ts) => ts.iter().any(holds_memory),
        Type::Record(fs) => fs.iter().any(|(_, t)| holds_memory(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(holds_memory)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_overlap_their_whole_but_not_each_other() {
        let mut places = Places::default();
        let whole = places.root(0);
        let other = places.root(1);
        let first = places.part(whole, Step::Part(0));
        let second = places.part(whole, Step::Part(1));
        assert_eq!(places.part(whole, Step::Part(0)), first);
        let common = |a, b| places.common(&Set::one(a), &Set::one(b)).is_some();
        assert!(common(whole, first) && common(first, whole) && common(first, first));
        assert!(!common(first, second) && !common(whole, other));
    }

    #[test]
    fn unions_share_what_they_can() {
        let mut places = Places::default();
        let (a, b) = (Set::one(places.root(0)), Set::one(places.root(1)));
        let both = a.union(&b);
        assert_eq!(both.iter().count(), 2);
        let again = both.union(&a);
        assert!(matches!((&both.0, &again.0), (Some(x), Some(y)) if Arc::ptr_eq(x, y)));
        assert_eq!(both.filter(|p| a.contains(p)), a);
    }
}
