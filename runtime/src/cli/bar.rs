//! Bars that show how far the work is.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;

/// A bar on standard error for so many things; nothing is shown where nobody looks.
pub(super) fn counting(all: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}");
    let bar = ProgressBar::new(all as u64);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
