//! Functions of the library that are units of their own.
//!
//! A function is one if it is the library's with all that it calls, if it is large enough to repay a call, and if
//! programs call it outside of loops. In a loop a call counts, and LLVM may hoist parts of a function. Functions that
//! the library itself calls get arrays of which only their callers know that they do not overlap. Units are the same in
//! all programs that use them with the same types, so that their objects are shared between programs, by the store of
//! objects, and between the functions of a program.

use super::Compiler;
use crate::code::group::Group;
use crate::code::part::Part;
use crate::code::shipped;
use crate::host::Host;
use crate::spec;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Device, Function, Inst, Options};
use lh_ir::switches::is_off;
use lh_ir::{Block, ObjId, SpecId, Ty, TyKind};
use lh_llvm::Level;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The least number of instructions, with those of the functions that are compiled with it, of a unit.
const LARGE: usize = 120;

/// The same of one with loops.
const LARGE_WITH_LOOP: usize = 40;

/// The same of one that is called in a loop or by the library.
const LARGE_ANYWHERE: usize = 600;

/// The functions that are compiled together with one.
#[derive(Default)]
pub(super) struct Split {
    /// They, that one first.
    own: Vec<SpecId>,
    /// The units of their own that these call.
    called: Vec<SpecId>,
}

/// The functions that one calls, each with whether that happens in a loop.
type Sites = Arc<[(SpecId, bool)]>;

impl Compiler {
    /// The specialisations that are compiled together with an entry, which comes first, and the parts that they call.
    pub(super) fn own_and_parts(
        &mut self,
        host: &mut dyn Host,
        entry: SpecId,
        whole: bool,
    ) -> (Vec<SpecId>, Vec<(SpecId, Arc<Part>)>) {
        let split = self.split(entry).unwrap_or_default();
        let parts = split.called.iter().map(|s| (*s, self.part(host, *s, whole))).collect();
        (split.own.clone(), parts)
    }

    /// The file of the objects of the units that functions need for types of arguments, for levels of processors; it is
    /// read by [`crate::Shipped::open`]. Functions that cannot be typed are passed over.
    pub fn export_objects(&mut self, host: &mut dyn Host, functions: &[(ObjId, Vec<Ty>)], levels: &[Level]) -> Vec<u8> {
        let (mut parts, mut objects) = (HashMap::new(), shipped::Named::new());
        for (f, args) in functions {
            if let Ok((entry, _)) = self.specialise(host, *f, args, Options::default(), None) {
                let split = self.split(entry).unwrap_or_default();
                split.called.iter().for_each(|s| drop(self.part_for_file(*s, levels, &mut parts, &mut objects)));
            }
        }
        shipped::write(objects)
    }

    fn part_for_file(
        &mut self,
        spec: SpecId,
        levels: &[Level],
        parts: &mut HashMap<SpecId, Arc<Part>>,
        objects: &mut shipped::Named,
    ) -> Arc<Part> {
        if let Some(part) = parts.get(&spec) {
            return part.clone();
        }
        let split = self.split(spec).unwrap_or_default();
        let called = split.called.iter().map(|s| (*s, self.part_for_file(*s, levels, parts, objects))).collect();
        let (part, made) = Part::for_file(self.group(&split.own, called), levels);
        objects.extend(made.into_iter().map(|(key, object)| (part.function.qualname.clone(), key, object)));
        parts.entry(spec).or_insert(Arc::new(part)).clone()
    }

    fn group(&self, own: &[SpecId], parts: Vec<(SpecId, Arc<Part>)>) -> Group {
        let functions: Vec<Arc<Function>> = own.iter().map(|s| self.body(*s).func.clone()).collect();
        Group::of_part(functions, self.names(own), parts)
    }

    /// A function as a unit of its own, compiled on first use.
    fn part(&mut self, host: &mut dyn Host, spec: SpecId, whole: bool) -> Arc<Part> {
        if let Some(part) = self.parts.get(&(spec, whole)) {
            return part.clone();
        }
        let split = self.split(spec).unwrap_or_default();
        let parts = split.called.iter().map(|s| (*s, self.part(host, *s, whole))).collect();
        let group = self.group(&split.own, parts);
        let words = group.values(|w| host.word(w));
        let part = Part::new(group, words, &self.objects, whole);
        let known = self.known_parts.get(&(part.name(), whole)).filter(|known| known.has_words_of(&part)).cloned();
        let part = known.unwrap_or_else(|| Arc::new(part));
        self.known_parts.insert((part.name(), whole), part.clone());
        self.parts.insert((spec, whole), part.clone());
        part
    }

