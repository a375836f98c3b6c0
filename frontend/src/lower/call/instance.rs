//! An instance of a definition: an IR function.

use super::Spec;
use super::abstraction::Abstraction;
use super::rebuild::Rebuild;
use crate::lower::env::{Binding, DefClosure, Frame};
use crate::lower::{Lower, Res};
use crate::typed::Name;
use midend::hash::HashMap;
use midend::ir::id::{FunId, Var};
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Body, Fun, Inline, Param};
use midend::ir::types::{Dim, Size, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl<'a> Lower<'a> {
    pub(super) fn specialise(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        bindings: &[(Name, Binding<'a>)],
        abs: &Abstraction,
    ) -> Res<usize> {
        let mut subst: BTreeMap<Var, Atom> = BTreeMap::new();
        let mut constants: Vec<Atom> = Vec::new();
        let mut params = Vec::new();
        for (atom, unique) in &abs.atoms {
            let ty = self.ty(*atom);
            let shape = ty.shape().iter().map(|dim| match dim {
                Dim::Size(Size::Var(v)) => match subst.get(v) {
                    Some(Atom::Var(p)) => Dim::Size(Size::Var(*p)),
                    Some(Atom::Const(_)) | None => *dim,
                },
                Dim::Size(Size::Const(_)) | Dim::Ragged(_) => *dim,
            });
            let ty = match &ty {
                Type::Array(a) => Type::Array(midend::ir::types::ArrayType {
                    elem: a.elem,
                    shape: shape.collect(),
                }),
                Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => ty.clone(),
            };
            let name = match atom {
                Atom::Var(v) => self.vars[*v].name.clone(),
                Atom::Const(_) => String::from("c"),
            };
            let sizes = ty.shape().iter().filter_map(|dim| dim.var());
            self.extents.extend(sizes);
            let param = self.fresh(&name, ty);
            params.push(Param {
                var: param,
                unique: *unique,
            });
            match atom {
                Atom::Var(v) => {
                    subst.insert(*v, param.into());
                }
                Atom::Const(_) => constants.push(param.into()),
            }
        }
        let fun = self.new_function(def);
        let index = self.spec_rows.len();
        self.specs.insert(abs.tokens.clone(), index);
        self.spec_rows.push(Spec {
            fun,
            params: params.clone(),
            result: None,
            def: Rc::clone(def),
            frame: None,
        });
        let home = self.home(&def.frame);
        let frame = self.frame(Some(home));
        self.spec_rows[index].frame = Some(Rc::clone(&frame));
        let mut rebuild = Rebuild {
            subst,
            constants: constants.into_iter(),
            closures: HashMap::default(),
        };
        for (name, binding) in bindings {
            let binding = self.rebuild_binding(binding, &mut rebuild);
            frame.bind(*name, binding);
        }
        self.lower_spec(def, index, &frame, &params)?;
        Ok(index)
    }

    pub(super) fn new_function(&mut self, def: &Rc<DefClosure<'a>>) -> FunId {
        let name = self.unique_name(&self.typed.names.get(def.def.name).text.clone());
        let attr = |name: &str| def.def.attrs.iter().any(|a| a.name == name);
        let inline = if def.def.recursive || attr("noinline") {
            Inline::Never
        } else if attr("inline") {
            Inline::Always
        } else {
            Inline::Auto
        };
        let outer = std::mem::replace(&mut self.inlined_at, Spans::NONE);
        let place = self.span_id(def.def.span);
        self.inlined_at = outer;
        self.funs.push(Fun {
            name,
            entry: None,
            params: Vec::new(),
            results: Vec::new(),
            body: Body {
                stms: Vec::new(),
                result: Vec::new(),
            },
            inline,
            derivative: None,
            span: place,
        })
    }

    pub(super) fn lower_spec(
        &mut self,
        def: &Rc<DefClosure<'a>>,
        index: usize,
        frame: &Rc<Frame<'a>>,
        params: &[Param],
    ) -> Res<()> {
        let outer_at = std::mem::replace(&mut self.inlined_at, Spans::NONE);
        let outer_span = self.span;
        let fixed: BTreeSet<Var> = params.iter().map(|p| p.var).collect();
        let parallel = self.is_parallel();
        let outer_cx = std::mem::take(&mut self.cx);
        let ((), stms) = self.nested(|l| {
            if parallel && l.tells_payloads(def, frame) {
                l.start_parallel();
            }
            if def.def.recursive {
                l.declare_result(def, index, frame, &fixed);
            }
            let v = l.exp(&def.def.body, frame)?;
            let shape = l.spec_rows[index].result.clone();
            let ty = l.eval_type(&def.def.ret.ty, frame);
            let ty = match &shape {
                Some(shape) => ty.irregular_like(&shape.value),
                None => ty.irregular_like(&v),
            };
            let v = match &shape {
                Some(_) => l.cast(&v, &ty),
                None => l.cast_result(&v, &ty),
            };
            let v = l.irregular_as(&v, &ty);
            let (shape, result) = match shape {
                Some(shape) => {
                    let result = l.result_in(&shape, &v);
                    (shape, result)
                }
                None => l.result_shape(&v, &ty, &fixed, params),
            };
            l.spec_result = result;
            l.spec_rows[index].result = Some(shape);
            Ok(())
        })?;
        let result = std::mem::take(&mut self.spec_result);
        let spec = &self.spec_rows[index];
        let formals = spec.result.iter().flat_map(|shape| {
            let sizes = shape.sizes.iter().map(|v| Param {
                var: *v,
                unique: false,
            });
            sizes.chain(shape.leaves.iter().copied())
        });
        let (fun, formals) = (spec.fun, formals.collect());
        let params = spec.params.clone();
        let row = &mut self.funs[fun];
        row.params = params;
        row.results = formals;
        row.body = Body { stms, result };
        let cx = std::mem::replace(&mut self.cx, outer_cx);
        self.fun_globals.insert(fun, cx.globals);
        self.inlined_at = outer_at;
        self.span = outer_span;
        Ok(())
    }
}
