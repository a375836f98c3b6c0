//! What instructions do to the lanes of a warp.

mod atomic;
mod convert;
mod float;
mod int;
mod marks;
pub(super) mod memory;
mod together;

use super::code::{Decoder, Doubles, Exec, LANES, Next, Op, Words};
use super::fault::Done;
use super::run::{Cx, Regs};
use crate::ptx::inst::Inst;
use crate::ptx::ops::{Binary, Cmp, Special, Ternary, Unary};
use crate::ptx::{Class, Ty};

/// A register file.
pub(super) trait File: Copy + Default {
    fn get(regs: &Regs, slot: u32) -> [Self; LANES];
    fn place(regs: &mut Regs, slot: u32) -> &mut [Self; LANES];
}

impl File for u32 {
    #[inline]
    fn get(regs: &Regs, slot: u32) -> Words {
        regs.words[slot as usize]
    }
    #[inline]
    fn place(regs: &mut Regs, slot: u32) -> &mut Words {
        &mut regs.words[slot as usize]
    }
}

impl File for u64 {
    #[inline]
    fn get(regs: &Regs, slot: u32) -> Doubles {
        regs.doubles[slot as usize]
    }
    #[inline]
    fn place(regs: &mut Regs, slot: u32) -> &mut Doubles {
        &mut regs.doubles[slot as usize]
    }
}

/// Stores values in the lanes of the mask.
#[inline]
pub(super) fn put<R: File>(regs: &mut Regs, slot: u32, mask: u32, value: &[R; LANES]) {
    let place = R::place(regs, slot);
    if mask == u32::MAX {
        *place = *value;
    } else {
        for lane in 0..LANES {
            if mask >> lane & 1 == 1 {
                place[lane] = value[lane];
            }
        }
    }
}

/// An operation of one operand.
#[inline]
pub(super) fn un<A: File, R: File>(
    cx: &mut Cx<'_>,
    op: &Op,
    mask: u32,
    f: impl Fn(A) -> R,
) -> Done {
    let a = A::get(&cx.regs, op.a);
    let value = std::array::from_fn(|i| f(a[i]));
    put(&mut cx.regs, op.d, mask, &value);
    Ok(())
}

/// An operation of two operands.
#[inline]
pub(super) fn bin<A: File, B: File, R: File>(
    cx: &mut Cx<'_>,
    op: &Op,
    mask: u32,
    f: impl Fn(A, B) -> R,
) -> Done {
    let (a, b) = (A::get(&cx.regs, op.a), B::get(&cx.regs, op.b));
    let value = std::array::from_fn(|i| f(a[i], b[i]));
    put(&mut cx.regs, op.d, mask, &value);
    Ok(())
}

/// An operation of three operands.
#[inline]
pub(super) fn tern<A: File, B: File, C: File, R: File>(
    cx: &mut Cx<'_>,
    op: &Op,
    mask: u32,
    f: impl Fn(A, B, C) -> R,
) -> Done {
    let (a, b) = (A::get(&cx.regs, op.a), B::get(&cx.regs, op.b));
    let c = C::get(&cx.regs, op.c);
    let value = std::array::from_fn(|i| f(a[i], b[i], c[i]));
    put(&mut cx.regs, op.d, mask, &value);
    Ok(())
}

/// A comparison.
#[inline]
pub(super) fn cmp<A: File>(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(A, A) -> bool) -> Done {
    let (a, b) = (A::get(&cx.regs, op.a), A::get(&cx.regs, op.b));
    let mut bits = 0;
    for lane in 0..LANES {
        bits |= u32::from(f(a[lane], b[lane])) << lane;
    }
    truth(&mut cx.regs, op.d, mask, bits);
    Ok(())
}

/// Stores truth values in the lanes of the mask.
#[inline]
pub(super) fn truth(regs: &mut Regs, slot: u32, mask: u32, bits: u32) {
    let place = &mut regs.preds[slot as usize];
    *place = (*place & !mask) | (bits & mask);
}

