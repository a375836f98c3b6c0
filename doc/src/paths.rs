//! Where the pages of files are: at the path of the file from the folder that has all of them.

use std::path::{Component, Path, PathBuf};

/// The paths of the pages of files, without extensions.
pub(crate) fn pages(files: &[PathBuf]) -> Vec<String> {
    let whole: Vec<Vec<String>> = files.iter().map(|file| parts(file)).collect();
    let folders = || {
        whole
            .iter()
            .map(|parts| &parts[..parts.len().saturating_sub(1)])
    };
    let shared = folders().fold(folders().next().unwrap_or(&[]), |shared, folder| {
        let same = shared.iter().zip(folder).take_while(|(a, b)| a == b);
        &shared[..same.count()]
    });
    let page = |parts: &Vec<String>| {
        let page = parts[shared.len()..].join("/");
        page.strip_suffix(".fut").unwrap_or(&page).to_owned()
    };
    whole.iter().map(page).collect()
}

/// The parts of the absolute path of a file, without `.` and `..`.
fn parts(file: &Path) -> Vec<String> {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut out = Vec::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir | Component::RootDir => {}
            Component::Normal(_) | Component::Prefix(_) => {
                out.push(part.as_os_str().to_string_lossy().into_owned());
            }
        }
    }
    out
}

/// The way from one page to another, both paths from the same folder.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    from.pop();
    let target: Vec<&str> = to.split('/').collect();
    let folders = target.len() - 1;
    let same = from.iter().zip(&target[..folders]);
    let same = same.take_while(|(a, b)| a == b).count();
    let up = "../".repeat(from.len() - same);
    let down: Vec<String> = target[same..].iter().map(|part| encoded(part)).collect();
    up + &down.join("/")
}

/// A part of a path as addresses write it.
fn encoded(part: &str) -> String {
    let mut out = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_from_the_folder_that_has_all() {
        let named = |files: &[&str]| pages(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(named(&["a/b.fut"]), ["b"]);
        assert_eq!(named(&["a/b.fut", "a/lib/c.fut"]), ["b", "lib/c"]);
        assert_eq!(named(&["a/x/b.fut", "a/x/../y/c.fut"]), ["x/b", "y/c"]);
    }

    #[test]
    fn addresses_go_up_and_down() {
        assert_eq!(relative("doc/a.html", "doc/b.html"), "b.html");
        assert_eq!(
            relative("doc/x/a.html", "src/b c.html"),
            "../../src/b%20c.html"
        );
        assert_eq!(relative("index.html", "doc/a.html"), "doc/a.html");
    }
}
