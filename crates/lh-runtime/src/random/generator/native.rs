//! Bit generators that compiled code makes, and the streams of blocks of parallel loops.

use super::bits::{BitGen, Bits, Lcg, MtState, PcgState, PhiloxState, Sfc, Source, drawing, kind};
use crate::classes::MEMORY_ERROR;
use crate::exception::raise;
use crate::memory::alloc::{MemInfo, foreign_owner, new_foreign};
use crate::random::split;
use crate::symbol::{Symbol, functions};
use std::ffi::c_void;
use std::sync::Mutex;

/// Where a bit generator comes from, as `numpy.random.SeedSequence` has it.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    /// Words of the entropy, the lowest first.
    pub entropy: Vec<u32>,
    /// Words of the spawn key.
    pub spawn_key: Vec<u32>,
    /// The size of the pool in words.
    pub pool_size: i64,
    /// How many children it has had.
    pub children: u64,
}

/// A bit generator. Its parts address each other, so that it stays in its place.
#[repr(C)]
pub struct Native {
    bits: BitGen,
    kind: i64,
    /// The block of a parallel loop in which it was made; 0: none.
    birth: u64,
    pcg: PcgState,
    lcg: Lcg,
    sfc: Sfc,
    philox: PhiloxState,
    counter: [u64; 4],
    key: [u64; 2],
    mt: Option<Box<MtState>>,
    seeds: Mutex<Seeds>,
}

/// No state of our own is drawn from by functions: its kind is always known.
unsafe extern "C" fn unused<T>(_: *mut c_void) -> T {
    lh_ir::bug!("a bit generator of compiled code has no functions")
}

fn interface(state: *mut c_void) -> BitGen {
    BitGen { state, next_u64: unused, next_u32: unused, next_f64: unused, next_raw: unused }
}

impl Native {
    /// A bit generator of a kind, from the words that a seed sequence gives: as many as `words_of` says.
    fn new(of: i64, words: &[u64], seeds: Seeds) -> Box<Native> {
        let mut made = Box::new(Native {
            bits: interface(std::ptr::null_mut()),
            kind: of,
            birth: split::present(),
            pcg: PcgState::default(),
            lcg: Lcg::default(),
            sfc: Sfc::default(),
            philox: PhiloxState::default(),
            counter: [0; 4],
            key: [0; 2],
            mt: None,
            seeds: Mutex::new(seeds),
        });
        let own = &mut *made;
        let state: *mut c_void = match of {
            kind::PCG64 | kind::PCG64DXSM => {
                own.lcg = Lcg::seeded([words[0], words[1], words[2], words[3]]);
                own.pcg.lcg = &raw mut own.lcg;
                (&raw mut own.pcg).cast()
            }
            kind::MT19937 => {
                let mut state = Box::new(MtState { key: [0; 624], at: 623 });
                for (i, word) in state.key.iter_mut().enumerate() {
                    *word = (words[i / 2] >> (32 * (i % 2))) as u32;
                }
                state.key[0] = 0x8000_0000;
                (&raw mut **own.mt.insert(state)).cast()
            }
            kind::PHILOX => {
                own.key = [words[0], words[1]];
                (own.philox.counter, own.philox.key) = (&raw mut own.counter, &raw mut own.key);
                (&raw mut own.philox).cast()
            }
            kind::SFC64 => {
                own.sfc = Sfc::seeded([words[0], words[1], words[2]]);
                (&raw mut own.sfc).cast()
            }
            _ => lh_ir::bug!("a bit generator of kind {of}"),
        };
        own.bits.state = state;
        made
    }

    /// Its kind.
    pub fn kind(&self) -> i64 {
        self.kind
    }

