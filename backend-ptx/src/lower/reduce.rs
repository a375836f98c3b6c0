//! Reductions: by the length of segments a thread, a warp, a block or several blocks for each.
//!
//! The order of the elements is kept: threads fold runs of neighbours (of commutative operators: every so many), warps fold
//! their lanes as a tree of neighbours, one thread folds the warps, and the block that comes last folds the blocks. Sizes
//! alone decide which elements go together.

mod blocks;

pub(super) use blocks::large;

use super::runs::{Runs, Workers};
use super::{Entry, Lower, Shape, Source, components, entry};
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::Lambda;
use midend::ir::types::ScalarType;

/// The forms of a reduction with several threads per segment.
#[derive(Debug)]
pub(crate) struct More {
    /// Blocks.
    pub(crate) large: Entry,
    /// A warp.
    pub(crate) warps: Entry,
    /// Whether neighbours of a segment lie side by side in memory.
    pub(crate) is_contiguous: bool,
}

/// The operators and where results go.
pub(super) type Fold<'a> = (&'a [Operator<Mem>], &'a [Var]);

/// What of a fold is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keeps<'a> {
    /// What all elements come to.
    Total,
    /// What those up to each element come to.
    Prefixes,
    /// The same is handed on.
    Then(&'a Lambda<Mem>),
}

impl<'a> Keeps<'a> {
    /// What a scan keeps.
    pub(super) fn of(then: Option<&'a Lambda<Mem>>) -> Self {
        then.map_or(Self::Prefixes, Self::Then)
    }
}

/// A thread per segment, for reductions and for scans. The parameter is the number of segments.
pub(super) fn small(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
    keeps: Keeps<'_>,
) -> Entry {
    let shape = Shape::of(kernel, args, "small", 1);
    entry(source, &shape, |lower, extras| {
        let types = components(lower.program, ops);
        lower.points(extras[0], |lower, segment| {
            let acc = lower.start(ops, &types);
            lower.segment(kernel, segment, |lower, point, mut values| {
                let rest = values.split_off(types.len());
                lower.accumulate(ops, &types, &acc, values);
                match keeps {
                    Keeps::Total => {}
                    Keeps::Prefixes => lower.store_tuple(outs, &types, point, &acc),
                    Keeps::Then(then) => {
                        let sums = acc.iter().map(|r| Operand::Reg(*r));
                        lower.then(then, sums.chain(rest));
                    }
                }
            });
            match keeps {
                Keeps::Total => lower.store_tuple(outs, &types, segment, &acc),
                Keeps::Prefixes | Keeps::Then(_) => {}
            }
        });
    })
}

/// A warp per segment. The parameters are the number of segments and the elements of each.
pub(super) fn warps(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let shape = Shape::of(kernel, args, "warps", 2);
    let comm = ops.iter().all(|op| op.comm);
    let program = source.program;
    entry(source, &shape, |lower, extras| {
        let types = components(program, ops);
        let [segments, inner] = [extras[0], extras[1]];
        let (thread, all) = lower.thread();
        let shift = Operand::Imm(5);
        let [warp, warps] = [thread, all].map(|n| lower.b.bin(Binary::Shr, Ty::U64, n, shift));
        let lane = lower.b.special(Special::Lane);
        let range = (warp.into(), segments.into(), warps.into());
        lower.count(Ty::U64, range, true, |lower, segment| {
            let acc = lower.start(ops, &types);
            lower.outer_indices(kernel, segment);
            let low = lower.b.mov(Ty::B64, Operand::Imm(0));
            let runs = Runs::of(program, kernel, true);
            let part = Part {
                range: (low, inner),
                turn: None,
                workers: (lane, 32),
                runs: runs.as_ref(),
            };
            lower.fold_part((kernel, ops), &types, &acc, comm, &part);
            lower.over_lanes((Shuffle::Down, 31), (ops, &types), &acc, |lower, others| {
                lower.accumulate(ops, &types, &acc, others);
            });
            let first = lower.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(0));
            lower.when(first, |lower| {
                lower.store_tuple(outs, &types, segment, &acc);
            });
        });
    })
}

/// A part of a segment.
struct Part<'a> {
    /// Its first element and its end.
    range: (Reg, Reg),
    /// From one tile to the next, if they do not lie side by side.
    turn: Option<Reg>,
    workers: Workers,
    /// What each worker has of a tile, if operators are commutative.
    runs: Option<&'a Runs>,
}

/// Elements of a thread: the first one, the end, the step.
type Range = (Operand, Operand, Operand);

