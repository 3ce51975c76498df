//! `cargo xtask`: what a change must pass, in one place.
//!
//! `check` is everything, `test` the tests alone, all or those of a crate (`-p lh-opt`) or a file, `bless` rewrites
//! expectations, `bench` measures beside Numba, `docs` writes the generated pages of the manual, `tidy` checks what
//! neither rustfmt nor clippy can, `graph` shows which files of a crate import which, `bisect` finds the run of a pass
//! that makes a command fail.

mod bisect;
mod lines;
mod map;
mod names;
mod prose;
mod rooms;
mod steps;
mod table;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <check | test | bless | bench | docs | tidy | graph | bisect> [arguments of the tool behind it]";

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let root = root();
    let failed = match command.as_str() {
        "check" => steps::check(&root),
        "test" => steps::test(&root, &rest),
        "bless" => steps::bless(&root),
        "docs" => steps::docs(&root),
        "bench" => steps::bench(&root, &rest),
        "tidy" => steps::tidy(&root),
        "graph" => steps::graph(&root, &rest),
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
