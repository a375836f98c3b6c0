//! Conditionals, loops and calls under an execution mask.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "types and operations are matched by a few of them"
)]

use super::{DEEP, Held, Lower, Refused, Val, held};
use crate::emit::control::operations;
use crate::vector::cost::{DIVERGENCE, ITERATIONS, MISPREDICTED};
use crate::vector::ir::{Address, Block, Cell, Cond, Elem, IntOp, MaskOp, Op, Type, Value};
use crate::worker::Worker;
use midend::analysis::kernels::has_value;
use midend::ir::id::{FunId, Var};
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, LoopForm, LoopParam};
use midend::ir::types::{ScalarType, Type as SourceType};
use midend::math::definition;
use std::mem::offset_of;

/// The most operations of two sides that all lanes compute, whichever they take.
const BLENDED: usize = 16;
/// The same where all lanes take one side.
const SELECTED: usize = 4;
/// A loop polls the stop flag in one of so many iterations.
const POLLED: i64 = 256;

/// The cost of a body that lanes may execute without need: scalar arithmetic that cannot fail. Nothing if there is more.
fn speculable(body: &Body<Mem>, most: usize) -> Option<usize> {
    operations(body, most, &|op, _| cost_of(op))
}

/// What an operation costs; nothing if it may be a loop or a call.
fn cost_of(op: ScalarOp) -> Option<usize> {
    if definition(op).is_some() {
        return None;
    }
    match op {
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem | BinOp::Pow, ty) => {
            (ty.is_float() && matches!(op, ScalarOp::Bin(BinOp::Div, _))).then_some(6)
        }
        ScalarOp::Bin(BinOp::Nextafter, _) => None,
        ScalarOp::Bin(BinOp::Min | BinOp::Max, ty) if ty.is_float() => Some(6),
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => Some(1),
    }
}

