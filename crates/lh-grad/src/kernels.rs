//! Memory that threads of a kernel share: atomic operations on it, and the waits that their derivatives need.

use crate::memory::Memory;
use hashbrown::HashSet;
use lh_ir::cfg::targets;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::runtime::{Memory as Mem, Rmw, Role, RuntimeFn};
use lh_ir::types::Prim;
use lh_ir::{Block, Value};

/// Whether a function atomically adds a float to memory, or stores the greater or lesser one.
pub(crate) fn is_folded(f: &RuntimeFn) -> bool {
    let is_float = |p: Prim| matches!(p, Prim::F32 | Prim::F64);
    matches!(f.role, Role::Atomic(Rmw::Add | Rmw::Max | Rmw::Min | Rmw::NanMax | Rmw::NanMin, p) if is_float(p))
}

/// Refuses atomic extremes in memory that is written otherwise afterwards: the derivative asks the memory for the
/// extreme.
///
/// # Errors
/// There is one.
pub(crate) fn check(func: &Function, memory: &Memory) -> Result<()> {
    for (i, data) in func.blocks.iter().enumerate() {
        for (at, d) in data.insts.iter().enumerate() {
            let Inst::Runtime(f, args) = &d.inst else { continue };
            if !is_extreme(f) || !memory.has_shadow(args[0]) {
                continue;
            }
            let others = others(func, memory, args[0]);
            if reaches(func, (Block::new(i), at), &others) {
                let text = "memory in which an atomic operation has left an extreme is written again";
                return Err(Diagnostic::new(diag::NO_DERIVATIVE, text)
                    .note("the derivative asks the memory for the extreme: use other memory for what follows")
                    .at(&func.file, d.span));
            }
        }
    }
    Ok(())
}

/// The places that write the memory of an address otherwise than by atomic extremes.
fn others(func: &Function, memory: &Memory, p: Value) -> Vec<(Block, usize)> {
    let is_other = |(b, i): &(Block, usize)| {
        let inst = &func.blocks[b.index()].insts[*i].inst;
        !matches!(inst, Inst::Runtime(f, _) if is_extreme(f))
    };
    memory.of(p).iter().flat_map(|k| memory.stores(*k)).copied().filter(is_other).collect()
}

/// Whether one of some places may run after another one.
fn reaches(func: &Function, (from, at): (Block, usize), to: &[(Block, usize)]) -> bool {
    if to.iter().any(|(b, i)| *b == from && *i > at) {
        return true;
    }
    let (mut seen, mut work) = (HashSet::new(), vec![from]);
    while let Some(b) = work.pop() {
        for (_, t) in targets(func, b) {
            if to.iter().any(|(b, _)| *b == t.block) {
                return true;
            }
            if seen.insert(t.block) {
                work.push(t.block);
            }
        }
    }
    false
}

/// How threads have to wait for each other before memory is asked for extremes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// There are none.
    None,
    /// They are in shared memory.
    Block,
    /// They are in memory of all blocks.
    Grid,
}

/// The wait after a function has run, before the adjoints of its atomic extremes.
pub(crate) fn wait(func: &Function, memory: &Memory) -> Wait {
    let is_shared = |(b, i): &(Block, usize)| {
        let inst = &func.blocks[b.index()].insts[*i].inst;
        matches!(inst, Inst::Runtime(f, _) if matches!(f.role, Role::Memory(Mem::Shared | Mem::Dynamic)))
    };
    let of = |d: &InstData| match &d.inst {
        Inst::Runtime(f, args) if is_extreme(f) && memory.has_shadow(args[0]) => {
            let made: Vec<_> = memory.of(args[0]).iter().flat_map(|k| memory.made(*k)).collect();
            if !made.is_empty() && made.into_iter().all(is_shared) { Wait::Block } else { Wait::Grid }
        }
        _ => Wait::None,
    };
    func.insts().map(of).max().unwrap_or(Wait::None)
}

/// Whether a function atomically stores the greater or lesser float.
pub(crate) fn is_extreme(f: &RuntimeFn) -> bool {
    is_folded(f) && !matches!(f.role, Role::Atomic(Rmw::Add, _))
}
