//! Rules of the code base that a machine can keep (design section 10), so that no reviewer has to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "tidy/words.rs"]
mod words;

/// The longest source file: one subject a file, and few subjects need more. Tests may be as long as their subject.
const MAX_LINES: usize = 800;

/// Who may depend on whom (design section 3). `runtime` is the package `arrc`.
const ARROWS: &[(&str, &[&str])] = &[
    ("midend", &[]),
    ("frontend", &["midend"]),
    ("backend-cpu", &["midend"]),
    ("backend-ptx", &["midend"]),
    ("lsp", &["frontend"]),
    ("doc", &["frontend"]),
    (
        "runtime",
        &[
            "frontend",
            "lsp",
            "doc",
            "midend",
            "backend-cpu",
            "backend-ptx",
        ],
    ),
    // Random programs are planned once and compiled for several devices.
    (
        "tests",
        &["arrc", "frontend", "midend", "backend-cpu", "backend-ptx"],
    ),
    ("bench", &["arrc", "midend"]),
    ("bindings/c", &["arrc", "midend"]),
    ("bindings/python", &["arrc", "frontend", "midend"]),
];

/// Files that may hold `unsafe` code: the boundary to compiled code, to the driver of GPUs, and to memory of other libraries.
const UNSAFE: &[&str] = &[
    "backend-cpu/src/",
    "backend-ptx/src/cuda/driver",
    "bindings/c/src/",
    "bindings/python/src/",
    "runtime/tests/foreign.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests are a member of the workspace")
        .to_path_buf()
}

/// All files under version control whose name ends in `suffix`, as paths from the root with `/`.
fn tracked(suffix: &str) -> Vec<String> {
    fn walk(dir: &Path, root: &Path, suffix: &str, out: &mut Vec<String>) {
        let mut entries: Vec<_> = fs::read_dir(dir)
            .expect("a folder of the repository")
            .flatten()
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            );
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    walk(&path, root, suffix, out);
                }
            } else if name.ends_with(suffix) {
                let path = path.strip_prefix(root).expect("walked from the root");
                out.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let root = root();
    let mut out = Vec::new();
    walk(&root, &root, suffix, &mut out);
    assert!(
        !out.is_empty(),
        "no {suffix} files found under {}",
        root.display()
    );
    out
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn dependencies_follow_the_arrows() {
    let members: BTreeSet<&str> = ARROWS
        .iter()
        .map(|(member, _)| *member)
        .chain(["arrc"])
        .collect();
    for (member, allowed) in ARROWS {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let mut section = "";
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let name = line.split(['.', ' ', '=']).next().unwrap_or("");
            if section.contains("dependencies") && members.contains(name) {
                assert!(allowed.contains(&name), "{member} may not depend on {name}");
            }
        }
    }
}

#[test]
fn inside_midend_the_ir_is_at_the_bottom() {
    for path in tracked(".rs")
        .iter()
        .filter(|p| p.starts_with("midend/src/ir"))
    {
        for (number, line) in read(path).lines().enumerate() {
            let above = [
                "interp", "verify", "analysis", "passes", "pipeline", "driver", "plan", "device",
            ];
            if let Some(module) = line.trim().strip_prefix("use crate::") {
                let module = module.split("::").next().unwrap_or("");
                assert!(
                    !above.contains(&module),
                    "{path}:{}: ir imports {module}",
                    number + 1
                );
            }
        }
    }
}

