//! A call from Python: bind, tag, find the specialisation, run it, make the result an object.

use crate::args::ArgBuf;
use crate::boxing::{Boxer, foreign_owner};
use crate::dispatcher::{self, Entry, Overload, Ret, State};
use crate::object::DispatcherObject;
use crate::signals::Running;
use crate::{convert, np, raise, render};
use lh_runtime::MemInfo;
use lh_runtime::alloc::decref;
use pyo3::ffi;
use pyo3::prelude::*;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result words that need no allocation.
const INLINE_RET: usize = 24;

/// `tp_vectorcall` of dispatchers.
pub unsafe extern "C" fn vectorcall(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a dispatcher, attached, and with arguments that outlive the call.
    unsafe {
        let py = Python::assume_attached();
        let state = (*callable.cast::<DispatcherObject>()).state;
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        let run = || {
            if kwnames.is_null() && n == (*state).params.plain {
                call(py, callable, state, args, n)
            } else {
                let object = Bound::from_borrowed_ptr(py, callable);
                let bound = crate::bind::bind(py, state, args, n, kwnames)?;
                let result = call(py, callable, state, bound.as_ptr(), bound.len());
                drop(object);
                result
            }
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(object)) => object,
            Ok(Err(error)) => {
                error.restore(py);
                std::ptr::null_mut()
            }
            Err(panic) => {
                render::internal_error(py, panic.as_ref()).restore(py);
                std::ptr::null_mut()
            }
        }
    }
}

/// # Safety
/// `args` are `n` live objects; `state` is that of the live dispatcher `callable`.
#[inline(always)]
unsafe fn call(
    py: Python<'_>,
    callable: *mut ffi::PyObject,
    state: *mut State,
    args: *const *mut ffi::PyObject,
    n: usize,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: as promised; references into the state end before Python code can run.
    unsafe {
        if np::ndarray_type().is_null() {
            np::load(py)?;
        }
        let mut buf = ArgBuf::default();
        for i in 0..n {
            if let Err(why) = buf.push(*args.add(i)) {
                let arg = Bound::from_borrowed_ptr(py, *args.add(i));
                return Err(dispatcher::refuse(py, &*state, i, &arg, why));
            }
        }
        let (mut at, mut fresh) = (find(state, &buf.tags), false);
        loop {
            if at == usize::MAX {
                at = dispatcher::resolve(py, state, &Bound::from_borrowed_ptr(py, callable), &buf, n)?;
                fresh = true;
            }
            let entry: *const Entry = (*state).entries.as_ptr().add(at);
            let overload = &*(*entry).overload;
            // What was compiled a moment ago is taken as it is, so that a call always ends.
            if !fresh && !overload.guard.is_current(py) {
                at = refresh(py, callable, state, overload, &buf, n)?;
                fresh = true;
                continue;
            }
            if let Some(natural) = &(*entry).natural {
                convert_all(natural, overload, &mut buf);
            }
            return run(py, state, overload, &mut buf);
        }
    }
}

/// The entry for these tags, or `usize::MAX`.
#[inline(always)]
unsafe fn find(state: *mut State, tags: &[u64]) -> usize {
    // SAFETY: the caller passes a live state; nothing else uses it meanwhile.
    unsafe {
        let state = &mut *state;
        if let Some(e) = state.entries.get(state.last)
            && same(&e.tags, tags)
        {
            return state.last;
        }
        match state.entries.iter().position(|e| same(&e.tags, tags)) {
            Some(i) => {
                state.last = i;
                i
            }
            None => usize::MAX,
        }
    }
}

#[inline(always)]
fn same(a: &[u64], b: &[u64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y)
}

/// Compiles anew what depended on something that has changed.
#[cold]
unsafe fn refresh(
    py: Python<'_>,
    callable: *mut ffi::PyObject,
    state: *mut State,
    overload: &Overload,
    buf: &ArgBuf,
    n: usize,
) -> PyResult<usize> {
    // SAFETY: as for `call`.
    unsafe {
        let object = Bound::from_borrowed_ptr(py, callable);
        dispatcher::renew(py, state, &object, overload)?;
        dispatcher::resolve(py, state, &object, buf, n)
    }
}

