//! Numbers that a program computes as another number and a constant: of two numbers of this kind it is known which is less, as of the
//! length of an array and the steps of a loop that leaves out one element.
//!
//! ```text
//! let m = sub.i64(n, 1)        m = n - 1
//! let k = add.i64(m, 3)        k = n + 2
//! ```

use crate::analysis::kernels::statements;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Program, Stm};
use crate::ir::types::ScalarType;
use std::collections::BTreeMap;

/// Constants are smaller than this, so that nothing wraps where the sum is a length.
const LARGEST: i64 = 1 << 32;

/// Integers of 64 bits that are another number and a constant.
#[derive(Clone, Debug, Default)]
pub struct Sums(BTreeMap<Var, (Option<Var>, i64)>);

impl Sums {
    /// Those of a program, of its kernels too.
    pub fn of(program: &Program<Mem>) -> Self {
        let mut sums = Self::default();
        for fun in program.funs.iter() {
            statements(&fun.body, &mut |stm| sums.add(stm));
        }
        sums
    }

    fn add(&mut self, stm: &Stm<Mem>) {
        let (Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args), [bind]) =
            (&stm.exp, &stm.binds[..])
        else {
            return;
        };
        let ((a, of_a), (b, of_b)) = (self.parts(args[0]), self.parts(args[1]));
        let (number, constant) = match (op, a, b) {
            (BinOp::Add, number, None) | (BinOp::Add, None, number) => {
                (number, of_a.checked_add(of_b))
            }
            (BinOp::Sub, number, None) => (number, of_a.checked_sub(of_b)),
            (_, _, _) => return,
        };
        let small = constant.filter(|constant| (-LARGEST..LARGEST).contains(constant));
        self.0
            .extend(small.map(|constant| (*bind, (number, constant))));
    }

    /// A number as another one, or none, and a constant.
    pub fn parts(&self, atom: Atom) -> (Option<Var>, i64) {
        match (atom.as_var(), atom.as_i64()) {
            (Some(var), _) => self.0.get(&var).copied().unwrap_or((Some(var), 0)),
            (None, Some(constant)) => (None, constant),
            (None, None) => (None, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;
    use crate::ir::mem::Mem;
    use crate::ir::read;
    use crate::ir::syntax::{Exp, Program};

    #[test]
    fn numbers_are_others_and_constants() {
        let text = "plan
            fun main(n: i64) -> (r: i64, s: i64, t: i64) {
              let m: i64 = sub.i64(n, 1)
              let k: i64 = add.i64(3, m)
              let p: i64 = mul.i64(k, k)
              yield m, k, p
            }";
        let program: Program<Mem> = read::program(text).expect("reads");
        let fun = program.funs.iter().next().expect("there is a function");
        assert!(matches!(fun.body.stms[0].exp, Exp::Scalar(..)));
        let n = Some(fun.params[0].var);
        let sums = Sums::of(&program);
        let of = |k: usize| sums.parts(fun.body.result[k]);
        assert_eq!((of(0), of(1)), ((n, -1), (n, 2)));
        assert_eq!(of(2).1, 0);
        assert_ne!(of(2).0, n);
    }
}
