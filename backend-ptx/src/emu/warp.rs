//! A warp: its lanes go their ways as *splits*, sets of lanes at one place of the code.
//!
//! The split that is furthest behind goes first (in the layout of the code, and in the deepest call), so that lanes that
//! parted meet again after the branch. Splits that meet become one. A split that goes round a loop for long lets others go
//! ahead, so that lanes that wait for each other do not wait for ever.

mod step;

use super::code::{Code, Doubles, LANES, Op, Program, Slot};
use super::exec::{File, put, truth};
use super::fault::{FaultKind, Trouble, trouble};
use super::run::{BlockCore, Cx, LocalBank, Regs, WarpCore, World};
use crate::ptx::{Class, FuncId};
use step::{End, straight};

/// Rounds of loops before another split has its turn.
const PATIENCE: u32 = 64;
/// What a look at memory that changes nothing takes from the turn of a warp.
const POLL: u32 = 16;
/// The deepest nesting of calls.
const DEPTH: u32 = 20_000;

/// A call in progress.
struct Frame {
    func: usize,
    regs: Regs,
    args: Vec<Doubles>,
    locals: Vec<Option<u32>>,
    /// Frame and place to go back to.
    back: Option<(usize, u32)>,
    depth: u32,
    /// Lanes that have not returned.
    alive: u32,
}

/// Lanes at one place.
#[derive(Clone, Copy, Debug)]
struct Split {
    mask: u32,
    frame: usize,
    pc: u32,
    depth: u32,
    /// Rounds of loops since the split last had its turn.
    rounds: u32,
    /// Whether it waits for other lanes.
    waits: bool,
}

/// How far a warp is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It can go on.
    Ready,
    /// It is at a barrier: says yes in some lanes, no in some.
    Barrier { some_yes: bool, some_no: bool },
    /// All lanes have ended.
    Done,
}

pub(super) struct Warp {
    core: WarpCore,
    frames: Vec<Option<Frame>>,
    splits: Vec<Split>,
    ended: u32,
    pub(super) status: Status,
}

/// Trouble, and where: the function, the block and the line.
pub(super) type Located = (Box<Trouble>, usize, (u32, u32));

/// What becomes of a split after a piece of code.
enum Turn {
    /// It goes on, when its turn comes.
    Again(Split),
    /// It is no more.
    Over,
    /// It is at a barrier.
    Arrived(Split),
    /// It, and the quantum is used up.
    Pause(Split),
}

impl Warp {
    pub(super) fn new(program: &Program, func: usize, number: u32) -> Self {
        let mut warp = Self {
            core: WarpCore {
                number,
                epoch: 0,
                locals: Vec::new(),
            },
            frames: Vec::new(),
            splits: Vec::new(),
            ended: 0,
            status: Status::Ready,
        };
        let frame = warp.enter(&program.codes[func], func, u32::MAX, vec![], None);
        warp.splits.push(Split {
            mask: u32::MAX,
            frame,
            pc: 0,
            depth: 0,
            rounds: 0,
            waits: false,
        });
        warp
    }

    /// A new frame.
    fn enter(
        &mut self,
        code: &Code,
        func: usize,
        alive: u32,
        args: Vec<Doubles>,
        back: Option<(usize, u32)>,
    ) -> usize {
        let locals = code
            .locals
            .iter()
            .map(|bytes| bytes.map(|bytes| self.local(bytes)))
            .collect();
        let depth = back
            .and_then(|(frame, _)| self.frames[frame].as_ref())
            .map_or(0, |f| f.depth + 1);
        let frame = Frame {
            func,
            regs: Regs {
                words: code.words.iter().map(|c| [*c; LANES]).collect(),
                doubles: code.doubles.iter().map(|c| [*c; LANES]).collect(),
                preds: code.preds.clone(),
            },
            args,
            locals,
            back,
            depth,
            alive,
        };
        match self.frames.iter().position(Option::is_none) {
            Some(free) => {
                self.frames[free] = Some(frame);
                free
            }
            None => {
                self.frames.push(Some(frame));
                self.frames.len() - 1
            }
        }
    }

