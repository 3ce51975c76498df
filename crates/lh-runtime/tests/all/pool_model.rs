//! The pool's board, and the parts of loops, under a model checker, which goes through the orders in which threads
//! can meet.

use loom::thread;
use std::sync::Arc;

/// The model checker's counterpart of `pool/sync.rs`.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
    use loom::sync::{Condvar, Mutex};
    use std::ops::Deref;

    pub(crate) const SPINS: u32 = 0;

    /// As a futex: the number is compared and the thread put to sleep in one step.
    #[derive(Default)]
    pub(crate) struct Word {
        value: AtomicU32,
        bed: Mutex<()>,
        bell: Condvar,
    }

    impl Deref for Word {
        type Target = AtomicU32;
        fn deref(&self) -> &AtomicU32 {
            &self.value
        }
    }

    impl Word {
        pub(crate) fn wait(&self, expected: u32, _beds: u32) {
            let bed = self.bed.lock().unwrap();
            if self.value.load(Ordering::Relaxed) == expected {
                drop(self.bell.wait(bed).unwrap());
            }
        }
        pub(crate) fn wake(&self, _threads: u32, _beds: u32) {
            let _bed = self.bed.lock().unwrap();
            self.bell.notify_all();
        }
    }

    pub(crate) fn pause() {
        loom::thread::yield_now();
    }

    pub(crate) fn apart(wait: &mut dyn FnMut()) {
        wait();
    }
}

#[path = "../../src/pool/board.rs"]
#[allow(
    dead_code,
    clippy::absurd_extreme_comparisons,
    clippy::reversed_empty_ranges,
    reason = "only a fork needs some of it; nobody spins here"
)]
mod board;

#[path = "../../src/pool/parts.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "the model of schedules has other atomics")]
mod parts;

use board::Board;
use parts::Parts;
use sync::{AtomicU32, Ordering};

/// A task: blocks to be claimed, and a cell for each that only its owner writes.
struct Task {
    next: AtomicU32,
    done: Vec<loom::cell::UnsafeCell<u32>>,
    last: bool,
}

impl Task {
    fn new(blocks: usize, last: bool) -> Task {
        let done = (0..blocks).map(|_| loom::cell::UnsafeCell::new(0)).collect();
        Task { next: AtomicU32::new(0), done, last }
    }
    fn work(&self) {
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed) as usize;
            let Some(cell) = self.done.get(block) else { return };
            // SAFETY: the block is this thread's; the checker complains if it is not.
            cell.with_mut(|n| unsafe { *n += 1 });
        }
    }
}

fn worker(board: &Board<Task>) {
    loop {
        let seen = board.news();
        match board.join() {
            Some((place, task)) => {
                // SAFETY: the task lives until those who joined have left.
                let task = unsafe { &*task };
                task.work();
                let last = task.last;
                board.seal(place);
                board.leave(place);
                if last {
                    return;
                }
            }
            None => board.rest(seen, 1),
        }
    }
}

fn publish(board: &Board<Task>, blocks: usize, helpers: u32, last: bool) {
    let mut task = Task::new(blocks, last);
    let place = board.publish(&raw mut task, helpers);
    task.work();
    if let Some(place) = place {
        if !last {
            board.seal(place);
        }
        // The last task is the one that workers end with: it stays open until they have.
        while last && task.next.load(Ordering::Relaxed) < blocks as u32 + 1 + helpers {
            thread::yield_now();
        }
        board.close(place);
    }
    for cell in &task.done {
        // SAFETY: everybody has left.
        assert_eq!(cell.with(|n| unsafe { *n }), 1);
    }
}

fn check(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(f);
}

#[test]
fn every_block_runs_once_and_nobody_sleeps_for_ever() {
    check(3, || {
        let board = Arc::new(Board::new(1));
        let other = Arc::clone(&board);
        let helper = thread::spawn(move || worker(&other));
        publish(&board, 1, 1, false);
        publish(&board, 2, 1, true);
        helper.join().unwrap();
    });
}

#[test]
fn two_publishers_share_a_worker() {
    check(1, || {
        let board = Arc::new(Board::new(2));
        let (a, b) = (Arc::clone(&board), Arc::clone(&board));
        let helper = thread::spawn(move || worker(&a));
        let publisher = thread::spawn(move || publish(&b, 1, 1, false));
        publish(&board, 1, 1, false);
        publisher.join().unwrap();
        publish(&board, 1, 1, true);
        helper.join().unwrap();
    });
}

#[test]
fn a_task_takes_no_more_helpers_than_it_has_room_for() {
    check(2, || {
        let board = Arc::new(Board::<Task>::new(1));
        let mut task = Task::new(1, false);
        let place = board.publish(&raw mut task, 1).expect("a free slot");
        assert!(board.publish(&raw mut task, 1).is_none());
        let other = Arc::clone(&board);
        let helper = thread::spawn(move || {
            let joined = board_join(&other);
            if let Some(place) = joined {
                other.leave(place);
            }
            joined.is_some()
        });
        let mine = board_join(&board);
        if let Some(place) = mine {
            board.leave(place);
        }
        let theirs = helper.join().unwrap();
        assert_eq!(u32::from(mine.is_some()) + u32::from(theirs), 1);
        board.close(place);
    });
}

fn board_join(board: &Board<Task>) -> Option<board::Place> {
    board.join().map(|(place, _)| place)
}

/// Runs the blocks of a thread's part and those that it takes from others, with one that fails.
fn run(parts: &Parts, own: u32, failing: Option<i64>) -> Vec<i64> {
    let (mut ran, mut claims) = (Vec::new(), parts.claims(own));
    while let Some(blocks) = claims.next(0) {
        for block in blocks {
            ran.push(block);
            if failing == Some(block) {
                parts.cut(block as u64);
                break;
            }
        }
    }
    ran
}

/// Two threads run five blocks; in order, those that they ran.
fn run_five(failing: Option<i64>) -> Vec<i64> {
    let parts = Arc::new(Parts::new(5, 2));
    let other = Arc::clone(&parts);
    let helper = thread::spawn(move || run(&other, other.enter(1), failing));
    let mut ran = run(&parts, 0, failing);
    ran.extend(helper.join().unwrap());
    ran.sort_unstable();
    ran
}

#[test]
fn each_block_is_claimed_once() {
    check(3, || assert_eq!(run_five(None), [0, 1, 2, 3, 4]));
}

#[test]
fn blocks_before_one_that_fails_run_nevertheless() {
    check(3, || {
        let ran = run_five(Some(3));
        assert!(ran == [0, 1, 2, 3] || ran == [0, 1, 2, 3, 4], "{ran:?}");
    });
}

#[test]
fn threads_have_parts_of_their_own() {
    check(3, || {
        let parts = Arc::new(Parts::new(9, 3));
        let other = Arc::clone(&parts);
        let helper = thread::spawn(move || other.enter(1));
        let mut both = [parts.enter(7), helper.join().unwrap()];
        both.sort_unstable();
        assert_eq!(both, [1, 2]);
    });
}
