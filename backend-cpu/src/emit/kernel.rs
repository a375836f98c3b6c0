//! Kernels: loops over pieces of a space, and the units of each kind.

use super::groups::Row;
use super::hist::compared::compares;
use super::hist::strips::{fits, is_long, strips};
use super::lanes::{map_plan, with_own_rows};
use super::reduce::columns::{columns, reduces_columns};
use super::reduce::narrow::narrow;
use super::{Emit, Emitted, block_args, unit};
use crate::compile::Units;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::{has_value, kernel_bodies, summed};
use midend::fired::fired;
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Lambda, Program, Vars};
use midend::ir::types::ScalarType;

/// A piece of compiled code that belongs to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Work on a piece of the space.
    Chunk,
    /// Combines two tuples of partial results.
    Combine,
    /// Combines a carry with a run of scanned elements.
    Fix,
    /// Reduces a piece of a row that is scanned afterwards.
    Sum,
    /// Combines a range of buckets of one histogram with those of another copy.
    Merge(usize),
    /// Work on a piece of the space as far as it concerns a part of the buckets.
    Window,
    /// Work on a range of tiles.
    Tiles,
    /// Work on a piece of the space with points of outer dimensions side by side.
    Columns,
    /// Work on a piece of the space with points of the innermost dimension in lanes ([`crate::vector`]), if it gains by that.
    Lanes,
}

impl Role {
    /// Whether only some launches of many points need it: it is compiled when one first does.
    pub(crate) const fn is_late(self) -> bool {
        matches!(self, Self::Window)
    }

    /// The name in texts.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Chunk => "a chunk",
            Self::Combine => "combines",
            Self::Fix => "adds the carry",
            Self::Sum => "sums",
            Self::Merge(_) => "merges buckets",
            Self::Window => "a part of the buckets",
            Self::Tiles => "tiles",
            Self::Columns => "columns",
            Self::Lanes => "lanes",
        }
    }
}

/// Whether there is a unit for a part of the buckets: not if the body combines by itself.
pub(crate) const fn has_window(kernel: &Kernel) -> bool {
    matches!(kernel.kind, KernelKind::Hist(_)) && !kernel.body.result.is_empty()
}

/// The units that a kernel needs.
pub(crate) fn roles(program: &Program<Mem>, kernel: &Kernel) -> Vec<Role> {
    let window = has_window(kernel).then_some(Role::Window);
    match &kernel.kind {
        KernelKind::Map if super::tiles_of(program, kernel).is_some() => {
            vec![Role::Chunk, Role::Tiles]
        }
        KernelKind::Map if !kernel.space.is_empty() => vec![Role::Chunk, Role::Lanes],
        KernelKind::Map | KernelKind::Seq => vec![Role::Chunk],
        KernelKind::Red { .. } if reduces_columns(program, kernel) => {
            vec![Role::Chunk, Role::Combine, Role::Columns]
        }
        KernelKind::Red { .. } => vec![Role::Chunk, Role::Combine],
        KernelKind::Scan { .. } if super::scan::sums_first(kernel) => {
            vec![Role::Chunk, Role::Combine, Role::Sum]
        }
        KernelKind::Scan { .. } => vec![Role::Chunk, Role::Combine, Role::Fix],
        KernelKind::Hist(hists) => [Role::Chunk]
            .into_iter()
            .chain((0..hists.len()).map(Role::Merge))
            .chain(window)
            .collect(),
    }
}

