//! Code as the emulator runs it: every instruction decoded to a function and the slots of its operands.
//!
//! Registers of a warp lie in three files: of 32-bit words (16-bit ones too), of 64-bit words, of truth values. Constants
//! have slots of their own behind the registers, filled once.

use super::exec;
use super::fault::Done;
use super::run::Cx;
use crate::ptx::{Class, Func, Inst, Kind, Module, Operand, Reg, Term};
use std::collections::BTreeMap;

/// Lanes of a warp.
pub(super) const LANES: usize = 32;
/// One 32-bit word per lane.
pub(super) type Words = [u32; LANES];
/// One 64-bit word per lane.
pub(super) type Doubles = [u64; LANES];

/// Executes an instruction for the lanes of the mask.
pub(super) type Exec = fn(&mut Cx<'_>, &Op, u32) -> Done;

/// A place in a register file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) class: Class,
    pub(super) index: u32,
}

/// A decoded instruction.
pub(super) struct Op {
    pub(super) exec: Exec,
    pub(super) flow: Next,
    pub(super) guard: Option<u32>,
    pub(super) negate: bool,
    /// Slots of the result and of operands, each in the file that the instruction knows.
    pub(super) d: u32,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
    /// A number: an offset, a mode.
    pub(super) imm: u64,
    /// Further slots.
    pub(super) list: Box<[Slot]>,
    /// The block and the line in it.
    pub(super) at: (u32, u32),
}

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next one.
    Plain,
    /// The next one, or another warp.
    Memory,
    /// The next one, once the lanes of the mask in slot `c` have come.
    Collective,
    /// The next one, once all threads have come.
    Barrier,
    /// A place.
    Jump { to: u32 },
    /// One of two places; the condition is in slot `a`.
    Branch {
        then: u32,
        otherwise: u32,
        uniform: bool,
    },
    /// The caller.
    Return,
    /// The function in `imm`; arguments are in `list` before results, from `a` on.
    Call,
}

/// A function.
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    /// The number of slots of each file, and the constants at their end.
    pub(super) words: Vec<u32>,
    pub(super) doubles: Vec<u64>,
    pub(super) preds: Vec<u32>,
    /// Variables in local memory: bytes of each; nothing for shared ones.
    pub(super) locals: Vec<Option<u32>>,
    /// Variables in shared memory: bytes of an element, bytes.
    pub(super) shared: Vec<(u32, u32)>,
    /// The one of them whose bytes a launch says.
    pub(super) sized_by_launch: Option<usize>,
    pub(super) entry: Option<(u32, u32)>,
    /// Whether blocks of the kernel talk to each other.
    pub(super) communicates: bool,
}

/// A module, decoded.
pub struct Program {
    pub(super) codes: Vec<Code>,
    pub(super) module: Module,
}

impl Program {
    /// Decodes a module, which is well-formed.
    pub fn new(module: &Module) -> Self {
        let mut codes: Vec<Code> = module.funcs.iter().map(|f| Decoder::new(f).run()).collect();
        let communicates = codes.iter().any(|c| c.communicates);
        codes.iter_mut().for_each(|c| c.communicates = communicates);
        Self {
            codes,
            module: module.clone(),
        }
    }

    /// The module.
    pub const fn module(&self) -> &Module {
        &self.module
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("functions", &self.codes.len())
            .finish_non_exhaustive()
    }
}

/// Decodes one function.
pub(super) struct Decoder<'f> {
    pub(super) func: &'f Func,
    /// The slot of every register in its file.
    slots: Vec<u32>,
    words: Vec<u32>,
    doubles: Vec<u64>,
    preds: Vec<u32>,
    known: BTreeMap<(Class, u64), u32>,
}

impl<'f> Decoder<'f> {
    fn new(func: &'f Func) -> Self {
        let (mut words, mut doubles, mut preds) = (Vec::new(), Vec::new(), Vec::new());
        let slots = func
            .regs
            .iter()
            .map(|class| match class {
                Class::Pred => push(&mut preds, 0),
                Class::B16 | Class::B32 => push(&mut words, 0),
                Class::B64 => push(&mut doubles, 0),
            })
            .collect();
        Self {
            func,
            slots,
            words,
            doubles,
            preds,
            known: BTreeMap::new(),
        }
    }

    /// The slot of a register.
    pub(super) fn reg(&self, reg: Reg) -> u32 {
        self.slots[reg.0 as usize]
    }

