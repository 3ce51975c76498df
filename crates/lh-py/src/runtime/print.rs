//! `print` in compiled code: it writes to `sys.stdout` as that is at the time, and NumPy gives arrays their text, by
//! its print options of the time.

use crate::object::attach::attach;
use crate::object::numpy;
use crate::object::record_dtype;
use crate::object::text;
use crate::runtime::raise;
use lh_ir::{Ty, TyKind};
use lh_runtime::Text;
use lh_runtime::exception::set_pending;
use lh_runtime::print::ArrayText;
use pyo3::ffi;
use pyo3::prelude::*;

/// Installs the functions that print and wait in the run-time library.
pub fn install() {
    lh_runtime::print::set_print_sink(write);
    lh_runtime::print::set_array_writer(array_text);
    lh_runtime::pool::set_apart(without_gil);
}

/// Waits without the GIL, since an iteration of a worker may need it, to print or to call back.
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

fn write(text: &Text) -> Result<(), ()> {
    // Compiled code prints without the GIL, too.
    attach(|py| {
        let written = py.import("sys").and_then(|sys| {
            let out = sys.getattr("stdout")?;
            if !out.is_none() {
                out.call_method1("write", (text::object(py, text)?,))?;
            }
            Ok(())
        });
        written.map_err(|error| set_pending(raise::pending(py, error)))
    })
}

fn array_text(a: &ArrayText<'_>) -> Result<String, ()> {
    let dtype = match a.dtype {
        (b'T' | b'R', number) => {
            Ty::of_number(number).unwrap_or_else(|| lh_ir::bug!("no type has the number {number}"))
        }
        (b'b', _) => Ty::bool(),
        (b'V', _) => Ty::bf16(),
        (b'f', 2) => Ty::f16(),
        (b'f', 4) => Ty::f32(),
        (b'f', _) => Ty::f64(),
        (b'c', 8) => Ty::c64(),
        (b'c', _) => Ty::c128(),
        (sign, bytes) => Ty::new(TyKind::Int { bits: 8 * bytes as u8, signed: sign == b'i', weak: false }),
    };
    let dims: Vec<isize> = a.dims.iter().map(|d| *d as isize).collect();
    let (shape, strides) = dims.split_at(dims.len() / 2);
    attach(|py| {
        let made = numpy::load(py).and_then(|numpy| {
            let descr = match (record_dtype::dtype_of(py, dtype)?, numpy::num_of_ty(dtype)) {
                (Some(descr), _) => descr,
                (None, Some(num)) => numpy.descr(py, num)?,
                (None, None) => lh_ir::bug!("compiled code prints arrays of {dtype}"),
            };
            let array = numpy.array_over(py, descr, (a.data.cast_mut(), shape, strides), false, None)?;
            // A record by itself is a scalar.
            let array = if a.dtype.0 == b'R' { array.get_item(())? } else { array };
            let text = if a.repr { array.repr() } else { array.str() };
            text?.extract()
        });
        made.map_err(|error| set_pending(raise::pending(py, error)))
    })
}
