//! `cargo xtask`: what a change must pass, in one place.
//!
//! `check` is everything, `test` the tests alone, `bless` rewrites expectations, `bench` measures beside Numba, `docs` writes the
//! list of supported names, `tidy` checks what neither rustfmt nor clippy can.

mod steps;
mod tidy;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <check | test | bless | bench | docs | tidy> [arguments of the tool behind it]";

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
