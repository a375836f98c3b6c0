//! Uniqueness: what may share memory with what, and that nothing is used after it has been consumed.
//!
//! One walk over a typed definition. Every value has [`Als`], the places whose memory it may share; consuming a value consumes
//! the variables of these places, and looking at a variable whose places have been consumed is an error. A variable that
//! shares memory with one that is still in scope needs no place of its own, so chains of names do not make the sets grow.
//!
//! The result type of a function that does not declare one is given its uniqueness marks here, from what the body returns.

mod apply;
mod exp;
mod loops;
mod place;
mod report;
mod returns;
mod scope;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::typed::{Name, Names, RetType, Type, ValueDef};
use midend::hash::{HashMap, HashSet};
use place::{Als, Places, Set};
use std::collections::{BTreeMap, BTreeSet};

/// Checks a definition. `written` is where its result type stands in the source; if there is none, the marks of the result
/// are inferred and put into the definition. The names in `kept` are loop parameters that are not to be consumed.
pub(crate) fn check(
    def: &mut ValueDef,
    written: Option<Span>,
    names: &Names,
    kept: &HashSet<Name>,
) -> Vec<Diagnostic> {
    let mut checker = Checker::new(names, kept);
    let ret = checker.top(def, written);
    if let Some(ret) = ret {
        def.ret = RetType {
            exts: def.ret.exts.clone(),
            ty: ret,
        };
        def.scheme.ty = returns::with_result(&def.scheme.ty, def.params.len(), &def.ret.ty);
    }
    checker.errors
}

/// The number of a variable, or of something that is like one: the result of a call.
type Var = u32;

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Global,
    /// A parameter; its type says what of it may be consumed.
    Param,
    /// Bound by `let`, `match`, or a loop parameter.
    Local,
    /// What a `for x in xs` loop binds: a part of the array.
    Element,
    /// The result of a call or a loop.
    Result,
}

#[derive(Clone, Debug)]
struct VarInfo {
    text: String,
    span: Option<Span>,
    kind: Kind,
    /// How many functions and loops are around its binding.
    depth: usize,
    in_scope: bool,
    /// Of a parameter.
    ty: Option<Type>,
    /// Whether it is an accumulator, which cannot be copied.
    accumulator: bool,
}

/// What a local name stands for.
#[derive(Clone, Debug)]
struct Local {
    als: Als,
    depth: usize,
    /// The type of a local function, with inferred marks.
    scheme: Option<Type>,
}

/// A function or loop body around the current expression.
#[derive(Debug, Default)]
struct Frame {
    /// What the body looks at from outside of it, and where.
    captured: BTreeMap<Name, Span>,
}

/// A variable's consumption.
#[derive(Clone, Copy, Debug)]
struct Event {
    span: Span,
}

struct Checker<'n> {
    names: &'n Names,
    /// Loop parameters that are not to be consumed.
    kept: &'n HashSet<Name>,
    places: Places,
    vars: Vec<VarInfo>,
    locals: HashMap<Name, Local>,
    globals: HashMap<Name, place::Place>,
    frames: Vec<Frame>,
    consumed: HashMap<Var, Event>,
    /// The consumed variables in the order of their consumption.
    trail: Vec<Var>,
    /// What was consumed, in order.
    spent: Vec<Set>,
    /// Variables about which something was said: once is enough.
    reported: BTreeSet<Var>,
    errors: Vec<Diagnostic>,
}

/// What was consumed by a part of the program.
type Consumed = Vec<(Var, Event)>;

impl<'n> Checker<'n> {
    fn new(names: &'n Names, kept: &'n HashSet<Name>) -> Checker<'n> {
        Checker {
            names,
            kept,
            places: Places::default(),
            vars: Vec::new(),
            locals: HashMap::default(),
            globals: HashMap::default(),
            frames: Vec::new(),
            consumed: HashMap::default(),
            trail: Vec::new(),
            spent: Vec::new(),
            reported: BTreeSet::new(),
            errors: Vec::new(),
        }
    }

    fn top(&mut self, def: &ValueDef, written: Option<Span>) -> Option<Type> {
        let declared = written.is_some();
        if let Some(span) = written
            && def.params.is_empty()
            && returns::visibly_unique(&def.ret.ty)
        {
            self.unique_constant(span);
        }
        let ret = returns::marked_if(&def.ret.ty, declared);
        let fun = returns::Function {
            params: &def.params,
            body: &def.body,
            ret: &ret,
            declared,
        };
        let (_, ret) = self.function(&fun);
        (!declared).then_some(ret)
    }

    /// How many functions and loops are around the current expression.
    fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Runs a part of the check and takes back what it consumed.
    fn contain<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> (T, Consumed) {
        let mark = self.trail.len();
        let result = part(self);
        let vars = self.trail.split_off(mark);
        let events = vars.into_iter().filter_map(|v| {
            let event = self.consumed.remove(&v)?;
            Some((v, event))
        });
        let events = events.collect();
        (result, events)
    }

    /// Notes that variables are consumed.
    fn note_consumed(&mut self, events: impl IntoIterator<Item = (Var, Event)>) {
        for (var, event) in events {
            if let std::collections::hash_map::Entry::Vacant(slot) = self.consumed.entry(var) {
                slot.insert(event);
                self.trail.push(var);
            }
        }
    }

    /// Looks at a value: none of its places may have been consumed.
    fn observe(&mut self, what: Option<Name>, span: Span, set: &Set) {
        if self.consumed.is_empty() {
            return;
        }
        let bad = set.iter().find_map(|p| {
            let var = self.places.var(p);
            self.consumed.get(&var).map(|event| (var, *event))
        });
        if let Some((var, event)) = bad {
            self.used_after(what, span, var, event);
        }
    }

    /// The variables that a value may share memory with.
    fn vars_of(&self, als: &Als) -> Vec<Var> {
        als.all().iter().map(|p| self.places.var(p)).collect()
    }

    /// A value without what has been consumed.
    fn unconsumed(&self, als: &Als) -> Als {
        als.filter(&|p| !self.consumed.contains_key(&self.places.var(p)))
    }

    fn shares(&self, a: &Set, b: &Set) -> bool {
        self.places.common(a, b).is_some()
    }

    /// Consumes all that a value may share memory with.
    fn consume(&mut self, span: Span, set: &Set) {
        for place in set.iter() {
            if self.is_fixed(place) {
                self.not_consumable(span, place);
            }
        }
        self.observe(None, span, set);
        self.spent.push(set.clone());
        let vars: Vec<Var> = set.iter().map(|p| self.places.var(p)).collect();
        self.note_consumed(vars.into_iter().map(|v| (v, Event { span })));
    }

    /// Whether a place may not be consumed here.
    fn is_fixed(&self, place: place::Place) -> bool {
        let var = &self.vars[self.places.var(place) as usize];
        if !var.in_scope {
            return false;
        }
        match var.kind {
            Kind::Global | Kind::Element => true,
            Kind::Result => false,
            Kind::Local => var.depth != self.depth(),
            Kind::Param => {
                let ty = var
                    .ty
                    .as_ref()
                    .and_then(|ty| self.places.type_at(place, ty));
                var.depth != self.depth() || !ty.is_some_and(returns::all_unique)
            }
        }
    }
}
