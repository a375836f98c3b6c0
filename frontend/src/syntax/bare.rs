//! Comparing trees by what they say, not by where it stood: for tests of the parser and the printer.

/// A tree without its spans and numbers, for comparisons.
pub fn bare(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['@', '(']) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let number =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let span = after.strip_prefix('@').and_then(|after| {
            let after = after[number(after)..].strip_prefix(':')?;
            let after = after[number(after)..].strip_prefix("..")?;
            Some(&after[number(after)..])
        });
        let id = after.strip_prefix('(').filter(|_| out.ends_with("ExpId"));
        if let Some(after) = span {
            rest = after;
        } else if let Some(after) = id {
            rest = &after[number(after)..];
        } else {
            out.push_str(&after[..1]);
            rest = &after[1..];
        }
    }
    out.push_str(rest);
    out
}
