//! The end of the second pass: every type gets what was inferred, and nothing may be left open.

use super::{Sizer, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Inst, RetType, ValueDef};
use crate::types::context::{Res, err};
use crate::types::opaque::{each_size, metas_of_size, replace_metas};
use crate::types::ty::{Atom, Name, Scheme, Size, Type};
use crate::types::walk::{self, Visitor};
use midend::hash::HashMap;

impl Sizer<'_, '_> {
    /// Completes a definition.
    pub(crate) fn finish(&mut self, def: &mut ValueDef) -> Res<()> {
        self.settle()?;
        let own = (def.name, def.scheme.clone());
        let mut finisher = Finisher {
            z: self,
            open: None,
            own,
            at: def.span,
        };
        walk::def(def, &mut finisher);
        let open = finisher.open;
        match open {
            None => Ok(()),
            Some((span, why)) => Err(Box::new(
                Diagnostic::error(
                    Code::AmbiguousSize,
                    span,
                    format!("the size here cannot be inferred: {why}"),
                )
                .hint("add a type annotation that says the size"),
            )),
        }
    }

    /// Completes a type that stands alone.
    pub(crate) fn finish_type(&mut self, ty: &Type, span: Span) -> Res<Type> {
        let ty = self.ty(ty);
        let mut metas = Vec::new();
        each_size(&ty, &mut |s| metas_of_size(s, &mut metas));
        if metas.is_empty() {
            // Sizes that are left in the types of expressions do not matter.
            Ok(replace_metas(&self.cx.names, &ty, &mut |_| Size::default()))
        } else {
            err(
                Code::AmbiguousSize,
                span,
                "this type has a size that nothing binds",
            )
        }
    }
}

struct Finisher<'z, 'c, 'a> {
    z: &'z mut Sizer<'c, 'a>,
    open: Option<(Span, &'static str)>,
    own: (Name, Scheme),
    at: Span,
}

impl Finisher<'_, '_, '_> {
    /// The type without anything open; existential sizes that nothing in it can bind come out.
    fn complete(&mut self, ty: &Type) -> (Type, Vec<Name>) {
        let ty = self.z.ty(ty);
        let (mut metas, mut open) = (Vec::new(), false);
        each_size(&ty, &mut |s| {
            metas_of_size(s, &mut metas);
            open |= s.is_open();
        });
        if !open {
            return (ty, Vec::new());
        }
        let (mut ty, mut exts) = (ty, Vec::new());
        if metas.iter().any(|m| self.z.pending(*m)) {
            let merged = self.z.merge_pending(&ty);
            // A size that was computed somewhere is known only from there on.
            let at = metas
                .iter()
                .find_map(|m| match &self.z.metas[*m as usize].state {
                    State::Existential { computed, .. } => *computed,
                    State::Copy { of, .. } => match &self.z.metas[*of as usize].state {
                        State::Existential { computed, .. } => *computed,
                        State::Flexible
                        | State::Inst(_)
                        | State::Copy { .. }
                        | State::Solved(_) => None,
                    },
                    State::Flexible | State::Inst(_) | State::Solved(_) => None,
                });
            let span = at.unwrap_or(self.at);
            (ty, exts) = self
                .z
                .size_free(&merged, span, "an existential size", &|z, s| {
                    let mut metas = Vec::new();
                    metas_of_size(s, &mut metas);
                    metas.iter().any(|m| z.pending(*m))
                });
            if at.is_none() {
                for e in &exts {
                    self.z.rigid.remove(e);
                }
            }
        }
        let mut metas = Vec::new();
        each_size(&ty, &mut |s| metas_of_size(s, &mut metas));
        let left: HashMap<u32, Size> = metas.iter().map(|m| (*m, self.leftover(*m))).collect();
        let ty = replace_metas(&self.z.cx.names, &ty, &mut |m| {
            left.get(&m).cloned().unwrap_or_default()
        });
        (ty, exts)
    }

    fn leftover(&mut self, m: u32) -> Size {
        let m = match self.z.metas[m as usize].state {
            State::Copy { of, .. } => of,
            State::Flexible | State::Inst(_) | State::Existential { .. } | State::Solved(_) => m,
        };
        let size = self.z.size(&Size::atom(Atom::Meta(m)));
        if size.as_atom() != Some(&Atom::Meta(m)) {
            return size;
        }
        let meta = &self.z.metas[m as usize];
        if self.open.is_none() {
            self.open = Some((meta.span, meta.why));
        }
        Size::default()
    }
}

