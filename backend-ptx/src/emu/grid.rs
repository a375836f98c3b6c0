//! Launches: blocks in an order that a seed decides, warps of a block in turns.

use super::code::Program;
use super::fault::{Fault, FaultKind, Trouble};
use super::memory::{Bank, Memory};
use super::run::{BlockCore, World};
use super::warp::{Located, Status, Warp};
use crate::ptx::print;
use midend::device::Stop;

/// Blocks that are on the device at a time, if they talk to each other.
const RESIDENT: usize = 8;
/// The most accesses to memory that a warp makes in one turn.
const QUANTUM: u32 = 64;
/// Looks at memory of all threads, without any change, after which nothing will come any more.
const POLLS: u64 = 2_000_000;

/// A kernel and what to run it with.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The name of the kernel.
    pub kernel: &'a str,
    /// The number of blocks.
    pub blocks: u32,
    /// The bytes of shared memory that each block is given.
    pub shared: u32,
    /// The bytes of its parameters.
    pub params: &'a [u8],
}

/// How to run it.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Decides who has its turn when.
    pub seed: u64,
    /// The most lanes times instructions.
    pub fuel: u64,
    /// Ends the launch when raised.
    pub stop: Option<&'a Stop>,
    /// Ends the launch, with blocks that have not run, once this word of 8 bytes is not zero.
    pub end: Option<u64>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            seed: 1,
            fuel: u64::MAX,
            stop: None,
            end: None,
        }
    }
}

/// What a launch took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lanes times instructions.
    pub steps: u64,
}

/// Random numbers (xorshift), the same for the same seed.
struct Random(u64);

impl Random {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// A block on the device.
struct Block {
    core: BlockCore,
    warps: Vec<Warp>,
}

/// Runs a kernel to its end. Memory is as the kernel left it, also after a fault.
pub fn run(
    program: &Program,
    memory: &mut Memory,
    launch: Launch<'_>,
    options: Options<'_>,
) -> Result<Stats, Box<Fault>> {
    let nowhere = |detail: String| {
        Box::new(Fault {
            kind: FaultKind::BadLaunch,
            detail,
            kernel: launch.kernel.to_owned(),
            inst: String::new(),
            place: String::new(),
            what: String::new(),
            block: 0,
            thread: 0,
        })
    };
    let Some(func) = program.module.entry(launch.kernel) else {
        return Err(nowhere("there is no such kernel".to_owned()));
    };
    let func = func.0 as usize;
    let Some((threads, params)) = program.codes[func].entry else {
        return Err(nowhere("it is not a kernel".to_owned()));
    };
    if launch.params.len() != params as usize {
        return Err(nowhere(format!(
            "{} bytes of parameters instead of {params}",
            launch.params.len()
        )));
    }
    let world = World::new(
        std::mem::take(memory),
        launch.params,
        threads,
        launch.blocks,
    );
    let mut grid = Grid {
        program,
        func,
        world,
        random: Random::new(options.seed),
        waiting: (0..launch.blocks).collect::<std::collections::VecDeque<_>>(),
        resident: Vec::new(),
        spare: Vec::new(),
        shared: launch.shared,
        options,
    };
    let result = grid.run();
    let Grid { mut world, .. } = grid;
    world.memory.next = world.intervals.end();
    *memory = world.memory;
    match result {
        Ok(()) => Ok(Stats { steps: world.steps }),
        Err((block, located)) => Err(Box::new(fault(program, func, block, located))),
    }
}

/// A launch in progress.
struct Grid<'a> {
    program: &'a Program,
    func: usize,
    world: World,
    random: Random,
    waiting: std::collections::VecDeque<u32>,
    resident: Vec<Block>,
    /// Bytes of shared memory that the launch gives each block.
    shared: u32,
    /// Shared memory of blocks that have ended.
    spare: Vec<Vec<Bank>>,
    options: Options<'a>,
}

/// Trouble in a block.
type InBlock = (u32, Located);

