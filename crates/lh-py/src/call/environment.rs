//! Captured variables as arguments: functions of the same code share what is compiled for them.
//!
//! The first function of some code is compiled for the values that it captures, which are constants then. When a second
//! one is called for the first time, its captured numbers, texts, tuples of these and arrays become further arguments
//! of its calls, except those whose values have to be known while compiling ([`lh_frontend::Uses`]). The cells are read
//! at each call, so that no guard compares them; every other captured variable is a constant that functions must have
//! in common to share code. If the shared form does not compile, or if a cell is rebound to a value that cannot be
//! passed, the function is compiled for its own values. With `cache=True` it always is: such code comes from files.

use crate::call::args::ArgBuf;
use crate::call::specialise;
use crate::call::state::State;
use crate::compile::compiler::{self, Failed};
use crate::host::guard::Guard;
use crate::host::held::{self, Held as HeldObjects, Scope};
use crate::host::{decorated, objmode, table};
use crate::object::by_code::{self, ByCode, Weak};
use crate::object::lock::lock;
use crate::object::numpy;
use lh_driver::Compiled;
use lh_frontend::Uses;
use lh_ir::func::{Device, Options, Semantics};
use lh_ir::{ObjId, Ty};
use pyo3::types::{PyBool, PyBytes, PyInt, PyString, PyTuple};
use pyo3::{ffi, intern, prelude::*};
use smallvec::SmallVec;
use std::sync::{Arc, LazyLock, Mutex};

/// Captured variables that a function's calls pass.
pub struct Environment {
    variables: u64,
    /// The cells, and whether their contents are passed to functions.
    cells: Vec<(Py<PyAny>, bool)>,
}

/// The contents of cells during a call.
pub type Held<'py> = SmallVec<[Bound<'py, PyAny>; 4]>;

/// A code object and what functions of it share.
struct Known {
    /// The first function of the code, which is compiled for its captured values.
    first: Weak,
    uses: Option<Uses>,
    shared: Vec<Arc<Shared>>,
}

/// Compiled code that functions share.
struct Shared {
    variables: u64,
    args: Vec<Ty>,
    options: Options,
    /// The things that these functions have in common: the globals and the variables that are constants.
    context: Vec<usize>,
    /// The function that it was compiled for, which may be gone.
    function: ObjId,
    compiled: Arc<Compiled>,
    /// Holds what it was compiled with.
    scope: u64,
    _held: Py<HeldObjects>,
    /// The function, if results may name it.
    _named: Option<Py<PyAny>>,
}

static CODES: LazyLock<Mutex<ByCode<Known>>> = LazyLock::new(Default::default);

impl Environment {
    /// The number of variables.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Adds the variables to the arguments of a call; false if one of them cannot be passed.
    pub fn push<'py>(&self, py: Python<'py>, buf: &mut ArgBuf, held: &mut Held<'py>) -> bool {
        self.cells.iter().all(|(cell, passed)| {
            let Some(value) = contents(cell.bind(py)).filter(is_data) else { return false };
            if *passed && is_choice(&value) {
                return false;
            }
            let tags = buf.tags.len();
            // SAFETY: `held` keeps the value alive.
            let pushed = unsafe { buf.push(value.as_ptr()) }.is_ok();
            if is_array(&value) {
                // Captured arrays are read only; records and copies are for the ordinary way.
                if buf.tags.len() != tags + 1 || buf.lists.is_some() {
                    return false;
                }
                buf.tags[tags] &= !((numpy::WRITEABLE as u64) << 32);
            }
            held.push(value);
            pushed
        })
    }
}

/// A cell of its own for a value, which nobody changes.
fn frozen<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the result is null with an exception, or a new reference.
    unsafe { Bound::from_owned_ptr_or_err(value.py(), ffi::PyCell_New(value.as_ptr())) }
}

/// The contents of a cell.
pub fn contents<'py>(cell: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the object is a cell; the result is null or a new reference.
    unsafe { Bound::from_owned_ptr_or_opt(cell.py(), ffi::PyCell_Get(cell.as_ptr())) }
}

/// Whether a value can be passed in place of being a constant.
pub fn is_data(o: &Bound<'_, PyAny>) -> bool {
    let class = o.get_type_ptr();
    let numbers = [&raw mut ffi::PyLong_Type, &raw mut ffi::PyFloat_Type, &raw mut ffi::PyComplex_Type];
    numbers.contains(&class)
        || is_array(o)
        || o.is_exact_instance_of::<PyBool>()
        || o.is_exact_instance_of::<PyString>()
        || o.is_exact_instance_of::<PyBytes>()
        || o.cast_exact::<PyTuple>().is_ok_and(|items| items.iter().all(|i| is_data(&i) && !is_array(&i)))
        || numpy::scalar_num(class).is_some_and(|num| !numpy::has_more(num))
}

pub fn is_array(o: &Bound<'_, PyAny>) -> bool {
    o.get_type_ptr() == numpy::ndarray_type()
}

/// Whether functions may ask for a value like this while compiling: see [`Uses::passed`].
pub fn is_choice(o: &Bound<'_, PyAny>) -> bool {
    let is_negative = || o.is_instance_of::<PyInt>() && o.lt(0).unwrap_or(true);
    o.is_exact_instance_of::<PyBool>() || o.is_exact_instance_of::<PyString>() || is_negative()
}

