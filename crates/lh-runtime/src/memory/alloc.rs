//! Counted memory: the owner of array and string data.
//!
//! Every counted object starts with a [`MemInfo`]. Compiled code takes references itself and drops them
//! with [`lh_decref`]. Destroying an object that holds others does not recurse: objects whose count drops to zero with
//! it are queued through their headers, so that a container nested a million deep needs no stack.

use crate::classes::MEMORY_ERROR;
use crate::exception::raise;
use crate::memory::live_count::{count_live, live};
use crate::memory::starts::Starts;
use crate::memory::{block_cache, small_blocks};
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering, fence};

/// Alignment of array data, bytes.
pub const DATA_ALIGN: usize = 64;
/// From this size on, huge pages are asked for.
const HUGE: usize = 4 << 20;

/// From this size on, blocks begin at different places of their pages. Processors compare the low 12 bits of addresses
/// only when they let loads pass stores, so that a loop over arrays that begin at one place of a page would stall.
const STAGGERED: usize = 64 << 10;

/// Up to this size memory is zeroed here; larger blocks come zeroed from the system.
const SMALL: usize = 16 << 10;

/// Bytes of a block beside its data.
fn overhead(size: usize) -> usize {
    size_of::<MemInfo>() + DATA_ALIGN + if size >= STAGGERED { 4096 } else { 0 }
}

/// Frees an object whose count is zero, and drops the references that it holds.
pub type Destructor = unsafe extern "C" fn(*mut MemInfo);

/// Header of a counted object. Compiled code knows the offsets.
#[repr(C)]
#[derive(Debug)]
pub struct MemInfo {
    /// Number of references. Once it is zero, the link of the queue of dying objects.
    pub refcount: AtomicI64,
    /// The function that frees it.
    pub dtor: Destructor,
    /// The data.
    pub data: *mut u8,
    /// Size of the data, bytes.
    pub size: usize,
}

/// Memory owned by somebody else.
#[repr(C)]
struct Foreign {
    mem: MemInfo,
    owner: *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
    /// If the memory is a text's, the table of its characters' positions: see `strings/index.rs`.
    starts: OnceLock<Starts>,
}

/// Result of an allocation: owner and data.
#[repr(C)]
#[derive(Debug)]
pub struct Allocation {
    /// Owner.
    pub mem: *mut MemInfo,
    /// First byte.
    pub data: *mut u8,
}

thread_local! {
    static RELEASING: Cell<bool> = const { Cell::new(false) };
    static DYING: Cell<*mut MemInfo> = const { Cell::new(ptr::null_mut()) };
}

/// A block of memory with one reference, header and data in one piece; null when there is no memory.
pub fn new_block(size: usize, zeroed: bool) -> *mut MemInfo {
    let Some(total) = size.checked_add(overhead(size)).filter(|t| *t <= isize::MAX as usize) else {
        return ptr::null_mut();
    };
    let room = block_cache::room(total);
    let old = block_cache::take(room);
    // `calloc` gets large blocks as fresh zero pages and does not touch them; for small ones `malloc` is far quicker.
    let fresh = zeroed && size > SMALL && old.is_null();
    // SAFETY: plain C allocation.
    let new = || if fresh { unsafe { libc::calloc(room, 1) }.cast() } else { small_blocks::new(room) };
    let raw = if old.is_null() { new() } else { old };
    if raw.is_null() {
        return ptr::null_mut();
    }
    let data = raw.wrapping_add(size_of::<MemInfo>());
    let mut data = data.wrapping_add(data.align_offset(DATA_ALIGN));
    if size >= STAGGERED {
        // NumPy's large arrays begin near the beginning of a page.
        data = data.wrapping_add(256 + raw.addr() / 4096 % 8 * 512);
    }
    if zeroed && !fresh {
        // SAFETY: the block has room for `size` bytes from there on.
        unsafe { data.write_bytes(0, size) };
    }
    if size >= HUGE && old.is_null() {
        advise_huge(data, size);
    }
    let mem = raw.cast::<MemInfo>();
    // SAFETY: `raw` has room for the header, which lies below `data`; `malloc` aligns for it.
    unsafe { mem.write(MemInfo { refcount: AtomicI64::new(1), dtor: free_block, data, size }) };
    count_live(1);
    announce(data, size);
    mem
}

