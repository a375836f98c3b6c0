//! Loads, stores, atomic operations, fences, asynchronous copies.

use super::atomic::{atom, copy_async, copy_wait, fence};
use super::marks::{ACQUIRE, ANY_WINS, NARROW, ORDERED, RELEASE, UNDEFINED, marks};
use super::{File, put};
use crate::emu::code::{Decoder, Exec, LANES, Next, Op, Slot};
use crate::emu::fault::{Done, FaultKind, Trouble, trouble};
use crate::emu::memory::{Access, Bank, shared, shared_address};
use crate::emu::run::{Cx, Synchronises};
use crate::ptx::inst::Inst;
use crate::ptx::{Class, Order, Space, Ty};

/// Bits of an offset in a local address.
const LOCAL_BITS: u32 = 16;

/// Whether blocks that execute the instruction may wait for each other.
pub(in crate::emu) fn communicates(inst: &Inst) -> bool {
    if let Inst::Load { space, order, .. }
    | Inst::Store { space, order, .. }
    | Inst::Atom { space, order, .. } = inst
    {
        *space == Space::Global && *order != Order::Weak
    } else {
        false
    }
}

/// An element in memory.
pub(super) trait Elem {
    type File: File;
    const BYTES: usize;
    fn get(bank: &Bank, at: usize) -> Self::File;
    fn set(bank: &mut Bank, at: usize, value: Self::File);
    fn of(bytes: &[u8]) -> Self::File;
    fn bytes(value: Self::File) -> [u8; 8];
}

macro_rules! elem {
    ($($name:ident $int:ident $file:ident;)*) => {
        $(
            pub(super) struct $name;
            impl Elem for $name {
                type File = $file;
                const BYTES: usize = size_of::<$int>();
                #[inline]
                fn get(bank: &Bank, at: usize) -> $file {
                    $int::from_le_bytes(bank.get(at)) as $file
                }
                #[inline]
                fn set(bank: &mut Bank, at: usize, value: $file) {
                    bank.set(at, (value as $int).to_le_bytes());
                }
                fn of(bytes: &[u8]) -> $file {
                    let mut all = [0; size_of::<$int>()];
                    all.copy_from_slice(&bytes[..size_of::<$int>()]);
                    $int::from_le_bytes(all) as $file
                }
                fn bytes(value: $file) -> [u8; 8] {
                    (value as u64).to_le_bytes()
                }
            }
        )*
    };
}

elem! {
    U8 u8 u32;
    S8 i8 u32;
    U16 u16 u32;
    S16 i16 u32;
    B32 u32 u32;
    B64 u64 u64;
}

/// Chooses the instance of a function for a type.
macro_rules! by_type {
    ($ty:expr, $f:ident $(, $n:literal)?) => {
        match $ty {
            Ty::Pred | Ty::U8 => $f::<U8 $(, $n)?>,
            Ty::S8 => $f::<S8 $(, $n)?>,
            Ty::U16 | Ty::B16 | Ty::F16 => $f::<U16 $(, $n)?>,
            Ty::S16 => $f::<S16 $(, $n)?>,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 => $f::<B32 $(, $n)?>,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => $f::<B64 $(, $n)?>,
        }
    };
}

/// Chooses by the number of elements as well.
macro_rules! by_width {
    ($ty:expr, $count:expr, $f:ident) => {
        match $count {
            1 => by_type!($ty, $f, 1),
            2 => by_type!($ty, $f, 2),
            _ => by_type!($ty, $f, 4),
        }
    };
}

fn offset(at: i32) -> u64 {
    u64::from(at as u32)
}

