//! What `f.explain()` shows: by function and line of the user's, the types of variables and what the compiler did.

use crate::loops::{SourceLoop, loop_at, source_loops};
use crate::parallel;
use crate::reasons::{EARLY_EXIT, reason, widths};
use crate::{Compiled, callees};
use lh_ir::func::{Function, Inst};
use lh_ir::types::{Prim, TyKind};
use lh_ir::untyped::Code;
use lh_ir::{Span, SpecId, Ty};
use lh_llvm::Remark;
use lh_opt::Elementwise;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

/// Calls of the library in one line that are reported on.
const MAX_CALLS: usize = 4;

/// One remark about a line of the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A variable gets this type here.
    Type(String, String),
    /// Elementwise operations computed in one loop, and the other lines whose operations are among them.
    Fused(usize, Vec<u32>),
    /// The elementwise operations of this line are computed in the loop of another.
    FusedInto(u32),
    /// A loop became vector code: elements at a time, vectors at a time; in a library function if it has a name.
    Vectorised(Option<String>, u32, u32),
    /// A loop did not, and why, if that is known.
    Scalar(Option<String>),
    /// A loop runs on the pool: what of it does, and what is to be said about that.
    Parallel(String),
    /// A loop that was to run on the pool does not, and why.
    Serial(String),
    /// Index checks that are made at once, before a loop.
    Hoisted,
    /// Index checks that remain at run time.
    Checks(usize),
    /// Allocations made here.
    Allocates(usize),
}

impl Note {
    /// Place among the remarks about a line.
    fn rank(&self) -> u8 {
        match self {
            Note::Type(..) => 0,
            Note::Fused(..) | Note::FusedInto(_) => 1,
            Note::Parallel(_) | Note::Serial(_) => 2,
            Note::Vectorised(..) | Note::Scalar(_) => 3,
            Note::Hoisted | Note::Checks(_) => 4,
            Note::Allocates(_) => 5,
        }
    }
    /// One word for what it is about.
    pub fn kind(&self) -> &'static str {
        match self {
            Note::Type(..) => "type",
            Note::Fused(..) | Note::FusedInto(_) => "fused",
            Note::Parallel(_) => "parallel",
            Note::Serial(_) => "serial",
            Note::Vectorised(..) => "vectorised",
            Note::Scalar(_) => "scalar",
            Note::Hoisted => "hoisted",
            Note::Checks(_) => "checks",
            Note::Allocates(_) => "allocates",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Type(name, ty) => write!(f, "{name}: {ty}"),
            Note::Fused(n, from) => {
                write!(f, "fused: {n} operations in one loop")?;
                match &from[..] {
                    [] => Ok(()),
                    [line] => write!(f, ", with those of line {line}"),
                    lines => write!(
                        f,
                        ", with those of lines {}",
                        lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                    ),
                }
            }
            Note::FusedInto(line) => write!(f, "fused: computed in the loop of line {line}"),
            Note::Vectorised(name, width, count) => {
                if let Some(name) = name {
                    write!(f, "{name}: ")?;
                }
                match (width, count) {
                    (1, n) => write!(f, "vectorised: {n} elements at a time"),
                    (w, 1) => write!(f, "vectorised: {w} elements at a time"),
                    (w, n) => write!(f, "vectorised: {n} vectors of {w} elements at a time"),
                }
            }
            Note::Parallel(text) | Note::Serial(text) => f.write_str(text),
            Note::Scalar(Some(reason)) => write!(f, "not vectorised: {reason}"),
            Note::Scalar(None) => write!(f, "not vectorised"),
            Note::Hoisted => write!(f, "index checks: made once, before the loop"),
            Note::Checks(1) => write!(f, "1 index check remains"),
            Note::Checks(n) => write!(f, "{n} index checks remain"),
            Note::Allocates(1) => write!(f, "allocates"),
            Note::Allocates(n) => write!(f, "allocates, in {n} places"),
        }
    }
}

