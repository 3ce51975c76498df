//! The functions of a file with their derivatives: `tests/ir/grad/*.lir` begin with `; test grad_reverse`,
//! `; test grad_forward`, or both names. Every function is differentiated that is not there for another one: none calls
//! it, and it is in no line about rules and the library.
//!
//! ```text
//! ; rule of %square: %square_forward %square_backward
//! ; tangent of %square: %square_tangent
//! ; library: %copy_back
//! ```
//!
//! The expectation has the derivatives as they are before all passes, with remarks about what they keep, or why one
//! is refused. Both derivatives are
//! compared with the function, also where only one is asked for.

use super::compare::{Compared, Subject, Wrong};
use super::known::Functions;
use super::leaves::may_have_floats;
use crate::files::{TABLES, checked};
use crate::mutate;
use crate::wishes::Wishes;
use lh_grad::{Push, Rule};
use lh_ir::diag::Result as Made;
use lh_ir::meaning::Meaning;
use lh_ir::parse::parse;
use lh_ir::print::print;
use lh_ir::spec::{Adjoint, Spec, callees};
use lh_ir::{Function, SpecId, Ty, Value};
use std::collections::{HashMap, HashSet};

/// The names of tests, in the order of [`Entry::made`].
const NAMES: [&str; 2] = ["grad_reverse", "grad_forward"];
/// Sets of inputs, and how many of them must at least have derivatives that can be compared.
const SEEDS: u64 = 16;
const COMPARED: u64 = 4;
/// Of each derivative, this many broken forms are tried until one is found.
const MUTANTS: usize = 48;

/// A function that is differentiated.
struct Entry {
    own: usize,
    asked: Vec<bool>,
    /// The adjoint and the tangent, and the numbers of the functions that were made for each.
    made: [(Made<Adjoint>, std::ops::Range<usize>); 2],
}

/// The functions of a file.
pub struct Text {
    funcs: Vec<Function>,
    entries: Vec<Entry>,
    wishes: Vec<Wishes>,
    /// Of a derivative, the remarks about what it keeps, computes again and cuts.
    remarks: HashMap<usize, Vec<String>>,
    /// Whether adjoints and tangents are shown.
    is_shown: [bool; 2],
}

/// Whether the tests of a file are those of derivatives.
pub fn is_about(tests: &str) -> bool {
    tests.split_whitespace().all(|t| NAMES.contains(&t))
}

impl Text {
    /// Differentiates the functions of a text.
    ///
    /// # Errors
    /// The message says what is wrong with the file, or with a derivative.
    pub fn new(source: &str, tests: &str) -> Result<Text, String> {
        crate::library::declare_classes();
        let given = parse(source, TABLES).map_err(|e| e.to_string())?;
        given.iter().try_for_each(checked)?;
        let wishes = Wishes::of(source)?;
        let mut program = Functions::new(&given);
        let mut helpers: HashSet<usize> = HashSet::new();
        for (i, f) in given.iter().enumerate() {
            helpers.extend(callees(f).iter().map(|s| s.index()).filter(|c| *c != i));
        }
        for line in source.lines() {
            helpers.extend(stated(&mut program, line)?.into_iter().map(SpecId::index));
        }
        let mut entries = Vec::new();
        for own in (0..given.len()).filter(|i| !helpers.contains(i)) {
            let f = &given[own];
            let is_asked = |p: &Value| may_have_floats(f.ty(*p)) && !wishes[own].is_constant(*p);
            let (s, asked) = (SpecId::new(own), f.params().iter().map(is_asked).collect::<Vec<bool>>());
            let mut make = |how: &dyn Fn(&mut Functions) -> Made<Adjoint>| {
                let first = program.all.len();
                (how(&mut program), first..program.all.len())
            };
            let made = [make(&|p| lh_grad::make_seeded(p, s, &asked)), make(&|p| lh_grad::make_tangent(p, s, &asked))];
            entries.push(Entry { own, asked, made });
        }
        let funcs: Vec<Function> = program.all.iter().map(|f| (**f).clone()).collect();
        let is_shown = NAMES.map(|name| tests.split_whitespace().any(|t| t == name));
        let text = Text { funcs, entries, wishes, remarks: program.remarks, is_shown };
        text.each_made().try_for_each(|(_, _, i)| checked(&text.funcs[i]))?;
        Ok(text)
    }

    /// The functions that were made for derivatives that are not refused, with the entry and the kind.
    fn each_made(&self) -> impl Iterator<Item = (&Entry, usize, usize)> {
        let made = self.entries.iter().flat_map(|e| (0..2).map(move |kind| (e, kind)));
        made.filter(|(e, kind)| e.made[*kind].0.is_ok())
            .flat_map(|(e, kind)| e.made[kind].1.clone().map(move |i| (e, kind, i)))
    }

