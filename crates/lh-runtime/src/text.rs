//! Texts of compiled code as bytes: UTF-8 in which lone surrogates, which Python's texts may have, take three bytes as
//! other characters of their size do. Such bytes are no `str`; all else is as in UTF-8, the order of texts too.

use memchr::memmem;
use std::mem::MaybeUninit;
use std::ops::{Deref, Index, Range, RangeFrom, RangeTo};

/// A code point, which may be a surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point(u32);

impl Point {
    /// The code point of a number, if there is one.
    pub fn new(code: u32) -> Option<Point> {
        (code < 0x11_0000).then_some(Point(code))
    }
    /// The character, unless it is a surrogate.
    pub fn char(self) -> Option<char> {
        char::from_u32(self.0)
    }
    /// Number of bytes.
    pub fn size(self) -> usize {
        match self.0 {
            0..0x80 => 1,
            0x80..0x800 => 2,
            0x800..0x1_0000 => 3,
            _ => 4,
        }
    }
}

impl From<Point> for u32 {
    fn from(p: Point) -> u32 {
        p.0
    }
}

impl From<char> for Point {
    fn from(c: char) -> Point {
        Point(u32::from(c))
    }
}

/// So many times a part is looked for by one of its bytes.
const TRIALS: usize = 8;

/// A text.
#[repr(transparent)]
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text([u8]);

impl Text {
    /// The text that bytes are. Bytes of no text mean some code points.
    pub fn of(bytes: &[u8]) -> &Text {
        // SAFETY: the layout is that of the bytes.
        unsafe { &*(std::ptr::from_ref(bytes) as *const Text) }
    }
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// As UTF-8, unless it has surrogates.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
    /// With surrogates replaced.
    pub fn lossy(&self) -> String {
        let shown = |p: Point| p.char().unwrap_or(char::REPLACEMENT_CHARACTER);
        self.as_str().map_or_else(|| self.points().map(shown).collect(), str::to_owned)
    }
    pub fn to_ascii_lowercase(&self) -> TextBuf {
        TextBuf(self.0.to_ascii_lowercase())
    }
    pub fn to_ascii_uppercase(&self) -> TextBuf {
        TextBuf(self.0.to_ascii_uppercase())
    }
    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn is_ascii(&self) -> bool {
        self.0.is_ascii()
    }
    pub fn points(&self) -> Points<'_> {
        Points(&self.0)
    }
    /// Every code point with the byte that it begins at.
    pub fn places(&self) -> impl Iterator<Item = (usize, Point)> {
        let mut rest = self.points();
        std::iter::from_fn(move || {
            let at = self.len() - rest.0.len();
            Some((at, rest.next()?))
        })
    }
    /// Number of code points.
    pub fn count(&self) -> usize {
        let (words, rest) = self.0.as_chunks::<8>();
        let inner = inner_bytes(words);
        self.0.len() - inner - rest.iter().filter(|b| is_inner(**b)).count()
    }
    /// Writes each code point as a unit, of which there is room for [`Text::count`]. Mostly two or more of the same
    /// size follow each other.
    pub fn write_units<T: Copy>(&self, out: &mut [MaybeUninit<T>], unit: impl Fn(u32) -> T) {
        let mut rest = &self.0;
        for to in out {
            let point = match *rest {
                [first @ 0..0x80, ref others @ ..] => {
                    rest = others;
                    first.into()
                }
                [first @ 0x80..0xe0, second, ref others @ ..] => {
                    rest = others;
                    u32::from(first & 0x1f) << 6 | u32::from(second & 0x3f)
                }
                _ => {
                    let mut points = Points(rest);
                    let point = points.next();
                    rest = points.0;
                    point.map_or(0, u32::from)
                }
            };
            // Bytes that are no text may have fewer characters than were counted.
            to.write(unit(point));
        }
    }
    /// The first byte of the first occurrence of a part.
    pub fn find(&self, part: &Text) -> Option<usize> {
        Search::new(self, part).next(0)
    }
    /// The first byte of the last occurrence of a part.
    pub fn rfind(&self, part: &Text) -> Option<usize> {
        match part.as_bytes() {
            [one] => memchr::memrchr(*one, &self.0),
            part => memmem::rfind(&self.0, part),
        }
    }
    /// Where a part occurs, without overlaps; an empty one is between all characters.
    pub fn matches<'a>(&'a self, part: &'a Text) -> impl Iterator<Item = usize> + 'a {
        let mut search = Search::new(self, part);
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let at = search.next(from?)?;
            let step = match search.part.len() {
                0 => Points(&search.text[at..]).next().map(Point::size),
                n => Some(n),
            };
            from = step.map(|n| at + n);
            Some(at)
        })
    }
    /// Without the first and last code points of a kind.
    pub fn trimmed(&self, is_out: impl Fn(Point) -> bool) -> &Text {
        let size = |p: Point| if is_out(p) { Some(p.size()) } else { None };
        let begin: usize = self.points().map_while(size).sum();
        let rest = &self[begin..];
        &rest[..rest.len() - rest.points().rev().map_while(size).sum::<usize>()]
    }
}

