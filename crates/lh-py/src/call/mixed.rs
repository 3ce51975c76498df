//! The types that differ in a container whose items are not all of one type, for the diagnostic.

use crate::call::args::MAX_DEPTH;
use crate::object::class_names::short_text;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};

/// Items of two types in one container.
pub struct Mixed {
    /// The class of the container.
    pub container: String,
    /// The name of its parts: items, keys or values.
    pub parts: &'static str,
    /// Their types.
    pub types: (String, String),
    /// Whether the container is the argument itself.
    pub is_argument: bool,
    /// Whether both are instances of classes that a program defines.
    are_objects: bool,
}

impl Mixed {
    /// The way out.
    pub fn help(&self, argument: &str) -> String {
        let name = if self.is_argument { argument } else { "x" };
        let (a, b) = (self.types.0.as_str(), self.types.1.as_str());
        let is_number = |t: &str| matches!(t, "int" | "float" | "bool");
        let is_list = self.container == "list";
        if is_number(a) && is_number(b) {
            let to = if [a, b].contains(&"float") { "float" } else { "int" };
            return match self.parts {
                "items" => format!("make them of one type: `{{}}(map({to}, {name}))`").replace("{}", &self.container),
                "values" => format!("make them of one type: `{{k: {to}(v) for k, v in {name}.items()}}`"),
                _ => format!("make them of one type: `{{{to}(k): v for k, v in {name}.items()}}`"),
            };
        }
        if self.are_objects {
            return format!(
                "give the classes of the {} a base in common, or pass those of each class alone",
                self.parts
            );
        }
        match (a, b) {
            ("NoneType", _) | (_, "NoneType") if is_list => {
                "pass a value of the items' type in place of None, or a tuple, whose items may differ".to_owned()
            }
            _ if self.parts == "values" && self.is_argument => {
                format!(
                    "pass a dataclass or a named tuple, whose fields may differ: `namedtuple(\"P\", {name})(**{name})`"
                )
            }
            _ if is_list => {
                format!("make the items of one type, or pass a tuple, whose items may differ: `tuple({name})`")
            }
            _ => format!("make the {} of one type, or pass those of each type by themselves", self.parts),
        }
    }
}

/// The first container in an argument whose parts are of two types.
pub fn find(object: &Bound<'_, PyAny>, depth: u32) -> Option<Mixed> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().find_map(|x| find(&x, depth + 1));
    }
    let mut columns: Vec<(&'static str, Vec<Bound<'_, PyAny>>)> = Vec::new();
    if let Ok(dict) = object.cast::<PyDict>() {
        columns.push(("keys", dict.keys().iter().collect()));
        columns.push(("values", dict.values().iter().collect()));
    } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PySet>() {
        columns.push(("items", object.try_iter().ok()?.collect::<PyResult<_>>().ok()?));
    } else {
        return of_fields(object, depth);
    }
    for (parts, all) in columns {
        // Ints among floats are no fault where there is another one.
        let other = |widen: bool| {
            let first = all.first().map(|x| described(x, 0, widen))?;
            all.iter().find(|x| described(x, 0, widen) != first)
        };
        // Keys and items of sets stay as they are.
        if let Some(other) = other(true).or_else(|| other(false)) {
            let first = described(&all[0], 0, false);
            let (container, is_argument) = (short_text(object), depth == 0);
            let are_objects = [&all[0], other].into_iter().all(is_object);
            return Some(Mixed {
                container,
                parts,
                types: (first, described(other, 0, false)),
                is_argument,
                are_objects,
            });
        }
        if let Some(inner) = all.iter().find_map(|x| find(x, depth + 1)) {
            return Some(inner);
        }
    }
    None
}

/// Whether an object is an instance of a dataclass or of a class of `attrs`.
fn is_object(x: &Bound<'_, PyAny>) -> bool {
    let class = x.get_type();
    ["__dataclass_fields__", "__attrs_attrs__"].iter().any(|name| class.hasattr(*name).unwrap_or(false))
}

/// The same in the fields of an instance.
fn of_fields(object: &Bound<'_, PyAny>, depth: u32) -> Option<Mixed> {
    if !is_object(object) {
        return None;
    }
    let fields = object.getattr("__dict__").ok()?;
    fields.cast::<PyDict>().ok()?.values().iter().find_map(|x| find(&x, depth + 1))
}

/// The type of an item, with those of the first items of containers; ints are floats where they are to be widened.
fn described(x: &Bound<'_, PyAny>, depth: u32, widen: bool) -> String {
    let name = x.get_type().name().map_or_else(|_| short_text(x), |n| n.to_string());
    if widen && name == "int" {
        return "float".to_owned();
    }
    if depth > 3 {
        return name;
    }
    if let Ok(tuple) = x.cast::<PyTuple>() {
        let all: Vec<String> = tuple.iter().map(|x| described(&x, depth + 1, widen)).collect();
        return format!("{name}[{}]", all.join(", "));
    }
    let first = |of: Option<Bound<'_, PyAny>>| of.map(|x| described(&x, depth + 1, widen));
    if let Ok(list) = x.cast::<PyList>() {
        return first(list.get_item(0).ok()).map_or(name.clone(), |item| format!("{name}[{item}]"));
    }
    if let Ok(dict) = x.cast::<PyDict>() {
        let entry = dict.iter().next().map(|(k, v)| [k, v].map(|x| described(&x, depth + 1, widen)).join(", "));
        return entry.map_or(name.clone(), |entry| format!("{name}[{entry}]"));
    }
    if x.is_instance_of::<PySet>() {
        return first(x.try_iter().ok().and_then(|mut all| all.next()?.ok()))
            .map_or(name.clone(), |i| format!("{name}[{i}]"));
    }
    let of_array = |what: &str| x.getattr(what).ok()?.str().ok().map(|s| s.to_string());
    if name == "ndarray" {
        let (dtype, ndim) = (of_array("dtype").unwrap_or_default(), of_array("ndim").unwrap_or_default());
        return format!("{ndim}-dimensional array of {dtype}");
    }
    name
}
