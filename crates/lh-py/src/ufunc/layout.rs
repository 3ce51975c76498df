//! Layouts of generalised ufuncs: `(m,n),(n,p)->(m,p)`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ffi::CString;

/// Core dimensions of every operand.
pub struct Layout {
    /// As written.
    pub text: CString,
    /// Names and fixed extents; an operand's dimensions are positions here.
    pub names: Vec<String>,
    /// Of every input.
    pub inputs: Vec<Vec<usize>>,
    /// Of every output.
    pub outputs: Vec<Vec<usize>>,
}

impl Layout {
    /// Reads a layout.
    ///
    /// # Errors
    /// `ValueError` for text that is none.
    pub fn parse(text: &str) -> PyResult<Layout> {
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let bad =
            |why: &str| PyValueError::new_err(format!("'{text}' is not the layout of a generalised ufunc: {why}"));
        // Without an arrow all operands are inputs, some of which are written to.
        let (inputs, outputs) = plain.split_once("->").unwrap_or((&plain, ""));
        if outputs.contains("->") {
            return Err(bad("there is more than one '->'"));
        }
        let mut names = Vec::new();
        let inputs = operands(inputs, &mut names).map_err(bad)?;
        let known = names.len();
        let outputs = operands(outputs, &mut names).map_err(bad)?;
        if outputs.is_empty() && inputs.is_empty() {
            return Err(bad("it has no operand"));
        }
        if let Some(name) = names[known..].iter().find(|n| n.parse::<usize>().is_err()) {
            return Err(bad(&format!("the dimension {name} of an output is not one of an input")));
        }
        // NumPy does not accept an arrow then.
        let text = if outputs.is_empty() { text.trim_end().trim_end_matches("->") } else { text };
        let text = CString::new(text).map_err(|_| bad("it has a zero byte"))?;
        Ok(Layout { text, names, inputs, outputs })
    }
    /// Inputs, then outputs.
    pub fn operands(&self) -> impl Iterator<Item = &Vec<usize>> {
        self.inputs.iter().chain(&self.outputs)
    }
}

fn operands(text: &str, names: &mut Vec<String>) -> Result<Vec<Vec<usize>>, &'static str> {
    let mut all = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let inner = rest.strip_prefix('(').ok_or("an operand is written in parentheses")?;
        let (dims, after) = inner.split_once(')').ok_or("a parenthesis is not closed")?;
        all.push(dimensions(dims, names)?);
        rest = match after.strip_prefix(',') {
            Some("") => return Err("an operand is missing after a comma"),
            Some(more) => more,
            None if after.is_empty() => after,
            None => return Err("operands are separated by commas"),
        };
    }
    Ok(all)
}

fn dimensions(text: &str, names: &mut Vec<String>) -> Result<Vec<usize>, &'static str> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let number = |name: &str| {
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_extent = name.parse::<usize>().is_ok_and(|n| n > 0);
        if !is_name && !is_extent {
            return Err("a dimension is a name or a positive number");
        }
        Ok(names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }))
    };
    text.split(',').map(number).collect()
}
