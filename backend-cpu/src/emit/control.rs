//! Conditionals, loops and calls.

mod few;
mod inner;

pub(super) use inner::{InnerLoops, has_inner_loops};

use super::{Emit, block_args, clif_of, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, ExtFuncData, ExternalName, InstBuilder, InstructionData, Opcode,
    UserExternalName, Value, types,
};
use midend::analysis::kernels::{bodies, has_value};
use midend::ir::id::{FunId, Var};
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};
use midend::ir::types::ScalarType;

/// Iterations of an innermost loop between two polls.
const INNER_STRIP: i64 = 1024;
/// Iterations of an outer loop between two polls. Strips multiply with the depth of nesting.
const OUTER_STRIP: i64 = 16;

/// How much of its loop a body makes an innermost one.
pub(super) fn strip(body: &Body<Mem>) -> i64 {
    let mut nested = false;
    for stm in &body.stms {
        match &stm.exp {
            Exp::Loop { .. } | Exp::Call { .. } | Exp::Op(Mem::Copy { .. }) => nested = true,
            Exp::If { .. } => bodies(&stm.exp, &mut |inner| nested |= strip(inner) < INNER_STRIP),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Op(_) => {}
        }
    }
    if nested { OUTER_STRIP } else { INNER_STRIP }
}

/// The most operations of a side that is computed whether or not it is chosen.
pub(super) const CHEAP: usize = 4;

/// Whether a body can be computed at no risk and little cost: integer and truth arithmetic without division, and
/// choices between such. Selections of floats would be branches anyway.
pub(super) fn is_cheap(body: &Body<Mem>) -> bool {
    operations(body, CHEAP, &|op, args| {
        is_cheap_scalar(op, args).then_some(1)
    })
    .is_some()
}

/// The operations of a body of scalar operations, each of which counts as `cost` says; nothing if one of them does not,
/// the body has something else, or there are more than `most`.
pub(crate) fn operations(
    body: &Body<Mem>,
    most: usize,
    cost: &impl Fn(ScalarOp, &[Atom]) -> Option<usize>,
) -> Option<usize> {
    let mut count = 0;
    for stm in &body.stms {
        count += match &stm.exp {
            Exp::Atom(_) => 0,
            Exp::Scalar(op, args) => cost(*op, args)?,
            Exp::If {
                then, otherwise, ..
            } => {
                let left = most.checked_sub(count + 1)?;
                let yes = operations(then, left, cost)?;
                1 + yes + operations(otherwise, left.checked_sub(yes)?, cost)?
            }
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        };
        if count > most {
            return None;
        }
    }
    Some(count)
}

/// Whether an operation costs little and cannot fail.
pub(super) fn is_cheap_scalar(op: ScalarOp, args: &[Atom]) -> bool {
    match op {
        ScalarOp::Bin(BinOp::Div | BinOp::Mod, _) => {
            // By a power of two these are a shift and a mask.
            matches!(
                args[1],
                Atom::Const(Const::I64(2 | 4 | 8 | 16) | Const::I32(2 | 4 | 8 | 16))
            )
        }
        ScalarOp::Bin(BinOp::Quot | BinOp::Rem | BinOp::Pow, _) => false,
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => {
            !op.result().is_float() && (0..op.arity()).all(|i| op.operand(i) != ScalarType::F16)
        }
    }
}

