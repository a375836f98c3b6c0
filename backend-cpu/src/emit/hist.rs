//! Histograms: points whose values are combined into buckets, and the merging of copies.

pub(super) mod compared;
mod rows;
mod soon;
pub(super) mod strips;
pub(crate) mod tables;
mod turn;

use super::divided::{Divided, divided, of_rows};
use super::lanes::buckets;
use super::{Emit, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Opcode, Value};
use midend::ir::mem::{Kernel, Mem, MemHist};
use midend::ir::syntax::Body;
use midend::ir::types::ScalarType;

/// Which buckets are touched: so many from the first, or from none.
#[derive(Clone, Copy)]
struct Limits {
    first: Option<Value>,
    count: Value,
}

impl Emit<'_, '_> {
    /// Parameters: slots, range of points (or piece of a ragged space), table of destinations (those of all histograms in order).
    /// With a window, number `w` of so many, only that part of the buckets of each histogram is touched.
    pub(super) fn hist(
        &mut self,
        kernel: &Kernel,
        hists: &[MemHist],
        p: &[Value],
        window: Option<(Value, Value)>,
    ) {
        let strip = super::control::strip(&kernel.body);
        let table = *p.last().expect("the table is the last parameter");
        let in_turn = tables::tables(kernel, hists) > 1 && !strips::is_long(kernel);
        if window.is_none() && in_turn {
            let places = self.places(table, tables::TABLES);
            return self.hist_in_turn(kernel, &hists[0], &places, (p[1], p[2]));
        }
        let places = self.places(table, hists.iter().map(|h| h.dests.len()).sum());
        if kernel.body.result.is_empty() {
            // The body combines; what it sees of the destinations is what this unit is given.
            let dests = hists.iter().flat_map(|h| &h.dests);
            for (&dest, &place) in dests.zip(&places) {
                self.bind(dest, place);
            }
            let body = |emit: &mut Self, body: &Body<Mem>| {
                emit.scoped(body, |emit| {
                    emit.body(body);
                });
            };
            let together = None::<(i64, fn(&mut Self, Value, Value))>;
            let rows = divided(kernel);
            let rest = None::<fn(&mut Self, (Value, Value), Value)>;
            let points = (kernel, rows.as_ref());
            return self.divided_points(points, &p[1..], strip, body, (together, rest));
        }
        let limits: Vec<Limits> = hists.iter().map(|h| self.limits(h, window)).collect();
        let body = |emit: &mut Self, body: &Body<Mem>| {
            emit.scoped(body, |emit| {
                let results = emit.body(body);
                let (indices, mut values) = results.split_at(hists.len());
                let mut places = places.as_slice();
                for ((hist, index), limits) in hists.iter().zip(indices).zip(&limits) {
                    let (mine, others) = values.split_at(hist.dests.len());
                    let (targets, further) = places.split_at(hist.dests.len());
                    (values, places) = (others, further);
                    emit.bucket(hist, *index, *limits, targets, mine);
                }
            });
        };
        let vars = self.vars;
        let gains = |rows: &Divided| {
            let job = buckets(vars, (kernel, hists), rows, self.asked);
            job.is_some() || rows::row(vars, hists, rows).is_some()
        };
        let rows = divided(kernel).or_else(|| of_rows(kernel).filter(gains));
        let job = rows
            .as_ref()
            .and_then(|rows| buckets(vars, (kernel, hists), rows, self.asked));
        self.parts = job.as_ref().map_or(1, |job| job.plan.parts);
        self.in_lanes = job.is_some();
        let (limits, places, rows, body) = (&limits, &places, rows.as_ref(), &body);
        let together = job.as_ref().map(|job| {
            let together = move |emit: &mut Self, number: Value, column: Value| {
                let limits = (limits[0].first, limits[0].count);
                let job = (job, &hists[0]);
                emit.group_of_buckets(job, (number, column), limits, places, |emit, range| {
                    let base = emit.b.ins().isub(number, column);
                    emit.few(range, &[], |emit, i, _| {
                        if let Some(rows) = rows {
                            emit.divided_point((rows, base), i, body);
                        }
                        vec![]
                    });
                });
            };
            (job.plan.width as i64, together)
        });
        let target = rows::Target {
            hist: &hists[0],
            limits: limits[0],
            places,
        };
        let row = rows.and_then(|rows| Some((rows, rows::row(vars, hists, rows)?)));
        let rest = row.as_ref().map(|(rows, row)| {
            move |emit: &mut Self, range: (Value, Value), base: Value| {
                emit.hist_row((row, rows), (range, base), target, |emit, range| {
                    emit.range(ScalarType::I64, range, strip, &[], |emit, i, _| {
                        emit.divided_point((rows, base), i, body);
                        vec![]
                    });
                });
            }
        });
        let all = |emit: &mut Self| {
            emit.divided_points((kernel, rows), &p[1..], strip, body, (together, rest));
        };
        match &row {
            Some((rows, row)) if kernel.space.len() == 2 => {
                let most = job.as_ref().map_or(rows::FEW, |job| job.plan.width as i64);
                let point = |emit: &mut Self| body(emit, &kernel.body);
                let summed = turn::summed(kernel, &hists[0]).filter(|_| window.is_none());
                let summed = summed.map(|elem| {
                    let parts = self.places(table, places.len() + 1);
                    (elem, parts[places.len()])
                });
                let target = (target, summed);
                self.hist_short_rows((row, rows, most), (p[1], p[2]), target, point, all);
            }
            Some(_) | None => all(self),
        }
    }

