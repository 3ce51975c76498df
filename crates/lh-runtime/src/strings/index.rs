//! Where the characters of a text are. Those of long texts that are not ASCII are found by a table of every fourth,
//! made when it is first asked for. It belongs to the text's owner, so that it serves all parts of the text.

use crate::memory::alloc::{MemInfo, foreign_text};
use crate::memory::starts::{BLOCK, EVERY, Starts};
use crate::text::{Text, size_from};
use lh_ir::consts::ASCII;

/// Texts of so many bytes are looked through.
pub const SHORT: usize = 128;

/// Characters of so many bytes are counted each time that their number is asked for.
const COUNTED: usize = 4096;

/// A text and its characters, which it has some of.
struct Whole<'a>(&'a Text, &'a Starts);

impl<'a> Whole<'a> {
    /// The text that a part is of, and the byte that the part begins at.
    unsafe fn of(mem: *mut MemInfo, part: &Text) -> Option<(Whole<'a>, usize)> {
        // SAFETY: the caller passes a live string's owner, or null.
        let (text, starts) = if part.len() <= SHORT { None } else { unsafe { foreign_text(mem) } }?;
        let starts = starts.get_or_init(|| Starts::of(text));
        Some((Whole(text, starts), address(part).checked_sub(address(text))?))
    }
    fn characters_before(&self, byte: usize) -> usize {
        let Whole(text, starts) = self;
        // Most are asked of whole texts.
        if byte == 0 {
            return 0;
        }
        if byte == text.len() {
            return starts.count;
        }
        let k = starts.blocks.partition_point(|b| b.start <= byte) - 1;
        let block = &starts.blocks[k];
        let within = byte - block.start;
        // Offsets are at most 240: those of no character are beyond all places of their block, which is not full.
        let known = block.offsets[1..].iter().filter(|o| usize::from(**o) <= within).count();
        let begin = block.start + usize::from(block.offsets[known]);
        k * BLOCK + known * EVERY + text[begin..byte].count()
    }
    fn byte_of(&self, character: usize) -> usize {
        let Whole(text, starts) = self;
        if character >= starts.count {
            return text.len();
        }
        let block = &starts.blocks[character / BLOCK];
        let known = block.start + usize::from(block.offsets[character % BLOCK / EVERY]);
        known + scan(&text[known..], character % EVERY)
    }
}

fn address(text: &Text) -> usize {
    text.as_bytes().as_ptr() as usize
}

/// Parts of fewer characters are looked through to find their ends.
pub(crate) const NEAR: usize = 12;

/// The byte that a character begins at, or the number of bytes if there are fewer characters.
pub(crate) fn scan(s: &Text, index: usize) -> usize {
    let bytes = s.as_bytes();
    let mut at = 0;
    for _ in 0..index {
        let Some(first) = bytes.get(at) else { break };
        at += size_from(*first);
    }
    at.min(bytes.len())
}

/// Byte position of a code point.
///
/// # Safety
/// `part` is a live string, or a part of one, that is owned by `mem` and whose number of bytes is `n`.
pub(crate) unsafe fn byte_of(mem: *mut MemInfo, part: &Text, n: i64, index: usize) -> usize {
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
pub(crate) unsafe fn char_count(mem: *mut MemInfo, part: &Text, n: i64) -> usize {
    // Counting takes less time than a table, which this alone does not make for them.
    if part.len() <= COUNTED && n & ASCII == 0 {
        return part.count();
    }
    // SAFETY: the caller's promise.
    match if n & ASCII != 0 { return part.len() } else { unsafe { Whole::of(mem, part) } } {
        Some((whole, at)) => whole.characters_before(at + part.len()) - whole.characters_before(at),
        None => part.count(),
    }
}
