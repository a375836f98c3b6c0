//! What other programs make: gnuplot and ffmpeg.

use super::plot::columns;
use super::write;
use crate::script::ScriptValue;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that is removed in the end.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// A directory beside a file.
    pub(super) fn beside(path: &Path) -> Result<Self, String> {
        let mut name = path.as_os_str().to_owned();
        name.push(".d");
        let folder = PathBuf::from(name);
        std::fs::create_dir_all(&folder)
            .map_err(|why| format!("cannot write {}: {why}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a program, which must succeed.
pub(super) fn run(command: &mut Command, hint: &str) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|why| {
        if why.kind() == ErrorKind::NotFound {
            return format!("{name} is not installed\nhint: {hint}");
        }
        format!("cannot run {name}: {why}")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!("{name} failed:\n{}", last.join("\n")))
}

/// A plot that a script of gnuplot draws. The fields of a record are files of columns, in variables of their names.
pub(super) fn gnuplot(value: ScriptValue, script: &[String], path: &Path) -> Result<(), String> {
    let ScriptValue::Record(fields) = value.open() else {
        return Err(String::from("gnuplot needs a record of tuples of arrays"));
    };
    let folder = Folder::beside(path)?;
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "''"));
    let mut text = format!("set term png size 800,600\nset output {}\n", quoted(path));
    for (name, value) in fields {
        let columns = columns(value).map_err(|why| format!("{name}: {why}"))?;
        let mut data = String::new();
        for row in 0..columns.first().map_or(0, Vec::len) {
            let cells: Vec<String> = columns.iter().map(|c| c[row].to_string()).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(data, "{}", cells.join(" "));
        }
        let file = folder.0.join(&name);
        write(&file, data.as_bytes())?;
        let _ = writeln!(text, "{name} = {}", quoted(&file));
    }
    text.push_str(&script.join("\n"));
    text.push('\n');
    let file = folder.0.join("script.gp");
    write(&file, text.as_bytes())?;
    run(
        Command::new("gnuplot").arg(&file),
        "`:plot2d` draws lines without it",
    )
}

/// Sound in another format than WAV, which the end of the path says.
pub(super) fn encode_sound(wav: &[u8], path: &Path) -> Result<(), String> {
    let folder = Folder::beside(path)?;
    let input = folder.0.join("sound.wav");
    write(&input, wav)?;
    let mut command = Command::new("ffmpeg");
    command.args(["-y", "-i"]).arg(&input).arg(path);
    run(&mut command, "the codec wav needs no other program")
}
