//! First calls of one function from several threads at once: one compiles, the others wait for it.
//!
//! While machine code is made the interpreter is free, so different functions are compiled at the same time. Who waits
//! leaves the interpreter too. A thread that compiles may need what a waiting one holds, such as the lock of a module
//! that is being imported; so before machine code is made, from when on nothing is needed, waiting has an end.

use lh_ir::Ty;
use pyo3::prelude::*;
use std::process;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How long one waits for a compilation that may be waiting for us.
const PATIENCE: Duration = Duration::from_secs(2);

/// A compilation in progress.
struct Flight {
    dispatcher: usize,
    args: Vec<Ty>,
    thread: ThreadId,
    /// A child of `fork` has its parent's list, but not the other threads.
    process: u32,
    /// Whether all is known and machine code is being made.
    generating: bool,
}

static FLIGHTS: Mutex<Vec<Flight>> = Mutex::new(Vec::new());
static LANDED: Condvar = Condvar::new();

fn flights() -> MutexGuard<'static, Vec<Flight>> {
    // Every change of the list is whole.
    FLIGHTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to compile; it ends when this is dropped.
pub struct Ticket {
    dispatcher: usize,
    args: Vec<Ty>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut all = flights();
        let mine =
            |f: &Flight| f.dispatcher == self.dispatcher && f.args == self.args && f.thread == thread::current().id();
        if let Some(at) = all.iter().position(mine) {
            all.swap_remove(at);
        }
        LANDED.notify_all();
    }
}

/// The right to compile for argument types; `None` if another thread had it, and has finished.
pub fn board(py: Python<'_>, dispatcher: usize, args: &[Ty]) -> Option<Ticket> {
    let (me, process) = (thread::current().id(), process::id());
    let is_other = |f: &Flight| f.dispatcher == dispatcher && f.args == args && f.thread != me && f.process == process;
    if flights().iter().any(is_other) && py.detach(|| wait(&is_other)) {
        return None;
    }
    flights().push(Flight { dispatcher, args: args.to_vec(), thread: me, process, generating: false });
    Some(Ticket { dispatcher, args: args.to_vec() })
}

/// Waits until a compilation has ended; false if patience ends first.
fn wait(is_it: &dyn Fn(&Flight) -> bool) -> bool {
    let mut all = flights();
    while let Some(f) = all.iter().find(|f| is_it(f)) {
        let was_generating = f.generating;
        let (again, timeout) = LANDED.wait_timeout(all, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        all = again;
        if timeout.timed_out() && !was_generating && all.iter().any(|f| is_it(f) && !f.generating) {
            return false;
        }
    }
    true
}

/// Says that this thread's compilations need nothing more of Python.
pub fn generating() {
    let me = thread::current().id();
    flights().iter_mut().filter(|f| f.thread == me).for_each(|f| f.generating = true);
}
