//! Loads and stores of lanes, copies, and arrays that lanes have for themselves.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is held in one of a few ways, of which most are matched as one"
)]

use super::{EACH, Held, Lower, Refused, Val, cell, held};
use crate::arena::HEADER;
use crate::vector::cost::ITERATIONS;
use crate::vector::ir::{Address, Cell, Cond, Conv, Elem, IntOp, Op, Type, Value, VecOp};
use crate::worker::Worker;
use midend::analysis::kernels::statements;
use midend::ir::id::Var;
use midend::ir::mem::{Mem, Region};
use midend::ir::syntax::{Atom, Body, Exp};
use midend::ir::types::ScalarType;
use std::mem::offset_of;

/// The largest array of all lanes that is a stack slot, and the most of them together.
const STACK_ARRAY: i64 = 8 << 10;
const STACK_ALL: i64 = 32 << 10;
/// Strides from lane to lane by which indices fit 32 bits.
const STRIDE: i64 = 1 << 24;

/// Whether a body may take memory from the arena.
pub(super) fn takes_memory(body: &Body<Mem>) -> bool {
    let mut takes = false;
    statements(body, &mut |stm| {
        takes |= matches!(&stm.exp, Exp::Op(Mem::Alloc { .. }) | Exp::Call { .. });
    });
    takes
}

