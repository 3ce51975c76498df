//! NVIDIA's driver, found when the program runs: a table of its functions, and what a launch needs of them.
//!
//! Every function may be missing: of an old driver some are, without one all. What is missing is an error where it is
//! called. The primary context is used, which other libraries of the process share.

mod shared;

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

/// A handle of the driver's.
type Handle = *mut c_void;

/// Why something has failed: the function, CUDA's number of the error, its name and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// What was called.
    pub function: &'static str,
    /// CUDA's number; -1 if the driver does not have the function.
    pub code: i32,
    /// CUDA's name.
    pub name: String,
    /// What it says, with the log of its assembler if there is one.
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
    ($($field:ident = $symbol:literal ($($arg:ty),*);)*) => {
        /// The functions that the driver has.
        struct Api {
            $($field: Option<unsafe extern "C" fn($($arg),*) -> c_int>,)*
            _library: Library,
        }
        impl Api {
            fn load(library: Library) -> Api {
                // SAFETY: the signatures are those of NVIDIA's `cuda.h` for these symbols; the functions live as long as the
                // library, which the table keeps.
                unsafe {
                    Api { $($field: library.get(concat!($symbol, "\0").as_bytes()).ok().map(|s| *s),)* _library: library }
                }
            }
        }
        impl Driver {
            $(
                /// # Safety
                /// The arguments are what the driver's documentation asks for.
                unsafe fn $field(&self, args: ($($arg,)*)) -> Result<()> {
                    let Some(f) = self.api.$field else { return Err(missing($symbol)) };
                    // SAFETY: by contract.
                    self.check($symbol, unsafe { api!(@call f args $($arg),*) })
                }
            )*
        }
    };
    (@call $f:ident $t:ident) => {{
        let () = $t;
        $f()
    }};
    (@call $f:ident $t:ident $a:ty) => { $f($t.0) };
    (@call $f:ident $t:ident $a:ty, $b:ty) => { $f($t.0, $t.1) };
    (@call $f:ident $t:ident $a:ty, $b:ty, $c:ty) => { $f($t.0, $t.1, $t.2) };
    (@call $f:ident $t:ident $a:ty, $b:ty, $c:ty, $d:ty) => { $f($t.0, $t.1, $t.2, $t.3) };
    (@call $f:ident $t:ident $a:ty, $b:ty, $c:ty, $d:ty, $e:ty) => { $f($t.0, $t.1, $t.2, $t.3, $t.4) };
    (@call $f:ident $t:ident $a:ty, $b:ty, $c:ty, $d:ty, $e:ty, $g:ty, $h:ty, $i:ty, $j:ty, $k:ty) => {
        $f($t.0, $t.1, $t.2, $t.3, $t.4, $t.5, $t.6, $t.7, $t.8, $t.9)
    };
    (@call $f:ident $t:ident $a:ty, $b:ty, $c:ty, $d:ty, $e:ty, $g:ty, $h:ty, $i:ty, $j:ty, $k:ty, $l:ty) => {
        $f($t.0, $t.1, $t.2, $t.3, $t.4, $t.5, $t.6, $t.7, $t.8, $t.9, $t.10)
    };
}

api! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device_get = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
    retain = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
    release = "cuDevicePrimaryCtxRelease_v2"(c_int);
    set_current = "cuCtxSetCurrent"(Handle);
    synchronize = "cuCtxSynchronize"();
    module_load = "cuModuleLoadDataEx"(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void);
    module_unload = "cuModuleUnload"(Handle);
    module_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
    module_global = "cuModuleGetGlobal_v2"(*mut u64, *mut usize, Handle, *const c_char);
    function_attribute = "cuFuncGetAttribute"(*mut c_int, c_int, Handle);
    set_function_attribute = "cuFuncSetAttribute"(Handle, c_int, c_int);
    launch_kernel = "cuLaunchKernel"(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void);
    launch_cooperative = "cuLaunchCooperativeKernel"(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void);
    alloc = "cuMemAlloc_v2"(*mut u64, usize);
    free = "cuMemFree_v2"(u64);
    alloc_async = "cuMemAllocAsync"(*mut u64, usize, Handle);
    free_async = "cuMemFreeAsync"(u64, Handle);
    default_pool = "cuDeviceGetDefaultMemPool"(*mut Handle, c_int);
    pool_attribute = "cuMemPoolSetAttribute"(Handle, c_int, *mut c_void);
    copy_in = "cuMemcpyHtoDAsync_v2"(u64, *const c_void, usize, Handle);
    copy_out = "cuMemcpyDtoHAsync_v2"(*mut c_void, u64, usize, Handle);
    copy_within = "cuMemcpyDtoDAsync_v2"(u64, u64, usize, Handle);
    copy_peer = "cuMemcpyPeer"(u64, Handle, u64, Handle, usize);
    can_access_peer = "cuDeviceCanAccessPeer"(*mut c_int, c_int, c_int);
    enable_peer = "cuCtxEnablePeerAccess"(Handle, c_uint);
    pool_access = "cuMemPoolSetAccess"(Handle, *const shared::Access, usize);
    pointer_attribute = "cuPointerGetAttribute"(*mut c_void, c_int, u64);
    host_alloc = "cuMemHostAlloc"(*mut *mut c_void, usize, c_uint);
    host_free = "cuMemFreeHost"(*mut c_void);
    memory_info = "cuMemGetInfo_v2"(*mut usize, *mut usize);
    stream_create = "cuStreamCreate"(*mut Handle, c_uint);
    stream_destroy = "cuStreamDestroy_v2"(Handle);
    stream_wait = "cuStreamSynchronize"(Handle);
    event_create = "cuEventCreate"(*mut Handle, c_uint);
    event_record = "cuEventRecord"(Handle, Handle);
    event_wait = "cuEventSynchronize"(Handle);
    event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
    event_destroy = "cuEventDestroy_v2"(Handle);
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
        // SAFETY: as in `Api::load`; the table keeps the library.
        let (error_name, error_text): (ErrorText, ErrorText) = unsafe {
            (library.get(b"cuGetErrorName\0").ok().map(|s| *s), library.get(b"cuGetErrorString\0").ok().map(|s| *s))
        };
        let mut driver = Driver { api: Api::load(library), error_name, error_text, version: 0 };
        let mut version = 0;
        // SAFETY: the number is written.
        unsafe {
            driver.init((0,))?;
            driver.driver_version((&raw mut version,))?;
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
        Err(DriverError { function, code, name: said(self.error_name), text: said(self.error_text) })
    }

    /// Number of GPUs.
    ///
    /// # Errors
    /// As the driver says.
    pub fn devices(&self) -> Result<usize> {
        let mut n = 0;
        // SAFETY: the number is written.
        unsafe { self.device_count((&raw mut n,))? };
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
    /// Whether memory comes from a pool in the order of a stream.
    pub has_pool: bool,
}

// SAFETY: the driver's functions may be called from any thread; the context is made current where it is used.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: retained once by `open`. At the end of the process the driver may be gone, which is no harm.
        let _ = unsafe { self.driver.release((self.ordinal,)) };
    }
}

/// Attributes, by CUDA's numbers.
mod attribute {
    pub(super) const MAJOR: i32 = 75;
    pub(super) const MINOR: i32 = 76;
    pub(super) const POOLS: i32 = 115;
    pub(super) const DYNAMIC_SHARED: i32 = 8;
    pub(super) const POOL_KEEPS: i32 = 4;
    pub(super) const POINTER_ORDINAL: i32 = 9;
}

/// Shared memory that a launch may have without being allowed more.
const SHARED_BY_DEFAULT: i64 = 48 << 10;

