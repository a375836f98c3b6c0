//! Reductions of columns: points side by side in the dimension outside have neighbouring elements, so that each lane has a point of
//! its own, and all of them go through a piece of the inner dimension in a loop. What a piece comes to is stored for each point.
//!
//! ```text
//! segred (i < m, j < n) { xss[j, i] } (+) 0
//!   ──►   segmap (i < m) { s = loop (s = 0) for k < count { s + xss[lo + k, i] } in out[i] = s }     for a piece that begins at lo
//! ```

use crate::emit::groups::Row;
use crate::emit::lanes::{InLanes, Plan, map_plan, plan_reduction};
use crate::emit::{Emit, control};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Program, Stm, VarInfo, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::all_stms;
use std::collections::BTreeMap;

/// A reduction as a map over all dimensions but the innermost.
pub(in crate::emit) struct Columns {
    /// The variables of the program, and some more.
    pub(in crate::emit) vars: Vars,
    kernel: Kernel,
    /// Where a piece begins, and how many inner points it has.
    low: Var,
    count: Var,
}

/// Whether a kernel reduces columns: neighbours in the dimension outside fill vectors, and neighbours in the inner one do not.
pub(in crate::emit) fn reduces_columns(program: &Program<Mem>, kernel: &Kernel) -> bool {
    let KernelKind::Red { ops, .. } = &kernel.kind else {
        return false;
    };
    if kernel.steady || kernel.is_ragged() || kernel.space.len() < 2 || ops.is_empty() {
        return false;
    }
    let along = plan_reduction(kernel, ops, &program.vars, 1);
    !along.is_some_and(|plan| plan.own_sums)
        && columns(&program.vars, kernel, ops)
            .is_some_and(|columns| columns.plan(&columns.vars, 1).is_some())
}

/// The map for a reduction.
pub(in crate::emit) fn columns(
    vars: &Vars,
    kernel: &Kernel,
    ops: &[Operator<Mem>],
) -> Option<Columns> {
    let KernelKind::Red { outs, .. } = &kernel.kind else {
        return None;
    };
    let ((inner, _), outer) = kernel.space.split_last()?;
    let span = kernel.body.stms.first()?.span;
    let mut more = vars.clone();
    let mut fresh = |name: &str, ty| {
        let name = name.into();
        more.push(VarInfo { name, ty })
    };
    let stm = |binds, exp| Stm {
        binds,
        certs: Vec::new(),
        exp,
        span,
    };
    let whole = |op, a, b| Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), vec![a, b]);
    let (low, count) = (fresh("low", Type::I64), fresh("count", Type::I64));
    let step = fresh("step", Type::I64);
    let mut stms = vec![stm(
        vec![*inner],
        whole(BinOp::Add, low.into(), step.into()),
    )];
    stms.extend(kernel.body.stms.iter().cloned());
    let (mut params, mut result) = (Vec::new(), Vec::new());
    let mut values = kernel.body.result.iter();
    for op in ops {
        let (lefts, rights) = op.lam.params.split_at(op.neutral.len());
        for (var, init) in lefts.iter().zip(&op.neutral) {
            let (var, init) = (*var, *init);
            params.push(LoopParam { var, init });
        }
        for (right, value) in rights.iter().zip(&mut values) {
            stms.push(stm(vec![*right], Exp::Atom(*value)));
        }
        stms.extend(op.lam.body.stms.iter().cloned());
        result.extend(&op.lam.body.result);
    }
    let sums = params
        .iter()
        .map(|param| fresh("sum", vars[param.var].ty.clone()));
    let sums: Vec<Var> = sums.collect();
    let form = LoopForm::For {
        index: step,
        bound: count.into(),
    };
    let body = Body { stms, result };
    let mut stms = vec![stm(sums.clone(), Exp::Loop { params, form, body })];
    // The row-major index of the point.
    let mut flat: Option<Atom> = None;
    for (index, extent) in outer {
        let Extent::Regular(extent) = *extent else {
            return None;
        };
        flat = Some(match flat {
            None => (*index).into(),
            Some(before) => {
                let (rows, all) = (fresh("rows", Type::I64), fresh("flat", Type::I64));
                stms.push(stm(vec![rows], whole(BinOp::Mul, before, extent)));
                stms.push(stm(
                    vec![all],
                    whole(BinOp::Add, rows.into(), (*index).into()),
                ));
                all.into()
            }
        });
    }
    let index = flat?;
    for (buffer, sum) in outs.iter().zip(&sums) {
        let (buffer, value) = (*buffer, (*sum).into());
        let store = Mem::Store {
            buffer,
            index,
            value,
        };
        stms.push(stm(Vec::new(), Exp::Op(store)));
    }
    let result = Vec::new();
    let kernel = Kernel {
        space: outer.to_vec(),
        body: Body { stms, result },
        kind: KernelKind::Map,
        ..kernel.clone()
    };
    Some(Columns {
        vars: more,
        kernel,
        low,
        count,
    })
}

impl Columns {
    /// How many points are worked on together, if all that differs among them is in vectors.
    fn plan(&self, vars: &Vars, asked: usize) -> Option<Plan> {
        let (tables, functions) = (BTreeMap::new(), InLanes::default());
        let (plan, interior) = map_plan(&self.kernel, vars, (asked, &tables, &functions))?;
        let mut reads = false;
        all_stms(&self.kernel.body, &mut |stm| {
            if let Exp::Op(Mem::Load { index, .. }) = &stm.exp {
                reads |= index.as_var().is_some_and(|v| plan.varies(v));
            }
        });
        let whole = interior.is_none() && !plan.has_arrays();
        (reads && whole && plan.is_full()).then_some(plan)
    }

    /// The code of the map.
    pub(in crate::emit) fn body(&self) -> &Body<Mem> {
        &self.kernel.body
    }
}

impl Emit<'_, '_> {
    /// Parameters: slots, outer range, inner range, address of the addresses of the results.
    pub(in crate::emit) fn reduce_columns(&mut self, columns: &Columns, outs: &[Var], p: &[Value]) {
        let (kernel, (low, high)) = (&columns.kernel, (p[3], p[4]));
        let count = self.b.ins().isub(high, low);
        self.bind(columns.low, low);
        self.bind(columns.count, count);
        let places = self.places(p[5], outs.len());
        self.bind_all(outs, &places);
        let vars = self.vars;
        let plan = columns.plan(vars, self.asked);
        // Groups of fewer points for what is less than a larger one.
        let fewer = plan.as_ref().and_then(|plan| plan.fewest(vars));
        self.parts = plan.as_ref().map_or(1, |plan| plan.parts);
        self.in_lanes = plan.is_some();
        let plans: Vec<Plan> = plan.into_iter().chain(fewer).collect();
        let again = self.may_repeat(&kernel.body);
        let (Some(space), Some((index, _))) = (self.extents(&kernel.space), kernel.space.last())
        else {
            unreachable!("columns are of regular dimensions");
        };
        self.rows(&space, (p[1], p[2]), |emit, first, last, base| {
            let mut row = Row {
                range: (first, last),
                base: Some(base),
            };
            for plan in &plans {
                row.range.0 = emit.whole_groups(kernel, (plan, again), *index, row);
            }
            let strip = control::strip(&kernel.body);
            emit.range(ScalarType::I64, row.range, strip, &[], |emit, i, _| {
                emit.bind(*index, i);
                emit.body(&kernel.body);
                vec![]
            });
        });
    }
}
