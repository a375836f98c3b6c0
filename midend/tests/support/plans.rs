//! Programs of the plan dialect built by hand, for the tests of back ends.
#![allow(dead_code, reason = "each test file uses its own part")]

use midend::ir::build::Builder;
use midend::ir::id::{IdVec, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::scalar::Const;
use midend::ir::soac::Operator;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp, Fun, Inline, Param, Program};
use midend::ir::types::{ScalarType, Type};

pub(crate) const I64: Type = Type::I64;

/// A program whose host code is what `f` builds.
pub(crate) fn program(f: impl FnOnce(&mut Builder<'_, Mem>)) -> Program<Mem> {
    program_with(|_, b| f(b))
}

/// The same, with functions that `f` adds first.
pub(crate) fn program_with(
    f: impl FnOnce(&mut Vec<Fun<Mem>>, &mut Builder<'_, Mem>),
) -> Program<Mem> {
    let mut vars = IdVec::new();
    let mut funs = Vec::new();
    let mut b = Builder::new(&mut vars);
    f(&mut funs, &mut b);
    let body = b.finish(vec![]);
    funs.push(fun("main", vec![], vec![], body));
    Program {
        vars,
        funs: IdVec::from_iter(funs),
        spans: Spans::new(),
    }
}

pub(crate) fn fun(name: &str, params: Vec<Var>, results: Vec<Var>, body: Body<Mem>) -> Fun<Mem> {
    let param = |var| Param { var, unique: false };
    Fun {
        name: name.to_owned(),
        entry: None,
        params: params.into_iter().map(param).collect(),
        results: results.into_iter().map(param).collect(),
        body,
        inline: Inline::Never,
        derivative: None,
        span: Spans::NONE,
    }
}

pub(crate) fn buffer(elem: ScalarType) -> Type {
    Type::Buffer(elem)
}

pub(crate) fn load(b: &mut Builder<'_, Mem>, buffer: Var, index: impl Into<Atom>) -> Atom {
    let elem = b.vars[buffer].ty.elem().expect("a buffer");
    let op = Mem::Load {
        buffer,
        index: index.into(),
    };
    Atom::Var(b.let_("x", Type::Scalar(elem), Exp::Op(op)))
}

pub(crate) fn store(
    b: &mut Builder<'_, Mem>,
    buffer: Var,
    index: impl Into<Atom>,
    value: impl Into<Atom>,
) {
    let op = Mem::Store {
        buffer,
        index: index.into(),
        value: value.into(),
    };
    b.bind(vec![], Exp::Op(op));
}

pub(crate) fn alloc(b: &mut Builder<'_, Mem>, elem: ScalarType, len: impl Into<Atom>) -> Var {
    let op = Mem::Alloc {
        elem,
        len: len.into(),
        over: None,
    };
    b.let_("m", Type::Buffer(elem), Exp::Op(op))
}

/// Launches a kernel over a space; `f` gets the indices and yields the results of the body.
pub(crate) fn kernel(
    b: &mut Builder<'_, Mem>,
    name: &str,
    extents: &[Atom],
    kind: KernelKind,
    f: impl FnOnce(&mut Builder<'_, Mem>, &[Var]) -> Vec<Atom>,
) {
    let indices: Vec<Var> = extents.iter().map(|_| b.fresh("i", I64)).collect();
    let body = b.body(|b| f(b, &indices));
    let kernel = Kernel {
        name: name.to_owned(),
        space: indices
            .into_iter()
            .zip(extents.iter().copied().map(Extent::Regular))
            .collect(),
        tiled: 0,
        steady: false,
        block: None,
        body,
        kind,
    };
    b.bind(vec![], Exp::Op(Mem::Launch(Box::new(kernel))));
}

/// An operator on one scalar.
pub(crate) fn operator(
    b: &mut Builder<'_, Mem>,
    ty: ScalarType,
    neutral: Const,
    f: impl FnOnce(&mut Builder<'_, Mem>, Atom, Atom) -> Atom,
) -> Operator<Mem> {
    let formals = [("a", Type::Scalar(ty)), ("b", Type::Scalar(ty))];
    Operator {
        comm: false,
        lam: b.lambda(&formals, |b, p| {
            vec![f(b, Atom::Var(p[0]), Atom::Var(p[1]))]
        }),
        neutral: vec![Atom::Const(neutral)],
    }
}

/// An operator on two scalars.
pub(crate) fn operator2(
    b: &mut Builder<'_, Mem>,
    types: [ScalarType; 2],
    neutral: [Const; 2],
    f: impl FnOnce(&mut Builder<'_, Mem>, [Atom; 4]) -> Vec<Atom>,
) -> Operator<Mem> {
    let [x, y] = types.map(Type::Scalar);
    let formals = [("a", x.clone()), ("b", y.clone()), ("c", x), ("d", y)];
    Operator {
        comm: false,
        lam: b.lambda(&formals, |b, p| {
            f(b, [p[0], p[1], p[2], p[3]].map(Atom::Var))
        }),
        neutral: neutral.map(Atom::Const).to_vec(),
    }
}
