//! Stepping through spaces with ragged dimensions. What is outside of the innermost dimension makes *rows*, numbered
//! row-major; a piece of such a space is the rows from the one it begins in to the one it ends in, and the points of
//! these from a first to a last. Nothing is searched for but the outer indices of the first row.

use super::{Emit, block_args, fixed};
use crate::calls::SEARCH_OFFSETS;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Extent;
use midend::ir::types::ScalarType;

/// Rows between two looks at the stop flag. A piece has so few points that this is often enough.
const STRIP: i64 = 256;

/// A piece of a space.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The row that the piece begins in, and the row that it does not finish any more.
    pub(super) rows: (Value, Value),
    /// The first point, and one past the last, as numbers of points in the whole space.
    pub(super) points: (Value, Value),
}

/// One row, or as much of it as is in a piece.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Its number.
    pub(super) number: Value,
    /// The range of the innermost index.
    pub(super) range: (Value, Value),
    /// The number of its first point; with the innermost index added, the number of a point.
    pub(super) base: Value,
    /// The same of the next row.
    base_of_next: Value,
    /// Whether it is seen here that all of it is in the piece.
    pub(super) is_whole: bool,
}

/// The extent of a dimension as values.
#[derive(Clone, Copy)]
enum Bound {
    Regular(Value),
    Ragged { offsets: Value, start: Var },
}

/// A piece as parameters of a unit.
pub(super) fn piece(p: &[Value]) -> Piece {
    Piece {
        rows: (p[0], p[1]),
        points: (p[2], p[3]),
    }
}

impl Emit<'_, '_> {
    /// Executes `body` for every row of a piece. The outer indices are bound, and where the row starts.
    pub(super) fn piece_rows(
        &mut self,
        space: &[(Var, Extent)],
        piece: Piece,
        body: impl FnOnce(&mut Self, Row),
    ) {
        let ((_, inner), outer) = space.split_last().expect("a ragged space has dimensions");
        let inner = self.bound(inner);
        let end = self.end_of_rows(inner, piece);
        self.walk(outer, (piece.rows.0, end), STRIP, |emit, number| {
            let row = emit.part_of_row(inner, number, piece.points);
            body(emit, row);
        });
    }

    /// The same, where little is done for a point: only the first row and the last one may be parts of rows, and those between, for
    /// which `body` is emitted a second time, do not look what of them is in the piece.
    pub(super) fn piece_rows_apart(
        &mut self,
        space: &[(Var, Extent)],
        piece: Piece,
        mut body: impl FnMut(&mut Self, Row),
    ) {
        let [(index, _), (_, inner)] = space else {
            return self.piece_rows(space, piece, body);
        };
        let inner = self.bound(inner);
        let end = self.end_of_rows(inner, piece);
        let [part, between, whole, again, look, left, exit] =
            [(); 7].map(|()| self.b.create_block());
        let less = IntCC::SignedLessThan;
        let any = self.b.ins().icmp(less, piece.rows.0, end);
        let first = block_args([piece.rows.0]);
        self.b.ins().brif(any, part, &first, exit, &[]);

        let number = self.params(part, &[types::I64])[0];
        self.b.switch_to_block(part);
        self.bind(*index, number);
        let row = self.part_of_row(inner, number, piece.points);
        body(self, row);
        let next = self.b.ins().iadd_imm_s(number, 1);
        let more = self.b.ins().icmp(less, next, end);
        self.b.ins().brif(more, between, &[], exit, &[]);
        self.b.switch_to_block(between);
        let is_whole = self.b.ins().icmp(less, next, piece.rows.1);
        let (start, following) = (row.base_of_next, block_args([next]));
        let state = block_args([next, start]);
        self.b.ins().brif(is_whole, whole, &state, part, &following);

        let state = self.params(whole, &[types::I64; 2]);
        let (number, base) = (state[0], state[1]);
        self.b.switch_to_block(whole);
        self.bind(*index, number);
        let next = self.b.ins().iadd_imm_s(number, 1);
        let past = self.row_start(inner, next);
        if let Bound::Ragged { start, .. } = inner {
            self.bind(start, base);
        }
        let range = (self.i64(0), self.b.ins().isub(past, base));
        let row = Row {
            number,
            range,
            base,
            base_of_next: past,
            is_whole: true,
        };
        body(self, row);
        let more = self.b.ins().icmp(less, next, piece.rows.1);
        self.b.ins().brif(more, again, &[], left, &[]);
        self.b.switch_to_block(again);
        let rest = self.b.ins().band_imm_s(next, STRIP - 1);
        let state = block_args([next, past]);
        self.b.ins().brif(rest, whole, &state, look, &[]);
        self.b.switch_to_block(look);
        self.poll();
        self.b.ins().jump(whole, &state);
        self.b.switch_to_block(left);
        let more = self.b.ins().icmp(less, next, end);
        let following = block_args([next]);
        self.b.ins().brif(more, part, &following, exit, &[]);
        self.b.switch_to_block(exit);
    }

