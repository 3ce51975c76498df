//! A driver without a GPU, for tests: memory is the computer's, and its one kernel adds one to floats. It counts what
//! is alive, and lacks `cuStreamCreate`.
#![allow(clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref, reason = "the functions are the driver's")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

static ALIVE: AtomicI64 = AtomicI64::new(0);

macro_rules! functions {
    ($($name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int { #[allow(unused_unsafe)] unsafe { $body } 0 }
    )*};
}

#[unsafe(no_mangle)]
pub extern "C" fn fake_alive() -> i64 {
    ALIVE.load(SeqCst)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(out: *mut u64, bytes: usize) -> c_int {
    if bytes > 1 << 30 {
        return 2;
    }
    ALIVE.fetch_add(1, SeqCst);
    let memory = vec![0u8; bytes + 8].leak();
    unsafe { *out = memory.as_mut_ptr().addr().next_multiple_of(8) as u64 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    out: *mut *mut c_void,
    text: *const c_void,
    _: c_uint,
    _: *mut c_int,
    values: *mut *mut c_void,
) -> c_int {
    let text = unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy();
    if !text.contains(".entry") {
        let said = b"ptxas error: nothing to run\0";
        unsafe { std::ptr::copy_nonoverlapping(said.as_ptr(), (*values).cast(), said.len()) };
        return 218;
    }
    ALIVE.fetch_add(1, SeqCst);
    unsafe { *out = 7 as *mut c_void };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(out: *mut *mut c_void, _: *mut c_void, name: *const c_char) -> c_int {
    if unsafe { CStr::from_ptr(name) } != c"add_one" {
        return 500;
    }
    unsafe { *out = 8 as *mut c_void };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    _: *mut c_void,
    gx: c_uint,
    _: c_uint,
    _: c_uint,
    bx: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: *mut c_void,
    words: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    if bx > 1024 {
        return 1;
    }
    unsafe {
        let (at, n) = (*(*words).cast::<u64>(), *(*words.add(1)).cast::<u32>());
        for i in 0..n.min(gx * bx) {
            *(at as *mut f32).add(i as usize) += 1.0;
        }
    }
    0
}

functions! {
    cuInit(_flags: c_uint) {}
    cuDriverGetVersion(out: *mut c_int) { *out = 12040 }
    cuDeviceGetCount(out: *mut c_int) { *out = 1 }
    cuDeviceGet(out: *mut c_int, n: c_int) { *out = n }
    cuDeviceGetName(out: *mut c_char, _n: c_int, _d: c_int) { std::ptr::copy_nonoverlapping(c"a fake".as_ptr(), out, 7) }
    cuDeviceGetAttribute(out: *mut c_int, what: c_int, _d: c_int) { *out = match what { 75 => 8, 76 => 6, _ => 0 } }
    cuDevicePrimaryCtxRetain(out: *mut *mut c_void, _d: c_int) { ALIVE.fetch_add(1, SeqCst); *out = 1 as *mut c_void }
    cuDevicePrimaryCtxRelease_v2(_d: c_int) { ALIVE.fetch_sub(1, SeqCst); }
    cuCtxSetCurrent(_c: *mut c_void) {}
    cuCtxSynchronize() {}
    cuModuleUnload(_m: *mut c_void) { ALIVE.fetch_sub(1, SeqCst); }
    cuFuncGetAttribute(out: *mut c_int, what: c_int, _f: *mut c_void) { *out = 10 + what }
    cuMemFree_v2(_p: u64) { ALIVE.fetch_sub(1, SeqCst); }
    cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, n: usize, _s: *mut c_void) {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, n)
    }
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, n: usize, _s: *mut c_void) {
        std::ptr::copy_nonoverlapping(from as *const u8, to.cast(), n)
    }
    cuStreamSynchronize(_s: *mut c_void) {}
    cuEventCreate(out: *mut *mut c_void, _f: c_uint) { ALIVE.fetch_add(1, SeqCst); *out = 9 as *mut c_void }
    cuEventRecord(_e: *mut c_void, _s: *mut c_void) {}
    cuEventSynchronize(_e: *mut c_void) {}
    cuEventElapsedTime(out: *mut f32, _a: *mut c_void, _b: *mut c_void) { *out = 1.5 }
    cuEventDestroy_v2(_e: *mut c_void) { ALIVE.fetch_sub(1, SeqCst); }
    cuGetErrorName(code: c_int, out: *mut *const c_char) {
        *out = match code { 2 => c"CUDA_ERROR_OUT_OF_MEMORY", 218 => c"CUDA_ERROR_INVALID_PTX", 500 => c"CUDA_ERROR_NOT_FOUND", _ => c"CUDA_ERROR_INVALID_VALUE" }.as_ptr()
    }
    cuGetErrorString(_code: c_int, out: *mut *const c_char) { *out = c"as the fake says".as_ptr() }
}
