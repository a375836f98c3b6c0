//! Names, numbers, atoms and types.

use super::{Kind, Read, Reader};
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::syntax::Atom;
use crate::ir::types::{AccType, ArrayType, Dim, ScalarType, Size, Type};
use half::f16;

impl<'t> Reader<'t> {
    /// A word, which is passed.
    pub(super) fn word(&mut self) -> Read<&'t str> {
        if let Kind::Word(word) = *self.kind() {
            self.advance();
            return Ok(word);
        }
        Err(self.error("expected a name"))
    }

    /// The word that the reader stands on.
    pub(super) fn peek_word(&self) -> Option<&'t str> {
        match *self.kind() {
            Kind::Word(word) => Some(word),
            Kind::Number(_) | Kind::Bits(..) | Kind::Str(_) | Kind::Mark(_) | Kind::End => None,
        }
    }

    /// A string.
    pub(super) fn string(&mut self) -> Read<String> {
        if let Kind::Str(text) = self.kind() {
            let text = text.clone();
            self.advance();
            return Ok(text);
        }
        Err(self.error("expected a string"))
    }

    /// A name, in quotes if need be.
    pub(super) fn name(&mut self) -> Read<String> {
        if let Some(word) = self.peek_word() {
            self.advance();
            return Ok(word.into());
        }
        self.string()
    }

    fn parsed<T: std::str::FromStr>(&mut self, what: &str) -> Read<T> {
        if let Kind::Number(text) = *self.kind()
            && let Ok(n) = text.parse()
        {
            self.advance();
            return Ok(n);
        }
        Err(self.error(&format!("expected {what}")))
    }

    /// A small number: a rank, a dimension, a count.
    pub(super) fn natural(&mut self) -> Read<usize> {
        Ok(self.number_u32()? as usize)
    }

    pub(super) fn number_u32(&mut self) -> Read<u32> {
        self.parsed("a number")
    }

    /// A scalar type written after a dot in the word at hand, which is passed.
    pub(super) fn dotted_type(&mut self) -> Read<ScalarType> {
        let ty = self
            .peek_word()
            .and_then(|word| word.split_once('.'))
            .and_then(|(_, ty)| ScalarType::from_name(ty));
        match ty {
            Some(ty) => {
                self.advance();
                Ok(ty)
            }
            None => Err(self.error("expected a scalar type after a dot")),
        }
    }

    /// A variable.
    pub(super) fn var(&mut self) -> Read<Var> {
        match *self.kind() {
            Kind::Word(word) if !matches!(word, "true" | "false") => Ok(self.mention(word)),
            Kind::Word(_)
            | Kind::Number(_)
            | Kind::Bits(..)
            | Kind::Str(_)
            | Kind::Mark(_)
            | Kind::End => Err(self.error("expected a variable")),
        }
    }

    /// Variables in parentheses.
    pub(super) fn var_list(&mut self) -> Read<Vec<Var>> {
        self.expect("(")?;
        self.list(")", Self::var)
    }

    /// Atoms in parentheses.
    pub(super) fn atoms(&mut self) -> Read<Vec<Atom>> {
        self.expect("(")?;
        self.list(")", Self::atom)
    }

    /// A constant or variable.
    pub(super) fn atom(&mut self) -> Read<Atom> {
        let constant = match *self.kind() {
            Kind::Word("true") => Some(Const::Bool(true)),
            Kind::Word("false") => Some(Const::Bool(false)),
            Kind::Word(word) => return Ok(Atom::Var(self.mention(word))),
            Kind::Number(text) => number(text),
            Kind::Bits(ty, bits) => special(ty, bits),
            Kind::Str(_) | Kind::Mark(_) | Kind::End => None,
        };
        match constant {
            Some(c) => {
                self.advance();
                Ok(Atom::Const(c))
            }
            None => Err(self.error("expected a variable or constant")),
        }
    }

    /// A size.
    pub(super) fn size(&mut self) -> Read<Size> {
        let token = self.at;
        let atom = self.atom()?;
        atom.as_size()
            .ok_or_else(|| self.error_at(token, "expected a size"))
    }

    /// Sizes in brackets.
    pub(super) fn sizes(&mut self) -> Read<Vec<Size>> {
        self.expect("[")?;
        self.list("]", Self::size)
    }

    /// A shape that may be ragged.
    pub(super) fn dims(&mut self) -> Read<Vec<Dim>> {
        self.expect("[")?;
        self.list("]", Self::dim)
    }

    fn dim(&mut self) -> Read<Dim> {
        Ok(if self.eat("..") {
            Dim::Ragged(self.var()?)
        } else {
            Dim::Size(self.size()?)
        })
    }

    /// A scalar type.
    pub(super) fn scalar_type(&mut self) -> Read<ScalarType> {
        match self.peek_word().and_then(ScalarType::from_name) {
            Some(ty) => {
                self.advance();
                Ok(ty)
            }
            None => Err(self.error("expected a type")),
        }
    }

    /// A type.
    pub(super) fn ty(&mut self) -> Read<Type> {
        if self.eat_word("cert") {
            return Ok(Type::Cert);
        }
        if self.eat_word("buffer") {
            return Ok(Type::Buffer(self.scalar_type()?));
        }
        if self.eat_word("acc") {
            self.expect("(")?;
            let token = self.var()?;
            self.expect(",")?;
            let part = self.natural()?;
            self.expect(")")?;
            let start = self.at;
            return match self.ty()? {
                Type::Array(array) => Ok(Type::Acc(AccType { token, part, array })),
                Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                    Err(self.error_at(start, "expected the type of an array"))
                }
            };
        }
        let mut shape = Vec::new();
        while self.eat("[") {
            shape.push(self.dim()?);
            self.expect("]")?;
        }
        let elem = self.scalar_type()?;
        Ok(if shape.is_empty() {
            Type::Scalar(elem)
        } else {
            Type::Array(ArrayType { elem, shape })
        })
    }
}

