//! Dominators of the nodes of a directed graph, as of the blocks of a function.

/// The number that stands for "no node".
const NONE: usize = usize::MAX;

/// A dominator tree (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"), with numbers that tell descendants.
#[derive(Clone, Debug)]
pub struct Dominators {
    parent: Vec<usize>,
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Dominators {
    /// The dominators in a graph of which these are the nodes that can be reached, in reverse post-order, and the predecessors of all.
    pub fn of(order: &[usize], predecessors: &[Vec<usize>]) -> Self {
        let n = predecessors.len();
        let mut rank = vec![NONE; n];
        for (i, node) in order.iter().enumerate() {
            rank[*node] = i;
        }
        let mut parent = vec![NONE; n];
        let Some(&root) = order.first() else {
            return Self {
                parent,
                enter: vec![0; n],
                leave: vec![0; n],
            };
        };
        parent[root] = root;
        let mut changed = true;
        while changed {
            changed = false;
            for &node in &order[1..] {
                let mut best = NONE;
                for &p in &predecessors[node] {
                    if rank[p] == NONE || parent[p] == NONE {
                        continue;
                    }
                    best = if best == NONE {
                        p
                    } else {
                        common(&parent, &rank, best, p)
                    };
                }
                if best != NONE && parent[node] != best {
                    parent[node] = best;
                    changed = true;
                }
            }
        }
        parent[root] = NONE;
        let (enter, leave) = number(&parent, root);
        Self {
            parent,
            enter,
            leave,
        }
    }

    /// Whether every way from the root to `b` leads through `a`; of nodes that cannot be reached none dominates another.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.is_reachable(a)
            && self.is_reachable(b)
            && self.enter[a] <= self.enter[b]
            && self.leave[b] <= self.leave[a]
    }

    /// The last node but `a` itself that every way to `a` leads through.
    pub fn immediate(&self, a: usize) -> Option<usize> {
        let up = self.parent[a];
        (up != NONE).then_some(up)
    }

    /// Whether there is a way from the root to a node.
    pub fn is_reachable(&self, a: usize) -> bool {
        self.enter[a] != 0
    }
}

/// Nodes that can be reached from `root`, each before its successors but for loops.
pub fn reverse_post_order(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.pop() {
        match successors[node].get(next) {
            Some(to) => {
                stack.push((node, next + 1));
                if !seen[*to] {
                    seen[*to] = true;
                    stack.push((*to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

fn common(parent: &[usize], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while rank[a] > rank[b] {
            a = parent[a];
        }
        while rank[b] > rank[a] {
            b = parent[b];
        }
    }
    a
}

/// When a walk through the tree enters and leaves each node; 0 for nodes that are not in it.
fn number(parent: &[usize], root: usize) -> (Vec<u32>, Vec<u32>) {
    let mut children = vec![Vec::new(); parent.len()];
    for (node, up) in parent.iter().enumerate() {
        if *up != NONE {
            children[*up].push(node);
        }
    }
    let (mut enter, mut leave) = (vec![0; parent.len()], vec![0; parent.len()]);
    let mut clock = 0;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.pop() {
        if next == 0 {
            clock += 1;
            enter[node] = clock;
        }
        match children[node].get(next) {
            Some(child) => {
                stack.push((node, next + 1));
                stack.push((*child, 0));
            }
            None => leave[node] = clock,
        }
    }
    (enter, leave)
}

#[cfg(test)]
mod tests {
    use super::{Dominators, reverse_post_order};

    /// The immediate dominators in a graph of such successors.
    fn immediate(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (from, to) in successors.iter().enumerate() {
            for node in to {
                predecessors[*node].push(from);
            }
        }
        let dominators = Dominators::of(&reverse_post_order(successors, 0), &predecessors);
        (0..successors.len())
            .map(|node| dominators.immediate(node))
            .collect()
    }

    #[test]
    fn a_join_is_dominated_by_the_branch() {
        let found = immediate(&[vec![1, 2], vec![3], vec![3], vec![]]);
        assert_eq!(found, [None, Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn a_loop_is_dominated_by_its_header() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3; 4 cannot be reached.
        let found = immediate(&[vec![1], vec![2], vec![1, 3], vec![], vec![3]]);
        assert_eq!(found, [None, Some(0), Some(1), Some(2), None]);
    }
}
