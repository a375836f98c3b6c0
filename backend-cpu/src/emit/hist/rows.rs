//! Histograms of rows whose values go to buckets side by side, for what is left of a row where groups of lanes are too large: what is the same
//! for a whole row is computed once, and if all of its buckets are there, nothing is checked for each of its points.
//!
//! ```text
//! for each row i: for each column j:         for each row i:
//!   b = c[i] * m + j                   ──►     b = c[i] * m
//!   if b < n: bucket[b] += x[i, j]             if b + m <= n: for each column j: bucket[b + j] += x[i, j]
//!                                              else as it is
//! ```

use super::Limits;
use super::soon::{Soon, soon};
use crate::emit::Emit;
use crate::emit::divided::Divided;
use crate::emit::lanes::{conditions, scalar};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::{Mem, MemHist};
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::{all_stms, free_in_stm};
use std::collections::BTreeSet;

/// Rows of so many columns are short: nobody waits long if they are not interrupted.
pub(super) const SHORT: i64 = 1024;
/// Rows of fewer columns are gone through in a loop of their own, unless lanes say how many these are.
pub(super) const FEW: i64 = 16;
/// Lengths of rows for which there is code without a loop over columns: places, colours, and what else has as many numbers.
const KNOWN: [i64; 3] = [2, 3, 4];
/// The most statements of a row and a point of which there is such code.
const SMALL: usize = 16;

/// A row of points.
pub(super) struct Row {
    /// What is the same for all points of it.
    early: Vec<Stm<Mem>>,
    /// What must hold for any of the buckets to be there; the same for all points.
    conds: Vec<Atom>,
    /// The first bucket, and what it is computed by for the first point.
    index: Atom,
    first: Vec<Stm<Mem>>,
    /// The values of a point, and what they are computed by.
    pub(super) values: Vec<Atom>,
    pub(super) point: Vec<Stm<Mem>>,
    /// Whether each of the values is an element, and those of the columns of a row lie side by side.
    pub(super) beside: bool,
}

/// How rows are worked on, if their buckets lie side by side and nothing but loads and arithmetic is done.
pub(super) fn row(vars: &Vars, hists: &[MemHist], rows: &Divided) -> Option<Row> {
    let ([_], Some((bucket, values))) = (hists, rows.body.result.split_first()) else {
        return None;
    };
    let (mut plain, mut checks) = (true, false);
    all_stms(&rows.body, &mut |stm| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::If { .. } | Exp::Op(Mem::Load { .. }) => {}
        Exp::Assert { .. } => checks = true,
        Exp::Op(_) | Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } => plain = false,
    });
    if !plain {
        return None;
    }
    let mut own = BTreeSet::from([rows.number, rows.column]);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for stm in &rows.body.stms {
        if free_in_stm(vars, stm).iter().any(|v| own.contains(v)) {
            own.extend(&stm.binds);
            late.push(stm.clone());
        } else {
            early.push(stm.clone());
        }
    }
    // Which check fails first must not change.
    let is_check = |stm: &Stm<Mem>| matches!(stm.exp, Exp::Assert { .. } | Exp::If { .. });
    if checks && late.iter().any(is_check) {
        return None;
    }
    let mut conds = Vec::new();
    let index = match scalar(&rows.body, *bucket) {
        Some((ScalarOp::Select(ScalarType::I64), [cond, index, Atom::Const(Const::I64(none))]))
            if *none < 0 =>
        {
            conditions(rows, *cond, &mut conds);
            *index
        }
        Some(_) | None => *bucket,
    };
    let is_own = |atom: &Atom| atom.as_var().is_some_and(|v| own.contains(&v));
    let counts = |v| rows.number == v || rows.column == v;
    let grows = |index| grows(&rows.body, index, &counts, &is_own);
    let fits = grows(index) && !conds.iter().any(is_own) && !early.is_empty();
    fits.then(|| Row {
        first: needed(vars, &late, &[index]),
        point: needed(vars, &late, values),
        early,
        conds,
        index,
        beside: values.iter().all(|value| {
            let made = |stm: &&Stm<Mem>| value.as_var().is_some_and(|v| stm.binds[..] == [v]);
            match rows.body.stms.iter().find(made).map(|stm| &stm.exp) {
                Some(Exp::Op(Mem::Load { index, .. })) => grows(*index),
                Some(_) | None => false,
            }
        }),
        values: values.to_vec(),
    })
}

