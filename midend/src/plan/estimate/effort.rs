//! What a launch asks of a device, once its arguments are known: a profile compares it with what the device can do.
//!
//! ```text
//! launch map (i < n) { x = load xs[i]; y = add x 1; store ys[i] = y }
//!     with n = 1000 and buffers of 4000 bytes:  1000 operations, 8000 bytes
//! ```

use super::numbers::numbers;
use super::{Known, Walk, Work};
use crate::analysis::kernels::arguments;
use crate::hash::{HashMap, HashSet};
use crate::ir::id::Var;
use crate::ir::mem::{Kernel, Mem};
use crate::ir::scalar::Const;
use crate::ir::syntax::{Exp, Program};
use crate::ir::walk::all_stms;
use std::collections::BTreeMap;

/// What launches ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Operations on numbers, counted in additions. Those that find places in memory are not among them.
    pub operations: u64,
    /// Bytes of memory read and written; what is read again is near the second time.
    pub bytes: u64,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) enum Given {
    Scalar(Const),
    /// A buffer, which its address tells from others, of so many bytes.
    Buffer {
        address: usize,
        bytes: u64,
    },
}

/// The kernels of a plan, by their names.
#[derive(Debug)]
pub(in crate::plan) struct Kernels<'a> {
    plan: &'a Program<Mem>,
    /// With the variables that stand for their arguments.
    kernels: BTreeMap<&'a str, (&'a Kernel, Vec<Var>)>,
    numbers: HashSet<Var>,
}

/// As many statements are looked at for a launch; the device has waited for longer.
const FUEL: usize = 10_000;

impl<'a> Kernels<'a> {
    pub(in crate::plan) fn of(plan: &'a Program<Mem>) -> Self {
        let mut kernels = BTreeMap::new();
        for fun in plan.funs.iter() {
            all_stms(&fun.body, &mut |stm| {
                if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
                    let args = arguments(&plan.vars, &stm.exp);
                    kernels.insert(kernel.name.as_str(), (&**kernel, args));
                }
            });
        }
        Self {
            plan,
            kernels,
            numbers: numbers(plan),
        }
    }

    /// What a launch with these arguments asks for.
    pub(in crate::plan) fn effort(&self, name: &str, given: &[Given]) -> Option<Effort> {
        let (kernel, params) = self.kernels.get(name)?;
        let mut walk = Walk {
            plan: self.plan,
            costs: &crate::device::Costs::ONE,
            number: &|_| 0,
            values: HashMap::default(),
            numbers: Some(&self.numbers),
            buffers: 0,
            touched: None,
            fuel: FUEL,
            depth: 0,
        };
        for (param, given) in params.iter().zip(given) {
            let known = match *given {
                Given::Scalar(c) => Known::Scalar(c),
                Given::Buffer { address, bytes } => Known::Buffer {
                    number: address,
                    bytes: bytes as f64,
                },
            };
            walk.values.insert(*param, known);
        }
        let (points, point, touched) = walk.point(kernel);
        let Work { sums, bytes, .. } = point;
        Some(Effort {
            operations: (points * sums) as u64,
            bytes: (points * bytes).min(touched) as u64,
        })
    }
}
