//! A function of two branches, of which a parameter chooses one: calls with constants want versions of it. Sometimes it is so
//! large that it is not inlined.

use super::Gen;
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Exp, Fun, Inline, Param};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
/// How many numbers a branch makes of one another, of a function that is inlined and of one that is too large for it.
const SMALL: usize = 8;
const LARGE: usize = 75;
/// The parameter is compared with this number.
const MIDDLE: i64 = 3;

impl Gen<'_> {
    /// The function.
    pub(super) fn chooser(mut self) -> Fun<Soac> {
        let k = self.b.fresh("k", Type::I64);
        let vector = Type::array_of(&Type::I64, &[Size::Var(k)]);
        let types = [
            ("xs", vector.clone()),
            ("s", Type::I64),
            ("t", Type::I64),
            ("which", Type::I64),
        ];
        let params = self.params(&[k], &types);
        let (s, t, which) = (params[2], params[3], params[4]);
        let steps = if self.rng.chance(40) { LARGE } else { SMALL };
        self.statements(3);
        let first = self.b.lt(which, MIDDLE);
        let branch = |g: &mut Self| {
            g.nested(1, |g, _| {
                g.statements(3);
                let array = g.fresh_array(I64, &[Size::Var(k)]);
                let (from, to) = if g.rng.chance(50) { (s, t) } else { (t, s) };
                let number = g.long(from, to, steps);
                (vec![array.into(), number], ())
            })
            .0
        };
        let (then, otherwise) = (branch(&mut self), branch(&mut self));
        let cond = first;
        let formals = [("chosen", vector.clone()), ("number", Type::I64)];
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        let chosen = self.b.let_all(&formals, exp);
        let number = self.b.sub(chosen[1], t);
        let results = [self.b.fresh("r", vector), self.b.fresh("n", Type::I64)];
        let plain = |&var: &Var| Param { var, unique: false };
        Fun {
            name: "chooser".into(),
            entry: None,
            params: params.iter().map(plain).collect(),
            results: results.iter().map(plain).collect(),
            body: self.b.finish(vec![chosen[0].into(), number]),
            inline: Inline::Auto,
            derivative: None,
            span: Spans::NONE,
        }
    }

    /// A number made of two others in many steps, none of which is made twice.
    pub(super) fn long(&mut self, from: Var, with: Var, steps: usize) -> Atom {
        let mut number = Atom::Var(from);
        for step in 0..steps as i64 {
            let (op, by) = match self.rng.below(5) {
                0 => (BinOp::Add, Atom::Var(with)),
                1 => (BinOp::Mul, Atom::i64(3)),
                2 => (BinOp::Xor, Atom::i64(step + 1)),
                3 => (BinOp::Sub, self.scalar(I64)),
                _ => (BinOp::Shr, Atom::ONE),
            };
            number = self.b.bin(op, I64, number, by);
        }
        number
    }

    /// A call of the function, mostly with a constant for what chooses.
    pub(super) fn choosing(&mut self) -> Option<()> {
        let fun = self.chooser?;
        let vector = self.vector_for_call()?;
        let which = if self.rng.chance(75) {
            Atom::i64(*self.rng.pick(&[0, MIDDLE - 1, MIDDLE, 7]))
        } else {
            self.scalar(I64)
        };
        let others = [self.scalar(I64), self.scalar(I64), which];
        self.call(fun, &vector, &others)
    }
}
