//! Which webs are alive together, and colors for them.

use super::access::{Accesses, At, KNOWN, Kind, Role, Touch};
use super::flow::Flow;
use super::fused::Term;
use super::webs::{Bits, Webs};
use std::cmp::Ordering;

/// When two webs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coalescing {
    /// When they are never alive together.
    Aggressive,
    /// When that cannot make it harder to find colors, too (Briggs).
    Conservative,
}

/// Which places stay on the stack whatever colors there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Staying {
    All,
    These(Vec<usize>),
}

/// How often colors are looked for anew for webs that could not become one with what others have, and how many pairs that are apart may be looked
/// at for it in all.
const TRIES: usize = 64;
const WORK: usize = 1 << 17;

/// What a walk from the end of each block to its start comes by.
pub(super) enum Event {
    /// What is alive behind an instruction.
    After(usize),
    /// A web is written, by a copy of another one perhaps.
    Write { web: usize, source: Option<usize> },
    /// What is alive before an instruction.
    Before,
}

/// Walks over code, with the webs that are alive at each event.
pub(super) fn walk(
    flow: &Flow,
    accesses: &Accesses,
    webs: &Webs,
    mut visit: impl FnMut(Event, &Bits),
) {
    for (number, block) in flow.blocks.iter().enumerate() {
        let mut live = Bits::new(webs.count());
        let nexts = &flow.successors[number];
        for (_, web) in nexts.iter().flat_map(|next| &webs.before[*next]) {
            live.insert(*web as usize);
        }
        for at in block.clone().rev() {
            visit(Event::After(at), &live);
            let touches = accesses.range(at);
            let is_copy = matches!(accesses.kinds[at], Kind::Copy);
            let source = touches
                .clone()
                .find(|k| is_copy && accesses.touches[*k].role == Role::Read)
                .map(|k| webs.web(k));
            for touch in touches.rev() {
                let web = webs.web(touch);
                let role = accesses.touches[touch].role;
                if role != Role::Read {
                    live.remove(web);
                    visit(Event::Write { web, source }, &live);
                }
                if role != Role::Write {
                    live.insert(web);
                }
            }
            visit(Event::Before, &live);
        }
    }
}

/// For each web, those that are alive when it is written, or the other way round.
pub(super) fn apart(flow: &Flow, accesses: &Accesses, webs: &Webs) -> Vec<Bits> {
    let count = webs.count();
    let mut apart = vec![Bits::new(count); count];
    walk(flow, accesses, webs, |event, live| {
        if let Event::Write { web, source } = event {
            // A copy and what it is a copy of may be in one register.
            let with = source.filter(|source| live.has(*source) && !apart[web].has(*source));
            apart[web].add(live);
            if let Some(source) = with {
                apart[web].remove(source);
            }
        }
    });
    for web in 0..count {
        let others: Vec<usize> = apart[web].iter().collect();
        for other in others {
            apart[other].insert(web);
        }
    }
    for (web, others) in apart.iter_mut().enumerate() {
        others.remove(web);
    }
    apart
}

/// The graph of webs.
#[derive(Clone)]
pub(super) struct Graph {
    registers: usize,
    /// For each web in a register, those in registers that it is apart from, in order.
    apart: Vec<Vec<u32>>,
    /// Whether it is in an instruction that can name the first 16 registers only.
    low: Vec<bool>,
    /// Whether it stays on the stack.
    stays: Vec<bool>,
    /// For each web, the one that it has become a part of, or itself.
    parents: Vec<usize>,
    /// How often each web is touched, and whether it is a place on the stack.
    weights: Vec<u64>,
    is_place: Vec<bool>,
    /// Whether it is what a register holds of a place that stays where it is.
    is_kept: Vec<bool>,
}

impl Graph {
    pub(super) fn of(
        (flow, accesses, webs): (&Flow, &Accesses, &Webs),
        apart: &[Bits],
        registers: usize,
        stay: &Staying,
        coalescing: Coalescing,
    ) -> Self {
        let count = webs.count();
        let mut graph = Self {
            registers,
            apart: vec![Vec::new(); count],
            low: vec![false; count],
            stays: vec![false; count],
            parents: (0..count).collect(),
            weights: vec![0; count],
            is_place: vec![false; count],
            is_kept: vec![false; count],
        };
        let mut is_read = vec![false; count];
        for (block, weight) in flow.blocks.iter().zip(&flow.weights) {
            for at in block.clone() {
                for touch in accesses.range(at) {
                    let web = webs.web(touch);
                    graph.weights[web] = graph.weights[web].saturating_add(*weight);
                    graph.is_place[web] |= accesses.touches[touch].location >= KNOWN;
                    let Touch {
                        at: place, role, ..
                    } = accesses.touches[touch];
                    let named = matches!(place, At::Operand(_));
                    graph.is_kept[web] |= place == At::Kept;
                    graph.low[web] |= named && accesses.is_low(at);
                    // A register for what is on the stack is none if nobody reads it.
                    is_read[web] |= place != At::Kept || role == Role::Read;
                }
            }
        }
        match stay {
            Staying::All => graph.stays.clone_from(&graph.is_place),
            Staying::These(places) => {
                for web in places {
                    graph.stays[*web] = true;
                }
            }
        }
        for (stays, is_read) in graph.stays.iter_mut().zip(is_read) {
            *stays |= !is_read;
        }
        graph.stay(flow, accesses, webs);
        for web in (0..count).filter(|web| !graph.stays[*web]) {
            let others = apart[web].iter().filter(|other| !graph.stays[*other]);
            let mut near = Vec::with_capacity(apart[web].count());
            near.extend(others.map(|other| other as u32));
            graph.apart[web] = near;
        }
        for (a, b) in preferences(flow, accesses, webs) {
            graph.coalesce((a, b), coalescing);
        }
        graph
    }

