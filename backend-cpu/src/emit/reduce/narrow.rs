//! Reductions that choose among points and keep their places, with places of 32 bits where all of them fit: a register holds as many of
//! these as of what is compared.
//!
//! ```text
//! segred (i < n) { (i, xs[i]) } (\(i, x) (j, y) -> if x < y || x == y && i < j then (i, x) else (j, y)) (n, inf)
//!   ──►   if n < 2^31 - 1 then the same of (i32 i, xs[i]) with (i32 n, inf), whose first result becomes an i64, else as it is
//! ```
//!
//! Lanes go from point to point, so that once they have seen one they need not ask which of two places is less (`order.rs`).

use super::order::in_order;
use crate::emit::lanes::{Plan, plan_reduction};
use crate::emit::{Emit, block_args, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::rename::{self, Subst};
use midend::ir::scalar::ScalarOp;
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use midend::ir::types::{ScalarType, Type};
use std::collections::BTreeSet;

/// The places that have 32 bits, but for the greatest number of these.
const PLACES: i64 = (1 << 31) - 1;

/// A reduction with places of 32 bits.
pub(in crate::emit) struct Narrow {
    /// The variables of the program, and some more.
    pub(in crate::emit) vars: Vars,
    kernel: Kernel,
    ops: Vec<Operator<Mem>>,
    /// What lanes do that have seen a point, whose place is less than those to come.
    later: Vec<Operator<Mem>>,
    /// Which results are places.
    places: Vec<bool>,
}

/// The same reduction with places of 32 bits, if that gains: points yield their number, operators only compare and choose, and nothing
/// else that they choose among has 64 bits.
pub(in crate::emit) fn narrow(
    vars: &Vars,
    kernel: &Kernel,
    ops: &[Operator<Mem>],
) -> Option<Narrow> {
    if !matches!(kernel.kind, KernelKind::Red { .. }) || kernel.is_ragged() {
        return None;
    }
    let (index, _) = *kernel.space.last()?;
    let results = kernel.body.result.iter();
    let places: Vec<bool> = results.map(|atom| *atom == Atom::Var(index)).collect();
    if !places.contains(&true) {
        return None;
    }
    let mut more = vars.clone();
    let fresh = |vars: &mut Vars, name: &str| {
        let (name, ty) = (name.into(), Type::Scalar(ScalarType::I32));
        vars.push(VarInfo { name, ty })
    };
    let span = kernel.body.stms.first()?.span;
    let mut stms = kernel.body.stms.clone();
    let place = fresh(&mut more, "place");
    let convert = ScalarOp::Convert(ScalarType::I64, ScalarType::I32);
    stms.push(Stm {
        binds: vec![place],
        certs: Vec::new(),
        exp: Exp::Scalar(convert, vec![index.into()]),
        span,
    });
    let results = kernel.body.result.iter().zip(&places);
    let result = results.map(|(atom, is_place)| if *is_place { place.into() } else { *atom });
    let result = result.collect();
    let mut first = 0;
    let mut narrowed = Vec::new();
    let mut changed = BTreeSet::new();
    for op in ops {
        let mine = &places[first..first + op.neutral.len()];
        first += op.neutral.len();
        let mut op = Operator {
            lam: rename::lambda(&mut more, &mut Subst::new(), &op.lam),
            ..op.clone()
        };
        let both = mine.iter().chain(mine);
        let params = op.lam.params.iter().zip(both);
        let mut known: BTreeSet<Var> = params.filter(|(_, is)| **is).map(|(v, _)| *v).collect();
        body(&mut op.lam.body, &mut known)?;
        for (result, is_place) in op.lam.body.result.iter().zip(mine) {
            let is_known = result.as_var().is_some_and(|v| known.contains(&v));
            if is_known != *is_place {
                return None;
            }
        }
        changed.extend(known);
        let mut neutral = Vec::new();
        for (atom, is_place) in op.neutral.iter().zip(mine) {
            neutral.push(match is_place {
                true => fresh(&mut more, "neutral").into(),
                false => *atom,
            });
        }
        op.neutral = neutral;
        narrowed.push(op);
    }
    for var in changed {
        more[var].ty = Type::Scalar(ScalarType::I32);
    }
    let wide = |v: &Var| more[*v].ty.elem().is_none_or(|ty| ty.bytes() > 4);
    if narrowed.iter().any(|op| op.lam.params.iter().any(wide)) {
        return None;
    }
    let KernelKind::Red { outs, .. } = &kernel.kind else {
        return None;
    };
    let (outs, ops) = (outs.clone(), narrowed.clone());
    let kernel = Kernel {
        body: Body { stms, result },
        kind: KernelKind::Red { ops, outs },
        ..kernel.clone()
    };
    let mut first = 0;
    let later = narrowed.iter().map(|op| {
        let mine = &places[first..first + op.neutral.len()];
        first += op.neutral.len();
        in_order(op, mine).unwrap_or_else(|| op.clone())
    });
    Some(Narrow {
        vars: more,
        kernel,
        later: later.collect(),
        ops: narrowed,
        places,
    })
}

/// Makes what compares and chooses places do so with 32 bits; nothing if anything else is done. `known` are the places.
fn body(body_: &mut Body<Mem>, known: &mut BTreeSet<Var>) -> Option<()> {
    let is = |known: &BTreeSet<Var>, atom: &Atom| atom.as_var().is_some_and(|v| known.contains(&v));
    for stm in &mut body_.stms {
        match &mut stm.exp {
            Exp::Scalar(ScalarOp::Cmp(_, ty), args) if args.iter().any(|a| is(known, a)) => {
                args.iter().all(|a| is(known, a)).then_some(())?;
                *ty = ScalarType::I32;
            }
            Exp::Scalar(ScalarOp::Select(ty), args) if args.iter().any(|a| is(known, a)) => {
                args[1..].iter().all(|a| is(known, a)).then_some(())?;
                *ty = ScalarType::I32;
                known.extend(&stm.binds);
            }
            Exp::Scalar(_, args) => args.iter().all(|a| !is(known, a)).then_some(())?,
            Exp::Atom(atom) if is(known, atom) => known.extend(&stm.binds),
            Exp::Atom(_) => {}
            Exp::If {
                then, otherwise, ..
            } => {
                body(then, known)?;
                body(otherwise, known)?;
                for (k, bind) in stm.binds.iter().enumerate() {
                    match [&*then, &*otherwise].map(|side| is(known, &side.result[k])) {
                        [true, true] => {
                            known.insert(*bind);
                        }
                        [false, false] => {}
                        [true, false] | [false, true] => return None,
                    }
                }
            }
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        }
    }
    Some(())
}

impl Narrow {
    /// The plan for it, if each lane chooses on its own.
    fn plan(&self, vars: &Vars, asked: usize) -> Option<Plan> {
        let plan = plan_reduction(&self.kernel, &self.ops, vars, asked)?;
        plan.own_sums.then_some(plan)
    }
}

impl Emit<'_, '_> {
    /// Parameters as those of other reductions.
    pub(in crate::emit) fn reduce_narrow(
        &mut self,
        (kernel, ops): (&Kernel, &[Operator<Mem>]),
        narrow: &Narrow,
        p: &[Value],
    ) {
        let vars = self.vars;
        let Some(plan) = narrow.plan(vars, self.asked) else {
            return self.reduce(kernel, ops, p);
        };
        self.parts = plan.parts;
        self.in_lanes = true;
        fired("cpu/narrow-places");
        if narrow.later != narrow.ops {
            fired("cpu/places-in-order");
        }
        let tys = crate::emit::kernel::components(self.vars, ops);
        let places = self.places(p[5], tys.len());
        let neutral = self.neutral(ops);
        // All places are less than the greatest number of 32 bits. That of none compares with them as the nearest such number does.
        let most = self.i64(PLACES);
        let fit = IntCC::SignedLessThan;
        let all = self.b.ins().icmp(fit, p[4], most);
        let narrowed = narrow.ops.iter().flat_map(|op| &op.neutral);
        let mut nearest = Vec::new();
        for ((atom, value), is_place) in narrowed.zip(&neutral).zip(&narrow.places) {
            let [least, most] = [i32::MIN, i32::MAX].map(|n| self.i64(n.into()));
            nearest.push(atom.as_var().filter(|_| *is_place).map(|var| {
                let near = self.b.ins().smax(*value, least);
                let near = self.b.ins().smin(near, most);
                let near = self.b.ins().ireduce(types::I32, near);
                self.bind(var, near);
                near
            }));
        }
        let (_, outer) = kernel
            .space
            .split_last()
            .expect("reductions have a dimension");
        self.walk(outer, (p[1], p[2]), super::ROWS, |emit, flat| {
            let [short, long, done] = [(); 3].map(|()| emit.b.create_block());
            let clifs: Vec<_> = tys.iter().map(|ty| clif(*ty)).collect();
            let sums = emit.params(done, &clifs);
            emit.b.ins().brif(all, short, &[], long, &[]);
            emit.b.switch_to_block(short);
            let range = (p[3], p[4]);
            let both = (&narrow.ops[..], &narrow.later[..]);
            let mut found = emit.reduce_row(&narrow.kernel, both, Some(&plan), range);
            for ((sum, near), neutral) in found.iter_mut().zip(&nearest).zip(&neutral) {
                if let Some(near) = near {
                    let place = emit.b.ins().sextend(types::I64, *sum);
                    let is_none = emit.b.ins().icmp(IntCC::Equal, *sum, *near);
                    *sum = emit.b.ins().select(is_none, *neutral, place);
                }
            }
            emit.b.ins().jump(done, &block_args(found));
            emit.b.switch_to_block(long);
            let found = emit.reduce_row(kernel, (ops, ops), None, range);
            emit.b.ins().jump(done, &block_args(found));
            emit.b.switch_to_block(done);
            for ((sum, place), ty) in sums.into_iter().zip(&places).zip(&tys) {
                let target = emit.element(*place, *ty, flat);
                emit.b.ins().store(plain(), sum, target, 0);
            }
        });
    }
}
