//! Inlines the list, set and dict comprehensions that CPython 3.11 keeps in functions of their own.
//!
//! ```text
//! LOAD_CLOSURE.. BUILD_TUPLE              -
//! LOAD_CONST <code object <listcomp>>     -
//! MAKE_FUNCTION                           -
//! ... the iterable ...                    ... the iterable ...
//! GET_ITER                                GET_ITER
//! CALL 0                                  STORE .0', the body with variables of its own
//! ```
//!
//! Later versions do so themselves. A comprehension's code is called once, where it is made; so the calls nest in the
//! order of the text like parentheses. Generator expressions take part in that order, but stay functions.

use crate::decode::MAX_SPREAD;
use crate::instr::{Instr, Op, Program, Var};
use crate::raw::RawCode;
use lh_ir::diag::{Diagnostic, Result, TOO_LARGE};

/// Instructions that a function may have after inlining.
const MAX_OPS: usize = 1 << 21;

/// A comprehension to inline.
struct Site<'a> {
    /// `MAKE_FUNCTION`.
    make: usize,
    /// `CALL`.
    call: usize,
    /// Its code.
    code: &'a RawCode,
}

/// Inlines the comprehensions of a program; `decode` gives the program of an inner code object.
pub(crate) fn inline<'a>(
    program: Program<'a>,
    raw: &'a RawCode,
    mut decode: impl FnMut(&'a RawCode) -> Result<Program<'a>>,
) -> Result<Program<'a>> {
    let sites = find(&program);
    if sites.is_empty() {
        return Ok(program);
    }
    let Program { mut ops, regions, mut vars } = program;
    let mut splices: Vec<(usize, Vec<Op<'a>>)> = Vec::new();
    for site in &sites {
        let body = decode(site.code)?;
        let Some(names) = captured(&ops, site, raw) else { continue };
        if !body.regions.is_empty() || body.vars.is_empty() || vars.len() + body.vars.len() > MAX_SPREAD as usize {
            continue;
        }
        let Some(spliced) = splice(body, &mut vars, &names) else { continue };
        for op in &mut ops[site.make - 1 - names.setup..=site.make] {
            op.instr = Instr::Nop;
        }
        splices.push((site.call, spliced));
    }
    rebuild(ops, regions, vars, splices, raw)
}

/// Finds the comprehensions, in the order of their calls.
fn find<'a>(program: &Program<'a>) -> Vec<Site<'a>> {
    let mut open: Vec<(usize, &'a RawCode)> = Vec::new();
    let mut sites = Vec::new();
    let mut last = &Instr::Nop;
    for (i, op) in program.ops.iter().enumerate() {
        match &op.instr {
            Instr::Nop => continue,
            Instr::MakeFunction(_) => {
                let code = i.checked_sub(1).and_then(|p| program.ops[p].instr.code());
                if let Some(code) = code.filter(|c| is_immediate(&c.name)) {
                    open.push((i, code));
                }
            }
            Instr::Call { argc: 0, names: None } if matches!(last, Instr::Iter) => {
                if let Some((make, code)) = open.pop()
                    && code.name != "<genexpr>"
                {
                    sites.push(Site { make, call: i, code });
                }
            }
            _ => {}
        }
        last = &op.instr;
    }
    sites
}

fn is_immediate(name: &str) -> bool {
    matches!(name, "<listcomp>" | "<setcomp>" | "<dictcomp>" | "<genexpr>")
}

/// The variables that a comprehension captures.
struct Captured {
    /// How its free variables are read and written outside.
    access: Vec<Access>,
    /// Instructions before the code constant that build the closure.
    setup: usize,
}

#[derive(Clone, Copy)]
enum Access {
    Var(u32),
    Free(u32),
}

