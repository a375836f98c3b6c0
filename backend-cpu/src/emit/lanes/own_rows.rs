//! Rows that points write, in arrays of the lanes until they are done, and rows that such points read, put into arrays of the lanes
//! before:
//!
//! ```text
//!                                                  let a = alloc n; copy [n] a = x[i * n..]
//! loop j < n {                                     let b = alloc n
//!   y[i * n + j] = f x[i * n + j]                  loop j < n { b[j] = f a[j] }
//! }                                           →
//! loop j < n - 1 {                                 loop j < n - 1 { b[j + 1] = g b[j] b[j + 1] }
//!   y[i * n + j + 1] = g y[i * n + j] ..           copy [n] y[i * n..] = b
//! }
//! ```
//!
//! What neighbouring points read and write in a step lies far apart; the copies turn it, some elements of all rows at a time
//! ([`super::turn`]), and all that is between finds vectors.
//!
//! All elements of a row are written by its point. So if the first loop writes as many as it has steps, and no other store is known to go
//! beyond these, there are no more, and what is read of the row is one of them. A row that is read only has the elements that a
//! loop goes through, which do not change, and what is read of it otherwise is read where it lies.

mod places;
mod within;

use super::interior::map_plan;
use crate::compile::Units;
use midend::analysis::sums::Sums;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, KernelKind, Mem, Region};
use midend::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::{all_stms, all_stms_mut, body_binders, free_in_stm};
use places::{Places, Row};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel whose points have rows in arrays of their own.
pub(in crate::emit) struct OwnRows {
    /// The variables of the program, and names of the arrays.
    pub(in crate::emit) vars: Vars,
    pub(in crate::emit) kernel: Kernel,
}

/// The same kernel with rows in arrays, if its points write some and are worked on in lanes then.
pub(in crate::emit) fn with_own_rows(
    kernel: &Kernel,
    vars: &Vars,
    (asked, units): (usize, &Units),
) -> Option<OwnRows> {
    let own = own_rows(vars, kernel, &units.sums)?;
    let known = (asked, &units.tables, &units.in_lanes);
    let (plan, _) = map_plan(&own.kernel, &own.vars, known)?;
    plan.has_arrays().then_some(own)
}

fn own_rows(vars: &Vars, kernel: &Kernel, sums: &Sums) -> Option<OwnRows> {
    let regular = matches!(kernel.kind, KernelKind::Map) && !kernel.is_ragged();
    if !regular || !only_plain(&kernel.body) {
        return None;
    }
    let places = Places::of(vars, kernel, sums)?;
    let written = written(&kernel.body);
    let rows = written.iter().filter_map(|&buffer| {
        let (at, row) = places.written_row(&kernel.body, buffer)?;
        Some((at, buffer, row))
    });
    let rows: Vec<(usize, Var, Row)> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let mut cx = Rewrite {
        vars: vars.clone(),
        arrays: BTreeMap::new(),
        before: BTreeMap::new(),
        behind: BTreeMap::new(),
    };
    for (at, buffer, row) in rows {
        cx.add(&kernel.body, (at, buffer), &row, true);
    }
    for (at, stm) in kernel.body.stms.iter().enumerate() {
        for (buffer, row) in places.read_rows(stm) {
            if !written.contains(&buffer) && !cx.arrays.contains_key(&buffer) {
                cx.add(&kernel.body, (at, buffer), &row, false);
            }
        }
    }
    let body = cx.body(&places, &kernel.body);
    Some(OwnRows {
        vars: cx.vars,
        kernel: Kernel {
            body,
            ..kernel.clone()
        },
    })
}

/// Whether a body does nothing but compute, check, and go to memory, element by element.
fn only_plain(body: &Body<Mem>) -> bool {
    let mut only = true;
    all_stms(body, &mut |stm| {
        only &= match &stm.exp {
            Exp::Call { .. } | Exp::Guard { .. } => false,
            Exp::Op(op) => matches!(
                op,
                Mem::Alloc { .. } | Mem::Load { .. } | Mem::Store { .. } | Mem::Copy { .. }
            ),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => true,
        };
    });
    only
}