    /// A new local array; its number.
    fn local(&mut self, bytes: u32) -> u32 {
        let bank = LocalBank {
            bytes: vec![[0; 32]; bytes as usize],
            defined: vec![0; bytes as usize],
        };
        let locals = &mut self.core.locals;
        match locals.iter().position(Option::is_none) {
            Some(free) => {
                locals[free] = Some(bank);
                free as u32
            }
            None => {
                locals.push(Some(bank));
                locals.len() as u32 - 1
            }
        }
    }

    /// Gives back the memory of a frame.
    fn leave(&mut self, frame: usize) {
        if let Some(frame) = self.frames[frame].take() {
            for local in frame.locals.into_iter().flatten() {
                self.core.locals[local as usize] = None;
            }
        }
    }

    /// Makes one of splits at the same place.
    fn merge(&mut self) {
        let mut i = 0;
        while i < self.splits.len() {
            let mut j = i + 1;
            while j < self.splits.len() {
                let (a, b) = (self.splits[i], self.splits[j]);
                if (a.frame, a.pc) == (b.frame, b.pc) {
                    self.splits[i].mask |= b.mask;
                    self.splits[i].waits = false;
                    self.splits.swap_remove(j);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }

    /// The split whose turn it is.
    fn pick(&mut self) -> Option<Split> {
        self.merge();
        let ready = |s: &Split| !s.waits;
        let tired = self
            .splits
            .iter()
            .filter(|s| ready(s))
            .all(|s| s.rounds >= PATIENCE);
        if tired {
            self.splits.iter_mut().for_each(|s| s.rounds = 0);
        }
        let candidates = self.splits.iter().enumerate().filter(|(_, s)| ready(s));
        let (best, _) =
            candidates.min_by_key(|(_, s)| (s.rounds >= PATIENCE, u32::MAX - s.depth, s.pc))?;
        Some(self.splits.swap_remove(best))
    }

    /// Executes until the warp ends, comes to a barrier, or has made `quantum` memory accesses.
    pub(super) fn run(
        &mut self,
        program: &Program,
        block: &mut BlockCore,
        world: &mut World,
        quantum: u32,
    ) -> Result<(), Located> {
        let mut left = quantum;
        loop {
            let Some(split) = self.pick() else {
                return match self.splits.first().copied() {
                    None => {
                        self.status = Status::Done;
                        Ok(())
                    }
                    Some(stuck) => self.stuck(program, stuck),
                };
            };
            match self.turn(program, block, world, split, &mut left)? {
                Turn::Again(split) => self.splits.push(split),
                Turn::Over => {}
                Turn::Arrived(split) => {
                    self.splits.push(split);
                    return Ok(());
                }
                Turn::Pause(split) => {
                    self.splits.push(split);
                    return Ok(());
                }
            }
        }
    }

    /// All lanes wait for each other.
    fn stuck(&self, program: &Program, split: Split) -> Result<(), Located> {
        let func = self.frames[split.frame].as_ref().map_or(0, |f| f.func);
        let at = program.codes[func].ops[split.pc as usize].at;
        let others = !split.mask & !self.ended;
        let lane = split.mask.trailing_zeros();
        let detail = format!(
            "lanes {:#010x} wait for lanes {others:#010x} of their warp, which wait elsewhere",
            split.mask
        );
        let trouble = Trouble {
            kind: FaultKind::Divergence,
            detail,
            lane: self.core.number * 32 + lane,
        };
        Err((Box::new(trouble), func, at))
    }

    /// Executes a split until another one may go first.
    fn turn(
        &mut self,
        program: &Program,
        block: &mut BlockCore,
        world: &mut World,
        mut split: Split,
        left: &mut u32,
    ) -> Result<Turn, Located> {
        let Some(frame) = self.frames[split.frame].as_mut() else {
            return Ok(Turn::Over);
        };
        let func = frame.func;
        let code = &program.codes[func];
        let alone = self.splits.is_empty();
        let mut cx = Cx {
            regs: std::mem::take(&mut frame.regs),
            args: std::mem::take(&mut frame.args),
            locals: std::mem::take(&mut frame.locals),
            warp: &mut self.core,
            block,
            world,
        };
        let end = straight(&mut cx, code, &mut split, left, (alone, self.ended));
        let number = cx.warp.number;
        (frame.regs, frame.args, frame.locals) = (cx.regs, cx.args, cx.locals);
        let op = &code.ops[split.pc as usize];
        let locate = |mut trouble: Box<Trouble>| {
            trouble.lane += number * 32;
            (trouble, func, op.at)
        };
        match end.map_err(locate)? {
            End::Turn => Ok(Turn::Again(split)),
            End::Pause => Ok(Turn::Pause(split)),
            End::Wait => {
                split.waits = true;
                Ok(Turn::Again(split))
            }
            End::Parted(other) => {
                self.splits.push(other);
                Ok(Turn::Again(split))
            }
            End::Barrier => {
                self.arrive(op, split);
                Ok(Turn::Arrived(split))
            }
            End::Call => self.call(program, op, split).map_err(locate),
            End::Return => {
                self.back(program, op, split);
                Ok(Turn::Over)
            }
        }
    }

    /// All lanes are at a barrier.
    fn arrive(&mut self, op: &Op, split: Split) {
        let yes = match &self.frames[split.frame] {
            Some(frame) if op.imm != 0 => frame.regs.preds[op.a as usize] & split.mask,
            Some(_) | None => 0,
        };
        self.status = Status::Barrier {
            some_yes: yes != 0,
            some_no: yes != split.mask,
        };
    }

    /// All threads of the block have come to the barrier where the warp is.
    pub(super) fn release(&mut self, program: &Program, any_yes: bool, any_no: bool) {
        self.status = Status::Ready;
        self.core.epoch = 0;
        let Some(split) = self.splits.first_mut() else {
            return;
        };
        if let Some(frame) = &mut self.frames[split.frame] {
            let op = &program.codes[frame.func].ops[split.pc as usize];
            let verdict = match op.imm {
                1 => Some(!any_no),
                2 => Some(any_yes),
                _ => None,
            };
            if let Some(verdict) = verdict {
                let bits = if verdict { u32::MAX } else { 0 };
                truth(&mut frame.regs, op.d, split.mask, bits);
            }
        }
        split.pc += 1;
    }

    /// Goes into a function.
    fn call(&mut self, program: &Program, op: &Op, split: Split) -> Result<Turn, Box<Trouble>> {
        if split.depth >= DEPTH {
            let lane = split.mask.trailing_zeros();
            return trouble(FaultKind::StackOverflow, lane, format!("{DEPTH} calls"));
        }
        let fun = FuncId(op.imm as u32).0 as usize;
        let args = match &self.frames[split.frame] {
            Some(frame) => op.list[..op.a as usize]
                .iter()
                .map(|slot| slot_value(&frame.regs, *slot))
                .collect(),
            None => vec![],
        };
        let back = Some((split.frame, split.pc));
        let frame = self.enter(&program.codes[fun], fun, split.mask, args, back);
        Ok(Turn::Again(Split {
            frame,
            pc: 0,
            depth: split.depth + 1,
            ..split
        }))
    }

    /// Goes back to the caller, or ends.
    fn back(&mut self, program: &Program, op: &Op, split: Split) {
        let Some(frame) = self.frames[split.frame].as_mut() else {
            return;
        };
        frame.alive &= !split.mask;
        let alive = frame.alive;
        let Some((parent, pc)) = frame.back else {
            self.ended |= split.mask;
            self.splits.iter_mut().for_each(|s| s.waits = false);
            return;
        };
        let values: Vec<Doubles> = op
            .list
            .iter()
            .map(|slot| slot_value(&frame.regs, *slot))
            .collect();
        if let Some(caller) = &mut self.frames[parent] {
            let call = &program.codes[caller.func].ops[pc as usize];
            for (slot, value) in call.list[call.a as usize..].iter().zip(&values) {
                match slot.class {
                    Class::B64 => put(&mut caller.regs, slot.index, split.mask, value),
                    Class::Pred | Class::B16 | Class::B32 => {
                        let words = value.map(|x| x as u32);
                        put(&mut caller.regs, slot.index, split.mask, &words);
                    }
                }
            }
        }
        if alive == 0 {
            self.leave(split.frame);
        }
        self.splits.push(Split {
            frame: parent,
            pc: pc + 1,
            depth: split.depth - 1,
            ..split
        });
    }
}

/// The value of a slot in 64 bits.
fn slot_value(regs: &Regs, slot: Slot) -> Doubles {
    match slot.class {
        Class::B64 => u64::get(regs, slot.index),
        Class::Pred | Class::B16 | Class::B32 => u32::get(regs, slot.index).map(u64::from),
    }
}
