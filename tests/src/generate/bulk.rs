//! Statements with lambdas.

use super::{Gen, Item};
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::{Operator, Soac};
use midend::ir::syntax::{Atom, Exp, Lambda};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
const I32: ScalarType = ScalarType::I32;

/// What is reduced or scanned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fold {
    /// Numbers, by an operator.
    Simple(BinOp, ScalarType),
    /// Linear functions, by composition: associative, and not commutative.
    Linear,
    /// Rows of this length, element by element.
    Rows(BinOp, ScalarType, Size),
    /// Floats, by addition; they are such that all sums are exact.
    Exact(ScalarType),
    /// Numbers with a second number, of which the least stays.
    Least(ScalarType),
}

/// The ends of the range of the types that are folded.
fn least_and_most(ty: ScalarType) -> Option<(i128, i128)> {
    if ty == I64 {
        Some((i64::MIN.into(), i64::MAX.into()))
    } else if ty == I32 {
        Some((i32::MIN.into(), i32::MAX.into()))
    } else {
        None
    }
}

/// The operators that are associative and commutative, with their neutral elements.
fn neutral(op: BinOp, ty: ScalarType) -> Option<Const> {
    let number = match op {
        BinOp::Add | BinOp::Or | BinOp::Xor => 0,
        BinOp::Mul => 1,
        BinOp::And => -1,
        BinOp::Min => least_and_most(ty)?.1,
        BinOp::Max => least_and_most(ty)?.0,
        BinOp::Sub
        | BinOp::Div
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Pow
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::MulHi
        | BinOp::AddSat
        | BinOp::MulSat
        | BinOp::Atan2
        | BinOp::Atan2pi
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp => return None,
    };
    Const::int(ty, number)
}

const OPERATORS: [BinOp; 7] = [
    BinOp::Add,
    BinOp::Mul,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Min,
    BinOp::Max,
];

