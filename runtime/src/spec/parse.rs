//! The grammar inside a test block.

use super::block::Block;
use super::{Action, Case, CountSpec, Expect, Generator, Input, Pattern, Spec, SpecError};
use crate::data::{Reader, parse_number};
use crate::script;
use midend::ir::scalar::Const;
use midend::ir::threshold::Forced;
use midend::ir::types::ScalarType;
use midend::plan::Work;
use midend::value::{ArrayValue, Data, Value};

/// The first block: tags, then what to do.
pub(super) fn first_block(block: &Block) -> Result<Spec, SpecError> {
    let mut cursor = Cursor::new(block);
    let mut tags = Vec::new();
    if cursor.word("tags") {
        cursor.expect('{')?;
        while !cursor.eat('}') {
            let tag = cursor.tag();
            if tag.is_empty() {
                return cursor.fail("expected a tag or `}`");
            }
            tags.push(tag.to_owned());
        }
    }
    let action = if cursor.word("error:") {
        let pattern = Pattern::new(cursor.rest_of_line());
        cursor.end()?;
        Action::Reject(pattern)
    } else {
        let (mut cases, mut warnings, mut properties) = Default::default();
        body(&mut cursor, &mut cases, &mut warnings, &mut properties)?;
        Action::Accept {
            cases,
            warnings,
            properties,
        }
    };
    Ok(Spec {
        tags,
        action,
        present: true,
    })
}

/// A block after the first.
pub(super) fn further_block(
    block: &Block,
    cases: &mut Vec<Case>,
    warnings: &mut Vec<Pattern>,
    properties: &mut Vec<String>,
) -> Result<(), SpecError> {
    body(&mut Cursor::new(block), cases, warnings, properties)
}

/// Properties, or cases followed by structures and warnings.
fn body(
    cursor: &mut Cursor<'_>,
    cases: &mut Vec<Case>,
    warnings: &mut Vec<Pattern>,
    properties: &mut Vec<String>,
) -> Result<(), SpecError> {
    while cursor.word("property:") {
        properties.extend(cursor.rest_of_line().split_whitespace().map(str::to_owned));
    }
    let entries: Vec<String> = if cursor.word("entry:") {
        let line = cursor.names_on_line();
        line.split_whitespace().map(str::to_owned).collect()
    } else {
        vec![String::from("main")]
    };
    let mut number = 0;
    while let Some(case) = case(cursor, number)? {
        number += 1;
        cases.extend(entries.iter().map(|entry| Case {
            entry: entry.clone(),
            ..case.clone()
        }));
    }
    loop {
        if cursor.word("structure") {
            structure(cursor)?;
        } else if cursor.word("warning:") {
            warnings.push(Pattern::new(cursor.rest_of_line()));
        } else {
            return cursor.end();
        }
    }
}

/// What the intermediate code of another compiler should look like: read over, and not used.
fn structure(cursor: &mut Cursor<'_>) -> Result<(), SpecError> {
    if !cursor.looking_at('{') {
        cursor.tag();
    }
    cursor.expect('{')?;
    match cursor.rest().find('}') {
        Some(at) => cursor.pos += at + 1,
        None => return cursor.fail("this `{` is not closed"),
    }
    Ok(())
}

/// The case that stands here, if there is one; so many went before it.
fn case(cursor: &mut Cursor<'_>, number: usize) -> Result<Option<Case>, SpecError> {
    let line = cursor.line();
    let name = cursor.string()?;
    let mut tags = Vec::new();
    loop {
        let start = cursor.pos;
        let word = cursor.tag();
        match word {
            "input" => break,
            "structure" | "warning" | "" => {
                cursor.pos = start;
                if name.is_none() && tags.is_empty() {
                    return Ok(None);
                }
                return cursor.fail("expected `input`");
            }
            tag => tags.push(tag.to_owned()),
        }
    }
    let has = |tag: &str| tags.iter().any(|t| t == tag);
    let begin = cursor.pos;
    let input = if has("random") {
        Input::Random(generators(cursor)?)
    } else if has("script") {
        script_input(cursor)?
    } else {
        match values_or_file(cursor)? {
            Ok(values) => Input::Values(values),
            Err(path) => Input::File(path),
        }
    };
    let text = cursor.text[begin..cursor.pos].trim();
    let dataset = name
        .clone()
        .unwrap_or_else(|| dataset(&input, text, number));
    let expect = if cursor.word("auto") {
        if !cursor.word("output") {
            return cursor.fail("expected `output` after `auto`");
        }
        Expect::Auto
    } else if cursor.word("output") {
        match values_or_file(cursor)? {
            Ok(values) => Expect::Values(values),
            Err(path) => Expect::File(path),
        }
    } else if cursor.word("error:") {
        Expect::Failure(Pattern::new(cursor.rest_of_line()))
    } else {
        Expect::Success
    };
    let mut counts = Vec::new();
    while cursor.word("count") {
        counts.push(count(cursor)?);
    }
    Ok(Some(Case {
        entry: String::new(),
        name,
        tags,
        input,
        expect,
        counts,
        line,
        dataset,
    }))
}

