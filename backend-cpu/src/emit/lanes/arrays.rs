//! Arrays that points have for themselves. Those of the lanes of a group lie among each other, so that elements of one index are side by
//! side, in vectors:
//!
//! ```text
//! let a = alloc.f32 n              a = room for n vectors
//! loop i < n {                     loop i < n {
//!   store a[i] = x * i       →       store vector a[i] = xs * i
//! }                                }
//! ```
//!
//! An index that differs from lane to lane finds its elements one by one. Groups whose arrays took too much memory are done point by
//! point.

use super::choose::Finder;
use super::plan::Plan;
use super::vector::lanes_per_vector;
use super::{Group, Lanes, Shape};
use crate::emit::{Emit, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::statements;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Mem, Region};
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm};
use midend::ir::types::ScalarType;
use midend::ir::walk::body_binders;
use std::collections::BTreeSet;

/// The most bytes of all arrays of a group.
pub(in crate::emit) const ROOM: i64 = 16 << 20;
/// The most where the loops of one point may go in lanes instead: half of L2. What eight lanes keep would not stay in the cache, what one point
/// keeps does.
pub(in crate::emit) const IN_L2: i64 = 512 << 10;
/// Bytes of a line of the cache, where arrays begin.
const LINE: i64 = 64;

/// An array that each lane has for itself: the elements and how many there are, which is known outside of the body.
#[derive(Clone, Debug)]
pub(super) struct Array {
    name: Var,
    elem: ScalarType,
    len: Atom,
}

/// Whether a body makes arrays.
pub(super) fn has_arrays(body: &Body<Mem>) -> bool {
    let mut has = false;
    statements(body, &mut |stm| {
        has |= matches!(stm.exp, Exp::Op(Mem::Alloc { .. }))
    });
    has
}

impl Plan {
    /// Whether it is the name under which an array is made, and not another one.
    pub(super) fn is_array(&self, name: Var) -> bool {
        self.arrays.iter().any(|array| array.name == name)
    }
}

impl Finder<'_> {
    /// An array that is made, if points may have some and its length is known outside.
    pub(super) fn array(&mut self, name: Var, elem: ScalarType, len: Atom) -> Option<()> {
        let bodies = &self.bodies;
        let binders = self.binders.get_or_insert_with(|| {
            let mut binders = BTreeSet::new();
            for body in bodies {
                body_binders(body, &mut |v| {
                    binders.insert(v);
                });
            }
            binders
        });
        let inside = len.as_var().is_some_and(|v| binders.contains(&v));
        let known = !inside && !self.varies(len);
        if !(self.takes_arrays && known) {
            return None;
        }
        self.names(name);
        if self.arrays.iter().all(|array| array.name != name) {
            self.arrays.push(Array { name, elem, len });
        }
        Some(())
    }

    /// A name of an array that each lane has for itself.
    fn names(&mut self, name: Var) {
        self.own.insert(name);
        self.varying.insert(name);
    }

    pub(super) fn is_own(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.own.contains(&v))
    }

    /// Whether a loop carries none of such arrays.
    pub(super) fn carries_no_array(&self, params: &[LoopParam], body: &Body<Mem>) -> Option<()> {
        let mut carried = params.iter().map(|param| &param.init).chain(&body.result);
        (!carried.any(|atom| self.is_own(*atom))).then_some(())
    }

    /// Results of a choice that comes out the same for all lanes, which are such arrays on both sides or on none.
    pub(super) fn branch_array(&mut self, stm: &Stm<Mem>, sides: [&Body<Mem>; 2]) -> Option<()> {
        for (k, bind) in stm.binds.iter().enumerate() {
            match sides.map(|side| self.is_own(side.result[k])) {
                [true, true] => self.names(*bind),
                [false, false] => {}
                [_, _] => return None,
            }
        }
        Some(())
    }

    /// Whether none of the results of another choice is such an array.
    pub(super) fn chooses_no_array(&self, sides: [&Body<Mem>; 2]) -> Option<()> {
        let mut results = sides.iter().flat_map(|side| &side.result);
        (!results.any(|atom| self.is_own(*atom))).then_some(())
    }

    /// A copy to such an array, or from it.
    pub(super) fn copy(&mut self, shape: &[Atom], dst: &Region, src: &Region) -> Option<()> {
        let fixed = |atom: &Atom| !self.varies(*atom);
        let steps = dst.strides.iter().chain(&src.strides).chain(shape);
        let placed = |region: &Region| {
            let own = self.own.contains(&region.buffer);
            let outside = own || !self.varies(Atom::Var(region.buffer));
            outside && (!own || fixed(&region.offset))
        };
        let own = [dst, src].map(|region| self.own.contains(&region.buffer));
        if !(own.contains(&true) && steps.into_iter().all(fixed) && placed(dst) && placed(src)) {
            return None;
        }
        let lanes = self.elem(dst.buffer);
        let lanes = lanes.and_then(|ty| lanes_per_vector(ty, self.integers));
        let beside = [dst, src].map(|region| region.strides.last() == Some(&Atom::ONE));
        let turned = beside == [true, true] && lanes.is_some_and(|lanes| lanes <= 4);
        let packed = own == [true, true] || !self.varies(src.offset) && own[0] || turned;
        self.counts.loops += 1;
        match lanes.filter(|_| packed) {
            Some(lanes) => {
                self.counts.packed += 1;
                self.counts.fills(Some(lanes));
            }
            None => self.counts.finding += usize::from(self.integers),
        }
        Some(())
    }

    /// Whether a statement reads an element of such an array that each lane finds for itself.
    pub(super) fn finds_in_array(&mut self, stm: &Stm<Mem>) -> bool {
        let Exp::Op(Mem::Load { buffer, index }) = &stm.exp else {
            return false;
        };
        let lanes = self.elem(*buffer);
        let lanes = lanes.and_then(|ty| lanes_per_vector(ty, self.integers));
        let finds = self.valued.is_some()
            && self.own.contains(buffer)
            && self.varies(*index)
            && lanes.is_some();
        if finds {
            self.counts.fills(lanes);
            self.counts.finding += 1;
        }
        finds
    }
}

