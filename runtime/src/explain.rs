//! What error codes mean: the sections of the error index.

use frontend::diagnostic::Code;

/// The page that has a section for every code.
const PAGE: &str = include_str!("../../docs/errors.md");

/// The section of a code.
pub(crate) fn section(code: Code) -> &'static str {
    let head = format!("## {code}\n\n");
    let Some((_, from)) = PAGE.split_once(&head) else {
        return code.summary();
    };
    from.split_once("\n## ")
        .map_or(from, |(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_section() {
        for code in Code::ALL {
            assert!(section(*code).starts_with(code.summary()), "{code}");
            assert!(!section(*code).contains("## "), "{code}");
        }
    }
}
