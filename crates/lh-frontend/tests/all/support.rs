//! Reads the code objects that `record.py` writes.

use lh_frontend::raw::{RawCode, RawConst};
use lh_ir::Span;
use lh_ir::untyped::PyConst;
use std::fs;
use std::iter::Peekable;
use std::path::PathBuf;
use std::str::SplitAsciiWhitespace;

/// The versions that were recorded.
pub const VERSIONS: [(u8, u8); 4] = [(3, 11), (3, 12), (3, 13), (3, 14)];

type Tokens<'a> = Peekable<SplitAsciiWhitespace<'a>>;

/// A file of `tests/code`.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/code").join(name)
}

/// The functions recorded with a version.
pub fn recorded(version: (u8, u8)) -> Vec<RawCode> {
    let name = format!("py{}{}.txt", version.0, version.1);
    let text = fs::read_to_string(path(&name)).expect("the file was recorded");
    text.lines().map(|line| code(&mut line.split_ascii_whitespace().peekable())).collect()
}

fn next<'a>(tokens: &mut Tokens<'a>) -> &'a str {
    tokens.next().expect("a token")
}

fn number(tokens: &mut Tokens<'_>) -> u32 {
    next(tokens).parse().expect("a number")
}

fn text(token: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = token.strip_prefix('\'').expect("a string").bytes();
    while let Some(b) = rest.next() {
        let mut digit = || (rest.next().expect("a digit") as char).to_digit(16).expect("a digit") as u8;
        bytes.push(if b == b'%' { digit() * 16 + digit() } else { b });
    }
    String::from_utf8(bytes).expect("UTF-8")
}

fn hex(token: &str) -> Vec<u8> {
    let digits = token.as_bytes()[1..].chunks(2);
    digits.map(|d| u8::from_str_radix(std::str::from_utf8(d).expect("ASCII"), 16).expect("hex")).collect()
}

fn list<'a, T>(tokens: &mut Tokens<'a>, end: &str, mut item: impl FnMut(&mut Tokens<'a>) -> T) -> Vec<T> {
    let mut items = Vec::new();
    while tokens.peek().copied() != Some(end) {
        items.push(item(tokens));
    }
    tokens.next();
    items
}

fn names(tokens: &mut Tokens<'_>) -> Vec<String> {
    next(tokens);
    list(tokens, "]", |t| text(next(t)))
}

fn constant(tokens: &mut Tokens<'_>) -> RawConst {
    let token = tokens.peek().copied().expect("a constant");
    match token {
        "code" => RawConst::Code(Box::new(code(tokens))),
        _ if token.starts_with('?') => RawConst::Other(next(tokens)[1..].to_owned()),
        _ => value(tokens).map_or_else(|kind| RawConst::Other(kind.to_owned()), RawConst::Value),
    }
}

fn value<'a>(tokens: &mut Tokens<'a>) -> Result<PyConst, &'a str> {
    let token = next(tokens);
    let float = |s: &str| s.parse::<f64>().expect("a float");
    Ok(match (token, &token[..1]) {
        ("None", _) => PyConst::None,
        ("True", _) => PyConst::Bool(true),
        ("False", _) => PyConst::Bool(false),
        ("Ellipsis", _) => PyConst::Ellipsis,
        ("(", _) => PyConst::Tuple(list(tokens, ")", |t| value(t)).into_iter().collect::<Result<_, _>>()?),
        ("slice", _) => PyConst::Slice(Box::new([value(tokens)?, value(tokens)?, value(tokens)?])),
        (_, "i") => token[1..].parse().map_or_else(|_| PyConst::BigInt(token[1..].to_owned()), PyConst::Int),
        (_, "f") => PyConst::Float(float(&token[1..])),
        (_, "j") => {
            let (re, im) = token[1..].split_once(',').expect("two parts");
            PyConst::Complex(float(re), float(im))
        }
        (_, "'") => PyConst::Str(text(token)),
        (_, "y") => PyConst::Bytes(hex(token)),
        _ => return Err(&token[1..]),
    })
}

fn position(token: &str, first: u32) -> Vec<Span> {
    let (token, count) = token.split_once('*').map_or((token, 1), |(t, n)| (t, n.parse().expect("a count")));
    let span = if token == "-" {
        Span::default()
    } else {
        let parts: Vec<i64> = token.split('.').map(|p| p.parse().expect("a number")).collect();
        let line = |delta: i64| u32::try_from(i64::from(first) + delta).expect("a line");
        let column = |i: usize| u32::try_from(parts.get(i).copied().unwrap_or(0)).expect("a column");
        let end_line = line(parts[0] + parts.get(3).copied().unwrap_or(0));
        Span { line: line(parts[0]), end_line, col: column(1), end_col: column(2) }
    };
    vec![span; count]
}

fn code(tokens: &mut Tokens<'_>) -> RawCode {
    assert_eq!(next(tokens), "code");
    let mut raw = RawCode { name: text(next(tokens)), qualname: text(next(tokens)), ..RawCode::default() };
    raw.filename = "source.py".to_owned();
    raw.firstlineno = number(tokens);
    raw.argcount = number(tokens);
    raw.posonlyargcount = number(tokens);
    raw.kwonlyargcount = number(tokens);
    raw.flags = number(tokens);
    raw.stacksize = number(tokens);
    raw.code = hex(next(tokens));
    raw.exceptiontable = hex(next(tokens));
    raw.names = names(tokens);
    raw.varnames = names(tokens);
    raw.cellvars = names(tokens);
    raw.freevars = names(tokens);
    next(tokens);
    raw.consts = list(tokens, "]", constant);
    next(tokens);
    raw.positions = list(tokens, "]", |t| position(next(t), raw.firstlineno)).concat();
    raw
}
