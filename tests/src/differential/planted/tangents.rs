//! Mistakes in what the pass `derivatives` makes. Random programs have no derivatives, so these are tried on given programs.

use super::{Change, Plant, Planted as _};
use crate::differential::verified;
use midend::interp::{self, Options};
use midend::ir::array::ArrayOp;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, Program, Stm, Vars};
use midend::pass::{self, PassCx};
use midend::passes;
use midend::value::Value;

/// The mistakes.
pub static TANGENTS: &[Plant] = &[
    Plant {
        pass: "derivatives",
        what: "the tangent of a product has the wrong factor",
        change: Change::Nested(wrong_factor),
    },
    Plant {
        pass: "derivatives",
        what: "the tangent that a loop starts with is zero",
        change: Change::Nested(zero_at_start),
    },
    Plant {
        pass: "derivatives",
        what: "a sum of tangents starts with one",
        change: Change::Nested(one_for_neutral),
    },
    Plant {
        pass: "derivatives",
        what: "the tangent of an argument is zero",
        change: Change::Nested(zero_argument),
    },
];

/// The mistakes in adjoints.
pub static ADJOINTS: &[Plant] = &[
    Plant {
        pass: "derivatives",
        what: "the adjoint of a factor has the wrong factor",
        change: Change::Nested(wrong_factor),
    },
    Plant {
        pass: "derivatives",
        what: "the adjoint of what a loop yields is zero",
        change: Change::Nested(zero_seed),
    },
    Plant {
        pass: "derivatives",
        what: "adjoints of elements go to another index",
        change: Change::Nested(other_index),
    },
    Plant {
        pass: "derivatives",
        what: "each iteration is undone with the values of the first one",
        change: Change::Nested(first_iteration),
    },
];

/// The results of `main` once the pass has run and the mistake, if there is one, is made.
pub fn derived(
    program: &Program<Soac>,
    plant: Option<&Plant>,
    args: Vec<Value>,
) -> Result<Vec<Value>, String> {
    let options = pass::Options::default();
    let mut cx = PassCx {
        options: &options,
        remarks: &mut Vec::new(),
    };
    let mut program = (passes::derivatives::PASS.run)(program.clone(), &mut cx);
    if let Some(plant) = plant {
        Soac::change(plant, &mut program);
    }
    verified("derivatives", &program)?;
    interp::run(&program, "main", args, &Options::default()).map_err(|why| why.to_string())
}

/// The pass calls the products that it adds `t`.
fn wrong_factor(vars: &Vars, stm: &mut Stm<Soac>) {
    if let (Exp::Scalar(ScalarOp::Bin(BinOp::Mul, _), args), [v]) = (&mut stm.exp, &stm.binds[..])
        && vars[*v].name == "t"
    {
        args[1] = args[0];
    }
}

fn zero_at_start(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Loop { params, .. } = &mut stm.exp
        && let [_, tangent] = &mut params[..]
    {
        tangent.init = Atom::Const(Const::f64(0.0));
    }
}

fn one_for_neutral(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Screma { reds, .. }) = &mut stm.exp
        && let [_, tangent] = &mut reds[..]
    {
        tangent.neutral = vec![Atom::Const(Const::f64(1.0))];
    }
}

fn zero_argument(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Call { args, .. } = &mut stm.exp
        && let [.., tangent] = &mut args[..]
    {
        *tangent = Atom::Const(Const::f64(0.0));
    }
}

fn zero_seed(vars: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Loop { params, .. } = &mut stm.exp
        && let [adjoint, ..] = &mut params[..]
        && matches!(adjoint.init, Atom::Var(v) if vars[v].name == "seed" || vars[v].name == "v")
    {
        adjoint.init = Atom::Const(Const::f64(0.0));
    }
}

fn other_index(_: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Hist { lam, .. }) = &mut stm.exp {
        lam.body.result[0] = Atom::ZERO;
    }
}

fn first_iteration(vars: &Vars, stm: &mut Stm<Soac>) {
    if let Exp::Op(Soac::Array(ArrayOp::Index { array, indices })) = &mut stm.exp
        && vars[*array].name == "kept"
    {
        indices[0] = Atom::ZERO;
    }
}