impl Visitor for Finisher<'_, '_, '_> {
    fn ty(&mut self, ty: &mut Type) {
        *ty = self.complete(ty).0;
    }

    fn ret(&mut self, ret: &mut RetType) {
        let (ty, exts) = self.complete(&ret.ty);
        ret.ty = ty;
        ret.exts.extend(exts);
    }

    fn size(&mut self, size: &mut Size) {
        let boxed = Type::array(size.clone(), Type::unit());
        if let (Type::Array(a), _) = self.complete(&boxed) {
            *size = a.size.clone();
        }
    }

    fn enter(&mut self, e: &mut Exp) -> bool {
        self.at = e.span;
        if matches!(e.kind, ExpKind::Hole) {
            let (ty, _) = self.complete(&e.ty);
            let shown = crate::types::print::ty(&self.z.cx.names, &ty);
            let message = format!("a hole of type `{shown}`");
            self.z.cx.diags.push(
                Diagnostic::warning(Code::Hole, e.span, message)
                    .note("the program fails when it gets here"),
            );
        }
        if let ExpKind::Var { name, inst } = &mut e.kind
            && *name == self.own.0
        {
            own_instance(inst, &self.own.1);
        }
        true
    }
}

/// A recursive use has the types of the function at hand.
fn own_instance(inst: &mut Inst, scheme: &Scheme) {
    if inst.types.is_empty() {
        inst.types = scheme.types.iter().map(|(n, _)| Type::named(*n)).collect();
    }
}

/// Function arguments must be handed on unchanged by recursive calls.
pub(crate) fn check_recursive_calls(name: Name, higher: &[Option<Name>], body: &Exp) -> Res<()> {
    struct Check<'h> {
        name: Name,
        higher: &'h [Option<Name>],
        bad: Option<(Span, &'static str)>,
    }
    impl Visitor for Check<'_> {
        fn ty(&mut self, _: &mut Type) {}
        fn size(&mut self, _: &mut Size) {}
        fn enter(&mut self, e: &mut Exp) -> bool {
            if let ExpKind::Apply { fun, args, .. } = &mut e.kind
                && is_var(fun, self.name)
            {
                if args.len() != self.higher.len() {
                    self.bad = Some((
                        e.span,
                        "a recursive call of a function with functional parameters must give all arguments",
                    ));
                }
                for (arg, wanted) in args.iter_mut().zip(self.higher) {
                    if let Some(p) = wanted
                        && !is_var(arg, *p)
                    {
                        self.bad = Some((
                            arg.span,
                            "a recursive call must hand on its functional parameters unchanged",
                        ));
                    }
                    walk::exp(arg, self);
                }
                return false;
            }
            if is_var(e, self.name) {
                self.bad = Some((
                    e.span,
                    "a recursive function with functional parameters must be called with all arguments",
                ));
            }
            true
        }
    }
    let mut check = Check {
        name,
        higher,
        bad: None,
    };
    walk::exp(&mut body.clone(), &mut check);
    match check.bad {
        Some((span, message)) => err(Code::BadRecursion, span, message),
        None => Ok(()),
    }
}

fn is_var(e: &Exp, name: Name) -> bool {
    matches!(&e.kind, ExpKind::Var { name: n, .. } if *n == name)
}
