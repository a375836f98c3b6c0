//! The typed program is well scoped: in order of evaluation, every value and every size that an expression needs is bound before.

use frontend::source::{FileId, SourceMap};
use frontend::typed::{
    Atom, Dec, Exp, ExpKind, LoopForm, ModuleBinds, ModuleExp, Name, NameKind, Names, Pat, PatKind,
    Program, Size, Slice, Step, Type, TypeArg, ValueDef,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Default)]
struct Disk {
    sources: SourceMap,
    paths: BTreeMap<PathBuf, FileId>,
    dirs: BTreeMap<FileId, PathBuf>,
}

impl Disk {
    fn open(&mut self, path: &Path) -> Result<FileId, String> {
        let path = path.canonicalize().map_err(|e| e.to_string())?;
        if let Some(id) = self.paths.get(&path) {
            return Ok(*id);
        }
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let id = self.sources.add(path.display().to_string(), text);
        self.paths.insert(path.clone(), id);
        let dir = path.parent().unwrap_or(Path::new(".")).to_owned();
        self.dirs.insert(id, dir);
        Ok(id)
    }

    fn check(&mut self, file: FileId) -> Option<Program> {
        frontend::check(file, self).ok().map(|(program, _)| program)
    }
}

impl frontend::Loader for Disk {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, from: FileId, path: &str) -> Result<FileId, String> {
        let dir = self.dirs.get(&from).cloned().unwrap_or_default();
        self.open(&dir.join(format!("{path}.fut")))
    }
}

type Scope = HashSet<Name>;

struct Walk<'p> {
    names: &'p Names,
    functors: HashMap<Name, (Scope, &'p ModuleExp)>,
    problems: Vec<String>,
}

impl<'p> Walk<'p> {
    fn program(p: &'p Program) -> Vec<String> {
        let mut w = Walk {
            names: &p.names,
            functors: HashMap::new(),
            problems: Vec::new(),
        };
        let mut scope = Scope::new();
        for def in &p.prelude {
            w.def(def, &mut scope);
        }
        for file in &p.files {
            w.decs(&file.decs, &mut scope);
        }
        for entry in &p.entries {
            w.need(entry.value, &scope, "entry");
        }
        w.problems
    }

    fn decs(&mut self, decs: &'p [Dec], scope: &mut Scope) {
        for dec in decs {
            match dec {
                Dec::Value(def) => self.def(def, scope),
                Dec::Module(m) => self.module(m, scope),
                Dec::Functor(f) => {
                    scope.insert(f.name);
                    self.functors.insert(f.name, (scope.clone(), &f.body));
                }
            }
        }
    }

    fn binds(&mut self, binds: &'p ModuleBinds, here: &mut Scope, there: &Scope) {
        for v in &binds.values {
            self.need(v.value, there, "module binding");
            let mut inst = there.clone();
            inst.extend(v.scheme.sizes.iter());
            for s in &v.inst.sizes {
                self.size(s, &inst, "instance of a module binding");
            }
            here.insert(v.name);
        }
        for f in &binds.functors {
            self.need(f.functor, there, "functor binding");
            here.insert(f.name);
        }
    }

    fn module(&mut self, m: &'p ModuleExp, scope: &mut Scope) {
        match m {
            ModuleExp::Known => {}
            ModuleExp::Struct(decs) => self.decs(decs, scope),
            ModuleExp::Seq(ms) => ms.iter().for_each(|m| self.module(m, scope)),
            ModuleExp::Binds(b) => {
                let there = scope.clone();
                self.binds(b, scope, &there);
            }
            ModuleExp::Apply {
                functor,
                arg,
                param,
                result,
                ..
            } => {
                self.module(arg, scope);
                self.need(*functor, scope, "functor");
                if let Some((closure, body)) = self.functors.get(functor).cloned() {
                    let mut inner = closure;
                    let there = scope.clone();
                    self.binds(param, &mut inner, &there);
                    self.module(body, &mut inner);
                    self.binds(result, scope, &inner);
                } else {
                    // The parameter of a functor, or an adapted one: its body is not known here.
                    scope.extend(result.values.iter().map(|v| v.name));
                    scope.extend(result.functors.iter().map(|f| f.name));
                }
            }
        }
    }

    fn need(&mut self, n: Name, scope: &Scope, what: &str) {
        if matches!(self.names.get(n).kind, NameKind::Intrinsic(_)) || scope.contains(&n) {
            return;
        }
        let text = self.names.text(n);
        self.problems
            .push(format!("{what}: {text} ({}) is not bound", n.0));
    }

