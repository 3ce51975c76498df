//! Diagnostics as text, and as Python exceptions.

use crate::host::interpreter::take_link_error;
use crate::object::errors::error_of;
use crate::object::panics;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use lh_ir::diag::{Category, Diagnostic};
use lh_ir::{Span, diag};
use lh_runtime::OutOfMemory;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::any::Any;
use std::fmt::Write;
use std::ops::RangeInclusive;

/// The most lines of one message.
const MAX_LINES: usize = 25;
/// The largest distance, in lines, of a place that is shown together with the culprit.
const NEAR: u32 = 60;

/// The exception of a diagnostic.
pub fn error(py: Python<'_>, d: &Diagnostic) -> PyErr {
    error_as(py, d, None)
}

fn error_as(py: Python<'_>, d: &Diagnostic, typing: Option<&str>) -> PyErr {
    if let Some(e) = take_link_error() {
        return e;
    }
    let reworded = reworded(py, d);
    let d = reworded.as_ref().unwrap_or(d);
    let class = match d.id.1 {
        Category::Kernel => lh_ir::bug!("a kernel is checked when it runs"),
        Category::Optimisation => lh_ir::bug!("a warning"),
        Category::Typing if d.id == diag::NOT_ON_DEVICE => "NumbaNotImplementedError",
        // Python's own functions raise a TypeError then, which it is, too.
        Category::Typing if d.id == diag::NO_MATCHING_CALL => "ArgumentError",
        Category::Typing => typing.unwrap_or("TypingError"),
        Category::Unsupported if d.id == diag::UNSUPPORTED_SYNTAX => "UnsupportedSyntaxError",
        Category::Unsupported => "UnsupportedError",
        Category::Lowering => "LoweringError",
        Category::Bytecode => "UnsupportedBytecodeError",
        Category::Value => "NumbaValueError",
        Category::Race => "ParallelRaceError",
    };
    let mut said = text(py, d);
    if let Ok(more) = in_numbas_words(py, d) {
        said.push_str(&more);
    }
    error_of(py, class, &said)
}

/// The diagnostic as `lancehead.wording` tells it: at the program's line, with advice about packages and near names.
fn reworded(py: Python<'_>, d: &Diagnostic) -> Option<Diagnostic> {
    let first = [(&d.file, d.span.line, "")];
    let calls = d.trail.iter().map(|(file, span, text)| (file, span.line, text.as_str()));
    let places: Vec<_> = first.into_iter().chain(calls).collect();
    let module = py.import("lancehead.wording").ok()?;
    let said = (d.id.0, &d.headline, &d.label, places, &d.notes, &d.names);
    let made = module.call_method1("reworded", said).ok()?;
    type Reworded = (String, String, String, usize, Vec<usize>, Vec<String>, Option<(String, u32)>);
    let (id, headline, label, shown, told, notes, here): Reworded = made.extract().ok()?;
    let mut new = d.clone();
    if id == diag::UNSUPPORTED_CALL.0 {
        new.id = diag::UNSUPPORTED_CALL;
    }
    (new.headline, new.label, new.notes) = (headline, label, notes);
    if shown > 0 {
        (new.file, new.span, _) = d.trail[shown - 1].clone();
        new.also.clear();
    }
    if let Some((file, line)) = here {
        (new.file, new.span) = (file, Span { line, end_line: line, col: 0, end_col: 0 });
        new.also.clear();
    }
    new.trail = told.into_iter().map(|n| d.trail[n - 1].clone()).collect();
    Some(new)
}

/// The words that Numba has for a kind of error, for programs that are served as its own and look for its words.
fn in_numbas_words(py: Python<'_>, d: &Diagnostic) -> PyResult<String> {
    let module = py.import("lancehead.type_texts")?;
    if !module.getattr("served")?.is_truthy()? {
        return Ok(String::new());
    }
    module.call_method1("in_numbas_words", (d.id.0, &d.headline, &d.file, d.span.line))?.extract()
}

/// A diagnostic as text of at most 25 lines.
pub fn text(py: Python<'_>, d: &Diagnostic) -> String {
    let mut out = snippet(py, d);
    for (file, span, label) in d.also.iter().filter(|(file, span, _)| !is_beside(d, file, *span)) {
        write!(out, "\n  note: {label} ({})", place(py, file, *span)).expect("strings take any text");
    }
    for (file, span, note) in &d.trail {
        write!(out, "\n  note: {note} ({})", place(py, file, *span)).expect("strings take any text");
    }
    for note in &d.notes {
        write!(out, "\n  help: {note}").expect("strings take any text");
    }
    write!(out, "\n  more: lancehead help {}", d.id.0).expect("strings take any text");
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    if lines.len() <= MAX_LINES {
        return lines.join("\n");
    }
    let (shown, last) = (MAX_LINES - 2, lines[lines.len() - 1]);
    format!("{}\n  ... {} more lines\n{last}", lines[..shown].join("\n"), lines.len() - 1 - shown)
}

fn place(py: Python<'_>, file: &str, span: Span) -> String {
    let file = shown(py, file);
    if span.line == 0 { file } else { format!("{file}:{}", span.line) }
}

/// A file as `lancehead.places` shows it.
fn shown(py: Python<'_>, file: &str) -> String {
    let made = py.import("lancehead.places").and_then(|m| m.call_method1("shown", (file,))).and_then(|t| t.extract());
    made.unwrap_or_else(|_| file.to_owned())
}