/// Reads the closure built before `MAKE_FUNCTION`; `None` if it does not look as CPython makes it.
fn captured(ops: &[Op<'_>], site: &Site<'_>, raw: &RawCode) -> Option<Captured> {
    let Instr::MakeFunction(flags) = ops[site.make].instr else { return None };
    let wanted = site.code.freevars.len();
    if flags == 0 {
        return (wanted == 0).then(|| Captured { access: Vec::new(), setup: 0 });
    }
    let tuple = site.make.checked_sub(2)?;
    let first = tuple.checked_sub(wanted)?;
    if flags != 8 || !matches!(ops[tuple].instr, Instr::Tuple(n) if n as usize == wanted) {
        return None;
    }
    let access = ops[first..tuple].iter().map(|op| match op.instr {
        Instr::LoadRaw(v) => Some(Access::Var(v)),
        Instr::LoadFreeRaw(f) if (f as usize) < raw.freevars.len() => Some(Access::Free(f)),
        _ => None,
    });
    Some(Captured { access: access.collect::<Option<_>>()?, setup: wanted + 1 })
}

/// The body's instructions with variables renumbered, jumps still relative to the body.
fn splice<'a>(body: Program<'a>, vars: &mut Vec<Var<'a>>, names: &Captured) -> Option<Vec<Op<'a>>> {
    let base = vars.len() as u32;
    let end = body.ops.len() as u32 + 1;
    let span = body.ops.first().map(|op| op.span).unwrap_or_default();
    // The iterator is on the stack, as the argument `.0`.
    let mut ops = vec![Op { instr: Instr::Store(base), span }];
    for mut op in body.ops {
        match op.instr {
            Instr::LoadFree(f) => {
                op.instr = match *names.access.get(f as usize)? {
                    Access::Var(v) => Instr::Load(v),
                    Access::Free(f) => Instr::LoadFree(f),
                };
            }
            Instr::LoadFreeRaw(f) => {
                op.instr = match *names.access.get(f as usize)? {
                    Access::Var(v) => Instr::LoadRaw(v),
                    Access::Free(f) => Instr::LoadFreeRaw(f),
                };
            }
            Instr::StoreFree(f) => {
                op.instr = match *names.access.get(f as usize)? {
                    Access::Var(v) => Instr::Store(v),
                    Access::Free(f) => Instr::StoreFree(f),
                };
            }
            Instr::DeleteFree(f) => {
                op.instr = match *names.access.get(f as usize)? {
                    Access::Var(v) => Instr::Delete(v),
                    Access::Free(f) => Instr::DeleteFree(f),
                };
            }
            Instr::Return => op.instr = Instr::Jump(end),
            _ => {
                if let Some(v) = op.instr.var_mut() {
                    *v += base;
                }
                if let Some(t) = op.instr.target_mut() {
                    *t += 1;
                }
            }
        }
        ops.push(op);
    }
    vars.extend(body.vars);
    Some(ops)
}

/// Puts the bodies in the place of the calls and moves every jump and region.
fn rebuild<'a>(
    ops: Vec<Op<'a>>,
    regions: Vec<crate::instr::Region>,
    vars: Vec<Var<'a>>,
    splices: Vec<(usize, Vec<Op<'a>>)>,
    raw: &RawCode,
) -> Result<Program<'a>> {
    let total = ops.len() + splices.iter().map(|s| s.1.len()).sum::<usize>();
    if total > MAX_OPS {
        let text = format!("`{}` is too large: {total} instructions", raw.name);
        return Err(Diagnostic::new(TOO_LARGE, text).at(&raw.filename, lh_ir::Span::default()));
    }
    let mut moved = Vec::with_capacity(ops.len() + 1);
    let (mut index, mut next) = (0, 0);
    for i in 0..ops.len() {
        moved.push(index as u32);
        let is_call = splices.get(next).is_some_and(|s| s.0 == i);
        index += if is_call { splices[next].1.len() } else { 1 };
        next += usize::from(is_call);
    }
    moved.push(index as u32);
    let mut out = Vec::with_capacity(total);
    let mut splices = splices.into_iter().peekable();
    for (i, mut op) in ops.into_iter().enumerate() {
        if let Some((_, mut body)) = splices.next_if(|s| s.0 == i) {
            let base = out.len() as u32;
            body.iter_mut().filter_map(|op| op.instr.target_mut()).for_each(|t| *t += base);
            out.extend(body);
            continue;
        }
        if let Some(t) = op.instr.target_mut() {
            *t = moved[*t as usize];
        }
        out.push(op);
    }
    let at = |i: u32| moved[i as usize];
    let regions = regions.into_iter().map(|mut r| {
        (r.start, r.end, r.target) = (at(r.start), at(r.end), at(r.target));
        r
    });
    Ok(Program { ops: out, regions: regions.collect(), vars })
}
