//! The compilers of the process. There may be several, since a compilation may run Python code that compiles in turn.

use crate::host::guard::Guard;
use crate::host::interpreter::PyHost;
use crate::host::{decorated, extensions, overloads, stopping, table};
use crate::object::canonical::canonical;
use crate::object::lock::lock;
use crate::object::resident;
use crate::runtime::{render, signals, undone};
use lh_driver::gpu::{DeviceCode, DeviceRequest};
use lh_driver::{Compiled, Compiler, Dep};
use lh_ir::diag::Diagnostic;
use lh_ir::func::{Options, Semantics};
use lh_ir::stop::Stopped;
use lh_ir::{FuncId, ObjId, Ty, TyKind};
use pyo3::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Compilers that are not in use.
static IDLE: Mutex<Vec<Compiler>> = Mutex::new(Vec::new());

thread_local! {
    /// The diagnostic of the last compilation that failed, for callers that know more than types.
    static LAST: Cell<Option<Box<Diagnostic>>> = const { Cell::new(None) };
}

/// The diagnostic of the last compilation of this thread that failed since this was asked last.
pub fn take_last() -> Option<Box<Diagnostic>> {
    LAST.take()
}

/// The reason why a function is not compiled.
pub enum Failed {
    /// The value of a parameter must be known; the error says why.
    Literal(usize, PyErr),
    /// Anything else.
    Error(PyErr),
}

impl From<PyErr> for Failed {
    fn from(e: PyErr) -> Failed {
        Failed::Error(e)
    }
}

impl From<Failed> for PyErr {
    fn from(f: Failed) -> PyErr {
        match f {
            Failed::Literal(_, e) | Failed::Error(e) => e,
        }
    }
}

/// Compiles a function for argument types; the guard has the dependencies of the code. `whole` code can be cached.
pub fn compile(
    py: Python<'_>,
    f: ObjId,
    args: &[Ty],
    options: Options,
    ret: Option<Ty>,
    whole: bool,
) -> Result<(Arc<Compiled>, Guard), Failed> {
    signals::install();
    let compile_as = |f, ret| with_compiler(py, |compiler, host| compiler.compile(host, f, args, options, ret, whole));
    let mut compiled = compile_as(f, None)?;
    // A result that converts to the declared type is converted when it is boxed; one of a type of the program is
    // converted by a function around this one; for others the compiler reports the error.
    if let Some(declared) = ret.filter(|r| !lh_infer::is_result_of(canonical(compiled.ret), *r)) {
        let around = match compiled.ret.extension() {
            Some(_) => overloads::returning(py, f, compiled.ret, declared)?,
            None => None,
        };
        compiled = compile_as(around.unwrap_or(f), ret)?;
    }
    let guard = guard_of(py, f, &compiled)?;
    Ok((compiled, guard))
}

/// Compiles a function for a GPU.
pub fn compile_ptx(
    py: Python<'_>,
    f: ObjId,
    args: &[Ty],
    options: Options,
    request: &DeviceRequest<'_>,
) -> PyResult<DeviceCode> {
    Ok(with_compiler(py, |compiler, host| compiler.compile_ptx(host, f, args, options, request))?)
}

/// The result type of a function for argument types.
pub fn result_type(py: Python<'_>, f: ObjId, args: &[Ty], options: Options) -> PyResult<Ty> {
    Ok(with_compiler(py, |compiler, host| compiler.result_type(host, f, args, options))?)
}

/// The parameters that the function of a generalised ufunc never stores to.
pub fn unstored(py: Python<'_>, f: ObjId, args: &[Ty], options: Options) -> PyResult<Vec<usize>> {
    Ok(with_compiler(py, |compiler, host| compiler.unstored(host, f, args, options))?)
}

/// Types of arguments, those of lists without items found by their use.
pub fn decided(py: Python<'_>, f: ObjId, args: &[Ty], options: Options) -> PyResult<Vec<Ty>> {
    Ok(with_compiler(py, |compiler, host| compiler.decided(host, f, args, options))?)
}

