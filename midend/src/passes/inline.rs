//! Calls become the bodies of what they call, within a budget.
//!
//! ```text
//! fun f(x) { let y = mul.i32(x, x); yield y }
//! let z = call f(a)                               ──►     let y' = mul.i32(a, a)
//!                                                         let z = y'
//! ```
//!
//! Inlined are functions marked `#[inline]`, small ones, those that are called once, and, where parallel operators call them,
//! larger ones that hold parallel operators themselves, which then can be flattened with those around; never recursive ones nor those
//! marked `#[noinline]`. A small function that only hands its work on to sequential functions that are too large is not small:
//! in its place there would be as many more calls. Callees come before callers, so that what is inlined has itself been inlined into; the program
//! grows to at most the budget of the options, but for functions marked `#[inline]`. Places of inlined statements remember the call, so that a
//! failure still has its trail. Functions that nothing calls any more go.

use crate::analysis::calls::{Calls, calls, spread};
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id, SpanId, Var};
use crate::ir::rename::{self, Subst};
use crate::ir::span::{Place, Spans};
use crate::ir::syntax::{Atom, Body, Exp, Fun, Inline, Program, Stm};
use crate::ir::walk::{self, deep};
use crate::pass::{Options, Pass};

/// The pass.
pub const fn pass<D: Dialect>() -> Pass<D> {
    Pass {
        name: "inline",
        summary: "calls become the bodies of what they call, within a budget",
        run: |program, cx| run(program, cx.options),
    }
}

/// What a call of a sequential function weighs beside a statement.
const CALL: usize = 30;

fn run<D: Dialect>(program: Program<D>, options: &Options) -> Program<D> {
    within(program, options, usize::MAX)
}

/// Inlines once more, where versions of functions have become small: little that is called often, as what could be gained by it
/// was gained before.
pub(super) fn again<D: Dialect>(program: Program<D>, options: &Options) -> Program<D> {
    within(program, options, 4 * options.inline_small)
}

/// Inlines small functions if all their copies have at most so many statements, and others.
fn within<D: Dialect>(mut program: Program<D>, options: &Options, copies: usize) -> Program<D> {
    let calls = calls(&program);
    let mut sizes: Vec<usize> = program.funs.iter().map(|fun| size(&fun.body)).collect();
    let mut weights = sizes.clone();
    let total: usize = sizes.iter().sum();
    let mut room = options
        .inline_total
        .max(total.saturating_mul(10))
        .saturating_sub(total);
    let reached = reached(&program, &calls);
    let holds: Vec<bool> = program.funs.iter().map(|f| operators(&f.body)).collect();
    let parallel = spread(&program.funs, |id, known| {
        let mut found = holds[id.index()];
        walk::calls(&program.funs[id].body, &mut |callee| {
            found |= known[callee.index()];
        });
        found
    });
    for caller in &calls.order {
        let mut body = std::mem::replace(
            &mut program.funs[*caller].body,
            Body {
                stms: Vec::new(),
                result: Vec::new(),
            },
        );
        let mut inliner = Inliner {
            program: &mut program,
            calls: &calls,
            options,
            sizes: &sizes,
            weights: &weights,
            copies,
            holds: &holds,
            inside: reached[caller.index()],
            room: &mut room,
        };
        inliner.body(&mut body);
        sizes[caller.index()] = size(&body);
        weights[caller.index()] = sizes[caller.index()];
        walk::calls(&body, &mut |callee| {
            let weight = if parallel[callee.index()] { 0 } else { CALL };
            weights[caller.index()] += weight;
        });
        program.funs[*caller].body = body;
    }
    called(program)
}

/// What an entry point of a program needs.
pub fn only<D: Dialect>(mut program: Program<D>, entry: &str) -> Program<D> {
    for fun in program.funs.iter_mut() {
        fun.entry = fun.entry.take().filter(|known| known.name == entry);
    }
    called(program)
}

/// The program without the functions that nothing calls any more, which all further passes would work on for nothing. Without
/// entry points it is a library, and keeps all.
fn called<D: Dialect>(mut program: Program<D>) -> Program<D> {
    let entries = program.funs.enumerate().filter(|(_, f)| f.entry.is_some());
    let mut todo: Vec<FunId> = entries.map(|(id, _)| id).collect();
    if todo.is_empty() {
        return program;
    }
    let mut kept = vec![false; program.funs.len()];
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut kept[id.index()], true) {
            walk::calls(&program.funs[id].body, &mut |callee| todo.push(callee));
        }
    }
    let mut numbers = Vec::with_capacity(kept.len());
    let mut next = 0;
    for kept in &kept {
        numbers.push(FunId::new(next));
        next += usize::from(*kept);
    }
    let funs = program.funs.into_iter().zip(&kept);
    program.funs = funs.filter(|(_, kept)| **kept).map(|(f, _)| f).collect();
    for fun in program.funs.iter_mut() {
        walk::all_stms_mut(&mut fun.body, &mut |stm| {
            if let Exp::Call { fun, .. } = &mut stm.exp {
                *fun = numbers[fun.index()];
            }
        });
    }
    program
}

