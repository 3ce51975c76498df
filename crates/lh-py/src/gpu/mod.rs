//! NVIDIA's GPUs as objects of Python, kernels loaded on them, and the options of decorators, which may name a GPU.

pub mod context;
pub mod loaded;
pub mod options;
