//! Diagnostics as data: what is wrong, where, and what may help; [`crate::render`] prints them.

use crate::source::Span;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted, but is perhaps not what was meant.
    Warning,
    /// All is well, and this is how it is done; shown to those who ask for it.
    Remark,
}

/// Declares the registry: one line per code, which is never used again for something else.
macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// The registry of codes. A code is stable: documentation and tests may name it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])* $name,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as it is printed, `E0101`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// What it means, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),*).trim_ascii_start(),)* }
            }
        }
    };
}

codes! {
    // E01: text and syntax.
    /// The source is not valid UTF-8, or too long.
    BadText = "E0101",
    /// A token that cannot stand where it stands.
    UnexpectedToken = "E0102",
    /// Brackets or expressions nested too deeply.
    TooDeep = "E0103",
    /// A bracket without its partner.
    UnbalancedBracket = "E0104",
    /// A literal that is malformed or too large.
    BadLiteral = "E0105",
    /// A documentation comment before something that takes none.
    StrayDoc = "E0106",
    /// Syntax that is recognised but not allowed where it stands.
    BadSyntax = "E0107",

    // E02: names, imports, modules.
    /// A name that is not in scope.
    UnknownName = "E0201",
    /// A name bound twice where once is allowed.
    DuplicateName = "E0202",
    /// An import that cannot be found or read, or that imports itself.
    BadImport = "E0203",
    /// A module that does not match its module type.
    ModuleMismatch = "E0204",

    // E03: types.
    /// Two types that should agree do not.
    TypeMismatch = "E0301",
    /// Two sizes that should agree are not known to.
    SizeMismatch = "E0302",
    /// A type that cannot be inferred.
    AmbiguousType = "E0303",
    /// A size that cannot be inferred.
    AmbiguousSize = "E0304",
    /// A type that is not allowed where it stands.
    BadType = "E0305",
    /// A size that is not allowed where it stands, or goes out of scope.
    BadSize = "E0306",
    /// A size that is needed before it is computed.
    Causality = "E0307",
    /// A literal that its type cannot hold.
    LiteralBounds = "E0308",
    /// A pattern that does not always match where it must.
    RefutablePattern = "E0309",
    /// A `match` that leaves values without a case.
    UnmatchedCases = "E0310",
    /// A recursion that is not allowed.
    BadRecursion = "E0311",
    /// An entry point that is not allowed.
    BadEntry = "E0312",
    /// A type with too many parts.
    HugeType = "E0313",
    /// A module where it cannot stand.
    BadModule = "E0205",
    /// A name that is bound but not used.
    UnusedName = "W0201",
    /// An `include` that hides a type of the same name.
    ShadowedType = "W0202",
    /// A size that is unknown because its expression binds names.
    SizeBinds = "W0301",
    /// A range that is always invalid.
    SuspectRange = "W0302",
    /// A name that means an earlier definition, not the recursive function.
    OuterBinding = "W0303",
    /// Arrays that are compared with `==` or `!=`.
    ArrayEquality = "W0304",
    /// A part of a definition's type that is ambiguous and was chosen by default.
    DefaultedType = "W0305",
    /// A hole: an expression that is still to be written.
    Hole = "W0306",

    /// Rows whose lengths only the rows tell, so that the array is stored with where each begins and ends.
    StaysIrregular = "R0301",

    // E04: uniqueness.
    /// A value that is used after it has been consumed.
    UseAfterConsume = "E0401",
    /// Something is consumed that may not be.
    NotConsumable = "E0402",
    /// The new value of an in-place update may share memory with the array.
    SharedUpdate = "E0403",
    /// A consumed argument that may share memory with another, or with itself.
    SharedArgument = "E0404",
    /// A unique result that may share memory with something that lives on.
    SharedResult = "E0405",
    /// The next values of loop parameters may share memory though the loop consumes them.
    SharedLoop = "E0406",
    /// A function value that consumes something when it is made.
    ConsumingFunction = "E0407",
    /// A top-level value of a unique type.
    UniqueConstant = "E0408",
    /// A mark of uniqueness on a type without arrays.
    IdleUnique = "W0401",

    // E05: attributes.
    /// An attribute that the compiler does not know.
    UnknownAttribute = "W0501",
    /// An attribute that has no effect where it stands.
    IdleAttribute = "W0502",
    /// A check that is left for run time where the program asks to be told.
    SafetyCheck = "W0503",

    // E09: limits of this compiler.
    /// A construct that this version does not support.
    NotYetSupported = "E0901",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place with something to say about it; the text may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say there.
    pub text: String,
}

/// Something below a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A fact that explains.
    Fact(String),
    /// What to do about it.
    Hint(String),
}

impl Note {
    /// What it says.
    pub fn text(&self) -> &str {
        match self {
            Note::Fact(text) | Note::Hint(text) => text,
        }
    }
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// Where it is.
    pub primary: Label,
    /// Other places that matter; they may lie in other files.
    pub secondary: Vec<Label>,
    /// Facts that explain, and what to do about it.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message.into())
    }

    /// A warning at a place.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message.into())
    }

    /// A remark about a place.
    pub fn remark(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Remark, code, span, message.into())
    }

    fn new(severity: Severity, code: Code, span: Span, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message,
            primary: Label {
                span,
                text: String::new(),
            },
            secondary: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Says something at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Says something at another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a fact that explains.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note::Fact(text.into()));
        self
    }

    /// Adds what to do about it.
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note::Hint(text.into()));
        self
    }

    /// Whether the program is refused because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_well_formed() {
        let mut seen: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Code::ALL.len());
        for code in seen {
            assert!(
                code.len() == 5 && code.starts_with(['E', 'R', 'W']),
                "{code}"
            );
        }
    }
}
