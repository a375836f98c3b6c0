//! Histograms in shared memory: every block has its own copies of the buckets, which its threads work on at once. What it
//! comes to goes into memory by one atomic operation for each bucket.
//!
//! ```text
//! warp 0, 4 ──► copy 0 ─┐
//! warp 1, 5 ──► copy 1 ─┼► bucket i of the block ──► bucket i in memory
//! warp 2, 6 ──► copy 2 ─┤
//! warp 3, 7 ──► copy 3 ─┘
//! ```
//!
//! Shared memory has atomic operations on words of 32 bits only. A bucket of 64 bits is two words, in two tables; a sum
//! carries from the lower into the upper word, and in whatever order that happens, nothing is lost.

use super::atomic::{Native, Update};
use crate::lower::runs::{Runs, Workers};
use crate::lower::{Entry, Lower, Shape, Source, THREADS, entry, words_of};
use crate::ptx::ops::{AtomOp, Binary, Cmp, Special};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::scalar::ScalarOp;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// Words of shared memory for all copies of all buckets.
pub(crate) const WORDS: u32 = 8 << 10;

/// Blocks with runs of points. The parameters are the number of points, the points of a block, and the copies that a block
/// has of the buckets, a power of two. Nothing for operations that cannot be made of those on 32 bits.
pub(super) fn shared(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    hists: &[MemHist],
    updates: &[Vec<Update>],
) -> Option<Entry> {
    let parts = parts(hists, updates)?;
    let shape = Shape::of(kernel, args, "shared", 3);
    let program = source.program;
    Some(entry(source, &shape, |lower, extras| {
        let [points, size, copies] = [extras[0], extras[1], extras[2]];
        let copies = lower.low_word(copies);
        let tables = lower.bucket_tables(&parts, copies);
        lower.fill_tables(&tables, copies);
        lower.b.inst(Inst::Barrier);
        let block = lower.b.special(Special::Ctaid);
        let block = lower.wide(block);
        let low = lower.b.bin(Binary::Mul, Ty::U64, block, size);
        let high = lower.b.bin(Binary::Add, Ty::U64, low, size);
        let high = lower.b.bin(Binary::Min, Ty::U64, high, points);
        let tid = lower.b.special(Special::Tid);
        let warp = lower.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let last = lower.b.bin(Binary::Sub, Ty::U32, copies, Operand::Imm(1));
        let copy = lower.b.bin(Binary::And, Ty::B32, warp, last);
        let runs = Runs::of(program, kernel, false);
        let work = Work {
            kernel,
            hists,
            tables: &tables,
            copy,
        };
        lower.fill_buckets(&work, (low, high), (tid, THREADS), runs.as_ref());
        lower.b.inst(Inst::Barrier);
        lower.empty_tables(&work, copies);
    }))
}

/// The parts of all histograms, if each is combined by an operation on words.
fn parts(hists: &[MemHist], updates: &[Vec<Update>]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for (of, updates) in hists.iter().zip(updates) {
        for ((dest, neutral), update) in of.dests.iter().zip(&of.op.neutral).zip(updates) {
            let native = update.native.filter(|native| is_by_words(*native))?;
            parts.push(Part {
                buckets: of.buckets,
                dest: *dest,
                neutral: *neutral,
                update: *update,
                native,
            });
        }
    }
    Some(parts)
}

/// Whether an operation on 64 bits is one on each half, up to a carry.
fn is_by_words(Native { op, ty, .. }: Native) -> bool {
    let by_words = match op {
        AtomOp::Add | AtomOp::And | AtomOp::Or | AtomOp::Xor => true,
        AtomOp::Min | AtomOp::Max | AtomOp::Exch | AtomOp::Cas | AtomOp::Inc => false,
    };
    by_words || ty.class() == Class::B32
}

/// A component of a histogram.
#[derive(Clone, Copy)]
struct Part {
    buckets: Atom,
    dest: Var,
    neutral: Atom,
    update: Update,
    native: Native,
}

/// Copies of a component of the buckets in shared memory.
struct Table {
    part: Part,
    /// Buckets of one copy, in 32 bits.
    buckets: Reg,
    /// The address of the words of the first copy, then that of the upper words, if there are any.
    words: Vec<Reg>,
}

/// What the threads of a block do.
struct Work<'a> {
    kernel: &'a Kernel,
    hists: &'a [MemHist],
    tables: &'a [Table],
    /// The copy that the thread works on.
    copy: Reg,
}

