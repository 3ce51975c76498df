//! Specialisations: a call finds the one for its arguments, or it is compiled.

use crate::call::args::ArgBuf;
use crate::call::bind::Params;
use crate::call::boxing;
use crate::call::environment::Environment;
use crate::call::overload::{Entry, Overload, Ret};
use crate::call::state::{self, DispatcherObject, State};
use crate::call::{convert, environment, literals};
use crate::compile::compiler::{self, Failed};
use crate::compile::{cache, report};
use crate::gpu::context::{self, Gpu};
use crate::gpu::loaded::Loaded;
use crate::gpu::options::JitOptions;
use crate::host::held::Scope;
use crate::host::{gpu_targets, single_flight, stopping, table};
use crate::object::canonical::canonical;
use crate::runtime::{in_order, signals};
use lh_driver::{Called, Compiled};
use lh_ir::func::{Device, Options, Semantics, parallel};
use lh_ir::types::InstanceOf;
use lh_ir::{Ty, TyKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The specialisation for the tags in `buf`, with the arguments converted to its types; `entry` was found for the
/// tags.
#[cold]
pub fn ready<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    entry: Option<&Entry>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<&'a Overload> {
    // The hint of another thread's last call may lead to a stale one.
    // SAFETY: overloads live as long as the state.
    let is_stale = |e: &Entry| unsafe { (*e.overload).is_stale() };
    let entry =
        entry.and_then(|e| if is_stale(e) { state.find_newest(&e.tags).filter(|e| !is_stale(e)) } else { Some(e) });
    // SAFETY: as above.
    let found = entry.map(|e| unsafe { (e, &*e.overload) });
    let entry = match found {
        Some((entry, overload)) if overload.guard.is_current(py) => entry.clone(),
        Some((_, overload)) => {
            // Where variables are passed, the new code may need them as constants.
            match overload.variables {
                0 => drop(renew(py, state, object, overload)?),
                _ => state.forget(overload),
            }
            resolve(py, state, object, buf, argc)?
        }
        None => resolve(py, state, object, buf, argc)?,
    };
    // SAFETY: as above.
    let overload = unsafe { &*entry.overload };
    if let Some(natural) = &entry.natural {
        convert::convert_all(natural, overload, buf)?;
    }
    Ok(overload)
}

/// Finds or compiles the specialisation for the tags in `buf`, for a call that found none.
fn resolve<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<Entry> {
    let _scope = Scope::new(Some(object));
    let passes = state.table().environment.is_some();
    environment::enter(py, state, object)?;
    if let Some(environment) = state.table().environment.clone().filter(|_| !passes) {
        return resolve_with(py, state, object, buf, argc, &environment);
    }
    let literals = &state.table().literals;
    if !literals.is_empty() {
        // Another thread may have added a literal since the call was tagged.
        literals::tag(py, literals, buf, argc)?;
    }
    let natural = literals::types(py, literals, buf, argc)?;
    let mut existing = state.of_types(&natural);
    if let Some(stale) = existing.filter(|o| o.variables != 0 && !o.guard.is_current(py)) {
        state.forget(stale);
        existing = None;
    }
    let mut claim = None;
    while existing.is_none() && claim.is_none() && state.can_compile() {
        claim = single_flight::claim(py, ptr::from_ref(state).addr(), &natural);
        existing = state.of_types(&natural);
    }
    let (overload, converts): (&'a Overload, bool) = match existing {
        Some(o) => (renew(py, state, object, o)?, false),
        None if !state.can_compile() => (renew(py, state, object, fitting(py, state, object, &natural)?)?, true),
        // New code is used without another check of its guard, so that every call ends.
        None => match compile(py, state, object, &natural, None, false) {
            Ok(o) => (o, false),
            Err(_) if passes && !stopping::was_left() => return without_environment(py, state, object, buf, argc),
            Err(Failed::Literal(at, e)) => {
                if literals.contains(&at) || at >= argc {
                    return Err(e);
                }
                literals::check(py, buf, at, argc)?;
                state.change(|t| {
                    if !t.literals.contains(&at) {
                        t.literals.push(at);
                    }
                });
                return resolve(py, state, object, buf, argc);
            }
            Err(Failed::Error(e)) => return Err(e),
        },
    };
    let entry = Entry { tags: buf.tags.as_slice().into(), natural: converts.then_some(natural), overload };
    state.enter(&entry);
    if argc == 0 {
        state.set_quick(Some(overload));
    }
    Ok(entry)
}

