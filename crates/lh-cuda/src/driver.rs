//! NVIDIA's driver, found when the program runs: a table of its functions, and what a launch needs of them.
//!
//! Any function may be missing: an old driver lacks some, and without a driver all are missing. A missing function is
//! an error where it is called. The primary context is used, which other libraries of the process share.

#![expect(
    clippy::missing_errors_doc,
    reason = "every error is the driver's, of this call or of what was started before"
)]

mod later;
mod shared;

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

mod streams;

pub use later::in_callback;
use later::{Later, Resource};
pub use streams::{Callback, Event, Stream};

/// A handle of the driver's.
type Handle = *mut c_void;

/// Why something has failed: the function, CUDA's number of the error, its name and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The function that was called.
    pub function: &'static str,
    /// CUDA's number; -1 if the driver does not have the function.
    pub code: i32,
    /// CUDA's name.
    pub name: String,
    /// CUDA's text, with the log of its assembler if there is one.
    pub text: String,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call to {} results in {}: {}", self.function, self.name, self.text)
    }
}

impl std::error::Error for DriverError {}

/// A result of the driver.
pub type Result<T> = std::result::Result<T, DriverError>;

macro_rules! api {
    ($($field:ident = $symbol:literal ($($name:ident: $arg:ty),*);)*) => {
        /// The functions that the driver has.
        struct Api {
            $($field: Option<unsafe extern "C" fn($($arg),*) -> c_int>,)*
            // Threads of the driver may run its code until the process ends.
            _library: ManuallyDrop<Library>,
        }
        impl Api {
            fn load(library: ManuallyDrop<Library>) -> Api {
                // SAFETY: the signatures are those of NVIDIA's `cuda.h` for these symbols; the functions live as long
                // as the library, which the table keeps.
                unsafe {
                    Api { $($field: library.get(concat!($symbol, "\0").as_bytes()).ok().map(|s| *s),)* _library: library }
                }
            }
        }
        impl Driver {
            $(
                /// # Safety
                /// The arguments are what the driver's documentation asks for.
                #[allow(clippy::too_many_arguments, reason = "of some the driver wants eleven")]
                unsafe fn $field(&self, $($name: $arg),*) -> Result<()> {
                    let Some(f) = self.api.$field else { return Err(missing($symbol)) };
                    // SAFETY: by contract.
                    self.check($symbol, unsafe { f($($name),*) })
                }
            )*
        }
    };
}

