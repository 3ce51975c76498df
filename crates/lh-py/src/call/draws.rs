//! Bit generators that a call draws from are its own while it runs: NumPy's lock of each is held. A fill of NumPy's may
//! run in another thread even while this one has the interpreter's lock.

use pyo3::intern;
use pyo3::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// The locks that calls of this thread hold.
    static HELD: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// The generators that a call holds.
pub struct Draws(usize);

/// Waits until nobody draws from the bit generators, and takes their locks.
#[inline(always)]
pub fn begin(py: Python<'_>, bit_generators: &[Py<PyAny>]) -> PyResult<Option<Draws>> {
    if bit_generators.is_empty() { Ok(None) } else { wait(py, bit_generators) }
}

#[inline(never)]
fn wait(py: Python<'_>, bit_generators: &[Py<PyAny>]) -> PyResult<Option<Draws>> {
    let mut all = Vec::new();
    for one in bit_generators {
        all.push(one.bind(py).getattr(intern!(py, "lock"))?);
    }
    // In one order, so that no two calls wait for each other.
    all.sort_by_key(|lock| lock.as_ptr().addr());
    all.dedup_by(|a, b| a.is(b));
    all.retain(|lock| !HELD.with_borrow(|held| held.iter().any(|h| h.is(lock))));
    let mut draws = Draws(0);
    for lock in all {
        lock.call_method0(intern!(py, "acquire"))?;
        HELD.with_borrow_mut(|held| held.push(lock.unbind()));
        draws.0 += 1;
    }
    Ok(Some(draws))
}

impl Drop for Draws {
    fn drop(&mut self) {
        // SAFETY: calls begin and end while the thread is attached.
        let py = unsafe { Python::assume_attached() };
        for _ in 0..self.0 {
            let lock = HELD.with_borrow_mut(Vec::pop);
            give_back(py, lock);
        }
    }
}

fn give_back(py: Python<'_>, lock: Option<Py<PyAny>>) {
    // A bound object is released at once, no matter who has entered.
    let released = lock.map(|lock| lock.into_bound(py).call_method0(intern!(py, "release")));
    if let Some(Err(error)) = released {
        error.write_unraisable(py, None);
    }
}

/// Leaves the bit generators to a function of Python that compiled code calls.
pub fn lend<R>(py: Python<'_>, f: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    let lent = HELD.take();
    for lock in &lent {
        give_back(py, Some(lock.clone_ref(py)));
    }
    let result = f();
    for lock in &lent {
        lock.bind(py).call_method0(intern!(py, "acquire"))?;
    }
    HELD.set(lent);
    result
}
