//! Refuses functions of kernels that return an array in local memory: the memory ends with the call.
//!
//! ```text
//! v1 = runtime lh_cuda_local(...): ptr
//! v2 = array_make v0, v1, ...
//! return v2                                ->      error: `f` returns memory of `cuda.local.array`
//! ```
//!
//! Requires that views are those of the program, before lowering hides of which array a value is a part. A value is in
//! local memory if it is computed from such a value and can refer to memory; memory in which one has been stored counts
//! as a whole.

use crate::analysis::effects::{Callees, has_memory};
use lh_ir::cfg::targets;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Term};
use lh_ir::runtime::{Memory, Role};
use lh_ir::{Block, Function, Value};
use std::collections::HashSet;

pub(crate) fn run(func: &Function, callees: Callees<'_>) -> Result<()> {
    if !func.insts().any(|d| is_local(&d.inst)) {
        return Ok(());
    }
    let local = in_local_memory(func, callees);
    for b in &func.blocks {
        if let Some(Term::Return(v)) = &b.term
            && local.contains(v)
        {
            let text = format!("`{}` returns memory of `cuda.local.array`, which ends with the call", func.qualname);
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text)
                .note("let the caller make the array and pass it, to be filled; or return the numbers as a tuple")
                .at(&func.file, b.term_span));
        }
    }
    Ok(())
}

fn is_local(inst: &Inst) -> bool {
    matches!(inst, Inst::Runtime(f, _) if f.role == Role::Memory(Memory::Local))
}

/// The values that may refer to local memory: the least fixed point.
fn in_local_memory(func: &Function, callees: Callees<'_>) -> HashSet<Value> {
    let (mut local, mut is_stored) = (HashSet::new(), false);
    loop {
        let before = (local.len(), is_stored);
        for (i, b) in func.blocks.iter().enumerate() {
            for d in &b.insts {
                is_stored |= matches!(&d.inst, Inst::Store(_, v) | Inst::SlotSet(_, v) if local.contains(v));
                let Some(result) = d.result.filter(|v| has_memory(func.ty(*v))) else { continue };
                if is_local(&d.inst) || comes_from(&d.inst, &local, is_stored, callees) {
                    local.insert(result);
                }
            }
            for (_, target) in targets(func, Block::new(i)) {
                let params = &func.blocks[target.block.index()].params;
                let given = params.iter().zip(&target.args).filter(|(_, arg)| local.contains(*arg));
                let found: Vec<Value> = given.map(|(param, _)| *param).collect();
                local.extend(found);
            }
        }
        if before == (local.len(), is_stored) {
            return local;
        }
    }
}

/// Whether the result of an instruction, which refers to memory, may refer to local memory.
fn comes_from(inst: &Inst, local: &HashSet<Value>, is_stored: bool, callees: Callees<'_>) -> bool {
    match inst {
        Inst::Call(spec, args) => {
            let known = callees(*spec);
            let returned = |i: usize| known.as_ref().is_none_or(|s| s.may_return(i as u32));
            args.iter().enumerate().any(|(i, v)| local.contains(v) && returned(i))
        }
        Inst::Load(_) | Inst::Take(_) | Inst::SlotGet(_) => is_stored,
        // New memory.
        Inst::Map(..) | Inst::New(_) | Inst::Runtime(..) => false,
        other => {
            let mut found = false;
            other.for_each_operand(|v| found |= local.contains(&v));
            found
        }
    }
}
