//! Ints among floats in containers of containers, which become floats, as in NumPy's arrays of such.
//!
//! The words of an item are replaced where the container is: both types take eight bytes, so that no layout changes.

use crate::call::copied::{AllCopied, Copied};
use crate::call::decode::Decoder;
use crate::call::item::Item;
use crate::call::tags::{Refused, first_tags, joined, kind, merged, tags_of_one};
use crate::object::words::{read_prim, write_prim};
use hashbrown::HashMap;
use lh_ir::{Ty, TyKind};
use lh_runtime::items::ItemsRef;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// The words that are ints in values of one type and floats in values of another one, with the type of each.
pub struct Recast(Vec<(usize, Ty)>);

impl Recast {
    /// Those of values one after the other.
    pub fn new(from: &[Ty], to: &[Ty]) -> Recast {
        let (from, to) = (leaves(from), leaves(to));
        let pairs = from.into_iter().zip(to).enumerate();
        Recast(
            pairs.filter(|(_, (from, to))| from.is_int() && to.is_float()).map(|(at, (from, _))| (at, from)).collect(),
        )
    }

    /// Converts a value's words.
    pub fn words(&self, words: &mut [u64]) {
        self.0.iter().for_each(|(at, from)| words[*at] = float(*from, words[*at]));
    }

    /// Converts the items of a native list or table.
    pub fn items(&self, item: &Item, list: &ItemsRef) {
        if !list.is_empty() {
            // SAFETY: the list has items of this layout.
            unsafe { self.memory(item, (*list.as_ptr()).mem.data, list.len()) };
        }
    }

    /// Converts items in memory.
    ///
    /// # Safety
    /// So many items of the layout lie there, one after the other.
    unsafe fn memory(&self, item: &Item, at: *mut u8, count: usize) {
        for i in 0..count {
            for (word, from) in &self.0 {
                // SAFETY: as promised.
                unsafe {
                    let (at, prim) = (at.add(i * item.size + item.offsets[*word]), item.prims[*word]);
                    write_prim(at, prim, float(*from, read_prim(at, prim)));
                }
            }
        }
    }
}

/// The types that tags say, one after the other.
pub fn types(py: Python<'_>, mut tags: &[u64]) -> Vec<Ty> {
    let mut all = Vec::new();
    while !tags.is_empty() {
        let (own, rest) = tags.split_at(tags_of_one(tags));
        all.push(Decoder::new(py, own).next_ty());
        tags = rest;
    }
    all
}

/// The types of values' words.
fn leaves(types: &[Ty]) -> Vec<Ty> {
    let of_one = |t: &Ty| match t.kind() {
        TyKind::Tuple { elems, .. } => leaves(elems),
        _ => vec![*t; t.flatten().len()],
    };
    types.iter().flat_map(of_one).collect()
}

/// The bits of the float that an int of 64 bits is.
fn float(from: Ty, word: u64) -> u64 {
    let value = if from.is_signed() { word.cast_signed() as f64 } else { word as f64 };
    value.to_bits()
}

/// Where the items of a container that is being imported have their tags and words in the buffer.
pub struct Joint {
    /// The first tag of the items so far.
    pub tags: usize,
    /// The end of these tags, behind which those of the next item are.
    pub end: usize,
    /// The first word of the next item.
    pub slots: usize,
    /// The number of leading types that must agree: keys, and items of sets.
    pub fixed: usize,
    /// Whether ints met floats.
    pub is_joined: bool,
}

impl Joint {
    /// Joins the tags of the next item with those of the items before it, and converts its words. Returns the types of
    /// all, if those of the items before it change.
    pub fn join(
        &mut self,
        py: Python<'_>,
        tags: &mut SmallVec<[u64; 24]>,
        slots: &mut [u64],
    ) -> Result<Option<Vec<Ty>>, Refused> {
        let (first, this) = tags[self.tags..].split_at(self.end - self.tags);
        if first == this {
            tags.truncate(self.end);
            return Ok(None);
        }
        // Where only items of empty containers were unknown, no container changes.
        self.is_joined |= merged(first, this).is_none();
        let (own, others) = (first_tags(first, self.fixed), first_tags(this, self.fixed));
        let mut both = merged(&first[..own], &this[..others]).ok_or(Refused::MixedList)?;
        if own < first.len() {
            both.extend_from_slice(&joined(&first[own..], &this[others..]).ok_or(Refused::MixedList)?);
        }
        let all = types(py, &both);
        Recast::new(&types(py, this), &all).words(&mut slots[self.slots..]);
        let changes = both[..] != *first;
        tags.truncate(self.tags);
        tags.extend_from_slice(&both);
        self.end = tags.len();
        Ok(changes.then_some(all))
    }
}

