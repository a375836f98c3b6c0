//! The numeric modules, `i8` to `f64` and `bool`: a table of members for each scalar type.

use crate::typed::{Intrinsic, NameInfo, NameKind, Names, Op};
use crate::types::env::{Env, TypeAbbr};
use crate::types::ty::{Name, Prim, Scheme, Size, Sym, Type};
use std::sync::Arc;

/// The type of a member, `t` being the module's type.
#[derive(Clone, Copy)]
enum Shape {
    /// t
    T,
    /// t -> t
    TT,
    /// t -> t -> t
    TTT,
    /// t -> t -> t -> t
    TTTT,
    /// t -> t -> bool
    Compare,
    /// t -> bool
    Test,
    /// t -> i32
    ToI32,
    /// i32
    I32,
    /// i32 -> t -> i32
    GetBit,
    /// i32 -> t -> i32 -> t
    SetBit,
    /// t -> i32 -> t
    Scale,
    /// i64 -> i64 -> t
    Fraction,
    /// [n]t -> t
    Fold,
    /// the integer of the same width -> t, and back
    FromBits,
    ToBits,
}

const NUMERIC: &[(&str, Op, Shape)] = &[
    ("+", Op::Add, Shape::TTT),
    ("-", Op::Sub, Shape::TTT),
    ("*", Op::Mul, Shape::TTT),
    ("/", Op::Div, Shape::TTT),
    ("%", Op::Mod, Shape::TTT),
    ("**", Op::Pow, Shape::TTT),
    ("==", Op::Eq, Shape::Compare),
    ("!=", Op::Ne, Shape::Compare),
    ("<", Op::Lt, Shape::Compare),
    ("<=", Op::Le, Shape::Compare),
    (">", Op::Gt, Shape::Compare),
    (">=", Op::Ge, Shape::Compare),
    ("neg", Op::Neg, Shape::TT),
    ("abs", Op::Abs, Shape::TT),
    ("sgn", Op::Sgn, Shape::TT),
    ("min", Op::Min, Shape::TTT),
    ("max", Op::Max, Shape::TTT),
    ("lowest", Op::Lowest, Shape::T),
    ("highest", Op::Highest, Shape::T),
    ("sum", Op::Sum, Shape::Fold),
    ("product", Op::Product, Shape::Fold),
    ("minimum", Op::Minimum, Shape::Fold),
    ("maximum", Op::Maximum, Shape::Fold),
];

const INTEGRAL: &[(&str, Op, Shape)] = &[
    ("//", Op::Quot, Shape::TTT),
    ("%%", Op::Rem, Shape::TTT),
    ("&", Op::And, Shape::TTT),
    ("|", Op::Or, Shape::TTT),
    ("^", Op::Xor, Shape::TTT),
    ("<<", Op::Shl, Shape::TTT),
    (">>", Op::Shr, Shape::TTT),
    (">>>", Op::LShr, Shape::TTT),
    ("not", Op::Not, Shape::TT),
    ("num_bits", Op::NumBits, Shape::I32),
    ("get_bit", Op::GetBit, Shape::GetBit),
    ("set_bit", Op::SetBit, Shape::SetBit),
    ("popc", Op::Popc, Shape::ToI32),
    ("clz", Op::Clz, Shape::ToI32),
    ("ctz", Op::Ctz, Shape::ToI32),
    ("mul_hi", Op::MulHi, Shape::TTT),
    ("mad_hi", Op::MadHi, Shape::TTTT),
];

const FLOAT: &[(&str, Op, Shape)] = &[
    ("from_fraction", Op::FromFraction, Shape::Fraction),
    ("recip", Op::Recip, Shape::TT),
    ("sqrt", Op::Sqrt, Shape::TT),
    ("rsqrt", Op::Rsqrt, Shape::TT),
    ("cbrt", Op::Cbrt, Shape::TT),
    ("exp", Op::Exp, Shape::TT),
    ("log", Op::Log, Shape::TT),
    ("log2", Op::Log2, Shape::TT),
    ("log10", Op::Log10, Shape::TT),
    ("log1p", Op::Log1p, Shape::TT),
    ("sin", Op::Sin, Shape::TT),
    ("cos", Op::Cos, Shape::TT),
    ("tan", Op::Tan, Shape::TT),
    ("sinpi", Op::SinPi, Shape::TT),
    ("cospi", Op::CosPi, Shape::TT),
    ("tanpi", Op::TanPi, Shape::TT),
    ("asin", Op::Asin, Shape::TT),
    ("acos", Op::Acos, Shape::TT),
    ("atan", Op::Atan, Shape::TT),
    ("asinpi", Op::AsinPi, Shape::TT),
    ("acospi", Op::AcosPi, Shape::TT),
    ("atanpi", Op::AtanPi, Shape::TT),
    ("atan2", Op::Atan2, Shape::TTT),
    ("atan2pi", Op::Atan2Pi, Shape::TTT),
    ("sinh", Op::Sinh, Shape::TT),
    ("cosh", Op::Cosh, Shape::TT),
    ("tanh", Op::Tanh, Shape::TT),
    ("asinh", Op::Asinh, Shape::TT),
    ("acosh", Op::Acosh, Shape::TT),
    ("atanh", Op::Atanh, Shape::TT),
    ("hypot", Op::Hypot, Shape::TTT),
    ("gamma", Op::Gamma, Shape::TT),
    ("lgamma", Op::Lgamma, Shape::TT),
    ("erf", Op::Erf, Shape::TT),
    ("erfc", Op::Erfc, Shape::TT),
    ("lerp", Op::Lerp, Shape::TTTT),
    ("ceil", Op::Ceil, Shape::TT),
    ("floor", Op::Floor, Shape::TT),
    ("trunc", Op::Trunc, Shape::TT),
    ("round", Op::Round, Shape::TT),
    ("mad", Op::Mad, Shape::TTTT),
    ("fma", Op::Fma, Shape::TTTT),
    ("isinf", Op::IsInf, Shape::Test),
    ("isnan", Op::IsNan, Shape::Test),
    ("inf", Op::Inf, Shape::T),
    ("nan", Op::Nan, Shape::T),
    ("pi", Op::Pi, Shape::T),
    ("e", Op::E, Shape::T),
    ("from_bits", Op::FromBits, Shape::FromBits),
    ("to_bits", Op::ToBits, Shape::ToBits),
    ("num_bits", Op::NumBits, Shape::I32),
    ("get_bit", Op::GetBit, Shape::GetBit),
    ("set_bit", Op::SetBit, Shape::SetBit),
    ("epsilon", Op::Epsilon, Shape::T),
    ("nextafter", Op::NextAfter, Shape::TTT),
    ("ldexp", Op::Ldexp, Shape::Scale),
    ("copysign", Op::CopySign, Shape::TTT),
];

