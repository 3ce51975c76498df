//! Errors for arguments that compiled code cannot take, with help by their dtypes and classes.

use crate::call::mixed;
use crate::call::state::State;
use crate::call::tags::Refused;
use crate::host::foreign;
use crate::object::class_names::short_text;
use crate::object::paths;
use crate::runtime::render;
use lh_ir::diag::{TOO_LARGE, UNSUPPORTED_TYPE, UNTYPED_LIST};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// The exception for an argument that cannot be passed.
pub fn refuse(py: Python<'_>, state: &State, position: usize, arg: &Bound<'_, PyAny>, why: Refused) -> PyErr {
    let class = short_text(arg);
    let name = state.table().params.name_of(py, position);
    let function = state.func.bind(py).getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
    let arg_text = format!("argument `{name}` of `{function}`");
    let (id, headline, help) = match why {
        Refused::Raised => return PyErr::fetch(py),
        Refused::TooLarge => {
            let text = format!("{arg_text}: an int beyond 64 bits cannot be passed to compiled code");
            return PyOverflowError::new_err(text);
        }
        Refused::Type => {
            if let Some(error) = foreign::why_unknown(arg) {
                return error;
            }
            let headline = format!("{arg_text} is a `{class}`, which compiled code cannot take");
            return render::argument_error(py, UNSUPPORTED_TYPE, headline, &of_object(&name, &class, arg));
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
        let headline = format!("{argument} is an array that is not aligned and overlaps another argument");
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
        ("xarray", _) => format!("pass its values: `{name}.values`"),
        ("torch", _) => format!("pass an array over its memory: `{name}.numpy()`"),
        ("builtins", "frozenset") => format!("pass `set({name})`"),
        ("collections", "OrderedDict" | "defaultdict" | "Counter") => format!("pass `dict({name})`"),
        ("collections", _) => format!("pass `list({name})`"),
        ("numpy", "MaskedArray") => format!("pass its parts: `{name}.filled()`, or `{name}.data` and `{name}.mask`"),
        ("numpy", "RandomState") => "pass a generator: `np.random.default_rng(seed)`".to_owned(),
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
