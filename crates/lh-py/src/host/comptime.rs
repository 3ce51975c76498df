//! Arguments that a call is compiled for by their identity: functions, classes, types, dtypes and the like.

use crate::host::classify::classify;
use crate::host::types::Type;
use crate::host::{decorated, foreign, parts, table, ufuncs};
use crate::object::{numpy, paths};
use lh_infer::world::Object;
use lh_ir::{Ty, TyKind};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyEllipsis, PyFunction, PyType};

/// The type of such an object.
pub fn ty(o: &Bound<'_, PyAny>) -> Ty {
    let id = table::intern(o);
    match classify(o) {
        Object::Func(f) => Ty::new(TyKind::Func(f)),
        Object::DType(t) => Ty::dtype(t),
        Object::Ellipsis => Ty::ellipsis(),
        _ => Ty::new(TyKind::Obj(id)),
    }
}

/// Whether all instances of a class are constants.
pub fn is_class_of_constants(class: *mut ffi::PyTypeObject) -> bool {
    let own = [&raw mut ffi::PyFunction_Type, &raw mut ffi::PyType_Type, decorated::dispatcher_type()];
    // SAFETY: a live class.
    own.contains(&class) || unsafe { ffi::PyType_IsSubtype(class, numpy::dtype_type()) } != 0
}

/// Whether an object is one of those.
pub fn is_comptime(o: &Bound<'_, PyAny>) -> bool {
    o.is_instance_of::<PyFunction>()
        || decorated::is_dispatcher(o)
        || o.is_instance_of::<PyType>()
        || o.is_instance_of::<PyCFunction>()
        || o.is_instance_of::<PyEllipsis>()
        || o.is_instance_of::<Type>()
        || paths::is_numpy_callable(o)
        || ufuncs::dispatcher(o).is_some()
        || parts::is_stencil(o)
        || parts::is_partial(o)
        || parts::is_getter(o)
        || parts::is_cached(o)
        || numpy::is_dtype(o).unwrap_or(false)
        || foreign::is_known_c_function(o)
        || decorated::device_function(o).is_ok_and(|found| found.is_some())
}
