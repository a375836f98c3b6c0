//! Control flow that is the same for all points of a map nest: it changes places with the nest (rule G7 for loops).
//!
//! ```text
//! map (\xs -> loop ys = xs for k < t do map (f k) ys) xss
//! ──►
//! loop yss = xss for k < t do segmap (i < n, j < m) { f k yss[i, j] }
//! ```

use super::Cx;
use super::distribute::{Frame, Wanted};
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};

impl Cx<'_> {
    /// A conditional whose condition the host knows.
    pub(super) fn uniform_if(
        &mut self,
        f: &mut Frame<'_>,
        binds: &[Var],
        cond: Atom,
        (then, otherwise): (&Body<Soac>, &Body<Soac>),
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/g7-uniform-branch");
        let cond = self.atom(cond);
        let context = f.context.clone();
        // What is said of lengths here, both branches know.
        let stored = |&b| self.stored(b, &context, out);
        let binds: Vec<Var> = binds.iter().map(stored).collect();
        let host = vec![false; binds.len()];
        let mut own = vec![true; binds.len()];
        let mut branch = |body: &Body<Soac>| {
            self.block(|cx, stms| {
                let wanted = Wanted::Any {
                    host: &host,
                    own: &[],
                };
                let results = cx.distribute(context.clone(), body, wanted, stms);
                own.iter_mut()
                    .zip(&results)
                    .for_each(|(own, r)| *own &= r.1);
                results.into_iter().map(|r| r.0).collect()
            })
        };
        let (then, otherwise) = (branch(then), branch(otherwise));
        for (&bind, _) in binds.iter().zip(own).filter(|(_, own)| *own) {
            f.made(bind);
        }
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(out, binds, exp);
    }

    /// A loop of as many steps for all points (rule G7).
    pub(super) fn interchange_loop(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        (params, form, body): (&[LoopParam], &LoopForm<Soac>, &Body<Soac>),
        out: &mut Vec<Stm<Seg>>,
    ) {
        let context = f.context.clone();
        let host: Vec<bool> = params
            .iter()
            .map(|p| self.labels.uniform(p.var.into()))
            .collect();
        let spread: Vec<Atom> = params
            .iter()
            .zip(&host)
            .filter(|(_, host)| !**host)
            .map(|(p, _)| p.init)
            .collect();
        let arrays = self.arrays(f, &spread, out);
        let mut arrays = self.unshared(f, i, arrays, out).into_iter();
        let binds = &f.stm(i).binds;
        let mut carried: Vec<LoopParam> = Vec::new();
        // A result belongs to nobody else if what the loop starts with and what every step makes does.
        let mut own = Vec::new();
        for (param, &host) in params.iter().zip(&host) {
            if host {
                let init = self.atom(param.init);
                self.env.remove(&param.var);
                let var = self.bind(param.var, super::Mode::Seq);
                carried.push(LoopParam { var, init });
                own.push(false);
            } else if let Some(init) = arrays.next() {
                let var = self.stored(param.var, &context, out);
                let init = init.into();
                let shared = carried.iter().any(|p| p.init == init);
                own.push(!shared && init.as_var().is_some_and(|v| f.is_made(v)));
                carried.push(LoopParam { var, init });
            }
        }
        let form = match form {
            LoopForm::For { index, bound } => {
                fired("flatten/g7-loop");
                let bound = self.atom(*bound);
                let index = self.bind(*index, super::Mode::Seq);
                LoopForm::For { index, bound }
            }
            LoopForm::While(cond) if self.labels.is_of_host(cond) => {
                fired("flatten/g7-while");
                LoopForm::While(self.block(|cx, stms| cx.stms(cond, super::Mode::Seq, stms)))
            }
            // Points compute it, and all find the same.
            LoopForm::While(cond) => LoopForm::While(self.block(|cx, stms| {
                fired("flatten/g7-regular-while");
                let wanted = Wanted::Any {
                    host: &[true],
                    own: &[],
                };
                let results = cx.distribute(context.clone(), cond, wanted, stms);
                results.into_iter().map(|r| r.0).collect()
            })),
        };
        let body = self.block(|cx, stms| {
            let seeds = carried.iter().zip(&own).filter(|(_, own)| **own);
            let seeds: Vec<Var> = seeds.map(|(p, _)| p.var).collect();
            let wanted = Wanted::Any {
                host: &host,
                own: &seeds,
            };
            let results = cx.distribute(context.clone(), body, wanted, stms);
            let kept = own.iter().zip(&results).filter(|(own, r)| **own && r.1);
            if kept.count() < seeds.len() {
                own.fill(false);
            }
            results.into_iter().map(|r| r.0).collect()
        });
        let (mut bound, mut mine) = (Vec::new(), Vec::new());
        for ((&bind, &host), own) in binds.iter().zip(&host).zip(own) {
            if host {
                bound.push(self.bind(bind, super::Mode::Seq));
            } else {
                let array = self.stored(bind, &context, out);
                mine.extend(own.then_some((bind, array)));
                bound.push(array);
            }
        }
        self.own_ends(f, &mine);
        let exp = Exp::Loop {
            params: carried,
            form,
            body,
        };
        self.push(out, bound, exp);
    }

    /// Notes that what a loop ends with belongs to nobody else, by its name in the nest and here. Steps may hand one array on in the
    /// place of another; of those that do so, any may be the array of any other.
    fn own_ends(&self, f: &mut Frame<'_>, ends: &[(Var, Var)]) {
        // The array that stands for all that may have come from something.
        let mut roots: HashMap<Var, Var> = HashMap::default();
        for &(end, array) in ends {
            let origins = self.labels.origins(vec![end]);
            let known = origins.iter().find_map(|origin| roots.get(origin));
            let root = known.map_or(array, |root| *root);
            f.roots.insert(array, root);
            roots.extend(origins.into_iter().map(|origin| (origin, root)));
        }
    }

    /// A block of host code. It may have whole nests in it, which begin with nothing known.
    pub(super) fn block(
        &mut self,
        make: impl FnOnce(&mut Self, &mut Vec<Stm<Seg>>) -> Vec<Atom>,
    ) -> Body<Seg> {
        let mut stms = Vec::new();
        let level = self.level;
        self.level = level + 1;
        let known = self.offsets_log.len();
        let result = make(self, &mut stms);
        self.forget_offsets(known.min(self.offsets_log.len()));
        self.level = level;
        Body { stms, result }
    }
}
