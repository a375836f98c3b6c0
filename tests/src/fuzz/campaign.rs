//! Runs a fuzzing campaign: for some seconds in an ordinary test, for `ARRC_FUZZ_SECONDS` when that is set.
//!
//! Findings are panics, complaints of the check, and cases that take too long. They are shrunk and kept in
//! `target/fuzz`; a long campaign goes on after the first. What a process dies of (a stack overflow) or hangs in is in
//! `target/fuzz/NAME.current`. `ARRC_FUZZ_CASE=FILE` tries that file alone.

use super::super::generate::Random;
use super::shrink::shrink;
use cpu_time::ThreadTime;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A case that takes longer is a finding.
const PATIENCE: Duration = Duration::from_secs(2);

/// A case that takes longer ends the process.
const HANGS: Duration = Duration::from_secs(60);

/// What is fuzzed, and how.
pub struct Campaign<'a> {
    /// The name, for files and messages.
    pub name: &'static str,
    /// How many cases an ordinary test tries.
    pub quick: u64,
    /// Makes a case.
    pub make: &'a dyn Fn(&mut Random) -> Vec<u8>,
    /// Tries a case: whether the input was accepted, or what is wrong with how it was treated.
    pub check: &'a dyn Fn(&[u8]) -> Result<bool, String>,
}

/// What came of a campaign.
#[derive(Debug, Default)]
struct Report {
    cases: u64,
    accepted: u64,
    slowest: Duration,
    /// By what is the same about findings of one cause: how often, and where the first is kept.
    findings: BTreeMap<String, (u64, PathBuf)>,
}

impl Campaign<'_> {
    /// Runs the campaign.
    ///
    /// # Panics
    /// With the list of findings, if there are some; also if hardly any case was accepted, since then nothing but the
    /// first steps of the work was tried.
    pub fn run(&self) {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let seconds = number("ARRC_FUZZ_SECONDS");
        let first = number("ARRC_SEED").unwrap_or(0) << 40;
        let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz");
        let current = place.join(format!("{}.current", self.name));
        let watch = seconds.map(|_| Watch::start(self.name));
        if seconds.is_some() {
            std::fs::create_dir_all(&place).expect("the folder of findings can be made");
        }
        if let Some(path) = std::env::var_os("ARRC_FUZZ_CASE") {
            let case = std::fs::read(path).expect("the case can be read");
            let outcome = (self.check)(&case);
            assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
            return;
        }
        let mut report = Report::default();
        while report.cases < self.quick || Instant::now() < end {
            let case = (self.make)(&mut Random::new(first + report.cases));
            if let Some(watch) = &watch {
                std::fs::write(&current, &case).expect("the case can be written down");
                watch.begin();
            }
            self.try_case(&case, &place, &mut report);
        }
        drop(watch);
        report.print(self.name);
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        assert!(report.accepted * 200 > report.cases, "{report:?}");
    }

    fn try_case(&self, case: &[u8], place: &Path, report: &mut Report) {
        // Others may keep the machine busy: what counts is the time that this thread works.
        let start = ThreadTime::now();
        let outcome = self.outcome(case);
        let time = start.elapsed();
        report.cases += 1;
        report.slowest = report.slowest.max(time);
        let finding = match outcome {
            Ok(_) if time > PATIENCE => String::from("slow"),
            Ok(accepted) => {
                report.accepted += u64::from(accepted);
                return;
            }
            Err(finding) => finding,
        };
        let count = report.findings.len();
        if let Some((times, _)) = report.findings.get_mut(&finding) {
            *times += 1;
            return;
        }
        std::fs::create_dir_all(place).expect("the folder of findings can be made");
        let path = place.join(format!("{}-{count}.txt", self.name));
        let kept = if finding == "slow" {
            case.to_vec()
        } else {
            let same = |bytes: &[u8]| self.outcome(bytes).is_err_and(|other| other == finding);
            shrink(case.to_vec(), &same)
        };
        std::fs::write(&path, kept).expect("the finding can be written down");
        report.findings.insert(finding, (1, path));
    }

    /// Whether the case was accepted; otherwise what is the same about all cases that go wrong like it.
    fn outcome(&self, case: &[u8]) -> Result<bool, String> {
        remember_places();
        let result = catch_unwind(AssertUnwindSafe(|| (self.check)(case)));
        match result {
            Ok(outcome) => outcome.map_err(|why| general(&why)),
            Err(_) => Err(LAST_PANIC.with_borrow_mut(std::mem::take)),
        }
    }
}

impl Report {
    #[allow(
        clippy::print_stdout,
        reason = "how far a long campaign came is what one runs it for"
    )]
    fn print(&self, name: &str) {
        println!(
            "{name}: {} cases, {} accepted, the slowest took {:?}, {} findings",
            self.cases,
            self.accepted,
            self.slowest,
            self.findings.len()
        );
        for (finding, (times, path)) in &self.findings {
            println!("{times} times: {finding}: {}", path.display());
        }
    }
}

/// The first line of a message, without numbers.
fn general(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let text: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
    text.chars().take(160).collect()
}

thread_local! {
    /// Place and message of the last panic of this thread.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes panics tell where they happened.
fn remember_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info
                .location()
                .map(|at| format!("{}:{}", at.file(), at.line()));
            let message = general(info.payload_as_str().unwrap_or_default());
            let text = format!("panic at {}: {message}", place.unwrap_or_default());
            LAST_PANIC.set(text);
            if !std::thread::current()
                .name()
                .unwrap_or_default()
                .starts_with("arrc")
            {
                before(info);
            }
        }));
    });
}

/// Ends the process when a case does not end.
struct Watch {
    start: Instant,
    /// When the current case began, in milliseconds since the start; 0 when it is over.
    began: Arc<AtomicU64>,
}

impl Watch {
    fn start(name: &'static str) -> Self {
        let (start, began) = (Instant::now(), Arc::new(AtomicU64::new(0)));
        let seen = Arc::downgrade(&began);
        std::thread::spawn(move || {
            while let Some(began) = seen.upgrade() {
                let began = began.load(Ordering::Relaxed);
                let now = start.elapsed();
                if began > 0 && now > Duration::from_millis(began) + HANGS {
                    // The only way to stop a thread that does not end by itself.
                    let text = format!("{name} hangs on target/fuzz/{name}.current\n");
                    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        Self { start, began }
    }

    fn begin(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.began.store(now.max(1), Ordering::Relaxed);
    }
}
