//! Whether the cases of a `match` cover all values, by Maranget's matrices: a value without a case is searched column by
//! column, and is printed as a pattern.

use crate::typed::{Lit, Pat, PatKind, Prim, Sym, Type};
use midend::hash::HashMap;
use std::fmt;

/// A pattern in a matrix; nothing for one that fits everything.
type Cell<'p> = Option<&'p Pat>;

/// A value that no case fits, as far as it matters.
#[derive(Clone, Debug, PartialEq)]
enum Witness {
    Any,
    Lit(String),
    Tuple(Vec<Witness>),
    Record(Vec<(Sym, Witness)>),
    Construct(Sym, Vec<Witness>),
}

/// What stands at the head of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Head {
    /// The only constructor of a tuple or record type.
    Product,
    Bool(bool),
    /// A number, by its spelling.
    Number(String),
    Construct(Sym),
}

/// A pattern for values of the type that none of the patterns fits, or nothing if they cover all.
pub fn missing<'p>(pats: impl IntoIterator<Item = &'p Pat>, ty: &'p Type) -> Option<String> {
    let rows: Vec<Vec<Cell<'p>>> = pats.into_iter().map(|p| vec![cell(p)]).collect();
    let witness = search(&rows, &[ty])?;
    witness.first().map(|w| w.to_string())
}

fn cell(pat: &Pat) -> Cell<'_> {
    match &pat.kind {
        PatKind::Name(_) | PatKind::Wild => None,
        PatKind::Tuple(_) | PatKind::Record(_) | PatKind::Literal(_) | PatKind::Construct(..) => {
            Some(pat)
        }
    }
}

fn search<'p>(rows: &[Vec<Cell<'p>>], types: &[&'p Type]) -> Option<Vec<Witness>> {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        let Some((ty, rest)) = types.split_first() else {
            return rows.is_empty().then(Vec::new);
        };
        let mut seen: Vec<Head> = Vec::new();
        // The rows with each head, and those that take any.
        let mut with: HashMap<Head, Vec<usize>> = HashMap::default();
        let mut wild = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            match row[0].and_then(head_of) {
                None => wild.push(i),
                Some(head) => with
                    .entry(head)
                    .or_insert_with_key(|head| {
                        seen.push(head.clone());
                        Vec::new()
                    })
                    .push(i),
            }
        }
        let all = signature(ty);
        let complete = !seen.is_empty()
            && all
                .as_ref()
                .is_some_and(|all| all.iter().all(|h| with.contains_key(h)));
        if complete {
            return seen.iter().find_map(|head| {
                let mut mine: Vec<usize> = with[head].iter().chain(&wild).copied().collect();
                mine.sort_unstable();
                search_head(head, mine.iter().map(|i| &rows[*i]), ty, rest)
            });
        }
        let default: Vec<Vec<Cell<'p>>> = rows
            .iter()
            .filter(|row| row[0].is_none())
            .map(|row| row[1..].to_vec())
            .collect();
        let mut witness = search(&default, rest)?;
        let is_seen = |head: &Head| with.contains_key(head);
        let first = match seen.is_empty() {
            true => Witness::Any,
            false => unseen(is_seen, all.as_deref(), ty),
        };
        witness.insert(0, first);
        Some(witness)
    })
}

/// Searches the values with this head, which these rows have or take.
fn search_head<'p, 'r>(
    head: &Head,
    rows: impl Iterator<Item = &'r Vec<Cell<'p>>>,
    ty: &'p Type,
    rest: &[&'p Type],
) -> Option<Vec<Witness>>
where
    'p: 'r,
{
    let parts = part_types(head, ty);
    let mut inner = Vec::new();
    for row in rows {
        let parts_of = match row[0] {
            None => vec![None; parts.len()],
            Some(pat) => parts_of(pat, parts.len()),
        };
        inner.push(
            parts_of
                .into_iter()
                .chain(row[1..].iter().copied())
                .collect(),
        );
    }
    let types: Vec<&Type> = parts.iter().chain(rest).copied().collect();
    let mut witness = search(&inner, &types)?;
    let rest = witness.split_off(parts.len());
    let first = match (head, ty) {
        (Head::Product, Type::Record(fields)) => {
            let names = fields.iter().map(|(name, _)| name.clone());
            Witness::Record(names.zip(witness).collect())
        }
        (Head::Product, _) => Witness::Tuple(witness),
        (Head::Bool(b), _) => Witness::Lit(b.to_string()),
        (Head::Number(n), _) => Witness::Lit(n.clone()),
        (Head::Construct(name), _) => Witness::Construct(name.clone(), witness),
    };
    Some(std::iter::once(first).chain(rest).collect())
}

fn head_of(pat: &Pat) -> Option<Head> {
    match &pat.kind {
        PatKind::Name(_) | PatKind::Wild => None,
        PatKind::Tuple(_) | PatKind::Record(_) => Some(Head::Product),
        PatKind::Literal(Lit::Bool(b)) => Some(Head::Bool(*b)),
        PatKind::Literal(Lit::Int(_, n)) => Some(Head::Number(n.to_string())),
        PatKind::Literal(Lit::Float(_, x)) => Some(Head::Number(format!("{x:?}"))),
        PatKind::Construct(name, _) => Some(Head::Construct(name.clone())),
    }
}

/// All heads of a type, if they are few.
fn signature(ty: &Type) -> Option<Vec<Head>> {
    match ty {
        Type::Prim(Prim::Bool) => Some(vec![Head::Bool(true), Head::Bool(false)]),
        Type::Tuple(_) | Type::Record(_) => Some(vec![Head::Product]),
        Type::Sum(cons) => {
            let names = cons.iter().map(|(name, _)| Head::Construct(name.clone()));
            Some(names.collect())
        }
        Type::Prim(_) | Type::Array(_) | Type::Fun(_) | Type::Named(_) | Type::Meta(_) => None,
    }
}

fn part_types<'p>(head: &Head, ty: &'p Type) -> Vec<&'p Type> {
    match (head, ty) {
        (Head::Product, Type::Tuple(ts)) => ts.iter().collect(),
        (Head::Product, Type::Record(ts)) => ts.iter().map(|(_, t)| t).collect(),
        (Head::Construct(name), Type::Sum(cons)) => cons
            .iter()
            .find(|(con, _)| con == name)
            .map_or(Vec::new(), |(_, ts)| ts.iter().collect()),
        (Head::Product | Head::Bool(_) | Head::Number(_) | Head::Construct(_), _) => Vec::new(),
    }
}

