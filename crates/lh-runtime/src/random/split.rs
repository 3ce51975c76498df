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
}

impl Block {
    /// Tells it from all other blocks; never 0.
    fn id(self) -> u64 {
        // SAFETY: a loop outlives its blocks.
        derive(unsafe { (*self.split).id }, self.number)
    }

    /// The seeds of its streams.
    fn seeds(self) -> [u64; 2] {
        // SAFETY: a loop outlives its blocks.
        unsafe { (*self.split).seeds }.map(|seed| derive(seed, self.number))
    }
}

/// Parts of threads in loops, of the whole process.
static PARTS: AtomicU64 = AtomicU64::new(0);
/// Loops begun by the process.
static ALL_LOOPS: AtomicU64 = AtomicU64::new(0);

/// In place of a seed, which is odd: the present block's. Most blocks draw nothing and need none.
const OF_BLOCK: u64 = 2;

/// A thread's place in loops. A block sets numbers one by one, which is quick.
struct Here {
    /// The seeds of the thread's present streams, by family; 0: not known yet, or [`OF_BLOCK`].
    origin: [Cell<u64>; 2],
    /// Loops begun since then.
    loops: Cell<u64>,
    /// The loop of the block that the thread runs; null: none.
    split: Cell<*const Split>,
    /// The number of that block.
    number: Cell<u64>,
}

thread_local! {
    static HERE: Here = const {
        Here {
            origin: [Cell::new(0), Cell::new(0)],
            loops: Cell::new(0),
            split: Cell::new(std::ptr::null()),
            number: Cell::new(0),
        }
    };
    /// States of the thread that blocks have displaced, by family; of the innermost loop.
    static ASIDE: RefCell<[Option<Box<Mt19937>>; 2]> = const { RefCell::new([None, None]) };
    /// The streams of the block that the thread runs, by the address of the generator.
    static STREAMS: RefCell<Vec<(usize, BlockStream)>> = const { RefCell::new(Vec::new()) };
}

impl Here {
    /// The block that the thread runs.
    fn block(&self) -> Option<Block> {
        let split = self.split.get();
        (!split.is_null()).then(|| Block { split, number: self.number.get() })
    }

    fn set(&self, origin: [u64; 2], loops: u64, (split, number): (*const Split, u64)) {
        self.origin[0].set(origin[0]);
        self.origin[1].set(origin[1]);
        self.loops.set(loops);
        self.split.set(split);
        self.number.set(number);
    }

    /// The seeds of the thread's present streams.
    fn seeds(&self) -> [u64; 2] {
        if let Some(seeds) = self.block().map(Block::seeds) {
            for (known, seed) in self.origin.iter().zip(seeds).filter(|(known, _)| known.get() == OF_BLOCK) {
                known.set(seed);
            }
        }
        self.origin.each_ref().map(Cell::get)
    }
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
    let id = ALL_LOOPS.fetch_add(1, Ordering::Relaxed) + 1;
    HERE.with(|here| {
        let number = here.loops.get();
        here.loops.set(number + 1);
        for unknown in here.origin.iter().filter(|seed| seed.get() == 0) {
            unknown.set(Mt19937::entropy() | 1);
        }
        let seeds = here.seeds().map(|seed| derive(seed, number));
        Split { seeds, id, number, around: here.block(), keys: Mutex::default() }
    })
}

impl Split {
    /// The key of a generator that was made in a block; `draw` draws it.
    fn key(&self, generator: usize, birth: u64, draw: &mut dyn FnMut() -> u64) -> u64 {
        if let Some(around) = self.around.filter(|b| b.id() != birth) {
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
    if is_anywhere() { HERE.with(Here::block).map_or(0, Block::id) } else { 0 }
}

/// The stream that the present block has in place of a generator that was made in a block; `None` where it draws from
/// the generator itself.
pub(super) fn stream_for<R>(
    generator: usize,
    birth: u64,
    mut draw: impl FnMut() -> u64,
    with: impl FnOnce(&mut BlockStream) -> R,
) -> Option<R> {
    let block = HERE.with(Here::block).filter(|b| b.id() != birth)?;
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
    HERE.with(|here| here.origin[family as usize].set(0));
}

/// A stream of the thread has been seeded.
pub(super) fn seeded(family: Family, seed: u64) {
    HERE.with(|here| {
        here.origin[family as usize].set(derive(seed, 0));
        here.loops.set(0);
    });
}

/// A thread's part in a loop; puts everything back when it ends.
pub(crate) struct Stream {
    origin: [u64; 2],
    loops: u64,
    aside: [Option<Box<Mt19937>>; 2],
    marks: [Mark; 2],
    block: (*const Split, u64),
    streams: Vec<(usize, BlockStream)>,
}

/// Begins a thread's part in a loop.
pub(crate) fn enter() -> Stream {
    PARTS.fetch_add(1, Ordering::Relaxed);
    Stream {
        block: HERE.with(|here| (here.split.get(), here.number.get())),
        streams: STREAMS.take(),
        origin: HERE.with(|here| here.origin.each_ref().map(Cell::get)),
        loops: HERE.with(|here| here.loops.get()),
        aside: ASIDE.take(),
        marks: [super::numpy::mark(), super::python::mark()],
    }
}

impl Stream {
    /// Begins a block.
    pub(crate) fn block(&self, split: &Split, block: u64) {
        HERE.with(|here| here.set([OF_BLOCK; 2], 0, (std::ptr::from_ref(split), block)));
        STREAMS.with_borrow_mut(Vec::clear);
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
        HERE.with(|here| here.set(self.origin, self.loops, self.block));
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
    let key = HERE.with(Here::seeds)[family as usize];
    [key as u32, (key >> 32) as u32]
}