/// A block with the bytes of a text behind its header, and room that later parts of the text may take.
#[repr(C)]
struct TextBlock {
    mem: MemInfo,
    /// Number of bytes that belong to texts. The bytes behind them are nobody's.
    used: AtomicUsize,
    /// The thread that made it: [`this_thread`].
    maker: usize,
}

/// A number that no other living thread has.
#[inline]
fn this_thread() -> usize {
    RELEASING.with(|cell| ptr::from_ref(cell).addr())
}

/// A block for a text, with room for so many bytes: they follow the header, without the alignment of arrays, and freed
/// blocks are not kept for later arrays. `used` of them belong to the text. Null when there is no memory.
#[inline]
pub(crate) fn new_text_block(used: usize, room: usize) -> *mut MemInfo {
    // The C library gives multiples of 16 bytes; what is behind the text is room for it to grow.
    let total = room.checked_add(size_of::<TextBlock>()).and_then(|t| t.checked_next_multiple_of(16));
    let Some(total) = total.filter(|t| *t <= isize::MAX as usize) else { return ptr::null_mut() };
    let raw = small_blocks::new(total).cast::<TextBlock>();
    if raw.is_null() {
        return ptr::null_mut();
    }
    let (data, size) = (raw.wrapping_add(1).cast::<u8>(), total - size_of::<TextBlock>());
    let mem = MemInfo { refcount: AtomicI64::new(1), dtor: free_text_block, data, size };
    // SAFETY: `raw` has room for the header; `malloc` aligns for it.
    unsafe { raw.write(TextBlock { mem, used: AtomicUsize::new(used), maker: this_thread() }) };
    count_live(1);
    announce(data, size);
    raw.cast()
}

/// Whether a text has taken the bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extended {
    Yes,
    /// It is the last text of its block, which has too little room.
    Full,
    /// Others have bytes behind it, or its memory is no block of texts.
    No,
}

/// Takes so many bytes behind a text for its continuation. Only the thread that made the block may, so that no two do.
///
/// # Safety
/// `mem` is null or a live counted object, and owns a text that ends at `end`.
#[inline]
pub(crate) unsafe fn extend_text(mem: *mut MemInfo, end: *const u8, more: usize) -> Extended {
    // SAFETY: the caller's promise; an object with this destructor is a `TextBlock`.
    unsafe {
        if mem.is_null() || (*mem).dtor as usize != free_text_block as *const () as usize {
            return Extended::No;
        }
        let block = &*mem.cast::<TextBlock>();
        let at = end as usize - block.mem.data as usize;
        if block.maker != this_thread() || block.used.load(Ordering::Relaxed) != at {
            return Extended::No;
        }
        if more > block.mem.size - at {
            return Extended::Full;
        }
        block.used.store(at + more, Ordering::Relaxed);
        Extended::Yes
    }
}

/// Destructor of [`new_text_block`]. Compared by address, see [`free_block`].
#[inline(never)]
unsafe extern "C" fn free_text_block(mem: *mut MemInfo) {
    count_live(-1);
    // SAFETY: `new_text_block` allocated it, and nobody refers to it any more.
    unsafe { small_blocks::free(mem.cast(), (*mem).size + size_of::<TextBlock>()) };
}

/// A function that learns of new memory: its first byte and its size.
pub(crate) type OnNew = fn(*const u8, usize);

thread_local! {
    /// Called for memory that this thread allocates, while accesses to memory are checked.
    static ON_NEW: Cell<Option<OnNew>> = const { Cell::new(None) };
}

/// Sets the function that learns of memory that this thread allocates.
pub(crate) fn set_on_new(hook: Option<OnNew>) {
    ON_NEW.set(hook);
}

/// Tells of memory that has just been allocated.
#[inline]
pub(crate) fn announce(data: *const u8, size: usize) {
    if let Some(hook) = ON_NEW.get() {
        hook(data, size);
    }
}

