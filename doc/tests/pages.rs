//! The pages of a small package: their text, and that every link leads to something.

use doc::{Output, Site, read};
use frontend::Loader;
use frontend::source::{FileId, SourceMap};
use std::collections::{BTreeMap, BTreeSet};

/// Files in memory.
#[derive(Default)]
struct Memory {
    sources: SourceMap,
    known: BTreeMap<String, FileId>,
}

impl Loader for Memory {
    fn sources(&mut self) -> &mut SourceMap {
        &mut self.sources
    }
    fn load(&mut self, _from: FileId, path: &str) -> Result<FileId, String> {
        let name = format!("{}.fut", path.trim_start_matches("lib/"));
        let found = self.known.iter().find(|(known, _)| known.ends_with(&name));
        found
            .map(|(_, file)| *file)
            .ok_or(format!("no file {name}"))
    }
}

fn site(files: &[(&str, &str)]) -> Site {
    let mut memory = Memory::default();
    for (name, text) in files {
        let file = memory.sources.add(*name, *text);
        memory.known.insert((*name).to_owned(), file);
    }
    let roots: Vec<FileId> = memory.known.get("main.fut").copied().into_iter().collect();
    match read(&mut memory, &roots) {
        Ok(documentation) => documentation.site(),
        Err(diagnostics) => panic!("{diagnostics:?}"),
    }
}

fn text<'s>(site: &'s Site, path: &str) -> &'s str {
    let found = site.outputs.iter().find(|output| output.path == path);
    found.map_or_else(|| panic!("there is no {path}"), |output| &output.text)
}

const MAIN: &str = r#"-- | Points in the plane, as `point`@type.

import "lib/vector"

-- | A point.
type point = {x: f32, y: f32}

-- | The distance of two points; see [`norm`] and `map`.
--
-- >>> distance {x = 0, y = 0} {x = 3, y = 4}
-- 5.0
def distance (p: point) (q: point) : f32 = norm (difference p q)
  where_is_no_keyword
"#;

const PROGRAM: &str = r#"-- | Points in the plane, as `point`@type & <others>.

import "lib/vector"

-- | A point.
type point = {x: f32, y: f32}

-- | The distance of two points; see [`norm`], `sum` and `map`.
--
-- >>> distance {x = 0, y = 0} {x = 3, y = 4}
-- 5.0
def distance (p: point) (q: point) : f32 = norm [p.x - q.x, p.y - q.y]

-- | What moves.
module type body = {
  -- | Its state.
  type state
  -- | A step of `state`@type.
  val step [n] : [n]state -> f32 -> [n]state
}

-- | Stones.
module stone : body = {
  type state = (f32, f32)
  -- Not seen.
  def unseen = 1i32
  -- | Falls.
  def step [n] (xs: [n]state) (dt: f32) : [n]state = map (\(x, v) -> (x + dt * v, v)) xs
}

-- | Runs a body.
module run (b: body) = {
  def twice [n] (xs: [n]b.state) = b.step (b.step xs 1) 1
}

module stones = run stone

-- | Links to `nothing`@term.
local def secret = 2i32

-- | Links to `nothing`@term, too.
def (<+>) (x: i32) (y: i32) : i32 = x + y

entry main [n] (xs: [n]f32) = norm xs
"#;

const VECTOR: &str = "-- | The norm.\ndef norm [n] (xs: [n]f32) : f32 = f32.sqrt (f32.sum (map (\\x -> x * x) xs))\n";

fn small() -> Site {
    site(&[("main.fut", PROGRAM), ("vector.fut", VECTOR)])
}

#[test]
fn what_does_not_parse_has_no_pages() {
    let mut memory = Memory::default();
    let file = memory.sources.add("main.fut", MAIN);
    assert!(read(&mut memory, &[file]).is_err());
}

#[test]
fn a_page_says_what_a_file_defines() {
    let site = small();
    let page = text(&site, "doc/main.html");
    let parts = [
        "<h1>main</h1>",
        "as <a href=\"#type.point\"><code>point</code></a> &amp; &lt;others&gt;.",
        "import <a href=\"vector.html\">&quot;lib/vector&quot;</a>",
        "type <a href=\"#type.point\"><b>point</b></a> = {x: <a href=\"../prelude/f32.html\">f32</a>",
        "def <a href=\"#distance\"><b>distance</b></a> (p: <a href=\"#type.point\">point</a>)",
        "<a href=\"../src/main.fut.html#L12\">line 12</a>",
        "see <a href=\"vector.html#norm\"><code>norm</code></a>, <code>sum</code> and \
         <a href=\"../prelude/prelude.html#map\"><code>map</code></a>.",
        "<pre><code class=\"language-example\">&gt;&gt;&gt; distance {x = 0, y = 0} {x = 3, y = 4}\n5.0\n</code></pre>",
        "<section class=\"item\" id=\"body.step\">",
        "A step of <a href=\"#type.body.state\"><code>state</code></a>.",
        "module <a href=\"#module.stone\"><b>stone</b></a> : <a href=\"#module-type.body\">body</a>",
        "line 24</a></span><code>type <a href=\"#type.stone.state\"><b>state</b></a></code></pre>\n<div class=\"doc\">\n<p>Its state.",
        "<p>Falls.</p>",
        "def (<a href=\"#-3c-2b-3e\"><b>&lt;+&gt;</b></a>) (x: ",
        "<p class=\"inferred\"><code>: [n]. (xs: [n]f32) -&gt; f32</code></p>",
        "val <a href=\"#stones.twice\"><b>twice</b></a> : [n]. ",
    ];
    for part in parts {
        assert!(page.contains(part), "{part}\nin\n{page}");
    }
    for part in ["unseen", "secret", "(f32, f32)"] {
        assert!(!page.contains(part), "{part}\nin\n{page}");
    }
    let source = text(&site, "src/main.fut.html");
    let norm = "<a href=\"../doc/vector.html#norm\">norm</a> xs</span>";
    assert!(source.contains(norm), "{source}");
    assert_eq!(site.warnings.len(), 1, "{:?}", site.warnings);
    let warning = "main.fut:41: warning: the comment links to nothing, which is not defined";
    assert_eq!(site.warnings[0], warning);
    assert_eq!(site.files, 2);
}

