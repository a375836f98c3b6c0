//! The definitions of a file with their comments, and which parts of the source say what they are.

use frontend::source::Span;
use frontend::syntax::ast::{
    Dec, DecKind, Doc, Ident, ImportPath, Lift, ModBind, ModExp, ModExpKind, ModTypeBind,
    ModTypeExp, ModTypeKind, Program, Spec, SpecKind, TypeBind, TypeExp, ValBind, ValKeyword,
};
use frontend::types::index::{Analysis, Outline};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of thing an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Value,
    Entry,
    Type,
    Module,
    ModuleType,
    /// `open` or `import`, which defines nothing itself.
    Open,
}

impl Kind {
    /// What readers call it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Value => "value",
            Kind::Entry => "entry",
            Kind::Type => "type",
            Kind::Module => "module",
            Kind::ModuleType => "module type",
            Kind::Open => "open",
        }
    }

    /// What comes before the path in its id.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Kind::Value | Kind::Entry | Kind::Open => "",
            Kind::Type => "type.",
            Kind::Module => "module.",
            Kind::ModuleType => "module-type.",
        }
    }
}

/// A part of what says what an item is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Text that is not in the source.
    Text(String),
    /// The name that is defined.
    Name(String),
    /// A range of the source.
    Source(Span),
}

/// A definition.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// The names of the modules around it and its own.
    pub(crate) path: Vec<String>,
    /// Its id in its page.
    pub(crate) id: String,
    /// The name where it is defined; nothing of members that another module has made.
    pub(crate) site: Option<Span>,
    pub(crate) head: Vec<Part>,
    /// The type, if the definition does not say all of it.
    pub(crate) inferred: Option<String>,
    pub(crate) doc: Option<Doc>,
    pub(crate) children: Vec<Item>,
}

/// Calls with each item, outer ones first.
pub(crate) fn each<'a>(items: &'a [Item], with: &mut dyn FnMut(&'a Item)) {
    for item in items {
        with(item);
        each(&item.children, with);
    }
}

/// The imports of declarations.
pub(crate) fn imports(decs: &[Dec]) -> Vec<&ImportPath> {
    let mut out = Vec::new();
    decs.iter().for_each(|dec| of_dec(dec, &mut out));
    out
}

fn of_dec<'a>(dec: &'a Dec, out: &mut Vec<&'a ImportPath>) {
    match &dec.kind {
        DecKind::Import(path) => out.push(path),
        DecKind::Open(exp) => of_exp(exp, out),
        DecKind::Module(bind) => of_exp(&bind.body, out),
        DecKind::Local(inner) => of_dec(inner, out),
        DecKind::Val(_) | DecKind::Type(_) | DecKind::ModType(_) => {}
    }
}

fn of_exp<'a>(exp: &'a ModExp, out: &mut Vec<&'a ImportPath>) {
    match &exp.kind {
        ModExpKind::Import(path) => out.push(path),
        ModExpKind::Struct(decs) => decs.iter().for_each(|dec| of_dec(dec, out)),
        ModExpKind::Apply(f, x) => {
            of_exp(f, out);
            of_exp(x, out);
        }
        ModExpKind::Ascribe(inner, _) => of_exp(inner, out),
        ModExpKind::Lambda { body, .. } => of_exp(body, out),
        ModExpKind::Name(_) => {}
    }
}

/// The items of a file.
pub(crate) fn of_file(text: &str, tree: &Program, analysis: &Analysis) -> Vec<Item> {
    let mut decs: Vec<Item> = Reader {
        text,
        analysis,
        tree,
    }
    .decs(&tree.decs, &[]);
    // The comment at the beginning of a file is the file's.
    if let (Some(first), Some(of_file)) = (decs.first_mut(), &tree.doc) {
        first.doc.take_if(|doc| doc.span == of_file.span);
    }
    identify(&mut decs, &mut BTreeMap::new());
    decs
}

