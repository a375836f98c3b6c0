//! Types of the operations of the plan, and what only host code may do.

use super::{Types, Verify};
use crate::ir::array::StreamOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Var};
use crate::ir::mem::{Extent, Kernel, KernelKind, Mem, MemHist, Region};
use crate::ir::seg::Level;
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Exp, Lambda, Program};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that no two kernels have one name.
pub(super) fn check_kernel_names<D: Verify>(cx: &mut Types<'_, '_, D>) {
    let mut seen = BTreeSet::new();
    for name in std::mem::take(&mut cx.kernels) {
        if !seen.insert(name) {
            cx.fault(format!("a second kernel is named {name}"));
        }
    }
}

impl Verify for Mem {
    fn verify_op<'p>(&'p self, cx: &mut Types<'_, 'p, Self>, binds: &'p [Var]) {
        match self {
            Self::Alloc { elem, len, over } => {
                cx.index(*len);
                if let Some(over) = over {
                    cx.host_only();
                    if cx.buffer(*over).is_some_and(|other| other != *elem) {
                        cx.fault("takes the memory of a buffer of another type");
                    }
                }
                cx.binds(binds, &[Type::Buffer(*elem)]);
            }
            Self::Free(buffer) => {
                cx.host_only();
                cx.buffer(*buffer);
                cx.binds(binds, &[]);
            }
            Self::Apart(extent) => {
                cx.host_only();
                cx.index(*extent);
                cx.binds(binds, &[]);
            }
            Self::Load { buffer, index } => {
                cx.index(*index);
                if let Some(elem) = cx.buffer(*buffer) {
                    cx.binds(binds, &[Type::Scalar(elem)]);
                }
            }
            Self::Store {
                buffer,
                index,
                value,
            } => {
                cx.index(*index);
                if let Some(elem) = cx.buffer(*buffer) {
                    cx.scalar("the value", *value, elem);
                }
                cx.binds(binds, &[]);
            }
            Self::Copy { shape, dst, src } => {
                shape.iter().for_each(|n| cx.index(*n));
                let (to, from) = (cx.region(shape, dst), cx.region(shape, src));
                if to != from {
                    cx.fault("copies between buffers of different types");
                }
                cx.binds(binds, &[]);
            }
            Self::Trace(trace) => {
                cx.host_only();
                for (value, shape) in &trace.values {
                    shape.iter().for_each(|n| cx.index(*n));
                    let found = cx.atom(*value);
                    let fits = match found {
                        Type::Scalar(_) => shape.is_empty(),
                        Type::Buffer(_) => !shape.is_empty(),
                        Type::Array(_) | Type::Acc(_) | Type::Cert => false,
                    };
                    if !fits {
                        cx.fault("shows what is no value");
                    }
                }
                cx.binds(binds, &[]);
            }
            Self::Stream(stream) => {
                cx.host_only();
                for (value, shape) in &stream.args {
                    shape.iter().for_each(|n| cx.index(*n));
                    cx.atom(*value);
                }
                let types: Vec<Type> = binds.iter().map(|&v| cx.var(v).clone()).collect();
                let fits = match stream.op {
                    StreamOp::Next => types == [Type::I64] && stream.args.len() == 2,
                    StreamOp::Read => types.first() == Some(&Type::I64) && stream.args.len() == 1,
                    StreamOp::Write => types.is_empty(),
                };
                if !fits {
                    cx.fault("is no step of a sequence");
                }
            }
            Self::Launch(kernel) => {
                match cx.parallel {
                    None => {
                        cx.kernel(kernel);
                        cx.called_in(self);
                    }
                    Some(_) => cx.shared_out(kernel),
                }
                cx.binds(binds, &[]);
            }
        }
    }
}