/// Lets a function that was never called pass its captured variables, if it is not the first of its code.
pub fn enter(py: Python<'_>, state: &State, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let fits = state.can_compile() && state.options().ir.device == Device::Host && !state.options().cache;
    if !fits || state.known().keeps_constants || !state.table().literals.is_empty() {
        return Ok(());
    }
    state.known().keeps_constants = true;
    let function = state.func.bind(py);
    let Ok(closure) = function.getattr(intern!(py, "__closure__"))?.cast_into::<PyTuple>() else { return Ok(()) };
    let code = function.getattr(intern!(py, "__code__"))?;
    let known = lock(&CODES).get_mut(&code).map(|k| (k.first.is(function), k.uses));
    let uses = match known {
        None => {
            let first = Known { first: Weak::new(function)?, uses: None, shared: Vec::new() };
            by_code::insert(&CODES, &code, first)?;
            return Ok(());
        }
        Some((true, _)) => return Ok(()),
        Some((_, Some(uses))) => uses,
        Some((_, None)) => {
            let id = table::intern(object);
            let uses = compiler::with_compiler(py, |compiler, host| compiler.uses(host, id));
            let uses = uses.unwrap_or(Uses { constant: u64::MAX, passed: 0 });
            if let Some(known) = lock(&CODES).get_mut(&code) {
                known.uses = Some(uses);
            }
            uses
        }
    };
    if !objmode::as_compiled(function.clone())?.is(function) {
        return Ok(());
    }
    let mut made = Environment { variables: 0, cells: Vec::new() };
    for (i, cell) in closure.iter().enumerate().take(u64::BITS as usize) {
        let Some(value) = contents(&cell) else { return Ok(()) };
        let is_constant = uses.constant >> i & 1 != 0 || uses.passed >> i & 1 != 0 && is_choice(&value);
        if !is_constant && is_data(&value) {
            made.variables |= 1 << i;
            let cell = if state.options().ir.semantics == Semantics::Numba { frozen(&value)? } else { cell };
            made.cells.push((cell.unbind(), uses.passed >> i & 1 != 0));
        } else if decorated::py_func(&value).is_some_and(|f| f.is(function)) {
            // No other function calls this one.
            return Ok(());
        }
    }
    if made.variables != 0 {
        state.set_environment(Some(Arc::new(made)));
    }
    Ok(())
}

/// The code for a function whose last arguments are captured variables, with its dependencies; that of another function
/// if it fits.
pub fn compile(
    py: Python<'_>,
    state: &State,
    object: &Bound<'_, PyAny>,
    environment: &Environment,
    (args, options): (&[Ty], Options),
) -> Result<(Arc<Compiled>, Guard), Failed> {
    let (function, variables) = (table::intern(object), environment.variables);
    let python = state.func.bind(py);
    let code = python.getattr(intern!(py, "__code__"))?;
    let context = self::context(python, variables)?;
    let fits = |s: &Shared| s.variables == variables && s.args == args && s.options == options && s.context == context;
    let found = lock(&CODES).get_mut(&code).and_then(|k| k.shared.iter().find(|s| fits(s)).cloned());
    if let Some(shared) = found.filter(|s| held::hold(py, s.scope)) {
        let guard = compiler::guard_as(py, function, shared.function, &shared.compiled)?;
        if guard.is_true(py) {
            return Ok((shared.compiled.clone(), guard));
        }
    }
    state.known().misses += 1;
    let scope = Scope::new(Some(object));
    // The scope holds what the functions have in common.
    let context = self::context(python, variables)?;
    let compiled = compiler::with_compiler(py, |compiler, host| {
        compiler.compile_lifted(host, function, variables, args, options)
    })?;
    let guard = compiler::guard_of(py, function, &compiled)?;
    let (scope, held) = (held::scope(), scope.hold(py)?);
    held::hold(py, scope);
    let args = args.to_vec();
    let made = compiled.clone();
    let _named = (!specialise::is_plain(compiled.ret)).then(|| object.clone().unbind());
    let shared = Shared { variables, args, options, context, function, compiled: made, scope, _held: held, _named };
    let mut codes = lock(&CODES);
    let mut old = Vec::new();
    if let Some(known) = codes.get_mut(&code) {
        let is_old = |s: &Arc<Shared>| s.variables == variables && s.args == shared.args && s.context == shared.context;
        old = known.shared.extract_if(.., |s| is_old(s)).collect();
        known.shared.push(Arc::new(shared));
    }
    drop(codes);
    drop(old);
    Ok((compiled, guard))
}

/// See [`Shared::context`].
fn context(function: &Bound<'_, PyAny>, variables: u64) -> PyResult<Vec<usize>> {
    let py = function.py();
    let mut all = vec![function.getattr(intern!(py, "__globals__"))?.as_ptr().addr()];
    all.push(function.getattr(intern!(py, "__builtins__"))?.as_ptr().addr());
    let closure = function.getattr(intern!(py, "__closure__"))?;
    for (i, cell) in closure.cast::<PyTuple>()?.iter().enumerate() {
        if i >= u64::BITS as usize || variables >> i & 1 == 0 {
            all.push(contents(&cell).map_or(usize::MAX, |value| table::intern(&value).index()));
        }
    }
    Ok(all)
}
