//! What programs may gain where the last digits of floats are free (`--fast-math`): a product and a sum round once, division by
//! a constant is multiplication by its reciprocal, a small constant power is a chain of products, and sine and cosine, of 32 bits also
//! exponentials, roots and quotients, are off by up to 4 units in the last place.
//!
//! ```text
//! let p = mul.f32(x, y)          let s = fma.f32(x, y, z)
//! let s = add.f32(p, z)    ──►
//! let q = div.f32(s, 3)          let q = mul.f32(s, 0.33333334)
//! let t = sin.f32(q)             let t = sin_near.f32(q)
//! let r = sqrt.f32(t)            let r = rsqrt_near.f32(t)
//! let u = mul.f32(t, r)    ──►   let u = mul.f32(x, r)
//! let v = div.f32(x, u)          let w = mul.f32(u, r)
//!                                let v = mul.f32(w, r)
//! ```
//!
//! By roots that nothing else uses is divided with reciprocal roots, which there are instructions for.
//!
//! It is as C's `-ffast-math` without what that says of infinities and NaN, which stay what they are. Sums of reductions are in a free order anyway.

use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::interp::scalar::convert::convert;
use crate::ir::id::{SpanId, Var};
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::syntax::{Atom, Body, Exp, Program, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{body_uses, deep};
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Mem> = Pass {
    name: "fast-math",
    summary: "products and sums of floats in one operation, reciprocals of constants, faster functions (only with --fast-math)",
    run: |mut program, cx| {
        if cx.options.fast_math {
            let Program { vars, funs, .. } = &mut program;
            for fun in funs.iter_mut() {
                let mut uses = HashMap::default();
                body_uses(vars, &fun.body, &mut |v| *uses.entry(v).or_default() += 1);
                body(vars, &uses, &mut fun.body);
            }
        }
        program
    },
};

/// What takes the place of functions, and whether it does so for numbers of 64 bits.
const NEAR: [(UnOp, UnOp, bool); 5] = [
    (UnOp::Sin, UnOp::SinNear, true),
    (UnOp::Cos, UnOp::CosNear, true),
    (UnOp::Exp, UnOp::ExpNear, false),
    (UnOp::Sqrt, UnOp::SqrtNear, false),
    (UnOp::Rsqrt, UnOp::RsqrtNear, false),
];

/// The factors of products that are used once, by what is bound to them.
type Products = HashMap<Var, [Atom; 2]>;
/// What square roots that are used once are of.
type Roots = HashMap<Var, Atom>;

fn body(vars: &mut Vars, uses: &HashMap<Var, usize>, body_: &mut Body<Mem>) {
    let mut products = Products::default();
    let mut roots = Roots::default();
    let mut gone = HashSet::default();
    let mut stms = Vec::with_capacity(body_.stms.len());
    for mut stm in std::mem::take(&mut body_.stms) {
        if let Exp::Scalar(ScalarOp::Bin(op, ty @ (ScalarType::F32 | ScalarType::F64)), args) =
            &stm.exp
        {
            let (op, ty, args) = (*op, *ty, [args[0], args[1]]);
            if op == BinOp::Mul && uses.get(&stm.binds[0]) == Some(&1) {
                products.insert(stm.binds[0], args);
            } else if let Some(sum) = sum(&products, op, args) {
                fired(sum.rule);
                gone.insert(sum.product);
                let mut operands = sum.operands;
                if let Some(negated) = sum.negated {
                    let name = vars[sum.product].name.clone();
                    let info = VarInfo {
                        name,
                        ty: Type::Scalar(ty),
                    };
                    let var = vars.push(info);
                    let of = std::mem::replace(&mut operands[negated], var.into());
                    stms.push(Stm {
                        binds: vec![var],
                        certs: Vec::new(),
                        exp: Exp::Scalar(ScalarOp::Un(UnOp::Neg, ty), vec![of]),
                        span: stm.span,
                    });
                }
                stm.exp = Exp::Scalar(ScalarOp::Tern(TernOp::Fma, ty), operands.to_vec());
            } else if let (BinOp::Div, Some(by)) = (op, reciprocal(args[1])) {
                fired("fast-math/reciprocal");
                stm.exp = Exp::Scalar(ScalarOp::Bin(BinOp::Mul, ty), vec![args[0], by]);
            } else if let (BinOp::Pow, Some(power)) = (op, small_power(args[1])) {
                fired("fast-math/power");
                stm.exp = power.products(vars, &stm, (ty, args[0]), &mut stms);
            } else if let Some(by) = divisor(&roots, &products, (op, ty), args[1]) {
                fired("fast-math/root-quotient");
                stm.exp = by.times(vars, args[0], stm.span, &mut stms);
                gone.extend(by.gone);
            } else if (op, ty) == (BinOp::Div, ScalarType::F32) {
                fired("fast-math/near");
                stm.exp = Exp::Scalar(ScalarOp::Bin(BinOp::DivNear, ty), args.to_vec());
            }
        } else if let Exp::Scalar(
            ScalarOp::Un(op, ty @ (ScalarType::F32 | ScalarType::F64)),
            args,
        ) = &mut stm.exp
        {
            if (*op, *ty) == (UnOp::Sqrt, ScalarType::F32) && uses.get(&stm.binds[0]) == Some(&1) {
                roots.insert(stm.binds[0], args[0]);
            }
            let known = NEAR
                .iter()
                .filter(|(_, _, wide)| *wide || *ty == ScalarType::F32);
            if let Some((_, near, _)) = known.clone().find(|(exact, _, _)| exact == op) {
                fired("fast-math/near");
                *op = *near;
            }
        } else {
            deep(|| stm.exp.bodies_mut(&mut |inner| body(vars, uses, inner)));
        }
        stms.push(stm);
    }
    stms.retain(|stm| !stm.binds.iter().any(|v| gone.contains(v)));
    body_.stms = stms;
}

/// A sum or difference of which one part is a product.
struct Sum {
    rule: &'static str,
    product: Var,
    /// Both factors, and what the product is added to.
    operands: [Atom; 3],
    /// Which of them is subtracted.
    negated: Option<usize>,
}

fn sum(products: &Products, op: BinOp, [a, b]: [Atom; 2]) -> Option<Sum> {
    let product = |atom: Atom| atom.as_var().and_then(|v| Some((v, *products.get(&v)?)));
    let (first, second) = (product(a), product(b));
    let (rule, (product, [x, y]), other, negated) = match (op, first, second) {
        (BinOp::Add, Some(found), _) => ("fast-math/product-sum", found, b, None),
        (BinOp::Add, None, Some(found)) => ("fast-math/product-sum", found, a, None),
        (BinOp::Sub, Some(found), _) => ("fast-math/product-less", found, b, Some(2)),
        (BinOp::Sub, None, Some(found)) => ("fast-math/less-product", found, a, Some(0)),
        _ => return None,
    };
    Some(Sum {
        rule,
        product,
        operands: [x, y, other],
        negated,
    })
}

/// A divisor that is a square root, or a number times its square root.
struct Divisor {
    of: Atom,
    /// How often the reciprocal root is a factor of the quotient.
    count: usize,
    gone: Vec<Var>,
}

fn divisor(
    roots: &Roots,
    products: &Products,
    op: (BinOp, ScalarType),
    by: Atom,
) -> Option<Divisor> {
    let by = by
        .as_var()
        .filter(|_| op == (BinOp::Div, ScalarType::F32))?;
    let of_root = |root: Var, count: usize, mut gone: Vec<Var>| {
        gone.push(root);
        let of = *roots.get(&root)?;
        Some(Divisor { of, count, gone })
    };
    let Some([a, b]) = products.get(&by) else {
        return of_root(by, 1, Vec::new());
    };
    let of_product = |number: Atom, root: Atom| {
        let found = of_root(root.as_var()?, 3, vec![by])?;
        (found.of == number).then_some(found)
    };
    of_product(*a, *b).or_else(|| of_product(*b, *a))
}

impl Divisor {
    /// The quotient as a product, of which all but the last factor are bound before.
    fn times(
        &self,
        vars: &mut Vars,
        number: Atom,
        span: SpanId,
        stms: &mut Vec<Stm<Mem>>,
    ) -> Exp<Mem> {
        let ty = ScalarType::F32;
        let name = vars[self.gone[0]].name.clone();
        let mut bind = |exp: Exp<Mem>| {
            let name = name.clone();
            let var = vars.push(VarInfo {
                name,
                ty: Type::Scalar(ty),
            });
            stms.push(Stm {
                binds: vec![var],
                certs: Vec::new(),
                exp,
                span,
            });
            Atom::Var(var)
        };
        let inverse = Exp::Scalar(ScalarOp::Un(UnOp::RsqrtNear, ty), vec![self.of]);
        let one = number == Atom::Const(Const::f32(1.0));
        if one && self.count == 1 {
            return inverse;
        }
        let inverse = bind(inverse);
        let product = |a: Atom| Exp::Scalar(ScalarOp::Bin(BinOp::Mul, ty), vec![a, inverse]);
        let (first, count) = if one {
            (inverse, self.count - 1)
        } else {
            (number, self.count)
        };
        let all = (1..count).fold(first, |all, _| bind(product(all)));
        product(all)
    }
}

/// The largest exponent that becomes products: four of them for each power at most.
const LARGEST_POWER: u32 = 16;

/// A constant exponent.
enum Power {
    /// One half.
    Root,
    /// An integer from 1 to [`LARGEST_POWER`], or the negation of one.
    Integer { of: u32, is_negative: bool },
}

fn small_power(exponent: Atom) -> Option<Power> {
    let value = if let Const::F32(bits) = exponent.as_const()? {
        f64::from(f32::from_bits(bits))
    } else if let Const::F64(bits) = exponent.as_const()? {
        f64::from_bits(bits)
    } else {
        return None;
    };
    if value.to_bits() == 0.5f64.to_bits() {
        return Some(Power::Root);
    }
    let of = (1..=LARGEST_POWER).find(|n| f64::from(*n).to_bits() == value.abs().to_bits())?;
    Some(Power::Integer {
        of,
        is_negative: value < 0.0,
    })
}

impl Power {
    /// The power of a number, all but the last operation of which are bound in `stms`: `x ** 6` is `let s = x * x; let q = s * s; s * q`.
    fn products(
        &self,
        vars: &mut Vars,
        stm: &Stm<Mem>,
        (ty, base): (ScalarType, Atom),
        stms: &mut Vec<Stm<Mem>>,
    ) -> Exp<Mem> {
        let Power::Integer { of, is_negative } = *self else {
            return Exp::Scalar(ScalarOp::Un(UnOp::Sqrt, ty), vec![base]);
        };
        let name = vars[stm.binds[0]].name.clone();
        let mut bind = |exp: Exp<Mem>| {
            let info = VarInfo {
                name: name.clone(),
                ty: Type::Scalar(ty),
            };
            let var = vars.push(info);
            stms.push(Stm {
                binds: vec![var],
                certs: Vec::new(),
                exp,
                span: stm.span,
            });
            Atom::Var(var)
        };
        let product = |a, b| Exp::Scalar(ScalarOp::Bin(BinOp::Mul, ty), vec![a, b]);
        let (mut square, mut left, mut result) = (base, of, None);
        loop {
            if left & 1 == 1 {
                result = Some(match result.take() {
                    None => Exp::Atom(square),
                    Some(so_far) => {
                        let so_far = if let Exp::Atom(atom) = so_far {
                            atom
                        } else {
                            bind(so_far)
                        };
                        product(so_far, square)
                    }
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            square = bind(product(square, square));
        }
        let result = result.expect("exponents are at least one");
        if !is_negative {
            return result;
        }
        let power = if let Exp::Atom(atom) = result {
            atom
        } else {
            bind(result)
        };
        let one = convert(ty, Const::I64(1));
        Exp::Scalar(ScalarOp::Bin(BinOp::Div, ty), vec![one.into(), power])
    }
}

/// One over a constant, where that is a normal number.
fn reciprocal(atom: Atom) -> Option<Atom> {
    let normal = if let Atom::Const(Const::F32(bits)) = atom {
        let by = f32::from_bits(bits).recip();
        by.is_normal().then(|| Const::f32(by))
    } else if let Atom::Const(Const::F64(bits)) = atom {
        let by = f64::from_bits(bits).recip();
        by.is_normal().then(|| Const::f64(by))
    } else {
        None
    };
    normal.map(Atom::Const)
}
