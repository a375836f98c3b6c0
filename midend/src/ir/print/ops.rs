//! Operations of the nested and the flat dialect.

use super::Printer;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::soac::{Accumulation, HistOp, Operator, ScatterDest, Soac, UpdateAcc};
use crate::ir::syntax::{EntryType, Lambda};
use crate::ir::text::Text;
use crate::ir::types::Size;

impl Printer<'_> {
    /// An array operation.
    pub fn array_op(&mut self, op: &ArrayOp) {
        match op {
            ArrayOp::Index { array, indices } => {
                self.word("index ");
                self.var(*array);
                self.word("[");
                self.list(indices, |p, i| p.atom(*i));
                self.word("]");
            }
            ArrayOp::Slice { array, dims } => {
                self.word("slice ");
                self.var(*array);
                self.slice(dims);
            }
            ArrayOp::Update { array, dims, value } => {
                self.word("update ");
                self.var(*array);
                self.slice(dims);
                self.word(" = ");
                self.atom(*value);
            }
            ArrayOp::Literal { elems, row } => {
                self.word("literal ");
                self.ty(row);
                self.word(" ");
                self.atoms(elems);
            }
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => {
                self.word(&format!("iota.{ty} "));
                self.size(*len);
                self.word(" ");
                self.atom(*start);
                self.word(" ");
                self.atom(*step);
            }
            ArrayOp::Replicate { shape, value } => {
                self.word("replicate ");
                self.dims(shape);
                self.word(" ");
                self.atom(*value);
            }
            ArrayOp::Scratch { elem, shape } => {
                self.word(&format!("scratch.{elem} "));
                self.dims(shape);
            }
            ArrayOp::Copy(array) => {
                self.word("copy ");
                self.var(*array);
            }
            ArrayOp::Concat { arrays, len } => {
                self.word("concat ");
                self.size(*len);
                self.word(" ");
                self.var_list(arrays);
            }
            ArrayOp::Rearrange { perm, array } => self.permuted("rearrange", perm, *array),
            ArrayOp::Manifest { perm, array } => self.permuted("manifest", perm, *array),
            ArrayOp::Reshape { shape, array } => {
                self.word("reshape ");
                self.dims(shape);
                self.word(" ");
                self.var(*array);
            }
            ArrayOp::Trace(trace) => {
                self.traced(&trace.label, &trace.ty);
                self.list(&trace.values, |p, a| p.atom(*a));
                self.word(")");
            }
            ArrayOp::Stream(stream) => {
                self.word(&format!("{} {} ", stream.op.name(), stream.stream));
                self.atoms(&stream.args);
            }
        }
    }

    /// The beginning of what is shown.
    pub fn traced(&mut self, label: &str, ty: &EntryType) {
        self.word("trace ");
        self.string(label);
        self.word(" ");
        self.entry_type(ty);
        self.word(" (");
    }

    fn permuted(&mut self, word: &str, perm: &[usize], array: Var) {
        self.word(word);
        self.word(" (");
        self.list(perm, |p, i| p.word(&i.to_string()));
        self.word(") ");
        self.var(array);
    }

    fn slice(&mut self, dims: &[SliceDim]) {
        self.word("[");
        self.list(dims, |p, dim| match *dim {
            SliceDim::Fix(i) => p.atom(i),
            SliceDim::Range { start, len, stride } => {
                p.atom(start);
                p.word(" : ");
                p.size(len);
                p.word(" : ");
                p.atom(stride);
            }
        });
        self.word("]");
    }

    fn traversal<D: Text>(&mut self, word: &str, width: Size, arrays: &[Var], lam: &Lambda<D>) {
        self.word(word);
        self.word(" ");
        self.size(width);
        self.word(" ");
        self.var_list(arrays);
        self.word(" ");
        self.lambda(lam);
    }

    /// An operator after its word.
    pub(super) fn operator<D: Text>(&mut self, word: &str, op: &Operator<D>) {
        self.word(" ");
        self.word(word);
        self.word(if op.comm { " comm " } else { " " });
        self.atoms(&op.neutral);
        self.word(" ");
        self.lambda(&op.lam);
    }

    fn hist_op<D: Text>(&mut self, op: &HistOp<D>) {
        self.word(" into ");
        self.sizes(&op.shape);
        self.word(" ");
        self.var_list(&op.dests);
        self.operator("by", &op.op);
    }

    fn dests(&mut self, dests: &[ScatterDest]) {
        self.word(" into (");
        self.list(dests, |p, dest| {
            p.var(dest.array);
            p.word(&format!(" : {}", dest.rank));
        });
        self.word(")");
    }

    /// The accumulators that are bound for the body that follows, with their destinations.
    fn accumulators<D: Text>(&mut self, acc: &Accumulation<D>) {
        self.word(" into ");
        self.binder(acc.token);
        self.word(" (");
        let pairs: Vec<(Var, Var)> = acc.params.iter().copied().zip(acc.dests.clone()).collect();
        self.list(&pairs, |p, (param, dest)| {
            p.binder(*param);
            p.word(" = ");
            p.var(*dest);
        });
        self.word(")");
    }

    fn update_acc(&mut self, update: &UpdateAcc) {
        self.word("updateacc ");
        self.var_list(&update.accs);
        self.word("[");
        self.atom(update.index);
        self.word("] = ");
        self.atoms(&update.values);
    }

    /// How many dimensions are worked on in tiles, if any are.
    pub(in crate::ir) fn tiled(&mut self, tiled: usize) {
        if tiled > 0 {
            self.word(&format!("tiled {tiled} "));
        }
    }

    fn seg_op(&mut self, op: &SegOp) {
        self.word(match &op.kind {
            SegKind::Map => "segmap ",
            SegKind::Filter => "segfilter ",
            SegKind::Red(_) => "segred ",
            SegKind::Scan(_) => "segscan ",
            SegKind::Hist(_) => "seghist ",
            SegKind::Scatter(_) => "segscatter ",
            SegKind::WithAcc(_) => "segacc ",
        });
        self.word(match op.level {
            Level::Device => "device ",
            Level::Block => "block ",
            Level::Thread => "thread ",
        });
        self.tiled(op.tiled);
        self.word(if op.steady { "steady (" } else { "(" });
        self.list(&op.space.dims, |p, (index, dim)| {
            p.binder(*index);
            match *dim {
                SpaceDim::Regular(n) => {
                    p.word(" < ");
                    p.size(n);
                }
                SpaceDim::Ragged { offsets } => {
                    p.word(" in ");
                    p.var(offsets);
                }
            }
        });
        self.word(")");
        if let SegKind::WithAcc(acc) = &op.kind {
            self.accumulators(acc);
        }
        self.word(" ");
        self.body(&op.body);
        match &op.kind {
            SegKind::Map | SegKind::Filter => {}
            SegKind::Red(ops) => ops.iter().for_each(|op| self.operator("reduce", op)),
            SegKind::Scan(ops) => ops.iter().for_each(|op| self.operator("scan", op)),
            SegKind::Hist(ops) => ops.iter().for_each(|op| self.hist_op(op)),
            SegKind::Scatter(dests) => self.dests(dests),
            SegKind::WithAcc(acc) => acc.op.iter().for_each(|op| self.operator("by", op)),
        }
    }

    pub(super) fn print_soac(&mut self, op: &Soac) {
        match op {
            Soac::Array(op) => self.array_op(op),
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                self.traversal("map", *width, arrays, lam);
                scans.iter().for_each(|op| self.operator("scan", op));
                reds.iter().for_each(|op| self.operator("reduce", op));
            }
            Soac::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                self.traversal("hist", *width, arrays, lam);
                ops.iter().for_each(|op| self.hist_op(op));
            }
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                self.traversal("scatter", *width, arrays, lam);
                self.dests(dests);
            }
            Soac::Filter { width, arrays, lam } => self.traversal("filter", *width, arrays, lam),
            Soac::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks,
            } => {
                self.traversal("flat_map", *width, arrays, lam);
                self.word(&format!(" rows {rows} offsets "));
                self.size(*marks);
            }
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                self.word("withacc ");
                self.size(*width);
                self.word(" ");
                self.var_list(arrays);
                self.accumulators(acc);
                self.word(" ");
                self.lambda(lam);
                acc.op.iter().for_each(|op| self.operator("by", op));
            }
            Soac::UpdateAcc(update) => self.update_acc(update),
        }
    }

    pub(super) fn print_seg(&mut self, op: &Seg) {
        match op {
            Seg::Array(op) => self.array_op(op),
            Seg::Par(op) => self.seg_op(op),
            Seg::UpdateAcc(update) => self.update_acc(update),
        }
    }
}
