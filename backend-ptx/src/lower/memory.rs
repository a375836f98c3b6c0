//! Loads, stores, copies, and small local buffers.

use super::arena::WARP;
use super::{Lower, Value, memory_ty};
use crate::ptx::ops::{Binary, Cache, Cmp, Round};
use crate::ptx::{Address, BlockId, Inst, Operand, Order, Reg, Space, Ty};
use midend::analysis::kernels::{known_bytes, on_stack};
use midend::ir::id::Var;
use midend::ir::mem::{Mem, Region};
use midend::ir::syntax::{Atom, Body};
use midend::ir::types::ScalarType;
use std::collections::{BTreeSet, HashMap};

/// The largest local buffer that lives in local memory.
const LARGEST: u32 = 4 << 10;
/// The most that local buffers of one function take there together.
const TOTAL: u32 = 16 << 10;

/// The local buffers that live in local memory.
pub(super) fn stacked(bodies: &[&Body<Mem>]) -> BTreeSet<Var> {
    on_stack(bodies, LARGEST, TOTAL)
}

/// A place in memory.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) space: Space,
    pub(super) at: Address,
}

impl Place {
    /// The place so many bytes behind it.
    pub(super) const fn behind(self, bytes: u32) -> Self {
        let at = Address {
            base: self.at.base,
            offset: self.at.offset + bytes as i32,
        };
        Self { at, ..self }
    }
}

/// What is known of addresses: neighbours of an element lie at constant distances, which instructions take for nothing.
#[derive(Default)]
pub(super) struct Addresses {
    /// Registers that hold what another one holds, and so many more.
    steps: HashMap<Reg, (Reg, u64)>,
    /// Addresses of elements, by buffer, index and size, in the block that they are computed in.
    known: HashMap<(Reg, Reg, u64), (BlockId, Reg)>,
}

impl Place {
    /// The address, if the place is in global memory.
    pub(super) fn in_global(self) -> Option<Address> {
        (self.space == Space::Global).then_some(self.at)
    }

    /// A place in global memory.
    pub(super) const fn global(base: Reg, offset: i32) -> Self {
        Self {
            space: Space::Global,
            at: Address { base, offset },
        }
    }
}

/// A place in shared memory, some bytes behind an address.
pub(super) const fn shared(base: Reg, offset: i32) -> Place {
    Place {
        space: Space::Shared,
        at: Address { base, offset },
    }
}

