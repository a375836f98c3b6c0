//! From bodies to code.

use super::ops::{Resolved, resolve};
use super::{Assign, Code, Element, Inst, Watched, Word};
use crate::hash::{HashMap, HashSet};
use crate::interp::layout::{Layout, Place};
use crate::interp::machine::Exec;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::{FunId, Var};
use crate::ir::scalar::ScalarOp;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Program, Stm};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;
use std::cell::OnceCell;

/// Translates a body of a function.
pub(crate) fn body<'p, D: Exec>(
    program: &'p Program<D>,
    layout: &Layout,
    fun: FunId,
    body: &'p Body<D>,
    watched: bool,
) -> Code<'p, D> {
    let mut to = Translator {
        program,
        layout,
        fun,
        insts: Vec::new(),
        watched,
    };
    to.body(body);
    // One at least, so that watched code is never straight, and executed element by element.
    to.watch(Watched::Statement, &[]);
    let straight = to.insts.iter().skip(1).all(is_straight);
    Code {
        insts: to.insts,
        straight,
        plan: OnceCell::new(),
    }
}

fn is_straight<D>(inst: &Inst<'_, D>) -> bool {
    match inst {
        Inst::Unary { .. }
        | Inst::Binary { .. }
        | Inst::Partial { .. }
        | Inst::Select { .. }
        | Inst::Defined { .. }
        | Inst::Copy { .. }
        | Inst::Element { .. }
        | Inst::Assert { .. } => true,
        Inst::Tick(_)
        | Inst::CopyAll(_)
        | Inst::Assign(..)
        | Inst::Replace { .. }
        | Inst::Guard { .. }
        | Inst::Jump(_)
        | Inst::Unless { .. }
        | Inst::Start { .. }
        | Inst::Next { .. }
        | Inst::Call { .. }
        | Inst::Op(..)
        | Inst::Watch(..)
        | Inst::Wrong(..) => false,
    }
}

/// What is wrong with a statement.
type Checked<T> = Result<T, String>;

struct Translator<'a, 'p, D> {
    program: &'p Program<D>,
    layout: &'a Layout,
    fun: FunId,
    insts: Vec<Inst<'p, D>>,
    /// Whether what analyses claim is checked.
    watched: bool,
}

