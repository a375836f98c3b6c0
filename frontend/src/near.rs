//! Guessing what a misspelt name was meant to be.

/// Longer names are not misspelt, and comparing them takes long.
const LONGEST: usize = 100;

/// After so many messages nothing is guessed: each guess compares a name with all others.
pub(crate) const GUESSES: usize = 100;

/// The nearest of some names, if one is near enough to be meant.
pub fn near<N: AsRef<str>>(name: &str, candidates: impl Iterator<Item = N>) -> Option<String> {
    let limit = 1 + name.chars().count() / 4;
    candidates
        .filter(|c| name.len() <= LONGEST && c.as_ref().len() <= LONGEST)
        .map(|c| (distance(name, c.as_ref()), c.as_ref().to_owned()))
        .filter(|(d, _)| *d <= limit)
        .min()
        .map(|(_, c)| c)
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = if x == *y { diagonal } else { diagonal + 1 };
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_misspelt_name_is_found_and_another_is_not() {
        let names = || ["main", "render", "step"].into_iter();
        assert_eq!(near("mian", names()).as_deref(), Some("main"));
        assert_eq!(near("mann", ["leap"].into_iter()), None);
        assert_eq!(near("rendr", names()).as_deref(), Some("render"));
        assert_eq!(near("step2", names()).as_deref(), Some("step"));
        assert_eq!(near(&"x".repeat(1_000_000), names()), None);
    }
}
