//! Evaluates the functions that are defined in IR ([`crate::math::library`]): each definition is compiled once to a
//! list of steps over registers, which are the bits of values.

use super::ScalarTrap;
use crate::ir::id::{Id, Var};
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::syntax::{Atom, Exp};
use crate::ir::types::ScalarType;
use crate::math::code::Definition;
use crate::math::library::{Slots, computed_by, definition};
use half::f16;

/// A definition as steps. Registers hold constants, then the operands, then what the steps compute.
pub(super) struct Program {
    constants: Vec<u64>,
    params: usize,
    steps: Vec<Step>,
    result: u16,
    rare: Option<(u16, Box<Program>)>,
}

/// One operation: from registers to the next one.
struct Step {
    run: fn(u64, u64, u64) -> u64,
    args: [u16; 3],
}

/// The value of a function of floats that is defined in IR.
pub(super) fn function(op: ScalarOp, args: &[Const]) -> Result<Const, ScalarTrap> {
    let wide = computed_by(op);
    let program = program(wide).ok_or(ScalarTrap::IllTyped)?;
    let mut bits = [0; 3];
    for (bits, arg) in bits.iter_mut().zip(args) {
        *bits = match *arg {
            Const::F16(x) => f16::from_bits(x).to_f32().to_bits().into(),
            Const::F32(x) => x.into(),
            Const::F64(x) => x,
            Const::I8(_)
            | Const::I16(_)
            | Const::I32(_)
            | Const::I64(_)
            | Const::U8(_)
            | Const::U16(_)
            | Const::U32(_)
            | Const::U64(_)
            | Const::Bool(_) => return Err(ScalarTrap::IllTyped),
        };
    }
    let result = program.run(&bits[..args.len()]);
    Ok(if op.operand(0) == ScalarType::F16 {
        Const::f16(f16::from_f32(f32::from_bits(result as u32)))
    } else if wide.operand(0) == ScalarType::F32 {
        Const::F32(result as u32)
    } else {
        Const::F64(result)
    })
}

/// The steps of an operation's definition, compiled at the first use.
fn program(op: ScalarOp) -> Option<&'static Program> {
    static PROGRAMS: Slots<Program> = Slots::new();
    PROGRAMS.get(op, || definition(op).map(Program::compile))
}

impl Program {
    fn compile(definition: &Definition) -> Self {
        let mut constants = Vec::new();
        let body = &definition.body;
        let operations = || {
            body.stms.iter().filter_map(|stm| match &stm.exp {
                Exp::Scalar(op, args) => Some((stm.binds[0], *op, args)),
                Exp::Atom(_)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => None,
            })
        };
        for atom in operations()
            .flat_map(|(_, _, args)| args)
            .chain(&body.result)
        {
            if let Atom::Const(c) = atom
                && !constants.contains(c)
            {
                constants.push(*c);
            }
        }
        let mut places = vec![0; definition.vars.len()];
        let defined = definition.params.iter().copied();
        let defined = defined.chain(operations().map(|(var, _, _)| var));
        for (i, var) in defined.enumerate() {
            places[var.index()] = constants.len() + i;
        }
        let of_var = |v: Var| places[v.index()] as u16;
        let place = |atom: Atom| match atom {
            Atom::Const(c) => constants.iter().position(|k| *k == c).unwrap_or(0) as u16,
            Atom::Var(v) => of_var(v),
        };
        let step = |(_, op, args): (Var, ScalarOp, &Vec<Atom>)| {
            let mut registers = [0; 3];
            for (register, atom) in registers.iter_mut().zip(args) {
                *register = place(*atom);
            }
            let run = instruction(op)
                .unwrap_or_else(|| unreachable!("definitions do without the operation {op}"));
            Step {
                run,
                args: registers,
            }
        };
        Self {
            steps: operations().map(step).collect(),
            params: definition.params.len(),
            result: place(body.result[0]),
            rare: definition.rare.as_ref().map(|rare| {
                let other = Self::compile(&rare.definition);
                (of_var(rare.cond), Box::new(other))
            }),
            constants: constants.iter().map(|c| bits_of(*c)).collect(),
        }
    }

    fn run(&self, args: &[u64]) -> u64 {
        let known = self.constants.len() + self.params;
        let mut registers = Vec::with_capacity(known + self.steps.len());
        registers.extend_from_slice(&self.constants);
        registers.extend_from_slice(args);
        for step in &self.steps {
            let [a, b, c] = step.args.map(|i| registers[usize::from(i)]);
            registers.push((step.run)(a, b, c));
        }
        match &self.rare {
            Some((cond, other)) if registers[usize::from(*cond)] != 0 => other.run(args),
            Some(_) | None => registers[usize::from(self.result)],
        }
    }
}

fn bits_of(c: Const) -> u64 {
    match c {
        Const::F64(x) | Const::U64(x) => x,
        Const::F32(x) | Const::U32(x) => x.into(),
        Const::Bool(x) => x.into(),
        Const::I64(x) => x as u64,
        Const::I32(x) => x as u32 as u64,
        Const::U16(x) | Const::F16(x) => x.into(),
        Const::I16(x) => x as u16 as u64,
        Const::U8(x) => x.into(),
        Const::I8(x) => x as u8 as u64,
    }
}

