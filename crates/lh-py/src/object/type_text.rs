//! Signatures and types written as text: `"float64(float64[:, ::1], int64)"`.

use crate::object::attach::attach;
use crate::object::canonical::canonical;
use lh_ir::class::Class;
use lh_ir::time_unit::TimeUnit;
use lh_ir::types::{Chars, ClassTy, InstanceOf, Record};
use lh_ir::{Layout, Ty, TyKind};
use pyo3::exceptions::{PyNameError, PySyntaxError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The meaning of a text.
pub enum Parsed {
    /// A type.
    Type(Ty),
    /// Result type, if any, and argument types.
    Signature(Option<Ty>, Vec<Ty>),
}

/// Names of the scalar types, as Numba spells them.
pub fn scalar(name: &str) -> Option<Ty> {
    Some(match name {
        "int8" | "i1" | "char" => Ty::i8(),
        "int16" | "i2" | "short" => Ty::i16(),
        "int32" | "i4" | "intc" | "int_32" => Ty::i32(),
        "int64" | "i8" | "intp" | "int_" | "longlong" | "long_" | "ssize_t" | "long" => Ty::int(),
        "uint8" | "u1" | "uchar" | "byte" => Ty::u8(),
        "uint16" | "u2" | "ushort" => Ty::u16(),
        "uint32" | "u4" | "uintc" => Ty::u32(),
        "uint64" | "u8" | "uintp" | "uint" | "ulonglong" | "ulong" | "size_t" => Ty::u64(),
        "voidptr" => Ty::ptr(),
        "pyobject" => Ty::pyobject(),
        "float16" | "f2" => Ty::f16(),
        "bfloat16" => Ty::bf16(),
        "float32" | "f4" => Ty::f32(),
        "float64" | "f8" | "double" | "d" => Ty::float(),
        "float_" | "f" => Ty::f32(),
        "complex64" | "c8" => Ty::c64(),
        "complex128" | "c16" => Ty::complex(),
        "boolean" | "bool_" | "bool" | "b1" | "bool8" => Ty::bool(),
        "void" | "none" | "None" => Ty::none(),
        "unicode_type" | "string" | "str" => Ty::str(),
        "npy_rng" | "NumPyRandomGeneratorType" => Ty::random_generator(),
        "npy_bitgen" | "NumPyRandomBitGeneratorType" => Ty::bit_generator(),
        _ => return None,
    })
}

/// The layout of a letter.
pub fn layout_of(letter: &str) -> PyResult<Layout> {
    match letter {
        "C" => Ok(Layout::C),
        "F" => Ok(Layout::F),
        "A" => Ok(Layout::A),
        _ => Err(PyValueError::new_err(format!("layout must be 'C', 'F' or 'A', not {letter:?}"))),
    }
}

/// The layout that the steps of a subscript mean: whether each is 1.
pub fn layout_of_steps(steps: &[bool]) -> Layout {
    match steps {
        [.., true] => Layout::C,
        [true, ..] => Layout::F,
        _ => Layout::A,
    }
}

/// A type as text that [`parse`] reads back.
pub fn spelling(t: Ty) -> String {
    let many = |ts: &[Ty]| ts.iter().map(|t| spelling(*t)).collect::<Vec<_>>().join(", ");
    match t.kind() {
        TyKind::Tuple { elems, .. } => format!("Tuple(({}{}))", many(elems), if elems.len() == 1 { "," } else { "" }),
        TyKind::Array { dtype, ndim, layout, readonly } => {
            let dtype = spelling(*dtype);
            format!("Array({dtype}, {ndim}, '{layout:?}', {})", if *readonly { "True" } else { "False" })
        }
        TyKind::Class(_) if let Some((unit, is_span)) = t.as_time() => {
            format!("{}('{unit}')", if is_span { "NPTimedelta" } else { "NPDatetime" })
        }
        TyKind::Class(ClassTy { items: Some(e), .. }) => format!("List({})", spelling(*e)),
        TyKind::Class(c) if c.class == Class::dict() => format!("DictType({})", many(&c.args)),
        TyKind::Class(c) if c.class == Class::set() => format!("SetType({})", many(&c.args)),
        TyKind::Optional(e) => format!("Optional({})", spelling(*e)),
        TyKind::Instance { class: InstanceOf::Function { args, ret }, .. } => {
            format!("FunctionType({}({}))", spelling(*ret), many(args))
        }
        TyKind::Instance { class: InstanceOf::Pointer(to), .. } => format!("CPointer({})", spelling(*to)),
        _ => t.numba().to_string(),
    }
}

/// Reads a type or signature.
pub fn parse(text: &str) -> PyResult<Parsed> {
    let mut p = Parser { text, at: 0, depth: 0 };
    let mut value = p.value()?;
    if p.peek() == Some(',') {
        // Argument types without parentheses.
        let mut items = vec![value];
        while p.eat(',') && p.peek().is_some() {
            items.push(p.value()?);
        }
        value = Value::Tuple(items);
    }
    p.space();
    if p.at < text.len() {
        return Err(p.error("nothing more"));
    }
    match value {
        Value::Type(t) => Ok(Parsed::Type(t)),
        Value::Signature(ret, args) => Ok(Parsed::Signature(ret, args)),
        Value::Tuple(items) => Ok(Parsed::Signature(None, p.types(items)?)),
        Value::Int(_) | Value::Text(_) | Value::Flag(_) => Err(p.error("a type")),
    }
}

/// Whether these are texts in arrays.
fn is_text(t: Ty) -> bool {
    t.as_record().is_some_and(|r| r.chars.is_some())
}

enum Value {
    Type(Ty),
    Signature(Option<Ty>, Vec<Ty>),
    Tuple(Vec<Value>),
    Int(i64),
    Text(String),
    Flag(bool),
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn error(&self, wanted: &str) -> PyErr {
        PySyntaxError::new_err(format!("in the signature {:?}: {wanted} expected at position {}", self.text, self.at))
    }
    fn peek(&mut self) -> Option<char> {
        self.space();
        self.text[self.at..].chars().next()
    }
    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }
    fn want(&mut self, c: char) -> PyResult<()> {
        if self.eat(c) { Ok(()) } else { Err(self.error(&format!("`{c}`"))) }
    }
    fn word(&mut self) -> &str {
        self.space();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    fn types(&self, items: Vec<Value>) -> PyResult<Vec<Ty>> {
        items
            .into_iter()
            .map(|v| match v {
                Value::Type(t) => Ok(canonical(t)),
                Value::Signature(Some(ret), args) => Ok(Ty::function(args, ret)),
                // `Tuple((int64, int64))` writes a tuple of types where one type is meant nowhere else.
                _ => {
                    Err(PyTypeError::new_err(format!("in the signature {:?}: only types can be arguments", self.text)))
                }
            })
            .collect()
    }
    /// A value with its calls and subscripts.
    fn value(&mut self) -> PyResult<Value> {
        self.depth += 1;
        if self.depth > 100 {
            return Err(self.error("less nesting"));
        }
        let mut value = self.atom()?;
        loop {
            if self.peek() == Some('[') {
                let Value::Type(t) = value else { return Err(self.error("a type before `[`")) };
                value = Value::Type(self.subscript(t)?);
            } else if self.peek() == Some('(') {
                let Value::Type(t) = value else { return Err(self.error("a type before `(`")) };
                let items = self.items('(', ')')?;
                value = Value::Signature(Some(canonical(t)), self.types(items)?);
            } else {
                break;
            }
        }
        self.depth -= 1;
        Ok(value)
    }
    fn items(&mut self, open: char, close: char) -> PyResult<Vec<Value>> {
        self.want(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.argument()?);
            if !self.eat(',') {
                self.want(close)?;
                break;
            }
        }
        Ok(items)
    }
    /// An argument. A keyword before it is skipped, since the constructor's order is the only one.
    fn argument(&mut self) -> PyResult<Value> {
        let start = self.at;
        let is_keyword = !self.word().is_empty() && self.eat('=');
        if !is_keyword {
            self.at = start;
        }
        self.value()
    }
    fn atom(&mut self) -> PyResult<Value> {
        match self.peek() {
            Some('(') => {
                let start = self.at;
                let items = self.items('(', ')')?;
                // Parentheses around one value without a comma are only parentheses.
                let comma = self.text[start..self.at].trim_end_matches(')').trim_end().ends_with(',');
                match <[Value; 1]>::try_from(items) {
                    Ok([one]) if !comma => match one {
                        // `(int64)` as a whole signature means one argument.
                        Value::Type(t) if start == 0 => Ok(Value::Signature(None, vec![canonical(t)])),
                        one => Ok(one),
                    },
                    Ok([one]) => Ok(Value::Tuple(vec![one])),
                    Err(items) => Ok(Value::Tuple(items)),
                }
            }
            Some('[') => self.items('[', ']').map(Value::Tuple),
            Some(quote @ ('\'' | '"')) => {
                self.at += 1;
                let rest = &self.text[self.at..];
                let end = rest.find(quote).ok_or_else(|| self.error("a closing quote"))?;
                let text = rest[..end].to_owned();
                self.at += end + 1;
                Ok(Value::Text(text))
            }
            _ => self.name(),
        }
    }
    fn name(&mut self) -> PyResult<Value> {
        let name = self.word().to_owned();
        if name.is_empty() {
            return Err(self.error("a type"));
        }
        if let Ok(i) = name.parse() {
            return Ok(Value::Int(i));
        }
        let short = name.rsplit('.').next().unwrap_or(&name);
        match short {
            "True" => return Ok(Value::Flag(true)),
            "False" => return Ok(Value::Flag(false)),
            "FunctionType" | "CPointer" | "Array" | "Tuple" | "UniTuple" | "List" | "ListType" | "DictType" | "Set"
            | "SetType" | "Optional" | "optional" | "array" | "NPDatetime" | "NPTimedelta" | "CharSeq"
            | "UnicodeCharSeq" => {
                let items = self.items('(', ')')?;
                return self.constructed(short, items).map(Value::Type);
            }
            _ => {}
        }
        scalar(short).map(Value::Type).ok_or_else(|| {
            let near = attach(|py| nearest(py, short)).unwrap_or_default();
            PyNameError::new_err(format!("name '{name}' is not a type{near}"))
        })
    }
    fn constructed(&self, name: &str, items: Vec<Value>) -> PyResult<Ty> {
        let wrong = || PyTypeError::new_err(format!("in the signature {:?}: wrong arguments of {name}", self.text));
        let mut items = items.into_iter();
        match (name, items.next(), items.next(), items.next(), items.next()) {
            ("Array" | "array", Some(Value::Type(t)), Some(Value::Int(n)), Some(Value::Text(l)), flag)
                if t.is_scalar() || t.is_pyobject() || is_text(t) =>
            {
                let n = usize::try_from(n).ok().filter(|n| *n <= 64).ok_or_else(wrong)?;
                Ok(Ty::array_ro(t, n, layout_of(&l)?, matches!(flag, Some(Value::Flag(true)))))
            }
            ("NPDatetime" | "NPTimedelta", Some(Value::Text(unit)), None, ..) => {
                let unit = TimeUnit::parse(if unit.is_empty() { "generic" } else { &unit }).ok_or_else(wrong)?;
                Ok(unit.ty(name == "NPTimedelta"))
            }
            ("CharSeq" | "UnicodeCharSeq", Some(Value::Int(n)), None, ..) => {
                let chars = if name == "CharSeq" { Chars::Bytes } else { Chars::CodePoints };
                let size = usize::try_from(n).ok().and_then(|n| n.checked_mul(chars.size())).ok_or_else(wrong)?;
                Ok(Ty::new(TyKind::Record(Record::text(chars, size))))
            }
            ("Tuple", Some(Value::Tuple(elems)), None, ..) => Ok(Ty::tuple(self.types(elems)?)),
            ("UniTuple", Some(Value::Type(t)), Some(Value::Int(n)), None, _) => {
                let n = usize::try_from(n).ok().filter(|n| *n <= 1000).ok_or_else(wrong)?;
                Ok(Ty::tuple(vec![canonical(t); n]))
            }
            ("CPointer", Some(Value::Type(t)), None, ..) => Ok(Ty::pointer(t)),
            ("FunctionType", Some(Value::Signature(Some(ret), args)), None, ..) => Ok(Ty::function(args, ret)),
            ("List" | "ListType", Some(Value::Type(t)), ..) => Ok(Ty::list(canonical(t))),
            ("Set" | "SetType", Some(Value::Type(t)), ..) => Ok(Class::set().of(vec![canonical(t)], false)),
            ("DictType", Some(Value::Type(k)), Some(Value::Type(v)), None, _) => {
                Ok(Class::dict().of(vec![canonical(k), canonical(v)], false))
            }
            ("Optional" | "optional", Some(Value::Type(t)), None, ..) => Ok(Ty::optional(canonical(t))),
            _ => Err(wrong()),
        }
    }
    fn subscript(&mut self, elem: Ty) -> PyResult<Ty> {
        self.want('[')?;
        let mut steps = Vec::new();
        loop {
            self.want(':')?;
            let mut step = false;
            if self.eat(':') {
                step = match self.word() {
                    "1" => true,
                    "" => false,
                    _ => return Err(self.error("a step of 1")),
                };
            }
            steps.push(step);
            if !self.eat(',') {
                break;
            }
        }
        self.want(']')?;
        if !elem.is_scalar() && !is_text(elem) {
            return Err(PyTypeError::new_err(format!(
                "in the signature {:?}: there are no arrays of {elem}",
                self.text
            )));
        }
        Ok(Ty::array(elem, steps.len(), layout_of_steps(&steps)))
    }
}

/// The end of the message about a name that is no type: the type whose name is nearest.
fn nearest(py: Python<'_>, name: &str) -> PyResult<String> {
    let known = py.import("lancehead.types")?.dir()?;
    py.import("lancehead.options")?.call_method1("suggestion", (name, known))?.extract()
}
