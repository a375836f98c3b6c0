//! The kernels of a program as PTX, and what launching them needs to know: the same for every device.

use crate::lower::{self, Entry, Lowered, Site};
use crate::ptx::print;
use crate::ptx::verify::verify;
use midend::analysis::calls::calls;
use midend::analysis::kernels::{escaping, launched, statements};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel as Source, KernelKind, Mem, MemHist};
use midend::ir::scalar::Const;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Exp, Program};
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;
use std::collections::BTreeMap;

/// The kernels of a program.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// By the name that the plan launches them by.
    pub(crate) kernels: BTreeMap<String, Kernel>,
    /// The checks of all kernels; the number in a failure word is one more than the index.
    pub(crate) sites: Vec<Site>,
    pub(crate) spans: Spans,
}

/// A kernel, and what launching it needs to know.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The types of its arguments.
    pub(crate) args: Vec<Type>,
    /// What becomes of the arguments that are buffers.
    pub(crate) uses: Vec<Use>,
    pub(crate) space: Vec<Dimension>,
    pub(crate) lowered: Lowered,
    /// Whether a row is folded in the same way however many there are.
    pub(crate) steady: bool,
    /// The steps of the loop of a map that is worked on in tiles.
    pub(crate) steps: Option<Scalar>,
    /// Of a map whose points threads work on together: how wide they are, and how many bytes they need.
    pub(crate) needs: Option<(Scalar, Scalar)>,
    /// The types of the tuple of operators.
    pub(crate) tuple: Vec<ScalarType>,
    /// Of each histogram: its buckets, and arguments and types of its destinations.
    pub(crate) hists: Vec<Histogram>,
}

/// What a kernel does with an argument.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    pub(crate) read: bool,
    pub(crate) written: bool,
}

/// The number of buckets, and for each destination the argument that it is and its type.
pub(crate) type Histogram = (Scalar, Vec<(usize, ScalarType)>);

/// A scalar at launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar {
    Const(Const),
    Argument(usize),
}

/// The extent of a dimension at launch: a number, or the argument that holds the offsets of its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dimension {
    Regular(Scalar),
    Ragged(usize),
}

impl Kernel {
    /// The entries, each a module of its own; launches name them by their index.
    pub(crate) fn entries(&self) -> Vec<&Entry> {
        match &self.lowered {
            Lowered::Map {
                plain,
                wide,
                tiled,
                ragged,
                steps: _,
            } => {
                let [wide, ragged] = [wide, ragged].map(|form| form.iter().map(|(entry, _)| entry));
                let tiled = tiled.iter().map(|tiled| &tiled.entry);
                let all = [plain].into_iter().chain(wide);
                all.chain(tiled).chain(ragged).collect()
            }
            Lowered::Blocks { plain, forms } => {
                let forms = forms.iter().map(|form| &form.entry);
                [plain].into_iter().chain(forms).collect()
            }
            Lowered::Seq(entry) => vec![entry],
            Lowered::Hist(hist) => hist.entries().into_iter().map(|(_, entry)| entry).collect(),
            Lowered::Red {
                small,
                more,
                ragged,
            } => {
                let more = more.iter().flat_map(|more| [&more.large, &more.warps]);
                let ragged = ragged.iter().map(|ragged| &ragged.entry);
                [small].into_iter().chain(more).chain(ragged).collect()
            }
            Lowered::Scan {
                small,
                more,
                ragged,
            } => {
                let more = more.iter().flat_map(|more| {
                    let large = more.large.iter().map(|large| &large.entry);
                    std::iter::once(&more.warps).chain(large)
                });
                let ragged = ragged.iter().map(|ragged| &ragged.entry);
                [small].into_iter().chain(more).chain(ragged).collect()
            }
            Lowered::Copies { fill, work, merge } => vec![fill, work, merge],
        }
    }
}

impl Kernels {
    /// The kernel of that name.
    pub(crate) fn kernel(&self, name: &str) -> Result<&Kernel, RunError> {
        let kernel = self.kernels.get(name);
        kernel.ok_or_else(|| RunError::Device(format!("no kernel is called {name}")))
    }

    /// The text of every entry, by name, for devices of a capability.
    pub(crate) fn texts(&self, target: u32) -> Vec<(String, String)> {
        let all = self.kernels.values().flat_map(Kernel::entries);
        all.map(|e| (e.name.clone(), print::module(&e.module, target)))
            .collect()
    }
}

