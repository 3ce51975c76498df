//! Inner functions that call others which are defined after them.
//!
//! The first of them is made before the others are assigned, so it cannot capture them. In their places it captures
//! functions without captures; inference completes such a one by what its caller has captured, by name. So each
//! function of such a group captures what any of them does.
//!
//! ```python
//! def even(k): return k == 0 or odd(k - 1)     # captures `odd` as a function that lacks its captures
//! def odd(k): return k > 0 and even(k - 1)     # captures `even` in the same way
//! ```

use crate::closures::{Closure, Store};
use crate::dominators::{Dominators, Graph, NONE};
use crate::visit::edges;
use hashbrown::HashMap;
use lh_ir::untyped::{Code, Inst, InstData};
use lh_ir::{Block, Span, Value};
use std::sync::Arc;

/// Where values are made: block and index.
type Places = HashMap<Value, (Block, usize)>;

/// A variable that a group captures: name and number.
type Variable = (String, Option<u32>);

/// Finds the groups and makes their captures complete. A group that would need what does not exist yet where its first
/// function is made is left as it is.
pub(crate) fn run(code: &mut Code, closures: &mut [Closure], stores: &[Store], unbound: Value) {
    for group in groups(code, closures, stores, unbound) {
        if let Some(made) = captured(code, closures, stores, &group, unbound) {
            apply(code, closures, &group, made);
        }
    }
}

/// The closure that a variable always is, once it is assigned.
fn owner(closures: &[Closure], stores: &[Store], var: Option<u32>) -> Option<usize> {
    let mut all = stores.iter().filter(|s| Some(s.var) == var);
    let (only, None) = (all.next()?, all.next()) else { return None };
    closures.iter().position(|c| c.func == only.value)
}

/// The captures of a function where it is made.
fn captures(code: &Code, func: Value) -> Option<(&InstData, &[Value])> {
    let mut all = code.blocks.iter().flat_map(|b| &b.insts);
    let data = all.find(|d| d.result == Some(func))?;
    match &data.inst {
        Inst::MakeFunction { captures, .. } => Some((data, captures)),
        _ => None,
    }
}

