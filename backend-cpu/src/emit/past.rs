//! Results that are larger than caches are stored past them: what is written whole and read by nobody soon needs no line of a cache, which is
//! read from memory before its first byte is written. Registers of 256 and 512 bits have stores that do so, where they fill whole lines.
//!
//! ```text
//! out[i..i + 16] = 2 * x[i..i + 16] + 1   ──►   if &out[i] & mask == 0 { vmovntps } else { vmovups }
//! ```
//!
//! The launch says whether its results are so large. If not, the mask has all bits, so that no address passes.

use super::{Emit, block_args, fixed, plain};
use crate::wide::{HELD, PAST};
use crate::worker::Worker;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, Exp, Vars};
use midend::ir::types::ScalarType;
use std::collections::BTreeSet;
use std::mem::offset_of;

/// Bytes of a line of the cache.
pub(super) const LINE: i32 = crate::worker::LINE as i32;
/// The points of a strip, a power of two, and the strips between two looks at the stop flag.
const STRIP: i64 = 512;
const STRIPS: i64 = 16;
/// What a worker has for launches whose results stay in caches, and for the others: which bits of an address must not be set.
pub(crate) const NEAR: u64 = u64::MAX;
pub(crate) const FAR: u64 = LINE as u64 - 1;

/// The buffers of which each point of a map writes one element once, and which no point reads.
fn streamed(body: &Body<Mem>) -> BTreeSet<Var> {
    let (read, written) = super::groups::buffers(body);
    let mut once = BTreeSet::new();
    let mut often = BTreeSet::new();
    midend::ir::walk::all_stms(body, &mut |stm| {
        if let Exp::Op(Mem::Store { buffer, .. }) = &stm.exp
            && !once.insert(*buffer)
        {
            often.insert(*buffer);
        }
    });
    let stored = body.stms.iter().filter_map(|stm| match &stm.exp {
        Exp::Op(Mem::Store { buffer, .. }) => Some(*buffer),
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    });
    let is_streamed = |v: &Var| written.contains(v) && !read.contains(v) && !often.contains(v);
    stored.filter(is_streamed).collect()
}

/// How many bytes a point of a map writes that may be stored past the caches.
pub(crate) fn streamed_bytes(vars: &Vars, body: &Body<Mem>) -> i64 {
    let elems = streamed(body).into_iter().map(|v| vars[v].ty.elem());
    elems.flatten().map(|elem| elem.bytes() as i64).sum()
}

/// What is stored past the caches in the unit at hand, and the bits that an address must not have for that.
pub(super) struct Past {
    buffers: BTreeSet<Var>,
    mask: Value,
}

/// A strip on the stack: where it begins, where its results go, and where the first of all.
pub(super) struct Strip {
    pub(super) start: Value,
    to: Value,
    begin: Value,
    elem: ScalarType,
}

impl Emit<'_, '_> {
    /// Looks for results of a map that may be stored past the caches. `apart` says whether nothing is read that is written.
    pub(super) fn may_store_past(&mut self, body: &Body<Mem>, apart: Option<Value>) {
        let buffers = streamed(body);
        let Some(apart) = apart.filter(|_| self.parts > 1 && !buffers.is_empty()) else {
            return;
        };
        let said = self.far();
        let never = self.i64(NEAR as i64);
        let mask = self.b.ins().select(apart, said, never);
        self.past = Some(Past { buffers, mask });
    }

