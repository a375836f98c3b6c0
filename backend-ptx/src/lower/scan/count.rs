//! Scans that count truth values and hand the counts on: filters. A vote of a warp counts 32 elements at once. Each thread keeps a
//! bit of each of its elements, and what else is to be handed on, in registers; few enough of them that many warps wait for memory
//! together.

use super::keep::Keeping;
use super::{Ops, Tile};
use crate::lower::{Lower, WARPS, together, words_of};
use crate::ptx::ops::{Binary, Cmp, Special, Unary, Vote};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Exp, Lambda, Program};
use midend::ir::types::ScalarType;

/// The most words of what is handed on, for each element.
const WORDS: usize = 6;

/// The most registers for what is known of the elements of a thread.
const REGISTERS: u32 = 64;

/// Whether a scan counts truth values.
pub(super) fn counts(
    program: &Program<Mem>,
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    then: &Lambda<Mem>,
) -> bool {
    let elem = |v| program.vars[v].ty.elem();
    let words = then.params.iter().filter_map(|&v| elem(v)).map(words_of);
    let is_truth = |stm: &midend::ir::syntax::Stm<Mem>| {
        let counted = kernel.body.result.first().and_then(|a| a.as_var());
        let convert = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
        stm.binds.first().copied() == counted
            && matches!(&stm.exp, Exp::Scalar(op, _) if *op == convert)
    };
    let [op] = ops else { return false };
    let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
    let sums = matches!(&op.lam.body.stms[..],
        [stm] if matches!(&stm.exp, Exp::Scalar(op, _) if *op == add));
    sums && op.neutral.iter().all(|a| a.as_i64() == Some(0))
        && op.lam.params.len() == 2
        && words.sum::<usize>() <= WORDS
        && kernel.body.stms.iter().any(is_truth)
}

/// What is known of the elements of a tile.
pub(super) enum Held<'a> {
    /// In registers of a thread, if the tile is whole: whether each of its elements counts, as bits, and those results of the body that
    /// are neither the index nor what is counted.
    Thread { counts: Reg, values: Vec<Vec<Reg>> },
    /// In shared memory, if others follow: the elements of each warp, of which those that count have bits in registers of their lanes,
    /// and how many do.
    Warp {
        keeping: &'a Keeping,
        bits: Reg,
        count: Reg,
    },
}

/// What a result of the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carried {
    /// The truth value that is counted, as a number or as it is.
    Number,
    Truth,
    /// The index of the element.
    Index,
    Other,
}

impl Counted<'_> {
    /// The elements that each thread has of a tile: as many as registers hold.
    pub(super) fn items(&self) -> u32 {
        let others = self.carried().into_iter().zip(self.types);
        let others = others.filter(|(carried, _)| *carried == Carried::Other);
        let words: usize = others.map(|(_, ty)| words_of(*ty)).sum();
        let items = (REGISTERS / (words as u32 + 1)).clamp(4, 32);
        1 << items.ilog2()
    }

    /// The elements that are under way together.
    pub(super) fn each(&self, program: &Program<Mem>) -> usize {
        together::points(program, self.kernel).unwrap_or(1) as usize
    }

    fn carried(&self) -> Vec<Carried> {
        let results = &self.kernel.body.result;
        let number = results.first().and_then(|a| a.as_var());
        let stms = &self.kernel.body.stms;
        let made = stms.iter().find(|stm| stm.binds.first().copied() == number);
        let truth = made.and_then(|stm| match &stm.exp {
            Exp::Scalar(_, args) => args.first().copied(),
            Exp::Atom(_)
            | Exp::If { .. }
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        });
        let index = self.kernel.space.last().map(|(index, _)| Atom::Var(*index));
        let of = |(k, a): (usize, &Atom)| {
            if k == 0 {
                Carried::Number
            } else if Some(*a) == truth {
                Carried::Truth
            } else if Some(*a) == index {
                Carried::Index
            } else {
                Carried::Other
            }
        };
        results.iter().enumerate().map(of).collect()
    }
}

/// What a scan is of.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) kernel: &'a Kernel,
    /// The types of the results of the body.
    pub(super) types: &'a [ScalarType],
    pub(super) then: &'a Lambda<Mem>,
}