/// Asks for huge pages: fewer page faults while large arrays are first written.
fn advise_huge(data: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let skip = data.align_offset(PAGE);
    let len = (size - skip) & !(PAGE - 1);
    // SAFETY: advice about pages that lie wholly inside our allocation; it does not change their contents.
    unsafe { libc::madvise(data.wrapping_add(skip).cast(), len, libc::MADV_HUGEPAGE) };
}

/// Destructor of [`new_block`]. Compared by address: never inlined, so that there is one copy of it.
#[inline(never)]
unsafe extern "C" fn free_block(mem: *mut MemInfo) {
    count_live(-1);
    // SAFETY: the header is the start of what `new_block` allocated for that size, and nobody refers to it any more.
    unsafe {
        match block_cache::room((*mem).size + overhead((*mem).size)) {
            room @ 0..block_cache::LEAST => small_blocks::free(mem.cast(), room),
            room => block_cache::give(mem.cast(), room),
        }
    }
}

/// An owner for memory that belongs to a foreign object: when the last reference goes, `release(owner)` is called.
/// Null when there is no memory (then `release` is not called).
pub fn new_foreign(
    data: *mut u8,
    size: usize,
    owner: *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
) -> *mut MemInfo {
    let foreign = small_blocks::new(size_of::<Foreign>()).cast::<Foreign>();
    if !foreign.is_null() {
        let mem = MemInfo { refcount: AtomicI64::new(1), dtor: free_foreign, data, size };
        // SAFETY: just allocated, with that size; `malloc` aligns for it.
        unsafe { foreign.write(Foreign { mem, owner, release, starts: OnceLock::new() }) };
        count_live(1);
    }
    foreign.cast()
}

/// Owner of memory made by [`new_foreign`] with this `release`, if it is one. `release` is compared by address: mark it
/// `#[inline(never)]`, so that there is one copy of it.
///
/// # Safety
/// `mem` is null or a live counted object.
pub unsafe fn foreign_owner(mem: *mut MemInfo, release: unsafe extern "C" fn(*mut c_void)) -> Option<*mut c_void> {
    // SAFETY: the caller's promise; an object with this destructor is a `Foreign`.
    unsafe {
        if mem.is_null() || (*mem).dtor as usize != free_foreign as *const () as usize {
            return None;
        }
        let foreign = &*mem.cast::<Foreign>();
        (foreign.release as usize == release as usize).then_some(foreign.owner)
    }
}

/// The text in memory made by [`new_foreign`], and the table of its characters' positions.
///
/// # Safety
/// `mem` is null or a live counted object.
pub(crate) unsafe fn foreign_text<'a>(mem: *mut MemInfo) -> Option<(&'a Text, &'a OnceLock<Starts>)> {
    // SAFETY: the caller's promise; an object with this destructor is a `Foreign`.
    unsafe {
        if mem.is_null() || (*mem).dtor as usize != free_foreign as *const () as usize || (*mem).size == 0 {
            return None;
        }
        let bytes = std::slice::from_raw_parts((*mem).data, (*mem).size);
        Some((Text::of(bytes), &(*mem.cast::<Foreign>()).starts))
    }
}

/// Destructor of [`new_foreign`]. Compared by address, see [`free_block`].
#[inline(never)]
unsafe extern "C" fn free_foreign(mem: *mut MemInfo) {
    let foreign = mem.cast::<Foreign>();
    count_live(-1);
    // SAFETY: only objects made by `new_foreign` have this destructor, and nobody refers to it any more.
    unsafe {
        ((*foreign).release)((*foreign).owner);
        ptr::drop_in_place(&raw mut (*foreign).starts);
        small_blocks::free(foreign.cast(), size_of::<Foreign>());
    }
}

/// Takes a reference.
///
/// # Safety
/// `mem` is null or a live counted object.
pub unsafe fn incref(mem: *mut MemInfo) {
    // SAFETY: the caller's promise.
    unsafe { incref_by(mem, 1) }
}

/// Takes so many references.
///
/// # Safety
/// `mem` is null or a live counted object.
#[inline]
pub(crate) unsafe fn incref_by(mem: *mut MemInfo, count: i64) {
    if !mem.is_null() {
        // SAFETY: the caller's promise.
        unsafe { (*mem).refcount.fetch_add(count, Ordering::Relaxed) };
    }
}

