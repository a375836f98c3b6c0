//! Launches: which entries of a kernel run, on how many blocks, with what scratch memory.

use super::{Buffer, Compiled, Dimension, EmuDevice, FAILURE_BYTES, Module, Scalar, State, lock};
use crate::emu::{self, FaultKind, Launch, Memory, Program as Code, Snapshot};
use crate::lower::{EXHAUSTED, Entry, Lowered, SitePart, THREADS, scan_items};
use midend::device::{Arg, Stop};
use midend::interp::message::number;
use midend::ir::scalar::Const;
use midend::ir::types::{ScalarType, Type};
use midend::trap::{RunError, Trap, trail};

/// Segments up to this length, and more of them than [`MANY`], are folded by a thread each.
const SHORT: i64 = 256;
/// So many segments keep the device busy without help.
const MANY: i64 = 1 << 14;
/// Blocks of a reduction.
const BLOCKS: i64 = 256;
/// Copies of the buckets of a histogram, and values in all copies.
const COPIES: (i64, i64) = (1024, 1 << 20);
/// Bytes that each thread has for local buffers at first.
const SHARE: u64 = 16 << 10;
/// The most bytes of all threads together.
const ARENA: u64 = 1 << 28;

/// One launch.
struct Run<'a> {
    device: &'a EmuDevice,
    module: &'a Module,
    compiled: &'a Compiled,
    slots: Vec<u64>,
    stop: &'a Stop,
    /// Scratch arrays, given back at the end.
    scratch: Vec<u64>,
}

/// Runs a kernel to its end.
pub(super) fn launch(
    device: &EmuDevice,
    module: &Module,
    compiled: &Compiled,
    args: &[Arg<Buffer>],
    stop: &Stop,
) -> Result<(), RunError> {
    let slots = fill(compiled, args)?;
    let mut run = Run {
        device,
        module,
        compiled,
        slots,
        stop,
        scratch: Vec::new(),
    };
    let mut state = lock(&device.state);
    let extents = run.extents(&state.memory)?;
    let result = run.kernel(&mut state, extents);
    for address in std::mem::take(&mut run.scratch) {
        state.memory.free(address);
    }
    result
}

/// Arguments as slots.
fn fill(compiled: &Compiled, args: &[Arg<Buffer>]) -> Result<Vec<u64>, RunError> {
    if compiled.args.len() != args.len() {
        return Err(RunError::Device(format!(
            "a kernel of {} arguments was given {}",
            compiled.args.len(),
            args.len()
        )));
    }
    let slots = args
        .iter()
        .zip(&compiled.args)
        .map(|(arg, ty)| match (arg, ty) {
            (Arg::Scalar(value), Type::Scalar(ty)) if value.ty() == *ty => Ok(slot_of(*value)),
            (Arg::Buffer(buffer), Type::Buffer(elem)) if buffer.0.elem == *elem => {
                Ok(buffer.0.address)
            }
            (Arg::Scalar(_) | Arg::Buffer(_), _) => Err(RunError::Device(
                "an argument of a kernel has the wrong type".to_owned(),
            )),
        });
    slots.collect()
}

fn scalar(source: Scalar, slots: &[u64]) -> u64 {
    match source {
        Scalar::Const(value) => slot_of(value),
        Scalar::Argument(i) => slots[i],
    }
}

/// A scalar in 8 bytes, the low ones as in memory.
const fn slot_of(value: Const) -> u64 {
    crate::lower::bits_of(value)
}

/// A scalar as its bytes in memory.
pub(super) fn bytes_of(value: Const) -> Vec<u8> {
    slot_of(value).to_le_bytes()[..value.ty().bytes()].to_vec()
}

/// The scalar with these bytes.
pub(super) fn const_of(ty: ScalarType, bytes: &[u8]) -> Const {
    let mut all = [0; 8];
    all[..ty.bytes()].copy_from_slice(&bytes[..ty.bytes()]);
    let slot = u64::from_le_bytes(all);
    match ty {
        ScalarType::I8 => Const::I8(slot as i8),
        ScalarType::I16 => Const::I16(slot as i16),
        ScalarType::I32 => Const::I32(slot as i32),
        ScalarType::I64 => Const::I64(slot as i64),
        ScalarType::U8 => Const::U8(slot as u8),
        ScalarType::U16 => Const::U16(slot as u16),
        ScalarType::U32 => Const::U32(slot as u32),
        ScalarType::U64 => Const::U64(slot),
        ScalarType::F16 => Const::F16(slot as u16),
        ScalarType::F32 => Const::F32(slot as u32),
        ScalarType::F64 => Const::F64(slot),
        ScalarType::Bool => Const::Bool(slot as u8 != 0),
    }
}

