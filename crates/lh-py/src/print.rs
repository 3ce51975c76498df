//! `print` in compiled code writes to `sys.stdout`, whatever that is at the time; arrays have the text that NumPy gives them,
//! with the print options of the time.

use crate::boxing::Boxer;
use crate::raise;
use lh_ir::{Layout, Ty};
use lh_runtime::exception::set_pending;
use lh_runtime::print::ArrayText;
use pyo3::ffi;
use pyo3::prelude::*;

/// Tells the run-time library where text goes.
pub fn install() {
    lh_runtime::print::set_print_sink(write);
    lh_runtime::print::set_array_writer(array_text);
    lh_runtime::pool::set_apart(without_gil);
}

/// Waits without the GIL: a worker's iteration may need it, to print or to call back.
fn without_gil(wait: &mut dyn FnMut()) {
    // SAFETY: what is saved is restored by the same thread.
    unsafe {
        if ffi::PyGILState_Check() == 0 {
            return wait();
        }
        let saved = ffi::PyEval_SaveThread();
        wait();
        ffi::PyEval_RestoreThread(saved);
    }
}

fn write(text: &str) -> Result<(), ()> {
    // Compiled code that has released the GIL prints too, so the thread attaches itself.
    crate::attach::attach(|py| {
        let out = py.import("sys")?.getattr("stdout")?;
        if !out.is_none() {
            out.call_method1("write", (text,))?;
        }
        PyResult::Ok(())
    })
    .map_err(|_| ())
}

fn array_text(a: &ArrayText<'_>) -> Result<String, ()> {
    let dtype = match a.dtype {
        (b'b', _) => Ty::bool(),
        (b'V', _) => Ty::bf16(),
        (b'f', 2) => Ty::f16(),
        (b'f', 4) => Ty::f32(),
        (b'f', _) => Ty::f64(),
        (b'c', 8) => Ty::c64(),
        (b'c', _) => Ty::c128(),
        (sign, bytes) => Ty::new(lh_ir::TyKind::Int { bits: 8 * bytes as u8, signed: sign == b'i', weak: false }),
    };
    let ty = Ty::array_ro(dtype, a.dims.len() / 2, Layout::A, true);
    let words: Vec<u64> = [0, a.data as u64].into_iter().chain(a.dims.iter().map(|d| *d as u64)).collect();
    crate::attach::attach(|py| {
        let made = Boxer::new(py, None).borrowed(ty, &words).and_then(|array| {
            let text = if a.repr { array.repr() } else { array.str() };
            text?.extract()
        });
        made.map_err(|error| set_pending(raise::pending(py, error)))
    })
}