    /// One past the last row of which points are in a piece.
    fn end_of_rows(&mut self, inner: Bound, piece: Piece) -> Value {
        let begins = self.row_start(inner, piece.rows.1);
        let less = IntCC::SignedLessThan;
        let begun = self.b.ins().icmp(less, begins, piece.points.1);
        let begun = self.b.ins().uextend(types::I64, begun);
        self.b.ins().iadd(piece.rows.1, begun)
    }

    /// As much of a row as is in a range of points. Where the row starts is bound.
    fn part_of_row(&mut self, inner: Bound, number: Value, (lo, hi): (Value, Value)) -> Row {
        let base = self.row_start(inner, number);
        let next = self.b.ins().iadd_imm_s(number, 1);
        let past = self.row_start(inner, next);
        let from_start = self.b.ins().icmp(IntCC::SignedLessThan, lo, base);
        let first = self.b.ins().select(from_start, base, lo);
        let to_end = self.b.ins().icmp(IntCC::SignedLessThan, past, hi);
        let last = self.b.ins().select(to_end, past, hi);
        let range = (
            self.b.ins().isub(first, base),
            self.b.ins().isub(last, base),
        );
        if let Bound::Ragged { start, .. } = inner {
            self.bind(start, base);
        }
        Row {
            number,
            range,
            base,
            base_of_next: past,
            is_whole: false,
        }
    }

    /// Executes `body` for the points of a piece, in order; it gets their numbers. The indices are bound.
    pub(super) fn piece_points(
        &mut self,
        space: &[(Var, Extent)],
        piece: Piece,
        strip: i64,
        body: impl FnOnce(&mut Self, Value),
    ) {
        let (index, _) = *space.last().expect("a ragged space has dimensions");
        self.piece_rows(space, piece, |emit, row| {
            emit.range(ScalarType::I64, row.range, strip, &[], |emit, i, _| {
                emit.bind(index, i);
                let number = emit.b.ins().iadd(row.base, i);
                body(emit, number);
                vec![]
            });
        });
    }

    /// Executes `body` for every point of a range of a space, given by their numbers, in order. The indices are bound.
    pub(super) fn walk(
        &mut self,
        space: &[(Var, Extent)],
        (lo, hi): (Value, Value),
        strip: i64,
        body: impl FnOnce(&mut Self, Value),
    ) {
        if let Some(extents) = self.extents(space) {
            return self.points(&extents, (lo, hi), strip, body);
        }
        let bounds: Vec<Bound> = space.iter().map(|(_, extent)| self.bound(extent)).collect();
        let [begin, header, next, exit] = [(); 4].map(|()| self.b.create_block());
        let any = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b.ins().brif(any, begin, &[], exit, &[]);
        self.b.switch_to_block(begin);
        let first = self.outer_positions(&bounds, lo);
        self.b.ins().jump(header, &block_args(first));

        // The state: the position of the point among those of the outer dimensions up to each.
        let at = self.params(header, &vec![types::I64; space.len()]);
        self.b.switch_to_block(header);
        self.bind_indices(space, &bounds, &at);
        let number = at[at.len() - 1];
        body(self, number);
        let following = self.b.ins().iadd_imm_s(number, 1);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, following, hi);
        self.b.ins().brif(more, next, &[], exit, &[]);

