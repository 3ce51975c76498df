//! Launches of kernels without a detour through Python: arguments become words as for any call. A GPU's driver gets
//! their addresses.

use crate::call::args::ArgBuf;
use crate::call::overload::Overload;
use crate::call::state;
use crate::call::tags::kind;
use crate::device::cpu_launch::{self, failed};
use crate::gpu::context::{self, Gpu, GpuStream};
use crate::gpu::loaded::Loaded;
use crate::host::signature::signature;
use crate::object::array::ArrayObject;
use crate::object::numpy;
use lh_cuda::{Config, Fault, limits};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::ffi::c_void;

/// The places in Python objects that launches read.
struct Places {
    /// `DeviceNDArray` and `GpuNDArray`.
    class: *mut ffi::PyTypeObject,
    gpu_class: *mut ffi::PyTypeObject,
    /// The offset of an array's description in an object of either class, and of its GPU in one of the second.
    argument: isize,
    gpu: isize,
    /// `lancehead.cuda.gpu.here`.
    here: Py<PyAny>,
    /// The names of `lancehead.config`.
    config: Py<PyDict>,
}

// SAFETY: the class lives as long as its module, which nobody unloads.
unsafe impl Send for Places {}
// SAFETY: as above.
unsafe impl Sync for Places {}

impl Places {
    fn of(py: Python<'_>) -> PyResult<&'static Places> {
        static PLACES: PyOnceLock<Places> = PyOnceLock::new();
        PLACES.get_or_try_init(py, || {
            let arrays = py.import("lancehead.cuda.devicearray")?;
            let (class, gpu_class) = (arrays.getattr("DeviceNDArray")?, arrays.getattr("GpuNDArray")?);
            let offset = |class: &Bound<'_, PyAny>, name: &str| -> PyResult<isize> {
                /// The struct of a slot's descriptor, in every version of CPython.
                #[repr(C)]
                struct Member {
                    base: ffi::PyObject,
                    class: *mut c_void,
                    name: *mut c_void,
                    qualname: *mut c_void,
                    member: *mut ffi::PyMemberDef,
                }
                let found = class.getattr(name)?;
                if found.get_type().as_type_ptr() != &raw mut ffi::PyMemberDescr_Type {
                    return Err(PyTypeError::new_err(format!("{name} is no slot")));
                }
                // SAFETY: of this type's objects this is the struct.
                Ok(unsafe { (*(*found.as_ptr().cast::<Member>()).member).offset })
            };
            Ok(Places {
                class: class.as_ptr().cast(),
                gpu_class: gpu_class.as_ptr().cast(),
                argument: offset(&class, "_data")?,
                gpu: offset(&gpu_class, "gpu")?,
                here: py.import("lancehead.cuda.gpu")?.getattr("here")?.unbind(),
                config: py.import("lancehead.config")?.dict().unbind(),
            })
        })
    }
}

/// The deepest nesting of tuples that is flattened here.
const MAX_DEPTH: u32 = 8;

/// A kernel with the geometry of its launches on a device.
#[pyclass(frozen, weakref, module = "lancehead._core")]
pub struct Launch {
    /// The Python object that takes arguments of any kind, on any device.
    launch: Py<PyAny>,
    kernel: Py<PyAny>,
    /// None is the CPU device.
    gpu: Option<Py<Gpu>>,
    stream: Option<Py<GpuStream>>,
    config: Config,
    /// Functions that are called before each launch.
    callbacks: Py<PyList>,
    places: &'static Places,
}

#[pymethods]
impl Launch {
    #[new]
    fn new(
        py: Python<'_>,
        launch: Py<PyAny>,
        kernel: Py<PyAny>,
        gpu: Option<Py<Gpu>>,
        stream: Option<Py<GpuStream>>,
        geometry: ([i64; 3], [i64; 3]),
        shared: i64,
    ) -> PyResult<Launch> {
        let config = Config { grid: geometry.0, block: geometry.1, dynamic_shared: shared, in_order: false };
        let callbacks = launch.bind(py).getattr("pre_launch_callbacks")?.cast_into::<PyList>()?.unbind();
        Ok(Launch { launch, kernel, gpu, stream, config, callbacks, places: Places::of(py)? })
    }

