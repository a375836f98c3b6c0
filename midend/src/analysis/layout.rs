//! Which arrays a parallel operation would rather have in another order of dimensions in memory (thesis 9.1).
//!
//! ```text
//! segmap device (i < n) {
//!   loop .. for k < m {
//!     x = index a[i, k]      i apart, k next: neighbours read far apart, so that `a` is wanted with `i` innermost
//!     y = index b[k, i]      i next: fine
//!     z = index c[k, q]      i same: fine
//!     u = index d[s, k]      where s = index e[i]: `d` stays as it is
//! ```
//!
//! A copy in another order has to pay: some read that no condition is in the way of must go along every dimension, with an
//! index or a counter, so that all or most of the array is read. How far counters go may only be known at run time; then it is
//! compared there ([`Wish::halves`]).

use super::access::{Access, Growth, Read, access};
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{body_binders, body_uses, deep};

/// The dimensions of an array in the order in which they lie in memory, outermost first.
pub type Order = Vec<usize>;

/// What an operation would rather have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The array.
    pub array: Var,
    /// The order of its dimensions in memory.
    pub order: Order,
    /// The dimension along which neighbours read.
    pub along: usize,
    /// How often points go through their parts of the array, if that is known outside and each time they go through all.
    pub again: Option<Atom>,
    /// How many steps go along a dimension, and its extent, where these need not be equal: less than half is too few.
    pub halves: Vec<(Atom, Atom)>,
}

/// The row-major order.
pub fn row_major(rank: usize) -> Order {
    (0..rank).collect()
}

/// The extents of a regular array; nothing for anything else.
pub fn extents(ty: &Type) -> Option<Vec<Atom>> {
    let regular = ty.shape().iter().map(|dim| dim.size().map(Atom::from));
    ty.is_array().then(|| regular.collect()).flatten()
}

/// What an operation would rather have, where `order` tells how an array lies in memory. With `eager`, it is enough for an array
/// that all of it is read; else it must be read in a loop.
pub fn wishes(
    vars: &Vars,
    op: &Seg,
    order: &dyn Fn(Var) -> Order,
    eager: &dyn Fn(Var) -> bool,
) -> Vec<Wish> {
    let Seg::Par(par) = op else {
        return Vec::new();
    };
    let Some(reader) = Reader::of(vars, par) else {
        return Vec::new();
    };
    let mut written = HashSet::default();
    op.operands(&mut |a| written.extend(a.as_var()));
    let mut arrays = reader.arrays(vars, &par.body);
    arrays.retain(|v| !written.contains(v));
    let wish = |&array: &Var| reader.wish(vars, array, &order(array), eager(array));
    arrays.iter().filter_map(wish).collect()
}

/// What is known of the body of an operation.
struct Reader {
    access: Access,
    indices: Vec<Var>,
    lane: Var,
    /// How far indices and counters go, where that is known outside.
    ends: HashMap<Var, Atom>,
    /// What every point binds that comes into the body, or the loops around it at all.
    always: HashSet<Var>,
    /// Parameters of loops that grow by one in each step.
    steppers: HashSet<Var>,
}

impl Reader {
    fn of(vars: &Vars, op: &SegOp) -> Option<Self> {
        let indices: Vec<Var> = op.space.dims.iter().map(|(i, _)| *i).collect();
        let mut reader = Self {
            access: access(vars, &indices, &op.body),
            lane: *indices.last()?,
            indices,
            ends: HashMap::default(),
            always: HashSet::default(),
            steppers: HashSet::default(),
        };
        for (index, dim) in &op.space.dims {
            match dim {
                SpaceDim::Regular(size) => reader.ends.insert(*index, (*size).into()),
                SpaceDim::Ragged { .. } => return None,
            };
        }
        let mut inside = HashSet::default();
        body_binders(&op.body, &mut |v| {
            inside.insert(v);
        });
        reader.look(vars, &op.body, &inside);
        Some(reader)
    }

    /// Goes through the statements that no condition is in the way of.
    fn look(&mut self, vars: &Vars, body: &Body<Seg>, inside: &HashSet<Var>) {
        for stm in &body.stms {
            self.always.extend(stm.binds.iter().copied());
            let Exp::Loop { params, form, body } = &stm.exp else {
                continue;
            };
            if let LoopForm::For { index, bound } = form
                && vars[*index].ty == Type::I64
                && !bound.as_var().is_some_and(|v| inside.contains(&v))
            {
                self.ends.insert(*index, *bound);
            }
            for (param, next) in params.iter().zip(&body.result) {
                if grows(body, param.var, *next) {
                    self.steppers.insert(param.var);
                }
            }
            deep(|| self.look(vars, body, inside));
        }
    }

    /// The arrays from outside of which the body reads single elements and nothing else, in order.
    fn arrays(&self, vars: &Vars, body: &Body<Seg>) -> Vec<Var> {
        let mut uses: HashMap<Var, usize> = HashMap::default();
        body_uses(vars, body, &mut |v| *uses.entry(v).or_default() += 1);
        body_binders(body, &mut |v| {
            uses.remove(&v);
        });
        let mut reads: Vec<(Var, usize)> = Vec::new();
        for read in &self.access.reads {
            let is_element = matches!(vars[read.var].ty, Type::Scalar(_));
            match reads.iter_mut().find(|(v, _)| *v == read.array) {
                Some((_, count)) => *count += usize::from(is_element),
                None => reads.push((read.array, usize::from(is_element))),
            }
        }
        reads.retain(|(v, count)| uses.get(v) == Some(count));
        reads.into_iter().map(|(v, _)| v).collect()
    }

