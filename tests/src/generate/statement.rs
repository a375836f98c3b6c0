//! Statements, but for those with lambdas.

use super::{Gen, Item, WORK};
use midend::ir::array::{ArrayOp, SliceDim};
use midend::ir::build::Builder;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, LoopForm, LoopParam, MessagePart, TrapKind};
use midend::ir::types::{Dim, ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// One statement, with what it needs.
    pub(super) fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let made = match self.rng.below(46) {
            0..8 => None,
            8..11 => self.indexing(),
            11 | 12 => self.making(),
            13 => self.concat(),
            14 | 15 => self.rearrange(),
            16 => self.flattening(),
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

    fn making(&mut self) -> Option<()> {
        let shape: Vec<Size> = (0..1 + self.rng.below(2)).map(|_| self.size()).collect();
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
        let elem = self.scalar_type();
        let v = self.fresh_array(elem, &[length]);
        let ty = self.b.ty(v);
        self.add(v, ty, true);
        Some(length)
    }

    fn concat(&mut self) -> Option<()> {
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
        let len = self.b.add(a, b);
        let len = self.add_size(len, most);
        let arrays = vec![first.var, second.var];
        let v = self.b.array("cat", ArrayOp::Concat { arrays, len });
        let ty = self.b.ty(v);
        self.add(v, ty, true);
        Some(())
    }

    fn rearrange(&mut self) -> Option<()> {
        let item = self.find_array(|_, ty| ty.rank() == 2)?;
        let perm = vec![1, 0];
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

    fn flattening(&mut self) -> Option<()> {
        let item = self.find_array(|_, ty| ty.rank() == 2)?;
        let most = self.most_elements(item.ty.shape());
        let [outer, inner] = [0, 1].map(|i| item.ty.shape()[i].size());
        let len = self.b.mul(outer?, inner?);
        let len = self.add_size(len, most);
        let (shape, array) = (vec![len.into()], item.var);
        let v = self.b.array("fl", ArrayOp::Reshape { shape, array });
        self.add_alias(v, &item);
        Some(())
    }

    /// The first few rows of an array, perhaps in reverse.
    fn part(&mut self, item: &Item) -> Option<SliceDim> {
        let extent = item.ty.shape()[0].size()?;
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
        let part = self.part(&item)?;
        let v = self.b.slice("part", item.var, vec![part]);
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

    /// Types for the results of conditionals and loops.
    fn result_types(&mut self) -> Vec<Type> {
        let count = 1 + self.rng.below(2);
        let mut types = Vec::new();
        for _ in 0..count {
            let elem = Type::Scalar(self.scalar_type());
            let size = self.size();
            types.push(if self.rng.chance(40) {
                Type::array_of(&elem, &[size])
            } else {
                elem
            });
        }
        types
    }

    /// A value of the type that shares nothing with what is outside of the body at hand.
    fn value(&mut self, ty: &Type) -> Atom {
        let elem = ty.elem().unwrap_or(I64);
        let shape: Vec<Size> = ty.shape().iter().filter_map(|d| d.size()).collect();
        if shape.is_empty() {
            self.scalar(elem)
        } else {
            Atom::Var(self.fresh_array(elem, &shape))
        }
    }

    fn values(&mut self, types: &[Type]) -> Vec<Atom> {
        types.iter().map(|ty| self.value(ty)).collect()
    }

    fn conditional(&mut self) -> Option<()> {
        if self.depth > 3 {
            return None;
        }
        let cond = self.scalar(ScalarType::Bool);
        let types = self.result_types();
        let branch = |g: &mut Self| {
            g.nested(1, |g, _| {
                g.statements(3);
                (g.values(&types), ())
            })
            .0
        };
        let then = branch(self);
        let otherwise = branch(self);
        let binds: Vec<_> = types
            .iter()
            .map(|ty| self.b.fresh("if", ty.clone()))
            .collect();
        self.b.bind(
            binds.clone(),
            Exp::If {
                cond,
                then,
                otherwise,
            },
        );
        for (v, ty) in binds.into_iter().zip(types) {
            self.add(v, ty, true);
        }
        Some(())
    }

    fn looping(&mut self) -> Option<()> {
        if self.depth > 3 {
            return None;
        }
        let mut types = self.result_types();
        let while_loop = self.rng.chance(30);
        let most = self.rng.below(4) as i64;
        let mut starts = self.values(&types);
        if while_loop {
            types.push(Type::I64);
            starts.push(Atom::ZERO);
        }
        let vars: Vec<_> = types
            .iter()
            .map(|ty| self.b.fresh("l", ty.clone()))
            .collect();
        let form = if while_loop {
            let counter = vars[types.len() - 1];
            self.b.enter();
            let more = self.b.lt(counter, most);
            LoopForm::While(self.b.leave(vec![more]))
        } else {
            let raw = self.scalar(I64);
            let bound = if self.rng.chance(50) {
                self.b.bin(BinOp::Mod, I64, raw, 4)
            } else {
                Atom::i64(most)
            };
            let index = self.b.fresh("i", Type::I64);
            LoopForm::For { index, bound }
        };
        let (body, ()) = self.nested(4, |g, _| {
            if let LoopForm::For { index, bound: _ } = &form {
                g.add(*index, Type::I64, false);
            }
            for (v, ty) in vars.iter().zip(&types) {
                g.add(*v, ty.clone(), true);
            }
            g.statements(4);
            let mut next = g.values(&types);
            if let (true, Some(&counter)) = (while_loop, vars.last()) {
                let last = g.b.add(counter, 1);
                next.pop();
                next.push(last);
            }
            (next, ())
        });
        let params = vars
            .iter()
            .zip(&starts)
            .map(|(&var, &init)| LoopParam { var, init });
        let params = params.collect();
        let binds: Vec<_> = types
            .iter()
            .map(|ty| self.b.fresh("lp", ty.clone()))
            .collect();
        self.b.bind(binds.clone(), Exp::Loop { params, form, body });
        for (v, ty) in binds.into_iter().zip(types) {
            self.add(v, ty, true);
        }
        Some(())
    }

    /// A check that mostly holds, and a statement that it protects.
    fn checking(&mut self) -> Option<()> {
        let (a, b) = (self.scalar(I64), self.scalar(I64));
        let cond = if self.rng.chance(5) {
            self.b.lt(a, b)
        } else {
            self.b.le(a, a)
        };
        let parts = vec![MessagePart::Text("checked ".into()), MessagePart::Value(a)];
        let cert = self.b.assert(cond, TrapKind::Assert, parts)?;
        let divisor = self.b.bin(BinOp::Or, I64, b, 1);
        let quotient = self
            .b
            .with_certs(&[cert], |g| g.bin(BinOp::Div, I64, a, divisor));
        self.add(quotient.as_var()?, Type::I64, false);
        Some(())
    }

    fn calling(&mut self) -> Option<()> {
        let fun = self.helper?;
        // The helper may itself do as much as is allowed once.
        if self.work > MOST_CALLS {
            return None;
        }
        let array = self.find_array(|item, ty| ty.rank() == 1 && item.ty.elem() == Some(I64))?;
        let size = array.ty.shape()[0].size()?;
        if self.most(size) > super::MOST {
            return None;
        }
        let scalar = self.scalar(I64);
        let args = vec![size.into(), array.var.into(), scalar];
        let formals = [("called", array.ty.clone()), ("t", Type::I64)];
        let binds = self.b.let_all(&formals, Exp::Call { fun, args });
        self.add(binds[0], array.ty, false);
        self.add(binds[1], Type::I64, false);
        Some(())
    }
}

/// How often the helper function may be called.
const MOST_CALLS: u64 = 70;
