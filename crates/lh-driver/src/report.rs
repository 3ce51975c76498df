//! The content of `f.explain()`: for each function and line of the user's source, types of variables and remarks about
//! loops, index checks and allocations.

mod note;
mod parallel_loops;
mod source_loops;
mod vectorizer;

pub use note::Note;

use crate::compiled::Compiled;
use crate::spec::callees;
use lh_ir::func::{BlockData, Function, Inst};
use lh_ir::runtime::{Items, Role};
use lh_ir::types::{Prim, TyKind};
use lh_ir::{Span, SpecId, Ty};
use lh_llvm::Remark;
use lh_opt::Elementwise;
use source_loops::{SourceLoop, loop_at, repeated_blocks, source_loops};
use std::collections::{BTreeMap, HashMap, HashSet};
use vectorizer::{EARLY_EXIT, reason, replacement, widths};

/// Calls of the library in one line that are reported on.
const MAX_CALLS: usize = 4;

fn shown(ty: Ty) -> String {
    match ty.kind() {
        TyKind::Choice(_) if !ty.is_function() => ty.numba().to_string(),
        TyKind::Func(_) | TyKind::Closure { .. } | TyKind::Choice(_) => "function".to_owned(),
        _ => ty.numba().to_string(),
    }
}

/// A function of the user's with the remarks about it.
#[derive(Clone, Debug)]
pub struct FunctionReport {
    /// Its name.
    pub qualname: String,
    /// Source file.
    pub file: String,
    /// First and last line.
    pub lines: (u32, u32),
    /// Parameters.
    pub params: Vec<(String, Ty)>,
    /// Result type.
    pub ret: Ty,
    /// Remarks by line.
    pub notes: BTreeMap<u32, Vec<Note>>,
}

impl FunctionReport {
    fn add(&mut self, line: u32, note: Note) {
        let notes = self.notes.entry(line).or_default();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    fn contains(&self, other: &FunctionReport) -> bool {
        self.file == other.file
            && self.lines.0 <= other.lines.0
            && other.lines.1 <= self.lines.1
            && self.qualname != other.qualname
    }
}

impl Compiled {
    /// Types of variables in the function that was compiled.
    pub fn types(&self) -> FunctionReport {
        let mut out = self.empty(0);
        for (span, name, ty) in &self.sources[0].annotations {
            out.add(span.line, Note::Type(name.clone(), shown(*ty)));
        }
        out
    }

    /// Reports on the function (first) and on the user's functions that it calls. Compiles once more, for LLVM's
    /// remarks.
    pub fn explain(&self) -> Vec<FunctionReport> {
        self.explained(&self.remarks())
    }

    /// The same without what LLVM tells of loops, for which the code is compiled once more.
    pub fn explain_quickly(&self) -> Vec<FunctionReport> {
        self.explained(&[])
    }

    fn explained(&self, remarks: &[Remark]) -> Vec<FunctionReport> {
        let allocating = self.allocating();
        let mut out: Vec<FunctionReport> = Vec::new();
        for (i, f) in self.functions().iter().enumerate().filter(|(_, f)| !f.is_library) {
            let report = self.explain_one(i, f, &allocating, remarks);
            // Inner functions are shown where they stand.
            match out.iter_mut().find(|o| o.contains(&report)) {
                Some(outer) => report
                    .notes
                    .into_iter()
                    .for_each(|(line, notes)| notes.into_iter().for_each(|n| outer.add(line, n))),
                None => out.push(report),
            }
        }
        for notes in out.iter_mut().flat_map(|f| f.notes.values_mut()) {
            notes.sort_by_key(Note::rank);
        }
        out
    }

    fn empty(&self, i: usize) -> FunctionReport {
        let (f, source) = (&self.functions()[i], &self.sources[i]);
        FunctionReport {
            qualname: f.qualname.clone(),
            file: f.file.clone(),
            lines: (f.first_line, source.last_line),
            params: source.params.clone(),
            ret: f.ret.unwrap_or_else(Ty::none),
            notes: BTreeMap::new(),
        }
    }

