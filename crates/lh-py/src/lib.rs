//! The extension module `lancehead._core`: types of Python values, calls into compiled code, results as objects, and
//! the interpreter as the compiler sees it. The only crate that knows Python.
//!
//! Rooms and their imports: `object <- host <- runtime <- compile <- gpu <- call <- {device, ufunc, lazy}`.
//!
//! - `object` reads objects of CPython and NumPy as data and knows no compiler. `strong_ref` holds objects outside of
//!   the interpreter's lock; `attach` is the only way to take that lock again.
//! - `host` presents the interpreter to the compiler (`interpreter`). `single_flight` releases the interpreter's lock
//!   while one thread compiles and others wait for the same specialisation.
//! - `runtime` has exceptions, diagnostics, signals and printing. It lies above `host`, whose table of objects numbers
//!   exception classes.
//! - `compile` has the compilers of the process and the cache; `gpu` has NVIDIA's GPUs and the decorators' options. It
//!   lies below `call`, because options and specialisations name a GPU.
//! - `call` runs calls from Python: `vectorcall` is their entry point, `specialise` that of compilation.
//! - `device` launches kernels, `ufunc` makes `numpy.ufunc` objects, `lazy` has the objects of `lancehead.xp`.
//!
//! A lower room calls a higher one only through functions that the higher one has registered: `host::decorated` for the
//! state of a dispatcher, `host::ufuncs` for the function of a ufunc.
//! A panic in a crate below becomes `InternalError` with a report; it never aborts the process.

mod call;
mod compile;
mod device;
mod gpu;
mod host;
mod lazy;
mod object;
mod runtime;
mod ufunc;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicI64, Ordering};

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

unsafe extern "C" {
    /// The key for hashes of strings and bytes; SipHash uses its first two words.
    static _Py_HashSecret: [u64; 3];
}

/// Claims the process for this interpreter: its types and tables are those of the module, and an import by another one
/// fails before it changes any.
fn claim() -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: this thread is attached to the interpreter that imports.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "lancehead works in one interpreter of a process, and another one has imported it",
        )),
        _ => Ok(()),
    }
}

/// Hands the interpreter's key to the run-time library, so that compiled code hashes strings alike.
fn share_hash_key() {
    // SAFETY: the interpreter has set it before any module is imported, and never changes it.
    let key = unsafe { _Py_HashSecret };
    lh_runtime::hash::set_key(key[0], key[1]);
}

/// The extension module.
#[pymodule(gil_used = false)]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::{build_info, known_processors, live_allocations};
    #[pymodule_export]
    use crate::{
        call::container::Container,
        call::dispatcher_type::dispatcher_of,
        call::field::declare_class,
        call::instance::type_of_struct,
        call::linkable::{callback_address, linkable},
        call::type_of::{type_of, type_of_argument},
        compile::cache::{
            cache_directory, cache_entry, keep_file, kept_file, named_file, store_counts, store_folder, store_is_whole,
        },
        compile::operations::operations,
        compile::typed_library::{keep_objects, keep_typed, shipped_levels},
        device::cpu_launch::{kernel_facts, launch},
        device::launch::{Launch, resident_blocks},
        device::ptx::{DevicePtx, compile_ptx},
        device::ptx_kernel::PtxKernel,
        gpu::context::{Gpu, GpuEvent, GpuMemory, GpuStream},
        host::classes::{declare_struct, instance_type, set_struct_fields, struct_type},
        host::extensions::{
            extension_type, extensions_known, extensions_pending, model_extension, name_extension, owner_type,
            size_of_type,
        },
        host::library::stored_function,
        host::memos::{clear_kept, kept_counts},
        host::overloads::overloaded,
        host::signature::{Signature, parse_signature},
        host::types::{
            Type, array_type, container_type, deferred_type, dtype_of_type, initial_type, keyed_type, literal_type,
            named_tuple_type, optional_type, parse_type, pointer_type, pyobject_type, text_type, tuple_type,
            type_of_dtype, unliteral,
        },
        lazy::{
            functions::elementwise,
            setup::{array_of_node, lazy_array, register_graph},
            views::data_address,
        },
        object::memory::Memory,
        runtime::threads::{
            get_num_threads, get_parallel_chunksize, get_thread_id, max_threads, set_num_threads,
            set_parallel_chunksize,
        },
        ufunc::dufunc::{DUFunc, dufunc},
        ufunc::lookup::ufunc_parts,
    };
    #[pymodule_export]
    const OVERLOAD_PREFIX: &str = host::overloads::PREFIX;
    /// Stands for all names of attributes that overloads are registered for.
    #[pymodule_export]
    const OVERLOAD_ANY: &str = host::overloads::ANY;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        claim()?;
        m.add("__version__", env!("CARGO_PKG_VERSION"))?;
        m.add("Dispatcher", call::dispatcher_type::create_type(m.py())?)?;
        call::instance::add_types(m)?;
        lazy::layout::add_types(m, &lazy::views::slots())?;
        lazy::functions::add_type(m)?;
        call::container::register(m.py());
        lh_ir::class::set_source(host::library::declaration);
        host::constants::register(call::constant_tables::import);
        host::ufuncs::register(ufunc::lookup::LOOK);
        runtime::print::install();
        runtime::in_order::install();
        call::objmode::install();
        call::extension::install();
        call::function_values::install();
        lh_runtime::callback::set_teller(runtime::raise::tell);
        host::memos::install();
        share_hash_key();
        Ok(())
    }
}
