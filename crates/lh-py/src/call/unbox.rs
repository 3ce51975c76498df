//! Python objects as native values that nobody writes back.

use crate::call::args::ArgBuf;
use crate::call::boxing::release;
use crate::call::convert;
use crate::call::decode::{Decoder, tags_of};
use crate::call::item::Item;
use crate::call::lists::{Lists, own_item};
use crate::host::extensions;
use crate::host::types::Type;
use crate::object::owner;
use lh_ir::{Ty, TyKind};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The words of a value as one of a type, with references of their own. `refused` makes the error for a reason.
pub fn words(value: &Bound<'_, PyAny>, to: Ty, refused: impl Fn(&str) -> PyErr) -> PyResult<Vec<u64>> {
    words_with(value, to, None, refused)
}

/// The words of a value that is, or has parts that are, any object, or an object which the program's own function takes
/// as another of its types, as one whose arrays are of any layout.
fn objects(value: &Bound<'_, PyAny>, to: Ty, refused: &dyn Fn(&str) -> PyErr) -> PyResult<Vec<u64>> {
    let py = value.py();
    if to.is_pyobject() {
        // Compiled code decides about None by types.
        if value.is_none() {
            return Err(refused("None is no `pyobject`, but may be an `Optional(pyobject)`"));
        }
        return Ok(vec![owner::foreign_owner(value.as_ptr()) as u64, value.as_ptr() as u64]);
    }
    if matches!(to.kind(), TyKind::Extension { .. })
        && let Some(from) = extensions::type_of(value)?
        && Type::of(py, from)?.bind(py).get_type().is(Type::of(py, to)?.bind(py).get_type())
    {
        return (extensions::exchange().words)(value, to);
    }
    if let TyKind::Optional(t) = to.kind() {
        if value.is_none() {
            return Ok(vec![0; to.flatten().len()]);
        }
        let mut words = vec![1];
        words.extend(objects(value, *t, refused)?);
        return Ok(words);
    }
    let (Some(elems), Ok(parts)) = (to.tuple_elems(), value.cast::<PyTuple>()) else {
        return Err(refused("it is of another type"));
    };
    if parts.len() != elems.len() {
        return Err(refused("it is of another length"));
    }
    let mut words = Vec::new();
    for (at, (part, t)) in parts.iter().zip(elems).enumerate() {
        match words_with(&part, *t, None, refused) {
            Ok(more) => words.extend(more),
            Err(error) => {
                release(Ty::tuple(elems[..at].to_vec()), &words);
                return Err(error);
            }
        }
    }
    Ok(words)
}

/// Whether a type, or a part of it that `objects` finds, is one of a program.
fn has_own(of: Ty) -> bool {
    match of.kind() {
        TyKind::Extension { .. } => true,
        TyKind::Optional(of) => has_own(*of),
        _ => of.tuple_elems().is_some_and(|elems| elems.iter().any(|&e| has_own(e))),
    }
}

/// The same; native objects stand for some containers and instances inside.
pub fn words_with(
    value: &Bound<'_, PyAny>,
    to: Ty,
    known: Option<Box<Lists>>,
    refused: impl Fn(&str) -> PyErr,
) -> PyResult<Vec<u64>> {
    let py = value.py();
    if to.any_part(&Ty::is_pyobject) {
        return objects(value, to, &refused);
    }
    let mut buf = ArgBuf::default();
    buf.lists = known;
    // SAFETY: the value outlives the buffer, and the thread is attached.
    if let Err(why) = unsafe { buf.push(value.as_ptr()) } {
        return Err(refused(why.reason(py)?));
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
        return if has_own(to) { objects(value, to, &refused) } else { Err(refused("it is of another type")) };
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
