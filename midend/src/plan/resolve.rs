//! Host code with variables resolved to slots of a frame, so that executing a statement looks nothing up.

use super::apart::Apart;
use super::counts::Work;
use super::steps::Steps;
use crate::analysis::calls::calls;
use crate::analysis::kernels::arguments;
use crate::analysis::stencil::{Known, stencil};
use crate::hash::HashMap;
use crate::ir::array::StreamOp;
use crate::ir::id::{FunId, IdMap, SpanId, Var};
use crate::ir::mem::{Extent, Kernel, Mem, Region};
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::syntax::{
    Atom, Body, EntryType, Exp, Fun, LoopForm, Message, MessagePart, Program, Stm, TrapKind, Vars,
};
use crate::ir::threshold::Threshold;
use crate::ir::types::ScalarType;
use crate::ir::walk::free_in_scope;

/// The number of a slot in the frame of a function.
pub(super) type Slot = usize;

/// A function.
#[derive(Debug)]
pub(super) struct HostFun {
    pub(super) slots: usize,
    pub(super) params: Vec<Slot>,
    pub(super) body: Block,
    /// Whether the function can come back to itself.
    pub(super) recursive: bool,
    /// Where it was defined.
    pub(super) span: SpanId,
}

/// Statements, and what they yield.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) ops: Vec<Op>,
    pub(super) result: Vec<Operand>,
}

/// A constant or a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// A constant.
    Const(Const),
    /// The value of a slot.
    Slot(Slot),
    /// The value of a slot that nothing reads any more.
    Last(Slot),
}

/// A statement.
#[derive(Debug)]
pub(super) struct Op {
    pub(super) span: SpanId,
    pub(super) kind: OpKind,
}

/// One side of a copy.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) buffer: Slot,
    pub(super) offset: Operand,
    pub(super) strides: Vec<Operand>,
}

/// What a statement does. `to` is where the results go.
#[derive(Debug)]
pub(super) enum OpKind {
    Move {
        to: Slot,
        from: Operand,
    },
    Scalar {
        to: Slot,
        op: ScalarOp,
        args: Vec<Operand>,
    },
    Assert {
        cond: Operand,
        kind: TrapKind,
        parts: Vec<Part>,
    },
    Guard {
        to: Slot,
        /// The number of the threshold.
        threshold: usize,
        measure: Operand,
    },
    If {
        to: Vec<Slot>,
        cond: Operand,
        then: Block,
        otherwise: Block,
    },
    For {
        to: Vec<Slot>,
        params: Vec<(Slot, Operand)>,
        index: Slot,
        bound: Operand,
        body: Block,
        /// How several steps may be left to the device.
        steps: Option<Box<Steps>>,
        /// How it may be run in parts.
        apart: Option<Box<Apart>>,
    },
    While {
        to: Vec<Slot>,
        params: Vec<(Slot, Operand)>,
        cond: Block,
        body: Block,
    },
    Call {
        to: Vec<Slot>,
        fun: FunId,
        args: Vec<Operand>,
    },
    Alloc {
        to: Slot,
        elem: ScalarType,
        len: Operand,
        over: Option<Slot>,
    },
    Free(Slot),
    Load {
        to: Slot,
        buffer: Slot,
        index: Operand,
    },
    Store {
        buffer: Slot,
        index: Operand,
        value: Operand,
    },
    Copy {
        shape: Vec<Operand>,
        dst: Side,
        src: Side,
    },
    Launch {
        kernel: String,
        work: Option<Work>,
        /// The extents, if there are several and none depends on the point.
        space: Vec<Operand>,
        args: Vec<Slot>,
    },
    Trace(Box<Traced>),
    Stream(Box<Streamed>),
}

/// A step of a sequence.
#[derive(Debug)]
pub(super) struct Streamed {
    pub(super) op: StreamOp,
    pub(super) stream: u32,
    /// Scalars, and buffers with the extents of the arrays in them.
    pub(super) args: Vec<(Operand, Vec<Operand>)>,
    pub(super) sizes: Vec<(usize, usize)>,
    pub(super) to: Vec<Slot>,
}

/// What a statement shows.
#[derive(Debug)]
pub(super) struct Traced {
    pub(super) label: String,
    pub(super) ty: EntryType,
    /// Scalars, and buffers with the extents of the arrays in them.
    pub(super) values: Vec<(Operand, Vec<Operand>)>,
}

/// A piece of a message.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Value(Operand),
}

/// All functions of a program.
pub(super) fn functions(program: &Program<Mem>, thresholds: &mut Vec<Threshold>) -> Vec<HostFun> {
    let mut numbers = thresholds.iter().cloned().zip(0..).collect();
    let recursive = calls(program).recursive;
    let of = |(id, fun)| {
        let fun = function(&program.vars, fun, (&mut *thresholds, &mut numbers));
        let recursive = recursive[id];
        HostFun { recursive, ..fun }
    };
    program.funs.enumerate().map(of).collect()
}

/// The thresholds met so far, and their numbers.
type Thresholds<'a> = (&'a mut Vec<Threshold>, &'a mut HashMap<Threshold, usize>);

