//! Comments in Markdown as HTML, with links to definitions and with examples as code.

use frontend::document::{examples, is_fence};
use pulldown_cmark::{
    BrokenLink, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

/// What a comment may link to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Code that may be a name: `` `x` `` or `[x]`.
    Any,
    /// `` `x`@term ``.
    Term,
    /// `` `x`@type ``.
    Type,
    /// `` `x`@mtype ``.
    ModuleType,
}

const SUFFIXES: [(&str, Wanted); 3] = [
    ("@term", Wanted::Term),
    ("@type", Wanted::Type),
    ("@mtype", Wanted::ModuleType),
];

/// A comment as HTML. The address of a name is what `resolve` says.
pub(crate) fn render(comment: &str, resolve: &dyn Fn(&str, Wanted) -> Option<String>) -> String {
    let text = with_code(comment);
    let mut broken = |link: BrokenLink<'_>| {
        let name = link.reference.trim_matches('`');
        let address = resolve(name, Wanted::Any)?;
        Some((CowStr::from(address), CowStr::from("")))
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_with_broken_link_callback(&text, options, Some(&mut broken));
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut inside = 0;
    for event in parser {
        if let Event::Start(tag) = event {
            inside += usize::from(matches!(tag, Tag::Link { .. }));
            events.push(Event::Start(harmless(tag)));
        } else if let Event::End(TagEnd::Link) = event {
            inside -= 1;
            events.push(event);
        } else if let Event::End(TagEnd::Heading(level)) = event {
            events.push(Event::End(TagEnd::Heading(lower(level))));
        } else if let Event::Html(text) | Event::InlineHtml(text) = event {
            // Comments have no markup of HTML.
            events.push(Event::Text(text));
        } else if inside == 0
            && let Event::Code(code) = event
        {
            linked(code, Wanted::Any, resolve, &mut events);
        } else if let Event::Text(text) = event {
            let suffix = SUFFIXES.iter().find(|(suffix, _)| text.starts_with(suffix));
            if let Some((suffix, wanted)) = suffix
                && let Some(code) = code_before(&mut events)
            {
                linked(code, *wanted, resolve, &mut events);
                let rest = text[suffix.len()..].to_owned();
                events.push(Event::Text(CowStr::from(rest)));
            } else {
                events.push(Event::Text(text));
            }
        } else {
            events.push(event);
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    out
}

/// Takes the code that was the last event, with its link if it has one.
fn code_before<'a>(events: &mut Vec<Event<'a>>) -> Option<CowStr<'a>> {
    match events.as_slice() {
        [
            ..,
            Event::Start(Tag::Link {
                link_type: LinkType::Autolink,
                ..
            }),
            Event::Code(code),
            Event::End(TagEnd::Link),
        ] => {
            let code = code.clone();
            events.truncate(events.len() - 3);
            Some(code)
        }
        [.., Event::Code(code)] => {
            let code = code.clone();
            events.pop();
            Some(code)
        }
        _ => None,
    }
}

/// Code, with a link if it is a name that leads somewhere.
fn linked<'a>(
    code: CowStr<'a>,
    wanted: Wanted,
    resolve: &dyn Fn(&str, Wanted) -> Option<String>,
    events: &mut Vec<Event<'a>>,
) {
    let name = code.trim();
    let name = name
        .strip_prefix('(')
        .and_then(|n| n.strip_suffix(')'))
        .unwrap_or(name);
    match resolve(name, wanted) {
        Some(address) => {
            events.push(Event::Start(Tag::Link {
                // What tells these links from those that the comment writes.
                link_type: LinkType::Autolink,
                dest_url: address.into(),
                title: CowStr::from(""),
                id: CowStr::from(""),
            }));
            events.push(Event::Code(code));
            events.push(Event::End(TagEnd::Link));
        }
        None => events.push(Event::Code(code)),
    }
}

