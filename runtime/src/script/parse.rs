//! The grammar of FutharkScript.

use super::Exp;

/// Parses a whole text.
pub fn parse(text: &str) -> Result<Exp, String> {
    let (exp, used) = parse_prefix(text)?;
    let rest = text[used..].trim();
    if rest.is_empty() {
        Ok(exp)
    } else {
        Err(format!("unexpected {:?} after the expression", head(rest)))
    }
}

/// Parses an expression at the start of a text; how many bytes it took.
pub fn parse_prefix(text: &str) -> Result<(Exp, usize), String> {
    let mut parser = Parser {
        text,
        pos: 0,
        depth: 0,
    };
    let exp = parser.exp()?;
    parser.skip();
    Ok((exp, parser.pos))
}

/// Deeper nesting is refused, so that no input can exhaust the stack.
const MAX_DEPTH: usize = 200;

fn head(text: &str) -> String {
    text.chars().take(20).collect()
}

struct Parser<'a> {
    text: &'a str,
    pos: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.pos += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with("--") {
                return;
            }
            self.pos += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }
    fn eat(&mut self, symbol: char) -> bool {
        self.skip();
        let found = self.rest().starts_with(symbol);
        if found {
            self.pos += symbol.len_utf8();
        }
        found
    }
    fn expect(&mut self, symbol: char) -> Result<(), String> {
        if self.eat(symbol) {
            Ok(())
        } else {
            Err(format!(
                "expected `{symbol}`, found {:?}",
                head(self.rest())
            ))
        }
    }
    fn take_while(&mut self, ok: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !ok(c)).unwrap_or(rest.len());
        self.pos += end;
        &rest[..end]
    }
    /// The name that stands here, if one does.
    fn name(&mut self) -> Option<&'a str> {
        self.skip();
        let first = self.rest().chars().next()?;
        (first.is_alphabetic() || first == '_')
            .then(|| self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '\'')))
    }
    fn keyword(&mut self, word: &str) -> bool {
        let start = self.pos;
        if self.name() == Some(word) {
            return true;
        }
        self.pos = start;
        false
    }

    fn exp(&mut self) -> Result<Exp, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(String::from("the expression is nested too deeply"));
        }
        let exp = if self.keyword("let") {
            self.binding()
        } else {
            self.application()
        };
        self.depth -= 1;
        exp
    }

    fn binding(&mut self) -> Result<Exp, String> {
        let mut names = Vec::new();
        if self.eat('(') {
            loop {
                names.push(self.bound_name()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        } else {
            names.push(self.bound_name()?);
        }
        self.expect('=')?;
        let bound = self.exp()?;
        if !self.keyword("in") {
            return Err(format!("expected `in`, found {:?}", head(self.rest())));
        }
        let body = self.exp()?;
        Ok(Exp::Let(names, Box::new(bound), Box::new(body)))
    }
    fn bound_name(&mut self) -> Result<String, String> {
        self.name()
            .map(str::to_owned)
            .ok_or_else(|| format!("expected a name, found {:?}", head(self.rest())))
    }

    /// A function and its arguments, or an atom alone.
    fn application(&mut self) -> Result<Exp, String> {
        let first = self.postfix()?;
        let mut args = Vec::new();
        while self.starts_atom() {
            args.push(self.postfix()?);
        }
        if args.is_empty() {
            return Ok(first);
        }
        match first {
            Exp::Apply(name, none) if none.is_empty() => Ok(Exp::Apply(name, args)),
            Exp::Builtin(name, none) if none.is_empty() => Ok(Exp::Builtin(name, args)),
            Exp::Apply(..)
            | Exp::Builtin(..)
            | Exp::Number(_)
            | Exp::Text(_)
            | Exp::Tuple(_)
            | Exp::Record(_)
            | Exp::Array(_)
            | Exp::Empty(_)
            | Exp::Field(..)
            | Exp::Index(..)
            | Exp::Let(..) => Err(String::from("only a function can be applied")),
        }
    }
    fn starts_atom(&mut self) -> bool {
        self.skip();
        let start = self.pos;
        let next = self.rest().chars().next();
        match next {
            Some('(' | '[' | '{' | '"' | '$' | '-') => true,
            Some(c) if c.is_ascii_digit() => true,
            Some(_) | None => {
                let name = self.name();
                self.pos = start;
                name.is_some_and(|n| n != "in")
            }
        }
    }

    /// An atom with fields and indices behind it.
    fn postfix(&mut self) -> Result<Exp, String> {
        let mut exp = self.atom()?;
        loop {
            if let Some(after) = self.rest().strip_prefix('.')
                && after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                self.pos += 1;
                let field = self.take_while(|c| c.is_alphanumeric() || c == '_');
                exp = Exp::Field(Box::new(exp), field.to_owned());
            } else if self.rest().starts_with('[') {
                // As in the source language, an index follows without a blank.
                self.pos += 1;
                let indices = self.list(']')?;
                exp = Exp::Index(Box::new(exp), indices);
            } else {
                return Ok(exp);
            }
        }
    }

    /// Expressions between commas up to the closing sign.
    fn list(&mut self, close: char) -> Result<Vec<Exp>, String> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.exp()?);
            if !self.eat(',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn atom(&mut self) -> Result<Exp, String> {
        self.skip();
        match self.rest().chars().next() {
            Some('(') => {
                self.pos += 1;
                let mut items = self.list(')')?;
                Ok(if items.len() == 1 {
                    items.swap_remove(0)
                } else {
                    Exp::Tuple(items)
                })
            }
            Some('[') => {
                self.pos += 1;
                self.list(']').map(Exp::Array)
            }
            Some('{') => {
                self.pos += 1;
                self.record()
            }
            Some('"') => self.string(),
            Some('$') => {
                self.pos += 1;
                let name = self.bound_name()?;
                Ok(Exp::Builtin(name, Vec::new()))
            }
            Some(c) if c.is_ascii_digit() || c == '-' => Ok(Exp::Number(self.number())),
            Some(_) | None => self.named(),
        }
    }
    fn number(&mut self) -> String {
        let start = self.pos;
        if self.rest().starts_with('-') {
            self.pos += 1;
        }
        let constituent = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let text = self.take_while(constituent);
        // The sign of an exponent belongs to a decimal number.
        if !text.starts_with("0x")
            && text.ends_with(['e', 'E'])
            && self.rest().starts_with(['+', '-'])
        {
            self.pos += 1;
            self.take_while(constituent);
        }
        self.text[start..self.pos].to_owned()
    }
    fn named(&mut self) -> Result<Exp, String> {
        let start = self.pos;
        let name = self.bound_name()?;
        match name.as_str() {
            "true" | "false" => Ok(Exp::Number(name)),
            "f16" | "f32" | "f64" if self.rest().starts_with(".nan") => self.special(start),
            "f16" | "f32" | "f64" if self.rest().starts_with(".inf") => self.special(start),
            "empty" if self.rest().trim_start().starts_with('(') => {
                let rest = self.rest();
                let Some(end) = rest.find(')') else {
                    return Err(String::from("this `(` is not closed"));
                };
                self.pos += end + 1;
                Ok(Exp::Empty(self.text[start..self.pos].to_owned()))
            }
            _ => Ok(Exp::Apply(name, Vec::new())),
        }
    }
    fn special(&mut self, start: usize) -> Result<Exp, String> {
        self.pos += ".nan".len();
        Ok(Exp::Number(self.text[start..self.pos].to_owned()))
    }
    fn record(&mut self) -> Result<Exp, String> {
        let mut fields = Vec::new();
        while !self.eat('}') {
            let name = self.bound_name()?;
            self.expect('=')?;
            fields.push((name, self.exp()?));
            if !self.eat(',') {
                self.expect('}')?;
                break;
            }
        }
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Exp::Record(fields))
    }
    fn string(&mut self) -> Result<Exp, String> {
        let rest = &self.rest()[1..];
        let mut text = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.pos += at + 2;
                    return Ok(Exp::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, c)) => text.push(c),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(String::from("this string is not closed"))
    }
}
