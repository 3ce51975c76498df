//! Inlines library functions of one block without effects, before all other passes.
//!
//! ```text
//! function %flat(v0: array) -> array:  return v0
//!
//! v7 = call flat(v3): array          ->       (uses of v7 become uses of v3)
//! ```
//!
//! Many library functions end as one block without effects: they choose an implementation by type, pass a value on, or
//! return a constant. A call of one hides shapes and owners from the passes and takes a reference to a value that is
//! only passed on. Functions that allocate an array are inlined, too, although they may raise, so that callers see its
//! extents. LLVM inlines larger functions.
//!
//! In code for GPUs, [`inline_whole`] also inlines functions of several blocks that make arrays: there is no heap, so
//! that every extent must be a constant in the kernel.

use crate::analysis::classify::makes_arrays;
use crate::analysis::effects::meaning;
use crate::edit::{Replacements, rename, to};
use hashbrown::HashMap;
use lh_ir::func::{BlockData, Derivative, Device, Inst, InstData, Options, Semantics, Target, Term, parallel};
use lh_ir::verify::agree;
use lh_ir::{Block, Function, Meaning, SpecId, Ty, Value};
use std::sync::Arc;

/// Longer functions are called.
const MAX_INSTS: usize = 12;

/// On GPUs, longer functions are called unless they make arrays.
const MAX_WHOLE: usize = 60;
/// Bound on the growth of a function, in blocks.
const MAX_BLOCKS: usize = 5000;

/// The bodies found by [`extract`].
pub type Bodies<'a> = dyn Fn(SpecId) -> Option<Arc<Function>> + 'a;

/// The function, if calls of it can be inlined. Runs before references are counted.
pub(crate) fn extract(func: &Function) -> Option<Function> {
    (is_inlinable(func) || func.options.device == Device::Gpu && can_inline_whole(func)).then(|| func.clone())
}

fn is_inlinable(func: &Function) -> bool {
    let [block] = &func.blocks[..] else { return false };
    let Some(Term::Return(v)) = &block.term else { return false };
    // Passes over kernels read the geometry and warp operations in the kernel itself.
    let on_device = matches!(func.options.device, Device::Function | Device::Kernel);
    let for_device = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if on_device && f.is_for_kernels());
    // The caller learns the extents of an array that is allocated here.
    let is_made = |d: &InstData| d.result == Some(*v) && matches!(d.inst, Inst::ArrayMake { .. } | Inst::Pack(_));
    // The race judge looks for calls of the library's array functions in parallel loops, so these stay calls.
    let makes = func.options.parallel & parallel::PRANGE == 0 && block.insts.iter().any(is_made);
    let gives_memory = |d: &InstData| match &d.inst {
        Inst::Runtime(f, _) => makes && f.allocates(),
        // These calls compute sizes and check that extents are not negative.
        Inst::Call(..) => d.result.is_none_or(|r| (makes && func.ty(r).is_int()) || func.ty(r) == Ty::none()),
        _ => false,
    };
    // The address may be computed from the geometry.
    let reads = block.insts.iter().any(for_device);
    let is_read = |d: &InstData| reads && matches!(d.inst, Inst::ElemPtr { .. } | Inst::Load(_));
    let computes =
        |d: &InstData| d.inst.is_pure() && !d.inst.can_raise() || for_device(d) || gives_memory(d) || is_read(d);
    func.is_library
        && !keeps_calls(func)
        // The dependence test reads the bounds of a slice from the call.
        && !(func.options.parallel & parallel::PRANGE != 0 && meaning(func) == Some(Meaning::SliceBounds))
        && func.slots.is_empty()
        && func.ret.is_some_and(|r| r == func.ty(*v) || on_device && r.is_int() && r.flatten() == func.ty(*v).flatten())
        && block.insts.len() <= if on_device || makes { 2 * MAX_INSTS } else { MAX_INSTS }
        && block.insts.iter().all(computes)
}

