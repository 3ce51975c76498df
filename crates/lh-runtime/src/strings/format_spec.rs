//! `format(value, spec)` with Python's mini-language:
//! `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.

use crate::classes::{ExcId, MEMORY_ERROR, OVERFLOW_ERROR, VALUE_ERROR};
use crate::repr::{DIGITS, Decimal, LayOut, decimal, digits_of_bits, lay_out, special};
use crate::text::{Point, Text, TextBuf};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write;

/// An exception to raise.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub class: ExcId,
    pub message: String,
}

fn fail<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure { class: VALUE_ERROR, message: message.into() })
}

type Formatted = Result<TextBuf, Failure>;

/// A parsed specification.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spec {
    fill: Point,
    align: char,
    sign: Option<char>,
    no_negative_zero: bool,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Wider fields and precisions than this are refused as Python refuses what does not fit in memory.
const WIDEST: usize = 1 << 40;

/// Reads the specification from left to right.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }
    fn take(&mut self, wanted: impl FnOnce(char) -> bool) -> Option<char> {
        let c = self.peek().filter(|c| wanted(*c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }
    fn number(&mut self) -> Result<Option<usize>, Failure> {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        match digits {
            "" => Ok(None),
            _ => match digits.parse::<i64>() {
                Ok(n) => Ok(Some(n as usize)),
                Err(_) => fail("Too many decimal digits in format string"),
            },
        }
    }
}

fn is_align(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '^')
}

thread_local! {
    /// The last short specification, and what it means: mostly the next one is the same.
    static LAST: Cell<Option<(u64, usize, char, Spec)>> = const { Cell::new(None) };
}

impl Spec {
    /// Reads a specification.
    fn parse(text: &Text, type_name: &str, default_align: char) -> Result<Spec, Failure> {
        let bytes = text.as_bytes();
        if bytes.len() > 8 {
            return Spec::read(text, type_name, default_align);
        }
        let word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        match LAST.get() {
            Some((w, len, align, spec)) if (w, len, align) == (word, bytes.len(), default_align) => Ok(spec),
            _ => {
                let spec = Spec::read(text, type_name, default_align)?;
                LAST.set(Some((word, bytes.len(), default_align, spec)));
                Ok(spec)
            }
        }
    }

    fn read(text: &Text, type_name: &str, default_align: char) -> Result<Spec, Failure> {
        let mut s = Spec {
            fill: ' '.into(),
            align: default_align,
            sign: None,
            no_negative_zero: false,
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            kind: None,
        };
        let mut points = text.points();
        let (first, second) = (points.next(), points.next());
        let filled = second.and_then(Point::char).is_some_and(is_align);
        // A surrogate has no meaning but as what fills.
        let skipped = if filled { first.map_or(0, Point::size) } else { 0 };
        let rest = &text[skipped..];
        let lossy = if rest.as_str().is_some() { String::new() } else { rest.lossy() };
        let mut r = Reader { rest: rest.as_str().unwrap_or(&lossy) };
        if let (true, Some(fill)) = (filled, first) {
            s.fill = fill;
        }
        let align = r.take(is_align);
        s.align = align.unwrap_or(default_align);
        s.sign = r.take(|c| matches!(c, '+' | '-' | ' '));
        s.no_negative_zero = r.take(|c| c == 'z').is_some();
        s.alternate = r.take(|c| c == '#').is_some();
        if !filled && r.take(|c| c == '0').is_some() {
            s.fill = '0'.into();
            if align.is_none() && default_align == '>' {
                s.align = '=';
            }
        }
        s.width = r.number()?.unwrap_or(0);
        s.grouping = grouping(&mut r)?;
        if r.take(|c| c == '.').is_some() {
            s.precision = r.number()?;
            if s.precision.is_none() {
                return fail("Format specifier missing precision");
            }
        }
        s.kind = r.take(|_| true);
        if !r.rest.is_empty() {
            let text = text.lossy();
            return fail(format!("Invalid format specifier '{text}' for object of type '{type_name}'"));
        }
        if s.width > WIDEST || s.precision.is_some_and(|p| p > WIDEST) {
            return Err(Failure { class: MEMORY_ERROR, message: "field too wide".to_owned() });
        }
        s.check_grouping()?;
        Ok(s)
    }

