//! Enumerations and their members as compiled code has them.

use crate::host::table;
use crate::object::lock::lock;
use lh_infer::world::{EnumClass, Object};
use lh_ir::Ty;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyFunction, PyInt, PyString, PyType};
use pyo3::{ffi, intern};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

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

/// The type of the values that members of an enumeration are, by the class from which they derive: none of plain
/// objects. `None` if members are instances of further classes, or something else than their values.
fn type_of_values(class: &Bound<'_, PyAny>) -> PyResult<Option<Option<Ty>>> {
    let py = class.py();
    let kind = class.getattr(intern!(py, "_member_type_"))?;
    if kind.is(py.get_type::<PyInt>()) {
        return Ok(Some(Some(Ty::int())));
    }
    let of = match kind {
        k if k.is(py.get_type::<PyString>()) => Ty::str(),
        k if k.is(py.get_type::<PyFloat>()) => Ty::float(),
        k => return Ok(k.cast::<PyType>().is_ok_and(|t| t.name().is_ok_and(|n| n == "object")).then_some(None)),
    };
    for member in class.getattr(intern!(py, "_member_map_"))?.call_method0(intern!(py, "values"))?.try_iter()? {
        let member = member?;
        let value = member.getattr(intern!(py, "_value_"))?;
        let is_plain = if of == Ty::str() {
            value.is_exact_instance_of::<PyString>()
        } else {
            value.is_exact_instance_of::<PyFloat>()
        };
        if !is_plain || !member.rich_compare(&value, CompareOp::Eq)?.is_truthy()? {
            return Ok(None);
        }
    }
    Ok(Some(Some(of)))
}

/// Whether a class of the program's defines a method, not one of the module `enum`.
fn defines(class: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let method = class.getattr(name)?;
    let module = method.getattr(intern!(class.py(), "__module__"));
    Ok(method.is_instance_of::<PyFunction>() && module.is_ok_and(|m| m.str().is_ok_and(|m| m != "enum")))
}

/// Reads an enumeration whose members are plain objects, integers, texts or floats; members of others are instances of
/// further classes.
fn read(class: &Bound<'_, PyAny>) -> PyResult<Option<EnumClass>> {
    let py = class.py();
    if !is_enum_class(class)? {
        return Ok(None);
    }
    let Some(values) = type_of_values(class)? else { return Ok(None) };
    let names: Vec<String> = class.getattr(intern!(py, "_member_names_"))?.extract()?;
    let map = class.getattr(intern!(py, "_member_map_"))?;
    let all: Vec<String> =
        map.call_method0(intern!(py, "keys"))?.try_iter()?.map(|k| k?.extract()).collect::<PyResult<_>>()?;
    let aliases = all.into_iter().filter(|name| !names.contains(name)).collect();
    let with_values = |names: Vec<String>| {
        let value = |name: &String| map.get_item(name)?.getattr(intern!(py, "_value_"));
        names
            .into_iter()
            .map(|name| Ok((table::keep(&value(&name)?), name)))
            .map(|v: PyResult<_>| v.map(|(v, n)| (n, v)))
            .collect::<PyResult<Vec<_>>>()
    };
    let (members, aliases) = (with_values(names)?, with_values(aliases)?);
    let name = class.getattr(intern!(py, "__name__"))?.cast::<PyString>()?.extract()?;
    let base = py.import(intern!(py, "enum"))?.getattr(intern!(py, "Enum"))?;
    let inherits = |name| PyResult::Ok(class.getattr(name)?.is(&base.getattr(name)?));
    let (named, formatted) = (inherits(intern!(py, "__str__"))?, inherits(intern!(py, "__format__"))?);
    let own_texts = [defines(class, "__str__")?, defines(class, "__repr__")?];
    let (class, flags) = (table::intern(class), is_flags(class)?);
    Ok(Some(EnumClass { name, class, values, named, formatted, own_texts, flags, members, aliases }))
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

/// The kind of values that an enumeration's members have, and whether these are flags.
#[derive(Clone, Copy)]
struct Facts {
    values: Option<Ty>,
    flags: bool,
}

/// The facts about classes whose members have been arguments, by their addresses: such a class stays, since it has a
/// number in the table of objects.
static FACTS: LazyLock<Mutex<HashMap<usize, Facts>>> = LazyLock::new(Mutex::default);

fn facts(class: &Bound<'_, PyAny>) -> Option<Facts> {
    let address = class.as_ptr() as usize;
    if let Some(known) = lock(&FACTS).get(&address) {
        return Some(*known);
    }
    let EnumClass { values, flags, .. } = enum_class(class)?;
    let found = Facts { values, flags };
    lock(&FACTS).insert(address, found);
    Some(found)
}

/// The value of a member in compiled code.
pub enum Word {
    Bits(u64),
    /// The text that the member is.
    Text,
}

/// The word of a member: its position, or its value where members are values or flags. `None` if the object is no
/// member.
pub fn enum_word(py: Python<'_>, o: *mut ffi::PyObject) -> Option<Word> {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let class = o.get_type();
    let found = facts(class.as_any())?;
    let value = || o.getattr(intern!(py, "_value_")).ok();
    Some(match found.values {
        Some(t) if t == Ty::str() => Word::Text,
        Some(t) if t.is_float() => Word::Bits(value()?.extract::<f64>().ok()?.to_bits()),
        None if !found.flags => Word::Bits(position(&o, &class).ok()? as u64),
        _ => Word::Bits(value()?.extract::<i64>().ok()? as u64),
    })
}

/// The member of a word that is a position or the value of flags.
pub fn member<'py>(class: &Bound<'py, PyAny>, word: i64) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if is_flags(class)? {
        return class.call1((word,));
    }
    let name = class.getattr(intern!(py, "_member_names_"))?.get_item(word)?;
    class.getattr(intern!(py, "_member_map_"))?.get_item(name)
}