impl Gpu {
    /// The GPU of a number.
    ///
    /// # Errors
    /// As the driver says.
    pub fn open(driver: &Arc<Driver>, number: usize) -> Result<Arc<Gpu>> {
        let (mut ordinal, mut context) = (0, null_mut());
        // SAFETY: both are written.
        unsafe {
            driver.device_get((&raw mut ordinal, number as c_int))?;
            driver.retain((&raw mut context, ordinal))?;
        }
        let mut gpu = Gpu { driver: driver.clone(), ordinal, context, capability: (0, 0), has_pool: false };
        gpu.capability = (gpu.attribute(attribute::MAJOR)? as u32, gpu.attribute(attribute::MINOR)? as u32);
        gpu.has_pool = gpu.attribute(attribute::POOLS).unwrap_or(0) != 0 && driver.api.alloc_async.is_some();
        gpu.enter()?;
        if gpu.has_pool {
            gpu.keep_memory()?;
        }
        Ok(Arc::new(gpu))
    }

    /// An attribute by CUDA's number.
    ///
    /// # Errors
    /// As the driver says.
    pub fn attribute(&self, what: i32) -> Result<i32> {
        let mut v = 0;
        // SAFETY: the number is written.
        unsafe { self.driver.device_attribute((&raw mut v, what, self.ordinal))? };
        Ok(v)
    }

    /// The pool gives nothing back to the system while the program runs.
    fn keep_memory(&self) -> Result<()> {
        let (mut pool, mut all) = (null_mut(), u64::MAX);
        // SAFETY: the pool is written; the attribute is a 64-bit number.
        unsafe {
            self.driver.default_pool((&raw mut pool, self.ordinal))?;
            self.driver.pool_attribute((pool, attribute::POOL_KEEPS, (&raw mut all).cast()))
        }
    }

    /// Makes the context that of the calling thread.
    ///
    /// # Errors
    /// As the driver says.
    pub fn enter(&self) -> Result<()> {
        // SAFETY: the context is alive.
        unsafe { self.driver.set_current((self.context,)) }
    }

    /// The card's name.
    ///
    /// # Errors
    /// As the driver says.
    pub fn name(&self) -> Result<String> {
        let mut text = [0u8; 256];
        // SAFETY: the text is written with its end, within its size.
        unsafe { self.driver.device_name((text.as_mut_ptr().cast(), 256, self.ordinal))? };
        Ok(CStr::from_bytes_until_nul(&text).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default())
    }

    /// Waits until everything is done.
    ///
    /// # Errors
    /// What went wrong since.
    pub fn wait(&self) -> Result<()> {
        self.enter()?;
        // SAFETY: no arguments.
        unsafe { self.driver.synchronize(()) }
    }

    /// Bytes of memory: free ones, and all.
    ///
    /// # Errors
    /// As the driver says.
    pub fn memory(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        self.enter()?;
        // SAFETY: both are written.
        unsafe { self.driver.memory_info((&raw mut free, &raw mut total))? };
        Ok((free, total))
    }

    /// Copies bytes to an address of the GPU; they may be reused at once.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// # Safety
    /// The memory is the GPU's, alive, and as long.
    pub unsafe fn write(&self, address: u64, from: &[u8]) -> Result<()> {
        self.enter()?;
        // SAFETY: by contract; the copy has been done when the stream has been waited for.
        unsafe {
            self.driver.copy_in((address, from.as_ptr().cast(), from.len(), null_mut()))?;
            self.driver.stream_wait((null_mut(),))
        }
    }

    /// Copies bytes from an address of the GPU, after what is before it in the stream.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// # Safety
    /// As of [`Gpu::write`].
    pub unsafe fn read(&self, address: u64, to: &mut [u8]) -> Result<()> {
        self.enter()?;
        // SAFETY: as above.
        unsafe {
            self.driver.copy_out((to.as_mut_ptr().cast(), address, to.len(), null_mut()))?;
            self.driver.stream_wait((null_mut(),))
        }
    }

