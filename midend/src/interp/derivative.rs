//! Derivatives as the interpreter defines them: forward mode by dual numbers, reverse mode by a tape.
//!
//! A call of a derivative evaluates the function once with numbers that carry derivatives, at a *level* of its own. Levels
//! nest: a derivative inside of a function that is being differentiated has a higher level than the one around it, whose
//! numbers are then the parts of its own. Arithmetic is that of the highest level among its operands, in terms of arithmetic on their
//! parts. Nothing but scalar operations knows of derivatives; arrays, control flow and parallel operators move numbers around.
//!
//! This does not share code with [`crate::passes::derivatives`] but the table of [`crate::math::derivative`].

mod array;
mod eval;
mod soac;

use super::machine::Machine;
use super::scalar;
use super::shape::{Extent, Shape};
use super::value::{Array, Run, Val, internal};
use crate::hash::HashMap;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Exp, Mode};
use crate::ir::types::ScalarType;
use crate::math::derivative::{self, Arith};
use crate::value::{ArrayValue, Data};
use std::rc::Rc;

/// A number with what it carries.
#[derive(Clone, Debug)]
enum Num {
    Const(Const),
    Lifted(Rc<Lifted>),
}

/// A number of a level, in terms of numbers of lower ones.
#[derive(Debug)]
struct Lifted {
    level: usize,
    primal: Num,
    by: By,
}

#[derive(Debug)]
enum By {
    /// The derivative along the direction.
    Tangent(Num),
    /// The index on the tape of the level.
    Tape(usize),
}

/// An array, row-major.
#[derive(Clone, Debug)]
struct Elements {
    shape: Shape,
    data: Vec<Num>,
}

/// What a variable holds.
#[derive(Clone, Debug)]
enum Item {
    Num(Num),
    Array(Rc<Elements>),
    Cert,
}

/// A call of a function that has a derivative of its own. Its results follow on the tape, as inputs.
struct Rule {
    fun: FunId,
    /// What the function for the derivative takes before the results, the results, and how many numbers on the tape these are.
    args: Vec<Item>,
    results: Vec<Item>,
    count: usize,
    /// For each number that the derivative is with respect to, its index.
    from: Vec<Option<usize>>,
}

/// An operation on a tape; nothing for an input.
struct Entry {
    op: Option<ScalarOp>,
    /// Operands and result, in numbers of lower levels.
    args: Vec<Num>,
    value: Num,
    /// The indices of the operands.
    from: Vec<Option<usize>>,
    rule: Option<Rc<Rule>>,
}

impl Entry {
    const fn input(value: Num) -> Self {
        Self {
            op: None,
            args: Vec::new(),
            value,
            from: Vec::new(),
            rule: None,
        }
    }
}

/// The evaluation of a derivative and all inside it.
struct Eval<'m, 'p> {
    machine: &'m mut Machine<'p, Soac>,
    /// By level, the lowest first; a level of forward mode has no tape.
    tapes: Vec<Option<Vec<Entry>>>,
    /// The variables of the current function.
    env: HashMap<Var, Item>,
    /// The operators of the accumulations around the current statement, by their tokens.
    operators: Vec<(Var, Option<&'p Operator<Soac>>)>,
    depth: usize,
    /// A failure in the computation of a derivative.
    failure: Option<Box<crate::trap::RunError>>,
}

/// Calls a function that is a derivative.
pub(super) fn call<'p>(
    machine: &mut Machine<'p, Soac>,
    fun: FunId,
    args: Vec<Val>,
) -> Run<Vec<Val>> {
    let args = args.into_iter().map(item).collect::<Run<_>>()?;
    let mut eval = Eval {
        machine,
        tapes: Vec::new(),
        env: HashMap::default(),
        operators: Vec::new(),
        depth: 0,
        failure: None,
    };
    let results = eval.derivative(fun, args)?;
    let formals = &eval.machine.program.funs[fun].results;
    let mut values = Vec::new();
    for (result, formal) in results.into_iter().zip(formals) {
        let elem = eval.machine.program.vars[formal.var].ty.elem();
        values.push(eval.value(result, elem.unwrap_or(ScalarType::I64))?);
    }
    Ok(values)
}

