//! Declarations: values, types, modules, in order; files and their imports.

use super::context::{Cx, Res, err};
use super::env::{Env, Module, TypeAbbr};
use super::index::Space;
use super::infer::Infer;
use super::infer::def::{Parts, RECURSIVE, is_poison, lift};
use super::infer::tyexp::free_sizes;
use super::raw::RType;
use super::sized::{Sizer, causal};
use super::subst::{TypeFun, any_unique, clear_unique};
use super::ty::{Lift, RetType, Sym, Type, TypeParam};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::syntax::ast::{self, DecKind};
use crate::typed::{Dec, File, NameKind, ValueDef};
use midend::hash::HashMap;
use std::sync::Arc;

/// What the declarations of a structure give.
#[derive(Default)]
pub(crate) struct Decs {
    pub(crate) exports: Env,
    pub(crate) typed: Vec<Dec>,
    seen: HashMap<(u8, Sym), Span>,
    /// Whether errors were reported.
    pub(crate) failed: bool,
}

impl Cx<'_> {
    /// The declarations of one structure; its frame is the innermost.
    pub(crate) fn decs(&mut self, decs: &[ast::Dec], out: &mut Decs) -> Res<()> {
        decs.iter().try_for_each(|dec| self.dec(dec, out, true))
    }

    fn dec(&mut self, dec: &ast::Dec, out: &mut Decs, export: bool) -> Res<()> {
        match &dec.kind {
            DecKind::Val(bind) => self.val_dec(bind, dec, out, export),
            DecKind::Type(bind) => {
                distinct(out, 1, &bind.name, export)?;
                let abbr = self.type_bind(bind)?;
                let name = bind.name.name.clone();
                self.frame().types.insert(name.clone(), abbr.clone());
                self.define_site(Space::Type, &bind.name);
                if export {
                    out.exports.put_site(Space::Type, &bind.name);
                    out.exports.types.insert(name, abbr);
                }
                Ok(())
            }
            DecKind::Module(bind) => {
                distinct(out, 0, &bind.name, export)?;
                let (module, exp) = self.module_bind(bind)?;
                let name = bind.name.name.clone();
                self.frame().add_module(name.clone(), module.clone());
                self.define_site(Space::Module, &bind.name);
                if export {
                    out.exports.put_site(Space::Module, &bind.name);
                    out.exports.add_module(name, module);
                }
                out.typed.push(Dec::Module(exp));
                Ok(())
            }
            DecKind::ModType(bind) => {
                distinct(out, 3, &bind.name, export)?;
                let sig = Arc::new(self.sig_exp(&bind.body)?);
                let name = bind.name.name.clone();
                self.frame().sigs.insert(name.clone(), Arc::clone(&sig));
                self.define_site(Space::ModuleType, &bind.name);
                if export {
                    out.exports.put_site(Space::ModuleType, &bind.name);
                    out.exports.sigs.insert(name, sig);
                }
                Ok(())
            }
            DecKind::Open(me) => {
                let (module, exp) = self.module_exp(me)?;
                let Module::Struct(env) = module else {
                    return err(
                        Code::BadModule,
                        me.span,
                        "a parametric module cannot be opened",
                    );
                };
                self.frame().extend(&env);
                if export {
                    out.exports.extend(&env);
                }
                out.typed.push(Dec::Module(exp));
                Ok(())
            }
            DecKind::Import(path) => {
                let env = self.import(path)?;
                self.frame().extend(&env);
                Ok(())
            }
            DecKind::Local(inner) => self.dec(inner, out, false),
        }
    }

    fn val_dec(
        &mut self,
        bind: &ast::ValBind,
        dec: &ast::Dec,
        out: &mut Decs,
        export: bool,
    ) -> Res<()> {
        distinct(out, 0, &bind.name, export)?;
        if *bind.name.name == *"&&" || *bind.name.name == *"||" {
            let message = format!(
                "`{}` cannot be defined anew: it does not always evaluate its second operand",
                bind.name.name
            );
            return err(Code::DuplicateName, bind.name.span, message);
        }
        let sym = bind.name.name.clone();
        let name = match self.define(bind, &dec.attrs, dec.span) {
            Ok(def) => {
                let name = def.name;
                out.typed.push(Dec::Value(Arc::clone(&def)));
                let is_main = self.is_main_file() && self.frames.len() == 1 && *sym == *"main";
                if is_main || bind.keyword == ast::ValKeyword::Entry {
                    self.entry(bind, dec.doc.as_ref(), &def)?;
                }
                name
            }
            Err(d) => {
                // The rest of the file is still worth checking.
                out.failed = true;
                if !is_poison(&d) {
                    self.diags.push(*d);
                }
                let name = self.fresh_ident(&bind.name, NameKind::Value);
                self.poisoned.insert(name);
                name
            }
        };
        self.note_value(bind.name.span, name);
        self.frame().add_value(sym.clone(), name);
        if export {
            out.exports.add_value(sym, name);
        }
        Ok(())
    }

    /// Checks a definition. A function may refer to itself; if it is then ill-typed, its name means what it meant before.
    pub(crate) fn define(
        &mut self,
        bind: &ast::ValBind,
        attrs: &[ast::Attr],
        span: Span,
    ) -> Res<Arc<ValueDef>> {
        let name = self.fresh_ident(&bind.name, NameKind::Value);
        let parts = Parts {
            name,
            name_span: bind.name.span,
            type_params: &bind.type_params,
            params: &bind.params,
            ret: bind.ret.as_ref(),
            body: &bind.body,
            attrs,
            span,
        };
        let own = (!bind.params.is_empty()).then_some(&bind.name);
        let mut def = match self.attempt(&parts, own) {
            Ok(def) => def,
            Err(mut d) => {
                let recursive = d.notes.iter().any(|n| n.text() == RECURSIVE);
                d.notes.retain(|n| n.text() != RECURSIVE);
                let outer = recursive
                    && own.is_some()
                    && self
                        .global_value(&bind.name.name)
                        .is_ok_and(|v| v.is_some());
                if !outer {
                    return Err(d);
                }
                let Ok(def) = self.attempt(&parts, None) else {
                    return Err(d);
                };
                self.warn(
                    Code::OuterBinding,
                    bind.name.span,
                    format!("`{}` in its own body means an earlier definition; as a recursive function it would be ill-typed", bind.name.name),
                );
                def
            }
        };
        let written = bind.ret.as_ref().map(|t| t.span);
        let mut errors =
            crate::consume::check(&mut def, written, &self.names, &self.kept).into_iter();
        if let Some(first) = errors.next() {
            self.diags.extend(errors);
            return Err(Box::new(first));
        }
        self.names.get_mut(name).scheme = Some(def.scheme.clone());
        if def.params.is_empty() && !def.ret.exts.is_empty() {
            self.value_exts.insert(name, def.ret.exts.clone());
        }
        Ok(Arc::new(def))
    }

    fn attempt(&mut self, parts: &Parts<'_>, own: Option<&ast::Ident>) -> Res<ValueDef> {
        let warnings = self.diags.len();
        let open = self.open_locals();
        let result = self.attempt_inner(parts, own);
        self.close_locals(open, parts.span.hi);
        if result.is_err() {
            self.diags.truncate(warnings);
        }
        result
    }

    fn attempt_inner(&mut self, parts: &Parts<'_>, own: Option<&ast::Ident>) -> Res<ValueDef> {
        let mut infer = Infer::new(self);
        let raw = infer.top_def(parts, own)?;
        let Infer { cx, solver, .. } = infer;
        let mut sizer = Sizer::new(cx, solver);
        let recursive = raw.recursive;
        let mut finish = || -> Res<ValueDef> {
            let mut def = sizer.binding(&raw)?;
            sizer.finish(&mut def)?;
            causal::check(&sizer, &def.body)?;
            Ok(def)
        };
        finish().map_err(|mut d| {
            if recursive {
                d.notes
                    .push(crate::diagnostic::Note::Fact(RECURSIVE.to_owned()));
            }
            d
        })
    }

    /// A type abbreviation.
    pub(crate) fn type_bind(&mut self, bind: &ast::TypeBind) -> Res<TypeAbbr> {
        let (params, ret, actual) = self.type_rhs(&bind.params, &bind.body)?;
        let declared = lift(bind.lift);
        let span = bind.body.span;
        if actual == Lift::Full && declared < Lift::Full {
            return Err(Box::new(
                Diagnostic::error(
                    Code::BadType,
                    span,
                    "this type may hold functions, but is declared as an ordinary type",
                )
                .hint("declare it with `type^`"),
            ));
        }
        if (actual == Lift::Size || !ret.exts.is_empty()) && declared < Lift::Size {
            return Err(Box::new(
                Diagnostic::error(
                    Code::BadType,
                    span,
                    "this type has sizes that it does not say, but is declared as an ordinary type",
                )
                .hint("add size parameters, or declare it with `type~`"),
            ));
        }
        let used = free_sizes(&ret.ty);
        for (p, ident) in params.iter().zip(&bind.params) {
            if let TypeParam::Size(n) = p
                && !used.contains(n)
            {
                let message = format!("the size parameter `{}` is not used", ident.name.name);
                return err(Code::BadSize, ident.span, message);
            }
        }
        Ok(TypeAbbr {
            lift: declared,
            fun: TypeFun { params, rhs: ret },
        })
    }

    /// The parameters and the right-hand side of a type.
    pub(crate) fn type_rhs(
        &mut self,
        params: &[ast::TypeParam],
        body: &ast::TypeExp,
    ) -> Res<(Vec<TypeParam>, RetType, Lift)> {
        let mut infer = Infer::new(self);
        let params = infer.type_params(params)?;
        let t = infer.type_exp(body)?;
        let lift = t.lift;
        let mut ret = infer.close_type(&t)?;
        if any_unique(&ret.ty) {
            let message = "`*` has no effect in the definition of a type";
            let warning = Diagnostic::warning(Code::IdleUnique, body.span, message);
            self.diags
                .push(warning.hint("write it where the type is that of a parameter or a result"));
            ret.ty = clear_unique(&ret.ty);
        }
        Ok((params, ret, lift))
    }

    pub(crate) fn is_main_file(&self) -> bool {
        self.main == Some(self.file)
    }

    // --- Files -------------------------------------------------------------

    /// The module of an imported file.
    pub(crate) fn import(&mut self, path: &ast::ImportPath) -> Res<Arc<Env>> {
        if path.path == "/prelude" || path.path.starts_with("/prelude/") {
            return Ok(Arc::new(Env::default()));
        }
        let file = match self.loader.load(self.file, &path.path) {
            Ok(file) => file,
            Err(why) => {
                let message = format!("cannot import \"{}\": {why}", path.path);
                return err(Code::BadImport, path.span, message);
            }
        };
        match self.files.get(&file) {
            Some(Some(env)) => return Ok(Arc::clone(env)),
            Some(None) => {
                let message = format!(
                    "\"{}\" imports itself, directly or through other files",
                    path.path
                );
                return err(Code::BadImport, path.span, message);
            }
            None => {}
        }
        let text = self.loader.sources().get(file).map(|f| f.shared_text());
        let Some(text) = text else {
            return err(
                Code::BadImport,
                path.span,
                "the loader gave no text for this import",
            );
        };
        match crate::syntax::parse_program(file, &text) {
            Ok(program) => match self.file(file, &program) {
                Some(env) => Ok(env),
                None => Err(Box::new(super::infer::name::poison(path.span))),
            },
            Err(ds) => {
                self.diags.extend(ds);
                Err(Box::new(super::infer::name::poison(path.span)))
            }
        }
    }

    /// Checks a file; its errors are reported.
    pub(crate) fn file(&mut self, file: FileId, program: &ast::Program) -> Option<Arc<Env>> {
        self.files.insert(file, None);
        let frames = std::mem::replace(&mut self.frames, vec![Env::default()]);
        let outer = std::mem::replace(&mut self.file, file);
        let mut out = Decs::default();
        let result = stacker::maybe_grow(256 * 1024, 4 * 1024 * 1024, || {
            self.decs(&program.decs, &mut out)
        });
        let frames = std::mem::replace(&mut self.frames, frames);
        if self.main == Some(file)
            && let Some(index) = &mut self.index
        {
            index.scope = frames.into_iter().next().unwrap_or_default();
        }
        self.file = outer;
        if let Err(d) = result {
            out.failed = true;
            if !is_poison(&d) {
                self.diags.push(*d);
            }
        }
        let path = self
            .loader
            .sources()
            .get(file)
            .map_or_else(String::new, |f| f.name().to_owned());
        self.typed_files.push(File {
            path,
            decs: out.typed,
        });
        let env = Arc::new(out.exports);
        self.files.insert(file, Some(Arc::clone(&env)));
        (!out.failed).then_some(env)
    }
}

