//! Tokens of Rust source, as far as the graph of imports needs them: identifiers, `::` and punctuation, without
//! comments, literals and what is compiled for tests only.

/// A token and the line it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind<'a>,
    pub line: usize,
}

/// The kinds of tokens that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    Word(&'a str),
    /// `::`
    Path,
    /// A number, a string or a character.
    Literal,
    /// Any other character.
    Mark(char),
}

/// The tokens of a file but for its tests.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    without_tests(&lex(text))
}

/// The lines of a file but for its tests.
pub fn lines_without_tests(text: &str) -> usize {
    let all = lex(text);
    let tests: usize = test_items(&all).iter().map(|&(from, to)| all[to - 1].line - all[from].line + 1).sum();
    text.lines().count() - tests
}

fn lex(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let is_word = |b: u8| b == b'_' || b.is_ascii_alphanumeric() || b >= 0x80;
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &text[at..];
        let (kind, length) = match bytes[at] {
            b'/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            b'/' if rest.starts_with("/*") => (None, block_comment(rest)),
            b'"' => (Some(Kind::Literal), string(rest, 0)),
            b'r' | b'b' | b'c' if let Some(length) = prefixed_string(rest) => (Some(Kind::Literal), length),
            b'\'' => quote(rest),
            b':' if rest.starts_with("::") => (Some(Kind::Path), 2),
            b if b.is_ascii_digit() => {
                (Some(Kind::Literal), rest.bytes().position(|b| !is_word(b)).unwrap_or(rest.len()))
            }
            b if is_word(b) => {
                let length = rest.bytes().position(|b| !is_word(b)).unwrap_or(rest.len());
                (Some(Kind::Word(&rest[..length])), length)
            }
            b if b.is_ascii_whitespace() => (None, 1),
            b => (Some(Kind::Mark(b as char)), 1),
        };
        found.extend(kind.map(|kind| Token { kind, line }));
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

/// The length of a comment that may have others in it.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text.as_bytes()[at..];
        match rest {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            [] => return at,
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
}

/// The length of a string whose quote is at `open`.
fn string(text: &str, open: usize) -> usize {
    let mut escaped = false;
    for (at, b) in text.bytes().enumerate().skip(open + 1) {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"..."`, `r#"..."#`, `b"..."`, `br"..."`, `c"..."` or `b'.'`, if the text starts with one.
fn prefixed_string(text: &str) -> Option<usize> {
    let prefix = text.bytes().take_while(|b| b"rbc".contains(b)).count();
    let hashes = text[prefix..].bytes().take_while(|&b| b == b'#').count();
    let is_raw = text[..prefix].contains('r');
    match text.as_bytes().get(prefix + hashes)? {
        b'"' if prefix <= 2 && is_raw => {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = prefix + hashes + 1;
            Some(text[open..].find(&close).map_or(text.len(), |at| open + at + close.len()))
        }
        b'"' if prefix <= 2 && hashes == 0 => Some(string(text, prefix)),
        b'\'' if &text[..prefix] == "b" && hashes == 0 => Some(1 + quote(&text[1..]).1),
        _ => None,
    }
}

/// A character, or a lifetime, which is no token here.
fn quote(text: &str) -> (Option<Kind<'static>>, usize) {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some(_)) => {
            let close = text[3..].find('\'').map_or(text.len(), |at| at + 4);
            (Some(Kind::Literal), close)
        }
        (Some(_), Some((at, '\''))) => (Some(Kind::Literal), at + 1),
        _ => (None, 1 + text[1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()),
    }
}

/// From where to where there are items under `#[cfg(test)]`.
fn test_items(tokens: &[Token]) -> Vec<(usize, usize)> {
    let words = |from: usize| tokens[from..].iter().map(|token| token.kind);
    let marker = [
        Kind::Mark('#'),
        Kind::Mark('['),
        Kind::Word("cfg"),
        Kind::Mark('('),
        Kind::Word("test"),
        Kind::Mark(')'),
        Kind::Mark(']'),
    ];
    let (mut items, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if words(at).take(marker.len()).eq(marker) {
            let end = item_end(tokens, at + marker.len());
            items.push((at, end));
            at = end;
        } else {
            at += 1;
        }
    }
    items
}

/// Behind the item that starts at `at`: its `;`, or the brace that closes its first.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].kind {
            Kind::Mark('{' | '(' | '[') => depth += 1,
            Kind::Mark(')' | ']') => depth -= 1,
            Kind::Mark('}') => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            Kind::Mark(';') if depth == 0 => return at + 1,
            Kind::Word(_) | Kind::Path | Kind::Literal | Kind::Mark(_) => {}
        }
        at += 1;
    }
    at
}

fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let (mut kept, mut from) = (Vec::new(), 0);
    for (start, end) in test_items(tokens) {
        kept.extend_from_slice(&tokens[from..start]);
        from = end;
    }
    kept.extend_from_slice(&tokens[from..]);
    kept
}

/// The names of modules that are declared under `#[cfg(test)]`.
pub fn test_modules(text: &str) -> Vec<String> {
    let all = lex(text);
    let name =
        |&(from, to): &(usize, usize)| match all[from..to].iter().rev().map(|token| token.kind).collect::<Vec<_>>()[..]
        {
            [Kind::Mark(';'), Kind::Word(name), Kind::Word("mod"), ..] => Some(name.to_owned()),
            _ => None,
        };
    test_items(&all).iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let word = |token: Token<'static>| match token.kind {
            Kind::Word(word) => Some(word),
            Kind::Path | Kind::Literal | Kind::Mark(_) => None,
        };
        let text: &'static str = String::leak(text.to_owned());
        tokens(text).into_iter().filter_map(word).collect()
    }

    #[test]
    fn comments_literals_and_lifetimes_are_left_out() {
        let text = "a // b\n/* c /* d */ e */ f \"g \\\" h\" r#\"i \" j\"# b\"k\" 'l' '\\'' 'm: n<'o> b'p' 12u8 'ä' q";
        assert_eq!(words(text), ["a", "f", "n", "q"]);
    }

    #[test]
    fn what_is_for_tests_is_left_out() {
        let text =
            "fn a() { let x = [1; 2]; }\n#[cfg(test)]\nmod b {\n    fn c() {}\n}\n#[cfg(test)]\nmod d;\nfn e() {}\n";
        assert_eq!(words(text), ["fn", "a", "let", "x", "fn", "e"]);
        assert_eq!(test_modules(text), ["d"]);
        assert_eq!(lines_without_tests(text), 2);
    }
}
