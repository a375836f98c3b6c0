//! Which maps and reductions are worked on several points at a time, and what varies in them. Looks at the program
//! only.

use super::addresses::valued;
use super::arrays::{Array, has_arrays};
use super::counts::Counts;
use super::functions::InLanes;
use super::gather::{PARTS as GATHERED, by_vectors, gathers_in};
use super::large::is_large;
use super::plan::{Plan, chooses, is_sum};
use super::ranks::ranks;
use super::rows::{Row, needed, rows};
use super::strips::{AT_ONCE, steps_at_once, strips};
use super::taken::is_computed;
use super::vector::{lanes_per_vector, packed_type};
use super::words::masked;
use crate::emit::control::{is_cheap, is_cheap_scalar, operations};
use midend::analysis::kernels::kernel_bodies;
use midend::analysis::totality::is_total;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use midend::math::definition;
use std::collections::{BTreeMap, BTreeSet};

/// The most statements of a body times the points that it is emitted for, of registers of one vector.
pub(super) const MOST: usize = 640;
/// The lanes of a group whose loops carry one varying value: a cache line of binary32, in four vectors, which is as
/// many sums as it takes to have one addition in every cycle.
const WIDE: usize = 16;
/// The lanes where more is carried, so that all of it stays in registers.
const NARROW: usize = 8;

/// The most values that a loop of few operations carries of which four registers each are in use at a time.
const SIDE_BY_SIDE: usize = 2;

/// The most operations of two sides that are both computed for all lanes.
pub(super) const BLENDED: usize = 24;

/// Operations with vectors that are worth wider ones where elements are found lane by lane besides.
const ENOUGH: usize = 16;

/// The lanes where most operations are done lane by lane: as many as general registers hold.
const FEW: usize = 4;

/// The plan for a map that gains from one: one with a loop that all points go through equally often, or whose body is
/// arithmetic that points through with it can go on with; or with nothing but arithmetic on neighbouring elements.
pub(in crate::emit) fn plan(
    kernel: &Kernel,
    vars: &Vars,
    (asked, functions): (usize, &InLanes),
) -> Option<Plan> {
    if !matches!(kernel.kind, KernelKind::Map) {
        return None;
    }
    if let Some(plan) = by_vectors(kernel, vars, (asked, functions)) {
        return Some(plan);
    }
    [true, false].into_iter().find_map(|integers| {
        let mut finder = Finder::new(kernel, vars, integers)?;
        finder.valued = integers.then(|| valued(&kernel.body, []));
        finder.takes_arrays = true;
        finder.functions = Some(functions);
        finder.body(&kernel.body)?;
        finder.plan(asked)
    })
}

/// The plan for a reduction: of numbers whose operands may be exchanged, so that each lane sums on its own, or of
/// anything that a loop in the body computes.
pub(in crate::emit) fn plan_reduction(
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    vars: &Vars,
    asked: usize,
) -> Option<Plan> {
    let own = [true, false]
        .into_iter()
        .find_map(|integers| own_sums(kernel, ops, vars, (integers, false, asked)));
    let own = own.map(|own| {
        let gathering = own.gathers && gathers_in(asked);
        let plan = gathering.then(|| own_sums(kernel, ops, vars, (true, true, asked)));
        // The lanes decide how sums are rounded.
        let alike = |plan: &Plan| plan.parts == GATHERED && plan.width == own.width;
        plan.flatten().filter(alike).unwrap_or(own)
    });
    let of_loops = |integers| {
        let mut finder = Finder::new(kernel, vars, integers)?;
        finder.takes_arrays = !kernel.has_ragged_rows();
        finder.body(&kernel.body)?;
        finder.plan(asked).filter(|_| finder.counts.loops > 0)
    };
    own.or_else(|| [true, false].into_iter().find_map(of_loops))
}

