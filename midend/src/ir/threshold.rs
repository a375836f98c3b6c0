//! Named thresholds: what a guard compares an amount of parallelism with.
//!
//! A guard chooses between versions of the same code. Which number is enough for a device is not known to the
//! compiler, so that a guard names its threshold, and the device, or the user, supplies the number when the program
//! runs. No choice of a number changes what a program computes.

use super::dialect::Dialect;
use super::id::SpanId;
use super::span::Spans;
use super::syntax::{Exp, Program};
use super::walk::all_stms;
use crate::hash::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A threshold: `function:line:kind`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Threshold {
    /// Where it is: function and line, and a number where there are several.
    pub place: Arc<str>,
    /// What is compared.
    pub kind: ThresholdKind,
}

/// What amount of parallelism a threshold is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThresholdKind {
    /// The number of points of the outer parallel operators: with enough of them, inner ones are made sequential.
    Outer,
    /// The same where the first version is worked on in tiles of two dimensions, which make up for less parallelism.
    Tiles,
    /// How many rows [`ELEMENTS`] make, where the second version reduces rows whose elements lie side by side: it is the better
    /// one however many points there are, unless rows are short.
    Rows,
    /// How many rows fit into the memory that a block of threads shares on the device that gives it most ([`ROOM`]); a device that gives less
    /// wants more of them. If enough do, a block works on a row, and what it makes of it stays there. Never reached on devices without
    /// such blocks, whatever is asked for.
    Block,
    /// As [`ThresholdKind::Outer`] where the second version is nothing but reductions of columns: where these fill vector registers, and
    /// are cut into pieces, only very many points are enough.
    Columns,
    /// As [`ThresholdKind::Outer`] where the second version is nothing but reductions of rows whose lengths differ: it shares out long
    /// rows as well as short ones, which the first does not.
    Ragged,
    /// The number of elements that are put in another order, so that neighbouring points read or write neighbours; none if they are
    /// near enough as it is. Not reached if there is no memory for them.
    Layout,
    /// How many points have room for the arrays that they make for themselves in a mebibyte, where the second version has loops at more
    /// points: on devices that work on neighbouring points together, it is the better one if there are more arrays at a time than are near.
    /// Always reached if the second version took too much memory.
    Arrays,
    /// How many times the work of each operator of a loop of the host is done while one kernel is launched: if at least once, one thread
    /// executes the loop. Never reached on devices whose threads are slow alone.
    Alone,
}

impl ThresholdKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Outer,
        Self::Tiles,
        Self::Rows,
        Self::Block,
        Self::Columns,
        Self::Ragged,
        Self::Layout,
        Self::Arrays,
        Self::Alone,
    ];

    /// The name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outer => "outer",
            Self::Tiles => "tiles",
            Self::Rows => "rows",
            Self::Block => "block",
            Self::Columns => "columns",
            Self::Ragged => "ragged",
            Self::Layout => "layout",
            Self::Arrays => "arrays",
            Self::Alone => "alone",
        }
    }
    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.place, self.kind.name())
    }
}

/// Names for the thresholds of a program, each after the function and line that it is for.
#[derive(Debug, Default)]
pub struct Names {
    /// How many thresholds there are after a function and line.
    taken: HashMap<String, usize>,
}

impl Names {
    /// A threshold for what stands at `span`, in a function that stands at `of`, with a name of its own.
    pub fn threshold(
        &mut self,
        kind: ThresholdKind,
        (function, of): (&str, SpanId),
        (spans, span): (&Spans, SpanId),
    ) -> Threshold {
        let mut place = function.to_owned();
        if let Some(line) = spans.line_in(of, span) {
            place.push_str(&format!(":{line}"));
        }
        let count = self.taken.entry(place.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            place.push_str(&format!(".{count}"));
        }
        Threshold {
            place: place.into(),
            kind,
        }
    }
}

/// The most bytes of memory that a block of threads has to itself on any device.
pub const ROOM: i64 = 223 << 10;

/// The elements whose rows are counted to say how short rows are.
pub const ELEMENTS: i64 = 1 << 20;

/// The number that is reached by rows of fewer elements than `length`, of at least one.
pub const fn rows_shorter_than(length: i64) -> i64 {
    ELEMENTS / length + 1
}

/// The number that no amount reaches.
pub const INFINITE: i64 = i64::MAX;

/// A measure of points from here on says that the operators of the second version do less work than a launch takes, however many points there are.
pub const LITTLE_WORK: i64 = 1 << 32;

/// Whether an amount reaches a number: always if it is 0, never if it is [`INFINITE`]. Amounts are products of sizes
/// and may overflow; then any answer is right.
pub const fn reaches(amount: i64, number: i64) -> bool {
    number <= 0 || (number != INFINITE && amount >= number)
}

/// The numbers that a user wants instead of those of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forced {
    /// For thresholds that are not named.
    pub others: Option<i64>,
    /// The same for those of a kind.
    pub kinds: BTreeMap<ThresholdKind, i64>,
    /// By the name of the threshold.
    pub named: BTreeMap<String, i64>,
}