impl Lower<'_> {
    /// A scalar that all lanes have, from memory.
    pub(super) fn load_uniform(&mut self, ty: ScalarType, at: Address) -> Result<Val, Refused> {
        let cell = cell(ty)?;
        Ok(match held(ty)? {
            Held::Truth => Val::Int(self.push(Type::I32, Op::Load(cell, at))),
            Held::Elem(Elem::I32) => Val::Int(self.push(Type::I32, Op::Load(cell, at))),
            Held::Elem(Elem::I64) => Val::Int(self.push(Type::I64, Op::Load(cell, at))),
            Held::Elem(elem) => Val::Vector(self.push(Type::Vector(elem), Op::SplatLoad(cell, at))),
        })
    }

    pub(super) fn memory(&mut self, op: &Mem, binds: &[Var]) -> Result<Vec<Val>, Refused> {
        match op {
            Mem::Alloc { elem, len, .. } => Ok(vec![self.alloc(*elem, *len)?]),
            Mem::Load { buffer, index } => {
                self.count_scalar(0.7);
                let ty = self.scalar_type(Atom::Var(*buffer));
                let (buffer, index) = (self.val(Atom::Var(*buffer))?, self.val(*index)?);
                let uniform = binds.iter().all(|v| self.uniformity.is_uniform(*v));
                let val = self.load(ty, buffer, index)?;
                match (uniform, val) {
                    (true, Val::Mask(_)) => Ok(vec![Val::Int(self.as_int(val)?)]),
                    _ => Ok(vec![val]),
                }
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => {
                self.count_scalar(1.0);
                let ty = self.scalar_type(Atom::Var(*buffer));
                let (buffer, index) = (self.val(Atom::Var(*buffer))?, self.val(*index)?);
                let value = self.val(*value)?;
                self.store(ty, buffer, index, value)?;
                Ok(vec![])
            }
            Mem::Copy { shape, dst, src } => {
                self.copy(shape, dst, src)?;
                Ok(vec![])
            }
            Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_) => {
                Err(Refused("an operation of the host".to_owned()))
            }
            // What is left is of the host, and nothing here.
            _ => Ok(vec![]),
        }
    }

    /// The location of an element of a buffer at a uniform index, scaled by the lanes if each has its own.
    fn address(&mut self, base: Value, index: Value, bytes: i64) -> Address {
        match self
            .known(index)
            .and_then(|n| i32::try_from(n.checked_mul(bytes)?).ok())
        {
            Some(offset) => Address::at(base, offset),
            None if matches!(bytes, 1 | 2 | 4 | 8) => Address {
                base,
                index: Some((index, bytes as u8)),
                offset: 0,
            },
            None => {
                let offset = self.op_const(IntOp::Mul, index, bytes);
                let base = self.op(IntOp::Add, base, offset);
                Address::at(base, 0)
            }
        }
    }

    /// A number of a buffer's element as it is held.
    fn loaded(&mut self, ty: ScalarType, value: Value) -> Result<Val, Refused> {
        Ok(match held(ty)? {
            Held::Truth => {
                let zero = self.vec_const(Elem::I32, 0);
                Val::Mask(self.vec_compare(Cond::Ne, value, zero))
            }
            Held::Elem(_) => Val::Vector(value),
        })
    }

    /// A value as it is stored in a buffer.
    fn stored(&mut self, val: Val) -> Result<Value, Refused> {
        self.as_vector(val)
    }

    fn elem_of(ty: ScalarType) -> Result<Elem, Refused> {
        Ok(match held(ty)? {
            Held::Truth => Elem::I32,
            Held::Elem(elem) => elem,
        })
    }

    fn load(&mut self, ty: ScalarType, buffer: Val, index: Val) -> Result<Val, Refused> {
        let (cell, elem) = (cell(ty)?, Self::elem_of(ty)?);
        let bytes = cell.bytes() as i64;
        let mask = self.mask;
        let vector = Type::Vector(elem);
        let value = match (buffer, index) {
            (Val::Shared(base), Val::Int(index)) => {
                let at = self.address(base, index, bytes);
                return self.load_uniform(ty, at);
            }
            (Val::Private(base), Val::Int(index)) => {
                let at = self.address(base, index, bytes * self.lanes());
                self.push(vector, Op::VecLoad(cell, at, mask))
            }
            (Val::Shared(base), Val::Linear(first, 1)) => {
                let at = self.address(base, first, bytes);
                self.push(vector, Op::VecLoad(cell, at, mask))
            }
            (Val::Shared(_) | Val::Private(_), _) => {
                let (base, index) = self.scattered(buffer, index, bytes)?;
                self.gather(cell, elem, base, index)
            }
            _ => return Err(Refused("a load from a number".to_owned())),
        };
        self.loaded(ty, value)
    }

    /// A base and a vector of indices for elements that are not side by side.
    fn scattered(
        &mut self,
        buffer: Val,
        index: Val,
        bytes: i64,
    ) -> Result<(Value, Value), Refused> {
        match (buffer, index) {
            (Val::Shared(base), Val::Linear(first, stride)) if stride.abs() < STRIDE => {
                let offset = self.op_const(IntOp::Mul, first, bytes);
                let base = self.op(IntOp::Add, base, offset);
                let iota = self.push(Type::Vector(Elem::I32), Op::Iota);
                let stride = self.vec_const(Elem::I32, stride as u64);
                Ok((base, self.vec(VecOp::Mul, iota, stride)))
            }
            (Val::Shared(base), Val::Narrow(index)) => Ok((base, index)),
            (Val::Shared(base), _) => Ok((base, self.as_vector(index)?)),
            (Val::Private(base), _) => {
                // Indices of arrays of lanes are below 2^31: so much memory no lane has.
                let index = match index {
                    Val::Narrow(index) => index,
                    _ => {
                        let index = self.as_vector(index)?;
                        match self.f.elem(index) {
                            Elem::I64 => self.convert(Conv::Wrap, index, Elem::I32),
                            _ => index,
                        }
                    }
                };
                let lanes = self.vec_const(Elem::I32, self.lanes() as u64);
                let row = self.vec(VecOp::Mul, index, lanes);
                let iota = self.push(Type::Vector(Elem::I32), Op::Iota);
                Ok((base, self.vec(VecOp::Add, row, iota)))
            }
            _ => Err(Refused("an element of a number".to_owned())),
        }
    }

    /// Elements at indices. Of fewer than 32 bits the aligned word is read that they are in, which lies in the same page.
    fn gather(&mut self, cell: Cell, elem: Elem, base: Value, index: Value) -> Value {
        let mask = self.mask;
        let bits = 8 * cell.bytes() as u64;
        if bits >= 32 {
            return self.push(Type::Vector(elem), Op::Gather(cell, base, index, mask));
        }
        let wide = self.f.elem(index);
        let before = self.op_const(IntOp::And, base, 3);
        let base = self.op(IntOp::Sub, base, before);
        let index = match self.f.elem(index) {
            Elem::I64 => index,
            _ => self.convert(Conv::SignExtend, index, Elem::I64),
        };
        let _ = wide;
        let size = self.vec_const(Elem::I64, bits.trailing_zeros() as u64 - 3);
        let offset = self.vec(VecOp::Shl, index, size);
        let before = self.splat(before);
        let offset = self.vec(VecOp::Add, offset, before);
        let two = self.vec_const(Elem::I64, 2);
        let word = self.vec(VecOp::Sar, offset, two);
        let words = self.push(
            Type::Vector(Elem::I32),
            Op::Gather(Cell::W32, base, word, mask),
        );
        let within = self.convert(Conv::Wrap, offset, Elem::I32);
        let three = self.vec_const(Elem::I32, 3);
        let within = self.vec(VecOp::And, within, three);
        let within = self.vec(VecOp::Shl, within, three);
        let value = self.vec(VecOp::Shr, words, within);
        let rest = self.vec_const(Elem::I32, 32 - bits);
        let high = self.vec(VecOp::Shl, value, rest);
        let shift = match cell {
            Cell::I8 | Cell::I16 => VecOp::Sar,
            Cell::U8 | Cell::U16 | Cell::W32 | Cell::W64 => VecOp::Shr,
        };
        self.vec(shift, high, rest)
    }

    fn store(
        &mut self,
        ty: ScalarType,
        buffer: Val,
        index: Val,
        value: Val,
    ) -> Result<(), Refused> {
        let cell = cell(ty)?;
        let bytes = cell.bytes() as i64;
        let mask = self.mask;
        match (buffer, index) {
            (Val::Shared(base), Val::Int(index)) => {
                let at = self.address(base, index, bytes);
                // The last active lane is the one whose value stays.
                let value = match value {
                    Val::Int(value) => value,
                    _ => {
                        let lane = self.last_active();
                        self.of_lane(value, lane)?
                    }
                };
                self.effect(Op::Store(cell, at, value));
            }
            (Val::Private(base), Val::Int(index)) => {
                let value = self.stored(value)?;
                let at = self.address(base, index, bytes * self.lanes());
                self.effect(Op::VecStore(cell, at, value, mask));
            }
            (Val::Shared(base), Val::Linear(first, 1)) => {
                let value = self.stored(value)?;
                let at = self.address(base, first, bytes);
                self.effect(Op::VecStore(cell, at, value, mask));
            }
            (Val::Shared(_) | Val::Private(_), _) => {
                let value = self.stored(value)?;
                let (base, index) = self.scattered(buffer, index, bytes)?;
                match bytes {
                    4 | 8 => self.effect(Op::Scatter(cell, base, index, value, mask)),
                    _ => self.store_each(cell, base, index, value)?,
                }
            }
            _ => return Err(Refused("a store to a number".to_owned())),
        }
        Ok(())
    }

    /// The number of the last active lane.
    fn last_active(&mut self) -> Value {
        let Some(mask) = self.mask else {
            return self.int(Type::I64, self.lanes() - 1);
        };
        // The maximum of the numbers of active lanes, found by a search from above.
        let bits = self.push(Type::I32, Op::MaskBits(mask));
        let (header, exit) = (self.block(&[Type::I64]), self.block(&[]));
        let last = self.int(Type::I64, self.lanes() - 1);
        self.jump(header, vec![last]);
        let lane = self.switch(header)[0];
        let low = self.push(Type::I32, Op::Low(lane));
        let shifted = self.op(IntOp::Shr, bits, low);
        let set = self.op_const(IntOp::And, shifted, 1);
        let before = self.op_const(IntOp::Sub, lane, 1);
        self.branch(set, (exit, vec![]), (header, vec![before]));
        self.switch(exit);
        lane
    }

    /// Stores narrow elements lane by lane.
    fn store_each(
        &mut self,
        cell: Cell,
        base: Value,
        index: Value,
        value: Value,
    ) -> Result<(), Refused> {
        let index = match self.f.elem(index) {
            Elem::I64 => index,
            _ => self.convert(Conv::SignExtend, index, Elem::I64),
        };
        let (values, value_cell, value_ty) = self.spilled(value);
        let (indices, index_cell, index_ty) = self.spilled(index);
        let bits = match self.mask {
            Some(mask) => self.push(Type::I32, Op::MaskBits(mask)),
            None => self.int(Type::I32, (1 << self.lanes()) - 1),
        };
        // One iteration for each lane that is active, the first ones first.
        let (header, inside, exit) = (self.block(&[Type::I32]), self.block(&[]), self.block(&[]));
        self.jump(header, vec![bits]);
        let left = self.switch(header)[0];
        self.branch(left, (inside, vec![]), (exit, vec![]));
        self.switch(inside);
        let lanes = self.f.lanes as f64;
        self.cost.vector += self.weight.vector * lanes * EACH;
        let lane = self.push(Type::I32, Op::TrailingZeros(left));
        let lane = self.push(Type::I64, Op::Extend(lane, 32, false));
        let at = |base: Value, cell: Cell| Address {
            base,
            index: Some((lane, cell.bytes() as u8)),
            offset: 0,
        };
        let index = self.push(index_ty, Op::Load(index_cell, at(indices, index_cell)));
        let value = self.push(value_ty, Op::Load(value_cell, at(values, value_cell)));
        let location = self.address(base, index, cell.bytes() as i64);
        self.effect(Op::Store(cell, location, value));
        let less = self.op_const(IntOp::Sub, left, 1);
        let rest = self.op(IntOp::And, left, less);
        self.jump(header, vec![rest]);
        self.switch(exit);
        Ok(())
    }

    /// An array for each lane: a stack slot if it is small and of known length, else in the arena.
    fn alloc(&mut self, ty: ScalarType, len: Atom) -> Result<Val, Refused> {
        let bytes = cell(ty)?.bytes() as i64 * self.lanes();
        let len = match self.val(len)? {
            Val::Int(len) => len,
            _ => return Err(Refused("arrays of lanes of different lengths".to_owned())),
        };
        let known = self.known(len).and_then(|n| n.checked_mul(bytes));
        let used: i64 = self.f.slots.iter().map(|n| i64::from(*n)).sum();
        if let Some(all) = known.filter(|n| *n <= STACK_ARRAY && used + *n <= STACK_ALL) {
            let slot = self.f.slot(all.max(8) as u32);
            return Ok(Val::Private(self.push(Type::I64, Op::SlotAddress(slot))));
        }
        Ok(Val::Private(self.take(len, bytes)))
    }

    /// Memory from the arena for elements of so many bytes.
    fn take(&mut self, len: Value, bytes: i64) -> Value {
        let worker = self.worker;
        let top = Address::at(worker, offset_of!(Worker<'_>, top) as i32);
        let end = Address::at(worker, offset_of!(Worker<'_>, end) as i32);
        let top_now = self.push(Type::I64, Op::Load(Cell::W64, top));
        let end_now = self.push(Type::I64, Op::Load(Cell::W64, end));
        let all = self.op_const(IntOp::Mul, len, bytes);
        let all = self.op_const(IntOp::Add, all, 15);
        let all = self.op_const(IntOp::And, all, -16);
        let taken = self.op_const(IntOp::Add, all, HEADER);
        let left = self.op(IntOp::Sub, end_now, top_now);
        let fits = self.compare(Cond::LeU, taken, left);
        let most = self.int(Type::I64, 1 << 40);
        let sane = self.compare(Cond::LtU, len, most);
        let fits = self.op(IntOp::And, fits, sane);
        let (fast, slow, done) = (self.block(&[]), self.cold(), self.block(&[Type::I64]));
        self.branch(fits, (fast, vec![]), (slow, vec![]));
        self.switch(fast);
        let next = self.op(IntOp::Add, top_now, taken);
        self.effect(Op::Store(Cell::W64, top, next));
        self.effect(Op::Store(Cell::W64, Address::at(top_now, 0), all));
        let start = self.op_const(IntOp::Add, top_now, HEADER);
        self.jump(done, vec![start]);
        self.switch(slow);
        let size = self.int(Type::I64, bytes);
        let helper = crate::calls::ARENA_GROW.address();
        let start = self.push(Type::I64, Op::Call(helper, vec![worker, len, size]));
        let zero = self.int(Type::I64, 0);
        let got = self.compare(Cond::Ne, start, zero);
        let fail = self.fail;
        self.branch(got, (done, vec![start]), (fail, vec![]));
        self.switch(done)[0]
    }

    /// The state of the arena.
    pub(super) fn arena(&mut self) -> (Value, Value) {
        let worker = self.worker;
        let top = Address::at(worker, offset_of!(Worker<'_>, top) as i32);
        let end = Address::at(worker, offset_of!(Worker<'_>, end) as i32);
        let top = self.push(Type::I64, Op::Load(Cell::W64, top));
        (top, self.push(Type::I64, Op::Load(Cell::W64, end)))
    }

    /// Gives back what was taken from the arena since it was so.
    pub(super) fn release(&mut self, (top_then, end_then): (Value, Value)) {
        let worker = self.worker;
        let top = Address::at(worker, offset_of!(Worker<'_>, top) as i32);
        let end = Address::at(worker, offset_of!(Worker<'_>, end) as i32);
        let end_now = self.push(Type::I64, Op::Load(Cell::W64, end));
        let same = self.compare(Cond::Eq, end_then, end_now);
        let (fast, slow, done) = (self.block(&[]), self.cold(), self.block(&[]));
        self.branch(same, (fast, vec![]), (slow, vec![]));
        self.switch(fast);
        self.effect(Op::Store(Cell::W64, top, top_then));
        self.jump(done, vec![]);
        self.switch(slow);
        let helper = crate::calls::ARENA_RELEASE.address();
        self.effect(Op::Call(helper, vec![worker, top_then]));
        self.jump(done, vec![]);
        self.switch(done);
    }

    /// A strided copy: a nest of loops over uniform extents.
    fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) -> Result<(), Refused> {
        let ty = self.scalar_type(Atom::Var(dst.buffer));
        let mut extents = Vec::new();
        for n in shape {
            match self.val(*n)? {
                Val::Int(n) => extents.push(n),
                _ => return Err(Refused("copies of different lengths".to_owned())),
            }
        }
        let (to, from) = (
            self.val(Atom::Var(dst.buffer))?,
            self.val(Atom::Var(src.buffer))?,
        );
        let starts = (self.val(dst.offset)?, self.val(src.offset)?);
        self.copy_dims(
            ty,
            (to, from),
            &extents,
            (&dst.strides, &src.strides),
            starts,
        )
    }

    fn copy_dims(
        &mut self,
        ty: ScalarType,
        (to, from): (Val, Val),
        extents: &[Value],
        (to_strides, from_strides): (&[Atom], &[Atom]),
        (to_at, from_at): (Val, Val),
    ) -> Result<(), Refused> {
        let Some((extent, inner)) = extents.split_first() else {
            self.count_scalar(1.0);
            let value = self.load(ty, from, from_at)?;
            return self.store(ty, to, to_at, value);
        };
        let (inside, exit) = (self.block(&[Type::I64]), self.block(&[]));
        let zero = self.int(Type::I64, 0);
        let any = self.compare(Cond::LtS, zero, *extent);
        self.branch(any, (inside, vec![zero]), (exit, vec![]));
        let step = self.switch(inside)[0];
        let mut at = |start: Val, stride: Atom| -> Result<Val, Refused> {
            let stride = self.val(stride)?;
            self.sum_of(start, stride, step)
        };
        let locations = (at(to_at, to_strides[0])?, at(from_at, from_strides[0])?);
        let strides = (&to_strides[1..], &from_strides[1..]);
        self.weighted((ITERATIONS, ITERATIONS), |this| {
            this.copy_dims(ty, (to, from), inner, strides, locations)
        })?;
        let next = self.op_const(IntOp::Add, step, 1);
        let more = self.compare(Cond::LtS, next, *extent);
        self.branch(more, (inside, vec![next]), (exit, vec![]));
        self.switch(exit);
        Ok(())
    }

    /// A start and so many strides.
    fn sum_of(&mut self, start: Val, stride: Val, step: Value) -> Result<Val, Refused> {
        Ok(match (start, stride) {
            (Val::Int(start), Val::Int(stride)) => {
                let more = self.op(IntOp::Mul, stride, step);
                Val::Int(self.op(IntOp::Add, start, more))
            }
            (Val::Linear(start, by), Val::Int(stride)) => {
                let more = self.op(IntOp::Mul, stride, step);
                Val::Linear(self.op(IntOp::Add, start, more), by)
            }
            _ => {
                let (start, stride) = (self.as_vector(start)?, self.as_vector(stride)?);
                let step = self.splat(step);
                let more = self.vec(VecOp::Mul, stride, step);
                Val::Vector(self.vec(VecOp::Add, start, more))
            }
        })
    }
}
