//! Loops: a parameter that the body consumes is consumable; its value from the iteration before is given up for it.

use super::alias::{Al, Set};
use super::apply::result;
use super::returns::diet;
use super::{Checked, Consume, each_name, names_of};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Exp, LoopForm, Name, Pat, PatKind, Type};
use std::collections::BTreeSet;

impl<'p> Consume<'p> {
    /// A loop.
    pub(super) fn loop_(
        &mut self,
        e: &'p Exp,
        pat: &'p Pat,
        init: &'p Exp,
        form: &'p LoopForm,
        body: &'p Exp,
    ) -> Checked {
        let mut free = self.free_in(Self::exp_names(body));
        match form {
            LoopForm::For { bound, .. } => {
                self.exp(bound);
            }
            LoopForm::ForIn { array, .. } => {
                self.exp(array);
            }
            LoopForm::While(cond) => {
                free.extend(self.free_in(Self::exp_names(cond)));
            }
        }
        self.depth += 1;
        self.bind_param(pat, true);
        match form {
            LoopForm::For { .. } => {}
            LoopForm::ForIn { pat, .. } => self.bind_param(pat, false),
            LoopForm::While(cond) => {
                self.exp(cond);
            }
        }
        let ((), mut v, gone) = self.contained(|cx| ((), cx.exp(body)));
        self.depth -= 1;
        let own = names_of(std::slice::from_ref(pat));
        let consumed = self.converge(pat, &own, gone.into_keys().collect(), &v.al, e.span);
        v.al.unscope(&own);

        let ((), start, by_start) = self.contained(|cx| {
            let start = cx.exp(init);
            cx.consume_start(pat, &consumed, &start.al, init.span);
            ((), start)
        });
        self.note_consumed(&by_start);
        self.check_free(&free, &by_start.keys().copied().collect(), e.span);

        let fresh = self.made_up(String::from("the result of a loop"));
        let closure = Set::from([fresh]);
        let al = loop_result(&closure, pat, &consumed, &start.al, &e.ty);
        Checked {
            al: al.join(&v.al),
            ty: e.ty.clone(),
        }
    }

    /// Which parameters are consumed: those that the body consumes, and those that it passes on for such. Checks
    /// that nothing is passed on twice, or from outside.
    fn converge(
        &mut self,
        pat: &'p Pat,
        own: &BTreeSet<u32>,
        mut consumed: BTreeSet<u32>,
        al: &Al,
        span: Span,
    ) -> BTreeSet<u32> {
        each_name(pat, &mut |name, ty| {
            if diet(ty) {
                consumed.insert(name.0);
            }
        });
        loop {
            let mut passed = Passed::default();
            let errors = self.errors.len();
            self.pass_on(pat, al, own, &consumed, &mut passed, span);
            let mut more = consumed.clone();
            more.extend(passed.consumed.iter().map(|a| a.id));
            if more.len() == consumed.len() {
                return consumed;
            }
            self.errors.truncate(errors);
            consumed = more;
        }
    }

    fn pass_on(
        &mut self,
        pat: &'p Pat,
        al: &Al,
        own: &BTreeSet<u32>,
        consumed: &BTreeSet<u32>,
        passed: &mut Passed,
        span: Span,
    ) {
        match &pat.kind {
            PatKind::Name(name) => {
                let set = al.set();
                let takes = consumed.contains(&name.0);
                self.check_passed(*name, takes, &set, own, passed, span);
                if takes {
                    passed.consumed.extend(set);
                } else {
                    passed.observed.extend(set);
                }
            }
            PatKind::Wild | PatKind::Literal(_) | PatKind::Construct(..) => {}
            PatKind::Tuple(ps) => {
                for (i, p) in ps.iter().enumerate() {
                    self.pass_on(p, &al.component(i), own, consumed, passed, span);
                }
            }
            PatKind::Record(ps) => {
                for (field, p) in ps {
                    self.pass_on(p, &al.field(field), own, consumed, passed, span);
                }
            }
        }
    }

