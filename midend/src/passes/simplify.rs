//! Simplification in one walk over the program: copies, constants and identities, common subexpressions, checks.
//!
//! ```text
//! loop (m = n) for i < n {               loop () for i < n {
//!   let k = m
//!   let a = add.i64(i, 0)
//!   let b = le.i64(0, a)          ──►
//!   let c = lt.i64(a, k)
//!   let d = and.bool(b, c)
//!   let ok = assert d
//!   let x = <ok> index xs[a]               let x = index xs[i]
//!   yield m                                yield
//! }                                      }
//! ```
//!
//! Statements are met in order, operands are replaced by what is known of them, and what is known of a statement is kept
//! for those that follow in its scope. So one walk does what several rounds of separate passes would. Each rule can
//! be run alone as a pass of its own (`copies`, `fold`, `cse`, `checks`, `branches`) to see what it does, and be left out by that name.
//!
//! A statement with certificates is not replaced by something that those who use its result could be moved by
//! away from the checks: see [`Simplify::define`]. The walk is linear in the size of the program.

mod array;
mod bodies;
mod branches;
mod calls;
mod checks;
mod control;
mod cse;
mod places;
mod scalar;
mod scoped;

use crate::analysis::ranges::Ranges;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, SpanId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::BinOp;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Program, Stm, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::deep;
use crate::pass::{Options, Pass, PassCx};
use calls::Functions;
pub(super) use calls::agreed;
use scoped::Scoped;
use std::rc::Rc;

/// All rules.
pub const fn pass<D: Dialect>() -> Pass<D> {
    Pass {
        name: "simplify",
        summary: "copies, constants, identities, common subexpressions and checks, in one walk",
        run: |program, cx: &mut PassCx<'_>| run(program, Rules::but(cx.options)),
    }
}

/// Uses of a copy become uses of what it copies.
pub const fn copies<D: Dialect>() -> Pass<D> {
    Pass {
        name: "copies",
        summary: "uses of a copy become uses of what it copies",
        run: |program, _: &mut PassCx<'_>| {
            let copies = true;
            run(
                program,
                Rules {
                    copies,
                    ..Rules::NONE
                },
            )
        },
    }
}

/// Constants, algebraic identities, branches and loops that are decided.
pub const fn fold<D: Dialect>() -> Pass<D> {
    Pass {
        name: "fold",
        summary: "constants, algebraic identities, branches and loops that are decided",
        run: |program, _: &mut PassCx<'_>| {
            let fold = true;
            run(
                program,
                Rules {
                    fold,
                    ..Rules::NONE
                },
            )
        },
    }
}

/// What was computed before is not computed again.
pub const fn cse<D: Dialect>() -> Pass<D> {
    Pass {
        name: "cse",
        summary: "what was computed before is not computed again",
        run: |program, _: &mut PassCx<'_>| {
            let cse = true;
            run(program, Rules { cse, ..Rules::NONE })
        },
    }
}

/// Checks that are seen to hold, or were made before, go.
pub const fn checks<D: Dialect>() -> Pass<D> {
    Pass {
        name: "checks",
        summary: "checks that are seen to hold, or were made before, go",
        run: |program, _: &mut PassCx<'_>| {
            let checks = true;
            run(
                program,
                Rules {
                    checks,
                    ..Rules::NONE
                },
            )
        },
    }
}

/// Conditionals on one condition become one.
pub const fn branches<D: Dialect>() -> Pass<D> {
    Pass {
        name: "branches",
        summary: "conditionals on one condition become one",
        run: |program, _: &mut PassCx<'_>| {
            let branches = true;
            run(
                program,
                Rules {
                    branches,
                    ..Rules::NONE
                },
            )
        },
    }
}

/// Which rules to use.
#[derive(Clone, Copy, Debug)]
struct Rules {
    copies: bool,
    fold: bool,
    cse: bool,
    checks: bool,
    branches: bool,
}

impl Rules {
    /// All but those that are to be done without.
    fn but(options: &Options) -> Self {
        Self {
            copies: !options.is_without("copies"),
            fold: !options.is_without("fold"),
            cse: !options.is_without("cse"),
            checks: !options.is_without("checks"),
            branches: !options.is_without("branches"),
        }
    }
    const NONE: Self = Self {
        copies: false,
        fold: false,
        cse: false,
        checks: false,
        branches: false,
    };
}

fn run<D: Dialect>(mut program: Program<D>, rules: Rules) -> Program<D> {
    let functions = if rules.fold {
        Functions::of(&program)
    } else {
        Functions::default()
    };
    let Program { vars, funs, .. } = &mut program;
    for (i, fun) in funs.iter_mut().enumerate() {
        let mut cx = Simplify::new(vars, rules, &functions);
        cx.parameters(FunId::new(i), fun);
        cx.function(fun);
    }
    program
}

/// Simplifies a function by itself, with all rules but those that are to be done without.
pub(super) fn alone<D: Dialect>(vars: &mut Vars, fun: &mut Fun<D>, options: &Options) {
    Simplify::new(vars, Rules::but(options), &Functions::default()).function(fun);
}