/// Decodes an instruction.
pub(super) fn decode(d: &mut Decoder<'_>, inst: &Inst) -> Op {
    match inst {
        Inst::Mov { ty, dst, src } => Op {
            d: d.reg(*dst),
            a: d.operand(*src, ty.class()),
            ..Op::new(mov(ty.class()))
        },
        Inst::Special { dst, which } => Op {
            d: d.reg(*dst),
            ..Op::new(special(*which))
        },
        Inst::AddressOf { dst, var } => Op {
            d: d.reg(*dst),
            imm: u64::from(*var),
            ..Op::new(memory::address_of)
        },
        Inst::Pack { dst, low, high } => Op {
            d: d.reg(*dst),
            a: d.operand(*low, Class::B32),
            b: d.operand(*high, Class::B32),
            ..Op::new(|cx, op, m| {
                bin::<u32, u32, u64>(cx, op, m, |a, b| u64::from(a) | u64::from(b) << 32)
            })
        },
        Inst::Unpack { low, high, src } => Op {
            d: d.reg(*low),
            b: d.reg(*high),
            a: d.reg(*src),
            ..Op::new(|cx, op, m| {
                let a = u64::get(&cx.regs, op.a);
                put(&mut cx.regs, op.d, m, &a.map(|x| x as u32));
                put(&mut cx.regs, op.b, m, &a.map(|x| (x >> 32) as u32));
                Ok(())
            })
        },
        Inst::Select {
            ty,
            dst,
            yes,
            no,
            cond,
        } => Op {
            d: d.reg(*dst),
            a: d.operand(*yes, ty.class()),
            b: d.operand(*no, ty.class()),
            c: d.reg(*cond),
            ..Op::new(if ty.class() == Class::B64 {
                select::<u64>
            } else {
                select::<u32>
            })
        },
        Inst::Unary { op, ty, dst, a } => Op {
            d: d.reg(*dst),
            a: d.operand(*a, ty.class()),
            ..Op::new(unary(*op, *ty))
        },
        Inst::Binary { op, ty, dst, a, b } => Op {
            d: d.reg(*dst),
            a: d.operand(*a, ty.class()),
            b: d.operand(*b, op.second(*ty)),
            ..Op::new(binary(*op, *ty))
        },
        Inst::Ternary {
            op,
            ty,
            dst,
            a,
            b,
            c,
        } => {
            let [second, third] = op.others(*ty);
            Op {
                d: d.reg(*dst),
                a: d.operand(*a, ty.class()),
                b: d.operand(*b, second),
                c: d.operand(*c, third),
                ..Op::new(ternary(*op, *ty))
            }
        }
        Inst::Compare { op, ty, dst, a, b } => Op {
            d: d.reg(*dst),
            a: d.operand(*a, ty.class()),
            b: d.operand(*b, ty.class()),
            ..Op::new(compare(*op, *ty))
        },
        Inst::Convert {
            to,
            from,
            round,
            dst,
            src,
        } => Op {
            d: d.reg(*dst),
            a: d.reg(*src),
            ..Op::new(convert::exec(*to, *from, *round))
        },
        Inst::Param { ty, dst, offset } => Op {
            d: d.reg(*dst),
            imm: u64::from(*offset),
            ..Op::new(memory::param(*ty))
        },
        Inst::Load { .. }
        | Inst::Store { .. }
        | Inst::Atom { .. }
        | Inst::Fence(_)
        | Inst::CopyAsync { .. }
        | Inst::CopyCommit
        | Inst::CopyWait(_) => memory::decode(d, inst),
        Inst::Shuffle { .. }
        | Inst::Vote { .. }
        | Inst::Match { .. }
        | Inst::Reduce { .. }
        | Inst::WarpSync { .. }
        | Inst::Barrier
        | Inst::BarrierVote { .. } => together::decode(d, inst),
        // What it brings near shows in the time alone.
        Inst::Prefetch(_) => Op::new(|_, _, _| Ok(())),
        Inst::Nanosleep(_) => Op {
            flow: Next::Memory,
            ..Op::new(|cx, _, _| {
                cx.world.polls += 1;
                Ok(())
            })
        },
        Inst::Call { fun, results, args } => {
            let mut list: Vec<_> = Vec::new();
            for arg in args {
                list.push(match arg {
                    crate::ptx::Operand::Reg(reg) => d.slot(*reg),
                    crate::ptx::Operand::Imm(_) => super::code::Slot {
                        class: Class::B64,
                        index: d.operand(*arg, Class::B64),
                    },
                });
            }
            list.extend(results.iter().map(|r| d.slot(*r)));
            Op {
                flow: Next::Call,
                imm: u64::from(fun.0),
                a: args.len() as u32,
                list: list.into(),
                ..Op::new(|_, _, _| Ok(()))
            }
        }
    }
}

