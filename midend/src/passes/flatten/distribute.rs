//! Distribution (rule G4): the body of a map nest is cut into pieces, and each piece is executed for the whole nest.
//!
//! ```text
//! map (\xs -> let s = reduce (+) 0 xs, t = f s in map (* t) xs) xss
//! ──►
//! ss  = segred (i < n, j < m) { xss[i, j] } (+)
//! ts  = segmap (i < n) { f ss[i] }
//! yss = segmap (i < n, j < m) { xss[i, j] * ts[i] }
//! ```
//!
//! Statements are looked at in order. Sequential ones wait until something needs them, then all that it needs becomes one
//! kernel (rule G1), which stores what later pieces read. What is cheap is computed again in every piece instead.

use super::context::{Context, Def};
use super::label::Label;
use super::{Cx, Mode};
use crate::analysis::aliases::consumed;
use crate::fired::fired;
use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::free_in_stm;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What is to become of the results of a body.
pub(super) enum Wanted<'w> {
    /// Fresh arrays over the context.
    Fresh(&'w [Var]),
    /// Arrays over the context, or what the host knows where that is allowed. The arrays given belong to the body.
    Any { host: &'w [bool], own: &'w [Var] },
}

/// A body that is being distributed.
pub(super) struct Frame<'b> {
    pub(super) context: Context,
    pub(super) body: &'b Body<Soac>,
    /// What each statement reads.
    pub(super) free: Vec<Vec<Var>>,
    /// Which statement binds a variable.
    pub(super) owner: HashMap<Var, usize>,
    /// Which statements read a variable; the number of statements stands for the results.
    users: HashMap<Var, Vec<usize>>,
    /// Statements that wait.
    pub(super) waiting: BTreeSet<usize>,
    /// Statements that were executed and will be again where somebody reads what they make: it cannot be stored.
    pub(super) again: BTreeSet<usize>,
    /// Checks, and whether they were surely made for all points.
    pub(super) checks: Vec<(usize, bool)>,
    /// The arrays that were made for values of the body, with what they are views of.
    pub(super) roots: HashMap<Var, Var>,
    pub(super) level: usize,
}

impl<'b> Frame<'b> {
    /// What the statement reads.
    pub(super) fn reads(&self, i: usize) -> &[Var] {
        &self.free[i]
    }

    /// A statement.
    pub(super) fn stm(&self, i: usize) -> &'b Stm<Soac> {
        &self.body.stms[i]
    }

    /// Notes that an array was made for this body and belongs to nobody else.
    pub(super) fn made(&mut self, array: Var) {
        self.roots.insert(array, array);
    }

    /// Whether an array was made for this body.
    pub(super) fn is_made(&self, array: Var) -> bool {
        self.roots.contains_key(&array)
    }
}