#[cold]
fn convert_all(natural: &[lh_ir::Ty], overload: &Overload, buf: &mut ArgBuf) {
    if overload.compiled.escapes {
        own(buf);
    }
    let owned = buf.owners.drain(..).map(|(at, _)| buf.slots[at as usize] as *mut MemInfo);
    buf.held.extend(owned);
    let mut out = Vec::new();
    let mut at = &buf.slots[..];
    for (from, to) in natural.iter().zip(&overload.compiled.args) {
        convert::slots(*from, *to, &mut at, &mut out);
    }
    buf.slots.clear();
    buf.slots.extend_from_slice(&out);
}

/// Runs a specialisation on the words in the buffer.
#[inline(always)]
unsafe fn run(py: Python<'_>, state: *mut State, overload: &Overload, buf: &mut ArgBuf) -> PyResult<*mut ffi::PyObject> {
    let mut inline = [MaybeUninit::<u64>::uninit(); INLINE_RET];
    let mut heap = Vec::new();
    let ret: *mut u64 = if overload.ret_words <= INLINE_RET {
        inline.as_mut_ptr().cast()
    } else {
        heap.resize(overload.ret_words, 0u64);
        heap.as_mut_ptr()
    };
    if overload.compiled.escapes {
        own(buf);
    }
    let entry = overload.compiled.entry;
    let running = Running::start();
    // SAFETY: the words are those of the specialisation's argument types; the result has room.
    let status = unsafe {
        if (*state).options.nogil {
            let saved = ffi::PyEval_SaveThread();
            let status = entry(buf.slots.as_ptr(), ret);
            ffi::PyEval_RestoreThread(saved);
            status
        } else {
            entry(buf.slots.as_ptr(), ret)
        }
    };
    drop(running);
    if status == 0 && buf.lists.is_none() {
        // SAFETY: the code has succeeded and written its result; attached.
        unsafe {
            match overload.ret {
                Ret::Float => return Ok(ffi::PyFloat_FromDouble(f64::from_bits(*ret))),
                Ret::Int => return Ok(ffi::PyLong_FromLongLong(*ret as i64)),
                Ret::None => return Ok(ffi::Py_NewRef(ffi::Py_None())),
                Ret::Bool => return Ok(ffi::PyBool_FromLong((*ret & 1) as std::ffi::c_long)),
                Ret::Other | Ret::Converted => {}
            }
        }
    }
    // SAFETY: as above.
    unsafe { finish(py, overload, buf, status, ret) }
}

/// Gives arrays and strings among the arguments an owner, for code that lets them escape.
#[cold]
fn own(buf: &mut ArgBuf) {
    for (at, object) in &buf.owners {
        buf.slots[*at as usize] = foreign_owner(*object) as u64;
    }
}

/// The result, or the exception, of a call that is not one of the simple cases.
unsafe fn finish(
    py: Python<'_>,
    overload: &Overload,
    buf: &mut ArgBuf,
    status: i32,
    ret: *const u64,
) -> PyResult<*mut ffi::PyObject> {
    let result = if status == 0 {
        // SAFETY: the code has written so many words.
        let words = unsafe { std::slice::from_raw_parts(ret, overload.ret_words) };
        let mut boxer = Boxer::new(py, buf.lists.as_deref());
        match overload.explicit {
            Some(want) if overload.ret == Ret::Converted => {
                let (mut at, mut out) = (words, Vec::new());
                convert::slots(overload.compiled.ret, want, &mut at, &mut out);
                boxer.owned(want, &out)
            }
            _ => boxer.owned(overload.compiled.ret, words),
        }
        .map(Bound::into_ptr)
    } else {
        Err(raise::take(py))
    };
    if let Some(lists) = &buf.lists
        && let Err(e) = lists.reflect(py)
        && let Ok(object) = result
    {
        // SAFETY: the result is ours to drop.
        unsafe { ffi::Py_DECREF(object) };
        return Err(e);
    }
    result
}

impl Drop for ArgBuf {
    #[inline(always)]
    fn drop(&mut self) {
        for (at, _) in &self.owners {
            let mem = self.slots.get(*at as usize).map_or(0, |w| *w) as *mut MemInfo;
            // SAFETY: an owner slot is null, or holds the reference that `own` made.
            unsafe { decref(mem) };
        }
        for mem in &self.held {
            // SAFETY: as above; conversion has moved the references here.
            unsafe { decref(*mem) };
        }
    }
}