/// Runs one of the compilers.
pub fn with_compiler<'py, R>(
    py: Python<'py>,
    f: impl FnOnce(&mut Compiler, &mut PyHost<'py>) -> lh_ir::diag::Result<R>,
) -> Result<R, Failed> {
    extensions::load(py)?;
    resident::compiled();
    // Opening the store of objects may release the interpreter's lock and take it again, so `IDLE` is not locked then:
    // a thread that waited for it with that lock would stop both.
    let idle = lock(&IDLE).pop();
    let mut compiler = idle.unwrap_or_else(|| Compiler::new(super::cache::objects(py)));
    let mut host = PyHost::new(py);
    let stoppable = stopping::begin(super::cache::time_limit(py))?;
    // A compiler that has panicked or was stopped is dropped, since its tables may be half written.
    let result = catch_unwind(AssertUnwindSafe(|| f(&mut compiler, &mut host))).map_err(|panic| {
        if panic.is::<Stopped>() { stopping::take_error() } else { render::internal_error(py, panic.as_ref()) }
    });
    drop(stoppable);
    let result = result?;
    if let Some(error) = stopping::unheard() {
        return Err(error.into());
    }
    let warnings = compiler.take_warnings();
    lock(&IDLE).push(compiler);
    undone::tell(py, &warnings)?;
    result.map_err(|d| {
        let raised = host.take_raised(&d);
        let is_said = raised.is_none();
        let e = raised.unwrap_or_else(|| render::error(py, &d));
        LAST.set(is_said.then(|| d.clone()));
        match d.literal {
            Some(i) => Failed::Literal(i, e),
            None => Failed::Error(e),
        }
    })
}

/// Whether a function that another one calls has Numba's semantics: what it read stays as it was.
fn is_frozen(py: Python<'_>, callers: [ObjId; 2], dep: &Dep) -> bool {
    let (Dep::Global { func, .. } | Dep::Free { func, .. }) = dep else { return false };
    let object = table::function_object(*func).0;
    if callers.contains(&object) || table::item(object).is_some() {
        return false;
    }
    let options = decorated::of(&table::object(py, object)).map(|d| d.options());
    options.is_some_and(|o| o.semantics == Semantics::Numba)
}

/// The dependencies of code for a function.
pub fn guard_of(py: Python<'_>, f: ObjId, compiled: &Compiled) -> PyResult<Guard> {
    guard_as(py, f, f, compiled)
}

/// The same of code that was compiled for another function of the same code.
pub fn guard_as(py: Python<'_>, f: ObjId, other: ObjId, compiled: &Compiled) -> PyResult<Guard> {
    let own = |func: &FuncId| if table::function_object(*func).0 == other { table::function(f) } else { *func };
    let mut guard = Guard::default();
    guard.add_function(py, table::function(f));
    for t in &compiled.args {
        add_functions(py, &mut guard, *t);
    }
    for dep in compiled.deps.iter().filter(|d| !is_frozen(py, [f, other], d)) {
        match dep {
            Dep::Global { func, name, value } => {
                guard.add_function(py, own(func));
                guard.add_name(py, own(func), name, *value)?;
                guard.add_object(py, *value);
            }
            Dep::Attribute { object, name, value } => guard.add_attribute(py, *object, name, *value)?,
            Dep::Import { name, attr, value } => guard.add_import(py, name, attr.as_deref(), *value)?,
            Dep::Free { func, index, value } => {
                guard.add_function(py, own(func));
                guard.add_free(py, own(func), *index, *value)?;
                guard.add_object(py, *value);
            }
        }
    }
    Ok(guard)
}

/// Adds the functions that an argument of a type is.
fn add_functions(py: Python<'_>, guard: &mut Guard, t: Ty) {
    match t.kind() {
        TyKind::Func(f) => guard.add_function(py, *f),
        TyKind::Obj(o) => guard.add_object(py, Some(*o)),
        TyKind::Instance { of, .. } => add_functions(py, guard, *of),
        TyKind::Tuple { elems, .. } | TyKind::Choice(elems) => {
            elems.iter().for_each(|t| add_functions(py, guard, *t));
        }
        TyKind::Class(c) => c.args.iter().for_each(|t| add_functions(py, guard, *t)),
        TyKind::Optional(t) => add_functions(py, guard, *t),
        // The code holds the function by which the others are typed.
        TyKind::Closure { func, .. } => drop(table::object(py, table::function_object(*func).0)),
        _ => {}
    }
}
