//! Runs: neighbours that one thread works on together. Where they lie side by side in memory, from a multiple of their bytes on, one
//! access takes all of a run, of 16 bytes at most.
//!
//! ```text
//! x0 = load xs[i]; x1 = load xs[i + 1]; ..  ──►  if &xs[i] is a multiple of 16 { x0, x1, .. = load xs[i] } else { as before }
//! ```

use super::memory::Place;
use super::stride::Strides;
use super::{Lower, Value, together};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::syntax::{Atom, Exp, Program, Stm};
use midend::ir::types::ScalarType;
use std::collections::HashMap;

/// Bytes that one access takes at most.
pub(super) const ACCESS: u32 = 16;
/// Elements that one access takes at most.
pub(super) const TOGETHER: u32 = 4;

/// The points of a thread that are worked on together.
pub(super) struct Runs {
    /// How many points there are.
    pub(super) each: u32,
    /// How many of them are neighbours.
    pub(super) length: u32,
    strides: Strides,
    /// How many points a row has, if they do not all lie in one.
    row: Option<Atom>,
}

/// Those who share a tile of points: the number of the one that the code is for, and how many they are.
pub(super) type Workers = (Reg, u32);

/// The values of a point.
type Values = HashMap<Var, Value>;

impl Runs {
    /// The points that a thread of a kernel goes well with, if more than one. Of a `segment`, all points lie in one row.
    pub(super) fn of(program: &Program<Mem>, kernel: &Kernel, segment: bool) -> Option<Self> {
        let each = together::points(program, kernel)?;
        let strides = Strides::of(kernel);
        let widest = kernel.body.stms.iter().filter_map(|stm| {
            let (buffer, _) = neighbours(&strides, stm)?;
            program.vars[buffer].ty.elem()
        });
        let widest = widest.map(ScalarType::bytes).max();
        let length = widest.map_or(1, |bytes| TOGETHER.min(ACCESS / bytes as u32).min(each));
        let length = 1 << length.ilog2();
        let row = match kernel.space.as_slice() {
            [.., _, (_, Extent::Regular(row))] if !segment => Some(*row),
            _ => None,
        };
        Some(Self {
            each: each - each % length,
            length,
            strides,
            row,
        })
    }

    /// The same of so many neighbours at most, a power of two.
    pub(super) fn of_at_most(self, most: u32) -> Self {
        Self {
            length: self.length.min(most),
            ..self
        }
    }
}

/// The buffer and the index of a load or store of what lies side by side for neighbours.
fn neighbours(strides: &Strides, stm: &Stm<Mem>) -> Option<(Var, Atom)> {
    let Exp::Op(Mem::Load { buffer, index } | Mem::Store { buffer, index, .. }) = &stm.exp else {
        return None;
    };
    strides.is_one(*index).then_some((*buffer, *index))
}

