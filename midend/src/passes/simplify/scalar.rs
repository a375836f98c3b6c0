//! Scalar operations: constants are computed by the interpreter's definition, and algebraic identities are used that
//! hold for every value of the type. For floats these are few: `x * 1`, `x / 1`, `x - 0`, `x + -0`, and `x / 8` is `x * 0.125`.

use super::Simplify;
use crate::analysis::ranges::integer;
use crate::fired::fired;
use crate::interp::scalar::convert::convert;
use crate::interp::scalar::eval;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use crate::ir::syntax::{Atom, Exp};
use crate::ir::types::ScalarType;

/// An operation with its operands.
type Operation<'a> = (ScalarOp, &'a [Atom]);

impl<D: Dialect> Simplify<'_, D> {
    /// A simpler expression of the same value.
    pub(super) fn fold_scalar(&self, op: ScalarOp, args: &[Atom]) -> Option<Exp<D>> {
        let constants: Option<Vec<Const>> = args.iter().map(|a| a.as_const()).collect();
        if let Some(constants) = constants
            && let Ok(value) = eval(op, &constants)
        {
            fired("fold/constant");
            return Some(Exp::Atom(value.into()));
        }
        let (rule, simpler) = match (op, args) {
            (ScalarOp::Un(op, ty), &[a]) => ("fold/unary", self.fold_un(op, ty, a)),
            (ScalarOp::Bin(op, ty), &[a, b]) if ty.is_float() => {
                ("fold/float", fold_float(op, ty, a, b))
            }
            (ScalarOp::Bin(op, ScalarType::Bool), &[a, b]) => {
                ("fold/bool", self.fold_bool(op, a, b))
            }
            (ScalarOp::Bin(op, ty), &[a, b]) => ("fold/integer", self.fold_integer(op, ty, a, b)),
            (ScalarOp::Cmp(op, ty), &[a, b]) if !ty.is_float() => {
                ("fold/comparison", self.fold_cmp(op, ty, a, b))
            }
            (ScalarOp::Convert(from, to), &[a]) => {
                ("fold/conversion", self.fold_convert(from, to, a))
            }
            (ScalarOp::Select(ty), &[c, a, b]) => ("fold/select", fold_select(ty, c, a, b)),
            (
                ScalarOp::Un(..)
                | ScalarOp::Bin(..)
                | ScalarOp::Cmp(..)
                | ScalarOp::Tern(..)
                | ScalarOp::Convert(..)
                | ScalarOp::ToBits(_)
                | ScalarOp::FromBits(_)
                | ScalarOp::Select(_),
                _,
            ) => return None,
        };
        simpler.inspect(|_| fired(rule))
    }

    /// The scalar operation that computes an atom.
    fn operation(&self, a: Atom) -> Option<Operation<'_>> {
        match &self.defs.get(&a.as_var()?)?.exp {
            Exp::Scalar(op, args) => Some((*op, args)),
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    }

    fn fold_un(&self, op: UnOp, ty: ScalarType, a: Atom) -> Option<Exp<D>> {
        let (inner, args) = self.operation(a)?;
        match (op, inner, args) {
            (UnOp::Neg | UnOp::Not, ScalarOp::Un(same, _), &[x]) if same == op => {
                Some(Exp::Atom(x))
            }
            // The order of floats is partial: what is not less may be a NaN.
            (UnOp::Not, ScalarOp::Cmp(cmp @ (CmpOp::Lt | CmpOp::Le), of), &[x, y])
                if ty == ScalarType::Bool && !of.is_float() =>
            {
                let cmp = if cmp == CmpOp::Lt {
                    CmpOp::Le
                } else {
                    CmpOp::Lt
                };
                Some(Exp::Scalar(ScalarOp::Cmp(cmp, of), vec![y, x]))
            }
            _ => None,
        }
    }

    fn fold_bool(&self, op: BinOp, a: Atom, b: Atom) -> Option<Exp<D>> {
        let atom = |a| Some(Exp::Atom(a));
        let (constant, other) = match (a.as_bool(), b.as_bool()) {
            (Some(c), _) => (Some(c), b),
            (_, c) => (c, a),
        };
        if a == b && matches!(op, BinOp::And | BinOp::Or) {
            return atom(a);
        }
        match (op, constant?) {
            (BinOp::And, true) | (BinOp::Or | BinOp::Xor, false) => atom(other),
            (BinOp::And, false) => atom(Atom::bool(false)),
            (BinOp::Or, true) => atom(Atom::bool(true)),
            (BinOp::Xor, true) => Some(negation(other)),
            _ => None,
        }
    }

    fn fold_integer(&self, op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Option<Exp<D>> {
        let value = |a: Atom| a.as_const().and_then(integer);
        let (x, y) = (value(a), value(b));
        let number = |n: i64| Atom::Const(convert(ty, Const::I64(n)));
        let atom = match op {
            BinOp::Add | BinOp::AddSat | BinOp::Or | BinOp::Xor if x == Some(0) => b,
            BinOp::AddSat if y == Some(0) => a,
            BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr
                if y == Some(0) =>
            {
                a
            }
            BinOp::Mul | BinOp::MulSat if x == Some(1) => b,
            BinOp::Mul | BinOp::MulSat | BinOp::Div | BinOp::Quot if y == Some(1) => a,
            BinOp::Mod | BinOp::Rem if y == Some(1) => number(0),
            BinOp::Mul | BinOp::MulSat | BinOp::And if x == Some(0) || y == Some(0) => number(0),
            BinOp::Sub | BinOp::Xor if a == b => number(0),
            BinOp::And | BinOp::Or | BinOp::Min | BinOp::Max if a == b => a,
            BinOp::Pow if y == Some(1) => a,
            BinOp::Pow if y == Some(0) => number(1),
            BinOp::Pow if y == Some(2) => return Some(square(ty, a)),
            BinOp::Max if self.ranges.is_below(a, b) => b,
            BinOp::Max if self.ranges.is_below(b, a) => a,
            BinOp::Min if self.ranges.is_below(a, b) => a,
            BinOp::Min if self.ranges.is_below(b, a) => b,
            BinOp::Max if x == Some(0) && self.ranges.is_not_negative(b) => b,
            BinOp::Max if y == Some(0) && self.ranges.is_not_negative(a) => a,
            // The index of a loop below `n` is its own remainder by `n`.
            BinOp::Mod | BinOp::Rem
                if self.ranges.is_not_negative(a) && self.ranges.is_below(a, b) =>
            {
                a
            }
            // Constants stand on the right, where the rules look for them.
            BinOp::Add
            | BinOp::Mul
            | BinOp::AddSat
            | BinOp::MulSat
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Min
            | BinOp::Max
                if x.is_some() && y.is_none() =>
            {
                return Some(Exp::Scalar(ScalarOp::Bin(op, ty), vec![b, a]));
            }
            BinOp::Add | BinOp::Sub => {
                return self.fold_sum(op, ty, a, b).inspect(|_| fired("fold/sum"));
            }
            BinOp::Mul
            | BinOp::Div
            | BinOp::Mod
            | BinOp::Quot
            | BinOp::Rem
            | BinOp::Pow
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::Min
            | BinOp::Max
            | BinOp::MulHi
            | BinOp::AddSat
            | BinOp::MulSat
            | BinOp::Atan2
            | BinOp::Atan2pi
            | BinOp::Hypot
            | BinOp::DivNear
            | BinOp::Copysign
            | BinOp::Nextafter
            | BinOp::Ldexp => return None,
        };
        Some(Exp::Atom(atom))
    }

    /// A sum or difference of sums in which terms cancel, if what is left are two terms at most: `(x + n + 1) - (x + 1)` is `n`.
    fn cancelled(&self, op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Option<Exp<D>> {
        let mut sum = Sum {
            terms: Vec::new(),
            constant: convert(ty, Const::I64(0)),
            cancels: false,
        };
        self.add_terms(&mut sum, ty, (a, false), SUM_DEPTH)?;
        self.add_terms(&mut sum, ty, (b, op == BinOp::Sub), SUM_DEPTH)?;
        if !sum.cancels {
            return None;
        }
        let is_zero = sum.constant == convert(ty, Const::I64(0));
        let constant = Atom::Const(sum.constant);
        let (op, args) = match sum.terms[..] {
            [] => return Some(Exp::Atom(constant)),
            [(x, false)] if is_zero => return Some(Exp::Atom(x.into())),
            [(x, false)] => (BinOp::Add, [x.into(), constant]),
            [(x, true)] => (BinOp::Sub, [constant, x.into()]),
            [(x, false), (y, false)] if is_zero => (BinOp::Add, [x.into(), y.into()]),
            [(x, false), (y, true)] | [(y, true), (x, false)] if is_zero => {
                (BinOp::Sub, [x.into(), y.into()])
            }
            _ => return None,
        };
        Some(Exp::Scalar(ScalarOp::Bin(op, ty), args.to_vec()))
    }

    /// Adds what an atom is the sum of; nothing if a constant has another type.
    fn add_terms(
        &self,
        sum: &mut Sum,
        ty: ScalarType,
        (atom, negative): (Atom, bool),
        depth: usize,
    ) -> Option<()> {
        let v = match atom {
            Atom::Const(c) => {
                let op = if negative { BinOp::Sub } else { BinOp::Add };
                sum.constant = eval(ScalarOp::Bin(op, ty), &[sum.constant, c]).ok()?;
                return Some(());
            }
            Atom::Var(v) => v,
        };
        if let (Some(depth), Some((ScalarOp::Bin(op @ (BinOp::Add | BinOp::Sub), _), &[x, y]))) =
            (depth.checked_sub(1), self.operation(atom))
        {
            self.add_terms(sum, ty, (x, negative), depth)?;
            return self.add_terms(sum, ty, (y, negative != (op == BinOp::Sub)), depth);
        }
        match sum.terms.iter().position(|term| *term == (v, !negative)) {
            Some(at) => {
                sum.terms.remove(at);
                sum.cancels = true;
            }
            None => sum.terms.push((v, negative)),
        }
        Some(())
    }

    /// Sums of sums with constants, and sums and differences in which terms cancel. Integers wrap, so this holds for all.
    fn fold_sum(&self, op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Option<Exp<D>> {
        if let Some(shorter) = self.cancelled(op, ty, a, b) {
            return Some(shorter);
        }
        let (sum, c) = match (a, b) {
            (a @ Atom::Var(_), Atom::Const(c)) => (a, c),
            (Atom::Const(c), b @ Atom::Var(_)) if op == BinOp::Add => (b, c),
            (Atom::Const(_) | Atom::Var(_), _) => return None,
        };
        let (ScalarOp::Bin(inner @ (BinOp::Add | BinOp::Sub), _), &[x, Atom::Const(d)]) =
            self.operation(sum)?
        else {
            return None;
        };
        // x + d + c, x + d - c, x - d + c, x - d - c
        let sign = |op| {
            if op == BinOp::Add {
                BinOp::Add
            } else {
                BinOp::Sub
            }
        };
        let zero = convert(ty, Const::I64(0));
        let total = eval(ScalarOp::Bin(sign(inner), ty), &[zero, d]).ok()?;
        let total = eval(ScalarOp::Bin(sign(op), ty), &[total, c]).ok()?;
        if total == zero {
            return Some(Exp::Atom(x));
        }
        Some(Exp::Scalar(
            ScalarOp::Bin(BinOp::Add, ty),
            vec![x, total.into()],
        ))
    }

    fn fold_cmp(&self, op: CmpOp, ty: ScalarType, a: Atom, b: Atom) -> Option<Exp<D>> {
        let truth = |b: bool| Some(Exp::Atom(Atom::bool(b)));
        if a == b {
            return truth(op != CmpOp::Lt);
        }
        if ty == ScalarType::Bool {
            return match (op, a.as_bool(), b.as_bool()) {
                (CmpOp::Eq, Some(true), _) => Some(Exp::Atom(b)),
                (CmpOp::Eq, _, Some(true)) => Some(Exp::Atom(a)),
                (CmpOp::Eq, Some(false), _) => Some(negation(b)),
                (CmpOp::Eq, _, Some(false)) => Some(negation(a)),
                _ => None,
            };
        }
        let value = |a: Atom| a.as_const().and_then(integer);
        let (x, y) = (value(a), value(b));
        let (a_low, b_low) = (
            self.ranges.is_not_negative(a),
            self.ranges.is_not_negative(b),
        );
        let (a_low, b_low) = (a_low || ty.is_unsigned(), b_low || ty.is_unsigned());
        let below = |a, b| self.ranges.is_below(a, b);
        let decided = match op {
            CmpOp::Lt | CmpOp::Le if below(a, b) || b_low && x.is_some_and(|x| x < 0) => {
                truth(true)
            }
            CmpOp::Le if b_low && x == Some(0) => truth(true),
            CmpOp::Lt | CmpOp::Le if below(b, a) || a_low && y.is_some_and(|y| y < 0) => {
                truth(false)
            }
            CmpOp::Lt if a_low && y == Some(0) || self.ranges.is_up_to(b, a) => truth(false),
            CmpOp::Le if self.ranges.is_up_to(a, b) => truth(true),
            CmpOp::Eq if below(a, b) || below(b, a) => truth(false),
            CmpOp::Eq if a_low && y.is_some_and(|y| y < 0) => truth(false),
            CmpOp::Eq if b_low && x.is_some_and(|x| x < 0) => truth(false),
            CmpOp::Eq | CmpOp::Lt | CmpOp::Le => None,
        };
        decided.inspect(|_| fired("fold/comparison-by-range"))
    }

    /// A conversion of a conversion between integers, if the first loses nothing that the second keeps.
    fn fold_convert(&self, from: ScalarType, to: ScalarType, a: Atom) -> Option<Exp<D>> {
        if from == to {
            return Some(Exp::Atom(a));
        }
        let (ScalarOp::Convert(first, _), &[x]) = self.operation(a)? else {
            return None;
        };
        if !(first.is_integer() && from.is_integer() && to.is_integer()) {
            return None;
        }
        let exact = from.bytes() > first.bytes() && (first.is_unsigned() || from.is_signed());
        if !exact && from.bytes() < to.bytes() {
            return None;
        }
        if first == to {
            return Some(Exp::Atom(x));
        }
        Some(Exp::Scalar(ScalarOp::Convert(first, to), vec![x]))
    }
}

fn fold_select<D>(ty: ScalarType, c: Atom, a: Atom, b: Atom) -> Option<Exp<D>> {
    if let Some(c) = c.as_bool() {
        return Some(Exp::Atom(if c { a } else { b }));
    }
    if a == b {
        return Some(Exp::Atom(a));
    }
    match (ty, a.as_bool(), b.as_bool()) {
        (ScalarType::Bool, Some(true), Some(false)) => Some(Exp::Atom(c)),
        (ScalarType::Bool, Some(false), Some(true)) => Some(negation(c)),
        (ScalarType::Bool, _, Some(false)) => Some(connective(BinOp::And, c, a)),
        (ScalarType::Bool, Some(true), _) => Some(connective(BinOp::Or, c, b)),
        _ => None,
    }
}

fn connective<D>(op: BinOp, a: Atom, b: Atom) -> Exp<D> {
    Exp::Scalar(ScalarOp::Bin(op, ScalarType::Bool), vec![a, b])
}

fn square<D>(ty: ScalarType, a: Atom) -> Exp<D> {
    Exp::Scalar(ScalarOp::Bin(BinOp::Mul, ty), vec![a, a])
}

fn negation<D>(a: Atom) -> Exp<D> {
    Exp::Scalar(ScalarOp::Un(UnOp::Not, ScalarType::Bool), vec![a])
}

/// How deep sums are looked into for terms that cancel.
const SUM_DEPTH: usize = 3;

/// A sum of variables, of which some are subtracted, and a constant.
struct Sum {
    /// The variables, and whether they are subtracted.
    terms: Vec<(Var, bool)>,
    constant: Const,
    /// Whether a variable was added and subtracted.
    cancels: bool,
}

/// Identities that hold for every float, signed zeros, infinities and NaN among them.
fn fold_float<D>(op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Option<Exp<D>> {
    let is = |a: Atom, value: f64| match a.as_const() {
        Some(Const::F16(bits)) => bits == half::f16::from_f64(value).to_bits(),
        #[expect(clippy::cast_possible_truncation, reason = "zero and one are exact")]
        Some(Const::F32(bits)) => bits == (value as f32).to_bits(),
        Some(Const::F64(bits)) => bits == value.to_bits(),
        Some(_) | None => false,
    };
    match op {
        BinOp::Mul if is(a, 1.0) => Some(Exp::Atom(b)),
        BinOp::Mul | BinOp::Div if is(b, 1.0) => Some(Exp::Atom(a)),
        BinOp::Add if is(a, -0.0) => Some(Exp::Atom(b)),
        BinOp::Add if is(b, -0.0) => Some(Exp::Atom(a)),
        BinOp::Sub if is(b, 0.0) => Some(Exp::Atom(a)),
        // `math::power::pow` rounds these as the product and the quotient are.
        BinOp::Pow if is(b, 1.0) => Some(Exp::Atom(a)),
        BinOp::Pow if is(b, 0.0) || is(b, -0.0) => {
            Some(Exp::Atom(convert(ty, Const::I64(1)).into()))
        }
        BinOp::Pow if is(b, 2.0) => Some(square(ty, a)),
        BinOp::Pow if is(b, -1.0) => {
            let one = convert(ty, Const::I64(1));
            let op = ScalarOp::Bin(BinOp::Div, ty);
            Some(Exp::Scalar(op, vec![one.into(), a]))
        }
        BinOp::Div => power_of_two(b).map(|by| {
            let op = ScalarOp::Bin(BinOp::Mul, by.ty());
            Exp::Scalar(op, vec![a, by.into()])
        }),
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Pow
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Min
        | BinOp::Max
        | BinOp::MulHi
        | BinOp::AddSat
        | BinOp::MulSat
        | BinOp::Atan2
        | BinOp::Atan2pi
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp => None,
    }
}

/// One over a constant, if both are powers of two and normal numbers: then products with it are what quotients are, rounded in the same way.
fn power_of_two(by: Atom) -> Option<Const> {
    let by = by.as_const()?;
    // Of a power of two all bits of the fraction are 0.
    if let Const::F32(bits) = by {
        let (by, reciprocal) = (f32::from_bits(bits), f32::from_bits(bits).recip());
        let exact = bits & 0x7f_ffff == 0 && by.is_normal() && reciprocal.is_normal();
        exact.then(|| Const::f32(reciprocal))
    } else if let Const::F64(bits) = by {
        let (by, reciprocal) = (f64::from_bits(bits), f64::from_bits(bits).recip());
        let exact = bits & 0xf_ffff_ffff_ffff == 0 && by.is_normal() && reciprocal.is_normal();
        exact.then(|| Const::f64(reciprocal))
    } else {
        None
    }
}
