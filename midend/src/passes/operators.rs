//! Operators that need not be, and inputs that they need not have.
//!
//! ```text
//! let vs = replicate [n] v
//! map n (xs, vs, xs) \(x, y, z) { .. }       ──►   map n (xs) \(x) { .. with v for y, x for z }
//! let ys = map n (xs) \(x) { yield x }       ──►   let ys = copy xs
//! let ys = map n (xs) \(x) { yield v }       ──►   let ys = replicate [n] v
//! let y = map 1 (xs) f reduce (0) add        ──►   let y = f xs[0]
//! let ys = map 1 (xs) f                      ──►   let ys = literal (f xs[0])
//! let y = map 0 (xs) f reduce (v) add        ──►   let y = v
//! let y = map n (xss) f reduce (v) \(a: [2]t, b: [2]t) { .. }
//!                                            ──►   let y0, y1 = .. reduce (v0, v1) \(a0, a1, b0, b1) { .. }  let y = literal (y0, y1)
//! flat_map n (xs) \(x) { .. yield k, ys }    ──►   reshape [n * k] (map n (xs) \(x) { .. yield ys }), if k is not computed in it
//! ```
//!
//! It runs before copies are elided, for what only passed its input on is a copy that mostly need not be made. One walk, linear
//! in the size of the program.

mod elements;
mod invariant;
mod repeated;
mod rows;
mod scalars;
mod unit;

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Program, Stm, Vars};
use crate::ir::types::{Size, Type};
use crate::ir::walk::deep;
use crate::pass::Pass;
use elements::Arrays;
use repeated::{Repeated, consumed_arrays};

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "operators",
    summary: "operators of one element or none, or that pass their inputs on, and inputs that need not be read, go",
    run: |program, cx| run(program, !cx.options.is_without("regularity")),
};

fn run(program: Program<Soac>, regular: bool) -> Program<Soac> {
    let funs = program.funs.iter();
    let consumed: Vec<_> = funs
        .map(|fun| consumed_arrays(fun, &program.funs))
        .collect();
    let mut consumed = consumed.into_iter();
    program.map_funs(|vars, fun| {
        let mut operators = Operators {
            vars,
            replicated: HashMap::default(),
            consumed: consumed.next().unwrap_or_default(),
            literals: HashMap::default(),
            inside: 0,
            arrays: Arrays::default(),
            regular,
        };
        operators.body(&mut fun.body);
    })
}

struct Operators<'v> {
    vars: &'v mut Vars,
    /// The arrays that repeat something. Names stand for arrays before they are updated, so that this holds wherever one is read.
    replicated: HashMap<Var, Repeated>,
    /// The arrays that may share memory with something that is consumed.
    consumed: HashSet<Var>,
    /// The rows that arrays are made of.
    literals: HashMap<Var, Vec<Atom>>,
    /// How many operators are around the current code.
    inside: u32,
    /// Small arrays whose elements are known.
    arrays: Arrays,
    /// Whether rows of one length are to be found.
    regular: bool,
}

