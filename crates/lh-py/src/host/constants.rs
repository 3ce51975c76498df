//! Global and captured dictionaries and sets. Compiled code reads native copies of them, which never change and live as
//! long as the process. The room of calls makes the copies, and registers how.

use crate::host::table;
use crate::object::lock::lock;
use crate::object::{bit_generators, owner};
use hashbrown::HashMap;
use lh_ir::{ObjId, Ty};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Makes a native copy: its type and its address; `None` if compiled code has none of such an object.
pub type Import = fn(&Bound<'_, PyAny>) -> Option<(Ty, usize)>;

static IMPORT: OnceLock<Import> = OnceLock::new();

/// Registers how copies are made, once.
pub fn register(import: Import) {
    IMPORT.get_or_init(|| import);
}

/// The copy of an object, and what the object held when it was made.
struct Known {
    ty: Ty,
    /// A word that holds the address of the native copy.
    cell: usize,
    /// The items, one by one, and the same in full depth if they can be copied and compared.
    items: Py<PyList>,
    deep: Option<Py<PyAny>>,
}

static KNOWN: LazyLock<Mutex<HashMap<ObjId, Known>>> = LazyLock::new(Default::default);

/// The type of the native copy of a dictionary or set, and the address of a word that holds that of the copy. An object
/// that has changed since the last copy gets a new one.
pub fn table(o: &Bound<'_, PyAny>) -> PyResult<Option<(Ty, usize)>> {
    let py = o.py();
    if let Some(found) = random_generator(o)? {
        return Ok(Some(found));
    }
    let is_one = o.is_instance_of::<PyDict>() || o.is_instance_of::<PySet>() || o.is_instance_of::<PyFrozenSet>();
    let Some(import) = IMPORT.get().filter(|_| is_one) else { return Ok(None) };
    let (id, items) = (table::intern(o), items_of(o)?);
    let known = lock(&KNOWN)
        .get(&id)
        .map(|k| (k.ty, k.cell, k.items.clone_ref(py), k.deep.as_ref().map(|deep| deep.clone_ref(py))));
    if let Some((ty, cell, old, deep)) = known
        && is_same(&items, old.bind(py), deep.as_ref().map(|d| d.bind(py)))
    {
        return Ok(Some((ty, cell)));
    }
    let Some((ty, address)) = import(o) else { return Ok(None) };
    let deep = py.import("copy")?.call_method1(intern!(py, "deepcopy"), (&items,)).ok().map(Bound::unbind);
    // Code that was compiled before reads the copy that it has seen.
    let cell = Box::leak(Box::new(address)) as *mut usize as usize;
    lock(&KNOWN).insert(id, Known { ty, cell, items: items.unbind(), deep });
    Ok(Some((ty, cell)))
}

/// The same for a generator of random numbers or a bit generator: its words, as those of an argument.
fn random_generator(o: &Bound<'_, PyAny>) -> PyResult<Option<(Ty, usize)>> {
    static CELLS: LazyLock<Mutex<HashMap<ObjId, usize>>> = LazyLock::new(Default::default);
    let Some(ty) = bit_generators::type_of(o.get_type_ptr()) else { return Ok(None) };
    let id = table::intern(o);
    if let Some(cell) = lock(&CELLS).get(&id) {
        return Ok(Some((ty, *cell)));
    }
    let [bits, kind] = bit_generators::words(o, ty)?;
    let words: &'static mut [u64; 3] = Box::leak(Box::new([owner::foreign_owner(o.as_ptr()) as u64, bits, kind]));
    let cell = words.as_mut_ptr() as usize;
    Ok(Some((ty, *lock(&CELLS).entry(id).or_insert(cell))))
}

/// The items of a set, or the pairs of a dictionary.
fn items_of<'py>(o: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = o.py();
    let all = if o.is_instance_of::<PyDict>() { o.call_method0(intern!(py, "items"))? } else { o.clone() };
    let list = PyList::empty(py);
    for item in all.try_iter()? {
        list.append(item?)?;
    }
    Ok(list)
}

/// Whether items are as before. Those that cannot be compared, as arrays, are the same objects.
fn is_same(now: &Bound<'_, PyList>, old: &Bound<'_, PyList>, deep: Option<&Bound<'_, PyAny>>) -> bool {
    if let Some(Ok(equal)) = deep.map(|deep| now.eq(deep)) {
        return equal;
    }
    let is_same = |a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>| match (a.get_item(1), b.get_item(1)) {
        (Ok(x), Ok(y)) => x.is(&y),
        _ => a.is(b),
    };
    now.len() == old.len() && now.iter().zip(old.iter()).all(|(a, b)| is_same(&a, &b))
}
