//! Flat maps: rows of any lengths, one after another.
//!
//! ```text
//! flat_map n (xs) \(x) { let row: [k]t = .. yield k, row }
//! ──►
//! ks   = segmap (i < n) { k }              offs = concat [0] (scan (+) ks)
//! data = segmap (i < n, j in offs) { row[j] }
//! ```
//!
//! A flat map inside of a map is one over all points: what it binds at one of them are parts of that, offsets and total being
//! differences of offsets.
//!
//! Where many points can write a row, the body is distributed and its rows, which are ragged arrays then, only need to be
//! seen as one dimension. A row that sequential code makes, which keeps it to itself, is made twice: for its length,
//! and, when all lengths are known, for its elements, which its point writes to their places. Twice the work in parallel, where a
//! vector that grows, which the sequential version inside of a kernel is, would be made by one thread.

use super::context::{Axis, Def, Point};
use super::distribute::{Frame, Wanted};
use super::inner::Traversal;
use super::label::Labeller;
use super::ragged::FlatRows;
use super::{Cx, bin, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{Accumulation, Soac, UpdateAcc};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam, Stm};
use crate::ir::types::{AccType, ScalarType, Size, Type};

/// What a flat map binds: the offsets, their number and the total; the rows; and the other arrays.
#[derive(Clone, Copy)]
struct Binds<'b> {
    marks: Size,
    offsets: Var,
    total: Var,
    rows: &'b [Var],
    mapped: &'b [Var],
}

impl<'b> Binds<'b> {
    fn of(binds: &'b [Var], rows: usize, marks: Size) -> Self {
        let (rows, mapped) = binds[2..].split_at(rows);
        Self {
            marks,
            offsets: binds[0],
            total: binds[1],
            rows,
            mapped,
        }
    }
}