/// As [`resolve`], for the first call that passes captured variables.
fn resolve_with(
    py: Python<'_>,
    state: &State,
    object: &Bound<'_, PyAny>,
    buf: &mut ArgBuf,
    argc: usize,
    environment: &Environment,
) -> PyResult<Entry> {
    let mut held = environment::Held::new();
    let pushed = environment.push(py, buf, &mut held);
    buf.made.extend(held.into_iter().map(Bound::unbind));
    if pushed {
        return resolve(py, state, object, buf, argc + environment.len());
    }
    without_environment(py, state, object, buf, argc + environment.len())
}

/// As [`resolve`], for a call that passes captured variables but has to have them as constants.
fn without_environment(
    py: Python<'_>,
    state: &State,
    object: &Bound<'_, PyAny>,
    buf: &mut ArgBuf,
    argc: usize,
) -> PyResult<Entry> {
    let variables = state.table().environment.as_ref().map_or(0, |e| e.len());
    state.set_environment(None);
    buf.keep(py, argc - variables);
    resolve(py, state, object, buf, argc - variables)
}

/// The specialisation itself, or a new one if something that it depends on has changed.
pub fn renew<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    old: &'a Overload,
) -> PyResult<&'a Overload> {
    if old.guard.is_current(py) {
        return Ok(old);
    }
    state.forget(old);
    Ok(compile(py, state, object, &old.compiled.args, old.explicit, false)?)
}

/// Finds code for argument types in the cache or compiles it (`anew`: always), and adds the specialisation.
pub fn compile<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    args: &[Ty],
    ret: Option<Ty>,
    anew: bool,
) -> Result<&'a Overload, Failed> {
    let start = Instant::now();
    let added = compile_and(py, state, object, args, ret, anew, in_order::tell)?;
    log(py, state, object, added, (start, anew))?;
    Ok(added)
}

/// As [`compile`], with what is done before the specialisation is added.
fn compile_and<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    args: &[Ty],
    ret: Option<Ty>,
    anew: bool,
    tell: fn(Python<'_>, &Compiled) -> PyResult<()>,
) -> Result<&'a Overload, Failed> {
    let JitOptions { ir: options, cache: cached, .. } = *state.read_options(py)?;
    let (scope, function) = (Scope::new(Some(object)), table::intern(object));
    let (mut lookup, mut loaded) = (None, None);
    if cache::is_wanted(py, cached) {
        let (l, code) = cache::find(py, function, function, args, options, !anew)?;
        // A result that does not convert to the declared type is an error, which the compiler reports.
        loaded = code.filter(|c| ret.is_none_or(|r| lh_infer::is_result_of(canonical(c.ret), r)));
        lookup = Some(l);
    }
    let table = state.table();
    let passed = table.environment.clone().filter(|e| args.len() == table.params.count() + e.len());
    let (compiled, guard) = match loaded {
        None if let Some(environment) = &passed => {
            environment::compile(py, state, object, environment, (args, options))?
        }
        Some(code) => {
            signals::install();
            let guard = compiler::guard_of(py, function, &code)?;
            state.known().found.push(args.to_vec());
            (Arc::new(code), guard)
        }
        None => {
            state.known().misses += 1;
            let mut made = compiler::compile(py, function, args, options, ret, lookup.is_some())?;
            if let Some(gpu) = &state.options().gpu {
                assemble(py, gpu.get(), options, lookup.is_some(), &mut made.0)?;
            }
            state.known().missed.push(args.to_vec());
            if let Some(l) = &lookup {
                cache::keep(py, l, (function, function), args, options, &made.0)?;
            }
            made
        }
    };
    tell(py, &compiled)?;
    let guard = guard.of_code(options.semantics, scope.hold(py)?);
    let (ret_as, form) = Ret::and_form(ret, compiled.ret);
    let overload = Overload {
        on_gpu: Loaded::new(py, state.options(), &compiled)?,
        entry: compiled.entry,
        may_wait: compiled.may_wait,
        escapes: compiled.escapes,
        ret: ret_as,
        form,
        steps: OnceLock::new(),
        ret_references: boxing::references(compiled.ret),
        ret_words: compiled.ret.flatten().len(),
        variables: passed.map_or(0, |e| e.len()),
        compiled,
        guard,
        explicit: ret,
        stale: AtomicBool::new(false),
        is_numbas: options.semantics == Semantics::Numba,
    };
    // From here on other processes do not wait for this compilation.
    drop(lookup);
    let added = state.add(Params::of(state.func.bind(py))?, overload);
    keep_called(py, &added.compiled, options);
    if options.parallel & parallel::ALL != 0 && !added.compiled.is_loaded() {
        report::tell_parallel(py, object, &added.compiled, options.semantics)?;
    }
    Ok(added)
}

