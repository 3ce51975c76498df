//! Signatures as Python objects, `types.int64(types.int64)`, and in their other forms.

use crate::host::types::{Type, as_ty, type_texts, type_tuple};
use crate::object::canonical::canonical;
use crate::object::type_text::{self, Parsed};
use lh_ir::Ty;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Argument types and, perhaps, a result type.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Signature {
    /// Result, when it is given.
    pub ret: Option<Ty>,
    /// Arguments.
    pub args: Vec<Ty>,
}

#[pymethods]
impl Signature {
    #[new]
    #[pyo3(signature = (return_type, *args))]
    fn new(return_type: Option<&Type>, args: &Bound<'_, PyTuple>) -> PyResult<Signature> {
        let args = args.iter().map(|a| as_ty(&a)).collect::<PyResult<_>>()?;
        Ok(Signature { ret: return_type.map(|t| t.0), args })
    }
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        type_tuple(py, &self.args)
    }
    #[getter]
    fn return_type(&self, py: Python<'_>) -> PyResult<Option<Py<Type>>> {
        self.ret.map(|t| Type::of(py, t)).transpose()
    }
    /// The type of functions that are called with these types.
    fn as_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        Type::of(py, self.ty()?)
    }
    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        type_texts(slf.py())?.call_method1(intern!(slf.py(), "signature"), (slf,))
    }
    /// How messages of the compiler write it.
    #[getter]
    fn own_name(&self) -> String {
        let args: Vec<String> = self.args.iter().map(|t| canonical(*t).numba().to_string()).collect();
        format!("({}) -> {}", args.join(", "), self.ret.map_or_else(|| "None".to_owned(), |t| t.numba().to_string()))
    }
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Signature>().is_ok_and(|s| s.get().ret == self.ret && s.get().args == self.args)
    }
    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        (self.ret, &self.args).hash(&mut h);
        h.finish()
    }
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let mut items = vec![slf.getattr("return_type")?];
        items.extend(slf.get().args(py)?.iter());
        Ok((py.get_type::<Signature>().into_any(), PyTuple::new(py, items)?))
    }
}

impl Signature {
    /// The type of functions that are called with these types.
    pub fn ty(&self) -> PyResult<Ty> {
        let ret = self.ret.ok_or_else(|| PyTypeError::new_err("a function type needs a result type"))?;
        Ok(Ty::function(self.args.clone(), ret))
    }
}

/// Reads an object that is used as a signature: result and argument types.
pub fn signature(o: &Bound<'_, PyAny>) -> PyResult<(Option<Ty>, Vec<Ty>)> {
    if let Ok(s) = o.cast::<Signature>() {
        return Ok((s.get().ret, canonical_all(&s.get().args)));
    }
    if let Ok(text) = o.cast::<PyString>() {
        return match type_text::parse(text.to_str()?)? {
            Parsed::Signature(ret, args) => Ok((ret, args)),
            // A type alone is that of the only argument.
            Parsed::Type(t) => Ok((None, vec![canonical(t)])),
        };
    }
    if let Ok(items) = o.cast::<PyTuple>() {
        let args = items.iter().map(|t| as_ty(&t).map(canonical)).collect::<PyResult<_>>()?;
        return Ok((None, args));
    }
    Err(PyTypeError::new_err(format!("a signature is a string, a tuple of types or a called type, not {}", o.repr()?)))
}

/// The signature of a text.
#[pyfunction]
pub fn parse_signature(text: &str) -> PyResult<Signature> {
    match type_text::parse(text)? {
        Parsed::Type(t) => Ok(Signature { ret: None, args: vec![canonical(t)] }),
        Parsed::Signature(ret, args) => Ok(Signature { ret, args }),
    }
}

/// The types as they are shown and compared.
pub fn canonical_all(tys: &[Ty]) -> Vec<Ty> {
    tys.iter().map(|t| canonical(*t)).collect()
}