/// The number of parameters of a unit besides the worker; all are 64 bits wide.
fn parameters(kernel: &Kernel, role: Role) -> usize {
    // A piece of a ragged space is a range of rows and one of points.
    let more = if kernel.is_ragged() { 2 } else { 0 };
    match (&kernel.kind, role) {
        // Slots, rows, points, where to, and for the last row if it is not finished.
        (KernelKind::Red { .. }, Role::Chunk) if kernel.has_ragged_rows() => 7,
        // Slots, rows, points, end, where to.
        (KernelKind::Scan { .. }, Role::Chunk) if kernel.has_ragged_rows() => 7,
        // Slots of arguments, range of points.
        (KernelKind::Map | KernelKind::Seq, _) => 3 + more,
        // Slots, outer range, inner range, where to.
        (KernelKind::Red { .. }, Role::Chunk) | (_, Role::Sum | Role::Columns) => 6,
        // Slots, outer range, inner range, start, end, where to.
        (KernelKind::Scan { .. }, Role::Chunk) => 8,
        // Slots, range of points, destinations.
        (KernelKind::Hist(_), Role::Chunk) => 4 + more,
        // The same, number of the part, number of parts.
        (KernelKind::Hist(_), Role::Window) => 6 + more,
        // Slots, left and result, right.
        (_, Role::Combine) => 3,
        // Slots, range, carry, where to; or: slots, range of buckets, destinations, sources.
        (_, Role::Fix | Role::Merge(_) | Role::Window | Role::Tiles | Role::Lanes) => 5,
    }
}

/// Emits one unit of a kernel.
pub(crate) fn emit(
    program: &Program<Mem>,
    units: &Units,
    kernel: &Kernel,
    args: &[Var],
    (role, asked): (Role, usize),
) -> Emitted {
    let params = vec![types::I64; parameters(kernel, role)];
    if let (KernelKind::Red { ops, outs }, Role::Columns) = (&kernel.kind, role) {
        let columns = columns(&program.vars, kernel, ops).expect("the unit was asked for");
        let bodies = [columns.body()];
        let known = (program, &columns.vars);
        return unit(known, units, &params, &[], (&bodies, asked), |emit, p| {
            emit.load_arguments(args, p[0]);
            emit.reduce_columns(&columns, outs, p);
            vec![]
        });
    }
    let bodies = kernel_bodies(kernel);
    if let (KernelKind::Red { ops, .. }, Role::Chunk) = (&kernel.kind, role)
        && let Some(narrow) = narrow(&program.vars, kernel, ops)
    {
        let known = (program, &narrow.vars);
        return unit(known, units, &params, &[], (&bodies, asked), |emit, p| {
            emit.load_arguments(args, p[0]);
            emit.reduce_narrow((kernel, ops), &narrow, p);
            vec![]
        });
    }
    if role == Role::Chunk
        && !is_one_point(kernel)
        && let Some(own) = with_own_rows(kernel, &program.vars, (asked, units))
    {
        fired("cpu/rows-of-lanes");
        let (known, bodies) = ((program, &own.vars), kernel_bodies(&own.kernel));
        return unit(known, units, &params, &[], (&bodies, asked), |emit, p| {
            emit.load_arguments(args, p[0]);
            emit.map(&own.kernel, &p[1..]);
            vec![]
        });
    }
    if let (KernelKind::Hist(hists), Role::Chunk) = (&kernel.kind, role)
        && let Some(job) = strips(&program.vars, kernel)
        && let Some((plan, interior)) = map_plan(
            &job.kernel,
            &job.vars,
            (asked, &units.tables, &units.in_lanes),
        )
        && fits(&plan)
        && (is_long(kernel) || compares(kernel, &job, &plan))
    {
        let known = (program, &job.vars);
        let mut bodies = bodies;
        bodies.extend([&job.kernel.body, &job.body]);
        return unit(known, units, &params, &[], (&bodies, asked), |emit, p| {
            emit.load_arguments(args, p[0]);
            let job = (&job, &plan, interior.as_ref());
            match is_long(kernel) {
                true => emit.hist_in_strips((kernel, &hists[0]), job, p),
                false => emit.hist_by_buckets((kernel, hists), job, p),
            }
            vec![]
        });
    }
    let known = (program, &program.vars);
    unit(known, units, &params, &[], (&bodies, asked), |emit, p| {
        emit.load_arguments(args, p[0]);
        match (&kernel.kind, role) {
            (KernelKind::Map, Role::Tiles) => {
                if let Some(job) = super::lanes::tile::job(&program.vars, kernel, asked) {
                    emit.parts = asked;
                    emit.in_lanes = true;
                    emit.tile(&job, (p[1], p[2]));
                }
            }
            (KernelKind::Map | KernelKind::Seq, _) => {
                emit.exact_or_not(kernel, |emit, kernel| {
                    emit.map(kernel, &p[1..]);
                });
            }
            (KernelKind::Red { ops, .. }, Role::Chunk) => {
                emit.exact_or_not(kernel, |emit, kernel| {
                    emit.reduce(kernel, ops, p);
                });
            }
            (KernelKind::Scan { ops, then, .. }, Role::Chunk) => {
                emit.scan(kernel, (ops, then.as_ref()), p);
            }
            (KernelKind::Scan { ops, .. }, Role::Sum) => {
                emit.reduce(&summed(&program.vars, kernel, ops), ops, p);
            }
            (KernelKind::Red { ops, .. } | KernelKind::Scan { ops, .. }, Role::Combine) => {
                emit.combine(ops, p[1], p[2]);
            }
            (KernelKind::Scan { ops, .. }, Role::Fix) => emit.fix(ops, p),
            (KernelKind::Hist(hists), Role::Merge(which)) => emit.merge(hists, which, p),
            (KernelKind::Hist(hists), Role::Window) => {
                let (p, window) = p.split_at(p.len() - 2);
                emit.hist(kernel, hists, p, Some((window[0], window[1])));
            }
            (KernelKind::Hist(hists), _) => emit.hist(kernel, hists, p, None),
            (
                KernelKind::Red { .. },
                Role::Fix
                | Role::Sum
                | Role::Merge(_)
                | Role::Window
                | Role::Tiles
                | Role::Columns
                | Role::Lanes,
            )
            | (
                KernelKind::Scan { .. },
                Role::Merge(_) | Role::Window | Role::Tiles | Role::Columns | Role::Lanes,
            ) => {
                unreachable!("the kind has no such unit")
            }
        }
        vec![]
    })
}

