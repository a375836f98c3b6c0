//! Instructions that lanes execute together.

use super::{File, put, truth};
use crate::emu::code::{Decoder, LANES, Next, Op, Slot};
use crate::emu::fault::{Done, FaultKind, trouble};
use crate::emu::run::Cx;
use crate::ptx::inst::Inst;
use crate::ptx::ops::{AtomOp, Binary, Shuffle, Vote};
use crate::ptx::{Class, Ty};

/// Decodes an instruction of several lanes; the mask of lanes is in slot `c`.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "called for instructions of several lanes alone"
)]
pub(super) fn decode(d: &mut Decoder<'_>, inst: &Inst) -> Op {
    let mask = |d: &mut Decoder<'_>, mask| d.operand(mask, Class::B32);
    let op = match inst {
        Inst::Shuffle {
            mode,
            dst,
            ok,
            src,
            lane,
            clamp,
            mask: all,
        } => {
            let clamp = Slot {
                class: Class::B32,
                index: d.operand(*clamp, Class::B32),
            };
            let mut list = vec![clamp];
            list.extend(ok.map(|r| d.slot(r)));
            Op {
                d: d.reg(*dst),
                a: d.operand(*src, Class::B32),
                b: d.operand(*lane, Class::B32),
                c: mask(d, *all),
                imm: *mode as u64,
                list: list.into(),
                ..Op::new(shuffle)
            }
        }
        Inst::Vote {
            mode,
            dst,
            src,
            mask: all,
        } => Op {
            d: d.reg(*dst),
            a: d.reg(*src),
            c: mask(d, *all),
            ..Op::new(match mode {
                Vote::Ballot => |cx, op, m| {
                    let bits = cx.regs.preds[op.a as usize] & m;
                    put(&mut cx.regs, op.d, m, &[bits; LANES]);
                    Ok(())
                },
                Vote::Any => |cx, op, m| {
                    let any = cx.regs.preds[op.a as usize] & m != 0;
                    truth(&mut cx.regs, op.d, m, if any { u32::MAX } else { 0 });
                    Ok(())
                },
                Vote::All => |cx, op, m| {
                    let all = cx.regs.preds[op.a as usize] & m == m;
                    truth(&mut cx.regs, op.d, m, if all { u32::MAX } else { 0 });
                    Ok(())
                },
            })
        },
        Inst::Match {
            ty,
            dst,
            src,
            mask: all,
        } => Op {
            d: d.reg(*dst),
            a: d.reg(*src),
            c: mask(d, *all),
            ..Op::new(if ty.class() == Class::B64 {
                same::<u64>
            } else {
                same::<u32>
            })
        },
        Inst::Reduce {
            op,
            ty,
            dst,
            src,
            mask: all,
        } => Op {
            d: d.reg(*dst),
            a: d.reg(*src),
            c: mask(d, *all),
            imm: *op as u64 | (*ty as u64) << 8,
            ..Op::new(reduce)
        },
        Inst::WarpSync { mask: all } => Op {
            c: mask(d, *all),
            ..Op::new(|cx, _, _| {
                cx.warp.epoch += 1;
                Ok(())
            })
        },
        Inst::BarrierVote { op, dst, src } => {
            return Op {
                flow: Next::Barrier,
                d: d.reg(*dst),
                a: d.reg(*src),
                imm: 1 + u64::from(*op == Binary::Or),
                ..Op::new(|_, _, _| Ok(()))
            };
        }
        _ => {
            return Op {
                flow: Next::Barrier,
                ..Op::new(|_, _, _| Ok(()))
            };
        }
    };
    Op {
        flow: Next::Collective,
        ..op
    }
}

fn shuffle(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let source = u32::get(&cx.regs, op.a);
    let by = u32::get(&cx.regs, op.b);
    let clamp = u32::get(&cx.regs, op.list[0].index);
    let mode = Shuffle::ALL[op.imm as usize];
    let mut value = [0; LANES];
    let mut in_range = 0;
    for lane in 0..LANES as u32 {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let (b, c) = (by[lane as usize] & 31, clamp[lane as usize]);
        let (end, segment) = (c & 31, c >> 8 & 31);
        let last = (lane & segment) | (end & !segment);
        let (from, ok) = match mode {
            Shuffle::Up => {
                let from = lane as i32 - b as i32;
                (from as u32, from >= last as i32)
            }
            Shuffle::Down => (lane + b, lane + b <= last),
            Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
            Shuffle::Index => {
                let from = (lane & segment) | (b & !segment);
                (from, from <= last)
            }
        };
        let from = if ok { from } else { lane };
        if mask >> from & 1 == 0 {
            return trouble(
                FaultKind::Divergence,
                lane,
                format!("reads lane {from}, which does not take part"),
            );
        }
        value[lane as usize] = source[from as usize];
        in_range |= u32::from(ok) << lane;
    }
    put(&mut cx.regs, op.d, mask, &value);
    if let Some(ok) = op.list.get(1) {
        truth(&mut cx.regs, ok.index, mask, in_range);
    }
    Ok(())
}

fn same<F: File + PartialEq>(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let source = F::get(&cx.regs, op.a);
    let value: [u32; LANES] = std::array::from_fn(|i| {
        (0..LANES)
            .filter(|j| mask >> j & 1 == 1 && source[*j] == source[i])
            .fold(0, |all, j| all | 1 << j)
    });
    put(&mut cx.regs, op.d, mask, &value);
    Ok(())
}

fn reduce(cx: &mut Cx<'_>, op: &Op, mask: u32) -> Done {
    let which = AtomOp::ALL[(op.imm & 255) as usize];
    let ty = (op.imm >> 8) as u32;
    let source = u32::get(&cx.regs, op.a);
    let lanes = (0..LANES).filter(|lane| mask >> lane & 1 == 1);
    let result = lanes
        .map(|lane| u64::from(source[lane]))
        .reduce(|a, b| combine(which, ty, a, b, b))
        .unwrap_or(0);
    put(&mut cx.regs, op.d, mask, &[result as u32; LANES]);
    Ok(())
}

/// The new value of an atomic operation, from the bits of the old one and the operands.
pub(super) fn combine(op: AtomOp, ty: u32, old: u64, a: u64, b: u64) -> u64 {
    let is = |t: Ty| ty == t as u32;
    let wide = is(Ty::U64) || is(Ty::S64) || is(Ty::B64) || is(Ty::F64);
    let signed = is(Ty::S32) || is(Ty::S64);
    let value = |x: u64| {
        if wide {
            x as i64
        } else {
            i64::from(x as u32 as i32)
        }
    };
    let less = if signed {
        value(a) < value(old)
    } else {
        a < old
    };
    let result = match op {
        // Sums of binary32 in global memory flush subnormal numbers, which shows only under `--fast-math`.
        AtomOp::Add if is(Ty::F32) => (f32::from_bits(old as u32) + f32::from_bits(a as u32))
            .to_bits()
            .into(),
        AtomOp::Add if is(Ty::F64) => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
        AtomOp::Add => old.wrapping_add(a),
        AtomOp::Min => {
            if less {
                a
            } else {
                old
            }
        }
        AtomOp::Max => {
            if less {
                old
            } else {
                a
            }
        }
        AtomOp::And => old & a,
        AtomOp::Or => old | a,
        AtomOp::Xor => old ^ a,
        AtomOp::Exch => a,
        AtomOp::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomOp::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
    };
    if wide {
        result
    } else {
        u64::from(result as u32)
    }
}
