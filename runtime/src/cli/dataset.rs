//! `arrc dataset`: makes values, and converts them between formats.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use crate::data::{Reader, Source, parse_number, read_all, write_binary, write_npy, write_text};
use crate::spec::{Bounds, Generator, SplitMix, bounded, count, elements, generator, shaped};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What `arrc dataset` takes.
#[derive(Args)]
pub(super) struct DatasetArguments {
    /// Files to convert, in text, binary or NumPy format, possibly compressed; without any, and without `-g`, standard input
    files: Vec<PathBuf>,
    /// The seed of random values
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write text, which is the default
    #[arg(long, conflicts_with_all = ["binary", "npy", "types"])]
    text: bool,
    /// Write the binary format
    #[arg(short, long, conflicts_with_all = ["npy", "types"])]
    binary: bool,
    /// Write a NumPy file, which holds one value
    #[arg(long, conflicts_with = "types")]
    npy: bool,
    /// Write the types of the values instead of the values
    #[arg(short, long = "type")]
    types: bool,
    #[command(flatten)]
    wanted: Wanted,
}

/// What is to be made, in the order of the command line.
struct Wanted(Vec<(Piece, Option<Bounds>)>);

#[derive(Clone, Debug)]
enum Piece {
    Value(Value),
    Random(Vec<i64>, ScalarType),
}

/// The option that bounds the values of a type.
const fn bounds_of(elem: ScalarType) -> &'static str {
    match elem {
        ScalarType::I8 => "i8-bounds",
        ScalarType::I16 => "i16-bounds",
        ScalarType::I32 => "i32-bounds",
        ScalarType::I64 => "i64-bounds",
        ScalarType::U8 => "u8-bounds",
        ScalarType::U16 => "u16-bounds",
        ScalarType::U32 => "u32-bounds",
        ScalarType::U64 => "u64-bounds",
        ScalarType::F16 => "f16-bounds",
        ScalarType::F32 => "f32-bounds",
        ScalarType::F64 => "f64-bounds",
        ScalarType::Bool => "bool-bounds",
    }
}

