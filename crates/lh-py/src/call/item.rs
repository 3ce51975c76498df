//! Items of native lists and tables, and fields of native objects, in memory.

use crate::object::words::{read_prim, write_prim};
use lh_ir::Ty;
use lh_ir::types::Prim;
use smallvec::SmallVec;
use std::ops::Range;

/// The layout of an item in memory.
pub struct Item {
    /// Type.
    pub ty: Ty,
    /// Its words.
    pub prims: Vec<Prim>,
    /// Where they lie.
    pub offsets: Vec<usize>,
    /// Size in bytes.
    pub size: usize,
    /// The 8-byte words that are reference-counted, as a mask.
    pub mask: u64,
}

impl Item {
    /// The layout of items of a type; `None` if lists cannot hold them.
    pub fn new(ty: Ty) -> Option<Item> {
        let prims = ty.flatten();
        let (offsets, size, _) = ty.mem_layout();
        let mut mask = 0u64;
        for (p, at) in prims.iter().zip(&offsets) {
            if p.is_counted() {
                mask |= 1u64.checked_shl(u32::try_from(at / 8).ok()?)?;
            }
        }
        Some(Item { ty, prims, offsets, size, mask })
    }
    /// Of entries of tables: without the mark, at the same places.
    pub fn tail(&self) -> Item {
        let (prims, offsets) = (self.prims[1..].to_vec(), self.offsets[1..].to_vec());
        Item { ty: self.ty, prims, offsets, size: self.size, mask: self.mask }
    }
    /// Writes the words of a value.
    ///
    /// # Safety
    /// There is room for it.
    pub unsafe fn write(&self, at: *mut u8, words: &[u64]) {
        for ((p, offset), word) in self.prims.iter().zip(&self.offsets).zip(words) {
            // SAFETY: as promised by the caller.
            unsafe { write_prim(at.add(*offset), *p, *word) };
        }
    }
    /// Slots of the item at an address.
    ///
    /// # Safety
    /// An item of this type lies there.
    pub unsafe fn slots(&self, at: *const u8) -> SmallVec<[u64; 8]> {
        // SAFETY: as promised by the caller.
        unsafe { self.words(at, 0..self.prims.len()) }
    }
    /// Some of them.
    ///
    /// # Safety
    /// An item of this type lies there.
    pub unsafe fn words(&self, at: *const u8, range: Range<usize>) -> SmallVec<[u64; 8]> {
        let words = self.prims[range.clone()].iter().zip(&self.offsets[range]);
        // SAFETY: as promised by the caller.
        words.map(|(p, o)| unsafe { read_prim(at.add(*o), *p) }).collect()
    }
}
