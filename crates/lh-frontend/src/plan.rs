//! The plan of captured variables: by value, or as cells that functions share.
//!
//! A closure holds the values that its variables had when it was made, which is cheapest. Where that would show, they
//! are cells, which functions share: if an inner function assigns to one, or if it is assigned while a closure that
//! captures it is in use. Inner functions that call each other are no values of each other, which would never end: they
//! are made to capture the same variables, and each makes the others of what it captures itself ([`Inst::Sibling`]).
//!
//! Translation finds this out, and begins anew with a plan that says more.

use crate::stack::Origin;
use hashbrown::{HashMap, HashSet};
use lh_ir::untyped::{Code, Inst, InstData, PyConst};
use lh_ir::{Span, Value};

/// A closure where it is made.
pub(crate) struct Closure {
    /// The function value.
    pub(crate) func: Value,
    /// Index of its code.
    pub(crate) code: u32,
    /// The captured variables.
    pub(crate) vars: Vec<Option<Origin>>,
    /// Their names.
    pub(crate) names: Vec<String>,
}

/// Facts about the captured variables of a function.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Plan {
    /// Its own variables that are cells.
    pub(crate) shared: HashSet<u32>,
    /// Whether the variables that it captures are cells.
    pub(crate) shared_free: Vec<bool>,
    /// Inner functions that capture the same variables.
    pub(crate) groups: Vec<Group>,
}

/// Inner functions that capture the same variables.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Group {
    /// Indices of their code.
    pub(crate) members: HashSet<u32>,
    /// The variables that name some of them.
    pub(crate) names: HashMap<u32, Named>,
    /// The variables that they capture, with names.
    pub(crate) captured: Vec<(Origin, String)>,
}

/// An inner function that a variable names, with its defaults, which are constants.
#[derive(Clone, PartialEq)]
pub(crate) struct Named {
    /// Index of its code.
    pub(crate) code: u32,
    /// Those of the last positional parameters, as a tuple.
    pub(crate) defaults: Option<PyConst>,
    /// Those of keyword-only parameters.
    pub(crate) kwdefaults: Vec<(String, PyConst)>,
}

impl Plan {
    /// Whether a variable is a cell.
    pub(crate) fn shares(&self, var: u32) -> bool {
        self.shared.contains(&var)
    }
    /// Whether a captured variable is a cell.
    pub(crate) fn shares_free(&self, index: u32) -> bool {
        self.shared_free.get(index as usize) == Some(&true)
    }
    /// The group of an inner function.
    pub(crate) fn group_of(&self, code: u32) -> Option<&Group> {
        self.groups.iter().find(|g| g.members.contains(&code))
    }

    /// Adds that one inner function refers to others which are assigned after it is made.
    pub(crate) fn add_late(&mut self, late: &[(u32, u32)], named: &HashMap<u32, (Named, Value)>, closures: &[Closure]) {
        for &(from, to) in late {
            let (mut joined, rest): (Vec<Group>, Vec<Group>) =
                self.groups.drain(..).partition(|g| g.members.contains(&from) || g.members.contains(&to));
            let mut group = joined.pop().unwrap_or_default();
            joined.into_iter().for_each(|g| group.members.extend(g.members));
            group.members.extend([from, to]);
            self.groups = rest;
            self.groups.push(group);
        }
        for group in &mut self.groups {
            let names = named.iter().filter(|(_, (of, _))| group.members.contains(&of.code));
            group.names.extend(names.map(|(var, (of, _))| (*var, of.clone())));
            group.captured.clear();
            for c in closures.iter().filter(|c| group.members.contains(&c.code)) {
                for (origin, name) in c.vars.iter().zip(&c.names) {
                    let Some(origin) = *origin else { continue };
                    let is_member = matches!(origin, Origin::Var(v) if group.names.contains_key(&v));
                    if !is_member && group.captured.iter().all(|(known, _)| *known != origin) {
                        group.captured.push((origin, name.clone()));
                    }
                }
            }
        }
    }
}

/// An inner function of a group, with what the group captures.
pub(crate) fn regrouped(code: &Code, origins: &[Option<Origin>], group: &Group) -> Code {
    let mut code = code.clone();
    code.freevars = group.captured.iter().map(|(_, name)| name.clone()).collect();
    replace_free(&mut code, |n, values| match origins.get(n as usize).copied().flatten()? {
        Origin::Var(v) if group.names.contains_key(&v) => {
            let of = &group.names[&v];
            let defaults = of.defaults.clone().map(|d| values.make(Inst::Const(d)));
            let kwdefaults = of.kwdefaults.iter().map(|(n, d)| (n.clone(), values.make(Inst::Const(d.clone()))));
            Some(Inst::Sibling { code: of.code, defaults, kwdefaults: kwdefaults.collect() })
        }
        origin => {
            let at = group.captured.iter().position(|(o, _)| *o == origin);
            Some(Inst::Free(at.unwrap_or_default() as u32))
        }
    });
    code
}

/// Instructions before the one that is replaced.
pub(crate) struct Before {
    insts: Vec<InstData>,
    span: Span,
    count: usize,
}

impl Before {
    /// A value that the replacement uses.
    pub(crate) fn make(&mut self, inst: Inst) -> Value {
        let value = Value::new(self.count);
        self.count += 1;
        self.insts.push(InstData { result: Some(value), inst, span: self.span });
        value
    }
}

/// Replaces reads of captured variables, for which a function may give another instruction.
pub(crate) fn replace_free(code: &mut Code, mut other: impl FnMut(u32, &mut Before) -> Option<Inst>) {
    let mut count = code.value_count;
    for block in &mut code.blocks {
        let mut insts = Vec::with_capacity(block.insts.len());
        for mut data in std::mem::take(&mut block.insts) {
            if let Inst::Free(n) = data.inst {
                let mut before = Before { insts: Vec::new(), span: data.span, count };
                if let Some(inst) = other(n, &mut before) {
                    data.inst = inst;
                }
                count = before.count;
                insts.append(&mut before.insts);
            }
            insts.push(data);
        }
        block.insts = insts;
    }
    code.value_names.resize(count, None);
    code.value_count = count;
}