/// Whether a number grows by one from point to point.
fn grows(
    body: &Body<Mem>,
    atom: Atom,
    counts: &dyn Fn(Var) -> bool,
    own: &dyn Fn(&Atom) -> bool,
) -> bool {
    if atom.as_var().is_some_and(counts) {
        return true;
    }
    match scalar(body, atom) {
        Some((ScalarOp::Bin(BinOp::Add, ScalarType::I64), [a, b])) => {
            (!own(b) && grows(body, *a, counts, own)) || (!own(a) && grows(body, *b, counts, own))
        }
        Some((ScalarOp::Bin(BinOp::Sub, ScalarType::I64), [a, b])) => {
            !own(b) && grows(body, *a, counts, own)
        }
        Some(_) | None => false,
    }
}

/// Those of the statements that something is computed by.
fn needed(vars: &Vars, stms: &[Stm<Mem>], of: &[Atom]) -> Vec<Stm<Mem>> {
    let mut wanted: BTreeSet<Var> = of.iter().filter_map(|atom| atom.as_var()).collect();
    let mut found = Vec::new();
    for stm in stms.iter().rev() {
        if stm.binds.iter().any(|v| wanted.contains(v)) {
            wanted.extend(free_in_stm(vars, stm));
            wanted.extend(&stm.certs);
            found.push(stm.clone());
        }
    }
    found.reverse();
    found
}

/// Where values go: which buckets of a histogram there are, and where they lie.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) hist: &'a MemHist,
    pub(super) limits: Limits,
    pub(super) places: &'a [Value],
}

