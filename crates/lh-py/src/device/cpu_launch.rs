//! Launches of kernels on the CPU device.

use crate::call::args::ArgBuf;
use crate::call::overload::Overload;
use crate::call::state::{self, State};
use crate::call::{bind, refusal, specialise};
use crate::host::classify::memory_of;
use crate::host::table;
use crate::host::types::type_tuple;
use crate::object::array::overlaps_itself;
use crate::runtime::signals::Running;
use crate::runtime::{raise, render};
use lh_cuda::{Code, Config, Device, Fault};
use lh_ir::types::TyKind;
use lh_ir::{Layout, Ty};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a kernel's dispatcher on arguments: blocks of the grid, threads of a block, bytes of dynamic shared memory.
#[pyfunction]
pub fn launch(
    kernel: &Bound<'_, PyAny>,
    grid: [i64; 3],
    block: [i64; 3],
    shared: i64,
    args: &Bound<'_, PyTuple>,
) -> PyResult<()> {
    let py = kernel.py();
    let mut buf = ArgBuf::default();
    let args = push(kernel, args, &mut buf)?;
    let overload = resolve(kernel, args.len(), &mut buf)?;
    run(py, overload, &buf, &Config { grid, block, dynamic_shared: shared, in_order: false })
}

/// A launch of fewer picoseconds keeps the GIL and is not spread over threads. Threads are counted one by one: as
/// vectors they take a tenth.
const SHORT: i64 = 12_000_000;

/// Runs a specialisation on the CPU device. The arguments in the buffer are alive.
pub fn run(py: Python<'_>, overload: &Overload, buf: &ArgBuf, config: &Config) -> PyResult<()> {
    let code = code_of(overload)?;
    let info = &code.info;
    let estimate =
        config.grid.iter().chain(&config.block).fold(i64::from(info.thread_cost), |t, n| t.saturating_mul(*n));
    let is_short = (1..SHORT).contains(&estimate) && !info.by_thread() && !info.prints && !info.is_checked;
    let in_order = !is_short && holds_overlapping(overload.args(), &buf.slots);
    let config = &Config { in_order, ..*config };
    // SAFETY: the words are those of the specialisation's types, and what they point to is alive.
    let run = || unsafe { lh_cuda::emulator::Cpu.launch(&code, config, &buf.slots) };
    let running = Running::start(!is_short);
    let result = if is_short {
        catch_unwind(AssertUnwindSafe(run))
    } else {
        // Other Python threads run meanwhile, as they do while a GPU works.
        // SAFETY: what is saved is restored by the same thread, and no panic passes.
        let saved = unsafe { ffi::PyEval_SaveThread() };
        let result = catch_unwind(AssertUnwindSafe(run));
        // SAFETY: as above.
        unsafe { ffi::PyEval_RestoreThread(saved) };
        result
    };
    drop(running);
    let result = result.map_err(|panic| render::internal_error(py, panic.as_ref()))?;
    if let Some(lists) = &buf.lists {
        lists.reflect(py)?;
    }
    match result {
        Ok(()) => Ok(()),
        Err(fault) => Err(failed(py, fault)?),
    }
}

/// Whether one of some values is an array that overlaps itself, or holds one: the order of blocks matters then.
fn holds_overlapping(types: &[Ty], mut words: &[u64]) -> bool {
    types.iter().any(|ty| {
        let (mine, rest) = words.split_at(ty.flatten().len());
        words = rest;
        match ty.kind() {
            TyKind::Array { dtype, ndim, layout: Layout::A, .. } => {
                // Owner and address come first.
                let numbers: SmallVec<[isize; 8]> = mine[2..].iter().map(|n| *n as isize).collect();
                let (extents, strides) = numbers.split_at(usize::from(*ndim));
                overlaps_itself(extents, strides, dtype.itemsize() as isize)
            }
            TyKind::Tuple { elems, .. } => holds_overlapping(elems, mine),
            _ => false,
        }
    })
}

/// The exception for a launch that has failed.
pub fn failed(py: Python<'_>, fault: Fault) -> PyResult<PyErr> {
    match fault {
        Fault::Refused(r) => {
            let class = py.import("lancehead.cuda.errors")?.getattr("CudaAPIError")?;
            let text = format!("Call to cuLaunchKernel results in {}: {}", r.name, r.text);
            Ok(PyErr::from_value(class.call1((r.code, text))?))
        }
        Fault::Found(found) => {
            let text = found.iter().map(|d| render::text(py, d)).collect::<Vec<_>>().join("\n\n");
            let class = py.import("lancehead.cuda.errors")?.getattr("CudaCheckError")?;
            let error = PyErr::from_value(class.call1((text,))?);
            error.value(py).setattr("ids", PyTuple::new(py, found.iter().map(|d| d.id.0))?)?;
            if lh_runtime::is_pending() {
                error.set_cause(py, Some(raise::take(py)));
            }
            Ok(error)
        }
        Fault::Raised(at) => {
            let error = raise::take(py);
            if let Some(at) = at {
                let tuple = |v: [i64; 3]| PyTuple::new(py, v);
                error.value(py).setattr("block", tuple(at.block)?)?;
                error.value(py).setattr("thread", tuple(at.thread)?)?;
            }
            Ok(error)
        }
    }
}

