//! A function of the library that is a unit of its own: compiled once, and called by the code of all that use it.
//!
//! A part is named by the digest of its module, which has the names of the parts that it calls, and of the types whose
//! numbers it has. So code that calls a part means that very code, in whichever process it is loaded. It is compiled
//! when code that calls it is loaded: parts that only cold code calls mostly never are.

use super::group::Group;
use super::image::{Mapped, Outsiders};
use super::lazy::Lazy;
use super::objects::{ObjectStore, key};
use crate::digest::Digest;
use lh_ir::func::{Extern, Function};
use lh_llvm::symbols;
use lh_llvm::{Level, Output, Outside, Rare, Wanted};
use once_cell::race::OnceBox;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A function of the library that is a unit of its own.
pub(crate) struct Part {
    name: Digest,
    /// The function.
    pub(crate) function: Arc<Function>,
    /// All that it is compiled of; `None` if it comes from an entry of the cache.
    pub(crate) group: Option<Arc<Group>>,
    /// The parts that it calls.
    parts: Vec<Arc<Part>>,
    /// Numbers of the process that it refers to.
    words: HashMap<Extern, u64>,
    /// Where its object comes from, and whether that has all of it.
    store: Arc<ObjectStore>,
    whole: bool,
    /// Its object and its code, once they are needed. No thread waits for another to make them, since the other may
    /// not exist in a forked child.
    object: OnceBox<Output>,
    code: OnceBox<Code>,
}

/// The code of a part, with functions that are compiled when they are called.
struct Code {
    mapped: Mapped,
    _lazy: Option<Arc<Lazy>>,
}

impl Part {
    /// A part of a group of functions, with [`Group::values`]; `whole`: its object has all of it.
    pub(crate) fn new(group: Group, words: HashMap<Extern, u64>, store: &Arc<ObjectStore>, whole: bool) -> Part {
        let (module, output) = store.look_up(&group.unit(Wanted::default(), rare(whole)));
        Part {
            name: group.part_name(module),
            function: group.functions[0].clone(),
            parts: group.parts.iter().map(|(_, part)| part.clone()).collect(),
            group: Some(Arc::new(group)),
            words,
            store: store.clone(),
            whole,
            object: output.map_or_else(OnceBox::new, |output| OnceBox::with_value(Box::new(output))),
            code: OnceBox::new(),
        }
    }

    /// A part for the names of others, with its objects for levels of processors, by the digests of their keys.
    pub(crate) fn for_file(group: Group, levels: &[Level]) -> (Part, Vec<(Digest, Vec<u8>)>) {
        let store = Arc::new(ObjectStore::default());
        let made = levels.iter().map(|level| {
            let unit = lh_llvm::Unit { level: Some(*level), ..group.unit(Wanted::default(), Rare::Later) };
            let (module, output) = store.compile(&unit);
            (module, (key(&module, (level.name(), "")), output.object))
        });
        let (modules, objects): (Vec<Digest>, Vec<_>) = made.unzip();
        let part = Part {
            name: group.part_name(modules.first().copied().unwrap_or_default()),
            function: group.functions[0].clone(),
            parts: Vec::new(),
            group: Some(Arc::new(group)),
            words: HashMap::new(),
            store,
            whole: false,
            object: OnceBox::new(),
            code: OnceBox::new(),
        };
        (part, objects)
    }

    /// A part of an entry of the cache. `known`: the parts of the entry that it may call.
    pub(crate) fn stored(name: Digest, object: &[u8], words: HashMap<Extern, u64>, known: &[Arc<Part>]) -> Part {
        let output = Output { object: object.to_vec(), ..Output::default() };
        Part {
            name,
            function: Arc::default(),
            group: None,
            parts: known.to_vec(),
            words,
            store: Arc::default(),
            whole: true,
            object: OnceBox::with_value(Box::new(output)),
            code: OnceBox::new(),
        }
    }

    /// The digest of its module and of the types whose numbers it refers to.
    pub(crate) fn name(&self) -> Digest {
        self.name
    }

    /// Whether its words are those of another part.
    pub(crate) fn has_words_of(&self, other: &Part) -> bool {
        self.words == other.words
    }

    /// The first half of the digest, which symbols have.
    pub(crate) fn number(&self) -> u128 {
        let (first, _) = self.name.0.split_at(16);
        first.iter().fold(0, |n, b| n << 8 | u128::from(*b))
    }

    /// The symbol by which others call it.
    pub(crate) fn symbol(&self) -> String {
        Outside::Part(self.number()).symbol()
    }

    /// Its object, if it has been needed.
    pub(crate) fn object(&self) -> Option<&[u8]> {
        self.object.get().map(|output| &output.object[..])
    }

    /// Whether it calls anything that may take long or polls for Ctrl-C.
    pub(crate) fn may_wait(&self) -> bool {
        self.code().mapped.may_wait
    }

    /// Its address.
    pub(crate) fn address(&self) -> usize {
        let address = self.code().mapped.address(symbols::PART);
        address.unwrap_or_else(|| lh_ir::bug!("no function in the object of a part"))
    }

    /// Compiles it, and the parts that its code calls, unless that has been done. It needs nothing of the interpreter.
    fn compiled(&self) -> &Output {
        let compile = || {
            let Some(group) = &self.group else { lh_ir::bug!("a part without functions") };
            Box::new(self.store.compile(&group.unit(Wanted::default(), rare(self.whole))).1)
        };
        let output = self.object.get_or_init(compile);
        compile_called(&output.object, &self.parts);
        output
    }

    fn code(&self) -> &Code {
        self.code.get_or_init(|| {
            let output = self.compiled();
            let lazy = self.group.as_ref().filter(|_| !self.whole && !output.rare.is_empty());
            let lazy = lazy.map(|group| Lazy::new(output.rare.clone(), group, &self.words, &self.store));
            let outsiders = Outsiders {
                word: Box::new(|w| self.words.get(&w).copied()),
                file: Box::new(|f| Some(self.group.as_ref()?.functions.get(f)?.file.clone())),
                lazy: Box::new(|n| lazy.as_ref()?.cell(n)),
                parts: self.parts.clone(),
            };
            let mapped = Mapped::new(&output.object, &self.function.qualname, &outsiders);
            drop(outsiders);
            Box::new(Code { mapped, _lazy: lazy })
        })
    }
}

/// Compiles those of some parts that an object calls.
pub(crate) fn compile_called(object: &[u8], parts: &[Arc<Part>]) {
    let numbers = called(object);
    for part in parts.iter().filter(|part| numbers.contains(&part.number())) {
        part.compiled();
    }
}

/// The numbers of the parts that an object calls: it has their symbols.
pub(crate) fn called(object: &[u8]) -> HashSet<u128> {
    let ends = object.windows(Outside::PART.len()).enumerate().filter(|(_, bytes)| *bytes == Outside::PART.as_bytes());
    let hex = |at: usize| std::str::from_utf8(object.get(at..at + 32)?).ok();
    ends.filter_map(|(at, _)| u128::from_str_radix(hex(at + Outside::PART.len())?, 16).ok()).collect()
}

fn rare(whole: bool) -> Rare {
    if whole { Rare::Here } else { Rare::Later }
}