    /// The buckets in a window, or all.
    fn limits(&mut self, hist: &MemHist, window: Option<(Value, Value)>) -> Limits {
        let count = self.atom(hist.buckets);
        let Some((which, parts)) = window else {
            return Limits { first: None, count };
        };
        let cut = |emit: &mut Self, which: Value| {
            let product = emit.b.ins().imul(count, which);
            emit.b.ins().udiv(product, parts)
        };
        let first = cut(self, which);
        let next = self.b.ins().iadd_imm_s(which, 1);
        let end = cut(self, next);
        let count = self.b.ins().isub(end, first);
        let first = Some(first);
        Limits { first, count }
    }

    /// Combines values into one bucket, if it exists.
    fn bucket(
        &mut self,
        hist: &MemHist,
        index: Value,
        limits: Limits,
        places: &[Value],
        values: &[Value],
    ) {
        if limits.first.is_none() && self.is_below(index, limits.count) {
            return self.update(hist, index, places, |_| values.to_vec());
        }
        let (inside, done) = (self.b.create_block(), self.b.create_block());
        let ahead = match limits.first {
            Some(first) => self.b.ins().isub(index, first),
            None => index,
        };
        let less = IntCC::UnsignedLessThan;
        let exists = self.b.ins().icmp(less, ahead, limits.count);
        self.b.ins().brif(exists, inside, &[], done, &[]);
        self.b.switch_to_block(inside);
        self.update(hist, index, places, |_| values.to_vec());
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Whether an index is in range because its type before it was widened holds nothing larger.
    fn is_below(&self, index: Value, buckets: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let definition = dfg.value_def(index).inst();
        let bits = match definition.map(|inst| dfg.insts[inst].opcode()) {
            Some(Opcode::Uload8) => 8,
            Some(Opcode::Uload16) => 16,
            Some(Opcode::Uextend) => self
                .operand_of(Opcode::Uextend, index)
                .map_or(64, |narrow| dfg.value_type(narrow).bits()),
            Some(_) | None => 64,
        };
        bits < 63 && self.known(buckets).is_some_and(|n| 1 << bits <= n)
    }

    /// Combines what is at an index with further values.
    fn update(
        &mut self,
        hist: &MemHist,
        index: Value,
        places: &[Value],
        values: impl FnOnce(&mut Self) -> Vec<Value>,
    ) {
        let tys = super::kernel::components(self.vars, std::slice::from_ref(&hist.op));
        let targets: Vec<Value> = places
            .iter()
            .zip(&tys)
            .map(|(place, ty)| self.element(*place, *ty, index))
            .collect();
        let old: Vec<Value> = targets
            .iter()
            .zip(&tys)
            .map(|(target, ty)| self.b.ins().load(clif(*ty), plain(), *target, 0))
            .collect();
        let values = values(self);
        let new = self.operate(std::slice::from_ref(&hist.op), &old, &values);
        for (value, target) in new.into_iter().zip(targets) {
            self.b.ins().store(plain(), value, target, 0);
        }
    }

    /// Parameters: slots, range of buckets, table of destinations, table of sources (of one histogram).
    pub(super) fn merge(&mut self, hists: &[MemHist], which: usize, p: &[Value]) {
        let hist = &hists[which];
        let tys = super::kernel::components(self.vars, std::slice::from_ref(&hist.op));
        let (to, from) = (self.places(p[3], tys.len()), self.places(p[4], tys.len()));
        self.range(ScalarType::I64, (p[1], p[2]), 1024, &[], |emit, i, _| {
            emit.update(hist, i, &to, |emit| {
                from.iter()
                    .zip(&tys)
                    .map(|(place, ty)| {
                        let source = emit.element(*place, *ty, i);
                        emit.b.ins().load(clif(*ty), plain(), source, 0)
                    })
                    .collect()
            });
            vec![]
        });
    }
}
