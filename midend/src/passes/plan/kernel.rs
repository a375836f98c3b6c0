//! Parallel operations as kernels.

use super::emit::FrameKind;
use super::view::View;
use super::{Cx, Mode};
use crate::ir::id::Var;
use crate::ir::mem::{KernelKind, KernelSpace, Mem, MemHist};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind, SegOp};
use crate::ir::soac::{HistOp, Operator, ScatterDest};
use crate::ir::syntax::{Atom, Body, Exp, Lambda};
use crate::ir::types::{ScalarType, Type};

impl Cx<'_> {
    pub(super) fn seg_op(&mut self, binds: &[Var], op: &SegOp) {
        let space = self.space(&op.space);
        match &op.kind {
            SegKind::Map => self.map(binds, (space, op.tiled), &op.body),
            SegKind::Red(ops) => self.reduce(binds, space, &op.body, ops),
            SegKind::Scan(ops) => self.scan(binds, space, &op.body, ops),
            SegKind::Hist(ops) => self.hist(binds, space, &op.body, ops),
            SegKind::Scatter(dests) => self.scatter(binds, space, &op.body, dests),
            SegKind::WithAcc(acc) => self.with_acc(binds, space, &op.body, acc),
        }
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
        let (mode, base) = (std::mem::replace(&mut self.mode, Mode::Kernel), self.base);
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
        let kind = KernelKind::Scan { ops, outs };
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

    fn operators(&mut self, ops: &[Operator<Seg>]) -> Vec<Operator<Mem>> {
        ops.iter().map(|op| self.operator(op)).collect()
    }

    pub(super) fn operator(&mut self, op: &Operator<Seg>) -> Operator<Mem> {
        self.enter(FrameKind::Top);
        let (mode, base) = (std::mem::replace(&mut self.mode, Mode::Kernel), self.base);
        self.base = self.top();
        for &p in &op.lam.params {
            self.define(p);
        }
        self.stms(&op.lam.body);
        let result = self.atoms(&op.lam.body.result);
        let body = self.leave(result);
        (self.mode, self.base) = (mode, base);
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
