//! Scope, sizes and arrays.

use super::{Gen, Item, KnownSize, WORK};
use midend::ir::array::ArrayOp;
use midend::ir::id::Var;
use midend::ir::scalar::Const;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Body};
use midend::ir::types::{ArrayType, Dim, ScalarType, Size, Type};

impl Gen<'_> {
    /// Brings a variable into scope, as sharing memory with nothing.
    pub(super) fn add(&mut self, var: Var, ty: Type, mine: bool) {
        self.groups += 1;
        let group = self.groups;
        self.scope.push(Item {
            var,
            ty,
            group,
            mine,
        });
    }

    /// Brings a variable into scope that shares the memory of `source`.
    pub(super) fn add_alias(&mut self, var: Var, source: &Item) {
        let ty = self.b.ty(var);
        // What was made outside of the body at hand cannot be consumed in it.
        let mine = source.mine && self.scope[self.base..].iter().any(|i| i.var == source.var);
        self.scope.push(Item {
            var,
            ty,
            group: source.group,
            mine,
        });
    }

    /// Brings a size into scope.
    pub(super) fn add_size(&mut self, size: Atom, most: u64) -> Size {
        let size = Size::of(size);
        if let Size::Var(v) = size {
            self.add(v, Type::I64, false);
            self.sizes.push(KnownSize { size, most });
        }
        size
    }

    /// The most that a size can be.
    pub(super) fn most(&self, size: Size) -> u64 {
        match size {
            Size::Const(n) => n as u64,
            Size::Var(_) => {
                let known = self.sizes.iter().find(|k| k.size == size);
                known.map_or(WORK, |k| k.most)
            }
        }
    }

    /// The most elements that a shape can have.
    pub(super) fn most_elements(&self, shape: &[Dim]) -> u64 {
        let extents = shape
            .iter()
            .map(|d| d.size().map_or(WORK, |s| self.most(s)));
        extents.fold(1, u64::saturating_mul)
    }

    /// A size whose square still is small enough, or zero.
    pub(super) fn size(&mut self) -> Size {
        let sizes: Vec<Size> = self
            .sizes
            .iter()
            .filter(|k| self.work.saturating_mul(k.most) <= WORK)
            .map(|k| k.size)
            .collect();
        if sizes.is_empty() {
            return Size::Const(0);
        }
        if self.rng.chance(20) {
            return sizes[sizes.len() - 1];
        }
        // Sizes that are no constants are what it is about.
        let first = *self.rng.pick(&sizes);
        if matches!(first, Size::Const(_)) {
            *self.rng.pick(&sizes)
        } else {
            first
        }
    }

    /// An array in scope that satisfies a condition.
    pub(super) fn find_array(&mut self, fits: impl Fn(&Item, &ArrayType) -> bool) -> Option<Item> {
        let known: Vec<&Item> = self
            .scope
            .iter()
            .filter(|item| match &item.ty {
                Type::Array(ty) => fits(item, ty),
                Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => false,
            })
            .collect();
        if known.is_empty() {
            return None;
        }
        // What was made last is most likely to be read by what comes next.
        let recent = known.len().saturating_sub(3);
        let known = if self.rng.chance(40) {
            &known[recent..]
        } else {
            &known
        };
        Some((*self.rng.pick(known)).clone())
    }

    /// An array in scope or a new one.
    pub(super) fn array(&mut self, elem: ScalarType, shape: &[Size]) -> Var {
        let ty = Type::array_of(&Type::Scalar(elem), shape);
        match self.find_array(|item, _| item.ty == ty) {
            Some(item) if self.rng.chance(80) => item.var,
            Some(_) | None => self.fresh_array(elem, shape),
        }
    }

    /// A new array that shares memory with nothing. It does not come into scope.
    pub(super) fn fresh_array(&mut self, elem: ScalarType, shape: &[Size]) -> Var {
        let ty = Type::array_of(&Type::Scalar(elem), shape);
        if let Some(item) = self.find_array(|item, _| item.ty == ty)
            && self.rng.chance(60)
        {
            return self.b.copy("copy", item.var);
        }
        if elem.is_integer() && shape.len() == 1 && self.rng.chance(50) {
            let start = self.scalar(elem);
            let step = match Const::int(elem, 2) {
                Some(two) if self.rng.chance(70) => two.into(),
                Some(_) | None => self.scalar(elem),
            };
            let op = ArrayOp::Iota {
                len: shape[0],
                start,
                step,
                ty: elem,
            };
            return self.b.array("iota", op);
        }
        if let Some((&outer, inner @ [_, ..])) = shape.split_first()
            && self.rng.chance(40)
        {
            return self.rows(elem, outer, inner);
        }
        if let [Size::Const(n @ 1..=3)] = *shape {
            let elems = (0..n).map(|_| self.scalar(elem)).collect();
            let row = Type::Scalar(elem);
            return self.b.array("lit", ArrayOp::Literal { elems, row });
        }
        let value = self.scalar(elem);
        self.b.replicate("rep", shape.to_vec(), value)
    }

    /// A new array of rows: one of them again and again, or a few.
    fn rows(&mut self, elem: ScalarType, outer: Size, inner: &[Size]) -> Var {
        if let Size::Const(n @ 1..=3) = outer {
            let elems = (0..n).map(|_| self.array(elem, inner).into()).collect();
            let row = Type::array_of(&Type::Scalar(elem), inner);
            return self.b.array("rows", ArrayOp::Literal { elems, row });
        }
        let row = self.array(elem, inner);
        self.b.replicate("rows", vec![outer], row.into())
    }

    /// Whether a type names only sizes among the first `count` in scope.
    fn is_outside(&self, ty: &Type, count: usize) -> bool {
        ty.shape().iter().all(|dim| match dim {
            Dim::Size(Size::Const(_)) => true,
            Dim::Size(size @ Size::Var(_)) => self.sizes[..count].iter().any(|k| k.size == *size),
            Dim::Ragged(_) => false,
        })
    }

    /// Generates a nested body. The function gets the number of sizes that are in scope outside, and yields the results.
    pub(super) fn nested<R>(
        &mut self,
        width: u64,
        f: impl FnOnce(&mut Self, usize) -> (Vec<Atom>, R),
    ) -> (Body<Soac>, R) {
        let (scope, sizes, base, work) = (self.scope.len(), self.sizes.len(), self.base, self.work);
        self.base = scope;
        self.work = self.work.saturating_mul(width.max(1));
        self.depth += 1;
        self.b.enter();
        let (result, extra) = f(self, sizes);
        let body = self.b.leave(result);
        self.depth -= 1;
        self.work = work;
        self.base = base;
        self.scope.truncate(scope);
        self.sizes.truncate(sizes);
        (body, extra)
    }

    /// A few statements.
    pub(super) fn statements(&mut self, most: usize) {
        let count = self.rng.below(most + 1);
        for _ in 0..count {
            if self.budget == 0 {
                return;
            }
            self.statement();
        }
    }

    /// A value made in the body at hand, preferably, whose type makes sense outside.
    pub(super) fn result(&mut self, sizes: usize) -> (Atom, Type) {
        let most = WORK / self.work.max(1);
        let fit: Vec<&Item> = self.scope[self.base..]
            .iter()
            .filter(|i| self.is_outside(&i.ty, sizes) && self.most_elements(i.ty.shape()) <= most)
            .collect();
        if !fit.is_empty() && self.rng.chance(90) {
            let item = *self.rng.pick(&fit);
            return (Atom::Var(item.var), item.ty.clone());
        }
        let ty = self.scalar_type();
        (self.scalar(ty), Type::Scalar(ty))
    }
}
