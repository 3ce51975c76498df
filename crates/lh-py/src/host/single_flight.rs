//! First calls of one function from several threads: one compiles, and the others wait for it.
//!
//! The interpreter is free while machine code is made, so different functions are compiled side by side, and waiting
//! threads leave it too. A thread that compiles may need something that a waiting one holds, such as the lock of a
//! module that is being imported. So waiting ends after a while, but for compilations that already make machine code
//! and need nothing more.

use crate::object::leaving;
use crate::object::lock::lock;
use lh_ir::Ty;
use pyo3::prelude::*;
use std::process;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The time to wait for a compilation that may be waiting for this thread.
const PATIENCE: Duration = Duration::from_secs(2);

/// A compilation in progress.
struct Compilation {
    dispatcher: usize,
    args: Vec<Ty>,
    thread: ThreadId,
    /// A child of `fork` has a copy of its parent's list, but not the other threads.
    process: u32,
    /// Whether machine code is being made, which needs nothing of Python.
    generating: bool,
}

static IN_PROGRESS: Mutex<Vec<Compilation>> = Mutex::new(Vec::new());
static FINISHED: Condvar = Condvar::new();

/// The right to compile; it ends when this is dropped.
pub struct Claim {
    dispatcher: usize,
    args: Vec<Ty>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut all = lock(&IN_PROGRESS);
        let mine = |f: &Compilation| {
            f.dispatcher == self.dispatcher && f.args == self.args && f.thread == thread::current().id()
        };
        if let Some(at) = all.iter().position(mine) {
            all.swap_remove(at);
        }
        FINISHED.notify_all();
    }
}

/// Claims a compilation; `None` if another thread had the claim and has finished.
pub fn claim(py: Python<'_>, dispatcher: usize, args: &[Ty]) -> Option<Claim> {
    let (me, process) = (thread::current().id(), process::id());
    let is_other =
        |f: &Compilation| f.dispatcher == dispatcher && f.args == args && f.thread != me && f.process == process;
    if lock(&IN_PROGRESS).iter().any(is_other) && py.detach(|| wait(&is_other)) {
        return None;
    }
    lock(&IN_PROGRESS).push(Compilation { dispatcher, args: args.to_vec(), thread: me, process, generating: false });
    Some(Claim { dispatcher, args: args.to_vec() })
}

/// Waits until a compilation has ended; false if that takes too long.
fn wait(is_it: &dyn Fn(&Compilation) -> bool) -> bool {
    let mut all = lock(&IN_PROGRESS);
    while let Some(f) = all.iter().find(|f| is_it(f)) {
        // The other thread has stayed behind.
        if leaving::is_ending() {
            return false;
        }
        let was_generating = f.generating;
        let (again, timeout) = FINISHED.wait_timeout(all, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        all = again;
        if timeout.timed_out() && !was_generating && all.iter().any(|f| is_it(f) && !f.generating) {
            return false;
        }
    }
    true
}

/// Marks the compilations of this thread as needing nothing more of Python.
pub fn mark_generating() {
    let me = thread::current().id();
    lock(&IN_PROGRESS).iter_mut().filter(|f| f.thread == me).for_each(|f| f.generating = true);
}
