//! Writing definitions of functions as formulas: values with the operators of Rust that append statements of IR.
//!
//! A definition is straight-line code over its parameters, so that it runs in any number of lanes at once. What only
//! few operands need and costs much (the reduction of huge angles) stands apart, in [`Rare`].

use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::span::Spans;
use crate::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use crate::ir::types::{ScalarType, Type};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};

/// A function of scalars as IR. The body has scalar statements alone.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The variables of the body.
    pub vars: Vars,
    /// The parameters.
    pub params: Vec<Var>,
    /// The code; one result.
    pub body: Body<Mem>,
    /// What to do where the body is wrong.
    pub rare: Option<Box<Rare>>,
    /// The same function, to the bit, with less to do for ordinary operands and the others behind a branch. It is for devices
    /// where a branch costs next to nothing and operands are worked on one by one.
    pub branching: Option<Box<Definition>>,
}

impl Definition {
    /// The same with a way that leaves what is not ordinary to the definition itself: `ordinary` computes whether operands are
    /// such, and the result for them.
    #[must_use]
    pub fn with_branch<const N: usize>(
        self,
        ty: ScalarType,
        ordinary: impl for<'c> FnOnce([Val<'c>; N]) -> (Val<'c>, Val<'c>),
    ) -> Self {
        let branching = define(ty, |operands| {
            let (is_ordinary, result) = ordinary(operands);
            result.code.rare(is_ordinary.fails(), self.clone());
            result
        });
        Self {
            branching: Some(Box::new(branching)),
            ..self
        }
    }
}

/// Code for the few operands for which the body of a definition has a wrong result.
#[derive(Clone, Debug)]
pub struct Rare {
    /// Whether the operands are such; a variable of the body.
    pub cond: Var,
    /// A function of the same parameters with the right result.
    pub definition: Definition,
}

/// A body under construction.
#[derive(Default)]
pub struct Code {
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    vars: Vars,
    stms: Vec<Stm<Mem>>,
    /// What was computed before, to be used again.
    known: BTreeMap<(ScalarOp, Vec<Atom>), Var>,
    rare: Option<Box<Rare>>,
}

/// A value of the body under construction.
#[derive(Clone, Copy)]
pub struct Val<'c> {
    code: &'c Code,
    atom: Atom,
    ty: ScalarType,
}

/// Defines a function of as many operands as `N`, all of type `ty`.
pub fn define<const N: usize>(
    ty: ScalarType,
    f: impl for<'c> FnOnce([Val<'c>; N]) -> Val<'c>,
) -> Definition {
    let code = Code::default();
    let params: [Var; N] = std::array::from_fn(|i| {
        let name = ["x", "y", "z"][i].to_owned();
        let ty = Type::Scalar(ty);
        code.state.borrow_mut().vars.push(VarInfo { name, ty })
    });
    let result = f(params.map(|v| code.val(Atom::Var(v), ty))).atom;
    let State {
        vars, stms, rare, ..
    } = code.state.into_inner();
    Definition {
        vars,
        params: params.to_vec(),
        body: live(stms, result, rare.as_deref()),
        rare,
        branching: None,
    }
}

/// The statements that the result or the rare condition depends on.
fn live(stms: Vec<Stm<Mem>>, result: Atom, rare: Option<&Rare>) -> Body<Mem> {
    let mut wanted: Vec<Var> = rare.iter().map(|r| r.cond).collect();
    if let Atom::Var(v) = result {
        wanted.push(v);
    }
    let mut kept = Vec::new();
    for stm in stms.into_iter().rev() {
        if wanted.contains(&stm.binds[0]) {
            if let Exp::Scalar(_, args) = &stm.exp {
                wanted.extend(args.iter().filter_map(|a| match a {
                    Atom::Var(v) => Some(*v),
                    Atom::Const(_) => None,
                }));
            }
            kept.push(stm);
        }
    }
    kept.reverse();
    Body {
        stms: kept,
        result: vec![result],
    }
}

