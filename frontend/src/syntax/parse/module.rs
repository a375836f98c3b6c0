//! Module expressions, module types and their specifications.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use crate::syntax::ast::{
    ModBind, ModExp, ModExpKind, ModParam, ModTypeBind, ModTypeExp, ModTypeKind, P, Spec, SpecKind,
    TypeBind, TypeRef,
};

impl<'a> Cx<'a> {
    pub(super) fn mod_bind(&mut self, node: Node<'_>) -> ModBind {
        let mut nodes = node.children();
        let name = self.ident(&nodes.next());
        let mut params = Vec::new();
        while let Some(param) = nodes.take(Rule::mod_param) {
            params.push(self.mod_param(param));
        }
        let ascription = nodes.take(Rule::mod_ascr);
        let ascription = ascription.map(|node| self.mod_type(node.only()));
        let body = self.mod_exp(nodes.next());
        ModBind {
            name,
            params,
            ascription,
            body,
        }
    }

    pub(super) fn mod_type_bind(&mut self, node: Node<'_>) -> ModTypeBind {
        let mut nodes = node.children();
        ModTypeBind {
            name: self.ident(&nodes.next()),
            body: self.mod_type(nodes.next()),
        }
    }

    fn mod_param(&mut self, node: Node<'_>) -> ModParam {
        let span = self.span(&node);
        let mut nodes = node.children();
        ModParam {
            name: self.ident(&nodes.next()),
            mod_type: self.mod_type(nodes.next()),
            span,
        }
    }

    pub(super) fn mod_exp(&mut self, node: Node<'_>) -> ModExp {
        let span = self.span(&node);
        let empty = |_: &mut Self| ModExp {
            kind: ModExpKind::Struct(Vec::new()),
            span,
        };
        self.deeper(1, span, empty, |cx| cx.mod_exp_here(node))
    }

    fn mod_exp_here(&mut self, node: Node<'_>) -> ModExp {
        let start = self.span(&node);
        let mut nodes = node.children();
        let head = nodes.next();
        let span = self.span(&head);
        let mut exp = match head.rule() {
            Rule::mod_lambda => self.mod_lambda(head),
            Rule::import_path => ModExp {
                kind: ModExpKind::Import(self.import_path(head)),
                span,
            },
            _ => self.mod_apply(head.children()),
        };
        for ascription in nodes.rest() {
            let span = start.start().to(self.span(&ascription));
            let mod_type = self.mod_type(ascription.only());
            exp = ModExp {
                kind: ModExpKind::Ascribe(P::new(exp), P::new(mod_type)),
                span,
            };
        }
        exp
    }

    fn mod_apply(&mut self, mut nodes: Nodes<'_>) -> ModExp {
        let mut exp = self.mod_atom(nodes.next());
        for arg in nodes.rest() {
            let arg = self.mod_atom(arg);
            let span = exp.span.to(arg.span);
            exp = ModExp {
                kind: ModExpKind::Apply(P::new(exp), P::new(arg)),
                span,
            };
        }
        exp
    }

    fn mod_atom(&mut self, node: Node<'_>) -> ModExp {
        let span = self.span(&node);
        let kind = match node.rule() {
            Rule::qual_name => ModExpKind::Name(self.qual_name(&node)),
            Rule::mod_struct => ModExpKind::Struct(self.decs(node.children())),
            _ => {
                let inner = self.mod_exp(node.only());
                return ModExp { span, ..inner };
            }
        };
        ModExp { kind, span }
    }

    fn mod_lambda(&mut self, node: Node<'_>) -> ModExp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let param = P::new(self.mod_param(nodes.next()));
        let ascription = nodes.take(Rule::simple_mod_type);
        let ascription = ascription.map(|node| {
            let inner = node.only();
            P::new(if inner.is(Rule::qual_name) {
                self.mod_type_name(&inner)
            } else {
                self.mod_type(inner)
            })
        });
        let body = P::new(self.mod_exp(nodes.next()));
        ModExp {
            kind: ModExpKind::Lambda {
                param,
                ascription,
                body,
            },
            span,
        }
    }

