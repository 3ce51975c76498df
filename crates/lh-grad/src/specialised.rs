//! Derivatives of specialisations, for which the functions that they need are typed.

use crate::memory::{has_floats, has_memory};
use crate::modes::{self, Made};
use crate::parts::{type_parts, type_snapshots, type_texts, type_zeros, type_zeros_of_others};
use crate::program::{Program, primal, reached};
use crate::remarks::by_line;
use lh_ir::device::Device;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Function, Inst, InstData, Term};
use lh_ir::spec::{Adjoint, callees};
use lh_ir::{Span, SpecId, Ty};
use std::collections::HashSet;
use std::sync::Arc;

/// The adjoint of a specialisation with respect to the parameters `asked` for; `owners` is the type of the list of
/// owners of memory that it takes.
///
/// # Errors
/// Something without a derivative, at its place.
pub fn make_adjoint(program: &mut dyn Program, s: SpecId, asked: &[bool], owners: Option<Ty>) -> Result<Adjoint> {
    let key = (s, asked.to_vec(), Derivative::Adjoint);
    if let Some(known) = known(program, &key) {
        return Ok(known);
    }
    let primal = primal_or_call(program, s)?;
    let made = build_adjoint(program, s, &primal, asked, (owners, false))?;
    program.derivatives_mut().made.insert(key, made.clone());
    Ok(made)
}

/// A derivative that was made before and may be used.
fn known(program: &mut dyn Program, key: &(SpecId, Vec<bool>, Derivative)) -> Option<Adjoint> {
    let known = program.derivatives().made.get(key)?.clone();
    program.is_current(known.id).then_some(known)
}

/// The adjoint of a specialisation, for an adjoint of its result that it takes last: of one that calls itself.
///
/// # Errors
/// Something without a derivative, at its place.
pub fn make_seeded(program: &mut dyn Program, s: SpecId, asked: &[bool]) -> Result<Adjoint> {
    let primal = primal_or_call(program, s)?;
    let owners = (primal.options.device == Device::Host).then(|| Ty::list(Ty::meminfo()));
    let made = build_adjoint(program, s, &primal, asked, (owners, true))?;
    if made.lists.is_empty() {
        return Ok(made);
    }
    let text = format!("`{}` calls itself and makes objects in loops", primal.qualname);
    Err(Diagnostic::new(diag::NO_DERIVATIVE, text)
        .note("make them in a function of their own, or use arrays")
        .at(&primal.file, first_line(&primal)))
}

/// Builds a derivative in reverse mode. If an adjoint of the result is given, adjoints in memory are those of the
/// shadows alone.
fn build_adjoint(
    program: &mut dyn Program,
    s: SpecId,
    primal: &Function,
    asked: &[bool],
    (owners, is_seeded): (Option<Ty>, bool),
) -> Result<Adjoint> {
    let kind = Derivative::Adjoint;
    let value = program.typed(s).ret;
    let params = primal.params().iter().zip(asked).filter(|(_, a)| **a).map(|(p, _)| primal.ty(*p));
    let shadowed = params.clone().map(has_memory).collect();
    let params = params.map(|t| if !is_seeded || has_floats(t) { t } else { Ty::none() }).collect();
    let ret = Ty::tuple(vec![value, Ty::tuple(params)]);
    let id = program.reserve(s, &format!("{}.adjoint", primal.name), ret);
    if is_seeded {
        program.derivatives_mut().recursive.insert((s, asked.to_vec(), kind), (id, ret));
    }
    let (func, read) = lowered(program, s, primal, asked, kind)?;
    type_zeros_of_others(program, &func, asked)?;
    let seed = is_seeded.then_some(value);
    let Made { func, remarks, writes, active, lists } = modes::adjoint(&func, asked, (owners, seed), ret, program)?;
    program.finish([id, s], func, &read, Some(by_line(&remarks)))?;
    Ok(Adjoint { id, ret, shadowed, writes, active, lists })
}

/// The tangent of a specialisation with respect to the parameters `asked` for.
///
/// # Errors
/// Something without a derivative, at its place.
pub fn make_tangent(program: &mut dyn Program, s: SpecId, asked: &[bool]) -> Result<Adjoint> {
    let kind = Derivative::Tangent;
    let key = (s, asked.to_vec(), kind);
    if let Some(known) = known(program, &key) {
        return Ok(known);
    }
    let value = program.typed(s).ret;
    let primal = primal_or_call(program, s)?;
    let zeros = type_zeros(program, value, primal.options)?;
    let ret = Ty::tuple(vec![value, value]);
    let id = program.reserve(s, &format!("{}.tangent", primal.name), ret);
    program.derivatives_mut().recursive.insert(key.clone(), (id, ret));
    let (func, read) = lowered(program, s, &primal, asked, kind)?;
    type_zeros_of_others(program, &func, asked)?;
    let func = modes::tangent(&func, asked, ret, zeros, program)?;
    program.finish([id, s], func, &read, None)?;
    let shadowed = vec![true; asked.iter().filter(|a| **a).count()];
    let made = Adjoint { id, ret, shadowed, writes: 0, active: 0, lists: Vec::new() };
    program.derivatives_mut().made.insert(key, made.clone());
    Ok(made)
}

