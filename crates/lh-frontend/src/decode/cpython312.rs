//! Bytecode of CPython 3.12: comprehensions are inlined, methods are attributes with a flag.

use super::opcode::{Opcode, Opcode::*, Table, changed};
use super::{Decoder, cpython311};
use crate::instr::Instr;
use lh_ir::diag::Result;

/// Decodes the operations whose meaning is this version's own.
pub(crate) fn decode(d: &mut Decoder<'_>, opcode: Opcode, arg: u32) -> Result<bool> {
    match opcode {
        CompareOp => d.compare(arg >> 4)?,
        LoadGlobal => d.load_global(arg, true)?,
        LoadAttr => d.load_attr(arg >> 1, arg & 1 == 1)?,
        Send => d.send(arg),
        // An exhausted loop skips END_FOR, which stands for two pops.
        ForIter => d.for_iter(arg, 1),
        EndFor => {
            d.push(Instr::Pop);
            d.push(Instr::Pop);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Numbers of operations: those of CPython 3.11 but these.
pub(crate) static TABLE: Table = changed(
    cpython311::TABLE,
    &[
        (4, EndFor),
        (5, EndSend),
        (10, Unknown),
        (26, BinarySlice),
        (27, StoreSlice),
        (55, CleanupThrow),
        (82, Unknown),
        (84, Unknown),
        (86, Unknown),
        (87, LoadLocals),
        (88, Unknown),
        (111, Unknown),
        (112, Unknown),
        (121, ReturnConst),
        (127, LoadFastCheck),
        (141, LoadSuperAttr),
        (143, LoadFastAndClear),
        (148, Unknown),
        (150, YieldValue),
        (160, Unknown),
        (166, Unknown),
        (173, CallIntrinsic1),
        (174, CallIntrinsic2),
        (175, LoadFromDictOrGlobals),
        (176, LoadFromDictOrDeref),
    ],
);
