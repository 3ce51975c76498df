//! Text of numbers and strings as Python writes it.
//!
//! Digits come from `ryu`, the shortest ones, and from Rust's formatting, which is exact (`{:.n}`); this file lays them
//! out.

use crate::characters::{PRINTABLE, is_in};
use crate::text::Text;
use smallvec::SmallVec;
use std::fmt::{Arguments, Write};

/// Decimal digits of a finite number: its absolute value is `0.d1d2d3... * 10^point`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decimal {
    /// ASCII digits, without leading zeros except for zero itself.
    digits: Digits,
    /// Position of the decimal point after the first digit.
    pub point: i32,
}

/// Digits, which take memory of their own where they are many only.
type Digits = SmallVec<[u8; 40]>;

/// A line of text that is written on the stack.
#[derive(Default)]
struct Line(Digits);

impl Write for Line {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.0.extend_from_slice(s.as_bytes());
        Ok(())
    }
}

fn written(text: Arguments<'_>) -> Digits {
    let mut line = Line::default();
    line.write_fmt(text).expect("a line takes any text");
    line.0
}

/// No finite double has more decimal digits after the point.
const MOST_DIGITS: usize = 1100;

impl Decimal {
    /// From a number in positional or scientific notation, e.g. `1.25e-7`.
    fn read(text: &[u8]) -> Decimal {
        let end = text.iter().rposition(|b| *b == b'e').unwrap_or(text.len());
        let size = text[end..].iter().filter(|b| b.is_ascii_digit()).fold(0, |n, b| n * 10 + i32::from(b - b'0'));
        let exponent = if text.get(end + 1) == Some(&b'-') { -size } else { size };
        let (whole, fraction) = text[..end].split_at(text[..end].iter().position(|b| *b == b'.').unwrap_or(end));
        let mut digits = Digits::from_slice(whole);
        digits.extend_from_slice(fraction.get(1..).unwrap_or(&[]));
        let zeros = digits.iter().take_while(|b| **b == b'0').count().min(digits.len() - 1);
        digits.drain(..zeros);
        let mut d = Decimal { digits, point: (whole.len() - zeros.min(whole.len())) as i32 + exponent };
        d.point -= zeros.saturating_sub(whole.len()) as i32;
        d.strip_zeros();
        d
    }
    /// The shortest digits that mean the number, and of these the nearest ones.
    pub fn shortest(x: f64) -> Decimal {
        Decimal::read(ryu::Buffer::new().format_finite(x.abs()).as_bytes())
    }
    /// This many significant digits (at least one), correctly rounded, without zeros at the end.
    pub fn significant(x: f64, n: usize) -> Decimal {
        let exact = || Decimal::read(&written(format_args!("{:.*e}", n.clamp(1, MOST_DIGITS) - 1, x.abs())));
        Decimal::shortest(x).rounded(x, n.max(1)).unwrap_or_else(exact)
    }
    /// This many digits after the point, correctly rounded, without zeros at the end.
    pub fn fixed(x: f64, places: usize) -> Decimal {
        // Few digits are found sooner than the shortest ones.
        Decimal::read(&written(format_args!("{:.*}", places.min(MOST_DIGITS), x.abs())))
    }
    /// The shortest digits of a number, rounded to so many, at least one; `None` where these do not tell the
    /// rounded number.
    ///
    /// A number halfway between two with `n` digits has one digit more. If it were between the shortest digits and the
    /// number, it would have been the shortest, or of these the nearest: so only digits that are such a number
    /// themselves say nothing about the side. With at most 15 digits, the nearest number to a normal double is that
    /// with its shortest digits, if these are no more.
    fn rounded(mut self, x: f64, n: usize) -> Option<Decimal> {
        if self.digits.len() <= n {
            return (n <= 15 && (x.is_normal() || x == 0.0)).then_some(self);
        }
        if self.digits[n..] == *b"5" {
            return None;
        }
        let is_up = self.digits[n] >= b'5';
        self.digits.truncate(n);
        if is_up {
            while self.digits.last() == Some(&b'9') {
                self.digits.pop();
            }
            match self.digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    self.digits.push(b'1');
                    self.point += 1;
                }
            }
        }
        self.strip_zeros();
        Some(self)
    }
    fn strip_zeros(&mut self) {
        self.digits.truncate(self.digits.iter().rposition(|b| *b != b'0').map_or(1, |last| last + 1));
        if self.is_zero() {
            self.point = 1;
        }
    }
    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.digits[..] == *b"0"
    }
}

