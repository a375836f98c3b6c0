//! Checks programs and prints what is wrong: `check FILE..`, or counts over a directory of test programs: `check --suite DIR`.
#![allow(
    clippy::print_stdout,
    reason = "printing is the purpose of the example"
)]

use frontend::diagnostic::Diagnostic;
use frontend::source::{FileId, SourceMap};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Disk {
    sources: SourceMap,
    paths: BTreeMap<PathBuf, FileId>,
    dirs: BTreeMap<FileId, PathBuf>,
}

impl Disk {
    fn open(&mut self, path: &Path) -> Result<FileId, String> {
        let path = path.canonicalize().map_err(|e| e.to_string())?;
        if let Some(id) = self.paths.get(&path) {
            return Ok(*id);
        }
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let id = self.sources.add(path.display().to_string(), text);
        self.paths.insert(path.clone(), id);
        self.dirs
            .insert(id, path.parent().unwrap_or(Path::new(".")).to_owned());
        Ok(id)
    }
}

impl frontend::Loader for Disk {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, from: FileId, path: &str) -> Result<FileId, String> {
        let dir = self.dirs.get(&from).cloned().unwrap_or_default();
        self.open(&dir.join(format!("{path}.fut")))
    }
}

fn check(path: &Path) -> (bool, Vec<Diagnostic>, SourceMap) {
    let mut disk = Disk::default();
    let file = match disk.open(path) {
        Ok(file) => file,
        Err(why) => {
            println!("{}: {why}", path.display());
            return (false, Vec::new(), disk.sources);
        }
    };
    let result = if std::env::var_os("LOWER").is_some() {
        frontend::compile(file, &mut disk).map(|compiled| compiled.warnings)
    } else {
        frontend::check(file, &mut disk).map(|(_, warnings)| warnings)
    };
    let (ok, diags) = match result {
        Ok(warnings) => (true, warnings),
        Err(diags) => (false, diags),
    };
    (ok, diags, disk.sources)
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "fut") {
            out.push(path);
        }
    }
}

fn is_negative(text: &str) -> bool {
    let mut lines = text.lines().skip_while(|l| l.trim_end() != "-- ==").skip(1);
    lines
        .by_ref()
        .take_while(|l| l.starts_with("--"))
        .map(|l| l.trim_start_matches('-').trim())
        .find(|l| !l.is_empty() && !l.starts_with("tags"))
        .is_some_and(|l| l.starts_with("error:"))
}

fn suite(dir: &Path) {
    let mut files = Vec::new();
    walk(dir, &mut files);
    let (mut right, mut wrong) = ([0, 0], [0, 0]);
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let negative = is_negative(&text);
        let path_in = path.clone();
        let result = std::thread::Builder::new()
            .stack_size(16 << 20)
            .spawn(move || check(&path_in))
            .expect("a thread starts")
            .join();
        let name = path
            .strip_prefix(dir)
            .unwrap_or(&path)
            .display()
            .to_string();
        let Ok((ok, diags, sources)) = result else {
            println!("PANIC {name}");
            wrong[usize::from(negative)] += 1;
            continue;
        };
        if ok == negative {
            wrong[usize::from(negative)] += 1;
            if negative {
                println!("ACCEPTED {name}");
            } else {
                let d = diags.iter().find(|d| d.is_error());
                let at = d.map_or_else(String::new, |d| sources.location(d.primary.span));
                let at = at.rsplit('/').next().unwrap_or("").to_owned();
                println!(
                    "REJECTED {name}: {at} {}",
                    d.map_or_else(String::new, |d| format!(
                        "{} {} {:?}",
                        d.code, d.message, d.notes
                    ))
                );
            }
        } else {
            right[usize::from(negative)] += 1;
            if negative && std::env::var_os("SHOW").is_some() {
                let d = diags.iter().find(|d| d.is_error());
                println!(
                    "ok {name}: {}",
                    d.map_or_else(String::new, |d| format!(
                        "{} {} {:?}",
                        d.code, d.message, d.notes
                    ))
                );
            }
        }
    }
    println!(
        "accepted as they should be: {} of {}",
        right[0],
        right[0] + wrong[0]
    );
    println!(
        "rejected as they should be: {} of {}",
        right[1],
        right[1] + wrong[1]
    );
}

fn main() {
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--suite" {
            suite(Path::new(&args.next().unwrap_or_default()));
        } else {
            let (ok, diags, sources) = check(Path::new(&arg));
            for d in diags {
                println!(
                    "{}: {} {}",
                    sources.location(d.primary.span),
                    d.code,
                    d.message
                );
                d.notes
                    .iter()
                    .for_each(|n| println!("  note: {}", n.text()));
            }
            println!("{arg}: {}", if ok { "ok" } else { "rejected" });
        }
    }
}