impl Emit<'_, '_> {
    /// Some columns of a row, whose numbers are greater by `base`. Where some of the buckets are not there, the columns are left to `alone`.
    pub(super) fn hist_row(
        &mut self,
        (row, rows): (&Row, &Divided),
        ((first, last), base): ((Value, Value), Value),
        target: Target<'_>,
        alone: impl FnOnce(&mut Self, (Value, Value)),
    ) {
        fired("cpu/histogram-by-rows");
        let [some, done] = [(); 2].map(|()| self.b.create_block());
        let any = self.b.ins().icmp(IntCC::SignedLessThan, first, last);
        self.b.ins().brif(any, some, &[], done, &[]);
        self.b.switch_to_block(some);
        let columns = ((first, last), base);
        self.some_columns((row, rows), columns, target, alone, |emit, point| {
            let [short, long, done] = [(); 3].map(|()| emit.b.create_block());
            let length = emit.b.ins().isub(last, first);
            let few = IntCC::SignedLessThan;
            let is_short = emit.b.ins().icmp_imm_s(few, length, SHORT);
            emit.b.ins().brif(is_short, short, &[], long, &[]);
            emit.b.switch_to_block(short);
            emit.few((first, last), &[], point);
            emit.b.ins().jump(done, &[]);
            emit.b.switch_to_block(long);
            emit.range(ScalarType::I64, (first, last), SHORT, &[], point);
            emit.b.ins().jump(done, &[]);
            emit.b.switch_to_block(done);
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The same for columns of which there is one at least, by a loop of the caller.
    fn some_columns(
        &mut self,
        (row, rows): (&Row, &Divided),
        ((first, last), base): ((Value, Value), Value),
        target: Target<'_>,
        alone: impl FnOnce(&mut Self, (Value, Value)),
        each: impl FnOnce(&mut Self, &dyn Fn(&mut Self, Value, &[Value]) -> Vec<Value>),
    ) {
        let columns = ((first, last), base);
        self.checked_columns((row, rows), columns, target, alone, |emit, bucket| {
            let behind = emit.b.ins().isub(bucket, first);
            each(emit, &|emit, column, _| {
                emit.column(rows, column, base);
                for stm in &row.point {
                    emit.stm(stm);
                }
                let index = emit.b.ins().iadd(behind, column);
                let values = |emit: &mut Self| emit.atoms(&row.values);
                emit.update(target.hist, index, target.places, values);
                vec![]
            });
        });
    }

    /// The same, all of them by what is given their first bucket.
    pub(super) fn checked_columns(
        &mut self,
        (row, rows): (&Row, &Divided),
        ((first, last), base): ((Value, Value), Value),
        Target { limits, .. }: Target<'_>,
        alone: impl FnOnce(&mut Self, (Value, Value)),
        all: impl FnOnce(&mut Self, Value),
    ) {
        self.column(rows, first, base);
        for stm in row.early.iter().chain(&row.first) {
            self.stm(stm);
        }
        let bucket = self.atom(row.index);
        let ahead = match limits.first {
            Some(first) => self.b.ins().isub(bucket, first),
            None => bucket,
        };
        // What all of the columns may be ahead by: nothing where there are fewer buckets than columns.
        let length = self.b.ins().isub(last, first);
        let left = self.b.ins().isub(limits.count, length);
        let left = self.b.ins().iadd_imm_s(left, 1);
        let zero = self.i64(0);
        let left = self.b.ins().smax(left, zero);
        let less = IntCC::UnsignedLessThan;
        let mut exist = vec![self.b.ins().icmp(less, ahead, left)];
        exist.extend(row.conds.iter().map(|cond| self.atom(*cond)));
        let [together, apart, done] = [(); 3].map(|()| self.b.create_block());
        // Each has a branch of its own: all hold, as a rule, and so what follows does not wait for them.
        for exists in exist {
            let further = self.b.create_block();
            self.b.ins().brif(exists, further, &[], apart, &[]);
            self.b.switch_to_block(further);
        }
        self.b.ins().jump(together, &[]);
        self.b.switch_to_block(together);
        all(self, bucket);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(apart);
        alone(self, (first, last));
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// A range of points of rows of two dimensions, if these have fewer columns than `most`: those in whole rows row by row, others, as where
    /// buckets are not there, by `point`. Longer rows are left to `others`.
    pub(super) fn hist_short_rows(
        &mut self,
        (row, rows, most): (&Row, &Divided, i64),
        (low, high): (Value, Value),
        (target, summed): (Target<'_>, Option<(ScalarType, Value)>),
        point: impl Fn(&mut Self),
        others: impl FnOnce(&mut Self),
    ) {
        let [short, long, done] = [(); 3].map(|()| self.b.create_block());
        let length = self.atom(rows.length);
        let less = IntCC::UnsignedLessThan;
        let ahead = self.b.ins().iadd_imm_s(length, -1);
        let is_short = self.b.ins().icmp_imm_u(less, ahead, most - 1);
        self.b.ins().brif(is_short, short, &[], long, &[]);
        self.b.switch_to_block(long);
        others(self);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(short);
        let begin = self.b.ins().iadd(low, ahead);
        let begin = self.b.ins().udiv(begin, length);
        let end = self.b.ins().udiv(high, length);
        let head = self.b.ins().imul(begin, length);
        let head = self.b.ins().smin(head, high);
        let tail = self.b.ins().imul(end, length);
        let tail = self.b.ins().smax(tail, head);
        let (zero, two) = (self.i64(0), self.i64(2));
        // Points that are done one by one, and the row at which those behind them end: first before whole rows, then after them.
        self.few((zero, two), &[low, head, end], |emit, _, parts| {
            emit.few((parts[0], parts[1]), &[], |emit, k, _| {
                let i = emit.b.ins().udiv(k, length);
                let j = emit.b.ins().urem(k, length);
                emit.bind_all(&[rows.row, rows.column], &[i, j]);
                point(emit);
                vec![]
            });
            let whole = (begin, parts[2]);
            emit.whole_rows((row, rows), whole, (target, summed), &point);
            vec![tail, high, begin]
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// A range of whole rows of few columns: by code for just so many, if these are of a known length.
    fn whole_rows(
        &mut self,
        (row, rows): (&Row, &Divided),
        whole: (Value, Value),
        (target, summed): (Target<'_>, Option<(ScalarType, Value)>),
        point: &impl Fn(&mut Self),
    ) {
        let done = self.b.create_block();
        let small = row.early.len() + row.first.len() + row.point.len() <= SMALL;
        if let Some(length) = rows.length.as_var().filter(|_| small) {
            fired("cpu/histogram-by-rows-of-known-length");
            let any = self.atom(rows.length);
            let turn = summed.map(|summed| self.room_of_tables(summed));
            for known in KNOWN {
                let [just, others] = [(); 2].map(|()| self.b.create_block());
                let is_known = self.b.ins().icmp_imm_u(IntCC::Equal, any, known);
                self.b.ins().brif(is_known, just, &[], others, &[]);
                self.b.switch_to_block(just);
                let constant = self.i64(known);
                self.bind(length, constant);
                let stms: Vec<_> = row.early.iter().chain(&row.point).collect();
                let soon = soon(&self.program.vars, &stms, known as usize);
                let soon = soon.as_ref();
                let first = match turn {
                    Some(turn) => self.rows_in_turn(
                        (row, rows, known),
                        (whole, soon),
                        (turn, target),
                        &|emit, columns| emit.columns_alone(rows, columns, point),
                    ),
                    None => whole.0,
                };
                let left = ((first, whole.1), soon);
                self.each_row((row, rows), left, target, point, |emit, point| {
                    for column in 0..known {
                        let column = emit.i64(column);
                        point(emit, column, &[]);
                    }
                });
                self.bind(length, any);
                self.b.ins().jump(done, &[]);
                self.b.switch_to_block(others);
            }
        }
        let columns = (self.i64(0), self.atom(rows.length));
        self.each_row((row, rows), (whole, None), target, point, |emit, point| {
            emit.few(columns, &[], point);
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// The same by a loop of the caller over the columns of a row.
    fn each_row(
        &mut self,
        (row, rows): (&Row, &Divided),
        (whole, soon): ((Value, Value), Option<&Soon>),
        target: Target<'_>,
        point: &impl Fn(&mut Self),
        each: impl Fn(&mut Self, &dyn Fn(&mut Self, Value, &[Value]) -> Vec<Value>),
    ) {
        let one = |emit: &mut Self, i: Value, _: &[Value]| {
            emit.bind(rows.row, i);
            let zero = emit.i64(0);
            let columns = ((zero, emit.atom(rows.length)), zero);
            let alone = |emit: &mut Self, range| emit.columns_alone(rows, range, point);
            emit.some_columns((row, rows), columns, target, alone, &each);
            vec![]
        };
        let Some(soon) = soon else {
            self.range(ScalarType::I64, whole, SHORT, &[], one);
            return;
        };
        let first = |emit: &mut Self, i: Value| emit.first_of_row(rows, i);
        self.loaded_before(soon, whole, first, |emit, range| {
            emit.few(range, &[], one);
        });
    }

    /// Columns of a row one by one.
    fn columns_alone(
        &mut self,
        rows: &Divided,
        columns: (Value, Value),
        point: &impl Fn(&mut Self),
    ) {
        self.few(columns, &[], |emit, j, _| {
            emit.bind(rows.column, j);
            point(emit);
            vec![]
        });
    }

    /// Gives a point its row, of which it is the first.
    pub(super) fn first_of_row(&mut self, rows: &Divided, i: Value) {
        self.bind(rows.row, i);
        let zero = self.i64(0);
        self.column(rows, zero, zero);
    }

    /// Gives a point its column and its number.
    pub(super) fn column(&mut self, rows: &Divided, column: Value, base: Value) {
        self.bind(rows.column, column);
        if rows.number != rows.column {
            let number = self.b.ins().iadd(base, column);
            self.bind(rows.number, number);
        }
    }
}
