//! Operators at the top level of host code as device-level operations.

use super::context::Axis;
use super::inner::Traversal;
use super::label::{Facts, Labeller, Labels, is_reduction_of_rows};
use super::rows::map_of_rows;
use super::{Cx, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopParam, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// The number of pieces that a reduction of arrays is cut into, at most.
const PIECES: i64 = 64;

impl Cx<'_> {
    /// The operator as a parallel operation, or a loop where there is no good one yet.
    pub(super) fn par_soac(&mut self, soac: &Soac, binds: &[Var], out: &mut Vec<Stm<Seg>>) {
        match soac {
            Soac::Array(op) => {
                let exp = Exp::Op(Seg::Array(self.array_op(op)));
                self.push(out, binds.to_vec(), exp);
            }
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                if !scans.iter().chain(reds).all(|op| self.is_scalar(op)) {
                    self.par_rows(*width, (arrays, lam), (scans, reds), binds, out);
                } else {
                    self.par_nest(soac, lam, binds, out);
                }
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                if ops.iter().all(|op| self.is_scalar(&op.op)) {
                    self.par_nest(soac, lam, binds, out);
                } else if self.is_hist_of_elements(lam, ops) {
                    self.hist_of_elements(*width, (arrays, lam), &ops[0], binds, out);
                } else {
                    fired("flatten/sequential-histogram");
                    self.seq_hist(*width, (arrays, lam), ops, binds, out);
                }
            }
            Soac::Scatter { lam, .. } => self.par_nest(soac, lam, binds, out),
            Soac::Filter { width, arrays, lam } => {
                self.par_filter(*width, (arrays, lam), binds, out);
            }
            Soac::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks,
            } => {
                let t = Traversal {
                    width: *width,
                    arrays,
                    lam,
                    certs: &[],
                };
                self.par_flat_map(t, (*rows, *marks), binds, out);
            }
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => self.accumulate((*width, arrays, lam), acc, binds, out),
            Soac::UpdateAcc(update) => self.update_acc(update, binds, out),
        }
    }

    /// One device-level operation over a space.
    pub(super) fn seg(
        &self,
        dims: Vec<(Var, SpaceDim)>,
        body: Body<Seg>,
        kind: SegKind,
        binds: Vec<Var>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let op = SegOp {
            space: SegSpace { dims },
            level: Level::Device,
            tiled: 0,
            steady: false,
            body,
            kind,
        };
        self.push(out, binds, Exp::Op(Seg::Par(op)));
    }

    /// The body of a one-dimensional space that applies the lambda to the elements at its index.
    pub(super) fn traverse(&mut self, traversal: (&[Var], &Lambda<Soac>)) -> (Var, Body<Seg>) {
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let result = self.apply_at(traversal, index, &mut stms);
        (index, Body { stms, result })
    }

    /// An operator as a nest of its own.
    fn par_nest(
        &mut self,
        soac: &Soac,
        lam: &Lambda<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        self.label_nest(lam);
        let mut dests = Vec::new();
        soac.consumed(&mut |v| dests.push(v));
        let dests = self.all_vars(&dests);
        self.operator_in(&[], (soac, &[]), &dests, binds, out);
    }

    /// Labels what is inside of an operator.
    pub(super) fn label_nest(&mut self, lam: &Lambda<Soac>) {
        let facts = self.facts();
        let labels = Labeller::label(&self.vars, self.source, &self.worth, facts, lam);
        self.begin_nest(labels);
    }

    /// What labels may be made of.
    pub(super) fn facts(&self) -> Facts<'_> {
        match &self.facts {
            Some(facts) => Facts::Known(facts),
            None if self.without => Facts::Without,
            None => Facts::Host,
        }
    }

    /// Forgets the nest before this one.
    pub(super) fn begin_nest(&mut self, labels: Labels) {
        self.labels = labels;
        self.env.clear();
        self.made_checks.clear();
        self.forget_offsets(0);
        self.level = 0;
    }

    /// Folds with operators on arrays.
    fn par_rows(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        (scans, reds): (&[Operator<Soac>], &[Operator<Soac>]),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let traversal = (arrays, lam);
        if !(scans.is_empty() && self.is_closed_reduction(traversal, reds, binds)) {
            fired("flatten/sequential-fold-of-rows");
            return self.seq_screma(width, traversal, (scans, reds), binds, out);
        }
        let pieces = &mut |cx: &mut Self, binds: &[Var], out: &mut Vec<Stm<Seg>>| {
            cx.par_pieces(width, traversal, reds, binds, out);
        };
        let [op] = reds else {
            return pieces(self, binds, out);
        };
        if !is_reduction_of_rows(&self.vars, lam, op, binds.len()) {
            return pieces(self, binds, out);
        }
        self.label_nest(lam);
        // Columns of rows are found only if rows are of one length, and known to be.
        if self.varied_rows(lam) {
            return pieces(self, binds, out);
        }
        let rows = &mut |cx: &mut Self, binds: &[Var], out: &mut Vec<Stm<Seg>>| {
            let t = Traversal {
                width,
                arrays,
                lam,
                certs: &[],
            };
            cx.reduction_of_rows(&[], t, op, binds, out);
        };
        // The first version has no more threads than pieces, however many rows there are.
        let min = ScalarOp::Bin(BinOp::Min, ScalarType::I64);
        let args = vec![self.size(width).into(), int(PIECES)];
        let threads = self.scalar(out, "threads", min, args);
        let context: Vec<Axis> = threads.as_size().map(Axis::Regular).into_iter().collect();
        self.versions(&context, lam, binds, out, pieces, rows);
    }

    /// Whether an operator works on scalars.
    fn is_scalar(&self, op: &Operator<Soac>) -> bool {
        op.lam.params.iter().all(|&p| !self.vars[p].ty.is_array())
    }

    /// Whether there is nothing but reductions.
    fn is_closed_reduction(
        &self,
        (_, lam): (&[Var], &Lambda<Soac>),
        reds: &[Operator<Soac>],
        binds: &[Var],
    ) -> bool {
        let reduced: usize = reds.iter().map(|op| op.neutral.len()).sum();
        reduced == binds.len() && reduced == lam.body.result.len()
    }

    /// A reduction of arrays: pieces are reduced in parallel, each sequentially, and their results in order.
    fn par_pieces(
        &mut self,
        width: Size,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        reds: &[Operator<Soac>],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/reduction-in-pieces");
        let total = self.size(width);
        let bin = |op| ScalarOp::Bin(op, ScalarType::I64);
        // The length of a piece depends on the width alone, so that results are the same from run to run.
        let rounded = self.scalar(
            out,
            "n",
            bin(BinOp::Add),
            vec![total.into(), int(PIECES - 1)],
        );
        let length = self.scalar(out, "length", bin(BinOp::Div), vec![rounded, int(PIECES)]);
        let piece = self.fresh("piece", Type::I64);
        let mut stms = Vec::new();
        let start = self.scalar(
            &mut stms,
            "start",
            bin(BinOp::Mul),
            vec![piece.into(), length],
        );
        let left = self.scalar(
            &mut stms,
            "left",
            bin(BinOp::Sub),
            vec![total.into(), start],
        );
        let left = self.scalar(&mut stms, "left", bin(BinOp::Max), vec![left, int(0)]);
        let count = self.scalar(&mut stms, "count", bin(BinOp::Min), vec![left, length]);
        let Atom::Var(count) = count else { return };
        let mut slices = Vec::new();
        for &array in arrays {
            let array = self.var(array);
            let row = self.vars[array].ty.peel(1).unwrap_or(Type::I64);
            let ty = Type::array_of(&row, &[Size::Var(count)]);
            let range = crate::ir::array::SliceDim::Range {
                start,
                len: Size::Var(count),
                stride: int(1),
            };
            slices.push(self.array(
                &mut stms,
                "part",
                ty,
                ArrayOp::Slice {
                    array,
                    dims: vec![range],
                },
            ));
        }
        let mut parts = Vec::new();
        let mut partials = Vec::new();
        for &bind in binds {
            let ty = self.vars[bind].ty.clone();
            parts.push(self.fresh("part", ty.clone()));
            partials.push(self.fresh("parts", Type::array_of(&ty, &[Size::Const(PIECES)])));
        }
        self.seq_screma(
            Size::Var(count),
            (&slices, lam),
            (&[], reds),
            &parts,
            &mut stms,
        );
        let result = parts.into_iter().map(Atom::Var).collect();
        let dims = vec![(piece, SpaceDim::Regular(Size::Const(PIECES)))];
        self.seg(
            dims,
            Body { stms, result },
            SegKind::Map,
            partials.clone(),
            out,
        );
        self.combine(reds, &partials, binds, out);
    }

    /// Reduces the results of the pieces in order: element by element, in parallel, where the operator is a nest of maps, else one piece after another.
    fn combine(
        &mut self,
        reds: &[Operator<Soac>],
        partials: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let (mut rest, mut arrays, mut bound) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        for op in reds {
            let k = op.neutral.len();
            let (parts, own) = (&partials[at..at + k], &binds[at..at + k]);
            at += k;
            if !self.combined_elements(op, parts, own, out) {
                rest.push(op.clone());
                arrays.extend(parts);
                bound.extend(own);
            }
        }
        if !rest.is_empty() {
            self.combine_in_turn(&rest, &arrays, &bound, out);
        }
    }

    /// Reduces the results of the pieces element by element; false if the operator is no nest of maps.
    fn combined_elements(
        &mut self,
        op: &Operator<Soac>,
        parts: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) -> bool {
        let (&[parts], &[bind], &[Atom::Var(neutral)]) = (parts, binds, &op.neutral[..]) else {
            return false;
        };
        let Some((extents, lam)) = self.element_nest(op) else {
            return false;
        };
        fired("flatten/pieces-by-element");
        let mut dims = Vec::new();
        let mut indices: Vec<Atom> = Vec::new();
        for extent in extents {
            let index = self.fresh("j", Type::I64);
            indices.push(index.into());
            dims.push((index, SpaceDim::Regular(self.size(extent))));
        }
        let elem = Type::Scalar(self.vars[parts].ty.elem().unwrap_or(ScalarType::I64));
        let mut stms = Vec::new();
        let array = self.var(neutral);
        let first = ArrayOp::Index {
            array,
            indices: indices.clone(),
        };
        let init = self.array(&mut stms, "ne", elem.clone(), first).into();
        let var = self.fresh("acc", elem.clone());
        let piece = self.fresh("piece", Type::I64);
        let mut inner = Vec::new();
        indices.insert(0, piece.into());
        let array = parts;
        let part = ArrayOp::Index { array, indices };
        let part = self.array(&mut inner, "part", elem.clone(), part).into();
        let next = self.apply(&lam, &[var.into(), part], &mut inner);
        let sum = self.fresh("sum", elem);
        let body = Body {
            stms: inner,
            result: next,
        };
        let pieces = (piece, Size::Const(PIECES));
        let acc = vec![LoopParam { var, init }];
        self.for_loop(pieces, acc, body, vec![sum], &mut stms);
        let result = vec![sum.into()];
        let body = Body { stms, result };
        self.seg(dims, body, SegKind::Map, vec![bind], out);
        true
    }

    /// The extents of the nest of maps that an operator is, and what it does to elements.
    fn element_nest(&mut self, op: &Operator<Soac>) -> Option<(Vec<Size>, Lambda<Soac>)> {
        let mut op = op.clone();
        let mut extents = Vec::new();
        while self.vars[op.lam.params[0]].ty.is_array() {
            let (width, arrays, inner) = map_of_rows(&self.vars, &op)?;
            let sides: Option<Vec<usize>> = (arrays.iter())
                .map(|array| op.lam.params.iter().position(|p| p == array))
                .collect();
            let (sides, inner) = (sides?, inner.clone());
            let ty = self.vars[op.lam.params[0]].ty.peel(1)?;
            let params = vec![self.fresh("x", ty.clone()), self.fresh("y", ty)];
            let own = sides.iter().map(|side| Atom::Var(params[*side]));
            let mut subst = Subst::of(inner.params.iter().copied(), own);
            let body = rename::body(&mut self.vars, &mut subst, &inner.body);
            extents.push(width);
            op.lam = Lambda { params, body };
        }
        let is_nest = !extents.is_empty();
        is_nest.then_some((extents, op.lam))
    }

    /// Reduces the results of the pieces, one after another.
    fn combine_in_turn(
        &mut self,
        reds: &[Operator<Soac>],
        partials: &[Var],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let params: Vec<Var> = partials
            .iter()
            .map(|&p| self.vars[p].ty.peel(1).unwrap_or(Type::I64))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|ty| self.fresh("x", ty))
            .collect();
        let result = params.iter().map(|&p| p.into()).collect();
        let identity = Lambda {
            params,
            body: Body {
                stms: Vec::new(),
                result,
            },
        };
        self.seq_screma(
            Size::Const(PIECES),
            (partials, &identity),
            (&[], reds),
            binds,
            out,
        );
    }

    /// Addition of `i64`, of no more ones than there are elements.
    pub(super) fn sum(&mut self) -> Operator<Seg> {
        self.addition(BinOp::Add)
    }

    /// Addition of lengths of rows, saturating.
    pub(super) fn sum_of_lengths(&mut self) -> Operator<Seg> {
        self.addition(BinOp::AddSat)
    }

    fn addition(&mut self, op: BinOp) -> Operator<Seg> {
        let params = vec![self.fresh("a", Type::I64), self.fresh("b", Type::I64)];
        let args = params.iter().map(|&p| p.into()).collect();
        let mut stms = Vec::new();
        let result = vec![self.scalar(&mut stms, "sum", ScalarOp::Bin(op, ScalarType::I64), args)];
        Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![int(0)],
        }
    }

    /// Binds the last element, 0 of an empty array.
    pub(super) fn last_or_zero(
        &mut self,
        array: Var,
        width: Size,
        bind: Var,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let empty = ScalarOp::Cmp(CmpOp::Le, ScalarType::I64);
        let cond = self.scalar(out, "empty", empty, vec![width.into(), int(0)]);
        let mut stms = Vec::new();
        let sub = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
        let last = self.scalar(&mut stms, "last", sub, vec![width.into(), int(1)]);
        let index = ArrayOp::Index {
            array,
            indices: vec![last],
        };
        let value = self.array(&mut stms, "count", Type::I64, index);
        let then = Body {
            stms: Vec::new(),
            result: vec![int(0)],
        };
        let otherwise = Body {
            stms,
            result: vec![value.into()],
        };
        self.push(
            out,
            vec![bind],
            Exp::If {
                cond,
                then,
                otherwise,
            },
        );
    }
}