impl Lower<'_> {
    /// A small number in 32 bits.
    pub(in crate::lower) fn low_word(&mut self, number: Reg) -> Reg {
        let exact = crate::ptx::ops::Round::Exact;
        self.b.convert(Ty::U32, Ty::U64, exact, number)
    }

    fn bucket_tables(&mut self, parts: &[Part], copies: Reg) -> Vec<Table> {
        let all = self.b.variable("buckets", Space::Shared, 4, WORDS);
        let mut next = self.b.address_of(all);
        let mut tables = Vec::new();
        for part in parts {
            let buckets = self.atom(part.buckets);
            let buckets = self.reg(ScalarType::I64, buckets);
            let buckets = self.low_word(buckets);
            let values = self.b.bin(Binary::Mul, Ty::U32, buckets, copies);
            let bytes = self.b.bin(Binary::Shl, Ty::B32, values, Operand::Imm(2));
            let mut words = Vec::new();
            for _ in 0..words_of(part.update.elem) {
                words.push(next);
                next = self.b.bin(Binary::Add, Ty::U32, next, bytes);
            }
            tables.push(Table {
                part: *part,
                buckets,
                words,
            });
        }
        tables
    }

    /// The address of a word.
    pub(super) fn word_at(&mut self, table: Reg, number: Reg) -> Reg {
        let distance = self.b.bin(Binary::Shl, Ty::B32, number, Operand::Imm(2));
        self.b.bin(Binary::Add, Ty::U32, table, distance)
    }

    /// Neutral elements into all copies.
    fn fill_tables(&mut self, tables: &[Table], copies: Reg) {
        let tid = self.b.special(Special::Tid);
        for table in tables {
            let neutral = self.atom(table.part.neutral);
            let words = self.words(table.part.update.elem, neutral);
            let count = self.b.bin(Binary::Mul, Ty::U32, table.buckets, copies);
            let range = (tid.into(), count.into(), Operand::Imm(THREADS.into()));
            self.count(Ty::U32, range, false, |lower, i| {
                for (base, word) in table.words.iter().zip(&words) {
                    let at = lower.word_at(*base, i);
                    lower.b.store(Space::Shared, Ty::U32, at, *word);
                }
            });
        }
    }

    /// The points of the block.
    fn fill_buckets(
        &mut self,
        work: &Work<'_>,
        (low, high): (Reg, Reg),
        workers: Workers,
        runs: Option<&Runs>,
    ) {
        let Work { kernel, hists, .. } = *work;
        let values = work.tables.iter().map(|table| table.part.update.elem);
        let types: Vec<ScalarType> = hists
            .iter()
            .map(|_| ScalarType::I64)
            .chain(values)
            .collect();
        let several = |lower: &mut Self, points: &[Reg]| {
            let all: Vec<ScalarType> = points.iter().flat_map(|_| &types).copied().collect();
            let results = lower.protected(&all, |lower| {
                let bind = |lower: &mut Self, point| lower.indices(&kernel.space, point);
                lower.together(kernel, points, runs, bind).concat()
            });
            for results in results.chunks_exact(types.len()) {
                lower.update_shared(work, results);
            }
        };
        let one = |lower: &mut Self, point: Reg| {
            let results = lower.protected(&types, |lower| {
                lower.indices(&kernel.space, point);
                lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body))
            });
            lower.update_shared(work, &results);
        };
        self.by_tiles(runs, (low, high, None), workers, several, one);
    }

    /// Combines the results of a point with its buckets.
    fn update_shared(&mut self, work: &Work<'_>, results: &[Reg]) {
        let (buckets, mut values) = results.split_at(work.hists.len());
        let mut tables = work.tables;
        for (hist, bucket) in work.hists.iter().zip(buckets) {
            let (mine, others) = values.split_at(hist.dests.len());
            let (parts, rest) = tables.split_at(hist.dests.len());
            (values, tables) = (others, rest);
            let extent = self.atom(hist.buckets);
            let inside = self.is_below((*bucket).into(), extent);
            self.when(inside, |lower| {
                let low = lower.low_word(*bucket);
                let mad = [work.copy, parts[0].buckets, low].map(Operand::Reg);
                let number = lower.b.tern(crate::ptx::ops::Ternary::Mad, Ty::U32, mad);
                for (table, value) in parts.iter().zip(mine) {
                    let words = lower.words(table.part.update.elem, (*value).into());
                    lower.update_words(table, number, &words);
                }
            });
        }
    }

    fn update_words(&mut self, table: &Table, number: Reg, words: &[Reg]) {
        let Native { op, ty, .. } = table.part.native;
        let ty = match words {
            [_] => ty,
            _ if op == AtomOp::Add => Ty::U32,
            _ => Ty::B32,
        };
        let mut carry = None;
        for (base, word) in table.words.iter().zip(words) {
            let at = self.word_at(*base, number);
            let carries = words.len() > 1 && op == AtomOp::Add && carry.is_none();
            let word = match carry {
                Some(carry) => self.b.bin(Binary::Add, Ty::U32, *word, carry),
                None => *word,
            };
            let old = carries.then(|| self.b.reg(Class::B32));
            self.b.inst(Inst::Atom {
                op,
                space: Space::Shared,
                order: Order::Relaxed(Scope::Cta),
                ty,
                dst: old,
                at: at.into(),
                a: word.into(),
                b: None,
            });
            carry = old.map(|old| {
                let new = self.b.bin(Binary::Add, Ty::U32, old, word);
                let is_over = self.b.cmp(Cmp::Lt, Ty::U32, new, old);
                self.b
                    .select(Ty::B32, is_over, Operand::Imm(1), Operand::Imm(0))
            });
        }
    }

    /// The buckets of the block into memory.
    fn empty_tables(&mut self, work: &Work<'_>, copies: Reg) {
        let tid = self.b.special(Special::Tid);
        for table in work.tables {
            let Part {
                dest,
                neutral,
                update,
                native,
                ..
            } = table.part;
            let op = ScalarOp::Bin(native.of, update.elem);
            let range = (
                tid.into(),
                table.buckets.into(),
                Operand::Imm(THREADS.into()),
            );
            self.count(Ty::U32, range, false, |lower, bucket| {
                let neutral = lower.atom(neutral);
                let all = lower.fresh(update.elem, neutral);
                let number = lower.b.mov(Ty::B32, bucket);
                let range = (Operand::Imm(0), copies.into(), Operand::Imm(1));
                lower.count(Ty::U32, range, true, |lower, _| {
                    let mut words = Vec::new();
                    for base in &table.words {
                        let at = lower.word_at(*base, number);
                        words.push(lower.b.load(Space::Shared, Ty::U32, at));
                    }
                    let value = lower.of_words(update.elem, &words);
                    let both = lower.scalar(op, &[all.into(), value]);
                    lower.assign(update.elem, all, both);
                    lower
                        .b
                        .bin_to(number, Binary::Add, Ty::U32, number, table.buckets);
                });
                let bucket = lower.wide(bucket);
                lower.update_atomically(dest, native, bucket.into(), all.into());
            });
        }
    }
}
