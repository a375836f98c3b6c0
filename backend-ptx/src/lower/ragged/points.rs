//! Code for the points of a tile, whose rows are known.

use super::tile::{ONE, ROW, Rows, ZERO};
use crate::lower::{Lower, THREADS, together};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::syntax::Exp;
use midend::ir::types::ScalarType;

/// A point of a tile: its number, its row, and where that row starts.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) number: Reg,
    row: Reg,
    start: Reg,
}

impl Lower<'_> {
    /// What is known of a point of the tile.
    pub(super) fn point(&mut self, rows: &Rows, number: Reg) -> Point {
        let known = self.load_word(rows.known, number);
        let row = self.b.bin(Binary::Shr, Ty::U32, known, ROW);
        let start = self
            .b
            .bin(Binary::And, Ty::B32, known, Operand::Imm(0xffff));
        Point { number, row, start }
    }

    /// The item that a point is.
    pub(super) fn item_of(&mut self, point: &Point) -> Reg {
        self.b.bin(Binary::Add, Ty::U32, point.number, point.row)
    }

    /// Binds the indices of a point.
    pub(super) fn bind_point(&mut self, kernel: &Kernel, rows: &Rows, point: &Point) {
        let Some(((inner, extent), outer)) = kernel.space.split_last() else {
            return;
        };
        let [row, start, number] =
            [point.row, point.start, point.number].map(|small| self.wide(small));
        let row = self.b.bin(Binary::Add, Ty::U64, rows.first_row, row);
        self.indices(outer, row);
        let later = self.b.bin(Binary::Add, Ty::U64, rows.first_point, start);
        let is_first = self.b.cmp(Cmp::Eq, Ty::U32, point.row, ZERO);
        let from = self.b.select(Ty::B64, is_first, rows.start, later);
        let number = self.b.bin(Binary::Add, Ty::U64, rows.first_point, number);
        let index = self.b.bin(Binary::Sub, Ty::U64, number, from);
        match extent {
            Extent::Ragged { start, .. } => self.bind_scalar(*start, from),
            Extent::Regular(_) => {}
        }
        self.bind_scalar(*inner, index);
    }

    /// Code for all points: as long as each thread has so many, for these together, then for one at a time.
    pub(super) fn whole_rounds(&mut self, rows: &Rows, each: u32, f: impl Fn(&mut Self, &[Point])) {
        let tid = self.b.special(Special::Tid);
        let first = self.b.mov(Ty::B32, ZERO);
        if each > 1 {
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            let size = Operand::Imm((THREADS * each).into());
            self.b.begin(head);
            let after = self.b.bin(Binary::Add, Ty::U32, first, size);
            let is_whole = self.b.cmp(Cmp::Le, Ty::U32, after, rows.points);
            self.b.branch(is_whole, inside, exit, true);
            self.b.begin(inside);
            let mine = self.b.bin(Binary::Add, Ty::U32, first, tid);
            let all = (0..each).map(|k| {
                let ahead = Operand::Imm((k * THREADS).into());
                let number = self.b.bin(Binary::Add, Ty::U32, mine, ahead);
                self.point(rows, number)
            });
            let all: Vec<Point> = all.collect();
            f(self, &all);
            self.b.set(Ty::B32, first, after);
            self.b.jump(head);
            self.b.begin(exit);
        }
        let mine = self.b.bin(Binary::Add, Ty::U32, first, tid);
        let range = (
            mine.into(),
            rows.points.into(),
            Operand::Imm(THREADS.into()),
        );
        self.count(Ty::U32, range, false, |lower, number| {
            let point = lower.point(rows, number);
            f(lower, &[point]);
        });
    }

    /// The results of the body at points of a thread.
    fn results(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        rows: &Rows,
        points: &[Point],
    ) -> Vec<Vec<Operand>> {
        let all: Vec<ScalarType> = points.iter().flat_map(|_| types).copied().collect();
        let values = self.protected(&all, |lower| match points {
            [point] => {
                lower.bind_point(kernel, rows, point);
                lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body))
            }
            several => lower.at_points(kernel, rows, several).concat(),
        });
        let tuples = values.chunks(types.len());
        tuples
            .map(|tuple| tuple.iter().map(|r| Operand::Reg(*r)).collect())
            .collect()
    }

    /// The results of the body at several points, its statements interleaved.
    pub(super) fn at_points(
        &mut self,
        kernel: &Kernel,
        rows: &Rows,
        points: &[Point],
    ) -> Vec<Vec<Operand>> {
        let numbers: Vec<Reg> = points.iter().map(|point| point.number).collect();
        self.together(kernel, &numbers, None, |lower, number| {
            if let Some(point) = points.iter().find(|point| point.number == number) {
                lower.bind_point(kernel, rows, point);
            }
        })
    }

    /// The results of the body at every point; `f` gets the point and the results.
    pub(super) fn each_point(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        rows: &Rows,
        f: impl Fn(&mut Self, &Point, Vec<Operand>),
    ) {
        let each = together::points_of(self.program, &kernel.body);
        let each = each.map_or(1, |each| each.min(rows.tile.items));
        if each == 1 || stores(kernel) {
            return self.whole_rounds(rows, each, |lower, points| {
                let results = lower.results(kernel, types, rows, points);
                for (point, values) in points.iter().zip(results) {
                    f(lower, point, values);
                }
            });
        }
        // Threads that have no point any more look at the last one, so that there is one way for all of them.
        let tid = self.b.special(Special::Tid);
        let last = self.b.bin(Binary::Sub, Ty::U32, rows.points, ONE);
        let step = Operand::Imm((THREADS * each).into());
        let range = (ZERO, rows.points.into(), step);
        self.count(Ty::U32, range, true, |lower, first| {
            let mine = lower.b.bin(Binary::Add, Ty::U32, first, tid);
            let (mut points, mut exist) = (Vec::new(), Vec::new());
            for k in 0..each {
                let ahead = Operand::Imm((k * THREADS).into());
                let number = lower.b.bin(Binary::Add, Ty::U32, mine, ahead);
                exist.push(lower.b.cmp(Cmp::Lt, Ty::U32, number, rows.points));
                let number = lower.b.bin(Binary::Min, Ty::U32, number, last);
                points.push(lower.point(rows, number));
            }
            let results = lower.results(kernel, types, rows, &points);
            for ((exists, point), values) in exist.iter().zip(&points).zip(results) {
                lower.when(*exists, |lower| f(lower, point, values));
            }
            lower.b.inst(Inst::WarpSync { mask: FULL });
        });
    }

    /// The results of the body into the slots of points; then comes a barrier.
    pub(super) fn fill_slots(&mut self, kernel: &Kernel, types: &[ScalarType], rows: &Rows) {
        self.each_point(kernel, types, rows, |lower, point, values| {
            let item = lower.item_of(point);
            lower.store_item(types, &rows.tile, item, &values);
        });
        self.b.inst(Inst::Barrier);
    }

    /// The tuple in the slot of a point.
    pub(super) fn load_slot(
        &mut self,
        types: &[ScalarType],
        rows: &Rows,
        point: &Point,
    ) -> Vec<Operand> {
        let item = self.item_of(point);
        self.load_item(types, &rows.tile, item)
    }
}

/// Whether the body of a kernel stores, so that it is executed once for a point.
fn stores(kernel: &Kernel) -> bool {
    let mut stores = false;
    midend::analysis::kernels::statements(&kernel.body, &mut |stm| {
        stores |= matches!(&stm.exp, Exp::Op(Mem::Store { .. } | Mem::Copy { .. }));
    });
    stores
}
