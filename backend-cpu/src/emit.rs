//! From bodies of the plan dialect to Cranelift's intermediate form.
//!
//! A scalar is a Cranelift value of its width (`bool` an `i8` of 0 or 1, `f16` its bits in an `i16`), a buffer is a
//! pointer, a certificate is nothing. Code that fails jumps to one block that returns a status other than zero.

mod address;
mod affine;
mod checks;
mod compact;
mod constants;
pub(crate) mod control;
mod counters;
mod depth;
mod divided;
mod groups;
pub(crate) mod hist;
pub(crate) mod kernel;
pub(crate) mod lanes;
mod library;
pub(crate) mod memory;
mod parts;
pub(crate) mod past;
pub(crate) mod ragged;
pub(crate) mod reduce;
pub(crate) mod scalar;
pub(crate) mod scan;

use crate::calls::Helper;
use crate::compile::Units;
use crate::worker::{Site, SitePart, Worker};
use constants::Constants;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, FuncRef, Function, InstBuilder, MemFlagsData, SigRef, Signature,
    StackSlotData, StackSlotKind, Type as ClifType, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use midend::analysis::kernels::has_value;
use midend::ir::id::{FunId, SpanId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Body, Exp, Message, MessagePart, Program, Stm, Vars};
use midend::ir::types::{ScalarType, Type};
use std::collections::{BTreeSet, HashMap};
use std::mem::offset_of;
use std::sync::Arc;

/// A compilation unit, ready for Cranelift.
pub(crate) struct Emitted {
    pub(crate) func: Function,
    /// What the code refers to.
    pub(crate) kept: Kept,
    /// How many vectors side by side each one stands for; if it is not one, the code is to be widened.
    pub(crate) parts: usize,
    /// Whether several points are worked on at a time.
    pub(crate) in_lanes: bool,
}

/// Data whose addresses stand in compiled code.
pub(crate) struct Kept {
    #[expect(
        dead_code,
        reason = "kept alive for compiled code, which alone reads it"
    )]
    sites: Vec<Arc<Site>>,
    #[expect(
        dead_code,
        reason = "kept alive for compiled code, which alone reads it"
    )]
    constants: Vec<Arc<u64>>,
    pub(crate) calls: lanes::LaneCalls,
}

impl Kept {
    /// What code refers to that has nothing but checks.
    pub(crate) fn of_sites(sites: Vec<Arc<Site>>) -> Self {
        Self {
            sites,
            constants: Vec::new(),
            calls: lanes::LaneCalls::default(),
        }
    }
}

/// The state of emitting one unit.
pub(crate) struct Emit<'a, 'b> {
    pub(crate) program: &'a Program<Mem>,
    /// Its variables, and maybe some more of the kernel at hand.
    pub(crate) vars: &'a Vars,
    units: &'a Units,
    pub(crate) b: FunctionBuilder<'b>,
    values: HashMap<Var, Value>,
    /// Arguments of the unit that are read from memory wherever they are used, and where they are.
    arguments: HashMap<Var, (Value, i32)>,
    /// Pointer to the worker.
    pub(crate) worker: Value,
    /// How many more calls of recursive functions may be nested, in a function that is told.
    calls_left: Option<Value>,
    /// Returns a failure.
    pub(crate) fail: Block,
    sites: Vec<Arc<Site>>,
    constants: Constants,
    signatures: HashMap<usize, SigRef>,
    functions: HashMap<FunId, FuncRef>,
    /// Local buffers that live on the stack.
    on_stack: BTreeSet<Var>,
    /// Indices that are small, as floats of 64 bits are exact.
    near: BTreeSet<Var>,
    /// The ends of counters that are constants.
    bounds: HashMap<Var, i64>,
    /// The counters, or else the first values carried, of the loops at hand, innermost last.
    loops: Vec<Value>,
    /// How many vectors side by side each one may stand for, and how many it does (see [`crate::wide`]).
    asked: usize,
    parts: usize,
    in_lanes: bool,
    inner_loops: control::InnerLoops,
    /// The most bytes of the arrays that lanes have for themselves.
    room: i64,
    lane_calls: lanes::LaneCalls,
    past: Option<past::Past>,
}

/// The sizes of the tiles that a map is worked on in, if it is.
pub(crate) fn tiles_of(program: &Program<Mem>, kernel: &Kernel) -> Option<lanes::tile::Sizes> {
    lanes::tile::sizes(&program.vars, kernel)
}

