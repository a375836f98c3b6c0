//! Mutations of texts, by structure, and of bytes, blindly.

use super::super::generate::Random;
use super::text::{Kind, Level, Text, Token};
use super::vocabulary::Vocabulary;
use std::ops::Range;

/// How often something is nested or repeated, most often once.
const TIMES: &[usize] = &[1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 8, 16, 40, 300, 2000];

/// Longer texts are not grown further: the time to read them is not what is looked for.
const MAX_TOKENS: usize = 60_000;

/// Makes new texts from samples.
#[derive(Debug)]
pub struct Mutator<'v> {
    samples: Vec<Text>,
    vocabulary: &'v Vocabulary,
}

impl<'v> Mutator<'v> {
    /// A mutator of these samples, of which there is at least one.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>, vocabulary: &'v Vocabulary) -> Self {
        let samples = texts.map(|text| Text::new(text, vocabulary)).collect();
        Self {
            samples,
            vocabulary,
        }
    }

    /// A sample, after up to `most` mutations.
    pub fn text(&self, sample: usize, most: usize, random: &mut Random) -> Text {
        let mut text = self.samples[sample % self.samples.len()].clone();
        for _ in 0..=random.below(most) {
            self.mutate(&mut text, random);
        }
        text
    }

    /// Changes a text once, if what the change is about is there.
    fn mutate(&self, text: &mut Text, random: &mut Random) {
        match random.below(16) {
            0 => self.delete(text, random),
            1..=2 => self.repeat(text, random),
            3..=4 => self.swap(text, random),
            5..=7 => self.splice(text, random),
            8 => self.insert_declaration(text, random),
            9..=10 => rename(text, random),
            11 => self.number(text, random),
            12..=13 => self.wrap(text, random),
            14 => self.word(text, random),
            _ => self.graft(text, random),
        }
    }

    fn unit(&self, text: &Text, random: &mut Random) -> Option<(Level, Range<usize>)> {
        let level = *random.pick(&Level::ALL);
        Some((level, text.unit(level, self.vocabulary, random)?))
    }

    fn delete(&self, text: &mut Text, random: &mut Random) {
        if let Some((_, range)) = self.unit(text, random) {
            text.tokens.drain(range);
        }
    }

    /// Repeats a unit where it stands, or copies it to where another one of its level stands.
    fn repeat(&self, text: &mut Text, random: &mut Random) {
        let Some((level, range)) = self.unit(text, random) else {
            return;
        };
        let copy = text.tokens[range.clone()].to_vec();
        let times = *random.pick(TIMES);
        let target = text.unit(level, self.vocabulary, random);
        let at = target.filter(|_| random.chance(60)).unwrap_or(range).end;
        if copy.len() * times + text.tokens.len() < MAX_TOKENS {
            let all = std::iter::repeat_n(copy, times).flatten();
            text.tokens.splice(at..at, all);
        }
    }

    /// Exchanges two units of one level that do not overlap.
    fn swap(&self, text: &mut Text, random: &mut Random) {
        let Some((level, one)) = self.unit(text, random) else {
            return;
        };
        let Some(other) = text.unit(level, self.vocabulary, random) else {
            return;
        };
        let (first, second) = if one.start <= other.start {
            (one, other)
        } else {
            (other, one)
        };
        if first.end <= second.start {
            let late = text.tokens[second.clone()].to_vec();
            let early: Vec<Token> = text.tokens.splice(first.clone(), late).collect();
            // What stands later has moved by the difference of the two lengths.
            let start = second.start + second.len() - early.len();
            text.tokens.splice(start..start + second.len(), early);
        }
    }

    /// Puts a unit of another sample in the place of one of the same level.
    fn splice(&self, text: &mut Text, random: &mut Random) {
        let other = &self.samples[random.below(self.samples.len())];
        let level = *random.pick(&Level::ALL);
        let from = other.unit(level, self.vocabulary, random);
        let to = text.unit(level, self.vocabulary, random);
        if let (Some(from), Some(to)) = (from, to) {
            text.tokens.splice(to, other.tokens[from].iter().cloned());
        }
    }

    /// Adds declarations of another sample before one of this.
    fn insert_declaration(&self, text: &mut Text, random: &mut Random) {
        let other = &self.samples[random.below(self.samples.len())];
        let from = other.unit(Level::Declaration, self.vocabulary, random);
        let to = text.unit(Level::Declaration, self.vocabulary, random);
        if let (Some(mut from), Some(to)) = (from, to) {
            if random.chance(20) {
                from.end = other.tokens.len();
            }
            let pieces = other.tokens[from].iter().cloned();
            text.tokens.splice(to.start..to.start, pieces);
        }
    }

    /// Puts a unit in the place of one of another level.
    fn graft(&self, text: &mut Text, random: &mut Random) {
        let (Some((_, from)), Some((_, to))) = (self.unit(text, random), self.unit(text, random))
        else {
            return;
        };
        let copy = text.tokens[from].to_vec();
        text.tokens.splice(to, copy);
    }

    /// Puts another number in the place of one: a remarkable one, or one with very many digits.
    fn number(&self, text: &mut Text, random: &mut Random) {
        let Some(at) = text.find(random, |token| token.kind == Kind::Number) else {
            return;
        };
        let token = &mut text.tokens[at].text;
        match random.below(8) {
            0 => *token = "9".repeat(*random.pick(TIMES)),
            1 => *token = format!("0x{}", "f".repeat(*random.pick(TIMES))),
            2 => {
                *token = format!(
                    "1.{}e{}",
                    "3".repeat(*random.pick(TIMES)),
                    random.below(400)
                )
            }
            _ => (*random.pick(&self.vocabulary.numbers)).clone_into(token),
        }
    }

    /// Puts a phrase into something that nests, some or many times.
    fn wrap(&self, text: &mut Text, random: &mut Random) {
        let level = *random.pick(&[Level::Token, Level::Group, Level::Phrase]);
        let Some(range) = text.unit(level, self.vocabulary, random) else {
            return;
        };
        let (open, close) = *random.pick(&self.vocabulary.wraps);
        let times = *random.pick(TIMES);
        let sides = [open, close].map(|side| Text::new(&side.repeat(times), self.vocabulary));
        let [open, close] = sides.map(|side| side.tokens);
        if open.len() + close.len() + text.tokens.len() < MAX_TOKENS {
            text.tokens.splice(range.end..range.end, close);
            text.tokens.splice(range.start..range.start, open);
        }
    }

    /// Puts a word of the language in the place of a token, or before it.
    fn word(&self, text: &mut Text, random: &mut Random) {
        let Some(at) = text.find(random, |token| token.kind != Kind::Space) else {
            return;
        };
        let word = *random.pick(&self.vocabulary.words);
        let word = Text::new(word, self.vocabulary).tokens;
        let end = at + random.below(2);
        text.tokens.splice(at..end, word);
    }
}

