//! Commands: inputs that begin with a colon.

use super::{Repl, Reply, picture, times};
use crate::passes::{no_pass, pass_names};
use crate::session::{Options, Session};
use crate::target::Target;
use frontend::diagnostic::Code;
use midend::driver::{DumpAfter, Event, Settings as Passes};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The names of commands, what they take, and what they do.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("help", "", "this list"),
    ("quit", "", "ends the session; so does Ctrl-D"),
    (
        "load",
        "FILE",
        "defines what a file defines, and forgets all else",
    ),
    (
        "reload",
        "",
        "reads the loaded file again; definitions stay",
    ),
    (
        "type",
        "EXPRESSION",
        "the type of an expression, without running it",
    ),
    (
        "info",
        "[NAME]",
        "the types of what has been defined, or of one name",
    ),
    (
        "time",
        "EXPRESSION",
        "the value, and how long it took to compile and to run",
    ),
    (
        "show",
        "EXPRESSION",
        "a matrix as a picture, as wide as the terminal",
    ),
    (
        "target",
        "[NAME]",
        "what programs run on, or runs them on another target",
    ),
    (
        "ir",
        "PASS EXPRESSION",
        "the program after a pass of the compiler, or after `all`",
    ),
    (
        "ptx",
        "EXPRESSION",
        "the kernels for NVIDIA GPUs that the expression becomes",
    ),
    ("explain", "CODE", "what an error code means"),
    (
        "set",
        "[NAME VALUE]",
        "the settings, or sets one: items, time, threads",
    ),
];

impl Repl {
    pub(super) fn command(&mut self, name: &str, rest: &str) -> Reply {
        let found: Vec<&str> = COMMANDS
            .iter()
            .map(|(known, ..)| *known)
            .filter(|known| known.starts_with(name))
            .collect();
        let name = match found.as_slice() {
            [one] => one,
            several if several.contains(&name) => name,
            [] => return Err(format!("there is no command :{name}; :help lists them\n")),
            several => {
                return Err(format!(":{name} may be :{}\n", several.join(" or :")));
            }
        };
        match name {
            "help" => Ok(help()),
            "load" => self.load(rest),
            "reload" => self.reload(),
            "type" => self.type_of(rest),
            "info" => self.info(rest),
            "time" => self.timed(rest),
            "show" => self.show(rest),
            "target" => self.set_target(rest),
            "ir" => self.ir(rest),
            "ptx" => self.ptx(rest),
            "explain" => explain(rest),
            "set" => self.set(rest),
            // Whoever reads lines looks for this one.
            _ => Ok(String::new()),
        }
    }

    fn load(&mut self, rest: &str) -> Reply {
        let path = PathBuf::from(rest.trim_matches('"'));
        if path.extension().is_none_or(|e| e != "fut") || !path.is_file() {
            return Err(format!(
                "there is no program {}: `:load FILE.fut`\n",
                path.display()
            ));
        }
        let file = self.file.replace(path);
        let definitions = std::mem::take(&mut self.definitions);
        let loaded = self.info("");
        if loaded.is_err() {
            self.file = file;
            self.definitions = definitions;
        }
        self.kept.clear();
        loaded
    }

    fn reload(&mut self) -> Reply {
        self.kept.clear();
        match &self.file {
            Some(file) => {
                let text = format!("{}\n", file.display());
                self.checked("").map(|_| text)
            }
            None => Err("no file is loaded: `:load FILE.fut`\n".to_owned()),
        }
    }

    fn type_of(&self, rest: &str) -> Reply {
        wanted(rest)?;
        let checked = self.checked(&format!("def it =\n{rest}"))?;
        let ty = checked.values().into_iter().next_back();
        Ok(ty.map_or(String::new(), |(_, ty, _)| format!("{ty}\n")))
    }

