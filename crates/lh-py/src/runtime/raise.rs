//! The pending exception of compiled code as a Python exception, with the compiled functions in its traceback.

use crate::host::exc_classes::{class_id, class_object};
use crate::object::attach::attach;
use crate::object::lock::lock;
use crate::object::text;
use hashbrown::{Equivalent, HashMap};
use lh_ir::ExcId;
use lh_runtime::classes;
use lh_runtime::{ExcArg, Frame, Pending};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBool, PyBytes, PyDict, PyFunction, PyList, PySet, PyString, PyTuple};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::ffi::{CStr, CString, c_int};
use std::sync::{LazyLock, Mutex};

fn arg<'py>(py: Python<'py>, a: &ExcArg) -> PyResult<Bound<'py, PyAny>> {
    Ok(match a {
        ExcArg::None => py.None().into_bound(py),
        ExcArg::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
        ExcArg::Int(i) => i.into_pyobject(py)?.into_any(),
        ExcArg::Uint(u) => u.into_pyobject(py)?.into_any(),
        ExcArg::Float(x) => x.into_pyobject(py)?.into_any(),
        ExcArg::Complex(re, im) => pyo3::types::PyComplex::from_doubles(py, *re, *im).into_any(),
        ExcArg::Str(s) => text::object(py, s)?,
        ExcArg::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        ExcArg::Tuple(items) => PyTuple::new(py, all(py, items)?)?.into_any(),
        ExcArg::List(items) => PyList::new(py, all(py, items)?)?.into_any(),
        ExcArg::Set(items) => PySet::new(py, all(py, items)?)?.into_any(),
        ExcArg::Dict(items) => {
            let dict = PyDict::new(py);
            for entry in items.chunks_exact(2) {
                dict.set_item(arg(py, &entry[0])?, arg(py, &entry[1])?)?;
            }
            dict.into_any()
        }
        ExcArg::Array(parts) => array(py, parts)?,
        ExcArg::Exception(e) => exception(py, e)?,
        ExcArg::Named(_, x) => arg(py, x)?,
    })
}

fn all<'py>(py: Python<'py>, items: &[ExcArg]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.iter().map(|i| arg(py, i)).collect()
}

/// An array of a dtype, a shape, and the bytes of its items.
fn array<'py>(py: Python<'py>, parts: &[ExcArg]) -> PyResult<Bound<'py, PyAny>> {
    let [dtype, shape, items, ..] = parts else { return Ok(py.None().into_bound(py)) };
    let numpy = py.import(intern!(py, "numpy"))?;
    let flat = numpy.call_method1(intern!(py, "frombuffer"), (arg(py, items)?, arg(py, dtype)?))?;
    flat.call_method1(intern!(py, "reshape"), (arg(py, shape)?,))?.call_method0(intern!(py, "copy"))
}

/// An exception with its traceback, and those that it is linked to.
pub fn exception<'py>(py: Python<'py>, pending: &Pending) -> PyResult<Bound<'py, PyAny>> {
    let (made, frames) = (instance(py, pending)?, frames(py, pending));
    PyErr::from_value(made).restore(py);
    add(frames);
    Ok(PyErr::fetch(py).into_value(py).into_bound(py).into_any())
}

/// The exception of a signal handler that ran while compiled code did.
struct HandlersError {
    error: PyErr,
    /// Its class and arguments, as compiled code sees them.
    class: ExcId,
    args: Vec<ExcArg>,
}

// SAFETY: arguments are those of a Python exception, which are values that may move between threads.
unsafe impl Send for HandlersError {}

/// The last exception of a handler that has not been raised.
static HANDLERS_ERROR: Mutex<Option<HandlersError>> = Mutex::new(None);

/// An exception of a signal handler as a pending one. The Python exception itself is kept, and raised if compiled code
/// does not catch it.
pub fn pending(py: Python<'_>, error: PyErr) -> Pending {
    let class = class_id(&error.get_type(py)).unwrap_or(classes::KEYBOARD_INTERRUPT);
    let args = error.value(py).getattr("args").and_then(|a| a.try_iter()?.map(|a| Ok(exc_arg(&a?))).collect());
    let args: Vec<_> = args.unwrap_or_default();
    // A plain KeyboardInterrupt says nothing more, and would keep its frames alive if it is caught.
    let plain = class == classes::KEYBOARD_INTERRUPT && args.is_empty();
    let kept = (!plain).then(|| HandlersError { error, class, args: args.clone() });
    let before = std::mem::replace(&mut *lock(&HANDLERS_ERROR), kept);
    // Dropping may run Python code, which must find the lock free.
    drop(before);
    Pending::new(class, args)
}

