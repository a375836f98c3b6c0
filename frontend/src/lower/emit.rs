//! Emitting IR: scopes of statements, fresh variables, places, certificates, scalar operations with light folding, and
//! the record of which array may alias which.

use super::value::{Leaf, Value};
use super::{Lower, Res};
use crate::source::Span;
use midend::hash::{HashMap, HashSet};
use midend::ir::array::ArrayOp;
use midend::ir::build::clean_name;
use midend::ir::id::{Id, SpanId, Var};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::soac::Soac;
use midend::ir::span::{Place, Spans};
use midend::ir::syntax::{Atom, Exp, Message, MessagePart, Stm, TrapKind, VarInfo};
use midend::ir::types::{ScalarType, Size, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is being built: the bodies around the current point in one IR function.
#[derive(Default)]
pub struct FnCx<'a> {
    /// Bodies, innermost last.
    pub scopes: Vec<Scope>,
    /// Scalars that are computed in one of them.
    known: HashMap<(ScalarOp, Vec<Atom>), Atom>,
    /// Sizes that are expressions and are computed in one of them, by frame and canonical text.
    pub opaque: HashMap<(u32, String), Size>,
    /// Certificates for the statements that follow.
    pub certs: Vec<Var>,
    /// The globals that the function has used: each is a parameter in the end.
    pub globals: BTreeMap<usize, Value<'a>>,
    /// The variables in them.
    pub global_vars: BTreeSet<Var>,
    /// Which arrays each array may share its memory with, directly.
    pub parents: HashMap<Var, Vec<Var>>,
    /// Arrays that are read under another name which the source takes for a fresh array.
    pub lent: BTreeSet<Var>,
    /// The parallel code around the current point, outermost first.
    pub(super) parallel: Vec<super::payload::Parallel>,
    /// Sizes that were computed before parallel code while that was being built: as if they were so old.
    pub(super) placed: HashMap<Var, usize>,
    /// What the results of the loops that are being built may alias, by parameter.
    pub loop_results: BTreeMap<Var, Vec<Atom>>,
    /// Arrays that have been consumed, and what they alias.
    pub consumed: BTreeSet<Var>,
    /// Arrays that were found not to be lent, back to where they come from, and are consumed: so that of a long row of
    /// updates each looks at its own array only.
    cleared: HashSet<Var>,
}

/// A body that is being built.
#[derive(Default)]
pub struct Scope {
    /// Its statements so far.
    pub stms: Vec<Stm<Soac>>,
    /// The scalars that are known as long as the body is in scope.
    known: Vec<(ScalarOp, Vec<Atom>)>,
    /// The sizes likewise.
    pub opaque: Vec<(u32, String)>,
}

/// A text part of a message.
pub fn text(s: impl Into<String>) -> MessagePart {
    MessagePart::Text(s.into())
}

/// A value in a message.
pub fn value(a: impl Into<Atom>) -> MessagePart {
    MessagePart::Value(a.into())
}

/// An `i64` constant.
pub const fn int(n: i64) -> Atom {
    Atom::Const(Const::I64(n))
}

