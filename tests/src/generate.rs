//! A generator of well-typed programs in the nested dialect, for differential tests.
//!
//! A seed and a budget of statements determine a program. Its results are exactly determined: sums of floats are exact, buckets
//! and scattered indices depend on no order, operators are associative with their neutral elements.
//! Sizes of zero occur often. Some programs fail at run time, then they must fail everywhere.

mod accumulator;
mod bulk;
mod chain;
mod chooser;
mod control;
mod deep;
mod element;
mod handing;
mod irregular;
mod large;
pub mod modules;
mod nest;
mod ragged;
mod random;
mod recurring;
pub mod rows;
mod scalar;
mod shape;
mod shrink;
pub mod smooth;
mod statement;
mod tabular;
mod varying;
mod walk;
mod writes;

pub use ragged::ragged_program;
pub use random::Random;
pub use shrink::shrink;

use midend::ir::array::SliceDim;
use midend::ir::build::Builder;
use midend::ir::id::{FunId, IdVec, Var};
use midend::ir::rename::Subst;
use midend::ir::scalar::BinOp;
use midend::ir::soac::Soac;
use midend::ir::span::Spans;
use midend::ir::syntax::{
    Atom, Entry, EntryParam, EntryType, Exp, Fun, Inline, Param, Program, Vars,
};
use midend::ir::types::{Dim, ScalarType, Size, Type};
use midend::value::{ArrayValue, Data, Value};

/// What is in scope.
#[derive(Clone, Debug)]
struct Item {
    var: Var,
    ty: Type,
    /// Arrays that may share memory have one group.
    group: usize,
    /// Whether the array may be consumed in the body that made it.
    mine: bool,
}

/// A size in scope, and the most that it can be.
#[derive(Clone, Copy, Debug)]
struct KnownSize {
    size: Size,
    most: u64,
}

/// The state of generation.
struct Gen<'v> {
    b: Builder<'v, Soac>,
    rng: Random,
    scope: Vec<Item>,
    sizes: Vec<KnownSize>,
    /// Where the scope of the innermost body starts.
    base: usize,
    groups: usize,
    /// Statements left.
    budget: usize,
    depth: usize,
    /// How often the body at hand may be executed, by the sizes of what is around it.
    work: u64,
    /// The functions that may be called, if they are made already.
    helper: Option<FunId>,
    chooser: Option<FunId>,
}

/// The largest value of a size parameter.
const MOST: u64 = 65;
/// The most executions of a body, and the most elements of an array.
const WORK: u64 = 6_000;

/// How many programs in a hundred have a function with two branches.
const CHOOSERS: usize = 8;
/// How many programs in a hundred compute at their end what tables can hold.
const TABULAR: usize = 14;
/// How many programs in a hundred have something large at their end.
const LARGE: usize = 4;
/// One program in so many has a nest that is too deep for versions of all of it.
const DEEP: usize = 400;

/// A program from a seed, with about `budget` statements. Its entry point is `main`.
pub fn program(seed: u64, budget: usize) -> Program<Soac> {
    let mut vars = Vars::new();
    let mut funs = IdVec::new();
    let mut rng = Random::new(seed);
    let helper = rng.chance(40).then(|| {
        let inner = Gen::new(&mut vars, Random::new(seed ^ 0xf00), budget / 3, None);
        funs.push(inner.helper())
    });
    let chooser = rng.chance(CHOOSERS).then(|| {
        let inner = Gen::new(&mut vars, Random::new(seed ^ 0xc00), budget / 3, helper);
        funs.push(inner.chooser())
    });
    let mut main = Gen::new(&mut vars, rng, budget, helper);
    main.chooser = chooser;
    funs.push(main.main());
    Program {
        vars,
        funs,
        spans: Spans::new(),
    }
}

/// Arguments for the programs of this generator, with small arrays.
pub fn arguments(seed: u64) -> Vec<Value> {
    let mut rng = Random::new(seed ^ 0x5eed);
    let mut sizes = [(); 3].map(|()| *rng.pick(&[0, 1, 1, 2, 3, 4, 5]));
    if rng.chance(40) {
        let large = *rng.pick(&[31, 32, 33, 65]);
        sizes[rng.below(3)] = large;
    }
    arguments_of(rng, sizes)
}

