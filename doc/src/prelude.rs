//! The pages of the prelude: what needs no qualifier, the modules of scalar types, and the module `seq`.

use crate::html::{Frame, escape, href, link, listing};
use crate::item::{Item, Kind, Part, id_of, of_file};
use crate::link::Links;
use crate::markdown::{Wanted, render, summary};
use crate::page::{kinds, name_html, section};
use crate::search::Entry;
use crate::{Documentation, Output};
use frontend::source::{FileId, Span};
use frontend::syntax::ast::Doc;
use frontend::syntax::parse_program;
use frontend::typed::Prim;
use frontend::{Piece, prelude_library, prelude_operators, prelude_sources};
use std::collections::{BTreeMap, BTreeSet};

/// The page of what needs no qualifier.
pub(crate) const PAGE: &str = "prelude/prelude.html";

/// The page of a module of the prelude.
pub(crate) fn module_page(name: &str) -> Option<String> {
    let is_module = Prim::from_name(name).is_some() || name == "seq";
    is_module.then(|| format!("prelude/{name}.html"))
}

/// A definition with the text that its ranges are of.
struct Known {
    item: Item,
    text: String,
    /// The page of its source, and the line there.
    at: Option<(String, usize)>,
    title: Option<String>,
}

struct LibraryPage {
    path: String,
    name: String,
    intro: String,
    known: Vec<Known>,
}

/// The prelude as pages.
pub(crate) struct Library<'a> {
    of: &'a Documentation,
    pages: Vec<LibraryPage>,
}

impl<'a> Library<'a> {
    pub(crate) fn of(of: &'a Documentation) -> Library<'a> {
        let mut library = Library {
            of,
            pages: Vec::new(),
        };
        let operators = prelude_operators().into_iter();
        let operators = operators.map(|piece| library.known(piece, None));
        let pieces = prelude_library(None).into_iter();
        let pieces = pieces.map(|piece| library.known(piece, Some("prelude.fut")));
        let free: Vec<Known> = operators.chain(pieces).collect();
        let members = members(&free);
        let intro = "What every program can use without an import.";
        library.add("prelude", intro, free);
        for prim in Prim::ALL {
            let known = library.numeric(prim, &members);
            let name = prim.name();
            library.add(name, &scalar(prim), known);
        }
        let pieces = prelude_library(Some("seq")).into_iter();
        let seq = pieces.map(|piece| library.known(piece, Some("seq.fut")));
        let seq = seq.collect();
        let intro = "Sequences, of which only a chunk is in memory at once.";
        library.add("seq", intro, seq);
        library
    }

    fn add(&mut self, name: &str, intro: &str, known: Vec<Known>) {
        self.pages.push(LibraryPage {
            path: format!("prelude/{name}.html"),
            name: name.to_owned(),
            intro: intro.to_owned(),
            known,
        });
    }

    /// A definition of a source, or an operator.
    fn known(&self, piece: Piece, file: Option<&str>) -> Known {
        let doc = piece.doc.map(|text| Doc {
            text,
            span: Span::default(),
        });
        let at = file.map(|file| (format!("prelude/{file}.html"), piece.line));
        let tree = parse_program(FileId(0), piece.text).ok();
        let item = match (piece.text.strip_prefix("val "), tree) {
            (None, Some(tree)) => of_file(piece.text, &tree, &self.of.built_in).pop(),
            (Some(_), _) | (None, None) => None,
        };
        let mut item = item.unwrap_or_else(|| {
            let rest = piece.text.strip_prefix("val ").unwrap_or(piece.text);
            let rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
            value(piece.name, &format!(" {rest}"))
        });
        item.doc = doc;
        Known {
            item,
            text: piece.text.to_owned(),
            at,
            title: piece.title,
        }
    }

    /// The members of the module of a scalar type.
    fn numeric(&self, prim: Prim, docs: &BTreeMap<&'static str, Vec<Item>>) -> Vec<Known> {
        let from: &[&str] = match (prim.is_float(), prim) {
            (true, _) => &["float", "real", "numeric", "from_prim"],
            (false, Prim::Bool) => &["from_prim"],
            (false, _) => &["integral", "numeric", "from_prim"],
        };
        let modules = &self.of.built_in.built_in.modules;
        let found = modules.iter().find(|(name, _)| **name == *prim.name());
        let values = found.map_or(&[][..], |(_, outline)| &outline.values);
        let names = &self.of.built_in.names;
        let mut out: Vec<Known> = Vec::new();
        for (name, id) in values {
            let scheme = names.get(*id).scheme.as_ref();
            let ty = scheme.map_or(String::new(), |scheme| names.scheme_text(scheme));
            let mut item = value(name, &format!(" : {ty}"));
            let mut specs = from.iter().filter_map(|of| docs.get(of)).flatten();
            item.doc = specs
                .find(|spec| spec.name == item.name && spec.kind == Kind::Value)
                .and_then(|spec| spec.doc.clone());
            out.push(Known {
                item,
                text: String::new(),
                at: None,
                title: None,
            });
        }
        // The order of the module types is that of subjects.
        let rank = |known: &Known| {
            let mut specs = from.iter().rev().filter_map(|of| docs.get(of)).flatten();
            specs.position(|spec| spec.name == known.item.name)
        };
        out.sort_by_key(rank);
        out
    }

    /// All targets of links.
    pub(crate) fn targets(&self) -> BTreeSet<String> {
        let mut out = BTreeSet::new();
        for page in &self.pages {
            for known in &page.known {
                crate::item::each(std::slice::from_ref(&known.item), &mut |item| {
                    if item.kind != Kind::Open {
                        out.insert(format!("{}#{}", page.path, item.id));
                    }
                });
            }
        }
        out
    }

    /// The pages with their names and what they are about.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (String, String, String)> {
        let pages = self.pages.iter();
        pages.map(|page| (page.path.clone(), page.name.clone(), page.intro.clone()))
    }

