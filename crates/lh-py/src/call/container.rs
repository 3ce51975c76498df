//! The containers of `lancehead.typed`: Python objects that share a list, dictionary or set of compiled code.
//!
//! As long as one lives, it is the only Python object for its native one, so that `is` holds. `container_methods.rs`
//! has their methods.

use crate::call::decode::{Decoder, tags_of};
use crate::call::item::Item;
use crate::call::tags::{Refused, kind};
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_ir::class::Class;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{ffi, intern};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock};

/// The base of `List`, `Dict` and `Set`.
#[pyclass(frozen, subclass, module = "lancehead._core")]
pub struct Container {
    /// Unknown until the first item says the type.
    pub state: OnceLock<State>,
}

/// The facts about a container that has a type.
pub struct State {
    /// Its type.
    pub ty: Ty,
    tags: &'static [u64],
    /// The native object.
    pub items: ItemsRef,
    /// The layout of the items of a list.
    pub item: Option<&'static Item>,
}

/// The facts that all containers of a type share.
struct Shape {
    ty: Ty,
    tags: Vec<u64>,
    item: Option<Item>,
}

/// By type; types live as long as the process.
static SHAPES: LazyLock<Mutex<HashMap<Ty, &'static Shape>>> = LazyLock::new(Default::default);

impl Shape {
    fn of(py: Python<'_>, ty: Ty) -> &'static Shape {
        if let Some(known) = lock(&SHAPES).get(&ty) {
            return known;
        }
        let mut tags = Vec::new();
        if tags_of(ty, &mut tags).is_none() {
            tags = vec![kind::TYPE | (ty.number() as u64) << 8];
        }
        // The type as arguments have it.
        let own = Decoder::new(py, &tags).next_ty();
        let made = Shape { ty: own, tags, item: own.as_list().and_then(Item::new) };
        lock(&SHAPES).entry(ty).or_insert_with(|| Box::leak(Box::new(made)))
    }
}

// SAFETY: the native object is counted atomically; whoever changes it from several threads locks, as for an array.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// `List`, `Dict` and `Set`, once they are asked for.
static CLASSES: [PyOnceLock<Py<PyAny>>; 3] = [const { PyOnceLock::new() }; 3];

/// The Python object of a native one. Without the GIL, one that is found might be about to die: there each result is a
/// new one.
static OBJECTS: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Default::default);

/// Whether a class is one of those in `lancehead.typed`.
#[inline(always)]
pub fn is_class(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: the class of a live object.
    unsafe { !(*class).tp_base.is_null() && (*class).tp_base == CLASS.load(Ordering::Relaxed) }
}

/// Whether a class is one of those or derives from one.
pub fn is_derived(class: *mut ffi::PyTypeObject) -> bool {
    let base = CLASS.load(Ordering::Relaxed);
    // SAFETY: both are classes that live.
    unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
}

/// The tags and the native object of a container.
///
/// # Safety
/// The class of `o` is one of containers, and `o` outlives the result.
pub unsafe fn native<'a>(o: *mut ffi::PyObject) -> Result<(&'a [u64], *mut Items), Refused> {
    // SAFETY: as promised; the thread is attached.
    let container =
        unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), o).cast_into_unchecked::<Container>() };
    let state = std::ptr::from_ref(container.get().state.get().ok_or(Refused::Untyped)?);
    // SAFETY: a container keeps its state, and `o` outlives the result.
    let state = unsafe { &*state };
    Ok((state.tags, state.items.as_ptr()))
}

/// The container of a native object, whose references the caller keeps.
pub fn of_native<'py>(py: Python<'py>, ty: Ty, native: &ItemsRef) -> PyResult<Bound<'py, PyAny>> {
    let address = native.as_ptr().addr();
    let known = if cfg!(Py_GIL_DISABLED) { None } else { lock(&OBJECTS).get(&address).copied() };
    if let Some(known) = known {
        let known = known as *mut ffi::PyObject;
        // SAFETY: a container leaves the table when it dies. One of a class that a program derives runs other code of
        // Python before that, which must not bring it back.
        unsafe {
            if ffi::Py_REFCNT(known) > 0 {
                return Ok(Bound::from_borrowed_ptr(py, known));
            }
        }
    }
    let (at, name) = place_and_name(ty);
    let class = CLASSES[at]
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import(intern!(py, "lancehead.typed"))?.getattr(name)?.unbind()))?;
    let made = py.get_type::<Container>().call_method1(intern!(py, "__new__"), (class,))?;
    made.cast::<Container>()?.get().hold(&made, ty, native.clone())?;
    Ok(made)
}

/// Whether Python has a class of typed containers for a type.
pub fn can_share(ty: Ty) -> bool {
    ty.class().is_some_and(|c| [Class::list(), Class::dict(), Class::set()].contains(&c))
}

fn place_and_name(ty: Ty) -> (usize, &'static str) {
    match ty.class() {
        Some(c) if c == Class::list() => (0, "List"),
        Some(c) if c == Class::dict() => (1, "Dict"),
        _ => (2, "Set"),
    }
}

impl Container {
    /// Gives a container that has no type a native object of a type.
    pub fn hold(&self, own: &Bound<'_, PyAny>, ty: Ty, items: ItemsRef) -> PyResult<()> {
        let shape = Shape::of(own.py(), ty);
        items.share();
        let address = items.as_ptr().addr();
        let state = State { ty: shape.ty, tags: &shape.tags, items, item: shape.item.as_ref() };
        if self.state.set(state).is_err() {
            return Err(PyTypeError::new_err("the container has a type already"));
        }
        if !cfg!(Py_GIL_DISABLED) {
            lock(&OBJECTS).insert(address, own.as_ptr().addr());
        }
        Ok(())
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Some(state) = self.state.get() {
            lock(&OBJECTS).remove(&state.items.as_ptr().addr());
        }
    }
}

/// Makes the class known, once, when the module is made.
pub fn register(py: Python<'_>) {
    CLASS.store(py.get_type::<Container>().as_type_ptr(), Ordering::Release);
}
