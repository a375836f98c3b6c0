//! Literate programs: a program as Markdown, in which directives show results as values, pictures, plots, videos and sound.
//!
//! ```text
//! program ──► text, code, directives ──► Markdown
//!                         └─► values ──► files beside it, named by what they were made of
//! ```

mod audio;
mod external;
mod parse;
mod plot;
mod video;

use crate::data::{structured_text, value_text};
use crate::picture::picture;
use crate::script::{Evaluator, ScriptValue};
use crate::session::{CompileError, Program, Session};
use frontend::source::FileId;
use frontend::syntax::ast::{DecKind, ValKeyword};
use frontend::syntax::parse_program;
use midend::value::{Data, Value};
use parse::{Block, Directive, Order, What, blocks};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Where a program is, and where its files go.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The program.
    pub program: PathBuf,
    /// The directory of pictures and the like.
    pub images: PathBuf,
    /// What links to that directory begin with.
    pub link: String,
}

/// A program as Markdown.
#[derive(Clone, Debug)]
pub struct Page {
    /// The text.
    pub markdown: String,
    /// The lines of directives that failed, and why.
    pub failures: Vec<(usize, String)>,
}

/// Why there is no page.
pub enum Failure {
    /// The program cannot be compiled.
    Compile(CompileError),
    /// A directive failed, on this line.
    Directive(usize, String),
}

/// Executes the directives of a program. The first one that fails ends it if `stops` says so.
///
/// # Errors
/// What is wrong with the program, or with a directive.
pub fn page(session: &Session, text: &str, paths: &Paths, stops: bool) -> Result<Page, Failure> {
    let blocks = blocks(text);
    let orders = blocks.iter().filter_map(|block| match block {
        Block::Directive(directive) => directive.order.as_ref().ok(),
        Block::Text(_) | Block::Code(_) => None,
    });
    let names: BTreeSet<&str> = orders.flat_map(|order| order.exp.names().0).collect();
    let name = paths.program.display().to_string();
    let source = with_entries(text, &names);
    let program = session.compile(&name, &source).map_err(Failure::Compile)?;
    let folder = paths.program.parent().unwrap_or(Path::new(""));
    let mut writer = Writer {
        evaluator: Evaluator::new(&program, folder),
        fingerprint: fingerprint(&program),
        paths,
        used: BTreeSet::new(),
    };
    let mut page = Page {
        markdown: String::new(),
        failures: Vec::new(),
    };
    for block in &blocks {
        match block {
            Block::Text(text) => page.markdown.push_str(&format!("{text}\n\n")),
            Block::Code(code) => page.markdown.push_str(&fenced("futhark", code)),
            Block::Directive(directive) => {
                page.markdown.push_str(&shown(directive));
                match writer.directive(directive) {
                    Ok(text) => page.markdown.push_str(&text),
                    Err(why) if stops => return Err(Failure::Directive(directive.line, why)),
                    Err(why) => {
                        page.markdown
                            .push_str(&fenced("", &format!("error: {why}")));
                        page.failures.push((directive.line, why));
                    }
                }
            }
        }
    }
    writer.clean();
    page.markdown.truncate(page.markdown.trim_end().len());
    page.markdown.push('\n');
    Ok(page)
}

/// The program with definitions that directives name as entry points.
fn with_entries(text: &str, names: &BTreeSet<&str>) -> String {
    let mut out = text.to_owned();
    // What is wrong with it is told when it is compiled.
    let Ok(tree) = parse_program(FileId(0), text) else {
        return out;
    };
    for dec in tree.decs.iter().rev() {
        if let DecKind::Val(bind) = &dec.kind
            && matches!(bind.keyword, ValKeyword::Def | ValKeyword::Let)
            && names.contains(&*bind.name.name)
        {
            let lo = dec.span.lo as usize;
            let before = &text[lo..bind.name.span.lo as usize];
            let keyword = before.rfind("def").or_else(|| before.rfind("let"));
            if let Some(at) = keyword {
                out.replace_range(lo + at..lo + at + 3, "entry");
            }
        }
    }
    out
}

/// A number that tells programs from each other.
fn fingerprint(program: &Program) -> u64 {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    for (_, source) in program.sources().iter() {
        source.text().hash(&mut hasher);
    }
    hasher.finish()
}

/// A block of code. Its fence is longer than those inside of it.
fn fenced(language: &str, code: &str) -> String {
    let mut fence = String::from("```");
    while code.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{code}\n{fence}\n\n")
}

/// A directive as it is shown.
fn shown(directive: &Directive) -> String {
    if directive.is_covert {
        return String::new();
    }
    let count = match directive.is_brief {
        true => directive.brief_lines,
        false => directive.shown.len(),
    };
    let text = directive.shown[..count].join("\n");
    let text = match directive.is_brief {
        true => {
            let text = text.trim_end().trim_end_matches(';');
            text.replacen(":brief ", "", 1)
        }
        false => text,
    };
    fenced("", &text)
}

