//! The numeric modules, `i8` to `f64` and `bool`: a table of members for each scalar type.

use crate::typed::{Intrinsic, NameInfo, NameKind, Names, Op};
use crate::types::env::{Env, TypeAbbr};
use crate::types::ty::{Name, Prim, Scheme, Size, Sym, Type};
use std::sync::Arc;

/// The type of a member, `t` being the module's type.
#[derive(Clone, Copy)]
enum Shape {
    /// t
    Constant,
    /// t -> t
    Unary,
    /// t -> t -> t
    Binary,
    /// t -> t -> t -> t
    Ternary,
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
    /// `[n]t -> t`
    Fold,
    /// the integer of the same width -> t, and back
    FromBits,
    ToBits,
}

const NUMERIC: &[(&str, Op, Shape)] = &[
    ("+", Op::Add, Shape::Binary),
    ("-", Op::Sub, Shape::Binary),
    ("*", Op::Mul, Shape::Binary),
    ("/", Op::Div, Shape::Binary),
    ("%", Op::Mod, Shape::Binary),
    ("**", Op::Pow, Shape::Binary),
    ("==", Op::Eq, Shape::Compare),
    ("!=", Op::Ne, Shape::Compare),
    ("<", Op::Lt, Shape::Compare),
    ("<=", Op::Le, Shape::Compare),
    (">", Op::Gt, Shape::Compare),
    (">=", Op::Ge, Shape::Compare),
    ("neg", Op::Neg, Shape::Unary),
    ("abs", Op::Abs, Shape::Unary),
    ("sgn", Op::Sgn, Shape::Unary),
    ("min", Op::Min, Shape::Binary),
    ("max", Op::Max, Shape::Binary),
    ("lowest", Op::Lowest, Shape::Constant),
    ("highest", Op::Highest, Shape::Constant),
    ("sum", Op::Sum, Shape::Fold),
    ("product", Op::Product, Shape::Fold),
    ("minimum", Op::Minimum, Shape::Fold),
    ("maximum", Op::Maximum, Shape::Fold),
];

const INTEGRAL: &[(&str, Op, Shape)] = &[
    ("//", Op::Quot, Shape::Binary),
    ("%%", Op::Rem, Shape::Binary),
    ("&", Op::And, Shape::Binary),
    ("|", Op::Or, Shape::Binary),
    ("^", Op::Xor, Shape::Binary),
    ("<<", Op::Shl, Shape::Binary),
    (">>", Op::Shr, Shape::Binary),
    (">>>", Op::LShr, Shape::Binary),
    ("not", Op::Not, Shape::Unary),
    ("num_bits", Op::NumBits, Shape::I32),
    ("get_bit", Op::GetBit, Shape::GetBit),
    ("set_bit", Op::SetBit, Shape::SetBit),
    ("popc", Op::Popc, Shape::ToI32),
    ("clz", Op::Clz, Shape::ToI32),
    ("ctz", Op::Ctz, Shape::ToI32),
    ("mul_hi", Op::MulHi, Shape::Binary),
    ("mad_hi", Op::MadHi, Shape::Ternary),
];

const FLOAT: &[(&str, Op, Shape)] = &[
    ("from_fraction", Op::FromFraction, Shape::Fraction),
    ("recip", Op::Recip, Shape::Unary),
    ("sqrt", Op::Sqrt, Shape::Unary),
    ("rsqrt", Op::Rsqrt, Shape::Unary),
    ("cbrt", Op::Cbrt, Shape::Unary),
    ("exp", Op::Exp, Shape::Unary),
    ("log", Op::Log, Shape::Unary),
    ("log2", Op::Log2, Shape::Unary),
    ("log10", Op::Log10, Shape::Unary),
    ("log1p", Op::Log1p, Shape::Unary),
    ("sin", Op::Sin, Shape::Unary),
    ("cos", Op::Cos, Shape::Unary),
    ("tan", Op::Tan, Shape::Unary),
    ("sinpi", Op::SinPi, Shape::Unary),
    ("cospi", Op::CosPi, Shape::Unary),
    ("tanpi", Op::TanPi, Shape::Unary),
    ("asin", Op::Asin, Shape::Unary),
    ("acos", Op::Acos, Shape::Unary),
    ("atan", Op::Atan, Shape::Unary),
    ("asinpi", Op::AsinPi, Shape::Unary),
    ("acospi", Op::AcosPi, Shape::Unary),
    ("atanpi", Op::AtanPi, Shape::Unary),
    ("atan2", Op::Atan2, Shape::Binary),
    ("atan2pi", Op::Atan2Pi, Shape::Binary),
    ("sinh", Op::Sinh, Shape::Unary),
    ("cosh", Op::Cosh, Shape::Unary),
    ("tanh", Op::Tanh, Shape::Unary),
    ("asinh", Op::Asinh, Shape::Unary),
    ("acosh", Op::Acosh, Shape::Unary),
    ("atanh", Op::Atanh, Shape::Unary),
    ("hypot", Op::Hypot, Shape::Binary),
    ("gamma", Op::Gamma, Shape::Unary),
    ("lgamma", Op::Lgamma, Shape::Unary),
    ("erf", Op::Erf, Shape::Unary),
    ("erfc", Op::Erfc, Shape::Unary),
    ("lerp", Op::Lerp, Shape::Ternary),
    ("ceil", Op::Ceil, Shape::Unary),
    ("floor", Op::Floor, Shape::Unary),
    ("trunc", Op::Trunc, Shape::Unary),
    ("round", Op::Round, Shape::Unary),
    ("mad", Op::Mad, Shape::Ternary),
    ("fma", Op::Fma, Shape::Ternary),
    ("isinf", Op::IsInf, Shape::Test),
    ("isnan", Op::IsNan, Shape::Test),
    ("inf", Op::Inf, Shape::Constant),
    ("nan", Op::Nan, Shape::Constant),
    ("pi", Op::Pi, Shape::Constant),
    ("e", Op::E, Shape::Constant),
    ("from_bits", Op::FromBits, Shape::FromBits),
    ("to_bits", Op::ToBits, Shape::ToBits),
    ("num_bits", Op::NumBits, Shape::I32),
    ("get_bit", Op::GetBit, Shape::GetBit),
    ("set_bit", Op::SetBit, Shape::SetBit),
    ("epsilon", Op::Epsilon, Shape::Constant),
    ("nextafter", Op::NextAfter, Shape::Binary),
    ("ldexp", Op::Ldexp, Shape::Scale),
    ("copysign", Op::CopySign, Shape::Binary),
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
        Prim::I8 | Prim::U8 | Prim::Bool => Prim::U8,
        Prim::I16 | Prim::U16 | Prim::F16 => Prim::U16,
        Prim::I32 | Prim::U32 | Prim::F32 => Prim::U32,
        Prim::I64 | Prim::U64 | Prim::F64 => Prim::U64,
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
        Shape::Constant => t,
        Shape::Unary => Type::fun(None, t.clone(), t),
        Shape::Binary => function(&[t.clone(), t.clone()], t),
        Shape::Ternary => function(&[t.clone(), t.clone(), t.clone()], t),
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