    /// Where it comes from.
    pub fn seeds(&self) -> Seeds {
        self.seeds.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Gives a bit generator of NumPy of the same kind the same state.
    ///
    /// # Safety
    /// `to` is alive and of this kind.
    pub unsafe fn copy_to(&self, to: *mut BitGen) {
        // SAFETY: as promised; the parts of a state lie where its struct says.
        unsafe {
            let state = (*to).state;
            match self.kind {
                kind::PCG64 | kind::PCG64DXSM => {
                    let to: &mut PcgState = &mut *state.cast();
                    *to.lcg = self.lcg;
                    to.half = self.pcg.half;
                }
                kind::MT19937 => {
                    let from = self.mt.as_deref().expect("a state of this kind");
                    state.cast::<MtState>().copy_from_nonoverlapping(from, 1);
                }
                kind::PHILOX => {
                    let to: &mut PhiloxState = &mut *state.cast();
                    (*to.counter, *to.key) = (self.counter, self.key);
                    (to.at, to.buffer, to.half) = (self.philox.at, self.philox.buffer, self.philox.half);
                }
                _ => *state.cast::<Sfc>() = self.sfc,
            }
        }
    }

    /// The one that owns memory, if one does.
    ///
    /// # Safety
    /// `mem` is null or alive.
    pub unsafe fn of_owner<'a>(mem: *mut MemInfo) -> Option<&'a Native> {
        // SAFETY: as promised; an owner with this destructor holds one.
        unsafe { foreign_owner(mem, release).map(|own| &*own.cast::<Native>()) }
    }
}

#[inline(never)]
unsafe extern "C" fn release(own: *mut c_void) {
    // SAFETY: the owner's, who made it of a box.
    drop(unsafe { Box::from_raw(own.cast::<Native>()) });
}

/// A bit generator that a block of a parallel loop draws from in place of one that it shares with others.
pub(in crate::random) struct BlockStream(Box<Native>);

impl BlockStream {
    /// The one for a key.
    pub(in crate::random) fn new(key: u64) -> BlockStream {
        let words = [1, 2, 3, 4].map(|i| split::derive(key, i));
        BlockStream(Native::new(kind::PCG64, &words, Seeds::default()))
    }
    fn source(&mut self) -> Source {
        Source { bits: &raw mut self.0.bits, kind: kind::PCG64 }
    }
}

/// The bit generator that a draw is from: the given one, or what stands for it in the present block of a parallel loop.
#[inline(always)]
pub(super) fn here(bits: *mut BitGen, of: i64) -> Source {
    let given = Source { bits, kind: of };
    if split::is_anywhere() { in_block(given) } else { given }
}

#[inline(never)]
fn in_block(given: Source) -> Source {
    let is_native = given.kind & kind::NATIVE != 0;
    // SAFETY: the interface is the first field of a bit generator of our own.
    let birth = if is_native { unsafe { (*given.bits.cast::<Native>()).birth } } else { 0 };
    let draw = || drawing!(given, b => b.next_u64());
    split::stream_for(given.bits.addr(), birth, draw, BlockStream::source).unwrap_or(given)
}

/// A new bit generator, as compiled code has it.
#[repr(C)]
struct Made {
    owner: *mut MemInfo,
    bits: *mut BitGen,
}

/// A new bit generator: kind, words of its seed, words of the entropy and their number, those of the spawn key and
/// their number, and the size of the pool.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_new(
    of: i64,
    words: *const u64,
    entropy: *const u32,
    entropy_len: i64,
    spawn_key: *const u32,
    spawn_len: i64,
    pool_size: i64,
    out: *mut Made,
) -> i32 {
    let count = match of {
        kind::MT19937 => 312,
        kind::PHILOX => 2,
        kind::SFC64 => 3,
        _ => 4,
    };
    // SAFETY: compiled code passes arrays of these sizes, and room for the results.
    unsafe {
        let list = |p: *const u32, n: i64| {
            if n == 0 { Vec::new() } else { std::slice::from_raw_parts(p, n as usize).to_vec() }
        };
        let (entropy, spawn_key) = (list(entropy, entropy_len), list(spawn_key, spawn_len));
        let seeds = Seeds { entropy, spawn_key, pool_size, children: 0 };
        let made = Box::into_raw(Native::new(of, std::slice::from_raw_parts(words, count), seeds));
        let own = new_foreign(made.cast(), size_of::<Native>(), made.cast(), release);
        if own.is_null() {
            release(made.cast());
            return raise(MEMORY_ERROR, "");
        }
        out.write(Made { owner: own, bits: made.cast() });
    }
    0
}

/// The next so many children of one of our own: the number of the first.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_children(bits: *mut BitGen, n: i64) -> i64 {
    // SAFETY: compiled code passes one of our own, whose interface is its first field.
    let native = unsafe { &*bits.cast::<Native>() };
    let mut seeds = native.seeds.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let first = seeds.children;
    seeds.children += n as u64;
    first as i64
}

/// The number of words of the entropy (0), of the spawn key (1), or the size of the pool (2) of one of our own.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_seed_len(bits: *mut BitGen, which: i64) -> i64 {
    // SAFETY: as above.
    let seeds = unsafe { (*bits.cast::<Native>()).seeds() };
    match which {
        0 => seeds.entropy.len() as i64,
        1 => seeds.spawn_key.len() as i64,
        _ => seeds.pool_size,
    }
}

/// Those words.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_seed_words(bits: *mut BitGen, which: i64, out: *mut u32) {
    // SAFETY: as above, with room for them.
    unsafe {
        let seeds = (*bits.cast::<Native>()).seeds();
        let words = if which == 0 { &seeds.entropy } else { &seeds.spawn_key };
        out.copy_from_nonoverlapping(words.as_ptr(), words.len());
    }
}

/// 64 bits from the operating system.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_entropy() -> i64 {
    crate::random::mt19937::Mt19937::entropy() as i64
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_rng_entropy;
        (_ _) lh_rng_children lh_rng_seed_len;
        (_ _ _) lh_rng_seed_words;
        (_ _ _ _ _ _ _ _) lh_rng_new;
    }
}
