//! Loops whose outermost points need nothing of each other ([`crate::analysis::apart`]), run in parts: all steps for some points, then all for
//! others, several parts at the same time.
//!
//! ```text
//!            step 0   1   2   3              step 0   1   2   3
//! points 0        0   4   8  12                   0   1   2   3   ─ a thread
//!        1        1   5   9  13      ──►          4   5   6   7
//!        2        2   6  10  14                   0   1   2   3   ─ another one
//!        3        3   7  11  15                   4   5   6   7
//! ```
//!
//! Parts go through the same statements, since what the host decides is the same for all of them: so each has its elements in the memory
//! in which the others have theirs. What a statement allocates is never in memory that another one allocated, where a point could have its
//! elements in the places of other points.

use super::exec::{Frame, Run, Val, int, malformed};
use super::memory::{Asker, Counted, counted};
use super::resolve::{Block, Operand, Resolver, Slot};
use super::{Options, ahead::Ahead};
use crate::analysis::kernels::statements;
use crate::device::Device;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::{SpanId, Var};
use crate::ir::mem::{Extent, Kernel, KernelKind, Mem};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{deep, free_in_stm};
use crate::trap::RunError;
use std::sync::{Arc, Mutex, PoisonError};

/// A loop that can be run in parts.
#[derive(Debug)]
pub(super) struct Apart {
    /// How many points there are.
    extent: Operand,
    /// Buffers from before, those that steps hand on among them.
    outside: Vec<Slot>,
    /// What steps make.
    made: Vec<(ScalarType, Operand)>,
}

/// What a loop touches.
struct Look<'a> {
    vars: &'a crate::ir::syntax::Vars,
    extent: Atom,
    /// Bound in the loop.
    inside: HashSet<Var>,
    /// Allocated in the loop, in order.
    made: Vec<(Var, ScalarType, Atom)>,
    /// What is used of what there was before.
    outside: Vec<Var>,
}

impl Look<'_> {
    fn is_inside(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.inside.contains(&v))
    }

    fn is_made(&self, buffer: Var) -> bool {
        self.made.iter().any(|(made, ..)| *made == buffer)
    }

    fn host(&mut self, body: &Body<Mem>) -> Option<()> {
        for stm in &body.stms {
            self.inside.extend(&stm.binds);
            match &stm.exp {
                Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
                Exp::Op(Mem::Free(_) | Mem::Apart(_)) => {}
                Exp::If {
                    then, otherwise, ..
                } => {
                    deep(|| self.host(then))?;
                    deep(|| self.host(otherwise))?;
                }
                Exp::Loop { params, form, body } => {
                    self.inside.extend(params.iter().map(|p| p.var));
                    match form {
                        LoopForm::For { index, .. } => {
                            self.inside.insert(*index);
                        }
                        LoopForm::While(cond) => deep(|| self.host(cond))?,
                    }
                    deep(|| self.host(body))?;
                }
                // As long in all steps, so that the next one has the same memory.
                Exp::Op(Mem::Alloc { elem, len, .. }) if !self.is_inside(*len) => {
                    self.made.push((stm.binds[0], *elem, *len));
                }
                Exp::Op(Mem::Copy { shape, dst, src }) => {
                    if shape.first() != Some(&self.extent) || !self.is_made(dst.buffer) {
                        return None;
                    }
                    self.read(src.buffer);
                }
                Exp::Op(Mem::Launch(kernel)) => {
                    self.kernel(kernel)?;
                    for v in free_in_stm(self.vars, stm) {
                        self.read(v);
                    }
                }
                Exp::Call { .. } => return None,
                Exp::Op(
                    Mem::Alloc { .. }
                    | Mem::Load { .. }
                    | Mem::Store { .. }
                    | Mem::Trace(_)
                    | Mem::Stream(_),
                ) => return None,
            }
        }
        Some(())
    }

    fn read(&mut self, v: Var) {
        let is_buffer = matches!(self.vars[v].ty, Type::Buffer(_));
        if is_buffer && !self.inside.contains(&v) && !self.outside.contains(&v) {
            self.outside.push(v);
        }
    }

    /// A kernel whose outermost points are those of the loop, if it writes only what the loop makes: what there was before is needed again
    /// if something fails.
    fn kernel(&self, kernel: &Kernel) -> Option<()> {
        let is_regular = |dim: &(Var, Extent)| matches!(dim.1, Extent::Regular(_));
        let first = kernel.space.first()?.1;
        let fits = matches!(kernel.kind, KernelKind::Map)
            && kernel.block.is_none()
            && first == Extent::Regular(self.extent)
            && kernel.space.iter().all(is_regular);
        let (mut own, mut only): (HashSet<Var>, bool) = (HashSet::default(), fits);
        statements(&kernel.body, &mut |stm| match &stm.exp {
            Exp::Op(Mem::Alloc { .. }) => own.extend(&stm.binds),
            Exp::Op(Mem::Store { buffer, .. }) => {
                only &= own.contains(buffer) || self.is_made(*buffer);
            }
            Exp::Op(Mem::Copy { dst, .. }) => {
                only &= own.contains(&dst.buffer) || self.is_made(dst.buffer);
            }
            Exp::Call { args, .. } => {
                let mut args = args.iter().filter_map(|a| a.as_var());
                only &= !args.any(|v| matches!(self.vars[v].ty, Type::Buffer(_)));
            }
            Exp::Op(Mem::Load { .. })
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => {}
            Exp::Op(
                Mem::Free(_) | Mem::Apart(_) | Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_),
            ) => only = false,
        });
        only.then_some(())
    }
}

