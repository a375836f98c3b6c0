//! Commands: inputs that begin with a colon.

use super::{BEFORE, Repl, Reply, Settings, Told, picture, times};
use crate::passes::{no_pass, pass_names};
use crate::session::{Options, Session};
use crate::target::Target;
use frontend::diagnostic::Code;
use midend::driver::{DumpAfter, Event, Settings as Passes};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// An input that begins with a colon.
pub struct Command {
    /// What follows the colon; it may be shortened.
    pub name: &'static str,
    /// What it takes.
    takes: &'static str,
    does: &'static str,
    act: fn(&mut Repl, &str) -> Reply,
}

const fn command(
    name: &'static str,
    takes: &'static str,
    does: &'static str,
    act: fn(&mut Repl, &str) -> Reply,
) -> Command {
    Command {
        name,
        takes,
        does,
        act,
    }
}

/// All commands.
pub const COMMANDS: &[Command] = &[
    command("help", "", "this list", |_, _| Ok(help().into())),
    command(
        "quit",
        "",
        "ends the session; so does Ctrl-D",
        // Whoever reads lines looks for this one.
        |_, _| Ok(Told::default()),
    ),
    command(
        "load",
        "FILE",
        "defines what a file defines, and forgets all else",
        Repl::load,
    ),
    command(
        "reload",
        "",
        "reads the loaded file again; definitions stay",
        |repl, _| repl.reload(),
    ),
    command(
        "type",
        "EXPRESSION",
        "the type of an expression, without running it",
        |repl, rest| Ok(repl.type_of(rest)?.into()),
    ),
    command(
        "info",
        "[NAME]",
        "the types of what has been defined, or of one name",
        |repl, rest| Ok(repl.info(rest)?.into()),
    ),
    command(
        "time",
        "EXPRESSION",
        "the value, and how long it took to compile and to run",
        Repl::timed,
    ),
    command(
        "show",
        "EXPRESSION",
        "a matrix as a picture, as large as the terminal",
        Repl::show,
    ),
    command(
        "target",
        "[NAME]",
        "what programs run on, or runs them on another target",
        Repl::set_target,
    ),
    command(
        "ir",
        "PASS EXPRESSION",
        "the program after a pass of the compiler, or after `all`",
        |repl, rest| repl.ir(rest),
    ),
    command(
        "ptx",
        "EXPRESSION",
        "the kernels for NVIDIA GPUs that the expression becomes",
        |repl, rest| repl.kernels(rest, Target::PtxEmu),
    ),
    command(
        "asm",
        "EXPRESSION",
        "the machine code that the expression becomes on this CPU",
        |repl, rest| repl.kernels(rest, Target::Cpu),
    ),
    command("explain", "CODE", "what an error code means", |_, rest| {
        explain(rest)
    }),
    command(
        "set",
        "[NAME VALUE]",
        "the settings, or sets one: items, time, threads",
        Repl::set,
    ),
];