/// Sets of functions of which one captures another before that is assigned, with those that they need in between.
fn groups(code: &Code, closures: &[Closure], stores: &[Store], unbound: Value) -> Vec<Vec<usize>> {
    let mut of: Vec<usize> = (0..closures.len()).collect();
    let mut forward = vec![false; closures.len()];
    for (i, c) in closures.iter().enumerate() {
        let Some((_, values)) = captures(code, c.func) else { continue };
        for (var, value) in c.vars.iter().zip(values) {
            let Some(other) = owner(closures, stores, *var).filter(|o| *o != i && *value == unbound) else { continue };
            // All between them may be needed where the first is made.
            let (low, high) = (i.min(other), i.max(other));
            let name = of[low];
            for at in low..=high {
                if at == low || at == high || is_needed(closures, stores, at, &[low, high]) {
                    (of[at], forward[at]) = (name, true);
                }
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, name) in of.iter().enumerate().filter(|(i, _)| forward[*i]) {
        match groups.iter_mut().find(|g| of[g[0]] == *name) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}

/// Whether one of some functions captures another.
fn is_needed(closures: &[Closure], stores: &[Store], at: usize, by: &[usize]) -> bool {
    by.iter().any(|b| closures[*b].vars.iter().any(|v| owner(closures, stores, *v) == Some(at)))
}

/// What becomes of a function of a group: its new captures with the instructions that make some of them, and the
/// variables that it captures beside its own.
struct Made {
    values: Vec<Capture>,
    vars: Vec<Option<u32>>,
    added: Vec<String>,
}

enum Capture {
    /// A value that is there.
    Value(Value),
    /// A new instruction's.
    New(Inst),
}

fn captured(code: &Code, closures: &[Closure], stores: &[Store], group: &[usize], unbound: Value) -> Option<Vec<Made>> {
    let places = places(code);
    let succs = code.blocks.iter().map(|b| edges(b).iter().map(|(target, _)| target.block.0).collect()).collect();
    let dominators = Graph { succs }.dominators();
    let mut variables: Vec<(Variable, Value)> = Vec::new();
    for i in group {
        let c = &closures[*i];
        let (_, values) = captures(code, c.func)?;
        for ((name, var), value) in code.inner[c.code as usize].freevars.iter().zip(&c.vars).zip(values) {
            if !variables.iter().any(|((known, _), _)| known == name) {
                variables.push(((name.clone(), *var), *value));
            }
        }
    }
    group.iter().map(|i| one(code, closures, stores, group, *i, (&variables, &places, &dominators, unbound))).collect()
}

type Facts<'a> = (&'a [(Variable, Value)], &'a Places, &'a Dominators, Value);

/// The captures of one function of a group.
fn one(
    code: &Code,
    closures: &[Closure],
    stores: &[Store],
    group: &[usize],
    i: usize,
    (variables, places, dominators, unbound): Facts<'_>,
) -> Option<Made> {
    let c = &closures[i];
    let (data, own) = captures(code, c.func)?;
    let Inst::MakeFunction { defaults: None, kwdefaults, .. } = &data.inst else { return None };
    if !kwdefaults.is_empty() {
        return None;
    }
    let here = *places.get(&c.func)?;
    let names = &code.inner[c.code as usize].freevars;
    let added = variables.iter().filter(|((name, _), _)| !names.contains(name));
    let all = names.iter().map(|n| variables.iter().find(|((name, _), _)| name == n)).collect::<Option<Vec<_>>>()?;
    let added: Vec<_> = added.collect();
    let (mut values, mut vars) = (Vec::new(), Vec::new());
    for (at, ((_, var), value)) in all.into_iter().chain(added.iter().copied()).enumerate() {
        let member = owner(closures, stores, *var).filter(|o| group.contains(o));
        values.push(match (member, own.get(at)) {
            (Some(other), _) if other == i => Capture::Value(unbound),
            (Some(other), _) => Capture::New(lacking(closures[other].code)),
            (None, Some(value)) => Capture::Value(*value),
            (None, None) => reach(code, *value, here, places, dominators)?,
        });
        // Functions of the group are not captured as values any more, so that they may be assigned later.
        vars.push(if member.is_some() { None } else { *var });
    }
    Some(Made { values, vars, added: added.into_iter().map(|((name, _), _)| name.clone()).collect() })
}

/// A function without its captures.
fn lacking(code: u32) -> Inst {
    Inst::MakeFunction { code, defaults: None, kwdefaults: Vec::new(), captures: Vec::new() }
}

/// A captured value where another function is made, if it exists there.
fn reach(
    code: &Code,
    value: Value,
    (block, index): (Block, usize),
    places: &Places,
    dominators: &Dominators,
) -> Option<Capture> {
    let (b, i) = *places.get(&value)?;
    let inst = code.blocks[b.index()].insts.get(i).filter(|d| d.result == Some(value)).map(|d| &d.inst);
    if let Some(Inst::Free(n)) = inst {
        return Some(Capture::New(Inst::Free(*n)));
    }
    let is_before = if b == block { inst.is_none() || i < index } else { dominates(dominators, b, block) };
    is_before.then_some(Capture::Value(value))
}

fn dominates(dominators: &Dominators, above: Block, below: Block) -> bool {
    let mut at = below.0;
    while at != NONE && at != above.0 {
        at = dominators.idom[at as usize];
    }
    at == above.0
}

fn places(code: &Code) -> Places {
    let mut places = Places::new();
    for (b, data) in code.blocks.iter().enumerate() {
        let block = Block::new(b);
        places.extend(data.params.iter().map(|p| (*p, (block, 0))));
        places.extend(data.insts.iter().enumerate().filter_map(|(i, d)| Some((d.result?, (block, i)))));
    }
    places
}

fn apply(code: &mut Code, closures: &mut [Closure], group: &[usize], made: Vec<Made>) {
    for (i, made) in group.iter().zip(made) {
        let c = &mut closures[*i];
        let inner = Arc::make_mut(&mut code.inner[c.code as usize]);
        inner.freevars.extend(made.added);
        c.vars = made.vars;
        let mut before = Vec::new();
        let mut values = Vec::new();
        for capture in made.values {
            values.push(match capture {
                Capture::Value(v) => v,
                Capture::New(inst) => {
                    let v = Value::new(code.value_count);
                    code.value_count += 1;
                    code.value_names.push(None);
                    before.push(InstData { result: Some(v), inst, span: Span::default() });
                    v
                }
            });
        }
        let is_made = |d: &InstData| d.result == Some(c.func);
        let Some(block) = code.blocks.iter_mut().find(|b| b.insts.iter().any(is_made)) else { continue };
        let at = block.insts.iter().position(is_made).unwrap_or(0);
        let span = block.insts[at].span;
        if let Inst::MakeFunction { captures, .. } = &mut block.insts[at].inst {
            *captures = values;
        }
        before.iter_mut().for_each(|d| d.span = span);
        block.insts.splice(at..at, before);
    }
}
