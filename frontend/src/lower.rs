//! Lowering: from the typed program to the nested dialect of the IR, by evaluation with environments.
//!
//! A value during lowering is a tree with IR atoms at its leaves ([`value::Value`]); functions are closures that are
//! applied here, so that nothing higher-order is left. Large and recursive definitions become IR functions, one for each
//! shape of what they are applied to ([`call`]); everything else is lowered where it is applied. Invariants:
//! array dimensions of every value are atoms in scope; an array that others may still read is marked and copied
//! before it is consumed; every check is an `assert` whose certificate is on the statement that it protects.

pub mod accumulate;
pub mod apply;
mod arity;
pub mod arrays;
pub mod attribute;
pub mod branch;
pub mod call;
mod cases;
pub mod cast;
mod coerce;
mod count;
mod derivative;
pub mod emit;
pub mod entry;
pub mod env;
pub mod equal;
mod existential;
pub mod exp;
pub mod flatmap;
mod fold;
pub mod global;
pub mod index;
pub mod intrinsic;
mod irregular;
pub mod loops;
pub mod mentions;
pub mod module;
pub mod name;
mod payload;
pub mod range;
pub mod reduce;
mod remark;
pub mod rows;
pub mod scatter;
mod segments;
mod sequence;
pub mod soac;
mod strip_mine;
pub mod types;
mod units;
pub mod update;
pub mod value;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, SourceMap, Span};
use crate::typed::{self, Name};
use emit::FnCx;
use env::{Binding, Frame, TypeDef};
use midend::hash::{HashMap, HashSet};
use midend::ir::id::{FunId, IdVec, SpanId, Var};
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Fun, Program, Vars};
use midend::ir::types::Size;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The result of lowering something.
pub type Res<T> = Result<T, Box<Diagnostic>>;

/// The state of lowering.
pub struct Lower<'a> {
    typed: &'a typed::Program,
    sources: &'a SourceMap,
    /// The tuning parameters that have values.
    parameters: &'a BTreeMap<String, i64>,
    vars: Vars,
    funs: IdVec<FunId, Fun<Soac>>,
    spans: Spans,
    span_ids: HashMap<(Span, SpanId), SpanId>,
    file_names: HashMap<FileId, Arc<str>>,
    fun_names: HashMap<String, usize>,
    /// The place of the statements that follow.
    span: SpanId,
    /// The call through which the code at hand is lowered in place.
    inlined_at: SpanId,
    cx: FnCx<'a>,
    frames: Vec<Rc<Frame<'a>>>,
    /// How many frames there were, those that are gone among them.
    numbered: u32,
    globals: Vec<global::Global<'a>>,
    fun_globals: BTreeMap<FunId, BTreeMap<usize, value::Value<'a>>>,
    specs: HashMap<Vec<u64>, usize>,
    spec_rows: Vec<call::Spec<'a>>,
    spec_result: Vec<Atom>,
    costs: HashMap<(usize, u32), usize>,
    inlined: HashMap<usize, usize>,
    mentioned: HashMap<usize, Rc<[Name]>>,
    hoisted: BTreeSet<Var>,
    /// Sizes that are 0 where those that types state are negative, and these.
    stated: HashMap<Var, Size>,
    of_negative: cast::Negative,
    /// Sizes that the arrays that functions take have.
    extents: HashSet<Var>,
    functor_calls: usize,
    /// How many loops over sequences there are.
    streams: u32,
    /// The current call in the program itself, for what is found inside of the prelude.
    site: Span,
    /// The derivatives, each with its position in the source.
    derivatives: Vec<(FunId, Span)>,
    /// Inside `#[unsafe]`: assertions of the source are not checked. What keeps memory safe is.
    unchecked: bool,
    /// The loop that is lowered next is to be unrolled.
    unroll: bool,
    /// So many loops are put around the loop that is lowered next.
    strip_mine: usize,
    /// Casts check that sizes are equal: not where irregular dimensions may have made the checker take them for equal.
    checks_casts: bool,
    /// Expressions in which the program wants to be told of checks.
    watched: Vec<Span>,
    /// What is perhaps not as it was meant.
    warnings: Vec<Diagnostic>,
    /// Places that have been remarked on.
    remarked: BTreeSet<Span>,
}

/// Lowers a program: its entry points and all that they need. Gives warnings, too.
///
/// # Errors
/// What this version cannot compile.
pub fn lower(
    program: &typed::Program,
    sources: &SourceMap,
    parameters: &BTreeMap<String, i64>,
    traces_in_parallel: bool,
    gradients: bool,
) -> Result<(Program<Soac>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut lower = Lower::new(program, sources, parameters);
    let result = lower.program();
    for frame in &lower.frames {
        frame.clear();
    }
    match result {
        Ok(()) => {
            lower.warn_of_checks();
            if !traces_in_parallel {
                lower.warn_of_traces();
            }
            let program = Program {
                vars: lower.vars,
                funs: lower.funs,
                spans: lower.spans,
            };
            if !gradients && let Some(refused) = derivative::refused(&program, &lower.derivatives) {
                return Err(vec![refused]);
            }
            Ok((program, lower.warnings))
        }
        Err(diagnostic) => Err(vec![*diagnostic]),
    }
}

