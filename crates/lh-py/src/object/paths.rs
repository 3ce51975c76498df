//! Canonical paths: the public name by which a builtin or library object is known, `numpy.linalg.norm`.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCFunction, PyFunction, PyString, PyType};
use pyo3::{ffi, intern};

/// Private homes of public names.
const HOMES: &[(&str, &str)] = &[
    ("_heapq", "heapq"),
    ("_operator", "operator"),
    ("_functools", "functools"),
    ("_random", "random"),
    ("_collections", "collections"),
    ("_bisect", "bisect"),
    ("numpy.random.mtrand", "numpy.random"),
    ("numpy.random._generator", "numpy.random"),
    ("numpy.linalg.linalg", "numpy.linalg"),
    ("numpy.linalg._linalg", "numpy.linalg"),
];

/// Packages whose Python functions are known by path instead of being compiled.
const PACKAGES: &str = "builtins math cmath operator random numpy lancehead functools heapq bisect itertools collections \
                        time warnings contextlib typing scipy dataclasses attr";

/// The module and name that an object says it has.
fn claimed(o: &Bound<'_, PyAny>) -> Option<(String, String)> {
    let py = o.py();
    // A class method of a builtin class: `itertools.chain.from_iterable`.
    if o.is_exact_instance_of::<PyCFunction>()
        && let Ok(class) = o.getattr(intern!(py, "__self__"))
        && class.is_instance_of::<PyType>()
        && let Ok(module) = class.getattr(intern!(py, "__module__"))
    {
        let name = o.getattr(intern!(py, "__qualname__")).ok()?.extract().ok()?;
        return Some((module.extract().ok()?, name));
    }
    let name: String = o.getattr_opt(intern!(py, "__name__")).ok()??.extract().ok()?;
    if let Some(module) = receiver_module(o) {
        return Some((module.to_owned(), name));
    }
    let module = o.getattr_opt(intern!(py, "__module__")).ok().flatten().and_then(|m| m.extract::<String>().ok());
    Some((module.unwrap_or_else(|| "numpy".to_owned()), name))
}

/// The module of functions that are methods of a hidden instance: `numpy.random.rand`, `random.random`.
fn receiver_module(o: &Bound<'_, PyAny>) -> Option<&'static str> {
    let py = o.py();
    // Most have none: an exception that is dropped in a call keeps its memory until PyO3 is entered the next time.
    let receiver = o.getattr_opt(intern!(py, "__self__")).ok()??;
    let is_hidden = |module: &str, attr: &str| -> bool {
        let modules = py.import("sys").and_then(|s| s.getattr("modules"));
        let hidden = modules.and_then(|m| m.get_item(module)).and_then(|m| m.getattr(attr));
        hidden.is_ok_and(|h| h.is(&receiver))
    };
    let class = receiver.get_type();
    if class.name().is_ok_and(|n| n == "RandomState") && is_hidden("numpy.random.mtrand", "_rand") {
        return Some("numpy.random");
    }
    (class.name().is_ok_and(|n| n == "Random") && is_hidden("random", "_inst")).then_some("random")
}

/// The object that a function in C is a method of, and its name: `array.mean`, `"text".count`, `numpy.add.outer`.
pub fn receiver_of<'py>(o: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, String)> {
    let py = o.py();
    if !o.is_exact_instance_of::<PyCFunction>() || receiver_module(o).is_some() {
        return None;
    }
    let own = o.getattr_opt(intern!(py, "__self__")).ok()??;
    let is_method = !own.is_none() && !own.is_instance_of::<PyType>() && !own.is_instance_of::<PyModule>();
    // Functions of modules that are made by hand have the name of the module there.
    let has_home = o.getattr_opt(intern!(py, "__module__")).ok().flatten().is_some_and(|m| !m.is_none());
    let name = o.getattr_opt(intern!(py, "__name__")).ok()??.extract().ok()?;
    (is_method && !has_home).then_some((own, name))
}

fn lookup<'py>(py: Python<'py>, module: &str, name: &str) -> Option<Bound<'py, PyAny>> {
    let modules = py.import("sys").ok()?.getattr("modules").ok()?;
    let mut o = modules.get_item(module).ok()?;
    for part in name.split('.') {
        o = o.getattr_opt(part).ok()??;
    }
    Some(o)
}

/// Whether two objects are one function: methods of a hidden instance are made anew by each look-up.
fn same(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    let both_methods = receiver_module(a).is_some() && receiver_module(b).is_some();
    a.is(b) || (both_methods && a.eq(b).unwrap_or(false))
}