/// Compiles all kernels of a program for devices of a capability. What the verifier objects to is a mistake of the compiler.
pub(crate) fn compile(program: &Program<Mem>, target: u32) -> Result<Kernels, RunError> {
    let mut sites = Vec::new();
    let calls = calls(program);
    let mut kernels = BTreeMap::new();
    for (kernel, args) in launched(program) {
        let mut source = lower::Source {
            program,
            calls: &calls,
            sites: &mut sites,
        };
        let lowered = lower::kernel(&mut source, kernel, &args);
        let described = describe(program, kernel, &args, lowered);
        for entry in described.entries() {
            verify(&entry.module, target)
                .map_err(|violation| RunError::Internal(violation.to_string()))?;
        }
        kernels.insert(kernel.name.clone(), described);
    }
    Ok(Kernels {
        kernels,
        sites,
        spans: program.spans.clone(),
    })
}

fn describe(program: &Program<Mem>, kernel: &Source, args: &[Var], lowered: Lowered) -> Kernel {
    let index = |v: &Var| {
        args.binary_search(v)
            .expect("what a kernel uses is among its arguments")
    };
    let scalar = |atom: &Atom| match atom {
        Atom::Const(c) => Scalar::Const(*c),
        Atom::Var(v) => Scalar::Argument(index(v)),
    };
    let elem = |v: &Var| program.vars[*v].ty.elem().unwrap_or(ScalarType::I64);
    let (tuple, hists): (Vec<ScalarType>, &[MemHist]) = match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => (vec![], &[]),
        KernelKind::Red { ops, .. } | KernelKind::Scan { ops, .. } => {
            (lower::components(program, ops), &[])
        }
        KernelKind::Hist(hists) => (vec![], hists),
    };
    let steps = match &lowered {
        Lowered::Map { steps, .. } => steps.as_ref().map(scalar),
        Lowered::Seq(_)
        | Lowered::Blocks { .. }
        | Lowered::Red { .. }
        | Lowered::Scan { .. }
        | Lowered::Hist(_)
        | Lowered::Copies { .. } => None,
    };
    Kernel {
        uses: uses(kernel, args),
        args: args.iter().map(|v| program.vars[*v].ty.clone()).collect(),
        space: kernel
            .space
            .iter()
            .map(|(_, extent)| match extent {
                Extent::Regular(n) => Dimension::Regular(scalar(n)),
                Extent::Ragged { offsets, .. } => Dimension::Ragged(index(offsets)),
            })
            .collect(),
        lowered,
        steady: kernel.steady,
        steps,
        needs: kernel
            .block
            .map(|needs| (scalar(&needs.width), scalar(&needs.bytes))),
        tuple,
        hists: hists
            .iter()
            .map(|h| {
                let dests = h.dests.iter().map(|d| (index(d), elem(d))).collect();
                (scalar(&h.buckets), dests)
            })
            .collect(),
    }
}

/// What a kernel does with its arguments: what is not known to be less is taken to be read and written.
fn uses(kernel: &Source, args: &[Var]) -> Vec<Use> {
    let is_map = matches!(kernel.kind, KernelKind::Map);
    let escaping = escaping(&kernel.body);
    let any = |v: &Var| Use {
        read: !is_map || escaping.contains(v),
        written: !is_map || escaping.contains(v),
    };
    let mut uses: Vec<Use> = args.iter().map(any).collect();
    let mut note = |v: &Var, read: bool| {
        if let Ok(i) = args.binary_search(v) {
            uses[i].read |= read;
            uses[i].written |= !read;
        }
    };
    statements(&kernel.body, &mut |stm| match &stm.exp {
        Exp::Op(Mem::Load { buffer, .. }) => note(buffer, true),
        Exp::Op(Mem::Store { buffer, .. }) => note(buffer, false),
        Exp::Op(Mem::Copy { dst, src, .. }) => {
            note(&dst.buffer, false);
            note(&src.buffer, true);
        }
        Exp::Op(Mem::Launch(kernel)) => match &kernel.kind {
            KernelKind::Red { outs, .. } | KernelKind::Scan { outs, .. } => {
                outs.iter().for_each(|out| note(out, false));
            }
            KernelKind::Hist(hists) => {
                for dest in hists.iter().flat_map(|hist| &hist.dests) {
                    note(dest, true);
                    note(dest, false);
                }
            }
            KernelKind::Map | KernelKind::Seq => {}
        },
        Exp::Op(
            Mem::Alloc { .. } | Mem::Free(_) | Mem::Apart(_) | Mem::Trace(_) | Mem::Stream(_),
        )
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => {}
    });
    uses
}
