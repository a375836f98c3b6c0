//! Programs of the plan dialect built by hand, and running their kernels.
#![allow(dead_code, reason = "each test file uses its own part")]

use backend_cpu::{Buffer, CpuDevice, Module, Options};
use midend::device::{Arg, Device, Stop};
use midend::ir::build::Builder;
use midend::ir::id::{IdVec, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::scalar::Const;
use midend::ir::soac::Operator;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Exp, Fun, Inline, Param, Program};
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;
use midend::value::Data;

pub(crate) const I64: Type = Type::I64;

/// A device with so many threads.
pub(crate) fn device(threads: usize) -> CpuDevice {
    CpuDevice::new(Options {
        threads,
        memory: None,
    })
    .expect("this machine is supported")
}

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
            .zip(extents.iter().map(|n| Extent::Regular(*n)))
            .collect(),
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

pub(crate) fn i64s(n: i64) -> Arg<Buffer> {
    Arg::Scalar(Const::I64(n))
}

pub(crate) fn upload(device: &CpuDevice, data: Data) -> Buffer {
    device.upload(data).expect("there is memory")
}

pub(crate) fn zeros(device: &CpuDevice, elem: ScalarType, len: usize) -> Buffer {
    upload(device, Data::zeros(elem, len))
}

pub(crate) fn run(
    device: &CpuDevice,
    module: &Module,
    kernel: &str,
    args: &[Arg<Buffer>],
) -> Result<(), RunError> {
    device.launch(module, kernel, args, &Stop::new())
}

pub(crate) fn download(device: &CpuDevice, buffer: &Buffer) -> Data {
    device
        .download(buffer, buffer.len())
        .expect("the length is right")
}
