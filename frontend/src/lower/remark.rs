//! Remarks on how values are represented, for those who ask for them.

use super::Lower;
use super::irregular::Outside;
use super::value::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use midend::ir::id::{SpanId, Var};
use midend::ir::span::Spans;
use midend::ir::types::Size;

const MESSAGE: &str =
    "rows of different lengths: for each row it is stored where it begins and ends";
const HINT: &str = "`e :> [n][m]t` makes a regular array where all rows have one length";

impl<'a> Lower<'a> {
    /// Tells where an array stays irregular, and which length is to blame. It is called inside of the lambda that yields `v`.
    pub(super) fn remark_on_rows(&mut self, v: &Value<'a>, outside: &Outside) {
        let Some(span) = self.source_span(self.span) else {
            return;
        };
        if !self.remarked.insert(span) {
            return;
        }
        let mut remark = Diagnostic::remark(Code::StaysIrregular, span, MESSAGE);
        let dims = super::loops::dims_of(v).into_iter();
        let blame = dims.filter_map(|dim| match dim {
            Size::Var(n) if !self.is_outside(dim, outside) => Some(n),
            Size::Var(_) | Size::Const(_) => None,
        });
        let blame: Vec<Var> = blame.collect();
        if let Some(n) = blame.first() {
            let name = &self.vars[*n].name;
            let name = match name.as_str() {
                "t" | "n" => String::from("the length of a row"),
                _ => format!("the length of a row, `{name}`,"),
            };
            let made = self.cx.scopes.last().and_then(|scope| {
                let stm = scope.stms.iter().find(|stm| stm.binds.contains(n))?;
                self.source_span(stm.span)
            });
            if let Some(at) = made.filter(|at| *at != span) {
                remark = remark.also(
                    at,
                    format!("{name} differs from row to row: it is computed here"),
                );
            } else {
                remark = remark.note(format!("{name} differs from row to row"));
            }
        }
        self.warnings.push(remark.hint(HINT));
    }

    /// Tells where rows are irregular for another reason than a length that differs: at the place, or where code is being made.
    pub(super) fn remark_on_kept(&mut self, at: Option<Span>, why: impl Into<String>) {
        let Some(span) = at.or_else(|| self.source_span(self.span)) else {
            return;
        };
        if self.remarked.insert(span) {
            let remark = Diagnostic::remark(Code::StaysIrregular, span, MESSAGE);
            self.warnings.push(remark.note(why).hint(HINT));
        }
    }

    /// The place in the program's own files: that of the call, where the code is that of the prelude.
    fn source_span(&self, id: SpanId) -> Option<Span> {
        let mut id = id;
        loop {
            let place = self.spans.place(id)?;
            if !place.file.starts_with(crate::prelude::FILE) {
                let mut known = self.span_ids.iter();
                return known
                    .find(|(_, known)| **known == id)
                    .map(|((span, _), _)| *span);
            }
            id = place.inlined_at.filter(|at| *at != Spans::NONE)?;
        }
    }
}
