//! The index of a hash table: `python/lancehead/lib/tables.py` describes tables and looks up keys; here the index is
//! made, once for keys of all types, since code that each program compiles for its own keys costs more time than it
//! saves.

use crate::classes::MEMORY_ERROR;
use crate::exception::raise;
use crate::items::Items;
use crate::memory::alloc::{MemInfo, decref, new_block, no_memory};
use crate::symbol::{Symbol, functions};
use lh_ir::class::layout;

/// The multiplier that spreads hashes: the golden ratio.
pub const GOLDEN: u64 = 11_400_714_819_323_198_485;
/// Of the code of a key: it is a signed integer.
pub const SIGNED: i64 = 16;
/// Of the code of a key: it is a number with a point.
pub const FLOAT: i64 = 32;
/// In place of the code of a key: no entry gets into the index.
const EMPTY: i64 = -1;

/// The fields of a table, behind the header of its object.
#[repr(C)]
struct Fields {
    memory: *mut MemInfo,
    index: *mut i32,
    mask: i64,
    shift: i64,
    filled: i64,
    live: i64,
    first: i64,
}

/// Why a table has no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoIndex {
    /// There are more keys than numbers of entries.
    TooMany,
    /// There is no memory for so many bytes.
    NoMemory(usize),
}

/// Makes the index of a table anew, with at least half of so many places, and closes the gaps between its entries.
///
/// The code of a key says what its hash is: 0 for the mark of its entry. Other keys are compared themselves, and their
/// hash is their value: the code is the size of a key in bytes, plus [`SIGNED`] or [`FLOAT`].
///
/// # Safety
/// The object is a table whose keys have this code; nobody else uses it.
pub unsafe fn make_index(table: *mut Items, twice: i64, code: i64) -> Result<(), NoIndex> {
    let mut bits = 3;
    while bits <= 32 && 2 << bits < twice {
        bits += 1;
    }
    if bits > 32 {
        return Err(NoIndex::TooMany);
    }
    let owner = new_block(4 << bits, true);
    if owner.is_null() {
        return Err(NoIndex::NoMemory(4 << bits));
    }
    // SAFETY: the caller passes a table, whose fields follow its header; the block is fresh and has so many places.
    unsafe {
        let fields = &mut *table.byte_add(layout::ENTRIES_FIELDS).cast::<Fields>();
        let places = std::slice::from_raw_parts_mut((*owner).data.cast::<i32>(), 1 << bits);
        fields.filled = 0;
        fields.first = 0;
        if code != EMPTY {
            close_gaps(&mut *table, fields.live);
            fill(&*table, places, 64 - bits, code);
            fields.filled = fields.live;
        }
        let old = std::mem::replace(&mut fields.memory, owner);
        fields.index = places.as_mut_ptr();
        fields.mask = places.len() as i64 - 1;
        fields.shift = i64::from(64 - bits);
        if !old.is_null() {
            decref(old);
        }
    }
    Ok(())
}

/// Makes the index of a table whose entries have just been written: so many, all of which exist.
///
/// # Safety
/// As [`make_index`]; no index was made before.
pub unsafe fn make_first_index(table: *mut Items, code: i64) -> Result<(), NoIndex> {
    // SAFETY: as promised; the fields of a table follow its header.
    unsafe {
        let live = (*table).len;
        (*table.byte_add(layout::ENTRIES_FIELDS).cast::<Fields>()).live = live;
        make_index(table, 6 * (live + 1), code)
    }
}

/// The number of entries that exist.
///
/// # Safety
/// The object is a table, which nobody changes meanwhile.
pub unsafe fn live(table: *const Items) -> usize {
    // SAFETY: as promised; the fields of a table follow its header.
    unsafe { (*table.byte_add(layout::ENTRIES_FIELDS).cast::<Fields>()).live as usize }
}

/// Moves the entries that exist to the beginning: the mark of another is 0, and it owns nothing.
unsafe fn close_gaps(table: &mut Items, live: i64) {
    if table.len == live {
        return;
    }
    let size = table.elem_size as usize;
    let mut to = table.mem.data;
    for at in 0..table.len as usize {
        // SAFETY: entries of the table, which begin with their marks.
        unsafe {
            let from = table.mem.data.add(at * size);
            if from.cast::<i64>().read() != 0 {
                if from != to {
                    to.copy_from(from, size);
                }
                to = to.add(size);
            }
        }
    }
    table.len = live;
}

unsafe fn fill(table: &Items, places: &mut [i32], shift: u32, code: i64) {
    // The key follows the mark.
    macro_rules! keys {
        ($ty:ty) => {
            // SAFETY: the keys have this type.
            enter(table, places, shift, |entry, _| unsafe { entry.byte_add(8).cast::<$ty>().read() as i64 })
        };
    }
    macro_rules! floats {
        ($ty:ty) => {
            enter(table, places, shift, |entry, at| {
                // SAFETY: as above.
                let x = f64::from(unsafe { entry.byte_add(8).cast::<$ty>().read() });
                // Zeros of both signs are equal. NaN is never found: a place of its own makes many of them no burden.
                if x.is_nan() { at as i64 } else { (x + 0.0).to_bits() as i64 }
            })
        };
    }
    match (code & !(SIGNED | FLOAT), code & SIGNED != 0, code & FLOAT != 0) {
        // SAFETY: an entry begins with its mark.
        (0, ..) => enter(table, places, shift, |entry, _| unsafe { entry.read() }),
        (1, false, false) => keys!(u8),
        (2, false, false) => keys!(u16),
        (4, false, false) => keys!(u32),
        (8, _, false) => keys!(i64),
        (1, true, _) => keys!(i8),
        (2, true, _) => keys!(i16),
        (4, true, _) => keys!(i32),
        (4, false, true) => floats!(f32),
        (8, _, true) => floats!(f64),
        _ => lh_ir::bug!("no key has the code {code}"),
    }
}

/// So many places are asked from memory before the first one is looked at: they lie anywhere.
const AHEAD: usize = 16;

fn enter(table: &Items, places: &mut [i32], shift: u32, hash: impl Fn(*const i64, usize) -> i64) {
    let mask = places.len() - 1;
    let len = table.len as usize;
    let mut first = [0; AHEAD];
    for start in (0..len).step_by(AHEAD) {
        let block = start..len.min(start + AHEAD);
        for at in block.clone() {
            let entry = table.mem.data.wrapping_add(at * table.elem_size as usize);
            let i = ((hash(entry.cast(), at) as u64).wrapping_mul(GOLDEN) >> shift) as usize;
            prefetch(&raw const places[i]);
            first[at - start] = i;
        }
        for at in block {
            let mut i = first[at - start];
            while places[i] != 0 {
                i = (i + 1) & mask;
            }
            places[i] = at as i32 + 1;
        }
    }
}

/// Asks for the memory at an address.
#[inline(always)]
pub fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: any address may be asked for.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// `lh_table_index(table, twice, code)`: see [`make_index`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_table_index(table: *mut Items, twice: i64, code: i64) -> i32 {
    // SAFETY: compiled code passes a table and the code of its keys.
    match unsafe { make_index(table, twice, code) } {
        Ok(()) => 0,
        Err(NoIndex::TooMany) => raise(MEMORY_ERROR, "a dictionary or a set has too many items"),
        Err(NoIndex::NoMemory(bytes)) => no_memory(bytes as i128),
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_ _ _) lh_table_index; }
}
