//! The words that `docs/glossary.md` refuses: none in names, comments and documents, but as many as `refused.txt` counts for a file.
//!
//! ```text
//! fn lines_soon(..)      "soon" is refused: snake_case is split into words
//! Form::Near             "near" is refused: CamelCase is split into words
//! rounds to nearest even "near" is another word
//! ```

use super::{read, root, tracked};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;

/// The table of refused words, which names them, and may.
const GLOSSARY: &str = "docs/glossary.md";
/// For each file, how many refused phrases it has; lines `PATH COUNT`.
const COUNTS: &str = "tests/suites/tidy/refused.txt";

/// A line of the table.
struct Refused {
    phrases: Vec<String>,
    instead: String,
    /// Phrases of which it may be a part.
    except: Vec<String>,
}

/// The table, and its phrases by their first words.
struct Table {
    rows: Vec<Refused>,
    /// For a first word: the phrases, each with its row, and whether it is an exception there.
    by_word: HashMap<String, Vec<(Vec<String>, usize, bool)>>,
}

fn list(cell: &str) -> Vec<String> {
    let items = cell.split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(String::from)
        .collect()
}

impl Table {
    fn read() -> Self {
        let page = read(GLOSSARY);
        let (_, section) = page
            .split_once("## Refused words")
            .expect("the glossary has a section on them");
        let lines = section.lines().filter(|line| line.starts_with("| "));
        let mut table = Self {
            rows: Vec::new(),
            by_word: HashMap::new(),
        };
        for line in lines.skip(1) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let [phrases, instead, except] = cells[..] else {
                panic!("a row has three cells: {line}");
            };
            let row = Refused {
                phrases: list(phrases),
                instead: instead.trim().to_string(),
                except: list(except),
            };
            let all = row.phrases.iter().map(|p| (p, false));
            for (phrase, is_except) in all.chain(row.except.iter().map(|p| (p, true))) {
                let words: Vec<String> = phrase.split(' ').map(String::from).collect();
                let entry = table.by_word.entry(words[0].clone()).or_default();
                entry.push((words, table.rows.len(), is_except));
            }
            table.rows.push(row);
        }
        table
    }

    /// The refused phrases of a line, with what to write instead.
    fn refused(&self, line: &str) -> Vec<(String, &str)> {
        let words = words(line);
        let mut found: BTreeMap<usize, (Vec<String>, usize)> = BTreeMap::new();
        for (at, word) in words.iter().enumerate() {
            for (phrase, row, is_except) in self.by_word.get(word).into_iter().flatten() {
                if words[at..].starts_with(phrase) {
                    let (phrases, allowed) = found.entry(*row).or_default();
                    if *is_except {
                        *allowed += 1;
                    } else {
                        phrases.push(phrase.join(" "));
                    }
                }
            }
        }
        let found = found.into_iter().flat_map(|(row, (phrases, allowed))| {
            let instead = self.rows[row].instead.as_str();
            let left = phrases.into_iter().skip(allowed);
            left.map(move |phrase| (phrase, instead))
        });
        found.collect()
    }
}

/// The words of a line, in small letters: `lines_soon(GroupNear)` is `lines`, `soon`, `group`, `near`.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut word, mut was_small) = (String::new(), false);
    for c in line.chars().chain([' ']) {
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && was_small);
        if ends && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_ascii_digit();
    }
    out
}

/// How many there are in each file that has any, and a listing of them.
fn counts() -> BTreeMap<String, (usize, String)> {
    let table = Table::read();
    let mut out = BTreeMap::new();
    for path in tracked(".rs").into_iter().chain(tracked(".md")) {
        if path == GLOSSARY || path.ends_with("suites/tidy/words.rs") {
            continue;
        }
        let (mut total, mut listing) = (0, String::new());
        for (number, line) in read(&path).lines().enumerate() {
            for (phrase, instead) in table.refused(line) {
                total += 1;
                let _ = writeln!(
                    listing,
                    "{path}:{}: `{phrase}` (write: {instead})",
                    number + 1
                );
            }
        }
        if total > 0 {
            out.insert(path, (total, listing));
        }
    }
    out
}

fn allowed() -> BTreeMap<String, usize> {
    let text = read(COUNTS);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (path, count) = line.split_once(' ').expect("lines are `PATH COUNT`");
            (path.to_string(), count.parse().expect("a count"))
        })
        .collect()
}

#[test]
fn no_words_that_the_glossary_refuses() {
    let (found, mut allowed) = (counts(), allowed());
    let mut wrong = String::new();
    for (path, (count, listing)) in &found {
        if *count > allowed.get(path).copied().unwrap_or(0) {
            wrong += listing;
        }
    }
    assert!(
        wrong.is_empty(),
        "words that {GLOSSARY} refuses, in files with more of them than {COUNTS} allows:\n{wrong}"
    );
    if std::env::var_os("ARRC_BLESS").is_some() {
        // Counts shrink, and never grow.
        allowed.retain(|path, count| {
            *count = found.get(path).map_or(0, |(now, _)| *now);
            *count > 0
        });
        let lines = allowed
            .iter()
            .map(|(path, count)| format!("{path} {count}\n"));
        fs::write(root().join(COUNTS), lines.collect::<String>()).expect("the list can be written");
    }
}

#[test]
fn words_of_names_and_of_prose_are_found() {
    let table = Table::read();
    let found = |line| {
        let all = table.refused(line).into_iter();
        all.map(|(phrase, _)| phrase).collect::<Vec<_>>()
    };
    assert_eq!(found("fn lines_soon(&mut self)"), ["soon"]);
    assert_eq!(found("Form::NearBy => Along::Apart,"), ["apart", "near"]);
    assert_eq!(found("updates in place; rounds to nearest even"), [""; 0]);
    assert_eq!(found("a place in place of a place"), ["place", "place"]);
    assert_eq!(found("replaced, nearby, apartment"), [""; 0]);
}
