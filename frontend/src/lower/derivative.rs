//! Derivatives: the function to be differentiated becomes a function of the IR, what it captures parameters of it, and its
//! derivative another function that is marked as such. So is a function that has a derivative of its own.

use super::emit::text;
use super::value::{Leaf, Value, int_const};
use super::{Lower, Res, unsupported};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::typed::Op;
use midend::ir::array::{ArrayOp, StreamOp};
use midend::ir::id::{FunId, Id, SpanId, Var};
use midend::ir::rename::{self, Subst};
use midend::ir::scalar::{BinOp, CmpOp, Const};
use midend::ir::soac::Soac;
use midend::ir::syntax::{
    Atom, Body, Derivative, Exp, Fun, Inline, Lambda, Mode, Param, Program, Stm, TrapKind, VarInfo,
};
use midend::ir::types::{ScalarType, Size, Type};
use midend::ir::walk;
use midend::passes::derivatives;
use std::collections::BTreeSet;

impl<'a> Lower<'a> {
    /// `jvp2 f x x'` and `vjp2 f x y'`.
    ///
    /// Rows of different lengths are given and taken as the outside has them: their elements one after another, in arrays whose lengths are known
    /// before. What is differentiated is a function of the elements alone.
    pub(super) fn derivative(
        &mut self,
        mode: Mode,
        f: Value<'a>,
        x: &Value<'a>,
        seed: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        let mut x = self.opened(x);
        if mode == Mode::Forward {
            let ty = self.type_of(seed);
            x = self.irregular_as(&x, &ty);
        }
        let given = self.rows_out(&x, &mut Vec::new())?;
        let regular = match mode {
            Mode::Reverse | Mode::Custom if seed.has_rows() => None,
            Mode::Forward | Mode::Reverse | Mode::Custom => {
                let f = f.clone();
                self.differentiable(f, &given, None, span)?
            }
        };
        let (lam, y, made) = match regular {
            Some((lam, y)) => (lam, y, None),
            None => {
                let mut y = self.apply(f.clone(), vec![x.clone()], span)?;
                if y.has_fun() {
                    return Err(unsupported(span, NO_FUNCTIONS));
                }
                y = self.opened(&y);
                if mode != Mode::Forward {
                    let ty = self.type_of(seed);
                    y = self.irregular_as(&y, &ty);
                }
                let out = self.rows_out(&y, &mut Vec::new())?;
                let Some((lam, parts)) = self.differentiable(f, &given, Some(&out), span)? else {
                    return Err(self.irregular(span));
                };
                (lam, parts, Some((y, out)))
            }
        };
        let mut lam = lam;
        let like = match (mode, &made) {
            (Mode::Forward, _) => &given,
            (Mode::Reverse | Mode::Custom, Some((_, out))) => out,
            (Mode::Reverse | Mode::Custom, None) => &y,
        };
        let (seeds, certs) = self.seeds(seed, &like.clone(), span)?;
        let types: Vec<Type> = y.atoms().into_iter().map(|a| self.ty(a)).collect();
        let captured = self.captured_by(&mut lam, &types, span)?;
        let at = self.span_id(span);
        let of = self.lifted(&captured, lam, &types, at);
        let fun = self.derived(mode, of, captured.len(), at);
        let site = if self.is_in_prelude(span) {
            self.site
        } else {
            span
        };
        self.derivatives.push((fun, site));
        let mut args: Vec<Atom> = captured.iter().map(|v| Atom::Var(*v)).collect();
        args.extend(given.element_leaves().iter().map(|leaf| leaf.atom));
        args.extend(seeds);
        let mut binds = Vec::new();
        let mut results = |l: &mut Self, v: &Value<'a>| {
            v.map_elements(&mut |leaf| {
                let bind = l.fresh("d", l.ty(leaf.atom));
                l.alias(bind, args.iter().copied());
                binds.push(bind);
                Leaf {
                    shared: true,
                    ..Leaf::new(bind.into())
                }
            })
        };
        let out = made.as_ref().map_or(&y, |(_, out)| out);
        let primal = results(self, out);
        let derivative = match mode {
            Mode::Forward => numbered_as(&results(self, out), &primal),
            Mode::Reverse | Mode::Custom => numbered_as(&results(self, &given), &given),
        };
        if !binds.is_empty() {
            self.with_certs(&certs, |l| l.push(binds, Exp::Call { fun, args }));
        }
        let primal = match made {
            Some((y, _)) => y,
            None => primal,
        };
        let derivative = self.rows_in(&derivative, &mut Vec::new())?;
        Ok(Value::tuple(vec![primal, derivative]))
    }

    /// The seeds for the elements of a value, and the checks that rows have the lengths of its rows.
    fn seeds(
        &mut self,
        seed: &Value<'a>,
        like: &Value<'a>,
        span: Span,
    ) -> Res<(Vec<Atom>, Vec<Var>)> {
        let ty = self.type_of(like);
        let seed = self.cast(seed, &ty);
        let seed = self.irregular_as(&seed, &ty);
        let seed = self.rows_out(&seed, &mut Vec::new())?;
        let mut certs = Vec::new();
        for (own, of) in seed.begins().into_iter().zip(like.begins()) {
            let ok = self.are_equal(own, of, &certs, span)?;
            let message = "the rows of a direction or weight have other lengths than those of the value that it is for";
            certs.extend(self.assert(ok, TrapKind::Shape, vec![text(message.to_owned())]));
        }
        let seeds = seed.element_leaves().into_iter().zip(like.element_leaves());
        let seeds = self.with_certs(&certs, |l| {
            seeds.map(|(own, of)| l.fitted(own, of).atom).collect()
        });
        Ok((seeds, certs))
    }

    /// A leaf with the shape of another one, which it has.
    fn fitted(&mut self, own: Leaf, of: Leaf) -> Leaf {
        let shape = self.ty(of.atom).shape().to_vec();
        let shape: Vec<Size> = shape.iter().filter_map(|dim| dim.size()).collect();
        self.reshape(own, &shape)
    }

    /// Whether arrays of lengths are equal.
    fn are_equal(&mut self, own: Leaf, of: Leaf, certs: &[Var], span: Span) -> Res<Atom> {
        let shape = self.ty(of.atom).shape().to_vec();
        let shape: Vec<Size> = shape.iter().filter_map(|dim| dim.size()).collect();
        let own = self.with_certs(certs, |l| l.fitted(own, of));
        let count = self.elements(&shape);
        let differences = self.each_i64(BinOp::Sub, own, of.atom, &shape);
        let differences = Value::Leaf(self.reshape(differences, &[count]));
        let differences = Value::array(&[count], differences);
        let i64 = ScalarType::I64;
        let mut ok = self.cmp(CmpOp::Eq, i64, count.into(), Atom::ZERO);
        let mut zero = Atom::Const(Const::Bool(true));
        for op in [Op::Minimum, Op::Maximum] {
            let most = self.fold_op(op, i64, &differences, span)?;
            let most = self.scalar_of(&most, span)?;
            let is_zero = self.cmp(CmpOp::Eq, i64, most, Atom::ZERO);
            zero = self.and(zero, is_zero);
        }
        ok = self.or(ok, zero);
        Ok(ok)
    }

    /// `with_vjp f f' x`.
    pub(super) fn with_rule(
        &mut self,
        f: Value<'a>,
        rule: Value<'a>,
        x: &Value<'a>,
        span: Span,
    ) -> Res<Value<'a>> {
        check(x, "an argument", span)?;
        let Some((mut lam, y)) = self.differentiable(f, x, None, span)? else {
            return Err(self.irregular(span));
        };
        check(&y, "a result", span)?;
        let (mut params, result) = self.formals(&y);
        let (weights, weight) = self.formals(&y);
        params.extend(weights);
        let like = self.type_of(x);
        let mut rule = Some(rule);
        let (mut of_rule, part) = self.lambda(params, None, span, &mut |l| match rule.take() {
            Some(rule) => {
                let part = l.apply(rule, vec![result.clone(), weight.clone()], span)?;
                Ok(l.cast(&part, &like))
            }
            None => Ok(Value::unit()),
        })?;
        let types = |l: &Self, v: &Value<'a>| -> Vec<Type> {
            v.atoms().into_iter().map(|a| l.ty(a)).collect()
        };
        let (ys, parts) = (types(self, &y), types(self, &part));
        let own = self.captured_by(&mut lam, &ys, span)?;
        let more = self.captured_by(&mut of_rule, &parts, span)?;
        let at = self.span_id(span);
        let of = self.lifted(&own, lam, &ys, at);
        let rule = self.lifted(&more, of_rule, &parts, at);
        let further = more.iter().filter(|v| !own.contains(v));
        let further: Vec<Var> = further.copied().collect();
        let fun = self.custom((of, &own), (rule, &more), &further, at);
        let captured = own.iter().chain(&further);
        let mut args: Vec<Atom> = captured.map(|v| Atom::Var(*v)).collect();
        args.extend(x.atoms());
        let mut binds = Vec::new();
        let results = y.map_leaves(&mut |leaf| {
            let bind = self.fresh("y", self.ty(leaf.atom));
            self.alias(bind, args.iter().copied());
            binds.push(bind);
            Leaf {
                shared: true,
                ..Leaf::new(bind.into())
            }
        });
        if !binds.is_empty() {
            self.push(binds, Exp::Call { fun, args });
        }
        Ok(results)
    }

    /// The function that is differentiated, of the elements of a value, and its result; nothing if that has rows of different lengths, unless they are
    /// to be as many as in another value: then it is their elements.
    fn differentiable(
        &mut self,
        f: Value<'a>,
        x: &Value<'a>,
        like: Option<&Value<'a>>,
        span: Span,
    ) -> Res<Option<(Lambda<Soac>, Value<'a>)>> {
        if x.has_fun() {
            return Err(unsupported(span, NO_FUNCTIONS));
        }
        let (params, elem) = self.formals(x);
        let mut fun = Some(f);
        let made = self.lambda_if_same(params, None, &mut |l| {
            let Some(f) = fun.take() else {
                return Ok(Value::unit());
            };
            let elem = l.rows_in(&elem, &mut Vec::new())?;
            let y = l.apply(f, vec![elem], span)?;
            if y.has_fun() {
                return Err(unsupported(span, NO_FUNCTIONS));
            }
            let Some(like) = like else {
                return Ok(y);
            };
            let ty = l.type_of(like);
            let y = l.opened(&y);
            let y = l.irregular_as(&y, &ty);
            let y = l.rows_out(&y, &mut Vec::new())?;
            let leaves = y.element_leaves().into_iter().zip(like.element_leaves());
            let parts = leaves.map(|(own, of)| {
                let leaf = l.fitted(own, of);
                let shape = l.ty(leaf.atom).shape().to_vec();
                let shape: Vec<Size> = shape.iter().filter_map(|dim| dim.size()).collect();
                Value::array(&shape, Value::Leaf(leaf))
            });
            Ok(Value::Tuple(parts.collect()))
        })?;
        Ok(made)
    }

    /// Parameters for a value, and the value of these.
    fn formals(&mut self, v: &Value<'a>) -> (Vec<Var>, Value<'a>) {
        let mut params = Vec::new();
        let own = v.map_elements(&mut |leaf| {
            let param = self.fresh("x", self.ty(leaf.atom));
            params.push(param);
            Leaf {
                shared: true,
                ..Leaf::new(param.into())
            }
        });
        (params, own)
    }

    /// A function that calls another one, and names the function that computes its derivative. Both are given with what they capture; `further`
    /// is what the second alone does.
    fn custom(
        &mut self,
        (of, own): (FunId, &[Var]),
        (rule, more): (FunId, &[Var]),
        further: &[Var],
        span: SpanId,
    ) -> FunId {
        let (original, formals) = (self.funs[of].params.clone(), self.funs[of].results.clone());
        let mut subst = Subst::new();
        let mut of_own = Subst::new();
        let mut params = Vec::new();
        for (k, p) in original.iter().enumerate() {
            let v = rename::fresh(&mut self.vars, &mut of_own, p.var);
            params.push(v);
            if let Some(outer) = own.get(k) {
                subst.insert(*outer, v);
            }
        }
        let xs = params.split_off(own.len());
        for v in further {
            params.push(rename::fresh(&mut self.vars, &mut subst, *v));
        }
        let captured =
            |vars: &[Var]| -> Vec<Atom> { vars.iter().map(|v| Atom::Var(subst.var(*v))).collect() };
        let (mut args, mut of_rule) = (captured(own), captured(more));
        args.extend(xs.iter().map(|v| Atom::Var(*v)));
        let first = params.len();
        let count = xs.len();
        params.extend(xs);
        let outputs: Vec<Type> = formals
            .iter()
            .map(|p| of_own.ty(&self.vars[p.var].ty))
            .collect();
        let mut binds = Vec::new();
        for ty in &outputs {
            binds.push(self.formal("y", ty.clone()).var);
        }
        let result: Vec<Atom> = binds.iter().map(|v| Atom::Var(*v)).collect();
        let mut stms = vec![stm(binds, Exp::Call { fun: of, args }, span)];
        of_rule.extend(&result);
        for ty in &outputs {
            let zero = self.zeros(ty, &mut stms, span);
            of_rule.push(zero);
        }
        let mut parts = Vec::new();
        for k in 0..count {
            let ty = self.vars[params[first + k]].ty.clone();
            parts.push(self.formal("part", ty).var);
        }
        let call = Exp::Call {
            fun: rule,
            args: of_rule,
        };
        stms.push(stm(parts, call, span));
        let results = outputs.into_iter();
        let results = results.map(|ty| self.formal("r", ty)).collect();
        let name = self.unique_name("with_vjp");
        let params = params.into_iter().map(|var| Param { var, unique: false });
        self.funs.push(Fun {
            name,
            entry: None,
            params: params.collect(),
            results,
            body: Body { stms, result },
            inline: Inline::Never,
            derivative: Some(Derivative {
                mode: Mode::Custom,
                first,
                count,
            }),
            span,
        })
    }

    /// Zeros of a type.
    fn zeros(&mut self, ty: &Type, stms: &mut Vec<Stm<Soac>>, span: SpanId) -> Atom {
        let zero = Atom::Const(int_const(ty.elem().unwrap_or(ScalarType::I64), 0));
        match ty {
            Type::Array(array) => {
                let v = self.formal("zero", ty.clone()).var;
                let shape = array.shape.clone();
                let op = ArrayOp::Replicate { shape, value: zero };
                stms.push(stm(vec![v], op.into(), span));
                v.into()
            }
            Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => zero,
        }
    }

    /// Refuses derivatives that have themselves in them, and those of functions that read or write sequences.
    pub(super) fn check_derivatives(&self) -> Res<()> {
        if self.derivatives.is_empty() {
            return Ok(());
        }
        let calls: Vec<Vec<FunId>> = (self.funs.iter())
            .map(|fun| {
                let mut called = Vec::new();
                walk::calls(&fun.body, &mut |callee| called.push(callee));
                called
            })
            .collect();
        let crosses: Vec<bool> = (self.funs.iter()).map(|fun| crosses(&fun.body)).collect();
        for (id, span) in &self.derivatives {
            let mut seen: BTreeSet<FunId> = BTreeSet::new();
            let mut next = calls[id.index()].clone();
            while let Some(at) = next.pop() {
                if at == *id {
                    let what = "a derivative inside of the function that it is the derivative of";
                    return Err(unsupported(*span, what));
                }
                if crosses[at.index()] {
                    let what = "the derivative of a function that reads or writes a sequence";
                    return Err(unsupported(*span, what));
                }
                if seen.insert(at) {
                    next.extend(&calls[at.index()]);
                }
            }
        }
        Ok(())
    }

    /// What a lambda and the types of its results need from outside, sizes before the arrays that have them.
    fn captured_by(&self, lam: &mut Lambda<Soac>, results: &[Type], span: Span) -> Res<Vec<Var>> {
        let free = walk::free_in_lambda(&self.vars, lam);
        let mut sizes = Vec::new();
        for ty in results {
            walk::type_vars(ty, &mut |v| sizes.push(v));
        }
        let mut captured: Vec<Var> = Vec::new();
        for v in sizes.into_iter().chain(free) {
            let ty = &self.vars[v].ty;
            if ty.is_acc() {
                return Err(unsupported(
                    span,
                    "the derivative of a function that updates an accumulator from outside",
                ));
            }
            if *ty == Type::Cert {
                continue;
            }
            walk::type_vars(ty, &mut |v| {
                if !captured.contains(&v) {
                    captured.push(v);
                }
            });
            if !captured.contains(&v) {
                captured.push(v);
            }
        }
        // The call of the derivative comes after these checks.
        let outside: Vec<Var> = walk::free_in_lambda(&self.vars, lam)
            .into_iter()
            .filter(|v| self.vars[*v].ty == Type::Cert)
            .collect();
        walk::all_stms_mut(&mut lam.body, &mut |stm| {
            stm.certs.retain(|cert| !outside.contains(cert));
        });
        Ok(captured)
    }

    fn formal(&mut self, name: &str, ty: Type) -> Param {
        let var = self.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        });
        Param { var, unique: false }
    }

    /// The lambda as a function; what it captures comes first.
    fn lifted(
        &mut self,
        captured: &[Var],
        lam: Lambda<Soac>,
        results: &[Type],
        span: SpanId,
    ) -> FunId {
        let mut subst = Subst::new();
        let vars = captured.iter();
        let mut params: Vec<Var> = vars
            .map(|v| rename::fresh(&mut self.vars, &mut subst, *v))
            .collect();
        let lam = rename::lambda(&mut self.vars, &mut subst, &lam);
        params.extend(lam.params);
        for param in &params {
            walk::type_vars(&self.vars[*param].ty, &mut |v| {
                self.extents.insert(v);
            });
        }
        let params = params.into_iter().map(|var| Param { var, unique: false });
        let params = params.collect();
        let results = results.iter();
        let results = results.map(|ty| self.formal("r", subst.ty(ty))).collect();
        let name = self.unique_name("differentiable");
        self.funs.push(Fun {
            name,
            entry: None,
            params,
            results,
            body: lam.body,
            inline: Inline::Auto,
            derivative: None,
            span,
        })
    }

    /// The derivative of a function with respect to its parameters from `first` on.
    fn derived(&mut self, mode: Mode, of: FunId, first: usize, span: SpanId) -> FunId {
        let (original, formals) = (self.funs[of].params.clone(), self.funs[of].results.clone());
        let mut subst = Subst::new();
        let vars = original.iter();
        let mut params: Vec<Var> = vars
            .map(|p| rename::fresh(&mut self.vars, &mut subst, p.var))
            .collect();
        let args: Vec<Atom> = params.iter().map(|v| Atom::Var(*v)).collect();
        let inputs: Vec<Type> = params[first..]
            .iter()
            .map(|v| self.vars[*v].ty.clone())
            .collect();
        let outputs: Vec<Type> = formals
            .iter()
            .map(|p| subst.ty(&self.vars[p.var].ty))
            .collect();
        let (seeds, derivatives) = match mode {
            Mode::Forward => (&inputs, &outputs),
            Mode::Reverse | Mode::Custom => (&outputs, &inputs),
        };
        for ty in seeds {
            params.push(self.formal("seed", ty.clone()).var);
        }
        let mut binds = Vec::new();
        for ty in &outputs {
            binds.push(self.formal("y", ty.clone()).var);
        }
        let mut result: Vec<Atom> = binds.iter().map(|v| Atom::Var(*v)).collect();
        let call = Exp::Call { fun: of, args };
        let mut stms = vec![stm(binds, call, span)];
        for ty in derivatives {
            result.push(self.zeros(ty, &mut stms, span));
        }
        let results = outputs.iter().chain(derivatives);
        let results = results.map(|ty| self.formal("r", ty.clone())).collect();
        let name = self.unique_name(match mode {
            Mode::Forward => "jvp",
            Mode::Reverse | Mode::Custom => "vjp",
        });
        let params = params.into_iter().map(|var| Param { var, unique: false });
        self.funs.push(Fun {
            name,
            entry: None,
            params: params.collect(),
            results,
            body: Body { stms, result },
            inline: Inline::Never,
            derivative: Some(Derivative {
                mode,
                first,
                count: inputs.len(),
            }),
            span,
        })
    }
}

