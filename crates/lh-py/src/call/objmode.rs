//! Blocks of `objmode`: compiled code calls a function of Python.

use crate::call::boxing::Boxer;
use crate::call::draws;
use crate::call::given::Given;
use crate::call::item::Item;
use crate::call::unbox;
use crate::object::attach::attach;
use crate::object::class_names::short_text;
use crate::object::lock::lock;
use crate::runtime::raise;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_runtime::exception::set_pending;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex};

/// Installs the calls in the run-time library.
pub fn install() {
    lh_runtime::python::set_caller(call);
}

fn call(function: *mut c_void, types: i64, ins: *mut Items, outs: *mut Items) -> Result<(), ()> {
    attach(|py| {
        // SAFETY: the table of objects holds the function of a block.
        let function = unsafe { Bound::from_borrowed_ptr(py, function.cast()) };
        try_call(&function, types, ins, outs).map_err(|error| set_pending(raise::pending(py, error)))
    })
}

/// The layouts of what blocks take and give, by the number of the types of both.
type Layouts = HashMap<i64, &'static [Item; 2]>;
static LAYOUTS: LazyLock<Mutex<Layouts>> = LazyLock::new(Default::default);

fn layouts(number: i64, types: [Ty; 2]) -> PyResult<&'static [Item; 2]> {
    let known = lock(&LAYOUTS).get(&number).copied();
    if let Some(known) = known {
        return Ok(known);
    }
    let layout = |ty: Ty| Item::new(ty).ok_or_else(|| PyTypeError::new_err(format!("`{ty}` is too large for objmode")));
    // Types live as long as the process.
    let made: &'static [Item; 2] = Box::leak(Box::new([layout(types[0])?, layout(types[1])?]));
    Ok(lock(&LAYOUTS).entry(number).or_insert(made))
}

fn try_call(function: &Bound<'_, PyAny>, types: i64, ins: *mut Items, outs: *mut Items) -> PyResult<()> {
    let py = function.py();
    // SAFETY: compiled code passes two lists that are alive.
    let (ins, mut outs) = unsafe { (ItemsRef::from_borrowed(ins), ItemsRef::from_borrowed(outs)) };
    let Some([given, wanted]) = Ty::of_number(types as usize).and_then(Ty::tuple_elems) else {
        lh_ir::bug!("a block takes and gives a tuple")
    };
    let [given_layout, wanted_layout] = layouts(types, [*given, *wanted])?;
    // SAFETY: the list has one item of this type.
    let words = unsafe { given_layout.slots(ins.item(0)) };
    let mut boxer = Boxer::new(py, None);
    let args = boxer.borrowed(*given, &words)?.cast_into::<PyTuple>()?;
    let given = Given::new(boxer);
    let result = draws::lend(py, || function.call1(args));
    let written = given.write_back();
    let result = result?;
    written?;
    let refused = |why: &str| {
        let parts = result.cast::<PyTuple>().map(|parts| parts.iter().map(|p| short_text(&p)).collect::<Vec<_>>());
        let parts = parts.map_or_else(|_| String::new(), |parts| parts.join(", "));
        let wanted = wanted.tuple_elems().unwrap_or_default().iter().map(|t| t.numba().to_string());
        let wanted = wanted.collect::<Vec<_>>().join(", ");
        // Numba's words, which programs look for.
        let array = "can't unbox array from PyObject into native value.  The object maybe of a different type";
        let why = if wanted.contains("array") { format!("{why} ({array})") } else { why.to_owned() };
        PyTypeError::new_err(format!("a block of objmode promises {wanted}, and gives {parts}: {why}"))
    };
    let words = unbox::words_with(&result, *wanted, Some(given.known()), refused)?;
    let at = outs.push().ok_or_else(|| PyMemoryError::new_err(()))?;
    // SAFETY: room for an item of the type.
    unsafe { wanted_layout.write(at, &words) };
    Ok(())
}