    /// Writes the pages, and what the search finds on them.
    pub(crate) fn pages(
        &self,
        links: &Links<'_>,
        outputs: &mut Vec<Output>,
        entries: &mut Vec<Entry>,
    ) {
        for page in &self.pages {
            outputs.push(page.output(links));
            page.entries(entries);
        }
        for (file, text) in prelude_sources() {
            let path = format!("prelude/{file}.html");
            let body = format!("<h1>{file}</h1>\n{}", listing(&escape(text)));
            let frame = Frame {
                path: &path,
                title: file,
                contents: &[],
                body: &body,
            };
            let text = frame.html();
            outputs.push(Output { path, text });
        }
    }
}

/// The definitions of the module types.
fn members(known: &[Known]) -> BTreeMap<&'static str, Vec<Item>> {
    let named = ["from_prim", "numeric", "integral", "real", "float"];
    let find = |name: &'static str| {
        let fits = |k: &&Known| k.item.kind == Kind::ModuleType && k.item.name == name;
        let found = known.iter().find(fits)?;
        Some((name, found.item.children.clone()))
    };
    named.into_iter().filter_map(find).collect()
}

fn scalar(prim: Prim) -> String {
    let what = match (prim.is_float(), prim) {
        (true, _) => "floating-point numbers",
        (false, Prim::Bool) => "truth values",
        (false, Prim::U8 | Prim::U16 | Prim::U32 | Prim::U64) => "unsigned integers",
        (false, _) => "signed integers",
    };
    format!("The type {} of {what}, and its module.", prim.name())
}

/// A value of which only the type is known.
fn value(name: &str, rest: &str) -> Item {
    let path = vec![name.to_owned()];
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let (open, close) = if is_word { ("", "") } else { ("(", ")") };
    Item {
        kind: Kind::Value,
        name: name.to_owned(),
        id: id_of(Kind::Value, &path),
        path,
        site: None,
        head: vec![
            Part::Text(format!("val {open}")),
            Part::Name(name.to_owned()),
            Part::Text(format!("{close}{rest}")),
        ],
        inferred: None,
        doc: None,
        children: Vec::new(),
    }
}

impl LibraryPage {
    fn output(&self, links: &Links<'_>) -> Output {
        let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n", self.name, escape(&self.intro));
        for known in &self.known {
            if let Some(title) = &known.title {
                body.push_str(&format!("<h2>{}</h2>\n", escape(title)));
            }
            self.item(links, known, &known.item, &mut body);
        }
        let listed = self.known.iter().map(|known| &known.item);
        let contents: Vec<_> = listed.map(|i| (i.id.clone(), i.name.clone())).collect();
        let frame = Frame {
            path: &self.path,
            title: &self.name,
            contents: &contents,
            body: &body,
        };
        Output {
            path: self.path.clone(),
            text: frame.html(),
        }
    }

    fn item(&self, links: &Links<'_>, known: &Known, item: &Item, out: &mut String) {
        let mut head = String::new();
        for part in &item.head {
            match part {
                Part::Text(text) => head.push_str(&self.words(links, text)),
                Part::Name(name) => head.push_str(&name_html(&item.id, name)),
                Part::Source(span) => {
                    let text = known.text.get(span.lo as usize..span.hi as usize);
                    head.push_str(&self.words(links, text.unwrap_or("")));
                }
            }
        }
        let line = item.site.map_or(0, |site| {
            let before = known.text.get(..site.lo as usize).unwrap_or("");
            before.matches('\n').count()
        });
        let at = known
            .at
            .as_ref()
            .map(|(page, first)| (&**page, first + line));
        let mut inside = String::new();
        if let Some(doc) = &item.doc {
            let member = module_page(&self.name).map(|_| self.name.clone());
            let resolve = |name: &str, wanted: Wanted| {
                let within = member.as_ref().map(|module| format!("{module}.{name}"));
                let within = within.and_then(|path| links.named(None, &[], &path, kinds(wanted)));
                let found = within.or_else(|| links.named(None, &[], name, kinds(wanted)));
                Some(href(&self.path, &found?))
            };
            let html = render(&doc.text, &resolve);
            inside.push_str(&format!("<div class=\"doc\">\n{html}</div>\n"));
        }
        if !item.children.is_empty() {
            inside.push_str("<div class=\"members\">\n");
            for child in &item.children {
                self.item(links, known, child, &mut inside);
            }
            inside.push_str("</div>\n");
        }
        out.push_str(&section(&self.path, &item.id, &head, at, &inside));
    }

    /// A text of types, whose names link to what they are.
    fn words(&self, links: &Links<'_>, text: &str) -> String {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end.max(c.len_utf8()));
            rest = after;
            let target = match is_part(c) {
                true => links.named(None, &[], word, &[Kind::Type, Kind::ModuleType]),
                false => None,
            };
            match target {
                Some(target) => out.push_str(&link(&self.path, &target, &escape(word))),
                None => out.push_str(&escape(word)),
            }
        }
        out
    }

    fn entries(&self, out: &mut Vec<Entry>) {
        let module = module_page(&self.name).map(|_| self.name.clone());
        for known in &self.known {
            let item = &known.item;
            let path = module.iter().chain(&item.path).cloned();
            out.push(Entry {
                name: path.collect::<Vec<_>>().join("."),
                kind: item.kind.word(),
                page: self.name.clone(),
                target: href("index.html", &format!("{}#{}", self.path, item.id)),
                summary: item
                    .doc
                    .as_ref()
                    .map_or(String::new(), |d| summary(&d.text)),
            });
        }
    }
}