/// Whether a module belongs to a package whose functions are known by path.
pub fn is_known_package(module: &str) -> bool {
    let mut parts = module.split('.');
    let top = parts.next().unwrap_or_default();
    // Compiled code names only these modules of our own package; the programs of the demo are compiled like a user's.
    let own = top == "lancehead"
        && !matches!(
            parts.next(),
            None | Some(
                "annotations"
                    | "cfuncs"
                    | "cuda"
                    | "cudalib"
                    | "cupy"
                    | "cupyx"
                    | "decorators"
                    | "experimental"
                    | "extending"
                    | "gradients"
                    | "ufuncs"
                    | "stencils"
                    | "threads"
                    | "typed"
                    | "xp"
                    | "_core"
                    | "lib"
            )
        );
    !own && PACKAGES.split(' ').any(|p| p == top.trim_start_matches('_'))
}

/// Whether an object is a module or class that a program may change: one that is not of the known packages.
pub fn is_users(o: &Bound<'_, PyAny>) -> bool {
    let home = match o.cast::<PyModule>() {
        Ok(m) => m.name().map(Bound::into_any).ok(),
        Err(_) if o.is_instance_of::<PyType>() => o.getattr(intern!(o.py(), "__module__")).ok(),
        Err(_) => return false,
    };
    home.and_then(|h| h.extract::<String>().ok()).is_none_or(|h| !is_known_package(&h))
}

/// The path of a method of texts and bytes as an attribute of the class, as in `str.upper`.
fn method_path(o: &Bound<'_, PyAny>) -> Option<String> {
    let py = o.py();
    if o.get_type().name().ok()? != "method_descriptor" {
        return None;
    }
    let class = o.getattr(intern!(py, "__objclass__")).ok()?.cast_into::<PyType>().ok()?;
    let name: String = o.getattr(intern!(py, "__name__")).ok()?.extract().ok()?;
    let class = [py.get_type::<PyString>(), py.get_type::<PyBytes>(), py.get_type::<PyByteArray>()]
        .into_iter()
        .find(|known| known.is(&class))?;
    Some(format!("builtins.{}.{name}", class.name().ok()?))
}

/// The canonical path of a function, ufunc or class of a known package.
pub fn path_of(o: &Bound<'_, PyAny>) -> Option<String> {
    let py = o.py();
    if let Some(path) = method_path(o) {
        return Some(path);
    }
    if receiver_of(o).is_some() {
        return None;
    }
    let (module, name) = claimed(o)?;
    if !is_known_package(&module) || module == "lancehead.lib" || module.starts_with("lancehead.lib.") {
        return None;
    }
    let public = HOMES.iter().find(|(private, _)| *private == module).map_or(module.as_str(), |(_, public)| public);
    // Methods of a hidden instance are nowhere else, and NumPy warns of some names (`numpy.bytes`).
    let is_method = receiver_module(o).is_some();
    // The shortest public module that has the name wins: `numpy.core.fromnumeric.sum` is `numpy.sum`.
    let mut prefix = String::new();
    for part in public.split('.') {
        if !prefix.is_empty() {
            prefix.push('.');
        }
        prefix.push_str(part);
        if (!is_method || prefix == public) && lookup(py, &prefix, &name).is_some_and(|found| same(&found, o)) {
            return Some(format!("{prefix}.{name}"));
        }
    }
    // Ufuncs of SciPy do not say where they are from.
    if is_numpy_callable(o) && lookup(py, "scipy.special", &name).is_some_and(|found| found.is(o)) {
        return Some(format!("scipy.special.{name}"));
    }
    // A few names are wrong: `numpy.random.ranf` calls itself `ranf` but is made by hand.
    let callable = o.is_callable() && !o.is_instance_of::<PyFunction>();
    (callable && (o.is_instance_of::<PyCFunction>() || o.is_instance_of::<PyType>()))
        .then(|| format!("{public}.{name}"))
}

/// Whether an object is a `numpy.ufunc`, or a NumPy function behind an array-function dispatcher.
pub fn is_numpy_callable(o: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive, and so is its type.
    let name = unsafe { std::ffi::CStr::from_ptr((*ffi::Py_TYPE(o.as_ptr())).tp_name) };
    matches!(name.to_bytes(), b"numpy.ufunc" | b"numpy._ArrayFunctionDispatcher")
}
