//! Reductions: a thread per segment where segments are short or many, else one block or several per segment.
//!
//! The order of the elements is kept: threads fold runs of neighbours (of commutative operators: every so many), warps fold
//! their lanes as a tree of neighbours, one thread folds the warps, and the block that comes last folds the blocks. Sizes
//! alone decide which elements go together.

use super::{Entry, Lower, Shape, Source, THREADS, WARPS, components, entry, memory_ty, name_of};
use crate::ptx::ops::{AtomOp, Binary, Cmp, Shuffle, Special};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty, build::FULL};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// The operators and where results go.
pub(super) type Fold<'a> = (&'a [Operator<Mem>], &'a [Var]);

/// A thread per segment. The parameter is the number of segments.
pub(super) fn small(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let shape = Shape {
        name: name_of(&kernel.name, "small"),
        kernel,
        args,
        extras: 1,
    };
    entry(source, &shape, |lower, extras| {
        let types = components(lower.program, ops);
        lower.points(extras[0], |lower, segment| {
            let acc = lower.start(ops, &types);
            lower.segment(kernel, segment, |lower, _, values| {
                lower.accumulate(ops, &types, &acc, values);
            });
            lower.store_tuple(outs, &types, segment, &acc);
        });
    })
}

/// Blocks per segment. The parameters are elements of a segment, blocks of a segment, elements of a block, counters (one
/// per segment), then an array for each component, with a place per block.
pub(super) fn large(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let types = components(source.program, ops);
    let shape = Shape {
        name: name_of(&kernel.name, "large"),
        kernel,
        args,
        extras: 4 + types.len(),
    };
    let comm = ops.iter().all(|op| op.comm);
    entry(source, &shape, |lower, extras| {
        let [inner, parts, chunk] = [extras[0], extras[1], extras[2]];
        let block = lower.b.special(Special::Ctaid);
        let block = lower.wide(block);
        let segment = lower.b.bin(Binary::Div, Ty::U64, block, parts);
        let part = lower.b.bin(Binary::Rem, Ty::U64, block, parts);
        let low = lower.b.bin(Binary::Mul, Ty::U64, part, chunk);
        let high = lower.b.bin(Binary::Add, Ty::U64, low, chunk);
        let high = lower.b.bin(Binary::Min, Ty::U64, high, inner);
        let acc = lower.start(ops, &types);
        let range = lower.run_of_thread((low, high), comm);
        lower.count(Ty::U64, range, false, |lower, i| {
            let point = lower.b.tern(
                crate::ptx::ops::Ternary::Mad,
                Ty::U64,
                [segment.into(), inner.into(), i.into()],
            );
            let values = lower.point(kernel, &types, point);
            lower.accumulate(ops, &types, &acc, values);
        });
        let tables = lower.fold_warps(ops, &types, &acc);
        lower.leader(|lower| {
            let total = lower.fold_table(ops, &types, &tables, Operand::Imm(WARPS.into()));
            lower.last_block(
                (ops, outs),
                &types,
                (segment, parts, block),
                &extras[3..],
                &total,
            );
        });
    })
}

