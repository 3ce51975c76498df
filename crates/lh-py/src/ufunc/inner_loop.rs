//! Inner loops: NumPy calls them with addresses, extents and strides, and they run compiled code.

use crate::call::specialise;
use crate::compile::{cache, compiler};
use crate::host::held::{Held, Scope};
use crate::host::interpreter::PyHost;
use crate::object::attach::attach;
use crate::object::lock::lock;
use crate::runtime::signals::Running;
use crate::runtime::{in_order, raise, render};
use crate::ufunc::fp_flags;
use crate::ufunc::sharing::Shared;
use lh_driver::Compiled;
use lh_driver::host::Host;
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// The source of a word of the compiled loop's arguments.
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

/// The layout that the core dimensions of an operand need for the contiguous version.
#[derive(Clone, Debug)]
pub struct Contiguous {
    /// Size of an item.
    pub itemsize: isize,
    /// Extent and stride of every core dimension, outermost first, by number.
    pub dims: Vec<(usize, usize)>,
    /// Whether the stride of a dimension of one element matters: where indices are not checked, code may go beyond it.
    pub is_strict: bool,
}

/// The recipe of one version of a loop.
#[derive(Clone)]
pub struct Recipe {
    /// The library's function.
    pub function: ObjId,
    /// Its argument types.
    pub args: Vec<Ty>,
    /// Options of the user's function.
    pub options: Options,
    /// The user's function, if the code is cached beside it.
    pub home: Option<ObjId>,
}

impl Recipe {
    /// Compiles the version, or finds it in the cache.
    fn compile(&self, py: Python<'_>) -> PyResult<Code> {
        let scope = Scope::new(None);
        let code = self.found_or_made(py)?;
        Ok(Code { code, _held: Arc::new(scope.hold(py)?) })
    }

    fn found_or_made(&self, py: Python<'_>) -> PyResult<Arc<Compiled>> {
        let mut lookup = None;
        if let Some(home) = self.home {
            let (found, code) = cache::find(py, home, self.function, &self.args, self.options, true)?;
            if let Some(code) = code {
                in_order::tell(py, &code)?;
                return Ok(Arc::new(code));
            }
            lookup = Some((home, found));
        }
        let (compiled, _) = compiler::compile(py, self.function, &self.args, self.options, None, lookup.is_some())?;
        if let Some((home, lookup)) = lookup {
            cache::keep(py, &lookup, (home, self.function), &self.args, self.options, &compiled)?;
        }
        in_order::tell(py, &compiled)?;
        specialise::keep_called(py, &compiled, self.options);
        Ok(compiled)
    }
}

/// The code of a version, and the objects that it was compiled with.
#[derive(Clone)]
pub struct Code {
    pub code: Arc<Compiled>,
    _held: Arc<Py<Held>>,
}

/// The number of a version: a digit for each operand of an elementwise loop.
pub type Version = u64;

/// Elements that are adjacent, or core dimensions that are contiguous.
pub const ADJACENT: Version = 0;
/// The version for any strides.
pub const STRIDED: Version = Version::MAX;
/// The same without optimisation: it raises floating-point exceptions only where the program does.
const PLAIN: Version = Version::MAX - 1;

/// The rule that picks the version for a call.
pub enum Choice {
    /// By the strides of operands of these types and sizes; those from the number on are outputs.
    Strides(Vec<(Ty, isize)>, usize),
    /// By whether core dimensions are contiguous.
    Cores(Vec<Contiguous>),
}

/// Base of the digits of a [`Version`].
pub const DIGITS: Version = 2;

/// A loop for one tuple of operand types.
pub struct Loop {
    sources: Vec<Source>,
    main: Code,
    choice: Choice,
    /// Makes the recipes of other versions when they are needed.
    recipe: Box<dyn Fn(Version) -> Recipe + Send + Sync>,
    others: Mutex<Vec<(Version, Code)>>,
    shared: Option<Shared>,
}

