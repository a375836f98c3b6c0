//! Executing host code statement by statement.

use super::ahead::Ahead;
use super::apart::{Apart, Part as PartOfLoop};
use super::memory::Counted;
use super::resolve::{Block, HostFun, Op, OpKind, Operand, Part, Slot};
use super::steps::Steps;
use super::{Executable, Options};
use crate::device::{Arg, Device};
use crate::interp::message;
use crate::interp::scalar;
use crate::ir::id::{FunId, SpanId};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::syntax::TrapKind;
use crate::ir::threshold::{ThresholdKind, reaches};
use crate::ir::types::ScalarType;
use crate::trap::{RunError, TOO_DEEP, Trap, trail};
use std::sync::Arc;

/// What a slot holds.
#[derive(Debug)]
pub(super) enum Val<B> {
    /// Nothing, or nothing any more.
    Empty,
    /// A scalar.
    Scalar(Const),
    /// A reference to memory.
    Buffer(Arc<Counted<B>>),
}

impl<B> Clone for Val<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Scalar(c) => Self::Scalar(*c),
            Self::Buffer(b) => Self::Buffer(Arc::clone(b)),
        }
    }
}

/// Bytes that an element may take in two copies.
const LAYOUT_BYTES: u64 = 16;

/// One run.
pub(super) struct Run<'a, D: Device> {
    pub(super) exe: &'a Executable,
    pub(super) device: &'a D,
    pub(super) module: &'a D::Module,
    pub(super) options: &'a Options<'a>,
    /// What the thresholds are.
    pub(super) numbers: Vec<i64>,
    pub(super) depth: usize,
    /// Arguments of the kernel that is being launched; kept to save allocations.
    pub(super) args: Vec<Arg<D::Buffer>>,
    pub(super) ahead: Ahead<D::Buffer>,
    /// The part of a loop that is run.
    pub(super) part: Option<PartOfLoop<'a, D::Buffer>>,
}

pub(super) type Frame<D> = [Val<<D as Device>::Buffer>];

/// The failure of a plan that a verifier would have rejected.
pub(super) fn malformed(what: &str) -> RunError {
    RunError::Internal(format!("malformed plan: {what}"))
}

fn read<B>(frame: &mut [Val<B>], operand: Operand) -> Val<B> {
    match operand {
        Operand::Const(c) => Val::Scalar(c),
        Operand::Slot(slot) => frame[slot].clone(),
        Operand::Last(slot) => std::mem::replace(&mut frame[slot], Val::Empty),
    }
}

pub(super) fn constant<B>(frame: &[Val<B>], operand: Operand) -> Result<Const, RunError> {
    match operand {
        Operand::Const(c) => Ok(c),
        Operand::Slot(slot) | Operand::Last(slot) => match &frame[slot] {
            Val::Scalar(c) => Ok(*c),
            Val::Empty | Val::Buffer(_) => Err(malformed("a scalar is missing")),
        },
    }
}

pub(super) fn int<B>(frame: &[Val<B>], operand: Operand) -> Result<i64, RunError> {
    let value = constant(frame, operand)?;
    value.as_i64().ok_or_else(|| malformed("not an integer"))
}

pub(super) fn ints<B>(frame: &[Val<B>], operands: &[Operand]) -> Result<Vec<i64>, RunError> {
    operands.iter().map(|&o| int(frame, o)).collect()
}

fn truth<B>(frame: &[Val<B>], operand: Operand) -> Result<bool, RunError> {
    constant(frame, operand)?
        .as_bool()
        .ok_or_else(|| malformed("not a truth value"))
}

pub(super) fn buffer<B>(frame: &[Val<B>], slot: Slot) -> Result<&Arc<Counted<B>>, RunError> {
    match &frame[slot] {
        Val::Buffer(b) => Ok(b),
        Val::Empty | Val::Scalar(_) => Err(malformed("a buffer is missing")),
    }
}

fn index<B>(frame: &[Val<B>], operand: Operand) -> Result<usize, RunError> {
    usize::try_from(int(frame, operand)?).map_err(|_| malformed("a negative index"))
}

