//! From kernels of a plan to PTX.
//!
//! A scalar is a register ([`scalar`]), a buffer an address (of global memory, or of local memory if it is small and stays
//! where it was made), a certificate nothing. A check that fails claims the failure word of the launch, stores the values of
//! its message, and leaves for the end of the body, so that threads always come to the barriers after it.
//!
//! The parameters of every entry are slots of 8 bytes: the arguments of the kernel, then those of [`Fixed`], then what its
//! kind needs. Where they are very many, the only parameter is the address of an array of them.

mod arena;
mod block;
mod check;
mod control;
mod entry;
mod flow;
mod hist;
mod map;
mod memory;
mod ragged;
mod reduce;
mod runs;
mod scalar;
mod scan;
mod space;
mod stm;
mod stride;
mod strips;
mod tile;
mod together;
mod tuple;
mod turns;

pub(crate) use block::{Form as BlockForm, Size as Team};
pub(crate) use entry::Entry;
pub(crate) use hist::{Form, Hist, WORDS as SHARED_BUCKETS};
pub(crate) use scan::{GROUP, Large, More as MoreOfScan, Published};
pub(crate) use tile::Tiled;
pub(crate) use tuple::words_of;

use entry::{Shape, entry, name_of};
use memory::Addresses;
use midend::analysis::kernels::{has_value, shares_out};
use reduce::Keeps;
pub(crate) use reduce::More;

use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{BlockId, Builder, Class, FuncId, Operand, Reg, Ty};
use midend::analysis::calls::Calls;
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::soac::Operator;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Program, TrapKind};
use midend::ir::types::{ScalarType, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Threads of a block.
pub(crate) const THREADS: u32 = 256;
/// Warps of a block.
const WARPS: u32 = THREADS / 32;
/// The number of the failure that is not one of the program: memory of a thread is used up.
pub(crate) const EXHAUSTED: u32 = u32::MAX;
/// The most values that a message carries.
pub(crate) const VALUES: usize = 30;

/// Parameters that follow the arguments of every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fixed {
    /// The failure word and the values behind it.
    Failure,
    /// The number of the launch, in the high half.
    Launch,
    /// Memory for the local buffers of all threads.
    Arena,
    /// The bytes of it that each thread has.
    Share,
    /// How deep recursive calls may be nested: frames come out of the stack that the device sets aside for every thread.
    Depth,
}

/// How many there are.
pub(crate) const FIXED: usize = 5;

/// A check in a kernel: what to say when it fails.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) kind: TrapKind,
    pub(crate) parts: Vec<SitePart>,
    pub(crate) span: midend::ir::id::SpanId,
}

/// A piece of its message.
#[derive(Clone, Debug)]
pub(crate) enum SitePart {
    Text(String),
    /// The next value.
    Value(ScalarType),
}

/// What a kernel becomes.
#[derive(Debug)]
pub(crate) enum Lowered {
    /// One thread per point, or for so many points as [`together`] says, or a block per tile of points that go through a loop of
    /// so many steps together.
    Map {
        plain: Entry,
        wide: Option<(Entry, u32)>,
        tiled: Vec<Tiled>,
        steps: Option<Atom>,
        /// Where rows are ragged: by tiles, with so many items for each thread.
        ragged: Option<(Entry, u32)>,
    },
    /// One thread per point, or threads that work on it together where it does not need more than a form has.
    Blocks { plain: Entry, forms: Vec<BlockForm> },
    /// One thread.
    Seq(Entry),
    /// A thread per segment; more of them where segments have one length, or tiles where their lengths differ.
    Red {
        small: Entry,
        more: Option<More>,
        ragged: Option<Large>,
    },
    /// The same; tiles of blocks, whose threads have so many elements each, or items where lengths differ.
    Scan {
        small: Entry,
        more: Option<MoreOfScan>,
        ragged: Option<Large>,
    },
    /// Points are combined with their buckets, one by one or gathered first.
    Hist(Hist),
    /// Copies of the buckets are filled with neutral elements, worked on, and merged.
    Copies {
        fill: Entry,
        work: Entry,
        merge: Entry,
    },
}

/// What code becomes of: the program, and what is common to its kernels.
pub(crate) struct Source<'a> {
    pub(crate) program: &'a Program<Mem>,
    pub(crate) calls: &'a Calls,
    pub(crate) sites: &'a mut Vec<Site>,
}

/// A variable at run time.
#[derive(Clone, Copy, Debug)]
enum Value {
    Scalar(Operand),
    Global(Reg),
    Local(Reg),
    /// A buffer in a share of the arena that is interleaved with those of the other threads.
    Interleaved(Reg),
    /// A buffer in shared memory.
    Shared(Reg),
}

/// A function of the plan as its callers see it.
#[derive(Clone, Debug)]
struct Interface {
    id: FuncId,
    results: Vec<Type>,
    recursive: bool,
    /// Whether it returns buffers, which stay in the arena.
    returns_memory: bool,
}

