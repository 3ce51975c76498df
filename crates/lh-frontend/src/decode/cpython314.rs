//! Bytecode of CPython 3.14: subscripts are a binary operator, borrowed loads, small integers, special methods.

use super::Decoder;
use super::opcode::{Opcode, Opcode::*, Table, table};
use crate::instr::Instr;
use crate::raw::RawConst;
use lh_ir::diag::Result;
use lh_ir::untyped::PyConst;

/// `BINARY_OP`'s number for a subscript.
const SUBSCRIPT: u32 = 26;

/// Decodes the operations whose meaning is this version's own.
pub(crate) fn decode(d: &mut Decoder<'_>, opcode: Opcode, arg: u32) -> Result<bool> {
    match opcode {
        CompareOp => d.compare(arg >> 5)?,
        LoadGlobal => d.load_global(arg, false)?,
        LoadAttr => d.load_attr(arg >> 1, arg & 1 == 1)?,
        Send => d.send(arg),
        // An exhausted loop skips END_FOR; its iterator, popped by POP_ITER, is popped by our loop head.
        ForIter => d.for_iter(arg, 2),
        EndFor => d.push(Instr::Pop),
        BinaryOp if arg == SUBSCRIPT => d.push(Instr::Item),
        LoadSmallInt => d.push(Instr::Int(i64::from(arg))),
        LoadCommonConstant => match arg {
            0 => d.push(Instr::Global("AssertionError")),
            1 => d.push(Instr::Global("NotImplementedError")),
            // `tuple`, `all` and `any`, with which a function called on a generator expression is compared: if it is
            // that one, a loop follows that does the same as the call on the other way. Calls are what we know, so it
            // never is.
            2..=4 => d.push(Instr::Const(&RawConst::Value(PyConst::None))),
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
pub(crate) static TABLE: Table = table(&[
    (0, Cache),
    (1, BinarySlice),
    (2, BuildTemplate),
    (4, CallFunctionEx),
    (5, CheckEgMatch),
    (6, CheckExcMatch),
    (7, CleanupThrow),
    (8, DeleteSubscr),
    (9, EndFor),
    (10, EndSend),
    (12, FormatSimple),
    (13, FormatWithSpec),
    (14, GetAiter),
    (15, GetAnext),
    (16, GetIter),
    (18, GetLen),
    (19, GetYieldFromIter),
    (21, LoadBuildClass),
    (22, LoadLocals),
    (23, MakeFunction),
    (24, MatchKeys),
    (25, MatchMapping),
    (26, MatchSequence),
    (27, Nop),
    (28, NotTaken),
    (29, PopExcept),
    (30, PopIter),
    (31, PopTop),
    (32, PushExcInfo),
    (33, PushNull),
    (34, ReturnGenerator),
    (35, ReturnValue),
    (36, SetupAnnotations),
    (37, StoreSlice),
    (38, StoreSubscr),
    (39, ToBool),
    (40, UnaryInvert),
    (41, UnaryNegative),
    (42, UnaryNot),
    (43, WithExceptStart),
    (44, BinaryOp),
    (45, BuildInterpolation),
    (46, BuildList),
    (47, BuildMap),
    (48, BuildSet),
    (49, BuildSlice),
    (50, BuildString),
    (51, BuildTuple),
    (52, Call),
    (53, CallIntrinsic1),
    (54, CallIntrinsic2),
    (55, CallKw),
    (56, CompareOp),
    (57, ContainsOp),
    (58, ConvertValue),
    (59, Copy),
    (60, CopyFreeVars),
    (61, DeleteAttr),
    (62, DeleteDeref),
    (63, DeleteFast),
    (64, DeleteGlobal),
    (65, DeleteName),
    (66, DictMerge),
    (67, DictUpdate),
    (68, EndAsyncFor),
    (69, ExtendedArg),
    (70, ForIter),
    (71, GetAwaitable),
    (72, ImportFrom),
    (73, ImportName),
    (74, IsOp),
    (75, JumpBackward),
    (76, JumpBackwardNoInterrupt),
    (77, JumpForward),
    (78, ListAppend),
    (79, ListExtend),
    (80, LoadAttr),
    (81, LoadCommonConstant),
    (82, LoadConst),
    (83, LoadDeref),
    (84, LoadFast),
    (85, LoadFastAndClear),
    (86, LoadFastBorrow),
    (87, LoadFastBorrowLoadFastBorrow),
    (88, LoadFastCheck),
    (89, LoadFastLoadFast),
    (90, LoadFromDictOrDeref),
    (91, LoadFromDictOrGlobals),
    (92, LoadGlobal),
    (93, LoadName),
    (94, LoadSmallInt),
    (95, LoadSpecial),
    (96, LoadSuperAttr),
    (97, MakeCell),
    (98, MapAdd),
    (99, MatchClass),
    (100, PopJumpIfFalse),
    (101, PopJumpIfNone),
    (102, PopJumpIfNotNone),
    (103, PopJumpIfTrue),
    (104, RaiseVarargs),
    (105, Reraise),
    (106, Send),
    (107, SetAdd),
    (108, SetFunctionAttribute),
    (109, SetUpdate),
    (110, StoreAttr),
    (111, StoreDeref),
    (112, StoreFast),
    (113, StoreFastLoadFast),
    (114, StoreFastStoreFast),
    (115, StoreGlobal),
    (116, StoreName),
    (117, Swap),
    (118, UnpackEx),
    (119, UnpackSequence),
    (120, YieldValue),
    (128, Resume),
]);
