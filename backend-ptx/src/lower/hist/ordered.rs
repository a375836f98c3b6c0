//! Histograms in order: whatever the operator, points that belong to one bucket are combined in the order of their numbers, and
//! sizes alone decide which of them go together. Warps have runs of points, and a copy of the buckets in shared memory each.
//!
//! ```text
//! bucket of each lane     3  7  3  3  7  1  ..
//! lanes of one bucket     a     b  c            ──►  a + b, c  ──►  (a + b) + c  ──►  bucket 3 of the warp's copy
//! copies of a block       warp 0 + warp 1 + ..  ──►  bucket 3 of the block
//! blocks                  run 0 + run 1 + ..    ──►  bucket 3 in memory (`merge`)
//! ```
//!
//! Where shared memory has no room for all buckets, blocks have a range of the buckets and a run of the points each: the points
//! are looked at once for every range.

use super::shared::WORDS;
use crate::lower::tuple::Ops;
use crate::lower::{Entry, Lower, Shape, Source, THREADS, Value, components, entry, together};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special, Ternary, Unary, Vote};
use crate::ptx::{Inst, Operand, Reg, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// Parameters before the arrays.
const SIZES: usize = 7;
/// The most points that a lane has under way at a time.
const POINTS: u32 = 8;

/// What blocks are to do.
struct Sizes {
    points: Reg,
    /// Points of a block, and of each of its warps that work.
    size: Reg,
    part: Reg,
    runs: Reg,
    ranges: Reg,
    /// Buckets of a range.
    range: Reg,
    /// Copies of the buckets of a block: as many warps work.
    copies: Reg,
}

/// A part of a histogram in shared memory.
struct Table<'a> {
    hist: &'a MemHist,
    types: Vec<ScalarType>,
    /// The first bucket, and how many there are.
    first: Reg,
    count: Reg,
    /// The addresses of the words of all components in the first copy, and in that of the warp.
    words: Vec<Reg>,
    mine: Vec<Reg>,
}

impl Table<'_> {
    fn ops(&self) -> Ops<'_> {
        (std::slice::from_ref(&self.hist.op), &self.types)
    }
}

/// Blocks with a run of points and a range of buckets each. The parameters are those of [`Sizes`], then for each destination the
/// array of what runs come to, a row of buckets for each; with one run, what it comes to goes to the destinations.
pub(super) fn work(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
) -> Entry {
    let dests: usize = hists.iter().map(|hist| hist.dests.len()).sum();
    let shape = Shape::of(kernel, args, "ordered", SIZES + dests);
    entry(source, &shape, |lower, extras| {
        lower.any_wins = false;
        let range = lower.low_word(extras[5]);
        let sizes = Sizes {
            points: extras[0],
            size: extras[1],
            part: extras[2],
            runs: extras[3],
            ranges: extras[4],
            range,
            copies: lower.low_word(extras[6]),
        };
        let all = lower.b.variable("buckets", Space::Shared, 4, WORDS);
        let all = lower.b.address_of(all);
        let tid = lower.b.special(Special::Tid);
        let warp = lower.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let works = lower.b.cmp(Cmp::Lt, Ty::U32, warp, sizes.copies);
        let block = lower.b.special(Special::Ctaid);
        let block = lower.wide(block);
        let blocks = lower.b.special(Special::Nctaid);
        let blocks = lower.wide(blocks);
        let tasks = lower.b.bin(Binary::Mul, Ty::U64, sizes.runs, sizes.ranges);
        let tasks = (block.into(), tasks.into(), blocks.into());
        lower.count(Ty::U64, tasks, true, |lower, task| {
            let run = lower.b.bin(Binary::Div, Ty::U64, task, sizes.ranges);
            let number = lower.b.bin(Binary::Rem, Ty::U64, task, sizes.ranges);
            let tables = lower.tables_of_range(hists, &sizes, number, (all, warp));
            lower.fill_range(&tables, &sizes);
            lower.b.inst(Inst::Barrier);
            lower.if_warp(works, |lower| {
                lower.gather_run(kernel, &tables, &sizes, (run, warp));
            });
            lower.b.inst(Inst::Barrier);
            lower.empty_range(&tables, &sizes, run, &extras[SIZES..]);
            lower.b.inst(Inst::Barrier);
        });
    })
}

