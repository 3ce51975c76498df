//! Differentiation of typed functions. Reverse mode: [`adjoint`] makes of a function one that computes its result and
//! then, in reverse order, the adjoints of its parameters. Forward mode: [`tangent`] makes of it one that computes the
//! tangent of each value beside the value.
//!
//! The function is given after inlining and after array expressions have become loops, so that loads, stores, loops and
//! rows of operations are all that has to be differentiated; functions with a rule of their own stay calls. The steps:
//!
//! - `generators` and `states` make control flow of generators;
//! - `landing` gives exceptions that are caught blocks of their own;
//! - `normal` brings control flow into the form that is reversed;
//! - `memory` finds what may address the same memory, and what depends on the parameters asked for;
//! - `shadow` adds, to the function itself, shadows: memory of the same form that holds adjoints;
//! - `unchosen` finds values that may be left unused, whose adjoints are zero then;
//! - `reverse` builds the reverse part, with a block for each block; `recursion` has the calls of functions that call
//!   themselves (`snapshots` copies their memory), `atomics` and `kernels` the memory that threads of a kernel share;
//! - `keep`, `tape`, `stack` and `nest` make the values available that it needs;
//! - `promote` makes SSA values of adjoints.
//!
//! Forward mode (`forward`) needs `memory` and `shadow` only.
//!
//! `prim.adjoint` and `prim.tangent` call a function together with its derivative; `lib/lancehead/gradients.py` builds
//! all transformations on them. A function to be differentiated is typed with `Options::derivative`, and its code
//! before all passes is kept; `compiler::gradients` of `lh-driver` inlines its callees, and the derivative then runs
//! through the whole pipeline. Rules are functions of `lib/derivatives/`, or given by the program (`custom_vjp`).

mod atomics;
mod bits;
mod builder;
mod forward;
mod generators;
mod keep;
mod kernels;
mod landing;
mod memory;
mod nest;
mod normal;
mod partial;
mod promote;
mod recursion;
mod remarks;
mod reverse;
mod shadow;
mod snapshots;
mod stack;
mod states;
mod tape;
mod unchosen;

pub use kernels::is_extreme;
pub use memory::{Callees, Push, Rule, Snapshot, has_floats, has_memory};
pub use remarks::{Remark, Remarks};
pub use snapshots::has_snapshot;

use hashbrown::HashMap;
use lh_ir::diag::Result;
use lh_ir::func::{Function, Inst, InstData, Term};
use lh_ir::{Block, Span, SpecId, Ty};
use lh_ops::runtime as rt;

/// The derivative that is asked for.
pub struct Request<'a> {
    /// The parameters with respect to which it is: one truth value for each.
    pub asked: &'a [bool],
    /// Type of a list of owners of memory; code for a CUDA device has none.
    pub owners: Option<Ty>,
    /// The type of the function's result, if an adjoint of it is given; else that of its first float is 1.
    pub seed: Option<Ty>,
    /// Type of the result: what the function gives, and a tuple of the adjoints of the parameters asked for.
    pub ret: Ty,
}

/// A derivative in reverse mode.
pub struct Made {
    /// The function.
    pub func: Function,
    /// Remarks for reports, with their places.
    pub remarks: Remarks,
    /// The parameters of the function itself whose memory it writes: one bit for each, the last for all from there on.
    pub writes: u32,
    /// The types of lists that it takes last: they keep objects alive.
    pub lists: Vec<Ty>,
}