impl Cx<'_> {
    /// A flat map of host code.
    pub(super) fn par_flat_map(
        &mut self,
        t: Traversal<'_>,
        (rows, marks): (usize, Size),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let binds = Binds::of(binds, rows, self.size(marks));
        let facts = self.facts();
        let labels = Labeller::label_rows(&self.vars, self.source, &self.worth, facts, t.lam);
        self.begin_nest(labels);
        self.sums_as_they_are(t.lam, rows);
        let inner = self.inside(&[], t, out);
        let axis = if self.leaves_whole(t.lam) {
            fired("flatten/flat-map-in-two-passes");
            self.two_passes(&inner, t, binds, out)
        } else {
            fired("flatten/flat-map");
            let data = self.rows_of_body(&inner, t, binds, out);
            self.host_rows(&inner, &data, binds, out);
            data.axis
        };
        self.host_offsets(axis, binds, out);
        let Axis::Ragged(offsets) = axis else { return };
        let known = FlatRows {
            offsets,
            count: self.size(t.width),
        };
        self.marks.insert(binds.offsets, (known, 0));
        let results = &t.lam.body.result;
        for (&bind, &atom) in binds.mapped.iter().zip(&results[1 + rows..]) {
            if atom == results[0] {
                self.row_offsets.insert(bind, known);
            }
        }
    }

    /// Where no rows are made of the lengths, nothing is of a negative size: who goes by the offsets looks at the lengths before.
    fn sums_as_they_are(&mut self, lam: &Lambda<Soac>, rows: usize) {
        if let ([Atom::Var(length)], 0) = (&lam.body.result[..], rows) {
            self.as_they_are.insert(*length);
        }
    }

    /// Distributes the body of a flat map; its results over all points inside.
    fn rows_of_body(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        binds: Binds<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Made {
        let result = &t.lam.body.result;
        let mut host = vec![false; result.len()];
        host[0] = true;
        let wanted = Wanted::Any {
            host: &host,
            own: &[],
        };
        let made = self.distribute(inner.to_vec(), &t.lam.body, wanted, out);
        let length = Size::of(result[0]);
        let axis = self.axis(length, inner, out);
        let mut arrays = Vec::new();
        for &(atom, own) in &made[1..] {
            let Atom::Var(array) = atom else { continue };
            arrays.push(match own {
                true => array,
                false => {
                    let ty = self.vars[array].ty.clone();
                    self.array(out, "own", ty, ArrayOp::Copy(array))
                }
            });
        }
        let mapped = arrays.split_off(binds.rows.len());
        Made {
            axis,
            rows: arrays,
            mapped,
        }
    }

    /// Binds what was made for all elements of host code.
    fn host_rows(
        &mut self,
        inner: &[Axis],
        made: &Made,
        binds: Binds<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        self.bind_total(inner, made.axis, binds, out);
        for (&bind, &rows) in binds.rows.iter().zip(&made.rows) {
            self.join_rows(bind, rows, inner.len(), Size::Var(binds.total), out);
        }
        for (&bind, &array) in binds.mapped.iter().zip(&made.mapped) {
            self.bind_mapped(bind, array, out);
        }
    }

    fn bind_total(
        &mut self,
        inner: &[Axis],
        axis: Axis,
        binds: Binds<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let mut whole = inner.to_vec();
        whole.push(axis);
        let total = self.points(&whole, out);
        if matches!(axis, Axis::Regular(_) | Axis::Chosen { .. }) {
            self.check_points(&whole, out);
        }
        self.push(out, vec![binds.total], Exp::Atom(total));
    }

    /// Binds an array over dimensions and the rows inside of them, these seen as one dimension of `total` rows.
    fn join_rows(
        &mut self,
        bind: Var,
        rows: Var,
        outer: usize,
        total: Size,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let array = self.flat_to(total, rows, outer + 1, out);
        let shape = self.vars[bind].ty.shape().to_vec();
        let op = ArrayOp::Reshape { shape, array };
        self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
    }

    /// Binds the offsets of a flat map of host code.
    fn host_offsets(&mut self, axis: Axis, binds: Binds<'_>, out: &mut Vec<Stm<Seg>>) {
        let op = match axis {
            Axis::Ragged(array) => {
                // Their number is what the source calls it.
                let shape = vec![binds.marks.into()];
                let ty = Type::array_of(&Type::I64, &[binds.marks]);
                let same = ArrayOp::Reshape { shape, array };
                // Whoever reads the rows goes by the vector itself, so that others must not write to it.
                if self.kept.contains(&binds.offsets) {
                    fired("flatten/offsets-kept");
                    same
                } else {
                    ArrayOp::Copy(self.array(out, "offs", ty, same))
                }
            }
            Axis::Regular(step) | Axis::Chosen { count: step, .. } => ArrayOp::Iota {
                len: binds.marks,
                start: int(0),
                step: step.into(),
                ty: ScalarType::I64,
            },
        };
        self.push(out, vec![binds.offsets], Exp::Op(Seg::Array(op)));
    }

    /// Makes the rows twice: for their lengths, and for their elements.
    fn two_passes(
        &mut self,
        inner: &[Axis],
        t: Traversal<'_>,
        binds: Binds<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Axis {
        let further = 1 + binds.rows.len();
        let length = t.lam.body.result[0];
        let (point, results) = self.leaf(inner, t);
        let mut values = results[further..].to_vec();
        let mut bound = binds.mapped.to_vec();
        let of_body = |v: &Var| t.lam.binds((*v).into());
        // A length that the host knows is not stored for each point.
        if let Some(length) = length.as_var().filter(of_body) {
            values.push(results[0]);
            let ty = self.type_over(&Type::I64, inner, out);
            let array = self.fresh("lengths", ty);
            bound.push(array);
            let depth = inner.len();
            self.env.insert(length, Def::Stored { array, depth });
        }
        self.kernel(point, values, SegKind::Map, bound, out);
        let axis = self.axis(Size::of(length), inner, out);
        self.bind_total(inner, axis, binds, out);
        if binds.rows.is_empty() {
            return axis;
        }
        let mut dests = Vec::new();
        for &bind in binds.rows {
            dests.push(self.scratch(bind, out));
        }
        let (mut point, results) = self.leaf(inner, t);
        let row = self.row(&mut point, inner);
        let start = self.step(&mut point, row, axis);
        let token = self.fresh("token", Type::Cert);
        let mut params = Vec::new();
        for (part, &dest) in dests.iter().enumerate() {
            if let Some(ty) = acc_type(token, part, &self.vars[dest].ty) {
                params.push(self.fresh("acc", ty));
            }
        }
        let result = self.write_row(&mut point, &params, start, &results[..further]);
        let acc = Accumulation {
            token,
            params,
            dests,
            op: None,
        };
        self.kernel(
            point,
            result,
            SegKind::WithAcc(acc),
            binds.rows.to_vec(),
            out,
        );
        axis
    }

    /// A loop that writes the elements of rows to where accumulators have their places from `start` on.
    fn write_row(
        &mut self,
        point: &mut Point,
        accs: &[Var],
        start: Atom,
        results: &[Atom],
    ) -> Vec<Atom> {
        let again = |cx: &mut Self| -> Vec<Var> {
            let fresh = accs.iter().map(|&acc| {
                let ty = cx.vars[acc].ty.clone();
                cx.fresh("acc", ty)
            });
            fresh.collect()
        };
        let (params, next, bound) = (again(self), again(self), again(self));
        let index = self.fresh("j", Type::I64);
        let mut stms = Vec::new();
        let at = self.scalar(&mut stms, "at", bin(BinOp::Add), vec![start, index.into()]);
        let mut values = Vec::new();
        for row in results[1..].iter().filter_map(|row| row.as_var()) {
            values.extend(self.element(&mut stms, row, index));
        }
        let update = UpdateAcc {
            accs: params.clone(),
            index: at,
            values,
        };
        self.push(&mut stms, next.clone(), Exp::Op(Seg::UpdateAcc(update)));
        let loop_params = params.into_iter().zip(accs);
        let exp = Exp::Loop {
            params: loop_params
                .map(|(var, &acc)| LoopParam {
                    var,
                    init: acc.into(),
                })
                .collect(),
            form: LoopForm::For {
                index,
                bound: results[0],
            },
            body: Body {
                stms,
                result: next.into_iter().map(Atom::Var).collect(),
            },
        };
        self.push(&mut point.stms, bound.clone(), exp);
        bound.into_iter().map(Atom::Var).collect()
    }

    /// A flat map in a context: offsets, totals and rows at each point, as ragged arrays.
    pub(super) fn flat_map_in(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        stm: &Stm<Soac>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Exp::Op(Soac::FlatMap {
            width,
            arrays,
            lam,
            rows,
            marks,
        }) = &stm.exp
        else {
            return;
        };
        fired("flatten/flat-map-in-map");
        self.sums_as_they_are(lam, *rows);
        self.prove(f, &stm.certs, out);
        self.checks_before_extents(f, i, stm, out);
        let t = Traversal {
            width: *width,
            arrays,
            lam,
            certs: &[],
        };
        let context = f.context.clone();
        let binds = Binds::of(&stm.binds, *rows, *marks);
        let inner = self.inside(&context, t, out);
        let made = self.rows_of_body(&inner, t, binds, out);
        // How many rows of rows there are before those of a point, and after them.
        let mut point = self.point(&context);
        let (first, last) = self.ends(&mut point, (&context, &inner), (t.width, made.axis));
        let total = self.scalar(&mut point.stms, "total", bin(BinOp::Sub), vec![last, first]);
        let total = match made.axis {
            Axis::Regular(_) | Axis::Chosen { .. } => total,
            // Behind a sum of lengths that has overflowed, all is too much.
            Axis::Ragged(_) => {
                let (lt, most) = (ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64), int(i64::MAX));
                let fits = self.scalar(&mut point.stms, "fits", lt, vec![last, most]);
                let select = ScalarOp::Select(ScalarType::I64);
                self.scalar(&mut point.stms, "total", select, vec![fits, total, most])
            }
        };
        let totals = self.stored(binds.total, &context, out);
        self.kernel(point, vec![total], SegKind::Map, vec![totals], out);
        let offsets = self.stored(binds.offsets, &context, out);
        f.made(offsets);
        let over = self.around(&context, offsets);
        let mut point = self.point(&over);
        let at = point.all().last().copied().unwrap_or(Atom::ZERO);
        let base = self.base(&mut point, &context, inner[context.len()]);
        let first = self.step(&mut point, base, made.axis);
        let here = self.scalar(&mut point.stms, "row", bin(BinOp::Add), vec![base, at]);
        let here = self.step(&mut point, here, made.axis);
        let here = self.scalar(&mut point.stms, "off", bin(BinOp::Sub), vec![here, first]);
        self.kernel(point, vec![here], SegKind::Map, vec![offsets], out);
        for (&bind, &rows) in binds.rows.iter().zip(&made.rows) {
            let array = self.stored(bind, &context, out);
            f.made(array);
            self.reshape_from(array, rows, super::context::space(&inner).len() + 1, out);
        }
        for (&bind, &values) in binds.mapped.iter().zip(&made.mapped) {
            let array = self.stored(bind, &context, out);
            f.made(array);
            self.bind_mapped(array, values, out);
        }
    }

    /// Binds an array, whose rows may be told apart by sizes where those that were made have offsets.
    fn bind_mapped(&mut self, bind: Var, made: Var, out: &mut Vec<Stm<Seg>>) {
        if self.vars[bind].ty == self.vars[made].ty {
            self.push(out, vec![bind], Exp::Atom(made.into()));
        } else {
            self.reshape_into(bind, made, out);
        }
    }

    /// The number of the first element at a point, among those of all points.
    fn base(&mut self, point: &mut Point, context: &[Axis], elements: Axis) -> Atom {
        let row = self.row(point, context);
        self.step(point, row, elements)
    }

    /// Where the rows of a point begin and end, among those of all points.
    fn ends(
        &mut self,
        point: &mut Point,
        (context, inner): (&[Axis], &[Axis]),
        (width, axis): (Size, Axis),
    ) -> (Atom, Atom) {
        let base = self.base(point, context, inner[context.len()]);
        let width = self.need_atom(point, width.into());
        let end = self.scalar(&mut point.stms, "row", bin(BinOp::Add), vec![base, width]);
        let first = self.step(point, base, axis);
        let last = self.step(point, end, axis);
        (first, last)
    }

    /// Binds an array over a context with the elements of one that has `outer` dimensions where it has the context and one more.
    fn reshape_from(&mut self, bind: Var, rows: Var, outer: usize, out: &mut Vec<Stm<Seg>>) {
        let (_, array) = self.flat(rows, outer, out);
        let shape = self.vars[bind].ty.shape().to_vec();
        let op = ArrayOp::Reshape { shape, array };
        self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
    }
}

/// What became of the body of a flat map.
struct Made {
    /// The dimension of the rows.
    axis: Axis,
    rows: Vec<Var>,
    mapped: Vec<Var>,
}

/// The type of the accumulator of a destination.
fn acc_type(token: Var, part: usize, dest: &Type) -> Option<Type> {
    match dest {
        Type::Array(array) => Some(Type::Acc(AccType {
            token,
            part,
            array: array.clone(),
        })),
        Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
    }
}
