//! Compile options.

use crate::device::Device;
use serde::{Deserialize, Serialize};

/// How numbers of several types meet, what globals and unassigned variables are: see `docs/semantics.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Semantics {
    /// CPython's, and NumPy 2's.
    #[default]
    Python,
    /// Numba's.
    Numba,
}

/// A derivative of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Derivative {
    /// None.
    #[default]
    None,
    /// Its adjoint: reverse mode.
    Adjoint,
    /// Its tangent: forward mode.
    Tangent,
}

/// Options of `@njit` that change code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    /// LLVM fast-math flags, see [`fastmath`].
    pub fastmath: u8,
    /// Index checks.
    pub boundscheck: bool,
    /// Division by zero gives IEEE results (`error_model="numpy"`).
    pub numpy_errors: bool,
    /// Integer overflow raises (`overflow="check"`).
    pub overflow_check: bool,
    /// Whose answers the code gives.
    pub semantics: Semantics,
    /// Source lines and no optimisation (`debug=True`).
    pub debug: bool,
    /// Whether it is code for a CUDA device.
    pub device: Device,
    /// The kinds of code that run in parallel, see [`parallel`]; 0: none.
    pub parallel: u16,
    /// The files that the kernel is linked with, by a number of the host's; 0: none.
    pub link: u32,
    /// Whether C code calls it, too.
    pub callback: bool,
    /// The GPU that a kernel is compiled for, to be launched there, by a number of the host's; 0: none.
    pub gpu: u32,
    /// The derivative that is asked for: then its code before all passes is kept.
    pub derivative: Derivative,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            fastmath: 0,
            boundscheck: true,
            numpy_errors: false,
            overflow_check: false,
            semantics: Semantics::Python,
            debug: false,
            device: Device::Host,
            parallel: 0,
            link: 0,
            callback: false,
            gpu: 0,
            derivative: Derivative::None,
        }
    }
}

/// Bits of [`Options::fastmath`], LLVM's flags.
pub mod fastmath {
    /// No NaN.
    pub const NNAN: u8 = 1;
    /// No infinities.
    pub const NINF: u8 = 2;
    /// Signs of zeros do not matter.
    pub const NSZ: u8 = 4;
    /// Reciprocals for divisions.
    pub const ARCP: u8 = 8;
    /// Contraction (FMA).
    pub const CONTRACT: u8 = 16;
    /// Approximate functions.
    pub const AFN: u8 = 32;
    /// Reassociation.
    pub const REASSOC: u8 = 64;
    /// All.
    pub const FAST: u8 = 127;
    /// CUDA's: all but that there are no NaNs and infinities.
    pub const CUDA: u8 = FAST & !(NNAN | NINF);
}

/// Bits of [`Options::parallel`].
pub mod parallel {
    /// Loops over `prange` and `pndindex`.
    pub const PRANGE: u16 = 1;
    /// Elementwise computations that make or fill arrays.
    pub const SETITEM: u16 = 2;
    /// Reductions of the library.
    pub const REDUCTION: u16 = 4;
    /// Other functions of the library.
    pub const NUMPY: u16 = 8;
    /// Stencils.
    pub const STENCIL: u16 = 16;
    /// Merging of elementwise computations.
    pub const FUSION: u16 = 32;
    /// Array comprehensions.
    pub const COMPREHENSION: u16 = 64;
    /// Augmented assignments of arrays.
    pub const INPLACE: u16 = 128;
    /// Iterations are taken to be independent without proof.
    pub const UNSAFE: u16 = 256;
    /// Accesses to memory are reported at run time, which finds races.
    pub const RACE: u16 = 512;
    /// Loops whose iterations may depend on each other run in parallel all the same.
    pub const TRUST: u16 = 1024;
    /// Such loops are refused.
    pub const REFUSE: u16 = 2048;
    /// The bits of `parallel=True`.
    pub const ALL: u16 = 255;
}
