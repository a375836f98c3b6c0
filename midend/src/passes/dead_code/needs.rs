//! Which results of an operation need what, and how to leave results out.

use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body};

/// Operations as seen by liveness: results come in groups that live or die together.
pub trait Needs: Dialect {
    /// The group of each of the `binds` results.
    fn groups(&self, binds: usize) -> Vec<usize>;

    /// Calls `f` on what the results of a group need, in the operation and from its bodies.
    fn group_needs(&self, group: usize, f: &mut dyn FnMut(Atom));

    /// Calls `f` on what the operation needs if it stays at all.
    fn control(&self, f: &mut dyn FnMut(Atom));

    /// Leaves out groups without living results, and inputs that are not read.
    fn prune(&mut self, binds: &mut Vec<Var>, live: &dyn Fn(Var) -> bool);
}

/// Everything that an operation has: for operations whose results live and die together.
fn everything<D: Dialect>(op: &D, f: &mut dyn FnMut(Atom)) {
    op.operands(f);
    op.scopes(&mut |_, body| body.result.iter().for_each(|a| f(*a)));
}

/// Groups of results that begin with those of operators; each further result is a group of its own.
fn operator_groups<D>(ops: &[&[Operator<D>]], binds: usize) -> Vec<usize> {
    let mut groups: Vec<usize> = Vec::new();
    let all = ops.iter().copied().flatten();
    for (i, op) in all.enumerate() {
        groups.extend(std::iter::repeat_n(i, op.neutral.len()));
    }
    let operators: usize = ops.iter().map(|ops| ops.len()).sum();
    let mapped = binds.saturating_sub(groups.len());
    groups.extend(operators..operators + mapped);
    groups.truncate(binds);
    groups
}

/// What a group of these needs: the results that feed it, and all of its operator.
fn operator_needs<D>(
    ops: &[&[Operator<D>]],
    body: &Body<D>,
    group: usize,
    f: &mut dyn FnMut(Atom),
) {
    let groups = operator_groups(ops, body.result.len());
    let of_group = body
        .result
        .iter()
        .zip(&groups)
        .filter(|(_, g)| **g == group);
    of_group.for_each(|(a, _)| f(*a));
    if let Some(op) = ops.iter().copied().flatten().nth(group) {
        op.neutral
            .iter()
            .chain(&op.lam.body.result)
            .for_each(|a| f(*a));
    }
}

/// Leaves out dead groups of results.
fn prune_results<D>(
    ops: &mut [&mut Vec<Operator<D>>],
    body: &mut Body<D>,
    binds: &mut Vec<Var>,
    live: &dyn Fn(Var) -> bool,
) {
    let views: Vec<&[Operator<D>]> = ops.iter().map(|ops| ops.as_slice()).collect();
    let groups = operator_groups(&views, binds.len());
    let lives = |group: usize| {
        let mut of_group = binds.iter().zip(&groups).filter(|(_, g)| **g == group);
        of_group.any(|(v, _)| live(*v))
    };
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let kept: Vec<bool> = (0..count).map(lives).collect();
    let mut i = 0;
    for ops in ops {
        ops.retain(|_| {
            i += 1;
            kept.get(i - 1).copied().unwrap_or(true)
        });
    }
    let mut keep = groups.iter().map(|g| kept[*g]);
    body.result.retain(|_| keep.next().unwrap_or(true));
    let mut keep = groups.iter().map(|g| kept[*g]);
    binds.retain(|_| keep.next().unwrap_or(true));
}

/// Leaves out inputs whose elements are not read.
fn prune_inputs(arrays: &mut Vec<Var>, params: &mut Vec<Var>, live: &dyn Fn(Var) -> bool) {
    let mut keep = params.clone().into_iter().map(live);
    arrays.retain(|_| keep.next().unwrap_or(true));
    params.retain(|p| live(*p));
}

impl Needs for Soac {
    fn groups(&self, binds: usize) -> Vec<usize> {
        match self {
            Self::Screma { scans, reds, .. } => operator_groups(&[scans, reds], binds),
            Self::Filter { .. } => (0..binds).collect(),
            // Offsets and total stay together; they are what the first result gives.
            Self::FlatMap { .. } => (0..binds).map(|i| i.saturating_sub(1)).collect(),
            Self::Array(_)
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => vec![0; binds],
        }
    }

