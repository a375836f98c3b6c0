//! Elements that lie side by side for the steps of a loop, and elsewhere for each lane, read for some steps at once: rows of them are turned into columns
//! of the lanes ([`super::super::turn`]), where else each step gathered its own:
//!
//! ```text
//!                              loop s < n, 16 steps at a time {
//! loop t < n {                   if p s && p (s + 15) { columns = x[k + s ..], turned }
//!   assert p t            →      loop t from s {
//!   .. x[k + t] ..                 assert p t
//! }                                .. columns[t - s] ..
//!                              } }
//! ```
//!
//! What is read early is there: the first and the last of these elements are, since what is checked before they are read holds, and so is what lies
//! between. Where it does not hold, or steps are too few, each step gathers.

use super::super::choose::{arithmetic, computed};
use super::super::gather::is_found;
use super::super::turn::{Growth, growth, growths};
use super::super::{Group, Lanes, Plan};
use crate::emit::{Emit, block_args};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, body_binders};
use std::collections::{BTreeSet, HashMap};

/// The elements that a loop reads in this way.
pub(super) struct Columns {
    /// What finds them, and what is checked before.
    slice: Vec<Stm<Mem>>,
    conds: Vec<Atom>,
    rows: Vec<Row>,
}

struct Row {
    bind: Var,
    buffer: Var,
    index: Var,
    elem: ScalarType,
}

/// Where the columns of some steps are, and whether they are there.
#[derive(Clone)]
pub(in crate::emit::lanes) struct Filled {
    rooms: HashMap<Var, Value>,
    are_there: Value,
    step: Value,
}

impl Filled {
    /// The same in a step that is so many behind the first one.
    pub(super) fn in_step(&self, step: Value) -> Self {
        Self {
            step,
            ..self.clone()
        }
    }
}

/// The elements that the steps of a loop read side by side, if it writes nothing but arrays of the lanes.
pub(super) fn columns(
    vars: &Vars,
    plan: &Plan,
    (index, params): (Var, &[LoopParam]),
    body: &Body<Mem>,
) -> Option<Columns> {
    let counted = vars[index].ty.elem() == Some(ScalarType::I64);
    if !(plan.by_vectors && counted && writes_only_own(plan, body)) {
        return None;
    }
    let mut inside = BTreeSet::new();
    body_binders(body, &mut |v| {
        inside.insert(v);
    });
    // What is not computed of the counter and of what there is before.
    let mut others: BTreeSet<Var> = params.iter().map(|param| param.var).collect();
    let mut slice: Vec<&Stm<Mem>> = Vec::new();
    let mut conds = Vec::new();
    let mut rows = Vec::new();
    for stm in &body.stms {
        let mut known = true;
        stm.exp.operands(&mut |atom| {
            known &= !atom.as_var().is_some_and(|v| others.contains(&v));
        });
        match &stm.exp {
            Exp::Scalar(op, args) if known && computed(*op, args).is_some() => slice.push(stm),
            Exp::Atom(_) if known => slice.push(stm),
            Exp::Scalar(..) | Exp::Atom(_) | Exp::Op(Mem::Store { .. }) => {
                others.extend(&stm.binds);
            }
            Exp::Assert { cond, .. } if known => conds.push(*cond),
            Exp::Op(Mem::Load { buffer, index: at }) => {
                others.extend(&stm.binds);
                let elem = vars[*buffer].ty.elem()?;
                let fits = known
                    && is_found(elem)
                    && plan.per_vector(elem).is_some()
                    && !(plan.varies(*buffer) || inside.contains(buffer))
                    && growth(&growths(&slice, index), *at) == Some(Growth::One);
                if let Some(at) = at.as_var().filter(|at| fits && plan.varies(*at)) {
                    rows.push(Row {
                        bind: stm.binds[0],
                        buffer: *buffer,
                        index: at,
                        elem,
                    });
                }
            }
            Exp::If { .. } => {
                let one = Body {
                    stms: vec![stm.clone()],
                    result: Vec::new(),
                };
                if arithmetic(&one).is_none() {
                    break;
                }
                others.extend(&stm.binds);
            }
            // What comes behind may not be done.
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => break,
        }
    }
    let indices = rows.iter().map(|row| Atom::Var(row.index));
    let needed = indices.chain(conds.iter().copied());
    let mut needed: BTreeSet<Var> = needed.filter_map(|atom| atom.as_var()).collect();
    let mut kept = Vec::new();
    for stm in slice.into_iter().rev() {
        if stm.binds.iter().any(|v| needed.contains(v)) {
            stm.exp.operands(&mut |atom| needed.extend(atom.as_var()));
            kept.push(stm.clone());
        }
    }
    kept.reverse();
    (!rows.is_empty()).then_some(Columns {
        slice: kept,
        conds,
        rows,
    })
}

