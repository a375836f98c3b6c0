//! The operations of the nested dialect.

mod filter;
mod screma;
mod write;

use super::machine::{Exec, Machine};
use super::value::{Array, Run, Val, internal};
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Lambda, Stm};
use crate::ir::types::Size;
use std::rc::Rc;

impl Exec for Soac {
    type State = ();

    fn exec(machine: &mut Machine<'_, Self>, op: &Self, stm: &Stm<Self>) -> Run<()> {
        match op {
            Self::Array(op) => {
                let value = machine.array_op(op)?;
                machine.bind_one(stm, value)
            }
            Self::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let inputs = Inputs::new(machine, *width, arrays)?;
                crate::ir::walk::deep(|| machine.screma(stm, &inputs, lam, scans, reds))
            }
            Self::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                let inputs = Inputs::new(machine, *width, arrays)?;
                crate::ir::walk::deep(|| machine.hist(stm, &inputs, lam, ops))
            }
            Self::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                let inputs = Inputs::new(machine, *width, arrays)?;
                crate::ir::walk::deep(|| machine.scatter(stm, &inputs, lam, dests))
            }
            Self::Filter { width, arrays, lam } => {
                let inputs = Inputs::new(machine, *width, arrays)?;
                crate::ir::walk::deep(|| machine.filter(stm, &inputs, lam))
            }
            Self::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                let inputs = Inputs::new(machine, *width, arrays)?;
                let mut point = |m: &mut Machine<'_, Self>, i| inputs.apply(m, lam, i);
                crate::ir::walk::deep(|| {
                    machine.with_acc(stm, acc, inputs.width, &lam.body.result, &mut point)
                })
            }
            Self::UpdateAcc(update) => machine.update_acc(stm, update),
        }
    }
}

/// The arrays that an operation traverses.
struct Inputs {
    width: i64,
    arrays: Vec<Rc<Array>>,
}

impl Inputs {
    fn new(machine: &Machine<'_, Soac>, width: Size, arrays: &[Var]) -> Run<Self> {
        let width = machine.size(width)?;
        if width < 0 {
            return internal(format!(
                "an operation over {width} rows, and no check before it"
            ));
        }
        let arrays = arrays
            .iter()
            .map(|&v| machine.array(v))
            .collect::<Run<Vec<_>>>()?;
        for array in &arrays {
            if array.dims[0].extent != width {
                return internal(format!(
                    "an operation over {width} rows has an input of {} rows",
                    array.dims[0].extent
                ));
            }
        }
        Ok(Self { width, arrays })
    }

    /// Applies the lambda to row `i` of each array.
    fn apply(&self, machine: &mut Machine<'_, Soac>, lam: &Lambda<Soac>, i: i64) -> Run<()> {
        if self.arrays.len() != lam.params.len() {
            return internal("a lambda has a wrong number of parameters");
        }
        machine.apply(lam, self.arrays.iter().map(|a| a.row(i)))
    }
}

impl Machine<'_, Soac> {
    /// An array of `outer` rows of what the type of `v` says is inside its first dimension.
    fn output(&self, v: Var, outer: i64) -> Run<Array> {
        let Some(elem) = self.program.vars[v].ty.elem() else {
            return internal(format!("{v:?} cannot be a mapped array"));
        };
        let mut shape = vec![outer];
        shape.extend(self.type_shape(v, 1)?);
        self.meter.alloc(elem, &shape)
    }

    /// The result `i` of a body that has just been executed.
    fn result(&self, lam: &Lambda<Soac>, i: usize) -> Run<Val> {
        match lam.body.result.get(i) {
            Some(&a) => self.atom(a),
            None => internal("a lambda has too few results"),
        }
    }
}
