//! `cargo xtask`: what a change must pass, in one place.
//!
//! `check` is everything, `test` the tests alone, all or those of a crate (`-p lh-opt`) or a file, `times` records how
//! long files of tests took, `collected` compares the list of all tests with one of before, `bless` rewrites
//! expectations, `ratchet` lowers the numbers of the budget, `bench` measures beside Numba, `docs` writes the
//! generated pages of the manual, `sanitize` runs the sanitizers of the night alone, `tidy` checks what neither
//! rustfmt nor clippy can, `graph` shows which files of a crate import which, `bisect` finds the run of a pass that
//! makes a command fail.

mod bisect;
mod check;
mod commands;
mod lines;
mod map;
mod names;
mod prose;
mod ratchet;
mod rooms;
mod sanitizers;
mod since;
mod steps;
mod table;
mod tidy;
mod times;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <check | test | times | collected | bless | ratchet | bench | docs | sanitize | tidy | \
    graph | bisect> [arguments of the tool behind it]";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let root = root();
    let failed = match command.as_str() {
        "check" => check::check(&root, &rest),
        "test" => commands::test(&root, &rest),
        "times" => times::record(&root),
        "collected" => commands::collected(&root, &rest),
        "bless" => commands::bless(&root),
        "ratchet" => commands::ratchet(&root),
        "docs" => commands::docs(&root),
        "bench" => commands::bench(&root, &rest),
        "sanitize" => commands::sanitize(&root, &rest),
        "tidy" => commands::tidy(&root),
        "graph" => commands::graph(&root, &rest),
        "bisect" => match bisect::bisect(&rest) {
            Ok(found) => {
                println!("{found}");
                Vec::new()
            }
            Err(error) => vec![error],
        },
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("failed: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}
