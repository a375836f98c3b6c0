//! What names mean: local variables, values of modules, fields.

use super::Infer;
use super::scope::{Found, Local};
use crate::diagnostic::{Code, Diagnostic};
use crate::near::{GUESSES, near};
use crate::source::Span;
use crate::syntax::ast::{self};
use crate::types::context::structure;
use crate::types::context::{Res, err};
use crate::types::env::Env;
use crate::types::index::Space;
use crate::types::raw::{RExp, RKind};
use crate::types::ty::{Name, Sym};
use std::sync::Arc;

impl Infer<'_, '_> {
    /// A dotted path: modules as far as they go, then a variable, then fields.
    pub(crate) fn name(&mut self, name: &ast::QualName) -> Res<RExp> {
        let mut env: Option<Arc<Env>> = None;
        let mut at = 0;
        while let Some(qual) = name.quals.get(at) {
            let module = match &env {
                None => self.module_named(&qual.name),
                Some(env) => env.modules.get(&qual.name).cloned(),
            };
            let Some(module) = module else { break };
            self.note_module(qual, env.as_deref());
            env = Some(structure(Some(module), qual)?);
            at += 1;
        }
        let mut parts = name.quals[at..].iter().chain(std::iter::once(&name.name));
        let head = parts
            .next()
            .expect("the last part of a path is always left");
        let mut e = match &env {
            None => self.variable(name, head)?,
            Some(env) => match env.values.get(&head.name) {
                Some(v) => self.global(*v, head.span)?,
                None => {
                    let near = near(&head.name, env.values.keys());
                    return Err(self.cx.unknown("name", name, &near));
                }
            },
        };
        if name.quals.is_empty() || at == name.quals.len() {
            e.span = name.span();
        }
        for field in parts {
            let span = e.span.to(field.span);
            e = self.project(e, &field.name, span)?;
        }
        Ok(e)
    }

    fn note_module(&mut self, qual: &ast::Ident, within: Option<&Env>) {
        let opened = match within {
            Some(_) => None,
            None => self.scope.module_site(&qual.name),
        };
        match opened {
            Some(_) => self.cx.note(qual.span, Space::Module, opened),
            None => self.cx.note_module(qual, within),
        }
    }

    pub(crate) fn module_named(&mut self, name: &Sym) -> Option<crate::types::env::Module> {
        let opened = self.scope.module(name);
        match self.scope.value(name) {
            // The function that is checked has no members: a path that begins with its name leads through a module.
            Found::Local(Local::Mono(local, _)) if self.this == Some(local) => {
                opened.or_else(|| self.cx.global_module(name))
            }
            // A variable hides a module of its name.
            Found::Local(_) => None,
            Found::Opened(_) => opened,
            Found::Nothing => opened.or_else(|| self.cx.global_module(name)),
        }
    }

    pub(crate) fn variable(&mut self, whole: &ast::QualName, head: &ast::Ident) -> Res<RExp> {
        let span = head.span;
        if head.name.starts_with('_') {
            return Err(Box::new(
                Diagnostic::error(
                    Code::UnknownName,
                    span,
                    format!(
                        "`{}` is used, but its name begins with an underscore",
                        head.name
                    ),
                )
                .note("an underscore says that a variable is not used")
                .hint("rename the variable"),
            ));
        }
        match self.scope.value(&head.name) {
            Found::Local(Local::Mono(name, ty)) => {
                if self.this == Some(name) {
                    self.this_used = true;
                }
                self.cx.note_value(span, name);
                self.uses.mention(name);
                Ok(RExp {
                    kind: RKind::Var {
                        name,
                        inst: Vec::new(),
                    },
                    ty,
                    span,
                })
            }
            Found::Local(Local::Poly(name, scheme)) => {
                self.cx.note_value(span, name);
                self.uses.mention(name);
                let (ty, inst) = self.instantiate(span, name, &scheme);
                Ok(RExp {
                    kind: RKind::Var { name, inst },
                    ty,
                    span,
                })
            }
            Found::Opened(name) => self.global(name, span),
            Found::Nothing => match self.cx.global_value(&head.name)? {
                Some(name) => self.global(name, span),
                None => {
                    let near = self.near_values(&head.name);
                    let shown = if whole.quals.is_empty() {
                        whole.clone()
                    } else {
                        ast::QualName {
                            quals: Vec::new(),
                            name: head.clone(),
                        }
                    };
                    Err(self.cx.unknown("name", &shown, &near))
                }
            },
        }
    }

    pub(crate) fn near_values(&self, name: &str) -> Option<String> {
        if self.cx.diags.len() >= GUESSES {
            return None;
        }
        let globals = self.cx.frames.iter().flat_map(|f| f.values.keys());
        let prelude: Vec<Sym> = self.cx.prelude.names().map(Sym::from).collect();
        near(
            name,
            self.scope.names().chain(globals).chain(prelude.iter()),
        )
    }

    pub(crate) fn global(&mut self, name: Name, span: Span) -> Res<RExp> {
        self.cx.note_value(span, name);
        if self.cx.poisoned.contains(&name) {
            return Err(Box::new(poison(span)));
        }
        let Some(scheme) = self.cx.scheme(name).cloned() else {
            return err(
                Code::UnknownName,
                span,
                format!("`{}` is no value", self.cx.names.text(name)),
            );
        };
        let (ty, inst) = self.instantiate(span, name, &scheme);
        Ok(RExp {
            kind: RKind::Var { name, inst },
            ty,
            span,
        })
    }

    pub(crate) fn local_open(&mut self, name: &ast::QualName, body: &ast::Exp) -> Res<RExp> {
        let mut quals = name.quals.clone();
        quals.push(name.name.clone());
        let mut env: Option<Arc<Env>> = None;
        for qual in &quals {
            let module = match &env {
                None => self.module_named(&qual.name),
                Some(env) => env.modules.get(&qual.name).cloned(),
            };
            self.note_module(qual, env.as_deref());
            env = Some(structure(module, qual)?);
        }
        let mark = self.scope.mark();
        self.scope.open(env.expect("a path has a last part"));
        let body = self.exp(body)?;
        self.scope.reset(mark);
        Ok(body)
    }
}

/// What the use of a definition with errors says; it is never shown.
pub(crate) fn poison(span: Span) -> Diagnostic {
    Diagnostic::error(Code::UnknownName, span, "")
}
