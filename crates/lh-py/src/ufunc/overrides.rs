//! Operands that override calls of ufuncs (`__array_ufunc__`). A DUFunc passes itself to them, so that it compiles
//! loops wherever they apply it.

use crate::object::numpy;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyInt, PyTuple, PyType};

/// An operand with its class.
type Operand<'py> = (Bound<'py, PyAny>, Bound<'py, PyType>);

/// The result of the first operand that overrides the call; `None` if no operand does.
pub fn call<'py>(
    ufunc: &Bound<'py, PyAny>,
    nin: usize,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = ufunc.py();
    if kwargs.is_none() && args.iter().all(|a| is_plain(&a)) {
        return Ok(None);
    }
    let nin = nin.min(args.len());
    let (inputs, mut outs) = (args.get_slice(0, nin), args.get_slice(nin, args.len()));
    let kwargs = kwargs.map_or_else(|| Ok(PyDict::new(py)), |k| k.copy())?;
    // Outputs are passed by name, in a tuple.
    match kwargs.get_item("out")?.filter(|o| !o.is_none()) {
        Some(out) if out.is_instance_of::<PyTuple>() => outs = out.cast_into()?,
        Some(out) => outs = PyTuple::new(py, [out])?,
        None => {}
    }
    let found = found(inputs.iter().chain(outs.iter()))?;
    if found.is_empty() {
        return Ok(None);
    }
    if !outs.is_empty() {
        kwargs.set_item("out", &outs)?;
    }
    let mut given = vec![ufunc.clone(), intern!(py, "__call__").clone().into_any()];
    given.extend(inputs.iter());
    let given = PyTuple::new(py, given)?;
    for (operand, _) in &found {
        let result = operand.getattr(intern!(py, "__array_ufunc__"))?.call(&given, Some(&kwargs))?;
        if !result.is(py.NotImplemented()) {
            return Ok(Some(result));
        }
    }
    let classes = found.iter().map(|(_, c)| Ok(format!("'{}'", c.name()?))).collect::<PyResult<Vec<_>>>()?;
    Err(PyTypeError::new_err(format!(
        "operand type(s) all returned NotImplemented from __array_ufunc__({}, '__call__', ...): {}",
        ufunc.repr()?,
        classes.join(", ")
    )))
}

/// Whether an operand is a number or an array of NumPy's own, as nearly all are.
fn is_plain(o: &Bound<'_, PyAny>) -> bool {
    o.is_exact_instance_of::<PyFloat>()
        || o.is_exact_instance_of::<PyInt>()
        || o.is_exact_instance_of::<PyComplex>()
        || o.get_type().getattr(intern!(o.py(), "__array_ufunc__")).is_ok_and(|own| is_numpys(&own))
}

fn is_numpys(method: &Bound<'_, PyAny>) -> bool {
    let py = method.py();
    let numpys = numpy::load(py)
        .and_then(|n| n.module(py).getattr(intern!(py, "ndarray")))
        .and_then(|array| array.getattr(intern!(py, "__array_ufunc__")));
    numpys.is_ok_and(|numpys| numpys.is(method))
}

/// The operands that override, in the order in which they are asked: subclasses before their bases, else from left to
/// right, and of each class the first. An operand whose `__array_ufunc__` is `None` refuses ufuncs; NumPy reports
/// that.
fn found<'py>(operands: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<Vec<Operand<'py>>> {
    let mut all: Vec<Operand<'py>> = Vec::new();
    for operand in operands {
        let class = operand.get_type();
        let method = class.getattr(intern!(operand.py(), "__array_ufunc__"));
        let is_own = method.is_ok_and(|m| !m.is_none() && !is_numpys(&m));
        if !is_own || all.iter().any(|(_, known)| known.is(&class)) {
            continue;
        }
        let mut at = all.len();
        for (i, (_, known)) in all.iter().enumerate().rev() {
            if class.is_subclass(known)? {
                at = i;
            }
        }
        all.insert(at, (operand, class));
    }
    Ok(all)
}
