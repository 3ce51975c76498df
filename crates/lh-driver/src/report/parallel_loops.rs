//! Remarks about loops that were to run in parallel.

use super::note::Note;
use lh_ir::Function;
use lh_ir::func::{Fate, LoopNote, Parallel};

/// Remarks about the loops of a function, by line.
pub(crate) fn loops(f: &Function) -> Vec<(u32, Note)> {
    // An array expression has several versions of its loop: one that runs on the pool says enough. Copies of arrays
    // that a parallel loop makes are no expressions of the program.
    let is_covered = |n: &LoopNote| {
        let says_more = |o: &LoopNote| {
            let is_better =
                o.what == Parallel::Asked || matches!(n.fate, Fate::Inside(_) | Fate::Nested(..) | Fate::Serial(_));
            o.span == n.span && matches!(o.fate, Fate::Pool { .. }) && is_better
        };
        n.what == Parallel::Known && f.notes.iter().any(says_more)
    };
    f.notes.iter().filter(|n| n.span.line > 0 && !is_covered(n)).map(|n| (n.span.line, remark(n))).collect()
}

/// Whether a loop of a function runs on the pool.
pub(crate) fn is_any(f: &Function) -> bool {
    f.notes.iter().any(|n| matches!(n.fate, Fate::Pool { .. }))
}

fn remark(n: &LoopNote) -> Note {
    let what = match n.what {
        Parallel::Asked => "",
        Parallel::Known => "array expression: ",
        Parallel::Derived => "derivative: ",
    };
    match n.fate {
        Fate::Pool { variables, arrays, trusted, ordered } => {
            let mut text = format!("{what}runs in parallel");
            let counts = [count(variables, "variable"), count(arrays, "array")];
            let combined: Vec<String> = counts.into_iter().flatten().collect();
            if !combined.is_empty() {
                text += &format!("; blocks of iterations combine {}", combined.join(" and "));
            }
            if trusted {
                text += "; that iterations never meet is the program's word (unsafe)";
            }
            if let Some(at) = ordered {
                text += "; in order if an index or slice ";
                text += &format!("at line {} counts from the end, or multiplies the loop's index by 0", at.line);
            }
            Note::Parallel(text)
        }
        Fate::Inside(outer) => {
            Note::Serial(format!("{what}runs on one thread: inside the parallel loop of line {}", outer.line))
        }
        Fate::Nested(outer, few) => Note::Parallel(format!(
            "{what}runs in parallel if the loop of line {} has fewer than {few} iterations, else on its thread",
            outer.line
        )),
        Fate::Serial(reason) => Note::Serial(format!("{what}runs on one thread: {reason}")),
    }
}

fn count(n: usize, what: &str) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    }
}
