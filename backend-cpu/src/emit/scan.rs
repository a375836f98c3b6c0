//! Scans: a range of inner points for each of a range of outer points, from given starts; and the second pass that
//! puts the sums of earlier chunks in front.

mod vectors;

use super::control::{is_cheap_scalar, operations};
use super::{Emit, clif, fixed, plain};
use crate::worker::Worker;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::filters::kept;
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Lambda, Stm, Vars};
use midend::ir::types::ScalarType;
use std::mem::offset_of;
use vectors::{InVectors, in_vectors};

/// The most statements of a body that is executed twice.
const TWICE: usize = 16;

/// Points that are scanned together, so that each of them need not wait for the one before: one has their sums, and puts what comes
/// before in front of them.
const TOGETHER: i64 = 4;
/// The most operations of an operator that is applied twice as often for that.
const CHEAP: usize = 2;

/// Whether points may be scanned together: nothing is rounded, and the operator is little work.
fn may_regroup(kernel: &Kernel, ops: &[Operator<Mem>], tys: &[ScalarType]) -> bool {
    let cheap = |op: &Operator<Mem>| {
        let count = |op, args: &[_]| is_cheap_scalar(op, args).then_some(1);
        operations(&op.lam.body, CHEAP, &count).is_some()
    };
    let little = |stm: &Stm<Mem>| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => true,
        Exp::Op(op) => matches!(op, Mem::Load { .. }),
        Exp::Guard { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
    };
    let body = &kernel.body.stms;
    let exact = tys.iter().all(|ty| !ty.is_float()) && ops.iter().all(cheap);
    exact && !kernel.is_ragged() && body.len() <= TWICE && body.iter().all(little)
}

