//! The commands as lists of steps. All steps run, so that one run shows all that is wrong.

use crate::{rooms, tidy};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// A program to run, with its arguments and variables of its environment.
struct Step<'a> {
    name: &'a str,
    command: Vec<&'a str>,
    env: &'a [(&'a str, &'a str)],
}

/// How a step ended: its status or why it did not start, and after how long. `last` has its last lines, unless it
/// wrote to the terminal itself.
struct Outcome<'a> {
    name: &'a str,
    status: io::Result<ExitStatus>,
    time: Duration,
    last: VecDeque<String>,
}

const PYTHON: &str = ".venv/bin/python";
const PYTEST: [&str; 4] = [PYTHON, "-m", "pytest", "-q"];
/// The tests of the package, which take longer than all [`OTHERS`]: they run in so many parts.
const PACKAGE: &str = "tests/python";
const PARTS: usize = 12;
/// The other folders of tests in Python, those first that take longest.
const OTHERS: [&str; 3] = ["tests/fuzz", "tests/cuda", "tests/lang"];
/// `check` fails when its steps take longer, so that it stays something that is run before each change.
const LIMIT: Duration = Duration::from_secs(60 * 60);
/// The lines of a failed step that are printed again at the end, where a reader of a long log looks first.
const LAST_LINES: usize = 60;

/// Everything: format, lints, order, generated pages, tests of both languages, stubs. The names of what failed.
///
/// Cargo's steps wait for each other's lock on `target`, and nothing else waits for them: they are one lane. All steps
/// of Python are another, from which two workers take the next one, so that both end about when the last step does.
pub fn check(root: &Path) -> Vec<String> {
    let start = Instant::now();
    let rust = vec![cargo("fmt", &["fmt", "--all", "--check"]), clippy(), doc(), cargo_test(&[])];
    let parts = parts_of_package(root);
    let mut python: Vec<Step<'_>> =
        OTHERS.iter().map(|folder| step(folder, &[&PYTEST[..], &[*folder]].concat())).collect();
    python.extend(parts.iter().map(|(name, files)| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        step(name, &[&PYTEST[..], &files[..]].concat())
    }));
    python.extend([
        step("tidy", &["cargo", "xtask", "tidy"]),
        step("licences", &[PYTHON, "xtask/deny.py"]),
        step("ruff format", &[PYTHON, "-m", "ruff", "format", "--check", "--quiet"]),
        step("ruff", &[PYTHON, "-m", "ruff", "check", "--quiet"]),
        step("mypy", &[PYTHON, "-m", "mypy"]),
        step("stubtest", &[PYTHON, "-m", "mypy.stubtest", "lancehead._core"]),
    ]);
    python.extend(pages(&["--check"]));
    let mut failed = run(root, vec![(1, rust), (2, python)]);
    let forgotten = folders_of_tests(root).into_iter().filter(|f| *f != PACKAGE && !OTHERS.contains(&f.as_str()));
    failed.extend(forgotten.map(|folder| format!("{folder}, which no step runs")));
    if start.elapsed() > LIMIT {
        failed.push(format!("the limit of {} s", LIMIT.as_secs()));
    }
    failed
}

/// The package's files of tests in parts, each with a name.
fn parts_of_package(root: &Path) -> Vec<(String, Vec<String>)> {
    let mut files = files_of_tests(&root.join(PACKAGE));
    files.sort();
    let size = files.len().div_ceil(PARTS).max(1);
    let parts = files.chunks(size).enumerate();
    parts
        .map(|(i, part)| {
            (format!("{PACKAGE}, part {}", i + 1), part.iter().map(|f| format!("{PACKAGE}/{f}")).collect())
        })
        .collect()
}

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
        (all || !others.is_empty()).then(|| pytest(&others)),
    ];
    run(root, vec![(1, steps.into_iter().flatten().collect())])
}

/// Rewrites expectations: IR files from the passes, the language from CPython. The difference is to be read like code.
pub fn bless(root: &Path) -> Vec<String> {
    let files = Step { env: &[("LH_BLESS", "1")], ..cargo_test(&["-p", "lh-test", "-p", "lh-frontend"]) };
    let language = Step { env: &[("LANCEHEAD_BLESS", "1")], ..pytest(&["tests/lang"]) };
    run(root, vec![(1, vec![files, language])])
}

/// Writes the manual's lists: supported names from the operation table and the library, NumPy's names, options and
/// settings, the package's names, the command.
pub fn docs(root: &Path) -> Vec<String> {
    run(root, vec![(1, pages(&[]))])
}