/// Puts a word of the text in the place of another one: names of the wrong type, twice bound, not yet in scope.
fn rename(text: &mut Text, random: &mut Random) {
    let word = |token: &Token| token.kind == Kind::Word;
    if let (Some(from), Some(to)) = (text.find(random, word), text.find(random, word)) {
        let name = text.tokens[from].text.clone();
        text.tokens[to].text = name;
    }
}

/// Changes bytes without regard to what they mean.
pub fn bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = (at + 1 + random.below(12)).min(bytes.len()).max(at);
    match random.below(8) {
        0 => drop(bytes.drain(at..end)),
        1 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        2 => bytes.truncate(at),
        3 => {
            let tail = bytes[at..].to_vec();
            bytes.extend_from_slice(&tail);
        }
        4 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        5 if at + 8 <= bytes.len() => {
            // A number in the place of another, such as an extent.
            let numbers = [
                0,
                1,
                2,
                255,
                1 << 31,
                1 << 40,
                1 << 62,
                i64::MAX,
                -1,
                i64::MIN,
            ];
            bytes[at..at + 8].copy_from_slice(&random.pick(&numbers).to_le_bytes());
        }
        6 => {
            let interesting = *b"[]\"(),-b.x_e9i \n\xff\x00";
            bytes.insert(at, interesting[random.below(interesting.len())]);
        }
        _ if at < bytes.len() => bytes[at] = random.bits() as u8,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "def f (x: i32) = (x + 1, [2, 3])\ndef g = let a = f 4 in (a, 5)\n";

    #[test]
    fn exchanged_units_are_all_still_there() {
        let vocabulary = Vocabulary::source();
        let mutator = Mutator::new([SAMPLE].into_iter(), &vocabulary);
        let sorted = |text: &Text| {
            let mut tokens: Vec<_> = text.tokens.iter().map(|t| t.text.clone()).collect();
            tokens.sort();
            tokens
        };
        let original = Text::new(SAMPLE, &vocabulary);
        let mut changed = 0;
        for seed in 0..500 {
            let mut text = original.clone();
            mutator.swap(&mut text, &mut Random::new(seed));
            assert_eq!(sorted(&text), sorted(&original), "{}", text.to_text());
            changed += usize::from(text.to_text() != SAMPLE);
        }
        assert!(changed > 100, "{changed} of 500 were changed");
    }
}
