//! The value of an operation whose inputs have theirs, by the compiled function of the operation.

use crate::lazy::layout::{Lazy, Node, Op, View};
use crate::lazy::regions;
use crate::lazy::setup::{Setup, field, node, owner, setup};
use crate::lazy::views::part;
use crate::object::array::ArrayObject;
use crate::object::numpy;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use smallvec::SmallVec;
use std::ffi::{c_int, c_long};

/// Results of so many bytes are stored in arrays of NumPy, which keeps memory of this size at hand, so that the call
/// takes half the time. Greater ones are not: some operations would compute them twice.
const SMALL: usize = 4096;

/// Bytes of an element of a type with this number, for numbers and truth values that compiled code has.
pub fn itemsize(num: c_int) -> Option<usize> {
    Some(match num {
        0..=2 => 1,
        3 | 4 => 2,
        5 | 6 | 11 => 4,
        7 | 8 => size_of::<c_long>(),
        9 | 10 | 12 | 14 => 8,
        15 => 16,
        _ => return None,
    })
}

/// An object as an array of NumPy, if it is one of this class itself.
#[inline(always)]
pub fn numpy_array<'a>(o: &'a Bound<'_, PyAny>) -> Option<&'a ArrayObject> {
    // SAFETY: the class fixes the struct.
    (o.get_type_ptr() == numpy::ndarray_type()).then(|| unsafe { &*o.as_ptr().cast::<ArrayObject>() })
}

type Given<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// The value of an array after it was computed, if that is simple.
fn value<'py>(setup: &Setup, array: &Lazy<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(view) = array.view() {
        // SAFETY: arrays refer to views.
        let view = unsafe { View::new(view) };
        let newest = owner(&view)?.node();
        let is_now = matches!((view.now(), newest), (Some(now), Some(newest)) if now.is(&newest));
        if is_now && !view.asked().is_some_and(|a| a.is_truthy().unwrap_or(false)) {
            if view.read().is_some() {
                return Ok(None);
            }
            view.set_asked(PyBool::new(array.0.py(), true).to_owned().into_any());
        }
        return if is_now { Ok(view.shadow()) } else { Ok(None) };
    }
    let node = node(array.node())?;
    if node.value().is_none() && !evaluate(setup, &node)? {
        return Ok(None);
    }
    Ok(node.value())
}

/// Up to this many pending operations run one by one: a region would be one call, but compiles on first use.
const FEW: usize = 8;

/// Gives a node its value, if all its inputs have theirs or are small themselves, and the functions of the operations
/// are there. Raises what the operations raise.
fn evaluate<'py>(setup: &Setup, node: &Node<'py>) -> PyResult<bool> {
    if setup.has_devices(node.0.py()) {
        return Ok(false);
    }
    if is_ready(node, &mut FEW.clone())? {
        return run(setup, node);
    }
    regions::evaluate(setup, node)
}

/// Whether the functions of a node and of those behind it are there. `count` is the number of further operations.
fn is_ready(node: &Node<'_>, count: &mut usize) -> PyResult<bool> {
    if node.schedule().is_some() {
        return Ok(false);
    }
    // SAFETY: nodes have operations.
    let op = unsafe { Op::new(field(node.op())?) };
    let fits = extents(&field(node.shape())?, &field(node.dtype())?)?.is_some();
    let is_there = match op.filling() {
        // Python makes the function that is missing.
        None if fits => false,
        Some(filling) if fits && !is_false(&filling) => true,
        _ => op.alone().is_some(),
    };
    if !is_there {
        return Ok(false);
    }
    for input in field(node.inputs())?.cast_exact::<PyTuple>()?.iter_borrowed() {
        // SAFETY: the inputs of nodes are nodes.
        let input = unsafe { Node::new(input.to_owned()) };
        if input.value().is_none() {
            let is_small = extents(&field(input.shape())?, &field(input.dtype())?)?.is_some();
            if *count == 0 || !is_small || has_parts(&input) {
                return Ok(false);
            }
            *count -= 1;
            if !is_ready(&input, count)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether an operation has several results.
pub fn has_parts(node: &Node<'_>) -> bool {
    node.parts().is_some_and(|p| p.len().is_ok_and(|n| n != 0))
}

/// Gives a node its value, which [`is_ready`].
fn run<'py>(setup: &Setup, node: &Node<'py>) -> PyResult<bool> {
    let py = node.0.py();
    // SAFETY: nodes have operations.
    let op = unsafe { Op::new(field(node.op())?) };
    let (inputs, dynamic) = (field(node.inputs())?, field(node.dynamic())?);
    let (inputs, dynamic) = (inputs.cast_exact::<PyTuple>()?, dynamic.cast_exact::<PyTuple>()?);
    if node.value().is_some() {
        // Another thread was faster, and has dropped the operands.
        return Ok(true);
    }
    let mut given = Given::new();
    for input in inputs.iter_borrowed() {
        // SAFETY: the inputs of nodes are nodes.
        let input = unsafe { Node::new(input.to_owned()) };
        if input.value().is_none() && !run(setup, &input)? {
            return Ok(false);
        }
        given.push(field(input.value())?);
    }
    if op.0.is(&setup.strided)
        && let [whole] = &given[..]
        && let Some(part) = part_of(whole, dynamic)?
    {
        settle(node, part);
        return Ok(true);
    }
    given.extend(dynamic.iter());
    let (shape, dtype) = (field(node.shape())?, field(node.dtype())?);
    if let Some(filling) = op.filling().filter(|f| !is_false(f))
        && let Some(extents) = extents(&shape, &dtype)?
    {
        let out = numpy::load(py)?.new_array(dtype, &extents)?;
        given.push(out.clone());
        if let Err(error) = called(&filling, &given) {
            return Err(failed(setup, node, error));
        }
        settle(node, out);
        return Ok(true);
    }
    let Some(alone) = op.alone() else { return Ok(false) };
    let value = called(&alone, &given).map_err(|error| failed(setup, node, error))?;
    if numpy_array(&value).is_some_and(|a| is_of(a, &dtype, &shape)) {
        settle(node, value);
    } else {
        setup.settle.bind(py).call1((&node.0, value))?;
    }
    Ok(true)
}

/// A view of an array in row-major order by the place of its first element, its extents and strides.
fn part_of<'py>(whole: &Bound<'py, PyAny>, facts: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(array) = numpy_array(whole).filter(|a| a.flags & numpy::C_CONTIGUOUS != 0) else { return Ok(None) };
    // SAFETY: the dtype of a live array.
    let Some(size) = itemsize(unsafe { numpy::number_of(array.descr) }) else { return Ok(None) };
    let first: isize = facts.get_item(0)?.extract()?;
    let (shape, strides) = (facts.get_item(1)?, facts.get_item(2)?);
    let numbers = |of: &Bound<'py, PyAny>| -> PyResult<SmallVec<[isize; 8]>> {
        of.cast_exact::<PyTuple>()?.iter_borrowed().map(|n| n.extract()).collect()
    };
    let (shape, strides) = (numbers(&shape)?, numbers(&strides)?);
    part(whole, array, first * size as isize, &shape, &strides).map(Some)
}