    /// The functions that are compiled together with one; `None` while they are being found.
    fn split(&mut self, spec: SpecId) -> Option<Arc<Split>> {
        if let Some(known) = self.splits.get(&spec) {
            return known.clone();
        }
        self.splits.insert(spec, None);
        let mut split = Split { own: vec![spec], called: Vec::new() };
        // By function: whether it is called in a loop or by the library.
        let mut hot = HashMap::from([(spec, false)]);
        let mut work = VecDeque::from([spec]);
        while let Some(s) = work.pop_front() {
            for (callee, in_loop) in &*self.sites(s) {
                let is_hot = *in_loop || hot[&s] || self.spec(s).is_library;
                let known = hot.get(callee).copied();
                if known.is_none() && self.is_apart(*callee, is_hot) {
                    if !split.called.contains(callee) {
                        split.called.push(*callee);
                    }
                } else if known.is_none_or(|known| is_hot && !known) {
                    if known.is_none() {
                        split.own.push(*callee);
                    }
                    hot.insert(*callee, is_hot);
                    work.push_back(*callee);
                }
            }
        }
        split.called.retain(|s| !hot.contains_key(s));
        let split = Arc::new(split);
        self.splits.insert(spec, Some(split.clone()));
        Some(split)
    }

    fn sites(&mut self, spec: SpecId) -> Sites {
        if let Some(known) = self.sites.get(&spec) {
            return known.clone();
        }
        let body = self.body(spec);
        let sites = sites(&body.func, &body.callees);
        self.sites.insert(spec, sites.clone());
        sites
    }

    /// Whether a function is a unit of its own where it is called, which is hot or not.
    fn is_apart(&mut self, spec: SpecId, is_hot: bool) -> bool {
        let (of, func) = (self.spec(spec), &self.body(spec).func);
        let is_possible = of.is_library && func.options.device == Device::Host && !func.options.callback;
        if is_off("parts") || !is_possible || of.ret.is_never() {
            return false;
        }
        let has_generators = |t: Ty| matches!(t.kind(), TyKind::Generator(_));
        if has_generators(of.ret) || func.params().iter().any(|p| has_generators(func.ty(*p))) {
            return false;
        }
        let Some(split) = self.split(spec) else { return false };
        let is_shared = |s: &SpecId| self.spec(*s).is_library && self.body(*s).deps.is_empty();
        let calls_itself = || split.own.iter().any(|s| self.body(*s).callees.contains(&spec));
        split.own.iter().all(is_shared) && !calls_itself() && self.is_large(&split.own, is_hot)
    }

    /// Whether a group of functions repays a call: one with loops sooner than another, which may become next to nothing
    /// where it is inlined.
    fn is_large(&self, group: &[SpecId], is_hot: bool) -> bool {
        let functions = || group.iter().flat_map(|s| self.body(*s).func.with_bodies());
        let size: usize = functions().flat_map(|f| &f.blocks).map(|b| b.insts.len() + 1).sum();
        match is_hot {
            true => size >= LARGE_ANYWHERE,
            false => size >= LARGE || size >= LARGE_WITH_LOOP && functions().any(|f| !looping(f).is_empty()),
        }
    }
}

/// The blocks of a function that are in loops, but for cold ones.
fn looping(func: &Function) -> HashSet<Block> {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    loops.into_iter().flat_map(|l| l.blocks).filter(|b| !func.blocks[b.index()].cold).collect()
}

/// The functions that one calls, with whether that happens in a loop; functions that others call for it (those of
/// generators) and bodies of parallel loops count as in one.
fn sites(func: &Function, callees: &[SpecId]) -> Sites {
    let looping = looping(func);
    let mut outside = HashSet::new();
    let mut inside: HashSet<SpecId> = func.with_bodies().into_iter().skip(1).flat_map(spec::callees).collect();
    for (at, b) in func.blocks.iter().enumerate() {
        for d in &b.insts {
            if let Inst::Call(spec, _) = &d.inst {
                if looping.contains(&Block::new(at)) { &mut inside } else { &mut outside }.insert(*spec);
            }
        }
    }
    callees.iter().map(|s| (*s, inside.contains(s) || !outside.contains(s))).collect()
}