/// The most characters of a whole number of 64 bits.
pub(crate) const DIGITS: usize = 20;

/// The digits of a whole number, with its sign: the end of `room`.
pub(crate) fn decimal(is_negative: bool, magnitude: u64, room: &mut [u8; DIGITS]) -> &[u8] {
    let (mut rest, mut first) = (magnitude, DIGITS);
    // Two digits for each division.
    while rest >= 10 {
        let two = (rest % 100) as u8;
        rest /= 100;
        first -= 2;
        (room[first], room[first + 1]) = (b'0' + two / 10, b'0' + two % 10);
    }
    if rest > 0 || first == DIGITS {
        first -= 1;
        room[first] = b'0' + rest as u8;
    }
    if is_negative {
        first -= 1;
        room[first] = b'-';
    }
    &room[first..]
}

/// The digits of a whole number, each of so many bits: the end of `room`.
pub(crate) fn digits_of_bits(magnitude: u64, bits: u32, room: &mut [u8; 64]) -> &[u8] {
    let (mut rest, mut first) = (magnitude, room.len());
    loop {
        first -= 1;
        room[first] = b"0123456789abcdef"[(rest & ((1 << bits) - 1)) as usize];
        rest >>= bits;
        if rest == 0 {
            return &room[first..];
        }
    }
}

/// How digits are laid out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LayOut {
    /// With an exponent.
    pub exponent: bool,
    /// Digits are filled up with zeros to this position (as [`Decimal::point`] counts).
    pub until: i32,
    /// `.0` where there would be no fraction (not with an exponent).
    pub dot_zero: bool,
    /// A point even where no digit follows.
    pub keep_dot: bool,
}

/// A sign and the digits of a number.
pub(crate) fn lay_out(sign: &str, d: &Decimal, how: LayOut) -> String {
    let point = if how.exponent { 1 } else { d.point };
    let end = how.until.max(point + i32::from(how.dot_zero && !how.exponent)).max(point);
    let start = if point <= 0 { point - 1 } else { 0 };
    let mut out = String::with_capacity((end - start) as usize + 8);
    out.push_str(sign);
    for at in start..end.max(d.digits.len() as i32) {
        if at == point {
            out.push('.');
        }
        let digit = usize::try_from(at).ok().and_then(|i| d.digits.get(i)).copied().unwrap_or(b'0');
        out.push(char::from(digit));
    }
    if how.keep_dot && !out.contains('.') {
        out.push('.');
    }
    if how.exponent {
        let e = d.point - 1;
        write!(out, "e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs()).expect("strings take any text");
    }
    out
}

fn sign(negative: bool) -> &'static str {
    if negative { "-" } else { "" }
}

