//! Application.
//!
//! Arguments that are data are looked at before those that are functions, and lambdas last: so a lambda knows the sizes of what
//! it is applied to, wherever it stands among the arguments. Then each is compared with its parameter in order.

use super::Sizer;
use super::inst::OPEN;
use crate::source::Span;
use crate::typed::{Exp, ExpKind};
use crate::types::context::Res;
use crate::types::infer::tyexp::free_sizes;
use crate::types::opaque::{each_size, metas_of_size, names_of_size, replace_metas};
use crate::types::raw::{RExp, RKind};
use crate::types::subst::{map_sizes, order_zero};
use crate::types::ty::{Atom, Name, Size, Type, TypeArg};
use midend::hash::{HashMap, HashSet};

/// The type of a parameter, as far as it is known; sizes that are not known are [`OPEN`].
pub(crate) type Given = Option<Type>;

/// What arguments tell before they are compared with their parameters.
#[derive(Clone, Default)]
struct Told {
    /// Sizes of the instance.
    sizes: HashMap<u32, Size>,
    /// Names that the type of the function binds: they become known when the arguments are put in.
    local: HashSet<Name>,
}

impl Sizer<'_, '_> {
    /// An application; `wanted` is the type that is expected of it, if it is known.
    pub(crate) fn apply(
        &mut self,
        fun: &RExp,
        args: &[RExp],
        infix: bool,
        span: Span,
        wanted: Option<&Type>,
    ) -> Res<Exp> {
        let callee = if let RKind::Var { name, .. } = &fun.kind {
            Some(*name)
        } else {
            None
        };
        let (fun, early) = self.callee(fun, args)?;
        let mut ty = fun.ty.clone();
        let early = match early {
            Some(args) => args,
            None => self.arguments(&ty, args, wanted)?,
        };
        let mut exts = Vec::new();
        let mut out = Vec::with_capacity(args.len());
        let mentioned = self.ty(&ty);
        let mentioned: HashSet<Name> = free_sizes(&mentioned).into_iter().collect();
        for (at, mut arg) in early.into_iter().enumerate() {
            let rest = if at + 1 < args.len() {
                self.rest_as_it_is(&ty, &arg, &mentioned)
            } else {
                None
            };
            let (ret, new) = self.apply_one(&ty, &mut arg, callee, at, rest)?;
            ty = ret;
            exts.extend(new);
            out.push(arg);
        }
        let kind = ExpKind::Apply {
            fun: crate::syntax::ptr::P::new(fun),
            args: out,
            infix,
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts,
        })
    }

    /// What is applied, with the arguments that had to be looked at before it: those of a lambda, if there are functions
    /// among them.
    fn callee(&mut self, fun: &RExp, args: &[RExp]) -> Res<(Exp, Option<Vec<Exp>>)> {
        let functions = args.iter().any(|arg| matches!(arg.ty, Type::Fun(_)));
        let RKind::Lambda { params, body, ret } = &fun.kind else {
            return Ok((self.exp(fun)?, None));
        };
        if !functions {
            return Ok((self.exp(fun)?, None));
        }
        let args: Vec<Exp> = args.iter().map(|arg| self.exp(arg)).collect::<Res<_>>()?;
        let given: Vec<Given> = args.iter().map(|arg| Some(arg.ty.clone())).collect();
        let fun = self.lambda(params, body, ret.as_ref(), fun.span, &given)?;
        Ok((fun, Some(args)))
    }

    /// The arguments of a function of a type: data, then functions, then lambdas.
    fn arguments(&mut self, ty: &Type, args: &[RExp], wanted: Option<&Type>) -> Res<Vec<Exp>> {
        let functions: Vec<bool> = args
            .iter()
            .map(|arg| !order_zero(&self.solver.zonk(&arg.ty)))
            .collect();
        let irregular = self.cx.irregular && args.len() > 1;
        if !functions.contains(&true) && !irregular {
            return self.exps(args);
        }
        let mut params = Vec::with_capacity(args.len());
        let mut told = Told::default();
        let mut rest = ty;
        while let Type::Fun(f) = rest
            && params.len() < args.len()
        {
            params.push(f.arg.clone());
            told.local.extend(f.param);
            told.local.extend(&f.ret.exts);
            rest = &f.ret.ty;
        }
        if let Some(wanted) = wanted {
            self.tell_parameters(rest, wanted, &mut told);
        }
        let mut out: Vec<Option<Exp>> = vec![None; args.len()];
        let lambda = |arg: &RExp| matches!(arg.kind, RKind::Lambda { .. });
        let order = |at: usize| u8::from(functions[at]) + u8::from(lambda(&args[at]));
        for turn in 0..=2 {
            for (at, arg) in args.iter().enumerate().filter(|(at, _)| order(*at) == turn) {
                let param = params.get(at);
                let arg = match param {
                    Some(param) if functions[at] => self.function(arg, param, &told)?,
                    Some(_) | None => self.exp(arg)?,
                };
                if let Some(param) = param {
                    let given = self.ty(&arg.ty);
                    self.tell(param, &given, &mut told);
                    if turn == 0 && irregular {
                        self.irregular_parts(param, &given);
                    }
                }
                out[at] = Some(arg);
            }
        }
        Ok(out.into_iter().flatten().collect())
    }

    /// A function that is given for a parameter, when other arguments have told these sizes.
    fn function(&mut self, arg: &RExp, param: &Type, told: &Told) -> Res<Exp> {
        let param = self.ty(param);
        // What a function computes from rows of any lengths may be one. Then the size that its result begins with decides nothing.
        if self.results_vary || told.sizes.values().any(Size::is_irregular) {
            let told = self.without_results(&param, told);
            let known = self.with_told(&param, &told);
            return self.exp_of(arg, &known);
        }
        let known = self.with_told(&param, told);
        let out = self.exp_of(arg, &known)?;
        if !self.has_irregular_results(&param, &out.ty, told) {
            return Ok(out);
        }
        // It computes such rows from others, so that it is to be read again: once, and all functions in it as well.
        let told = self.without_results(&param, told);
        let known = self.with_told(&param, &told);
        let outer = std::mem::replace(&mut self.results_vary, true);
        let out = self.exp_of(arg, &known);
        self.results_vary = outer;
        out
    }

    /// What was told, but for the sizes of what a function returns.
    fn without_results(&self, param: &Type, told: &Told) -> Told {
        let mut result = param;
        while let Type::Fun(f) = result {
            result = &f.ret.ty;
        }
        let mut metas = Vec::new();
        each_size(result, &mut |s| metas_of_size(s, &mut metas));
        let mut told = told.clone();
        for m in metas {
            told.sizes.remove(&self.original(m));
        }
        told
    }

    fn with_told(&self, param: &Type, told: &Told) -> Type {
        let open = Size::atom(Atom::Meta(OPEN));
        let known = replace_metas(&self.cx.names, param, &mut |m| {
            told.sizes.get(&self.original(m)).unwrap_or(&open).clone()
        });
        map_sizes(&known, &mut |s| {
            let mut names = Vec::new();
            names_of_size(s, &mut names);
            match names.iter().any(|n| told.local.contains(n)) {
                true => open.clone(),
                false => s.clone(),
            }
        })
    }

    /// An expression of which a type is expected: a function knows from it what it is applied to. Whether the expression has
    /// the type is for the caller to find out.
    fn exp_of(&mut self, e: &RExp, wanted: &Type) -> Res<Exp> {
        if let RKind::Lambda { params, body, ret } = &e.kind {
            let given = given(wanted, params.len());
            return self.lambda(params, body, ret.as_ref(), e.span, &given);
        }
        if let RKind::Apply { fun, args, infix } = &e.kind {
            return self.apply(fun, args, *infix, e.span, Some(wanted));
        }
        self.exp(e)
    }

    /// What the parameters of a function are from what is expected of them.
    fn tell_parameters(&mut self, ty: &Type, wanted: &Type, told: &mut Told) {
        let (mut ty, mut given) = (ty, given(wanted, usize::MAX).into_iter());
        while let (Type::Fun(f), Some(given)) = (ty, given.next()) {
            if let Some(given) = given {
                self.tell(&f.arg, &given, told);
            }
            ty = &f.ret.ty;
        }
    }

    /// Finds the sizes of a parameter in what is given for it, but for those that only calls make known.
    fn tell(&mut self, param: &Type, given: &Type, told: &mut Told) {
        let param = self.ty(param);
        each_pair(&param, given, &mut Vec::new(), &mut |p, g, bound| {
            let Some(Atom::Meta(m)) = p.as_atom() else {
                return;
            };
            let (mut names, mut metas) = (Vec::new(), Vec::new());
            names_of_size(g, &mut names);
            metas_of_size(g, &mut metas);
            let local = names.iter().any(|n| bound.contains(n))
                || metas.iter().any(|m| *m == OPEN || self.pending(*m));
            if !local {
                told.sizes
                    .entry(self.original(*m))
                    .or_insert_with(|| g.clone());
            }
        });
    }

    /// Whether a function returns rows of any lengths where a size was told.
    fn has_irregular_results(&self, param: &Type, given: &Type, told: &Told) -> bool {
        let (Type::Fun(f), Type::Fun(g)) = (param, given) else {
            return false;
        };
        let mut some = false;
        each_pair(&f.ret.ty, &g.ret.ty, &mut Vec::new(), &mut |p, g, _| {
            some |= g.is_irregular()
                && matches!(p.as_atom(), Some(Atom::Meta(m))
                    if told.sizes.get(&self.original(*m)).is_some_and(|s| !s.is_irregular()));
        });
        some
    }
}