    /// What the worker has.
    fn far(&mut self) -> Value {
        let at = i32::try_from(offset_of!(Worker<'_>, past)).expect("the worker is small");
        self.b.ins().load(types::I64, fixed(), self.worker, at)
    }

    /// Whether results are stored past the caches.
    fn is_far(&mut self) -> Value {
        let far = self.far();
        self.b.ins().icmp_imm_u(IntCC::Equal, far, FAR as i64)
    }

    /// Results that are made one after the other, in strips on the stack, from where they are copied past the caches, if they are far and enough
    /// for one; else as they are. `made` makes those of a range, given their places, which are those of the first point of all.
    pub(super) fn through_strips(
        &mut self,
        (places, tys, base): (&[Value], &[ScalarType], Value),
        (start, range): (&[Value], (Value, Value)),
        made: impl Fn(&mut Self, &[Value], (Value, Value), &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let strips: Vec<Value> = tys
            .iter()
            .map(|ty| self.stack_slot(STRIP as u32 * ty.bytes() as u32 + LINE as u32))
            .collect();
        let kinds = self.types_of(start);
        let [far, near, join] = [(); 3].map(|()| self.b.create_block());
        let results = self.params(join, &kinds);
        let length = self.b.ins().isub(range.1, range.0);
        let enough = IntCC::SignedGreaterThanOrEqual;
        let enough = self.b.ins().icmp_imm_s(enough, length, STRIP);
        let is_far = self.is_far();
        let both = self.b.ins().band(enough, is_far);
        self.b.ins().brif(both, far, &[], near, &[]);

        self.b.switch_to_block(near);
        let sums = made(self, places, range, start);
        self.b.ins().jump(join, &block_args(sums));

        self.b.switch_to_block(far);
        let rounded = self.b.ins().iadd_imm_s(length, STRIP - 1);
        let shift = i64::from(STRIP.ilog2());
        let count = self.b.ins().sshr_imm_u(rounded, shift);
        let zero = self.i64(0);
        let begin = self.b.ins().iadd(base, range.0);
        let all = (ScalarType::I64, (zero, count));
        let sums = self.range(all.0, all.1, STRIPS, start, |emit, number, before| {
            let ahead = emit.b.ins().ishl_imm_u(number, shift);
            let from = emit.b.ins().iadd(range.0, ahead);
            let to = emit.b.ins().iadd_imm_s(from, STRIP);
            let to = emit.b.ins().smin(to, range.1);
            let first = emit.b.ins().iadd(base, from);
            let back = emit.b.ins().ineg(first);
            let kinds = strips.iter().zip(places).zip(tys);
            let strips: Vec<Strip> = kinds
                .map(|((strip, place), ty)| emit.strip_for(*strip, (*place, *ty), (begin, first)))
                .collect();
            let seen: Vec<Value> = strips
                .iter()
                .zip(tys)
                .map(|(strip, ty)| emit.element(strip.start, *ty, back))
                .collect();
            let sums = made(emit, &seen, (from, to), before);
            let count = emit.b.ins().isub(to, from);
            let is_last = emit.b.ins().icmp(IntCC::Equal, to, range.1);
            for strip in strips {
                emit.copy_strip(&strip, count, is_last);
            }
            sums
        });
        self.b.ins().jump(join, &block_args(sums));
        self.b.switch_to_block(join);
        results
    }

    /// A strip of results that are made one after the other, whose first element is number `first` of those of a buffer; that of the first strip is number
    /// `begin`.
    pub(super) fn strip_for(
        &mut self,
        room: Value,
        (place, elem): (Value, ScalarType),
        (begin, first): (Value, Value),
    ) -> Strip {
        let begin = self.element(place, elem, begin);
        let to = self.element(place, elem, first);
        let before = self.b.ins().band_imm_s(to, i64::from(LINE) - 1);
        Strip {
            start: self.b.ins().iadd(room, before),
            to,
            begin,
            elem,
        }
    }

    /// Copies so many results to where they go.
    pub(super) fn copy_strip(&mut self, strip: &Strip, count: Value, is_last: Value) {
        let bytes = strip.elem.bytes() as i64;
        let bytes = self.b.ins().imul_imm_s(count, bytes);
        let is_last = self.b.ins().uextend(types::I64, is_last);
        let args = [
            self.worker,
            strip.begin,
            strip.to,
            strip.start,
            bytes,
            is_last,
        ];
        self.helper(&crate::calls::COPY_PAST, &args);
    }

    /// Stores vectors side by side, past the caches where that may be. `buffer` is where they go.
    pub(super) fn store_vectors(
        &mut self,
        (buffer, start): (Option<Var>, Value),
        (vectors, step): (&[Value], i32),
    ) {
        let store = |emit: &mut Self, mark: i32| {
            for (i, all) in vectors.iter().enumerate() {
                let offset = mark + step * i as i32;
                emit.b.ins().store(plain(), *all, start, offset);
            }
        };
        let whole = step * vectors.len() as i32 % LINE == 0;
        let may_pass = |past: &&Past| whole && buffer.is_some_and(|v| past.buffers.contains(&v));
        let Some(mask) = self.past.as_ref().filter(may_pass).map(|past| past.mask) else {
            return store(self, 0);
        };
        // So that both branches do not compute them.
        store(self, HELD);
        let over = self.b.ins().band(start, mask);
        let [far, near, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(over, near, &[], far, &[]);
        self.b.switch_to_block(far);
        store(self, PAST);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(near);
        store(self, 0);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
    }

    /// Has others see what the map at hand stored past the caches before whatever is stored from here on.
    pub(super) fn settle_map(&mut self) {
        if self.past.take().is_some() {
            self.settle();
        }
    }

    /// The same of what was stored in any way.
    pub(super) fn settle(&mut self) {
        let [wait, join] = [(); 2].map(|()| self.b.create_block());
        let any = self.is_far();
        self.b.ins().brif(any, wait, &[], join, &[]);
        self.b.switch_to_block(wait);
        self.b.ins().fence();
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
    }
}
