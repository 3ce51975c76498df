//! The two modes: the derivative of one function, whose program are inlined or known.

use crate::memory::has_memory;
use crate::program::Program;
use crate::remarks::Remarks;
use crate::{bits, forward, generators, keep, kernels, landing, memory, normal, promote, remarks, reverse, shadow};
use hashbrown::HashMap;
use lh_ir::diag::Result;
use lh_ir::func::{Function, Inst, InstData, Term};
use lh_ir::{Block, Span, SpecId, Ty};
use lh_ops::runtime as rt;

/// A derivative in reverse mode.
pub(crate) struct Made {
    /// The function.
    pub func: Function,
    /// Remarks for reports, with their places.
    pub remarks: Remarks,
    /// The parameters of the function itself whose memory it writes: one bit for each, the last for all from there on.
    pub writes: u32,
    /// Those through whose memory derivatives flow, in the same form.
    pub active: u32,
    /// The types of lists that it takes last: they keep objects alive.
    pub lists: Vec<Ty>,
}

/// The function that takes the parameters of `primal`, the shadows of those asked for that have memory, a list that
/// keeps memory alive (but for a device), the adjoint of the result if one is given, and lists that keep objects alive.
/// It gives the result and a tuple of the adjoints of the parameters asked for, which is of type `ret`. `owners` is the
/// type of that list, and `seed` that of the result if its adjoint is given; else that of its first float is 1.
///
/// # Errors
/// Something without a derivative, at its place.
pub(crate) fn adjoint(
    primal: &Function,
    asked: &[bool],
    (owners, seed): (Option<Ty>, Option<Ty>),
    ret: Ty,
    program: &dyn Program,
) -> Result<Made> {
    let mut func = primal.clone();
    let flow = normal::normalise(&mut func)?;
    let mut memory = memory::Memory::new(&func, asked, program);
    landing::check(&func, &memory)?;
    generators::check(&func, &memory)?;
    bits::check(&func, &memory)?;
    kernels::check(&func, &memory)?;
    let mut remarks = remarks::ends(&func, &memory);
    let params = func.params().to_vec();
    let (asked, others): (Vec<_>, Vec<_>) = params.iter().zip(asked).partition(|(_, a)| **a);
    let [asked, others] = [asked, others].map(|of| of.into_iter().map(|(p, _)| *p).collect::<Vec<_>>());
    let mut given = HashMap::new();
    for p in &asked {
        if has_memory(func.ty(*p)) {
            let shadow = func.new_param(Block(0), func.ty(*p));
            given.insert(*p, shadow);
        }
    }
    given.extend(shadow::of_others(&mut func, &memory, program, &others));
    let owners = owners.map(|ty| func.new_param(Block(0), ty));
    let (shadows, saved, copies) = shadow::add(&mut func, &memory, program, &given, shadow::Mode::Reverse)?;
    memory.renumber(&func, program);
    let seed = seed.map(|ty| func.new_param(Block(0), ty));
    let forward = func.blocks.len();
    let first_slot = func.slots.len();
    let made = reverse::Reverse::new(&mut func, &flow, &memory, program, &shadows, (&saved, &copies));
    let end = reverse::End { asked: &asked, ret, seed, owners };
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
    let bits = |holds: &dyn Fn(lh_ir::Value) -> bool| {
        params.iter().enumerate().filter(|(_, p)| holds(**p)).fold(0, |bits, (i, _)| bits | (1 << i.min(31)))
    };
    let (writes, active) = (bits(&|p| memory.is_written(p)), bits(&|p| memory.has_shadow(p)));
    Ok(Made { func, remarks, writes, active, lists })
}

/// The calls in a function, of those that `recurs` holds for, whose derivatives that of the function needs: what is
/// called, the types of its arguments, and those with respect to which its derivative is needed.
pub(crate) fn recursions(
    primal: &Function,
    asked: &[bool],
    program: &dyn Program,
    recurs: &dyn Fn(SpecId) -> bool,
) -> Vec<(SpecId, Vec<Ty>, Vec<bool>)> {
    let (func, memory) = opened(primal, asked, program);
    let calls = func.insts().filter_map(|d| match &d.inst {
        Inst::Call(s, args) if recurs(*s) => {
            let tys = args.iter().map(|a| func.ty(*a)).collect();
            Some((*s, tys, memory::wanted(&memory, args)))
        }
        _ => None,
    });
    calls.filter(|(_, _, wanted)| wanted.contains(&true)).collect()
}

/// A function in the form in which its control flow is known, and its memory.
fn opened(primal: &Function, asked: &[bool], program: &dyn Program) -> (Function, memory::Memory) {
    let mut func = primal.clone();
    landing::add(&mut func);
    promote::promote(&mut func, 0);
    generators::open(&mut func);
    let memory = memory::Memory::new(&func, asked, program);
    (func, memory)
}

/// The function that takes the parameters of `primal` and the tangents of those `asked` for; it gives a tuple of the
/// result and its tangent. `zeros` makes zeros like a result that has memory.
///
/// # Errors
/// Something without a derivative, at its place.
pub(crate) fn tangent(
    primal: &Function,
    asked: &[bool],
    ret: Ty,
    zeros: Option<SpecId>,
    program: &dyn Program,
) -> Result<Function> {
    let (mut func, memory) = opened(primal, asked, program);
    landing::check(&func, &memory)?;
    generators::check(&func, &memory)?;
    bits::check(&func, &memory)?;
    let (params, others): (Vec<_>, Vec<_>) = func.params().iter().copied().zip(asked).partition(|(_, a)| **a);
    let mut given = Vec::new();
    for (p, _) in params {
        let t = func.new_param(Block(0), func.ty(p));
        given.push((p, t));
    }
    let others: Vec<_> = others.into_iter().map(|(p, _)| p).collect();
    given.extend(shadow::of_others(&mut func, &memory, program, &others));
    forward::build(&mut func, &memory, program, &given, ret, zeros)?;
    Ok(func)
}
