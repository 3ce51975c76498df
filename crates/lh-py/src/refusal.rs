//! Ways out for arguments that compiled code cannot take, by their dtypes and classes.

use pyo3::prelude::*;

/// Headline and help for an array, which may be inside of a tuple or a list.
pub fn of_array(argument: &str, name: &str, arg: &Bound<'_, PyAny>) -> (String, String) {
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
        "M" | "m" => format!("pass the numbers of units: `{name}.view(np.int64)`"),
        "U" | "T" => format!("pass a list of texts: `{name}.tolist()`"),
        "S" => format!("pass the bytes: `{name}.view(np.uint8)`, or a list of texts: `{name}.astype(str).tolist()`"),
        _ if !native => format!("change the byte order: `{name}.astype({name}.dtype.newbyteorder(\"=\"))`"),
        "f" => format!("convert it: `{name}.astype(np.float64)`"),
        "c" => format!("convert it: `{name}.astype(np.complex128)`"),
        "V" => format!("pass its fields one by one: `{name}[\"field\"]`"),
        _ => format!("convert it: `{name}.astype(np.float64)`"),
    };
    (format!("{argument} is an array of dtype `{}`, which compiled code does not take as it is", dtype), help)
}

/// Help for an object of another class.
pub fn of_object(name: &str, class: &str, arg: &Bound<'_, PyAny>) -> String {
    let module: String = arg.get_type().getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
    let root = module.split('.').next().unwrap_or_default();
    match (root, class) {
        ("pandas" | "polars", "DataFrame") => format!("pass its columns: `{name}[\"column\"].to_numpy()`"),
        ("pandas" | "polars", _) => format!("pass its values: `{name}.to_numpy()`"),
        ("xarray", _) => format!("pass its values: `{name}.values`"),
        ("torch", _) => format!("pass an array over its memory: `{name}.numpy()`"),
        ("builtins", "dict") => "pass two lists, or arrays, of its keys and values".to_owned(),
        ("builtins", "set" | "frozenset") => format!("pass `np.array(sorted({name}))`"),
        ("collections", _) => format!("pass `list({name})`"),
        ("numpy", "Generator") => {
            "use `np.random.seed(n)` and `np.random.random()` and its kin inside of the function".to_owned()
        }
        ("datetime", _) => format!("pass a number: `{name}.timestamp()`"),
        ("decimal" | "fractions", _) => format!("pass `float({name})`"),
        _ if name == "self" => {
            "pass the fields to a function that is no method: `@staticmethod` above `@njit`, `def f(x, y): ...`"
                .to_owned()
        }
        _ => "pass numbers, strings, NumPy arrays, tuples, lists or functions; of an object pass the fields one by one"
            .to_owned(),
    }
}
