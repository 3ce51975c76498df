//! Errors for arguments that compiled code cannot take, with help by their dtypes and classes.

use crate::call::args::{ArgBuf, MAX_DEPTH};
use crate::call::collections::Table;
use crate::call::decode::Decoder;
use crate::call::mixed;
use crate::call::state::State;
use crate::call::tags::Refused;
use crate::compile::compiler;
use crate::host::foreign;
use crate::object::class_names::short_text;
use crate::object::paths;
use crate::runtime::render;
use lh_ir::Ty;
use lh_ir::diag::{Diagnostic, TOO_LARGE, UNSUPPORTED_TYPE, UNTYPED_LIST};
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The exception for an argument that cannot be passed.
pub fn refuse(py: Python<'_>, state: &State, position: usize, arg: &Bound<'_, PyAny>, why: Refused) -> PyErr {
    let name = state.table().params.name_of(py, position);
    let function = state.func.bind(py).getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
    let arg_text = format!("argument `{name}` of `{function}`");
    let (id, headline, help) = match why {
        Refused::Raised => return PyErr::fetch(py),
        Refused::Memory => return PyMemoryError::new_err(()),
        Refused::TooLarge => {
            let text = format!("{arg_text}: an int beyond 64 bits cannot be passed to compiled code");
            return PyOverflowError::new_err(text);
        }
        Refused::Type => {
            // It holds an object without a type, or is an argument of a kernel.
            let part = refused_part(arg, 0);
            let (verb, name, object) = match &part {
                Some(part) => ("holds", "x", part),
                None => ("is", name.as_str(), arg),
            };
            if let Some(error) = foreign::why_unknown(object) {
                return error;
            }
            let class = short_text(object);
            let headline = format!("{arg_text} {verb} a `{class}`, which compiled code cannot take");
            return render::argument_error(py, UNSUPPORTED_TYPE, headline, &of_object(name, &class, object));
        }
        Refused::Array => {
            let (headline, help) = of_array(&arg_text, &name, arg);
            return render::argument_error(py, UNSUPPORTED_TYPE, headline, &help);
        }
        Refused::EmptyList => (
            UNTYPED_LIST,
            format!("{arg_text} is, or contains, an empty list, whose item type cannot be known"),
            "pass a NumPy array, or a list with at least one item",
        ),
        Refused::MixedList | Refused::MixedTable => {
            let mixed = mixed::find(arg, 0);
            let headline = match &mixed {
                Some(m) => {
                    format!("{arg_text}: {} of a {} are `{}` and `{}`", m.parts, m.container, m.types.0, m.types.1)
                }
                None => format!("{arg_text} is, or contains, a container whose items are not all of one type"),
            };
            let help = mixed.map_or_else(|| "make the items of one type".to_owned(), |m| m.help(&name));
            return render::argument_error(py, UNSUPPORTED_TYPE, headline, &help);
        }
        Refused::Untyped => (
            UNSUPPORTED_TYPE,
            format!("{arg_text} is a typed container whose type nothing decides yet"),
            "put an item in first, or make it by `List.empty_list(type)`, `Dict.empty(key, value)`, `Set.empty(type)`",
        ),
        Refused::Depth => (TOO_LARGE, format!("{arg_text} is nested too deeply"), "pass a flatter value"),
    };
    render::argument_error(py, id, headline, help)
}

/// The first object in a container that has no type.
fn refused_part<'py>(object: &Bound<'py, PyAny>, depth: u32) -> Option<Bound<'py, PyAny>> {
    let is_tuple = object.is_instance_of::<PyTuple>();
    if depth > MAX_DEPTH || !is_tuple && !object.is_instance_of::<PyList>() && Table::of(object).is_none() {
        return None;
    }
    let mut parts: Vec<_> = object.try_iter().ok()?.filter_map(Result::ok).collect();
    if let Ok(dict) = object.cast::<PyDict>() {
        parts.extend(dict.values());
    }
    parts.into_iter().find_map(|x| {
        let inner = refused_part(&x, depth + 1);
        // SAFETY: the item is alive, and the thread is attached.
        inner.or_else(|| (unsafe { ArgBuf::default().push(x.as_ptr()) } == Err(Refused::Type)).then_some(x))
    })
}

