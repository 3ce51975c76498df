//! Fields of jitted classes as attributes: descriptors that read and write the native object.

use crate::call::boxing::{Boxer, release};
use crate::call::instance::native;
use crate::call::item::Item;
use crate::call::unbox;
use crate::host::classes;
use crate::host::types::{Type, as_ty};
use crate::object::class_names::short_text;
use lh_ir::Ty;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::OnceLock;

/// Makes a class derived from `Instance` one of compiled code, with fields of these types. It is made of another class.
#[pyfunction]
pub fn declare_class(
    class_: &Bound<'_, PyType>,
    fields: Vec<(String, Bound<'_, PyAny>)>,
    definition: &Bound<'_, PyType>,
) -> PyResult<Py<Type>> {
    let py = class_.py();
    let types = fields.iter().map(|(name, t)| Ok((name.clone(), as_ty(t)?))).collect::<PyResult<Vec<_>>>()?;
    let ty = classes::declare(class_, types, definition)?;
    for (at, (name, _)) in fields.iter().enumerate() {
        let field = Field { class: ty, owner: class_.as_ptr().addr(), name: name.clone(), at, place: OnceLock::new() };
        class_.setattr(name.as_str(), Bound::new(py, field)?)?;
    }
    Type::of(py, ty)
}

/// A field as an attribute of the class of instances.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Field {
    class: Ty,
    /// The address of the class, which lives as long as the process.
    owner: usize,
    name: String,
    at: usize,
    /// Where it lies. The types of fields may be defined later than the class.
    place: OnceLock<Place>,
}

struct Place {
    item: Item,
    offset: usize,
}

impl Field {
    /// The field's type and its address in an instance.
    fn find(&self, o: &Bound<'_, PyAny>) -> PyResult<(&Place, *mut u8)> {
        if self.owner != o.get_type_ptr().addr() {
            let text = format!("the field '{}' is not one of '{}' objects", self.name, o.get_type().name()?);
            return Err(PyTypeError::new_err(text));
        }
        let place = self.place.get_or_init(|| {
            let field = &self.class.fields()[self.at];
            let item = Item::new(field.ty).unwrap_or_else(|| lh_ir::bug!("a field of {}", field.ty));
            Place { item, offset: field.offset }
        });
        // SAFETY: the class has been compared; its objects have the fields that it declares.
        Ok((place, unsafe { native(o.as_ptr()).cast::<u8>().add(place.offset) }))
    }
}

#[pymethods]
impl Field {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(o) = instance else { return Ok(slf.clone().into_any()) };
        let field = slf.get();
        let (place, at) = field.find(o)?;
        // SAFETY: a field of this type lies there.
        let words = unsafe { place.item.slots(at) };
        if place.item.ty.class().is_some() && words[0] == 0 {
            let text = format!("'{}' object has no attribute '{}'", o.get_type().name()?, field.name);
            return Err(PyAttributeError::new_err(text));
        }
        Boxer::new(o.py(), None).sharing().borrowed(place.item.ty, &words)
    }

    fn __set__(&self, o: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (place, at) = self.find(o)?;
        let ty = place.item.ty;
        let refused = |why: &str| {
            let text = format!("the field '{}' holds `{ty}`, not {}: {why}", self.name, short_text(value));
            PyTypeError::new_err(text)
        };
        let words = unbox::words(value, ty, refused)?;
        // SAFETY: a field of this type lies there, whose references are the object's.
        unsafe {
            let old = place.item.slots(at);
            place.item.write(at, &words);
            release(ty, &old);
        }
        Ok(())
    }

    fn __delete__(&self, _o: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyAttributeError::new_err(format!("the field '{}' cannot be deleted", self.name)))
    }

    fn __repr__(&self) -> String {
        format!("<field '{}' of '{}' objects>", self.name, self.class.class().map_or("object", |c| c.name()))
    }
}
