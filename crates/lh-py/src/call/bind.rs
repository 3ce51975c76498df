//! Binding of arguments to parameters, by CPython's rules and with its messages.

use crate::object::strong_ref::StrongRef;
use crate::runtime::render;
use lh_ir::Ty;
use lh_ir::diag::{NO_MATCHING_CALL, UNSUPPORTED_SYNTAX};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use pyo3::{ffi, intern};
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// `CO_VARARGS` and `CO_VARKEYWORDS`.
const VARARGS: u32 = 4;
const VARKEYWORDS: u32 = 8;

/// Parameters of a function.
pub struct Params {
    /// The code object with these parameters.
    code: Py<PyAny>,
    /// Positional, then keyword-only.
    names: Vec<Py<PyString>>,
    positional: usize,
    positional_only: usize,
    varargs: Option<Py<PyString>>,
    varkeywords: Option<Py<PyString>>,
    /// The number of arguments of a call that needs no binding; `usize::MAX` if every call needs it.
    pub plain: usize,
}

/// Bound arguments in the order of the parameters: `*args` as a tuple before the keyword-only ones, `**` as an empty
/// tuple.
#[derive(Default)]
pub struct Arguments {
    items: SmallVec<[*mut ffi::PyObject; 16]>,
    /// Objects made while binding.
    made: Option<StrongRef>,
}

impl Arguments {
    /// The arguments.
    pub fn as_ptr(&self) -> *const *mut ffi::PyObject {
        self.items.as_ptr()
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }
}

impl Params {
    /// The types of the parameters from those of a signature, which may list the types of `*args` one by one.
    pub fn of_signature(&self, py: Python<'_>, args: Vec<Ty>) -> PyResult<Vec<Ty>> {
        let (given, single) = (args.len(), self.names.len());
        let is_packed = |at: usize| given == single + 1 && args[at].is_tuple();
        let mut types = match &self.varargs {
            None if given == single => args,
            Some(_) if is_packed(self.positional) => args,
            Some(_) if given >= single => {
                let (before, rest) = args.split_at(self.positional);
                let (several, after) = rest.split_at(given - single);
                [before, &[Ty::tuple(several.to_vec())], after].concat()
            }
            _ => {
                let several = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
                let (types, parameters) = (several(given, "argument type"), several(single, "parameter"));
                let text = format!("a signature has {types} for {parameters}");
                let help = "write a type for each parameter, those with defaults too";
                return Err(render::argument_error(py, NO_MATCHING_CALL, text, help));
            }
        };
        types.extend(self.varkeywords.as_ref().map(|_| Ty::tuple(Vec::new())));
        Ok(types)
    }

    /// The parameters of a Python function.
    pub fn of(func: &Bound<'_, PyAny>) -> PyResult<Params> {
        let py = func.py();
        let code = func.getattr(intern!(py, "__code__"))?;
        let number = |name: &Bound<'_, PyString>| code.getattr(name)?.extract::<usize>();
        let positional = number(intern!(py, "co_argcount"))?;
        let keyword = number(intern!(py, "co_kwonlyargcount"))?;
        let flags = code.getattr(intern!(py, "co_flags"))?.extract::<u32>()?;
        let mut names: Vec<Py<PyString>> = Vec::new();
        for n in code.getattr(intern!(py, "co_varnames"))?.cast::<PyTuple>()?.iter() {
            names.push(n.cast_into::<PyString>()?.unbind());
        }
        names
            .truncate(positional + keyword + usize::from(flags & VARARGS != 0) + usize::from(flags & VARKEYWORDS != 0));
        let varkeywords = if flags & VARKEYWORDS != 0 { names.pop() } else { None };
        let varargs = if flags & VARARGS != 0 { names.pop() } else { None };
        let simple = keyword == 0 && varargs.is_none() && varkeywords.is_none();
        Ok(Params {
            positional_only: number(intern!(py, "co_posonlyargcount"))?,
            code: code.unbind(),
            names,
            positional,
            varargs,
            varkeywords,
            plain: if simple { positional } else { usize::MAX },
        })
    }
    /// The number of arguments that are bound.
    pub fn count(&self) -> usize {
        self.names.len() + usize::from(self.varargs.is_some()) + usize::from(self.varkeywords.is_some())
    }
    /// Whether these are the parameters of the same code.
    pub fn is_of_code_of(&self, other: &Params) -> bool {
        self.code.is(&other.code)
    }
    /// Whether a Python function still has the code that these are the parameters of.
    #[inline(always)]
    pub fn is_of(&self, function: *mut ffi::PyObject) -> bool {
        // SAFETY: callers pass Python functions, which they keep alive.
        unsafe { (*function.cast::<ffi::PyFunctionObject>()).func_code == self.code.as_ptr() }
    }
    /// Name of a bound argument.
    pub fn name_of(&self, py: Python<'_>, position: usize) -> String {
        let name = match &self.varargs {
            Some(v) if position == self.positional => Some(v),
            Some(_) if position > self.positional => self.names.get(position - 1),
            _ => self.names.get(position),
        };
        name.map_or_else(|| position.to_string(), |n| n.bind(py).to_string())
    }
}