/// The commonest operations of host code, without the way through the general table.
pub(super) fn scalar_op(op: ScalarOp, args: &[Const]) -> Result<Const, RunError> {
    const INT: ScalarType = ScalarType::I64;
    match (op, args) {
        (ScalarOp::Bin(BinOp::Add, INT), &[Const::I64(a), Const::I64(b)]) => {
            Ok(Const::I64(a.wrapping_add(b)))
        }
        (ScalarOp::Bin(BinOp::Sub, INT), &[Const::I64(a), Const::I64(b)]) => {
            Ok(Const::I64(a.wrapping_sub(b)))
        }
        (ScalarOp::Bin(BinOp::Mul, INT), &[Const::I64(a), Const::I64(b)]) => {
            Ok(Const::I64(a.wrapping_mul(b)))
        }
        (ScalarOp::Cmp(CmpOp::Lt, INT), &[Const::I64(a), Const::I64(b)]) => Ok(Const::Bool(a < b)),
        (ScalarOp::Cmp(CmpOp::Le, INT), &[Const::I64(a), Const::I64(b)]) => Ok(Const::Bool(a <= b)),
        (ScalarOp::Cmp(CmpOp::Eq, INT), &[Const::I64(a), Const::I64(b)]) => Ok(Const::Bool(a == b)),
        _ => scalar::eval(op, args).map_err(|trap| malformed(&trap.to_string())),
    }
}

