//! NVIDIA's GPUs through their driver, for Python.

use lh_cuda::driver::{self, Driver, DriverError};
use lh_cuda::{Config, Fault, limits};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
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
    devices: usize,
    number: usize,
}

#[pymethods]
impl Gpu {
    #[new]
    #[pyo3(signature = (number = 0, library = None))]
    fn new(py: Python<'_>, number: usize, library: Option<&str>) -> PyResult<Gpu> {
        let found = Driver::open(library).and_then(|d| Ok((driver::Gpu::open(&d, number)?, d.isa(), d.devices()?)));
        found.map(|(gpu, isa, devices)| Gpu { gpu, isa, devices, number }).map_err(|e| error(py, &e))
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
    /// Number of GPUs that the driver has.
    #[getter]
    fn devices(&self) -> usize {
        self.devices
    }
    /// Its place among them.
    #[getter]
    fn number(&self) -> usize {
        self.number
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
    /// An attribute by CUDA's number.
    fn attribute(&self, py: Python<'_>, what: i32) -> PyResult<i32> {
        self.gpu.attribute(what).map_err(|e| error(py, &e))
    }
    /// Bytes of memory: free ones, and all.
    fn memory(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.gpu.memory().map_err(|e| error(py, &e))
    }
    /// Copies the bytes of a contiguous buffer to an address of the GPU. Whoever calls says that the memory is there.
    fn write(&self, py: Python<'_>, address: u64, data: PyBuffer<u8>) -> PyResult<()> {
        let (at, size) = bytes_of(&data)?;
        // SAFETY: the buffer is held while it is copied, and that nobody writes it meanwhile is up to the caller.
        let from = unsafe { std::slice::from_raw_parts(at, size) };
        // SAFETY: the memory is what the caller says.
        py.detach(|| unsafe { self.gpu.write(address, from) }).map_err(|e| error(py, &e))
    }
    /// Copies bytes from an address of the GPU to a contiguous buffer, as `write`.
    fn read(&self, py: Python<'_>, address: u64, data: PyBuffer<u8>) -> PyResult<()> {
        if data.readonly() {
            return Err(PyValueError::new_err("the buffer cannot be written"));
        }
        let (at, size) = bytes_of(&data)?;
        // SAFETY: as above.
        let to = unsafe { std::slice::from_raw_parts_mut(at, size) };
        // SAFETY: as above.
        py.detach(|| unsafe { self.gpu.read(address, to) }).map_err(|e| error(py, &e))
    }
    /// Copies bytes from one address of the GPU to another, as `write`.
    fn copy(&self, py: Python<'_>, to: u64, source: u64, bytes: usize) -> PyResult<()> {
        // SAFETY: as above.
        unsafe { self.gpu.copy(to, source, bytes) }.map_err(|e| error(py, &e))
    }
    /// Copies bytes from an address of another GPU, as `write`.
    fn copy_from(&self, py: Python<'_>, to: u64, other: &Gpu, source: u64, bytes: usize) -> PyResult<()> {
        // SAFETY: as above.
        py.detach(|| unsafe { self.gpu.copy_from(to, &other.gpu, source, bytes) }).map_err(|e| error(py, &e))
    }
    /// Memory of so many bytes of the host that GPUs use too.
    fn allocate_host(&self, py: Python<'_>, bytes: usize) -> PyResult<GpuMemory> {
        self.gpu.allocate_host(bytes).map(|buffer| GpuMemory { buffer }).map_err(|e| error(py, &e))
    }
    /// The number of the GPU in whose memory an address is.
    fn owner(&self, py: Python<'_>, address: u64) -> PyResult<usize> {
        self.gpu.owner(address).map_err(|e| error(py, &e))
    }
    /// Whether kernels can use another GPU's memory, once `reach` lets them.
    fn can_reach(&self, py: Python<'_>, other: &Gpu) -> PyResult<bool> {
        self.gpu.can_reach(&other.gpu).map_err(|e| error(py, &e))
    }
    /// Lets kernels use another GPU's memory.
    fn reach(&self, py: Python<'_>, other: &Gpu) -> PyResult<()> {
        self.gpu.reach(&other.gpu).map_err(|e| error(py, &e))
    }
    /// A point in the order of the work.
    fn event(&self, py: Python<'_>) -> PyResult<GpuEvent> {
        driver::Event::record(&self.gpu).map(|event| GpuEvent { event }).map_err(|e| error(py, &e))
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
    /// Its size.
    #[getter]
    fn bytes(&self) -> usize {
        self.buffer.bytes
    }
    /// Whether it is the host's, which GPUs use too.
    #[getter]
    fn is_host(&self) -> bool {
        self.buffer.is_host
    }
}

/// A point in the order of a GPU's work.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuEvent {
    event: driver::Event,
}

#[pymethods]
impl GpuEvent {
    /// Milliseconds from another event, once both have passed.
    fn since(&self, py: Python<'_>, before: &GpuEvent) -> PyResult<f32> {
        py.detach(|| self.event.since(&before.event)).map_err(|e| error(py, &e))
    }
}

/// Where the bytes of a buffer are, and how many.
fn bytes_of(data: &PyBuffer<u8>) -> PyResult<(*mut u8, usize)> {
    if !data.is_c_contiguous() {
        return Err(PyValueError::new_err("the buffer is not contiguous"));
    }
    // A slice is never at null.
    let at: *mut u8 = data.buf_ptr().cast();
    Ok((if at.is_null() { std::ptr::dangling_mut() } else { at }, data.len_bytes()))
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
    /// Address and bytes of a variable of its module.
    fn variable(&self, py: Python<'_>, name: &str) -> PyResult<(u64, usize)> {
        self.kernel.variable(name).map_err(|e| error(py, &e))
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
        if let Err(refused) = limits::check_geometry(&config) {
            return Err(crate::kernel::failed(py, Fault::Refused(refused))?);
        }
        // SAFETY: the words are what the caller says they are.
        unsafe { self.kernel.launch(&config, cooperative, &words) }.map_err(|e| error(py, &e))
    }
}