/// The step for an operation, if it is among those that definitions are made of.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of those operations that definitions may use"
)]
fn instruction(op: ScalarOp) -> Option<fn(u64, u64, u64) -> u64> {
    use ScalarType::{Bool, F32, F64, U32, U64};
    Some(match op {
        ScalarOp::Convert(F32, F64) => |a, _, _| f64::from(f32::from_bits(a as u32)).to_bits(),
        ScalarOp::Convert(F64, F32) => |a, _, _| (f64::from_bits(a) as f32).to_bits().into(),
        ScalarOp::FromBits(_) => |a, _, _| a,
        ScalarOp::ToBits(F32) => |a, _, _| {
            let x = f32::from_bits(a as u32);
            if x.is_nan() { 0x7fc0_0000 } else { a }
        },
        ScalarOp::ToBits(F64) => |a, _, _| {
            let x = f64::from_bits(a);
            if x.is_nan() { 0x7ff8 << 48 } else { a }
        },
        ScalarOp::Select(_) => |a, b, c| if a != 0 { b } else { c },
        ScalarOp::Un(UnOp::Not, Bool) => |a, _, _| a ^ 1,
        ScalarOp::Bin(BinOp::And, Bool | U32 | U64) => |a, b, _| a & b,
        ScalarOp::Bin(BinOp::Or, Bool | U32 | U64) => |a, b, _| a | b,
        ScalarOp::Bin(BinOp::Xor, Bool | U32 | U64) => |a, b, _| a ^ b,
        ScalarOp::Bin(BinOp::Add, U32) => |a, b, _| (a as u32).wrapping_add(b as u32).into(),
        ScalarOp::Bin(BinOp::Add, U64) => |a, b, _| a.wrapping_add(b),
        ScalarOp::Bin(BinOp::Sub, U32) => |a, b, _| (a as u32).wrapping_sub(b as u32).into(),
        ScalarOp::Bin(BinOp::Sub, U64) => |a, b, _| a.wrapping_sub(b),
        ScalarOp::Bin(BinOp::Shl, U32) => |a, b, _| (a as u32).wrapping_shl(b as u32).into(),
        ScalarOp::Bin(BinOp::Shl, U64) => |a, b, _| a.wrapping_shl(b as u32),
        ScalarOp::Bin(BinOp::Shr, U32) => |a, b, _| (a as u32).wrapping_shr(b as u32).into(),
        ScalarOp::Bin(BinOp::Shr, U64) => |a, b, _| a.wrapping_shr(b as u32),
        ScalarOp::Cmp(CmpOp::Eq, U32 | U64) => |a, b, _| (a == b).into(),
        _ if op.operand(0) == F32 => float_32(op)?,
        _ if op.operand(0) == F64 => float_64(op)?,
        _ => return None,
    })
}

macro_rules! floats {
    ($($name:ident $ty:ident $bits:ident;)*) => {
        $(
            fn $name(op: ScalarOp) -> Option<fn(u64, u64, u64) -> u64> {
                fn x(a: u64) -> $ty {
                    $ty::from_bits(a as $bits)
                }
                fn bits(x: $ty) -> u64 {
                    x.to_bits().into()
                }
                Some(match op {
                    ScalarOp::Tern(TernOp::Fma, _) => |a, b, c| bits(x(a).mul_add(x(b), x(c))),
                    ScalarOp::Bin(BinOp::Add, _) => |a, b, _| bits(x(a) + x(b)),
                    ScalarOp::Bin(BinOp::Sub, _) => |a, b, _| bits(x(a) - x(b)),
                    ScalarOp::Bin(BinOp::Mul, _) => |a, b, _| bits(x(a) * x(b)),
                    ScalarOp::Bin(BinOp::Div, _) => |a, b, _| bits(x(a) / x(b)),
                    ScalarOp::Bin(BinOp::Copysign, _) => |a, b, _| bits(x(a).copysign(x(b))),
                    ScalarOp::Cmp(CmpOp::Lt, _) => |a, b, _| (x(a) < x(b)).into(),
                    ScalarOp::Cmp(CmpOp::Le, _) => |a, b, _| (x(a) <= x(b)).into(),
                    ScalarOp::Cmp(CmpOp::Eq, _) => |a, b, _| (x(a) == x(b)).into(),
                    ScalarOp::Un(UnOp::Neg, _) => |a, _, _| bits(-x(a)),
                    ScalarOp::Un(UnOp::Abs, _) => |a, _, _| bits(x(a).abs()),
                    ScalarOp::Un(UnOp::Sqrt, _) => |a, _, _| bits(x(a).sqrt()),
                    ScalarOp::Un(UnOp::Round, _) => |a, _, _| bits(x(a).round_ties_even()),
                    ScalarOp::Un(UnOp::Trunc, _) => |a, _, _| bits(x(a).trunc()),
                    ScalarOp::Un(UnOp::IsNan, _) => |a, _, _| x(a).is_nan().into(),
                    _ => return None,
                })
            }
        )*
    };
}

floats! {
    float_32 f32 u32;
    float_64 f64 u64;
}