/// The id of a path of names.
pub(crate) fn id_of(kind: Kind, path: &[String]) -> String {
    let mut out = kind.prefix().to_owned();
    for (i, c) in path.join(".").chars().enumerate() {
        // Operators have no dots, but for their modules.
        let is_plain = c.is_ascii_alphanumeric() || c == '_' || (c == '.' && i > 0);
        if is_plain {
            out.push(c);
        } else {
            out.push_str(&format!("-{:x}", u32::from(c)));
        }
    }
    out
}

/// Gives items their ids. The last of several definitions of a name has the plain one.
fn identify(items: &mut [Item], taken: &mut BTreeMap<String, usize>) {
    for item in items.iter_mut().rev() {
        if item.kind != Kind::Open {
            let id = id_of(item.kind, &item.path);
            let count = taken.entry(id.clone()).or_default();
            *count += 1;
            item.id = match *count {
                1 => id,
                several => format!("{id}.{several}"),
            };
        }
        identify(&mut item.children, taken);
    }
}

struct Reader<'a> {
    text: &'a str,
    analysis: &'a Analysis,
    tree: &'a Program,
}

fn plain(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn lifted(lift: Lift) -> &'static str {
    match lift {
        Lift::Unlifted => "type ",
        Lift::SizeLifted => "type~ ",
        Lift::Lifted => "type^ ",
    }
}

fn path_of(around: &[String], name: &str) -> Vec<String> {
    let name = [name.to_owned()];
    around.iter().chain(&name).cloned().collect()
}

