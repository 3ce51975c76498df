//! `hash(str)`: SipHash-1-3 of the characters as CPython keeps them, with the interpreter's key.
//!
//! CPython keeps a string's characters in one, two or four bytes each, whichever the greatest needs. Hash tables use
//! another hash, which costs a quarter and has a seed of the process, too.

use crate::memory::alloc::MemInfo;
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;
use lh_ir::consts::ASCII;
use std::hash::Hasher;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static KEY: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

static SEED: OnceLock<SharedSeed> = OnceLock::new();

/// Sets the key of the process, which differs from process to process.
pub fn set_key(first: u64, second: u64) {
    KEY[0].store(first, Relaxed);
    KEY[1].store(second, Relaxed);
}

struct Sip([u64; 4]);

impl Sip {
    fn round(&mut self) {
        let [a, b, c, d] = &mut self.0;
        *a = a.wrapping_add(*b);
        *c = c.wrapping_add(*d);
        *b = b.rotate_left(13) ^ *a;
        *d = d.rotate_left(16) ^ *c;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*b);
        *a = a.wrapping_add(*d);
        *b = b.rotate_left(17) ^ *c;
        *d = d.rotate_left(21) ^ *a;
        *c = c.rotate_left(32);
    }
    fn word(&mut self, m: u64) {
        self.0[3] ^= m;
        self.round();
        self.0[0] ^= m;
    }
}

/// SipHash-1-3 with a key.
fn sip13(bytes: &[u8], k0: u64, k1: u64) -> u64 {
    let mut s = Sip([
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ]);
    let chunks = bytes.chunks_exact(8);
    let mut last = [0u8; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    last[7] = bytes.len() as u8;
    for c in chunks {
        s.word(u64::from_le_bytes(c.try_into().expect("eight bytes")));
    }
    s.word(u64::from_le_bytes(last));
    s.0[2] ^= 0xff;
    (0..3).for_each(|_| s.round());
    s.0.iter().fold(0, |x, y| x ^ y)
}

/// Python's hash of a text.
fn hash_of(text: &Text) -> i64 {
    if text.is_ascii() {
        return bytes_hash(text.as_bytes());
    }
    // The first byte of the largest character says how many bytes each has.
    match text.as_bytes().iter().fold(0, |most, b| most.max(*b)) {
        0..0xc4 => units_hash(text, |c| [c as u8]),
        0xc4..0xf0 => units_hash(text, |c| (c as u16).to_ne_bytes()),
        0xf0.. => units_hash(text, u32::to_ne_bytes),
    }
}

fn units_hash<const N: usize>(text: &Text, unit: impl Fn(u32) -> [u8; N]) -> i64 {
    let mut units = vec![MaybeUninit::new([0; N]); text.count()];
    text.write_units(&mut units, unit);
    // SAFETY: all of them have values.
    let units: &[[u8; N]] = unsafe { units.assume_init_ref() };
    bytes_hash(units.as_flattened())
}

/// Python's hash of bytes.
pub fn bytes_hash(bytes: &[u8]) -> i64 {
    if bytes.is_empty() {
        return 0;
    }
    let h = sip13(bytes, KEY[0].load(Relaxed), KEY[1].load(Relaxed));
    // -1 means an error to CPython.
    if h == u64::MAX { -2 } else { h as i64 }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_hash(_: *mut MemInfo, s: *const u8, n: i64) -> i64 {
    // SAFETY: compiled code passes a live string.
    let text = unsafe { crate::strings::value::text(s, n) };
    if n & ASCII != 0 { bytes_hash(text.as_bytes()) } else { hash_of(text) }
}

/// A hash of a text for tables: equal texts of a process have the same.
#[inline]
pub fn table_hash(text: &Text) -> i64 {
    let bytes = text.as_bytes();
    // Keys are mostly short, and a product of two words with the seed in them is enough.
    let (first, last) = match bytes.len() {
        0 => (0, 0),
        n @ 1..4 => (u32::from_le_bytes([bytes[0], bytes[n / 2], bytes[n - 1], 0]).into(), 0),
        4..8 => ends::<4>(bytes).map_or((0, 0), |(a, b)| (u32::from_le_bytes(a).into(), u32::from_le_bytes(b).into())),
        8..=16 => ends::<8>(bytes).map_or((0, 0), |(a, b)| (u64::from_le_bytes(a), u64::from_le_bytes(b))),
        _ => return long_hash(bytes),
    };
    // The digits of pi; a key of the process may be zero.
    let one = first ^ (KEY[1].load(Relaxed) ^ 0x243f_6a88_85a3_08d3).rotate_left(bytes.len() as u32);
    let two = last ^ KEY[0].load(Relaxed) ^ 0x1319_8a2e_0370_7344;
    let product = u128::from(one) * u128::from(two);
    (product as u64 ^ (product >> 64) as u64) as i64
}

/// The first and the last bytes.
fn ends<const N: usize>(bytes: &[u8]) -> Option<([u8; N], [u8; N])> {
    Some((*bytes.first_chunk()?, *bytes.last_chunk()?))
}

#[inline(never)]
fn long_hash(bytes: &[u8]) -> i64 {
    let seed = SEED.get_or_init(|| SharedSeed::from_u64(KEY[0].load(Relaxed)));
    let mut hasher = FoldHasher::with_seed(KEY[1].load(Relaxed), seed);
    hasher.write(bytes);
    hasher.finish() as i64
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_table_hash(_: *mut MemInfo, s: *const u8, n: i64) -> i64 {
    // SAFETY: compiled code passes a live string.
    table_hash(unsafe { crate::strings::value::text(s, n) })
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _) lh_str_hash lh_str_table_hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of CPython 3.11 with `PYTHONHASHSEED=0`, whose key is zero.
    #[test]
    fn as_cpython() {
        for (text, want) in TABLE {
            assert_eq!(hash_of(text.as_ref()), *want, "{text}");
        }
    }

    const TABLE: &[(&str, i64)] = &[
        ("", 0),
        ("a", 4644417185603328019),
        ("abc", -4594863902769663758),
        ("abcdefgh", 4574395652268504554),
        ("a longer text than eight", -7483999985899685781),
        ("\u{e9}t\u{e9}", -1033370291238291217),
        ("\u{3b1}\u{3b2}", 3740723405599701215),
        ("\u{1f600} x", -4799405777759393172),
    ];
}
