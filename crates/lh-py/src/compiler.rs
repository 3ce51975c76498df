//! The compilers of the process. A compilation may run Python code that compiles in its turn, so there may be several.

use crate::guard::Guard;
use crate::host::PyHost;
use crate::types::canonical;
use crate::{convert, objects, render};
use lh_driver::device::{DeviceCode, DeviceRequest};
use lh_driver::{Compiled, Compiler, Dep};
use lh_ir::func::Options;
use lh_ir::{FuncId, ObjId, Ty, TyKind};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Compilers that nobody uses now.
static IDLE: Mutex<Vec<Compiler>> = Mutex::new(Vec::new());

fn idle() -> std::sync::MutexGuard<'static, Vec<Compiler>> {
    // Pushing and popping leave the list whole.
    IDLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Why a function is not compiled.
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

/// Compiles a function for argument types; the guard says what the code depends on. `whole` code can be kept.
pub fn compile(
    py: Python<'_>,
    f: ObjId,
    args: &[Ty],
    options: Options,
    ret: Option<Ty>,
    whole: bool,
) -> Result<(Arc<Compiled>, Guard), Failed> {
    crate::signals::install();
    let compiled = with_compiler(py, |compiler, host| match compiler.compile(host, f, args, options, None, whole) {
        // A result that can be converted to what the signature says is converted where it is boxed; for others the
        // compiler says what is wrong.
        Ok(c) if ret.is_some_and(|r| convert::cost(canonical(c.ret), r).is_none()) => {
            compiler.compile(host, f, args, options, ret, whole)
        }
        other => other,
    })?;
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

/// What of the library is typed for functions, as [`lh_driver::typed::Typed::open`] reads it. What is no program is passed over.
pub fn kept(py: Python<'_>, programs: &[(ObjId, Vec<Ty>)], made_for: &str, package: &str) -> PyResult<Vec<u8>> {
    Ok(with_compiler(py, |compiler, host| {
        for (f, args) in programs {
            let _ = compiler.result_type(host, *f, args, Options::default());
        }
        Ok(compiler.kept(host, made_for, package))
    })?)
}

/// Types of arguments, those of lists without items found by their use.
pub fn decided(py: Python<'_>, f: ObjId, args: &[Ty], options: Options) -> PyResult<Vec<Ty>> {
    Ok(with_compiler(py, |compiler, host| compiler.decided(host, f, args, options))?)
}

fn with_compiler<'py, R>(
    py: Python<'py>,
    f: impl FnOnce(&mut Compiler, &mut PyHost<'py>) -> lh_ir::diag::Result<R>,
) -> Result<R, Failed> {
    let mut compiler = idle().pop().unwrap_or_default();
    let mut host = PyHost::new(py);
    // A compiler that has panicked is dropped: its tables may be half written.
    let result = catch_unwind(AssertUnwindSafe(|| f(&mut compiler, &mut host)))
        .map_err(|panic| render::internal_error(py, panic.as_ref()))?;
    idle().push(compiler);
    result.map_err(|d| {
        let e = render::error(py, &d);
        match d.literal {
            Some(i) => Failed::Literal(i, e),
            None => Failed::Error(e),
        }
    })
}

/// What the validity of code for a function depends on.
pub fn guard_of(py: Python<'_>, f: ObjId, compiled: &Compiled) -> PyResult<Guard> {
    let mut guard = Guard::default();
    guard.add_function(py, objects::function(f));
    for t in args_with_functions(&compiled.args) {
        guard.add_function(py, t);
    }
    for dep in &compiled.deps {
        match dep {
            Dep::Global { func, name, value } => {
                guard.add_function(py, *func);
                guard.add_name(py, *func, name, *value)?;
                guard.add_object(py, *value);
            }
            Dep::Attribute { object, name, value } => guard.add_attribute(py, *object, name, *value)?,
            Dep::Import { name, attr, value } => guard.add_import(py, name, attr.as_deref(), *value)?,
            Dep::Free { func, index, value } => {
                guard.add_function(py, *func);
                guard.add_free(py, *func, *index, *value)?;
                guard.add_object(py, *value);
            }
        }
    }
    Ok(guard)
}

/// Functions passed as arguments.
fn args_with_functions(args: &[Ty]) -> Vec<FuncId> {
    fn collect(t: Ty, out: &mut Vec<FuncId>) {
        match t.kind() {
            TyKind::Func(f) => out.push(*f),
            TyKind::Instance { of, .. } => collect(*of, out),
            TyKind::Tuple { elems, .. } => elems.iter().for_each(|t| collect(*t, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    args.iter().for_each(|t| collect(*t, &mut out));
    out
}
