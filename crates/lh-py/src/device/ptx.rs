//! PTX of Python functions, which needs no GPU.

use crate::call::bind::Params;
use crate::call::vectorcall;
use crate::compile::compiler;
use crate::host::signature::signature;
use crate::host::table;
use crate::host::types::Type;
use crate::object::canonical::canonical;
use crate::object::panics;
use lh_driver::gpu::{Abi, DeviceCode, DeviceRequest, Gpu, KernelLimits, NEWEST_ISA, Wanted};
use lh_ir::func::{Device, Options, fastmath};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyFunction;

/// PTX of a function for argument types, with the compiler's facts about it.
#[pyclass(frozen, module = "lancehead._core")]
pub struct DevicePtx {
    code: DeviceCode,
}

#[pymethods]
impl DevicePtx {
    /// The text.
    #[getter]
    fn ptx(&self) -> &str {
        &self.code.ptx.text
    }
    /// The declared functions that NVIDIA's linker has to add.
    #[getter]
    fn linked(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.code.linked.iter().map(|o| table::object(py, *o).unbind()).collect()
    }
    /// LLVM IR after optimisation, if it was asked for.
    #[getter]
    fn llvm(&self) -> Option<&str> {
        self.code.ptx.llvm_ir_opt.as_deref()
    }
    /// The result's type.
    #[getter]
    fn return_type(&self, py: Python<'_>) -> PyResult<Py<Type>> {
        Type::of(py, canonical(self.code.ret))
    }
    /// The sites of exceptions, by number: class, message, function, file, line.
    #[getter]
    fn raise_sites(&self) -> Vec<(&'static str, &str, &str, &str, u32)> {
        let sites = self.code.raise_sites();
        sites.map(|(class, s)| (class, &*s.text, &*s.function, &*s.file, s.line)).collect()
    }
    /// Seconds of each stage of code generation.
    #[getter]
    fn timings(&self) -> Vec<(&'static str, f64)> {
        let t = &self.code.ptx.timings;
        vec![
            ("LLVM IR", t.lower.as_secs_f64()),
            ("optimisation", t.optimise.as_secs_f64()),
            ("PTX", t.emit.as_secs_f64()),
        ]
    }
}

/// Compiles a Python function to PTX: `abi` is `kernel`, `c` or `numba`; limits are threads of a block, blocks of a
/// multiprocessor, registers of a thread, blocks of a cluster.
#[pyfunction]
#[pyo3(signature = (function, sig, name, cc, *, abi = "kernel", isa = None, debug = false, lineinfo = false, fastmath = false, limits = (None, None, None, None), llvm = false, boundscheck = false, link = 0))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a private function")]
pub fn compile_ptx(
    function: &Bound<'_, PyFunction>,
    sig: &Bound<'_, PyAny>,
    name: &str,
    cc: (u32, u32),
    abi: &str,
    isa: Option<u32>,
    debug: bool,
    lineinfo: bool,
    fastmath: bool,
    limits: (Option<u32>, Option<u32>, Option<u32>, Option<u32>),
    llvm: bool,
    boundscheck: bool,
    link: u32,
) -> PyResult<DevicePtx> {
    let py = function.py();
    panics::install();
    vectorcall::prepare(py)?;
    let unknown = || PyValueError::new_err(format!("compute capability {}.{} is not supported", cc.0, cc.1));
    let mut gpu = Gpu::new(cc.0, cc.1).ok_or_else(unknown)?;
    if let Some(isa) = isa {
        let refused = || PyValueError::new_err(format!("PTX {}.{} does not have sm_{}", isa / 10, isa % 10, gpu.sm));
        gpu = gpu.with_isa(isa).ok_or_else(refused)?;
    }
    let abi = match abi {
        "kernel" => {
            let (max_threads, min_blocks, max_registers, max_cluster) = limits;
            Abi::Kernel(KernelLimits { max_threads, min_blocks, max_registers, max_cluster })
        }
        "c" => Abi::CFunction,
        "numba" => Abi::StatusFunction,
        _ => return Err(PyValueError::new_err(format!("unknown ABI {abi:?}"))),
    };
    let options = Options {
        fastmath: if fastmath { fastmath::CUDA } else { 0 },
        boundscheck: debug || boundscheck,
        numpy_errors: !debug || fastmath,
        debug,
        device: Device::Gpu,
        link,
        ..Options::default()
    };
    let (ret, args) = signature(sig)?;
    let args = Params::of(function.as_any())?.of_signature(py, args)?;
    let wanted = Wanted { llvm_ir_opt: llvm, lines: lineinfo, ..Wanted::default() };
    let request = DeviceRequest { gpu, newest_isa: isa.unwrap_or(NEWEST_ISA), abi, symbol: name, ret, wanted };
    let f = table::intern(function.as_any());
    Ok(DevicePtx { code: compiler::compile_ptx(py, f, &args, options, &request)? })
}
