//! What does not vary in a loop or lambda is computed before it: scalars, views of whole arrays, and checks.
//!
//! ```text
//! map n (xs) \(x) {                          let m1 = add.i64(m, 1)
//!   let m1 = add.i64(m, 1)                   let c = le.i64(0, m1)
//!   let c = le.i64(0, m1)                    let e = le.i64(n, 0)
//!   let ok = assert c            ──►         let d = or.bool(c, e)
//!   ..                                       let ok = assert d
//! }                                          map n (xs) \(x) { .. }
//! ```
//!
//! A check may only report what the program would have reported: before the loop it holds, too, if the loop does
//! nothing. Inside of the loop the certificate then proves the condition itself. Checks leave maps and counted loops, not
//! `while` loops, operators or branches. What is costly leaves the branches of loops and lambdas, too, where it is computed whether it is needed
//! or not; a divisor that may be zero is replaced by one there. Nothing else that could fail, or that makes an array, is moved in this way: an index is not
//! in range, and a size may be negative, where nothing is executed. [Whole](whole) loops, calls and parallel operations are.
//!
//! Maps without checks between them nest perfectly, which is what flattening looks for. Inner bodies come before outer
//! ones, so that one walk moves everything as far as it goes.

mod whole;

use crate::analysis::calls::spread;
use crate::analysis::totality::is_total;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::interp::scalar::convert::convert;
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, IdVec, SpanId, Var};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, Program, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{deep, type_vars};
use crate::pass::Pass;
use crate::plan::additions;
use whole::Guarded;

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "hoist",
    summary: "what does not vary in a loop or lambda is computed before it, checks among it",
    run: |program, _| run(program),
};

fn run(program: Program<Soac>) -> Program<Soac> {
    let shows = spread(&program.funs, |id, facts| {
        let body = &program.funs[id].body;
        body.stms.iter().any(|stm| whole::shows(stm, facts))
    });
    let mut unique = program.funs.clone();
    for fun in unique.iter_mut() {
        fun.body.stms.clear();
    }
    program.map_funs(|vars, fun| {
        let mut hoist = Hoist {
            vars,
            unique: &unique,
            shows: &shows,
        };
        hoist.body(&mut fun.body);
    })
}

/// How often the body of a statement is executed.
#[derive(Clone, Copy)]
enum Trips {
    /// As often as the atom says, never if it is not positive.
    Count(Atom),
    /// Perhaps never, and not known.
    Unknown,
}

struct Hoist<'v> {
    vars: &'v mut Vars,
    /// The functions without their bodies: which parameters they consume.
    unique: &'v IdVec<FunId, Fun<Soac>>,
    /// Which functions show something.
    shows: &'v [bool],
}

/// Additions that an operation costs at least that leaves branches.
const COSTLY: f64 = 4.0;

/// How often what leaves a body is looked for again, since more may leave after it.
const ROUNDS: usize = 4;

