//! Finds operations that a GPU does not support.

use crate::unit::Unit;

use lh_ir::Value;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Function, Inst, InstData};
use lh_ir::op::Lower;
use lh_ir::runtime::{Role, RuntimeFn};

/// Refuses a unit with an instruction that a GPU does not support.
pub(crate) fn check_device(unit: &Unit<'_>) -> Result<()> {
    unit.functions.iter().try_for_each(|f| check(f, unit))
}

fn check(f: &Function, unit: &Unit<'_>) -> Result<()> {
    for i in f.blocks.iter().flat_map(|b| &b.insts) {
        if let Some((headline, note)) = refusal(f, i, unit) {
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, headline).note(note).at(&f.file, i.span));
        }
    }
    Ok(())
}

fn refusal(f: &Function, i: &InstData, unit: &Unit<'_>) -> Option<(String, &'static str)> {
    let lists = "use a tuple, or an array: `cuda.local.array`, `cuda.shared.array`, or one that the caller passes";
    let has_no = |v: Value| (format!("a GPU has no {}s", f.ty(v).class().map_or("object", Class::name)), lists);
    match &i.inst {
        Inst::Op(op, _) if matches!(op.nvptx, Lower::No) => {
            Some((format!("`{}` is not available on a GPU", op.name), "compute it on the host, and pass the result"))
        }
        Inst::Extern(Extern::Array(o)) if !unit.arrays.contains_key(o) => {
            Some(("a captured array is not contiguous".to_owned(), "capture a copy, or pass the array as an argument"))
        }
        Inst::New(_) => i.result.map(has_no),
        Inst::ItemsLen(v) | Inst::ItemsData(v) | Inst::FieldPtr(v, _) => Some(has_no(*v)),
        Inst::Runtime(f, _) if f.gpu => None,
        Inst::Runtime(f, _) => Some(refusal_of_call(f)),
        _ => None,
    }
}

fn refusal_of_call(f: &RuntimeFn) -> (String, &'static str) {
    let (headline, note) = match f.role {
        Role::Exception(_) => {
            ("a GPU cannot catch exceptions", "test for the condition instead; `raise` ends the thread")
        }
        Role::Memory(_) if f.allocates() => (
            "a GPU cannot make new arrays",
            "write into an array: `cuda.local.array`, or one that the caller passes; only one whose size is known while compiling, and which no round of a loop hands to the next, is memory of the thread",
        ),
        Role::Text(_) => ("a GPU has no strings but constants", "format texts on the host"),
        _ => {
            let headline = format!("`{}` is not available on a GPU", f.name);
            return (headline, "compute it on the host, and pass the result");
        }
    };
    (headline.to_owned(), note)
}