/// The Cranelift type of a scalar.
pub(crate) const fn clif(ty: ScalarType) -> ClifType {
    match ty {
        ScalarType::I8 | ScalarType::U8 | ScalarType::Bool => types::I8,
        ScalarType::I16 | ScalarType::U16 | ScalarType::F16 => types::I16,
        ScalarType::I32 | ScalarType::U32 => types::I32,
        ScalarType::I64 | ScalarType::U64 => types::I64,
        ScalarType::F32 => types::F32,
        ScalarType::F64 => types::F64,
    }
}

/// The Cranelift type of a variable; nothing for certificates (and for arrays and accumulators, which plans do not have).
pub(crate) const fn clif_of(ty: &Type) -> Option<ClifType> {
    match ty {
        Type::Scalar(s) => Some(clif(*s)),
        Type::Buffer(_) => Some(types::I64),
        Type::Array(_) | Type::Acc(_) | Type::Cert => None,
    }
}

/// Memory that compiled code may touch without a fault.
pub(crate) const fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Memory that does not change while the code runs and may be read at any time.
pub(crate) const fn fixed() -> MemFlagsData {
    MemFlagsData::new()
        .with_notrap()
        .with_readonly()
        .with_can_move()
}

/// The signature of a unit: the worker, then `params`; a status, then `results`.
pub(crate) fn signature(conv: CallConv, params: &[ClifType], results: &[ClifType]) -> Signature {
    let mut signature = Signature::new(conv);
    signature.params.push(AbiParam::new(types::I64));
    let params = params.iter().copied().map(AbiParam::new);
    signature.params.extend(params);
    signature.returns.push(AbiParam::new(types::I8));
    let results = results.iter().copied().map(AbiParam::new);
    signature.returns.extend(results);
    signature
}

/// Emits a unit: `body` gets the values of `params` and yields those of `results`. `bodies` is the code
/// of the program that the unit is made of; with it comes how many others vectors may stand for.
pub(crate) fn unit<'a>(
    (program, vars): (&'a Program<Mem>, &'a Vars),
    units: &'a Units,
    params: &[ClifType],
    results: &[ClifType],
    (bodies, asked): (&[&Body<Mem>], usize),
    body: impl FnOnce(&mut Emit<'a, '_>, &[Value]) -> Vec<Value>,
) -> Emitted {
    let mut func = Function::new();
    func.signature = signature(units.conv, params, results);
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut func, &mut context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    let fail = b.create_block();
    b.set_cold_block(fail);
    b.switch_to_block(entry);
    let args = b.block_params(entry).to_vec();
    let mut emit = Emit {
        program,
        vars,
        units,
        b,
        values: HashMap::new(),
        arguments: HashMap::new(),
        worker: args[0],
        calls_left: None,
        fail,
        sites: Vec::new(),
        constants: Constants::default(),
        signatures: HashMap::new(),
        functions: HashMap::new(),
        on_stack: midend::analysis::kernels::on_stack(
            bodies,
            memory::STACK_BUFFER,
            memory::STACK_TOTAL,
        ),
        near: BTreeSet::new(),
        bounds: HashMap::new(),
        loops: Vec::new(),
        asked,
        parts: 1,
        in_lanes: false,
        inner_loops: control::InnerLoops::default(),
        room: lanes::ROOM,
        lane_calls: lanes::LaneCalls::default(),
        past: None,
    };
    let values = body(&mut emit, &args[1..]);
    let ok = emit.b.ins().iconst(types::I8, 0);
    let mut out = vec![ok];
    out.extend(values);
    emit.b.ins().return_(&out);
    emit.b.switch_to_block(fail);
    let mut out = vec![emit.b.ins().iconst(types::I8, 1)];
    for ty in results {
        out.push(emit.zero(*ty));
    }
    emit.b.ins().return_(&out);
    emit.b.seal_all_blocks();
    let Emit {
        b,
        sites,
        constants,
        parts,
        in_lanes,
        lane_calls,
        ..
    } = emit;
    b.finalize(units.frontend);
    Emitted {
        func,
        kept: Kept {
            sites,
            constants: constants.into_slots(),
            calls: lane_calls,
        },
        parts,
        in_lanes,
    }
}

impl Emit<'_, '_> {
    /// The type of a variable.
    pub(crate) fn ty(&self, var: Var) -> &Type {
        &self.vars[var].ty
    }

