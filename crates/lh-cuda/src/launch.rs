//! A launch: the kernel's code with its facts, and the geometry of the grid.

use lh_ir::func::{Entry, Gangs};
use lh_runtime::device::Kernel;

/// Geometry of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Blocks of the grid.
    pub grid: [i64; 3],
    /// Threads of a block.
    pub block: [i64; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: i64,
    /// Whether blocks of the CPU device run one after the other.
    pub in_order: bool,
}

impl Config {
    /// Threads of a block.
    pub fn threads(&self) -> i64 {
        self.block.iter().product()
    }
    /// Threads of a block, or gangs.
    pub fn units(&self, gangs: Gangs) -> i64 {
        gangs.count(self.block)
    }
    /// Blocks of the grid.
    pub fn blocks(&self) -> i64 {
        self.grid.iter().product()
    }
}

/// The facts of a kernel that a launch on the CPU device needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// How it is entered.
    pub entry: Entry,
    /// The unit that runs at a time: threads or gangs of them.
    pub gangs: Gangs,
    /// Whether its threads wait for the whole grid.
    pub is_cooperative: bool,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: usize,
    /// Memory of each thread's own, bytes.
    pub local_bytes: usize,
    /// Memory beside the stack for each thread of a block, bytes.
    pub scratch: usize,
    /// The cost of a thread: picoseconds, roughly; 0 if it may be long.
    pub thread_cost: u32,
    /// Whether it prints: then blocks run one after the other.
    pub prints: bool,
    /// Whether threads wait in loops, perhaps for those of other blocks.
    pub spins: bool,
    /// Whether it reports its memory accesses, to be checked for races.
    pub is_checked: bool,
}

impl KernelInfo {
    /// Whether each thread is entered by itself, on a stack of its own, instead of all blocks in one call.
    pub fn by_thread(&self) -> bool {
        self.entry == Entry::Thread
    }
}

/// A compiled kernel.
#[derive(Clone, Copy)]
pub struct Code {
    /// Where it begins.
    pub entry: Kernel,
    pub info: KernelInfo,
}
