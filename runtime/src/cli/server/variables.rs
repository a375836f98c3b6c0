//! What clients have given names to.

use crate::session::Resident;
use midend::ir::syntax::EntryType;
use midend::value::Value;
use std::collections::BTreeMap;

/// A value of a type, where the program runs.
pub(super) struct Variable {
    pub(super) ty: EntryType,
    /// Nothing once a call has consumed it.
    leaves: Option<Vec<Resident>>,
}

impl Variable {
    pub(super) const fn new(ty: EntryType, leaves: Vec<Resident>) -> Self {
        let leaves = Some(leaves);
        Self { ty, leaves }
    }

    /// The leaves, unless the value was consumed.
    pub(super) fn leaves(&self, name: &str) -> Result<&[Resident], String> {
        let leaves = self.leaves.as_deref();
        leaves.ok_or_else(|| format!("Variable was consumed: {name}"))
    }

    /// The leaves as values.
    pub(super) fn values(&self, name: &str) -> Result<Vec<Value>, String> {
        let leaves = self.leaves(name)?.iter();
        let values = leaves.map(|leaf| leaf.clone().get().map_err(|why| why.to_string()));
        values.collect()
    }

    /// Gives the value away.
    pub(super) fn consume(&mut self) {
        self.leaves = None;
    }
}

/// Variables by name.
#[derive(Default)]
pub(super) struct Variables {
    by_name: BTreeMap<String, Variable>,
}

impl Variables {
    /// The variable of that name.
    pub(super) fn get(&self, name: &str) -> Result<&Variable, String> {
        let found = self.by_name.get(name);
        found.ok_or_else(|| format!("Unknown variable: {name}"))
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Result<&mut Variable, String> {
        let found = self.by_name.get_mut(name);
        found.ok_or_else(|| format!("Unknown variable: {name}"))
    }

    /// Fails unless all of these names are free, and differ.
    pub(super) fn free_names(&self, names: &[&str]) -> Result<(), String> {
        for (i, name) in names.iter().enumerate() {
            if self.by_name.contains_key(*name) || names[..i].contains(name) {
                return Err(format!("Variable already exists: {name}"));
            }
        }
        Ok(())
    }

    /// Makes a variable of a name that is free.
    pub(super) fn add(&mut self, name: &str, variable: Variable) {
        self.by_name.insert(name.to_owned(), variable);
    }

    /// Forgets a variable.
    pub(super) fn remove(&mut self, name: &str) -> Result<Variable, String> {
        let found = self.by_name.remove(name);
        found.ok_or_else(|| format!("Unknown variable: {name}"))
    }
}
