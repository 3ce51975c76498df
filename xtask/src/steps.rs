//! The commands as lists of steps. All steps run, so that one run shows all that is wrong.

use crate::tidy;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A program to run, with its arguments and variables of its environment.
struct Step<'a> {
    name: &'a str,
    command: Vec<&'a str>,
    env: &'a [(&'a str, &'a str)],
}

const PYTHON: &str = ".venv/bin/python";

/// Everything: format, lints, order, tests of both languages, stubs. The names of what failed.
pub fn check(root: &Path) -> Vec<String> {
    let mut failed = run(root, &[cargo("fmt", &["fmt", "--all", "--check"]), clippy()]);
    failed.extend(tidy(root));
    let lists = [stubtest(), supported(&["--check"]), options_page(&["--check"]), reference(&["--check"])];
    failed.extend(run(root, &lists));
    failed.extend(test(root, &[]));
    failed
}

/// The tests of both languages; arguments are pytest's.
pub fn test(root: &Path, pytest_arguments: &[String]) -> Vec<String> {
    let mut pytest = vec![PYTHON, "-m", "pytest", "-q"];
    if pytest_arguments.is_empty() {
        pytest.push("tests");
    }
    pytest.extend(pytest_arguments.iter().map(String::as_str));
    let rust = cargo("cargo test", &["test", "--workspace", "--quiet"]);
    run(root, &[rust, Step { name: "pytest", command: pytest, env: &[] }])
}

/// Rewrites expectations: IR files from the passes, the language from CPython. The difference is to be read like code.
pub fn bless(root: &Path) -> Vec<String> {
    let files =
        Step { name: "IR files", command: vec!["cargo", "test", "--workspace", "--quiet"], env: &[("LH_BLESS", "1")] };
    let language = Step {
        name: "language",
        command: vec![PYTHON, "-m", "pytest", "-q", "tests/lang"],
        env: &[("LANCEHEAD_BLESS", "1")],
    };
    run(root, &[files, language])
}

/// Writes the manual's lists: supported names from the operation table and the library, options and settings, the
/// package's names, the command.
pub fn docs(root: &Path) -> Vec<String> {
    run(root, &[supported(&[]), options_page(&[]), reference(&[])])
}

/// Measures beside Numba, see `benches/README.md`.
pub fn bench(root: &Path, arguments: &[String]) -> Vec<String> {
    let mut command = vec!["benches/run.sh"];
    command.extend(arguments.iter().map(String::as_str));
    run(root, &[Step { name: "bench", command, env: &[] }])
}

/// What neither rustfmt nor clippy checks.
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

fn clippy() -> Step<'static> {
    cargo("clippy", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn stubtest() -> Step<'static> {
    let command = vec![PYTHON, "-m", "mypy.stubtest", "lancehead._core"];
    Step { name: "stubtest", command, env: &[] }
}

fn supported(arguments: &[&'static str]) -> Step<'static> {
    Step { name: "supported names", command: [&[PYTHON, "xtask/supported.py"], arguments].concat(), env: &[] }
}

fn options_page(arguments: &[&'static str]) -> Step<'static> {
    Step { name: "options", command: [&[PYTHON, "xtask/options_page.py"], arguments].concat(), env: &[] }
}

fn reference(arguments: &[&'static str]) -> Step<'static> {
    Step { name: "reference", command: [&[PYTHON, "xtask/reference.py"], arguments].concat(), env: &[] }
}

fn cargo<'a>(name: &'a str, arguments: &[&'a str]) -> Step<'a> {
    Step { name, command: [&["cargo"], arguments].concat(), env: &[] }
}

/// Runs the steps one after the other and says how long each took. The names of those that failed.
fn run(root: &Path, steps: &[Step]) -> Vec<String> {
    let mut failed = Vec::new();
    for step in steps {
        println!("--- {}: {}", step.name, step.command.join(" "));
        let start = Instant::now();
        let status = Command::new(step.command[0])
            .args(&step.command[1..])
            .envs(step.env.iter().copied())
            .current_dir(root)
            .status();
        let seconds = start.elapsed().as_secs();
        match status {
            Ok(status) if status.success() => println!("--- {}: fine after {seconds} s", step.name),
            Ok(status) => {
                println!("--- {}: {status} after {seconds} s", step.name);
                failed.push(step.name.to_owned());
            }
            Err(error) => {
                println!("--- {}: {error}", step.name);
                failed.push(step.name.to_owned());
            }
        }
    }
    failed
}
