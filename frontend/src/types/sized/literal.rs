//! Literals at their types.

use crate::diagnostic::Code;
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Lit};
use crate::types::context::{Res, err};
use crate::types::raw::RLit;
use crate::types::ty::{Prim, Type};

pub(crate) fn constant(e: &Exp) -> Option<i128> {
    if let ExpKind::Lit(Lit::Int(_, k)) = &e.kind {
        Some(*k)
    } else {
        None
    }
}

/// The constant that a literal denotes at its type.
pub(crate) fn literal(lit: &RLit, ty: &Type, span: Span, negated: bool) -> Res<Lit> {
    let Some(p) = ty.as_prim() else {
        return err(
            Code::AmbiguousType,
            span,
            "the type of this literal is not known",
        );
    };
    match lit {
        RLit::Bool(b) => Ok(Lit::Bool(*b)),
        RLit::Int { value, suffixed } => {
            let mut k = if negated { -*value } else { *value };
            if p.is_float() {
                let x = round(p, *value);
                return in_bounds(Lit::Float(p, if negated { -x } else { x }), p, span);
            }
            if negated && p.is_signed() && k == 1 << (p.bits() - 1) {
                // `-128i8`: the literal alone is the bit pattern of that very number.
                k = -k;
            }
            let bits = p.bits();
            let (lo, hi) = if p.is_signed() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            if negated && *suffixed && !p.is_signed() && k < 0 && k >= -hi {
                k += hi + 1;
            }
            // A hexadecimal pattern of a signed type's width is no number of the type: it is out of bounds too.
            if k < lo || k > hi {
                return err(
                    Code::LiteralBounds,
                    span,
                    format!("the literal {k} is out of bounds for `{}`", p.name()),
                );
            }
            Ok(Lit::Int(p, k))
        }
        RLit::Float(digits) if !p.is_float() => {
            let sign = if negated { "-" } else { "" };
            let digits = &digits.0;
            err(
                Code::LiteralBounds,
                span,
                format!(
                    "the literal {sign}{digits} is out of bounds for `{}`",
                    p.name()
                ),
            )
        }
        RLit::Float(digits) => {
            let x = if p == Prim::F16 {
                f64::from(digits.to_f16())
            } else if p == Prim::F32 {
                f64::from(digits.to_f32())
            } else {
                digits.to_f64()
            };
            in_bounds(Lit::Float(p, if negated { -x } else { x }), p, span)
        }
    }
}

fn in_bounds(lit: Lit, p: Prim, span: Span) -> Res<Lit> {
    match lit {
        Lit::Float(_, x) if x.is_infinite() => err(
            Code::LiteralBounds,
            span,
            format!("the literal is out of bounds for `{}`", p.name()),
        ),
        Lit::Float(..) | Lit::Int(..) | Lit::Bool(_) => Ok(lit),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounding to the nearest float is what is wanted"
)]
fn round(p: Prim, k: i128) -> f64 {
    if p == Prim::F16 {
        f64::from(half::f16::from_f64(k as f64))
    } else if p == Prim::F32 {
        f64::from(k as f32)
    } else {
        k as f64
    }
}