impl<D: Device> Run<'_, D> {
    /// Calls a function.
    pub(super) fn call(
        &mut self,
        fun: FunId,
        args: Vec<Val<D::Buffer>>,
    ) -> Result<Vec<Val<D::Buffer>>, RunError> {
        let exe = self.exe;
        let fun: &HostFun = exe
            .funs
            .get(fun.0 as usize)
            .ok_or_else(|| malformed("no such function"))?;
        let nested = usize::from(fun.recursive);
        if self.depth + nested > self.options.max_depth {
            return Err(RunError::Trap(Trap {
                kind: TrapKind::Recursion,
                message: TOO_DEEP.to_owned(),
                trail: trail(&self.exe.spans, fun.span),
            }));
        }
        self.check_stop()?;
        self.depth += nested;
        let mut frame: Vec<Val<D::Buffer>> = Vec::new();
        frame.resize_with(fun.slots, || Val::Empty);
        for (&slot, arg) in fun.params.iter().zip(args) {
            frame[slot] = arg;
        }
        let results =
            stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.block(&mut frame, &fun.body));
        self.depth -= nested;
        results
    }

    /// Whether a measure reaches a threshold. Layouts that there might be no memory for are not worth a failure.
    pub(super) fn reached(&self, threshold: usize, measure: i64) -> bool {
        let has_room = || {
            let bytes = measure.unsigned_abs().saturating_mul(LAYOUT_BYTES);
            self.options.memory.has_room(bytes)
        };
        let kind = self.exe.thresholds[threshold].kind;
        reaches(measure, self.numbers[threshold])
            && (kind != ThresholdKind::Layout || self.part.is_none() && has_room())
    }

    fn check_stop(&self) -> Result<(), RunError> {
        if self.options.stop.is_raised() {
            Err(RunError::Interrupted)
        } else {
            Ok(())
        }
    }

    fn block(
        &mut self,
        frame: &mut Frame<D>,
        block: &Block,
    ) -> Result<Vec<Val<D::Buffer>>, RunError> {
        self.ops(frame, &block.ops)?;
        Ok(block.result.iter().map(|&o| read(frame, o)).collect())
    }

    /// The statements of a block whose results are then stored in slots.
    fn block_to(
        &mut self,
        frame: &mut Frame<D>,
        block: &Block,
        to: &[Slot],
    ) -> Result<(), RunError> {
        self.ops(frame, &block.ops)?;
        assign(frame, &block.result, to);
        Ok(())
    }

    fn ops(&mut self, frame: &mut Frame<D>, ops: &[Op]) -> Result<(), RunError> {
        for op in ops {
            let done = match self.options.profiler {
                None => self.op(frame, op),
                Some(profiler) => self.watched(frame, op, profiler),
            };
            if let Err(error) = done {
                return Err(self.locate(error, op));
            }
        }
        Ok(())
    }

    /// Adds where the error happened, or the call that led there.
    fn locate(&self, error: RunError, op: &Op) -> RunError {
        let is_call = matches!(op.kind, OpKind::Call { .. });
        match error {
            RunError::Trap(mut trap) => {
                self.extend(&mut trap.trail, op.span, is_call);
                RunError::Trap(trap)
            }
            RunError::OutOfMemory {
                bytes,
                limit,
                trail: mut places,
            } => {
                self.extend(&mut places, op.span, is_call);
                RunError::OutOfMemory {
                    bytes,
                    limit,
                    trail: places,
                }
            }
            RunError::Interrupted
            | RunError::OutOfFuel
            | RunError::BadArguments(_)
            | RunError::Device(_)
            | RunError::Internal(_) => error,
        }
    }

    fn extend(&self, places: &mut Vec<crate::ir::span::Place>, span: SpanId, is_call: bool) {
        // Deep recursion is told by its innermost calls.
        const MOST: usize = 50;
        if places.is_empty() || (is_call && places.len() < MOST) {
            places.extend(trail(&self.exe.spans, span));
        }
    }

    pub(super) fn op(&mut self, frame: &mut Frame<D>, op: &Op) -> Result<(), RunError> {
        match &op.kind {
            OpKind::Move { to, from } => frame[*to] = read(frame, *from),
            OpKind::Scalar {
                to,
                op: scalar,
                args,
            } => {
                let mut values = [Const::Bool(false); 3];
                for (value, &arg) in values.iter_mut().zip(args) {
                    *value = constant(frame, arg)?;
                }
                frame[*to] = Val::Scalar(scalar_op(*scalar, &values[..args.len().min(3)])?);
            }
            OpKind::Assert { cond, kind, parts } => {
                if !truth(frame, *cond)? {
                    return Err(fail::<D>(frame, *kind, parts));
                }
            }
            OpKind::Guard {
                to,
                threshold,
                measure,
            } => {
                let measure = int(frame, *measure)?;
                let reached = self.reached(*threshold, measure);
                frame[*to] = Val::Scalar(Const::Bool(reached));
            }
            OpKind::If {
                to,
                cond,
                then,
                otherwise,
            } => {
                let taken = if truth(frame, *cond)? {
                    then
                } else {
                    otherwise
                };
                self.block_to(frame, taken, to)?;
            }
            OpKind::For {
                to,
                params,
                index,
                bound,
                body,
                steps,
                apart,
            } => {
                let bound = constant(frame, *bound)?;
                start(frame, params);
                let steps = steps.as_ref().map(|steps| (&**steps, op.span));
                let ways = (steps, apart.as_deref());
                self.for_loop(frame, (params, body), (*index, bound), ways)?;
                finish(frame, params, to);
            }
            OpKind::While {
                to,
                params,
                cond,
                body,
            } => self.while_loop(frame, (to, params, body), cond)?,
            OpKind::Call { to, fun, args } => {
                let args = args.iter().map(|&a| read(frame, a)).collect();
                for (&slot, value) in to.iter().zip(self.call(*fun, args)?) {
                    frame[slot] = value;
                }
            }
            OpKind::Alloc {
                to,
                elem,
                len,
                over,
            } => {
                let len = usize::try_from(int(frame, *len)?).unwrap_or(0);
                // The slot's last value is dropped first: its memory may be the memory that is needed.
                frame[*to] = Val::Empty;
                let taken = match over {
                    Some(over) => Some(buffer(frame, *over)?),
                    None => None,
                };
                let taken = taken.filter(|buffer| match &self.part {
                    None => buffer.is_free_for((*elem, len), 1),
                    // What was there before the loop is not free: if something fails, it is needed again.
                    Some(part) => part.has(buffer) && buffer.is_free_for((*elem, len), 2),
                });
                let made = match taken {
                    Some(buffer) => Arc::clone(buffer),
                    None => self.alloc((*to, op.span), (*elem, len))?,
                };
                frame[*to] = Val::Buffer(made);
            }
            OpKind::Free(slot) => frame[*slot] = Val::Empty,
            OpKind::Load {
                to,
                buffer: from,
                index: at,
            } => {
                self.look_ahead();
                let value = self
                    .device
                    .load(&buffer(frame, *from)?.buffer, index(frame, *at)?)?;
                frame[*to] = Val::Scalar(value);
            }
            OpKind::Store {
                buffer: into,
                index: at,
                value,
            } => {
                let value = constant(frame, *value)?;
                self.device
                    .store(&buffer(frame, *into)?.buffer, index(frame, *at)?, value)?;
            }
            OpKind::Copy { shape, dst, src } => self.copy(frame, shape, dst, src)?,
            OpKind::Launch {
                kernel,
                work,
                space,
                args,
            } => self.launch(frame, (kernel, *work), space, args)?,
            OpKind::Trace(traced) => self.trace(frame, traced)?,
            OpKind::Stream(step) => self.stream(frame, step, op.span)?,
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        frame: &mut Frame<D>,
        (params, body): (&[(Slot, Operand)], &Block),
        (index, bound): (Slot, Const),
        (steps, apart): (Option<(&Steps, SpanId)>, Option<&Apart>),
    ) -> Result<(), RunError> {
        let times = bound
            .as_int()
            .ok_or_else(|| malformed("a bound that is no integer"))?;
        let counter = (index, bound.ty());
        let mut last = None;
        if let Some(apart) = apart {
            last = self.apart(frame, (apart, body), (params, counter), times)?;
        }
        if let (Some(steps), Ok(times), None) = (steps, i64::try_from(times), &last) {
            last = self.steps(frame, steps, (number(bound.ty(), 0)?, times))?;
        }
        let Some(last) = last else {
            return self.all_steps(frame, (params, body), counter, times);
        };
        for ((slot, _), value) in params.iter().zip(last) {
            frame[*slot] = value;
        }
        Ok(())
    }

    /// The steps of a loop, one by one.
    pub(super) fn all_steps(
        &mut self,
        frame: &mut Frame<D>,
        (params, body): (&[(Slot, Operand)], &Block),
        (index, ty): (Slot, ScalarType),
        times: i128,
    ) -> Result<(), RunError> {
        let slots: Vec<Slot> = params.iter().map(|&(slot, _)| slot).collect();
        let mut i = 0;
        while i < times {
            self.check_stop()?;
            frame[index] = Val::Scalar(number(ty, i)?);
            self.block_to(frame, body, &slots)?;
            i += 1;
        }
        Ok(())
    }

    fn while_loop(
        &mut self,
        frame: &mut Frame<D>,
        (to, params, body): (&[Slot], &[(Slot, Operand)], &Block),
        cond: &Block,
    ) -> Result<(), RunError> {
        start(frame, params);
        let slots: Vec<Slot> = params.iter().map(|&(slot, _)| slot).collect();
        loop {
            self.check_stop()?;
            self.ops(frame, &cond.ops)?;
            let cond = cond
                .result
                .first()
                .ok_or_else(|| malformed("a loop without condition"))?;
            if !truth(frame, *cond)? {
                break;
            }
            self.block_to(frame, body, &slots)?;
        }
        finish(frame, params, to);
        Ok(())
    }
}