struct Writer<'a> {
    evaluator: Evaluator<'a, Program>,
    fingerprint: u64,
    paths: &'a Paths,
    /// The files that the page links to.
    used: BTreeSet<String>,
}

impl Writer<'_> {
    /// What a directive shows, as Markdown.
    fn directive(&mut self, directive: &Directive) -> Result<String, String> {
        let order = directive.order.as_ref().map_err(String::clone)?;
        match order.what {
            What::Value => {
                let value = self.evaluator.eval(&order.exp)?;
                Ok(fenced("", &text(value)?))
            }
            What::Image => {
                order.know(&["file"])?;
                self.picture(directive, order, "png", |writer, path| {
                    let value = writer.evaluator.eval(&order.exp)?.plain()?;
                    let mut bytes = Vec::new();
                    let picture = picture(&[value])?;
                    picture
                        .write_png(&mut bytes)
                        .map_err(|why| why.to_string())?;
                    write(path, &bytes)
                })
            }
            What::Plot => {
                order.know(&["size", "file"])?;
                let size = order.parameter("size").map_or(Ok(plot::SIZE), size)?;
                self.picture(directive, order, "svg", |writer, path| {
                    let series = plot::series(writer.evaluator.eval(&order.exp)?)?;
                    write(path, plot::svg(&series, size)?.as_bytes())
                })
            }
            What::Gnuplot => self.picture(directive, order, "png", |writer, path| {
                let value = writer.evaluator.eval(&order.exp)?;
                external::gnuplot(value, &order.parameters, path)
            }),
            What::Video => self.video(directive, order),
            What::Audio => self.audio(directive, order),
        }
    }

    fn picture(
        &mut self,
        directive: &Directive,
        order: &Order,
        extension: &str,
        make: impl FnOnce(&Self, &Path) -> Result<(), String>,
    ) -> Result<String, String> {
        let link = self.file(directive, order, extension, make)?;
        Ok(format!("![]({link})\n\n"))
    }

    fn video(&mut self, directive: &Directive, order: &Order) -> Result<String, String> {
        order.know(&["fps", "format", "repeat", "file"])?;
        let format = order.parameter("format").unwrap_or("webm");
        let formats = ["webm", "gif", "apng"];
        if !formats.contains(&format) {
            let known = formats.join(", ");
            return Err(format!(
                "there is no video format {format}; there are {known}"
            ));
        }
        let fps = order.parameter("fps").map_or(Ok(video::RATE), |fps| {
            let fps = fps.parse::<u16>().ok().filter(|fps| *fps > 0);
            fps.ok_or("fps is a positive number")
        })?;
        let repeats = match order.parameter("repeat").unwrap_or("true") {
            "true" => true,
            "false" => false,
            other => return Err(format!("repeat is true or false, not {other}")),
        };
        let extension = if format == "apng" { "png" } else { format };
        let link = self.file(directive, order, extension, |writer, path| {
            let value = writer.evaluator.eval(&order.exp)?;
            video::write(&writer.evaluator, value, path, format, fps)
        })?;
        if format != "webm" {
            return Ok(format!("![]({link})\n\n"));
        }
        let repeated = if repeats { " loop" } else { "" };
        Ok(format!(
            "<video autoplay muted{repeated}><source src=\"{link}\" type=\"video/webm\"></video>\n\n"
        ))
    }

    fn audio(&mut self, directive: &Directive, order: &Order) -> Result<String, String> {
        order.know(&["sampling_frequency", "codec", "file"])?;
        let rate = order.parameter("sampling_frequency");
        let rate = rate.map_or(Ok(audio::RATE), |rate| {
            let rate = rate
                .parse::<u32>()
                .ok()
                .filter(|r| (1..1 << 24).contains(r));
            rate.ok_or("sampling_frequency is a positive number")
        })?;
        let codec = order.parameter("codec").unwrap_or("wav");
        if !codec.chars().all(|c| c.is_ascii_alphanumeric()) || codec.is_empty() {
            return Err(format!("there is no codec {codec}"));
        }
        let link = self.file(directive, order, codec, |writer, path| {
            let value = writer.evaluator.eval(&order.exp)?.plain()?;
            let bytes = audio::wav(&value, rate)?;
            match codec {
                "wav" => write(path, &bytes),
                _ => external::encode_sound(&bytes, path),
            }
        })?;
        Ok(format!("<audio controls src=\"{link}\"></audio>\n\n"))
    }

    /// Makes a file, unless there is one that was made of the same; the link to it.
    fn file(
        &mut self,
        directive: &Directive,
        order: &Order,
        extension: &str,
        make: impl FnOnce(&Self, &Path) -> Result<(), String>,
    ) -> Result<String, String> {
        let images = &self.paths.images;
        let chosen = order
            .parameter("file")
            .filter(|_| order.what != What::Gnuplot);
        let name = match chosen {
            Some(name) => {
                let is_odd = |c: char| c.is_whitespace() || "/\\\"<>".contains(c);
                if name.is_empty() || name.starts_with('.') || name.contains(is_odd) {
                    return Err(format!("a file cannot be called `{name}`"));
                }
                name.to_owned()
            }
            None => {
                let mut hasher = DefaultHasher::new();
                (self.fingerprint, &directive.shown).hash(&mut hasher);
                format!("{:016x}.{extension}", hasher.finish())
            }
        };
        let path = images.join(&name);
        // What is read from files may have changed.
        let is_made = chosen.is_none() && !order.exp.names().1 && path.is_file();
        if !is_made {
            let cannot = |why: std::io::Error| format!("cannot write {}: {why}", path.display());
            std::fs::create_dir_all(images).map_err(cannot)?;
            // Who interrupts it leaves no half of a file.
            let part = images.join(format!(".part-{name}"));
            let made = make(self, &part);
            let moved = made.and_then(|()| std::fs::rename(&part, &path).map_err(cannot));
            if moved.is_err() {
                // It may not be there.
                let _ = std::fs::remove_file(&part);
            }
            moved?;
        }
        let link = format!("{}/{name}", self.paths.link).replace(' ', "%20");
        self.used.insert(name);
        Ok(link)
    }

    /// Removes files that earlier versions of the program have made.
    fn clean(&self) {
        let entries = std::fs::read_dir(&self.paths.images).into_iter().flatten();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.split('.').next().unwrap_or("");
            let is_ours = stem.len() == 16 && stem.chars().all(|c| c.is_ascii_hexdigit());
            if is_ours && !self.used.contains(&name) {
                // The page does not need that it is gone.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|why| format!("cannot write {}: {why}", path.display()))
}

/// `(WIDTH, HEIGHT)`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let inside = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    let numbers = inside.and_then(|inside| inside.split_once(','));
    let side = |text: &str| {
        let side = text.trim().parse::<u32>().ok();
        side.filter(|side| (100..=10_000).contains(side))
    };
    numbers
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| format!("a size is (WIDTH, HEIGHT), from 100 to 10000 each, not {text}"))
}

