//! The results of functions: which sizes they tell, and what they own.

use super::ResultShape;
use crate::lower::Lower;
use crate::lower::env::{DefClosure, Frame};
use crate::lower::value::{Leaf, Ty, Value};
use midend::ir::id::Var;
use midend::ir::syntax::{Atom, Param};
use midend::ir::types::{Size, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// A function that is called while it is lowered, through another one: its result is what its type says.
    pub(super) fn declare_early(&mut self, index: usize) {
        let spec = &self.spec_rows[index];
        let fixed = spec.params.iter().map(|p| p.var).collect();
        let def = Rc::clone(&spec.def);
        if let Some(frame) = spec.frame.clone() {
            self.declare_result(&def, index, &frame, &fixed);
        }
    }

    /// The result of a recursive function, from its declared type alone.
    pub(super) fn declare_result(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        index: usize,
        frame: &Rc<Frame<'a>>,
        fixed: &BTreeSet<Var>,
    ) {
        let ty = self.eval_type(&def.def.ret.ty, frame);
        let mut sizes = Vec::new();
        let mut leaves = Vec::new();
        let value = self.template(
            &ty,
            &mut Vec::new(),
            &mut |l, dim| match dim {
                Some(Size::Const(n)) => Size::Const(n),
                Some(Size::Var(v)) if fixed.contains(&v) => Size::Var(v),
                Some(Size::Var(_)) | None => {
                    let v = l.fresh("n", Type::I64);
                    sizes.push(v);
                    Size::Var(v)
                }
            },
            &mut |l, ty, unique| {
                let var = l.fresh("r", ty.clone());
                let unique = unique && ty.is_array();
                leaves.push(Param { var, unique });
                Leaf {
                    shared: !unique,
                    ..Leaf::new(Atom::Var(var))
                }
            },
            false,
        );
        self.spec_rows[index].result = Some(ResultShape {
            sizes,
            leaves,
            value,
        });
    }

    /// The atoms of a result for a shape that is known.
    pub(super) fn result_in(&mut self, shape: &ResultShape<'a>, v: &Value<'a>) -> Vec<Atom> {
        let mut found: BTreeMap<Var, Size> = BTreeMap::new();
        let want = crate::lower::loops::dims_of(&shape.value);
        let have = crate::lower::loops::dims_of(v);
        for (want, have) in want.into_iter().zip(have) {
            if let Size::Var(v) = want {
                found.entry(v).or_insert(have);
            }
        }
        let mut result: Vec<Atom> = Vec::new();
        for size in &shape.sizes {
            result.push(found.get(size).map_or(Atom::Var(*size), |s| (*s).into()));
        }
        for (param, leaf) in shape.leaves.iter().zip(v.parts()) {
            let atom = if param.unique {
                self.owned_result(leaf, &result)
            } else {
                leaf.atom
            };
            result.push(atom);
        }
        result
    }

    /// A result that aliases nothing that the caller may still read.
    pub(super) fn owned_result(&mut self, leaf: Leaf, others: &[Atom]) -> Atom {
        if leaf.shared || others.contains(&leaf.atom) {
            return self.copy_leaf(leaf).atom;
        }
        leaf.atom
    }

    fn roots_of(&self, atom: Atom) -> BTreeSet<Var> {
        match atom {
            Atom::Var(v) => self.roots(v),
            Atom::Const(_) => BTreeSet::new(),
        }
    }

    /// The shape of a result, from the result itself: sizes that are not parameters are results too.
    pub(super) fn result_shape(
        &mut self,
        v: &Value<'a>,
        ty: &Ty,
        fixed: &BTreeSet<Var>,
        params: &[Param],
    ) -> (ResultShape<'a>, Vec<Atom>) {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut sizes = Vec::new();
        let mut result = Vec::new();
        for dim in crate::lower::loops::dims_of(v) {
            if let Size::Var(d) = dim
                && !fixed.contains(&d)
                && !subst.contains_key(&d)
            {
                let formal = self.fresh("n", Type::I64);
                subst.insert(d, formal.into());
                sizes.push(formal);
                result.push(Atom::Var(d));
            }
        }
        let declared = unique_leaves(ty);
        let frozen: BTreeSet<Var> = params.iter().filter(|p| !p.unique).map(|p| p.var).collect();
        let atoms: Vec<(Atom, bool)> = (v.parts().into_iter().enumerate())
            .map(|(i, leaf)| {
                let is_array = self.ty(leaf.atom).is_array();
                let atom = if is_array && declared.get(i).copied().unwrap_or(false) {
                    self.owned_result(leaf, &result)
                } else {
                    leaf.atom
                };
                result.push(atom);
                (atom, is_array && !(leaf.shared && atom == leaf.atom))
            })
            .collect();
        let roots: Vec<BTreeSet<Var>> = atoms.iter().map(|(a, _)| self.roots_of(*a)).collect();
        let mut owners: BTreeMap<Var, usize> = BTreeMap::new();
        for root in roots.iter().flatten() {
            *owners.entry(*root).or_default() += 1;
        }
        // An array belongs to the caller where it shares no memory with an argument or with another result.
        let alone = |root: &Var| owners[root] == 1 && !frozen.contains(root);
        let fresh: Vec<bool> = (atoms.iter().zip(&roots))
            .map(|((_, owned), roots)| *owned && roots.iter().all(alone))
            .collect();
        let mut leaves = Vec::new();
        let value = v.map_parts(&mut |_| {
            let ((atom, _), fresh) = (atoms[leaves.len()], fresh[leaves.len()]);
            let is_array = self.ty(atom).is_array();
            let ty = self.ty(atom);
            let shape: Vec<Size> = ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| {
                    crate::lower::value::subst_size(s, &mut |a| match a {
                        Atom::Var(v) => subst.get(&v).copied().unwrap_or(a),
                        Atom::Const(_) => a,
                    })
                })
                .collect();
            let elem = ty.elem().map_or(ty.clone(), Type::Scalar);
            let var = self.fresh("r", Type::array_of(&elem, &shape));
            leaves.push(Param { var, unique: fresh });
            Leaf {
                shared: is_array && !fresh,
                ..Leaf::new(Atom::Var(var))
            }
        });
        let leaf_vars: BTreeSet<Var> = leaves.iter().map(|p| p.var).collect();
        let value = value.subst(&mut |a| match a {
            Atom::Var(v) if !leaf_vars.contains(&v) => subst.get(&v).copied().unwrap_or(a),
            Atom::Var(_) | Atom::Const(_) => a,
        });
        let shape = ResultShape {
            sizes,
            leaves,
            value,
        };
        (shape, result)
    }
}

/// For each leaf of a value of the type, whether the type calls it unique.
pub(super) fn unique_leaves(ty: &Ty) -> Vec<bool> {
    fn go(ty: &Ty, unique: bool, inner: bool, out: &mut Vec<bool>) {
        match ty {
            Ty::Scalar(_) => out.push(unique),
            Ty::Array(a) => {
                if a.irregular && inner {
                    // Where rows begin and end.
                    out.extend([unique; 2]);
                }
                go(&a.elem, unique || a.unique, true, out);
            }
            Ty::Tuple(ts) => ts.iter().for_each(|t| go(t, unique, inner, out)),
            Ty::Record(ts) => ts.iter().for_each(|(_, t)| go(t, unique, inner, out)),
            Ty::Sum(cons) => {
                out.push(unique);
                for (_, ts) in cons.iter() {
                    ts.iter().for_each(|t| go(t, unique, inner, out));
                }
            }
            Ty::Fun => {}
        }
    }
    let mut out = Vec::new();
    go(ty, false, false, &mut out);
    out
}
