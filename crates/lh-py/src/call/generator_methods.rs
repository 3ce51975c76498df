//! The methods of generators made by compiled code.

use crate::call::boxing::{Boxer, release};
use crate::call::generator::Generator;
use crate::call::overload::{Ret, Sizes, type_of};
use crate::call::unbox;
use crate::call::vectorcall::{guarded, simple_result};
use crate::object::attach::attach;
use crate::object::class_names::short_text;
use crate::runtime::raise;
use crate::runtime::signals::Running;
use lh_ir::TyKind;
use lh_ir::class::layout;
use lh_ir::types::GeneratorTy;
use lh_runtime::exception::set_pending;
use lh_runtime::take_pending;
use pyo3::exceptions::{PyBaseException, PyGeneratorExit, PyRuntimeError, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{PyTypeInfo, ffi, intern};
use smallvec::{SmallVec, smallvec};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The answer of a generator: an item, or the value that it returns.
enum Step<'py> {
    Item(Bound<'py, PyAny>),
    Returned(Option<Bound<'py, PyAny>>),
}

impl<'py> Step<'py> {
    fn item(self) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Step::Item(item) => Ok(item),
            Step::Returned(None) => Err(PyStopIteration::new_err(())),
            Step::Returned(Some(value)) => Err(PyStopIteration::new_err((value.unbind(),))),
        }
    }
}

impl Generator {
    fn ty(&self) -> &'static GeneratorTy {
        type_of(&self.advance)
    }

    /// Where it goes on.
    fn state(&self) -> *mut i64 {
        // SAFETY: the frame is alive, and its first word says it.
        unsafe { (*self.frame.address()).data.cast() }
    }

    /// Goes on with it; `sent` are the words of what is sent, and an error is thrown.
    fn go_on<'py>(&self, py: Python<'py>, sent: &[u64], thrown: Option<PyErr>) -> PyResult<Step<'py>> {
        let Sizes { sent: size, given, .. } = self.sizes;
        let mut args: SmallVec<[u64; 8]> = smallvec![self.frame.address() as u64];
        args.extend_from_slice(sent);
        args.resize(1 + size, 0);
        let mut words: SmallVec<[u64; 16]> = smallvec![0; given];
        if self.is_running.swap(true, Ordering::Acquire) {
            return Err(PyValueError::new_err("generator already executing"));
        }
        if let Some(error) = thrown {
            set_pending(raise::pending(py, error));
            // SAFETY: nobody else runs it.
            unsafe { *self.state() += layout::THROWN };
        }
        let running = Running::start(self.advance.may_wait);
        // SAFETY: the code takes a generator's frame, which is alive, and what is sent, and gives as many words as its
        // result type has.
        let status = unsafe { (self.advance.entry)(args.as_ptr(), words.as_mut_ptr()) };
        drop(running);
        self.is_running.store(false, Ordering::Release);
        self.ended(py, status, &words)
    }

    /// The answer of the code, which has given these words.
    fn ended<'py>(&self, py: Python<'py>, status: i32, words: &[u64]) -> PyResult<Step<'py>> {
        if status != 0 {
            let error = self.left_by(py, raise::take(py));
            self.write_back(py, true)?;
            return Err(error);
        }
        let has = words[0] & 1 != 0;
        let mut boxer = Boxer::new(py, None);
        let GeneratorTy { item, ret, .. } = self.ty();
        let at = 1 + self.sizes.item;
        let result = if has {
            boxer.borrowed(*item, &words[1..at]).map(Step::Item)
        } else if ret.is_none() {
            Ok(Step::Returned(None))
        } else {
            boxer.borrowed(*ret, &words[at..]).map(|v| Step::Returned((!v.is_none()).then_some(v)))
        };
        release(self.advance.ret, words);
        self.write_back(py, !has)?;
        result
    }

    /// The error that leaves the generator: `StopIteration` would seem to be its end.
    fn left_by(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if !error.is_instance_of::<PyStopIteration>(py) {
            return error;
        }
        let outer = PyRuntimeError::new_err("generator raised StopIteration");
        outer.set_cause(py, Some(error));
        outer
    }

    /// The words of what is sent.
    fn words_of(&self, value: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        // SAFETY: reads a word of a frame that is alive.
        if unsafe { *self.state() } == 0 && !value.is_none() {
            return Err(PyTypeError::new_err("can't send non-None value to a just-started generator"));
        }
        if value.is_none() {
            return Ok(Vec::new());
        }
        let refused = |why: &str| {
            let takes = match self.ty().sent.kind() {
                TyKind::Optional(t) => format!("`{}`", t.numba()),
                _ => "nothing".to_owned(),
            };
            let name = short_text(value);
            PyTypeError::new_err(format!(
                "this generator is compiled to be sent {takes}, and is sent {name}: {why}\n  help: annotate its \
                 function, `-> Generator[yielded, sent, returned]`"
            ))
        };
        let TyKind::Optional(to) = self.ty().sent.kind() else { return Err(refused("its types depend on that")) };
        if to.is_int() && !value.hasattr(intern!(value.py(), "__index__"))? {
            return Err(refused("it is no integer"));
        }
        let mut words = vec![1];
        words.extend(unbox::words(value, *to, refused)?);
        Ok(words)
    }
}

/// Words that need no allocation.
const FEW: usize = 8;