impl Emit<'_, '_> {
    /// One of two bodies.
    pub(super) fn conditional(
        &mut self,
        binds: &[Var],
        cond: Atom,
        then: &Body<Mem>,
        otherwise: &Body<Mem>,
    ) -> Vec<Value> {
        if let Atom::Const(Const::Bool(known)) = cond {
            return self.body(if known { then } else { otherwise });
        }
        let cond = self.atom(cond);
        if is_cheap(then) && is_cheap(otherwise) {
            // Both sides without a branch: a few operations cost less than a wrong guess of the processor.
            let (yes, no) = (self.body(then), self.body(otherwise));
            return yes
                .into_iter()
                .zip(no)
                .map(|(a, b)| self.b.ins().select(cond, a, b))
                .collect();
        }
        let stores = binds.is_empty() && otherwise.stms.is_empty();
        if stores && !self.is_one_step(cond) && super::memory::stores_little(then) {
            self.diverted(cond, then);
            return Vec::new();
        }
        let (yes, no, join) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let types: Vec<_> = binds.iter().filter_map(|v| clif_of(self.ty(*v))).collect();
        let results = self.params(join, &types);
        self.b.ins().brif(cond, yes, &[], no, &[]);
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.b.switch_to_block(block);
            let values = self.body(body);
            self.b.ins().jump(join, &block_args(values));
        }
        self.b.switch_to_block(join);
        results
    }

    /// Whether a condition holds at one step of the loop at hand, if at all, so that a branch is foreseen.
    fn is_one_step(&self, cond: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let definition = |value: Value| dfg.value_def(value).inst().map(|inst| dfg.insts[inst]);
        let Some(InstructionData::IntCompare {
            cond: IntCC::Equal,
            args,
            ..
        }) = definition(cond)
        else {
            return false;
        };
        args.into_iter().any(|value| match definition(value) {
            Some(InstructionData::Binary {
                opcode: Opcode::Iadd,
                args,
            }) => self.known(args[1]).is_some() && self.loops.last() == Some(&args[0]),
            _ => self.loops.last() == Some(&value),
        })
    }

    /// A sequential loop.
    pub(super) fn looped(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) -> Vec<Value> {
        let params: Vec<LoopParam> = params
            .iter()
            .copied()
            .filter(|p| has_value(self.ty(p.var)))
            .collect();
        if let (LoopForm::For { index, bound }, []) = (form, &params[..])
            && self.inner_in_lanes(*index, *bound, body)
        {
            return Vec::new();
        }
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let inits = self.atoms(&inits);
        let carries_memory = vars.iter().any(|v| self.is_buffer(*v));
        let mark = if carries_memory {
            self.mark(body)
        } else {
            None
        };
        match form {
            LoopForm::For { index, bound } => {
                let ty = self.elem(*index);
                let bound = self.atom(*bound);
                let strip = strip(body);
                self.counted(ty, bound, strip, &inits, |emit, i, carried| {
                    emit.bind(*index, i);
                    emit.step(&vars, carried, body, mark)
                })
            }
            LoopForm::While(cond) => self.conditional_loop(
                &inits,
                &mut (),
                |emit, (), carried| {
                    emit.bind_all(&vars, carried);
                    emit.body(cond)[0]
                },
                |emit, (), carried| emit.step(&vars, carried, body, mark),
            ),
        }
    }

    /// One iteration: binds the parameters, emits the body. Memory of an iteration is given back at its end; if
    /// buffers go on into the next one, they are moved together from time to time.
    fn step(
        &mut self,
        vars: &[Var],
        carried: &[Value],
        body: &Body<Mem>,
        mark: Option<[Value; 3]>,
    ) -> Vec<Value> {
        self.bind_all(vars, carried);
        if vars.iter().any(|v| self.is_buffer(*v)) {
            let mut next = self.body(body);
            if let Some(mark) = mark {
                self.compact(mark, vars, &mut next);
            }
            return next;
        }
        self.scoped(body, |emit| emit.body(body))
    }

    /// A loop as long as a condition holds: `cond` and `body` get the carried values, and `body` yields the next ones.
    pub(super) fn conditional_loop<S>(
        &mut self,
        inits: &[Value],
        state: &mut S,
        cond: impl FnOnce(&mut Self, &mut S, &[Value]) -> Value,
        body: impl FnOnce(&mut Self, &mut S, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types = self.types_of(inits);
        let (header, inside, exit) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let carried = self.params(header, &types);
        self.b
            .ins()
            .jump(header, &block_args(inits.iter().copied()));
        self.b.switch_to_block(header);
        let marks = carried.first().copied();
        self.loops.extend(marks);
        let go_on = cond(self, state, &carried);
        self.leave_unless(go_on, (exit, inside));
        self.b.switch_to_block(inside);
        let next = body(self, state, &carried);
        if marks.is_some() {
            self.loops.pop();
        }
        self.poll();
        self.b.ins().jump(header, &block_args(next));
        self.b.switch_to_block(exit);
        carried
    }

    /// Goes out of the loops at hand, unless a condition holds. Cranelift moves what does not change out of loops only until it has
    /// met a block outside, and meets the second target of a branch first.
    pub(super) fn leave_unless(&mut self, cond: Value, (out, on): (Block, Block)) {
        let leaves = self.b.ins().icmp_imm_s(IntCC::Equal, cond, 0);
        self.b.ins().brif(leaves, out, &[], on, &[]);
    }

    /// A loop from zero: see [`Emit::range`].
    pub(crate) fn counted(
        &mut self,
        ty: ScalarType,
        bound: Value,
        strip: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let zero = self.zero(super::clif(ty));
        self.range(ty, (zero, bound), strip, inits, body)
    }

    /// A counted loop: `body` gets the counter and the carried values and yields their next values.
    ///
    /// Long loops run in strips, so that the stop flag is read once per strip and the inner loop has a single test.
    pub(crate) fn range(
        &mut self,
        ty: ScalarType,
        (first, bound): (Value, Value),
        strip: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        self.range_by(1, (ty, (first, bound)), strip, inits, body)
    }

    /// The same in steps, of which a whole number lies in the range.
    pub(super) fn range_by(
        &mut self,
        step: i64,
        (ty, (first, bound)): (ScalarType, (Value, Value)),
        strip: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let strip = strip * step;
        let counter = super::clif(ty);
        let less = if ty.is_unsigned() {
            IntCC::UnsignedLessThan
        } else {
            IntCC::SignedLessThan
        };
        let carried_types = self.types_of(inits);
        let (outer, inner, latch, again, exit) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let results = self.params(exit, &carried_types);
        let short = self.known(first) == Some(0) && self.known(bound).is_some_and(|n| n <= strip);
        let any = self.b.ins().icmp(less, first, bound);
        let start: Vec<Value> = [first].into_iter().chain(inits.iter().copied()).collect();
        let skip = block_args(inits.iter().copied());
        if short {
            self.b
                .ins()
                .brif(any, inner, &block_args(start), exit, &skip);
            self.counted_inner(
                (counter, step, less),
                bound,
                &carried_types,
                (inner, exit),
                body,
            );
            return results;
        }
        self.b
            .ins()
            .brif(any, outer, &block_args(start), exit, &skip);

        // A strip: from its first index to a limit that is the bound or `strip` further. Counters too narrow for the
        // width of a strip poll after every step.
        let i = self.params(outer, &[counter])[0];
        let carried = self.params(outer, &carried_types);
        self.b.switch_to_block(outer);
        let width = if ty.bytes() < 4 { 1 } else { strip };
        let left = self.b.ins().isub(bound, i);
        let long = self
            .b
            .ins()
            .icmp_imm_s(IntCC::UnsignedGreaterThan, left, width);
        let end = self.b.ins().iadd_imm_s(i, width);
        let limit = self.b.ins().select(long, end, bound);
        let entry = block_args([i].into_iter().chain(carried));
        self.b.ins().jump(inner, &entry);

        let latch_counter = self.params(latch, &[counter])[0];
        let carried = self.params(latch, &carried_types);
        self.counted_inner(
            (counter, step, less),
            limit,
            &carried_types,
            (inner, latch),
            body,
        );
        let more = self.b.ins().icmp(less, latch_counter, bound);
        let out = block_args(carried.iter().copied());
        self.b.ins().brif(more, again, &[], exit, &out);
        self.b.switch_to_block(again);
        self.poll();
        let args = block_args([latch_counter].into_iter().chain(carried));
        self.b.ins().jump(outer, &args);
        self.b.switch_to_block(exit);
        results
    }

    /// The tight part of a counted loop: steps while the counter is below `limit`, then goes on to `exit`, with the
    /// counter too if that block has a parameter for it.
    fn counted_inner(
        &mut self,
        (counter, step, less): (cranelift_codegen::ir::Type, i64, IntCC),
        limit: Value,
        types: &[cranelift_codegen::ir::Type],
        (inner, exit): (Block, Block),
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) {
        let i = self.params(inner, &[counter])[0];
        let carried = self.params(inner, types);
        self.b.switch_to_block(inner);
        self.loops.push(i);
        let next = body(self, i, &carried);
        self.loops.pop();
        let i = self.b.ins().iadd_imm_s(i, step);
        let more = self.b.ins().icmp(less, i, limit);
        let all: Vec<Value> = [i].into_iter().chain(next).collect();
        let wanted = self.b.block_params(exit).len();
        let out = block_args(all[all.len() - wanted..].iter().copied());
        let again = block_args(all);
        self.b.ins().brif(more, inner, &again, exit, &out);
        self.b.switch_to_block(exit);
    }

    /// A call of a function of the program. The first result comes in a register, the others in memory.
    pub(super) fn call(&mut self, fun: FunId, args: &[Atom]) -> Vec<Value> {
        if let Some(results) = self.call_of_one(fun, args) {
            return results;
        }
        let interface = self
            .units
            .functions
            .get(&fun)
            .expect("every function that is called was collected");
        let (params, results) = (&interface.params, &interface.results);
        let depth = interface.counts.then(|| self.calls_left());
        let callee = match self.functions.get(&fun) {
            Some(callee) => *callee,
            None => {
                let signature = self.units.signature_of(interface);
                let signature = self.b.import_signature(signature);
                let name = self
                    .b
                    .func
                    .declare_imported_user_function(UserExternalName {
                        namespace: 0,
                        index: interface.id.as_u32(),
                    });
                let callee = self.b.import_function(ExtFuncData {
                    name: ExternalName::user(name),
                    signature,
                    colocated: true,
                    patchable: false,
                });
                self.functions.insert(fun, callee);
                callee
            }
        };
        let mut values = vec![self.worker];
        values.extend(depth);
        values.extend(self.atoms(args));
        debug_assert_eq!(
            values.len(),
            params.len() + 1 + usize::from(interface.counts)
        );
        let rest = results.len().saturating_sub(1);
        let memory = (rest > 0).then(|| self.stack_slot(8 * rest as u32));
        values.extend(memory);
        let call = self.b.ins().call(callee, &values);
        let returned = self.b.inst_results(call).to_vec();
        let go_on = self.b.create_block();
        let fail = self.fail;
        self.b.ins().brif(returned[0], fail, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
        let mut out: Vec<Value> = returned.get(1).copied().into_iter().collect();
        for (i, ty) in results.iter().skip(1).enumerate() {
            let memory = memory.expect("made above for several results");
            out.push(self.b.ins().load(*ty, plain(), memory, 8 * i as i32));
        }
        out
    }
}

/// The parameters of a function of the program as compiled: how many more calls may be nested, if it is told that, then values, then
/// where results after the first go.
pub(crate) fn function_signature(
    conv: cranelift_codegen::isa::CallConv,
    counts: bool,
    (params, results): (
        &[cranelift_codegen::ir::Type],
        &[cranelift_codegen::ir::Type],
    ),
) -> cranelift_codegen::ir::Signature {
    let depth = counts.then_some(types::I64);
    let params: Vec<_> = depth.into_iter().chain(params.iter().copied()).collect();
    let mut signature = super::signature(conv, &params, &results[..results.len().min(1)]);
    if results.len() > 1 {
        signature.params.push(AbiParam::new(types::I64));
    }
    signature
}