/// Whether a kernel takes that many arguments, one for each parameter.
pub fn takes(kernel: &Bound<'_, PyAny>, count: usize) -> bool {
    state::of(kernel).is_some_and(|object| object.state().table().params.plain == count)
}

/// Binds arguments to the kernel's parameters and pushes them into a buffer. The caller keeps the result as long as
/// the buffer.
pub fn push<'py>(
    kernel: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    buf: &mut ArgBuf,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, object) = (kernel.py(), state::of(kernel).ok_or_else(|| PyTypeError::new_err("not a kernel"))?);
    let args = if takes(kernel, args.len()) { args.clone() } else { bound(py, object.state(), args)? };
    for (i, a) in args.iter().enumerate() {
        // SAFETY: the tuple keeps its items.
        if let Err(why) = unsafe { buf.push(a.as_ptr()) } {
            return Err(refusal::refuse(py, object.state(), i, &a, why));
        }
    }
    Ok(args)
}

/// Binds the arguments.
fn bound<'py>(py: Python<'py>, state: &State, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let given: Vec<_> = args.iter_borrowed().map(|a| a.as_ptr()).collect();
    // SAFETY: the tuple keeps its items; what is bound is alive as long as `found`.
    unsafe {
        let found =
            bind::bind(state.func.bind(py), state.params(py)?, given.as_ptr(), given.len(), std::ptr::null_mut())?;
        let items = std::slice::from_raw_parts(found.as_ptr(), found.len());
        PyTuple::new(py, items.iter().map(|a| Bound::from_borrowed_ptr(py, *a)))
    }
}

/// The specialisation for the `n` arguments in a buffer.
#[inline]
pub fn resolve<'a>(kernel: &'a Bound<'_, PyAny>, n: usize, buf: &mut ArgBuf) -> PyResult<&'a Overload> {
    let py = kernel.py();
    let object = state::of(kernel).ok_or_else(|| PyTypeError::new_err("not a kernel"))?;
    let state = object.state();
    if buf.undecided || buf.lists.is_some() && state.options().gpu.is_some() {
        return Err(PyTypeError::new_err("kernels take no lists"));
    }
    match state.find(&buf.tags) {
        // SAFETY: overloads live as long as the state.
        Some(e) if e.natural.is_none() && unsafe { (*e.overload).guard.is_current(py) } => Ok(unsafe { &*e.overload }),
        entry => specialise::ready(py, state, kernel, entry, buf, n),
    }
}

fn code_of(overload: &Overload) -> PyResult<Code> {
    match overload.compiled.kernel {
        Some(info) => Ok(Code { entry: overload.entry, info }),
        None => Err(PyRuntimeError::new_err("a function for devices cannot be launched: it is called by kernels")),
    }
}

/// Facts about the specialisations of a kernel by argument types: bytes of static shared memory and of each thread's
/// local memory, whether it is cooperative, and how it is entered.
#[pyfunction]
pub fn kernel_facts<'py>(kernel: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = kernel.py();
    let object = state::of(kernel).ok_or_else(|| PyTypeError::new_err("not a kernel"))?;
    let all = PyDict::new(py);
    for o in object.state().current() {
        let Some(k) = o.compiled.kernel else { continue };
        if let Some(loaded) = &o.on_gpu {
            all.set_item(type_tuple(py, &o.compiled.args)?, loaded.facts(py)?)?;
            continue;
        }
        let facts = PyDict::new(py);
        facts.set_item("shared", k.shared_bytes)?;
        facts.set_item("local", k.local_bytes)?;
        let mut constant = 0;
        for array in o.compiled.captured() {
            let array = memory_of(&table::object(py, array));
            constant += array.getattr("nbytes")?.extract::<usize>()?;
        }
        facts.set_item("constant", constant)?;
        facts.set_item("cooperative", k.is_cooperative)?;
        facts.set_item("entry", format!("{:?}", k.entry).to_lowercase())?;
        facts.set_item("gangs", format!("{:?}", k.gangs).to_lowercase())?;
        all.set_item(type_tuple(py, &o.compiled.args)?, facts)?;
    }
    Ok(all)
}
