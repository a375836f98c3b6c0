//! Functions that are defined in IR (`midend::math`), put into the code where they are used: the same vector code for
//! one value as for many lanes, so that selections never become branches.
//!
//! A value is the list of vector registers that hold its lanes, a truth value a mask as wide as what was compared.

use super::lanes::vector;
use super::memory::REGISTER;
use super::{Emit, block_args, plain};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    ConstantData, Endianness, InstBuilder, MemFlagsData, Type as ClifType, Value, types,
};
use midend::ir::id::Id;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;
use midend::math::code::Definition;

/// The lanes that a function is wanted for: of each part of a vector, and of how many parts (see [`crate::wide`]).
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) lanes: usize,
    pub(super) parts: usize,
}

/// Bits of a vector register seen as another type.
pub(super) const RAW: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);

/// Which bytes of two vectors make a vector of the upper half of the first.
const UPPER: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
/// Which bytes of two vectors make a vector of the lower halves of both.
const LOWER: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/// The vector type for a scalar type of definitions, truth values aside.
fn vector_of(ty: ScalarType) -> ClifType {
    match ty {
        ScalarType::F32 => types::F32X4,
        ScalarType::U32 | ScalarType::I32 => types::I32X4,
        ScalarType::U64 | ScalarType::I64 => types::I64X2,
        ScalarType::F64 => types::F64X2,
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::F16
        | ScalarType::Bool => unreachable!("definitions compute with words and floats"),
    }
}

impl Emit<'_, '_> {
    /// A function of single floats.
    pub(super) fn function(
        &mut self,
        op: ScalarOp,
        definition: &Definition,
        args: &[Value],
    ) -> Value {
        let ty = op.operand(0);
        let args: Vec<Vec<Value>> = args
            .iter()
            .map(|a| vec![self.b.ins().splat(vector(ty), *a)])
            .collect();
        let one = Extent { lanes: 1, parts: 1 };
        let result = self.expand(op, definition, &args, one);
        self.b.ins().extractlane(result[0], 0)
    }