/// The number of statements.
pub(super) fn size<D: Dialect>(body: &Body<D>) -> usize {
    let mut count = 0;
    walk::all_stms(body, &mut |_| count += 1);
    count
}

/// Whether a body holds parallel operators.
fn operators<D: Dialect>(body: &Body<D>) -> bool {
    let mut found = false;
    walk::all_stms(body, &mut |stm| {
        if let Exp::Op(op) = &stm.exp {
            op.scopes(&mut |_, _| found = true);
        }
    });
    found
}

/// Which functions parallel operators call, also through others.
fn reached<D: Dialect>(program: &Program<D>, calls: &Calls) -> Vec<bool> {
    let mut reached = vec![false; program.funs.len()];
    // Callers come before callees; what a cycle reaches may be missed, which only leaves calls as they are.
    for caller in calls.order.iter().rev() {
        let inside = reached[caller.index()];
        mark(&program.funs[*caller].body, inside, &mut reached);
    }
    reached
}

fn mark<D: Dialect>(body: &Body<D>, inside: bool, reached: &mut [bool]) {
    for stm in &body.stms {
        if let Exp::Call { fun, .. } = &stm.exp {
            reached[fun.index()] |= inside;
        }
        let inside = inside || matches!(stm.exp, Exp::Op(_));
        deep(|| {
            stm.exp.scopes(&mut |_, inner| mark(inner, inside, reached));
        });
    }
}

struct Inliner<'a, D> {
    program: &'a mut Program<D>,
    calls: &'a Calls,
    options: &'a Options,
    sizes: &'a [usize],
    /// The sizes with what calls of sequential functions weigh.
    weights: &'a [usize],
    /// The most statements that all copies of a small function may have.
    copies: usize,
    /// Whether a function holds parallel operators.
    holds: &'a [bool],
    /// Whether parallel operators execute the code at hand.
    inside: bool,
    /// By how many statements the program may still grow.
    room: &'a mut usize,
}

impl<D: Dialect> Inliner<'_, D> {
    fn body(&mut self, body: &mut Body<D>) {
        let mut out = Vec::with_capacity(body.stms.len());
        for mut stm in body.stms.drain(..) {
            let around = self.inside;
            self.inside |= matches!(stm.exp, Exp::Op(_));
            deep(|| stm.exp.bodies_mut(&mut |inner| self.body(inner)));
            self.inside = around;
            match &stm.exp {
                Exp::Call { fun, args } if self.wanted(*fun) => {
                    let (fun, args) = (*fun, args.clone());
                    self.inline(stm, fun, &args, &mut out);
                }
                Exp::Call { .. }
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Op(_) => out.push(stm),
            }
        }
        body.stms = out;
    }

    fn wanted(&mut self, fun: FunId) -> bool {
        let callee = &self.program.funs[fun];
        let size = self.sizes[fun.index()];
        let wanted = match callee.inline {
            Inline::Never => false,
            _ if self.calls.recursive[fun] => false,
            Inline::Always => return true,
            Inline::Auto => {
                self.weights[fun.index()] <= self.options.inline_small
                    && size.saturating_mul(self.calls.count[fun]) <= self.copies
                    || self.inside
                        && self.holds[fun.index()]
                        && size <= self.options.inline_parallel
                    || (self.calls.count[fun] == 1 && callee.entry.is_none())
            }
        };
        let fits = wanted && size <= *self.room;
        if fits {
            *self.room -= size;
        }
        fits
    }

    fn inline(&mut self, call: Stm<D>, fun: FunId, args: &[Atom], out: &mut Vec<Stm<D>>) {
        fired("inline/call");
        let Program { vars, funs, spans } = &mut *self.program;
        let callee: &Fun<D> = &funs[fun];
        let params = callee.params.iter().map(|p| p.var);
        let mut subst = Subst::of(params, args.iter().copied());
        let mut body = rename::body(vars, &mut subst, &callee.body);
        let mut places = HashMap::default();
        walk::all_stms_mut(&mut body, &mut |stm| {
            stm.span = called_from(spans, &mut places, stm.span, call.span);
        });
        for mut stm in body.stms {
            for cert in &call.certs {
                if !stm.certs.contains(cert) {
                    stm.certs.push(*cert);
                }
            }
            out.push(stm);
        }
        bind_results(&call, body.result, out);
    }
}

