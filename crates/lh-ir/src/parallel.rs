//! Parallel loops: why their iterations may run in any order, and what became of them.

use crate::span::Span;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Why the iterations of a loop may run in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parallel {
    /// The program claims it.
    Asked,
    /// The compiler has made the loop so.
    Known,
    /// It is of the derivative of a loop of which the program claims it: iterations of an adjoint add to the same
    /// memory, so it runs in order where no test proves otherwise.
    Derived,
}

impl Parallel {
    /// Whether the loop runs in parallel only after the dependence test.
    pub fn is_tested(self) -> bool {
        match self {
            Parallel::Asked | Parallel::Derived => true,
            Parallel::Known => false,
        }
    }
}

/// The remark about a loop that was to run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopNote {
    /// Its place.
    pub span: Span,
    /// Why it may run in parallel.
    pub what: Parallel,
    /// How it runs.
    pub fate: Fate,
}

/// Why a loop that was to run in parallel does not: two accesses that may depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The culprit, as a sentence about the loop.
    pub text: String,
    /// Advice for the user.
    pub way: Cow<'static, str>,
    /// The place of one access.
    pub first: Span,
    /// That of the other, if it is another one.
    pub second: Option<Span>,
}

/// How a loop runs that was to run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// On the pool.
    Pool {
        /// Variables whose values blocks of iterations combine.
        variables: usize,
        /// Arrays of which blocks have copies that are combined.
        arrays: usize,
        /// The independence of the iterations is not proved, but claimed by the program.
        trusted: bool,
        /// The place of an index because of which the loop runs in order if the index counts from the end, or if the
        /// loop's index is multiplied by 0.
        ordered: Option<Span>,
    },
    /// On the thread that runs the loop around it, which is at that place.
    Inside(Span),
    /// On the pool if the loop around it, which is at that place, has fewer iterations than that; else on its thread.
    Nested(Span, i64),
    /// On one thread, for this reason.
    Serial(&'static str),
}
