//! Lines of commands as words.

/// The words of a line: between blanks, or between double quotes.
pub(super) fn words(line: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted
                .split_once('"')
                .ok_or_else(|| String::from("a double quote is not closed"))?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_stand_between_blanks_or_quotes() {
        assert_eq!(words(" a  b\tc \r\n"), Ok(vec!["a", "b", "c"]));
        assert_eq!(
            words("new v \"{a: i32}\" \"\" x"),
            Ok(vec!["new", "v", "{a: i32}", "", "x"])
        );
        assert_eq!(words("\"a\"b"), Ok(vec!["a", "b"]));
        assert_eq!(words(""), Ok(vec![]));
        assert!(words("a \"b c").is_err());
    }
}
