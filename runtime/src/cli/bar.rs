//! Bars that show how far the work is.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;

/// A bar on standard error for so many things; nothing is shown where nobody looks.
pub(super) fn counting(all: usize) -> ProgressBar {
    styled(all as u64, "{bar:30} {pos}/{len} {msg} {elapsed}")
}

/// A bar on standard error for so many bytes.
pub(super) fn bytes(all: u64) -> ProgressBar {
    styled(all, "{bar:30} {bytes}/{total_bytes} {eta}")
}

fn styled(all: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(all);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
