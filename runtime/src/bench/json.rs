//! What was measured, as JSON: with the keys that Futhark's `bench --json` writes, so that tools that read the one read the
//! other.
//!
//! ```text
//! { "prog.fut:entry": { "datasets": { "[10]f32": { "runtimes": [12, 13], "bytes": { "default": 80 }, ... } } } }
//! ```
//!
//! Times are whole microseconds there; ours also stand in nanoseconds. A dataset that failed is its message. Where several
//! targets were measured, the name of the program is followed by ` (target)`.

use super::{Group, Measured, Side};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Programs, their datasets, and the times of each in microseconds or why there are none.
pub type Times = BTreeMap<String, BTreeMap<String, Result<Vec<f64>, String>>>;

/// The text of a file.
pub fn write(groups: &[Group]) -> String {
    let mut programs = Map::new();
    let sides = |group: &Group| group.datasets.iter().map(|d| d.sides.len()).max();
    let several = groups.iter().filter_map(sides).max() > Some(1);
    for group in groups {
        for dataset in &group.datasets {
            for side in &dataset.sides {
                let name = if several {
                    format!("{} ({})", group.name, side.name)
                } else {
                    group.name.clone()
                };
                let program = programs.entry(name);
                let program = program.or_insert_with(|| json!({ "datasets": {} }));
                program["datasets"][&dataset.name] = result(side, dataset.size);
            }
        }
    }
    format!("{:#}\n", Value::Object(programs))
}

fn result(side: &Side, size: Option<u64>) -> Value {
    let measured = match &side.outcome {
        Ok(measured) => measured,
        Err(why) => return Value::String(why.clone()),
    };
    let whole = |unit: f64| -> Vec<u64> {
        let times = measured.times.iter();
        times.map(|time| (time * unit).round() as u64).collect()
    };
    let mut result = json!({
        "runtimes": whole(1.0),
        "nanoseconds": whole(1e3),
        "bytes": bytes(measured),
        "side": side.name,
    });
    if let Some(device) = &side.device {
        result["device"] = json!(device);
    }
    if let Some(size) = size {
        result["size"] = json!(size);
    }
    if let Some(spent) = &measured.spent {
        let guards = spent.guards.iter();
        let guards = guards.map(|(name, taken, all)| (name.clone(), json!([taken, all])));
        result["moved"] = json!(spent.moved);
        result["guards"] = Value::Object(guards.collect());
        if let Some(shares) = spent.vectors {
            let shares = shares.map(|(bits, share)| (bits.to_string(), json!(share)));
            result["vectors"] = Value::Object(shares.into_iter().collect());
        }
    }
    if let Some(note) = &measured.note {
        result["stderr"] = json!(note);
    }
    result
}

/// The most memory in use at once, by the name of the memory.
fn bytes(measured: &Measured) -> Value {
    match &measured.spent {
        Some(spent) => json!({ "default": spent.peak }),
        None => json!({}),
    }
}

/// Reads what we or Futhark wrote. The error says what is wrong with the text.
pub fn read(text: &str) -> Result<Times, String> {
    let all: Value = serde_json::from_str(text).map_err(|why| why.to_string())?;
    let mut times = Times::new();
    for (program, about) in all.as_object().ok_or("it is no object of programs")? {
        let datasets = about.get("datasets").and_then(Value::as_object);
        let datasets = datasets.ok_or_else(|| format!("{program} has no \"datasets\""))?;
        let found = times.entry(program.clone()).or_default();
        for (name, result) in datasets {
            let why = || format!("{program}, {name}: neither \"runtimes\" nor a message");
            let result = match result.as_str() {
                Some(message) => Err(message.to_owned()),
                None => Ok(runtimes(result).ok_or_else(why)?),
            };
            found.insert(name.clone(), result);
        }
    }
    Ok(times)
}

/// Times in microseconds.
fn runtimes(result: &Value) -> Option<Vec<f64>> {
    let numbers = |key: &str, unit: f64| {
        let numbers = result.get(key)?.as_array()?.iter();
        numbers
            .map(|n| Some(n.as_f64()? * unit))
            .collect::<Option<Vec<_>>>()
    };
    numbers("nanoseconds", 1e-3).or_else(|| numbers("runtimes", 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::{Dataset, Spent};
    use super::*;

    fn side(name: &str, times: &[f64]) -> Side {
        Side {
            name: name.to_owned(),
            device: Some(String::from("a CPU")),
            outcome: Ok(Measured {
                times: times.to_vec(),
                spent: Some(Spent {
                    peak: 80,
                    moved: 160,
                    guards: vec![],
                    vectors: Some([(512, 0.0), (256, 0.75), (128, 0.25)]),
                }),
                note: None,
            }),
        }
    }

    fn group(sides: Vec<Side>) -> Vec<Group> {
        vec![Group {
            name: String::from("a.fut:f"),
            datasets: vec![Dataset {
                name: String::from("[10]f32"),
                size: Some(10),
                sides,
            }],
        }]
    }

    #[test]
    fn keys_are_those_of_futhark() {
        let text = write(&group(vec![side("cpu", &[12.5, 13.0])]));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let result = &value["a.fut:f"]["datasets"]["[10]f32"];
        assert_eq!(result["runtimes"], json!([13, 13]));
        assert_eq!(result["bytes"], json!({ "default": 80 }));
        assert_eq!(result["vectors"]["256"], json!(0.75));
        assert_eq!(result["device"], json!("a CPU"));
        let times = read(&text).expect("what was written");
        assert_eq!(times["a.fut:f"]["[10]f32"], Ok(vec![12.5, 13.0]));
    }

    #[test]
    fn targets_are_told_apart() {
        let failed = Side {
            name: String::from("ptx"),
            device: None,
            outcome: Err(String::from("no GPU")),
        };
        let times = read(&write(&group(vec![side("cpu", &[1.0]), failed]))).expect("JSON");
        assert_eq!(times["a.fut:f (cpu)"]["[10]f32"], Ok(vec![1.0]));
        assert_eq!(times["a.fut:f (ptx)"]["[10]f32"], Err("no GPU".to_owned()));
    }

    #[test]
    fn a_file_of_futhark_is_read() {
        let text =
            r#"{"b.fut":{"datasets":{"x":{"runtimes":[1,2],"bytes":{},"stderr":null},"y":"bad"}}}"#;
        let times = read(text).expect("a file");
        assert_eq!(times["b.fut"]["x"], Ok(vec![1.0, 2.0]));
        assert_eq!(times["b.fut"]["y"], Err("bad".to_owned()));
        for wrong in ["1", "{\"a\": 1}", "{\"a\":{\"datasets\":{\"b\":{}}}}", "{"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