// Letters stand for the names of parameters, which have no meaning here.
api! {
    init = "cuInit"(a: c_uint);
    driver_version = "cuDriverGetVersion"(a: *mut c_int);
    device_count = "cuDeviceGetCount"(a: *mut c_int);
    device_get = "cuDeviceGet"(a: *mut c_int, b: c_int);
    device_name = "cuDeviceGetName"(a: *mut c_char, b: c_int, c: c_int);
    device_attribute = "cuDeviceGetAttribute"(a: *mut c_int, b: c_int, c: c_int);
    device_uuid = "cuDeviceGetUuid_v2"(a: *mut [u8; 16], b: c_int);
    retain = "cuDevicePrimaryCtxRetain"(a: *mut Handle, b: c_int);
    release = "cuDevicePrimaryCtxRelease_v2"(a: c_int);
    set_current = "cuCtxSetCurrent"(a: Handle);
    synchronize = "cuCtxSynchronize"();
    module_load = "cuModuleLoadDataEx"(a: *mut Handle, b: *const c_void, c: c_uint, d: *mut c_int, e: *mut *mut c_void);
    module_unload = "cuModuleUnload"(a: Handle);
    module_function = "cuModuleGetFunction"(a: *mut Handle, b: Handle, c: *const c_char);
    module_global = "cuModuleGetGlobal_v2"(a: *mut u64, b: *mut usize, c: Handle, d: *const c_char);
    function_attribute = "cuFuncGetAttribute"(a: *mut c_int, b: c_int, c: Handle);
    set_function_attribute = "cuFuncSetAttribute"(a: Handle, b: c_int, c: c_int);
    launch_kernel = "cuLaunchKernel"(a: Handle, b: c_uint, c: c_uint, d: c_uint, e: c_uint, f: c_uint, g: c_uint, h: c_uint, i: Handle, j: *mut *mut c_void, k: *mut *mut c_void);
    launch_cooperative = "cuLaunchCooperativeKernel"(a: Handle, b: c_uint, c: c_uint, d: c_uint, e: c_uint, f: c_uint, g: c_uint, h: c_uint, i: Handle, j: *mut *mut c_void);
    occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(a: *mut c_int, b: Handle, c: c_int, d: usize);
    link_create = "cuLinkCreate_v2"(a: c_uint, b: *mut c_int, c: *mut *mut c_void, d: *mut Handle);
    link_add = "cuLinkAddData_v2"(a: Handle, b: c_int, c: *mut c_void, d: usize, e: *const c_char, f: c_uint, g: *mut c_int, h: *mut *mut c_void);
    link_complete = "cuLinkComplete"(a: Handle, b: *mut *mut c_void, c: *mut usize);
    link_destroy = "cuLinkDestroy"(a: Handle);
    alloc = "cuMemAlloc_v2"(a: *mut u64, b: usize);
    free = "cuMemFree_v2"(a: u64);
    alloc_from_pool = "cuMemAllocFromPoolAsync"(a: *mut u64, b: usize, c: Handle, d: Handle);
    free_async = "cuMemFreeAsync"(a: u64, b: Handle);
    pool_trim = "cuMemPoolTrimTo"(a: Handle, b: usize);
    pool_create = "cuMemPoolCreate"(a: *mut Handle, b: *const shared::PoolProperties);
    pool_destroy = "cuMemPoolDestroy"(a: Handle);
    pool_attribute = "cuMemPoolSetAttribute"(a: Handle, b: c_int, c: *mut c_void);
    copy_in = "cuMemcpyHtoDAsync_v2"(a: u64, b: *const c_void, c: usize, d: Handle);
    copy_out = "cuMemcpyDtoHAsync_v2"(a: *mut c_void, b: u64, c: usize, d: Handle);
    copy_within = "cuMemcpyDtoDAsync_v2"(a: u64, b: u64, c: usize, d: Handle);
    copy_peer = "cuMemcpyPeer"(a: u64, b: Handle, c: u64, d: Handle, e: usize);
    can_access_peer = "cuDeviceCanAccessPeer"(a: *mut c_int, b: c_int, c: c_int);
    enable_peer = "cuCtxEnablePeerAccess"(a: Handle, b: c_uint);
    pool_access = "cuMemPoolSetAccess"(a: Handle, b: *const shared::Access, c: usize);
    pointer_attribute = "cuPointerGetAttribute"(a: *mut c_void, b: c_int, c: u64);
    host_alloc = "cuMemHostAlloc"(a: *mut *mut c_void, b: usize, c: c_uint);
    host_free = "cuMemFreeHost"(a: *mut c_void);
    host_register = "cuMemHostRegister_v2"(a: *mut c_void, b: usize, c: c_uint);
    host_unregister = "cuMemHostUnregister"(a: *mut c_void);
    profiler_start = "cuProfilerStart"();
    profiler_stop = "cuProfilerStop"();
    memory_info = "cuMemGetInfo_v2"(a: *mut usize, b: *mut usize);
    stream_create = "cuStreamCreate"(a: *mut Handle, b: c_uint);
    stream_destroy = "cuStreamDestroy_v2"(a: Handle);
    stream_flags = "cuStreamGetFlags"(a: Handle, b: *mut c_uint);
    stream_wait = "cuStreamSynchronize"(a: Handle);
    stream_wait_event = "cuStreamWaitEvent"(a: Handle, b: Handle, c: c_uint);
    stream_callback = "cuStreamAddCallback"(a: Handle, b: Callback, c: *mut c_void, d: c_uint);
    event_create = "cuEventCreate"(a: *mut Handle, b: c_uint);
    event_record = "cuEventRecord"(a: Handle, b: Handle);
    event_wait = "cuEventSynchronize"(a: Handle);
    event_query = "cuEventQuery"(a: Handle);
    event_elapsed = "cuEventElapsedTime"(a: *mut f32, b: Handle, c: Handle);
    event_destroy = "cuEventDestroy_v2"(a: Handle);
}

