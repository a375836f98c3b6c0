//! Vectorisation of kernels: neighbouring iterations of the innermost dimension become lanes of the vector IR (whole-function
//! vectorisation under an execution mask, as ispc and Karrenberg's thesis have it).
//!
//! ```text
//! if c { x = f y; a[i] = x }   ──►   m' = m & c; if any m' { x = f y; store a[i], x, m' }
//! while c { .. }               ──►   m' = m & c; while any m' { ..; x' = blend m' next x; m' = m' & c' }
//! ```
//!
//! - A value is *uniform* if all lanes have the same ([`uniformity`]), *linear* if it grows by a constant from lane to lane, else varying.
//! - Code that may fault or store is executed only where some lane is active. So uniform code under a mask does what the active lanes do.
//! - Lanes that are not active compute anything, store nothing, and keep what loops carry for them.
//! - An operation without a vector form is done lane by lane, in a loop over stack slots.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value is held in one of a few ways, of which most are matched as one"
)]

mod control;
mod float;
mod integer;
mod memory;
mod scalar;
mod space;
mod uniformity;

use super::cost::{self, Costs};
use super::ir::{
    Address, Block, Cell, Cond, Conv, Elem, Function, Inst, IntOp, MaskOp, Op, Terminator, Type,
    Value, VecOp,
};
use crate::worker::{Site, SitePart};
use midend::analysis::kernels::has_value;
use midend::ir::id::{SpanId, Var};
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp, Message, MessagePart, Program, Stm, Vars};
use midend::ir::types::{ScalarType, Type as SourceType};
use std::collections::HashMap;
use std::sync::Arc;
use uniformity::Uniformity;

/// Why a kernel is not vectorised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

/// A vectorised unit: a function of the worker, the slots of arguments and the range of points, which yields a status.
pub(crate) struct Lowered {
    pub(crate) func: Function,
    /// Checks that the code refers to.
    pub(crate) sites: Vec<Arc<Site>>,
    pub(crate) cost: Costs,
}

/// The most instructions of a function.
const LARGE: usize = 20_000;
/// The cycles by which an operation that is done lane by lane takes longer than the operation.
const EACH: f64 = 4.0;
/// How deep calls are inlined.
const DEEP: usize = 16;

/// What is known of a source variable.
#[derive(Clone, Copy, Debug)]
enum Val {
    /// A uniform integer or truth value.
    Int(Value),
    /// A 64-bit integer that grows by a constant from lane to lane: that of the first lane.
    Linear(Value, i64),
    Vector(Value),
    /// A vector of 32-bit integers which a 64-bit integer is the sign extension of.
    Narrow(Value),
    Mask(Value),
    /// The address of a buffer that all lanes share.
    Shared(Value),
    /// The address of a buffer of each lane, interleaved: element `i` of lane `l` is at `i * lanes + l`.
    Private(Value),
}

/// How a scalar type is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Elem(Elem),
    Truth,
}

fn held(ty: ScalarType) -> Result<Held, Refused> {
    Ok(match ty {
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32 => Held::Elem(Elem::I32),
        ScalarType::I64 | ScalarType::U64 => Held::Elem(Elem::I64),
        ScalarType::F32 => Held::Elem(Elem::F32),
        ScalarType::F64 => Held::Elem(Elem::F64),
        ScalarType::Bool => Held::Truth,
        ScalarType::F16 => return Err(Refused("floats of 16 bits".to_owned())),
    })
}

/// How an element of a buffer is stored.
fn cell(ty: ScalarType) -> Result<Cell, Refused> {
    Ok(match ty {
        ScalarType::I8 => Cell::I8,
        ScalarType::U8 | ScalarType::Bool => Cell::U8,
        ScalarType::I16 => Cell::I16,
        ScalarType::U16 => Cell::U16,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => Cell::W32,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => Cell::W64,
        ScalarType::F16 => return Err(Refused("floats of 16 bits".to_owned())),
    })
}

