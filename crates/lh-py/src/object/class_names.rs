//! Classes of objects by module and name, and short texts of objects for messages.

use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};

/// Whether the `__module__` of an object's class is this module. It need not be a string: in CPython 3.13, the
/// functions of Cython 3.3 have a descriptor there.
pub fn made_in(o: &Bound<'_, PyAny>, module: &str) -> bool {
    o.get_type().module().is_ok_and(|m| m == module)
}

/// Whether an object's class has this module and name.
pub fn is_a(o: &Bound<'_, PyAny>, module: &str, class: &str) -> bool {
    o.get_type().name().is_ok_and(|n| n == class) && made_in(o, module)
}

/// The type of an object and a short form of it, for messages.
pub fn short_text(o: &Bound<'_, PyAny>) -> String {
    let class = o.get_type().name().map_or_else(|_| "object".to_owned(), |n| n.to_string());
    if o.is_instance_of::<PyModule>() {
        return o.getattr("__name__").and_then(|n| n.extract()).unwrap_or(class);
    }
    if o.is_instance_of::<PyType>() || o.is_callable() {
        let name = o.getattr("__qualname__").or_else(|_| o.getattr("__name__")).and_then(|n| n.extract::<String>());
        if let Ok(name) = name {
            return public_name(o, &name).unwrap_or(name);
        }
    }
    class
}

/// The name of an object in the module that users import it from: `_bisect.bisect_right` is `bisect.bisect_right`.
fn public_name(o: &Bound<'_, PyAny>, name: &str) -> Option<String> {
    let modules = o.py().import("sys").ok()?.getattr("modules").ok()?;
    let own = o.getattr("__module__").and_then(|m| m.extract::<String>()).unwrap_or_default();
    // Packages show methods of an object as functions of theirs, such as `multiprocessing.Pool`.
    let package = own.split('.').next().unwrap_or_default();
    let name = if o.hasattr("__self__").unwrap_or(false) { name.rsplit('.').next().unwrap_or(name) } else { name };
    // A ufunc does not know its module.
    ["builtins", own.trim_start_matches('_'), &own, package, "scipy.special"].into_iter().find_map(|module| {
        let found = modules.get_item(module).ok()?.getattr(name).ok()?;
        found.is(o).then(|| format!("{module}.{name}"))
    })
}
