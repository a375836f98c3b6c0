//! From a program to code: collects kernels and the functions they call, compiles every unit on its own and in
//! parallel, and links the code.

mod forms;
mod order;
mod tuple;
mod wanted;

pub(crate) use tuple::Tuple;
pub(crate) use wanted::{Wanted, wanted};

use crate::cost::Cost;
use crate::emit::control::function_signature;
use crate::emit::kernel::{self, Role};
use crate::emit::lanes::{InLanes, function, lanes_of};
use crate::emit::{Emitted, Kept, clif_of};
use crate::machine::{Machine, build};
use crate::target::{Target, has_fma, looks_up};
use crate::wide::{Refused, Width};
use cranelift_codegen::ir::{Signature, Type as ClifType};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _, default_libcall_names};
use forms::{Form, form, forms, missing};
use midend::analysis::calls::{calls, spread};
use midend::analysis::kernels::{called, kernel_bodies, known_extents};
use midend::analysis::sums::Sums;
use midend::fired::{Counts, add, counted};
use midend::ir::id::{FunId, Id, Var};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem};
use midend::ir::scalar::Const;
use midend::ir::syntax::{Atom, Program};
use midend::ir::types::Type;
use midend::ir::walk;
use midend::trap::RunError;
use order::largest_first;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// What emission needs to know of the target and of the functions of the program.
pub(crate) struct Units {
    pub(crate) conv: CallConv,
    pub(crate) frontend: TargetFrontendConfig,
    pub(crate) has_fma: bool,
    pub(crate) functions: BTreeMap<FunId, Interface>,
    /// How many elements buffers have of which that is a constant.
    pub(crate) extents: BTreeMap<Var, i64>,
    /// Whether elements of tables can be looked up in registers of 512 bits.
    pub(crate) looks_up: bool,
    /// How many elements buffers have of which that is a constant, if so.
    pub(crate) tables: BTreeMap<Var, i64>,
    /// What the program computes as another number and a constant.
    pub(crate) sums: Sums,
    /// What functions do in lanes, of those that can be called with vectors.
    pub(crate) in_lanes: InLanes,
    /// Their forms for so many lanes each.
    pub(crate) forms: BTreeMap<(FunId, usize), Form>,
}

/// A compiled function of the program as its callers see it.
pub(crate) struct Interface {
    pub(crate) id: FuncId,
    pub(crate) params: Vec<ClifType>,
    pub(crate) results: Vec<ClifType>,
    /// Whether it is in a cycle of calls.
    pub(crate) recursive: bool,
    /// Whether it is told how many more calls may be nested: it is in such a cycle, or leads to one.
    pub(crate) counts: bool,
}

impl Units {
    /// The signature of a function of the program.
    pub(crate) fn signature_of(&self, interface: &Interface) -> Signature {
        let types = (&interface.params[..], &interface.results[..]);
        function_signature(self.conv, interface.counts, types)
    }
}

/// A compiled kernel.
pub(crate) struct Compiled {
    /// The types of the arguments.
    pub(crate) args: Vec<Type>,
    /// The extents of the space.
    pub(crate) space: Vec<Dimension>,
    /// The estimate for one point.
    pub(crate) cost: Cost,
    /// Whether a row is folded in the same way however many there are.
    pub(crate) steady: bool,
    pub(crate) kind: CompiledKind,
}

/// Where a scalar comes from at launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Const(Const),
    Argument(usize),
}

/// The extent of a dimension at launch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dimension {
    Regular(Source),
    /// The argument that holds the offsets.
    Ragged(usize),
}

/// The address of compiled code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code(pub(crate) *const u8);

// SAFETY: the code is immutable and lives as long as its module, which owns every copy of its address.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

