//! The operators of the prelude, and which operation each built-in array function is.

use super::PrimSet;
use crate::typed::{NameKind, Op};
use crate::types::context::Cx;
use crate::types::ty::{Lift, Prim, Scheme, Type};

/// What an operator works on.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    Over(PrimSet),
    Equality,
    Logical { and: bool },
}

#[derive(Clone, Copy)]
pub(crate) struct Operator {
    pub(crate) op: Op,
    pub(crate) class: Class,
    /// The result is a `bool`.
    compares: bool,
}

/// An operator by its spelling.
pub(crate) fn find(name: &str) -> Option<Operator> {
    let over = |op, set| Operator {
        op,
        class: Class::Over(set),
        compares: false,
    };
    let compare = |op| Operator {
        op,
        class: Class::Over(PrimSet::ALL),
        compares: true,
    };
    let equal = |op| Operator {
        op,
        class: Class::Equality,
        compares: true,
    };
    let logical = |op, and| Operator {
        op,
        class: Class::Logical { and },
        compares: true,
    };
    let (numbers, integers) = (PrimSet::NUMBERS, PrimSet::INTEGERS);
    Some(match name {
        "+" => over(Op::Add, numbers),
        "-" => over(Op::Sub, numbers),
        "*" => over(Op::Mul, numbers),
        "/" => over(Op::Div, numbers),
        "%" => over(Op::Mod, numbers),
        "**" => over(Op::Pow, numbers),
        "//" => over(Op::Quot, integers),
        "%%" => over(Op::Rem, integers),
        "&" => over(Op::And, integers),
        "|" => over(Op::Or, integers),
        "^" => over(Op::Xor, integers),
        "<<" => over(Op::Shl, integers),
        ">>" => over(Op::Shr, integers),
        ">>>" => over(Op::LShr, integers),
        "<" => compare(Op::Lt),
        "<=" => compare(Op::Le),
        ">" => compare(Op::Gt),
        ">=" => compare(Op::Ge),
        "==" => equal(Op::Eq),
        "!=" => equal(Op::Ne),
        "&&" => logical(Op::LogAnd, true),
        "||" => logical(Op::LogOr, false),
        _ => return None,
    })
}

/// The type of an operator.
pub(crate) fn scheme(cx: &mut Cx<'_>, operator: &Operator) -> Scheme {
    let bool_ty = Type::Prim(Prim::Bool);
    if let Class::Logical { .. } = operator.class {
        let ty = Type::fun(
            None,
            bool_ty.clone(),
            Type::fun(None, bool_ty.clone(), bool_ty),
        );
        return Scheme::mono(ty);
    }
    let name = cx.fresh("t", None, NameKind::Type);
    let t = Type::named(name);
    let result = if operator.compares {
        bool_ty
    } else {
        t.clone()
    };
    let ty = Type::fun(None, t.clone(), Type::fun(None, t, result));
    // Values that hold functions are refused by the check of equalities.
    let lift = match operator.class {
        Class::Equality => Lift::Full,
        Class::Over(_) | Class::Logical { .. } => Lift::Plain,
    };
    Scheme {
        types: vec![(name, lift)],
        sizes: Vec::new(),
        ty,
    }
}

/// The operation behind a `val` of the prelude.
pub(crate) fn array_op(name: &str) -> Option<Op> {
    Some(match name {
        "map" | "map1" => Op::Map,
        "reduce" => Op::Reduce,
        "reduce_comm" => Op::ReduceComm,
        "scan" => Op::Scan,
        "filter" => Op::Filter,
        "partition" => Op::Partition,
        "hist" => Op::Hist,
        "reduce_by_index" => Op::ReduceByIndex1d,
        "reduce_by_index_2d" => Op::ReduceByIndex2d,
        "reduce_by_index_3d" => Op::ReduceByIndex3d,
        "scatter" => Op::Scatter1d,
        "scatter_2d" => Op::Scatter2d,
        "scatter_3d" => Op::Scatter3d,
        "scatter_stream" => Op::ScatterStream,
        "hist_stream" => Op::HistStream,
        "acc_write" => Op::AccWrite,
        "zip" | "zip2" => Op::Zip,
        "unzip" | "unzip2" => Op::Unzip,
        "++" | "concat" => Op::Concat,
        "flatten" => Op::Flatten,
        "unflatten" => Op::Unflatten,
        "transpose" => Op::Transpose,
        "reverse" => Op::Reverse,
        "rotate" => Op::Rotate,
        "iota" => Op::Iota,
        "replicate" => Op::Replicate,
        "length" => Op::Length,
        "copy" => Op::Copy,
        "manifest" => Op::Manifest,
        "opaque" => Op::Opaque,
        "trace" => Op::Trace,
        "break" => Op::Break,
        "jvp2" => Op::Jvp,
        "vjp2" => Op::Vjp,
        "with_vjp" => Op::WithVjp,
        "flatmap" => Op::FlatMap,
        "segment" => Op::Segment,
        "make" => Op::SeqMake,
        "parts" => Op::SeqParts,
        "next" => Op::SeqNext,
        "put" => Op::SeqPut,
        "flat" => Op::SeqFlat,
        _ => return None,
    })
}
