//! The fields of records, for those who type: found in types as they are told.

/// The ways into a value of this type: `a`, `b`, `b.c` of `{a: i32, b: {c: f32}}`. None if it is no record.
pub(super) fn paths(ty: &str) -> Vec<String> {
    let Some(inside) = ty.strip_prefix('{').and_then(|ty| ty.strip_suffix('}')) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for field in split(inside) {
        if let Some((name, ty)) = field.split_once(':') {
            let name = name.trim();
            found.push(name.to_owned());
            found.extend(paths(ty.trim()).iter().map(|path| format!("{name}.{path}")));
        }
    }
    found
}

/// The parts between commas that are in no brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_however_deep() {
        let ty = "{a: i32, b: {c: (f32, {no: i32}), d: [3]bool}, e: {f: {}}}";
        assert_eq!(paths(ty), ["a", "b", "b.c", "b.d", "e", "e.f"]);
        for other in ["i32", "(x: {a: i32}) -> i32", "[]{a: i32}", "{"] {
            assert!(paths(other).is_empty(), "{other}");
        }
    }
}