/// The code of a kernel, by kind.
pub(crate) enum CompiledKind {
    Map {
        chunk: Code,
        /// Points that the code works on at a time.
        lanes: i64,
        /// The code that works on several points at a time under an execution mask, if there is some.
        vector: Option<CompiledLanes>,
        /// Bytes that a point writes of what may be stored past the caches.
        streamed: i64,
        /// The code that works on tiles, if there is some.
        tiles: Option<CompiledTiles>,
    },
    Seq {
        chunk: Code,
    },
    Red {
        chunk: Code,
        combine: Code,
        /// The code for points of outer dimensions side by side, if there is some.
        columns: Option<Code>,
        outs: Vec<usize>,
        tuple: Tuple,
    },
    Scan {
        chunk: Code,
        combine: Code,
        /// Reduces a piece that is scanned afterwards, or puts sums in front of what was scanned.
        other: ScanCode,
        outs: Vec<usize>,
        tuple: Tuple,
        /// As for maps.
        streamed: i64,
    },
    Hist {
        chunk: Code,
        /// See [`kernel::has_window`].
        has_window: bool,
        /// How many tables the code of a chunk is given for each destination.
        tables: usize,
        hists: Vec<CompiledHist>,
    },
}

/// The code by which a scan in pieces learns and uses what comes before a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScanCode {
    /// Reduces a piece.
    Sum(Code),
    /// Puts a sum in front of a piece that was scanned.
    Fix(Code),
}

/// The code of a map under an execution mask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompiledLanes {
    pub(crate) code: Code,
    /// Points that it works on at a time.
    pub(crate) lanes: i64,
    /// The points of a row from which on it is faster than scalar code.
    pub(crate) least: i64,
}

/// The code of a map that is worked on in tiles.
pub(crate) struct CompiledTiles {
    pub(crate) code: Code,
    /// Rows and columns of the smallest tiles.
    pub(crate) size: (i64, i64),
    /// How often both may be doubled.
    pub(crate) doubled: u32,
    /// The number of steps of its loop.
    pub(crate) steps: Source,
}

/// One histogram of a kernel.
pub(crate) struct CompiledHist {
    pub(crate) buckets: Source,
    pub(crate) dests: Vec<usize>,
    pub(crate) tuple: Tuple,
    pub(crate) merge: Code,
}

pub(crate) fn broken(why: impl std::fmt::Display) -> RunError {
    RunError::Device(format!("code generation: {why}"))
}

/// One thing to compile.
#[derive(Clone, Copy)]
pub(crate) enum Unit<'a> {
    Kernel {
        kernel: &'a Kernel,
        args: &'a [Var],
        role: Role,
    },
    Function(FunId),
    /// A function for so many lanes.
    InLanes(FunId, usize),
}

