//! The machine that all dialects share: frames of variables, bodies, control flow, calls, fuel and limits.

mod fault;

use super::Options;
use super::layout::Layout;
use super::message;
use super::scalar;
use super::shape::{Extent, Shape};
use super::value::{Array, Meter, Run, Val, internal};
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::{Const, ScalarOp};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Program, Stm, TrapKind};
use crate::ir::types::{AccType, Dim, Size, Type};
use crate::ir::walk;
use crate::trap::RunError;
use crate::value::Data;
use std::rc::Rc;
use std::sync::Arc;

/// A dialect that the machine can execute the operations of.
pub(crate) trait Exec: Dialect {
    /// What the machine keeps for the dialect.
    type State: Default;

    /// Executes one operation, the expression of `stm`, and binds its results.
    fn exec(machine: &mut Machine<'_, Self>, op: &Self, stm: &Stm<Self>) -> Run<()>;
}

/// The state of a run.
pub(crate) struct Machine<'p, D: Exec> {
    pub(crate) program: &'p Program<D>,
    pub(crate) options: Options<'p>,
    pub(crate) meter: Rc<Meter>,
    pub(crate) state: D::State,
    /// The operators of the accumulations around the statement at hand, by their tokens.
    pub(super) operators: Vec<(Var, Option<Rc<Operator<D>>>)>,
    /// The variables of the function at hand.
    frame: Vec<Val>,
    layout: Arc<Layout>,
    /// Frames to use again.
    spare: Vec<Vec<Val>>,
    depth: usize,
    /// Statements until the next look at fuel and the stop flag.
    credit: u32,
    fuel: Option<u64>,
}

/// Statements between two looks at fuel and the stop flag.
const CREDIT: u32 = 4096;

impl<'p, D: Exec> Machine<'p, D> {
    pub(crate) fn new(program: &'p Program<D>, options: Options<'p>) -> Self {
        Self::with_layout(program, Arc::new(Layout::new(program)), options)
    }

    /// A machine for a program whose layout is known.
    pub(crate) fn with_layout(
        program: &'p Program<D>,
        layout: Arc<Layout>,
        options: Options<'p>,
    ) -> Self {
        Self {
            program,
            meter: Meter::new(options.memory),
            state: D::State::default(),
            operators: Vec::new(),
            frame: Vec::new(),
            layout,
            spare: Vec::new(),
            depth: 0,
            credit: 0,
            fuel: options.fuel,
            options,
        }
    }

    /// Makes an empty frame for code inside of a function that is executed without calling it, such as a kernel.
    pub(crate) fn enter(&mut self, fun: FunId) {
        self.frame.clear();
        self.frame.resize(self.layout.size(fun), Val::Unset);
    }

