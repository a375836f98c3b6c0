//! Replacing the operands that operations keep as variables, sizes and types instead of as atoms.

use crate::ir::id::Var;
use crate::ir::soac::{Accumulation, HistOp, Operator, ScatterDest, UpdateAcc};
use crate::ir::syntax::{Atom, Body};
use crate::ir::types::{AccType, ArrayType, Dim, Size, Type};

/// Replaces a variable where only a variable can stand.
pub(super) fn map_var(v: &mut Var, f: &mut dyn FnMut(Atom) -> Atom) {
    match f(Atom::Var(*v)) {
        Atom::Var(new) => *v = new,
        Atom::Const(c) => unreachable!("{v:?} must be replaced by a variable, not by {c:?}"),
    }
}

/// Replaces an atom.
pub(super) fn map_atom(a: &mut Atom, f: &mut dyn FnMut(Atom) -> Atom) {
    *a = f(*a);
}

/// Replaces a size if it is a variable. Sizes that are constants are no operands.
pub(super) fn map_size(size: &mut Size, f: &mut dyn FnMut(Atom) -> Atom) {
    if let Size::Var(v) = *size {
        *size = f(Atom::Var(v))
            .as_size()
            .expect("a size is replaced by a size");
    }
}

/// The operand that a size is, unless it is a constant.
pub(super) fn size(size: Size, f: &mut dyn FnMut(Atom)) {
    if let Size::Var(v) = size {
        f(Atom::Var(v));
    }
}

/// The operand that a dimension names, unless it is a constant.
pub(super) fn dim(dim: Dim, f: &mut dyn FnMut(Atom)) {
    dim.var().into_iter().for_each(|v| f(Atom::Var(v)));
}

/// Replaces what a dimension names.
pub(super) fn map_dim(dim: &mut Dim, f: &mut dyn FnMut(Atom) -> Atom) {
    match dim {
        Dim::Size(size) => map_size(size, f),
        Dim::Ragged(v) => map_var(v, f),
    }
}

/// The sizes in a type as operands.
pub(super) fn ty(ty: &Type, f: &mut dyn FnMut(Atom)) {
    crate::ir::walk::type_vars(ty, &mut |v| f(Atom::Var(v)));
}

/// Replaces the sizes in a type.
pub(super) fn map_ty(ty: &mut Type, f: &mut dyn FnMut(Atom) -> Atom) {
    match ty {
        Type::Array(array) => map_shape(array, f),
        Type::Acc(AccType {
            token,
            part: _,
            array,
        }) => {
            map_var(token, f);
            map_shape(array, f);
        }
        Type::Scalar(_) | Type::Buffer(_) | Type::Cert => {}
    }
}

fn map_shape(array: &mut ArrayType, f: &mut dyn FnMut(Atom) -> Atom) {
    array.shape.iter_mut().for_each(|dim| map_dim(dim, f));
}

/// The operands of operators: their neutral elements.
pub(super) fn operators<D>(ops: &[Operator<D>], f: &mut dyn FnMut(Atom)) {
    ops.iter().flat_map(|op| &op.neutral).for_each(|a| f(*a));
}

/// Replaces the neutral elements of operators.
pub(super) fn map_operators<D>(ops: &mut [Operator<D>], f: &mut dyn FnMut(Atom) -> Atom) {
    ops.iter_mut()
        .flat_map(|op| &mut op.neutral)
        .for_each(|a| map_atom(a, f));
}

/// The operands of histograms.
pub(super) fn hists<D>(ops: &[HistOp<D>], f: &mut dyn FnMut(Atom)) {
    for op in ops {
        op.shape.iter().for_each(|s| size(*s, f));
        op.dests.iter().for_each(|v| f(Atom::Var(*v)));
        op.op.neutral.iter().for_each(|a| f(*a));
    }
}

