//! How many of a few ordered numbers are greater than each lane's own, or less. A loop that counts them compares with all; where they turn out to be
//! in order, the number is found by halves, and what each lane compares with next is taken from tables in registers of 512 bits:
//!
//! ```text
//! loop count = 0 for j < 20 do            among = 0, rank = 0
//!   count + (x < row[j])           ──►    for k < 5: less = x < level k [among]; among += less * 2^k, rank += less * 2^(4 - k)
//! ```
//!
//! Level 0 has what is in the middle, level 1 the middles of both halves, and so on, of as many numbers as a power of two but one; those that are not
//! there are NaNs, than which nothing is less or greater. What is found first counts least among the elements of a level, so that each level adds one number
//! to where the next one's is. That is kept as the bytes of the element, eight or four for each lane.
//!
//! Whether the row is in order is found out when the first group gets there, once for all groups of a call.

use super::Group;
use super::sequential::Carried;
use super::shape::Shape;
use super::vector::vector;
use crate::emit::library::RAW;
use crate::emit::{Emit, block_args, clif, plain};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    Block, InstBuilder, StackSlotData, StackSlotKind, Value, ValueDef, types,
};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, CmpOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};
use midend::ir::types::ScalarType;
use midend::ir::walk::all_stms;
use std::collections::BTreeSet;

/// Fewer numbers are compared with one by one, and more do not fit the tables.
const LEAST: i64 = 6;
const MOST: i64 = 31;
/// Bytes of a register, which the table of a level fills, and of all tables.
const REGISTER: i32 = crate::emit::memory::REGISTER as i32;
const TABLES: i64 = 6 * REGISTER as i64;
/// How many parts such a register has.
const PARTS: usize = 4;
/// What is known of a row: nothing yet, that it is in no order, or the tables of one that is.
const UNORDERED: i64 = 1;
const ORDERED: i64 = 2;

/// A loop that counts the numbers of a row that compare with a lane's own in one way.
struct Rank {
    row: Var,
    length: i64,
    elem: ScalarType,
    /// What each lane compares, and how, with elements on the right.
    own: Var,
    how: FloatCC,
    /// What the count is.
    ty: ScalarType,
}

/// How a lane's own number compares with elements, which stand on the right or on the left.
const fn comparison(op: CmpOp, on_right: bool) -> Option<FloatCC> {
    match (op, on_right) {
        (CmpOp::Lt, true) => Some(FloatCC::LessThan),
        (CmpOp::Lt, false) => Some(FloatCC::GreaterThan),
        (CmpOp::Le, true) => Some(FloatCC::LessThanOrEqual),
        (CmpOp::Le, false) => Some(FloatCC::GreaterThanOrEqual),
        (CmpOp::Eq, _) => None,
    }
}

/// The loop, if it is one.
fn rank((index, bound): (Var, Atom), params: &[LoopParam], body: &Body<Mem>) -> Option<Rank> {
    let ([param], [load, compare, convert, add]) = (params, &body.stms[..]) else {
        return None;
    };
    let length = bound.as_i64().filter(|n| (LEAST..=MOST).contains(n))?;
    let Exp::Op(Mem::Load { buffer, index: at }) = &load.exp else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Cmp(op, elem), sides) = &compare.exp else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Convert(ScalarType::Bool, ty), truth) = &convert.exp else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, sum), terms) = &add.exp else {
        return None;
    };
    let [element, truth_of, one] = [load, compare, convert].map(|stm| Atom::Var(stm.binds[0]));
    let before = Atom::Var(param.var);
    let counts = *at == Atom::Var(index)
        && truth[..] == [truth_of]
        && (terms[..] == [before, one] || terms[..] == [one, before])
        && body.result[..] == [Atom::Var(add.binds[0])]
        && sum == ty
        && ty.is_integer()
        && matches!(elem, ScalarType::F32 | ScalarType::F64);
    let (own, on_right) = match (sides[0], sides[1]) {
        (Atom::Var(own), right) if right == element => (own, true),
        (left, Atom::Var(own)) if left == element => (own, false),
        _ => return None,
    };
    let how = comparison(*op, on_right).filter(|_| counts)?;
    let outside = own != param.var && own != index && Atom::Var(own) != element;
    outside.then_some(Rank {
        row: *buffer,
        length,
        elem: *elem,
        own,
        how,
        ty: *ty,
    })
}

/// The rows that loops of these bodies count in, and that no body writes to.
pub(super) fn ranks(bodies: &[&Body<Mem>]) -> BTreeSet<Var> {
    let (mut rows, mut written) = (BTreeSet::new(), BTreeSet::new());
    for body in bodies {
        all_stms(body, &mut |stm| match &stm.exp {
            Exp::Loop {
                params,
                form: LoopForm::For { index, bound },
                body,
            } => {
                let found = rank((*index, *bound), params, body);
                rows.extend(found.map(|rank| rank.row));
            }
            Exp::Op(Mem::Store { buffer, .. }) => {
                written.insert(*buffer);
            }
            Exp::Op(Mem::Copy { dst, .. }) => {
                written.insert(dst.buffer);
            }
            Exp::Call { args, .. } => written.extend(args.iter().filter_map(|arg| arg.as_var())),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Op(_) => {}
        });
    }
    rows.retain(|row| !written.contains(row));
    rows
}

