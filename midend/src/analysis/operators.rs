//! The operators that a program gives to reductions, scans, histograms and accumulations, each as an entry point of its own, so that
//! they can be applied to any values: whether they are associative, say, no compiler finds out.
//!
//! ```text
//! let t = replicate [n] 0.0f32                   fun operator_0(n', a': [n']f32, b': [n']f32) -> ([n']f32, [n']f32)
//! .. reduce (t) \(a: [n]f32, b: [n]f32)    ──►   { let t' = replicate [n'] 0.0f32   let c' = ..   yield c', t' }
//! ```
//!
//! The entry point takes both operands and yields the result and the neutral element. With an operator come the statements before
//! it that it and its neutral element need; what they need of parameters, of functions, loops and other lambdas, has no value
//! here, unless it is a size of the operands. It reads programs whose calls have been inlined.

use crate::ir::id::{SpanId, Var};
use crate::ir::rename::{self, Subst, fresh};
use crate::ir::soac::{self, Soac};
use crate::ir::syntax::{
    Atom, Body, Entry, EntryParam, EntryType, Exp, Fun, Inline, Param, Program, Stm,
};
use crate::ir::types::{Dim, Type};
use crate::ir::walk::{all_stms, free_in_lambda, free_in_stm, type_vars};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The operators of a program.
pub struct Operators {
    /// The program with an entry point for each of them.
    pub program: Program<Soac>,
    /// What is known of them, in the order of the program.
    pub found: Vec<Found>,
}

/// An operator.
pub struct Found {
    /// The entry point that applies it, or why there can be none.
    pub entry: Result<String, String>,
    /// Where it was given to an operation.
    pub span: SpanId,
    /// To which.
    pub given_to: &'static str,
    /// Whether that says, or needs, that it is commutative.
    pub commutative: bool,
    /// How many values an operand consists of.
    pub arity: usize,
}

/// An operator where it stands.
struct Given<'a> {
    operator: &'a soac::Operator<Soac>,
    span: SpanId,
    given_to: &'static str,
    commutative: bool,
}

/// Finds the operators of a program.
pub fn operators(program: &Program<Soac>) -> Operators {
    let mut all = Operators {
        program: program.clone(),
        found: Vec::new(),
    };
    for fun in program.funs.iter() {
        let mut given = Vec::new();
        let mut stms: Vec<&Stm<Soac>> = Vec::new();
        all_stms(&fun.body, &mut |stm| {
            stms.push(stm);
            collect(stm, &mut given);
        });
        let mut binders: HashMap<Var, usize> = HashMap::new();
        for (number, stm) in stms.iter().enumerate() {
            binders.extend(stm.binds.iter().map(|v| (*v, number)));
        }
        for given in given {
            let name = format!("operator {}", all.found.len());
            let entry = match apart(&all.program, &given, (&stms, &binders)) {
                Ok(needed) => {
                    add(&mut all.program, &given, &needed, &name);
                    Ok(name)
                }
                Err(why) => Err(why),
            };
            all.found.push(Found {
                entry,
                span: given.span,
                given_to: given.given_to,
                commutative: given.commutative,
                arity: given.operator.neutral.len(),
            });
        }
    }
    all
}

/// The operators that a statement itself gives to an operation.
fn collect<'a>(stm: &'a Stm<Soac>, out: &mut Vec<Given<'a>>) {
    let Exp::Op(op) = &stm.exp else {
        return;
    };
    let mut push = |operator, given_to, commutative| {
        out.push(Given {
            operator,
            span: stm.span,
            given_to,
            commutative,
        });
    };
    match op {
        Soac::Screma { scans, reds, .. } => {
            scans.iter().for_each(|op| push(op, "scan", false));
            reds.iter().for_each(|op| push(op, "reduce", op.comm));
        }
        Soac::Hist { ops, .. } => ops.iter().for_each(|h| push(&h.op, "hist", true)),
        Soac::WithAcc { acc, .. } => acc.op.iter().for_each(|op| push(op, "hist_stream", true)),
        Soac::Array(_)
        | Soac::Scatter { .. }
        | Soac::Filter { .. }
        | Soac::FlatMap { .. }
        | Soac::UpdateAcc(_) => {}
    }
}

/// What an operator needs to stand alone.
struct Needed<'a> {
    /// Sizes of its operands.
    sizes: Vec<Var>,
    /// Statements, in order.
    stms: Vec<&'a Stm<Soac>>,
}

fn apart<'a>(
    program: &Program<Soac>,
    given: &Given<'_>,
    (stms, binders): (&[&'a Stm<Soac>], &HashMap<Var, usize>),
) -> Result<Needed<'a>, String> {
    let lam = &given.operator.lam;
    let mut sizes = BTreeSet::new();
    for param in &lam.params {
        match &program.vars[*param].ty {
            Type::Scalar(_) => {}
            Type::Array(array) if array.shape.iter().all(|d| matches!(d, Dim::Size(_))) => {
                type_vars(&program.vars[*param].ty, &mut |v| {
                    sizes.insert(v);
                });
            }
            Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                return Err(String::from("its operands are irregular"));
            }
        }
    }
    let neutral = given.operator.neutral.iter().filter_map(|a| a.as_var());
    let mut work: Vec<Var> = free_in_lambda(&program.vars, lam);
    work.extend(neutral);
    let mut needed: BTreeMap<usize, &Stm<Soac>> = BTreeMap::new();
    while let Some(v) = work.pop() {
        if sizes.contains(&v) {
            continue;
        }
        let Some(number) = binders.get(&v) else {
            let name = &program.vars[v].name;
            return Err(format!(
                "it depends on `{name}`, which differs from run to run"
            ));
        };
        let stm = stms[*number];
        if needed.insert(*number, stm).is_none() {
            work.extend(free_in_stm(&program.vars, stm));
        }
    }
    Ok(Needed {
        sizes: sizes.into_iter().collect(),
        stms: needed.into_values().collect(),
    })
}

