//! Functions that constant arguments make much smaller get versions for these constants.
//!
//! ```text
//! fun get(i, a, b) { let c = lt(i, 1) .. large .. }            fun get_1(a, b) { .. small .. }
//! fun main(a, b) { let x = call get(0, a, b) .. }      ──►     fun main(a, b) { let x = call get_1(a, b) .. }
//! ```
//!
//! Parameters that are the same constant in all calls become that constant first, and need no versions. Callers come
//! first, so that constants reach what versions call. A version stays if it is a third smaller than the function, or if
//! the function is small and hands its constants on to others. Calls with the same constants share a version. What is
//! tried and what versions hold is together at most twice as large as the program. Then functions are inlined again, as
//! those that became small now are, but for those whose copies together would be large.

use super::{inline, simplify};
use crate::analysis::calls::calls;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::dialect::Dialect;
use crate::ir::id::{FunId, Id};
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::Const;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Inline, Param, Program};
use crate::ir::walk;
use crate::pass::{Options, Pass};
use std::collections::VecDeque;

/// The pass.
pub const fn pass<D: Dialect>() -> Pass<D> {
    Pass {
        name: "specialize",
        summary: "functions that constant arguments make much smaller get versions for them",
        run: |program, cx| run(program, cx.options),
    }
}

fn run<D: Dialect>(mut program: Program<D>, options: &Options) -> Program<D> {
    let agreed = simplify::agreed(&mut program);
    for (fun, agreed) in program.funs.iter_mut().zip(&agreed) {
        if agreed.iter().any(Option::is_some) {
            simplify::alone(&mut program.vars, fun, options);
        }
    }
    let calls = calls(&program);
    let sizes: Vec<usize> = program.funs.iter().map(|f| inline::size(&f.body)).collect();
    let own = program.funs.len();
    let mut cx = Specialize {
        options,
        agreed,
        recursive: (program.funs.ids().map(|f| calls.recursive[f])).collect(),
        names: program.funs.iter().map(|f| f.name.clone()).collect(),
        room: 2 * sizes.iter().sum::<usize>(),
        sizes,
        versions: HashMap::default(),
        todo: calls.order.iter().rev().copied().collect(),
        program,
    };
    while let Some(caller) = cx.todo.pop_front() {
        cx.calls_of(caller);
    }
    if cx.program.funs.len() == own || options.is_without("inline") {
        return cx.program;
    }
    inline::again(cx.program, options)
}

/// A function with the constants for some of its parameters.
type Key = (FunId, Vec<Option<Const>>);

struct Specialize<'a, D> {
    program: Program<D>,
    options: &'a Options,
    /// The parameters of functions that are constants already.
    agreed: Vec<Vec<Option<Const>>>,
    /// By function, as the sizes.
    recursive: Vec<bool>,
    sizes: Vec<usize>,
    names: HashSet<String>,
    /// How many statements may still be copied.
    room: usize,
    /// The versions that were tried, those that did not stay without a number.
    versions: HashMap<Key, Option<FunId>>,
    /// Functions whose calls are to be looked at.
    todo: VecDeque<FunId>,
}

