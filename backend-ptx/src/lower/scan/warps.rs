//! Scans of short rows: a warp for each, which takes 32 neighbours at a time and carries on what they come to.
//!
//! ```text
//! row     x0 .. x31     x32 .. x63
//! lanes   scan          scan
//! carry   ∅ ──────────► + ──────────► ..
//! ```

use super::super::reduce::{Fold, Keeps};
use super::super::tuple::Ops;
use super::super::{Entry, Lower, Shape, Source, components, entry, together};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Kernel;
use midend::ir::types::ScalarType;

/// The most elements that a lane has under way at a time.
const ELEMENTS: u32 = 4;

/// A row of a warp.
struct Row<'a> {
    ops: Ops<'a>,
    outs: &'a [Var],
    keeps: Keeps<'a>,
    /// The number of its first element among those of all rows.
    start: Reg,
    /// What comes before the elements at hand.
    carry: Vec<Reg>,
}

/// A warp per segment. The parameters are the number of segments and the elements of each.
pub(in super::super) fn warps(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
    keeps: Keeps<'_>,
) -> Entry {
    let shape = Shape::of(kernel, args, "warps", 2);
    let program = source.program;
    let types = components(program, ops);
    // What is scanned comes first among the results of the body; what else there is, is handed on with it.
    let all: Vec<ScalarType> = match keeps {
        Keeps::Total | Keeps::Prefixes => types.clone(),
        Keeps::Then(then) => {
            let elem = |v: &Var| program.vars[*v].ty.elem();
            then.params.iter().filter_map(elem).collect()
        }
    };
    let each = together::points(program, kernel).map(|n| n.min(ELEMENTS));
    let each = each.filter(|n| *n > 1 && together::are_short(program, ops, *n));
    entry(source, &shape, |lower, extras| {
        let [segments, inner] = [extras[0], extras[1]];
        let (thread, threads) = lower.thread();
        let shift = Operand::Imm(5);
        let [warp, warps] = [thread, threads].map(|n| lower.b.bin(Binary::Shr, Ty::U64, n, shift));
        let lane = lower.b.special(Special::Lane);
        let lane = lower.wide(lane);
        let range = (warp.into(), segments.into(), warps.into());
        lower.count(Ty::U64, range, true, |lower, segment| {
            lower.outer_indices(kernel, segment);
            let row = Row {
                ops: (ops, &types),
                outs,
                keeps,
                start: lower.b.bin(Binary::Mul, Ty::U64, segment, inner),
                carry: lower.start(ops, &types),
            };
            let first = lower.b.mov(Ty::B64, Operand::Imm(0));
            if let Some(each) = each {
                let tile = Operand::Imm(u64::from(32 * each));
                let (head, inside, exit) = (lower.b.block(), lower.b.block(), lower.b.block());
                lower.b.begin(head);
                let after = lower.b.bin(Binary::Add, Ty::U64, first, tile);
                let is_whole = lower.b.cmp(Cmp::Le, Ty::U64, after, inner);
                lower.b.branch(is_whole, inside, exit, true);
                lower.b.begin(inside);
                let element = lower.b.bin(Binary::Add, Ty::U64, first, lane);
                let elements = lower.strided(element, 32, each);
                let tuples = lower.elements(kernel, &all, &elements, None);
                for (element, values) in elements.iter().zip(tuples) {
                    lower.scan_lanes_of_row(kernel, &row, (*element, None), &values);
                }
                lower.b.bin_to(first, Binary::Add, Ty::U64, first, tile);
                lower.b.jump(head);
                lower.b.begin(exit);
            }
            let range = (first.into(), inner.into(), Operand::Imm(32));
            lower.count(Ty::U64, range, true, |lower, first| {
                let element = lower.b.bin(Binary::Add, Ty::U64, first, lane);
                let exists = lower.b.cmp(Cmp::Lt, Ty::U64, element, inner);
                let zeros = all.iter().map(|ty| lower.fresh(*ty, Operand::Imm(0)));
                let values: Vec<Reg> = zeros.collect();
                lower.when(exists, |lower| {
                    let found = lower.element(kernel, &all, element);
                    for ((reg, ty), value) in values.iter().zip(&all).zip(found) {
                        lower.assign(*ty, *reg, value);
                    }
                });
                let values: Vec<Operand> = values.into_iter().map(Operand::Reg).collect();
                lower.scan_lanes_of_row(kernel, &row, (element, Some(exists)), &values);
            });
        });
    })
}

impl Lower<'_> {
    /// Scans the elements that the lanes of a warp have, hands on what those up to each come to, and carries on what all come
    /// to. Lanes may have no element only behind those that have one.
    fn scan_lanes_of_row(
        &mut self,
        kernel: &Kernel,
        row: &Row<'_>,
        (element, exists): (Reg, Option<Reg>),
        values: &[Operand],
    ) {
        let (ops, types) = row.ops;
        let (values, rest) = values.split_at(types.len());
        let both = values.iter().zip(types);
        let sums: Vec<Reg> = both.map(|(value, ty)| self.fresh(*ty, *value)).collect();
        let before = |lower: &mut Self, left: &[Operand]| {
            let right: Vec<Operand> = sums.iter().map(|r| Operand::Reg(*r)).collect();
            let new = lower.combined(ops, types, left, &right);
            for ((reg, ty), value) in sums.iter().zip(types).zip(new) {
                lower.assign(*ty, *reg, value.into());
            }
        };
        let if_exists = |lower: &mut Self, f: &mut dyn FnMut(&mut Self)| match exists {
            Some(exists) => lower.when(exists, |lower| f(lower)),
            None => f(lower),
        };
        self.over_lanes((Shuffle::Up, 0), row.ops, &sums, |lower, others| {
            if_exists(lower, &mut |lower| before(lower, &others));
        });
        let carry: Vec<Operand> = row.carry.iter().map(|r| Operand::Reg(*r)).collect();
        if_exists(self, &mut |lower| before(lower, &carry));
        if_exists(self, &mut |lower| match row.keeps {
            Keeps::Total => {}
            Keeps::Prefixes => {
                let point = lower.b.bin(Binary::Add, Ty::U64, row.start, element);
                lower.store_tuple(row.outs, types, point, &sums);
            }
            Keeps::Then(then) => {
                lower.bind_element(kernel, element);
                let sums = sums.iter().map(|r| Operand::Reg(*r));
                lower.then(then, sums.chain(rest.iter().copied()));
            }
        });
        self.b.inst(Inst::WarpSync { mask: FULL });
        for ((reg, carry), ty) in sums.iter().zip(&row.carry).zip(types) {
            let (last, _) = self.other_lane(Shuffle::Index, *ty, *reg, Operand::Imm(31), 31);
            self.assign(*ty, *carry, last);
        }
    }
}
