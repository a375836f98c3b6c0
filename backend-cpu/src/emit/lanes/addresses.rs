//! Which numbers are for finding elements only. They are computed for each lane on its own, in general registers, where
//! addresses have to be; what is found goes into vectors.
//!
//! ```text
//! let k = load keys[i]           one by one
//! let ok = assert k < n          one by one
//! let x = load a[k]              one by one, put in vectors
//! let y = x * 2                  in vectors
//! ```
//!
//! What is done one by one is done for one lane from the first statement of a run of such statements to the last, then for the next, so
//! that what a lane needs on the way to its element is in registers no longer than that. Bytes and words of 16 bits are put together to 64
//! bits by shifts, in trees as deep as the logarithm of their number: putting each into a vector takes more, and waits for the one before.
//! Those that are only stored side by side are stored one by one, which takes less than either.

use super::vector::vector;
use super::{Emit, Group, Lanes};
use crate::emit::library::RAW;
use crate::emit::plain;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use std::collections::BTreeSet;

/// The variables that are more than parts of addresses, or of what is checked of them: values that are stored, chosen by,
/// carried or computed with, and those that are given.
pub(super) fn valued(body: &Body<Mem>, given: impl IntoIterator<Item = Var>) -> BTreeSet<Var> {
    let mut valued = given.into_iter().collect();
    within(body, &mut valued);
    valued
}

fn within(body: &Body<Mem>, valued: &mut BTreeSet<Var>) {
    valued.extend(body.result.iter().filter_map(|atom| atom.as_var()));
    for stm in body.stms.iter().rev() {
        used(stm, valued);
    }
}

fn used(stm: &Stm<Mem>, valued: &mut BTreeSet<Var>) {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => {
            if stm.binds.iter().any(|v| valued.contains(v)) {
                stm.exp.operands(&mut |atom| valued.extend(atom.as_var()));
            }
        }
        Exp::Assert { .. } | Exp::Op(Mem::Load { .. }) => {}
        Exp::Op(Mem::Store { value, .. }) => valued.extend(value.as_var()),
        // Lanes have the same shapes.
        Exp::Op(Mem::Copy { shape, dst, src }) => {
            let known = shape.iter().chain(&dst.strides).chain(&src.strides);
            valued.extend(known.filter_map(|atom| atom.as_var()));
        }
        Exp::If {
            cond,
            then,
            otherwise,
        } => {
            valued.extend(cond.as_var());
            within(then, valued);
            within(otherwise, valued);
        }
        Exp::Loop { params, form, body } => {
            valued.extend(params.iter().filter_map(|param| param.init.as_var()));
            within(body, valued);
            match form {
                LoopForm::For { bound, .. } => valued.extend(bound.as_var()),
                LoopForm::While(cond) => within(cond, valued),
            }
        }
        Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => {
            stm.exp
                .operands(&mut |atom: Atom| valued.extend(atom.as_var()));
        }
    }
}

/// What was found for lanes so far, on the way to vectors.
struct Found {
    bind: Var,
    elem: ScalarType,
    /// Lanes of a vector value.
    lanes: usize,
    /// Elements that are in no vector yet: those of narrow types in words of so many bits each.
    parts: Vec<(Value, u32)>,
    vectors: Vec<Value>,
}

