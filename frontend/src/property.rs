//! Properties: entry points with the attribute `#[prop]`, which are to hold for all arguments. `arrc test` looks for
//! arguments for which they do not.
//!
//! The attribute says how: `#[prop(gen(f), shrink(g), size(n))]`, each of the three or none.

use crate::typed::{Attr, Entry};

/// An entry point that is to be true of all its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Property {
    /// The entry point.
    pub entry: String,
    /// The entry point that makes arguments from a size and a seed, if they are not simply random.
    pub generator: Option<String>,
    /// The entry point that makes an argument smaller, given a random number.
    pub shrinker: Option<String>,
    /// The size of arguments.
    pub size: Option<i64>,
}

/// The properties among entry points: one for each attribute, so that an entry point with two is there twice.
pub fn of(entries: &[Entry]) -> Vec<Property> {
    let attributes = entries.iter().flat_map(|entry| {
        let properties = entry.attrs.iter().filter(|attr| attr.name == "prop");
        properties.map(move |attr| read(&entry.name, attr))
    });
    attributes.collect()
}

/// What one attribute says. What it cannot say has been warned of, and counts as not said.
fn read(entry: &str, attr: &Attr) -> Property {
    let mut property = Property {
        entry: entry.to_owned(),
        ..Property::default()
    };
    for argument in attr.args.iter().flatten() {
        match setting(argument) {
            Some(Setting::Generator(name)) => property.generator = Some(name),
            Some(Setting::Shrinker(name)) => property.shrinker = Some(name),
            Some(Setting::Size(size)) => property.size = Some(size),
            None => {}
        }
    }
    property
}

/// What one argument of the attribute says.
enum Setting {
    Generator(String),
    Shrinker(String),
    Size(i64),
}

/// Whether the attribute can say this.
pub(crate) fn understood(argument: &Attr) -> bool {
    setting(argument).is_some()
}

fn setting(argument: &Attr) -> Option<Setting> {
    let [inner] = argument.args.as_deref()? else {
        return None;
    };
    let value = inner.args.is_none().then_some(&inner.name)?;
    match argument.name.as_str() {
        "gen" => Some(Setting::Generator(value.clone())),
        "shrink" => Some(Setting::Shrinker(value.clone())),
        "size" => value.parse().ok().map(Setting::Size),
        _ => None,
    }
}
