//! NumPy's generators of random numbers and their bit generators, by their C interface.

use lh_ir::Ty;
use lh_runtime::random::generator::bits::{BitGen, is_as_known, kind};
use lh_runtime::random::generator::native::Native;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use pyo3::{ffi, intern};
use std::ffi::CStr;

/// The classes of bit generators by their kinds, from 1 on.
const NAMES: [&str; 5] = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"];

/// A class of NumPy's bit generators, and whether its state is as the run-time library knows it.
type Known = (Py<PyType>, bool);
static KNOWN: PyOnceLock<[Known; 5]> = PyOnceLock::new();

fn known(py: Python<'_>) -> PyResult<&[Known; 5]> {
    KNOWN.get_or_try_init(py, || {
        let module = py.import("numpy.random")?;
        let found = NAMES.iter().enumerate().map(|(i, name)| {
            let class = module.getattr(*name)?.cast_into::<PyType>()?;
            let (one, other) = (class.call1((12345,))?, class.call1((12345,))?);
            // SAFETY: two bit generators of the class, which live.
            let fits = unsafe { is_as_known(interface(&one)?, interface(&other)?, i as i64 + 1) };
            Ok((class.unbind(), fits))
        });
        let found = found.collect::<PyResult<Vec<_>>>()?;
        found.try_into().map_err(|_| PyValueError::new_err("five kinds"))
    })
}

/// The C interface of a bit generator, which lives as long as the object.
fn interface(bit_generator: &Bound<'_, PyAny>) -> PyResult<*mut BitGen> {
    let capsule = bit_generator.getattr(intern!(bit_generator.py(), "capsule"))?;
    // SAFETY: the capsule is checked for its name.
    let found = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"BitGenerator".as_ptr()) };
    if found.is_null() { Err(PyErr::fetch(bit_generator.py())) } else { Ok(found.cast()) }
}

/// Whether a class has this name, or derives from one that has.
fn is_named(mut class: *mut ffi::PyTypeObject, name: &CStr) -> bool {
    while !class.is_null() {
        // SAFETY: classes and their bases live as long as the object.
        unsafe {
            if CStr::from_ptr((*class).tp_name) == name {
                return true;
            }
            class = (*class).tp_base;
        }
    }
    false
}

/// The type of an object in compiled code, if it is a generator or a bit generator of NumPy.
pub fn type_of(class: *mut ffi::PyTypeObject) -> Option<Ty> {
    if is_named(class, c"numpy.random._generator.Generator") {
        return Some(Ty::random_generator());
    }
    is_named(class, c"numpy.random.bit_generator.BitGenerator").then(Ty::bit_generator)
}

/// The words of such an object behind its owner: the address of its C interface, and its kind.
pub fn words(o: &Bound<'_, PyAny>, ty: Ty) -> PyResult<[u64; 2]> {
    let source = bit_generator(o, ty)?;
    let class = source.get_type();
    let at = known(o.py())?.iter().position(|(known, fits)| *fits && known.is(&class));
    Ok([interface(&source)? as u64, at.map_or(kind::FOREIGN, |i| i as i64 + 1) as u64])
}

/// The bit generator of an object of one of both types.
pub fn bit_generator<'py>(o: &Bound<'py, PyAny>, ty: Ty) -> PyResult<Bound<'py, PyAny>> {
    if ty == Ty::bit_generator() { Ok(o.clone()) } else { o.getattr(intern!(o.py(), "bit_generator")) }
}

/// The object of a type for another one, which owns the state.
pub fn of_owner<'py>(owner: &Bound<'py, PyAny>, ty: Ty) -> PyResult<Bound<'py, PyAny>> {
    let own = type_of(owner.get_type().as_type_ptr());
    match own {
        Some(own) if own == ty => Ok(owner.clone()),
        Some(_) if ty == Ty::bit_generator() => bit_generator(owner, Ty::random_generator()),
        _ => generator(owner),
    }
}

fn generator<'py>(bits: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    bits.py().import("numpy.random")?.getattr("Generator")?.call1((bits,))
}

/// A new object with the state of a bit generator that compiled code has made.
pub fn of_native<'py>(py: Python<'py>, native: &Native, ty: Ty) -> PyResult<Bound<'py, PyAny>> {
    let seeds = native.seeds();
    let (class, fits) = &known(py)?[native.kind() as usize - 1];
    if !fits {
        return Err(PyValueError::new_err("this version of NumPy has another state of such bit generators"));
    }
    let number = |words: &[u32]| words.iter().rev().map(|w| format!("{w:08x}")).collect::<String>();
    let entropy = py.get_type::<pyo3::types::PyInt>().call1((format!("0{}", number(&seeds.entropy)), 16))?;
    let given = PyDict::new(py);
    given.set_item("spawn_key", PyTuple::new(py, &seeds.spawn_key)?)?;
    given.set_item("pool_size", seeds.pool_size)?;
    given.set_item("n_children_spawned", seeds.children)?;
    let sequence = py.import("numpy.random")?.getattr("SeedSequence")?.call((entropy,), Some(&given))?;
    let made = class.bind(py).call1((sequence,))?;
    // SAFETY: the new object is of the kind.
    unsafe { native.copy_to(interface(&made)?) };
    if ty == Ty::bit_generator() { Ok(made) } else { generator(&made) }
}