/// Arguments with an array that is so long that a device splits the work. Many programs do too much with them.
pub fn large_arguments(seed: u64) -> Vec<Value> {
    const SIZES: [i64; 6] = [1000, 1025, 4096, 20_001, 65_537, 100_003];
    let mut rng = Random::new(seed ^ 0x1a49e);
    let (n, m) = (*rng.pick(&SIZES), *rng.pick(&[0, 1, 2, 3]));
    let k = *rng.pick(&[0, 1, 2]);
    let sizes = if rng.chance(30) { [m, n, k] } else { [n, m, k] };
    arguments_of(rng, sizes)
}

fn arguments_of(mut rng: Random, [n, m, k]: [i64; 3]) -> Vec<Value> {
    let mut array = |elem: ScalarType, shape: &[i64]| {
        let count = shape.iter().product::<i64>() as usize;
        let mut data = Data::zeros(elem, count);
        for i in 0..count {
            data.set(i, scalar::constant(&mut rng, elem));
        }
        let shape = shape.to_vec();
        Value::Array(ArrayValue { shape, data })
    };
    let mut args = vec![
        array(ScalarType::I64, &[n]),
        array(ScalarType::I32, &[n, m]),
        array(ScalarType::F64, &[m]),
        array(ScalarType::I64, &[m, 3]),
        array(ScalarType::I16, &[n, 3, k]),
        array(ScalarType::U8, &[k]),
    ];
    args.push(Value::Scalar(scalar::constant(&mut rng, ScalarType::I64)));
    args.push(Value::Scalar(scalar::constant(&mut rng, ScalarType::F64)));
    args.push(Value::Scalar(scalar::constant(&mut rng, ScalarType::I32)));
    args
}

impl<'v> Gen<'v> {
    fn new(vars: &'v mut Vars, rng: Random, budget: usize, helper: Option<FunId>) -> Self {
        let constants = [0, 1, 3].map(|n| KnownSize {
            size: Size::Const(n),
            most: n as u64,
        });
        Self {
            b: Builder::new(vars),
            rng,
            scope: Vec::new(),
            sizes: constants.to_vec(),
            base: 0,
            groups: 0,
            budget,
            depth: 0,
            work: 1,
            helper,
            chooser: None,
        }
    }

    /// Makes parameters: sizes, then values of the given types.
    fn params(&mut self, sizes: &[Var], types: &[(&str, Type)]) -> Vec<Var> {
        let mut params = sizes.to_vec();
        for &v in sizes {
            self.sizes.push(KnownSize {
                size: Size::Var(v),
                most: MOST,
            });
        }
        for (name, ty) in types {
            params.push(self.b.fresh(name, ty.clone()));
        }
        for &v in &params {
            let ty = self.b.ty(v);
            self.add(v, ty, false);
        }
        self.base = self.scope.len();
        params
    }

    fn helper(mut self) -> Fun<Soac> {
        let k = self.b.fresh("k", Type::I64);
        let vector = Type::array_of(&Type::I64, &[Size::Var(k)]);
        let params = self.params(&[k], &[("xs", vector.clone()), ("s", Type::I64)]);
        while self.budget > 0 {
            self.statement();
        }
        let array = self.fresh_array(ScalarType::I64, &[Size::Var(k)]);
        let mut scalar = self.scalar(ScalarType::I64);
        if self.rng.chance(50) {
            scalar = self.again(&params, scalar);
        }
        let inline = *self
            .rng
            .pick(&[Inline::Never, Inline::Never, Inline::Auto, Inline::Always]);
        let results = [self.b.fresh("r", vector), self.b.fresh("t", Type::I64)];
        let plain = |&var: &Var| Param { var, unique: false };
        Fun {
            name: "helper".into(),
            entry: None,
            params: params.iter().map(plain).collect(),
            results: results.iter().map(plain).collect(),
            body: self.b.finish(vec![Atom::Var(array), scalar]),
            inline,
            derivative: None,
            span: Spans::NONE,
        }
    }

