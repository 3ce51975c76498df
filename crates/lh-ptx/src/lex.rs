//! Words, numbers and signs of PTX.

use crate::parse::Parsed;
use lh_ir::diag::{self, Diagnostic};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or a directive, with what is joined to it by full stops: `ld.param.b64`, `%tid.x`, `.reg`.
    Word(String),
    Int(i128),
    /// Bits of a float, and how many.
    Float(u64, u32),
    Text(String),
    Sign(char),
}

/// The tokens of a text with their lines.
pub(crate) fn lex(text: &str) -> Parsed<Vec<(Token, u32)>> {
    let mut cx = Lexer { rest: text, line: 1, out: Vec::new() };
    while cx.skip_space() {
        let token = cx.token()?;
        cx.out.push((token, cx.line));
    }
    Ok(cx.out)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    out: Vec<(Token, u32)>,
}

impl<'a> Lexer<'a> {
    fn take(&mut self, n: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(n);
        self.line += taken.matches('\n').count() as u32;
        self.rest = rest;
        taken
    }

    /// Skips space and comments; whether anything is left.
    fn skip_space(&mut self) -> bool {
        loop {
            let n = self.rest.len() - self.rest.trim_start().len();
            self.take(n);
            if self.rest.starts_with("//") {
                let n = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(n);
            } else if self.rest.starts_with("/*") {
                let n = self.rest.find("*/").map_or(self.rest.len(), |n| n + 2);
                self.take(n);
            } else {
                return !self.rest.is_empty();
            }
        }
    }

    fn token(&mut self) -> Parsed<Token> {
        let first = self.rest.chars().next().unwrap_or(' ');
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '"' {
            let Some(end) = self.rest[1..].find('"') else { return self.fail("a text that does not end") };
            let text = self.take(end + 2);
            return Ok(Token::Text(text[1..=end].to_owned()));
        }
        if is_word(first) {
            let n = self.word_length();
            return Ok(Token::Word(self.take(n).to_owned()));
        }
        if "()[]{}<>,;:=+-|!@*/".contains(first) {
            self.take(1);
            return Ok(Token::Sign(first));
        }
        self.fail(&format!("`{first}` means nothing in PTX"))
    }

    /// Length of a word; `::` joins, a single colon ends a label.
    fn word_length(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let mut n = 0;
        while n < bytes.len() {
            if is_word(bytes[n] as char) || bytes[n].is_ascii_digit() {
                n += 1;
            } else if self.rest[n..].starts_with("::") {
                n += 2;
            } else {
                break;
            }
        }
        n
    }

    fn number(&mut self) -> Parsed<Token> {
        let n = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(self.rest.len());
        let text = self.take(n);
        let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let found = match text.get(..2) {
            Some("0f" | "0F") => hex(&text[2..]).map(|b| Token::Float(b, 32)),
            Some("0d" | "0D") => hex(&text[2..]).map(|b| Token::Float(b, 64)),
            Some("0x" | "0X") => hex(text[2..].trim_end_matches('U')).map(|b| Token::Int(b.into())),
            Some("0b" | "0B") => u64::from_str_radix(&text[2..], 2).ok().map(|b| Token::Int(b.into())),
            _ if text.contains('.') => text.parse::<f64>().ok().map(|x| Token::Float(x.to_bits(), 64)),
            _ => text.trim_end_matches('U').parse().ok().map(Token::Int),
        };
        match found {
            Some(t) => Ok(t),
            None => self.fail(&format!("`{text}` is no number")),
        }
    }

    fn fail<T>(&self, what: &str) -> Parsed<T> {
        Err(Diagnostic::new(diag::BAD_PTX, format!("line {} of the PTX: {what}", self.line)))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || "_$%.".contains(c)
}
