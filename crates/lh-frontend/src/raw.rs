//! A code object as `lh-py` hands it over: plain data, no Python.

use lh_ir::Span;
use serde::Deserialize;

/// The fields of a CPython code object that translation reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct RawCode {
    /// `co_name`.
    pub name: String,
    /// `co_qualname`.
    pub qualname: String,
    /// `co_filename`.
    pub filename: String,
    /// `co_firstlineno`.
    pub firstlineno: u32,
    /// `co_argcount`.
    pub argcount: u32,
    /// `co_posonlyargcount`.
    pub posonlyargcount: u32,
    /// `co_kwonlyargcount`.
    pub kwonlyargcount: u32,
    /// `co_flags`.
    pub flags: u32,
    /// `co_code`: de-specialised bytecode.
    pub code: Vec<u8>,
    /// `co_consts`.
    pub consts: Vec<RawConst>,
    /// `co_names`.
    pub names: Vec<String>,
    /// `co_varnames`.
    pub varnames: Vec<String>,
    /// `co_cellvars`.
    pub cellvars: Vec<String>,
    /// `co_freevars`.
    pub freevars: Vec<String>,
    /// `co_exceptiontable`.
    pub exceptiontable: Vec<u8>,
    /// `co_positions()`: one per two-byte unit of `code`; unknown parts are 0.
    pub positions: Vec<Span>,
    /// `co_stacksize`.
    pub stacksize: u32,
}

/// A constant of a code object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub enum RawConst {
    /// A value.
    Value(lh_ir::untyped::PyConst),
    /// The code of an inner function.
    Code(Box<RawCode>),
    /// Something that compiled code cannot use: its type's name.
    Other(String),
}