/// Forgets compilations that have failed before.
pub fn forget() {
    compiler::take_last();
}

/// The exception for a call that did not compile: if an argument has no type but that of all objects, it says so.
pub fn because_of_objects(py: Python<'_>, state: &State, buf: &ArgBuf, count: usize, error: PyErr) -> PyErr {
    let last = compiler::take_last();
    let mut at = 0;
    for (position, ty) in Decoder::new(py, &buf.tags).many(count).into_iter().enumerate() {
        let words = ty.flatten().len();
        if let Some((found, ty)) = object_in(ty, at)
            && let Some((_, object)) = buf.owners.iter().find(|(word, _)| *word as usize == found)
        {
            // SAFETY: arguments outlive the call, and the thread is attached.
            let object = unsafe { Bound::from_borrowed_ptr(py, *object) };
            let argument =
                Argument { name: state.table().params.name_of(py, position), object, is_array: ty.is_array() };
            return match last {
                Some(last) => of_use(py, state, &argument, &last),
                None => of_misfit(py, state, &argument, error),
            };
        }
        at += words;
    }
    error
}

/// The word of the owner of an object without a type, or of an array of such, and the type of that, in a value whose
/// words begin at `at`.
fn object_in(ty: Ty, at: usize) -> Option<(usize, Ty)> {
    if ty.is_pyobject() || ty.as_array().is_some_and(|(dtype, ..)| dtype.is_pyobject()) {
        return Some((at, ty));
    }
    let mut at = at;
    ty.tuple_elems()?.iter().find_map(|t| {
        let found = object_in(*t, at);
        at += t.flatten().len();
        found
    })
}

/// An argument without a type but that of all objects, or an object inside of one.
struct Argument<'py> {
    name: String,
    object: Bound<'py, PyAny>,
    is_array: bool,
}

impl Argument<'_> {
    /// Headline and help.
    fn said(&self, py: Python<'_>, state: &State) -> (String, String) {
        let function = state.func.bind(py).getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
        let argument = format!("argument `{}` of `{function}`", self.name);
        if self.is_array {
            return of_array(&argument, &self.name, &self.object);
        }
        let class = short_text(&self.object);
        let headline = format!("{argument} is a `{class}`, which compiled code cannot take apart");
        (headline, of_object(&self.name, &class, &self.object))
    }
}

/// The exception for the use of an argument that a diagnostic is about.
fn of_use(py: Python<'_>, state: &State, argument: &Argument<'_>, last: &Diagnostic) -> PyErr {
    if let Some(error) = foreign::why_unknown(&argument.object) {
        return error;
    }
    let (headline, help) = argument.said(py, state);
    let names_it = |text: &str| text.contains("pyobject");
    if !names_it(&last.headline) && !names_it(&last.label) {
        return render::error(py, &Box::new(last.clone()).note(headline));
    }
    let mut said = last.clone();
    said.label = std::mem::replace(&mut said.headline, headline);
    (said.id, said.notes) = (UNSUPPORTED_TYPE, vec![help]);
    render::argument_diagnostic(py, &said)
}

/// The exception for an argument that no signature takes.
fn of_misfit(py: Python<'_>, state: &State, argument: &Argument<'_>, error: PyErr) -> PyErr {
    if let Some(error) = foreign::why_unknown(&argument.object) {
        return error;
    }
    let text = error.value(py).to_string();
    if !text.starts_with("No matching definition") {
        return error;
    }
    let (headline, help) = argument.said(py, state);
    PyTypeError::new_err(format!("{text}: {headline}\n  help: {help}"))
}