/// `tp_iternext` of generators: those of plain items go on by this, as long as they give some.
unsafe extern "C" fn next_item(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a generator, attached; a class is not changed while its instances live.
    unsafe {
        let py = Python::assume_attached();
        let generator = Bound::from_borrowed_ptr(py, object).cast_into_unchecked::<Generator>();
        let this = generator.get();
        let Sizes { sent, given, boxing, is_counted, .. } = this.sizes;
        let is_plain = !is_counted && boxing != Ret::Other && sent < FEW && given <= FEW && !this.has_copies();
        if !is_plain || this.is_running.swap(true, Ordering::Acquire) {
            return LONG_WAY.get().map_or(ptr::null_mut(), |next| next(object));
        }
        let mut args = [0; FEW];
        args[0] = this.frame.address() as u64;
        let mut words = [0; FEW];
        let running = Running::start(this.advance.may_wait);
        let status = (this.advance.entry)(args.as_ptr(), words.as_mut_ptr());
        drop(running);
        this.is_running.store(false, Ordering::Release);
        match status {
            0 if words[0] & 1 != 0 => simple_result(boxing, &raw const words[1]),
            // The long way asks it again; at its end a generator stays.
            0 if this.ty().ret.is_none() => ptr::null_mut(),
            _ => guarded(py, || this.ended(py, status, &words).and_then(Step::item))
                .map_or(ptr::null_mut(), Bound::into_ptr),
        }
    }
}

/// The `tp_iternext` that stands for `__next__`.
static LONG_WAY: OnceLock<ffi::iternextfunc> = OnceLock::new();

/// Lets generators go on by the short way.
pub fn prepare(py: Python<'_>) {
    LONG_WAY.get_or_init(|| {
        // SAFETY: a class with `__next__`, of which there are no instances yet.
        unsafe {
            let next = &mut (*Generator::type_object_raw(py)).tp_iternext;
            next.replace(next_item).expect("generators are iterators")
        }
    });
}

#[pymethods]
impl Generator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.go_on(py, &[], None)? {
            Step::Item(item) => Ok(Some(item)),
            Step::Returned(None) => Ok(None),
            returned @ Step::Returned(_) => returned.item().map(Some),
        }
    }
    /// Goes on with the generator: `yield` is a value there.
    fn send<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let words = self.words_of(value)?;
        let step = self.go_on(value.py(), &words, None);
        if let (TyKind::Optional(t), false) = (self.ty().sent.kind(), words.is_empty()) {
            release(*t, &words[1..]);
        }
        step?.item()
    }
    /// Raises an exception where the generator is, and goes on.
    #[pyo3(signature = (typ, val=None, tb=None))]
    fn throw<'py>(
        &self,
        typ: &Bound<'py, PyAny>,
        val: Option<&Bound<'py, PyAny>>,
        tb: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = typ.py();
        let is_class = typ.cast::<PyType>().is_ok();
        let value = match val {
            Some(value) if value.is_instance_of::<PyBaseException>() => value.clone(),
            Some(value) if is_class => typ.call1((value,))?,
            _ if is_class => typ.call0()?,
            _ => typ.clone(),
        };
        if !value.is_instance_of::<PyBaseException>() {
            let text = "exceptions must be classes or instances deriving from BaseException, not ";
            return Err(PyTypeError::new_err(format!("{text}{}", typ.get_type().name()?)));
        }
        if let Some(tb) = tb.filter(|tb| !tb.is_none()) {
            value.call_method1(intern!(py, "with_traceback"), (tb,))?;
        }
        self.go_on(py, &[], Some(PyErr::from_value(value)))?.item()
    }
    /// Ends the generator, by `GeneratorExit` where it is.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // SAFETY: reads and writes a word of a frame that is alive.
        if unsafe { *self.state() } <= 0 {
            if self.is_running.load(Ordering::Relaxed) {
                return Err(PyValueError::new_err("generator already executing"));
            }
            // SAFETY: as above.
            unsafe { *self.state() = -1 };
            return Ok(());
        }
        match self.go_on(py, &[], Some(PyGeneratorExit::new_err(()))) {
            Ok(Step::Item(_)) => Err(PyRuntimeError::new_err("generator ignored GeneratorExit")),
            Ok(Step::Returned(_)) => Ok(()),
            Err(e) if e.is_instance_of::<PyGeneratorExit>(py) => Ok(()),
            Err(e) => Err(e),
        }
    }
    #[getter]
    fn gi_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }
    fn __repr__(&self) -> String {
        format!("<compiled generator of {}>", self.ty().item.numba())
    }
}

impl Drop for Generator {
    /// A suspended generator is closed, so that what its function cleans up is.
    fn drop(&mut self) {
        // SAFETY: reads a word of a frame that is alive.
        if unsafe { *self.state() } <= 0 {
            return;
        }
        let (before, thrown) = (take_pending(), PyGeneratorExit::new_err(()));
        attach(|py| {
            let error = PyErr::take(py);
            match self.go_on(py, &[], Some(thrown)) {
                Err(e) if !e.is_instance_of::<PyGeneratorExit>(py) => e.write_unraisable(py, None),
                _ => {}
            }
            error.into_iter().for_each(|e| e.restore(py));
        });
        before.into_iter().for_each(set_pending);
    }
}