/// Some kernels, compiled.
pub(crate) struct Made<'a> {
    /// Each with its name.
    pub(crate) kernels: Vec<(&'a str, Compiled)>,
    /// The units of kernels for a part of the buckets.
    pub(crate) windows: Vec<(&'a str, Code)>,
    /// What the addresses in them are of.
    pub(crate) code: JITModule,
    /// Compiled code holds addresses of what is in these.
    pub(crate) kept: Vec<Kept>,
    /// The kernels that have code for wider registers, each with why that was not widened as far as it might if it was not.
    pub(crate) widened: Vec<(String, Option<String>)>,
    /// For each unit of a kernel that works on several points at a time the bits of its vector registers.
    pub(crate) vector_bits: Vec<(String, u32)>,
    /// The kernels that stay scalar, each with the cause.
    pub(crate) remarks: Vec<(String, String)>,
}

/// What there is to compile, declared to the linker.
pub(crate) struct Declared<'a> {
    pub(crate) units: Units,
    pub(crate) work: Vec<(FuncId, Unit<'a>)>,
    /// For each kernel its units.
    ids: Vec<Vec<(Role, FuncId)>>,
}

/// Declares units of kernels, and every function that these call.
pub(crate) fn declare<'a>(
    program: &Program<Mem>,
    target: &Target,
    kernels: &'a [Wanted<'_>],
    jit: &mut JITModule,
) -> Result<Declared<'a>, RunError> {
    let isa = &target.isa;
    let extents = known_extents(program);
    let looks_up = looks_up(isa);
    let tables = match looks_up {
        true => extents.clone(),
        false => BTreeMap::new(),
    };
    let mut units = Units {
        conv: isa.default_call_conv(),
        frontend: isa.frontend_config(),
        has_fma: has_fma(isa),
        functions: BTreeMap::new(),
        extents,
        looks_up,
        tables,
        sums: Sums::of(program),
        in_lanes: InLanes::default(),
        forms: BTreeMap::new(),
    };
    let mut work = Vec::new();
    let calls = calls(program);
    let counts = spread(&program.funs, |fun, known| {
        let mut counts = calls.recursive[fun];
        walk::calls(&program.funs[fun].body, &mut |callee| {
            counts |= known[callee.index()];
        });
        counts
    });
    for fun in called(
        program,
        kernels.iter().flat_map(|k| kernel_bodies(k.kernel)),
    ) {
        let depth = (calls.recursive[fun], counts[fun.index()]);
        let interface = interface(program, &units, (fun, depth), jit)?;
        work.push((interface.id, Unit::Function(fun)));
        units.functions.insert(fun, interface);
    }
    units.in_lanes = InLanes::of(program, units.functions.keys().copied());
    let widest = target.widths().next().map_or(1, Width::parts);
    for Wanted { kernel, .. } in kernels {
        for (asked, fun, lanes) in forms(program, &units, target, kernel) {
            if units.forms.contains_key(&(fun, lanes)) {
                continue;
            }
            let form = form(units.conv, (fun, lanes), jit)?;
            if asked == widest {
                work.push((form.id, Unit::InLanes(fun, lanes)));
            }
            units.forms.insert((fun, lanes), form);
        }
    }
    let mut ids = Vec::new();
    for (k, some) in kernels.iter().enumerate() {
        let Wanted { kernel, args, .. } = some;
        let mut mine = Vec::new();
        for (r, role) in some.roles.iter().copied().enumerate() {
            // The signature is that of the emitted unit; linking does not look at it.
            let signature = crate::emit::signature(units.conv, &[], &[]);
            let name = format!("k{k}_{r}");
            let id = jit
                .declare_function(&name, Linkage::Local, &signature)
                .map_err(broken)?;
            mine.push((role, id));
            work.push((id, Unit::Kernel { kernel, args, role }));
        }
        ids.push(mine);
    }
    Ok(Declared { units, work, ids })
}