/// Emits a function of the program.
pub(crate) fn function(program: &Program<Mem>, units: &Units, fun: FunId) -> Emitted {
    let interface = units
        .functions
        .get(&fun)
        .expect("every function that is called was collected");
    let definition = &program.funs[fun];
    let results = &interface.results;
    let depth = interface.counts.then_some(types::I64);
    let mut params: Vec<_> = depth.into_iter().chain(interface.params.clone()).collect();
    if results.len() > 1 {
        params.push(types::I64);
    }
    let first = &results[..results.len().min(1)];
    unit(
        (program, &program.vars),
        units,
        &params,
        first,
        (&[&definition.body], 1),
        |emit, values| {
            let values = match values {
                [depth, values @ ..] if interface.counts => {
                    emit.calls_left = Some(*depth);
                    values
                }
                values => values,
            };
            if interface.recursive {
                emit.check_depth(definition.span);
            }
            let with_value = definition.params.iter().map(|p| p.var);
            let with_value: Vec<Var> = with_value.filter(|v| has_value(emit.ty(*v))).collect();
            for (var, value) in with_value.into_iter().zip(values) {
                emit.bind(var, *value);
            }
            let returns_memory = definition.results.iter().any(|r| emit.is_buffer(r.var));
            let mut out = if returns_memory {
                emit.body(&definition.body)
            } else {
                emit.scoped(&definition.body, |emit| emit.body(&definition.body))
            };
            for (i, value) in out.drain(out.len().min(1)..).enumerate() {
                let memory = *values
                    .last()
                    .expect("the place of further results is the last parameter");
                emit.b
                    .ins()
                    .store(super::plain(), value, memory, 8 * i as i32);
            }
            out
        },
    )
}