/// Decodes an instruction on memory.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "called for instructions on memory alone"
)]
pub(super) fn decode(d: &mut Decoder<'_>, inst: &Inst) -> Op {
    let op = match inst {
        Inst::Load {
            space,
            order,
            ty,
            dst,
            at,
            undefined,
            ..
        } => {
            let exec: Exec = match space {
                Space::Global => by_width!(ty, dst.len(), load_global),
                Space::Shared => by_width!(ty, dst.len(), load_shared),
                Space::Local => by_type!(ty, load_local),
            };
            Op {
                a: d.reg(at.base),
                imm: offset(at.offset) | marks(*order) | if *undefined { UNDEFINED } else { 0 },
                list: dst.iter().map(|r| d.slot(*r)).collect(),
                ..Op::new(exec)
            }
        }
        Inst::Store {
            space,
            order,
            ty,
            src,
            at,
            any_wins,
            ..
        } => {
            let exec: Exec = match space {
                Space::Global => by_width!(ty, src.len(), store_global),
                Space::Shared => by_width!(ty, src.len(), store_shared),
                Space::Local => by_type!(ty, store_local),
            };
            let list = src
                .iter()
                .map(|s| Slot {
                    class: ty.class(),
                    index: d.operand(*s, ty.class()),
                })
                .collect();
            Op {
                a: d.reg(at.base),
                imm: offset(at.offset) | marks(*order) | if *any_wins { ANY_WINS } else { 0 },
                list,
                ..Op::new(exec)
            }
        }
        Inst::Atom {
            op,
            space,
            order,
            ty,
            dst,
            at,
            a,
            b,
        } => {
            let exec: Exec = match ty.class() {
                Class::B64 => atom::<B64>,
                Class::Pred | Class::B16 | Class::B32 => atom::<B32>,
            };
            let class = ty.class();
            let mut list = vec![Slot {
                class,
                index: d.operand(*a, class),
            }];
            list.extend(b.map(|b| Slot {
                class,
                index: d.operand(b, class),
            }));
            Op {
                a: d.reg(at.base),
                b: *op as u32 | (*ty as u32) << 8 | (*space as u32) << 16,
                c: u32::from(dst.is_some()),
                d: dst.map_or(0, |r| d.reg(r)),
                imm: offset(at.offset) | marks(*order),
                list: list.into(),
                ..Op::new(exec)
            }
        }
        Inst::Fence(_) => Op::new(fence),
        Inst::CopyAsync { bytes, to, from } => Op {
            a: d.reg(from.base),
            b: d.reg(to.base),
            c: *bytes,
            imm: offset(from.offset) | offset(to.offset) << 32,
            ..Op::new(copy_async)
        },
        Inst::CopyWait(groups) => Op {
            imm: u64::from(*groups),
            ..Op::new(copy_wait)
        },
        _ => Op::new(|cx, _, m| {
            cx.each(m, |cx, thread| cx.block.copies.commit(thread));
            Ok(())
        }),
    };
    Op {
        flow: Next::Memory,
        ..op
    }
}

/// A parameter: of a kernel from the launch, of a function from the caller.
pub(super) fn param(ty: Ty) -> Exec {
    fn read<E: Elem>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
        let value = if cx.args.is_empty() {
            [E::of(&cx.world.params[op.imm as usize..]); LANES]
        } else {
            let slot = &cx.args[op.imm as usize / 8];
            slot.map(|bits| E::of(&bits.to_le_bytes()))
        };
        put(&mut cx.regs, op.d, mask, &value);
        Ok(())
    }
    by_type!(ty, read)
}

pub(super) fn address_of(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let var = op.imm as usize;
    let address = match cx.locals.get(var) {
        Some(Some(bank)) => (bank + 1) << LOCAL_BITS | 1 << (LOCAL_BITS - 1),
        Some(None) | None => shared_address(var as u32),
    };
    put(&mut cx.regs, op.d, mask, &[address; LANES]);
    Ok(())
}

/// The address in each lane.
fn addresses<F: File>(cx: &Cx<'_>, op: &Op, add: impl Fn(F, i64) -> F) -> [F; LANES] {
    let distance = i64::from(op.imm as u32 as i32);
    F::get(&cx.regs, op.a).map(|base| add(base, distance))
}

pub(super) fn global_addresses(cx: &Cx<'_>, op: &Op) -> [u64; LANES] {
    addresses(cx, op, |base: u64, by| base.wrapping_add_signed(by))
}

pub(super) fn shared_addresses(cx: &Cx<'_>, op: &Op) -> [u32; LANES] {
    addresses(cx, op, |base: u32, by| base.wrapping_add_signed(by as i32))
}

