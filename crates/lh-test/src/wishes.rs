//! Requirements that a file states of a function's inputs; see [`crate::inputs`] for the form.

use lh_ir::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Requirements of a function.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// No two arrays share memory.
    pub apart: bool,
    /// Floats are small multiples of 1/4.
    pub whole: bool,
    /// Threads of a block along the first axis.
    pub threads: Option<Range<i64>>,
    /// Blocks of a grid along the first axis.
    pub blocks: Option<Range<i64>>,
    /// Blocks of a grid along the second axis.
    pub rows: Option<Range<i64>>,
    /// Why the interpreter does not run the function.
    pub not_run: Option<String>,
    /// Parameters that no derivative is asked for.
    constant: HashSet<String>,
    ranges: HashMap<String, Range<i64>>,
    equal: HashMap<String, String>,
}

impl Wishes {
    /// The requirements of all functions of a text, in order.
    pub fn of(text: &str) -> Result<Vec<Wishes>, String> {
        let (mut out, mut now) = (Vec::new(), Wishes::default());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("; inputs: ") {
                rest.split(", ").try_for_each(|clause| now.add(clause))?;
            } else if let Some(reason) = line.strip_prefix("; not run: ") {
                now.not_run = Some(reason.to_owned());
            } else if line.starts_with("function ") {
                out.push(std::mem::take(&mut now));
            }
        }
        Ok(out)
    }

    fn add(&mut self, clause: &str) -> Result<(), String> {
        match clause {
            "apart" => self.apart = true,
            "whole" => self.whole = true,
            _ => {
                let unknown = || format!("`{clause}` is no requirement of inputs");
                if let Some((what, range)) = clause.split_once(" in ") {
                    let (low, high) = range.split_once("..").ok_or_else(unknown)?;
                    let number = |s: &str| s.trim().parse().map_err(|_| unknown());
                    let range = number(low)?..number(high)?;
                    match what {
                        "threads" => self.threads = Some(range),
                        "blocks" => self.blocks = Some(range),
                        "rows" => self.rows = Some(range),
                        _ => drop(self.ranges.insert(what.to_owned(), range)),
                    }
                } else if let Some(what) = clause.strip_suffix(" constant") {
                    self.constant.insert(what.to_owned());
                } else {
                    let (what, other) = clause.split_once(" is ").ok_or_else(unknown)?;
                    self.equal.insert(what.to_owned(), other.to_owned());
                }
            }
        }
        Ok(())
    }

    /// The range of a number.
    pub fn number(&self, v: Value) -> Option<Range<i64>> {
        self.ranges.get(&v.to_string()).cloned()
    }
    /// The range of an extent.
    pub fn extent(&self, v: Value, d: usize) -> Option<Range<i64>> {
        self.ranges.get(&format!("{v}[{d}]")).cloned()
    }
    /// The range of what is in an array.
    pub fn items(&self, v: Value) -> Option<Range<i64>> {
        self.ranges.get(&format!("{v} items")).cloned()
    }
    /// The range of a container's length.
    pub fn length(&self, v: Value) -> Option<Range<i64>> {
        self.ranges.get(&format!("{v} len")).cloned()
    }
    /// Whether no derivative is asked for.
    pub fn is_constant(&self, v: Value) -> bool {
        self.constant.contains(&v.to_string())
    }
    /// The number that an extent is.
    pub fn equal_number(&self, v: Value, d: usize) -> Option<Value> {
        self.equal.get(&format!("{v}[{d}]"))?.strip_prefix('v')?.parse().ok().map(Value)
    }
    /// The array and the dimension whose extent a number is.
    pub fn equal_extent(&self, v: Value) -> Option<(Value, usize)> {
        let (array, d) = self.equal.get(&v.to_string())?.strip_suffix(']')?.split_once('[')?;
        Some((Value(array.strip_prefix('v')?.parse().ok()?), d.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_those_of_the_next_function() {
        let text = "; inputs: v1 in 0..8, v0[0] is v1, apart\nfunction %f()\n; not run: because\nfunction %g()\n";
        let [f, g] = &Wishes::of(text).unwrap()[..] else { panic!("two functions") };
        assert_eq!((f.number(Value(1)), f.apart), (Some(0..8), true));
        assert_eq!(f.equal_number(Value(0), 0), Some(Value(1)));
        assert_eq!((g.not_run.as_deref(), g.apart), (Some("because"), false));
        assert!(Wishes::of("; inputs: v1 > 0\n").is_err());
    }
}