/// The plan for a scan that counts points and stores values of these types of them, for registers of 256 or 512 bits: nothing but
/// arithmetic on neighbouring elements.
pub(super) fn plan_kept(
    kernel: &Kernel,
    body: &Body<Mem>,
    vars: &Vars,
    (stored, asked): (&[ScalarType], usize),
) -> Option<Plan> {
    if asked < 2 {
        return None;
    }
    let mut finder = Finder::new(kernel, vars, true)?;
    finder.body(body)?;
    for ty in stored {
        finder.counts.fills(lanes_per_vector(*ty, true));
    }
    let plain = finder.counts.loops == 0 && finder.counts.apart == 0;
    let plan = finder.plan(asked).filter(|plan| plain && plan.parts > 1)?;
    let fits = |ty: &ScalarType| plan.per_vector(*ty).is_some();
    stored.iter().all(fits).then_some(plan)
}

/// The plan for a reduction in which each lane sums on its own.
fn own_sums(
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    vars: &Vars,
    (integers, by_vectors, asked): (bool, bool, usize),
) -> Option<Plan> {
    let mut finder = Finder::new(kernel, vars, integers)?;
    finder.takes_arrays = !kernel.has_ragged_rows();
    finder.by_vectors = by_vectors;
    if integers && !by_vectors && finder.takes_arrays && has_arrays(&kernel.body) {
        finder.valued = Some(valued(&kernel.body, []));
    }
    finder.body(&kernel.body)?;
    for op in ops {
        finder.counts.carried += op.neutral.len();
        finder.counts.held = finder.counts.held.max(finder.counts.carried);
        finder.operator(op).filter(|()| op.comm)?;
    }
    // The lanes decide how sums are rounded, so they are as many for all registers.
    let plan = finder.plan_within(2 * MOST, asked.min(2))?;
    let most = if integers { finder.counts.most } else { 4 };
    // What only chooses rounds nothing, and waits for choices before: twice as many are under way, and
    // as many groups as fit of what has little to do are combined first.
    let twice = kernel.space.len() == 1 && ops.iter().all(chooses);
    let plan = if twice && finder.instructions(2 * plan.width) <= 2 * MOST {
        let few = finder.instructions(8 * plan.width) <= MOST;
        plan.doubled(if few { 4 } else { 2 })
    } else {
        plan
    };
    let waits = finder.counts.packed <= ops.len() && ops.iter().all(is_sum);
    let asked = finder.that_gain(asked);
    Some(plan.of_own_sums(kernel, if waits { 2 } else { asked }, most))
}

