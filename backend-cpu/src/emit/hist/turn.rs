//! Histograms that sum rows of few floats into few buckets: a row is a vector of which a table has one for each bucket that a row may begin at, and
//! rows go to four tables in turn. So buckets are loaded and stored once for a row, and neighbours with the same ones wait less for each other.
//!
//! ```text
//!                                              for each fourth row i:
//! for each row i: for each column j < 3:         table0[c[i]] += (x[i, 0], x[i, 1], x[i, 2], 0)
//!   bucket[c[i] + j] += x[i, j]          ──►     table1[c[i + 1]] += (x[i + 1, 0], x[i + 1, 1], x[i + 1, 2], 0)
//!                                              for each b, for each column j < 3:
//!                                                bucket[b + j] += table0[b][j]; bucket[b + j] += table1[b][j]
//! ```
//!
//! Sums are rounded in parts, then, which is for many rows only, of pieces that have copies of their own: these depend on sizes and cost alone, and vectors
//! have 128 bits wherever they are.

use super::rows::{Row, SHORT, Target};
use super::soon::Soon;
use super::tables::sums;
use crate::emit::divided::Divided;
use crate::emit::lanes::vector;
use crate::emit::library::RAW;
use crate::emit::{Emit, clif, plain};
use crate::wide::PART;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{Inst, InstBuilder, InstructionData, Opcode, Type, Value, types};
use midend::fired::fired;
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::types::ScalarType;
use std::ops::Range;

/// How many tables there are.
const TABLES: i64 = 4;
/// The bytes of a table: all are on the stack, and in the nearest cache with others.
const TABLE: i64 = 2 << 10;
/// From table to table, of which no two have the same bucket in places whose addresses end alike: what is stored in one is taken for what is loaded
/// from the other then.
const NEXT: i64 = TABLE + 5 * 64;
/// The fewest rows, and for each bucket that they may begin at, so that making and merging tables pays.
const ROWS: i64 = 1 << 10;
const EACH: i64 = 8;
/// Bytes of a vector.
const VECTOR: i64 = 16;

/// Sums of floats in tables.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    elem: ScalarType,
    /// Whether sums may be rounded in parts: not zero, then.
    parts: Value,
    /// Where the tables lie.
    room: Value,
}

/// The type of what is summed, if rows may go to tables.
pub(super) fn summed(kernel: &Kernel, hist: &MemHist) -> Option<ScalarType> {
    let floats = [ScalarType::F32, ScalarType::F64];
    let elem = sums(&hist.op).filter(|ty| floats.contains(ty))?;
    // What steady kernels round does not depend on which points they have together.
    (hist.dests.len() == 1 && !kernel.steady).then_some(elem)
}

impl Emit<'_, '_> {
    /// Room for tables.
    pub(super) fn room_of_tables(&mut self, (elem, parts): (ScalarType, Value)) -> Turn {
        // Addresses in the frame have no marks.
        let room = self.stack_slot((TABLES * NEXT + VECTOR) as u32);
        let room = self.b.ins().iadd_imm_s(room, VECTOR - 1);
        let room = self.b.ins().band_imm_s(room, -VECTOR);
        Turn { elem, parts, room }
    }