impl Lower<'_> {
    /// Numbers `first`, `first + step`, and so on, to be used while `first` stays as it is.
    pub(super) fn strided(&mut self, first: Reg, step: u32, count: u32) -> Vec<Reg> {
        self.distant(first, (0..count).map(|k| k * step))
    }

    /// Numbers that are so much larger than `first`, to be used while `first` stays as it is.
    pub(super) fn distant(&mut self, first: Reg, distances: impl Iterator<Item = u32>) -> Vec<Reg> {
        let number = |lower: &mut Self, distance: u32| {
            let distance = u64::from(distance);
            let number = lower
                .b
                .bin(Binary::Add, Ty::U64, first, Operand::Imm(distance));
            lower.addresses.steps.insert(number, (first, distance));
            number
        };
        distances.map(|distance| number(self, distance)).collect()
    }

    /// The place of an element of a buffer in global memory.
    fn global_place(&mut self, base: Reg, index: Reg, size: u64) -> Address {
        let (root, distance) = match self.addresses.steps.get(&index) {
            Some((root, step)) => (*root, i32::try_from(step * size).ok()),
            None => (index, Some(0)),
        };
        let (root, offset) = match distance {
            Some(offset) => (root, offset),
            None => (index, 0),
        };
        let key = (base, root, size);
        let here = self.b.block_now();
        let known = self.addresses.known.get(&key).copied();
        let address = match known {
            Some((block, address)) if block == here => address,
            Some(_) | None => {
                let distance = if size == 1 {
                    root
                } else {
                    let shift = Operand::Imm(size.trailing_zeros().into());
                    self.b.bin(Binary::Shl, Ty::B64, root, shift)
                };
                self.b.bin(Binary::Add, Ty::U64, base, distance)
            }
        };
        if self.addresses.steps.contains_key(&index) {
            self.addresses.known.insert(key, (here, address));
        }
        Address {
            base: address,
            offset,
        }
    }

    /// An operation of the dialect.
    pub(super) fn memory(&mut self, op: &Mem, bind: Option<Var>) -> Vec<Value> {
        match op {
            Mem::Alloc { elem, len, .. } => vec![self.alloc(*elem, *len, bind)],
            Mem::Free(_) | Mem::Apart(_) => vec![],
            Mem::Load { buffer, index } => {
                let elem = self.elem(*buffer);
                let index = self.atom(*index);
                let place = self.place(self.value(*buffer), elem, index);
                vec![Value::Scalar(self.load(elem, place, false).into())]
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => {
                let elem = self.elem(*buffer);
                let (index, value) = (self.atom(*index), self.atom(*value));
                let place = self.place(self.value(*buffer), elem, index);
                self.store(elem, place, value);
                vec![]
            }
            Mem::Copy { shape, dst, src } => {
                self.copy(shape, dst, src);
                vec![]
            }
            Mem::Launch(kernel) => {
                self.alone(kernel);
                vec![]
            }
            Mem::Trace(_) | Mem::Stream(_) => {
                unreachable!("the verifier lets nothing be shown inside a kernel")
            }
        }
    }

    fn alloc(&mut self, elem: ScalarType, len: Atom, var: Option<Var>) -> Value {
        if var.is_some_and(|v| self.on_stack.contains(&v))
            && let Some(bytes) = known_bytes(elem, len)
        {
            let size = elem.bytes() as u32;
            let array = self.b.variable("own", Space::Local, size, bytes / size);
            return Value::Local(self.b.address_of(array));
        }
        let len = self.atom(len);
        self.take(elem, len)
    }

    /// The place of an element.
    pub(super) fn place(&mut self, buffer: Value, elem: ScalarType, index: Operand) -> Place {
        let size = match buffer {
            Value::Interleaved(_) => self.slot.map_or(WARP, |slot| slot * WARP),
            Value::Local(_) | Value::Global(_) | Value::Shared(_) | Value::Scalar(_) => {
                elem.bytes() as u64
            }
        };
        let (space, base) = match buffer {
            Value::Local(reg) => (Space::Local, reg),
            Value::Shared(reg) => (Space::Shared, reg),
            Value::Global(reg) | Value::Scalar(Operand::Reg(reg)) => (Space::Global, reg),
            Value::Interleaved(reg) => (Space::Global, reg),
            Value::Scalar(Operand::Imm(_)) => unreachable!("a buffer is no constant"),
        };
        if let Operand::Imm(index) = index
            && let Ok(offset) = i32::try_from((index as i64).wrapping_mul(size as i64))
        {
            return Place {
                space,
                at: Address { base, offset },
            };
        }
        let index = self.reg(ScalarType::I64, index);
        let at = if space != Space::Global {
            let low = self.b.convert(Ty::U32, Ty::U64, Round::Exact, index);
            let shift = Operand::Imm(size.trailing_zeros().into());
            let distance = self.b.bin(Binary::Shl, Ty::B32, low, shift);
            self.b.bin(Binary::Add, Ty::U32, base, distance).into()
        } else {
            self.global_place(base, index, size)
        };
        Place { space, at }
    }

    /// An element from memory.
    pub(super) fn load(&mut self, elem: ScalarType, place: Place, undefined: bool) -> Reg {
        self.load_row(elem, place, 1, undefined)[0]
    }

    /// One, two or four elements that lie side by side, which take at most 16 bytes, from a multiple of these bytes on.
    pub(super) fn load_row(
        &mut self,
        elem: ScalarType,
        place: Place,
        count: u32,
        undefined: bool,
    ) -> Vec<Reg> {
        let ty = memory_ty(elem);
        let dst: Vec<Reg> = (0..count).map(|_| self.b.reg(ty.class())).collect();
        self.b.inst(Inst::Load {
            space: place.space,
            order: Order::Weak,
            cache: Cache::Usual,
            ty,
            dst: dst.clone(),
            at: place.at,
            undefined,
        });
        dst.into_iter().map(|raw| self.loaded(elem, raw)).collect()
    }

    /// An element to memory.
    pub(super) fn store(&mut self, elem: ScalarType, place: Place, value: Operand) {
        self.store_row(elem, place, &[value]);
    }

    /// One, two or four elements that lie side by side, which take at most 16 bytes, from a multiple of these bytes on.
    pub(super) fn store_row(&mut self, elem: ScalarType, place: Place, values: &[Operand]) {
        let src = values.iter().map(|value| self.storable(elem, *value));
        let src = src.collect();
        let any_wins = self.any_wins && (place.space == Space::Global || self.is_scattering());
        self.b.inst(Inst::Store {
            space: place.space,
            order: Order::Weak,
            cache: Cache::Usual,
            ty: memory_ty(elem),
            src,
            at: place.at,
            any_wins,
        });
    }

    /// A strided copy: loops over the box, both sides stepped along.
    fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) {
        let elem = self.elem(dst.buffer);
        let (to, from) = (self.atom(dst.offset), self.atom(src.offset));
        let extents: Vec<Operand> = shape.iter().map(|n| self.atom(*n)).collect();
        let strides = |this: &Self, region: &Region| -> Vec<Operand> {
            region.strides.iter().map(|s| this.atom(*s)).collect()
        };
        let (to_strides, from_strides) = (strides(self, dst), strides(self, src));
        let (into, out_of) = (self.value(dst.buffer), self.value(src.buffer));
        self.copy_box(
            elem,
            &extents,
            (into, to, &to_strides),
            (out_of, from, &from_strides),
        );
    }

    fn copy_box(
        &mut self,
        elem: ScalarType,
        extents: &[Operand],
        (into, to, to_strides): (Value, Operand, &[Operand]),
        (out_of, from, from_strides): (Value, Operand, &[Operand]),
    ) {
        let Some((extent, extents)) = extents.split_first() else {
            let source = self.place(out_of, elem, from);
            let value = self.load(elem, source, true);
            let target = self.place(into, elem, to);
            self.store(elem, target, value.into());
            return;
        };
        let (to, from) = (self.b.mov(Ty::B64, to), self.b.mov(Ty::B64, from));
        let range = (Operand::Imm(0), *extent, Operand::Imm(1));
        self.count(Ty::S64, range, false, |this, _| {
            this.copy_box(
                elem,
                extents,
                (into, to.into(), &to_strides[1..]),
                (out_of, from.into(), &from_strides[1..]),
            );
            this.b.bin_to(to, Binary::Add, Ty::S64, to, to_strides[0]);
            this.b
                .bin_to(from, Binary::Add, Ty::S64, from, from_strides[0]);
        });
    }

    /// Whether an index is in a range from 0 on; one comparison, for negative ones are large without a sign.
    pub(super) fn is_below(&mut self, index: Operand, end: Operand) -> Reg {
        self.b.cmp(Cmp::Lt, Ty::U64, index, end)
    }
}