    fn group_needs(&self, group: usize, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Screma {
                lam, scans, reds, ..
            } => operator_needs(&[scans, reds], &lam.body, group, f),
            Self::Filter { lam, .. } | Self::FlatMap { lam, .. } => {
                lam.body.result.get(group).into_iter().for_each(|a| f(*a))
            }
            Self::Array(_)
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => everything(self, f),
        }
    }

    fn control(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Screma { width, .. } => f((*width).into()),
            Self::Filter { width, lam, .. } | Self::FlatMap { width, lam, .. } => {
                if let Self::FlatMap { marks, .. } = self {
                    f((*marks).into());
                }
                f((*width).into());
                lam.body.result.first().into_iter().for_each(|a| f(*a));
            }
            Self::Array(_)
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => everything(self, f),
        }
    }

    fn prune(&mut self, binds: &mut Vec<Var>, live: &dyn Fn(Var) -> bool) {
        match self {
            Self::Screma {
                width: _,
                arrays,
                lam,
                scans,
                reds,
            } => {
                prune_results(&mut [scans, reds], &mut lam.body, binds, live);
                prune_inputs(arrays, &mut lam.params, live);
            }
            Self::Filter {
                width: _,
                arrays,
                lam,
            } => {
                // The number of elements stays, whether it is read or not, and the first result says which they are.
                keep_live(1, binds, &mut lam.body.result, live);
                prune_inputs(arrays, &mut lam.params, live);
            }
            Self::FlatMap {
                width: _,
                arrays,
                lam,
                rows,
                marks: _,
            } => {
                // Offsets and total stay, and the first result that gives them.
                *rows = binds[2..2 + *rows].iter().filter(|v| live(**v)).count();
                keep_live(2, binds, &mut lam.body.result, live);
                prune_inputs(arrays, &mut lam.params, live);
            }
            Self::Array(_)
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => {}
        }
    }
}

/// Drops the arrays that nobody reads, and what the lambda yields for them. Its first result gives the first names, so many, and
/// each further one an array.
fn keep_live(
    first: usize,
    binds: &mut Vec<Var>,
    results: &mut Vec<Atom>,
    live: &dyn Fn(Var) -> bool,
) {
    let arrays = binds.split_off(first);
    let elements = results.split_off(1);
    let kept = arrays.into_iter().zip(elements).filter(|(v, _)| live(*v));
    kept.for_each(|(v, element)| {
        binds.push(v);
        results.push(element);
    });
}

impl Needs for Seg {
    fn groups(&self, binds: usize) -> Vec<usize> {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => vec![0; binds],
            Self::Par(op) => match &op.kind {
                SegKind::Map | SegKind::Filter => (0..binds).collect(),
                SegKind::Red(ops) | SegKind::Scan(ops) => operator_groups(&[ops], binds),
                SegKind::Hist(_) | SegKind::Scatter(_) | SegKind::WithAcc(_) => vec![0; binds],
            },
        }
    }

    fn group_needs(&self, group: usize, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => everything(self, f),
            Self::Par(op) => match &op.kind {
                SegKind::Map => operator_needs(&[], &op.body, group, f),
                SegKind::Filter => op.body.result.get(group).into_iter().for_each(|a| f(*a)),
                SegKind::Red(ops) | SegKind::Scan(ops) => {
                    operator_needs(&[ops], &op.body, group, f);
                }
                SegKind::Hist(_) | SegKind::Scatter(_) | SegKind::WithAcc(_) => {
                    everything(self, f);
                }
            },
        }
    }

    fn control(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => everything(self, f),
            Self::Par(op) => match &op.kind {
                SegKind::Map | SegKind::Red(_) | SegKind::Scan(_) => {
                    op.space.extents(&mut |a| f(a));
                }
                SegKind::Filter => {
                    op.space.extents(&mut |a| f(a));
                    op.body.result.first().into_iter().for_each(|&a| f(a));
                }
                SegKind::Hist(_) | SegKind::Scatter(_) | SegKind::WithAcc(_) => {
                    everything(self, f);
                }
            },
        }
    }

    fn prune(&mut self, binds: &mut Vec<Var>, live: &dyn Fn(Var) -> bool) {
        let Self::Par(op) = self else { return };
        match &mut op.kind {
            SegKind::Map => prune_results(&mut [], &mut op.body, binds, live),
            // The number of elements stays, as above.
            SegKind::Filter => keep_live(1, binds, &mut op.body.result, live),
            SegKind::Red(ops) | SegKind::Scan(ops) => {
                prune_results(&mut [ops], &mut op.body, binds, live);
            }
            SegKind::Hist(_) | SegKind::Scatter(_) | SegKind::WithAcc(_) => {}
        }
    }
}

impl Needs for Mem {
    fn groups(&self, binds: usize) -> Vec<usize> {
        vec![0; binds]
    }

    fn group_needs(&self, _group: usize, f: &mut dyn FnMut(Atom)) {
        everything(self, f);
    }

    fn control(&self, f: &mut dyn FnMut(Atom)) {
        everything(self, f);
    }

    fn prune(&mut self, _binds: &mut Vec<Var>, _live: &dyn Fn(Var) -> bool) {}
}
