//! The table of operations as Python objects, for tests.

use lh_ir::Const;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};

/// A constant as the name of its type and its value.
fn typed<'py>(py: Python<'py>, c: &Const) -> PyResult<Bound<'py, PyTuple>> {
    let value = match c {
        Const::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        Const::Int(i, _) => PyInt::new(py, *i).into_any(),
        Const::Float(x, _) => PyFloat::new(py, *x).into_any(),
        Const::None | Const::Complex(..) | Const::Str(_) => py.None().into_bound(py),
    };
    (c.ty().numba().to_string(), value).into_pyobject(py)
}

/// The name of each operation, the Python callables that mean it, and its examples: operands and result.
#[pyfunction]
pub fn operations(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyTuple>>> {
    let mut all = Vec::new();
    for op in lh_ops::all() {
        let mut examples = Vec::new();
        for (args, result) in op.examples {
            let args = args.iter().map(|a| typed(py, a)).collect::<PyResult<Vec<_>>>()?;
            examples.push((args, typed(py, result)?));
        }
        all.push((op.name, op.python.to_vec(), examples).into_pyobject(py)?);
    }
    Ok(all)
}
