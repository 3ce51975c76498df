//! Kernels in PTX, run on the CPU device.

use crate::device::cpu_launch::failed;
use crate::object::panics;
use crate::runtime::signals::Running;
use crate::runtime::{render, undone};
use lh_cuda::{Code, Config, Device};
use lh_driver::{LiftedKernel, compile_lifted};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A kernel of a PTX module, compiled for the CPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct PtxKernel {
    kernel: LiftedKernel,
}

#[pymethods]
impl PtxKernel {
    #[new]
    #[pyo3(signature = (text, name = None, converged = false))]
    fn new(py: Python<'_>, text: &str, name: Option<&str>, converged: bool) -> PyResult<PtxKernel> {
        panics::install();
        let made = catch_unwind(AssertUnwindSafe(|| compile_lifted(text, name, converged)));
        let made = made.map_err(|panic| render::internal_error(py, panic.as_ref()))?;
        let kernel = made.map_err(|d| render::error(py, &d))?;
        undone::tell(py, &kernel.warnings)?;
        Ok(PtxKernel { kernel })
    }

    /// Number of machine words that it takes.
    #[getter]
    fn words(&self) -> usize {
        self.kernel.params.len()
    }

    /// Address and bytes of a variable of its module.
    fn variable(&self, name: &str) -> PyResult<(usize, usize)> {
        let found = self.kernel.variables.iter().find(|v| v.name == name);
        let found = found.ok_or_else(|| PyKeyError::new_err(format!("there is no variable {name}")))?;
        Ok((found.address(), found.size))
    }

    /// Typed IR, for tests.
    #[getter]
    fn ir(&self) -> String {
        self.kernel.functions.iter().map(|f| lh_ir::print::print(f)).collect::<Vec<_>>().join("\n")
    }

    /// Launches it with machine words: bits of numbers, addresses of arrays. The caller keeps these alive.
    fn launch(&self, py: Python<'_>, grid: [i64; 3], block: [i64; 3], shared: i64, words: Vec<u64>) -> PyResult<()> {
        if words.len() != self.kernel.params.len() {
            let text = format!("the kernel takes {} words, {} were given", self.kernel.params.len(), words.len());
            return Err(PyTypeError::new_err(text));
        }
        let code = Code { entry: self.kernel.entry(), info: self.kernel.kernel };
        let config = Config { grid, block, dynamic_shared: shared, in_order: false };
        let run = || {
            let running = Running::start(true);
            // SAFETY: the words are what the caller says they are.
            let result = unsafe { lh_cuda::emulator::Cpu.launch(&code, &config, &words) };
            drop(running);
            result
        };
        match catch_unwind(AssertUnwindSafe(run)).map_err(|panic| render::internal_error(py, panic.as_ref()))? {
            Ok(()) => Ok(()),
            Err(fault) => Err(failed(py, fault)?),
        }
    }
}