    /// The type of the elements of a buffer, or of a scalar.
    pub(crate) fn elem(&self, var: Var) -> ScalarType {
        self.ty(var)
            .elem()
            .expect("the verifier lets only scalars and buffers be operands")
    }

    /// Gives a variable its value.
    pub(crate) fn bind(&mut self, var: Var, value: Value) {
        self.values.insert(var, value);
    }

    /// Gives variables their values.
    pub(crate) fn bind_all(&mut self, vars: &[Var], values: &[Value]) {
        for (var, value) in vars.iter().zip(values) {
            self.bind(*var, *value);
        }
    }

    /// The value of a variable.
    pub(crate) fn var(&mut self, var: Var) -> Value {
        if let Some(value) = self.values.get(&var) {
            return *value;
        }
        let (slots, offset) = *self
            .arguments
            .get(&var)
            .expect("a variable is bound before its uses");
        let ty = clif_of(self.ty(var)).expect("arguments have values");
        self.b.ins().load(ty, plain(), slots, offset)
    }

    /// Whether a variable has a value here.
    pub(crate) fn is_bound(&self, var: Var) -> bool {
        self.values.contains_key(&var) || self.arguments.contains_key(&var)
    }

    /// The value of an atom.
    pub(crate) fn atom(&mut self, atom: Atom) -> Value {
        match atom {
            Atom::Const(c) => self.constant(c),
            Atom::Var(v) => self.var(v),
        }
    }

