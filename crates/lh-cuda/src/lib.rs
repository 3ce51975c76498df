//! CUDA devices: what a launch needs of one. The CPU is a device, [`emulator::Cpu`].

pub mod driver;
pub mod emulator;
pub mod limits;

use lh_ir::diag::Diagnostic;
use lh_ir::func::Gangs;
use lh_runtime::device::{Failed, Kernel};

/// Geometry of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Blocks of the grid.
    pub grid: [i64; 3],
    /// Threads of a block.
    pub block: [i64; 3],
    /// Bytes of shared memory beyond what the kernel declares.
    pub dynamic_shared: i64,
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

/// A compiled kernel.
#[derive(Clone, Copy)]
pub struct Code {
    /// Where it begins.
    pub entry: Kernel,
    /// Whether each thread is entered by itself, on a stack of its own, instead of all blocks in one call.
    pub by_thread: bool,
    /// What runs at a time: threads or gangs of them.
    pub gangs: Gangs,
    /// Whether its threads wait for the whole grid.
    pub is_cooperative: bool,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: usize,
    /// Memory of each thread's own, bytes.
    pub local_bytes: usize,
    /// Memory beside the stack for each thread of a block, bytes.
    pub scratch: usize,
    /// What a thread costs: picoseconds, roughly; 0 if it may be long.
    pub thread_cost: u32,
    /// Whether it prints: then blocks run one after the other.
    pub prints: bool,
    /// Whether it says what it does to memory, to be checked.
    pub is_checked: bool,
}

/// Why a launch has failed.
#[derive(Debug)]
pub enum Fault {
    /// The device refuses it, with an error that CUDA has.
    Refused(&'static limits::Refusal),
    /// A thread has raised: the exception is pending in the run-time library.
    Raised(Option<Failed>),
    /// What a checked kernel does is not defined. A thread may have raised as well.
    Found(Vec<Diagnostic>),
}

/// A device.
pub trait Device {
    /// Runs a kernel on arguments given as machine words.
    ///
    /// # Errors
    /// The device refuses it, or a thread raises.
    ///
    /// # Safety
    /// The words are those of the kernel's argument types and what they point to is alive and of the device.
    unsafe fn launch(&self, code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault>;
}