impl Lower<'_> {
    /// Registers that hold the neutral elements.
    pub(super) fn start(&mut self, ops: &[Operator<Mem>], types: &[ScalarType]) -> Vec<Reg> {
        let neutral = self.neutral(ops);
        let both = neutral.into_iter().zip(types);
        both.map(|(value, ty)| self.fresh(*ty, value)).collect()
    }

    /// Combines what is there with a further tuple. If that fails, what is there is 0.
    pub(super) fn accumulate(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        acc: &[Reg],
        values: Vec<Operand>,
    ) {
        let left: Vec<Operand> = acc.iter().map(|r| Operand::Reg(*r)).collect();
        let new = self.combined(ops, types, &left, &values);
        for ((reg, ty), value) in acc.iter().zip(types).zip(new) {
            self.assign(*ty, *reg, value.into());
        }
    }

    /// Two tuples combined, in registers of their own.
    pub(super) fn combined(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        left: &[Operand],
        right: &[Operand],
    ) -> Vec<Reg> {
        self.protected(types, |lower| lower.operate(ops, left, right))
    }

    /// The results of the body at a point.
    pub(super) fn point(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        point: Reg,
    ) -> Vec<Operand> {
        self.indices(&kernel.space, point);
        let values = self.protected(types, |lower| {
            lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body))
        });
        values.into_iter().map(Operand::Reg).collect()
    }

    /// Runs the body at every point of a segment, in order; `f` gets the point and the results.
    pub(super) fn segment(
        &mut self,
        kernel: &Kernel,
        segment: Reg,
        f: impl FnOnce(&mut Self, Reg, Vec<Operand>),
    ) {
        let ((inner, extent), outer) = kernel
            .space
            .split_last()
            .expect("a kernel that folds has a dimension to fold along");
        self.indices(outer, segment);
        let (first, extent) = self.segment_bounds(*extent, segment);
        let range = (Operand::Imm(0), extent, Operand::Imm(1));
        self.count(Ty::S64, range, false, |lower, i| {
            lower.bind_scalar(*inner, i);
            let point = lower.b.bin(Binary::Add, Ty::U64, first, i);
            let mark = lower.mark(&kernel.body);
            let values = lower.scalars(&kernel.body);
            f(lower, point, values);
            if let Some(mark) = mark {
                lower.give_back(mark);
            }
        });
    }

    /// Stores a tuple at a row-major index.
    pub(super) fn store_tuple(
        &mut self,
        outs: &[Var],
        types: &[ScalarType],
        at: Reg,
        values: &[Reg],
    ) {
        for ((out, ty), value) in outs.iter().zip(types).zip(values) {
            let place = self.place(self.value(*out), *ty, at.into());
            self.store(*ty, place, (*value).into());
        }
    }

    /// The elements of a thread out of those of its block: a run, or every so many.
    fn run_of_thread(
        &mut self,
        (low, high): (Reg, Reg),
        comm: bool,
    ) -> (Operand, Operand, Operand) {
        let tid = self.b.special(Special::Tid);
        let tid = self.wide(tid);
        if comm {
            let first = self.b.bin(Binary::Add, Ty::U64, low, tid);
            return (first.into(), high.into(), Operand::Imm(THREADS.into()));
        }
        let all = self.b.bin(Binary::Sub, Ty::U64, high, low);
        let up = self.b.bin(
            Binary::Add,
            Ty::U64,
            all,
            Operand::Imm(u64::from(THREADS) - 1),
        );
        let each = self.b.bin(
            Binary::Shr,
            Ty::U64,
            up,
            Operand::Imm(THREADS.trailing_zeros().into()),
        );
        let skip = self.b.bin(Binary::Mul, Ty::U64, each, tid);
        let first = self.b.bin(Binary::Add, Ty::U64, low, skip);
        let end = self.b.bin(Binary::Add, Ty::U64, first, each);
        let end = self.b.bin(Binary::Min, Ty::U64, end, high);
        (first.into(), end.into(), Operand::Imm(1))
    }

    /// A value of another lane, and whether there is such a lane.
    pub(super) fn other_lane(
        &mut self,
        mode: Shuffle,
        ty: ScalarType,
        value: Reg,
        by: Operand,
        clamp: u64,
    ) -> (Operand, Reg) {
        match self.b.class(value) {
            Class::B64 => {
                let (low, high) = (self.b.reg(Class::B32), self.b.reg(Class::B32));
                self.b.inst(Inst::Unpack {
                    low,
                    high,
                    src: value,
                });
                let (low, _) = self.b.shuffle(mode, low, by, clamp);
                let (high, ok) = self.b.shuffle(mode, high, by, clamp);
                let dst = self.b.reg(Class::B64);
                let (low, high) = (low.into(), high.into());
                self.b.inst(Inst::Pack { dst, low, high });
                (dst.into(), ok)
            }
            Class::B32 => {
                let (other, ok) = self.b.shuffle(mode, value, by, clamp);
                (other.into(), ok)
            }
            Class::B16 => {
                let bits = self.half_bits(value.into());
                let (other, ok) = self.b.shuffle(mode, bits, by, clamp);
                (self.half_of(other), ok)
            }
            Class::Pred => {
                let word = self.storable(ty, value.into());
                let word = self.reg(ScalarType::U32, word);
                let (other, ok) = self.b.shuffle(mode, word, by, clamp);
                (self.loaded(ty, other).into(), ok)
            }
        }
    }

    /// Combines over growing distances with other lanes; `f` combines with the values of the other lane.
    pub(super) fn over_lanes(
        &mut self,
        (mode, clamp): (Shuffle, u64),
        types: &[ScalarType],
        acc: &[Reg],
        f: impl FnOnce(&mut Self, Vec<Operand>),
    ) {
        let by = self.b.mov(Ty::B32, Operand::Imm(1));
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Lt, Ty::U32, by, Operand::Imm(32));
        self.b.branch(more, inside, exit, true);
        self.b.begin(inside);
        self.b.inst(Inst::WarpSync { mask: FULL });
        let mut others = Vec::new();
        let mut in_range = None;
        for (reg, ty) in acc.iter().zip(types) {
            let (other, ok) = self.other_lane(mode, *ty, *reg, by.into(), clamp);
            others.push(other);
            in_range = Some(ok);
        }
        if let Some(ok) = in_range {
            self.when(ok, |lower| f(lower, others));
        }
        self.b.bin_to(by, Binary::Shl, Ty::B32, by, Operand::Imm(1));
        self.b.jump(head);
        self.b.begin(exit);
    }

    /// Arrays in shared memory, one for each component; their addresses.
    pub(super) fn tables(&mut self, name: &str, types: &[ScalarType], len: u32) -> Vec<Reg> {
        let arrays = types.iter().map(|ty| {
            let array = self.b.variable(name, Space::Shared, ty.bytes() as u32, len);
            self.b.address_of(array)
        });
        arrays.collect()
    }

    /// An element of an array in shared memory.
    pub(super) fn shared_at(&mut self, base: Reg, ty: ScalarType, index: Reg) -> Reg {
        let shift = Operand::Imm(ty.bytes().trailing_zeros().into());
        let distance = self.b.bin(Binary::Shl, Ty::B32, index, shift);
        self.b.bin(Binary::Add, Ty::U32, base, distance)
    }

    /// Loads a tuple from arrays in shared memory.
    pub(super) fn load_shared(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        index: Reg,
    ) -> Vec<Operand> {
        let mut values = Vec::new();
        for (base, ty) in tables.iter().zip(types) {
            let at = self.shared_at(*base, *ty, index);
            let raw = self.b.load(Space::Shared, memory_ty(*ty), at);
            values.push(self.loaded(*ty, raw).into());
        }
        values
    }

    /// Stores a tuple to arrays in shared memory.
    pub(super) fn store_shared(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        index: Reg,
        values: &[Operand],
    ) {
        for ((base, ty), value) in tables.iter().zip(types).zip(values) {
            let at = self.shared_at(*base, *ty, index);
            let value = self.storable(*ty, *value);
            self.b.store(Space::Shared, memory_ty(*ty), at, value);
        }
    }

    /// Folds the lanes of each warp, in order; yields arrays with the result of every warp, behind a barrier.
    fn fold_warps(&mut self, ops: &[Operator<Mem>], types: &[ScalarType], acc: &[Reg]) -> Vec<Reg> {
        self.over_lanes((Shuffle::Down, 31), types, acc, |lower, others| {
            lower.accumulate(ops, types, acc, others);
        });
        let tables = self.tables("warps", types, WARPS);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let lane = self.b.special(Special::Lane);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(0));
        let values: Vec<Operand> = acc.iter().map(|r| Operand::Reg(*r)).collect();
        self.when(first, |lower| {
            lower.store_shared(&tables, types, warp, &values)
        });
        self.b.inst(Inst::Barrier);
        tables
    }

    /// Folds the first `count` entries of arrays in shared memory, in order.
    pub(super) fn fold_table(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        tables: &[Reg],
        count: Operand,
    ) -> Vec<Reg> {
        let total = self.start(ops, types);
        let range = (Operand::Imm(0), count, Operand::Imm(1));
        self.count(Ty::U32, range, false, |lower, i| {
            let values = lower.load_shared(tables, types, i);
            lower.accumulate(ops, types, &total, values);
        });
        total
    }

    /// One thread of a block has the block's result: it is the segment's, or goes to the others of the segment, of which the
    /// last one to come combines all.
    fn last_block(
        &mut self,
        (ops, outs): Fold<'_>,
        types: &[ScalarType],
        (segment, parts, block): (Reg, Reg, Reg),
        extras: &[Reg],
        total: &[Reg],
    ) {
        let several = self.b.cmp(Cmp::Gt, Ty::U64, parts, Operand::Imm(1));
        let (many, one, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(several, many, one, false);
        self.b.begin(one);
        self.store_tuple(outs, types, segment, total);
        self.b.jump(join);
        self.b.begin(many);
        for ((part, ty), value) in extras[1..].iter().zip(types).zip(total) {
            let place = self.place(super::Value::Global(*part), *ty, block.into());
            self.store(*ty, place, (*value).into());
        }
        let last = self.b.bin(Binary::Sub, Ty::U64, parts, Operand::Imm(1));
        let exact = crate::ptx::ops::Round::Exact;
        let last = self.b.convert(Ty::U32, Ty::U64, exact, last);
        let distance = self.b.bin(Binary::Shl, Ty::B64, segment, Operand::Imm(2));
        let counter = self.b.bin(Binary::Add, Ty::U64, extras[0], distance);
        let drawn = self.b.reg(Class::B32);
        // The release covers the stores above, the acquire the loads below; the count begins at 0 again by itself.
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
        self.when(mine, |lower| {
            let all = lower.start(ops, types);
            let first = lower.b.bin(Binary::Mul, Ty::U64, segment, parts);
            let range = (Operand::Imm(0), parts.into(), Operand::Imm(1));
            lower.count(Ty::U64, range, false, |lower, i| {
                let at = lower.b.bin(Binary::Add, Ty::U64, first, i);
                let mut values = Vec::new();
                for (part, ty) in extras[1..].iter().zip(types) {
                    let place = lower.place(super::Value::Global(*part), *ty, at.into());
                    values.push(lower.load(*ty, place, false).into());
                }
                lower.accumulate(ops, types, &all, values);
            });
            lower.store_tuple(outs, types, segment, &all);
        });
        self.b.jump(join);
        self.b.begin(join);
    }
}
