//! A campaign: very many programs, on all cores.
//!
//! Programs are tried in processes of their own, some at a time, so that code that crashes or never ends takes nothing with it
//! but its process. A worker tells on its standard output what it does, a line each:
//!
//! ```text
//! try 17                                     the program of seed 17 comes next
//! ran 17 1 0 0 94 fuse/map-map=2 +ptx-emu    it went well; nested, not ragged, no tables, 94 runs, with the rules used, on these targets
//! found 17                                   it did not, and is being made smaller
//! ```
//!
//! What came of it so far is written to `summary.txt` beside the reports while the campaign runs.

use super::{BUDGET, Trials, Tried, check, check_source, shrunk, unwound};
use crate::extents::Extents;
use crate::generate::program;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many programs a process tries.
const CHUNK: u64 = 100;
/// A program that takes longer is a finding.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a program may be made smaller.
const SHRINKING: Duration = Duration::from_secs(120);
/// How often what came of the campaign so far is written.
const SUMMARY: Duration = Duration::from_secs(60);

/// What to try.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The first seed.
    pub first: u64,
    /// How many programs.
    pub programs: u64,
    /// How many processes at once.
    pub jobs: usize,
    /// No program is begun after this time.
    pub limit: Duration,
    /// Arguments that make this executable a worker, before its first and last seed.
    pub worker: Vec<String>,
    /// Where reports of findings go.
    pub reports: PathBuf,
}

/// What came of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs that went well.
    pub programs: u64,
    /// Those that hold operators in operators.
    pub nested: u64,
    /// Those that become operations over rows of different lengths.
    pub ragged: u64,
    /// Those that read something from tables.
    pub tables: u64,
    /// How many runs were compared.
    pub runs: u64,
    /// How many programs were tried on each target, and in each way.
    pub on: BTreeMap<String, u64>,
    /// How often each rule of the compiler was used.
    pub counts: BTreeMap<String, u64>,
    /// How many programs each rule was used in.
    pub used: BTreeMap<String, u64>,
    /// The seeds of the others, with what happened.
    pub findings: BTreeMap<u64, String>,
}

/// Tries the programs of seeds in a range, and tells about it.
pub fn work(first: u64, end: u64, trials: Trials, reports: &Path) -> io::Result<()> {
    if let Some(cases) = trials.extents {
        return work_on_extents(first..end, cases, reports);
    }
    for seed in first..end {
        tell(&format!("try {seed}"))?;
        if trials.of_source() {
            match unwound(|| check_source(seed, BUDGET, trials)).and_then(|result| result) {
                Ok(tried) => tell(&ran(seed, &tried))?,
                Err(error) => {
                    fs::write(
                        reports.join(format!("{seed}.txt")),
                        smallest(seed, trials, error),
                    )?;
                    tell(&format!("found {seed}"))?;
                }
            }
            continue;
        }
        let program = program(seed, BUDGET);
        let result = unwound(|| check(&program, seed, trials)).and_then(|result| result);
        match result {
            Ok(tried) => tell(&ran(seed, &tried))?,
            Err(error) => {
                let report = reports.join(format!("{seed}.txt"));
                fs::write(&report, &error)?;
                tell(&format!("found {seed}"))?;
                fs::write(&report, shrunk(program, seed, trials, error))?;
            }
        }
    }
    Ok(())
}

/// The same for programs whose sizes overflow. What is tried is written down before, for code that takes its process with it.
fn work_on_extents(seeds: Range<u64>, cases: u64, reports: &Path) -> io::Result<()> {
    let extents = Extents::new().map_err(io::Error::other)?;
    for seed in seeds {
        tell(&format!("try {seed}"))?;
        let report = reports.join(format!("{seed}.txt"));
        let mut about = |text: &str| {
            // A campaign goes on without.
            let _ = fs::write(&report, text);
        };
        let result = unwound(|| extents.check(seed, cases, &mut about));
        match result.and_then(|result| result) {
            Ok(tried) => {
                fs::remove_file(&report)?;
                tell(&ran(seed, &tried))?;
            }
            Err(error) => {
                fs::write(&report, &error)?;
                tell(&format!("found {seed}"))?;
            }
        }
    }
    Ok(())
}

