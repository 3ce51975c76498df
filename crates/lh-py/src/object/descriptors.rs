//! Properties and static methods: attributes of classes that are no functions themselves.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

unsafe extern "C" {
    static mut PyStaticMethod_Type: ffi::PyTypeObject;
    static mut PyMethod_Type: ffi::PyTypeObject;
}

/// Whether an object is a property.
pub fn is_property(o: &Bound<'_, PyAny>) -> bool {
    o.get_type_ptr() == &raw mut ffi::PyProperty_Type
}

/// The class and the function of a class method that has been read from its class.
pub fn class_method<'py>(o: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    if o.get_type_ptr() != &raw mut PyMethod_Type {
        return Ok(None);
    }
    let (own, function) = (o.getattr("__self__")?, o.getattr("__func__")?);
    Ok(own.is_instance_of::<PyType>().then_some((own, function)))
}

/// Whether an attribute of a class is a static method.
pub fn is_static(class: &Bound<'_, PyAny>, name: &str) -> bool {
    let Ok(class) = class.cast::<PyType>() else { return false };
    for c in class.mro().iter() {
        if let Ok(raw) = c.getattr("__dict__").and_then(|d| d.get_item(name)) {
            return raw.get_type_ptr() == &raw mut PyStaticMethod_Type;
        }
    }
    false
}
