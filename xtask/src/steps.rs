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
    /// Half of all.
    half: usize,
    /// Whether a step of Cargo runs: another one would wait for its lock.
    has_cargo: bool,
}

/// How many steps run at once: as many as there are processors, and two at least, so that Cargo's stop no others.
fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from).max(2)
}

impl Queue {
    fn new(steps: Vec<Step>, processors: usize) -> Queue {
        Queue { waiting: steps.into(), free: processors, half: processors / 2, has_cargo: false }
    }

    /// The first step that may begin now, and its processors. Cargo's steps have half of them, so that others go on
    /// beside them, or all that are free if only steps of Cargo are left.
    fn next(&mut self) -> Option<(Step, usize)> {
        let are_others = self.waiting.iter().any(|step| !step.is_cargo);
        let cost = |step: &Step| match step.is_cargo {
            true if are_others => self.half,
            true => self.half.max(self.free),
            false => 1,
        };
        let may = |step: &Step| !(step.is_cargo && self.has_cargo) && cost(step) <= self.free;
        let place = self.waiting.iter().position(may)?;
        let cost = cost(&self.waiting[place]);
        let step = self.waiting.remove(place)?;
        self.free -= cost;
        self.has_cargo |= step.is_cargo;
        Some((step, cost))
    }
}

/// Runs steps one after the other, in the terminal. The names of those that failed.
pub fn run_alone(root: &Path, steps: Vec<Step>) -> Vec<String> {
    report(&steps.into_iter().map(|step| step.run(root, true)).collect::<Vec<_>>(), Instant::now())
}

/// Runs steps beside each other, so that all together have as many processors as there are. They begin in their order,
/// but that one of Cargo's waits for the one before it.
pub fn run(root: &Path, steps: Vec<Step>) -> Vec<Outcome> {
    let queue = Mutex::new(Queue::new(steps, processors()));
    let freed = Condvar::new();
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let mut state = lock();
            let (step, cost) = loop {
                match state.next() {
                    Some(next) => break next,
                    None if state.waiting.is_empty() => return outcomes,
                    None => state = freed.wait(state).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(state);
            let is_cargo = step.is_cargo;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn next(queue: &mut Queue) -> Option<(String, usize)> {
        queue.next().map(|(step, cost)| (step.name, cost))
    }

    #[test]
    fn one_step_of_cargo_runs_beside_others() {
        let cargo = |name| Step::cargo(name, &["build"]);
        let mut queue = Queue::new(vec![cargo("a"), cargo("b"), Step::new("c", &["c"]), cargo("d")], 4);
        assert_eq!(next(&mut queue), Some(("a".to_owned(), 2)));
        assert_eq!(next(&mut queue), Some(("c".to_owned(), 1)));
        // Cargo's lock is taken.
        assert_eq!(next(&mut queue), None);
        (queue.free, queue.has_cargo) = (3, false);
        assert_eq!((next(&mut queue), queue.free), (Some(("b".to_owned(), 3)), 0));
    }

    #[test]
    fn a_step_that_fails_is_named() {
        let steps = vec![Step::new("good", &["true"]), Step::new("bad", &["false"]), Step::new("none", &["./no such"])];
        let outcomes = run(Path::new("."), steps);
        let mut failed = report(&outcomes, Instant::now());
        failed.sort();
        assert_eq!(failed, ["bad", "none"]);
    }
}
