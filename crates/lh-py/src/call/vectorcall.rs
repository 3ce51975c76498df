//! A call from Python: bind, tag, find the specialisation, run it, make the result an object.
//!
//! The path of every call is inlined into [`vectorcall`] and cannot panic. Rare cases are in functions of their own,
//! each run behind [`guarded`].

use crate::call::args::ArgBuf;
use crate::call::bind::{self, MAX_QUICK};
use crate::call::boxing::Boxer;
use crate::call::closures;
use crate::call::draws;
use crate::call::environment::Held;
use crate::call::generator::Generator;
use crate::call::made::{self, Form, Maker};
use crate::call::overload::{Entry, Overload, Ret};
use crate::call::state::{DispatcherObject, EntryPoints, State};
use crate::call::tags::{self, Refused};
use crate::call::{convert, empty_lists, interpreted, literals, named, refusal, specialise, texts};
use crate::host::stopping;
use crate::object::attach::attach;
use crate::object::{int, numpy, text};
use crate::runtime::signals::Running;
use crate::runtime::{raise, render};
use lh_ir::func::Semantics;
use lh_runtime::alloc::decref;
use lh_runtime::items::{Items, ItemsRef};
use lh_runtime::{MemInfo, StrValue};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The number of result words that need no allocation.
const INLINE_RET: usize = 24;

/// Runs a function that may panic or fail; on failure a Python exception is set.
#[cold]
#[inline(never)]
pub fn guarded<R>(py: Python<'_>, f: impl FnOnce() -> PyResult<R>) -> Option<R> {
    let error = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(r)) => return Some(r),
        Ok(Err(error)) => error,
        Err(panic) => render::internal_error(py, panic.as_ref()),
    };
    // Elsewhere PyO3 would keep the parts of the exception that it makes here.
    attach(|py| error.restore(py));
    None
}

/// The entry points of dispatchers.
pub static ENTRY_POINTS: EntryPoints = EntryPoints {
    general: vectorcall,
    with_environment,
    interpreted: interpreted::call,
    named: named::call,
    quick: quick_entry,
};

/// The `tp_vectorcall` of a dispatcher whose only code takes no arguments, ends at once and depends on nothing but its
/// own function, for one kind of result. Results that are more expensive to make have none.
fn quick_entry(ret: Ret) -> Option<ffi::vectorcallfunc> {
    Some(match ret {
        Ret::None => quick::<{ Ret::None as u8 }>,
        Ret::Bool => quick::<{ Ret::Bool as u8 }>,
        Ret::Int => quick::<{ Ret::Int as u8 }>,
        Ret::Float => quick::<{ Ret::Float as u8 }>,
        Ret::Complex => quick::<{ Ret::Complex as u8 }>,
        Ret::Text | Ret::Parts | Ret::List | Ret::Other | Ret::Converted => return None,
    })
}

