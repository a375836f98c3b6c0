//! What a strip of points of a histogram will load, loaded before: nothing waits for these loads, so that many lines of the cache are on their way at
//! once, while updates of buckets leave room for those of a few points ahead only.
//!
//! ```text
//! for each strip of 1024 points:           for each strip of 1024 points:
//!   for each point i:               ──►      for each 16th point i: any |= x[i]
//!     bucket[x[i]] += 1                      for each point i: bucket[x[i]] += 1
//! ```

use super::tables;
use crate::emit::{Emit, plain};
use crate::target::gains_by_asking;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Exp, Stm, Vars};
use midend::ir::types::ScalarType;

/// Points of a strip: what they load stays in the nearest cache.
pub(super) const STRIP: i64 = 1024;
/// The most loads of a point.
const LOADS: usize = 4;
/// Bytes of a line of the cache, and of a point from which on lines are what is waited for.
const LINE: usize = 64;
const MANY: usize = 4;

/// What a point loads.
pub(super) struct Soon {
    stms: Vec<Stm<Mem>>,
    loads: Vec<Var>,
    /// Every so many points something is loaded.
    step: i64,
}

/// What points load that are `apart` elements from one another, if they do nothing but arithmetic with it, where the
/// processor gains by it.
pub(super) fn soon(vars: &Vars, stms: &[&Stm<Mem>], apart: usize) -> Option<Soon> {
    if !gains_by_asking() {
        return None;
    }
    let mut loads = Vec::new();
    let mut most = 1;
    for stm in stms {
        let plain = matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(_));
        if !plain || !tables::is_simple(stm) {
            return None;
        }
        if matches!(stm.exp, Exp::Op(_)) {
            loads.push(*stm.binds.first()?);
            most = most.max(vars[*stm.binds.first()?].ty.elem()?.bytes());
        }
    }
    let step = (LINE / (most * apart).min(LINE)).max(1);
    let fits = !loads.is_empty() && loads.len() <= LOADS && most * apart >= MANY;
    fits.then(|| Soon {
        stms: stms.iter().map(|stm| (*stm).clone()).collect(),
        loads,
        step: 1 << step.ilog2(),
    })
}

impl Emit<'_, '_> {
    /// Goes through points in strips, each of which has loaded what it needs when `strip` goes through it; `point` says which point is next.
    pub(super) fn loaded_before(
        &mut self,
        soon: &Soon,
        (first, last): (Value, Value),
        point: impl Fn(&mut Self, Value),
        strip: impl FnOnce(&mut Self, (Value, Value)),
    ) {
        fired("cpu/histogram-loads-soon");
        let unread = self.stack_slot(8);
        let length = self.b.ins().isub(last, first);
        let count = self.b.ins().iadd_imm_s(length, STRIP - 1);
        let shift = i64::from(STRIP.trailing_zeros());
        let count = self.b.ins().sshr_imm_u(count, shift);
        self.counted(ScalarType::I64, count, 1, &[], |emit, number, _| {
            let ahead = emit.b.ins().ishl_imm_u(number, shift);
            let first = emit.b.ins().iadd(first, ahead);
            let end = emit.b.ins().iadd_imm_s(first, STRIP);
            let last = emit.b.ins().smin(end, last);
            let length = emit.b.ins().isub(last, first);
            let whole = emit.b.ins().band_imm_s(length, -soon.step);
            let end = emit.b.ins().iadd(first, whole);
            let none = emit.i64(0);
            let any = emit.few_by(soon.step, (first, end), &[none], |emit, i, any| {
                point(emit, i);
                for stm in &soon.stms {
                    emit.stm(stm);
                }
                let mut any = any[0];
                for load in &soon.loads {
                    let value = emit.var(*load);
                    let bits = emit.bits(value);
                    any = emit.b.ins().bor(any, bits);
                }
                vec![any]
            });
            // So that it is not left out.
            emit.b.ins().store(plain(), any[0], unread, 0);
            strip(emit, (first, last));
            vec![]
        });
    }

    /// The bits of a number as an integer of 64 bits.
    fn bits(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let value = match ty.is_float() {
            true => self
                .b
                .ins()
                .bitcast(ty.as_int(), MemFlagsData::new(), value),
            false => value,
        };
        match ty.bits() {
            64 => value,
            _ => self.b.ins().uextend(types::I64, value),
        }
    }
}