impl Repl {
    pub(super) fn command(&mut self, name: &str, rest: &str) -> Reply {
        let found: Vec<&Command> = COMMANDS
            .iter()
            .filter(|known| known.name.starts_with(name))
            .collect();
        match found.as_slice() {
            [one] => (one.act)(self, rest),
            [] => Err(format!("there is no command :{name}; :help lists them\n")),
            several => match several.iter().find(|known| known.name == name) {
                Some(exact) => (exact.act)(self, rest),
                None => {
                    let names: Vec<&str> = several.iter().map(|known| known.name).collect();
                    Err(format!(":{name} may be :{}\n", names.join(" or :")))
                }
            },
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
        let loaded = self.warnings().and_then(|warnings| {
            let text = self.info("")?;
            Ok(Told { text, warnings })
        });
        if loaded.is_err() {
            self.file = file;
            self.definitions = definitions;
        }
        self.kept.clear();
        self.names = None;
        loaded
    }

    /// What is doubtful about the loaded file and the definitions.
    fn warnings(&self) -> Result<String, String> {
        let checked = self.checked("", "")?;
        Ok(self.render(checked.loader, &checked.warnings))
    }

    fn reload(&mut self) -> Reply {
        self.kept.clear();
        self.names = None;
        match &self.file {
            Some(file) => Ok(Told {
                text: format!("{}\n", file.display()),
                warnings: self.warnings()?,
            }),
            None => Err("no file is loaded: `:load FILE.fut`\n".to_owned()),
        }
    }

    fn type_of(&self, rest: &str) -> Result<String, String> {
        wanted(rest)?;
        let checked = self.checked(BEFORE, rest)?.program;
        let ty = checked.values().into_iter().next_back();
        Ok(ty.map_or(String::new(), |(_, ty, _)| format!("{ty}\n")))
    }

    /// What is defined, in the order of definition.
    fn info(&self, name: &str) -> Result<String, String> {
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
        Ok(format!("{}{}", self.value_text(&done), times(&done)).into())
    }

    fn show(&mut self, rest: &str) -> Reply {
        wanted(rest)?;
        let done = self.run(rest)?;
        let Settings {
            width,
            height,
            layout,
            ..
        } = self.settings;
        let height = if layout {
            height.saturating_sub(3)
        } else {
            usize::MAX
        };
        match picture::text(&done.values, (width, height)) {
            Ok(text) => Ok(text.into()),
            Err(why) => Err(format!("{why}\n")),
        }
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
        Ok(format!("{target}: {}\n", target.summary()).into())
    }

    /// Opens the device again if it is lost, or goes on without it; tells which.
    pub(super) fn begin_anew(&mut self) -> String {
        if !self.session.is_lost() {
            return String::new();
        }
        let options = self.session.options().clone();
        let on_cpu = Options {
            target: Target::Cpu,
            ..options.clone()
        };
        // The driver forgets what went wrong when nobody has to do with the GPU any more.
        if let Err(why) = self.open(on_cpu) {
            return why;
        }
        match Session::new(options) {
            Ok(session) if !session.is_lost() => {
                self.session = session;
                String::from(
                    "The GPU has failed, and was opened again. What was defined still is.\n",
                )
            }
            Ok(_) | Err(_) => String::from(
                "The GPU has failed, and the driver refuses it to this process from now on: programs run on the CPU. To use it \
                 again, begin a new session.\n",
            ),
        }
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
        Ok(told.clone().into())
    }

    /// The texts of the kernels that an expression becomes.
    fn kernels(&self, rest: &str, target: Target) -> Reply {
        wanted(rest)?;
        let session = Session::new(Options {
            target,
            keep_assembly: true,
            ..self.session.options().clone()
        });
        let program = self.compile_in(&session.map_err(|why| format!("{why}\n"))?, rest)?;
        let texts = program.kernel_texts(75).into_iter();
        let texts: String = match target {
            Target::Cpu => texts
                .map(|(name, text)| format!("; {name}\n{text}\n"))
                .collect(),
            Target::Auto | Target::Ptx | Target::PtxEmu | Target::Interp => {
                texts.map(|(_, text)| text + "\n").collect()
            }
        };
        if texts.is_empty() {
            return Ok(String::from("no kernels: it is done by the host\n").into());
        }
        Ok(texts.into())
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
        let items = self.settings.items;
        let time = if self.settings.time { "on" } else { "off" };
        let threads = match self.session.options().threads {
            Some(n) => n.to_string(),
            None => "one per core".to_owned(),
        };
        Ok(format!("items {items}\ntime {time}\nthreads {threads}\n").into())
    }
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
    for command in COMMANDS {
        let usage = format!(":{} {}", command.name, command.takes);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {usage:<24} {}", command.does);
    }
    out
}

fn explain(rest: &str) -> Reply {
    let code = rest.to_ascii_uppercase();
    match Code::ALL.iter().find(|known| known.as_str() == code) {
        Some(code) => Ok(format!("{code}: {}\n", crate::explain::section(*code).trim_end()).into()),
        None => Err(format!("there is no error code {rest}\n")),
    }
}
