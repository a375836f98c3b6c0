//! The operator table, and the way from a flat chain of operands and operators to a tree.
//!
//! A user's operator binds like the longest built-in operator that its name begins with.

/// How tightly an operator binds; a higher level binds tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Level(u8);

impl Level {
    /// The place in the order of levels, from zero.
    pub(super) fn rank(self) -> u8 {
        self.0
    }
}

/// To which side a chain of equally tight operators leans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assoc {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a <| b <| c` is `a <| (b <| c)`.
    Right,
}

/// `` a `f` b ``, the loosest of all operators.
pub(super) const BACKTICK: Level = Level(0);
/// How `e with [i] = v` takes what is left of it.
pub(super) const WITH: Level = Level(1);
/// How `e with [i] = v` takes what is right of it.
pub(super) const WITH_VALUE: Level = Level(2);

/// The built-in operators with their levels. No line may be shadowed by a shorter one: lookup takes the
/// longest that fits.
const TABLE: &[(&str, u8, Assoc)] = &[
    ("|>", 3, Assoc::Left),
    ("<|", 4, Assoc::Right),
    ("||", 5, Assoc::Left),
    ("&&", 6, Assoc::Left),
    ("==", 7, Assoc::Left),
    ("!=", 7, Assoc::Left),
    ("<=", 7, Assoc::Left),
    (">=", 7, Assoc::Left),
    ("<", 7, Assoc::Left),
    (">", 7, Assoc::Left),
    ("!", 7, Assoc::Left),
    ("=", 7, Assoc::Left),
    ("&", 8, Assoc::Left),
    ("^", 8, Assoc::Left),
    ("|", 8, Assoc::Left),
    ("<<", 9, Assoc::Left),
    (">>", 9, Assoc::Left),
    ("+", 10, Assoc::Left),
    ("-", 10, Assoc::Left),
    ("*", 11, Assoc::Left),
    ("/", 11, Assoc::Left),
    ("%", 11, Assoc::Left),
    ("//", 11, Assoc::Left),
    ("%%", 11, Assoc::Left),
    ("**", 12, Assoc::Left),
];

/// Level and associativity of an operator by its name, without qualifiers. What begins with no built-in operator
/// binds like a name in backticks.
pub(super) fn of_operator(name: &str) -> (Level, Assoc) {
    let fitting = TABLE.iter().filter(|(text, ..)| name.starts_with(text));
    match fitting.max_by_key(|(text, ..)| text.len()) {
        Some((_, level, assoc)) => (Level(*level), *assoc),
        None => (BACKTICK, Assoc::Left),
    }
}

/// An operator in a chain: how it takes its left side, its right side, and who wins a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    /// Against operators on its left.
    pub(super) left: Level,
    /// Against operators on its right.
    pub(super) right: Level,
    /// Between equals.
    pub(super) assoc: Assoc,
}

/// Folds a chain `first (op operand)*` into a tree, without recursion: chains may be long.
pub(super) fn fold<Operand, Op>(
    first: Operand,
    rest: impl IntoIterator<Item = (Op, Binding, Operand)>,
    mut join: impl FnMut(Operand, Op, Operand) -> Operand,
) -> Operand {
    let mut waiting: Vec<(Operand, Op, Binding)> = Vec::new();
    let mut current = first;
    for (op, binding, operand) in rest {
        while let Some((left, op, earlier)) = waiting.pop() {
            let reduces = earlier.right > binding.left
                || earlier.right == binding.left && binding.assoc == Assoc::Left;
            if !reduces {
                waiting.push((left, op, earlier));
                break;
            }
            current = join(left, op, current);
        }
        waiting.push((current, op, binding));
        current = operand;
    }
    while let Some((left, op, _)) = waiting.pop() {
        current = join(left, op, current);
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parenthesises a chain of single letters and operators.
    fn tree(chain: &str) -> String {
        let mut words = chain.split(' ');
        let first = words.next().unwrap_or("").to_string();
        let words: Vec<&str> = words.collect();
        let rest = words.chunks(2).map(|pair| {
            let (level, assoc) = of_operator(pair[0]);
            let binding = Binding {
                left: level,
                right: level,
                assoc,
            };
            (pair[0], binding, pair[1].to_string())
        });
        fold(first, rest, |a, op, b| format!("({a}{op}{b})"))
    }

    #[test]
    fn every_level_binds_looser_than_the_next() {
        let levels = ["|>", "<|", "||", "&&", "==", "&", "<<", "+", "*", "**"];
        for pair in levels.windows(2) {
            let (loose, tight) = (pair[0], pair[1]);
            assert_eq!(
                tree(&format!("a {loose} b {tight} c")),
                format!("(a{loose}(b{tight}c))")
            );
            assert_eq!(
                tree(&format!("a {tight} b {loose} c")),
                format!("((a{tight}b){loose}c)")
            );
        }
    }

    #[test]
    fn operators_of_one_level_lean_to_their_side() {
        for pair in [
            "+ -", "* %%", "== <", "& |", "^ &", "<< >>", "|> |>", "** **",
        ] {
            let (one, two) = pair.split_once(' ').unwrap_or_default();
            assert_eq!(
                tree(&format!("a {one} b {two} c")),
                format!("((a{one}b){two}c)")
            );
        }
        assert_eq!(tree("a <| b <| c"), "(a<|(b<|c))");
    }

    #[test]
    fn a_users_operator_binds_like_its_longest_built_in_prefix() {
        for (name, like) in [
            ("+.", "+"),
            ("**!", "**"),
            ("<-<", "<"),
            (">->", ">"),
            ("<|>", "<|"),
            ("||>", "||"),
            ("|||", "||"),
            ("|+|", "|"),
            ("%%%", "%%"),
            ("=+=", "="),
            ("!!", "!"),
            ("->>", "-"),
            ("<<|", "<<"),
        ] {
            assert_eq!(of_operator(name), of_operator(like), "{name}");
        }
    }
}