    fn size(&mut self, s: &Size, scope: &Scope, what: &str) {
        for atom in s.terms.keys().flatten() {
            match atom {
                Atom::Name(n) => self.need(*n, scope, what),
                Atom::Opaque(o) => o.free.iter().for_each(|n| self.need(*n, scope, what)),
                Atom::Meta(m) => self.problems.push(format!("{what}: a size is open: {m}")),
            }
        }
    }

    /// Sizes outside of functions are those of the value.
    fn ty(&mut self, t: &Type, scope: &Scope, what: &str) {
        match t {
            Type::Prim(_) | Type::Fun(_) => {}
            Type::Meta(_) => self.problems.push(format!("{what}: a type is open")),
            Type::Array(a) => {
                self.size(&a.size, scope, what);
                self.ty(&a.elem, scope, what);
            }
            Type::Tuple(ts) => ts.iter().for_each(|t| self.ty(t, scope, what)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| self.ty(t, scope, what)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| self.ty(t, scope, what)),
            Type::Named(n) => n.args.iter().for_each(|a| match a {
                TypeArg::Size(s) => self.size(s, scope, what),
                TypeArg::Type(t) => self.ty(t, scope, what),
            }),
        }
    }

    fn pat(&mut self, p: &Pat, scope: &mut Scope) {
        match &p.kind {
            PatKind::Name(n) => {
                scope.insert(*n);
            }
            PatKind::Wild | PatKind::Literal(_) => {}
            PatKind::Tuple(ps) | PatKind::Construct(_, ps) => {
                ps.iter().for_each(|p| self.pat(p, scope))
            }
            PatKind::Record(fs) => fs.iter().for_each(|(_, p)| self.pat(p, scope)),
        }
    }

    fn def(&mut self, d: &'p Arc<ValueDef>, scope: &mut Scope) {
        let mut inner = scope.clone();
        inner.extend(d.scheme.sizes.iter());
        if d.recursive {
            inner.insert(d.name);
        }
        d.params.iter().for_each(|p| self.pat(p, &mut inner));
        d.params
            .iter()
            .for_each(|p| self.ty(&p.ty, &inner, "parameter"));
        self.exp(&d.body, &mut inner);
        scope.insert(d.name);
        if d.params.is_empty() {
            scope.extend(d.ret.exts.iter());
        }
    }

    fn exps(&mut self, es: impl IntoIterator<Item = &'p Exp>, scope: &mut Scope) {
        es.into_iter().for_each(|e| self.exp(e, scope));
    }

    fn exp(&mut self, e: &'p Exp, scope: &mut Scope) {
        self.children(e, scope);
        scope.extend(e.exts.iter());
        let what = format!("{:?} type of {:.60}", e.span, format!("{:?}", e.kind));
        self.ty(&e.ty, scope, &what);
    }