fn exc_arg(a: &Bound<'_, PyAny>) -> ExcArg {
    if a.is_none() {
        ExcArg::None
    } else if let Ok(b) = a.cast::<PyBool>() {
        ExcArg::Bool(b.is_true())
    } else if let Ok(i) = a.extract() {
        ExcArg::Int(i)
    } else if let Ok(x) = a.extract() {
        ExcArg::Float(x)
    } else {
        ExcArg::Str(a.str().and_then(|s| text::owned(&s)).unwrap_or_default())
    }
}

/// The exception pending in the run-time library as a Python error.
pub fn take(py: Python<'_>) -> PyErr {
    throw(py);
    PyErr::fetch(py)
}

/// Raises the exception pending in the run-time library. That which Python handles just now is its context, or that of
/// the first one in its chain.
pub fn throw(py: Python<'_>) {
    let Some(pending) = lh_runtime::take_pending() else {
        return pyo3::exceptions::PySystemError::new_err("compiled code failed without an exception").restore(py);
    };
    // A statement of its own frees the lock: Python code may run below.
    let kept = lock(&HANDLERS_ERROR).take_if(|h| h.class == pending.class && h.args == pending.args);
    let value = kept.map_or_else(|| instance(py, &pending), |h| Ok(h.error.into_value(py).into_bound(py).into_any()));
    let frames = frames(py, &pending);
    match value {
        Ok(value) => set(&value),
        Err(error) => error.restore(py),
    }
    add(frames);
}

/// Raises an exception as `raise` does, and links the one that is handled to the end of its chain.
fn set(value: &Bound<'_, PyAny>) {
    // SAFETY: an exception, attached; each context is a new reference, or null. Chains have no circles.
    unsafe {
        let context = ffi::PyException_GetContext(value.as_ptr());
        if context.is_null() {
            return ffi::PyErr_SetObject(ffi::Py_TYPE(value.as_ptr()).cast(), value.as_ptr());
        }
        let mut last = Bound::from_owned_ptr(value.py(), context);
        while let Some(next) = Bound::from_owned_ptr_or_opt(value.py(), ffi::PyException_GetContext(last.as_ptr())) {
            last = next;
        }
        ffi::PyErr_SetObject(ffi::Py_TYPE(last.as_ptr()).cast(), last.as_ptr());
        ffi::PyErr_Clear();
        ffi::PyErr_Restore(
            ffi::Py_NewRef(ffi::Py_TYPE(value.as_ptr()).cast()),
            ffi::Py_NewRef(value.as_ptr()),
            ffi::PyException_GetTraceback(value.as_ptr()),
        );
    }
}

fn instance<'py>(py: Python<'py>, pending: &Pending) -> PyResult<Bound<'py, PyAny>> {
    let mut args = pending.args.iter().map(|a| arg(py, a)).collect::<PyResult<Vec<_>>>()?;
    // Compiled code gives the bytes as characters with the same numbers.
    if pending.class == classes::UNICODE_DECODE_ERROR
        && let [_, ExcArg::Str(_), ..] = &pending.args[..]
    {
        args[1] = args[1].call_method1(intern!(py, "encode"), (intern!(py, "latin-1"),))?;
    }
    let keywords = if pending.keywords.is_empty() {
        None
    } else {
        let all = pending.keywords.iter().map(|(name, x)| Ok((name, arg(py, x)?))).collect::<PyResult<Vec<_>>>()?;
        Some(all.into_py_dict(py)?)
    };
    let class = class_object(py, pending.class)?;
    let args = PyTuple::new(py, args)?;
    let made = match &pending.fields {
        Some(fields) => initialised(py, &class, args, fields)?,
        None => class.call(args, keywords.as_ref())?,
    };
    for note in &pending.notes {
        made.call_method1(intern!(py, "add_note"), (note,))?;
    }
    if let Some(context) = &pending.context {
        made.setattr(intern!(py, "__context__"), exception(py, context)?)?;
    }
    match &pending.cause {
        // The cause is the context, too, if it was handled when the exception was raised.
        Some(cause) if pending.context.as_ref().is_some_and(|c| c.is(cause)) => {
            made.setattr(intern!(py, "__cause__"), made.getattr(intern!(py, "__context__"))?)?;
        }
        Some(cause) => made.setattr(intern!(py, "__cause__"), exception(py, cause)?)?,
        None if pending.suppressed => made.setattr(intern!(py, "__suppress_context__"), true)?,
        None => {}
    }
    Ok(made)
}

