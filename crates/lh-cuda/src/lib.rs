//! CUDA devices: GPUs by their driver, and the CPU as a device, [`emulator::Cpu`].

mod device;
pub mod driver;
pub mod emulator;
mod findings;
mod launch;
pub mod limits;

pub use device::{Device, Fault};
pub use launch::{Code, Config, KernelInfo};
