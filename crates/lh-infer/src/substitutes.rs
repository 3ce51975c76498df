//! Names of Python and NumPy that compiled code lacks, with replacements. A test checks each row: the name is refused,
//! and the message contains the text.

use std::borrow::Cow;

/// Full names, and what stands in for them. Methods are under their classes.
pub const TABLE: &[(&str, &str)] = &[
    ("builtins.open", "read the file outside of the function and pass its text or `np.fromfile(...)`"),
    ("builtins.input", "ask outside of the function and pass the answer in"),
    (
        "builtins.breakpoint",
        "run the program with `LANCEHEAD_DISABLE_JIT=1`: the function stops there in the interpreter",
    ),
    ("builtins.eval", "write the expression as a function, and pass the function"),
    ("builtins.setattr", "assign the field: `record.name = x`"),
    ("builtins.vars", "pass the values as arguments"),
    ("builtins.globals", "pass the values as arguments"),
    ("builtins.locals", "pass the values as arguments"),
    ("builtins.id", "compare with `is`"),
    ("time.perf_counter", "take the time around the call, outside of the function"),
    ("time.time", "take the time around the call, outside of the function"),
    ("time.sleep", "sleep outside of the function"),
    ("random.sample", "use `np.random.permutation(n)[:k]`, or `np.random.choice(a, k, replace=False)`"),
    ("statistics.mean", "use `np.mean(a)`, or `sum(a) / len(a)`"),
    ("copy.copy", "use `a.copy()`, or `list(a)`"),
    ("copy.deepcopy", "copy what is inside by a loop: `[row.copy() for row in rows]`"),
    ("json.dumps", "return the values and write them outside of the function"),
    ("re.match", "use `find`, `startswith`, `split` and comparisons of characters"),
    ("re.search", "use `find`, `in`, `split` and comparisons of characters"),
    ("warnings.warn", "return a flag and warn outside of the function"),
    ("logging.info", "use `print`, or log outside of the function"),
    ("sys.exit", "raise an exception"),
    ("numpy.poly1d", "use `np.polyval(coefficients, x)`"),
    (
        "nd_grid.__getitem__",
        "use `np.meshgrid(x, y, indexing=\"ij\")`, or `np.arange(n).reshape(-1, 1)` and `np.arange(m)`",
    ),
    ("numpy.vectorize", "use `@vectorize`, or a loop"),
    ("numpy.loadtxt", "read the file outside of the function and pass the array"),
    ("numpy.load", "read the file outside of the function and pass the array"),
    ("numpy.save", "return the array and save it outside of the function"),
    ("numpy.in1d", "use `np.isin(a, b)`"),
    ("numpy.ndarray.tofile", "return the array, and call it outside of the function"),
    ("numpy.ndarray.resize", "use `np.resize(a, shape)`, or a new array"),
    ("numpy.ndarray.base", "pass the other array as an argument"),
    ("numpy.ndarray.setflags", "set it outside of the function"),
    ("collections.namedtuple", "define the class outside of the function"),
    ("collections.ChainMap", "merge the dictionaries, `{**second, **first}`, or look into one after the other"),
    ("builtins.memoryview.obj", "keep what the view is made of in a variable of its own"),
    ("builtins.list.__len__", "use `len(items)`"),
];

/// Advice where there is no row.
pub(crate) const OUTSIDE: &str = "call it outside of the function and pass the result in";

/// The text for a full name; modules that begin with an underscore are those of others.
pub(crate) fn of(path: &str) -> Option<&'static str> {
    TABLE.iter().find(|(name, _)| *name == path.trim_start_matches('_')).map(|(_, text)| *text)
}

/// The advice for a function that is not compiled.
pub(crate) fn advice(path: &str) -> Cow<'static, str> {
    let arrays = ["lancehead.xp.", "lancehead.cupy."].iter().find_map(|module| path.strip_prefix(module));
    match (of(path), arrays) {
        (Some(text), _) => text.into(),
        (None, Some(name)) => {
            format!("use `np.{name}`: compiled code has the names of NumPy, and compiles loops").into()
        }
        _ => OUTSIDE.into(),
    }
}

/// Name and text for a function of Python's own library by its file: it is compiled as any function, and ends at
/// something inside of it that means nothing to the user.
pub(crate) fn of_standard_library(file: &str, function: &str) -> Option<(String, &'static str)> {
    let mut parts = file.strip_suffix(".py")?.rsplit('/').filter(|p| *p != "__init__");
    let name = format!("{}.{function}", parts.next()?);
    let is_standard = parts.next().is_some_and(|folder| folder.starts_with("python3"));
    is_standard.then(|| of(&name)).flatten().map(|text| (name.clone(), text))
}

/// The text for an attribute of the library's classes of a type.
pub(crate) fn of_attribute(classes: &[&str], name: &str) -> Option<&'static str> {
    classes.iter().find_map(|class| of(&format!("{class}.{name}")))
}

/// Whether a file is one of the library's.
pub(crate) fn is_of_library(file: &str) -> bool {
    file.contains("/lancehead/lib/")
}