/// Gives a new object so many references in place of its first one.
///
/// # Safety
/// `mem` is a live counted object, to which nobody else refers; the count is at least 1.
pub unsafe fn set_references(mem: *mut MemInfo, count: i64) {
    // SAFETY: the caller's promise.
    unsafe { *(*mem).refcount.get_mut() = count };
}

/// Drops a reference.
///
/// # Safety
/// `mem` is null or a live counted object, one of whose references is the caller's.
#[inline]
pub unsafe fn decref(mem: *mut MemInfo) {
    // SAFETY: the caller's promise.
    unsafe { decref_by(mem, 1) }
}

/// Drops so many references.
///
/// # Safety
/// `mem` is null or a live counted object, so many of whose references are the caller's.
#[inline]
pub(crate) unsafe fn decref_by(mem: *mut MemInfo, count: i64) {
    // SAFETY: the caller's promise. The last references need no atomic subtraction, since nobody is left to take
    // another; acquiring makes other threads' last uses happen before the release.
    unsafe {
        if mem.is_null() {
            return;
        }
        if (*mem).refcount.load(Ordering::Acquire) == count {
            release(mem);
        } else if (*mem).refcount.fetch_sub(count, Ordering::Release) == count {
            fence(Ordering::Acquire);
            release(mem);
        }
    }
}

/// Drops a reference, for compiled code.
///
/// # Safety
/// As of [`decref`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_decref(mem: *mut MemInfo) {
    // SAFETY: the caller's promise.
    unsafe { decref(mem) }
}

/// Frees an object whose last reference is gone, or is the caller's.
///
/// # Safety
/// `mem` is a counted object to which no other reference is left.
unsafe fn release(mem: *mut MemInfo) {
    // SAFETY: the caller's promise; objects in the queue are in the same state.
    unsafe {
        let dtor = (*mem).dtor;
        // These hold no other objects.
        if dtor as usize == free_block as *const () as usize || dtor as usize == free_text_block as *const () as usize {
            dtor(mem);
            return;
        }
        if RELEASING.replace(true) {
            (*mem).refcount.store(DYING.get().expose_provenance() as i64, Ordering::Relaxed);
            DYING.set(mem);
            return;
        }
        dtor(mem);
        loop {
            let next = DYING.get();
            if next.is_null() {
                break;
            }
            let link = (*next).refcount.load(Ordering::Relaxed) as usize;
            DYING.set(ptr::with_exposed_provenance_mut(link));
            ((*next).dtor)(next);
        }
        RELEASING.set(false);
    }
}

/// Runs code of a program while an object is freed: what that frees is freed at once, not after the object.
pub(crate) fn while_freeing(run: impl FnOnce()) {
    let (releasing, dying) = (RELEASING.replace(false), DYING.replace(ptr::null_mut()));
    run();
    RELEASING.set(releasing);
    DYING.set(dying);
}

/// Raises MemoryError for a request of this size; returns the failure status.
#[cold]
pub(crate) fn no_memory(bytes: i128) -> i32 {
    if bytes < 0 {
        return raise(MEMORY_ERROR, "Unable to allocate memory of negative size");
    }
    raise(MEMORY_ERROR, format!("Unable to allocate {bytes} bytes"))
}