    fn check_grouping(&self) -> Result<(), Failure> {
        match (self.grouping, self.kind) {
            (None, _) | (Some(_), None | Some('d' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F')) => Ok(()),
            (Some('_'), Some('b' | 'o' | 'x' | 'X')) => Ok(()),
            (Some(g), Some(kind)) => fail(format!("Cannot specify '{g}' with {}.", shown(kind))),
        }
    }
}

fn grouping(r: &mut Reader) -> Result<Option<char>, Failure> {
    let Some(first) = r.take(|c| c == ',' || c == '_') else { return Ok(None) };
    match r.peek() {
        Some(second @ (',' | '_')) if second != first => fail("Cannot specify both ',' and '_'."),
        Some(second @ (',' | '_')) => fail(format!("Cannot specify '{second}' with '{second}'.")),
        _ => Ok(Some(first)),
    }
}

/// A type character in a message.
fn shown(kind: char) -> String {
    if ('!'..='\u{7f}').contains(&kind) { format!("'{kind}'") } else { format!("'\\x{:x}'", u32::from(kind)) }
}

fn unknown<T>(kind: char, type_name: &str) -> Result<T, Failure> {
    fail(format!("Unknown format code {} for object of type '{type_name}'", shown(kind)))
}

/// Joins parts of a text and fills up to the width: `=` puts the fill before the parts that are `inside`.
fn pad(s: &Spec, first: &[&Text], inside: &[&Text]) -> Formatted {
    let all = || first.iter().chain(inside);
    let (size, count) = all().fold((0, 0), |(size, count), part| (size + part.len(), count + part.count()));
    let missing = s.width.saturating_sub(count);
    let Some(mut out) = TextBuf::with_room(size + missing * s.fill.size()) else {
        return Err(Failure { class: MEMORY_ERROR, message: String::new() });
    };
    let (left, middle) = match s.align {
        '<' => (0, 0),
        '^' => (missing / 2, 0),
        '=' => (0, missing),
        _ => (missing, 0),
    };
    out.push_several(s.fill, left);
    first.iter().for_each(|part| out.push_text(part));
    out.push_several(s.fill, middle);
    inside.iter().for_each(|part| out.push_text(part));
    out.push_several(s.fill, missing - left - middle);
    Ok(out)
}

/// A number in parts.
struct Number<'a> {
    negative: bool,
    prefix: &'a str,
    digits: &'a str,
    /// The text after the whole part: fraction and exponent.
    rest: &'a str,
    /// A percent sign, perhaps.
    unit: &'a str,
    /// Digits between separators.
    group: usize,
}

fn sign_of(s: &Spec, negative: bool) -> &'static str {
    match (negative, s.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        (false, _) => "",
    }
}

fn number(s: &Spec, n: &Number) -> Formatted {
    let sign = sign_of(s, n.negative);
    let zero_filled = s.fill == '0'.into() && s.align == '=';
    let taken = sign.len() + n.prefix.len() + n.rest.len() + n.unit.len();
    let digits: Cow<'_, str> = match s.grouping {
        None => n.digits.into(),
        Some(separator) => {
            grouped(n.digits, separator, n.group, if zero_filled { s.width.saturating_sub(taken) } else { 0 })?.into()
        }
    };
    pad(s, &[sign.as_ref(), n.prefix.as_ref()], &[(*digits).as_ref(), n.rest.as_ref(), n.unit.as_ref()])
}

