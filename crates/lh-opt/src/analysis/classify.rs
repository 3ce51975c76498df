//! Classification of instructions: which may be computed elsewhere, again, or not at all.

use lh_ir::func::{Inst, Term};
use lh_ir::op::Lower;
use lh_ir::runtime::{Memory, Role};
use lh_ir::{Function, Value};

/// Whether an instruction may be computed speculatively: where the program does not compute it.
pub(crate) fn is_speculative(inst: &Inst) -> bool {
    match inst {
        Inst::Op(op, _) => !op.may_trap(),
        Inst::Runtime(f, _) if f.is_launch_shape() => true,
        Inst::Load(_) | Inst::ItemsLen(_) | Inst::ItemsData(_) | Inst::New(_) | Inst::FieldPtr(..) => false,
        inst => inst.is_pure() && !inst.can_raise(),
    }
}

/// Whether an instruction is cheap and only computes, so that it may be rematerialised. Without waits, only the
/// launch's shape is.
pub(crate) fn is_cheap(inst: &Inst, waits: bool) -> bool {
    match inst {
        Inst::Runtime(f, _) if f.is_launch_shape() => true,
        _ if !waits => false,
        Inst::Const(_)
        | Inst::Zero
        | Inst::Cast(_)
        | Inst::Pack(_)
        | Inst::Field(..)
        | Inst::Some(_)
        | Inst::IsSome(_)
        | Inst::Unwrap(_)
        | Inst::ArrayMake { .. }
        | Inst::ArrayOwner(_)
        | Inst::ArrayData(_)
        | Inst::ArrayShape(..)
        | Inst::ArrayStride(..)
        | Inst::PtrAdd(..)
        | Inst::ElemPtr { check: false, .. } => true,
        // Rematerialisation may execute it speculatively, so it must not trap.
        Inst::Op(op, _) if op.may_trap() => false,
        Inst::Op(op, _) => {
            matches!(op.host, Lower::Inst { .. } | Lower::Intrinsic { .. } | Lower::SignBit | Lower::TruncateOrLeast)
        }
        Inst::Runtime(f, _) => {
            matches!(f.role, Role::Memory(Memory::Shared | Memory::Dynamic | Memory::DynamicBytes | Memory::Local))
        }
        _ => false,
    }
}

/// Whether a function allocates reference-counted memory, which is not tracked across barriers.
pub(crate) fn allocates(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|d| match &d.inst {
        Inst::New(_) | Inst::Map(..) => true,
        Inst::Runtime(..) | Inst::Call(..) => d.result.is_some_and(|r| func.ty(r).is_counted()),
        _ => false,
    })
}

/// Whether a function handles exceptions itself.
pub(crate) fn catches(func: &Function) -> bool {
    let leaves = |b: lh_ir::Block| matches!(func.blocks[b.index()].term, Some(Term::Propagate));
    func.blocks.iter().filter_map(|b| b.unwind.as_ref()).any(|t| !t.args.is_empty() || !leaves(t.block))
}

/// The size in bytes of a heap allocation, if an instruction is one.
pub(crate) fn allocated(inst: &Inst) -> Option<Value> {
    match inst {
        Inst::Runtime(f, args) if matches!(f.role, Role::Memory(Memory::Allocate | Memory::Temporary)) => Some(args[0]),
        _ => None,
    }
}

pub(crate) fn makes_arrays(func: &Function) -> bool {
    func.blocks.iter().flat_map(|b| &b.insts).any(|d| allocated(&d.inst).is_some())
}