/// The code of a function before all passes; of one with a rule, a function that calls it.
fn primal_or_call(program: &dyn Program, s: SpecId) -> Result<Arc<Function>> {
    let refused = || Diagnostic::new(diag::NO_DERIVATIVE, "a recursive function has no derivative yet");
    let (typed, known) = (program.typed(s), program.derivatives());
    let own = typed.func.ok_or_else(refused)?;
    if !known.rules.contains_key(&s) && !known.pushes.contains_key(&s) {
        return typed.primal.cloned().ok_or_else(refused);
    }
    let mut func = Function {
        name: own.name.clone(),
        qualname: own.qualname.clone(),
        file: own.file.clone(),
        first_line: own.first_line,
        ret: own.ret,
        options: own.options,
        is_library: own.is_library,
        ..Function::default()
    };
    let block = func.new_block();
    let args: Vec<_> = own.params().iter().map(|p| func.new_param(block, own.ty(*p))).collect();
    let result = func.new_value(typed.ret);
    let span = first_line(own);
    let data = &mut func.blocks[block.index()];
    data.insts.push(InstData { result: Some(result), inst: Inst::Call(s, args), span });
    (data.term, data.term_span) = (Some(Term::Return(result)), span);
    Ok(Arc::new(func))
}

fn first_line(func: &Function) -> Span {
    Span { line: func.first_line, end_line: func.first_line, ..Span::default() }
}

/// Makes the derivatives of the functions that call themselves which a function calls.
fn make_recursions(program: &mut dyn Program, func: &Function, asked: &[bool], kind: Derivative) -> Result<()> {
    let recurs = |s: SpecId| reached(&*program, s, kind, &|_| true).contains(&s);
    if !callees(func).into_iter().any(recurs) {
        return Ok(());
    }
    let found = modes::recursions(func, asked, &*program, &recurs);
    for (c, tys, wanted) in found {
        if kind == Derivative::Adjoint {
            type_snapshots(program, &tys, func.options)?;
        }
        let known = program.derivatives().recursive(c, &wanted, kind);
        if known.is_some_and(|(id, _)| program.is_current(id)) {
            continue;
        }
        match kind {
            Derivative::Adjoint => _ = make_seeded(program, c, &wanted)?,
            Derivative::Tangent => _ = make_tangent(program, c, &wanted)?,
            Derivative::None => {}
        }
    }
    Ok(())
}

/// The function in the form that is differentiated, and the specialisations whose dependencies its derivative has. All
/// that this calls is made.
fn lowered(
    program: &mut dyn Program,
    s: SpecId,
    own: &Function,
    asked: &[bool],
    kind: Derivative,
) -> Result<(Function, HashSet<SpecId>)> {
    type_texts(program, s, kind)?;
    let mut read = inlined(program, s, kind);
    let mut func = own.clone();
    program.lower(s, &mut func, &|c| read.contains(&c).then(|| primal(program, c, kind)).flatten())?;
    read.insert(s);
    // Functions with rules are not called any more, but have read their rules.
    let called = read.iter().filter_map(|c| primal(program, *c, kind)).flat_map(|f| callees(&f));
    let called: Vec<SpecId> = called.collect();
    read.extend(called);
    if kind == Derivative::Adjoint {
        type_parts(program, &func, own.options)?;
    }
    make_recursions(program, &func, asked, kind)?;
    Ok((func, read))
}

/// The specialisations that are inlined into one before it is differentiated: those that it calls, and those call, but
/// for the ones with rules, those that call themselves, and those that compute nothing with floats.
fn inlined(program: &dyn Program, s: SpecId, kind: Derivative) -> HashSet<SpecId> {
    let known = program.derivatives();
    let enters = |c: SpecId| {
        let by_rule = if kind == Derivative::Adjoint { known.rules.contains_key(&c) } else { known.push(c).is_some() };
        !by_rule && primal(program, c, kind).is_some_and(|body| computes(&body))
    };
    let mut found = reached(program, s, kind, &enters);
    found.retain(|c| *c != s && !reached(program, *c, kind, &|_| true).contains(c));
    found
}

/// Whether a function computes with floats or with memory that may hold some.
fn computes(func: &Function) -> bool {
    let is_float = |t: &Ty| t.flatten().iter().any(|p| p.is_float()) || has_memory(*t);
    let returns = func.blocks.iter().any(|b| matches!(b.term, Some(Term::Return(_))));
    returns && (func.values.iter().any(is_float) || func.insts().any(|d| matches!(d.inst, Inst::Map(..))))
}
