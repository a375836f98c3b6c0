//! Tuples of scalars, as operators combine them: between the lanes of a warp, in shared memory.

use super::together::are_short;
use super::{Lower, Value, WARPS, class_of, components, memory_ty};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special, Unary};
use crate::ptx::{Address, Class, Inst, Operand, Reg, Space, Ty};
use midend::ir::mem::Mem;
use midend::ir::soac::Operator;
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// Operators and the types of their tuple.
pub(super) type Ops<'a> = (&'a [Operator<Mem>], &'a [ScalarType]);

/// The words of 32 bits that a value is handed on in.
pub(crate) const fn words_of(ty: ScalarType) -> usize {
    match class_of(ty) {
        Class::B64 => 2,
        Class::B32 | Class::B16 | Class::Pred => 1,
    }
}

/// The address of an element that lies so many elements behind another one.
pub(super) fn near(base: Reg, ty: ScalarType, k: u32) -> Address {
    let offset = (k * ty.bytes() as u32) as i32;
    Address { base, offset }
}

impl Lower<'_> {
    /// A value of another lane, and whether there is such a lane.
    pub(super) fn other_lane(
        &mut self,
        mode: Shuffle,
        ty: ScalarType,
        value: Reg,
        by: Operand,
        clamp: u64,
    ) -> (Operand, Reg) {
        let mut in_range = None;
        let mut others = Vec::new();
        for word in self.words(ty, value.into()) {
            let (other, ok) = self.b.shuffle(mode, word, by, clamp);
            others.push(other);
            in_range = Some(ok);
        }
        let in_range = in_range.expect("every value has a word");
        (self.of_words(ty, &others), in_range)
    }

    /// A value as words of 32 bits, as [`words_of`] many.
    pub(super) fn words(&mut self, ty: ScalarType, value: Operand) -> Vec<Reg> {
        match class_of(ty) {
            Class::B64 => {
                let src = self.reg(ty, value);
                let (low, high) = (self.b.reg(Class::B32), self.b.reg(Class::B32));
                self.b.inst(Inst::Unpack { low, high, src });
                vec![low, high]
            }
            Class::B32 => vec![self.reg(ty, value)],
            Class::B16 => vec![self.half_bits(value)],
            Class::Pred => {
                let word = self.storable(ty, value);
                vec![self.reg(ScalarType::U32, word)]
            }
        }
    }

    /// The value of words.
    pub(super) fn of_words(&mut self, ty: ScalarType, words: &[Reg]) -> Operand {
        match class_of(ty) {
            Class::B64 => {
                let dst = self.b.reg(Class::B64);
                let (low, high) = (words[0].into(), words[1].into());
                self.b.inst(Inst::Pack { dst, low, high });
                dst.into()
            }
            Class::B32 => words[0].into(),
            Class::B16 => self.half_of(words[0]),
            Class::Pred => self.loaded(ty, words[0]).into(),
        }
    }

    /// Combines over growing distances with other lanes; `f` combines with the values of the other lane.
    pub(super) fn over_lanes(
        &mut self,
        (mode, clamp): (Shuffle, u64),
        (ops, types): Ops<'_>,
        acc: &[Reg],
        mut f: impl FnMut(&mut Self, Vec<Operand>),
    ) {
        let mut round = |lower: &mut Self, by: Operand| {
            lower.b.inst(Inst::WarpSync { mask: FULL });
            let mut others = Vec::new();
            let mut in_range = None;
            for (reg, ty) in acc.iter().zip(types) {
                let (other, ok) = lower.other_lane(mode, *ty, *reg, by, clamp);
                others.push(other);
                in_range = Some(ok);
            }
            if let Some(ok) = in_range {
                lower.when(ok, |lower| f(lower, others));
            }
        };
        if are_short(self.program, ops, WARPS) {
            for k in 0..5 {
                round(self, Operand::Imm(1 << k));
            }
            return;
        }
        let by = self.b.mov(Ty::B32, Operand::Imm(1));
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Lt, Ty::U32, by, Operand::Imm(32));
        self.b.branch(more, inside, exit, true);
        self.b.begin(inside);
        round(self, by.into());
        self.b.bin_to(by, Binary::Shl, Ty::B32, by, Operand::Imm(1));
        self.b.jump(head);
        self.b.begin(exit);
    }

    /// Combines the tuple of each lane with those of all lanes before it.
    pub(super) fn scan_lanes(&mut self, (ops, types): Ops<'_>, sums: &[Reg]) {
        self.over_lanes((Shuffle::Up, 0), (ops, types), sums, |lower, others| {
            let right: Vec<Operand> = sums.iter().map(|r| Operand::Reg(*r)).collect();
            let new = lower.combined(ops, types, &others, &right);
            for ((reg, ty), value) in sums.iter().zip(types).zip(new) {
                lower.assign(*ty, *reg, value.into());
            }
        });
    }

    /// Arrays in shared memory, one for each component; their addresses.
    pub(super) fn tables(&mut self, name: &str, types: &[ScalarType], len: u32) -> Vec<Reg> {
        let arrays = types.iter().map(|ty| {
            let array = self.b.variable(name, Space::Shared, ty.bytes() as u32, len);
            self.b.address_of(array)
        });
        arrays.collect()
    }

    /// The addresses of an element in each of some arrays in shared memory.
    pub(super) fn shared_at(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        index: Reg,
    ) -> Vec<Reg> {
        let address = |lower: &mut Self, (base, ty): (&Reg, &ScalarType)| {
            let shift = Operand::Imm(ty.bytes().trailing_zeros().into());
            let distance = lower.b.bin(Binary::Shl, Ty::B32, index, shift);
            lower.b.bin(Binary::Add, Ty::U32, *base, distance)
        };
        let both = tables.iter().zip(types);
        both.map(|both| address(self, both)).collect()
    }

    /// Loads a tuple from arrays in shared memory, so many elements behind the addresses.
    pub(super) fn load_near(&mut self, at: &[Reg], types: &[ScalarType], k: u32) -> Vec<Operand> {
        let mut values = Vec::new();
        for (base, ty) in at.iter().zip(types) {
            let raw = self
                .b
                .load(Space::Shared, memory_ty(*ty), near(*base, *ty, k));
            values.push(self.loaded(*ty, raw).into());
        }
        values
    }

    /// Stores a tuple there.
    pub(super) fn store_near(
        &mut self,
        at: &[Reg],
        types: &[ScalarType],
        k: u32,
        values: &[Operand],
    ) {
        for ((base, ty), value) in at.iter().zip(types).zip(values) {
            let value = self.storable(*ty, *value);
            let at = near(*base, *ty, k);
            self.b.store(Space::Shared, memory_ty(*ty), at, value);
        }
    }

    /// Loads a tuple from arrays in shared memory.
    pub(super) fn load_shared(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        index: Reg,
    ) -> Vec<Operand> {
        let at = self.shared_at(tables, types, index);
        self.load_near(&at, types, 0)
    }

    /// Stores a tuple to arrays in shared memory.
    pub(super) fn store_shared(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        index: Reg,
        values: &[Operand],
    ) {
        let at = self.shared_at(tables, types, index);
        self.store_near(&at, types, 0, values);
    }

    /// Folds the lanes of each warp, in order; yields arrays with the result of every warp, behind a barrier.
    pub(super) fn fold_warps(&mut self, (ops, types): Ops<'_>, acc: &[Reg]) -> Vec<Reg> {
        self.over_lanes((Shuffle::Down, 31), (ops, types), acc, |lower, others| {
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
        (ops, types): Ops<'_>,
        tables: &[Reg],
        count: Operand,
    ) -> Vec<Reg> {
        let total = self.start(ops, types);
        match count {
            Operand::Imm(count) if are_short(self.program, ops, count as u32) => {
                let load = |k| self.load_near(tables, types, k);
                let all: Vec<Vec<Operand>> = (0..count as u32).map(load).collect();
                for values in all {
                    self.accumulate(ops, types, &total, values);
                }
            }
            Operand::Imm(_) | Operand::Reg(_) => {
                let range = (Operand::Imm(0), count, Operand::Imm(1));
                self.count(Ty::U32, range, false, |lower, i| {
                    let values = lower.load_shared(tables, types, i);
                    lower.accumulate(ops, types, &total, values);
                });
            }
        }
        total
    }

    /// Loads a tuple from arrays in global memory.
    pub(super) fn load_tuple(
        &mut self,
        tables: &[Reg],
        types: &[ScalarType],
        at: Reg,
    ) -> Vec<Operand> {
        let mut values = Vec::new();
        for (table, ty) in tables.iter().zip(types) {
            let place = self.place(Value::Global(*table), *ty, at.into());
            values.push(self.load(*ty, place, false).into());
        }
        values
    }

    /// Combines two tuples by several operators, each of which takes its share of the components.
    pub(super) fn operate(
        &mut self,
        ops: &[Operator<Mem>],
        left: &[Operand],
        right: &[Operand],
    ) -> Vec<Operand> {
        if std::mem::take(&mut self.by_rows) {
            let both = self.operate_by_rows(ops, left, right);
            self.by_rows = true;
            return both;
        }
        let mut out = Vec::with_capacity(left.len());
        for op in ops {
            let share = out.len()..out.len() + op.neutral.len();
            let args = left[share.clone()].iter().chain(&right[share]);
            for (param, value) in op.lam.params.iter().zip(args) {
                self.bind_scalar(*param, *value);
            }
            out.extend(self.scalars(&op.lam.body));
        }
        out
    }

    /// The same for tuples that begin with whether a row ends in what they sum up: what comes before its end is not in the sum.
    fn operate_by_rows(
        &mut self,
        ops: &[Operator<Mem>],
        left: &[Operand],
        right: &[Operand],
    ) -> Vec<Operand> {
        let types = components(self.program, ops);
        let [before, ends] = [left[0], right[0]].map(|ends| self.reg(ScalarType::Bool, ends));
        let any = self.b.bin(Binary::Or, Ty::Pred, before, ends);
        let both = right[1..].iter().zip(&types);
        let sums: Vec<Reg> = both.map(|(value, ty)| self.fresh(*ty, *value)).collect();
        let goes_on = self.b.un(Unary::Not, Ty::Pred, ends);
        self.when(goes_on, |lower| {
            let values = lower.operate(ops, &left[1..], &right[1..]);
            for ((sum, ty), value) in sums.iter().zip(&types).zip(values) {
                lower.assign(*ty, *sum, value);
            }
        });
        [any].into_iter().chain(sums).map(Operand::Reg).collect()
    }

    /// The neutral elements of operators.
    pub(super) fn neutral(&mut self, ops: &[Operator<Mem>]) -> Vec<Operand> {
        let atoms: Vec<Atom> = ops.iter().flat_map(|op| op.neutral.clone()).collect();
        let mut values: Vec<Operand> = atoms.into_iter().map(|atom| self.atom(atom)).collect();
        if self.by_rows {
            values.insert(0, Operand::Imm(0));
        }
        values
    }
}
