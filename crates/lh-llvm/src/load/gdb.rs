//! GDB's interface for code made at run time: a list of object files with the addresses of their sections.
//!
//! GDB finds the two symbols by name and sets a breakpoint on the function, so both must keep their names.

use std::ptr::null_mut;
use std::sync::Mutex;

#[repr(C)]
struct Entry {
    next: *mut Entry,
    prev: *mut Entry,
    file: *const u8,
    size: u64,
}

#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// The list, where GDB looks for it.
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };

/// GDB stops here and reads the list.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // Keeps the optimiser from removing the function.
    std::hint::black_box(());
}

static LOCK: Mutex<()> = Mutex::new(());

/// An object file registered with GDB until it is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    entry: *mut Entry,
    /// The object, which the entry points to.
    _object: Vec<u8>,
}

/// Registers an object with GDB; its section headers have addresses.
pub(crate) fn register(object: Vec<u8>) -> Registration {
    let entry = Entry { next: null_mut(), prev: null_mut(), file: object.as_ptr(), size: object.len() as u64 };
    let entry = Box::into_raw(Box::new(entry));
    let _guard = LOCK.lock();
    // SAFETY: the list is only changed under the lock; the entry is new and lives until it is unlinked. GDB only reads.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        (*entry).next = (*list).first;
        if !(*list).first.is_null() {
            (*(*list).first).prev = entry;
        }
        (*list).first = entry;
        announce(entry, REGISTER);
    }
    Registration { entry, _object: object }
}

/// # Safety
/// The lock is held, and the entry is in the list or has just left it.
unsafe fn announce(entry: *mut Entry, action: u32) {
    // SAFETY: by contract.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        (*list).relevant = entry;
        (*list).action = action;
    }
    __jit_debug_register_code();
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _guard = LOCK.lock();
        // SAFETY: the list is only changed under the lock; the entry is in it, and is freed after it has left it.
        unsafe {
            let (entry, list) = (self.entry, &raw mut __jit_debug_descriptor);
            if (*entry).prev.is_null() {
                (*list).first = (*entry).next;
            } else {
                (*(*entry).prev).next = (*entry).next;
            }
            if !(*entry).next.is_null() {
                (*(*entry).next).prev = (*entry).prev;
            }
            announce(entry, UNREGISTER);
            drop(Box::from_raw(entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Vec<usize> {
        let mut out = Vec::new();
        // SAFETY: the test below is the only one that registers.
        unsafe {
            let mut at = __jit_debug_descriptor.first;
            while !at.is_null() {
                out.push((*at).size as usize);
                at = (*at).next;
            }
        }
        out
    }

    #[test]
    fn objects_are_listed_until_dropped() {
        let (a, b, c) = (register(vec![0; 1]), register(vec![0; 2]), register(vec![0; 3]));
        assert_eq!(listed(), [3, 2, 1]);
        drop(b);
        assert_eq!(listed(), [3, 1]);
        drop(c);
        drop(a);
        assert_eq!(listed(), []);
    }
}
