//! Lowers typed IR to LLVM IR, one function at a time.
//!
//! A value is represented by the LLVM scalars of its type's primitives, a block parameter by one phi for each. Internal
//! functions return a status (0: success, 1: an exception is pending in the run-time library) together with the
//! primitives of their result, in registers if they are few, and through a pointer otherwise.

mod arith;
mod atomics;
mod call;
mod cold;
mod cpu_device;
mod device;
mod device_calls;
mod entry;
mod foreign;
mod function;
mod gpu;
mod inline;
mod inst;
mod intrinsics;
mod memory;
mod parallel;
mod raise;

use crate::{Abi, Outside, Rare, Unit};
pub(crate) use device::check_device;
pub use device_calls::ERROR;
pub use entry::CALLBACK;
pub use gpu::GRID_BARRIER;

use crate::debug::DebugInfo;
use crate::ir::{Module, Type, Val};
use crate::machine::{Machine, Target};
use crate::ptx::RaiseSite;
use lh_ir::func::{Function, Inst};
use lh_ir::runtime::{Barrier, Role};
use lh_ir::types::Prim;
use lh_ir::{SpecId, Ty};
use llvm_sys::LLVMLinkage;
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashMap;

/// Results of more primitives are returned through a pointer, the first argument.
const MAX_IN_REGISTERS: usize = 8;
/// Library functions up to this size are always inlined.
const SMALL_LIBRARY: usize = 80;

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
    value: Val,
    ty: Type,
    ret: Ty,
    returns: Returns,
}

/// The module under construction, with the state that its functions share.
pub(crate) struct Lowering<'u> {
    pub(crate) m: Module,
    target: Target,
    unit: &'u Unit<'u>,
    functions: Vec<Declared>,
    specs: HashMap<SpecId, usize>,
    /// Bodies of parallel loops by name.
    bodies: HashMap<String, usize>,
    /// By function: whether it may call itself, directly or through others.
    recursive: Vec<bool>,
    /// Type-based alias metadata: data of arrays and lists; headers of lists.
    tbaa_data: LLVMMetadataRef,
    tbaa_header: LLVMMetadataRef,
    /// Branch weights with a very likely and a very unlikely first target.
    likely: LLVMMetadataRef,
    unlikely: LLVMMetadataRef,
    texts: HashMap<String, Val>,
    debug: Option<DebugInfo>,
    /// The places that raise in code for a GPU, by number.
    raise_sites: Vec<RaiseSite>,
    /// Whether all functions of the unit record exceptions, because blocks wait for the whole grid.
    notes: bool,
    /// Whether the grid barrier is called.
    waits_for_grid: bool,
    /// Names of the outlined cold functions.
    rare: Vec<String>,
}

/// A lowered module with its side tables.
pub(crate) struct Lowered {
    pub(crate) module: Module,
    /// The places that raise in code for a GPU.
    pub(crate) raise_sites: Vec<RaiseSite>,
    /// Names of the outlined cold functions.
    pub(crate) rare: Vec<String>,
}

/// Lowers a unit to a module.
pub(crate) fn lower(unit: &Unit<'_>, machine: &Machine) -> Lowered {
    let m = Module::new(&unit.entry_symbol);
    m.set_target(&machine.triple, &machine.layout);
    let (tbaa_data, tbaa_header) = tbaa(&m);
    let weights = |a, b| m.node(&[m.md_text("branch_weights"), m.md_int(m.t.i32, a), m.md_int(m.t.i32, b)]);
    let (likely, unlikely) = (weights(1 << 20, 1), weights(1, 1 << 20));
    let by_name: HashMap<&str, usize> = unit.functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
    let specs: HashMap<SpecId, usize> =
        unit.spec_names.iter().filter_map(|(s, n)| Some((*s, *by_name.get(&**n)?))).collect();
    let bodies = unit.functions.iter().flat_map(|f| &f.bodies).map(|b| (b.name.clone(), by_name[&*b.name])).collect();
    let debug = unit.lines().then(|| DebugInfo::new(&m));
    let mut cx = Lowering {
        m,
        target: machine.target,
        unit,
        functions: Vec::new(),
        recursive: recursive(unit, &specs),
        specs,
        bodies,
        tbaa_data,
        tbaa_header,
        likely,
        unlikely,
        texts: HashMap::new(),
        debug,
        raise_sites: Vec::new(),
        notes: matches!(unit.abi, Abi::Kernel(_)) && unit.functions.iter().any(|f| waits_for_grid(f)),
        waits_for_grid: false,
        rare: Vec::new(),
    };
    cx.functions = unit.functions.iter().enumerate().map(|(i, f)| cx.declare(f, i)).collect();
    if !cx.recursive[unit.entry] && !unit.debug() && !cx.target.is_gpu() {
        // Inlined into its only caller, the stub, it is not optimised twice.
        cx.m.attribute(cx.functions[unit.entry].value, "alwaysinline");
    }
    for (i, f) in unit.functions.iter().enumerate() {
        function::lower(&mut cx, f, i);
    }
    match unit.abi {
        Abi::Host if unit.rare == Rare::Only => {}
        Abi::Host => {
            entry::lower(&mut cx, unit.entry, &unit.entry_symbol);
            if unit.functions[unit.entry].options.callback {
                entry::lower_callback(&mut cx, unit.entry);
            }
        }
        Abi::Kernel(_) | Abi::CFunction | Abi::StatusFunction => gpu::entry(&mut cx, unit),
    }
    if cx.waits_for_grid {
        // Only now it is known if any function raises.
        cx.define_grid_sync();
    }
    if let Some(d) = &cx.debug {
        d.finish();
    }
    Lowered { module: cx.m, raise_sites: cx.raise_sites, rare: cx.rare }
}

