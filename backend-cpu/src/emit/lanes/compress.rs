//! Points of which those that are kept go side by side: vectors of them are compressed. For registers of 512 bits there is an
//! instruction for that; in those of 256 bits lanes are put in an order that a table has for each mask.

use super::choose::plan_kept;
use super::plan::Plan;
use super::{Emit, Group};
use crate::emit::library::RAW;
use crate::emit::{fixed, plain};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::filters::Kept;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Atom, Body, Exp, Lambda, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;

/// For each mask of the lanes of a register of 256 bits, an order of its eight lanes of 32 bits: first those that are set, then any others.
/// A row of eight is read with as many bytes behind it.
#[repr(C, align(64))]
struct Orders<const MASKS: usize> {
    rows: [[u16; 8]; MASKS],
    behind: [u16; 8],
}

/// For lanes of 32 bits, and of 64 bits, which are two of 32.
static ORDERS: Orders<256> = orders();
static ORDERS_OF_PAIRS: Orders<16> = orders();

const fn orders<const MASKS: usize>() -> Orders<MASKS> {
    let bits = MASKS.trailing_zeros() as usize;
    let each = 8 / bits;
    let mut rows = [[0; 8]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut lane, mut at) = (0, 0);
        while lane < 8 {
            if mask >> (lane / each) & 1 == 1 {
                rows[mask][at] = lane as u16;
                at += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    Orders {
        rows,
        behind: [0; 8],
    }
}

/// How points are worked on together of which some are kept.
pub(in crate::emit) struct Compressed {
    pub(in crate::emit) plan: Plan,
    /// What is computed of them.
    body: Body<Mem>,
    keep: Atom,
    /// What is stored of those that are kept, and its type.
    stores: Vec<(Atom, ScalarType)>,
}

/// How the points of a scan are worked on together that counts those that are kept; nothing if points but the last of all do anything
/// else.
pub(in crate::emit) fn compressed(
    vars: &Vars,
    (kernel, then): (&Kernel, &Lambda<Mem>),
    kept: &Kept,
    asked: usize,
) -> Option<Compressed> {
    let results = &kernel.body.result;
    let of_kernel = |atom: Atom| match atom {
        Atom::Const(_) => Some(atom),
        Atom::Var(v) => {
            let param = then.params.iter().position(|p| *p == v)?;
            (param > 0).then(|| results[param])
        }
    };
    if !kept.else_at_end {
        return None;
    }
    let Exp::If { cond, .. } = &then.body.stms[kept.statement].exp else {
        return None;
    };
    let keep = of_kernel(*cond)?;
    let stores: Option<Vec<(Atom, ScalarType)>> = kept
        .stores
        .iter()
        .map(|(buffer, value)| Some((of_kernel(*value)?, vars[*buffer].ty.elem()?)))
        .collect();
    let stores = stores?;
    // What is counted is what is kept.
    let mut body = kernel.body.clone();
    let counted = results[0];
    let wanted = |stm: &Stm<Mem>| !stm.binds.iter().any(|v| counted == Atom::Var(*v));
    body.stms.retain(wanted);
    let also = |v: &Var| counted == Atom::Var(*v);
    let used = body
        .stms
        .iter()
        .any(|stm| free_in_stm(vars, stm).iter().any(also));
    let in_vectors =
        |ty: &ScalarType| !matches!(ty, ScalarType::Bool) && matches!(ty.bytes(), 4 | 8);
    if used || results[1..].contains(&counted) || !stores.iter().all(|(_, ty)| in_vectors(ty)) {
        return None;
    }
    body.result.clear();
    let tys: Vec<ScalarType> = stores.iter().map(|(_, ty)| *ty).collect();
    let plan = plan_kept(kernel, &body, vars, (&tys, asked))?;
    Some(Compressed {
        plan,
        body,
        keep,
        stores,
    })
}

impl Emit<'_, '_> {
    /// A group of points, the first of which has the index `start`: stores what is kept of them one after the other, `at` elements
    /// behind the starts of these strips. Yields how many are kept.
    pub(in crate::emit) fn group_kept(
        &mut self,
        job: &Compressed,
        (index, start): (Var, Value),
        strips: &[Value],
        at: Value,
    ) -> Value {
        let mut group = Group::new(&job.plan, index, start);
        self.lanes_body(&mut group, &job.body);
        let mut end = at;
        for ((value, elem), strip) in job.stores.iter().zip(strips) {
            let per = job
                .plan
                .per_vector(*elem)
                .expect("the plan is for such stores");
            let masks = self.mask(&mut group, job.keep, per);
            let vectors = self.packed(&mut group, *value);
            end = at;
            for (mask, vector) in masks.into_iter().zip(vectors) {
                let place = self.element(*strip, *elem, end);
                let count = self.store_kept(vector, (mask, job.plan.parts), place);
                end = self.b.ins().iadd(end, count);
            }
        }
        self.b.ins().isub(end, at)
    }

    /// Stores the lanes of a vector that are set in a mask, one after the other, and anything behind them where the others had place. Yields how
    /// many are set.
    pub(super) fn store_kept(
        &mut self,
        vector: Value,
        (mask, parts): (Value, usize),
        to: Value,
    ) -> Value {
        let (dense, count) = match parts {
            1 => return self.store_one_by_one(vector, mask, to),
            2 => self.in_order(vector, mask),
            parts => self.compressed(vector, (mask, parts)),
        };
        self.b.ins().store(plain(), dense, to, 0);
        count
    }

    /// The same in registers of 128 bits: each lane where the next one that is set goes.
    fn store_one_by_one(&mut self, vector: Value, mask: Value, to: Value) -> Value {
        let bytes = self.b.func.dfg.value_type(vector).lane_type().bytes();
        let truths = self.truths(&[mask], 1);
        let mut count = self.i64(0);
        for (value, truth) in self.unpacked(&[vector], 1).into_iter().zip(truths) {
            let ahead = self.b.ins().imul_imm_s(count, i64::from(bytes));
            let place = self.b.ins().iadd(to, ahead);
            self.b.ins().store(plain(), value, place, 0);
            let one = self.b.ins().uextend(types::I64, truth);
            count = self.b.ins().iadd(count, one);
        }
        count
    }

    /// The lanes of a vector that are set in a mask, one after the other, in registers of 512 bits, and how many there are.
    fn compressed(&mut self, vector: Value, (mask, parts): (Value, usize)) -> (Value, Value) {
        // Marks what Cranelift has not: see `wide`.
        let [kept, lanes] = [vector, mask].map(|v| self.b.ins().bitcast(types::I16X8, RAW, v));
        let dense = self.b.ins().ssub_sat(kept, lanes);
        let counts = self.parts_of(mask, parts).into_iter().map(|part| {
            let bits = self.b.ins().vhigh_bits(types::I32, part);
            self.b.ins().popcnt(bits)
        });
        let counts: Vec<Value> = counts.collect();
        let count = counts.into_iter().reduce(|a, b| self.b.ins().iadd(a, b));
        let count = count.expect("registers have parts");
        (dense, self.b.ins().uextend(types::I64, count))
    }

    /// The same in registers of 256 bits.
    fn in_order(&mut self, vector: Value, mask: Value) -> (Value, Value) {
        let lanes = self.b.func.dfg.value_type(mask).lane_count();
        let parts = self.parts_of(mask, 2);
        let [low, high] =
            [parts[0], parts[1]].map(|part| self.b.ins().vhigh_bits(types::I32, part));
        let high = self.b.ins().ishl_imm_u(high, i64::from(lanes));
        let bits = self.b.ins().bor(low, high);
        let count = self.b.ins().popcnt(bits);
        let orders = if lanes == 4 {
            std::ptr::from_ref(&ORDERS) as i64
        } else {
            std::ptr::from_ref(&ORDERS_OF_PAIRS) as i64
        };
        let [bits, count] = [bits, count].map(|n| self.b.ins().uextend(types::I64, n));
        let ahead = self.b.ins().imul_imm_s(bits, size_of::<[u16; 8]>() as i64);
        let orders = self.i64(orders);
        let row = self.b.ins().iadd(orders, ahead);
        let row = self.b.ins().load(types::I16X8, fixed(), row, 0);
        let order = self.b.ins().uwiden_low(row);
        // Marks what Cranelift has not: see `wide`.
        let [vector, order] = [vector, order].map(|v| self.b.ins().bitcast(types::I16X8, RAW, v));
        (self.b.ins().ssub_sat(vector, order), count)
    }
}
