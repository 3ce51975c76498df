//! Hints about loops, which passes leave for each other and for the code generator.

use serde::{Deserialize, Serialize};

/// The treatment of a loop, at its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopHint {
    /// The code generator decides.
    #[default]
    None,
    /// The loop is not vectorised: it runs several jammed iterations of the loop around it, which would be scattered
    /// over vectors.
    NoVectorize,
    /// The jammed iterations, which are adjacent in memory, become the lanes of one vector (SLP); the loop itself is
    /// not vectorised.
    VectorizeJammed,
    /// The loop is short: only straight-line code in it is vectorised (SLP), and it does not poll for signals. At a
    /// block that is no header, this is about the innermost loop around it.
    SlpOnly,
    /// The loop computes an elementwise expression: no iteration accesses memory that another writes.
    Elementwise,
    /// The loop adds floats up in order, and does not profit from computing the terms as vectors.
    SumInOrder,
    /// The loop is unrolled although an iteration may raise.
    Unroll,
    /// The loop is unrolled completely if its trip count is small: it runs the pieces of a gang.
    UnrollFull,
}

impl LoopHint {
    /// Whether straight-line code in the loop is to be vectorised.
    pub fn wants_slp(self) -> bool {
        match self {
            LoopHint::VectorizeJammed | LoopHint::SlpOnly => true,
            LoopHint::None
            | LoopHint::NoVectorize
            | LoopHint::Elementwise
            | LoopHint::SumInOrder
            | LoopHint::Unroll
            | LoopHint::UnrollFull => false,
        }
    }

    /// Whether the loop runs jammed iterations of the loop around it.
    pub fn is_jammed(self) -> bool {
        match self {
            LoopHint::NoVectorize | LoopHint::VectorizeJammed => true,
            LoopHint::None
            | LoopHint::SlpOnly
            | LoopHint::Elementwise
            | LoopHint::SumInOrder
            | LoopHint::Unroll
            | LoopHint::UnrollFull => false,
        }
    }

    /// The word in the text form; `None` for no hint.
    pub fn word(self) -> Option<&'static str> {
        LoopHint::WORDS.iter().find(|(_, hint)| *hint == self).map(|(word, _)| *word)
    }

    /// The hints by their words.
    pub const WORDS: &[(&'static str, LoopHint)] = &[
        ("no_vectorize", LoopHint::NoVectorize),
        ("vectorize_jammed", LoopHint::VectorizeJammed),
        ("slp_only", LoopHint::SlpOnly),
        ("elementwise", LoopHint::Elementwise),
        ("sum_in_order", LoopHint::SumInOrder),
        ("unroll", LoopHint::Unroll),
        ("unroll_full", LoopHint::UnrollFull),
    ];
}

/// A loop pragma of the program, at the loop's header. At a function's entry it is for the loops of its elementwise
/// computations. It changes no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pragma {
    /// The unroll factor; 1 disables unrolling, 0 leaves it to the compiler.
    pub unroll: u8,
    /// The vector width in iterations; 1 disables vectorisation, [`Pragma::ANY`] enables it with any width, 0 leaves it
    /// to the compiler.
    pub lanes: u8,
}

impl Pragma {
    /// The largest factor and width. Both are powers of two.
    pub const MOST: i128 = 64;
    /// Any width.
    pub const ANY: u8 = u8::MAX;

    /// Whether it says anything.
    pub fn is_some(self) -> bool {
        self != Pragma::default()
    }
}

/// The relation between the iterations of a loop, at its latch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LatchHint {
    /// Nothing is known.
    #[default]
    None,
    /// No iteration accesses memory that another writes: the iterations are threads of a kernel that do not wait for
    /// each other.
    ParallelAccesses,
    /// As [`LatchHint::ParallelAccesses`]; the iterations are the lanes of a gang and become one vector.
    VectorizeLanes,
}

impl LatchHint {
    /// Whether no iteration accesses memory that another writes.
    pub fn is_parallel(self) -> bool {
        match self {
            LatchHint::ParallelAccesses | LatchHint::VectorizeLanes => true,
            LatchHint::None => false,
        }
    }

    /// The word in the text form; `None` for no hint.
    pub fn word(self) -> Option<&'static str> {
        LatchHint::WORDS.iter().find(|(_, hint)| *hint == self).map(|(word, _)| *word)
    }

    /// The hints by their words.
    pub const WORDS: &[(&'static str, LatchHint)] =
        &[("parallel_accesses", LatchHint::ParallelAccesses), ("vectorize_lanes", LatchHint::VectorizeLanes)];
}
