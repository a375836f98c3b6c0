//! The outside of entry points.

use super::{Printer, is_plain};
use crate::ir::syntax::{Entry, EntryType};

impl Printer<'_> {
    /// The outside of an entry point.
    pub fn entry(&mut self, entry: &Entry) {
        self.word("entry ");
        self.string(&entry.name);
        self.word(&format!(
            " sizes {} -> {} (",
            entry.size_params, entry.size_results
        ));
        self.list(&entry.params, |p, param| {
            p.name(&param.name);
            p.word(": ");
            if param.streamed {
                p.word("seq ");
            }
            p.word(if param.unique { "*" } else { "" });
            p.entry_type(&param.ty);
        });
        self.word(if entry.streamed {
            ") -> seq ("
        } else {
            ") -> ("
        });
        self.list(&entry.results, |p, ty| p.entry_type(ty));
        self.word(")");
    }

    fn name(&mut self, name: &str) {
        if is_plain(name) {
            self.word(name);
        } else {
            self.string(name);
        }
    }

    /// The type of a value outside.
    pub fn entry_type(&mut self, ty: &EntryType) {
        match ty {
            EntryType::Scalar(s) => self.word(s.name()),
            EntryType::Array { rank, elem } => {
                for _ in 0..*rank {
                    self.word("[]");
                }
                self.entry_type(elem);
            }
            EntryType::Rows(elem) => {
                self.word("[..]");
                self.entry_type(elem);
            }
            EntryType::Tuple(tys) => {
                self.word("(");
                self.list(tys, |p, ty| p.entry_type(ty));
                self.word(")");
            }
            EntryType::Record(fields) => {
                self.word("{");
                self.list(fields, |p, (name, ty)| {
                    p.name(name);
                    p.word(": ");
                    p.entry_type(ty);
                });
                self.word("}");
            }
            EntryType::Sum(constructors) => {
                self.word("<");
                for (i, (name, payloads)) in constructors.iter().enumerate() {
                    self.word(if i > 0 { " | #" } else { "#" });
                    self.name(name);
                    self.word("(");
                    self.list(payloads, |p, ty| p.entry_type(ty));
                    self.word(")");
                }
                self.word(">");
            }
            EntryType::Opaque { name, of } => {
                self.word("opaque ");
                self.string(name);
                self.word(" ");
                self.entry_type(of);
            }
        }
    }
}
