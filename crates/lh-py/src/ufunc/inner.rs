//! Inner loops: what NumPy calls with addresses, extents and strides, and the compiled code behind it.

use crate::guard::Guard;
use crate::signals::Running;
use crate::{compiler, objects, raise, render};
use lh_driver::Compiled;
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// Where a machine word of the compiled loop's arguments comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// An extent: 0 is the number of elements, then the core dimensions.
    Dim(usize),
    /// The address of an operand.
    Address(usize),
    /// A stride in bytes: one for each operand, then those of core dimensions.
    Step(usize),
    /// A constant.
    Const(u64),
}

/// How the core dimensions of an operand have to be laid out for the version for contiguous ones.
#[derive(Clone, Debug)]
pub struct Contiguous {
    /// Size of an item.
    pub itemsize: isize,
    /// Extent and stride of every core dimension, outermost first, by number.
    pub dims: Vec<(usize, usize)>,
}

/// What one version of a loop is compiled from.
#[derive(Clone)]
pub struct Recipe {
    /// The library's function.
    pub function: ObjId,
    /// Its argument types.
    pub args: Vec<Ty>,
    /// Options of the user's function.
    pub options: Options,
}

impl Recipe {
    fn compile(&self, py: Python<'_>) -> PyResult<(Arc<Compiled>, Guard)> {
        compiler::compile(py, self.function, &self.args, self.options, None)
    }
}

/// A loop for one tuple of operand types.
pub struct Loop {
    sources: Vec<Source>,
    main: Arc<Compiled>,
    /// The operands that have to be contiguous for `main`; with others there is another version, made when needed.
    contiguous: Vec<Contiguous>,
    strided: Option<Recipe>,
    strided_code: OnceLock<Option<Arc<Compiled>>>,
}

impl Loop {
    /// Compiles a loop. `strided` is for core dimensions that are not `contiguous`.
    pub fn new(
        py: Python<'_>,
        sources: Vec<Source>,
        main: &Recipe,
        contiguous: Vec<Contiguous>,
        strided: Option<Recipe>,
    ) -> PyResult<Loop> {
        let (main, _) = main.compile(py)?;
        Ok(Loop { sources, main, contiguous, strided, strided_code: OnceLock::new() })
    }
    /// The compiled code.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.main
    }

    /// # Safety
    /// As NumPy calls inner loops.
    unsafe fn words(&self, args: *const *mut u8, dims: *const isize, steps: *const isize) -> SmallVec<[u64; 40]> {
        // SAFETY: the numbers are within what NumPy passes for the ufunc's signature.
        let word = |s: &Source| unsafe {
            match *s {
                Source::Dim(i) => *dims.add(i) as u64,
                Source::Address(i) => *args.add(i) as u64,
                Source::Step(i) => *steps.add(i) as u64,
                Source::Const(c) => c,
            }
        };
        self.sources.iter().map(word).collect()
    }

    /// # Safety
    /// As [`Loop::words`].
    unsafe fn is_contiguous(&self, dims: *const isize, steps: *const isize) -> bool {
        self.contiguous.iter().all(|c| {
            let mut want = c.itemsize;
            c.dims.iter().rev().all(|(dim, step)| {
                // SAFETY: as promised.
                let (extent, stride) = unsafe { (*dims.add(*dim), *steps.add(*step)) };
                let fits = stride == want || extent <= 1;
                want *= extent;
                fits
            })
        })
    }

    /// The version for any strides; `None` when it cannot be made, with a Python exception set.
    fn strided(&self) -> Option<&Arc<Compiled>> {
        let Some(recipe) = &self.strided else { return Some(&self.main) };
        self.strided_code
            .get_or_init(|| {
                Python::attach(|py| match recipe.compile(py) {
                    Ok((code, _)) => Some(code),
                    Err(e) => {
                        set_error(py, e);
                        None
                    }
                })
            })
            .as_ref()
    }

    /// # Safety
    /// As NumPy calls inner loops.
    unsafe fn run(&self, args: *const *mut u8, dims: *const isize, steps: *const isize) {
        // SAFETY: as promised; the words are those of the code's argument types.
        unsafe {
            let code = if self.is_contiguous(dims, steps) { Some(&self.main) } else { self.strided() };
            let Some(code) = code else { return };
            let words = self.words(args, dims, steps);
            let running = Running::start();
            let status = (code.entry)(words.as_ptr(), std::ptr::null_mut());
            drop(running);
            if status != 0 {
                Python::attach(|py| {
                    let error = catch_unwind(AssertUnwindSafe(|| raise::take(py)))
                        .unwrap_or_else(|panic| render::internal_error(py, panic.as_ref()));
                    set_error(py, error);
                });
            }
        }
    }
}

/// Sets an exception unless an earlier part of the same call has raised already.
fn set_error(py: Python<'_>, error: PyErr) {
    // SAFETY: attached.
    if unsafe { ffi::PyErr_Occurred() }.is_null() {
        error.restore(py);
    }
}

/// What NumPy calls; the data is a [`Loop`].
pub unsafe extern "C" fn run(args: *mut *mut u8, dims: *const isize, steps: *const isize, data: *mut c_void) {
    // SAFETY: NumPy passes the data that the ufunc was made with, which lives as long as the ufunc.
    unsafe { (*data.cast::<Loop>()).run(args, dims, steps) }
}

/// A function of the library's module of inner loops.
pub fn library_function(py: Python<'_>, name: &str) -> PyResult<ObjId> {
    Ok(objects::intern(&py.import("lancehead.lib.loops")?.getattr(name)?))
}
