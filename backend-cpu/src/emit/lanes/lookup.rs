//! Bytes that are looked up in tables, of which a byte says which: the tables are in registers, four of 512 bits each, and a vector of bytes
//! finds its elements in all four at once. The upper two bits of each byte choose among them.
//!
//! ```text
//! let k = convert.u8.i64(x)                found0 = bytes x % 64 of table[0 ..< 64]
//! let y = load table[k]            ──►     ..
//!                                          found3 = bytes x % 64 of table[192 ..< 256]
//!                                          y = that of the four which x / 64 says
//! ```

use super::addresses::valued;
use super::choose::Finder;
use super::plan::Plan;
use super::vector::lanes_per_vector;
use super::{Group, Lanes};
use crate::emit::library::RAW;
use crate::emit::{Emit, plain};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::statements;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::scalar::ScalarOp;
use midend::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::body_uses;
use std::collections::BTreeMap;

/// Bytes of a table, and of a register.
const TABLE: i64 = 256;
const REGISTER: i32 = 64;
/// How many parts such a register has.
const PARTS: usize = 4;
/// How many operations a lookup is.
const OPERATIONS: usize = 8;

/// The plan for a map that looks up bytes in some of these buffers of known lengths, if it is for registers of 512 bits.
pub(super) fn looking_up(
    kernel: &Kernel,
    vars: &Vars,
    (asked, tables): (usize, &BTreeMap<Var, i64>),
) -> Option<Plan> {
    if asked < PARTS || tables.is_empty() {
        return None;
    }
    let lookups = lookups(&kernel.body, vars, tables);
    if lookups.is_empty() {
        return None;
    }
    let mut finder = Finder::new(kernel, vars, true)?;
    finder.valued = Some(valued(&kernel.body, lookups.keys().copied()));
    finder.lookups = lookups;
    finder.body(&kernel.body)?;
    finder.plan(asked).filter(|plan| plan.parts == PARTS)
}

/// The indices that do nothing but look up bytes in tables that have one for each byte, and the bytes that they are.
fn lookups(body: &Body<Mem>, vars: &Vars, tables: &BTreeMap<Var, i64>) -> BTreeMap<Var, Var> {
    let is_table = |buffer: &Var| {
        let elem = vars[*buffer].ty.elem();
        let bytes = matches!(elem, Some(ScalarType::U8 | ScalarType::I8));
        bytes && tables.get(buffer).is_some_and(|length| *length >= TABLE)
    };
    let mut found = BTreeMap::new();
    // How often each is used for anything else.
    let mut others: BTreeMap<Var, isize> = BTreeMap::new();
    statements(body, &mut |stm| match &stm.exp {
        Exp::Scalar(ScalarOp::Convert(ScalarType::U8, ScalarType::I64), args) => {
            found.extend(args[0].as_var().map(|byte| (stm.binds[0], byte)));
        }
        Exp::Op(Mem::Load {
            buffer,
            index: Atom::Var(index),
        }) if is_table(buffer) => *others.entry(*index).or_default() -= 1,
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
    });
    found.retain(|index, _| others.contains_key(index));
    if !found.is_empty() {
        body_uses(vars, body, &mut |v| *others.entry(v).or_default() += 1);
        found.retain(|index, _| others.get(index) == Some(&0));
    }
    found
}

impl Finder<'_> {
    /// Whether a varying statement makes an index that looks up bytes, or looks one up.
    pub(super) fn looks_up(&mut self, stm: &Stm<Mem>) -> bool {
        let index = |atom: &Atom| atom.as_var().is_some_and(|v| self.lookups.contains_key(&v));
        let found = match &stm.exp {
            Exp::Op(Mem::Load { buffer, index: at }) => {
                index(at) && !self.varies(Atom::Var(*buffer))
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        };
        if found {
            self.counts.packed += OPERATIONS;
            self.counts.statements += OPERATIONS;
            self.counts.inner[0] += usize::from(self.counts.depth > 0);
            self.counts.fills(lanes_per_vector(ScalarType::U8, true));
        }
        found || stm.binds.first().is_some_and(|v| index(&Atom::Var(*v)))
    }
}

impl Emit<'_, '_> {
    /// A varying statement that makes an index that looks up bytes, which nothing else needs, or that looks one up. Whether it was one.
    pub(super) fn lookup(&mut self, group: &mut Group<'_>, stm: &Stm<Mem>) -> bool {
        let Some(bind) = stm.binds.first() else {
            return false;
        };
        if group.plan.lookups.contains_key(bind) {
            return true;
        }
        let Exp::Op(Mem::Load { buffer, index }) = &stm.exp else {
            return false;
        };
        let byte = index.as_var().and_then(|v| group.plan.lookups.get(&v));
        let Some(byte) = byte.copied() else {
            return false;
        };
        fired("cpu/tables-in-registers");
        let start = self.var(*buffer);
        let bytes = self.packed(group, Atom::Var(byte)).into_iter();
        let found = bytes.map(|bytes| self.looked_up(start, bytes)).collect();
        group.lanes.insert(*bind, Lanes::Packed(found));
        true
    }

    /// The elements of the table at an address that a vector of bytes says.
    fn looked_up(&mut self, start: Value, bytes: Value) -> Value {
        let found = [0, 1, 2, 3].map(|k| {
            let part = self
                .b
                .ins()
                .load(types::I16X8, plain(), start, k * REGISTER);
            // Marks what Cranelift has not: see `wide`.
            let lanes = self.b.ins().bitcast(types::I16X8, RAW, bytes);
            let found = self.b.ins().sadd_sat(lanes, part);
            self.b.ins().bitcast(types::I8X16, RAW, found)
        });
        let second = self.b.ins().iadd(bytes, bytes);
        let low = self.b.ins().blendv(second, found[1], found[0]);
        let high = self.b.ins().blendv(second, found[3], found[2]);
        self.b.ins().blendv(bytes, high, low)
    }
}
