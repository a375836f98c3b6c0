//! Who calls whom: the order in which callees come before callers, which functions are recursive, and what functions have from
//! those that they call.

use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, IdMap, IdVec};
use crate::ir::syntax::{Fun, Program};
use crate::ir::walk;

/// The call graph of a program.
#[derive(Clone, Debug)]
pub struct Calls {
    /// All functions; callees come before callers except in cycles.
    pub order: Vec<FunId>,
    /// Whether a function can come back to itself.
    pub recursive: IdMap<FunId, bool>,
    /// How many calls of the function there are in the text of the program.
    pub count: IdMap<FunId, usize>,
}

/// Finds the call graph (strongly connected components by Tarjan's algorithm, without recursion).
pub fn calls<D: Dialect>(program: &Program<D>) -> Calls {
    let n = program.funs.len();
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut count = IdMap::new();
    for (id, fun) in program.funs.enumerate() {
        walk::calls(&fun.body, &mut |callee| {
            *count.entry(callee) += 1;
            callees[id.index()].push(callee.index());
        });
    }
    let mut search = Search {
        callees: &callees,
        number: vec![usize::MAX; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        stack: Vec::new(),
        next: 0,
        order: Vec::new(),
        recursive: IdMap::new(),
    };
    for f in 0..n {
        if search.number[f] == usize::MAX {
            search.from(f);
        }
    }
    Calls {
        order: search.order,
        recursive: search.recursive,
        count,
    }
}

/// Which functions have a property that functions may also have because of those that they call: the least facts that satisfy
/// `holds`, which is asked with what is known so far, again only after a callee was found to have the property.
pub fn spread<D: Dialect>(
    funs: &IdVec<FunId, Fun<D>>,
    holds: impl Fn(FunId, &[bool]) -> bool,
) -> Vec<bool> {
    settled(funs, vec![false; funs.len()], |id, facts| {
        facts[id.index()] || holds(id, facts)
    })
}

/// Facts on functions that depend on those on the functions that they call: from some to start with to those that `next`, which
/// is asked with what is known so far, again only after the fact on a callee has changed, does not change any more.
pub fn settled<D: Dialect, F: Copy + PartialEq>(
    funs: &IdVec<FunId, Fun<D>>,
    mut facts: Vec<F>,
    next: impl Fn(FunId, &[F]) -> F,
) -> Vec<F> {
    let mut callers: Vec<Vec<FunId>> = vec![Vec::new(); funs.len()];
    for (id, fun) in funs.enumerate() {
        walk::calls(&fun.body, &mut |callee| callers[callee.index()].push(id));
    }
    let mut todo: Vec<FunId> = funs.ids().collect();
    while let Some(id) = todo.pop() {
        let fact = next(id, &facts);
        if fact != facts[id.index()] {
            facts[id.index()] = fact;
            todo.extend(&callers[id.index()]);
        }
    }
    facts
}

struct Search<'c> {
    callees: &'c [Vec<usize>],
    number: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    order: Vec<FunId>,
    recursive: IdMap<FunId, bool>,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((f, edge)) = path.last_mut() {
            let f = *f;
            let Some(&callee) = self.callees[f].get(*edge) else {
                path.pop();
                if let Some((caller, _)) = path.last() {
                    self.low[*caller] = self.low[*caller].min(self.low[f]);
                }
                self.leave(f);
                continue;
            };
            *edge += 1;
            if self.number[callee] == usize::MAX {
                self.enter(callee);
                path.push((callee, 0));
            } else if self.on_stack[callee] {
                self.low[f] = self.low[f].min(self.number[callee]);
            }
        }
    }

    fn enter(&mut self, f: usize) {
        self.number[f] = self.next;
        self.low[f] = self.next;
        self.next += 1;
        self.stack.push(f);
        self.on_stack[f] = true;
    }

    /// Ends a function; if it is the first of its component, the component is complete.
    fn leave(&mut self, f: usize) {
        if self.low[f] != self.number[f] {
            return;
        }
        let start = self.stack.iter().rposition(|g| *g == f).unwrap_or(0);
        let component = self.stack.split_off(start);
        let cycle = component.len() > 1 || self.callees[f].contains(&f);
        for g in component {
            self.on_stack[g] = false;
            self.recursive.set(FunId::new(g), cycle);
            self.order.push(FunId::new(g));
        }
    }
}