    fn children(&mut self, e: &'p Exp, scope: &mut Scope) {
        match &e.kind {
            ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Hole => {}
            ExpKind::Size(s) => self.size(s, scope, "size expression"),
            ExpKind::Var { name, inst } => {
                self.need(*name, scope, "variable");
                let what = format!("{:?} instance of {}", e.span, self.names.text(*name));
                inst.sizes.iter().for_each(|s| self.size(s, scope, &what));
            }
            ExpKind::Tuple(es) | ExpKind::Array(es) | ExpKind::Construct(_, es) => {
                self.exps(es, scope)
            }
            ExpKind::Record(fs) => self.exps(fs.iter().map(|(_, e)| e), scope),
            ExpKind::Range { start, second, end } => {
                self.exp(start, scope);
                self.exps(second.as_deref(), scope);
                self.exp(&end.1, scope);
            }
            ExpKind::Coerce(e)
            | ExpKind::Negate(e)
            | ExpKind::Not(e)
            | ExpKind::Field(e, _)
            | ExpKind::TupleField(e, _)
            | ExpKind::Attr(_, e) => self.exp(e, scope),
            ExpKind::Apply { fun, args, infix } => {
                if *infix {
                    self.exps(args, scope);
                } else {
                    self.exps(args.iter().rev(), scope);
                }
                self.exp(fun, scope);
            }
            ExpKind::Lambda { params, body, .. } => {
                let mut inner = scope.clone();
                params.iter().for_each(|p| self.pat(p, &mut inner));
                params
                    .iter()
                    .for_each(|p| self.ty(&p.ty, &inner, "parameter of a lambda"));
                self.exp(body, &mut inner);
            }
            ExpKind::Let {
                sizes,
                pat,
                value,
                body,
            } => {
                self.exp(value, scope);
                scope.extend(sizes);
                self.pat(pat, scope);
                self.ty(&pat.ty, scope, "pattern");
                self.exp(body, scope);
            }
            ExpKind::LetFun { def, body } => {
                self.def(def, scope);
                self.exp(body, scope);
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.exp(cond, scope);
                self.exp(then, &mut scope.clone());
                self.exp(otherwise, &mut scope.clone());
            }
            ExpKind::Match { scrutinee, cases } => {
                self.exp(scrutinee, scope);
                for case in cases {
                    let mut inner = scope.clone();
                    self.pat(&case.pat, &mut inner);
                    self.exp(&case.body, &mut inner);
                }
            }
            ExpKind::Loop {
                sizes,
                pat,
                init,
                form,
                body,
            } => {
                self.exp(init, scope);
                sizes
                    .iter()
                    .for_each(|s| self.size(&s.init, scope, "initial size of a loop"));
                match form {
                    LoopForm::For { bound, .. } => self.exp(bound, scope),
                    LoopForm::ForIn { array, .. } => self.exp(array, scope),
                    LoopForm::While(_) => {}
                }
                let mut inner = scope.clone();
                inner.extend(sizes.iter().map(|s| s.name));
                self.pat(pat, &mut inner);
                self.ty(&pat.ty, &inner, "loop pattern");
                match form {
                    LoopForm::For { var, .. } => {
                        inner.insert(*var);
                    }
                    LoopForm::ForIn { pat, .. } => self.pat(pat, &mut inner),
                    LoopForm::While(cond) => self.exp(cond, &mut inner.clone()),
                }
                self.exp(body, &mut inner);
            }
            ExpKind::Index { array, slices } => {
                self.exp(array, scope);
                self.slices(slices, scope);
            }
            ExpKind::Update {
                source,
                path,
                value,
            } => {
                self.exp(source, scope);
                for step in path {
                    if let Step::Index(slices) = step {
                        self.slices(slices, scope);
                    }
                }
                self.exp(value, scope);
            }
            ExpKind::Assert { cond, body, .. } => self.exps([&**cond, &**body], scope),
        }
    }

    fn slices(&mut self, slices: &'p [Slice], scope: &mut Scope) {
        for slice in slices {
            match slice {
                Slice::Index(e) => self.exp(e, scope),
                Slice::Range { start, end, stride } => {
                    self.exps([start, end, stride].into_iter().flatten(), scope);
                }
            }
        }
    }
}

/// Every program of a directory that checks is well scoped. Set `ARRC_SCOPES` to the directory.
#[test]
fn outside_programs_are_well_scoped() {
    let Some(dir) = std::env::var_os("ARRC_SCOPES") else {
        return;
    };
    let mut todo = vec![PathBuf::from(dir)];
    let mut bad = Vec::new();
    while let Some(at) = todo.pop() {
        if at.is_dir() {
            let mut inner: Vec<PathBuf> = std::fs::read_dir(&at)
                .expect("a directory")
                .filter_map(|e| Some(e.ok()?.path()))
                .collect();
            inner.sort();
            todo.extend(inner);
        } else if at.extension().is_some_and(|e| e == "fut") {
            let mut disk = Disk::default();
            let Ok(file) = disk.open(&at) else { continue };
            let Some(program) = disk.check(file) else {
                continue;
            };
            let problems = Walk::program(&program);
            if let Some(first) = problems.first() {
                bad.push(format!("{}: {first}", at.display()));
            }
        }
    }
    // Instances of functions on types that hide their sizes may name sizes that nothing binds.
    assert!(
        bad.len() < 10,
        "programs that are not well scoped: {bad:#?}"
    );
}

#[test]
fn own_programs_are_well_scoped() {
    let programs = [
        "def main (xs: []i32) = let ys = filter (> 0) xs in map2 (+) ys ys",
        "def main (n: i64) = loop xs = [0i64] for i < n do xs ++ [i]",
        "module f (p: { type t val x : t }) = { def y = (p.x, p.x) }\nmodule m = f { type t = i32 def x = 1i32 }\ndef main = m.y",
        "def swap [n] [m] (xs: [n]i32, ys: [m]i32) = (ys, xs)\ndef main a b = (swap (a, b)).0 : []i32",
        "def main (xs: []i32) = xs |> filter (> 0) |> map (+ 1) |> reduce (+) 0",
    ];
    for text in programs {
        let mut disk = Disk::default();
        let file = disk.sources.add("test.fut", text);
        let program = disk
            .check(file)
            .unwrap_or_else(|| panic!("{text}: should check"));
        assert_eq!(Walk::program(&program), Vec::<String>::new(), "{text}");
    }
}