/// Whether a kernel has one point, so that there are no neighbours to go in lanes with.
fn is_one_point(kernel: &Kernel) -> bool {
    let mut extents = kernel.space.iter().map(|(_, extent)| *extent);
    extents.all(|extent| extent == Extent::Regular(Atom::ONE))
}

impl Emit<'_, '_> {
    /// Parameters: the range of points, or the piece of a ragged space.
    fn map(&mut self, kernel: &Kernel, p: &[Value]) {
        let asked = (self.asked, &self.units.tables, &self.units.in_lanes);
        let plan = match is_one_point(kernel) {
            true => None,
            false => super::lanes::map_plan(kernel, self.vars, asked),
        };
        self.parts = plan.as_ref().map_or(1, |(plan, _)| plan.parts);
        self.in_lanes = plan.is_some();
        let width = plan.as_ref().map_or(0, |(plan, _)| plan.width);
        self.lane_calls = super::lanes::LaneCalls::of(width);
        let (Some((plan, interior)), Some((index, _))) = (plan, kernel.space.last()) else {
            let strip = super::control::strip(&kernel.body);
            self.inner_loops = super::control::InnerLoops::Scalar;
            return self.all_points(kernel, p, strip, |emit| {
                emit.scoped(&kernel.body, |emit| {
                    emit.body(&kernel.body);
                });
            });
        };
        if plan.has_arrays() && super::control::has_inner_loops(&kernel.body) {
            self.inner_loops = super::control::InnerLoops::InLanes { parts: plan.parts };
            self.room = super::lanes::IN_L2;
        }
        let again = self.may_repeat(&kernel.body);
        self.may_store_past(&kernel.body, again);
        let work = |emit: &mut Self, row| match &interior {
            Some(interior) => emit.grouped_inside(kernel, (&plan, interior, again), *index, row),
            None => emit.grouped(kernel, (&plan, again), *index, row),
        };
        match self.extents(&kernel.space) {
            Some(space) => self.rows(&space, (p[0], p[1]), |emit, first, last, base| {
                let (range, base) = ((first, last), Some(base));
                work(emit, Row { range, base });
            }),
            None => self.piece_rows(&kernel.space, super::ragged::piece(p), |emit, piece| {
                let (range, base) = (piece.range, None);
                work(emit, Row { range, base });
            }),
        }
        self.settle_map();
    }

    /// Executes `body` for every point that the parameters of a unit say, in order.
    pub(super) fn all_points(
        &mut self,
        kernel: &Kernel,
        p: &[Value],
        strip: i64,
        body: impl FnOnce(&mut Self),
    ) {
        match self.extents(&kernel.space) {
            Some(space) => self.points(&space, (p[0], p[1]), strip, |emit, _| body(emit)),
            None => {
                let piece = super::ragged::piece(p);
                self.piece_points(&kernel.space, piece, strip, |emit, _| body(emit));
            }
        }
    }

    /// The extents of a space as values, if none of them is ragged.
    pub(super) fn extents(&mut self, space: &[(Var, Extent)]) -> Option<Vec<(Var, Value)>> {
        let extents = space.iter().map(|(index, extent)| match *extent {
            Extent::Regular(n) => Some((*index, n)),
            Extent::Ragged { .. } => None,
        });
        let extents: Option<Vec<(Var, Atom)>> = extents.collect();
        let extents = extents?.into_iter();
        Some(extents.map(|(i, n)| (i, self.atom(n))).collect())
    }

    /// Executes `body` for every point of a range of a space, in order. The indices are bound; `body` gets the flat
    /// index.
    pub(super) fn points(
        &mut self,
        space: &[(Var, Value)],
        range: (Value, Value),
        strip: i64,
        body: impl FnOnce(&mut Self, Value),
    ) {
        let Some((innermost, _)) = space.last() else {
            return body(self, range.0);
        };
        self.rows(space, range, |emit, first, last, base| {
            emit.range(ScalarType::I64, (first, last), strip, &[], |emit, i, _| {
                emit.bind(*innermost, i);
                let flat = emit.b.ins().iadd(base, i);
                body(emit, flat);
                vec![]
            });
        });
    }

