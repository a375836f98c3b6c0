//! The plan dialect as generic passes see it.

use super::Dialect;
use super::operand::{
    map_atom, map_operators, map_var, operator_scopes, operator_scopes_mut, operators,
};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::mem::{BlockNeeds, Extent, Kernel, KernelKind, Mem, Region};
use crate::ir::syntax::{Atom, Body};

impl Kernel {
    /// The variables that are bound for the body: indices, then the starts of rows of ragged dimensions.
    pub fn binders(&self) -> Vec<Var> {
        let starts = self.space.iter().filter_map(|(_, extent)| match extent {
            Extent::Regular(_) => None,
            Extent::Ragged { start, .. } => Some(start),
        });
        let indices = self.space.iter().map(|(index, _)| index);
        indices.chain(starts).copied().collect()
    }

    /// The same, for editing.
    fn binders_mut(&mut self) -> Vec<&mut Var> {
        let (mut indices, mut starts) = (Vec::new(), Vec::new());
        for (index, extent) in &mut self.space {
            indices.push(index);
            match extent {
                Extent::Regular(_) => {}
                Extent::Ragged { start, .. } => starts.push(start),
            }
        }
        indices.extend(starts);
        indices
    }

    /// Whether a dimension is ragged.
    pub fn is_ragged(&self) -> bool {
        let ragged = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Ragged { .. });
        self.space.iter().any(ragged)
    }

    /// Whether the innermost dimension is ragged.
    pub fn has_ragged_rows(&self) -> bool {
        matches!(self.space.last(), Some((_, Extent::Ragged { .. })))
    }
}

impl Dialect for Mem {
    const NAME: &'static str = "plan";
    const IS_PURE: bool = false;

    fn operands(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Alloc { elem: _, len, over } => {
                f(*len);
                over.iter().for_each(|v| f(Atom::Var(*v)));
            }
            Self::Free(buffer) => f(Atom::Var(*buffer)),
            Self::Apart(extent) => f(*extent),
            Self::Load { buffer, index } => {
                f(Atom::Var(*buffer));
                f(*index);
            }
            Self::Store {
                buffer,
                index,
                value,
            } => {
                f(Atom::Var(*buffer));
                f(*index);
                f(*value);
            }
            Self::Copy { shape, dst, src } => {
                shape.iter().for_each(|a| f(*a));
                region(dst, f);
                region(src, f);
            }
            Self::Launch(kernel) => kernel_operands(kernel, f),
            Self::Trace(trace) => {
                for (value, shape) in &trace.values {
                    f(*value);
                    shape.iter().for_each(|a| f(*a));
                }
            }
            Self::Stream(stream) => {
                for (value, shape) in &stream.args {
                    f(*value);
                    shape.iter().for_each(|a| f(*a));
                }
            }
        }
    }

    fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        match self {
            Self::Alloc { elem: _, len, over } => {
                map_atom(len, f);
                over.iter_mut().for_each(|v| map_var(v, f));
            }
            Self::Free(buffer) => map_var(buffer, f),
            Self::Apart(extent) => map_atom(extent, f),
            Self::Load { buffer, index } => {
                map_var(buffer, f);
                map_atom(index, f);
            }
            Self::Store {
                buffer,
                index,
                value,
            } => {
                map_var(buffer, f);
                map_atom(index, f);
                map_atom(value, f);
            }
            Self::Copy { shape, dst, src } => {
                shape.iter_mut().for_each(|a| map_atom(a, f));
                map_region(dst, f);
                map_region(src, f);
            }
            Self::Launch(kernel) => map_kernel_operands(kernel, f),
            Self::Trace(trace) => {
                for (value, shape) in &mut trace.values {
                    map_atom(value, f);
                    shape.iter_mut().for_each(|a| map_atom(a, f));
                }
            }
            Self::Stream(stream) => {
                for (value, shape) in &mut stream.args {
                    map_atom(value, f);
                    shape.iter_mut().for_each(|a| map_atom(a, f));
                }
            }
        }
    }

    fn consumed(&self, _f: &mut dyn FnMut(Var)) {
        // Buffers are memory, not values: a store changes one and consumes nothing.
    }

    fn aliased(&self) -> Option<Var> {
        None
    }

    fn scopes<'a>(&'a self, f: &mut dyn FnMut(&[Var], &'a Body<Self>)) {
        let Self::Launch(kernel) = self else { return };
        f(&kernel.binders(), &kernel.body);
        match &kernel.kind {
            KernelKind::Map | KernelKind::Seq => {}
            KernelKind::Red { ops, outs: _ } => operator_scopes(ops, f),
            KernelKind::Scan { ops, outs: _, then } => {
                operator_scopes(ops, f);
                if let Some(then) = then {
                    f(&then.params, &then.body);
                }
            }
            KernelKind::Hist(hists) => operator_scopes(hists.iter().map(|h| &h.op), f),
        }
    }

    fn scopes_mut(&mut self, f: &mut dyn FnMut(&mut [Var], &mut Body<Self>)) {
        let Self::Launch(kernel) = self else { return };
        let mut binders = kernel.binders();
        f(&mut binders, &mut kernel.body);
        for (old, new) in kernel.binders_mut().into_iter().zip(binders) {
            *old = new;
        }
        match &mut kernel.kind {
            KernelKind::Map | KernelKind::Seq => {}
            KernelKind::Red { ops, outs: _ } => operator_scopes_mut(ops, f),
            KernelKind::Scan { ops, outs: _, then } => {
                operator_scopes_mut(ops, f);
                if let Some(then) = then {
                    f(&mut then.params, &mut then.body);
                }
            }
            KernelKind::Hist(hists) => operator_scopes_mut(hists.iter_mut().map(|h| &mut h.op), f),
        }
    }

    fn as_array(&self) -> Option<&ArrayOp> {
        None
    }

    fn as_array_mut(&mut self) -> Option<&mut ArrayOp> {
        None
    }

    fn index_bounds(&self, f: &mut dyn FnMut(Var, Atom)) {
        if let Self::Launch(kernel) = self {
            for (index, extent) in &kernel.space {
                match *extent {
                    Extent::Regular(n) => f(*index, n),
                    Extent::Ragged { .. } => {}
                }
            }
        }
    }

    fn elements(&self, _f: &mut dyn FnMut(Var, Var)) {}

    fn has_effect(&self) -> bool {
        match self {
            Self::Alloc { .. } | Self::Load { .. } => false,
            Self::Free(_)
            | Self::Apart(_)
            | Self::Store { .. }
            | Self::Copy { .. }
            | Self::Launch(_)
            | Self::Trace(_)
            | Self::Stream(_) => true,
        }
    }

    fn is_shareable(&self) -> bool {
        // Two loads of one place are equal only if nothing is stored in between, which this question does not see.
        false
    }
}

