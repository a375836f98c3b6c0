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
//! Several elements of each step that lie side by side are columns of one row, as those of `x[3 * (k + t)]` and the two behind it.
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
use midend::ir::scalar::{BinOp, ScalarOp};
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

/// A read. Several of one step may lie side by side: those of the next step are as many elements behind.
struct Row {
    bind: Var,
    buffer: Var,
    index: Var,
    elem: ScalarType,
    stride: i64,
    /// The first read of these, and how far behind it this one is.
    first: Var,
    offset: i64,
}

/// The most elements that a step reads side by side.
const STRIDE: i64 = 4;

impl Row {
    fn is_first(&self) -> bool {
        self.first == self.bind
    }
}

/// Where the column of a read is.
#[derive(Clone, Copy)]
struct Column {
    room: Value,
    stride: i64,
    offset: i64,
}

/// Where the columns of some steps are, and whether they are there.
#[derive(Clone)]
pub(in crate::emit::lanes) struct Filled {
    rooms: HashMap<Var, Column>,
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
    let mut rows: Vec<Row> = Vec::new();
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
                    && !(plan.varies(*buffer) || inside.contains(buffer));
                let stride = match growth(&growths(&slice, index), *at) {
                    Some(Growth::One) => Some(1),
                    Some(Growth::By(by)) => by.as_i64(),
                    Some(Growth::None) | None => None,
                };
                let stride = stride.filter(|stride| fits && (1..=STRIDE).contains(stride));
                let at = at.as_var().filter(|at| plan.varies(*at));
                if let (Some(stride), Some(at)) = (stride, at) {
                    let (bind, buffer) = (stm.binds[0], *buffer);
                    let beside = beside(&slice, at);
                    let beside = rows.iter().find_map(|row| {
                        let (_, by) = beside.filter(|(v, _)| row.index == *v)?;
                        let offset = row.offset + by;
                        let same = row.buffer == buffer && row.stride == stride;
                        (same && (0..stride).contains(&offset)).then_some((row.first, offset))
                    });
                    let (first, offset) = beside.unwrap_or((bind, 0));
                    rows.push(Row {
                        bind,
                        buffer,
                        index: at,
                        elem,
                        stride,
                        first,
                        offset,
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
    // What is read of the last step lies before its last read, which is there.
    let ends: BTreeSet<Var> = rows
        .iter()
        .filter(|row| row.offset + 1 == row.stride)
        .map(|row| row.first)
        .collect();
    rows.retain(|row| ends.contains(&row.first));
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

/// The index that another one is a constant behind, and how far.
fn beside(slice: &[&Stm<Mem>], index: Var) -> Option<(Var, i64)> {
    let stm = slice.iter().find(|stm| stm.binds == [index])?;
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args) = &stm.exp else {
        return None;
    };
    match args[..] {
        [Atom::Var(before), by] | [by, Atom::Var(before)] => Some((before, by.as_i64()?)),
        _ => None,
    }
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
        let size = |row: &Row| (row.elem.bytes() * plan.width) as u32 * (steps * row.stride) as u32;
        let first = columns.rows.iter().filter(|row| row.is_first());
        let rooms = first.map(|row| self.stack_slot(size(row)));
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
        let firsts = columns.rows.iter().filter(|row| row.is_first());
        for (row, room) in firsts.zip(rooms) {
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
            let length = self.b.ins().imul_imm_s(length, row.stride);
            self.turned_copy(group, row.elem, (*room, &starts), (length, false));
            let all = columns.rows.iter().filter(|other| other.first == row.bind);
            filled.extend(all.map(|other| {
                let column = Column {
                    room: *room,
                    stride: other.stride,
                    offset: other.offset,
                };
                (other.bind, column)
            }));
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
        let (column, step) = (*filled.rooms.get(&bind)?, filled.step);
        let [near, far, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(filled.are_there, near, &[], far, &[]);
        self.b.switch_to_block(near);
        let elem = self.elem(bind);
        let number = self.b.ins().imul_imm_s(step, column.stride);
        let number = self.b.ins().iadd_imm_s(number, column.offset);
        let place = self.panel_step(group, elem, (column.room, number));
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