impl<'p, D: Exec> Translator<'_, 'p, D> {
    fn body(&mut self, body: &'p Body<D>) {
        self.insts.push(Inst::Tick(body.stms.len() as u32 + 1));
        for stm in &body.stms {
            let done = walk::deep(|| self.stm(stm));
            if let Err(why) = done {
                self.insts.push(Inst::Wrong(stm, why.into()));
            }
            self.watch(Watched::Statement, &stm.binds);
        }
    }

    fn watch(&mut self, what: Watched, vars: &[Var]) {
        if self.watched {
            self.insts.push(Inst::Watch(what, vars.into()));
        }
    }

    fn stm(&mut self, stm: &'p Stm<D>) -> Checked<()> {
        match &stm.exp {
            Exp::Scalar(op, args) => {
                let inst = self.scalar(*op, args, only(&stm.binds)?)?;
                self.insts.push(inst);
                Ok(())
            }
            Exp::Atom(a) => self.assign(stm, &[*a], &stm.binds, &HashSet::default()),
            Exp::Assert { cond, message } => {
                let cond = self.typed(*cond, ScalarType::Bool)?;
                self.insts.push(Inst::Assert { cond, message, stm });
                Ok(())
            }
            Exp::Guard { threshold, measure } => {
                let measure = self.typed(*measure, ScalarType::I64)?;
                let to = self.typed(only(&stm.binds)?.into(), ScalarType::Bool)?;
                self.insts.push(Inst::Guard {
                    threshold,
                    measure,
                    to,
                });
                Ok(())
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.branch(stm, *cond, then, otherwise),
            Exp::Loop { params, form, body } => self.repeat(stm, params, form, body),
            Exp::Op(op) => {
                let inst = op.array_op().and_then(|op| self.array(op, stm));
                self.insts.push(inst.unwrap_or(Inst::Op(op, stm)));
                Ok(())
            }
            Exp::Call { fun, args } => {
                self.insts.push(Inst::Call {
                    fun: *fun,
                    args,
                    stm,
                });
                Ok(())
            }
        }
    }

    fn scalar(&self, op: ScalarOp, args: &[Atom], to: Var) -> Checked<Inst<'p, D>> {
        let wrong = || format!("{op} with operands or a result of other types");
        let resolved = resolve(op).ok_or_else(wrong)?;
        if args.len() != op.arity() {
            return Err(wrong());
        }
        let mut words = [0; 3];
        for (i, &arg) in args.iter().enumerate() {
            words[i] = self.typed(arg, op.operand(i)).map_err(|_| wrong())?;
        }
        let to = self.typed(to.into(), op.result()).map_err(|_| wrong())?;
        let [a, b, c] = words;
        Ok(match resolved {
            Resolved::Unary(f) => Inst::Unary { f, a, to },
            Resolved::Binary(f) => Inst::Binary { f, a, b, to },
            Resolved::Partial(f) => Inst::Partial { f, op, a, b, to },
            Resolved::Select => Inst::Select {
                cond: a,
                a: b,
                b: c,
                to,
            },
            Resolved::Defined => Inst::Defined {
                op,
                args: words,
                to,
            },
        })
    }

    fn branch(
        &mut self,
        stm: &'p Stm<D>,
        cond: Atom,
        then: &'p Body<D>,
        otherwise: &'p Body<D>,
    ) -> Checked<()> {
        let cond = self.typed(cond, ScalarType::Bool)?;
        let unless = self.insts.len();
        self.insts.push(Inst::Unless { cond, to: 0 });
        self.body(then);
        self.yield_to(stm, then, &stm.binds);
        let jump = self.insts.len();
        self.insts.push(Inst::Jump(0));
        self.insts[unless] = Inst::Unless {
            cond,
            to: self.here(),
        };
        self.body(otherwise);
        self.yield_to(stm, otherwise, &stm.binds);
        self.insts[jump] = Inst::Jump(self.here());
        Ok(())
    }

    fn repeat(
        &mut self,
        stm: &'p Stm<D>,
        params: &[LoopParam],
        form: &'p LoopForm<D>,
        body: &'p Body<D>,
    ) -> Checked<()> {
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        match form {
            LoopForm::For { index, bound } => {
                let round: Vec<Var> = vars.iter().copied().chain([*index]).collect();
                let Place::Word(ty, index) = self.layout.place_in(self.fun, *index) else {
                    return Err("the counter of a loop is no scalar".into());
                };
                let bound = self.typed(*bound, ty)?;
                if !ty.is_integer() {
                    return Err("the bound of a loop is not an integer".into());
                }
                let sign = if ty.is_signed() {
                    1 << (8 * ty.bytes() - 1)
                } else {
                    0
                };
                self.assign(stm, &inits, &vars, &HashSet::default())?;
                self.watch(Watched::Enter, &[]);
                let start = self.insts.len();
                self.insts.push(Inst::Jump(0));
                self.watch(Watched::Round, &round);
                self.body(body);
                self.yield_to(stm, body, &vars);
                self.insts.push(Inst::Next {
                    index,
                    bound,
                    to: start as u32 + 1,
                });
                self.insts[start] = Inst::Start {
                    index,
                    bound,
                    sign,
                    to: self.here(),
                };
            }
            LoopForm::While(cond) => {
                let Some(&holds) = cond.result.first() else {
                    return Err("the condition of a loop has no result".into());
                };
                self.assign(stm, &inits, &vars, &HashSet::default())?;
                self.watch(Watched::Enter, &[]);
                let start = self.here();
                self.watch(Watched::Round, &vars);
                self.body(cond);
                let cond = self.typed(holds, ScalarType::Bool)?;
                let unless = self.insts.len();
                self.insts.push(Inst::Unless { cond, to: 0 });
                self.body(body);
                self.yield_to(stm, body, &vars);
                self.insts.push(Inst::Jump(start));
                self.insts[unless] = Inst::Unless {
                    cond,
                    to: self.here(),
                };
            }
        }
        self.watch(Watched::Leave, &[]);
        let last: Vec<Atom> = vars.iter().map(|&v| v.into()).collect();
        // The loop is over, so that its parameters are not used again.
        self.assign(stm, &last, &stm.binds, &vars.into_iter().collect())
    }

    /// Gives the results of a body their names outside of it.
    fn yield_to(&mut self, stm: &'p Stm<D>, body: &Body<D>, to: &[Var]) {
        let inside = body.stms.iter().flat_map(|stm| stm.binds.iter().copied());
        if let Err(why) = self.assign(stm, &body.result, to, &inside.collect()) {
            self.insts.push(Inst::Wrong(stm, why.into()));
        }
    }

    /// Gives values to variables, all at once. Those of `last` are not used again.
    fn assign(
        &mut self,
        stm: &'p Stm<D>,
        from: &[Atom],
        to: &[Var],
        last: &HashSet<Var>,
    ) -> Checked<()> {
        if from.len() != to.len() {
            let (to, from) = (to.len(), from.len());
            return Err(format!("{to} variables are given {from} values"));
        }
        let mut uses: HashMap<Atom, usize> = HashMap::default();
        from.iter().for_each(|a| *uses.entry(*a).or_default() += 1);
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for (&atom, &var) in from.iter().zip(to) {
            match (self.layout.place_in(self.fun, var), atom) {
                (Place::Word(ty, to), from) => words.push((self.typed(from, ty)?, to)),
                (Place::Cert, Atom::Var(v)) if self.program.vars[v].ty == Type::Cert => {}
                (Place::Val(_), Atom::Var(v)) => others.push(Assign {
                    from: v,
                    to: var,
                    moves: uses[&atom] == 1 && last.contains(&v),
                }),
                (Place::Cert | Place::Val(_) | Place::Nowhere, _) => {
                    return Err(format!("{var:?} is given a value of another type"));
                }
            }
        }
        words.retain(|(from, to)| from != to);
        let mut written = HashSet::default();
        if words.iter().all(|(from, to)| {
            let apart = !written.contains(from);
            written.insert(*to);
            apart
        }) {
            let copies = words.into_iter().map(|(a, to)| Inst::Copy { a, to });
            self.insts.extend(copies);
        } else {
            self.insts.push(Inst::CopyAll(words.into()));
        }
        if !others.is_empty() {
            self.insts.push(Inst::Assign(others.into(), stm));
        }
        Ok(())
    }

    /// Reads and updates of single elements.
    fn array(&self, op: &'p ArrayOp, stm: &'p Stm<D>) -> Option<Inst<'p, D>> {
        let to = only(&stm.binds).ok()?;
        if let ArrayOp::Index { array, indices } = op {
            let array = self.element(*array, indices.iter().copied())?;
            let to = self.typed(to.into(), array.ty).ok()?;
            return Some(Inst::Element { array, to, stm });
        }
        let ArrayOp::Update { array, dims, value } = op else {
            return None;
        };
        let fixed = |dim: &SliceDim| match dim {
            SliceDim::Fix(index) => Some(*index),
            SliceDim::Range { .. } => None,
        };
        let indices: Vec<Atom> = dims.iter().map(fixed).collect::<Option<_>>()?;
        let array = self.element(*array, indices.into_iter())?;
        let value = self.typed(*value, array.ty).ok()?;
        Some(Inst::Replace {
            array,
            value,
            to,
            stm,
        })
    }

    fn element(&self, var: Var, atoms: impl ExactSizeIterator<Item = Atom>) -> Option<Element> {
        let Type::Array(ty) = &self.program.vars[var].ty else {
            return None;
        };
        let Place::Val(val) = self.layout.place_in(self.fun, var) else {
            return None;
        };
        let rank = atoms.len();
        let mut indices = [0; 3];
        let ragged = ty.shape.iter().any(|dim| dim.size().is_none());
        if ragged || ty.rank() != rank || rank > indices.len() {
            return None;
        }
        for (index, atom) in indices.iter_mut().zip(atoms) {
            *index = self.typed(atom, ScalarType::I64).ok()?;
        }
        Some(Element {
            var,
            val,
            ty: ty.elem,
            rank: rank as u8,
            indices,
        })
    }

    /// The word of an atom of a type.
    fn typed(&self, a: Atom, ty: ScalarType) -> Checked<Word> {
        match a {
            Atom::Const(c) if c.ty() == ty => self
                .layout
                .constant(self.fun, c)
                .ok_or_else(|| format!("{c:?} has no place")),
            Atom::Const(c) => Err(format!("{c:?} where a {ty} is needed")),
            Atom::Var(v) => match self.layout.place_in(self.fun, v) {
                Place::Word(of, word) if of == ty => Ok(word),
                Place::Word(..) | Place::Cert | Place::Val(_) | Place::Nowhere => {
                    Err(format!("{v:?} is no scalar of type {ty}"))
                }
            },
        }
    }

    fn here(&self) -> u32 {
        self.insts.len() as u32
    }
}

fn only(binds: &[Var]) -> Checked<Var> {
    match binds {
        [v] => Ok(*v),
        _ => Err("a statement binds a wrong number of variables".into()),
    }
}
