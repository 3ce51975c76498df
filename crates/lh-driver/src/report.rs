//! What `f.explain()` shows: per source line, the types of variables and what the compiler did.

use crate::{Compiled, callees};
use lh_ir::func::{Function, Inst};
use lh_ir::{SpecId, Ty};
use std::collections::{BTreeMap, HashMap, HashSet};

/// One remark about a line of the user's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Note {
    /// A variable gets this type here.
    Type(String, String),
    /// Index checks that remain at run time.
    Checks(usize),
    /// Allocations made here.
    Allocates(usize),
    /// A loop became vector code.
    Vectorised(String),
    /// A loop did not, and why.
    Scalar(String),
}

impl Compiled {
    /// Remarks by file and line, of the entry and the user's functions that it calls.
    pub fn notes(&self) -> BTreeMap<(String, u32), Vec<Note>> {
        let mut out: BTreeMap<(String, u32), Vec<Note>> = BTreeMap::new();
        let file = self.functions()[0].file.clone();
        for (span, name, ty) in &self.annotations {
            let note = Note::Type(name.clone(), shown(*ty));
            let notes = out.entry((file.clone(), span.line)).or_default();
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let allocating = self.allocating();
        for f in self.functions().iter().filter(|f| !f.is_library) {
            count(f, &allocating, &mut out);
        }
        for r in self.remarks() {
            let note = if r.is_success() { Note::Vectorised(r.text.clone()) } else { Note::Scalar(r.text.clone()) };
            let notes = out.entry((r.file.clone(), r.line)).or_default();
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        out
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
                    if let Some(s) = by_name.get(f.name.as_str()) {
                        found.insert(*s);
                    }
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }
}

fn shown(ty: Ty) -> String {
    ty.to_string()
}

fn allocates(i: &Inst) -> bool {
    match i {
        Inst::ListNew(_) | Inst::Map(..) => true,
        Inst::Runtime(f, _) => matches!(f.name, "lh_alloc" | "lh_calloc" | "lh_list_reserve"),
        _ => false,
    }
}

fn count(f: &Function, allocating: &HashSet<SpecId>, out: &mut BTreeMap<(String, u32), Vec<Note>>) {
    let mut checks: BTreeMap<u32, usize> = BTreeMap::new();
    let mut allocations: BTreeMap<u32, usize> = BTreeMap::new();
    for i in f.blocks.iter().flat_map(|b| &b.insts) {
        match &i.inst {
            Inst::ElemPtr { check: true, .. } => *checks.entry(i.span.line).or_default() += 1,
            Inst::Call(s, _) if allocating.contains(s) => *allocations.entry(i.span.line).or_default() += 1,
            inst if allocates(inst) => *allocations.entry(i.span.line).or_default() += 1,
            _ => {}
        }
    }
    for (line, n) in checks {
        out.entry((f.file.clone(), line)).or_default().push(Note::Checks(n));
    }
    for (line, n) in allocations {
        out.entry((f.file.clone(), line)).or_default().push(Note::Allocates(n));
    }
}
