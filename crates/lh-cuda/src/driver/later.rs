//! Resources that cannot be given back at once: memory while that is deferred, and all of them while a stream calls a
//! function, where the driver refuses all calls.

use super::{Gpu, Handle};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs the function that a stream calls: meanwhile nothing of this thread's is given back.
pub fn in_callback<T>(f: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IN_CALLBACK.set(self.0);
        }
    }
    let _before = Before(IN_CALLBACK.replace(true));
    f()
}

/// A resource of the driver's, by its handle or address.
#[derive(Clone, Copy)]
pub(super) enum Resource {
    Memory(u64),
    Host(u64),
    Event(usize),
    Stream(usize),
    Module(usize),
}

/// Resources that are still to be given back.
#[derive(Default)]
pub(super) struct Later {
    list: Mutex<List>,
    /// Whether there are some, for a look without the lock.
    is_some: AtomicBool,
}

#[derive(Default)]
struct List {
    /// How often freeing memory is deferred.
    depth: usize,
    resources: Vec<Resource>,
}

impl Later {
    fn lock(&self) -> MutexGuard<'_, List> {
        // Every change is whole.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gpu {
    /// Gives a resource back, now or later.
    pub(super) fn give_back(&self, resource: Resource) {
        let is_memory = matches!(resource, Resource::Memory(_));
        let mut list = self.later.lock();
        if IN_CALLBACK.get() || is_memory && list.depth > 0 {
            list.resources.push(resource);
            self.later.is_some.store(true, Ordering::Release);
        } else {
            drop(list);
            self.destroy(resource);
        }
    }

    /// Whether something is still to be given back: the next allocation does it, and may wait for what runs.
    pub fn has_rest(&self) -> bool {
        self.later.is_some.load(Ordering::Acquire)
    }

    /// Gives back what was left for later.
    pub(super) fn give_back_rest(&self) {
        if !self.has_rest() || IN_CALLBACK.get() {
            return;
        }
        let mut list = self.later.lock();
        let is_kept = |r: &Resource| matches!(r, Resource::Memory(_)) && list.depth > 0;
        let (kept, now): (Vec<_>, Vec<_>) = list.resources.iter().copied().partition(is_kept);
        self.later.is_some.store(!kept.is_empty(), Ordering::Release);
        list.resources = kept;
        drop(list);
        now.into_iter().for_each(|r| self.destroy(r));
    }

    /// Keeps memory that is freed until [`Gpu::free_deferred`], as often as this was called.
    pub fn defer(&self) {
        self.later.lock().depth += 1;
    }

    /// Ends [`Gpu::defer`].
    pub fn free_deferred(&self) {
        let mut list = self.later.lock();
        list.depth = list.depth.saturating_sub(1);
        drop(list);
        self.give_back_rest();
    }

    /// Gives a resource back to the driver. Errors are passed over: the call that caused them has told them.
    fn destroy(&self, resource: Resource) {
        let driver = &self.driver;
        let _ = self.enter();
        // SAFETY: each resource was made once, and whoever gives it back does not use it any more. Streams and events
        // end when what is in them is done. Memory may still be used by what was started before in streams that wait
        // for the default one, and is waited for by it: it is freed in that one's order. Host memory has no such order.
        let _ = unsafe {
            match resource {
                Resource::Memory(at) if self.pool.is_some() => driver.free_async(at, std::ptr::null_mut()),
                Resource::Memory(at) => driver.free(at),
                Resource::Host(at) => driver.synchronize().and_then(|()| driver.host_free(at as *mut c_void)),
                Resource::Event(event) => driver.event_destroy(event as Handle),
                Resource::Stream(stream) => driver.stream_destroy(stream as Handle),
                Resource::Module(module) => driver.module_unload(module as Handle),
            }
        };
    }
}
