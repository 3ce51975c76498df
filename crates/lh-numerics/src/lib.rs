//! Dense linear algebra and Fourier transforms of the host, by maintained libraries: faer, rustfft and realfft.
//!
//! `lh-runtime` calls these functions for compiled code. They are compiled here, once for each type of numbers.
//! Matrices are contiguous in memory, column by column. This crate knows nothing of compiled code: it says why there is
//! no result, and the caller raises. [`small`] has eigenvalues and singular values of up to 96 columns, and singular
//! values alone of any number. Matrices of few rows, and all matrices in kernels, are handled in the library's dialect.

pub mod dense;
pub mod fourier;
pub mod small;