/// Compiles those units of kernels of the program that are wanted, and every function that they call.
pub(crate) fn compile<'a>(
    program: &'a Program<Mem>,
    target: &Target,
    is_wanted: &dyn Fn(&Kernel, Role) -> bool,
) -> Result<Made<'a>, RunError> {
    let kernels = wanted(program, is_wanted);
    let provider = ArenaMemoryProvider::new_with_size(ARENA).map_err(broken)?;
    let mut builder = JITBuilder::with_isa(target.isa.clone(), default_libcall_names());
    builder.memory_provider(Box::new(provider));
    let mut jit = JITModule::new(builder);
    let Declared { units, work, ids } = declare(program, target, &kernels, &mut jit)?;
    let mut work = work;

    // What other threads used is counted here.
    let made =
        |(id, unit): &(FuncId, Unit<'_>)| counted(|| build(program, &units, target, *id, *unit));
    let mut machines: Vec<(Result<Machine, RunError>, Counts)> = Vec::new();
    while machines.len() < work.len() {
        let open = &work[machines.len()..];
        machines.extend(largest_first(program, open, &made));
        // What is called with fewer lanes than was thought, as code was not made for registers that wide.
        let missing = missing(&units, &work, &machines);
        work.extend(missing);
    }
    let (mut kept, mut widened, mut vector_bits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut vectorised, mut remarks) = (Vectorised::new(), Vec::new());
    for ((id, unit), (machine, used)) in work.iter().zip(machines) {
        add(&used);
        let machine = machine?;
        if let (
            Unit::Kernel {
                role: Role::Lanes, ..
            },
            1..,
        ) = (unit, machine.lanes)
        {
            let least = match target.all_in_lanes {
                true => 1,
                false => machine.lanes as i64 / 2,
            };
            vectorised.insert(*id, (machine.lanes, least));
        }
        if let (Unit::Kernel { kernel, .. }, Some(why)) = (unit, machine.remark) {
            remarks.push((kernel.name.clone(), why));
        }
        if let (Unit::Kernel { kernel, .. }, 1..) = (unit, machine.vector_bits) {
            vector_bits.push((kernel.name.clone(), machine.vector_bits));
        }
        if let (Unit::Kernel { kernel, .. }, Some(outcome)) = (unit, machine.widened) {
            let why = outcome.err().map(|Refused(why)| why);
            widened.push((kernel.name.clone(), why));
        }
        jit.define_function_bytes(*id, machine.align, &machine.bytes, &machine.relocs)
            .map_err(broken)?;
        kept.push(machine.kept);
    }
    jit.finalize_definitions().map_err(broken)?;
    for (id, unit) in &work {
        if let Unit::InLanes(fun, lanes) = unit {
            let code = jit.get_finalized_function(*id);
            let form = &units.forms[&(*fun, *lanes)];
            form.place.store(code as u64, Ordering::Release);
        }
    }

    let widest = target.widths().next().map_or(1, Width::parts);
    let (mut table, mut windows) = (Vec::with_capacity(kernels.len()), Vec::new());
    for (Wanted { kernel, args, .. }, ids) in kernels.iter().zip(&ids) {
        let name = kernel.name.as_str();
        if let [(Role::Window, id)] = ids[..] {
            windows.push((name, Code(jit.get_finalized_function(id))));
            continue;
        }
        let compiled = describe(
            (program, &units, widest),
            (kernel, args),
            (ids, &vectorised),
            &jit,
        );
        table.push((name, compiled));
    }
    Ok(Made {
        kernels: table,
        windows,
        code: jit,
        kept,
        widened,
        vector_bits,
        remarks,
    })
}

/// Address space set aside for the code of one module; only what is used takes memory.
const ARENA: usize = 256 << 20;

fn interface(
    program: &Program<Mem>,
    units: &Units,
    (fun, (recursive, counts)): (FunId, (bool, bool)),
    jit: &mut JITModule,
) -> Result<Interface, RunError> {
    let definition = &program.funs[fun];
    let types = |params: &[midend::ir::syntax::Param]| -> Vec<ClifType> {
        params
            .iter()
            .filter_map(|p| clif_of(&program.vars[p.var].ty))
            .collect()
    };
    let (params, results) = (types(&definition.params), types(&definition.results));
    let signature = function_signature(units.conv, counts, (&params, &results));
    let id = jit
        .declare_function(&format!("f{}", fun.index()), Linkage::Local, &signature)
        .map_err(broken)?;
    Ok(Interface {
        id,
        params,
        results,
        recursive,
        counts,
    })
}

/// The code of one unit before it is compiled, in which vectors stand for so many at most.
pub(crate) fn emit(program: &Program<Mem>, units: &Units, unit: Unit<'_>, asked: usize) -> Emitted {
    match unit {
        Unit::Kernel { kernel, args, role } => {
            kernel::emit(program, units, kernel, args, (role, asked))
        }
        Unit::Function(fun) => kernel::function(program, units, fun),
        Unit::InLanes(fun, lanes) => function(program, units, (fun, lanes), asked),
    }
}

