//! Statements, but for those with lambdas.

use super::{Gen, Item, WORK};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::build::Builder;
use midend::ir::id::FunId;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, MessagePart, TrapKind};
use midend::ir::types::{Dim, ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// One statement, with what it needs.
    pub(super) fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let made = match self.rng.below(64) {
            0..5 => None,
            5 if self.rng.chance(50) => self.recurring(),
            5 => self.handing_on(),
            6 if self.rng.chance(50) => self.searching(),
            6 => self.placing(),
            7 => self.tabular(),
            8..10 => self.indexing(),
            10 => self.row(),
            11 | 12 => self.making(),
            13 => self.concat(),
            14 | 15 => self.rearrange(),
            16 => self.reshaping(),
            17 | 18 => self.slicing(),
            19..22 => self.updating(),
            22..25 => self.conditional(),
            25..28 => self.looping(),
            28 => self.checking(),
            29 => self.calling(),
            30..35 => self.traversal(),
            35 => self.accumulating(),
            36 => self.filtering(),
            37 | 38 => self.histogram(),
            39 => self.scattering(),
            40 => {
                let raw = self.scalar(I64);
                self.sizing(raw).map(|_| ())
            }
            41 => self.alias(),
            42..49 => self.chain(),
            49..52 => self.perfect_nest(),
            52 => self.product(),
            53 => self.all_pairs(),
            54 => self.walking(),
            55 | 56 => self.filling(),
            57 => self.varying(),
            58 => self.flat_map(),
            _ => self.irregular(),
        };
        if made.is_none() {
            self.scalar_statement();
        }
    }

    fn any_array(&mut self) -> Option<Item> {
        self.find_array(|_, _| true)
    }

    /// An element at an index that is brought into range; something else if there are no elements.
    fn indexing(&mut self) -> Option<()> {
        let item = self.any_array()?;
        let elem = item.ty.elem()?;
        let mut some = Atom::bool(true);
        let mut indices = Vec::new();
        for dim in item.ty.shape().to_vec() {
            let extent = Atom::from(dim.size()?);
            let raw = self.scalar(I64);
            let least = self.b.bin(BinOp::Max, I64, extent, 1);
            indices.push(self.b.bin(BinOp::Mod, I64, raw, least));
            let positive = self.b.lt(0, extent);
            some = self.b.and(some, positive);
        }
        let other = self.scalar(elem);
        let read = |b: &mut Builder<'_, Soac>| vec![Atom::Var(b.index("e", item.var, &indices))];
        let formals = [("e", Type::Scalar(elem))];
        let binds = self.b.if_(some, &formals, read, |_| vec![other]);
        self.add(binds[0], Type::Scalar(elem), false);
        Some(())
    }

    /// A row at an index that is brought into range; another row if there are none.
    fn row(&mut self) -> Option<()> {
        let item = self.find_array(|_, ty| ty.rank() > 1)?;
        let elem = item.ty.elem()?;
        let extent = Atom::from(item.ty.shape()[0].size()?);
        let rest = item.ty.shape()[1..].iter().map(|dim| dim.size());
        let rest: Vec<Size> = rest.collect::<Option<_>>()?;
        let raw = self.scalar(I64);
        let least = self.b.bin(BinOp::Max, I64, extent, 1);
        let index = self.b.bin(BinOp::Mod, I64, raw, least);
        let some = self.b.lt(0, extent);
        let other = self.scalar(elem);
        let formals = [("row", item.ty.peel(1)?)];
        let read = |b: &mut Builder<'_, Soac>| vec![Atom::Var(b.index("row", item.var, &[index]))];
        let none = |b: &mut Builder<'_, Soac>| vec![Atom::Var(b.replicate("rep", rest, other))];
        let binds = self.b.if_(some, &formals, read, none);
        self.add_alias(binds[0], &item);
        Some(())
    }

    /// Another name of an array.
    fn alias(&mut self) -> Option<()> {
        let item = self.any_array()?;
        let v = self
            .b
            .let_("same", item.ty.clone(), Exp::Atom(item.var.into()));
        self.add_alias(v, &item);
        Some(())
    }

    fn making(&mut self) -> Option<()> {
        let rank = *self.rng.pick(&[1, 1, 2, 2, 3]);
        let shape: Vec<Size> = (0..rank).map(|_| self.size()).collect();
        let elem = self.scalar_type();
        let dims: Vec<Dim> = shape.iter().copied().map(Dim::Size).collect();
        if self.most_elements(&dims) > WORK / self.work {
            return None;
        }
        let v = self.fresh_array(elem, &shape);
        let ty = self.b.ty(v);
        self.add(v, ty, true);
        Some(())
    }

    /// An array of a length that is computed: inside of parallel operations, another one at each point.
    pub(super) fn sizing(&mut self, raw: Atom) -> Option<Size> {
        let most = 1 + self.rng.below(6);
        let length = self.b.bin(BinOp::Mod, I64, raw, most as i64);
        if self.work * most as u64 > WORK {
            return None;
        }
        let length = self.add_size(length, most as u64);
        let elem = if self.rng.chance(40) {
            I64
        } else {
            self.scalar_type()
        };
        let v = self.fresh_array(elem, &[length]);
        let ty = self.b.ty(v);
        self.add(v, ty, true);
        Some(length)
    }

    pub(super) fn concat(&mut self) -> Option<()> {
        let first = self.any_array()?;
        let second = self.find_array(|item, ty| {
            Some(ty.elem) == first.ty.elem() && item.ty.shape()[1..] == first.ty.shape()[1..]
        })?;
        let lengths = [&first, &second].map(|i| i.ty.shape()[0].size());
        let [Some(a), Some(b)] = lengths else {
            return None;
        };
        let most = self.most(a) + self.most(b);
        if self
            .most_elements(&first.ty.shape()[1..])
            .saturating_mul(most)
            > WORK / self.work
        {
            return None;
        }
        let mut len = self.b.add(a, b);
        let mut most = most;
        let mut arrays = vec![first.var, second.var];
        if self.rng.chance(25) {
            // The first one once more.
            len = self.b.add(len, a);
            most += self.most(a);
            arrays.push(first.var);
        }
        let len = self.add_size(len, most);
        let v = self.b.array("cat", ArrayOp::Concat { arrays, len });
        let ty = self.b.ty(v);
        self.add(v, ty, true);
        Some(())
    }

    fn rearrange(&mut self) -> Option<()> {
        let item = self.find_array(|_, ty| ty.rank() >= 2)?;
        let mut perm: Vec<usize> = (0..item.ty.rank()).collect();
        if self.rng.chance(90) {
            let k = self.rng.below(perm.len() - 1);
            perm.swap(k, k + 1);
        }
        if self.rng.chance(30) {
            perm.rotate_left(1);
        }
        let array = item.var;
        if self.rng.chance(20) {
            let v = self.b.array("man", ArrayOp::Manifest { perm, array });
            let ty = self.b.ty(v);
            self.add(v, ty, true);
        } else {
            let v = self.b.array("tr", ArrayOp::Rearrange { perm, array });
            self.add_alias(v, &item);
        }
        Some(())
    }

    /// The two outermost dimensions become one, and perhaps two again.
    fn reshaping(&mut self) -> Option<()> {
        if self.rng.chance(20) {
            return self.renaming();
        }
        let item = self.find_array(|_, ty| ty.rank() >= 2)?;
        let shape = item.ty.shape();
        let most = self.most_elements(&shape[..2]);
        let [outer, inner] = [0, 1].map(|i| shape[i].size());
        let (outer, inner) = (outer?, inner?);
        let len = self.b.mul(outer, inner);
        let len = self.add_size(len, most);
        let mut flat = vec![len.into()];
        flat.extend(&shape[2..]);
        let (shape, array) = (flat, item.var);
        let mut v = self.b.array("fl", ArrayOp::Reshape { shape, array });
        if self.rng.chance(30) {
            let mut shape = vec![inner.into(), outer.into()];
            shape.extend(&item.ty.shape()[2..]);
            let array = v;
            v = self.b.array("unfl", ArrayOp::Reshape { shape, array });
        }
        self.add_alias(v, &item);
        Some(())
    }

    /// The length of a vector gets another name.
    fn renaming(&mut self) -> Option<()> {
        let item = self.find_array(|_, ty| ty.rank() == 1)?;
        let extent = item.ty.shape()[0].size()?;
        let twice = self.b.add(extent, extent);
        let again = self.b.bin(BinOp::Quot, I64, twice, 2);
        let len = self.add_size(again, self.most(extent));
        let (shape, array) = (vec![len.into()], item.var);
        let v = self.b.array("renamed", ArrayOp::Reshape { shape, array });
        self.add_alias(v, &item);
        Some(())
    }

    /// The first few rows of an array, perhaps in reverse; all of them, or every other one.
    fn part(&mut self, item: &Item) -> Option<SliceDim> {
        let extent = item.ty.shape()[0].size()?;
        if self.rng.chance(10) {
            let (start, len, stride) = (Atom::ZERO, extent, Atom::ONE);
            return Some(SliceDim::Range { start, len, stride });
        }
        if self.rng.chance(20) {
            let len = self.b.add(extent, 1);
            let len = self.b.bin(BinOp::Div, I64, len, 2);
            let len = self.add_size(len, self.most(extent) / 2 + 1);
            let (start, stride) = (Atom::ZERO, Atom::i64(2));
            return Some(SliceDim::Range { start, len, stride });
        }
        let count = self.rng.below(4) as i64;
        let len = self.b.bin(BinOp::Min, I64, extent, count);
        let len = self.add_size(len, self.most(extent).min(count as u64));
        let (mut start, mut stride) = (Atom::ZERO, Atom::ONE);
        if self.rng.chance(40) {
            start = self.b.sub(len, 1);
            stride = Atom::i64(-1);
        }
        Some(SliceDim::Range { start, len, stride })
    }

    fn slicing(&mut self) -> Option<()> {
        let item = self.any_array()?;
        let mut dims = vec![self.part(&item)?];
        // Of three columns, one, or the last two.
        if let Some(Dim::Size(Size::Const(3))) = item.ty.shape().get(1) {
            dims.push(match self.rng.below(3) {
                0 => SliceDim::Fix(Atom::i64(self.rng.below(3) as i64)),
                1 => SliceDim::Range {
                    start: Atom::ONE,
                    len: Size::Const(2),
                    stride: Atom::ONE,
                },
                _ => SliceDim::Range {
                    start: Atom::ZERO,
                    len: Size::Const(3),
                    stride: Atom::ONE,
                },
            });
        }
        let v = self.b.slice("part", item.var, dims);
        self.add_alias(v, &item);
        Some(())
    }

    fn updating(&mut self) -> Option<()> {
        let base = self.base;
        let mine: Vec<Item> = self.scope[base..]
            .iter()
            .filter(|i| i.mine && i.ty.is_array())
            .cloned()
            .collect();
        if mine.is_empty() {
            return None;
        }
        let item = self.rng.pick(&mine).clone();
        let part = self.part(&item)?;
        let SliceDim::Range { len, .. } = part else {
            return None;
        };
        let mut shape = vec![len];
        for dim in &item.ty.shape()[1..] {
            shape.push(dim.size()?);
        }
        let elem = item.ty.elem()?;
        let value = Atom::Var(self.fresh_array(elem, &shape));
        let (array, dims) = (item.var, vec![part]);
        let v = self.b.array("upd", ArrayOp::Update { array, dims, value });
        self.consume(item.group);
        self.add(v, item.ty, true);
        Some(())
    }

    /// Takes out of scope what shares memory with an array that was consumed.
    pub(super) fn consume(&mut self, group: usize) {
        self.scope.retain(|i| i.group != group);
    }

    /// A check that mostly holds, and a statement that it protects.
    fn checking(&mut self) -> Option<()> {
        let (a, b) = (self.scalar(I64), self.scalar(I64));
        let (most, least) = (
            self.b.bin(BinOp::Max, I64, a, b),
            self.b.bin(BinOp::Min, I64, a, b),
        );
        let (below, above) = (self.b.le(a, most), self.b.le(least, b));
        let both = self.b.and(below, above);
        let cond = match self.rng.below(20) {
            0 => self.b.lt(a, b),
            1..5 => {
                // What follows from the two of these.
                self.b.assert(below, TrapKind::Assert, Vec::new());
                self.b.assert(above, TrapKind::Assert, Vec::new());
                both
            }
            5..8 => self.b.or(below, above),
            _ => below,
        };
        let parts = vec![MessagePart::Text("checked ".into()), MessagePart::Value(a)];
        self.behind(cond, parts, (a, b))
    }

    /// A check that what is around runs at all, which holds where it is executed and need not hold before.
    pub(super) fn runs(&mut self, count: Atom) -> Option<()> {
        if self.b.ty(count) != Type::I64 || !self.rng.chance(15) {
            return None;
        }
        let some = self.b.lt(0, count);
        let pair = (self.scalar(I64), self.scalar(I64));
        self.behind(some, vec![MessagePart::Value(count)], pair)
    }

    /// A check, and a quotient that it protects.
    fn behind(&mut self, cond: Atom, parts: Vec<MessagePart>, (a, b): (Atom, Atom)) -> Option<()> {
        let cert = self.b.assert(cond, TrapKind::Assert, parts)?;
        let divisor = self.b.bin(BinOp::Or, I64, b, 1);
        let quotient = self
            .b
            .with_certs(&[cert], |g| g.bin(BinOp::Div, I64, a, divisor));
        self.add(quotient.as_var()?, Type::I64, false);
        Some(())
    }

    pub(super) fn calling(&mut self) -> Option<()> {
        if self.chooser.is_some() && self.rng.chance(60) {
            return self.choosing();
        }
        let fun = self.helper?;
        let vector = self.vector_for_call()?;
        let scalar = self.scalar(I64);
        self.call(fun, &vector, &[scalar])
    }

    /// A vector that a function may be called with here.
    pub(super) fn vector_for_call(&mut self) -> Option<Item> {
        // What is called may itself do as much as is allowed once.
        if self.work > MOST_CALLS {
            return None;
        }
        let vector = self.find_array(|item, ty| ty.rank() == 1 && item.ty.elem() == Some(I64))?;
        let size = vector.ty.shape()[0].size()?;
        (self.most(size) <= super::MOST).then_some(vector)
    }

    /// A call with a vector and numbers, that gives another vector and a number.
    pub(super) fn call(&mut self, fun: FunId, vector: &Item, numbers: &[Atom]) -> Option<()> {
        let size = vector.ty.shape()[0].size()?;
        let mut args = vec![size.into(), vector.var.into()];
        args.extend(numbers);
        let formals = [("called", vector.ty.clone()), ("t", Type::I64)];
        let binds = self.b.let_all(&formals, Exp::Call { fun, args });
        // What is called may give back what it is given.
        self.add_alias(binds[0], vector);
        self.add(binds[1], Type::I64, false);
        Some(())
    }
}

/// How often functions may be called.
const MOST_CALLS: u64 = 70;
