//! Operations of the plan dialect.

use super::{Read, Reader};
use crate::ir::array::StreamOp;
use crate::ir::mem::{
    BlockNeeds, Extent, Kernel, KernelKind, Mem, MemHist, MemStream, MemTrace, Region,
};
use crate::ir::syntax::Atom;

impl Reader<'_> {
    /// An operation of the plan dialect, if `word` is the word of one.
    pub(in crate::ir) fn mem(&mut self, word: &str) -> Read<Option<Mem>> {
        if matches!(
            word,
            "free"
                | "apart"
                | "load"
                | "store"
                | "copy"
                | "launch"
                | "trace"
                | "next"
                | "read"
                | "write"
        ) {
            self.advance();
        }
        Ok(Some(match word {
            "alloc" => {
                let elem = self.dotted_type()?;
                let len = self.atom()?;
                let over = self.eat_word("over").then(|| self.var()).transpose()?;
                Mem::Alloc { elem, len, over }
            }
            "free" => Mem::Free(self.var()?),
            "apart" => Mem::Apart(self.atom()?),
            "load" => {
                let buffer = self.var()?;
                self.expect("[")?;
                let index = self.atom()?;
                self.expect("]")?;
                Mem::Load { buffer, index }
            }
            "store" => {
                let buffer = self.var()?;
                self.expect("[")?;
                let index = self.atom()?;
                self.expect("]")?;
                self.expect("=")?;
                let value = self.atom()?;
                Mem::Store {
                    buffer,
                    index,
                    value,
                }
            }
            "copy" => {
                self.expect("[")?;
                let shape = self.list("]", Self::atom)?;
                let dst = self.region()?;
                self.expect("=")?;
                let src = self.region()?;
                Mem::Copy { shape, dst, src }
            }
            "launch" => Mem::Launch(Box::new(self.kernel()?)),
            "trace" => {
                let label = self.string()?;
                let ty = self.entry_type()?;
                let values = self.shaped_values()?;
                Mem::Trace(Box::new(MemTrace { label, ty, values }))
            }
            "next" => Mem::Stream(self.mem_stream(StreamOp::Next)?),
            "read" => Mem::Stream(self.mem_stream(StreamOp::Read)?),
            "write" => Mem::Stream(self.mem_stream(StreamOp::Write)?),
            _ => return Ok(None),
        }))
    }

    /// Scalars, and buffers with extents.
    fn shaped_values(&mut self) -> Read<Vec<(Atom, Vec<Atom>)>> {
        self.expect("(")?;
        self.list(")", |r| {
            let value = r.atom()?;
            let shape = if r.eat("[") {
                r.list("]", Self::atom)?
            } else {
                Vec::new()
            };
            Ok((value, shape))
        })
    }

    fn mem_stream(&mut self, op: StreamOp) -> Read<MemStream> {
        let stream = self.number_u32()?;
        let args = self.shaped_values()?;
        let mut sizes = Vec::new();
        if op == StreamOp::Read {
            self.expect("(")?;
            sizes = self.list(")", |r| Ok((r.natural()?, r.natural()?)))?;
        }
        Ok(MemStream {
            op,
            stream,
            args,
            sizes,
        })
    }

    fn region(&mut self) -> Read<Region> {
        let buffer = self.var()?;
        self.expect("[")?;
        let offset = self.atom()?;
        self.expect("+")?;
        let strides = self.atoms()?;
        self.expect("]")?;
        Ok(Region {
            buffer,
            offset,
            strides,
        })
    }

    fn kernel(&mut self) -> Read<Kernel> {
        let kind = self.word()?;
        let name = self.string()?;
        let tiled = self.tiled()?;
        let block = self.eat_word("block").then(|| self.block_needs());
        let block = block.transpose()?;
        let steady = self.eat_word("steady");
        self.expect("(")?;
        let space = self.list(")", |r| {
            let index = r.binder()?;
            if r.eat_word("in") {
                let offsets = r.var()?;
                r.expect_word("from")?;
                let start = r.binder()?;
                return Ok((index, Extent::Ragged { offsets, start }));
            }
            r.expect("<")?;
            Ok((index, Extent::Regular(r.atom()?)))
        })?;
        let body = self.body()?;
        let kind = match kind {
            "map" => KernelKind::Map,
            "seq" => KernelKind::Seq,
            "red" => {
                let ops = self.operators("reduce")?;
                self.expect_word("out")?;
                let outs = self.var_list()?;
                KernelKind::Red { ops, outs }
            }
            "scan" => {
                let ops = self.operators("scan")?;
                self.expect_word("out")?;
                let outs = self.var_list()?;
                let then = match self.eat_word("then") {
                    true => Some(self.lambda()?),
                    false => None,
                };
                KernelKind::Scan { ops, outs, then }
            }
            "hist" => KernelKind::Hist(self.mem_hists()?),
            _ => return Err(self.error(
                "there is no such kind of kernel; expected map, seq, red, scan or hist before this",
            )),
        };
        Ok(Kernel {
            name,
            space,
            tiled,
            steady,
            block,
            body,
            kind,
        })
    }

    fn block_needs(&mut self) -> Read<BlockNeeds> {
        self.expect("(")?;
        let width = self.atom()?;
        self.expect(",")?;
        let bytes = self.atom()?;
        self.expect(")")?;
        Ok(BlockNeeds { width, bytes })
    }

    fn mem_hists(&mut self) -> Read<Vec<MemHist>> {
        let mut hists = Vec::new();
        while self.eat_word("into") {
            self.expect("[")?;
            let buckets = self.atom()?;
            self.expect("]")?;
            let dests = self.var_list()?;
            self.expect_word("by")?;
            let op = self.operator()?;
            hists.push(MemHist { buckets, dests, op });
        }
        Ok(hists)
    }
}
