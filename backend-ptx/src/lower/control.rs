//! Conditionals, loops, calls, functions.

use super::{Interface, Lower, Site, Value, class_of, memory, operand, together};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{BlockId, Builder, Class, Func, Inst, Kind, Operand, Reg, Term, Ty};
use midend::analysis::bounded::bounded;
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::{FunId, Var};
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::{
    Atom, Body, Exp, LoopForm, LoopParam, Message, MessagePart, Program, Stm, TrapKind,
};
use midend::ir::types::{ScalarType, Type};
use midend::trap::TOO_DEEP;
use std::collections::BTreeMap;

/// The most statements of a truth value that is computed whether it is wanted or not.
const SHORT: usize = 4;
/// The most statements of an iteration of which several are emitted one after the other, and how many: the way back to the
/// beginning takes as long as some of them.
const UNROLLED: usize = 24;
const COPIES: usize = 4;

/// The width of a value's register.
pub(super) fn class(ty: &Type) -> Class {
    match ty {
        Type::Scalar(ty) => class_of(*ty),
        Type::Buffer(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => Class::B64,
    }
}

/// The width of a value between functions: truth values are words there.
fn outer_class(ty: &Type) -> Class {
    match class(ty) {
        Class::Pred => Class::B32,
        same @ (Class::B16 | Class::B32 | Class::B64) => same,
    }
}

impl Lower<'_> {
    /// One of two bodies.
    pub(super) fn conditional(
        &mut self,
        binds: &[Var],
        cond: Atom,
        then: &Body<Mem>,
        otherwise: &Body<Mem>,
    ) -> Vec<Value> {
        let cond = match self.atom(cond) {
            Operand::Imm(known) => return self.body(if known & 1 == 1 { then } else { otherwise }),
            Operand::Reg(reg) => reg,
        };
        if let Some(both) = self.both(binds, cond, then, otherwise) {
            return vec![both];
        }
        let types: Vec<Type> = binds.iter().map(|v| self.ty(*v).clone()).collect();
        let results: Vec<Reg> = types.iter().map(|ty| self.b.reg(class(ty))).collect();
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(cond, yes, no, self.is_together());
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.b.begin(block);
            let values = self.body(body);
            for ((result, ty), value) in results.iter().zip(&types).zip(values) {
                self.b.set(Ty::of_class(class(ty)), *result, operand(value));
            }
            self.b.jump(join);
        }
        self.b.begin(join);
        self.values_of(&types, &results)
    }

    /// `a && b` for a short `b`: both are computed, so that what comes after has what `b` is made of, too.
    fn both(
        &mut self,
        binds: &[Var],
        cond: Reg,
        then: &Body<Mem>,
        otherwise: &Body<Mem>,
    ) -> Option<Value> {
        let [bind] = binds else { return None };
        let is_truth = matches!(self.ty(*bind), Type::Scalar(ScalarType::Bool));
        let is_false = otherwise.stms.is_empty()
            && matches!(otherwise.result[..], [Atom::Const(Const::Bool(false))]);
        let is_scalar = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..));
        let is_short = then.stms.iter().all(is_scalar)
            && together::quick_statements(self.program, &[then]).is_some_and(|n| n <= SHORT);
        if !(is_truth && is_false && is_short) {
            return None;
        }
        let other = self.scalars(then)[0];
        let both = self.b.bin(Binary::And, Ty::Pred, cond, other);
        Some(Value::Scalar(both.into()))
    }

    fn values_of(&self, types: &[Type], regs: &[Reg]) -> Vec<Value> {
        let both = types.iter().zip(regs);
        both.map(|(ty, reg)| match ty {
            Type::Buffer(_) => Value::Global(*reg),
            Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => {
                Value::Scalar((*reg).into())
            }
        })
        .collect()
    }

    /// A sequential loop.
    pub(super) fn looped(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) -> Vec<Value> {
        let all = params;
        let params: Vec<LoopParam> = all
            .iter()
            .copied()
            .filter(|p| has_value(self.ty(p.var)))
            .collect();
        let types: Vec<Type> = params.iter().map(|p| self.ty(p.var).clone()).collect();
        let mut regs = Vec::new();
        for (param, ty) in params.iter().zip(&types) {
            let init = self.atom(param.init);
            regs.push(self.b.mov(Ty::of_class(class(ty)), init));
        }
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let values = self.values_of(&types, &regs);
        for (var, value) in vars.iter().zip(&values) {
            self.bind(*var, *value);
        }
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        match form {
            LoopForm::For { index, bound } => {
                let ty = self.elem(*index);
                let bound = self.atom(*bound);
                let counter = self.fresh(ty, Operand::Imm(0));
                self.bind_scalar(*index, counter);
                self.b.begin(head);
                let more = self.b.cmp(Cmp::Lt, super::ty_of(ty), counter, bound);
                self.b.branch(more, inside, exit, self.is_together());
                self.b.begin(inside);
                self.step(&types, &regs, body);
                self.b.bin_to(
                    counter,
                    Binary::Add,
                    super::ty_of(ty),
                    counter,
                    Operand::Imm(1),
                );
            }
            LoopForm::While(cond) => {
                let length = together::quick_statements(self.program, &[cond, body]);
                let copies = match length {
                    Some(statements) if statements <= UNROLLED => COPIES,
                    Some(_) | None => 1,
                };
                let bounded = (copies > 1).then(|| bounded(all, cond, body));
                if let Some(bounded) = bounded.flatten() {
                    fired("ptx/loop-in-strips");
                    let end = self.end_of_strips(&bounded, copies);
                    self.b.begin(head);
                    let code = (cond, body);
                    self.strips((&bounded, end), (&types, &regs), code, (copies, head, exit));
                    self.b.begin(exit);
                    return values;
                }
                self.b.begin(head);
                self.rounds(&types, &regs, (cond, body), (copies, inside, exit));
            }
        }
        self.b.jump(head);
        self.b.begin(exit);
        values
    }

    /// Iterations of a loop with a condition, one after the other.
    pub(super) fn rounds(
        &mut self,
        types: &[Type],
        regs: &[Reg],
        (cond, body): (&Body<Mem>, &Body<Mem>),
        (copies, mut inside, exit): (usize, BlockId, BlockId),
    ) {
        for copy in 0..copies {
            if copy > 0 {
                inside = self.b.block();
            }
            let go_on = self.scalars(cond)[0];
            let go_on = self.reg(ScalarType::Bool, go_on);
            self.b.branch(go_on, inside, exit, self.is_together());
            self.b.begin(inside);
            self.step(types, regs, body);
        }
    }

    /// One iteration. Memory of an iteration is given back at its end; if buffers go on into the next one, they are moved
    /// together when much has been left behind.
    pub(super) fn step(&mut self, types: &[Type], regs: &[Reg], body: &Body<Mem>) {
        let carries_memory = types.iter().any(|ty| matches!(ty, Type::Buffer(_)));
        let mark = self.mark(body);
        let next: Vec<Operand> = self.body(body).into_iter().map(operand).collect();
        let clash = next.iter().enumerate().any(|(i, v)| {
            regs.iter()
                .enumerate()
                .any(|(j, r)| i != j && *v == Operand::Reg(*r))
        });
        let mut moved = next;
        if clash {
            for (value, ty) in moved.iter_mut().zip(types) {
                *value = self.b.mov(Ty::of_class(class(ty)), *value).into();
            }
        }
        for ((reg, ty), value) in regs.iter().zip(types).zip(moved) {
            self.b.set(Ty::of_class(class(ty)), *reg, value);
        }
        match mark {
            Some(mark) if carries_memory => {
                let buffers = types.iter().zip(regs);
                let buffers: Vec<Reg> = buffers
                    .filter(|(ty, _)| matches!(ty, Type::Buffer(_)))
                    .map(|(_, reg)| *reg)
                    .collect();
                self.compact(mark, &buffers);
            }
            Some(mark) => self.give_back(mark),
            None => {}
        }
    }

    /// A call of a function of the program.
    pub(super) fn call(&mut self, fun: FunId, args: &[Atom]) -> Vec<Value> {
        let functions = self.functions;
        let interface = &functions[&fun];
        let mut given = Vec::new();
        for atom in self.with_value(args) {
            let value = self.atom(atom);
            given.push(match self.type_of(&atom) {
                Type::Scalar(ty) => {
                    let value = if ty == ScalarType::Bool {
                        self.storable(ty, value)
                    } else {
                        value
                    };
                    match value {
                        Operand::Imm(_) => {
                            let bits = Ty::of_class(outer_class(&Type::Scalar(ty)));
                            self.b.mov(bits, value).into()
                        }
                        Operand::Reg(_) => value,
                    }
                }
                Type::Buffer(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => value,
            });
        }
        let (top, end) = self.arena.expect("code that calls has an arena");
        let depth = self.depth.expect("code that calls knows how deep it may");
        given.extend([self.failure, self.launch, top, end, depth].map(Operand::Reg));
        let failed = self.b.reg(Class::B32);
        let new_top = self.b.reg(Class::B64);
        let mut results = vec![failed, new_top];
        for ty in &interface.results {
            results.push(self.b.reg(outer_class(ty)));
        }
        let raw = results[2..].to_vec();
        self.b.inst(Inst::Call {
            fun: interface.id,
            results,
            args: given,
        });
        let ok = self.b.cmp(Cmp::Eq, Ty::U32, failed, Operand::Imm(0));
        let (go_on, fail) = (self.b.block(), self.fail);
        self.b.branch(ok, go_on, fail, self.is_together());
        self.b.begin(go_on);
        if interface.returns_memory {
            self.b.set(Ty::B64, top, new_top);
        }
        let mut values = Vec::new();
        for (ty, reg) in interface.results.iter().zip(raw) {
            values.push(match ty {
                Type::Scalar(ty) if *ty == ScalarType::Bool => {
                    Value::Scalar(self.loaded(*ty, reg).into())
                }
                Type::Buffer(_) => Value::Global(reg),
                Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => {
                    Value::Scalar(reg.into())
                }
            });
        }
        values
    }
}

