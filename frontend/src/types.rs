//! Types, sizes and the type checker: from the syntax tree to the typed program.
//!
//! A definition is checked in two passes. The first ([`infer`]) resolves names and infers types, without sizes; the second
//! ([`sized`]) infers sizes, with all types known, and builds the typed program. Modules are checked around that ([`decl`],
//! [`module`]).

pub(crate) mod context;
pub(crate) mod decl;
pub(crate) mod entry;
pub(crate) mod env;
pub(crate) mod exhaustive;
pub mod index;
pub(crate) mod infer;
pub(crate) mod module;
pub(crate) mod opaque;
pub(crate) mod print;
pub(crate) mod raw;
pub mod size;
pub(crate) mod sized;
pub(crate) mod subst;
pub mod ty;
pub(crate) mod walk;

use crate::diagnostic::Diagnostic;
use crate::source::FileId;
use crate::syntax::ast;
use crate::typed;
pub use context::Loader;

/// Checks a program: its file, and all that it imports. There is a typed program exactly when no diagnostic is an error.
pub fn check(
    file: FileId,
    program: &ast::Program,
    loader: &mut dyn Loader,
) -> (Option<typed::Program>, Vec<Diagnostic>) {
    let mut cx = context::Cx::new(loader, file);
    let env = cx.file(file, program);
    let diags = std::mem::take(&mut cx.diags);
    let ok = env.is_some() && !diags.iter().any(Diagnostic::is_error);
    let typed = ok.then(|| typed::Program {
        names: cx.names,
        built_in: [cx.prelude.accumulator(), cx.prelude.sequence()]
            .into_iter()
            .flatten()
            .collect(),
        sequence: cx.prelude.sequence().map(|bind| bind.name),
        prelude: cx.prelude.defs,
        files: cx.typed_files,
        entries: cx.entries,
        irregular: cx.irregular,
    });
    (typed, diags)
}
