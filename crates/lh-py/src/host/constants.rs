//! Global and captured dictionaries and sets. Compiled code reads native copies of them, which never change and live as
//! long as code that was compiled with the object. The room of calls makes the copies, and registers how.

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
    /// A word that holds the address of the native copy, and those of older copies, which older code reads.
    cell: Box<usize>,
    #[expect(clippy::vec_box, reason = "code holds the addresses of the words")]
    older: Vec<Box<usize>>,
    /// The items, one by one, and the same in full depth if they can be copied and compared.
    items: Py<PyList>,
    deep: Option<Py<PyAny>>,
}

static KNOWN: LazyLock<Mutex<HashMap<ObjId, Known>>> = LazyLock::new(Default::default);

/// The words of generators of random numbers; the first one refers to the object.
static WORDS: LazyLock<Mutex<HashMap<ObjId, Box<[u64; 3]>>>> = LazyLock::new(Default::default);

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
    let known = lock(&KNOWN).get(&id).map(|k| {
        (k.ty, &raw const *k.cell as usize, k.items.clone_ref(py), k.deep.as_ref().map(|deep| deep.clone_ref(py)))
    });
    if let Some((ty, cell, old, deep)) = known
        && is_same(&items, old.bind(py), deep.as_ref().map(|d| d.bind(py)))
    {
        return Ok(Some((ty, cell)));
    }
    let Some((ty, address)) = import(o) else { return Ok(None) };
    let deep = py.import("copy")?.call_method1(intern!(py, "deepcopy"), (&items,)).ok().map(Bound::unbind);
    let (cell, older) = (Box::new(address), Vec::new());
    let at = &raw const *cell as usize;
    let mut known = lock(&KNOWN);
    let old = known.insert(id, Known { ty, cell, older, items: items.unbind(), deep });
    let old = old.map(|Known { cell, mut older, items, deep, .. }| {
        older.push(cell);
        if let Some(new) = known.get_mut(&id) {
            new.older = older;
        }
        (items, deep)
    });
    drop(known);
    drop(old);
    Ok(Some((ty, at)))
}

/// Frees the copies of an object that no code reads any more.
pub fn forget(id: ObjId) {
    let words = lock(&WORDS).remove(&id);
    if let Some([owner, ..]) = words.as_deref() {
        // SAFETY: the reference that the words were made with; nobody reads them.
        unsafe { lh_runtime::alloc::decref(*owner as *mut lh_runtime::MemInfo) };
    }
    let Some(known) = lock(&KNOWN).remove(&id) else { return };
    for cell in known.older.iter().chain([&known.cell]) {
        // SAFETY: the reference that the copy was made with; nobody reads it.
        unsafe { lh_runtime::alloc::decref(**cell as *mut lh_runtime::MemInfo) };
    }
}

/// The same for a generator of random numbers or a bit generator: its words, as those of an argument.
fn random_generator(o: &Bound<'_, PyAny>) -> PyResult<Option<(Ty, usize)>> {
    let Some(ty) = bit_generators::type_of(o.get_type_ptr()) else { return Ok(None) };
    let id = table::intern(o);
    if let Some(words) = lock(&WORDS).get(&id) {
        return Ok(Some((ty, words.as_ptr() as usize)));
    }
    let [bits, kind] = bit_generators::words(o, ty)?;
    let words = Box::new([owner::foreign_owner(o.as_ptr()) as u64, bits, kind]);
    Ok(Some((ty, lock(&WORDS).entry(id).or_insert(words).as_ptr() as usize)))
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
