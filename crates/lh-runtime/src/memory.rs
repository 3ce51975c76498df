//! Counted memory: allocation, the cache of freed blocks and the number of live objects.

pub mod alloc;
mod block_cache;
pub(crate) mod live_count;
pub(crate) mod starts;