/// The values of a longer name than this are cut off.
const NAME: usize = 50;

/// The name of an input that has none of its own, by its text and its number among the inputs of a block.
fn dataset(input: &Input, text: &str, number: usize) -> String {
    let inner = text.trim_start_matches('{').trim_end_matches('}');
    let words = || inner.split_whitespace().collect::<Vec<_>>().join(" ");
    match input {
        Input::Values(values) => {
            let texts: Vec<_> = values.iter().map(crate::data::value_text).collect();
            let mut text = texts.join(" ");
            if let Some((end, _)) = text.char_indices().nth(NAME) {
                text.truncate(end);
                text.push_str("...");
            }
            format!("#{number} (\"{text}\")")
        }
        Input::File(path) => path.trim_end_matches(".gz").to_owned(),
        Input::ScriptFile(path) => path.clone(),
        Input::Random(_) | Input::Script(_) => words(),
    }
}

/// What follows `count`: `gpu` perhaps, thresholds, a colon, and how much of which kind of work.
fn count(cursor: &mut Cursor<'_>) -> Result<CountSpec, SpecError> {
    let line = cursor.rest_of_line();
    let Some((thresholds, numbers)) = line.rsplit_once(':') else {
        return cursor.fail("expected `:` after `count`");
    };
    let rest = thresholds.trim().strip_prefix("gpu");
    let gpu = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let thresholds = rest.filter(|_| gpu).unwrap_or(thresholds);
    let mut forced = Forced::new();
    for threshold in thresholds.split_whitespace() {
        if let Err(why) = forced.add(threshold) {
            return cursor.fail(why);
        }
    }
    let mut counts = Vec::new();
    let mut words = numbers.split_whitespace();
    while let Some(kind) = words.next() {
        let Some(work) = Work::from_name(kind) else {
            return cursor.fail(format!("expected a kind of work, found {kind}"));
        };
        match words.next().and_then(|number| number.parse().ok()) {
            Some(number) => counts.push((work, number)),
            None => return cursor.fail(format!("expected a number after {kind}")),
        }
    }
    let forced = (!thresholds.trim().is_empty()).then_some(forced);
    Ok(CountSpec {
        gpu,
        forced,
        counts,
    })
}

/// `{ values }`, or the path after `@`.
fn values_or_file(cursor: &mut Cursor<'_>) -> Result<Result<Vec<Value>, String>, SpecError> {
    if cursor.eat('@') {
        return cursor.path().map(Err);
    }
    cursor.expect('{')?;
    let mut values = Vec::new();
    while !cursor.eat('}') {
        let mut reader = Reader::new(cursor.rest().as_bytes());
        match reader.values() {
            Ok(found) => values.extend(found),
            Err(why) => return cursor.fail(why.message),
        }
        cursor.pos += reader.position();
    }
    Ok(Ok(values))
}

fn generators(cursor: &mut Cursor<'_>) -> Result<Vec<Generator>, SpecError> {
    cursor.expect('{')?;
    let mut generators = Vec::new();
    while !cursor.eat('}') {
        generators.push(one_generator(cursor)?);
    }
    Ok(generators)
}

fn one_generator(cursor: &mut Cursor<'_>) -> Result<Generator, SpecError> {
    let mut shape = Vec::new();
    while cursor.eat('[') {
        let word = cursor.token();
        match parse_number(word, Some(ScalarType::I64)) {
            Ok(Const::I64(n)) if n >= 0 => shape.push(n),
            Ok(_) | Err(_) => return cursor.fail("expected a constant size"),
        }
        cursor.expect(']')?;
    }
    let word = cursor.token();
    match ScalarType::from_name(word) {
        Some(elem) => Ok(Generator::Random { shape, elem }),
        None if shape.is_empty() => match parse_number(word, None) {
            Ok(constant) => Ok(Generator::Constant(constant)),
            Err(why) => cursor.fail(format!("expected a type or constant: {why}")),
        },
        None => cursor.fail("expected the type of the elements"),
    }
}

