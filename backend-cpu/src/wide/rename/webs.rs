//! Webs: the values of a register, or of a place on the stack, that must be in the same one.

use super::access::{Accesses, Role};
use super::flow::Flow;

/// No node.
const NONE: u32 = u32::MAX;

/// The webs of code.
pub(super) struct Webs {
    /// For each touch, its web.
    of: Vec<u32>,
    /// The touches of each web, one after the other, and where those of each begin.
    touches: Vec<u32>,
    starts: Vec<usize>,
    /// For each block, the locations that are alive before it, and their webs.
    pub(super) before: Vec<Vec<(usize, u32)>>,
}

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(pub(super) Vec<u64>);

impl Bits {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }
    pub(super) fn insert(&mut self, k: usize) {
        self.0[k / 64] |= 1 << (k % 64);
    }
    pub(super) fn remove(&mut self, k: usize) {
        self.0[k / 64] &= !(1 << (k % 64));
    }
    pub(super) fn has(&self, k: usize) -> bool {
        self.0[k / 64] & 1 << (k % 64) != 0
    }
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    pub(super) fn add(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(k, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    64 * k + bit
                })
            })
        })
    }
}

/// The locations that are alive before each block.
fn alive(flow: &Flow, accesses: &Accesses) -> Vec<Bits> {
    let count = flow.blocks.len();
    let empty = Bits::new(accesses.locations);
    let (mut reads, mut writes) = (vec![empty.clone(); count], vec![empty.clone(); count]);
    for (number, block) in flow.blocks.iter().enumerate() {
        for touch in block.clone().flat_map(|at| accesses.range(at)) {
            let touch = accesses.touches[touch];
            if touch.role != Role::Write && !writes[number].has(touch.location) {
                reads[number].insert(touch.location);
            }
            if touch.role != Role::Read {
                writes[number].insert(touch.location);
            }
        }
    }
    let mut before = reads.clone();
    loop {
        let mut changed = false;
        for number in (0..count).rev() {
            let mut now = empty.clone();
            for next in &flow.successors[number] {
                now.add(&before[*next]);
            }
            for (word, written) in now.0.iter_mut().zip(&writes[number].0) {
                *word &= !written;
            }
            now.add(&reads[number]);
            if now != before[number] {
                before[number] = now;
                changed = true;
            }
        }
        if !changed {
            return before;
        }
    }
}

fn find(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

impl Webs {
    /// The webs, unless there are more than so many.
    pub(super) fn of(flow: &Flow, accesses: &Accesses, most: usize) -> Option<Self> {
        let alive = alive(flow, accesses);
        let mut nodes: Vec<u32> = Vec::new();
        let mut fresh = || {
            let node = nodes.len() as u32;
            nodes.push(node);
            node
        };
        let mut before: Vec<Vec<(usize, u32)>> = alive
            .iter()
            .map(|locations| locations.iter().map(|k| (k, fresh())).collect())
            .collect();
        let mut of = vec![NONE; accesses.touches.len()];
        let mut after = Vec::with_capacity(before.len());
        for (number, block) in flow.blocks.iter().enumerate() {
            let mut now = vec![NONE; accesses.locations];
            for (location, node) in &before[number] {
                now[*location] = *node;
            }
            for touch in block.clone().flat_map(|at| accesses.range(at)) {
                let (location, role) = (
                    accesses.touches[touch].location,
                    accesses.touches[touch].role,
                );
                if role == Role::Write || now[location] == NONE {
                    now[location] = fresh();
                }
                of[touch] = now[location];
            }
            after.push(now);
        }
        for (number, nexts) in flow.successors.iter().enumerate() {
            for (location, node) in nexts.iter().flat_map(|next| &before[*next]) {
                let from = after[number][*location];
                if from != NONE {
                    let [a, b] = [from, *node].map(|node| find(&mut nodes, node));
                    nodes[a as usize] = b;
                }
            }
        }
        // Numbers for the roots.
        let mut numbers = vec![NONE; nodes.len()];
        let mut count = 0;
        let mut number = |node: u32| {
            let root = find(&mut nodes, node) as usize;
            if numbers[root] == NONE {
                numbers[root] = count;
                count += 1;
            }
            numbers[root]
        };
        for node in &mut of {
            *node = number(*node);
        }
        for (_, node) in before.iter_mut().flatten() {
            *node = number(*node);
        }
        let count = count as usize;
        if count > most {
            return None;
        }
        let mut starts = vec![0; count + 1];
        for web in &of {
            starts[*web as usize + 1] += 1;
        }
        for k in 0..count {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut touches = vec![0; of.len()];
        for (touch, web) in of.iter().enumerate() {
            touches[next[*web as usize]] = touch as u32;
            next[*web as usize] += 1;
        }
        Some(Self {
            of,
            touches,
            starts,
            before,
        })
    }

    pub(super) const fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The web of a touch.
    pub(super) fn web(&self, touch: usize) -> usize {
        self.of[touch] as usize
    }

    /// The touches of a web, in order.
    pub(super) fn touches(&self, web: usize) -> &[u32] {
        &self.touches[self.starts[web]..self.starts[web + 1]]
    }
}
