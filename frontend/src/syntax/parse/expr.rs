//! Expressions: what binds tighter than operators, and the constructs that begin with a keyword.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Case, DimIndex, Exp, ExpKind, FieldExp, Ident, LocalFun, LoopForm, P, Pat, TypeExp, UpdateStep,
};

/// One binding of a chain of `let`s.
enum Binding {
    Pat(Vec<Ident>, Pat, Exp),
    Fun(LocalFun),
    Update(Ident, Vec<UpdateStep>, Exp),
}

impl<'a> Cx<'a> {
    fn hole(&mut self, span: Span) -> Exp {
        self.exp(ExpKind::Hole, span)
    }

    /// A whole expression, ascriptions included.
    pub(super) fn exp_node(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let levels = nodes.len();
        self.deeper(
            levels,
            span,
            |cx| cx.hole(span),
            |cx| {
                let first = cx.op_seq(nodes.next());
                cx.ascriptions(first, &mut nodes)
            },
        )
    }

    /// The ascriptions and coercions after an expression.
    pub(super) fn ascriptions(&mut self, mut exp: Exp, nodes: &mut Nodes<'_>) -> Exp {
        while let Some(Rule::ascribe | Rule::coerce) = nodes.peek() {
            let node = nodes.next();
            let ascribe = node.is(Rule::ascribe);
            let ty = self.ty(node.only());
            let span = exp.span.to(ty.span);
            let (inner, ty) = (P::new(exp), P::new(ty));
            let kind = if ascribe {
                ExpKind::Ascribe(inner, ty)
            } else {
                ExpKind::Coerce(inner, ty)
            };
            exp = self.exp(kind, span);
        }
        exp
    }

    /// An operand without signs.
    pub(super) fn plain_operand(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        match node.rule() {
            Rule::apply => self.apply(node.children(), span),
            Rule::lambda => self.lambda(node),
            Rule::if_exp => self.if_exp(node),
            Rule::let_exp => self.let_exp(node),
            Rule::loop_exp => self.loop_exp(node),
            Rule::match_exp => self.match_exp(node),
            Rule::assert_exp => {
                let mut nodes = node.children();
                let cond = self.atom(&mut nodes.next().children());
                let body = self.exp_node(nodes.next());
                self.exp(ExpKind::Assert(P::new(cond), P::new(body)), span)
            }
            _ => {
                let mut nodes = node.children();
                let attr = self.attr(nodes.next());
                let body = self.exp_node(nodes.next());
                self.exp(ExpKind::Attr(P::new(attr), P::new(body)), span)
            }
        }
    }

    /// An application, or a single atom.
    fn apply(&mut self, mut nodes: Nodes<'_>, span: Span) -> Exp {
        let constr = nodes.peek() == Some(Rule::constr);
        let head = self.atom(&mut nodes);
        let mut args = Vec::new();
        while let Some(rule) = nodes.peek() {
            let arg = if rule == Rule::lambda {
                self.lambda(nodes.next())
            } else {
                self.atom(&mut nodes)
            };
            args.push(arg);
        }
        self.check_juxtaposed_index(&head, args.first());
        if args.is_empty() {
            return head;
        }
        match head {
            Exp {
                kind: ExpKind::Constr(name, none),
                id,
                ..
            } if constr && none.is_empty() => Exp {
                id,
                kind: ExpKind::Constr(name, args),
                span,
            },
            head => self.exp(ExpKind::Apply(P::new(head), args), span),
        }
    }

    /// `a[i] [j]` looks like an index and is an application; no array holds functions.
    fn check_juxtaposed_index(&mut self, head: &Exp, arg: Option<&Exp>) {
        if let ExpKind::Index(..) = head.kind
            && let Some(arg) = arg
            && let ExpKind::Array(elements) = &arg.kind
            && head.span.hi <= arg.span.lo
        {
            let message = "an array element is applied to an array here";
            let mut diagnostic = Diagnostic::error(Code::BadSyntax, arg.span, message)
                .label("an array literal, because of the blank before it");
            if !elements.is_empty() {
                diagnostic =
                    diagnostic.hint("index several dimensions with `a[i, j]` or `a[i][j]`");
            }
            self.error(diagnostic);
        }
    }

