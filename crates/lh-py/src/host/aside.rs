//! Machine code of large functions is made on threads of their own, which those who wait for it can leave: LLVM ends no
//! pass before it is done, and knows no want of memory. A thread that was left ends where it asks next.

use crate::host::stopping;
use crate::object::lock::lock;
use crate::object::{panics, scarcity};
use lh_driver::Output;
use lh_ir::stop::{self, Stopped};
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use std::{process, thread};

/// Functions of fewer instructions are compiled in much less than a tenth of a second.
const LARGE: usize = 400;
/// How often those who wait look for a signal.
const LOOK: Duration = Duration::from_millis(15);
/// LLVM's recursion needs no more than the main thread has.
const STACK: usize = 16 << 20;
/// Threads without work that are kept.
const KEPT: usize = 2;

type Work = Box<dyn FnOnce() -> Output + Send>;

enum State {
    /// Nothing is to be done.
    Idle,
    Asked(Work),
    Running,
    /// The result, or a panic with its place.
    Done(Result<Output, (Box<dyn Any + Send>, String)>),
    NoMemory,
}

/// Where a thread gets its work, and puts the result.
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether nobody waits any more.
    is_left: AtomicBool,
    process: u32,
}

/// The desks of threads without work. A child of `fork` has a copy, but not the threads.
static IDLE: Mutex<Vec<Arc<Desk>>> = Mutex::new(Vec::new());

thread_local! {
    static DESK: RefCell<Option<Arc<Desk>>> = const { RefCell::new(None) };
}

/// Runs work that needs nothing of the interpreter, which others may use meanwhile; so many instructions are compiled.
pub fn run(py: Python<'_>, work: Work, instructions: usize) -> Output {
    let desk = if instructions < LARGE { None } else { idle().or_else(start) };
    // Where there is no thread to be had, this one does it.
    let Some(desk) = desk else { return stopping::apart(py, work) };
    let waiting = Waiting(&desk);
    desk.set(State::Asked(work));
    let done = loop {
        match py.detach(|| desk.take_done()) {
            Some(done) => break done,
            None => stop::poll(),
        }
    };
    std::mem::forget(waiting);
    match done {
        State::Done(Ok(output)) => {
            keep(desk);
            output
        }
        State::Done(Err((panic, place))) => {
            keep(desk);
            panics::put(place);
            resume_unwind(panic)
        }
        // The thread stays where LLVM asked for memory.
        _ => resume_unwind(Box::new(Stopped)),
    }
}

/// Leaves the thread if it is dropped.
struct Waiting<'a>(&'a Desk);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Desk {
    fn set(&self, state: State) {
        *lock(&self.state) = state;
        self.changed.notify_all();
    }

    fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits a while for the result.
    fn take_done(&self) -> Option<State> {
        let is_open = |state: &mut State| matches!(state, State::Asked(_) | State::Running);
        let waited = self.changed.wait_timeout_while(lock(&self.state), LOOK, is_open);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        (!timeout.timed_out()).then(|| std::mem::replace(&mut *state, State::Idle))
    }

    /// Waits for work; `None` if there will be none.
    fn take_work(&self) -> Option<Work> {
        let mut state = lock(&self.state);
        loop {
            if self.is_left.load(Ordering::Relaxed) {
                return None;
            }
            match std::mem::replace(&mut *state, State::Running) {
                State::Asked(work) => return Some(work),
                other => *state = other,
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn idle() -> Option<Arc<Desk>> {
    // A fork may have left it locked.
    let mut idle = IDLE.try_lock().ok()?;
    idle.retain(|desk| desk.process == process::id());
    idle.pop()
}

fn keep(desk: Arc<Desk>) {
    match IDLE.try_lock() {
        Ok(mut idle) if idle.len() < KEPT => idle.push(desk),
        _ => desk.leave(),
    }
}

/// Starts a thread, to which no signal is delivered; `None` if the system gives none.
fn start() -> Option<Arc<Desk>> {
    let desk = Arc::new(Desk {
        state: Mutex::new(State::Idle),
        changed: Condvar::new(),
        is_left: AtomicBool::new(false),
        process: process::id(),
    });
    let own = desk.clone();
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: plain C calls on local objects, the second of which the first call fills.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let started = thread::Builder::new().stack_size(STACK).spawn(move || serve(own));
    // SAFETY: what was there before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut()) };
    started.is_ok().then_some(desk)
}

/// The life of a thread.
fn serve(desk: Arc<Desk>) {
    DESK.replace(Some(desk.clone()));
    scarcity::compile_for_others(stay);
    let _watch = stop::watch(is_left);
    while let Some(work) = desk.take_work() {
        let done = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| (panic, panics::take()));
        desk.set(State::Done(done));
    }
}

fn with_desk<R>(f: impl FnOnce(&Desk) -> R) -> Option<R> {
    DESK.with_borrow(|desk| desk.as_deref().map(f))
}

fn is_left() -> bool {
    with_desk(|desk| desk.is_left.load(Ordering::Relaxed)).unwrap_or(true)
}

/// Without memory there is no way out of LLVM: the thread tells of it, and stays.
fn stay() -> ! {
    with_desk(|desk| desk.set(State::NoMemory));
    loop {
        thread::park();
    }
}
