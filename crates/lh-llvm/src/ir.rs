//! The part of LLVM's IR builder that we use: a context with one module and one insertion point.
//!
//! References into the module are plain copyable pointers ([`Val`], [`Type`], [`Bb`]); they are made by a [`Module`],
//! used with the same one and die with it. That is the invariant on which every `unsafe` block of this file rests.

pub(crate) mod flow;
mod lanes;
pub(crate) mod loop_metadata;
pub(crate) mod walk;

use lh_ir::types::Prim;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::prelude::*;
use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMAttributeFunctionIndex, LLVMIntPredicate, LLVMLinkage,
    LLVMRealPredicate, LLVMTypeKind,
};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_uint};

/// A value of the module.
pub(crate) type Val = LLVMValueRef;
/// A type of the context.
pub(crate) type Type = LLVMTypeRef;
/// A basic block.
pub(crate) type Bb = LLVMBasicBlockRef;

const NAME: *const c_char = c"".as_ptr();

#[derive(Clone, Copy)]
pub(crate) struct Types {
    pub void: Type,
    pub i1: Type,
    pub i8: Type,
    pub i16: Type,
    pub i32: Type,
    pub i64: Type,
    pub f16: Type,
    pub f32: Type,
    pub f64: Type,
    pub ptr: Type,
}

