//! Turns calls of `lh_loop_hint` into pragmas of loops.
//!
//! ```text
//! block0(): runtime lh_loop_hint(4, 0)             block0() unroll_by=4:
//! block1(v3: int):                          ->     block1(v3: int) lanes=8:
//!     branch v4, block2(), block3()                    branch v4, block2(), block3()
//! block2(): runtime lh_loop_hint(0, 8)             block2(): ...
//! ```
//!
//! A call in a loop is about the innermost loop around it. Outside of loops it is about the elementwise computations of
//! the function, which have no loops yet: the entry keeps it for [`lower_array`](crate::arrays::lower_array).

use crate::analysis::counted::Defs;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Inst, InstData, Pragma};
use lh_ir::runtime::Role;
use lh_ir::{Function, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    let is_hint = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::LoopHint);
    if !func.blocks.iter().any(|b| b.insts.iter().any(is_hint)) {
        return false;
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg));
    let defs = Defs::new(func);
    let number = |func: &Function, v: Value| defs.int(func, v).and_then(|n| u8::try_from(n).ok()).unwrap_or_default();
    for b in 0..func.blocks.len() {
        let (hints, rest) = std::mem::take(&mut func.blocks[b].insts).into_iter().partition(is_hint);
        func.blocks[b].insts = rest;
        let hints: Vec<InstData> = hints;
        for d in hints {
            let Inst::Runtime(_, args) = &d.inst else { continue };
            let pragma = Pragma { unroll: number(func, args[0]), lanes: number(func, args[1]) };
            let header = loops.innermost[b].map_or(0, |l| loops.loops[l].header.index());
            func.blocks[header].pragma = pragma;
        }
    }
    true
}
