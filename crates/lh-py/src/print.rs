//! `print` in compiled code writes to `sys.stdout`, whatever that is at the time.

use pyo3::prelude::*;

/// Tells the run-time library where text goes.
pub fn install() {
    lh_runtime::print::set_print_sink(write);
}

fn write(text: &str) -> Result<(), ()> {
    // Compiled code that has released the GIL prints too, so the thread attaches itself.
    Python::attach(|py| {
        let out = py.import("sys")?.getattr("stdout")?;
        if !out.is_none() {
            out.call_method1("write", (text,))?;
        }
        PyResult::Ok(())
    })
    .map_err(|_| ())
}
