//! NVIDIA's GPUs through their driver, for Python: memory, streams and events.

use crate::object::attach::attach;
use crate::object::lock::lock;
use lh_cuda::driver::{self, Driver, DriverError, Event, Stream};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The number of Python functions that streams have still to call.
static CALLBACKS: AtomicUsize = AtomicUsize::new(0);

/// The exception of an error of the driver.
pub fn error(py: Python<'_>, e: &DriverError) -> PyErr {
    let class = py.import("lancehead.cuda.errors").and_then(|m| m.getattr("CudaAPIError"));
    match class.and_then(|c| c.call1((e.code, e.to_string()))) {
        Ok(value) => PyErr::from_value(value),
        Err(failed) => failed,
    }
}

/// Calls the driver. While a stream has Python functions to call, the interpreter is released, since the driver may
/// wait for them.
pub fn without_lock<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> T {
    if CALLBACKS.load(Ordering::Relaxed) == 0 { f() } else { py.detach(f) }
}

/// A GPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Gpu {
    /// The driver's.
    pub gpu: Arc<driver::Gpu>,
    null: Stream,
    /// The newest PTX that the driver reads, times ten.
    pub isa: u32,
    /// Version of the driver.
    pub version: i32,
    /// Number of GPUs that the driver has.
    #[pyo3(get)]
    devices: usize,
    /// Its place among them.
    #[pyo3(get)]
    number: usize,
    /// Objects that copies in streams read and write, with the events after which they may be released.
    kept: Mutex<Vec<(Event, Py<PyAny>)>>,
}

impl Gpu {
    fn stream<'a>(&'a self, stream: Option<&'a GpuStream>) -> &'a Stream {
        stream.map_or(&self.null, |s| &s.stream)
    }

    /// Keeps an object alive until a stream has passed this point.
    fn keep(&self, py: Python<'_>, object: &Bound<'_, PyAny>, stream: &Stream) -> Result<(), DriverError> {
        let made = || Event::new(&self.gpu, false).and_then(|event| event.record(stream).map(|()| event));
        let event = without_lock(py, made)?;
        let mut kept = lock(&self.kept);
        let (done, rest): (Vec<_>, Vec<_>) = kept.drain(..).partition(|(e, _)| e.has_passed().unwrap_or(true));
        *kept = rest;
        kept.push((event, object.clone().unbind()));
        // Dropping objects may run Python code, which may enter here again.
        drop(kept);
        drop(done);
        Ok(())
    }

    /// Copies in the order of a stream; waits if there is none, or if the object cannot be kept alive.
    fn copied(
        &self,
        py: Python<'_>,
        stream: Option<&GpuStream>,
        object: &Bound<'_, PyAny>,
        copy: impl FnOnce(&Stream) -> Result<(), DriverError> + Send,
    ) -> PyResult<()> {
        let order = self.stream(stream);
        let mut done = py.detach(|| copy(order));
        if done.is_ok() && (stream.is_none() || self.keep(py, object, order).is_err()) {
            done = py.detach(|| order.wait());
        }
        done.map_err(|e| error(py, &e))
    }
}

