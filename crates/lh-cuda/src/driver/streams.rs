//! Streams and events: the order of a GPU's work.

use super::{DriverError, Gpu, Handle, Resource, Result};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

/// A place in a stream's order, whose time may be known.
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
        // The driver keeps what is still to be passed.
        self.gpu.give_back(Resource::Event(self.event.addr()));
    }
}

impl Event {
    /// A place that is still to be noted.
    pub fn new(gpu: &Arc<Gpu>, timing: bool) -> Result<Event> {
        const WITHOUT_TIME: c_uint = 2;
        gpu.enter()?;
        let mut event = null_mut();
        // SAFETY: the handle is written.
        unsafe { gpu.driver.event_create(&raw mut event, if timing { 0 } else { WITHOUT_TIME })? };
        Ok(Event { gpu: gpu.clone(), event })
    }
    /// The driver's handle.
    pub(super) fn handle(&self) -> Handle {
        self.event
    }
    /// Notes the place after what has been put into a stream.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.gpu.enter()?;
        // SAFETY: both are alive.
        stream.with(|s| unsafe { self.gpu.driver.event_record(self.event, s) })
    }
    /// Whether its stream has passed it.
    pub fn has_passed(&self) -> Result<bool> {
        const NOT_READY: i32 = 600;
        self.gpu.enter()?;
        // SAFETY: the event is alive.
        match unsafe { self.gpu.driver.event_query(self.event) } {
            Err(e) if e.code == NOT_READY => Ok(false),
            other => other.map(|()| true),
        }
    }
    /// Waits until its stream has passed it.
    pub fn wait(&self) -> Result<()> {
        self.gpu.enter()?;
        // SAFETY: the event is alive.
        unsafe { self.gpu.driver.event_wait(self.event) }
    }
    /// Makes a stream wait until this event's has passed it.
    pub fn hold(&self, stream: &Stream) -> Result<()> {
        stream.gpu.enter()?;
        // SAFETY: both are alive.
        stream.with(|s| unsafe { self.gpu.driver.stream_wait_event(s, self.event, 0) })
    }
    /// Milliseconds from another event, once both have passed.
    pub fn since(&self, before: &Event) -> Result<f32> {
        let mut ms = 0.0;
        self.gpu.enter()?;
        // SAFETY: both events are alive; the time is written.
        unsafe { self.gpu.driver.event_elapsed(&raw mut ms, before.event, self.event)? };
        Ok(ms)
    }
}

/// A callback of a stream: the driver passes the stream, the number of an error or 0, and the pointer it was given.
pub type Callback = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);

/// An order of work.
pub struct Stream {
    gpu: Arc<Gpu>,
    /// The driver's handle, which for the default streams is 0, 1 or 2; none if it was closed.
    handle: RwLock<Option<usize>>,
    is_own: bool,
    /// Events that make this stream and the default stream wait for each other, if another library has made it so that
    /// they do not.
    joints: Option<[Event; 2]>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.close();
    }
}

impl Stream {
    /// A new one. It waits for the default stream, and that for it.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Stream> {
        gpu.enter()?;
        let mut stream = null_mut();
        // SAFETY: the handle is written.
        unsafe { gpu.driver.stream_create(&raw mut stream, 0)? };
        Ok(Stream { gpu: gpu.clone(), handle: RwLock::new(Some(stream.addr())), is_own: true, joints: None })
    }
    /// The default one, for which others wait.
    pub fn null(gpu: &Arc<Gpu>) -> Stream {
        Stream { gpu: gpu.clone(), handle: RwLock::new(Some(0)), is_own: false, joints: None }
    }
    /// The one of a handle: a default stream, or one that was made by others.
    pub fn at(gpu: &Arc<Gpu>, handle: usize) -> Result<Stream> {
        const DEFAULTS: usize = 2;
        const NON_BLOCKING: c_uint = 1;
        let mut stream = Stream::null(gpu);
        stream.handle = RwLock::new(Some(handle));
        gpu.enter()?;
        let mut flags = 0;
        // SAFETY: whoever has the handle says that it is a stream's; the flags are written.
        if handle > DEFAULTS && unsafe { gpu.driver.stream_flags(handle as Handle, &raw mut flags) }.is_ok() {
            let is_apart = flags & NON_BLOCKING != 0;
            stream.joints = if is_apart { Some([Event::new(gpu, false)?, Event::new(gpu, false)?]) } else { None };
        }
        Ok(stream)
    }
    /// The driver's handle; none if it was closed.
    pub fn handle(&self) -> Option<usize> {
        *self.handle.read().unwrap_or_else(PoisonError::into_inner)
    }
    /// Ends it; the driver finishes what is in it.
    pub fn close(&self) {
        let handle = self.handle.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(handle) = handle.filter(|_| self.is_own) {
            // Every use of it holds the lock.
            self.gpu.give_back(Resource::Stream(handle));
        }
    }
    /// Calls `f` with the handle, which lives as long. Work that `f` puts into the stream runs after the allocation of
    /// memory that was allocated in the default stream's order, and before that memory is freed.
    pub(super) fn with<T>(&self, f: impl FnOnce(Handle) -> Result<T>) -> Result<T> {
        let handle = self.handle.read().unwrap_or_else(PoisonError::into_inner);
        match (*handle, &self.joints) {
            (Some(h), None) => f(h as Handle),
            (Some(h), Some([before, after])) => {
                let (driver, h) = (&self.gpu.driver, h as Handle);
                // SAFETY: streams and events are alive.
                unsafe {
                    if self.gpu.awaited.load(Ordering::Acquire) != self.gpu.allocations.load(Ordering::Acquire) {
                        driver.event_record(before.event, null_mut())?;
                        driver.stream_wait_event(h, before.event, 0)?;
                    }
                    let done = f(h)?;
                    driver.event_record(after.event, h)?;
                    driver.stream_wait_event(null_mut(), after.event, 0)?;
                    Ok(done)
                }
            }
            (None, _) => Err(DriverError {
                function: "cuStreamSynchronize",
                code: 400,
                name: "CUDA_ERROR_INVALID_HANDLE".to_owned(),
                text: "the stream is closed".to_owned(),
            }),
        }
    }
    /// Waits for what is in it.
    pub fn wait(&self) -> Result<()> {
        self.gpu.enter()?;
        // Waiting takes long, and whoever closes it meanwhile shall not.
        let handle = match self.handle() {
            Some(handle) => handle,
            None => self.with(Ok)?.addr(),
        };
        // Others allocate while this waits.
        let allocations = self.gpu.allocations.load(Ordering::Acquire);
        // SAFETY: alive, or closed by another thread: then the driver says so.
        unsafe { self.gpu.driver.stream_wait(handle as Handle)? };
        if handle == 0 {
            self.gpu.awaited.fetch_max(allocations, Ordering::AcqRel);
        }
        Ok(())
    }
    /// Has a function called when the stream comes to it, from a thread of the driver's.
    ///
    /// # Safety
    /// The function may be called with what it is given from any thread, once.
    pub unsafe fn call(&self, function: Callback, given: *mut c_void) -> Result<()> {
        self.gpu.enter()?;
        // SAFETY: by contract.
        self.with(|s| unsafe { self.gpu.driver.stream_callback(s, function, given, 0) })
    }
}
