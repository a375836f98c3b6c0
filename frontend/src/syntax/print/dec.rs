//! Declarations, modules and module types.

use super::{Printer, ty};
use crate::syntax::ast::{
    Dec, DecKind, Doc, ImportPath, Literal, ModBind, ModExp, ModExpKind, ModParam, ModTypeExp,
    ModTypeKind, Program, Spec, SpecKind, TypeBind, TypeRef, ValBind, ValKeyword,
};

impl Printer {
    pub(super) fn program(&mut self, program: &Program) {
        if let Some(doc) = &program.doc {
            self.doc(doc);
            self.line();
        }
        for dec in &program.decs {
            self.dec(dec);
            self.line();
        }
    }

    fn doc(&mut self, doc: &Doc) {
        for (at, line) in doc.text.split('\n').enumerate() {
            self.text(if at == 0 { "-- |" } else { "--" });
            self.text(line);
            self.line();
        }
    }

    fn dec(&mut self, dec: &Dec) {
        if let Some(doc) = &dec.doc {
            self.doc(doc);
        }
        for attr in &dec.attrs {
            self.attr(attr);
        }
        match &dec.kind {
            DecKind::Val(bind) => self.val_bind(bind),
            DecKind::Type(bind) => self.type_bind(bind),
            DecKind::Module(bind) => self.mod_bind(bind),
            DecKind::ModType(bind) => {
                self.text("module type ");
                self.text(&bind.name.name);
                self.text(" = ");
                self.mod_type(&bind.body, false);
            }
            DecKind::Open(body) => {
                self.text("open ");
                self.mod_exp(body, false);
            }
            DecKind::Import(path) => self.import(path),
            DecKind::Local(inner) => {
                self.text("local ");
                // A comment takes the rest of its line.
                if inner.doc.is_some() {
                    self.line();
                }
                self.deep(|p| p.dec(inner));
            }
        }
    }

    fn import(&mut self, path: &ImportPath) {
        self.text("import ");
        self.literal(&Literal::Str(path.path.clone().into_bytes()));
    }

    fn val_bind(&mut self, bind: &ValBind) {
        self.text(match bind.keyword {
            ValKeyword::Def => "def ",
            ValKeyword::Let => "let ",
            ValKeyword::Entry => "entry ",
        });
        self.binder(&bind.name.name);
        self.type_params(&bind.type_params);
        self.params(&bind.params);
        if let Some(ret) = &bind.ret {
            self.text(" : ");
            self.ty(ret, ty::Place::Any);
        }
        self.text(" = ");
        self.exp(&bind.body, super::expr::ANY);
    }

    fn type_bind(&mut self, bind: &TypeBind) {
        self.text("type");
        self.lift(bind.lift);
        self.text(" ");
        self.text(&bind.name.name);
        self.type_params(&bind.params);
        self.text(" = ");
        self.ty(&bind.body, ty::Place::Any);
    }

    fn mod_bind(&mut self, bind: &ModBind) {
        self.text("module ");
        self.text(&bind.name.name);
        for param in &bind.params {
            self.text(" ");
            self.mod_param(param);
        }
        if let Some(mod_type) = &bind.ascription {
            self.text(" : ");
            self.mod_type(mod_type, false);
        }
        self.text(" = ");
        self.mod_exp(&bind.body, false);
    }

    fn mod_param(&mut self, param: &ModParam) {
        self.text("(");
        self.text(&param.name.name);
        self.text(": ");
        self.mod_type(&param.mod_type, false);
        self.text(")");
    }

    /// A module; `atom` where an argument stands.
    fn mod_exp(&mut self, exp: &ModExp, atom: bool) {
        let simple = matches!(exp.kind, ModExpKind::Name(_) | ModExpKind::Struct(_));
        self.deep(|p| p.parens(atom && !simple, |p| p.mod_exp_kind(&exp.kind)));
    }