/// The state of vectorising one unit.
struct Lower<'a> {
    program: &'a Program<Mem>,
    vars: &'a Vars,
    f: Function,
    at: Block,
    values: HashMap<Var, Val>,
    uniformity: Uniformity,
    /// The constants among the uniform integers.
    constants: HashMap<Value, i64>,
    /// The lanes that are active; nothing if all are.
    mask: Option<Value>,
    worker: Value,
    /// Returns a failure.
    fail: Block,
    sites: Vec<Arc<Site>>,
    insts: usize,
    inlined: usize,
    cost: Costs,
    /// How often the code is executed that is being made, in vector code and in scalar code.
    weight: Costs,
}

/// Vectorises the unit of a map that works on a range of points. `args` are the variables whose values the slots hold.
pub(crate) fn map(
    program: &Program<Mem>,
    kernel: &Kernel,
    args: &[Var],
    lanes: usize,
) -> Result<Lowered, Refused> {
    if !matches!(kernel.kind, KernelKind::Map) {
        return Err(Refused("not a map".to_owned()));
    }
    let (index, _) = kernel
        .space
        .last()
        .ok_or_else(|| Refused("a single point".to_owned()))?;
    let uniformity = Uniformity::of(program, &kernel.body, *index)?;
    let params = if kernel.has_ragged_rows() { 6 } else { 4 };
    let mut f = Function::new(lanes);
    let entry = f.block(&vec![Type::I64; params]);
    let fail = f.block(&[]);
    f.data_mut(fail).cold = true;
    let p = f.data(entry).params.clone();
    let mut lower = Lower {
        program,
        vars: &program.vars,
        f,
        at: entry,
        values: HashMap::new(),
        uniformity,
        constants: HashMap::new(),
        mask: None,
        worker: p[0],
        fail,
        sites: Vec::new(),
        insts: 0,
        inlined: 0,
        cost: Costs::default(),
        weight: Costs {
            scalar: 1.0,
            vector: 1.0,
        },
    };
    lower.arguments(args, p[1])?;
    lower.points(kernel, &p[2..])?;
    let ok = lower.int(Type::I32, 0);
    lower.end(Terminator::Return(ok));
    lower.at = fail;
    let failed = lower.int(Type::I32, 1);
    lower.end(Terminator::Return(failed));
    Ok(Lowered {
        func: lower.f,
        sites: lower.sites,
        cost: lower.cost,
    })
}

