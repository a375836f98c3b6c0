//! Blocks for each segment. Where they are several, the one that comes last combines what the others have left, in order.

use super::{Fold, Part, Range};
use crate::lower::runs::Runs;
use crate::lower::tuple::Ops;
use crate::lower::{
    Entry, Lower, Shape, Source, THREADS, Value, WARPS, components, entry, together,
};
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Special};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Kernel;
use midend::ir::types::ScalarType;

/// What blocks left that is loaded together.
const TOGETHER: u32 = 8;

/// Blocks per segment. The parameters are elements of a segment, blocks of a segment, elements of a block, counters (one
/// per segment), then an array for each component, with a place per block.
pub(in super::super) fn large(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let types = components(source.program, ops);
    let shape = Shape::of(kernel, args, "large", 4 + types.len());
    let comm = ops.iter().all(|op| op.comm);
    let program = source.program;
    entry(source, &shape, |lower, extras| {
        let [inner, parts, chunk] = [extras[0], extras[1], extras[2]];
        // There are no more parts than blocks, so that their numbers have 32 bits, in which division is quick.
        let number = lower.b.special(Special::Ctaid);
        let low = lower.low_word(parts);
        let [segment, part] = [Binary::Div, Binary::Rem].map(|op| {
            let quotient = lower.b.bin(op, Ty::U32, number, low);
            lower.wide(quotient)
        });
        let block = lower.wide(number);
        let acc = lower.start(ops, &types);
        lower.outer_indices(kernel, segment);
        let tid = lower.b.special(Special::Tid);
        let runs = Runs::of(program, kernel, true);
        let (range, turn) = if comm {
            // Blocks take tiles in turn, so that all of them read from one part of memory at a time.
            let each = runs.as_ref().map_or(1, |runs| runs.each);
            let tile = Operand::Imm((THREADS * each).into());
            let [low, turn] = [part, parts].map(|n| lower.b.bin(Binary::Mul, Ty::U64, n, tile));
            ((low, inner), Some(turn))
        } else {
            let low = lower.b.bin(Binary::Mul, Ty::U64, part, chunk);
            let high = lower.b.bin(Binary::Add, Ty::U64, low, chunk);
            ((low, lower.b.bin(Binary::Min, Ty::U64, high, inner)), None)
        };
        let part = Part {
            range,
            turn,
            workers: (tid, THREADS),
            runs: runs.as_ref(),
        };
        lower.fold_part((kernel, ops), &types, &acc, comm, &part);
        let place = (segment, parts, block);
        lower.fold_blocks((ops, outs), &types, place, &extras[3..], &acc);
    })
}

/// Where a block stands: the number of its segment, the blocks of a segment, its own number.
type Place = (Reg, Reg, Reg);