/// Digits with separators, and zeros in front up to a width that counts the separators.
fn grouped(digits: &str, separator: char, group: usize, width: usize) -> Result<String, Failure> {
    let mut reversed = Vec::new();
    if reversed.try_reserve(width.max(digits.len()) * 2).is_err() {
        return Err(Failure { class: MEMORY_ERROR, message: String::new() });
    }
    let mut left = digits.bytes().rev();
    let (mut remaining, mut width) = (digits.len(), width as i64);
    loop {
        let len = group.min(remaining.max(width.max(1) as usize));
        for _ in 0..len {
            reversed.push(left.next().unwrap_or(b'0'));
        }
        remaining = remaining.saturating_sub(len);
        width -= len as i64;
        if remaining == 0 && width <= 0 {
            reversed.reverse();
            return Ok(String::from_utf8(reversed).expect("digits and separators are ASCII"));
        }
        width -= 1;
        reversed.push(separator as u8);
    }
}

/// `format(int, spec)`.
pub(crate) fn format_int(value: i128, spec: &Text) -> Formatted {
    if spec.is_empty() {
        return Ok(value.to_string().into());
    }
    let s = Spec::parse(spec, "int", '>')?;
    let kind = match s.kind {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => return float_with(&s, value as f64),
        Some(k @ ('b' | 'c' | 'd' | 'n' | 'o' | 'x' | 'X')) => k,
        None => 'd',
        Some(k) => return unknown(k, "int"),
    };
    if s.precision.is_some() {
        return fail("Precision not allowed in integer format specifier");
    }
    if s.no_negative_zero {
        return fail("Negative zero coercion (z) not allowed in integer format specifier");
    }
    // All callers have 64 bits.
    let magnitude = value.unsigned_abs() as u64;
    let (mut room, mut bits) = ([0; DIGITS], [0; 64]);
    let (prefix, digits, group) = match kind {
        'c' => return format_char(&s, value),
        'b' => ("0b", digits_of_bits(magnitude, 1, &mut bits), 4),
        'o' => ("0o", digits_of_bits(magnitude, 3, &mut bits), 4),
        'x' => ("0x", digits_of_bits(magnitude, 4, &mut bits), 4),
        'X' => {
            let first = 64 - digits_of_bits(magnitude, 4, &mut bits).len();
            bits.make_ascii_uppercase();
            ("0X", &bits[first..], 4)
        }
        _ => ("", decimal(false, magnitude, &mut room), 3),
    };
    let prefix = if s.alternate { prefix } else { "" };
    let digits = str::from_utf8(digits).expect("digits are ASCII");
    number(&s, &Number { negative: value < 0, prefix, digits, rest: "", unit: "", group })
}

fn format_char(s: &Spec, value: i128) -> Formatted {
    if s.sign.is_some() {
        return fail("Sign not allowed with integer format specifier 'c'");
    }
    if s.alternate {
        return fail("Alternate form (#) not allowed with integer format specifier 'c'");
    }
    match u32::try_from(value).ok().and_then(Point::new) {
        Some(c) => pad(s, &[], &[&TextBuf::from_iter([c])]),
        None => Err(Failure { class: OVERFLOW_ERROR, message: "%c arg not in range(0x110000)".to_owned() }),
    }
}

/// `format(float, spec)`.
pub(crate) fn format_float(value: f64, spec: &Text) -> Formatted {
    if spec.is_empty() {
        return Ok(crate::repr::float_repr(value).into());
    }
    let s = Spec::parse(spec, "float", '>')?;
    match s.kind {
        None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') => float_with(&s, value),
        Some(k) => unknown(k, "float"),
    }
}

