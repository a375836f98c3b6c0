//! Inner loops in lanes: a loop of a kernel whose points are not in lanes, whose iterations do not depend on each other, as a map is that one thread
//! executes.
//!
//! ```text
//! loop j < n { y[j] = f x[j] }     ──►     if x and y differ: lanes of f for groups of j
//!                                          loop over the j that are left { y[j] = f x[j] }
//! ```
//!
//! Iterations are independent if they carry nothing, each writes elements of its own, and none reads what another one writes. Of a nest, the innermost
//! such loop is taken.

use crate::emit::Emit;
use crate::emit::groups::{Row, buffers};
use crate::emit::lanes::map_plan;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, body_binders};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of the loops in a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::emit) enum InnerLoops {
    /// They stay as they are: points are in lanes.
    #[default]
    Stay,
    /// Some may go in lanes, of which there are none yet.
    Scalar,
    /// Some are in lanes, in vectors of so many parts, and others may be in such.
    InLanes { parts: usize },
}

impl Emit<'_, '_> {
    /// Emits a loop that carries nothing in lanes; false if that cannot be, or is not worth it.
    pub(super) fn inner_in_lanes(&mut self, index: Var, bound: Atom, body: &Body<Mem>) -> bool {
        if self.inner_loops == InnerLoops::Stay
            || self.elem(index) != ScalarType::I64
            || !is_independent(index, body)
        {
            return false;
        }
        let space = vec![(index, Extent::Regular(bound))];
        let kernel = Kernel::map(String::new(), space, body.clone());
        let asked = (self.asked, &self.units.tables, &self.units.in_lanes);
        let Some((plan, None)) = map_plan(&kernel, self.vars, asked) else {
            return false;
        };
        // Rows of points are short, and what is left of them is done one by one.
        let plan = plan.fewest(self.vars).unwrap_or(plan);
        let lanes = InnerLoops::InLanes { parts: plan.parts };
        let fits = [InnerLoops::Scalar, lanes].contains(&self.inner_loops);
        if plan.has_arrays() || !fits {
            return false;
        }
        let Some(disjoint) = self.may_repeat(body) else {
            return false;
        };
        fired("cpu/inner-loop-in-lanes");
        self.inner_loops = lanes;
        self.in_lanes = true;
        self.parts = plan.parts;
        let (zero, end) = (self.i64(0), self.atom(bound));
        let last = self.b.ins().select(disjoint, end, zero);
        let row = Row {
            range: (zero, last),
            base: Some(zero),
        };
        let left = self.whole_groups(&kernel, (&plan, Some(disjoint)), index, row);
        self.few((left, end), &[], |emit, i, _: &[Value]| {
            emit.bind(index, i);
            emit.scoped(body, |emit| emit.body(body));
            vec![]
        });
        true
    }
}

/// Whether there are such loops in a body.
pub(in crate::emit) fn has_inner_loops(body: &Body<Mem>) -> bool {
    let mut some = false;
    all_stms(body, &mut |stm| {
        if let Exp::Loop { form, params, body } = &stm.exp {
            some |= params.is_empty() && is_inner(form, body);
        }
    });
    some
}

/// Whether the iterations of a loop do not depend on each other, as long as buffers with different names are different.
fn is_independent(index: Var, body: &Body<Mem>) -> bool {
    let (read, written) = buffers(body);
    if written.is_empty() || !read.is_disjoint(&written) {
        return false;
    }
    let mut inside = BTreeSet::from([index]);
    body_binders(body, &mut |v| {
        inside.insert(v);
    });
    // Elements are written by statements of the loop itself, once for each buffer.
    let mut defs: BTreeMap<Var, (ScalarOp, &[Atom])> = BTreeMap::new();
    let mut stored = BTreeSet::new();
    for stm in &body.stms {
        match &stm.exp {
            Exp::Scalar(op, args) => {
                defs.extend(stm.binds.iter().map(|v| (*v, (*op, &args[..]))));
            }
            Exp::Op(Mem::Store {
                buffer, index: at, ..
            }) => {
                let own = slope(*at, index, &inside, &defs).is_some_and(|slope| slope != 0);
                if !own || !stored.insert(*buffer) {
                    return false;
                }
            }
            Exp::Op(Mem::Load { .. })
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => {}
            Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => return false,
        }
    }
    let mut plain = true;
    for stm in &body.stms {
        stm.exp.scopes(&mut |_, inner| {
            all_stms(inner, &mut |stm| {
                plain &= match &stm.exp {
                    Exp::Scalar(..) | Exp::Atom(_) | Exp::Assert { .. } | Exp::If { .. } => true,
                    Exp::Op(op) => matches!(op, Mem::Load { .. }),
                    Exp::Loop { form, params, body } => !params.is_empty() || !is_inner(form, body),
                    Exp::Guard { .. } | Exp::Call { .. } => false,
                };
            });
        });
        if let Exp::Loop { form, params, body } = &stm.exp {
            plain &= !params.is_empty() || !is_inner(form, body);
        }
    }
    plain
}

/// Whether a loop that carries nothing goes in lanes itself.
fn is_inner(form: &LoopForm<Mem>, body: &Body<Mem>) -> bool {
    match form {
        LoopForm::For { index, .. } => is_independent(*index, body),
        LoopForm::While(_) => false,
    }
}

/// By how much a number grows with the index of a loop; nothing if that is not known or not constant.
fn slope(
    a: Atom,
    index: Var,
    inside: &BTreeSet<Var>,
    defs: &BTreeMap<Var, (ScalarOp, &[Atom])>,
) -> Option<i64> {
    let Atom::Var(v) = a else { return Some(0) };
    if v == index {
        return Some(1);
    }
    if !inside.contains(&v) {
        return Some(0);
    }
    let (ScalarOp::Bin(op, ScalarType::I64), &[a, b]) = *defs.get(&v)? else {
        return None;
    };
    let [x, y] = [a, b].map(|a| slope(a, index, inside, defs));
    let (x, y) = (x?, y?);
    if op == BinOp::Add {
        return x.checked_add(y);
    }
    if op == BinOp::Sub {
        return x.checked_sub(y);
    }
    match (a.as_i64(), b.as_i64()) {
        (Some(k), _) if op == BinOp::Mul => k.checked_mul(y),
        (_, Some(k)) if op == BinOp::Mul => k.checked_mul(x),
        (_, _) => (x == 0 && y == 0).then_some(0),
    }
}