#[pymethods]
impl Gpu {
    #[new]
    #[pyo3(signature = (number = 0, library = None))]
    fn new(py: Python<'_>, number: usize, library: Option<&str>) -> PyResult<Gpu> {
        let opened = move || {
            let driver = Driver::open(library)?;
            let gpu = driver::Gpu::open(&driver, number)?;
            let (null, devices, kept) = (Stream::null(&gpu), driver.devices()?, Mutex::default());
            Ok(Gpu { gpu, null, isa: driver.isa(), version: driver.version, devices, number, kept })
        };
        // It takes long to open the driver.
        py.detach(opened).map_err(|e| error(py, &e))
    }
    /// The card's name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.gpu.name().map_err(|e| error(py, &e))
    }
    /// The card's own identifier, 16 bytes.
    #[getter]
    fn uuid(&self, py: Python<'_>) -> PyResult<[u8; 16]> {
        self.gpu.uuid().map_err(|e| error(py, &e))
    }
    /// Compute capability.
    #[getter]
    fn capability(&self) -> (u32, u32) {
        self.gpu.capability
    }
    /// Allocates so many bytes.
    fn allocate(&self, py: Python<'_>, bytes: usize) -> PyResult<GpuMemory> {
        let make = || self.gpu.allocate(bytes);
        let made = if self.gpu.has_rest() { py.detach(make) } else { without_lock(py, make) };
        made.map(|buffer| GpuMemory { buffer: Some(buffer) }).map_err(|e| error(py, &e))
    }
    /// Defers freeing until `free_deferred` has been called as often as this.
    fn defer(&self) {
        self.gpu.defer();
    }
    /// Ends `defer`.
    fn free_deferred(&self, py: Python<'_>) {
        without_lock(py, || self.gpu.free_deferred());
    }
    /// An attribute by CUDA's number.
    fn attribute(&self, py: Python<'_>, what: i32) -> PyResult<i32> {
        self.gpu.attribute(what).map_err(|e| error(py, &e))
    }
    /// Bytes of memory: free ones, and all.
    fn memory(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        without_lock(py, || self.gpu.memory()).map_err(|e| error(py, &e))
    }
    /// Copies the bytes of a contiguous buffer to an address of the GPU, in a stream's order or at once. The caller
    /// vouches for the memory.
    #[pyo3(signature = (address, data, stream = None))]
    fn write(&self, py: Python<'_>, address: u64, data: &Bound<'_, PyAny>, stream: Option<&GpuStream>) -> PyResult<()> {
        let buffer = PyBuffer::<u8>::get(data)?;
        let (at, size) = bytes_of(&buffer)?;
        // SAFETY: the buffer is kept while it is copied, and that nobody writes it meanwhile is up to the caller.
        let from = unsafe { std::slice::from_raw_parts(at, size) };
        // SAFETY: the memory is what the caller says.
        self.copied(py, stream, data, |s| unsafe { self.gpu.write(address, from, s) })
    }
    /// Copies bytes from an address of the GPU to a contiguous buffer, as `write`.
    #[pyo3(signature = (address, data, stream = None))]
    fn read(&self, py: Python<'_>, address: u64, data: &Bound<'_, PyAny>, stream: Option<&GpuStream>) -> PyResult<()> {
        let buffer = PyBuffer::<u8>::get(data)?;
        if buffer.readonly() {
            return Err(PyValueError::new_err("the buffer cannot be written"));
        }
        let (at, size) = bytes_of(&buffer)?;
        // SAFETY: as above.
        let to = unsafe { std::slice::from_raw_parts_mut(at, size) };
        // SAFETY: as above.
        self.copied(py, stream, data, |s| unsafe { self.gpu.read(address, to, s) })
    }
    /// Copies bytes from one address of the GPU to another, in a stream's order.
    #[pyo3(signature = (to, source, bytes, stream = None))]
    fn copy(&self, py: Python<'_>, to: u64, source: u64, bytes: usize, stream: Option<&GpuStream>) -> PyResult<()> {
        // SAFETY: as above.
        let done = without_lock(py, || unsafe { self.gpu.copy(to, source, bytes, self.stream(stream)) });
        done.map_err(|e| error(py, &e))
    }
    /// Copies bytes from an address of another GPU, as `write`.
    fn copy_from(&self, py: Python<'_>, to: u64, other: &Gpu, source: u64, bytes: usize) -> PyResult<()> {
        // SAFETY: as above.
        py.detach(|| unsafe { self.gpu.copy_from(to, &other.gpu, source, bytes) }).map_err(|e| error(py, &e))
    }
    /// Allocates so many bytes of the host's memory that GPUs use too.
    fn allocate_host(&self, py: Python<'_>, bytes: usize) -> PyResult<GpuMemory> {
        let made = without_lock(py, || self.gpu.allocate_host(bytes));
        made.map(|buffer| GpuMemory { buffer: Some(buffer) }).map_err(|e| error(py, &e))
    }
    /// Pins memory of the host, so that copies are fast, or unpins it. The caller vouches for the memory.
    fn pin(&self, py: Python<'_>, address: usize, bytes: usize, on: bool) -> PyResult<()> {
        // SAFETY: the memory is what the caller says.
        py.detach(|| unsafe { self.gpu.pin(address, bytes, on) }).map_err(|e| error(py, &e))
    }
    /// Starts or stops profilers.
    fn profile(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        without_lock(py, || self.gpu.profile(on)).map_err(|e| error(py, &e))
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
        without_lock(py, || self.gpu.reach(&other.gpu)).map_err(|e| error(py, &e))
    }
    /// An event, which a stream can record.
    #[pyo3(signature = (timing = true))]
    fn event(&self, py: Python<'_>, timing: bool) -> PyResult<GpuEvent> {
        let made = without_lock(py, || Event::new(&self.gpu, timing));
        made.map(|event| GpuEvent { event: Some(event) }).map_err(|e| error(py, &e))
    }
    /// A new stream, or the one with a handle.
    #[pyo3(name = "stream", signature = (handle = None))]
    fn new_stream(&self, py: Python<'_>, handle: Option<usize>) -> PyResult<GpuStream> {
        let make = || handle.map_or_else(|| Stream::new(&self.gpu), |h| Stream::at(&self.gpu, h));
        without_lock(py, make).map(|stream| GpuStream { stream }).map_err(|e| error(py, &e))
    }
    /// Waits until the GPU has finished its work.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.gpu.wait()).map_err(|e| error(py, &e))
    }
    /// Waits until streams have called all Python functions, which they cannot once the interpreter has ended.
    fn finish_callbacks(&self, py: Python<'_>) {
        if CALLBACKS.load(Ordering::Acquire) > 0 {
            // If that fails, the driver calls them with the error.
            let _ = py.detach(|| self.gpu.wait());
        }
        while CALLBACKS.load(Ordering::Acquire) > 0 && py.check_signals().is_ok() {
            py.detach(|| std::thread::sleep(std::time::Duration::from_millis(1)));
        }
    }
}

