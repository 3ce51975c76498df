//! The resident size of the process: a compilation reads 12 to 20 MB of the code of LLVM and of our own, which count as
//! memory of the process until something else needs the memory. When compiled code goes away, they go with it.

use crate::object::lock::lock;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A compilation that follows reads the pages again, from the cache of files, in half a millisecond.
const PAUSE: Duration = Duration::from_millis(40);
/// So many ends without a compilation between them say that none follows soon.
const ENDS: usize = 8;

static HAS_COMPILED: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicUsize = AtomicUsize::new(0);
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// Notes that something was compiled.
pub fn compiled() {
    HAS_COMPILED.store(true, Ordering::Relaxed);
    ENDED.store(0, Ordering::Relaxed);
}

/// Says that compiled code has ended.
pub fn ended() {
    if !HAS_COMPILED.load(Ordering::Relaxed) {
        return;
    }
    let is_over = ENDED.fetch_add(1, Ordering::Relaxed) >= ENDS;
    let mut last = lock(&LAST);
    if !is_over && last.is_some_and(|t| t.elapsed() < PAUSE) {
        return;
    }
    *last = Some(Instant::now());
    HAS_COMPILED.store(false, Ordering::Relaxed);
    if !is_traced() {
        // SAFETY: the callback only reads what it is given.
        unsafe { libc::dl_iterate_phdr(Some(leave), std::ptr::null_mut()) };
    }
}

/// Whether a debugger may have written breakpoints into the code, which would be lost.
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    !status.lines().any(|line| line.strip_prefix("TracerPid:").is_some_and(|pid| pid.trim() == "0"))
}

/// Whether one mapping of a file holds these addresses. Tools that move code to large pages put memory in its place,
/// which would be lost.
fn is_from_file(code: Range<u64>) -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let holds = |line: &str| {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let at = |text| u64::from_str_radix(text, 16).ok();
        let (from, to, inode) = (at(from)?, at(to)?, words.nth(3)?);
        (from <= code.start && code.end <= to).then(|| inode != "0")
    };
    *FOUND.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        maps.lines().find_map(holds).unwrap_or(false)
    })
}

/// Takes the pages of code out of the process, if the module is this one.
unsafe extern "C" fn leave(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader describes a module that is loaded. Its code is mapped from the file and has not been written
    // to, so that pages are read from there again when they are needed.
    unsafe {
        let own = (compiled as fn()) as usize as u64;
        let (base, headers) = ((*info).dlpi_addr, (*info).dlpi_phdr);
        let headers = std::slice::from_raw_parts(headers, usize::from((*info).dlpi_phnum));
        let is_code =
            |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD && h.p_flags & (libc::PF_X | libc::PF_W) == libc::PF_X;
        let Some(code) = headers
            .iter()
            .filter(is_code)
            .find(|h| (h.p_vaddr..h.p_vaddr + h.p_memsz).contains(&own.wrapping_sub(base)))
        else {
            return 0;
        };
        let page = libc::sysconf(libc::_SC_PAGESIZE) as u64;
        let (start, end) =
            ((base + code.p_vaddr).next_multiple_of(page), (base + code.p_vaddr + code.p_memsz) / page * page);
        if start < end && is_from_file(start..end) {
            libc::madvise(start as *mut c_void, (end - start) as usize, libc::MADV_DONTNEED);
        }
        1
    }
}
