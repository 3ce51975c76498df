//! Options of the decorators as the compiler reads them. Decorators check names and values by the table in
//! `python/lancehead/options.py`, so options are right here unless a program calls `_core` itself.

use crate::gpu::context::Gpu;
use crate::host::gpu_targets;
use lh_driver::host::GpuTarget;
use lh_ir::func::{Device, Options, Semantics, fastmath, parallel};
use pyo3::exceptions::{PyNameError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFrozenSet, PyList, PySet, PyTuple};

/// The options of a decorator.
pub struct JitOptions {
    /// The options that change code.
    pub ir: Options,
    /// Whether calls release the GIL.
    pub nogil: bool,
    /// Whether compiled code is kept for other processes.
    pub cache: bool,
    /// Whether callers inline it, so that its signatures do not limit them.
    pub inline: bool,
    /// Whether the function runs in the interpreter.
    pub interpreted: bool,
    /// Whether calls go through a Python function of the same name.
    pub named: bool,
    /// The GPU that it is a kernel for.
    pub gpu: Option<Py<Gpu>>,
    /// As given, for `targetoptions` and pickling.
    pub given: Py<PyDict>,
}

impl JitOptions {
    /// Reads the keyword arguments of a decorator.
    pub fn read(given: &Bound<'_, PyDict>) -> PyResult<JitOptions> {
        let mut out = JitOptions {
            ir: Options::default(),
            nogil: false,
            cache: false,
            inline: false,
            interpreted: false,
            named: is_set("LANCEHEAD_PROFILE"),
            gpu: None,
            given: given.clone().unbind(),
        };
        for (name, value) in given.iter() {
            let name: String = name.extract()?;
            out.set(&name, &value)?;
        }
        if is_set("LANCEHEAD_RACE") {
            out.ir.parallel |= parallel::RACE;
        }
        if out.ir.parallel & parallel::PRANGE != 0 {
            out.ir.parallel |= match std::env::var("LANCEHEAD_UNPROVEN").as_deref() {
                Ok("parallel") => parallel::TRUST,
                Ok("error") => parallel::REFUSE,
                _ => 0,
            };
        }
        Ok(out)
    }
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name {
            "_device" => {
                let which = one_of(name, value, &["kernel", "function"])?;
                self.ir.device = if which == 0 { Device::Kernel } else { Device::Function };
            }
            "_gpu" => self.set_gpu(value)?,
            "_check" if value.is_truthy()? => self.ir.parallel |= parallel::RACE,
            "_check" => {}
            "_callback" => self.ir.callback = value.is_truthy()?,
            "_interpreted" => self.interpreted = value.is_truthy()?,
            "_link" => self.ir.link = value.extract()?,
            "cache" => self.cache = value.is_truthy()?,
            "inline" => self.inline = value.extract::<&str>().is_ok_and(|v| v == "always"),
            "nogil" => self.nogil = value.is_truthy()?,
            "fastmath" => self.ir.fastmath = fastmath_flags(value)?,
            // `None` leaves the default, which is to check.
            "boundscheck" => self.ir.boundscheck = value.is_none() || value.is_truthy()?,
            "parallel" => self.ir.parallel = parallel_flags(value)?,
            "debug" => self.ir.debug = value.is_truthy()?,
            "error_model" => self.ir.numpy_errors = one_of(name, value, &["python", "numpy"])? == 1,
            "semantics" if one_of(name, value, &["python", "numba"])? == 1 => self.ir.semantics = Semantics::Numba,
            "semantics" => self.ir.semantics = Semantics::Python,
            "overflow" => self.ir.overflow_check = one_of(name, value, &["wrap", "check"])? == 1,
            // Options of Numba that mean nothing in compiled code.
            _ => {}
        }
        Ok(())
    }
}

