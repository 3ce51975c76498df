//! Layouts that compiled code and the run-time library share. `lh-runtime` asserts that its structs have them.

/// Offsets in the context of a block of a kernel on the CPU device, `lh_runtime::device::Context`.
pub mod context {
    /// Index of the block: three integers.
    pub const BLOCK: usize = 0;
    /// Extents of the block.
    pub const BLOCK_DIM: usize = 24;
    /// Extents of the grid.
    pub const GRID_DIM: usize = 48;
    /// Shared memory of the block.
    pub const SHARED: usize = 72;
    /// Offset within the shared memory of the part whose size the launch gives.
    pub const DYNAMIC_AT: usize = 80;
    /// Bytes of the part whose size the launch gives.
    pub const DYNAMIC_BYTES: usize = 88;
    /// The first block of a call.
    pub const FIRST: usize = 96;
    /// The end of the blocks of a call.
    pub const LAST: usize = 104;
    /// Memory to which threads spill values across barriers.
    pub const SCRATCH: usize = 112;
    /// Number of threads for which the spill memory has room.
    pub const CAPACITY: usize = 120;
    /// Bytes from the shared memory of a block to the next one's.
    pub const SHARED_STRIDE: usize = 128;
    /// Shared memory of the first block.
    pub const SHARED_BASE: usize = 136;
}

/// A stream of random numbers.
pub mod stream {
    /// Offset of the number of used words of its block.
    pub const AT: usize = 0;
    /// Offset of the block.
    pub const BLOCK: usize = 8;
    /// Words of the block.
    pub const WORDS: usize = 624;
}