impl Code {
    fn val(&self, atom: Atom, ty: ScalarType) -> Val<'_> {
        Val {
            code: self,
            atom,
            ty,
        }
    }

    /// An operation.
    fn op(&self, op: ScalarOp, args: Vec<Atom>) -> Val<'_> {
        let mut state = self.state.borrow_mut();
        let key = (op, args.clone());
        if let Some(known) = state.known.get(&key) {
            return self.val(Atom::Var(*known), op.result());
        }
        let var = state.vars.push(VarInfo {
            name: "t".to_owned(),
            ty: Type::Scalar(op.result()),
        });
        state.stms.push(Stm {
            binds: vec![var],
            certs: Vec::new(),
            exp: Exp::Scalar(op, args),
            span: Spans::NONE,
        });
        state.known.insert(key, var);
        self.val(Atom::Var(var), op.result())
    }

    /// A float constant.
    pub fn float(&self, ty: ScalarType, value: f64) -> Val<'_> {
        self.val(Atom::Const(constant(ty, value)), ty)
    }

    /// Says that the body is wrong where `cond` holds, and what is right there.
    pub fn rare(&self, cond: Val<'_>, definition: Definition) {
        let Atom::Var(cond) = cond.atom else {
            unreachable!("a condition of operands is computed");
        };
        self.state.borrow_mut().rare = Some(Box::new(Rare { cond, definition }));
    }
}

/// The constant of a float type, rounded.
fn constant(ty: ScalarType, value: f64) -> Const {
    if ty == ScalarType::F32 {
        Const::f32(value as f32)
    } else {
        Const::f64(value)
    }
}

/// What can stand as an operand: a value, or a constant of the type of the other operand.
pub trait Operand {
    /// The operand as an atom of the type.
    fn atom(self, ty: ScalarType) -> Atom;
}

impl Operand for Val<'_> {
    fn atom(self, ty: ScalarType) -> Atom {
        debug_assert_eq!(self.ty, ty, "operands have one type");
        self.atom
    }
}

impl Operand for f64 {
    fn atom(self, ty: ScalarType) -> Atom {
        Atom::Const(constant(ty, self))
    }
}

impl Operand for u64 {
    fn atom(self, ty: ScalarType) -> Atom {
        Atom::Const(if ty == ScalarType::U32 {
            Const::U32(self as u32)
        } else {
            Const::U64(self)
        })
    }
}