/// Adds the entry point of an operator to the program.
fn add(program: &mut Program<Soac>, given: &Given<'_>, needed: &Needed<'_>, name: &str) {
    let Program { vars, funs, .. } = program;
    let mut subst = Subst::new();
    let sizes = needed.sizes.iter().map(|v| fresh(vars, &mut subst, *v));
    let sizes: Vec<Var> = sizes.collect();
    let mut stms = Vec::new();
    // Parameters come first: a size that a needed statement binds is one of them.
    let lam = {
        let lam = &given.operator.lam;
        let mut old = lam.clone();
        old.params = lam
            .params
            .iter()
            .map(|v| fresh(vars, &mut subst, *v))
            .collect();
        old
    };
    for stm in &needed.stms {
        stms.push(rename::stm(vars, &mut subst, stm));
    }
    let body = rename::body(vars, &mut subst, &lam.body);
    stms.extend(body.stms);
    let neutral = given.operator.neutral.iter().map(|a| subst.atom(*a));
    let result: Vec<Atom> = body.result.into_iter().chain(neutral).collect();
    let operand = &lam.params[..given.operator.neutral.len()];
    // The results are of the types of an operand.
    let formals = operand.iter().chain(operand);
    let formals: Vec<Var> = formals
        .map(|v| {
            let info = vars[*v].clone();
            vars.push(info)
        })
        .collect();
    let entry = Entry {
        name: name.to_owned(),
        size_params: sizes.len(),
        size_results: 0,
        params: lam
            .params
            .iter()
            .map(|v| EntryParam {
                name: vars[*v].name.to_string(),
                ty: outside(&vars[*v].ty),
                unique: true,
                streamed: false,
            })
            .collect(),
        results: formals.iter().map(|v| outside(&vars[*v].ty)).collect(),
        streamed: false,
    };
    let param = |unique| move |var: &Var| Param { var: *var, unique };
    let sizes = sizes.iter().map(param(false));
    funs.push(Fun {
        name: name.replace(' ', "_"),
        entry: Some(entry),
        params: sizes.chain(lam.params.iter().map(param(true))).collect(),
        results: formals.iter().map(param(false)).collect(),
        body: Body { stms, result },
        inline: Inline::Auto,
        derivative: None,
        span: given.span,
    });
}

/// A scalar or an array of scalars as the outside sees it.
fn outside(ty: &Type) -> EntryType {
    match ty {
        Type::Array(array) => EntryType::Array {
            rank: array.shape.len(),
            elem: Box::new(EntryType::Scalar(array.elem)),
        },
        Type::Scalar(elem) => EntryType::Scalar(*elem),
        // Operands are neither of these.
        Type::Acc(_) | Type::Buffer(_) | Type::Cert => EntryType::Tuple(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;
    use crate::ir::read;
    use crate::value::{ArrayValue, Data, Value};
    use crate::verify;

    const PROGRAM: &str = r#"nested

fun main(n_0: i64, m_1: i64, xss_2: [m_1][n_0]i32, k_3: i32) -> (r_4: [n_0]i32, s_5: i32)
  entry "main" sizes 2 -> 0 (xss: [][]i32, k: i32) -> ([]i32, i32)
{
  let one_6: i32 = add.i32(0i32, 0i32)
  let t_7: [n_0]i32 = replicate [n_0] one_6
  let r_8: [n_0]i32 = map m_1 (xss_2) \(xs_9: [n_0]i32) {
    yield xs_9
  } reduce (t_7) \(a_10: [n_0]i32, b_11: [n_0]i32) {
    let c_12: [n_0]i32 = map n_0 (a_10, b_11) \(x_13: i32, y_14: i32) {
      let z_15: i32 = sub.i32(x_13, y_14)
      yield z_15
    }
    yield c_12
  }
  let s_16: i32 = map n_0 (r_8) \(x_17: i32) {
    yield x_17
  } reduce comm (0i32) \(a_18: i32, b_19: i32) {
    let c_20: i32 = add.i32(a_18, k_3)
    yield c_20
  }
  yield r_8, s_16
}
"#;

    #[test]
    fn operators_stand_alone_with_what_they_need() {
        let program: Program<Soac> = read::program(PROGRAM).expect("it can be read");
        let Operators { program, found } = operators(&program);
        let faults = verify::program(&program);
        assert!(faults.is_ok(), "{faults:?}");
        let told: Vec<_> = found
            .iter()
            .map(|op| (op.given_to, op.commutative, op.arity, op.entry.clone()))
            .collect();
        let why = "it depends on `k`, which differs from run to run";
        assert_eq!(
            told,
            [
                ("reduce", false, 1, Ok(String::from("operator 0"))),
                ("reduce", true, 1, Err(String::from(why)))
            ]
        );
        let vector = |elements: [i32; 2]| {
            Value::Array(ArrayValue {
                shape: vec![2],
                data: Data::I32(elements.to_vec()),
            })
        };
        let args = vec![vector([5, 6]), vector([1, 9])];
        let results = interp::run(&program, "operator 0", args, &interp::Options::default());
        assert_eq!(results, Ok(vec![vector([4, -3]), vector([0, 0])]));
    }
}
