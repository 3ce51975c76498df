//! The short commands. `check.rs` has the long one.

use crate::steps::{PYTHON, Step, run_alone};
use crate::{check, lines, ratchet, rooms, sanitizers, tidy};
use std::path::Path;

/// Tests of both languages, or of what the arguments name: crates after `-p`, else files and options for pytest.
pub fn test(root: &Path, arguments: &[String]) -> Vec<String> {
    let (mut crates, mut others) = (Vec::new(), Vec::new());
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-p" => crates.extend([word].into_iter().chain(words.next())),
            _ => others.push(word),
        }
    }
    let all = arguments.is_empty();
    let steps = [
        (all || !crates.is_empty()).then(|| cargo_test(&crates)),
        (all || !others.is_empty()).then(|| Step::pytest("pytest", if all { &["tests"] } else { &others[..] })),
    ];
    run_alone(root, steps.into_iter().flatten().collect())
}

/// Rewrites expectations: IR files from the passes, the language from CPython, the budget from lines that there are.
/// The difference is to be read like code.
pub fn bless(root: &Path) -> Vec<String> {
    let files = cargo_test(&["-p", "lh-test", "-p", "lh-frontend"]).with("LH_BLESS", "1");
    let language = Step::pytest("pytest", &["tests/lang"]).with("LANCEHEAD_BLESS", "1");
    let mut failed = run_alone(root, vec![files, language]);
    failed.extend(ratchet(root));
    failed
}

/// Lowers the numbers of the budget to the lines that are there.
pub fn ratchet(root: &Path) -> Vec<String> {
    ratchet::fall(root, &lines::count(&tidy::sources(root))).into_iter().collect()
}

/// Writes the manual's lists: supported names from the operation table and the library, NumPy's names, options and
/// settings, the package's names, the command.
pub fn docs(root: &Path) -> Vec<String> {
    run_alone(root, check::pages(&[]))
}

/// Lists all tests, or compares them with a list of before.
pub fn collected(root: &Path, arguments: &[String]) -> Vec<String> {
    script(root, &[PYTHON, "xtask/collected.py"], arguments)
}

/// Measures beside Numba, see `benches/README.md`.
pub fn bench(root: &Path, arguments: &[String]) -> Vec<String> {
    script(root, &["benches/run.sh"], arguments)
}

/// Runs the sanitizers of the night, or those whose names contain a word.
pub fn sanitize(root: &Path, words: &[String]) -> Vec<String> {
    let asked = |step: &Step| words.is_empty() || words.iter().any(|word| step.name.contains(word));
    run_alone(root, sanitizers::steps().into_iter().filter(asked).collect())
}

/// Checks that neither rustfmt nor clippy makes.
pub fn tidy(root: &Path) -> Vec<String> {
    let report = tidy::tidy(root);
    for line in &report.summary {
        println!("{line}");
    }
    for complaint in &report.complaints {
        eprintln!("{complaint}");
    }
    if report.complaints.is_empty() { Vec::new() } else { vec!["tidy".to_owned()] }
}

/// Shows rooms, arrows and knots of the crates (or folders of sources) that are named.
pub fn graph(root: &Path, names: &[String]) -> Vec<String> {
    let (table, sources) = (tidy::read_table(root, "xtask/rooms.toml"), tidy::sources(root));
    let mut failed = Vec::new();
    for name in names {
        match rooms::describe(&table, &sources, name) {
            Ok(text) => println!("{text}"),
            Err(message) => failed.push(message),
        }
    }
    failed
}

fn cargo_test(crates: &[&str]) -> Step {
    let which = if crates.is_empty() { &["--workspace"] } else { crates };
    Step::cargo("cargo test", &[&["test", "--quiet", "--no-fail-fast"], which].concat())
}

fn script(root: &Path, command: &[&str], arguments: &[String]) -> Vec<String> {
    let words = command.iter().copied().chain(arguments.iter().map(String::as_str));
    run_alone(root, vec![Step::new(command[command.len() - 1], &words.collect::<Vec<_>>())])
}
