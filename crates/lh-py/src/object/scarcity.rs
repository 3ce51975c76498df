//! Want of memory, in Rust's code and in LLVM's.
//!
//! Rust's allocator has a small room for what an exception takes, and is left by a panic otherwise ([`Emergency`]).
//! LLVM goes on as if memory had no end. So a compilation holds back a part of the address space, which is given back
//! when an allocation fails: the stages learn of it where they ask ([`is_spent`]), and end.

use crate::object::lock::lock;
use lh_runtime::{Emergency, OutOfMemory};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::resume_unwind;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

#[global_allocator]
static ALLOCATOR: Emergency = Emergency;

/// Called by Rust when the allocator has no memory; the linker puts it in place of the one that aborts.
#[unsafe(export_name = env!("LANCEHEAD_ALLOC_ERROR_HANDLER"))]
fn out_of_memory(bytes: usize, _align: usize) -> ! {
    resume_unwind(Box::new(OutOfMemory { bytes }))
}

/// Bytes that are held back: more than a function takes of which nobody would say that it is large.
const BYTES: usize = 96 << 20;

/// How many compilations hold it back, and where; null if it has been given back.
struct Reserve {
    holders: usize,
    place: *mut c_void,
}

// SAFETY: the mapping is nobody else's.
unsafe impl Send for Reserve {}

static RESERVE: Mutex<Reserve> = Mutex::new(Reserve { holders: 0, place: null_mut() });
static IS_SPENT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread compiles.
    static COMPILES: Cell<bool> = const { Cell::new(false) };
    /// The end of a thread that is in LLVM and gets no memory any more; it does not come back.
    static END: Cell<Option<fn() -> !>> = const { Cell::new(None) };
}

/// The reserve, while a compilation runs.
pub struct Held(bool);

/// Holds memory back for a compilation of this thread; `None` if there is too little.
pub fn hold() -> Option<Held> {
    let mut reserve = lock(&RESERVE);
    if reserve.holders == 0 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, which nobody reads.
        let place = unsafe { libc::mmap(null_mut(), BYTES, libc::PROT_NONE, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return None;
        }
        reserve.place = place;
        IS_SPENT.store(false, Ordering::Relaxed);
    }
    reserve.holders += 1;
    Some(Held(COMPILES.replace(true)))
}

impl Drop for Held {
    fn drop(&mut self) {
        COMPILES.set(self.0);
        let mut reserve = lock(&RESERVE);
        reserve.holders -= 1;
        if reserve.holders == 0 {
            give_back(&mut reserve);
            IS_SPENT.store(false, Ordering::Relaxed);
        }
    }
}

/// Whether the reserve has been used.
pub fn is_spent() -> bool {
    IS_SPENT.load(Ordering::Relaxed)
}

/// Marks this thread as one that only compiles for others, and that ends by a function when there is no memory.
pub fn compile_for_others(end: fn() -> !) {
    COMPILES.set(true);
    END.set(Some(end));
}

fn give_back(reserve: &mut Reserve) -> bool {
    let place = std::mem::replace(&mut reserve.place, null_mut());
    // SAFETY: the mapping of `hold`, which is unmapped once.
    !place.is_null() && unsafe { libc::munmap(place, BYTES) } == 0
}

/// Tries an allocation again after the reserve has been given back.
#[cold]
fn again(bytes: usize, allocate: impl Fn() -> *mut c_void) -> *mut c_void {
    if !COMPILES.get() || bytes > BYTES {
        return null_mut();
    }
    // Another thread may have given it back meanwhile.
    if give_back(&mut lock(&RESERVE)) {
        IS_SPENT.store(true, Ordering::Relaxed);
    }
    let block = allocate();
    match END.get() {
        Some(end) if block.is_null() => end(),
        _ => block,
    }
}

unsafe extern "C" {
    fn __real_malloc(bytes: usize) -> *mut c_void;
    fn __real_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __real_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn __real___cxa_thread_atexit_impl(
        destructor: unsafe extern "C" fn(*mut c_void),
        object: *mut c_void,
        module: *mut c_void,
    ) -> c_int;
}

/// The C library's function, for all code of this module.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_malloc(bytes: usize) -> *mut c_void {
    // SAFETY: a plain allocation.
    let allocate = || unsafe { __real_malloc(bytes) };
    let block = allocate();
    if block.is_null() { again(bytes, allocate) } else { block }
}

/// As [`__wrap_malloc`].
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_calloc(count: usize, bytes: usize) -> *mut c_void {
    // SAFETY: a plain allocation.
    let allocate = || unsafe { __real_calloc(count, bytes) };
    let block = allocate();
    if block.is_null() { again(count.saturating_mul(bytes), allocate) } else { block }
}

/// As [`__wrap_malloc`].
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as promised by the caller; a block that could not be moved is still there.
    let allocate = || unsafe { __real_realloc(block, bytes) };
    let moved = allocate();
    if moved.is_null() && bytes > 0 { again(bytes, allocate) } else { moved }
}

/// Registers a destructor of a thread's variable, unless there is no memory for that, where the C library would abort.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap___cxa_thread_atexit_impl(
    destructor: unsafe extern "C" fn(*mut c_void),
    object: *mut c_void,
    module: *mut c_void,
) -> c_int {
    // SAFETY: a block from which the C library gets its own next; the arguments are passed on.
    unsafe {
        // Freed blocks of this size are not kept for `malloc` alone.
        let block = __real_malloc(2048);
        if block.is_null() {
            return 0;
        }
        libc::free(block);
        __real___cxa_thread_atexit_impl(destructor, object, module)
    }
}