impl<D: Dialect> Specialize<'_, D> {
    /// Gives the calls of a function to versions.
    fn calls_of(&mut self, caller: FunId) {
        let empty = Body {
            stms: Vec::new(),
            result: Vec::new(),
        };
        let mut body = std::mem::replace(&mut self.program.funs[caller].body, empty);
        walk::all_stms_mut(&mut body, &mut |stm| {
            if let Exp::Call { fun, args } = &mut stm.exp
                && let Some(version) = self.version(*fun, args)
            {
                fired("specialize/call");
                let constants = self.constants(*fun, args);
                let mut constants = constants.iter();
                args.retain(|_| !matches!(constants.next(), Some(Some(_))));
                *fun = version;
            }
        });
        self.program.funs[caller].body = body;
    }

    /// The arguments that are constants, but for those that all calls agree on.
    fn constants(&self, fun: FunId, args: &[Atom]) -> Vec<Option<Const>> {
        let agreed = self.agreed.get(fun.index());
        let open = |i: usize| agreed.is_none_or(|agreed| agreed[i].is_none());
        let own = |(i, a): (usize, &Atom)| a.as_const().filter(|_| open(i));
        args.iter().enumerate().map(own).collect()
    }

    /// The version for a call, if there is one or it is worth having.
    fn version(&mut self, fun: FunId, args: &[Atom]) -> Option<FunId> {
        let i = fun.index();
        let constants = self.constants(fun, args);
        let source = &self.program.funs[fun];
        let may = source.entry.is_none() && source.inline == Inline::Auto && !self.recursive[i];
        if !may || constants.iter().all(Option::is_none) {
            return None;
        }
        let key = (fun, constants);
        if let Some(known) = self.versions.get(&key) {
            return *known;
        }
        if self.sizes[i] > self.room {
            return None;
        }
        self.room -= self.sizes[i];
        let made = self.made(&key);
        let size = inline::size(&made.body);
        let mut calls = false;
        walk::calls(&made.body, &mut |_| calls = true);
        let hands_on = calls && self.sizes[i] <= self.options.inline_small;
        let version = (hands_on || size * 3 <= self.sizes[i] * 2).then(|| {
            fired("specialize/version");
            self.recursive.push(false);
            self.sizes.push(size);
            self.program.funs.push(made)
        });
        self.todo.extend(version);
        self.versions.insert(key, version);
        version
    }

    /// The function with constants in place of parameters.
    fn made(&mut self, (fun, constants): &Key) -> Fun<D> {
        let Program { vars, funs, .. } = &mut self.program;
        let source = &funs[*fun];
        let mut subst = Subst::new();
        let mut params = Vec::new();
        for (param, constant) in source.params.iter().zip(constants) {
            match constant {
                Some(c) => subst.insert(param.var, Atom::Const(*c)),
                None => params.push(Param {
                    var: rename::fresh(vars, &mut subst, param.var),
                    unique: param.unique,
                }),
            }
        }
        let body = rename::body(vars, &mut subst, &source.body);
        let results = source.results.iter().map(|result| Param {
            var: rename::fresh(vars, &mut subst, result.var),
            unique: result.unique,
        });
        let mut made = Fun {
            name: String::new(),
            entry: None,
            params,
            results: results.collect(),
            body,
            inline: source.inline,
            derivative: None,
            span: source.span,
        };
        simplify::alone(vars, &mut made, self.options);
        made.name = self.name(*fun);
        made
    }

    /// A name that no function has.
    fn name(&mut self, fun: FunId) -> String {
        let source = &self.program.funs[fun].name;
        let stem = source.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        let first = self.names.len();
        let free = (first..).map(|k| format!("{stem}_{k}"));
        let mut free = free.filter(|name| !self.names.contains(name));
        let name = free.next().unwrap_or_default();
        self.names.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::read;
    use crate::ir::soac::Soac;

    /// So many statements that add one to a variable, after one another.
    fn chain(name: &str, from: &str, statements: usize) -> String {
        let mut text = format!("let {name}x0: i64 = add.i64({from}, 1)\n");
        for i in 1..statements {
            let before = i - 1;
            text.push_str(&format!(
                "let {name}x{i}: i64 = mul.i64({name}x{before}, 3)\n"
            ));
        }
        text
    }

    /// The functions that `main` calls when it calls a function of two large branches with these first arguments.
    fn called(arguments: &[&str]) -> Vec<String> {
        let mut calls = String::new();
        for (i, argument) in arguments.iter().enumerate() {
            calls.push_str(&format!("let r{i}: i64 = call f({argument}, y, 5)\n"));
        }
        let (a, b) = (chain("a", "v", 150), chain("b", "v", 250));
        let text = format!(
            r#"nested
            fun main(x: i64, y: i64) -> (r: i64)
              entry "main" sizes 0 -> 0 (x: i64, y: i64) -> (i64)
            {{ {calls} yield r0 }}
            fun f(u: i64, v: i64, w: i64) -> (s: i64) {{
              let c: bool = lt.i64(u, w)
              let t: i64 = if c {{ {a} yield ax149 }} else {{ {b} yield bx249 }}
              yield t
            }}"#
        );
        let program = read::program(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let program: Program<Soac> = run(program, &Options::default());
        let main = program.funs.iter().find(|f| f.entry.is_some());
        let mut names = Vec::new();
        walk::calls(&main.expect("an entry point").body, &mut |f| {
            names.push(program.funs[f].name.clone());
        });
        names
    }

    #[test]
    fn calls_with_the_same_constants_share_a_version() {
        let names = called(&["1", "x", "1", "x", "1"]);
        assert_eq!(names[1], "f");
        assert_ne!(names[0], "f");
        assert_eq!(
            [&names[2], &names[3], &names[4]],
            [&names[0], "f", &names[0]]
        );
    }

    #[test]
    fn copies_are_limited() {
        let arguments: Vec<String> = (0..9).map(|i| i.to_string()).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let names = called(&arguments);
        // Versions that are called once are inlined.
        assert_eq!(names, ["f"; 7], "twice as much is copied as there was");
    }
}
