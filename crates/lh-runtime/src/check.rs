//! Checks of memory accesses while code runs: of the iterations of parallel loops (`LANCEHEAD_RACE=1`) and of the
//! threads of kernels (`@cuda.jit(debug=True)`).
//!
//! Compiled code that is checked reports each access with the place in the source, the address and the size; the
//! functions here pass it to the check that is active on the thread. [`loops`] finds iterations that conflict,
//! [`kernels`] threads that do.

pub mod findings;
mod happens_before;
pub(crate) mod kernels;
mod loops;
mod shadow;
mod sites;

pub use findings::Finding;
pub use kernels::checked;
pub use sites::Site;

use crate::classes::PARALLEL_RACE_ERROR;
use crate::exception::raise;
use crate::memory::alloc::set_on_new;
use crate::symbol::{Symbol, functions};
use kernels::{Access, KernelCheck};
use lh_ops::runtime::access;
use loops::LoopCheck;
use sites::{Sites, Target};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;

/// The checks of a thread, and the places in the source that it has reported.
#[derive(Default)]
struct Checker {
    sites: Sites,
    target: Target,
    /// The bytes before the last store of a value that does not change in its loop.
    before: Vec<u8>,
    loops: LoopCheck,
    /// The launch of a kernel that is being checked.
    kernel: Option<Box<KernelCheck>>,
}

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static CHECKER: RefCell<Checker> = RefCell::default();
}

fn set_active(active: bool) {
    ACTIVE.set(active);
    set_on_new(active.then_some(on_new));
}

/// Whether a check is active on this thread.
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Begins the loop that compiled code has announced; false if it has announced none.
pub(crate) fn begin_loop() -> bool {
    let begun = CHECKER.with_borrow_mut(|c| c.loops.begin());
    if begun {
        set_active(true);
    }
    begun
}

/// Takes an announcement back: the loop has no iterations.
pub(crate) fn forget_loop() {
    CHECKER.with_borrow_mut(|c| c.loops.next = None);
}

/// Ends the loop that began last.
pub(crate) fn end_loop() {
    if CHECKER.with_borrow_mut(|c| c.loops.end()) {
        set_active(false);
        CHECKER.take();
    }
}

/// Forgets accesses to memory that has been allocated anew.
fn on_new(data: *const u8, bytes: usize) {
    if bytes > 0 {
        CHECKER.with_borrow_mut(|c| {
            c.loops.forget(data as i64, bytes as i64);
            if let Some(k) = &mut c.kernel {
                k.forget(data as i64, bytes as i64);
            }
        });
    }
}

/// Begins a checked launch.
fn begin_kernel(check: KernelCheck) {
    CHECKER.set(Checker { kernel: Some(Box::new(check)), ..Checker::default() });
    set_active(true);
}

/// Ends the launch that has begun.
fn end_kernel() -> Option<Box<KernelCheck>> {
    set_active(false);
    CHECKER.take().kernel
}

/// Calls `f` with the check of the launch that runs on this thread, if it is checked.
pub(crate) fn with_kernel(f: impl FnOnce(&mut KernelCheck, &Sites)) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| {
            if let Some(k) = &mut c.kernel {
                f(k, &c.sites);
            }
        });
    }
}

/// The place in the user's code that the running thread of a kernel is at.
pub(crate) fn place() -> u32 {
    if ACTIVE.get() { CHECKER.with_borrow(|c| c.sites.now) } else { 0 }
}

/// Restores the place when a thread of a kernel goes on.
pub(crate) fn set_place(place: u32) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.sites.now = place);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_loop(_owner: *const c_void, file: *const u8, len: i64, line: i64) {
    CHECKER.with_borrow_mut(|c| {
        let site = c.sites.number(file, len, line);
        c.loops.announce(site);
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_own(data: *const u8, bytes: i64) {
    CHECKER.with_borrow_mut(|c| c.loops.exempt(data as i64, bytes));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_iteration(iteration: i64) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.loops.iteration(iteration));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_place(_owner: *const c_void, file: *const u8, len: i64, line: i64) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.sites.now = c.sites.number(file, len, line));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_array(
    _owner: *const c_void,
    name: *const u8,
    len: i64,
    data: *const u8,
    item: i64,
) {
    if !ACTIVE.get() {
        return;
    }
    CHECKER.with_borrow_mut(|c| {
        c.target.name = (name, len);
        (c.target.data, c.target.item) = (data as i64, item);
        c.target.dims.clear();
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_extent(n: i64, stride: i64) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.target.dims.push((n, stride)));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_access(
    _owner: *const c_void,
    file: *const u8,
    len: i64,
    line: i64,
    address: *const u8,
    bytes: i64,
    kind: i64,
) -> i32 {
    if !ACTIVE.get() || bytes <= 0 {
        return 0;
    }
    let found = CHECKER.with_borrow_mut(|c| {
        let site = c.sites.number(file, len, line);
        if let Checker { kernel: Some(kernel), sites, target, .. } = c {
            kernel.access(&Access { sites, target, site, at: address as i64, bytes, kind });
            return None;
        }
        // SAFETY: compiled code stores to these bytes, or has just done so.
        let there = || unsafe { std::slice::from_raw_parts(address, bytes as usize) };
        if kind == access::BEFORE {
            c.before = there().to_vec();
            return None;
        }
        let is_same = kind == access::SAME && c.before == there();
        let conflict = c.loops.access(site, address as i64, bytes, kind != access::READ, is_same)?;
        Some(c.loops.text(&conflict, &c.sites, &c.target))
    });
    found.map_or(0, |text| raise(PARALLEL_RACE_ERROR, text))
}

/// As [`lh_race_access`], of the header of an object with items.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_header(
    owner: *const c_void,
    file: *const u8,
    len: i64,
    line: i64,
    header: *const c_void,
    bytes: i64,
    kind: i64,
) -> i32 {
    // Messages name the object without an index.
    CHECKER.with_borrow_mut(|c| c.target.dims.clear());
    // SAFETY: as for any access; the header is an address here only.
    unsafe { lh_race_access(owner, file, len, line, header.cast(), bytes, kind) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_memory(data: *const u8, bytes: i64, is_array: i64) {
    if bytes > 0 {
        with_kernel(|k, _| k.local(data as i64, bytes, is_array != 0));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_race_handed() {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| {
            if let (Some(k), (start, bytes @ 1..)) = (&mut c.kernel, c.target.extent()) {
                k.escapes((start, bytes));
            }
        });
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_race_handed;
        (_) lh_race_iteration;
        (_ _) lh_race_own lh_race_extent;
        (_ _ _) lh_race_memory;
        (_ _ _ _) lh_race_loop lh_race_place;
        (_ _ _ _ _) lh_race_array;
        (_ _ _ _ _ _ _) lh_race_access lh_race_header;
    }
}