impl Emit<'_, '_> {
    /// A body of which some statements are done lane by lane.
    pub(super) fn lanes_runs(&mut self, group: &mut Group<'_>, body: &Body<Mem>) {
        let mut run: Vec<&Stm<Mem>> = Vec::new();
        for (at, stm) in body.stms.iter().enumerate() {
            let operands = free_in_stm(self.vars, stm);
            let uses = |before: &&Stm<Mem>| before.binds.iter().any(|v| operands.contains(v));
            let waits = run.iter().any(uses);
            if self.is_one_by_one(group, stm, waits) {
                run.push(stm);
                continue;
            }
            // What only computes and needs nothing of the run goes before it.
            let computes = matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..));
            if waits || !computes {
                let run = std::mem::take(&mut run);
                if let Some(stored) = self.only_stored(group, &run, (body, at)) {
                    self.one_by_one(group, &run, Some(stored));
                    continue;
                }
                self.one_by_one(group, &run, None);
            }
            self.lanes_stm(group, stm);
        }
        self.one_by_one(group, &run, None);
    }

    /// Where the narrow elements go that the last statement of a run finds, if the statement behind it stores them side by side and nothing
    /// else uses them.
    fn only_stored(
        &mut self,
        group: &Group<'_>,
        run: &[&Stm<Mem>],
        (body, at): (&Body<Mem>, usize),
    ) -> Option<Value> {
        let last = run.last()?;
        let Exp::Op(Mem::Store {
            buffer,
            index,
            value,
        }) = &body.stms[at].exp
        else {
            return None;
        };
        let found = self.found(group, last)?;
        let own = |v: Var| run.iter().any(|stm| stm.binds.contains(&v));
        if found.elem.bytes() >= 4
            || *value != Atom::Var(found.bind)
            || self.elem(*buffer) != found.elem
            || own(*buffer)
            || index.as_var().is_some_and(own)
        {
            return None;
        }
        let later = &body.stms[at + 1..];
        let again = later
            .iter()
            .any(|stm| free_in_stm(self.vars, stm).contains(&found.bind));
        if again || body.result.contains(value) {
            return None;
        }
        let (start, stride) = self.lanes_place(group, *buffer, *index)?;
        (stride == found.elem.bytes() as i64).then_some(start)
    }

    /// Whether a statement is done for one lane after the other.
    fn is_one_by_one(&self, group: &Group<'_>, stm: &Stm<Mem>, waits: bool) -> bool {
        let plan = group.plan;
        let lanes = |atom: &Atom| group.lanes.get(&atom.as_var()?);
        let linear = |atom: &Atom| matches!(lanes(atom), Some(Lanes::Linear(..)));
        let varies = |atom: &Atom| atom.as_var().is_some_and(|v| plan.varies(v));
        match &stm.exp {
            Exp::Scalar(_, args) => {
                let may_be_linear = !waits && args.iter().all(|a| !varies(a) || linear(a));
                plan.finds(stm) && !may_be_linear
            }
            Exp::Op(Mem::Load { buffer, index }) => {
                let found = plan.finds(stm) || !(linear(index) || plan.looks_up(*index));
                varies(index) && !plan.varies(*buffer) && found
            }
            Exp::Assert { cond, .. } => varies(cond),
            Exp::Atom(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }

    /// Statements that are done for one lane after the other; what the last one finds goes to memory from `stored` on, if it is given.
    fn one_by_one(&mut self, group: &mut Group<'_>, stms: &[&Stm<Mem>], stored: Option<Value>) {
        if stms.is_empty() {
            return;
        }
        let own: BTreeSet<Var> = stms.iter().flat_map(|stm| &stm.binds).copied().collect();
        let mut outside = BTreeSet::new();
        for stm in stms {
            outside.extend(free_in_stm(self.vars, stm));
        }
        outside.retain(|v| group.plan.varies(*v) && !own.contains(v) && has_value(self.ty(*v)));
        for var in &outside {
            self.unpack(group, *var);
        }
        let width = group.plan.width;
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); stms.len()];
        let mut found: Vec<Option<Found>> = stms.iter().map(|stm| self.found(group, stm)).collect();
        for lane in 0..width {
            for var in &outside {
                let value = self.lane(group, *var, lane);
                self.bind(*var, value);
            }
            let all = stms.iter().zip(&mut results).zip(&mut found);
            for (k, ((stm, values), found)) in all.enumerate() {
                self.stm(stm);
                let Some(bind) = stm.binds.first().filter(|v| has_value(self.ty(**v))) else {
                    continue;
                };
                let value = self.var(*bind);
                match found {
                    Some(found) if let Some(start) = stored.filter(|_| k + 1 == stms.len()) => {
                        let ahead = lane as i32 * found.elem.bytes() as i32;
                        self.b.ins().store(plain(), value, start, ahead);
                    }
                    Some(found) => self.put(found, value, group.plan.parts),
                    None => values.push(value),
                }
            }
        }
        for ((stm, values), found) in stms.iter().zip(results).zip(found) {
            if let Some(found) = found {
                let vectors = Lanes::Packed(found.vectors);
                group.lanes.insert(found.bind, vectors);
            } else if let Some(bind) = stm.binds.first().filter(|v| has_value(self.ty(**v))) {
                group.lanes.insert(*bind, Lanes::Many(values));
            }
        }
    }

    /// Where the elements that a statement finds go, if they go into vectors.
    fn found(&self, group: &Group<'_>, stm: &Stm<Mem>) -> Option<Found> {
        let bind = *stm.binds.first()?;
        if group.plan.finds(stm) || !matches!(stm.exp, Exp::Op(Mem::Load { .. })) {
            return None;
        }
        let elem = self.elem(bind);
        Some(Found {
            bind,
            elem,
            lanes: group.plan.width / group.plan.vectors(elem)?,
            parts: Vec::new(),
            vectors: Vec::new(),
        })
    }

    /// Puts the element of a further lane beside those before.
    fn put(&mut self, found: &mut Found, element: Value, parts: usize) {
        let bytes = found.elem.bytes();
        let is_narrow = bytes < 4;
        let (value, bits) = if is_narrow {
            (self.b.ins().uextend(types::I64, element), 8 * bytes as u32)
        } else {
            (element, 64)
        };
        found.parts.push((value, bits));
        while let [.., (low, bits), (high, same)] = found.parts[..]
            && bits == same
            && bits < 64
        {
            let ahead = self.b.ins().ishl_imm_u(high, i64::from(bits));
            let both = self.b.ins().bor(low, ahead);
            found.parts.truncate(found.parts.len() - 2);
            found.parts.push((both, 2 * bits));
        }
        let full = if is_narrow { 2 * parts } else { found.lanes };
        let done = found.parts.len() == full && found.parts.iter().all(|(_, bits)| *bits == 64);
        if done {
            let ty = if is_narrow {
                types::I64X2
            } else {
                vector(found.elem)
            };
            let lanes: Vec<Value> = found.parts.drain(..).map(|(value, _)| value).collect();
            let mut all = self.in_vector(ty, &lanes, parts);
            if is_narrow {
                all = self.b.ins().bitcast(vector(found.elem), RAW, all);
            }
            found.vectors.push(all);
        }
    }
}
