//! NVIDIA's GPUs through their driver, for Python.

use lh_cuda::Config;
use lh_cuda::driver::{self, Driver, DriverError};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The exception of an error of the driver.
fn error(py: Python<'_>, e: &DriverError) -> PyErr {
    let class = py.import("lancehead.cuda.errors").and_then(|m| m.getattr("CudaAPIError"));
    match class.and_then(|c| c.call1((e.code, e.to_string()))) {
        Ok(value) => PyErr::from_value(value),
        Err(failed) => failed,
    }
}

/// A GPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Gpu {
    gpu: Arc<driver::Gpu>,
    isa: u32,
}

#[pymethods]
impl Gpu {
    #[new]
    #[pyo3(signature = (number = 0, library = None))]
    fn new(py: Python<'_>, number: usize, library: Option<&str>) -> PyResult<Gpu> {
        let found = Driver::open(library).and_then(|d| Ok((driver::Gpu::open(&d, number)?, d.isa())));
        found.map(|(gpu, isa)| Gpu { gpu, isa }).map_err(|e| error(py, &e))
    }
    /// The card's name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.gpu.name().map_err(|e| error(py, &e))
    }
    /// Compute capability.
    #[getter]
    fn capability(&self) -> (u32, u32) {
        self.gpu.capability
    }
    /// The newest PTX that the driver reads, times ten.
    #[getter]
    fn isa(&self) -> u32 {
        self.isa
    }
    /// Memory of so many bytes.
    fn allocate(&self, py: Python<'_>, bytes: usize) -> PyResult<GpuMemory> {
        self.gpu.allocate(bytes).map(|buffer| GpuMemory { buffer }).map_err(|e| error(py, &e))
    }
    /// A kernel of a module in PTX or machine code.
    fn kernel(&self, py: Python<'_>, code: &[u8], name: &str) -> PyResult<GpuKernel> {
        let made = self.gpu.load(code).and_then(|m| Arc::new(m).kernel(name));
        made.map(|kernel| GpuKernel { kernel }).map_err(|e| error(py, &e))
    }
    /// Waits until everything is done.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.gpu.wait()).map_err(|e| error(py, &e))
    }
}

/// Memory of a GPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuMemory {
    buffer: driver::Buffer,
}

#[pymethods]
impl GpuMemory {
    /// Where it is.
    #[getter]
    fn address(&self) -> u64 {
        self.buffer.address
    }
    /// Copies a contiguous array in.
    fn write(&self, py: Python<'_>, data: PyBuffer<u8>) -> PyResult<()> {
        let bytes = data.to_vec(py)?;
        if bytes.len() > self.buffer.bytes {
            return Err(PyValueError::new_err("the array is larger than the memory"));
        }
        py.detach(|| self.buffer.write(&bytes)).map_err(|e| error(py, &e))
    }
    /// The first bytes.
    fn read<'py>(&self, py: Python<'py>, bytes: usize) -> PyResult<Bound<'py, PyBytes>> {
        if bytes > self.buffer.bytes {
            return Err(PyValueError::new_err("the memory is smaller"));
        }
        let mut out = vec![0; bytes];
        py.detach(|| self.buffer.read(&mut out)).map_err(|e| error(py, &e))?;
        Ok(PyBytes::new(py, &out))
    }
}

/// A kernel on a GPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuKernel {
    kernel: driver::Kernel,
}

#[pymethods]
impl GpuKernel {
    /// Registers of each thread.
    #[getter]
    fn registers(&self, py: Python<'_>) -> PyResult<i32> {
        self.kernel.attribute(4).map_err(|e| error(py, &e))
    }
    /// Starts it on machine words. Whoever calls keeps alive what they point to.
    #[pyo3(signature = (grid, block, shared, words, cooperative = false))]
    fn launch(
        &self,
        py: Python<'_>,
        grid: [i64; 3],
        block: [i64; 3],
        shared: i64,
        words: Vec<u64>,
        cooperative: bool,
    ) -> PyResult<()> {
        let config = Config { grid, block, dynamic_shared: shared };
        // SAFETY: the words are what the caller says they are.
        unsafe { self.kernel.launch(&config, cooperative, &words) }.map_err(|e| error(py, &e))
    }
}