/// The function that takes the parameters of `primal`, the shadows of those asked for that have memory, a list that
/// keeps memory alive (but for a device), the adjoint of the result if one is given, and lists that keep objects alive.
/// It gives the result, and the adjoints of the parameters.
///
/// # Errors
/// Something without a derivative, at its place.
pub fn adjoint(primal: &Function, request: &Request<'_>, callees: &dyn Callees) -> Result<Made> {
    let mut func = primal.clone();
    let flow = normal::normalise(&mut func)?;
    let mut memory = memory::Memory::new(&func, request.asked, callees);
    landing::check(&func, &memory)?;
    generators::check(&func, &memory)?;
    bits::check(&func, &memory)?;
    kernels::check(&func, &memory)?;
    let mut remarks = remarks::ends(&func, &memory);
    let params = func.params().to_vec();
    let asked: Vec<_> = params.iter().zip(request.asked).filter(|(_, a)| **a).map(|(p, _)| *p).collect();
    let mut given = HashMap::new();
    for p in &asked {
        if has_memory(func.ty(*p)) {
            let shadow = func.new_param(Block(0), func.ty(*p));
            given.insert(*p, shadow);
        }
    }
    let owners = request.owners.map(|ty| func.new_param(Block(0), ty));
    let (shadows, saved, copies) = shadow::add(&mut func, &memory, callees, &given, shadow::Mode::Reverse)?;
    memory.renumber(&func, callees);
    let seed = request.seed.map(|ty| func.new_param(Block(0), ty));
    let forward = func.blocks.len();
    let first_slot = func.slots.len();
    let made = reverse::Reverse::new(&mut func, &flow, &memory, callees, &shadows, (&saved, &copies));
    let end = reverse::End { asked: &asked, ret: request.ret, seed, owners };
    let made = reverse::build(made, &end)?;
    let (back, loops) = (made.blocks, made.loops);
    let reversed: Vec<Block> = (forward..func.blocks.len()).map(Block::new).collect();
    let keeper = keep::Keeper::new(&mut func, &flow, &memory, &loops, &shadows, forward);
    let (more, lists) = keeper.run(&reversed, &back, owners)?;
    // They keep memory until the end also where calls of this function are inlined.
    let kept: Vec<_> = owners.into_iter().chain(func.params().iter().rev().take(lists.len()).copied()).collect();
    let end = func.blocks.iter_mut().find(|b| matches!(b.term, Some(Term::Return(_))));
    let keep = |v| InstData { result: None, inst: Inst::Runtime(&rt::lh_object_kept, vec![v]), span: Span::default() };
    end.expect("it returns").insts.extend(kept.into_iter().map(keep));
    remarks.extend(more);
    promote::promote(&mut func, first_slot);
    promote::simplify(&mut func);
    let written = |i: usize, p: &lh_ir::Value| if memory.is_written(*p) { 1 << i.min(31) } else { 0 };
    let writes = params.iter().enumerate().map(|(i, p)| written(i, p)).fold(0, |a, b| a | b);
    Ok(Made { func, remarks, writes, lists })
}

/// A call of a function that calls itself, the types of its arguments, and those with respect to which its derivative
/// is needed.
pub type Recursion = (SpecId, Vec<Ty>, Vec<bool>);

/// The calls in a function, of those that `recurs` holds for, whose derivatives that of the function needs.
///
/// # Errors
/// It has control flow that is not reversed.
pub fn recursions(
    primal: &Function,
    asked: &[bool],
    callees: &dyn Callees,
    recurs: &dyn Fn(SpecId) -> bool,
) -> Result<Vec<Recursion>> {
    let mut func = primal.clone();
    landing::add(&mut func);
    promote::promote(&mut func, 0);
    generators::open(&mut func);
    let memory = memory::Memory::new(&func, asked, callees);
    let calls = func.blocks.iter().flat_map(|b| &b.insts).filter_map(|d| match &d.inst {
        Inst::Call(s, args) if recurs(*s) => {
            let tys = args.iter().map(|a| func.ty(*a)).collect();
            Some((*s, tys, memory::wanted(&memory, args)))
        }
        _ => None,
    });
    Ok(calls.filter(|(_, _, wanted)| wanted.contains(&true)).collect())
}

/// The function that takes the parameters of `primal` and the tangents of those `asked` for; it gives a tuple of the
/// result and its tangent. `zeros` makes zeros like a result that has memory.
///
/// # Errors
/// Something without a derivative, at its place.
pub fn tangent(
    primal: &Function,
    asked: &[bool],
    ret: Ty,
    zeros: Option<SpecId>,
    callees: &dyn Callees,
) -> Result<Function> {
    let mut func = primal.clone();
    landing::add(&mut func);
    promote::promote(&mut func, 0);
    generators::open(&mut func);
    let memory = memory::Memory::new(&func, asked, callees);
    landing::check(&func, &memory)?;
    generators::check(&func, &memory)?;
    bits::check(&func, &memory)?;
    let params: Vec<_> = func.params().iter().copied().zip(asked.iter().copied()).filter(|(_, a)| *a).collect();
    let mut given = Vec::new();
    for (p, _) in params {
        let t = func.new_param(Block(0), func.ty(p));
        given.push((p, t));
    }
    forward::build(&mut func, &memory, callees, &given, ret, zeros)?;
    Ok(func)
}