fn is_false(o: &Bound<'_, PyAny>) -> bool {
    // SAFETY: an object that lives forever.
    o.as_ptr() == unsafe { ffi::Py_False() }
}

pub fn settle<'py>(node: &Node<'py>, value: Bound<'py, PyAny>) {
    let empty = PyTuple::empty(node.0.py()).into_any();
    node.set_value(value);
    // The operands are not needed any more. Whoever reads them asks for the value afterwards.
    node.set_inputs(empty.clone());
    node.set_dynamic(empty);
}

#[cold]
fn failed(setup: &Setup, node: &Node<'_>, error: PyErr) -> PyErr {
    let py = node.0.py();
    match setup.failed.bind(py).call1((&node.0, error.value(py))) {
        Ok(_) => error,
        Err(other) => other,
    }
}

/// Has Python say which operation of a region failed.
#[cold]
pub fn failed_region(setup: &Setup, error: PyErr, region: &Bound<'_, PyAny>, order: &Bound<'_, PyAny>) -> PyErr {
    let py = region.py();
    match setup.failed_region.bind(py).call1((error.value(py), region, order)) {
        Ok(_) => error,
        Err(other) => other,
    }
}

pub fn called<'py>(f: &Bound<'py, PyAny>, given: &Given<'py>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `Bound` is a pointer to a live object; the thread is attached.
    unsafe {
        let result = ffi::PyObject_Vectorcall(f.as_ptr(), given.as_ptr().cast(), given.len(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(f.py(), result)
    }
}

/// The extents of arrays of a shape and a type, if they are small and have numbers or truth values.
fn extents(shape: &Bound<'_, PyAny>, dtype: &Bound<'_, PyAny>) -> PyResult<Option<SmallVec<[isize; 8]>>> {
    // SAFETY: types of nodes are dtypes.
    let num = unsafe { numpy::number_of(dtype.as_ptr().cast()) };
    let Some(mut bytes) = itemsize(num) else { return Ok(None) };
    let mut extents = SmallVec::new();
    for n in shape.cast_exact::<PyTuple>()?.iter_borrowed() {
        let n: isize = n.extract()?;
        // An extent of -1 is one that only the value tells.
        let Ok(extent) = usize::try_from(n) else { return Ok(None) };
        bytes = bytes.saturating_mul(extent);
        extents.push(n);
    }
    Ok((bytes <= SMALL).then_some(extents))
}

/// Whether an array has a type and a shape.
pub fn is_of(array: &ArrayObject, dtype: &Bound<'_, PyAny>, shape: &Bound<'_, PyAny>) -> bool {
    let is_same = dtype.as_ptr().cast() == array.descr.cast_mut();
    let Ok(shape) = shape.cast_exact::<PyTuple>() else { return false };
    let extents = array.extents();
    is_same
        && shape.len() == extents.len()
        && shape.iter_borrowed().zip(extents).all(|(n, extent)| n.extract::<isize>().is_ok_and(|n| n == *extent))
}

/// `compute()`: computes the value now, and answers with the array itself.
pub fn compute<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let setup = setup(this.py())?;
    // SAFETY: it is a method of arrays.
    match value(setup, &unsafe { Lazy::new(this.clone()) })? {
        Some(_) => Ok(this.clone()),
        None => setup.compute.bind(this.py()).call1((this,)),
    }
}

/// `numpy()`: the value as an array of NumPy.
pub fn numpy<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let setup = setup(this.py())?;
    // SAFETY: it is a method of arrays.
    match value(setup, &unsafe { Lazy::new(this.clone()) })? {
        Some(found) if numpy_array(&found).is_some() => Ok(found),
        _ => setup.numpy.bind(this.py()).call1((this,)),
    }
}
