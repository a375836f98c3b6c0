//! Conditionals that hold parallelism and go another way for each point (SPLIT and COMBINE): each branch is executed for the
//! points that take it, which are numbered anew; then all points fetch their results.
//!
//! ```text
//! map (\x -> if x > 0 then reduce (+) 0 (f x) else x) xs
//! ──►
//! flags = segmap (i < n) { xs[i] > 0 }          ranks = segscan (i < n) { flags[i] } (+)          k = ranks[n - 1]
//! at = segscatter (i < n) { if flags[i] then ranks[i] - 1 else -1, i }
//! ys = ..the branch over (p < k), where x is xs[at[p]]..
//! zs = segmap (i < n) { if flags[i] then ys[ranks[i] - 1] else xs[i] }
//! ```
//!
//! Nothing is copied for a branch: what it reads from outside it finds by the old number.

use super::context::{Axis, Context, Def, Point, space};
use super::distribute::{Frame, Wanted};
use super::{Cx, bin, int};
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::{ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// Flags of points, and what follows from them.
#[derive(Clone, Copy)]
pub(super) struct Ranked {
    flags: Var,
    /// How many flags are set up to each point.
    ranks: Var,
    points: Size,
    /// How many are set.
    count: Var,
}

/// The result of a branch.
enum Value {
    /// What was there before.
    Before(Atom),
    /// An array over the points that took the branch.
    Made(Var),
}

impl Cx<'_> {
    /// A conditional whose condition differs from point to point.
    pub(super) fn split_if(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        (cond, then, otherwise): (Atom, &Body<Soac>, &Body<Soac>),
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/split");
        self.prove_free(f, i, out);
        let context = f.context.clone();
        let binds = f.stm(i).binds.clone();
        let flags = self.arrays(f, &[cond], out)[0];
        let ranked = self.ranked(&context, flags, out);
        let then = self.branch(&context, (&ranked, true), then, &binds, out);
        let otherwise = self.branch(&context, (&ranked, false), otherwise, &binds, out);
        let (mut scalars, mut arrays) = (Vec::new(), Vec::new());
        for (k, &bind) in binds.iter().enumerate() {
            let group = if self.vars[bind].ty.is_array() {
                &mut arrays
            } else {
                &mut scalars
            };
            group.push((bind, &then[k], &otherwise[k]));
        }
        // Lengths come before what has them.
        let scalars = (!scalars.is_empty()).then_some(scalars);
        for group in scalars
            .into_iter()
            .chain(arrays.into_iter().map(|a| vec![a]))
        {
            for made in self.combine_branches(&context, &ranked, &group, out) {
                f.made(made);
            }
            for (bind, ..) in group {
                self.fetch_stored(bind, out);
            }
        }
    }

    /// Makes all checks that a statement and what is inside of it name.
    pub(super) fn prove_free(&mut self, f: &mut Frame<'_>, i: usize, out: &mut Vec<Stm<Seg>>) {
        let mut certs: Vec<Var> = f.stm(i).certs.clone();
        certs.extend(
            f.reads(i)
                .iter()
                .filter(|&&v| self.vars[v].ty == Type::Cert),
        );
        self.prove(f, &certs, out);
    }

    /// Counts the flags of the points of a context.
    pub(super) fn ranked(
        &mut self,
        context: &[Axis],
        flags: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Ranked {
        let (points, flags) = self.flat(flags, space(context).len(), out);
        let mut point = self.point(&[Axis::Regular(points)]);
        let index = point.all()[0];
        let flag = self.element(&mut point.stms, flags, index);
        let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
        let one = self.scalar(&mut point.stms, "one", one, flag.into_iter().collect());
        let ranks = self.fresh("ranks", Type::array_of(&Type::I64, &[points]));
        let sum = self.sum();
        self.kernel(point, vec![one], SegKind::Scan(vec![sum]), vec![ranks], out);
        let count = self.fresh("count", Type::I64);
        self.last_or_zero(ranks, points, count, out);
        Ranked {
            flags,
            ranks,
            points,
            count,
        }
    }

    /// The points of a context whose flag is set, or is not, as a dimension after those of `base`, the context itself or one
    /// around from which it chose before.
    pub(super) fn chosen(
        &mut self,
        base: &[Axis],
        context: &[Axis],
        (ranked, wanted): (&Ranked, bool),
        out: &mut Vec<Stm<Seg>>,
    ) -> Axis {
        let count = if wanted {
            ranked.count.into()
        } else {
            let args = vec![ranked.points.into(), ranked.count.into()];
            Size::of(self.scalar(out, "count", bin(BinOp::Sub), args))
        };
        let mut point = self.point(context);
        let (flag, rank, row) = self.rank_of(&mut point, context, ranked);
        let stms = &mut point.stms;
        let select = ScalarOp::Select(ScalarType::I64);
        let place = if wanted {
            let place = self.scalar(stms, "place", bin(BinOp::Sub), vec![rank, int(1)]);
            self.scalar(stms, "place", select, vec![flag, place, int(-1)])
        } else {
            let place = self.scalar(stms, "place", bin(BinOp::Sub), vec![row, rank]);
            self.scalar(stms, "place", select, vec![flag, int(-1), place])
        };
        let indices = self.outer(&mut point, base.len());
        let mut result = vec![place; indices.len()];
        result.extend(&indices);
        let ty = Type::array_of(&Type::I64, &[count]);
        let (mut dests, mut binds) = (Vec::new(), Vec::new());
        for _ in indices {
            let op = ArrayOp::Scratch {
                elem: ScalarType::I64,
                shape: vec![count.into()],
            };
            let array = self.array(out, "at", ty.clone(), op);
            dests.push(ScatterDest { rank: 1, array });
            binds.push(self.fresh("at", ty.clone()));
        }
        self.kernel(point, result, SegKind::Scatter(dests), binds.clone(), out);
        self.chosen_axis(count, binds)
    }

    /// The dimension of points that were chosen, given their indices in the dimensions around.
    pub(super) fn chosen_axis(&mut self, count: Size, indices: Vec<Var>) -> Axis {
        let pack = self.packs.len();
        self.packs.push(indices);
        Axis::Chosen { count, pack }
    }

    /// The flag of a point, how many are set up to it, and its number.
    fn rank_of(
        &mut self,
        point: &mut Point,
        context: &[Axis],
        ranked: &Ranked,
    ) -> (Atom, Atom, Atom) {
        let row = self.row(point, context);
        let mut read = |array, ty| {
            let indices = vec![row];
            let op = ArrayOp::Index { array, indices };
            Atom::Var(self.array(&mut point.stms, "x", ty, op))
        };
        let flag = read(ranked.flags, Type::BOOL);
        let rank = read(ranked.ranks, Type::I64);
        (flag, rank, row)
    }

    /// Executes a branch for the points that take it.
    fn branch(
        &mut self,
        context: &[Axis],
        (ranked, wanted): (&Ranked, bool),
        body: &Body<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Value> {
        if body.stms.is_empty() {
            return body.result.iter().map(|&a| Value::Before(a)).collect();
        }
        let axis = self.chosen(context, context, (ranked, wanted), out);
        let mut inner = context.to_vec();
        inner.push(axis);
        let run = |cx: &mut Self, out: &mut Vec<Stm<Seg>>| {
            let host = vec![false; body.result.len()];
            let wanted = Wanted::Any {
                host: &host,
                own: &[],
            };
            let results = cx.distribute(inner.clone(), body, wanted, out);
            results.into_iter().map(|r| r.0).collect::<Vec<Atom>>()
        };
        let results = if self.labels.repeats(body) {
            self.unless_empty(&inner, binds, run, out)
        } else {
            run(self, out)
        };
        let made = results.into_iter().filter_map(|a| a.as_var());
        made.map(Value::Made).collect()
    }

    /// Code over a context that might not end, or take long, if there are no points. Its results are arrays over the context.
    fn unless_empty(
        &mut self,
        context: &Context,
        binds: &[Var],
        run: impl FnOnce(&mut Self, &mut Vec<Stm<Seg>>) -> Vec<Atom>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let mut results = Vec::new();
        for &bind in binds {
            let ty = self.vars[bind].ty.clone();
            let ty = self.type_over(&ty, context, out);
            results.push(self.fresh("xs", ty));
        }
        let points = self.points(context, out);
        let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
        let cond = self.scalar(out, "some", lt, vec![int(0), points]);
        let then = self.block(run);
        let otherwise = self.block(|cx, stms| {
            let mut made = Vec::new();
            for &result in &results {
                made.push(cx.scratch(result, stms).into());
            }
            made
        });
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(out, results.clone(), exp);
        results.into_iter().map(Atom::Var).collect()
    }

    /// Fetches results of branches for all points: scalars, or one array.
    fn combine_branches(
        &mut self,
        context: &[Axis],
        ranked: &Ranked,
        group: &[(Var, &Value, &Value)],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let mut results = Vec::new();
        for (bind, ..) in group {
            results.push(self.stored(*bind, context, out));
        }
        let whole = self.around(context, results[0]);
        let mut point = self.point(&whole);
        let inner = point.all()[space(context).len()..].to_vec();
        for (_, then, otherwise) in group {
            for value in [then, otherwise] {
                if let Value::Before(atom) = value {
                    self.need_atom(&mut point, *atom);
                }
            }
        }
        let (flag, rank, row) = self.rank_of(&mut point, context, ranked);
        let then = self.block(|cx, stms| {
            let at = cx.scalar(stms, "at", bin(BinOp::Sub), vec![rank, int(1)]);
            let fetch =
                |&(bind, then, _): &(Var, &Value, &Value)| cx.fetch(bind, then, (at, &inner), stms);
            group.iter().map(fetch).collect()
        });
        let otherwise = self.block(|cx, stms| {
            let at = cx.scalar(stms, "at", bin(BinOp::Sub), vec![row, rank]);
            let fetch = |&(bind, _, otherwise): &(Var, &Value, &Value)| {
                cx.fetch(bind, otherwise, (at, &inner), stms)
            };
            group.iter().map(fetch).collect()
        });
        let mut values = Vec::new();
        for (bind, ..) in group {
            let elem = self.vars[*bind].ty.elem().unwrap_or(ScalarType::I64);
            values.push(self.fresh("x", Type::Scalar(elem)));
        }
        let exp = Exp::If {
            cond: flag,
            then,
            otherwise,
        };
        self.push(&mut point.stms, values.clone(), exp);
        let values = values.into_iter().map(Atom::Var).collect();
        self.kernel(point, values, SegKind::Map, results.clone(), out);
        results
    }

    /// An element of the result of a branch, at a point's number among those that took it.
    fn fetch(
        &mut self,
        bind: Var,
        value: &Value,
        (at, inner): (Atom, &[Atom]),
        out: &mut Vec<Stm<Seg>>,
    ) -> Atom {
        let elem = self.vars[bind].ty.elem().unwrap_or(ScalarType::I64);
        let (array, indices) = match *value {
            Value::Before(atom) => match self.atom(atom) {
                Atom::Var(array) if !inner.is_empty() => (array, inner.to_vec()),
                scalar @ (Atom::Var(_) | Atom::Const(_)) => return scalar,
            },
            Value::Made(array) => (array, [&[at], inner].concat()),
        };
        let op = ArrayOp::Index { array, indices };
        self.array(out, "x", Type::Scalar(elem), op).into()
    }

    /// Says where the values of a variable are.
    pub(super) fn define(&mut self, var: Var, array: Var, context: &[Axis]) {
        let depth = context.len();
        self.env.insert(var, Def::Stored { array, depth });
    }
}
