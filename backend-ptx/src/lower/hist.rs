//! Histograms. Where the order of points does not matter, buckets are changed by atomic operations; where it does, as for sums of
//! floats, points are combined in order ([`ordered`]). A body that combines by itself leaves no choice: a few threads work
//! through runs of points, each on its own copy of the buckets, and the copies are merged in order.

mod atomic;
mod ordered;
mod shared;
mod swap;

pub(crate) use shared::WORDS;

use super::{Entry, Lower, Lowered, Shape, Source, Value, components, entry, words_of};
use crate::ptx::ops::{Binary, Ternary};
use crate::ptx::{Operand, Reg, Ty};
use atomic::Update;
pub(super) use atomic::{Native, updates};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// The most words that the components of all histograms of a kernel have, to be combined in order in shared memory.
const MOST_WORDS: usize = 32;

/// The forms of a histogram.
#[derive(Debug, Default)]
pub(crate) struct Hist {
    /// Atomic operations, one thread per point.
    pub(crate) atomic: Option<Entry>,
    /// Blocks that gather by atomic operations in shared memory.
    pub(crate) shared: Option<Entry>,
    /// Blocks that gather in order, and what merges them.
    pub(crate) ordered: Option<[Entry; 2]>,
}

/// A form of a histogram, or a step of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Atomic,
    Shared,
    Ordered,
    Merge,
}

impl Hist {
    /// The entries that there are, with what they do.
    pub(crate) fn entries(&self) -> Vec<(Form, &Entry)> {
        let atomic = self.atomic.iter().map(|entry| (Form::Atomic, entry));
        let shared = self.shared.iter().map(|entry| (Form::Shared, entry));
        let ordered = self
            .ordered
            .iter()
            .flat_map(|[work, merge]| [(Form::Ordered, work), (Form::Merge, merge)]);
        atomic.chain(shared).chain(ordered).collect()
    }
}

pub(super) fn hist(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
) -> Lowered {
    let ops = hists.iter().map(|hist| std::slice::from_ref(&hist.op));
    let types: Vec<ScalarType> = ops.flat_map(|op| components(source.program, op)).collect();
    let words: usize = types.iter().map(|ty| words_of(*ty)).sum();
    let is_odd = kernel.body.result.is_empty() || words == 0 || words > MOST_WORDS;
    // How a steady kernel combines must not depend on the number of its points: one thread goes through them.
    if is_odd || kernel.steady {
        return Lowered::Copies {
            fill: fill(source, kernel, args, hists),
            work: work(source, kernel, args, hists),
            merge: merge(source, kernel, args, hists),
        };
    }
    let updates: Option<Vec<Vec<Update>>> = hists
        .iter()
        .map(|hist| atomic::updates(source.program, hist))
        .collect();
    let (mut atomic, mut shared) = (None, None);
    if let Some(updates) = updates {
        atomic = Some(atomic::plain(source, kernel, args, hists, &updates));
        shared = shared::shared(source, kernel, args, hists, &updates);
    }
    let ordered = shared.is_none().then(|| {
        let work = ordered::work(source, kernel, args, hists);
        [work, ordered::merge(source, kernel, args, hists)]
    });
    Lowered::Hist(Hist {
        atomic,
        shared,
        ordered,
    })
}

/// The destinations of all histograms with the type of each.
fn dests(lower: &Lower<'_>, hists: &[MemHist]) -> Vec<(Var, ScalarType)> {
    let all = hists.iter().flat_map(|hist| hist.dests.iter().copied());
    all.map(|var| (var, lower.elem(var))).collect()
}

/// Neutral elements into all copies. The parameters are the number of copies, then an array of copies per destination.
fn fill(source: &mut Source<'_>, kernel: &Kernel, args: &[Var], hists: &[MemHist]) -> Entry {
    let shape = Shape::of(
        kernel,
        args,
        "fill",
        1 + hists.iter().map(|h| h.dests.len()).sum::<usize>(),
    );
    entry(source, &shape, |lower, extras| {
        let mut tables = extras[1..].iter();
        for hist in hists {
            let neutral = lower.neutral(std::slice::from_ref(&hist.op));
            let buckets = lower.atom(hist.buckets);
            let count = lower.b.bin(Binary::Mul, Ty::U64, extras[0], buckets);
            let tables: Vec<Reg> = tables.by_ref().take(hist.dests.len()).copied().collect();
            lower.points(count, |lower, i| {
                for ((table, dest), value) in tables.iter().zip(&hist.dests).zip(&neutral) {
                    let elem = lower.elem(*dest);
                    let place = lower.place(Value::Global(*table), elem, i.into());
                    lower.store(elem, place, *value);
                }
            });
        }
    })
}

