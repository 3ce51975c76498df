//! Functions of the library that are units of their own.
//!
//! A function is one if it is the library's with all that it calls, and so large that its call costs nothing beside it:
//! such functions are the same in all programs that use them with the same types, so that their objects are shared
//! between programs, by the store of objects, and between the functions of a program.

use super::Compiler;
use crate::code::group::Group;
use crate::code::part::Part;
use crate::code::shipped;
use crate::digest::Digest;
use crate::host::Host;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Device, Function, Options};
use lh_ir::{ObjId, SpecId, Ty, TyKind};
use lh_llvm::Level;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The least number of instructions, with those of the functions that are compiled with it, of a unit.
const LARGE: usize = 120;

/// The same of one with loops.
const LARGE_WITH_LOOP: usize = 40;

impl Compiler {
    /// The specialisations that are compiled together with an entry, which comes first, and the parts that they call.
    pub(super) fn own_and_parts(
        &mut self,
        host: &mut dyn Host,
        entry: SpecId,
        whole: bool,
    ) -> (Vec<SpecId>, Vec<(SpecId, Arc<Part>)>) {
        let apart = self.apart(entry);
        let (own, called) = self.group_of(entry, &apart);
        (own, called.into_iter().map(|s| (s, self.part(host, s, &apart, whole))).collect())
    }

    /// The file of the objects of the units that functions need for types of arguments, for levels of processors; it is
    /// read by [`crate::Shipped::open`]. Functions that cannot be typed are passed over.
    pub fn export_objects(&mut self, host: &mut dyn Host, functions: &[(ObjId, Vec<Ty>)], levels: &[Level]) -> Vec<u8> {
        let (mut parts, mut objects) = (HashMap::new(), BTreeMap::new());
        for (f, args) in functions {
            if let Ok((entry, _)) = self.specialise(host, *f, args, Options::default(), None) {
                let apart = self.apart(entry);
                let called = self.group_of(entry, &apart).1;
                called.into_iter().for_each(|s| drop(self.part_for_file(s, &apart, levels, &mut parts, &mut objects)));
            }
        }
        shipped::write(&objects)
    }

    fn part_for_file(
        &self,
        spec: SpecId,
        apart: &HashSet<SpecId>,
        levels: &[Level],
        parts: &mut HashMap<SpecId, Arc<Part>>,
        objects: &mut BTreeMap<Digest, Vec<u8>>,
    ) -> Arc<Part> {
        if let Some(part) = parts.get(&spec) {
            return part.clone();
        }
        let (own, called) = self.group_of(spec, apart);
        let called = called.into_iter().map(|s| (s, self.part_for_file(s, apart, levels, parts, objects))).collect();
        let (part, made) = Part::for_file(self.group(&own, called), levels);
        objects.extend(made);
        parts.entry(spec).or_insert(Arc::new(part)).clone()
    }

    /// The functions that are units of their own among those that an entry reaches.
    fn apart(&self, entry: SpecId) -> HashSet<SpecId> {
        let order = self.callees_first(entry);
        let resumed = self.resumed(&order);
        let mut apart = HashSet::new();
        for s in order {
            if s != entry && !resumed.contains(&s) && self.is_apart(s, &apart) {
                apart.insert(s);
            }
        }
        apart
    }

    fn group(&self, own: &[SpecId], parts: Vec<(SpecId, Arc<Part>)>) -> Group {
        let functions: Vec<Arc<Function>> = own.iter().map(|s| self.body(*s).func.clone()).collect();
        Group::of_part(functions, self.names(own), parts)
    }

    /// A function as a unit of its own, compiled on first use.
    fn part(&mut self, host: &mut dyn Host, spec: SpecId, apart: &HashSet<SpecId>, whole: bool) -> Arc<Part> {
        if let Some(part) = self.parts.get(&(spec, whole)) {
            return part.clone();
        }
        let (own, called) = self.group_of(spec, apart);
        let parts = called.into_iter().map(|s| (s, self.part(host, s, apart, whole))).collect();
        let group = self.group(&own, parts);
        let words = group.values(|w| host.word(w));
        let part = Arc::new(Part::new(group, words, &self.objects, whole));
        self.parts.insert((spec, whole), part.clone());
        part
    }

    /// All that a function reaches, each after what it calls, but for those that call each other.
    fn callees_first(&self, entry: SpecId) -> Vec<SpecId> {
        let (mut order, mut seen) = (Vec::new(), HashSet::from([entry]));
        let mut work = vec![(entry, self.body(entry).callees.iter())];
        while let Some((s, rest)) = work.last_mut() {
            match rest.next() {
                Some(c) if seen.insert(*c) => work.push((*c, self.body(*c).callees.iter())),
                Some(_) => {}
                None => {
                    order.push(*s);
                    work.pop();
                }
            }
        }
        order
    }

    /// The functions that are compiled together with one, which comes first, and those apart that they call.
    fn group_of(&self, entry: SpecId, apart: &HashSet<SpecId>) -> (Vec<SpecId>, Vec<SpecId>) {
        let (mut own, mut called, mut at) = (vec![entry], Vec::new(), 0);
        while at < own.len() {
            for c in &self.body(own[at]).callees {
                let list = if apart.contains(c) { &mut called } else { &mut own };
                if !list.contains(c) {
                    list.push(*c);
                }
            }
            at += 1;
        }
        (own, called)
    }

    /// Whether a function is a unit of its own, where some that it calls may be.
    fn is_apart(&self, spec: SpecId, apart: &HashSet<SpecId>) -> bool {
        let (of, func) = (self.spec(spec), &self.body(spec).func);
        if !of.is_library || func.options.device != Device::Host || func.options.callback || of.ret.is_never() {
            return false;
        }
        let has_generators = |t: Ty| matches!(t.kind(), TyKind::Generator(_));
        if has_generators(of.ret) || func.params().iter().any(|p| has_generators(func.ty(*p))) {
            return false;
        }
        let (own, _) = self.group_of(spec, apart);
        let is_shared = |s: &SpecId| self.spec(*s).is_library && self.body(*s).deps.is_empty();
        let calls_itself = || own.iter().any(|s| self.body(*s).callees.contains(&spec));
        own.iter().all(is_shared) && !calls_itself() && self.is_large(&own)
    }

    /// Whether a group of functions repays a call: one with loops sooner than another, which may become next to nothing
    /// where it is inlined.
    fn is_large(&self, group: &[SpecId]) -> bool {
        let functions = || group.iter().flat_map(|s| self.body(*s).func.with_bodies());
        let size: usize = functions().flat_map(|f| &f.blocks).map(|b| b.insts.len() + 1).sum();
        size >= LARGE || size >= LARGE_WITH_LOOP && functions().any(has_loop)
    }

    /// The functions of generators that others resume or close.
    fn resumed(&self, order: &[SpecId]) -> HashSet<SpecId> {
        let next = |t: &Ty| if let TyKind::Generator(g) = t.kind() { Some(g.next) } else { None };
        order.iter().flat_map(|s| self.body(*s).func.values.iter().filter_map(next).collect::<Vec<_>>()).collect()
    }
}

/// Whether a function has a loop.
fn has_loop(func: &Function) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    !Loops::new(func, &cfg, &dom).loops.is_empty()
}