/// Whether a byte is none that a character begins with.
fn is_inner(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Number of bytes in words that begin no character. Each byte of a sum counts at most so many as it can hold.
fn inner_bytes(words: &[[u8; 8]]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HALVES: u64 = 0x00ff_00ff_00ff_00ff;
    let count = |words: &[[u8; 8]]| {
        let sum = words.iter().fold(0, |sum, word| {
            let word = u64::from_le_bytes(*word);
            sum + ((word >> 7) & !(word >> 6) & ONES)
        });
        // The product's highest part is the sum of all parts.
        ((sum & HALVES) + (sum >> 8 & HALVES)).wrapping_mul(0x0001_0001_0001_0001) as usize >> 48
    };
    words.chunks(255).map(count).sum()
}

/// A search for a part. The last byte of one is looked for first, since of characters of one script the last bytes
/// differ most; a searcher, which takes longer to make than a near occurrence to find, is made when that has failed a
/// few times.
struct Search<'a> {
    text: &'a [u8],
    part: &'a [u8],
    trials: usize,
    finder: Option<memmem::Finder<'a>>,
}

impl<'a> Search<'a> {
    fn new(text: &'a Text, part: &'a Text) -> Search<'a> {
        Search { text: &text.0, part: &part.0, trials: TRIALS, finder: None }
    }
    /// Where the first occurrence from a byte on begins.
    fn next(&mut self, from: usize) -> Option<usize> {
        let Some((last, before)) = self.part.split_last() else { return Some(from) };
        let mut end = from + before.len();
        while self.trials > 0 {
            end += memchr::memchr(*last, self.text.get(end..)?)?;
            let begin = end - before.len();
            if self.text[begin..end] == *before {
                return Some(begin);
            }
            self.trials -= 1;
            end += 1;
        }
        let begin = end - before.len();
        let finder = self.finder.get_or_insert_with(|| memmem::Finder::new(self.part));
        finder.find(self.text.get(begin..)?).map(|at| begin + at)
    }
}

/// The code points of a text.
#[derive(Clone, Debug)]
pub struct Points<'a>(&'a [u8]);

impl<'a> Points<'a> {
    /// The bytes of those that are still to come.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl Iterator for Points<'_> {
    type Item = Point;
    #[inline]
    fn next(&mut self) -> Option<Point> {
        let (first, rest) = self.0.split_first()?;
        let (first, size) = (u32::from(*first), size_from(*first).min(self.0.len()));
        if size == 1 {
            self.0 = rest;
            return Some(Point(first & 0x7f));
        }
        let (inner, rest) = rest.split_at(size - 1);
        self.0 = rest;
        let lead = first & (0x7f >> size);
        let code = inner.iter().fold(lead, |code, b| code << 6 | u32::from(b & 0x3f));
        Some(Point(code.min(0x10_ffff)))
    }
}

