//! Settings of parallel loops, for Python.

use lh_runtime::pool;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Threads that parallel loops can use at most.
#[pyfunction]
pub fn max_threads() -> u32 {
    pool::max_threads()
}

/// Threads that a parallel loop begun by this thread uses.
#[pyfunction]
pub fn get_num_threads() -> u32 {
    pool::threads()
}

/// Sets that number.
#[pyfunction]
pub fn set_num_threads(n: i64) -> PyResult<()> {
    if pool::set_threads(n) { Ok(()) } else { Err(PyValueError::new_err(pool::threads_error())) }
}

/// Number of this thread in the parallel loop around.
#[pyfunction]
pub fn get_thread_id() -> u32 {
    pool::thread_id()
}

/// Iterations of a block; 0: not set.
#[pyfunction]
pub fn get_parallel_chunksize() -> i64 {
    pool::chunk()
}

/// Sets the iterations of a block; returns what was set before.
#[pyfunction]
pub fn set_parallel_chunksize(n: i64) -> PyResult<i64> {
    pool::set_chunk(n).ok_or_else(|| PyValueError::new_err(pool::CHUNK_ERROR))
}
