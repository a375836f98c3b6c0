//! Chains of operators: each traverses what the one before made, and nothing else reads it. This is what fusion is about.

use super::Gen;
use super::bulk::{Fold, map};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::{HistOp, ScatterDest, Soac};
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

/// The end of a chain so far: a vector that is not in scope.
#[derive(Clone, Copy)]
struct Link {
    width: Size,
    array: Var,
}

impl Gen<'_> {
    /// A few operators in a row. What comes last goes into scope.
    pub(super) fn chain(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        self.chain_of(width)
    }

    /// The same from a width on.
    pub(super) fn chain_of(&mut self, width: Size) -> Option<()> {
        let made = self.mapped(width, &[]);
        let mut link = Link { width, array: made };
        for _ in 0..self.rng.below(3) {
            link = self.link(link);
        }
        for _ in 0..1 + self.rng.below(2) {
            self.end(link)?;
        }
        if self.rng.chance(20) {
            let ty = self.b.ty(link.array);
            self.add(link.array, ty, true);
        }
        Some(())
    }

    /// One operator more.
    fn link(&mut self, link: Link) -> Link {
        let Link { width, array } = link;
        match self.rng.below(5) {
            0 | 1 => self.filtered(link),
            2 => {
                let fold = self.simple_fold();
                let lam = self.lambda(width, &[array], |g, params| {
                    g.fold_elements_of(fold, params)
                });
                let array = self.folded(width, array, lam, &[fold], &[])[0];
                Link { width, array }
            }
            3 => {
                let len = self.b.bin(BinOp::Min, I64, Atom::from(width), 4);
                let len = self.add_size(len, 4);
                let (start, stride) = (Atom::ZERO, Atom::ONE);
                let dims = vec![SliceDim::Range { start, len, stride }];
                let array = self.b.slice("part", array, dims);
                Link { width: len, array }
            }
            _ => {
                let array = self.mapped(width, &[array]);
                Link { width, array }
            }
        }
    }

    /// An operator that makes something else of the elements.
    fn end(&mut self, link: Link) -> Option<()> {
        let Link { width, array } = link;
        match self.rng.below(10) {
            9 => self.scattered_kept(link),
            0 => {
                let other = self.mapped(width, &[array]);
                let ty = self.b.ty(other);
                self.add(other, ty, true);
            }
            1 | 2 => self.fold_all(link, false),
            3 => self.fold_all(link, true),
            4 => {
                let buckets = self.size();
                self.counted(link, buckets)?;
            }
            5 => self.scattered(link),
            6 => {
                let Link { width, array } = self.filtered(link);
                let ty = self.b.ty(array);
                self.add(array, ty, true);
                if let Size::Var(v) = width {
                    self.add(v, Type::I64, false);
                }
            }
            7 => self.accumulated(link)?,
            _ => self.first(link)?,
        }
        Some(())
    }

    /// The first element, if there is one.
    fn first(&mut self, link: Link) -> Option<()> {
        let elem = self.b.ty(link.array).elem()?;
        if self.most(link.width) == 0 {
            return None;
        }
        let some = self.b.lt(0, Atom::from(link.width));
        let cert = self
            .b
            .assert(some, midend::ir::syntax::TrapKind::Bounds, Vec::new());
        let certs: Vec<Var> = cert.into_iter().collect();
        let x = self
            .b
            .with_certs(&certs, |b| b.index("first", link.array, &[Atom::ZERO]));
        self.add(x, Type::Scalar(elem), false);
        Some(())
    }

    /// A vector made of the elements of others, and of what is found in scope.
    fn mapped(&mut self, width: Size, arrays: &[Var]) -> Var {
        let ty = self.scalar_type();
        let mut inputs = arrays.to_vec();
        for _ in 0..self.rng.below(2) + usize::from(arrays.is_empty()) {
            let found =
                self.find_array(|_, ty| ty.rank() == 1 && ty.shape[0].size() == Some(width));
            inputs.extend(found.map(|item| item.var));
        }
        if inputs.is_empty() {
            inputs.push(self.fresh_array(I64, &[width]));
        }
        let lam = self.lambda(width, &inputs, |g, params| {
            let mut value = g.scalar(ty);
            g.mix(&mut value, params);
            vec![value]
        });
        let soac = map(width, inputs, lam);
        let ty = Type::array_of(&Type::Scalar(ty), &[width]);
        self.b.let_("ms", ty, Exp::Op(soac))
    }

    /// Code on scalars, applied to the elements of vectors.
    fn lambda(
        &mut self,
        width: Size,
        arrays: &[Var],
        results: impl FnOnce(&mut Self, &[Var]) -> Vec<Atom>,
    ) -> Lambda<Soac> {
        let params: Vec<Var> = arrays
            .iter()
            .map(|&array| {
                let row = self.b.ty(array).peel(1).unwrap_or(Type::I64);
                self.b.fresh("x", row)
            })
            .collect();
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            for _ in 0..g.rng.below(4) {
                g.scalar_statement();
            }
            (results(g, &params), ())
        });
        Lambda { params, body }
    }

    /// Makes a value depend on variables.
    pub(super) fn mix(&mut self, value: &mut Atom, vars: &[Var]) {
        let Type::Scalar(ty) = self.b.ty(*value) else {
            return;
        };
        let op = if ty == ScalarType::Bool {
            BinOp::Xor
        } else if ty.is_float() {
            BinOp::Max
        } else {
            BinOp::Add
        };
        for &v in vars {
            if let Type::Scalar(from) = self.b.ty(v) {
                let x = self.b.convert(from, ty, v);
                *value = self.b.bin(op, ty, *value, x);
            }
        }
    }

    fn simple_fold(&mut self) -> Fold {
        match self.fold() {
            fold @ (Fold::Simple(..) | Fold::Exact(_)) => fold,
            Fold::Linear | Fold::Rows(..) | Fold::Least(_) => Fold::Simple(BinOp::Add, I64),
        }
    }

    /// A reduction or scan, perhaps of two things, perhaps one that maps as well.
    fn fold_all(&mut self, link: Link, scans: bool) {
        let Link { width, array } = link;
        let count = 1 + self.rng.below(2);
        let folds: Vec<Fold> = (0..count).map(|_| self.simple_fold()).collect();
        let maps = self.rng.chance(30);
        let lam = self.lambda(width, &[array], |g, params| {
            let mut results = Vec::new();
            for &fold in &folds {
                results.extend(g.fold_elements_of(fold, params));
            }
            if maps {
                let mut value = g.scalar(I64);
                g.mix(&mut value, params);
                results.push(value);
            }
            results
        });
        let (scans, reds): (&[Fold], &[Fold]) = if scans { (&folds, &[]) } else { (&[], &folds) };
        for v in self.folded(width, array, lam, scans, reds) {
            let ty = self.b.ty(v);
            self.add(v, ty, true);
        }
    }

    /// The results of a traversal of one vector; what the lambda yields besides what is folded is mapped.
    fn folded(
        &mut self,
        width: Size,
        array: Var,
        lam: Lambda<Soac>,
        scans: &[Fold],
        reds: &[Fold],
    ) -> Vec<Var> {
        let mut types = Vec::new();
        for ty in scans.iter().flat_map(|fold| Self::fold_types(*fold)) {
            types.push(Type::array_of(&ty, &[width]));
        }
        types.extend(reds.iter().flat_map(|fold| Self::fold_types(*fold)));
        for a in &lam.body.result[types.len()..] {
            let ty = self.b.ty(*a);
            types.push(Type::array_of(&ty, &[width]));
        }
        let mut operators = |folds: &[Fold]| {
            let all = folds.iter().filter_map(|&fold| self.operator(fold));
            all.collect::<Vec<_>>()
        };
        let (scans, reds) = (operators(scans), operators(reds));
        let soac = Soac::Screma {
            width,
            arrays: vec![array],
            lam,
            scans,
            reds,
        };
        let binds: Vec<Var> = types.into_iter().map(|ty| self.b.fresh("fs", ty)).collect();
        self.b.bind(binds.clone(), Exp::Op(soac));
        binds
    }

    /// The elements for which something holds.
    fn filtered(&mut self, link: Link) -> Link {
        let Link { width, array } = link;
        let ty = self.scalar_type();
        let more = self.rng.chance(30);
        let lam = self.lambda(width, &[array], |g, params| {
            let mut number = g.scalar(I64);
            g.mix(&mut number, params);
            let odd = g.b.bin(BinOp::And, I64, number, 1);
            let keep = g.b.eq(odd, 0);
            let mut value = g.scalar(ty);
            g.mix(&mut value, params);
            let mut results = vec![keep, value];
            results.extend(more.then_some(number));
            results
        });
        let most = self.most(width);
        let kept = self.b.fresh("kept", Type::I64);
        let len = Size::Var(kept);
        let array_ty = Type::array_of(&Type::Scalar(ty), &[len]);
        let ys = self.b.fresh("ys", array_ty);
        let mut binds = vec![kept, ys];
        if more {
            let numbers = Type::array_of(&Type::I64, &[len]);
            binds.push(self.b.fresh("ns", numbers));
        }
        let arrays = vec![array];
        self.b
            .bind(binds.clone(), Exp::Op(Soac::Filter { width, arrays, lam }));
        self.sizes.push(super::KnownSize { size: len, most });
        if let Some(&numbers) = binds.get(2) {
            let ty = self.b.ty(numbers);
            self.add(numbers, ty, true);
        }
        Link {
            width: len,
            array: ys,
        }
    }

    /// A histogram of a new vector.
    pub(super) fn counted_at_once(&mut self, width: Size, buckets: Size) -> Option<()> {
        let array = self.mapped(width, &[]);
        self.counted(Link { width, array }, buckets)
    }

    /// A histogram of all elements of a vector, or writes of them.
    pub(super) fn put(&mut self, array: Var, width: Size) -> Option<()> {
        let link = Link { width, array };
        if self.rng.chance(50) {
            self.scattered(link);
            return Some(());
        }
        let buckets = self.size();
        self.counted(link, buckets)
    }

    /// A histogram of one or two operators.
    fn counted(&mut self, link: Link, buckets: Size) -> Option<()> {
        let Link { width, array } = link;
        let folds: Vec<Fold> = (0..1 + self.rng.below(2))
            .map(|_| self.simple_fold())
            .collect();
        let lam = self.lambda(width, &[array], |g, params| {
            let mut number = g.scalar(I64);
            g.mix(&mut number, params);
            let range = g.b.add(Atom::from(buckets), 2);
            let bucket = g.b.bin(BinOp::Mod, I64, number, range);
            let bucket = g.b.sub(bucket, 1);
            let mut results = vec![bucket; folds.len()];
            for &fold in &folds {
                results.extend(g.fold_elements(fold));
            }
            results
        });
        let mut ops = Vec::new();
        let mut types = Vec::new();
        for &fold in &folds {
            let mut op = self.operator(fold)?;
            op.comm = true;
            let elem = Self::fold_types(fold)[0].elem()?;
            // Sums of floats are exact only if what they begin with is.
            let dest = match fold {
                Fold::Exact(_) => {
                    let zero = op.neutral[0];
                    self.b.replicate("zeros", vec![buckets], zero)
                }
                Fold::Simple(..) | Fold::Linear | Fold::Rows(..) | Fold::Least(_) => {
                    self.fresh_array(elem, &[buckets])
                }
            };
            types.push(self.b.ty(dest));
            ops.push(HistOp {
                shape: vec![buckets],
                dests: vec![dest],
                op,
            });
        }
        let arrays = vec![array];
        let soac = Soac::Hist {
            width,
            arrays,
            lam,
            ops,
        };
        self.bind_all(types, soac);
        Some(())
    }

    /// Writes to one or two destinations, to places of which no two are equal.
    fn scattered(&mut self, link: Link) {
        let Link { width, array } = link;
        let iota = ArrayOp::Iota {
            len: width,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: I64,
        };
        let iota = self.b.array("iota", iota);
        let count = 1 + self.rng.below(2);
        let types: Vec<ScalarType> = (0..count).map(|_| self.scalar_type()).collect();
        let shift = self.rng.below(5) as i64 - 2;
        // The values of a filter are dense; places may come from the filter as well.
        let lam = self.lambda(width, &[array, iota], |g, params| {
            let place = g.b.add(params[1], shift);
            let mut results = vec![place; count];
            for &ty in &types {
                let mut value = g.scalar(ty);
                g.mix(&mut value, &params[..1]);
                results.push(value);
            }
            results
        });
        let len = self.size();
        let arrays: Vec<Var> = types
            .iter()
            .map(|&ty| self.fresh_array(ty, &[len]))
            .collect();
        let made = arrays.iter().map(|&v| self.b.ty(v)).collect();
        let dests = arrays.iter().map(|&array| ScatterDest { rank: 1, array });
        let soac = Soac::Scatter {
            width,
            arrays: vec![array, iota],
            lam,
            dests: dests.collect(),
        };
        self.bind_all(made, soac);
    }

    /// Writes of what a filter keeps, each to the place that it had.
    fn scattered_kept(&mut self, link: Link) {
        let Link { width, array } = link;
        let iota = self.b.iota(width);
        let ty = self.scalar_type();
        let lam = self.lambda(width, &[array, iota], |g, params| {
            let mut number = g.scalar(I64);
            g.mix(&mut number, &params[..1]);
            let odd = g.b.bin(BinOp::And, I64, number, 1);
            let keep = g.b.eq(odd, 0);
            let mut value = g.scalar(ty);
            g.mix(&mut value, &params[..1]);
            vec![keep, value, params[1].into()]
        });
        let most = self.most(width);
        let kept = self.b.fresh("kept", Type::I64);
        let len = Size::Var(kept);
        let vector = |ty| Type::array_of(&Type::Scalar(ty), &[len]);
        let values = self.b.fresh("values", vector(ty));
        let places = self.b.fresh("places", vector(I64));
        let arrays = vec![array, iota];
        let filter = Soac::Filter { width, arrays, lam };
        self.b.bind(vec![kept, values, places], Exp::Op(filter));
        self.sizes.push(super::KnownSize { size: len, most });
        let lam = self.lambda(len, &[values, places], |_, params| {
            vec![params[1].into(), params[0].into()]
        });
        let into = self.size();
        let dest = self.fresh_array(ty, &[into]);
        let made = self.b.ty(dest);
        let soac = Soac::Scatter {
            width: len,
            arrays: vec![values, places],
            lam,
            dests: vec![ScatterDest {
                rank: 1,
                array: dest,
            }],
        };
        self.bind_all(vec![made], soac);
    }

    /// Updates through an accumulator with an operator.
    fn accumulated(&mut self, link: Link) -> Option<()> {
        let len = self.size();
        let dest = self.fresh_array(I64, &[len]);
        let target = self.target(vec![dest])?;
        let lam = self.lambda(link.width, &[link.array], |g, params| {
            let mut number = g.scalar(I64);
            g.mix(&mut number, params);
            let range = g.b.add(Atom::from(len), 2);
            let place = g.b.bin(BinOp::Mod, I64, number, range);
            let index = g.b.sub(place, 1);
            g.update(&target, index, vec![number])
        });
        let op = Some(self.operator(Fold::Simple(BinOp::Add, I64))?);
        self.accumulate(link.width, vec![link.array], lam, target, op);
        Some(())
    }
}
