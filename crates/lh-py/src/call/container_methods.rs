//! Methods of typed containers that are as fast as those of Python's own; `lancehead/typed.py` has the others.

use crate::call::boxing::Boxer;
use crate::call::container::{Container, State};
use crate::call::item::Item;
use crate::call::tables::new_native;
use crate::host::types::{Type, as_ty};
use lh_ir::TyKind;
use lh_runtime::items::ItemsRef;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

#[pymethods]
impl Container {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyAny>>) -> Container {
        Container { state: OnceLock::new() }
    }
    /// Gives a container that has no type one, which is a list, dictionary or set.
    fn _make(slf: &Bound<'_, Self>, ty: &Bound<'_, PyAny>) -> PyResult<()> {
        let ty = as_ty(ty)?;
        let native = new_native(ty).map_err(|why| match why.reason(slf.py()) {
            Ok(reason) => PyTypeError::new_err(format!("there is no container of type {ty}: {reason}")),
            Err(error) => error,
        })?;
        slf.get().hold(slf.as_any(), ty, native)
    }
    /// Makes room for so many items of a list.
    fn _reserve(&self, n: usize) -> PyResult<()> {
        match self.state.get() {
            Some(s) if s.item.is_some() && !s.items.reserve(n) => Err(PyMemoryError::new_err(())),
            _ => Ok(()),
        }
    }
    /// The number of items that a list has room for.
    fn _allocated(&self) -> usize {
        self.state.get().map_or(0, |s| s.items.allocated())
    }
    /// Whether the container may be changed.
    fn _is_mutable(&self) -> bool {
        self.state.get().is_none_or(|s| !s.items.is_frozen())
    }
    /// Allows or refuses changes of a list.
    fn _freeze(&self, frozen: bool) {
        if let Some(s) = self.state.get().filter(|s| s.item.is_some()) {
            s.items.freeze(frozen);
        }
    }
    /// The type, or None as long as nothing decides it.
    #[getter]
    fn _type(&self, py: Python<'_>) -> PyResult<Option<Py<Type>>> {
        self.state.get().map(|s| Type::of(py, s.ty)).transpose()
    }
    /// Whether the type is decided.
    #[getter]
    fn _typed(&self) -> bool {
        self.state.get().is_some()
    }
    fn __len__(&self) -> usize {
        match self.state.get() {
            None => 0,
            Some(s) if s.item.is_some() => s.items.len(),
            // SAFETY: the object is a table.
            Some(s) => unsafe { lh_runtime::tables::live(s.items.as_ptr()) },
        }
    }
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(State { items, item: Some(item), .. }) = slf.get().state.get()
            && key.is_exact_instance_of::<PyInt>()
        {
            let i = index(items, key).ok_or_else(|| PyIndexError::new_err("list index out of range"))?;
            return item_at(py, items, item, i);
        }
        slf.call_method1(intern!(py, "_get"), (key,))
    }
    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(State { items, item: Some(item), .. }) = slf.get().state.get()
            && !items.is_frozen()
            && key.is_exact_instance_of::<PyInt>()
            && let (Some(i), Some(word)) = (index(items, key), word_of(item, value))
        {
            // SAFETY: an item of one word lies there.
            unsafe { items.item(i).cast::<u64>().write(word) };
            return Ok(());
        }
        slf.call_method1(intern!(slf.py(), "_set"), (key, value)).map(drop)
    }
    fn __delitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.call_method1(intern!(slf.py(), "_del"), (key,)).map(drop)
    }
    /// Appends a number to a list of such; false if it is something else.
    fn _push(&self, value: &Bound<'_, PyAny>) -> bool {
        let Some(State { items, item: Some(item), .. }) = self.state.get() else { return false };
        let Some(word) = word_of(item, value) else { return false };
        match items.clone().push() {
            // SAFETY: there is room for an item, which is of one word.
            Some(at) => unsafe { at.cast::<u64>().write(word) },
            None => return false,
        }
        true
    }
    fn __iter__(slf: &Bound<'_, Self>) -> ListIterator {
        ListIterator { list: slf.clone().unbind(), at: AtomicUsize::new(0) }
    }
}

/// An iterator over a typed list.
#[pyclass(frozen, module = "lancehead._core")]
pub struct ListIterator {
    list: Py<Container>,
    at: AtomicUsize,
}

#[pymethods]
impl ListIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }
    fn __next__<'py>(&self, py: Python<'py>) -> Option<PyResult<Bound<'py, PyAny>>> {
        let State { items, item: Some(item), .. } = self.list.get().state.get()? else { return None };
        let at = self.at.load(Relaxed);
        if at >= items.len() {
            // It stays at its end, even if the list grows.
            self.at.store(usize::MAX, Relaxed);
            return None;
        }
        self.at.store(at + 1, Relaxed);
        Some(item_at(py, items, item, at))
    }
}

/// The place of an item; negative indices count from the end.
fn index(items: &ItemsRef, key: &Bound<'_, PyAny>) -> Option<usize> {
    let n = items.len() as isize;
    let i = key.extract::<isize>().ok().map(|i| if i < 0 { i + n } else { i });
    i.filter(|i| (0..n).contains(i)).map(|i| i as usize)
}

/// The item of a list at a place that exists.
fn item_at<'py>(py: Python<'py>, items: &ItemsRef, item: &Item, i: usize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: an item of the list.
    let at = unsafe { (*items.as_ptr()).mem.data.add(i * item.size) };
    match item.ty.kind() {
        TyKind::Int { bits: 64, signed: true, .. } => {
            // SAFETY: an item of one word lies there.
            let item = unsafe { at.cast::<i64>().read() };
            Ok(item.into_pyobject(py)?.into_any())
        }
        TyKind::Float { bits: 64, .. } => {
            // SAFETY: as above.
            let item = unsafe { at.cast::<f64>().read() };
            Ok(item.into_pyobject(py)?.into_any())
        }
        // SAFETY: an item of this type lies there.
        _ => Boxer::new(py, None).sharing().borrowed(item.ty, &unsafe { item.slots(at) }),
    }
}

/// The word of a number of Python's that is an item of its own type; `None` for everything else.
fn word_of(item: &Item, value: &Bound<'_, PyAny>) -> Option<u64> {
    match item.ty.kind() {
        TyKind::Int { bits: 64, signed: true, .. } if value.is_exact_instance_of::<PyInt>() => {
            value.extract::<i64>().ok().map(|i| i as u64)
        }
        TyKind::Float { bits: 64, .. } if value.is_exact_instance_of::<PyFloat>() => {
            value.extract::<f64>().ok().map(f64::to_bits)
        }
        _ => None,
    }
}
