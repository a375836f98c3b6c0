//! What each name is, for colours.

use crate::snapshot::Snapshot;
use frontend::typed::{NameKind, Type};
use frontend::types::index::{Space, Use};
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
};

const TYPES: &[SemanticTokenType] = &[
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::INTERFACE,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::TYPE_PARAMETER,
];

const MODIFIERS: &[SemanticTokenModifier] = &[
    SemanticTokenModifier::DEFINITION,
    SemanticTokenModifier::DEFAULT_LIBRARY,
];

pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: MODIFIERS.to_vec(),
    }
}

fn kind(snapshot: &Snapshot, one: &Use) -> u32 {
    let names = &snapshot.analysis.names;
    let text = snapshot.sources.text(one.at);
    match one.space {
        Space::Value if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => 5,
        Space::Value => match one.name.map(|name| names.get(name)) {
            Some(info) if info.kind == NameKind::Size => 6,
            Some(info) => match info.scheme.as_ref().map(|scheme| &scheme.ty) {
                Some(Type::Fun(_)) => 0,
                Some(_) | None => 1,
            },
            None => 1,
        },
        Space::Type => 2,
        Space::Module => 3,
        Space::ModuleType => 4,
    }
}

pub(crate) fn of(snapshot: &Snapshot) -> SemanticTokens {
    let mut data = Vec::new();
    let (mut line, mut column) = (0, 0);
    let mut last = 0;
    for one in &snapshot.analysis.index.uses {
        let Some(range) = snapshot.range(one.at).filter(|_| one.at.lo >= last) else {
            continue;
        };
        let (start, end) = (range.start, range.end);
        if start.line != end.line || end.character <= start.character {
            continue;
        }
        last = one.at.hi;
        let definition = u32::from(one.definition == Some(one.at));
        let built_in = u32::from(one.definition.is_none());
        let delta_start = match start.line == line {
            true => start.character - column,
            false => start.character,
        };
        data.push(SemanticToken {
            delta_line: start.line - line,
            delta_start,
            length: end.character - start.character,
            token_type: kind(snapshot, one),
            token_modifiers_bitset: definition | built_in << 1,
        });
        (line, column) = (start.line, start.character);
    }
    SemanticTokens {
        result_id: None,
        data,
    }
}