/// The state of lowering one function.
pub(crate) struct Lower<'a> {
    program: &'a Program<Mem>,
    functions: &'a BTreeMap<FunId, Interface>,
    sites: &'a mut Vec<Site>,
    b: Builder,
    values: HashMap<Var, Value>,
    /// Where code that fails goes.
    fail: BlockId,
    /// The failure word.
    failure: Reg,
    /// The number of the launch, in the high half.
    launch: Reg,
    /// The array of parameters, if they are too many to be handed over.
    slots: Option<Reg>,
    /// The first free byte of the arena of the thread, and its end.
    arena: Option<(Reg, Reg)>,
    /// The bytes of a slot of the arena, if the shares of threads are interleaved.
    slot: Option<u64>,
    /// How much deeper calls may be nested.
    depth: Option<Reg>,
    /// Local buffers that live in local memory.
    on_stack: BTreeSet<Var>,
    /// Whether several points may store to one place.
    any_wins: bool,
    /// Whether operators combine tuples that begin with whether a row ends in what they sum up.
    by_rows: bool,
    /// What is known of addresses.
    addresses: Addresses,
    /// The threads that work on the point at hand together.
    team: Option<block::Team>,
}

/// The type of instructions on scalars of a type.
const fn ty_of(ty: ScalarType) -> Ty {
    match ty {
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => Ty::S32,
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => Ty::U32,
        ScalarType::I64 => Ty::S64,
        ScalarType::U64 => Ty::U64,
        ScalarType::F16 => Ty::F16,
        ScalarType::F32 => Ty::F32,
        ScalarType::F64 => Ty::F64,
        ScalarType::Bool => Ty::Pred,
    }
}

/// The type of their elements in memory.
const fn memory_ty(ty: ScalarType) -> Ty {
    match ty {
        ScalarType::I8 => Ty::S8,
        ScalarType::U8 | ScalarType::Bool => Ty::U8,
        ScalarType::I16 => Ty::S16,
        ScalarType::U16 => Ty::U16,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => Ty::U32,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => Ty::U64,
        ScalarType::F16 => Ty::B16,
    }
}

/// The width of a scalar's register.
const fn class_of(ty: ScalarType) -> Class {
    ty_of(ty).class()
}