/// See [`quick_entry`]. Any unusual call is left to [`vectorcall`].
unsafe extern "C" fn quick<const RET: u8>(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    const KINDS: [Ret; 5] = [Ret::None, Ret::Bool, Ret::Int, Ret::Float, Ret::Complex];
    // SAFETY: CPython calls this with a dispatcher, attached.
    unsafe {
        let overload = (*callable.cast::<DispatcherObject>()).quick();
        // The highest bit is a flag, not a part of the number. Without the GIL another thread may have set another
        // overload meanwhile.
        let fits = !cfg!(Py_GIL_DISABLED) || overload.ret as u8 == RET;
        if nargsf << 1 != 0 || !kwnames.is_null() || !fits || !overload.guard.own_is_current() {
            return vectorcall(callable, args, nargsf, kwnames);
        }
        let mut ret = [MaybeUninit::<u64>::uninit(); 2];
        match (overload.entry)(std::ptr::null(), ret.as_mut_ptr().cast()) {
            0 => simple_result(KINDS[RET as usize], ret.as_ptr().cast()),
            status => fail_quick(overload, status),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn fail_quick(overload: &Overload, status: i32) -> *mut ffi::PyObject {
    // SAFETY: as for `quick`; of a failed call no result is read.
    unsafe { finish(Python::assume_attached(), overload, &mut ArgBuf::default(), status, std::ptr::null()) }
}

/// `tp_vectorcall` of dispatchers.
unsafe extern "C" fn vectorcall(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a dispatcher, attached, and with arguments that outlive the call.
    unsafe {
        let state = (*callable.cast::<DispatcherObject>()).state();
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        if kwnames.is_null() && n == state.table().params.plain {
            return call(callable, state, args, n);
        }
        let mut quick = [MaybeUninit::<*mut ffi::PyObject>::uninit(); MAX_QUICK];
        match bind::quick(state.func.as_ptr(), &state.table().params, args, n, kwnames, &mut quick) {
            Some(count) => call(callable, state, quick.as_ptr().cast(), count),
            None => call_bound(callable, state, args, n, kwnames),
        }
    }
}

/// The arguments of a call, bound to parameters. Errors have Numba's words in its semantics.
///
/// # Safety
/// As [`bind::bind`].
pub unsafe fn bound_to(
    py: Python<'_>,
    state: &State,
    args: *const *mut ffi::PyObject,
    n: usize,
    kwnames: *mut ffi::PyObject,
) -> PyResult<bind::Arguments> {
    // SAFETY: as promised.
    let bound = unsafe { bind::bind(state.func.bind(py), state.params(py)?, args, n, kwnames) };
    bound.or_else(|e| {
        if state.options().ir.semantics == Semantics::Python || !e.is_instance_of::<PyTypeError>(py) {
            return Err(e);
        }
        // SAFETY: names of keywords are a tuple, if there are any.
        let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, kwnames) };
        let misfit = py.import("lancehead.decorated")?.getattr("misfit")?.call1((state.func.bind(py), n, names))?;
        Err(if misfit.is_none() { e } else { PyTypeError::new_err(misfit.unbind()) })
    })
}

/// A call whose arguments need all rules of binding.
#[cold]
unsafe fn call_bound(
    callable: *mut ffi::PyObject,
    state: &State,
    args: *const *mut ffi::PyObject,
    n: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as for `vectorcall`.
    unsafe {
        let py = Python::assume_attached();
        match guarded(py, || bound_to(py, state, args, n, kwnames)) {
            Some(bound) => call(callable, state, bound.as_ptr(), bound.len()),
            None => std::ptr::null_mut(),
        }
    }
}

/// # Safety
/// `args` are `n` live objects; `state` is that of the live dispatcher `callable`; the thread is attached.
#[inline(always)]
unsafe fn call(
    callable: *mut ffi::PyObject,
    state: &State,
    args: *const *mut ffi::PyObject,
    n: usize,
) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        let mut buf = ArgBuf::default();
        buf.has_numpy_scalars = state.options().ir.semantics == Semantics::Python;
        buf.takes_objects = true;
        for i in 0..n {
            if let Err(why) = buf.push(*args.add(i)) {
                return refuse(state, *args.add(i), i, why);
            }
        }
        let py = Python::assume_attached();
        let literals = &state.table().literals;
        if !literals.is_empty() && guarded(py, || literals::tag(py, literals, &mut buf, n)).is_none() {
            return std::ptr::null_mut();
        }
        if buf.undecided {
            return call_undecided(callable, state, args, &mut buf, n);
        }
        call_tagged(callable, state, &mut buf, n)
    }
}