/// Measures beside Numba, see `benches/README.md`.
pub fn bench(root: &Path, arguments: &[String]) -> Vec<String> {
    let mut command = vec!["benches/run.sh"];
    command.extend(arguments.iter().map(String::as_str));
    run(root, vec![(1, vec![step("bench", &command)])])
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

fn clippy() -> Step<'static> {
    cargo("clippy", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn doc() -> Step<'static> {
    let documentation = cargo("cargo doc", &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    // Private items are documented, too: links lead to them.
    Step { env: &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links")], ..documentation }
}

fn cargo_test<'a>(crates: &[&'a str]) -> Step<'a> {
    let which = if crates.is_empty() { &["--workspace"] } else { crates };
    cargo("cargo test", &[&["test", "--quiet", "--no-fail-fast"], which].concat())
}

fn pytest<'a>(arguments: &[&'a str]) -> Step<'a> {
    let which = if arguments.is_empty() { &["tests"] } else { arguments };
    step("pytest", &[&PYTEST[..], which].concat())
}

/// The folders of tests in Python.
fn folders_of_tests(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("tests")).into_iter().flatten().flatten();
    let folders = entries.map(|e| e.path()).filter(|p| p.is_dir() && !files_of_tests(p).is_empty());
    let names = folders.filter_map(|p| p.file_name().map(|n| n.to_string_lossy().into_owned()));
    names.map(|name| format!("tests/{name}")).collect()
}

/// The files of tests in a folder and those below it.
fn files_of_tests(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            files.extend(files_of_tests(&entry.path()).into_iter().map(|file| format!("{name}/{file}")));
        } else if name.starts_with("test_") && name.ends_with(".py") {
            files.push(name);
        }
    }
    files
}

/// The generated pages of the manual.
fn pages(arguments: &[&'static str]) -> Vec<Step<'static>> {
    let page = |name, script| step(name, &[&[PYTHON, script], arguments].concat());
    let names = [page("supported names", "xtask/supported.py"), page("names of NumPy", "xtask/numpy_page.py")];
    let others = [page("options", "xtask/options_page.py"), page("reference", "xtask/reference.py")];
    names.into_iter().chain(others).collect()
}

fn cargo<'a>(name: &'a str, arguments: &[&'a str]) -> Step<'a> {
    step(name, &[&["cargo"], arguments].concat())
}

fn step<'a>(name: &'a str, command: &[&'a str]) -> Step<'a> {
    Step { name, command: command.to_vec(), env: &[] }
}

/// Runs lanes beside each other, each by so many workers that take its next step, and says how long each step took. The
/// names of those that failed.
fn run(root: &Path, lanes: Vec<(usize, Vec<Step>)>) -> Vec<String> {
    let start = Instant::now();
    let is_alone = lanes.len() == 1;
    let lanes: Vec<_> =
        lanes.into_iter().map(|(workers, steps)| (workers, Mutex::new(VecDeque::from(steps)))).collect();
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let workers = lanes.iter().flat_map(|(workers, steps)| std::iter::repeat_n(steps, *workers));
        let begun: Vec<_> = workers
            .map(|steps| {
                let all = std::iter::from_fn(|| steps.lock().expect("no worker panics").pop_front());
                scope.spawn(move || all.map(|s| s.run(root, is_alone)).collect::<Vec<_>>())
            })
            .collect();
        begun.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    for Outcome { name, last, .. } in outcomes.iter().filter(|o| !o.is_fine()) {
        println!("\n--- the end of {name}");
        last.iter().for_each(|line| println!("{line}"));
    }
    println!();
    for Outcome { name, status, time, .. } in &outcomes {
        let end = match status {
            Ok(status) if status.success() => "fine".to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        println!("{:>6} s  {name}: {end}", time.as_secs());
    }
    println!("{:>6} s  in all", start.elapsed().as_secs());
    outcomes.iter().filter(|o| !o.is_fine()).map(|outcome| outcome.name.to_owned()).collect()
}

impl Outcome<'_> {
    fn is_fine(&self) -> bool {
        self.status.as_ref().is_ok_and(ExitStatus::success)
    }
}

impl<'a> Step<'a> {
    /// Runs the step to its end. If others run beside it, its name stands before each line that it prints.
    fn run(&self, root: &Path, is_alone: bool) -> Outcome<'a> {
        println!("--- {}: {}", self.name, self.command.join(" "));
        let start = Instant::now();
        let mut command = Command::new(self.command[0]);
        command.args(&self.command[1..]).envs(self.env.iter().copied()).current_dir(root);
        let mut last = VecDeque::new();
        let status = if is_alone { command.status() } else { self.prefixed(command, &mut last) };
        Outcome { name: self.name, status, time: start.elapsed(), last }
    }

    /// Runs a command beside others, with the step's name before each of its lines, and keeps the last of them.
    fn prefixed(&self, mut command: Command, last: &mut VecDeque<String>) -> io::Result<ExitStatus> {
        let (reader, writer) = io::pipe()?;
        let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
        // The command holds ends of the pipe for writing: with them open, reading would never end.
        drop(command);
        for line in BufReader::new(reader).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            println!("{}: {line}", self.name);
            if last.len() == LAST_LINES {
                last.pop_front();
            }
            last.push_back(line);
        }
        child.wait()
    }
}
