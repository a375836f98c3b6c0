//! Control flow of a function: predecessors, dominators, post-dominators.

use super::func::{BlockId, Func};

/// The number that stands for "no block".
const NONE: usize = usize::MAX;

/// What is known of the control flow of a function.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Blocks that may come next.
    pub successors: Vec<Vec<usize>>,
    /// Blocks that may come before.
    pub predecessors: Vec<Vec<usize>>,
    /// Reachable blocks in reverse post-order.
    pub order: Vec<usize>,
    dominators: Tree,
    post_dominators: Tree,
}

/// A tree over blocks, with numbers that tell descendants.
#[derive(Clone, Debug)]
struct Tree {
    parent: Vec<usize>,
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Flow {
    /// Looks at a function whose jumps go to blocks of it.
    pub fn of(func: &Func) -> Self {
        let n = func.blocks.len();
        let mut successors = vec![Vec::new(); n];
        let mut predecessors = vec![Vec::new(); n];
        for (i, block) in func.blocks.iter().enumerate() {
            block.end.successors(&mut |BlockId(to)| {
                let to = to as usize;
                if !successors[i].contains(&to) {
                    successors[i].push(to);
                    predecessors[to].push(i);
                }
            });
        }
        let order = reverse_post_order(&successors, 0);
        let dominators = tree(&order, &predecessors, n);
        // For post-dominators, a block n follows all ends; loops without an end have none.
        let mut back: Vec<Vec<usize>> = predecessors.clone();
        back.push((0..n).filter(|i| successors[*i].is_empty()).collect());
        let mut forth = successors.clone();
        for (i, to) in forth.iter_mut().enumerate() {
            if successors[i].is_empty() {
                to.push(n);
            }
        }
        forth.push(Vec::new());
        let reverse = reverse_post_order(&back, n);
        let post_dominators = tree(&reverse, &forth, n + 1);
        Self {
            successors,
            predecessors,
            order,
            dominators,
            post_dominators,
        }
    }

    /// Whether every way to `b` leads through `a`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.dominators.is_above(a, b)
    }

    /// The first block that every way from `a` to an end leads through, if there is one.
    pub fn join(&self, a: usize) -> Option<usize> {
        let up = self.post_dominators.parent[a];
        (up != NONE && up < self.successors.len()).then_some(up)
    }

    /// Whether the block can be reached.
    pub fn is_reachable(&self, a: usize) -> bool {
        self.dominators.enter[a] != 0
    }
}

/// Nodes that can be reached from `root`, each before its successors but for loops.
fn reverse_post_order(successors: &[Vec<usize>], root: usize) -> Vec<usize> {
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

/// The dominator tree (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm").
fn tree(order: &[usize], predecessors: &[Vec<usize>], n: usize) -> Tree {
    let mut rank = vec![NONE; n];
    for (i, node) in order.iter().enumerate() {
        rank[*node] = i;
    }
    let mut parent = vec![NONE; n];
    let Some(&root) = order.first() else {
        return Tree {
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
    Tree {
        parent,
        enter,
        leave,
    }
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

impl Tree {
    fn is_above(&self, a: usize, b: usize) -> bool {
        self.enter[a] != 0
            && self.enter[b] != 0
            && self.enter[a] <= self.enter[b]
            && self.leave[b] <= self.leave[a]
    }
}