unsafe fn allocate(bytes: i64, zeroed: bool, out: *mut Allocation) -> i32 {
    let Ok(size) = usize::try_from(bytes) else { return no_memory(i128::from(bytes)) };
    let mem = new_block(size, zeroed);
    if mem.is_null() {
        return no_memory(i128::from(bytes));
    }
    // SAFETY: `mem` was just made; the caller passes room for the result.
    unsafe { out.write(Allocation { mem, data: (*mem).data }) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_alloc(bytes: i64, out: *mut Allocation) -> i32 {
    // SAFETY: compiled code passes room for the result.
    unsafe { allocate(bytes, false, out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_calloc(bytes: i64, out: *mut Allocation) -> i32 {
    // SAFETY: compiled code passes room for the result.
    unsafe { allocate(bytes, true, out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_memmove(to: *mut u8, from: *const u8, bytes: i64) {
    if let Ok(n) = usize::try_from(bytes)
        && n > 0
    {
        // SAFETY: compiled code passes regions of that size.
        unsafe { ptr::copy(from, to, n) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_copy_row(to: *mut u8, stride: i64, from: *const u8, n: i64, size: i64) {
    let (Ok(n), Ok(size)) = (usize::try_from(n), usize::try_from(size)) else { return };
    // SAFETY: compiled code passes so many items of that size, in memory that does not overlap.
    unsafe {
        match size {
            _ if stride == size as i64 => ptr::copy_nonoverlapping(from, to, n * size),
            1 => copy_strided::<u8>(to, stride, from, n),
            2 => copy_strided::<u16>(to, stride, from, n),
            4 => copy_strided::<u32>(to, stride, from, n),
            8 => copy_strided::<u64>(to, stride, from, n),
            16 => copy_strided::<u128>(to, stride, from, n),
            _ => {
                for i in 0..n {
                    ptr::copy_nonoverlapping(from.add(i * size), to.offset(i as isize * stride as isize), size);
                }
            }
        }
    }
}

/// Copies adjacent items of one size.
///
/// # Safety
/// Both regions have so many items and do not overlap.
unsafe fn copy_strided<T>(to: *mut u8, stride: i64, from: *const u8, n: usize) {
    for i in 0..n {
        // SAFETY: by contract; items may lie anywhere.
        unsafe {
            let item = from.cast::<T>().add(i).read_unaligned();
            to.offset(i as isize * stride as isize).cast::<T>().write_unaligned(item);
        }
    }
}

/// Number of live counted objects.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn lh_live_allocations() -> i64 {
    live()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_mem_data(mem: *const MemInfo) -> *mut u8 {
    // SAFETY: compiled code passes an owner that is alive, or null.
    if mem.is_null() { std::ptr::null_mut() } else { unsafe { (*mem).data } }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_live_allocations;
        (_) lh_decref lh_mem_data;
        (_ _) lh_alloc lh_calloc;
        (_ _ _) lh_memmove;
        (_ _ _ _ _) lh_copy_row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn alloc(bytes: i64, zeroed: bool) -> Option<Allocation> {
        let mut out = Allocation { mem: ptr::null_mut(), data: ptr::null_mut() };
        // SAFETY: `out` is room for the result.
        let status = unsafe { if zeroed { lh_calloc(bytes, &mut out) } else { lh_alloc(bytes, &mut out) } };
        (status == 0).then_some(out)
    }

    #[test]
    fn data_are_aligned_and_zeroed_on_request() {
        for bytes in [0, 1, 8, 100, 4096, 9 << 20] {
            let a = alloc(bytes, true).unwrap();
            assert_eq!(a.data.addr() % DATA_ALIGN, 0);
            // SAFETY: freshly allocated, of that size, initialised by `calloc`.
            unsafe {
                assert!(std::slice::from_raw_parts(a.data, bytes as usize).iter().all(|b| *b == 0));
                if bytes > 0 {
                    a.data.add(bytes as usize - 1).write(7);
                }
                assert_eq!((*a.mem).size, bytes as usize);
                decref(a.mem);
            }
        }
    }

    #[test]
    fn impossible_sizes_raise_memory_error() {
        for bytes in [-1, i64::MIN, i64::MAX, i64::MAX - 40] {
            assert!(alloc(bytes, false).is_none());
            assert_eq!(take_pending().unwrap().class, MEMORY_ERROR);
        }
    }

    #[test]
    fn foreign_memory_is_given_back_once() {
        static RELEASED: AtomicI64 = AtomicI64::new(0);
        #[inline(never)]
        unsafe extern "C" fn release(owner: *mut c_void) {
            assert_eq!(owner.addr(), 0x1234);
            RELEASED.fetch_add(1, Ordering::Relaxed);
        }
        let mut bytes = [1u8, 2];
        let mem = new_foreign(bytes.as_mut_ptr(), 2, ptr::without_provenance_mut(0x1234), release);
        // SAFETY: a live object with one reference, to which another is added.
        unsafe {
            assert_eq!(foreign_owner(mem, release).map(|p| p.addr()), Some(0x1234));
            incref(mem);
            decref(mem);
            assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
            decref(mem);
        }
        assert_eq!(RELEASED.load(Ordering::Relaxed), 1);
    }
}
