//! Types of values, as `typeof` tells them.

use crate::call::args::ArgBuf;
use crate::call::decode::Decoder;
use crate::call::tags::Refused;
use crate::host::extensions;
use crate::host::types::Type;
use crate::object::class_names::short_text;
use crate::object::{errors, numpy};
use lh_ir::Ty;
use pyo3::prelude::*;

/// The type that a value has as an argument of a compiled function.
#[pyfunction]
#[pyo3(name = "typeof")]
pub fn type_of(value: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    let py = value.py();
    numpy::load(py)?;
    if let Ok(t) = value.cast::<Type>() {
        return Type::of(py, Ty::dtype(t.get().0));
    }
    // Its value is not asked for, which the program's functions may be unable to give.
    if let Some(t) = extensions::registered(value)?.filter(|t| t.extension().is_some()) {
        return Type::of(py, t);
    }
    match extensions::without_loading(|| as_argument(value)) {
        Ok(t) => Type::of(py, t),
        Err(why) => {
            let reason = why.reason(py)?;
            // Device arrays say it themselves.
            if value.hasattr("_numba_type_")? {
                return Ok(value.getattr("_numba_type_")?.cast_into::<Type>()?.unbind());
            }
            let text = format!("cannot determine the type of {}: {reason}", short_text(value));
            Err(errors::error_of(py, "NumbaValueError", &text))
        }
    }
}

/// The same of any object: of one whose class has no type, and of an array of such, it is `types.pyobject`.
#[pyfunction]
pub fn type_of_argument(value: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    match extensions::without_loading(|| as_argument_of(value, true)) {
        Ok(t) => Type::of(value.py(), t),
        Err(why) => why.reason(value.py()).and_then(|_| type_of(value)),
    }
}

fn as_argument(o: &Bound<'_, PyAny>) -> Result<Ty, Refused> {
    as_argument_of(o, false)
}

fn as_argument_of(o: &Bound<'_, PyAny>, takes_objects: bool) -> Result<Ty, Refused> {
    let mut buf = ArgBuf::default();
    buf.takes_objects = takes_objects;
    // SAFETY: `o` is alive and outlives the buffer.
    unsafe { buf.push(o.as_ptr())? };
    if buf.undecided { Err(Refused::EmptyList) } else { Ok(Decoder::new(o.py(), &buf.tags).next_ty()) }
}