/// The values of an attribute.
fn values<'t>(text: &'t str, attribute: &str) -> Vec<&'t str> {
    let start = format!(" {attribute}=\"");
    let parts = text.split(&*start).skip(1);
    parts.filter_map(|rest| rest.split('"').next()).collect()
}

fn joined(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn unresolved(outputs: &[Output]) -> Vec<String> {
    let ids = |output: &Output| -> BTreeSet<String> {
        values(&output.text, "id")
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    let pages = outputs
        .iter()
        .map(|output| (output.path.clone(), ids(output)));
    let pages: BTreeMap<String, BTreeSet<String>> = pages.collect();
    let mut wrong = Vec::new();
    for output in outputs.iter().filter(|o| o.path.ends_with(".html")) {
        assert_eq!(
            values(&output.text, "id").len(),
            pages[&output.path].len(),
            "{}",
            output.path
        );
        for address in values(&output.text, "href") {
            let (page, id) = address.split_once('#').unwrap_or((address, ""));
            let page = match page {
                "" => output.path.clone(),
                page => joined(&output.path, page),
            };
            let is_there = pages
                .get(&page)
                .is_some_and(|ids| id.is_empty() || ids.contains(id));
            if !is_there {
                wrong.push(format!("{}: {address}", output.path));
            }
        }
    }
    let script = &outputs
        .iter()
        .find(|o| o.path == "search.js")
        .expect("a script")
        .text;
    let mut count = 0;
    for line in script.lines().filter(|line| line.starts_with("[\"")) {
        let target = line.split("\", \"").nth(3).unwrap_or("");
        let (page, id) = target.split_once('#').unwrap_or((target, ""));
        if !pages.get(page).is_some_and(|ids| ids.contains(id)) {
            wrong.push(format!("search.js: {line}"));
        }
        count += 1;
    }
    assert!(count > 400, "the search finds {count} definitions");
    wrong
}

#[test]
fn every_link_leads_to_something() {
    let wrong = unresolved(&small().outputs);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_prelude_has_pages() {
    let site = site(&[]);
    let page = text(&site, "prelude/prelude.html");
    let head = "val <a href=\"#map\"><b>map</b></a> &#39;a &#39;x [n] : (f: a -&gt; x) -&gt; (as: [n]a) -&gt; *[n]x";
    assert!(page.contains(head), "{page}");
    for id in [
        "-2b",
        "reduce",
        "tabulate_2d",
        "module-type.numeric",
        "float.ldexp",
    ] {
        assert!(page.contains(&format!(" id=\"{id}\"")), "{id}");
    }
    let sines = text(&site, "prelude/f32.html");
    assert!(
        sines.contains("id=\"sin\"") && sines.contains("<p>The sine.</p>"),
        "{sines}"
    );
    assert!(!text(&site, "prelude/i32.html").contains("id=\"sin\""));
    let seq = text(&site, "prelude/seq.html");
    assert!(seq.contains("id=\"to_array\"") && !seq.contains("id=\"append\""));
    let index = text(&site, "index.html");
    assert!(
        index.contains("<a href=\"prelude/seq.html\">seq</a>"),
        "{index}"
    );
    for output in site
        .outputs
        .iter()
        .filter(|o| o.path.starts_with("prelude/"))
    {
        let sections = output.text.split("<section class=\"item\" id=\"").skip(1);
        for section in sections {
            let own = section.split("<section").next().unwrap_or("");
            let is_documented = own.contains("<div class=\"doc\">");
            assert!(is_documented, "{}: {own}", output.path);
        }
    }
}

#[test]
fn pages_are_what_they_were() {
    let files = [(
        "main.fut",
        "-- | Doubles.\n--\n-- >>> twice 3\n-- 6\ndef twice (x: i64) : i64 = 2 * x\n",
    )];
    let site = site(&files);
    let page = text(&site, "doc/main.html");
    let main = page
        .split("<main>")
        .nth(1)
        .and_then(|rest| rest.split("</main>").next());
    let wanted = "
<h1>main</h1>
<p><a href=\"../src/main.fut.html\">source</a></p>
<div class=\"doc\">
<p>Doubles.</p>
<pre><code class=\"language-example\">&gt;&gt;&gt; twice 3
6
</code></pre>
</div>
<section class=\"item\" id=\"twice\">
<pre class=\"head\"><span class=\"at\"><a href=\"../src/main.fut.html#L5\">line 5</a></span><code>def <a href=\"#twice\"><b>twice</b></a> (x: <a href=\"../prelude/i64.html\">i64</a>) : <a href=\"../prelude/i64.html\">i64</a></code></pre>
</section>
";
    assert_eq!(main, Some(wanted));
}

#[test]
fn files_that_say_so_are_left_out() {
    let files = [
        ("main.fut", "import \"other\"\n\ndef f = other_one\n"),
        ("other.fut", "-- | ignore\n\ndef other_one = 1i32\n"),
    ];
    let site = site(&files);
    assert_eq!(site.files, 1);
    assert!(
        site.outputs
            .iter()
            .all(|output| !output.path.contains("other"))
    );
    assert!(unresolved(&site.outputs).is_empty());
}