fn item(value: Val) -> Run<Item> {
    Ok(match value {
        Val::Scalar(c) => Item::Num(Num::Const(c)),
        Val::Array(array) => {
            let shape = match &array.ragged {
                Some(shape) => (**shape).clone(),
                None => regular(&array.shape())?,
            };
            let data = array.to_value().data;
            let data = (0..data.len()).map(|i| Num::Const(data.get(i))).collect();
            Item::Array(Rc::new(Elements { shape, data }))
        }
        Val::Cert => Item::Cert,
        Val::Buffer(_) | Val::Unset | Val::Gone => {
            return internal("what is no value goes into a derivative");
        }
    })
}

fn regular(extents: &[i64]) -> Run<Shape> {
    Shape::new(extents.iter().map(|&n| Extent::Regular(n)).collect())
}

impl Num {
    fn level(&self) -> usize {
        match self {
            Self::Const(_) => 0,
            Self::Lifted(lifted) => lifted.level,
        }
    }
    /// The number without what a level has put on it.
    fn below(&self, level: usize) -> &Self {
        match self {
            Self::Lifted(lifted) if lifted.level == level => &lifted.primal,
            Self::Lifted(_) | Self::Const(_) => self,
        }
    }
    /// The number alone.
    fn constant(&self) -> Const {
        let mut num = self;
        loop {
            match num {
                Self::Const(c) => return *c,
                Self::Lifted(lifted) => num = &lifted.primal,
            }
        }
    }
}

impl Arith for Eval<'_, '_> {
    type Num = Num;
    fn op(&mut self, op: ScalarOp, args: &[Num]) -> Num {
        self.scalar(op, args).unwrap_or_else(|failure| {
            self.failure.get_or_insert(failure);
            Num::Const(Const::zero(op.result()))
        })
    }
    fn constant(&mut self, c: Const) -> Num {
        Num::Const(c)
    }
}

impl Eval<'_, '_> {
    /// The value of a result, in the machine's terms.
    fn value(&self, item: Item, elem: ScalarType) -> Run<Val> {
        Ok(match item {
            Item::Num(num) => Val::Scalar(num.constant()),
            Item::Array(array) => {
                let mut data = Data::zeros(elem, array.data.len());
                for (i, num) in array.data.iter().enumerate() {
                    data.set(i, num.constant());
                }
                let shape = vec![array.data.len() as i64];
                let flat = Array::from_value(ArrayValue { shape, data }, &self.machine.meter);
                Val::Array(Rc::new(flat.shaped(array.shape.clone())))
            }
            Item::Cert => Val::Cert,
        })
    }

    /// A scalar operation at the highest level of its operands.
    fn scalar(&mut self, op: ScalarOp, args: &[Num]) -> Run<Num> {
        let active = (0..args.len()).filter(|&i| derivative::depends(op, i));
        let level = active.map(|i| args[i].level()).max().unwrap_or(0);
        if level == 0 {
            let consts: Vec<Const> = args.iter().map(Num::constant).collect();
            return match scalar::eval(op, &consts) {
                Ok(c) => Ok(Num::Const(c)),
                Err(trap) => internal(format!("{op}: {trap}, and no check before it")),
            };
        }
        let parts: Vec<Num> = args.iter().map(|a| a.below(level).clone()).collect();
        let primal = self.scalar(op, &parts)?;
        let carried = |i: usize| match &args[i] {
            Num::Lifted(lifted) if lifted.level == level && derivative::depends(op, i) => {
                Some(&lifted.by)
            }
            Num::Lifted(_) | Num::Const(_) => None,
        };
        let (mut tangents, mut from) = (Vec::new(), Vec::new());
        for i in 0..args.len() {
            let (tangent, index) = match carried(i) {
                Some(By::Tangent(tangent)) => (Some(tangent.clone()), None),
                Some(By::Tape(index)) => (None, Some(*index)),
                None => (None, None),
            };
            tangents.push(tangent);
            from.push(index);
        }
        let by = if let Some(Some(tape)) = self.tapes.get_mut(level - 1) {
            tape.push(Entry {
                op: Some(op),
                args: parts,
                value: primal.clone(),
                from,
                rule: None,
            });
            By::Tape(tape.len() - 1)
        } else {
            let tangent = derivative::forward(self, op, &parts, &primal, &tangents);
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            match tangent {
                Some(tangent) => By::Tangent(tangent),
                None => return Ok(primal),
            }
        };
        Ok(Num::Lifted(Rc::new(Lifted { level, primal, by })))
    }