impl Lower<'_> {
    /// How a variable is passed to a block.
    fn type_of(&self, var: Var) -> Result<Type, Refused> {
        let uniform = self.uniformity.is_uniform(var);
        match self.ty(var) {
            SourceType::Buffer(_) if uniform => Ok(Type::I64),
            SourceType::Scalar(ty) => Ok(match (held(*ty)?, uniform) {
                (Held::Truth, true) => Type::I32,
                (Held::Truth, false) => Type::Mask,
                (Held::Elem(Elem::I32), true) => Type::I32,
                (Held::Elem(Elem::I64), true) => Type::I64,
                (Held::Elem(elem), _) => Type::Vector(elem),
            }),
            SourceType::Buffer(_)
            | SourceType::Array(_)
            | SourceType::Acc(_)
            | SourceType::Cert => Err(Refused("a choice between arrays of lanes".to_owned())),
        }
    }

    /// A value as it is passed for a variable.
    fn passed(&mut self, var: Var, val: Val) -> Result<Value, Refused> {
        let private = self.uniformity.is_private(var);
        match (val, self.type_of(var)?) {
            (Val::Shared(v), Type::I64) if !private => Ok(v),
            (Val::Private(v), Type::I64) if private => Ok(v),
            (Val::Shared(_) | Val::Private(_), _) => {
                Err(Refused("an array that is shared or not".to_owned()))
            }
            (val, Type::I32 | Type::I64) => self.as_int(val),
            (val, Type::Vector(_)) => self.as_vector(val),
            (val, Type::Mask) => self.as_mask(val),
        }
    }

    /// What a variable has that was passed.
    fn received(&self, var: Var, value: Value) -> Val {
        match (self.ty(var), self.f.ty(value)) {
            (SourceType::Buffer(_), _) if self.uniformity.is_private(var) => Val::Private(value),
            (SourceType::Buffer(_), _) => Val::Shared(value),
            (_, Type::I32 | Type::I64) => Val::Int(value),
            (_, Type::Vector(_)) => Val::Vector(value),
            (_, Type::Mask) => Val::Mask(value),
        }
    }

    fn all_passed(&mut self, vars: &[Var], vals: &[Val]) -> Result<Vec<Value>, Refused> {
        let pairs = vars.iter().zip(vals);
        pairs.map(|(var, val)| self.passed(*var, *val)).collect()
    }

    /// One of two bodies.
    pub(super) fn conditional(
        &mut self,
        binds: &[Var],
        cond: Atom,
        (then, otherwise): (&Body<Mem>, &Body<Mem>),
    ) -> Result<Vec<Val>, Refused> {
        if let Atom::Const(Const::Bool(known)) = cond {
            return self.body(if known { then } else { otherwise });
        }
        let with_value = binds.iter().filter(|v| has_value(self.ty(**v)));
        let binds: Vec<Var> = with_value.copied().collect();
        let cond = self.val(cond)?;
        let most = match cond {
            Val::Int(_) => SELECTED,
            _ => BLENDED,
        };
        let costs = speculable(then, most).zip(speculable(otherwise, most));
        let scalars = binds
            .iter()
            .all(|v| matches!(self.ty(*v), SourceType::Scalar(_)));
        if costs.is_some_and(|(a, b)| a + b <= most) && scalars {
            let (yes, no) = (self.body(then)?, self.body(otherwise)?);
            let mut chosen = Vec::new();
            for (var, (a, b)) in binds.iter().zip(yes.into_iter().zip(no)) {
                chosen.push(self.chosen(*var, cond, a, b)?);
            }
            return Ok(chosen);
        }
        match cond {
            Val::Int(cond) => self.branched(&binds, cond, (then, otherwise)),
            _ => {
                let cond = self.as_mask(cond)?;
                self.diverged(&binds, cond, (then, otherwise))
            }
        }
    }

    /// One of two values without a branch.
    fn chosen(&mut self, var: Var, cond: Val, a: Val, b: Val) -> Result<Val, Refused> {
        if let (Val::Int(cond), Val::Int(a), Val::Int(b)) = (cond, a, b) {
            return Ok(Val::Int(self.select(cond, a, b)));
        }
        let ty = self.scalar_type(Atom::Var(var));
        let mask = self.as_mask(cond)?;
        let val = self.choose(mask, ty, a, b)?;
        match self.uniformity.is_uniform(var) && !ty.is_float() {
            true => Ok(Val::Int(self.as_int(val)?)),
            false => Ok(val),
        }
    }

    /// A branch that all lanes take to the same side.
    fn branched(
        &mut self,
        binds: &[Var],
        cond: Value,
        (then, otherwise): (&Body<Mem>, &Body<Mem>),
    ) -> Result<Vec<Val>, Refused> {
        let types: Vec<Type> = binds
            .iter()
            .map(|v| self.type_of(*v))
            .collect::<Result<_, _>>()?;
        let (yes, no, join) = (self.block(&[]), self.block(&[]), self.block(&types));
        self.branch(cond, (yes, vec![]), (no, vec![]));
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.switch(block);
            let vals = self.body(body)?;
            let values = self.all_passed(binds, &vals)?;
            self.jump(join, values);
        }
        Ok(self.all_received(binds, join))
    }

    fn all_received(&mut self, vars: &[Var], block: Block) -> Vec<Val> {
        let params = self.switch(block);
        let pairs = vars.iter().zip(params);
        pairs
            .map(|(var, value)| self.received(*var, value))
            .collect()
    }

    /// Both sides under masks, each of which is skipped where no lane takes it.
    fn diverged(
        &mut self,
        binds: &[Var],
        cond: Value,
        (then, otherwise): (&Body<Mem>, &Body<Mem>),
    ) -> Result<Vec<Val>, Refused> {
        let outside = self.mask;
        let yes = self.active(cond);
        let no = match outside {
            Some(active) => self.mask_op(MaskOp::AndNot, active, cond),
            None => self.mask_not(cond),
        };
        self.count_scalar(MISPREDICTED);
        let taken = self.weighted((0.5, 1.0), |this| this.under(binds, yes, then))?;
        let other = self.weighted((0.5, 1.0), |this| this.under(binds, no, otherwise))?;
        self.mask = outside;
        let mut blended = Vec::new();
        for (var, (a, b)) in binds.iter().zip(taken.into_iter().zip(other)) {
            let ty = self.scalar_type(Atom::Var(*var));
            blended.push(self.choose(cond, ty, a, b)?);
        }
        Ok(blended)
    }

    /// What a body yields for the lanes of a mask; anything if there are none.
    fn under(&mut self, binds: &[Var], mask: Value, body: &Body<Mem>) -> Result<Vec<Val>, Refused> {
        if body.stms.is_empty() {
            return self.results(&body.result);
        }
        let types: Vec<Type> = binds
            .iter()
            .map(|v| self.type_of(*v))
            .collect::<Result<_, _>>()?;
        let (inside, join) = (self.block(&[]), self.block(&types));
        let any = self.any(mask);
        let nothing: Vec<Value> = types.iter().map(|ty| self.nothing(*ty)).collect();
        self.branch(any, (inside, vec![]), (join, nothing));
        self.switch(inside);
        self.mask = Some(mask);
        let vals = self.body(body)?;
        let values = self.all_passed(binds, &vals)?;
        self.jump(join, values);
        Ok(self.all_received(binds, join))
    }

    /// A value that nobody uses.
    fn nothing(&mut self, ty: Type) -> Value {
        match ty {
            Type::I32 | Type::I64 => self.int(ty, 0),
            Type::Vector(elem) => self.vec_const(elem, 0),
            Type::Mask => self.push(Type::Mask, Op::MaskConst(false)),
        }
    }

    /// The lanes that are active as a mask.
    fn active_lanes(&mut self) -> Value {
        match self.mask {
            Some(active) => active,
            None => self.push(Type::Mask, Op::MaskConst(true)),
        }
    }

    /// A sequential loop.
    pub(super) fn looped(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) -> Result<Vec<Val>, Refused> {
        let with_value = params.iter().filter(|p| has_value(self.ty(p.var)));
        let params: Vec<LoopParam> = with_value.copied().collect();
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let inits = self.results(&inits)?;
        let inits = self.all_passed(&vars, &inits)?;
        match form {
            LoopForm::For { index, bound } => {
                let bound = self.val(*bound)?;
                match bound {
                    Val::Int(bound) => self.counted((&vars, inits), (*index, bound), body),
                    _ => self.counted_by_lane((&vars, inits), (*index, bound), body),
                }
            }
            LoopForm::While(cond) => {
                let uniform = match cond.result.first() {
                    Some(Atom::Var(v)) => self.uniformity.is_uniform(*v),
                    Some(Atom::Const(_)) | None => true,
                };
                self.conditional_loop((&vars, inits), (cond, uniform), body)
            }
        }
    }

    /// One iteration; the arena is as before after it, unless buffers go on into the next one.
    fn step(&mut self, vars: &[Var], body: &Body<Mem>) -> Result<Vec<Value>, Refused> {
        let carries = vars
            .iter()
            .any(|v| matches!(self.ty(*v), SourceType::Buffer(_)));
        let takes = super::memory::takes_memory(body);
        if carries && takes {
            return Err(Refused(
                "a loop that carries arrays and makes some".to_owned(),
            ));
        }
        let before = takes.then(|| self.arena());
        let vals = self.body(body)?;
        let values = self.all_passed(vars, &vals)?;
        if let Some(before) = before {
            self.release(before);
        }
        Ok(values)
    }

    fn less(&self, index: Var) -> Cond {
        match self.scalar_type(Atom::Var(index)).is_unsigned() {
            true => Cond::LtU,
            false => Cond::LtS,
        }
    }

    /// Goes on in one block in most iterations, and polls the stop flag in others before.
    fn polled(&mut self, counter: Value, (block, args): (Block, Vec<Value>)) {
        let (poll, on) = (self.cold(), self.block(&[]));
        let rest = self.op_const(IntOp::And, counter, POLLED - 1);
        self.branch(rest, (on, vec![]), (poll, vec![]));
        self.switch(poll);
        self.poll();
        self.jump(on, vec![]);
        self.switch(on);
        self.jump(block, args);
    }

    /// Leaves if the run is to stop.
    pub(super) fn poll(&mut self) {
        let worker = self.worker;
        let on = self.block(&[]);
        let at = |offset: usize| Address::at(worker, offset as i32);
        let stop = at(offset_of!(Worker<'_>, stop));
        let failed = at(offset_of!(Worker<'_>, failed));
        let flags = [stop, failed].map(|at| {
            let flag = self.push(Type::I64, Op::Load(Cell::W64, at));
            self.push(Type::I32, Op::Load(Cell::U8, Address::at(flag, 0)))
        });
        let either = self.op(IntOp::Or, flags[0], flags[1]);
        let fail = self.fail;
        self.branch(either, (fail, vec![]), (on, vec![]));
        self.switch(on);
    }

    /// A loop of as many iterations for all lanes.
    fn counted(
        &mut self,
        (vars, inits): (&[Var], Vec<Value>),
        (index, bound): (Var, Value),
        body: &Body<Mem>,
    ) -> Result<Vec<Val>, Refused> {
        let types: Vec<Type> = inits.iter().map(|v| self.f.ty(*v)).collect();
        let counter = self.f.ty(bound);
        let less = self.less(index);
        let with_counter: Vec<Type> = [counter].into_iter().chain(types.clone()).collect();
        let (inside, exit) = (self.block(&with_counter), self.block(&types));
        let zero = self.int(counter, 0);
        let start: Vec<Value> = [zero].into_iter().chain(inits.clone()).collect();
        match self.known(bound) {
            Some(1..) => self.jump(inside, start),
            _ => {
                let any = self.compare(less, zero, bound);
                self.branch(any, (inside, start), (exit, inits));
            }
        }
        let state = self.switch(inside);
        self.values.insert(index, Val::Int(state[0]));
        self.receive(vars, &state[1..]);
        let often = match self.known(bound) {
            Some(n) => n.clamp(1, 1 << 10) as f64,
            None => ITERATIONS,
        };
        let values = self.weighted((often, often), |this| {
            this.count_scalar(1.0);
            this.step(vars, body)
        })?;
        let next = self.op_const(IntOp::Add, state[0], 1);
        let more = self.compare(less, next, bound);
        let again = self.block(&[]);
        self.branch(more, (again, vec![]), (exit, values.clone()));
        self.switch(again);
        let state = [next].into_iter().chain(values).collect();
        self.polled(next, (inside, state));
        Ok(self.all_received(vars, exit))
    }

    fn receive(&mut self, vars: &[Var], values: &[Value]) {
        for (var, value) in vars.iter().zip(values) {
            let val = self.received(*var, *value);
            self.values.insert(*var, val);
        }
    }

    /// What the lanes of a mask have computed, and others keep.
    fn kept(&mut self, mask: Value, next: &[Value], before: &[Value]) -> Vec<Value> {
        let pairs = next.iter().zip(before);
        let kept = pairs.map(|(a, b)| match self.f.ty(*a) {
            Type::Vector(_) => self.blend(mask, *a, *b),
            Type::Mask => {
                let yes = self.mask_op(MaskOp::And, mask, *a);
                let no = self.mask_op(MaskOp::AndNot, *b, mask);
                self.mask_op(MaskOp::Or, yes, no)
            }
            // What is uniform stays in a loop that lanes leave at different steps.
            Type::I32 | Type::I64 => *a,
        });
        kept.collect()
    }

    /// The lanes for which a counter is below a bound.
    fn below(&mut self, counter: Value, bound: Val, less: Cond) -> Result<Value, Refused> {
        if let (Val::Narrow(bound), Type::I64) = (bound, self.f.ty(counter)) {
            let low = self.push(Type::I32, Op::Low(counter));
            let counter = self.splat(low);
            return Ok(self.vec_compare(less, counter, bound));
        }
        let bound = self.as_vector(bound)?;
        let counter = self.splat(counter);
        Ok(self.vec_compare(less, counter, bound))
    }

    /// A loop that lanes leave at different steps.
    fn counted_by_lane(
        &mut self,
        (vars, inits): (&[Var], Vec<Value>),
        (index, bound): (Var, Val),
        body: &Body<Mem>,
    ) -> Result<Vec<Val>, Refused> {
        let outside = self.mask;
        let less = self.less(index);
        let counter = match self.scalar_type(Atom::Var(index)) {
            ScalarType::I64 | ScalarType::U64 => Type::I64,
            _ => Type::I32,
        };
        let bound = match bound {
            Val::Narrow(_) => bound,
            _ => Val::Vector(self.as_vector(bound)?),
        };
        let types: Vec<Type> = inits.iter().map(|v| self.f.ty(*v)).collect();
        let state_types: Vec<Type> = [counter, Type::Mask]
            .into_iter()
            .chain(types.clone())
            .collect();
        let (inside, exit) = (self.block(&state_types), self.block(&types));
        let zero = self.int(counter, 0);
        let first = self.below(zero, bound, less)?;
        let first = self.active(first);
        let any = self.any(first);
        let start: Vec<Value> = [zero, first].into_iter().chain(inits.clone()).collect();
        self.branch(any, (inside, start), (exit, inits));
        let state = self.switch(inside);
        self.values.insert(index, Val::Int(state[0]));
        self.receive(vars, &state[2..]);
        self.mask = Some(state[1]);
        let often = (ITERATIONS, DIVERGENCE * ITERATIONS);
        let (values, next, on, any) = self.weighted(often, |this| {
            this.count_scalar(1.0);
            let values = this.step(vars, body)?;
            let values = this.kept(state[1], &values, &state[2..]);
            let next = this.op_const(IntOp::Add, state[0], 1);
            let on = this.below(next, bound, less)?;
            let on = this.mask_op(MaskOp::And, state[1], on);
            let any = this.any(on);
            Ok((values, next, on, any))
        })?;
        let again = self.block(&[]);
        self.branch(any, (again, vec![]), (exit, values.clone()));
        self.switch(again);
        let state = [next, on].into_iter().chain(values).collect();
        self.polled(next, (inside, state));
        self.mask = outside;
        Ok(self.all_received(vars, exit))
    }

    /// A loop as long as a condition holds, for all lanes or for each.
    fn conditional_loop(
        &mut self,
        (vars, inits): (&[Var], Vec<Value>),
        (cond, uniform): (&Body<Mem>, bool),
        body: &Body<Mem>,
    ) -> Result<Vec<Val>, Refused> {
        let outside = self.mask;
        let types: Vec<Type> = inits.iter().map(|v| self.f.ty(*v)).collect();
        let mut state_types = vec![Type::I32];
        let mut start = vec![self.int(Type::I32, 1)];
        if !uniform {
            state_types.push(Type::Mask);
            start.push(self.active_lanes());
        }
        let extra = start.len();
        state_types.extend(types.clone());
        start.extend(inits);
        let (header, inside, exit) = (
            self.block(&state_types),
            self.block(&[]),
            self.block(&types),
        );
        self.jump(header, start);
        let state = self.switch(header);
        self.receive(vars, &state[extra..]);
        let before = self.weight;
        self.weight.scalar *= ITERATIONS;
        self.weight.vector *= ITERATIONS * if uniform { 1.0 } else { DIVERGENCE };
        self.count_scalar(1.0 + MISPREDICTED / ITERATIONS);
        if !uniform {
            self.mask = Some(state[1]);
        }
        let holds = self.body(cond)?;
        let holds = holds.first().copied();
        let holds = holds.ok_or_else(|| Refused("a loop without a condition".to_owned()))?;
        let mut next = Vec::new();
        let values = if uniform {
            let holds = self.as_int(holds)?;
            self.branch(holds, (inside, vec![]), (exit, state[extra..].to_vec()));
            self.switch(inside);
            self.step(vars, body)?
        } else {
            let holds = self.as_mask(holds)?;
            let on = self.mask_op(MaskOp::And, state[1], holds);
            let any = self.any(on);
            self.branch(any, (inside, vec![]), (exit, state[extra..].to_vec()));
            self.switch(inside);
            self.mask = Some(on);
            let values = self.step(vars, body)?;
            next.push(on);
            self.kept(on, &values, &state[extra..])
        };
        self.weight = before;
        let count = self.op_const(IntOp::Add, state[0], 1);
        let state = [count].into_iter().chain(next).chain(values).collect();
        self.polled(count, (header, state));
        self.mask = outside;
        Ok(self.all_received(vars, exit))
    }

    /// A call, of which the body takes the location.
    pub(super) fn call(&mut self, fun: FunId, args: &[Atom]) -> Result<Vec<Val>, Refused> {
        if self.inlined >= DEEP {
            return Err(Refused("deep calls".to_owned()));
        }
        let program = self.program;
        let definition = &program.funs[fun];
        let mut vals = Vec::new();
        for (param, arg) in definition.params.iter().zip(args) {
            if has_value(self.ty(param.var)) {
                vals.push((param.var, self.val(*arg)?));
            }
        }
        self.values.extend(vals);
        self.inlined += 1;
        let results = self.body(&definition.body)?;
        self.inlined -= 1;
        Ok(results)
    }
}