impl Lower<'_> {
    /// Numbers from `start` to an end that workers share, tile by tile, with `turn` from a tile to the next, or side by side: as long
    /// as there are whole tiles several for each worker, then one at a time. Without runs a tile is one number for each worker.
    pub(super) fn by_tiles(
        &mut self,
        runs: Option<&Runs>,
        (start, end, turn): (Reg, Reg, Option<Reg>),
        (number, size): Workers,
        several: impl FnOnce(&mut Self, &[Reg]),
        one: impl FnOnce(&mut Self, Reg),
    ) {
        let number = self.wide(number);
        let mut first = start;
        if let Some(runs) = runs {
            let tile = Operand::Imm(u64::from(size * runs.each));
            first = self.b.mov(Ty::B64, start);
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            self.b.begin(head);
            let after = self.b.bin(Binary::Add, Ty::U64, first, tile);
            let is_whole = self.b.cmp(Cmp::Le, Ty::U64, after, end);
            self.b.branch(is_whole, inside, exit, true);
            self.b.begin(inside);
            let numbers = self.numbers(runs, first, (number, size));
            several(self, &numbers);
            let turn = turn.map_or(tile, Operand::Reg);
            self.b.bin_to(first, Binary::Add, Ty::U64, first, turn);
            self.b.jump(head);
            self.b.begin(exit);
        }
        let first = self.b.bin(Binary::Add, Ty::U64, first, number);
        let step = Operand::Imm(size.into());
        let step = turn.filter(|_| runs.is_none()).map_or(step, Operand::Reg);
        self.count(Ty::U64, (first.into(), end.into(), step), false, one);
    }

    /// The numbers of a worker in a tile that begins at `start`; its number in 64 bits.
    pub(super) fn numbers(&mut self, runs: &Runs, start: Reg, (number, size): Workers) -> Vec<Reg> {
        let length = runs.length;
        let skip = Operand::Imm(length.into());
        let first = self.b.bin(Binary::Mul, Ty::U64, number, skip);
        let first = self.b.bin(Binary::Add, Ty::U64, start, first);
        let rounds = 0..runs.each / length;
        let all = rounds.flat_map(|round| (0..length).map(move |k| round * size * length + k));
        self.distant(first, all)
    }

    /// Does a load or store at all points by accesses to whole runs, where they lie so that that can be; false if it is not one
    /// of neighbours.
    pub(super) fn access_runs(&mut self, runs: &Runs, stm: &Stm<Mem>, each: &mut [Values]) -> bool {
        let Some((buffer, index)) = neighbours(&runs.strides, stm) else {
            return false;
        };
        let is_global = |values: &Values| matches!(values.get(&buffer), Some(Value::Global(_)));
        if runs.length == 1 || !each.iter().all(is_global) {
            return false;
        }
        let elem = self.elem(buffer);
        let place = |lower: &mut Self| {
            let index = lower.atom(index);
            lower.place(lower.value(buffer), elem, index)
        };
        let places = self.at_all(each, place);
        let aligned = self.at(&mut each[0], |lower| lower.are_aligned(runs, elem, &places));
        // Rows may begin anywhere, and the threads of a warp are in several.
        let uniform = runs.row.is_none();
        let length = runs.length as usize;
        if let Exp::Op(Mem::Store { value, .. }) = stm.exp {
            let values = self.at_all(each, |lower| lower.atom(value));
            let whole = |lower: &mut Self| {
                for (places, values) in places.chunks(length).zip(values.chunks(length)) {
                    lower.store_row(elem, places[0], values);
                }
            };
            self.either(aligned, uniform, whole, |lower| {
                for (place, value) in places.iter().zip(&values) {
                    lower.store(elem, *place, *value);
                }
            });
            return true;
        }
        let found: Vec<Reg> = places
            .iter()
            .map(|_| self.fresh(elem, Operand::Imm(0)))
            .collect();
        let whole = |lower: &mut Self| {
            for (places, found) in places.chunks(length).zip(found.chunks(length)) {
                let values = lower.load_row(elem, places[0], runs.length, false);
                for (reg, value) in found.iter().zip(values) {
                    lower.assign(elem, *reg, value.into());
                }
            }
        };
        self.either(aligned, uniform, whole, |lower| {
            for (place, reg) in places.iter().zip(&found) {
                let value = lower.load(elem, *place, false);
                lower.assign(elem, *reg, value.into());
            }
        });
        for (values, reg) in each.iter_mut().zip(found) {
            values.insert(stm.binds[0], Value::Scalar(reg.into()));
        }
        true
    }

    /// What `f` yields at each point.
    fn at_all<R>(&mut self, each: &mut [Values], f: impl Fn(&mut Self) -> R) -> Vec<R> {
        each.iter_mut().map(|values| self.at(values, &f)).collect()
    }

    /// What `f` yields at a point.
    pub(super) fn at<R>(&mut self, values: &mut Values, f: impl FnOnce(&mut Self) -> R) -> R {
        std::mem::swap(&mut self.values, values);
        let result = f(self);
        std::mem::swap(&mut self.values, values);
        result
    }

    /// Whether runs begin at multiples of their bytes, and lie in one row each.
    fn are_aligned(&mut self, runs: &Runs, elem: ScalarType, places: &[Place]) -> Reg {
        // Within one row, runs are multiples of their bytes apart.
        let runs_apart = if runs.row.is_some() { places.len() } else { 1 };
        let mut bits = None;
        for place in places[..runs_apart].iter().step_by(runs.length as usize) {
            let offset = Operand::Imm(i64::from(place.at.offset) as u64);
            let address = self.b.bin(Binary::Add, Ty::U64, place.at.base, offset);
            bits = Some(match bits {
                Some(bits) => self.b.bin(Binary::Or, Ty::B64, bits, address),
                None => address,
            });
        }
        let bits = bits.expect("there are points");
        let below = |length: u32| Operand::Imm(u64::from(length - 1));
        let run = below(runs.length * elem.bytes() as u32);
        let mut rest = self.b.bin(Binary::And, Ty::B64, bits, run);
        if let Some(row) = runs.row {
            let row = self.atom(row);
            let row = self.reg(ScalarType::I64, row);
            let row = self.b.bin(Binary::And, Ty::B64, row, below(runs.length));
            rest = self.b.bin(Binary::Or, Ty::B64, rest, row);
        }
        self.b.cmp(Cmp::Eq, Ty::U64, rest, Operand::Imm(0))
    }
}
