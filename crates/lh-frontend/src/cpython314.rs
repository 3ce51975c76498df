//! Bytecode of CPython 3.14: subscripts are a binary operator, borrowed loads, small integers, special methods.

use crate::decode::Decoder;
use crate::instr::Instr;
use crate::opcode::{Opcode, Opcode::*, Table, table};
use lh_ir::diag::Result;

/// `BINARY_OP`'s number for a subscript.
const SUBSCRIPT: u32 = 26;

/// Decodes the operations whose meaning is this version's own.
pub(crate) fn decode(d: &mut Decoder<'_>, opcode: Opcode, arg: u32) -> Result<bool> {
    match opcode {
        CompareOp => d.compare(arg >> 5)?,
        LoadGlobal => d.load_global(arg, false)?,
        LoadAttr => d.load_attr(arg >> 1, arg & 1 == 1)?,
        // An exhausted loop skips END_FOR; its iterator, popped by POP_ITER, is popped by our loop head.
        ForIter => d.for_iter(arg, 2),
        EndFor => d.push(Instr::Pop),
        BinaryOp if arg == SUBSCRIPT => d.push(Instr::Item),
        LoadSmallInt => d.push(Instr::Int(i64::from(arg))),
        LoadCommonConstant => match arg {
            0 => d.push(Instr::Global("AssertionError")),
            1 => d.push(Instr::Global("NotImplementedError")),
            2 => d.push(Instr::Global("tuple")),
            3 => d.push(Instr::Global("all")),
            4 => d.push(Instr::Global("any")),
            _ => return Err(d.malformed("a common constant is unknown")),
        },
        LoadSpecial => match arg {
            0 => special(d, "__enter__"),
            1 => special(d, "__exit__"),
            _ => d.unsupported("`async with`", ""),
        },
        // The function and its self stand below the place, the previous exception and the exception.
        WithExceptStart => d.push(Instr::WithExceptStart(5)),
        // Keyword arguments are always on the stack, as NULL when there are none.
        CallFunctionEx => d.push(Instr::CallStar { kwargs: true }),
        _ => return Ok(false),
    }
    Ok(true)
}

fn special(d: &mut Decoder<'_>, name: &'static str) {
    d.push(Instr::Attr(name));
    d.push(Instr::Null);
}

/// Numbers of operations.
pub(crate) static TABLE: Table = table(&[]);
