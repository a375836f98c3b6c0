//! Operations of the plan dialect, and the doors through which generic code comes to each dialect's text.

use super::Printer;
use crate::ir::array::StreamOp;
use crate::ir::mem::{BlockNeeds, Extent, Kernel, KernelKind, Mem, Region};
use crate::ir::read::{ReadError, Reader};
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::Atom;
use crate::ir::text::Text;

impl Text for Soac {
    fn print_op(&self, p: &mut Printer<'_>) {
        p.print_soac(self);
    }
    fn read_op(word: &str, r: &mut Reader<'_>) -> Result<Option<Self>, ReadError> {
        r.soac(word)
    }
}

impl Text for Seg {
    fn print_op(&self, p: &mut Printer<'_>) {
        p.print_seg(self);
    }
    fn read_op(word: &str, r: &mut Reader<'_>) -> Result<Option<Self>, ReadError> {
        r.seg(word)
    }
}

impl Text for Mem {
    fn print_op(&self, p: &mut Printer<'_>) {
        p.print_mem(self);
    }
    fn read_op(word: &str, r: &mut Reader<'_>) -> Result<Option<Self>, ReadError> {
        r.mem(word)
    }
}

impl Printer<'_> {
    fn print_mem(&mut self, op: &Mem) {
        match op {
            Mem::Alloc { elem, len, over } => {
                self.word(&format!("alloc.{elem} "));
                self.atom(*len);
                if let Some(over) = over {
                    self.word(" over ");
                    self.var(*over);
                }
            }
            Mem::Free(buffer) => {
                self.word("free ");
                self.var(*buffer);
            }
            Mem::Apart(extent) => {
                self.word("apart ");
                self.atom(*extent);
            }
            Mem::Load { buffer, index } => {
                self.word("load ");
                self.var(*buffer);
                self.word("[");
                self.atom(*index);
                self.word("]");
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => {
                self.word("store ");
                self.var(*buffer);
                self.word("[");
                self.atom(*index);
                self.word("] = ");
                self.atom(*value);
            }
            Mem::Copy { shape, dst, src } => {
                self.word("copy [");
                self.list(shape, |p, a| p.atom(*a));
                self.word("] ");
                self.region(dst);
                self.word(" = ");
                self.region(src);
            }
            Mem::Launch(kernel) => self.kernel(kernel),
            Mem::Trace(trace) => {
                self.traced(&trace.label, &trace.ty);
                self.shaped_values(&trace.values);
            }
            Mem::Stream(stream) => {
                self.word(&format!("{} {} (", stream.op.name(), stream.stream));
                self.shaped_values(&stream.args);
                if stream.op == StreamOp::Read {
                    self.word(" (");
                    self.list(&stream.sizes, |p, (array, dim)| {
                        p.word(&format!("{array} {dim}"))
                    });
                    self.word(")");
                }
            }
        }
    }

    /// Scalars, and buffers with extents; ends the list.
    fn shaped_values(&mut self, values: &[(Atom, Vec<Atom>)]) {
        self.list(values, |p, (value, shape)| {
            p.atom(*value);
            if !shape.is_empty() {
                p.word("[");
                p.list(shape, |p, a| p.atom(*a));
                p.word("]");
            }
        });
        self.word(")");
    }

    fn region(&mut self, region: &Region) {
        self.var(region.buffer);
        self.word("[");
        self.atom(region.offset);
        self.word(" + ");
        self.atoms(&region.strides);
        self.word("]");
    }

    fn kernel(&mut self, kernel: &Kernel) {
        self.word("launch ");
        self.word(match &kernel.kind {
            KernelKind::Map => "map ",
            KernelKind::Seq => "seq ",
            KernelKind::Red { .. } => "red ",
            KernelKind::Scan { .. } => "scan ",
            KernelKind::Hist(_) => "hist ",
        });
        self.string(&kernel.name);
        self.word(" ");
        self.tiled(kernel.tiled);
        if let Some(BlockNeeds { width, bytes }) = kernel.block {
            self.word("block (");
            self.atom(width);
            self.word(", ");
            self.atom(bytes);
            self.word(") ");
        }
        self.word(if kernel.steady { "steady (" } else { "(" });
        self.list(&kernel.space, |p, (index, extent)| {
            p.binder(*index);
            match *extent {
                Extent::Regular(n) => {
                    p.word(" < ");
                    p.atom(n);
                }
                Extent::Ragged { offsets, start } => {
                    p.word(" in ");
                    p.var(offsets);
                    p.word(" from ");
                    p.binder(start);
                }
            }
        });
        self.word(") ");
        self.body(&kernel.body);
        match &kernel.kind {
            KernelKind::Map | KernelKind::Seq => {}
            KernelKind::Red { ops, outs } => {
                ops.iter().for_each(|op| self.operator("reduce", op));
                self.word(" out ");
                self.var_list(outs);
            }
            KernelKind::Scan { ops, outs, then } => {
                ops.iter().for_each(|op| self.operator("scan", op));
                self.word(" out ");
                self.var_list(outs);
                if let Some(then) = then {
                    self.word(" then ");
                    self.lambda(then);
                }
            }
            KernelKind::Hist(hists) => {
                for hist in hists {
                    self.word(" into [");
                    self.atom(hist.buckets);
                    self.word("] ");
                    self.var_list(&hist.dests);
                    self.operator("by", &hist.op);
                }
            }
        }
    }
}
