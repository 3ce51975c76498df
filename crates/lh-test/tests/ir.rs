//! The file tests of passes, and reference counting of random functions.

use lh_test::{checked, counting, files, generate, run_file};
use std::path::Path;

#[test]
fn file_tests() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let mut failures = Vec::new();
    for path in files(&dir) {
        if let Err(e) = run_file(&path) {
            failures.push(format!("{}: {e}", path.strip_prefix(&dir).unwrap_or(&path).display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Number of random functions; `LH_FUZZ` sets another.
fn many() -> u64 {
    std::env::var("LH_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

#[test]
fn random_functions_count_right() {
    for seed in 0..many() {
        let mut func = generate::function(seed, 4 + seed as usize % 40);
        checked(&func).unwrap();
        for pass in ["dce", "refcount"] {
            (lh_opt::pipeline::find(pass).expect("a pass").run)(&mut func);
            checked(&func).unwrap_or_else(|e| panic!("seed {seed} after {pass}: {e}"));
        }
        if let Err(e) = counting::try_out(&func, 60) {
            panic!("seed {seed}: {e}\n{}", lh_ir::print::print(&func));
        }
    }
}

#[test]
fn names_of_rows_are_no_words_of_the_text() {
    let words = "const zero cast pack field some is_some unwrap call runtime slot_get slot_set array_make array_owner \
        array_data array_shape array_stride elem_ptr load take store ptr_add list_new list_len list_data map map_into \
        incref decref jump branch return raise propagate unreachable";
    for op in lh_ops::all() {
        assert!(!words.split_whitespace().any(|w| w == op.name), "{}", op.name);
    }
}
