//! New texts, which are written where they stay: no bytes are written twice, and characters of Latin-1 take no memory.

use crate::memory::alloc::no_memory;
use crate::memory::alloc::{
    Extended, MemInfo, decref, extend_text, foreign_owner, incref, new_foreign, new_text_block,
};
use crate::strings::index::SHORT;
use crate::strings::value::StrValue;
use crate::text::{Point, Text, size_from};
use lh_ir::consts::ASCII;
use std::mem::MaybeUninit;
use std::ptr;

/// The characters of ASCII, and then those of two bytes up to U+00FF.
static SINGLE: [u8; 128 + 2 * 128] = {
    let mut bytes = [0; 128 + 2 * 128];
    let mut i = 0;
    while i < 128 {
        bytes[i] = i as u8;
        let code = 128 + i;
        bytes[128 + 2 * i] = 0xc0 | (code >> 6) as u8;
        bytes[129 + 2 * i] = 0x80 | (code & 0x3f) as u8;
        i += 1;
    }
    bytes
};

/// A text of one byte of ASCII.
#[inline]
pub(crate) fn ascii_char(byte: u8) -> StrValue {
    StrValue { mem: ptr::null_mut(), data: &raw const SINGLE[usize::from(byte & 0x7f)], len: 1 | ASCII }
}

/// A character as a text that has no owner, if it is one of Latin-1.
#[inline]
pub(crate) fn shared_char(p: Point) -> Option<StrValue> {
    match u32::from(p) {
        code @ 0..0x80 => Some(ascii_char(code as u8)),
        code @ 0x80..0x100 => {
            let data = &raw const SINGLE[128 + 2 * (code as usize - 128)];
            Some(StrValue { mem: ptr::null_mut(), data, len: 2 })
        }
        _ => None,
    }
}

/// The bytes of a new text that are still to be written.
pub(crate) struct Writer<'a>(&'a mut [MaybeUninit<u8>]);

impl Writer<'_> {
    fn take(&mut self, n: usize) -> &mut [MaybeUninit<u8>] {
        let (taken, rest) = std::mem::take(&mut self.0).split_at_mut(n);
        self.0 = rest;
        taken
    }
    pub(crate) fn byte(&mut self, byte: u8) {
        self.take(1)[0].write(byte);
    }
    /// The same byte several times.
    pub(crate) fn fill(&mut self, byte: u8, n: usize) {
        self.take(n).fill(MaybeUninit::new(byte));
    }
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let n = bytes.len();
        let to = self.take(n).as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for so many bytes, and they are not those of a new text.
        unsafe {
            // Most texts are short, and two overlapping words take less time than a call.
            match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
                (Some(first), _) if n <= 16 => {
                    let last = bytes[n - 8..].as_ptr().cast::<[u8; 8]>().read();
                    to.cast::<[u8; 8]>().write(*first);
                    to.add(n - 8).cast::<[u8; 8]>().write(last);
                }
                (None, Some(first)) => {
                    let last = bytes[n - 4..].as_ptr().cast::<[u8; 4]>().read();
                    to.cast::<[u8; 4]>().write(*first);
                    to.add(n - 4).cast::<[u8; 4]>().write(last);
                }
                (None, None) => bytes.iter().enumerate().for_each(|(i, b)| to.add(i).write(*b)),
                _ => to.copy_from_nonoverlapping(bytes.as_ptr(), n),
            }
        }
    }
    pub(crate) fn text(&mut self, text: &Text) {
        self.bytes(text.as_bytes());
    }
    /// Each of some bytes, changed.
    pub(crate) fn mapped(&mut self, bytes: &[u8], mut change: impl FnMut(u8) -> u8) {
        self.take(bytes.len()).iter_mut().zip(bytes).for_each(|(to, b)| _ = to.write(change(*b)));
    }
    /// All bytes but some, of which there are others in this number.
    pub(crate) fn without(&mut self, bytes: &[u8], left_out: u8, others: usize) {
        let kept = self.take(others);
        let mut at = 0;
        for b in bytes {
            // The next one is written over one that is left out.
            if let Some(to) = kept.get_mut(at) {
                to.write(*b);
            }
            at += usize::from(*b != left_out);
        }
        assert!(at == others, "a text has another number of bytes than was counted");
    }
    /// Characters with the numbers of bytes, so many of which are not ASCII.
    pub(crate) fn latin(&mut self, bytes: &[u8], others: usize) {
        let to = self.take(bytes.len() + others);
        let mut at = 0;
        for b in bytes {
            let is_long = b >> 7;
            to[at].write(if is_long != 0 { 0xc0 | b >> 6 } else { *b });
            // Of a character of one byte, the next one writes over this.
            if let Some(second) = to.get_mut(at + 1) {
                second.write(0x80 | b & 0x3f);
            }
            at += 1 + usize::from(is_long);
        }
        assert!(at == to.len(), "a text has another number of bytes than was counted");
    }
    /// So many bytes.
    pub(crate) fn each(&mut self, bytes: impl ExactSizeIterator<Item = u8>) {
        self.take(bytes.len()).iter_mut().zip(bytes).for_each(|(to, b)| _ = to.write(b));
    }
    /// A text with its characters in the opposite order.
    pub(crate) fn reversed(&mut self, text: &Text) {
        let (bytes, turned) = (text.as_bytes(), self.take(text.len()));
        if text.is_ascii() {
            turned.iter_mut().rev().zip(bytes).for_each(|(to, b)| _ = to.write(*b));
            return;
        }
        let (mut rest, mut end) = (bytes, bytes.len());
        while !rest.is_empty() {
            // Most characters are of one or two bytes.
            rest = match *rest {
                [a @ 0..0x80, ref others @ ..] => {
                    end -= 1;
                    turned[end].write(a);
                    others
                }
                [a @ 0x80..0xe0, b, ref others @ ..] => {
                    end -= 2;
                    turned[end].write(a);
                    turned[end + 1].write(b);
                    others
                }
                _ => {
                    let (character, others) = rest.split_at(size_from(rest[0]).min(rest.len()));
                    end -= character.len();
                    character.iter().enumerate().for_each(|(i, b)| _ = turned[end + i].write(*b));
                    others
                }
            };
        }
    }
    /// One text several times.
    pub(crate) fn repeated(&mut self, text: &Text, times: usize) {
        match text.as_bytes() {
            [byte] => self.fill(*byte, times),
            _ => (0..times).for_each(|_| self.text(text)),
        }
    }
}

