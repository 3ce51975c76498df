//! The module under construction, with the state that its functions share.

use super::debug_info::DebugInfo;
use crate::ir::{Module, Type, Val};
use crate::machine::Target;
use crate::outside::Outside;
use crate::unit::{Abi, RaiseSite, Rare, Unit};
use lh_ir::func::{Function, fastmath};
use lh_ir::types::Prim;
use lh_ir::{SpecId, Ty};
use llvm_sys::LLVMLinkage;
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashMap;

/// Results of more primitives are returned through a pointer, the first argument.
const MAX_IN_REGISTERS: usize = 8;
/// Library functions up to this size are always inlined.
const SMALL_LIBRARY: usize = 80;
/// The most instructions, over all its copies, of a library function that is inlined wherever it is called.
pub(super) const MOST_COPIED: usize = 800;
/// A function of so many instructions costs no more than its call.
pub(super) const COST_OF_CALL: usize = 12;

/// The number of instructions of a function.
pub(super) fn size(f: &Function) -> usize {
    f.blocks.iter().map(|b| b.insts.len() + 1).sum()
}

/// The way in which a function returns its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returns {
    /// In a struct with the status.
    Registers,
    /// Through the first argument, a pointer.
    Memory,
}

/// A function of the unit, declared in the module.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(super) value: Val,
    pub(super) ty: Type,
    pub(super) ret: Ty,
    pub(super) returns: Returns,
}

/// The module under construction, with the state that its functions share.
pub(crate) struct Lowering<'u> {
    pub(crate) m: Module,
    pub(super) target: Target,
    pub(super) unit: &'u Unit<'u>,
    pub(super) functions: Vec<Declared>,
    pub(super) specs: HashMap<SpecId, usize>,
    /// Functions of other units.
    pub(super) linked: HashMap<SpecId, Declared>,
    /// Bodies of parallel loops by name.
    pub(super) bodies: HashMap<String, usize>,
    /// By function: whether it may call itself, directly or through others.
    pub(super) recursive: Vec<bool>,
    /// By function: whether every way through it ends in an exception.
    pub(super) always_raise: Vec<bool>,
    /// Whether nests of elementwise computations are outlined.
    pub(super) is_large: bool,
    /// By function: whether it is not inlined, since it would be copied too often.
    pub(super) often: Vec<bool>,
    /// Type-based alias metadata: data of arrays and of items; headers of objects.
    pub(super) tbaa_data: LLVMMetadataRef,
    pub(super) tbaa_header: LLVMMetadataRef,
    /// Branch weights with a very likely and a very unlikely first target.
    pub(super) likely: LLVMMetadataRef,
    pub(super) unlikely: LLVMMetadataRef,
    /// Branch weights with a first target that is taken more often than not, and less often.
    pub(super) more_often: LLVMMetadataRef,
    pub(super) less_often: LLVMMetadataRef,
    pub(super) texts: HashMap<String, Val>,
    pub(super) debug: Option<DebugInfo>,
    /// The places that raise in code for a GPU, by number.
    pub(super) raise_sites: Vec<RaiseSite>,
    /// Whether all functions of the unit record exceptions, because blocks wait for the whole grid.
    pub(super) notes: bool,
    /// Whether the grid barrier is called.
    pub(super) waits_for_grid: bool,
    /// Names of the outlined cold functions.
    pub(super) rare: Vec<String>,
}

impl<'u> Lowering<'u> {
    pub(super) fn declare(&self, f: &Function, index: usize) -> Declared {
        let m = &self.m;
        let ret = f.ret.unwrap_or_else(Ty::never);
        let prims = ret.flatten();
        // Functions that are inlined return through memory, which LLVM promotes; it cannot take a struct apart at a
        // phi.
        let is_body = self.bodies.contains_key(&f.name);
        let is_linked = index == self.unit.entry && self.unit.abi == Abi::Internal;
        let in_registers = (self.recursive[index] || is_body || is_linked) && prims.len() <= MAX_IN_REGISTERS;
        let returns = if in_registers { Returns::Registers } else { Returns::Memory };
        let ty = self.function_type(f, &prims, returns);
        let value = m.declare(&self.unit.function_symbol(index), ty);
        // Of the cold functions alone it is no part.
        if !is_linked || self.unit.rare == Rare::Only {
            m.set_linkage(value, LLVMLinkage::LLVMInternalLinkage);
        }
        self.attributes(value, f.options.debug);
        let is_cold = self.always_raise[index] && index != self.unit.entry;
        if f.options.debug || is_body || (self.often[index] || is_cold) && !self.target.is_gpu() {
            m.attribute(value, "noinline");
            if is_cold && !f.options.debug {
                m.attribute(value, "cold");
            }
        } else if f.is_library {
            m.attribute(value, if size(f) <= SMALL_LIBRARY { "alwaysinline" } else { "inlinehint" });
        }
        Declared { value, ty, ret, returns }
    }