impl<'a> Lower<'a> {
    /// A fresh variable.
    pub fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.vars.push(VarInfo {
            name: clean_name(name),
            ty,
        })
    }

    /// The number that the next variable gets: older variables are visible from the outside of what is built next.
    pub fn watermark(&self) -> usize {
        self.vars.len()
    }

    /// Whether an atom is in scope where the watermark was taken: it is older, or stands for a global.
    pub fn visible(&self, atom: impl Into<Atom>, watermark: usize) -> bool {
        match atom.into() {
            Atom::Const(_) => true,
            Atom::Var(v) => {
                let age = self.cx.placed.get(&v).copied().unwrap_or(v.index());
                age < watermark || self.cx.global_vars.contains(&v)
            }
        }
    }

    /// The type of an atom.
    pub fn ty(&self, atom: Atom) -> Type {
        match atom {
            Atom::Const(c) => Type::Scalar(c.ty()),
            Atom::Var(v) => self.vars[v].ty.clone(),
        }
    }

    /// Gives a variable a telling name if it has none.
    pub fn hint(&mut self, atom: Atom, name: &str) {
        if let Atom::Var(v) = atom {
            let info = &mut self.vars[v];
            if info.name == "t" {
                info.name = clean_name(name);
            }
        }
    }

    fn scope(&mut self) -> &mut Scope {
        self.cx
            .scopes
            .last_mut()
            .expect("statements are emitted inside a body")
    }

    /// Builds a nested body. It starts without certificates: those of the statement around it protect it.
    pub fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> Res<R>) -> Res<(R, Vec<Stm<Soac>>)> {
        self.cx.scopes.push(Scope::default());
        let certs = std::mem::take(&mut self.cx.certs);
        let result = f(self)?;
        self.cx.certs = certs;
        let scope = self.cx.scopes.pop().unwrap_or_default();
        for key in scope.known {
            self.cx.known.remove(&key);
        }
        for key in scope.opaque {
            self.cx.opaque.remove(&key);
        }
        Ok((result, scope.stms))
    }

    /// Emits a statement.
    pub fn push(&mut self, binds: Vec<Var>, exp: Exp<Soac>) {
        let stm = Stm {
            binds,
            certs: self.cx.certs.clone(),
            exp,
            span: self.span,
        };
        self.scope().stms.push(stm);
    }

    /// Binds the result of an expression.
    pub fn bind1(&mut self, name: &str, ty: Type, exp: Exp<Soac>) -> Var {
        let v = self.fresh(name, ty);
        self.push(vec![v], exp);
        v
    }

    /// Binds the result of an array operation.
    pub fn array_op(&mut self, name: &str, ty: Type, op: ArrayOp) -> Var {
        self.bind1(name, ty, Exp::Op(Soac::Array(op)))
    }

    /// Executes `f` with a further certificate on every statement.
    pub fn with_certs<R>(&mut self, certs: &[Var], f: impl FnOnce(&mut Self) -> R) -> R {
        let old = self.cx.certs.clone();
        for cert in certs {
            if !self.cx.certs.contains(cert) {
                self.cx.certs.push(*cert);
            }
        }
        let result = f(self);
        self.cx.certs = old;
        result
    }

    /// A check; no certificate if it is known to hold.
    pub fn assert(&mut self, cond: Atom, kind: TrapKind, parts: Vec<MessagePart>) -> Vec<Var> {
        if cond == Atom::Const(Const::Bool(true)) {
            return Vec::new();
        }
        let message = Message { kind, parts };
        let cert = self.bind1("ok", Type::Cert, Exp::Assert { cond, message });
        vec![cert]
    }

    // --- Places -------------------------------------------------------------

    /// The row for a place in the source, seen through the calls that were inlined.
    pub fn span_id(&mut self, span: Span) -> SpanId {
        let key = (span, self.inlined_at);
        if let Some(id) = self.span_ids.get(&key) {
            return *id;
        }
        let id = match self.sources.get(span.file) {
            None => self.inlined_at,
            Some(file) => {
                let (start, end) = (file.line_col(span.lo), file.line_col(span.hi));
                let name: Arc<str> = Arc::from(file.name());
                let file = Arc::clone(self.file_names.entry(span.file).or_insert(name));
                self.spans.push(Place {
                    file,
                    start: (start.line, start.col),
                    end: (end.line, end.col),
                    inlined_at: (self.inlined_at != Spans::NONE).then_some(self.inlined_at),
                })
            }
        };
        self.span_ids.insert(key, id);
        id
    }

    // --- Scalars ------------------------------------------------------------

    /// A scalar operation, folded or shared with an equal one in scope where that is cheap.
    pub fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        if let Some(folded) = fold(op, args) {
            return folded;
        }
        if let Some(known) = self.known_scalar(op, args) {
            return known;
        }
        let key = (op, args.to_vec());
        let ty = Type::Scalar(op.result());
        let atom = Atom::Var(self.bind1("t", ty, Exp::Scalar(op, args.to_vec())));
        self.cx.known.insert(key.clone(), atom);
        self.scope().known.push(key);
        atom
    }

    /// A scalar operation that has been made already.
    pub(super) fn known_scalar(&self, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
        self.cx.known.get(&(op, args.to_vec())).copied()
    }

    /// Emits a statement for a scalar operation into a body that is around the current one.
    pub(super) fn emit_around(
        &mut self,
        around: usize,
        stm: Stm<Soac>,
        key: (ScalarOp, Vec<Atom>),
        atom: Atom,
    ) {
        if let Some(scope) = self.cx.scopes.get_mut(around) {
            scope.stms.push(stm);
            scope.known.push(key.clone());
            self.cx.known.insert(key, atom);
        }
    }

    /// A binary operation.
    pub fn bin(&mut self, op: BinOp, ty: ScalarType, a: Atom, b: Atom) -> Atom {
        self.scalar(ScalarOp::Bin(op, ty), &[a, b])
    }

    /// A binary operation on sizes.
    pub fn i64_bin(&mut self, op: BinOp, a: Atom, b: Atom) -> Atom {
        self.bin(op, ScalarType::I64, a, b)
    }

    /// A comparison.
    pub fn cmp(&mut self, op: CmpOp, ty: ScalarType, a: Atom, b: Atom) -> Atom {
        self.scalar(ScalarOp::Cmp(op, ty), &[a, b])
    }

    /// Negation of a truth value.
    pub fn not(&mut self, a: Atom) -> Atom {
        self.scalar(ScalarOp::Un(UnOp::Not, ScalarType::Bool), &[a])
    }

    /// Conjunction.
    pub fn and(&mut self, a: Atom, b: Atom) -> Atom {
        self.bin(BinOp::And, ScalarType::Bool, a, b)
    }

    /// Disjunction.
    pub fn or(&mut self, a: Atom, b: Atom) -> Atom {
        self.bin(BinOp::Or, ScalarType::Bool, a, b)
    }

    /// A conversion between scalar types.
    pub fn convert(&mut self, from: ScalarType, to: ScalarType, a: Atom) -> Atom {
        if from == to {
            return a;
        }
        self.scalar(ScalarOp::Convert(from, to), &[a])
    }

    /// One of two scalars.
    pub fn select(&mut self, ty: ScalarType, cond: Atom, a: Atom, b: Atom) -> Atom {
        match cond {
            Atom::Const(Const::Bool(true)) => a,
            Atom::Const(Const::Bool(false)) => b,
            Atom::Const(_) | Atom::Var(_) => self.scalar(ScalarOp::Select(ty), &[cond, a, b]),
        }
    }

    /// A size as a variable, so that it is passed and not specialised on.
    pub fn size_var(&mut self, size: Size) -> Size {
        match size {
            Size::Var(_) => size,
            Size::Const(_) => Size::Var(self.bind1("n", Type::I64, Exp::Atom(size.into()))),
        }
    }

    // --- Aliases ------------------------------------------------------------

    /// Notes that `v` may share memory with `of`.
    pub fn alias(&mut self, v: Var, of: impl IntoIterator<Item = Atom>) {
        if !self.vars[v].ty.is_array() {
            return;
        }
        let of: Vec<Var> = of.into_iter().filter_map(var_of).collect();
        let of = of.into_iter().filter(|o| self.vars[*o].ty.is_array());
        let of: Vec<Var> = of.collect();
        if self.cx.cleared.contains(&v) {
            self.cx.cleared.clear();
        }
        self.cx.parents.entry(v).or_default().extend(of);
    }

    /// Everything that `v` may share memory with, itself too, back to where the arrays come from.
    pub fn roots(&self, v: Var) -> BTreeSet<Var> {
        self.roots_outside(v, &HashSet::default())
    }

    /// The same without what is in `known`, and what that shares memory with.
    fn roots_outside(&self, v: Var, known: &HashSet<Var>) -> BTreeSet<Var> {
        let mut seen = BTreeSet::from([v]);
        let mut todo = vec![v];
        while let Some(v) = todo.pop() {
            for parent in self.cx.parents.get(&v).into_iter().flatten() {
                if !known.contains(parent) && seen.insert(*parent) {
                    todo.push(*parent);
                }
            }
        }
        seen
    }

    /// A value is kept under a name: what it reads without the source's knowledge is lent from now on.
    pub fn hold(&mut self, v: &Value<'a>) {
        v.each_with(true, &mut |leaf| {
            if let (true, Atom::Var(v)) = (leaf.lent, leaf.atom) {
                let roots = self.roots(v);
                self.cx.lent.extend(roots);
                self.cx.cleared.clear();
            }
        });
    }

    /// The array of a leaf, ready to be consumed: a copy if others may still read it.
    pub fn consume(&mut self, leaf: Leaf) -> Atom {
        let Atom::Var(v) = leaf.atom else {
            return leaf.atom;
        };
        if !self.vars[v].ty.is_array() {
            return leaf.atom;
        }
        let roots = self.roots_outside(v, &self.cx.cleared);
        if leaf.shared || roots.iter().any(|root| self.cx.lent.contains(root)) {
            return self.copy_leaf(leaf).atom;
        }
        self.cx.cleared.extend(&roots);
        self.cx.consumed.extend(roots);
        leaf.atom
    }

    /// A fresh copy of an array; a scalar as it is.
    pub fn copy_leaf(&mut self, leaf: Leaf) -> Leaf {
        match leaf.atom {
            Atom::Var(v) if self.vars[v].ty.is_array() => {
                let ty = self.vars[v].ty.clone();
                Leaf::new(Atom::Var(self.array_op("copy", ty, ArrayOp::Copy(v))))
            }
            Atom::Var(_) | Atom::Const(_) => leaf,
        }
    }

    /// The same elements under another shape. An accumulator stays what it is: nobody looks at its shape.
    pub fn reshape(&mut self, leaf: Leaf, shape: &[Size]) -> Leaf {
        let Atom::Var(array) = leaf.atom else {
            return leaf;
        };
        let Some(elem) = self.vars[array].ty.elem() else {
            return leaf;
        };
        let ty = Type::array_of(&Type::Scalar(elem), shape);
        if ty == self.vars[array].ty || shape.is_empty() || self.vars[array].ty.is_acc() {
            return leaf;
        }
        let name = self.vars[array].name.clone();
        let op = ArrayOp::Reshape {
            shape: shape.iter().copied().map(Into::into).collect(),
            array,
        };
        let v = self.array_op(&name, ty, op);
        self.alias(v, [leaf.atom]);
        Leaf {
            atom: Atom::Var(v),
            ..leaf
        }
    }
}

