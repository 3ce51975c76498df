//! Steps: programs that run beside each other. All of them run, so that one run shows all that is wrong.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The interpreter in which the package is installed.
pub const PYTHON: &str = ".venv/bin/python";
/// The lines of a failed step that are printed again at the end, where a reader of a long log looks first.
const LAST_LINES: usize = 60;

/// A program to run, with its arguments and variables of its environment.
pub struct Step {
    pub name: String,
    command: Vec<String>,
    env: Vec<(String, String)>,
    /// Whether it takes Cargo's lock on `target`.
    is_cargo: bool,
}

/// How a step ended: its status or why it did not start, and after how long. `last` has its last lines, unless it
/// wrote to the terminal itself.
pub struct Outcome {
    pub name: String,
    status: io::Result<ExitStatus>,
    pub time: Duration,
    last: VecDeque<String>,
}

impl Step {
    pub fn new(name: impl Into<String>, command: &[impl AsRef<str>]) -> Step {
        let command = command.iter().map(|word| word.as_ref().to_owned()).collect();
        Step { name: name.into(), command, env: Vec::new(), is_cargo: false }
    }

    pub fn cargo(name: &str, arguments: &[impl AsRef<str>]) -> Step {
        let command = ["cargo"].into_iter().chain(arguments.iter().map(AsRef::as_ref)).collect::<Vec<_>>();
        Step { is_cargo: true, ..Step::new(name, &command) }
    }

    pub fn pytest(name: impl Into<String>, arguments: &[impl AsRef<str>]) -> Step {
        let command = [PYTHON, "-m", "pytest", "-q"].into_iter().chain(arguments.iter().map(AsRef::as_ref));
        Step::new(name, &command.collect::<Vec<_>>())
    }

    #[must_use]
    pub fn with(mut self, variable: &str, value: impl Into<String>) -> Step {
        self.env.push((variable.to_owned(), value.into()));
        self
    }

    /// Runs the step to its end. If others run beside it, its name stands before each line that it prints.
    fn run(self, root: &Path, is_alone: bool) -> Outcome {
        println!("--- {}: {}", self.name, self.command.join(" "));
        let start = Instant::now();
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).envs(self.env.iter().cloned()).current_dir(root);
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

impl Outcome {
    pub fn is_fine(&self) -> bool {
        self.status.as_ref().is_ok_and(ExitStatus::success)
    }
}

/// Steps that wait, and the processors that are free.
struct Queue {
    waiting: VecDeque<Step>,
    free: usize,
    /// Whether a step of Cargo runs: another one would wait for its lock.
    has_cargo: bool,
}

/// How many steps run at once: as many as there are processors, and two at least, so that Cargo's stop no others.
fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from).max(2)
}

impl Queue {
    /// The processors that a step has: Cargo's steps have half of them, so that the others need not stop for them.
    fn cost(step: &Step) -> usize {
        if step.is_cargo { processors() / 2 } else { 1 }
    }

    /// The first step that may begin now.
    fn next(&mut self) -> Option<Step> {
        let may = |step: &Step| !(step.is_cargo && self.has_cargo) && Queue::cost(step) <= self.free;
        let place = self.waiting.iter().position(may)?;
        let step = self.waiting.remove(place)?;
        self.free -= Queue::cost(&step);
        self.has_cargo |= step.is_cargo;
        Some(step)
    }
}

/// Runs steps one after the other, in the terminal. The names of those that failed.
pub fn run_alone(root: &Path, steps: Vec<Step>) -> Vec<String> {
    report(&steps.into_iter().map(|step| step.run(root, true)).collect::<Vec<_>>(), Instant::now())
}

/// Runs steps beside each other, so that all together have as many processors as there are. They begin in their order,
/// but that one of Cargo's waits for the one before it.
pub fn run(root: &Path, steps: Vec<Step>) -> Vec<Outcome> {
    let queue = Mutex::new(Queue { waiting: steps.into(), free: processors(), has_cargo: false });
    let freed = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let mut state = lock();
            let step = loop {
                match state.next() {
                    Some(step) => break step,
                    None if state.waiting.is_empty() => return outcomes,
                    None => state = freed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            let (cost, is_cargo) = (Queue::cost(&step), step.is_cargo);
            let step = if is_cargo { step.limited(cost) } else { step };
            outcomes.push(step.run(root, false));
            let mut state = lock();
            state.free += cost;
            state.has_cargo &= !is_cargo;
            freed.notify_all();
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..processors()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    })
}

impl Step {
    /// A step of Cargo with so many jobs and threads of tests.
    fn limited(self, jobs: usize) -> Step {
        self.with("CARGO_BUILD_JOBS", jobs.to_string()).with("RUST_TEST_THREADS", jobs.to_string())
    }
}

/// Prints how steps ended, and the last lines of those that failed. The names of these.
pub fn report(outcomes: &[Outcome], start: Instant) -> Vec<String> {
    for Outcome { name, last, .. } in outcomes.iter().filter(|o| !o.is_fine()) {
        println!("\n--- the end of {name}");
        last.iter().for_each(|line| println!("{line}"));
    }
    println!();
    for Outcome { name, status, time, .. } in outcomes {
        let end = match status {
            Ok(status) if status.success() => "fine".to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        println!("{:>6} s  {name}: {end}", time.as_secs());
    }
    println!("{:>6} s  in all", start.elapsed().as_secs());
    outcomes.iter().filter(|o| !o.is_fine()).map(|outcome| outcome.name.clone()).collect()
}
