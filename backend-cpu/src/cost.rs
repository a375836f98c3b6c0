//! A rough estimate of what a kernel costs, in nanoseconds per point. Loops count with the values that their bounds
//! have at launch, so the estimate depends on the kernel and on sizes alone.

use midend::analysis::kernels::{callees, kernel_bodies};
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::{BinOp, Const, ScalarOp, TernOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Program};
use midend::ir::types::ScalarType;
use midend::math::{computed_by, definition};
use std::collections::BTreeSet;

/// Iterations of a loop of which nothing is known.
const GUESS: f64 = 32.0;
/// How deep calls are followed.
const DEPTH: usize = 6;

/// What a piece of code costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    fixed: f64,
    loops: Vec<(Trips, Cost)>,
}

/// How often a loop iterates.
#[derive(Clone, Copy, Debug)]
enum Trips {
    Known(f64),
    Argument(usize),
    /// Nobody knows before.
    Guessed,
}

impl Cost {
    /// The cost of a point of a kernel.
    pub(crate) fn of(program: &Program<Mem>, kernel: &Kernel, args: &[Var]) -> Self {
        let model = Model { program, args };
        let mut cost = Self::default();
        for body in kernel_bodies(kernel) {
            cost.add(model.body(body, DEPTH));
        }
        cost.fixed += 0.5;
        cost
    }

    /// The estimate for these arguments.
    pub(crate) fn at(&self, slots: &[u64]) -> f64 {
        let loops = self.loops.iter().map(|(trips, cost)| {
            let trips = match trips {
                Trips::Known(n) => *n,
                Trips::Guessed => GUESS,
                Trips::Argument(i) => slots
                    .get(*i)
                    .map_or(GUESS, |slot| (*slot as i64).max(0) as f64),
            };
            trips * cost.at(slots)
        });
        self.fixed + loops.sum::<f64>()
    }

    /// Whether the estimate does not rest on guesses: how often loops iterate is known.
    pub(crate) fn is_known(&self) -> bool {
        let known = |trips: &Trips| !matches!(trips, Trips::Guessed);
        let mut loops = self.loops.iter();
        loops.all(|(trips, cost)| known(trips) && cost.is_known())
    }

    fn add(&mut self, other: Self) {
        self.fixed += other.fixed;
        self.loops.extend(other.loops);
    }
}

/// What the estimate needs to know.
struct Model<'a> {
    program: &'a Program<Mem>,
    args: &'a [Var],
}

impl Model<'_> {
    fn body(&self, body: &Body<Mem>, depth: usize) -> Cost {
        let mut cost = Cost::default();
        for stm in &body.stms {
            cost.add(self.exp(&stm.exp, depth));
        }
        cost
    }

    fn exp(&self, exp: &Exp<Mem>, depth: usize) -> Cost {
        let fixed = |fixed| Cost {
            fixed,
            loops: Vec::new(),
        };
        match exp {
            Exp::Atom(_) => fixed(0.0),
            Exp::Scalar(op, _) => fixed(scalar(*op)),
            Exp::Assert { .. } | Exp::Guard { .. } => fixed(0.3),
            Exp::If {
                then, otherwise, ..
            } => {
                // Both sides at their full cost would be too much, the dearer one alone is a fair guess.
                let mut sides = [self.body(then, depth), self.body(otherwise, depth)];
                let weigh = |cost: &Cost| cost.fixed + GUESS * cost.loops.len() as f64;
                sides.sort_by(|a, b| weigh(a).total_cmp(&weigh(b)));
                let [_, mut dearer] = sides;
                dearer.fixed += 1.0;
                dearer
            }
            Exp::Loop { form, body, .. } => {
                let mut step = self.body(body, depth);
                step.fixed += 0.5;
                let trips = match form {
                    LoopForm::For { bound, .. } => self.trips(*bound),
                    LoopForm::While(cond) => {
                        step.add(self.body(cond, depth));
                        Trips::Guessed
                    }
                };
                Cost {
                    fixed: 1.0,
                    loops: vec![(trips, step)],
                }
            }
            Exp::Call { fun, .. } if depth > 0 => {
                let definition = &self.program.funs[*fun];
                let mut called = BTreeSet::<FunId>::new();
                callees(&definition.body, &mut called);
                let mut cost = self.body(
                    &definition.body,
                    if called.contains(fun) { 0 } else { depth - 1 },
                );
                cost.fixed += 3.0;
                cost
            }
            // What it calls in turn is not known.
            Exp::Call { .. } => Cost {
                fixed: 100.0,
                loops: vec![(Trips::Guessed, Cost::default())],
            },
            Exp::Op(op) => match op {
                Mem::Alloc { .. } => fixed(2.0),
                Mem::Free(_) | Mem::Apart(_) => fixed(0.0),
                Mem::Load { .. } | Mem::Store { .. } => fixed(0.6),
                Mem::Copy { shape, .. } => {
                    let mut cost = fixed(0.7);
                    for extent in shape.iter().rev() {
                        cost = Cost {
                            fixed: 0.5,
                            loops: vec![(self.trips(*extent), cost)],
                        };
                    }
                    cost
                }
                Mem::Launch(_) | Mem::Trace(_) | Mem::Stream(_) => fixed(0.0),
            },
        }
    }

    fn trips(&self, bound: Atom) -> Trips {
        match bound {
            Atom::Const(Const::I64(n)) => Trips::Known(n.max(0) as f64),
            Atom::Const(Const::I32(n)) => Trips::Known(f64::from(n.max(0))),
            Atom::Const(_) => Trips::Guessed,
            Atom::Var(v) => match self.args.iter().position(|a| *a == v) {
                Some(i)
                    if self.program.vars[v]
                        .ty
                        .elem()
                        .is_some_and(ScalarType::is_integer) =>
                {
                    Trips::Argument(i)
                }
                Some(_) | None => Trips::Guessed,
            },
        }
    }
}

/// The cost of one scalar operation.
fn scalar(op: ScalarOp) -> f64 {
    let half = if op.operand(op.arity() - 1) == ScalarType::F16 {
        4.0
    } else {
        0.0
    };
    if let Some(definition) = definition(computed_by(op)) {
        return half + 0.25 * definition.body.stms.len() as f64;
    }
    half + match op {
        ScalarOp::Bin(op, ty) if crate::calls::binary(op, ty).is_some() => 20.0,
        ScalarOp::Bin(BinOp::Pow, _) => 10.0,
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, _) => 4.0,
        ScalarOp::Tern(TernOp::Fma, _) => 0.5,
        ScalarOp::Convert(..) => 0.7,
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => 0.4,
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Trips};

    #[test]
    fn what_is_guessed_is_told() {
        let step = |fixed| Cost {
            fixed,
            loops: Vec::new(),
        };
        let of = |trips, inner| Cost {
            fixed: 1.0,
            loops: vec![(trips, inner)],
        };
        let known = of(Trips::Known(3.0), of(Trips::Argument(0), step(2.0)));
        assert!(known.is_known());
        assert!((known.at(&[4]) - 28.0).abs() < 1e-9);
        let guessed = of(Trips::Known(3.0), of(Trips::Guessed, step(2.0)));
        assert!(!guessed.is_known());
        assert!((guessed.at(&[4]) - (1.0 + 3.0 * 65.0)).abs() < 1e-9);
    }
}