/// For each unit under a mask the points that it works on at a time, and from how many points of a row on it is faster.
type Vectorised = BTreeMap<FuncId, (usize, i64)>;

/// What launching a kernel needs to know of it.
fn describe(
    (program, units, asked): (&Program<Mem>, &Units, usize),
    (kernel, args): (&Kernel, &[Var]),
    (ids, vectorised): (&[(Role, FuncId)], &Vectorised),
    jit: &JITModule,
) -> Compiled {
    let index = |v: &Var| {
        args.binary_search(v)
            .expect("what a kernel uses is among its arguments")
    };
    let source = |atom: &Atom| match atom {
        Atom::Const(c) => Source::Const(*c),
        Atom::Var(v) => Source::Argument(index(v)),
    };
    let code = |role: Role| {
        let id = ids
            .iter()
            .find(|(r, _)| *r == role)
            .expect("every unit was declared")
            .1;
        Code(jit.get_finalized_function(id))
    };
    let tuple = |ops: &[midend::ir::soac::Operator<Mem>]| Tuple::of(&program.vars, ops, source);
    let chunk = code(Role::Chunk);
    let kind = match &kernel.kind {
        KernelKind::Map => CompiledKind::Map {
            chunk,
            lanes: {
                let lanes = lanes_of(program, (kernel, asked), units);
                lanes.map_or(1, |lanes| lanes as i64)
            },
            vector: ids.iter().find_map(|(_, id)| {
                let (lanes, least) = *vectorised.get(id)?;
                Some(CompiledLanes {
                    code: Code(jit.get_finalized_function(*id)),
                    lanes: lanes as i64,
                    least,
                })
            }),
            streamed: crate::emit::past::streamed_bytes(&program.vars, &kernel.body),
            tiles: crate::emit::tiles_of(program, kernel).map(|sizes| CompiledTiles {
                code: code(Role::Tiles),
                size: (sizes.rows, sizes.columns),
                doubled: sizes.doubled,
                steps: source(&sizes.steps),
            }),
        },
        KernelKind::Seq => CompiledKind::Seq { chunk },
        KernelKind::Red { ops, outs } => CompiledKind::Red {
            chunk,
            combine: code(Role::Combine),
            columns: ids
                .iter()
                .any(|(role, _)| *role == Role::Columns)
                .then(|| code(Role::Columns)),
            outs: outs.iter().map(index).collect(),
            tuple: tuple(ops),
        },
        KernelKind::Scan { ops, outs, .. } => CompiledKind::Scan {
            chunk,
            combine: code(Role::Combine),
            other: match crate::emit::scan::sums_first(kernel) {
                true => ScanCode::Sum(code(Role::Sum)),
                false => ScanCode::Fix(code(Role::Fix)),
            },
            outs: outs.iter().map(index).collect(),
            tuple: tuple(ops),
            streamed: crate::emit::scan::streamed_bytes(&program.vars, kernel),
        },
        KernelKind::Hist(hists) => CompiledKind::Hist {
            chunk,
            has_window: kernel::has_window(kernel),
            tables: crate::emit::hist::tables::tables(kernel, hists),
            hists: hists
                .iter()
                .enumerate()
                .map(|(i, hist)| CompiledHist {
                    buckets: source(&hist.buckets),
                    dests: hist.dests.iter().map(index).collect(),
                    tuple: tuple(std::slice::from_ref(&hist.op)),
                    merge: code(Role::Merge(i)),
                })
                .collect(),
        },
    };
    Compiled {
        args: args.iter().map(|v| program.vars[*v].ty.clone()).collect(),
        space: kernel
            .space
            .iter()
            .map(|(_, extent)| match extent {
                Extent::Regular(n) => Dimension::Regular(source(n)),
                Extent::Ragged { offsets, .. } => Dimension::Ragged(index(offsets)),
            })
            .collect(),
        cost: Cost::of(program, kernel, args),
        steady: kernel.steady,
        kind,
    }
}
