//! Operators that need not be, and inputs that they need not have.
//!
//! ```text
//! let vs = replicate [n] v
//! map n (xs, vs, xs) \(x, y, z) { .. }       ──►   map n (xs) \(x) { .. with v for y, x for z }
//! let vss = replicate [n] (replicate [m] v)
//! map n (vss) \(ys) { map m (ys) .. }        ──►   map n (vss) \(ys) { map m () .. with v for their elements }
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
mod rows;
mod scalars;

use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{Subst, substitute};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Program, Stm, Vars};
use crate::ir::types::{Size, Type};
use crate::ir::walk::deep;
use crate::pass::Pass;
use elements::Arrays;

/// The pass.
pub const PASS: Pass<Soac> = Pass {
    name: "operators",
    summary: "operators of one element or none, or that pass their inputs on, and inputs that need not be read, go",
    run: |program, cx| run(program, !cx.options.is_without("regularity")),
};

fn run(program: Program<Soac>, regular: bool) -> Program<Soac> {
    program.map_funs(|vars, fun| {
        let mut operators = Operators {
            vars,
            replicated: HashMap::default(),
            arrays: Arrays::default(),
            regular,
        };
        operators.body(&mut fun.body);
    })
}

struct Operators<'v> {
    vars: &'v mut Vars,
    /// The arrays that repeat a scalar. Names stand for arrays before they are updated, so that this holds wherever one is read.
    replicated: HashMap<Var, Repeated>,
    /// Small arrays whose elements are known.
    arrays: Arrays,
    /// Whether rows of one length are to be found.
    regular: bool,
}

/// A scalar that an array of some dimensions repeats, and the checks of the array's extents.
#[derive(Clone)]
struct Repeated {
    value: Atom,
    rank: usize,
    certs: Vec<Var>,
}

impl Operators<'_> {
    fn body(&mut self, body: &mut Body<Soac>) {
        for mut stm in std::mem::take(&mut body.stms) {
            self.inputs(&mut stm);
            deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
            self.note(&stm);
            self.statement(stm, &mut body.stms);
        }
    }

    /// Remembers an array that repeats a scalar, or whose elements are known.
    fn note(&mut self, stm: &Stm<Soac>) {
        self.arrays.note(stm);
        let Exp::Op(Soac::Array(ArrayOp::Replicate { shape, value })) = &stm.exp else {
            return;
        };
        let row = match value.as_var().and_then(|v| self.replicated.get(&v)) {
            Some(row) => row.clone(),
            None if matches!(value.ty(self.vars), Type::Scalar(_)) => Repeated {
                value: *value,
                rank: 0,
                certs: Vec::new(),
            },
            None => return,
        };
        let array = Repeated {
            value: row.value,
            rank: row.rank + shape.len(),
            certs: stm.certs.iter().chain(&row.certs).copied().collect(),
        };
        self.replicated
            .extend(stm.binds.iter().map(|&v| (v, array.clone())));
    }

    /// Leaves out inputs that are read twice, or whose elements are known.
    fn inputs(&mut self, stm: &mut Stm<Soac>) {
        let Exp::Op(
            Soac::Screma { arrays, lam, .. }
            | Soac::Hist { arrays, lam, .. }
            | Soac::Scatter { arrays, lam, .. }
            | Soac::Filter { arrays, lam, .. }
            | Soac::FlatMap { arrays, lam, .. }
            | Soac::WithAcc { arrays, lam, .. },
        ) = &mut stm.exp
        else {
            return;
        };
        let mut subst = Subst::new();
        let mut first: HashMap<Var, Var> = HashMap::default();
        let inputs = arrays.drain(..).zip(lam.params.drain(..));
        let (mut kept, mut params) = (Vec::new(), Vec::new());
        for (array, param) in inputs.collect::<Vec<_>>() {
            let repeated = self.replicated.get(&array).cloned();
            if let Some(Repeated {
                value,
                rank: 1,
                certs,
            }) = repeated
            {
                fired("operators/replicated-input");
                subst.insert(param, value);
                let new = certs.into_iter().filter(|c| !stm.certs.contains(c));
                stm.certs.extend(new.collect::<Vec<_>>());
                continue;
            }
            if let Some(row) = repeated {
                let rank = row.rank - 1;
                self.replicated.insert(param, Repeated { rank, ..row });
            }
            if let Some(same) = first.get(&array) {
                fired("operators/input-read-twice");
                subst.insert(param, *same);
            } else {
                first.insert(array, param);
                kept.push(array);
                params.push(param);
            }
        }
        (*arrays, lam.params) = (kept, params);
        substitute(self.vars, &subst, &mut lam.body);
    }

    /// Appends what a statement becomes.
    fn statement(&mut self, stm: Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let stm = match self.rows_of_one_length(stm, out) {
            Some(stm) => stm,
            None => return,
        };
        let (stm, after) = self.fold_scalars(stm, out);
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