fn missing(function: &'static str) -> DriverError {
    let (name, text) = ("CUDA_ERROR_NOT_FOUND".to_owned(), "the driver does not have this function".to_owned());
    DriverError { function, code: -1, name, text }
}

/// A function that gives a text for an error.
type ErrorText = Option<unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int>;

/// The driver.
pub struct Driver {
    api: Api,
    error_name: ErrorText,
    error_text: ErrorText,
    /// Its version, as 1000 times CUDA's major plus 10 times the minor one.
    pub version: i32,
    /// The process that has begun to use it.
    process: u32,
}

impl Driver {
    /// Finds the driver: a library of a path, or the system's.
    ///
    /// # Errors
    /// There is none, or it cannot be used.
    pub fn open(path: Option<&str>) -> Result<Arc<Driver>> {
        // SAFETY: loading the driver runs its initialisers, which ask nothing of us.
        let library = unsafe { Library::new(path.unwrap_or("libcuda.so.1")) };
        let library = library.map_err(|e| DriverError { text: e.to_string(), ..missing("dlopen") })?;
        let library = ManuallyDrop::new(library);
        // SAFETY: as in `Api::load`; the table keeps the library.
        let (error_name, error_text): (ErrorText, ErrorText) = unsafe {
            (library.get(b"cuGetErrorName\0").ok().map(|s| *s), library.get(b"cuGetErrorString\0").ok().map(|s| *s))
        };
        let (api, process) = (Api::load(library), std::process::id());
        let mut driver = Driver { api, error_name, error_text, version: 0, process };
        let mut version = 0;
        // SAFETY: the number is written.
        unsafe {
            driver.init(0)?;
            driver.driver_version(&raw mut version)?;
        }
        driver.version = version;
        Ok(Arc::new(driver))
    }

    fn check(&self, function: &'static str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let said = |which: ErrorText| {
            let mut text = std::ptr::null();
            // SAFETY: the driver writes a text that lives as long as it, or leaves null.
            unsafe {
                match which {
                    Some(f) if f(code, &raw mut text) == 0 && !text.is_null() => {
                        CStr::from_ptr(text).to_string_lossy().into_owned()
                    }
                    _ => format!("error {code}"),
                }
            }
        };
        let mut text = said(self.error_text);
        if let Some(advice) = self.advice(code) {
            text = format!("{text}; {advice}");
        }
        Err(DriverError { function, code, name: said(self.error_name), text })
    }

    /// Advice on an error whose text gives none.
    fn advice(&self, code: c_int) -> Option<&'static str> {
        const NOT_INITIALIZED: c_int = 3;
        const ALREADY_REGISTERED: c_int = 712;
        match code {
            NOT_INITIALIZED if std::process::id() != self.process => Some(
                "this process was forked from one that uses CUDA, and CUDA does not survive that: start processes with \
                 multiprocessing.get_context(\"spawn\")",
            ),
            ALREADY_REGISTERED => Some(
                "pages of memory are pinned as a whole, and this array shares one with an array that is pinned: pin the \
                 array that both are part of, or make them by cuda.pinned_array",
            ),
            _ => None,
        }
    }

    /// Number of GPUs.
    pub fn devices(&self) -> Result<usize> {
        let mut n = 0;
        // SAFETY: the number is written.
        unsafe { self.device_count(&raw mut n)? };
        Ok(n as usize)
    }

    /// The newest version of PTX that it reads, times ten.
    pub fn isa(&self) -> u32 {
        // CUDA's versions from 11.0 on, with the PTX that came with them.
        const KNOWN: &[(i32, u32)] = &[
            (11000, 70),
            (11010, 71),
            (11020, 72),
            (11030, 73),
            (11040, 74),
            (11050, 75),
            (11060, 76),
            (11070, 77),
            (11080, 78),
            (12000, 80),
            (12010, 81),
            (12020, 82),
            (12030, 83),
            (12040, 84),
            (12050, 85),
            (12070, 86),
            (12080, 87),
            (12090, 88),
            (13000, 90),
        ];
        KNOWN.iter().rev().find(|(v, _)| *v <= self.version).map_or(63, |(_, isa)| *isa)
    }
}

