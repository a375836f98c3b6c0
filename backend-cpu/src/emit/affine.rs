//! Floats that are affine in an index are exact while it is small: then each is one product and sum of the first of them.
//!
//! ```text
//! map (i < n) {                                     if n <= limit then map (i < n) {
//!   x = convert.i64.f64(i)                            x = convert.i64.f64(i)
//!   y = convert.i64.f64(i + 1)               ──►      y = x + 1
//!   d = 0.75 * y - 0.5 * x                            d = fma(0.25, x, 0.75)
//!   ..                                                ..
//! ```
//!
//! Such a number is `(slope * i + offset) * 2^scale`. Up to a numerator of 2^53 binary64 holds it, so that neither what it was computed from
//! nor what it is computed from here was rounded. Nothing that is taken for affine is -0, since no product with a constant that is not positive is.

use super::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, Const, ScalarOp, TernOp, UnOp};
use midend::ir::syntax::{Atom, Exp};
use midend::ir::types::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// The greatest integer up to which binary64 holds all.
const EXACT: i64 = 1 << 53;
/// What is affine has this limit at least: fewer points are done soon, whatever is done for them.
const LEAST_LIMIT: i64 = 1 << 26;
/// The greatest distance of a scale from that of integers.
const SCALES: i32 = 64;
/// How many conversions, and computations that something else could not do as well, are replaced at least.
const GAINS: usize = 2;

/// A number `(slope * index + offset) * 2^scale`; a constant has no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Affine {
    index: Option<Var>,
    slope: i64,
    offset: i64,
    scale: i32,
}

impl Affine {
    const fn integer(offset: i64) -> Self {
        Self {
            index: None,
            slope: 0,
            offset,
            scale: 0,
        }
    }

    /// A constant that is positive, or zero.
    fn float(value: f64) -> Option<Self> {
        let bits = value.to_bits();
        // Neither signs nor what is not normal.
        let exponent = i32::try_from(bits >> 52).ok()?;
        if bits == 0 {
            return Some(Self::integer(0));
        }
        if !(1..0x7ff).contains(&exponent) {
            return None;
        }
        let numerator = (bits & ((1 << 52) - 1)) | 1 << 52;
        let zeros = numerator.trailing_zeros();
        Some(Self {
            scale: exponent - 1075 + i32::try_from(zeros).ok()?,
            ..Self::integer(i64::try_from(numerator >> zeros).ok()?)
        })
    }

    /// How many points an index may count so that the number is exact; nothing if these are too few.
    fn limit(self) -> Option<i64> {
        let left = EXACT.checked_sub(self.offset.checked_abs()?)?;
        let limit = left.checked_div(self.slope.checked_abs()?).unwrap_or(left);
        (limit >= LEAST_LIMIT && self.scale.abs() <= SCALES).then_some(limit)
    }

    /// The same number with a scale that is not greater.
    fn scaled(self, scale: i32) -> Option<Self> {
        let shift = u32::try_from(self.scale - scale).ok()?;
        let factor = 1i64.checked_shl(shift).filter(|factor| *factor > 0)?;
        Some(Self {
            slope: self.slope.checked_mul(factor)?,
            offset: self.offset.checked_mul(factor)?,
            scale,
            ..self
        })
    }

    /// This and so many times the other.
    fn and(self, times: i64, other: Self) -> Option<Self> {
        let index = match (self.index, other.index) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let scale = self.scale.min(other.scale);
        let (a, b) = (self.scaled(scale)?, other.scaled(scale)?);
        Some(Self {
            index,
            slope: a.slope.checked_add(b.slope.checked_mul(times)?)?,
            offset: a.offset.checked_add(b.offset.checked_mul(times)?)?,
            scale,
        })
    }

    /// The product, if one of them is a constant.
    fn by(self, other: Self) -> Option<Self> {
        let (a, factor) = match other.index {
            None => (self, other),
            Some(_) => (other, self),
        };
        factor.index.is_none().then_some(Self {
            index: a.index,
            slope: a.slope.checked_mul(factor.offset)?,
            offset: a.offset.checked_mul(factor.offset)?,
            scale: a.scale + factor.scale,
        })
    }
}

/// What is known of the variables of a body.
#[derive(Default)]
struct Walk {
    known: BTreeMap<Var, Affine>,
    /// What the negatives are of that some are.
    negatives: BTreeMap<Var, Affine>,
}

impl Walk {
    fn operand(&self, atom: Atom) -> Option<Affine> {
        match atom {
            Atom::Var(v) => self.known.get(&v).copied(),
            Atom::Const(Const::I64(value)) => Some(Affine::integer(value)),
            Atom::Const(Const::F64(bits)) => Affine::float(f64::from_bits(bits)),
            Atom::Const(_) => None,
        }
    }

    /// What a statement computes, if that is affine and exact.
    fn result(&self, op: ScalarOp, args: &[Atom]) -> Option<Affine> {
        let operands = || Some((self.operand(args[0])?, self.operand(args[1])?));
        let found = match op {
            ScalarOp::Convert(ScalarType::I64, ScalarType::F64) => self.operand(args[0])?,
            ScalarOp::Bin(BinOp::Add, ScalarType::I64 | ScalarType::F64) => {
                let (a, b) = operands()?;
                a.and(1, b)?
            }
            ScalarOp::Bin(BinOp::Sub, ScalarType::I64 | ScalarType::F64) => {
                let (a, b) = operands()?;
                a.and(-1, b)?
            }
            ScalarOp::Bin(BinOp::Mul, ScalarType::I64 | ScalarType::F64) => {
                let (a, b) = operands()?;
                a.by(b)?
            }
            ScalarOp::Tern(TernOp::Fma, ScalarType::F64) => {
                let (a, b) = operands()?;
                let product = a.by(b)?;
                let negative = args[2].as_var().and_then(|v| self.negatives.get(&v));
                match negative {
                    Some(negative) => product.and(-1, *negative)?,
                    None => product.and(1, self.operand(args[2])?)?,
                }
            }
            ScalarOp::Un(..)
            | ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => return None,
        };
        found.limit()?;
        (found.slope != 0).then_some(found)
    }