#[test]
fn files_are_short() {
    let is_test = |path: &str| path.contains("/tests/") || path.starts_with("tests/suites/");
    let sources = tracked(".rs").into_iter().filter(|path| !is_test(path));
    let long: Vec<String> = sources
        .filter_map(|path| {
            let lines = read(&path).lines().count();
            (lines > MAX_LINES).then(|| format!("{path} has {lines} lines; split it by subject"))
        })
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn modules_say_what_they_are() {
    for path in tracked(".rs") {
        let text = read(&path);
        let first = text.lines().find(|l| !l.is_empty()).unwrap_or("");
        assert!(
            first.starts_with("//!"),
            "{path} does not open with a module comment"
        );
    }
}

#[test]
fn unsafe_code_stays_at_the_boundary() {
    for path in tracked(".rs") {
        let code = read(&path);
        let word = ["unsafe", " "].concat();
        for (number, line) in code.lines().enumerate() {
            let is_code = !line.trim_start().starts_with("//");
            if is_code && (line.contains(&word)) && !line.contains("#![") {
                assert!(
                    UNSAFE.iter().any(|dir| path.starts_with(dir)),
                    "{path}:{}: not at the boundary to compiled code",
                    number + 1
                );
            }
        }
    }
}

#[test]
fn tests_are_neither_ignored_nor_expected_to_panic() {
    let (ignore, panic) = (["#[", "ignore"].concat(), ["should", "_panic"].concat());
    for path in tracked(".rs") {
        let text = read(&path);
        assert!(
            !text.contains(&ignore) && !text.contains(&panic),
            "{path} ignores a test or expects a panic"
        );
    }
}

#[test]
fn readme_and_ci_agree_on_the_test_command() {
    let ci = read(".ci/run");
    let command = ci.lines().last().expect("the script is not empty");
    assert!(
        read("README.md").contains(command),
        "the README does not name `{command}`"
    );
}

#[test]
fn nothing_names_a_machine() {
    let listed = Command::new("git")
        .arg("ls-files")
        .current_dir(root())
        .output();
    let Ok(listed) = listed else { return };
    let roots = ["work", "root", "home"].map(|r| format!("/{r}/"));
    for path in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root().join(path)) else {
            continue;
        };
        for name in &roots {
            let quoted = text
                .lines()
                .find(|l| l.contains(&format!(" {name}")) || l.contains(&format!("\"{name}")));
            assert!(
                quoted.is_none(),
                "{path} names a path of some machine: {}",
                quoted.unwrap_or("")
            );
        }
    }
}

#[test]
fn the_table_of_what_covers_the_language_names_programs() {
    let page = read("docs/coverage.md");
    let rows = page.lines().filter(|l| l.starts_with("| ")).skip(1);
    let mut count = 0;
    for row in rows {
        let row = row.replace("\\|", " ");
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [construct, programs, wrong] = cells[..] else {
            panic!("a row has three cells: {row}");
        };
        assert!(programs.contains('`'), "no program covers {construct}");
        for (folder, cell) in [("tests/programs", programs), ("tests/errors", wrong)] {
            for name in cell.split('`').skip(1).step_by(2) {
                let path = format!("{folder}/{name}.fut");
                assert!(root().join(&path).is_file(), "there is no {path}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "the table names {count} programs");
}

#[test]
fn the_architecture_page_names_files_that_are_there() {
    let page = read("docs/architecture.md");
    let crates = [
        "frontend",
        "midend",
        "backend-cpu",
        "backend-ptx",
        "runtime",
    ];
    let mut count = 0;
    for path in page.split('`').skip(1).step_by(2) {
        let is_path = path.ends_with(".rs") || path.ends_with('/') || path.ends_with(".pest");
        if !is_path || path.contains("NAME") {
            continue;
        }
        let sources = crates.map(|name| root().join(name).join("src").join(path));
        let is_there = root().join(path).exists() || sources.iter().any(|file| file.exists());
        assert!(
            is_there,
            "docs/architecture.md names {path}, which is not there"
        );
        count += 1;
    }
    assert!(count > 60, "the page names {count} files");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for page in tracked(".md") {
        let text = read(&page);
        let folder = Path::new(&page).parent().unwrap_or(Path::new(""));
        for target in text.split("](").skip(1) {
            let target = target.split(')').next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            let is_local = !target.is_empty() && !target.contains("://");
            let is_file = is_local && (target.ends_with(".md") || target.ends_with(".rs"));
            let path = root().join(folder).join(target);
            assert!(!is_file || path.exists(), "{page} links to {target}");
        }
    }
}