/// The lanes of a mask.
#[inline]
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

fn load_global<E: Elem, const N: usize>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = global_addresses(cx, op);
    let mut values = [[E::File::default(); LANES]; N];
    {
        let who = cx.who(op.imm & ORDERED != 0, false);
        let who = who.within_block(op.imm & NARROW != 0);
        let first = cx.warp.number * 32;
        let (memory, intervals) = (&mut cx.world.memory, &cx.world.intervals);
        let mut access = Access {
            who,
            intervals,
            clocks: cx.block.clocks(cx.warp.number),
            lane: 0,
            undefined: op.imm & UNDEFINED != 0,
        };
        for lane in lanes(mask) {
            access.lane = lane as u32;
            access.who = who.thread(first + lane as u32);
            let (bank, offset) = memory.bank(at[lane], lane as u32)?;
            let place = bank.read(offset, (N * E::BYTES) as u32, &access)?;
            for (k, value) in values.iter_mut().enumerate() {
                value[lane] = E::get(bank, place + k * E::BYTES);
            }
        }
    }
    for (slot, value) in op.list.iter().zip(&values) {
        put(&mut cx.regs, slot.index, mask, value);
    }
    if op.imm & ORDERED != 0 {
        cx.world.polls += 1;
        cx.observe(mask, &at, op.imm & ACQUIRE != 0);
    }
    Ok(())
}

fn store_global<E: Elem, const N: usize>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = global_addresses(cx, op);
    let values: [[E::File; LANES]; N] =
        std::array::from_fn(|k| E::File::get(&cx.regs, op.list[k].index));
    {
        let who = cx.who(op.imm & ORDERED != 0, op.imm & ANY_WINS != 0);
        let who = who.within_block(op.imm & NARROW != 0);
        let first = cx.warp.number * 32;
        let (memory, intervals) = (&mut cx.world.memory, &cx.world.intervals);
        let mut access = Access {
            who,
            intervals,
            clocks: cx.block.clocks(cx.warp.number),
            lane: 0,
            undefined: false,
        };
        for lane in lanes(mask) {
            access.lane = lane as u32;
            access.who = who.thread(first + lane as u32);
            let (bank, offset) = memory.bank(at[lane], lane as u32)?;
            let place = bank.write(offset, (N * E::BYTES) as u32, &access)?;
            for (k, value) in values.iter().enumerate() {
                E::set(bank, place + k * E::BYTES, value[lane]);
            }
        }
    }
    cx.world.polls = 0;
    if op.imm & ORDERED != 0 {
        cx.publish(mask, &at, Synchronises::Store, op.imm & RELEASE != 0);
    }
    Ok(())
}

fn load_shared<E: Elem, const N: usize>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = shared_addresses(cx, op);
    let mut values = [[E::File::default(); LANES]; N];
    let who = cx.who(op.imm & ORDERED != 0, false);
    let first = cx.warp.number * 32;
    for lane in lanes(mask) {
        let (bank, place) = shared_place(
            cx,
            at[lane],
            lane,
            (N * E::BYTES) as u32,
            |bank, offset, bytes, access| {
                access.who = who.thread(first + lane as u32);
                access.undefined = op.imm & UNDEFINED != 0;
                bank.read(offset, bytes, access)
            },
        )?;
        for (k, value) in values.iter_mut().enumerate() {
            value[lane] = E::get(bank, place + k * E::BYTES);
        }
    }
    for (slot, value) in op.list.iter().zip(&values) {
        put(&mut cx.regs, slot.index, mask, value);
    }
    Ok(())
}

fn store_shared<E: Elem, const N: usize>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = shared_addresses(cx, op);
    let values: [[E::File; LANES]; N] =
        std::array::from_fn(|k| E::File::get(&cx.regs, op.list[k].index));
    let who = cx.who(op.imm & ORDERED != 0, op.imm & ANY_WINS != 0);
    let first = cx.warp.number * 32;
    for lane in lanes(mask) {
        let (bank, place) = shared_place(
            cx,
            at[lane],
            lane,
            (N * E::BYTES) as u32,
            |bank, offset, bytes, access| {
                access.who = who.thread(first + lane as u32);
                bank.write(offset, bytes, access)
            },
        )?;
        for (k, value) in values.iter().enumerate() {
            E::set(bank, place + k * E::BYTES, value[lane]);
        }
    }
    cx.world.polls = 0;
    Ok(())
}

