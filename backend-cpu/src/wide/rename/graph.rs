//! Which webs are alive together, and colors for them.

use super::access::{Accesses, At, KNOWN, Kind, Role, Touch};
use super::flow::Flow;
use super::fused::Term;
use super::webs::{Bits, Webs};

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

/// How many pairs of webs are looked at that were not joined since that could have made it harder to find colors.
const PAIRS: usize = 64;

/// The graph of webs.
#[derive(Clone)]
pub(super) struct Graph {
    registers: usize,
    /// For each web, those that are alive when it is written, or the other way round.
    apart: Vec<Bits>,
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
        flow: &Flow,
        accesses: &Accesses,
        webs: &Webs,
        registers: usize,
        stay: &Staying,
        coalescing: Coalescing,
    ) -> Self {
        let count = webs.count();
        let mut graph = Self {
            registers,
            apart: vec![Bits::new(count); count],
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
        graph.live(flow, accesses, webs);
        graph.symmetric();
        for (a, b) in preferences(flow, accesses, webs) {
            graph.coalesce((a, b), coalescing);
        }
        graph
    }

    /// Finds which webs are alive together. Where there are more than registers, those on the stack stay there that are used the least.
    fn live(&mut self, flow: &Flow, accesses: &Accesses, webs: &Webs) {
        for (number, block) in flow.blocks.iter().enumerate() {
            let mut live = Bits::new(webs.count());
            let nexts = &flow.successors[number];
            for (_, web) in nexts.iter().flat_map(|next| &webs.before[*next]) {
                live.insert(*web as usize);
            }
            for at in block.clone().rev() {
                let touches = accesses.range(at);
                if accesses.calls[at] {
                    // Other code uses all registers. Of what is on the stack as well, they are loaded again.
                    let stays = |k: &usize| self.is_place[*k] && !self.is_kept[*k];
                    for web in live.iter().filter(stays).collect::<Vec<_>>() {
                        self.stays[web] = true;
                    }
                }
                let is_copy = matches!(accesses.kinds[at], Kind::Copy);
                let source = touches
                    .clone()
                    .find(|k| is_copy && accesses.touches[*k].role == Role::Read);
                for touch in touches.clone().rev() {
                    let web = webs.web(touch);
                    match accesses.touches[touch].role {
                        Role::Read => live.insert(web),
                        Role::Write | Role::Both => {
                            live.remove(web);
                            let source = source.map(|k| webs.web(k));
                            let with = source.filter(|source| live.has(*source));
                            let already = with.is_some_and(|k| self.apart[web].has(k));
                            self.apart[web].add(&live);
                            if let Some(source) = with.filter(|_| !already) {
                                self.apart[web].remove(source);
                            }
                            if accesses.touches[touch].role == Role::Both {
                                live.insert(web);
                            }
                        }
                    }
                }
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
        }
    }

    /// What is apart from another is so the other way round.
    fn symmetric(&mut self) {
        for web in 0..self.apart.len() {
            let others: Vec<usize> = self.apart[web].iter().collect();
            for other in others {
                self.apart[other].insert(web);
            }
        }
        for web in 0..self.apart.len() {
            self.apart[web].remove(web);
        }
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
    fn neighbours(&self, web: usize) -> impl Iterator<Item = usize> + '_ {
        self.apart[web].iter().filter(|other| !self.stays[*other])
    }

    /// Makes one web of two, if they are never alive together.
    fn coalesce(&mut self, (a, b): (usize, usize), coalescing: Coalescing) {
        let [a, b] = [a, b].map(|web| self.root(web));
        if a == b || self.stays[a] || self.stays[b] || self.apart[a].has(b) {
            return;
        }
        if coalescing == Coalescing::Conservative {
            let mut both = self.apart[a].clone();
            both.add(&self.apart[b]);
            let heavy = both
                .iter()
                .filter(|k| !self.stays[*k] && self.neighbours(*k).count() >= self.choice(*k));
            let most = self.choice(a).min(self.choice(b));
            if heavy.count() >= most {
                return;
            }
        }
        let others: Vec<usize> = self.apart[b].iter().collect();
        for other in others {
            self.apart[other].remove(b);
            self.apart[other].insert(a);
            self.apart[a].insert(other);
        }
        self.apart[b] = Bits::new(self.apart.len());
        self.low[a] |= self.low[b];
        self.parents[b] = a;
    }

    /// Colors with fewer copies: webs that have different ones become one, a pair after the other, the more important ones first, as long as there
    /// still are colors for all.
    pub(super) fn further(
        self,
        mut colors: Vec<Option<u8>>,
        pairs: Vec<(usize, usize)>,
    ) -> Vec<Option<u8>> {
        let mut best = self;
        let mut tries = PAIRS;
        for pair in pairs {
            let (a, b) = (best.root(pair.0), best.root(pair.1));
            let stays = best.stays[a] || best.stays[b];
            if a == b || stays || best.apart[a].has(b) || colors[a] == colors[b] {
                continue;
            }
            if tries == 0 {
                break;
            }
            tries -= 1;
            let mut joined = best.clone();
            joined.coalesce(pair, Coalescing::Aggressive);
            if let Ok(fewer) = joined.colors() {
                (best, colors) = (joined, fewer);
            }
        }
        colors
    }

    /// Of the places that have a register, and for want of which a web would find one, that which is used the least.
    pub(super) fn spare(&self, web: usize) -> Option<usize> {
        let near = |k: &usize| {
            let root = self.root(*k);
            root == web || self.apart[web].has(root)
        };
        let places = (0..self.parents.len()).filter(|k| self.is_place[*k] && !self.stays[*k]);
        places.filter(near).min_by_key(|k| self.weights[*k])
    }

    /// A register for each web but those that stay on the stack, or a web for which there is none.
    pub(super) fn colors(&self) -> Result<Vec<Option<u8>>, usize> {
        let count = self.apart.len();
        let nodes = (0..count).filter(|k| self.parents[*k] == *k && !self.stays[*k]);
        let mut left: Vec<usize> = nodes.collect();
        let mut degrees: Vec<usize> = (0..count).map(|k| self.neighbours(k).count()).collect();
        // Those that will find a color whatever the others have are last to get one.
        let mut order = Vec::with_capacity(left.len());
        let mut taken = vec![false; count];
        let mut easy: Vec<usize> = Vec::new();
        left.retain(|k| {
            let is_easy = degrees[*k] < self.choice(*k);
            if is_easy {
                easy.push(*k);
            }
            !is_easy
        });
        loop {
            let next = easy.pop().or_else(|| {
                let hard = left.iter().enumerate().filter(|(_, k)| !taken[**k]);
                let (at, _) = hard.min_by_key(|(_, k)| degrees[**k])?;
                Some(left.swap_remove(at))
            });
            let Some(next) = next else { break };
            if std::mem::replace(&mut taken[next], true) {
                continue;
            }
            order.push(next);
            for other in self.neighbours(next) {
                degrees[other] -= 1;
                if !taken[other] && degrees[other] + 1 == self.choice(other) {
                    easy.push(other);
                }
            }
        }
        let mut colors: Vec<Option<u8>> = vec![None; count];
        for web in order.into_iter().rev() {
            let used: u32 = self
                .neighbours(web)
                .filter_map(|k| colors[k])
                .fold(0, |used, color| used | 1 << color);
            // Registers that others cannot have come first.
            let mut free = (0..self.choice(web) as u8).rev();
            colors[web] = Some(free.find(|color| used & 1 << color == 0).ok_or(web)?);
        }
        Ok((0..count).map(|web| colors[self.root(web)]).collect())
    }
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
