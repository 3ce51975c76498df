//! Rules: functions by which the library or the program states how a function is differentiated.

use crate::derivatives::{Push, Rule};
use crate::parts::{RULES, type_named, type_part, type_zeros};
use crate::program::Program;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Options};
use lh_ir::meaning::Meaning;
use lh_ir::spec::ArgTy;
use lh_ir::verify::agree;
use lh_ir::{FuncId, Span, SpecId, Ty, TyKind};

/// The functions by which a function is differentiated.
struct Found {
    /// `forward` or `tangent`.
    first: FuncId,
    backward: Option<FuncId>,
    takes_lasting: bool,
    /// The program states them.
    is_stated: bool,
}

/// Whether a function is differentiated by a rule, for the derivative that the options ask for.
pub fn has_rule(program: &mut dyn Program, f: FuncId, options: Options) -> bool {
    rule_of(program, f, options.derivative).is_some()
}

/// The function whose text is differentiated in place of a function's own, if the library has one.
pub fn differentiated(program: &mut dyn Program, f: FuncId, options: Options) -> FuncId {
    if options.derivative == Derivative::None || program.is_library(f) != Some(true) {
        return f;
    }
    let text = place_of_rule(program, f).and_then(|place| program.library(&format!("{place}_text")));
    text.unwrap_or(f)
}

/// Types the rule by which a function is differentiated that has been typed for arguments.
///
/// # Errors
/// A function of the rule has no type, or gives something else.
pub fn type_rule(program: &mut dyn Program, f: FuncId, args: &[ArgTy], options: Options, s: SpecId) -> Result<()> {
    let Some(found) = rule_of(program, f, options.derivative) else { return Ok(()) };
    if let Some(backward) = found.backward {
        let rule = adjoint_rule(program, (&found, backward), args, options, s)?;
        program.derivatives_mut().rules.insert(s, rule);
        program.derivatives_mut().retypable.insert(s, (f, args.to_vec(), options));
    } else {
        let push = tangent_rule(program, &found, args, options, s)?;
        program.derivatives_mut().pushes.insert(s, push);
    }
    Ok(())
}

/// The functions by which a function is differentiated, if it has such.
fn rule_of(program: &mut dyn Program, f: FuncId, kind: Derivative) -> Option<Found> {
    if kind == Derivative::None {
        return None;
    }
    let is_stated = !program.is_library(f)?;
    let place = if is_stated { String::new() } else { place_of_rule(program, f)? };
    // `custom_vjp` and `custom_jvp` note rules at functions of the program.
    let mut named = |part: &str| {
        if is_stated {
            program.attribute(f, &format!("__{part}__"))
        } else {
            program.library(&format!("{place}_{part}"))
        }
    };
    if kind == Derivative::Tangent {
        return named("tangent").map(|first| Found { first, backward: None, takes_lasting: false, is_stated });
    }
    let kept = if is_stated { None } else { named("kept") };
    let takes_lasting = kept.is_some();
    let both = kept.or_else(|| named("forward")).zip(named("backward"));
    both.map(|(first, backward)| Found { first, backward: Some(backward), takes_lasting, is_stated })
}

/// The path by which the library states how a function of its own is differentiated, without the last part.
fn place_of_rule(program: &mut dyn Program, f: FuncId) -> Option<String> {
    let code = program.code(f).ok()?;
    let (_, file) = code.file.rsplit_once("lancehead/lib/")?;
    let module = file.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
    Some(format!("{RULES}.{module}.{}", code.name))
}

fn tangent_rule(
    program: &mut dyn Program,
    &Found { first, is_stated, .. }: &Found,
    args: &[ArgTy],
    options: Options,
    s: SpecId,
) -> Result<Push> {
    let all = passed(args);
    let made = if is_stated {
        type_named(program, "push_stated", &[Ty::new(TyKind::Func(first)), Ty::int(), all, all], options)?
    } else {
        let of: Vec<ArgTy> = [Ty::int(), all].map(ArgTy::from).into_iter().chain(args.iter().cloned()).collect();
        type_part(program, first, &of, options)?
    };
    let own = program.typed(s).ret;
    check_given(program, first, made.ret, &[own, own], "its result and the tangent of that")?;
    Ok(Push { function: made, is_stated, params: places(args), args: all })
}

fn adjoint_rule(
    program: &mut dyn Program,
    (&Found { first, takes_lasting, is_stated, .. }, backward): (&Found, FuncId),
    args: &[ArgTy],
    options: Options,
    s: SpecId,
) -> Result<Rule> {
    let ret = program.typed(s).ret;
    let bits = takes_lasting.then(|| ArgTy::from(Ty::int()));
    let made = type_part(program, first, &bits.into_iter().chain(args.iter().cloned()).collect::<Vec<_>>(), options)?;
    let saved = made.ret.tuple_elems().filter(|t| t.len() == 2).map_or(Ty::none(), |t| t[1]);
    check_given(program, first, made.ret, &[ret, saved], "the result and what the other function needs")?;
    let all = passed(args);
    let pull = if is_stated { "pull_stated" } else { "pull" };
    let of = [Ty::new(TyKind::Func(backward)), Ty::int(), saved, ret, all];
    let backward = type_named(program, pull, &of, options)?;
    Ok(Rule {
        forward: made,
        takes_lasting,
        backward,
        args: all,
        zero: type_zeros(program, ret, options)?,
        params: places(args),
        selects: program.typed(s).func.is_some_and(|f| f.meaning == Some(Meaning::Selection)),
    })
}

/// Checks what a function of a rule gives.
fn check_given(program: &mut dyn Program, f: FuncId, got: Ty, wanted: &[Ty], what: &str) -> Result<()> {
    let elems = got.tuple_elems().unwrap_or_default();
    if elems.len() == wanted.len() && elems.iter().zip(wanted).all(|(a, b)| agree(*a, *b)) {
        return Ok(());
    }
    let code = program.code(f)?;
    let span = Span { line: code.first_line, end_line: code.first_line, ..Span::default() };
    let text =
        format!("`{}` gives `{got}`, and states a derivative of a function that gives `{}`", code.name, wanted[0]);
    Err(Diagnostic::new(diag::NO_DERIVATIVE, text).note(format!("it has to give a pair: {what}")).at(&code.file, span))
}

/// Whether calls pass an argument at run time.
fn is_passed(a: &ArgTy) -> bool {
    !a.is_known() && !a.ty.flatten().is_empty()
}

/// The places of the arguments that calls pass at run time.
fn places(args: &[ArgTy]) -> Vec<usize> {
    args.iter().enumerate().filter(|(_, a)| is_passed(a)).map(|(i, _)| i).collect()
}

/// The type of the tuple of a function's arguments, with `none` for those that calls do not pass.
fn passed(args: &[ArgTy]) -> Ty {
    Ty::tuple(args.iter().map(|a| if is_passed(a) { a.ty } else { Ty::none() }).collect())
}
