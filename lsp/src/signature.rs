//! The parameters of the function that is being applied.

use crate::hover::{documentation, value_type};
use crate::snapshot::Snapshot;
use crate::{tree, typed};
use frontend::syntax::ast::{Exp, ExpKind};
use frontend::typed::Type;
use lsp_types::{
    Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation,
};

pub(crate) fn at(snapshot: &Snapshot, offset: usize) -> Option<SignatureHelp> {
    let at = snapshot.inside(offset);
    let text = &snapshot.patched.text;
    // Behind an argument the application goes on: blanks on its line belong to it.
    let upto = text.get(..at as usize)?.trim_end_matches(' ').len();
    let behind = u32::try_from(upto).ok()?;
    let mut root: Option<&Exp> = None;
    tree::values(&snapshot.tree.decs, &mut |bind, _| {
        if bind.body.span.lo <= behind && behind <= bind.body.span.hi {
            root = Some(&bind.body);
        }
    });
    let (head, args) = tree::application(root?, behind)?;
    let ExpKind::Name(name) = &head.kind else {
        return None;
    };
    let uses = snapshot.analysis.index.uses.iter();
    let one = uses.into_iter().find(|one| one.at == name.name.span)?;
    let info = snapshot.analysis.names.get(one.name?);
    let ty = info.scheme.as_ref().map(|scheme| &scheme.ty)?;
    let parameters: Vec<ParameterInformation> = typed::parameters(ty)
        .into_iter()
        .map(|ty: &Type| ParameterInformation {
            label: ParameterLabel::Simple(snapshot.analysis.names.type_text(ty)),
            documentation: None,
        })
        .collect();
    if parameters.is_empty() {
        return None;
    }
    let active = args.iter().filter(|arg| arg.span.hi < at).count();
    let label = format!("{name} : {}", value_type(snapshot, one)?);
    Some(SignatureHelp {
        signatures: vec![SignatureInformation {
            label,
            documentation: documentation(snapshot, one).map(Documentation::String),
            parameters: Some(parameters),
            active_parameter: u32::try_from(active).ok(),
        }],
        active_signature: Some(0),
        active_parameter: u32::try_from(active).ok(),
    })
}
