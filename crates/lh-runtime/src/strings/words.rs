//! Cutting a text into parts: at white space, or at a separator.
//!
//! ASCII is looked at eight bytes at a time: a word of memory gives a word with the top bit of each byte that is meant.

use crate::strings::parse_number::is_space;
use crate::text::{Point, Text};
use std::ops::Range;

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = ONES << 7;

/// The bytes of a word of ASCII that are white space, as top bits.
fn spaces(word: u64) -> u64 {
    let from = |byte: u64| word + ONES * (0x80 - byte);
    ((from(9) & !from(14)) | (from(28) & !from(33))) & TOPS
}

/// The bytes of a word that are equal to those of another, as top bits.
fn equal(word: u64, to: u64) -> u64 {
    let x = word ^ to;
    !(((x & !TOPS) + !TOPS) | x) & TOPS
}

/// The bytes in words; those behind the last are of another value.
fn words_of(bytes: &[u8], behind: u8) -> impl Iterator<Item = (usize, u64)> {
    let chunks = bytes.chunks_exact(8);
    let mut last = [behind; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    let full = chunks.map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes")));
    full.chain([u64::from_le_bytes(last)]).enumerate().map(|(i, word)| (8 * i, word))
}

/// Takes the place of the first top bit out of a word.
fn next_place(found: &mut u64) -> usize {
    let at = found.trailing_zeros() as usize / 8;
    *found &= *found - 1;
    at
}

/// The parts of an ASCII text between runs of white space, while they are taken.
pub(super) fn ascii_words(s: &[u8], mut take: impl FnMut(Range<usize>) -> bool) {
    let (mut before, mut begin) = (TOPS, None);
    for (first, word) in words_of(s, b' ') {
        let now = spaces(word);
        // White space begins or ends: beginnings and ends of parts take turns.
        let mut changes = now ^ (now << 8 | before >> 56);
        before = now;
        while changes != 0 {
            let at = first + next_place(&mut changes);
            match begin.take() {
                None => begin = Some(at),
                Some(begin) if take(begin..at) => {}
                Some(_) => return,
            }
        }
    }
}

/// The parts of a text between single bytes, while they are taken, after at most `cuts` cuts.
pub(super) fn cut_at_byte(s: &[u8], separator: u8, cuts: usize, mut take: impl FnMut(Range<usize>) -> bool) {
    let mut begin = 0;
    let mut left = cuts;
    'cutting: for (first, word) in words_of(s, !separator) {
        let mut found = equal(word, ONES * u64::from(separator));
        while found != 0 {
            if left == 0 {
                break 'cutting;
            }
            left -= 1;
            let at = first + next_place(&mut found);
            if !take(begin..at) {
                return;
            }
            begin = at + 1;
        }
    }
    take(begin..s.len());
}

/// The parts of a text between a separator of several bytes, after at most `cuts` cuts.
pub(super) fn cut<'a>(s: &'a Text, separator: &'a Text, cuts: usize) -> impl Iterator<Item = Range<usize>> {
    let mut ends = s.matches(separator).take(cuts);
    let mut begin = Some(0);
    std::iter::from_fn(move || {
        let from = begin?;
        let end = ends.next();
        begin = end.map(|at| at + separator.len());
        Some(from..end.unwrap_or(s.len()))
    })
}

/// The parts of a text between white space, after at most `cuts` cuts.
pub(super) fn words(s: &Text, cuts: usize) -> impl Iterator<Item = Range<usize>> {
    let first = |from: usize, of_kind: bool| {
        let is_found = |(_, p): &(usize, Point)| is_space(*p) == of_kind;
        s[from..].places().find(is_found).map(|(at, _)| from + at)
    };
    let (mut from, mut left) = (0, cuts);
    std::iter::from_fn(move || {
        let begin = first(from, false)?;
        let end = if left == 0 { None } else { first(begin, true) }.unwrap_or(s.len());
        left = left.saturating_sub(1);
        from = end;
        Some(begin..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_words(s: &str) -> Vec<&str> {
        let mut parts = Vec::new();
        ascii_words(s.as_bytes(), |range| {
            parts.push(&s[range]);
            true
        });
        parts
    }

    #[test]
    fn words_between_white_space() {
        let texts =
            ["", " ", "a", "  a  b\tc ", "eight888", "eight888 nine99999", "\x1c\x1fab\x0b\x0c\r\ncd\x08\x0e\x1b!"];
        for s in texts {
            let want: Vec<&str> = s.split(|c: char| is_space(c.into())).filter(|w| !w.is_empty()).collect();
            assert_eq!(by_words(s), want, "{s:?}");
            let slow: Vec<&str> = words(s.as_ref(), usize::MAX).map(|r| &s[r]).collect();
            assert_eq!(slow, want, "{s:?}");
        }
        assert_eq!(words("  a  b c ".as_ref(), 1).collect::<Vec<_>>(), [2..3, 5..9]);
    }

    #[test]
    fn parts_between_bytes() {
        for (s, cuts) in [("a,é,,b", 9), ("", 9), (",", 9), ("ab,cd,ef,gh,ij,", 9), ("a,b,c", 1), ("a,b", 0)] {
            let mut parts = Vec::new();
            cut_at_byte(s.as_bytes(), b',', cuts, |range| {
                parts.push(&s[range]);
                true
            });
            assert_eq!(parts, s.splitn(cuts + 1, ',').collect::<Vec<_>>(), "{s:?}");
            let long: Vec<_> = cut(s.as_ref(), ",".as_ref(), cuts).map(|r| &s[r]).collect();
            assert_eq!(long, parts);
        }
    }
}
