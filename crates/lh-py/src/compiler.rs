//! The compilers of the process. A compilation may run Python code that compiles in its turn, so there may be several.

use crate::host::PyHost;
use crate::{guard::Guard, objects, render};
use lh_driver::{Compiled, Compiler, Dep};
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Compilers that nobody uses now.
static IDLE: Mutex<Vec<Compiler>> = Mutex::new(Vec::new());

fn idle() -> std::sync::MutexGuard<'static, Vec<Compiler>> {
    // Pushing and popping leave the list whole.
    IDLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Compiles a function for argument types; the guard says what the code depends on.
pub fn compile(py: Python<'_>, f: ObjId, args: &[Ty], options: Options, ret: Option<Ty>) -> PyResult<(Arc<Compiled>, Guard)> {
    crate::signals::install();
    let mut compiler = idle().pop().unwrap_or_default();
    let mut host = PyHost::new(py);
    // A compiler that has panicked is dropped: its tables may be half written.
    let result = catch_unwind(AssertUnwindSafe(|| compiler.compile(&mut host, f, args, options, ret)))
        .map_err(|panic| render::internal_error(py, panic.as_ref()))?;
    idle().push(compiler);
    let compiled = result.map_err(|d| render::error(py, &d))?;
    let guard = guard_of(py, f, &compiled)?;
    Ok((compiled, guard))
}

fn guard_of(py: Python<'_>, f: ObjId, compiled: &Compiled) -> PyResult<Guard> {
    let mut guard = Guard::default();
    guard.add_function(py, objects::function(f));
    for dep in &compiled.deps {
        match dep {
            Dep::Global { func, name, value } => {
                guard.add_function(py, *func);
                guard.add_name(py, *func, name, *value)?;
            }
            Dep::Free { func, index, value } => {
                guard.add_function(py, *func);
                guard.add_free(py, *func, *index, *value)?;
            }
        }
    }
    Ok(guard)
}