/// The most parameters that [`quick`] binds.
pub const MAX_QUICK: usize = 16;

/// Binds a call of a function with plain parameters only, if keywords are the very strings of its code. Returns the
/// number of arguments, or `None` if [`bind`] has to do it.
///
/// # Safety
/// As [`bind`].
#[inline(always)]
pub unsafe fn quick(
    func: *mut ffi::PyObject,
    p: &Params,
    args: *const *mut ffi::PyObject,
    n: usize,
    kwnames: *mut ffi::PyObject,
    out: &mut [MaybeUninit<*mut ffi::PyObject>; MAX_QUICK],
) -> Option<usize> {
    // SAFETY: as promised; positions are checked against the number of parameters, which is at most `MAX_QUICK`.
    unsafe {
        if p.plain > MAX_QUICK || n > p.plain || !p.is_of(func) {
            return None;
        }
        let out: *mut *mut ffi::PyObject = out.as_mut_ptr().cast();
        std::ptr::copy_nonoverlapping(args, out, n);
        out.add(n).write_bytes(0, p.plain - n);
        let keywords = if kwnames.is_null() { 0 } else { ffi::PyTuple_GET_SIZE(kwnames) as usize };
        for i in 0..keywords {
            let name = ffi::PyTuple_GET_ITEM(kwnames, i as isize);
            let at = p.names.iter().position(|k| k.as_ptr() == name)?;
            if at < p.positional_only || !(*out.add(at)).is_null() {
                return None;
            }
            *out.add(at) = *args.add(n + i);
        }
        if n + keywords < p.plain {
            let defaults = (*func.cast::<ffi::PyFunctionObject>()).func_defaults;
            let count = if defaults.is_null() { 0 } else { ffi::PyTuple_GET_SIZE(defaults) as usize };
            for at in n..p.plain {
                if (*out.add(at)).is_null() {
                    let from = (at + count).checked_sub(p.plain)?;
                    *out.add(at) = ffi::PyTuple_GET_ITEM(defaults, from as isize);
                }
            }
        }
        Some(p.plain)
    }
}

/// Binds the arguments of a call of a function to its parameters.
///
/// # Safety
/// `func` is a live Python function, `args` are the positional arguments followed by the values of `kwnames`.
pub unsafe fn bind(
    func: &Bound<'_, PyAny>,
    params: &Params,
    args: *const *mut ffi::PyObject,
    n: usize,
    kwnames: *mut ffi::PyObject,
) -> PyResult<Arguments> {
    // SAFETY: as promised.
    unsafe {
        let (py, values) = (func.py(), std::slice::from_raw_parts(args, n));
        Binder { py, func, params, values, keywords: keywords(py, args.add(n), kwnames)? }.bind()
    }
}

type Keywords<'py> = Vec<(Bound<'py, PyString>, *mut ffi::PyObject)>;

unsafe fn keywords<'py>(
    py: Python<'py>,
    values: *const *mut ffi::PyObject,
    names: *mut ffi::PyObject,
) -> PyResult<Keywords<'py>> {
    if names.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: `names` is a tuple of strings, with as many values.
    unsafe {
        let names = Bound::from_borrowed_ptr(py, names).cast_into::<PyTuple>()?;
        names.iter().enumerate().map(|(i, n)| Ok((n.cast_into::<PyString>()?, *values.add(i)))).collect()
    }
}

struct Binder<'a, 'py> {
    py: Python<'py>,
    func: &'a Bound<'py, PyAny>,
    params: &'a Params,
    values: &'a [*mut ffi::PyObject],
    keywords: Keywords<'py>,
}