/// The variable of an atom.
pub fn var_of(atom: Atom) -> Option<Var> {
    match atom {
        Atom::Var(v) => Some(v),
        Atom::Const(_) => None,
    }
}

/// What constants and neutral operands make plain.
fn fold(op: ScalarOp, args: &[Atom]) -> Option<Atom> {
    match (op, args) {
        (ScalarOp::Bin(op, ScalarType::I64), &[a, b]) => fold_i64(op, a, b),
        (ScalarOp::Bin(op, ScalarType::Bool), &[a, b]) => fold_bool(op, a, b),
        (ScalarOp::Un(UnOp::Not, ScalarType::Bool), [Atom::Const(Const::Bool(b))]) => {
            Some(Atom::Const(Const::Bool(!b)))
        }
        (ScalarOp::Cmp(op, ScalarType::I64), &[a, b]) => {
            let holds = match (a, b) {
                (Atom::Const(Const::I64(a)), Atom::Const(Const::I64(b))) => match op {
                    CmpOp::Eq => a == b,
                    CmpOp::Lt => a < b,
                    CmpOp::Le => a <= b,
                },
                _ if a == b => op != CmpOp::Lt,
                _ => return None,
            };
            Some(Atom::Const(Const::Bool(holds)))
        }
        (ScalarOp::Convert(_, to), [Atom::Const(c)]) => fold_convert(*c, to),
        _ => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the operations that sizes are made of"
)]
fn fold_i64(op: BinOp, a: Atom, b: Atom) -> Option<Atom> {
    let constant = |atom| match atom {
        Atom::Const(Const::I64(n)) => Some(n),
        Atom::Const(_) | Atom::Var(_) => None,
    };
    match (constant(a), constant(b)) {
        (Some(x), Some(y)) => match op {
            BinOp::Add => Some(int(x.wrapping_add(y))),
            BinOp::Sub => Some(int(x.wrapping_sub(y))),
            BinOp::Mul => Some(int(x.wrapping_mul(y))),
            BinOp::MulSat => Some(int(x.saturating_mul(y))),
            _ => None,
        },
        (Some(0), None) if op == BinOp::Add => Some(b),
        (None, Some(0)) if matches!(op, BinOp::Add | BinOp::Sub) => Some(a),
        (Some(1), None) if matches!(op, BinOp::Mul | BinOp::MulSat) => Some(b),
        (None, Some(1)) if matches!(op, BinOp::Mul | BinOp::MulSat) => Some(a),
        (None, None) if op == BinOp::Sub && a == b => Some(int(0)),
        _ => None,
    }
}