impl Lower<'_> {
    fn lanes(&self) -> i64 {
        self.f.lanes as i64
    }

    /// Appends an instruction that yields a value.
    fn push(&mut self, ty: Type, op: Op) -> Value {
        self.insts += 1;
        let result = self.f.value(ty);
        let at = self.at;
        self.count(&op, Some(result));
        self.f.data_mut(at).insts.push(Inst {
            op,
            result: Some(result),
        });
        result
    }

    /// Appends an instruction that yields nothing.
    fn effect(&mut self, op: Op) {
        self.insts += 1;
        let at = self.at;
        self.count(&op, None);
        self.f.data_mut(at).insts.push(Inst { op, result: None });
    }

    /// Counts an instruction where it is not seldom executed.
    fn count(&mut self, op: &Op, result: Option<Value>) {
        if !self.f.data(self.at).cold {
            self.cost.vector += self.weight.vector * cost::of_op(&self.f, op, result);
        }
    }

    /// Counts what scalar code does for each lane.
    fn count_scalar(&mut self, cycles: f64) {
        self.cost.scalar += self.weight.scalar * cycles * self.f.lanes as f64;
    }

    /// Makes what `inner` makes for code that is executed so many times as often.
    fn weighted<R>(
        &mut self,
        (scalar, vector): (f64, f64),
        inner: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = self.weight;
        self.weight.scalar *= scalar;
        self.weight.vector *= vector;
        let result = inner(self);
        self.weight = before;
        result
    }

    fn end(&mut self, end: Terminator) {
        let at = self.at;
        self.f.data_mut(at).end = Some(end);
    }

    /// Goes on in a block.
    fn switch(&mut self, block: Block) -> Vec<Value> {
        self.at = block;
        self.f.data(block).params.clone()
    }

    fn block(&mut self, params: &[Type]) -> Block {
        self.f.block(params)
    }

    /// A block that is seldom executed.
    fn cold(&mut self) -> Block {
        let block = self.f.block(&[]);
        self.f.data_mut(block).cold = true;
        block
    }

    fn jump(&mut self, block: Block, args: Vec<Value>) {
        self.end(Terminator::Jump(block, args));
    }

    fn branch(&mut self, cond: Value, yes: (Block, Vec<Value>), no: (Block, Vec<Value>)) {
        self.end(Terminator::Branch(cond, yes, no));
    }

    fn int(&mut self, ty: Type, n: i64) -> Value {
        let value = self.push(ty, Op::Const(n));
        self.constants.insert(value, n);
        value
    }

    fn known(&self, value: Value) -> Option<i64> {
        self.constants.get(&value).copied()
    }

    /// An operation on uniform integers; sums and products with neutral elements are folded, and sums of constants.
    fn op(&mut self, op: IntOp, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        match (op, self.known(a), self.known(b)) {
            (IntOp::Add, Some(x), Some(y)) if ty == Type::I64 => {
                return self.int(ty, x.wrapping_add(y));
            }
            (IntOp::Mul, Some(x), Some(y)) if ty == Type::I64 => {
                return self.int(ty, x.wrapping_mul(y));
            }
            (IntOp::Add | IntOp::Sub | IntOp::Shl, _, Some(0)) | (IntOp::Mul, _, Some(1)) => {
                return a;
            }
            (IntOp::Add, Some(0), _) | (IntOp::Mul, Some(1), _) => return b,
            _ => {}
        }
        self.push(ty, Op::Int(op, a, b))
    }

    fn op_const(&mut self, op: IntOp, a: Value, n: i64) -> Value {
        let ty = self.f.ty(a);
        let b = self.int(ty, n);
        self.op(op, a, b)
    }

    fn compare(&mut self, cond: Cond, a: Value, b: Value) -> Value {
        self.push(Type::I32, Op::Compare(cond, a, b))
    }

    fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.push(ty, Op::Select(cond, a, b))
    }

    fn vec_const(&mut self, elem: Elem, bits: u64) -> Value {
        let bits = match elem.bytes() {
            4 => u64::from(bits as u32),
            _ => bits,
        };
        let value = self.push(Type::Vector(elem), Op::VecConst(bits));
        self.constants.insert(value, bits as i64);
        value
    }

    fn vec(&mut self, op: VecOp, a: Value, b: Value) -> Value {
        let ty = self.f.ty(a);
        self.push(ty, Op::Vec(op, a, b))
    }

    fn splat(&mut self, a: Value) -> Value {
        let elem = match self.f.ty(a) {
            Type::I32 => Elem::I32,
            _ => Elem::I64,
        };
        match self.known(a) {
            Some(n) => self.vec_const(elem, n as u64),
            None => self.push(Type::Vector(elem), Op::Splat(a)),
        }
    }

    fn convert(&mut self, conv: Conv, a: Value, to: Elem) -> Value {
        match conv == Conv::Bits && self.f.elem(a) == to {
            true => a,
            false => self.push(Type::Vector(to), Op::Convert(conv, a)),
        }
    }

    fn blend(&mut self, mask: Value, a: Value, b: Value) -> Value {
        match a == b {
            true => a,
            false => {
                let ty = self.f.ty(a);
                self.push(ty, Op::Blend(mask, a, b))
            }
        }
    }

    fn mask_op(&mut self, op: MaskOp, a: Value, b: Value) -> Value {
        self.push(Type::Mask, Op::Mask(op, a, b))
    }

    fn mask_not(&mut self, a: Value) -> Value {
        self.push(Type::Mask, Op::MaskNot(a))
    }

    fn any(&mut self, mask: Value) -> Value {
        self.push(Type::I32, Op::Any(mask))
    }

    /// A mask of those active lanes for which another one holds.
    fn active(&mut self, mask: Value) -> Value {
        match self.mask {
            Some(active) => self.mask_op(MaskOp::And, active, mask),
            None => mask,
        }
    }

    fn ty(&self, var: Var) -> &SourceType {
        &self.vars[var].ty
    }

    /// The type of a scalar, or of the elements of a buffer.
    fn scalar_type(&self, atom: Atom) -> ScalarType {
        match atom {
            Atom::Const(c) => c.ty(),
            Atom::Var(v) => self
                .ty(v)
                .elem()
                .expect("the verifier lets only scalars and buffers be operands"),
        }
    }

    fn val(&mut self, atom: Atom) -> Result<Val, Refused> {
        match atom {
            Atom::Const(c) => self.constant(c),
            Atom::Var(v) => self
                .values
                .get(&v)
                .copied()
                .ok_or_else(|| Refused("a value of a kind that lanes do not have".to_owned())),
        }
    }

    fn constant(&mut self, c: Const) -> Result<Val, Refused> {
        Ok(match held(c.ty())? {
            Held::Truth => Val::Int(self.int(Type::I32, i64::from(c.as_bool() == Some(true)))),
            Held::Elem(elem) if elem.is_float() => {
                let bits = match c {
                    Const::F32(bits) => u64::from(bits),
                    Const::F64(bits) => bits,
                    Const::I8(_)
                    | Const::I16(_)
                    | Const::I32(_)
                    | Const::I64(_)
                    | Const::U8(_)
                    | Const::U16(_)
                    | Const::U32(_)
                    | Const::U64(_)
                    | Const::F16(_)
                    | Const::Bool(_) => 0,
                };
                Val::Vector(self.vec_const(elem, bits))
            }
            Held::Elem(elem) => {
                let n = c.as_int().unwrap_or(0);
                let (ty, n) = match elem {
                    Elem::I64 => (Type::I64, n as i64),
                    _ => (Type::I32, i64::from(n as i32)),
                };
                Val::Int(self.int(ty, n))
            }
        })
    }

    /// A uniform value as an integer.
    fn as_int(&mut self, val: Val) -> Result<Value, Refused> {
        Ok(match val {
            Val::Int(v) => v,
            Val::Mask(m) => {
                let bits = self.push(Type::I32, Op::MaskBits(m));
                self.op_const(IntOp::And, bits, 1)
            }
            Val::Vector(v) => {
                let ty = match self.f.elem(v).bytes() {
                    4 => Type::I32,
                    _ => Type::I64,
                };
                self.push(ty, Op::First(v))
            }
            Val::Narrow(v) => {
                let first = self.push(Type::I32, Op::First(v));
                self.push(Type::I64, Op::Extend(first, 32, true))
            }
            Val::Linear(..) | Val::Shared(_) | Val::Private(_) => {
                return Err(Refused("an index that varies where it must not".to_owned()));
            }
        })
    }

    /// A number as a vector.
    fn as_vector(&mut self, val: Val) -> Result<Value, Refused> {
        Ok(match val {
            Val::Int(v) => self.splat(v),
            Val::Linear(first, stride) => {
                let first = self.splat(first);
                let iota = self.push(Type::Vector(Elem::I64), Op::Iota);
                let steps = match stride {
                    1 => iota,
                    _ => {
                        let stride = self.vec_const(Elem::I64, stride as u64);
                        self.vec(VecOp::Mul, iota, stride)
                    }
                };
                self.vec(VecOp::Add, first, steps)
            }
            Val::Vector(v) => v,
            Val::Narrow(v) => self.convert(Conv::SignExtend, v, Elem::I64),
            Val::Mask(m) => {
                let (one, zero) = (self.vec_const(Elem::I32, 1), self.vec_const(Elem::I32, 0));
                self.blend(m, one, zero)
            }
            Val::Shared(_) | Val::Private(_) => {
                return Err(Refused("a buffer where a number is wanted".to_owned()));
            }
        })
    }

    /// A truth value as a mask.
    fn as_mask(&mut self, val: Val) -> Result<Value, Refused> {
        match val {
            Val::Mask(m) => Ok(m),
            Val::Int(v) => Ok(match self.known(v) {
                Some(n) => self.push(Type::Mask, Op::MaskConst(n != 0)),
                None => self.push(Type::Mask, Op::MaskSplat(v)),
            }),
            Val::Linear(..)
            | Val::Vector(_)
            | Val::Narrow(_)
            | Val::Shared(_)
            | Val::Private(_) => Err(Refused("a number where a truth value is wanted".to_owned())),
        }
    }

    /// The arguments of a kernel, from their slots.
    fn arguments(&mut self, args: &[Var], slots: Value) -> Result<(), Refused> {
        for (k, var) in args.iter().enumerate() {
            let at = Address::at(slots, 8 * k as i32);
            let val = match self.ty(*var) {
                SourceType::Buffer(_) => Val::Shared(self.push(Type::I64, Op::Load(Cell::W64, at))),
                SourceType::Scalar(ty) => self.load_uniform(*ty, at)?,
                SourceType::Array(_) | SourceType::Acc(_) | SourceType::Cert => continue,
            };
            self.values.insert(*var, val);
        }
        Ok(())
    }

    /// The statements of a body; yields its results, certificates left out.
    fn body(&mut self, body: &Body<Mem>) -> Result<Vec<Val>, Refused> {
        for stm in &body.stms {
            self.stm(stm)?;
        }
        self.results(&body.result)
    }

    fn results(&mut self, atoms: &[Atom]) -> Result<Vec<Val>, Refused> {
        let with_value = |atom: &&Atom| match atom {
            Atom::Const(_) => true,
            Atom::Var(v) => has_value(&self.vars[*v].ty),
        };
        let atoms: Vec<Atom> = atoms.iter().filter(with_value).copied().collect();
        atoms.into_iter().map(|atom| self.val(atom)).collect()
    }

    fn stm(&mut self, stm: &Stm<Mem>) -> Result<(), Refused> {
        if self.insts > LARGE {
            return Err(Refused("much code".to_owned()));
        }
        let values = match &stm.exp {
            Exp::Atom(atom) => self.results(&[*atom])?,
            Exp::Scalar(op, args) => {
                let uniform = stm.binds.iter().all(|v| self.uniformity.is_uniform(*v));
                self.count_scalar(cost::of_scalar(*op));
                vec![self.scalar(*op, args, uniform)?]
            }
            Exp::Assert { cond, message } => {
                self.count_scalar(0.5);
                self.assert(*cond, message, stm.span)?;
                Vec::new()
            }
            Exp::Guard { .. } => vec![Val::Int(self.int(Type::I32, 0))],
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.conditional(&stm.binds, *cond, (then, otherwise))?,
            Exp::Loop { params, form, body } => self.looped(params, form, body)?,
            Exp::Call { fun, args } => self.call(*fun, args)?,
            Exp::Op(op) => self.memory(op, &stm.binds)?,
        };
        let binds = stm.binds.iter().filter(|v| has_value(&self.vars[**v].ty));
        for (var, val) in binds.zip(values) {
            self.values.insert(*var, val);
        }
        Ok(())
    }

    /// A check of the active lanes. Where it fails, it tells of the first of them.
    fn assert(&mut self, cond: Atom, message: &Message, span: SpanId) -> Result<(), Refused> {
        if cond == Atom::Const(Const::Bool(true)) {
            return Ok(());
        }
        let cond = self.val(cond)?;
        let (bad, good) = (self.cold(), self.block(&[]));
        let fails = match cond {
            Val::Int(holds) => {
                self.branch(holds, (good, vec![]), (bad, vec![]));
                None
            }
            _ => {
                let holds = self.as_mask(cond)?;
                let fails = match self.mask {
                    Some(active) => self.mask_op(MaskOp::AndNot, active, holds),
                    None => self.mask_not(holds),
                };
                let any = self.any(fails);
                self.branch(any, (bad, vec![]), (good, vec![]));
                Some(fails)
            }
        };
        self.switch(bad);
        self.report(message, span, fails)?;
        self.switch(good);
        Ok(())
    }

    /// Reports a failure of the first of some lanes and leaves.
    fn report(
        &mut self,
        message: &Message,
        span: SpanId,
        fails: Option<Value>,
    ) -> Result<(), Refused> {
        let fails = fails.or(self.mask);
        let lane = match fails {
            Some(fails) => {
                let bits = self.push(Type::I32, Op::MaskBits(fails));
                let lane = self.push(Type::I32, Op::TrailingZeros(bits));
                self.push(Type::I64, Op::Extend(lane, 32, false))
            }
            None => self.int(Type::I64, 0),
        };
        let mut parts = Vec::new();
        let mut told = Vec::new();
        for part in &message.parts {
            match part {
                MessagePart::Text(text) => parts.push(SitePart::Text(text.clone())),
                MessagePart::Value(atom) => {
                    parts.push(SitePart::Value(self.scalar_type(*atom)));
                    let val = self.val(*atom)?;
                    told.push(self.of_lane(val, lane)?);
                }
            }
        }
        let site = Arc::new(Site {
            kind: message.kind,
            parts,
            span,
        });
        let address = self.int(Type::I64, Arc::as_ptr(&site) as i64);
        self.sites.push(site);
        let slot = self.f.slot(8 * told.len().max(1) as u32);
        let slots = self.push(Type::I64, Op::SlotAddress(slot));
        for (k, value) in told.into_iter().enumerate() {
            let cell = match self.f.ty(value) {
                Type::I32 => Cell::W32,
                _ => Cell::W64,
            };
            self.effect(Op::Store(cell, Address::at(slots, 8 * k as i32), value));
        }
        let helper = crate::calls::TRAP.address();
        self.effect(Op::Call(helper, vec![self.worker, address, slots]));
        let fail = self.fail;
        self.jump(fail, vec![]);
        Ok(())
    }

    /// What a lane has of a scalar.
    fn of_lane(&mut self, val: Val, lane: Value) -> Result<Value, Refused> {
        match val {
            Val::Int(v) => Ok(v),
            Val::Linear(first, stride) => {
                let steps = self.op_const(IntOp::Mul, lane, stride);
                Ok(self.op(IntOp::Add, first, steps))
            }
            _ => {
                let vector = self.as_vector(val)?;
                let (slot, cell, ty) = self.spilled(vector);
                let at = Address {
                    base: slot,
                    index: Some((lane, cell.bytes() as u8)),
                    offset: 0,
                };
                Ok(self.push(ty, Op::Load(cell, at)))
            }
        }
    }

    /// The elements of a vector in a stack slot, and how one of them is loaded.
    fn spilled(&mut self, vector: Value) -> (Value, Cell, Type) {
        let bytes = self.f.elem(vector).bytes();
        let (cell, ty) = match bytes {
            4 => (Cell::W32, Type::I32),
            _ => (Cell::W64, Type::I64),
        };
        let slot = self.f.slot((bytes * self.f.lanes) as u32);
        let slot = self.push(Type::I64, Op::SlotAddress(slot));
        self.effect(Op::VecStore(cell, Address::at(slot, 0), vector, None));
        (slot, cell, ty)
    }

    /// Vectors computed lane by lane from others by uniform code.
    fn lane_by_lane(
        &mut self,
        args: &[Value],
        elem: Elem,
        each: impl FnOnce(&mut Self, &[Value]) -> Result<Value, Refused>,
    ) -> Result<Value, Refused> {
        let from: Vec<(Value, Cell, Type)> = args.iter().map(|a| self.spilled(*a)).collect();
        let to = self.f.slot((elem.bytes() * self.f.lanes) as u32);
        let to = self.push(Type::I64, Op::SlotAddress(to));
        let (inside, exit) = (self.block(&[Type::I64]), self.block(&[]));
        let zero = self.int(Type::I64, 0);
        self.jump(inside, vec![zero]);
        let lane = self.switch(inside)[0];
        let at = |base: Value, cell: Cell| Address {
            base,
            index: Some((lane, cell.bytes() as u8)),
            offset: 0,
        };
        let loads = from.into_iter();
        let scalars: Vec<Value> = loads
            .map(|(slot, cell, ty)| self.push(ty, Op::Load(cell, at(slot, cell))))
            .collect();
        let lanes = self.f.lanes as f64;
        let result = self.weighted((1.0, lanes), |this| each(this, &scalars))?;
        self.cost.vector += self.weight.vector * lanes * EACH;
        let cell = match elem.bytes() {
            4 => Cell::W32,
            _ => Cell::W64,
        };
        self.effect(Op::Store(cell, at(to, cell), result));
        let next = self.op_const(IntOp::Add, lane, 1);
        let lanes = self.int(Type::I64, self.lanes());
        let more = self.compare(Cond::LtS, next, lanes);
        self.branch(more, (inside, vec![next]), (exit, vec![]));
        self.switch(exit);
        Ok(self.push(
            Type::Vector(elem),
            Op::VecLoad(cell, Address::at(to, 0), None),
        ))
    }
}
