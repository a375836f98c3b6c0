//! The side table of ids.

use super::{Intrinsic, Name, Scheme};
use crate::source::Span;

/// What every id of a program stands for.
#[derive(Clone, Debug)]
pub struct Names {
    infos: Vec<NameInfo>,
}

/// One binding.
#[derive(Clone, Debug)]
pub struct NameInfo {
    /// The name in the source, or a made-up one; not unique.
    pub text: String,
    /// Where it is bound; `None` for built-in names.
    pub span: Option<Span>,
    /// What it is.
    pub kind: NameKind,
    /// The type of a value that is polymorphic or defined at top level; `None` for local monomorphic values and for what is no value.
    pub scheme: Option<Scheme>,
}

/// What kind of thing an id stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    /// A function or value that the program defines.
    Value,
    /// A built-in function or constant.
    Intrinsic(Intrinsic),
    /// A size: a size parameter, an existential size.
    Size,
    /// A type parameter or an abstract type.
    Type,
    /// A parametric module.
    Functor,
}

impl Default for Names {
    fn default() -> Self {
        let irregular = NameInfo {
            text: String::from(".."),
            span: None,
            kind: NameKind::Size,
            scheme: None,
        };
        Names {
            infos: vec![irregular],
        }
    }
}

impl Names {
    /// Adds a binding and gives its id.
    pub fn fresh(&mut self, info: NameInfo) -> Name {
        let id = u32::try_from(self.infos.len()).expect("a program has fewer than 2^32 bindings");
        self.infos.push(info);
        Name(id)
    }

    /// What `name` stands for.
    pub fn get(&self, name: Name) -> &NameInfo {
        &self.infos[name.0 as usize]
    }

    /// What `name` stands for, to be amended.
    pub fn get_mut(&mut self, name: Name) -> &mut NameInfo {
        &mut self.infos[name.0 as usize]
    }

    /// The source name.
    pub fn text(&self, name: Name) -> &str {
        &self.get(name).text
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }
}
