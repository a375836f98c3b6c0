//! HTML: escaping, and what every page has.

use crate::paths::relative;
use std::fmt::Write as _;

/// Text as HTML, also between quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A link from one page to a target, which is a path with perhaps an id.
pub(crate) fn href(from: &str, target: &str) -> String {
    match target.split_once('#') {
        Some((page, id)) if page == from => format!("#{id}"),
        Some((page, id)) => format!("{}#{id}", relative(from, page)),
        None => relative(from, target),
    }
}

/// An element that links to a target.
pub(crate) fn link(from: &str, target: &str, inside: &str) -> String {
    format!("<a href=\"{}\">{inside}</a>", escape(&href(from, target)))
}

/// A page.
pub(crate) struct Frame<'a> {
    /// Its path.
    pub(crate) path: &'a str,
    pub(crate) title: &'a str,
    /// Links to what is on the page: ids and names.
    pub(crate) contents: &'a [(String, String)],
    pub(crate) body: &'a str,
}

impl Frame<'_> {
    /// The text of the page.
    pub(crate) fn html(&self) -> String {
        let to = |target| escape(&relative(self.path, target));
        let root = "../".repeat(self.path.matches('/').count());
        let title = escape(self.title);
        let mut nav = String::new();
        for (id, name) in self.contents {
            // Writing to a string cannot fail.
            let _ = writeln!(nav, "<li><a href=\"#{id}\">{}</a></li>", escape(name));
        }
        if !nav.is_empty() {
            nav = format!("<nav>\n<ul>\n{nav}</ul>\n</nav>\n");
        }
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<link rel=\"stylesheet\" href=\"{style}\">\n\
             <script defer src=\"{script}\"></script>\n</head>\n<body data-root=\"{root}\">\n\
             <header>\n<a href=\"{index}\">Index</a>\n<a href=\"{prelude}\">Prelude</a>\n\
             <input id=\"search-box\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" autocomplete=\"off\">\n\
             <ol id=\"search-results\" hidden></ol>\n</header>\n{nav}<main>\n{body}</main>\n</body>\n</html>\n",
            style = to("style.css"),
            script = to("search.js"),
            index = to("index.html"),
            prelude = to(crate::prelude::PAGE),
            body = self.body,
        )
    }
}

/// A source as a page: a line with a number and an id for each, its code as HTML already.
pub(crate) fn listing(code: &str) -> String {
    let mut out = String::from("<pre class=\"listing\"><code>");
    for (number, line) in code.split('\n').enumerate() {
        let number = number + 1;
        let _ = writeln!(out, "<span id=\"L{number}\" class=\"line\">{line}</span>");
    }
    out + "</code></pre>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_is_escaped() {
        let text = "<a href=\"x\">'&'</a>";
        let html = "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;";
        assert_eq!(escape(text), html);
    }

    #[test]
    fn links_inside_of_a_page_have_only_an_id() {
        assert_eq!(href("doc/a.html", "doc/a.html#f"), "#f");
        assert_eq!(href("doc/a.html", "src/a.html#L1"), "../src/a.html#L1");
        assert_eq!(href("doc/a.html", "index.html"), "../index.html");
    }
}
