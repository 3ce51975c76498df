//! Python objects as native values that nobody writes back.

use crate::call::args::ArgBuf;
use crate::call::convert;
use crate::call::decode::{Decoder, tags_of};
use crate::call::item::Item;
use crate::call::lists::{Lists, own_item};
use crate::call::tags::Refused;
use lh_ir::Ty;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// The words of a value as one of a type, with references of their own. `refused` makes the error for a reason.
pub fn words(value: &Bound<'_, PyAny>, to: Ty, refused: impl Fn(&str) -> PyErr) -> PyResult<Vec<u64>> {
    words_with(value, to, None, refused)
}

/// The same; native objects stand for some containers and instances inside.
pub fn words_with(
    value: &Bound<'_, PyAny>,
    to: Ty,
    known: Option<Box<Lists>>,
    refused: impl Fn(&str) -> PyErr,
) -> PyResult<Vec<u64>> {
    let py = value.py();
    let mut buf = ArgBuf::default();
    buf.lists = known;
    // SAFETY: the value outlives the buffer, and the thread is attached.
    if let Err(why) = unsafe { buf.push(value.as_ptr()) } {
        return Err(if why == Refused::Raised { PyErr::fetch(py) } else { refused(why.reason()) });
    }
    let mut tags = Vec::new();
    if buf.undecided && tags_of(to, &mut tags).is_some() {
        let mut lists = buf.lists.take().unwrap_or_default();
        // SAFETY: the tags are those of the type, of which the value is.
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
