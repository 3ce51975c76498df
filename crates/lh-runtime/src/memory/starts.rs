//! Places of the characters of a text, which the text's owner keeps.

use crate::text::{Text, size_from};

/// Characters from one to the next whose place is known.
pub(crate) const EVERY: usize = 4;
/// Characters whose places are stored together, so few that they take at most 256 bytes.
pub(crate) const BLOCK: usize = 64;

/// Where the characters of a text are.
#[derive(Debug)]
pub(crate) struct Starts {
    pub(crate) blocks: Vec<Block>,
    /// Number of characters.
    pub(crate) count: usize,
}

/// The byte that the first of [`BLOCK`] characters begins at, and how far behind it every [`EVERY`]th does.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) offsets: [u8; BLOCK / EVERY],
}

impl Starts {
    /// Those of a text.
    pub(crate) fn of(text: &Text) -> Starts {
        let mut blocks: Vec<Block> = Vec::with_capacity(text.len() / BLOCK / 2 + 1);
        let (mut count, mut at) = (0, 0);
        while let Some(first) = text.as_bytes().get(at) {
            if count % BLOCK == 0 {
                // The offset of no character is the largest.
                blocks.push(Block { start: at, offsets: [u8::MAX; BLOCK / EVERY] });
            }
            if let (0, Some(block)) = (count % EVERY, blocks.last_mut()) {
                block.offsets[count % BLOCK / EVERY] = (at - block.start) as u8;
            }
            count += 1;
            at += size_from(*first);
        }
        Starts { blocks, count }
    }
}
