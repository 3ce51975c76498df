//! Texts of compiled code as Python's, and the other way round. Both may have lone surrogates.

use lh_runtime::{Text, TextBuf};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};

/// A `str`.
pub fn object<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyAny>> {
    let bytes = text.as_bytes();
    let (data, len) = (bytes.as_ptr().cast(), bytes.len() as ffi::Py_ssize_t);
    // SAFETY: so many bytes, and the name of an error handler.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyUnicode_DecodeUTF8(data, len, c"surrogatepass".as_ptr())) }
}

/// The bytes of a `str` as compiled code has them.
pub fn encoded<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyBytes>> {
    let py = text.py();
    let bytes = text.call_method1(intern!(py, "encode"), (intern!(py, "utf-8"), intern!(py, "surrogatepass")))?;
    Ok(bytes.cast_into()?)
}

/// The text of a `str`.
pub fn owned(text: &Bound<'_, PyString>) -> PyResult<TextBuf> {
    Ok(match text.to_str() {
        Ok(plain) => plain.into(),
        Err(_) => Text::of(encoded(text)?.as_bytes()).to_owned(),
    })
}
