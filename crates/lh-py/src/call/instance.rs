//! Instances of jitted classes: Python objects that share an object of compiled code.
//!
//! An instance holds a reference to the native object. As long as it lives, it is the only Python object for that, so
//! that `is` holds. Its fields are data descriptors of the class (`field.rs`).

use crate::host::types::Type;
use crate::host::{classes, table};
use crate::object::canonical::canonical;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_runtime::MemInfo;
use lh_runtime::alloc::{decref, incref};
use lh_runtime::object::new_object;
use pyo3::exceptions::{PyAttributeError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::ffi::{CStr, c_int, c_void};
use std::mem::offset_of;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex};

#[repr(C)]
struct InstanceObject {
    base: ffi::PyObject,
    object: *mut MemInfo,
    weakrefs: *mut ffi::PyObject,
    /// The number of the type of a struct, which the class does not say.
    number: usize,
}

/// The class that the classes of instances derive from.
static BASE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());
/// The class that the classes of structs derive from.
static STRUCT_BASE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// The instance of a native object. Without the GIL, one that is found might be about to die: there each result is a
/// new one.
static INSTANCES: LazyLock<Mutex<HashMap<usize, usize>>> = LazyLock::new(Default::default);

/// Whether a class is one of instances.
#[inline(always)]
pub fn is_class(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: the class of a live object.
    unsafe { !(*class).tp_base.is_null() && (*class).tp_base == BASE.load(Ordering::Relaxed) }
}

/// Whether a class is one of structs.
pub fn is_struct_class(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: live classes.
    unsafe { ffi::PyType_IsSubtype(class, STRUCT_BASE.load(Ordering::Relaxed)) != 0 }
}

/// The number of the type of a struct; `None` of one that holds nothing.
///
/// # Safety
/// The class of `o` is one of structs.
pub unsafe fn struct_number(o: *mut ffi::PyObject) -> Option<usize> {
    // SAFETY: as promised.
    let o = unsafe { &*o.cast::<InstanceObject>() };
    (!o.object.is_null()).then_some(o.number)
}

/// The native object of an instance.
///
/// # Safety
/// The class of `o` is one of instances.
#[inline(always)]
pub unsafe fn native(o: *mut ffi::PyObject) -> *mut MemInfo {
    // SAFETY: as promised.
    unsafe { (*o.cast::<InstanceObject>()).object }
}

/// The instance of a native object, whose references the caller keeps.
pub fn of_native<'py>(py: Python<'py>, ty: Ty, object: *mut MemInfo) -> PyResult<Bound<'py, PyAny>> {
    let user = ty.class().and_then(|c| c.user()).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no class of a program"));
    if object.is_null() {
        return Err(PyAttributeError::new_err("an instance that was never made"));
    }
    let known = if cfg!(Py_GIL_DISABLED) { None } else { lock(&INSTANCES).get(&(object as usize)).copied() };
    if let Some(known) = known.map(|known| known as *mut ffi::PyObject) {
        // SAFETY: an instance leaves the table before its memory is freed. Attributes of one that is dying, whose count
        // is 0, may run code.
        unsafe {
            if ffi::Py_REFCNT(known) > 0 {
                return Ok(Bound::from_borrowed_ptr(py, known));
            }
        }
    }
    let declared = table::object(py, user.class);
    let class = if user.is_struct {
        py.import(intern!(py, "lancehead.structs"))?.getattr("class_of_objects")?.call1((Type::of(py, ty)?,))?
    } else {
        declared
    };
    // SAFETY: the object is alive; the class is one of instances; the reference is given to the new one.
    unsafe {
        incref(object);
        let made = Bound::from_owned_ptr_or_err(py, hold(class.as_ptr().cast(), object)?)?;
        (*made.as_ptr().cast::<InstanceObject>()).number = canonical(ty).number();
        Ok(made)
    }
}

/// The type of a struct.
#[pyfunction]
pub fn type_of_struct(object: &Bound<'_, PyAny>) -> PyResult<Py<Type>> {
    // SAFETY: the class is checked first.
    let number = is_struct_class(object.get_type_ptr()).then(|| unsafe { struct_number(object.as_ptr()) }).flatten();
    let ty = number.and_then(Ty::of_number).ok_or_else(|| PyTypeError::new_err("the object holds no struct"))?;
    Type::of(object.py(), ty)
}