/// `tp_vectorcall` of dispatchers whose calls pass captured variables.
unsafe extern "C" fn with_environment(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as for `vectorcall`.
    unsafe {
        let py = Python::assume_attached();
        let state = (*callable.cast::<DispatcherObject>()).state();
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        let Some(environment) = &state.table().environment else { return vectorcall(callable, args, nargsf, kwnames) };
        let bound;
        let (args, n) = if kwnames.is_null() && n == state.table().params.plain {
            (args, n)
        } else {
            match guarded(py, || bound_to(py, state, args, n, kwnames)) {
                Some(b) => bound = b,
                None => return std::ptr::null_mut(),
            }
            (bound.as_ptr(), bound.len())
        };
        let (mut buf, mut held) = (ArgBuf::default(), Held::new());
        buf.has_numpy_scalars = state.options().ir.semantics == Semantics::Python;
        buf.takes_objects = true;
        for i in 0..n {
            if let Err(why) = buf.push(*args.add(i)) {
                return refuse(state, *args.add(i), i, why);
            }
        }
        let is_same = state.table().params.is_of(state.func.as_ptr()) && state.can_compile();
        if !is_same || buf.undecided || !environment.push(py, &mut buf, &mut held) {
            // From now on the captured variables are constants again.
            state.set_environment(None);
            return call(callable, state, args, n);
        }
        call_tagged(callable, state, &mut buf, n + environment.len())
    }
}

/// # Safety
/// As for `call`; the buffer has the arguments.
#[inline(always)]
unsafe fn call_tagged(callable: *mut ffi::PyObject, state: &State, buf: &mut ArgBuf, n: usize) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        let py = Python::assume_attached();
        let entry = state.find(&buf.tags);
        if let Some(entry) = entry {
            let overload = &*entry.overload;
            if entry.natural.is_none() && overload.guard.is_current(py) {
                return run(py, state, overload, buf);
            }
        }
        call_slow(callable, state, entry, buf, n)
    }
}

/// The object of a result that is of one type for all functions; null for [`Ret::Parts`] and those below it.
///
/// # Safety
/// The words of such a result; the thread is attached.
#[inline(always)]
pub unsafe fn simple_result(kind: Ret, words: *const u64) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        match kind {
            Ret::Float => ffi::PyFloat_FromDouble(f64::from_bits(*words)),
            Ret::Int => int::object(*words as i64),
            Ret::None => ffi::Py_NewRef(ffi::Py_None()),
            Ret::Bool => ffi::PyBool_FromLong((*words & 1) as std::ffi::c_long),
            Ret::Complex => ffi::PyComplex_FromDoubles(f64::from_bits(*words), f64::from_bits(*words.add(1))),
            Ret::Text => texts::owned(words.cast::<StrValue>().read()),
            Ret::Parts | Ret::List | Ret::Other | Ret::Converted => std::ptr::null_mut(),
        }
    }
}

/// The object of a result of [`Ret::Parts`] or [`Ret::List`]. There is none of a list that Python has as its own.
///
/// # Safety
/// The words of such a result; the thread is attached.
#[inline(never)]
unsafe fn result_of_parts(overload: &Overload, form: &Form, words: *const u64) -> Option<*mut ffi::PyObject> {
    // SAFETY: as promised.
    unsafe {
        let made = if overload.ret == Ret::List {
            let native = ItemsRef::from_borrowed(words.cast::<*mut Items>().read());
            if native.is_shared() {
                return None;
            }
            made::list(form, &native, std::iter::empty())
        } else {
            Maker::new(std::iter::empty(), &[], 0).object(form, words.cast())
        };
        for at in &overload.ret_references {
            decref(words.add(*at).read() as *mut MemInfo);
        }
        Some(made)
    }
}

/// A call that compiles, or converts its arguments.
#[cold]
#[inline(never)]
unsafe fn call_slow(
    callable: *mut ffi::PyObject,
    state: &State,
    entry: Option<&Entry>,
    buf: &mut ArgBuf,
    n: usize,
) -> *mut ffi::PyObject {
    // SAFETY: as for `call`.
    unsafe {
        let py = Python::assume_attached();
        let object = Bound::from_borrowed_ptr(py, callable);
        let mut held = Held::new();
        if entry.is_none()
            && let Some(before) = closures::share(py, state, buf, n, &mut held)
        {
            let found = state.find(&buf.tags);
            let ready = guarded(py, || match specialise::ready(py, state, &object, found, buf, n) {
                Err(error) if stopping::was_left() => Err(error),
                ready => Ok(ready.ok()),
            });
            match ready {
                Some(Some(overload)) if !closures::is_returned(overload) => return run(py, state, overload, buf),
                Some(_) => before.restore(py, buf),
                None => return std::ptr::null_mut(),
            }
        }
        refusal::forget();
        let ready = || {
            specialise::ready(py, state, &object, entry, buf, n)
                .map_err(|e| if stopping::was_left() { e } else { refusal::because_of_objects(py, state, buf, n, e) })
        };
        match guarded(py, ready) {
            Some(overload) => run(py, state, overload, buf),
            None => std::ptr::null_mut(),
        }
    }
}

