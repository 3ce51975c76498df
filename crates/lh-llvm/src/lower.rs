//! Lowers typed IR to LLVM IR, one function at a time.
//!
//! A value is represented by the LLVM scalars of its type's primitives, a block parameter by one phi for each. Internal
//! functions return a status (0: success, 1: an exception is pending in the run-time library) together with the
//! primitives of their result, in registers if they are few, and through a pointer otherwise.

mod arith;
mod atomics;
mod call;
mod cpu_device;
mod cx;
mod debug_info;
mod device;
mod device_calls;
mod entry;
mod foreign;
mod function;
mod generators;
mod gpu;
mod index;
mod inline;
mod inst;
mod intrinsics;
mod memory;
mod parallel;
mod parts;
mod raise;

pub(crate) use device::check_device;
pub use device_calls::ERROR;
pub use entry::CALLBACK;
pub use gpu::GRID_BARRIER;

use crate::ir::Module;
use crate::machine::Machine;
use crate::unit::{Abi, RaiseSite, Rare, Unit};
use cx::Lowering;
use debug_info::DebugInfo;
use lh_ir::SpecId;
use lh_ir::func::{Function, Inst};
use lh_ir::runtime::{Barrier, Role};
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashMap;

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
    let (more_often, less_often) = (weights(20, 12), weights(12, 20));
    let by_name: HashMap<&str, usize> = unit.functions.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
    let specs: HashMap<SpecId, usize> =
        unit.spec_names.iter().filter_map(|(s, n)| Some((*s, *by_name.get(&**n)?))).collect();
    let bodies = unit.functions.iter().flat_map(|f| &f.bodies).map(|b| (b.name.clone(), by_name[&*b.name])).collect();
    let debug = unit.lines().then(|| DebugInfo::new(&m));
    let callees = callees(unit, &specs);
    let recursive = recursive(&callees);
    let mut cx = Lowering {
        m,
        target: machine.target,
        unit,
        functions: Vec::new(),
        linked: HashMap::new(),
        often: copied_too_often(unit, &callees, &recursive),
        recursive,
        always_raise: parts::always_raise(unit, &specs),
        specs,
        bodies,
        tbaa_data,
        tbaa_header,
        likely,
        unlikely,
        more_often,
        less_often,
        texts: HashMap::new(),
        debug,
        raise_sites: Vec::new(),
        notes: matches!(unit.abi, Abi::Kernel(_)) && unit.functions.iter().any(|f| waits_for_grid(f)),
        waits_for_grid: false,
        rare: Vec::new(),
        is_large: parts::has_large(unit),
    };
    cx.functions = unit.functions.iter().enumerate().map(|(i, f)| cx.declare(f, i)).collect();
    cx.linked = unit.linked.iter().map(|l| (l.spec, cx.declare_linked(&l.function, &l.symbol))).collect();
    if !cx.recursive[unit.entry] && !unit.debug() && !cx.target.is_gpu() && unit.abi != Abi::Internal {
        // Inlined into its only caller, the stub, it is not optimised twice.
        cx.m.attribute(cx.functions[unit.entry].value, "alwaysinline");
    }
    for (i, f) in unit.functions.iter().enumerate() {
        function::lower(&mut cx, f, i);
    }
    lower_entry(&mut cx, unit);
    if cx.waits_for_grid {
        // Only now it is known if any function raises.
        cx.define_grid_sync();
    }
    if let Some(d) = &cx.debug {
        d.finish();
    }
    Lowered { module: cx.m, raise_sites: cx.raise_sites, rare: cx.rare }
}

/// Lowers the function by which the unit is called.
fn lower_entry(cx: &mut Lowering<'_>, unit: &Unit<'_>) {
    match unit.abi {
        Abi::Host if unit.rare == Rare::Only => {}
        Abi::Internal => {}
        Abi::Host => {
            entry::lower(cx, unit.entry, &unit.entry_symbol);
            if unit.functions[unit.entry].options.callback {
                entry::lower_callback(cx, unit.entry);
            }
        }
        Abi::Kernel(_) | Abi::CFunction | Abi::StatusFunction => gpu::entry(cx, unit),
    }
}

/// The functions of the unit that each calls, once for each place.
fn callees(unit: &Unit<'_>, specs: &HashMap<SpecId, usize>) -> Vec<Vec<usize>> {
    let insts = |f: &'_ Function| {
        let all = f.with_bodies().into_iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        all.filter_map(|i| called(&i.inst)).collect::<Vec<_>>()
    };
    unit.functions.iter().map(|f| insts(f).iter().filter_map(|s| specs.get(s)).copied().collect()).collect()
}

/// By function: whether it reaches itself by calls.
fn recursive(callees: &[Vec<usize>]) -> Vec<bool> {
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

/// By function: whether so many copies of it would be made if every call of a library function were inlined that
/// compiling them costs more than the calls do. LLVM's passes take more than linear time in the size of a function.
fn copied_too_often(unit: &Unit<'_>, callees: &[Vec<usize>], recursive: &[bool]) -> Vec<bool> {
    let mut uncounted = vec![0usize; callees.len()];
    callees.iter().flatten().for_each(|f| uncounted[*f] += 1);
    let mut copies = vec![0usize; callees.len()];
    let mut often = vec![false; callees.len()];
    let mut work: Vec<usize> = (0..callees.len()).filter(|f| uncounted[*f] == 0).collect();
    while let Some(f) = work.pop() {
        let function = &unit.functions[f];
        let size = cx::size(function);
        // Arithmetic is inlined wherever it is, since loops with calls in them are not vectorised.
        let has_objects = || function.params().iter().any(|p| function.ty(*p).flatten().iter().any(|p| p.is_counted()));
        often[f] = function.is_library
            && size > cx::COST_OF_CALL
            && copies[f].saturating_mul(size) > cx::MOST_COPIED
            && has_objects();
        let own = if !function.is_library || often[f] { 1 } else { copies[f].max(1) };
        for callee in &callees[f] {
            copies[*callee] = copies[*callee].saturating_add(own);
            uncounted[*callee] -= 1;
            if uncounted[*callee] == 0 && !recursive[*callee] {
                work.push(*callee);
            }
        }
    }
    often
}

/// Whether a function has a grid barrier.
fn waits_for_grid(f: &Function) -> bool {
    let mut insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::Barrier(Barrier::Grid)))
}

fn called(inst: &Inst) -> Option<SpecId> {
    if let Inst::Call(spec, _) = inst { Some(*spec) } else { None }
}

/// The type-based alias metadata of data and of object headers, which do not alias.
fn tbaa(m: &Module) -> (LLVMMetadataRef, LLVMMetadataRef) {
    let root = m.node(&[m.md_text("lancehead")]);
    let zero = m.md_int(m.t.i64, 0);
    let access = |name: &str| {
        let ty = m.node(&[m.md_text(name), root, zero]);
        m.node(&[ty, ty, zero])
    };
    (access("data"), access("object header"))
}
