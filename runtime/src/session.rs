//! Sessions: compiling programs and calling their entry points.

mod auto;
mod compile;
mod costs;
mod engine;
mod format;
mod resident;
mod stack;
mod times;

pub use auto::{Accelerator, Choice};
use compile::Front;
pub(crate) use compile::no_gradients;
pub use compile::{CompileError, Reading};
pub use costs::{Ceilings, Kept, Store, measure_costs};
pub(crate) use engine::kernel_store;
pub use format::{Formatted, format_file, format_text};
pub use resident::{HostArray, Resident};
pub use stack::on_big_stack;
pub use times::{CompileTimes, PassTime};

use crate::data::structured_text;
use crate::loader::FileLoader;
use crate::target::Target;
use engine::{Call, Devices, Engine};
use frontend::Heading;
use frontend::diagnostic::Diagnostic;
use frontend::property::Property;
use frontend::source::{FileId, SourceMap};
use frontend::typed::Attr;
use midend::device::Stop;
use midend::driver::{Event, Settings};
use midend::interp;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Entry, EntryType, Program as Ir};
use midend::ir::threshold::{Forced, Threshold};
use midend::plan::{Counts, Profile};
use midend::stream::Outside;
use midend::trap::RunError;
use midend::value::Value;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// How a session compiles and runs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What programs run on.
    pub target: Target,
    /// The number of the GPU, for the targets that run on one.
    pub device: usize,
    /// What [`Target::Auto`] chooses between beside the CPU; by default the GPU, if there is a driver of one.
    pub accelerator: Option<Accelerator>,
    /// Threads for parallel work; by default one per core.
    pub threads: Option<usize>,
    /// Bits of the widest vector registers that the CPU uses: 128, 256 or 512; by default the widest that it has. Results are the
    /// same.
    pub vector_bits: Option<u32>,
    /// Bytes that the arrays of a run may occupy at once.
    pub memory_limit: Option<u64>,
    /// Whether chunks of sequences leave room within the limit for all else that the process has.
    pub limits_process: bool,
    /// The elements of sequences that are worked on at once; by default what was found to be fast.
    pub chunk: Option<i64>,
    /// The most lane-instructions of a call on the emulator.
    pub cap: Option<u64>,
    /// What thresholds are to be instead of what the device takes.
    pub thresholds: Forced,
    /// The only entry point that is going to be called, if it is known: others are not compiled then.
    pub entry: Option<String>,
    /// Whether the interpreter verifies types, shapes and consumption while it runs.
    pub check: bool,
    /// Whether the interpreter checks what analyses claim of the program.
    pub claims: bool,
    /// Whether the interpreter fails where a scatter writes different values to one place.
    pub collisions: bool,
    /// Whether programs keep what [`Program::call_reference`] needs.
    pub keep_reference: bool,
    /// Whether programs for the CPU keep the text of their machine code.
    pub keep_assembly: bool,
    /// How passes are run, and after which of them to tell the program.
    pub passes: Settings,
}

/// Is told what the passes do.
type Observer = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// A failure to set up a session.
#[derive(Debug)]
pub struct SessionError(String);

impl std::fmt::Display for SessionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SessionError {}

