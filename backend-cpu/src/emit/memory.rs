//! Loads, stores, copies, and memory local to a work item.

use super::control::{CHEAP, is_cheap_scalar};
use super::{Emit, clif, fixed, plain};
use crate::arena::{HEADER, SLACK};
use crate::worker::Worker;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::{known_bytes, statements};
use midend::ir::id::Var;
use midend::ir::mem::{Mem, Region};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp};
use midend::ir::types::{ScalarType, Type};
use std::mem::offset_of;

/// The largest local buffer that lives on the stack.
pub(super) const STACK_BUFFER: u32 = 4 << 10;
/// The most stack that local buffers of one unit take together.
pub(super) const STACK_TOTAL: u32 = 32 << 10;
/// Bytes of the widest register.
pub(super) const REGISTER: i64 = 64;
/// The most arguments that are read once, at the start. What is live all along a unit is kept in registers or written to the stack, and the
/// time of register allocation grows with the product of what is live and the blocks of the unit.
const IN_REGISTERS: usize = 64;
/// Runs of at least so many bytes are copied by a library call.
const CALL_COPY: i64 = 128;

fn top() -> i32 {
    i32::try_from(offset_of!(Worker<'_>, top)).expect("the worker is small")
}
fn end() -> i32 {
    i32::try_from(offset_of!(Worker<'_>, end)).expect("the worker is small")
}

/// Whether a body does little but store, each time to another place. What is stored to a fixed place is seldom stored, so that a
/// branch is as good.
pub(super) fn stores_little(body: &Body<Mem>) -> bool {
    let mut stores = 0;
    let little = body.stms.iter().all(|stm| match &stm.exp {
        Exp::Op(Mem::Store { index, .. }) => {
            stores += 1;
            index.as_var().is_some()
        }
        Exp::Atom(_) => true,
        Exp::Scalar(op, args) => is_cheap_scalar(*op, args),
        Exp::If { .. }
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    });
    little && (1..=CHEAP).contains(&stores) && body.stms.len() <= 3 * CHEAP
}

impl Emit<'_, '_> {
    /// Room on the stack that begins at a multiple of the widest register.
    pub(super) fn aligned_slot(&mut self, bytes: i64) -> Value {
        let room = self.stack_slot((bytes + REGISTER) as u32);
        // Not what would be computed again for each lane.
        let before = self.b.ins().ineg(room);
        let before = self.b.ins().band_imm_s(before, REGISTER - 1);
        self.b.ins().iadd(room, before)
    }

    /// Whether a variable is a buffer.
    pub(super) fn is_buffer(&self, var: Var) -> bool {
        matches!(self.ty(var), Type::Buffer(_))
    }

    /// An operation of the dialect.
    pub(super) fn memory(&mut self, op: &Mem, binds: &[Var]) -> Vec<Value> {
        match op {
            Mem::Alloc { elem, len, .. } => vec![self.alloc(*elem, *len, binds.first().copied())],
            Mem::Free(_) | Mem::Apart(_) => vec![],
            Mem::Load { buffer, index } => {
                let elem = self.elem(*buffer);
                let start = self.var(*buffer);
                let (place, offset) = self.place(start, elem, *index);
                vec![self.load(elem, place, offset)]
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => {
                let elem = self.elem(*buffer);
                let start = self.var(*buffer);
                let (place, offset) = self.place(start, elem, *index);
                let value = self.atom(*value);
                self.b.ins().store(plain(), value, place, offset);
                vec![]
            }
            Mem::Copy { shape, dst, src } => {
                self.copy(shape, dst, src);
                vec![]
            }
            Mem::Launch(_) => unreachable!("kernels that launch others are not compiled"),
            Mem::Trace(_) | Mem::Stream(_) => {
                unreachable!("the verifier lets nothing be shown inside a kernel")
            }
        }
    }

    /// A body that does little but store, without a branch: unless the condition holds it stores to where nobody looks.
    pub(super) fn diverted(&mut self, cond: Value, body: &Body<Mem>) {
        let nowhere = self.stack_slot(8);
        for stm in &body.stms {
            match &stm.exp {
                Exp::Op(Mem::Store {
                    buffer,
                    index,
                    value,
                }) => {
                    let (start, elem) = (self.var(*buffer), self.elem(*buffer));
                    let (place, offset) = self.place(start, elem, *index);
                    let place = self.b.ins().iadd_imm_s(place, i64::from(offset));
                    let place = self.b.ins().select(cond, place, nowhere);
                    let value = self.atom(*value);
                    self.b.ins().store(plain(), value, place, 0);
                }
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::If { .. }
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => self.stm(stm),
            }
        }
    }

    /// Memory for a work item: on the stack if it is small, of known size and stays in its scope.
    fn alloc(&mut self, elem: ScalarType, len: Atom, var: Option<Var>) -> Value {
        if var.is_some_and(|v| self.on_stack.contains(&v))
            && let Some(bytes) = known_bytes(elem, len)
        {
            return self.stack_slot(bytes);
        }
        let len = self.atom(len);
        self.take(elem, len)
    }

    /// Memory from the arena.
    pub(super) fn take(&mut self, elem: ScalarType, len: Value) -> Value {
        let worker = self.worker;
        let size = elem.bytes() as i64;
        let top_now = self.b.ins().load(types::I64, plain(), worker, top());
        let end_now = self.b.ins().load(types::I64, plain(), worker, end());
        let bytes = self.b.ins().imul_imm_s(len, size);
        let bytes = self.b.ins().iadd_imm_s(bytes, 15);
        let bytes = self.b.ins().band_imm_s(bytes, -16);
        let taken = self.b.ins().iadd_imm_s(bytes, HEADER);
        let left = self.b.ins().isub(end_now, top_now);
        let fits = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, taken, left);
        let sane = self
            .b
            .ins()
            .icmp_imm_s(IntCC::UnsignedLessThan, len, 1 << 48);
        let fits = self.b.ins().band(fits, sane);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.set_cold_block(slow);
        let result = self.b.append_block_param(done, types::I64);
        self.b.ins().brif(fits, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let next = self.b.ins().iadd(top_now, taken);
        self.b.ins().store(plain(), next, worker, top());
        self.b.ins().store(plain(), bytes, top_now, 0);
        let start = self.b.ins().iadd_imm_s(top_now, HEADER);
        self.b.ins().jump(done, &[start.into()]);
        self.b.switch_to_block(slow);
        let size = self.i64(size);
        let start = self
            .helper(&crate::calls::ARENA_GROW, &[worker, len, size])
            .expect("the helper yields an address");
        let fail = self.fail;
        self.b.ins().brif(start, done, &[start.into()], fail, &[]);
        self.b.switch_to_block(done);
        result
    }

    /// Whether executing the body may leave memory behind in the arena.
    pub(crate) fn uses_arena(&self, body: &Body<Mem>) -> bool {
        let mut uses = false;
        statements(body, &mut |stm| match &stm.exp {
            Exp::Op(Mem::Alloc { .. }) => {
                uses |= !stm.binds.iter().all(|v| self.on_stack.contains(v))
            }
            // Functions give their memory back, unless they return some of it.
            Exp::Call { .. } => uses |= stm.binds.iter().any(|v| self.is_buffer(*v)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Op(
                Mem::Free(_)
                | Mem::Apart(_)
                | Mem::Load { .. }
                | Mem::Store { .. }
                | Mem::Copy { .. }
                | Mem::Launch(_)
                | Mem::Trace(_)
                | Mem::Stream(_),
            ) => {}
        });
        uses
    }

    /// Emits what `inner` emits for `body`, and gives back what it took from the arena.
    pub(crate) fn scoped<R>(&mut self, body: &Body<Mem>, inner: impl FnOnce(&mut Self) -> R) -> R {
        if self.uses_arena(body) {
            self.released(inner)
        } else {
            inner(self)
        }
    }

    /// Emits what `inner` emits, and gives back what it took from the arena.
    pub(super) fn released<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> R {
        let worker = self.worker;
        let top_then = self.b.ins().load(types::I64, plain(), worker, top());
        let end_then = self.b.ins().load(types::I64, plain(), worker, end());
        let result = inner(self);
        let end_now = self.b.ins().load(types::I64, plain(), worker, end());
        let same = self.b.ins().icmp(IntCC::Equal, end_then, end_now);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.set_cold_block(slow);
        self.b.ins().brif(same, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        self.b.ins().store(plain(), top_then, worker, top());
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.helper(&crate::calls::ARENA_RELEASE, &[worker, top_then]);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        result
    }

    /// The state of the arena before a loop that carries buffers and takes memory: its first free byte, its end, and
    /// where the limit stands from which on live buffers are moved together.
    pub(super) fn mark(&mut self, body: &Body<Mem>) -> Option<[Value; 3]> {
        if !self.uses_arena(body) {
            return None;
        }
        let worker = self.worker;
        let top_then = self.b.ins().load(types::I64, plain(), worker, top());
        let end_then = self.b.ins().load(types::I64, plain(), worker, end());
        let limit = self.stack_slot(8);
        let slack = self.i64(SLACK);
        self.b.ins().store(plain(), slack, limit, 0);
        Some([top_then, end_then, limit])
    }

    /// Moves the buffers among `next` together if the iterations since the mark have left much behind.
    pub(super) fn compact(
        &mut self,
        [top_then, end_then, limit]: [Value; 3],
        vars: &[Var],
        next: &mut [Value],
    ) {
        let worker = self.worker;
        let top_now = self.b.ins().load(types::I64, plain(), worker, top());
        let end_now = self.b.ins().load(types::I64, plain(), worker, end());
        let allowed = self.b.ins().load(types::I64, plain(), limit, 0);
        let used = self.b.ins().isub(top_now, top_then);
        let few = self.b.ins().icmp(IntCC::SignedLessThan, used, allowed);
        let same = self.b.ins().icmp(IntCC::Equal, end_now, end_then);
        let fine = self.b.ins().band(few, same);
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let buffers: Vec<usize> = (0..vars.len())
            .filter(|i| self.is_buffer(vars[*i]))
            .collect();
        let params = self.params(done, &vec![types::I64; buffers.len()]);
        let unmoved = super::block_args(buffers.iter().map(|i| next[*i]));
        self.b.ins().brif(fine, done, &unmoved, slow, &[]);
        self.b.switch_to_block(slow);
        let table = self.stack_slot(8 * buffers.len() as u32);
        for (k, i) in buffers.iter().enumerate() {
            self.b.ins().store(plain(), next[*i], table, 8 * k as i32);
        }
        let count = self.i64(buffers.len() as i64);
        let ok = self
            .helper(
                &crate::calls::ARENA_COMPACT,
                &[worker, top_then, table, count, limit],
            )
            .expect("the helper says how it went");
        let moved: Vec<Value> = (0..buffers.len())
            .map(|k| self.b.ins().load(types::I64, plain(), table, 8 * k as i32))
            .collect();
        let fail = self.fail;
        self.b
            .ins()
            .brif(ok, done, &super::block_args(moved), fail, &[]);
        self.b.switch_to_block(done);
        for (i, param) in buffers.into_iter().zip(params) {
            next[i] = param;
        }
    }

    /// A strided copy.
    fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) {
        let elem = self.elem(dst.buffer);
        let (to, from) = (self.region(dst, elem), self.region(src, elem));
        let extents: Vec<Value> = shape.iter().map(|n| self.atom(*n)).collect();
        let contiguous = match (dst.strides.last(), src.strides.last()) {
            (Some(a), Some(b)) => [a, b].iter().all(|s| **s == Atom::Const(Const::I64(1))),
            (None, _) | (_, None) => false,
        };
        let strides = |emit: &mut Self, region: &Region| -> Vec<Value> {
            region.strides.iter().map(|s| emit.atom(*s)).collect()
        };
        let (to_strides, from_strides) = (strides(self, dst), strides(self, src));
        self.copy_box(
            elem,
            &extents,
            (to, &to_strides),
            (from, &from_strides),
            contiguous,
        );
    }

    /// The address of the first element of a region.
    fn region(&mut self, region: &Region, elem: ScalarType) -> Value {
        let start = self.var(region.buffer);
        let offset = self.atom(region.offset);
        self.element(start, elem, offset)
    }

    /// Copies a box from addresses; `contiguous` says that innermost strides are 1.
    fn copy_box(
        &mut self,
        elem: ScalarType,
        extents: &[Value],
        (to, to_strides): (Value, &[Value]),
        (from, from_strides): (Value, &[Value]),
        contiguous: bool,
    ) {
        let Some((extent, extents)) = extents.split_first() else {
            let value = self.b.ins().load(clif(elem), plain(), from, 0);
            self.b.ins().store(plain(), value, to, 0);
            return;
        };
        let innermost = extents.is_empty();
        if contiguous && innermost {
            self.copy_run(elem, *extent, to, from);
            return;
        }
        let strip = if innermost { 1024 } else { 16 };
        self.counted(ScalarType::I64, *extent, strip, &[], |emit, i, _| {
            let mut at = |start: Value, stride: Value| {
                let index = emit.b.ins().imul(i, stride);
                emit.element(start, elem, index)
            };
            let (to, from) = (at(to, to_strides[0]), at(from, from_strides[0]));
            emit.copy_box(
                elem,
                extents,
                (to, &to_strides[1..]),
                (from, &from_strides[1..]),
                contiguous,
            );
            vec![]
        });
    }

    /// Copies consecutive elements: short runs here, longer ones by a call.
    fn copy_run(&mut self, elem: ScalarType, len: Value, to: Value, from: Value) {
        let (short, long, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let limit = CALL_COPY / elem.bytes() as i64;
        let is_short = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, len, limit);
        self.b.ins().brif(is_short, short, &[], long, &[]);
        self.b.switch_to_block(long);
        let bytes = self.b.ins().imul_imm_s(len, elem.bytes() as i64);
        self.helper(&crate::calls::COPY_BYTES, &[to, from, bytes]);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(short);
        self.counted(ScalarType::I64, len, 1024, &[], |emit, i, _| {
            let source = emit.element(from, elem, i);
            let target = emit.element(to, elem, i);
            let value = emit.b.ins().load(clif(elem), plain(), source, 0);
            emit.b.ins().store(plain(), value, target, 0);
            vec![]
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The arguments of a kernel, from their slots.
    pub(crate) fn load_arguments(&mut self, args: &[Var], slots: Value) {
        for (i, var) in args.iter().enumerate() {
            let offset = 8 * i as i32;
            if i >= IN_REGISTERS {
                self.arguments.insert(*var, (slots, offset));
                continue;
            }
            let ty = super::clif_of(self.ty(*var)).expect("arguments have values");
            let value = self.b.ins().load(ty, fixed(), slots, offset);
            self.bind(*var, value);
        }
    }
}