    /// What is defined, in the order of definition.
    fn info(&self, name: &str) -> Reply {
        if !name.is_empty() {
            return Ok(format!("{name} : {}", self.type_of(name)?));
        }
        let mut out = String::new();
        for (name, ty) in self.defined()? {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name} : {ty}");
        }
        Ok(out)
    }

    fn timed(&mut self, rest: &str) -> Reply {
        wanted(rest)?;
        let done = self.run(rest)?;
        let value = crate::data::fitted_text(&done.ty, &done.values, self.settings.items);
        Ok(format!("{value}\n{}", times(&done)))
    }

    fn show(&mut self, rest: &str) -> Reply {
        wanted(rest)?;
        let done = self.run(rest)?;
        picture::text(&done.values, self.settings.width).map_err(|why| format!("{why}\n"))
    }

    fn set_target(&mut self, rest: &str) -> Reply {
        if !rest.is_empty() {
            let target: Target = rest.parse().map_err(|why| format!("{why}\n"))?;
            self.open(Options {
                target,
                ..self.session.options().clone()
            })?;
        }
        let target = self.session.options().target;
        Ok(format!("{target}: {}\n", target.summary()))
    }

    /// Goes on with other options. What was compiled is for the old ones.
    fn open(&mut self, options: Options) -> Result<(), String> {
        self.session = Session::new(options).map_err(|why| format!("{why}\n"))?;
        self.kept.clear();
        Ok(())
    }

    fn ir(&self, rest: &str) -> Reply {
        let (pass, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        wanted(text)?;
        let dump_after = match pass {
            "all" => DumpAfter::All,
            name if pass_names().any(|known| known == name) => {
                DumpAfter::Named(vec![name.to_owned()])
            }
            name => return Err(format!("{}\n", no_pass(name, ""))),
        };
        let options = Options {
            // The interpreter runs programs as they were written, without any pass.
            target: Target::Cpu,
            passes: Passes {
                dump_after,
                ..Passes::default()
            },
            ..self.session.options().clone()
        };
        let told = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&told);
        let session = Session::observed(options, move |event| {
            if let Event::Dump { pass, text, .. } = event {
                let text = text.unwrap_or("no change");
                let mut told = sink.lock().unwrap_or_else(PoisonError::into_inner);
                // Writing to a string cannot fail.
                let _ = writeln!(told, "; after {pass}\n{text}");
            }
        });
        let session = session.map_err(|why| format!("{why}\n"))?;
        self.compile_in(&session, text)?;
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(told.clone())
    }

    fn ptx(&self, rest: &str) -> Reply {
        wanted(rest)?;
        let session = Session::new(Options {
            target: Target::PtxEmu,
            ..self.session.options().clone()
        });
        let program = self.compile_in(&session.map_err(|why| format!("{why}\n"))?, rest)?;
        let texts = program.kernel_texts(75);
        Ok(texts.into_iter().map(|(_, text)| text + "\n").collect())
    }

    fn set(&mut self, rest: &str) -> Reply {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |text: &str| {
            let number = text.parse::<usize>().ok().filter(|n| *n > 0);
            number.ok_or_else(|| format!("{text} is no positive number\n"))
        };
        match words.as_slice() {
            [] => {}
            ["items", n] => self.settings.items = number(n)?,
            ["time", "on"] => self.settings.time = true,
            ["time", "off"] => self.settings.time = false,
            ["threads", n] => {
                let threads = Some(number(n)?.min(1024));
                self.open(Options {
                    threads,
                    ..self.session.options().clone()
                })?;
            }
            _ => return Err("settings are `items N`, `time on` or `off`, `threads N`\n".to_owned()),
        }
        let Settings {
            items,
            time,
            threads,
        } = Settings {
            items: self.settings.items,
            time: if self.settings.time { "on" } else { "off" },
            threads: self
                .session
                .options()
                .threads
                .map_or("one per core".to_owned(), |n| n.to_string()),
        };
        Ok(format!("items {items}\ntime {time}\nthreads {threads}\n"))
    }
}

/// The settings as they are told.
struct Settings {
    items: usize,
    time: &'static str,
    threads: String,
}

fn wanted(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("an expression is wanted\n".to_owned());
    }
    Ok(())
}

fn help() -> String {
    let mut out = String::from(
        "An expression is evaluated; definitions (`def f x = x + 1`) are kept. An input goes on on the next line where it\n\
         breaks off, until a blank line at the latest. Commands may be shortened:\n",
    );
    for (name, takes, does) in COMMANDS {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {:<24} {does}", format!(":{name} {takes}"));
    }
    out
}

fn explain(rest: &str) -> Reply {
    let code = rest.to_ascii_uppercase();
    match Code::ALL.iter().find(|known| known.as_str() == code) {
        Some(code) => Ok(format!(
            "{code}: {}\n",
            crate::explain::section(*code).trim_end()
        )),
        None => Err(format!("there is no error code {rest}\n")),
    }
}