    /// An atom with the indices and projections behind it.
    fn atom(&mut self, nodes: &mut Nodes<'_>) -> Exp {
        let base = nodes.next();
        let start = self.span(&base);
        let path = base.is(Rule::qual_name);
        let mut exp = self.atom_base(base);
        let mut plain = path;
        let mut levels = 0usize;
        while let Some(rule @ (Rule::index | Rule::project | Rule::local_open)) = nodes.peek() {
            let node = nodes.next();
            let span = start.to(self.span(&node));
            levels += 1;
            if levels > super::build::MAX_DEPTH as usize {
                return self.deeper(usize::MAX, span, |_| exp, |cx| cx.hole(span));
            }
            let kind = match (rule, exp.kind) {
                (Rule::index, kind) => {
                    let base = P::new(Exp { kind, ..exp });
                    ExpKind::Index(base, self.dims(node.children()))
                }
                (Rule::project, kind) => {
                    let base = P::new(Exp { kind, ..exp });
                    ExpKind::Project(base, self.ident(&node.only()))
                }
                (_, ExpKind::Name(name)) if plain => {
                    ExpKind::LocalOpen(name, P::new(self.exp_node(node.only())))
                }
                (_, kind) => {
                    let message = "only a module can be opened with `.( )`";
                    self.error(
                        Diagnostic::error(Code::BadSyntax, start, message)
                            .label("this is an expression, not the name of a module"),
                    );
                    kind
                }
            };
            exp = self.exp(kind, span);
            plain = false;
        }
        exp
    }

    fn atom_base(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let kind = match node.rule() {
            Rule::qual_name => ExpKind::Name(self.qual_name(&node)),
            Rule::lit => ExpKind::Literal(self.literal(node.first())),
            Rule::hole => ExpKind::Hole,
            Rule::constr => ExpKind::Constr(self.constr_name(&node), Vec::new()),
            Rule::array => {
                let elements = node.children().rest();
                ExpKind::Array(elements.map(|node| self.exp_node(node)).collect())
            }
            Rule::record => {
                let fields = node.children().rest();
                ExpKind::Record(fields.map(|node| self.field(node)).collect())
            }
            _ => return self.paren(node),
        };
        self.exp(kind, span)
    }