/// Stores results in slots, all at once.
fn assign<B>(frame: &mut [Val<B>], from: &[Operand], to: &[Slot]) {
    match (from, to) {
        (&[operand], &[slot]) => frame[slot] = read(frame, operand),
        _ => {
            let values: Vec<Val<B>> = from.iter().map(|&o| read(frame, o)).collect();
            for (&slot, value) in to.iter().zip(values) {
                frame[slot] = value;
            }
        }
    }
}

/// Gives the parameters of a loop their first values.
fn start<B>(frame: &mut [Val<B>], params: &[(Slot, Operand)]) {
    for &(slot, init) in params {
        frame[slot] = read(frame, init);
    }
}

/// Moves the last values of a loop's parameters to its results.
fn finish<B>(frame: &mut [Val<B>], params: &[(Slot, Operand)], to: &[Slot]) {
    for (&(param, _), &slot) in params.iter().zip(to) {
        frame[slot] = std::mem::replace(&mut frame[param], Val::Empty);
    }
}

/// The failure of a check.
fn fail<D: Device>(frame: &Frame<D>, kind: TrapKind, parts: &[Part]) -> RunError {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Value(operand) => match constant(frame, *operand) {
                Ok(value) => text.push_str(&message::number(value)),
                Err(error) => return error,
            },
        }
    }
    RunError::Trap(Trap {
        kind,
        message: text,
        trail: Vec::new(),
    })
}

pub(super) fn number(ty: ScalarType, i: i128) -> Result<Const, RunError> {
    Const::int(ty, i).ok_or_else(|| malformed("a counter out of range"))
}
