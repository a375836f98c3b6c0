//! Entry points: IR functions whose leading parameters are the extents of the values that come from outside.

use super::coerce::shape_parts;
use super::emit::{FnCx, text, value};
use super::env::{Binding, Frame};
use super::units::{Outside, outside, type_of_units};
use super::value::{Code, FunValue, Instance, Leaf, Ty, Value};
use super::{Lower, Res};
use crate::typed::{Entry, Name, PatKind, Type as SourceType};
use midend::ir::id::Var;
use midend::ir::scalar::{CmpOp, Const};
use midend::ir::span::Spans;
use midend::ir::syntax::{
    Atom, Body, Entry as IrEntry, EntryParam, EntryType, Fun, Inline, MessagePart, Param, TrapKind,
};
use midend::ir::types::{ScalarType, Size, Type};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// An entry point.
    pub fn entry(&mut self, entry: &'a Entry, file: &Rc<Frame<'a>>) -> Res<()> {
        self.cx = FnCx::default();
        self.inlined_at = Spans::NONE;
        let frame = self.frame(Some(Rc::clone(file)));
        let mut params: Vec<Param> = Vec::new();
        let mut described = Vec::new();
        let mut sizes: Vec<Var> = Vec::new();
        let mut leaves: Vec<Param> = Vec::new();
        let mut args = Vec::new();
        for param in &entry.params {
            if let Some(elem) = super::sequence::elements(param) {
                let (elem, _) = self.nested(|l| Ok(l.eval_type(elem, &frame)))?;
                described.push(EntryParam {
                    name: param.name.clone().unwrap_or_else(|| String::from("_")),
                    ty: structure(&Ty::array(None, elem)),
                    unique: false,
                    streamed: true,
                });
                args.push(Value::unit());
                continue;
            }
            // Only the structure counts; what computes the sizes is emitted when arguments are there.
            let (ty, _) = self.nested(|l| Ok(l.eval_type(&param.ty, &frame)))?;
            let v = self.entry_value(&ty, &mut sizes);
            if v.has_rows() {
                let at = self.typed.names.get(entry.value).span;
                let name = param.name.as_deref().unwrap_or("_");
                self.remark_on_kept(
                    at,
                    format!("the rows of the parameter `{name}` may have any lengths"),
                );
            }
            leaves.extend(self.entry_leaves(&v));
            described.push(EntryParam {
                name: param.name.clone().unwrap_or_else(|| String::from("_")),
                ty: entry_type(&ty, &param.type_text, &param.ty),
                unique: is_unique(&ty),
                streamed: false,
            });
            args.push(v);
        }
        params.extend(sizes.iter().map(|v| Param {
            var: *v,
            unique: false,
        }));
        params.extend(leaves);
        let ((v, results), stms) = self.nested(|l| {
            l.span = Spans::NONE;
            let args: Res<Vec<_>> = args.iter().map(|v| l.rows_in(v, &mut Vec::new())).collect();
            let args = l.entry_sizes(entry, args?, &frame)?;
            let v = l.entry_call(entry, args, file)?;
            if let Some(drain) = entry.drain {
                l.drain(drain, v, (entry, &frame), file)?;
                let v = Value::unit();
                let results = l.entry_results(&v);
                return Ok((v, results));
            }
            let ty = l.eval_type(&entry.result.ty, &frame);
            let v = l.irregular_as(&v, &ty);
            let v = l.rows_out(&v, &mut Vec::new())?;
            let results = l.entry_results(&v);
            Ok((v, results))
        })?;
        let name = self.unique_name(&format!("entry_{}", entry.name));
        let (results, result, size_results) = results;
        let info = self.typed.names.get(entry.value);
        let span = info.span.map_or(Spans::NONE, |s| self.span_id(s));
        let result_ty = match super::sequence::elements_of(&entry.result.ty) {
            Some(elem) if entry.drain.is_some() => {
                let (elem, _) = self.nested(|l| Ok(l.eval_type(elem, &frame)))?;
                Ty::array(None, elem)
            }
            Some(_) | None => self.type_of(&v),
        };
        let text = entry.result_text.as_deref().unwrap_or("");
        let result_type = match entry.drain {
            Some(_) => structure(&result_ty),
            None => entry_type(&result_ty, text, &entry.result.ty),
        };
        let result_types = match result_type {
            EntryType::Tuple(ts) => ts,
            EntryType::Scalar(_)
            | EntryType::Array { .. }
            | EntryType::Rows(_)
            | EntryType::Record(_)
            | EntryType::Sum(_)
            | EntryType::Opaque { .. } => vec![result_type],
        };
        let cx = std::mem::take(&mut self.cx);
        let fun = self.funs.push(Fun {
            name,
            entry: Some(IrEntry {
                name: entry.name.clone(),
                size_params: sizes.len(),
                size_results,
                params: described,
                results: result_types,
                streamed: entry.drain.is_some(),
            }),
            params,
            results,
            body: Body { stms, result },
            inline: Inline::Auto,
            derivative: None,
            span,
        });
        self.fun_globals.insert(fun, cx.globals);
        Ok(())
    }

    /// A parameter's value: every dimension is a size parameter of its own.
    fn entry_value(&mut self, ty: &Ty, sizes: &mut Vec<Var>) -> Value<'a> {
        let free = ty.map_dims(&mut |_| None);
        self.template(
            &free,
            &mut Vec::new(),
            &mut |l, _| {
                let v = l.fresh("n", Type::I64);
                l.extents.insert(v);
                sizes.push(v);
                Size::Var(v)
            },
            &mut |l, ty, unique| {
                let unique = unique && ty.is_array();
                let var = l.fresh("t", ty);
                Leaf {
                    shared: !unique,
                    ..Leaf::new(Atom::Var(var))
                }
            },
            false,
        )
    }

    /// The parameters that a value made by [`Lower::entry_value`] is given as.
    fn entry_leaves(&mut self, v: &Value<'a>) -> Vec<Param> {
        let param = |part| match part {
            Outside::Data(leaf) => Some(Param {
                var: leaf.atom.as_var()?,
                unique: !leaf.shared,
            }),
            Outside::Units(shape) => Some(Param {
                var: self.fresh("units", type_of_units(&shape)),
                unique: false,
            }),
        };
        outside(v).into_iter().filter_map(param).collect()
    }

    /// Binds the sizes that the parameters' types name, and checks all others.
    fn entry_sizes(
        &mut self,
        entry: &'a Entry,
        args: Vec<Value<'a>>,
        frame: &Rc<Frame<'a>>,
    ) -> Res<Vec<Value<'a>>> {
        for (i, (param, arg)) in entry.params.iter().zip(&args).enumerate() {
            if param.streamed {
                continue;
            }
            if let Some(name) = &param.name {
                arg.each_leaf(&mut |leaf| self.hint(leaf.atom, name));
            }
            if let Some(name) = self.entry_param_name(entry, i, frame) {
                frame.bind(name, Binding::Value(arg.clone()));
            }
            let mut names = Vec::new();
            super::mentions::ty(&param.ty, &mut |m| {
                if let super::mentions::Mention::Name(name) = m
                    // An earlier parameter may have named it without telling it, as `[n * 2]` does.
                    && matches!(frame.lookup(name), None | Some(Binding::Size(None)))
                    && name != Name::IRREGULAR
                    && self.intrinsic_of(name).is_none()
                    && !names.contains(&name)
                {
                    names.push(name);
                }
            });
            for name in names {
                self.bind_exts(&[name], &param.ty, arg, frame);
                if let Some(Binding::Size(None)) = frame.lookup(name) {
                    continue;
                }
                if let Some(Binding::Size(Some(Size::Var(v)))) = frame.lookup(name) {
                    let text = self.typed.names.get(name).text.clone();
                    self.vars[v].name = midend::ir::build::clean_name(&text);
                }
            }
        }
        let mut out = Vec::new();
        let mut streams = 0;
        for (param, arg) in entry.params.iter().zip(args) {
            if let Some(elem) = super::sequence::elements(param) {
                let elem = self.eval_type(elem, frame);
                out.push(super::sequence::read(streams, elem));
                streams += 1;
                continue;
            }
            let ty = self.stated_type(&param.ty, frame);
            let name = param.name.clone().unwrap_or_else(|| String::from("_"));
            let mut message = |have: &[Size], want: &[Size]| {
                let mut parts = vec![text(format!(
                    "Entry point arguments have invalid sizes: parameter `{name}` has shape "
                ))];
                parts.extend(shape_parts(have));
                parts.push(text(", expected "));
                parts.extend(shape_parts(want));
                parts.push(text("."));
                parts
            };
            let arg = self.coerce(&arg, &ty, TrapKind::Shape, &mut message)?;
            let arg = self.check_tags(&arg, &name);
            out.push(arg);
        }
        Ok(out)
    }

    /// The id by which sizes may name a parameter.
    fn entry_param_name(
        &mut self,
        entry: &'a Entry,
        i: usize,
        frame: &Rc<Frame<'a>>,
    ) -> Option<Name> {
        if let Some(Binding::Def(def)) = frame.lookup(entry.value)
            && let Some(param) = def.def.params.get(i)
        {
            return match &param.kind {
                PatKind::Name(name) => Some(*name),
                PatKind::Wild
                | PatKind::Tuple(_)
                | PatKind::Record(_)
                | PatKind::Literal(_)
                | PatKind::Construct(..) => None,
            };
        }
        None
    }

    /// A sum from outside must name a constructor that there is.
    fn check_tags(&mut self, v: &Value<'a>, name: &str) -> Value<'a> {
        let Value::Sum(sum) = v else {
            return v.clone();
        };
        let count = Atom::Const(Const::U8(u8::try_from(sum.cons.len()).unwrap_or(u8::MAX)));
        let ok = self.cmp(CmpOp::Lt, ScalarType::U8, sum.tag.atom, count);
        let parts: Vec<MessagePart> = vec![
            text(format!("Value for parameter `{name}` has constructor ")),
            value(sum.tag.atom),
            text(", which its type does not have."),
        ];
        let certs = self.assert(ok, TrapKind::Other, parts);
        let ty = self.ty(sum.tag.atom);
        let exp = midend::ir::syntax::Exp::Atom(sum.tag.atom);
        let tag = self.with_certs(&certs, |l| l.bind1("tag", ty, exp));
        let mut first = true;
        v.map_leaves(&mut |leaf| {
            if std::mem::take(&mut first) {
                Leaf::new(tag.into())
            } else {
                leaf
            }
        })
    }

    fn entry_call(
        &mut self,
        entry: &'a Entry,
        args: Vec<Value<'a>>,
        file: &Rc<Frame<'a>>,
    ) -> Res<Value<'a>> {
        let span = self.typed.names.get(entry.value).span.unwrap_or_default();
        let v = match file.lookup(entry.value) {
            Some(Binding::Def(def))
                if !def.def.params.is_empty()
                    && def.def.params.len() == args.len()
                    && !def.def.recursive =>
            {
                let frame = self.def_frame(&def, &unknown_instance(&def.def.scheme));
                self.bind_params(&def.def.params, &args, &frame);
                let v = self.exp(&def.def.body, &frame)?;
                let ty = self.eval_type(&def.def.ret.ty, &frame);
                self.cast_result(&v, &ty)
            }
            Some(Binding::Def(def)) if !def.def.params.is_empty() => {
                let inst = unknown_instance(&def.def.scheme);
                let f = Value::Fun(Rc::new(FunValue {
                    code: Code::Def {
                        def: Rc::clone(&def),
                        inst: Rc::new(inst),
                    },
                    args: Vec::new(),
                }));
                self.apply(f, args, span)?
            }
            Some(Binding::Def(def)) => {
                let inst = unknown_instance(&def.def.scheme);
                let f = self.name_value(entry.value, file, &inst)?;
                self.apply(f, args, span)?
            }
            _ => {
                let f = self.name_value(entry.value, file, &Instance::default())?;
                self.apply(f, args, span)?
            }
        };
        if v.has_fun() && entry.drain.is_none() {
            return Err(super::unsupported(
                span,
                "an entry point that returns a function",
            ));
        }
        Ok(v)
    }

    /// Result formals, results and the number of leading sizes.
    fn entry_results(&mut self, v: &Value<'a>) -> (Vec<Param>, Vec<Atom>, usize) {
        let mut formals = Vec::new();
        let mut result = Vec::new();
        let mut subst = std::collections::BTreeMap::new();
        for dim in super::loops::dims_of(v) {
            if let Size::Var(d) = dim
                && !subst.contains_key(&d)
            {
                let formal = self.fresh("n", Type::I64);
                subst.insert(d, Atom::Var(formal));
                formals.push(Param {
                    var: formal,
                    unique: false,
                });
                result.push(Atom::Var(d));
            }
        }
        let size_results = formals.len();
        for part in outside(v) {
            let atom = match part {
                Outside::Data(leaf) => leaf.atom,
                Outside::Units(shape) => self.units(&shape),
            };
            let ty = self.ty(atom);
            let dims: Vec<Size> = ty
                .shape()
                .iter()
                .filter_map(|d| d.size())
                .map(|s| {
                    super::value::subst_size(s, &mut |a| match a {
                        Atom::Var(v) => subst.get(&v).copied().unwrap_or(a),
                        Atom::Const(_) => a,
                    })
                })
                .collect();
            let elem = ty.elem().map_or(ty.clone(), Type::Scalar);
            let var = self.fresh("r", Type::array_of(&elem, &dims));
            formals.push(Param { var, unique: false });
            result.push(atom);
        }
        (formals, result, size_results)
    }
}