impl DoubleEndedIterator for Points<'_> {
    fn next_back(&mut self) -> Option<Point> {
        let last = self.0.len().checked_sub(1)?;
        let first = (last.saturating_sub(3)..=last).rev().find(|at| !is_inner(self.0[*at])).unwrap_or(last);
        let (rest, point) = self.0.split_at(first);
        self.0 = rest;
        Points(point).next()
    }
}

/// Number of bytes of the character that begins with a byte.
#[inline]
pub(crate) fn size_from(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

macro_rules! indexed_by {
    ($($range:ty)*) => {$(
        impl Index<$range> for Text {
            type Output = Text;
            fn index(&self, range: $range) -> &Text {
                Text::of(&self.0[range])
            }
        }
    )*};
}

indexed_by! { Range<usize> RangeFrom<usize> RangeTo<usize> }

impl AsRef<Text> for Text {
    fn as_ref(&self) -> &Text {
        self
    }
}

impl AsRef<Text> for str {
    fn as_ref(&self) -> &Text {
        Text::of(self.as_bytes())
    }
}

impl AsRef<Text> for String {
    fn as_ref(&self) -> &Text {
        Text::of(self.as_bytes())
    }
}

impl ToOwned for Text {
    type Owned = TextBuf;
    fn to_owned(&self) -> TextBuf {
        TextBuf(self.0.to_vec())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

/// A text that can be added to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBuf(Vec<u8>);

impl TextBuf {
    /// An empty text.
    pub const fn new() -> TextBuf {
        TextBuf(Vec::new())
    }
    /// An empty text with room for so many bytes, if there is memory.
    pub fn with_room(bytes: usize) -> Option<TextBuf> {
        let mut bytes_of = Vec::new();
        bytes_of.try_reserve_exact(bytes).is_ok().then_some(TextBuf(bytes_of))
    }
    pub fn push(&mut self, point: impl Into<Point>) {
        let Point(code) = point.into();
        let inner = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
        match code {
            0..0x80 => self.0.push(code as u8),
            0x80..0x800 => self.0.extend([0xc0 | (code >> 6) as u8, inner(0)]),
            0x800..0x1_0000 => self.0.extend([0xe0 | (code >> 12) as u8, inner(6), inner(0)]),
            _ => self.0.extend([0xf0 | (code >> 18) as u8, inner(12), inner(6), inner(0)]),
        }
    }
    /// Adds the same character several times.
    pub fn push_several(&mut self, point: Point, times: usize) {
        match u32::from(point) {
            code @ 0..0x80 => self.0.resize(self.0.len() + times, code as u8),
            _ => (0..times).for_each(|_| self.push(point)),
        }
    }
    pub fn push_text(&mut self, text: impl AsRef<Text>) {
        self.0.extend_from_slice(text.as_ref().as_bytes());
    }
    /// Adds a byte of ASCII.
    pub fn push_byte(&mut self, byte: u8) {
        self.0.push(byte);
    }
    /// Adds a character of two bytes.
    pub fn push_pair(&mut self, bytes: [u8; 2]) {
        self.0.extend_from_slice(&bytes);
    }
}

impl Deref for TextBuf {
    type Target = Text;
    fn deref(&self) -> &Text {
        Text::of(&self.0)
    }
}

impl AsRef<Text> for TextBuf {
    fn as_ref(&self) -> &Text {
        self
    }
}

impl std::borrow::Borrow<Text> for TextBuf {
    fn borrow(&self) -> &Text {
        self
    }
}

impl<P: Into<Point>> Extend<P> for TextBuf {
    fn extend<I: IntoIterator<Item = P>>(&mut self, points: I) {
        points.into_iter().for_each(|p| self.push(p));
    }
}

impl<P: Into<Point>> FromIterator<P> for TextBuf {
    fn from_iter<I: IntoIterator<Item = P>>(points: I) -> TextBuf {
        let mut out = TextBuf::default();
        out.extend(points);
        out
    }
}

impl std::fmt::Write for TextBuf {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        self.push_text(s);
        Ok(())
    }
}

impl From<&str> for TextBuf {
    fn from(s: &str) -> TextBuf {
        TextBuf(s.as_bytes().to_vec())
    }
}

impl From<String> for TextBuf {
    fn from(s: String) -> TextBuf {
        TextBuf(s.into_bytes())
    }
}

impl PartialEq<str> for TextBuf {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for TextBuf {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(codes: &[u32]) -> TextBuf {
        codes.iter().map(|c| Point::new(*c).unwrap()).collect()
    }

    #[test]
    fn surrogates_are_characters() {
        let codes = [0x61, 0xd83d, 0xde00, 0x1_f600, 0xe9, 0x20ac, 0xdfff];
        let text = points(&codes);
        assert_eq!(text.points().map(u32::from).collect::<Vec<_>>(), codes);
        assert_eq!((text.count(), text.as_str()), (7, None));
        assert_eq!(text.lossy(), "a\u{fffd}\u{fffd}\u{1f600}é€\u{fffd}");
        assert_eq!(text.find(&points(&[0xde00])), Some(4));
        assert!(*points(&[0xd7ff]) < *points(&[0xd800]) && *points(&[0xdfff]) < *points(&[0xe000]));
    }

    #[test]
    fn units_are_the_code_points() {
        for part in ["a", "é", "éa", "aé", "abcdefgh", "ñabcdefgh", "α β", "€", "a\u{1f600}é", "漢字 kanji"]
        {
            for times in [0, 1, 2, 7, 8, 9, 40, 300] {
                let text = part.repeat(times);
                let text: &Text = text.as_ref();
                assert_eq!(text.count(), text.points().count());
                let mut units = vec![MaybeUninit::uninit(); text.count()];
                text.write_units(&mut units, |unit| unit);
                // SAFETY: all units were written.
                let units: Vec<u32> = units.into_iter().map(|unit| unsafe { unit.assume_init() }).collect();
                assert_eq!(units, text.points().map(u32::from).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn bytes_that_are_no_text_have_characters() {
        for bytes in [&b"\xff"[..], b"\xe2\x82", b"\x80\x80", b"\xf0\x9f\x98", b"\xf7\xbf\xbf\xbf"] {
            let _ = Text::of(bytes).points().count();
            let _ = Text::of(bytes).lossy();
            let mut units = vec![MaybeUninit::uninit(); Text::of(bytes).count()];
            Text::of(bytes).write_units(&mut units, |unit| unit);
        }
    }

    #[test]
    fn occurrences() {
        let all = |s: &str, part: &str| {
            let (s, part): (&Text, &Text) = (s.as_ref(), part.as_ref());
            s.matches(part).collect::<Vec<_>>()
        };
        assert_eq!(all("aaa", "aa"), [0]);
        assert_eq!(all("éa", ""), [0, 2, 3]);
        assert_eq!(all("", ""), [0]);
        assert_eq!(all("abab", "b"), [1, 3]);
        let found = |s: &str, part: &str| AsRef::<Text>::as_ref(s).find(part.as_ref());
        let long = "ab".repeat(30) + "xb";
        for part in ["", "a", "ab", "ba", "xb", "bab", "abx", "abxb", "bb", "é", &long, "babxb"] {
            for s in ["", "b", &long, "é", "aé"] {
                assert_eq!(found(s, part), s.find(part), "{part:?} in {s:?}");
            }
        }
        let trimmed: &Text = "  é ".as_ref();
        assert_eq!(trimmed.trimmed(|p| p == ' '.into()), AsRef::<Text>::as_ref("é"));
    }
}
