//! The switches of passes: `LANCEHEAD_PASSES`, a list of words separated by commas.
//!
//! | word | effect |
//! |---|---|
//! | `-bounds` | disables a pass or a part of one; parts are named in [`lh_ir::switches`] |
//! | `only=bounds` | enables only this pass and others given so |
//! | `until=bounds` | disables the passes after the first of this name |
//! | `limit=120` | disables all passes after this many runs in the process; `cargo xtask bisect` searches with it |
//! | `damage=bounds` | damages every function that this pass has changed, to try how faults of passes are undone |
//! | `time` | prints the time of each pass, for each function |
//!
//! Passes on which code generation relies cannot be disabled. The text is part of the keys of cached code.

use super::{PIPELINE, Pass};
use lh_ir::Function;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Default)]
pub(super) struct Switches {
    off: Vec<String>,
    only: Vec<String>,
    /// Index of the last pass to run.
    until: Option<usize>,
    limit: Option<u64>,
    damaged: Option<String>,
    time: bool,
}

impl Switches {
    pub(super) fn get() -> &'static Switches {
        static SWITCHES: LazyLock<Switches> = LazyLock::new(|| Switches::parse(lh_ir::switches::text()));
        &SWITCHES
    }

    pub(super) fn parse(text: &str) -> Switches {
        let mut out = Switches::default();
        for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            let known = |name: &str| PIPELINE.iter().any(|p| p.name == name);
            let part = |name: &str| known(name) || lh_ir::switches::PARTS.contains(&name);
            let fine = if word == "time" {
                out.time = true;
                true
            } else if let Some(name) = word.strip_prefix('-') {
                out.off.push(name.to_owned());
                part(name)
            } else if let Some(name) = word.strip_prefix("only=") {
                out.only.push(name.to_owned());
                known(name)
            } else if let Some(name) = word.strip_prefix("until=") {
                out.until = PIPELINE.iter().position(|p| p.name == name);
                out.until.is_some()
            } else if let Some(n) = word.strip_prefix("limit=") {
                out.limit = n.parse().ok();
                out.limit.is_some()
            } else if let Some(name) = word.strip_prefix("damage=") {
                out.damaged = Some(name.to_owned());
                known(name)
            } else {
                false
            };
            if !fine {
                eprintln!(
                    "LANCEHEAD_PASSES: `{word}` is none of -PASS, only=PASS, until=PASS, limit=N, damage=PASS, time"
                );
            }
        }
        out
    }

    pub(super) fn allow(&self, pass: &Pass, func: &str) -> bool {
        if pass.is_needed {
            return true;
        }
        let before = |last: usize| PIPELINE[..=last].iter().any(|p| std::ptr::eq(p, pass));
        let named = |list: &[String]| list.iter().any(|n| n == pass.name);
        (self.only.is_empty() || named(&self.only))
            && !named(&self.off)
            && self.until.is_none_or(before)
            && self.limit.is_none_or(|limit| Switches::is_within(limit, pass.name, func))
    }

    /// Whether functions are damaged after this pass.
    pub(super) fn damages(&self, pass: &Pass) -> bool {
        self.damaged.as_deref() == Some(pass.name)
    }

    /// Counts a run of a pass; names the last one within the limit.
    fn is_within(limit: u64, pass: &str, func: &str) -> bool {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
        if run == limit {
            eprintln!("LANCEHEAD_PASSES: run {run} is `{pass}` on `{func}`");
        }
        run <= limit
    }
}

/// The time of each pass for one function.
pub(super) struct Timer(Option<(Instant, HashMap<&'static str, Duration>)>);

impl Timer {
    pub(super) fn new() -> Timer {
        Timer(Switches::get().time.then(|| (Instant::now(), HashMap::new())))
    }

    /// Attributes the time since the last call to a pass.
    pub(super) fn passed(&mut self, name: &'static str) {
        if let Some((last, times)) = &mut self.0 {
            let now = Instant::now();
            *times.entry(name).or_default() += now - *last;
            *last = now;
        }
    }

    /// Prints the times in descending order.
    pub(super) fn report(self, func: &Function) {
        let Some((_, times)) = self.0 else { return };
        let mut times: Vec<_> = times.into_iter().collect();
        times.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
        let total: Duration = times.iter().map(|(_, t)| *t).sum();
        let each: Vec<String> = times.iter().map(|(name, t)| format!("{name} {}", t.as_micros())).collect();
        eprintln!("passes of {}: {} us: {}", func.qualname, total.as_micros(), each.join(", "));
    }
}