    /// Copies bytes from one place of the GPU to another, in the stream's order.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// # Safety
    /// Both places are the GPU's, alive, and as long.
    pub unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        self.enter()?;
        // SAFETY: by contract.
        unsafe { self.driver.copy_within((to, from, bytes, null_mut())) }
    }

    /// Memory of so many bytes.
    ///
    /// # Errors
    /// As the driver says.
    pub fn allocate(self: &Arc<Self>, bytes: usize) -> Result<Buffer> {
        self.enter()?;
        let mut address = 0;
        // The driver refuses to allocate nothing.
        let size = bytes.max(1);
        // SAFETY: the address is written.
        unsafe {
            if self.has_pool {
                self.driver.alloc_async((&raw mut address, size, null_mut()))?;
            } else {
                self.driver.alloc((&raw mut address, size))?;
            }
        }
        Ok(Buffer { gpu: self.clone(), address, bytes, is_host: false })
    }

    /// Loads PTX or machine code.
    ///
    /// # Errors
    /// What the driver's assembler says of it.
    pub fn load(self: &Arc<Self>, code: &[u8]) -> Result<Module> {
        const LOG: (c_int, c_int) = (5, 6);
        self.enter()?;
        // The driver reads PTX to a zero byte.
        let mut code = code.to_vec();
        code.push(0);
        let mut log = vec![0u8; 8192];
        let (mut module, mut names) = (null_mut(), [LOG.0, LOG.1]);
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
        // SAFETY: names and values are of the same number; the log has the size that is said.
        let loaded = unsafe {
            self.driver.module_load((&raw mut module, code.as_ptr().cast(), 2, names.as_mut_ptr(), values.as_mut_ptr()))
        };
        loaded.map_err(|mut e| {
            let said = CStr::from_bytes_until_nul(&log).map(|t| t.to_string_lossy().into_owned()).unwrap_or_default();
            if !said.is_empty() {
                e.text = format!("{}\n{said}", e.text);
            }
            e
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
        // What fails here has failed before, and has been told then.
        let _ = self.gpu.enter();
        // SAFETY: allocated the same way, once.
        let _ = unsafe {
            if self.is_host {
                // What was started may still use it.
                self.gpu.wait().and_then(|()| self.gpu.driver.host_free((self.address as *mut c_void,)))
            } else if self.gpu.has_pool {
                self.gpu.driver.free_async((self.address, null_mut()))
            } else {
                self.gpu.driver.free((self.address,))
            }
        };
    }
}

impl Buffer {
    /// Copies bytes in; they may be reused at once.
    ///
    /// # Errors
    /// As the driver says.
    pub fn write(&self, from: &[u8]) -> Result<()> {
        assert!(from.len() <= self.bytes, "{} bytes into a buffer of {}", from.len(), self.bytes);
        // SAFETY: the buffer is alive and as long.
        unsafe { self.gpu.write(self.address, from) }
    }
    /// Copies bytes out, after what is before it in the stream.
    ///
    /// # Errors
    /// As the driver says.
    pub fn read(&self, to: &mut [u8]) -> Result<()> {
        assert!(to.len() <= self.bytes, "{} bytes from a buffer of {}", to.len(), self.bytes);
        // SAFETY: as above.
        unsafe { self.gpu.read(self.address, to) }
    }
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
        let _ = self.gpu.enter();
        // SAFETY: loaded once; kernels hold the module.
        let _ = unsafe { self.gpu.driver.module_unload((self.module,)) };
    }
}

impl Module {
    /// A kernel of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Kernel> {
        let (mut function, text) = (null_mut(), CString::new(name).unwrap_or_default());
        // SAFETY: the handle is written.
        unsafe { self.gpu.driver.module_function((&raw mut function, self.module, text.as_ptr()))? };
        Ok(Kernel { module: self.clone(), function })
    }
    /// Address and size of a variable.
    ///
    /// # Errors
    /// There is none.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        let (mut at, mut size, text) = (0, 0, CString::new(name).unwrap_or_default());
        // SAFETY: both are written.
        unsafe { self.gpu.driver.module_global((&raw mut at, &raw mut size, self.module, text.as_ptr()))? };
        Ok((at, size))
    }
}

/// A kernel of loaded code.
pub struct Kernel {
    module: Arc<Module>,
    function: Handle,
}