/// What runs come to, into the destinations: blocks have some buckets each, and several threads for each of these, which fold
/// some of the runs. The parameters are the number of runs, the binary logarithm of the buckets of a block, the threads for a
/// bucket, the runs of each, then the arrays of what runs come to.
pub(super) fn merge(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
) -> Entry {
    let dests: usize = hists.iter().map(|hist| hist.dests.len()).sum();
    let shape = Shape::of(kernel, args, "merge", 4 + dests);
    let program = source.program;
    entry(source, &shape, |lower, extras| {
        lower.any_wins = false;
        let [runs, each] = [extras[0], extras[3]];
        let [shift, parts] = [extras[1], extras[2]].map(|n| lower.low_word(n));
        let mut arrays = &extras[4..];
        let tid = lower.b.special(Special::Tid);
        let width = lower.b.bin(Binary::Shl, Ty::B32, Operand::Imm(1), shift);
        let part = lower.b.bin(Binary::Shr, Ty::U32, tid, shift);
        let below = lower.b.bin(Binary::Sub, Ty::U32, width, Operand::Imm(1));
        let column = lower.b.bin(Binary::And, Ty::B32, tid, below);
        let [wide, part_64, column] = [width, part, column].map(|n| lower.wide(n));
        let from = lower.b.bin(Binary::Mul, Ty::U64, part_64, each);
        let to = lower.b.bin(Binary::Add, Ty::U64, from, each);
        let to = lower.b.bin(Binary::Min, Ty::U64, to, runs);
        let block = lower.b.special(Special::Ctaid);
        let blocks = lower.b.special(Special::Nctaid);
        let [block, blocks] = [block, blocks].map(|n| lower.wide(n));
        let [first, step] = [block, blocks].map(|n| lower.b.bin(Binary::Mul, Ty::U64, n, wide));
        for hist in hists {
            let (mine, others) = arrays.split_at(hist.dests.len());
            arrays = others;
            let ops = std::slice::from_ref(&hist.op);
            let types = components(program, ops);
            let tables = lower.tables("parts", &types, THREADS);
            let buckets = lower.atom(hist.buckets);
            let count = lower.reg(ScalarType::I64, buckets);
            let range = (first.into(), count.into(), step.into());
            lower.count(Ty::U64, range, true, |lower, first| {
                let bucket = lower.b.bin(Binary::Add, Ty::U64, first, column);
                let exists = lower.b.cmp(Cmp::Lt, Ty::U64, bucket, count);
                let acc = lower.start(ops, &types);
                lower.when(exists, |lower| {
                    let range = (from.into(), to.into(), Operand::Imm(1));
                    lower.count(Ty::U64, range, false, |lower, run| {
                        let mad = [run, count, bucket].map(Operand::Reg);
                        let at = lower.b.tern(Ternary::Mad, Ty::U64, mad);
                        let values = lower.load_tuple(mine, &types, at);
                        lower.accumulate(ops, &types, &acc, values);
                    });
                });
                let values = operands(&acc);
                lower.store_shared(&tables, &types, tid, &values);
                lower.b.inst(Inst::Barrier);
                let leads = lower.b.cmp(Cmp::Eq, Ty::U32, part, Operand::Imm(0));
                let leads = lower.b.bin(Binary::And, Ty::Pred, leads, exists);
                lower.when(leads, |lower| {
                    let end = lower.b.bin(Binary::Shl, Ty::B32, parts, shift);
                    let second = lower.b.bin(Binary::Add, Ty::U32, tid, width);
                    let range = (second.into(), end.into(), width.into());
                    lower.count(Ty::U32, range, false, |lower, i| {
                        let values = lower.load_shared(&tables, &types, i);
                        lower.accumulate(ops, &types, &acc, values);
                    });
                    lower.update(hist, bucket.into(), &operands(&acc));
                });
                lower.b.inst(Inst::Barrier);
            });
        }
    })
}

fn operands(regs: &[Reg]) -> Vec<Operand> {
    regs.iter().map(|r| Operand::Reg(*r)).collect()
}