/// What is known of a function beside its code.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    params: Vec<(String, Ty)>,
    last_line: u32,
    annotations: Vec<(Span, String, Ty)>,
    elementwise: Vec<Elementwise>,
}

impl Told {
    /// Of a function that is in no source file.
    pub(crate) fn nothing() -> Told {
        Told { params: Vec::new(), last_line: 0, annotations: Vec::new(), elementwise: Vec::new() }
    }
    pub(crate) fn new(
        code: &Code,
        args: &[(Ty, Option<String>)],
        annotations: Vec<(Span, String, Ty)>,
        elementwise: Vec<Elementwise>,
    ) -> Told {
        let params = code.params.iter().zip(args).map(|(p, a)| (p.name.clone(), a.0)).collect();
        Told { params, last_line: last_line(code), annotations, elementwise }
    }
    /// Types of the arguments.
    pub(crate) fn args(&self) -> Vec<Ty> {
        self.params.iter().map(|(_, t)| *t).collect()
    }
}

fn last_line(code: &Code) -> u32 {
    let spans = code.blocks.iter().flat_map(|b| b.insts.iter().map(|i| i.span).chain([b.term_span]));
    let own = spans.map(|s| s.line.max(s.end_line)).max().unwrap_or(0);
    code.inner.iter().map(|c| last_line(c)).max().unwrap_or(0).max(own).max(code.first_line)
}

fn shown(ty: Ty) -> String {
    match ty.kind() {
        TyKind::Func(_) | TyKind::Closure { .. } | TyKind::Choice(_) => "function".to_owned(),
        _ => ty.numba().to_string(),
    }
}

