//! Questions about bodies of the plan dialect: which variables are free, which functions are called, which local
//! buffers stay where they were made.

use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem, Region};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, MessagePart, Stm, Vars};
use midend::ir::types::Type;
use std::collections::BTreeSet;

/// Whether variables of the type have a value at run time.
pub(crate) const fn has_value(ty: &Type) -> bool {
    !matches!(ty, Type::Cert)
}

/// The variables free in a kernel that have values, ascending: its arguments.
pub(crate) fn arguments(kernel: &Kernel, vars: &Vars) -> Vec<Var> {
    let mut seen = Seen::default();
    seen.kernel(kernel);
    let free = seen.used.difference(&seen.bound);
    free.copied().filter(|v| has_value(&vars[*v].ty)).collect()
}

/// Variables used and bound somewhere in a piece of code. Since every variable is bound once, the free ones are
/// those used and not bound.
#[derive(Default)]
struct Seen {
    used: BTreeSet<Var>,
    bound: BTreeSet<Var>,
}

impl Seen {
    fn atom(&mut self, atom: Atom) {
        if let Atom::Var(v) = atom {
            self.used.insert(v);
        }
    }
    fn atoms(&mut self, atoms: &[Atom]) {
        atoms.iter().for_each(|atom| self.atom(*atom));
    }
    fn body(&mut self, body: &Body<Mem>) {
        body.stms.iter().for_each(|stm| self.stm(stm));
        self.atoms(&body.result);
    }
    fn lambda(&mut self, lambda: &Lambda<Mem>) {
        self.bound.extend(&lambda.params);
        self.body(&lambda.body);
    }
    fn operator(&mut self, operator: &Operator<Mem>) {
        self.lambda(&operator.lam);
        self.atoms(&operator.neutral);
    }
    fn region(&mut self, region: &Region) {
        self.used.insert(region.buffer);
        self.atom(region.offset);
        self.atoms(&region.strides);
    }
    fn kernel(&mut self, kernel: &Kernel) {
        for (index, extent) in &kernel.space {
            self.bound.insert(*index);
            match *extent {
                Extent::Regular(n) => self.atom(n),
                Extent::Ragged { offsets, start } => {
                    self.bound.insert(start);
                    self.used.insert(offsets);
                }
            }
        }
        self.body(&kernel.body);
        match &kernel.kind {
            KernelKind::Map | KernelKind::Seq => {}
            KernelKind::Red { ops, outs } | KernelKind::Scan { ops, outs } => {
                ops.iter().for_each(|op| self.operator(op));
                self.used.extend(outs);
            }
            KernelKind::Hist(hists) => {
                for hist in hists {
                    self.atom(hist.buckets);
                    self.used.extend(&hist.dests);
                    self.operator(&hist.op);
                }
            }
        }
    }
    fn stm(&mut self, stm: &Stm<Mem>) {
        self.bound.extend(&stm.binds);
        match &stm.exp {
            Exp::Atom(atom) => self.atom(*atom),
            Exp::Scalar(_, args) | Exp::Call { args, .. } => self.atoms(args),
            Exp::Assert { cond, message } => {
                self.atom(*cond);
                for part in &message.parts {
                    match part {
                        MessagePart::Text(_) => {}
                        MessagePart::Value(atom) => self.atom(*atom),
                    }
                }
            }
            Exp::Guard { measure, .. } => self.atom(*measure),
            Exp::If {
                cond,
                then,
                otherwise,
            } => {
                self.atom(*cond);
                self.body(then);
                self.body(otherwise);
            }
            Exp::Loop { params, form, body } => {
                for param in params {
                    self.bound.insert(param.var);
                    self.atom(param.init);
                }
                match form {
                    LoopForm::For { index, bound } => {
                        self.bound.insert(*index);
                        self.atom(*bound);
                    }
                    LoopForm::While(cond) => self.body(cond),
                }
                self.body(body);
            }
            Exp::Op(op) => self.op(op),
        }
    }
    fn op(&mut self, op: &Mem) {
        match op {
            Mem::Alloc { len, .. } => self.atom(*len),
            Mem::Free(buffer) => {
                self.used.insert(*buffer);
            }
            Mem::Load { buffer, index } => {
                self.used.insert(*buffer);
                self.atom(*index);
            }
            Mem::Store {
                buffer,
                index,
                value,
            } => {
                self.used.insert(*buffer);
                self.atom(*index);
                self.atom(*value);
            }
            Mem::Copy { shape, dst, src } => {
                self.atoms(shape);
                self.region(dst);
                self.region(src);
            }
            Mem::Launch(kernel) => self.kernel(kernel),
            // Only the host shows values.
            Mem::Trace(_) => {}
        }
    }
}

/// Calls `f` on every statement of a body, inner ones too; not on what is inside kernels launched there.
pub(crate) fn statements<'a>(body: &'a Body<Mem>, f: &mut dyn FnMut(&'a Stm<Mem>)) {
    for stm in &body.stms {
        f(stm);
        bodies(&stm.exp, &mut |inner| statements(inner, f));
    }
}

/// Calls `f` on the bodies directly inside an expression, kernels excepted.
pub(crate) fn bodies<'a>(exp: &'a Exp<Mem>, f: &mut dyn FnMut(&'a Body<Mem>)) {
    match exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
        Exp::If {
            then, otherwise, ..
        } => {
            f(then);
            f(otherwise);
        }
        Exp::Loop { form, body, .. } => {
            match form {
                LoopForm::For { .. } => {}
                LoopForm::While(cond) => f(cond),
            }
            f(body);
        }
    }
}

/// The bodies of a kernel: its own and those of its operators.
pub(crate) fn kernel_bodies(kernel: &Kernel) -> Vec<&Body<Mem>> {
    let mut all = vec![&kernel.body];
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, .. } | KernelKind::Scan { ops, .. } => {
            all.extend(ops.iter().map(|op| &op.lam.body));
        }
        KernelKind::Hist(hists) => all.extend(hists.iter().map(|hist| &hist.op.lam.body)),
    }
    all
}

/// The functions called in a body.
pub(crate) fn callees(body: &Body<Mem>, into: &mut BTreeSet<FunId>) {
    statements(body, &mut |stm| {
        if let Exp::Call { fun, .. } = &stm.exp {
            into.insert(*fun);
        }
    });
}

/// The kernels launched in a body.
pub(crate) fn kernels<'a>(body: &'a Body<Mem>, into: &mut Vec<&'a Kernel>) {
    statements(body, &mut |stm| {
        if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
            into.push(kernel);
        }
    });
}

/// The variables that may go on under another name: results of bodies, plain aliases, arguments of calls. A buffer
/// among them may outlive the statement sequence that made it.
pub(crate) fn escaping(body: &Body<Mem>) -> BTreeSet<Var> {
    fn add(into: &mut BTreeSet<Var>, atom: &Atom) {
        if let Atom::Var(v) = atom {
            into.insert(*v);
        }
    }
    fn walk(body: &Body<Mem>, into: &mut BTreeSet<Var>) {
        body.result.iter().for_each(|atom| add(into, atom));
        for stm in &body.stms {
            match &stm.exp {
                Exp::Atom(atom) => add(into, atom),
                Exp::Call { args, .. } => args.iter().for_each(|atom| add(into, atom)),
                Exp::Loop { params, .. } => params.iter().for_each(|param| add(into, &param.init)),
                Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Op(_) => {}
            }
            bodies(&stm.exp, &mut |inner| walk(inner, into));
        }
    }
    let mut into = BTreeSet::new();
    walk(body, &mut into);
    into
}
