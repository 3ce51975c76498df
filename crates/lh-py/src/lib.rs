//! The extension module `lancehead._core`: types of Python values, calls into compiled code, results as objects, and
//! the interpreter as the compiler sees it. The only crate that knows Python.

mod ahead;
mod args;
mod attach;
mod bind;
mod boxing;
mod cache;
mod call;
mod classify;
mod code;
mod compiler;
mod convert;
mod device;
mod digest;
mod dispatcher;
mod entries;
mod flight;
mod foreign;
mod generator;
mod gpu;
mod guard;
mod held;
mod host;
mod inspect;
mod instances;
mod int;
mod kernel;
mod launch;
mod library;
mod lifted;
mod lists;
mod literals;
mod memory;
mod methods;
mod np;
mod object;
mod objects;
mod operations;
mod options;
mod overloads;
mod panics;
mod parse;
mod paths;
mod print;
mod raise;
mod records;
mod refusal;
mod render;
mod signals;
mod stencil;
mod strings;
mod threads;
mod types;
mod typing;
mod ufunc;
mod undecided;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use types::Type;

/// The type of a value, as it would have as an argument of a compiled function.
#[pyfunction]
#[pyo3(name = "typeof")]
fn type_of(value: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let py = value.py();
    np::load(py)?;
    if let Ok(t) = value.cast::<Type>() {
        return Type::of(py, lh_ir::Ty::dtype(t.get().0));
    }
    match typing::type_of(value) {
        Ok(t) => Type::of(py, t),
        Err(args::Refused::Raised) => Err(PyErr::fetch(py)),
        // Device arrays say it themselves.
        Err(_) if value.hasattr("_numba_type_")? => Ok(value.getattr("_numba_type_")?.cast_into::<Type>()?.unbind()),
        Err(why) => {
            let text = format!("cannot determine the type of {}: {}", classify::short_text(value), why.reason());
            Err(render::error_of(py, "NumbaValueError", &text))
        }
    }
}

/// A dispatcher for a Python function; `signatures` are compiled at once, and then are the only ones if `eager`.
#[pyfunction]
#[pyo3(name = "dispatcher")]
fn dispatcher_of<'py>(
    function: &Bound<'py, PyFunction>,
    options: &Bound<'py, PyDict>,
    signatures: Vec<Bound<'py, PyAny>>,
    eager: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    panics::install();
    call::prepare(py)?;
    signals::find_main_thread(py)?;
    let state = dispatcher::State::new(function.as_any(), options::JitOptions::read(&options.copy()?)?)?;
    let dict = PyDict::new(py);
    if let Ok(own) = function.getattr(intern!(py, "__dict__"))?.cast::<PyDict>() {
        dict.update(own.as_mapping())?;
    }
    for name in ["__module__", "__name__", "__qualname__", "__doc__", "__annotations__"] {
        dict.set_item(name, function.getattr(name)?)?;
    }
    dict.set_item(intern!(py, "__wrapped__"), function)?;
    let made = object::create(py, state, dict)?;
    for sig in signatures {
        made.call_method1(intern!(py, "compile"), (sig,))?;
    }
    if eager {
        made.call_method1(intern!(py, "disable_compile"), (true,))?;
    }
    Ok(made)
}

/// The processors that LLVM knows by name, and the features that it knows of them.
#[pyfunction]
fn known_processors() -> (Vec<String>, Vec<String>) {
    lh_driver::known_processors()
}

/// Facts of this build, for bug reports.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("LLVM", "22.1, static")?;
    facts.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    facts.set_item("build", if cfg!(debug_assertions) { "development" } else { "release" })?;
    Ok(facts)
}

/// Number of native allocations that are alive, for tests of leaks.
#[pyfunction]
fn live_allocations() -> i64 {
    lh_runtime::alloc::lh_live_allocations()
}

/// The extension module.
#[pymodule(gil_used = false)]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    threads::add(m)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("Dispatcher", object::create_type(m.py())?)?;
    m.add_class::<memory::Memory>()?;
    m.add_class::<Type>()?;
    m.add_class::<types::Signature>()?;
    m.add_class::<ufunc::DUFunc>()?;
    m.add_function(wrap_pyfunction!(type_of, m)?)?;
    m.add_function(wrap_pyfunction!(dispatcher_of, m)?)?;
    m.add_function(wrap_pyfunction!(known_processors, m)?)?;
    m.add_function(wrap_pyfunction!(build_info, m)?)?;
    m.add_function(wrap_pyfunction!(ahead::linkable, m)?)?;
    m.add_function(wrap_pyfunction!(foreign::callback_address, m)?)?;
    m.add_function(wrap_pyfunction!(types::pointer_type, m)?)?;
    m.add_function(wrap_pyfunction!(cache::cache_entry, m)?)?;
    m.add_function(wrap_pyfunction!(cache::cache_directory, m)?)?;
    m.add_function(wrap_pyfunction!(library::stored_function, m)?)?;
    m.add_function(wrap_pyfunction!(library::keep_typed, m)?)?;
    m.add_function(wrap_pyfunction!(overloads::overloaded, m)?)?;
    m.add("OVERLOAD_PREFIX", overloads::PREFIX)?;
    m.add_function(wrap_pyfunction!(types::array_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::tuple_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::named_tuple_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::list_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::optional_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::literal_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::type_of_dtype, m)?)?;
    m.add_function(wrap_pyfunction!(types::unliteral, m)?)?;
    m.add_function(wrap_pyfunction!(types::parse_type, m)?)?;
    m.add_function(wrap_pyfunction!(types::parse_signature, m)?)?;
    m.add_function(wrap_pyfunction!(live_allocations, m)?)?;
    m.add_function(wrap_pyfunction!(operations::operations, m)?)?;
    m.add_class::<device::DevicePtx>()?;
    m.add_class::<lifted::PtxKernel>()?;
    m.add_class::<gpu::Gpu>()?;
    m.add_class::<gpu::GpuMemory>()?;
    m.add_class::<gpu::GpuStream>()?;
    m.add_class::<launch::Launch>()?;
    m.add_function(wrap_pyfunction!(launch::resident_blocks, m)?)?;
    m.add_class::<gpu::GpuEvent>()?;
    m.add_function(wrap_pyfunction!(device::compile_ptx, m)?)?;
    m.add_function(wrap_pyfunction!(ufunc::dufunc, m)?)?;
    m.add_function(wrap_pyfunction!(ufunc::ufunc_parts, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::launch, m)?)?;
    m.add_function(wrap_pyfunction!(kernel::kernel_facts, m)?)?;
    print::install();
    lh_runtime::callback::set_teller(foreign::tell);
    strings::share_hash_key();
    Ok(())
}
