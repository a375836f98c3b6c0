//! The way control goes through widened code.

use iced_x86::{FlowControl, Instruction};
use std::collections::HashMap;
use std::ops::Range;

/// Basic blocks.
pub(super) struct Flow {
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) successors: Vec<Vec<usize>>,
    /// For each block how often it runs, as the loops around it are nested: branches backwards are loops.
    pub(super) weights: Vec<u64>,
}

/// How often a loop runs, for want of anything better, and the deepest nest that is told apart.
const TURNS: u64 = 10;
const DEEPEST: u32 = 8;

/// Where an instruction branches to, and whether it goes on behind it.
fn goes(instruction: &Instruction) -> (Option<u64>, bool) {
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::ConditionalBranch => (Some(target), true),
        FlowControl::UnconditionalBranch => (Some(target), false),
        FlowControl::Return | FlowControl::Exception | FlowControl::IndirectBranch => (None, false),
        FlowControl::Next
        | FlowControl::IndirectCall
        | FlowControl::Call
        | FlowControl::Interrupt
        | FlowControl::XbeginXabortXend => (None, true),
    }
}

impl Flow {
    /// The blocks of code, unless a branch goes nowhere.
    pub(super) fn of(instructions: &[Instruction]) -> Option<Self> {
        let numbers: HashMap<u64, usize> = instructions
            .iter()
            .enumerate()
            .map(|(number, i)| (i.ip(), number))
            .collect();
        let mut starts = vec![false; instructions.len() + 1];
        let mut branches = Vec::new();
        starts[0] = true;
        for (number, instruction) in instructions.iter().enumerate() {
            let (target, goes_on) = goes(instruction);
            if let Some(target) = target {
                let to = *numbers.get(&target)?;
                starts[to] = true;
                branches.push((number, to));
            }
            if target.is_some() || !goes_on {
                starts[number + 1] = true;
            }
        }
        let firsts: Vec<usize> = (0..instructions.len()).filter(|k| starts[*k]).collect();
        let ends = firsts.iter().skip(1).copied().chain([instructions.len()]);
        let blocks: Vec<Range<usize>> = firsts.iter().zip(ends).map(|(a, b)| *a..b).collect();
        let block_of = |number: usize| firsts.partition_point(|first| *first <= number) - 1;
        let mut successors = vec![Vec::new(); blocks.len()];
        for (number, block) in blocks.iter().enumerate() {
            let (target, goes_on) = goes(&instructions[block.end - 1]);
            let target = target.and_then(|target| numbers.get(&target));
            successors[number].extend(target.map(|to| block_of(*to)));
            if goes_on && number + 1 < blocks.len() {
                successors[number].push(number + 1);
            }
        }
        let mut deeper = vec![0i32; blocks.len() + 1];
        for (from, to) in branches.into_iter().filter(|(from, to)| to <= from) {
            deeper[block_of(to)] += 1;
            deeper[block_of(from) + 1] -= 1;
        }
        let depths = deeper[..blocks.len()].iter().scan(0, |depth, change| {
            *depth += change;
            Some(*depth)
        });
        let weights = depths.map(|depth| TURNS.pow(depth.unsigned_abs().min(DEEPEST)));
        Some(Self {
            weights: weights.collect(),
            blocks,
            successors,
        })
    }
}