    /// Sums a range of rows of a known length in tables, where these are few enough and the rows many: the first that is left.
    pub(super) fn rows_in_turn(
        &mut self,
        (row, rows, known): (&Row, &Divided, i64),
        ((first, last), soon): ((Value, Value), Option<&Soon>),
        (turn, target): (Turn, Target<'_>),
        alone: &impl Fn(&mut Self, (Value, Value)),
    ) -> Value {
        fired("cpu/histogram-rows-in-turn");
        let [few, many, done] = [(); 3].map(|()| self.b.create_block());
        let left = self.params(done, &[types::I64])[0];
        let of_table = VECTOR * vectors(turn.elem, known);
        // Where rows may begin.
        let starts = self.b.ins().iadd_imm_s(target.limits.count, 1 - known);
        let less = IntCC::UnsignedLessThan;
        let are_few = self.b.ins().icmp_imm_u(less, starts, TABLE / of_table);
        let none = self.i64(0);
        // Where copies are not made, how many threads there are may decide on the way, of which nothing must show.
        let most = self.b.ins().select(are_few, turn.parts, none);
        let are_few = self.b.ins().icmp_imm_s(IntCC::NotEqual, most, 0);
        self.b.ins().brif(are_few, few, &[], done, &[first.into()]);
        self.b.switch_to_block(few);
        let count = self.b.ins().isub(last, first);
        let are_many = IntCC::SignedGreaterThanOrEqual;
        let enough = self.b.ins().imul_imm_s(starts, EACH);
        let least = self.i64(ROWS);
        let enough = self.b.ins().smax(enough, least);
        let are_many = self.b.ins().icmp(are_many, count, enough);
        self.b
            .ins()
            .brif(are_many, many, &[], done, &[first.into()]);
        self.b.switch_to_block(many);

        let zero = self.i64(0);
        // Nothing changes when this is added.
        let nothing = match turn.elem.bytes() {
            4 => self.b.ins().f32const(Ieee32::with_float(-0.0)),
            _ => self.b.ins().f64const(Ieee64::with_float(-0.0)),
        };
        let mark = self.part_mark();
        let nothing = self.b.ins().splat(vector(turn.elem), nothing);
        self.few((zero, starts), &[], |emit, bucket, _| {
            let start = emit.entry(turn, of_table, bucket);
            for offset in (0..TABLES * NEXT).step_by(NEXT as usize) {
                for part in (0..of_table).step_by(VECTOR as usize) {
                    let at = mark + (offset + part) as i32;
                    emit.b.ins().store(plain(), nothing, start, at);
                }
            }
            vec![]
        });

        let covered = self.b.ins().band_imm_s(count, -TABLES);
        let end = self.b.ins().iadd(first, covered);
        let turns = |emit: &mut Self, i: Value, _: &[Value]| {
            for table in 0..TABLES {
                let i = emit.b.ins().iadd_imm_s(i, table);
                emit.bind(rows.row, i);
                let zero = emit.i64(0);
                let columns = ((zero, emit.atom(rows.length)), zero);
                emit.checked_columns((row, rows), columns, target, alone, |emit, bucket| {
                    let bucket = (bucket, known);
                    emit.add_row((row, rows), bucket, turn, table * NEXT);
                });
            }
            vec![]
        };
        if let Some(soon) = soon {
            let point = |emit: &mut Self, i: Value| emit.first_of_row(rows, i);
            self.loaded_before(soon, (first, end), point, |emit, range| {
                emit.few_by(TABLES, range, &[], turns);
            });
        } else {
            let range = (ScalarType::I64, (first, end));
            self.range_by(TABLES, range, SHORT / TABLES, &[], turns);
        }

        let ty = clif(turn.elem);
        self.few((zero, starts), &[], |emit, bucket, _| {
            let start = emit.entry(turn, of_table, bucket);
            for (table, column) in (0..TABLES).flat_map(|t| (0..known).map(move |j| (t, j))) {
                let index = emit.b.ins().iadd_imm_s(bucket, column);
                let at = table * NEXT + column * turn.elem.bytes() as i64;
                emit.update(target.hist, index, target.places, |emit| {
                    vec![emit.b.ins().load(ty, plain(), start, at as i32)]
                });
            }
            vec![]
        });
        self.b.ins().jump(done, &[end.into()]);
        self.b.switch_to_block(done);
        left
    }

    /// Adds the columns of a row to what a table has for its first bucket.
    fn add_row(
        &mut self,
        (row, rows): (&Row, &Divided),
        (bucket, known): (Value, i64),
        turn: Turn,
        offset: i64,
    ) {
        let of_table = VECTOR * vectors(turn.elem, known);
        let start = self.entry(turn, of_table, bucket);
        let mark = self.part_mark();
        let ty = vector(turn.elem);
        let lanes = VECTOR / turn.elem.bytes() as i64;
        let at = |part: i64| mark + (offset + VECTOR * part) as i32;
        let mut sums = Vec::new();
        for part in 0..vectors(turn.elem, known) {
            // Of another type, so that it has an instruction of its own: sums of what is in memory have no marks.
            let old = self.b.ins().load(types::I8X16, plain(), start, at(part));
            let old = self.b.ins().bitcast(ty, RAW, old);
            let columns = part * lanes..known.min((part + 1) * lanes);
            let new = self.columns_in_vector((row, rows), columns, ty);
            sums.push(self.b.ins().fadd(old, new));
        }
        for (part, sum) in (0..).zip(sums) {
            self.b.ins().store(plain(), sum, start, at(part));
        }
    }

    /// The values of a few columns of a row in a vector.
    fn columns_in_vector(
        &mut self,
        (row, rows): (&Row, &Divided),
        columns: Range<i64>,
        ty: Type,
    ) -> Value {
        // The first is loaded last, so that what makes a vector of it may load it.
        let mut values = Vec::new();
        for column in columns.rev() {
            let (column, zero) = (self.i64(column), self.i64(0));
            self.column(rows, column, zero);
            for stm in &row.point {
                self.stm(stm);
            }
            values.extend(self.atoms(&row.values));
        }
        values.reverse();
        let pairs = match row.beside && ty == types::F32X4 {
            true => self.in_pairs(&values).unwrap_or_default(),
            false => Vec::new(),
        };
        if pairs.is_empty() {
            return self.in_vector(ty, &values, 1);
        }
        let all = self.in_vector(types::F64X2, &pairs, 1);
        let mut all = self.b.ins().bitcast(ty, RAW, all);
        for (lane, value) in values.iter().enumerate().skip(2 * pairs.len()) {
            all = self.b.ins().insertlane(all, *value, lane as u8);
        }
        all
    }

    /// Elements that lie side by side, two at a time as numbers of twice as many bits, but for the last of an odd number; nothing if they were not
    /// just loaded.
    fn in_pairs(&mut self, values: &[Value]) -> Option<Vec<Value>> {
        let dfg = &self.b.func.dfg;
        let loads = values.iter().map(|v| dfg.value_def(*v).inst());
        let loads = loads.collect::<Option<Vec<Inst>>>()?;
        let place = |inst: &Inst| {
            let InstructionData::Load {
                opcode: Opcode::Load,
                arg,
                offset,
                ..
            } = dfg.insts[*inst]
            else {
                return None;
            };
            Some((arg, offset))
        };
        let places = loads.iter().map(place).collect::<Option<Vec<_>>>()?;
        let pairs = places.chunks_exact(2).map(|two| two[0]);
        let pairs: Vec<_> = pairs.collect();
        // Nobody else has them.
        for load in &loads[..2 * pairs.len()] {
            self.b.func.layout.remove_inst(*load);
        }
        let pairs = pairs.into_iter().rev();
        let mut pairs: Vec<Value> = pairs
            .map(|(start, offset)| self.b.ins().load(types::F64, plain(), start, offset))
            .collect();
        pairs.reverse();
        Some(pairs)
    }

    /// Where the first table has what belongs to a bucket.
    fn entry(&mut self, turn: Turn, of_table: i64, bucket: Value) -> Value {
        let shift = i64::from(of_table.trailing_zeros());
        let ahead = self.b.ins().ishl_imm_u(bucket, shift);
        self.b.ins().iadd(turn.room, ahead)
    }

    /// What marks loads and stores of one part.
    const fn part_mark(&self) -> i32 {
        if self.parts == 1 { 0 } else { PART }
    }
}

/// How many vectors a row of so many columns has.
fn vectors(elem: ScalarType, columns: i64) -> i64 {
    (columns * elem.bytes() as i64 + VECTOR - 1) / VECTOR
}
