//! Loops whose arrays change size keep the values of such an array one after another in a *pool*, as rows of different lengths are kept.
//!
//! ```text
//! loop (n = k, xs: [n] = a) for i < m do B
//! ──►
//! total = loop (n = k, xs = a, sum = 0) for i < m do { .. B, sum + n }
//! ns, starts, pool = loop (n = k, xs = a, .., at = 0) for i < m do { ns[i] = n  starts[i] = at  pool[at..at + n] = xs  B, at + n }
//! loop (n' = .., xs': [n'] = ..) for j < m do { i = m-1-j  n = ns[i]  xs: [n] = pool[starts[i]..starts[i] + n]  B  B'(..) }
//! ```
//!
//! The first loop finds how large the pool is; of its body is left what sizes need. Sizes of adjoints go back through the sizes that were kept.

use super::Derive;
use super::loops::Values;
use super::pieces::Piece;
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::BinOp;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::walk;

/// The parameters of a loop that are sizes of others, and those others.
pub(super) struct Changing {
    pub sizes: Vec<usize>,
    pub arrays: Vec<usize>,
}

impl Changing {
    pub(super) fn of(d: &Derive<'_>, params: &[LoopParam]) -> Self {
        let mut named = vec![false; params.len()];
        let mut arrays = Vec::new();
        for (k, param) in params.iter().enumerate() {
            let mut changes = false;
            walk::type_vars(&d.vars[param.var].ty, &mut |v| {
                if let Some(size) = params.iter().position(|p| p.var == v) {
                    named[size] = true;
                    changes = true;
                }
            });
            if changes {
                arrays.push(k);
            }
        }
        let sizes = (0..params.len()).filter(|k| named[*k]).collect();
        Self { sizes, arrays }
    }
}

/// What a loop carries to keep the values of an array in a pool: the pool, where each value starts, and where the next one does.
pub(super) struct Pool([LoopParam; 3]);

impl Pool {
    pub(super) const fn params(&self) -> &[LoopParam] {
        &self.0
    }
}

