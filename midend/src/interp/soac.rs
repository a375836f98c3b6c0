//! The operations of the nested dialect.

mod filter;
mod flat_map;
mod screma;
mod write;

use super::array::write_row;
use super::code::{Code, Word};
use super::machine::{Exec, Machine};
use super::strided;
use super::value::{Array, Run, Val, internal};
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Lambda, Stm};
use crate::ir::types::Size;
use std::rc::Rc;

impl Exec for Soac {
    type State = ();

    fn exec<'p>(machine: &mut Machine<'p, Self>, op: &'p Self, stm: &'p Stm<Self>) -> Run<()> {
        match op {
            Self::Array(op) => machine.array_op(op, stm),
            Self::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                crate::ir::walk::deep(|| machine.screma(stm, &inputs, scans, reds))
            }
            Self::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                crate::ir::walk::deep(|| machine.hist(stm, &inputs, ops))
            }
            Self::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                crate::ir::walk::deep(|| machine.scatter(stm, &inputs, dests))
            }
            Self::Filter { width, arrays, lam } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                crate::ir::walk::deep(|| machine.filter(stm, &inputs))
            }
            Self::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks,
            } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                crate::ir::walk::deep(|| machine.flat_map(stm, &inputs, *rows, *marks))
            }
            Self::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                let inputs = Inputs::new(machine, *width, arrays, lam)?;
                let mut point = |m: &mut Machine<'p, Self>, i| inputs.apply(m, i);
                crate::ir::walk::deep(|| {
                    machine.with_acc(stm, acc, inputs.width, &lam.body.result, &mut point)
                })
            }
            Self::UpdateAcc(update) => machine.update_acc(stm, update),
        }
    }

    fn derivative<'p>(
        machine: &mut Machine<'p, Self>,
        fun: FunId,
        args: Vec<Val>,
    ) -> Run<Vec<Val>> {
        super::derivative::call(machine, fun, args)
    }

    fn array_op(&self) -> Option<&ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Screma { .. }
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::Filter { .. }
            | Self::FlatMap { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => None,
        }
    }
}

/// The arrays that an operation traverses, and the lambda that it applies to their rows.
struct Inputs<'p> {
    width: i64,
    lam: &'p Lambda<Soac>,
    code: Rc<Code<'p, Soac>>,
    feeds: Vec<Feed>,
}

/// An array and the parameter that its rows are given to.
struct Feed {
    array: Rc<Array>,
    param: Var,
    /// The parameter, if rows are scalars.
    word: Option<Word>,
}

impl<'p> Inputs<'p> {
    fn new(
        machine: &mut Machine<'p, Soac>,
        width: Size,
        arrays: &[Var],
        lam: &'p Lambda<Soac>,
    ) -> Run<Self> {
        let width = machine.size(width)?;
        if width < 0 {
            return internal(format!(
                "an operation over {width} rows, and no check before it"
            ));
        }
        if arrays.len() != lam.params.len() {
            return internal("a lambda has a wrong number of parameters");
        }
        let mut feeds = Vec::with_capacity(arrays.len());
        for (&v, &param) in arrays.iter().zip(&lam.params) {
            let array = machine.array(v)?;
            if array.dims[0].extent != width {
                return internal(format!(
                    "an operation over {width} rows has an input of {} rows",
                    array.dims[0].extent
                ));
            }
            let of_scalars = array.rank() == 1;
            let place = machine.scalar_place(param);
            let place = place.filter(|(ty, _)| of_scalars && *ty == array.elem());
            feeds.push(Feed {
                array,
                param,
                word: place.map(|(_, word)| word),
            });
        }
        Ok(Self {
            width,
            lam,
            code: machine.code(&lam.body),
            feeds,
        })
    }

    /// Applies the lambda to row `i` of each array.
    fn apply(&self, machine: &mut Machine<'p, Soac>, i: i64) -> Run<()> {
        for feed in &self.feeds {
            match feed.word {
                Some(word) => {
                    let at = feed.array.offset + i * feed.array.dims[0].stride;
                    let value = strided::word(&feed.array.buf.data.borrow(), at as usize);
                    machine.put(word, value);
                }
                None => machine.set(feed.param, feed.array.row(i))?,
            }
        }
        machine.points_at(i);
        machine.check_claims(self.lam.params.iter().copied())?;
        machine.execute(&self.code)
    }
}

/// An array that results of a lambda are written to, one row for each element.
struct Output {
    array: Array,
    from: Atom,
    /// The result, if it is a scalar.
    word: Option<Word>,
}

impl Output {
    fn write(&self, machine: &Machine<'_, Soac>, i: i64) -> Run<()> {
        match self.word {
            Some(word) => {
                let at = (self.array.offset + i) as usize;
                let value = machine.word(word);
                strided::set_word(&mut self.array.buf.data.borrow_mut(), at, value);
                Ok(())
            }
            None => write_row(&self.array, i, &machine.atom(self.from)?),
        }
    }
}

impl<'p> Machine<'p, Soac> {
    /// An array of `outer` rows of what the type of `v` says is inside its first dimension.
    fn output(&self, v: Var, outer: i64) -> Run<Array> {
        let Some(elem) = self.program.vars[v].ty.elem() else {
            return internal(format!("{v:?} cannot be a mapped array"));
        };
        let mut shape = vec![outer];
        shape.extend(self.type_shape(v, 1)?);
        self.meter.alloc(elem, &shape)
    }

    /// An array for `outer` rows that a lambda yields as `from`, and that the variable `v` is for.
    fn output_of(&self, v: Var, outer: i64, from: Atom) -> Run<Output> {
        let array = self.output(v, outer)?;
        let of_scalars = array.dims.len() == 1;
        let word = if of_scalars {
            self.word_of(from, array.elem())
        } else {
            None
        };
        Ok(Output { array, from, word })
    }
}
