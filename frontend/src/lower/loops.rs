//! Loops: parameters are the leaves of the loop's pattern; sizes that change are parameters before them.

use super::emit::int;
use super::env::{Binding, Frame};
use super::index::Index;
use super::value::{Leaf, Ty, Value, scalar_type};
use super::{Lower, Res};
use crate::typed::{Exp, LoopForm as SourceForm, LoopSize, Pat};
use midend::ir::id::Var;
use midend::ir::syntax::{Atom, Body, LoopForm, LoopParam};
use midend::ir::types::{Size, Type};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A loop's parameters: the value of the pattern in the body, made of fresh variables.
struct Params<'a> {
    /// Sizes that change, with their starts.
    sizes: Vec<(Var, Atom)>,
    /// The other parameters, with their starts.
    leaves: Vec<(Var, Leaf)>,
    value: Value<'a>,
}

impl<'a> Lower<'a> {
    #[allow(clippy::too_many_arguments, reason = "the parts of a loop")]
    /// A loop.
    pub fn lower_loop(
        &mut self,
        sizes: &'a [LoopSize],
        pat: &'a Pat,
        init: &'a Exp,
        form: &'a SourceForm,
        body: &'a Exp,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let unroll = std::mem::take(&mut self.unroll);
        let levels = std::mem::take(&mut self.strip_mine);
        let start = self.exp(init, frame)?;
        let bound = match form {
            SourceForm::For { bound, .. } => Some(Value::scalar(self.scalar_exp(bound, frame)?)),
            SourceForm::ForIn { array, .. } => Some(self.exp(array, frame)?),
            SourceForm::While(_) => None,
        };
        if unroll {
            self.warn_of_unroll(bound.as_ref(), init.span);
        }
        let mut params = self.loop_params(sizes, pat, &start, frame);
        let state = params.value.clone();
        self.bind_pat(pat, &params.value.clone(), frame);
        let cond = match form {
            SourceForm::While(cond) => {
                let (cond, stms) = self.nested(|l| {
                    l.bind_held(sizes, pat, &state, frame);
                    l.scalar_exp(cond, frame)
                })?;
                let result = vec![cond];
                Some(LoopForm::While(Body { stms, result }))
            }
            SourceForm::For { .. } | SourceForm::ForIn { .. } => None,
        };
        let index = self.loop_index(form);
        let (result, stms) = self.nested(|l| {
            l.bind_held(sizes, pat, &state, frame);
            l.bind_index(form, index, bound.as_ref(), frame);
            let next = l.exp(body, frame)?;
            l.loop_result(&next, &params)
        })?;
        self.own_starts(&mut params);
        let form = match (cond, bound) {
            (Some(form), _) => form,
            (None, Some(Value::Leaf(bound))) => LoopForm::For {
                index,
                bound: bound.atom,
            },
            (None, Some(array)) => LoopForm::For {
                index,
                bound: array.dims().first().map_or(int(0), |n| (*n).into()),
            },
            (None, None) => LoopForm::For {
                index,
                bound: int(0),
            },
        };
        self.finish_loop(params, form, Body { stms, result }, levels)
    }

