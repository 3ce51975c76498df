//! The table of functions through which C code of extensions of Numba manages memory (`nrt_external.h`). To that code
//! an owner is an address that it passes on.

use crate::alloc::{MemInfo, decref, incref, new_block, new_foreign};
use std::ffi::c_void;

type Release = unsafe extern "C" fn(*mut c_void);

/// How an extension allocates memory itself.
#[repr(C)]
struct Allocator {
    malloc: unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, usize, *mut c_void) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
    data: *mut c_void,
}

/// The table, in Numba's order.
#[repr(C)]
pub struct Api {
    allocate: unsafe extern "C" fn(usize) -> *mut MemInfo,
    allocate_external: unsafe extern "C" fn(usize, *mut Allocator) -> *mut MemInfo,
    manage_memory: unsafe extern "C" fn(*mut c_void, Release) -> *mut MemInfo,
    acquire: unsafe extern "C" fn(*mut MemInfo),
    release: unsafe extern "C" fn(*mut MemInfo),
    get_data: unsafe extern "C" fn(*mut MemInfo) -> *mut c_void,
}

/// The table of this process.
pub static API: Api = Api { allocate, allocate_external, manage_memory, acquire, release, get_data };

unsafe extern "C" fn allocate(size: usize) -> *mut MemInfo {
    new_block(size, false)
}

/// Memory from an extension's allocator, with that, which frees it.
struct External {
    memory: *mut c_void,
    allocator: *mut Allocator,
}

unsafe extern "C" fn free_external(owner: *mut c_void) {
    // SAFETY: `allocate_external` made it; the extension's allocator lives as long as its memory.
    unsafe {
        let external = Box::from_raw(owner.cast::<External>());
        ((*external.allocator).free)(external.memory, (*external.allocator).data);
    }
}

unsafe extern "C" fn allocate_external(size: usize, allocator: *mut Allocator) -> *mut MemInfo {
    if allocator.is_null() {
        return new_block(size, false);
    }
    // SAFETY: the extension passes its allocator.
    let memory = unsafe { ((*allocator).malloc)(size, (*allocator).data) };
    if memory.is_null() {
        return std::ptr::null_mut();
    }
    let owner = Box::into_raw(Box::new(External { memory, allocator }));
    new_foreign(memory.cast(), size, owner.cast(), free_external)
}

unsafe extern "C" fn manage_memory(data: *mut c_void, free: Release) -> *mut MemInfo {
    new_foreign(data.cast(), 0, data, free)
}

unsafe extern "C" fn acquire(mem: *mut MemInfo) {
    // SAFETY: the extension passes an owner that is alive.
    unsafe { incref(mem) };
}

unsafe extern "C" fn release(mem: *mut MemInfo) {
    // SAFETY: the extension gives back a reference that it has.
    unsafe { decref(mem) };
}

unsafe extern "C" fn get_data(mem: *mut MemInfo) -> *mut c_void {
    // SAFETY: the extension passes an owner that is alive.
    unsafe { (*mem).data.cast() }
}