impl Rank {
    /// How often the row is halved.
    const fn levels(&self) -> u32 {
        i64::BITS - self.length.leading_zeros()
    }

    /// How far into the tables a number of the row is: what was found first counts least.
    const fn place(&self, number: i64) -> i32 {
        let times = (number + 1).trailing_zeros();
        let level = self.levels() - 1 - times;
        let path = (number + 1) as u64 >> (times + 1);
        let among = match level {
            0 => 0,
            _ => path.reverse_bits() >> (u64::BITS - level),
        };
        REGISTER * level as i32 + (among as usize * self.elem.bytes()) as i32
    }
}

impl Emit<'_, '_> {
    /// A loop that counts in this way, given what it is otherwise; nothing if it is none.
    pub(super) fn ranked(
        &mut self,
        group: &mut Group<'_>,
        (params, carried, inits): (&[LoopParam], &Carried, &[Value]),
        (index, bound): (Var, Atom),
        body: &Body<Mem>,
        otherwise: impl FnOnce(&mut Self, &mut Group<'_>) -> Vec<Value>,
    ) -> Vec<Value> {
        let rank = rank((index, bound), params, body).filter(|rank| {
            let plan = group.plan;
            let packed = [rank.elem, rank.ty].map(|ty| plan.per_vector(ty).is_some());
            plan.parts == PARTS
                && matches!(carried[..], [(0, Shape::Packed(_))])
                && plan.varies(rank.own)
                && plan.ranks.contains(&rank.row)
                && packed == [true; 2]
                && self.units.looks_up
                && self.is_known_at_entry(rank.row)
        });
        let Some(rank) = rank else {
            return otherwise(self, group);
        };
        fired("cpu/ranks-by-halves");
        let [fast, slow, next] = [(); 3].map(|()| self.b.create_block());
        let tables = self.tables(&rank, (fast, slow));
        let kinds = self.types_of(inits);
        let results = self.params(next, &kinds);
        self.b.switch_to_block(fast);
        let outside = group.lanes.clone();
        let ranks = self.by_halves(group, &rank, tables);
        let sums: Vec<Value> = inits
            .iter()
            .zip(ranks)
            .map(|(init, rank)| self.b.ins().iadd(*init, rank))
            .collect();
        self.b.ins().jump(next, &block_args(sums));
        group.lanes = outside.clone();
        self.b.switch_to_block(slow);
        let values = otherwise(self, group);
        group.lanes = outside;
        self.b.ins().jump(next, &block_args(values));
        self.b.switch_to_block(next);
        results
    }

    /// Whether a buffer is what it is at the start of the function.
    fn is_known_at_entry(&mut self, buffer: Var) -> bool {
        let entry = self.b.func.layout.entry_block();
        let start = self.var(buffer);
        let block = match self.b.func.dfg.value_def(start) {
            ValueDef::Result(inst, _) => self.b.func.layout.inst_block(inst),
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Union(..) => None,
        };
        block.is_some() && block == entry
    }

    /// The tables. Goes on at the first place if the row is in order, else at the second.
    fn tables(&mut self, rank: &Rank, (ordered, not): (Block, Block)) -> Value {
        let tables = self.aligned_slot(TABLES);
        let state =
            self.b
                .create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3));
        let entry = self
            .b
            .func
            .layout
            .entry_block()
            .expect("a function has a first block");
        let mut start = FuncCursor::new(self.b.func).at_first_insertion_point(entry);
        let place = start.ins().stack_addr(types::I64, state, 0);
        let nothing = start.ins().iconst(types::I64, 0);
        start.ins().store(plain(), nothing, place, 0);
        let place = self.b.ins().stack_addr(types::I64, state, 0);
        let [known, unknown] = [(); 2].map(|()| self.b.create_block());
        for block in [known, unknown, not] {
            self.b.set_cold_block(block);
        }
        let state = self.b.ins().load(types::I64, plain(), place, 0);
        let is_ordered = self.b.ins().icmp_imm_s(IntCC::Equal, state, ORDERED);
        self.b.ins().brif(is_ordered, ordered, &[], known, &[]);
        self.b.switch_to_block(known);
        self.b.ins().brif(state, not, &[], unknown, &[]);
        self.b.switch_to_block(unknown);
        let is_ordered = self.fill_tables(rank, tables);
        let [yes, no] = [ORDERED, UNORDERED].map(|n| self.i64(n));
        let state = self.b.ins().select(is_ordered, yes, no);
        self.b.ins().store(plain(), state, place, 0);
        self.b.ins().brif(is_ordered, ordered, &[], not, &[]);
        tables
    }

    /// Puts a row into tables, beginning with what compares. Whether it is in order.
    fn fill_tables(&mut self, rank: &Rank, tables: Value) -> Value {
        let (ty, size) = (clif(rank.elem), rank.elem.bytes() as i64);
        let row = self.var(rank.row);
        let [zero, last] = [0, rank.length - 1].map(|n| self.i64(n));
        let one = self.b.ins().iconst(types::I8, 1);
        let orders = self.few((zero, last), &[one, one], |emit, j, orders| {
            let place = emit.element(row, rank.elem, j);
            let element = emit.b.ins().load(ty, plain(), place, 0);
            let next = emit.b.ins().load(ty, plain(), place, size as i32);
            let kinds = [FloatCC::LessThanOrEqual, FloatCC::GreaterThanOrEqual];
            let orders = kinds.into_iter().zip(orders).map(|(kind, order)| {
                let holds = emit.b.ins().fcmp(kind, element, next);
                emit.b.ins().band(*order, holds)
            });
            orders.collect()
        });
        // What is less than all that compare comes first, or what is greater.
        let is_less = matches!(rank.how, FloatCC::LessThan | FloatCC::LessThanOrEqual);
        let from_first = orders[usize::from(is_less)];
        let end = self.b.ins().iadd_imm_s(row, (rank.length - 1) * size);
        let mut place = self.b.ins().select(from_first, row, end);
        let [up, down] = [size, -size].map(|n| self.i64(n));
        let step = self.b.ins().select(from_first, up, down);
        let none = match size {
            4 => self.b.ins().f32const(f32::NAN),
            _ => self.b.ins().f64const(f64::NAN),
        };
        for k in 0..(1 << rank.levels()) - 1 {
            let element = match k < rank.length {
                true => self.b.ins().load(ty, plain(), place, 0),
                false => none,
            };
            self.b.ins().store(plain(), element, tables, rank.place(k));
            place = self.b.ins().iadd(place, step);
        }
        self.b.ins().bor(orders[0], orders[1])
    }

    /// How many numbers compare with each lane's own, found in the tables.
    fn by_halves(&mut self, group: &mut Group<'_>, rank: &Rank, tables: Value) -> Vec<Value> {
        let size = rank.elem.bytes();
        let whole = match size {
            4 => ScalarType::I32,
            _ => ScalarType::I64,
        };
        let lanes = vector(whole);
        let middle = self.b.ins().load(clif(rank.elem), plain(), tables, 0);
        let middle = self.b.ins().splat(vector(rank.elem), middle);
        let inside: Vec<u8> = (0..16).map(|i| i % size as u8).collect();
        let inside = self.lanes_of(lanes, &inside);
        let owns = self.packed(group, Atom::Var(rank.own));
        let mut among = vec![inside; owns.len()];
        let mut ranks = vec![self.lanes_of(lanes, &[0; 16]); owns.len()];
        let mut last = Vec::new();
        for level in 0..rank.levels() {
            let mut probes = vec![middle; owns.len()];
            if level > 0 {
                probes = self.probes((tables, level), &among, (rank.elem, &last));
            }
            let compare = |(own, probe): (&Value, Value)| self.b.ins().fcmp(rank.how, *own, probe);
            last = owns.iter().zip(probes).map(compare).collect();
            // Where an element is among those of the next level, in bytes, and how many are before it.
            let next = self.lanes_of(types::I8X16, &[(size << level) as u8; 16]);
            let next = self.b.ins().bitcast(lanes, RAW, next);
            let before: Vec<u8> =
                (1i64 << (rank.levels() - 1 - level)).to_le_bytes()[..size].to_vec();
            let before = self.lanes_of(lanes, &before.repeat(16 / size));
            for (sums, more) in [(&mut among, next), (&mut ranks, before)] {
                let greater = sums.iter().map(|sum| self.b.ins().iadd(*sum, more));
                let greater: Vec<_> = greater.collect();
                *sums = self.blended(&last, &greater, sums);
            }
        }
        match rank.ty.bytes() == size {
            true => ranks,
            false => self.converted(ranks, (whole, rank.ty), PARTS),
        }
    }

    /// What lanes compare with next. Which of two registers has that is what was found last.
    fn probes(
        &mut self,
        (tables, level): (Value, u32),
        among: &[Value],
        (elem, last): (ScalarType, &[Value]),
    ) -> Vec<Value> {
        let find = |emit: &mut Self, register: i32| -> Vec<Value> {
            let offset = REGISTER * (level as i32 + register);
            let table = emit.b.ins().load(types::I16X8, plain(), tables, offset);
            let found = among.iter().map(|among| {
                // Marks what Cranelift has not: see `wide`.
                let bytes = emit.b.ins().bitcast(types::I16X8, RAW, *among);
                let found = emit.b.ins().sadd_sat(bytes, table);
                emit.b.ins().bitcast(vector(elem), RAW, found)
            });
            found.collect()
        };
        let low = find(self, 0);
        if elem.bytes() << level <= REGISTER as usize {
            return low;
        }
        let high = find(self, 1);
        self.blended(last, &high, &low)
    }
}
