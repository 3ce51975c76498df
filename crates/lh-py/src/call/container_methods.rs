//! Methods of typed containers that are as fast as those of Python's own; `lancehead/typed.py` has the others.

use crate::call::boxing::Boxer;
use crate::call::container::{Container, State};
use crate::call::tables::{live, new_native};
use crate::call::tags::Refused;
use crate::host::types::{Type, as_ty};
use lh_ir::TyKind;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::sync::OnceLock;

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
        let native = new_native(ty).map_err(|why| match why {
            Refused::TooLarge => PyMemoryError::new_err(()),
            why => PyTypeError::new_err(format!("there is no container of type {ty}: {}", why.reason())),
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
            Some(s) => live(&s.items, s.ty),
        }
    }
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(State { items, item: Some(item), .. }) = slf.get().state.get()
            && key.is_exact_instance_of::<PyInt>()
        {
            let n = items.len() as isize;
            let i = key.extract::<isize>().ok().map(|i| if i < 0 { i + n } else { i });
            let i = i.filter(|i| (0..n).contains(i)).ok_or_else(|| PyIndexError::new_err("list index out of range"))?;
            // SAFETY: an item of the list.
            let at = unsafe { (*items.as_ptr()).mem.data.add(i as usize * item.size) };
            return match item.ty.kind() {
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
            };
        }
        slf.call_method1(intern!(py, "_get"), (key,))
    }
}