/// A place in shared memory, looked at by `check`.
#[inline]
pub(super) fn shared_place<'c>(
    cx: &'c mut Cx<'_>,
    address: u32,
    lane: usize,
    bytes: u32,
    check: impl FnOnce(&mut Bank, u64, u32, &mut Access<'_>) -> Result<usize, Box<Trouble>>,
) -> Result<(&'c mut Bank, usize), Box<Trouble>> {
    let (number, offset) = shared(address);
    let who = cx.who(false, false);
    let block = &mut *cx.block;
    let Some(bank) = block.shared.get_mut(number) else {
        return trouble(
            FaultKind::OutOfBounds,
            lane as u32,
            format!("the shared address {address:#x} is in no array"),
        );
    };
    let mut access = Access {
        who,
        intervals: &cx.world.intervals,
        clocks: [&block.clock, &block.clock],
        lane: lane as u32,
        undefined: false,
    };
    let place = check(bank, offset, bytes, &mut access)?;
    Ok((bank, place))
}

/// Where a local address points: the array, and the offset.
fn local_place(
    cx: &Cx<'_>,
    address: u32,
    lane: usize,
    bytes: usize,
) -> Result<(usize, usize), Box<Trouble>> {
    let number = (address >> LOCAL_BITS).wrapping_sub(1) as usize;
    let offset = i64::from(address & ((1 << LOCAL_BITS) - 1)) - (1 << (LOCAL_BITS - 1));
    let len = match cx.warp.locals.get(number) {
        Some(Some(bank)) => bank.bytes.len(),
        Some(None) | None => 0,
    };
    match usize::try_from(offset) {
        Ok(start) if start + bytes <= len && start % bytes == 0 => Ok((number, start)),
        Ok(start) if start + bytes <= len => trouble(
            FaultKind::Misaligned,
            lane as u32,
            format!("{bytes} bytes at {start} of a local array"),
        ),
        Ok(_) | Err(_) => trouble(
            FaultKind::OutOfBounds,
            lane as u32,
            format!("{bytes} bytes at {offset} of a local array of {len} bytes"),
        ),
    }
}

fn load_local<E: Elem>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = shared_addresses(cx, op);
    for (k, slot) in op.list.iter().enumerate() {
        let mut value = E::File::get(&cx.regs, slot.index);
        for lane in lanes(mask) {
            let address = at[lane].wrapping_add((k * E::BYTES) as u32);
            let (number, start) = local_place(cx, address, lane, E::BYTES)?;
            let Some(bank) = &cx.warp.locals[number] else {
                continue;
            };
            let mut bytes = [0; 8];
            for (i, byte) in bytes.iter_mut().enumerate().take(E::BYTES) {
                *byte = bank.bytes[start + i][lane];
                if bank.defined[start + i] >> lane & 1 == 0 && op.imm & UNDEFINED == 0 {
                    return trouble(
                        FaultKind::Undefined,
                        lane as u32,
                        format!("byte {} of a local array was never written", start + i),
                    );
                }
            }
            value[lane] = E::of(&bytes);
        }
        put(&mut cx.regs, slot.index, mask, &value);
    }
    Ok(())
}

fn store_local<E: Elem>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let at = shared_addresses(cx, op);
    for (k, slot) in op.list.iter().enumerate() {
        let value = E::File::get(&cx.regs, slot.index);
        for lane in lanes(mask) {
            let address = at[lane].wrapping_add((k * E::BYTES) as u32);
            let (number, start) = local_place(cx, address, lane, E::BYTES)?;
            let Some(bank) = &mut cx.warp.locals[number] else {
                continue;
            };
            for (i, byte) in E::bytes(value[lane]).into_iter().enumerate().take(E::BYTES) {
                bank.bytes[start + i][lane] = byte;
                bank.defined[start + i] |= 1 << lane;
            }
        }
    }
    Ok(())
}
