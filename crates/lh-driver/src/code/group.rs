//! Functions that are compiled together: an entry and all that it calls, but for the functions that parts have.

use super::image::{ENTRY, Outsiders};
use super::part::{Part, called, compile_called};
use crate::digest::{Digest, Hasher};
use lh_ir::func::{Extern, Function, Inst};
use lh_ir::{Const, SpecId, Ty};
use lh_llvm::symbols;
use lh_llvm::{Abi, LinkedFunction, Rare, Unit, Wanted};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Functions that are compiled together.
pub(crate) struct Group {
    /// The entry comes first.
    pub(crate) functions: Vec<Arc<Function>>,
    /// Names of specialisations.
    names: HashMap<SpecId, String>,
    /// The parts that have what the functions call beside each other.
    pub(crate) parts: Vec<(SpecId, Arc<Part>)>,
    /// Numbers of the process that the functions refer to. Code names them by position.
    pub(crate) words: Vec<Extern>,
    abi: Abi,
}

impl Group {
    /// All that is called from Python: an entry, and what it calls.
    pub(crate) fn of_entry(
        functions: Vec<Arc<Function>>,
        names: HashMap<SpecId, String>,
        parts: Vec<(SpecId, Arc<Part>)>,
    ) -> Group {
        Group { words: super::words(&functions), functions, names, parts, abi: Abi::Host }
    }

    /// A function that other groups call, and what it calls.
    pub(crate) fn of_part(
        functions: Vec<Arc<Function>>,
        names: HashMap<SpecId, String>,
        parts: Vec<(SpecId, Arc<Part>)>,
    ) -> Group {
        Group { abi: Abi::Internal, ..Group::of_entry(functions, names, parts) }
    }

    /// The group for LLVM.
    pub(crate) fn unit(&self, wanted: Wanted, rare: Rare) -> Unit<'_> {
        let bodies = self.functions.iter().flat_map(|f| f.with_bodies().into_iter().skip(1));
        let linked = |(spec, part): &'_ (SpecId, Arc<Part>)| LinkedFunction {
            spec: *spec,
            function: part.function.clone(),
            symbol: part.symbol(),
        };
        Unit {
            // The entry stays first.
            functions: self.functions.iter().map(|f| &**f).chain(bodies).map(Cow::Borrowed).collect(),
            spec_names: self.names.clone(),
            entry: 0,
            entry_symbol: if self.abi == Abi::Internal { symbols::PART } else { ENTRY }.to_owned(),
            abi: self.abi,
            wanted,
            rare,
            linked: self.parts.iter().map(linked).collect(),
            words: self.words.iter().copied().zip(0..).collect(),
            ..Unit::default()
        }
    }

    /// The name of a part with this module. Code names types by position, so that those for several types may have
    /// equal modules.
    pub(crate) fn part_name(&self, module: Digest) -> Digest {
        let types = || self.words.iter().filter(|w| matches!(w, Extern::Type(_)));
        if types().next().is_none() {
            return module;
        }
        let mut h = Hasher::new("part");
        h.digest(&module);
        // Either text leaves out what the other one tells.
        let text = |ty: Ty| format!("{ty} {}", ty.numba());
        let texts = types().map(|t| Ty::of_number(t.number() as usize).map_or_else(String::new, text));
        texts.for_each(|text| h.text(&text));
        h.finish()
    }

    /// The number of instructions that LLVM may have to compile, those of parts too.
    pub(crate) fn instructions(&self) -> usize {
        let own = self.functions.iter().flat_map(|f| f.with_bodies());
        let own: usize = own.flat_map(|f| f.blocks.iter()).map(|b| b.insts.len()).sum();
        let parts = self.parts.iter().filter(|(_, part)| part.object().is_none());
        own + parts.map(|(_, part)| part.group.as_ref().map_or(0, |g| g.instructions())).sum::<usize>()
    }

    /// The numbers of the process, as code names them, with their values.
    pub(crate) fn values(&self, mut value: impl FnMut(Extern) -> u64) -> HashMap<Extern, u64> {
        self.numbered().map(|(number, word)| (number, value(word))).collect()
    }

    /// The numbers of the process: as code names them, and as they are.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (Extern, Extern)> + '_ {
        self.words.iter().zip(0..).map(|(word, n)| (word.numbered(n), *word))
    }

    /// The referents of its code, with the values of [`Group::values`].
    pub(crate) fn outsiders<'a>(&'a self, words: &'a HashMap<Extern, u64>) -> Outsiders<'a> {
        Outsiders {
            word: Box::new(|w| words.get(&w).copied()),
            file: Box::new(|f| Some(self.functions.get(f)?.file.clone())),
            lazy: Box::new(|_| None),
            parts: self.parts.iter().map(|(_, part)| part.clone()).collect(),
        }
    }

    /// The parts that an object of this group calls, directly or not, each once, after those that it calls.
    pub(crate) fn called_parts(&self, object: &[u8]) -> Vec<Arc<Part>> {
        fn add(object: &[u8], parts: &mut dyn Iterator<Item = &Arc<Part>>, out: &mut Vec<Arc<Part>>) {
            let numbers = called(object);
            for part in parts {
                if !out.iter().any(|p| Arc::ptr_eq(p, part)) && numbers.contains(&part.number()) {
                    let (own, group) = (part.object().unwrap_or_default(), part.group.iter());
                    add(own, &mut group.flat_map(|g| &g.parts).map(|(_, p)| p), out);
                    out.push(part.clone());
                }
            }
        }
        let mut out = Vec::new();
        add(object, &mut self.parts.iter().map(|(_, p)| p), &mut out);
        out
    }

    /// Whether texts are a part of the code.
    pub(crate) fn has_texts(&self) -> bool {
        let blocks = self.functions.iter().flat_map(|f| f.with_bodies()).flat_map(|f| &f.blocks);
        blocks.flat_map(|b| &b.insts).any(|i| matches!(i.inst, Inst::Const(Const::Str(_))))
    }

    /// Whether the code knows functions and memory that are not its own.
    pub(crate) fn has_foreign(&self) -> bool {
        self.words.iter().any(|w| matches!(w, Extern::Foreign(_)))
    }

    /// Compiles the parts that an object of this group calls.
    pub(crate) fn compile_called(&self, object: &[u8]) {
        let parts: Vec<Arc<Part>> = self.parts.iter().map(|(_, part)| part.clone()).collect();
        compile_called(object, &parts);
    }
}