/// A number with its suffix; `i64` without one.
fn number(text: &str) -> Option<Const> {
    let (digits, ty) = ScalarType::ALL
        .into_iter()
        .find_map(|ty| Some((text.strip_suffix(ty.name())?, ty)))
        .unwrap_or((text, ScalarType::I64));
    Some(match ty {
        ScalarType::I8 => Const::I8(digits.parse().ok()?),
        ScalarType::I16 => Const::I16(digits.parse().ok()?),
        ScalarType::I32 => Const::I32(digits.parse().ok()?),
        ScalarType::I64 => Const::I64(digits.parse().ok()?),
        ScalarType::U8 => Const::U8(digits.parse().ok()?),
        ScalarType::U16 => Const::U16(digits.parse().ok()?),
        ScalarType::U32 => Const::U32(digits.parse().ok()?),
        ScalarType::U64 => Const::U64(digits.parse().ok()?),
        // What is printed is a binary16 number exactly, so that going through binary32 rounds nothing.
        ScalarType::F16 => Const::f16(f16::from_f32(digits.parse().ok()?)),
        ScalarType::F32 => Const::f32(digits.parse().ok()?),
        ScalarType::F64 => Const::f64(digits.parse().ok()?),
        ScalarType::Bool => return None,
    })
}

/// A float that is no finite decimal.
fn special(ty: &str, bits: &str) -> Option<Const> {
    let hex = || u64::from_str_radix(bits, 16).ok();
    Some(match (ty, bits) {
        ("f16", "nan") => Const::f16(f16::NAN),
        ("f16", "inf") => Const::f16(f16::INFINITY),
        ("f16", "-inf") => Const::f16(f16::NEG_INFINITY),
        ("f16", _) => Const::F16(u16::try_from(hex()?).ok()?),
        ("f32", "nan") => Const::f32(f32::NAN),
        ("f32", "inf") => Const::f32(f32::INFINITY),
        ("f32", "-inf") => Const::f32(f32::NEG_INFINITY),
        ("f32", _) => Const::F32(u32::try_from(hex()?).ok()?),
        ("f64", "nan") => Const::f64(f64::NAN),
        ("f64", "inf") => Const::f64(f64::INFINITY),
        ("f64", "-inf") => Const::f64(f64::NEG_INFINITY),
        ("f64", _) => Const::F64(hex()?),
        _ => return None,
    })
}
