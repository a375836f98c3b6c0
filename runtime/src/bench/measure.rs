//! Measuring: for each input of a program, all sides in turn.

use super::adaptive::Patience;
use super::other::{Other, Prepared, read_results};
use super::racer::{Ours, Racer, out_of_turn};
use super::worker::{Answer, Ask, cases};
use super::{Dataset, Group, Measured, Side};
use crate::compare::compare_all;
use crate::harness::load;
use crate::spec::{Case, Expect};
use midend::value::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Who runs, and what is run.
pub struct Contest {
    /// Our targets.
    pub ours: Vec<Ours>,
    /// Other programs.
    pub others: Vec<Other>,
    /// When there are enough runs.
    pub patience: Patience,
    /// For all runs of a side with one input.
    pub timeout: Option<Duration>,
    /// Only this entry point.
    pub entry: Option<String>,
    /// Inputs with one of these tags are left out.
    pub exclude: Vec<String>,
    /// The fewest runs of a turn of ours, as other programs may have several in one.
    pub turn: usize,
    /// Where there are some, only inputs with one of these tags are run.
    pub include: Vec<String>,
}

/// Tags of programs and inputs that are for tests only.
const NOT_HERE: &[&str] = &["nobench", "disable"];

/// Short runs take turns of so many microseconds.
const TURN: f64 = 1000.0;

impl Contest {
    /// Whether an input is to be measured on some target.
    fn wants(&self, case: &Case) -> bool {
        let fails = matches!(case.expect, Expect::Failure(_));
        let has = |tag: &String| case.tags.contains(tag);
        let wanted = self.include.is_empty() || self.include.iter().any(has);
        let entry = self.entry.as_ref();
        !fails
            && wanted
            && entry.is_none_or(|entry| *entry == case.entry)
            && !self.left_out(&case.tags)
    }
    fn left_out(&self, tags: &[String]) -> bool {
        tags.iter()
            .any(|tag| NOT_HERE.contains(&tag.as_str()) || self.exclude.contains(tag))
    }
}

/// Measures the inputs in the test blocks of a program; `watch` is told the name of the input and the number of runs while it
/// runs, and `done` what was measured. The error is a message for people: the program cannot be read, or no target can compile
/// it. A program without inputs is not compiled.
pub fn bench_file(
    contest: &Contest,
    path: &Path,
    watch: &mut dyn FnMut(&str, usize),
    done: &mut dyn FnMut(&str, &Dataset),
) -> Result<Vec<Group>, String> {
    let (tags, cases) = cases(path)?;
    let cases = cases.iter().enumerate();
    let cases: Vec<_> = cases
        .filter(|(_, case)| contest.wants(case) && !contest.left_out(&tags))
        .collect();
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let racers = contest.ours.iter().map(|ours| Racer::new(ours, path));
    let mut racers: Vec<Racer<'_>> = racers.collect();
    let ready: Vec<Result<(), String>> = racers.iter_mut().map(Racer::ready).collect();
    if ready.iter().all(Result::is_err)
        && let Some(Err(why)) = ready.into_iter().next()
    {
        return Err(why);
    }
    let mut groups: Vec<Group> = Vec::new();
    for (number, case) in cases {
        let file = path.display();
        let name = match case.entry.as_str() {
            "main" => file.to_string(),
            entry => format!("{file}:{entry}"),
        };
        let heat = Heat {
            contest,
            path,
            number,
            case,
            scratch: Scratch::new(),
        };
        let dataset = heat.measure(&mut racers, watch);
        done(&name, &dataset);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.datasets.push(dataset),
            None => groups.push(Group {
                name,
                datasets: vec![dataset],
            }),
        }
    }
    Ok(groups)
}

/// A directory for files that go from one process to another.
struct Scratch(PathBuf);

/// Held while such a directory is made, and from when the process is about to end.
static MAKING: Mutex<()> = Mutex::new(());

/// How often it is tried to remove one.
const ATTEMPTS: usize = 100;

