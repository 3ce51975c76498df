//! Machine code: the groups of functions that LLVM gets, their objects, loaded, and the functions that are compiled
//! when they are first called.

pub(crate) mod group;
pub(crate) mod image;
pub(crate) mod lazy;
pub(crate) mod objects;
pub(crate) mod part;
pub(crate) mod shipped;

use lh_ir::func::{Extern, Function, Inst, Term};
use std::collections::HashSet;
use std::sync::Arc;

/// Numbers of the process that functions refer to, in the order in which they do.
pub(crate) fn words(functions: &[Arc<Function>]) -> Vec<Extern> {
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    let mut add = |word| {
        if seen.insert(word) {
            out.push(word);
        }
    };
    let all = functions.iter().flat_map(|f| f.with_bodies());
    for b in all.flat_map(|f| &f.blocks) {
        for i in &b.insts {
            if let Inst::Extern(w) = i.inst {
                add(w);
            }
        }
        if let Some(Term::Raise { exc, .. }) = &b.term {
            if exc.index() >= lh_runtime::classes::ALL.len() {
                add(Extern::Class(*exc));
            }
        }
    }
    out
}
