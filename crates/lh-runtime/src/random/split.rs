//! Streams of random numbers in parallel loops: each block of iterations has its own, whatever thread runs it.
//!
//! A block's stream is made when it is first drawn from. Until then the thread's generators are only marked, so that
//! loops which draw nothing pay next to nothing; the thread's own state is put aside when a mark is met.
//!
//! A generator that a loop's blocks share is drawn from once, by the block that needs it first; the number is the key
//! from which the streams of all blocks are derived.

use super::generator::native::BlockStream;
use super::mt19937::{Mark, Mt19937};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The two generators: of `numpy.random` and of `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Numpy,
    Python,
}

/// The seeds from which the streams of a loop's blocks are derived.
pub(crate) struct Split {
    seeds: [u64; 2],
    /// Tells it from all other loops.
    id: u64,
    /// Its number among the loops of the block around it.
    number: u64,
    /// The block in which it began.
    around: Option<Block>,
    /// The keys of generators that its blocks share, by the address of the generator.
    keys: Mutex<Vec<(usize, u64)>>,
}

/// A block of a loop, which is alive as long as the block runs.
#[derive(Clone, Copy)]
struct Block {
    split: *const Split,
    number: u64,
    /// Tells it from all other blocks; never 0.
    id: u64,
}

/// Parts of threads in loops, of the whole process.
static PARTS: AtomicU64 = AtomicU64::new(0);
/// Loops begun by the process.
static ALL_LOOPS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The seeds of the thread's present streams, by family; 0: not known yet.
    static ORIGIN: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
    /// Loops begun since then.
    static LOOPS: Cell<u64> = const { Cell::new(0) };
    /// States of the thread that blocks have displaced, by family; of the innermost loop.
    static ASIDE: RefCell<[Option<Box<Mt19937>>; 2]> = const { RefCell::new([None, None]) };
    /// The block that the thread runs.
    static BLOCK: Cell<Option<Block>> = const { Cell::new(None) };
    /// The streams of that block, by the address of the generator.
    static STREAMS: RefCell<Vec<(usize, BlockStream)>> = const { RefCell::new(Vec::new()) };
}

/// The finaliser of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

pub(super) fn derive(origin: u64, number: u64) -> u64 {
    // Never 0, which means that nothing is known.
    mix(origin ^ mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15))) | 1
}

/// Begins a loop: what its blocks' streams are made from.
pub(crate) fn fork() -> Split {
    let number = LOOPS.get();
    LOOPS.set(number + 1);
    let mut origin = ORIGIN.get();
    if origin.contains(&0) {
        origin = origin.map(|o| if o == 0 { Mt19937::entropy() | 1 } else { o });
        ORIGIN.set(origin);
    }
    let id = ALL_LOOPS.fetch_add(1, Ordering::Relaxed) + 1;
    let (seeds, around) = (origin.map(|o| derive(o, number)), BLOCK.get());
    Split { seeds, id, number, around, keys: Mutex::default() }
}

impl Split {
    /// The key of a generator that was made in a block; `draw` draws it.
    fn key(&self, generator: usize, birth: u64, draw: &mut dyn FnMut() -> u64) -> u64 {
        if let Some(around) = self.around.filter(|b| b.id != birth) {
            // SAFETY: the loop around outlives this one.
            let outer = unsafe { (*around.split).key(generator, birth, draw) };
            return derive(derive(outer, around.number), self.number);
        }
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = keys.iter().find(|(known, _)| *known == generator) {
            return *key;
        }
        let key = draw();
        keys.push((generator, key));
        key
    }
}

/// Whether any thread of the process runs a part of a loop.
#[inline(always)]
pub(super) fn is_anywhere() -> bool {
    PARTS.load(Ordering::Relaxed) != 0
}

/// The id of the block that the thread runs; 0: none.
pub(super) fn present() -> u64 {
    if is_anywhere() { BLOCK.get().map_or(0, |block| block.id) } else { 0 }
}

/// The stream that the present block has in place of a generator that was made in a block; `None` where it draws from
/// the generator itself.
pub(super) fn stream_for<R>(
    generator: usize,
    birth: u64,
    mut draw: impl FnMut() -> u64,
    with: impl FnOnce(&mut BlockStream) -> R,
) -> Option<R> {
    let block = BLOCK.get().filter(|b| b.id != birth)?;
    STREAMS.with_borrow_mut(|streams| {
        let at = streams.iter().position(|(known, _)| *known == generator).unwrap_or_else(|| {
            // SAFETY: a loop outlives its blocks.
            let key = unsafe { (*block.split).key(generator, birth, &mut draw) };
            streams.push((generator, BlockStream::new(derive(key, block.number))));
            streams.len() - 1
        });
        Some(with(&mut streams[at].1))
    })
}

/// Nothing is known of the thread's stream any more.
pub(super) fn forget(family: Family) {
    let mut origin = ORIGIN.get();
    origin[family as usize] = 0;
    ORIGIN.set(origin);
}

/// A stream of the thread has been seeded.
pub(super) fn seeded(family: Family, seed: u64) {
    let mut origin = ORIGIN.get();
    origin[family as usize] = derive(seed, 0);
    ORIGIN.set(origin);
    LOOPS.set(0);
}

/// A thread's part in a loop; puts everything back when it ends.
pub(crate) struct Stream {
    origin: [u64; 2],
    loops: u64,
    aside: [Option<Box<Mt19937>>; 2],
    marks: [Mark; 2],
    block: Option<Block>,
    streams: Vec<(usize, BlockStream)>,
}

/// Begins a thread's part in a loop.
pub(crate) fn enter() -> Stream {
    PARTS.fetch_add(1, Ordering::Relaxed);
    Stream {
        block: BLOCK.get(),
        streams: STREAMS.take(),
        origin: ORIGIN.get(),
        loops: LOOPS.get(),
        aside: ASIDE.take(),
        marks: [super::numpy::mark(), super::python::mark()],
    }
}

impl Stream {
    /// Begins a block.
    pub(crate) fn block(&self, split: &Split, block: u64) {
        ORIGIN.set(split.seeds.map(|key| derive(key, block)));
        BLOCK.set(Some(Block { split, number: block, id: derive(split.id, block) }));
        STREAMS.with_borrow_mut(Vec::clear);
        LOOPS.set(0);
        super::numpy::mark();
        super::python::mark();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let [numpy, python] = ASIDE.replace(std::mem::take(&mut self.aside));
        let [numpy_mark, python_mark] = self.marks;
        super::numpy::unmark(numpy, numpy_mark);
        super::python::unmark(python, python_mark);
        ORIGIN.set(self.origin);
        LOOPS.set(self.loops);
        BLOCK.set(self.block);
        STREAMS.set(std::mem::take(&mut self.streams));
        PARTS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Keeps the thread's own state, which a block is about to overwrite; later ones are those of blocks before.
pub(super) fn put_aside(family: Family, state: &Mt19937) {
    ASIDE.with_borrow_mut(|aside| {
        aside[family as usize].get_or_insert_with(|| Box::new(state.clone()));
    });
}

/// The seed of the stream of the present block.
pub(super) fn words(family: Family) -> [u32; 2] {
    let key = ORIGIN.get()[family as usize];
    [key as u32, (key >> 32) as u32]
}