/// Replaces the operands of histograms.
pub(super) fn map_hists<D>(ops: &mut [HistOp<D>], f: &mut dyn FnMut(Atom) -> Atom) {
    for op in ops {
        op.shape.iter_mut().for_each(|s| map_size(s, f));
        op.dests.iter_mut().for_each(|v| map_var(v, f));
        op.op.neutral.iter_mut().for_each(|a| map_atom(a, f));
    }
}

/// The operands of scatter destinations.
pub(super) fn dests(dests: &[ScatterDest], f: &mut dyn FnMut(Atom)) {
    dests.iter().for_each(|d| f(Atom::Var(d.array)));
}

/// Replaces the operands of scatter destinations.
pub(super) fn map_dests(dests: &mut [ScatterDest], f: &mut dyn FnMut(Atom) -> Atom) {
    dests.iter_mut().for_each(|d| map_var(&mut d.array, f));
}

/// The operands of an accumulation.
pub(super) fn accumulation<D>(acc: &Accumulation<D>, f: &mut dyn FnMut(Atom)) {
    acc.dests.iter().for_each(|v| f(Atom::Var(*v)));
    operators(acc.op.as_slice(), f);
}

/// Replaces the operands of an accumulation.
pub(super) fn map_accumulation<D>(acc: &mut Accumulation<D>, f: &mut dyn FnMut(Atom) -> Atom) {
    acc.dests.iter_mut().for_each(|v| map_var(v, f));
    map_operators(acc.op.as_mut_slice(), f);
}

/// The scopes of an accumulation whose body is this one, `bound` being bound for it too.
pub(super) fn accumulation_scopes<'a, D>(
    acc: &'a Accumulation<D>,
    bound: &[Var],
    body: &'a Body<D>,
    f: &mut dyn FnMut(&[Var], &'a Body<D>),
) {
    f(&[bound, &acc.binders()].concat(), body);
    operator_scopes(&acc.op, f);
}

/// The scopes of an accumulation, for editing.
pub(super) fn accumulation_scopes_mut<D>(
    acc: &mut Accumulation<D>,
    bound: &mut [Var],
    body: &mut Body<D>,
    f: &mut dyn FnMut(&mut [Var], &mut Body<D>),
) {
    let mut all = bound.to_vec();
    all.extend(acc.binders());
    f(&mut all, body);
    let (first, own) = all.split_at(bound.len());
    bound.copy_from_slice(first);
    acc.token = own[0];
    acc.params.copy_from_slice(&own[1..]);
    operator_scopes_mut(&mut acc.op, f);
}

/// The operands of an update of accumulators.
pub(super) fn update_acc(update: &UpdateAcc, f: &mut dyn FnMut(Atom)) {
    update.accs.iter().for_each(|v| f(Atom::Var(*v)));
    f(update.index);
    update.values.iter().for_each(|a| f(*a));
}

/// Replaces the operands of an update of accumulators.
pub(super) fn map_update_acc(update: &mut UpdateAcc, f: &mut dyn FnMut(Atom) -> Atom) {
    update.accs.iter_mut().for_each(|v| map_var(v, f));
    map_atom(&mut update.index, f);
    update.values.iter_mut().for_each(|a| map_atom(a, f));
}

/// The lambdas of operators as scopes.
pub(super) fn operator_scopes<'a, D>(
    ops: impl IntoIterator<Item = &'a Operator<D>>,
    f: &mut dyn FnMut(&[Var], &'a Body<D>),
) where
    D: 'a,
{
    for op in ops {
        f(&op.lam.params, &op.lam.body);
    }
}

/// The lambdas of operators as scopes, for editing.
pub(super) fn operator_scopes_mut<'a, D>(
    ops: impl IntoIterator<Item = &'a mut Operator<D>>,
    f: &mut dyn FnMut(&mut [Var], &mut Body<D>),
) where
    D: 'a,
{
    for op in ops {
        f(&mut op.lam.params, &mut op.lam.body);
    }
}
