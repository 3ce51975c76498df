//! Functions that `functools` keeps results of: where compiled code keeps its own.

use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_runtime::memo::{Memo, set_wait};
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::{LazyLock, Mutex};

/// Results by the address of the object, which the table keeps alive.
type Memos = HashMap<usize, (Py<PyAny>, &'static Memo)>;

static MEMOS: LazyLock<Mutex<Memos>> = LazyLock::new(Default::default);

/// Installs in the run-time library how a thread waits.
pub fn install() {
    set_wait(|work| {
        // SAFETY: a thread that has the interpreter gives it back, and takes it again.
        unsafe {
            let state = (ffi::PyGILState_Check() == 1).then(|| ffi::PyEval_SaveThread());
            work();
            if let Some(state) = state {
                ffi::PyEval_RestoreThread(state);
            }
        }
    });
}

/// The address of the results that compiled code keeps of a function.
pub fn of(o: &Bound<'_, PyAny>) -> usize {
    let address = o.as_ptr().addr();
    if let Some((_, memo)) = lock(&MEMOS).get(&address) {
        return std::ptr::from_ref(*memo).addr();
    }
    // The object's own methods know of them from now on; one that takes no attributes keeps its methods.
    let watched = || o.py().import("lancehead.kept")?.call_method1("watch", (o,));
    drop(watched());
    let made = || (o.clone().unbind(), &*Box::leak(Box::default()));
    let memo = lock(&MEMOS).entry(address).or_insert_with(made).1;
    std::ptr::from_ref(memo).expose_provenance()
}

fn find(o: &Bound<'_, PyAny>) -> Option<&'static Memo> {
    lock(&MEMOS).get(&o.as_ptr().addr()).map(|(_, memo)| *memo)
}

/// Forgets the results that compiled code has kept of a function.
#[pyfunction]
pub fn clear_kept(py: Python<'_>, function: &Bound<'_, PyAny>) {
    if let Some(memo) = find(function) {
        py.detach(|| memo.clear());
    }
}

/// Numbers of calls by compiled code whose results were kept, of other calls, and of the results that it keeps.
#[pyfunction]
pub fn kept_counts(function: &Bound<'_, PyAny>) -> (i64, i64, i64) {
    find(function).map_or((0, 0, 0), Memo::counts)
}