    fn explain_one(&self, i: usize, f: &Function, allocating: &HashSet<SpecId>, remarks: &[Remark]) -> FunctionReport {
        let mut out = self.empty(i);
        for (span, name, ty) in &self.sources[i].annotations {
            out.add(span.line, Note::Type(name.clone(), shown(*ty)));
        }
        add_elementwise(&mut out, &self.sources[i].elementwise);
        let left = checks(f, false);
        left.iter().for_each(|(line, n)| out.add(*line, Note::Checks(*n)));
        checks(f, true).keys().filter(|l| !left.contains_key(l)).for_each(|l| out.add(*l, Note::Hoisted));
        for (line, (n, repeats)) in allocations(f, allocating, &self.sources[i].elementwise) {
            out.add(line, Note::Allocates(n, repeats));
        }
        for (line, text) in &self.sources[i].derivative {
            out.add(*line, Note::Derivative(text.clone()));
        }
        parallel_loops::loops(f).into_iter().for_each(|(line, n)| out.add(line, n));
        add_loops(&mut out, f, remarks, &left);
        self.add_library(&mut out, f, remarks);
        out
    }

    /// Adds remarks about the loops of library functions that a function calls.
    fn add_library(&self, out: &mut FunctionReport, f: &Function, remarks: &[Remark]) {
        let by_name: HashMap<&str, usize> =
            self.functions().iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        let index = |s: &SpecId| by_name.get(self.names.get(s)?.as_str()).copied();
        let mut calls: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for d in blocks(f).filter(|b| !b.cold).flat_map(|b| &b.insts) {
            let Inst::Call(s, _) = &d.inst else { continue };
            let Some(callee) = index(s).filter(|i| self.functions()[*i].is_library) else { continue };
            let line = calls.entry(d.span.line).or_default();
            if !line.contains(&callee) && line.len() < MAX_CALLS {
                line.push(callee);
            }
        }
        for (line, callees_here) in calls {
            for callee in callees_here {
                // Only good news: library loops are laid out by hand where the vectoriser alone would not do.
                let name = self.functions()[callee].qualname.clone();
                let within = self.reached(callee, &index);
                if within.iter().any(|i| parallel_loops::is_any(&self.functions()[*i])) {
                    out.add(line, Note::Parallel(format!("{name}: runs in parallel")));
                }
                if let Some((width, count)) = best_width(&self.library_remarks(&within, remarks)) {
                    out.add(line, Note::Vectorised(Some(name), width, count));
                }
            }
        }
    }

    /// A function and those it calls, directly and through others.
    fn reached(&self, callee: usize, index: &dyn Fn(&SpecId) -> Option<usize>) -> Vec<usize> {
        let (mut seen, mut work) = (vec![callee], vec![callee]);
        while let Some(i) = work.pop() {
            for c in callees(&self.functions()[i]).iter().filter_map(index) {
                if !seen.contains(&c) {
                    seen.push(c);
                    work.push(c);
                }
            }
        }
        seen
    }