/// An instance of which only the arguments tell the sizes.
fn unknown_instance(scheme: &crate::typed::Scheme) -> Instance {
    Instance {
        types: scheme
            .types
            .iter()
            .map(|_| Ty::Tuple(Rc::from([])))
            .collect(),
        sizes: scheme.sizes.iter().map(|_| None).collect(),
    }
}

fn is_unique(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(_) | Ty::Fun => false,
        Ty::Array(a) => a.unique,
        Ty::Tuple(ts) => ts.iter().any(is_unique),
        Ty::Record(ts) => ts.iter().any(|(_, t)| is_unique(t)),
        Ty::Sum(cons) => cons.iter().any(|(_, ts)| ts.iter().any(is_unique)),
    }
}

/// How the outside sees a type.
fn entry_type(ty: &Ty, text: &str, source: &SourceType) -> EntryType {
    let plain = structure(ty);
    let text = text.trim_start_matches('*');
    let named = text
        .chars()
        .next()
        .is_some_and(|c| c.is_alphabetic() || c == '_');
    let composite = match &plain {
        EntryType::Record(_) | EntryType::Sum(_) | EntryType::Opaque { .. } => true,
        EntryType::Tuple(_) => named,
        EntryType::Scalar(_) | EntryType::Array { .. } | EntryType::Rows(_) => {
            matches!(source, SourceType::Named(_))
        }
    };
    if composite && named {
        return EntryType::Opaque {
            name: text.into(),
            of: Box::new(plain),
        };
    }
    plain
}

