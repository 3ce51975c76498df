//! Puts library functions that only compute into their callers, before the passes.
//!
//! ```text
//! function %flat(v0: array) -> array:  return v0
//!
//! v7 = call flat(v3): array          ->       (uses of v7 become uses of v3)
//! ```
//!
//! Many functions of the library end as one block without effects: they choose by type what to do, pass something on, or
//! give a constant. Calling them costs what LLVM takes to inline them, hides shapes and owners from the passes, and makes
//! a reference of what was only passed on. The same goes for those that make an array, though that may raise: their callers
//! see its extents. Larger functions are LLVM's.

use crate::edit::Replacements;
use lh_ir::func::{Device, Inst, InstData, Options, Term, parallel};
use lh_ir::{Function, SpecId, Ty, Value};
use std::sync::Arc;

/// Functions of more instructions are called.
const MAX_INSTS: usize = 12;

/// The bodies that [`extract`] has found.
pub type Bodies<'a> = dyn Fn(SpecId) -> Option<Arc<Function>> + 'a;

/// The function, if calls of it can be replaced by its instructions. Asked before references are counted.
pub(crate) fn extract(func: &Function) -> Option<Function> {
    let [block] = &func.blocks[..] else { return None };
    let Some(Term::Return(v)) = &block.term else { return None };
    // Geometry and operations of warps have to be seen in the kernel.
    let on_device = matches!(func.options.device, Device::Function | Device::Kernel);
    let for_device =
        |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if on_device && f.name.starts_with("lh_cuda_"));
    // Of arrays that are made, the caller is to know the extents.
    let is_made = |d: &InstData| d.result == Some(*v) && matches!(d.inst, Inst::ArrayMake { .. } | Inst::Pack(_));
    // Which iterations of a parallel loop meet, and what they combine, is asked of the calls.
    let makes = func.options.parallel & parallel::PRANGE == 0 && block.insts.iter().any(is_made);
    let gives_memory = |d: &InstData| match &d.inst {
        Inst::Runtime(f, _) => makes && matches!(f.name, "lh_alloc" | "lh_calloc"),
        // Their size is computed, and extents are asked whether they are negative.
        Inst::Call(..) => d.result.is_none_or(|r| (makes && func.ty(r).is_int()) || func.ty(r) == Ty::none()),
        _ => false,
    };
    // Of an element that is read anew, too.
    let reads = block.insts.iter().any(for_device);
    let is_read = |d: &InstData| reads && matches!(d.inst, Inst::ElemPtr { .. } | Inst::Load(_));
    let only_computes =
        |d: &InstData| d.inst.is_pure() && !d.inst.can_raise() || for_device(d) || gives_memory(d) || is_read(d);
    let fits = func.is_library
        && !func.options.debug
        && func.slots.is_empty()
        && func
            .ret
            .is_some_and(|r| r == func.ty(*v) || on_device && r.is_int() && r.flatten() == func.ty(*v).flatten())
        && block.insts.len() <= if on_device || makes { 2 * MAX_INSTS } else { MAX_INSTS }
        && block.insts.iter().all(only_computes);
    fits.then(|| func.clone())
}

/// Replaces the calls.
pub(crate) fn run(func: &mut Function, bodies: &Bodies<'_>) -> bool {
    if func.options.debug {
        return false;
    }
    let mut with = Replacements::new(func);
    let mut changed = false;
    for b in 0..func.blocks.len() {
        if !func.blocks[b].insts.iter().any(|d| matches!(d.inst, Inst::Call(..))) {
            continue;
        }
        let mut out = Vec::new();
        for d in std::mem::take(&mut func.blocks[b].insts) {
            match &d.inst {
                Inst::Call(spec, args) => {
                    match bodies(*spec).filter(|body| body.blocks.len() == 1 && fits(func, body, args, d.result)) {
                        Some(body) => {
                            let value = insert(func, &body, args, &d, &mut out);
                            if let Some(r) = d.result {
                                let value = converted(func, value, r, &d, &mut out);
                                with.set(r, value);
                            }
                            changed = true;
                        }
                        None => out.push(d),
                    }
                }
                _ => out.push(d),
            }
        }
        func.blocks[b].insts = out;
    }
    if changed {
        with.apply(func);
    }
    changed
}

/// A body's value as one of the call's type: a body may have left out a conversion that does nothing.
fn converted(func: &mut Function, value: Value, wanted: Value, call: &InstData, out: &mut Vec<InstData>) -> Value {
    let ty = func.ty(wanted);
    if func.ty(value) == ty {
        return value;
    }
    let v = func.new_value(ty);
    out.push(InstData { result: Some(v), inst: Inst::Cast(value), span: call.span });
    v
}

/// Whether all types are the same on both sides, and the options that instructions depend on.
fn fits(func: &Function, body: &Function, args: &[Value], result: Option<Value>) -> bool {
    let params = body.params();
    params.len() == args.len()
        && params.iter().zip(args).all(|(p, a)| body.ty(*p) == func.ty(*a))
        && result.is_none_or(|r| body.ret == Some(func.ty(r)))
        && Options { device: Device::Host, ..body.options }
            == Options { device: Device::Host, callback: false, ..func.options }
        && (body.options.device == func.options.device || func.options.device == Device::Kernel)
}

/// Appends a body's instructions; its result.
fn insert(func: &mut Function, body: &Function, args: &[Value], call: &InstData, out: &mut Vec<InstData>) -> Value {
    let mut names: Vec<Option<Value>> = vec![None; body.values.len()];
    for (p, a) in body.params().iter().zip(args) {
        names[p.index()] = Some(*a);
    }
    let block = &body.blocks[0];
    for d in &block.insts {
        let mut inst = d.inst.clone();
        inst.for_each_operand_mut(&mut |v| *v = names[v.index()].expect("defined before"));
        let result = d.result.map(|r| func.new_value(body.ty(r)));
        if let Some(r) = d.result {
            names[r.index()] = result;
        }
        out.push(InstData { result, inst, span: call.span });
    }
    let Some(Term::Return(v)) = &block.term else { lh_ir::bug!("a body to be inlined returns") };
    names[v.index()].expect("defined before")
}