impl<'p> Types<'_, 'p, Mem> {
    fn host_only(&mut self) {
        if self.parallel.is_some() {
            self.fault("only host code may do this");
        }
    }

    fn buffer(&mut self, v: Var) -> Option<ScalarType> {
        match self.var(v) {
            Type::Buffer(elem) => Some(*elem),
            Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => {
                let name = self.cx.name(v);
                self.fault(format!("{name} is no buffer"));
                None
            }
        }
    }

    fn region(&mut self, shape: &[Atom], region: &Region) -> Option<ScalarType> {
        self.index(region.offset);
        region.strides.iter().for_each(|s| self.index(*s));
        if region.strides.len() != shape.len() {
            self.count("strides", region.strides.len(), shape.len());
        }
        self.buffer(region.buffer)
    }

    fn kernel(&mut self, kernel: &'p Kernel) {
        self.kernels.push(&kernel.name);
        for (d, (index, extent)) in kernel.space.iter().enumerate() {
            self.scalar("an index of the space", (*index).into(), ScalarType::I64);
            match *extent {
                Extent::Regular(n) => self.index(n),
                Extent::Ragged { offsets, start } => {
                    self.scalar("the start of a row", start.into(), ScalarType::I64);
                    if d == 0 || self.buffer(offsets) != Some(ScalarType::I64) {
                        self.fault("has a ragged dimension outermost or without offsets");
                    }
                }
            }
        }
        let regular = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Regular(_));
        let is_plain = matches!(kernel.kind, KernelKind::Map) && kernel.space.iter().all(regular);
        self.tiled(kernel.tiled, &kernel.space, is_plain);
        if kernel.block.is_some_and(|needs| {
            self.index(needs.width);
            self.index(needs.bytes);
            !is_plain
        }) {
            self.fault("is worked on by blocks, which only the points of a regular map are");
        }
        let level = match (self.parallel, is_plain) {
            (None, true) => Level::Device,
            (None, false) | (Some(_), _) => Level::Block,
        };
        let outer = self.parallel.replace(level);
        self.body(&kernel.body);
        let results: Vec<Type> = kernel.body.result.iter().map(|a| self.atom(*a)).collect();
        for ty in &results {
            if !matches!(ty, Type::Scalar(_)) {
                self.fault("a result of the kernel's body is no scalar");
            }
        }
        match &kernel.kind {
            KernelKind::Map => self.no_results(&results),
            KernelKind::Seq => {
                self.no_results(&results);
                if !kernel.space.is_empty() {
                    self.fault("a sequential kernel has a space");
                }
            }
            KernelKind::Red { ops, outs } => {
                self.has_dimensions(kernel);
                self.combined(&results, ops, outs);
            }
            KernelKind::Scan { ops, outs, then } => {
                self.has_dimensions(kernel);
                match then {
                    None => self.combined(&results, ops, outs),
                    Some(then) => self.scanned_then(kernel, &results, (ops, outs), then),
                }
            }
            KernelKind::Hist(_) => self.kernel_hist(kernel, &results),
        }
        self.parallel = outer;
    }

    /// Checks a kernel whose points are shared out among the threads that work on a point of another one.
    fn shared_out(&mut self, kernel: &'p Kernel) {
        if self.parallel != Some(Level::Device) {
            self.fault("is launched where there are no threads to share it out among");
        }
        let regular = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Regular(_));
        let fits = match &kernel.kind {
            KernelKind::Map => true,
            KernelKind::Red { .. } | KernelKind::Scan { then: None, .. } => kernel.space.len() == 1,
            // A body that combines by itself leaves no order to threads.
            KernelKind::Hist(_) => !kernel.body.result.is_empty(),
            KernelKind::Seq | KernelKind::Scan { then: Some(_), .. } => false,
        };
        if !fits || kernel.block.is_some() || !kernel.space.iter().all(regular) {
            self.fault(
                "is no map, reduction or scan of one row, or histogram, that threads can share out",
            );
        }
        self.kernel(kernel);
    }

    fn has_dimensions(&mut self, kernel: &Kernel) {
        if kernel.space.is_empty() {
            self.fault("runs over a space without dimensions");
        }
    }

    /// Checks a scan whose sums are handed on.
    fn scanned_then(
        &mut self,
        kernel: &'p Kernel,
        results: &[Type],
        (ops, outs): (&'p [Operator<Mem>], &[Var]),
        then: &'p Lambda<Mem>,
    ) {
        self.operators(results, ops);
        if !outs.is_empty() || then.params.len() != results.len() {
            self.fault(
                "what is done with sums takes all results, and nothing else is done with them",
            );
        }
        let mut again = !kernel.is_ragged();
        walk::all_stms(&kernel.body, &mut |stm| {
            again &= !matches!(&stm.exp, Exp::Op(op) if op.has_effect());
        });
        if !again {
            self.fault("does something with sums, but its body cannot be executed again");
        }
        let taken = self.lambda(then, results);
        self.no_results(&taken);
    }

    fn no_results(&mut self, results: &[Type]) {
        if !results.is_empty() {
            self.count("results", results.len(), 0);
        }
    }

    fn combined(&mut self, results: &[Type], ops: &'p [Operator<Mem>], outs: &[Var]) {
        let taken = self.operators(results, ops);
        if taken != results.len() || outs.len() != results.len() {
            self.fault("results, operators and buffers are not equally many");
        }
        for (out, ty) in outs.iter().zip(results) {
            self.out(*out, ty);
        }
    }

    fn out(&mut self, out: Var, ty: &Type) {
        if let Some(elem) = self.buffer(out) {
            self.fits("a result", ty, &Type::Scalar(elem));
        }
    }

    fn kernel_hist(&mut self, kernel: &'p Kernel, results: &[Type]) {
        let KernelKind::Hist(hists) = &kernel.kind else {
            return;
        };
        let values: usize = hists.iter().map(|h| h.dests.len()).sum();
        if results.is_empty() {
            return self.kernel_accumulates(hists);
        }
        if results.len() != hists.len() + values {
            return self.count("results", results.len(), hists.len() + values);
        }
        let (indices, mut values) = results.split_at(hists.len());
        for (hist, index) in hists.iter().zip(indices) {
            self.fits("a bucket index", index, &Type::I64);
            self.index(hist.buckets);
            let (own, rest) = values.split_at(hist.dests.len());
            values = rest;
            if self.operators(own, std::slice::from_ref(&hist.op)) != own.len() {
                self.fault("the operator does not take all values");
            }
            for (dest, ty) in hist.dests.iter().zip(own) {
                self.out(*dest, ty);
            }
        }
    }

    /// Histograms whose updates the body makes itself.
    fn kernel_accumulates(&mut self, hists: &'p [MemHist]) {
        for hist in hists {
            self.index(hist.buckets);
            let elems = hist.dests.iter().filter_map(|dest| self.buffer(*dest));
            let elems: Vec<Type> = elems.map(Type::Scalar).collect();
            if self.operators(&elems, std::slice::from_ref(&hist.op)) != hist.dests.len() {
                self.fault("the operator does not take all values");
            }
        }
    }

    /// Checks that functions called in the kernel do nothing that only host code may do.
    fn called_in(&mut self, launch: &Mem) {
        let mut called: BTreeSet<FunId> = BTreeSet::new();
        launch.scopes(&mut |_, body| {
            walk::calls(body, &mut |f| {
                called.insert(f);
            });
        });
        if called.is_empty() {
            return;
        }
        let program = self.cx.program;
        let host = self.reach_host.get_or_insert_with(|| reach_host(program));
        if !called.is_disjoint(host) {
            self.fault("a kernel calls a function that launches or frees");
        }
    }
}

/// The functions that launch or free, and those from which calls lead to such.
fn reach_host(program: &Program<Mem>) -> BTreeSet<FunId> {
    let mut callers: BTreeMap<FunId, Vec<FunId>> = BTreeMap::new();
    let mut todo = Vec::new();
    for (id, fun) in program.funs.enumerate() {
        let mut host = false;
        walk::all_stms(&fun.body, &mut |stm| {
            host |= matches!(stm.exp, Exp::Op(Mem::Launch(_) | Mem::Free(_)));
        });
        todo.extend(host.then_some(id));
        walk::calls(&fun.body, &mut |callee| {
            callers.entry(callee).or_default().push(id);
        });
    }
    let mut reached = BTreeSet::new();
    while let Some(fun) = todo.pop() {
        if reached.insert(fun) {
            todo.extend(callers.get(&fun).into_iter().flatten());
        }
    }
    reached
}