impl Resolver<'_> {
    /// How a loop may be run in parts, if it may.
    pub(super) fn apart(
        &mut self,
        params: &[LoopParam],
        index: Var,
        body: &Body<Mem>,
    ) -> Option<Box<Apart>> {
        let extent = body.stms.iter().find_map(|stm| match &stm.exp {
            Exp::Op(Mem::Apart(extent)) => Some(*extent),
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => None,
        })?;
        let carried = params.iter().map(|p| p.var);
        let mut look = Look {
            vars: self.vars,
            extent,
            inside: carried.clone().chain([index]).collect(),
            made: Vec::new(),
            outside: Vec::new(),
        };
        look.host(body)?;
        let is_buffer = |v: &Var| matches!(self.vars[*v].ty, Type::Buffer(_));
        let outside: Vec<Var> = look
            .outside
            .iter()
            .copied()
            .chain(carried.filter(is_buffer))
            .collect();
        let made = look.made.iter();
        Some(Box::new(Apart {
            extent: self.operand(extent),
            made: made
                .map(|(_, elem, len)| (*elem, self.operand(*len)))
                .collect(),
            outside: self.all(&outside),
        }))
    }
}

/// The memory that parts share: for each statement that allocates, what it allocated while what it allocated before was in use.
type Shared<B> = Mutex<HashMap<Slot, Vec<Arc<Counted<B>>>>>;

/// A part of a loop.
pub(super) struct Part<'a, B> {
    /// The first of its points, and the first behind them.
    pub(super) points: (i64, i64),
    shared: &'a Shared<B>,
    /// The same memory under names of this part, by which it knows what it uses.
    own: HashMap<Slot, Vec<Arc<Counted<B>>>>,
}

impl<B> Part<'_, B> {
    /// Whether memory is known to this part by this name.
    pub(super) fn has(&self, name: &Arc<Counted<B>>) -> bool {
        let mut all = self.own.values().flatten();
        all.any(|own| Arc::ptr_eq(own, name))
    }

    /// The memory that a name of this part stands for.
    fn whole(&self, name: Arc<Counted<B>>) -> Arc<Counted<B>> {
        let found = self.own.iter().find_map(|(slot, own)| {
            let k = own.iter().position(|own| Arc::ptr_eq(own, &name))?;
            let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            Some(Arc::clone(shared.get(slot)?.get(k)?))
        });
        found.unwrap_or(name)
    }
}

impl<'a, D: Device> Run<'a, D> {
    /// Memory for what the part at hand makes in this slot.
    pub(super) fn part_alloc(
        &mut self,
        (slot, span): (Slot, SpanId),
        (elem, len): (ScalarType, usize),
    ) -> Result<Arc<Counted<D::Buffer>>, RunError> {
        let (device, memory) = (self.device, &self.options.memory);
        let part = self.part.as_mut();
        let part = part.ok_or_else(|| malformed("a part of nothing"))?;
        let own = part.own.entry(slot).or_default();
        if let Some(unused) = own.iter().find(|own| Arc::strong_count(own) == 1) {
            return Ok(Arc::clone(unused));
        }
        let mut shared = part.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = shared.entry(slot).or_default();
        if shared.len() == own.len() {
            let asker = Asker::Statement(span);
            let alloc = || device.alloc(elem, len);
            shared.push(counted::<D>(memory, asker, (elem, len), alloc)?);
        }
        let name = Arc::new(shared[own.len()].another_name());
        own.push(Arc::clone(&name));
        Ok(name)
    }

