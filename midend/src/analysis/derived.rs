//! The derivatives of an entry point as entry points, so that they can be tested on any values.
//!
//! ```text
//! entry main(n; k: i64, xs: [n]f64) -> ys: [n]f64
//!     ──►   entry forward(n; k, xs, xs') -> ys, ys'       entry reverse(n; k, xs, ys') -> ys, xs'
//! ```
//!
//! Derivatives are of the floats among the results, with respect to the floats among the parameters; these come last, and what is consumed is
//! copied before.

use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, SpanId, Var};
use crate::ir::rename::{Subst, fresh};
use crate::ir::scalar::Const;
use crate::ir::soac::Soac;
use crate::ir::syntax::{
    Atom, Body, Derivative, Entry, EntryParam, EntryType, Exp, Fun, Inline, Mode, Param, Program,
    Stm, Vars,
};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::type_vars;

/// The name of the entry point that computes derivatives along a direction.
pub const FORWARD: &str = "forward";
/// The name of the entry point that computes gradients.
pub const REVERSE: &str = "reverse";

/// An entry point and its derivatives.
pub struct Derived {
    /// The program, whose entry points are [`FORWARD`] and, if it is wanted, [`REVERSE`].
    pub program: Program<Soac>,
    /// Which of the arguments are floats. The derivatives take the others first, then these, then a direction, or weights.
    pub inputs: Vec<bool>,
    /// Which of the results are floats. The derivatives give these, then their derivatives, or those of the inputs.
    pub outputs: Vec<bool>,
}

/// Makes the derivatives of an entry point; says why there are none.
pub fn derived(program: &Program<Soac>, entry: &str, reverse: bool) -> Result<Derived, String> {
    let is_it = |fun: &Fun<Soac>| fun.entry.as_ref().is_some_and(|e| e.name == entry);
    let found = program.funs.enumerate().find(|(_, fun)| is_it(fun));
    let Some((id, of)) = found.and_then(|(id, fun)| Some((id, fun.entry.clone()?))) else {
        return Err(format!("there is no entry point {entry}"));
    };
    if of.streamed || of.params.iter().any(|param| param.streamed) {
        return Err(String::from("it reads or writes a sequence"));
    }
    let mut program = program.clone();
    let is_float = |program: &Program<Soac>, p: &Param| {
        let elem = program.vars[p.var].ty.elem();
        elem.is_some_and(ScalarType::is_float)
    };
    let fun = program.funs[id].clone();
    let inputs = fun.params[of.size_params..].iter();
    let inputs: Vec<bool> = inputs.map(|p| is_float(&program, p)).collect();
    let outputs = fun.results[of.size_results..].iter();
    let outputs: Vec<bool> = outputs.map(|p| is_float(&program, p)).collect();
    if !inputs.contains(&true) || !outputs.contains(&true) {
        return Err(String::from("no float of its results depends on floats"));
    }
    for fun in program.funs.iter_mut() {
        fun.entry = None;
    }
    let mut make = Make {
        of: id,
        size_params: of.size_params,
        size_results: of.size_results,
        span: fun.span,
        sizes: Vec::new(),
    };
    let plain = make.plain(&mut program, &fun, &inputs, &outputs);
    let count = inputs.iter().filter(|float| **float).count();
    make.entry(&mut program, Mode::Forward, plain, count);
    if reverse {
        make.entry(&mut program, Mode::Reverse, plain, count);
    }
    Ok(Derived {
        program,
        inputs,
        outputs,
    })
}

struct Make {
    of: FunId,
    size_params: usize,
    size_results: usize,
    span: SpanId,
    /// Those results of the plain function that are extents of further ones.
    sizes: Vec<usize>,
}

