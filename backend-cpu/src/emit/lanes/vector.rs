//! Lanes in vector registers: numbers of neighbouring points.

use super::convert::converts;
use super::plan::Plan;
use super::{Group, Lanes};
use crate::emit::library::{Extent, RAW};
use crate::emit::{Emit, clif, plain};
use crate::wide::EXTREMES;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    Endianness, InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, types,
};
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, ScalarOp, TernOp, UnOp};
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;
use midend::math::definition;

/// Lanes of a vector of this type; nothing for types that are not put in vectors. Integers are where `integers` says so.
pub(super) const fn lanes_per_vector(ty: ScalarType, integers: bool) -> Option<usize> {
    match ty {
        ScalarType::F32 => Some(4),
        ScalarType::F64 => Some(2),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => {
            if integers {
                Some(16 / ty.bytes())
            } else {
                None
            }
        }
        ScalarType::F16 | ScalarType::Bool => None,
    }
}

/// The vector type of a scalar type that is put in vectors.
pub(in crate::emit) fn vector(ty: ScalarType) -> Type {
    clif(ty)
        .by(16 / ty.bytes() as u32)
        .expect("scalars that are put in vectors have vector types")
}

/// The type that an operation works on, if it has vectors.
pub(super) fn packed_type(op: ScalarOp, integers: bool) -> Option<ScalarType> {
    let ty = match op {
        _ if definition(op).is_some() => op.operand(0),
        ScalarOp::Un(UnOp::Neg, ty)
        | ScalarOp::Bin(BinOp::Add | BinOp::Sub | BinOp::Min | BinOp::Max, ty) => ty,
        ScalarOp::Un(
            UnOp::Abs
            | UnOp::Sqrt
            | UnOp::Rsqrt
            | UnOp::Floor
            | UnOp::Ceil
            | UnOp::Round
            | UnOp::Trunc,
            ty,
        )
        | ScalarOp::Bin(BinOp::Div, ty)
        | ScalarOp::Tern(TernOp::Fma | TernOp::Mad | TernOp::Lerp, ty) => {
            Some(ty).filter(|ty| ty.is_float())?
        }
        ScalarOp::Un(UnOp::Not, ty) | ScalarOp::Bin(BinOp::And | BinOp::Or | BinOp::Xor, ty) => {
            Some(ty).filter(|ty| ty.is_integer())?
        }
        ScalarOp::Bin(BinOp::AddSat, ty) => Some(ty).filter(|ty| *ty == ScalarType::I64)?,
        // Products of bytes are many instructions.
        ScalarOp::Bin(BinOp::Mul, ty) => Some(ty).filter(|ty| ty.is_float() || ty.bytes() > 1)?,
        ScalarOp::Convert(from, to) => {
            if !converts(from, to, integers) {
                return None;
            }
            if from == ScalarType::Bool { to } else { from }
        }
        // By as much in all lanes. Bytes have no shifts.
        ScalarOp::Bin(BinOp::Shl | BinOp::Shr, ty) => {
            Some(ty).filter(|ty| ty.is_integer() && ty.bytes() > 1)?
        }
        ScalarOp::ToBits(ty) | ScalarOp::FromBits(ty) => Some(ty).filter(|_| integers)?,
        // A mask.
        ScalarOp::Cmp(_, ty) => ty,
        ScalarOp::Un(..) | ScalarOp::Bin(..) | ScalarOp::Tern(..) | ScalarOp::Select(_) => {
            return None;
        }
    };
    lanes_per_vector(ty, integers).map(|_| ty)
}

