//! CUDA devices: GPUs by their driver, and the CPU as a device, [`emulator::Cpu`].
//!
//! A kernel has one dispatcher for the CPU device and one for each GPU; their specialisations are machine code or PTX,
//! and guards, signatures and the cache are the same for both. Passes over kernels are the room `kernel` of `lh-opt`,
//! PTX is emitted by `ptx` of `lh-llvm`, and the threads of the CPU device are `device` of `lh-runtime`.

mod device;
pub mod driver;
pub mod emulator;
mod findings;
mod launch;
pub mod limits;

pub use device::{Device, Fault};
pub use launch::{Code, Config, KernelInfo};
