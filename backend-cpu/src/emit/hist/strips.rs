//! Histograms of points that have much to do before it is known which bucket they go to: groups of points are worked on in lanes, as those
//! of a map, what they yield goes to memory that is near, and from there to the buckets, one after the other.
//!
//! ```text
//! for each row i: for each column j:         for each row i: for each group of columns from j on:
//!   b = f x[i, j]                      ──►     near = f x[i, j..]
//!   bucket[b] += 1                             for each k of the group: bucket[near[k]] += 1
//! ```
//!
//! Where several tables are given, points of a group go to them in turn. The last group of a row ends where the row ends, and those of its
//! points that are done are left out.

use super::Limits;
use super::compared::Gathered;
use crate::emit::counters::widen;
use crate::emit::divided::divided;
use crate::emit::lanes::{Interior, LaneCalls, Plan};
use crate::emit::{Emit, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::{SpanId, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem, MemHist};
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm, VarInfo, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::{all_stms, body_binders, free_in_body, free_in_stm};
use std::collections::BTreeSet;

/// From so many operations on, without a loop, a point has much to do.
const MUCH: usize = 16;
/// The most lanes of a group.
const WIDEST: usize = 64;

/// Points as those of a map.
pub(in crate::emit) struct Strips {
    /// The variables of the program, and some more.
    pub(in crate::emit) vars: Vars,
    /// What puts what a group yields where it is near.
    pub(in crate::emit) kernel: Kernel,
    /// What a point does alone.
    pub(in crate::emit) body: Body<Mem>,
    pub(super) results: Vec<Source>,
    /// The first column of a group.
    origin: Var,
    /// Whether rows were found by dividing.
    divided: bool,
}

/// Where what a point yields comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Given(Atom),
    /// Memory that is near, and whether its integers are 32 bits of 64.
    Near(Var, bool),
}

/// Whether points have much to do, so that their histogram is worked on in this way, and do nothing that may fail.
pub(in crate::emit) fn is_long(kernel: &Kernel) -> bool {
    let (mut plain, mut loops, mut count) = (true, false, 0);
    all_stms(&kernel.body, &mut |stm| match &stm.exp {
        Exp::Atom(_) | Exp::If { .. } | Exp::Op(Mem::Load { .. }) => {}
        Exp::Scalar(..) => count += 1,
        Exp::Loop { .. } => loops = true,
        Exp::Assert { .. } | Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => plain = false,
    });
    let yields = !kernel.body.result.is_empty() && !kernel.space.is_empty();
    yields && plain && !kernel.is_ragged() && (loops || count >= MUCH)
}

/// The points of a histogram as those of a map, if they have much to do, or do nothing but count in buckets of which there may be few.
pub(in crate::emit) fn strips(vars: &Vars, kernel: &Kernel) -> Option<Strips> {
    let KernelKind::Hist(hists) = &kernel.kind else {
        return None;
    };
    let [hist] = &hists[..] else { return None };
    if !is_long(kernel) && !super::compared::may_count(kernel, hist) {
        return None;
    }
    let span = kernel.body.stms.first()?.span;
    let mut cx = Split {
        vars: vars.clone(),
        space: kernel.space.clone(),
        body: kernel.body.clone(),
        span,
    };
    let mut divides = false;
    while cx.split(kernel) {
        divides = true;
    }
    let Split {
        mut vars,
        space,
        mut body,
        ..
    } = cx;
    widen(&mut vars, &mut body);
    let (column, _) = *space.last()?;
    let mut own: BTreeSet<Var> = space.iter().map(|(v, _)| *v).collect();
    body_binders(&body, &mut |v| {
        own.insert(v);
    });
    let scalar = |vars: &mut Vars, name: &str| {
        let (name, ty) = (name.into(), Type::Scalar(ScalarType::I64));
        vars.push(VarInfo { name, ty })
    };
    let [origin, place] = ["origin", "place"].map(|name| scalar(&mut vars, name));
    let mut made = body.clone();
    let op = ScalarOp::Bin(BinOp::Sub, ScalarType::I64);
    let distance = Exp::Scalar(op, vec![column.into(), origin.into()]);
    made.stms.push(stm(vec![place], distance, span));
    let mut results = Vec::new();
    for atom in std::mem::take(&mut made.result) {
        let Some(v) = atom.as_var().filter(|v| own.contains(v)) else {
            results.push(Source::Given(atom));
            continue;
        };
        let narrow = narrow(&body, v);
        let value = narrow.unwrap_or(atom);
        let elem = match narrow {
            Some(_) => ScalarType::I32,
            None => vars[v].ty.elem()?,
        };
        let (name, ty) = ("near".into(), Type::Buffer(elem));
        let buffer = vars.push(VarInfo { name, ty });
        let index = Atom::Var(place);
        let store = Mem::Store {
            buffer,
            index,
            value,
        };
        made.stms.push(stm(Vec::new(), Exp::Op(store), span));
        results.push(Source::Near(buffer, narrow.is_some()));
    }
    drop_unused(&vars, &mut made);
    let kernel = Kernel {
        space,
        body: made,
        kind: KernelKind::Map,
        ..kernel.clone()
    };
    Some(Strips {
        vars,
        kernel,
        body,
        results,
        origin,
        divided: divides,
    })
}