/// A new instance with a reference to a native object.
unsafe fn hold(class: *mut ffi::PyTypeObject, object: *mut MemInfo) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: a class derived from ours has its allocator; the new object is zeroed.
    unsafe {
        let o = ffi::PyType_GenericAlloc(class, 0);
        if o.is_null() {
            decref(object);
            return Err(PyMemoryError::new_err(()));
        }
        (*o.cast::<InstanceObject>()).object = object;
        if !cfg!(Py_GIL_DISABLED) {
            lock(&INSTANCES).insert(object as usize, o as usize);
        }
        Ok(o)
    }
}

/// `tp_new`: an instance whose fields are zeros; `__init__` follows.
unsafe extern "C" fn new(
    class: *mut ffi::PyTypeObject,
    _args: *mut ffi::PyObject,
    _kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a class, attached.
    unsafe {
        let py = Python::assume_attached();
        let made = classes::at(class)
            .ok_or_else(|| PyTypeError::new_err("only classes made by jitclass have instances"))
            .and_then(|c| {
                let layout = c.of(vec![], false).object_layout();
                layout.ok_or_else(|| PyTypeError::new_err("the class has too many fields"))
            })
            .and_then(|(size, mask)| {
                let object = new_object(size, mask);
                if object.is_null() { Err(PyMemoryError::new_err(())) } else { hold(class, object) }
            });
        made.unwrap_or_else(|e| {
            e.restore(py);
            null_mut()
        })
    }
}

unsafe extern "C" fn dealloc(o: *mut ffi::PyObject) {
    // SAFETY: CPython calls this once, with an instance that nobody refers to.
    unsafe {
        let class = ffi::Py_TYPE(o);
        let instance = o.cast::<InstanceObject>();
        let object = (*instance).object;
        if !object.is_null() && !cfg!(Py_GIL_DISABLED) {
            let mut known = lock(&INSTANCES);
            if known.get(&(object as usize)) == Some(&(o as usize)) {
                known.remove(&(object as usize));
            }
        }
        if !(*instance).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(o);
        }
        decref(object);
        if let Some(free) = (*class).tp_free {
            free(o.cast());
        }
        ffi::Py_DECREF(class.cast());
    }
}

/// `tp_new` of structs, which compiled code makes.
unsafe extern "C" fn no_new(
    _class: *mut ffi::PyTypeObject,
    _args: *mut ffi::PyObject,
    _kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this attached.
    PyTypeError::new_err("structs are made by compiled code").restore(unsafe { Python::assume_attached() });
    null_mut()
}

/// Makes the base classes of instances and of structs, once, when the module is made.
pub fn add_types(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let instances = (c"lancehead._core.Instance", c"An object of compiled code.");
    m.add("Instance", create_type(m.py(), instances, new as *mut c_void, &BASE)?)?;
    let structs = (c"lancehead._core.Struct", c"A mutable struct of compiled code.");
    m.add("Struct", create_type(m.py(), structs, no_new as *mut c_void, &STRUCT_BASE)?)
}

fn create_type<'py>(
    py: Python<'py>,
    (name, doc): (&'static CStr, &'static CStr),
    new: *mut c_void,
    base: &AtomicPtr<ffi::PyTypeObject>,
) -> PyResult<Bound<'py, PyAny>> {
    // The class refers to these tables as long as it lives, which is forever.
    let members = Box::leak(Box::new([
        ffi::PyMemberDef {
            name: c"__weaklistoffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: offset_of!(InstanceObject, weakrefs) as ffi::Py_ssize_t,
            flags: ffi::Py_READONLY,
            doc: std::ptr::null(),
        },
        // SAFETY: all zeros end the table.
        unsafe { std::mem::zeroed() },
    ]));
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let slots = Box::leak(Box::new([
        slot(ffi::Py_tp_new, new),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, doc.as_ptr().cast_mut().cast()),
        slot(0, null_mut()),
    ]));
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size_of::<InstanceObject>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec and its tables are complete; the new type is ours, or null with an exception set.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    base.store(class.as_ptr().cast(), Ordering::Release);
    // The module may be removed, but instances and the code above still refer to the class.
    std::mem::forget(class.clone());
    Ok(class)
}