/// A GPU with its primary context.
pub struct Gpu {
    driver: Arc<Driver>,
    ordinal: c_int,
    context: Handle,
    /// Compute capability.
    pub capability: (u32, u32),
    /// The pool that memory comes from, in the order of streams.
    pool: Option<usize>,
    /// How often memory was allocated in the order of the default stream, and how much of that was waited for.
    allocations: AtomicU64,
    awaited: AtomicU64,
    /// Resources that are still to be given back.
    later: Later,
}

// SAFETY: the driver's functions may be called from any thread; the context is made current where it is used.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the pool was made, and the context retained, once by `open`; buffers hold the GPU. At the end of the
        // process the driver may be gone, which is no harm.
        unsafe {
            if let Some(pool) = self.pool.filter(|_| self.enter().is_ok()) {
                let _ = self.driver.pool_destroy(pool as Handle);
            }
            let _ = self.driver.release(self.ordinal);
        }
    }
}

/// Attributes, by CUDA's numbers.
mod attribute {
    pub(super) const MAJOR: i32 = 75;
    pub(super) const MINOR: i32 = 76;
    pub(super) const POOLS: i32 = 115;
    pub(super) const STATIC_SHARED: i32 = 1;
    pub(super) const DYNAMIC_SHARED: i32 = 8;
    pub(super) const POOL_KEEPS: i32 = 4;
    pub(super) const MULTIPROCESSORS: i32 = 16;
    pub(super) const POINTER_ORDINAL: i32 = 9;
}

/// Shared memory that a block may have, with what the kernel declares, without being allowed more.
const SHARED_BY_DEFAULT: i64 = 48 << 10;

impl Gpu {
    /// The GPU of a number.
    pub fn open(driver: &Arc<Driver>, number: usize) -> Result<Arc<Gpu>> {
        let (mut ordinal, mut context) = (0, null_mut());
        // SAFETY: both are written.
        unsafe {
            driver.device_get(&raw mut ordinal, number as c_int)?;
            driver.retain(&raw mut context, ordinal)?;
        }
        let mut gpu = Gpu {
            driver: driver.clone(),
            ordinal,
            context,
            capability: (0, 0),
            pool: None,
            allocations: AtomicU64::new(1),
            awaited: AtomicU64::new(0),
            later: Later::default(),
        };
        gpu.capability = (gpu.attribute(attribute::MAJOR)? as u32, gpu.attribute(attribute::MINOR)? as u32);
        gpu.enter()?;
        if gpu.attribute(attribute::POOLS).unwrap_or(0) != 0 && driver.api.alloc_from_pool.is_some() {
            gpu.pool = Some(gpu.new_pool()?);
        }
        Ok(Arc::new(gpu))
    }

    /// An attribute by CUDA's number.
    pub fn attribute(&self, what: i32) -> Result<i32> {
        let mut v = 0;
        // SAFETY: the number is written.
        unsafe { self.driver.device_attribute(&raw mut v, what, self.ordinal)? };
        Ok(v)
    }

    /// Makes the context that of the calling thread.
    pub fn enter(&self) -> Result<()> {
        // SAFETY: the context is alive.
        unsafe { self.driver.set_current(self.context) }
    }

    /// The card's name.
    pub fn name(&self) -> Result<String> {
        let mut text = [0u8; 256];
        // SAFETY: the text is written with its end, within its size.
        unsafe { self.driver.device_name(text.as_mut_ptr().cast(), 256, self.ordinal)? };
        Ok(CStr::from_bytes_until_nul(&text).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default())
    }

    /// Waits until everything is done.
    pub fn wait(&self) -> Result<()> {
        self.enter()?;
        self.give_back_rest();
        // SAFETY: no arguments.
        unsafe { self.driver.synchronize() }
    }

    /// The card's own identifier.
    pub fn uuid(&self) -> Result<[u8; 16]> {
        let mut bytes = [0; 16];
        // SAFETY: as many bytes are written.
        unsafe { self.driver.device_uuid(&raw mut bytes, self.ordinal)? };
        Ok(bytes)
    }