// SAFETY: as of `Gpu`.
unsafe impl Send for Kernel {}
// SAFETY: as of `Gpu`.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Address and size of a variable of the kernel's module.
    ///
    /// # Errors
    /// There is none.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        self.module.gpu.enter()?;
        self.module.variable(name)
    }

    /// An attribute by CUDA's number: 4 registers, 1 static shared memory, 3 local memory, 0 threads.
    ///
    /// # Errors
    /// As the driver says.
    pub fn attribute(&self, what: i32) -> Result<i32> {
        let mut v = 0;
        // SAFETY: the number is written.
        unsafe { self.module.gpu.driver.function_attribute((&raw mut v, what, self.function))? };
        Ok(v)
    }

    /// Starts the kernel: every argument is a word, of which the driver takes as much as the parameter has.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// # Safety
    /// The words are those of the kernel's parameters, and what they point to is alive until it ends.
    pub unsafe fn launch(&self, config: &crate::Config, cooperative: bool, words: &[u64]) -> Result<()> {
        let gpu = &self.module.gpu;
        gpu.enter()?;
        let shared = config.dynamic_shared;
        let mut at: Vec<*mut c_void> = words.iter().map(|w| std::ptr::from_ref(w).cast_mut().cast()).collect();
        let [gx, gy, gz] = config.grid.map(|n| n as c_uint);
        let [bx, by, bz] = config.block.map(|n| n as c_uint);
        let (f, stream, at) = (self.function, null_mut(), at.as_mut_ptr());
        // SAFETY: by contract; the driver reads the words before it returns.
        unsafe {
            if shared > SHARED_BY_DEFAULT {
                gpu.driver.set_function_attribute((f, attribute::DYNAMIC_SHARED, shared as c_int))?;
            }
            if cooperative {
                gpu.driver.launch_cooperative((f, gx, gy, gz, bx, by, bz, shared as c_uint, stream, at))
            } else {
                gpu.driver.launch_kernel((f, gx, gy, gz, bx, by, bz, shared as c_uint, stream, at, null_mut()))
            }
        }
    }
}

/// A place in the stream's order whose time is known.
pub struct Event {
    gpu: Arc<Gpu>,
    event: Handle,
}

// SAFETY: as of `Gpu`.
unsafe impl Send for Event {}
// SAFETY: as of `Gpu`.
unsafe impl Sync for Event {}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made once.
        let _ = unsafe { self.gpu.driver.event_destroy((self.event,)) };
    }
}

impl Event {
    /// Notes the place after what has been started.
    ///
    /// # Errors
    /// As the driver says.
    pub fn record(gpu: &Arc<Gpu>) -> Result<Event> {
        gpu.enter()?;
        let mut event = null_mut();
        // SAFETY: the handle is written, then alive.
        unsafe {
            gpu.driver.event_create((&raw mut event, 0))?;
            let made = Event { gpu: gpu.clone(), event };
            gpu.driver.event_record((event, null_mut()))?;
            Ok(made)
        }
    }
    /// Milliseconds from another event, once both have passed.
    ///
    /// # Errors
    /// What went wrong before.
    pub fn since(&self, before: &Event) -> Result<f32> {
        let mut ms = 0.0;
        // SAFETY: both events are alive; the time is written.
        unsafe {
            self.gpu.driver.event_wait((self.event,))?;
            self.gpu.driver.event_elapsed((&raw mut ms, before.event, self.event))?;
        }
        Ok(ms)
    }
}

/// An order of work beside the default one.
pub struct Stream {
    gpu: Arc<Gpu>,
    stream: Handle,
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made once; the driver finishes what is in it.
        let _ = unsafe { self.gpu.driver.stream_destroy((self.stream,)) };
    }
}

impl Stream {
    /// A stream that does not wait for the default one.
    ///
    /// # Errors
    /// As the driver says.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Stream> {
        const NON_BLOCKING: c_uint = 1;
        gpu.enter()?;
        let mut stream = null_mut();
        // SAFETY: the handle is written.
        unsafe { gpu.driver.stream_create((&raw mut stream, NON_BLOCKING))? };
        Ok(Stream { gpu: gpu.clone(), stream })
    }
    /// Waits for what is in it.
    ///
    /// # Errors
    /// What went wrong in it.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        unsafe { self.gpu.driver.stream_wait((self.stream,)) }
    }
}