/// How a variable was computed: an expression without bodies, and the certificates that it needed.
#[derive(Clone, Debug)]
struct Def<D> {
    exp: Exp<D>,
    certs: Vec<Var>,
}

/// What is known at the statement at hand.
struct Simplify<'v, D> {
    vars: &'v mut Vars,
    rules: Rules,
    /// What variables are replaced by, wherever they appear from here on.
    subst: Subst,
    defs: HashMap<Var, Def<D>>,
    /// Conditionals that are conjunctions or disjunctions, whose second part is computed only where the first does not decide.
    choices: HashMap<Var, (BinOp, [Atom; 2])>,
    /// Truth values that the branch at hand rests on.
    known: Scoped<Var, bool>,
    /// Expressions that were computed, with the variable and its certificates.
    seen: Scoped<cse::Key, Var>,
    /// Statements with bodies.
    bodies: Scoped<bodies::Outline, Rc<Stm<D>>>,
    /// Conditions that were checked, with the certificate.
    asserted: Scoped<Atom, Var>,
    /// Certificates of checks that are gone, with those that prove the same.
    proofs: HashMap<Var, Vec<Var>>,
    ranges: Ranges,
    /// Ranges that operators traverse and nothing else reads, those that were computed, and which earlier one each is equal to.
    only_traversed: HashSet<Var>,
    traversed: Scoped<cse::Range, Var>,
    equal_ranges: HashMap<Var, Var>,
    functions: &'v Functions,
}

impl<'v, D: Dialect> Simplify<'v, D> {
    fn new(vars: &'v mut Vars, rules: Rules, functions: &'v Functions) -> Self {
        Self {
            vars,
            rules,
            subst: Subst::new(),
            defs: HashMap::default(),
            choices: HashMap::default(),
            known: Scoped::default(),
            seen: Scoped::default(),
            bodies: Scoped::default(),
            asserted: Scoped::default(),
            proofs: HashMap::default(),
            ranges: Ranges::new(),
            only_traversed: HashSet::default(),
            traversed: Scoped::default(),
            equal_ranges: HashMap::default(),
            functions,
        }
    }

    fn function(&mut self, fun: &mut Fun<D>) {
        if self.rules.cse {
            self.only_traversed = cse::only_traversed(self.vars, &fun.body);
        }
        let params: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
        self.ranges.sizes(self.vars, &params);
        self.body(&mut fun.body);
    }

    /// Simplifies a body in a scope of its own.
    fn body(&mut self, body: &mut Body<D>) {
        self.scope(|cx| {
            let stms = std::mem::take(&mut body.stms);
            cx.stms(stms, &mut body.stms);
            for a in &mut body.result {
                *a = cx.atom(*a);
            }
        });
    }

    /// Runs `f`; what it learns of its scope is forgotten.
    fn scope(&mut self, f: impl FnOnce(&mut Self)) {
        let marks = (self.known.mark(), self.seen.mark(), self.asserted.mark());
        let (bodies, traversed) = (self.bodies.mark(), self.traversed.mark());
        let ranges = self.ranges.mark();
        f(self);
        self.ranges.undo(ranges);
        self.known.undo(marks.0);
        self.seen.undo(marks.1);
        self.asserted.undo(marks.2);
        self.bodies.undo(bodies);
        self.traversed.undo(traversed);
    }

    fn stms(&mut self, stms: Vec<Stm<D>>, out: &mut Vec<Stm<D>>) {
        let mut branches = self.branches_of(&stms);
        let mut stms: Vec<Option<Stm<D>>> = stms.into_iter().map(Some).collect();
        for at in 0..stms.len() {
            let Some(mut stm) = stms[at].take() else {
                continue;
            };
            if let Some(branches) = &mut branches {
                self.fuse_branches(branches, at, &mut stm, &mut stms);
            }
            let names = branches.is_some().then(|| stm.binds.clone());
            self.head(&mut stm);
            deep(|| self.stm(stm, out));
            if let (Some(branches), Some(names)) = (&mut branches, names) {
                self.bound(branches, &names);
            }
        }
    }

    /// What an atom is replaced by.
    fn atom(&self, a: Atom) -> Atom {
        match self.subst.atom(a) {
            Atom::Var(v) => self.known.get(&v).map_or(Atom::Var(v), |b| Atom::bool(*b)),
            constant @ Atom::Const(_) => constant,
        }
    }

    /// Replaces operands, certificates and sizes of a statement, not what is in its bodies.
    fn head(&mut self, stm: &mut Stm<D>) {
        self.prove_certs(&mut stm.certs);
        let (subst, known) = (&self.subst, &self.known);
        stm.exp.map_operands(&mut |a| match subst.atom(a) {
            Atom::Var(v) => known.get(&v).map_or(Atom::Var(v), |b| Atom::bool(*b)),
            constant @ Atom::Const(_) => constant,
        });
        for v in &stm.binds {
            rename::substitute_type(self.vars, &self.subst, *v);
        }
        stm.exp
            .inner_binders(&mut |v| rename::substitute_type(self.vars, &self.subst, v));
    }