impl Reader<'_> {
    fn decs(&self, decs: &[Dec], around: &[String]) -> Vec<Item> {
        decs.iter()
            .filter_map(|dec| self.dec(dec, around))
            .collect()
    }

    fn dec(&self, dec: &Dec, around: &[String]) -> Option<Item> {
        let mut item = match &dec.kind {
            DecKind::Val(bind) => self.val(bind, around),
            DecKind::Type(bind) => self.type_bind(bind, dec.span.hi, around),
            DecKind::Module(bind) => self.module(bind, dec.span.hi, around),
            DecKind::ModType(bind) => self.module_type(bind, dec.span.hi, around),
            DecKind::Open(_) | DecKind::Import(_) => Item {
                kind: Kind::Open,
                name: String::new(),
                path: Vec::new(),
                id: String::new(),
                site: None,
                head: vec![Part::Source(dec.span)],
                inferred: None,
                doc: None,
                children: Vec::new(),
            },
            DecKind::Local(_) => return None,
        };
        item.doc.clone_from(&dec.doc);
        Some(item)
    }

    fn item(&self, kind: Kind, ident: &Ident, around: &[String], head: Vec<Part>) -> Item {
        Item {
            kind,
            name: ident.name.to_string(),
            path: path_of(around, &ident.name),
            id: String::new(),
            site: Some(ident.span),
            head,
            inferred: None,
            doc: None,
            children: Vec::new(),
        }
    }

    /// The name that is defined, and the source behind it up to a byte.
    fn named(&self, word: &str, ident: &Ident, end: u32) -> Vec<Part> {
        let at = ident.span.hi as usize;
        let blanks = |text: &str| text.len() - text.trim_start().len();
        let rest = &self.text[at..(end as usize).max(at)];
        let mut skip = blanks(rest);
        // An operator is between parentheses.
        let before = self.text[..ident.span.lo as usize].trim_end();
        let is_operator = !ident
            .name
            .starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_closed = is_operator && before.ends_with('(') && rest[skip..].starts_with(')');
        if is_closed {
            skip += 1;
        }
        let start = ident.span.hi + u32::try_from(skip).unwrap_or(0);
        let text = self.slice(start, end).trim_start();
        let gap = if text.is_empty() { "" } else { " " };
        let lo = end.max(start) - u32::try_from(text.len()).unwrap_or(0);
        let (open, close) = if is_operator { ("(", ")") } else { ("", "") };
        vec![
            Part::Text(format!("{word}{open}")),
            Part::Name(ident.name.to_string()),
            Part::Text(format!("{close}{gap}")),
            Part::Source(Span::new(ident.span.file, lo, end.max(start))),
        ]
    }

    fn slice(&self, lo: u32, hi: u32) -> &str {
        self.text.get(lo as usize..hi as usize).unwrap_or("")
    }

    /// Where the first `=` behind a byte is, without the blanks before it.
    fn before_equals(&self, from: u32, end: u32) -> u32 {
        let text = self.slice(from, end);
        let head = text.find('=').map_or(text, |at| &text[..at]);
        from + u32::try_from(head.trim_end().len()).unwrap_or(0)
    }

    fn val(&self, bind: &ValBind, around: &[String]) -> Item {
        let (kind, word) = match bind.keyword {
            ValKeyword::Entry => (Kind::Entry, "entry "),
            ValKeyword::Def | ValKeyword::Let => (Kind::Value, "def "),
        };
        let ret = bind.ret.as_ref().map(|ty: &TypeExp| ty.span.hi);
        let params = bind.params.iter().map(|param| param.span);
        let types = bind.type_params.iter().map(|param| param.span);
        let spans: Vec<Span> = params.chain(types).chain([bind.name.span]).collect();
        let last = spans.iter().map(|span| span.hi).max();
        let last = ret.or(last).unwrap_or(bind.name.span.hi);
        let end = self.before_equals(last, bind.body.span.lo);
        let first = spans.iter().map(|span| span.lo).min();
        let head = match first {
            // An operator between its parameters.
            Some(first) if first < bind.name.span.lo => {
                let from = self.text[..first as usize].trim_end_matches('(').len();
                let lo = u32::try_from(from).unwrap_or(first);
                let whole = Span::new(bind.name.span.file, lo, end);
                vec![plain(word), Part::Source(whole)]
            }
            Some(_) | None => self.named(word, &bind.name, end),
        };
        let mut item = self.item(kind, &bind.name, around, head);
        let annotated = |text: &str| text.contains(':');
        let is_whole = ret.is_some()
            && bind
                .params
                .iter()
                .all(|param| annotated(self.slice(param.span.lo, param.span.hi)));
        if !is_whole {
            item.inferred = self.inferred(bind.name.span);
        }
        item
    }

    /// The type of what a name defines.
    fn inferred(&self, site: Span) -> Option<String> {
        let uses = &self.analysis.index.uses;
        let from = uses.partition_point(|one| one.at < site);
        let uses = uses[from..].iter().take_while(|one| one.at == site);
        let names = &self.analysis.names;
        let mut schemes = uses.filter_map(|one| names.get(one.name?).scheme.as_ref());
        schemes.next().map(|scheme| names.scheme_text(scheme))
    }

    fn type_bind(&self, bind: &TypeBind, end: u32, around: &[String]) -> Item {
        let head = self.named(lifted(bind.lift), &bind.name, end);
        self.item(Kind::Type, &bind.name, around, head)
    }

    fn module(&self, bind: &ModBind, end: u32, around: &[String]) -> Item {
        let path = path_of(around, &bind.name.name);
        let mut ascription = bind.ascription.as_ref();
        let mut body = &bind.body;
        let mut is_parametric = !bind.params.is_empty();
        let mut outer = Vec::new();
        loop {
            match &body.kind {
                ModExpKind::Ascribe(inner, ty) => {
                    ascription = ascription.or(Some(&**ty));
                    outer.extend([plain(" : "), Part::Source(ty.span)]);
                    body = inner;
                }
                ModExpKind::Lambda { body: inner, .. } => {
                    is_parametric = true;
                    body = inner;
                }
                ModExpKind::Name(_)
                | ModExpKind::Struct(_)
                | ModExpKind::Import(_)
                | ModExpKind::Apply(..) => break,
            }
        }
        let is_struct = matches!(body.kind, ModExpKind::Struct(_));
        let mut head = if is_struct {
            let params = bind.params.iter().map(|param| param.span.hi);
            let last = params.max().unwrap_or(bind.name.span.hi);
            let last = bind.ascription.as_ref().map_or(last, |ty| ty.span.hi);
            let stop = self.before_equals(last, bind.body.span.lo);
            self.named("module ", &bind.name, stop)
        } else {
            self.named("module ", &bind.name, end)
        };
        if is_struct {
            head.extend(outer);
        }
        let outline = || {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            self.analysis.scope.module(&path)
        };
        let children = match &body.kind {
            ModExpKind::Struct(decs) => {
                let mut children = self.decs(decs, &path);
                if let (Some(ty), false) = (ascription, is_parametric) {
                    if let ModTypeKind::Sig(specs) = &ty.kind {
                        self.keep_specified(&mut children, specs, &path);
                    } else if let Some(outline) = outline() {
                        keep_visible(&mut children, outline);
                        self.ascribe(&mut children, ty);
                    }
                }
                children
            }
            ModExpKind::Apply(..) => {
                outline().map_or(Vec::new(), |outline| self.made(outline, &path))
            }
            ModExpKind::Name(_)
            | ModExpKind::Import(_)
            | ModExpKind::Ascribe(..)
            | ModExpKind::Lambda { .. } => Vec::new(),
        };
        let mut item = self.item(Kind::Module, &bind.name, around, head);
        item.children = children;
        item
    }

    /// Hides what types are that a module type of the same file leaves abstract, and takes comments from there.
    fn ascribe(&self, items: &mut [Item], ty: &ModTypeExp) {
        let mut known = Vec::new();
        let mut ty = ty;
        while let ModTypeKind::With(inner, refined) = &ty.kind {
            known.push(&refined.name.name.name);
            ty = inner;
        }
        let ModTypeKind::Name(name) = &ty.kind else {
            return;
        };
        let specs = self.tree.decs.iter().find_map(|dec| match &dec.kind {
            DecKind::ModType(bind) if bind.name.name.as_str() == name.to_string() => {
                match &bind.body.kind {
                    ModTypeKind::Sig(specs) => Some(specs),
                    ModTypeKind::Name(_) | ModTypeKind::With(..) | ModTypeKind::Arrow { .. } => {
                        None
                    }
                }
            }
            DecKind::ModType(_)
            | DecKind::Val(_)
            | DecKind::Type(_)
            | DecKind::Module(_)
            | DecKind::Open(_)
            | DecKind::Import(_)
            | DecKind::Local(_) => None,
        });
        for spec in specs.into_iter().flatten() {
            let (kind, name, head) = match &spec.kind {
                SpecKind::Val { name, .. } => (Kind::Value, name, None),
                SpecKind::Abbr(bind) => (Kind::Type, &bind.name, None),
                SpecKind::Type { lift, name, .. } => {
                    let head = self.named(lifted(*lift), name, spec.span.hi);
                    (
                        Kind::Type,
                        name,
                        Some(head).filter(|_| !known.contains(&&name.name)),
                    )
                }
                SpecKind::Module { name, .. } => (Kind::Module, name, None),
                SpecKind::Include(_) => continue,
            };
            let mine = items.iter_mut().rev();
            let mut mine = mine.filter(|item| item.kind.prefix() == kind.prefix());
            if let Some(item) = mine.find(|item| item.name == *name.name) {
                item.head = head.unwrap_or_else(|| std::mem::take(&mut item.head));
                item.doc = item.doc.take().or_else(|| spec.doc.clone());
            }
        }
    }

    /// What a module type that is written at its module shows, with the comments of the module where it has none.
    fn keep_specified(&self, children: &mut Vec<Item>, specs: &[Spec], path: &[String]) {
        let mut shown = self.specs(specs, path);
        for item in &mut shown {
            let same =
                |own: &&mut Item| own.kind.prefix() == item.kind.prefix() && own.name == item.name;
            if let Some(own) = children.iter_mut().rev().find(same) {
                // Links from inside of the module lead to its own definitions.
                item.site = own.site;
                if item.doc.is_none() {
                    item.doc = own.doc.take();
                }
            }
        }
        *children = shown;
    }

    /// The members of a module that another one has made.
    fn made(&self, outline: &Outline, path: &[String]) -> Vec<Item> {
        let names = &self.analysis.names;
        let item = |kind, name: &str, head| Item {
            kind,
            name: name.to_owned(),
            path: path_of(path, name),
            id: String::new(),
            site: None,
            head,
            inferred: None,
            doc: None,
            children: Vec::new(),
        };
        let types = outline.types.iter().map(|name| {
            let head = vec![plain("type "), Part::Name(name.to_string())];
            item(Kind::Type, name, head)
        });
        let mut out: Vec<Item> = types.collect();
        for (name, id) in &outline.values {
            let info = names.get(*id);
            let ty = info.scheme.as_ref();
            let ty = ty.map_or(String::new(), |scheme| names.scheme_text(scheme));
            let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            let (open, close) = if is_word { ("", "") } else { ("(", ")") };
            let head = vec![
                Part::Text(format!("val {open}")),
                Part::Name(name.to_string()),
                Part::Text(format!("{close} : {ty}")),
            ];
            out.push(item(Kind::Value, name, head));
        }
        out
    }

    fn module_type(&self, bind: &ModTypeBind, end: u32, around: &[String]) -> Item {
        let path = path_of(around, &bind.name.name);
        let ModTypeKind::Sig(specs) = &bind.body.kind else {
            let head = self.named("module type ", &bind.name, end);
            return self.item(Kind::ModuleType, &bind.name, around, head);
        };
        let head = self.named("module type ", &bind.name, bind.name.span.hi);
        let mut item = self.item(Kind::ModuleType, &bind.name, around, head);
        item.children = self.specs(specs, &path);
        item
    }

    fn specs(&self, specs: &[Spec], around: &[String]) -> Vec<Item> {
        specs.iter().map(|spec| self.spec(spec, around)).collect()
    }

    fn spec(&self, spec: &Spec, around: &[String]) -> Item {
        let end = spec.span.hi;
        let mut item = match &spec.kind {
            SpecKind::Val { name, .. } => {
                let head = self.named("val ", name, end);
                self.item(Kind::Value, name, around, head)
            }
            SpecKind::Abbr(bind) => self.type_bind(bind, end, around),
            SpecKind::Type { lift, name, .. } => {
                let head = self.named(lifted(*lift), name, end);
                self.item(Kind::Type, name, around, head)
            }
            SpecKind::Module { name, mod_type } => {
                let path = path_of(around, &name.name);
                let (head, children) = match &mod_type.kind {
                    ModTypeKind::Sig(specs) => (name.span.hi, self.specs(specs, &path)),
                    ModTypeKind::Name(_) | ModTypeKind::With(..) | ModTypeKind::Arrow { .. } => {
                        (end, Vec::new())
                    }
                };
                let head = self.named("module ", name, head);
                let mut item = self.item(Kind::Module, name, around, head);
                item.children = children;
                item
            }
            SpecKind::Include(ty) => Item {
                kind: Kind::Open,
                name: String::new(),
                path: Vec::new(),
                id: String::new(),
                site: None,
                head: vec![plain("include "), Part::Source(ty.span)],
                inferred: None,
                doc: None,
                children: Vec::new(),
            },
        };
        item.doc.clone_from(&spec.doc);
        item
    }
}

/// Keeps the items that a module shows.
fn keep_visible(items: &mut Vec<Item>, outline: &Outline) {
    let values: BTreeSet<&str> = outline.values.iter().map(|(name, _)| &**name).collect();
    items.retain(|item| match item.kind {
        Kind::Value | Kind::Entry => values.contains(&*item.name),
        Kind::Type => outline.types.iter().any(|name| **name == *item.name),
        Kind::Module => outline.modules.iter().any(|(name, _)| **name == *item.name),
        Kind::ModuleType => outline.module_types.iter().any(|n| **n == *item.name),
        Kind::Open => true,
    });
}
