//! Conditionals and loops whose arrays have lengths of their own: one in each branch, another one after each step.

use super::bulk::{Fold, map};
use super::{Gen, Item, KnownSize, WORK};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::id::Var;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, Lambda, LoopForm};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;
/// How many elements a step adds at most, and how many steps there are.
const MORE: u64 = 3;
const STEPS: u64 = 3;

impl Gen<'_> {
    /// A conditional or a loop that yields a vector and its length.
    pub(super) fn varying(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let elem = self.scalar_type();
        let (length, vector, most) = match self.rng.chance(50) {
            true => self.either(elem)?,
            false => self.changing(elem)?,
        };
        self.sizes.push(KnownSize {
            size: Size::Var(length),
            most,
        });
        self.add(length, Type::I64, false);
        let ty = self.b.ty(vector);
        self.add(vector, ty, true);
        Some(())
    }

    /// A new vector, its length, and how much that is at most. It does not come into scope.
    fn some_vector(&mut self, elem: ScalarType) -> (Size, Var, u64) {
        let size = if self.rng.chance(50) {
            let raw = self.scalar(I64);
            let most = 1 + self.rng.below(5) as u64;
            let length = self.b.bin(BinOp::Mod, I64, raw, most as i64);
            self.add_size(length, most)
        } else {
            self.size()
        };
        (size, self.fresh_array(elem, &[size]), self.most(size))
    }

    fn vector_formals(&mut self, elem: ScalarType) -> [Var; 2] {
        let length = self.b.fresh("len", Type::I64);
        let ty = Type::array_of(&Type::Scalar(elem), &[Size::Var(length)]);
        [length, self.b.fresh("vec", ty)]
    }

    /// A conditional.
    fn either(&mut self, elem: ScalarType) -> Option<(Var, Var, u64)> {
        let cond = self.scalar(ScalarType::Bool);
        let mut branch = || {
            self.nested(1, |g, _| {
                g.statements(2);
                let (length, vector, most) = g.some_vector(elem);
                (vec![length.into(), vector.into()], most)
            })
        };
        let ((then, a), (otherwise, b)) = (branch(), branch());
        let binds = self.vector_formals(elem);
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.b.bind(binds.to_vec(), exp);
        Some((binds[0], binds[1], a.max(b)))
    }

    /// A loop.
    fn changing(&mut self, elem: ScalarType) -> Option<(Var, Var, u64)> {
        let (length, vector, most) = self.some_vector(elem);
        let most = most + MORE * STEPS;
        if self.work.saturating_mul(most) > WORK {
            return None;
        }
        let [k, a] = self.vector_formals(elem);
        let raw = self.scalar(I64);
        let bound = self.b.bin(BinOp::Mod, I64, raw, STEPS as i64 + 1);
        let i = self.b.fresh("i", Type::I64);
        let (body, ()) = self.nested(STEPS, |g, _| {
            g.add(i, Type::I64, false);
            let size = g.add_size(k.into(), most);
            let ty = g.b.ty(a);
            g.add(a, ty.clone(), false);
            g.statements(2);
            let group = 0;
            let mine = false;
            let item = Item {
                var: a,
                ty,
                group,
                mine,
            };
            let (length, vector) = g.changed(&item, size, elem);
            (vec![length.into(), vector.into()], ())
        });
        let form = LoopForm::For { index: i, bound };
        let starts = [(k, length.into()), (a, vector.into())];
        let made = self.b.loop_(&starts, form, body);
        Some((made[0], made[1], most))
    }

    /// Vectors of any lengths, one after another, and what comes besides.
    pub(super) fn flat_map(&mut self) -> Option<()> {
        if self.depth > 2 {
            return None;
        }
        let width = self.size();
        let elem = self.scalar_type();
        let (items, params) = self.inputs(width);
        let more = self.rng.chance(50);
        let (body, (most, further)) = self.nested(self.most(width), |g, sizes| {
            g.add_params(&params);
            g.statements(3);
            let (length, vector, most) = g.row_of_any_length(elem);
            let mut result = vec![length.into(), vector.into()];
            let further = more.then(|| g.result(sizes));
            result.extend(further.iter().map(|(a, _)| *a));
            (result, (most, further.map(|(_, ty)| ty)))
        });
        let marks = Size::of(self.b.add(Atom::from(width), 1));
        let most_rows = self.most(width);
        self.add_size(marks.into(), most_rows + 1);
        let offsets = Type::array_of(&Type::I64, &[marks]);
        let offsets = self.b.fresh("offs", offsets);
        let [total, data] = self.vector_formals(elem);
        let mut binds = vec![offsets, total, data];
        let mapped = further.map(|ty| Type::array_of(&ty, &[width]));
        binds.extend(mapped.map(|ty| self.b.fresh("ms", ty)));
        let soac = Soac::FlatMap {
            width,
            arrays: items.iter().map(|i| i.var).collect(),
            lam: Lambda { params, body },
            rows: 1,
            marks,
        };
        self.b.bind(binds.clone(), Exp::Op(soac));
        self.add_size(total.into(), most_rows.saturating_mul(most));
        if self.rng.chance(40) {
            self.sums_of_rows(width, offsets, (data, elem));
        }
        for v in binds.into_iter().filter(|v| *v != total) {
            let ty = self.b.ty(v);
            self.add(v, ty, true);
        }
        Some(())
    }

    /// A sum for each row of a flat map, from where it begins and where the next one does.
    fn sums_of_rows(&mut self, width: Size, offsets: Var, (data, elem): (Var, ScalarType)) {
        let part = |start, len| {
            let stride = Atom::ONE;
            vec![SliceDim::Range { start, len, stride }]
        };
        let starts = self.b.slice("starts", offsets, part(Atom::ZERO, width));
        let ends = self.b.slice("ends", offsets, part(Atom::ONE, width));
        let Some(sum) = self.operator(Fold::Simple(BinOp::Add, I64)) else {
            return;
        };
        let params = ["start", "end"].map(|name| self.b.fresh(name, Type::I64));
        let x = self.b.fresh("x", Type::Scalar(elem));
        let body = self.b.body(|b| {
            let length = Size::of(b.sub(params[1], params[0]));
            let row = b.slice("row", data, part(params[0].into(), length));
            let number = b.body(|b| vec![b.convert(elem, I64, x)]);
            let reduction = Soac::Screma {
                width: length,
                arrays: vec![row],
                lam: Lambda {
                    params: vec![x],
                    body: number,
                },
                scans: Vec::new(),
                reds: vec![sum],
            };
            vec![b.let_("sum", Type::I64, Exp::Op(reduction)).into()]
        });
        let params = params.to_vec();
        let soac = map(width, vec![starts, ends], Lambda { params, body });
        let ty = Type::array_of(&Type::I64, &[width]);
        let sums = self.b.let_("sums", ty.clone(), Exp::Op(soac));
        self.add(sums, ty, true);
    }

    /// A vector, its length, and how much that is at most.
    fn row_of_any_length(&mut self, elem: ScalarType) -> (Size, Var, u64) {
        let (size, vector, most) = self.some_vector(elem);
        match self.rng.below(4) {
            0 => {
                let (length, kept) = self.kept(vector, size, elem);
                (length, kept, most)
            }
            1 => match self.either(elem) {
                Some((length, vector, most)) => (Size::Var(length), vector, most),
                None => (size, vector, most),
            },
            2 => match self.changing(elem) {
                Some((length, vector, most)) => (Size::Var(length), vector, most),
                None => (size, vector, most),
            },
            _ => (size, vector, most),
        }
    }

    /// What a step makes of a vector: a part of it, what a filter keeps, more elements, or as many others.
    fn changed(&mut self, item: &Item, size: Size, elem: ScalarType) -> (Size, Var) {
        match self.rng.below(4) {
            0 => {
                let len = self.b.bin(BinOp::Div, I64, Atom::from(size), 2);
                let len = Size::of(len);
                let (start, stride) = (Atom::ZERO, Atom::ONE);
                let dims = vec![SliceDim::Range { start, len, stride }];
                let part = self.b.slice("half", item.var, dims);
                let part = match self.rng.chance(50) {
                    true => part,
                    false => self.b.copy("copy", part),
                };
                (len, part)
            }
            1 => self.kept(item.var, size, elem),
            2 => {
                let count = 1 + self.rng.below(MORE as usize) as i64;
                let more = self.fresh_array(elem, &[Size::Const(count)]);
                let len = Size::of(self.b.add(Atom::from(size), count));
                let arrays = vec![item.var, more];
                (len, self.b.array("cat", ArrayOp::Concat { arrays, len }))
            }
            _ => {
                let other = self.scalar(elem);
                let (x, op) = (self.b.fresh("x", Type::Scalar(elem)), joining(elem));
                let body = self.b.body(|b| vec![b.bin(op, elem, x, other)]);
                let params = vec![x];
                let soac = map(size, vec![item.var], Lambda { params, body });
                (size, self.b.let_("next", item.ty.clone(), Exp::Op(soac)))
            }
        }
    }

    /// The elements of a vector for which something holds.
    fn kept(&mut self, vector: Var, width: Size, elem: ScalarType) -> (Size, Var) {
        let x = self.b.fresh("x", Type::Scalar(elem));
        let other = self.scalar(I64);
        let body = self.b.body(|b| {
            let number = b.convert(elem, I64, x);
            let both = b.bin(BinOp::Xor, I64, number, other);
            let bits = b.bin(BinOp::And, I64, both, 3);
            vec![b.lt(0, bits), x.into()]
        });
        let params = vec![x];
        let lam = Lambda { params, body };
        let arrays = vec![vector];
        let binds = self.vector_formals(elem);
        let filter = Soac::Filter { width, arrays, lam };
        self.b.bind(binds.to_vec(), Exp::Op(filter));
        (Size::Var(binds[0]), binds[1])
    }
}

/// An operation that two values of any type have.
pub(super) fn joining(elem: ScalarType) -> BinOp {
    if elem == ScalarType::Bool {
        BinOp::Xor
    } else if elem.is_float() {
        BinOp::Max
    } else {
        BinOp::Sub
    }
}
