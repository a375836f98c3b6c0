//! Several neighbouring points of a map at once.
//!
//! A point with a sequential loop inside spends its time waiting: for the sum of the iteration before, for memory
//! that the next point needs a moment later. Here the body is emitted for a group of neighbouring points (*lanes*),
//! statement by statement, so that their loops run as one. A variable is *uniform* (one value for all lanes) or
//! *varying*; a varying index that grows by a constant from lane to lane is kept as its first value, so that accesses
//! of neighbouring elements share one address. Numbers from neighbouring elements travel in vector registers, and truth
//! values as masks of as many bits; both sides of a small choice are computed for all lanes and blended, and a loop that
//! lanes leave at different steps goes on until the last of them is through with it.
//!
//! Every lane does exactly what it would do alone, in the same order, so results are the same to the bit.

mod addresses;
mod ahead;
mod arrays;
mod branch;
mod buckets;
mod choice;
mod choose;
mod compress;
mod convert;
mod counts;
mod functions;
mod gather;
mod indices;
mod interior;
mod large;
mod later;
mod lookup;
mod loops;
mod mask;
mod narrow;
mod near;
mod own_rows;
mod plan;
mod ranks;
mod rows;
mod sequential;
mod shape;
mod soon;
mod steady;
mod steps;
mod strips;
mod sums;
mod taken;
mod tally;
pub(crate) mod tile;
mod truncate;
mod turn;
mod vector;
mod weigh;
mod words;

pub(super) use arrays::{IN_L2, ROOM};
pub(super) use buckets::{buckets, conditions, scalar};
pub(super) use choose::plan_reduction;
pub(super) use compress::compressed;
pub(crate) use functions::{InLanes, LaneCalls, function, lanes_of};
pub(super) use interior::{Interior, Lifted, Usual, map_plan, reduction_plan};
pub(super) use large::is_large;
pub(super) use own_rows::with_own_rows;
pub(super) use plan::Plan;
pub(crate) use plan::chooses;
pub(super) use vector::vector;

use super::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};
use later::{Later, Queue};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use shape::Shape;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use steps::Filled;

/// The most that an index grows by from lane to lane: elements of all lanes are so near that constant distances fit instructions.
const STRIDE: i64 = 1 << 20;

/// The values of a varying variable.
#[derive(Clone, Debug)]
pub(super) enum Lanes {
    /// One per lane.
    Many(Vec<Value>),
    /// The first, and how much more each further lane has; of `i64`.
    Linear(Value, i64),
    /// Vectors that hold several lanes each.
    Packed(Vec<Value>),
    /// The same of numbers of 64 bits which lanes of 32 bits hold.
    Narrow(Vec<Value>),
    /// Truth values in vectors, all bits of a lane or none.
    Mask(Vec<Value>),
}

/// The state of emitting a group of points.
pub(in crate::emit) struct Group<'p> {
    plan: &'p Plan,
    lanes: HashMap<Var, Lanes>,
    /// The panels of rows, by what is read from them.
    panels: HashMap<Var, Value>,
    /// Numbers of 64 bits which 32 bits hold.
    narrow: BTreeSet<Var>,
    /// The choices on whose sides this is, and which sides, where elements are read there.
    sides: Vec<(Var, bool)>,
    /// The truth values that numbers are.
    truths: HashMap<Var, Var>,
    /// The buffers of which later groups' elements were asked for.
    asked: BTreeSet<Var>,
    /// Whether groups, and steps of the loop at hand, take longer than memory takes to fetch what the next ones read.
    is_long: bool,
    /// What is computed later in the loop at hand, and where the step puts it.
    later: Option<(Rc<Later>, Queue)>,
    /// What was read for some steps of it at once.
    columns: Option<Filled>,
}

impl<'p> Group<'p> {
    fn new(plan: &'p Plan, index: Var, first: Value) -> Self {
        let lanes = HashMap::from([(index, Lanes::Linear(first, 1))]);
        Self::of_lanes(plan, lanes)
    }

    /// A group of which these variables are known.
    fn of_lanes(plan: &'p Plan, lanes: HashMap<Var, Lanes>) -> Self {
        Self {
            plan,
            lanes,
            panels: HashMap::new(),
            narrow: BTreeSet::new(),
            sides: Vec::new(),
            truths: HashMap::new(),
            asked: BTreeSet::new(),
            is_long: false,
            later: None,
            columns: None,
        }
    }
}

impl Emit<'_, '_> {
    /// The body of a map for as many points as the plan says, of which the first has the index `first` in the
    /// innermost dimension.
    pub(super) fn group(&mut self, plan: &Plan, body: &Body<Mem>, index: Var, first: Value) {
        let mut group = Group::new(plan, index, first);
        group.is_long = soon::is_long(body);
        self.with_arrays(plan, |emit| emit.lanes_body(&mut group, body));
    }

