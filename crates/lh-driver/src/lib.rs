//! The compiler as a whole: resolve, specialise, optimise, generate code. No globals.
//!
//! [`Compiler::compile`] types a function for argument types (and, through [`lh_infer::World`], every function that it
//! calls), optimises each once, and turns all that the entry reaches into one LLVM module, one object and one entry
//! point. Library code, user code and tests come in by this door.
//!
//! - `compiler` runs the stages; its `session` answers inference's questions through the trait [`host::Host`], which
//!   `lh-py` implements. `compiler::gradients` calls `lh-grad`, `compiler::library` reads and writes the typed library.
//! - `spec` has a specialisation before code generation (`Key`, `Body`, `Dep`), `compiled` has the result of it.
//! - `code` loads objects and compiles cold functions on their first call. `cache` stores code in files and checks,
//!   before it uses an entry, everything that was read while the entry was compiled.

pub mod cache;
mod code;
mod compiled;
mod compiler;
mod digest;
mod files;
pub mod host;
mod kernel;
pub mod report;
mod source_info;
mod spec;
pub mod typed_library;

pub use code::objects::{OBJECT, ObjectStore, is_whole};
pub use code::shipped::Shipped;
pub use compiled::{Called, Compiled, Text};
pub use compiler::ptx::{LiftedKernel, compile_lifted};
pub use compiler::{Compiler, gpu};
pub use digest::{Digest, Hasher, blake2b};
pub use host::is_current;
pub use kernel::GpuKernel;
pub use lh_cuda::KernelInfo;
pub use lh_ir::switches::text as chosen_passes;
pub use lh_llvm::{Level, Output};
pub use spec::Dep;

/// Name and features of the processor that is compiled for.
pub fn processor() -> (&'static str, &'static str) {
    let host = lh_llvm::host();
    (&host.cpu, &host.features)
}

/// Levels of x86-64 that this computer has, highest first.
pub fn processor_levels() -> Vec<&'static str> {
    lh_llvm::levels()
}

/// The processors that LLVM knows by name, and the features that it knows of them.
pub fn known_processors() -> (Vec<String>, Vec<String>) {
    lh_llvm::known_processors()
}

/// The levels of x86-64 for which lancehead comes with objects, highest first.
pub const SHIPPED_LEVELS: [&str; 2] = ["x86-64-v4", "x86-64-v3"];

/// The level whose objects run on the processor that is compiled for; `None` if there is none, or if a setting names
/// another processor.
pub fn shipped_level() -> Option<&'static str> {
    let host = lh_llvm::host();
    let levels = lh_llvm::levels();
    SHIPPED_LEVELS.into_iter().find(|l| if host.is_named { host.cpu == *l } else { levels.contains(l) })
}