/// Where the lanes' elements of a statement are.
enum Place {
    /// The first one, and how many bytes each other is behind the one before.
    Row(Value, i64),
    /// Each somewhere.
    Apart(Vec<Value>),
}

impl Emit<'_, '_> {
    /// What `inner` emits for a group of points, whose arrays are given back then.
    pub(super) fn with_arrays(&mut self, plan: &Plan, inner: impl FnOnce(&mut Self)) {
        if plan.arrays.is_empty() {
            return inner(self);
        }
        fired("cpu/arrays-of-lanes");
        self.released(inner);
    }

    /// Whether there is room for the arrays of a group, if points have some.
    pub(in crate::emit) fn room(&mut self, plan: &Plan) -> Option<Value> {
        if plan.arrays.is_empty() {
            return None;
        }
        let mut total = self.i64(0);
        let mut sane = None;
        for array in &plan.arrays {
            let len = self.atom(array.len);
            let few = IntCC::UnsignedLessThan;
            let few = self.b.ins().icmp_imm_s(few, len, self.room);
            sane = Some(match sane {
                Some(sane) => self.b.ins().band(sane, few),
                None => few,
            });
            let size = (array.elem.bytes() * plan.width) as i64;
            let bytes = self.b.ins().imul_imm_s(len, size);
            total = self.b.ins().iadd(total, bytes);
        }
        let fits = IntCC::UnsignedLessThanOrEqual;
        let fits = self.b.ins().icmp_imm_s(fits, total, self.room);
        sane.map(|sane| self.b.ins().band(sane, fits))
    }

