//! Conditionals and loops.

use super::scalar::constant;
use super::{Gen, Item};
use midend::ir::build::Builder;
use midend::ir::id::Var;
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Atom, Exp, LoopForm, LoopParam};
use midend::ir::types::{ScalarType, Size, Type};

const I64: ScalarType = ScalarType::I64;

impl Gen<'_> {
    /// Types for the results of conditionals and loops.
    fn result_types(&mut self) -> Vec<Type> {
        let count = 1 + self.rng.below(2);
        let mut types = Vec::new();
        for _ in 0..count {
            let elem = Type::Scalar(self.scalar_type());
            let size = self.size();
            types.push(match self.rng.below(10) {
                0..4 => Type::array_of(&elem, &[size]),
                4 => {
                    let (few, row) = (Size::Const(2), [size]);
                    Type::array_of(&Type::array_of(&elem, &row), &[few])
                }
                _ => elem,
            });
        }
        if self.rng.chance(30) {
            types.push(types[0].clone());
        }
        types
    }

    /// What an iteration of a loop or a branch yields: fresh values, or arrays of its own as they are after updates, each once.
    fn next(&mut self, types: &[Type]) -> Vec<Atom> {
        let mut taken = Vec::new();
        let mut all = Vec::new();
        for ty in types {
            let own = self.scope[self.base..].iter().rev();
            let mut own = own.filter(|i| i.mine && i.ty == *ty && !taken.contains(&i.group));
            match own.next().map(|i| (i.var, i.group)) {
                Some((var, group)) if ty.is_array() && self.rng.chance(60) => {
                    taken.push(group);
                    all.push(Atom::Var(var));
                }
                Some(_) | None => all.push(self.value(ty)),
            }
        }
        all
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

    pub(super) fn conditional(&mut self) -> Option<()> {
        if self.depth > 3 {
            return None;
        }
        let cond = self.scalar(ScalarType::Bool);
        self.branching(cond, false)
    }

    /// A conditional, which holds parallel operators if it should.
    pub(super) fn branching(&mut self, cond: Atom, parallel: bool) -> Option<()> {
        let types = self.result_types();
        let branch = |g: &mut Self| {
            g.nested(1, |g, _| {
                if parallel {
                    g.operator_inside();
                }
                g.statements(3);
                (g.next(&types), ())
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

    /// A loop of scalars that goes on until something is found, for so many steps at most. How many that is may be the same for all points, and
    /// what was found last may not be asked for: such loops have forms of their own.
    pub(super) fn searching(&mut self) -> Option<()> {
        let ty = *self.rng.pick(&[I64, I64, ScalarType::I32]);
        let of = *self.rng.pick(&[I64, ScalarType::I32]);
        let most = 1 + self.rng.below(13) as i128;
        let most = Const::int(ty, most)?;
        let limit = if self.rng.chance(40) {
            most.into()
        } else {
            let raw = self.scalar(ty);
            self.b.bin(BinOp::Mod, ty, raw, most)
        };
        let start = Const::int(ty, *self.rng.pick(&[0, 0, 1, -2]))?;
        let (first, own) = (self.scalar(of), self.scalar(of));
        let form = self.rng.below(4);
        let wanted = Const::int(of, self.rng.below(8) as i128)?;
        let [one, five, seven] = [(ty, 1), (of, 5), (of, 7)].map(|(ty, n)| Const::int(ty, n));
        let (one, five, seven) = (one?, five?, seven?);
        let types = [ty, of].map(Type::Scalar);
        let [n, x] = types.clone().map(|ty| self.b.fresh("w", ty));
        let goes_on = |b: &mut Builder<'_, Soac>, _: &[Var]| {
            let less = b.cmp(CmpOp::Lt, ty, n, limit);
            let bits = |b: &mut Builder<'_, Soac>| {
                let low = b.bin(BinOp::And, of, x, seven);
                let found = b.cmp(CmpOp::Eq, of, low, wanted);
                b.not(found)
            };
            let formals = [("both", Type::BOOL)];
            let no = Atom::bool(false);
            match form {
                0 => {
                    let other = bits(b);
                    b.and(less, other)
                }
                1 => {
                    let other = bits(b);
                    b.and(other, less)
                }
                2 => b.if_(less, &formals, |b| vec![bits(b)], |_| vec![no])[0].into(),
                _ => less,
            }
        };
        let step = |b: &mut Builder<'_, Soac>, _: &[Var]| {
            let times = b.bin(BinOp::Mul, of, x, five);
            let next = b.bin(BinOp::Add, of, times, own);
            vec![b.bin(BinOp::Add, ty, n, one), next]
        };
        let starts = [(n, start.into()), (x, first)];
        let asked = [true, self.rng.chance(50)];
        let found = self.b.while_(&starts, goes_on, step).into_iter();
        for ((v, ty), _) in found.zip(types).zip(asked).filter(|(_, asked)| *asked) {
            self.add(v, ty, false);
        }
        Some(())
    }

    /// A loop of scalars that looks for the place of the least of so many numbers.
    pub(super) fn placing(&mut self) -> Option<()> {
        let ty = *self
            .rng
            .pick(&[I64, ScalarType::I32, ScalarType::F32, ScalarType::F64]);
        let most = Atom::i64(*self.rng.pick(&[3, 12, 40]));
        let before = Atom::i64(*self.rng.pick(&[0, 0, -1, 50]));
        let none = Atom::Const(constant(&mut self.rng, ty));
        let (own, other) = (self.scalar(ty), self.scalar(ty));
        let less = *self.rng.pick(&[CmpOp::Lt, CmpOp::Lt, CmpOp::Le]);
        let types = [("least", Type::Scalar(ty)), ("at", Type::I64)];
        let [least, at] = types.clone().map(|(name, ty)| self.b.fresh(name, ty));
        let k = self.b.fresh("k", Type::I64);
        self.b.enter();
        let number = self.b.convert(I64, ty, k);
        let [near, far] = [own, other].map(|x| self.b.bin(BinOp::Sub, ty, number, x));
        let number = self.b.bin(BinOp::Mul, ty, near, far);
        let less = self.b.cmp(less, ty, number, least);
        let taken = |_: &mut Builder<'_, Soac>| vec![number, k.into()];
        let kept = |_: &mut Builder<'_, Soac>| vec![least.into(), at.into()];
        let next = self.b.if_(less, &types, taken, kept);
        let body = self.b.leave(next.into_iter().map(Atom::from).collect());
        let form = LoopForm::For {
            index: k,
            bound: most,
        };
        let found = self.b.loop_(&[(least, none), (at, before)], form, body);
        let asked = [self.rng.chance(50), true];
        for ((v, (_, ty)), _) in found
            .into_iter()
            .zip(types)
            .zip(asked)
            .filter(|(_, asked)| *asked)
        {
            self.add(v, ty, false);
        }
        Some(())
    }

    pub(super) fn looping(&mut self) -> Option<()> {
        if self.depth > 3 {
            return None;
        }
        let mut most = Atom::i64(self.rng.below(4) as i64);
        if self.rng.chance(50) {
            let raw = self.scalar(I64);
            most = self.b.bin(BinOp::Mod, I64, raw, 4);
        }
        self.stepping(most, false)
    }

    /// A loop of so many steps, which holds parallel operators if it should.
    pub(super) fn stepping(&mut self, most: Atom, parallel: bool) -> Option<()> {
        let mut types = self.result_types();
        let while_loop = self.rng.chance(30);
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
            let read = self.find_array(|_, ty| ty.rank() == 1 && ty.elem == I64);
            let read = read.filter(|item| !item.mine);
            let read = read.and_then(|item| Some((item.var, item.ty.shape()[0].size()?)));
            self.b.enter();
            let mut most = most;
            if let Some((array, extent)) = read
                && self.rng.chance(40)
            {
                // As many as the first element says, if there is one.
                let some = self.b.lt(0, Atom::from(extent));
                let formals = [("first", Type::I64)];
                let first =
                    |b: &mut Builder<'_, Soac>| vec![Atom::Var(b.index("e", array, &[Atom::ZERO]))];
                let first = self.b.if_(some, &formals, first, |_| vec![Atom::ZERO])[0];
                most = self.b.bin(BinOp::Mod, I64, first, 4);
            }
            let more = self.b.lt(counter, most);
            LoopForm::While(self.b.leave(vec![more]))
        } else {
            let ty = *self
                .rng
                .pick(&[I64, I64, I64, ScalarType::I32, ScalarType::U8]);
            let bound = self.b.convert(I64, ty, most);
            let index = self.b.fresh("i", Type::Scalar(ty));
            LoopForm::For { index, bound }
        };
        let (body, ()) = self.nested(4, |g, _| {
            if let &LoopForm::For { index, bound } = &form {
                let ty = g.b.ty(index);
                g.add(index, ty, false);
                g.runs(bound);
            }
            for (v, ty) in vars.iter().zip(&types) {
                g.add(*v, ty.clone(), true);
            }
            if parallel {
                g.operator_inside();
            }
            g.statements(4);
            let mut next = g.next(&types);
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
        // An iteration may yield one array in the place of another, so that all may share memory.
        self.groups += 1;
        let group = self.groups;
        for (var, ty) in binds.into_iter().zip(types) {
            let mine = true;
            let item = Item {
                var,
                ty,
                group,
                mine,
            };
            self.scope.push(item);
        }
        Some(())
    }
}