impl Cx<'_> {
    /// Executes a body for all points of a context; gives what became of its results, and which of them are arrays that
    /// belong to nobody else.
    pub(super) fn distribute(
        &mut self,
        context: Context,
        body: &Body<Soac>,
        wanted: Wanted<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<(Atom, bool)> {
        fired("flatten/g4-distribution");
        let mut frame = self.frame(context, body);
        if let Wanted::Any { own, .. } = wanted {
            own.iter().for_each(|&array| frame.made(array));
        }
        let outer = self.span;
        for (i, stm) in body.stms.iter().enumerate() {
            self.span = stm.span;
            self.visit(&mut frame, i, stm, out);
        }
        self.span = outer;
        let results = match wanted {
            Wanted::Fresh(binds) => {
                self.fresh_results(&mut frame, binds, out);
                Vec::new()
            }
            Wanted::Any { host, .. } => self.results(&mut frame, host, out),
        };
        self.rest(&mut frame, out);
        results
    }

    fn frame<'b>(&self, context: Context, body: &'b Body<Soac>) -> Frame<'b> {
        let mut frame = Frame {
            context,
            body,
            free: Vec::new(),
            owner: HashMap::default(),
            users: HashMap::default(),
            waiting: BTreeSet::new(),
            again: BTreeSet::new(),
            checks: Vec::new(),
            roots: HashMap::default(),
            level: self.level,
        };
        for (i, stm) in body.stms.iter().enumerate() {
            let free = free_in_stm(&self.vars, stm);
            for &v in &free {
                frame.users.entry(v).or_default().push(i);
            }
            frame.free.push(free);
            frame.owner.extend(stm.binds.iter().map(|&v| (v, i)));
        }
        for v in body.result.iter().filter_map(|a| a.as_var()) {
            let users = frame.users.entry(v).or_default();
            users.push(body.stms.len());
        }
        frame
    }

    fn visit(&mut self, f: &mut Frame<'_>, i: usize, stm: &Stm<Soac>, out: &mut Vec<Stm<Seg>>) {
        let label = self.labels.of(stm);
        match label {
            Label::Uniform => self.uniform(f, stm, out),
            Label::Check | Label::Cheap => {
                if matches!(stm.exp, Exp::Assert { .. }) {
                    f.checks.push((i, false));
                }
                let again = Def::Again(Rc::new(stm.clone()));
                for &v in &stm.binds {
                    self.env.insert(v, again.clone());
                }
            }
            Label::View if self.view(f, stm, out) => {}
            Label::Update if self.update(f, i, stm, out) => {}
            Label::Fill | Label::View | Label::Update | Label::Seq => self.wait(f, i, stm),
            Label::Par => self.par_stm(f, i, stm, out),
        }
        if label == Label::Uniform {
            return;
        }
        for &v in &stm.binds {
            if self.labels.is_fetched(v) && self.env.contains_key(&v) {
                let array = self.arrays(f, &[v.into()], out)[0];
                self.take_first(v, array, out);
            }
        }
    }

    fn wait(&mut self, f: &mut Frame<'_>, i: usize, stm: &Stm<Soac>) {
        f.waiting.insert(i);
        for &v in &stm.binds {
            self.env.insert(v, Def::Pending);
        }
    }

    /// A statement of the host. A check must hold only if there is a point at which the program makes it.
    fn uniform(&mut self, f: &mut Frame<'_>, stm: &Stm<Soac>, out: &mut Vec<Stm<Seg>>) {
        for v in &stm.binds {
            self.env.remove(v);
        }
        let start = out.len();
        self.one(stm, Mode::Seq, out);
        if let Some(Stm {
            exp: Exp::Assert { cond, .. },
            ..
        }) = out.last_mut()
        {
            let asked = *cond;
            let made = out.split_off(start);
            let context = f.context.clone();
            let empty = self.is_empty(&context, out);
            let or = ScalarOp::Bin(BinOp::Or, ScalarType::Bool);
            let holds = match empty.as_bool() {
                Some(false) => asked,
                Some(true) | None => self.scalar(out, "holds", or, vec![asked, empty]),
            };
            out.extend(made);
            if let Some(Exp::Assert { cond, .. }) = out.last_mut().map(|stm| &mut stm.exp) {
                *cond = holds;
            }
        }
    }

    /// Everything that the variables need of what waits, fills apart from the rest.
    pub(super) fn needed(&self, f: &Frame<'_>, vars: &[Var]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.add_needed(f, vars.to_vec(), &mut HashSet::default(), &mut found);
        found
    }

    /// Adds to `found` what the variables need of what waits, except for what the variables that were `seen` need.
    pub(super) fn add_needed(
        &self,
        f: &Frame<'_>,
        mut todo: Vec<Var>,
        seen: &mut HashSet<Var>,
        found: &mut BTreeSet<usize>,
    ) {
        while let Some(v) = todo.pop() {
            if !seen.insert(v) {
                continue;
            }
            let Some(&i) = f.owner.get(&v) else {
                continue;
            };
            let stm = &f.body.stms[i];
            match self.labels.of(stm) {
                Label::Check | Label::Cheap => todo.extend(&f.free[i]),
                Label::Fill | Label::View | Label::Update | Label::Seq => {
                    // What was not stored, for it is irregular or was read by such code only, is computed again.
                    match self.env.get(&v) {
                        Some(Def::Pending) => {
                            found.insert(i);
                            todo.extend(&f.free[i]);
                        }
                        Some(Def::Again(_)) => todo.extend(&f.free[i]),
                        Some(Def::Elem { .. } | Def::Stored { .. }) | None => {}
                    }
                }
                Label::Uniform | Label::Par => {}
            }
        }
    }

    /// Computes what the variables need of what waits.
    pub(super) fn settle(&mut self, f: &mut Frame<'_>, vars: &[Var], out: &mut Vec<Stm<Seg>>) {
        let needed = self.needed(f, vars);
        let label = |i: &usize| self.labels.of(&f.body.stms[*i]);
        let fills: Vec<usize> = needed
            .iter()
            .copied()
            .filter(|i| label(i) == Label::Fill)
            .collect();
        let code: BTreeSet<usize> = needed
            .into_iter()
            .filter(|i| label(i) != Label::Fill)
            .collect();
        // Only what is not irregular through and through leaves something behind.
        if code.iter().any(|i| f.waiting.contains(i)) {
            let reads: Vec<Var> = code.iter().flat_map(|&i| f.free[i].clone()).collect();
            let all = self.needed(f, &reads).into_iter().chain(code).collect();
            self.group(f, &all, (&[], &[]), &[], out);
        }
        for i in fills {
            if f.waiting.contains(&i) {
                self.fill(f, i, None, out);
            }
        }
    }

    /// One kernel over the context (rule G1) for statements that wait, for further values, which are bound, and for checks.
    pub(super) fn group(
        &mut self,
        f: &mut Frame<'_>,
        members: &BTreeSet<usize>,
        (values, binds): (&[Atom], &[Var]),
        checks: &[Var],
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired("flatten/g1-sequential-piece");
        let members = &self.with_earlier_readers(f, members);
        let mut taken = Vec::new();
        for &i in members {
            consumed(&f.body.stms[i], self.source, &mut |v| taken.push(v));
        }
        // Rows of varying length are written by all points of theirs, when somebody asks; until then they wait.
        let is_done = |i: &usize| f.body.stms[*i].binds.iter().all(|&v| !self.is_row(v));
        let done: BTreeSet<usize> = members.iter().copied().filter(is_done).collect();
        let is_read = |f: &Frame<'_>, v: Var| {
            let users = f.users.get(&v);
            users.is_some_and(|u| u.iter().any(|j| !done.contains(j)))
        };
        let left = |&i: &usize| f.body.stms[i].binds.iter().map(move |&v| (i, v));
        let left: Vec<(usize, Var)> = done
            .iter()
            .filter(|i| f.waiting.contains(i))
            .flat_map(left)
            .filter(|(_, v)| is_read(f, *v) && !self.labels.irregular(*v))
            .collect();
        let mut point = self.point_consuming(&f.context, taken);
        let made = self.made_checks.len();
        for &i in members {
            let stm = &f.body.stms[i];
            self.need_all(&mut point, &f.free[i]);
            point.knows(&stm.binds);
            let theirs = self.spare(f, i, &left, &mut point.stms);
            self.one(stm, Mode::Seq, &mut point.stms);
            for (v, before) in theirs {
                self.subst.set(v, Some(before));
            }
        }
        let mut result: Vec<Atom> = Vec::new();
        for &value in values {
            result.push(self.need_atom(&mut point, value));
        }
        self.need_all(&mut point, checks);
        self.covered(f, made);
        // What others read is stored.
        let mut bound = binds.to_vec();
        let mut kept = Vec::new();
        for &i in &done {
            let stm = &f.body.stms[i];
            let first = f.waiting.remove(&i);
            for &v in &stm.binds {
                let read = is_read(f, v);
                if self.vars[v].ty == Type::Cert {
                    self.proved(v);
                } else if first && read && !self.labels.irregular(v) {
                    result.push(self.atom(v.into()));
                    kept.push(v);
                } else if first && read {
                    f.again.insert(i);
                }
            }
        }
        for v in kept {
            let array = self.stored(v, &f.context.clone(), out);
            f.roots.insert(array, array);
            bound.push(array);
        }
        self.kernel(point, result, SegKind::Map, bound, out);
    }

    /// Copies of arrays that statement `i` is about to consume in a kernel that leaves them, or what shares their elements, to
    /// others: those of `left` that came before. The copies stand for the arrays; yields what did before.
    fn spare(
        &mut self,
        f: &Frame<'_>,
        i: usize,
        left: &[(usize, Var)],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<(Var, Atom)> {
        if !left.iter().any(|&(j, _)| j < i) {
            return Vec::new();
        }
        let Some(taken) = self.taken(f, i) else {
            return Vec::new();
        };
        let meets = |v: Var| self.labels.meets(v, &taken);
        if !left.iter().any(|&(j, v)| j < i && meets(v)) {
            return Vec::new();
        }
        let is_array = |v: &Var| matches!(self.vars[*v].ty, Type::Array(_));
        let read = f.free[i].iter().copied();
        let consumed: Vec<Var> = read.filter(|v| is_array(v) && meets(*v)).collect();
        let mut theirs = Vec::new();
        for v in consumed {
            let before = self.var(v);
            let copy = self.array(out, "own", self.type_of(v), ArrayOp::Copy(before));
            theirs.push((v, before.into()));
            self.subst.set(v, Some(copy.into()));
        }
        theirs
    }

    /// Notes the checks that a kernel over the context made.
    fn covered(&mut self, f: &mut Frame<'_>, since: usize) {
        for made in &self.made_checks[since..] {
            for (i, sure) in &mut f.checks {
                *sure |= f.body.stms[*i].binds[0] == made.cert && made.level == f.level;
            }
        }
    }

    /// Makes checks now, so that nothing that follows needs to name them.
    pub(super) fn prove(&mut self, f: &mut Frame<'_>, certs: &[Var], out: &mut Vec<Stm<Seg>>) {
        let open: Vec<Var> = certs
            .iter()
            .copied()
            .filter(|c| self.env.contains_key(c))
            .collect();
        if open.is_empty() {
            return;
        }
        let members = self.needed(f, &open);
        let mut point = self.point(&f.context);
        if !members.is_empty() {
            self.settle(f, &open, out);
        }
        let made = self.made_checks.len();
        self.need_all(&mut point, &open);
        self.covered(f, made);
        // Those of a body around may hold at these points only.
        let own = open.iter().filter(|c| f.owner.contains_key(c));
        own.for_each(|&c| self.proved(c));
        if !point.stms.is_empty() {
            self.kernel(point, Vec::new(), SegKind::Map, Vec::new(), out);
        }
    }
}
