//! The type `Dispatcher`, built from raw slots because a vectorcall slot is what makes calls cheap.

use crate::dispatcher::{Overload, State};
use crate::{call, methods};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    fn PyMethod_New(function: *mut ffi::PyObject, instance: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// An instance.
#[repr(C)]
pub struct DispatcherObject {
    base: ffi::PyObject,
    /// What a call calls.
    vectorcall: Option<ffi::vectorcallfunc>,
    weakrefs: *mut ffi::PyObject,
    dict: *mut ffi::PyObject,
    /// Owned by the instance; never null once it is made.
    state: *mut State,
    /// For the quick way of calls without arguments; it points into the state.
    quick: AtomicPtr<Overload>,
}

impl DispatcherObject {
    /// Its state.
    #[inline(always)]
    pub fn state(&self) -> &State {
        // SAFETY: set when the instance is made, and freed with it.
        unsafe { &*self.state }
    }
    /// What the quick way calls; only asked on that way.
    #[inline(always)]
    pub fn quick(&self) -> &Overload {
        // SAFETY: it was set before the function that asks was, and lives as long as the state.
        unsafe { &*self.quick.load(Ordering::Acquire) }
    }
    /// Sets what calls run, from any thread.
    pub fn set_entry(&self, quick: Option<&Overload>, entry: ffi::vectorcallfunc) {
        if let Some(overload) = quick {
            self.quick.store(std::ptr::from_ref(overload).cast_mut(), Ordering::Release);
        }
        let word = (&raw const self.vectorcall).cast_mut().cast::<*mut c_void>();
        // SAFETY: an aligned word of this object, which CPython reads at any time.
        unsafe { AtomicPtr::from_ptr(word) }.store(entry as *mut c_void, Ordering::Release);
    }
}

static TYPE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// The type, or null before [`create_type`].
#[inline(always)]
pub fn dispatcher_type() -> *mut ffi::PyTypeObject {
    TYPE.load(Ordering::Relaxed)
}

unsafe extern "C" fn dealloc(o: *mut ffi::PyObject) {
    // SAFETY: CPython calls this once, with an instance that nobody refers to.
    unsafe {
        let class = ffi::Py_TYPE(o);
        let d = o.cast::<DispatcherObject>();
        ffi::PyObject_GC_UnTrack(o.cast());
        if !(*d).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(o);
        }
        ffi::Py_CLEAR(&mut (*d).dict);
        if !(*d).state.is_null() {
            drop(Box::from_raw((*d).state));
        }
        ffi::PyObject_GC_Del(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn traverse(o: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with a live instance.
    unsafe {
        let d = o.cast::<DispatcherObject>();
        let mut seen = [ffi::Py_TYPE(o).cast::<ffi::PyObject>(), (*d).dict, std::ptr::null_mut()];
        if !(*d).state.is_null() {
            seen[2] = (*d).state().func.as_ptr();
        }
        for o in seen {
            if !o.is_null() {
                let stop = visit(o, arg);
                if stop != 0 {
                    return stop;
                }
            }
        }
        0
    }
}

unsafe extern "C" fn clear(o: *mut ffi::PyObject) -> c_int {
    // SAFETY: CPython calls this with a live instance; the function is kept, since it may still be called.
    unsafe { ffi::Py_CLEAR(&mut (*o.cast::<DispatcherObject>()).dict) };
    0
}

/// A dispatcher found on an instance is a method of it.
unsafe extern "C" fn bind_method(
    o: *mut ffi::PyObject,
    instance: *mut ffi::PyObject,
    _class: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live objects.
    unsafe {
        if instance.is_null() || instance == ffi::Py_None() { ffi::Py_NewRef(o) } else { PyMethod_New(o, instance) }
    }
}

unsafe extern "C" fn repr(o: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a live instance, attached.
    unsafe {
        let py = Python::assume_attached();
        let func = (*o.cast::<DispatcherObject>()).state().func.bind(py);
        let text = func.repr().map(|r| format!("CPUDispatcher({r})"));
        match text {
            Ok(text) => pyo3::types::PyString::new(py, &text).into_ptr(),
            Err(e) => {
                e.restore(py);
                std::ptr::null_mut()
            }
        }
    }
}

fn member(name: &'static std::ffi::CStr, offset: usize) -> ffi::PyMemberDef {
    ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    }
}

/// Makes the type; called once, when the module is made.
pub fn create_type(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // The type refers to these tables as long as it lives, which is for ever.
    let members = Box::leak(Box::new([
        member(c"__vectorcalloffset__", offset_of!(DispatcherObject, vectorcall)),
        member(c"__weaklistoffset__", offset_of!(DispatcherObject, weakrefs)),
        member(c"__dictoffset__", offset_of!(DispatcherObject, dict)),
        // SAFETY: all zeros end the table.
        unsafe { std::mem::zeroed() },
    ]));
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let doc = c"A Python function that is compiled when it is called, for the types of its arguments.";
    let slots = Box::leak(Box::new([
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_descr_get, bind_method as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_getattro, ffi::PyObject_GenericGetAttr as *mut c_void),
        slot(ffi::Py_tp_setattro, ffi::PyObject_GenericSetAttr as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_methods, methods::methods().as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, methods::getters().as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, doc.as_ptr().cast_mut().cast()),
        slot(0, std::ptr::null_mut()),
    ]));
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_GC
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR
        | ffi::Py_TPFLAGS_IMMUTABLETYPE
        | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"lancehead._core.Dispatcher".as_ptr(),
        basicsize: size_of::<DispatcherObject>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec and its tables are complete; the new type is ours, or null with an exception set.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    TYPE.store(class.as_ptr().cast(), Ordering::Relaxed);
    // The module may be removed, but not what instances and the code above refer to.
    std::mem::forget(class.clone());
    Ok(class)
}

/// A new dispatcher for a function.
pub fn create<'py>(py: Python<'py>, state: State, dict: Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    if dispatcher_type().is_null() {
        return Err(PyTypeError::new_err("lancehead._core is not initialised"));
    }
    // SAFETY: `PyType_GenericAlloc` gives a zeroed, tracked instance of the type, whose fields are filled here.
    unsafe {
        let o = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(dispatcher_type(), 0))?;
        let d = o.as_ptr().cast::<DispatcherObject>();
        (*d).vectorcall = Some(call::vectorcall);
        (*d).state = Box::into_raw(Box::new(state));
        (*d).state().set_owner(d);
        (*d).dict = dict.into_ptr();
        Ok(o)
    }
}
