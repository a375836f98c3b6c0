//! Points inside of their rows: neighbours of a point at an end of a row are looked for elsewhere, or not at all, but all
//! points between have them where they have them. For these, whatever depends on where in its row a point is comes out the
//! same way, so that they are worked on in lanes; the others are worked on one by one.
//!
//! ```text
//! let l = max.i64(i - 1, 0)                          let x = load a[i - 1]
//! let x = load a[l]                     1 <= i:
//! let r = i + 1                                      let y = load a[i + 1]
//! assert r < n                          i < n - 1:
//! let y = load a[r]
//! ```
//!
//! A comparison of the index is assumed to come out as it does far from the start and the end of a row: the index is
//! larger than constants, smaller than sizes, and equal to nothing.

mod bounds;
mod lift;
mod outside;
mod sums;
mod used;
mod usual;

use super::choose::{plan, plan_reduction};
use super::functions::InLanes;
use super::large::is_large;
use super::lookup::looking_up;
use super::plan::Plan;
use crate::emit::control::is_cheap_scalar;
pub(in crate::emit) use lift::Lifted;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::rename::Subst;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, body_binders};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use sums::{Sum, number};
pub(in crate::emit) use usual::Usual;

/// The most bounds of the inside of a row.
const BOUNDS: usize = 12;

/// The inside of rows.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Interior {
    /// What points inside do.
    pub(in crate::emit) kernel: Kernel,
    /// What bounds are made of, executed once for each row.
    early: Vec<Stm<Mem>>,
    bounds: Vec<Bound>,
    /// What points inside of most rows do, if that is less.
    pub(in crate::emit) usual: Option<Usual>,
}

/// What holds for the innermost index inside.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bound {
    /// It is this at least.
    From(Sum),
    /// It is less.
    Below(Sum),
    /// It differs.
    Not(Sum),
}

/// The plan for a map, for all of its points or for those inside. `tables` are the buffers of known lengths, where elements of such may be
/// looked up in registers.
pub(in crate::emit) fn map_plan(
    kernel: &Kernel,
    vars: &Vars,
    (asked, tables, functions): (usize, &BTreeMap<Var, i64>, &InLanes),
) -> Option<(Plan, Option<Interior>)> {
    if !matches!(kernel.kind, KernelKind::Map) {
        return None;
    }
    let plan = |kernel: &Kernel| {
        let with_tables = looking_up(kernel, vars, (asked, tables));
        with_tables.or_else(|| plan(kernel, vars, (asked, functions)))
    };
    let whole = plan(kernel);
    if let Some(whole) = &whole
        && !(whole.gathers || whole.by_vectors)
    {
        return Some((whole.clone(), None));
    }
    // Inside, what has to be gathered else may lie side by side. Where a row is cut at its own number, most is done on one side.
    let sides = [true, false].map(|before| {
        let mut inside = interior(kernel, before)?;
        let plan_inside = plan(&inside.kernel)?;
        inside.keep_usual(&plan_inside, plan);
        Some((plan_inside, Some(inside)))
    });
    let [before, behind] = sides;
    let size = |inside: &(Plan, Option<Interior>)| inside.1.as_ref().map(|i| size(&i.kernel.body));
    let inside = match (before, behind) {
        (Some(before), Some(behind)) if size(&before) < size(&behind) => Some(behind),
        (before, behind) => before.or(behind),
    };
    inside.or_else(|| Some((whole?, None)))
}

/// The statements of a body.
fn size(body: &Body<Mem>) -> usize {
    let mut count = 0;
    all_stms(body, &mut |_| count += 1);
    count
}

/// The same for a reduction of ragged rows, of which those that are inside as a whole count. There may be no plan.
pub(in crate::emit) fn reduction_plan(
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    vars: &Vars,
    asked: usize,
) -> (Option<Plan>, Option<Interior>) {
    let whole = plan_reduction(kernel, ops, vars, asked);
    if whole.is_some() {
        return (whole, None);
    }
    let inside = interior(kernel, true);
    let plan = inside.as_ref();
    let plan = plan.and_then(|inside| plan_reduction(&inside.kernel, ops, vars, asked));
    (plan, inside)
}

/// What the points inside of the rows of a map or of a reduction do, if that is less than what others do. Where a row is cut at its own
/// number, that of an outer dimension, inside is what is `before`, or else what is behind.
fn interior(kernel: &Kernel, before: bool) -> Option<Interior> {
    let ((index, _), rows) = kernel.space.split_last()?;
    if is_large(&kernel.body) {
        return None;
    }
    let (index, rows) = (*index, rows.iter().map(|(row, _)| *row).collect());
    let mut inside = BTreeSet::from([index]);
    body_binders(&kernel.body, &mut |v| {
        inside.insert(v);
    });
    let walk = |subst| Walk {
        inside: inside.clone(),
        sums: HashMap::from([(index, Sum::index())]),
        subst,
        early: Vec::new(),
        bounds: Vec::new(),
        loads: HashMap::new(),
        depth: 0,
        rows: BTreeSet::clone(&rows),
        before,
    };
    let mut first = walk(Subst::new());
    let body = first.all(&kernel.body)?;
    if first.bounds.is_empty() || first.bounds.len() > BOUNDS {
        return None;
    }
    let kernel = Kernel {
        body,
        ..kernel.clone()
    };
    let usual = first.usual(&kernel, walk);
    let Walk { early, bounds, .. } = first;
    Some(Interior {
        kernel,
        early,
        bounds,
        usual,
    })
}

