//! Runs passes: counts, times, dumps and verifies them, and blames the one that broke the program.
//!
//! A program that was verified is not verified again, and a pass that left a program as it is does not run on it again: what a pass
//! makes depends on the program and the options alone. Programs are compared by [fingerprints](Fingerprint).
//!
//! The driver does no I/O and reads no clock: the caller hands in a clock and takes what there is to tell as events.

use crate::hash::Fingerprint;
use crate::ir::print;
use crate::ir::syntax::Program;
use crate::pass::{Options, Pass, PassCx, Remark};
use crate::verify::{self, Fault, Verify};
use std::time::Duration;

/// What to tell and where to stop.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What passes read.
    pub options: Options,
    /// After which passes to dump the program.
    pub dump_after: DumpAfter,
    /// Run only this many of the passes that can be left out (lowerings cannot).
    pub pass_limit: Option<usize>,
}

impl Settings {
    /// Whether all passes are run.
    pub fn is_whole(&self) -> bool {
        self.pass_limit.is_none() && self.options.without.is_empty()
    }
}

/// After which passes to dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DumpAfter {
    /// After none.
    #[default]
    None,
    /// After every pass.
    All,
    /// After passes of these names; `start` is the program before the first.
    Named(Vec<String>),
}

/// Something that the driver tells.
#[derive(Debug)]
pub enum Event<'e> {
    /// A pass was run.
    Ran {
        /// Its place among all, from 1.
        number: usize,
        /// Its name.
        pass: &'static str,
        /// How long the pass took.
        time: Duration,
        /// How long it took to verify what it made.
        verify: Duration,
    },
    /// A pass was left out, as the settings say.
    Skipped {
        /// Its name.
        pass: &'static str,
    },
    /// The program after a pass.
    Dump {
        /// The place of the pass among all, from 1; 0 for the program before the first.
        number: usize,
        /// Its name.
        pass: &'static str,
        /// The text of the program, or nothing if the pass changed nothing.
        text: Option<&'e str>,
    },
    /// A pass has something to say.
    Remark(&'e Remark),
}

/// A pass broke the program: a bug in the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The name of the pass, `start` for what made the program.
    pub pass: &'static str,
    /// Its place among all, from 1.
    pub number: usize,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// The program that it made.
    pub text: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "internal error: invalid program after `{}` (pass {})",
            self.pass, self.number
        )?;
        for fault in self.faults.iter().take(10) {
            write!(f, "\n  {fault}")?;
        }
        match self.faults.len() {
            0..=10 => Ok(()),
            n => write!(f, "\n  and {} more", n - 10),
        }
    }
}

impl std::error::Error for Broken {}

/// The name under which the program before the first pass is dumped and blamed.
pub const START: &str = "start";

/// Runs passes.
pub struct Driver<'a> {
    settings: &'a Settings,
    clock: &'a dyn Fn() -> Duration,
    tell: &'a mut dyn FnMut(Event<'_>),
    number: usize,
    optional: usize,
    /// The last program that was verified.
    verified: Option<Fingerprint>,
    /// Passes that left a program as it is, with that program.
    settled: Vec<(&'static str, Fingerprint)>,
    /// The text after the last pass, if it was wanted.
    last: Option<String>,
}

impl<'a> Driver<'a> {
    /// A driver that has run nothing yet. `clock` yields the time since some moment.
    pub fn new(
        settings: &'a Settings,
        clock: &'a dyn Fn() -> Duration,
        tell: &'a mut dyn FnMut(Event<'_>),
    ) -> Self {
        Self {
            settings,
            clock,
            tell,
            number: 0,
            optional: 0,
            verified: None,
            settled: Vec::new(),
            last: None,
        }
    }

    /// Verifies and dumps a program that no pass has made.
    pub fn start<D: Verify>(&mut self, program: &Program<D>) -> Result<(), Broken> {
        self.check(START, program, fingerprint(program))?;
        self.dump(START, program);
        Ok(())
    }

    /// Runs a pass that must run.
    pub fn run<From: Verify, To: Verify>(
        &mut self,
        pass: &Pass<From, To>,
        program: Program<From>,
    ) -> Result<Program<To>, Broken> {
        let before = fingerprint(&program);
        self.step(pass, program, before).map(|(program, _)| program)
    }

    /// Runs a pass on a program with this fingerprint. Yields that of what it made, too.
    fn step<From: Verify, To: Verify>(
        &mut self,
        pass: &Pass<From, To>,
        program: Program<From>,
        before: Fingerprint,
    ) -> Result<(Program<To>, Fingerprint), Broken> {
        self.number += 1;
        let mut remarks = Vec::new();
        let start = (self.clock)();
        let program = (pass.run)(
            program,
            &mut PassCx {
                options: &self.settings.options,
                remarks: &mut remarks,
            },
        );
        let ran = (self.clock)();
        let after = fingerprint(&program);
        self.check(pass.name, &program, after)?;
        if before == after {
            self.settled.push((pass.name, after));
        }
        let verified = (self.clock)();
        remarks.iter().for_each(|r| (self.tell)(Event::Remark(r)));
        (self.tell)(Event::Ran {
            number: self.number,
            pass: pass.name,
            time: ran.saturating_sub(start),
            verify: verified.saturating_sub(ran),
        });
        self.dump(pass.name, &program);
        Ok((program, after))
    }

    /// Runs passes that can be left out.
    pub fn run_all<D: Verify>(
        &mut self,
        passes: &[Pass<D>],
        mut program: Program<D>,
    ) -> Result<Program<D>, Broken> {
        let mut at = fingerprint(&program);
        for pass in passes {
            self.optional += 1;
            let settings = self.settings;
            if settings
                .pass_limit
                .is_some_and(|limit| self.optional > limit)
                || settings.options.is_without(pass.name)
            {
                (self.tell)(Event::Skipped { pass: pass.name });
                continue;
            }
            if self.settled.contains(&(pass.name, at)) {
                self.number += 1;
                (self.tell)(Event::Ran {
                    number: self.number,
                    pass: pass.name,
                    time: Duration::ZERO,
                    verify: Duration::ZERO,
                });
                self.dump(pass.name, &program);
                continue;
            }
            (program, at) = self.step(pass, program, at)?;
        }
        Ok(program)
    }

    /// Verifies a program with this fingerprint, unless it is the one that was verified last.
    fn check<D: Verify>(
        &mut self,
        pass: &'static str,
        program: &Program<D>,
        fingerprint: Fingerprint,
    ) -> Result<(), Broken> {
        if self.verified == Some(fingerprint) {
            return Ok(());
        }
        verify::program(program).map_err(|faults| Broken {
            pass,
            number: self.number,
            faults,
            text: print::program(program),
        })?;
        self.verified = Some(fingerprint);
        Ok(())
    }

    fn dump<D: Verify>(&mut self, pass: &'static str, program: &Program<D>) {
        let wanted = match &self.settings.dump_after {
            DumpAfter::None => return,
            DumpAfter::All => true,
            DumpAfter::Named(names) => names.iter().any(|name| name == pass),
        };
        // The text before is needed to know whether a pass changed something.
        let text = print::program(program);
        if wanted {
            let changed = self.last.as_ref() != Some(&text);
            (self.tell)(Event::Dump {
                number: self.number,
                pass,
                text: changed.then_some(&text),
            });
        }
        self.last = Some(text);
    }
}

/// What tells a program from others: its dialect and all of it but where its statements came from is written down.
fn fingerprint<D: Verify>(program: &Program<D>) -> Fingerprint {
    Fingerprint::of(&(D::NAME, &program.vars, &program.funs))
}
