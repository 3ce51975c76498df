//! Kernels loaded on a GPU.

use crate::gpu::context;
use crate::gpu::options::JitOptions;
use crate::host::{gpu_targets, table};
use crate::object::attach::attach;
use crate::object::leaving;
use lh_cuda::driver;
use lh_driver::Compiled;
use lh_driver::gpu::{ERROR, GRID_BARRIER};
use lh_ir::types::Prim;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Deref;
use std::sync::Arc;

/// A kernel on a GPU, with what its launches need.
pub struct Loaded {
    /// The driver's.
    pub kernel: Kernel,
    /// Whether its threads wait for the whole grid.
    pub is_cooperative: bool,
    /// The positions, in the words of a call, of the parameters: all but owners of memory.
    pub parameters: Box<[u16]>,
    /// The positions of those that are addresses.
    pub addresses: Box<[u16]>,
    /// The place where threads note an exception, if they may raise.
    pub note: Option<Note>,
}

/// A kernel of the driver, which is unloaded without the interpreter: the driver may wait for functions of Python.
pub struct Kernel(Option<driver::Kernel>);

impl Deref for Kernel {
    type Target = driver::Kernel;

    fn deref(&self) -> &driver::Kernel {
        self.0.as_ref().unwrap_or_else(|| lh_ir::bug!("a kernel was used after it was dropped"))
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let kernel = self.0.take();
        if !leaving::is_ending() {
            attach(|py| py.detach(|| drop(kernel)));
        }
    }
}

/// The note of an exception, which each launch reads.
pub struct Note {
    /// Its address.
    pub at: u64,
    /// The counter of the grid's barrier; an exception leaves any value in it.
    pub barrier: Option<u64>,
    /// A `threading.RLock`: there is one note, so a launch is checked before the next one begins.
    pub one: Py<PyAny>,
}

impl Loaded {
    /// Loads the code of a kernel if its options name a GPU.
    pub fn new(py: Python<'_>, options: &JitOptions, compiled: &Compiled) -> PyResult<Option<Loaded>> {
        let (Some(gpu), Some(code)) = (&options.gpu, &compiled.on_gpu) else { return Ok(None) };
        for array in &code.captured {
            let check = py.import("lancehead.cuda.launching")?.getattr("check_reach")?;
            check.call1((gpu, table::object(py, *array)))?;
        }
        let (gpu, lines) = (&gpu.get().gpu, gpu_targets::find(options.ir.gpu).is_some_and(|g| g.lines));
        let is_cooperative = compiled.kernel.is_some_and(|k| k.is_cooperative);
        let prims: Vec<Prim> = compiled.args.iter().flat_map(|t| t.flatten()).collect();
        let slots = |wanted: fn(&Prim) -> bool| -> Box<[u16]> {
            prims.iter().enumerate().filter(|(_, p)| wanted(p)).map(|(i, _)| i as u16).collect()
        };
        let load = || {
            let kernel = Arc::new(gpu.load(&code.code, lines)?).kernel(&code.symbol)?;
            let note = if code.sites.is_empty() { None } else { Some(kernel.variable(ERROR)?.0) };
            let waits = is_cooperative && note.is_some();
            let barrier = if waits { Some(kernel.variable(GRID_BARRIER)?.0) } else { None };
            Ok((kernel, note, barrier))
        };
        // The driver assembles, and may wait for running kernels.
        let (kernel, note, barrier) = py.detach(load).map_err(|e| context::error(py, &e))?;
        let note = match note {
            Some(at) => Some(Note { at, barrier, one: py.import("threading")?.call_method0("RLock")?.unbind() }),
            None => None,
        };
        let (parameters, addresses) = (slots(|p| *p != Prim::Mem), slots(|p| *p == Prim::Ptr));
        Ok(Some(Loaded { kernel: Kernel(Some(kernel)), is_cooperative, parameters, addresses, note }))
    }

    /// Facts of the kernel by name.
    pub fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        let numbers = [("max_threads", 0), ("shared", 1), ("constant", 2), ("local", 3), ("registers", 4)];
        for (name, what) in numbers {
            let number = context::without_lock(py, || self.kernel.attribute(what));
            facts.set_item(name, number.map_err(|e| context::error(py, &e))?)?;
        }
        facts.set_item("cooperative", self.is_cooperative)?;
        facts.set_item("entry", "gpu")?;
        facts.set_item("gangs", "warps")?;
        Ok(facts)
    }
}