impl Forced {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            others: None,
            kinds: BTreeMap::new(),
            named: BTreeMap::new(),
        }
    }
    /// The same number for all.
    pub const fn all(number: i64) -> Self {
        Self {
            others: Some(number),
            kinds: BTreeMap::new(),
            named: BTreeMap::new(),
        }
    }
    /// The same, but for thresholds of a kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ThresholdKind, number: i64) -> Self {
        self.kinds.insert(kind, number);
        self
    }
    /// The number for a threshold for which the device would take `default`. A device that has no blocks has none whatever is wanted.
    pub fn number(&self, threshold: &Threshold, default: i64) -> i64 {
        if threshold.kind == ThresholdKind::Block && default == INFINITE {
            return INFINITE;
        }
        let named = if self.named.is_empty() {
            None
        } else {
            self.named.get(&threshold.to_string()).copied()
        };
        let kind = || self.kinds.get(&threshold.kind).copied();
        named.or_else(kind).or(self.others).unwrap_or(default)
    }
    /// Adds what `NAME=N` says, where the name may be `*` or `*:KIND` and the number `inf`.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let wrong = || {
            format!(
                "`{text}` is not NAME=NUMBER, where NAME may be * or *:KIND and NUMBER may be inf"
            )
        };
        let (name, number) = text.rsplit_once('=').ok_or_else(wrong)?;
        let number = match number.trim() {
            "inf" => INFINITE,
            number => number.parse().ok().filter(|n| *n >= 0).ok_or_else(wrong)?,
        };
        let name = name.trim();
        if let Some(kind) = name.strip_prefix("*:") {
            let kind = ThresholdKind::from_name(kind).ok_or_else(|| {
                let kinds = ThresholdKind::ALL.map(ThresholdKind::name).join(", ");
                format!("there is no kind of thresholds `{kind}`, there are {kinds}")
            })?;
            self.kinds.insert(kind, number);
            return Ok(());
        }
        match name {
            "" => return Err(wrong()),
            "*" => self.others = Some(number),
            name => {
                self.named.insert(name.to_owned(), number);
            }
        }
        Ok(())
    }
}

/// The thresholds that a program names, each once, in the order of its guards.
pub fn of<D: Dialect>(program: &Program<D>) -> Vec<Threshold> {
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    for fun in program.funs.iter() {
        all_stms(&fun.body, &mut |stm| {
            if let Exp::Guard { threshold, .. } = &stm.exp
                && seen.insert(threshold)
            {
                all.push(threshold.clone());
            }
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(place: &str) -> Threshold {
        Threshold {
            place: place.into(),
            kind: ThresholdKind::Outer,
        }
    }

    #[test]
    fn a_named_number_wins_over_that_for_all_and_that_over_the_default() {
        let mut forced = Forced::new();
        assert_eq!(forced.number(&threshold("main:3"), 7), 7);
        forced.add("*=inf").unwrap();
        assert_eq!(forced.number(&threshold("main:3"), 7), INFINITE);
        forced.add("main:3:outer=0").unwrap();
        assert_eq!(forced.number(&threshold("main:3"), 7), 0);
        assert_eq!(forced.number(&threshold("main:4"), 7), INFINITE);
    }

    #[test]
    fn a_number_for_a_kind_wins_over_that_for_all_and_loses_to_a_named_one() {
        let mut forced = Forced::all(0).with_kind(ThresholdKind::Alone, 3);
        forced.add("*:outer=inf").unwrap();
        assert_eq!(forced.number(&threshold("main:3"), 7), INFINITE);
        let alone = Threshold {
            kind: ThresholdKind::Alone,
            ..threshold("main:3")
        };
        assert_eq!(forced.number(&alone, 7), 3);
        forced.add("main:3:outer=5").unwrap();
        assert_eq!(forced.number(&threshold("main:3"), 7), 5);
        let unknown = forced.add("*:blok=0").unwrap_err();
        assert!(unknown.starts_with("there is no kind of thresholds `blok`, there are outer,"));
    }

    #[test]
    fn a_device_without_blocks_gets_none() {
        let place = "main:3".into();
        let kind = ThresholdKind::Block;
        let block = Threshold { place, kind };
        assert_eq!(Forced::all(0).number(&block, INFINITE), INFINITE);
        assert_eq!(Forced::all(0).number(&block, 1), 0);
    }

    #[test]
    fn what_is_no_name_and_number_is_refused() {
        for text in ["", "main", "=3", "a=b", "a=-1", "a="] {
            assert!(Forced::new().add(text).is_err(), "{text}");
        }
    }

    #[test]
    fn short_rows_reach_the_number_for_their_length() {
        let short = |length: i64| reaches(ELEMENTS / length, rows_shorter_than(16));
        assert!(short(1) && short(15) && !short(16) && !short(1 << 40));
    }

    #[test]
    fn zero_is_always_reached_and_infinity_never() {
        assert!(reaches(-5, 0) && reaches(0, 0) && reaches(i64::MAX, 1));
        assert!(!reaches(i64::MAX, INFINITE) && !reaches(3, 4));
    }
}