/// Whether a body writes nothing but arrays of the lanes.
fn writes_only_own(plan: &Plan, body: &Body<Mem>) -> bool {
    let mut only = true;
    all_stms(body, &mut |stm| {
        only &= match &stm.exp {
            Exp::Op(Mem::Store { buffer, .. }) => plan.own.contains(buffer),
            Exp::Op(Mem::Copy { dst, .. }) => plan.own.contains(&dst.buffer),
            Exp::Op(Mem::Load { .. } | Mem::Alloc { .. }) => true,
            Exp::Call { .. } | Exp::Op(_) => false,
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => true,
        };
    });
    only
}

impl Emit<'_, '_> {
    /// Memory for the columns of so many steps.
    pub(super) fn rooms(&mut self, plan: &Plan, columns: &Columns, steps: i64) -> Vec<Value> {
        let size = |row: &Row| (row.elem.bytes() * plan.width) as u32 * steps as u32;
        let rooms = columns.rows.iter().map(|row| self.stack_slot(size(row)));
        rooms.collect()
    }

    /// Reads what the steps from the first to before the last ask for, if it may be read.
    pub(super) fn fill_columns(
        &mut self,
        group: &mut Group<'_>,
        (columns, rooms): (&Columns, &[Value]),
        (counter, first, end): (Var, Value, Value),
    ) -> Filled {
        let [look, fill, join] = [(); 3].map(|()| self.b.create_block());
        let are_there = self.params(join, &[types::I8])[0];
        let outside = group.lanes.clone();
        let no = self.b.ins().iconst(types::I8, 0);
        let length = self.b.ins().isub(end, first);
        // Rows are turned so many elements at a time.
        let most = columns.rows.iter().map(|row| 16 / row.elem.bytes()).max();
        let rest = most.map_or(0, |most| most as i64 - 1);
        let rest = self.b.ins().band_imm_s(length, rest);
        let whole = self.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
        self.b.ins().brif(whole, look, &[], join, &block_args([no]));

        self.b.switch_to_block(look);
        let last = self.b.ins().iadd_imm_s(end, -1);
        let mut fails = no;
        for step in [last, first] {
            self.bind(counter, step);
            for stm in &columns.slice {
                self.lanes_stm(group, stm);
            }
            for cond in &columns.conds {
                let some = self.any_lane_is(group, *cond, false);
                fails = self.b.ins().bor(fails, some);
            }
        }
        self.b.ins().brif(fails, join, &block_args([no]), fill, &[]);

        self.b.switch_to_block(fill);
        let mut filled = HashMap::new();
        for (row, room) in columns.rows.iter().zip(rooms) {
            match group.lanes.get(&row.index) {
                // These lie side by side for the lanes.
                None | Some(Lanes::Linear(_, 0 | 1)) => continue,
                Some(_) => {}
            }
            fired("cpu/columns-of-steps");
            self.unpack(group, row.index);
            let buffer = self.var(row.buffer);
            let starts = (0..group.plan.width).map(|lane| {
                let index = self.lane(group, row.index, lane);
                self.element(buffer, row.elem, index)
            });
            let starts: Vec<Value> = starts.collect();
            self.turned_copy(group, row.elem, (*room, &starts), (length, false));
            filled.insert(row.bind, *room);
        }
        let yes = self.b.ins().iconst(types::I8, 1);
        self.b.ins().jump(join, &block_args([yes]));
        self.b.switch_to_block(join);
        group.lanes = outside;
        Filled {
            rooms: filled,
            are_there,
            step: first,
        }
    }

    /// The elements that a statement reads, if they may be in columns.
    pub(in crate::emit::lanes) fn read_in_columns(
        &mut self,
        group: &mut Group<'_>,
        bind: Var,
        read: (Var, Atom),
    ) -> Option<Lanes> {
        let filled = group.columns.as_ref()?;
        let (room, step) = (*filled.rooms.get(&bind)?, filled.step);
        let [near, far, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(filled.are_there, near, &[], far, &[]);
        self.b.switch_to_block(near);
        let elem = self.elem(bind);
        let place = self.panel_step(group, elem, (room, step));
        let Lanes::Packed(values) = self.lanes_load(group, elem, place, elem.bytes() as i64) else {
            unreachable!("columns are vectors")
        };
        let types = self.types_of(&values);
        let joined = self.params(join, &types);
        self.b.ins().jump(join, &block_args(values));
        self.b.switch_to_block(far);
        let outside = group.lanes.clone();
        let Some(Lanes::Packed(values)) = self.gathered(group, read) else {
            unreachable!("they are found in vectors")
        };
        group.lanes = outside;
        self.b.ins().jump(join, &block_args(values));
        self.b.switch_to_block(join);
        Some(Lanes::Packed(joined))
    }
}