impl Emit<'_, '_> {
    /// An operation on vectors, if there is one and an operand is in vectors already or may well be.
    pub(super) fn packed_scalar(
        &mut self,
        group: &mut Group<'_>,
        op: ScalarOp,
        args: &[Atom],
    ) -> Option<Lanes> {
        if group.plan.integers
            && let Some(by_bits) = self.by_bits(group, op, args)
        {
            return Some(by_bits);
        }
        let ty = packed_type(op, group.plan.integers)?;
        if op.result() == ScalarType::Bool {
            return None;
        }
        if matches!(op, ScalarOp::Tern(TernOp::Fma, _)) && !self.has_fma() {
            return None;
        }
        match op {
            ScalarOp::Convert(from, to) => {
                return self.packed_convert(group, (from, to), args[0]);
            }
            ScalarOp::Bin(BinOp::Shl | BinOp::Shr, _) => {
                return self.packed_shift(group, op, args);
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => {}
        }
        let count = group.plan.vectors(ty)?;
        let columns: Vec<Vec<Value>> = args.iter().map(|a| self.packed(group, *a)).collect();
        let mut vectors = Vec::new();
        if let Some(near) = self.near(op, &columns, group.plan.parts) {
            return Some(Lanes::Packed(near));
        }
        if let Some(definition) = definition(op) {
            let lanes = Extent {
                lanes: group.plan.per_vector(ty)?,
                parts: group.plan.parts,
            };
            for i in 0..count {
                let row: Vec<Vec<Value>> = columns.iter().map(|column| vec![column[i]]).collect();
                vectors.extend(self.expand(op, definition, &row, lanes));
            }
            return Some(Lanes::Packed(vectors));
        }
        for i in 0..count {
            let row: Vec<Value> = columns.iter().map(|column| column[i]).collect();
            // The emission of one scalar is that of a vector, but for constants among its operands.
            let value = if let ScalarOp::Un(UnOp::Rsqrt, _) = op {
                let one = self.float_one(ty);
                let one = self.b.ins().splat(vector(ty), one);
                let root = self.b.ins().sqrt(row[0]);
                self.b.ins().fdiv(one, root)
            } else if matches!(op, ScalarOp::Bin(BinOp::Mul, ty) if ty.is_integer()) {
                self.packed_product(row[0], row[1])
            } else if let ScalarOp::Bin(extremum @ (BinOp::Min | BinOp::Max), _) = op {
                self.packed_extremum(ty, (row[0], row[1]), extremum == BinOp::Min)
            } else if let ScalarOp::Bin(BinOp::AddSat, _) = op {
                self.packed_saturated(row[0], row[1])
            } else if let ScalarOp::ToBits(ty) = op {
                self.packed_bits(ty, row[0])
            } else if let ScalarOp::FromBits(ty) = op {
                self.b.ins().bitcast(vector(ty), RAW, row[0])
            } else {
                self.scalar(op, &row)
            };
            vectors.push(value);
        }
        Some(Lanes::Packed(vectors))
    }

    /// Integers shifted by as much in all lanes.
    fn packed_shift(
        &mut self,
        group: &mut Group<'_>,
        op: ScalarOp,
        args: &[Atom],
    ) -> Option<Lanes> {
        if args[1].as_var().is_some_and(|v| group.plan.varies(v)) {
            return None;
        }
        group.plan.per_vector(op.result())?;
        let amount = self.atom(args[1]);
        let numbers = self.packed(group, args[0]).into_iter();
        let keeps_sign = op == ScalarOp::Bin(BinOp::Shr, ScalarType::I64);
        let shifted = numbers.map(|a| match keeps_sign {
            true => self.shifted_with_sign(a, amount),
            false => self.scalar(op, &[a, amount]),
        });
        Some(Lanes::Packed(shifted.collect()))
    }

    /// The bits of floats; of NaNs the canonical ones.
    fn packed_bits(&mut self, ty: ScalarType, a: Value) -> Value {
        let (int, canonical) = if ty == ScalarType::F32 {
            (types::I32X4, 0x7fc0_0000u32.to_le_bytes().repeat(4))
        } else {
            (
                types::I64X2,
                0x7ff8_0000_0000_0000u64.to_le_bytes().repeat(2),
            )
        };
        let canonical = self.lanes_of(int, &canonical);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let bits = self.b.ins().bitcast(int, RAW, a);
        self.b.ins().bitselect(nan, canonical, bits)
    }

    /// The least or the greatest of vectors; minimumNumber or maximumNumber of floats, as for scalars but without a
    /// branch.
    fn packed_extremum(&mut self, elem: ScalarType, (a, b): (Value, Value), least: bool) -> Value {
        if elem.is_integer() && elem.bytes() == 8 {
            return self.wide_extremum(elem, (a, b), least);
        }
        if elem.is_integer() {
            return match (least, elem.is_signed()) {
                (true, true) => self.b.ins().smin(a, b),
                (true, false) => self.b.ins().umin(a, b),
                (false, true) => self.b.ins().smax(a, b),
                (false, false) => self.b.ins().umax(a, b),
            };
        }
        if self.parts == 4
            && a != b
            && let (Some(a), Some(b)) = (self.quiet(a), self.quiet(b))
        {
            return self.extreme_of(elem, (a, b), least);
        }
        let ty = self.b.func.dfg.value_type(a);
        let raw = MemFlagsData::new().with_endianness(Endianness::Little);
        let (low, high) = if least { (a, b) } else { (b, a) };
        let forth = self.b.ins().fcmp(FloatCC::LessThan, low, high);
        let forth = self.b.ins().bitcast(ty, raw, forth);
        let first = self.b.ins().bitselect(forth, a, b);
        let back = self.b.ins().fcmp(FloatCC::LessThan, high, low);
        let back = self.b.ins().bitcast(ty, raw, back);
        let second = self.b.ins().bitselect(back, b, a);
        let merged = if least {
            self.b.ins().bor(first, second)
        } else {
            self.b.ins().band(first, second)
        };
        let mut number = merged;
        for (operand, other) in [(b, a), (a, b)] {
            if self.is_number(operand) {
                continue;
            }
            let nan = self.b.ins().fcmp(FloatCC::Unordered, operand, operand);
            let nan = self.b.ins().bitcast(ty, raw, nan);
            number = self.b.ins().bitselect(nan, other, number);
        }
        number
    }

    /// Floats without signaling NaNs: those that were computed, or what is the same in all lanes, for which that costs nothing.
    fn quiet(&mut self, all: Value) -> Option<Value> {
        if self.is_number(all) {
            return Some(all);
        }
        let dfg = &self.b.func.dfg;
        let data = |v: Value| Some(dfg.insts[dfg.value_def(v).inst()?]);
        // What extremes of such are made of.
        let made = self.operand_of(Opcode::Bitcast, all).and_then(data);
        if let Some(InstructionData::Shuffle { imm, .. }) = made
            && let Some(bytes) = dfg.immediates.get(imm)
            && EXTREMES.contains(&bytes.as_slice()[0])
        {
            return Some(all);
        }
        let computes = matches!(
            data(all)?.opcode(),
            Opcode::Fadd
                | Opcode::Fsub
                | Opcode::Fmul
                | Opcode::Fdiv
                | Opcode::Fma
                | Opcode::Sqrt
                | Opcode::FcvtFromSint
        );
        if computes {
            return Some(all);
        }
        self.operand_of(Opcode::Splat, all)?;
        let ty = self.b.func.dfg.value_type(all);
        let one = match ty == types::F32X4 {
            true => self.float_one(ScalarType::F32),
            false => self.float_one(ScalarType::F64),
        };
        let one = self.b.ins().splat(ty, one);
        Some(self.b.ins().fmul(all, one))
    }

    /// Whether a vector is a constant in all lanes that is a number.
    fn is_number(&self, all: Value) -> bool {
        let constant = self.operand_of(Opcode::Splat, all);
        let constant = constant.and_then(|lane| self.float_of(lane));
        constant.is_some_and(|number| !number.is_nan())
    }

    fn float_one(&mut self, ty: ScalarType) -> Value {
        use midend::ir::scalar::Const;
        let one = if ty == ScalarType::F32 {
            Const::f32(1.0)
        } else {
            Const::f64(1.0)
        };
        self.constant(one)
    }

    /// A number in all lanes of as many vectors as a group has.
    pub(in crate::emit) fn spread(
        &mut self,
        plan: &Plan,
        ty: ScalarType,
        value: Value,
    ) -> Vec<Value> {
        let count = plan.vectors(ty).expect("sums in lanes are put in vectors");
        let all = self.b.ins().splat(vector(ty), value);
        vec![all; count]
    }

    /// The lanes of a number in vectors.
    pub(super) fn packed(&mut self, group: &mut Group<'_>, atom: Atom) -> Vec<Value> {
        let ty = match atom {
            Atom::Const(c) => c.ty(),
            Atom::Var(v) => self.elem(v),
        };
        let count = group
            .plan
            .vectors(ty)
            .expect("such types are not put in vectors");
        let var = match atom {
            Atom::Var(v) if group.plan.varies(v) => v,
            Atom::Var(_) | Atom::Const(_) => {
                let value = self.atom(atom);
                let all = self.b.ins().splat(vector(ty), value);
                return vec![all; count];
            }
        };
        if let Some(Lanes::Packed(vectors)) = group.lanes.get(&var) {
            return vectors.clone();
        }
        if let Some(Lanes::Narrow(vectors)) = group.lanes.get(&var) {
            return self.wide_lanes(&vectors.clone(), group.plan.parts);
        }
        if ty == ScalarType::I64
            && let Some(growing) = self.growing(group, ty, atom)
        {
            return growing;
        }
        let values: Vec<Value> = (0..group.plan.width)
            .map(|lane| self.lane(group, var, lane))
            .collect();
        let vectors: Vec<Value> = values
            .chunks(group.plan.width / count)
            .map(|part| self.in_vector(vector(ty), part, group.plan.parts))
            .collect();
        group.lanes.insert(var, Lanes::Packed(vectors.clone()));
        vectors
    }

    /// The lanes of vectors apart.
    pub(super) fn unpacked(&mut self, vectors: &[Value], parts: usize) -> Vec<Value> {
        let mut values = Vec::new();
        for all in vectors {
            for part in self.parts_of(*all, parts) {
                let lanes = self.b.func.dfg.value_type(part).lane_count();
                for i in 0..lanes {
                    values.push(self.b.ins().extractlane(part, i as u8));
                }
            }
        }
        values
    }

    /// Loads of all lanes, `stride` bytes apart.
    pub(super) fn lanes_load(
        &mut self,
        group: &Group<'_>,
        elem: ScalarType,
        start: Value,
        stride: i64,
    ) -> Lanes {
        if let Some(count) = group.plan.vectors(elem)
            && stride == elem.bytes() as i64
        {
            let vectors = (0..count)
                .map(|i| {
                    let offset = group.plan.step() * i as i32;
                    self.b.ins().load(vector(elem), plain(), start, offset)
                })
                .collect();
            return Lanes::Packed(vectors);
        }
        let values = (0..group.plan.width as i64)
            .map(|lane| self.load(elem, start, (lane * stride) as i32))
            .collect();
        Lanes::Many(values)
    }

    /// Stores of all lanes, `stride` bytes apart, to a buffer or to an array of their own.
    pub(super) fn lanes_store(
        &mut self,
        group: &mut Group<'_>,
        (buffer, elem): (Option<Var>, ScalarType),
        (start, stride): (Value, i64),
        value: Atom,
    ) {
        if group.plan.per_vector(elem).is_some() && stride == elem.bytes() as i64 {
            let vectors = self.packed(group, value);
            self.store_vectors((buffer, start), (&vectors, group.plan.step()));
            return;
        }
        let uniform = match value {
            Atom::Var(v) if group.plan.varies(v) => {
                self.unpack(group, v);
                None
            }
            Atom::Var(_) | Atom::Const(_) => Some(self.atom(value)),
        };
        for lane in 0..group.plan.width {
            let value = match (uniform, value) {
                (Some(value), _) => value,
                (None, Atom::Var(v)) => self.lane(group, v, lane),
                (None, Atom::Const(c)) => self.constant(c),
            };
            self.b
                .ins()
                .store(plain(), value, start, (lane as i64 * stride) as i32);
        }
    }
}