/// `inf`, `-inf`, `nan`, or nothing for a finite number.
pub(crate) fn special(x: f64) -> Option<&'static str> {
    match x {
        x if x.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

fn float_text(x: f64, dot_zero: bool) -> String {
    if let Some(s) = special(x) {
        return s.to_owned();
    }
    let d = Decimal::shortest(x);
    let exponent = d.point <= -4 || d.point > 16;
    lay_out(sign(x.is_sign_negative()), &d, LayOut { exponent, dot_zero, ..LayOut::default() })
}

/// `repr(float)`.
pub fn float_repr(x: f64) -> String {
    float_text(x, true)
}

/// `str(numpy.float32)`.
pub fn float32_repr(x: f32) -> String {
    float32_text(x, true)
}

fn float32_text(x: f32, dot_zero: bool) -> String {
    if let Some(s) = special(f64::from(x)) {
        return s.to_owned();
    }
    let d = Decimal::read(ryu::Buffer::new().format_finite(x.abs()).as_bytes());
    // NumPy leaves positional notation much earlier than for doubles.
    let exponent = x != 0.0 && !(1e-4..1e6).contains(&f64::from(x.abs()));
    lay_out(sign(x.is_sign_negative()), &d, LayOut { exponent, dot_zero, ..LayOut::default() })
}

/// `repr(complex)`.
pub fn complex_repr(re: f64, im: f64) -> String {
    complex_text(re, float_text(re, false), float_text(im, false))
}

/// `str(numpy.complex64)`.
pub fn complex64_repr(re: f32, im: f32) -> String {
    complex_text(f64::from(re), float32_text(re, false), float32_text(im, false))
}

fn complex_text(re: f64, re_text: String, im_text: String) -> String {
    if re == 0.0 && !re.is_sign_negative() {
        return format!("{im_text}j");
    }
    let plus = if im_text.starts_with('-') { "" } else { "+" };
    format!("({re_text}{plus}{im_text}j)")
}

/// `repr(str)`.
pub fn str_repr(s: &Text) -> String {
    let has = |byte| s.as_bytes().contains(&byte);
    let quote = if has(b'\'') && !has(b'"') { '"' } else { '\'' };
    let mut out = String::with_capacity(s.len() + 2);
    out.push(quote);
    for p in s.points() {
        let Some(c) = p.char() else {
            push_escape(&mut out, p.into());
            continue;
        };
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if is_in(c, PRINTABLE) => out.push(c),
            c => push_escape(&mut out, c.into()),
        }
    }
    out.push(quote);
    out
}

fn push_escape(out: &mut String, code: u32) {
    match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    }
    .expect("strings take any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats() {
        for (x, want) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e15, "1000000000000000.0"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
            (-123.456, "-123.456"),
            (1e22, "1e+22"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(float_repr(x), want);
        }
    }

    #[test]
    fn rounded_digits_are_the_exact_ones() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 11
        };
        for _ in 0..20_000 {
            let (bits, places) = (next(), next() as usize % 18);
            // Any double, those of usual sizes, and those halfway between two decimals.
            let plain = (bits % 2_000_000) as f64 / 1000.0 - 1000.0;
            for x in [f64::from_bits(bits << 11 | 5), plain, (bits % 4096) as f64 / 64.0, 5e-324, 0.0, 9.9995, 0.05] {
                if !x.is_finite() {
                    continue;
                }
                let exact = Decimal::read(written(format_args!("{:.*e}", places, x.abs())).as_slice());
                assert_eq!(Decimal::significant(x, places + 1), exact, "{x:e} {places}");
            }
        }
    }

    #[test]
    fn complex_numbers() {
        for (re, im, want) in [
            (1.0, 2.0, "(1+2j)"),
            (0.0, 2.0, "2j"),
            (-0.0, -2.0, "(-0-2j)"),
            (0.0, f64::NAN, "nanj"),
            (f64::INFINITY, -0.0, "(inf-0j)"),
            (1e16, 1e-5, "(1e+16+1e-05j)"),
            (1.5, f64::INFINITY, "(1.5+infj)"),
        ] {
            assert_eq!(complex_repr(re, im), want);
        }
        assert_eq!(complex64_repr(0.1, 0.2), "(0.1+0.2j)");
    }

    #[test]
    fn strings() {
        for (s, want) in [
            ("abc", "'abc'"),
            ("it's", "\"it's\""),
            ("'\"", "'\\'\"'"),
            ("a\n\t\\\0\u{7f}", "'a\\n\\t\\\\\\x00\\x7f'"),
            ("é€😀", "'é€😀'"),
            ("\u{a0}\u{200b}\u{e000}", "'\\xa0\\u200b\\ue000'"),
        ] {
            assert_eq!(str_repr(s.as_ref()), want);
        }
    }
}
