//! Loops.

use super::emit::FrameKind;
use super::view::View;
use super::{Cx, Mode};
use crate::analysis::apart::apart;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};
use crate::ir::types::Type;

/// How a value goes from one iteration to the next.
#[derive(Clone, Debug)]
enum Carry {
    /// A scalar.
    Scalar,
    /// An array that is the same memory all along.
    Fixed(View),
    /// An array that has this place between iterations.
    Home(View),
    /// An array in memory that changes: a buffer, and in kernels an offset.
    Pointer(Var, Option<Var>),
}

impl Cx<'_> {
    pub(super) fn looping(
        &mut self,
        binds: &[Var],
        (params, form, body): (&[LoopParam], &LoopForm<Seg>, &Body<Seg>),
    ) {
        let wanted: Vec<Option<View>> = binds.iter().map(|b| self.dests.remove(b)).collect();
        let mut lowered = Vec::new();
        let mut carries = Vec::new();
        for (k, param) in params.iter().enumerate() {
            let carry = self.carry((params, body), k, wanted[k].as_ref(), &mut lowered);
            if let Carry::Fixed(view) | Carry::Home(view) = &carry {
                self.views.insert(param.var, view.clone());
            }
            carries.push(carry);
        }
        let pointers = carries.iter().any(|c| matches!(c, Carry::Pointer(..)));
        let kind = if pointers {
            FrameKind::CarryingLoop
        } else {
            FrameKind::Loop
        };
        let extent = apart(&self.vars, params, form, body);
        let form = match form {
            LoopForm::For { index, bound } => LoopForm::For {
                index: *index,
                bound: self.atom(*bound),
            },
            LoopForm::While(cond) => {
                self.enter_iteration(kind, params, &carries);
                self.stms(cond);
                let result = self.atoms(&cond.result);
                LoopForm::While(self.leave(result))
            }
        };
        self.enter_iteration(kind, params, &carries);
        if let LoopForm::For { index, .. } = form {
            self.define(index);
        }
        if let (Mode::Host, Some(extent)) = (self.mode, extent) {
            fired("plan/apart");
            let extent = self.atom(extent.into());
            self.push(Vec::new(), Exp::Op(Mem::Apart(extent)));
        }
        self.stms(body);
        let result = self.next_values(&carries, &body.result);
        let body = self.leave(result);
        self.finish_loop(
            binds,
            params,
            &carries,
            Exp::Loop {
                params: lowered,
                form,
                body,
            },
        );
        for (&bind, dest) in binds.iter().zip(wanted) {
            if let Some(dest) = dest {
                self.put(&dest, bind.into());
                self.views.insert(bind, dest);
            }
        }
    }

    /// Decides how a parameter is carried, and brings its first value there.
    fn carry(
        &mut self,
        (params, body): (&[LoopParam], &Body<Seg>),
        k: usize,
        wanted: Option<&View>,
        lowered: &mut Vec<LoopParam>,
    ) -> Carry {
        let LoopParam { var, init } = params[k];
        let Some(view) = init.as_var().and_then(|v| self.views.get(&v)).cloned() else {
            lowered.push(LoopParam {
                var,
                init: self.atom(init),
            });
            return Carry::Scalar;
        };
        if self.definitions.is_carried(params, body, k) {
            fired("plan/updated-all-along");
            return Carry::Fixed(view);
        }
        if self.mode != Mode::Host && self.shape_in_scope(&self.vars[var].ty) {
            // What threads share is nearer than where it goes in the end.
            let home = match wanted.filter(|_| self.mode == Mode::Kernel) {
                Some(dest) => dest.clone(),
                None => self.room_for(var),
            };
            self.put(&home, init);
            fired("plan/home-in-loop");
            return Carry::Home(home);
        }
        fired("plan/pointer-in-loop");
        let view = self.crossing(&view);
        let buffer = self.pointer(var, &[view.buffer]);
        self.may_be_anything(buffer);
        lowered.push(LoopParam {
            var: buffer,
            init: view.buffer.into(),
        });
        let offset = (self.mode != Mode::Host).then(|| {
            let offset = self.fresh("offset", Type::I64);
            lowered.push(LoopParam {
                var: offset,
                init: view.offset,
            });
            offset
        });
        Carry::Pointer(buffer, offset)
    }

    /// Starts the body of an iteration, or its condition.
    fn enter_iteration(&mut self, kind: FrameKind, params: &[LoopParam], carries: &[Carry]) {
        self.enter(kind);
        for (param, carry) in params.iter().zip(carries) {
            match carry {
                Carry::Scalar => self.define(param.var),
                Carry::Fixed(_) | Carry::Home(_) => {}
                Carry::Pointer(buffer, offset) => {
                    self.define(*buffer);
                    offset.iter().for_each(|&o| self.define(o));
                }
            }
        }
        // The shapes of arrays may name scalar parameters.
        for (param, carry) in params.iter().zip(carries) {
            if let Carry::Pointer(buffer, offset) = carry {
                self.point_to(param.var, *buffer, offset.map_or(Atom::ZERO, Atom::Var));
            }
        }
    }

    /// The results of an iteration. Arrays with homes are brought there, as if all at once.
    fn next_values(&mut self, carries: &[Carry], results: &[Atom]) -> Vec<Atom> {
        let mut next = Vec::new();
        let mut moves = Vec::new();
        for (k, (carry, &result)) in carries.iter().zip(results).enumerate() {
            match carry {
                Carry::Scalar => next.push(self.atom(result)),
                Carry::Fixed(view) => self.put(&view.clone(), result),
                Carry::Home(home) => moves.push((home.clone(), self.apart(carries, k, result))),
                Carry::Pointer(_, offset) => {
                    let Some(view) = result.as_var().map(|v| self.view(v)) else {
                        continue;
                    };
                    let view = self.crossing(&view);
                    next.push(view.buffer.into());
                    if offset.is_some() {
                        next.push(view.offset);
                    }
                }
            }
        }
        for (home, from) in moves {
            if let Some(from) = from {
                self.copy(&home, &from);
            }
        }
        next
    }

    /// The next value of parameter `k`, in memory that bringing other parameters home does not overwrite; nothing if
    /// it is at home.
    fn apart(&mut self, carries: &[Carry], k: usize, result: Atom) -> Option<View> {
        let from = self.view(result.as_var()?);
        let overwritten = carries.iter().enumerate().any(|(j, carry)| match carry {
            Carry::Home(home) if j == k => home.buffer == from.buffer && !home.same(&from),
            Carry::Home(home) => self.may_alias(home.buffer, from.buffer),
            Carry::Scalar | Carry::Fixed(_) | Carry::Pointer(..) => false,
        });
        let at_home = matches!(&carries[k], Carry::Home(home) if home.same(&from));
        match (at_home, overwritten) {
            (true, _) => None,
            (false, true) => {
                fired("plan/move-through-copy");
                Some(self.fresh_copy(&from))
            }
            (false, false) => Some(from),
        }
    }

    fn finish_loop(
        &mut self,
        binds: &[Var],
        params: &[LoopParam],
        carries: &[Carry],
        exp: Exp<Mem>,
    ) {
        let mut bound = Vec::new();
        let mut pointers = Vec::new();
        for ((&bind, param), carry) in binds.iter().zip(params).zip(carries) {
            match carry {
                Carry::Scalar => bound.push(bind),
                Carry::Fixed(view) | Carry::Home(view) => {
                    self.views.insert(bind, view.clone());
                }
                Carry::Pointer(buffer, offset) => {
                    let result = self.pointer(param.var, &[*buffer]);
                    self.may_be_anything(result);
                    bound.push(result);
                    let offset = offset.map(|_| self.fresh("offset", Type::I64));
                    bound.extend(offset);
                    pointers.push((bind, result, offset.map_or(Atom::ZERO, Atom::Var)));
                }
            }
        }
        self.push(bound, exp);
        for (bind, buffer, offset) in pointers {
            self.point_to(bind, buffer, offset);
        }
    }
}