    /// Calls the helper from itself, for the first half of its array, at most three times in a row, as its last parameter says;
    /// gives a scalar.
    fn again(&mut self, params: &[Var], scalar: Atom) -> Atom {
        const I64: ScalarType = ScalarType::I64;
        let (k, xs, steps) = (params[0], params[1], params[2]);
        let left = self.b.bin(BinOp::Mod, I64, steps, 4);
        let some = self.b.lt(0, left);
        let len = self.b.bin(BinOp::Div, I64, k, 2);
        let formals = [("again", Type::I64)];
        let call = |b: &mut Builder<'_, Soac>| {
            let (start, stride) = (Atom::ZERO, Atom::ONE);
            let len = len.as_size().unwrap_or(Size::Const(0));
            let part = b.slice("half", xs, vec![SliceDim::Range { start, len, stride }]);
            let less = b.sub(left, 1);
            let formals = [("half", b.ty(part)), ("t", Type::I64)];
            let (fun, args) = (FunId(0), vec![len.into(), part.into(), less]);
            vec![Atom::Var(b.let_all(&formals, Exp::Call { fun, args })[1])]
        };
        self.b.if_(some, &formals, call, |_| vec![scalar])[0].into()
    }

    fn main(mut self) -> Fun<Soac> {
        let n = self.b.fresh("n", Type::I64);
        let m = self.b.fresh("m", Type::I64);
        let k = self.b.fresh("k", Type::I64);
        let (ns, ms, three) = (Size::Var(n), Size::Var(m), Size::Const(3));
        let ks = Size::Var(k);
        let array = |elem, shape: &[Size]| Type::array_of(&Type::Scalar(elem), shape);
        let types = [
            ("xs", array(ScalarType::I64, &[ns])),
            ("yss", array(ScalarType::I32, &[ns, ms])),
            ("zs", array(ScalarType::F64, &[ms])),
            ("wss", array(ScalarType::I64, &[ms, three])),
            ("vsss", array(ScalarType::I16, &[ns, three, ks])),
            ("us", array(ScalarType::U8, &[ks])),
            ("a", Type::I64),
            ("b", Type::Scalar(ScalarType::F64)),
            ("c", Type::Scalar(ScalarType::I32)),
        ];
        let params = self.params(&[n, m, k], &types);
        // What is called once is inlined, however large it is.
        self.choosing();
        while self.budget > 0 {
            self.statement();
        }
        self.choosing();
        if self.rng.chance(TABULAR) {
            self.tabular();
        }
        if self.rng.chance(LARGE) {
            self.large();
        }
        if self.rng.below(DEEP) == 0 {
            self.deep();
        }
        let entry_params = types.iter().map(|(name, ty)| EntryParam {
            name: (*name).into(),
            ty: outside(ty),
            unique: false,
            streamed: false,
        });
        let entry_params = entry_params.collect();
        self.finish(&params, entry_params)
    }

    /// Chooses results and makes the function.
    fn finish(mut self, params: &[Var], entry_params: Vec<EntryParam>) -> Fun<Soac> {
        // What was made last, and some of the rest.
        let mut made: Vec<Item> = self.scope[self.base..].to_vec();
        let mut chosen: Vec<Item> = made.split_off(made.len().saturating_sub(4));
        for _ in 0..made.len().min(6) {
            chosen.push(made.swap_remove(self.rng.below(made.len())));
        }
        // Sizes that are no parameters are results of their own, before what they describe.
        let mut sizes: Vec<Var> = Vec::new();
        for dim in chosen.iter().flat_map(|item| item.ty.shape()) {
            if let Dim::Size(Size::Var(v)) = dim
                && !params.contains(v)
                && !sizes.contains(v)
            {
                sizes.push(*v);
            }
        }
        let mut subst = Subst::new();
        let mut results = Vec::new();
        for &v in &sizes {
            let formal = self.b.fresh("k", Type::I64);
            subst.insert(v, formal);
            results.push(formal);
        }
        for item in &chosen {
            let ty = subst.ty(&item.ty);
            results.push(self.b.fresh("r", ty));
        }
        let values = sizes.iter().copied().chain(chosen.iter().map(|i| i.var));
        let result: Vec<Atom> = values.map(Atom::Var).collect();
        let plain = |&var: &Var| Param { var, unique: false };
        Fun {
            name: "main".into(),
            entry: Some(Entry {
                name: "main".into(),
                size_params: 3,
                size_results: sizes.len(),
                params: entry_params,
                results: chosen.iter().map(|i| outside(&i.ty)).collect(),
                streamed: false,
            }),
            params: params.iter().map(plain).collect(),
            results: results.iter().map(plain).collect(),
            body: self.b.finish(result),
            inline: Inline::Auto,
            derivative: None,
            span: Spans::NONE,
        }
    }
}

/// The type as an entry point shows it.
fn outside(ty: &Type) -> EntryType {
    let elem = EntryType::Scalar(ty.elem().unwrap_or(ScalarType::Bool));
    match ty.rank() {
        0 => elem,
        rank => EntryType::Array {
            rank,
            elem: Box::new(elem),
        },
    }
}