/// The buffers that a body stores single elements to and has from outside.
fn written(body: &Body<Mem>) -> BTreeSet<Var> {
    let mut written = BTreeSet::new();
    all_stms(body, &mut |stm| {
        if let Exp::Op(Mem::Store { buffer, .. }) = &stm.exp {
            written.insert(*buffer);
        }
    });
    body_binders(body, &mut |v| {
        written.remove(&v);
    });
    written
}

/// The array that has a row.
struct Array {
    name: Var,
    row: Row,
    /// The first statement that goes there.
    from: usize,
    is_written: bool,
}

impl Array {
    fn whole(&self) -> Region {
        Region {
            buffer: self.name,
            offset: Atom::ZERO,
            strides: vec![Atom::ONE],
        }
    }
}

struct Rewrite {
    vars: Vars,
    arrays: BTreeMap<Var, Array>,
    /// What comes before statements, and behind them.
    before: BTreeMap<usize, Vec<Stm<Mem>>>,
    behind: BTreeMap<usize, Vec<Stm<Mem>>>,
}

impl Rewrite {
    /// Lets points have rows of a buffer, which the statement `at` goes to first, in arrays.
    fn add(&mut self, body: &Body<Mem>, (at, buffer): (usize, Var), row: &Row, is_written: bool) {
        let elem = self.vars[buffer].ty.elem().unwrap_or(ScalarType::I64);
        let name = self.vars.push(VarInfo {
            name: "row".into(),
            ty: Type::Buffer(elem),
        });
        let span = body.stms[at].span;
        let stm = |binds, exp| Stm {
            binds,
            certs: Vec::new(),
            exp: Exp::Op(exp),
            span,
        };
        let array = Array {
            name,
            row: *row,
            from: at,
            is_written,
        };
        let of_array = array.whole();
        let there = Region {
            buffer,
            offset: row.base,
            strides: vec![row.step],
        };
        let copy = |dst: Region, src: Region| Mem::Copy {
            shape: vec![row.len],
            dst,
            src,
        };
        let before = self.before.entry(at).or_default();
        let (len, over) = (row.len, None);
        before.push(stm(vec![name], Mem::Alloc { elem, len, over }));
        if is_written {
            let touches = |stm: &Stm<Mem>| free_in_stm(&self.vars, stm).contains(&buffer);
            let last = body.stms.iter().rposition(touches).unwrap_or(at);
            let behind = self.behind.entry(last).or_default();
            behind.push(stm(Vec::new(), copy(there, of_array)));
        } else {
            before.push(stm(Vec::new(), copy(of_array, there)));
        }
        self.arrays.insert(buffer, array);
    }

    fn body(&mut self, places: &Places<'_>, body: &Body<Mem>) -> Body<Mem> {
        let mut stms = Vec::new();
        for (at, stm) in body.stms.iter().enumerate() {
            stms.extend(self.before.remove(&at).unwrap_or_default());
            let mut one = Body {
                stms: vec![stm.clone()],
                result: Vec::new(),
            };
            all_stms_mut(&mut one, &mut |stm| self.place(places, at, stm));
            stms.append(&mut one.stms);
            stms.extend(self.behind.remove(&at).unwrap_or_default());
        }
        Body {
            stms,
            result: body.result.clone(),
        }
    }

    /// Lets a statement go to an array instead of the row that this has.
    fn place(&self, places: &Places<'_>, at: usize, stm: &mut Stm<Mem>) {
        let (buffer, index) = match &mut stm.exp {
            Exp::Op(Mem::Load { buffer, index } | Mem::Store { buffer, index, .. }) => {
                (buffer, index)
            }
            Exp::Op(Mem::Copy { dst, .. }) => {
                if let Some(array) = self.arrays.get(&dst.buffer) {
                    *dst = array.whole();
                }
                return;
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return,
        };
        let array = self.arrays.get(buffer).filter(|array| at >= array.from);
        let number = array.and_then(|array| places.number(*index, &array.row));
        if let Some((array, number)) = array.zip(number)
            && (array.is_written || places.is_inside(&stm.binds, number, array.row.len))
        {
            *buffer = array.name;
            *index = number;
        }
    }
}
