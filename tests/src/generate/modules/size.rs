//! Sizes of arrays, as expressions.

use super::super::random::Random;
use std::fmt;

/// A size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Size {
    Name(String),
    Const(i64),
    Plus(Box<Size>, Box<Size>),
    Times(Box<Size>, Box<Size>),
    /// Half of a size, rounded down.
    Half(Box<Size>),
    /// The same by a function of the program.
    Call(Box<Size>),
    /// One that has no name in the program.
    Hidden(usize),
}

use Size::{Call, Const, Half, Hidden, Name, Plus, Times};

impl Size {
    pub(super) fn name(text: &str) -> Size {
        Name(text.to_owned())
    }

    pub(super) fn plus(self, other: Size) -> Size {
        Plus(Box::new(self), Box::new(other))
    }

    pub(super) fn times(self, other: Size) -> Size {
        Times(Box::new(self), Box::new(other))
    }

    /// Whether the program can write the size.
    pub(super) fn is_shown(&self) -> bool {
        match self {
            Name(_) | Const(_) => true,
            Plus(a, b) | Times(a, b) => a.is_shown() && b.is_shown(),
            Half(a) | Call(a) => a.is_shown(),
            Hidden(_) => false,
        }
    }

    /// How many operations it has.
    pub(super) fn depth(&self) -> usize {
        match self {
            Name(_) | Const(_) | Hidden(_) => 0,
            Plus(a, b) | Times(a, b) => 1 + a.depth() + b.depth(),
            Half(a) | Call(a) => 1 + a.depth(),
        }
    }

    /// With sizes in place of `n` and `m`.
    pub(super) fn put(&self, n: &Size, m: &Size) -> Size {
        match self {
            Name(name) if name == "n" => n.clone(),
            Name(name) if name == "m" => m.clone(),
            Name(_) | Const(_) | Hidden(_) => self.clone(),
            Plus(a, b) => a.put(n, m).plus(b.put(n, m)),
            Times(a, b) => a.put(n, m).times(b.put(n, m)),
            Half(a) => Half(Box::new(a.put(n, m))),
            Call(a) => Call(Box::new(a.put(n, m))),
        }
    }

    /// What `n` and `m` must be for this pattern to be the size.
    pub(super) fn fits(&self, wanted: &Size, n: &mut Option<Size>, m: &mut Option<Size>) -> bool {
        let meet = |slot: &mut Option<Size>| match slot {
            Some(known) => known == wanted,
            None => {
                *slot = Some(wanted.clone());
                true
            }
        };
        match (self, wanted) {
            (Name(name), _) if name == "n" => meet(n),
            (Name(name), _) if name == "m" => meet(m),
            (Plus(a, b), Plus(c, d)) | (Times(a, b), Times(c, d)) => {
                a.fits(c, n, m) && b.fits(d, n, m)
            }
            (Half(a), Half(b)) | (Call(a), Call(b)) => a.fits(b, n, m),
            _ => self == wanted,
        }
    }

    /// A size made of others.
    pub(super) fn random(names: &[Size], rng: &mut Random) -> Size {
        let name = |rng: &mut Random| rng.pick(names).clone();
        match rng.below(10) {
            0 => Const(1 + rng.below(3) as i64),
            1 => name(rng).plus(Const(1 + rng.below(2) as i64)),
            2 => name(rng).plus(name(rng)),
            3 => Const(2).times(name(rng)),
            4 => name(rng).times(name(rng)),
            5 if rng.chance(50) => Half(Box::new(name(rng))),
            5 => Call(Box::new(name(rng))),
            _ => name(rng),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atom = |s: &Size| match s {
            Name(_) | Const(_) | Hidden(_) => s.to_string(),
            Plus(..) | Times(..) | Half(_) | Call(_) => format!("({s})"),
        };
        match self {
            Name(name) => write!(f, "{name}"),
            Const(c) => write!(f, "{c}"),
            Plus(a, b) => write!(f, "{} + {}", atom(a), atom(b)),
            Times(a, b) => write!(f, "{} * {}", atom(a), atom(b)),
            Half(a) => write!(f, "{} / 2", atom(a)),
            Call(a) => write!(f, "half {}", atom(a)),
            Hidden(_) => write!(f, "_"),
        }
    }
}
