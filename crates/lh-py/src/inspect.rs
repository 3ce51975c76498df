//! What became of a function, as text.

use lh_driver::Compiled;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The source lines of a function with their numbers.
fn source(func: &Bound<'_, PyAny>) -> PyResult<Vec<(u32, String)>> {
    let py = func.py();
    let code = func.getattr(intern!(py, "__code__"))?;
    let first: u32 = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
    let file = code.getattr(intern!(py, "co_filename"))?;
    let mut last = first;
    for p in code.call_method0(intern!(py, "co_positions"))?.try_iter()? {
        let end: Option<u32> = p?.cast::<PyTuple>()?.get_item(1)?.extract()?;
        last = last.max(end.unwrap_or(0));
    }
    let cache = py.import("linecache")?;
    let mut lines = Vec::new();
    for n in first..=last {
        let text: String = cache.call_method1("getline", (&file, n))?.extract()?;
        lines.push((n, text.trim_end().to_owned()));
    }
    Ok(lines)
}

fn headline(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<String> {
    let name: String = func.getattr(intern!(func.py(), "__qualname__"))?.extract()?;
    let args: Vec<String> = c.args.iter().map(ToString::to_string).collect();
    Ok(format!("{name}({}) -> {}\n", args.join(", "), c.ret))
}

/// The source with the types of the variables assigned on each line.
pub fn types(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<String> {
    let mut out = headline(func, c)?;
    let mut by_line: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (span, name, ty) in &c.annotations {
        let text = format!("{name} :: {ty}");
        let line = by_line.entry(span.line).or_default();
        if !line.contains(&text) {
            line.push(text);
        }
    }
    let lines = source(func)?;
    let width = lines.iter().map(|(_, t)| t.len()).max().unwrap_or(0).min(80);
    for (n, text) in &lines {
        match by_line.get(n) {
            Some(types) => writeln!(out, "{n:>5}  {text:<width$}  # {}", types.join(", ")),
            None => writeln!(out, "{n:>5}  {text}"),
        }
        .expect("strings take any text");
    }
    out.push('\n');
    Ok(out)
}

/// Types, what the vectoriser says, size and times.
pub fn explain(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<String> {
    let mut out = types(func, c)?;
    for r in c.remarks() {
        writeln!(out, "  {r:?}").expect("strings take any text");
    }
    writeln!(out, "  machine code: {} bytes", c.object_size).expect("strings take any text");
    for (stage, t) in &c.timings {
        writeln!(out, "  {stage}: {:.2} ms", t.as_secs_f64() * 1e3).expect("strings take any text");
    }
    out.push('\n');
    Ok(out)
}
