//! Dense typed identifiers, the vectors they own and the side tables they index.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense identifier: a newtype over `u32`.
pub trait Id: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug + 'static {
    /// The identifier of row `index`.
    fn new(index: usize) -> Self;
    /// The row that this identifier names.
    fn index(self) -> usize;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl Id for $name {
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 identifiers of a kind"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A variable. Its name and type stand in [`super::syntax::Vars`].
    Var, "v"
);
id!(
    /// A function of a program.
    FunId, "f"
);
id!(
    /// A place in the source, a row of [`super::span::Spans`].
    SpanId, "s"
);

/// A vector that owns one row per identifier and hands identifiers out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdVec<I, T> {
    rows: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty vector.
    pub fn new() -> Self {
        Self {
            rows: Vec::new(),
            id: PhantomData,
        }
    }
    /// Appends a row and returns its identifier.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::new(self.rows.len() - 1)
    }
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// The row of `id`, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.index())
    }
    /// All identifiers, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::new)
    }
    /// All rows, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }
    /// All rows, in order, for editing.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }
    /// All rows with their identifiers, in order.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.rows
            .iter()
            .enumerate()
            .map(|(i, row)| (I::new(i), row))
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}

impl<I: Id, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(rows: It) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            id: PhantomData,
        }
    }
}

/// A side table: a fact about every identifier. Identifiers that were never set, also those made after the table,
/// have the default.
#[derive(Clone, Debug)]
pub struct IdMap<I, T> {
    rows: Vec<T>,
    default: T,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T: Clone> IdMap<I, T> {
    /// A table in which every identifier has the fact `default`.
    pub fn with_default(default: T) -> Self {
        Self {
            rows: Vec::new(),
            default,
            id: PhantomData,
        }
    }
    /// Sets the fact about `id`.
    pub fn set(&mut self, id: I, fact: T) {
        *self.entry(id) = fact;
    }
    /// The fact about `id`, for editing.
    pub fn entry(&mut self, id: I) -> &mut T {
        if self.rows.len() <= id.index() {
            self.rows.resize(id.index() + 1, self.default.clone());
        }
        &mut self.rows[id.index()]
    }
}

impl<I: Id, T: Clone + Default> IdMap<I, T> {
    /// A table in which every identifier has the default fact.
    pub fn new() -> Self {
        Self::with_default(T::default())
    }
}

impl<I: Id, T: Clone + Default> Default for IdMap<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for IdMap<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        self.rows.get(id.index()).unwrap_or(&self.default)
    }
}