    fn lanes_body(&mut self, group: &mut Group<'_>, body: &Body<Mem>) {
        if group.plan.gathers {
            return self.lanes_runs(group, body);
        }
        for stm in &body.stms {
            self.lanes_stm(group, stm);
        }
    }

    fn lanes_stm(&mut self, group: &mut Group<'_>, stm: &Stm<Mem>) {
        if let Exp::Loop { params, form, body } = &stm.exp {
            self.lanes_loop(group, stm, params, form, body);
            return;
        }
        if self.lanes_array(group, stm) || self.lanes_later(group, stm) {
            return;
        }
        if let Exp::Call { fun, args } = &stm.exp
            && self.lanes_call(group, &stm.binds, *fun, args)
        {
            return;
        }
        let operands = free_in_stm(self.vars, stm);
        let varying: Vec<Var> = operands
            .into_iter()
            .filter(|v| group.plan.varies(*v) && has_value(self.ty(*v)))
            .collect();
        if varying.is_empty() && !group.plan.makes_arrays(stm) {
            self.stm(stm);
            return;
        }
        if let Exp::If {
            cond,
            then,
            otherwise,
        } = &stm.exp
            && !cond.as_var().is_some_and(|v| group.plan.varies(v))
        {
            return self.lanes_branch(group, stm, *cond, [then, otherwise]);
        }
        if self.lanes_special(group, stm) {
            return;
        }
        for var in &varying {
            self.unpack(group, *var);
        }
        // What holds for all lanes or for none is looked at once, and the first is what is told of.
        let once = matches!(&stm.exp, Exp::Assert { cond, .. }
            if !cond.as_var().is_some_and(|v| group.plan.varies(v)));
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); stm.binds.len()];
        for lane in 0..if once { 1 } else { group.plan.width } {
            for var in &varying {
                let value = self.lane(group, *var, lane);
                self.bind(*var, value);
            }
            self.stm(stm);
            for (bind, values) in stm.binds.iter().zip(&mut results) {
                if has_value(self.ty(*bind)) {
                    values.push(self.var(*bind));
                }
            }
        }
        for (bind, values) in stm.binds.iter().zip(results) {
            group.lanes.insert(*bind, Lanes::Many(values));
        }
    }

    /// Statements for which all lanes together are cheaper than one by one. Whether this was one.
    fn lanes_special(&mut self, group: &mut Group<'_>, stm: &Stm<Mem>) -> bool {
        if self.lookup(group, stm) {
            return true;
        }
        match &stm.exp {
            Exp::Scalar(op, args) if group.plan.finds(stm) => {
                let value = self.linear(group, *op, args);
                let found = value.is_some();
                group.lanes.extend(value.map(|value| (stm.binds[0], value)));
                found
            }
            Exp::Op(Mem::Load { .. }) if group.plan.finds(stm) => false,
            Exp::Atom(Atom::Var(v)) => {
                let Some(value) = group.lanes.get(v).cloned() else {
                    return false;
                };
                group.lanes.insert(stm.binds[0], value);
                true
            }
            Exp::Scalar(ScalarOp::Select(ty), args) => {
                self.lanes_select(group, stm.binds[0], *ty, args)
            }
            Exp::Scalar(op, args) => {
                group.note_truth(stm.binds[0], *op, args);
                let value = self.linear(group, *op, args);
                let value = value
                    .or_else(|| self.packed_truth(group, *op, args))
                    .or_else(|| self.tallied(group, *op, args))
                    .or_else(|| self.packed_scalar(group, *op, args));
                let found = value.is_some();
                group.lanes.extend(value.map(|value| (stm.binds[0], value)));
                found
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                let found = self.row_load(group, stm.binds[0]);
                let found =
                    found.or_else(|| self.read_in_columns(group, stm.binds[0], (*buffer, *index)));
                if let Some(value) = found.or_else(|| self.gathered(group, (*buffer, *index))) {
                    group.lanes.insert(stm.binds[0], value);
                    return true;
                }
                let Some((start, stride)) = self.lanes_place(group, *buffer, *index) else {
                    return false;
                };
                self.ask_ahead(group, *buffer, (start, stride));
                let value = self.lanes_load(group, self.elem(*buffer), start, stride);
                group.lanes.insert(stm.binds[0], value);
                true
            }
            Exp::Op(Mem::Store {
                buffer,
                index,
                value,
            }) => {
                let Some((start, stride)) = self.lanes_place(group, *buffer, *index) else {
                    return false;
                };
                let to = (Some(*buffer), self.elem(*buffer));
                self.lanes_store(group, to, (start, stride), *value);
                true
            }
            Exp::If {
                cond: Atom::Var(cond),
                then,
                otherwise,
            } if group.plan.varies(*cond) => {
                self.lanes_choice(group, &stm.binds, *cond, [then, otherwise])
            }
            Exp::Assert {
                cond: Atom::Var(cond),
                message,
            } if group.plan.by_vectors && group.plan.varies(*cond) => {
                self.lanes_assert(group, *cond, (message, stm.span));
                true
            }
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(
                Mem::Alloc { .. }
                | Mem::Free(_)
                | Mem::Apart(_)
                | Mem::Copy { .. }
                | Mem::Launch(_)
                | Mem::Trace(_)
                | Mem::Stream(_),
            ) => false,
        }
    }

    /// Sums, differences and multiples of linear indices are linear.
    fn linear(&mut self, group: &Group<'_>, op: ScalarOp, args: &[Atom]) -> Option<Lanes> {
        let ScalarOp::Bin(op, ScalarType::I64) = op else {
            return None;
        };
        if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
            return None;
        }
        let (a, s) = self.linear_operand(group, args[0])?;
        let (b, t) = self.linear_operand(group, args[1])?;
        let factor = |value, stride| self.known(value).filter(|_| stride == 0);
        let stride = if op == BinOp::Add {
            s.checked_add(t)?
        } else if op == BinOp::Sub {
            s.checked_sub(t)?
        } else if let Some(factor) = factor(b, t) {
            s.checked_mul(factor)?
        } else {
            t.checked_mul(factor(a, s)?)?
        };
        if !(-STRIDE..=STRIDE).contains(&stride) {
            return None;
        }
        let base = self.int_binary(op, ScalarType::I64, a, b);
        Some(Lanes::Linear(base, stride))
    }

    /// The first value of an operand and its growth per lane, which is zero for uniform ones.
    fn linear_operand(&mut self, group: &Group<'_>, atom: Atom) -> Option<(Value, i64)> {
        match atom {
            Atom::Var(v) if group.plan.varies(v) => match group.lanes.get(&v) {
                Some(Lanes::Linear(base, stride)) => Some((*base, *stride)),
                Some(Lanes::Many(_) | Lanes::Packed(_) | Lanes::Narrow(_) | Lanes::Mask(_))
                | None => None,
            },
            Atom::Var(_) | Atom::Const(_) => Some((self.atom(atom), 0)),
        }
    }

    /// The address of the first lane's element and the distance in bytes to the next lane's, for a linear index.
    fn lanes_place(&mut self, group: &Group<'_>, buffer: Var, index: Atom) -> Option<(Value, i64)> {
        if group.plan.varies(buffer) {
            return None;
        }
        let (base, stride) = self.linear_operand(group, index)?;
        let elem = self.elem(buffer);
        let start = self.var(buffer);
        Some((
            self.element(start, elem, base),
            stride * elem.bytes() as i64,
        ))
    }

    /// The value of a variable in one lane.
    fn lane(&mut self, group: &Group<'_>, var: Var, lane: usize) -> Value {
        match group.lanes.get(&var) {
            Some(Lanes::Many(values)) => values[lane],
            Some(Lanes::Linear(base, stride)) => {
                let base = *base;
                let ahead = stride * lane as i64;
                if ahead == 0 {
                    base
                } else {
                    self.b.ins().iadd_imm_s(base, ahead)
                }
            }
            Some(Lanes::Packed(_) | Lanes::Narrow(_) | Lanes::Mask(_)) | None => self.var(var),
        }
    }

    /// Makes sure that a variable has its lanes apart.
    fn unpack(&mut self, group: &mut Group<'_>, var: Var) {
        let values = match group.lanes.get(&var) {
            Some(Lanes::Packed(vectors)) => self.unpacked(&vectors.clone(), group.plan.parts),
            Some(Lanes::Narrow(vectors)) => {
                let wide = self.wide_lanes(&vectors.clone(), group.plan.parts);
                self.unpacked(&wide, group.plan.parts)
            }
            Some(Lanes::Mask(masks)) => self.truths(&masks.clone(), group.plan.parts),
            Some(Lanes::Many(_) | Lanes::Linear(..)) | None => return,
        };
        group.lanes.insert(var, Lanes::Many(values));
    }

    /// The values of an atom, as a loop carries them.
    fn in_shape(&mut self, group: &mut Group<'_>, shape: Shape, atom: Atom) -> Vec<Value> {
        match shape {
            Shape::Uniform => vec![self.atom(atom)],
            Shape::Packed(_) => self.packed(group, atom),
            Shape::Narrow(_) => self.narrow_lanes(group, atom),
            Shape::Many => match atom {
                Atom::Var(v) if group.plan.varies(v) => {
                    self.unpack(group, v);
                    (0..group.plan.width)
                        .map(|lane| self.lane(group, v, lane))
                        .collect()
                }
                Atom::Var(_) | Atom::Const(_) => vec![self.atom(atom); group.plan.width],
            },
        }
    }
}