/// Memory of a GPU.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuMemory {
    /// Present until this is dropped.
    buffer: Option<driver::Buffer>,
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        let buffer = self.buffer.take();
        // Memory of the host is freed after all work that may use it. Freeing other memory may wait for streams, which
        // may have to call Python functions.
        let waits = buffer.as_ref().is_some_and(|b| b.is_host);
        attach(|py| if waits { py.detach(|| drop(buffer)) } else { without_lock(py, || drop(buffer)) });
    }
}

#[pymethods]
impl GpuMemory {
    /// Where it is.
    #[getter]
    fn address(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |b| b.address)
    }
    /// Its size.
    #[getter]
    fn bytes(&self) -> usize {
        self.buffer.as_ref().map_or(0, |b| b.bytes)
    }
    /// Whether it is the host's, which GPUs use too.
    #[getter]
    fn is_host(&self) -> bool {
        self.buffer.as_ref().is_some_and(|b| b.is_host)
    }
}

/// A stream: an order of a GPU's work.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuStream {
    /// The driver's.
    pub stream: Stream,
}

impl Drop for GpuStream {
    fn drop(&mut self) {
        attach(|py| without_lock(py, || self.stream.close()));
    }
}

#[pymethods]
impl GpuStream {
    /// The driver's handle; None if it is closed.
    #[getter]
    fn handle(&self) -> Option<usize> {
        self.stream.handle()
    }
    /// Closes it; the work in it is finished.
    fn close(&self, py: Python<'_>) {
        without_lock(py, || self.stream.close());
    }
    /// Waits for the work in it.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stream.wait()).map_err(|e| error(py, &e))
    }
    /// Calls a function when the stream reaches this point, in a thread of the driver's, with the number of an error
    /// or 0.
    fn call(&self, py: Python<'_>, function: Py<PyAny>) -> PyResult<()> {
        let given = Box::into_raw(Box::new(function));
        CALLBACKS.fetch_add(1, Ordering::AcqRel);
        let at = given.expose_provenance();
        // SAFETY: the driver calls it once, with the box that is given away here.
        let done = py.detach(|| unsafe { self.stream.call(called, std::ptr::with_exposed_provenance_mut(at)) });
        done.map_err(|e| {
            CALLBACKS.fetch_sub(1, Ordering::AcqRel);
            // SAFETY: the driver has not taken it.
            drop(unsafe { Box::from_raw(given) });
            error(py, &e)
        })
    }
}

/// See [`GpuStream::call`].
unsafe extern "C" fn called(_stream: *mut c_void, status: c_int, given: *mut c_void) {
    // SAFETY: what `call` has given.
    let function = unsafe { Box::from_raw(given.cast::<Py<PyAny>>()) };
    driver::in_callback(|| {
        attach(|py| {
            if let Err(e) = function.call1(py, (status,)) {
                e.write_unraisable(py, None);
            }
            drop(function);
        });
    });
    CALLBACKS.fetch_sub(1, Ordering::AcqRel);
}

/// An event: a point in the order of a GPU's work.
#[pyclass(frozen, module = "lancehead._core")]
pub struct GpuEvent {
    /// Present until this is dropped.
    event: Option<Event>,
}

impl Drop for GpuEvent {
    fn drop(&mut self) {
        let event = self.event.take();
        attach(|py| without_lock(py, || drop(event)));
    }
}

impl GpuEvent {
    fn event(&self) -> &Event {
        self.event.as_ref().unwrap_or_else(|| lh_ir::bug!("an event was used after it was dropped"))
    }
}

#[pymethods]
impl GpuEvent {
    /// Records the point after the work that a stream has so far.
    fn record(&self, py: Python<'_>, stream: &GpuStream) -> PyResult<()> {
        without_lock(py, || self.event().record(&stream.stream)).map_err(|e| error(py, &e))
    }
    /// Whether its stream has reached it.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        without_lock(py, || self.event().has_passed()).map_err(|e| error(py, &e))
    }
    /// Waits until its stream has reached it.
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.event().wait()).map_err(|e| error(py, &e))
    }
    /// Makes a stream wait for it.
    fn hold(&self, py: Python<'_>, stream: &GpuStream) -> PyResult<()> {
        without_lock(py, || self.event().hold(&stream.stream)).map_err(|e| error(py, &e))
    }
    /// Milliseconds from another event, once both have passed.
    fn since(&self, py: Python<'_>, before: &GpuEvent) -> PyResult<f32> {
        without_lock(py, || self.event().since(before.event())).map_err(|e| error(py, &e))
    }
}

/// The address and number of the bytes of a buffer.
fn bytes_of(data: &PyBuffer<u8>) -> PyResult<(*mut u8, usize)> {
    if !data.is_c_contiguous() {
        return Err(PyValueError::new_err("the buffer is not contiguous"));
    }
    // The address of a slice is never null.
    let at: *mut u8 = data.buf_ptr().cast();
    Ok((if at.is_null() { std::ptr::dangling_mut() } else { at }, data.len_bytes()))
}
