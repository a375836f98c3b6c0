//! Filters. A scan of the flags gives each element that is kept its place; they are written there.
//!
//! ```text
//! map (\xs -> filter p xs) xss
//! ──►
//! places, flags = segscan (i < n, j < m) { p xss[i, j] } (+)
//! counts = segmap (i < n) { places[i, m - 1] }           offs = concat [0] (scan (+) counts)
//! segscatter (i < n, j < m) { if flags[i, j] then offs[i] + places[i, j] - 1 else -1, xss[i, j] }
//! ```
//!
//! On the host, where little is to be done for each element, that is done again when its place is known:
//!
//! ```text
//! filter p xs  ──►  segfilter (i < n) { p xs[i], xs[i] }
//! ```

use super::context::Axis;
use super::inner::Traversal;
use super::{Cx, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SpaceDim};
use crate::ir::soac::{ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// What is known of the elements of a filter.
struct Flagged {
    /// For each element, how many are kept up to it, and whether it is.
    places: Var,
    flags: Var,
    /// The values that are not inputs.
    values: Vec<Option<Var>>,
}

impl Cx<'_> {
    /// A filter in a context: the number of elements at each point, and ragged arrays of them.
    pub(super) fn filter_in(
        &mut self,
        context: &[Axis],
        t: Traversal<'_>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Some((&count, kept)) = binds.split_first() else {
            return;
        };
        fired("flatten/filter");
        let inner = self.inside(context, t, out);
        let flagged = self.flagged(&inner, t, out);
        let counts = self.stored(count, context, out);
        self.last_of_rows(context, t.width, flagged.places, counts, out);
        if kept.is_empty() {
            return;
        }
        let axis = self.axis(Size::Var(count), context, out);
        let mut whole = context.to_vec();
        whole.push(axis);
        let total = Size::of(self.points(&whole, out));
        let mut dests = Vec::new();
        for &bind in kept {
            let row = self.vars[bind].ty.peel(1).unwrap_or(Type::I64);
            let ty = Type::array_of(&self.ty(&row), &[total]);
            let elem = ty.elem().unwrap_or(ScalarType::I64);
            let shape = ty.shape().to_vec();
            dests.push(self.array(out, "kept", ty, ArrayOp::Scratch { elem, shape }));
        }
        let (mut point, values) = self.elements(&inner, &[flagged.flags, flagged.places]);
        let row = self.row(&mut point, context);
        let start = self.step(&mut point, row, axis);
        let stms = &mut point.stms;
        let bin = |op| ScalarOp::Bin(op, ScalarType::I64);
        let place = self.scalar(stms, "place", bin(BinOp::Add), vec![start, values[1]]);
        let place = self.scalar(stms, "place", bin(BinOp::Sub), vec![place, int(1)]);
        let select = ScalarOp::Select(ScalarType::I64);
        let place = self.scalar(stms, "place", select, vec![values[0], place, int(-1)]);
        let mut result = vec![place; kept.len()];
        for (&atom, value) in t.lam.body.result[1..].iter().zip(&flagged.values) {
            result.push(match value {
                Some(array) => {
                    let indices = point.all();
                    self.element_at(*array, &indices, &mut point)
                }
                None => self.need_atom(&mut point, atom),
            });
        }
        let scatter = |&array: &Var| ScatterDest { rank: 1, array };
        let kind = SegKind::Scatter(dests.iter().map(scatter).collect());
        let mut flat = Vec::new();
        for &dest in &dests {
            let ty = self.vars[dest].ty.clone();
            flat.push(self.fresh("kept", ty));
        }
        self.kernel(point, result, kind, flat.clone(), out);
        for (&bind, array) in kept.iter().zip(flat) {
            let bind = self.stored(bind, context, out);
            let shape = self.vars[bind].ty.shape().to_vec();
            let op = ArrayOp::Reshape { shape, array };
            self.push(out, vec![bind], Exp::Op(Seg::Array(op)));
        }
    }

    /// A filter of the host: at once if it keeps scalars and little is to be done for each; else a scan of the flags gives each
    /// element that is kept its place, and they are written there.
    pub(super) fn par_filter(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let Some((&count, kept)) = binds.split_first() else {
            return;
        };
        let width = self.size(width);
        let (index, mut body) = self.traverse((arrays, lam));
        let mut values = lam.body.result[1..].iter();
        let scalars = values.all(|a| matches!(a.ty(&self.vars), Type::Scalar(_)));
        if scalars && is_cheap(&lam.body) {
            fired("flatten/filter-at-once");
            let space = vec![(index, SpaceDim::Regular(width))];
            return self.seg(space, body, SegKind::Filter, binds.to_vec(), out);
        }
        fired("flatten/filter-of-host");
        let flag = body.result[0];
        let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
        let one = self.scalar(&mut body.stms, "one", one, vec![flag]);
        let places = self.fresh("places", Type::array_of(&Type::I64, &[width]));
        let flags = self.fresh("flags", Type::array_of(&Type::BOOL, &[width]));
        let mut bound = vec![places, flags];
        let mut results = vec![one, flag];
        let mut sources = Vec::new();
        for (k, &bind) in kept.iter().enumerate() {
            // An element that is kept as it was is read from the input again.
            let param = lam
                .params
                .iter()
                .position(|&p| lam.body.result[k + 1] == Atom::Var(p));
            sources.push(match param {
                Some(p) => self.var(arrays[p]),
                None => {
                    let row = self.vars[bind].ty.peel(1).unwrap_or(Type::I64);
                    let values = self.fresh("values", Type::array_of(&row, &[width]));
                    bound.push(values);
                    results.push(body.result[k + 1]);
                    values
                }
            });
        }
        body.result = results;
        let sum = self.sum();
        self.seg(
            vec![(index, SpaceDim::Regular(width))],
            body,
            SegKind::Scan(vec![sum]),
            bound,
            out,
        );
        self.last_or_zero(places, width, count, out);
        self.compact(width, (places, flags), &sources, kept, out);
    }

    /// Writes the flagged elements of the sources to their places, counted from 1.
    fn compact(
        &mut self,
        width: Size,
        (places, flags): (Var, Var),
        sources: &[Var],
        kept: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        if kept.is_empty() {
            return;
        }
        let mut dests = Vec::new();
        for &bind in kept {
            let ty = self.vars[bind].ty.clone();
            let elem = ty.elem().unwrap_or(ScalarType::I64);
            let shape = ty.shape().to_vec();
            let array = self.array(out, "kept", ty, ArrayOp::Scratch { elem, shape });
            dests.push(ScatterDest { rank: 1, array });
        }
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let element = |cx: &mut Self, stms: &mut Vec<Stm<Seg>>, array| {
            cx.element(stms, array, index)
                .unwrap_or(Atom::Const(Const::Bool(false)))
        };
        let flag = element(self, &mut stms, flags);
        let place = element(self, &mut stms, places);
        let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
        let place = self.scalar(&mut stms, "place", sub, vec![place, int(1)]);
        let select = ScalarOp::Select(ScalarType::I64);
        let place = self.scalar(&mut stms, "place", select, vec![flag, place, int(-1)]);
        let mut result = vec![place; kept.len()];
        for &source in sources {
            result.push(element(self, &mut stms, source));
        }
        self.seg(
            vec![(index, SpaceDim::Regular(width))],
            Body { stms, result },
            SegKind::Scatter(dests),
            kept.to_vec(),
            out,
        );
    }

    /// A scan of the flags.
    fn flagged(&mut self, inner: &[Axis], t: Traversal<'_>, out: &mut Vec<Stm<Seg>>) -> Flagged {
        let (mut point, results) = self.leaf(inner, t);
        let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
        let one = self.scalar(&mut point.stms, "one", one, vec![results[0]]);
        let over = |cx: &mut Self, ty: &Type, out: &mut Vec<Stm<Seg>>| cx.type_over(ty, inner, out);
        let places = over(self, &Type::I64, out);
        let places = self.fresh("places", places);
        let flags = over(self, &Type::BOOL, out);
        let flags = self.fresh("flags", flags);
        let mut bound = vec![places, flags];
        let mut kept = vec![one, results[0]];
        let mut values = Vec::new();
        for (&atom, &result) in t.lam.body.result[1..].iter().zip(&results[1..]) {
            // An element that is kept as it was is read from the input again.
            let input = atom.as_var().is_none_or(|v| t.lam.params.contains(&v));
            values.push((!input).then(|| {
                let ty = over(self, &atom.ty(&self.vars), out);
                let array = self.fresh("values", ty);
                bound.push(array);
                kept.push(result);
                array
            }));
        }
        let sum = self.sum();
        self.kernel(point, kept, SegKind::Scan(vec![sum]), bound, out);
        Flagged {
            places,
            flags,
            values,
        }
    }

    /// Binds the last element of each row, 0 of an empty one.
    fn last_of_rows(
        &mut self,
        context: &[Axis],
        width: Size,
        rows: Var,
        bind: Var,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let mut point = self.point(context);
        let width = self.need_atom(&mut point, width.into());
        let le = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let cond = self.scalar(&mut point.stms, "empty", le, vec![width, int(0)]);
        let then = Body {
            stms: Vec::new(),
            result: vec![int(0)],
        };
        let mut stms = Vec::new();
        let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
        let mut indices = point.all();
        indices.push(self.scalar(&mut stms, "last", sub, vec![width, int(1)]));
        let array = rows;
        let last = self.array(
            &mut stms,
            "count",
            Type::I64,
            ArrayOp::Index { array, indices },
        );
        let otherwise = Body {
            stms,
            result: vec![last.into()],
        };
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        let count = self.emit(&mut point.stms, "count", Type::I64, exp);
        self.kernel(point, vec![count.into()], SegKind::Map, vec![bind], out);
    }
}

/// Whether code does little and has no effects, so that it may be executed again.
fn is_cheap(body: &Body<Soac>) -> bool {
    body.stms.iter().all(|stm| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } => true,
        Exp::If {
            then, otherwise, ..
        } => is_cheap(then) && is_cheap(otherwise),
        Exp::Op(Soac::Array(ArrayOp::Index { .. })) => true,
        Exp::Op(_) | Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => false,
    })
}