    fn check_passed(
        &mut self,
        name: Name,
        takes: bool,
        set: &Set,
        own: &BTreeSet<u32>,
        passed: &Passed,
        span: Span,
    ) {
        let text = self.program.names.text(name).to_owned();
        let outside = set.iter().find(|a| !a.free && !own.contains(&a.id));
        if let (true, Some(bad)) = (takes, outside) {
            let what = self.describe(bad.id);
            let message =
                format!("the next value of the consumed loop parameter `{text}` aliases {what}");
            self.error(Code::LoopAliases, span, message);
        }
        if !set.is_disjoint(&passed.consumed) {
            let message = format!(
                "the next value of the loop parameter `{text}` aliases other consumed loop parameter"
            );
            self.error(Code::LoopAliases, span, message);
        } else if takes && !set.is_disjoint(&passed.observed) {
            let message = format!(
                "the next value of the consumed loop parameter `{text}` aliases previously returned value"
            );
            self.error(Code::LoopAliases, span, message);
        }
    }

    /// The starts of consumed parameters are consumed.
    fn consume_start(&mut self, pat: &'p Pat, consumed: &BTreeSet<u32>, al: &Al, span: Span) {
        let mut any = false;
        each_name(pat, &mut |name, _| any |= consumed.contains(&name.0));
        if any {
            self.check_self_alias(al, span);
        }
        let mut set = Set::new();
        starts(pat, consumed, al, &mut set);
        self.consume(&set, span);
    }

    /// What the loop's start consumes is not used in its body.
    fn check_free(&mut self, free: &BTreeSet<Name>, gone: &BTreeSet<u32>, span: Span) {
        for name in free {
            let Some(entry) = self.env.get(name) else {
                continue;
            };
            let bad = entry
                .al
                .set()
                .iter()
                .any(|a| !a.free && gone.contains(&a.id));
            if bad {
                let what = self.describe(name.0);
                let message = format!(
                    "the loop uses {what} (or an alias), but this is consumed by the initial value of the loop"
                );
                let error = Diagnostic::error(Code::UseAfterConsume, span, message);
                self.errors.push(error);
                return;
            }
        }
    }
}

/// What the body of a loop passes on to the next iteration.
#[derive(Default)]
struct Passed {
    consumed: Set,
    observed: Set,
}

/// The aliases of the starts of consumed parameters.
fn starts(pat: &Pat, consumed: &BTreeSet<u32>, al: &Al, out: &mut Set) {
    match &pat.kind {
        PatKind::Name(name) => {
            if consumed.contains(&name.0) {
                al.collect(out);
            }
        }
        PatKind::Wild | PatKind::Literal(_) | PatKind::Construct(..) => {}
        PatKind::Tuple(ps) => {
            for (i, p) in ps.iter().enumerate() {
                starts(p, consumed, &al.component(i), out);
            }
        }
        PatKind::Record(ps) => {
            for (field, p) in ps {
                starts(p, consumed, &al.field(field), out);
            }
        }
    }
}

/// What the result of a loop aliases because of its start.
fn loop_result(closure: &Set, pat: &Pat, consumed: &BTreeSet<u32>, start: &Al, ty: &Type) -> Al {
    match (&pat.kind, ty) {
        (PatKind::Tuple(ps), Type::Tuple(ts)) if ps.len() == ts.len() => Al::Tuple(
            ps.iter()
                .zip(ts.iter())
                .enumerate()
                .map(|(i, (p, t))| loop_result(closure, p, consumed, &start.component(i), t))
                .collect(),
        ),
        (PatKind::Record(ps), Type::Record(ts)) => Al::Record(
            ts.iter()
                .map(|(name, t)| {
                    let part = ps.iter().find(|(n, _)| n == name);
                    let al = match part {
                        Some((_, p)) => loop_result(closure, p, consumed, &start.field(name), t),
                        None => Al::none(t),
                    };
                    (name.clone(), al)
                })
                .collect(),
        ),
        (PatKind::Name(name), _) if consumed.contains(&name.0) => Al::none(ty),
        (
            PatKind::Name(_)
            | PatKind::Wild
            | PatKind::Literal(_)
            | PatKind::Construct(..)
            | PatKind::Tuple(_)
            | PatKind::Record(_),
            _,
        ) => result(closure, ty, false, start),
    }
}
