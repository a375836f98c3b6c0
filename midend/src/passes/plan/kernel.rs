//! Parallel operations as kernels.

use super::emit::FrameKind;
use super::scan::goes_anywhere;
use super::view::View;
use super::{Cx, Mode};
use crate::ir::dialect::is_by_blocks;
use crate::ir::id::Var;
use crate::ir::mem::{Extent, KernelKind, KernelSpace, Mem, MemHist};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SegOp};
use crate::ir::soac::{HistOp, Operator, ScatterDest};
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::ir::types::{ScalarType, Type};

impl Cx<'_> {
    pub(super) fn seg_op(&mut self, binds: &[Var], op: &SegOp) {
        let space = self.space(&op.space);
        self.steady = op.steady;
        match &op.kind {
            SegKind::Map => self.map(binds, (space, op.tiled), &op.body),
            SegKind::Red(ops) => self.reduce(binds, space, &op.body, ops),
            SegKind::Scan(ops) if self.is_wanted(binds) && goes_anywhere(op) => {
                self.scan_into(binds, space, &op.body, ops);
            }
            SegKind::Scan(ops) => self.scan(binds, space, &op.body, ops),
            SegKind::Filter => self.filter(binds, space, &op.body),
            SegKind::Hist(ops) => self.hist(binds, space, &op.body, ops),
            SegKind::Scatter(dests) => self.scatter(binds, space, &op.body, dests),
            SegKind::WithAcc(acc) => self.with_acc(binds, space, &op.body, acc),
        }
        self.steady = false;
    }

    /// A kernel whose body is the given one, the results from `first` on being stored into `outs` at each point; `rest`
    /// makes its results of the others.
    pub(super) fn kernel(
        &mut self,
        (what, (space, tiled), kind): (&str, (KernelSpace, usize), KernelKind),
        body: &Body<Seg>,
        (first, outs): (usize, &[View]),
        rest: impl FnOnce(&mut Self, &[Atom]) -> Vec<Atom>,
    ) {
        self.enter(FrameKind::Top);
        let inside = match self.mode == Mode::Host && is_by_blocks(body) {
            true => Mode::Block,
            false => Mode::Kernel,
        };
        let (mode, base) = (std::mem::replace(&mut self.mode, inside), self.base);
        self.base = self.top();
        let certs = std::mem::take(&mut self.certs);
        self.enter_space(&space);
        let indices: Vec<Atom> = space.iter().map(|&(i, _)| i.into()).collect();
        let mut places = Vec::new();
        for (out, &result) in outs.iter().zip(&body.result[first..]) {
            let place = self.row(out, &indices);
            self.want(&body.stms, result, place.clone());
            places.push(place);
        }
        self.stms(body);
        for (place, &result) in places.iter().zip(&body.result[first..]) {
            self.put(place, result);
        }
        let results = rest(self, &body.result[..first]);
        let body = self.leave(results);
        (self.mode, self.base, self.certs) = (mode, base, certs);
        self.launch(what, (space, tiled), body, kind);
    }

    fn map(&mut self, binds: &[Var], space: (KernelSpace, usize), body: &Body<Seg>) {
        let outs: Vec<View> = binds.iter().map(|&b| self.made(b)).collect();
        self.kernel(("map", space, KernelKind::Map), body, (0, &outs), |_, _| {
            Vec::new()
        });
    }

    /// New memory for arrays that kernels write whole: row-major, from the start of a buffer.
    fn outs(&mut self, binds: &[Var]) -> Vec<View> {
        binds.iter().map(|&bind| self.room_for(bind)).collect()
    }

    fn reduce(
        &mut self,
        binds: &[Var],
        space: KernelSpace,
        body: &Body<Seg>,
        ops: &[Operator<Seg>],
    ) {
        let k = ops.iter().map(|op| op.neutral.len()).sum();
        let reduced = self.outs(&binds[..k]);
        let mapped: Vec<View> = binds[k..].iter().map(|&b| self.made(b)).collect();
        let ops = self.operators(ops);
        let outs = reduced.iter().map(|view| view.buffer).collect();
        let kind = KernelKind::Red { ops, outs };
        self.kernel(
            ("reduce", (space, 0), kind),
            body,
            (k, &mapped),
            |cx, results| cx.atoms(results),
        );
        for (&bind, view) in binds.iter().zip(reduced) {
            self.deliver(bind, view);
        }
    }

    /// Binds a result that was written to its own buffer: loads it if it is a scalar.
    fn deliver(&mut self, bind: Var, view: View) {
        if self.is_array(bind) {
            match self.dests.remove(&bind) {
                Some(dest) => {
                    self.copy(&dest, &view);
                    self.views.insert(bind, dest);
                }
                None => {
                    self.views.insert(bind, view);
                }
            }
        } else {
            let op = Mem::Load {
                buffer: view.buffer,
                index: Atom::ZERO,
            };
            self.push_op(vec![bind], op);
        }
    }

    fn scan(&mut self, binds: &[Var], space: KernelSpace, body: &Body<Seg>, ops: &[Operator<Seg>]) {
        let k = ops.iter().map(|op| op.neutral.len()).sum();
        let scanned = self.outs(&binds[..k]);
        let mapped: Vec<View> = binds[k..].iter().map(|&b| self.made(b)).collect();
        let ops = self.operators(ops);
        let outs = scanned.iter().map(|view| view.buffer).collect();
        let then = None;
        let kind = KernelKind::Scan { ops, outs, then };
        self.kernel(
            ("scan", (space, 0), kind),
            body,
            (k, &mapped),
            |cx, results| cx.atoms(results),
        );
        for (&bind, view) in binds.iter().zip(scanned) {
            self.deliver(bind, view);
        }
    }

    /// A scan of the flags hands each point how many elements are kept up to there, so that each that is kept goes to its place at
    /// once. Memory is made for all elements; what is not needed of it is not touched.
    fn filter(&mut self, binds: &[Var], space: KernelSpace, body: &Body<Seg>) {
        let (Some((&count, kept)), &[(index, Extent::Regular(width))]) =
            (binds.split_first(), &space[..])
        else {
            return;
        };
        let mut buffers = Vec::new();
        for &bind in kept {
            let elem = self.vars[bind].ty.elem().unwrap_or(ScalarType::I64);
            buffers.push((bind, elem, self.alloc(elem, width)));
        }
        let cell = self.alloc(ScalarType::I64, Atom::ONE);
        let ops = vec![self.sum()];
        let then = self.kept(cell, width, &buffers);
        let (outs, then) = (Vec::new(), Some(then));
        let kind = KernelKind::Scan { ops, outs, then };
        let results = body.result.len();
        self.kernel(
            ("filter", (space, 0), kind),
            body,
            (results, &[]),
            |cx, results| {
                let results = cx.atoms(results);
                let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
                let one = cx.scalar("one", one, vec![results[0]]);
                [one, index.into()].into_iter().chain(results).collect()
            },
        );
        // Where there are no elements, nothing was stored.
        let some = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar("some", some, vec![Atom::ZERO, width]);
        self.enter(FrameKind::Branch);
        let total = self.fresh("total", Type::I64);
        let (buffer, zero) = (cell, Atom::ZERO);
        self.push_op(
            vec![total],
            Mem::Load {
                buffer,
                index: zero,
            },
        );
        let then = self.leave(vec![total.into()]);
        let otherwise = Body {
            stms: Vec::new(),
            result: vec![zero],
        };
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(vec![count], exp);
        for (bind, elem, buffer) in buffers {
            let view = self.dense_view(buffer, elem, zero, vec![count.into()]);
            self.views.insert(bind, view);
        }
    }

    /// What a point of a filter does: it gets the number of elements that are kept up to it, its index, whether it is kept, and values.
    fn kept(&mut self, cell: Var, width: Atom, buffers: &[(Var, ScalarType, Var)]) -> Lambda<Mem> {
        let scalar = Type::Scalar;
        let place = self.fresh("place", Type::I64);
        let index = self.fresh("i", Type::I64);
        let keep = self.fresh("keep", Type::BOOL);
        let mut params = vec![place, index, keep];
        let values = buffers.iter().map(|&(_, elem, _)| scalar(elem));
        let values: Vec<Type> = values.collect();
        params.extend(values.into_iter().map(|ty| self.fresh("value", ty)));
        let bin = |op| ScalarOp::Bin(op, ScalarType::I64);
        let body = self.in_kernel(|cx| {
            params.iter().for_each(|&p| cx.define(p));
            let at = cx.scalar("at", bin(BinOp::Sub), vec![place.into(), Atom::ONE]);
            cx.enter(FrameKind::Branch);
            for (&(_, _, buffer), &value) in buffers.iter().zip(&params[3..]) {
                let (index, value) = (at, value.into());
                let store = Mem::Store {
                    buffer,
                    index,
                    value,
                };
                cx.push_op(Vec::new(), store);
            }
            cx.leave_guarded(keep.into());
            let next = cx.scalar("next", bin(BinOp::Add), vec![index.into(), Atom::ONE]);
            let eq = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
            let last = cx.scalar("last", eq, vec![next, width]);
            cx.enter(FrameKind::Branch);
            let store = Mem::Store {
                buffer: cell,
                index: Atom::ZERO,
                value: place.into(),
            };
            cx.push_op(Vec::new(), store);
            cx.leave_guarded(last);
            Vec::new()
        });
        Lambda { params, body }
    }

    /// The operator that adds `i64`.
    fn sum(&mut self) -> Operator<Mem> {
        let [a, b] = ["a", "b"].map(|name| self.fresh(name, Type::I64));
        let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
        let body = self.in_kernel(|cx| {
            [a, b].into_iter().for_each(|p| cx.define(p));
            vec![cx.scalar("sum", add, vec![a.into(), b.into()])]
        });
        let params = vec![a, b];
        Operator {
            comm: true,
            lam: Lambda { params, body },
            neutral: vec![Atom::ZERO],
        }
    }

    /// Code of a kernel besides its body.
    pub(super) fn in_kernel(&mut self, make: impl FnOnce(&mut Self) -> Vec<Atom>) -> Body<Mem> {
        self.enter(FrameKind::Top);
        let (mode, base) = (std::mem::replace(&mut self.mode, Mode::Kernel), self.base);
        self.base = self.top();
        let result = make(self);
        let body = self.leave(result);
        (self.mode, self.base) = (mode, base);
        body
    }

    pub(super) fn operators(&mut self, ops: &[Operator<Seg>]) -> Vec<Operator<Mem>> {
        ops.iter().map(|op| self.operator(op)).collect()
    }

    pub(super) fn operator(&mut self, op: &Operator<Seg>) -> Operator<Mem> {
        let body = self.in_kernel(|cx| {
            for &p in &op.lam.params {
                cx.define(p);
            }
            cx.stms(&op.lam.body);
            cx.atoms(&op.lam.body.result)
        });
        let lam = Lambda {
            params: op.lam.params.clone(),
            body,
        };
        Operator {
            comm: op.comm,
            lam,
            neutral: self.atoms(&op.neutral),
        }
    }

    fn hist(&mut self, binds: &[Var], space: KernelSpace, body: &Body<Seg>, ops: &[HistOp<Seg>]) {
        let mut hists = Vec::new();
        let mut shapes = Vec::new();
        let mut bound = binds.iter();
        for op in ops {
            let shape: Vec<Atom> = op.shape.iter().map(|&n| self.atom(n.into())).collect();
            let buckets = self.count(&shape);
            let mut dests = Vec::new();
            for &dest in &op.dests {
                let view = self.view(dest);
                let view = self.whole(&view);
                dests.push(view.buffer);
                if let Some(&bind) = bound.next() {
                    self.views.insert(bind, view);
                }
            }
            let op = self.operator(&op.op);
            hists.push(MemHist { buckets, dests, op });
            shapes.push(shape);
        }
        let k = body.result.len();
        self.kernel(
            ("hist", (space, 0), KernelKind::Hist(hists)),
            body,
            (k, &[]),
            |cx, results| {
                let mut flat = Vec::new();
                let mut at = 0;
                for shape in &shapes {
                    let indices = cx.atoms(&results[at..at + shape.len()]);
                    flat.push(cx.bucket(&indices, shape));
                    at += shape.len();
                }
                flat.extend(cx.atoms(&results[at..]));
                flat
            },
        );
    }

    /// The flat index of a bucket, -1 if there is none.
    fn bucket(&mut self, indices: &[Atom], shape: &[Atom]) -> Atom {
        if let &[index] = indices {
            return index;
        }
        let ok = self.in_range(indices, shape);
        let mut flat = Atom::ZERO;
        for (&i, &n) in indices.iter().zip(shape) {
            flat = self.mul(flat, n);
            flat = self.add(flat, i);
        }
        let select = ScalarOp::Select(ScalarType::I64);
        self.scalar("bucket", select, vec![ok, flat, Atom::i64(-1)])
    }

    /// Whether all indices lie within the extents. As unsigned numbers, negative indices are large.
    pub(super) fn in_range(&mut self, indices: &[Atom], shape: &[Atom]) -> Atom {
        let unsign = ScalarOp::Convert(ScalarType::I64, ScalarType::U64);
        let mut all: Option<Atom> = None;
        for (&i, &n) in indices.iter().zip(shape) {
            let i = self.scalar("u", unsign, vec![i]);
            let n = self.scalar("u", unsign, vec![n]);
            let ok = self.scalar("ok", ScalarOp::Cmp(CmpOp::Lt, ScalarType::U64), vec![i, n]);
            all = Some(match all {
                None => ok,
                Some(all) => self.scalar(
                    "ok",
                    ScalarOp::Bin(BinOp::And, ScalarType::Bool),
                    vec![all, ok],
                ),
            });
        }
        all.unwrap_or(Atom::Const(Const::Bool(true)))
    }

    fn scatter(
        &mut self,
        binds: &[Var],
        space: KernelSpace,
        body: &Body<Seg>,
        dests: &[ScatterDest],
    ) {
        let views: Vec<View> = dests.iter().map(|dest| self.view(dest.array)).collect();
        let k = body.result.len();
        self.kernel(
            ("scatter", (space, 0), KernelKind::Map),
            body,
            (k, &[]),
            |cx, results| {
                let mut at = 0;
                let values: usize = dests.iter().map(|dest| dest.rank).sum();
                for (n, (dest, view)) in dests.iter().zip(&views).enumerate() {
                    let indices = cx.atoms(&results[at..at + dest.rank]);
                    at += dest.rank;
                    cx.guarded_put(view, &indices, results[values + n]);
                }
                Vec::new()
            },
        );
        for (&bind, view) in binds.iter().zip(views) {
            self.views.insert(bind, view);
        }
    }

    /// Writes a value at indices, if these are in range.
    fn guarded_put(&mut self, view: &View, indices: &[Atom], value: Atom) {
        let cond = self.in_range(indices, &view.shape[..indices.len()]);
        self.enter(FrameKind::Branch);
        let place = self.row(view, indices);
        self.put(&place, value);
        self.leave_guarded(cond);
    }

    /// Ends a branch that was entered: its statements are executed if the condition holds.
    pub(super) fn leave_guarded(&mut self, cond: Atom) {
        let then = self.leave(Vec::new());
        let otherwise = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        let guarded = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(Vec::new(), guarded);
    }

    /// A scalar of the host that a kernel leaves in memory of one element.
    pub(super) fn cell(&mut self, like: Var) -> Option<Var> {
        let elem = match self.vars[like].ty {
            Type::Scalar(elem) => elem,
            Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => return None,
        };
        Some(self.alloc(elem, Atom::ONE))
    }
}
