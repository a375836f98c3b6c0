//! Making a failing program smaller: results and statements are taken away as long as it still fails.

use midend::ir::id::{FunId, Id};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Body, Exp, Program};
use midend::verify;

/// The smallest program found for which `fails` holds. Programs that are not well-formed are never asked about.
pub fn shrink(mut program: Program<Soac>, fails: &dyn Fn(&Program<Soac>) -> bool) -> Program<Soac> {
    let good = |p: &Program<Soac>| verify::program(p).is_ok() && fails(p);
    loop {
        let mut smaller = false;
        for fun in (0..program.funs.len()).rev().map(FunId::new) {
            let mut at = 0;
            while let Some(without) = without_result(&program, fun, at) {
                if good(&without) {
                    program = without;
                    smaller = true;
                } else {
                    at += 1;
                }
            }
            // From the end, so that uses go before what they use.
            let mut left = count(&program.funs[fun].body);
            while left > 0 {
                left -= 1;
                for change in [Change::Remove, Change::Inline] {
                    let mut without = program.clone();
                    let mut n = left;
                    if change_at(&mut without.funs[fun].body, &mut n, change) == Some(true)
                        && good(&without)
                    {
                        program = without;
                        smaller = true;
                        break;
                    }
                }
            }
        }
        if !smaller {
            return program;
        }
    }
}

/// The program without a result of a function that nothing calls.
fn without_result(program: &Program<Soac>, fun: FunId, at: usize) -> Option<Program<Soac>> {
    let mut program = program.clone();
    let fun = &mut program.funs[fun];
    let entry = fun.entry.as_mut()?;
    if at >= fun.results.len() || fun.results.len() == 1 {
        return None;
    }
    if at < entry.size_results {
        entry.size_results -= 1;
    } else {
        entry.results.remove(at - entry.size_results);
    }
    fun.results.remove(at);
    fun.body.result.remove(at);
    Some(program)
}

#[derive(Clone, Copy)]
enum Change {
    /// The statement goes.
    Remove,
    /// A conditional is replaced by its second branch.
    Inline,
}

fn count(body: &Body<Soac>) -> usize {
    let mut n = 0;
    midend::ir::walk::all_stms(body, &mut |_| n += 1);
    n
}

/// Changes the `n`th statement, in the order of the text; says whether it could be changed, once it is found.
fn change_at(body: &mut Body<Soac>, n: &mut usize, change: Change) -> Option<bool> {
    for i in 0..body.stms.len() {
        if *n == 0 {
            return Some(apply(body, i, change));
        }
        *n -= 1;
        let mut found = None;
        body.stms[i].exp.bodies_mut(&mut |inner| {
            if found.is_none() {
                found = change_at(inner, n, change);
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

fn apply(body: &mut Body<Soac>, i: usize, change: Change) -> bool {
    match change {
        Change::Remove => {
            body.stms.remove(i);
            true
        }
        Change::Inline => {
            let stm = &mut body.stms[i];
            let Exp::If { otherwise, .. } = &stm.exp else {
                return false;
            };
            if stm.binds.len() != otherwise.result.len() {
                return false;
            }
            let mut stms = otherwise.stms.clone();
            for (&v, &a) in stm.binds.iter().zip(&otherwise.result) {
                let mut copy = stm.clone();
                copy.binds = vec![v];
                copy.exp = Exp::Atom(a);
                stms.push(copy);
            }
            body.stms.splice(i..=i, stms);
            true
        }
    }
}
