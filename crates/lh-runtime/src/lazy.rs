//! Lazily compiled functions: those that hardly ever run are not compiled before one of them is called.

use crate::classes::SYSTEM_ERROR;
use crate::exception::{ExcArg, Pending, set_pending};
use crate::symbol::{Symbol, functions};
use std::fmt;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Compiles a function: its address, unless that fails. It lets nothing unwind.
type Make = dyn Fn() -> Option<usize> + Send + Sync;

/// A function that may not be compiled yet. Compiled code has the cell's address.
pub struct Cell {
    code: AtomicPtr<()>,
    make: Box<Make>,
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("code", &self.code).finish_non_exhaustive()
    }
}

impl Cell {
    /// A cell for the function that `make` compiles; several threads may call it at once.
    pub fn new(make: Box<Make>) -> Cell {
        Cell { code: AtomicPtr::new(std::ptr::null_mut()), make }
    }
    /// The address that compiled code has.
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self).expose_provenance()
    }
    fn code(&self) -> *mut () {
        let code = self.code.load(Ordering::Acquire);
        if !code.is_null() {
            return code;
        }
        let Some(made) = (self.make)() else { return failed as *mut () };
        let code = std::ptr::with_exposed_provenance_mut(made);
        self.code.store(code, Ordering::Release);
        code
    }
}

/// The address of a function that is called next.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rare_code(cell: *const Cell) -> *mut () {
    // SAFETY: compiled code passes the address of a cell that lives as long as it does.
    unsafe { (*cell).code() }
}

/// Takes the place of a function that could not be compiled; the panic has printed the reason.
unsafe extern "C" fn failed() -> i32 {
    let why = "the compiler failed on code that hardly ever runs, which is a bug of lancehead";
    set_pending(Pending::new(SYSTEM_ERROR, vec![ExcArg::Str(why.into())]));
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_) lh_rare_code; }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_function_is_made_once_and_a_failure_is_an_exception() {
        let times = Arc::new(AtomicUsize::new(0));
        let counted = times.clone();
        let cell = Cell::new(Box::new(move || Some(0x1000 + counted.fetch_add(1, Ordering::Relaxed))));
        for _ in 0..2 {
            // SAFETY: the cell is alive.
            assert_eq!(unsafe { lh_rare_code(&raw const cell) }.addr(), 0x1000);
        }
        assert_eq!(times.load(Ordering::Relaxed), 1);
        let broken = Cell::new(Box::new(|| None));
        // SAFETY: as above; what is answered takes no arguments.
        let status =
            unsafe { std::mem::transmute::<*mut (), unsafe extern "C" fn() -> i32>(lh_rare_code(&raw const broken))() };
        assert_eq!((status, take_pending().map(|p| p.class)), (1, Some(SYSTEM_ERROR)));
    }
}