/// Whether calls stay: a debugger steps into functions of the host.
fn keeps_calls(func: &Function) -> bool {
    func.options.debug && func.options.device != Device::Gpu
}

/// Inlines calls of functions of one block.
pub(crate) fn run(func: &mut Function, bodies: &Bodies<'_>) -> bool {
    if keeps_calls(func) {
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
                    match bodies(*spec)
                        .filter(|body| is_inlinable(body) && agrees(func, body, args, d.result, |a, b| a == b))
                    {
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

/// Casts the body's result to the call's type: the body may have left out a conversion that keeps the bits.
fn converted(func: &mut Function, value: Value, wanted: Value, call: &InstData, out: &mut Vec<InstData>) -> Value {
    let ty = func.ty(wanted);
    if func.ty(value) == ty {
        return value;
    }
    let v = func.new_value(ty);
    out.push(InstData { result: Some(v), inst: Inst::Cast(value), span: call.span });
    v
}

/// Whether parameters, result and the options that instructions depend on agree; `same` compares types.
fn agrees(func: &Function, body: &Function, args: &[Value], result: Option<Value>, same: fn(Ty, Ty) -> bool) -> bool {
    is_called_so(func, body, args, result, same)
        && comparable(&body.options) == Options { callback: false, ..comparable(&func.options) }
        && (body.options.device == func.options.device || func.options.device == Device::Kernel)
}

/// Whether parameters and result agree.
fn is_called_so(
    func: &Function,
    body: &Function,
    args: &[Value],
    result: Option<Value>,
    same: fn(Ty, Ty) -> bool,
) -> bool {
    let params = body.params();
    params.len() == args.len()
        && params.iter().zip(args).all(|(p, a)| same(body.ty(*p), func.ty(*a)))
        && result.is_none_or(|r| body.ret == Some(func.ty(r)))
}

/// Options without those that typed instructions do not depend on: the library has semantics of its own.
fn comparable(options: &Options) -> Options {
    Options { device: Device::Host, semantics: Semantics::Python, derivative: Derivative::None, ..*options }
}

/// Appends a body's instructions and answers its result.
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

fn can_inline_whole(func: &Function) -> bool {
    let insts: usize = func.blocks.iter().map(|b| b.insts.len()).sum();
    can_splice(func) && (makes_arrays(func) || func.is_library && insts <= MAX_WHOLE)
}

/// Whether a function of several blocks can replace a call.
pub(crate) fn can_splice(func: &Function) -> bool {
    func.slots.is_empty() && func.bodies.is_empty() && func.blocks.iter().all(|b| b.unwind.is_none())
}

/// Whether a library function of several blocks fits a call with these operands on the host.
pub(crate) fn fits(func: &Function, body: &Function, args: &[Value], result: Option<Value>) -> bool {
    body.is_library && can_splice(body) && !keeps_calls(func) && agrees(func, body, args, result, |a, b| a == b)
}

/// Inlines calls of functions of several blocks into a GPU's function that makes arrays.
pub(crate) fn inline_whole(func: &mut Function, bodies: &Bodies<'_>) -> bool {
    let of = |d: &InstData| if let Inst::Call(spec, _) = &d.inst { bodies(*spec) } else { None };
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    if func.options.device != Device::Gpu || !makes_arrays(func) && !insts.filter_map(of).any(|f| makes_arrays(&f)) {
        return false;
    }
    let mut b = 0;
    // The loop also visits inlined blocks; mutual recursion would go on for ever without the bound.
    while b < func.blocks.len().min(MAX_BLOCKS) {
        let found = func.blocks[b].insts.iter().enumerate().find_map(|(i, d)| {
            let Inst::Call(spec, args) = &d.inst else { return None };
            let calls_itself = |d: &InstData| matches!(d.inst, Inst::Call(s, _) if s == *spec);
            let once = |body: &Function| !body.blocks.iter().flat_map(|b| &b.insts).any(calls_itself);
            of(d).filter(|body| once(body) && agrees(func, body, args, d.result, agree)).map(|body| (i, body))
        });
        if let Some((at, body)) = found {
            splice(func, b, at, &body);
        }
        b += 1;
    }
    true
}

/// Inlines all calls of functions with a body, also those in inlined bodies; the bodies of functions that call
/// themselves must be left out.
pub(crate) fn inline_all(func: &mut Function, bodies: &Bodies<'_>) {
    let mut b = 0;
    while b < func.blocks.len().min(4 * MAX_BLOCKS) {
        let found = func.blocks[b].insts.iter().enumerate().find_map(|(i, d)| {
            let Inst::Call(spec, args) = &d.inst else { return None };
            // The typed code says already how errors are handled and where indices are checked, and loops say that
            // they are parallel. Of `fastmath`, what both allow is left.
            let own = |o: &Options| Options {
                numpy_errors: false,
                overflow_check: false,
                boundscheck: true,
                debug: false,
                fastmath: 0,
                parallel: 0,
                ..comparable(o)
            };
            let is_serial = |o: &Options| o.parallel & parallel::ALL == 0;
            let fits = |body: &Arc<Function>| {
                body.slots.is_empty()
                    && body.bodies.is_empty()
                    && own(&body.options) == Options { callback: false, ..own(&func.options) }
                    && (is_serial(&body.options)
                        || is_serial(&func.options)
                        || body.options.parallel == func.options.parallel)
                    && is_called_so(func, body, args, d.result, agree)
            };
            bodies(*spec).filter(fits).map(|body| (i, body))
        });
        if let Some((at, body)) = found {
            func.options.parallel |= body.options.parallel;
            func.options.fastmath &= body.options.fastmath;
            splice(func, b, at, &body);
        }
        b += 1;
    }
}

/// Splits a block at a call and puts the callee's blocks between both halves; answers with the block of the second.
pub(crate) fn splice(func: &mut Function, block: usize, at: usize, body: &Function) -> Block {
    let mut after = func.blocks[block].clone();
    after.insts = func.blocks[block].insts.split_off(at);
    let call = after.insts.remove(0);
    let Inst::Call(_, args) = &call.inst else { lh_ir::bug!("the place is that of a call") };
    after.params = call.result.into_iter().collect();
    let mut names: HashMap<Value, Value> =
        body.values.iter().enumerate().map(|(i, t)| (Value::new(i), func.new_value(*t))).collect();
    let is_same = |(p, a): (&Value, &Value)| body.ty(*p) == func.ty(*a);
    let direct = body.params().iter().zip(args).all(is_same);
    if direct {
        names.extend(body.params().iter().copied().zip(args.iter().copied()));
    }
    let moved: HashMap<Block, Block> = (0..body.blocks.len()).map(|i| (Block::new(i), func.new_block())).collect();
    func.blocks[block].term = Some(Term::Jump(to(moved[&Block::new(0)], if direct { &[] } else { args })));
    let rest = func.new_block();
    for (i, data) in body.blocks.iter().enumerate() {
        let mut data = BlockData { term_span: call.span, ..data.clone() };
        if direct && i == 0 {
            data.params.clear();
        }
        rename(&mut data, &names, &moved);
        data.unwind.iter_mut().for_each(|t| t.block = moved[&t.block]);
        data.unwind = data.unwind.take().or_else(|| after.unwind.clone());
        data.insts.iter_mut().for_each(|d| d.span = call.span);
        if let Some(Term::Return(v)) = data.term {
            let result = call.result.map(|r| converted(func, v, r, &call, &mut data.insts));
            data.term = Some(Term::Jump(Target { block: rest, args: result.into_iter().collect() }));
        }
        func.blocks[moved[&Block::new(i)].index()] = data;
    }
    func.blocks[rest.index()] = after;
    rest
}