    #[pyo3(signature = (*args))]
    fn __call__(&self, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let (py, n) = (args.py(), args.len());
        let (mut buf, kernel) = (ArgBuf::default(), self.kernel.bind(py));
        if !self.is_in_use(py)
            || !cpu_launch::takes(kernel, n)
            || !args.iter_borrowed().all(|a| self.push(&a, &mut buf, 0))
        {
            drop(buf);
            // The Python object reports what is wrong with an argument.
            drop(PyErr::take(py));
            return self.launch.bind(py).call1(args.clone()).map(|_| ());
        }
        let overload = cpu_launch::resolve(kernel, n, &mut buf)?;
        match &self.gpu {
            Some(gpu) => self.start(py, gpu, overload, &buf),
            None => cpu_launch::run(py, overload, &buf, &self.config).or_else(|error| {
                let placed = py.import("lancehead.cuda.launching")?.getattr("placed")?;
                placed.call1((error.value(py),))?;
                Err(error)
            }),
        }
    }

    /// Launches with arrays that describe memory at addresses of the GPU, and with texts at others.
    fn run(&self, args: &Bound<'_, PyTuple>, addresses: &Bound<'_, PySet>, texts: &Bound<'_, PyDict>) -> PyResult<()> {
        let (py, mut buf) = (args.py(), ArgBuf::default());
        let gpu = self.gpu.as_ref().ok_or_else(|| PyTypeError::new_err("the kernel is not for a GPU"))?;
        let args = cpu_launch::push(self.kernel.bind(py), args, &mut buf)?;
        for i in 0..buf.owners.len() {
            let (at, object) = buf.owners[i];
            // SAFETY: the arguments keep it alive.
            let object = unsafe { Bound::from_borrowed_ptr(py, object) };
            if let Some(address) =
                if object.is_instance_of::<pyo3::types::PyString>() { texts.get_item(object)? } else { None }
            {
                buf.slots[at as usize + 1] = address.extract()?;
            }
        }
        let overload = cpu_launch::resolve(self.kernel.bind(py), args.len(), &mut buf)?;
        for at in &loaded(overload)?.addresses {
            if !addresses.contains(buf.slots[*at as usize])? {
                let class = py.import("lancehead.cuda.errors")?.getattr("UnsupportedError")?;
                let text = "an argument is a buffer of the host's memory, which a GPU does not see; pass an array, or \
                            LANCEHEAD_CUDA_DEVICE=cpu runs kernels on the CPU";
                return Err(PyErr::from_value(class.call1((text,))?));
            }
        }
        self.start(py, gpu, overload, &buf)
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.launch)?;
        visit.call(&self.callbacks)?;
        visit.call(&self.kernel)
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.launch.call_method0(py, "__reduce__")
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.launch.getattr(py, name)
    }
}

impl Launch {
    /// Whether its device is in use, and nothing has to be done before a launch.
    #[inline]
    fn is_in_use(&self, py: Python<'_>) -> bool {
        if !self.callbacks.bind(py).is_empty() {
            return false;
        }
        let Ok(in_use) = self.places.here.bind(py).getattr(intern!(py, "gpu")) else { return false };
        match &self.gpu {
            Some(gpu) => in_use.as_ptr() == gpu.as_ptr(),
            // Arrays of the host are passed without a copy.
            None => {
                in_use.is_none() && {
                    let warns = self.places.config.bind(py).get_item(intern!(py, "CUDA_WARN_ON_IMPLICIT_COPY"));
                    matches!(warns, Ok(Some(warns)) if warns.is_truthy().is_ok_and(|w| !w))
                }
            }
        }
    }