    /// Executes `row` for every run of points of a range of a space that differ in the innermost dimension only. The
    /// other indices are bound; `row` gets the first and the last index but one of the run, and what makes them flat
    /// indices when added. The outer dimensions are stepped between rows.
    pub(super) fn rows(
        &mut self,
        space: &[(Var, Value)],
        (lo, hi): (Value, Value),
        row: impl FnOnce(&mut Self, Value, Value, Value),
    ) {
        let ((_, width), outer) = space
            .split_last()
            .expect("a space with points to step through");
        if outer.is_empty() {
            let base = self.i64(0);
            return row(self, lo, hi, base);
        }
        // Position in the range, then the index in each dimension.
        let mut rest = lo;
        let mut start = Vec::new();
        for (_, extent) in space.iter().skip(1).rev() {
            start.push(self.b.ins().urem(rest, *extent));
            rest = self.b.ins().udiv(rest, *extent);
        }
        start.push(rest);
        start.push(lo);
        start.reverse();
        let (header, next, exit) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let any = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b
            .ins()
            .brif(any, header, &block_args(start), exit, &[]);

        let state = self.params(header, &vec![types::I64; space.len() + 1]);
        self.b.switch_to_block(header);
        let (flat, first) = (state[0], state[space.len()]);
        for ((index, _), value) in outer.iter().zip(&state[1..]) {
            self.bind(*index, *value);
        }
        let left = self.b.ins().isub(hi, flat);
        let last = self.b.ins().iadd(first, left);
        let inside = self.b.ins().icmp(IntCC::SignedLessThan, last, *width);
        let last = self.b.ins().select(inside, last, *width);
        let base = self.b.ins().isub(flat, first);
        row(self, first, last, base);
        let flat = self.b.ins().iadd(base, last);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, flat, hi);
        self.b.ins().brif(more, next, &[], exit, &[]);

        self.b.switch_to_block(next);
        let mut stepped = vec![self.i64(0)];
        let mut carry = self.i64(1);
        for ((_, extent), index) in outer.iter().zip(&state[1..]).rev() {
            let sum = self.b.ins().iadd(*index, carry);
            let wraps = self.b.ins().icmp(IntCC::Equal, sum, *extent);
            let zero = self.i64(0);
            stepped.push(self.b.ins().select(wraps, zero, sum));
            carry = self.b.ins().uextend(types::I64, wraps);
        }
        stepped.push(flat);
        stepped.reverse();
        self.b.ins().jump(header, &block_args(stepped));
        self.b.switch_to_block(exit);
    }

    /// Applies a lambda.
    pub(super) fn apply(
        &mut self,
        lambda: &Lambda<Mem>,
        args: impl IntoIterator<Item = Value>,
    ) -> Vec<Value> {
        for (param, value) in lambda.params.iter().zip(args) {
            self.bind(*param, value);
        }
        self.body(&lambda.body)
    }

    /// Combines two tuples by several operators, each of which takes its share of the components.
    pub(super) fn operate(
        &mut self,
        ops: &[Operator<Mem>],
        left: &[Value],
        right: &[Value],
    ) -> Vec<Value> {
        let mut out = Vec::with_capacity(left.len());
        for op in ops {
            let share = out.len()..out.len() + op.neutral.len();
            let args: Vec<Value> = left[share.clone()]
                .iter()
                .chain(&right[share])
                .copied()
                .collect();
            out.extend(self.apply(&op.lam, args));
        }
        out
    }
}

/// The types of the components of a tuple of operators.
pub(crate) fn components(vars: &Vars, ops: &[Operator<Mem>]) -> Vec<ScalarType> {
    let params = ops.iter().flat_map(|op| &op.lam.params[..op.neutral.len()]);
    params
        .map(|v| vars[*v].ty.elem().expect("operators work on scalars"))
        .collect()
}