    /// Remarks about library functions.
    fn library_remarks<'r>(&self, seen: &[usize], remarks: &'r [Remark]) -> Vec<&'r Remark> {
        let is_in = |r: &&Remark| {
            seen.iter().any(|i| {
                let f = &self.functions()[*i];
                f.is_library && f.file == r.file && f.first_line < r.line && r.line <= self.sources[*i].last_line
            })
        };
        remarks.iter().filter(is_in).collect()
    }

    /// Functions that allocate, themselves or through what they call.
    fn allocating(&self) -> HashSet<SpecId> {
        let by_name: HashMap<&str, SpecId> = self.names.iter().map(|(s, n)| (n.as_str(), *s)).collect();
        let mut found: HashSet<SpecId> = HashSet::new();
        loop {
            let before = found.len();
            for f in self.functions() {
                let direct = blocks(f).flat_map(|b| &b.insts).any(|i| allocates(&i.inst));
                if direct || callees(f).iter().any(|c| found.contains(c)) {
                    found.extend(by_name.get(f.name.as_str()));
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

fn add_elementwise(out: &mut FunctionReport, all: &[Elementwise]) {
    for e in all.iter().filter(|e| e.reduction.is_some()) {
        out.add(e.span.line, Note::Joined(e.allocates));
    }
    for e in all.iter().filter(|e| e.operations > 1) {
        let mut from: Vec<u32> = e.merged.iter().map(|s| s.line).filter(|l| *l != e.span.line).collect();
        from.sort_unstable();
        from.dedup();
        from.iter().for_each(|line| out.add(*line, Note::FusedInto(e.span.line)));
        out.add(e.span.line, Note::Fused(e.operations, from));
    }
}

/// The blocks of a function and of its parallel loops' bodies.
fn blocks(f: &Function) -> impl Iterator<Item = &BlockData> {
    f.with_bodies().into_iter().flat_map(|f| &f.blocks)
}

/// Index checks by line: those on the usual way through a function, or those in copies of loops that only run to raise.
fn checks(f: &Function, cold: bool) -> BTreeMap<u32, usize> {
    let mut out = BTreeMap::new();
    for d in blocks(f).filter(|b| b.cold == cold).flat_map(|b| &b.insts) {
        let is_check = match &d.inst {
            Inst::ElemPtr { check, .. } => *check,
            Inst::Runtime(f, _) => f.role == Role::CheckIndex,
            _ => false,
        };
        if is_check {
            *out.entry(d.span.line).or_default() += 1;
        }
    }
    out
}

fn allocates(i: &Inst) -> bool {
    match i {
        Inst::New(_) | Inst::Map(..) => true,
        Inst::Runtime(f, _) => {
            f.role == Role::Items(Items::Reserve) || f.ret.iter().any(|p| matches!(p, Prim::Mem | Prim::Object))
        }
        _ => false,
    }
}

/// Allocations by line, and whether a loop repeats one of them. The loops of elementwise computations have several
/// versions, of which one runs.
fn allocations(
    f: &Function,
    allocating: &HashSet<SpecId>,
    elementwise: &[Elementwise],
) -> BTreeMap<u32, (usize, bool)> {
    let places: HashSet<Span> = elementwise.iter().flat_map(|e| [Some(e.span), e.reduction]).flatten().collect();
    let (mut out, mut repeated): (BTreeMap<u32, (usize, bool)>, HashSet<Span>) = Default::default();
    for part in f.with_bodies() {
        let in_loop = repeated_blocks(part);
        for (data, in_loop) in part.blocks.iter().zip(in_loop).filter(|(data, _)| !data.cold) {
            for d in &data.insts {
                let (counts, has_place) = match &d.inst {
                    Inst::Call(s, _) => (allocating.contains(s), false),
                    inst => (allocates(inst), places.contains(&d.span)),
                };
                if counts && in_loop {
                    repeated.insert(d.span);
                }
                if counts && !has_place {
                    out.entry(d.span.line).or_default().0 += 1;
                }
            }
        }
    }
    elementwise.iter().filter(|e| e.allocates).for_each(|e| out.entry(e.span.line).or_default().0 += 1);
    for span in repeated {
        out.entry(span.line).and_modify(|(_, repeats)| *repeats = true);
    }
    out
}

/// Adds remarks about the loops of a function, at the line where each begins.
fn add_loops(out: &mut FunctionReport, f: &Function, remarks: &[Remark], checks: &BTreeMap<u32, usize>) {
    let loops = source_loops(f);
    let mut by_loop: HashMap<&SourceLoop, Vec<&Remark>> = HashMap::new();
    for l in loops.iter().filter(|l| l.is_innermost) {
        by_loop.insert(l, Vec::new());
    }
    for r in remarks.iter().filter(|r| r.file == f.file && (out.lines.0..=out.lines.1).contains(&r.line)) {
        // The vectoriser looks at innermost loops only: what it says of others says nothing.
        if let Some(l) = loop_at(&loops, r.line).filter(|l| l.is_innermost || r.is_success()) {
            by_loop.entry(l).or_default().push(r);
        }
    }
    let mut verdicts: Vec<(u32, Note)> = by_loop
        .into_iter()
        .map(|(l, said)| (l.first, verdict(&said, checks.range(l.first..=l.last).next().is_some())))
        .collect();
    verdicts.sort_by_key(|(line, note)| (*line, matches!(note, Note::Scalar(_))));
    for (line, note) in &verdicts {
        // Of a loop that has several versions, LLVM may say nothing of those that hardly ever run.
        let is_version = || verdicts.iter().any(|(l, n)| l == line && matches!(n, Note::Vectorised(..)));
        if !matches!(note, Note::Scalar(None)) || !is_version() {
            out.add(*line, note.clone());
        }
    }
}

fn best_width(remarks: &[&Remark]) -> Option<(u32, u32)> {
    remarks.iter().filter(|r| r.is_success()).map(|r| widths(&r.text)).max()
}

/// Sums up a loop's remarks: it was vectorised in the version that runs, or it was replaced by other code, or it was
/// not vectorised, for the reason that says most.
fn verdict(remarks: &[&Remark], is_checked: bool) -> Note {
    if let Some((width, count)) = best_width(remarks) {
        return Note::Vectorised(None, width, count);
    }
    if let Some(instead) = remarks.iter().find_map(|r| replacement(&r.text)) {
        return Note::Replaced(instead);
    }
    let best = remarks.iter().filter_map(|r| reason(&r.text)).min();
    Note::Scalar(best.map(|(_, text)| match text == EARLY_EXIT && is_checked {
        true => "an index check in it can raise".to_owned(),
        false => text,
    }))
}