/// A call with lists that have no items: their item types are decided first.
#[cold]
#[inline(never)]
unsafe fn call_undecided(
    callable: *mut ffi::PyObject,
    state: &State,
    args: *const *mut ffi::PyObject,
    buf: &mut ArgBuf,
    n: usize,
) -> *mut ffi::PyObject {
    // SAFETY: as for `call`.
    unsafe {
        let py = Python::assume_attached();
        let object = Bound::from_borrowed_ptr(py, callable);
        let decided = guarded(py, || {
            empty_lists::decide(py, state, &object, buf, n)?;
            let mut lists = buf.lists.take().unwrap_or_default();
            let mut at = 0;
            for i in 0..n {
                let count = tags::tags_of_one(&buf.tags[at..]);
                lists.decide(py, *args.add(i), &buf.tags[at..at + count]);
                at += count;
            }
            buf.lists = Some(lists);
            Ok(())
        });
        if decided.is_none() {
            return std::ptr::null_mut();
        }
        call_slow(callable, state, state.find(&buf.tags), buf, n)
    }
}

/// A call of one specialisation, which has as many parameters as there are arguments. Arguments of other types are
/// converted.
pub fn call_specialisation(
    py: Python<'_>,
    callable: &Bound<'_, PyAny>,
    state: &State,
    overload: &Overload,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
    let mut buf = ArgBuf::default();
    buf.has_numpy_scalars = state.options().ir.semantics == Semantics::Python;
    buf.takes_objects = true;
    for (i, arg) in args.iter_borrowed().enumerate() {
        // SAFETY: the tuple keeps its items.
        if let Err(why) = unsafe { buf.push(arg.as_ptr()) } {
            return Err(refusal::refuse(py, state, i, &arg, why));
        }
    }
    if overload.variables != 0 || buf.undecided {
        // The function itself knows its captured variables, and decides what containers without items are.
        return callable.call1(args).map(Bound::unbind);
    }
    let entry = state.find(&buf.tags);
    if !entry.is_some_and(|e| std::ptr::eq(e.overload, overload) && e.natural.is_none()) {
        let natural = literals::types(py, &state.table().literals, &buf, args.len())?;
        if natural != overload.compiled.args {
            specialise::check_convertible(&natural, &overload.compiled.args).map_err(|error| {
                refusal::forget();
                refusal::because_of_objects(py, state, &buf, args.len(), error)
            })?;
            convert::convert_all(&natural, overload, &mut buf)?;
        }
    }
    // SAFETY: the buffer has the words of the specialisation's arguments; attached.
    unsafe { Bound::from_owned_ptr_or_err(py, run(py, state, overload, &mut buf)).map(Bound::unbind) }
}

#[cold]
#[inline(never)]
unsafe fn refuse(state: &State, arg: *mut ffi::PyObject, position: usize, why: Refused) -> *mut ffi::PyObject {
    // SAFETY: as for `call`.
    unsafe {
        let py = Python::assume_attached();
        let arg = Bound::from_borrowed_ptr(py, arg);
        guarded(py, || Err::<(), PyErr>(refusal::refuse(py, state, position, &arg, why)));
    }
    std::ptr::null_mut()
}