/// A function of the user's and what became of it.
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
        for (span, name, ty) in &self.told[0].annotations {
            out.add(span.line, Note::Type(name.clone(), shown(*ty)));
        }
        out
    }

    /// What became of the function (the first) and of the user's functions that it calls. Compiles once more, for remarks.
    pub fn explain(&self) -> Vec<FunctionReport> {
        let remarks = self.remarks();
        let allocating = self.allocating();
        let mut out: Vec<FunctionReport> = Vec::new();
        for (i, f) in self.functions().iter().enumerate().filter(|(_, f)| !f.is_library) {
            let report = self.explain_one(i, f, &allocating, &remarks);
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
        let (f, told) = (&self.functions()[i], &self.told[i]);
        FunctionReport {
            qualname: f.qualname.clone(),
            file: f.file.clone(),
            lines: (f.first_line, told.last_line),
            params: told.params.clone(),
            ret: f.ret.unwrap_or_else(Ty::none),
            notes: BTreeMap::new(),
        }
    }

    fn explain_one(&self, i: usize, f: &Function, allocating: &HashSet<SpecId>, remarks: &[Remark]) -> FunctionReport {
        let mut out = self.empty(i);
        for (span, name, ty) in &self.told[i].annotations {
            out.add(span.line, Note::Type(name.clone(), shown(*ty)));
        }
        add_elementwise(&mut out, &self.told[i].elementwise);
        let left = checks(f, false);
        left.iter().for_each(|(line, n)| out.add(*line, Note::Checks(*n)));
        checks(f, true).keys().filter(|l| !left.contains_key(l)).for_each(|l| out.add(*l, Note::Hoisted));
        for (line, n) in allocations(f, allocating, &self.told[i].elementwise) {
            out.add(line, Note::Allocates(n));
        }
        parallel::loops(f).into_iter().for_each(|(line, n)| out.add(line, n));
        add_loops(&mut out, f, remarks, &left);
        self.add_library(&mut out, f, remarks);
        out
    }

    /// What is said of loops of the library functions that a function calls.
    fn add_library(&self, out: &mut FunctionReport, f: &Function, remarks: &[Remark]) {
        let by_name: HashMap<&str, usize> =
            self.functions().iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        let index = |s: &SpecId| by_name.get(self.names.get(s)?.as_str()).copied();
        let mut calls: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for d in f.blocks.iter().filter(|b| !b.cold).flat_map(|b| &b.insts) {
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
                if within.iter().any(|i| parallel::is_any(&self.functions()[*i])) {
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
                f.is_library && f.file == r.file && f.first_line < r.line && r.line <= self.told[*i].last_line
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
                let direct = f.blocks.iter().flat_map(|b| &b.insts).any(|i| allocates(&i.inst));
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
    for e in all.iter().filter(|e| e.operations > 1) {
        let mut from: Vec<u32> = e.merged.iter().map(|s| s.line).filter(|l| *l != e.span.line).collect();
        from.sort_unstable();
        from.dedup();
        from.iter().for_each(|line| out.add(*line, Note::FusedInto(e.span.line)));
        out.add(e.span.line, Note::Fused(e.operations, from));
    }
}

/// Index checks by line: those on the usual way through a function, or those in copies of loops that only run to raise.
fn checks(f: &Function, cold: bool) -> BTreeMap<u32, usize> {
    let mut out = BTreeMap::new();
    for d in f.blocks.iter().filter(|b| b.cold == cold).flat_map(|b| &b.insts) {
        let is_check = match &d.inst {
            Inst::ElemPtr { check, .. } => *check,
            Inst::Runtime(r, _) => r.name == "lh_check_index",
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
        Inst::ListNew(_) | Inst::Map(..) => true,
        Inst::Runtime(f, _) => f.name == "lh_list_reserve" || f.ret.iter().any(|p| matches!(p, Prim::Mem | Prim::List)),
        _ => false,
    }
}

/// Allocations by line. The loops of elementwise computations have several versions, of which one runs.
fn allocations(f: &Function, allocating: &HashSet<SpecId>, elementwise: &[Elementwise]) -> BTreeMap<u32, usize> {
    let mut out: BTreeMap<u32, usize> = BTreeMap::new();
    let places: HashSet<Span> = elementwise.iter().map(|e| e.span).collect();
    elementwise.iter().filter(|e| e.allocates).for_each(|e| *out.entry(e.span.line).or_default() += 1);
    for d in f.blocks.iter().filter(|b| !b.cold).flat_map(|b| &b.insts) {
        let counts = match &d.inst {
            Inst::Call(s, _) => allocating.contains(s),
            inst => allocates(inst) && !places.contains(&d.span),
        };
        if counts {
            *out.entry(d.span.line).or_default() += 1;
        }
    }
    out
}

/// What is said of the loops of a function, at the line where each begins.
fn add_loops(out: &mut FunctionReport, f: &Function, remarks: &[Remark], checks: &BTreeMap<u32, usize>) {
    let loops = source_loops(f);
    let mut by_loop: HashMap<&SourceLoop, Vec<&Remark>> = HashMap::new();
    for r in remarks.iter().filter(|r| r.file == f.file && (out.lines.0..=out.lines.1).contains(&r.line)) {
        // The vectoriser looks at innermost loops only: what it says of others says nothing.
        if let Some(l) = loop_at(&loops, r.line).filter(|l| l.is_innermost || r.is_success()) {
            by_loop.entry(l).or_default().push(r);
        }
    }
    for (l, said) in by_loop {
        let is_checked = checks.range(l.first..=l.last).next().is_some();
        out.add(l.first, verdict(&said, is_checked));
    }
}

fn best_width(remarks: &[&Remark]) -> Option<(u32, u32)> {
    remarks.iter().filter(|r| r.is_success()).map(|r| widths(&r.text)).max()
}

/// What a loop's remarks come to: it was vectorised in the version that runs, or it was not, for the reason that says most.
fn verdict(remarks: &[&Remark], is_checked: bool) -> Note {
    if let Some((width, count)) = best_width(remarks) {
        return Note::Vectorised(None, width, count);
    }
    let best = remarks.iter().filter_map(|r| reason(&r.text)).min();
    Note::Scalar(best.map(|(_, text)| match text == EARLY_EXIT && is_checked {
        true => "an index check in it can raise".to_owned(),
        false => text,
    }))
}