    /// A statement about arrays that each lane has for itself. Whether it was one.
    pub(super) fn lanes_array(&mut self, group: &mut Group<'_>, stm: &Stm<Mem>) -> bool {
        let own = |v: &Var| group.plan.own.contains(v);
        match &stm.exp {
            Exp::Op(Mem::Alloc { elem, len, .. }) if stm.binds.iter().all(own) => {
                let width = group.plan.width as i64;
                let len = self.atom(*len);
                let len = self.b.ins().imul_imm_s(len, width);
                let more = LINE / elem.bytes() as i64;
                let len = self.b.ins().iadd_imm_s(len, more);
                let start = self.take(*elem, len);
                let start = self.b.ins().iadd_imm_s(start, LINE - 1);
                let start = self.b.ins().band_imm_s(start, -LINE);
                self.bind(stm.binds[0], start);
            }
            Exp::Op(Mem::Load { buffer, index }) if own(buffer) => {
                let elem = self.elem(*buffer);
                let place = self.lanes_element(group, *buffer, *index, None);
                let value = self.elements_at(group, elem, &place);
                group.lanes.insert(stm.binds[0], value);
            }
            Exp::Op(Mem::Store {
                buffer,
                index,
                value,
            }) if own(buffer) => {
                let elem = self.elem(*buffer);
                let place = self.lanes_element(group, *buffer, *index, None);
                self.store_at(group, elem, &place, *value);
            }
            Exp::Op(Mem::Copy { shape, dst, src }) if own(&dst.buffer) || own(&src.buffer) => {
                self.lanes_copy(group, shape, dst, src);
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return false,
        }
        true
    }

    /// Where the elements of all lanes are at an index, and so many elements behind it.
    fn lanes_element(
        &mut self,
        group: &mut Group<'_>,
        buffer: Var,
        index: Atom,
        behind: Option<Value>,
    ) -> Place {
        let elem = self.elem(buffer);
        let bytes = elem.bytes() as i64;
        let start = self.var(buffer);
        let plus = |emit: &mut Self, index: Value| match behind {
            Some(behind) => emit.b.ins().iadd(index, behind),
            None => index,
        };
        let own = group.plan.own.contains(&buffer);
        let size = if own {
            bytes * group.plan.width as i64
        } else {
            bytes
        };
        // Lanes of own arrays are side by side.
        let lane = if own { bytes } else { 0 };
        if let Some((first, stride)) = self.linear_operand(group, index)
            && (stride == 0 || !own)
        {
            let first = plus(self, first);
            let (place, offset) = self.spaced(start, size, first);
            let place = self.b.ins().iadd_imm_s(place, i64::from(offset));
            return Place::Row(place, lane + stride * size);
        }
        let indices = self.in_shape(group, Shape::Many, index);
        let places = indices.into_iter().zip(0..).map(|(index, k)| {
            let index = plus(self, index);
            let (place, offset) = self.spaced(start, size, index);
            let ahead = i64::from(offset) + k * lane;
            self.b.ins().iadd_imm_s(place, ahead)
        });
        Place::Apart(places.collect())
    }

    /// The elements of all lanes.
    fn elements_at(&mut self, group: &Group<'_>, elem: ScalarType, place: &Place) -> Lanes {
        match place {
            Place::Row(start, 0) => {
                let value = self.load(elem, *start, 0);
                Lanes::Many(vec![value; group.plan.width])
            }
            Place::Row(start, stride) => self.lanes_load(group, elem, *start, *stride),
            Place::Apart(places) => {
                let values = places.iter().map(|place| self.load(elem, *place, 0));
                Lanes::Many(values.collect())
            }
        }
    }

    /// Stores elements of all lanes.
    fn store_at(&mut self, group: &mut Group<'_>, elem: ScalarType, place: &Place, value: Atom) {
        match place {
            Place::Row(start, stride) => {
                self.lanes_store(group, (None, elem), (*start, *stride), value);
            }
            Place::Apart(places) => {
                let values = self.in_shape(group, Shape::Many, value);
                for (place, value) in places.iter().zip(values) {
                    self.b.ins().store(plain(), value, *place, 0);
                }
            }
        }
    }

    /// A copy of a box, of the same shape in all lanes.
    fn lanes_copy(&mut self, group: &mut Group<'_>, shape: &[Atom], dst: &Region, src: &Region) {
        let extents = self.atoms(shape);
        let [to, from] = [dst, src].map(|region| self.atoms(&region.strides));
        let zero = self.i64(0);
        self.lanes_box(group, (dst, src), &extents, (&to, &from), [zero, zero]);
    }

    /// What of it is so many elements behind the first ones.
    fn lanes_box(
        &mut self,
        group: &mut Group<'_>,
        (dst, src): (&Region, &Region),
        extents: &[Value],
        (to, from): (&[Value], &[Value]),
        behind: [Value; 2],
    ) {
        let Some((extent, extents)) = extents.split_first() else {
            let elem = self.elem(dst.buffer);
            let outside = group.lanes.clone();
            let place = self.lanes_element(group, src.buffer, src.offset, Some(behind[1]));
            let value = self.elements_at(group, elem, &place);
            let place = self.lanes_element(group, dst.buffer, dst.offset, Some(behind[0]));
            self.copy_lanes(group, elem, &place, value);
            group.lanes = outside;
            return;
        };
        let strip = if extents.is_empty() { 1024 } else { 16 };
        let first = match extents.is_empty() {
            true => self.turned_row(group, (dst, src), *extent, ([to[0], from[0]], behind)),
            false => self.i64(0),
        };
        let range = (first, *extent);
        self.range(ScalarType::I64, range, strip, &[], |emit, i, _| {
            let further = [(to[0], behind[0]), (from[0], behind[1])].map(|(stride, behind)| {
                let ahead = emit.b.ins().imul(i, stride);
                emit.b.ins().iadd(behind, ahead)
            });
            let strides = (&to[1..], &from[1..]);
            emit.lanes_box(group, (dst, src), extents, strides, further);
            vec![]
        });
    }

    /// Copies between a row of such an array and rows whose elements lie side by side, if they do, in whole vectors of these: the first
    /// element that is left.
    fn turned_row(
        &mut self,
        group: &mut Group<'_>,
        (dst, src): (&Region, &Region),
        extent: Value,
        ([to, from], behind): ([Value; 2], [Value; 2]),
    ) -> Value {
        let none = self.i64(0);
        let elem = self.elem(dst.buffer);
        let own = [dst, src].map(|region| group.plan.own.contains(&region.buffer));
        if own == [true, true] || !self.turns(group, elem) {
            return none;
        }
        let to_rows = own[1];
        let ((array, near), (rows, far)) = match to_rows {
            true => ((src, behind[1]), (dst, behind[0])),
            false => ((dst, behind[0]), (src, behind[1])),
        };
        let outside = group.lanes.clone();
        let starts = match self.lanes_element(group, rows.buffer, rows.offset, Some(far)) {
            Place::Row(_, stride) if stride == 0 || stride == elem.bytes() as i64 => None,
            Place::Row(start, stride) => {
                let places = (0..group.plan.width as i64)
                    .map(|lane| self.b.ins().iadd_imm_s(start, lane * stride));
                Some(places.collect())
            }
            Place::Apart(places) => Some(places),
        };
        let place = self.lanes_element(group, array.buffer, array.offset, Some(near));
        group.lanes = outside;
        let (Some(starts), Place::Row(columns, _)) = (starts, place) else {
            return none;
        };
        let [to, from] = [to, from].map(|step| self.b.ins().bxor_imm_u(step, 1));
        let steps = self.b.ins().bor(to, from);
        let (side, rest) = (self.b.create_block(), self.b.create_block());
        let left = self.b.append_block_param(rest, types::I64);
        let is_one = self.b.ins().icmp_imm_s(IntCC::Equal, steps, 0);
        self.b.ins().brif(is_one, side, &[], rest, &[none.into()]);
        self.b.switch_to_block(side);
        let whole = self.turned_copy(group, elem, (columns, &starts), (extent, to_rows));
        self.b.ins().jump(rest, &[whole.into()]);
        self.b.switch_to_block(rest);
        left
    }

    /// Stores values that have no name.
    fn copy_lanes(&mut self, group: &Group<'_>, elem: ScalarType, place: &Place, value: Lanes) {
        if let (Lanes::Packed(vectors), Place::Row(start, stride)) = (&value, place)
            && *stride == elem.bytes() as i64
        {
            for (i, all) in vectors.iter().enumerate() {
                let offset = group.plan.step() * i as i32;
                self.b.ins().store(plain(), *all, *start, offset);
            }
            return;
        }
        let parts = group.plan.parts;
        let values = match value {
            Lanes::Packed(vectors) => self.unpacked(&vectors, parts),
            Lanes::Many(values) => values,
            Lanes::Linear(..) | Lanes::Narrow(_) | Lanes::Mask(_) => {
                unreachable!("elements are not loaded so")
            }
        };
        for (lane, value) in values.into_iter().enumerate() {
            let (place, offset) = match place {
                Place::Row(start, stride) => (*start, (lane as i64 * stride) as i32),
                Place::Apart(places) => (places[lane], 0),
            };
            self.b.ins().store(plain(), value, place, offset);
        }
    }
}
