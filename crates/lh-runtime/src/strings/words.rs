//! Cutting a text into parts: at white space, or at a separator.
//!
//! ASCII is looked at 64 bytes at a time: each word of eight gives the top bits of the bytes that are meant.

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

/// The bytes of a word of ASCII at which lines end, as top bits.
fn ends_of_lines(word: u64) -> u64 {
    let from = |byte: u64| word + ONES * (0x80 - byte);
    ((from(10) & !from(14)) | (from(28) & !from(31))) & TOPS
}

/// The places of an ASCII text at which lines end, while they are taken; whether all were.
pub(super) fn line_ends(s: &[u8], mut take: impl FnMut(usize) -> bool) -> bool {
    for first in (0..s.len()).step_by(64) {
        let mut found = bits(&s[first..], b' ', ends_of_lines);
        while found != 0 {
            if !take(first + next_place(&mut found)) {
                return false;
            }
        }
    }
    true
}

/// The bytes of a word that are equal to those of another, as top bits.
fn equal(word: u64, to: u64) -> u64 {
    let x = word ^ to;
    !(((x & !TOPS) + !TOPS) | x) & TOPS
}

/// The first 64 bytes as bits, by their top bits in words. Behind the last byte there are others.
fn bits(bytes: &[u8], behind: u8, found: impl Fn(u64) -> u64) -> u64 {
    // Each of the eight bits is moved to its place in the top byte of the product.
    let gathered = |word: u64| (found(word) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let word = |eight: &[u8]| u64::from_le_bytes(eight.try_into().expect("eight bytes"));
    let all = |bytes: &[u8; 64]| (0..8).fold(0, |all, i| all | gathered(word(&bytes[8 * i..8 * i + 8])) << (8 * i));
    if let Some(bytes) = bytes.first_chunk() {
        return all(bytes);
    }
    let mut padded = [behind; 64];
    padded[..bytes.len()].copy_from_slice(bytes);
    all(&padded)
}

/// Takes the place of the first bit out of a word.
fn next_place(found: &mut u64) -> usize {
    let at = found.trailing_zeros() as usize;
    *found &= *found - 1;
    at
}

/// The parts of an ASCII text between runs of white space, while they are taken.
pub(super) fn ascii_words(s: &[u8], mut take: impl FnMut(Range<usize>) -> bool) {
    let (mut before, mut begin) = (1, None);
    for first in (0..s.len() + 1).step_by(64) {
        let now = bits(&s[first..], b' ', spaces);
        // White space begins or ends: beginnings and ends of parts take turns.
        let mut changes = now ^ (now << 1 | before);
        before = now >> 63;
        while changes != 0 {
            let from = begin.take().unwrap_or_else(|| first + next_place(&mut changes));
            if changes == 0 {
                begin = Some(from);
            } else if !take(from..first + next_place(&mut changes)) {
                return;
            }
        }
    }
}

/// The parts of a text between single bytes, while they are taken, after at most `cuts` cuts.
pub(super) fn cut_at_byte(s: &[u8], separator: u8, cuts: usize, mut take: impl FnMut(Range<usize>) -> bool) {
    let (mut begin, mut left) = (0, cuts);
    'cutting: for first in (0..s.len()).step_by(64) {
        let mut found = bits(&s[first..], !separator, |word| equal(word, ONES * u64::from(separator)));
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
        let long = ["a b".repeat(40), "x".repeat(64), " y".repeat(32), format!("{} z", "x".repeat(63))];
        let mut texts =
            vec!["", " ", "a", "  a  b\tc ", "eight888", "eight888 nine99999", "\x1c\x1fab\x0b\x0c\r\ncd\x08\x0e\x1b!"];
        texts.extend(long.iter().map(String::as_str));
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
        let long = "ab,c".repeat(50);
        for (s, cuts) in
            [("a,é,,b", 9), ("", 9), (",", 9), ("ab,cd,ef,gh,ij,", 9), ("a,b,c", 1), ("a,b", 0), (long.as_str(), 999)]
        {
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
