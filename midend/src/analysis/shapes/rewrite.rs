//! Replacing terms inside of forms: indices when the elements of an array are looked up, indices when a parallel operation ends,
//! parameters when a function is called, and what checks have shown to be equal.
//!
//! Whatever becomes too large, or would name what is not in scope, is nothing.

use super::facts::Facts;
use super::form::{Family, FamilyKind, Form, Linear, Nest, Table, Term, TermKind, Value};
use crate::hash::HashMap;
use crate::ir::id::Var;

/// What is replaced.
#[derive(Clone, Copy)]
pub(super) enum With<'a> {
    /// The index of a parallel operation.
    Index(Nest, Form),
    /// The bound index of this number.
    Bound(u32, Form),
    /// The parameters of a function, which are all variables there are.
    Call(&'a HashMap<Var, Value>),
    /// What is known to be equal at a time.
    Facts(&'a Facts, u32),
}

impl Table {
    /// The form after the replacement.
    pub(super) fn rewrite(&mut self, f: Form, with: With<'_>) -> Option<Form> {
        if self.keeps(f, with) {
            return Some(f);
        }
        let Linear { constant, products } = self.form(f).clone();
        let mut sum = self.constant(constant);
        let mut changed = false;
        for p in &products {
            let mut product = self.constant(p.times);
            for &t in &p.terms {
                let new = self.rewrite_term(t, with)?;
                changed |= self.as_term(new) != Some(t);
                product = self.mul(product, new)?;
            }
            sum = self.add(sum, 1, product)?;
        }
        Some(if changed { sum } else { f })
    }

    /// Whether nothing in a form is replaced, which is so for most, and seen without making any.
    fn keeps(&self, f: Form, with: With<'_>) -> bool {
        let mut terms = self.form(f).products.iter().flat_map(|p| &p.terms);
        terms.all(|&t| {
            let same = match with {
                With::Facts(facts, now) => facts.term(t, now).is_none(),
                With::Index(..) | With::Bound(..) | With::Call(_) => true,
            };
            same && match self.term(t) {
                TermKind::Const(_) => true,
                TermKind::Var(_) => !matches!(with, With::Call(_)),
                TermKind::Index(nest) => !matches!(with, With::Index(n, _) if n == *nest),
                TermKind::Bound(b) => !matches!(with, With::Bound(c, _) if c == *b),
                TermKind::Elem { array, at } => {
                    self.keeps_elements(*array, with) && at.iter().all(|f| self.keeps(*f, with))
                }
                TermKind::Sum { width, of } => {
                    self.keeps(*width, with) && self.keeps_family(*of, with)
                }
                TermKind::Op(_, args) => args.iter().all(|f| self.keeps(*f, with)),
            }
        })
    }

    fn keeps_elements(&self, array: Var, with: With<'_>) -> bool {
        match with {
            With::Call(_) => false,
            With::Facts(facts, now) => facts.family(array, now).is_none(),
            With::Index(..) | With::Bound(..) => true,
        }
    }

    fn keeps_family(&self, f: Family, with: With<'_>) -> bool {
        match self.family(f) {
            FamilyKind::Scalar(form) => self.keeps(*form, with),
            FamilyKind::Abs(_, body) => self.keeps_family(*body, with),
            FamilyKind::Rows { array, at, .. } => {
                self.keeps_elements(*array, with) && at.iter().all(|f| self.keeps(*f, with))
            }
        }
    }

    fn rewrite_all(&mut self, forms: &[Form], with: With<'_>) -> Option<Vec<Form>> {
        forms.iter().map(|f| self.rewrite(*f, with)).collect()
    }

    fn rewrite_term(&mut self, t: Term, with: With<'_>) -> Option<Form> {
        let kind = self.term(t).clone();
        let new = match &kind {
            TermKind::Var(v) => match with {
                With::Call(map) => match map.get(v)? {
                    Value::Scalar(f) => Some(*f),
                    Value::Array(_) => None,
                },
                With::Index(..) | With::Bound(..) | With::Facts(..) => self.same(t),
            },
            TermKind::Index(nest) => match with {
                With::Index(n, f) if n == *nest => Some(f),
                With::Index(..) | With::Bound(..) | With::Call(_) | With::Facts(..) => self.same(t),
            },
            TermKind::Bound(b) => match with {
                With::Bound(c, f) if c == *b => Some(f),
                With::Index(..) | With::Bound(..) | With::Call(_) | With::Facts(..) => self.same(t),
            },
            TermKind::Elem { array, at } => {
                let at = self.rewrite_all(at, with)?;
                let known = match with {
                    With::Call(map) => Some(*map.get(array)?),
                    With::Facts(facts, now) => facts.family(*array, now).map(Value::Array),
                    With::Index(..) | With::Bound(..) => None,
                };
                match known {
                    Some(Value::Array(family)) => self.element(family, &at),
                    Some(Value::Scalar(_)) => None,
                    None => {
                        let array = *array;
                        self.of_term(TermKind::Elem { array, at })
                    }
                }
            }
            TermKind::Sum { width, of } => {
                let width = self.rewrite(*width, with)?;
                let of = self.rewrite_family(*of, with)?;
                self.sum(width, of)
            }
            TermKind::Op(op, args) => {
                let args = self.rewrite_all(args, with)?;
                self.op(*op, args)
            }
            TermKind::Const(_) => self.same(t),
        }?;
        match with {
            With::Facts(facts, now) => match self.as_term(new).and_then(|t| facts.term(t, now)) {
                Some(equal) if facts.burn() => self.rewrite(equal, with),
                Some(_) => None,
                None => Some(new),
            },
            With::Index(..) | With::Bound(..) | With::Call(_) => Some(new),
        }
    }

    fn same(&mut self, t: Term) -> Option<Form> {
        self.of_products(0, vec![(vec![t], 1)])
    }

    /// The family after the replacement.
    pub(super) fn rewrite_family(&mut self, f: Family, with: With<'_>) -> Option<Family> {
        if self.keeps_family(f, with) {
            return Some(f);
        }
        match self.family(f).clone() {
            FamilyKind::Scalar(form) => {
                let form = self.rewrite(form, with)?;
                Some(self.of_family(FamilyKind::Scalar(form)))
            }
            FamilyKind::Abs(b, body) => match with {
                With::Bound(c, _) if c == b => Some(f),
                // What is put in names no index that is bound inside.
                With::Index(..) | With::Bound(..) => {
                    let body = self.rewrite_family(body, with)?;
                    Some(self.of_family(FamilyKind::Abs(b, body)))
                }
                // Elements at the bound index are looked up in families that bind indices of the same numbers.
                With::Call(_) | With::Facts(..) => self.opened(|table, open| {
                    let index = table.at_index(open);
                    let body = table.rewrite_family(body, With::Bound(b, index))?;
                    let body = table.rewrite_family(body, with)?;
                    table.abstracted(Value::Array(body), open)
                }),
            },
            FamilyKind::Rows { array, at, left } => {
                let at = self.rewrite_all(&at, with)?;
                let known = match with {
                    With::Call(map) => Some(*map.get(&array)?),
                    With::Facts(facts, now) => facts.family(array, now).map(Value::Array),
                    With::Index(..) | With::Bound(..) => None,
                };
                match known {
                    Some(Value::Array(family)) => {
                        at.iter().try_fold(family, |f, i| self.row(f, *i))
                    }
                    Some(Value::Scalar(_)) => None,
                    None => Some(self.of_family(FamilyKind::Rows { array, at, left })),
                }
            }
        }
    }

    /// The row of a family at an index.
    pub(super) fn row(&mut self, family: Family, index: Form) -> Option<Family> {
        match self.family(family).clone() {
            FamilyKind::Scalar(_) => None,
            FamilyKind::Abs(b, body) => self.rewrite_family(body, With::Bound(b, index)),
            FamilyKind::Rows {
                array,
                mut at,
                left,
            } => {
                at.push(index);
                if left > 1 {
                    let left = left - 1;
                    return Some(self.of_family(FamilyKind::Rows { array, at, left }));
                }
                let element = self.of_term(TermKind::Elem { array, at })?;
                Some(self.of_family(FamilyKind::Scalar(element)))
            }
        }
    }

    /// The element at as many indices as there are dimensions.
    pub(super) fn element(&mut self, family: Family, at: &[Form]) -> Option<Form> {
        let row = at.iter().try_fold(family, |f, i| self.row(f, *i))?;
        match self.family(row) {
            FamilyKind::Scalar(f) => Some(*f),
            FamilyKind::Abs(..) | FamilyKind::Rows { .. } => None,
        }
    }

    /// What a value is after some indices.
    pub(super) fn rows(&mut self, family: Family, at: &[Form]) -> Option<Value> {
        let row = at.iter().try_fold(family, |f, i| self.row(f, *i))?;
        Some(match self.family(row) {
            FamilyKind::Scalar(f) => Value::Scalar(*f),
            FamilyKind::Abs(..) | FamilyKind::Rows { .. } => Value::Array(row),
        })
    }

    /// The family of rows of which each has this value, a function of the index of `nest`. The number of the bound index is
    /// above all in the body, so that equal functions are equal families.
    pub(super) fn abstracted(&mut self, value: Value, nest: Nest) -> Option<Family> {
        let body = match value {
            Value::Scalar(f) => self.of_family(FamilyKind::Scalar(f)),
            Value::Array(f) => f,
        };
        let number = self.family_info(body).height;
        let bound = self.of_term(TermKind::Bound(number))?;
        let body = self.rewrite_family(body, With::Index(nest, bound))?;
        Some(self.of_family(FamilyKind::Abs(number, body)))
    }

    /// The sum of a family of scalars, taken apart: `sum (a + 2 * b) = sum a + 2 * sum b`, and a sum of what does not depend
    /// on the index is a product.
    pub(super) fn sum(&mut self, width: Form, of: Family) -> Option<Form> {
        self.opened(|table, open| table.sum_at(width, of, open))
    }

    /// What `f` makes of the body of an abstraction, given a name for its index: no operation has it, and no abstraction around
    /// this one that is being taken apart.
    fn opened<R>(&mut self, f: impl FnOnce(&mut Self, Nest) -> R) -> R {
        let open = Nest((1 << 31) + self.opened);
        self.opened += 1;
        let made = f(self, open);
        self.opened -= 1;
        made
    }

    fn sum_at(&mut self, width: Form, of: Family, open: Nest) -> Option<Form> {
        let index = self.at_index(open);
        let body = self.element(of, &[index])?;
        let Linear { constant, products } = self.form(body).clone();
        let constant = self.constant(constant);
        let mut total = self.mul(constant, width)?;
        for p in products {
            let one = self.of_products(0, vec![(p.terms, 1)])?;
            let family = self.abstracted(Value::Scalar(one), open)?;
            let part = match self.family(family) {
                FamilyKind::Abs(b, body) if !self.mentions(*body, *b) => self.mul(width, one)?,
                FamilyKind::Abs(..) | FamilyKind::Scalar(_) | FamilyKind::Rows { .. } => {
                    self.of_term(TermKind::Sum { width, of: family })?
                }
            };
            total = self.add(total, p.times, part)?;
        }
        Some(total)
    }

    /// Whether a family depends on a bound index.
    pub(crate) fn mentions(&self, family: Family, bound: u32) -> bool {
        match self.family(family) {
            FamilyKind::Scalar(f) => self.form_mentions(*f, &TermKind::Bound(bound)),
            FamilyKind::Abs(b, body) => *b != bound && self.mentions(*body, bound),
            FamilyKind::Rows { at, .. } => at
                .iter()
                .any(|f| self.form_mentions(*f, &TermKind::Bound(bound))),
        }
    }

    /// Whether a term is somewhere in a form.
    pub(super) fn form_mentions(&self, f: Form, wanted: &TermKind) -> bool {
        let terms = self.form(f).products.iter().flat_map(|p| &p.terms);
        terms.into_iter().any(|t| {
            let kind = self.term(*t);
            kind == wanted
                || match kind {
                    TermKind::Var(_)
                    | TermKind::Index(_)
                    | TermKind::Bound(_)
                    | TermKind::Const(_) => false,
                    TermKind::Elem { array: _, at } | TermKind::Op(_, at) => {
                        at.iter().any(|f| self.form_mentions(*f, wanted))
                    }
                    TermKind::Sum { width, of } => {
                        self.form_mentions(*width, wanted) || self.family_mentions(*of, wanted)
                    }
                }
        })
    }

    fn family_mentions(&self, family: Family, wanted: &TermKind) -> bool {
        match self.family(family) {
            FamilyKind::Scalar(f) => self.form_mentions(*f, wanted),
            FamilyKind::Abs(_, body) => self.family_mentions(*body, wanted),
            FamilyKind::Rows { at, .. } => at.iter().any(|f| self.form_mentions(*f, wanted)),
        }
    }
}