impl Lower<'_> {
    /// Folds the results of the body at elements of a part of a segment, whose outer indices are bound: each worker has a run of
    /// neighbours, or, if operators are commutative, some of each tile.
    fn fold_part(
        &mut self,
        (kernel, ops): (&Kernel, &[Operator<Mem>]),
        types: &[ScalarType],
        acc: &[Reg],
        comm: bool,
        part: &Part<'_>,
    ) {
        let one = |lower: &mut Self, i| {
            let values = lower.element(kernel, types, i);
            lower.accumulate(ops, types, acc, values);
        };
        let (low, high) = part.range;
        if !comm {
            let range = self.share((low, high), part.workers);
            return self.count(Ty::U64, range, false, one);
        }
        let several = |lower: &mut Self, elements: &[Reg]| {
            for values in lower.elements(kernel, types, elements, part.runs) {
                lower.accumulate(ops, types, acc, values);
            }
        };
        let range = (low, high, part.turn);
        self.by_tiles(part.runs, range, part.workers, several, one);
    }

    /// Registers that hold the neutral elements.
    pub(super) fn start(&mut self, ops: &[Operator<Mem>], types: &[ScalarType]) -> Vec<Reg> {
        let neutral = self.neutral(ops);
        let both = neutral.into_iter().zip(types);
        both.map(|(value, ty)| self.fresh(*ty, value)).collect()
    }

    /// Combines what is there with a further tuple. If that fails, what is there is 0.
    pub(super) fn accumulate(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        acc: &[Reg],
        values: Vec<Operand>,
    ) {
        let left: Vec<Operand> = acc.iter().map(|r| Operand::Reg(*r)).collect();
        let new = self.combined(ops, types, &left, &values);
        for ((reg, ty), value) in acc.iter().zip(types).zip(new) {
            self.assign(*ty, *reg, value.into());
        }
    }

    /// Two tuples combined, in registers of their own.
    pub(super) fn combined(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        left: &[Operand],
        right: &[Operand],
    ) -> Vec<Reg> {
        self.protected(types, |lower| lower.operate(ops, left, right))
    }

    /// Binds the indices of all dimensions but the innermost one, that of elements of a segment.
    pub(super) fn outer_indices(&mut self, kernel: &Kernel, segment: Reg) {
        let outer = kernel
            .space
            .split_last()
            .map_or(&[][..], |(_, outer)| outer);
        self.indices(outer, segment);
    }

    pub(super) fn bind_element(&mut self, kernel: &Kernel, element: Reg) {
        if let Some((inner, _)) = kernel.space.last() {
            self.bind_scalar(*inner, element);
        }
    }

    /// The results of the body at an element of the segment whose outer indices are bound.
    pub(super) fn element(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        element: Reg,
    ) -> Vec<Operand> {
        self.bind_element(kernel, element);
        let values = self.protected(types, |lower| {
            lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body))
        });
        values.into_iter().map(Operand::Reg).collect()
    }

    /// The same at several elements at once.
    pub(super) fn elements(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        elements: &[Reg],
        runs: Option<&Runs>,
    ) -> Vec<Vec<Operand>> {
        let all: Vec<ScalarType> = elements.iter().flat_map(|_| types).copied().collect();
        let values = self.protected(&all, |lower| {
            let bind = |lower: &mut Self, element| lower.bind_element(kernel, element);
            lower.together(kernel, elements, runs, bind).concat()
        });
        let tuples = values.chunks_exact(types.len());
        tuples
            .map(|tuple| tuple.iter().map(|r| Operand::Reg(*r)).collect())
            .collect()
    }

    /// Runs the body at every point of a segment, in order; `f` gets the point and the results.
    pub(super) fn segment(
        &mut self,
        kernel: &Kernel,
        segment: Reg,
        f: impl FnOnce(&mut Self, Reg, Vec<Operand>),
    ) {
        let ((inner, extent), outer) = kernel
            .space
            .split_last()
            .expect("a kernel that folds has a dimension to fold along");
        self.indices(outer, segment);
        let (first, extent) = self.segment_bounds(*extent, segment);
        let range = (Operand::Imm(0), extent, Operand::Imm(1));
        self.count(Ty::S64, range, false, |lower, i| {
            lower.bind_scalar(*inner, i);
            let point = lower.b.bin(Binary::Add, Ty::U64, first, i);
            let mark = lower.mark(&kernel.body);
            let values = lower.scalars(&kernel.body);
            f(lower, point, values);
            if let Some(mark) = mark {
                lower.give_back(mark);
            }
        });
    }

    /// Does at a point what is done with its sums. If that fails, the thread goes on, since others count on it: lanes that vote, and blocks
    /// that take tiles in turn.
    pub(super) fn then(&mut self, then: &Lambda<Mem>, values: impl Iterator<Item = Operand>) {
        for (&param, value) in then.params.iter().zip(values) {
            self.bind_scalar(param, value);
        }
        self.protected(&[], |lower| {
            lower.body(&then.body);
            vec![]
        });
    }

    /// Stores a tuple at a row-major index.
    pub(super) fn store_tuple(
        &mut self,
        outs: &[Var],
        types: &[ScalarType],
        at: Reg,
        values: &[Reg],
    ) {
        for ((out, ty), value) in outs.iter().zip(types).zip(values) {
            let place = self.place(self.value(*out), *ty, at.into());
            self.store(*ty, place, (*value).into());
        }
    }

    /// The elements of a worker out of those that all have, side by side.
    pub(super) fn share(&mut self, (low, high): (Reg, Reg), (number, size): Workers) -> Range {
        let number = self.wide(number);
        let all = self.b.bin(Binary::Sub, Ty::U64, high, low);
        let up = self
            .b
            .bin(Binary::Add, Ty::U64, all, Operand::Imm(u64::from(size) - 1));
        let each = self.b.bin(
            Binary::Shr,
            Ty::U64,
            up,
            Operand::Imm(size.trailing_zeros().into()),
        );
        let skip = self.b.bin(Binary::Mul, Ty::U64, each, number);
        let first = self.b.bin(Binary::Add, Ty::U64, low, skip);
        let end = self.b.bin(Binary::Add, Ty::U64, first, each);
        let end = self.b.bin(Binary::Min, Ty::U64, end, high);
        (first.into(), end.into(), Operand::Imm(1))
    }
}