    /// The results of a derivative.
    fn derivative(&mut self, fun: FunId, args: Vec<Item>) -> Run<Vec<Item>> {
        let program = self.machine.program;
        let derived = &program.funs[fun];
        let (Some(how), Some(stm)) = (derived.derivative, derived.body.stms.first()) else {
            return internal(format!("`{}` is no derivative", derived.name));
        };
        let Exp::Call { fun: of, args: to } = &stm.exp else {
            return internal(format!("`{}` calls nothing", derived.name));
        };
        if args.len() != derived.params.len() {
            return internal("a derivative is called with a wrong number of arguments");
        }
        let params = derived.params.iter().map(|p| p.var);
        let given: HashMap<Var, Item> = params.zip(args).collect();
        let value = |atom: &Atom| match atom {
            Atom::Const(c) => Ok(Item::Num(Num::Const(*c))),
            Atom::Var(v) => match given.get(v) {
                Some(item) => Ok(item.clone()),
                None => internal("a derivative computes something before it calls"),
            },
        };
        let mut inputs = to.iter().map(value).collect::<Run<Vec<Item>>>()?;
        let (first, count) = (how.first, how.count);
        if how.mode == Mode::Custom {
            return self.custom(fun, *of, inputs);
        }
        let level = self.tapes.len() + 1;
        self.tapes
            .push(matches!(how.mode, Mode::Reverse).then(Vec::new));
        let seeds = derived.params.iter().skip(first + count);
        let seeds: Vec<Item> = seeds.filter_map(|p| given.get(&p.var).cloned()).collect();
        let own: Vec<Item> = inputs[first..first + count].to_vec();
        for (i, x) in inputs[first..first + count].iter_mut().enumerate() {
            *x = match how.mode {
                Mode::Forward => self.along(level, x, seeds.get(i))?,
                Mode::Reverse | Mode::Custom => self.taped(level, x),
            };
        }
        let starts: Vec<Item> = inputs[first..first + count].to_vec();
        let ys = self.call(*of, inputs)?;
        let mut results: Vec<Item> = ys
            .iter()
            .map(|y| map(y, &mut |num| num.below(level).clone()))
            .collect();
        match how.mode {
            Mode::Forward => {
                for y in &ys {
                    results.push(map(y, &mut |num| match num {
                        Num::Lifted(lifted) if lifted.level == level => match &lifted.by {
                            By::Tangent(tangent) => tangent.clone(),
                            By::Tape(_) => zero(num),
                        },
                        Num::Lifted(_) | Num::Const(_) => zero(num),
                    }));
                }
            }
            Mode::Reverse | Mode::Custom => {
                let adjoints = self.adjoints(level, &ys, &seeds)?;
                for (x, start) in own.iter().zip(&starts) {
                    let mut starts = numbers(start).iter();
                    results.push(map(x, &mut |num| {
                        let index = starts.next().and_then(|start| on_tape(start, level));
                        let adjoint = index.and_then(|at| adjoints[at].clone());
                        adjoint.unwrap_or_else(|| zero(num))
                    }));
                }
            }
        }
        self.tapes.pop();
        Ok(results)
    }

