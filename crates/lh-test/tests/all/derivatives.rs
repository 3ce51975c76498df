//! Derivatives of random programs.

use lh_test::derivatives::{Case, Compared};

/// Number of random programs; `LH_FUZZ` sets another.
fn many() -> u64 {
    std::env::var("LH_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// The first of them, to begin with; `LH_FUZZ_FIRST` sets another.
fn first() -> u64 {
    std::env::var("LH_FUZZ_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Programs that have failed once.
const FOUND: [u64; 1] = [17216];

#[test]
fn adjoints_and_tangents_of_random_programs_agree() {
    let (mut failures, mut compared) = (Vec::new(), 0);
    for seed in (first()..first() + many()).chain(FOUND) {
        let outcome = Case::new(seed).and_then(|case| {
            let both = [case.check(2 * seed), case.check(2 * seed + 1)];
            both.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| format!("{e:?}\n{}", case.shown()))
        });
        match outcome {
            Ok(each) => compared += each.iter().filter(|c| **c == Compared::Everything).count() as u64,
            Err(e) => failures.push(format!("seed {seed}: {e}")),
        }
    }
    assert!(failures.is_empty(), "{} programs\n{}", failures.len(), failures.join("\n"));
    // Nearly all have inputs of use.
    assert!(compared * 10 >= 2 * many() * 9, "{compared} of {}", 2 * many());
}
