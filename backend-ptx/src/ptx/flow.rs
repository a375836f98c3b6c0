//! Control flow of a function: predecessors, dominators, post-dominators.

use super::func::{BlockId, Func};
use midend::analysis::dominators::{Dominators, reverse_post_order};

/// What is known of the control flow of a function.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Blocks that may come next.
    pub successors: Vec<Vec<usize>>,
    /// Blocks that may come before.
    pub predecessors: Vec<Vec<usize>>,
    /// Reachable blocks in reverse post-order.
    pub order: Vec<usize>,
    dominators: Dominators,
    post_dominators: Dominators,
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
        let dominators = Dominators::of(&order, &predecessors);
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
        let post_dominators = Dominators::of(&reverse, &forth);
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
        self.dominators.dominates(a, b)
    }

    /// The first block that every way from `a` to an end leads through, if there is one.
    pub fn join(&self, a: usize) -> Option<usize> {
        let up = self.post_dominators.immediate(a)?;
        (up < self.successors.len()).then_some(up)
    }

    /// Whether the block can be reached.
    pub fn is_reachable(&self, a: usize) -> bool {
        self.dominators.is_reachable(a)
    }
}
