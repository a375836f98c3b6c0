//! The pages of files, their sources, and the index.

use crate::html::{Frame, escape, href, link, listing};
use crate::item::{Item, Kind, Part};
use crate::link::{ANY, Links, page, text_page};
use crate::markdown::{Wanted, render, summary};
use crate::search::{self, Entry};
use crate::{Documentation, Output, Site, Source, prelude};
use frontend::source::Span;
use frontend::syntax::ast::Doc;
use std::cell::RefCell;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// All files of a documentation.
pub(crate) fn site(of: &Documentation) -> Site {
    let library = prelude::Library::of(of);
    let links = Links::of(of, library.targets());
    let mut site = Site::default();
    let mut entries = Vec::new();
    for source in of.sources.iter().filter(|source| !source.is_ignored()) {
        let page = Page {
            of,
            links: &links,
            source,
            path: page(source),
            warnings: RefCell::new(Vec::new()),
        };
        page.entries(&mut entries);
        site.files += 1;
        crate::item::each(&source.items, &mut |item| {
            site.items += usize::from(item.kind != Kind::Open);
            site.silent += usize::from(item.kind != Kind::Open && item.doc.is_none());
        });
        site.outputs.push(page.html());
        site.outputs.push(page.text());
        site.warnings.append(&mut page.warnings.borrow_mut());
    }
    library.pages(&links, &mut site.outputs, &mut entries);
    site.outputs.push(index(of, &library));
    let script = search::script(&entries);
    for (path, text) in [("search.js", script), ("style.css", STYLE.to_owned())] {
        let path = path.to_owned();
        site.outputs.push(Output { path, text });
    }
    site.outputs.sort_by(|a, b| a.path.cmp(&b.path));
    site
}

/// The page of a file.
struct Page<'a> {
    of: &'a Documentation,
    links: &'a Links<'a>,
    source: &'a Source,
    path: String,
    warnings: RefCell<Vec<String>>,
}

/// The kinds of thing that a name of a comment may mean.
pub(crate) fn kinds(wanted: Wanted) -> &'static [Kind] {
    match wanted {
        Wanted::Any => ANY,
        Wanted::Term => &[Kind::Value, Kind::Module],
        Wanted::Type => &[Kind::Type],
        Wanted::ModuleType => &[Kind::ModuleType],
    }
}