fn fold_bool(op: BinOp, a: Atom, b: Atom) -> Option<Atom> {
    let truth = |atom| match atom {
        Atom::Const(Const::Bool(b)) => Some(b),
        Atom::Const(_) | Atom::Var(_) => None,
    };
    match (op, truth(a), truth(b)) {
        (BinOp::And, Some(true), _) | (BinOp::Or, Some(false), _) => Some(b),
        (BinOp::And, _, Some(true)) | (BinOp::Or, _, Some(false)) => Some(a),
        (BinOp::And, Some(false), _) | (BinOp::Or, Some(true), _) => Some(a),
        (BinOp::And, _, Some(false)) | (BinOp::Or, _, Some(true)) => Some(b),
        _ => None,
    }
}

fn fold_convert(c: Const, to: ScalarType) -> Option<Atom> {
    let n: i128 = match c {
        Const::I8(n) => n.into(),
        Const::I16(n) => n.into(),
        Const::I32(n) => n.into(),
        Const::I64(n) => n.into(),
        Const::U8(n) => n.into(),
        Const::U16(n) => n.into(),
        Const::U32(n) => n.into(),
        Const::U64(n) => n.into(),
        Const::F16(_) | Const::F32(_) | Const::F64(_) | Const::Bool(_) => return None,
    };
    to.is_integer()
        .then(|| Atom::Const(super::value::int_const(to, n)))
}