/// Goes through a body and simplifies it by what holds inside.
struct Walk {
    /// What is not known at the start of a row.
    inside: BTreeSet<Var>,
    sums: HashMap<Var, Sum>,
    subst: Subst,
    early: Vec<Stm<Mem>>,
    bounds: Vec<Bound>,
    /// Where every point reads each buffer, so far.
    loads: HashMap<Var, Vec<Sum>>,
    /// How many bodies are around the statement at hand that not every point may come to, or not once.
    depth: usize,
    /// The outer indices, and on which side of them the inside is.
    rows: BTreeSet<Var>,
    before: bool,
}

impl Walk {
    /// A whole body, without what nothing inside needs.
    fn all(&mut self, body: &Body<Mem>) -> Option<Body<Mem>> {
        let mut body = self.body(body)?;
        used::prune(&mut body, &mut BTreeSet::new());
        Some(body)
    }

    fn body(&mut self, body: &Body<Mem>) -> Option<Body<Mem>> {
        let mut stms = Vec::new();
        for stm in &body.stms {
            self.stm(stm, &mut stms)?;
        }
        let result = body.result.iter().map(|atom| self.subst.atom(*atom));
        let result = result.collect();
        Some(Body { stms, result })
    }

    fn stm(&mut self, stm: &Stm<Mem>, out: &mut Vec<Stm<Mem>>) -> Option<()> {
        let mut stm = stm.clone();
        stm.exp.map_operands(&mut |atom| self.subst.atom(atom));
        match &mut stm.exp {
            Exp::Atom(atom) => {
                self.subst.insert(stm.binds[0], *atom);
                return Some(());
            }
            Exp::Scalar(op, args) => {
                if let Some(atom) = self.folded(stm.binds[0], *op, args) {
                    self.subst.insert(stm.binds[0], atom);
                    return Some(());
                }
                let (op, known) = (*op, args.iter().all(|arg| self.is_early(*arg)));
                if known && self.depth == 0 && is_cheap_scalar(op, args) {
                    self.inside.remove(&stm.binds[0]);
                    self.early.push(stm.clone());
                }
            }
            Exp::Assert {
                cond: Atom::Const(Const::Bool(holds)),
                ..
            } => return holds.then_some(()),
            Exp::If {
                cond: Atom::Const(Const::Bool(holds)),
                then,
                otherwise,
            } => {
                let side = if *holds { then } else { otherwise };
                for stm in &side.stms {
                    self.stm(stm, out)?;
                }
                for (bind, result) in stm.binds.iter().zip(&side.result) {
                    self.subst.insert(*bind, self.subst.atom(*result));
                }
                return Some(());
            }
            Exp::If {
                then, otherwise, ..
            } => {
                self.depth += 1;
                for side in [then, otherwise] {
                    *side = self.body(side)?;
                    self.lift(side, out);
                }
                self.depth -= 1;
            }
            Exp::Loop { form, body, .. } => {
                self.depth += 1;
                match form {
                    LoopForm::For { .. } => {}
                    LoopForm::While(cond) => *cond = self.body(cond)?,
                }
                *body = self.body(body)?;
                self.depth -= 1;
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                if let Some(sum) = self.sum(*index).filter(|_| self.depth == 0) {
                    self.loads.entry(*buffer).or_default().push(sum);
                }
            }
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => {}
        }
        out.push(stm);
        Some(())
    }