impl JitOptions {
    /// The GPU, limits of a kernel, whether it has line numbers.
    fn set_gpu(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        type Limits = (Option<u32>, Option<u32>, Option<u32>, Option<u32>);
        let (gpu, limits, lines): (Bound<'_, Gpu>, Limits, bool) = value.extract()?;
        let (capability, isa, driver) = (gpu.get().gpu.capability, gpu.get().isa, gpu.get().version);
        self.ir.device = Device::Gpu;
        self.ir.gpu = gpu_targets::number(GpuTarget { capability, isa, driver, limits, lines });
        self.gpu = Some(gpu.unbind());
        Ok(())
    }
}

/// Whether a variable of the environment is on.
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|v| !v.is_empty() && v != "0")
}

fn one_of(name: &str, value: &Bound<'_, PyAny>, choices: &[&str]) -> PyResult<usize> {
    let text: String = value.extract().map_err(|_| PyTypeError::new_err(format!("option '{name}' takes a string")))?;
    choices.iter().position(|c| *c == text).ok_or_else(|| {
        let known = choices.iter().map(|c| format!("'{c}'")).collect::<Vec<_>>().join(" or ");
        PyValueError::new_err(format!("option '{name}' must be {known}, not '{text}'"))
    })
}

/// `True`, or a dictionary of the constructs that run in parallel; those that it omits do.
fn parallel_flags(value: &Bound<'_, PyAny>) -> PyResult<u16> {
    let Ok(flags) = value.cast::<PyDict>() else {
        let is_bool = value.is_instance_of::<PyBool>() || value.is_none();
        return match (is_bool, value.is_truthy()?) {
            (true, on) => Ok(if on { parallel::ALL } else { 0 }),
            (false, _) => Err(PyValueError::new_err("parallel takes a bool or a dictionary of options")),
        };
    };
    let mut on = parallel::ALL;
    for (name, value) in flags.iter() {
        let text: String = name.extract().unwrap_or_default();
        let bit = match text.as_str() {
            "comprehension" => parallel::COMPREHENSION,
            "prange" => parallel::PRANGE,
            "inplace_binop" => parallel::INPLACE,
            "setitem" => parallel::SETITEM,
            "reduction" => parallel::REDUCTION,
            "numpy" => parallel::NUMPY,
            "stencil" => parallel::STENCIL,
            "fusion" => parallel::FUSION,
            "unsafe" => parallel::UNSAFE,
            "race" => parallel::RACE,
            _ => return Err(PyNameError::new_err(format!("Unrecognized parallel options: {}", name.repr()?))),
        };
        on = if value.is_truthy()? { on | bit } else { on & !bit };
    }
    Ok(on)
}

fn fastmath_flags(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    if let Ok(b) = value.cast::<PyBool>() {
        return Ok(if b.is_true() { fastmath::FAST } else { 0 });
    }
    if let Ok(flags) = value.cast::<PyDict>() {
        // Numba takes a dictionary of flags too.
        let mut on = 0;
        for (k, v) in flags.iter() {
            let bit = flag(&k)?;
            on |= if v.is_truthy()? { bit } else { 0 };
        }
        return Ok(on);
    }
    let is_collection = value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyList>();
    if !is_collection {
        return Err(PyValueError::new_err(format!(
            "Expected fastmath option(s) to be a bool or a set of flags, not {}",
            value.repr()?
        )));
    }
    let mut on = 0;
    for f in value.try_iter()? {
        on |= flag(&f?)?;
    }
    Ok(on)
}

fn flag(name: &Bound<'_, PyAny>) -> PyResult<u8> {
    let text: String = name.extract().unwrap_or_default();
    Ok(match text.as_str() {
        "nnan" => fastmath::NNAN,
        "ninf" => fastmath::NINF,
        "nsz" => fastmath::NSZ,
        "arcp" => fastmath::ARCP,
        "contract" => fastmath::CONTRACT,
        "afn" => fastmath::AFN,
        "reassoc" => fastmath::REASSOC,
        "fast" => fastmath::FAST,
        _ => return Err(PyValueError::new_err(format!("Unrecognized fastmath flags: {}", name.repr()?))),
    })
}
