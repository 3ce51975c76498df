//! The file tests of passes, and reference counting of random functions.

use lh_ir::Function;
use lh_opt::pipeline::{Known, run_named};
use lh_test::derivatives::texts;
use lh_test::wishes::Wishes;
use lh_test::{checked, counting, files, generate, mutate, oracle, run_file, transformed};
use std::path::{Path, PathBuf};

/// The files of tests; `LH_FILES=bounds` leaves those whose paths have it.
fn wanted() -> Vec<PathBuf> {
    let part = std::env::var("LH_FILES").unwrap_or_default();
    let all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir"), "lir");
    all.into_iter().filter(|p| p.to_string_lossy().contains(&part)).collect()
}

#[test]
fn file_tests() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let mut failures = Vec::new();
    for path in wanted() {
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
            let done = run_named(pass, &mut func, &Known::nothing()).expect("there is the pass");
            assert!(done.is_ok(), "seed {seed}: {pass} refuses no function");
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
        array_data array_shape array_stride elem_ptr load take store ptr_add new items_len items_data map map_into \
        incref decref jump branch return raise propagate unreachable";
    for op in lh_ops::all() {
        assert!(!words.split_whitespace().any(|w| w == op.name), "{}", op.name);
    }
}

/// Of each function, this many broken forms are tried until one is found.
const MUTANTS: usize = 24;

#[test]
fn in_every_function_a_wrong_result_is_found() {
    let mut blind = Vec::new();
    for path in wanted() {
        let text = std::fs::read_to_string(&path).unwrap();
        let source = text.split("; ===\n").next().unwrap();
        let passes = source.lines().next().unwrap().strip_prefix("; test ").unwrap();
        if texts::is_about(passes) {
            let text = texts::Text::new(source, passes).unwrap();
            blind.extend(text.blind().into_iter().map(|name| format!("{}: %{name}", path.display())));
            continue;
        }
        let (_, before, after) = transformed(source, passes).unwrap();
        let wishes = Wishes::of(source).unwrap();
        for i in (0..after.len()).filter(|i| wishes[*i].not_run.is_none()) {
            let mutants = mutate::mutants(&after[i]);
            let step = mutants.len().div_ceil(MUTANTS).max(1);
            let is_found = |broken: &Function| {
                let mut changed = after.clone();
                changed[i] = broken.clone();
                let visited = Default::default();
                oracle::Case { before: &before, after: &changed, wishes: &wishes, passes, visited }
                    .check_function(i)
                    .is_err()
            };
            if !mutants.is_empty() && !mutants.iter().step_by(step).any(|(_, broken)| is_found(broken)) {
                blind.push(format!("{}: %{}", path.display(), after[i].name));
            }
        }
    }
    assert!(blind.is_empty(), "{}", blind.join("\n"));
}