/// Runs a specialisation on the words in the buffer.
#[inline(always)]
unsafe fn run(py: Python<'_>, state: &State, overload: &Overload, buf: &mut ArgBuf) -> *mut ffi::PyObject {
    let mut inline = [MaybeUninit::<u64>::uninit(); INLINE_RET];
    let mut heap = Vec::new();
    let ret: *mut u64 = if overload.ret_words <= INLINE_RET {
        inline.as_mut_ptr().cast()
    } else {
        heap.resize(overload.ret_words, 0u64);
        heap.as_mut_ptr()
    };
    if overload.escapes && !buf.owners.is_empty() {
        buf.own();
    }
    let draws = match draws::begin(py, &buf.bit_generators) {
        Ok(draws) => draws,
        Err(error) => {
            error.restore(py);
            return std::ptr::null_mut();
        }
    };
    let running = Running::start(overload.may_wait);
    // SAFETY: the words are those of the specialisation's argument types; the result has room.
    let status = unsafe {
        if state.options().nogil {
            let saved = ffi::PyEval_SaveThread();
            let status = (overload.entry)(buf.slots.as_ptr(), ret);
            ffi::PyEval_RestoreThread(saved);
            status
        } else {
            (overload.entry)(buf.slots.as_ptr(), ret)
        }
    };
    drop(running);
    drop(draws);
    if status == 0 && buf.lists.is_none() && !matches!(overload.ret, Ret::Other | Ret::Converted) {
        // SAFETY: the code has succeeded and written its result; attached.
        let made = unsafe {
            match &overload.form {
                Some(form) => result_of_parts(overload, form, ret),
                None => Some(simple_result(overload.ret, ret)),
            }
        };
        if let Some(made) = made {
            return made;
        }
    }
    // SAFETY: as above.
    unsafe { finish(py, overload, buf, status, ret) }
}

/// The result or the exception of a call that is not one of the simple cases.
#[inline(never)]
unsafe fn finish(
    py: Python<'_>,
    overload: &Overload,
    buf: &mut ArgBuf,
    status: i32,
    ret: *const u64,
) -> *mut ffi::PyObject {
    let made = catch_unwind(AssertUnwindSafe(|| {
        if status != 0 && buf.lists.is_none() {
            raise::throw(py);
            return Ok(None);
        }
        let result = if status == 0 {
            // SAFETY: the code has written so many words of a result of this kind.
            unsafe {
                match overload.ret {
                    Ret::Parts | Ret::List | Ret::Other | Ret::Converted => {
                        box_result(py, overload, buf, std::slice::from_raw_parts(ret, overload.ret_words))
                    }
                    simple => Bound::from_owned_ptr_or_err(py, simple_result(simple, ret)),
                }
            }
        } else {
            Err(raise::take(py))
        };
        let Some(mut lists) = buf.lists.take() else { return result.map(Some) };
        let generator = result.as_ref().ok().and_then(|made| made.cast::<Generator>().ok());
        if let Some(generator) = generator {
            lists.reflect_again(py)?;
            generator.get().keep(lists);
            return result.map(Some);
        }
        lists.reflect(py).and(result).map(Some)
    }));
    let error = match made {
        Ok(Ok(object)) => return object.map_or(std::ptr::null_mut(), Bound::into_ptr),
        Ok(Err(error)) => error,
        Err(panic) => render::internal_error(py, panic.as_ref()),
    };
    error.restore(py);
    std::ptr::null_mut()
}

fn box_result<'py>(py: Python<'py>, overload: &Overload, buf: &ArgBuf, words: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let boxer = Boxer::new(py, buf.lists.as_deref()).with(overload);
    let mut boxer = boxer.with_numbas(overload.is_numbas);
    let ty = overload.compiled.ret;
    match overload.explicit {
        Some(want) if overload.ret == Ret::Converted => {
            let (mut at, mut out) = (words, Vec::new());
            convert::slots(ty, want, &mut at, &mut out);
            boxer.owned(want, &out)
        }
        _ => {
            let result = boxer.borrowed(ty, words);
            for at in &overload.ret_references {
                // SAFETY: the reference of a result is the caller's.
                unsafe { decref(words[*at] as *mut MemInfo) };
            }
            result
        }
    }
}

/// Loads NumPy before the first dispatcher is called, since every call compares arguments with its array type.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    int::prepare();
    text::prepare();
    numpy::load(py).map(|_| ())
}
