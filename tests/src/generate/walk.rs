//! Maps whose points go through the rows of a matrix one element after the other, some of them again and again, and loops
//! around such maps: neighbouring points read far apart, so that another order of the matrix in memory may be wanted.

use super::bulk::map;
use super::scalar::constant;
use super::{Gen, Item, WORK};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, Lambda, LoopForm, LoopParam};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

/// What points go through.
#[derive(Clone, Copy)]
struct Walk {
    matrix: Var,
    elem: ScalarType,
    extents: [Size; 2],
    /// How many elements of its row a point reads, and how often.
    steps: Atom,
    times: Option<Atom>,
    /// Whether it looks for the nearest element, instead of adding up.
    nearest: Option<Nearest>,
}

/// A search for what is least.
#[derive(Clone, Copy)]
struct Nearest {
    /// The place before there is one.
    before: i64,
    /// Whether a later one of several is taken.
    later: bool,
    /// Whether all points look in the first row.
    shared: bool,
}

impl Gen<'_> {
    /// Such a map, or a loop around one.
    pub(super) fn walking(&mut self) -> Option<()> {
        if self.depth > 1 {
            return None;
        }
        let (item, extents, elem) = self.matrix()?;
        let [n, m] = extents;
        if self.work * self.most(n) * self.most(m) > WORK {
            return None;
        }
        let mut steps = Atom::from(m);
        if self.rng.chance(25) {
            // Half of the row.
            let more = self.b.add(steps, 1);
            steps = self.b.bin(BinOp::Quot, I64, more, 2);
        }
        let times = *self.rng.pick(&[None, None, Some(2), Some(5)]);
        let mut times = times.map(Atom::i64);
        if times.is_some() && self.rng.chance(30) {
            let raw = self.scalar(I64);
            times = Some(self.b.bin(BinOp::Mod, I64, raw, 6));
        }
        let nearest = self.rng.chance(30).then(|| Nearest {
            before: *self.rng.pick(&[0, 0, -1, 7]),
            later: self.rng.chance(30),
            shared: self.rng.chance(50),
        });
        let walk = Walk {
            nearest,
            matrix: item.var,
            elem,
            extents,
            steps,
            times,
        };
        let vector = Type::array_of(&Type::I64, &[n]);
        let start = self.fresh_array(I64, &[n]);
        let made = if self.rng.chance(60) {
            let carries = self.rng.chance(25);
            self.walks(walk, &vector, start, carries)
        } else {
            self.walk(walk, &vector, start)
        };
        self.add(made, vector, true);
        Some(())
    }

    /// A loop of a few steps around the map. If it carries the matrix as well, it changes a row in each step.
    fn walks(&mut self, walk: Walk, vector: &Type, start: Var, carries: bool) -> Var {
        let count = match self.rng.chance(50) {
            true => Atom::i64(3),
            false => {
                let raw = self.scalar(I64);
                self.b.bin(BinOp::Mod, I64, raw, 4)
            }
        };
        let sums = self.b.fresh("sums", vector.clone());
        let mut params = vec![(sums, start)];
        let whole = self.b.ty(walk.matrix);
        if carries {
            let init = self.b.copy("copy", walk.matrix);
            params.push((self.b.fresh("matrix", whole.clone()), init));
        }
        let index = self.b.fresh("i", Type::I64);
        let (body, ()) = self.nested(4, |g, _| {
            g.add(index, Type::I64, false);
            let matrix = params.last().map_or(sums, |param| param.0);
            let walk = match carries {
                true => Walk { matrix, ..walk },
                false => walk,
            };
            let next = g.walk(walk, vector, sums);
            let item = Item {
                var: next,
                ty: vector.clone(),
                group: 0,
                mine: false,
            };
            g.add_alias(next, &item);
            g.statements(2);
            let mut results = vec![Atom::Var(next)];
            if carries {
                results.push(g.row_changed(walk, index).into());
            }
            (results, ())
        });
        let form = LoopForm::For {
            index,
            bound: count,
        };
        let binds = params.iter().map(|(v, _)| self.b.fresh_like(*v)).collect();
        let params = params.into_iter().map(|(var, init)| LoopParam {
            var,
            init: init.into(),
        });
        let params = params.collect();
        let made: Vec<Var> = binds;
        self.b.bind(made.clone(), Exp::Loop { params, form, body });
        if carries {
            self.add(made[1], whole, true);
        }
        made[0]
    }

    /// The matrix with one value everywhere in a row, if it has one.
    fn row_changed(&mut self, walk: Walk, index: Var) -> Var {
        let [n, m] = walk.extents;
        // One row, or none at all.
        let len = self.b.bin(BinOp::Min, I64, Atom::from(n), 1);
        let least = self.b.bin(BinOp::Max, I64, Atom::from(n), 1);
        let start = self.b.bin(BinOp::Mod, I64, index, least);
        let len = self.add_size(len, 1);
        let value = self.scalar(walk.elem);
        let value = Atom::Var(self.b.replicate("rep", vec![len, m], value));
        let stride = Atom::ONE;
        let dims = vec![SliceDim::Range { start, len, stride }];
        let array = walk.matrix;
        self.b.array("upd", ArrayOp::Update { array, dims, value })
    }

    /// The map: each point adds up what it reads, beginning with its number in a vector.
    fn walk(&mut self, walk: Walk, vector: &Type, start: Var) -> Var {
        let [n, _] = walk.extents;
        let by_index = self.rng.chance(60);
        let iota = self.b.iota(n);
        let from = self.b.fresh("from", Type::I64);
        let (of_row, rows) = match by_index {
            true => (Type::I64, iota),
            false => {
                let row = self.b.ty(walk.matrix).peel(1).unwrap_or(Type::I64);
                (row, walk.matrix)
            }
        };
        let row = self.b.fresh("row", of_row);
        let most = self.most(n);
        let (body, ()) = self.nested(most, |g, _| {
            let sum = match walk.times {
                None => g.along(walk, (row, by_index), from.into()),
                Some(times) => {
                    let (sum, again) = (g.b.fresh("sum", Type::I64), g.b.fresh("t", Type::I64));
                    g.b.enter();
                    let next = g.along(walk, (row, by_index), sum.into());
                    let body = g.b.leave(vec![next]);
                    let form = LoopForm::For {
                        index: again,
                        bound: times,
                    };
                    g.b.loop_(&[(sum, from.into())], form, body)[0].into()
                }
            };
            (vec![sum], ())
        });
        let params = vec![row, from];
        let soac = map(n, vec![rows, start], Lambda { params, body });
        self.b.let_("walked", vector.clone(), Exp::Op(soac))
    }

    /// A loop of a point along its row.
    fn along(&mut self, walk: Walk, row: (Var, bool), from: Atom) -> Atom {
        match walk.nearest {
            Some(nearest) => {
                let place = self.place_of_nearest(walk, row, (nearest, from));
                self.b.bin(BinOp::Add, I64, place, from)
            }
            None => self.sum(walk, row, from),
        }
    }

    /// Where the element of the row is that exceeds a number least.
    fn place_of_nearest(
        &mut self,
        walk: Walk,
        (row, by_index): (Var, bool),
        (nearest, number): (Nearest, Atom),
    ) -> Atom {
        let is_truth = walk.elem == ScalarType::Bool;
        let ty = if is_truth { I64 } else { walk.elem };
        let none = Atom::Const(constant(&mut self.rng, ty));
        let types = [("least", Type::Scalar(ty)), ("at", Type::I64)];
        let [least, at] = types.clone().map(|(name, ty)| self.b.fresh(name, ty));
        let number = self.b.convert(I64, ty, number);
        let k = self.b.fresh("k", Type::I64);
        self.b.enter();
        let x = match by_index {
            _ if nearest.shared => self.b.index("x", walk.matrix, &[Atom::ZERO, k.into()]),
            true => self.b.index("x", walk.matrix, &[row.into(), k.into()]),
            false => self.b.index("x", row, &[k.into()]),
        };
        let x = self.b.convert(walk.elem, ty, x);
        let x = self.b.bin(BinOp::Sub, ty, x, number);
        let less = if nearest.later { CmpOp::Le } else { CmpOp::Lt };
        let less = self.b.cmp(less, ty, x, least);
        let taken = |_: &mut Builder<'_, Soac>| vec![x, k.into()];
        let kept = |_: &mut Builder<'_, Soac>| vec![least.into(), at.into()];
        let next = self.b.if_(less, &types, taken, kept);
        let body = self.b.leave(next.into_iter().map(Atom::from).collect());
        let form = LoopForm::For {
            index: k,
            bound: walk.steps,
        };
        let starts = [(least, none), (at, Atom::i64(nearest.before))];
        self.b.loop_(&starts, form, body)[1].into()
    }

    /// The sum of the row, and of what was before.
    fn sum(&mut self, walk: Walk, (row, by_index): (Var, bool), from: Atom) -> Atom {
        let (sum, k) = (self.b.fresh("sum", Type::I64), self.b.fresh("k", Type::I64));
        self.b.enter();
        let x = match by_index {
            true => self.b.index("x", walk.matrix, &[row.into(), k.into()]),
            false => self.b.index("x", row, &[k.into()]),
        };
        let x = self.b.convert(walk.elem, I64, x);
        let more = self.b.bin(BinOp::Mul, I64, sum, 3);
        let next = self.b.bin(BinOp::Add, I64, more, x);
        let body = self.b.leave(vec![next]);
        let form = LoopForm::For {
            index: k,
            bound: walk.steps,
        };
        self.b.loop_(&[(sum, from)], form, body)[0].into()
    }
}