/// `format(complex, spec)`: width and fill are those of the whole, all else is that of both parts.
pub(crate) fn format_complex(re: f64, im: f64, spec: &Text) -> Formatted {
    if spec.is_empty() {
        return Ok(crate::repr::complex_repr(re, im).into());
    }
    let s = Spec::parse(spec, "complex", '>')?;
    match s.kind {
        None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n') => {}
        Some(k) => return unknown(k, "complex"),
    }
    if s.precision.is_some_and(|p| p > i32::MAX as usize / 2) {
        return fail("precision too big");
    }
    if s.fill == '0'.into() {
        return fail("Zero padding is not allowed in complex format specifier");
    }
    if s.align == '=' {
        return fail("'=' alignment flag is not allowed in complex format specifier");
    }
    // Without a letter, a complex number is written as `str` writes it, with parentheses.
    let is_plain = s.kind.is_none();
    let kind = if is_plain && s.precision.is_some() { Some('g') } else { s.kind };
    let part = |value: f64, sign: Option<char>| {
        let text = float_with(&Spec { fill: ' '.into(), align: '>', width: 0, sign, kind, ..s }, value)?.lossy();
        let cut = if kind.is_none() && text.ends_with(".0") { 2 - usize::from(s.alternate) } else { 0 };
        Ok::<_, Failure>(text[..text.len() - cut].to_owned())
    };
    let body = if is_plain && re == 0.0 && re.is_sign_positive() {
        format!("{}j", part(im, s.sign)?)
    } else {
        let (re, im) = (part(re, s.sign)?, part(im, Some('+'))?);
        if is_plain { format!("({re}{im}j)") } else { format!("{re}{im}j") }
    };
    pad(&s, &[], &[body.as_str().as_ref()])
}

fn float_with(s: &Spec, value: f64) -> Formatted {
    let value = if s.kind == Some('%') { value * 100.0 } else { value };
    let precision = s.precision.unwrap_or(6);
    if precision > i32::MAX as usize / 2 {
        return fail("precision too big");
    }
    if matches!(s.kind, Some('f' | 'F'))
        && s.grouping.is_none()
        && !s.alternate
        && value.is_finite()
        && precision <= PLAIN
    {
        return plain_fixed(s, value, precision);
    }
    let percent = if s.kind == Some('%') { "%" } else { "" };
    let mut negative = value.is_sign_negative() && !value.is_nan();
    let mut text = match special(value) {
        Some(name) => name.trim_start_matches('-').to_owned(),
        None => {
            let (digits, how) = digits_of(s, value, precision);
            negative &= !(s.no_negative_zero && digits.is_zero());
            lay_out("", &digits, LayOut { keep_dot: s.alternate, ..how })
        }
    };
    if matches!(s.kind, Some('E' | 'F' | 'G')) {
        text.make_ascii_uppercase();
    }
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(whole);
    // Names are padded like digits, though they are none.
    if whole.is_empty() {
        return number(
            &Spec { grouping: None, ..*s },
            &Number { negative, prefix: "", digits: rest, rest: "", unit: percent, group: 3 },
        );
    }
    number(s, &Number { negative, prefix: "", digits: whole, rest, unit: percent, group: 3 })
}

/// With more digits after the point than this, digits are not written at once.
const PLAIN: usize = 60;

/// Digits and a point, without separators: what most formats ask for.
fn plain_fixed(s: &Spec, value: f64, precision: usize) -> Formatted {
    let mut body = String::with_capacity(24 + precision);
    body.push_str(sign_of(s, value.is_sign_negative()));
    let sign = body.len();
    // A text takes all that is written to it.
    let _ = write!(body, "{:.precision$}", value.abs());
    let is_zero = || body[sign..].bytes().all(|b| b == b'0' || b == b'.');
    let is_unsigned = s.no_negative_zero && value.is_sign_negative() && is_zero();
    if s.width <= body.len() && !is_unsigned {
        return Ok(body.into());
    }
    let (sign, digits) = body.split_at(sign);
    pad(s, &[if is_unsigned { sign_of(s, false) } else { sign }.as_ref()], &[digits.as_ref()])
}