    /// Whether the atom has a value at run time.
    pub(crate) fn has_value(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(v) => has_value(self.ty(*v)),
        }
    }

    /// The values of those atoms that have one.
    pub(crate) fn atoms(&mut self, atoms: &[Atom]) -> Vec<Value> {
        let mut values = Vec::with_capacity(atoms.len());
        for atom in atoms {
            if self.has_value(atom) {
                values.push(self.atom(*atom));
            }
        }
        values
    }

    /// A constant.
    pub(crate) fn constant(&mut self, c: Const) -> Value {
        let ins = self.b.ins();
        match c {
            Const::I8(x) => ins.iconst(types::I8, i64::from(x as u8)),
            Const::U8(x) => ins.iconst(types::I8, i64::from(x)),
            Const::Bool(x) => ins.iconst(types::I8, i64::from(x)),
            Const::I16(x) => ins.iconst(types::I16, i64::from(x as u16)),
            Const::U16(x) | Const::F16(x) => ins.iconst(types::I16, i64::from(x)),
            Const::I32(x) => ins.iconst(types::I32, i64::from(x as u32)),
            Const::U32(x) => ins.iconst(types::I32, i64::from(x)),
            Const::I64(x) => ins.iconst(types::I64, x),
            Const::U64(x) => ins.iconst(types::I64, x as i64),
            Const::F32(x) => self.float_constant(types::F32, u64::from(x)),
            Const::F64(x) => self.float_constant(types::F64, x),
        }
    }

    /// An `i64` constant.
    pub(crate) fn i64(&mut self, value: i64) -> Value {
        self.b.ins().iconst(types::I64, value)
    }

    /// Zero of a type.
    pub(crate) fn zero(&mut self, ty: ClifType) -> Value {
        if ty == types::F32 {
            self.b.ins().f32const(0.0)
        } else if ty == types::F64 {
            self.b.ins().f64const(0.0)
        } else {
            self.b.ins().iconst(ty, 0)
        }
    }

    /// The statements of a body; yields its results, certificates left out.
    pub(crate) fn body(&mut self, body: &Body<Mem>) -> Vec<Value> {
        for stm in &body.stms {
            self.stm(stm);
        }
        self.atoms(&body.result)
    }

    /// One statement.
    pub(super) fn stm(&mut self, stm: &Stm<Mem>) {
        let binds: Vec<Var> = stm
            .binds
            .iter()
            .copied()
            .filter(|v| has_value(self.ty(*v)))
            .collect();
        let values = match &stm.exp {
            Exp::Atom(atom) => self.atoms(&[*atom]),
            Exp::Scalar(op, args) => {
                let args = self.atoms(args);
                vec![self.scalar(*op, &args)]
            }
            Exp::Assert { cond, message } => {
                self.assert(*cond, message, stm.span);
                vec![]
            }
            // Guards choose on the host; the verifier keeps them out of kernels, and any answer is right.
            Exp::Guard { .. } => vec![self.constant(Const::Bool(false))],
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.conditional(&binds, *cond, then, otherwise),
            Exp::Loop { params, form, body } => self.looped(params, form, body),
            Exp::Call { fun, args } => self.call(*fun, args),
            Exp::Op(op) => self.memory(op, &stm.binds),
        };
        for (var, value) in binds.into_iter().zip(values) {
            self.bind(var, value);
        }
    }

    /// Reports a failure and leaves; ends the block.
    pub(crate) fn report(&mut self, message: &Message, span: SpanId) {
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for part in &message.parts {
            match part {
                MessagePart::Text(text) => parts.push(SitePart::Text(text.clone())),
                MessagePart::Value(Atom::Const(c)) => {
                    parts.push(SitePart::Value(c.ty()));
                    values.push(self.constant(*c));
                }
                MessagePart::Value(Atom::Var(v)) => {
                    parts.push(SitePart::Value(self.elem(*v)));
                    values.push(self.var(*v));
                }
            }
        }
        let site = Arc::new(Site {
            kind: message.kind,
            parts,
            span,
        });
        let address = Arc::as_ptr(&site) as i64;
        self.sites.push(site);
        let slots = self.stack_slot(8 * values.len().max(1) as u32);
        for (i, value) in values.into_iter().enumerate() {
            self.b.ins().store(plain(), value, slots, 8 * i as i32);
        }
        let site = self.i64(address);
        let worker = self.worker;
        self.helper(&crate::calls::TRAP, &[worker, site, slots]);
        let fail = self.fail;
        self.b.ins().jump(fail, &[]);
    }

    /// The address of fresh stack memory.
    pub(crate) fn stack_slot(&mut self, bytes: u32) -> Value {
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            bytes.max(8),
            4,
        ));
        self.b.ins().stack_addr(types::I64, slot, 0)
    }

    /// Calls a Rust function.
    pub(crate) fn helper(&mut self, helper: &Helper, args: &[Value]) -> Option<Value> {
        let conv = self.units.conv;
        let signature = match self.signatures.get(&helper.address()) {
            Some(signature) => *signature,
            None => {
                let mut signature = Signature::new(conv);
                signature
                    .params
                    .extend(helper.params.iter().map(|ty| AbiParam::new(*ty)));
                signature.returns.extend(helper.result.map(AbiParam::new));
                let signature = self.b.import_signature(signature);
                self.signatures.insert(helper.address(), signature);
                signature
            }
        };
        let address = self.i64(helper.address() as i64);
        let call = self.b.ins().call_indirect(signature, address, args);
        self.b.inst_results(call).first().copied()
    }

    /// Leaves if the run is to stop: another worker failed, or the flag from outside is raised.
    pub(crate) fn poll(&mut self) {
        let worker = self.worker;
        let at = |offset: usize| i32::try_from(offset).expect("the worker is small");
        let stop = self.b.ins().load(
            types::I64,
            fixed(),
            worker,
            at(offset_of!(Worker<'_>, stop)),
        );
        let failed = self.b.ins().load(
            types::I64,
            fixed(),
            worker,
            at(offset_of!(Worker<'_>, failed)),
        );
        // The flags change under our feet. Plain loads would be merged with those of earlier polls.
        let stop = self.b.ins().atomic_load(types::I8, plain(), stop);
        let failed = self.b.ins().atomic_load(types::I8, plain(), failed);
        let either = self.b.ins().bor(stop, failed);
        let go_on = self.b.create_block();
        let fail = self.fail;
        self.b.ins().brif(either, fail, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Whether the target multiplies and adds in one instruction.
    pub(crate) fn has_fma(&self) -> bool {
        self.units.has_fma
    }

    /// Appends parameters of the given types to a block and returns their values.
    pub(crate) fn params(&mut self, block: Block, types: &[ClifType]) -> Vec<Value> {
        types
            .iter()
            .map(|ty| self.b.append_block_param(block, *ty))
            .collect()
    }

    /// The types of values.
    pub(crate) fn types_of(&self, values: &[Value]) -> Vec<ClifType> {
        values
            .iter()
            .map(|v| self.b.func.dfg.value_type(*v))
            .collect()
    }
}

/// Values as arguments of a branch.
pub(crate) fn block_args(values: impl IntoIterator<Item = Value>) -> Vec<BlockArg> {
    values.into_iter().map(BlockArg::from).collect()
}