impl Lower<'_> {
    /// The parts of histograms that a range of buckets is.
    fn tables_of_range<'h>(
        &mut self,
        hists: &'h [MemHist],
        sizes: &Sizes,
        number: Reg,
        (all, warp): (Reg, Reg),
    ) -> Vec<Table<'h>> {
        let bytes = self
            .b
            .bin(Binary::Shl, Ty::B32, sizes.range, Operand::Imm(2));
        let skip = self.b.bin(Binary::Mul, Ty::U32, bytes, warp);
        let bytes = self.b.bin(Binary::Mul, Ty::U32, bytes, sizes.copies);
        let range = self.wide(sizes.range);
        let first = self.b.bin(Binary::Mul, Ty::U64, number, range);
        let mut next = all;
        let mut tables = Vec::new();
        for hist in hists {
            let types = components(self.program, std::slice::from_ref(&hist.op));
            let buckets = self.atom(hist.buckets);
            let left = self.b.bin(Binary::Sub, Ty::U64, buckets, first);
            let left = self.b.bin(Binary::Max, Ty::S64, left, Operand::Imm(0));
            let count = self.b.bin(Binary::Min, Ty::U64, left, range);
            let (mut words, mut mine) = (Vec::new(), Vec::new());
            for _ in 0..types.iter().map(|ty| super::words_of(*ty)).sum() {
                words.push(next);
                mine.push(self.b.bin(Binary::Add, Ty::U32, next, skip));
                next = self.b.bin(Binary::Add, Ty::U32, next, bytes);
            }
            tables.push(Table {
                hist,
                types,
                first,
                count,
                words,
                mine,
            });
        }
        tables
    }

    /// Neutral elements into all copies.
    fn fill_range(&mut self, tables: &[Table<'_>], sizes: &Sizes) {
        let tid = self.b.special(Special::Tid);
        let count = self.b.bin(Binary::Mul, Ty::U32, sizes.range, sizes.copies);
        let mut words = Vec::new();
        for table in tables {
            let neutral = self.neutral(table.ops().0);
            let all = neutral.into_iter().zip(&table.types);
            let all: Vec<Reg> = all.flat_map(|(n, ty)| self.words(*ty, n)).collect();
            words.extend(table.words.iter().copied().zip(all));
        }
        let range = (tid.into(), count.into(), Operand::Imm(THREADS.into()));
        self.count(Ty::U32, range, false, |lower, i| {
            for (base, word) in words {
                let at = lower.word_at(base, i);
                lower.b.store(Space::Shared, Ty::U32, at, word);
            }
        });
    }

    /// The points of a warp: several of each lane at a time where that goes well.
    fn gather_run(
        &mut self,
        kernel: &Kernel,
        tables: &[Table<'_>],
        sizes: &Sizes,
        (run, warp): (Reg, Reg),
    ) {
        let start = self.b.bin(Binary::Mul, Ty::U64, run, sizes.size);
        let end = self.b.bin(Binary::Add, Ty::U64, start, sizes.size);
        let end = self.b.bin(Binary::Min, Ty::U64, end, sizes.points);
        let warp = self.wide(warp);
        let mad = [warp, sizes.part, start].map(Operand::Reg);
        let first = self.b.tern(Ternary::Mad, Ty::U64, mad);
        let high = self.b.bin(Binary::Add, Ty::U64, first, sizes.part);
        let high = self.b.bin(Binary::Min, Ty::U64, high, end);
        let lane = self.b.special(Special::Lane);
        let lane = self.wide(lane);
        let types: Vec<ScalarType> = tables
            .iter()
            .map(|_| ScalarType::I64)
            .chain(tables.iter().flat_map(|table| table.types.clone()))
            .collect();
        if let Some(each) = self.points_of_lane(kernel, tables) {
            let tile = Operand::Imm(u64::from(32 * each));
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            self.b.begin(head);
            let after = self.b.bin(Binary::Add, Ty::U64, first, tile);
            let is_whole = self.b.cmp(Cmp::Le, Ty::U64, after, high);
            self.b.branch(is_whole, inside, exit, true);
            self.b.begin(inside);
            let point = self.b.bin(Binary::Add, Ty::U64, first, lane);
            let points = self.strided(point, 32, each);
            let all: Vec<ScalarType> = points.iter().flat_map(|_| &types).copied().collect();
            let results = self.protected(&all, |lower| {
                let bind = |lower: &mut Self, point| lower.indices(&kernel.space, point);
                lower.together(kernel, &points, None, bind).concat()
            });
            for results in results.chunks_exact(types.len()) {
                self.update_in_order(tables, results, None);
            }
            self.b.bin_to(first, Binary::Add, Ty::U64, first, tile);
            self.b.jump(head);
            self.b.begin(exit);
        }
        let range = (first.into(), high.into(), Operand::Imm(32));
        self.count(Ty::U64, range, true, |lower, first| {
            let point = lower.b.bin(Binary::Add, Ty::U64, first, lane);
            let exists = lower.b.cmp(Cmp::Lt, Ty::U64, point, high);
            let zeros = types.iter().map(|ty| lower.fresh(*ty, Operand::Imm(0)));
            let results: Vec<Reg> = zeros.collect();
            lower.when(exists, |lower| {
                let found = lower.protected(&types, |lower| {
                    lower.indices(&kernel.space, point);
                    lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body))
                });
                for ((result, ty), value) in results.iter().zip(&types).zip(found) {
                    lower.assign(*ty, *result, value.into());
                }
            });
            lower.update_in_order(tables, &results, Some(exists));
        });
    }

    /// How many points a lane goes well with, if more than one.
    fn points_of_lane(&self, kernel: &Kernel, tables: &[Table<'_>]) -> Option<u32> {
        let points = together::points(self.program, kernel)?.min(POINTS);
        let are_short = |op: &Operator<_>| {
            let ops = std::slice::from_ref(op);
            together::are_short(self.program, ops, points)
        };
        let all = tables.iter().all(|table| are_short(&table.hist.op));
        all.then_some(points)
    }

    /// Combines the results of a point of every lane with the buckets of the warp.
    fn update_in_order(&mut self, tables: &[Table<'_>], results: &[Reg], exists: Option<Reg>) {
        let (buckets, mut values) = results.split_at(tables.len());
        for (table, bucket) in tables.iter().zip(buckets) {
            let (mine, others) = values.split_at(table.types.len());
            values = others;
            let distance = self.b.bin(Binary::Sub, Ty::U64, *bucket, table.first);
            let mut inside = self.is_below(distance.into(), table.count.into());
            if let Some(exists) = exists {
                inside = self.b.bin(Binary::And, Ty::Pred, inside, exists);
            }
            let place = self.low_word(distance);
            let leads = self.fold_places(table.ops(), (place, inside), mine);
            self.when(leads, |lower| {
                let at: Vec<Reg> = table
                    .mine
                    .iter()
                    .map(|w| lower.word_at(*w, place))
                    .collect();
                let old = lower.load_words(&table.types, &at);
                let new = lower.combined(table.ops().0, &table.types, &old, &operands(mine));
                let mut at = at.into_iter();
                for (value, ty) in new.into_iter().zip(&table.types) {
                    for (word, at) in lower.words(*ty, value.into()).into_iter().zip(&mut at) {
                        lower.b.store(Space::Shared, Ty::U32, at, word);
                    }
                }
            });
        }
    }

    /// Folds the tuples of lanes of one place, in order; yields whether the lane is the first one of its place, which has what
    /// they come to.
    pub(in crate::lower) fn fold_places(
        &mut self,
        (ops, types): Ops<'_>,
        (place, counts): (Reg, Reg),
        acc: &[Reg],
    ) -> Reg {
        let lane = self.b.special(Special::Lane);
        let own = self.b.bin(Binary::Shl, Ty::B32, Operand::Imm(1), lane);
        self.b.inst(Inst::WarpSync { mask: FULL });
        let same = self.b.reg(crate::ptx::Class::B32);
        self.b.inst(Inst::Match {
            ty: Ty::B32,
            dst: same,
            src: place,
            mask: FULL,
        });
        let counting = self.b.vote(Vote::Ballot, counts);
        let same = self.b.bin(Binary::And, Ty::B32, same, counting);
        // The lanes of the place that are still to be folded, and how many of them come before.
        let lanes = self.b.select(Ty::B32, counts, same, own);
        let before = self.b.special(Special::LanesBelow);
        let before = self.b.bin(Binary::And, Ty::B32, lanes, before);
        let rank = self.b.un(Unary::Popc, Ty::B32, before);
        let leads = self.b.mov(Ty::Pred, counts);
        let up_to = self.b.special(Special::LanesUpTo);
        let above = self.b.un(Unary::Not, Ty::B32, up_to);
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        self.b.inst(Inst::WarpSync { mask: FULL });
        let later = self.b.bin(Binary::And, Ty::B32, lanes, above);
        let has_next = self.b.cmp(Cmp::Ne, Ty::U32, later, Operand::Imm(0));
        let has_next = self.b.bin(Binary::And, Ty::Pred, has_next, leads);
        let any = self.b.vote(Vote::Any, has_next);
        self.b.branch(any, inside, exit, true);
        self.b.begin(inside);
        let reversed = self.b.un(Unary::Brev, Ty::B32, later);
        let next = self.b.un(Unary::Clz, Ty::B32, reversed);
        let mut others = Vec::new();
        for (reg, ty) in acc.iter().zip(types) {
            let (other, _) = self.other_lane(Shuffle::Index, *ty, *reg, next.into(), 31);
            others.push(other);
        }
        let bit = self.b.bin(Binary::And, Ty::B32, rank, Operand::Imm(1));
        let is_even = self.b.cmp(Cmp::Eq, Ty::U32, bit, Operand::Imm(0));
        let takes = self.b.bin(Binary::And, Ty::Pred, has_next, is_even);
        self.when(takes, |lower| lower.accumulate(ops, types, acc, others));
        let even = self.b.vote(Vote::Ballot, is_even);
        self.b.bin_to(lanes, Binary::And, Ty::B32, lanes, even);
        self.b
            .bin_to(rank, Binary::Shr, Ty::U32, rank, Operand::Imm(1));
        self.b.bin_to(leads, Binary::And, Ty::Pred, leads, is_even);
        self.b.jump(head);
        self.b.begin(exit);
        leads
    }

    /// A tuple out of words in shared memory.
    fn load_words(&mut self, types: &[ScalarType], at: &[Reg]) -> Vec<Operand> {
        let mut at = at.iter();
        let mut values = Vec::new();
        for ty in types {
            let at = at.by_ref().take(super::words_of(*ty));
            let words: Vec<Reg> = at
                .map(|at| self.b.load(Space::Shared, Ty::U32, *at))
                .collect();
            values.push(self.of_words(*ty, &words));
        }
        values
    }

    /// What the copies of a block come to, in order: into the arrays of the run, or into the destinations if there is no other.
    fn empty_range(&mut self, tables: &[Table<'_>], sizes: &Sizes, run: Reg, arrays: &[Reg]) {
        let tid = self.b.special(Special::Tid);
        let is_alone = self.b.cmp(Cmp::Eq, Ty::U64, sizes.runs, Operand::Imm(1));
        let mut arrays = arrays;
        for table in tables {
            let (mine, others) = arrays.split_at(table.types.len());
            arrays = others;
            let (ops, types) = table.ops();
            let load = |lower: &mut Self, number: Reg| {
                let at = table.words.iter().map(|w| lower.word_at(*w, number));
                let at: Vec<Reg> = at.collect();
                lower.load_words(types, &at)
            };
            let count = self.low_word(table.count);
            let range = (tid.into(), count.into(), Operand::Imm(THREADS.into()));
            self.count(Ty::U32, range, false, |lower, place| {
                let found = load(lower, place);
                let both = found.into_iter().zip(types);
                let acc: Vec<Reg> = both.map(|(value, ty)| lower.fresh(*ty, value)).collect();
                let number = lower.b.mov(Ty::B32, place);
                let range = (Operand::Imm(1), sizes.copies.into(), Operand::Imm(1));
                lower.count(Ty::U32, range, true, |lower, _| {
                    lower
                        .b
                        .bin_to(number, Binary::Add, Ty::U32, number, sizes.range);
                    let values = load(lower, number);
                    lower.accumulate(ops, types, &acc, values);
                });
                let place = lower.wide(place);
                let bucket = lower.b.bin(Binary::Add, Ty::U64, table.first, place);
                lower.if_else(
                    is_alone,
                    |lower| lower.update(table.hist, bucket.into(), &operands(&acc)),
                    |lower| {
                        let buckets = lower.atom(table.hist.buckets);
                        let mad = [run.into(), buckets, bucket.into()];
                        let at = lower.b.tern(Ternary::Mad, Ty::U64, mad);
                        for ((array, ty), value) in mine.iter().zip(types).zip(&acc) {
                            let place = lower.place(Value::Global(*array), *ty, at.into());
                            lower.store(*ty, place, (*value).into());
                        }
                    },
                );
            });
        }
    }
}