impl Operators<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        for mut stm in std::mem::take(&mut body.stms) {
            let from = body.stms.len();
            self.row_of_literal(&mut stm);
            self.inputs(&mut stm, &mut body.stms);
            self.read(&mut stm, &mut body.stms);
            let inside = u32::from(matches!(stm.exp, Exp::Op(_)));
            self.inside += inside;
            deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
            self.inside -= inside;
            let after = self.branches(&mut stm);
            self.invariant(&mut stm, &mut body.stms);
            self.statement(stm, &mut body.stms);
            body.stms.extend(after);
            for at in from..body.stms.len() {
                self.arrays.note(&body.stms[at]);
                self.note_repeated(&body.stms[at]);
                self.note_rows(&body.stms[at]);
            }
        }
    }

    /// Appends what a statement becomes.
    fn statement(&mut self, stm: Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let stm = match self.rows_of_one_length(stm, out) {
            Some(stm) => stm,
            None => return,
        };
        let (stm, mut after) = self.fold_scalars(stm, out);
        let (stm, more) = self.without_unit_rows(stm, out);
        after.extend(more);
        self.traversal(stm, out);
        out.extend(after);
    }

    /// Appends what a traversal becomes, and anything else as it is.
    fn traversal(&mut self, stm: Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let Exp::Op(Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        }) = &stm.exp
        else {
            return out.push(stm);
        };
        let reduced: usize = reds.iter().map(|op| op.neutral.len()).sum();
        let scanned: usize = scans.iter().map(|op| op.neutral.len()).sum();
        let reductions = scanned..scanned + reduced;
        match width {
            Size::Const(0) => self.none(&stm, reductions, out),
            Size::Const(1) if self.all_scalars(&lam.body.result[reductions.clone()]) => {
                self.one(&stm, (arrays, lam), reductions, out);
            }
            Size::Const(_) | Size::Var(_) => {
                let map = scans.is_empty() && reds.is_empty();
                if !(map && self.pass_on(&stm, (arrays, lam), *width, out)) {
                    out.push(stm);
                }
            }
        }
    }

    fn all_scalars(&self, atoms: &[Atom]) -> bool {
        let mut atoms = atoms.iter();
        atoms.all(|a| matches!(a.ty(self.vars), Type::Scalar(_)))
    }

    /// Maps that pass inputs on or yield what is not computed in them, all of their results; false if it is none.
    fn pass_on(
        &mut self,
        stm: &Stm<Soac>,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        width: Size,
        out: &mut Vec<Stm<Soac>>,
    ) -> bool {
        if !lam.body.stms.is_empty() {
            return false;
        }
        let mut new = Vec::new();
        for (v, a) in stm.binds.iter().zip(&lam.body.result) {
            let input = lam.params.iter().position(|p| *a == Atom::Var(*p));
            let op = match input {
                Some(k) if self.vars[arrays[k]].ty == self.vars[*v].ty => ArrayOp::Copy(arrays[k]),
                Some(_) => return false,
                None => ArrayOp::Replicate {
                    shape: vec![width.into()],
                    value: *a,
                },
            };
            new.push(Stm {
                binds: vec![*v],
                certs: stm.certs.clone(),
                exp: op.into(),
                span: stm.span,
            });
        }
        fired("operators/passes-on");
        out.extend(new);
        true
    }

    /// An operator without elements.
    fn none(
        &mut self,
        stm: &Stm<Soac>,
        reductions: std::ops::Range<usize>,
        out: &mut Vec<Stm<Soac>>,
    ) {
        let Exp::Op(Soac::Screma { reds, .. }) = &stm.exp else {
            return;
        };
        fired("operators/no-elements");
        let neutral: Vec<Atom> = reds.iter().flat_map(|op| &op.neutral).copied().collect();
        for (i, v) in stm.binds.iter().enumerate() {
            let exp = match (&self.vars[*v].ty, i.checked_sub(reductions.start)) {
                (Type::Array(array), _) if !reductions.contains(&i) => ArrayOp::Scratch {
                    elem: array.elem,
                    shape: array.shape.clone(),
                }
                .into(),
                (_, k) => Exp::Atom(
                    k.and_then(|k| neutral.get(k))
                        .copied()
                        .unwrap_or(Atom::ZERO),
                ),
            };
            out.push(Stm {
                binds: vec![*v],
                certs: stm.certs.clone(),
                exp,
                span: stm.span,
            });
        }
    }

    /// An operator of one element: what folds it yields it as it is.
    fn one(
        &mut self,
        stm: &Stm<Soac>,
        (arrays, lam): (&[Var], &Lambda<Soac>),
        reductions: std::ops::Range<usize>,
        out: &mut Vec<Stm<Soac>>,
    ) {
        fired("operators/one-element");
        let push = |out: &mut Vec<Stm<Soac>>, v: Var, certs: &[Var], exp: Exp<Soac>| {
            out.push(Stm {
                binds: vec![v],
                certs: certs.to_vec(),
                exp,
                span: stm.span,
            });
        };
        for (&array, &param) in arrays.iter().zip(&lam.params) {
            let indices = vec![Atom::ZERO];
            let exp = ArrayOp::Index { array, indices }.into();
            push(out, param, &stm.certs, exp);
        }
        out.extend(lam.body.stms.iter().cloned().map(|mut inner| {
            for cert in &stm.certs {
                if !inner.certs.contains(cert) {
                    inner.certs.push(*cert);
                }
            }
            inner
        }));
        for (i, (v, a)) in stm.binds.iter().zip(&lam.body.result).enumerate() {
            let exp = if reductions.contains(&i) {
                Exp::Atom(*a)
            } else {
                let row = a.ty(self.vars);
                let elems = vec![*a];
                ArrayOp::Literal { elems, row }.into()
            };
            push(out, *v, &stm.certs, exp);
        }
    }
}