impl Grid<'_> {
    fn run(&mut self) -> Result<(), InBlock> {
        let at_once = if self.program.codes[self.func].communicates {
            RESIDENT
        } else {
            1
        };
        loop {
            while self.resident.len() < at_once && !self.waiting.is_empty() {
                self.start(at_once);
            }
            if self.resident.is_empty() {
                return Ok(());
            }
            let which = self.random.below(self.resident.len());
            self.turn(which)?;
            if self.resident[which]
                .warps
                .iter()
                .all(|w| w.status == Status::Done)
            {
                let block = self.resident.swap_remove(which);
                self.spare.push(block.core.shared);
                self.world.polls = 0;
                if self.is_over() {
                    return Ok(());
                }
            }
            self.limits(which)?;
        }
    }

    /// Whether nothing that follows matters.
    fn is_over(&self) -> bool {
        let word = self
            .options
            .end
            .and_then(|at| self.world.memory.read(at, 8));
        word.is_some_and(|bytes| bytes.iter().any(|&byte| byte != 0))
    }

    /// Takes one of the next blocks, not always the first.
    fn start(&mut self, at_once: usize) {
        let near = self.waiting.len().min(if at_once == 1 { 1 } else { 4 });
        let choice = self.random.below(near);
        let Some(number) = self.waiting.remove(choice) else {
            return;
        };
        let warps = self.world.threads / 32;
        let mut shared = self.spare.pop().unwrap_or_else(|| {
            let code = &self.program.codes[self.func];
            let bank = |(var, (elem, bytes)): (usize, &(u32, u32))| {
                let sized = code.sized_by_launch == Some(var);
                Bank::new(*elem, if sized { self.shared } else { *bytes } as usize)
            };
            code.shared.iter().enumerate().map(bank).collect()
        });
        shared.iter_mut().for_each(Bank::clear);
        let interval = self.world.intervals.begin(number);
        self.resident.push(Block {
            core: BlockCore::new(number, interval, shared, warps),
            warps: (0..warps)
                .map(|warp| Warp::new(self.program, self.func, warp))
                .collect(),
        });
    }

    /// Gives a warp of a block its turn, or lets the block past a barrier.
    fn turn(&mut self, which: usize) -> Result<(), InBlock> {
        let block = &mut self.resident[which];
        let ready = block
            .warps
            .iter()
            .filter(|w| w.status == Status::Ready)
            .count();
        if ready == 0 {
            return self.barrier(which);
        }
        let choice = self.random.below(ready);
        let quantum = 1 + self.random.below(QUANTUM as usize) as u32;
        let mut candidates = block.warps.iter_mut().filter(|w| w.status == Status::Ready);
        let Some(warp) = candidates.nth(choice) else {
            return Ok(());
        };
        warp.run(self.program, &mut block.core, &mut self.world, quantum)
            .map_err(|located| (block.core.number, located))
    }

    /// All warps of the block are at a barrier or have ended.
    fn barrier(&mut self, which: usize) -> Result<(), InBlock> {
        let block = &mut self.resident[which];
        let (mut any_yes, mut any_no) = (false, false);
        for warp in &block.warps {
            if let Status::Barrier { some_yes, some_no } = warp.status {
                any_yes |= some_yes;
                any_no |= some_no;
            }
        }
        let interval = self.world.intervals.begin(block.core.number);
        block.core.barrier(interval);
        for warp in &mut block.warps {
            if warp.status != Status::Done {
                warp.release(self.program, any_yes, any_no);
            }
        }
        Ok(())
    }

    /// Whether it has gone on for too long.
    fn limits(&self, which: usize) -> Result<(), InBlock> {
        let kind = if self.options.stop.is_some_and(Stop::is_raised) {
            FaultKind::Stopped
        } else if self.world.steps > self.options.fuel {
            FaultKind::OutOfFuel
        } else if self.world.polls > POLLS {
            FaultKind::Deadlock
        } else {
            return Ok(());
        };
        let block = self.resident.get(which).map_or(0, |b| b.core.number);
        let trouble = Trouble {
            kind,
            detail: format!("after {} lane-instructions", self.world.steps),
            lane: 0,
        };
        Err((block, (Box::new(trouble), self.func, (u32::MAX, 0))))
    }
}

/// The report of trouble.
fn fault(program: &Program, kernel: usize, block: u32, (trouble, func, at): Located) -> Fault {
    let module = &program.module;
    let func = &module.funcs[func];
    let lines = func.blocks.get(at.0 as usize).map(|b| &b.lines);
    let line = lines.and_then(|lines| lines.get(at.1 as usize).or(lines.last()));
    let is_line = lines.is_some_and(|lines| (at.1 as usize) < lines.len());
    let origin = line
        .map(|l| func.origins[l.origin as usize].clone())
        .unwrap_or_default();
    Fault {
        kind: trouble.kind,
        detail: trouble.detail,
        kernel: module.funcs[kernel].name.clone(),
        inst: match line {
            Some(line) if is_line => print::inst(module, func, &line.inst),
            Some(_) | None => String::new(),
        },
        place: origin.place,
        what: origin.what,
        block,
        thread: trouble.lane,
    }
}
