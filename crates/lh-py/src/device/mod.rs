//! Kernels: launches on the CPU device and on GPUs, and PTX.

pub mod cpu_launch;
pub mod launch;
pub mod ptx;
pub mod ptx_kernel;