fn mov(class: Class) -> Exec {
    match class {
        Class::Pred => |cx, op, m| {
            let bits = cx.regs.preds[op.a as usize];
            truth(&mut cx.regs, op.d, m, bits);
            Ok(())
        },
        Class::B16 | Class::B32 => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a),
        Class::B64 => |cx, op, m| un::<u64, u64>(cx, op, m, |a| a),
    }
}

fn select<F: File>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let (a, b) = (F::get(&cx.regs, op.a), F::get(&cx.regs, op.b));
    let cond = cx.regs.preds[op.c as usize];
    let value = std::array::from_fn(|i| if cond >> i & 1 == 1 { a[i] } else { b[i] });
    put(&mut cx.regs, op.d, mask, &value);
    Ok(())
}

fn special(which: Special) -> Exec {
    fn set(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(u32) -> u32) -> Done {
        let value: Words = std::array::from_fn(|i| f(i as u32));
        put(&mut cx.regs, op.d, mask, &value);
        Ok(())
    }
    match which {
        Special::Tid => |cx, op, m| {
            let first = cx.warp.number * 32;
            set(cx, op, m, |lane| first + lane)
        },
        Special::Ntid => |cx, op, m| {
            let all = cx.world.threads;
            set(cx, op, m, |_| all)
        },
        Special::Ctaid => |cx, op, m| {
            let block = cx.block.number;
            set(cx, op, m, |_| block)
        },
        Special::Nctaid => |cx, op, m| {
            let all = cx.world.blocks;
            set(cx, op, m, |_| all)
        },
        Special::Lane => |cx, op, m| set(cx, op, m, |lane| lane),
        Special::LanesBelow => |cx, op, m| set(cx, op, m, |lane| (1 << lane) - 1),
        Special::LanesUpTo => |cx, op, m| set(cx, op, m, |lane| u32::MAX >> (31 - lane)),
    }
}

fn unary(op: Unary, ty: Ty) -> Exec {
    if ty == Ty::Pred {
        return |cx, op, m| {
            let bits = !cx.regs.preds[op.a as usize];
            truth(&mut cx.regs, op.d, m, bits);
            Ok(())
        };
    }
    if ty.is_float() {
        float::unary(op, ty)
    } else {
        int::unary(op, ty)
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "there are three operations on truth values"
)]
fn binary(op: Binary, ty: Ty) -> Exec {
    fn logic(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(u32, u32) -> u32) -> Done {
        let (a, b) = (cx.regs.preds[op.a as usize], cx.regs.preds[op.b as usize]);
        truth(&mut cx.regs, op.d, mask, f(a, b));
        Ok(())
    }
    if ty == Ty::Pred {
        return match op {
            Binary::And => |cx, op, m| logic(cx, op, m, |a, b| a & b),
            Binary::Or => |cx, op, m| logic(cx, op, m, |a, b| a | b),
            _ => |cx, op, m| logic(cx, op, m, |a, b| a ^ b),
        };
    }
    if ty.is_float() {
        float::binary(op, ty)
    } else {
        int::binary(op, ty)
    }
}

fn ternary(op: Ternary, ty: Ty) -> Exec {
    if ty.is_float() {
        float::fma(ty)
    } else {
        int::ternary(op, ty)
    }
}

fn compare(op: Cmp, ty: Ty) -> Exec {
    if ty.is_float() {
        float::compare(op, ty)
    } else {
        int::compare(op, ty)
    }
}