/// Makes ints floats in the containers of values, where their tags, joined with those of other values, say so.
struct Widening<'a, 'py> {
    py: Python<'py>,
    copies: &'a mut [Copied],
    /// Those of the container that is being imported, by their native objects. Earlier copies belong to other values,
    /// too, and stay as they are.
    places: HashMap<usize, usize>,
}

impl AllCopied {
    /// The same for all items of a native list or table, whose containers were copied from `since` on.
    pub fn widen(
        &mut self,
        py: Python<'_>,
        (list, item): (&ItemsRef, &Item),
        tags: &[u64],
        since: usize,
    ) -> Result<(), Refused> {
        let copies = self.as_mut_slice();
        let own = copies.iter().enumerate().skip(since);
        let places = own.map(|(at, c)| (c.list.as_ptr().addr(), at)).collect();
        let mut widening = Widening { py, copies, places };
        // If one list is at several places in the container, the second time tells whether these agree.
        widening.items(list, item, tags)?;
        widening.items(list, item, tags)
    }
}

impl Widening<'_, '_> {
    fn items(&mut self, list: &ItemsRef, item: &Item, tags: &[u64]) -> Result<(), Refused> {
        if item.mask == 0 {
            return Ok(());
        }
        // The entries of tables begin with a mark.
        let skipped = item.prims.len() - leaves(&types(self.py, tags)).len();
        for i in 0..list.len() {
            // SAFETY: an item of the native list.
            let words = unsafe { item.slots(list.item(i)) };
            self.parts(&words[skipped..], tags)?;
        }
        Ok(())
    }

    fn parts(&mut self, mut words: &[u64], mut tags: &[u64]) -> Result<(), Refused> {
        while !tags.is_empty() {
            let (own, rest) = tags.split_at(tags_of_one(tags));
            let width = Decoder::new(self.py, own).next_ty().flatten().len();
            match own[0] & 0xff {
                kind::TUPLE => self.parts(&words[..width], &own[1..])?,
                kind::NAMED => self.parts(&words[..width], &own[2..])?,
                kind::LIST | kind::DICT | kind::SET => self.container(words[0], own)?,
                _ => {}
            }
            (words, tags) = (&words[width..], rest);
        }
        Ok(())
    }

    fn container(&mut self, native: u64, tags: &[u64]) -> Result<(), Refused> {
        let Some(at) = self.places.get(&(native as usize)) else {
            let earlier = self.copies.iter().find(|c| c.list.as_ptr().addr() == native as usize);
            let agrees = earlier.is_some_and(|c| c.list.is_empty() || c.tags[..] == tags[1..]);
            return if agrees { Ok(()) } else { Err(Refused::MixedList) };
        };
        let copied = &mut self.copies[*at];
        if copied.list.is_empty() {
            return Ok(());
        }
        let layout = |tags: &[u64]| Item::new(items_of(Decoder::new(self.py, tags).next_ty())).ok_or(Refused::Type);
        let (before, item) = ([&tags[..1], &copied.tags].concat(), layout(tags)?);
        if before != tags {
            if joined(&before, tags).is_none_or(|both| both[..] != *tags) {
                return Err(Refused::MixedList);
            }
            let old = layout(&before)?;
            let recast = Recast::new(&[old.ty], &[item.ty]);
            recast.items(&old, &copied.list);
            let count = copied.before.len() / old.size.max(1);
            // SAFETY: the bytes that the items had when they were copied.
            unsafe { recast.memory(&old, copied.before.as_mut_ptr(), count) };
            copied.tags = tags[1..].into();
        }
        let list = copied.list.clone();
        self.items(&list, &item, &tags[1..])
    }
}

/// The type of what a list or a table holds, with the mark of a table's entries.
fn items_of(ty: Ty) -> Ty {
    ty.as_list().or_else(|| ty.items()).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no container"))
}