    fn mod_exp_kind(&mut self, kind: &ModExpKind) {
        match kind {
            ModExpKind::Name(name) => self.qual_name(name),
            ModExpKind::Struct(decs) => self.block(decs, Self::dec),
            ModExpKind::Import(path) => self.import(path),
            ModExpKind::Apply(functor, arg) => {
                let chain = matches!(functor.kind, ModExpKind::Apply(..));
                self.mod_exp(functor, !chain);
                self.text(" ");
                self.mod_exp(arg, true);
            }
            ModExpKind::Ascribe(body, mod_type) => {
                let bare = matches!(body.kind, ModExpKind::Ascribe(..) | ModExpKind::Apply(..));
                self.mod_exp(body, !bare);
                self.text(" : ");
                self.mod_type(mod_type, false);
            }
            ModExpKind::Lambda {
                param,
                ascription,
                body,
            } => {
                self.text("\\");
                self.mod_param(param);
                if let Some(mod_type) = ascription {
                    self.text(" : ");
                    self.mod_type_atom(mod_type, matches!(mod_type.kind, ModTypeKind::Name(_)));
                }
                self.text(" -> ");
                self.mod_exp(body, false);
            }
        }
    }

    /// Things in braces, one a line.
    fn block<T>(&mut self, items: &[T], one: impl Fn(&mut Self, &T)) {
        self.text("{");
        self.indent += 1;
        for item in items {
            self.line();
            one(self, item);
        }
        self.indent -= 1;
        self.line();
        self.text("}");
    }

    /// A module type; `left` where `with` or an arrow follows.
    fn mod_type(&mut self, mod_type: &ModTypeExp, left: bool) {
        let simple = match mod_type.kind {
            ModTypeKind::Name(_) | ModTypeKind::Sig(_) => true,
            ModTypeKind::With(..) | ModTypeKind::Arrow { .. } => false,
        };
        self.mod_type_atom(mod_type, simple || !left);
    }

    fn mod_type_atom(&mut self, mod_type: &ModTypeExp, bare: bool) {
        self.deep(|p| p.parens(!bare, |p| p.mod_type_kind(&mod_type.kind)));
    }

    fn mod_type_kind(&mut self, kind: &ModTypeKind) {
        match kind {
            ModTypeKind::Name(name) => self.qual_name(name),
            ModTypeKind::Sig(specs) => self.block(specs, Self::spec),
            ModTypeKind::With(body, type_ref) => {
                self.mod_type_atom(body, !matches!(body.kind, ModTypeKind::Arrow { .. }));
                self.text(" with ");
                self.type_ref(type_ref);
            }
            ModTypeKind::Arrow { param, from, to } => {
                match param {
                    None => self.mod_type(from, true),
                    Some(name) => {
                        self.text("(");
                        self.text(&name.name);
                        self.text(": ");
                        self.mod_type(from, false);
                        self.text(")");
                    }
                }
                self.text(" -> ");
                self.mod_type(to, false);
            }
        }
    }

    fn type_ref(&mut self, type_ref: &TypeRef) {
        self.qual_name(&type_ref.name);
        self.type_params(&type_ref.params);
        self.text(" = ");
        // An arrow after the refinement would be taken for part of the type.
        self.ty(&type_ref.body, ty::Place::Atom);
    }

    fn spec(&mut self, spec: &Spec) {
        if let Some(doc) = &spec.doc {
            self.doc(doc);
        }
        for attr in &spec.attrs {
            self.attr(attr);
        }
        match &spec.kind {
            SpecKind::Val { name, params, ty } => {
                self.text("val ");
                self.binder(&name.name);
                self.type_params(params);
                self.text(" : ");
                self.ty(ty, ty::Place::Any);
            }
            SpecKind::Abbr(bind) => self.type_bind(bind),
            SpecKind::Type { lift, name, params } => {
                self.text("type");
                self.lift(*lift);
                self.text(" ");
                self.text(&name.name);
                self.type_params(params);
            }
            SpecKind::Module { name, mod_type } => {
                self.text("module ");
                self.text(&name.name);
                self.text(" : ");
                self.mod_type(mod_type, false);
            }
            SpecKind::Include(mod_type) => {
                self.text("include ");
                self.mod_type(mod_type, false);
            }
        }
    }
}
