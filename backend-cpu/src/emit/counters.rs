//! Loops that count how often a comparison of numbers of 64 bits holds have counters of as many bits, so that lanes need not put masks of two
//! registers together.
//!
//! ```text
//! loop (n: i32 = 0) for i < 20 {                       loop (n: i64 = 0) for i < 20 {
//!   n + convert.bool.i32(lt.f64(x, bounds[i]))   ──►     n + convert.bool.i64(lt.f64(x, bounds[i]))
//! }                                                    }
//! ```
//!
//! The lower half of the counter is what it was before; all of it is, as a number of 64 bits, where there are few steps.

use midend::fired::fired;
use midend::ir::id::{SpanId, Var};
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm, VarInfo, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::{body_uses, deep};

const NARROW: ScalarType = ScalarType::I32;
const WIDE: ScalarType = ScalarType::I64;

/// Counters of 64 bits for those of 32 that count such comparisons.
pub(super) fn widen(vars: &mut Vars, body: &mut Body<Mem>) {
    let mut at = 0;
    while at < body.stms.len() {
        deep(|| {
            let exp = &mut body.stms[at].exp;
            exp.bodies_mut(&mut |inner| widen(vars, inner));
        });
        let mut behind = at + 1;
        while let Some(counter) = counter(vars, &body.stms[at]) {
            fired("cpu/wide-counters");
            let (result, short) = (counter.result, counter.short);
            let wide = counter.replace(vars, &mut body.stms[at]);
            for later in &mut body.stms[behind..] {
                let lower = [Atom::Var(result)];
                let widens = matches!(&later.exp, Exp::Scalar(ScalarOp::Convert(NARROW, WIDE), args)
                    if args[..] == lower);
                if widens && short {
                    later.exp = Exp::Atom(wide.into());
                }
            }
            if uses(vars, body, result) > 0 {
                let lower = Exp::Scalar(ScalarOp::Convert(WIDE, NARROW), vec![wide.into()]);
                let lower = bound(result, lower, body.stms[at].span);
                body.stms.insert(behind, lower);
                behind += 1;
            }
        }
        at = behind;
    }
}

fn bound(bind: Var, exp: Exp<Mem>, span: SpanId) -> Stm<Mem> {
    Stm {
        binds: vec![bind],
        certs: Vec::new(),
        exp,
        span,
    }
}

/// How often a variable is used in a body.
fn uses(vars: &Vars, body: &Body<Mem>, of: Var) -> usize {
    let mut count = 0;
    body_uses(vars, body, &mut |v| count += usize::from(v == of));
    count
}

/// A counter of a loop.
struct Counter {
    /// Which of the parameters it is, and what the loop yields of it.
    which: usize,
    result: Var,
    /// What it begins with.
    init: i64,
    /// Where the comparison becomes a number, where that is added, and the comparison.
    places: (usize, usize),
    truth: Atom,
    /// Whether it is never beyond 32 bits.
    short: bool,
}

/// A counter of a loop that counts comparisons of numbers of 64 bits.
fn counter(vars: &Vars, stm: &Stm<Mem>) -> Option<Counter> {
    let Exp::Loop {
        params,
        form: LoopForm::For { bound, .. },
        body,
    } = &stm.exp
    else {
        return None;
    };
    let defined = |atom: Atom| {
        let v = atom.as_var()?;
        let at = body.stms.iter().position(|stm| stm.binds == [v])?;
        match &body.stms[at].exp {
            Exp::Scalar(op, args) => Some((at, *op, &args[..])),
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    };
    let counter = |which: usize| {
        let (param, next) = (&params[which], body.result[which]);
        let Atom::Const(Const::I32(init)) = param.init else {
            return None;
        };
        let (sum, op, args) = defined(next)?;
        if op != ScalarOp::Bin(BinOp::Add, NARROW) {
            return None;
        }
        let count = Atom::Var(param.var);
        let one = *args.iter().find(|arg| **arg != count)?;
        let (one, op, of) = defined(one).filter(|_| args.contains(&count))?;
        if op != ScalarOp::Convert(ScalarType::Bool, NARROW) {
            return None;
        }
        let (_, ScalarOp::Cmp(_, ty), _) = defined(of[0])? else {
            return None;
        };
        let alone = uses(vars, body, param.var) == 1 && uses(vars, body, next.as_var()?) == 1;
        let most = bound.as_i64().map(|steps| steps.max(0));
        let most = most.and_then(|steps| steps.checked_add(i64::from(init)));
        (ty.bytes() == 8 && alone).then_some(Counter {
            which,
            result: stm.binds[which],
            init: i64::from(init),
            places: (one, sum),
            truth: of[0],
            short: most.is_some_and(|most| i32::try_from(most).is_ok()),
        })
    };
    (0..params.len()).find_map(counter)
}

impl Counter {
    /// Has the loop count in 64 bits. Yields its result.
    fn replace(self, vars: &mut Vars, of: &mut Stm<Mem>) -> Var {
        let mut number = |name: &str| {
            let (name, ty) = (name.into(), Type::Scalar(WIDE));
            vars.push(VarInfo { name, ty })
        };
        let [count, one, next, all] = ["count", "one", "next", "all"].map(&mut number);
        let Exp::Loop { params, body, .. } = &mut of.exp else {
            unreachable!("counters are of loops");
        };
        let param = &mut params[self.which];
        (param.var, param.init) = (count, Atom::Const(Const::I64(self.init)));
        let (first, sum) = self.places;
        let short = body.stms[first].binds[0];
        let span = body.stms[sum].span;
        let convert = ScalarOp::Convert(ScalarType::Bool, WIDE);
        let add = ScalarOp::Bin(BinOp::Add, WIDE);
        let both = [
            bound(one, Exp::Scalar(convert, vec![self.truth]), span),
            bound(next, Exp::Scalar(add, vec![count.into(), one.into()]), span),
        ];
        body.stms.splice(sum..=sum, both);
        body.result[self.which] = next.into();
        if uses(vars, body, short) == 0 {
            body.stms.remove(first);
        }
        of.binds[self.which] = all;
        all
    }
}
