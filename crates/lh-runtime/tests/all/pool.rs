//! The pool through its C interface.

use lh_runtime::pool::{self, Body};
use lh_runtime::{ExcArg, Pending, exception, take_pending};
use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering};

fn run(n: i64, grain: i64, body: Body, env: *mut c_void) -> i32 {
    // SAFETY: the bodies below use atomics.
    unsafe { pool::parallel_for(n, grain, body, env) }
}

unsafe extern "C" fn count(env: *mut c_void, low: i64, high: i64, _: i64) -> i32 {
    let counters = env.cast::<AtomicI64>();
    for i in low..high {
        // SAFETY: in range.
        unsafe { (*counters.add(i as usize)).fetch_add(1, Ordering::Relaxed) };
    }
    0
}

fn check_all_once(n: i64, grain: i64) {
    let mut counters: Vec<AtomicI64> = (0..n.max(1)).map(|_| AtomicI64::new(0)).collect();
    assert_eq!(run(n, grain, count, counters.as_mut_ptr().cast()), 0);
    assert!(counters.iter().take(n.max(0) as usize).all(|c| c.load(Ordering::Relaxed) == 1), "{n} {grain}");
}

#[test]
fn every_iteration_runs_once() {
    pool::set_max_threads(4);
    for n in [-5, 0, 1, 2, 3, 10, 1000, 4097] {
        for grain in [-1, 0, 1, 2, 7, 1000, i64::MAX] {
            check_all_once(n, grain);
        }
    }
}

unsafe extern "C" fn fail(_: *mut c_void, low: i64, _: i64, _: i64) -> i32 {
    if low % 10 == 7 { exception::raise(lh_runtime::classes::VALUE_ERROR, low.to_string()) } else { 0 }
}

#[test]
fn the_first_exception_counts() {
    pool::set_max_threads(4);
    for _ in 0..200 {
        assert_eq!(run(100, 1, fail, std::ptr::null_mut()), 1);
        let Pending { args, .. } = take_pending().expect("an exception");
        assert_eq!(args, [ExcArg::Str("7".into())]);
    }
}

unsafe extern "C" fn fail_late(env: *mut c_void, low: i64, _: i64, _: i64) -> i32 {
    // SAFETY: `env` is a counter.
    unsafe { (*env.cast::<AtomicI64>()).fetch_add(1, Ordering::Relaxed) };
    if low >= 50 { exception::raise(lh_runtime::classes::VALUE_ERROR, low.to_string()) } else { 0 }
}

#[test]
fn all_blocks_before_the_exception_run() {
    pool::set_max_threads(4);
    for _ in 0..200 {
        let ran = AtomicI64::new(0);
        assert_eq!(run(100, 1, fail_late, std::ptr::from_ref(&ran).cast_mut().cast()), 1);
        let Pending { args, .. } = take_pending().expect("an exception");
        assert_eq!(args, [ExcArg::Str("50".into())]);
        assert!((51..100).contains(&ran.into_inner()));
    }
}

#[test]
fn a_loop_of_more_blocks_than_32_bits_number_ends() {
    pool::set_max_threads(4);
    let ran = AtomicI64::new(0);
    let env = std::ptr::from_ref(&ran).cast_mut().cast();
    assert_eq!(run(i64::MAX, 1, fail_late_or_stop, env), 1);
    assert!(take_pending().is_some());
}

unsafe extern "C" fn fail_late_or_stop(env: *mut c_void, low: i64, _: i64, _: i64) -> i32 {
    // SAFETY: `env` is a counter.
    let ran = unsafe { (*env.cast::<AtomicI64>()).fetch_add(1, Ordering::Relaxed) };
    if low == 1000 || ran > 10_000 { exception::raise(lh_runtime::classes::VALUE_ERROR, low.to_string()) } else { 0 }
}

/// The threads that ran the blocks of a loop.
unsafe extern "C" fn note(env: *mut c_void, low: i64, _: i64, thread: i64) -> i32 {
    // SAFETY: there is a place for each block.
    unsafe { (*env.cast::<AtomicI64>().add(low as usize)).store(thread, Ordering::Relaxed) };
    std::thread::sleep(std::time::Duration::from_micros(300));
    0
}

#[test]
fn a_thread_keeps_its_part() {
    pool::set_max_threads(4);
    let who: Vec<AtomicI64> = (0..40).map(|_| AtomicI64::new(-1)).collect();
    let mut kept = 0;
    for _ in 0..5 {
        assert_eq!(run(40, 1, note, who.as_ptr().cast_mut().cast()), 0);
        kept += who.iter().enumerate().filter(|(b, t)| t.load(Ordering::Relaxed) == *b as i64 / 10).count();
    }
    // Others take blocks of a thread that begins late.
    assert!(kept > 120, "{kept}");
}

unsafe extern "C" fn nest(env: *mut c_void, low: i64, high: i64, thread: i64) -> i32 {
    assert!((0..i64::from(pool::threads())).contains(&thread) && thread == i64::from(pool::thread_id()));
    for _ in low..high {
        check_all_once(50, 5);
    }
    // SAFETY: `env` is a counter.
    unsafe { (*env.cast::<AtomicI64>()).fetch_add(high - low, Ordering::Relaxed) };
    0
}

#[test]
fn loops_nest_and_many_threads_begin_them() {
    pool::set_max_threads(4);
    let total = AtomicI64::new(0);
    std::thread::scope(|s| {
        for _ in 0..6 {
            s.spawn(|| assert_eq!(run(40, 1, nest, std::ptr::from_ref(&total).cast_mut().cast()), 0));
        }
    });
    assert_eq!(total.load(Ordering::Relaxed), 240);
}

#[test]
fn a_child_begins_anew() {
    pool::set_max_threads(3);
    check_all_once(1000, 1);
    for _ in 0..5 {
        // SAFETY: the child uses the pool, whose making takes no lock, and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let result = std::panic::catch_unwind(|| check_all_once(1000, 1));
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(result.is_err())) };
        }
        let mut status = -1;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}

#[test]
fn settings_are_checked() {
    std::thread::spawn(|| {
        pool::set_max_threads(4);
        assert!(!pool::set_threads(0) && !pool::set_threads(5) && pool::set_threads(1));
        assert_eq!((pool::threads(), pool::thread_id()), (1, 0));
        assert_eq!((pool::set_chunk(8), pool::set_chunk(-1), pool::set_chunk(0)), (Some(0), None, Some(8)));
    })
    .join()
    .unwrap();
}

#[test]
fn grains_follow_the_cost() {
    assert_eq!(pool::grain(8, 0), 1);
    assert_eq!(pool::grain(100, 1), 100);
    assert_eq!(pool::grain(100_000, 1), 4032);
    assert_eq!(pool::grain(0, 1), 1);
    assert!(pool::grain(i64::MAX, 1) > i64::MAX / 1100);
    // Blocks of uneven iterations, and long ones, are more.
    assert_eq!((pool::grain(10_000, 0), pool::grain(10_000, 5_000), pool::grain(1_000, 100_000)), (10, 10, 1));
}