    fn stm(&mut self, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        match (&stm.exp, &stm.binds[..]) {
            (Exp::Atom(a), &[v]) if self.rules.copies || self.rules.fold => {
                self.define(v, *a, stm.certs, stm.span, out);
            }
            (Exp::Scalar(..), &[v]) => self.scalar(v, stm, out),
            (Exp::Assert { cond, .. }, &[v]) => {
                let cond = *cond;
                self.check(v, cond, stm, out);
            }
            (Exp::If { .. }, _) => self.conditional(stm, out),
            (Exp::Loop { .. }, _) => self.looping(stm, out),
            (Exp::Op(_), _) => self.op(stm, out),
            (Exp::Call { .. }, _) => self.call(stm, out),
            (Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. }, _) => {
                self.keep(stm, out);
            }
        }
    }

    /// Appends a statement as it is, and learns what its types say.
    fn keep(&mut self, stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        self.ranges.sizes(self.vars, &stm.binds);
        out.push(stm);
    }

    /// The variable has the value of an atom. Where the statement needed certificates a copy stays, so that who uses the
    /// variable stays behind the checks. Buffers are counted by name, so that each name stays.
    fn define(&mut self, v: Var, a: Atom, certs: Vec<Var>, span: SpanId, out: &mut Vec<Stm<D>>) {
        if certs.is_empty() && !matches!(self.vars[v].ty, Type::Buffer(_)) {
            fired("copies/copy");
            self.subst.insert(v, a);
            return;
        }
        out.push(Stm {
            binds: vec![v],
            certs,
            exp: Exp::Atom(a),
            span,
        });
    }

    /// A scalar operation.
    fn scalar(&mut self, v: Var, mut stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        // Each rule takes a step; a few steps are enough.
        for _ in 0..4 {
            let Exp::Scalar(op, args) = &stm.exp else {
                break;
            };
            if !self.rules.fold {
                break;
            }
            match self.fold_scalar(*op, args) {
                Some(Exp::Atom(a)) => return self.define(v, a, stm.certs, stm.span, out),
                Some(exp) => stm.exp = exp,
                None => break,
            }
        }
        if let Some(same) = self.seen_before(v, &stm) {
            self.subst.insert(v, same);
            return;
        }
        self.ranges.define(v, &stm.exp);
        self.remember(v, &stm);
        out.push(stm);
    }

    /// An operation of the dialect.
    fn op(&mut self, mut stm: Stm<D>, out: &mut Vec<Stm<D>>) {
        if let &[v] = &stm.binds[..] {
            if self.rules.fold
                && let Some(a) = self.fold_array(v, &mut stm, out)
            {
                return self.define(v, a, stm.certs, stm.span, out);
            }
            if let Some(same) = self.seen_before(v, &stm) {
                self.subst.insert(v, same);
                return;
            }
            self.note_range(v, &stm.exp);
            self.remember(v, &stm);
        }
        if let Exp::Op(op) = &mut stm.exp {
            self.scope(|cx| {
                op.index_bounds(&mut |i, n| cx.ranges.index(i, n));
                op.elements(&mut |x, array| {
                    if let Some(n) = iota_length(cx.defs.get(&array)) {
                        cx.ranges.index(x, n);
                    }
                });
                op.scopes_mut(&mut |_, body| cx.body(body));
            });
        }
        if self.is_repeated(&stm) {
            return;
        }
        self.keep(stm, out);
    }

    /// Keeps the definition of a variable if there is something to learn from it later.
    fn remember(&mut self, v: Var, stm: &Stm<D>) {
        let worth = match &stm.exp {
            Exp::Scalar(..) => true,
            Exp::Op(op) => op.as_array().is_some(),
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => false,
        };
        if worth {
            let (exp, certs) = (stm.exp.clone(), stm.certs.clone());
            self.defs.insert(v, Def { exp, certs });
        }
    }
}

/// The length of `0, 1, ..` in `i64`.
fn iota_length<D: Dialect>(def: Option<&Def<D>>) -> Option<Atom> {
    let Exp::Op(op) = &def?.exp else { return None };
    match op.as_array()? {
        ArrayOp::Iota {
            len,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: ScalarType::I64,
        } => Some((*len).into()),
        ArrayOp::Iota { .. }
        | ArrayOp::Index { .. }
        | ArrayOp::Slice { .. }
        | ArrayOp::Update { .. }
        | ArrayOp::Literal { .. }
        | ArrayOp::Replicate { .. }
        | ArrayOp::Scratch { .. }
        | ArrayOp::Copy(_)
        | ArrayOp::Concat { .. }
        | ArrayOp::Rearrange { .. }
        | ArrayOp::Reshape { .. }
        | ArrayOp::Manifest { .. }
        | ArrayOp::Trace(_)
        | ArrayOp::Stream(_) => None,
    }
}
