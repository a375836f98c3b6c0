//! What names lead to.

use crate::html::{escape, link};
use crate::item::{Kind, each, id_of};
use crate::{Documentation, Source, prelude};
use frontend::source::{FileId, Span};
use frontend::types::index::{Space, Use};
use std::collections::{BTreeMap, BTreeSet};

/// The definitions that have pages.
pub(crate) struct Links<'a> {
    of: &'a Documentation,
    /// The target of a definition, by its file and first byte.
    sites: BTreeMap<(FileId, u32), String>,
    /// All targets: paths of pages with ids.
    targets: BTreeSet<String>,
}

/// The kinds of thing that a name in a comment may mean.
pub(crate) const ANY: &[Kind] = &[Kind::Value, Kind::Type, Kind::Module, Kind::ModuleType];

/// The path of the page of a file.
pub(crate) fn page(source: &Source) -> String {
    format!("doc/{}.html", source.page)
}

/// The path of the page with its text.
pub(crate) fn text_page(source: &Source) -> String {
    format!("src/{}.fut.html", source.page)
}

impl<'a> Links<'a> {
    pub(crate) fn of(of: &'a Documentation, prelude: BTreeSet<String>) -> Links<'a> {
        let mut links = Links {
            of,
            sites: BTreeMap::new(),
            targets: prelude,
        };
        for source in of.sources.iter().filter(|source| !source.is_ignored()) {
            let page = page(source);
            each(&source.items, &mut |item| {
                let target = format!("{page}#{}", item.id);
                if let Some(site) = item.site {
                    links.sites.insert((site.file, site.lo), target.clone());
                }
                if item.kind != Kind::Open {
                    links.targets.insert(target);
                }
            });
        }
        links
    }

    fn source(&self, file: FileId) -> Option<&'a Source> {
        self.of.sources.iter().find(|source| source.file == file)
    }

    /// What a use of a name leads to.
    fn target(&self, source: &Source, one: &Use) -> Option<String> {
        if let Some(span) = one.definition
            && self.source(span.file).is_some()
        {
            return self.sites.get(&(span.file, span.lo)).cloned();
        }
        let text = self.of.texts.get(source.file)?.text();
        let name = text.get(one.at.lo as usize..one.at.hi as usize)?;
        let kind = match one.space {
            Space::Value => Kind::Value,
            Space::Type => Kind::Type,
            Space::Module => Kind::Module,
            Space::ModuleType => Kind::ModuleType,
        };
        let qualifier = text[..one.at.lo as usize].strip_suffix('.').map(last_word);
        self.built_in(kind, qualifier, name)
    }

    /// What a name of the prelude leads to.
    fn built_in(&self, kind: Kind, qualifier: Option<&str>, name: &str) -> Option<String> {
        let path = [name.to_owned()];
        let target = match (kind, qualifier) {
            (Kind::Type | Kind::Module, None) => prelude::module_page(name)?,
            (Kind::Type, Some(module)) if name == "t" => prelude::module_page(module)?,
            (Kind::ModuleType | Kind::Value, None) => {
                format!("{}#{}", prelude::PAGE, id_of(kind, &path))
            }
            (Kind::Value, Some(module)) => {
                format!("{}#{}", prelude::module_page(module)?, id_of(kind, &path))
            }
            (Kind::Type | Kind::Module | Kind::ModuleType, Some(_)) => return None,
            (Kind::Entry | Kind::Open, _) => return None,
        };
        let is_page = !target.contains('#');
        (is_page || self.targets.contains(&target)).then_some(target)
    }

    /// A range of a source as HTML with links.
    pub(crate) fn code(&self, from: &str, source: &Source, span: Span) -> String {
        let Some(text) = self.of.texts.get(source.file).map(|file| file.text()) else {
            return String::new();
        };
        let slice = |lo: u32, hi: u32| escape(text.get(lo as usize..hi as usize).unwrap_or(""));
        let mut out = String::new();
        let mut at = span.lo;
        for (range, target) in self.links_in(source, span) {
            if range.lo < at {
                continue;
            }
            out.push_str(&slice(at, range.lo));
            out.push_str(&link(from, &target, &slice(range.lo, range.hi)));
            at = range.hi;
        }
        out + &slice(at, span.hi)
    }

    /// The names in a range that lead to something, in order.
    fn links_in(&self, source: &Source, span: Span) -> Vec<(Span, String)> {
        let uses = &source.analysis.index.uses;
        let from = uses.partition_point(|one| one.at < Span::new(source.file, span.lo, 0));
        let inside = uses[from..]
            .iter()
            .take_while(|one| one.at.file == source.file && one.at.lo < span.hi);
        let fits = inside.filter(|one| one.at.hi <= span.hi);
        let elsewhere = fits.filter(|one| one.definition != Some(one.at));
        let names = elsewhere.filter_map(|one| Some((one.at, self.target(source, one)?)));
        let mut out: Vec<(Span, String)> = names.collect();
        for (lo, file) in source.imports.range(span.lo..span.hi) {
            let text = self
                .of
                .texts
                .get(source.file)
                .map_or("", |file| file.text());
            let rest = &text[*lo as usize + 1..];
            let length = rest.find('"').map_or(0, |end| end + 2);
            let hi = lo + u32::try_from(length).unwrap_or(0);
            if let Some(found) = self.source(*file).filter(|found| !found.is_ignored()) {
                out.push((Span::new(source.file, *lo, hi), page(found)));
            }
        }
        out.sort();
        out
    }

    /// The names that a range defines for itself: parameters and sizes.
    pub(crate) fn own_names(&self, source: &Source, span: Span) -> Vec<String> {
        let inside = |at: Span| at.file == span.file && span.lo <= at.lo && at.hi <= span.hi;
        let uses = source.analysis.index.uses.iter();
        let own = uses.filter(|one| inside(one.at) && one.definition == Some(one.at));
        own.map(|one| self.of.texts.text(one.at).to_owned())
            .collect()
    }

    /// What a name in a comment of a file leads to. The names of the modules around the comment are `around`.
    pub(crate) fn named(
        &self,
        source: Option<&Source>,
        around: &[String],
        name: &str,
        kinds: &[Kind],
    ) -> Option<String> {
        let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
        let own = source.and_then(|source| {
            let imported = source
                .imports
                .values()
                .filter_map(|file| self.source(*file));
            let outer = (0..=around.len()).rev().map(|n| (source, &around[..n]));
            let none: &[String] = &[];
            let mut scopes = outer.chain(imported.map(|source| (source, none)));
            scopes.find_map(|(source, around)| {
                let path: Vec<String> = around.iter().chain(&parts).cloned().collect();
                let page = page(source);
                let mut ids = kinds.iter().map(|kind| id_of(*kind, &path));
                ids.find_map(|id| self.targets.get(&format!("{page}#{id}")).cloned())
            })
        });
        own.or_else(|| {
            let (qualifier, name) = match name.rsplit_once('.') {
                Some((qualifier, name)) if !qualifier.is_empty() => (Some(qualifier), name),
                Some(_) | None => (None, name),
            };
            kinds
                .iter()
                .find_map(|kind| self.built_in(*kind, qualifier, name))
        })
    }
}

/// The identifier at the end of a text.
fn last_word(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    &text[text.trim_end_matches(is_part).len()..]
}