    /// An input with its direction.
    fn along(&self, level: usize, x: &Item, seed: Option<&Item>) -> Run<Item> {
        let mut seeds = seed.map(numbers).unwrap_or_default().iter();
        if numbers(x).len() != seeds.len() {
            return internal("a direction has another shape than what it belongs to");
        }
        Ok(map(x, &mut |num| match seeds.next() {
            Some(seed) if num.constant().ty() != ScalarType::Bool => Num::Lifted(Rc::new(Lifted {
                level,
                primal: num.clone(),
                by: By::Tangent(seed.clone()),
            })),
            Some(_) | None => num.clone(),
        }))
    }

    /// An input on the tape.
    fn taped(&mut self, level: usize, x: &Item) -> Item {
        map(x, &mut |num| {
            let Some(Some(tape)) = self.tapes.get_mut(level - 1) else {
                return num.clone();
            };
            if num.constant().ty() == ScalarType::Bool {
                return num.clone();
            }
            tape.push(Entry::input(num.clone()));
            let by = By::Tape(tape.len() - 1);
            Num::Lifted(Rc::new(Lifted {
                level,
                primal: num.clone(),
                by,
            }))
        })
    }

    /// The derivatives, with respect to everything on the tape, of the sum of results with these weights.
    fn adjoints(&mut self, level: usize, ys: &[Item], seeds: &[Item]) -> Run<Vec<Option<Num>>> {
        let tape = self.tapes.get_mut(level - 1).and_then(Option::take);
        let tape = tape.unwrap_or_default();
        let mut adjoints: Vec<Option<Num>> = vec![None; tape.len()];
        for (y, seed) in ys.iter().zip(seeds) {
            let (ys, seeds) = (numbers(y), numbers(seed));
            if ys.len() != seeds.len() {
                return internal("weights have another shape than what they belong to");
            }
            for (y, seed) in ys.iter().zip(seeds) {
                if let Some(at) = on_tape(y, level) {
                    self.gather(&mut adjoints[at], seed.clone())?;
                }
            }
        }
        for (at, entry) in tape.iter().enumerate().rev() {
            self.machine.tick(1)?;
            if let Some(rule) = &entry.rule {
                self.by_rule(at, rule, &mut adjoints)?;
            }
            let (Some(adjoint), Some(op)) = (adjoints[at].clone(), entry.op) else {
                continue;
            };
            for (i, from) in entry.from.iter().enumerate() {
                let Some(from) = *from else { continue };
                let part = derivative::reverse(self, op, &entry.args, &entry.value, i, &adjoint);
                if let Some(failure) = self.failure.take() {
                    return Err(failure);
                }
                if let Some(part) = part {
                    self.gather(&mut adjoints[from], part)?;
                }
            }
        }
        Ok(adjoints)
    }

