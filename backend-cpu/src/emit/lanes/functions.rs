//! Functions that are called with vectors: too large to be put where they are called, but made of what lanes can do, of numbers.
//!
//! ```text
//! let y, z = call f(x, 1)    ──►    room = xs.., 1..; f room; ys.., zs.. = room
//! ```
//!
//! Arguments and results are in memory of the caller, the lanes of one behind the other, so that callers and functions may have registers of
//! different widths. Code for wider registers is not linked: it reads where a function is from a place that is known before it is compiled.
//! What is done for one point there calls the same function with that point in all lanes.

use super::choose::{Finder, MOST};
use super::counts::Counts;
use super::interior::map_plan;
use super::own_rows::with_own_rows;
use super::plan::Plan;
use super::vector::{lanes_per_vector, vector};
use super::{Group, Lanes};
use crate::compile::Units;
use crate::emit::{Emit, Emitted, clif, fixed, plain, signature, unit};
use cranelift_codegen::ir::{
    InstBuilder, SigRef, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use midend::analysis::calls::calls;
use midend::fired::fired;
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Atom, Param, Program, Stm};
use midend::ir::types::{ScalarType, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The number of points that the code of a map works on at a time, if it is several, for registers of so many vectors at most.
pub(crate) fn lanes_of(
    program: &Program<Mem>,
    (kernel, asked): (&Kernel, usize),
    units: &Units,
) -> Option<usize> {
    let known = (asked, &units.tables, &units.in_lanes);
    let own = with_own_rows(kernel, &program.vars, (asked, units));
    let (kernel, vars) = match &own {
        Some(own) => (&own.kernel, &own.vars),
        None => (kernel, &program.vars),
    };
    map_plan(kernel, vars, known).map(|(plan, _)| plan.width)
}

/// The most instructions of a function for vectors of 128 bits. Its code is there once, wherever it is called.
const LARGEST: usize = 8 * MOST;

/// The functions that can be called with vectors, and what they are made of.
#[derive(Default)]
pub(crate) struct InLanes(BTreeMap<FunId, Counts>);

impl InLanes {
    /// Those among some functions.
    pub(crate) fn of(program: &Program<Mem>, functions: impl Iterator<Item = FunId>) -> Self {
        let functions: BTreeSet<FunId> = functions.collect();
        let mut found = Self::default();
        if functions.is_empty() {
            return found;
        }
        let calls = calls(program);
        // Those that are called come first.
        for fun in &calls.order {
            if !functions.contains(fun) || calls.recursive[*fun] {
                continue;
            }
            let counts = finder(program, &found, *fun)
                .and_then(|finder| finder.plan_within(LARGEST, 1).map(|_| finder.counts));
            found.0.extend(counts.map(|counts| (*fun, counts)));
        }
        found
    }

    /// Whether a function can be called with vectors.
    pub(crate) fn has(&self, fun: FunId) -> bool {
        self.0.contains_key(&fun)
    }
}

/// What is found in a function all of whose parameters differ from lane to lane, if there are only numbers that are put in vectors.
fn finder<'a>(program: &'a Program<Mem>, known: &'a InLanes, fun: FunId) -> Option<Finder<'a>> {
    let definition = &program.funs[fun];
    let mut finder = Finder::of_bodies(vec![&definition.body], &program.vars, true);
    finder.functions = Some(known);
    for param in definition.params.iter().chain(&definition.results) {
        let lanes = lanes_per_vector(number(program, param)?, true)?;
        finder.counts.fills(Some(lanes));
    }
    finder
        .varying
        .extend(definition.params.iter().map(|p| p.var));
    finder.body(&definition.body)?;
    Some(finder)
}

/// The type of a parameter that is a number.
fn number(program: &Program<Mem>, param: &Param) -> Option<ScalarType> {
    match program.vars[param.var].ty {
        Type::Scalar(ty) => Some(ty),
        Type::Buffer(_) | Type::Array(_) | Type::Acc(_) | Type::Cert => None,
    }
}

impl Finder<'_> {
    /// A call of a function, if there are vectors for that.
    pub(super) fn calls(&mut self, stm: &Stm<Mem>, fun: FunId) -> Option<()> {
        let called = self.functions.filter(|_| self.integers)?.0.get(&fun)?;
        let counts = &mut self.counts;
        stm.exp.operands(&mut |_| counts.statements += 1);
        counts.statements += stm.binds.len();
        counts.packed += called.packed;
        counts.divided[0] += called.divided[0];
        counts.steps[0] += called.steps[0];
        if counts.depth > 0 {
            counts.steps[1] += called.steps[0];
            counts.inner[0] += called.packed;
            counts.divided[1] += called.divided[0];
        }
        counts.fills(Some(called.most));
        counts.fills(Some(called.least));
        self.varying.extend(&stm.binds);
        Some(())
    }
}

/// How a unit calls functions with vectors.
#[derive(Default)]
pub(crate) struct LaneCalls {
    /// Of so many lanes.
    width: usize,
    signature: Option<SigRef>,
    /// Memory for arguments and results.
    rooms: HashMap<FunId, StackSlot>,
    /// Where the addresses of functions are, which code refers to.
    places: HashMap<FunId, Arc<AtomicU64>>,
}

impl LaneCalls {
    /// The functions that are called, with how many lanes.
    pub(crate) fn called(&self) -> impl Iterator<Item = (FunId, usize)> + '_ {
        self.places.keys().map(|fun| (*fun, self.width))
    }

    /// No calls yet, of so many lanes.
    pub(crate) fn of(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }
}

