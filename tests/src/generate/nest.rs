//! Perfect nests of maps, what views and traverses them, and loops over rows: what changes places, flattens and is tiled.

use super::bulk::{Fold, map};
use super::{Gen, Item, WORK};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
/// The most steps of a product of matrices; most sizes are far smaller than they can be.
const PRODUCT: u64 = 300_000;

impl Gen<'_> {
    /// A matrix in scope, with its extents.
    pub(super) fn matrix(&mut self) -> Option<(Item, [Size; 2], ScalarType)> {
        let item = self.find_array(|_, ty| ty.rank() == 2)?;
        let extents = [0, 1].map(|k| item.ty.shape()[k].size());
        let elem = item.ty.elem()?;
        let [Some(n), Some(m)] = extents else {
            return None;
        };
        Some((item, [n, m], elem))
    }

    /// A map over the elements of the rows of a matrix, and what becomes of it.
    pub(super) fn perfect_nest(&mut self) -> Option<()> {
        if self.depth > 1 {
            return None;
        }
        let (item, [n, m], elem) = self.matrix()?;
        if self.work * self.most(n) * self.most(m) > WORK {
            return None;
        }
        let ty = self.scalar_type();
        let row = self.b.fresh("row", item.ty.peel(1)?);
        self.b.enter();
        let inner = self.elementwise(ty, elem, m);
        let inner = map(m, vec![row], inner);
        let made = Type::array_of(&Type::Scalar(ty), &[m]);
        let made = self.b.let_("row", made, Exp::Op(inner));
        let body = self.b.leave(vec![made.into()]);
        let params = vec![row];
        let nest = map(n, vec![item.var], Lambda { params, body });
        let whole = Type::array_of(&Type::Scalar(ty), &[n, m]);
        let whole = self.b.let_("rows", whole, Exp::Op(nest));
        match self.rng.below(5) {
            0 => {
                let array = whole;
                let perm = vec![1, 0];
                let turned = self.b.array("turned", ArrayOp::Rearrange { perm, array });
                self.rows_of(turned, [m, n], ty);
            }
            1 | 2 => {
                let most = self.most(n) * self.most(m);
                let len = self.b.mul(Atom::from(n), Atom::from(m));
                let len = self.add_size(len, most);
                let (shape, array) = (vec![len.into()], whole);
                let flat = self.b.array("flat", ArrayOp::Reshape { shape, array });
                self.all_of(flat, len, ty)?;
            }
            3 => self.rows_of(whole, [n, m], ty),
            _ => {
                let ty = self.b.ty(whole);
                self.add(whole, ty, true);
            }
        }
        Some(())
    }

    /// Code on one scalar of a type that gives one of another.
    pub(super) fn elementwise(
        &mut self,
        to: ScalarType,
        from: ScalarType,
        width: Size,
    ) -> Lambda<Soac> {
        let x = self.b.fresh("x", Type::Scalar(from));
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&[x]);
            for _ in 0..g.rng.below(3) {
                g.scalar_statement();
            }
            let value = g.b.convert(from, to, x);
            let other = g.scalar(to);
            let op = if to.is_float() {
                BinOp::Max
            } else {
                BinOp::Xor
            };
            (vec![g.b.bin(op, to, value, other)], ())
        });
        let params = vec![x];
        Lambda { params, body }
    }

    /// A map, a reduction, a histogram or writes of all elements of a vector, which nothing else reads.
    fn all_of(&mut self, flat: Var, len: Size, ty: ScalarType) -> Option<()> {
        if self.rng.chance(25) {
            return self.put(flat, len);
        }
        if self.rng.chance(50) {
            let to = self.scalar_type();
            let lam = self.elementwise(to, ty, len);
            let soac = map(len, vec![flat], lam);
            let ty = Type::array_of(&Type::Scalar(to), &[len]);
            self.bind_all(vec![ty], soac);
            return Some(());
        }
        let fold = Fold::Simple(BinOp::Add, I64);
        let lam = self.elementwise(I64, ty, len);
        let op = self.operator(fold)?;
        let soac = reduction(len, vec![flat], lam, op);
        self.bind_all(vec![Type::I64], soac);
        Some(())
    }

    /// A map that sums up the rows of a matrix.
    fn rows_of(&mut self, rows: Var, [n, m]: [Size; 2], ty: ScalarType) {
        let Some(row_ty) = self.b.ty(rows).peel(1) else {
            return;
        };
        let row = self.b.fresh("row", row_ty);
        self.b.enter();
        let lam = self.elementwise(I64, ty, m);
        let Some(op) = self.operator(Fold::Simple(BinOp::Add, I64)) else {
            return;
        };
        let sum = reduction(m, vec![row], lam, op);
        let sum = self.b.let_("sum", Type::I64, Exp::Op(sum));
        let body = self.b.leave(vec![sum.into()]);
        let params = vec![row];
        let soac = map(n, vec![rows], Lambda { params, body });
        let ty = Type::array_of(&Type::I64, &[n]);
        self.bind_all(vec![ty], soac);
    }

    /// For each row of a matrix, or element of a vector, and each of another, a sum over what both have: products of matrices
    /// and their like.
    pub(super) fn product(&mut self) -> Option<()> {
        if self.depth > 0 {
            return None;
        }
        let (a, [n, m], elem) = self.matrix()?;
        let b = self.find_array(|_, ty| {
            ty.rank() == 2 && ty.shape[1].size() == Some(m) && ty.elem == elem
        })?;
        let mut k = b.ty.shape()[0].size()?;
        let mut others = b.var;
        if self.rng.chance(60) {
            // A few rows only, so that the two extents differ.
            let few = 1 + self.rng.below(4) as i64;
            let len = self.b.bin(BinOp::Min, I64, Atom::from(k), few);
            k = self.add_size(len, few as u64);
            let (start, len, stride) = (Atom::ZERO, k, Atom::ONE);
            let dims = vec![SliceDim::Range { start, len, stride }];
            others = self.b.slice("few", others, dims);
        }
        if self.most(n) * self.most(m) * self.most(k) > PRODUCT {
            return None;
        }
        self.products((a.var, others), elem, [n, m, k])
    }

    /// For each of `n` rows and each of `k` others, a sum over the `m` elements that both have.
    pub(super) fn products(
        &mut self,
        (rows, others): (Var, Var),
        elem: ScalarType,
        [n, m, k]: [Size; 3],
    ) -> Option<()> {
        let each = self.rng.chance(40);
        let fold = match self.rng.chance(50) {
            true => Fold::Simple(BinOp::Add, I64),
            false => Fold::Exact(ScalarType::F32),
        };
        let [outer, inner] = ["row", "other"].map(|name| {
            let row = Type::array_of(&Type::Scalar(elem), &[m]);
            self.b.fresh(name, row)
        });
        self.b.enter();
        self.b.enter();
        let [x, y] = ["x", "y"].map(|name| self.b.fresh(name, Type::Scalar(elem)));
        self.b.enter();
        let product = self.term(fold, elem, [x, y]);
        let body = self.b.leave(vec![product]);
        let op = self.operator(fold)?;
        let params = vec![x, y];
        let sum = reduction(m, vec![outer, inner], Lambda { params, body }, op);
        let sum_ty = Self::fold_types(fold)[0].clone();
        let sum = self.b.let_("sum", sum_ty.clone(), Exp::Op(sum));
        let body = self.b.leave(vec![sum.into()]);
        let params = vec![inner];
        let sums = map(k, vec![others], Lambda { params, body });
        let sums_ty = Type::array_of(&sum_ty, &[k]);
        let sums = self.b.let_("sums", sums_ty, Exp::Op(sums));
        let mut result = vec![Atom::Var(sums)];
        let mut types = vec![Type::array_of(&sum_ty, &[n, k])];
        if each {
            result.push(n.into());
            types.push(Type::array_of(&Type::I64, &[n]));
        }
        let body = self.b.leave(result);
        let params = vec![outer];
        let soac = map(n, vec![rows], Lambda { params, body });
        self.bind_all(types, soac);
        Some(())
    }

    /// For each element of a vector, a sum over another vector.
    pub(super) fn all_pairs(&mut self) -> Option<()> {
        if self.depth > 0 {
            return None;
        }
        let a = self.find_array(|_, ty| ty.rank() == 1)?;
        let elem = a.ty.elem()?;
        let b = self.find_array(|_, ty| ty.rank() == 1 && ty.elem == elem)?;
        let (n, m) = (a.ty.shape()[0].size()?, b.ty.shape()[0].size()?);
        if self.most(n) * self.most(m) > WORK {
            return None;
        }
        self.pairs([a.var, b.var], elem, [n, m])
    }

    /// For each of `n` elements, a sum over `m` others.
    pub(super) fn pairs(
        &mut self,
        [a, b]: [Var; 2],
        elem: ScalarType,
        [n, m]: [Size; 2],
    ) -> Option<()> {
        let fold = match self.rng.chance(50) {
            true => Fold::Simple(BinOp::Add, I64),
            false => Fold::Exact(ScalarType::F64),
        };
        let [x, y] = ["x", "y"].map(|name| self.b.fresh(name, Type::Scalar(elem)));
        self.b.enter();
        self.b.enter();
        let term = self.term(fold, elem, [x, y]);
        let body = self.b.leave(vec![term]);
        let op = self.operator(fold)?;
        let params = vec![y];
        let sum = reduction(m, vec![b], Lambda { params, body }, op);
        let ty = Self::fold_types(fold)[0].clone();
        let sum = self.b.let_("sum", ty.clone(), Exp::Op(sum));
        let body = self.b.leave(vec![sum.into()]);
        let params = vec![x];
        let soac = map(n, vec![a], Lambda { params, body });
        self.bind_all(vec![Type::array_of(&ty, &[n])], soac);
        Some(())
    }

    /// A product of two scalars, as it is summed up.
    fn term(&mut self, fold: Fold, elem: ScalarType, factors: [Var; 2]) -> Atom {
        let [a, b] = factors.map(|v| self.b.convert(elem, I64, v));
        match fold {
            Fold::Exact(ty) => self.exact_product(ty, [a, b]),
            Fold::Simple(..) | Fold::Linear | Fold::Rows(..) | Fold::Least(_) => self.b.mul(a, b),
        }
    }
}

pub(super) fn reduction(
    width: Size,
    arrays: Vec<Var>,
    lam: Lambda<Soac>,
    op: Operator<Soac>,
) -> Soac {
    Soac::Screma {
        width,
        arrays,
        lam,
        scans: Vec::new(),
        reds: vec![op],
    }
}