/// What is wrong with the smallest program of the seed that fails.
fn smallest(seed: u64, trials: Trials, error: String) -> String {
    let kind = error.split(':').next().unwrap_or_default().to_owned();
    let mut errors = (1..BUDGET).filter_map(|budget| {
        let result = unwound(|| check_source(seed, budget, trials)).and_then(|result| result);
        result.err().filter(|why| why.starts_with(&kind))
    });
    errors.next().unwrap_or(error)
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The line of a program that went well.
fn ran(seed: u64, tried: &Tried) -> String {
    let [nested, ragged, tables] = [tried.nested, tried.ragged, tried.tables].map(u8::from);
    let mut line = format!("ran {seed} {nested} {ragged} {tables} {}", tried.runs);
    for (rule, count) in &tried.counts {
        line.push_str(&format!(" {rule}={count}"));
    }
    for place in &tried.on {
        line.push_str(&format!(" +{}", place.replace(' ', "_")));
    }
    line
}

impl Tally {
    /// Adds what the line of a program that went well says, without its first word.
    fn add(&mut self, line: &str) {
        let mut words = line.split(' ').skip(1);
        let mut flag = || u64::from(words.next() == Some("1"));
        (self.nested, self.ragged) = (self.nested + flag(), self.ragged + flag());
        self.tables += flag();
        self.programs += 1;
        let runs = words.next().and_then(|word| word.parse::<u64>().ok());
        self.runs += runs.unwrap_or(0);
        for word in words {
            if let Some(place) = word.strip_prefix('+') {
                *self.on.entry(place.replace('_', " ")).or_default() += 1;
            }
            let Some((rule, count)) = word.rsplit_once('=') else {
                continue;
            };
            let count: u64 = count.parse().unwrap_or(0);
            *self.counts.entry(rule.into()).or_default() += count;
            *self.used.entry(rule.into()).or_default() += 1;
        }
    }

    /// What came of it in some time.
    pub fn text(&self, time: Duration) -> String {
        let share = |count: u64| 100.0 * count as f64 / self.programs.max(1) as f64;
        let mut text = format!(
            "{} programs without a disagreement, {:.0} % nested, {:.0} % ragged, {:.1} % with tables; {} findings\n",
            self.programs,
            share(self.nested),
            share(self.ragged),
            share(self.tables),
            self.findings.len()
        );
        let seconds = time.as_secs_f64();
        let rate = self.programs as f64 / seconds;
        text.push_str(&format!(
            "{seconds:.0} s, {rate:.1} programs a second, {} runs compared to the bit\n\n",
            self.runs
        ));
        if !self.on.is_empty() {
            text.push_str("| where | programs |\n|---|---|\n");
            for (place, count) in &self.on {
                text.push_str(&format!("| {place} | {count} |\n"));
            }
            text.push('\n');
        }
        text.push_str("| rule | used | in programs |\n|---|---|---|\n");
        for (rule, count) in &self.counts {
            text.push_str(&format!("| `{rule}` | {count} | {} |\n", self.used[rule]));
        }
        for (seed, what) in &self.findings {
            text.push_str(&format!("\nseed {seed}: {what}\n"));
        }
        text
    }
}

impl Campaign {
    /// Runs it.
    pub fn run(&self) -> io::Result<Tally> {
        fs::create_dir_all(&self.reports)?;
        let start = Instant::now();
        let tally = Mutex::new(Tally::default());
        let next = AtomicU64::new(self.first);
        let end = self.first + self.programs;
        let summarize = || {
            let text = locked(&tally).text(start.elapsed());
            fs::write(self.reports.join("summary.txt"), text)
        };
        let (running, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while ended.recv_timeout(SUMMARY) == Err(RecvTimeoutError::Timeout) {
                    // Another one follows.
                    let _ = summarize();
                }
            });
            let jobs: Vec<_> = (0..self.jobs.max(1))
                .map(|_| {
                    scope.spawn(|| {
                        while start.elapsed() < self.limit {
                            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
                            if first >= end {
                                break;
                            }
                            self.chunk(first, end.min(first + CHUNK), start, &tally)?;
                        }
                        Ok(())
                    })
                })
                .collect();
            let mut jobs = jobs.into_iter();
            let result = jobs.try_for_each(|job| {
                job.join()
                    .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
            });
            drop(running);
            result
        })?;
        summarize()?;
        Ok(tally.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tries some programs, in a new process after each that ended its own.
    fn chunk(
        &self,
        mut first: u64,
        end: u64,
        start: Instant,
        tally: &Mutex<Tally>,
    ) -> io::Result<()> {
        while first < end && start.elapsed() < self.limit {
            let mut child = Command::new(std::env::current_exe()?)
                .args(&self.worker)
                .args([first.to_string(), end.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()?;
            first = self.listen(&mut child, end, start, tally);
            // It has ended already, or is of no more use.
            let _ = child.kill();
            let _ = child.wait();
        }
        Ok(())
    }

    /// Follows a worker to its end; the seed to go on with.
    fn listen(&self, child: &mut Child, end: u64, start: Instant, tally: &Mutex<Tally>) -> u64 {
        let (send, lines) = mpsc::channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let (mut at, mut trying, mut patience) = (end, false, PATIENCE);
        loop {
            match lines.recv_timeout(patience) {
                Ok(line) => {
                    let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                    let seed = rest.split(' ').next().and_then(|seed| seed.parse().ok());
                    at = seed.unwrap_or(at);
                    trying = word == "try";
                    patience = PATIENCE;
                    if word == "ran" {
                        locked(tally).add(rest);
                    } else if word == "found" {
                        locked(tally).findings.insert(at, "found".into());
                        patience = SHRINKING;
                    }
                    if trying && start.elapsed() > self.limit {
                        return end;
                    }
                }
                Err(_) if !trying => return at + 1,
                Err(error) => {
                    let what = match error {
                        RecvTimeoutError::Timeout => "takes too long",
                        RecvTimeoutError::Disconnected => "ended its process",
                    };
                    locked(tally).findings.insert(at, what.into());
                    return at + 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midend::fired::Counts;
    use std::collections::BTreeSet;

    #[test]
    fn what_a_worker_tells_is_understood() {
        let tried = Tried {
            nested: true,
            ragged: false,
            tables: true,
            counts: Counts::from([("fuse/map-map", 2), ("inline/call", 1)]),
            runs: 94,
            on: BTreeSet::from(["ptx-emu, each guard".into()]),
        };
        let line = ran(17, &tried);
        assert_eq!(
            line,
            "ran 17 1 0 1 94 fuse/map-map=2 inline/call=1 +ptx-emu,_each_guard"
        );
        let mut tally = Tally::default();
        for _ in 0..2 {
            tally.add(line.trim_start_matches("ran "));
        }
        assert_eq!((tally.programs, tally.nested, tally.ragged), (2, 2, 0));
        assert_eq!(tally.counts["fuse/map-map"], 4);
        assert_eq!(tally.used["fuse/map-map"], 2);
        tally.findings.insert(18, "takes too long".into());
        assert_eq!(
            tally.text(Duration::from_secs(4)),
            "2 programs without a disagreement, 100 % nested, 0 % ragged, 100.0 % with tables; 1 findings\n\
             4 s, 0.5 programs a second, 188 runs compared to the bit\n\n\
             | where | programs |\n|---|---|\n| ptx-emu, each guard | 2 |\n\n\
             | rule | used | in programs |\n|---|---|---|\n\
             | `fuse/map-map` | 4 | 2 |\n| `inline/call` | 2 | 2 |\n\n\
             seed 18: takes too long\n"
        );
    }
}
