//! Scalar code for many elements at once: each instruction is executed for a block of elements before the next one is,
//! so that finding out what to do is paid for once per block.
//!
//! This is only done for code without jumps and updates. Nothing else is changed by it before all of the block is
//! known to have values; where an element has none, because a check or an index fails, the block is given up and its
//! elements are done one after another, which finds the failure that comes first.

use super::code::{Code, Element, Inst, Word, ops};
use super::machine::{Exec, Machine};
use super::scalar;
use super::value::{Array, Val};
use crate::hash::HashMap;
use crate::ir::constant::Scalar;
use crate::ir::scalar::{Const, ScalarOp};
use crate::with_data;

/// The number of elements of a block.
pub(crate) const BLOCK: usize = 256;

/// Code over columns. Operands are columns.
#[derive(Debug)]
pub(crate) struct Plan {
    steps: Vec<Step>,
    /// The columns of the words.
    of: HashMap<Word, usize>,
    /// Words from outside, the same for all elements, and their columns.
    uniform: Vec<(Word, usize)>,
}

#[derive(Debug)]
struct Step {
    kind: Kind,
    args: [usize; 3],
    to: usize,
}

#[derive(Debug)]
enum Kind {
    Unary(ops::Unary),
    Binary(ops::Binary),
    Partial(ops::Partial),
    Select,
    Defined(ScalarOp),
    Copy,
    Element(Element),
    Assert,
}

impl Plan {
    /// Lays out the columns of straight code. The elements are put in `params`; `results` are wanted.
    pub(crate) fn new<D>(
        code: &Code<'_, D>,
        params: impl Iterator<Item = Word>,
        results: impl Iterator<Item = Word>,
    ) -> Option<Self> {
        let mut plan = Self {
            steps: Vec::new(),
            of: HashMap::default(),
            uniform: Vec::new(),
        };
        for param in params {
            plan.column(param);
        }
        for inst in code.insts.iter().skip(1) {
            let step = plan.step(inst)?;
            plan.steps.push(step);
        }
        for result in results {
            plan.operand(result);
        }
        Some(plan)
    }

    /// The column of a word that the code sets.
    fn column(&mut self, word: Word) -> usize {
        let next = self.of.len();
        *self.of.entry(word).or_insert(next)
    }

    /// The column of a word that the code uses.
    fn operand(&mut self, word: Word) -> usize {
        if !self.of.contains_key(&word) {
            self.uniform.push((word, self.of.len()));
        }
        self.column(word)
    }

    fn step<D>(&mut self, inst: &Inst<'_, D>) -> Option<Step> {
        let (kind, args, to) = match inst {
            Inst::Unary { f, a, to } => (Kind::Unary(*f), vec![*a], Some(*to)),
            Inst::Binary { f, a, b, to } => (Kind::Binary(*f), vec![*a, *b], Some(*to)),
            Inst::Partial { f, op: _, a, b, to } => (Kind::Partial(*f), vec![*a, *b], Some(*to)),
            Inst::Select { cond, a, b, to } => (Kind::Select, vec![*cond, *a, *b], Some(*to)),
            Inst::Defined { op, args, to } => {
                (Kind::Defined(*op), args[..op.arity()].to_vec(), Some(*to))
            }
            Inst::Copy { a, to } => (Kind::Copy, vec![*a], Some(*to)),
            Inst::Element { array, to, stm: _ } => {
                let indices = array.indices[..usize::from(array.rank)].to_vec();
                (Kind::Element(*array), indices, Some(*to))
            }
            Inst::Assert { cond, .. } => (Kind::Assert, vec![*cond], None),
            Inst::Tick(_)
            | Inst::CopyAll(_)
            | Inst::Assign(..)
            | Inst::Replace { .. }
            | Inst::Guard { .. }
            | Inst::Jump(_)
            | Inst::Unless { .. }
            | Inst::Start { .. }
            | Inst::Next { .. }
            | Inst::Call { .. }
            | Inst::Op(..)
            | Inst::Watch(..)
            | Inst::Wrong(..) => return None,
        };
        let (mut columns, count) = ([0; 3], args.len());
        for (column, word) in columns.iter_mut().zip(args) {
            *column = self.operand(word);
        }
        let target = to.map_or(0, |to| self.column(to));
        let apart = to.is_none() || !columns[..count].contains(&target);
        apart.then_some(Step {
            kind,
            args: columns,
            to: target,
        })
    }
}

/// The columns of a plan while it is executed.
pub(crate) struct Columns<'c> {
    plan: &'c Plan,
    columns: Vec<Vec<u64>>,
}

impl<'c> Columns<'c> {
    /// Columns with the words from outside in place.
    pub(crate) fn new<D: Exec>(plan: &'c Plan, machine: &mut Machine<'_, D>) -> Self {
        let mut columns = std::mem::take(&mut machine.columns);
        if columns.len() < plan.of.len() {
            columns.resize_with(plan.of.len(), || vec![0; BLOCK]);
        }
        for (word, column) in &plan.uniform {
            columns[*column].fill(machine.word(*word));
        }
        Self { plan, columns }
    }

