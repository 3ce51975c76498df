//! The meaning of functions and classes of the library, for passes that look through calls and for inference. The
//! library declares it at the definition: `@prim.means("quotient")`.

use serde::{Deserialize, Serialize};

macro_rules! meanings {
    ($(#[doc = $of:literal])* $ty:ident { $($(#[doc = $doc:literal])* $name:ident = $word:literal,)* }) => {
        $(#[doc = $of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $ty {
            $($(#[doc = $doc])* $name,)*
        }

        impl $ty {
            /// The meaning that a declaration names.
            pub fn of_word(word: &str) -> Option<$ty> {
                match word {
                    $($word => Some($ty::$name),)*
                    _ => None,
                }
            }
            /// Its name in declarations and in textual IR.
            pub fn word(self) -> &'static str {
                match self {
                    $($ty::$name => $word,)*
                }
            }
        }
    };
}

meanings! {
    /// The meaning of a library function to passes, for calls with the types that the variant names.
    Meaning {
        /// `a // b` of integers.
        Quotient = "quotient",
        /// Beginning, end and step of a slice.
        SliceBounds = "slice_bounds",
        /// `a + b` of complex numbers.
        ComplexSum = "complex_sum",
        /// `a - b` of complex numbers.
        ComplexDifference = "complex_difference",
        /// `a * b` of complex numbers.
        ComplexProduct = "complex_product",
        /// Sets all elements of an array.
        Fill = "fill",
        /// The greater or lesser of two values of one type, or whether one or both are true.
        Extreme = "extreme",
        /// Takes some elements of its arguments, and leaves others unused.
        Selection = "selection",
        /// A statistic, which is a `float64` of floats of any width in Numba's semantics.
        Statistic = "statistic",
    }
}

meanings! {
    /// The meaning of a namedtuple of the library to inference.
    TupleMeaning {
        /// A size of blocks of parallel iterations, which holds within a `with` statement.
        ChunkSize = "chunk_size",
        /// An array that is indexed relative to an element, in a stencil.
        Relative = "relative",
        /// The values of a dictionary, by keys that are known while compiling.
        Entries = "entries",
    }
}