    /// The derivatives, as comment lines.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        let mut add = |text: String| text.lines().for_each(|line| out.push_str(&format!("; {line}\n")));
        for (entry, kind) in self.entries.iter().flat_map(|e| (0..2).map(move |kind| (e, kind))) {
            let name = &self.funcs[entry.own].name;
            match &entry.made[kind] {
                _ if !self.is_shown[kind] => {}
                (Ok(_), made) => made.clone().for_each(|i| {
                    add(print(&self.funcs[i]));
                    self.remarks[&i].iter().for_each(|text| add(format!("%{} {text}", self.funcs[i].name)));
                }),
                (Err(d), _) => add(format!("{} of %{name}: {}: {}", NAMES[kind], d.id.0, d.headline)),
            }
        }
        out
    }

    /// Compares every function with its derivatives.
    ///
    /// # Errors
    /// The message says which differs, or that nothing could be compared.
    pub fn check(&self) -> Result<(), String> {
        for entry in &self.entries {
            let message = |e: String| format!("%{}: {e}", self.funcs[entry.own].name);
            let enough = self.compare(entry, &self.funcs).map_err(|e| message(format!("{e:?}")))?;
            if !enough && entry.made.iter().any(|(made, _)| made.is_ok()) {
                return Err(message(format!("of {SEEDS} sets of inputs fewer than {COMPARED} are of use")));
            }
        }
        Ok(())
    }

    /// Compares a function with its derivatives; whether there were enough inputs that could be compared.
    fn compare(&self, entry: &Entry, funcs: &[Function]) -> Result<bool, Wrong> {
        let of = |kind: usize| entry.made[kind].0.as_ref().ok();
        let subject = Subject {
            funcs,
            own: entry.own,
            asked: &entry.asked,
            adjoint: of(0),
            tangent: of(1),
            optimised: None,
            wishes: &self.wishes[entry.own],
        };
        let mut compared = 0;
        for seed in 0..SEEDS {
            compared += u64::from(subject.check(seed)? == Compared::Everything);
        }
        Ok(compared >= COMPARED)
    }

    /// The derivatives of which no broken form gives other derivatives that the comparison notices.
    pub fn blind(&self) -> Vec<&str> {
        let is_blind = |(entry, _, i): &(&Entry, usize, usize)| {
            let mutants = mutate::mutants(&self.funcs[*i]);
            let step = mutants.len().div_ceil(MUTANTS).max(1);
            !mutants.into_iter().step_by(step).any(|(_, broken)| {
                let mut funcs = self.funcs.clone();
                funcs[*i] = broken;
                matches!(self.compare(entry, &funcs), Err(Wrong::Derivative(_)))
            })
        };
        self.each_made().filter(is_blind).map(|(_, _, i)| &*self.funcs[i].name).collect()
    }
}

/// Takes in a line about rules or the library; gives the functions that it names.
fn stated(program: &mut Functions, line: &str) -> Result<Vec<SpecId>, String> {
    let parts = [("; rule of ", 3), ("; tangent of ", 2), ("; library", 1)];
    let Some((start, many)) = parts.into_iter().find(|(start, _)| line.starts_with(start)) else {
        return Ok(Vec::new());
    };
    let words = line[start.len()..].split([' ', ':']).filter_map(|w| w.strip_prefix('%'));
    let of = |name: &str| program.find(name).ok_or_else(|| format!("no function `%{name}`"));
    let found = words.map(of).collect::<Result<Vec<_>, _>>()?;
    let func = |s: SpecId| program.all[s.index()].clone();
    let spec = |id: SpecId| Spec { id, ret: func(id).ret.unwrap_or_else(Ty::none), is_open: false };
    if found.len() != many && many > 1 {
        return Err(format!("`{line}` names other than {many} functions"));
    }
    let own = func(found[0]);
    let args = Ty::tuple(own.params().iter().map(|p| own.ty(*p)).collect());
    let params = (0..own.params().len()).collect();
    match found[..] {
        [_, forward, backward] if many == 3 => {
            let (takes_lasting, zero) = (false, None);
            let (forward, backward) = (spec(forward), spec(backward));
            let selects = own.meaning == Some(Meaning::Selection);
            let rule = Rule { forward, takes_lasting, backward, args, zero, params, selects };
            program.derivatives.rules.insert(found[0], rule);
        }
        [_, function] if many == 2 => {
            let push = Push { function: spec(function), is_stated: false, params, args };
            program.derivatives.pushes.insert(found[0], push);
        }
        _ => program.library.extend(found.iter().map(|s| program.all[s.index()].name.clone())),
    }
    Ok(found[usize::from(many > 1)..].to_vec())
}