/// A type as the outside sees it, without the names of types.
pub(super) fn structure(ty: &Ty) -> EntryType {
    structure_in(ty, false)
}

/// The same; in an array, irregular dimensions are rows of any lengths.
fn structure_in(ty: &Ty, inner: bool) -> EntryType {
    match ty {
        Ty::Scalar(s) => EntryType::Scalar(*s),
        Ty::Array(a) if a.irregular && inner => {
            EntryType::Rows(Box::new(structure_in(&a.elem, true)))
        }
        Ty::Array(_) => {
            let mut rank = 0;
            let mut elem = ty;
            while let Ty::Array(a) = elem
                && !(a.irregular && rank > 0)
            {
                rank += 1;
                elem = &a.elem;
            }
            EntryType::Array {
                rank,
                elem: Box::new(structure_in(elem, true)),
            }
        }
        Ty::Tuple(ts) => EntryType::Tuple(ts.iter().map(|t| structure_in(t, inner)).collect()),
        Ty::Record(ts) => EntryType::Record(
            ts.iter()
                .map(|(name, t)| (name.to_string(), structure_in(t, inner)))
                .collect(),
        ),
        Ty::Sum(cons) => EntryType::Sum(
            cons.iter()
                .map(|(name, ts)| {
                    let ts = ts.iter().map(|t| structure_in(t, inner));
                    (name.to_string(), ts.collect())
                })
                .collect(),
        ),
        Ty::Fun => EntryType::Tuple(Vec::new()),
    }
}