        self.b.switch_to_block(next);
        self.poll();
        let mut stepped = vec![following];
        for (k, bound) in bounds.iter().enumerate().skip(1).rev() {
            let inner = stepped[stepped.len() - 1];
            let outer = self.stepped(*bound, at[k - 1], inner);
            stepped.push(outer);
        }
        stepped.reverse();
        self.b.ins().jump(header, &block_args(stepped));
        self.b.switch_to_block(exit);
    }

    /// The row of which the point `inner` is, where the point before was in row `row`. There may be empty rows between.
    fn stepped(&mut self, bound: Bound, row: Value, inner: Value) -> Value {
        let [header, done] = [(); 2].map(|()| self.b.create_block());
        self.b.ins().jump(header, &block_args([row]));
        let row = self.params(header, &[types::I64])[0];
        self.b.switch_to_block(header);
        let following = self.b.ins().iadd_imm_s(row, 1);
        let past = self.row_start(bound, following);
        let beyond = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, past, inner);
        let again = block_args([following]);
        self.b.ins().brif(beyond, header, &again, done, &[]);
        self.b.switch_to_block(done);
        row
    }

    /// Binds the indices of a point of which the positions up to each dimension are known.
    fn bind_indices(&mut self, space: &[(Var, Extent)], bounds: &[Bound], at: &[Value]) {
        self.bind(space[0].0, at[0]);
        for (k, bound) in bounds.iter().enumerate().skip(1) {
            let base = self.row_start(*bound, at[k - 1]);
            if let Bound::Ragged { start, .. } = bound {
                self.bind(*start, base);
            }
            let index = self.b.ins().isub(at[k], base);
            self.bind(space[k].0, index);
        }
    }

    /// The positions up to each dimension of the point with this number.
    fn outer_positions(&mut self, bounds: &[Bound], number: Value) -> Vec<Value> {
        let mut counts = vec![self.i64(1)];
        for bound in bounds {
            let count = self.row_start(*bound, counts[counts.len() - 1]);
            counts.push(count);
        }
        let mut at = vec![number];
        for (k, bound) in bounds.iter().enumerate().skip(1).rev() {
            let inner = at[at.len() - 1];
            at.push(match *bound {
                Bound::Regular(n) => self.b.ins().udiv(inner, n),
                Bound::Ragged { offsets, .. } => self
                    .helper(&SEARCH_OFFSETS, &[offsets, counts[k], inner])
                    .expect("the search has a result"),
            });
        }
        at.reverse();
        at
    }

    fn bound(&mut self, extent: &Extent) -> Bound {
        match *extent {
            Extent::Regular(n) => Bound::Regular(self.atom(n)),
            Extent::Ragged { offsets, start } => Bound::Ragged {
                offsets: self.var(offsets),
                start,
            },
        }
    }

    /// The number of the first point of a row; of the row behind the last, how many points there are.
    fn row_start(&mut self, bound: Bound, row: Value) -> Value {
        match bound {
            Bound::Regular(n) => self.b.ins().imul(row, n),
            Bound::Ragged { offsets, .. } => {
                let place = self.element(offsets, ScalarType::I64, row);
                self.b.ins().load(types::I64, fixed(), place, 0)
            }
        }
    }
}

/// Called by compiled code: the row of `count` rows that the point with a number is in.
///
/// # Safety
/// There are `count + 1` offsets, the first zero, none less than the one before, the last more than the number.
pub(crate) unsafe extern "C" fn search_offsets(offsets: *const i64, count: i64, point: i64) -> i64 {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: promised by the caller.
    let offsets = unsafe { std::slice::from_raw_parts(offsets, count + 1) };
    offsets.partition_point(|&start| start <= point) as i64 - 1
}
