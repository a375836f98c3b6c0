//! Scalar operations in all lanes, as `midend::interp::scalar` defines them.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of those operations that have a form of their own"
)]

use super::{Held, Lower, Refused, Val, held};
use crate::vector::ir::{Cond, Conv, Elem, FloatCond, IntOp, MaskOp, Op, Type, Value, VecOp};
use midend::ir::id::Id;
use midend::ir::scalar::{BinOp, CmpOp, ScalarOp, TernOp, UnOp};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;
use midend::math::code::Definition;
use midend::math::{computed_by, definition};

/// What is not held in vectors or has no form there.
pub(super) fn without_form(what: impl std::fmt::Display) -> Refused {
    Refused(format!("{what}, which has no vector form"))
}

impl Lower<'_> {
    /// The value of an operation; `uniform` says that all lanes have the same.
    pub(super) fn scalar(
        &mut self,
        op: ScalarOp,
        args: &[Atom],
        uniform: bool,
    ) -> Result<Val, Refused> {
        let vals: Vec<Val> = args
            .iter()
            .map(|a| self.val(*a))
            .collect::<Result<_, _>>()?;
        let floats = op.result().is_float() || (0..op.arity()).any(|k| op.operand(k).is_float());
        let all_int = vals.iter().all(|v| matches!(v, Val::Int(_)));
        if all_int && !floats {
            let ints: Vec<Value> = vals
                .iter()
                .map(|v| self.as_int(*v))
                .collect::<Result<_, _>>()?;
            return Ok(Val::Int(self.uniform(op, &ints)?));
        }
        if let Some(val) = self.linear(op, &vals) {
            return Ok(val);
        }
        let val = self.in_lanes(op, &vals)?;
        let is_int = !op.result().is_float();
        match uniform && is_int {
            true => Ok(Val::Int(self.as_int(val)?)),
            false => Ok(val),
        }
    }

    /// Sums, differences and multiples of linear values.
    fn linear(&mut self, op: ScalarOp, vals: &[Val]) -> Option<Val> {
        match (op, vals) {
            (ScalarOp::Bin(BinOp::Add, ScalarType::I64), [Val::Linear(a, s), Val::Int(b)])
            | (ScalarOp::Bin(BinOp::Add, ScalarType::I64), [Val::Int(b), Val::Linear(a, s)]) => {
                Some(Val::Linear(self.op(IntOp::Add, *a, *b), *s))
            }
            (
                ScalarOp::Bin(BinOp::Add, ScalarType::I64),
                [Val::Linear(a, s), Val::Linear(b, t)],
            ) => Some(Val::Linear(self.op(IntOp::Add, *a, *b), s.wrapping_add(*t))),
            (ScalarOp::Bin(BinOp::Sub, ScalarType::I64), [Val::Linear(a, s), Val::Int(b)]) => {
                Some(Val::Linear(self.op(IntOp::Sub, *a, *b), *s))
            }
            (ScalarOp::Bin(BinOp::Sub, ScalarType::I64), [Val::Int(a), Val::Linear(b, s)]) => {
                Some(Val::Linear(self.op(IntOp::Sub, *a, *b), s.wrapping_neg()))
            }
            (ScalarOp::Bin(BinOp::Mul, ScalarType::I64), [Val::Linear(a, s), Val::Int(b)])
            | (ScalarOp::Bin(BinOp::Mul, ScalarType::I64), [Val::Int(b), Val::Linear(a, s)]) => {
                let n = self.known(*b)?;
                Some(Val::Linear(self.op(IntOp::Mul, *a, *b), s.wrapping_mul(n)))
            }
            (ScalarOp::Convert(ScalarType::I64, ScalarType::U64), [Val::Linear(a, s)])
            | (ScalarOp::Convert(ScalarType::U64, ScalarType::I64), [Val::Linear(a, s)]) => {
                Some(Val::Linear(*a, *s))
            }
            (ScalarOp::Convert(from, ScalarType::I64), [Val::Vector(v)])
                if from.is_integer() && from != ScalarType::U32 && self.f.elem(*v) == Elem::I32 =>
            {
                Some(Val::Narrow(*v))
            }
            (ScalarOp::Convert(ScalarType::I64, ScalarType::I32), [Val::Narrow(v)]) => {
                Some(Val::Vector(*v))
            }
            _ => None,
        }
    }

    /// An operation on the values of all lanes.
    fn in_lanes(&mut self, op: ScalarOp, vals: &[Val]) -> Result<Val, Refused> {
        let ty = op.operand(0);
        match op {
            ScalarOp::Select(ty) => {
                if let Val::Int(cond) = vals[0]
                    && let (Val::Int(a), Val::Int(b)) = (vals[1], vals[2])
                {
                    return Ok(Val::Int(self.select(cond, a, b)));
                }
                let mask = self.as_mask(vals[0])?;
                self.choose(mask, ty, vals[1], vals[2])
            }
            ScalarOp::Cmp(cmp, ScalarType::Bool) => {
                let (a, b) = (self.as_mask(vals[0])?, self.as_mask(vals[1])?);
                Ok(Val::Mask(match cmp {
                    CmpOp::Eq => {
                        let differ = self.mask_op(MaskOp::Xor, a, b);
                        self.mask_not(differ)
                    }
                    CmpOp::Lt => self.mask_op(MaskOp::AndNot, b, a),
                    CmpOp::Le => {
                        let not = self.mask_not(a);
                        self.mask_op(MaskOp::Or, not, b)
                    }
                }))
            }
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => {
                let mask = self.as_mask(vals[0])?;
                Ok(Val::Mask(self.mask_not(mask)))
            }
            ScalarOp::Bin(bin, ScalarType::Bool) => {
                let (a, b) = (self.as_mask(vals[0])?, self.as_mask(vals[1])?);
                let op = match bin {
                    BinOp::And | BinOp::Min | BinOp::Mul => MaskOp::And,
                    BinOp::Or | BinOp::Max => MaskOp::Or,
                    BinOp::Xor => MaskOp::Xor,
                    _ => return Err(without_form(op)),
                };
                Ok(Val::Mask(self.mask_op(op, a, b)))
            }
            ScalarOp::Convert(from, to) => self.converted(from, to, vals[0]),
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_) => {
                held(ty)?;
                let args: Vec<Value> = vals
                    .iter()
                    .map(|v| self.as_vector(*v))
                    .collect::<Result<_, _>>()?;
                self.of_vectors(op, &args)
            }
        }
    }

    /// One of two values for each lane.
    pub(super) fn choose(
        &mut self,
        mask: Value,
        ty: ScalarType,
        a: Val,
        b: Val,
    ) -> Result<Val, Refused> {
        Ok(match held(ty)? {
            Held::Truth => {
                let (a, b) = (self.as_mask(a)?, self.as_mask(b)?);
                let yes = self.mask_op(MaskOp::And, mask, a);
                let no = self.mask_op(MaskOp::AndNot, b, mask);
                Val::Mask(self.mask_op(MaskOp::Or, yes, no))
            }
            Held::Elem(_) => {
                if let (Val::Narrow(a), Val::Narrow(b)) = (a, b) {
                    return Ok(Val::Narrow(self.blend(mask, a, b)));
                }
                let (a, b) = (self.as_vector(a)?, self.as_vector(b)?);
                Val::Vector(self.blend(mask, a, b))
            }
        })
    }

    /// An operation on vectors.
    fn of_vectors(&mut self, op: ScalarOp, args: &[Value]) -> Result<Val, Refused> {
        let ty = op.operand(0);
        let wide = computed_by(op);
        if let Some(definition) = definition(wide) {
            if wide != op {
                return Err(without_form(op));
            }
            return Ok(Val::Vector(self.function(op, definition, args)?));
        }
        let value = match op {
            ScalarOp::Cmp(cmp, _) => {
                return Ok(Val::Mask(match ty.is_float() {
                    true => {
                        let cond = match cmp {
                            CmpOp::Eq => FloatCond::Eq,
                            CmpOp::Lt => FloatCond::Lt,
                            CmpOp::Le => FloatCond::Le,
                        };
                        self.float_compare(cond, args[0], args[1])
                    }
                    false => {
                        let cond = match (cmp, ty.is_signed()) {
                            (CmpOp::Eq, _) => Cond::Eq,
                            (CmpOp::Lt, true) => Cond::LtS,
                            (CmpOp::Lt, false) => Cond::LtU,
                            (CmpOp::Le, true) => Cond::LeS,
                            (CmpOp::Le, false) => Cond::LeU,
                        };
                        self.vec_compare(cond, args[0], args[1])
                    }
                }));
            }
            ScalarOp::Un(un, _) if ty.is_float() => return self.float_unary(un, ty, args[0]),
            ScalarOp::Bin(bin, _) if ty.is_float() => self.float_binary(bin, ty, args)?,
            ScalarOp::Tern(tern, _) => self.ternary(tern, ty, args)?,
            ScalarOp::ToBits(_) => {
                let elem = self.f.elem(args[0]).integer();
                let bits = self.convert(Conv::Bits, args[0], elem);
                let canonical = match elem.bytes() {
                    4 => 0x7fc0_0000,
                    _ => 0x7ff8_0000_0000_0000,
                };
                let canonical = self.vec_const(elem, canonical);
                let nan = self.float_compare(FloatCond::Unordered, args[0], args[0]);
                self.blend(nan, canonical, bits)
            }
            ScalarOp::FromBits(ty) => {
                let elem = match ty {
                    ScalarType::F32 => Elem::F32,
                    _ => Elem::F64,
                };
                self.convert(Conv::Bits, args[0], elem)
            }
            ScalarOp::Un(un, _) => self.int_unary(un, ty, args[0])?,
            ScalarOp::Bin(bin, _) => self.int_binary(bin, ty, args[0], args[1])?,
            ScalarOp::Convert(..) | ScalarOp::Select(_) => return Err(without_form(op)),
        };
        Ok(Val::Vector(value))
    }

    fn ternary(&mut self, op: TernOp, ty: ScalarType, args: &[Value]) -> Result<Value, Refused> {
        let (a, b, c) = (args[0], args[1], args[2]);
        let binary = |this: &mut Self, op: BinOp, a: Value, b: Value| match ty.is_float() {
            true => this.float_binary(op, ty, &[a, b]),
            false => this.int_binary(op, ty, a, b),
        };
        match op {
            TernOp::Fma => {
                let ty = self.f.ty(a);
                Ok(self.push(ty, Op::Fma(a, b, c)))
            }
            TernOp::Mad => {
                let product = binary(self, BinOp::Mul, a, b)?;
                binary(self, BinOp::Add, product, c)
            }
            TernOp::MadHi => {
                let product = binary(self, BinOp::MulHi, a, b)?;
                binary(self, BinOp::Add, product, c)
            }
            TernOp::Lerp => {
                let span = binary(self, BinOp::Sub, b, a)?;
                let part = binary(self, BinOp::Mul, span, c)?;
                binary(self, BinOp::Add, a, part)
            }
        }
    }

    pub(super) fn vec_compare(&mut self, cond: Cond, a: Value, b: Value) -> Value {
        self.push(Type::Mask, Op::VecCompare(cond, a, b))
    }

    pub(super) fn float_compare(&mut self, cond: FloatCond, a: Value, b: Value) -> Value {
        self.push(Type::Mask, Op::FloatCompare(cond, a, b))
    }

    /// A function that is defined in IR.
    fn function(
        &mut self,
        op: ScalarOp,
        definition: &Definition,
        args: &[Value],
    ) -> Result<Value, Refused> {
        let mut vals: Vec<Option<Val>> = vec![None; definition.vars.len()];
        for (param, arg) in definition.params.iter().zip(args) {
            vals[param.index()] = Some(Val::Vector(*arg));
        }
        let operand = |this: &mut Self, vals: &[Option<Val>], atom: Atom| match atom {
            Atom::Const(c) => this.constant(c),
            Atom::Var(v) => vals[v.index()].ok_or_else(|| without_form(op)),
        };
        for stm in &definition.body.stms {
            let Exp::Scalar(step, operands) = &stm.exp else {
                return Err(without_form(op));
            };
            let operands: Vec<Val> = operands
                .iter()
                .map(|atom| operand(self, &vals, *atom))
                .collect::<Result<_, _>>()?;
            vals[stm.binds[0].index()] = Some(self.in_lanes(*step, &operands)?);
        }
        let result = operand(self, &vals, definition.body.result[0])?;
        let result = self.as_vector(result)?;
        let Some(rare) = &definition.rare else {
            return Ok(result);
        };
        // Where operands are not ordinary, the interpreter computes all lanes by the same definition.
        let cond = vals[rare.cond.index()].ok_or_else(|| without_form(op))?;
        let cond = self.as_mask(cond)?;
        let some = self.active(cond);
        let any = self.any(some);
        let ty = self.f.ty(result);
        let (seldom, done) = (self.cold(), self.block(&[ty]));
        self.branch(any, (seldom, vec![]), (done, vec![result]));
        self.switch(seldom);
        let all = self.evaluated(op, args);
        let result = self.blend(cond, all, result);
        self.jump(done, vec![result]);
        Ok(self.switch(done)[0])
    }

    /// An operation on floats that the interpreter evaluates in all lanes.
    pub(super) fn evaluated(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let (helper, number) = crate::calls::evaluation(op);
        let number = self.int(Type::I64, number);
        let lanes = self.int(Type::I64, self.lanes());
        let mut operands = vec![number, lanes];
        let slots = args.iter().map(|a| self.spilled(*a));
        let slots: Vec<_> = slots.collect();
        operands.extend(slots.iter().map(|(slot, ..)| *slot));
        self.effect(Op::Call(helper.address(), operands));
        let (slot, cell, _) = slots[0];
        let ty = self.f.ty(args[0]);
        let at = crate::vector::ir::Address::at(slot, 0);
        self.push(ty, Op::VecLoad(cell, at, None))
    }

    /// A conversion between scalar types.
    fn converted(&mut self, from: ScalarType, to: ScalarType, val: Val) -> Result<Val, Refused> {
        if from == to {
            return Ok(val);
        }
        let (held_from, held_to) = (held(from)?, held(to)?);
        let target = match held_to {
            Held::Elem(elem) => elem,
            Held::Truth => {
                let a = self.as_vector(val)?;
                let elem = self.f.elem(a);
                let zero = self.vec_const(elem, 0);
                return Ok(Val::Mask(match elem.is_float() {
                    true => self.float_compare(FloatCond::Une, a, zero),
                    false => self.vec_compare(Cond::Ne, a, zero),
                }));
            }
        };
        if held_from == Held::Truth {
            let mask = self.as_mask(val)?;
            let one = match target {
                Elem::I32 | Elem::I64 => 1,
                Elem::F32 => u64::from(1f32.to_bits()),
                Elem::F64 => 1f64.to_bits(),
            };
            let (one, zero) = (self.vec_const(target, one), self.vec_const(target, 0));
            return Ok(Val::Vector(self.blend(mask, one, zero)));
        }
        let a = match val {
            // The sign extension of these is exact in a float as it is.
            Val::Narrow(v) if from == ScalarType::I64 && target.is_float() => v,
            _ => self.as_vector(val)?,
        };
        let source = self.f.elem(a);
        Ok(Val::Vector(match (source.is_float(), target.is_float()) {
            (true, true) => self.convert(Conv::Float, a, target),
            (true, false) => self.float_to_int(to, a),
            (false, true) => {
                let unsigned = matches!(from, ScalarType::U32 | ScalarType::U64);
                let conv = if unsigned {
                    Conv::Unsigned
                } else {
                    Conv::Float
                };
                self.convert(conv, a, target)
            }
            (false, false) => match (source, target) {
                (Elem::I64, Elem::I32) => {
                    let low = self.convert(Conv::Wrap, a, Elem::I32);
                    self.wrapped(to, low)
                }
                (Elem::I32, Elem::I64) => {
                    let conv = match from.is_signed() {
                        true => Conv::SignExtend,
                        false => Conv::ZeroExtend,
                    };
                    self.convert(conv, a, Elem::I64)
                }
                _ => self.wrapped(to, a),
            },
        }))
    }

    /// The float that bits of a size are.
    pub(super) fn float_const(&mut self, elem: Elem, value: f64) -> Value {
        let bits = match elem {
            Elem::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.vec_const(elem, bits)
    }

    /// Bits of floats combined.
    pub(super) fn of_bits(&mut self, op: VecOp, a: Value, b: Value) -> Value {
        self.vec(op, a, b)
    }
}