    /// Notes what a statement computes.
    fn note(&mut self, bind: Var, op: ScalarOp, args: &[Atom]) {
        if let ScalarOp::Un(UnOp::Neg, ScalarType::F64) = op {
            let of = self.operand(args[0]);
            self.negatives.extend(of.map(|of| (bind, of)));
        }
        let found = self.result(op, args);
        self.known.extend(found.map(|found| (bind, found)));
    }
}

/// A kernel of which floats are affine, for spaces of limited extents.
struct Exact {
    kernel: Kernel,
    /// The greatest extent.
    limit: i64,
    /// The indices, and sums of them and constants, that are made floats.
    near: BTreeSet<Var>,
}

/// What is computed of the first float that is an index, or it and a constant, to get another.
fn of_first(first: (Var, Affine), number: Affine) -> Option<Exp<Mem>> {
    let constant = |numerator: i64| Const::f64(numerator as f64 * f64::powi(2.0, number.scale));
    let (var, base) = first;
    let ahead = number.slope.checked_mul(base.offset)?;
    let ahead = number.offset.checked_sub(ahead)?;
    if ahead.checked_abs()? > EXACT {
        return None;
    }
    let (times, ahead) = (constant(number.slope), constant(ahead));
    let (one, zero) = (Const::f64(1.0), Const::f64(0.0));
    let of = |op, args: &[Atom]| Exp::Scalar(op, args.to_vec());
    Some(match (times == one, ahead == zero) {
        (true, true) => Exp::Atom(var.into()),
        (true, false) => of(
            ScalarOp::Bin(BinOp::Add, ScalarType::F64),
            &[var.into(), ahead.into()],
        ),
        (false, true) if number.slope > 0 => of(
            ScalarOp::Bin(BinOp::Mul, ScalarType::F64),
            &[var.into(), times.into()],
        ),
        // With a sum of zero where that is not -0.
        (false, _) => of(
            ScalarOp::Tern(TernOp::Fma, ScalarType::F64),
            &[var.into(), times.into(), ahead.into()],
        ),
    })
}

/// The same kernel with floats computed of the first that is an index, if that gains.
fn exact(kernel: &Kernel) -> Option<Exact> {
    if kernel.is_ragged() {
        return None;
    }
    let mut walk = Walk::default();
    for (index, _) in &kernel.space {
        let number = Affine {
            index: Some(*index),
            slope: 1,
            ..Affine::integer(0)
        };
        walk.known.insert(*index, number);
    }
    let mut firsts: BTreeMap<Option<Var>, (Var, Affine)> = BTreeMap::new();
    let (mut limit, mut near, mut replaced) = (EXACT / 4, BTreeSet::new(), Vec::new());
    for (at, stm) in kernel.body.stms.iter().enumerate() {
        let (Exp::Scalar(op, args), [bind]) = (&stm.exp, &stm.binds[..]) else {
            continue;
        };
        walk.note(*bind, *op, args);
        let number = walk.known.get(bind).copied();
        let Some(number) = number.filter(|_| op.result() == ScalarType::F64) else {
            continue;
        };
        // Others are computed from it, and as exact as it is.
        limit = limit.min(number.limit()?);
        let is_conversion = matches!(op, ScalarOp::Convert(..));
        let Some(first) = firsts.get(&number.index) else {
            if is_conversion && number.slope == 1 {
                firsts.insert(number.index, (*bind, number));
                near.extend(args[0].as_var());
            }
            continue;
        };
        let mut others = args.iter().filter_map(|atom| atom.as_var());
        if is_conversion || others.any(|v| v != first.0) {
            replaced.extend(of_first(*first, number).map(|exp| (at, exp)));
        }
    }
    if replaced.len() < GAINS {
        return None;
    }
    let mut kernel = kernel.clone();
    for (at, exp) in replaced {
        kernel.body.stms[at].exp = exp;
    }
    Some(Exact {
        kernel,
        limit,
        near,
    })
}

impl Emit<'_, '_> {
    /// Work on the points of a kernel, as `work` emits it: with exact floats if that gains and the space is small enough for it.
    pub(super) fn exact_or_not(
        &mut self,
        kernel: &Kernel,
        mut work: impl FnMut(&mut Self, &Kernel),
    ) {
        let Some(exact) = self.has_fma().then(|| exact(kernel)).flatten() else {
            return work(self, kernel);
        };
        fired("cpu/affine-floats");
        let extents = self.extents(&kernel.space).unwrap_or_default();
        let mut small = self.b.ins().iconst(types::I8, 1);
        for (_, extent) in extents {
            let fits = IntCC::SignedLessThanOrEqual;
            let fits = self.b.ins().icmp_imm_s(fits, extent, exact.limit);
            small = self.b.ins().band(small, fits);
        }
        let [yes, no, join] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(no);
        self.b.ins().brif(small, yes, &[], no, &[]);
        self.b.switch_to_block(yes);
        self.near = exact.near;
        work(self, &exact.kernel);
        self.near.clear();
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(no);
        work(self, kernel);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
    }
}