fn digits_of(s: &Spec, value: f64, precision: usize) -> (Decimal, LayOut) {
    let p = precision as i32;
    match s.kind {
        Some('e' | 'E') => (
            Decimal::significant(value, precision.saturating_add(1)),
            LayOut { exponent: true, until: p + 1, ..LayOut::default() },
        ),
        Some('f' | 'F' | '%') => {
            let d = Decimal::fixed(value, precision);
            let until = d.point + p;
            // A number below one has its digits counted from the point on.
            (d, LayOut { until, ..LayOut::default() })
        }
        None if s.precision.is_none() => {
            let d = Decimal::shortest(value);
            let exponent = d.point <= -4 || d.point > 16;
            (d, LayOut { exponent, dot_zero: true, ..LayOut::default() })
        }
        kind => {
            let dot_zero = kind.is_none();
            let p = p.max(1);
            let d = Decimal::significant(value, p as usize);
            let exponent = d.point <= -4 || d.point > p - i32::from(dot_zero);
            let until = if s.alternate { p } else { 0 };
            (d, LayOut { exponent, until, dot_zero, ..LayOut::default() })
        }
    }
}

/// `format(str, spec)`.
pub(crate) fn format_str(value: &Text, spec: &Text) -> Formatted {
    let s = Spec::parse(spec, "str", '<')?;
    if let Some(k) = s.kind.filter(|k| *k != 's') {
        return unknown(k, "str");
    }
    if let Some(g) = s.grouping {
        return fail(format!("Cannot specify '{g}' with 's'."));
    }
    match s.sign {
        None => {}
        Some(' ') => return fail("Space not allowed in string format specifier"),
        Some(_) => return fail("Sign not allowed in string format specifier"),
    }
    if s.no_negative_zero {
        return fail("Negative zero coercion (z) not allowed in string format specifier");
    }
    if s.alternate {
        return fail("Alternate form (#) not allowed in string format specifier");
    }
    if s.align == '=' {
        return fail("'=' alignment not allowed in string format specifier");
    }
    let end = s.precision.map_or(value.len(), |p| value.places().nth(p).map_or(value.len(), |(at, _)| at));
    pad(&s, &[], &[&value[..end]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of kind, value, specification and CPython's answer: `=text` or `!message`.
    #[test]
    fn formats_as_cpython_does() {
        let mut wrong = Vec::new();
        for line in include_str!("../../tests/data/format.tsv").lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [kind, value, spec, want] = parts[..] else { panic!("{line:?}") };
            let got = match kind {
                "f" => format_float(value.parse().unwrap(), spec.as_ref()),
                "i" => format_int(value.parse().unwrap(), spec.as_ref()),
                _ => format_str(value.as_ref(), spec.as_ref()),
            };
            let got = match got {
                Ok(text) => format!("={}", text.lossy()),
                Err(failure) => format!("!{}", failure.message),
            };
            if got != want {
                wrong.push(format!("{line:?}: {got}"));
            }
        }
        assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    }

    #[test]
    fn complex_numbers() {
        let cases = [
            ((1.0, -2.0), ".2f", "1.00-2.00j"),
            ((1.0, 0.0), "#", "(1.+0.j)"),
            ((0.0, 1.5), "+", "+1.5j"),
            ((-0.0, 1.0), "*>10.3", "***(-0+1j)"),
            ((f64::NAN, f64::INFINITY), "e", "nan+infj"),
        ];
        for ((re, im), spec, want) in cases {
            assert_eq!(format_complex(re, im, spec.as_ref()).unwrap(), want);
        }
        assert!(format_complex(0.0, 0.0, "08".as_ref()).is_err());
    }

    #[test]
    fn extreme_widths_are_refused() {
        for spec in ["99999999999999", ".99999999999f", "99999999999999999999", "0999999999999999999,"] {
            assert!(format_float(1.0, spec.as_ref()).is_err(), "{spec}");
        }
        assert_eq!(format_float(0.5, ".3000f".as_ref()).unwrap().len(), 3002);
        assert_eq!(format_float(0.5, ".3000e".as_ref()).unwrap().len(), 3006);
        assert_eq!(format_float(0.5, ".3000g".as_ref()).unwrap(), "0.5");
    }
}