fn parts_of(pat: &Pat, count: usize) -> Vec<Cell<'_>> {
    let mut cells: Vec<Cell<'_>> = match &pat.kind {
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter().map(cell).collect(),
        PatKind::Record(ps) => ps.iter().map(|(_, p)| cell(p)).collect(),
        PatKind::Name(_) | PatKind::Wild | PatKind::Literal(_) => Vec::new(),
    };
    cells.resize(count, None);
    cells
}

/// A value whose head is none of those seen.
fn unseen(is_seen: impl Fn(&Head) -> bool, all: Option<&[Head]>, ty: &Type) -> Witness {
    if let Some(head) = all.and_then(|all| all.iter().find(|h| !is_seen(h))) {
        return match head {
            Head::Bool(b) => Witness::Lit(b.to_string()),
            Head::Construct(name) => {
                let parts = part_types(head, ty).len();
                Witness::Construct(name.clone(), vec![Witness::Any; parts])
            }
            Head::Product | Head::Number(_) => Witness::Any,
        };
    }
    let free = (0u64..).find(|n| {
        let (int, float) = (n.to_string(), format!("{:?}", *n as f64));
        !is_seen(&Head::Number(int)) && !is_seen(&Head::Number(float))
    });
    Witness::Lit(free.unwrap_or_default().to_string())
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Witness::Any => f.write_str("_"),
            Witness::Lit(text) => f.write_str(text),
            Witness::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{part}")?;
                }
                f.write_str(")")
            }
            Witness::Record(parts) => {
                f.write_str("{")?;
                for (i, (name, part)) in parts.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{name} = {part}")?;
                }
                f.write_str("}")
            }
            Witness::Construct(name, parts) => {
                write!(f, "#{name}")?;
                for part in parts {
                    match part {
                        Witness::Construct(_, inner) if !inner.is_empty() => write!(f, " ({part})"),
                        Witness::Any
                        | Witness::Lit(_)
                        | Witness::Tuple(_)
                        | Witness::Record(_)
                        | Witness::Construct(..) => write!(f, " {part}"),
                    }?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn pat(kind: PatKind, ty: &Type) -> Pat {
        Pat {
            kind,
            ty: ty.clone(),
            span: Span::default(),
        }
    }

    #[test]
    fn finds_what_is_missing() {
        let int = Type::Prim(Prim::I32);
        let bool_ty = Type::Prim(Prim::Bool);
        let opt = Type::Sum(std::sync::Arc::from([
            (Sym::from("none"), vec![]),
            (Sym::from("some"), vec![bool_ty.clone()]),
        ]));
        let wild = |ty: &Type| pat(PatKind::Wild, ty);
        let lit = |b| pat(PatKind::Literal(Lit::Bool(b)), &bool_ty);
        let some = |p| pat(PatKind::Construct("some".into(), vec![p]), &opt);
        let none = || pat(PatKind::Construct("none".into(), vec![]), &opt);

        let pats = [none(), some(lit(true))];
        assert_eq!(missing(&pats, &opt).as_deref(), Some("#some false"));
        let pats = [none(), some(lit(true)), some(lit(false))];
        assert_eq!(missing(&pats, &opt), None);
        assert_eq!(
            missing(&[some(wild(&bool_ty))], &opt).as_deref(),
            Some("#none")
        );

        let zero = pat(PatKind::Literal(Lit::Int(Prim::I32, 0)), &int);
        assert_eq!(missing([&zero], &int).as_deref(), Some("1"));
        let pair = Type::tuple(vec![opt.clone(), int.clone()]);
        let both = |a, b| pat(PatKind::Tuple(vec![a, b]), &pair);
        let pats = [both(none(), wild(&int)), both(wild(&opt), zero.clone())];
        assert_eq!(missing(&pats, &pair).as_deref(), Some("(#some _, 1)"));
        let pats = [
            both(none(), wild(&int)),
            both(some(wild(&bool_ty)), wild(&int)),
        ];
        assert_eq!(missing(&pats, &pair), None);
    }
}
