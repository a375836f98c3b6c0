//! The types of functions with their sizes: `∀α φ. (τ1, .., τk) → ∃β. τ` (*Shapes and Flattening*, 3.3).
//!
//! Sizes are passed as arguments here, so that what is universal are parameters. A result that is a form over parameters is
//! computed at each call from its arguments; any other is existential: each call, at each index of the operations around, has
//! its own. Equalities that the function checks whatever it does hold for the caller after the call.

use super::form::{Form, Table, TermKind, Value};
use super::rewrite::With;
use crate::hash::HashMap;
use crate::ir::id::Var;

/// What callers know of a function.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// The parameters, which forms name.
    pub params: Vec<Var>,
    /// The results; nothing for those that are existential, or no values.
    pub results: Vec<Option<Value>>,
    /// What the function has checked when it returns.
    pub equal: Vec<(Form, Form)>,
}

/// What a call gives.
pub(super) struct Applied {
    pub(super) results: Vec<Option<Value>>,
    pub(super) equal: Vec<(Form, Form)>,
}

impl Signature {
    /// The signature for arguments with these values.
    pub(super) fn apply(&self, table: &mut Table, args: &[Option<Value>]) -> Applied {
        let params = self.params.iter().zip(args);
        let map: HashMap<Var, Value> = params.filter_map(|(p, a)| Some((*p, (*a)?))).collect();
        let with = With::Call(&map);
        let result = |table: &mut Table, value: &Option<Value>| match (*value)? {
            Value::Scalar(f) => table.rewrite(f, with).map(Value::Scalar),
            Value::Array(f) => table.rewrite_family(f, with).map(Value::Array),
        };
        let results = self.results.iter().map(|v| result(table, v)).collect();
        let equal = self.equal.iter();
        let equal =
            equal.filter_map(|(a, b)| Some((table.rewrite(*a, with)?, table.rewrite(*b, with)?)));
        Applied {
            results,
            equal: equal.collect(),
        }
    }
}

impl Table {
    /// Whether a value names only these variables, and no index.
    pub(super) fn is_over(&mut self, value: Value, vars: &[Var]) -> bool {
        let map = vars.iter().map(|v| (*v, ())).collect();
        match value {
            Value::Scalar(f) => self.form_is_over(f, &map),
            Value::Array(f) => self.family_is_over(f, &map),
        }
    }

    fn form_is_over(&self, f: Form, vars: &HashMap<Var, ()>) -> bool {
        let terms = self.form(f).products.iter().flat_map(|p| &p.terms);
        terms.into_iter().all(|t| match self.term(*t) {
            TermKind::Var(v) => vars.contains_key(v),
            TermKind::Index(_) => false,
            TermKind::Bound(_) | TermKind::Const(_) => true,
            TermKind::Elem { array, at } => {
                vars.contains_key(array) && at.iter().all(|f| self.form_is_over(*f, vars))
            }
            TermKind::Sum { width, of } => {
                self.form_is_over(*width, vars) && self.family_is_over(*of, vars)
            }
            TermKind::Op(_, args) => args.iter().all(|f| self.form_is_over(*f, vars)),
        })
    }

    fn family_is_over(&self, f: super::form::Family, vars: &HashMap<Var, ()>) -> bool {
        use super::form::FamilyKind;
        match self.family(f) {
            FamilyKind::Scalar(f) => self.form_is_over(*f, vars),
            FamilyKind::Abs(_, body) => self.family_is_over(*body, vars),
            FamilyKind::Rows { array, at, .. } => {
                vars.contains_key(array) && at.iter().all(|f| self.form_is_over(*f, vars))
            }
        }
    }
}
