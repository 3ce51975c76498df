//! Code objects as plain data for the front end.

use lh_frontend::raw::{RawCode, RawConst};
use lh_ir::Span;
use lh_ir::untyped::PyConst;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCode, PyComplex, PyComplexMethods, PyEllipsis, PyFloat, PyFrozenSet, PyInt, PySlice, PyString,
    PyTuple,
};

/// Reads a code object.
pub fn raw_code(code: &Bound<'_, PyAny>) -> PyResult<RawCode> {
    let py = code.py();
    let number = |name: &Bound<'_, PyString>| code.getattr(name)?.extract::<u32>();
    let text = |name: &Bound<'_, PyString>| -> PyResult<String> { Ok(lossy(&code.getattr(name)?)) };
    let names = |name: &Bound<'_, PyString>| -> PyResult<Vec<String>> {
        code.getattr(name)?.try_iter()?.map(|n| Ok(lossy(&n?))).collect()
    };
    let bytes = |name: &Bound<'_, PyString>| -> PyResult<Vec<u8>> {
        Ok(code.getattr(name)?.cast::<PyBytes>()?.as_bytes().to_vec())
    };
    let mut consts = Vec::new();
    for c in code.getattr(intern!(py, "co_consts"))?.cast::<PyTuple>()?.iter() {
        consts.push(raw_const(&c)?);
    }
    Ok(RawCode {
        name: text(intern!(py, "co_name"))?,
        qualname: text(intern!(py, "co_qualname"))?,
        filename: text(intern!(py, "co_filename"))?,
        // Generated code may say 0 or less.
        firstlineno: code.getattr(intern!(py, "co_firstlineno"))?.extract::<i64>()?.clamp(0, i64::from(u32::MAX))
            as u32,
        argcount: number(intern!(py, "co_argcount"))?,
        posonlyargcount: number(intern!(py, "co_posonlyargcount"))?,
        kwonlyargcount: number(intern!(py, "co_kwonlyargcount"))?,
        flags: number(intern!(py, "co_flags"))?,
        code: bytes(intern!(py, "co_code"))?,
        consts,
        names: names(intern!(py, "co_names"))?,
        varnames: names(intern!(py, "co_varnames"))?,
        cellvars: names(intern!(py, "co_cellvars"))?,
        freevars: names(intern!(py, "co_freevars"))?,
        exceptiontable: bytes(intern!(py, "co_exceptiontable"))?,
        positions: positions(code)?,
        stacksize: number(intern!(py, "co_stacksize"))?,
    })
}

/// A string, with lone surrogates (which no source file can spell) replaced.
fn lossy(text: &Bound<'_, PyAny>) -> String {
    text.cast::<PyString>().map_or_else(|_| String::new(), |s| s.to_string_lossy().into_owned())
}

fn positions(code: &Bound<'_, PyAny>) -> PyResult<Vec<Span>> {
    let mut out = Vec::new();
    for item in code.call_method0(intern!(code.py(), "co_positions"))?.try_iter()? {
        let (line, end_line, col, end_col): (Option<u32>, Option<u32>, Option<u32>, Option<u32>) = item?.extract()?;
        let line = line.unwrap_or(0);
        out.push(Span {
            line,
            end_line: end_line.unwrap_or(line),
            col: col.unwrap_or(0),
            end_col: end_col.unwrap_or(0),
        });
    }
    Ok(out)
}

fn raw_const(c: &Bound<'_, PyAny>) -> PyResult<RawConst> {
    if c.is_exact_instance_of::<PyCode>() {
        return Ok(RawConst::Code(Box::new(raw_code(c)?)));
    }
    match py_const(c)? {
        Some(v) => Ok(RawConst::Value(v)),
        None if c.is_exact_instance_of::<PyString>() => Ok(RawConst::Other("str with lone surrogates".to_owned())),
        None => Ok(RawConst::Other(c.get_type().name()?.to_string())),
    }
}

fn py_const(c: &Bound<'_, PyAny>) -> PyResult<Option<PyConst>> {
    Ok(Some(if c.is_none() {
        PyConst::None
    } else if let Ok(b) = c.cast_exact::<PyBool>() {
        PyConst::Bool(b.is_true())
    } else if c.is_exact_instance_of::<PyInt>() {
        match c.extract::<i128>() {
            Ok(v) => PyConst::Int(v),
            Err(_) => PyConst::BigInt(big_int(c)?),
        }
    } else if c.is_exact_instance_of::<PyFloat>() {
        PyConst::Float(c.extract()?)
    } else if let Ok(z) = c.cast_exact::<PyComplex>() {
        PyConst::Complex(z.real(), z.imag())
    } else if c.is_exact_instance_of::<PyString>() {
        match c.extract::<String>() {
            Ok(s) => PyConst::Str(s),
            // Lone surrogates.
            Err(_) => return Ok(None),
        }
    } else if let Ok(b) = c.cast_exact::<PyBytes>() {
        PyConst::Bytes(b.as_bytes().to_vec())
    } else if c.is_exact_instance_of::<PyEllipsis>() {
        PyConst::Ellipsis
    } else if let Ok(s) = c.cast_exact::<PySlice>() {
        let part = |name| -> PyResult<Option<PyConst>> { py_const(&s.getattr(name)?) };
        match (part("start")?, part("stop")?, part("step")?) {
            (Some(a), Some(b), Some(c)) => PyConst::Slice(Box::new([a, b, c])),
            _ => return Ok(None),
        }
    } else if c.is_exact_instance_of::<PyTuple>() || c.is_exact_instance_of::<PyFrozenSet>() {
        let mut items = Vec::new();
        for item in c.try_iter()? {
            match py_const(&item?)? {
                Some(v) => items.push(v),
                None => return Ok(None),
            }
        }
        PyConst::Tuple(items)
    } else {
        return Ok(None);
    }))
}

/// The text of an int beyond 128 bits, shortened; Python refuses to print the largest in decimal.
fn big_int(c: &Bound<'_, PyAny>) -> PyResult<String> {
    let bits: usize = c.call_method0("bit_length")?.extract()?;
    if bits > 1000 {
        return Ok(format!("an int of {bits} bits"));
    }
    let text = c.str()?.to_string();
    Ok(if text.len() > 40 { format!("{}...", &text[..37]) } else { text })
}