/// A context, a module in it, and a builder.
pub(crate) struct Module {
    pub(crate) context: LLVMContextRef,
    pub(crate) module: LLVMModuleRef,
    pub(crate) builder: LLVMBuilderRef,
    pub(crate) t: Types,
    intrinsics: HashMap<(&'static str, usize), (Type, Val)>,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the three were created together in `new` and nothing made from them outlives `self`.
        unsafe {
            LLVMDisposeBuilder(self.builder);
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}

macro_rules! binary {
    ($($name:ident = $llvm:ident;)*) => {$(
        pub(crate) fn $name(&self, a: Val, b: Val) -> Val {
            // SAFETY: see the module documentation.
            unsafe { $llvm(self.builder, a, b, NAME) }
        }
    )*};
}

macro_rules! convert {
    ($($name:ident = $llvm:ident;)*) => {$(
        pub(crate) fn $name(&self, a: Val, to: Type) -> Val {
            // SAFETY: see the module documentation.
            unsafe { $llvm(self.builder, a, to, NAME) }
        }
    )*};
}

impl Module {
    /// An empty module.
    pub(crate) fn new(name: &str) -> Module {
        let name = cstring(name);
        // SAFETY: plain constructors; the types belong to the new context.
        unsafe {
            let context = LLVMContextCreate();
            let module = LLVMModuleCreateWithNameInContext(name.as_ptr(), context);
            let t = Types {
                void: LLVMVoidTypeInContext(context),
                i1: LLVMInt1TypeInContext(context),
                i8: LLVMInt8TypeInContext(context),
                i16: LLVMInt16TypeInContext(context),
                i32: LLVMInt32TypeInContext(context),
                i64: LLVMInt64TypeInContext(context),
                f16: LLVMHalfTypeInContext(context),
                f32: LLVMFloatTypeInContext(context),
                f64: LLVMDoubleTypeInContext(context),
                ptr: LLVMPointerTypeInContext(context, 0),
            };
            Module { context, module, builder: LLVMCreateBuilderInContext(context), t, intrinsics: HashMap::new() }
        }
    }

    /// The type of a primitive in registers.
    pub(crate) fn prim(&self, p: Prim) -> Type {
        match p {
            Prim::I1 => self.t.i1,
            Prim::I8 => self.t.i8,
            Prim::I16 => self.t.i16,
            Prim::I32 => self.t.i32,
            Prim::I64 => self.t.i64,
            Prim::F16 => self.t.f16,
            Prim::F32 => self.t.f32,
            Prim::F64 => self.t.f64,
            Prim::Ptr | Prim::Mem | Prim::Object => self.t.ptr,
        }
    }

    binary! {
        add = LLVMBuildAdd;
        add_nsw = LLVMBuildNSWAdd;
        sub = LLVMBuildSub;
        mul = LLVMBuildMul;
        mul_nsw = LLVMBuildNSWMul;
        sdiv = LLVMBuildSDiv;
        udiv = LLVMBuildUDiv;
        srem = LLVMBuildSRem;
        urem = LLVMBuildURem;
        fadd = LLVMBuildFAdd;
        fsub = LLVMBuildFSub;
        fmul = LLVMBuildFMul;
        fdiv = LLVMBuildFDiv;
        and = LLVMBuildAnd;
        or = LLVMBuildOr;
        xor = LLVMBuildXor;
        shl = LLVMBuildShl;
        ashr = LLVMBuildAShr;
        lshr = LLVMBuildLShr;
    }
    convert! {
        trunc = LLVMBuildTrunc;
        zext = LLVMBuildZExt;
        sext = LLVMBuildSExt;
        fptrunc = LLVMBuildFPTrunc;
        fpext = LLVMBuildFPExt;
        sitofp = LLVMBuildSIToFP;
        uitofp = LLVMBuildUIToFP;
        fptosi = LLVMBuildFPToSI;
        fptoui = LLVMBuildFPToUI;
        bitcast = LLVMBuildBitCast;
    }

    pub(crate) fn neg(&self, a: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildNeg(self.builder, a, NAME) }
    }
    pub(crate) fn fneg(&self, a: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildFNeg(self.builder, a, NAME) }
    }
    pub(crate) fn not(&self, a: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildNot(self.builder, a, NAME) }
    }
    pub(crate) fn freeze(&self, a: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildFreeze(self.builder, a, NAME) }
    }
    pub(crate) fn icmp(&self, p: LLVMIntPredicate, a: Val, b: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildICmp(self.builder, p, a, b, NAME) }
    }
    pub(crate) fn fcmp(&self, p: LLVMRealPredicate, a: Val, b: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildFCmp(self.builder, p, a, b, NAME) }
    }
    pub(crate) fn select(&self, c: Val, a: Val, b: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildSelect(self.builder, c, a, b, NAME) }
    }

    /// A load with the natural alignment of `size` bytes.
    pub(crate) fn load(&self, ty: Type, at: Val, size: usize) -> Val {
        // SAFETY: see the module documentation.
        unsafe {
            let v = LLVMBuildLoad2(self.builder, ty, at, NAME);
            LLVMSetAlignment(v, size as c_uint);
            v
        }
    }
    /// A store with the natural alignment of `size` bytes.
    pub(crate) fn store(&self, value: Val, at: Val, size: usize) -> Val {
        // SAFETY: see the module documentation.
        unsafe {
            let v = LLVMBuildStore(self.builder, value, at);
            LLVMSetAlignment(v, size as c_uint);
            v
        }
    }
    /// Makes a load atomic without ordering, so that it is repeated and stays in its loop.
    pub(crate) fn make_monotonic(&self, load: Val) {
        // SAFETY: see the module documentation.
        unsafe { LLVMSetOrdering(load, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic) }
    }
    /// Atomically adds to a 64-bit counter; answers with the old value.
    pub(crate) fn atomic_add(&self, at: Val, value: i64, ordering: LLVMAtomicOrdering) -> Val {
        let (op, value) = if value < 0 {
            (LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpSub, -value)
        } else {
            (LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd, value)
        };
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildAtomicRMW(self.builder, op, at, self.int(self.t.i64, value), ordering, 0) }
    }
    /// Atomic compare-and-swap, with relaxed ordering and the scope of the GPU; answers with the old value.
    pub(crate) fn compare_exchange(&self, at: Val, want: Val, new: Val) -> Val {
        let weak = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: see the module documentation.
        unsafe {
            let pair = LLVMBuildAtomicCmpXchgSyncScope(self.builder, at, want, new, weak, weak, self.device_scope());
            LLVMBuildExtractValue(self.builder, pair, 0, NAME)
        }
    }
    /// Atomic read-modify-write, with relaxed ordering and the scope of the GPU; answers with the old value.
    pub(crate) fn atomic_rmw(&self, op: LLVMAtomicRMWBinOp, at: Val, v: Val) -> Val {
        let weak = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildAtomicRMWSyncScope(self.builder, op, at, v, weak, self.device_scope()) }
    }
    /// As [`Module::atomic_rmw`], for the CPU, with the scope of the process.
    pub(crate) fn atomic_rmw_anywhere(&self, op: LLVMAtomicRMWBinOp, at: Val, v: Val) -> Val {
        let weak = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildAtomicRMW(self.builder, op, at, v, weak, 0) }
    }
    /// As [`Module::compare_exchange`], for the CPU, with the scope of the process.
    pub(crate) fn compare_exchange_anywhere(&self, at: Val, want: Val, new: Val) -> Val {
        let weak = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        // SAFETY: see the module documentation.
        unsafe {
            let pair = LLVMBuildAtomicCmpXchg(self.builder, at, want, new, weak, weak, 0);
            LLVMBuildExtractValue(self.builder, pair, 0, NAME)
        }
    }
    fn device_scope(&self) -> c_uint {
        let name = "device";
        // SAFETY: the name is read by length.
        unsafe { LLVMGetSyncScopeID(self.context, name.as_ptr().cast(), name.len()) }
    }
    /// A fence for the compiler only, which emits no instruction.
    pub(crate) fn compiler_fence(&self) {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildFence(self.builder, LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent, 1, NAME) };
    }
    pub(crate) fn make_volatile(&self, load: Val) {
        // SAFETY: see the module documentation.
        unsafe { LLVMSetVolatile(load, 1) }
    }
    /// Constant data on a GPU, as a generic address; in constant memory if they fit there.
    pub(crate) fn device_constant(&self, name: &str, bytes: &[u8]) -> Val {
        const GLOBAL: c_uint = 1;
        const CONSTANT: c_uint = 4;
        const ROOM: usize = 16 << 10;
        let (text, space) = (cstring(name), if bytes.len() <= ROOM { CONSTANT } else { GLOBAL });
        // SAFETY: see the module documentation; the bytes are copied.
        unsafe {
            let mut g = LLVMGetNamedGlobal(self.module, text.as_ptr());
            if g.is_null() {
                let init = LLVMConstStringInContext2(self.context, bytes.as_ptr().cast(), bytes.len(), 1);
                g = LLVMAddGlobalInAddressSpace(self.module, LLVMTypeOf(init), text.as_ptr(), space);
                LLVMSetInitializer(g, init);
                LLVMSetGlobalConstant(g, 1);
                LLVMSetAlignment(g, 16);
                LLVMSetLinkage(g, LLVMLinkage::LLVMInternalLinkage);
            }
            LLVMConstAddrSpaceCast(g, self.t.ptr)
        }
    }
    /// A variable in a GPU's shared memory, as a generic address; the launch determines the size of a dynamic one.
    pub(crate) fn shared_variable(&self, name: &str, ty: Type, align: u32, dynamic: bool) -> Val {
        const SHARED: c_uint = 3;
        let text = cstring(name);
        // SAFETY: see the module documentation.
        unsafe {
            let mut g = LLVMGetNamedGlobal(self.module, text.as_ptr());
            if g.is_null() {
                g = LLVMAddGlobalInAddressSpace(self.module, ty, text.as_ptr(), SHARED);
                LLVMSetAlignment(g, align);
                if !dynamic {
                    LLVMSetInitializer(g, LLVMGetUndef(ty));
                    LLVMSetLinkage(g, LLVMLinkage::LLVMInternalLinkage);
                }
            }
            LLVMConstAddrSpaceCast(g, self.t.ptr)
        }
    }
    /// A variable in a GPU's global memory, as a generic address; the host finds it by name.
    pub(crate) fn device_variable(&self, name: &str, ty: Type) -> Val {
        const GLOBAL: c_uint = 1;
        let text = cstring(name);
        // SAFETY: see the module documentation.
        unsafe {
            let mut g = LLVMGetNamedGlobal(self.module, text.as_ptr());
            if g.is_null() {
                g = LLVMAddGlobalInAddressSpace(self.module, ty, text.as_ptr(), GLOBAL);
                LLVMSetInitializer(g, LLVMConstNull(ty));
                LLVMSetAlignment(g, 8);
            }
            LLVMConstAddrSpaceCast(g, self.t.ptr)
        }
    }
    /// The value of an integer constant.
    pub(crate) fn constant_int(&self, v: Val) -> Option<i64> {
        // SAFETY: see the module documentation.
        unsafe { (!LLVMIsAConstantInt(v).is_null()).then(|| LLVMConstIntGetSExtValue(v)) }
    }
    /// How a condition compares integers of more than one bit.
    pub(crate) fn compares_integers(&self, cond: Val) -> Option<LLVMIntPredicate> {
        // SAFETY: see the module documentation; a comparison has two operands of one type.
        unsafe {
            if LLVMIsAICmpInst(cond).is_null() {
                return None;
            }
            let ty = LLVMTypeOf(LLVMGetOperand(cond, 0));
            let is_number = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) > 1;
            is_number.then(|| LLVMGetICmpPredicate(cond))
        }
    }
    /// Whether an address may point to the stack.
    pub(crate) fn may_be_stack(&self, mut at: Val) -> bool {
        // SAFETY: see the module documentation; the first operand of an address computation is an address.
        unsafe {
            while !LLVMIsAGetElementPtrInst(at).is_null() {
                at = LLVMGetOperand(at, 0);
            }
            let is = [LLVMIsAAllocaInst(at), LLVMIsAPHINode(at), LLVMIsASelectInst(at), LLVMIsAIntToPtrInst(at)];
            is.iter().any(|v| !v.is_null())
        }
    }
    /// Converts a number to an address.
    pub(crate) fn int_to_ptr(&self, n: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildIntToPtr(self.builder, n, self.t.ptr, NAME) }
    }
    /// Converts an address to a number.
    pub(crate) fn ptr_to_int(&self, p: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildPtrToInt(self.builder, p, self.t.i64, NAME) }
    }
    /// The address of item `index` of an array of `elem`, in bounds.
    pub(crate) fn gep(&self, elem: Type, base: Val, index: Val) -> Val {
        let mut index = [index];
        // SAFETY: see the module documentation; one index is passed.
        unsafe { LLVMBuildInBoundsGEP2(self.builder, elem, base, index.as_mut_ptr(), 1, NAME) }
    }
    /// An address plus a constant number of bytes.
    pub(crate) fn offset(&self, base: Val, bytes: usize) -> Val {
        if bytes == 0 { base } else { self.gep(self.t.i8, base, self.int(self.t.i64, bytes as i64)) }
    }
    pub(crate) fn alloca(&self, ty: Type, align: usize) -> Val {
        // SAFETY: see the module documentation.
        unsafe {
            let v = LLVMBuildAlloca(self.builder, ty, NAME);
            LLVMSetAlignment(v, align as c_uint);
            v
        }
    }
    pub(crate) fn array_alloca(&self, ty: Type, n: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildArrayAlloca(self.builder, ty, n, NAME) }
    }
    pub(crate) fn array_type(&self, elem: Type, n: usize) -> Type {
        // SAFETY: see the module documentation.
        unsafe { LLVMArrayType2(elem, n as u64) }
    }
    pub(crate) fn struct_type(&self, parts: &[Type]) -> Type {
        // SAFETY: the callee only reads `parts.len()` types.
        unsafe { LLVMStructTypeInContext(self.context, parts.as_ptr().cast_mut(), parts.len() as c_uint, 0) }
    }
    pub(crate) fn fn_type(&self, args: &[Type], ret: Type) -> Type {
        // SAFETY: the callee only reads `args.len()` types.
        unsafe { LLVMFunctionType(ret, args.as_ptr().cast_mut(), args.len() as c_uint, 0) }
    }
    pub(crate) fn insert(&self, aggregate: Val, v: Val, at: usize) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildInsertValue(self.builder, aggregate, v, at as c_uint, NAME) }
    }
    pub(crate) fn extract(&self, aggregate: Val, at: usize) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildExtractValue(self.builder, aggregate, at as c_uint, NAME) }
    }

    /// A vector whose first element is this value; the others are poison.
    pub(crate) fn in_vector(&self, v: Val, len: u32) -> Val {
        // SAFETY: see the module documentation.
        unsafe {
            let any = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), len));
            LLVMBuildInsertElement(self.builder, any, v, self.int(self.t.i32, 0), NAME)
        }
    }
    pub(crate) fn int(&self, ty: Type, v: i64) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMConstInt(ty, v as u64, 1) }
    }
    pub(crate) fn bool(&self, v: bool) -> Val {
        self.int(self.t.i1, i64::from(v))
    }
    /// A float constant. NaN keeps its bits when the type is `double`.
    pub(crate) fn real(&self, ty: Type, v: f64) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMConstReal(ty, v) }
    }
    pub(crate) fn null(&self, ty: Type) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMConstNull(ty) }
    }
    pub(crate) fn poison(&self, ty: Type) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMGetPoison(ty) }
    }
    pub(crate) fn type_of(&self, v: Val) -> Type {
        // SAFETY: see the module documentation.
        unsafe { LLVMTypeOf(v) }
    }

    pub(crate) fn block(&self, function: Val) -> Bb {
        // SAFETY: see the module documentation.
        unsafe { LLVMAppendBasicBlockInContext(self.context, function, NAME) }
    }
    /// Moves the builder to the end of a block.
    pub(crate) fn at_end(&self, b: Bb) {
        // SAFETY: see the module documentation.
        unsafe { LLVMPositionBuilderAtEnd(self.builder, b) }
    }
    /// Moves the builder to the start of a block.
    pub(crate) fn at_start(&self, b: Bb) {
        // SAFETY: see the module documentation.
        unsafe {
            match LLVMGetFirstInstruction(b) {
                first if first.is_null() => LLVMPositionBuilderAtEnd(self.builder, b),
                first => LLVMPositionBuilderBefore(self.builder, first),
            }
        }
    }
    pub(crate) fn here(&self) -> Bb {
        // SAFETY: see the module documentation.
        unsafe { LLVMGetInsertBlock(self.builder) }
    }
    pub(crate) fn br(&self, to: Bb) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildBr(self.builder, to) }
    }
    pub(crate) fn cond_br(&self, c: Val, then: Bb, els: Bb) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildCondBr(self.builder, c, then, els) }
    }
    pub(crate) fn ret(&self, v: Val) {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildRet(self.builder, v) };
    }
    pub(crate) fn ret_void(&self) {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildRetVoid(self.builder) };
    }
    pub(crate) fn unreachable(&self) {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildUnreachable(self.builder) };
    }
    pub(crate) fn phi(&self, ty: Type) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMBuildPhi(self.builder, ty, NAME) }
    }
    pub(crate) fn add_incoming(&self, phi: Val, v: Val, from: Bb) {
        let (mut v, mut from) = (v, from);
        // SAFETY: see the module documentation; one pair is passed.
        unsafe { LLVMAddIncoming(phi, &raw mut v, &raw mut from, 1) }
    }
    /// Removes a phi without incoming values.
    pub(crate) fn drop_if_empty_phi(&self, v: Val) {
        // SAFETY: see the module documentation; nothing refers to the phi after it has been replaced.
        unsafe {
            if !LLVMIsAPHINode(v).is_null() && LLVMCountIncoming(v) == 0 {
                LLVMReplaceAllUsesWith(v, LLVMGetPoison(LLVMTypeOf(v)));
                LLVMInstructionEraseFromParent(v);
            }
        }
    }
    pub(crate) fn set_target(&self, triple: &str, layout: &str) {
        let (triple, layout) = (cstring(triple), cstring(layout));
        // SAFETY: both texts are copied.
        unsafe {
            LLVMSetTarget(self.module, triple.as_ptr());
            LLVMSetDataLayout(self.module, layout.as_ptr());
        }
    }
    /// A constant address, for data that outlive the code.
    pub(crate) fn address(&self, v: i64) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMConstIntToPtr(self.int(self.t.i64, v), self.t.ptr) }
    }
    pub(crate) fn call(&self, fn_type: Type, callee: Val, args: &[Val]) -> Val {
        // SAFETY: the callee only reads `args.len()` values.
        unsafe { LLVMBuildCall2(self.builder, fn_type, callee, args.as_ptr().cast_mut(), args.len() as c_uint, NAME) }
    }
    pub(crate) fn param(&self, function: Val, i: usize) -> Val {
        // SAFETY: the function has more than `i` parameters.
        unsafe { LLVMGetParam(function, i as c_uint) }
    }

    /// Declares a function, or returns the existing declaration.
    pub(crate) fn declare(&self, name: &str, fn_type: Type) -> Val {
        let name = cstring(name);
        // SAFETY: see the module documentation.
        unsafe {
            let found = LLVMGetNamedFunction(self.module, name.as_ptr());
            if found.is_null() { LLVMAddFunction(self.module, name.as_ptr(), fn_type) } else { found }
        }
    }
    pub(crate) fn function(&self, name: &str) -> Option<Val> {
        let name = cstring(name);
        // SAFETY: see the module documentation.
        let found = unsafe { LLVMGetNamedFunction(self.module, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
    pub(crate) fn external(&self, name: &str, ty: Type) -> Val {
        let name = cstring(name);
        // SAFETY: see the module documentation.
        unsafe {
            let found = LLVMGetNamedGlobal(self.module, name.as_ptr());
            if found.is_null() { LLVMAddGlobal(self.module, ty, name.as_ptr()) } else { found }
        }
    }
    /// A private constant whose address is not significant.
    pub(crate) fn constant(&self, init: Val) -> Val {
        // SAFETY: see the module documentation.
        unsafe {
            let g = LLVMAddGlobal(self.module, LLVMTypeOf(init), NAME);
            LLVMSetInitializer(g, init);
            LLVMSetGlobalConstant(g, 1);
            LLVMSetLinkage(g, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(g, llvm_sys::LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            g
        }
    }
    /// The bytes of a text with a terminating zero.
    pub(crate) fn text(&self, s: &str) -> Val {
        // SAFETY: the callee copies `s.len()` bytes.
        let init = unsafe { LLVMConstStringInContext2(self.context, s.as_ptr().cast(), s.len(), 0) };
        self.constant(init)
    }
    pub(crate) fn const_struct(&self, parts: &[Val]) -> Val {
        // SAFETY: the callee only reads `parts.len()` values.
        unsafe { LLVMConstStructInContext(self.context, parts.as_ptr().cast_mut(), parts.len() as c_uint, 0) }
    }
    /// An intrinsic, overloaded on one type if it is overloaded.
    pub(crate) fn intrinsic(&mut self, name: &'static str, ty: Type) -> (Type, Val) {
        let (context, module) = (self.context, self.module);
        *self.intrinsics.entry((name, ty as usize)).or_insert_with(|| {
            let mut ty = ty;
            // SAFETY: an overloading type is passed if one is wanted, and the name is an intrinsic's.
            unsafe {
                let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
                if id == 0 {
                    lh_ir::bug!("{name} is not an intrinsic");
                }
                let types = usize::from(LLVMIntrinsicIsOverloaded(id) != 0);
                (
                    LLVMIntrinsicGetType(context, id, &raw mut ty, types),
                    LLVMGetIntrinsicDeclaration(module, id, &raw mut ty, types),
                )
            }
        })
    }

    /// Adds an attribute without a value to a function.
    pub(crate) fn attribute(&self, function: Val, name: &str) {
        self.number_attribute(function, name, 0);
    }
    /// Declares that a function always returns and has no effect other than loads, or with `reads` unset not even
    /// these.
    pub(crate) fn attribute_pure(&self, function: Val, reads: bool) {
        // There are two bits for each kind of memory; the lower one is for loads.
        self.number_attribute(function, "memory", if reads { 0x555 } else { 0 });
        self.attribute(function, "willreturn");
    }
    /// Adds an attribute without a value to a call.
    pub(crate) fn call_attribute(&self, call: Val, name: &str) {
        // SAFETY: the name is read by length; the attribute belongs to the context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(self.context, kind, 0));
        }
    }
    /// Sets a function's calling convention, by LLVM's number.
    pub(crate) fn set_call_conv(&self, function: Val, conv: u32) {
        // SAFETY: see the module documentation.
        unsafe { LLVMSetFunctionCallConv(function, conv) }
    }
    /// Adds an attribute with a number to a function.
    pub(crate) fn number_attribute(&self, function: Val, name: &str, value: u64) {
        // SAFETY: the name is read by length; the attribute belongs to the context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let a = LLVMCreateEnumAttribute(self.context, kind, value);
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, a);
        }
    }
    /// Removes an attribute from a function.
    pub(crate) fn remove_attribute(&self, function: Val, name: &str) {
        // SAFETY: the name is read by length.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
        }
    }
    /// Whether a function is defined here and cold.
    pub(crate) fn is_cold_definition(&self, function: Val) -> bool {
        const COLD: &str = "cold";
        // SAFETY: the name is read by length.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(COLD.as_ptr().cast(), COLD.len());
            LLVMIsDeclaration(function) == 0
                && !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind).is_null()
        }
    }
    /// Adds a string attribute to a function.
    pub(crate) fn text_attribute(&self, function: Val, name: &str, value: &str) {
        // SAFETY: both are read by length.
        unsafe {
            let a = LLVMCreateStringAttribute(
                self.context,
                name.as_ptr().cast(),
                name.len() as c_uint,
                value.as_ptr().cast(),
                value.len() as c_uint,
            );
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, a);
        }
    }
    pub(crate) fn set_linkage(&self, global: Val, linkage: LLVMLinkage) {
        // SAFETY: see the module documentation.
        unsafe { LLVMSetLinkage(global, linkage) }
    }
    /// Sets fast-math flags, if the value is an instruction that has them.
    pub(crate) fn set_fast_math(&self, v: Val, flags: u32) {
        // SAFETY: see the module documentation.
        unsafe {
            if flags != 0 && !LLVMIsAInstruction(v).is_null() && LLVMCanValueUseFastMathFlags(v) != 0 {
                LLVMSetFastMathFlags(v, flags);
            }
        }
    }

    /// A metadata node of strings, numbers and nodes.
    pub(crate) fn node(&self, parts: &[LLVMMetadataRef]) -> LLVMMetadataRef {
        // SAFETY: the callee only reads `parts.len()` nodes.
        unsafe { LLVMMDNodeInContext2(self.context, parts.as_ptr().cast_mut(), parts.len()) }
    }
    pub(crate) fn md_text(&self, s: &str) -> LLVMMetadataRef {
        // SAFETY: read by length.
        unsafe { LLVMMDStringInContext2(self.context, s.as_ptr().cast(), s.len()) }
    }
    pub(crate) fn md_int(&self, ty: Type, v: i64) -> LLVMMetadataRef {
        // SAFETY: see the module documentation.
        unsafe { LLVMValueAsMetadata(self.int(ty, v)) }
    }
    /// A node as an argument.
    pub(crate) fn metadata_value(&self, node: LLVMMetadataRef) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMMetadataAsValue(self.context, node) }
    }
    /// A metadata node for a loop; its first operand is itself, which makes it distinct.
    pub(crate) fn loop_node(&self, parts: &[LLVMMetadataRef]) -> LLVMMetadataRef {
        // SAFETY: the temporary node is replaced by the one made of it, which disposes of it.
        unsafe {
            let itself = LLVMTemporaryMDNode(self.context, std::ptr::null_mut(), 0);
            let made = self.node(&[&[itself], parts].concat());
            LLVMMetadataReplaceAllUsesWith(itself, made);
            made
        }
    }
    /// A new access group: a distinct node without operands, which only LLVM's parser can make.
    pub(crate) fn access_group(&self) -> LLVMMetadataRef {
        const TEXT: &CStr = c"define void @f() {\n  ret void, !g !0\n}\n!0 = distinct !{}\n";
        // SAFETY: the buffer is the parser's; the node belongs to the context and outlives the module it came with.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(TEXT.as_ptr(), TEXT.count_bytes(), NAME);
            let (mut module, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
            if LLVMParseIRInContext2(self.context, buffer, &raw mut module, &raw mut message) != 0 {
                lh_ir::bug!("LLVM's parser: {}", take_message(message));
            }
            LLVMDisposeMemoryBuffer(buffer);
            let ret = LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(LLVMGetFirstFunction(module)));
            let kind = LLVMGetMDKindIDInContext(self.context, c"g".as_ptr(), 1);
            let group = LLVMValueAsMetadata(LLVMGetMetadata(ret, kind));
            LLVMDisposeModule(module);
            group
        }
    }
    /// The last instruction of a block.
    pub(crate) fn last(&self, b: Bb) -> Val {
        // SAFETY: see the module documentation.
        unsafe { LLVMGetLastInstruction(b) }
    }
    /// Attaches a node to an instruction under a kind such as `tbaa`.
    pub(crate) fn attach(&self, inst: Val, kind: &str, node: LLVMMetadataRef) {
        // SAFETY: the kind is read by length; see the module documentation.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context, kind.as_ptr().cast(), kind.len() as c_uint);
            LLVMSetMetadata(inst, kind, LLVMMetadataAsValue(self.context, node));
        }
    }

    /// The text of the module.
    pub(crate) fn print(&self) -> String {
        // SAFETY: the text is copied and then freed as the API asks.
        unsafe { take_message(LLVMPrintModuleToString(self.module)) }
    }
}

/// Copies and frees a text from LLVM.
///
/// # Safety
/// `text` is a C string that is freed with `LLVMDisposeMessage`.
pub(crate) unsafe fn take_message(text: *mut c_char) -> String {
    // SAFETY: by contract.
    unsafe {
        let s = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        s
    }
}

pub(crate) fn cstring(s: &str) -> CString {
    CString::new(s.replace('\0', "?")).expect("no zero byte is left")
}