/// Finds what varies; gives up where a body cannot be worked on in lanes.
#[derive(Clone)]
pub(super) struct Finder<'a> {
    /// All that is executed for a point.
    pub(super) bodies: Vec<&'a Body<Mem>>,
    pub(super) vars: &'a Vars,
    /// The functions that may be called in lanes.
    pub(super) functions: Option<&'a InLanes>,
    pub(super) varying: BTreeSet<Var>,
    /// What grows by one from lane to lane.
    pub(super) unit: BTreeSet<Var>,
    /// What grows by another constant.
    pub(super) growing: BTreeSet<Var>,
    /// Whether integers are put in vectors, which pays where everything is.
    pub(super) integers: bool,
    pub(super) counts: Counts,
    /// What is more than addresses, where those are told apart.
    pub(super) valued: Option<BTreeSet<Var>>,
    pub(super) addresses: BTreeSet<Var>,
    /// Rows that are read again and again, which of these are put in panels, and what is computed for anything but to find
    /// their elements.
    pub(super) rows: Vec<Row>,
    pub(super) in_panels: BTreeSet<Var>,
    pub(super) needed: BTreeSet<Var>,
    /// What loops end with that lanes leave at different steps.
    pub(super) ends: BTreeSet<Var>,
    /// The bytes that indices are which look up elements of tables in registers.
    pub(super) lookups: BTreeMap<Var, Var>,
    /// Whether points may have arrays of their own, under which names they go, and how they are made.
    pub(super) takes_arrays: bool,
    pub(super) own: BTreeSet<Var>,
    pub(super) arrays: Vec<Array>,
    /// Whether lanes find elements by vectors of addresses.
    pub(super) by_vectors: bool,
    /// What is bound in the bodies, once somebody has asked.
    pub(super) binders: Option<BTreeSet<Var>>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(kernel: &'a Kernel, vars: &'a Vars, integers: bool) -> Option<Self> {
        let (index, _) = kernel.space.last()?;
        if is_large(&kernel.body) {
            return None;
        }
        let rows = rows(vars, &kernel.body, integers);
        let needed = if rows.is_empty() {
            BTreeSet::new()
        } else {
            needed(&kernel.body, &rows)
        };
        Some(Self {
            varying: BTreeSet::from([*index]),
            unit: BTreeSet::from([*index]),
            rows,
            needed,
            ..Self::of_bodies(kernel_bodies(kernel), vars, integers)
        })
    }

    /// What is found in bodies of which nothing is known yet.
    pub(super) fn of_bodies(bodies: Vec<&'a Body<Mem>>, vars: &'a Vars, integers: bool) -> Self {
        Self {
            bodies,
            vars,
            functions: None,
            varying: BTreeSet::new(),
            unit: BTreeSet::new(),
            growing: BTreeSet::new(),
            integers,
            counts: Counts::default(),
            valued: None,
            addresses: BTreeSet::new(),
            rows: Vec::new(),
            in_panels: BTreeSet::new(),
            needed: BTreeSet::new(),
            ends: BTreeSet::new(),
            lookups: BTreeMap::new(),
            takes_arrays: false,
            own: BTreeSet::new(),
            arrays: Vec::new(),
            by_vectors: false,
            binders: None,
        }
    }

    /// The plan for registers of so many vectors at most.
    pub(super) fn plan(&self, asked: usize) -> Option<Plan> {
        let asked = self.that_gain(asked);
        let budget = if self.mostly_packed() {
            asked * MOST
        } else {
            MOST
        };
        // As many as fill one register.
        let least = FEW.max(asked * self.counts.most);
        let plan = self.plan_from(budget, asked, least)?;
        let (registers, lanes) = self.flying();
        let more = plan.clone().in_flight(registers, lanes);
        let fits = self.instructions(more.width) <= budget;
        Some(if fits { more } else { plan })
    }

    /// Whether little is done lane by lane: else, putting vectors together and taking them apart costs more than wider ones save.
    fn mostly_packed(&self) -> bool {
        let [with, without] = self.counts.inner;
        if self.counts.diverging > 0 {
            4 * without <= with
        } else {
            // What is done again and again counts where there is enough of it.
            let all = 4 * (self.counts.apart + self.counts.finding) <= self.counts.packed;
            // Numbers that find elements are not in registers that anything waits for.
            let some = self.counts.apart == 0
                && self.counts.packed >= ENOUGH
                && 2 * self.counts.finding <= 3 * self.counts.packed;
            all || some || (without == 0 && with >= self.counts.apart + self.counts.finding)
        }
    }

    /// The plan with so many statements, times points, at most.
    pub(super) fn plan_within(&self, budget: usize, asked: usize) -> Option<Plan> {
        self.plan_from(budget, asked, usize::MAX)
    }

    /// The same with fewer lanes if there would be too much code, but so many.
    fn plan_from(&self, budget: usize, asked: usize, least: usize) -> Option<Plan> {
        let packed = self.counts.packed > 0 && self.counts.apart == 0;
        let [with, without] = self.counts.inner;
        let worth = if self.counts.diverging > 0 {
            let alike = !self.integers || self.counts.most <= 2 * self.counts.least;
            alike && with > 0 && without <= if self.integers { 0 } else { with / 4 }
        } else {
            packed || (self.counts.loops > 0 && !self.integers)
        };
        let finding = self.counts.finding;
        // Loops have lanes of their own accord.
        if finding > 0 && self.counts.loops > 0 && self.own.is_empty() {
            return None;
        }
        let width = if self.counts.diverging > 0 {
            FEW.max(2 * self.counts.most)
        } else if finding > 0 && (self.own.is_empty() || !self.mostly_packed()) {
            NARROW.max(self.counts.most)
        } else if self.integers {
            WIDE.max(2 * self.counts.most)
        } else if self.counts.apart > 2 * self.counts.packed {
            FEW
        } else if self.counts.carried <= 1 {
            WIDE
        } else {
            NARROW
        };
        let mut width = width;
        let least = if self.integers { least } else { FEW };
        while width > least && self.instructions(width) > budget {
            width /= 2;
        }
        // What loops around carry is on the stack meanwhile.
        let carried = if self.counts.diverging > 0 {
            self.counts.carried <= 6
        } else {
            self.counts.held <= 4 || self.is_long_step()
        };
        let fits = self.instructions(width) <= budget && carried;
        let plan = (worth && fits).then(|| Plan {
            width,
            own_sums: false,
            groups: 1,
            integers: self.integers,
            parts: 1,
            varying: self.varying.clone(),
            addresses: self.addresses.clone(),
            gathers: finding > 0,
            by_vectors: self.by_vectors,
            rows: {
                let mut rows = self.rows.clone();
                rows.retain(|row| self.in_panels.contains(&row.element));
                rows
            },
            unused: self.unused(),
            lookups: self.lookups.clone(),
            ranks: ranks(&self.bodies),
            own: self.own.clone(),
            arrays: self.arrays.clone(),
        })?;
        // Without integers, binary32 has most lanes.
        let most = if self.integers { self.counts.most } else { 4 };
        let asked = if self.mostly_packed() { asked } else { 1 };
        let twice = self.instructions(2 * width) <= budget;
        Some(plan.in_parts(asked, most, twice))
    }
}