impl Args for Wanted {
    fn augment_args(command: Command) -> Command {
        let generate = Arg::new("generate")
            .short('g')
            .long("generate")
            .value_name("TYPE")
            .help("Make a random value of this type, such as [10][2]f32, or this value; may be given several times")
            .action(ArgAction::Append)
            .value_parser(piece);
        let bounds = ScalarType::ALL.into_iter().map(|elem| {
            Arg::new(bounds_of(elem))
                .long(bounds_of(elem))
                .value_name("MIN:MAX")
                .help(format!(
                    "The least and greatest {elem} that the `-g` after it make"
                ))
                .help_heading("Bounds")
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
                .value_parser(move |text: &str| bounds(elem, text))
        });
        command.arg(generate).args(bounds)
    }
    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Wanted {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        /// What an option says, and where on the command line it stands.
        fn placed<T: Clone + Send + Sync + 'static>(
            matches: &ArgMatches,
            name: &str,
        ) -> Vec<(usize, T)> {
            let values = matches.get_many::<T>(name).into_iter().flatten().cloned();
            let places = matches.indices_of(name).into_iter().flatten();
            places.zip(values).collect()
        }
        let mut all = BTreeMap::new();
        for elem in ScalarType::ALL {
            let found: Vec<(usize, Bounds)> = placed(matches, bounds_of(elem));
            all.insert(elem.name(), found);
        }
        let pieces = placed::<Piece>(matches, "generate").into_iter();
        let bounded = pieces.map(|(place, piece)| {
            let bounds = match &piece {
                Piece::Value(_) => None,
                Piece::Random(_, elem) => {
                    let before = all[elem.name()].iter().rev().find(|(at, _)| *at < place);
                    before.map(|(_, bounds)| *bounds)
                }
            };
            (piece, bounds)
        });
        Ok(Self(bounded.collect()))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A type, or a value.
fn piece(text: &str) -> Result<Piece, String> {
    match generator(text) {
        Ok(Generator::Random { shape, elem }) => Ok(Piece::Random(shape, elem)),
        Ok(Generator::Constant(constant)) => Ok(Piece::Value(Value::Scalar(constant))),
        Err(why) => {
            let mut reader = Reader::new(text.as_bytes());
            match reader.value(None) {
                Ok(value) if reader.at_end() => Ok(Piece::Value(value)),
                Ok(_) | Err(_) => Err(why),
            }
        }
    }
}

fn bounds(elem: ScalarType, text: &str) -> Result<Bounds, String> {
    let (low, high) = text
        .split_once(':')
        .ok_or_else(|| format!("{text:?} is no pair MIN:MAX"))?;
    let number = |text: &str| parse_number(text, Some(elem));
    match (limit(number(low)?), limit(number(high)?)) {
        (Bounds::Whole(low, _), Bounds::Whole(high, _)) if low <= high => {
            Ok(Bounds::Whole(low, high))
        }
        (Bounds::Real(low, _), Bounds::Real(high, _))
            if low <= high && (high - low).is_finite() =>
        {
            Ok(Bounds::Real(low, high))
        }
        (Bounds::Whole(..) | Bounds::Real(..), Bounds::Whole(..) | Bounds::Real(..)) => {
            Err(format!("{low} is not below {high}"))
        }
    }
}

/// A number as both bounds.
fn limit(constant: Const) -> Bounds {
    let whole = |n: i128| Bounds::Whole(n, n);
    let real = |x: f64| Bounds::Real(x, x);
    match constant {
        Const::I8(n) => whole(n.into()),
        Const::I16(n) => whole(n.into()),
        Const::I32(n) => whole(n.into()),
        Const::I64(n) => whole(n.into()),
        Const::U8(n) => whole(n.into()),
        Const::U16(n) => whole(n.into()),
        Const::U32(n) => whole(n.into()),
        Const::U64(n) => whole(n.into()),
        Const::Bool(b) => whole(b.into()),
        Const::F16(bits) => real(half::f16::from_bits(bits).to_f64()),
        Const::F32(bits) => real(f32::from_bits(bits).into()),
        Const::F64(bits) => real(f64::from_bits(bits)),
    }
}

pub(super) fn run(arguments: &DatasetArguments) -> Outcome {
    let values = values(arguments).map_err(Exit::user)?;
    if arguments.npy && values.len() != 1 {
        return Err(Exit::user(format!(
            "a NumPy file holds one value, and here are {}",
            values.len()
        )));
    }
    to_stdout(|mut out| {
        for value in &values {
            if arguments.types {
                let extents: String = value.shape().iter().map(|n| format!("[{n}]")).collect();
                writeln!(out, "{extents}{}", value.elem())?;
            } else if arguments.binary {
                write_binary(value, &mut out)?;
            } else if arguments.npy {
                write_npy(value, &mut out)?;
            } else {
                write_text(value, &mut out)?;
                writeln!(out)?;
            }
        }
        Ok(())
    })
}

/// What is read, and after it what is made.
fn values(arguments: &DatasetArguments) -> Result<Vec<Value>, String> {
    let Wanted(wanted) = &arguments.wanted;
    let mut values = Vec::new();
    for path in &arguments.files {
        let source = Source::open(path).map_err(|why| why.to_string())?;
        values.extend(read_all(&source).map_err(|why| why.to_string())?);
    }
    if wanted.is_empty() && arguments.files.is_empty() {
        let source = Source::stdin().map_err(|why| why.to_string())?;
        return read_all(&source).map_err(|why| why.to_string());
    }
    let mut state = SplitMix(arguments.seed);
    for (piece, bounds) in wanted {
        values.push(match piece {
            Piece::Value(value) => value.clone(),
            Piece::Random(shape, elem) => {
                let len = count(shape)?;
                let data = match bounds {
                    Some(bounds) => bounded(*elem, len, *bounds, &mut state)?,
                    None => elements(*elem, len, &mut state),
                };
                shaped(shape, data)
            }
        });
    }
    Ok(values)
}