    fn field(&mut self, node: Node<'_>) -> FieldExp {
        let mut nodes = node.children();
        let name = self.ident(&nodes.next());
        let value = nodes.maybe().map(|node| self.exp_node(node));
        if value.is_none() && name.name.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("field `{}` needs a value", name.name);
            let hint = format!("write `{} = ...`; for a tuple use parentheses", name.name);
            self.error(Diagnostic::error(Code::BadSyntax, name.span, message).hint(hint));
        }
        FieldExp { name, value }
    }

    fn dims(&mut self, nodes: Nodes<'_>) -> Vec<DimIndex> {
        nodes.rest().map(|node| self.dim(node)).collect()
    }

    fn dim(&mut self, node: Node<'_>) -> DimIndex {
        let span = self.span(&node);
        let mut places = [None, None, None];
        let mut place = 0;
        for part in node.children().rest() {
            if part.is(Rule::slice_colon) {
                place += 1;
            } else {
                places[place] = Some(P::new(self.op_seq(part)));
            }
        }
        match (place, places) {
            (0, [Some(index), _, _]) => DimIndex::Fix(index),
            (_, [start, end, stride]) => DimIndex::Slice {
                start,
                end,
                stride,
                span,
            },
        }
    }

    /// The steps of a path, as updates and sections have them.
    pub(super) fn steps(&mut self, nodes: Nodes<'_>) -> Vec<UpdateStep> {
        nodes.rest().map(|node| self.step(node)).collect()
    }

    fn step(&mut self, node: Node<'_>) -> UpdateStep {
        if node.is(Rule::field_id) {
            return UpdateStep::Field(self.ident(&node));
        }
        let span = self.span(&node);
        UpdateStep::Index(self.dims(node.children()), span)
    }

    fn lambda(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let params = self.params(&mut nodes);
        let ret = nodes.take(Rule::ty_term);
        let ret = ret.map(|node| P::new(self.ty_term(node)));
        let body = P::new(self.exp_node(nodes.next()));
        self.exp(ExpKind::Lambda { params, ret, body }, span)
    }

    fn params(&mut self, nodes: &mut Nodes<'_>) -> Vec<Pat> {
        let mut params = Vec::new();
        while let Some(
            Rule::pat_id
            | Rule::pat_paren
            | Rule::pat_wild
            | Rule::pat_record
            | Rule::param_lit
            | Rule::param_constr,
        ) = nodes.peek()
        {
            params.push(self.param(nodes.next()));
        }
        params
    }

    fn if_exp(&mut self, node: Node<'_>) -> Exp {
        let end = self.span(&node);
        let mut nodes = node.children();
        let mut heads = Vec::new();
        while let Some(head) = nodes.take(Rule::if_head) {
            heads.push(head);
        }
        let levels = heads.len();
        let last = nodes.next();
        self.deeper(
            levels,
            end,
            |cx| cx.hole(end),
            |cx| {
                let mut exp = cx.exp_node(last);
                for head in heads.into_iter().rev() {
                    let span = cx.span(&head).start().to(end.end());
                    let mut parts = head.children();
                    let kind = ExpKind::If {
                        cond: P::new(cx.exp_node(parts.next())),
                        then: P::new(cx.exp_node(parts.next())),
                        otherwise: P::new(exp),
                    };
                    exp = cx.exp(kind, span);
                }
                exp
            },
        )
    }

    fn let_exp(&mut self, node: Node<'_>) -> Exp {
        let end = self.span(&node);
        let mut bindings: Vec<Node<'_>> = node.children().rest().collect();
        let Some(body) = bindings.pop() else {
            return self.hole(end);
        };
        let levels = bindings.len();
        self.deeper(
            levels,
            end,
            |cx| cx.hole(end),
            |cx| {
                let bindings: Vec<(Span, Binding)> = bindings
                    .into_iter()
                    .map(|node| cx.let_binding(node))
                    .collect();
                let body = cx.exp_node(body);
                bindings.into_iter().rev().fold(body, |body, (start, one)| {
                    let span = start.to(end.end());
                    let kind = close_binding(one, P::new(body));
                    cx.exp(kind, span)
                })
            },
        )
    }

    /// One binding, and where its `let` begins.
    fn let_binding(&mut self, node: Node<'_>) -> (Span, Binding) {
        let keyword = node.first() - 1;
        let start = self.span_of(keyword, keyword + 1).start();
        let span = self.span(&node);
        let rule = node.rule();
        let mut nodes = node.children();
        let binding = match rule {
            Rule::let_update => {
                let name = self.ident(&nodes.next());
                let mut steps = Vec::new();
                while let Some(Rule::index_adj | Rule::field_id) = nodes.peek() {
                    steps.push(self.step(nodes.next()));
                }
                Binding::Update(name, steps, self.exp_node(nodes.next()))
            }
            Rule::let_fun => Binding::Fun(LocalFun {
                name: self.ident(&nodes.next()),
                type_params: self.type_params(&mut nodes),
                params: self.params(&mut nodes),
                ret: self.maybe_ty(&mut nodes),
                body: self.exp_node(nodes.next()),
                span,
            }),
            _ => {
                let mut sizes = Vec::new();
                while let Some(size) = nodes.take(Rule::size_binder) {
                    sizes.push(self.ident_at(size.first() + 1));
                }
                let pat = self.pat(nodes.next());
                Binding::Pat(sizes, pat, self.exp_node(nodes.next()))
            }
        };
        (start, binding)
    }

    fn maybe_ty(&mut self, nodes: &mut Nodes<'_>) -> Option<TypeExp> {
        nodes.take(Rule::ty).map(|node| self.ty(node))
    }

    fn loop_exp(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let pat = P::new(self.pat(nodes.next()));
        let init = nodes.take(Rule::exp);
        let init = init.map(|node| P::new(self.exp_node(node)));
        let form = nodes.next();
        let rule = form.rule();
        let mut parts = form.children();
        let form = match rule {
            Rule::for_less => {
                let name = self.ident(&parts.next());
                LoopForm::For(name, P::new(self.exp_node(parts.next())))
            }
            Rule::for_in => {
                let pat = P::new(self.pat(parts.next()));
                LoopForm::ForIn(pat, P::new(self.exp_node(parts.next())))
            }
            _ => LoopForm::While(P::new(self.exp_node(parts.next()))),
        };
        let body = P::new(self.exp_node(nodes.next()));
        let kind = ExpKind::Loop {
            pat,
            init,
            form,
            body,
        };
        self.exp(kind, span)
    }

    fn match_exp(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let scrutinee = P::new(self.exp_node(nodes.next()));
        let mut cases = Vec::new();
        for node in nodes.rest() {
            let span = self.span(&node);
            let mut parts = node.children();
            cases.push(Case {
                pat: self.pat(parts.next()),
                body: self.exp_node(parts.next()),
                span,
            });
        }
        self.exp(ExpKind::Match(scrutinee, cases), span)
    }
}

/// Puts a body behind a binding.
fn close_binding(binding: Binding, body: P<Exp>) -> ExpKind {
    match binding {
        Binding::Pat(sizes, pat, value) => ExpKind::Let {
            sizes,
            pat: P::new(pat),
            value: P::new(value),
            body,
        },
        Binding::Fun(fun) => ExpKind::LetFun {
            fun: P::new(fun),
            body,
        },
        Binding::Update(name, path, value) => ExpKind::LetUpdate {
            name,
            path,
            value: P::new(value),
            body,
        },
    }
}

/// Builds a lone expression.
pub(super) fn only_exp(cx: &mut Cx<'_>, node: Node<'_>) -> Exp {
    cx.exp_node(node.children().next())
}