    /// Gives the columns back.
    pub(crate) fn finish<D: Exec>(self, machine: &mut Machine<'_, D>) {
        machine.columns = self.columns;
    }

    /// The column of a word that is among the parameters, or that the code uses, sets or yields.
    pub(crate) fn of(&self, word: Word) -> &[u64] {
        self.plan
            .of
            .get(&word)
            .map_or(&[], |column| &self.columns[*column])
    }

    /// Fills the column of a word with `n` elements of a vector, from `start` on.
    pub(crate) fn feed(&mut self, word: Word, array: &Array, start: i64, n: usize) {
        let Some(column) = self.plan.of.get(&word) else {
            return;
        };
        let (stride, column) = (array.dims[0].stride, &mut self.columns[*column][..n]);
        let from = (array.offset + start * stride) as usize;
        let data = array.buf.data.borrow();
        if stride == 1 {
            with_data!(&*data, v => load(&v[from..from + n], column));
        } else {
            let places = (0..n as i64).map(|i| (from as i64 + i * stride) as usize);
            with_data!(&*data, v => gather(v, places, column));
        }
    }

    /// Writes `n` results to a vector, from `start` on.
    pub(crate) fn store(&self, word: Word, array: &Array, start: i64, n: usize) {
        store(&self.of(word)[..n], array, start);
    }

    /// Executes the code for the first `n` elements of the columns. Yields whether all have values.
    pub(crate) fn execute<D: Exec>(&mut self, machine: &Machine<'_, D>, n: usize) -> bool {
        self.plan.steps.iter().all(|step| {
            if let Kind::Assert = step.kind {
                return self.columns[step.args[0]][..n].iter().all(|&c| c != 0);
            }
            let mut to = std::mem::take(&mut self.columns[step.to]);
            let done = run(step, &self.columns, machine, &mut to[..n]);
            self.columns[step.to] = to;
            done
        })
    }
}

fn run<D: Exec>(
    step: &Step,
    columns: &[Vec<u64>],
    machine: &Machine<'_, D>,
    to: &mut [u64],
) -> bool {
    let n = to.len();
    let arg = |i: usize| &columns[step.args[i]][..n];
    match &step.kind {
        Kind::Unary(f) => (f.many)(arg(0), to),
        Kind::Binary(f) => (f.many)(arg(0), arg(1), to),
        Kind::Copy => to.copy_from_slice(arg(0)),
        Kind::Select => {
            let operands = arg(0).iter().zip(arg(1)).zip(arg(2));
            for (((c, a), b), to) in operands.zip(to) {
                *to = if *c != 0 { *a } else { *b };
            }
        }
        Kind::Partial(f) => {
            for ((a, b), to) in arg(0).iter().zip(arg(1)).zip(to) {
                match f(*a, *b) {
                    Some(value) => *to = value,
                    None => return false,
                }
            }
        }
        Kind::Defined(op) => {
            for (i, to) in to.iter_mut().enumerate() {
                let mut values = [Const::Bool(false); 3];
                for k in 0..op.arity() {
                    values[k] = Const::from_word(op.operand(k), columns[step.args[k]][i]);
                }
                match scalar::eval(*op, &values[..op.arity()]) {
                    Ok(value) => *to = value.word(),
                    Err(_) => return false,
                }
            }
        }
        Kind::Element(element) => return elements(step, element, columns, machine, to),
        Kind::Assert => {}
    }
    true
}

/// Reads elements at computed indices.
fn elements<D: Exec>(
    step: &Step,
    element: &Element,
    columns: &[Vec<u64>],
    machine: &Machine<'_, D>,
    to: &mut [u64],
) -> bool {
    let Val::Array(array) = machine.val(element.var) else {
        return false;
    };
    let current = machine.check_version(element.var, array).is_ok();
    if !current || array.rank() != usize::from(element.rank) {
        return false;
    }
    to.fill(array.offset as u64);
    for (dim, column) in array.dims.iter().zip(step.args) {
        for (to, index) in to.iter_mut().zip(&columns[column]) {
            let index = *index as i64;
            if index < 0 || index >= dim.extent {
                return false;
            }
            *to = to.wrapping_add((index * dim.stride) as u64);
        }
    }
    with_data!(&*array.buf.data.borrow(), v => take(v, to));
    true
}

fn load<T: Scalar>(from: &[T], to: &mut [u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.word();
    }
}

fn gather<T: Scalar>(from: &[T], places: impl Iterator<Item = usize>, to: &mut [u64]) {
    for (to, at) in to.iter_mut().zip(places) {
        *to = from[at].word();
    }
}

/// Replaces places by what stands there.
fn take<T: Scalar>(from: &[T], places: &mut [u64]) {
    for place in places {
        *place = from[*place as usize].word();
    }
}

/// Writes a column to a dense vector, from `start` on.
pub(crate) fn store(column: &[u64], array: &Array, start: i64) {
    let from = (array.offset + start) as usize;
    let to = from..from + column.len();
    with_data!(&mut *array.buf.data.borrow_mut(), v => unload(column, &mut v[to]));
}

fn unload<T: Scalar>(from: &[u64], to: &mut [T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = T::from_word(*from);
    }
}