    /// Calls a function with values for its parameters.
    pub(crate) fn call(&mut self, id: FunId, args: Vec<Val>) -> Run<Vec<Val>> {
        let program = self.program;
        let fun = &program.funs[id];
        if self.depth >= self.options.depth {
            return Err(self.trap(
                TrapKind::Recursion,
                fault::recursion_text(fun, self.depth),
                fun.span,
            ));
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.clear();
        frame.resize(self.layout.size(id), Val::Unset);
        let caller = std::mem::replace(&mut self.frame, frame);
        self.depth += 1;
        let results = walk::deep(|| {
            if args.len() != fun.params.len() {
                return internal(format!(
                    "`{}` is called with a wrong number of arguments",
                    fun.name
                ));
            }
            for (param, arg) in fun.params.iter().zip(args) {
                self.set(param.var, arg)?;
            }
            self.run(&fun.body)?;
            self.atoms(&fun.body.result)
        });
        self.depth -= 1;
        let mut frame = std::mem::replace(&mut self.frame, caller);
        frame.clear();
        self.spare.push(frame);
        results
    }

    /// Executes the statements of a body.
    pub(crate) fn run(&mut self, body: &Body<D>) -> Run<()> {
        self.tick(body.stms.len() as u32 + 1)?;
        for stm in &body.stms {
            self.stm(stm)?;
        }
        Ok(())
    }

    /// Executes a body that is nested in a statement, and yields its results.
    fn nested(&mut self, body: &Body<D>) -> Run<Vec<Val>> {
        walk::deep(|| {
            self.run(body)?;
            self.atoms(&body.result)
        })
    }

    fn stm(&mut self, stm: &Stm<D>) -> Run<()> {
        match &stm.exp {
            Exp::Scalar(op, args) => {
                let value = self.scalar_op(*op, args)?;
                self.bind_one(stm, Val::Scalar(value))
            }
            Exp::Op(op) => D::exec(self, op, stm).map_err(|e| self.locate(e, stm.span)),
            Exp::Atom(a) => {
                let value = self.atom(*a)?;
                self.bind_one(stm, value)
            }
            Exp::Assert { cond, message } => {
                if self.truth(*cond)? {
                    return self.bind_one(stm, Val::Cert);
                }
                let text = message::text(message, |a| self.scalar(a))?;
                Err(self.trap(message.kind, text, stm.span))
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                let body = if self.truth(*cond)? { then } else { otherwise };
                let results = self.nested(body)?;
                self.bind(stm, results)
            }
            Exp::Loop { params, form, body } => {
                let results = walk::deep(|| self.run_loop(params, form, body))?;
                self.bind(stm, results)
            }
            Exp::Call { fun, args } => {
                let args = self.atoms(args)?;
                let results = self
                    .call(*fun, args)
                    .map_err(|e| self.called_from(e, stm.span))?;
                self.bind(stm, results)
            }
        }
    }

    fn run_loop(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<D>,
        body: &Body<D>,
    ) -> Run<Vec<Val>> {
        let mut values = Vec::with_capacity(params.len());
        for param in params {
            values.push(self.atom(param.init)?);
        }
        match form {
            LoopForm::For { index, bound } => {
                let bound = self.scalar(*bound)?;
                let (Some(n), ty) = (bound.as_int(), bound.ty()) else {
                    return internal("the bound of a loop is not an integer");
                };
                for i in 0..n {
                    self.set(*index, Val::Scalar(Const::int(ty, i).unwrap_or(bound)))?;
                    self.step(params, body, &mut values)?;
                }
            }
            LoopForm::While(cond) => loop {
                self.set_params(params, &values)?;
                self.run(cond)?;
                match cond.result.first() {
                    Some(&c) if self.truth(c)? => {}
                    Some(_) => break,
                    None => return internal("the condition of a loop has no result"),
                }
                self.step(params, body, &mut values)?;
            },
        }
        Ok(values)
    }

    fn set_params(&mut self, params: &[LoopParam], values: &[Val]) -> Run<()> {
        for (param, value) in params.iter().zip(values) {
            self.set(param.var, value.clone())?;
        }
        Ok(())
    }

    fn step(&mut self, params: &[LoopParam], body: &Body<D>, values: &mut [Val]) -> Run<()> {
        self.set_params(params, values)?;
        self.run(body)?;
        for (value, result) in values.iter_mut().zip(&body.result) {
            *value = self.atom(*result)?;
        }
        Ok(())
    }

    fn scalar_op(&self, op: ScalarOp, args: &[Atom]) -> Run<Const> {
        let value = match *args {
            [a, b] => scalar::eval(op, &[self.scalar(a)?, self.scalar(b)?]),
            [a] => scalar::eval(op, &[self.scalar(a)?]),
            [a, b, c] => scalar::eval(op, &[self.scalar(a)?, self.scalar(b)?, self.scalar(c)?]),
            _ => Err(scalar::ScalarTrap::IllTyped),
        };
        value.or_else(|trap| internal(format!("{op}: {trap}, and no check before it")))
    }

    /// Spends fuel for `n` statements and for the arrays made since the last time, and looks at the stop flag now and
    /// then.
    pub(crate) fn tick(&mut self, n: u32) -> Run<()> {
        // Bulk work is much cheaper than a statement per element.
        let bulk = self.meter.take_made() / 64;
        let n = n.saturating_add(u32::try_from(bulk).unwrap_or(u32::MAX));
        if let Some(left) = self.credit.checked_sub(n) {
            self.credit = left;
            return Ok(());
        }
        if self
            .options
            .stop
            .is_some_and(crate::device::Stop::is_raised)
        {
            return Err(Box::new(RunError::Interrupted));
        }
        let mut grant = CREDIT.max(n);
        if let Some(fuel) = &mut self.fuel {
            grant = u32::try_from(*fuel).map_or(grant, |fuel| grant.min(fuel));
            *fuel -= u64::from(grant);
        }
        match grant.checked_sub(n) {
            Some(left) => self.credit = left,
            None => return Err(Box::new(RunError::OutOfFuel)),
        }
        Ok(())
    }

    /// The value of an atom.
    pub(crate) fn atom(&self, a: Atom) -> Run<Val> {
        match a {
            Atom::Const(c) => Ok(Val::Scalar(c)),
            Atom::Var(v) => match self.get(v) {
                Val::Array(array) => {
                    self.check_version(v, array)?;
                    Ok(Val::Array(Rc::clone(array)))
                }
                Val::Unset => internal(format!("{v:?} is used before it is bound")),
                value @ (Val::Scalar(_) | Val::Buffer(_) | Val::Cert) => Ok(value.clone()),
            },
        }
    }

    /// The values of atoms.
    pub(crate) fn atoms(&self, atoms: &[Atom]) -> Run<Vec<Val>> {
        atoms.iter().map(|&a| self.atom(a)).collect()
    }

    /// The value of a scalar atom.
    pub(crate) fn scalar(&self, a: Atom) -> Run<Const> {
        match a {
            Atom::Const(c) => Ok(c),
            Atom::Var(v) => match self.get(v) {
                Val::Scalar(c) => Ok(*c),
                Val::Array(_) | Val::Buffer(_) | Val::Cert | Val::Unset => {
                    internal(format!("{v:?} is not a scalar"))
                }
            },
        }
    }

    /// The value of an `i64` atom.
    pub(crate) fn int(&self, a: Atom) -> Run<i64> {
        let c = self.scalar(a)?;
        c.as_i64()
            .map_or_else(|| internal(format!("{c:?} where an i64 is needed")), Ok)
    }

    /// The value of a `bool` atom.
    pub(crate) fn truth(&self, a: Atom) -> Run<bool> {
        let c = self.scalar(a)?;
        c.as_bool()
            .map_or_else(|| internal(format!("{c:?} where a bool is needed")), Ok)
    }

    /// The value of a size.
    pub(crate) fn size(&self, size: Size) -> Run<i64> {
        match size {
            Size::Const(n) => Ok(n),
            Size::Var(v) => self.int(Atom::Var(v)),
        }
    }

    /// The values of sizes, none of which is negative.
    pub(crate) fn shape(&self, sizes: &[Size]) -> Run<Vec<i64>> {
        let mut shape = Vec::with_capacity(sizes.len());
        for &size in sizes {
            match self.size(size)? {
                n @ 0.. => shape.push(n),
                n => return internal(format!("a size of {n}, and no check before it")),
            }
        }
        Ok(shape)
    }

    /// The extent of a regular dimension of a type.
    pub(crate) fn extent(&self, dim: Dim) -> Run<i64> {
        match dim {
            Dim::Size(size) => self.size(size),
            Dim::Ragged(_) => internal("a row of a ragged array is where no row can be"),
        }
    }

    /// The values of dimensions, which make a shape.
    pub(crate) fn dims(&self, dims: &[Dim]) -> Run<Shape> {
        let extents = dims.iter().map(|&dim| match dim {
            Dim::Size(size) => Ok(Extent::Regular(self.size(size)?)),
            Dim::Ragged(offsets) => Ok(Extent::Ragged(self.offsets(offsets)?)),
        });
        Shape::new(extents.collect::<Run<_>>()?)
    }

    /// The elements of a vector of offsets.
    pub(crate) fn offsets(&self, v: Var) -> Run<Rc<[i64]>> {
        let Data::I64(offsets) = self.array(v)?.to_value().data else {
            return internal(format!("{v:?} is no vector of offsets"));
        };
        Ok(offsets.into())
    }

    /// The shape that the type of a variable states, without its first `skip` dimensions.
    pub(crate) fn type_shape(&self, v: Var, skip: usize) -> Run<Vec<i64>> {
        let shape = self.program.vars[v].ty.shape();
        let inner = shape.get(skip..).unwrap_or_default();
        inner.iter().map(|&dim| self.extent(dim)).collect()
    }

    /// The array that a variable holds.
    pub(crate) fn array(&self, v: Var) -> Run<Rc<Array>> {
        match self.get(v) {
            Val::Array(array) => {
                self.check_version(v, array)?;
                Ok(Rc::clone(array))
            }
            Val::Scalar(_) | Val::Buffer(_) | Val::Cert | Val::Unset => {
                internal(format!("{v:?} is not an array"))
            }
        }
    }

    fn get(&self, v: Var) -> &Val {
        const UNSET: &Val = &Val::Unset;
        self.frame.get(self.layout.slot(v)).unwrap_or(UNSET)
    }

    fn check_version(&self, v: Var, array: &Array) -> Run<()> {
        if self.options.check && array.version != array.buf.version.get() {
            return internal(format!(
                "{v:?} is used after it, or what it aliases, was consumed"
            ));
        }
        Ok(())
    }

    /// Gives a variable its value.
    pub(crate) fn set(&mut self, v: Var, value: Val) -> Run<()> {
        if self.options.check {
            self.check_type(v, &value)?;
        }
        match self.frame.get_mut(self.layout.slot(v)) {
            Some(place) => *place = value,
            None => return internal(format!("{v:?} is bound outside of its function")),
        }
        Ok(())
    }

    /// Whether the value is one of the type that the table of variables states, in shape too.
    fn check_type(&self, v: Var, value: &Val) -> Run<()> {
        let info = &self.program.vars[v];
        let fits = match (&info.ty, value) {
            (Type::Scalar(ty), Val::Scalar(c)) => c.ty() == *ty,
            (Type::Array(ty) | Type::Acc(AccType { array: ty, .. }), Val::Array(array)) => {
                let mut fits = ty.elem == array.elem() && ty.rank() == array.rank();
                match &array.ragged {
                    Some(shape) => fits = fits && self.dims(&ty.shape)? == **shape,
                    None => {
                        for (dim, have) in ty.shape.iter().zip(&*array.dims) {
                            fits = fits && self.extent(*dim)? == have.extent;
                        }
                    }
                }
                fits
            }
            (Type::Buffer(_), Val::Buffer(_)) | (Type::Cert, Val::Cert) => true,
            (Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert, _) => {
                false
            }
        };
        if fits {
            return Ok(());
        }
        let what = match value {
            Val::Scalar(c) => format!("a scalar of type {}", c.ty()),
            Val::Array(a) => match &a.ragged {
                Some(shape) => format!("an array of shape {:?} of {}", shape.extents(), a.elem()),
                None => format!("an array of shape {:?} of {}", a.shape(), a.elem()),
            },
            Val::Buffer(_) => "a buffer".into(),
            Val::Cert => "a certificate".into(),
            Val::Unset => "nothing".into(),
        };
        let shape = self.type_shape(v, 0).unwrap_or_default();
        internal(format!(
            "{}{v:?} of type {:?}, in numbers {shape:?}, is given {what}",
            info.name, info.ty
        ))
    }

    /// Binds the results of a statement.
    pub(crate) fn bind(&mut self, stm: &Stm<D>, values: Vec<Val>) -> Run<()> {
        if stm.binds.len() != values.len() {
            return internal(format!(
                "a statement that binds {} variables has {} results",
                stm.binds.len(),
                values.len()
            ));
        }
        for (v, value) in stm.binds.iter().zip(values) {
            self.set(*v, value).map_err(|e| self.locate(e, stm.span))?;
        }
        Ok(())
    }

    /// Binds the only result of a statement.
    pub(crate) fn bind_one(&mut self, stm: &Stm<D>, value: Val) -> Run<()> {
        match stm.binds[..] {
            [v] => self.set(v, value).map_err(|e| self.locate(e, stm.span)),
            _ => internal("a statement binds a wrong number of variables"),
        }
    }

    /// Sets the parameters of a lambda, executes it, and leaves its results in the variables that they name.
    pub(crate) fn apply(
        &mut self,
        lam: &crate::ir::syntax::Lambda<D>,
        args: impl Iterator<Item = Val>,
    ) -> Run<()> {
        for (param, arg) in lam.params.iter().zip(args) {
            self.set(*param, arg)?;
        }
        self.run(&lam.body)
    }
}