/// What a derivative in reverse mode needs that the mid-end has no rule for.
pub(super) fn refused(
    program: &Program<Soac>,
    derivatives: &[(FunId, Span)],
) -> Option<Diagnostic> {
    let (id, refusal) = derivatives::refusals(program).into_iter().next()?;
    let (_, span) = derivatives.iter().find(|(fun, _)| *fun == id)?;
    let what = format!(
        "a gradient (`vjp`) through {} on this target; the interpreter computes it",
        refusal.what
    );
    let mut refused = *unsupported(*span, what);
    let of = program.funs[id].span;
    if let Some(line) = program.spans.line_in(of, refusal.span) {
        refused = refused.note(format!("that is in line {line}"));
    }
    Some(refused.hint("run the program with `--target=interp`"))
}

/// Whether elements of sequences come in or go out.
fn crosses(body: &Body<Soac>) -> bool {
    let mut crosses = false;
    walk::all_stms(body, &mut |stm| {
        if let Exp::Op(Soac::Array(ArrayOp::Stream(stream))) = &stm.exp {
            crosses |= stream.op != StreamOp::Next;
        }
    });
    crosses
}

const fn stm(binds: Vec<Var>, exp: Exp<Soac>, span: SpanId) -> Stm<Soac> {
    Stm {
        binds,
        certs: Vec::new(),
        exp,
        span,
    }
}