/// The types of the first parameters of a function, but for those that depend on arguments or calls.
fn given(ty: &Type, count: usize) -> Vec<Given> {
    let mut out = Vec::new();
    let mut bound: Vec<Name> = Vec::new();
    let mut rest = ty;
    while let Type::Fun(f) = rest
        && out.len() < count
    {
        let free = free_sizes(&f.arg);
        let known = !bound.iter().any(|n| free.contains(n));
        out.push(known.then(|| f.arg.clone()));
        bound.extend(f.param);
        bound.extend(&f.ret.exts);
        rest = &f.ret.ty;
    }
    out
}

/// Visits the sizes at the same positions of two types, with the names that the function types around them bind.
fn each_pair(a: &Type, b: &Type, bound: &mut Vec<Name>, f: &mut dyn FnMut(&Size, &Size, &[Name])) {
    match (a, b) {
        (Type::Array(x), Type::Array(y)) => {
            f(&x.size, &y.size, bound);
            each_pair(&x.elem, &y.elem, bound, f);
        }
        (Type::Tuple(xs), Type::Tuple(ys)) => {
            let pairs = xs.iter().zip(ys.iter());
            pairs.for_each(|(x, y)| each_pair(x, y, bound, f));
        }
        (Type::Record(xs), Type::Record(ys)) => {
            let pairs = xs.iter().zip(ys.iter());
            pairs.for_each(|(x, y)| each_pair(&x.1, &y.1, bound, f));
        }
        (Type::Sum(xs), Type::Sum(ys)) => {
            let pairs = xs.iter().zip(ys.iter());
            let pairs = pairs.flat_map(|(x, y)| x.1.iter().zip(&y.1));
            pairs.for_each(|(x, y)| each_pair(x, y, bound, f));
        }
        (Type::Fun(x), Type::Fun(y)) => {
            each_pair(&x.arg, &y.arg, bound, f);
            let mark = bound.len();
            for fun in [x, y] {
                bound.extend(fun.param);
                bound.extend(&fun.ret.exts);
            }
            each_pair(&x.ret.ty, &y.ret.ty, bound, f);
            bound.truncate(mark);
        }
        (Type::Named(x), Type::Named(y)) => {
            for pair in x.args.iter().zip(&y.args) {
                match pair {
                    (TypeArg::Size(s), TypeArg::Size(t)) => f(s, t, bound),
                    (TypeArg::Type(s), TypeArg::Type(t)) => each_pair(s, t, bound, f),
                    (TypeArg::Size(_), TypeArg::Type(_)) | (TypeArg::Type(_), TypeArg::Size(_)) => {
                    }
                }
            }
        }
        (
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_),
            _,
        ) => {}
    }
}