    /// A function of floats in some lanes of vectors.
    pub(super) fn expand(
        &mut self,
        op: ScalarOp,
        definition: &Definition,
        args: &[Vec<Value>],
        extent: Extent,
    ) -> Vec<Value> {
        let lanes = extent.lanes;
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); definition.vars.len()];
        for (param, arg) in definition.params.iter().zip(args) {
            values[param.index()].clone_from(arg);
        }
        for stm in &definition.body.stms {
            let Exp::Scalar(op, operands) = &stm.exp else {
                unreachable!("definitions are made of scalar operations");
            };
            let operands: Vec<Vec<Value>> = operands
                .iter()
                .map(|atom| self.operand(&values, *atom, lanes))
                .collect();
            values[stm.binds[0].index()] = self.definition_step(*op, &operands, lanes);
        }
        let result = self.operand(&values, definition.body.result[0], lanes);
        match &definition.rare {
            Some(rare) => {
                let masks = values[rare.cond.index()].clone();
                self.rare(op, args, &masks, &result, extent)
            }
            None => result,
        }
    }

    fn operand(&mut self, values: &[Vec<Value>], atom: Atom, lanes: usize) -> Vec<Value> {
        let constant = match atom {
            Atom::Var(v) => return values[v.index()].clone(),
            Atom::Const(c) => c,
        };
        vec![self.all(constant); (lanes * constant.ty().bytes()).div_ceil(16)]
    }

    /// A constant in all lanes of a vector.
    pub(super) fn all(&mut self, constant: Const) -> Value {
        let (bytes, ty): (Vec<u8>, _) = match constant {
            Const::F32(x) | Const::U32(x) => (x.to_le_bytes().repeat(4), constant.ty()),
            Const::F64(x) | Const::U64(x) => (x.to_le_bytes().repeat(2), constant.ty()),
            Const::I8(_)
            | Const::I16(_)
            | Const::I32(_)
            | Const::I64(_)
            | Const::U8(_)
            | Const::U16(_)
            | Const::F16(_)
            | Const::Bool(_) => unreachable!("definitions compute with words and floats"),
        };
        let data = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(vector_of(ty), data)
    }

    /// Floats without their signs, of vectors by a constant, which Cranelift would make anew.
    pub(super) fn magnitude(&mut self, a: Value) -> Value {
        let rest = match self.b.func.dfg.value_type(a) {
            types::F32X4 => Const::F32(u32::MAX >> 1),
            types::F64X2 => Const::F64(u64::MAX >> 1),
            _ => return self.b.ins().fabs(a),
        };
        let rest = self.all(rest);
        self.b.ins().band(a, rest)
    }

    /// One operation of a definition on vectors.
    fn definition_step(&mut self, op: ScalarOp, args: &[Vec<Value>], lanes: usize) -> Vec<Value> {
        match op {
            ScalarOp::Convert(ScalarType::F32, _) => self.promote(&args[0], lanes),
            ScalarOp::Convert(..) => self.demote(&args[0]),
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => (0..args[0].len())
                .map(|i| {
                    let row: Vec<Value> = args.iter().map(|arg| arg[i]).collect();
                    self.vector_step(op, &row)
                })
                .collect(),
        }
    }

    /// An operation that works on each vector alone.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a table of those operations that definitions may use, which are the interpreter's as well"
    )]
    fn vector_step(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        let shift = |this: &mut Self| {
            let amount = this.b.func.dfg.value_def(args[1]).inst();
            let amount = amount.and_then(|inst| this.known_vector(inst));
            let amount = amount.expect("definitions shift by constants");
            this.b.ins().iconst(types::I32, amount)
        };
        match op {
            ScalarOp::Tern(TernOp::Fma, ty) => self.vector_fma(ty, args),
            ScalarOp::Select(ty) => {
                let mask = self.b.ins().bitcast(vector_of(ty), RAW, args[0]);
                self.b.ins().bitselect(mask, args[1], args[2])
            }
            ScalarOp::Cmp(op, ty) if ty.is_float() => {
                let code = match op {
                    CmpOp::Eq => FloatCC::Equal,
                    CmpOp::Lt => FloatCC::LessThan,
                    CmpOp::Le => FloatCC::LessThanOrEqual,
                };
                self.b.ins().fcmp(code, args[0], args[1])
            }
            ScalarOp::Cmp(CmpOp::Eq, _) => self.b.ins().icmp(IntCC::Equal, args[0], args[1]),
            // Bits of a NaN do not show in results, so they need not be the canonical ones.
            ScalarOp::ToBits(ScalarType::F32) => self.b.ins().bitcast(types::I32X4, RAW, args[0]),
            ScalarOp::ToBits(_) => self.b.ins().bitcast(types::I64X2, RAW, args[0]),
            ScalarOp::FromBits(ty) => self.b.ins().bitcast(vector_of(ty), RAW, args[0]),
            ScalarOp::Un(UnOp::IsNan, _) => self.b.ins().fcmp(FloatCC::Unordered, args[0], args[0]),
            ScalarOp::Un(UnOp::Neg, _) => self.b.ins().fneg(args[0]),
            ScalarOp::Un(UnOp::Abs, _) => self.magnitude(args[0]),
            ScalarOp::Un(UnOp::Sqrt, _) => self.b.ins().sqrt(args[0]),
            ScalarOp::Un(UnOp::Round, _) => self.b.ins().nearest(args[0]),
            ScalarOp::Un(UnOp::Trunc, _) => self.b.ins().trunc(args[0]),
            ScalarOp::Un(UnOp::Not, _) => self.b.ins().bnot(args[0]),
            ScalarOp::Bin(BinOp::And, _) => self.b.ins().band(args[0], args[1]),
            ScalarOp::Bin(BinOp::Or, _) => self.b.ins().bor(args[0], args[1]),
            ScalarOp::Bin(BinOp::Xor, _) => self.b.ins().bxor(args[0], args[1]),
            ScalarOp::Bin(BinOp::Shl, _) => {
                let amount = shift(self);
                self.b.ins().ishl(args[0], amount)
            }
            ScalarOp::Bin(BinOp::Shr, _) => {
                let amount = shift(self);
                self.b.ins().ushr(args[0], amount)
            }
            ScalarOp::Bin(op, ty) if ty.is_float() => match op {
                BinOp::Add => self.b.ins().fadd(args[0], args[1]),
                BinOp::Sub => self.b.ins().fsub(args[0], args[1]),
                BinOp::Mul => self.b.ins().fmul(args[0], args[1]),
                BinOp::Div => self.b.ins().fdiv(args[0], args[1]),
                BinOp::Copysign => {
                    let sign = if ty == ScalarType::F32 {
                        Const::U32(1 << 31)
                    } else {
                        Const::U64(1 << 63)
                    };
                    let sign = self.all(sign);
                    let sign = self.b.ins().bitcast(vector_of(ty), RAW, sign);
                    self.b.ins().bitselect(sign, args[1], args[0])
                }
                _ => unreachable!("definitions do without {}", op.name()),
            },
            ScalarOp::Bin(BinOp::Add, _) => self.b.ins().iadd(args[0], args[1]),
            ScalarOp::Bin(BinOp::Sub, _) => self.b.ins().isub(args[0], args[1]),
            _ => unreachable!("definitions do without {op}"),
        }
    }

    /// The value in all lanes of a constant vector.
    fn known_vector(&self, inst: cranelift_codegen::ir::Inst) -> Option<i64> {
        use cranelift_codegen::ir::InstructionData;
        let dfg = &self.b.func.dfg;
        let InstructionData::UnaryConst {
            constant_handle, ..
        } = dfg.insts[inst]
        else {
            return None;
        };
        let bytes = dfg.constants.get(constant_handle).as_slice();
        Some(i64::from(*bytes.first()?))
    }

    /// `a * b + c` rounded once, on machines without the instruction lane by lane.
    fn vector_fma(&mut self, ty: ScalarType, args: &[Value]) -> Value {
        if self.has_fma() {
            return self.b.ins().fma(args[0], args[1], args[2]);
        }
        let count = vector_of(ty).lane_count() as u8;
        let op = ScalarOp::Tern(TernOp::Fma, ty);
        let lanes: Vec<Value> = (0..count)
            .map(|i| {
                let row: Vec<Value> = args
                    .iter()
                    .map(|a| self.b.ins().extractlane(*a, i))
                    .collect();
                self.scalar(op, &row)
            })
            .collect();
        self.in_vector(vector_of(ty), &lanes, 1)
    }

    /// Numbers as the lanes of a vector, or of the parts of a wider one.
    pub(super) fn in_vector(&mut self, ty: ClifType, lanes: &[Value], parts: usize) -> Value {
        let vectors = lanes.chunks(lanes.len() / parts).map(|lanes| {
            // Narrow integers are not moved to vectors alone.
            let mut all = if ty.lane_type().bits() < 32 {
                self.b.ins().splat(ty, lanes[0])
            } else {
                self.b.ins().scalar_to_vector(ty, lanes[0])
            };
            for (i, value) in lanes.iter().enumerate().skip(1) {
                all = self.b.ins().insertlane(all, *value, i as u8);
            }
            all
        });
        let vectors: Vec<Value> = vectors.collect();
        self.joined(&vectors)
    }

    /// Bytes of two vectors: `mask` says which, those of the second from 16 on.
    pub(super) fn bytes(&mut self, a: Value, b: Value, mask: [u8; 16], ty: ClifType) -> Value {
        let a = self.b.ins().bitcast(types::I8X16, RAW, a);
        let b = self.b.ins().bitcast(types::I8X16, RAW, b);
        let data = ConstantData::from(mask.as_slice());
        let mask = self.b.func.dfg.immediates.push(data);
        let all = self.b.ins().shuffle(a, b, mask);
        self.b.ins().bitcast(ty, RAW, all)
    }

    /// Binary32 to binary64: the halves of each vector.
    pub(super) fn promote(&mut self, vectors: &[Value], lanes: usize) -> Vec<Value> {
        let mut out = Vec::new();
        for all in vectors {
            out.push(self.b.ins().fvpromote_low(*all));
            if lanes > 2 {
                let upper = self.bytes(*all, *all, UPPER, types::F32X4);
                out.push(self.b.ins().fvpromote_low(upper));
            }
        }
        out
    }

    /// Binary64 to binary32: vectors in pairs.
    pub(super) fn demote(&mut self, vectors: &[Value]) -> Vec<Value> {
        let mut out = Vec::new();
        for pair in vectors.chunks(2) {
            let low = self.b.ins().fvdemote(pair[0]);
            out.push(match pair.get(1) {
                Some(high) => {
                    let high = self.b.ins().fvdemote(*high);
                    self.bytes(low, high, LOWER, types::F32X4)
                }
                None => low,
            });
        }
        out
    }

    /// Where a mask holds in any lane, the interpreter computes the lanes of the vector, by the same definition.
    fn rare(
        &mut self,
        op: ScalarOp,
        args: &[Vec<Value>],
        masks: &[Value],
        results: &[Value],
        Extent { lanes, parts }: Extent,
    ) -> Vec<Value> {
        let ty = op.operand(0);
        let mut any = masks[0];
        for mask in &masks[1..] {
            any = self.b.ins().bor(any, *mask);
        }
        let any = self.b.ins().vany_true(any);
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let joined: Vec<Value> = results
            .iter()
            .map(|_| self.b.append_block_param(done, vector_of(ty)))
            .collect();
        let usual: Vec<_> = results.iter().map(|v| (*v).into()).collect();
        self.b.ins().brif(any, slow, &[], done, &usual);
        self.b.switch_to_block(slow);
        let (helper, number) = crate::calls::evaluation(op);
        // The operands one after the other, of which the first make room for the results.
        let bytes = 16 * parts;
        let row = bytes * results.len();
        // What has fewer parts than a register is stored as a whole one as well.
        let room = row * args.len() - bytes + REGISTER as usize;
        let place = self.aligned_slot(room as i64);
        let mut operands = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            operands.push(self.b.ins().iadd_imm_s(place, (k * row) as i64));
            for (i, floats) in arg.iter().enumerate() {
                let ahead = (k * row + i * bytes) as i32;
                self.b.ins().store(plain(), *floats, place, ahead);
            }
        }
        let lanes = lanes.min(16 / ty.bytes()) * parts * results.len();
        let mut values = vec![self.i64(number), self.i64(lanes as i64)];
        values.extend(operands);
        self.helper(helper, &values);
        let slowly = (0..results.len()).map(|i| {
            let ahead = (i * bytes) as i32;
            self.b.ins().load(vector_of(ty), plain(), place, ahead)
        });
        let slowly = block_args(slowly.collect::<Vec<_>>());
        self.b.ins().jump(done, &slowly);
        self.b.switch_to_block(done);
        joined
    }
}