/// By function: whether it reaches itself by calls.
fn recursive(unit: &Unit<'_>, specs: &HashMap<SpecId, usize>) -> Vec<bool> {
    let insts = |f: &'_ Function| {
        let all = f.with_bodies().into_iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        all.filter_map(|i| called(&i.inst)).collect::<Vec<_>>()
    };
    let callees: Vec<Vec<usize>> =
        unit.functions.iter().map(|f| insts(f).iter().filter_map(|s| specs.get(s)).copied().collect()).collect();
    let reaches_itself = |f: usize| {
        let (mut seen, mut work) = (vec![false; callees.len()], callees[f].clone());
        while let Some(g) = work.pop() {
            if g == f {
                return true;
            }
            if !std::mem::replace(&mut seen[g], true) {
                work.extend(&callees[g]);
            }
        }
        false
    };
    (0..callees.len()).map(reaches_itself).collect()
}

/// Whether a function has a grid barrier.
fn waits_for_grid(f: &Function) -> bool {
    let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::Barrier(Barrier::Grid)))
}

fn called(inst: &Inst) -> Option<SpecId> {
    if let Inst::Call(spec, _) = inst { Some(*spec) } else { None }
}

/// The type-based alias metadata of array data and of list headers, which do not alias.
fn tbaa(m: &Module) -> (LLVMMetadataRef, LLVMMetadataRef) {
    let root = m.node(&[m.md_text("lancehead")]);
    let zero = m.md_int(m.t.i64, 0);
    let access = |name: &str| {
        let ty = m.node(&[m.md_text(name), root, zero]);
        m.node(&[ty, ty, zero])
    };
    (access("data"), access("list header"))
}

impl<'u> Lowering<'u> {
    fn declare(&self, f: &Function, index: usize) -> Declared {
        let m = &self.m;
        let ret = f.ret.unwrap_or_else(Ty::never);
        let prims = ret.flatten();
        // Functions that are inlined return through memory, which LLVM promotes; it cannot take a struct apart at a
        // phi.
        let is_body = self.bodies.contains_key(&f.name);
        let in_registers = (self.recursive[index] || is_body) && prims.len() <= MAX_IN_REGISTERS;
        let returns = if in_registers { Returns::Registers } else { Returns::Memory };
        let mut args: Vec<Type> = Vec::new();
        if returns == Returns::Memory {
            args.push(m.t.ptr);
        }
        args.extend(f.params().iter().flat_map(|p| f.ty(*p).flatten()).map(|p| m.prim(p)));
        let ty = m.fn_type(&args, self.result_type(&prims, returns));
        let value = m.declare(&f.name, ty);
        m.set_linkage(value, LLVMLinkage::LLVMInternalLinkage);
        self.attributes(value, f.options.debug);
        if f.options.debug || is_body {
            m.attribute(value, "noinline");
        } else if f.is_library {
            let size: usize = f.blocks.iter().map(|b| b.insts.len() + 1).sum();
            m.attribute(value, if size <= SMALL_LIBRARY { "alwaysinline" } else { "inlinehint" });
        }
        Declared { value, ty, ret, returns }
    }

    /// The return type: a status, or a struct of status and result.
    fn result_type(&self, prims: &[Prim], returns: Returns) -> Type {
        let m = &self.m;
        if returns == Returns::Memory || prims.is_empty() {
            return m.t.i32;
        }
        let parts: Vec<Type> = std::iter::once(m.t.i32).chain(prims.iter().map(|p| m.prim(*p))).collect();
        m.struct_type(&parts)
    }

    /// Adds the attributes of all functions that we define.
    fn attributes(&self, function: Val, debug: bool) {
        let m = &self.m;
        m.attribute(function, "nounwind");
        if self.target.is_gpu() {
            // A function may contain a barrier, until LLVM finds that it does not.
            m.attribute(function, "convergent");
            if self.unit.functions[self.unit.entry].options.fastmath == lh_ir::func::fastmath::FAST {
                m.text_attribute(function, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
            }
            return;
        }
        m.text_attribute(function, "target-cpu", &self.target.cpu());
        m.text_attribute(function, "target-features", &self.target.features());
        m.text_attribute(function, "no-trapping-math", "true");
        if debug {
            m.attribute(function, "optnone");
            m.text_attribute(function, "frame-pointer", "all");
        }
    }

    /// A function of the run-time or C library.
    fn external(&self, name: &str, args: &[Type], ret: Type) -> (Type, Val) {
        let ty = self.m.fn_type(args, ret);
        let f = self.m.declare(name, ty);
        self.m.attribute(f, "nounwind");
        (ty, f)
    }

    /// As [`Lowering::external`], for cold calls.
    fn cold(&self, name: &str, args: &[Type], ret: Type) -> (Type, Val) {
        let (ty, f) = self.external(name, args, ret);
        self.m.attribute(f, "cold");
        (ty, f)
    }

    /// The source file of a function, by the first function of the unit in the same file.
    fn file_of(&self, func: &Function) -> Outside {
        let first = self.unit.functions.iter().position(|f| f.file == func.file);
        Outside::File(first.unwrap_or_else(|| lh_ir::bug!("a function outside its unit")))
    }

    /// A shared text constant.
    fn text(&mut self, s: &str) -> Val {
        if let Some(v) = self.texts.get(s) {
            return *v;
        }
        let v = self.m.text(s);
        self.texts.insert(s.to_owned(), v);
        v
    }

    /// Calls an external function.
    fn call_external(&self, (ty, f): (Type, Val), args: &[Val]) -> Val {
        self.m.call(ty, f, args)
    }
}