    /// Pushes an argument if it needs no preparation: a number, an array of this device, or on the CPU device one of
    /// the host.
    #[inline]
    fn push(&self, a: &Bound<'_, PyAny>, buf: &mut ArgBuf, depth: u32) -> bool {
        let (class, places) = (a.get_type_ptr(), self.places);
        if class == if self.gpu.is_some() { places.gpu_class } else { places.class } {
            let object = a.as_ptr().cast::<u8>();
            // Without the GIL another thread may free the array meanwhile.
            if cfg!(Py_GIL_DISABLED) {
                return false;
            }
            // SAFETY: the slots of these classes hold an object or null; the buffer keeps the array, which may be
            // freed while Python runs, in a compilation or beside the kernel.
            unsafe {
                let array = *object.offset(places.argument).cast::<*mut ffi::PyObject>();
                let is_here = |gpu: &Py<Gpu>| *object.offset(places.gpu).cast::<*mut ffi::PyObject>() == gpu.as_ptr();
                if array.is_null()
                    || ffi::Py_TYPE(array) != numpy::ndarray_type()
                    || !self.gpu.as_ref().is_none_or(is_here)
                    // The buffer would copy an unaligned array, as memory of the host.
                    || self.gpu.is_some() && (*array.cast::<ArrayObject>()).flags & numpy::ALIGNED == 0
                {
                    return false;
                }
                buf.made.push(Bound::from_borrowed_ptr(a.py(), array).unbind());
                buf.push(array).is_ok()
            }
        } else if is_number(class) || class == numpy::ndarray_type() && self.gpu.is_none() {
            // SAFETY: the object is alive.
            unsafe { buf.push(a.as_ptr()) }.is_ok()
        } else if class == &raw mut ffi::PyTuple_Type && depth < MAX_DEPTH {
            // SAFETY: the object is a tuple.
            let items = unsafe { a.cast_unchecked::<PyTuple>() };
            buf.tags.push(kind::TUPLE | (items.len() as u64) << 8);
            items.iter_borrowed().all(|a| self.push(&a, buf, depth + 1))
        } else {
            false
        }
    }

    fn start(&self, py: Python<'_>, gpu: &Py<Gpu>, overload: &Overload, buf: &ArgBuf) -> PyResult<()> {
        if let Err(refused) = limits::check_geometry(&self.config) {
            return Err(failed(py, Fault::Refused(refused))?);
        }
        let code = loaded(overload)?;
        let at = |i: &u16| (&raw const buf.slots[*i as usize]).cast_mut().cast::<c_void>();
        let mut parameters: SmallVec<[*mut c_void; 64]> = code.parameters.iter().map(at).collect();
        let stream = self.stream.as_ref().map(|s| &s.get().stream);
        let mut start = || {
            let parameters = Parameters(&mut parameters);
            let started = context::without_lock(py, || {
                let parameters = parameters;
                // SAFETY: the words are those of the specialisation's types. The memory that they point to is freed in
                // the order of the default stream, which waits for this one.
                unsafe { code.kernel.launch(&self.config, code.is_cooperative, parameters.0, stream) }
            });
            started.map_err(|e| context::error(py, &e))
        };
        let (Some(note), Some(kernel)) = (&code.note, &overload.compiled.on_gpu) else { return start() };
        note.one.call_method0(py, intern!(py, "acquire"))?;
        let done = start().and_then(|()| {
            let check = py.import(intern!(py, "lancehead.cuda.launching"))?.getattr("check_raised")?;
            check.call1((gpu, &self.stream, note.at, note.barrier, kernel.sites.clone())).map(drop)
        });
        note.one.call_method0(py, intern!(py, "release"))?;
        done
    }
}

/// Addresses that are used while the interpreter is released.
struct Parameters<'a>(&'a mut [*mut c_void]);

// SAFETY: they point to words that their owner does not touch meanwhile.
unsafe impl Send for Parameters<'_> {}

#[inline(always)]
fn is_number(class: *mut ffi::PyTypeObject) -> bool {
    class == &raw mut ffi::PyFloat_Type
        || class == &raw mut ffi::PyLong_Type
        || class == &raw mut ffi::PyBool_Type
        || class == &raw mut ffi::PyComplex_Type
        || numpy::scalar_num(class).is_some()
}

/// The loaded kernel of a specialisation.
fn loaded(overload: &Overload) -> PyResult<&Loaded> {
    overload.on_gpu.as_ref().ok_or_else(|| PyTypeError::new_err("the kernel is not for a GPU"))
}

/// The number of blocks of a size that a GPU holds at a time, for an existing specialisation.
#[pyfunction]
pub fn resident_blocks(
    kernel: &Bound<'_, PyAny>,
    types: &Bound<'_, PyAny>,
    threads: i32,
    shared: usize,
) -> PyResult<i32> {
    let py = kernel.py();
    let (_, args) = signature(types)?;
    let object = state::of(kernel).ok_or_else(|| PyTypeError::new_err("not a kernel"))?;
    let overload = object.state().of_types(&args).ok_or_else(|| PyTypeError::new_err("no such specialisation"))?;
    let kernel = &loaded(overload)?.kernel;
    context::without_lock(py, || kernel.resident_blocks(threads, shared)).map_err(|e| context::error(py, &e))
}