impl Finder<'_> {
    /// An operator applied to what varies, if its operands are put in vectors, also those that are only passed on.
    pub(super) fn operator(&mut self, op: &Operator<Mem>) -> Option<()> {
        for param in &op.lam.params {
            let lanes = lanes_per_vector(self.elem(*param)?, self.integers)?;
            self.counts.fills(Some(lanes));
        }
        self.varying.extend(&op.lam.params);
        self.body(&op.lam.body)
    }

    pub(super) fn varies(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(v) if self.varying.contains(&v))
    }

    pub(super) fn body(&mut self, body: &Body<Mem>) -> Option<()> {
        body.stms.iter().try_for_each(|stm| self.stm(stm))
    }

    fn stm(&mut self, stm: &Stm<Mem>) -> Option<()> {
        self.counts.statements += 1;
        match &stm.exp {
            Exp::Loop { params, form, body } => return self.repeated(stm, params, form, body),
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                let blend =
                    blends([then, otherwise]) || self.blends_around_loads([then, otherwise]);
                if !blend && !self.varies(*cond) {
                    return self.branch(stm, [then, otherwise]);
                }
                // The sides are in lanes, too; small ones weigh no more than the choice.
                let counted = self.counts;
                let computed = blend || is_computed([then, otherwise]);
                if !computed && !self.finds_on_sides(stm, [then, otherwise]) {
                    return None;
                }
                self.body(then)?;
                self.body(otherwise)?;
                if blend {
                    self.counts = counted;
                } else if self.counts.finding > counted.finding {
                    // What lanes find for themselves is found by runs of statements, which end at branches.
                    return None;
                }
                self.chooses_no_array([then, otherwise])?;
            }
            Exp::Scalar(op, _) => {
                // These are calls, which leave nothing in vector registers.
                if op.result() == ScalarType::F16 {
                    return None;
                }
                // A function is many operations, each on two lanes at least.
                let steps = definition(*op).map_or(0, |f| f.body.stms.len());
                self.counts.statements += steps / 2;
            }
            // Another name of an array that each lane has for itself.
            Exp::Atom(atom) if self.is_own(*atom) => return None,
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Op(Mem::Load { .. } | Mem::Store { .. }) => {}
            Exp::Op(Mem::Alloc { elem, len, .. }) => return self.array(stm.binds[0], *elem, *len),
            Exp::Op(Mem::Copy { shape, dst, src }) => return self.copy(shape, dst, src),
            Exp::Call { fun, .. } => return self.calls(stm, *fun),
            Exp::Op(
                Mem::Free(_) | Mem::Apart(_) | Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_),
            ) => {
                return None;
            }
        }
        let varies = free_in_stm(self.vars, stm)
            .into_iter()
            .any(|v| self.varying.contains(&v));
        if varies {
            self.varying.extend(&stm.binds);
            self.weigh(stm);
        }
        Some(())
    }

    /// A loop that goes on while a condition holds: lanes that are through with it compute on with the others, so what it
    /// computes must not fail.
    pub(super) fn diverging(
        &mut self,
        stm: &Stm<Mem>,
        params: &[LoopParam],
        cond: &Body<Mem>,
        body: &Body<Mem>,
    ) -> Option<()> {
        arithmetic(cond)?;
        arithmetic(body)?;
        let varies = |v| self.varying.contains(&v);
        let in_strips = strips(self.vars, varies, params, (cond, body)).is_some();
        let few = params.len() <= SIDE_BY_SIDE && steps_at_once(cond, body) > 1;
        let least = params.len() == 1 && steps_at_once(cond, body) >= AT_ONCE;
        self.counts.shortest += usize::from(least);
        self.counts.in_strips += usize::from(in_strips || few);
        // The lanes leave it at different steps.
        self.varying.extend(params.iter().map(|param| param.var));
        self.varying.extend(&stm.binds);
        self.ends.extend(&stm.binds);
        self.counts.loops += 1;
        self.counts.diverging += 1;
        self.counts.carried += params.len();
        self.counts.depth += 1;
        self.body(cond)?;
        self.body(body)?;
        self.counts.depth -= 1;
        self.varies(cond.result[0]).then_some(())
    }

    /// The type of a scalar or of the elements of a buffer.
    pub(super) fn elem(&self, var: Var) -> Option<ScalarType> {
        self.vars[var].ty.elem()
    }
}