impl<'c> Val<'c> {
    /// The type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }
    /// The body that the value belongs to.
    pub fn code(self) -> &'c Code {
        self.code
    }
    fn un(self, op: UnOp) -> Self {
        self.code.op(ScalarOp::Un(op, self.ty), vec![self.atom])
    }
    fn bin(self, op: BinOp, b: impl Operand) -> Self {
        let b = b.atom(self.ty);
        self.code.op(ScalarOp::Bin(op, self.ty), vec![self.atom, b])
    }
    fn cmp(self, op: CmpOp, b: impl Operand) -> Self {
        let b = b.atom(self.ty);
        self.code.op(ScalarOp::Cmp(op, self.ty), vec![self.atom, b])
    }
    /// A constant of the type of this value.
    pub fn like(self, value: impl Operand) -> Self {
        self.code.val(value.atom(self.ty), self.ty)
    }
    /// `self * b + c`, rounded once.
    pub fn fma(self, b: impl Operand, c: impl Operand) -> Self {
        let (b, c) = (b.atom(self.ty), c.atom(self.ty));
        let op = ScalarOp::Tern(TernOp::Fma, self.ty);
        self.code.op(op, vec![self.atom, b, c])
    }
    /// Quotient.
    pub fn over(self, b: impl Operand) -> Self {
        self.bin(BinOp::Div, b)
    }
    /// Magnitude.
    pub fn abs(self) -> Self {
        self.un(UnOp::Abs)
    }
    /// Square root.
    pub fn sqrt(self) -> Self {
        self.un(UnOp::Sqrt)
    }
    /// Nearest integer, ties to even.
    pub fn round(self) -> Self {
        self.un(UnOp::Round)
    }
    /// Integer part.
    pub fn trunc(self) -> Self {
        self.un(UnOp::Trunc)
    }
    /// The magnitude of this with the sign of another.
    pub fn copysign(self, b: Val<'c>) -> Self {
        self.bin(BinOp::Copysign, b)
    }
    /// Whether a NaN.
    pub fn is_nan(self) -> Self {
        self.un(UnOp::IsNan)
    }
    /// Less.
    pub fn lt(self, b: impl Operand) -> Self {
        self.cmp(CmpOp::Lt, b)
    }
    /// Less or equal.
    pub fn le(self, b: impl Operand) -> Self {
        self.cmp(CmpOp::Le, b)
    }
    /// Greater.
    pub fn gt(self, b: impl Operand) -> Self {
        self.like(b).lt(self)
    }
    /// Greater or equal.
    pub fn ge(self, b: impl Operand) -> Self {
        self.like(b).le(self)
    }
    /// Equal.
    pub fn eq(self, b: impl Operand) -> Self {
        self.cmp(CmpOp::Eq, b)
    }
    /// The first if this condition holds, else the second.
    pub fn select(self, a: Val<'c>, b: impl Operand) -> Self {
        let other = b.atom(a.ty);
        self.code
            .op(ScalarOp::Select(a.ty), vec![self.atom, a.atom, other])
    }
    /// `b` where the condition holds, else this.
    pub fn or_if(self, cond: Val<'c>, b: impl Operand) -> Self {
        cond.select(self.like(b), self)
    }
    /// Conversion to another type of floats.
    pub fn to(self, ty: ScalarType) -> Self {
        if ty == self.ty {
            return self;
        }
        self.code
            .op(ScalarOp::Convert(self.ty, ty), vec![self.atom])
    }
    /// The bits. Those of a NaN must not show in the result of the definition.
    pub fn bits(self) -> Self {
        self.code.op(ScalarOp::ToBits(self.ty), vec![self.atom])
    }
    /// The float with these bits.
    pub fn float(self) -> Self {
        let ty = if self.ty == ScalarType::U32 {
            ScalarType::F32
        } else {
            ScalarType::F64
        };
        self.code.op(ScalarOp::FromBits(ty), vec![self.atom])
    }
    /// Bitwise and, or conjunction.
    pub fn and(self, b: impl Operand) -> Self {
        self.bin(BinOp::And, b)
    }
    /// Bitwise or, or disjunction.
    pub fn or(self, b: impl Operand) -> Self {
        self.bin(BinOp::Or, b)
    }
    /// Bitwise exclusive or.
    pub fn xor(self, b: impl Operand) -> Self {
        self.bin(BinOp::Xor, b)
    }
    /// Negation of a truth value.
    pub fn fails(self) -> Self {
        self.un(UnOp::Not)
    }
    /// Shift left by a constant.
    pub fn left(self, by: u64) -> Self {
        self.bin(BinOp::Shl, by)
    }
    /// Logical shift right by a constant.
    pub fn right(self, by: u64) -> Self {
        self.bin(BinOp::Shr, by)
    }
    /// A polynomial in this value by Horner's scheme, the coefficient of the highest power last.
    pub fn poly(self, coefficients: &[f64]) -> Self {
        let mut highest = coefficients.iter().rev();
        let first = self.like(*highest.next().unwrap_or(&0.0));
        highest.fold(first, |sum, c| sum.fma(self, *c))
    }
}

impl<'c, B: Operand> Add<B> for Val<'c> {
    type Output = Val<'c>;
    fn add(self, b: B) -> Val<'c> {
        self.bin(BinOp::Add, b)
    }
}

impl<'c, B: Operand> Sub<B> for Val<'c> {
    type Output = Val<'c>;
    fn sub(self, b: B) -> Val<'c> {
        self.bin(BinOp::Sub, b)
    }
}

impl<'c, B: Operand> Mul<B> for Val<'c> {
    type Output = Val<'c>;
    fn mul(self, b: B) -> Val<'c> {
        self.bin(BinOp::Mul, b)
    }
}

impl<'c> Neg for Val<'c> {
    type Output = Val<'c>;
    fn neg(self) -> Val<'c> {
        self.un(UnOp::Neg)
    }
}
