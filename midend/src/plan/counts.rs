//! How often a run gives the device which kind of work.
//!
//! Each parallel operation of the flat program is one kernel of its kind (scatters and updates through accumulators are
//! maps that store), and host code copies arrays. Sequential kernels are host code that is compiled: they are no work
//! of the device and are not counted.

use crate::hash::HashSet;
use crate::ir::mem::{Kernel, KernelKind, Mem};
use crate::ir::syntax::Exp;
use crate::ir::walk::all_stms;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of work for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// A kernel whose points are independent.
    Map,
    /// A reduction, segmented or not.
    Reduce,
    /// A scan.
    Scan,
    /// A histogram.
    Hist,
    /// A copy of an array.
    Copy,
    /// A kernel that stores one value everywhere.
    Fill,
}

impl Work {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Map,
        Self::Reduce,
        Self::Scan,
        Self::Hist,
        Self::Copy,
        Self::Fill,
    ];

    /// The name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Hist => "hist",
            Self::Copy => "copy",
            Self::Fill => "fill",
        }
    }
    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }
    /// The kind of work that a kernel is, if it is counted.
    pub fn of(kernel: &Kernel) -> Option<Self> {
        match &kernel.kind {
            KernelKind::Map if is_fill(kernel) => Some(Self::Fill),
            KernelKind::Map => Some(Self::Map),
            KernelKind::Seq => None,
            KernelKind::Red { .. } => Some(Self::Reduce),
            KernelKind::Scan { .. } => Some(Self::Scan),
            KernelKind::Hist(_) => Some(Self::Hist),
        }
    }
}

/// Whether the points of a kernel compute nothing but where to store what is known before.
fn is_fill(kernel: &Kernel) -> bool {
    let mut bound = HashSet::default();
    let mut stores = 0;
    let mut other = false;
    all_stms(&kernel.body, &mut |stm| {
        match &stm.exp {
            Exp::Scalar(..) | Exp::Atom(_) => {}
            Exp::Op(Mem::Store { value, .. }) => {
                stores += 1;
                let own = |(index, _): &(_, _)| value.as_var() == Some(*index);
                other |= value.as_var().is_some_and(|v| bound.contains(&v));
                other |= kernel.space.iter().any(own);
            }
            Exp::Op(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => other = true,
        }
        bound.extend(stm.binds.iter().copied());
    });
    stores == 1 && !other
}

/// How much work of each kind was done.
#[derive(Debug, Default)]
pub struct Counts([AtomicU64; Work::ALL.len()]);

impl Counts {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }
    /// One more of a kind.
    pub fn add(&self, work: Work) {
        self.0[work as usize].fetch_add(1, Ordering::Relaxed);
    }
    /// How much of a kind.
    pub fn of(&self, work: Work) -> u64 {
        self.0[work as usize].load(Ordering::Relaxed)
    }
}

impl FromIterator<(Work, u64)> for Counts {
    fn from_iter<I: IntoIterator<Item = (Work, u64)>>(counts: I) -> Self {
        let all = Self::new();
        for (work, number) in counts {
            all.0[work as usize].fetch_add(number, Ordering::Relaxed);
        }
        all
    }
}

impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        Work::ALL
            .iter()
            .all(|work| self.of(*work) == other.of(*work))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Work::ALL.into_iter().filter(|work| self.of(*work) > 0);
        let texts: Vec<String> = all
            .map(|work| format!("{} {}", work.name(), self.of(work)))
            .collect();
        match texts.as_slice() {
            [] => f.write_str("nothing"),
            texts => f.write_str(&texts.join(" ")),
        }
    }
}
