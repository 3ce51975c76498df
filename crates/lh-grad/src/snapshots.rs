//! Copies of the memory that the call of a function that calls itself may change: its derivative runs it again.

use crate::builder::Builder;
use crate::derivatives::Snapshot;
use crate::memory::{Memory, has_memory, is_lasting};
use crate::program::Program;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::types::Prim;
use lh_ir::{Block, SpecId, Ty, Value};

/// Whether memory of a type can be copied and made what it was: that of arrays, not of objects.
pub(crate) fn has_snapshot(ty: Ty) -> bool {
    // A list of owners is only appended to.
    has_memory(ty) && !ty.flatten().contains(&Prim::Object)
}

/// The arguments of a call whose memory is not what it was when the call began, with the functions that copy it.
fn changing(
    func: &Function,
    memory: &Memory,
    program: &dyn Program,
    (spec, args): (SpecId, &[Value]),
    place: (Block, usize),
) -> Result<Vec<(Value, Snapshot)>> {
    let writes = program.typed(spec).writes;
    let mut found = Vec::new();
    for (i, a) in args.iter().enumerate() {
        let ty = func.ty(*a);
        if !has_memory(ty) || ty == Ty::list(Ty::meminfo()) {
            continue;
        }
        let lasts = memory.of(*a).iter().all(|k| is_lasting(func, memory, *k, place));
        if writes >> i.min(31) & 1 == 0 && lasts {
            continue;
        }
        match program.derivatives().snapshot(ty).filter(|_| has_snapshot(ty)) {
            Some(of) => found.push((*a, of)),
            None => return Err(refused_call(program.typed(spec).name)),
        }
    }
    Ok(found)
}

/// Appends the copies of what a call may change; gives what was copied, the functions and the copies.
///
/// # Errors
/// Memory that cannot be copied.
pub(crate) fn keep(
    b: &mut Builder<'_>,
    memory: &Memory,
    program: &dyn Program,
    call: (SpecId, &[Value]),
    place: (Block, usize),
) -> Result<Vec<(Value, Snapshot, Value)>> {
    let of = changing(b.func, memory, program, call, place)?;
    let copied = |(a, s): (Value, Snapshot)| {
        let copy = b.inst(Inst::Call(s[0].id, vec![a]), s[0].ret);
        (a, s, copy)
    };
    Ok(of.into_iter().map(copied).collect())
}

/// Appends a call that makes memory what it was.
pub(crate) fn put_back(b: &mut Builder<'_>, own: Value, of: &Snapshot, kept: Value) {
    let none = b.func.new_value(Ty::none());
    let inst = Inst::Call(of[1].id, vec![own, kept]);
    b.insts.push(InstData { result: Some(none), inst, span: b.span });
}

/// The refusal of a call.
pub(crate) fn refused_call(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_DERIVATIVE, format!("the call of `{name}` has no derivative"))
        .note("a function that calls itself may change arrays but no objects, and gives numbers")
        .note("or state a derivative: `custom_vjp`")
}