impl Make {
    /// A function that consumes nothing. It takes sizes, then one for each extent that is a result, then what is no float, then floats; it gives
    /// sizes and floats.
    fn plain(
        &mut self,
        program: &mut Program<Soac>,
        fun: &Fun<Soac>,
        inputs: &[bool],
        outputs: &[bool],
    ) -> FunId {
        let vars = &mut program.vars;
        let mut subst = Subst::new();
        let own: Vec<Var> = (fun.params.iter())
            .map(|p| fresh(vars, &mut subst, p.var))
            .collect();
        let mut stms = Vec::new();
        let mut args: Vec<Atom> = Vec::new();
        for (param, v) in fun.params.iter().zip(&own) {
            if param.unique && vars[*v].ty.is_array() {
                let copy = like(vars, *v);
                stms.push(self.stm(vec![copy], ArrayOp::Copy(*v).into()));
                args.push(copy.into());
            } else {
                args.push((*v).into());
            }
        }
        let mut of_results = subst.clone();
        let binds: Vec<Var> = (fun.results.iter())
            .map(|p| fresh(vars, &mut of_results, p.var))
            .collect();
        let call = Exp::Call { fun: self.of, args };
        stms.push(self.stm(binds.clone(), call));
        let mut of_formals = subst;
        let (mut results, mut result, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for (formal, float) in fun.results[self.size_results..].iter().zip(outputs) {
            if *float {
                type_vars(&vars[formal.var].ty, &mut |size| named.push(size));
            }
        }
        for (i, (formal, bind)) in fun.results.iter().zip(&binds).enumerate() {
            let is_size = named.contains(&formal.var);
            if is_size || i >= self.size_results && outputs[i - self.size_results] {
                results.push(fresh(vars, &mut of_formals, formal.var));
                result.push(Atom::Var(*bind));
            }
        }
        let is_size = |i: &usize| vars[results[*i]].ty == Type::I64;
        self.sizes = (0..results.len()).filter(is_size).collect();
        let (sizes, values) = own.split_at(self.size_params);
        let mut params = sizes.to_vec();
        for i in &self.sizes {
            params.push(like(vars, results[*i]));
        }
        for float in [false, true] {
            let values = values.iter().zip(inputs);
            params.extend(values.filter(|(_, is)| **is == float).map(|(v, _)| *v));
        }
        let body = Body { stms, result };
        self.push(program, "plain", (params, results), body)
    }

    /// The derivative of a function with respect to its last parameters, and an entry point that calls it.
    fn entry(&self, program: &mut Program<Soac>, mode: Mode, of: FunId, count: usize) {
        let plain = program.funs[of].clone();
        let vars = &mut program.vars;
        let first = plain.params.len() - count;
        let reverse = mode == Mode::Reverse;
        // The extents of weights are parameters, those of results are among the results.
        let mut subst = Subst::new();
        let mut params: Vec<Var> = (plain.params.iter())
            .map(|p| fresh(vars, &mut subst, p.var))
            .collect();
        let args: Vec<Atom> = params.iter().map(|v| Atom::Var(*v)).collect();
        let inputs = params[first..].to_vec();
        let mut of_seeds = subst.clone();
        for (k, i) in self.sizes.iter().enumerate() {
            of_seeds.insert(plain.results[*i].var, params[self.size_params + k]);
        }
        let bound = |vars: &mut Vars| -> Vec<Var> {
            let mut subst = subst.clone();
            let results = plain.results.iter();
            results.map(|p| fresh(vars, &mut subst, p.var)).collect()
        };
        let (binds, formals) = (bound(vars), bound(vars));
        let seeds: Vec<Var> = if reverse {
            (plain.results.iter())
                .map(|p| fresh(vars, &mut of_seeds.clone(), p.var))
                .collect()
        } else {
            inputs.iter().map(|v| like(vars, *v)).collect()
        };
        params.extend(&seeds);
        let mut stms = vec![self.stm(binds.clone(), Exp::Call { fun: of, args })];
        let mut result: Vec<Atom> = binds.iter().map(|v| Atom::Var(*v)).collect();
        let mut results = formals.clone();
        let (here, there) = if reverse {
            (&inputs, &inputs)
        } else {
            (&binds, &formals)
        };
        for (v, formal) in here.iter().zip(there) {
            let zero = like(vars, *v);
            let ty = vars[*v].ty.clone();
            let value = Atom::Const(Const::zero(ty.elem().unwrap_or(ScalarType::I64)));
            let exp = match &ty {
                Type::Array(array) => {
                    let shape = array.shape.clone();
                    ArrayOp::Replicate { shape, value }.into()
                }
                Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => Exp::Atom(value),
            };
            stms.push(self.stm(vec![zero], exp));
            result.push(zero.into());
            results.push(like(vars, *formal));
        }
        let body = Body { stms, result };
        let name = if reverse { "vjp" } else { "jvp" };
        let made = self.push(program, name, (params, results), body);
        program.funs[made].inline = Inline::Never;
        program.funs[made].derivative = Some(Derivative { mode, first, count });
        self.outside(program, made, (&plain, seeds.len()), reverse);
    }

    /// The entry point of a derivative.
    fn outside(
        &self,
        program: &mut Program<Soac>,
        derivative: FunId,
        (plain, seeds): (&Fun<Soac>, usize),
        reverse: bool,
    ) {
        let fun = program.funs[derivative].clone();
        let vars = &mut program.vars;
        let mut subst = Subst::new();
        let own: Vec<Var> = (fun.params.iter())
            .map(|p| fresh(vars, &mut subst, p.var))
            .collect();
        let sizes = self.size_params + self.sizes.len();
        let first_seed = own.len() - seeds;
        let is_float = |vars: &Vars, v: Var| vars[v].ty.elem().is_some_and(ScalarType::is_float);
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for (i, v) in own.iter().enumerate() {
            // Without weights, the extents of results are not known.
            let absent = !reverse && (self.size_params..sizes).contains(&i)
                || i >= first_seed && !is_float(vars, *v);
            if absent {
                let elem = vars[*v].ty.elem().unwrap_or(ScalarType::I64);
                args.push(Atom::Const(Const::zero(elem)));
            } else {
                params.push(*v);
                args.push(Atom::Var(*v));
            }
        }
        let size_params = if reverse { sizes } else { self.size_params };
        let mut of_formals = subst.clone();
        let binds: Vec<Var> = (fun.results.iter())
            .map(|p| fresh(vars, &mut subst, p.var))
            .collect();
        let (mut results, mut result) = (Vec::new(), Vec::new());
        for (i, (formal, bind)) in fun.results.iter().zip(&binds).enumerate() {
            if i < plain.results.len() || is_float(vars, *bind) {
                results.push(fresh(vars, &mut of_formals, formal.var));
                result.push(Atom::Var(*bind));
            }
        }
        let entry = Entry {
            name: if reverse { REVERSE } else { FORWARD }.to_owned(),
            size_params,
            size_results: self.sizes.len(),
            params: (params[size_params..].iter())
                .map(|v| EntryParam {
                    name: vars[*v].name.clone(),
                    ty: of_outside(&vars[*v].ty),
                    unique: false,
                    streamed: false,
                })
                .collect(),
            results: (results[self.sizes.len()..].iter())
                .map(|v| of_outside(&vars[*v].ty))
                .collect(),
            streamed: false,
        };
        let call = Exp::Call {
            fun: derivative,
            args,
        };
        let stms = vec![self.stm(binds, call)];
        let name = entry.name.clone();
        let made = self.push(program, &name, (params, results), Body { stms, result });
        program.funs[made].entry = Some(entry);
    }

    fn stm(&self, binds: Vec<Var>, exp: Exp<Soac>) -> Stm<Soac> {
        Stm {
            binds,
            certs: Vec::new(),
            exp,
            span: self.span,
        }
    }

    fn push(
        &self,
        program: &mut Program<Soac>,
        name: &str,
        (params, results): (Vec<Var>, Vec<Var>),
        body: Body<Soac>,
    ) -> FunId {
        let mut name = name.to_owned();
        while program.funs.iter().any(|fun| fun.name == name) {
            name.push('_');
        }
        let param = |var: Var| Param { var, unique: false };
        program.funs.push(Fun {
            name,
            entry: None,
            params: params.into_iter().map(param).collect(),
            results: results.into_iter().map(param).collect(),
            body,
            inline: Inline::Auto,
            derivative: None,
            span: self.span,
        })
    }
}

/// A variable of the same type.
fn like(vars: &mut Vars, v: Var) -> Var {
    let info = vars[v].clone();
    vars.push(info)
}

/// The type of a scalar or array as the outside sees it.
fn of_outside(ty: &Type) -> EntryType {
    let elem = EntryType::Scalar(ty.elem().unwrap_or(ScalarType::Bool));
    match ty.rank() {
        0 => elem,
        rank => EntryType::Array {
            rank,
            elem: Box::new(elem),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{self, Options};
    use crate::ir::read;
    use crate::value::{ArrayValue, Data, Value};
    use crate::verify;

    /// `xs` is consumed, and the number of results depends on `k`.
    const PROGRAM: &str = r#"nested

fun main(n_0: i64, k_1: i64, *xs_2: [n_0]f64, a_3: f64) -> (m_4: i64, ys_5: [m_4]f64, z_6: i64)
  entry "main" sizes 1 -> 1 (k: i64, xs: *[]f64, a: f64) -> ([]f64, i64)
{
  let m_7: i64 = add.i64(k_1, 1)
  let b_8: f64 = mul.f64(a_3, a_3)
  let ys_9: [m_7]f64 = replicate [m_7] b_8
  yield m_7, ys_9, k_1
}
"#;

    #[test]
    fn both_modes_are_derivatives_of_floats() {
        let program: Program<Soac> = read::program(PROGRAM).expect("a program");
        let made = derived(&program, "main", true).expect("derivatives");
        assert_eq!(made.inputs, [false, true, true]);
        assert_eq!(made.outputs, [true, false]);
        verify::program(&made.program).expect("it is well-formed");
        let numbers = |data: &[f64]| {
            Value::Array(ArrayValue {
                shape: vec![data.len() as i64],
                data: Data::F64(data.to_vec()),
            })
        };
        let number = |x: f64| Value::Scalar(Const::f64(x));
        let run = |entry: &str, more: Vec<Value>| {
            let mut args = vec![
                Value::Scalar(Const::I64(1)),
                numbers(&[1.0, 2.0, 3.0]),
                number(5.0),
            ];
            args.extend(more);
            interp::run(&made.program, entry, args, &Options::default()).expect("results")
        };
        assert_eq!(
            run(FORWARD, vec![numbers(&[0.0; 3]), number(2.0)]),
            [numbers(&[25.0, 25.0]), numbers(&[20.0, 20.0])]
        );
        assert_eq!(
            run(REVERSE, vec![numbers(&[1.0, 3.0])]),
            [numbers(&[25.0, 25.0]), numbers(&[0.0; 3]), number(40.0)]
        );
    }

    #[test]
    fn without_floats_there_are_none() {
        let text = PROGRAM.replace("f64", "i32");
        let program: Program<Soac> = read::program(&text).expect("a program");
        assert!(derived(&program, "main", true).is_err());
    }
}