/// Runs of points, each by one thread. The parameters are the number of points, that of a run, the number of runs, then the
/// array of copies of each destination (with one run, the destination itself).
fn work(source: &mut Source<'_>, kernel: &Kernel, args: &[Var], hists: &[MemHist]) -> Entry {
    let shape = Shape::of(
        kernel,
        args,
        "work",
        3 + hists.iter().map(|h| h.dests.len()).sum::<usize>(),
    );
    entry(source, &shape, |lower, extras| {
        let [points, size, runs] = [extras[0], extras[1], extras[2]];
        lower.any_wins = false;
        lower.points(runs, |lower, run| {
            let all = dests(lower, hists);
            let buckets: Vec<Atom> = hists
                .iter()
                .flat_map(|h| vec![h.buckets; h.dests.len()])
                .collect();
            // What the body sees of the destinations is the copy of this thread.
            let mut copies = Vec::new();
            for (((var, elem), buckets), table) in all.iter().zip(&buckets).zip(&extras[3..]) {
                let buckets = lower.atom(*buckets);
                let skip = lower.b.bin(Binary::Mul, Ty::U64, run, buckets);
                let shift = Operand::Imm(elem.bytes().trailing_zeros().into());
                let skip = lower.b.bin(Binary::Shl, Ty::B64, skip, shift);
                let copy = lower.b.bin(Binary::Add, Ty::U64, *table, skip);
                copies.push((*var, copy));
            }
            let outer: Vec<Value> = copies.iter().map(|(var, _)| lower.value(*var)).collect();
            for (var, copy) in &copies {
                lower.bind(*var, Value::Global(*copy));
            }
            let low = lower.b.bin(Binary::Mul, Ty::U64, run, size);
            let high = lower.b.bin(Binary::Add, Ty::U64, low, size);
            let high = lower.b.bin(Binary::Min, Ty::U64, high, points);
            let range = (low.into(), high.into(), Operand::Imm(1));
            lower.count(Ty::U64, range, false, |lower, point| {
                lower.indices(&kernel.space, point);
                let mark = lower.mark(&kernel.body);
                let results = lower.scalars(&kernel.body);
                if !results.is_empty() {
                    lower.update_all(hists, &results);
                }
                if let Some(mark) = mark {
                    lower.give_back(mark);
                }
            });
            for ((var, _), value) in copies.iter().zip(outer) {
                lower.bind(*var, value);
            }
        });
    })
}

/// The copies into the destinations, in order, one bucket per thread. The parameters are the number of copies, then the
/// array of copies of each destination.
fn merge(source: &mut Source<'_>, kernel: &Kernel, args: &[Var], hists: &[MemHist]) -> Entry {
    let shape = Shape::of(
        kernel,
        args,
        "merge",
        1 + hists.iter().map(|h| h.dests.len()).sum::<usize>(),
    );
    entry(source, &shape, |lower, extras| {
        lower.any_wins = false;
        let mut tables = extras[1..].iter();
        for hist in hists {
            let tables: Vec<Reg> = tables.by_ref().take(hist.dests.len()).copied().collect();
            let buckets = lower.atom(hist.buckets);
            let count = lower.reg(ScalarType::I64, buckets);
            lower.points(count, |lower, bucket| {
                let range = (Operand::Imm(0), extras[0].into(), Operand::Imm(1));
                lower.count(Ty::U64, range, false, |lower, copy| {
                    let mad = [copy.into(), count.into(), bucket.into()];
                    let at = lower.b.tern(Ternary::Mad, Ty::U64, mad);
                    let mut values = Vec::new();
                    for (table, dest) in tables.iter().zip(&hist.dests) {
                        let elem = lower.elem(*dest);
                        let place = lower.place(Value::Global(*table), elem, at.into());
                        values.push(lower.load(elem, place, false).into());
                    }
                    lower.update(hist, bucket.into(), &values);
                });
            });
        }
    })
}

impl Lower<'_> {
    /// Combines the results of a point: a bucket for each histogram, then their values.
    pub(super) fn update_all(&mut self, hists: &[MemHist], results: &[Operand]) {
        let (buckets, mut values) = results.split_at(hists.len());
        for (hist, bucket) in hists.iter().zip(buckets) {
            let (mine, others) = values.split_at(hist.dests.len());
            values = others;
            let extent = self.atom(hist.buckets);
            let inside = self.is_below(*bucket, extent);
            self.when(inside, |lower| lower.update(hist, *bucket, mine));
        }
    }

    /// Combines what is in a bucket with further values.
    pub(super) fn update(&mut self, hist: &MemHist, bucket: Operand, values: &[Operand]) {
        let mut old = Vec::new();
        let (mut places, mut types) = (Vec::new(), Vec::new());
        for dest in &hist.dests {
            let elem = self.elem(*dest);
            let place = self.place(self.value(*dest), elem, bucket);
            old.push(self.load(elem, place, false).into());
            places.push(place);
            types.push(elem);
        }
        let new = self.combined(std::slice::from_ref(&hist.op), &types, &old, values);
        for ((elem, place), value) in types.into_iter().zip(places).zip(new) {
            self.store(elem, place, value.into());
        }
    }
}