/// The unit of a function for so many lanes, for registers of so many vectors at most.
pub(crate) fn function(
    program: &Program<Mem>,
    units: &Units,
    (fun, width): (FunId, usize),
    asked: usize,
) -> Emitted {
    let definition = &program.funs[fun];
    let finder = finder(program, &units.in_lanes, fun).expect("such functions have forms");
    let plan = finder
        .plan_within(LARGEST, 1)
        .expect("such functions have plans");
    let most = finder.counts.most;
    let parts = [4, 2]
        .into_iter()
        .find(|parts| asked >= *parts && width >= parts * most);
    let plan = Plan {
        width,
        parts: parts.unwrap_or(1),
        ..plan
    };
    let bodies = [&definition.body];
    unit(
        (program, &program.vars),
        units,
        &[types::I64],
        &[],
        (&bodies, asked),
        |emit, p| {
            emit.parts = plan.parts;
            emit.in_lanes = true;
            emit.lane_calls = LaneCalls::of(width);
            let mut group = Group::of_lanes(&plan, HashMap::new());
            let params: Vec<Var> = definition.params.iter().map(|p| p.var).collect();
            let mut offset = 0;
            emit.lanes_from(&mut group, &params, p[0], &mut offset);
            emit.lanes_body(&mut group, &definition.body);
            for result in &definition.body.result {
                emit.lanes_to(&mut group, *result, p[0], &mut offset);
            }
            vec![]
        },
    )
}

impl Emit<'_, '_> {
    /// A call with vectors. Whether there is a form of the function for that.
    pub(super) fn lanes_call(
        &mut self,
        group: &mut Group<'_>,
        binds: &[Var],
        fun: FunId,
        args: &[Atom],
    ) -> bool {
        if !self.units.forms.contains_key(&(fun, group.plan.width)) {
            return false;
        }
        fired("cpu/calls-of-lanes");
        let room = self.room_of(fun);
        let room = self.b.ins().stack_addr(types::I64, room, 0);
        let mut offset = 0;
        for arg in args {
            self.lanes_to(group, *arg, room, &mut offset);
        }
        self.call_form(fun, room);
        self.lanes_from(group, binds, room, &mut offset);
        true
    }

    /// The results of a call for one point, in code for wider registers.
    pub(in crate::emit) fn call_of_one(&mut self, fun: FunId, args: &[Atom]) -> Option<Vec<Value>> {
        let width = self.lane_calls.width;
        if self.parts == 1 || !self.units.forms.contains_key(&(fun, width)) {
            return None;
        }
        let room = self.room_of(fun);
        let room = self.b.ins().stack_addr(types::I64, room, 0);
        let mut offset = 0;
        for arg in args {
            let value = self.atom(*arg);
            let ty = self.b.func.dfg.value_type(value);
            let bytes = ty.bytes() as i32;
            for _ in 0..width {
                self.b.ins().store(plain(), value, room, offset);
                offset += bytes;
            }
        }
        self.call_form(fun, room);
        let mut results = Vec::new();
        for result in &self.program.funs[fun].results {
            let ty = clif(self.elem(result.var));
            results.push(self.b.ins().load(ty, plain(), room, offset));
            offset += (width * ty.bytes() as usize) as i32;
        }
        Some(results)
    }

    /// Calls the form of a function, and fails if it does.
    fn call_form(&mut self, fun: FunId, room: Value) {
        let place = &self.units.forms[&(fun, self.lane_calls.width)].place;
        let address = Arc::as_ptr(place) as i64;
        self.lane_calls.places.insert(fun, place.clone());
        let signature = match self.lane_calls.signature {
            Some(signature) => signature,
            None => {
                let signature = signature(self.units.conv, &[types::I64], &[]);
                self.b.import_signature(signature)
            }
        };
        self.lane_calls.signature = Some(signature);
        let address = self.i64(address);
        let code = self.b.ins().load(types::I64, fixed(), address, 0);
        let worker = self.worker;
        let call = self.b.ins().call_indirect(signature, code, &[worker, room]);
        let failed = self.b.inst_results(call)[0];
        let go_on = self.b.create_block();
        let fail = self.fail;
        self.b.ins().brif(failed, fail, &[], go_on, &[]);
        self.b.switch_to_block(go_on);
    }

    /// Memory for the arguments and the results of calls of a function, one at a time.
    fn room_of(&mut self, fun: FunId) -> StackSlot {
        if let Some(room) = self.lane_calls.rooms.get(&fun) {
            return *room;
        }
        let definition = &self.program.funs[fun];
        let all = definition.params.iter().chain(&definition.results);
        let bytes: usize = all.map(|p| self.elem(p.var).bytes()).sum();
        let bytes = (bytes * self.lane_calls.width) as u32;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 6);
        let room = self.b.create_sized_stack_slot(data);
        self.lane_calls.rooms.insert(fun, room);
        room
    }

    /// Puts the lanes of a number into memory.
    fn lanes_to(&mut self, group: &mut Group<'_>, atom: Atom, room: Value, offset: &mut i32) {
        for all in self.packed(group, atom) {
            self.b.ins().store(plain(), all, room, *offset);
            *offset += group.plan.step();
        }
    }

    /// Takes the lanes of variables from memory.
    fn lanes_from(&mut self, group: &mut Group<'_>, vars: &[Var], room: Value, offset: &mut i32) {
        for var in vars {
            let elem = self.elem(*var);
            let count = group.plan.vectors(elem).expect("there are only numbers");
            let mut vectors = Vec::new();
            for _ in 0..count {
                vectors.push(self.b.ins().load(vector(elem), plain(), room, *offset));
                *offset += group.plan.step();
            }
            group.lanes.insert(*var, Lanes::Packed(vectors));
        }
    }
}
