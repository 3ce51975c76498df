//! `int(str)` and `float(str)`.

use crate::characters::{DECIMAL, is_in};
use crate::repr::str_repr;
use crate::text::{Point, Text, TextBuf};
use std::borrow::Cow;

/// Whether Python's `str.strip()` removes a character.
pub(crate) fn is_space(p: Point) -> bool {
    p.char().is_some_and(|c| c.is_whitespace() || matches!(c, '\x1c'..='\x1f'))
}

/// Takes out underscores that stand between digits; `None` if one stands elsewhere.
fn without_underscores(s: &str) -> Option<String> {
    let bytes = s.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_alphanumeric);
    let misplaced = |(i, b): (usize, &u8)| *b == b'_' && !(digit(i.checked_sub(1)) && digit(Some(i + 1)));
    if bytes.iter().enumerate().any(misplaced) { None } else { Some(s.replace('_', "")) }
}

/// The base that a prefix means, and the digits after it.
fn prefixed(digits: &str) -> Option<(u32, &str)> {
    let base = match digits.get(..2)?.to_ascii_lowercase().as_str() {
        "0x" => 16,
        "0o" => 8,
        "0b" => 2,
        _ => return None,
    };
    // One underscore may follow the prefix.
    let rest = &digits[2..];
    Some((base, rest.strip_prefix('_').unwrap_or(rest)))
}

/// `int(s, base)` for bases 2 to 36, or 0 for that of the prefix; `Ok(None)` when it does not fit 64 bits, `Err` with
/// Python's message.
pub(crate) fn parse_int(s: &Text, base: u32) -> Result<Option<i64>, String> {
    if let Some(value) = short_int(s, base) {
        return Ok(Some(value));
    }
    let invalid = || {
        let shown: TextBuf = s.points().take(200).collect();
        format!("invalid literal for int() with base {base}: {}", str_repr(&shown))
    };
    let plain = plain_digits(s);
    let (negative, digits) = sign(&plain);
    let (radix, digits) = match prefixed(digits) {
        Some((b, rest)) if base == b || base == 0 => (b, rest),
        // A decimal number other than zero must not start with a zero.
        _ if base == 0 && digits.starts_with('0') && digits.contains(|c| !matches!(c, '0' | '_')) => {
            return Err(invalid());
        }
        _ => (if base == 0 { 10 } else { base }, digits),
    };
    let digits = without_underscores(digits).filter(|d| !d.is_empty()).ok_or_else(invalid)?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(invalid());
    }
    // The sign goes in first: the smallest number has no positive counterpart.
    let signed = if negative { format!("-{digits}") } else { digits };
    Ok(i64::from_str_radix(&signed, radix).ok())
}

/// A number of few digits with nothing else but a sign, as most are.
fn short_int(s: &Text, base: u32) -> Option<i64> {
    let (is_negative, digits) = match s.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // So many digits fit to any base; without a base, zeros at the beginning mean one.
    if digits.is_empty() || digits.len() > 12 || base == 0 {
        return None;
    }
    let value = digits.iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(base)?;
        Some(value * i64::from(base) + i64::from(digit))
    })?;
    Some(if is_negative { -value } else { value })
}

/// The text without white space around it, with decimal digits of all scripts as ASCII.
fn plain_digits(s: &Text) -> Cow<'_, str> {
    let s = s.trimmed(is_space);
    match s.as_str() {
        Some(plain) if s.is_ascii() => Cow::Borrowed(plain),
        _ => Cow::Owned(s.points().map(|p| decimal(p).or(p.char()).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()),
    }
}

/// The ASCII digit that a decimal digit of any script stands for. These are in runs of ten from zero to nine.
fn decimal(p: Point) -> Option<char> {
    let code = u32::from(p);
    if code < 128 || !is_in(code, DECIMAL) {
        return None;
    }
    let before = (1..).take_while(|k| is_in(code - k, DECIMAL)).count() as u32;
    char::from_digit(before % 10, 10)
}

fn sign(s: &str) -> (bool, &str) {
    match s.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, s.strip_prefix('+').unwrap_or(s)),
    }
}

/// `float(s)`; `Err` with Python's message.
pub(crate) fn parse_float(s: &Text) -> Result<f64, String> {
    let invalid = || format!("could not convert string to float: {}", str_repr(s));
    let plain = plain_digits(s);
    let (negative, rest) = sign(&plain);
    let plain = match rest.contains('_') {
        true => Cow::Owned(without_underscores(rest).ok_or_else(invalid)?),
        false => Cow::Borrowed(rest),
    };
    let named = ["inf", "infinity", "nan"].iter().any(|n| rest.eq_ignore_ascii_case(n));
    let number = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !(named || number) {
        return Err(invalid());
    }
    let value: f64 = plain.parse().map_err(|_| invalid())?;
    Ok(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints() {
        for (s, want) in
            [("0", 0), ("-0", 0), ("\x1c+12 ", 12), ("1_2_3", 123), ("-9223372036854775808", i64::MIN), ("007", 7)]
        {
            assert_eq!(parse_int(s.as_ref(), 10), Ok(Some(want)), "{s:?}");
        }
        for s in ["", " ", "-", "+-1", "1__2", "_1", "1_", "1.0", "1e3", "0x10", "1 2", "- 1"] {
            assert_eq!(
                parse_int(s.as_ref(), 10),
                Err(format!("invalid literal for int() with base 10: {}", str_repr(s.as_ref())))
            );
        }
        assert_eq!(parse_int("99999999999999999999".as_ref(), 10), Ok(None));
        for (s, base, want) in [
            ("fF", 16, 255),
            ("0xfF", 16, 255),
            ("-0b101", 0, -5),
            ("0o_17", 8, 15),
            ("0", 0, 0),
            ("12", 0, 12),
            ("0b1", 16, 177),
        ] {
            assert_eq!(parse_int(s.as_ref(), base), Ok(Some(want)), "{s:?}");
        }
        for (s, base) in [("012", 0), ("0x", 16), ("0x1", 8), ("2", 2), ("0x__1", 16)] {
            assert!(parse_int(s.as_ref(), base).is_err(), "{s:?}");
        }
    }

    #[test]
    fn floats() {
        for (s, want) in [
            ("1", 1.0),
            (" 1.5e3\t", 1500.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-1_0.2_5", -10.25),
            ("+Infinity", f64::INFINITY),
            ("-inf", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
            ("1e-400", 0.0),
            ("2.2250738585072011e-308", 2.225073858507201e-308),
        ] {
            assert_eq!(parse_float(s.as_ref()), Ok(want), "{s:?}");
        }
        assert!(parse_float("-nan".as_ref()).unwrap().is_nan());
        for s in
            ["", ".", "e5", "1e", "1e+", "--1", "+ 1", "1_", "_1", "1._5", "in_f", "0x1p3", "1.2.3", "infin", "nan1"]
        {
            assert_eq!(
                parse_float(s.as_ref()),
                Err(format!("could not convert string to float: {}", str_repr(s.as_ref())))
            );
        }
    }
}
