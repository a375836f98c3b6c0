//! Whether the value of an expression shares memory with nothing: then an inferred result may be called unique.

use super::def::param_name;
use crate::typed::{Exp, ExpKind, Pat, Type};
use crate::types::subst::any_unique;
use crate::types::ty::Name;
use midend::hash::HashSet;

/// Whether the body of a function gives a value of its own. Errs on the side of no.
pub(crate) fn is_fresh(params: &[Pat], body: &Exp) -> bool {
    let own = params
        .iter()
        .filter(|p| any_unique(&p.ty))
        .filter_map(param_name)
        .collect();
    Fresh { own }.exp(body)
}

struct Fresh {
    /// Variables that hold values of their own.
    own: HashSet<Name>,
}

impl Fresh {
    fn exp(&mut self, e: &Exp) -> bool {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.exp_inner(e))
    }

    fn exp_inner(&mut self, e: &Exp) -> bool {
        if let Type::Prim(_) = e.ty {
            return true;
        }
        match &e.kind {
            ExpKind::Lit(_)
            | ExpKind::String(_)
            | ExpKind::Array(_)
            | ExpKind::Range { .. }
            | ExpKind::Size(_) => true,
            ExpKind::Var { name, .. } => self.own.contains(name),
            ExpKind::Tuple(es) | ExpKind::Construct(_, es) => es.iter().all(|e| self.exp(e)),
            ExpKind::Record(fields) => fields.iter().all(|(_, e)| self.exp(e)),
            ExpKind::Apply { fun, args, .. } => {
                let mut ty = &fun.ty;
                for _ in args {
                    let Type::Fun(f) = ty else { return false };
                    ty = &f.ret.ty;
                }
                all_unique(ty)
            }
            ExpKind::Let {
                pat, value, body, ..
            } => {
                if let Some(name) = param_name(pat)
                    && self.exp(value)
                {
                    self.own.insert(name);
                }
                self.exp(body)
            }
            ExpKind::LetFun { body, .. }
            | ExpKind::Assert { body, .. }
            | ExpKind::Attr(_, body) => self.exp(body),
            ExpKind::If {
                then, otherwise, ..
            } => self.exp(then) && self.exp(otherwise),
            ExpKind::Match { cases, .. } => cases.iter().all(|c| self.exp(&c.body)),
            ExpKind::Update { source, .. } => self.exp(source),
            ExpKind::Hole
            | ExpKind::Coerce(_)
            | ExpKind::Negate(_)
            | ExpKind::Not(_)
            | ExpKind::Field(..)
            | ExpKind::TupleField(..)
            | ExpKind::Lambda { .. }
            | ExpKind::Loop { .. }
            | ExpKind::Index { .. } => false,
        }
    }
}

fn all_unique(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) => true,
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().all(all_unique),
        Type::Record(fs) => fs.iter().all(|(_, t)| all_unique(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(all_unique)),
        Type::Fun(_) | Type::Meta(_) => false,
    }
}
