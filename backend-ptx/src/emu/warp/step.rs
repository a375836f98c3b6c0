//! Executing a split straight on, until something is to be decided.

use super::{PATIENCE, POLL, Split};
use crate::emu::code::{Code, Next};
use crate::emu::exec::File;
use crate::emu::fault::{FaultKind, Trouble, trouble};
use crate::emu::run::Cx;

/// Why a split does not simply go on.
pub(super) enum End {
    /// Another one may go first.
    Turn,
    Pause,
    /// It waits for other lanes.
    Wait,
    /// Some lanes go elsewhere.
    Parted(Split),
    Barrier,
    Call,
    Return,
}

/// Executes straight on until something is to be decided. `alone` says that there is no other split.
pub(super) fn straight(
    cx: &mut Cx<'_>,
    code: &Code,
    split: &mut Split,
    left: &mut u32,
    (alone, ended): (bool, u32),
) -> Result<End, Box<Trouble>> {
    let lanes = u64::from(split.mask.count_ones());
    loop {
        let op = &code.ops[split.pc as usize];
        cx.world.steps += lanes;
        let mut mask = split.mask;
        if let Some(guard) = op.guard {
            let cond = cx.regs.preds[guard as usize];
            mask &= if op.negate { !cond } else { cond };
        }
        match op.flow {
            Next::Plain => {
                if mask != 0 {
                    (op.exec)(cx, op, mask)?;
                }
                split.pc += 1;
            }
            Next::Memory => {
                let polls = cx.world.polls;
                if mask != 0 {
                    (op.exec)(cx, op, mask)?;
                }
                split.pc += 1;
                // Who looks whether something has changed lets others change it.
                let cost = if cx.world.polls > polls { POLL } else { 1 };
                *left = left.saturating_sub(cost);
                if *left == 0 {
                    return Ok(End::Pause);
                }
            }
            Next::Collective => {
                let first = split.mask.trailing_zeros() as usize;
                let wanted = u32::get(&cx.regs, op.c)[first] & !ended;
                if split.mask & !wanted != 0 {
                    return trouble(
                        FaultKind::Divergence,
                        first as u32,
                        format!(
                            "lanes {:#010x} come, lanes {wanted:#010x} are named",
                            split.mask
                        ),
                    );
                }
                if wanted & !split.mask != 0 {
                    return Ok(End::Wait);
                }
                (op.exec)(cx, op, mask)?;
                split.pc += 1;
            }
            Next::Barrier => {
                return Ok(if split.mask == !ended {
                    End::Barrier
                } else {
                    End::Wait
                });
            }
            Next::Jump { to } => {
                round(split, to);
                if !alone || split.rounds >= PATIENCE {
                    return Ok(turn(split, alone, left));
                }
            }
            Next::Branch {
                then,
                otherwise,
                uniform,
            } => {
                let yes = cx.regs.preds[op.a as usize] & split.mask;
                if yes != 0 && yes != split.mask {
                    return part(split, yes, (then, otherwise), uniform);
                }
                round(split, if yes != 0 { then } else { otherwise });
                if !alone || split.rounds >= PATIENCE {
                    return Ok(turn(split, alone, left));
                }
            }
            Next::Return => return Ok(End::Return),
            Next::Call => return Ok(End::Call),
        }
    }
}

/// Goes to a place; going back counts as a round.
fn round(split: &mut Split, to: u32) {
    if to <= split.pc {
        split.rounds += 1;
    }
    split.pc = to;
}

/// Lets other splits go first; a split that goes round on its own lets other warps.
fn turn(split: &mut Split, alone: bool, left: &mut u32) -> End {
    if !alone {
        return End::Turn;
    }
    split.rounds = 0;
    *left = left.saturating_sub(8).max(1);
    if *left == 1 { End::Pause } else { End::Turn }
}

/// Lanes go two ways.
fn part(
    split: &mut Split,
    yes: u32,
    (then, otherwise): (u32, u32),
    uniform: bool,
) -> Result<End, Box<Trouble>> {
    if uniform {
        return trouble(
            FaultKind::Divergence,
            (split.mask & !yes).trailing_zeros(),
            format!(
                "lanes {yes:#010x} of {:#010x} part at a uniform branch",
                split.mask
            ),
        );
    }
    let mut other = Split {
        mask: split.mask & !yes,
        rounds: 0,
        ..*split
    };
    split.mask = yes;
    round(split, then);
    round(&mut other, otherwise);
    Ok(End::Parted(other))
}