fn function(vars: &Vars, fun: &Fun<Mem>, thresholds: Thresholds<'_>) -> HostFun {
    let mut resolver = Resolver {
        vars,
        thresholds,
        slots: IdMap::with_default(None),
        next: 0,
        known: Known::default(),
    };
    let params = fun.params.iter().map(|p| resolver.slot(p.var)).collect();
    let body = resolver.block(&fun.body);
    HostFun {
        slots: resolver.next,
        params,
        body,
        recursive: false,
        span: fun.span,
    }
}

pub(super) struct Resolver<'a> {
    pub(super) vars: &'a Vars,
    thresholds: Thresholds<'a>,
    slots: IdMap<Var, Option<Slot>>,
    next: usize,
    known: Known,
}

impl Resolver<'_> {
    pub(super) fn slot(&mut self, var: Var) -> Slot {
        if let Some(slot) = self.slots[var] {
            return slot;
        }
        let slot = self.next;
        self.next += 1;
        self.slots.set(var, Some(slot));
        slot
    }

    fn threshold(&mut self, threshold: &Threshold) -> usize {
        let (all, numbers) = &mut self.thresholds;
        *numbers.entry(threshold.clone()).or_insert_with(|| {
            all.push(threshold.clone());
            all.len() - 1
        })
    }

    pub(super) fn all(&mut self, vars: &[Var]) -> Vec<Slot> {
        vars.iter().map(|&v| self.slot(v)).collect()
    }

    pub(super) fn operand(&mut self, atom: Atom) -> Operand {
        match atom {
            Atom::Const(c) => Operand::Const(c),
            Atom::Var(v) => Operand::Slot(self.slot(v)),
        }
    }

    fn operands(&mut self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|&a| self.operand(a)).collect()
    }

    fn side(&mut self, region: &Region) -> Side {
        Side {
            buffer: self.slot(region.buffer),
            offset: self.operand(region.offset),
            strides: self.operands(&region.strides),
        }
    }

    fn block(&mut self, body: &Body<Mem>) -> Block {
        let mut ops = Vec::new();
        let mut bound = Vec::new();
        for (i, stm) in body.stms.iter().enumerate() {
            bound.extend_from_slice(&stm.binds);
            if let Some(mut kind) = self.op(&stm.binds, &stm.exp) {
                self.give_away(&mut kind, stm, &body.stms[i + 1..]);
                ops.push(Op {
                    span: stm.span,
                    kind,
                });
            }
        }
        // A name that dies with the body gives its reference away with the last mention.
        let mut result = Vec::new();
        for (i, &atom) in body.result.iter().enumerate() {
            let last = match atom {
                Atom::Var(v) => bound.contains(&v) && !body.result[i + 1..].contains(&atom),
                Atom::Const(_) => false,
            };
            result.push(match self.operand(atom) {
                Operand::Slot(slot) if last => Operand::Last(slot),
                operand @ (Operand::Const(_) | Operand::Slot(_) | Operand::Last(_)) => operand,
            });
        }
        Block { ops, result }
    }

    /// Buffers that are freed right after a loop or call and were only named to start it are handed over to it, so that
    /// they can be freed inside.
    fn give_away(&mut self, kind: &mut OpKind, stm: &Stm<Mem>, rest: &[Stm<Mem>]) {
        let operands: Vec<&mut Operand> = match kind {
            OpKind::For { params, .. } | OpKind::While { params, .. } => {
                params.iter_mut().map(|(_, init)| init).collect()
            }
            OpKind::Call { args, .. } => args.iter_mut().collect(),
            OpKind::Move { .. }
            | OpKind::Scalar { .. }
            | OpKind::Assert { .. }
            | OpKind::Guard { .. }
            | OpKind::If { .. }
            | OpKind::Alloc { .. }
            | OpKind::Free(_)
            | OpKind::Load { .. }
            | OpKind::Store { .. }
            | OpKind::Copy { .. }
            | OpKind::Launch { .. }
            | OpKind::Trace(_)
            | OpKind::Stream(_) => return,
        };
        let mut inside = Vec::new();
        stm.exp
            .scopes(&mut |bound, body| inside.extend(free_in_scope(self.vars, bound, body)));
        let freed = rest.iter().map_while(|stm| match &stm.exp {
            Exp::Op(Mem::Free(v)) => Some(*v),
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => None,
        });
        let freed: Vec<Slot> = freed
            .filter(|v| !inside.contains(v))
            .map(|v| self.slot(v))
            .collect();
        let slots: Vec<Option<Slot>> = operands
            .iter()
            .map(|o| match o {
                Operand::Slot(slot) => Some(*slot),
                Operand::Const(_) | Operand::Last(_) => None,
            })
            .collect();
        for (k, operand) in operands.into_iter().enumerate() {
            let once = slots.iter().filter(|s| **s == slots[k]).count() == 1;
            if let Operand::Slot(slot) = *operand
                && once
                && freed.contains(&slot)
            {
                *operand = Operand::Last(slot);
            }
        }
    }

    /// The statement; nothing for one that does nothing on the host.
    fn op(&mut self, binds: &[Var], exp: &Exp<Mem>) -> Option<OpKind> {
        let first = binds.first().copied();
        Some(match exp {
            Exp::Atom(a) => {
                let from = self.operand(*a);
                OpKind::Move {
                    to: self.slot(first?),
                    from,
                }
            }
            Exp::Scalar(op, args) => {
                self.known.insert(first?, (*op, args.clone()));
                let args = self.operands(args);
                OpKind::Scalar {
                    to: self.slot(first?),
                    op: *op,
                    args,
                }
            }
            Exp::Assert { cond, message } => self.assert(*cond, message),
            Exp::Guard { threshold, measure } => {
                let measure = self.operand(*measure);
                OpKind::Guard {
                    to: self.slot(first?),
                    threshold: self.threshold(threshold),
                    measure,
                }
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => OpKind::If {
                cond: self.operand(*cond),
                then: self.block(then),
                otherwise: self.block(otherwise),
                to: self.all(binds),
            },
            Exp::Loop { params, form, body } => {
                let inits: Vec<Operand> = params.iter().map(|p| self.operand(p.init)).collect();
                let slots = params.iter().zip(inits);
                let slots = slots.map(|(p, init)| (self.slot(p.var), init)).collect();
                match form {
                    LoopForm::For { index, bound } => OpKind::For {
                        to: self.all(binds),
                        params: slots,
                        index: self.slot(*index),
                        bound: self.operand(*bound),
                        steps: stencil((self.vars, &self.known), params, *index, body)
                            .and_then(|found| self.steps(&found, *index)),
                        apart: self.apart(params, *index, body),
                        body: self.block(body),
                    },
                    LoopForm::While(cond) => OpKind::While {
                        to: self.all(binds),
                        params: slots,
                        cond: self.block(cond),
                        body: self.block(body),
                    },
                }
            }
            Exp::Call { fun, args } => {
                let args = self.operands(args);
                OpKind::Call {
                    to: self.all(binds),
                    fun: *fun,
                    args,
                }
            }
            Exp::Op(mem) => return self.mem(binds, mem, exp),
        })
    }

    fn assert(&mut self, cond: Atom, message: &Message) -> OpKind {
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::Text(text) => Part::Text(text.clone()),
            MessagePart::Value(value) => Part::Value(self.operand(*value)),
        });
        let parts = parts.collect();
        OpKind::Assert {
            cond: self.operand(cond),
            kind: message.kind,
            parts,
        }
    }

    fn mem(&mut self, binds: &[Var], mem: &Mem, exp: &Exp<Mem>) -> Option<OpKind> {
        let bind = binds.first().copied();
        Some(match mem {
            Mem::Alloc { elem, len, over } => {
                let len = self.operand(*len);
                let over = over.map(|v| self.slot(v));
                OpKind::Alloc {
                    to: self.slot(bind?),
                    elem: *elem,
                    len,
                    over,
                }
            }
            Mem::Free(var) => OpKind::Free(self.slot(*var)),
            // The loop was looked at as a whole.
            Mem::Apart(_) => return None,
            Mem::Load { buffer, index } => {
                let index = self.operand(*index);
                OpKind::Load {
                    buffer: self.slot(*buffer),
                    to: self.slot(bind?),
                    index,
                }
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => OpKind::Store {
                buffer: self.slot(*buffer),
                index: self.operand(*index),
                value: self.operand(*value),
            },
            Mem::Copy { shape, dst, src } => OpKind::Copy {
                shape: self.operands(shape),
                dst: self.side(dst),
                src: self.side(src),
            },
            Mem::Launch(kernel) => {
                let args = arguments(self.vars, exp);
                OpKind::Launch {
                    kernel: kernel.name.clone(),
                    work: Work::of(kernel),
                    space: self.space(kernel),
                    args: self.all(&args),
                }
            }
            Mem::Trace(trace) => {
                let values = self.shaped(&trace.values);
                OpKind::Trace(Box::new(Traced {
                    label: trace.label.clone(),
                    ty: trace.ty.clone(),
                    values,
                }))
            }
            Mem::Stream(stream) => {
                let args = self.shaped(&stream.args);
                OpKind::Stream(Box::new(Streamed {
                    op: stream.op,
                    stream: stream.stream,
                    args,
                    sizes: stream.sizes.clone(),
                    to: self.all(binds),
                }))
            }
        })
    }

    /// The extents of a kernel whose product may overflow. Where rows have offsets the device counts the points itself.
    fn space(&mut self, kernel: &Kernel) -> Vec<Operand> {
        let extents = kernel.space.iter().map(|(_, extent)| match *extent {
            Extent::Regular(n) => Some(self.operand(n)),
            Extent::Ragged { .. } => None,
        });
        let extents: Option<Vec<Operand>> = extents.collect();
        extents.filter(|all| all.len() > 1).unwrap_or_default()
    }

    /// Values with the extents of arrays.
    fn shaped(&mut self, values: &[(Atom, Vec<Atom>)]) -> Vec<(Operand, Vec<Operand>)> {
        let values = values.iter().map(|(value, shape)| {
            let value = self.operand(*value);
            (value, self.operands(shape))
        });
        values.collect()
    }
}