/// Whether an operation makes truth values of truth values.
pub(super) fn is_truth(op: ScalarOp) -> bool {
    let bool = ScalarType::Bool;
    op.result() == bool && (0..op.arity()).all(|i| op.operand(i) == bool)
}

/// Whether both sides of a choice may be computed, for little.
pub(super) fn blends(sides: [&Body<Mem>; 2]) -> bool {
    let cheap = sides.iter().all(|side| is_cheap(side));
    let count = sides.map(|side| operations(side, BLENDED, &computed));
    cheap || matches!(count, [Some(yes), Some(no)] if yes + no <= BLENDED)
}

/// The operations of a body of arithmetic; nothing if it has something else, or something that may fail.
pub(super) fn arithmetic(body: &Body<Mem>) -> Option<usize> {
    operations(body, usize::MAX, &computed)
}

/// Whether an operation divides integers by a constant, which lanes do one by one.
fn is_divided(op: ScalarOp, args: &[Atom]) -> bool {
    let ScalarOp::Bin(bin, ty) = op else {
        return false;
    };
    let divides = matches!(bin, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem);
    divides && ty.is_integer() && is_total(op, args)
}

/// How many operations one counts as; nothing if it may fail.
pub(super) fn computed(op: ScalarOp, args: &[Atom]) -> Option<usize> {
    let is_safe = packed_type(op, true).is_some()
        || masked(op, args).is_some()
        || matches!(op, ScalarOp::Convert(..) | ScalarOp::Select(_))
        || is_divided(op, args)
        || is_cheap_scalar(op, args);
    let steps = definition(op).map_or(0, |f| f.body.stms.len());
    (is_safe && op.result() != ScalarType::F16).then_some(1 + steps)
}