impl Lower<'_> {
    /// Folds the tuples of the threads of a block, and those of the blocks of a segment. The parameters are those from the
    /// counters on.
    fn fold_blocks(
        &mut self,
        (ops, outs): Fold<'_>,
        types: &[ScalarType],
        (segment, parts, block): Place,
        extras: &[Reg],
        acc: &[Reg],
    ) {
        let warps = Operand::Imm(WARPS.into());
        let tables = self.fold_warps((ops, types), acc);
        let last = self.b.variable("last", Space::Shared, 4, 1);
        let last = self.b.address_of(last);
        let several = self.b.cmp(Cmp::Gt, Ty::U64, parts, Operand::Imm(1));
        let (many, one, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(several, many, one, true);
        self.b.begin(one);
        self.leader(|lower| {
            let total = lower.fold_table((ops, types), &tables, warps);
            lower.store_tuple(outs, types, segment, &total);
        });
        self.b.jump(join);
        self.b.begin(many);
        self.leader(|lower| {
            let total = lower.fold_table((ops, types), &tables, warps);
            let is_last = lower.leave(types, (segment, parts, block), extras, &total);
            lower.b.store(Space::Shared, Ty::U32, last, is_last);
        });
        self.b.inst(Inst::Barrier);
        let is_last = self.b.load(Space::Shared, Ty::U32, last);
        let is_last = self.b.cmp(Cmp::Ne, Ty::U32, is_last, Operand::Imm(0));
        self.if_warp(is_last, |lower| {
            let all = lower.start(ops, types);
            let first = lower.b.bin(Binary::Mul, Ty::U64, segment, parts);
            let end = lower.b.bin(Binary::Add, Ty::U64, first, parts);
            let tid = lower.b.special(Special::Tid);
            let range = lower.share((first, end), (tid, THREADS));
            lower.fold_parts((ops, types), &extras[1..], range, &all);
            let tables = lower.fold_warps((ops, types), &all);
            lower.leader(|lower| {
                let total = lower.fold_table((ops, types), &tables, warps);
                lower.store_tuple(outs, types, segment, &total);
            });
        });
        self.b.jump(join);
        self.b.begin(join);
    }

    /// Folds what some blocks left; where the operators are short, several loads are under way together.
    fn fold_parts(
        &mut self,
        (ops, types): Ops<'_>,
        parts: &[Reg],
        (start, end, one): Range,
        acc: &[Reg],
    ) {
        let first = self.b.mov(Ty::B64, start);
        if together::are_short(self.program, ops, TOGETHER) {
            let imm = |n: u32| Operand::Imm(n.into());
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            self.b.begin(head);
            let last = self.b.bin(Binary::Add, Ty::U64, first, imm(TOGETHER - 1));
            let more = self.b.cmp(Cmp::Lt, Ty::U64, last, end);
            self.b.branch(more, inside, exit, false);
            self.b.begin(inside);
            let load = |k: u32| {
                let i = self.b.bin(Binary::Add, Ty::U64, first, imm(k));
                self.load_tuple(parts, types, i)
            };
            let tuples: Vec<_> = (0..TOGETHER).map(load).collect();
            for values in tuples {
                self.accumulate(ops, types, acc, values);
            }
            self.b
                .bin_to(first, Binary::Add, Ty::U64, first, imm(TOGETHER));
            self.b.jump(head);
            self.b.begin(exit);
        }
        self.count(Ty::U64, (first.into(), end, one), false, |lower, i| {
            let values = lower.load_tuple(parts, types, i);
            lower.accumulate(ops, types, acc, values);
        });
    }

    /// Leaves the tuple of a block to the others of its segment; 1 if all of them have done so, else 0.
    fn leave(
        &mut self,
        types: &[ScalarType],
        (segment, parts, block): Place,
        extras: &[Reg],
        total: &[Reg],
    ) -> Reg {
        for ((part, ty), value) in extras[1..].iter().zip(types).zip(total) {
            let place = self.place(Value::Global(*part), *ty, block.into());
            self.store(*ty, place, (*value).into());
        }
        let last = self.b.bin(Binary::Sub, Ty::U64, parts, Operand::Imm(1));
        let last = self.b.convert(Ty::U32, Ty::U64, Round::Exact, last);
        let distance = self.b.bin(Binary::Shl, Ty::B64, segment, Operand::Imm(2));
        let counter = self.b.bin(Binary::Add, Ty::U64, extras[0], distance);
        let drawn = self.b.reg(Class::B32);
        // The release covers the stores above, the acquire the loads of the last block; the count begins at 0 again by itself.
        self.b.inst(Inst::Atom {
            op: AtomOp::Inc,
            space: Space::Global,
            order: Order::AcquireRelease(Scope::Gpu),
            ty: Ty::U32,
            dst: Some(drawn),
            at: counter.into(),
            a: last.into(),
            b: None,
        });
        let mine = self.b.cmp(Cmp::Eq, Ty::U32, drawn, last);
        self.b
            .select(Ty::B32, mine, Operand::Imm(1), Operand::Imm(0))
    }
}