impl Strips {
    /// Whether points outside have no bucket.
    fn leaves_out(&self, inside: &Interior, hist: &MemHist) -> bool {
        let kernel = Kernel {
            body: self.body.clone(),
            ..self.kernel.clone()
        };
        let bucket = inside.outside(&kernel).map(Atom::Const);
        let bucket = bucket.and_then(Atom::as_i64);
        let buckets = hist.buckets.as_i64().unwrap_or(i64::MAX);
        bucket.is_some_and(|bucket| !(0..buckets).contains(&bucket))
    }
}

fn stm(binds: Vec<Var>, exp: Exp<Mem>, span: SpanId) -> Stm<Mem> {
    Stm {
        binds,
        certs: Vec::new(),
        exp,
        span,
    }
}

/// Takes away conversions that nothing uses.
fn drop_unused(vars: &Vars, body: &mut Body<Mem>) {
    let used: BTreeSet<Var> = body
        .stms
        .iter()
        .flat_map(|stm| free_in_stm(vars, stm))
        .collect();
    body.stms.retain(|stm| {
        !matches!(stm.exp, Exp::Scalar(ScalarOp::Convert(..), _))
            || stm.binds.iter().any(|v| used.contains(v))
    });
}

/// The number of 32 bits that a number of 64 bits is.
fn narrow(body: &Body<Mem>, v: Var) -> Option<Atom> {
    let stm = body.stms.iter().find(|stm| stm.binds == [v])?;
    match &stm.exp {
        Exp::Scalar(ScalarOp::Convert(ScalarType::I32, ScalarType::I64), args) => Some(args[0]),
        Exp::Scalar(..)
        | Exp::Atom(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

/// A space that is divided.
struct Split {
    vars: Vars,
    space: Vec<(Var, Extent)>,
    body: Body<Mem>,
    span: SpanId,
}

impl Split {
    /// Makes two dimensions of the outermost one, if points find those by dividing.
    fn split(&mut self, kernel: &Kernel) -> bool {
        let (number, _) = self.space[0];
        let part = Kernel {
            space: vec![self.space[0]],
            body: self.body.clone(),
            ..kernel.clone()
        };
        let Some(rows) = divided(&part).filter(|rows| !self.is_inside(rows.length)) else {
            return false;
        };
        self.body = rows.body;
        let all = Extent::Regular(Atom::Const(Const::I64(i64::MAX)));
        let column = Extent::Regular(rows.length);
        self.space
            .splice(..1, [(rows.row, all), (rows.column, column)]);
        if free_in_body(&self.vars, &self.body).contains(&number) {
            let (name, ty) = ("first".into(), Type::Scalar(ScalarType::I64));
            let first = self.vars.push(VarInfo { name, ty });
            let int = |op, args: [Atom; 2]| {
                Exp::Scalar(ScalarOp::Bin(op, ScalarType::I64), args.to_vec())
            };
            let ahead = int(BinOp::Mul, [rows.row.into(), rows.length]);
            let sum = int(BinOp::Add, [first.into(), rows.column.into()]);
            let both = [(first, ahead), (number, sum)];
            let both = both.map(|(v, exp)| stm(vec![v], exp, self.span));
            self.body.stms.splice(..0, both);
        }
        true
    }

    /// Whether something is only known at points.
    fn is_inside(&self, atom: Atom) -> bool {
        self.space.iter().any(|(v, _)| atom == Atom::Var(*v))
    }
}

/// Where values go.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) hist: &'a MemHist,
    pub(super) limits: Limits,
    pub(super) tables: &'a [Vec<Value>],
    /// What is gathered of few buckets.
    gathered: Option<Gathered>,
}

impl Emit<'_, '_> {
    /// Parameters as those of a histogram.
    pub(in crate::emit) fn hist_in_strips(
        &mut self,
        (kernel, hist): (&Kernel, &MemHist),
        (job, plan, interior): (&Strips, &Plan, Option<&Interior>),
        p: &[Value],
    ) {
        fired("cpu/histogram-in-lanes");
        self.parts = plan.parts;
        self.in_lanes = true;
        self.lane_calls = LaneCalls::of(plan.width);
        let dests = hist.dests.len();
        let turns = super::tables::tables(kernel, std::slice::from_ref(hist));
        let places = self.places(p[3], turns * dests);
        let tables: Vec<Vec<Value>> = places.chunks(dests).map(<[Value]>::to_vec).collect();
        let target = Target {
            hist,
            limits: self.limits(hist, None),
            tables: &tables,
            gathered: self.few_buckets(kernel, job, hist),
        };
        for source in &job.results {
            if let (Source::Near(buffer, _), None) = (source, target.gathered) {
                let bytes = self.elem(*buffer).bytes() * plan.width;
                let near = self.aligned_slot(bytes as i64);
                self.bind(*buffer, near);
            }
        }
        let Some(space) = self.extents(&job.kernel.space) else {
            return;
        };
        let rows = |emit: &mut Self| {
            emit.rows(&space, (p[1], p[2]), |emit, first, last, _| {
                emit.row_in_strips((job, plan, interior), (first, last), target);
            });
            if let Some(gathered) = target.gathered {
                emit.count_rest(gathered, target);
            }
        };
        if !job.divided {
            return rows(self);
        }
        let [by_row, one_by_one, done] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(one_by_one);
        let mut some = self.b.ins().iconst(types::I8, 1);
        for (_, length) in &space[1..] {
            let greater = IntCC::SignedGreaterThan;
            let any = self.b.ins().icmp_imm_s(greater, *length, 0);
            some = self.b.ins().band(some, any);
        }
        self.b.ins().brif(some, by_row, &[], one_by_one, &[]);
        self.b.switch_to_block(by_row);
        rows(self);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(one_by_one);
        let strip = crate::emit::control::strip(&kernel.body);
        self.all_points(kernel, &p[1..3], strip, |emit| {
            emit.point_alone(&kernel.body, target);
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// A row: what is before its inside one by one, groups as long as there are enough points for one, and what is left.
    fn row_in_strips(
        &mut self,
        (job, plan, interior): (&Strips, &Plan, Option<&Interior>),
        (first, last): (Value, Value),
        target: Target<'_>,
    ) {
        let &(column, _) = job.kernel.space.last().expect("a space has points");
        let strip = crate::emit::control::strip(&job.body);
        let (low, high) = match interior {
            Some(interior) => self.inside(interior, (first, last)),
            None => (first, last),
        };
        let body = interior.map_or(&job.kernel.body, |interior| &interior.kernel.body);
        let high = self.b.ins().smax(high, low);
        let (first, last) = match interior.filter(|inside| job.leaves_out(inside, target.hist)) {
            Some(interior) => self.not_outside(interior, (first, last), (low, high)),
            None => (first, last),
        };
        let width = plan.width as i64;
        let [zero, two] = [0, 2].map(|n| self.i64(n));
        let length = self.b.ins().isub(high, low);
        let enough = IntCC::SignedGreaterThanOrEqual;
        let enough = self.b.ins().icmp_imm_s(enough, length, width);
        let rounded = self.b.ins().iadd_imm_s(length, width - 1);
        let covered = self.b.ins().band_imm_s(rounded, -width);
        let covered = self.b.ins().select(enough, covered, zero);
        let left = self.b.ins().select(enough, high, low);
        let most = self.b.ins().iadd_imm_s(high, -width);
        let parts = [first, low, covered];
        self.few((zero, two), &parts, |emit, _, parts| {
            let alone = (parts[0], parts[1]);
            emit.range(ScalarType::I64, alone, strip, &[], |emit, i, _| {
                emit.bind(column, i);
                emit.point_alone(&job.body, target);
                vec![]
            });
            let end = emit.b.ins().iadd(low, parts[2]);
            let range = (ScalarType::I64, (low, end));
            emit.range_by(width, range, strip, &[], |emit, start, _| {
                let at = emit.b.ins().smin(start, most);
                emit.bind(job.origin, at);
                let done = emit.b.ins().isub(start, at);
                match target.gathered {
                    Some(gathered) => emit.gather((gathered, plan), done, target, |emit| {
                        emit.group(plan, body, column, at);
                    }),
                    None => {
                        emit.group(plan, body, column, at);
                        emit.update_group((job, plan), done, target);
                    }
                }
                vec![]
            });
            vec![left, last, zero]
        });
    }

    /// A point by itself.
    fn point_alone(&mut self, body: &Body<Mem>, target: Target<'_>) {
        let results = self.body(body);
        let Target {
            hist,
            limits,
            tables,
            ..
        } = target;
        self.bucket(hist, results[0], limits, &tables[0], &results[1..]);
    }

    /// Puts what a group yields into buckets, but for so many points that are done.
    fn update_group(&mut self, (job, plan): (&Strips, &Plan), done: Value, target: Target<'_>) {
        let Target {
            hist,
            limits,
            tables,
            ..
        } = target;
        let [all, some, next] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(done, some, &[], all, &[]);
        self.b.switch_to_block(all);
        for lane in 0..plan.width {
            let values = self.yielded(job, None, lane);
            let table = &tables[lane % tables.len()];
            self.bucket(hist, values[0], limits, table, &values[1..]);
        }
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(some);
        let width = self.i64(plan.width as i64);
        self.few((done, width), &[], |emit, lane, _| {
            let values = emit.yielded(job, Some(lane), 0);
            emit.bucket(hist, values[0], limits, &tables[0], &values[1..]);
            vec![]
        });
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// What a lane yields.
    fn yielded(&mut self, job: &Strips, lane: Option<Value>, constant: usize) -> Vec<Value> {
        let mut values = Vec::new();
        for source in &job.results {
            values.push(match *source {
                Source::Given(atom) => self.atom(atom),
                Source::Near(buffer, narrow) => {
                    let elem = self.elem(buffer);
                    let mut place = self.var(buffer);
                    if let Some(lane) = lane {
                        let ahead = self.b.ins().imul_imm_s(lane, elem.bytes() as i64);
                        place = self.b.ins().iadd(place, ahead);
                    }
                    let offset = (constant * elem.bytes()) as i32;
                    let value = self.b.ins().load(clif(elem), plain(), place, offset);
                    match narrow {
                        true => self.b.ins().sextend(types::I64, value),
                        false => value,
                    }
                }
            });
        }
        values
    }
}

/// Whether so many lanes are few enough to put what they yield into buckets one after the other.
pub(in crate::emit) const fn fits(plan: &Plan) -> bool {
    plan.width <= WIDEST
}
