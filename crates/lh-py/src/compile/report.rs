//! Reports on compiled functions, as objects of `lancehead.explain`, which shows them.

use lh_driver::Compiled;
use lh_driver::report::{FunctionReport, Note};
use lh_ir::func::Semantics;
use pyo3::intern;
use pyo3::prelude::*;

/// The report on specialisations of the function with a name.
pub fn explain<'py, 'a>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
    compiled: impl Iterator<Item = &'a Compiled>,
) -> PyResult<Bound<'py, PyAny>> {
    let sections = compiled.map(|c| section(py, c, &c.explain(), true)).collect::<PyResult<Vec<_>>>()?;
    class(py, "Report")?.call1((name, sections))
}

/// Prints the report on the loops of a function that was compiled to run in parallel, if the settings ask for it.
pub fn tell_parallel(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    compiled: &Compiled,
    semantics: Semantics,
) -> PyResult<()> {
    let level: i64 = py.import("lancehead.config")?.getattr(intern!(py, "PARALLEL_DIAGNOSTICS"))?.extract()?;
    if level > 0 {
        let name = function.getattr(intern!(py, "__qualname__"))?;
        explain(py, &name, std::iter::once(compiled))?.call_method1(intern!(py, "tell"), (level.min(4),))?;
    }
    // The whole report, which is costly, is made only where the warning is likely.
    let shows_work = |n: &Note| !matches!(n.kind(), "type" | "allocates") || n.to_string().contains("array(");
    let has_work = || compiled.explain_quickly().iter().any(|f| f.notes.values().flatten().any(shows_work));
    if semantics == Semantics::Numba && !has_work() {
        let name = function.getattr(intern!(py, "__qualname__"))?;
        explain(py, &name, std::iter::once(compiled))?.call_method0(intern!(py, "warn_if_serial"))?;
    }
    Ok(())
}

/// The source with the types of the variables assigned on each line.
pub fn types(py: Python<'_>, c: &Compiled) -> PyResult<String> {
    section(py, c, &[c.types()], false)?.str()?.extract()
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "lancehead.explain"))?.getattr(name)
}

/// The section on one specialisation; `costs` adds its size and the time of each stage.
fn section<'py>(
    py: Python<'py>,
    c: &Compiled,
    functions: &[FunctionReport],
    costs: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let functions = functions.iter().map(|f| function(py, f)).collect::<PyResult<Vec<_>>>()?;
    let stages: Vec<(&str, f64)> = c.timings.iter().map(|(s, t)| (*s, t.as_secs_f64())).filter(|_| costs).collect();
    let (count, size) = if costs { (c.functions().len(), c.object_size) } else { (0, 0) };
    class(py, "Section")?.call1((functions, count, size, stages))
}

fn function<'py>(py: Python<'py>, f: &FunctionReport) -> PyResult<Bound<'py, PyAny>> {
    let lines = (f.lines.0..=f.lines.1).map(|n| line(py, f, n)).collect::<PyResult<Vec<_>>>()?;
    let params: Vec<(&str, String)> = f.params.iter().map(|(n, t)| (n.as_str(), t.numba().to_string())).collect();
    class(py, "Function")?.call1((&f.qualname, params, f.ret.numba().to_string(), &f.file, lines))
}

fn line<'py>(py: Python<'py>, f: &FunctionReport, number: u32) -> PyResult<Bound<'py, PyAny>> {
    let text: String =
        py.import(intern!(py, "linecache"))?.call_method1(intern!(py, "getline"), (&f.file, number))?.extract()?;
    let notes = f.notes.get(&number).map_or(&[][..], Vec::as_slice);
    let notes =
        notes.iter().map(|n| class(py, "Note")?.call1((n.kind(), n.to_string()))).collect::<PyResult<Vec<_>>>()?;
    class(py, "Line")?.call1((number, text.trim_end(), notes))
}