    fn mod_type_name(&mut self, node: &Node<'_>) -> ModTypeExp {
        ModTypeExp {
            kind: ModTypeKind::Name(self.qual_name(node)),
            span: self.span(node),
        }
    }

    pub(super) fn mod_type(&mut self, node: Node<'_>) -> ModTypeExp {
        let span = self.span(&node);
        let empty = |_: &mut Self| ModTypeExp {
            kind: ModTypeKind::Sig(Vec::new()),
            span,
        };
        self.deeper(1, span, empty, |cx| cx.mod_type_here(node))
    }

    fn mod_type_here(&mut self, node: Node<'_>) -> ModTypeExp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let head = nodes.next();
        if head.is(Rule::mod_arrow) {
            return self.mod_arrow(head);
        }
        let head_span = self.span(&head);
        let mut left = match head.rule() {
            Rule::qual_name => self.mod_type_name(&head),
            Rule::sig => ModTypeExp {
                kind: ModTypeKind::Sig(self.specs(head.children())),
                span: head_span,
            },
            _ => ModTypeExp {
                span: head_span,
                ..self.mod_type(head.only())
            },
        };
        while let Some(node) = nodes.take(Rule::type_ref) {
            let type_ref = self.type_ref(node);
            let span = left.span.to(type_ref.span);
            left = ModTypeExp {
                kind: ModTypeKind::With(P::new(left), P::new(type_ref)),
                span,
            };
        }
        let Some(to) = nodes.maybe() else {
            return left;
        };
        let kind = ModTypeKind::Arrow {
            param: None,
            from: P::new(left),
            to: P::new(self.mod_type(to)),
        };
        ModTypeExp { kind, span }
    }

    fn mod_arrow(&mut self, node: Node<'_>) -> ModTypeExp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let kind = ModTypeKind::Arrow {
            param: Some(self.ident(&nodes.next())),
            from: P::new(self.mod_type(nodes.next())),
            to: P::new(self.mod_type(nodes.next())),
        };
        ModTypeExp { kind, span }
    }

    fn type_ref(&mut self, node: Node<'_>) -> TypeRef {
        let span = self.span(&node);
        let mut nodes = node.children();
        TypeRef {
            name: self.qual_name(&nodes.next()),
            params: self.type_params(&mut nodes),
            body: self.ty(nodes.next()),
            span,
        }
    }

    fn specs(&mut self, nodes: Nodes<'_>) -> Vec<Spec> {
        nodes.rest().map(|node| self.spec(node)).collect()
    }

    fn spec(&mut self, node: Node<'_>) -> Spec {
        let span = self.span(&node);
        let doc = self.doc_before(node.first());
        let mut nodes = node.children();
        let attrs = self.attrs(&mut nodes);
        let node = nodes.next();
        let kind = match node.rule() {
            Rule::val_spec => self.val_spec(node.children()),
            Rule::type_spec => self.type_spec(node.children()),
            Rule::mod_spec => {
                let mut nodes = node.children();
                SpecKind::Module {
                    name: self.ident(&nodes.next()),
                    mod_type: self.mod_type(nodes.next()),
                }
            }
            _ => SpecKind::Include(self.mod_type(node.only())),
        };
        Spec {
            kind,
            attrs,
            doc,
            span,
        }
    }

    fn val_spec(&mut self, mut nodes: Nodes<'_>) -> SpecKind {
        let name = nodes.next();
        let name = if name.is(Rule::def_id) {
            self.ident(&name)
        } else {
            self.binding_op(name)
        };
        SpecKind::Val {
            name,
            params: self.type_params(&mut nodes),
            ty: self.ty(nodes.next()),
        }
    }

    fn type_spec(&mut self, mut nodes: Nodes<'_>) -> SpecKind {
        let lift = self.lift(&mut nodes);
        let name = self.ident(&nodes.next());
        let params = self.type_params(&mut nodes);
        match nodes.maybe() {
            None => SpecKind::Type { lift, name, params },
            Some(body) => SpecKind::Abbr(TypeBind {
                lift,
                name,
                params,
                body: self.ty(body),
            }),
        }
    }
}
