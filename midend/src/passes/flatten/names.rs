//! What stands for names of the source, and making statements.

use super::{Cx, Mode};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Exp, Stm, VarInfo};
use crate::ir::types::{AccType, ArrayType, Dim, Size, Type};

impl Cx<'_> {
    // Names and types.

    pub(super) fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Const(_) => atom,
            Atom::Var(v) => self.subst[v].unwrap_or(atom),
        }
    }

    pub(super) fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|&a| self.atom(a)).collect()
    }

    pub(super) fn var_atom(&self, var: Var) -> Option<Var> {
        match self.atom(Atom::Var(var)) {
            Atom::Var(v) => Some(v),
            Atom::Const(_) => None,
        }
    }

    /// What stands for an array variable; arrays are never constants.
    pub(super) fn var(&self, var: Var) -> Var {
        self.var_atom(var).unwrap_or(var)
    }

    pub(super) fn all_vars(&self, vars: &[Var]) -> Vec<Var> {
        vars.iter().map(|&v| self.var(v)).collect()
    }

    pub(super) fn size(&self, size: Size) -> Size {
        match size {
            Size::Const(_) => size,
            Size::Var(v) => match self.subst[v] {
                Some(Atom::Var(w)) => Size::Var(w),
                Some(Atom::Const(Const::I64(n))) => Size::Const(n),
                Some(Atom::Const(_)) | None => size,
            },
        }
    }

    pub(super) fn sizes(&self, sizes: &[Size]) -> Vec<Size> {
        sizes.iter().map(|&s| self.size(s)).collect()
    }

    pub(super) fn dims(&self, dims: &[Dim]) -> Vec<Dim> {
        let dims = dims.iter().map(|dim| match *dim {
            Dim::Size(size) => Dim::Size(self.size(size)),
            Dim::Ragged(offsets) => Dim::Ragged(self.var(offsets)),
        });
        dims.collect()
    }

    pub(super) fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Scalar(_) | Type::Buffer(_) | Type::Cert => ty.clone(),
            Type::Array(array) => Type::Array(self.array_type(array)),
            Type::Acc(acc) => Type::Acc(AccType {
                token: self.var(acc.token),
                part: acc.part,
                array: self.array_type(&acc.array),
            }),
        }
    }

    fn array_type(&self, array: &ArrayType) -> ArrayType {
        ArrayType {
            elem: array.elem,
            shape: self.dims(&array.shape),
        }
    }

    /// The type that a variable of the source has now.
    pub(super) fn type_of(&self, var: Var) -> Type {
        self.ty(&self.vars[var].ty)
    }

    pub(super) fn bind(&mut self, var: Var, mode: Mode) -> Var {
        match mode {
            Mode::Host => var,
            Mode::Seq | Mode::Block => {
                let info = VarInfo {
                    name: self.vars[var].name.clone(),
                    ty: self.type_of(var),
                };
                let fresh = self.vars.push(info);
                self.subst.set(var, Some(Atom::Var(fresh)));
                fresh
            }
        }
    }

    pub(super) fn binds(&mut self, vars: &[Var], mode: Mode) -> Vec<Var> {
        vars.iter().map(|&v| self.bind(v, mode)).collect()
    }

    // Making statements.

    pub(super) fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        })
    }

    pub(super) fn push(&self, out: &mut Vec<Stm<Seg>>, binds: Vec<Var>, exp: Exp<Seg>) {
        out.push(Stm {
            binds,
            certs: Vec::new(),
            exp,
            span: self.span,
        });
    }

    pub(super) fn emit(
        &mut self,
        out: &mut Vec<Stm<Seg>>,
        name: &str,
        ty: Type,
        exp: Exp<Seg>,
    ) -> Var {
        let var = self.fresh(name, ty);
        self.push(out, vec![var], exp);
        var
    }

    pub(super) fn array(
        &mut self,
        out: &mut Vec<Stm<Seg>>,
        name: &str,
        ty: Type,
        op: ArrayOp,
    ) -> Var {
        self.emit(out, name, ty, Exp::Op(Seg::Array(op)))
    }

    pub(super) fn scalar(
        &mut self,
        out: &mut Vec<Stm<Seg>>,
        name: &str,
        op: ScalarOp,
        args: Vec<Atom>,
    ) -> Atom {
        Atom::Var(self.emit(out, name, Type::Scalar(op.result()), Exp::Scalar(op, args)))
    }

    /// The element or row of `array` at `index`.
    pub(super) fn element(
        &mut self,
        out: &mut Vec<Stm<Seg>>,
        array: Var,
        index: impl Into<Atom>,
    ) -> Option<Atom> {
        let ty = self.vars[array].ty.peel(1)?;
        let op = ArrayOp::Index {
            array,
            indices: vec![index.into()],
        };
        Some(Atom::Var(self.array(out, "x", ty, op)))
    }
}
