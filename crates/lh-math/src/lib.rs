//! The vector math library: elementary functions as LLVM bitcode, to be linked into compiled modules.
//!
//! The functions (`math/*.rs`) are free of branches and calls, so that a loop which calls one is vectorised once it is
//! inlined. On a machine without fused multiply-add `llvm.fma` would be a slow call, so there is a variant without it;
//! and one for GPUs, where a branch is cheap and every instruction counts, which computes the same bits as that with
//! it. Each result is within 1 ulp, those of `lh_<name>_fast` within 4; special values are those of C99, Annex F.
//!
//! For rare arguments (large ones of sine, zeros and infinities of logarithms) a function of [`RARE`] is called.
//! [`variants()`] says how to do that for the lanes of a vector: without it, loops with these functions are right, but
//! not vectorised.

include!(concat!(env!("OUT_DIR"), "/lists.rs"));

mod native;
mod variants;

pub use native::address;
pub use variants::{RARE, Rare, mappings, rare, variants};

/// The digest of the library: code that uses it depends on it.
pub const DIGEST: &str = env!("LH_MATH");

/// Bitcode for machines with fused multiply-add.
pub static BITCODE_FMA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fma.bc"));

/// Bitcode for machines without it.
pub static BITCODE_PLAIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plain.bc"));

/// Bitcode for GPUs.
pub static BITCODE_GPU: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gpu.bc"));

/// The bitcode for a CPU.
pub fn bitcode(fma: bool) -> &'static [u8] {
    if fma { BITCODE_FMA } else { BITCODE_PLAIN }
}

macro_rules! exports {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {
        /// The functions which the bitcode defines.
        pub fn names() -> &'static [&'static str] {
            &[$(stringify!($name)),*]
        }
    };
}
each_of_exports!(exports);
