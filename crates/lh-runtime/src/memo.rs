//! Results that `functools.cache` keeps for compiled code: one [`Memo`] for each cached function, with a table for each
//! combination of types. Code looks results up between `lh_memo_enter` and `lh_memo_leave`; the cached function runs
//! outside of these, so that no thread waits for long.

use crate::memory::alloc::{MemInfo, decref};
use crate::symbol::{Symbol, functions};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// The kept results of a function. It lives as long as the process.
#[derive(Debug, Default)]
pub struct Memo {
    state: Mutex<State>,
    left: Condvar,
    hits: AtomicI64,
    misses: AtomicI64,
    size: AtomicI64,
}

#[derive(Debug, Default)]
struct State {
    /// The thread that is inside, and how often.
    owner: u64,
    depth: u32,
    waiting: u32,
    /// Tables by the number of their type. A table's word stays where it is, since code keeps its address.
    tables: Vec<(i64, Box<Table>)>,
}

/// The word that refers to a table; null before the first use.
#[derive(Debug)]
struct Table(*mut MemInfo);

// SAFETY: counted objects may be released by any thread.
unsafe impl Send for Table {}

/// Numbers in `lh_memo_count`.
const HIT: i64 = 0;
const MISS: i64 = 1;
const ADDED: i64 = 2;

/// How a thread waits for something: without the interpreter's lock, for which the thread inside may wait.
pub type Wait = fn(&mut (dyn FnMut() + Send));

static WAIT: OnceLock<Wait> = OnceLock::new();

/// Sets how threads wait.
pub fn set_wait(wait: Wait) {
    WAIT.get_or_init(|| wait);
}

/// A number for the calling thread; never 0.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static OWN: u64 = NEXT.fetch_add(1, Relaxed));
    OWN.with(|own| *own)
}

impl Memo {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread is inside, and goes in.
    fn enter(&self) -> MutexGuard<'_, State> {
        let own = this_thread();
        let mut state = self.state();
        if state.depth > 0 && state.owner != own {
            drop(state);
            let mut wait = || {
                let mut state = self.state();
                state.waiting += 1;
                while state.depth > 0 {
                    state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                state.waiting -= 1;
                (state.owner, state.depth) = (own, 1);
            };
            match WAIT.get() {
                Some(detached) => detached(&mut wait),
                None => wait(),
            }
            return self.state();
        }
        state.owner = own;
        state.depth += 1;
        state
    }

    fn leave(&self) {
        let mut state = self.state();
        state.depth -= 1;
        if state.depth == 0 && state.waiting > 0 {
            self.left.notify_one();
        }
    }

    /// Forgets all results.
    pub fn clear(&self) {
        let mut old = Vec::new();
        for (_, table) in &mut self.enter().tables {
            old.push(std::mem::replace(&mut table.0, ptr::null_mut()));
        }
        for n in [&self.hits, &self.misses, &self.size] {
            n.store(0, Relaxed);
        }
        self.leave();
        for table in old {
            // SAFETY: the word had a reference, which nobody else gives back.
            unsafe { decref(table) };
        }
    }

    /// Numbers of calls whose results were kept, of others, and of results.
    pub fn counts(&self) -> (i64, i64, i64) {
        (self.hits.load(Relaxed), self.misses.load(Relaxed), self.size.load(Relaxed))
    }
}

/// `lh_memo_enter(memo, type)`: keeps other threads out; the address of the word that refers to the table of a type.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_memo_enter(memo: *const Memo, number: i64) -> *mut *mut MemInfo {
    // SAFETY: compiled code passes a memo, which lives as long as the process.
    let memo = unsafe { &*memo };
    let mut state = memo.enter();
    let at = state.tables.iter().position(|(n, _)| *n == number).unwrap_or_else(|| {
        state.tables.push((number, Box::new(Table(ptr::null_mut()))));
        state.tables.len() - 1
    });
    &raw mut state.tables[at].1.0
}

/// The same, of whose memory passes know more.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_memo_enter_plain(memo: *const Memo, number: i64) -> *mut *mut MemInfo {
    // SAFETY: as for `lh_memo_enter`.
    unsafe { lh_memo_enter(memo, number) }
}

/// `lh_memo_leave(memo)`: lets others in.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_memo_leave(memo: *const Memo) {
    // SAFETY: as for `lh_memo_enter`, which this thread has called.
    unsafe { &*memo }.leave();
}

/// `lh_memo_count(memo, what)`: counts a call, or a new result.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_memo_count(memo: *const Memo, what: i64) {
    // SAFETY: as for `lh_memo_enter`.
    let memo = unsafe { &*memo };
    let counter = match what {
        HIT => &memo.hits,
        MISS => &memo.misses,
        ADDED => &memo.size,
        _ => return,
    };
    counter.fetch_add(1, Relaxed);
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_) lh_memo_leave; (_ _) lh_memo_enter lh_memo_enter_plain lh_memo_count; }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::alloc::{incref, new_block};
    use std::sync::atomic::AtomicBool;
    use std::thread;

    #[test]
    fn tables_of_types_are_apart_and_cleared() {
        let memo = Memo::default();
        let mem = new_block(16, false);
        // SAFETY: the memo outlives its use, and the words are entered.
        unsafe {
            let word = lh_memo_enter(&raw const memo, 3);
            assert_ne!(word, lh_memo_enter(&raw const memo, 4));
            incref(mem);
            word.write(mem);
            lh_memo_leave(&raw const memo);
            lh_memo_leave(&raw const memo);
            assert_eq!(word, lh_memo_enter(&raw const memo, 3));
            lh_memo_leave(&raw const memo);
            lh_memo_count(&raw const memo, ADDED);
            assert_eq!(memo.counts(), (0, 0, 1));
            memo.clear();
            assert_eq!((*mem).refcount.load(Relaxed), 1);
            assert_eq!(memo.counts(), (0, 0, 0));
            decref(mem);
        }
    }

    #[test]
    fn one_thread_is_inside() {
        let (memo, inside) = (Memo::default(), AtomicBool::new(false));
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..1000 {
                        // SAFETY: the memo outlives the threads.
                        unsafe {
                            lh_memo_enter(&raw const memo, 1);
                            assert!(!inside.swap(true, Relaxed));
                            inside.store(false, Relaxed);
                            lh_memo_leave(&raw const memo);
                        }
                    }
                });
            }
        });
    }
}
