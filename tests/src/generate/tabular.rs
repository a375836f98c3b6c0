//! Points that compute functions and quotients of counters and indices of few values: every point computes the same ones, so that they
//! may be computed once, before all points, and be read from a table.

use super::bulk::{Fold, map};
use super::nest::reduction;
use super::{Gen, WORK};
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, Lambda, LoopForm, TrapKind};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

/// The most numbers of all points together: each takes hundreds of instructions.
const NUMBERS: u64 = 1_500;

/// Functions of one number that are many operations.
const FUNCTIONS: [UnOp; 9] = [
    UnOp::Sin,
    UnOp::Cos,
    UnOp::Exp,
    UnOp::Log,
    UnOp::Tan,
    UnOp::Sinpi,
    UnOp::Cbrt,
    UnOp::Tanh,
    UnOp::Atan,
];

/// What the numbers of points are made of.
#[derive(Clone, Copy)]
struct Among<'a> {
    /// Counters and indices, those that were bound last at the end.
    counters: &'a [Var],
    /// Numbers that are the same for all points.
    outside: &'a [Var],
    /// How much deeper loops and operators may go.
    left: usize,
}

impl Gen<'_> {
    /// An operator whose points compute such numbers.
    pub(super) fn tabular(&mut self) -> Option<()> {
        if self.depth > 1 {
            return None;
        }
        let width = match self.rng.below(10) {
            0..4 => Size::Const(*self.rng.pick(&[15, 16, 17, 20])),
            _ => self.size(),
        };
        if self.work.saturating_mul(self.most(width)) > NUMBERS / 4 {
            return None;
        }
        let outside: Vec<Var> = self
            .scope
            .iter()
            .filter(|item| item.ty == Type::I64)
            .map(|item| item.var)
            .collect();
        let here = self.b.iota(width);
        let (items, mut params) = self.inputs(width);
        let index = self.b.fresh("i", Type::I64);
        params.push(index);
        let arrays: Vec<Var> = items.iter().map(|i| i.var).chain([here]).collect();
        let folds = match self.rng.below(4) {
            0 => vec![Fold::Simple(BinOp::Add, I64)],
            _ => Vec::new(),
        };
        let filters = folds.is_empty() && self.rng.chance(10);
        let row = match !filters && self.rng.chance(40) {
            true => self.few(),
            false => None,
        };
        let most = self.most(width);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&params);
            g.statements(1);
            let among = Among {
                counters: &[index],
                outside: &outside,
                left: 2,
            };
            let mut result = Vec::new();
            for _ in &folds {
                result.push(g.among(among));
            }
            let value = match row {
                Some(len) => g.over(len, among).into(),
                None => g.among(among),
            };
            if filters {
                let bits = g.b.bin(BinOp::And, I64, value, 3);
                result.push(g.b.lt(0, bits));
            }
            result.push(value);
            (result, ())
        });
        let lam = Lambda { params, body };
        if filters {
            let kept = self.b.fresh("kept", Type::I64);
            let ty = Type::array_of(&Type::I64, &[Size::Var(kept)]);
            let ys = self.b.fresh("ys", ty.clone());
            let filter = Soac::Filter { width, arrays, lam };
            self.b.bind(vec![kept, ys], Exp::Op(filter));
            self.add_size(kept.into(), most);
            self.add(ys, ty, true);
            return Some(());
        }
        let shape: Vec<Size> = [width].into_iter().chain(row).collect();
        let made = Type::array_of(&Type::I64, &shape);
        let ops = folds.iter().filter_map(|fold| self.operator(*fold));
        let ops: Vec<_> = ops.collect();
        let (mut scans, mut reds) = (Vec::new(), Vec::new());
        let mut types = Vec::new();
        match self.rng.chance(50) {
            true => {
                types.extend(ops.iter().map(|_| Type::array_of(&Type::I64, &[width])));
                scans = ops;
            }
            false => {
                types.extend(ops.iter().map(|_| Type::I64));
                reds = ops;
            }
        }
        types.push(made);
        let soac = Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        };
        self.bind_all(types, soac);
        Some(())
    }

    /// A number of few, known or not.
    fn few(&mut self) -> Option<Size> {
        let size = match self.rng.chance(50) {
            true => Size::Const(2 + self.rng.below(7) as i64),
            false => self.size(),
        };
        let most = self.work.saturating_mul(self.most(size));
        (most <= NUMBERS.min(WORK)).then_some(size)
    }

    /// A vector of so many numbers, of which each is made of its index and others.
    fn over(&mut self, len: Size, among: Among<'_>) -> Var {
        let (here, lam) = self.each(len, among);
        let soac = map(len, vec![here], lam);
        let ty = Type::array_of(&Type::I64, &[len]);
        self.b.let_("row", ty, Exp::Op(soac))
    }

    /// Indices below a length, and what becomes of each.
    fn each(&mut self, len: Size, among: Among<'_>) -> (Var, Lambda<Soac>) {
        let here = self.b.iota(len);
        let index = self.b.fresh("j", Type::I64);
        let most = self.most(len);
        let (body, ()) = self.nested(most, |g, _| {
            g.add_params(&[index]);
            let counters = [among.counters, &[index]].concat();
            let inner = Among {
                counters: &counters,
                left: among.left.saturating_sub(1),
                ..among
            };
            (vec![g.among(inner)], ())
        });
        let params = vec![index];
        (here, Lambda { params, body })
    }

    /// A number made of counters: in a loop, by an operator, in one of two branches, or at once.
    fn among(&mut self, among: Among<'_>) -> Atom {
        let kind = match among.left {
            0 => 9,
            _ => self.rng.below(10),
        };
        let made = match kind {
            0..4 => self.counted_up(among),
            4..6 => self.few().and_then(|len| self.summed(len, among)),
            6 => {
                // Of another length at each point.
                let raw = self.scalar(I64);
                let length = self.sizing(raw);
                length.and_then(|len| self.summed(len, among))
            }
            7 | 8 => Some(self.by_halves(among)),
            _ => None,
        };
        made.unwrap_or_else(|| self.costly(among))
    }

    fn summed(&mut self, len: Size, among: Among<'_>) -> Option<Atom> {
        let (here, lam) = self.each(len, among);
        let op = self.operator(Fold::Simple(BinOp::Add, I64))?;
        let sum = reduction(len, vec![here], lam, op);
        Some(self.b.let_("sum", Type::I64, Exp::Op(sum)).into())
    }

    /// A loop of a few steps; how many may be known, the same for all points, or different.
    fn counted_up(&mut self, among: Among<'_>) -> Option<Atom> {
        let steps = 1 + self.rng.below(6) as i64;
        let bound = match self.rng.below(4) {
            0 | 1 => Atom::i64(steps),
            2 if !among.outside.is_empty() => {
                let raw = *self.rng.pick(among.outside);
                self.b.bin(BinOp::Mod, I64, raw, steps + 1)
            }
            _ => {
                let raw = self.scalar(I64);
                self.b.bin(BinOp::Mod, I64, raw, steps + 1)
            }
        };
        if self.work.saturating_mul(steps as u64) > NUMBERS {
            return None;
        }
        let ty = *self
            .rng
            .pick(&[I64, I64, ScalarType::I32, ScalarType::U8, ScalarType::I16]);
        let bound = self.b.convert(I64, ty, bound);
        let start = self.scalar(I64);
        let counter = self.b.fresh("s", Type::Scalar(ty));
        let sum = self.b.fresh("sum", Type::I64);
        let (body, ()) = self.nested(steps as u64, |g, _| {
            g.add_params(&[counter, sum]);
            let counters = [among.counters, &[counter]].concat();
            let inner = Among {
                counters: &counters,
                left: among.left - 1,
                ..among
            };
            let more = g.among(inner);
            let before = g.b.mul(sum, 3);
            (vec![g.b.add(before, more)], ())
        });
        let form = LoopForm::For {
            index: counter,
            bound,
        };
        Some(self.b.loop_(&[(sum, start)], form, body)[0].into())
    }

    /// A number of one of two branches: each point chooses, or all take the same one.
    fn by_halves(&mut self, among: Among<'_>) -> Atom {
        let cond = self.scalar(ScalarType::Bool);
        let inner = Among {
            left: among.left - 1,
            ..among
        };
        let mut branch = || self.nested(1, |g, _| (vec![g.among(inner)], ())).0;
        let (then, otherwise) = (branch(), branch());
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.b.let_("half", Type::I64, exp).into()
    }

    /// A function or a quotient of numbers that are made of counters, and something of the point.
    fn costly(&mut self, among: Among<'_>) -> Atom {
        let argument = self.argument(among);
        let mut number = match self.rng.below(4) {
            0 => self.quotient(argument, among),
            _ => self.function(argument),
        };
        if self.rng.chance(30) {
            // Another one, of the same counters perhaps.
            let argument = self.argument(among);
            let other = self.function(argument);
            number = self.b.bin(BinOp::Xor, I64, number, other);
        }
        let own = self.scalar(I64);
        let op = *self.rng.pick(&[BinOp::Add, BinOp::Xor, BinOp::Mul]);
        match self.rng.chance(70) {
            true => self.b.bin(op, I64, number, own),
            false => number,
        }
    }

    /// A small number that is the same for all points with the same counters, mostly.
    fn argument(&mut self, among: Among<'_>) -> Atom {
        let mut number = Atom::ZERO;
        for k in 0..1 + self.rng.below(2) {
            let counters = among.counters;
            let newest = counters.len() - 1;
            let counter = match k == 0 && self.rng.chance(70) {
                true => counters[newest],
                false => *self.rng.pick(counters),
            };
            let ty = self.b.ty(counter).elem().unwrap_or(I64);
            let mut part = self.b.convert(ty, I64, counter);
            let by = 2 + self.rng.below(4) as i64;
            part = match self.rng.below(4) {
                0 => self.b.bin(BinOp::Mod, I64, part, by),
                1 => self.b.mul(part, by),
                2 if !among.outside.is_empty() => {
                    let other = *self.rng.pick(among.outside);
                    self.b.mul(part, other)
                }
                _ => part,
            };
            let op = *self.rng.pick(&[BinOp::Add, BinOp::Sub, BinOp::Mul]);
            number = match k {
                0 => part,
                _ => self.b.bin(op, I64, number, part),
            };
        }
        match self.rng.below(12) {
            // It differs from point to point.
            0 => {
                let own = self.scalar(I64);
                self.b.add(number, own)
            }
            _ => number,
        }
    }

    /// The bits of a function of a number.
    fn function(&mut self, number: Atom) -> Atom {
        let floats = [ScalarType::F64, ScalarType::F32, ScalarType::F16];
        let bits = [ScalarType::U64, ScalarType::U32, ScalarType::U16];
        let which = *self.rng.pick(&[0, 0, 0, 1, 1, 2]);
        let ty = floats[which];
        let x = self.b.convert(I64, ty, number);
        let quarters = self.rng.below(9) as f64 / 4.0 + 0.25;
        let by = match ty {
            ScalarType::F64 => Const::f64(quarters),
            ScalarType::F32 => Const::f32(quarters as f32),
            ScalarType::F16
            | ScalarType::Bool
            | ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => Const::F16(half::f16::from_f64(quarters).to_bits()),
        };
        let x = self.b.bin(BinOp::Mul, ty, x, by);
        let y = match self.rng.below(8) {
            0 => self.b.bin(BinOp::Pow, ty, by, x),
            1 => self.b.bin(BinOp::Atan2, ty, x, by),
            _ => {
                let function = *self.rng.pick(&FUNCTIONS);
                self.b.un(function, ty, x)
            }
        };
        let y = self.b.scalar("bits", ScalarOp::ToBits(ty), vec![y]);
        self.b.convert(bits[which], I64, y)
    }

    /// A quotient or remainder of a number by what is not known.
    fn quotient(&mut self, number: Atom, among: Among<'_>) -> Atom {
        let kinds = [BinOp::Div, BinOp::Mod, BinOp::Quot, BinOp::Rem];
        let op = *self.rng.pick(&kinds);
        let mut by = match among.outside {
            [] => self.scalar(I64),
            outside => (*self.rng.pick(outside)).into(),
        };
        if self.rng.chance(50) {
            let more = self.argument(among);
            by = self.b.sub(by, more);
        }
        if self.rng.chance(40) {
            let odd = self.b.bin(BinOp::Or, I64, by, 1);
            return self.b.bin(op, I64, number, odd);
        }
        // Nothing is divided by zero, which some counters may give; or that fails.
        let checked = |b: &mut Builder<'_, Soac>| {
            let zero = b.eq(by, 0);
            let some = b.not(zero);
            let cert = b.assert(some, TrapKind::DivisionByZero, Vec::new());
            let certs: Vec<Var> = cert.into_iter().collect();
            vec![b.with_certs(&certs, |b| b.bin(op, I64, number, by))]
        };
        if self.rng.chance(5) {
            return checked(&mut self.b)[0];
        }
        let none = self.b.eq(by, 0);
        let formals = [("quotient", Type::I64)];
        self.b.if_(none, &formals, |_| vec![number], checked)[0].into()
    }
}
