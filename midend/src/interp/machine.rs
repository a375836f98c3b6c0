//! The machine that all dialects share: frames of variables, bodies, control flow, calls, fuel and limits.

mod fault;
mod frame;
mod watch;

use super::Options;
use super::code::{Code, Word, translate};
use super::layout::{Layout, Place};
use super::value::{Meter, Run, Val, internal};
use crate::hash::HashMap;
use crate::ir::array::ArrayOp;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Var};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Lambda, Program, Stm, TrapKind};
use crate::ir::types::ScalarType;
use crate::ir::walk;
use crate::trap::{RunError, TOO_DEEP};
pub(crate) use frame::Frame;
use std::rc::Rc;
use std::sync::Arc;
pub(crate) use watch::Watch;

/// A dialect that the machine can execute the operations of.
pub(crate) trait Exec: Dialect {
    /// What the machine keeps for the dialect.
    type State: Default;

    /// Executes one operation, the expression of `stm`, and binds its results.
    fn exec<'p>(machine: &mut Machine<'p, Self>, op: &'p Self, stm: &'p Stm<Self>) -> Run<()>;

    /// The operation on arrays that it is, if it is one.
    fn array_op(&self) -> Option<&ArrayOp>;

    /// Calls a function that is a derivative.
    fn derivative<'p>(
        machine: &mut Machine<'p, Self>,
        fun: FunId,
        _args: Vec<Val>,
    ) -> Run<Vec<Val>> {
        let name = &machine.program.funs[fun].name;
        internal(format!(
            "`{name}` is a derivative that no pass has made code of"
        ))
    }
}

/// The state of a run.
pub(crate) struct Machine<'p, D: Exec> {
    pub(crate) program: &'p Program<D>,
    pub(crate) options: Options<'p>,
    pub(crate) meter: Rc<Meter>,
    pub(crate) state: D::State,
    /// The operators of the accumulations around the statement at hand, by their tokens.
    pub(super) operators: Vec<(Var, Option<&'p Operator<D>>)>,
    /// The function at hand.
    fun: FunId,
    /// Its variables.
    pub(super) frame: Frame,
    layout: Arc<Layout>,
    /// Code by the addresses of bodies.
    codes: HashMap<usize, Rc<Code<'p, D>>>,
    /// Words on their way from some variables to others.
    pub(super) scratch: Vec<u64>,
    /// Columns to use again.
    pub(super) columns: Vec<Vec<u64>>,
    /// Frames to use again.
    spare: Vec<Frame>,
    depth: usize,
    /// Statements until the next look at fuel and the stop flag.
    credit: u32,
    fuel: Option<u64>,
    /// What analyses claim, if that is to be checked.
    pub(crate) watch: Option<Box<Watch>>,
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
            fun: FunId(0),
            frame: Frame::default(),
            layout,
            codes: HashMap::default(),
            scratch: Vec::new(),
            columns: Vec::new(),
            spare: Vec::new(),
            depth: 0,
            credit: 0,
            fuel: options.fuel,
            options,
            watch: None,
        }
    }

    /// Makes an empty frame for code inside of a function that is executed without calling it, such as a kernel.
    pub(crate) fn enter(&mut self, fun: FunId) {
        self.fun = fun;
        self.frame = self.new_frame(fun);
    }

    fn new_frame(&mut self, fun: FunId) -> Frame {
        let layout = self.layout.of(fun);
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.words.clear();
        frame.words.extend_from_slice(&layout.words);
        frame.vals.clear();
        frame.vals.resize(layout.vals, Val::Unset);
        frame
    }

    /// Calls a function with values for its parameters.
    pub(crate) fn call(&mut self, id: FunId, args: Vec<Val>) -> Run<Vec<Val>> {
        let program = self.program;
        let fun = &program.funs[id];
        if fun.derivative.is_some() {
            return D::derivative(self, id, args);
        }
        let nested = usize::from(self.layout.of(id).recursive);
        if self.depth + nested > self.options.depth {
            return Err(self.trap(TrapKind::Recursion, TOO_DEEP.to_owned(), fun.span));
        }
        let frame = self.new_frame(id);
        let caller = (std::mem::replace(&mut self.frame, frame), self.fun);
        self.fun = id;
        self.depth += nested;
        self.call_in();
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
            self.check_claims(fun.params.iter().map(|p| p.var))?;
            self.run(&fun.body)?;
            self.atoms(&fun.body.result)
        });
        self.call_out();
        self.depth -= nested;
        let mut frame = std::mem::replace(&mut self.frame, caller.0);
        self.fun = caller.1;
        // What the frame holds is let go now.
        frame.vals.clear();
        self.spare.push(frame);
        results
    }

    /// The code of a body of the function at hand, translated when it is first asked for.
    pub(crate) fn code(&mut self, body: &'p Body<D>) -> Rc<Code<'p, D>> {
        // Bodies live as long as the machine, so that none takes another one's place.
        let code = self.codes.entry(std::ptr::from_ref(body) as usize);
        let code = code.or_insert_with(|| {
            let watched = self.watch.is_some();
            let (program, layout) = (self.program, &*self.layout);
            Rc::new(translate::body(program, layout, self.fun, body, watched))
        });
        Rc::clone(code)
    }

    /// Executes the statements of a body.
    pub(crate) fn run(&mut self, body: &'p Body<D>) -> Run<()> {
        let code = self.code(body);
        self.execute(&code)
    }

    /// The word of an atom of the function at hand, if it is a scalar of the type.
    pub(crate) fn word_of(&self, a: Atom, ty: ScalarType) -> Option<Word> {
        match a {
            Atom::Const(c) if c.ty() == ty => self.layout.constant(self.fun, c),
            Atom::Const(_) => None,
            Atom::Var(v) => match self.layout.place_in(self.fun, v) {
                Place::Word(of, word) if of == ty => Some(word),
                Place::Word(..) | Place::Cert | Place::Val(_) | Place::Nowhere => None,
            },
        }
    }

    /// The word of a scalar variable of the function at hand, with its type.
    pub(crate) fn scalar_place(&self, v: Var) -> Option<(ScalarType, Word)> {
        match self.layout.place_in(self.fun, v) {
            Place::Word(ty, word) => Some((ty, word)),
            Place::Cert | Place::Val(_) | Place::Nowhere => None,
        }
    }

    /// Whether there is fuel for so many statements.
    pub(crate) fn affords(&self, n: u64) -> bool {
        self.fuel
            .is_none_or(|fuel| fuel.saturating_add(self.credit.into()) >= n)
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
    pub(crate) fn apply(&mut self, lam: &'p Lambda<D>, args: impl Iterator<Item = Val>) -> Run<()> {
        for (param, arg) in lam.params.iter().zip(args) {
            self.set(*param, arg)?;
        }
        self.check_claims(lam.params.iter().copied())?;
        self.run(&lam.body)
    }
}