impl<'a> Lower<'a> {
    fn new(
        typed: &'a typed::Program,
        sources: &'a SourceMap,
        parameters: &'a BTreeMap<String, i64>,
    ) -> Self {
        Self {
            typed,
            sources,
            parameters,
            vars: Vars::new(),
            funs: IdVec::new(),
            spans: Spans::new(),
            span_ids: HashMap::default(),
            file_names: HashMap::default(),
            fun_names: HashMap::default(),
            span: Spans::NONE,
            inlined_at: Spans::NONE,
            cx: FnCx::default(),
            frames: Vec::new(),
            numbered: 0,
            globals: Vec::new(),
            fun_globals: BTreeMap::new(),
            specs: HashMap::default(),
            spec_rows: Vec::new(),
            spec_result: Vec::new(),
            costs: HashMap::default(),
            inlined: HashMap::default(),
            mentioned: HashMap::default(),
            hoisted: BTreeSet::new(),
            stated: HashMap::default(),
            of_negative: cast::Negative::Refused,
            extents: HashSet::default(),
            functor_calls: 0,
            streams: 0,
            site: Span::default(),
            derivatives: Vec::new(),
            unchecked: false,
            unroll: false,
            strip_mine: 0,
            checks_casts: typed.irregular,
            watched: Vec::new(),
            warnings: Vec::new(),
            remarked: BTreeSet::new(),
        }
    }

    fn program(&mut self) -> Res<()> {
        let top = self.new_frame(true, None);
        for built_in in &self.typed.built_in {
            let def = TypeDef {
                params: &built_in.params,
                rhs: &built_in.rhs,
                frame: Rc::clone(&top),
            };
            top.bind(built_in.name, Binding::TypeDef(Rc::new(def)));
        }
        for def in &self.typed.prelude {
            self.value_def(def, &top);
        }
        for file in &self.typed.files {
            self.decs(&file.decs, &top)?;
        }
        for entry in &self.typed.entries {
            self.entry(entry, &top)?;
        }
        self.pass_globals();
        self.check_derivatives()?;
        self.check_streams()
    }

    fn new_frame(&mut self, module: bool, parent: Option<Rc<Frame<'a>>>) -> Rc<Frame<'a>> {
        self.numbered += 1;
        let frame = Frame::new(self.numbered, module, parent);
        self.frames.push(Rc::clone(&frame));
        frame
    }

    /// A frame for the parameters of a type. Nothing in it refers to it, so that it goes when the type is known.
    fn type_frame(&mut self, parent: Rc<Frame<'a>>) -> Rc<Frame<'a>> {
        self.numbered += 1;
        Frame::new(self.numbered, false, Some(parent))
    }

    /// A frame for expressions.
    fn frame(&mut self, parent: Option<Rc<Frame<'a>>>) -> Rc<Frame<'a>> {
        self.new_frame(false, parent)
    }

    /// A frame for the body of a functor.
    fn module_frame(&mut self, parent: Rc<Frame<'a>>) -> Rc<Frame<'a>> {
        self.new_frame(true, Some(parent))
    }

    /// A name that no function has yet.
    fn unique_name(&mut self, name: &str) -> String {
        let base = midend::ir::build::clean_name(name);
        let count = self.fun_names.entry(base.clone()).or_default();
        *count += 1;
        if *count == 1 {
            base
        } else {
            format!("{base}_{count}")
        }
    }
}

impl Lower<'_> {
    /// Whether a span is in the prelude.
    pub fn is_in_prelude(&self, span: Span) -> bool {
        let file = self.sources.get(span.file);
        file.is_some_and(|file| file.name() == crate::prelude::FILE)
    }

    /// What cannot be compiled in a definition of the prelude is wrong where the program calls it.
    pub fn blame_the_call(&self, mut diagnostic: Box<Diagnostic>, call: Span) -> Box<Diagnostic> {
        if self.is_in_prelude(diagnostic.primary.span) {
            diagnostic.primary.span = call;
        }
        diagnostic
    }
}

/// A program that is right, but that this version cannot compile.
pub fn unsupported(span: Span, what: impl Into<String>) -> Box<Diagnostic> {
    let message = format!("not yet supported: {}", what.into());
    Box::new(Diagnostic::error(Code::NotYetSupported, span, message))
}
