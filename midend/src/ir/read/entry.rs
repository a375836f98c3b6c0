//! The outside of entry points.

use super::{Read, Reader};
use crate::ir::syntax::{Entry, EntryParam, EntryType};

impl Reader<'_> {
    /// The outside of an entry point, after its word.
    pub(super) fn entry(&mut self) -> Read<Entry> {
        let name = self.string()?;
        self.expect_word("sizes")?;
        let size_params = self.natural()?;
        self.expect("->")?;
        let size_results = self.natural()?;
        self.expect("(")?;
        let params = self.list(")", |r| {
            let name = r.name()?;
            r.expect(":")?;
            let streamed = r.eat_word("seq");
            let unique = r.eat("*");
            let ty = r.entry_type()?;
            Ok(EntryParam {
                name,
                ty,
                unique,
                streamed,
            })
        })?;
        self.expect("->")?;
        let streamed = self.eat_word("seq");
        self.expect("(")?;
        let results = self.list(")", Self::entry_type)?;
        Ok(Entry {
            name,
            size_params,
            size_results,
            params,
            results,
            streamed,
        })
    }

    /// The type of a value outside.
    pub(super) fn entry_type(&mut self) -> Read<EntryType> {
        self.nested(|r| {
            if r.eat("(") {
                return Ok(EntryType::Tuple(r.list(")", Self::entry_type)?));
            }
            if r.eat("{") {
                let fields = r.list("}", |r| {
                    let name = r.name()?;
                    r.expect(":")?;
                    Ok((name, r.entry_type()?))
                })?;
                return Ok(EntryType::Record(fields));
            }
            if r.eat("<") {
                return r.sum();
            }
            if r.eat_word("opaque") {
                let name = r.string()?;
                let of = Box::new(r.entry_type()?);
                return Ok(EntryType::Opaque { name, of });
            }
            let mut rank = 0;
            while r.eat("[") {
                if r.eat("..") {
                    r.expect("]")?;
                    let rows = EntryType::Rows(Box::new(r.entry_type()?));
                    let elem = Box::new(rows.clone());
                    let array = EntryType::Array { rank, elem };
                    return Ok(if rank > 0 { array } else { rows });
                }
                r.expect("]")?;
                rank += 1;
            }
            if rank > 0 {
                let elem = Box::new(r.entry_type()?);
                return Ok(EntryType::Array { rank, elem });
            }
            Ok(EntryType::Scalar(r.scalar_type()?))
        })
    }

    fn sum(&mut self) -> Read<EntryType> {
        let mut constructors = Vec::new();
        while !self.eat(">") {
            if !constructors.is_empty() {
                self.expect("|")?;
            }
            self.expect("#")?;
            let name = self.name()?;
            self.expect("(")?;
            constructors.push((name, self.list(")", Self::entry_type)?));
        }
        Ok(EntryType::Sum(constructors))
    }
}
