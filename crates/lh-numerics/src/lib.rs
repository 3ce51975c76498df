//! Dense linear algebra and Fourier transforms of the host, by maintained libraries.
//!
//! `lh-runtime` calls these functions for compiled code. They are compiled here, once for each type of numbers.
//! Matrices are contiguous in memory, column by column.

pub mod dense;
pub mod fourier;
pub mod small;
