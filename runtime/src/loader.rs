//! Source files: the program, and what it imports. All reading of source text happens here.

use frontend::source::{FileId, SourceMap};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Sources are numbered by 32-bit offsets; a longer file cannot be a program.
const MAX_BYTES: u64 = 1 << 30;

/// Finds and reads source files.
#[derive(Clone, Debug, Default)]
pub struct FileLoader {
    sources: SourceMap,
    /// The number of each file that has been read, by its normalised path.
    known: BTreeMap<PathBuf, FileId>,
    /// Where each file lies; files that are only text lie in the working directory.
    paths: BTreeMap<FileId, PathBuf>,
    /// Tuning parameters and their values.
    parameters: BTreeMap<String, i64>,
    /// Whether what is traced in parallel operations is shown.
    interprets: bool,
}

impl FileLoader {
    /// A loader that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }
    /// What has been read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
    /// What has been read, to add to.
    pub fn sources_mut(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    /// What has been read, without the loader.
    pub fn into_sources(self) -> SourceMap {
        self.sources
    }
    /// Says that the program is for the interpreter, which shows what is traced in parallel operations and computes gradients.
    pub fn interpret(&mut self) {
        self.interprets = true;
    }
    /// Reads a file by its path. The error is one sentence.
    pub fn read(&mut self, path: &Path) -> Result<FileId, String> {
        let path = normal(path);
        if let Some(file) = self.known.get(&path) {
            return Ok(*file);
        }
        let text = read_text(&path)?;
        let file = self.sources.add(path.display().to_string(), text);
        self.known.insert(path.clone(), file);
        self.paths.insert(file, path);
        Ok(file)
    }
    /// Reads the tuning parameters of a program: lines `name=value` in the file beside it that is called like it with
    /// `.tuning` at the end. Lines that say something else are not about parameters; often there is no such file.
    pub fn read_tuning(&mut self, program: &Path) {
        let mut name = program.as_os_str().to_owned();
        name.push(".tuning");
        let text = std::fs::read_to_string(Path::new(&name)).unwrap_or_default();
        for line in text.lines() {
            if let Some((name, value)) = line.split_once('=')
                && let Ok(value) = value.trim().parse()
            {
                self.parameters.insert(name.trim().to_owned(), value);
            }
        }
    }
    /// Adds a text under a name; what it imports is looked for from the directory of that name.
    pub fn add_text(&mut self, name: &str, text: &str) -> FileId {
        self.add_text_behind(name, "", text)
    }
    /// The same of a text behind lines that nobody wrote, which do not count in messages.
    pub(crate) fn add_text_behind(&mut self, name: &str, lines: &str, text: &str) -> FileId {
        let file = self.sources.add_behind(name, lines, text);
        let path = normal(Path::new(name));
        self.known.insert(path.clone(), file);
        self.paths.insert(file, path);
        file
    }
    /// Reads what `import "path"` means in the file `from`: the file with `.fut` at the end, relative to the directory
    /// of `from`; a path that begins with `/lib/` may also lie in a directory `lib` above.
    pub fn import(&mut self, from: FileId, path: &str) -> Result<FileId, String> {
        if path.is_empty() || path.contains('\0') {
            return Err(format!("{path:?} is no path of a file"));
        }
        let importer = self.paths.get(&from).cloned().unwrap_or_default();
        let directory = importer.parent().unwrap_or(Path::new("")).to_path_buf();
        let relative = PathBuf::from(format!("{}.fut", path.trim_start_matches('/')));
        let candidates = if path.starts_with('/') {
            directory
                .ancestors()
                .map(|above| above.join(&relative))
                .collect()
        } else {
            vec![directory.join(&relative)]
        };
        let is_there = |path: &&PathBuf| self.known.contains_key(&normal(path)) || path.is_file();
        match candidates.iter().find(is_there) {
            Some(found) => self.read(found),
            None => Err(format!(
                "there is no file {}",
                normal(&candidates[0]).display()
            )),
        }
    }
}

impl frontend::Loader for FileLoader {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, from: FileId, path: &str) -> Result<FileId, String> {
        self.import(from, path)
    }
    fn parameters(&self) -> BTreeMap<String, i64> {
        self.parameters.clone()
    }
    fn traces_in_parallel(&self) -> bool {
        self.interprets
    }
    fn computes_gradients(&self) -> bool {
        self.interprets
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let cannot = |why: &dyn std::fmt::Display| format!("cannot read {}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|e| cannot(&e))?.len();
    if length > MAX_BYTES {
        return Err(cannot(&"it is too long for a program"));
    }
    let bytes = std::fs::read(path).map_err(|e| cannot(&e))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        cannot(&format!("it is not UTF-8 text (at byte {at})"))
    })
}

/// The path without `.` and, where that is safe, without `..`, so that one file has one name.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_number() {
        let directory = std::env::temp_dir().join(format!("arrc-loader-{}", std::process::id()));
        std::fs::create_dir_all(directory.join("lib/x")).expect("a temporary directory");
        std::fs::write(directory.join("a.fut"), "def a = 1").expect("written");
        std::fs::write(directory.join("lib/x/b.fut"), "def b = 1").expect("written");
        let mut loader = FileLoader::new();
        let main = loader.add_text(
            &directory.join("main.fut").display().to_string(),
            "import \"a\"",
        );
        let a = loader.import(main, "a");
        assert!(a.is_ok());
        assert_eq!(loader.import(main, "./lib/../a"), a);
        let b = loader
            .import(main, "lib/x/b")
            .expect("there is such a file");
        assert_eq!(loader.import(b, "../../a"), a);
        assert_eq!(loader.import(b, "/lib/x/b"), Ok(b), "found above");
        let missing = loader.import(main, "missing");
        assert!(missing.is_err_and(|why| why.ends_with("missing.fut")));
        std::fs::remove_dir_all(&directory).expect("removed");
    }
}