/// Whether pieces are reduced before they are scanned, so that the body is executed twice; else sums are put in front of what
/// was scanned. What comes from memory is near the second time.
pub(crate) fn sums_first(kernel: &Kernel) -> bool {
    let KernelKind::Scan { then, .. } = &kernel.kind else {
        return false;
    };
    let is_little = |exp: &Exp<Mem>| match exp {
        Exp::Atom(_) | Exp::Assert { .. } | Exp::Op(Mem::Load { .. }) => true,
        Exp::Scalar(op, _) => midend::math::definition(*op).is_none(),
        Exp::Guard { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Op(_) => {
            false
        }
    };
    let body = &kernel.body.stms;
    let is_little = body.len() <= TWICE && body.iter().all(|stm| is_little(&stm.exp));
    then.is_some() || (is_little && !kernel.is_ragged())
}

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, slots of the start, slots for the end, table of results; or for ragged
    /// rows, all of which start with the neutral element: slots, the rows and points of a piece, slots for the end, table.
    pub(super) fn scan(
        &mut self,
        kernel: &Kernel,
        (ops, then): (&[Operator<Mem>], Option<&Lambda<Mem>>),
        p: &[Value],
    ) {
        let tys = super::kernel::components(self.vars, ops);
        let table = *p.last().expect("the table is the last parameter");
        let places = match then {
            Some(_) => Vec::new(),
            None => self.places(table, tys.len()),
        };
        if kernel.has_ragged_rows() {
            let piece = super::ragged::piece(&p[1..]);
            return self.piece_rows(&kernel.space, piece, |emit, row| {
                let start = emit.neutral(ops);
                let to = (start, row.range, row.base);
                let sums = emit.scan_row(kernel, (ops, then), (&places, None), to);
                emit.store_slots(p[5], &sums);
            });
        }
        let Some(((_, Extent::Regular(width)), outer)) = kernel.space.split_last() else {
            unreachable!("a scan has a dimension to scan");
        };
        let width = self.atom(*width);
        let job = match then {
            None => in_vectors(self.vars, kernel, ops, (self.asked, self.units.looks_up)),
            Some(_) => None,
        };
        if let Some(job) = &job {
            self.parts = job.parts();
            self.in_lanes = true;
        }
        self.walk(outer, (p[1], p[2]), super::reduce::ROWS, |emit, flat| {
            let start = emit.load_slots(p[5], &tys);
            let base = emit.b.ins().imul(flat, width);
            let to = (start, (p[3], p[4]), base);
            let sums = emit.scan_row(kernel, (ops, then), (&places, job.as_ref()), to);
            emit.store_slots(p[6], &sums);
        });
    }

    /// Scans a range of inner points from a start; the first point of the row has the number `base`.
    fn scan_row(
        &mut self,
        kernel: &Kernel,
        (ops, then): (&[Operator<Mem>], Option<&Lambda<Mem>>),
        (places, job): (&[Value], Option<&InVectors>),
        (start, range, base): (Vec<Value>, (Value, Value), Value),
    ) -> Vec<Value> {
        if let Some(then) = then
            && let Some(kept) = kept(kernel, ops, then)
        {
            let sums = self.scan_kept(kernel, (ops, then), &kept, (&start, range));
            self.settle();
            return sums;
        }
        if then.is_some() || !sums_first(kernel) {
            let to = (places, None);
            return self.scan_points(kernel, (ops, then), to, (&start, range, base));
        }
        let tys = super::kernel::components(self.vars, ops);
        let to = (places, &tys[..], base);
        let sums = self.through_strips(to, (&start, range), |emit, places, range, start| {
            emit.scan_points(kernel, (ops, then), (places, job), (start, range, base))
        });
        self.settle();
        sums
    }

    /// The same, with results stored where they go.
    fn scan_points(
        &mut self,
        kernel: &Kernel,
        (ops, then): (&[Operator<Mem>], Option<&Lambda<Mem>>),
        (places, job): (&[Value], Option<&InVectors>),
        (start, range, base): (&[Value], (Value, Value), Value),
    ) -> Vec<Value> {
        let tys = super::kernel::components(self.vars, ops);
        let (index, _) = *kernel.space.last().expect("scans have a dimension");
        let strip = super::control::strip(&kernel.body);
        let store = |emit: &mut Self, i: Value, sums: &[Value]| {
            let number = emit.b.ins().iadd(base, i);
            for ((sum, place), ty) in sums.iter().zip(places).zip(&tys) {
                let target = emit.element(*place, *ty, number);
                emit.b.ins().store(plain(), *sum, target, 0);
            }
        };
        let point = |emit: &mut Self, i: Value, sums: &[Value]| {
            emit.bind(index, i);
            let sums = emit.scoped(&kernel.body, |emit| {
                let values = emit.body(&kernel.body);
                let sums = emit.operate(ops, sums, &values);
                if let Some(then) = then {
                    let rest = &values[sums.len()..];
                    emit.apply(then, sums.iter().chain(rest).copied());
                }
                sums
            });
            store(emit, i, &sums);
            sums
        };
        if then.is_some() || !may_regroup(kernel, ops, &tys) {
            return self.range(ScalarType::I64, range, strip, start, point);
        }
        if let Some(job) = job {
            let to = (start[0], range);
            let (sum, rest) = self.scan_vectors(job, ops, (places[0], base), to);
            return self.few((rest, range.1), &[sum], point);
        }
        let length = self.b.ins().isub(range.1, range.0);
        let shift = i64::from(TOGETHER.trailing_zeros());
        let groups = self.b.ins().sshr_imm_u(length, shift);
        let sums = self.counted(ScalarType::I64, groups, strip, start, |emit, g, sums| {
            let ahead = emit.b.ins().imul_imm_s(g, TOGETHER);
            let first = emit.b.ins().iadd(range.0, ahead);
            let (mut group, mut all): (Option<Vec<Value>>, _) = (None, sums.to_vec());
            for k in 0..TOGETHER {
                let i = emit.b.ins().iadd_imm_s(first, k);
                emit.bind(index, i);
                let values = emit.body(&kernel.body);
                let own = match group {
                    Some(before) => emit.operate(ops, &before, &values),
                    None => values,
                };
                all = emit.operate(ops, sums, &own);
                store(emit, i, &all);
                group = Some(own);
            }
            all
        });
        let done = self.b.ins().imul_imm_s(groups, TOGETHER);
        let rest = self.b.ins().iadd(range.0, done);
        self.few((rest, range.1), &sums, point)
    }

    /// How many points behind those at hand the thread's next ones probably are.
    pub(super) fn next_points(&mut self) -> Value {
        let at = i32::try_from(offset_of!(Worker<'_>, next)).expect("the worker is small");
        self.b.ins().load(types::I64, fixed(), self.worker, at)
    }

    /// Asks for what the thread probably reads next, where wider registers have marks for that: nobody reads memory while the points at hand are scanned,
    /// which are near.
    pub(super) fn ask_for_next(
        &mut self,
        kernel: &Kernel,
        (first, next): (Value, Value),
        width: usize,
    ) {
        let (index, _) = *kernel.space.last().expect("scans have a dimension");
        if self.parts == 1 {
            return;
        }
        let there = self.b.ins().iadd(first, next);
        for stm in &kernel.body.stms {
            if let Exp::Op(Mem::Load { buffer, index: at }) = &stm.exp
                && *at == Atom::Var(index)
            {
                let elem = self.elem(*buffer);
                let start = self.var(*buffer);
                let start = self.element(start, elem, there);
                self.ask_for(start, (width * elem.bytes()) as i32);
            }
        }
    }

    /// Parameters: slots, range of flat indices, slots of the carry, table of results.
    pub(super) fn fix(&mut self, ops: &[Operator<Mem>], p: &[Value]) {
        let tys = super::kernel::components(self.vars, ops);
        let carry = self.load_slots(p[3], &tys);
        let places = self.places(p[4], tys.len());
        self.range(ScalarType::I64, (p[1], p[2]), 1024, &[], |emit, i, _| {
            let targets: Vec<Value> = places
                .iter()
                .zip(&tys)
                .map(|(place, ty)| emit.element(*place, *ty, i))
                .collect();
            let values: Vec<Value> = targets
                .iter()
                .zip(&tys)
                .map(|(target, ty)| emit.b.ins().load(clif(*ty), plain(), *target, 0))
                .collect();
            let sums = emit.operate(ops, &carry, &values);
            for (sum, target) in sums.into_iter().zip(targets) {
                emit.b.ins().store(plain(), sum, target, 0);
            }
            vec![]
        });
    }
}

/// How many bytes a point of a scan writes that may be stored past the caches; a filter is taken to keep half of its points.
pub(crate) fn streamed_bytes(vars: &Vars, kernel: &Kernel) -> i64 {
    let KernelKind::Scan { ops, then, .. } = &kernel.kind else {
        return 0;
    };
    let bytes = |tys: Vec<ScalarType>| tys.iter().map(|ty| ty.bytes() as i64).sum::<i64>();
    match then {
        None if sums_first(kernel) => bytes(super::kernel::components(vars, ops)),
        None => 0,
        Some(then) => kept(kernel, ops, then).map_or(0, |kept| {
            let stores = kept.stores.iter();
            bytes(stores.filter_map(|(v, _)| vars[*v].ty.elem()).collect()) / 2
        }),
    }
}