    /// Has profilers begin to look, or end.
    pub fn profile(&self, on: bool) -> Result<()> {
        self.enter()?;
        // SAFETY: no arguments.
        unsafe { if on { self.driver.profiler_start() } else { self.driver.profiler_stop() } }
    }

    /// Bytes of memory: free ones, and all.
    pub fn memory(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        self.enter()?;
        // SAFETY: both are written.
        unsafe { self.driver.memory_info(&raw mut free, &raw mut total)? };
        Ok((free, total))
    }

    /// Copies bytes to an address of the GPU, in a stream's order. They may be reused when the stream has passed it.
    ///
    /// # Safety
    /// The memory is the GPU's, alive, and as long; the bytes live until the stream has passed.
    pub unsafe fn write(&self, address: u64, from: &[u8], stream: &Stream) -> Result<()> {
        self.enter()?;
        // SAFETY: by contract.
        stream.with(|s| unsafe { self.driver.copy_in(address, from.as_ptr().cast(), from.len(), s) })
    }

    /// Copies bytes from an address of the GPU, in a stream's order: they are there when the stream has passed it.
    ///
    /// # Safety
    /// As of [`Gpu::write`].
    pub unsafe fn read(&self, address: u64, to: &mut [u8], stream: &Stream) -> Result<()> {
        self.enter()?;
        // SAFETY: as above.
        stream.with(|s| unsafe { self.driver.copy_out(to.as_mut_ptr().cast(), address, to.len(), s) })
    }

    /// Copies bytes from one place of the GPU to another, in a stream's order.
    ///
    /// # Safety
    /// Both places are the GPU's, alive, and as long.
    pub unsafe fn copy(&self, to: u64, from: u64, bytes: usize, stream: &Stream) -> Result<()> {
        self.enter()?;
        // SAFETY: by contract.
        stream.with(|s| unsafe { self.driver.copy_within(to, from, bytes, s) })
    }

    /// Memory of so many bytes. If there is none, what was freed is waited for and given back to the driver first.
    pub fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Buffer> {
        const OUT_OF_MEMORY: i32 = 2;
        self.enter()?;
        self.give_back_rest();
        // The driver refuses to allocate nothing.
        let size = bytes.max(1);
        let address = match self.memory_for(size) {
            Err(e) if e.code == OUT_OF_MEMORY => {
                Stream::null(self).wait()?;
                // SAFETY: the pool is the device's.
                let trimmed = self.pool.map_or(Ok(()), |pool| unsafe { self.driver.pool_trim(pool as Handle, 0) });
                trimmed.and_then(|()| self.memory_for(size)).map_err(|_| e)?
            }
            found => found?,
        };
        Ok(Buffer { gpu: self.clone(), address, bytes, is_host: false })
    }

    /// In the order of the default stream, for which others wait.
    fn memory_for(&self, size: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: the address is written.
        unsafe {
            if let Some(pool) = self.pool {
                self.driver.alloc_from_pool(&raw mut address, size, pool as Handle, null_mut())?;
            } else {
                self.driver.alloc(&raw mut address, size)?;
            }
        }
        // After it: who waits meanwhile need not have waited for this.
        self.allocations.fetch_add(1, Ordering::AcqRel);
        Ok(address)
    }

    /// Machine code of PTX, by the driver's assembler.
    ///
    /// # Errors
    /// The assembler's errors.
    pub fn assemble(&self, ptx: &[u8], lines: bool) -> Result<Vec<u8>> {
        const PTX: c_int = 1;
        self.enter()?;
        let text = terminated(ptx);
        with_log(lines, |n, names, values| {
            let (mut state, mut code, mut size) = (null_mut(), null_mut(), 0);
            // SAFETY: names and values are of the same number and live until the end; the machine code lives as long as
            // the state.
            unsafe {
                self.driver.link_create(n, names, values, &raw mut state)?;
                let data = text.as_ptr().cast_mut().cast();
                let added =
                    self.driver.link_add(state, PTX, data, text.len(), c"kernel".as_ptr(), 0, null_mut(), null_mut());
                let made = added.and_then(|()| self.driver.link_complete(state, &raw mut code, &raw mut size));
                let code = made.map(|()| std::slice::from_raw_parts(code.cast::<u8>(), size).to_vec());
                self.driver.link_destroy(state).and(code)
            }
        })
    }

