//! The methods of generators made by compiled code.

use crate::call::boxing::{Boxer, release};
use crate::call::generator::Generator;
use crate::call::unbox;
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
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
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
        match self.advance.args.first().map(|t| t.kind()) {
            Some(TyKind::Generator(g)) => g,
            _ => lh_ir::bug!("a generator is gone on with by its own function"),
        }
    }

    /// Where it goes on.
    fn state(&self) -> *mut i64 {
        // SAFETY: the frame is alive, and its first word says it.
        unsafe { (*self.frame.address()).data.cast() }
    }

    /// Goes on with it; `sent` are the words of what is sent, and an error is thrown.
    fn go_on<'py>(&self, py: Python<'py>, sent: &[u64], thrown: Option<PyErr>) -> PyResult<Step<'py>> {
        let mut args = vec![self.frame.address() as u64];
        args.extend_from_slice(sent);
        args.resize(1 + self.ty().sent.flatten().len(), 0);
        let ty = self.advance.ret;
        let mut words = vec![0u64; ty.flatten().len()];
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
        if status != 0 {
            let error = self.left_by(py, raise::take(py));
            self.write_back(py, true)?;
            return Err(error);
        }
        let mut boxer = Boxer::new(py, None);
        let GeneratorTy { item, ret, .. } = self.ty();
        let at = 1 + item.flatten().len();
        let has = words[0] & 1 != 0;
        let result = if has {
            boxer.borrowed(*item, &words[1..at]).map(Step::Item)
        } else if ret.is_none() {
            Ok(Step::Returned(None))
        } else {
            boxer.borrowed(*ret, &words[at..]).map(|v| Step::Returned((!v.is_none()).then_some(v)))
        };
        release(ty, &words);
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