fn region(region: &Region, f: &mut dyn FnMut(Atom)) {
    f(Atom::Var(region.buffer));
    f(region.offset);
    region.strides.iter().for_each(|a| f(*a));
}

fn map_region(region: &mut Region, f: &mut dyn FnMut(Atom) -> Atom) {
    map_var(&mut region.buffer, f);
    map_atom(&mut region.offset, f);
    region.strides.iter_mut().for_each(|a| map_atom(a, f));
}

fn kernel_operands(kernel: &Kernel, f: &mut dyn FnMut(Atom)) {
    for (_, extent) in &kernel.space {
        match *extent {
            Extent::Regular(n) => f(n),
            Extent::Ragged { offsets, .. } => f(Atom::Var(offsets)),
        }
    }
    if let Some(BlockNeeds { width, bytes }) = kernel.block {
        f(width);
        f(bytes);
    }
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, outs } | KernelKind::Scan { ops, outs, .. } => {
            operators(ops, f);
            outs.iter().for_each(|v| f(Atom::Var(*v)));
        }
        KernelKind::Hist(hists) => {
            for hist in hists {
                f(hist.buckets);
                hist.dests.iter().for_each(|v| f(Atom::Var(*v)));
                hist.op.neutral.iter().for_each(|a| f(*a));
            }
        }
    }
}

fn map_kernel_operands(kernel: &mut Kernel, f: &mut dyn FnMut(Atom) -> Atom) {
    for (_, extent) in &mut kernel.space {
        match extent {
            Extent::Regular(n) => map_atom(n, f),
            Extent::Ragged { offsets, .. } => map_var(offsets, f),
        }
    }
    if let Some(BlockNeeds { width, bytes }) = &mut kernel.block {
        map_atom(width, f);
        map_atom(bytes, f);
    }
    match &mut kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, outs } | KernelKind::Scan { ops, outs, .. } => {
            map_operators(ops, f);
            outs.iter_mut().for_each(|v| map_var(v, f));
        }
        KernelKind::Hist(hists) => {
            for hist in hists {
                map_atom(&mut hist.buckets, f);
                hist.dests.iter_mut().for_each(|v| map_var(v, f));
                hist.op.neutral.iter_mut().for_each(|a| map_atom(a, f));
            }
        }
    }
}