    /// Loads PTX or machine code.
    ///
    /// # Errors
    /// The errors of the driver's assembler.
    pub fn load(self: &Arc<Self>, code: &[u8], lines: bool) -> Result<Module> {
        self.enter()?;
        // The driver reads PTX to a zero byte.
        let code = terminated(code);
        let module = with_log(lines, |n, names, values| {
            let mut module = null_mut();
            // SAFETY: names and values are of the same number.
            unsafe { self.driver.module_load(&raw mut module, code.as_ptr().cast(), n, names, values)? };
            Ok(module)
        })?;
        Ok(Module { gpu: self.clone(), module })
    }
}

/// Memory of a GPU, given back when it is dropped.
pub struct Buffer {
    gpu: Arc<Gpu>,
    /// Where it is.
    pub address: u64,
    /// Its size.
    pub bytes: usize,
    /// Whether it is the host's, which GPUs use too.
    pub is_host: bool,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let at = self.address;
        self.gpu.give_back(if self.is_host { Resource::Host(at) } else { Resource::Memory(at) });
    }
}

fn terminated(code: &[u8]) -> Vec<u8> {
    [code, &[0]].concat()
}

/// Runs what takes options by number with a log of the driver's assembler, which its error shows.
fn with_log<T>(lines: bool, run: impl FnOnce(c_uint, *mut c_int, *mut *mut c_void) -> Result<T>) -> Result<T> {
    // The log, its size, whether machine code keeps line numbers.
    let mut names: [c_int; 3] = [5, 6, 13];
    let mut log = vec![0u8; 8192];
    let mut values = [log.as_mut_ptr().cast(), log.len() as *mut c_void, usize::from(lines) as *mut c_void];
    run(names.len() as c_uint, names.as_mut_ptr(), values.as_mut_ptr()).map_err(|mut e| {
        let said = CStr::from_bytes_until_nul(&log).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default();
        if !said.is_empty() {
            e.text = format!("{}\n{said}", e.text);
        }
        e
    })
}

/// Loaded code.
pub struct Module {
    gpu: Arc<Gpu>,
    module: Handle,
}

// SAFETY: as of `Gpu`.
unsafe impl Send for Module {}
// SAFETY: as of `Gpu`.
unsafe impl Sync for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        // Kernels hold the module.
        self.gpu.give_back(Resource::Module(self.module.addr()));
    }
}

impl Module {
    /// A kernel of a name.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Kernel> {
        let (mut function, text) = (null_mut(), CString::new(name).unwrap_or_default());
        self.gpu.enter()?;
        // SAFETY: the handle is written.
        unsafe { self.gpu.driver.module_function(&raw mut function, self.module, text.as_ptr())? };
        let kernel = Kernel {
            module: self.clone(),
            function,
            allowed_shared: AtomicI64::new(0),
            allowing: Mutex::default(),
            last_grid: Mutex::default(),
        };
        let declared = i64::from(kernel.attribute(attribute::STATIC_SHARED)?);
        kernel.allowed_shared.store(SHARED_BY_DEFAULT - declared, Ordering::Relaxed);
        Ok(kernel)
    }
    /// Address and size of a variable.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        let (mut at, mut size, text) = (0, 0, CString::new(name).unwrap_or_default());
        // SAFETY: both are written.
        unsafe { self.gpu.driver.module_global(&raw mut at, &raw mut size, self.module, text.as_ptr())? };
        Ok((at, size))
    }
}

/// A kernel of loaded code.
pub struct Kernel {
    module: Arc<Module>,
    function: Handle,
    /// Dynamic shared memory that it may have so far, which only grows, by one thread at a time.
    allowed_shared: AtomicI64,
    allowing: Mutex<()>,
    /// The last cooperative launch: its stream, and the place after it there.
    last_grid: Mutex<Option<(usize, Event)>>,
}

