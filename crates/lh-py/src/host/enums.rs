//! Enumerations and their members as compiled code has them.

use crate::host::table;
use lh_infer::world::{EnumClass, Object};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyType};
use pyo3::{ffi, intern};

/// Whether a class is an enumeration.
fn is_enum_class(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = class.py();
    // The class of an enumeration is never `type` itself.
    if class.get_type_ptr() == &raw mut ffi::PyType_Type {
        return Ok(false);
    }
    let module = py.import(intern!(py, "enum"))?;
    class.is_instance(&module.getattr(intern!(py, "EnumMeta"))?)
}

/// Whether an enumeration is one of flags.
fn is_flags(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let flag = class.py().import(intern!(class.py(), "enum"))?.getattr(intern!(class.py(), "Flag"))?;
    class.cast::<PyType>()?.is_subclass(&flag)
}

/// Reads an enumeration whose members are plain objects or integers; members of others are instances of further
/// classes.
fn read(class: &Bound<'_, PyAny>) -> PyResult<Option<EnumClass>> {
    let py = class.py();
    if !is_enum_class(class)? {
        return Ok(None);
    }
    let kind = class.getattr(intern!(py, "_member_type_"))?;
    let ints = kind.is(py.get_type::<PyInt>());
    let plain = kind.cast::<PyType>().is_ok_and(|t| t.name().is_ok_and(|n| n == "object"));
    if !ints && !plain {
        return Ok(None);
    }
    let names: Vec<String> = class.getattr(intern!(py, "_member_names_"))?.extract()?;
    let map = class.getattr(intern!(py, "_member_map_"))?;
    let all: Vec<String> =
        map.call_method0(intern!(py, "keys"))?.try_iter()?.map(|k| k?.extract()).collect::<PyResult<_>>()?;
    let aliases = all.into_iter().filter(|name| !names.contains(name)).collect();
    let with_values = |names: Vec<String>| {
        let value = |name: &String| map.get_item(name)?.getattr(intern!(py, "_value_"));
        names
            .into_iter()
            .map(|name| Ok((table::intern(&value(&name)?), name)))
            .map(|v: PyResult<_>| v.map(|(v, n)| (n, v)))
            .collect::<PyResult<Vec<_>>>()
    };
    let (members, aliases) = (with_values(names)?, with_values(aliases)?);
    let name = class.getattr(intern!(py, "__name__"))?.cast::<PyString>()?.extract()?;
    Ok(Some(EnumClass { name, class: table::intern(class), ints, flags: is_flags(class)?, members, aliases }))
}

/// The enumeration that a class is.
pub fn enum_class(class: &Bound<'_, PyAny>) -> Option<EnumClass> {
    // A class that cannot be read is no enumeration.
    read(class).ok().flatten()
}

/// An enumeration or a member of one.
pub fn enumeration(o: &Bound<'_, PyAny>) -> Option<Object> {
    if o.is_instance_of::<PyType>() {
        return enum_class(o).map(Object::EnumClass);
    }
    let class = o.get_type();
    let found = enum_class(class.as_any())?;
    let at = match found.flags {
        true => o.getattr(intern!(o.py(), "_value_")).ok()?.extract::<i64>().ok()? as usize,
        false => position(o, &class).ok()?,
    };
    Some(Object::EnumMember(found, at))
}

fn position(member: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<usize> {
    let py = member.py();
    let name = member.getattr(intern!(py, "_name_"))?;
    class.getattr(intern!(py, "_member_names_"))?.call_method1(intern!(py, "index"), (name,))?.extract()
}

/// The word of a member: its position, or its value where members are integers or flags. `None` if the object is no
/// member.
pub fn enum_word(py: Python<'_>, o: *mut ffi::PyObject) -> Option<i64> {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let class = o.get_type();
    let found = enum_class(class.as_any())?;
    if found.ints || found.flags {
        return o.getattr(intern!(py, "_value_")).ok()?.extract().ok();
    }
    position(&o, &class).ok().map(|at| at as i64)
}

/// The member of a word.
pub fn member<'py>(class: &Bound<'py, PyAny>, word: i64, ints: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if ints || is_flags(class)? {
        return class.call1((word,));
    }
    let name = class.getattr(intern!(py, "_member_names_"))?.get_item(word)?;
    class.getattr(intern!(py, "_member_map_"))?.get_item(name)
}
