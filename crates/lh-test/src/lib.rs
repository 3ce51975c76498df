//! Runs the file tests of passes, `tests/ir/<pass>/*.lir`, and of derivatives, `tests/ir/grad/*.lir`
//! ([`derivatives::texts`]); [`inference`] runs those of inference.
//!
//! A file begins with `; test <pass> ...`, where parts of passes such as `gangs` have names, too; what follows `; ===`
//! is the expected result of those passes, each line behind `; `, or only whether the last of them has changed each
//! function, if the second line is `; outcome` because the results are too long to be read. `LH_BLESS=1` rewrites the
//! expectations. Every file also checks that printing and parsing are inverse and that the verifier is content before
//! and after; after `refcount`, counting is tried out by [`counting`]. Then both forms are run on generated inputs
//! ([`oracle`]).

pub mod counting;
pub mod derivatives;
pub mod files;
pub mod generate;
pub mod inference;
pub mod inputs;
pub mod interpret;
pub mod library;
pub mod mutate;
pub mod objects;
pub mod observe;
pub mod oracle;
pub mod random;
pub mod wishes;
pub mod world;

use derivatives::texts;
use files::{MARK, settle};
pub use files::{TABLES, checked, files};
use lh_ir::parse::parse;
use lh_ir::print::print;
use lh_ir::{Function, SpecId};
use lh_opt::Summary;
use lh_opt::pipeline::Known;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The second line of a file whose expectation says only which functions change.
const OUTCOME: &str = "; outcome";

/// Runs a file; the message says what is wrong.
pub fn run_file(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (source, expected) = text.split_once(MARK).unwrap_or((&text, ""));
    let first = source.lines().next().unwrap_or_default();
    let passes = first.strip_prefix("; test ").ok_or("the first line must be `; test <pass>`")?;
    if texts::is_about(passes) {
        let text = texts::Text::new(source, passes)?;
        text.check()?;
        return settle(path, source, expected, &text.shown());
    }
    let (got, before, after) = transformed(source, passes)?;
    let wishes = wishes::Wishes::of(source)?;
    let visited = Default::default();
    let case = oracle::Case { before: &before, after: &after, wishes: &wishes, passes, visited };
    case.check()?;
    if std::env::var_os("LH_COVER").is_some() && !case.unvisited().is_empty() {
        eprintln!("{}: not run: {}", path.display(), case.unvisited().join(", "));
    }
    settle(path, source, expected, &got)
}

/// The functions of a text after passes, as comment lines; and both forms.
///
/// # Errors
/// The message says what is wrong with the file.
pub fn transformed(source: &str, passes: &str) -> Result<(String, Vec<Function>, Vec<Function>), String> {
    let mut out = String::new();
    let mut after = Vec::new();
    library::declare_classes();
    let all = parse(source, TABLES).map_err(|e| e.to_string())?;
    // Calls mean the functions of the file by their order.
    let before = all.clone();
    // Whether a function can be inlined may depend on its callees.
    let mut bodies = vec![None; all.len()];
    for _ in 0..3 {
        let known = bodies.clone();
        let of = |s: SpecId| known.get(s.index()).cloned().flatten();
        bodies = all.iter().map(|f| lh_opt::pipeline::inlinable(f, &of)).collect();
    }
    let callees = Callees { all: &before, summaries: RefCell::default() };
    let is_brief = source.lines().nth(1) == Some(OUTCOME);
    for (number, mut func) in all.into_iter().enumerate() {
        checked(&func)?;
        let known = Known {
            bodies: &|s| bodies.get(s.index()).cloned().flatten(),
            summaries: &|s| callees.summary(s),
            spec: SpecId::new(number),
        };
        let mut changed = false;
        for pass in passes.split_whitespace() {
            match lh_opt::pipeline::run_named(pass, &mut func, &known) {
                None => return Err(format!("no pass `{pass}`")),
                Some(Ok(now)) => changed = now,
                Some(Err(d)) => {
                    out.push_str(&format!("; {}: {} at {}:{}\n", d.id.0, d.label, d.span.line, d.span.col));
                    break;
                }
            }
            checked(&func)?;
            if pass == "refcount" {
                counting::try_out(&func, 200).map_err(|e| format!("{e}\n{}", print(&func)))?;
            }
        }
        let text = print(&func);
        let outcome = format!("%{}: {}", func.name, if changed { "changed" } else { "unchanged" });
        for line in if is_brief { outcome.lines() } else { text.lines() } {
            out.push_str("; ");
            out.push_str(line);
            out.push('\n');
        }
        after.push(func);
    }
    Ok((out, before, after))
}

/// Functions of a file as others call them: their summaries are those that all passes give.
struct Callees<'a> {
    all: &'a [Function],
    /// `None` while one is being made: it calls itself.
    summaries: RefCell<HashMap<SpecId, Option<Arc<Summary>>>>,
}

impl Callees<'_> {
    fn summary(&self, spec: SpecId) -> Option<Arc<Summary>> {
        // A function outside of the file does anything.
        let Some(func) = self.all.get(spec.index()) else { return Some(Arc::new(Summary::unknown())) };
        if let Some(known) = self.summaries.borrow().get(&spec) {
            return known.clone();
        }
        self.summaries.borrow_mut().insert(spec, None);
        let known = Known { bodies: &|_| None, summaries: &|s| self.summary(s), spec };
        let made = lh_opt::run(&mut func.clone(), &known).ok().map(|outcome| outcome.summary);
        self.summaries.borrow_mut().insert(spec, made.clone());
        made
    }
}