/// Headline and help for an array, which may be inside of a tuple or a list.
fn of_array(argument: &str, name: &str, arg: &Bound<'_, PyAny>) -> (String, String) {
    let Some(dtype) = arg.getattr("dtype").ok() else {
        let headline = format!("{argument} holds an array of a dtype or byte order that compiled code does not have");
        return (headline, "convert the array: `a.astype(np.float64)`".to_owned());
    };
    let text = |name: &str| dtype.getattr(name).and_then(|v| v.str()).map(|v| v.to_string()).unwrap_or_default();
    let (kind, native) = (text("kind"), dtype.getattr("isnative").and_then(|v| v.extract::<bool>()).unwrap_or(true));
    let is_aligned = arg.getattr("flags").and_then(|f| f.getattr("aligned")).and_then(|a| a.extract()).unwrap_or(true);
    if native && !is_aligned && matches!(kind.as_str(), "b" | "i" | "u" | "f" | "c") {
        let headline = format!("{argument} is an array that is not aligned and overlaps itself or another argument");
        return (headline, format!("pass a copy: `{name}.copy()`"));
    }
    let help = match kind.as_str() {
        "O" => format!("convert the objects: `{name}.astype(float)` of numbers, `list({name})` of texts"),
        "T" => format!("pass a list of texts: `{name}.tolist()`"),
        _ if !native => format!("change the byte order: `{name}.astype({name}.dtype.newbyteorder(\"=\"))`"),
        "f" => format!("convert it: `{name}.astype(np.float64)`"),
        "c" => format!("convert it: `{name}.astype(np.complex128)`"),
        "V" => format!("pass its fields one by one: `{name}[\"field\"]`"),
        _ => format!("convert it: `{name}.astype(np.float64)`"),
    };
    (format!("{argument} is an array of dtype `{}`, which compiled code does not take as it is", dtype), help)
}

/// Whether an object is of a class of a program that could be made one of compiled code.
fn is_plain_class(arg: &Bound<'_, PyAny>) -> bool {
    paths::is_users(arg.get_type().as_any()) && arg.hasattr("__dict__").unwrap_or(false) && !arg.is_callable()
}

/// Help for an object of a class.
fn of_object(name: &str, class: &str, arg: &Bound<'_, PyAny>) -> String {
    let module: String = arg.get_type().getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
    let root = module.split('.').next().unwrap_or_default();
    match (root, class) {
        ("pandas" | "polars", "DataFrame") => format!("pass its columns: `{name}[\"column\"].to_numpy()`"),
        ("pandas" | "polars", _) => format!("pass its values: `{name}.to_numpy()`"),
        ("scipy", _) if module.starts_with("scipy.sparse") => {
            format!(
                "wrap it: `lancehead.sparse.{}({name})` is taken, with its methods",
                class.replace("_matrix", "_array")
            )
        }
        ("lancehead", "ndarray") if module.starts_with("lancehead.cupy") => format!("pass an array: `{name}.get()`"),
        ("lancehead", "ndarray") => format!("pass an array: `np.asarray({name})`"),
        ("xarray", _) => format!("pass its values: `{name}.values`"),
        ("torch", _) => format!("pass an array over its memory: `{name}.numpy()`"),
        ("jax" | "jaxlib" | "tensorflow" | "PIL", _) => format!("pass an array: `np.asarray({name})`"),
        ("builtins", "frozenset") => format!("pass `set({name})`"),
        ("collections", "OrderedDict" | "defaultdict" | "Counter") => format!("pass `dict({name})`"),
        ("collections", _) => format!("pass `list({name})`"),
        ("numpy", "MaskedArray") => format!("pass its parts: `{name}.filled()`, or `{name}.data` and `{name}.mask`"),
        ("numpy", "RandomState") => "pass a generator: `np.random.default_rng(seed)`".to_owned(),
        ("pathlib", _) => format!("pass its text: `str({name})`"),
        ("re", _) => "match outside of the function, and pass what was found".to_owned(),
        (
            "builtins",
            "map" | "filter" | "zip" | "enumerate" | "generator" | "dict_keys" | "dict_values" | "dict_items",
        ) => {
            format!("pass a list: `list({name})`")
        }
        ("datetime", "timedelta") => format!("pass a number: `{name}.total_seconds()`"),
        ("datetime", "date") => format!("pass a number: `{name}.toordinal()`"),
        ("datetime", _) => format!("pass a number: `{name}.timestamp()`"),
        ("decimal" | "fractions", _) => format!("pass `float({name})`"),
        _ if name == "self" => {
            "pass the fields to a function that is no method: `@staticmethod` above `@njit`, `def f(x, y): ...`"
                .to_owned()
        }
        _ if is_plain_class(arg) => format!(
            "decorate the class `{class}` with `@dataclass` or `lancehead.experimental.jitclass`, or pass its fields one \
             by one"
        ),
        _ => "pass numbers, strings, NumPy arrays, tuples, lists or functions; of an object pass the fields one by one"
            .to_owned(),
    }
}