/// The module of a scalar type.
pub(crate) fn module(names: &mut Names, p: Prim) -> Env {
    let mut env = Env::default();
    env.types
        .insert(Sym::from("t"), TypeAbbr::plain(Type::Prim(p)));
    for from in Prim::ALL {
        let ty = function(&[Type::Prim(from)], Type::Prim(p));
        let intrinsic = Intrinsic {
            op: Op::Convert(from),
            prim: Some(p),
        };
        add(names, &mut env, from.name(), intrinsic, Scheme::mono(ty));
    }
    if p == Prim::Bool {
        return env;
    }
    let conversions: &[Prim] = if p.is_float() {
        &[Prim::I64, Prim::F64]
    } else {
        &[Prim::I64]
    };
    for to in conversions {
        let ty = function(&[Type::Prim(p)], Type::Prim(*to));
        let intrinsic = Intrinsic {
            op: Op::Convert(p),
            prim: Some(*to),
        };
        add(
            names,
            &mut env,
            &format!("to_{}", to.name()),
            intrinsic,
            Scheme::mono(ty),
        );
    }
    let more = if p.is_float() { FLOAT } else { INTEGRAL };
    for (name, op, shape) in NUMERIC.iter().chain(more) {
        let scheme = scheme(names, p, *shape);
        add(
            names,
            &mut env,
            name,
            Intrinsic {
                op: *op,
                prim: Some(p),
            },
            scheme,
        );
    }
    if p.is_float() {
        env.types
            .insert(Sym::from("int_t"), TypeAbbr::plain(Type::Prim(bits(p))));
    }
    env
}

fn add(names: &mut Names, env: &mut Env, text: &str, intrinsic: Intrinsic, scheme: Scheme) {
    let name = names.fresh(NameInfo {
        text: text.to_owned(),
        span: None,
        kind: NameKind::Intrinsic(intrinsic),
        scheme: Some(scheme),
    });
    env.values.insert(Sym::from(text), name);
}

fn bits(p: Prim) -> Prim {
    match p {
        Prim::F16 => Prim::U16,
        Prim::F32 => Prim::U32,
        _ => Prim::U64,
    }
}

fn function(params: &[Type], result: Type) -> Type {
    params
        .iter()
        .rev()
        .fold(result, |ty, p| Type::fun(None, p.clone(), ty))
}

fn scheme(names: &mut Names, p: Prim, shape: Shape) -> Scheme {
    let t = Type::Prim(p);
    let (i32_ty, i64_ty) = (Type::Prim(Prim::I32), Type::Prim(Prim::I64));
    let int = Type::Prim(bits(p));
    let ty = match shape {
        Shape::T => t,
        Shape::TT => function(&[t.clone()], t),
        Shape::TTT => function(&[t.clone(), t.clone()], t),
        Shape::TTTT => function(&[t.clone(), t.clone(), t.clone()], t),
        Shape::Compare => function(&[t.clone(), t], Type::Prim(Prim::Bool)),
        Shape::Test => function(&[t], Type::Prim(Prim::Bool)),
        Shape::ToI32 => function(&[t], i32_ty),
        Shape::I32 => i32_ty,
        Shape::GetBit => function(&[i32_ty.clone(), t], i32_ty),
        Shape::SetBit => function(&[i32_ty.clone(), t.clone(), i32_ty], t),
        Shape::Scale => function(&[t.clone(), i32_ty], t),
        Shape::Fraction => function(&[i64_ty.clone(), i64_ty], t),
        Shape::FromBits => function(&[int], t),
        Shape::ToBits => function(&[t], int),
        Shape::Fold => {
            let n = size_param(names);
            let array = Type::array(Size::name(n), t.clone());
            return Scheme {
                types: Vec::new(),
                sizes: vec![n],
                ty: function(&[array], t),
            };
        }
    };
    Scheme::mono(ty)
}

fn size_param(names: &mut Names) -> Name {
    names.fresh(NameInfo {
        text: "n".to_owned(),
        span: None,
        kind: NameKind::Size,
        scheme: None,
    })
}

/// A module as the environment has it.
pub(crate) fn shared(names: &mut Names, p: Prim) -> Arc<Env> {
    Arc::new(module(names, p))
}
