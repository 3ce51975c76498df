//! Memory for the values that derivatives keep of each iteration of a loop.

use crate::classes::MEMORY_ERROR;
use crate::exception::raise;
use crate::memory::alloc::{Allocation, MemInfo, new_block};
use crate::strings::value::text;
use crate::symbol::{Symbol, functions};
use std::ptr;

/// Sizes from here on were limited by compiled code, so that they do not overflow.
const MOST: i64 = 1 << 60;

/// A number of bytes as in `3.2 GB`.
fn amount(bytes: i64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut n, mut unit) = (bytes as f64, 0);
    while n >= 999.95 && unit + 1 < units.len() {
        (n, unit) = (n / 1000.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{n:.1} {}", units[unit]) }
}

/// Raises MemoryError: `total` bytes for a loop are too many.
#[cold]
fn too_large(total: i64, place: &str) -> i32 {
    let more = if total >= MOST { "more than " } else { "" };
    let kept = amount(total);
    let text = format!("the derivative of {place} keeps {more}{kept}: use `checkpoint_loop` or `checkpoint`");
    raise(MEMORY_ERROR, text)
}

/// # Safety
/// As of [`lh_tape`].
unsafe fn tape(bytes: i64, total: i64, (data, len): (*const u8, i64), zeroed: bool, out: *mut Allocation) -> i32 {
    let size = usize::try_from(bytes).ok().filter(|_| total < MOST);
    let mem = size.map_or(ptr::null_mut(), |n| new_block(n, zeroed));
    if mem.is_null() {
        // SAFETY: by contract.
        return too_large(total, &unsafe { text(data, len) }.lossy());
    }
    // SAFETY: `mem` was just made; `out` has room by contract.
    unsafe { out.write(Allocation { mem, data: (*mem).data }) };
    0
}

/// # Safety
/// The text is one of compiled code, and `out` has room for the result.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_tape(
    bytes: i64,
    total: i64,
    _: *mut MemInfo,
    data: *const u8,
    len: i64,
    out: *mut Allocation,
) -> i32 {
    // SAFETY: by contract.
    unsafe { tape(bytes, total, (data, len), false, out) }
}

/// # Safety
/// As of [`lh_tape`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_tape_zeroed(
    bytes: i64,
    total: i64,
    _: *mut MemInfo,
    data: *const u8,
    len: i64,
    out: *mut Allocation,
) -> i32 {
    // SAFETY: by contract.
    unsafe { tape(bytes, total, (data, len), true, out) }
}

/// # Safety
/// So many bytes can be read from one block, and written to the other.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_tape_moved(to: *mut u8, from: *const u8, bytes: i64) {
    // SAFETY: by contract; two blocks do not overlap.
    unsafe { ptr::copy_nonoverlapping(from, to, usize::try_from(bytes).unwrap_or(0)) }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _ _) lh_tape lh_tape_zeroed;
        (_ _ _) lh_tape_moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let of = [0, 999, 1000, 3_200_000_000, 999_960, MOST];
        let texts = of.map(amount);
        assert_eq!(texts, ["0 bytes", "999 bytes", "1.0 kB", "3.2 GB", "1.0 MB", "1.2 EB"]);
    }
}