/// Lowers a function. Behind its own parameters come the failure word, the launch, the arena's top and end, and how deep
/// calls may be nested; before its own results, whether it failed, and the arena's top.
pub(super) fn function(
    program: &Program<Mem>,
    functions: &BTreeMap<FunId, Interface>,
    sites: &mut Vec<Site>,
    fun: FunId,
) -> Func {
    let definition = &program.funs[fun];
    let interface = &functions[&fun];
    let vars = definition.params.iter().map(|p| p.var);
    let vars: Vec<Var> = vars.filter(|v| has_value(&program.vars[*v].ty)).collect();
    let types: Vec<&Type> = vars.iter().map(|v| &program.vars[*v].ty).collect();
    let mut params: Vec<Class> = types.iter().map(|ty| outer_class(ty)).collect();
    let first = params.len() as u32;
    params.extend([Class::B64, Class::B64, Class::B64, Class::B64, Class::B32]);
    let mut results = vec![Class::B32, Class::B64];
    results.extend(interface.results.iter().map(outer_class));
    let name = format!(
        "f{}_{}",
        interface.id.0,
        super::name_of(&definition.name, "")
    );
    let kind = Kind::Device { params, results };
    let mut lower = Lower::new(program, functions, sites, Builder::new(&name, kind));
    lower.on_stack = memory::stacked(&[&definition.body]);
    for (i, (var, ty)) in vars.iter().zip(types).enumerate() {
        let raw = lower.b.param(Ty::of_class(outer_class(ty)), 8 * i as u32);
        match ty {
            Type::Buffer(_) => lower.bind(*var, Value::Global(raw)),
            Type::Scalar(ty) => {
                let value = if *ty == ScalarType::Bool {
                    lower.loaded(*ty, raw)
                } else {
                    raw
                };
                lower.bind_scalar(*var, value);
            }
            Type::Array(_) | Type::Acc(_) | Type::Cert => {}
        }
    }
    let [failure, launch, top, end] = [0, 1, 2, 3].map(|i| lower.b.param(Ty::B64, 8 * (first + i)));
    let depth = lower.b.param(Ty::B32, 8 * (first + 4));
    lower.failure = failure;
    lower.launch = launch;
    lower.arena = Some((lower.b.mov(Ty::B64, top), end));
    lower.depth = Some(match interface.recursive {
        true => lower.b.bin(Binary::Sub, Ty::U32, depth, Operand::Imm(1)),
        false => depth,
    });
    lower.finish_function(interface, definition, depth)
}