    /// Runs so many steps in parts. Gives what the last ones hand on; nothing if the steps have to be run for all points, one after the other.
    pub(super) fn apart(
        &self,
        frame: &Frame<D>,
        (apart, body): (&Apart, &Block),
        (params, index): (&[(Slot, Operand)], (Slot, ScalarType)),
        times: i128,
    ) -> Result<Option<Vec<Val<D::Buffer>>>, RunError> {
        // Profiles tell of each step.
        if times < 2 || self.options.profiler.is_some() || self.part.is_some() {
            return Ok(None);
        }
        let points = int(frame, apart.extent)?;
        let mut bytes = 0u64;
        for slot in &apart.outside {
            if let Val::Buffer(buffer) = &frame[*slot] {
                // Points share what is less.
                let is_of_points = buffer.bytes >= points.unsigned_abs();
                bytes = bytes.saturating_add(if is_of_points { buffer.bytes } else { 0 });
            }
        }
        for (elem, len) in &apart.made {
            let len = int(frame, *len)?.max(0).unsigned_abs();
            bytes = bytes.saturating_add(len.saturating_mul(elem.bytes() as u64));
        }
        let Some(count) = self.device.parts(points, bytes) else {
            return Ok(None);
        };
        fired("plan/in-parts");
        let shared = Shared::default();
        let done: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
        self.device.in_parts(count, &|k| {
            let bound = |k: usize| (points as i128 * k as i128 / count as i128) as i64;
            let part = Part {
                points: (bound(k), bound(k + 1)),
                shared: &shared,
                own: HashMap::default(),
            };
            let mut frame: Vec<Val<D::Buffer>> = frame.to_vec();
            let options = Options {
                // All parts together do what the whole would.
                counts: self.options.counts.filter(|_| k == 0),
                memory: Arc::clone(&self.options.memory),
                ..*self.options
            };
            let mut run = Run {
                exe: self.exe,
                device: self.device,
                module: self.module,
                options: &options,
                numbers: self.numbers.clone(),
                depth: self.depth,
                args: Vec::new(),
                ahead: Ahead::default(),
                part: Some(part),
            };
            let outcome = run.part(&mut frame, (params, body), index, times);
            let mut place = done[k].lock().unwrap_or_else(PoisonError::into_inner);
            *place = Some(outcome);
        });
        let mut all: Option<Vec<Val<D::Buffer>>> = None;
        for outcome in done {
            match outcome.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(Ok(last)) => {
                    let same = all.iter().all(|first| agree(first, &last));
                    if !same {
                        return Err(malformed("parts of a loop end differently"));
                    }
                    all = Some(last);
                }
                // What fails first is found one step after the other, and all at once may need less memory.
                Some(Err(RunError::Trap(_) | RunError::OutOfMemory { .. })) => return Ok(None),
                Some(Err(why)) => return Err(why),
                None => return Err(malformed("a part of a loop was not run")),
            }
        }
        Ok(all)
    }

    /// All steps of the part at hand: what the last one hands on.
    fn part(
        &mut self,
        frame: &mut Frame<D>,
        (params, body): (&[(Slot, Operand)], &Block),
        index: (Slot, ScalarType),
        times: i128,
    ) -> Result<Vec<Val<D::Buffer>>, RunError> {
        self.all_steps(frame, (params, body), index, times)?;
        let last = params
            .iter()
            .map(|(slot, _)| std::mem::replace(&mut frame[*slot], Val::Empty));
        let mut last: Vec<Val<D::Buffer>> = last.collect();
        // What is not handed on is free, and names of this part are of no use to others.
        frame.fill(Val::Empty);
        if let Some(part) = &self.part {
            for value in &mut last {
                if let Val::Buffer(name) = value {
                    *name = part.whole(Arc::clone(name));
                }
            }
        }
        Ok(last)
    }
}

/// Whether two parts hand on the same.
fn agree<B>(a: &[Val<B>], b: &[Val<B>]) -> bool {
    a.iter().zip(b).all(|pair| match pair {
        (Val::Scalar(a), Val::Scalar(b)) => a == b,
        (Val::Buffer(a), Val::Buffer(b)) => Arc::ptr_eq(a, b),
        (Val::Empty, Val::Empty) => true,
        (Val::Empty | Val::Scalar(_) | Val::Buffer(_), _) => false,
    })
}
