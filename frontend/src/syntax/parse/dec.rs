//! Declarations: values, functions, types, and what opens or hides names; attributes.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use super::token::Kind;
use crate::syntax::ast::{
    Attr, AttrKind, Dec, DecKind, ImportPath, Lift, P, Program, QualName, TypeBind, TypeParam,
    TypeParamKind, ValBind, ValKeyword,
};

impl<'a> Cx<'a> {
    pub(super) fn decs(&mut self, nodes: Nodes<'_>) -> Vec<Dec> {
        let decs = nodes.rest().filter(|node| node.is(Rule::dec));
        decs.map(|node| self.dec(node)).collect()
    }

    fn dec(&mut self, node: Node<'_>) -> Dec {
        let span = self.span(&node);
        let doc = self.doc_before(node.first());
        let mut nodes = node.children();
        let attrs = self.attrs(&mut nodes);
        let node = nodes.next();
        let kind = match node.rule() {
            Rule::val_dec => DecKind::Val(self.val_bind(node)),
            Rule::type_dec => DecKind::Type(self.type_bind(node)),
            Rule::mod_bind => DecKind::Module(self.mod_bind(node)),
            Rule::mod_type_bind => DecKind::ModType(self.mod_type_bind(node)),
            Rule::open_dec => DecKind::Open(self.mod_exp(node.only())),
            Rule::import_path => DecKind::Import(self.import_path(node)),
            _ => DecKind::Local(P::new(self.local_dec(node))),
        };
        Dec {
            kind,
            attrs,
            doc,
            span,
        }
    }

    fn local_dec(&mut self, node: Node<'_>) -> Dec {
        let span = self.span(&node);
        let inner = node.only();
        let empty = |_: &mut Self| Dec {
            kind: DecKind::Import(ImportPath {
                path: String::new(),
                span,
            }),
            attrs: Vec::new(),
            doc: None,
            span,
        };
        self.deeper(1, span, empty, |cx| cx.dec(inner))
    }

    pub(super) fn attrs(&mut self, nodes: &mut Nodes<'_>) -> Vec<Attr> {
        let mut attrs = Vec::new();
        while let Some(node) = nodes.take(Rule::attr) {
            attrs.push(self.attr(node));
        }
        attrs
    }

    pub(super) fn attr(&mut self, node: Node<'_>) -> Attr {
        let span = self.span(&node);
        let first = node.first();
        let args = node.children().take(Rule::attr_args);
        let kind = match (self.kind(first) == Kind::ID, args) {
            (true, None) => AttrKind::Name(self.ident_at(first).name),
            (true, Some(args)) => {
                let name = self.ident_at(first).name;
                let args = args.children().rest().map(|arg| self.attr(arg));
                AttrKind::Call(name, args.collect())
            }
            (false, _) => AttrKind::Int(self.integer(span)),
        };
        Attr { kind, span }
    }

    pub(super) fn import_path(&mut self, node: Node<'_>) -> ImportPath {
        let span = self.span_of(node.end() - 1, node.end());
        let bytes = self.string(span);
        ImportPath {
            path: String::from_utf8_lossy(&bytes).into_owned(),
            span,
        }
    }

    fn val_bind(&mut self, node: Node<'_>) -> ValBind {
        let keyword = match self.kind(node.first()) {
            Kind::ENTRY => ValKeyword::Entry,
            Kind::LET => ValKeyword::Let,
            _ => ValKeyword::Def,
        };
        let mut nodes = node.children();
        let head = nodes.next();
        let infix = head.is(Rule::infix_head);
        let first = head.first();
        let mut parts = head.children();
        let mut type_params = Vec::new();
        let mut params = Vec::new();
        let name = if infix {
            params.push(self.param(parts.next()));
            let name = self.binding_op(parts.next());
            params.push(self.param(parts.next()));
            name
        } else {
            let name = if self.kind(first) == Kind::ID {
                self.ident_at(first)
            } else {
                self.binding_op(parts.next())
            };
            type_params = self.type_params(&mut parts);
            params.extend(parts.rest().map(|param| self.param(param)));
            name
        };
        let ret = nodes.take(Rule::ty).map(|ty| self.ty(ty));
        let body = self.exp_node(nodes.next());
        ValBind {
            keyword,
            name,
            type_params,
            params,
            ret,
            body,
        }
    }

    pub(super) fn lift(&mut self, nodes: &mut Nodes<'_>) -> Lift {
        match nodes.take(Rule::lift) {
            None => Lift::Unlifted,
            Some(node) if self.kind(node.first()) == Kind::HAT => Lift::Lifted,
            Some(_) => Lift::SizeLifted,
        }
    }

    fn type_bind(&mut self, node: Node<'_>) -> TypeBind {
        let mut nodes = node.children();
        let lift = self.lift(&mut nodes);
        let name = self.ident(&nodes.next());
        let params = self.type_params(&mut nodes);
        let body = self.ty(nodes.next());
        TypeBind {
            lift,
            name,
            params,
            body,
        }
    }

    /// Size and type parameters, as many as follow.
    pub(super) fn type_params(&mut self, nodes: &mut Nodes<'_>) -> Vec<TypeParam> {
        let mut params = Vec::new();
        loop {
            let next = nodes.peek();
            let size = next == Some(Rule::size_param) || next == Some(Rule::local_size);
            if !size && next != Some(Rule::type_type_param) {
                return params;
            }
            let node = nodes.next();
            let kind = match self.kind(node.first()) {
                _ if size => TypeParamKind::Size,
                Kind::APOSTROPHE_HAT => TypeParamKind::Type(Lift::Lifted),
                Kind::APOSTROPHE_TILDE => TypeParamKind::Type(Lift::SizeLifted),
                _ => TypeParamKind::Type(Lift::Unlifted),
            };
            params.push(TypeParam {
                kind,
                name: self.ident_at(node.first() + 1),
                span: self.span(&node),
            });
        }
    }

    pub(super) fn qual_name(&mut self, node: &Node<'_>) -> QualName {
        let last = node.end() - 1;
        let quals = (node.first()..last).step_by(2);
        QualName {
            quals: quals.map(|token| self.ident_at(token)).collect(),
            name: self.ident_at(last),
        }
    }
}

/// Builds a whole file.
pub(super) fn program(cx: &mut Cx<'_>, node: Node<'_>) -> Program {
    let doc = cx.file_doc();
    let decs = cx.decs(node.children());
    Program {
        doc,
        decs,
        exp_count: cx.exp_count(),
        span: cx.file_span(),
    }
}
