//! Counted memory: allocation, freed blocks that are kept, and the number of live objects.

pub mod alloc;
mod block_cache;
pub mod emergency;
pub(crate) mod live_count;
pub(crate) mod small_blocks;
pub(crate) mod starts;