/// Tells the log of compilations, if somebody reads it, of a new specialisation.
fn log(
    py: Python<'_>,
    state: &State,
    object: &Bound<'_, PyAny>,
    added: &Overload,
    (start, anew): (Instant, bool),
) -> PyResult<()> {
    let module = py.import("lancehead.compilations")?;
    if !module.call_method0("are_read")?.is_truthy()? {
        return Ok(());
    }
    let types = &added.compiled.args;
    let same = |o: &&Overload| !ptr::eq(*o, added) && o.compiled.args == *types;
    // Comparisons may run code of the program, so nothing is locked then.
    let before = state.known().overloads.iter().rev().map(|o| &**o).find(same).map(ptr::from_ref);
    // SAFETY: overloads live as long as the state.
    let changed = before.map(|o| unsafe { &*o }.guard.changed(py));
    let done = (object, types_text(types), added.compiled.ret.numba().to_string(), start.elapsed().as_secs_f64());
    module.call_method1("tell", (done, added.compiled.is_loaded(), anew, changed))?;
    Ok(())
}

/// Tells it of the loop of a ufunc, by its function and the types of inputs and outputs.
pub fn log_loop(
    function: &Bound<'_, PyAny>,
    (ins, outs): (&[Ty], &[Ty]),
    start: Instant,
    compiled: &Compiled,
) -> PyResult<()> {
    let module = function.py().import("lancehead.compilations")?;
    if module.call_method0("are_read")?.is_truthy()? {
        let done = (function, types_text(ins), types_text(outs), start.elapsed().as_secs_f64());
        module.call_method1("tell", (done, compiled.is_loaded(), false, None::<Vec<String>>))?;
    }
    Ok(())
}

/// Replaces PTX by machine code: if NVIDIA's linker has to add functions, or if the code will be cached and the driver
/// has an assembler, which saves later processes that step.
fn assemble(py: Python<'_>, gpu: &Gpu, options: Options, is_kept: bool, compiled: &mut Arc<Compiled>) -> PyResult<()> {
    let Some(kernel) = Arc::get_mut(compiled).and_then(|c| c.on_gpu.as_mut()) else { return Ok(()) };
    let (lines, (major, minor)) = gpu_targets::find(options.gpu).map_or((false, (0, 0)), |g| (g.lines, g.capability));
    if !kernel.linked.is_empty() {
        let functions: Vec<_> = kernel.linked.drain(..).map(|o| table::object(py, o)).collect();
        let link = py.import("lancehead.cuda.linking")?.getattr("machine_code")?;
        let text = String::from_utf8_lossy(&kernel.code);
        let code = link.call1((text, functions, options.link, format!("sm_{major}{minor}"), lines))?.extract()?;
        kernel.code = code;
        return Ok(());
    }
    if !is_kept {
        return Ok(());
    }
    match py.detach(|| gpu.gpu.assemble(&kernel.code, lines)) {
        Ok(code) => kernel.code = code,
        Err(e) if e.code == -1 => {}
        Err(e) => return Err(context::error(py, &e)),
    }
    Ok(())
}

/// Gives entries of their own to functions with `cache=True` that were compiled as parts of a caller, as if they had
/// been called with these types. In the next process a call of one finds its code, no matter what called it in this
/// process.
pub fn keep_called(py: Python<'_>, caller: &Compiled, options: Options) {
    if options.device != Device::Host {
        return;
    }
    for Called { function, args, ret } in &caller.called {
        let (id, is_whole) = table::function_object(*function);
        if table::item(id).is_some() || !table::is_alive(id) {
            continue;
        }
        let object = table::object(py, id);
        let Some(state) = state::of(&object).map(DispatcherObject::state) else { continue };
        if !state.options().cache || !is_whole || !state.can_compile() {
            continue;
        }
        let args: Vec<Ty> = args.iter().map(|t| canonical(*t)).collect();
        let result = if let TyKind::Optional(t) = ret.kind() { *t } else { *ret };
        if args.iter().all(|t| is_plain(*t)) && is_plain(result) && cache::is_wanted(py, true) {
            // The caller is compiled in any case, and has told what there is to tell; a call that fails reports why.
            drop(match state.of_types(&args) {
                Some(o) => renew(py, state, &object, o).map_err(Failed::Error),
                None => compile_and(py, state, &object, &args, None, false, |_, _| Ok(())),
            });
        }
    }
}