/// An exception whose own `__init__` has run in compiled code: that of Python's class gets what it was given.
fn initialised<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyAny>,
    args: Bound<'py, PyTuple>,
    fields: &[(String, ExcArg)],
) -> PyResult<Bound<'py, PyAny>> {
    let made = class.getattr(intern!(py, "__new__"))?.call1(joined(py, class, &args)?)?;
    for base in class.getattr(intern!(py, "__mro__"))?.try_iter()? {
        let base = base?;
        let init = base.getattr(intern!(py, "__init__"))?;
        if !init.is_instance_of::<PyFunction>() {
            init.call1(joined(py, &made, &args)?)?;
            break;
        }
    }
    for (name, x) in fields {
        made.setattr(name.as_str(), arg(py, x)?)?;
    }
    Ok(made)
}

fn joined<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    rest: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let all: Vec<_> = std::iter::once(first.clone()).chain(rest.iter()).collect();
    PyTuple::new(py, all)
}

/// The compiled functions that the exception left. No exception is set.
fn frames<'py>(py: Python<'py>, pending: &Pending) -> SmallVec<[Bound<'py, PyAny>; 2]> {
    let globals = PyDict::new(py);
    // SAFETY: the code, which has the facts of frames, is alive while its call ends.
    pending.frames.iter().filter_map(|f| unsafe { frame_object(py, f, &globals) }).collect()
}

/// Adds functions to the traceback of the exception that is set.
fn add(frames: SmallVec<[Bound<'_, PyAny>; 2]>) {
    for frame in frames {
        // SAFETY: an exception is set, and the object is a frame.
        unsafe { ffi::PyTraceBack_Here(frame.as_ptr().cast()) };
    }
}

/// A line of a function.
#[derive(PartialEq, Eq, Hash)]
struct Place<T> {
    file: T,
    name: T,
    line: c_int,
}

impl Equivalent<Place<CString>> for Place<&CStr> {
    fn equivalent(&self, other: &Place<CString>) -> bool {
        (self.file, self.name, self.line) == (other.file.as_c_str(), other.name.as_c_str(), other.line)
    }
}

/// Code objects of lines where exceptions came by, of which most come again.
static CODES: LazyLock<Mutex<HashMap<Place<CString>, Py<PyAny>>>> = LazyLock::new(Default::default);

/// A code object, or none without memory for it.
fn code<'py>(py: Python<'py>, place: &Place<&CStr>) -> Option<Bound<'py, PyAny>> {
    const MOST: usize = 1_000;
    if let Some(code) = lock(&CODES).get(place) {
        return Some(code.bind(py).clone());
    }
    // The frame's line is the first line of its code object, for there is no table of lines.
    // SAFETY: texts of C; a new object, or null with an exception set.
    let made = unsafe {
        let made = ffi::PyCode_NewEmpty(place.file.as_ptr(), place.name.as_ptr(), place.line);
        Bound::from_owned_ptr_or_err(py, made.cast()).ok()?
    };
    let place = Place { file: place.file.to_owned(), name: place.name.to_owned(), line: place.line };
    let mut codes = lock(&CODES);
    // Dropping may run Python code, which must find the lock free.
    let before = if codes.len() < MOST { HashMap::new() } else { std::mem::take(&mut *codes) };
    codes.insert(place, made.clone().unbind());
    drop(codes);
    drop(before);
    Some(made)
}

/// A frame object of a compiled function; none for library functions.
///
/// # Safety
/// `frame.info` is null or points to the facts of a function; no exception is set.
unsafe fn frame_object<'py>(py: Python<'py>, frame: &Frame, globals: &Bound<'py, PyDict>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: as promised by the caller.
    unsafe {
        if frame.info.is_null() || (*frame.info).is_library != 0 {
            return None;
        }
        // Tracebacks show the last part of the qualified name, which is the code object's name.
        let qualname = CStr::from_ptr((*frame.info).qualname);
        let dot = qualname.to_bytes().iter().rposition(|b| *b == b'.').map_or(0, |i| i + 1);
        let name = qualname.as_ptr().add(dot);
        let line = if frame.line > 0 { frame.line } else { (*frame.info).first_line };
        let code = code(py, &Place { file: CStr::from_ptr((*frame.info).file), name: CStr::from_ptr(name), line })?;
        let made =
            ffi::PyFrame_New(ffi::PyThreadState_Get(), code.as_ptr().cast(), globals.as_ptr(), std::ptr::null_mut());
        // Without memory for a frame the traceback is shorter.
        Bound::from_owned_ptr_or_err(py, made.cast()).ok()
    }
}

/// Reports an exception that a function has raised that C code calls.
pub fn tell(name: &str) {
    attach(|py| {
        let name = PyString::new(py, name);
        take(py).write_unraisable(py, Some(name.as_any()));
    });
}