/// Binds what the call bound to what the body yields.
fn bind_results<D>(call: &Stm<D>, results: Vec<Atom>, out: &mut Vec<Stm<D>>) {
    let copy = |(v, a): (&Var, Atom)| Stm {
        binds: vec![*v],
        certs: call.certs.clone(),
        exp: Exp::Atom(a),
        span: call.span,
    };
    out.extend(call.binds.iter().zip(results).map(copy));
}

/// The place `span`, come to through the call at `call`.
fn called_from(
    spans: &mut Spans,
    places: &mut HashMap<SpanId, SpanId>,
    span: SpanId,
    call: SpanId,
) -> SpanId {
    if let Some(known) = places.get(&span) {
        return *known;
    }
    let Some(place) = spans.place(span).cloned() else {
        return span;
    };
    if spans.place(call).is_none() {
        return span;
    }
    let inlined_at = Some(match place.inlined_at {
        None => call,
        Some(outer) => called_from(spans, places, outer, call),
    });
    let new = spans.push(Place {
        inlined_at,
        ..place
    });
    places.insert(span, new);
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::read;
    use crate::ir::soac::Soac;

    /// A function of so many statements, with a reduction or without, that the host and a map call, through another one.
    fn program(statements: usize, operator: &str) -> Program<Soac> {
        let mut long = String::new();
        for i in 0..statements {
            long.push_str(&format!("let s{}: i64 = add.i64(s{i}, 1)\n", i + 1));
        }
        let text = format!(
            r#"nested
            fun f(s0: i64, n: i64) -> (r: i64) {{ {long} {operator} yield s{statements} }}
            fun g(a: i64, n2: i64) -> (r2: i64) {{ let b: i64 = call f(a, n2) yield b }}
            fun main(n3: i64, xs: [n3]i64) -> (r3: [n3]i64)
              entry "main" sizes 1 -> 0 (xs: []i64) -> ([]i64)
            {{
              let c: i64 = call f(n3, n3)
              let ys: [n3]i64 = map n3 (xs) \(x: i64) {{
                let d: i64 = call g(x, c)
                yield d
              }}
              yield ys
            }}"#
        );
        read::program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    const REDUCTION: &str = r"
        let is: [n]i64 = iota.i64 n 0 1
        let t: i64 = map n (is) \(i: i64) { yield i } reduce comm (0) \(p: i64, q: i64) {
          let o: i64 = add.i64(p, q)
          yield o
        }";

    fn calls_left(statements: usize, operator: &str) -> usize {
        let program = run(program(statements, operator), &Options::default());
        let main = program.funs.iter().find(|fun| fun.entry.is_some());
        let mut count = 0;
        walk::calls(&main.expect("an entry point").body, &mut |_| count += 1);
        count
    }

    #[test]
    fn what_holds_operators_goes_into_operators() {
        assert_eq!(calls_left(50, REDUCTION), 0, "small");
        assert_eq!(calls_left(200, REDUCTION), 1, "the host's call stays");
        assert_eq!(calls_left(200, ""), 2, "no operators");
        assert_eq!(calls_left(1000, REDUCTION), 2, "too large");
    }

    #[test]
    fn what_only_calls_large_functions_is_not_small() {
        let mut long = String::new();
        for i in 0..150 {
            long.push_str(&format!("let s{}: i64 = add.i64(s{i}, 1)\n", i + 1));
        }
        let left = |times: usize| {
            let mut calls = String::new();
            for i in 0..times {
                calls.push_str(&format!("let t{}: i64 = call f(t{i})\n", i + 1));
            }
            let text = format!(
                r#"nested
                fun f(s0: i64) -> (r: i64) {{ {long} yield s150 }}
                fun g(t0: i64) -> (r2: i64) {{ {calls} yield t{times} }}
                fun main(a: i64) -> (r3: i64)
                  entry "main" sizes 0 -> 0 (a: i64) -> (i64)
                {{
                  let b: i64 = call g(a)
                  let c: i64 = call g(b)
                  yield c
                }}"#
            );
            let program = read::program::<Soac>(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let program = run(program, &Options::default());
            let main = program.funs.iter().find(|fun| fun.entry.is_some());
            let mut names = Vec::new();
            walk::calls(&main.expect("an entry point").body, &mut |f| {
                names.push(program.funs[f].name.clone());
            });
            names
        };
        assert_eq!(left(2), ["f", "f", "f", "f"]);
        assert_eq!(left(4), ["g", "g"]);
    }
}
