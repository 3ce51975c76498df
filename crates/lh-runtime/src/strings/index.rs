//! Where the characters of a text are. Those of long texts that are not ASCII are found by a table of every 32nd, made
//! when it is first asked for. It belongs to the text's owner, so that it serves all parts of the text.

use crate::memory::alloc::{MemInfo, foreign_text};
use lh_ir::consts::ASCII;

/// Texts of so many bytes are looked through.
pub const SHORT: usize = 128;

const EVERY: usize = 32;

/// A text, and the bytes that every 32nd character begins at.
struct Whole<'a>(&'a str, &'a [usize]);

impl<'a> Whole<'a> {
    /// The text that a part is of, and the byte that the part begins at.
    unsafe fn of(mem: *mut MemInfo, part: &str) -> Option<(Whole<'a>, usize)> {
        // SAFETY: the caller passes a live string's owner, or null.
        let (text, starts) = if part.len() <= SHORT { None } else { unsafe { foreign_text(mem) } }?;
        let starts = starts.get_or_init(|| text.char_indices().map(|(at, _)| at).step_by(EVERY).collect());
        Some((Whole(text, starts), (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?))
    }
    fn characters_before(&self, byte: usize) -> usize {
        // Most are asked of whole texts.
        let k = if byte == 0 { 0 } else { self.1.partition_point(|b| *b <= byte) - 1 };
        k * EVERY + self.0[self.1[k]..byte].chars().count()
    }
    fn byte_of(&self, character: usize) -> usize {
        self.1.get(character / EVERY).map_or(self.0.len(), |start| start + scan(&self.0[*start..], character % EVERY))
    }
}

fn scan(s: &str, index: usize) -> usize {
    let mut chars = s.chars();
    if index > 0 {
        chars.nth(index - 1);
    }
    s.len() - chars.as_str().len()
}

/// Byte position of a code point.
///
/// # Safety
/// `part` is a live string, or a part of one, that is owned by `mem` and whose number of bytes is `n`.
pub(crate) unsafe fn byte_of(mem: *mut MemInfo, part: &str, n: i64, index: usize) -> usize {
    if n & ASCII != 0 || part.len() <= index {
        return index.min(part.len());
    }
    // SAFETY: the caller's promise.
    match if index < EVERY { None } else { unsafe { Whole::of(mem, part) } } {
        Some((whole, at)) => (whole.byte_of(whole.characters_before(at) + index) - at).min(part.len()),
        None => scan(part, index),
    }
}

/// Number of code points.
///
/// # Safety
/// As of [`byte_of`].
pub(crate) unsafe fn char_count(mem: *mut MemInfo, part: &str, n: i64) -> usize {
    // SAFETY: the caller's promise.
    match if n & ASCII != 0 { return part.len() } else { unsafe { Whole::of(mem, part) } } {
        Some((whole, at)) => whole.characters_before(at + part.len()) - whole.characters_before(at),
        None => part.chars().count(),
    }
}
