//! A line of the text: words, punctuation, constants.

use super::MAX_NESTING;
use crate::parse::lex::unquote;
use crate::parse::{ParseError, Parsed};
use crate::print_untyped::is_plain_char;
use crate::span::Span;
use crate::untyped::PyConst;

/// A line from where it was not read yet.
#[derive(Clone)]
pub(super) struct Line<'a> {
    pub(super) rest: &'a str,
    pub(super) line: usize,
}

/// Words and punctuation.
impl<'a> Line<'a> {
    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.line, message: message.into() })
    }

    pub(super) fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found: String = self.rest.trim_start().chars().take(30).collect();
        self.fail(format!("expected {what}, not `{found}`"))
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word).filter(|r| !r.starts_with(is_plain_char));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { self.expected(&format!("`{text}`")) }
    }

    /// The characters from here on that are of a kind.
    pub(super) fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest.trim_start();
        let (taken, rest) = rest.split_at(rest.find(|c| !is(c)).unwrap_or(rest.len()));
        self.rest = rest;
        taken
    }

    /// The end of a line, or a comment.
    pub(super) fn end(&mut self) -> Parsed<()> {
        let rest = self.rest.trim_start();
        if rest.is_empty() || rest.starts_with(';') { Ok(()) } else { self.expected("the end of the line") }
    }

    pub(super) fn end_with_place(&mut self) -> Parsed<Span> {
        let mut span = Span::default();
        if self.eat("@") {
            span.line = self.number()?;
            self.expect(":")?;
            span.col = self.number()?;
            self.expect("-")?;
            span.end_line = self.number()?;
            self.expect(":")?;
            span.end_col = self.number()?;
        }
        self.end()?;
        Ok(span)
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let from = self.clone();
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().or_else(|_| from.expected("a number in range"))
    }

    pub(super) fn string(&mut self) -> Parsed<String> {
        let rest = self.rest.trim_start();
        if !rest.starts_with('"') {
            return self.expected("a string");
        }
        match unquote(rest) {
            Ok((text, used)) => {
                self.rest = &rest[used..];
                Ok(text)
            }
            Err(why) => self.fail(why),
        }
    }

    pub(super) fn name(&mut self) -> Parsed<String> {
        if self.rest.trim_start().starts_with('"') {
            return self.string();
        }
        let from = self.clone();
        match self.take_while(is_plain_char) {
            name if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => Ok(name.to_owned()),
            _ => from.expected("a name"),
        }
    }

    /// Items between commas, up to the text that ends them.
    pub(super) fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        while !self.eat(end) {
            if !out.is_empty() {
                self.expect(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    /// Items between commas.
    pub(super) fn items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = vec![item(self)?];
        while self.eat(",") {
            out.push(item(self)?);
        }
        Ok(out)
    }
}

/// Constants.
impl Line<'_> {
    pub(super) fn constant(&mut self, depth: usize) -> Parsed<PyConst> {
        if depth > MAX_NESTING {
            return self.fail(format!("constants are nested deeper than {MAX_NESTING}"));
        }
        if self.eat("b\"") {
            return self.bytes();
        }
        if self.eat("...") {
            return Ok(PyConst::Ellipsis);
        }
        if self.eat("(") {
            return Ok(PyConst::Tuple(self.list(")", |l| l.constant(depth + 1))?));
        }
        if self.rest.trim_start().starts_with('"') {
            return Ok(PyConst::Str(self.string()?));
        }
        let from = self.clone();
        Ok(match self.take_while(|c| c.is_ascii_alphabetic()) {
            "None" => PyConst::None,
            "True" => PyConst::Bool(true),
            "False" => PyConst::Bool(false),
            "unbound" => PyConst::Unbound,
            "big" => PyConst::BigInt(self.string()?),
            "complex" => {
                self.expect("(")?;
                let re = self.float()?;
                self.expect(",")?;
                let im = self.float()?;
                self.expect(")")?;
                PyConst::Complex(re, im)
            }
            "slice" => {
                self.expect("(")?;
                let parts = self.list(")", |l| l.constant(depth + 1))?;
                match <[PyConst; 3]>::try_from(parts) {
                    Ok(parts) => PyConst::Slice(Box::new(parts)),
                    Err(_) => return self.fail("a slice has three parts"),
                }
            }
            _ => {
                *self = from;
                self.real()?
            }
        })
    }

    /// The rest of bytes: all of them are ASCII, or escaped.
    fn bytes(&mut self) -> Parsed<PyConst> {
        let quoted = format!("\"{}", self.rest);
        let (text, used) = match unquote(&quoted) {
            Ok(found) => found,
            Err(why) => return self.fail(why),
        };
        self.rest = &self.rest[used - 1..];
        match text.chars().map(|c| u8::try_from(c).ok()).collect() {
            Some(bytes) => Ok(PyConst::Bytes(bytes)),
            None => self.fail("a byte is at most `\\xff`"),
        }
    }

    /// An integer or a float.
    fn real(&mut self) -> Parsed<PyConst> {
        let mut ahead = self.clone();
        ahead.eat("-");
        let digits = ahead.take_while(|c| c.is_ascii_digit());
        if !digits.is_empty() && !ahead.rest.starts_with(['.', 'e']) {
            let used = self.rest.trim_start().len() - ahead.rest.len();
            let text = &self.rest.trim_start()[..used];
            let Ok(value) = text.parse() else { return self.fail(format!("`{text}` is not an integer in range")) };
            self.rest = ahead.rest;
            return Ok(PyConst::Int(value));
        }
        self.float().map(PyConst::Float)
    }

    fn float(&mut self) -> Parsed<f64> {
        if self.eat("nan:0x") {
            let from = self.clone();
            let digits = self.take_while(|c| c.is_ascii_hexdigit());
            return u64::from_str_radix(digits, 16).map(f64::from_bits).or_else(|_| from.expected("bits of a NaN"));
        }
        let from = self.clone();
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
        text.parse().or_else(|_| from.expected("a number"))
    }
}