impl Lower<'_> {
    fn finish_function(
        mut self,
        interface: &Interface,
        definition: &midend::ir::syntax::Fun<Mem>,
        depth: Reg,
    ) -> Func {
        let outs: Vec<Reg> = interface
            .results
            .iter()
            .map(|ty| self.b.mov(Ty::of_class(outer_class(ty)), Operand::Imm(0)))
            .collect();
        let failed = self.b.mov(Ty::B32, Operand::Imm(1));
        let end = self.b.block();
        self.fail = end;
        if interface.recursive {
            let deep = self.b.cmp(Cmp::Gt, Ty::U32, depth, Operand::Imm(0));
            let (bad, good) = (self.b.block(), self.b.block());
            self.b.branch(deep, good, bad, false);
            self.b.begin(bad);
            let text = TOO_DEEP.to_owned();
            let message = Message {
                kind: TrapKind::Recursion,
                parts: vec![MessagePart::Text(text)],
            };
            self.report(&message, definition.span);
            self.b.begin(good);
        }
        let values = self.body(&definition.body);
        for ((out, ty), value) in outs.iter().zip(&interface.results).zip(values) {
            let value = match ty {
                Type::Scalar(ty) if *ty == ScalarType::Bool => self.storable(*ty, operand(value)),
                Type::Scalar(_) | Type::Buffer(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => {
                    operand(value)
                }
            };
            self.b.set(Ty::of_class(outer_class(ty)), *out, value);
        }
        self.b.set(Ty::B32, failed, Operand::Imm(0));
        self.b.begin(end);
        let top = self.arena.map_or(failed, |(top, _)| top);
        let mut all: Vec<Operand> = vec![failed.into(), top.into()];
        all.extend(outs.into_iter().map(Operand::Reg));
        self.b.end(Term::Return(all));
        self.b.finish()
    }
}