/// Lowers a kernel.
pub(crate) fn kernel(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Lowered {
    let is_regular = !kernel.has_ragged_rows();
    // What a steady row comes to must not depend on where in a tile it lies.
    let in_tiles = !is_regular && !kernel.steady;
    match &kernel.kind {
        KernelKind::Map if shares_out(&kernel.body) => Lowered::Blocks {
            plain: map::map(source, kernel, args),
            forms: block::forms(source, kernel, args),
        },
        KernelKind::Map => {
            let (tiled, steps) = tile::tiled(source, kernel, args);
            Lowered::Map {
                plain: map::map(source, kernel, args),
                wide: map::wide(source, kernel, args),
                tiled,
                steps,
                ragged: (!is_regular).then(|| ragged::map(source, kernel, args)),
            }
        }
        KernelKind::Seq => Lowered::Seq(map::seq(source, kernel, args)),
        KernelKind::Red { ops, .. } | KernelKind::Scan { ops, .. } if ops.is_empty() => {
            Lowered::Map {
                plain: map::map(source, kernel, args),
                wide: None,
                tiled: vec![],
                steps: None,
                ragged: None,
            }
        }
        KernelKind::Red { ops, outs } => Lowered::Red {
            small: reduce::small(source, kernel, args, (ops, outs), Keeps::Total),
            more: is_regular
                .then(|| reduce::large(source, kernel, args, (ops, outs)))
                .and_then(Entry::fitting)
                .map(|large| More {
                    large,
                    warps: reduce::warps(source, kernel, args, (ops, outs)),
                    is_contiguous: stride::is_contiguous(kernel),
                }),
            ragged: in_tiles
                .then(|| ragged::fold(source, kernel, args, (ops, outs), Keeps::Total))
                .flatten(),
        },
        KernelKind::Scan { ops, outs, then } => Lowered::Scan {
            small: reduce::small(source, kernel, args, (ops, outs), Keeps::of(then.as_ref())),
            more: is_regular.then(|| MoreOfScan {
                large: scan::large(source, kernel, args, (ops, outs), then.as_ref()),
                warps: scan::warps(source, kernel, args, (ops, outs), Keeps::of(then.as_ref())),
                is_contiguous: stride::is_contiguous(kernel),
            }),
            ragged: in_tiles
                .then(|| {
                    let keeps = Keeps::of(then.as_ref());
                    ragged::fold(source, kernel, args, (ops, outs), keeps)
                })
                .flatten(),
        },
        KernelKind::Hist(hists) => hist::hist(source, kernel, args, hists),
    }
}

impl<'a> Lower<'a> {
    fn new(
        program: &'a Program<Mem>,
        functions: &'a BTreeMap<FunId, Interface>,
        sites: &'a mut Vec<Site>,
        b: Builder,
    ) -> Self {
        Self {
            program,
            functions,
            sites,
            b,
            values: HashMap::new(),
            fail: BlockId(0),
            failure: Reg(0),
            launch: Reg(0),
            slots: None,
            arena: None,
            slot: None,
            depth: None,
            on_stack: BTreeSet::new(),
            any_wins: true,
            by_rows: false,
            addresses: Addresses::default(),
            team: None,
        }
    }

    /// The type of a variable.
    fn ty(&self, var: Var) -> &'a Type {
        &self.program.vars[var].ty
    }

    /// The type of the elements of a buffer, or of a scalar.
    fn elem(&self, var: Var) -> ScalarType {
        self.ty(var)
            .elem()
            .expect("the verifier lets only scalars and buffers be operands")
    }

    fn bind(&mut self, var: Var, value: Value) {
        self.values.insert(var, value);
    }

    fn bind_scalar(&mut self, var: Var, value: impl Into<Operand>) {
        self.bind(var, Value::Scalar(value.into()));
    }

    fn value(&self, var: Var) -> Value {
        *self
            .values
            .get(&var)
            .expect("a variable is bound before its uses")
    }

    /// The value of an atom.
    fn any(&self, atom: Atom) -> Value {
        match atom {
            Atom::Const(c) => Value::Scalar(self.constant(c)),
            Atom::Var(v) => self.value(v),
        }
    }

    /// The value of a scalar.
    fn atom(&self, atom: Atom) -> Operand {
        match self.any(atom) {
            Value::Scalar(operand) => operand,
            Value::Global(reg)
            | Value::Local(reg)
            | Value::Interleaved(reg)
            | Value::Shared(reg) => reg.into(),
        }
    }

    /// The type of an atom.
    fn type_of(&self, atom: &Atom) -> Type {
        match atom {
            Atom::Const(c) => Type::Scalar(c.ty()),
            Atom::Var(v) => self.ty(*v).clone(),
        }
    }

    /// The scalar type of an atom.
    fn scalar_type(&self, atom: &Atom) -> ScalarType {
        match atom {
            Atom::Const(c) => c.ty(),
            Atom::Var(v) => self.elem(*v),
        }
    }

    /// Those atoms that have a value.
    fn with_value(&self, atoms: &[Atom]) -> Vec<Atom> {
        let has = |atom: &&Atom| has_value(&self.type_of(atom));
        atoms.iter().filter(has).copied().collect()
    }

    /// An element as it was loaded, as a scalar.
    fn loaded(&mut self, ty: ScalarType, raw: Reg) -> Reg {
        if ty == ScalarType::Bool {
            self.b.cmp(Cmp::Ne, Ty::U32, raw, Operand::Imm(0))
        } else {
            raw
        }
    }

    /// A scalar as it is stored.
    fn storable(&mut self, ty: ScalarType, value: Operand) -> Operand {
        match ty {
            ScalarType::Bool => {
                let cond = self.reg(ty, value);
                self.b
                    .select(Ty::B32, cond, Operand::Imm(1), Operand::Imm(0))
                    .into()
            }
            ScalarType::F16 => self.reg(ty, value).into(),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F32
            | ScalarType::F64 => value,
        }
    }

    /// The number of the thread in the grid, and the number of threads, in 64 bits.
    fn thread(&mut self) -> (Reg, Reg) {
        let (block, size) = (
            self.b.special(Special::Ctaid),
            self.b.special(Special::Ntid),
        );
        let (tid, blocks) = (
            self.b.special(Special::Tid),
            self.b.special(Special::Nctaid),
        );
        let first = self.b.bin(Binary::MulWide, Ty::U32, block, size);
        let tid = self.wide(tid);
        let thread = self.b.bin(Binary::Add, Ty::U64, first, tid);
        let all = self.b.bin(Binary::MulWide, Ty::U32, blocks, size);
        (thread, all)
    }

    /// A 32-bit number in 64 bits.
    fn wide(&mut self, reg: Reg) -> Reg {
        let exact = crate::ptx::ops::Round::Exact;
        self.b.convert(Ty::U64, Ty::U32, exact, reg)
    }

    /// A register that can be changed, with a first value.
    fn fresh(&mut self, ty: ScalarType, value: Operand) -> Reg {
        let reg = self.b.reg(class_of(ty));
        self.assign(ty, reg, value);
        reg
    }

    /// Changes a register.
    fn assign(&mut self, ty: ScalarType, reg: Reg, value: Operand) {
        self.b.set(Ty::of_class(class_of(ty)), reg, value);
    }
}

/// The register or constant of a value.
const fn operand(value: Value) -> Operand {
    match value {
        Value::Scalar(operand) => operand,
        Value::Global(reg) | Value::Local(reg) | Value::Interleaved(reg) | Value::Shared(reg) => {
            Operand::Reg(reg)
        }
    }
}

fn place(spans: &Spans, span: midend::ir::id::SpanId) -> String {
    spans.place(span).map_or(String::new(), |place| {
        format!("{}:{}:{}", place.file, place.start.0, place.start.1)
    })
}

/// The types of the components of a tuple of operators.
pub(crate) fn components(program: &Program<Mem>, ops: &[Operator<Mem>]) -> Vec<ScalarType> {
    let params = ops.iter().flat_map(|op| &op.lam.params[..op.neutral.len()]);
    params
        .map(|v| {
            program.vars[*v]
                .ty
                .elem()
                .expect("operators work on scalars")
        })
        .collect()
}
