//! Fields of jitted classes as attributes: descriptors that read and write the native object.

use crate::call::args::ArgBuf;
use crate::call::boxing::{Boxer, release};
use crate::call::convert;
use crate::call::decode::{Decoder, tags_of};
use crate::call::instance::native;
use crate::call::item::Item;
use crate::call::lists::own_item;
use crate::call::tags::Refused;
use crate::host::classes;
use crate::host::types::{Type, as_ty};
use crate::object::class_names::short_text;
use lh_ir::Ty;
use pyo3::exceptions::{PyAttributeError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::OnceLock;

/// Makes a class derived from `Instance` one of compiled code, with fields of these types.
#[pyfunction]
pub fn declare_class(class_: &Bound<'_, PyType>, fields: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Py<Type>> {
    let py = class_.py();
    let types = fields.iter().map(|(name, t)| Ok((name.clone(), as_ty(t)?))).collect::<PyResult<Vec<_>>>()?;
    let ty = classes::declare(class_, types)?;
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

    /// The words of a value as one of the field's type, with references of their own.
    fn words(&self, value: &Bound<'_, PyAny>, to: Ty) -> PyResult<Vec<u64>> {
        let py = value.py();
        let refused = |why: &str| {
            let text = format!("the field '{}' holds `{to}`, not {}: {why}", self.name, short_text(value));
            PyTypeError::new_err(text)
        };
        let mut buf = ArgBuf::default();
        // SAFETY: the value outlives the buffer, and the thread is attached.
        if let Err(why) = unsafe { buf.push(value.as_ptr()) } {
            return Err(if why == Refused::Raised { PyErr::fetch(py) } else { refused(why.reason()) });
        }
        let mut tags = Vec::new();
        if buf.undecided && tags_of(to, &mut tags).is_some() {
            let mut lists = buf.lists.take().unwrap_or_default();
            // SAFETY: the tags are those of the field's type, of which the value is.
            unsafe { lists.decide(py, value.as_ptr(), &tags) };
            buf.lists = Some(lists);
            buf.tags.clear();
            buf.tags.extend_from_slice(&tags);
        }
        let from = Decoder::new(py, &buf.tags).next_ty();
        let is_cast = from.is_number() && to.is_number() && !from.is_complex();
        if !is_cast && convert::cost_of_all(&[from], &[to]).is_none() {
            return Err(refused("it is of another type"));
        }
        if from.is_int() && to.is_int() && !convert::fits(from, to, &mut &buf.slots[..]) {
            return Err(PyOverflowError::new_err(format!("{} is out of bounds for {to}", value.repr()?)));
        }
        let item = Item::new(from).ok_or_else(|| refused("it is too large"))?;
        // SAFETY: the buffer holds one value of the type.
        unsafe { own_item(&mut buf, 0, 0, &item) };
        let mut words = Vec::new();
        convert::slots(from, to, &mut &buf.slots[..], &mut words);
        Ok(words)
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
        let words = self.words(value, ty)?;
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
