//! The CPU as a device: blocks run one after the other, each on one thread of the computer, from native code.

use crate::limits;
use crate::{Code, Config, Device, Fault};
use lh_runtime::device::{Context, team};
use smallvec::SmallVec;

/// Alignment of shared memory.
const ALIGN: usize = 128;
/// Stack of a thread that may have to wait, beside its local arrays.
const STACK: usize = 64 << 10;

/// The CPU.
pub struct Cpu;

impl Device for Cpu {
    unsafe fn launch(&self, code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
        limits::check(code, config).map_err(Fault::Refused)?;
        // SAFETY: by contract.
        unsafe {
            match (code.by_thread, code.is_cooperative) {
                (false, _) => all_blocks(code, config, args),
                (true, false) => one_by_one(code, config, args),
                (true, true) => together(code, config, args),
            }
        }
    }
}

/// Shared memory of some blocks.
struct Shared {
    words: Vec<u128>,
    stride: usize,
    dynamic_at: usize,
}

impl Shared {
    fn new(code: &Code, config: &Config, blocks: usize) -> Shared {
        let dynamic_at = code.shared_bytes.next_multiple_of(ALIGN);
        let stride = (dynamic_at + config.dynamic_shared as usize).next_multiple_of(ALIGN);
        Shared { words: vec![0; (stride * blocks + ALIGN) / 16], stride, dynamic_at }
    }
    /// The context of a block whose memory is at a place.
    fn context(&mut self, config: &Config, place: usize) -> Context {
        let start = self.words.as_mut_ptr().cast::<u8>();
        // SAFETY: the memory has room for so many blocks and their alignment.
        unsafe {
            let base = start.add(start.align_offset(ALIGN)).add(place * self.stride);
            Context::new(config.grid, config.block, base, self.dynamic_at as i64, config.dynamic_shared)
        }
    }
}

fn raised(cx: &Context) -> Fault {
    Fault::Raised(cx.failed)
}

/// A kernel that loops over blocks and threads itself. Where threads wait for the grid, all blocks run together.
unsafe fn all_blocks(code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
    let together = if code.is_cooperative { config.blocks() } else { 1 };
    let mut shared = Shared::new(code, config, together as usize);
    let mut cx = shared.context(config, 0);
    (cx.first, cx.last) = (0, config.blocks());
    // A multiple of a cache line's threads, so that values of each kind begin at one.
    cx.capacity = ((config.threads() * together) as usize).next_multiple_of(64) as i64;
    let mut scratch = vec![0u128; code.scratch * cx.capacity as usize / 16 + 4];
    cx.scratch = scratch.as_mut_ptr().cast();
    // SAFETY: there are bytes to spare.
    cx.scratch = unsafe { cx.scratch.add(cx.scratch.align_offset(64)) };
    if together > 1 {
        cx.shared_stride = shared.stride as i64;
    }
    let mut words: SmallVec<[u64; 64]> = SmallVec::new();
    words.push((&raw mut cx).expose_provenance() as u64);
    words.extend_from_slice(args);
    let mut nothing = [0u64; 2];
    // SAFETY: by contract; the context and its memory live through the call.
    let status = unsafe { (code.entry)(words.as_ptr(), nothing.as_mut_ptr()) };
    if status == 0 { Ok(()) } else { Err(raised(&cx)) }
}

/// Block after block, whose threads wait for each other.
unsafe fn one_by_one(code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
    let mut shared = Shared::new(code, config, 1);
    for linear in 0..config.blocks() {
        let mut cx = shared.context(config, 0);
        cx.block = cx.block_of(linear);
        // SAFETY: by contract.
        let status =
            unsafe { team::run(std::slice::from_mut(&mut cx), code.entry, args, STACK + 2 * code.local_bytes) };
        if status != 0 {
            return Err(raised(&cx));
        }
    }
    Ok(())
}

/// All blocks at once: their threads wait for the grid.
unsafe fn together(code: &Code, config: &Config, args: &[u64]) -> Result<(), Fault> {
    let blocks = config.blocks() as usize;
    let mut shared = Shared::new(code, config, blocks);
    let mut contexts: Vec<Context> = (0..blocks).map(|i| shared.context(config, i)).collect();
    for (i, cx) in contexts.iter_mut().enumerate() {
        cx.block = cx.block_of(i as i64);
    }
    // SAFETY: by contract.
    let status = unsafe { team::run(&mut contexts, code.entry, args, STACK + 2 * code.local_bytes) };
    if status == 0 {
        Ok(())
    } else {
        Err(contexts.iter().find(|c| c.failed.is_some()).map_or(Fault::Raised(None), raised))
    }
}
