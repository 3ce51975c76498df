//! CUDA devices as a launch sees them.

use crate::launch::{Code, Config};
use crate::limits::Refusal;
use lh_ir::diag::Diagnostic;
use lh_runtime::device::Failed;

/// Why a launch has failed.
#[derive(Debug)]
pub enum Fault {
    /// The device refuses it, with an error that CUDA has.
    Refused(&'static Refusal),
    /// A thread has raised: the exception is pending in the run-time library.
    Raised(Option<Failed>),
    /// The behaviour of a checked kernel is not defined. A thread may have raised as well.
    Found(Vec<Diagnostic>),
}

/// A device.
pub trait Device {
    /// Runs a kernel on arguments given as machine words.
    ///
    /// # Errors
    /// The device refuses it, or a thread raises.
    ///
    /// # Safety
    /// The words are those of the kernel's argument types; they point to memory that is alive and of the device.
    unsafe fn launch(&self, code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault>;
}