impl StrValue {
    /// A new text of so many bytes, all of which `write` writes; `None` when there is no memory. Where it is not known
    /// to be ASCII, it is looked through.
    pub(crate) fn written(size: usize, is_ascii: bool, write: impl FnOnce(&mut Writer<'_>)) -> Option<StrValue> {
        StrValue::with_room(size, size, is_ascii, write)
    }

    /// The same, with room for so many bytes in all.
    fn with_room(size: usize, room: usize, is_ascii: bool, write: impl FnOnce(&mut Writer<'_>)) -> Option<StrValue> {
        if size == 0 {
            return Some(StrValue { mem: ptr::null_mut(), data: ptr::NonNull::dangling().as_ptr(), len: ASCII });
        }
        let mem = new_text_block(size, room);
        if mem.is_null() {
            return None;
        }
        // SAFETY: a fresh block with that room.
        unsafe {
            let data = (*mem).data;
            let mut writer = Writer(std::slice::from_raw_parts_mut(data.cast(), size));
            write(&mut writer);
            assert!(writer.0.is_empty(), "a text has fewer bytes than it was to have");
            let is_ascii = is_ascii || std::slice::from_raw_parts(data, size).is_ascii();
            StrValue { mem, data, len: size as i64 | if is_ascii { ASCII } else { 0 } }.indexed()
        }
    }

    /// The same text with an owner that has a table of its characters, if it needs one.
    unsafe fn indexed(self) -> Option<StrValue> {
        if self.len & ASCII != 0 || self.len as usize <= SHORT {
            return Some(self);
        }
        // SAFETY: the block is alive, and one of its references is this text's.
        unsafe {
            let owner = new_foreign(self.data.cast_mut(), self.len as usize, self.mem.cast(), release_block);
            if owner.is_null() {
                decref(self.mem);
            }
            (!owner.is_null()).then_some(StrValue { mem: owner, ..self })
        }
    }

    /// This text with another behind it: in place where the bytes behind it are free, so that a text which grows by
    /// many small parts is copied seldom. Who has the text sees no difference. `None` when there is no memory.
    ///
    /// # Safety
    /// Both texts are live.
    pub(crate) unsafe fn followed_by(self, more: StrValue) -> Option<StrValue> {
        // SAFETY: the caller's promise.
        unsafe {
            let (left, right) = (self.text(), more.text());
            // A long text has its block behind the owner of its table.
            let block = foreign_owner(self.mem, release_block).map_or(self.mem, |block| block.cast::<MemInfo>());
            let end = self.data.add(left.len()).cast_mut();
            let is_ascii = self.len & more.len & ASCII != 0;
            let size = left.len() + right.len();
            match extend_text(block, end, right.len()) {
                Extended::Yes => {
                    match right.as_bytes() {
                        [byte] => end.write(*byte),
                        bytes => ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len()),
                    }
                    incref(block);
                    let len = size as i64 | if is_ascii { ASCII } else { 0 };
                    StrValue { mem: block, data: self.data, len }.indexed()
                }
                is_extended => {
                    let is_growing = is_extended == Extended::Full && left.len() >= GROWING;
                    let room = if is_growing { size + size / 2 } else { size };
                    StrValue::with_room(size, room, is_ascii, |out| {
                        out.text(left);
                        out.text(right);
                    })
                }
            }
        }
    }
}

/// Texts of so many bytes that are continued get room for more.
const GROWING: usize = 32;

/// Frees the memory of a text. Compared by address: never inlined, so that there is one copy of it.
#[inline(never)]
unsafe extern "C" fn release_block(mem: *mut std::ffi::c_void) {
    // SAFETY: `StrValue::indexed` has given its reference away.
    unsafe { decref(mem.cast()) }
}

/// Returns a new text of so many bytes, see [`StrValue::written`].
///
/// # Safety
/// `out` has room for it.
pub(crate) unsafe fn give_written(
    size: usize,
    is_ascii: bool,
    out: *mut StrValue,
    write: impl FnOnce(&mut Writer<'_>),
) -> i32 {
    match StrValue::written(size, is_ascii, write) {
        Some(v) => {
            // SAFETY: the caller's promise.
            unsafe { out.write(v) };
            0
        }
        None => no_memory(size as i128),
    }
}
