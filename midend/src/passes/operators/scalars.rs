//! Operators on small arrays of constant shape, as operators on their elements: every target folds tuples of scalars well, and
//! arrays hardly.
//!
//! ```text
//! let t = map n (xss) \(xs: [2]i32) { yield xs } reduce (v) \(a: [2]i32, b: [2]i32) { .. yield c }
//!   ──►
//! let v0 = index v[0]   let v1 = index v[1]
//! let t0, t1 = map n (xss) \(xs: [2]i32) { let x0 = index xs[0]   let x1 = index xs[1]   yield x0, x1 }
//!              reduce (v0, v1) \(a0: i32, a1: i32, b0: i32, b1: i32) { .. yield c0, c1 }
//! let t = literal (t0, t1)
//! ```
//!
//! Operators that are one map are left to become maps of operators.

use super::Operators;
use super::elements::{Unrolled, extents};
use crate::fired::fired;
use crate::ir::id::{SpanId, Var};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, VarInfo, Vars};
use crate::ir::types::{Size, Type};
use crate::passes::flatten::is_elementwise;

/// The most scalars that the operands of an operator become.
const MOST: usize = 16;

/// Whether operands had better be scalars.
fn wants(vars: &Vars, op: &Operator<Soac>) -> bool {
    let types = op.lam.params.iter().map(|v| &vars[*v].ty);
    let types: Vec<&Type> = types.take(op.neutral.len()).collect();
    let counts = types.iter().map(|ty| extents(ty));
    let counts = counts.map(|shape| shape.map(|s| s.iter().product()));
    let counts: Option<Vec<usize>> = counts.collect();
    let are_few = |n: Vec<usize>| n.iter().all(|n| *n > 0) && n.iter().sum::<usize>() <= MOST;
    types.iter().any(|ty| ty.is_array()) && counts.is_some_and(are_few) && !is_elementwise(&op.lam)
}

/// An operator's lambda on scalars.
fn on_scalars(vars: &mut Vars, lam: &Lambda<Soac>, span: SpanId) -> Lambda<Soac> {
    let mut code = Unrolled::new(vars, span);
    let params = lam.params.iter().flat_map(|p| code.param(*p)).collect();
    code.body(&lam.body);
    let result = lam.body.result.iter();
    let result = result.flat_map(|r| code.elements(*r)).collect();
    let stms = code.stms;
    Lambda {
        params,
        body: Body { stms, result },
    }
}

impl Operators<'_> {
    /// Makes scalars of small arrays that a traversal folds. Yields the statement, and those that come after it.
    pub(super) fn fold_scalars(
        &mut self,
        mut stm: Stm<Soac>,
        out: &mut Vec<Stm<Soac>>,
    ) -> (Stm<Soac>, Vec<Stm<Soac>>) {
        let Exp::Op(Soac::Screma {
            width,
            lam,
            scans,
            reds,
            ..
        }) = &mut stm.exp
        else {
            return (stm, Vec::new());
        };
        let wanted = scans.iter().chain(reds.iter());
        let wanted: Vec<bool> = wanted.map(|op| wants(self.vars, op)).collect();
        if !wanted.contains(&true) {
            return (stm, Vec::new());
        }
        fired("operators/fold-scalars");
        let (width, scanned) = (*width, scans.len());
        let mut code = Unrolled::new(self.vars, stm.span);
        code.keep(std::mem::take(&mut lam.body.stms));
        let mut results = std::mem::take(&mut lam.body.result).into_iter();
        for (op, wanted) in scans.iter().chain(reds.iter()).zip(&wanted) {
            for value in results.by_ref().take(op.neutral.len()) {
                if *wanted {
                    lam.body.result.extend(code.elements(value));
                } else {
                    lam.body.result.push(value);
                }
            }
        }
        lam.body.result.extend(results);
        lam.body.stms = code.stms;
        let mut binds = std::mem::take(&mut stm.binds).into_iter();
        let mut after = Vec::new();
        let ops = scans.iter_mut().chain(reds.iter_mut());
        for (k, (op, wanted)) in ops.zip(wanted).enumerate() {
            let own = binds.by_ref().take(op.neutral.len());
            if !wanted {
                stm.binds.extend(own);
                continue;
            }
            let outer = (k < scanned).then_some(width);
            for (v, param) in own.zip(&op.lam.params) {
                let parts = self.parts((v, *param), outer, stm.span, &mut after);
                stm.binds.extend(parts);
            }
            let mut neutral = Vec::new();
            for atom in &op.neutral {
                if let Some(elems) = self.arrays.elements(*atom) {
                    neutral.extend(elems.1);
                    continue;
                }
                let mut code = Unrolled::new(self.vars, stm.span);
                neutral.extend(code.elements(*atom));
                out.extend(code.stms.into_iter().map(|inner| Stm {
                    certs: stm.certs.clone(),
                    ..inner
                }));
            }
            op.neutral = neutral;
            op.lam = on_scalars(self.vars, &op.lam, stm.span);
        }
        stm.binds.extend(binds);
        (stm, after)
    }

    /// Variables for the elements of a variable that holds operands of `param`'s type, with an outer dimension if it is scanned; and
    /// code that makes one of them again.
    fn parts(
        &mut self,
        (v, param): (Var, Var),
        outer: Option<Size>,
        span: SpanId,
        after: &mut Vec<Stm<Soac>>,
    ) -> Vec<Var> {
        let row = self.vars[param].ty.clone();
        let (Type::Array(array), Some(shape)) = (&row, extents(&row)) else {
            return vec![v];
        };
        let name = self.vars[v].name.clone();
        let fresh = |vars: &mut Vars, ty: Type| {
            let name = name.clone();
            vars.push(VarInfo { name, ty })
        };
        let elem = Type::Scalar(array.elem);
        let ty = match outer {
            Some(width) => Type::array_of(&elem, &[width]),
            None => elem.clone(),
        };
        let count: usize = shape.iter().product();
        let parts: Vec<Var> = (0..count).map(|_| fresh(self.vars, ty.clone())).collect();
        let Some(width) = outer else {
            let mut code = Unrolled::new(self.vars, span);
            let elems: Vec<Atom> = parts.iter().copied().map(Atom::Var).collect();
            code.literal(v, &elems);
            after.extend(code.stms);
            return parts;
        };
        let params: Vec<Var> = (0..count).map(|_| fresh(self.vars, elem.clone())).collect();
        let elems: Vec<Atom> = params.iter().copied().map(Atom::Var).collect();
        let whole = fresh(self.vars, row.clone());
        let mut code = Unrolled::new(self.vars, span);
        code.literal(whole, &elems);
        let body = Body {
            stms: code.stms,
            result: vec![whole.into()],
        };
        let map = Soac::Screma {
            width,
            arrays: parts.clone(),
            lam: Lambda { params, body },
            scans: Vec::new(),
            reds: Vec::new(),
        };
        after.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp: Exp::Op(map),
            span,
        });
        parts
    }
}
