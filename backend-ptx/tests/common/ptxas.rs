//! NVIDIA's assembler, brought from the Python package index once, into the target folder.
//!
//! The suite that runs the corpus includes this file, too.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The package and its version.
const PACKAGE: &str = "nvidia-cuda-nvcc==13.5.37";

/// The capabilities that kernels are assembled for.
pub(crate) const TARGETS: [u32; 3] = [75, 80, 90];

/// What a kernel takes, as the assembler says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) registers: u32,
    pub(crate) spills: u32,
    pub(crate) shared: u32,
}

/// The assembler, fetched if it is not there yet.
fn assembler() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| fetch().unwrap_or_else(|why| panic!("{why}")))
}

fn fetch() -> Result<PathBuf, String> {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = tmp.join(PACKAGE.replace("==", "-"));
    let ptxas = home.join("nvidia/cu13/bin/ptxas");
    // Tests run in several processes: one of them fetches, the others wait for it.
    fs::create_dir_all(tmp).map_err(|e| e.to_string())?;
    let lock = File::create(tmp.join("ptxas.lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    if ptxas.is_file() {
        return Ok(ptxas);
    }
    let part = tmp.join("ptxas.part");
    let _ = fs::remove_dir_all(&part);
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"])
        .arg(&part)
        .arg(PACKAGE)
        .output();
    let hint = format!(
        "the tests of the PTX back end need `python3 -m pip` and the Python package {PACKAGE}"
    );
    let pip = pip.map_err(|e| format!("{hint}: {e}"))?;
    if !pip.status.success() {
        return Err(format!("{hint}:\n{}", String::from_utf8_lossy(&pip.stderr)));
    }
    let _ = fs::remove_dir_all(&home);
    fs::rename(&part, &home).map_err(|e| e.to_string())?;
    make_executable(&ptxas).map_err(|e| format!("{}: {e}", ptxas.display()))?;
    Ok(ptxas)
}

/// Packages do not always keep the mark that a file is a program.
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Assembles a text for a capability. What was assembled before is remembered in the target folder.
pub(crate) fn assemble(text: &str, target: u32) -> Result<Usage, String> {
    let mut hasher = DefaultHasher::new();
    (text, target, PACKAGE).hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ptx");
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let name = folder.join(format!("{:016x}-{target}", hasher.finish()));
    let known = name.with_extension("log");
    if let Ok(log) = fs::read_to_string(&known) {
        return Ok(usage(&log));
    }
    // Tests that assemble the same text at once must not share a file.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let mine = name.with_extension(format!("{}-{call}.ptx", std::process::id()));
    fs::write(&mine, text).map_err(|e| e.to_string())?;
    let output = Command::new(assembler())
        .args(["-v", &format!("-arch=sm_{target}"), "-o", "/dev/null"])
        .arg(&mine)
        .output()
        .map_err(|e| e.to_string())?;
    let _ = fs::remove_file(&mine);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let log = log + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(complaints(&log, text));
    }
    let part = mine.with_extension("part");
    fs::write(&part, &log).map_err(|e| e.to_string())?;
    fs::rename(&part, &known).map_err(|e| e.to_string())?;
    Ok(usage(&log))
}

/// Assembles many texts. Those without functions go together: starting the assembler takes longer than its work.
pub(crate) fn assemble_all(texts: &[String], target: u32) -> Result<(), String> {
    let (alone, together): (Vec<&String>, Vec<&String>) =
        texts.iter().partition(|text| text.contains(".func"));
    let joined = together.chunks(100).map(joined);
    for text in alone.into_iter().cloned().chain(joined) {
        assemble(&text, target).map_err(|log| format!("sm_{target}: {log}"))?;
    }
    Ok(())
}

/// One text of several: the highest version, the target, then all kernels.
fn joined(texts: &[&String]) -> String {
    let line = |text: &str, n: usize| text.lines().nth(n).unwrap_or("").to_owned();
    let version = texts.iter().map(|t| line(t, 0)).max().unwrap_or_default();
    let mut all = vec![version, line(texts[0], 1), line(texts[0], 2)];
    for text in texts {
        all.extend(text.lines().skip(3).map(str::to_owned));
    }
    all.join("\n") + "\n"
}

/// The first complaints of the assembler, each with the line that it is about.
fn complaints(log: &str, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let about = |complaint: &str| {
        let number = complaint.split("line ").nth(1)?.split(';').next()?;
        let number: usize = number.trim().parse().ok()?;
        lines.get(number.wrapping_sub(1)).copied()
    };
    log.lines()
        .take(8)
        .map(|complaint| format!("{complaint}\n    {}\n", about(complaint).unwrap_or("")))
        .collect()
}

/// The numbers before words in the report of the assembler.
fn usage(log: &str) -> Usage {
    let before = |word: &str| {
        let at = log.find(word)?;
        log[..at].split_whitespace().last()?.parse().ok()
    };
    Usage {
        registers: before(" registers").unwrap_or(0),
        spills: before(" bytes spill stores").unwrap_or(0),
        shared: before(" bytes smem").unwrap_or(0),
    }
}
