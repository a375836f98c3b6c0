//! What was measured, as text for people: a line for each side.

use super::{Dataset, Measured, Side, Spent};
use crate::text::{bytes, table};

/// The lines on one input, each column as wide as it must be. Ratios are to the first side that has times.
pub fn dataset_text(dataset: &Dataset) -> String {
    let first = dataset.sides.iter().find_map(median);
    let mut rows = Vec::new();
    for side in &dataset.sides {
        rows.push(match &side.outcome {
            Ok(measured) => row(&side.name, measured, first),
            Err(_) => vec![side.name.clone(), String::from("failed")],
        });
    }
    let mut text = format!("  {}\n", dataset.name);
    for line in table(&rows) {
        text.push_str(&format!("    {line}\n"));
    }
    for side in &dataset.sides {
        let below = match &side.outcome {
            Ok(measured) => below(measured),
            Err(why) => vec![why.trim_end().replace('\n', "\n      ")],
        };
        for line in below {
            text.push_str(&format!("      {}: {line}\n", side.name));
        }
    }
    text
}

fn median(side: &Side) -> Option<f64> {
    Some(side.outcome.as_ref().ok()?.summary()?.median)
}

fn row(name: &str, measured: &Measured, first: Option<f64>) -> Vec<String> {
    let Some(summary) = measured.summary() else {
        return vec![name.to_owned()];
    };
    let mut row = vec![
        name.to_owned(),
        time(summary.median),
        format!("[{}, {}]", time(summary.low), time(summary.high)),
        format!("{} runs", summary.runs),
        first.map_or_else(String::new, |first| ratio(summary.median / first)),
    ];
    if let Some(spent) = &measured.spent {
        row.push(rate(spent.moved, summary.median));
        row.push(format!("{} at the peak", bytes(spent.peak)));
    }
    row
}

/// A multiple of a time; that of much less has more digits.
fn ratio(ratio: f64) -> String {
    if ratio < 0.1 {
        format!("{ratio:.4}x")
    } else {
        format!("{ratio:.2}x")
    }
}

/// So many bytes in so many microseconds, as bytes in a second.
fn rate(bytes: u64, micros: f64) -> String {
    // Bytes in a microsecond are megabytes in a second.
    let megabytes = bytes as f64 / micros;
    if megabytes < 100.0 {
        format!("{megabytes:.1} MB/s")
    } else {
        format!("{:.1} GB/s", megabytes / 1e3)
    }
}

/// What else there is to say.
fn below(measured: &Measured) -> Vec<String> {
    let versions = measured.spent.as_ref().and_then(versions);
    versions.into_iter().chain(measured.note.clone()).collect()
}

/// How guards chose, if there are any.
fn versions(spent: &Spent) -> Option<String> {
    let guards = spent.guards.iter().map(|(threshold, taken, all)| {
        if taken == all {
            format!("{threshold} yes")
        } else if *taken == 0 {
            format!("{threshold} no")
        } else {
            format!("{threshold} {taken} of {all}")
        }
    });
    let guards: Vec<_> = guards.collect();
    (!guards.is_empty()).then(|| guards.join(", "))
}

/// Microseconds in the unit that suits them.
fn time(micros: f64) -> String {
    match micros {
        0.0..1e3 => format!("{micros:.1} us"),
        1e3..1e6 => format!("{:.3} ms", micros / 1e3),
        _ => format!("{:.3} s", micros / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_told_in_a_smaller_unit() {
        assert_eq!(rate(2000, 100.0), "20.0 MB/s");
        assert_eq!(rate(2_000_000, 100.0), "20.0 GB/s");
        assert_eq!(["0.0034x", "0.50x"], [0.003_44, 0.5].map(ratio));
    }

    #[test]
    fn sides_stand_below_each_other() {
        let guard = |place: &str, taken| (format!("{place}:outer"), taken, 2);
        let side = |name: &str, outcome| Side {
            name: name.to_owned(),
            device: None,
            outcome,
        };
        let ours = Measured {
            times: vec![100.0, 110.0, 120.0],
            spent: Some(Spent {
                peak: 1 << 20,
                moved: 1_100_000,
                guards: vec![guard("main:1", 2), guard("main:2", 0), guard("main:3", 1)],
                vectors: None,
            }),
            note: None,
        };
        let theirs = Measured {
            times: vec![1_100_000.0],
            note: Some(String::from("the result was not compared")),
            ..Measured::default()
        };
        let dataset = Dataset {
            name: String::from("[10]f32"),
            size: Some(10),
            sides: vec![
                side("cpu", Ok(ours)),
                side("interp", Err(String::from("out of time"))),
                side("./other", Ok(theirs)),
            ],
        };
        assert_eq!(
            dataset_text(&dataset),
            concat!(
                "  [10]f32\n",
                "    cpu      110.0 us  [100.0 us, 120.0 us]  3 runs      1.00x  10.0 GB/s  1048.6 kB at the peak\n",
                "    interp     failed\n",
                "    ./other   1.100 s    [1.100 s, 1.100 s]  1 runs  10000.00x\n",
                "      cpu: main:1:outer yes, main:2:outer no, main:3:outer 1 of 2\n",
                "      interp: out of time\n",
                "      ./other: the result was not compared\n",
            )
        );
    }
}