    /// Declares a function of another unit.
    pub(super) fn declare_linked(&self, f: &Function, symbol: &str) -> Declared {
        let ret = f.ret.unwrap_or_else(Ty::never);
        let prims = ret.flatten();
        let returns = if prims.len() <= MAX_IN_REGISTERS { Returns::Registers } else { Returns::Memory };
        let ty = self.function_type(f, &prims, returns);
        let value = self.m.declare(symbol, ty);
        self.m.attribute(value, "nounwind");
        Declared { value, ty, ret, returns }
    }

    fn function_type(&self, f: &Function, prims: &[Prim], returns: Returns) -> Type {
        let m = &self.m;
        let params = f.params().iter().flat_map(|p| f.ty(*p).flatten()).map(|p| m.prim(p));
        let args: Vec<Type> = (returns == Returns::Memory).then_some(m.t.ptr).into_iter().chain(params).collect();
        m.fn_type(&args, self.result_type(prims, returns))
    }

    /// The return type: a status, or a struct of status and result.
    pub(super) fn result_type(&self, prims: &[Prim], returns: Returns) -> Type {
        let m = &self.m;
        if returns == Returns::Memory || prims.is_empty() {
            return m.t.i32;
        }
        let parts: Vec<Type> = std::iter::once(m.t.i32).chain(prims.iter().map(|p| m.prim(*p))).collect();
        m.struct_type(&parts)
    }

    /// Adds the attributes of all functions that we define.
    pub(super) fn attributes(&self, function: Val, debug: bool) {
        let m = &self.m;
        m.attribute(function, "nounwind");
        if self.target.is_gpu() {
            // A function may contain a barrier, until LLVM finds that it does not.
            m.attribute(function, "convergent");
            let flags = self.unit.functions[self.unit.entry].options.fastmath;
            if flags & fastmath::CUDA == fastmath::CUDA {
                m.text_attribute(function, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
            }
            return;
        }
        m.text_attribute(function, "no-trapping-math", "true");
        if debug {
            m.attribute(function, "optnone");
            m.text_attribute(function, "frame-pointer", "all");
        }
    }

    /// A function of the run-time or C library.
    pub(super) fn external(&self, name: &str, args: &[Type], ret: Type) -> (Type, Val) {
        let ty = self.m.fn_type(args, ret);
        let f = self.m.declare(name, ty);
        self.m.attribute(f, "nounwind");
        (ty, f)
    }

    /// As [`Lowering::external`], for cold calls.
    pub(super) fn cold(&self, name: &str, args: &[Type], ret: Type) -> (Type, Val) {
        let (ty, f) = self.external(name, args, ret);
        self.m.attribute(f, "cold");
        (ty, f)
    }

    /// The source file of a function, by the first function of the unit in the same file.
    pub(super) fn file_of(&self, func: &Function) -> Outside {
        let first = self.unit.functions.iter().position(|f| f.file == func.file);
        Outside::File(first.unwrap_or_else(|| lh_ir::bug!("a function outside its unit")))
    }

    /// A shared text constant.
    pub(super) fn text(&mut self, s: &str) -> Val {
        if let Some(v) = self.texts.get(s) {
            return *v;
        }
        let v = self.m.text(s);
        self.texts.insert(s.to_owned(), v);
        v
    }

    /// Calls an external function.
    pub(super) fn call_external(&self, (ty, f): (Type, Val), args: &[Val]) -> Val {
        self.m.call(ty, f, args)
    }
}