impl Lower<'_> {
    /// Counts the elements of each warp of a tile. Yields what is known of them, what counts in the warps before, and an array with
    /// what counts in each.
    pub(super) fn count_tile<'k>(
        &mut self,
        (of, keeping): (Counted<'_>, Option<&'k Keeping>),
        (ops, types): Ops<'_>,
        tile: &Tile,
    ) -> (Held<'k>, Vec<Reg>, Vec<Reg>) {
        let zero = Operand::Imm(0);
        let count = self.b.mov(Ty::B32, zero);
        let held = match keeping {
            Some(keeping) => {
                let bits = self.b.mov(Ty::B32, zero);
                self.if_inner(
                    tile,
                    |lower| lower.keep((of, keeping), tile, (bits, count)),
                    |lower| lower.count_part(of, tile, count, |_, _, _| {}),
                );
                Held::Warp {
                    keeping,
                    bits,
                    count,
                }
            }
            None => {
                let others = of.carried().into_iter().zip(of.types);
                let others = others.filter(|(carried, _)| *carried == Carried::Other);
                let others: Vec<ScalarType> = others.map(|(_, ty)| *ty).collect();
                let counts = self.b.mov(Ty::B32, zero);
                let values =
                    |lower: &mut Self| others.iter().map(|ty| lower.fresh(*ty, zero)).collect();
                let values: Vec<Vec<Reg>> = (0..tile.items).map(|_| values(self)).collect();
                self.if_whole(
                    tile,
                    |lower| lower.count_whole(of, tile, (counts, &values), count),
                    |lower| lower.count_part(of, tile, count, |_, _, _| {}),
                );
                Held::Thread { counts, values }
            }
        };
        let warps = self.tables("warps", types, WARPS);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let lane = self.b.special(Special::Lane);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, lane, zero);
        let sum = self.wide(count);
        self.when(first, |lower| {
            lower.store_shared(&warps, types, warp, &[sum.into()]);
        });
        self.b.inst(crate::ptx::Inst::Barrier);
        let before = self.fold_table((ops, types), &warps, warp.into());
        (held, before, warps)
    }

    /// What can be done with a tile before it is known what comes before it.
    pub(super) fn prepare(&mut self, tile: &Tile, held: &Held<'_>) {
        if let Held::Warp { keeping, bits, .. } = held {
            self.if_inner(
                tile,
                |lower| lower.move_together(keeping, tile, *bits),
                |_| {},
            );
        }
    }

    /// Hands the counts on, of which there are `before` up to the warp.
    pub(super) fn hand_on(&mut self, of: Counted<'_>, tile: &Tile, held: &Held<'_>, before: Reg) {
        let part = |lower: &mut Self| {
            let count = lower.b.mov(Ty::B32, Operand::Imm(0));
            lower.count_part(of, tile, count, |lower, rank, values| {
                lower.hand_on_one(of, (before, rank), values);
            });
        };
        match held {
            Held::Warp { keeping, count, .. } => self.if_inner(
                tile,
                |lower| lower.hand_on_kept(keeping, tile, (*count, before)),
                part,
            ),
            Held::Thread { counts, values } => self.if_whole(
                tile,
                |lower| lower.hand_on_whole(of, tile, (*counts, values), before),
                part,
            ),
        }
    }

    fn hand_on_one(&mut self, of: Counted<'_>, (before, rank): (Reg, Reg), values: &[Reg]) {
        let rank = self.wide(rank);
        let sum = self.b.bin(Binary::Add, Ty::U64, before, rank);
        let sum = self.b.bin(Binary::Add, Ty::U64, sum, values[0]);
        let rest = values[1..].iter().map(|r| Operand::Reg(*r));
        self.then(of.then, std::iter::once(sum.into()).chain(rest));
    }

    fn hand_on_whole(
        &mut self,
        of: Counted<'_>,
        tile: &Tile,
        (counts, held): (Reg, &[Vec<Reg>]),
        before: Reg,
    ) {
        let carried = of.carried();
        let count = self.b.mov(Ty::B32, Operand::Imm(0));
        let elements = self.elements_of_lane(tile);
        for (bit, (element, others)) in (0u64..).zip(elements.iter().zip(held)) {
            let bit = Operand::Imm(1 << bit);
            let mine = self.b.bin(Binary::And, Ty::B32, counts, bit);
            let truth = self.b.cmp(Cmp::Ne, Ty::U32, mine, Operand::Imm(0));
            let rank = self.rank(truth, count);
            let mine = self
                .b
                .select(Ty::B32, truth, Operand::Imm(1), Operand::Imm(0));
            let mut others = others.iter();
            let mut values = Vec::new();
            for carried in &carried {
                values.extend(match carried {
                    Carried::Number => Some(self.wide(mine)),
                    Carried::Truth => Some(truth),
                    Carried::Index => Some(*element),
                    Carried::Other => others.next().copied(),
                });
            }
            self.hand_on_one(of, (before, rank), &values);
        }
    }

    /// The first element of a thread: a warp has a run of the tile, of which each lane has every 32nd.
    fn first_of_lane(&mut self, tile: &Tile) -> Reg {
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let run = Operand::Imm(u64::from(32 * tile.items));
        let ahead = self.b.bin(Binary::Mul, Ty::U32, warp, run);
        let lane = self.b.special(Special::Lane);
        let ahead = self.b.bin(Binary::Add, Ty::U32, ahead, lane);
        let ahead = self.wide(ahead);
        self.b.bin(Binary::Add, Ty::U64, tile.start, ahead)
    }

    /// The elements of a thread.
    pub(super) fn elements_of_lane(&mut self, tile: &Tile) -> Vec<Reg> {
        let first = self.first_of_lane(tile);
        self.strided(first, 32, tile.items)
    }

    fn count_whole(
        &mut self,
        of: Counted<'_>,
        tile: &Tile,
        (bits, held): (Reg, &[Vec<Reg>]),
        count: Reg,
    ) {
        let carried = of.carried();
        let mut at = (0u64..).zip(held);
        for elements in self.elements_of_lane(tile).chunks(of.each(self.program)) {
            let tuples = self.elements(of.kernel, of.types, elements, None);
            self.gather_warp();
            for values in tuples {
                let Some((bit, others)) = at.next() else {
                    return;
                };
                let mut others = others.iter();
                for ((carried, ty), value) in carried.iter().zip(of.types).zip(&values) {
                    if *carried == Carried::Other
                        && let Some(other) = others.next()
                    {
                        self.assign(*ty, *other, *value);
                    }
                }
                let counts = self.b.cmp(Cmp::Ne, Ty::U64, values[0], Operand::Imm(0));
                let votes = self.b.vote(Vote::Ballot, counts);
                let all = self.b.un(Unary::Popc, Ty::B32, votes);
                self.b.bin_to(count, Binary::Add, Ty::U32, count, all);
                let bit = Operand::Imm(1 << bit);
                let bit = self.b.select(Ty::B32, counts, bit, Operand::Imm(0));
                self.b.bin_to(bits, Binary::Or, Ty::B32, bits, bit);
            }
        }
    }

    /// The elements of a tile that is not whole, one after another; `f` gets those that are there, with their ranks.
    fn count_part(
        &mut self,
        of: Counted<'_>,
        tile: &Tile,
        count: Reg,
        f: impl FnOnce(&mut Self, Reg, &[Reg]),
    ) {
        let first = self.first_of_lane(tile);
        let size = self.wide(tile.count);
        let end = self.b.bin(Binary::Add, Ty::U64, tile.start, size);
        let steps = Operand::Imm(tile.items.into());
        let range = (Operand::Imm(0), steps, Operand::Imm(1));
        self.count(Ty::U32, range, true, |lower, k| {
            let ahead = lower.b.bin(Binary::Shl, Ty::B32, k, Operand::Imm(5));
            let ahead = lower.wide(ahead);
            let element = lower.b.bin(Binary::Add, Ty::U64, first, ahead);
            let exists = lower.b.cmp(Cmp::Lt, Ty::U64, element, end);
            let zero = |ty: &ScalarType| lower.fresh(*ty, Operand::Imm(0));
            let values: Vec<Reg> = of.types.iter().map(zero).collect();
            lower.when(exists, |lower| {
                let found = lower.element(of.kernel, of.types, element);
                for ((reg, ty), value) in values.iter().zip(of.types).zip(found) {
                    lower.assign(*ty, *reg, value);
                }
            });
            lower.gather_warp();
            let counts = lower.b.cmp(Cmp::Ne, Ty::U64, values[0], Operand::Imm(0));
            let rank = lower.rank(counts, count);
            lower.when(exists, |lower| f(lower, rank, &values));
        });
    }

    /// How many lanes before count, and before them the warp so far; moves the count of the warp on.
    pub(super) fn rank(&mut self, counts: Reg, count: Reg) -> Reg {
        let votes = self.b.vote(Vote::Ballot, counts);
        let lane = self.b.special(Special::Lane);
        let bit = self.b.bin(Binary::Shl, Ty::B32, Operand::Imm(1), lane);
        let below = self.b.bin(Binary::Sub, Ty::U32, bit, Operand::Imm(1));
        let below = self.b.bin(Binary::And, Ty::B32, votes, below);
        let below = self.b.un(Unary::Popc, Ty::B32, below);
        let rank = self.b.bin(Binary::Add, Ty::U32, count, below);
        let all = self.b.un(Unary::Popc, Ty::B32, votes);
        self.b.bin_to(count, Binary::Add, Ty::U32, count, all);
        rank
    }
}