/// Writes what a program traces to standard error, each value as one line where it is one value.
fn show(label: &str, ty: &EntryType, values: &[Value]) {
    let line = format!("{label}: {}\n", structured_text(ty, values));
    // Nobody can be told that nobody can be told.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Compiles programs for one target and runs them, from several threads at once.
pub struct Session {
    shared: Arc<Shared>,
}

/// What the programs of a session share.
struct Shared {
    options: Options,
    devices: Devices,
    stop: Arc<Stop>,
    observer: Option<Observer>,
}

impl Session {
    /// A session with these options.
    pub fn new(options: Options) -> Result<Self, SessionError> {
        Self::open(options, None)
    }
    /// A session that tells what the passes do.
    pub fn observed(
        options: Options,
        observer: impl Fn(Event<'_>) + Send + Sync + 'static,
    ) -> Result<Self, SessionError> {
        Self::open(options, Some(Box::new(observer)))
    }
    fn open(mut options: Options, observer: Option<Observer>) -> Result<Self, SessionError> {
        // Lanes of a processor go through rows of their own as well as through neighbours; a plan for both must suit it.
        let for_gpu = match options.target {
            Target::Cpu | Target::Auto => false,
            Target::Ptx | Target::PtxEmu | Target::Interp => true,
        };
        options.passes.options.coalesce &= for_gpu;
        options.passes.options.asynchronous &= for_gpu;
        let devices = Devices::open(&options).map_err(|why| {
            // An absent device has not failed.
            SessionError(if let RunError::Device(why) = why {
                why
            } else {
                why.to_string()
            })
        })?;
        Ok(Self {
            shared: Arc::new(Shared {
                options,
                devices,
                stop: Arc::new(Stop::new()),
                observer,
            }),
        })
    }
    /// The flag that stops every run of the session. Who raises it lowers it before the next run.
    pub fn stop(&self) -> Arc<Stop> {
        Arc::clone(&self.shared.stop)
    }
    /// What people call the device that programs run on.
    pub fn device(&self) -> String {
        self.shared.devices.name()
    }
    /// Whether the device is of no use in this process any more: a kernel on a GPU has failed in such a way that the driver refuses
    /// everything from then on.
    pub fn is_lost(&self) -> bool {
        self.shared.devices.is_lost()
    }
    /// The options.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }
    /// Compiles a file and what it imports. A file whose name ends in `.ir` is nested IR in its text form.
    pub fn compile_file(&self, path: &Path) -> Result<Program, CompileError> {
        on_big_stack(|| self.finish(Front::of_file(path, self.shared.options.target)?))
    }
    /// Compiles a file that is being read.
    pub fn compile_read(&self, file: Reading) -> Result<Program, CompileError> {
        on_big_stack(|| self.finish(file.wait()?))
    }
    /// Compiles a text; `name` is what messages call it, and where its imports are looked for.
    pub fn compile(&self, name: &str, text: &str) -> Result<Program, CompileError> {
        let mut loader = FileLoader::new();
        let file = loader.add_text(name, text);
        self.compile_loaded(loader, file)
    }
    /// Compiles nested IR, which must be well-formed.
    pub fn compile_ir(&self, program: Ir<Soac>) -> Result<Program, CompileError> {
        let front = Front::of_ir(program, self.shared.options.target);
        self.finish(front.map_err(CompileError::unreadable)?)
    }
    pub(crate) fn compile_loaded(
        &self,
        loader: FileLoader,
        file: FileId,
    ) -> Result<Program, CompileError> {
        let target = self.shared.options.target;
        on_big_stack(|| self.finish(Front::of_loaded(loader, file, target)?))
    }
    fn finish(&self, front: Front) -> Result<Program, CompileError> {
        let Front {
            compiled,
            sources,
            took,
        } = front;
        let mut times = CompileTimes {
            front: took,
            ..CompileTimes::default()
        };
        let mut program = compiled.program;
        let entries = program.funs.iter().filter_map(|fun| fun.entry.clone());
        let entries: Vec<Entry> = entries.collect();
        let keep = self.shared.options.keep_reference;
        let reference = keep.then(|| program.clone());
        let only = self.shared.options.entry.as_ref();
        if let Some(only) = only.filter(|only| entries.iter().any(|entry| entry.name == **only)) {
            program = midend::passes::inline::only(program, only);
        }
        match Engine::new(&self.shared, program, &mut times) {
            Ok(engine) => Ok(Program {
                shared: Arc::clone(&self.shared),
                entries,
                engine,
                times,
                reference,
                warnings: compiled.warnings,
                properties: compiled.properties,
                attributes: compiled.attributes,
                headings: compiled.headings,
                sources,
                forced: self.shared.options.thresholds.clone(),
            }),
            Err(why) => Err(CompileError::target(sources, &why)),
        }
    }
}

/// A program without mistakes.
pub struct Checked {
    /// The texts that it came from.
    pub sources: SourceMap,
    /// What the checker warned of.
    pub warnings: Vec<Diagnostic>,
    /// What the checker made of it.
    pub program: frontend::typed::Program,
}

/// Looks a file and what it imports over for mistakes.
pub fn check_file(path: &Path, remarks: bool) -> Result<Checked, CompileError> {
    let mut loader = FileLoader::new();
    let file = loader.read(path).map_err(CompileError::unreadable)?;
    let checked = on_big_stack(|| {
        let (program, mut warnings) = frontend::check(file, &mut loader)?;
        if remarks {
            // How values are represented is known when the program is lowered.
            warnings = frontend::compile(file, &mut loader)?.warnings;
        }
        Ok((program, warnings))
    });
    match checked {
        Ok((program, warnings)) => Ok(Checked {
            sources: loader.into_sources(),
            warnings,
            program,
        }),
        Err(diagnostics) => Err(CompileError::new(loader.into_sources(), diagnostics)),
    }
}

/// The nested IR of a source file, as the front end makes it.
pub fn nested_ir(path: &Path) -> Result<Ir<Soac>, CompileError> {
    let mut loader = FileLoader::new();
    let file = loader.read(path).map_err(CompileError::unreadable)?;
    match on_big_stack(|| frontend::compile(file, &mut loader)) {
        Ok(front) => Ok(front.program),
        Err(diagnostics) => Err(CompileError::new(loader.into_sources(), diagnostics)),
    }
}

/// A compiled program.
pub struct Program {
    shared: Arc<Shared>,
    entries: Vec<Entry>,
    engine: Engine,
    times: CompileTimes,
    reference: Option<Ir<Soac>>,
    warnings: Vec<Diagnostic>,
    properties: Vec<Property>,
    attributes: BTreeMap<String, Vec<Attr>>,
    headings: BTreeMap<String, Heading>,
    sources: SourceMap,
    forced: Forced,
}

impl Program {
    /// The entry points.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
    /// The entry point of that name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
    /// What the compiler warned of.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
    /// The entry points that say that they are properties.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }
    /// The attributes of an entry point.
    pub fn attributes(&self, entry: &str) -> &[Attr] {
        self.attributes.get(entry).map_or(&[], Vec::as_slice)
    }
    /// What the source says of an entry point; nothing of nested IR.
    pub fn heading(&self, entry: &str) -> Option<&Heading> {
        self.headings.get(entry)
    }
    /// The texts that the program came from.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
    /// What the guards of the program compare with. The interpreter runs the program as it was written, without any.
    pub fn thresholds(&self) -> &[Threshold] {
        self.engine.thresholds()
    }
    /// The texts of the kernels that the program became, by name: PTX for GPUs of a capability (75 for sm_75), or machine code,
    /// if [`Options::keep_assembly`] asked for it. None of the interpreter.
    pub fn kernel_texts(&self, capability: u32) -> Vec<(String, String)> {
        self.engine.kernel_texts(capability)
    }
    /// Says what is wrong if these name thresholds that the program has not.
    pub fn know_thresholds(&self, forced: &Forced) -> Result<(), String> {
        let names: Vec<String> = self.thresholds().iter().map(ToString::to_string).collect();
        let Some(name) = forced.named.keys().find(|name| !names.contains(*name)) else {
            return Ok(());
        };
        Err(
            match (frontend::near(name, names.iter()), names.as_slice()) {
                (Some(near), _) => format!("there is no threshold {name}; did you mean {near}?"),
                (None, []) => format!("there is no threshold {name}, nor any other"),
                (None, names) => {
                    format!(
                        "there is no threshold {name}, there are {}",
                        names.join(", ")
                    )
                }
            },
        )
    }
    /// How long compiling took.
    pub fn compile_times(&self) -> &CompileTimes {
        &self.times
    }
    /// Lets thresholds be these in the calls that follow, instead of what the session says.
    pub fn force(&mut self, forced: Forced) {
        self.forced = forced;
    }
    /// Calls an entry point with the leaves of its arguments; the leaves of its results.
    pub fn call(&self, entry: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
        self.run_call(self.simple(entry, args))
    }
    /// Calls an entry point with sequences that come from `ends` and go there: arguments and results are the others.
    pub fn call_streaming(
        &self,
        entry: &str,
        args: Vec<Value>,
        ends: &dyn Outside,
    ) -> Result<Vec<Value>, RunError> {
        self.run_call(Call {
            ends: Some(ends),
            ..self.simple(entry, args)
        })
    }
    /// Calls an entry point, and tells what time and memory were spent on. Of the interpreter, nothing is told.
    pub fn profile(
        &self,
        entry: &str,
        args: Vec<Value>,
    ) -> Result<(Vec<Value>, Profile), RunError> {
        let mut profile = Profile::default();
        let call = Call {
            profile: Some(&mut profile),
            ..self.simple(entry, args)
        };
        let results = self.run_call(call)?;
        Ok((results, profile))
    }
    fn run_call(&self, call: Call<'_>) -> Result<Vec<Value>, RunError> {
        self.engine.call(&self.shared, &self.shared.devices, call)
    }
    /// How the last call was decided, by whichever thread, if there was a choice ([`Target::Auto`] with an accelerator).
    pub fn last_choice(&self) -> Option<Choice> {
        match &self.engine {
            Engine::Auto(auto) => auto.last(),
            Engine::Interp(_) | Engine::Cpu(_) | Engine::Ptx(_) | Engine::PtxEmu(_) => None,
        }
    }
    /// The most that the device of the last call does in a second, measured if that is not known, or if this run of it did more. Nothing
    /// of what is no real device.
    pub fn ceilings(&self, profile: &Profile) -> Option<Ceilings> {
        let devices = &self.shared.devices;
        self.engine.ceilings(&self.shared, devices, profile)
    }
    /// The bits of the vector registers in which a kernel works on several points at a time, 0 if it does not; nothing unless
    /// the target is the CPU.
    pub fn vector_bits(&self, kernel: &str) -> Option<u32> {
        self.engine.vector_bits(kernel)
    }
    /// Why a map does not work on several points at a time; nothing if it does, or is no map, or the target is not the CPU.
    pub fn scalar_because(&self, kernel: &str) -> Option<String> {
        self.engine.scalar_because(kernel)
    }
    /// The shares of the time of all kernels that a run spent in vector registers of so many bits, the widest first; nothing unless the target
    /// is the CPU and there were kernels.
    pub fn vector_shares(&self, profile: &Profile) -> Option<[(u32, f64); 3]> {
        let mut shares = [512, 256, 128].map(|bits| (bits, 0.0));
        let mut all = 0.0;
        for done in &profile.work {
            let Some(kernel) = &done.kernel else { continue };
            let seconds = done.time.as_secs_f64();
            all += seconds;
            let bits = self.vector_bits(kernel)?;
            let mine = shares.iter_mut().filter(|(width, _)| *width == bits);
            mine.for_each(|(_, share)| *share += seconds);
        }
        (all > 0.0).then(|| shares.map(|(bits, seconds)| (bits, seconds / all)))
    }
    /// A call of which nothing is to be told.
    fn simple<'a>(&'a self, entry: &'a str, args: Vec<Value>) -> Call<'a> {
        Call {
            entry,
            args,
            thresholds: &self.forced,
            counts: None,
            profile: None,
            ends: None,
        }
    }
    /// Calls an entry point under these thresholds; the work that the device is given. The interpreter has no device.
    pub fn count(
        &self,
        entry: &str,
        args: Vec<Value>,
        forced: &Forced,
    ) -> Result<Counts, RunError> {
        let counts = Counts::new();
        let call = Call {
            thresholds: forced,
            counts: Some(&counts),
            ..self.simple(entry, args)
        };
        self.run_call(call)?;
        Ok(counts)
    }
    /// The program before all passes. Nothing if it is not for the interpreter and the session does not keep references.
    pub(crate) fn nested(&self) -> Option<&Ir<Soac>> {
        self.reference.as_ref().or(self.engine.nested())
    }
    /// Calls an entry point in the interpreter, whatever the target, executing so many statements at most. Nothing if
    /// the session does not keep references.
    pub fn call_reference(
        &self,
        entry: &str,
        args: Vec<Value>,
        fuel: u64,
    ) -> Option<Result<Vec<Value>, RunError>> {
        let program = self.reference.as_ref()?;
        Some(engine::interpret(
            program,
            &self.shared,
            entry,
            args,
            interp::Options {
                fuel: Some(fuel),
                ..interp::Options::default()
            },
        ))
    }
}

impl crate::script::Callee for Program {
    fn entry(&self, name: &str) -> Option<&Entry> {
        Program::entry(self, name)
    }
    fn call(&self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, String> {
        Program::call(self, name, args).map_err(|why| why.to_string())
    }
}
