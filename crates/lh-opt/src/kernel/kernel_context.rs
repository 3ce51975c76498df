//! Adds the kernel context to all functions: on the CPU device, code gets a pointer to the block's context and the
//! three indices of the thread as its first parameters.
//!
//! ```text
//! function %f(v0: int64) device {          function %f(v3: ptr, v4: int, v5: int, v6: int, v0: int64) device {
//!     v1 = runtime lh_cuda_tid_x(): int ->
//!     v2 = call spec1(v1): int                 v2 = call spec1(v3, v4, v5, v6, v4): int
//! ```
//!
//! The pass also records which barriers and warp operations the function executes, itself or in callees. Elementwise
//! computations are lowered before, because a call in one could not pass the context.

use crate::analysis::device::waits_of_call;
use crate::edit::Replacements;
use lh_ir::func::{Inst, waits};
use lh_ir::runtime::{Geometry, Launch, Role, RuntimeFn};
use lh_ir::{Function, Ty, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    for w in waits_of_calls(func) {
        func.kernel.waits |= w & !waits::IN_CALLEE;
        if w & (waits::BLOCK | waits::WARP | waits::GRID) != 0 {
            func.kernel.waits |= waits::IN_CALLEE;
        }
    }
    let handed: Vec<Value> =
        [Ty::ptr(), Ty::int(), Ty::int(), Ty::int()].into_iter().map(|t| func.new_value(t)).collect();
    func.blocks[0].params.splice(0..0, handed.iter().copied());
    let mut replaced = Replacements::new(func);
    for data in &mut func.blocks {
        data.insts.retain_mut(|d| {
            match &mut d.inst {
                Inst::Runtime(f, _) => {
                    if let (Some(i), Some(r)) = (place(f), d.result) {
                        replaced.set(r, handed[i]);
                        func.kernel.waits |= if i > 0 { waits::VARIES } else { 0 };
                        return false;
                    }
                    func.kernel.waits |= waits_of(f);
                    if !f.has_no_effect() && !f.is_launch_shape() {
                        func.kernel.waits |= waits::EFFECTS;
                    }
                }
                Inst::Call(_, args) => {
                    args.splice(0..0, handed.iter().copied());
                }
                Inst::Load(_) | Inst::Take(_) | Inst::Store(..) | Inst::New(_) | Inst::Map(..) | Inst::MapInto(..) => {
                    func.kernel.waits |= waits::EFFECTS;
                }
                _ => {}
            }
            true
        });
    }
    replaced.apply(func);
    true
}

/// The recorded waits of all callees. Inlined functions have left their own calls.
fn waits_of_calls(func: &Function) -> Vec<u8> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let calls = insts.filter_map(|d| if let Inst::Call(s, _) = &d.inst { Some(*s) } else { None });
    calls.map(|s| waits_of_call(func, s)).collect()
}

/// The context parameter that a run-time function stands for.
fn place(f: &RuntimeFn) -> Option<usize> {
    match f.role {
        Role::Launch(Launch::Context) => Some(0),
        Role::Geometry(Geometry::Thread, axis) => Some(1 + axis as usize),
        Role::Geometry(Geometry::Block | Geometry::BlockDim | Geometry::GridDim, _)
        | Role::Launch(
            Launch::First | Launch::Last | Launch::Scratch | Launch::Capacity | Launch::EnterBlock | Launch::Failed,
        )
        | Role::Plain
        | Role::Barrier(_)
        | Role::Warp(_)
        | Role::Lanes(_)
        | Role::Atomic(..)
        | Role::Memory(_)
        | Role::Address(_)
        | Role::Items(_)
        | Role::IsSame
        | Role::Text(_)
        | Role::Print(_)
        | Role::Random(_)
        | Role::Exception(_)
        | Role::CheckIndex
        | Role::Shapes(_)
        | Role::Parts(_)
        | Role::Poll(_)
        | Role::Race(_)
        | Role::Threads(_)
        | Role::LoopHint => None,
    }
}

fn waits_of(f: &RuntimeFn) -> u8 {
    f.waits | if f.uniform || f.ret.is_empty() { 0 } else { waits::VARIES }
}