impl Derive<'_> {
    /// How many elements each of the arrays that change has in all iterations together, by a loop that is executed before.
    pub(super) fn totals(
        &mut self,
        params: &[LoopParam],
        (index, bound): (Var, Atom),
        body: &Body<Soac>,
        arrays: &[usize],
    ) -> Vec<Size> {
        fired("derivatives/loop-of-changing-arrays");
        let mut subst = Subst::new();
        let mut own = params.to_vec();
        for param in &mut own {
            param.var = rename::fresh(self.vars, &mut subst, param.var);
            // What the loop consumes it consumes twice.
            if let Atom::Var(v) = param.init
                && self.vars[v].ty.is_array()
            {
                param.init = self.array_op("copy", self.copy_of(v)).into();
            }
        }
        let index = rename::fresh(self.vars, &mut subst, index);
        let (sums, mut stms) = self.nested(|t| {
            let mut sums = Vec::new();
            for k in arrays {
                let size = t.number_of_elements(&t.vars[own[*k].var].ty.clone());
                let var = t.fresh("total", Type::I64);
                let next = t.int(BinOp::Add, var, size);
                sums.push((var, next));
            }
            sums
        });
        let body = rename::body(self.vars, &mut subst, body);
        stms.extend(body.stms);
        let mut result = body.result;
        let mut of_binds = Subst::new();
        let mut binds = Vec::new();
        for param in &own {
            binds.push(rename::fresh(self.vars, &mut of_binds, param.var));
        }
        let mut totals = Vec::new();
        for (var, next) in sums {
            let init = Atom::ZERO;
            own.push(LoopParam { var, init });
            result.push(next);
            let total = self.fresh("total", Type::I64);
            self.back.counts.insert(total);
            binds.push(total);
            totals.push(Size::Var(total));
        }
        let form = LoopForm::For { index, bound };
        let body = Body { stms, result };
        let params = own;
        self.push(binds, Exp::Loop { params, form, body });
        totals
    }

    /// The number of elements of an array of a type.
    fn number_of_elements(&mut self, ty: &Type) -> Atom {
        let mut sizes = ty.shape().iter().filter_map(|dim| dim.size());
        let first = sizes.next().unwrap_or(Size::Const(1)).into();
        sizes.fold(first, |product, size| self.int(BinOp::Mul, product, size))
    }

    /// An empty pool.
    pub(super) fn pool(&mut self, elem: ScalarType, total: Size, count: Size) -> Pool {
        let mut param = |name: &str, elem, size| {
            let shape = vec![Dim::Size(size)];
            let init = self.array_op(name, ArrayOp::Scratch { elem, shape });
            let var = self.like(init);
            let init = init.into();
            LoopParam { var, init }
        };
        let (pool, starts) = (
            param("pool", elem, total),
            param("starts", ScalarType::I64, count),
        );
        let (var, init) = (self.fresh("at", Type::I64), Atom::ZERO);
        Pool([pool, starts, LoopParam { var, init }])
    }

    /// Writes the value of an array behind the others; what the loop carries then.
    pub(super) fn pooled(&mut self, pool: &Pool, iteration: Atom, array: Var) -> [Atom; 3] {
        let len = self.number_of_elements(&self.vars[array].ty.clone());
        let [filled, starts, at] = pool.0.map(|p| p.var);
        let start = at.into();
        let next = self.int(BinOp::Add, start, len);
        let size = len.as_size().unwrap_or(Size::Const(0));
        let elem = self.vars[array].ty.elem().unwrap_or(ScalarType::I64);
        let flat = Type::array_of(&Type::Scalar(elem), &[size]);
        let value = self.fit(array.into(), &flat);
        let op = ArrayOp::Update {
            array: filled,
            dims: vec![part(start, size)],
            value,
        };
        let filled = self.array_op("pool", op).into();
        let starts = self.written(starts, iteration, start);
        [filled, starts, next]
    }

    /// The value that a parameter, whose sizes are known, had in an iteration.
    pub(super) fn kept_value(&mut self, values: Values, iteration: Atom, ty: &Type) -> Exp<Soac> {
        let indices = vec![iteration];
        match values {
            Values::Rows(array) => ArrayOp::Index { array, indices }.into(),
            Values::Pool { pool, starts } => {
                let array = starts;
                let start = self.array_op("start", ArrayOp::Index { array, indices });
                let len = self.number_of_elements(ty);
                let dims = vec![part(start.into(), len.as_size().unwrap_or(Size::Const(0)))];
                let array = self.array_op("part", ArrayOp::Slice { array: pool, dims });
                let shape = ty.shape().to_vec();
                ArrayOp::Reshape { shape, array }.into()
            }
        }
    }

    /// How long the lists are together that the iterations of a loop on the way back yield, by the same loop, executed before.
    pub(super) fn total_lengths(
        &mut self,
        carried: &[LoopParam],
        (step, count): (Var, Size),
        (stms, result): (&[Stm<Soac>], &[Atom]),
        found: &[Piece],
    ) -> Vec<Size> {
        let mut subst = Subst::new();
        let mut own = carried.to_vec();
        for param in &mut own {
            param.var = rename::fresh(self.vars, &mut subst, param.var);
            if let Atom::Var(v) = param.init
                && self.vars[v].ty.is_array()
            {
                param.init = self.array_op("copy", self.copy_of(v)).into();
            }
        }
        let index = rename::fresh(self.vars, &mut subst, step);
        let body = Body {
            stms: stms.to_vec(),
            result: result.to_vec(),
        };
        let mut body = rename::body(self.vars, &mut subst, &body);
        let mut of_binds = Subst::new();
        let mut binds: Vec<Var> = own
            .iter()
            .map(|param| rename::fresh(self.vars, &mut of_binds, param.var))
            .collect();
        let mut totals = Vec::new();
        let mut known: Vec<(Size, Size)> = Vec::new();
        for piece in found {
            let length = piece.dims[0];
            if let Some((_, total)) = known.iter().find(|(of, _)| *of == length) {
                totals.push(*total);
                continue;
            }
            let var = self.fresh("total", Type::I64);
            let init = Atom::ZERO;
            own.push(LoopParam { var, init });
            let of_step = subst.size(length);
            let (next, more) = self.nested(|t| t.int(BinOp::Add, var, of_step));
            body.stms.extend(more);
            body.result.push(next);
            let total = self.fresh("total", Type::I64);
            self.settle_at(total);
            binds.push(total);
            known.push((length, Size::Var(total)));
            totals.push(Size::Var(total));
        }
        let form = LoopForm::For {
            index,
            bound: count.into(),
        };
        let params = own;
        self.push(binds, Exp::Loop { params, form, body });
        totals
    }

    /// The lists of all iterations of a loop, one after another, in arrays that the loop carries.
    pub(super) fn appended(
        &mut self,
        mut piece: Piece,
        total: Size,
        (carried, binds): (&mut Vec<LoopParam>, &mut Vec<Var>),
        (stms, result): (&mut Vec<Stm<Soac>>, &mut Vec<Atom>),
    ) -> Piece {
        let length = piece.dims[0];
        let of_step: Vec<Atom> = piece.indices.iter().copied().chain([piece.value]).collect();
        let from = binds.len();
        piece.dims = Vec::new();
        let piece = self.bound_piece(piece, &[total], binds);
        let at = self.fresh("at", Type::I64);
        let init = Atom::ZERO;
        for (list, values) in binds[from..].iter().copied().zip(of_step) {
            let Type::Array(array) = self.vars[list].ty.clone() else {
                continue;
            };
            let scratch = ArrayOp::Scratch {
                elem: array.elem,
                shape: array.shape,
            };
            let into = self.array_op("list", scratch);
            let var = self.like(into);
            carried.push(LoopParam {
                var,
                init: into.into(),
            });
            let (filled, more) = self.nested(|t| {
                let op = ArrayOp::Update {
                    array: var,
                    dims: vec![part(at.into(), length)],
                    value: values,
                };
                t.array_op("list", op)
            });
            stms.extend(more);
            result.push(filled.into());
        }
        carried.push(LoopParam { var: at, init });
        let (next, more) = self.nested(|t| t.int(BinOp::Add, at, length));
        stms.extend(more);
        result.push(next);
        binds.push(self.like(at));
        piece
    }
}

const fn part(start: Atom, len: Size) -> SliceDim {
    SliceDim::Range {
        start,
        len,
        stride: Atom::ONE,
    }
}
