//! Machine code: the unit that LLVM gets, the object that it makes, loaded, and the functions that are compiled when
//! they are first called.

pub(crate) mod image;
pub(crate) mod lazy;

use lh_ir::SpecId;
use lh_ir::func::{Extern, Function, Inst, Term};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// All of some functions, the entry first, and their parallel loops' bodies, for LLVM.
pub(crate) fn unit<'f>(
    functions: &'f [Arc<Function>],
    names: &HashMap<SpecId, String>,
    wanted: lh_llvm::Wanted,
) -> lh_llvm::Unit<'f> {
    lh_llvm::Unit {
        // The entry stays first.
        functions: functions
            .iter()
            .map(|f| &**f)
            .chain(functions.iter().flat_map(|f| f.with_bodies().into_iter().skip(1)))
            .map(Cow::Borrowed)
            .collect(),
        spec_names: names.clone(),
        entry: 0,
        entry_symbol: image::ENTRY.to_owned(),
        abi: lh_llvm::Abi::Host,
        arrays: HashMap::new(),
        outside: String::new(),
        level: None,
        wanted,
        rare: lh_llvm::Rare::Here,
    }
}

/// Numbers of the process that functions refer to.
pub(crate) fn words(functions: &[Arc<Function>]) -> Vec<Extern> {
    let mut out = Vec::new();
    let all = functions.iter().flat_map(|f| f.with_bodies());
    for b in all.flat_map(|f| &f.blocks) {
        for i in &b.insts {
            if let Inst::Extern(w) = i.inst {
                out.push(w);
            }
        }
        if let Some(Term::Raise { exc, .. }) = &b.term {
            if exc.index() >= lh_runtime::classes::ALL.len() {
                out.push(Extern::Class(*exc));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}