/// A generator that stands alone, `[10]f32` or `5i64`.
pub(crate) fn generator(text: &str) -> Result<Generator, String> {
    let block = Block {
        text: text.to_owned(),
        first_line: 1,
    };
    let mut cursor = Cursor::new(&block);
    let found = one_generator(&mut cursor).map_err(|why| why.message)?;
    cursor.end().map_err(|why| why.message)?;
    Ok(found)
}

fn script_input(cursor: &mut Cursor<'_>) -> Result<Input, SpecError> {
    if cursor.eat('@') {
        return cursor.path().map(Input::ScriptFile);
    }
    cursor.expect('{')?;
    match script::parse_prefix(cursor.rest()) {
        Ok((exp, used)) => {
            cursor.pos += used;
            cursor.expect('}')?;
            Ok(Input::Script(exp))
        }
        Err(why) => cursor.fail(why),
    }
}

/// A place in the text of a block. Everything that reads skips blanks first, line breaks included.
struct Cursor<'a> {
    text: &'a str,
    pos: usize,
    first_line: usize,
}

impl<'a> Cursor<'a> {
    fn new(block: &'a Block) -> Self {
        Self {
            text: &block.text,
            pos: 0,
            first_line: block.first_line,
        }
    }
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }
    fn skip(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start().len();
    }
    fn line(&mut self) -> usize {
        self.skip();
        self.first_line + self.text[..self.pos].matches('\n').count()
    }
    fn fail<T>(&mut self, message: impl Into<String>) -> Result<T, SpecError> {
        Err(SpecError {
            line: self.line(),
            message: message.into(),
        })
    }
    fn looking_at(&mut self, c: char) -> bool {
        self.skip();
        self.rest().starts_with(c)
    }
    fn eat(&mut self, c: char) -> bool {
        let found = self.looking_at(c);
        if found {
            self.pos += c.len_utf8();
        }
        found
    }
    fn expect(&mut self, c: char) -> Result<(), SpecError> {
        if self.eat(c) {
            return Ok(());
        }
        let found: String = self.rest().chars().take(20).collect();
        self.fail(format!("expected `{c}`, found {found:?}"))
    }
    /// Takes the word if it stands here and no letter follows.
    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let Some(after) = self.rest().strip_prefix(word) else {
            return false;
        };
        if !word.ends_with(':') && after.starts_with(is_tag) {
            return false;
        }
        self.pos += word.len();
        true
    }
    fn take_while(&mut self, ok: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !ok(c)).unwrap_or(rest.len());
        self.pos += end;
        &rest[..end]
    }
    fn tag(&mut self) -> &'a str {
        self.skip();
        self.take_while(is_tag)
    }
    fn token(&mut self) -> &'a str {
        self.skip();
        self.take_while(|c| is_tag(c) || matches!(c, '.' | '+'))
    }
    fn path(&mut self) -> Result<String, SpecError> {
        self.skip();
        let path = self.take_while(|c| !c.is_whitespace());
        if path.is_empty() {
            return self.fail("expected a file name after `@`");
        }
        Ok(path.to_owned())
    }
    fn rest_of_line(&mut self) -> &'a str {
        self.take_while(|c| c != '\n').trim()
    }
    /// The names up to the end of the line or a closing brace.
    fn names_on_line(&mut self) -> &'a str {
        self.take_while(|c| c != '\n' && c != '}')
    }
    fn string(&mut self) -> Result<Option<String>, SpecError> {
        if !self.looking_at('"') {
            return Ok(None);
        }
        let mut reader = Reader::new(self.rest().as_bytes());
        let value = match reader.value(None) {
            Ok(value) => value,
            Err(why) => return self.fail(why.message),
        };
        self.pos += reader.position();
        let Value::Array(ArrayValue {
            data: Data::U8(bytes),
            ..
        }) = value
        else {
            return self.fail("expected a name in quotes");
        };
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
    fn end(&mut self) -> Result<(), SpecError> {
        self.skip();
        if self.rest().is_empty() {
            return Ok(());
        }
        let found: String = self.rest().chars().take(30).collect();
        self.fail(format!("expected the end of the block, found {found:?}"))
    }
}

fn is_tag(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}