/// A value as text.
fn text(value: ScriptValue) -> Result<String, String> {
    Ok(match value {
        ScriptValue::Number(text) => text,
        ScriptValue::Plain(value) => value_text(&value),
        ScriptValue::Typed(ty, values) => structured_text(&ty, &values),
        ScriptValue::Tuple(parts) => {
            let parts: Result<Vec<String>, String> = parts.into_iter().map(text).collect();
            format!("({})", parts?.join(", "))
        }
        ScriptValue::Record(fields) => {
            let field = |(name, value)| Ok(format!("{name} = {}", text(value)?));
            let fields: Result<Vec<String>, String> = fields.into_iter().map(field).collect();
            format!("{{{}}}", fields?.join(", "))
        }
        ScriptValue::Function(name, _) => {
            return Err(format!("{name} is a function, which lacks arguments"));
        }
    })
}

/// The elements of an array of numbers.
fn numbers(value: &Value) -> Result<Vec<f64>, String> {
    let Value::Array(array) = value else {
        return Err(String::from("an array of numbers was expected"));
    };
    if array.shape.len() != 1 {
        return Err(String::from("an array of one dimension was expected"));
    }
    Ok(match &array.data {
        Data::I8(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::I16(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::I32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::I64(v) => v.iter().map(|x| *x as f64).collect(),
        Data::U8(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::U16(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::U32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::U64(v) => v.iter().map(|x| *x as f64).collect(),
        Data::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
        Data::F32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        Data::F64(v) => v.clone(),
        Data::Bool(_) => return Err(String::from("an array of numbers was expected")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_that_are_named_become_entry_points() {
        let text =
            "def f x = x + 1i32\n#[noinline]\nlet g = 2i32\ndef h = f g\nlocal def f = 1i32\n";
        let names = ["f", "g"].into_iter().collect();
        let wanted =
            "entry f x = x + 1i32\n#[noinline]\nentry g = 2i32\ndef h = f g\nlocal def f = 1i32\n";
        assert_eq!(with_entries(text, &names), wanted);
    }

    #[test]
    fn fences_are_longer_than_those_inside() {
        assert_eq!(fenced("", "a"), "```\na\n```\n\n");
        assert_eq!(fenced("x", "```"), "````x\n```\n````\n\n");
    }

    #[test]
    fn sizes_are_pairs() {
        assert_eq!(size("(300, 200)"), Ok((300, 200)));
        assert!(size("(0, 200)").is_err() && size("300").is_err());
    }
}