/// A tag without addresses that run code, and below the headings of a page.
fn harmless(tag: Tag<'_>) -> Tag<'_> {
    if let Tag::Heading {
        level,
        classes,
        attrs,
        ..
    } = tag
    {
        let level = lower(level);
        let id = None;
        return Tag::Heading {
            level,
            id,
            classes,
            attrs,
        };
    }
    let mut tag = tag;
    if let Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } = &mut tag
        && !is_safe(dest_url)
    {
        *dest_url = CowStr::from("#");
    }
    tag
}

/// Whether an address has no scheme, or one that leads to a document.
fn is_safe(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().unwrap_or("");
    match scheme.split_once(':') {
        None => true,
        Some((scheme, _)) => {
            let scheme = scheme.trim().to_ascii_lowercase();
            ["http", "https", "mailto"].contains(&&*scheme)
        }
    }
}

/// Headings of comments are below those of pages.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
            HeadingLevel::H6
        }
    }
}

/// A comment whose examples are blocks of code.
fn with_code(comment: &str) -> String {
    const FENCE: &str = "~~~~~~~~";
    let examples = examples(comment);
    let mut out = String::new();
    let mut in_code = false;
    for (number, line) in comment.lines().enumerate() {
        in_code ^= is_fence(line.trim());
        let at = |end: fn(&std::ops::Range<usize>) -> usize| {
            !in_code && examples.iter().any(|example| end(&example.lines) == number)
        };
        let inside = examples
            .iter()
            .any(|example| example.lines.contains(&number));
        if at(|lines| lines.start) {
            out.push_str(FENCE);
            out.push_str(" example\n");
        }
        if inside && !in_code {
            out.push_str(line.trim_start());
        } else {
            // The blank behind `--` is no indentation.
            out.push_str(line.strip_prefix(' ').unwrap_or(line));
        }
        out.push('\n');
        if at(|lines| lines.end - 1) {
            out.push_str(FENCE);
            out.push('\n');
        }
    }
    out
}

/// The first paragraph of a comment without markup, up to the end of its first sentence.
pub(crate) fn summary(comment: &str) -> String {
    let text = with_code(comment);
    let mut out = String::new();
    for event in Parser::new(&text) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock) => break,
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    let end = out.find(". ").map_or(out.len(), |at| at + 1);
    out.truncate(end);
    SUFFIXES
        .iter()
        .fold(out, |out, (suffix, _)| out.replace(suffix, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str, wanted: Wanted) -> Option<String> {
        let fits = wanted == Wanted::Any || wanted == Wanted::Term;
        (name == "f" && fits).then(|| String::from("#f"))
    }

    #[test]
    fn names_are_links() {
        let html = |text| render(text, &known);
        let link = "<p>See <a href=\"#f\"><code>f</code></a>.</p>\n";
        assert_eq!(html("See `f`."), link);
        assert_eq!(html("See `f`@term."), link);
        assert_eq!(html("See [`f`]."), link);
        assert_eq!(html("See `(f)`."), link.replace(">f<", ">(f)<"));
        assert_eq!(html("See [f]."), link.replace("<code>f</code>", "f"));
        assert_eq!(html("See `f`@type."), "<p>See <code>f</code>.</p>\n");
        assert_eq!(html("See `g` [0]."), "<p>See <code>g</code> [0].</p>\n");
    }

    #[test]
    fn markup_of_html_and_addresses_that_run_code_are_harmless() {
        let html = render("<script>x</script>\n\n<b>[a](javascript:x)", &known);
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(html.contains("<a href=\"#\">a</a>"), "{html}");
    }

    #[test]
    fn examples_are_code() {
        let html = render(" Text.\n\n >>> 1 + 1\n 2\n\n More.", &known);
        let code = "<pre><code class=\"language-example\">&gt;&gt;&gt; 1 + 1\n2\n</code></pre>";
        assert!(html.contains(code), "{html}");
        let fenced = render("```\n>>> 1\n1\n```\n", &known);
        assert_eq!(fenced.matches("<pre>").count(), 1, "{fenced}");
        assert!(!fenced.contains('~'), "{fenced}");
    }

    #[test]
    fn a_summary_is_a_sentence() {
        assert_eq!(summary(" One `x`@term\n two. Three."), "One x two.");
        assert_eq!(summary(""), "");
    }
}