    /// Calls a function that has a derivative of its own: the highest level of reverse mode above all of forward mode puts it on its tape.
    fn custom(&mut self, fun: FunId, of: FunId, inputs: Vec<Item>) -> Run<Vec<Item>> {
        let level = inputs.iter().flat_map(numbers).map(Num::level).max();
        let level = level.unwrap_or(0);
        if level == 0 || !matches!(self.tapes.get(level - 1), Some(Some(_))) {
            return self.call(of, inputs);
        }
        let below = |items: &[Item]| -> Vec<Item> {
            let items = items.iter();
            let items = items.map(|item| map(item, &mut |num| num.below(level).clone()));
            items.collect()
        };
        let parts = below(&inputs);
        let results = self.custom(fun, of, parts.clone())?;
        let custom = &self.machine.program.funs[fun];
        let (Some(how), Some(first), Some(last)) = (
            custom.derivative,
            custom.body.stms.first(),
            custom.body.stms.last(),
        ) else {
            return internal("a function has no derivative of its own");
        };
        let Exp::Call { fun: rule, args } = &last.exp else {
            return internal("the derivative of a function is no call");
        };
        let bound = first.binds.iter().copied().zip(results.iter().cloned());
        let given = custom.params.iter().map(|p| p.var);
        let given: HashMap<Var, Item> = given.zip(parts).chain(bound).collect();
        let before = args.len().saturating_sub(results.len());
        let args = args[..before].iter().map(|atom| match atom {
            Atom::Const(c) => Ok(Item::Num(Num::Const(*c))),
            Atom::Var(v) => match given.get(v) {
                Some(item) => Ok(item.clone()),
                None => internal("the derivative of a function takes what is computed before"),
            },
        });
        let args = args.collect::<Run<Vec<Item>>>()?;
        let own = inputs.iter().skip(how.first).take(how.count);
        let from = own.flat_map(numbers).map(|num| on_tape(num, level));
        let rule = Rc::new(Rule {
            fun: *rule,
            args,
            results: results.clone(),
            count: results.iter().map(|y| numbers(y).len()).sum(),
            from: from.collect(),
        });
        let Some(Some(tape)) = self.tapes.get_mut(level - 1) else {
            return internal("a tape is missing");
        };
        let mut entry = Entry::input(Num::Const(Const::Bool(false)));
        entry.rule = Some(rule);
        tape.push(entry);
        let mut lift = |num: &Num| {
            tape.push(Entry::input(num.clone()));
            Num::Lifted(Rc::new(Lifted {
                level,
                primal: num.clone(),
                by: By::Tape(tape.len() - 1),
            }))
        };
        Ok(results.iter().map(|y| map(y, &mut lift)).collect())
    }

    /// Undoes a call of a function that has a derivative of its own.
    fn by_rule(&mut self, at: usize, rule: &Rule, adjoints: &mut [Option<Num>]) -> Run<()> {
        let own = &adjoints[at + 1..at + 1 + rule.count];
        if own.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut own = own.iter();
        let mut args = rule.args.clone();
        for y in &rule.results {
            args.push(map(y, &mut |num| {
                let adjoint = own.next().cloned().flatten();
                adjoint.unwrap_or_else(|| zero(num))
            }));
        }
        let parts = self.call(rule.fun, args)?;
        let parts = parts.iter().flat_map(numbers);
        for (part, from) in parts.zip(&rule.from) {
            if let Some(from) = from {
                self.gather(&mut adjoints[*from], part.clone())?;
            }
        }
        Ok(())
    }

    fn gather(&mut self, sum: &mut Option<Num>, part: Num) -> Run<()> {
        *sum = Some(match sum.take() {
            Some(sum) => {
                let ty = sum.constant().ty();
                self.scalar(ScalarOp::Bin(BinOp::Add, ty), &[sum, part])?
            }
            None => part,
        });
        Ok(())
    }
}

fn on_tape(num: &Num, level: usize) -> Option<usize> {
    match num {
        Num::Lifted(lifted) if lifted.level == level => match lifted.by {
            By::Tape(index) => Some(index),
            By::Tangent(_) => None,
        },
        Num::Lifted(_) | Num::Const(_) => None,
    }
}

fn zero(num: &Num) -> Num {
    Num::Const(Const::zero(num.constant().ty()))
}

fn numbers(item: &Item) -> &[Num] {
    match item {
        Item::Num(num) => std::slice::from_ref(num),
        Item::Array(array) => &array.data,
        Item::Cert => &[],
    }
}

/// The same with other numbers.
fn map(item: &Item, f: &mut dyn FnMut(&Num) -> Num) -> Item {
    match item {
        Item::Num(num) => Item::Num(f(num)),
        Item::Array(array) => Item::Array(Rc::new(Elements {
            shape: array.shape.clone(),
            data: array.data.iter().map(f).collect(),
        })),
        Item::Cert => Item::Cert,
    }
}
