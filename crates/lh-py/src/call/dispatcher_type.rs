//! The class `Dispatcher`, built from raw slots: its vectorcall slot makes calls cheap.

use crate::call::state::{self, DispatcherObject, State};
use crate::call::{generator_methods, methods, vectorcall};
use crate::gpu::options::JitOptions;
use crate::host::{decorated, table};
use crate::object::attach::release;
use crate::object::{panics, resident};
use crate::runtime::signals;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use pyo3::{ffi, intern};
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

unsafe extern "C" {
    fn PyMethod_New(function: *mut ffi::PyObject, instance: *mut ffi::PyObject) -> *mut ffi::PyObject;
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
        table::died(o.addr());
        if !(*d).state.is_null() {
            release(Box::from_raw((*d).state));
            resident::ended();
        }
        ffi::PyObject_GC_Del(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn traverse(o: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: CPython calls this with a live instance.
    unsafe {
        let d = o.cast::<DispatcherObject>();
        let mut seen = vec![ffi::Py_TYPE(o).cast::<ffi::PyObject>(), (*d).dict];
        if !(*d).state.is_null() {
            seen.push((*d).state().func.as_ptr());
            seen.extend((*d).state().references());
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
    unsafe {
        let d = o.cast::<DispatcherObject>();
        ffi::Py_CLEAR(&mut (*d).dict);
        if !(*d).state.is_null() {
            (*d).state().clear();
        }
    }
    0
}

/// A dispatcher that is found on an instance is a method of it.
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

/// An attribute: those that only Numba's dispatchers have are found by `lancehead.introspection`.
unsafe extern "C" fn attribute(this: *mut ffi::PyObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with an instance and a string, attached.
    unsafe {
        let found = ffi::PyObject_GenericGetAttr(this, name);
        if !found.is_null() || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return found;
        }
        let py = Python::assume_attached();
        let (this, name) = (Bound::from_borrowed_ptr(py, this), Bound::from_borrowed_ptr(py, name));
        let is_special = name.extract::<&str>().is_ok_and(|n| n.starts_with("__") && n != "__numba__");
        if is_special {
            return found;
        }
        let error = PyErr::fetch(py);
        let module = match py.import("lancehead.introspection") {
            Ok(module) => module,
            Err(_) => {
                error.restore(py);
                return found;
            }
        };
        match module.call_method1("attribute", (this, name)) {
            Ok(value) => value.into_ptr(),
            Err(e) => {
                e.restore(py);
                found
            }
        }
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

/// Makes the class, once, when the module is made.
pub fn create_type(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // The class refers to these tables as long as it lives, which is forever.
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
        slot(ffi::Py_tp_getattro, attribute as *mut c_void),
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
    decorated::register(class.as_ptr().cast(), |o| state::of(o).expect("the class is asked first").state());
    // The module may be removed, but instances and the code above still refer to the class.
    std::mem::forget(class.clone());
    Ok(class)
}

/// Makes a dispatcher for a Python function. `signatures` are compiled at once; if `eager`, no others are.
#[pyfunction]
#[pyo3(name = "dispatcher")]
pub fn dispatcher_of<'py>(
    function: &Bound<'py, PyFunction>,
    options: &Bound<'py, PyDict>,
    signatures: Vec<Bound<'py, PyAny>>,
    eager: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    panics::install();
    vectorcall::prepare(py)?;
    generator_methods::prepare(py);
    signals::find_main_thread(py)?;
    let options = JitOptions::read(&options.copy()?)?;
    let state = Box::new(State::new(function.as_any(), options, &vectorcall::ENTRY_POINTS)?);
    let dict = PyDict::new(py);
    if let Ok(own) = function.getattr(intern!(py, "__dict__"))?.cast::<PyDict>() {
        dict.update(own.as_mapping())?;
    }
    for name in ["__module__", "__name__", "__qualname__", "__doc__", "__annotations__"] {
        dict.set_item(name, function.getattr(name)?)?;
    }
    dict.set_item(intern!(py, "__wrapped__"), function)?;
    // SAFETY: `PyType_GenericAlloc` gives a zeroed, tracked instance of the class, whose fields are filled here.
    let made = unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(decorated::dispatcher_type(), 0))?;
        let object = &mut *made.as_ptr().cast::<DispatcherObject>();
        state.set_owner(object);
        object.dict = dict.into_ptr();
        made
    };
    for sig in signatures {
        made.call_method1(intern!(py, "compile"), (sig,))?;
    }
    if eager {
        made.call_method1(intern!(py, "disable_compile"), (true,))?;
    }
    Ok(made)
}
