//! Filters. A scan of the flags gives each element that is kept its place; they are written there.
//!
//! ```text
//! map (\xs -> filter p xs) xss
//! ──►
//! places, flags = segscan (i < n, j < m) { p xss[i, j] } (+)
//! counts = segmap (i < n) { places[i, m - 1] }           offs = concat [0] (scan (+) counts)
//! segscatter (i < n, j < m) { if flags[i, j] then offs[i] + places[i, j] - 1 else -1, xss[i, j] }
//! ```

use super::context::Axis;
use super::inner::Traversal;
use super::{Cx, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::ScatterDest;
use crate::ir::syntax::{Body, Exp, Stm};
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
