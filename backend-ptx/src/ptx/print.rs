//! PTX as text.

mod lines;

use super::func::{Func, Guard, Kind, Module, Origin, Reg, Term};
use super::inst::{Address, Inst, Operand};
use super::ops::{Binary, Unary};
use super::require::{self, Requirement};
use super::types::{Class, Order, Scope, Space, Ty};
use std::fmt::{Display, Formatter, Result, Write};

/// The text of a module for devices of capability `target` or later.
pub fn module(module: &Module, target: u32) -> String {
    let needs = module
        .funcs
        .iter()
        .map(require::of_func)
        .fold(Requirement::BASE, Requirement::and);
    let needs = needs.and(for_target(target));
    let (major, minor) = needs.version;
    let mut text = format!(
        ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n",
        needs.target
    );
    // Functions come before those that call them; of recursive ones, a declaration does.
    for func in module.funcs.iter().filter(|f| f.threads().is_none()) {
        let _ = write!(text, "\n{};\n", Head(func));
    }
    for func in &module.funcs {
        let _ = write!(text, "\n{}", Text { func, module });
    }
    text
}

/// The version that knows a target.
const fn for_target(target: u32) -> Requirement {
    Requirement {
        version: if target >= 90 {
            (7, 8)
        } else if target >= 80 {
            (7, 0)
        } else {
            (6, 3)
        },
        target,
    }
}

/// One instruction, as in the text of its module.
pub fn inst(module: &Module, func: &Func, inst: &Inst) -> String {
    Text { func, module }.inst(inst)
}

/// The line that begins a function.
struct Head<'a>(&'a Func);

impl Display for Head<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let name = &self.0.name;
        match &self.0.kind {
            Kind::Entry {
                threads,
                params,
                resident,
            } => {
                write!(
                    f,
                    ".visible .entry {name}(.param .align 8 .b8 env[{}])\n.maxntid {threads}, 1, 1",
                    (*params).max(8)
                )?;
                resident.map_or(Ok(()), |blocks| write!(f, "\n.minnctapersm {blocks}"))
            }
            Kind::Device { params, results } => {
                f.write_str(".func ")?;
                if !results.is_empty() {
                    write!(f, "(.param .align 8 .b8 result[{}]) ", 8 * results.len())?;
                }
                write!(f, "{name}(")?;
                if !params.is_empty() {
                    write!(f, ".param .align 8 .b8 env[{}]", 8 * params.len())?;
                }
                f.write_char(')')
            }
        }
    }
}

/// A function within its module.
struct Text<'a> {
    func: &'a Func,
    module: &'a Module,
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (outside, inside): (Vec<_>, Vec<_>) = self
            .func
            .vars
            .iter()
            .partition(|var| var.is_sized_by_launch());
        for var in outside {
            writeln!(f, ".extern .shared .align 16 .b8 {}[];", var.name)?;
        }
        writeln!(f, "{}\n{{", Head(self.func))?;
        for (class, ty, letter) in CLASSES {
            let count = self.func.regs.iter().filter(|c| **c == class).count();
            if count > 0 {
                writeln!(f, "  .reg .{ty} %{letter}<{}>;", self.func.regs.len())?;
            }
        }
        for var in inside {
            let space = space(var.space);
            let bytes = u64::from(var.elem) * u64::from(var.len);
            let align = var
                .elem
                .max(if var.space == Space::Shared { 16 } else { 8 });
            writeln!(f, "  {space} .align {align} .b8 {}[{bytes}];", var.name)?;
        }
        let mut origin = 0;
        for (b, block) in self.func.blocks.iter().enumerate() {
            writeln!(f, "$B{b}:")?;
            for line in &block.lines {
                if line.origin != origin {
                    origin = line.origin;
                    self.origin(f, &self.func.origins[origin as usize])?;
                }
                let guard = line.guard.map_or(String::new(), |g| self.guard(g));
                let end = if matches!(line.inst, Inst::Call { .. }) {
                    ""
                } else {
                    ";"
                };
                writeln!(f, "  {guard}{}{end}", self.inst(&line.inst))?;
            }
            self.end(f, &block.end, b)?;
        }
        f.write_str("}\n")
    }
}

/// Registers of each width are declared under their own letter, numbered as in the function.
const CLASSES: [(Class, &str, char); 4] = [
    (Class::Pred, "pred", 'p'),
    (Class::B16, "b16", 'h'),
    (Class::B32, "b32", 'r'),
    (Class::B64, "b64", 'd'),
];

const fn space(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Local => ".local",
    }
}

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => ".cta",
        Scope::Gpu => ".gpu",
        Scope::Sys => ".sys",
    }
}

fn order(order: Order) -> String {
    let word = match order {
        Order::Weak => "",
        Order::Relaxed(_) => ".relaxed",
        Order::Acquire(_) => ".acquire",
        Order::Release(_) => ".release",
        Order::AcquireRelease(_) => ".acq_rel",
    };
    word.to_owned() + order.scope().map_or("", scope)
}

