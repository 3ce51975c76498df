//! Loads and stores with a cache operator on a GPU, which LLVM IR cannot express.
//!
//! They are first calls of undefined functions, which no pass moves or merges. When address spaces are known, they
//! become inline PTX, for global memory if the address certainly points there:
//!
//! ```text
//! call i32 @lh.ld.cg.b32(ptr %p)    ->    ld.global.cg.b32 %r1, [%rd1];
//! ```

use crate::ir::{Module, Type, Val, cstring};
use llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectATT;
use llvm_sys::LLVMOpcode::{LLVMAddrSpaceCast, LLVMGetElementPtr, LLVMIntToPtr, LLVMPHI, LLVMSelect};
use llvm_sys::core::*;

/// Prefix of the names of these functions.
const PREFIX: &str = "lh.";
/// LLVM's number of the global state space.
const GLOBAL: u32 = 1;
/// Bound on the values that are visited to find the origin of an address.
const MOST: usize = 64;

/// Declares the function for a load or a store (`what` is `ld.cg`, `st.wt` ...) of some width.
pub(crate) fn declare(m: &Module, what: &str, bits: u32, ty: Type) -> Val {
    let f = m.declare(&format!("{PREFIX}{what}.b{bits}"), ty);
    m.attribute(f, "nounwind");
    f
}

/// Replaces the calls in all functions.
pub(crate) fn lower(m: &Module) {
    let named = functions(m);
    for f in m.functions() {
        for call in m.instructions(f) {
            // SAFETY: a live instruction; of a call the callee is asked for.
            let callee = unsafe { (!LLVMIsACallInst(call).is_null()).then(|| LLVMGetCalledValue(call)) };
            if let Some((_, name)) = callee.and_then(|c| named.iter().find(|(v, _)| *v == c)) {
                replace(m, f, call, name.trim_start_matches(PREFIX));
            }
        }
    }
    for (f, _) in named {
        // SAFETY: nothing calls it any more.
        unsafe { LLVMDeleteFunction(f) };
    }
}

/// All such functions of a module, with their names.
fn functions(m: &Module) -> Vec<(Val, String)> {
    let name = |f: Val| {
        let mut len = 0;
        // SAFETY: the name of a live function is read by its length.
        unsafe {
            let name = LLVMGetValueName2(f, &raw mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), len)).into_owned()
        }
    };
    m.functions().into_iter().map(|f| (f, name(f))).filter(|(_, n)| n.starts_with(PREFIX)).collect()
}

/// Replaces a call by inline PTX; `what` is the operation and the width, such as `ld.cg.b32`.
fn replace(m: &Module, f: Val, call: Val, what: &str) {
    let is_load = what.starts_with("ld");
    // PTX has no 8-bit registers.
    let register = match what.rsplit_once(".b") {
        Some((_, "8" | "16")) => "h",
        Some((_, "32")) => "r",
        _ => "l",
    };
    // SAFETY: the operands and the type of a live call; the texts outlive the calls that read them.
    unsafe {
        LLVMPositionBuilderBefore(m.builder, call);
        let address = LLVMGetOperand(call, 0);
        let is_global = comes_from_global(f, address);
        let (space, address) = if is_global {
            let there = LLVMPointerTypeInContext(m.context, GLOBAL);
            (".global", LLVMBuildAddrSpaceCast(m.builder, address, there, c"".as_ptr()))
        } else {
            ("", address)
        };
        let (operation, rest) = what.split_at(2);
        let value = (!is_load).then(|| LLVMGetOperand(call, 1));
        let (text, constraints) = match is_load {
            true => (format!("{operation}{space}{rest} $0, [$1];"), format!("={register},l,~{{memory}}")),
            false => (format!("{operation}{space}{rest} [$0], $1;"), format!("l,{register},~{{memory}}")),
        };
        let narrow = LLVMTypeOf(value.unwrap_or(call));
        let wide = if narrow == m.t.i8 { m.t.i16 } else { narrow };
        let args: Vec<Val> = [Some(address), value.map(|v| if wide == narrow { v } else { m.zext(v, wide) })]
            .into_iter()
            .flatten()
            .collect();
        let types: Vec<Type> = args.iter().map(|a| LLVMTypeOf(*a)).collect();
        let ty = m.fn_type(&types, if is_load { wide } else { m.t.void });
        let (text, constraints) = (cstring(&text), cstring(&constraints));
        let asm = LLVMGetInlineAsm(
            ty,
            text.as_ptr(),
            text.as_bytes().len(),
            constraints.as_ptr(),
            constraints.as_bytes().len(),
            1,
            0,
            LLVMInlineAsmDialectATT,
            0,
        );
        let made = m.call(ty, asm, &args);
        if is_load {
            LLVMReplaceAllUsesWith(call, if wide == narrow { made } else { m.trunc(made, narrow) });
        }
        LLVMInstructionEraseFromParent(call);
    }
}

/// Whether an address is derived from parameters of a kernel or constants, which point to global memory.
fn comes_from_global(f: Val, address: Val) -> bool {
    const PTX_KERNEL: u32 = 71;
    let (mut work, mut seen): (Vec<Val>, Vec<Val>) = (vec![address], Vec::new());
    while let Some(v) = work.pop() {
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        // SAFETY: values of a live function, whose operands exist as their kind says.
        unsafe {
            if !LLVMIsAArgument(v).is_null() {
                if LLVMGetFunctionCallConv(f) != PTX_KERNEL {
                    return false;
                }
                continue;
            }
            let is_expression = !LLVMIsAConstantExpr(v).is_null();
            if LLVMIsAInstruction(v).is_null() && !is_expression || seen.len() > MOST {
                return false;
            }
            match if is_expression { LLVMGetConstOpcode(v) } else { LLVMGetInstructionOpcode(v) } {
                LLVMGetElementPtr => work.push(LLVMGetOperand(v, 0)),
                LLVMSelect => work.extend([LLVMGetOperand(v, 1), LLVMGetOperand(v, 2)]),
                LLVMPHI => work.extend((0..LLVMCountIncoming(v)).map(|i| LLVMGetIncomingValue(v, i))),
                LLVMIntToPtr if LLVMIsConstant(LLVMGetOperand(v, 0)) != 0 => {}
                LLVMAddrSpaceCast => {
                    if LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(v, 0))) != GLOBAL {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    true
}
