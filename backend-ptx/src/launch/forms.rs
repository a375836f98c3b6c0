//! Names of the forms that launches take, for campaigns of tests that must know whether they reach all of them.

use crate::compile::Kernel;
use crate::lower::{self, Hist, Lowered};

/// The form of an entry, by its index among those of the kernel.
pub(super) fn name(kernel: &Kernel, entry: usize) -> &'static str {
    let last = kernel.entries().len() - 1;
    match &kernel.lowered {
        Lowered::Map {
            ragged: Some(_), ..
        } if entry == last => "ptx/map-of-rows",
        Lowered::Map { wide: Some(_), .. } if entry == 1 => "ptx/map-wide",
        Lowered::Map { .. } if entry > 0 => "ptx/map-in-tiles",
        Lowered::Map { .. } => "ptx/map",
        Lowered::Blocks { .. } if entry > 0 => "ptx/by-blocks",
        Lowered::Blocks { .. } => "ptx/by-blocks-too-large",
        Lowered::Seq(_) => "ptx/one-thread",
        Lowered::Red {
            ragged: Some(_), ..
        } if entry == last => "ptx/reduction-of-rows",
        Lowered::Red { .. } if entry == 1 => "ptx/reduction-by-blocks",
        Lowered::Red { .. } if entry == 2 => "ptx/reduction-by-warps",
        Lowered::Red { .. } => "ptx/reduction-by-threads",
        Lowered::Scan {
            ragged: Some(_), ..
        } if entry == last => "ptx/scan-of-rows",
        Lowered::Scan { .. } if entry == 1 => "ptx/scan-by-warps",
        Lowered::Scan { .. } if entry == 2 => "ptx/scan-by-blocks",
        Lowered::Scan { .. } => "ptx/scan-by-threads",
        Lowered::Hist(hist) => of_histogram(hist, entry),
        Lowered::Copies { .. } => "ptx/histogram-in-copies",
    }
}

fn of_histogram(hist: &Hist, entry: usize) -> &'static str {
    match hist.entries()[entry].0 {
        lower::Form::Atomic => "ptx/histogram-atomic",
        lower::Form::Shared => "ptx/histogram-shared",
        lower::Form::Ordered => "ptx/histogram-in-order",
        lower::Form::Merge => "ptx/histogram-merged",
    }
}
