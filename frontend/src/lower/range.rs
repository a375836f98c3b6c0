//! Ranges: their elements, their lengths, their checks.

use super::Lower;
use super::emit::{int, text, value};
use super::value::{Value, int_const};
use crate::typed::RangeEnd;
use midend::ir::array::ArrayOp;
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};

impl<'a> Lower<'a> {
    /// `start..second..<end` of any integer type.
    pub fn range(
        &mut self,
        start: Atom,
        second: Option<Atom>,
        kind: RangeEnd,
        end: Atom,
    ) -> Value<'a> {
        let ty = self.atom_scalar(start);
        let one = Atom::Const(int_const(ty, 1));
        let zero = Atom::Const(int_const(ty, 0));
        let yes = |b| Atom::Const(Const::Bool(b));
        let step = match (second, kind) {
            (Some(second), _) => self.bin(BinOp::Sub, ty, second, start),
            (None, RangeEnd::Inclusive | RangeEnd::Below) => one,
            (None, RangeEnd::Above) => Atom::Const(int_const(ty, -1)),
        };
        let down = match second {
            Some(second) => self.cmp(CmpOp::Lt, ty, second, start),
            None => yes(kind == RangeEnd::Above),
        };
        let step_zero = match second {
            Some(_) => self.cmp(CmpOp::Eq, ty, step, zero),
            None => yes(false),
        };
        let wrong_way = match kind {
            RangeEnd::Inclusive => yes(false),
            RangeEnd::Below => down,
            RangeEnd::Above => {
                let up = self.not(down);
                self.or(up, step_zero)
            }
        };
        let past_up = self.cmp(CmpOp::Lt, ty, end, start);
        let past_down = self.cmp(CmpOp::Lt, ty, start, end);
        let past = self.select(ScalarType::Bool, down, past_down, past_up);
        let bad = self.or(step_zero, wrong_way);
        let bad = self.or(bad, past);
        let too_long = self.range_too_long(ty, (start, end), step, down, kind);
        let bad = self.or(bad, too_long);
        let good = self.not(bad);
        let mut message = vec![text("Range "), value(start)];
        if let Some(second) = second {
            message.extend([text(".."), value(second)]);
        }
        let dots = match kind {
            RangeEnd::Inclusive => "...",
            RangeEnd::Below => "..<",
            RangeEnd::Above => "..>",
        };
        message.extend([text(dots), value(end), text(" is invalid.")]);
        let certs = self.assert(good, TrapKind::Range, message);
        let len = self.with_certs(&certs, |l| {
            l.range_length(ty, (start, end), step, down, kind)
        });
        let len = super::value::size_of_atom(len).unwrap_or(Size::Const(0));
        let array_ty = Type::array_of(&Type::Scalar(ty), &[len]);
        let op = ArrayOp::Iota {
            len,
            start,
            step,
            ty,
        };
        let v = self.with_certs(&certs, |l| l.array_op("range", array_ty, op));
        Value::array(&[len], Value::scalar(v))
    }

    /// Whether the way from start to end, or a step of it, is longer than an `i64` can say.
    fn range_too_long(
        &mut self,
        ty: ScalarType,
        (start, end): (Atom, Atom),
        step: Atom,
        down: Atom,
        kind: RangeEnd,
    ) -> Atom {
        let up = down == Atom::Const(Const::Bool(false));
        // From zero on there is room, but for the one more that an inclusive range has.
        let first = i64::from(kind == RangeEnd::Inclusive);
        let room = matches!(start, Atom::Const(Const::I64(start)) if start >= first);
        if ty.bytes() < 8 || (up && room && matches!(step, Atom::Const(_))) {
            return Atom::Const(Const::Bool(false));
        }
        let up_distance = self.bin(BinOp::Sub, ty, end, start);
        let down_distance = self.bin(BinOp::Sub, ty, start, end);
        let distance = self.select(ty, down, down_distance, up_distance);
        let long = self.longer_than_i64(ty, distance);
        if matches!(step, Atom::Const(_)) {
            return long;
        }
        let negated = self.scalar(ScalarOp::Un(UnOp::Neg, ty), &[step]);
        let pace = self.select(ty, down, negated, step);
        let fast = self.longer_than_i64(ty, pace);
        self.or(long, fast)
    }

    /// Whether a distance of a type of 64 bits, one more at most, is no positive `i64`.
    fn longer_than_i64(&mut self, ty: ScalarType, distance: Atom) -> Atom {
        let bits = self.convert(ty, ScalarType::U64, distance);
        let most = Atom::Const(Const::U64(i64::MAX as u64));
        self.cmp(CmpOp::Le, ScalarType::U64, most, bits)
    }

    pub(super) fn range_length(
        &mut self,
        ty: ScalarType,
        (start, end): (Atom, Atom),
        step: Atom,
        down: Atom,
        kind: RangeEnd,
    ) -> Atom {
        let i64 = ScalarType::I64;
        let up_distance = self.bin(BinOp::Sub, ty, end, start);
        let down_distance = self.bin(BinOp::Sub, ty, start, end);
        let distance = self.select(ty, down, down_distance, up_distance);
        let distance = self.widen(ty, distance);
        let negated = self.scalar(ScalarOp::Un(UnOp::Neg, ty), &[step]);
        let pace = match step {
            Atom::Const(c) if c == int_const(ty, 1) => return self.count(kind, distance),
            Atom::Const(c) if c == int_const(ty, -1) && ty.is_signed() => {
                return self.count(kind, distance);
            }
            Atom::Const(_) | Atom::Var(_) => self.select(ty, down, negated, step),
        };
        let pace = self.widen(ty, pace);
        let last = match kind {
            RangeEnd::Inclusive => distance,
            RangeEnd::Below | RangeEnd::Above => self.bin(BinOp::Sub, i64, distance, int(1)),
        };
        let steps = self.bin(BinOp::Div, i64, last, pace);
        self.bin(BinOp::Add, i64, steps, int(1))
    }

    pub(super) fn count(&mut self, kind: RangeEnd, distance: Atom) -> Atom {
        match kind {
            RangeEnd::Inclusive => self.i64_bin(BinOp::Add, distance, int(1)),
            RangeEnd::Below | RangeEnd::Above => distance,
        }
    }

    /// A distance, not negative, as an `i64`: differences of signed types wrap, so they are read as unsigned.
    pub(super) fn widen(&mut self, ty: ScalarType, distance: Atom) -> Atom {
        let unsigned = match ty {
            ScalarType::I8 => ScalarType::U8,
            ScalarType::I16 => ScalarType::U16,
            ScalarType::I32 => ScalarType::U32,
            ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F16
            | ScalarType::F32
            | ScalarType::F64
            | ScalarType::Bool => ty,
        };
        let bits = self.convert(ty, unsigned, distance);
        self.convert(unsigned, ScalarType::I64, bits)
    }
}
