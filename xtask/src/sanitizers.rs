//! Sanitizers over the tests of the run-time library, for the night.

use crate::steps::Step;

/// Whatever C of ours becomes part of a library that `lancehead build` makes.
const C_COMPILER: &str = "gcc -fsanitize=undefined -fno-sanitize-recover=all";

/// Steps that look for memory that is used wrongly, for races of threads, and for what Rust and C leave undefined.
///
/// The pinned compiler takes its unstable options by `RUSTC_BOOTSTRAP`.
pub fn steps() -> Vec<Step> {
    let undefined =
        "-Zub-checks=yes -Zextra-const-ub-checks -Zrandomize-layout -Coverflow-checks=on -Cdebug-assertions=on";
    // Places in the source are in instrumented libraries, so that two of them are not the same bytes.
    let other = ["-k", "not the_same_bytes"];
    let ahead = [&["tests/python/api/test_ahead.py", "tests/python/api/test_ahead_calls.py"][..], &other].concat();
    vec![
        cargo("address", "-Zsanitizer=address", &[]),
        // A library that is not instrumented would hide by what threads are ordered.
        // One test lets a child of a fork start threads.
        cargo("thread", "-Zsanitizer=thread", &["-Zbuild-std"]).with("TSAN_OPTIONS", "die_after_fork=0"),
        cargo("undefined", undefined, &["-Zbuild-std"]),
        Step::pytest("sanitizer, undefined in C", &ahead).with("CC", C_COMPILER),
    ]
}

/// The tests of the run-time library, built with flags into a folder of their own.
fn cargo(name: &str, flags: &str, more: &[&str]) -> Step {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let folder = format!("target/sanitizers/{name}");
    let words = ["test", "--quiet", "--no-fail-fast", "-p", "lh-runtime", "--lib", "--tests", "--target", &target];
    // The model of the thread pool tries all orders by itself.
    let words = [&words[..], &["--target-dir", &folder], more, &["--", "--skip", "pool_model"]].concat();
    Step::cargo(&format!("sanitizer, {name}"), &words).with("RUSTC_BOOTSTRAP", "1").with("RUSTFLAGS", flags)
}