/// A structure exports a name once; a local declaration hides what had its name before.
fn distinct(out: &mut Decs, space: u8, ident: &ast::Ident, export: bool) -> Res<()> {
    if !export {
        return Ok(());
    }
    match out.seen.insert((space, ident.name.clone()), ident.span) {
        None => Ok(()),
        Some(first) => Err(Box::new(
            Diagnostic::error(
                Code::DuplicateName,
                ident.span,
                format!("`{}` is defined twice", ident.name),
            )
            .also(first, "first defined here"),
        )),
    }
}

impl Infer<'_, '_> {
    /// A type that stands alone, with its sizes.
    pub(crate) fn close_type(mut self, t: &RType) -> Res<RetType> {
        self.finish(&Type::unit(), &mut Vec::new())?;
        if let Some(loose) = t.loose.first() {
            let span = self.cx.names.get(*loose).span.unwrap_or(t.span);
            return Err(Box::new(
                Diagnostic::error(
                    Code::BadType,
                    span,
                    "the parameter of a function type needs a size here",
                )
                .hint("add a size parameter, as in `[n]`"),
            ));
        }
        let Infer { cx, solver, .. } = self;
        let mut sizer = Sizer::new(cx, solver);
        let ret = sizer.written_ret(t)?;
        let ty = sizer.finish_type(&ret.ty, t.span)?;
        Ok(RetType { exts: ret.exts, ty })
    }
}
