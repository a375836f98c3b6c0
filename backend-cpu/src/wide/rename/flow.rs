//! The way control goes through widened code.

use super::access::calls;
use iced_x86::{FlowControl, Instruction};
use std::ops::Range;

/// Basic blocks.
pub(super) struct Flow {
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) successors: Vec<Vec<usize>>,
    /// For each block how often it runs, as the loops around it are nested.
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
        let places = instructions.iter().enumerate();
        let mut places: Vec<(u64, usize)> = places.map(|(number, i)| (i.ip(), number)).collect();
        places.sort_unstable();
        let number_of = |target: u64| {
            let at = places.binary_search_by_key(&target, |(ip, _)| *ip);
            at.ok().map(|at| places[at].1)
        };
        let mut starts = vec![false; instructions.len() + 1];
        starts[0] = true;
        for (number, instruction) in instructions.iter().enumerate() {
            let (target, goes_on) = goes(instruction);
            if let Some(target) = target {
                let to = number_of(target)?;
                starts[to] = true;
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
            successors[number].extend(target.and_then(number_of).map(block_of));
            if goes_on && number + 1 < blocks.len() {
                successors[number].push(number + 1);
            }
        }
        let depths = depths(&successors);
        let weights = blocks.iter().zip(depths).map(|(block, depth)| {
            // Other code is called for few arguments, elsewhere.
            let calls = instructions[block.clone()].iter().any(calls);
            TURNS.pow(if calls { 0 } else { depth.min(DEEPEST) })
        });
        Some(Self {
            weights: weights.collect(),
            blocks,
            successors,
        })
    }
}

/// The blocks from the first one on, those that branch to others before these but in loops.
fn in_order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    let mut path = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = path.last_mut() {
        match successors[*block].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// For each block, how many loops it is in. A loop is what goes back to a block without which it is never come to; a branch backwards out of a
/// block at the end, where rare things are done, is none.
fn depths(successors: &[Vec<usize>]) -> Vec<u32> {
    let count = successors.len();
    let mut predecessors = vec![Vec::new(); count];
    for (block, nexts) in successors.iter().enumerate() {
        for next in nexts {
            predecessors[*next].push(block);
        }
    }
    let order = in_order(successors);
    let mut place = vec![usize::MAX; count];
    for (k, block) in order.iter().enumerate() {
        place[*block] = k;
    }
    // The last block that every way to a block goes through (Cooper, Harvey and Kennedy, A simple, fast dominance algorithm, 2001).
    let mut before: Vec<Option<usize>> = vec![None; count];
    before[0] = Some(0);
    loop {
        let mut changed = false;
        for block in order.iter().skip(1) {
            let known = predecessors[*block]
                .iter()
                .filter(|k| before[**k].is_some());
            let common = known.copied().reduce(|mut a, mut b| {
                while a != b {
                    let later = if place[a] > place[b] { &mut a } else { &mut b };
                    *later = before[*later].unwrap_or(0);
                }
                a
            });
            changed |= common != before[*block];
            before[*block] = common;
        }
        if !changed {
            break;
        }
    }
    let goes_through = |mut block: usize, head: usize| {
        while place[block] > place[head] {
            block = before[block].unwrap_or(0);
        }
        block == head
    };
    let mut depths = vec![0; count];
    for head in order.iter().copied() {
        let back = predecessors[head].iter().copied();
        let back = back.filter(|from| before[*from].is_some() && goes_through(*from, head));
        let mut left: Vec<usize> = back.collect();
        let mut inside = vec![false; count];
        if left.is_empty() {
            continue;
        }
        inside[head] = true;
        while let Some(block) = left.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                left.extend(predecessors[block].iter().filter(|k| before[**k].is_some()));
            }
        }
        for (depth, inside) in depths.iter_mut().zip(inside) {
            *depth += u32::from(inside);
        }
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::depths;

    /// A loop in a loop, of which a block at the end goes back into the middle of the inner one.
    #[test]
    fn rare_blocks_are_no_loops() {
        let successors = [
            vec![1],
            vec![2],
            vec![5, 3],
            vec![2, 4],
            vec![1, 6],
            vec![3],
            vec![],
        ];
        assert_eq!(depths(&successors), [0, 1, 2, 2, 1, 2, 0]);
    }

    #[test]
    fn what_is_never_come_to_is_in_no_loop() {
        assert_eq!(depths(&[vec![2], vec![1, 2], vec![2]]), [0, 0, 1]);
    }
}
