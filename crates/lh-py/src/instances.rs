//! Objects that are native values under a class: members of enumerations, and memory.

use crate::{np, objects};
use lh_infer::world::{EnumClass, Object};
use lh_ir::types::Buffer;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyType};
use pyo3::{ffi, intern};

/// Whether a class is one of an enumeration; flags that are no integers are not.
fn is_enum_class(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = class.py();
    // The class of classes of enumerations is not `type`.
    if class.get_type_ptr() == &raw mut ffi::PyType_Type {
        return Ok(false);
    }
    let module = py.import(intern!(py, "enum"))?;
    if !class.is_instance(&module.getattr(intern!(py, "EnumMeta"))?)? {
        return Ok(false);
    }
    let flags = class.cast::<PyType>()?.is_subclass(&module.getattr(intern!(py, "Flag"))?)?;
    Ok(!flags || class.cast::<PyType>()?.is_subclass_of::<PyInt>()?)
}

/// An enumeration, if a class is one whose members are objects of their own or integers: others are values of another class.
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
    let members = names
        .into_iter()
        .map(|name| {
            let value = map.get_item(&name)?.getattr(intern!(py, "_value_"))?;
            Ok((name, objects::intern(&value)))
        })
        .collect::<PyResult<Vec<_>>>()?;
    let name = class.getattr(intern!(py, "__name__"))?.cast::<PyString>()?.extract()?;
    Ok(Some(EnumClass { name, class: objects::intern(class), ints, members }))
}

/// The enumeration that a class is.
pub fn enum_class(class: &Bound<'_, PyAny>) -> Option<EnumClass> {
    // What cannot be read as an enumeration is none.
    read(class).ok().flatten()
}

/// An enumeration or a member of one.
pub fn enumeration(o: &Bound<'_, PyAny>) -> Option<Object> {
    if o.is_instance_of::<PyType>() {
        return enum_class(o).map(Object::EnumClass);
    }
    let class = o.get_type();
    let found = enum_class(class.as_any())?;
    let at = position(o, &class).ok()?;
    Some(Object::EnumMember(found, at))
}

fn position(member: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<usize> {
    let py = member.py();
    let name = member.getattr(intern!(py, "_name_"))?;
    class.getattr(intern!(py, "_member_names_"))?.call_method1(intern!(py, "index"), (name,))?.extract()
}

/// The word of a member: its position, or its value where members are integers. `None` if the object is no member.
pub fn enum_word(py: Python<'_>, o: *mut ffi::PyObject) -> Option<i64> {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let class = o.get_type();
    let found = enum_class(class.as_any())?;
    if found.ints {
        return o.getattr(intern!(py, "_value_")).ok()?.extract().ok();
    }
    position(&o, &class).ok().map(|at| at as i64)
}

/// The member of a word.
pub fn member<'py>(class: &Bound<'py, PyAny>, word: i64, ints: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if ints {
        return class.call1((word,));
    }
    let name = class.getattr(intern!(py, "_member_names_"))?.get_item(word)?;
    class.getattr(intern!(py, "_member_map_"))?.get_item(name)
}

/// The class of memory that an object is an instance of.
fn buffer_class(o: &Bound<'_, PyAny>) -> Option<Buffer> {
    let class = o.get_type_ptr();
    if class == &raw mut ffi::PyBytes_Type {
        Some(Buffer::Bytes)
    } else if class == &raw mut ffi::PyByteArray_Type {
        Some(Buffer::ByteArray)
    } else if class == &raw mut ffi::PyMemoryView_Type {
        Some(Buffer::MemoryView)
    } else {
        crate::classify::is_a(o, "array", "array").then_some(Buffer::Array)
    }
}

/// An array over an object's memory, and the number of its class.
pub fn array_of(py: Python<'_>, o: *mut ffi::PyObject) -> Option<(u64, Py<PyAny>)> {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let class = buffer_class(&o)?;
    let numpy = np::load(py).ok()?.module(py).clone();
    let array = match class {
        Buffer::Bytes | Buffer::ByteArray => {
            let dtype = numpy.getattr(intern!(py, "uint8")).ok()?;
            numpy.call_method1(intern!(py, "frombuffer"), (o, dtype))
        }
        Buffer::MemoryView | Buffer::Array => numpy.call_method1(intern!(py, "asarray"), (o,)),
    };
    let number = Buffer::ALL.iter().position(|b| *b == class).expect("all are listed");
    array.ok().map(|a| (number as u64, a.unbind()))
}

/// An array as an instance of a class of memory: the object that it is over, if it is all of it.
pub fn buffer<'py>(array: &Bound<'py, PyAny>, class: Buffer) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let base = array.getattr(intern!(py, "base"))?;
    if buffer_class(&base) == Some(class) {
        let whole: usize = match class {
            Buffer::MemoryView => base.getattr(intern!(py, "nbytes"))?.extract()?,
            Buffer::Array => base.len()? * base.getattr(intern!(py, "itemsize"))?.extract::<usize>()?,
            Buffer::Bytes | Buffer::ByteArray => base.len()?,
        };
        if array.getattr(intern!(py, "nbytes"))?.extract::<usize>()? == whole {
            return Ok(base);
        }
    }
    let builtins = py.import(intern!(py, "builtins"))?;
    let bytes = || array.call_method0(intern!(py, "tobytes"));
    match class {
        Buffer::Bytes => bytes(),
        Buffer::ByteArray => builtins.call_method1(intern!(py, "bytearray"), (bytes()?,)),
        Buffer::MemoryView => builtins.call_method1(intern!(py, "memoryview"), (array,)),
        Buffer::Array => {
            let code = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "char"))?;
            py.import(intern!(py, "array"))?.call_method1(intern!(py, "array"), (code, bytes()?))
        }
    }
}
