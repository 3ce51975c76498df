//! Estimated cost of instructions on one core, in picoseconds.

use lh_ir::func::Inst;
use lh_ir::runtime::Role;

/// The estimated cost of an instruction; `None` if it may run for long.
pub(crate) fn picoseconds(inst: &Inst) -> Option<i64> {
    Some(match inst {
        Inst::Call(..) | Inst::Foreign(..) | Inst::Map(..) | Inst::MapInto(..) | Inst::ParFor(..) => return None,
        Inst::New(_) => 50_000,
        Inst::Runtime(f, _) if f.role == Role::CheckIndex => 500,
        Inst::Runtime(..) => 20_000,
        Inst::Op(op, _) => op.cost.into(),
        Inst::Load(_) | Inst::Store(..) | Inst::Take(_) => 300,
        Inst::ElemPtr { check, .. } => {
            if *check {
                200
            } else {
                50
            }
        }
        _ => 0,
    })
}