    fn wish(&self, vars: &Vars, array: Var, now: &Order, eager: bool) -> Option<Wish> {
        let extents = extents(&vars[array].ty).filter(|extents| extents.len() > 1)?;
        let reads: Vec<&Read> = self.reads_of(array).collect();
        let mut along = None;
        for read in &reads {
            match (self.along(read)?, along) {
                (None, _) => {}
                (Some(d), None) => along = Some(d),
                (Some(d), Some(other)) if d == other => {}
                (Some(_), Some(_)) => return None,
            }
        }
        let along = along.filter(|d| now.last() != Some(d))?;
        let pays = |read: &&&Read| self.pays(read, along, &extents, eager);
        let read = reads.iter().find(pays)?;
        let mut halves = Vec::new();
        for (form, extent) in read.indices.iter().zip(&extents) {
            let mut on = form.vars();
            if let (Some(v), None) = (on.next(), on.next())
                && let Some(end) = self.ends.get(&v)
                && end != extent
            {
                halves.push((*end, *extent));
            }
        }
        Some(Wish {
            array,
            order: self.order(read, along, now),
            along,
            again: self.again(read),
            halves,
        })
    }

    fn reads_of(&self, array: Var) -> impl Iterator<Item = &Read> {
        self.access.reads.iter().filter(move |r| r.array == array)
    }

    /// The dimension along which neighbours read neighbouring elements, if they do not read the same; nothing at all if they
    /// read somewhere else, or if another index or counter leads anywhere.
    fn along(&self, read: &Read) -> Option<Option<usize>> {
        let mut along = None;
        for (d, form) in read.indices.iter().enumerate() {
            let leads_anywhere =
                |v: Var| form.growth(v) == Some(Growth::Any) && !self.steppers.contains(&v);
            if form.vars().any(leads_anywhere) {
                return None;
            }
            match (form.growth(self.lane), along) {
                (None, _) => {}
                (Some(Growth::By(1 | -1)), None) => along = Some(d),
                (Some(_), _) => return None,
            }
        }
        Some(along)
    }

    /// Whether a read goes through the whole array.
    fn pays(&self, read: &Read, along: usize, extents: &[Atom], eager: bool) -> bool {
        let of_point = |v: Var| self.indices.contains(&v);
        let mut others = read.indices.iter().zip(extents).enumerate();
        let in_loop = read.indices.iter().any(|form| !form.vars().all(of_point));
        let moves =
            others.all(|(d, (form, extent))| d == along || !form.is_same() || *extent == Atom::ONE);
        self.always.contains(&read.var)
            && read.indices[along].growth(self.lane).is_some()
            && moves
            && (eager || in_loop)
    }

    /// The steps of a loop around a read that do not change its place.
    fn again(&self, read: &Read) -> Option<Atom> {
        let changes = |v: Var| read.indices.iter().any(|f| f.growth(v).is_some());
        if self.steppers.iter().any(|v| changes(*v)) {
            return None;
        }
        let mut stay = read.counters.iter().filter(|counter| !changes(**counter));
        stay.find_map(|counter| self.ends.get(counter).copied())
    }

    /// Dimensions that stay, or that loops go along, outermost, as they are; then those of the indices of the space, as these are
    /// ordered.
    fn order(&self, read: &Read, along: usize, now: &Order) -> Order {
        let place = |d: &usize| {
            let form = &read.indices[*d];
            let last = self.indices.iter().rposition(|i| form.growth(*i).is_some());
            if *d == along { Some(usize::MAX) } else { last }
        };
        let mut order = now.clone();
        order.sort_by_key(place);
        order
    }
}

/// Whether a parameter of a loop is one more in the next step.
fn grows(body: &Body<Seg>, param: Var, next: Atom) -> bool {
    let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
    let one = Atom::Const(Const::I64(1));
    body.stms.iter().any(|stm| {
        stm.binds.iter().any(|v| next == (*v).into())
            && matches!(&stm.exp, Exp::Scalar(op, args)
                if *op == add && (args[..] == [param.into(), one] || args[..] == [one, param.into()]))
    })
}

/// Whether a result of a map is a row that each point writes element by element.
pub fn is_written(body: &Body<Seg>, result: Atom) -> bool {
    let Some(mut var) = result.as_var() else {
        return false;
    };
    while let Some(stm) = body.stms.iter().find(|stm| stm.binds.contains(&var)) {
        match &stm.exp {
            Exp::Loop { .. } => return true,
            Exp::Atom(Atom::Var(v)) => var = *v,
            Exp::Op(Seg::Array(
                ArrayOp::Update { array, .. } | ArrayOp::Rearrange { array, .. },
            )) => var = *array,
            Exp::Atom(Atom::Const(_))
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return false,
        }
    }
    false
}