    /// The slot of an operand of a width.
    pub(super) fn operand(&mut self, operand: Operand, class: Class) -> u32 {
        let bits = match operand {
            Operand::Reg(reg) => return self.reg(reg),
            Operand::Imm(bits) => bits,
        };
        if let Some(slot) = self.known.get(&(class, bits)) {
            return *slot;
        }
        let slot = match class {
            Class::Pred => push(&mut self.preds, if bits & 1 == 1 { u32::MAX } else { 0 }),
            Class::B16 => push(&mut self.words, u32::from(bits as u16)),
            Class::B32 => push(&mut self.words, bits as u32),
            Class::B64 => push(&mut self.doubles, bits),
        };
        self.known.insert((class, bits), slot);
        slot
    }

    /// The slot of a register with its file.
    pub(super) fn slot(&self, reg: Reg) -> Slot {
        Slot {
            class: self.func.regs[reg.0 as usize],
            index: self.reg(reg),
        }
    }

    fn run(mut self) -> Code {
        let mut starts = Vec::new();
        let mut count = 0;
        for block in &self.func.blocks {
            starts.push(count);
            count += block.lines.len() as u32 + 1;
        }
        let mut ops = Vec::with_capacity(count as usize);
        let mut communicates = false;
        for (b, block) in self.func.blocks.iter().enumerate() {
            for (l, line) in block.lines.iter().enumerate() {
                communicates |= exec::memory::communicates(&line.inst);
                let mut op = self.inst(&line.inst);
                op.at = (b as u32, l as u32);
                op.guard = line.guard.map(|g| self.reg(g.reg));
                op.negate = line.guard.is_some_and(|g| g.negate);
                ops.push(op);
            }
            let mut op = self.end(&block.end, &starts);
            op.at = (b as u32, block.lines.len() as u32);
            ops.push(op);
        }
        let mut locals = Vec::new();
        let mut shared = Vec::new();
        for var in &self.func.vars {
            let bytes = var.elem * var.len;
            let is_local = var.space == crate::ptx::Space::Local;
            locals.push(is_local.then_some(bytes));
            shared.push((var.elem, if is_local { 0 } else { bytes }));
        }
        Code {
            ops,
            words: self.words,
            doubles: self.doubles,
            preds: self.preds,
            locals,
            shared,
            sized_by_launch: self.func.sized_by_launch(),
            entry: match self.func.kind {
                Kind::Entry {
                    threads, params, ..
                } => Some((threads, params)),
                Kind::Device { .. } => None,
            },
            communicates,
        }
    }

    fn inst(&mut self, inst: &Inst) -> Op {
        exec::decode(self, inst)
    }

    fn end(&mut self, end: &Term, starts: &[u32]) -> Op {
        let nothing: Exec = |_, _, _| Ok(());
        match end {
            Term::Jump(to) => Op {
                flow: Next::Jump {
                    to: starts[to.0 as usize],
                },
                ..Op::new(nothing)
            },
            Term::Branch {
                cond,
                then,
                otherwise,
                uniform,
            } => {
                let (mut then, mut otherwise) =
                    (starts[then.0 as usize], starts[otherwise.0 as usize]);
                if cond.negate {
                    std::mem::swap(&mut then, &mut otherwise);
                }
                Op {
                    flow: Next::Branch {
                        then,
                        otherwise,
                        uniform: *uniform,
                    },
                    a: self.reg(cond.reg),
                    ..Op::new(nothing)
                }
            }
            Term::Return(values) => {
                let classes: Vec<Class> = match &self.func.kind {
                    Kind::Entry { .. } => vec![],
                    Kind::Device { results, .. } => results.clone(),
                };
                let list = values
                    .iter()
                    .zip(classes)
                    .map(|(value, class)| Slot {
                        class,
                        index: self.operand(*value, class),
                    })
                    .collect();
                Op {
                    flow: Next::Return,
                    list,
                    ..Op::new(nothing)
                }
            }
        }
    }
}

impl Op {
    /// An instruction without operands.
    pub(super) fn new(exec: Exec) -> Self {
        Self {
            exec,
            flow: Next::Plain,
            guard: None,
            negate: false,
            d: 0,
            a: 0,
            b: 0,
            c: 0,
            imm: 0,
            list: Box::new([]),
            at: (0, 0),
        }
    }
}

fn push<T>(file: &mut Vec<T>, value: T) -> u32 {
    file.push(value);
    file.len() as u32 - 1
}
