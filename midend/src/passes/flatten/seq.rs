//! Operators as sequential loops, which write into arrays in place.

use super::elementwise::is_elementwise;
use super::sum::fused_sum;
use super::{Cx, int};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Level, Seg};
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam, Stm};
use crate::ir::types::{Dim, ScalarType, Size, Type};

impl Cx<'_> {
    /// The operator as a loop that binds `binds`.
    pub(super) fn seq_soac(&mut self, soac: &Soac, binds: &[Var], out: &mut Vec<Stm<Seg>>) {
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
                self.seq_screma(*width, (arrays, lam), (scans, reds), binds, out);
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => self.seq_hist(*width, (arrays, lam), ops, binds, out),
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                self.seq_scatter(*width, (arrays, lam), dests, binds, out);
            }
            Soac::Filter { width, arrays, lam } => {
                self.seq_filter(*width, (arrays, lam), binds, out)
            }
            Soac::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks,
            } => self.seq_flat_map(*width, (arrays, lam), (*rows, *marks), binds, out),
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => self.with_acc(Level::Thread, (*width, arrays, lam), acc, binds, out),
            Soac::UpdateAcc(update) => self.update_acc(update, binds, out),
        }
    }

    /// The lambda applied to the elements at `index`.
    pub(super) fn apply_at(
        &mut self,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        index: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let elems = self.elements_at(arrays, index, out);
        self.apply(lam, &elems, out)
    }

    /// The elements, or rows, of arrays at `index`.
    pub(super) fn elements_at(
        &mut self,
        arrays: &[Var],
        index: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let mut elems = Vec::new();
        for &array in arrays {
            let array = self.var(array);
            elems.extend(self.element(out, array, index));
        }
        elems
    }

    /// An array without values, of the type of `like`.
    pub(super) fn scratch(&mut self, like: Var, out: &mut Vec<Stm<Seg>>) -> Var {
        let ty = self.vars[like].ty.clone();
        let elem = ty.elem().unwrap_or(ScalarType::I64);
        let shape = ty.shape().to_vec();
        self.array(out, "out", ty, ArrayOp::Scratch { elem, shape })
    }

    /// Writes a row or element, giving the new array.
    pub(super) fn put(
        &mut self,
        array: Var,
        indices: &[Atom],
        value: Atom,
        out: &mut Vec<Stm<Seg>>,
    ) -> Atom {
        let ty = self.vars[array].ty.clone();
        let dims = indices.iter().map(|&i| SliceDim::Fix(i)).collect();
        Atom::Var(self.array(out, "out", ty, ArrayOp::Update { array, dims, value }))
    }

    /// `for index < width`, with the carried variables and their starts; binds `binds`.
    pub(super) fn for_loop(
        &mut self,
        (index, width): (Var, Size),
        params: Vec<LoopParam>,
        body: Body<Seg>,
        binds: Vec<Var>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        let form = LoopForm::For {
            index,
            bound: width.into(),
        };
        self.push(out, binds, Exp::Loop { params, form, body });
    }

    pub(super) fn seq_screma(
        &mut self,
        width: Size,
        (elements, lam): (&[Var], &Lambda<Soac>),
        (scans, reds): (&[Operator<Soac>], &[Operator<Soac>]),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let width = self.size(width);
        let scanned: usize = scans.iter().map(|op| op.neutral.len()).sum();
        let reduced: usize = reds.iter().map(|op| op.neutral.len()).sum();
        let fold = match scans {
            [] => self.fold_step(lam, reds),
            [_, ..] => None,
        };
        let in_fold = |n: usize| fold.as_ref().is_some_and(|fold| fold.holds[n]);
        let mut params = Vec::new();
        let mut in_place = Vec::new();
        for (n, op) in scans.iter().chain(reds).enumerate() {
            let elementwise = n >= scans.len() && is_elementwise(&op.lam) && !in_fold(n);
            in_place.push(elementwise);
            for (&p, &neutral) in op.lam.params.iter().zip(&op.neutral) {
                params.push(self.accumulator(p, neutral, elementwise, out));
            }
        }
        let arrays = [&binds[..scanned], &binds[scanned + reduced..]].concat();
        for &bind in &arrays {
            let init = self.scratch(bind, out).into();
            let var = self.fresh("out", self.vars[bind].ty.clone());
            params.push(LoopParam { var, init });
        }
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let carried: Vec<Var> = params.iter().map(|p| p.var).collect();
        let mut args = Vec::new();
        let mut at = 0;
        for (n, op) in reds.iter().enumerate().filter(|_| fold.is_some()) {
            let own = &carried[at..at + op.neutral.len()];
            args.extend(own.iter().filter(|_| in_fold(n)).map(|v| Atom::Var(*v)));
            at += op.neutral.len();
        }
        args.extend(self.elements_at(elements, index, &mut stms));
        let step = fold.as_ref().map_or(lam, |fold| &fold.lam);
        let results = self.apply(step, &args, &mut stms);
        let mut next = Vec::new();
        for (n, (op, elementwise)) in scans.iter().chain(reds).zip(in_place).enumerate() {
            let at = next.len();
            let k = op.neutral.len();
            if in_fold(n) {
                next.extend(&results[at..at + k]);
                continue;
            }
            let accs: Vec<Atom> = carried[at..at + k].iter().map(|&v| v.into()).collect();
            let args = [&accs, &results[at..at + k]].concat();
            let sum = (at >= scanned && k == 1).then(|| fused_sum(&op.lam, &args, &stms));
            if let Some((ty, fused)) = sum.flatten() {
                let sum = self.emit(&mut stms, "sum", Type::Scalar(ty), fused);
                next.push(sum.into());
                continue;
            }
            next.extend(if elementwise {
                self.apply_elementwise(&op.lam, &args, &mut stms)
            } else {
                self.apply(&op.lam, &args, &mut stms)
            });
        }
        let values = [&next[..scanned], &results[scanned + reduced..]].concat();
        for (&array, value) in carried[scanned + reduced..].iter().zip(values) {
            next.push(self.put(array, &[index.into()], value, &mut stms));
        }
        let lasts: Vec<Var> = carried[..scanned]
            .iter()
            .map(|&v| self.vars[v].ty.clone())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|ty| self.fresh("last", ty))
            .collect();
        let bound = [&lasts[..], &binds[scanned..scanned + reduced], &arrays].concat();
        self.for_loop(
            (index, width),
            params,
            Body { stms, result: next },
            bound,
            out,
        );
    }

    /// A loop parameter that starts from a neutral element, which is copied if it is going to be updated in place.
    fn accumulator(
        &mut self,
        like: Var,
        neutral: Atom,
        copied: bool,
        out: &mut Vec<Stm<Seg>>,
    ) -> LoopParam {
        let ty = self.type_of(like);
        let init = match self.atom(neutral) {
            Atom::Var(v) if copied => {
                Atom::Var(self.array(out, "acc", ty.clone(), ArrayOp::Copy(v)))
            }
            init @ (Atom::Const(_) | Atom::Var(_)) => init,
        };
        LoopParam {
            var: self.fresh("acc", ty),
            init,
        }
    }

    /// Whether all indices lie within the extents.
    pub(super) fn in_range(
        &mut self,
        indices: &[Atom],
        shape: &[Size],
        out: &mut Vec<Stm<Seg>>,
    ) -> Atom {
        let mut all: Option<Atom> = None;
        for (&index, &extent) in indices.iter().zip(shape) {
            // As unsigned numbers, negative indices are large.
            let unsign = ScalarOp::Convert(ScalarType::I64, ScalarType::U64);
            let i = self.scalar(out, "u", unsign, vec![index]);
            let n = self.scalar(out, "u", unsign, vec![extent.into()]);
            let ok = self.scalar(
                out,
                "ok",
                ScalarOp::Cmp(CmpOp::Lt, ScalarType::U64),
                vec![i, n],
            );
            all = Some(match all {
                None => ok,
                Some(all) => {
                    let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
                    self.scalar(out, "ok", and, vec![all, ok])
                }
            });
        }
        all.unwrap_or(Atom::Const(crate::ir::scalar::Const::Bool(true)))
    }

    /// `if cond then (arrays changed by then) else arrays`.
    fn guarded(
        &mut self,
        cond: Atom,
        arrays: &[Var],
        then: Body<Seg>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let binds: Vec<Var> = arrays
            .iter()
            .map(|&a| self.fresh("out", self.vars[a].ty.clone()))
            .collect();
        let otherwise = Body {
            stms: Vec::new(),
            result: arrays.iter().map(|&a| a.into()).collect(),
        };
        self.push(
            out,
            binds.clone(),
            Exp::If {
                cond,
                then,
                otherwise,
            },
        );
        binds.into_iter().map(Atom::Var).collect()
    }

    /// Loop parameters that carry the arrays, consuming them.
    fn carry(&mut self, arrays: &[Var]) -> Vec<LoopParam> {
        let params = arrays.iter().map(|&array| {
            let array = self.var(array);
            LoopParam {
                var: self.fresh("dest", self.vars[array].ty.clone()),
                init: array.into(),
            }
        });
        params.collect()
    }

    pub(super) fn seq_hist(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        ops: &[HistOp<Soac>],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let width = self.size(width);
        let dests: Vec<Var> = ops.iter().flat_map(|op| op.dests.iter().copied()).collect();
        let params = self.carry(&dests);
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let results = self.apply_at(traversal, index, &mut stms);
        let mut bucket_at = 0;
        let mut value_at: usize = ops.iter().map(|op| op.shape.len()).sum();
        let mut next: Vec<Atom> = Vec::new();
        for op in ops {
            let buckets = &results[bucket_at..bucket_at + op.shape.len()];
            let values = &results[value_at..value_at + op.dests.len()];
            let arrays: Vec<Var> = params[next.len()..next.len() + op.dests.len()]
                .iter()
                .map(|p| p.var)
                .collect();
            let shape = self.sizes(&op.shape);
            let cond = self.in_range(buckets, &shape, &mut stms);
            let then = self.hist_update(op, &arrays, buckets, values);
            next.extend(self.guarded(cond, &arrays, then, &mut stms));
            bucket_at += op.shape.len();
            value_at += op.dests.len();
        }
        self.for_loop(
            (index, width),
            params,
            Body { stms, result: next },
            binds.to_vec(),
            out,
        );
    }

    fn hist_update(
        &mut self,
        op: &HistOp<Soac>,
        arrays: &[Var],
        buckets: &[Atom],
        values: &[Atom],
    ) -> Body<Seg> {
        let mut stms = Vec::new();
        let mut args = Vec::new();
        for &array in arrays {
            if let Some(ty) = self.vars[array].ty.peel(buckets.len()) {
                let op = ArrayOp::Index {
                    array,
                    indices: buckets.to_vec(),
                };
                args.push(Atom::Var(self.array(&mut stms, "old", ty, op)));
            }
        }
        args.extend_from_slice(values);
        let new = self.apply(&op.op.lam, &args, &mut stms);
        let mut result = Vec::new();
        let new: Vec<Atom> = new.into_iter().map(|v| self.owned(v, &mut stms)).collect();
        for (&array, value) in arrays.iter().zip(new) {
            result.push(self.put(array, buckets, value, &mut stms));
        }
        Body { stms, result }
    }

    /// The value itself, or a copy if it may be a part of what is about to be overwritten.
    fn owned(&mut self, value: Atom, out: &mut Vec<Stm<Seg>>) -> Atom {
        match value {
            Atom::Var(v) if self.vars[v].ty.is_array() && !is_made(out, v) => {
                let ty = self.vars[v].ty.clone();
                Atom::Var(self.array(out, "new", ty, ArrayOp::Copy(v)))
            }
            Atom::Var(_) | Atom::Const(_) => value,
        }
    }

    pub(super) fn seq_scatter(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        dests: &[ScatterDest],
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let width = self.size(width);
        let arrays: Vec<Var> = dests.iter().map(|dest| dest.array).collect();
        let params = self.carry(&arrays);
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let results = self.apply_at(traversal, index, &mut stms);
        let mut at = 0;
        let values: usize = dests.iter().map(|dest| dest.rank).sum();
        let mut next: Vec<Atom> = Vec::new();
        for (n, dest) in dests.iter().enumerate() {
            let indices = &results[at..at + dest.rank];
            at += dest.rank;
            let array = params[n].var;
            let extents: Vec<Size> = self.vars[array]
                .ty
                .shape()
                .iter()
                .take(dest.rank)
                .copied()
                .filter_map(Dim::size)
                .collect();
            let cond = self.in_range(indices, &extents, &mut stms);
            let mut then = Vec::new();
            let result = vec![self.put(array, indices, results[values + n], &mut then)];
            next.extend(self.guarded(cond, &[array], Body { stms: then, result }, &mut stms));
        }
        self.for_loop(
            (index, width),
            params,
            Body { stms, result: next },
            binds.to_vec(),
            out,
        );
    }

    pub(super) fn seq_filter(
        &mut self,
        width: Size,
        traversal: (&[Var], &Lambda<Soac>),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        let width = self.size(width);
        let Some((&count, arrays)) = binds.split_first() else {
            return;
        };
        let mut params = vec![LoopParam {
            var: self.fresh("count", Type::I64),
            init: int(0),
        }];
        for &array in arrays {
            let ty = self.vars[array].ty.peel(1).unwrap_or(Type::I64);
            let ty = Type::array_of(&ty, &[width]);
            let room = self.fresh("room", ty.clone());
            let init = self.scratch(room, out).into();
            params.push(LoopParam {
                var: self.fresh("out", ty),
                init,
            });
        }
        let index = self.fresh("i", Type::I64);
        let mut stms = Vec::new();
        let results = self.apply_at(traversal, index, &mut stms);
        let carried: Vec<Var> = params.iter().map(|p| p.var).collect();
        let mut then = Vec::new();
        let at = Atom::Var(carried[0]);
        let mut kept = vec![self.scalar(
            &mut then,
            "count",
            ScalarOp::Bin(BinOp::Add, ScalarType::I64),
            vec![at, int(1)],
        )];
        for (&array, &value) in carried[1..].iter().zip(&results[1..]) {
            kept.push(self.put(array, &[at], value, &mut then));
        }
        let result = self.guarded(
            results[0],
            &carried,
            Body {
                stms: then,
                result: kept,
            },
            &mut stms,
        );
        let mut bound = vec![count];
        for &room in &carried[1..] {
            bound.push(self.fresh("room", self.vars[room].ty.clone()));
        }
        self.for_loop(
            (index, width),
            params,
            Body { stms, result },
            bound.clone(),
            out,
        );
        for (&array, &room) in arrays.iter().zip(&bound[1..]) {
            let kept = SliceDim::Range {
                start: int(0),
                len: Size::Var(count),
                stride: int(1),
            };
            let slice = ArrayOp::Slice {
                array: room,
                dims: vec![kept],
            };
            self.push(out, vec![array], Exp::Op(Seg::Array(slice)));
        }
    }
}

/// Whether one of the statements makes the array, in memory of its own.
fn is_made(stms: &[Stm<Seg>], var: Var) -> bool {
    let bound = stms
        .iter()
        .find_map(|stm| Some((stm, stm.binds.iter().position(|&b| b == var)?)));
    let Some((stm, k)) = bound else { return false };
    match &stm.exp {
        Exp::Op(op) => op.aliased().is_none(),
        Exp::Loop { params, body, .. } => {
            let made = |stms, atom: Atom| atom.as_var().is_some_and(|v| is_made(stms, v));
            made(stms, params[k].init) && made(&body.stms, body.result[k])
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Call { .. } => false,
    }
}
