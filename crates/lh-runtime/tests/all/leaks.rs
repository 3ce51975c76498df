//! Nothing leaks. The test runs in a process of its own, in which the number of live allocations can be told exactly.

use lh_runtime::alloc::{MemInfo, decref, lh_live_allocations};
use lh_runtime::items::{Items, ItemsRef};
use lh_runtime::{StrValue, address, take_pending};
use std::process::Command;
use std::ptr;

type Split = unsafe extern "C" fn(*mut MemInfo, *const u8, i64, i64, *mut Items) -> i32;
type Concat = unsafe extern "C" fn(*mut MemInfo, *const u8, i64, *mut MemInfo, *const u8, i64, *mut StrValue) -> i32;
type GetItem = unsafe extern "C" fn(*mut MemInfo, *const u8, i64, i64, *mut StrValue) -> i32;

/// Something that sends an object to another thread, as compiled code may.
struct Sent(*mut Items);
// SAFETY: counts are atomic, and the sender keeps no reference.
unsafe impl Send for Sent {}

fn words(text: &str) -> ItemsRef {
    let at = address("lh_str_split_space").expect("it exists");
    let parts = ItemsRef::new(0, size_of::<StrValue>(), 1).expect("there is memory");
    // SAFETY: the address is that of a function of this type; the text is copied into a string that is released.
    unsafe {
        let split = std::mem::transmute::<usize, Split>(at);
        let s = StrValue::new(text).expect("there is memory");
        assert_eq!(split(s.mem, s.data, s.len, -1, parts.as_ptr()), 0);
        decref(s.mem);
    }
    parts
}

#[test]
fn everything_is_released() {
    if std::env::var_os("LH_ALONE").is_some() {
        return release_everything();
    }
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let run = command.args(["--exact", "leaks::everything_is_released"]).env("LH_ALONE", "1").output();
    let run = run.expect("it starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}

fn release_everything() {
    assert_eq!(lh_live_allocations(), 0);
    let list = words("a bc def");
    // The header and the text that the three parts share.
    assert_eq!(lh_live_allocations(), 2);
    let again = list.clone();
    drop(list);
    assert_eq!(lh_live_allocations(), 2);
    let sent = Sent(again.into_raw());
    // SAFETY: the reference travels to the thread, which drops it.
    std::thread::spawn(move || unsafe { drop(ItemsRef::from_owned({ sent }.0)) }).join().expect("no panic");
    assert_eq!(lh_live_allocations(), 0);

    // SAFETY: the addresses are those of functions of these types; every result is released once.
    unsafe {
        let concat = std::mem::transmute::<usize, Concat>(address("lh_str_concat").expect("it exists"));
        let get = std::mem::transmute::<usize, GetItem>(address("lh_str_getitem").expect("it exists"));
        let s = StrValue::new("hello").expect("there is memory");
        let mut out = s;
        // Nothing is made, and the result shares the operand's memory.
        assert_eq!(concat(s.mem, s.data, s.len, ptr::null_mut(), ptr::null(), 0, &mut out), 0);
        assert_eq!((out.data, lh_live_allocations()), (s.data, 1));
        decref(out.mem);
        // A raising call keeps nothing.
        assert_eq!(get(s.mem, s.data, s.len, 5, &mut out), 1);
        drop(take_pending());
        decref(s.mem);
    }
    assert_eq!(lh_live_allocations(), 0);
}
