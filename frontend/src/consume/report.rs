//! The messages.

use super::place::Place;
use super::{Checker, Event, Kind, Var};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Name, Type};

impl Checker<'_> {
    /// How a variable is named in a message.
    fn shown(&self, var: Var) -> String {
        let info = &self.vars[var as usize];
        match info.kind {
            Kind::Global | Kind::Param | Kind::Local | Kind::Element => format!("`{}`", info.text),
            Kind::Result => info.text.clone(),
        }
    }

    fn place_shown(&self, place: Place) -> String {
        self.shown(self.places.var(place))
    }

    /// Points at where a variable is bound.
    fn pointing(&self, d: Diagnostic, place: Place) -> Diagnostic {
        let info = &self.vars[self.places.var(place) as usize];
        let Some(span) = info.span.filter(|span| *span != d.primary.span) else {
            return d;
        };
        let text = match info.kind {
            Kind::Global => "defined here",
            Kind::Param => "this parameter",
            Kind::Local => "bound here",
            Kind::Element => "an element of the array that the loop goes through",
            Kind::Result => "computed here",
        };
        d.also(span, text)
    }

    /// Says how to mend the consumption of a variable. There is one accumulator of an array, and no copy of it.
    fn mended(&self, d: Diagnostic, var: Var, hint: &str) -> Diagnostic {
        if self.vars[var as usize].accumulator {
            d.hint("a write gives the accumulator for what comes after it: go on with that")
        } else {
            d.hint(hint)
        }
    }

    /// Whether a type is that of accumulators, which only the prelude defines.
    pub(super) fn is_accumulator(&self, ty: &Type) -> bool {
        let Type::Named(named) = ty else { return false };
        self.names.text(named.name) == "acc" && self.names.get(named.name).span.is_none()
    }

    fn say_once(&mut self, var: Var, make: impl FnOnce(&Self) -> Diagnostic) {
        if self.reported.insert(var) {
            let d = make(self);
            self.errors.push(d);
        }
    }

    pub(super) fn used_after(&mut self, what: Option<Name>, span: Span, var: Var, event: Event) {
        self.say_once(var, |this| {
            let consumed = this.shown(var);
            let used =
                what.map_or_else(|| consumed.clone(), |n| format!("`{}`", this.names.text(n)));
            let message = format!("{used} is used after it has been consumed");
            let d = Diagnostic::error(Code::UseAfterConsume, span, message)
                .label("used here")
                .also(event.span, format!("{consumed} is consumed here"));
            let d = if used == consumed {
                d
            } else {
                d.note(format!("{used} may share memory with {consumed}"))
            };
            this.mended(d, var, "consume a copy instead: `copy` makes one")
        });
    }

    pub(super) fn used_in_loop(&mut self, what: Option<Name>, span: Span, var: Var, event: Event) {
        self.say_once(var, |this| {
            let consumed = this.shown(var);
            let used =
                what.map_or_else(|| consumed.clone(), |n| format!("`{}`", this.names.text(n)));
            let message = format!(
                "the loop uses {used}, which the initial value of a loop parameter has consumed"
            );
            let d = Diagnostic::error(Code::UseAfterConsume, span, message)
                .label("used here, in every iteration")
                .also(
                    event.span,
                    format!("{consumed} is consumed here, before the loop"),
                )
                .note("a loop parameter that the body consumes also consumes its initial value");
            this.mended(d, var, "let the loop begin with a copy: `copy` makes one")
        });
    }

    pub(super) fn not_consumable(&mut self, span: Span, place: Place) {
        let var = self.places.var(place);
        self.say_once(var, |this| {
            let shown = this.shown(var);
            let info = &this.vars[var as usize];
            let message = format!("{shown} is consumed, but it may not be");
            let d = Diagnostic::error(Code::NotConsumable, span, message).label("consumed here");
            let d = this.pointing(d, place);
            let inner = info.depth != this.depth();
            let d = match info.kind {
                Kind::Global => d.note("a top-level definition is never consumed"),
                Kind::Element => {
                    d.note("it is a part of an array that the loop still goes through")
                }
                Kind::Param if !inner => d.note(
                    "only a parameter of a unique type, which is written with `*`, may be consumed",
                ),
                Kind::Param | Kind::Local | Kind::Result => {
                    d.note("a function or a loop body cannot consume what is bound outside of it")
                }
            };
            if info.accumulator {
                return d;
            }
            d.hint("consume a copy instead: `copy` makes one")
        });
    }

    pub(super) fn unique_constant(&mut self, span: Span) {
        let d = Diagnostic::error(
            Code::UniqueConstant,
            span,
            "the type of a top-level value cannot be unique",
        )
        .label("remove the `*`")
        .note("a top-level value may be used any number of times, so it is never consumed");
        self.errors.push(d);
    }

    pub(super) fn update_overlap(&mut self, value: Span, source: Span, place: Place) {
        let shown = self.place_shown(place);
        let message =
            "the new value of an in-place update may share memory with the array that is updated";
        let d = Diagnostic::error(Code::SharedUpdate, value, message)
            .label("the new value")
            .also(source, "the array that is updated")
            .note(format!("both may share memory with {shown}"))
            .hint("write a copy of the value: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn update_beside(&mut self, span: Span, source: Span, place: Place) {
        let shown = self.place_shown(place);
        let message =
            "the array that is updated may share memory with another part of the same value";
        let d = Diagnostic::error(Code::SharedUpdate, span, message)
            .label("updated here")
            .also(source, "several parts of this may be one array")
            .note(format!("they may share memory with {shown}"))
            .hint("make one of the parts a copy: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn consuming_function(&mut self, span: Span, before: usize, what: &str) {
        let Some(var) = self.trail.get(before).copied() else {
            return;
        };
        let shown = self.shown(var);
        let message = format!("{what} consumes {shown} when it is made");
        let mut d = Diagnostic::error(Code::ConsumingFunction, span, message);
        if let Some(event) = self.consumed.get(&var)
            && event.span != span
        {
            d = d.also(event.span, format!("{shown} is consumed here"));
        }
        let d = d
            .note("a function may be called several times, but what it holds can be consumed only once")
            .hint("pass all arguments at once, or write a lambda that makes a copy");
        self.errors.push(d);
    }

    pub(super) fn argument_overlap(&mut self, span: Span, other: Span, place: Place) {
        let shown = self.place_shown(place);
        let message = "this argument is consumed, but another argument may share memory with it";
        let d = Diagnostic::error(Code::SharedArgument, span, message)
            .label("consumed by the call")
            .also(other, "may share memory with it")
            .note(format!("both may share memory with {shown}"))
            .hint("pass a copy of one of them: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn self_overlap(&mut self, span: Span, place: Place) {
        let shown = self.place_shown(place);
        let message = "parts of this argument, which is consumed, may share memory with each other";
        let d = Diagnostic::error(Code::SharedArgument, span, message)
            .label("consumed here")
            .note(format!("several parts may share memory with {shown}"))
            .hint("make a copy of one of the parts: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn result_overlap(&mut self, span: Span, place: Place) {
        let shown = self.place_shown(place);
        let message = "a unique part of the result may share memory with another part";
        let d = Diagnostic::error(Code::SharedResult, span, message)
            .label("the result")
            .note(format!("both may share memory with {shown}"))
            .hint("return a copy of one of them: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn result_shared(&mut self, span: Span, place: Place) {
        let shown = self.place_shown(place);
        let message = format!(
            "the result is declared unique, but may share memory with {shown}, which cannot be consumed"
        );
        let d = Diagnostic::error(Code::SharedResult, span, message).label("the result");
        let d = self
            .pointing(d, place)
            .hint("return a copy, `copy` makes one; or make the parameter unique, with `*`");
        self.errors.push(d);
    }

    pub(super) fn result_global(&mut self, span: Span, place: Place) {
        let shown = self.place_shown(place);
        let message = format!(
            "the result of a function may share memory with {shown}, which is defined outside of it"
        );
        let d = Diagnostic::error(Code::SharedResult, span, message).label("the result");
        let d = self
            .pointing(d, place)
            .hint("return a copy: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn loop_outside(&mut self, span: Span, param: Name, place: Place) {
        let (shown, param) = (self.place_shown(place), self.names.text(param));
        let message = format!(
            "the loop consumes its parameter `{param}`, but the next value of it may share memory with {shown}"
        );
        let d = Diagnostic::error(Code::SharedLoop, span, message).label("the next values");
        let d = self
            .pointing(d, place)
            .note("the next iteration would consume what is bound outside of the loop")
            .hint("give the loop a copy: `copy` makes one");
        self.errors.push(d);
    }

    pub(super) fn loop_overlap(&mut self, span: Span, param: Name, place: Place) {
        let (shown, param) = (self.place_shown(place), self.names.text(param));
        let message = format!(
            "the next value of the loop parameter `{param}` may share memory with that of another, and one of them is consumed"
        );
        let d = Diagnostic::error(Code::SharedLoop, span, message)
            .label("the next values")
            .note(format!("both may share memory with {shown}"))
            .hint("give the loop a copy of one of them: `copy` makes one");
        self.errors.push(d);
    }
}