    fn loop_params(
        &mut self,
        sizes: &'a [LoopSize],
        pat: &'a Pat,
        start: &Value<'a>,
        frame: &Rc<Frame<'a>>,
    ) -> Params<'a> {
        let mut named: BTreeMap<Var, Option<Size>> = BTreeMap::new();
        let mut inits = Vec::new();
        for size in sizes {
            inits.push(self.eval_size(&size.init, frame));
        }
        let before = self.watermark();
        for (size, init) in sizes.iter().zip(inits) {
            let text = self.typed.names.get(size.name).text.clone();
            let v = self.fresh(&text, Type::I64);
            named.insert(v, init);
            frame.bind(size.name, Binding::Size(Some(Size::Var(v))));
        }
        let ty = self.eval_type(&pat.ty, frame);
        self.params_of(&ty, start, &named, before)
    }

    /// Binds sizes that only what constructors hold tells.
    fn bind_held(
        &mut self,
        sizes: &'a [LoopSize],
        pat: &'a Pat,
        state: &Value<'a>,
        frame: &Rc<Frame<'a>>,
    ) {
        if !state.has_payload_arrays(false) {
            return;
        }
        for size in sizes {
            if let Some(found) = self.found_size(size.name, &pat.ty, state, frame) {
                frame.bind(size.name, Binding::Size(Some(found)));
            }
        }
    }

    /// The parameters for a state of the type; `named` are sizes that change, made after `before`.
    fn params_of(
        &mut self,
        ty: &Ty,
        start: &Value<'a>,
        named: &BTreeMap<Var, Option<Size>>,
        before: usize,
    ) -> Params<'a> {
        // Sizes computed from a size that changes differ from iteration to iteration too.
        let ty = ty.irregular_like(start);
        let start = &self.irregular_as(start, &ty);
        let ty = ty.map_dims(&mut |dim| {
            dim.filter(|d| {
                self.visible(*d, before) || size_var(*d).is_some_and(|v| named.contains_key(&v))
            })
        });
        let fixed = ty.map_dims(&mut |dim| dim.filter(|d| self.visible(*d, before)));
        let start = self.cast(start, &fixed);
        // A size begins as what the first dimension of that size is; others are the same under another name.
        let mut first: BTreeMap<Var, Size> = BTreeMap::new();
        let mut actual = dims_of(&start).into_iter();
        let agreed = ty.map_dims(&mut |dim| {
            let now = actual.next();
            match dim {
                Some(Size::Var(v)) if named.contains_key(&v) => {
                    now.map(|now| *first.entry(v).or_insert(now))
                }
                Some(_) | None => None,
            }
        });
        let start = self.cast(&start, &agreed);
        let mut actual = dims_of(&start).into_iter();
        let mut found = named.clone();
        let mut order: Vec<(Var, Atom)> = Vec::new();
        let mut leaves = Vec::new();
        let mut starts = start.parts().into_iter();
        let value = self.template(
            &ty,
            &mut Vec::new(),
            &mut |l, dim| {
                let now = actual.next().unwrap_or(Size::Const(0));
                match dim {
                    Some(Size::Var(v)) if named.contains_key(&v) => {
                        if found.remove(&v).is_some() {
                            order.push((v, now.into()));
                        }
                        Size::Var(v)
                    }
                    Some(dim) => dim,
                    None => {
                        let v = l.fresh("n", Type::I64);
                        order.push((v, now.into()));
                        Size::Var(v)
                    }
                }
            },
            &mut |l, ty, _| {
                let from = starts.next().unwrap_or(Leaf::new(int(0)));
                let ty = Some(l.ty(from.atom)).filter(Type::is_acc).unwrap_or(ty);
                let v = l.fresh("t", ty);
                leaves.push((v, from));
                Leaf::new(Atom::Var(v))
            },
            false,
        );
        // A size that no parameter shows keeps its first value.
        for v in found.into_keys() {
            order.push((v, named[&v].map_or(int(0), Atom::from)));
        }
        Params {
            sizes: order,
            leaves,
            value,
        }
    }

    /// A loop over what is counted, from a state of the type; sizes that the type does not tell may change.
    pub(super) fn counted(
        &mut self,
        ty: &Ty,
        start: &Value<'a>,
        bound: Size,
        step: &mut dyn FnMut(&mut Self, Atom, &Value<'a>) -> Res<Value<'a>>,
    ) -> Res<Value<'a>> {
        let before = self.watermark();
        let mut params = self.params_of(ty, start, &BTreeMap::new(), before);
        let index = self.fresh("i", Type::I64);
        let (result, stms) = self.nested(|l| {
            let next = step(l, index.into(), &params.value.clone())?;
            l.loop_result(&next, &params)
        })?;
        self.own_starts(&mut params);
        let form = LoopForm::For {
            index,
            bound: bound.into(),
        };
        self.finish_loop(params, form, Body { stms, result }, 0)
    }

    fn loop_index(&mut self, form: &SourceForm) -> Var {
        let ty = match form {
            SourceForm::For { prim, .. } => Type::Scalar(scalar_type(*prim)),
            SourceForm::ForIn { .. } | SourceForm::While(_) => Type::I64,
        };
        self.fresh("i", ty)
    }

    fn bind_index(
        &mut self,
        form: &'a SourceForm,
        index: Var,
        bound: Option<&Value<'a>>,
        frame: &Rc<Frame<'a>>,
    ) {
        match form {
            SourceForm::For { var, .. } => {
                frame.bind(*var, Binding::Value(Value::scalar(index)));
            }
            SourceForm::ForIn { pat, .. } => {
                if let Some(array) = bound {
                    let v = self.index_unchecked(array, &[Index::At(index.into())]);
                    self.bind_pat(pat, &v, frame);
                }
            }
            SourceForm::While(_) => {}
        }
    }

    /// The next values of all parameters: sizes first.
    fn loop_result(&mut self, next: &Value<'a>, params: &Params<'a>) -> Res<Vec<Atom>> {
        let changing: Vec<Var> = params.sizes.iter().map(|s| s.0).collect();
        let ty = self.type_of(&params.value);
        let next = self.irregular_as(next, &ty);
        // A regular state that is computed in a way that does not show it.
        let next = &self.regular_as(&next, &ty)?;
        let fixed = ty.map_dims(&mut |dim| {
            dim.filter(|d| size_var(*d).is_none_or(|v| !changing.contains(&v)))
        });
        let next = self.cast(next, &fixed);
        let mut sizes: BTreeMap<Var, Size> = BTreeMap::new();
        for (dim, now) in dims_of(&params.value).into_iter().zip(dims_of(&next)) {
            if let Some(v) = size_var(dim) {
                sizes.entry(v).or_insert(now);
            }
        }
        let mut result: Vec<Atom> = changing
            .iter()
            .map(|v| sizes.get(v).map_or(Atom::Var(*v), |s| (*s).into()))
            .collect();
        // Two dimensions of one size: the second must show the same variable.
        let agreed = ty.subst(&mut |atom| match atom {
            Atom::Var(v) => sizes.get(&v).map_or(atom, |s| (*s).into()),
            Atom::Const(_) => atom,
        });
        let next = self.cast(&next, &agreed);
        for ((param, _), leaf) in params.leaves.iter().zip(next.parts()) {
            let leaf = if self.cx.consumed.contains(param) && leaf.shared {
                self.copy_leaf(leaf)
            } else {
                leaf
            };
            result.push(leaf.atom);
        }
        for ((param, _), leaf) in params.leaves.iter().zip(&result[changing.len()..]) {
            // For the loop's result; inside, the parameter stands for itself.
            self.cx.loop_results.entry(*param).or_default().push(*leaf);
        }
        Ok(result)
    }

    /// What the body consumes is consumed by the loop: starts that others may read are copied.
    fn own_starts(&mut self, params: &mut Params<'a>) {
        for i in 0..params.leaves.len() {
            let (param, leaf) = params.leaves[i];
            if self.cx.consumed.contains(&param) {
                let mut atom = self.consume(leaf);
                // One array cannot start two parameters if one of them is consumed.
                let twice = params.leaves[..i].iter().any(|(_, l)| l.atom == atom);
                if twice {
                    atom = self.copy_leaf(Leaf::new(atom)).atom;
                }
                params.leaves[i].1 = Leaf::new(atom);
            }
        }
    }

    fn finish_loop(
        &mut self,
        params: Params<'a>,
        form: LoopForm<midend::ir::soac::Soac>,
        body: Body<midend::ir::soac::Soac>,
        levels: usize,
    ) -> Res<Value<'a>> {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut binds = Vec::new();
        let mut loop_params = Vec::new();
        for (var, init) in &params.sizes {
            let name = self.vars[*var].name.clone();
            let v = self.fresh(&name, Type::I64);
            binds.push(v);
            subst.insert(*var, v.into());
            loop_params.push(LoopParam {
                var: *var,
                init: *init,
            });
        }
        let mut through = |atom: Atom| match atom {
            Atom::Var(v) => subst.get(&v).copied().unwrap_or(atom),
            Atom::Const(_) => atom,
        };
        let mut leaves = BTreeMap::new();
        for (var, init) in &params.leaves {
            let info = self.vars[*var].clone();
            let acc = info.ty.is_acc();
            let shape: Vec<Size> = info
                .ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| super::value::subst_size(s, &mut through))
                .collect();
            let elem = info.ty.elem().filter(|_| !acc);
            let ty = elem.map_or(info.ty.clone(), |elem| {
                Type::array_of(&Type::Scalar(elem), &shape)
            });
            let v = self.fresh(&info.name, ty);
            binds.push(v);
            let mut from = self.cx.loop_results.remove(var).unwrap_or_default();
            from.push(init.atom);
            // The body's result may alias the parameter, and so the start.
            self.alias(*var, [init.atom]);
            self.alias(v, from);
            leaves.insert(*var, Atom::Var(v));
            loop_params.push(LoopParam {
                var: *var,
                init: init.atom,
            });
        }
        let shared: BTreeMap<Atom, bool> = params
            .leaves
            .iter()
            .map(|(v, init)| (leaves[v], init.shared))
            .collect();
        let exp = self.strip_mined(levels, loop_params, form, body)?;
        if !binds.is_empty() {
            self.push(binds, exp);
        }
        let value = params.value.subst(&mut |atom| match atom {
            Atom::Var(v) => leaves
                .get(&v)
                .or_else(|| subst.get(&v))
                .copied()
                .unwrap_or(atom),
            Atom::Const(_) => atom,
        });
        Ok(value.map_parts(&mut |leaf| Leaf {
            shared: shared.get(&leaf.atom).copied().unwrap_or(false),
            ..leaf
        }))
    }
}

fn size_var(size: Size) -> Option<Var> {
    match size {
        Size::Var(v) => Some(v),
        Size::Const(_) => None,
    }
}

/// Every dimension of a value, in order.
pub fn dims_of(v: &Value<'_>) -> Vec<Size> {
    let mut dims = Vec::new();
    collect_dims(v, &mut dims);
    dims
}

fn collect_dims(v: &Value<'_>, out: &mut Vec<Size>) {
    match v {
        Value::Leaf(_) | Value::Fun(_) => {}
        Value::Array { dims, elem } => {
            out.extend(dims.iter());
            collect_dims(elem, out);
        }
        Value::Tuple(vs) => vs.iter().for_each(|v| collect_dims(v, out)),
        Value::Record(vs) => vs.iter().for_each(|(_, v)| collect_dims(v, out)),
        Value::Rows(rows) => collect_dims(&rows.pool, out),
        Value::Sum(sum) => {
            for (_, vs) in &sum.cons {
                vs.iter().for_each(|v| collect_dims(v, out));
            }
        }
    }
}