/// Removes what measuring has put into the system's directory for temporary files; nothing is measured any more. For programs that
/// end in the midst of it.
pub fn clear_away() {
    let ending = MAKING.lock();
    let path = Scratch::path();
    // What is being written there just now, by a thread or a process that has not ended yet, may come behind the first look.
    for _ in 0..ATTEMPTS {
        let _ = std::fs::remove_dir_all(&path);
        if !path.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    std::mem::forget(ending);
}

impl Scratch {
    fn path() -> PathBuf {
        let name = format!("arrc-bench-{}", std::process::id());
        std::env::temp_dir().join(name)
    }
    fn new() -> Self {
        let path = Self::path();
        let _making = MAKING.lock();
        // Whoever writes into it tells if it is not there.
        let _ = std::fs::create_dir_all(&path);
        Self(path)
    }
    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind lies in the system's directory for such files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One input, for all sides.
struct Heat<'a> {
    contest: &'a Contest,
    path: &'a Path,
    /// Which of the program's test cases.
    number: usize,
    case: &'a Case,
    scratch: Scratch,
}

/// One that takes its turns.
struct Runner<'a, 'r> {
    name: String,
    device: Option<String>,
    how: How<'a, 'r>,
    spent: Duration,
    outcome: Result<Measured, String>,
}

enum How<'a, 'r> {
    Ours(&'r mut Racer<'a>),
    Other(Prepared),
}

/// What one turn gave: times in microseconds, and results, if they can be told.
type Turn = (Vec<f64>, Option<Vec<Value>>);

impl<'a> Heat<'a> {
    fn measure(&self, racers: &mut [Racer<'a>], watch: &mut dyn FnMut(&str, usize)) -> Dataset {
        let mut dataset = Dataset {
            name: self.case.dataset.clone(),
            size: None,
            sides: Vec::new(),
        };
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let expected = match &self.case.expect {
            Expect::Values(values) => Ok(Some(values.clone())),
            Expect::File(file) => load(directory, file).map(Some),
            Expect::Auto | Expect::Success | Expect::Failure(_) => Ok(None),
        };
        let (mut runners, size) = self.runners(racers);
        dataset.size = size;
        match expected {
            Ok(expected) => {
                self.warm_up(&mut runners, expected);
                self.take_turns(&mut runners, watch);
                runners.iter_mut().for_each(Runner::look_closer);
            }
            Err(why) => {
                for runner in &mut runners {
                    runner.outcome = Err(why.clone());
                }
            }
        }
        let side = |runner: Runner<'_, '_>| Side {
            name: runner.name,
            device: runner.device,
            outcome: runner.outcome,
        };
        dataset.sides = runners.into_iter().map(side).collect();
        dataset
    }

    /// All that run with this input, which they have, and its size.
    fn runners<'r>(&self, racers: &'r mut [Racer<'a>]) -> (Vec<Runner<'a, 'r>>, Option<u64>) {
        let mut runners = Vec::new();
        let (mut size, mut file) = (None, None);
        for racer in racers {
            let target = racer.ours.target;
            if self.case.tags.contains(&target.exclusion_tag()) {
                continue;
            }
            let wanted = !self.contest.others.is_empty() && file.is_none();
            let wanted = wanted.then(|| self.scratch.file("input"));
            let ask = Ask::Input(self.number, wanted.clone());
            let made = racer.ready().and_then(|()| racer.ask(&ask, None));
            let outcome = match made {
                Ok(Answer::Input(found)) => {
                    size = found;
                    file = file.or(wanted);
                    Ok(Measured::default())
                }
                Ok(_) => Err(out_of_turn()),
                Err(why) => Err(why),
            };
            runners.push(Runner {
                name: target.name().to_owned(),
                device: Some(racer.device.clone()),
                how: How::Ours(racer),
                spent: Duration::ZERO,
                outcome,
            });
        }
        for (number, other) in self.contest.others.iter().enumerate() {
            let directory = self.scratch.file(&format!("other-{number}"));
            let input = file.clone().unwrap_or_default();
            let program = (self.path, self.case.entry.as_str());
            let (prepared, outcome) = other.prepare(program, input, directory);
            runners.push(Runner {
                name: other.command.clone(),
                device: None,
                how: How::Other(prepared),
                spent: Duration::ZERO,
                outcome: outcome.map(|()| Measured::default()),
            });
        }
        (runners, size)
    }

    /// Runs everything once, and looks whether the results are right.
    fn warm_up(&self, runners: &mut [Runner<'_, '_>], mut expected: Option<Vec<Value>>) {
        // The only one's results need not be told.
        let wanted = expected.is_some() || runners.len() > 1;
        let file = wanted.then(|| self.scratch.file("results"));
        for runner in runners {
            if runner.outcome.is_err() {
                continue;
            }
            let Ok((_, results)) = runner.turn(self.contest.timeout, Want::Results(file.clone()))
            else {
                continue;
            };
            let Some(results) = results else {
                if wanted {
                    runner.note("the result was not compared");
                }
                continue;
            };
            let Some(expected) = &expected else {
                expected = Some(results);
                continue;
            };
            if let (Err(why), _) = compare_all(&results, expected) {
                match runner.how {
                    How::Ours(..) => runner.outcome = Err(format!("wrong result: {why}")),
                    // Whether it had to give the same is for the user to know.
                    How::Other(_) => runner.note(&format!("another result: {why}")),
                }
            }
        }
    }

    /// Lets those that have not run enough run in turn, until there are none.
    fn take_turns(&self, runners: &mut [Runner<'_, '_>], watch: &mut dyn FnMut(&str, usize)) {
        let patience = &self.contest.patience;
        let mut runs = 0;
        loop {
            watch(&self.case.dataset, runs);
            let mut any = false;
            for runner in &mut *runners {
                let Ok(measured) = &runner.outcome else {
                    continue;
                };
                if patience.satisfied(&measured.times) {
                    continue;
                }
                any = true;
                let times = turn(patience, &measured.times).max(self.contest.turn);
                if let Ok((times, _)) = runner.turn(self.contest.timeout, Want::Times(times))
                    && let Ok(measured) = &mut runner.outcome
                {
                    measured.times.extend(times);
                    runs = runs.max(measured.times.len());
                }
            }
            if !any {
                return;
            }
        }
    }
}

/// How many runs are a turn, after these.
fn turn(patience: &Patience, times: &[f64]) -> usize {
    let fit = times.last().map_or(1.0, |time| TURN / time.max(1.0));
    (fit as usize).clamp(1, patience.left(times.len()))
}

/// What a turn is for.
enum Want {
    /// One run, whose results go into a file if there is one.
    Results(Option<PathBuf>),
    /// The times of so many runs.
    Times(usize),
}

impl Runner<'_, '_> {
    /// Some runs. What goes wrong becomes the outcome.
    fn turn(&mut self, timeout: Option<Duration>, want: Want) -> Result<Turn, ()> {
        let left = timeout.map(|all| all.saturating_sub(self.spent));
        let start = Instant::now();
        let turn = match &mut self.how {
            How::Ours(racer) => ours(racer, left, want),
            How::Other(prepared) => {
                let started = prepared.run(left);
                started.map(|started| (started.times, started.results))
            }
        };
        self.spent += start.elapsed();
        turn.map_err(|why| self.outcome = Err(why))
    }

    fn note(&mut self, note: &str) {
        if let Ok(measured) = &mut self.outcome {
            measured.note = Some(note.to_owned());
        }
    }

    /// Runs once more to see what the runs that were timed spent memory on, and how guards chose.
    fn look_closer(&mut self) {
        if let (Ok(measured), How::Ours(racer)) = (&mut self.outcome, &mut self.how)
            && let Ok(Answer::Spent(spent)) = racer.ask(&Ask::Spend, None)
        {
            measured.spent = spent;
        }
    }
}

fn ours(racer: &mut Racer<'_>, left: Option<Duration>, want: Want) -> Result<Turn, String> {
    let seconds = left.map(|left| left.as_secs_f64());
    // A run that does not look at its clock is killed.
    let patience = left.map(|left| left + left / 2 + Duration::from_secs(5));
    let (ask, file) = match want {
        Want::Results(file) => (Ask::Try(seconds, file.clone()), file),
        Want::Times(times) => (Ask::Run(times, seconds), None),
    };
    match racer.ask(&ask, patience)? {
        Answer::Ran(times) => Ok((times, file.and_then(|file| read_results(&file)))),
        Answer::Ready(_)
        | Answer::NoDevice(_)
        | Answer::Done
        | Answer::Input(_)
        | Answer::Spent(_)
        | Answer::Failed(_)
        | Answer::Lost(_) => Err(out_of_turn()),
    }
}
