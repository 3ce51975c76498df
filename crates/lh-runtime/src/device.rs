//! The CPU as a CUDA device: the run-time support of kernels. A [`Context`] describes a block; compiled kernels have a
//! pointer to it. Threads that wait for each other are fibers of a [`team::Team`].

mod fiber;
mod geometry;
mod stacks;
pub mod team;
mod warp;

use crate::symbol::Symbol;

/// The description of a block that its code reads, at the offsets of `lh_ops::layout::context`.
#[repr(C)]
pub struct Context {
    /// Index of the block.
    pub block: [i64; 3],
    /// Threads of a block.
    pub block_dim: [i64; 3],
    /// Blocks of the grid.
    pub grid_dim: [i64; 3],
    /// Shared memory.
    pub shared: *mut u8,
    /// Offset of dynamic shared memory, whose size is given at the launch.
    pub dynamic_at: i64,
    /// Size of dynamic shared memory.
    pub dynamic_bytes: i64,
    /// Linear index of the first block that a call of an [`lh_ir::func::Entry::Blocks`] kernel runs.
    pub first: i64,
    /// Linear index after that of the last block.
    pub last: i64,
    /// Spill memory for values that threads keep across barriers: an array with an element per thread for each value.
    pub scratch: *mut u8,
    /// Number of threads that the spill memory has room for.
    pub capacity: i64,
    /// Distance between the shared memory of neighbouring blocks where blocks run together; else 0.
    pub shared_stride: i64,
    /// Shared memory of the first of the blocks that run together.
    pub shared_base: *mut u8,
    /// The team that the running fiber belongs to; null where threads do not wait for each other.
    pub team: *mut team::Team,
    /// The first thread that has raised.
    pub failed: Option<Failed>,
}

const _: () = {
    use lh_ops::layout::context as at;
    use std::mem::offset_of;
    assert!(offset_of!(Context, block) == at::BLOCK && offset_of!(Context, block_dim) == at::BLOCK_DIM);
    assert!(offset_of!(Context, grid_dim) == at::GRID_DIM && offset_of!(Context, shared) == at::SHARED);
    assert!(
        offset_of!(Context, dynamic_at) == at::DYNAMIC_AT && offset_of!(Context, dynamic_bytes) == at::DYNAMIC_BYTES
    );
    assert!(offset_of!(Context, first) == at::FIRST && offset_of!(Context, last) == at::LAST);
    assert!(offset_of!(Context, scratch) == at::SCRATCH && offset_of!(Context, capacity) == at::CAPACITY);
    assert!(offset_of!(Context, shared_stride) == at::SHARED_STRIDE);
    assert!(offset_of!(Context, shared_base) == at::SHARED_BASE);
};

/// Where in the grid an exception was raised.
#[derive(Clone, Copy, Debug)]
pub struct Failed {
    /// Index of the block.
    pub block: [i64; 3],
    /// Index of the thread.
    pub thread: [i64; 3],
}

/// The entry of a kernel: machine words of the arguments, then an address for the result, which kernels do not have.
pub type Kernel = unsafe extern "C" fn(*const u64, *mut u64) -> i32;

impl Context {
    /// A block of a launch. The memory is the caller's.
    pub fn new(grid: [i64; 3], block: [i64; 3], shared: *mut u8, dynamic_at: i64, dynamic_bytes: i64) -> Context {
        Context {
            block: [0; 3],
            block_dim: block,
            grid_dim: grid,
            shared,
            dynamic_at,
            dynamic_bytes,
            first: 0,
            last: 0,
            scratch: std::ptr::null_mut(),
            capacity: 0,
            shared_stride: 0,
            shared_base: shared,
            team: std::ptr::null_mut(),
            failed: None,
        }
    }
    /// The block of a linear index.
    pub fn block_of(&self, linear: i64) -> [i64; 3] {
        let [x, y, _] = self.grid_dim;
        [linear % x, linear / x % y, linear / (x * y)]
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = geometry::symbols();
    all.extend(team::symbols());
    all.extend(warp::symbols());
    all
}