const fn ty(ty: Ty) -> &'static str {
    match ty {
        Ty::Pred => ".pred",
        Ty::U8 => ".u8",
        Ty::S8 => ".s8",
        Ty::U16 => ".u16",
        Ty::S16 => ".s16",
        Ty::B16 => ".b16",
        Ty::F16 => ".f16",
        Ty::B32 => ".b32",
        Ty::U32 => ".u32",
        Ty::S32 => ".s32",
        Ty::F32 => ".f32",
        Ty::B64 => ".b64",
        Ty::U64 => ".u64",
        Ty::S64 => ".s64",
        Ty::F64 => ".f64",
    }
}

/// The type of the bits of an element in memory: floats of 16 bits are moved as bits.
const fn memory_ty(of: Ty) -> &'static str {
    match of {
        Ty::F16 => ".b16",
        Ty::Pred
        | Ty::U8
        | Ty::S8
        | Ty::U16
        | Ty::S16
        | Ty::B16
        | Ty::B32
        | Ty::U32
        | Ty::S32
        | Ty::F32
        | Ty::B64
        | Ty::U64
        | Ty::S64
        | Ty::F64 => ty(of),
    }
}

fn constant(of: Ty, bits: u64) -> String {
    match of {
        Ty::F32 => format!("0f{:08X}", bits as u32),
        Ty::F64 => format!("0d{bits:016X}"),
        Ty::S32 if bits as u32 != 1 << 31 => format!("{}", bits as i32),
        Ty::S64 if bits != 1 << 63 => format!("{}", bits as i64),
        Ty::Pred => format!("{}", bits & 1),
        Ty::U8 | Ty::S8 => format!("{}", bits as u8),
        Ty::U16 | Ty::S16 | Ty::B16 | Ty::F16 => format!("0x{:04X}", bits as u16),
        Ty::U32 => format!("{}", bits as u32),
        Ty::B32 | Ty::S32 => format!("0x{:X}", bits as u32),
        Ty::U64 | Ty::B64 | Ty::S64 => format!("0x{bits:X}"),
    }
}

/// The operation with its type, where the two are written together.
fn unary(op: Unary, of: Ty) -> String {
    let written = match (op, of) {
        (Unary::ToGlobal, _) => ".u64",
        (_, of) => ty(of),
    };
    format!("{}{written}", op.name())
}

fn binary(op: Binary, of: Ty) -> String {
    let rounded = matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div);
    let middle = match op {
        Binary::Mul if of.is_int() => ".lo",
        _ if rounded && of.is_float() => ".rn",
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::MulHi
        | Binary::MulWide
        | Binary::Div
        | Binary::DivNear
        | Binary::Rem
        | Binary::Min
        | Binary::Max
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Shl
        | Binary::Shr
        | Binary::Copysign => "",
    };
    format!("{}{middle}{}", op.name(), ty(of))
}

impl Text<'_> {
    fn origin(&self, f: &mut Formatter<'_>, origin: &Origin) -> Result {
        let gap = if origin.place.is_empty() { "" } else { "  " };
        let what = origin.what.replace('\n', " ");
        writeln!(f, "  // {}{gap}{what}", origin.place)
    }

    fn reg(&self, reg: Reg) -> String {
        let class = self.func.class(reg).unwrap_or(Class::B32);
        let letter = CLASSES
            .iter()
            .find(|(c, _, _)| *c == class)
            .map_or('r', |(_, _, letter)| *letter);
        format!("%{letter}{}", reg.0)
    }

    fn value(&self, operand: Operand, of: Ty) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Imm(bits) => constant(of, bits),
        }
    }

    fn at(&self, at: &Address) -> String {
        let base = self.reg(at.base);
        if at.offset == 0 {
            format!("[{base}]")
        } else {
            format!("[{base}+{}]", at.offset)
        }
    }

    fn vector(&self, all: Vec<String>) -> String {
        if all.len() == 1 {
            all.concat()
        } else {
            format!("{{{}}}", all.join(", "))
        }
    }

    fn guard(&self, guard: Guard) -> String {
        let not = if guard.negate { "!" } else { "" };
        format!("@{not}{} ", self.reg(guard.reg))
    }

    fn end(&self, f: &mut Formatter<'_>, end: &Term, here: usize) -> Result {
        let next = |to: u32| to as usize == here + 1;
        match end {
            Term::Jump(to) if next(to.0) => Ok(()),
            Term::Jump(to) => writeln!(f, "  bra.uni $B{};", to.0),
            Term::Branch {
                cond,
                then,
                otherwise,
                uniform,
            } => {
                let uni = if *uniform { ".uni" } else { "" };
                let opposite = Guard {
                    negate: !cond.negate,
                    ..*cond
                };
                if next(then.0) {
                    let guard = self.guard(opposite);
                    return writeln!(f, "  {guard}bra{uni} $B{};", otherwise.0);
                }
                writeln!(f, "  {}bra{uni} $B{};", self.guard(*cond), then.0)?;
                if next(otherwise.0) {
                    return Ok(());
                }
                writeln!(f, "  bra.uni $B{};", otherwise.0)
            }
            Term::Return(values) => {
                let classes: &[Class] = match &self.func.kind {
                    Kind::Entry { .. } => &[],
                    Kind::Device { results, .. } => results,
                };
                for (i, (value, class)) in values.iter().zip(classes).enumerate() {
                    let of = Ty::of_class(*class);
                    let value = self.value(*value, of);
                    writeln!(f, "  st.param{} [result+{}], {value};", ty(of), 8 * i)?;
                }
                writeln!(f, "  ret;")
            }
        }
    }
}
