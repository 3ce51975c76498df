//! Tokens of textual IR.

use super::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Letters, digits and underscores.
    Word(String),
    /// A number with its sign.
    Number(String),
    /// A quoted string, unescaped.
    Str(String),
    /// The name of a function: `%` and what is before its parameters.
    Name(String),
    /// Any other character.
    Punct(char),
    /// `->`
    Arrow,
}

/// All tokens of a text with their lines, and the place of the next one.
pub(super) struct Lexer {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Lexer {
    pub(super) fn new(text: &str) -> Result<Lexer, ParseError> {
        let mut tokens = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let error = |message: &str| ParseError { line: i + 1, message: message.into() };
            tokenize(line, &mut |t| tokens.push((t, i + 1))).map_err(error)?;
        }
        Ok(Lexer { tokens, at: 0 })
    }
    pub(super) fn at_end(&self) -> bool {
        self.at == self.tokens.len()
    }
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }
    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        let line = self.tokens.get(at).map_or(1, |t| t.1);
        Err(ParseError { line, message: message.into() })
    }
    fn next_if<T>(&mut self, want: &str, take: impl FnOnce(&Token) -> Option<T>) -> Result<T, ParseError> {
        match self.peek().and_then(take) {
            Some(t) => {
                self.at += 1;
                Ok(t)
            }
            None => self.fail(format!("expected {want}, not {:?}", self.peek())),
        }
    }
    pub(super) fn word(&mut self) -> Result<String, ParseError> {
        self.next_if("a word", |t| if let Token::Word(w) = t { Some(w.clone()) } else { None })
    }
    pub(super) fn name(&mut self) -> Result<String, ParseError> {
        self.next_if("a name", |t| if let Token::Name(n) = t { Some(n.clone()) } else { None })
    }
    pub(super) fn number(&mut self) -> Result<String, ParseError> {
        self.next_if("a number", |t| if let Token::Number(n) = t { Some(n.clone()) } else { None })
    }
    pub(super) fn string(&mut self) -> Result<String, ParseError> {
        self.next_if("a string", |t| if let Token::Str(s) = t { Some(s.clone()) } else { None })
    }
    pub(super) fn punct(&mut self, c: char) -> Result<(), ParseError> {
        self.next_if(&format!("`{c}`"), |t| (*t == Token::Punct(c)).then_some(()))
    }
    pub(super) fn eat(&mut self, c: char) -> bool {
        self.punct(c).is_ok()
    }
    pub(super) fn eat_word(&mut self, w: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(x)) if x == w);
        self.at += usize::from(found);
        found
    }
    pub(super) fn eat_arrow(&mut self) -> bool {
        let found = self.peek() == Some(&Token::Arrow);
        self.at += usize::from(found);
        found
    }
    /// `:` directly followed by a hexadecimal word, after `nan`.
    pub(super) fn eat_hex_mark(&mut self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|t| &t.0);
        let found =
            self.peek() == Some(&Token::Punct(':')) && matches!(next, Some(Token::Word(w)) if w.starts_with("0x"));
        if found {
            self.at += 1;
            if let Some((Token::Word(w), _)) = self.tokens.get_mut(self.at) {
                w.remove(0);
            }
        }
        found
    }
    /// Whether the next word is the prefix and a number.
    pub(super) fn is_entity(&self, prefix: &str) -> bool {
        let Some(Token::Word(w)) = self.peek() else { return false };
        w.strip_prefix(prefix).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    }
    /// Whether the next token is a number without a fraction.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self.peek(), Some(Token::Number(n)) if n.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()))
    }
}

fn tokenize(line: &str, emit: &mut dyn FnMut(Token)) -> Result<(), &'static str> {
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let take = |f: &dyn Fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
        let after = rest[c.len_utf8()..].chars().next();
        if c == ';' {
            return Ok(());
        } else if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
        } else if c == '"' {
            let (s, used) = unquote(rest)?;
            emit(Token::Str(s));
            rest = &rest[used..];
        } else if c == '%' {
            let n = take(&|c| c != '(' && !c.is_whitespace());
            emit(Token::Name(rest[1..n].into()));
            rest = &rest[n..];
        } else if rest.starts_with("->") {
            emit(Token::Arrow);
            rest = &rest[2..];
        } else if rest.starts_with("-inf") {
            emit(Token::Number("-inf".into()));
            rest = &rest[4..];
        } else if rest.starts_with("0x") {
            let n = take(&|c| c.is_ascii_alphanumeric());
            emit(Token::Word(rest[..n].into()));
            rest = &rest[n..];
        } else if c.is_ascii_digit()
            || (c == '-' && after.is_some_and(|c| c.is_ascii_digit()) && !line_is_span(line, rest))
        {
            let n = number_length(rest);
            emit(Token::Number(rest[..n].into()));
            rest = &rest[n..];
        } else if c.is_alphabetic() || c == '_' {
            let n = take(&|c| c.is_alphanumeric() || c == '_');
            emit(Token::Word(rest[..n].into()));
            rest = &rest[n..];
        } else {
            emit(Token::Punct(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(())
}

/// Whether the rest of a line belongs to its span, in which `-` separates.
fn line_is_span(line: &str, rest: &str) -> bool {
    line[..line.len() - rest.len()].contains(" @ ")
}

fn number_length(s: &str) -> usize {
    let mut end = usize::from(s.starts_with('-'));
    let bytes = s.as_bytes();
    while end < bytes.len() {
        let exponent_sign = matches!(bytes[end], b'-' | b'+') && matches!(bytes[end - 1], b'e' | b'E');
        if !(bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b'e' | b'E') || exponent_sign) {
            break;
        }
        end += 1;
    }
    end
}

/// A string in the form that Rust's `{:?}` gives, and how much of the text it takes.
pub(crate) fn unquote(s: &str) -> Result<(String, usize), &'static str> {
    let mut out = String::new();
    let mut chars = s.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((out, i + 1)),
            '\\' => match chars.next().ok_or("unfinished string")?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                '0' => out.push('\0'),
                'x' => {
                    let hex: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                    out.push(char::from(u8::from_str_radix(&hex, 16).map_err(|_| "bad escape")?));
                }
                'u' => {
                    let hex: String = chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&hex, 16).map_err(|_| "bad escape")?;
                    out.push(char::from_u32(code).ok_or("bad escape")?);
                }
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
    Err("unfinished string")
}