// SAFETY: as of `Gpu`.
unsafe impl Send for Kernel {}
// SAFETY: as of `Gpu`.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Address and size of a variable of the kernel's module.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        self.module.gpu.enter()?;
        self.module.variable(name)
    }

    /// An attribute by CUDA's number: 4 registers, 1 static shared memory, 3 local memory, 0 threads.
    pub fn attribute(&self, what: i32) -> Result<i32> {
        let mut v = 0;
        self.module.gpu.enter()?;
        // SAFETY: the number is written.
        unsafe { self.module.gpu.driver.function_attribute(&raw mut v, what, self.function)? };
        Ok(v)
    }

    /// Blocks of a size that the whole card holds at a time; none if they can have no such dynamic shared memory.
    pub fn resident_blocks(&self, threads: i32, dynamic_shared: usize) -> Result<i32> {
        const INVALID_VALUE: i32 = 1;
        let mut n = 0;
        let gpu = &self.module.gpu;
        gpu.enter()?;
        match self.allow_shared(i64::try_from(dynamic_shared).unwrap_or(i64::MAX)) {
            Err(e) if e.code == INVALID_VALUE => return Ok(0),
            other => other?,
        }
        // SAFETY: the number is written.
        unsafe { gpu.driver.occupancy(&raw mut n, self.function, threads, dynamic_shared)? };
        Ok(n * gpu.attribute(attribute::MULTIPROCESSORS)?)
    }

    /// Lets blocks have so much dynamic shared memory; what they were allowed before, they keep.
    fn allow_shared(&self, bytes: i64) -> Result<()> {
        if bytes <= self.allowed_shared.load(Ordering::Acquire) {
            return Ok(());
        }
        let _one = self.allowing.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > self.allowed_shared.load(Ordering::Acquire) {
            let n = c_int::try_from(bytes).unwrap_or(c_int::MAX);
            // SAFETY: the function is alive.
            unsafe { self.module.gpu.driver.set_function_attribute(self.function, attribute::DYNAMIC_SHARED, n)? };
            self.allowed_shared.store(bytes, Ordering::Release);
        }
        Ok(())
    }

    /// Starts a cooperative launch after the last one: the blocks of a grid wait for each other by one counter, which
    /// two grids at a time would share. In one stream they come one after the other anyhow.
    fn after_last_grid(&self, stream: Handle, start: impl FnOnce() -> Result<()>) -> Result<()> {
        let driver = &self.module.gpu.driver;
        let mut last = self.last_grid.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() {
            *last = Some((stream.addr(), Event::new(&self.module.gpu, false)?));
        }
        let Some((before, event)) = &mut *last else { return start() };
        if *before != stream.addr() {
            // SAFETY: both are alive.
            unsafe { driver.stream_wait_event(stream, event.handle(), 0)? };
        }
        start()?;
        *before = stream.addr();
        // SAFETY: as above.
        unsafe { driver.event_record(event.handle(), stream) }
    }

    /// Starts the kernel, in a stream's order, with the addresses of its parameters, which are read before this
    /// returns.
    ///
    /// # Safety
    /// The parameters are the kernel's, and what they point to is alive until it ends.
    pub unsafe fn launch(
        &self,
        config: &crate::Config,
        cooperative: bool,
        parameters: &mut [*mut c_void],
        stream: Option<&Stream>,
    ) -> Result<()> {
        let gpu = &self.module.gpu;
        gpu.enter()?;
        let shared = config.dynamic_shared;
        let [gx, gy, gz] = config.grid.map(|n| n as c_uint);
        let [bx, by, bz] = config.block.map(|n| n as c_uint);
        let (f, at) = (self.function, parameters.as_mut_ptr());
        self.allow_shared(shared)?;
        let start = |stream| {
            let n = shared as c_uint;
            // SAFETY: by contract.
            unsafe {
                if cooperative {
                    let launch = || gpu.driver.launch_cooperative(f, gx, gy, gz, bx, by, bz, n, stream, at);
                    self.after_last_grid(stream, launch)
                } else {
                    gpu.driver.launch_kernel(f, gx, gy, gz, bx, by, bz, n, stream, at, null_mut())
                }
            }
        };
        stream.map_or_else(|| start(null_mut()), |s| s.with(start))
    }
}