impl Run<'_> {
    /// The innermost extent and the number of points outside; the points and 1 if the innermost dimension is ragged.
    fn extents(&self, memory: &Memory) -> Result<(i64, i64), RunError> {
        let (mut inner, mut outer) = (1i64, 1i64);
        for (i, dimension) in self.compiled.space.iter().enumerate() {
            let rows = inner.saturating_mul(outer);
            (inner, outer) = match dimension {
                Dimension::Regular(n) => ((scalar(*n, &self.slots) as i64).max(0), rows),
                Dimension::Ragged(offsets) => {
                    let at = self.slots[*offsets] + 8 * rows as u64;
                    let bytes = memory.read(at, 8).ok_or_else(|| {
                        RunError::Device("a kernel has too few offsets of rows".to_owned())
                    })?;
                    let Const::I64(points) = const_of(ScalarType::I64, bytes) else {
                        continue;
                    };
                    // Folded by row: as many segments as rows.
                    if i + 1 == self.compiled.space.len() && self.folds() {
                        (1, rows)
                    } else {
                        (points, 1)
                    }
                }
            };
        }
        Ok((inner, outer))
    }

    /// Whether the innermost dimension is folded.
    const fn folds(&self) -> bool {
        matches!(
            self.compiled.lowered,
            Lowered::Red { .. } | Lowered::Scan { .. }
        )
    }

    /// Whether segments are folded by a thread each.
    const fn is_small(&self, inner: i64, outer: i64) -> bool {
        self.compiled.has_ragged_rows || inner <= SHORT || outer >= MANY
    }

    fn kernel(&mut self, state: &mut State, (inner, outer): (i64, i64)) -> Result<(), RunError> {
        let compiled = self.compiled;
        let code = &compiled.code;
        let points = inner.saturating_mul(outer);
        match &compiled.lowered {
            Lowered::Seq(entry) => self.entry(state, (entry, &code[0]), 1, &[]),
            Lowered::Map(entry) | Lowered::Atomic(entry) => {
                self.threads(state, (entry, &code[0]), points, &[points as u64])
            }
            Lowered::Red { small, large } => {
                if self.is_small(inner, outer) {
                    return self.threads(state, (small, &code[0]), outer, &[outer as u64]);
                }
                self.reduce(state, (large, &code[1]), (inner, outer))
            }
            Lowered::Scan { small, large } => {
                if self.is_small(inner, outer) {
                    return self.threads(state, (small, &code[0]), outer, &[outer as u64]);
                }
                self.scan(state, (large, &code[1]), (inner, outer))
            }
            Lowered::Copies { fill, work, merge } => {
                let entries = [(fill, &code[0]), (work, &code[1]), (merge, &code[2])];
                self.copies(state, entries, points)
            }
        }
    }

    /// Scratch memory of `len` elements; zeros if it says so.
    fn scratch(&mut self, memory: &mut Memory, elem: usize, len: i64, zeros: bool) -> u64 {
        let address = memory.alloc(elem as u32, len as usize);
        if zeros {
            let _ = memory.write(address, &vec![0; len as usize * elem]);
        }
        self.scratch.push(address);
        address
    }

    /// One thread for each of `count`.
    fn threads(
        &mut self,
        state: &mut State,
        entry: (&Entry, &Code),
        count: i64,
        extras: &[u64],
    ) -> Result<(), RunError> {
        if count == 0 {
            return Ok(());
        }
        let most = if entry.0.uses_arena { 64 } else { 1 << 30 };
        let blocks = (count as u64).div_ceil(THREADS.into()).min(most);
        self.entry(state, entry, blocks as u32, extras)
    }

    fn reduce(
        &mut self,
        state: &mut State,
        entry: (&Entry, &Code),
        (inner, outer): (i64, i64),
    ) -> Result<(), RunError> {
        let parts = (BLOCKS / outer).clamp(1, (inner / i64::from(4 * THREADS)).max(1));
        let chunk = inner.unsigned_abs().div_ceil(parts.unsigned_abs()) as i64;
        let parts = inner.unsigned_abs().div_ceil(chunk.unsigned_abs()) as i64;
        let mut extras = vec![inner as u64, parts as u64, chunk as u64];
        extras.push(self.scratch(&mut state.memory, 4, outer, true));
        for ty in &self.compiled.tuple {
            extras.push(self.scratch(&mut state.memory, ty.bytes(), outer * parts, false));
        }
        self.entry(state, entry, (outer * parts) as u32, &extras)
    }

    fn scan(
        &mut self,
        state: &mut State,
        entry: (&Entry, &Code),
        (inner, outer): (i64, i64),
    ) -> Result<(), RunError> {
        let size = i64::from(THREADS * scan_items(&self.compiled.tuple));
        let tiles = inner.unsigned_abs().div_ceil(size.unsigned_abs()) as i64;
        let mut extras = vec![inner as u64, tiles as u64];
        extras.push(self.scratch(&mut state.memory, 4, 1, true));
        extras.push(self.scratch(&mut state.memory, 4, outer * tiles, true));
        for _ in 0..2 {
            for ty in &self.compiled.tuple {
                extras.push(self.scratch(&mut state.memory, ty.bytes(), outer * tiles, false));
            }
        }
        self.entry(state, entry, (outer * tiles) as u32, &extras)
    }

    fn copies(
        &mut self,
        state: &mut State,
        [fill, work, merge]: [(&Entry, &Code); 3],
        points: i64,
    ) -> Result<(), RunError> {
        if points == 0 {
            return Ok(());
        }
        let hists = &self.compiled.hists;
        let buckets: Vec<i64> = hists
            .iter()
            .map(|(buckets, _)| (scalar(*buckets, &self.slots) as i64).max(0))
            .collect();
        let values: i64 = hists
            .iter()
            .zip(&buckets)
            .map(|((_, d), n)| n * d.len() as i64)
            .sum();
        // A run is longer than its buckets, so that filling and merging do not cost more than the work.
        let most = (COPIES.1 / values.max(1)).min(points / values.max(16));
        let runs = most.clamp(1, COPIES.0);
        let size = points.unsigned_abs().div_ceil(runs.unsigned_abs()) as i64;
        let runs = points.unsigned_abs().div_ceil(size.unsigned_abs()) as i64;
        let mut tables = Vec::new();
        for ((_, dests), buckets) in hists.iter().zip(&buckets) {
            for (arg, ty) in dests {
                tables.push(if runs == 1 {
                    self.slots[*arg]
                } else {
                    self.scratch(&mut state.memory, ty.bytes(), buckets * runs, false)
                });
            }
        }
        let with = |first: &[u64]| [first, tables.as_slice()].concat();
        let copies = with(&[runs as u64]);
        let most_buckets = buckets.iter().copied().max().unwrap_or(0);
        if runs > 1 {
            self.threads(state, fill, most_buckets * runs, &copies)?;
        }
        let extras = with(&[points as u64, size as u64, runs as u64]);
        self.threads(state, work, runs, &extras)?;
        if runs > 1 {
            self.threads(state, merge, most_buckets, &copies)?;
        }
        Ok(())
    }

    /// Runs an entry. If threads run out of memory for local buffers, everything is put back as it was, and they get more.
    fn entry(
        &mut self,
        state: &mut State,
        (entry, code): (&Entry, &Code),
        blocks: u32,
        extras: &[u64],
    ) -> Result<(), RunError> {
        debug_assert_eq!(entry.extras, extras.len(), "parameters of {}", entry.name);
        if blocks == 0 {
            return Ok(());
        }
        let mut share = SHARE;
        loop {
            let saved = if entry.uses_arena {
                self.snapshots(&state.memory, extras)
            } else {
                vec![]
            };
            let asked = self.once(state, (entry, code), blocks, extras, share)?;
            let Some(asked) = asked else { return Ok(()) };
            let threads = u64::from(blocks * THREADS);
            share = share
                .saturating_mul(4)
                .max(asked.saturating_mul(2))
                .next_multiple_of(16);
            if share.saturating_mul(threads)
                > ARENA.max(self.device.options.memory.unwrap_or(0)) * 16
            {
                return Err(RunError::OutOfMemory {
                    bytes: share.saturating_mul(threads),
                    limit: self.device.options.memory,
                    trail: vec![],
                });
            }
            for snapshot in saved {
                state.memory.restore(snapshot);
            }
        }
    }

    /// Copies of all arrays that the kernel may write.
    fn snapshots(&self, memory: &Memory, extras: &[u64]) -> Vec<Snapshot> {
        let buffers = self.slots.iter().zip(&self.compiled.args);
        let buffers = buffers
            .filter(|(_, ty)| matches!(ty, Type::Buffer(_)))
            .map(|(slot, _)| *slot);
        let mut all: Vec<u64> = buffers
            .chain(extras.iter().copied().filter(|e| self.scratch.contains(e)))
            .collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(|a| memory.snapshot(a)).collect()
    }

    /// Runs an entry once. Yields the bytes that a thread asked for in vain, if one did.
    fn once(
        &self,
        state: &mut State,
        (entry, code): (&Entry, &Code),
        blocks: u32,
        extras: &[u64],
        share: u64,
    ) -> Result<Option<u64>, RunError> {
        let memory = &mut state.memory;
        let failure = memory.alloc(8, FAILURE_BYTES / 8);
        let _ = memory.write(failure, &[0; FAILURE_BYTES]);
        let arena = if entry.uses_arena {
            let bytes = share * u64::from(blocks * THREADS);
            memory.alloc(4, (bytes / 4) as usize)
        } else {
            0
        };
        let fixed = [failure, arena, share];
        let params: Vec<u8> = [self.slots.as_slice(), &fixed, extras]
            .concat()
            .iter()
            .flat_map(|slot| slot.to_le_bytes())
            .collect();
        let launch = Launch {
            kernel: &entry.name,
            blocks,
            params: &params,
        };
        let options = emu::Options {
            seed: self.device.options.seed,
            fuel: self.device.options.fuel,
            stop: Some(self.stop),
        };
        let result = emu::run(code, memory, launch, options);
        let record = memory.read(failure, FAILURE_BYTES).map(<[u8]>::to_vec);
        memory.free(failure);
        if entry.uses_arena {
            memory.free(arena);
        }
        result.map_err(|fault| match fault.kind {
            FaultKind::Stopped => RunError::Interrupted,
            FaultKind::OutOfFuel => RunError::OutOfFuel,
            FaultKind::Race
            | FaultKind::Undefined
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Divergence
            | FaultKind::Deadlock
            | FaultKind::StackOverflow
            | FaultKind::BadLaunch => RunError::Internal(fault.to_string()),
        })?;
        self.verdict(&record.unwrap_or_default())
    }

    /// What the failure word says.
    fn verdict(&self, record: &[u8]) -> Result<Option<u64>, RunError> {
        let mut words = record.chunks_exact(8);
        let first = words.next().unwrap_or(&[0; 8]);
        let Const::U32(failed) = const_of(ScalarType::U32, first) else {
            return Ok(None);
        };
        if failed == 0 {
            return Ok(None);
        }
        if failed == EXHAUSTED {
            let asked = words.next().map(|w| const_of(ScalarType::U64, w));
            return Ok(Some(match asked {
                Some(Const::U64(bytes)) => bytes,
                Some(_) | None => 0,
            }));
        }
        let Some(site) = self.module.sites.get(failed as usize - 1) else {
            return Err(RunError::Internal(format!("there is no check {failed}")));
        };
        let mut message = String::new();
        for part in &site.parts {
            match part {
                SitePart::Text(text) => message.push_str(text),
                SitePart::Value(ty) => {
                    if let Some(word) = words.next() {
                        message.push_str(&number(const_of(*ty, word)));
                    }
                }
            }
        }
        Err(RunError::Trap(Trap {
            kind: site.kind,
            message,
            trail: trail(&self.module.spans, site.span),
        }))
    }
}
