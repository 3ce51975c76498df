//! Code for devices: kernels and the functions that they call.

use crate::entity::SpecId;
use serde::{Deserialize, Serialize};

/// The device that a function is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Device {
    /// The host.
    #[default]
    Host,
    /// The CPU as a device: a function that kernels call.
    Function,
    /// The CPU as a device: a kernel.
    Kernel,
    /// A GPU: a kernel, or a function that kernels call.
    Gpu,
}

/// Facts about code for a device; the last five are set by passes for kernels on the CPU device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KernelFacts {
    /// How the function's threads wait for each other, callees included; see [`waits`].
    pub waits: u8,
    /// The waits of each callee.
    pub callee_waits: Vec<(SpecId, u8)>,
    /// Memory beside the stack for each thread of a block, bytes.
    pub scratch: usize,
    /// The cost of a thread: picoseconds, roughly; 0 if it may be long.
    pub thread_cost: u32,
    /// Nothing counted is allocated, so references need not be counted: arrays are the caller's.
    pub uncounted: bool,
    /// The unit that a call, or an iteration of the kernel's loop, runs.
    pub gangs: Gangs,
    /// How the kernel is entered.
    pub entry: Entry,
}

/// How the threads of a block, of a warp or of a grid wait for each other in a function: bits of
/// [`KernelFacts::waits`].
pub mod waits {
    /// For all threads of the block.
    pub const BLOCK: u8 = 1;
    /// For threads of the warp.
    pub const WARP: u8 = 2;
    /// For all threads of the grid.
    pub const GRID: u8 = 4;
    /// One of these waits is in a callee.
    pub const IN_CALLEE: u8 = 8;
    /// Not a wait: results may differ between threads that pass the same arguments.
    pub const VARIES: u8 = 16;
    /// Not a wait: it has side effects or reads memory.
    pub const EFFECTS: u8 = 32;
    /// Any of these: not known yet.
    pub const ALL: u8 = 63;
}

/// How a kernel is entered on the CPU device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// Not a kernel.
    #[default]
    Plain,
    /// Once for each range of blocks: it loops over blocks and threads.
    Blocks,
    /// Once for each thread, which has a stack of its own.
    Thread,
}

/// The unit that a call of a kernel, or an iteration of its loop, runs on the CPU device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gangs {
    /// One thread.
    #[default]
    None,
    /// Up to 32 threads that are neighbours along the first axis.
    Rows,
    /// A warp.
    Warps,
}

/// Threads of a gang.
pub const GANG: i64 = 32;

impl Gangs {
    /// The number of units in a block.
    pub fn count(self, [x, y, z]: [i64; 3]) -> i64 {
        match self {
            Gangs::None => x * y * z,
            Gangs::Rows => (x + GANG - 1) / GANG * y * z,
            Gangs::Warps => (x * y * z + GANG - 1) / GANG,
        }
    }
}