/// Whether a type can be passed from Python and returned, and mentions nothing of the process.
pub fn is_plain(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_plain(*t)),
        TyKind::Class(_) => t.is_time() || t.as_list().is_some_and(is_plain),
        TyKind::Never | TyKind::None | TyKind::Str | TyKind::Record(_) | TyKind::Array { .. } => true,
        _ => t.is_number(),
    }
}

/// The specialisation for argument types that are not those of a call from Python.
///
/// # Errors
/// It does not compile, or is limited to other signatures.
pub fn for_types<'a>(
    py: Python<'_>,
    state: &'a State,
    object: &Bound<'_, PyAny>,
    args: &[Ty],
) -> PyResult<&'a Overload> {
    if !state.can_compile() {
        return fitting(py, state, object, args);
    }
    match state.current().into_iter().find(|o| o.compiled.args == args && o.variables == 0) {
        Some(o) if o.guard.is_current(py) => Ok(o),
        Some(o) => renew(py, state, object, o),
        None => Ok(compile(py, state, object, args, None, false)?),
    }
}

/// The specialisation for argument types; if its signature leaves functions open, it is compiled for those of the
/// call.
fn fitting<'a>(py: Python<'_>, state: &'a State, object: &Bound<'_, PyAny>, natural: &[Ty]) -> PyResult<&'a Overload> {
    let (args, ret) = best_match(state, natural)?;
    let args: Vec<Ty> = args.iter().zip(natural).map(|(t, n)| t.with_functions(*n)).collect();
    match state.of_types(&args) {
        Some(o) => Ok(o),
        None => {
            let made = compile(py, state, object, &args, ret, false)?;
            args.iter().for_each(|t| note_passed(py, *t));
            Ok(made)
        }
    }
}

/// Notes the signature by which a function was passed, as one that it is compiled for.
fn note_passed(py: Python<'_>, t: Ty) {
    let TyKind::Instance { of, class: InstanceOf::Function { args, ret } } = t.kind() else { return };
    let TyKind::Func(f) = of.kind() else { return };
    let (object, is_whole) = table::function_object(*f);
    let object = table::object(py, object);
    let Some(state) = state::of(&object).map(DispatcherObject::state).filter(|s| is_whole && s.can_compile()) else {
        return;
    };
    let signature = (args.clone(), Some(*ret));
    let is_known = state.of_types(args).is_some() || state.known().passed.contains(&signature);
    if !is_known {
        state.known().passed.push(signature);
    }
}

/// The signature that argument types convert to at the least cost.
fn best_match(state: &State, natural: &[Ty]) -> PyResult<(Vec<Ty>, Option<Ty>)> {
    let mut best = None;
    let mut ambiguous = false;
    for signature in state.signatures() {
        let Some(cost) = convert::cost_of_all(natural, &signature.0) else { continue };
        match best {
            Some((least, _)) if cost > least => {}
            Some((least, _)) if cost == least => ambiguous = true,
            _ => {
                best = Some((cost, signature));
                ambiguous = false;
            }
        }
    }
    match best {
        Some((_, signature)) if !ambiguous => Ok(signature),
        Some(_) => {
            Err(PyTypeError::new_err(format!("Ambiguous overloading for argument type(s) {}", types_text(natural))))
        }
        None => Err(no_match(natural)),
    }
}

fn types_text(types: &[Ty]) -> String {
    types.iter().map(|t| t.numba().to_string()).collect::<Vec<_>>().join(", ")
}

fn no_match(natural: &[Ty]) -> PyErr {
    PyTypeError::new_err(format!("No matching definition for argument type(s) {}", types_text(natural)))
}

/// Checks that arguments of some types can be converted to others.
pub fn check_convertible(natural: &[Ty], to: &[Ty]) -> PyResult<()> {
    convert::cost_of_all(natural, to).map(|_| ()).ok_or_else(|| no_match(natural))
}