impl Binder<'_, '_> {
    fn bind(self) -> PyResult<Arguments> {
        let (py, p) = (self.py, self.params);
        let mut slots: Vec<*mut ffi::PyObject> = vec![std::ptr::null_mut(); p.names.len()];
        let taken = self.values.len().min(p.positional);
        slots[..taken].copy_from_slice(&self.values[..taken]);
        self.bind_keywords(&mut slots)?;
        if self.values.len() > p.positional && p.varargs.is_none() {
            return Err(self.too_many(&slots));
        }
        self.fill_defaults(&mut slots)?;
        let mut bound = Arguments::default();
        bound.items.extend_from_slice(&slots[..p.positional]);
        if p.varargs.is_some() {
            // SAFETY: the values are live arguments.
            let rest = self.values[taken..].iter().map(|o| unsafe { Bound::from_borrowed_ptr(py, *o) });
            let rest = PyTuple::new(py, rest.collect::<Vec<_>>())?;
            bound.items.push(rest.as_ptr());
            bound.made = Some(StrongRef::new(&rest));
        }
        bound.items.extend_from_slice(&slots[p.positional..]);
        if p.varkeywords.is_some() {
            // There are none, and CPython keeps its empty tuple forever.
            bound.items.push(PyTuple::empty(py).as_ptr());
        }
        Ok(bound)
    }
    fn name(&self) -> String {
        let name = self.func.getattr(intern!(self.py, "__qualname__"));
        name.and_then(|n| n.extract()).unwrap_or_default()
    }
    fn bind_keywords(&self, slots: &mut [*mut ffi::PyObject]) -> PyResult<()> {
        let (py, p) = (self.py, self.params);
        for (name, value) in &self.keywords {
            let found = p
                .names
                .iter()
                .position(|n| n.is(name))
                .or_else(|| p.names.iter().position(|n| n.bind(py).as_any().eq(name).unwrap_or(false)));
            match found {
                Some(i) if i < p.positional_only => return Err(self.positional_only()),
                Some(i) if !slots[i].is_null() => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() got multiple values for argument '{name}'",
                        self.name()
                    )));
                }
                Some(i) => slots[i] = *value,
                None if p.varkeywords.is_some() => {
                    let text = format!(
                        "`{}` takes keyword arguments by `**`, which a call from Python cannot pass",
                        self.name()
                    );
                    let help = format!("give the parameter a name: `def {}({name}): ...`", self.name());
                    return Err(render::argument_error(py, UNSUPPORTED_SYNTAX, text, &help));
                }
                None => {
                    let text = format!("{}() got an unexpected keyword argument '{name}'", self.name());
                    let near = py.import("lancehead.options")?.call_method1("suggestion", (name, &p.names))?;
                    return Err(PyTypeError::new_err(format!("{text}{near}")));
                }
            }
        }
        Ok(())
    }
    fn positional_only(&self) -> PyErr {
        let p = self.params;
        let given =
            |n: &&Py<PyString>| self.keywords.iter().any(|(k, _)| k.as_any().eq(n.bind(self.py)).unwrap_or(false));
        let names = p.names[..p.positional_only].iter().filter(given).map(|n| n.bind(self.py).to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let name = self.name();
        PyTypeError::new_err(format!(
            "{name}() got some positional-only arguments passed as keyword arguments: '{names}'"
        ))
    }
    fn fill_defaults(&self, slots: &mut [*mut ffi::PyObject]) -> PyResult<()> {
        let (py, p) = (self.py, self.params);
        let func = self.func;
        let mut missing = Vec::new();
        let defaults = func.getattr(intern!(py, "__defaults__"))?;
        let defaults = defaults.cast::<PyTuple>().ok();
        let count = defaults.map_or(0, |d| d.len());
        for (i, slot) in slots.iter_mut().enumerate().take(p.positional).filter(|(_, s)| s.is_null()) {
            match (i + count).checked_sub(p.positional).and_then(|d| defaults?.get_borrowed_item(d).ok()) {
                // The function keeps its defaults alive.
                Some(v) => *slot = v.as_ptr(),
                None => missing.push(i),
            }
        }
        self.check(&missing, "positional")?;
        missing.clear();
        let defaults = func.getattr(intern!(py, "__kwdefaults__"))?;
        for (i, slot) in slots.iter_mut().enumerate().skip(p.positional).filter(|(_, s)| s.is_null()) {
            let value = defaults.cast::<PyDict>().ok().and_then(|d| d.get_item(&p.names[i]).ok().flatten());
            match value {
                Some(v) => *slot = v.as_ptr(),
                None => missing.push(i),
            }
        }
        self.check(&missing, "keyword-only")
    }
    fn check(&self, missing: &[usize], kind: &str) -> PyResult<()> {
        let names: Vec<String> = missing.iter().map(|i| format!("'{}'", self.params.names[*i].bind(self.py))).collect();
        let list = match &names[..] {
            [] => return Ok(()),
            [one] => one.clone(),
            [a, b] => format!("{a} and {b}"),
            [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
        };
        let s = if names.len() == 1 { "" } else { "s" };
        Err(PyTypeError::new_err(format!(
            "{}() missing {} required {kind} argument{s}: {list}",
            self.name(),
            names.len()
        )))
    }
    fn too_many(&self, slots: &[*mut ffi::PyObject]) -> PyErr {
        let p = self.params;
        let defaults = self.func.getattr(intern!(self.py, "__defaults__")).ok();
        let defaults = defaults.and_then(|d| d.cast_into::<PyTuple>().ok()).map_or(0, |d| d.len());
        let (given, max) = (self.values.len(), p.positional);
        let takes = if defaults > 0 { format!("from {} to {max}", max - defaults) } else { max.to_string() };
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let keyword = slots[p.positional..].iter().filter(|s| !s.is_null()).count();
        let were = if keyword > 0 {
            let words = format!(
                "positional argument{} (and {keyword} keyword-only argument{})",
                plural(given),
                plural(keyword)
            );
            format!("{given} {words} were")
        } else {
            format!("{given} {}", if given == 1 { "was" } else { "were" })
        };
        let s = if max == 1 && defaults == 0 { "" } else { "s" };
        PyTypeError::new_err(format!("{}() takes {takes} positional argument{s} but {were} given", self.name()))
    }
}
