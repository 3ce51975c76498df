//! Python objects by name, as far as inference needs them: what `lh-py` finds out by looking at the interpreter.

use crate::library::{library, root};
use lh_infer::Object;
use lh_ir::class::Class;
use lh_ir::{Const, ExcId, Ty};
use lh_ops::exceptions;
use std::f64::consts;

/// Modules that functions of tests may name.
const MODULES: &[&str] = &[
    "builtins",
    "cmath",
    "collections",
    "functools",
    "heapq",
    "itertools",
    "lancehead",
    "math",
    "numpy",
    "numpy.exceptions",
    "numpy.fft",
    "numpy.linalg",
    "numpy.random",
    "operator",
    "random",
    "time",
    "types",
];

/// Builtin functions and classes that are no number types and no exceptions.
const BUILTINS: &str = "NotImplemented abs all any ascii bin bytearray bytes callable chr delattr dict dir divmod enumerate eval exec \
    filter format frozenset getattr globals hasattr hash hex id input isinstance issubclass iter len list locals map \
    max memoryview min next object oct open ord pow print property range repr reversed round set setattr slice sorted \
    staticmethod str sum super tuple type vars zip";

/// Names of lancehead's own package that have a meaning in compiled code.
const OWN: &str = "prange pndindex literally literal_unroll stencil get_num_threads set_num_threads get_thread_id \
    get_parallel_chunksize set_parallel_chunksize parallel_chunksize";

/// Classes of NumPy that are asked for by `isinstance`, and functions that inference knows itself.
const NUMPY: &str = "ndarray integer signedinteger unsignedinteger floating inexact complexfloating number generic \
    dtype finfo iinfo shape ndim size ndindex ndenumerate";

/// NumPy's operators, which are ufuncs without rows of their own, and those of `operator`.
const OPERATORS: &str = "add subtract multiply divide true_divide floor_divide remainder mod power bitwise_and \
    bitwise_or bitwise_xor left_shift right_shift equal not_equal less less_equal greater greater_equal matmul \
    negative positive invert logical_not sub mul truediv floordiv pow and_ or_ xor lshift rshift eq ne lt le gt ge \
    iadd isub imul neg pos inv not_ truth index is_ is_not contains getitem";

fn is_listed(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|n| n == name)
}

/// The object of a name in a module, of a module itself if the name is empty.
pub fn find(module: &str, name: &str) -> Option<Object> {
    let path = if name.is_empty() { module.to_owned() } else { format!("{module}.{name}") };
    if path == "lancehead.lib.prim" || MODULES.contains(&&*path) {
        return Some(Object::Module(path));
    }
    if let Some(c) = constant(module, name) {
        return Some(Object::Const(c));
    }
    if let Some(t) = scalar(module, name) {
        return Some(Object::DType(t));
    }
    let is_known = match module {
        "lancehead.lib.prim" => return (!name.starts_with("__")).then(|| Object::Path(format!("prim.{name}"))),
        "builtins" => match exceptions::ALL.iter().find(|(_, n, _)| *n == name) {
            Some((id, ..)) => return Some(Object::ExcClass(*id, name.to_owned())),
            None => is_listed(BUILTINS, name),
        },
        "numpy.exceptions" => match others().find(|(_, n, _)| *n == name) {
            Some((id, ..)) => return Some(Object::ExcClass(id, name.to_owned())),
            None => false,
        },
        "types" => name == "NoneType",
        "lancehead" => is_listed(OWN, name),
        "numpy" => is_listed(NUMPY, name) || is_listed(OPERATORS, name),
        "operator" => is_listed(OPERATORS, name),
        _ => false,
    };
    if let Some(class) = path.strip_prefix("lancehead.lib.").and_then(Class::find) {
        return Some(Object::Path(class.path().to_owned()));
    }
    let has = |path: &str| library().find(path).is_some();
    let is_known = is_known
        || lh_ops::for_python(&path).is_some()
        || has(&path)
        || has(&format!("{path}.__new__"))
        || (module == "numpy" && has(&format!("numpy._ufuncs.{name}")));
    (is_known && !module.starts_with("lancehead.")).then_some(Object::Path(path))
}

/// The fields of a class that a module of the library makes with `namedtuple`, as its source says them.
pub fn fields(module: &str, name: &str) -> Option<Vec<String>> {
    let path = module.strip_prefix("lancehead.lib.")?.replace('.', "/");
    let text = std::fs::read_to_string(root().join(format!("python/lancehead/lib/{path}.py"))).ok()?;
    let start = format!("{name} = namedtuple(\"{name}\", [");
    let fields = text.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix("])"))?;
    Some(fields.split(", ").map(|field| field.trim_matches('"').to_owned()).collect())
}

/// Exception classes that are not builtin, with their numbers and names and the names of their bases.
fn others() -> impl Iterator<Item = (ExcId, &'static str, &'static str)> {
    let all = [("AxisError", "ValueError")];
    let number = |i: usize| ExcId::new(exceptions::ALL.len() + i);
    all.into_iter().enumerate().map(move |(i, (name, base))| (number(i), name, base))
}

/// Whether an exception class is another one or derives from it.
pub fn is_subclass(class: ExcId, of: ExcId) -> bool {
    let all: Vec<_> = exceptions::ALL.iter().copied().chain(others()).collect();
    let mut at = class;
    while at != of {
        let base = all.iter().find(|(id, ..)| *id == at).and_then(|c| all.iter().find(|(_, name, _)| *name == c.2));
        match base {
            Some((id, ..)) if *id != at => at = *id,
            _ => return false,
        }
    }
    true
}

fn constant(module: &str, name: &str) -> Option<Const> {
    let float = |x: f64| Some(Const::Float(x, Ty::float()));
    match (module, name) {
        ("numpy", "newaxis") => Some(Const::None),
        ("math" | "cmath" | "numpy", "pi") => float(consts::PI),
        ("math" | "cmath" | "numpy", "e") => float(consts::E),
        ("math" | "cmath" | "numpy", "inf") => float(f64::INFINITY),
        ("math" | "cmath" | "numpy", "nan") => float(f64::NAN),
        ("math" | "cmath", "tau") => float(consts::TAU),
        _ => None,
    }
}

/// A number type by its name: Python's, or NumPy's.
fn scalar(module: &str, name: &str) -> Option<Ty> {
    Some(match (module, name) {
        ("builtins", "bool") | ("numpy", "bool_" | "bool") => Ty::bool(),
        ("builtins", "int") => Ty::int(),
        ("builtins", "float") => Ty::float(),
        ("builtins", "complex") => Ty::complex(),
        ("numpy", "int8") => Ty::i8(),
        ("numpy", "int16") => Ty::i16(),
        ("numpy", "int32" | "intc") => Ty::i32(),
        ("numpy", "int64" | "intp" | "int_") => Ty::i64(),
        ("numpy", "uint8") => Ty::u8(),
        ("numpy", "uint16") => Ty::u16(),
        ("numpy", "uint32") => Ty::u32(),
        ("numpy", "uint64" | "uintp") => Ty::u64(),
        ("numpy", "float16" | "half") => Ty::f16(),
        ("numpy", "float32" | "single") => Ty::f32(),
        ("numpy", "float64" | "double") => Ty::f64(),
        ("numpy", "complex64") => Ty::c64(),
        ("numpy", "complex128") => Ty::c128(),
        _ => return None,
    })
}