    /// Finds what stays on the stack: what is alive at calls, and, where more is alive than there are registers, what is used the least.
    fn stay(&mut self, flow: &Flow, accesses: &Accesses, webs: &Webs) {
        walk(flow, accesses, webs, |event, live| match event {
            Event::After(at) if accesses.calls[at] => {
                // Other code uses all registers. Of what is on the stack as well, they are loaded again.
                for web in live
                    .iter()
                    .filter(|k| self.is_place[*k] && !self.is_kept[*k])
                {
                    self.stays[web] = true;
                }
            }
            Event::After(_) | Event::Write { .. } => {}
            Event::Before => {
                let mut alive = live.iter().filter(|web| !self.stays[*web]).count();
                while alive > self.registers {
                    let on_stack = live.iter().filter(|k| self.is_place[*k] && !self.stays[*k]);
                    let Some(least) = on_stack.min_by_key(|web| self.weights[*web]) else {
                        break;
                    };
                    self.stays[least] = true;
                    alive -= 1;
                }
            }
        });
    }

    fn root(&self, mut web: usize) -> usize {
        while self.parents[web] != web {
            web = self.parents[web];
        }
        web
    }

    /// How many colors there are for a web.
    fn choice(&self, web: usize) -> usize {
        let most = if self.low[web] { KNOWN } else { self.registers };
        most.min(self.registers)
    }

    /// The webs in registers that a web is apart from.
    fn neighbours(&self, web: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.apart[web].iter().map(|other| *other as usize)
    }

    fn are_apart(&self, a: usize, b: usize) -> bool {
        self.apart[a].binary_search(&(b as u32)).is_ok()
    }

    /// Makes one web of two, if they are never alive together.
    fn coalesce(&mut self, (a, b): (usize, usize), coalescing: Coalescing) {
        let [a, b] = [a, b].map(|web| self.root(web));
        if a == b || self.stays[a] || self.stays[b] || self.are_apart(a, b) {
            return;
        }
        let both = merged(&self.apart[a], &self.apart[b]);
        if coalescing == Coalescing::Conservative {
            let heavy = both
                .iter()
                .filter(|k| self.apart[**k as usize].len() >= self.choice(**k as usize));
            let most = self.choice(a).min(self.choice(b));
            if heavy.count() >= most {
                return;
            }
        }
        for other in std::mem::take(&mut self.apart[b]) {
            let theirs = &mut self.apart[other as usize];
            if let Ok(at) = theirs.binary_search(&(b as u32)) {
                theirs.remove(at);
            }
            if let Err(at) = theirs.binary_search(&(a as u32)) {
                theirs.insert(at, a as u32);
            }
        }
        self.apart[a] = both;
        self.low[a] |= self.low[b];
        self.parents[b] = a;
    }

    /// Colors with fewer copies: webs that have different ones become one, a pair after the other, the more important ones first, as long as there
    /// still are colors for all.
    pub(super) fn further(
        mut self,
        mut colors: Vec<Option<u8>>,
        pairs: Vec<(usize, usize)>,
    ) -> Vec<Option<u8>> {
        let edges: usize = self.apart.iter().map(Vec::len).sum();
        let mut tries = TRIES.min(WORK / edges.max(1));
        for pair in pairs {
            let (a, b) = (self.root(pair.0), self.root(pair.1));
            let stays = self.stays[a] || self.stays[b];
            if a == b || stays || self.are_apart(a, b) || colors[a] == colors[b] {
                continue;
            }
            let others = self.neighbours(a).chain(self.neighbours(b));
            let choice = self.choice(a).min(self.choice(b));
            if let Some(color) = free(choice, others.filter_map(|k| colors[k])) {
                self.coalesce(pair, Coalescing::Aggressive);
                colors[a] = Some(color);
                continue;
            }
            if tries == 0 {
                continue;
            }
            tries -= 1;
            let mut joined = self.clone();
            joined.coalesce(pair, Coalescing::Aggressive);
            if let Ok(fewer) = joined.colors() {
                (self, colors) = (joined, fewer);
            }
        }
        self.of_roots(&colors)
    }

