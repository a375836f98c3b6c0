//! Tokens: one letter each, the alphabet of the grammar.

/// The letter of a token; `grammar.pest` names the same letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind(pub(super) u8);

/// A token: its kind and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) lo: u32,
    pub(super) hi: u32,
}

macro_rules! kinds {
    ($($name:ident = $letter:literal, $text:literal;)*) => {
        impl Kind {
            $(pub(super) const $name: Kind = Kind($letter);)*
        }

        /// Every letter with what to call it in a message.
        pub(super) const KINDS: &[(Kind, &str)] = &[$((Kind::$name, $text),)*];
    };
}

kinds! {
    ID = b'x', "a name";
    CONSTR = b'b', "a constructor";
    CHAR = b'c', "a character";
    STR = b's', "a string";
    HOLE = b'h', "`???`";
    NAT = b'n', "a number";
    INT = b'i', "a number";
    SUFFIXED_INT = b'k', "a number";
    FLOAT = b'f', "a number";
    SUFFIXED_FLOAT = b'g', "a number";
    TRUE = b't', "`true`";
    FALSE = b'u', "`false`";
    LPAR = b'p', "`(`";
    LBRACKET = b'l', "`[`";
    LCURLY = b'r', "`{`";
    RPAR = b')', "`)`";
    RBRACKET = b']', "`]`";
    RCURLY = b'}', "`}`";
    INDEX_BRACKET = b'@', "`[`";
    HASH_BRACKET = b'#', "`#[`";
    COMMA = b',', "`,`";
    COLON = b':', "`:`";
    COLON_GT = b';', "`:>`";
    DOT = b'.', "`.`";
    DOTS2 = b'2', "`..`";
    DOTS3 = b'3', "`...`";
    DOTS_LESS = b'4', "`..<`";
    DOTS_GREATER = b'5', "`..>`";
    EQ = b'=', "`=`";
    ARROW = b'>', "`->`";
    BACKSLASH = b'\\', "`\\`";
    UNDERSCORE = b'_', "`_`";
    QUESTION = b'?', "`?`";
    APOSTROPHE = b'\'', "a type parameter";
    APOSTROPHE_HAT = b'&', "a type parameter";
    APOSTROPHE_TILDE = b'$', "a type parameter";
    TICK = b'`', "`` ` ``";
    STAR = b'*', "`*`";
    MINUS = b'-', "`-`";
    BANG = b'!', "`!`";
    LESS = b'<', "`<`";
    HAT = b'^', "`^`";
    TILDE = b'~', "`~`";
    PIPE = b'|', "`|`";
    OP = b'0', "an operator";
    QUAL_OP = b'1', "an operator";
    IF = b'I', "`if`";
    THEN = b'T', "`then`";
    ELSE = b'E', "`else`";
    DEF = b'D', "`def`";
    LET = b'L', "`let`";
    LOOP = b'O', "`loop`";
    IN = b'N', "`in`";
    VAL = b'V', "`val`";
    FOR = b'F', "`for`";
    DO = b'U', "`do`";
    WITH = b'W', "`with`";
    LOCAL = b'K', "`local`";
    OPEN = b'P', "`open`";
    INCLUDE = b'J', "`include`";
    IMPORT = b'M', "`import`";
    TYPE = b'Y', "`type`";
    ENTRY = b'R', "`entry`";
    MODULE = b'X', "`module`";
    WHILE = b'H', "`while`";
    ASSERT = b'A', "`assert`";
    MATCH = b'B', "`match`";
    CASE = b'S', "`case`";
}

impl Kind {
    /// The keyword of that spelling, if there is one.
    pub(super) fn keyword(word: &str) -> Option<Kind> {
        Some(match word {
            "true" => Kind::TRUE,
            "false" => Kind::FALSE,
            "if" => Kind::IF,
            "then" => Kind::THEN,
            "else" => Kind::ELSE,
            "def" => Kind::DEF,
            "let" => Kind::LET,
            "loop" => Kind::LOOP,
            "in" => Kind::IN,
            "val" => Kind::VAL,
            "for" => Kind::FOR,
            "do" => Kind::DO,
            "with" => Kind::WITH,
            "local" => Kind::LOCAL,
            "open" => Kind::OPEN,
            "include" => Kind::INCLUDE,
            "import" => Kind::IMPORT,
            "type" => Kind::TYPE,
            "entry" => Kind::ENTRY,
            "module" => Kind::MODULE,
            "while" => Kind::WHILE,
            "assert" => Kind::ASSERT,
            "match" => Kind::MATCH,
            "case" => Kind::CASE,
            _ => return None,
        })
    }

    /// Whether it is a keyword, `true` and `false` excepted.
    pub(super) fn is_keyword(self) -> bool {
        self.0.is_ascii_uppercase()
    }

    /// What to call it in a message.
    pub(super) fn describe(self) -> &'static str {
        let found = KINDS.iter().find(|(kind, _)| *kind == self);
        found.map_or("a token", |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_has_the_same_letters() {
        let grammar = include_str!("../grammar.pest");
        let tokens = grammar.split("// --- Entry points").next().unwrap_or("");
        let mut in_grammar: Vec<&str> = tokens
            .lines()
            .filter_map(|line| line.split_once("= _{ \"")?.1.strip_suffix("\" }"))
            .map(|letter| if letter == "\\\\" { "\\" } else { letter })
            .collect();
        let letters: Vec<String> = KINDS
            .iter()
            .map(|(kind, _)| char::from(kind.0).into())
            .collect();
        let mut here: Vec<&str> = letters.iter().map(String::as_str).collect();
        in_grammar.sort_unstable();
        here.sort_unstable();
        assert_eq!(in_grammar, here);
        here.dedup();
        assert_eq!(here.len(), KINDS.len(), "two tokens share a letter");
    }
}