/// Headline and source line.
fn snippet(py: Python<'_>, d: &Diagnostic) -> String {
    let beside: Vec<(Span, &str)> = {
        let beside = d.also.iter().filter(|(file, span, _)| is_beside(d, file, *span));
        beside.map(|(_, span, label)| (*span, label.as_str())).collect()
    };
    let spans = || beside.iter().map(|(span, _)| *span).chain([d.span]);
    let first = spans().map(|s| s.line).min().unwrap_or(d.span.line);
    let last = spans().map(|s| s.end_line.clamp(s.line, s.line + 3)).max().unwrap_or(first);
    let source = if d.span.line > 0 { source_lines(py, &d.file, first..=last) } else { None };
    let Some(source) = source else {
        let mut out = format!("error[{}]: {}", d.id.0, d.headline);
        if !d.file.is_empty() {
            write!(out, "\n  --> {}", place(py, &d.file, d.span)).expect("strings take any text");
        }
        if !d.label.is_empty() {
            write!(out, "\n   = {}", d.label).expect("strings take any text");
        }
        return out;
    };
    let primary = AnnotationKind::Primary.span(byte_range(&source, first, d.span)).label(d.label.as_str());
    let mark = |(span, label)| AnnotationKind::Context.span(byte_range(&source, first, span)).label(label);
    let path = shown(py, &d.file);
    let snippet = Snippet::source(source.as_str()).path(path.as_str()).line_start(first as usize);
    let snippet = snippet.annotation(primary).annotations(beside.iter().copied().map(mark));
    let report = [Level::ERROR.primary_title(d.headline.as_str()).id(d.id.0).element(snippet)];
    let columns = columns(py);
    let is_wide = source.lines().any(|line| line.chars().count() + GUTTER > columns);
    // Long labels alone are no reason to show less of a line.
    let renderer = if is_wide { Renderer::plain().term_width(columns) } else { Renderer::plain() };
    renderer.render(&report)
}

/// The columns left of a line of the program: its number and a bar.
const GUTTER: usize = 7;

/// The width of the terminal, as Python's library has it: 80 without one.
fn columns(py: Python<'_>) -> usize {
    let size = py.import("shutil").and_then(|m| m.call_method0("get_terminal_size"));
    size.and_then(|size| size.get_item(0)?.extract()).unwrap_or(80).max(40)
}

/// Whether a place is shown together with the culprit, in one piece of source.
fn is_beside(d: &Diagnostic, file: &str, span: Span) -> bool {
    file == d.file && span.line > 0 && span.line.abs_diff(d.span.line) <= NEAR
}

/// Lines of a file.
fn source_lines(py: Python<'_>, file: &str, lines: RangeInclusive<u32>) -> Option<String> {
    let cache = py.import("linecache").ok()?;
    let mut out = String::new();
    for line in lines {
        let text: String = cache.call_method1("getline", (file, line)).ok()?.extract().ok()?;
        out.push_str(text.trim_end());
        out.push('\n');
    }
    (!out.trim().is_empty()).then_some(out)
}

/// The bytes of a span in a piece of source that starts at line `first`, clamped to the piece.
fn byte_range(source: &str, first: u32, span: Span) -> std::ops::Range<usize> {
    let line_start = |n: usize| source.split_inclusive('\n').take(n).map(str::len).sum::<usize>();
    let at = (span.line - first) as usize;
    let text = source.lines().nth(at).unwrap_or("");
    let (mut start, mut end) = if span.end_col == 0 {
        (line_start(at) + text.len() - text.trim_start().len(), line_start(at) + text.len())
    } else {
        let last = (span.end_line.max(span.line) - first) as usize;
        let last = last.min(source.lines().count().saturating_sub(1));
        (line_start(at) + span.col as usize, line_start(last) + span.end_col as usize)
    };
    end = end.min(source.trim_end().len());
    start = start.min(end);
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    start..end.max(start)
}

/// The text of the panic with which PyO3 meets a null pointer in place of a new object.
const NO_OBJECT: &str = "Python API call failed";

/// The exception for a panic: for a bug of ours one with a report in the folder of temporary files, for want of memory
/// a MemoryError.
pub fn internal_error(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    if let Some(OutOfMemory { bytes }) = panic.downcast_ref() {
        return PyMemoryError::new_err(format!("Unable to allocate {bytes} bytes"));
    }
    if panic.downcast_ref::<&str>().is_some_and(|text| *text == NO_OBJECT) {
        return PyMemoryError::new_err("Unable to make an object of Python");
    }
    let what = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap_or_else(|| "unknown".to_owned());
    let place = panics::take();
    let report = format!(
        "lancehead {}\nPython {}\n{} {}\n\n{what}\n{place}\n",
        env!("CARGO_PKG_VERSION"),
        Python::version_str(),
        std::env::consts::OS,
        std::env::consts::ARCH,
    );
    let path = std::env::temp_dir().join(format!("lancehead-report-{}.txt", std::process::id()));
    let where_ = match std::fs::write(&path, report) {
        Ok(()) => format!("; a report is in {}", path.display()),
        Err(_) => String::new(),
    };
    error_of(py, "InternalError", &format!("this is a bug of lancehead: {what}{where_}"))
}

/// A diagnostic about an argument of a call, which has no place in the source.
pub fn argument_error(py: Python<'_>, id: diag::Id, headline: String, help: &str) -> PyErr {
    argument_diagnostic(py, &Diagnostic::new(id, headline).note(help))
}

/// The exception of a diagnostic about an argument of a call.
pub fn argument_diagnostic(py: Python<'_>, d: &Diagnostic) -> PyErr {
    error_as(py, d, Some("ArgumentError"))
}