    /// The colors of all webs by those of what they have become parts of.
    fn of_roots(&self, colors: &[Option<u8>]) -> Vec<Option<u8>> {
        let webs = 0..self.parents.len();
        webs.map(|web| colors[self.root(web)]).collect()
    }

    /// Of the places that have a register, and for want of which a web would find one, that which is used the least.
    pub(super) fn spare(&self, web: usize) -> Option<usize> {
        let near = |k: &usize| {
            let root = self.root(*k);
            root == web || self.are_apart(web, root)
        };
        let places = (0..self.parents.len()).filter(|k| self.is_place[*k] && !self.stays[*k]);
        places.filter(near).min_by_key(|k| self.weights[*k])
    }

    /// A register for each web but those that stay on the stack, or a web for which there is none.
    pub(super) fn colors(&self) -> Result<Vec<Option<u8>>, usize> {
        let count = self.apart.len();
        let nodes = (0..count).filter(|k| self.parents[*k] == *k && !self.stays[*k]);
        let mut degrees: Vec<usize> = self.apart.iter().map(Vec::len).collect();
        // Those that will find a color whatever the others have are last to get one, and before them those with few others.
        let (mut easy, hard): (Vec<usize>, Vec<usize>) =
            nodes.partition(|k| degrees[*k] < self.choice(*k));
        let mut hard = Hard::of(&hard, &degrees);
        let mut order = Vec::with_capacity(count);
        let mut taken = vec![false; count];
        while let Some(next) = easy.pop().or_else(|| hard.pop()) {
            if std::mem::replace(&mut taken[next], true) {
                continue;
            }
            order.push(next);
            for other in self.neighbours(next) {
                degrees[other] -= 1;
                if taken[other] {
                    continue;
                }
                match (degrees[other] + 1).cmp(&self.choice(other)) {
                    Ordering::Less => {}
                    Ordering::Equal => easy.push(other),
                    Ordering::Greater => hard.push(other, degrees[other]),
                }
            }
        }
        let mut colors: Vec<Option<u8>> = vec![None; count];
        for web in order.into_iter().rev() {
            let others = self.neighbours(web).filter_map(|k| colors[k]);
            colors[web] = Some(free(self.choice(web), others).ok_or(web)?);
        }
        Ok(self.of_roots(&colors))
    }
}

/// What is in one list in order, in another, or in both.
fn merged(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut both = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let least = **x.min(y);
        both.push(least);
        a.next_if(|x| **x == least);
        b.next_if(|y| **y == least);
    }
    both.extend(a);
    both.extend(b);
    both
}

/// Webs by how many others they are apart from. One that has fewer than it had stands there once more, and comes out earlier.
struct Hard {
    by_degree: Vec<Vec<usize>>,
    /// No web has fewer.
    least: usize,
}

impl Hard {
    fn of(webs: &[usize], degrees: &[usize]) -> Self {
        let most = webs.iter().map(|web| degrees[*web]).max().unwrap_or(0);
        let mut hard = Self {
            by_degree: vec![Vec::new(); most + 1],
            least: 0,
        };
        for web in webs.iter().rev() {
            hard.push(*web, degrees[*web]);
        }
        hard
    }
    fn push(&mut self, web: usize, degree: usize) {
        self.by_degree[degree].push(web);
        self.least = self.least.min(degree);
    }
    fn pop(&mut self) -> Option<usize> {
        while self.least < self.by_degree.len() {
            if let Some(web) = self.by_degree[self.least].pop() {
                return Some(web);
            }
            self.least += 1;
        }
        None
    }
}

/// A color of so many that others have not. Registers that not all can have come first.
fn free(choice: usize, others: impl Iterator<Item = u8>) -> Option<u8> {
    let used = others.fold(0_u32, |used, color| used | 1 << color);
    let mut free = (0..choice as u8).rev();
    free.find(|color| used & 1 << color == 0)
}

/// Pairs of webs that should become one, the more important ones first.
pub(super) fn preferences(flow: &Flow, accesses: &Accesses, webs: &Webs) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (block, weight) in flow.blocks.iter().zip(&flow.weights) {
        for at in block.clone() {
            let mut to = None;
            let mut from = Vec::new();
            for k in accesses.range(at) {
                match accesses.touches[k].role {
                    Role::Read => from.push(k),
                    Role::Write | Role::Both => to = Some(webs.web(k)),
                }
            }
            let Some(to) = to else { continue };
            for k in from {
                let share = match accesses.kinds[at] {
                    Kind::Copy => 4,
                    Kind::Fused(form) => match form.term(accesses.touches[k].at) {
                        Term::Sum => 3,
                        Term::Factor => 1,
                    },
                    Kind::Constant | Kind::Plain => continue,
                };
                all.push((weight.saturating_mul(share), to, webs.web(k)));
            }
        }
    }
    all.sort_by_key(|(weight, _, _)| std::cmp::Reverse(*weight));
    all.into_iter().map(|(_, a, b)| (a, b)).collect()
}