impl Loop {
    /// Compiles the version for adjacent elements.
    pub fn new(
        py: Python<'_>,
        sources: Vec<Source>,
        choice: Choice,
        recipe: Box<dyn Fn(Version) -> Recipe + Send + Sync>,
        shared: Option<Shared>,
    ) -> PyResult<Loop> {
        let main = recipe(ADJACENT).compile(py)?;
        Ok(Loop { sources, main, choice, recipe, others: Mutex::default(), shared })
    }
    /// The compiled code.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.main.code
    }

    /// # Safety
    /// As NumPy calls inner loops.
    pub(super) unsafe fn words(
        &self,
        args: *const *mut u8,
        dims: *const isize,
        steps: *const isize,
    ) -> SmallVec<[u64; 40]> {
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
    unsafe fn version(&self, dims: *const isize, steps: *const isize) -> Version {
        // SAFETY: as promised.
        let (extent, stride) = unsafe { (|i: usize| *dims.add(i), |i: usize| *steps.add(i)) };
        match &self.choice {
            // The strides of one element do not matter.
            Choice::Strides(..) if extent(0) <= 1 => ADJACENT,
            Choice::Strides(sizes, outputs) => {
                let mut version = ADJACENT;
                for (k, (_, size)) in sizes.iter().enumerate().rev() {
                    version = version * DIGITS
                        + match stride(k) {
                            s if s == *size => 0,
                            0 if k < *outputs => 1,
                            _ => return STRIDED,
                        };
                }
                version
            }
            Choice::Cores(cores) => {
                let fits = |c: &Contiguous| {
                    let mut want = c.itemsize;
                    c.dims.iter().rev().all(|(dim, step)| {
                        let fits = stride(*step) == want || extent(*dim) <= 1 && !c.is_strict;
                        want *= extent(*dim);
                        fits
                    })
                };
                if cores.iter().all(fits) { ADJACENT } else { STRIDED }
            }
        }
    }

    /// Another version; `None` with a Python exception set if it does not compile.
    fn other(&self, version: Version) -> Option<Code> {
        let known = |all: &[(Version, Code)]| all.iter().find(|o| o.0 == version).map(|o| o.1.clone());
        if let Some(code) = known(&lock(&self.others)) {
            return Some(code);
        }
        // Two threads may compile the same version; the first result is kept.
        let recipe = match version {
            PLAIN => {
                let recipe = (self.recipe)(STRIDED);
                Recipe { options: Options { debug: true, ..recipe.options }, ..recipe }
            }
            _ => (self.recipe)(version),
        };
        let made = attach(|py| recipe.compile(py).map_err(|e| set_error(py, e)).ok())?;
        let mut all = lock(&self.others);
        let Some(first) = known(&all) else {
            all.push((version, made.clone()));
            return Some(made);
        };
        drop(all);
        // NumPy has released the interpreter, which the objects of the second result need.
        attach(|_| drop(made));
        Some(first)
    }

    /// Computes one element again by other code; its results go nowhere.
    ///
    /// # Safety
    /// As NumPy calls inner loops.
    unsafe fn run_element(
        &self,
        code: &Compiled,
        (operands, outputs): (usize, usize),
        (args, steps): (*const *mut u8, *const isize),
        i: isize,
    ) {
        let one = 1isize;
        // The widest element is a complex number.
        let mut results: SmallVec<[u128; 16]> = smallvec![0; operands];
        // SAFETY: as promised; there is room for a result of each output.
        unsafe {
            let place = |k: usize| match k < outputs {
                true => (*args.add(k)).offset(*steps.add(k) * i),
                false => (&raw mut results[k]).cast(),
            };
            let args: SmallVec<[*mut u8; 16]> = (0..operands).map(place).collect();
            (code.entry)(self.words(args.as_ptr(), &raw const one, steps).as_ptr(), std::ptr::null_mut());
        }
    }

    /// # Safety
    /// As NumPy calls inner loops.
    unsafe fn run(&self, args: *const *mut u8, dims: *const isize, steps: *const isize) {
        // SAFETY: as promised; the words are those of the code's argument types.
        unsafe {
            let code = match self.version(dims, steps) {
                ADJACENT => self.main.code.clone(),
                other => match self.other(other) {
                    Some(code) => code.code,
                    None => return,
                },
            };
            let before = fp_flags::take();
            let running = Running::start(true);
            let status = match &self.shared {
                Some(s) if s.may_reorder(args, dims, steps) => s.run(self, &code, (args, dims, steps)),
                _ => (code.entry)(self.words(args, dims, steps).as_ptr(), std::ptr::null_mut()),
            };
            drop(running);
            match &self.choice {
                Choice::Strides(operands, outputs) => {
                    // Compiled when a flag has to be explained, and looked up once.
                    let plain = OnceCell::new();
                    let again = |i| {
                        if let Some(code) = plain.get_or_init(|| self.other(PLAIN)) {
                            self.run_element(&code.code, (operands.len(), *outputs), (args, steps), i);
                        }
                    };
                    fp_flags::keep_shown(before, (operands, *outputs), (args, *dims, steps), &again)
                }
                Choice::Cores(_) => fp_flags::set(before),
            }
            if status != 0 {
                attach(|py| {
                    // An earlier part of the same call may have raised already.
                    if !ffi::PyErr_Occurred().is_null() {
                        lh_runtime::take_pending();
                        return;
                    }
                    catch_unwind(AssertUnwindSafe(|| raise::throw(py)))
                        .unwrap_or_else(|panic| render::internal_error(py, panic.as_ref()).restore(py));
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

/// The function that NumPy calls; the data is a [`Loop`].
pub unsafe extern "C" fn run(args: *mut *mut u8, dims: *const isize, steps: *const isize, data: *mut c_void) {
    // SAFETY: NumPy passes the data that the ufunc was made with, which lives as long as the ufunc.
    unsafe { (*data.cast::<Loop>()).run(args, dims, steps) }
}

/// A function of the library's module of inner loops.
pub fn library_function(py: Python<'_>, name: &str) -> PyResult<ObjId> {
    let found = PyHost::new(py).library(&format!("loops.{name}"));
    Ok(found.unwrap_or_else(|| lh_ir::bug!("the library has no loop `{name}`")).0)
}