impl Gen<'_> {
    pub(super) fn fold(&mut self) -> Fold {
        let op = *self.rng.pick(&OPERATORS);
        let ty = if self.rng.chance(50) { I64 } else { I32 };
        match self.rng.below(8) {
            0 | 1 => Fold::Linear,
            7 => Fold::Least(ty),
            3 => Fold::Exact(*self.rng.pick(&[ScalarType::F32, ScalarType::F64])),
            2 => {
                let size = self.size();
                Fold::Rows(op, ty, size)
            }
            _ => Fold::Simple(op, ty),
        }
    }

    pub(super) fn folds(&mut self) -> Vec<Fold> {
        let count = *self.rng.pick(&[0, 0, 1, 1, 2]);
        (0..count).map(|_| self.fold()).collect()
    }

    pub(super) fn fold_types(fold: Fold) -> Vec<Type> {
        match fold {
            Fold::Simple(_, ty) | Fold::Exact(ty) => vec![Type::Scalar(ty)],
            Fold::Linear => vec![Type::Scalar(I32); 2],
            Fold::Least(ty) => vec![Type::Scalar(ty), Type::I64],
            Fold::Rows(_, ty, size) => vec![Type::array_of(&Type::Scalar(ty), &[size])],
        }
    }

    /// Elements to fold, from the scope.
    pub(super) fn fold_elements(&mut self, fold: Fold) -> Vec<Atom> {
        self.fold_elements_of(fold, &[])
    }

    /// Elements to fold, from the scope, that depend on variables. A float that is summed stays a product of small numbers: it is
    /// these numbers that depend on them.
    pub(super) fn fold_elements_of(&mut self, fold: Fold, vars: &[Var]) -> Vec<Atom> {
        let mut elements = match fold {
            Fold::Exact(_) => vec![self.scalar(I64), self.scalar(I64)],
            Fold::Simple(_, ty) => vec![self.scalar(ty)],
            Fold::Linear => vec![self.scalar(I32), self.scalar(I32)],
            Fold::Least(ty) => vec![self.scalar(ty), self.scalar(I64)],
            Fold::Rows(_, ty, size) => vec![self.array(ty, &[size]).into()],
        };
        self.mix(&mut elements[0], vars);
        if let Fold::Exact(ty) = fold {
            return vec![self.exact_product(ty, [elements[0], elements[1]])];
        }
        elements
    }

    /// A product of floats made of the last bits of numbers: small enough for exact sums of a hundred thousand.
    pub(super) fn exact_product(&mut self, ty: ScalarType, numbers: [Atom; 2]) -> Atom {
        let [a, b] = numbers.map(|number| {
            let bits = self.b.bin(BinOp::And, I64, number, 7);
            self.b.convert(I64, ty, bits)
        });
        self.b.bin(BinOp::Mul, ty, a, b)
    }

    pub(super) fn operator(&mut self, fold: Fold) -> Option<Operator<Soac>> {
        let types = Self::fold_types(fold);
        let params: Vec<Var> = types
            .iter()
            .chain(&types)
            .map(|ty| self.b.fresh("p", ty.clone()))
            .collect();
        let at = |i: usize| Atom::Var(params[i]);
        self.b.enter();
        let (neutral, result, commutes) = match fold {
            Fold::Simple(op, ty) => {
                let result = self.b.bin(op, ty, at(0), at(1));
                (vec![Atom::Const(neutral(op, ty)?)], vec![result], true)
            }
            Fold::Exact(ty) => {
                let result = self.b.bin(BinOp::Add, ty, at(0), at(1));
                (vec![Atom::Const(Const::zero(ty))], vec![result], true)
            }
            Fold::Linear => {
                // (a, b) stands for a x + b; the right one is applied after the left one.
                let slope = self.b.bin(BinOp::Mul, I32, at(0), at(2));
                let shifted = self.b.bin(BinOp::Mul, I32, at(1), at(2));
                let offset = self.b.bin(BinOp::Add, I32, shifted, at(3));
                let one = [Const::I32(1), Const::I32(0)].map(Atom::Const);
                (one.to_vec(), vec![slope, offset], false)
            }
            Fold::Least(ty) => {
                let neutrals = [neutral(BinOp::Min, ty)?, Const::I64(i64::MAX)];
                (
                    neutrals.map(Atom::Const).to_vec(),
                    self.least(ty, &params),
                    true,
                )
            }
            Fold::Rows(op, ty, size) => {
                let elem = Type::Scalar(ty);
                let lam = self.b.lambda(&[("x", elem.clone()), ("y", elem)], |b, v| {
                    vec![b.bin(op, ty, v[0], v[1])]
                });
                let soac = map(size, vec![params[0], params[1]], lam);
                let v = self.b.let_("row", types[0].clone(), Exp::Op(soac));
                (vec![Atom::Const(neutral(op, ty)?)], vec![v.into()], true)
            }
        };
        let body = self.b.leave(result);
        let neutral = match fold {
            Fold::Rows(_, _, size) => vec![self.b.replicate("ne", vec![size], neutral[0]).into()],
            Fold::Simple(..) | Fold::Exact(_) | Fold::Linear | Fold::Least(_) => neutral,
        };
        let comm = commutes && self.rng.chance(70);
        let lam = Lambda { params, body };
        Some(Operator { comm, lam, neutral })
    }

    /// The pair that comes first, by its first number, then by its second.
    fn least(&mut self, ty: ScalarType, pairs: &[Var]) -> Vec<Atom> {
        let at = |i: usize| Atom::Var(pairs[i]);
        let less = self.b.cmp(CmpOp::Lt, ty, at(0), at(2));
        let same = self.b.cmp(CmpOp::Eq, ty, at(0), at(2));
        let before = self.b.le(at(1), at(3));
        let both = self.b.and(same, before);
        let first = self.b.or(less, both);
        if self.rng.chance(50) {
            let types = [ty, I64];
            let one = |i: usize| self.b.select(types[i], first, at(i), at(i + 2));
            return [0, 1].map(one).to_vec();
        }
        let formals = [("least", Type::Scalar(ty)), ("at", Type::I64)];
        let pair = |from: usize| vec![at(from), at(from + 1)];
        let chosen = self.b.if_(first, &formals, |_| pair(0), |_| pair(2));
        chosen.into_iter().map(Atom::Var).collect()
    }

    /// Arrays of a common length to traverse, and the parameters for their rows.
    pub(super) fn inputs(&mut self, width: Size) -> (Vec<Item>, Vec<Var>) {
        let mut items = Vec::new();
        for _ in 0..self.rng.below(4) {
            let found = self.find_array(|_, ty| ty.shape[0].size() == Some(width));
            items.extend(found);
        }
        let mut params = Vec::new();
        for item in &items {
            let row = item.ty.peel(1).unwrap_or(Type::I64);
            params.push(self.b.fresh("x", row));
        }
        (items, params)
    }

    pub(super) fn add_params(&mut self, params: &[Var]) {
        for &v in params {
            let ty = self.b.ty(v);
            self.add(v, ty, false);
        }
    }

    pub(super) fn traversal(&mut self) -> Option<()> {
        if self.depth > 3 {
            return None;
        }
        let width = self.size();
        let (scans, reds) = (self.folds(), self.folds());
        self.traverse(width, scans, reds)
    }

    pub(super) fn traverse(
        &mut self,
        width: Size,
        scans: Vec<Fold>,
        reds: Vec<Fold>,
    ) -> Option<()> {
        let (items, params) = self.inputs(width);
        let all: Vec<Fold> = scans.iter().chain(&reds).copied().collect();
        let maps = self.rng.below(3) + usize::from(all.is_empty());
        let most = self.most(width);
        let (body, map_types) = self.nested(most, |g, sizes| {
            g.add_params(&params);
            g.runs(width.into());
            g.statements(5);
            let mut result: Vec<Atom> = Vec::new();
            for &fold in &all {
                result.extend(g.fold_elements(fold));
            }
            let mut types = Vec::new();
            for _ in 0..maps {
                let (a, ty) = g.result(sizes);
                result.push(a);
                types.push(ty);
            }
            (result, types)
        });
        let operators = |g: &mut Self, folds: &[Fold]| {
            folds
                .iter()
                .map(|&f| g.operator(f))
                .collect::<Option<Vec<_>>>()
        };
        let scan_ops = operators(self, &scans)?;
        let red_ops = operators(self, &reds)?;
        let mut types: Vec<Type> = Vec::new();
        for ty in scans.into_iter().flat_map(Self::fold_types) {
            types.push(Type::array_of(&ty, &[width]));
        }
        types.extend(reds.into_iter().flat_map(Self::fold_types));
        types.extend(map_types.iter().map(|ty| Type::array_of(ty, &[width])));
        let soac = Soac::Screma {
            width,
            arrays: items.iter().map(|i| i.var).collect(),
            lam: Lambda { params, body },
            scans: scan_ops,
            reds: red_ops,
        };
        self.bind_all(types, soac);
        Some(())
    }

    /// Binds the results of an operation, which share memory with nothing.
    pub(super) fn bind_all(&mut self, types: Vec<Type>, soac: Soac) {
        let binds: Vec<Var> = types
            .iter()
            .map(|ty| self.b.fresh("ys", ty.clone()))
            .collect();
        self.b.bind(binds.clone(), Exp::Op(soac));
        for (v, ty) in binds.into_iter().zip(types) {
            self.add(v, ty, true);
        }
    }

    pub(super) fn filtering(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        let (items, params) = self.inputs(width);
        let most = self.most(width);
        let (body, types) = self.nested(most, |g, sizes| {
            g.add_params(&params);
            g.statements(3);
            let keep = g.scalar(ScalarType::Bool);
            let (a, ty) = g.result(sizes);
            (vec![keep, a], vec![ty])
        });
        let soac = Soac::Filter {
            width,
            arrays: items.iter().map(|i| i.var).collect(),
            lam: Lambda { params, body },
        };
        let kept = self.b.fresh("kept", Type::I64);
        let ty = Type::array_of(&types[0], &[Size::Var(kept)]);
        let ys = self.b.fresh("ys", ty.clone());
        self.b.bind(vec![kept, ys], Exp::Op(soac));
        self.add_size(kept.into(), most);
        self.add(ys, ty, true);
        Some(())
    }
}

pub(super) fn map(width: Size, arrays: Vec<Var>, lam: Lambda<Soac>) -> Soac {
    Soac::Screma {
        width,
        arrays,
        lam,
        scans: Vec::new(),
        reds: Vec::new(),
    }
}