impl Page<'_> {
    fn html(&self) -> Output {
        let name = &self.source.page;
        let text = link(&self.path, &text_page(self.source), "source");
        let mut body = format!("<h1>{}</h1>\n<p>{text}</p>\n", escape(name));
        if let Some(doc) = &self.source.tree.doc {
            body.push_str(&self.doc(doc, &[], Vec::new()));
        }
        for item in &self.source.items {
            self.item(item, &mut body);
        }
        let listed = self.source.items.iter();
        let listed = listed.filter(|item| item.kind != Kind::Open);
        let contents: Vec<_> = listed.map(|i| (i.id.clone(), i.name.clone())).collect();
        let frame = Frame {
            path: &self.path,
            title: name,
            contents: &contents,
            body: &body,
        };
        Output {
            path: self.path.clone(),
            text: frame.html(),
        }
    }

    /// The page with the text of the file.
    fn text(&self) -> Output {
        let path = text_page(self.source);
        let name = format!("{}.fut", self.source.page);
        let span = self.source.tree.span;
        let whole = self
            .of
            .texts
            .get(span.file)
            .map_or(0, |file| file.text().len());
        let whole = Span::new(span.file, 0, u32::try_from(whole).unwrap_or(u32::MAX));
        let code = self.links.code(&path, self.source, whole);
        let page = link(&path, &self.path, "documentation");
        let body = format!(
            "<h1>{}</h1>\n<p>{page}</p>\n{}",
            escape(&name),
            listing(&code)
        );
        let frame = Frame {
            path: &path,
            title: &name,
            contents: &[],
            body: &body,
        };
        let text = frame.html();
        Output { path, text }
    }

    fn item(&self, item: &Item, out: &mut String) {
        let mut head = String::new();
        for part in &item.head {
            match part {
                Part::Text(text) => head.push_str(&escape(text)),
                Part::Name(name) => head.push_str(&name_html(&item.id, name)),
                Part::Source(span) => {
                    head.push_str(&self.links.code(&self.path, self.source, *span));
                }
            }
        }
        let at = item.site.and_then(|site| self.of.texts.line_col(site));
        let at = at.map(|at| (text_page(self.source), at.line as usize));
        let mut inside = String::new();
        if let Some(ty) = &item.inferred {
            let _ = writeln!(
                inside,
                "<p class=\"inferred\"><code>: {}</code></p>",
                escape(ty)
            );
        }
        if let Some(doc) = &item.doc {
            let around = &item.path[..item.path.len().saturating_sub(1)];
            let own = item.head.iter().flat_map(|part| match part {
                Part::Source(span) => self.links.own_names(self.source, *span),
                Part::Text(_) | Part::Name(_) => Vec::new(),
            });
            inside.push_str(&self.doc(doc, around, own.collect()));
        }
        if !item.children.is_empty() {
            inside.push_str("<div class=\"members\">\n");
            for child in &item.children {
                self.item(child, &mut inside);
            }
            inside.push_str("</div>\n");
        }
        let at = at.as_ref().map(|(page, line)| (&**page, *line));
        out.push_str(&section(&self.path, &item.id, &head, at, &inside));
    }

    /// A comment as HTML. The names in `own` are those of parameters.
    fn doc(&self, doc: &Doc, around: &[String], own: Vec<String>) -> String {
        let resolve = |name: &str, wanted: Wanted| {
            if wanted == Wanted::Any && own.iter().any(|own| own == name) {
                return None;
            }
            let found = self
                .links
                .named(Some(self.source), around, name, kinds(wanted));
            if found.is_none() && wanted != Wanted::Any {
                self.warn(doc, name);
            }
            Some(href(&self.path, &found?))
        };
        format!(
            "<div class=\"doc\">\n{}</div>\n",
            render(&doc.text, &resolve)
        )
    }

    fn warn(&self, doc: &Doc, name: &str) {
        let first = self
            .of
            .texts
            .line_col(doc.span)
            .map_or(1, |at| at.line as usize);
        let quoted = format!("`{name}`@");
        let line = doc.text.lines().position(|line| line.contains(&quoted));
        let line = first + line.unwrap_or(0);
        let file = &self.source.name;
        let warning =
            format!("{file}:{line}: warning: the comment links to {name}, which is not defined");
        self.warnings.borrow_mut().push(warning);
    }

    /// What the search finds on the page.
    fn entries(&self, out: &mut Vec<Entry>) {
        crate::item::each(&self.source.items, &mut |item| {
            if item.kind != Kind::Open {
                out.push(Entry {
                    name: item.path.join("."),
                    kind: item.kind.word(),
                    page: self.source.page.clone(),
                    target: href("index.html", &format!("{}#{}", self.path, item.id)),
                    summary: item
                        .doc
                        .as_ref()
                        .map_or(String::new(), |d| summary(&d.text)),
                });
            }
        });
    }
}

/// The name of a definition, which links to itself.
pub(crate) fn name_html(id: &str, name: &str) -> String {
    format!("<a href=\"#{id}\"><b>{}</b></a>", escape(name))
}

/// A definition: what says what it is, where it is written, and what follows.
pub(crate) fn section(
    path: &str,
    id: &str,
    head: &str,
    at: Option<(&str, usize)>,
    inside: &str,
) -> String {
    let id = match id {
        "" => String::new(),
        id => format!(" id=\"{id}\""),
    };
    let at = at.map_or(String::new(), |(page, line)| {
        let target = format!("{page}#L{line}");
        let text = format!("line {line}");
        format!("<span class=\"at\">{}</span>", link(path, &target, &text))
    });
    format!(
        "<section class=\"item\"{id}>\n<pre class=\"head\">{at}<code>{head}</code></pre>\n{inside}</section>\n"
    )
}

/// The index: files with what their comments say first, and the prelude.
fn index(of: &Documentation, library: &prelude::Library<'_>) -> Output {
    const PATH: &str = "index.html";
    let mut body = String::from("<h1>Index</h1>\n");
    let mut files = String::new();
    for source in of.sources.iter().filter(|source| !source.is_ignored()) {
        let name = link(PATH, &page(source), &escape(&source.page));
        let doc = source.tree.doc.as_ref();
        let doc = doc.map_or(String::new(), |doc| summary(&doc.text));
        let _ = writeln!(files, "<tr><td>{name}</td><td>{}</td></tr>", escape(&doc));
    }
    if !files.is_empty() {
        let _ = write!(body, "<h2>Files</h2>\n<table>\n{files}</table>\n");
    }
    let mut modules = String::new();
    for (page, name, summary) in library.contents() {
        let name = link(PATH, &page, &escape(&name));
        let _ = writeln!(
            modules,
            "<tr><td>{name}</td><td>{}</td></tr>",
            escape(&summary)
        );
    }
    let _ = write!(body, "<h2>Prelude</h2>\n<table>\n{modules}</table>\n");
    let frame = Frame {
        path: PATH,
        title: "Index",
        contents: &[],
        body: &body,
    };
    Output {
        path: PATH.to_owned(),
        text: frame.html(),
    }
}