    /// Moves loads out of a side of a choice: those of elements between two that were read anyway, with their indices.
    fn lift(&self, side: &mut Body<Mem>, out: &mut Vec<Stm<Mem>>) {
        let mut kept = BTreeSet::new();
        // What is behind something that may write stays there.
        let mut pure = true;
        for stm in std::mem::take(&mut side.stms) {
            pure &= matches!(
                stm.exp,
                Exp::Scalar(..) | Exp::Atom(_) | Exp::Op(Mem::Load { .. })
            );
            let mut moves = match &stm.exp {
                Exp::Scalar(
                    ScalarOp::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, ScalarType::I64),
                    _,
                ) => true,
                Exp::Op(Mem::Load { buffer, index }) => {
                    pure && self.is_read_around(*buffer, *index)
                }
                Exp::Scalar(..)
                | Exp::Atom(_)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => false,
            };
            stm.exp.operands(&mut |atom| {
                moves &= !atom.as_var().is_some_and(|v| kept.contains(&v));
            });
            if moves {
                out.push(stm);
            } else {
                kept.extend(stm.binds.iter().copied());
                side.stms.push(stm);
            }
        }
    }

    /// Whether elements before and behind an element, or itself, have been read by every point.
    fn is_read_around(&self, buffer: Var, index: Atom) -> bool {
        let (Some(sum), Some(loads)) = (self.sum(index), self.loads.get(&buffer)) else {
            return false;
        };
        let distances = loads.iter().filter_map(|load| load.distance(&sum));
        let (mut before, mut behind) = (false, false);
        for distance in distances {
            before |= distance <= 0;
            behind |= distance >= 0;
        }
        before && behind
    }

    /// Whether the value is known at the start of a row.
    fn is_early(&self, atom: Atom) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(v) => !self.inside.contains(&v),
        }
    }

    fn sum(&self, atom: Atom) -> Option<Sum> {
        match atom {
            Atom::Const(_) => Sum::constant(number(atom)?),
            Atom::Var(v) => match self.sums.get(&v) {
                Some(sum) => Some(sum.clone()),
                None if self.is_early(atom) => Some(Sum::term(v)),
                None => None,
            },
        }
    }

    /// What an operation yields inside, if that is simpler.
    fn folded(&mut self, bind: Var, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
        let truth = |atom: Atom| match atom {
            Atom::Const(Const::Bool(holds)) => Some(holds),
            Atom::Const(_) | Atom::Var(_) => None,
        };
        match op {
            ScalarOp::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), ScalarType::I64) => {
                if let Some(sum) = self.computed(op, args) {
                    self.sums.insert(bind, sum);
                }
                None
            }
            ScalarOp::Bin(op @ (BinOp::Min | BinOp::Max), ScalarType::I64) => {
                self.limited(op, args)
            }
            ScalarOp::Cmp(op, ScalarType::I64) => {
                let holds = self.compared(op, args)?;
                Some(Atom::Const(Const::Bool(holds)))
            }
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => {
                Some(Atom::Const(Const::Bool(!truth(args[0])?)))
            }
            ScalarOp::Bin(op @ (BinOp::And | BinOp::Or), ScalarType::Bool) => {
                let (known, other) = match (truth(args[0]), truth(args[1])) {
                    (Some(known), _) => (known, args[1]),
                    (None, known) => (known?, args[0]),
                };
                let decides = known == (op == BinOp::Or);
                Some(if decides {
                    Atom::Const(Const::Bool(known))
                } else {
                    other
                })
            }
            ScalarOp::Select(_) => {
                let first = truth(args[0])?;
                Some(args[if first { 1 } else { 2 }])
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_) => None,
        }
    }

    /// A sum, difference or product as a sum.
    fn computed(&self, op: BinOp, args: &[Atom]) -> Option<Sum> {
        let (a, b) = (self.sum(args[0])?, self.sum(args[1])?);
        if op == BinOp::Mul {
            return match (a.known(), b.known()) {
                (_, Some(factor)) => a.times(factor),
                (factor, None) => b.times(factor?),
            };
        }
        a.plus(&b, if op == BinOp::Add { 1 } else { -1 })
    }

    /// The index itself, where it is not beyond a limit.
    fn limited(&mut self, op: BinOp, args: &[Atom]) -> Option<Atom> {
        let (a, b) = (self.sum(args[0])?, self.sum(args[1])?);
        let (with, limit, at) = match (a.index, b.index) {
            (1, 0) => (a, b, 0),
            (0, 1) => (b, a, 1),
            _ => return None,
        };
        // i + rest <= limit, or >=
        let limit = limit.plus(&with, -1)?.plus(&Sum::index(), 1)?;
        self.bound(if op == BinOp::Max {
            Bound::From(limit)
        } else {
            Bound::Below(limit.plus(&Sum::constant(1)?, 1)?)
        });
        Some(args[at])
    }

    /// How a comparison of the index comes out inside.
    fn compared(&mut self, op: CmpOp, args: &[Atom]) -> Option<bool> {
        let (a, b) = (self.sum(args[0])?, self.sum(args[1])?);
        // The difference is i - limit or limit - i, or has nothing to do with the index.
        let difference = a.plus(&b, -1)?;
        if let Some(known) = difference.known() {
            return Some(match op {
                CmpOp::Eq => known == 0,
                CmpOp::Lt => known < 0,
                CmpOp::Le => known <= 0,
            });
        }
        let rising = match difference.index {
            1 => true,
            -1 => false,
            _ => return None,
        };
        let rest = difference.plus(&Sum::index(), -difference.index)?;
        let limit = rest.times(-difference.index)?;
        if op == CmpOp::Eq {
            self.bound(Bound::Not(limit));
            return Some(false);
        }
        // `holds` for indices below the limit if it is rising, else for those from it on.
        let further = i64::from((op == CmpOp::Le) == rising);
        let limit = limit.plus(&Sum::constant(further)?, 1)?;
        let factors: i64 = limit.terms.values().sum();
        let of_row = limit.terms.keys().all(|v| self.rows.contains(v));
        let below = !limit.terms.is_empty() && factors >= 0 && (self.before || !of_row);
        self.bound(if below {
            Bound::Below(limit)
        } else {
            Bound::From(limit)
        });
        Some(below == rising)
    }

    fn bound(&mut self, bound: Bound) {
        if !self.bounds.contains(&bound) {
            self.bounds.push(bound);
        }
    }
}
