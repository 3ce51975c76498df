//! Streams of random numbers in parallel loops: each block of iterations has its own, whatever thread runs it.
//!
//! A block's stream is made when it is first drawn from. Until then the thread's generators are only marked, so that
//! loops which draw nothing pay next to nothing; the thread's own state is put aside when a mark is met.

use super::mt19937::{Mark, Mt19937};
use std::cell::{Cell, RefCell};

/// The two generators: of `numpy.random` and of `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Numpy,
    Python,
}

/// The seeds from which the streams of a loop's blocks are derived.
#[derive(Clone, Copy)]
pub(crate) struct Split([u64; 2]);

thread_local! {
    /// The seeds of the thread's present streams, by family; 0: not known yet.
    static ORIGIN: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
    /// Loops begun since then.
    static LOOPS: Cell<u64> = const { Cell::new(0) };
    /// States of the thread that blocks have displaced, by family; of the innermost loop.
    static ASIDE: RefCell<[Option<Box<Mt19937>>; 2]> = const { RefCell::new([None, None]) };
}

/// The finaliser of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn derive(origin: u64, number: u64) -> u64 {
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
    Split(origin.map(|o| derive(o, number)))
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
}

/// Begins a thread's part in a loop.
pub(crate) fn enter() -> Stream {
    Stream {
        origin: ORIGIN.get(),
        loops: LOOPS.get(),
        aside: ASIDE.take(),
        marks: [super::numpy::mark(), super::python::mark()],
    }
}

impl Stream {
    /// Begins a block.
    pub(crate) fn block(&self, split: &Split, block: u64) {
        ORIGIN.set(split.0.map(|key| derive(key, block)));
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
