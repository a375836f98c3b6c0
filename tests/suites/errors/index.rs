//! `docs/errors.md`: one section per code, made of the programs in `tests/errors`.

use super::{Marked, codes_of, compile, programs, title};
use frontend::diagnostic::Code;
use libtest_mimic::Failed;
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# Error codes

What the codes in the compiler's messages mean, each with a program that is wrong in this way and what the compiler says about it.
`arrc explain CODE` prints a section of this page.

<!-- Made from tests/errors by `ARRC_BLESS=1 cargo test -p arrc-tests --test errors`; do not edit. -->
";

/// Where the page is.
pub(crate) const PATH: &str = "docs/errors.md";

/// Compares the page with what it should be.
pub(crate) fn test(root: &Path) -> Result<(), Failed> {
    let found = fs::read_to_string(root.join(PATH)).unwrap_or_default();
    if found == page(root)? {
        Ok(())
    } else {
        Err("docs/errors.md is out of date; ARRC_BLESS=1 writes it".into())
    }
}

/// What the page should be.
pub(crate) fn page(root: &Path) -> std::io::Result<String> {
    let folder = &root.join("tests/errors");
    let mut examples: Vec<(Code, String)> = Vec::new();
    for path in programs(folder) {
        let text = fs::read_to_string(&path)?;
        let marked = Marked::parse(&text);
        let codes = codes_of(&marked);
        // A program with one code shows that one best.
        if let [code] = codes.as_slice() {
            let name = title(&path, folder);
            examples.push((*code, example(&name, &marked.program)));
        }
    }
    let mut page = HEAD.to_owned();
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.as_str());
    for code in codes {
        page.push_str(&format!("\n## {code}\n\n{}\n", code.summary()));
        let own = examples.iter().filter(|(of, _)| *of == code);
        let mut own: Vec<&str> = own.map(|(_, text)| text.as_str()).collect();
        // Short ones show best what it is about.
        own.sort_by_key(|text| text.len());
        own.into_iter().take(2).for_each(|text| page.push_str(text));
    }
    Ok(page)
}

/// A program, with the comment at its head as text, and what the compiler says.
fn example(name: &str, program: &str) -> String {
    let about: Vec<&str> = program
        .lines()
        .map_while(|l| l.strip_prefix("-- "))
        .collect();
    let rest: Vec<&str> = program.lines().skip(about.len()).collect();
    let rest = rest.join("\n");
    let said = compile(&format!("{name}.fut"), &format!("{}\n", rest.trim_end())).rendered();
    format!(
        "\n{}\n\n```futhark\n{}\n```\n\n```text\n{}\n```\n",
        about.join("\n"),
        rest.trim(),
        said.trim_end()
    )
}
