//! Operations of the nested and the flat dialect.

use super::{Read, Reader};
use crate::ir::array::{ArrayOp, SliceDim, Stream, StreamOp, Trace};
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SegSpace, SpaceDim};
use crate::ir::soac::{Accumulation, HistOp, Operator, ScatterDest, Soac, UpdateAcc};
use crate::ir::syntax::Atom;
use crate::ir::text::Text;
use crate::ir::types::Size;

impl Reader<'_> {
    /// An array operation, if `word` is the word of one. The reader stands on the word.
    fn array_op(&mut self, word: &str) -> Read<Option<ArrayOp>> {
        let plain = [
            "index",
            "slice",
            "update",
            "literal",
            "replicate",
            "copy",
            "concat",
            "rearrange",
            "manifest",
            "reshape",
            "trace",
            "next",
            "read",
            "write",
        ];
        if plain.contains(&word) {
            self.advance();
        }
        Ok(Some(match word {
            "index" => {
                let array = self.var()?;
                self.expect("[")?;
                let indices = self.list("]", Self::atom)?;
                ArrayOp::Index { array, indices }
            }
            "slice" => {
                let array = self.var()?;
                let dims = self.slice()?;
                ArrayOp::Slice { array, dims }
            }
            "update" => {
                let array = self.var()?;
                let dims = self.slice()?;
                self.expect("=")?;
                let value = self.atom()?;
                ArrayOp::Update { array, dims, value }
            }
            "literal" => {
                let row = self.ty()?;
                let elems = self.atoms()?;
                ArrayOp::Literal { elems, row }
            }
            "iota" => {
                let ty = self.dotted_type()?;
                let len = self.size()?;
                let start = self.atom()?;
                let step = self.atom()?;
                ArrayOp::Iota {
                    len,
                    start,
                    step,
                    ty,
                }
            }
            "replicate" => {
                let shape = self.dims()?;
                let value = self.atom()?;
                ArrayOp::Replicate { shape, value }
            }
            "scratch" => {
                let elem = self.dotted_type()?;
                let shape = self.dims()?;
                ArrayOp::Scratch { elem, shape }
            }
            "copy" => ArrayOp::Copy(self.var()?),
            "concat" => {
                let len = self.size()?;
                let arrays = self.var_list()?;
                ArrayOp::Concat { arrays, len }
            }
            "rearrange" => {
                let perm = self.permutation()?;
                let array = self.var()?;
                ArrayOp::Rearrange { perm, array }
            }
            "manifest" => {
                let perm = self.permutation()?;
                let array = self.var()?;
                ArrayOp::Manifest { perm, array }
            }
            "reshape" => {
                let shape = self.dims()?;
                let array = self.var()?;
                ArrayOp::Reshape { shape, array }
            }
            "trace" => {
                let label = self.string()?;
                let ty = self.entry_type()?;
                let values = self.atoms()?;
                ArrayOp::Trace(Box::new(Trace { label, ty, values }))
            }
            "next" => ArrayOp::Stream(self.stream(StreamOp::Next)?),
            "read" => ArrayOp::Stream(self.stream(StreamOp::Read)?),
            "write" => ArrayOp::Stream(self.stream(StreamOp::Write)?),
            _ => return Ok(None),
        }))
    }

    fn stream(&mut self, op: StreamOp) -> Read<Stream> {
        let stream = self.number_u32()?;
        let args = self.atoms()?;
        Ok(Stream { op, stream, args })
    }

    fn permutation(&mut self) -> Read<Vec<usize>> {
        self.expect("(")?;
        self.list(")", Self::natural)
    }

    fn slice(&mut self) -> Read<Vec<SliceDim>> {
        self.expect("[")?;
        self.list("]", |r| {
            let start: Atom = r.atom()?;
            if !r.eat(":") {
                return Ok(SliceDim::Fix(start));
            }
            let len = r.size()?;
            r.expect(":")?;
            let stride = r.atom()?;
            Ok(SliceDim::Range { start, len, stride })
        })
    }

    /// An operation of the nested dialect, if `word` is the word of one.
    pub(in crate::ir) fn soac(&mut self, word: &str) -> Read<Option<Soac>> {
        if word == "updateacc" {
            return Ok(Some(Soac::UpdateAcc(self.update_acc()?)));
        }
        if !matches!(
            word,
            "map" | "hist" | "scatter" | "filter" | "flat_map" | "withacc"
        ) {
            return Ok(self.array_op(word)?.map(Soac::Array));
        }
        self.advance();
        let width = self.size()?;
        let arrays = self.var_list()?;
        if word == "withacc" {
            let acc = self.accumulators()?;
            let lam = self.lambda()?;
            return Ok(Some(Soac::WithAcc {
                width,
                arrays,
                lam,
                acc: self.combined(acc)?,
            }));
        }
        let lam = self.lambda()?;
        Ok(Some(match word {
            "map" => Soac::Screma {
                width,
                arrays,
                lam,
                scans: self.operators("scan")?,
                reds: self.operators("reduce")?,
            },
            "hist" => Soac::Hist {
                width,
                arrays,
                lam,
                ops: self.hist_ops()?,
            },
            "scatter" => Soac::Scatter {
                width,
                arrays,
                lam,
                dests: self.dests()?,
            },
            "flat_map" => {
                self.expect_word("rows")?;
                let rows = self.natural()?;
                self.expect_word("offsets")?;
                let marks = self.size()?;
                Soac::FlatMap {
                    width,
                    arrays,
                    lam,
                    rows,
                    marks,
                }
            }
            _ => Soac::Filter { width, arrays, lam },
        }))
    }

    /// Operators that each start with `word`.
    pub(super) fn operators<D: Text>(&mut self, word: &str) -> Read<Vec<Operator<D>>> {
        let mut ops = Vec::new();
        while self.eat_word(word) {
            ops.push(self.operator()?);
        }
        Ok(ops)
    }

    /// An operator after its word.
    pub(super) fn operator<D: Text>(&mut self) -> Read<Operator<D>> {
        let comm = self.eat_word("comm");
        let neutral = self.atoms()?;
        let lam = self.lambda()?;
        Ok(Operator { comm, lam, neutral })
    }

    fn hist_ops<D: Text>(&mut self) -> Read<Vec<HistOp<D>>> {
        let mut ops = Vec::new();
        while self.eat_word("into") {
            let shape = self.sizes()?;
            let dests = self.var_list()?;
            self.expect_word("by")?;
            let op = self.operator()?;
            ops.push(HistOp { shape, dests, op });
        }
        Ok(ops)
    }

    fn dests(&mut self) -> Read<Vec<ScatterDest>> {
        self.expect_word("into")?;
        self.expect("(")?;
        self.list(")", |r| {
            let array = r.var()?;
            r.expect(":")?;
            let rank = r.natural()?;
            Ok(ScatterDest { rank, array })
        })
    }

    /// The accumulators of an accumulation; its operator, if it has one, stands behind the body.
    fn accumulators<D>(&mut self) -> Read<Accumulation<D>> {
        self.expect_word("into")?;
        let token = self.binder()?;
        self.expect("(")?;
        let pairs = self.list(")", |r| {
            let param = r.binder()?;
            r.expect("=")?;
            Ok((param, r.var()?))
        })?;
        let (params, dests) = pairs.into_iter().unzip();
        Ok(Accumulation {
            token,
            params,
            dests,
            op: None,
        })
    }

    fn combined<D: Text>(&mut self, acc: Accumulation<D>) -> Read<Accumulation<D>> {
        let op = match self.eat_word("by") {
            true => Some(self.operator()?),
            false => None,
        };
        Ok(Accumulation { op, ..acc })
    }

    fn update_acc(&mut self) -> Read<UpdateAcc> {
        self.advance();
        let accs = self.var_list()?;
        self.expect("[")?;
        let index = self.atom()?;
        self.expect("]")?;
        self.expect("=")?;
        let values = self.atoms()?;
        Ok(UpdateAcc {
            accs,
            index,
            values,
        })
    }

    /// How many dimensions are worked on in tiles, if any are.
    pub(in crate::ir) fn tiled(&mut self) -> Read<usize> {
        if !self.eat_word("tiled") {
            return Ok(0);
        }
        self.natural()
    }

    /// An operation of the flat dialect, if `word` is the word of one.
    pub(in crate::ir) fn seg(&mut self, word: &str) -> Read<Option<Seg>> {
        if word == "updateacc" {
            return Ok(Some(Seg::UpdateAcc(self.update_acc()?)));
        }
        if !matches!(
            word,
            "segmap" | "segred" | "segscan" | "segfilter" | "seghist" | "segscatter" | "segacc"
        ) {
            return Ok(self.array_op(word)?.map(Seg::Array));
        }
        self.advance();
        let level = match self.word()? {
            "device" => Level::Device,
            "block" => Level::Block,
            "thread" => Level::Thread,
            _ => return Err(self.error("expected `device`, `block` or `thread` before this")),
        };
        let tiled = self.tiled()?;
        let steady = self.eat_word("steady");
        self.expect("(")?;
        let dims = self.list(")", |r| {
            let index = r.binder()?;
            if r.eat_word("in") {
                let offsets = r.var()?;
                return Ok((index, SpaceDim::Ragged { offsets }));
            }
            r.expect("<")?;
            let size: Size = r.size()?;
            Ok((index, SpaceDim::Regular(size)))
        })?;
        let acc = match word {
            "segacc" => Some(self.accumulators()?),
            _ => None,
        };
        let body = self.body()?;
        let kind = match word {
            "segmap" => SegKind::Map,
            "segfilter" => SegKind::Filter,
            "segred" => SegKind::Red(self.operators("reduce")?),
            "segscan" => SegKind::Scan(self.operators("scan")?),
            "seghist" => SegKind::Hist(self.hist_ops()?),
            _ => match acc {
                Some(acc) => SegKind::WithAcc(self.combined(acc)?),
                None => SegKind::Scatter(self.dests()?),
            },
        };
        let space = SegSpace { dims };
        Ok(Some(Seg::Par(SegOp {
            space,
            level,
            tiled,
            steady,
            body,
            kind,
        })))
    }
}