impl Hoist<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        let mut out = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            deep(|| self.inside(&mut stm, &mut out));
            out.push(stm);
        }
        body.stms = out;
    }

    /// Moves what can be moved out of the bodies of a statement.
    fn inside(&mut self, stm: &mut Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let mut bound: HashSet<Var> = HashSet::default();
        stm.exp.inner_binders(&mut |v| {
            bound.insert(v);
        });
        let certs = stm.certs.clone();
        let from = out.len();
        let once = Trips::Count(Atom::i64(1));
        match &mut stm.exp {
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Call { .. } => {}
            Exp::If {
                cond: _,
                then,
                otherwise,
            } => {
                self.body(then);
                self.body(otherwise);
            }
            Exp::Loop { params, form, body } => {
                let trips = match form {
                    LoopForm::For { index: _, bound } => Trips::Count(*bound),
                    LoopForm::While(cond) => {
                        self.lift(cond, (Trips::Unknown, once), (&bound, false), out);
                        Trips::Unknown
                    }
                };
                let around = self.lift(body, (trips, trips), (&bound, true), out);
                let inits = params.iter().map(|param| param.init).collect();
                if let Some(guarded) = around {
                    guarded.around(self, stm, inits);
                }
            }
            Exp::Op(op) => {
                let count = width(op);
                let mut first = true;
                op.scopes_mut(&mut |_, body| {
                    // The lambda comes first and is executed for each element, the operators are not.
                    let trips = match count {
                        Some(n) if first => Trips::Count(n),
                        Some(_) | None => Trips::Unknown,
                    };
                    first = false;
                    self.lift(body, (trips, trips), (&bound, false), out);
                });
            }
        }
        // What protected the loop protects what came out of it and may fail.
        for lifted in &mut out[from..] {
            let may_fail = match &lifted.exp {
                Exp::Assert { .. } | Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } => true,
                Exp::Op(op) => !matches!(op.as_array(), Some(ArrayOp::Rearrange { .. })),
                Exp::Scalar(op, args) => !is_total(*op, args),
                Exp::Atom(_) | Exp::Guard { .. } => false,
            };
            for cert in &certs {
                if may_fail && !lifted.certs.contains(cert) {
                    lifted.certs.push(*cert);
                }
            }
        }
    }

    /// Hoists inside of a body, then moves from its top to `out` what does not depend on anything bound in it.
    /// `trips` tell how often its checks, and how often its costly statements are executed.
    fn lift(
        &mut self,
        body: &mut Body<Soac>,
        (checks, trips): (Trips, Trips),
        (bound, is_loop): (&HashSet<Var>, bool),
        out: &mut Vec<Stm<Soac>>,
    ) -> Option<Guarded> {
        self.body(body);
        for _ in 0..ROUNDS {
            self.cheap(body, checks, bound, out);
            let (moved, around) = self.whole(body, trips, (bound, is_loop), out);
            if !moved || around.is_some() {
                return around;
            }
        }
        None
    }

    /// Moves scalars, views and checks from the top of a body to `out` that do not depend on anything bound in it.
    fn cheap(
        &mut self,
        body: &mut Body<Soac>,
        trips: Trips,
        bound: &HashSet<Var>,
        out: &mut Vec<Stm<Soac>>,
    ) {
        let mut inside = bound.clone();
        let mut guard = None;
        body.stms.retain_mut(|stm| {
            if !self.moves(stm, trips, &inside) {
                self.costly(stm, &mut inside, out);
                inside.extend(&stm.binds);
                return true;
            }
            fired(match &stm.exp {
                Exp::Assert { .. } => "hoist/check",
                Exp::Op(_) => "hoist/view",
                Exp::Scalar(..)
                | Exp::Atom(_)
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. } => "hoist/scalar",
            });
            if let (Exp::Assert { cond, .. }, Trips::Count(n)) = (&mut stm.exp, trips) {
                let idle = *guard.get_or_insert_with(|| self.idle(n, stm.span, out));
                *cond = self.either(*cond, idle, stm.span, out);
            }
            out.push(Stm {
                binds: std::mem::take(&mut stm.binds),
                certs: std::mem::take(&mut stm.certs),
                exp: std::mem::replace(&mut stm.exp, Exp::Atom(Atom::ZERO)),
                span: stm.span,
            });
            false
        });
    }

    /// Computes the costly scalars of a statement, and those in its branches, before the body that it is in.
    fn costly(&mut self, stm: &mut Stm<Soac>, inside: &mut HashSet<Var>, out: &mut Vec<Stm<Soac>>) {
        match &mut stm.exp {
            Exp::If {
                then, otherwise, ..
            } => {
                for inner in then.stms.iter_mut().chain(&mut otherwise.stms) {
                    deep(|| self.costly(inner, inside, out));
                    inside.extend(&inner.binds);
                }
            }
            Exp::Scalar(op, args)
                if additions(*op) >= COSTLY && !args.iter().any(|a| is_in(*a, inside)) =>
            {
                let Some(args) = self.total_operands(*op, args, stm.span, out) else {
                    return;
                };
                fired("hoist/costly");
                let v = self.emit("t", *op, args, stm.span, out);
                stm.exp = Exp::Atom(v);
            }
            Exp::Scalar(..)
            | Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        }
    }

    /// The operands of an operation, such that it has a value.
    fn total_operands(
        &mut self,
        op: ScalarOp,
        args: &[Atom],
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Option<Vec<Atom>> {
        if is_total(op, args) {
            return Some(args.to_vec());
        }
        let (
            ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, ty),
            &[dividend, divisor @ Atom::Var(_)],
        ) = (op, args)
        else {
            return None;
        };
        let [zero, one] = [0, 1].map(|n| Atom::Const(convert(ty, Const::I64(n))));
        let is_zero = ScalarOp::Cmp(CmpOp::Eq, ty);
        let is_zero = self.emit("t", is_zero, vec![divisor, zero], span, out);
        let args = vec![is_zero, one, divisor];
        let divisor = self.emit("divisor", ScalarOp::Select(ty), args, span, out);
        Some(vec![dividend, divisor])
    }

    /// Whether a statement can stand before the body it is in.
    fn moves(&self, stm: &Stm<Soac>, trips: Trips, inside: &HashSet<Var>) -> bool {
        let kind = match &stm.exp {
            Exp::Scalar(op, args) => is_total(*op, args),
            Exp::Assert { .. } => matches!(trips, Trips::Count(_)),
            Exp::Op(op) => matches!(op.as_array(), Some(ArrayOp::Rearrange { .. })),
            Exp::Atom(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => false,
        };
        let mut free = kind && !stm.certs.iter().any(|cert| inside.contains(cert));
        stm.exp
            .operands(&mut |a| free &= a.as_var().is_none_or(|v| !inside.contains(&v)));
        for v in &stm.binds {
            type_vars(&self.vars[*v].ty, &mut |n| free &= !inside.contains(&n));
        }
        free
    }

    /// Whether a body that is executed `n` times is executed not at all; nothing if it is surely executed.
    fn idle(&mut self, n: Atom, span: SpanId, out: &mut Vec<Stm<Soac>>) -> Option<Atom> {
        if n.as_i64().is_some_and(|n| n > 0) {
            return None;
        }
        let Type::Scalar(ty) = n.ty(self.vars) else {
            return None;
        };
        let zero = convert(ty, Const::I64(0));
        let op = ScalarOp::Cmp(CmpOp::Le, ty);
        Some(self.emit("idle", op, vec![n, zero.into()], span, out))
    }

    fn either(
        &mut self,
        cond: Atom,
        idle: Option<Atom>,
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Atom {
        match idle {
            None => cond,
            Some(idle) => {
                let op = ScalarOp::Bin(BinOp::Or, ScalarType::Bool);
                self.emit("t", op, vec![cond, idle], span, out)
            }
        }
    }

    fn emit(
        &mut self,
        name: &str,
        op: ScalarOp,
        args: Vec<Atom>,
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Atom {
        let v = self.vars.push(VarInfo {
            name: name.into(),
            ty: Type::Scalar(op.result()),
        });
        out.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp: Exp::Scalar(op, args),
            span,
        });
        v.into()
    }
}

fn is_in(a: Atom, inside: &HashSet<Var>) -> bool {
    a.as_var().is_some_and(|v| inside.contains(&v))
}

/// The number of elements that the lambda of an operation is applied to.
fn width(op: &Soac) -> Option<Atom> {
    match op {
        Soac::Array(_) | Soac::UpdateAcc(_) => None,
        Soac::Screma { width, .. }
        | Soac::Hist { width, .. }
        | Soac::Scatter { width, .. }
        | Soac::Filter { width, .. }
        | Soac::FlatMap { width, .. }
        | Soac::WithAcc { width, .. } => Some((*width).into()),
    }
}
