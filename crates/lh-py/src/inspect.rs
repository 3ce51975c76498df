//! What became of a function: its source with types, allocations, index checks and the vectoriser's remarks.

use lh_driver::Compiled;
use lh_ir::func::{Function, Inst};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A line of source and what is said about it.
struct Line {
    number: u32,
    text: String,
    types: Vec<String>,
    notes: Vec<String>,
}

/// One specialisation of a function.
struct Report {
    headline: String,
    lines: Vec<Line>,
    facts: Vec<String>,
}

/// What became of a function: text when printed, HTML where that is shown.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Explanation(Vec<Report>);

#[pymethods]
impl Explanation {
    fn __repr__(&self) -> String {
        self.0.iter().map(Report::text).collect::<Vec<_>>().join("\n")
    }
    fn _repr_html_(&self) -> String {
        self.0.iter().map(Report::html).collect()
    }
}

/// The explanation of specialisations of a function.
pub fn explain<'a>(func: &Bound<'_, PyAny>, compiled: impl Iterator<Item = &'a Compiled>) -> PyResult<Explanation> {
    compiled.map(|c| Report::new(func, c)).collect::<PyResult<_>>().map(Explanation)
}

/// The source with the types of the variables assigned on each line.
pub fn types(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<String> {
    let mut lines = source(func)?;
    add_types(&mut lines, c);
    Ok(Report { headline: headline(func, c)?, lines, facts: Vec::new() }.text())
}

/// The source lines of a function.
fn source(func: &Bound<'_, PyAny>) -> PyResult<Vec<Line>> {
    let py = func.py();
    let code = func.getattr(intern!(py, "__code__"))?;
    let first: u32 = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
    let mut last = first;
    for p in code.call_method0(intern!(py, "co_positions"))?.try_iter()? {
        let end: Option<u32> = p?.cast::<PyTuple>()?.get_item(1)?.extract()?;
        last = last.max(end.unwrap_or(0));
    }
    let (cache, file) = (py.import("linecache")?, code.getattr(intern!(py, "co_filename"))?);
    (first..=last)
        .map(|number| {
            let text: String = cache.call_method1("getline", (&file, number))?.extract()?;
            Ok(Line { number, text: text.trim_end().to_owned(), types: Vec::new(), notes: Vec::new() })
        })
        .collect()
}

fn headline(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<String> {
    let name: String = func.getattr(intern!(func.py(), "__qualname__"))?.extract()?;
    let args: Vec<String> = c.args.iter().map(ToString::to_string).collect();
    Ok(format!("{name}({}) -> {}", args.join(", "), c.ret))
}

fn add(lines: &mut [Line], number: u32, text: String, list: fn(&mut Line) -> &mut Vec<String>) {
    if let Some(line) = lines.iter_mut().find(|l| l.number == number)
        && !list(line).contains(&text)
    {
        list(line).push(text);
    }
}

fn add_types(lines: &mut [Line], c: &Compiled) {
    for (span, name, ty) in &c.annotations {
        add(lines, span.line, format!("{name} :: {ty}"), |l| &mut l.types);
    }
}

/// Index checks and allocations that are left in the code, by line; checks that run once per call are not told apart.
fn add_costs(lines: &mut [Line], f: &Function) {
    let mut checks: BTreeMap<u32, usize> = BTreeMap::new();
    for i in f.blocks.iter().flat_map(|b| &b.insts) {
        match &i.inst {
            Inst::ElemPtr { check: true, .. } => *checks.entry(i.span.line).or_default() += 1,
            Inst::ListNew(_) | Inst::Map(..) => add(lines, i.span.line, "allocates".to_owned(), |l| &mut l.notes),
            Inst::Runtime(r, _) if matches!(r.name, "lh_alloc" | "lh_calloc") => {
                add(lines, i.span.line, "allocates".to_owned(), |l| &mut l.notes);
            }
            _ => {}
        }
    }
    for (line, n) in checks {
        let s = if n == 1 { "" } else { "s" };
        add(lines, line, format!("{n} index check{s} left"), |l| &mut l.notes);
    }
}

impl Report {
    fn new(func: &Bound<'_, PyAny>, c: &Compiled) -> PyResult<Report> {
        let file: String = func.getattr(intern!(func.py(), "__code__"))?.getattr("co_filename")?.extract()?;
        let mut lines = source(func)?;
        add_types(&mut lines, c);
        c.functions().iter().filter(|f| f.file == file).for_each(|f| add_costs(&mut lines, f));
        let mut elsewhere = 0;
        for r in c.remarks() {
            if r.file == file && lines.iter().any(|l| l.number == r.line) {
                add(&mut lines, r.line, r.text, |l| &mut l.notes);
            } else if r.text.contains("not vectorized") {
                elsewhere += 1;
            }
        }
        let mut facts = vec![format!("{} functions, {} bytes of machine code", c.functions().len(), c.object_size)];
        if elsewhere > 0 {
            facts.push(format!("{elsewhere} remarks about loops elsewhere"));
        }
        let times: Vec<String> =
            c.timings.iter().map(|(s, t)| format!("{s} {:.2} ms", t.as_secs_f64() * 1e3)).collect();
        facts.push(times.join(", "));
        Ok(Report { headline: headline(func, c)?, lines, facts })
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n", self.headline);
        let width = self.lines.iter().map(|l| l.text.len()).max().unwrap_or(0).min(80);
        for Line { number, text, types, notes } in &self.lines {
            let types = if types.is_empty() { String::new() } else { format!("  # {}", types.join(", ")) };
            let line = format!("{number:>5}  {text:<width$}{types}");
            writeln!(out, "{}", line.trim_end()).expect("strings take any text");
            for note in notes {
                let indent = text.len() - text.trim_start().len();
                writeln!(out, "       {:indent$}^ {note}", "").expect("strings take any text");
            }
        }
        for fact in &self.facts {
            writeln!(out, "  {fact}").expect("strings take any text");
        }
        out
    }

    fn html(&self) -> String {
        let mut out = format!("<h4><code>{}</code></h4><table>", escape(&self.headline));
        for Line { number, text, types, notes } in &self.lines {
            let said =
                types.iter().map(|t| format!("<code>{}</code>", escape(t))).chain(notes.iter().map(|n| escape(n)));
            let said = said.collect::<Vec<_>>().join("<br>");
            let cells = format!("<td>{number}</td><td style='text-align:left'><pre>{}</pre></td>", escape(text));
            write!(out, "<tr>{cells}<td style='text-align:left'>{said}</td></tr>").expect("strings take any text");
        }
        out.push_str("</table><ul>");
        for fact in &self.facts {
            write!(out, "<li>{}</li>", escape(fact)).expect("strings take any text");
        }
        out + "</ul>"
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