const NO_FUNCTIONS: &str =
    "the derivative of a function that has an argument or a result with functions in it";

/// Whether functions of such values may have derivatives of their own.
fn check(v: &Value<'_>, what: &str, span: Span) -> Res<()> {
    if !v.has_rows() {
        return Ok(());
    }
    let message = format!(
        "a derivative of its own of a function that has {what} with rows of different lengths in it"
    );
    Err(unsupported(span, message))
}

/// A derivative, with the constructors of the value that it is the derivative of.
fn numbered_as<'a>(derivative: &Value<'a>, of: &Value<'a>) -> Value<'a> {
    let mut are_numbers = Vec::new();
    numbers(of, &mut are_numbers);
    let mut of = are_numbers.into_iter().zip(of.element_leaves());
    derivative.map_elements(&mut |own| match of.next() {
        Some((true, number)) => Leaf {
            shared: true,
            ..number
        },
        Some((false, _)) | None => own,
    })
}

/// For each leaf of a value whether it is the number of a constructor.
fn numbers(v: &Value<'_>, out: &mut Vec<bool>) {
    match v {
        Value::Leaf(_) => out.push(false),
        Value::Array { elem, .. } => numbers(elem, out),
        Value::Tuple(fields) => fields.iter().for_each(|v| numbers(v, out)),
        Value::Record(fields) => fields.iter().for_each(|(_, v)| numbers(v, out)),
        Value::Sum(sum) => {
            out.push(true);
            let payloads = sum.cons.iter().flat_map(|(_, vs)| vs);
            payloads.for_each(|v| numbers(v, out));
        }
        Value::Rows(rows) => numbers(&rows.pool, out),
        // There are none of these in what is differentiated.
        Value::Fun(_) => {}
    }
}
