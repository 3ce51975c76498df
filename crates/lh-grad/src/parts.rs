//! Functions that derivatives need beside those of the program: the library's, and texts that are typed again.

use crate::derivatives::plain;
use crate::kernels::is_extreme;
use crate::memory::has_memory;
use crate::program::{Program, primal};
use crate::snapshots::has_snapshot;
use lh_ir::device::Device;
use lh_ir::diag::Result;
use lh_ir::func::{Derivative, Function, Inst, Options};
use lh_ir::runtime::{Memory as Mem, Role, RuntimeFn};
use lh_ir::spec::{ArgTy, Spec, callees};
use lh_ir::{FuncId, SpecId, Ty};
use std::collections::HashSet;

/// Where the library states how functions of its own are differentiated: `numpy.reductions.sum` by
/// `derivatives.numpy.reductions.sum_forward` and `sum_backward`.
pub(crate) const RULES: &str = "derivatives";

/// Types a function of a rule. Its own derivative is rarely asked for.
pub(crate) fn type_part(program: &mut dyn Program, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec> {
    let options = plain(options);
    let made = program.specialise(f, args, options)?;
    program.derivatives_mut().retypable.insert(made.id, (f, args.to_vec(), options));
    Ok(made)
}

/// Types a function of the library.
pub(crate) fn type_named(program: &mut dyn Program, name: &str, args: &[Ty], options: Options) -> Result<Spec> {
    let path = format!("{RULES}.{name}");
    let f = program.library(&path).unwrap_or_else(|| lh_ir::bug!("no `{path}` in the library"));
    type_part(program, f, &args.iter().copied().map(ArgTy::from).collect::<Vec<_>>(), options)
}

/// Types the function that makes the shadow of a result, if that has memory.
pub(crate) fn type_zeros(program: &mut dyn Program, ret: Ty, options: Options) -> Result<Option<SpecId>> {
    let made = has_memory(ret).then(|| type_named(program, "zeros", &[ret], options));
    Ok(made.transpose()?.map(|s| s.id))
}

/// Types the functions of the library that the adjoint of a function calls.
pub(crate) fn type_parts(program: &mut dyn Program, func: &Function, options: Options) -> Result<()> {
    let calls = |is: fn(&RuntimeFn) -> bool| func.insts().any(|d| matches!(&d.inst, Inst::Runtime(f, _) if is(f)));
    let floats = [Ty::f64(), Ty::f32()];
    if calls(|f| matches!(f.role, Role::Memory(Mem::Move | Mem::CopyRow))) {
        let (p, n) = (Ty::ptr(), Ty::int());
        for t in floats {
            once(program, ("copy_back", t, Options::default()), &[Ty::dtype(t), p, n, p, n, n, n], options)?;
        }
    }
    if options.device != Device::Host {
        for name in ["zero_shared", "zero_local"] {
            once(program, (name, Ty::none(), plain(options)), &[Ty::ptr(), Ty::int()], options)?;
        }
    }
    if calls(is_extreme) {
        for t in floats {
            once(program, ("taken", t, plain(options)), &[Ty::dtype(t), Ty::bool(), Ty::ptr()], options)?;
        }
    }
    Ok(())
}

/// Types a function of the library and notes it.
fn once(program: &mut dyn Program, key: (&'static str, Ty, Options), args: &[Ty], options: Options) -> Result<Spec> {
    let made = type_named(program, key.0, args, options)?;
    program.derivatives_mut().parts.insert(key, made.clone());
    Ok(made)
}

/// Types the functions that make zeros like parameters of a function that are not asked for: arrays, which may get
/// numbers that depend on those that are.
pub(crate) fn type_zeros_of_others(program: &mut dyn Program, func: &Function, asked: &[bool]) -> Result<()> {
    let others = func.params().iter().zip(asked).filter(|(_, asked)| !**asked);
    let tys: Vec<Ty> = others.map(|(p, _)| func.ty(*p)).filter(|t| t.is_array()).collect();
    // Programs of tests have no library.
    if func.options.device == Device::Host && program.library(&format!("{RULES}.zeros")).is_some() {
        for ty in tys {
            once(program, ("zeros", ty, Options::default()), &[ty], func.options)?;
        }
    }
    Ok(())
}

/// Types the functions that copy memory of some types and make it what it was.
pub(crate) fn type_snapshots(program: &mut dyn Program, tys: &[Ty], options: Options) -> Result<()> {
    for ty in tys.iter().copied().filter(|t| has_snapshot(*t)) {
        let take = once(program, ("snapshot", ty, Options::default()), &[ty], options)?;
        once(program, ("put_back", ty, Options::default()), &[ty, take.ret], options)?;
    }
    Ok(())
}

/// Types the functions that a function calls, and those call, whose code before all passes is missing: those with
/// rules in forward mode, which has others, and functions of rules that a derivative of a derivative meets.
pub(crate) fn type_texts(program: &mut dyn Program, s: SpecId, kind: Derivative) -> Result<()> {
    let (mut seen, mut work) = (HashSet::new(), vec![s]);
    while let Some(c) = work.pop() {
        let known = program.derivatives();
        let by_rule = kind == Derivative::Adjoint && known.rules.contains_key(&c);
        if !by_rule && let Some((f, args, options)) = known.retypable.get(&c).cloned() {
            let text = program.specialise(f, &args, Options { derivative: kind, ..options })?;
            program.derivatives_mut().texts.insert((c, kind), text.id);
        }
        let found = primal(program, c, kind).into_iter().flat_map(|f| callees(&f));
        work.extend(found.filter(|c| seen.insert(*c)));
    }
    Ok(())
}
