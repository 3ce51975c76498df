//! The state of the compiler: everything typed so far, for one Python interpreter.

use super::parts::Split;
use super::ptx::LinkedFunctions;
use crate::code::objects::ObjectStore;
use crate::code::part::Part;
use crate::compiled::Called;
use crate::digest::Digest;
use crate::host::{Host, Inherited};
use crate::spec::{Body, Dep, Key, Spec};
use lh_ir::class::Binding;
use lh_ir::diag::Diagnostic;
use lh_ir::func::{Device, Function, Options};
use lh_ir::{FuncId, SpecId, TyKind};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// So many scopes end before it is looked for what is gone.
const SWEEP: usize = 256;

/// A compiler with more specialisations that are gone starts again.
const MANY: usize = 8192;

/// The compiler: everything typed so far, for one Python interpreter.
#[derive(Default)]
pub struct Compiler {
    pub(super) specs: Vec<Spec>,
    pub(super) by_key: HashMap<Key, SpecId>,
    pub(super) codes: HashMap<FuncId, Arc<lh_ir::untyped::Code>>,
    pub(super) infos: HashMap<FuncId, lh_infer::FuncInfo>,
    pub(super) own_options: HashMap<FuncId, Option<(Options, Inherited)>>,
    pub(super) inner: HashMap<(FuncId, u32), FuncId>,
    pub(super) parents: HashMap<FuncId, (FuncId, u32)>,
    /// Functions whose captured variables are parameters: the function as it was, and which variables.
    pub(super) lifted: HashMap<FuncId, (FuncId, u64)>,
    /// Functions of the typed library that have been read, by their numbers there.
    pub(super) from_library: HashMap<u32, SpecId>,
    pub(super) library: HashMap<String, Option<(FuncId, Binding)>>,
    pub(super) derivatives: lh_grad::Derivatives,
    /// Functions of linked PTX, by its text and the kind of device.
    pub(super) linked: HashMap<(String, Device), LinkedFunctions>,
    /// Variables of linked PTX, whose addresses are in code.
    pub(super) variables: Vec<lh_ptx::Variable>,
    /// Functions of the library that are units of their own, and whether their objects have all of them.
    pub(super) parts: HashMap<(SpecId, bool), Arc<Part>>,
    /// By function: those that are compiled together with it, and those that it calls.
    pub(super) splits: HashMap<SpecId, Option<Arc<Split>>>,
    pub(super) sites: HashMap<SpecId, Arc<[(SpecId, bool)]>>,
    /// Warnings of passes that have been undone.
    undone: Mutex<Vec<Diagnostic>>,
    /// Objects of modules.
    pub(super) objects: Arc<ObjectStore>,
    /// The parts by the digests of their modules.
    pub(super) known_parts: HashMap<(Digest, bool), Arc<Part>>,
    /// The number of ended scopes from which on it is looked for what is gone.
    next_sweep: usize,
}

impl Compiler {
    /// An empty compiler that takes objects from a store.
    pub fn new(objects: Arc<ObjectStore>) -> Compiler {
        Compiler { objects, ..Compiler::default() }
    }

    /// Warnings, of passes that have been undone since this was asked last.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(self.undone.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps warnings of passes that have been undone until they are asked for.
    pub(super) fn warn(&self, warnings: impl IntoIterator<Item = Diagnostic>) {
        self.undone.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
    }

    pub(super) fn spec(&self, s: SpecId) -> &Spec {
        &self.specs[s.index()]
    }

    pub(super) fn body(&self, s: SpecId) -> &Body {
        self.spec(s).body.as_deref().unwrap_or_else(|| lh_ir::bug!("{s} has no body"))
    }

    /// Calls a function with what passes may know of the callees of a specialisation.
    pub(super) fn with_known<R>(&self, spec: SpecId, f: impl FnOnce(&lh_opt::pipeline::Known<'_>) -> R) -> R {
        let body = |s: SpecId| self.specs[s.index()].body.as_deref();
        f(&lh_opt::pipeline::Known {
            bodies: &|s| body(s).and_then(|b| b.inlinable.clone()),
            summaries: &|s| body(s).map(|b| b.summary.clone()),
            spec,
        })
    }

    /// Specialisations and all that they call, callers first. One that is still being typed calls nothing yet.
    pub(super) fn reachable(&self, entries: &[SpecId]) -> Vec<SpecId> {
        self.reached(entries, |_| [])
    }

    /// A specialisation, all that it calls, and the functions of rules by which those are differentiated.
    pub(super) fn relied_on(&self, entry: SpecId) -> Vec<SpecId> {
        self.reached(&[entry], |s| self.derivatives.functions_of_rule(s))
    }

    fn reached<I: IntoIterator<Item = SpecId>>(&self, entries: &[SpecId], more: impl Fn(SpecId) -> I) -> Vec<SpecId> {
        let mut order = entries.to_vec();
        let mut seen: HashSet<SpecId> = order.iter().copied().collect();
        let mut at = 0;
        while at < order.len() {
            let callees = self.spec(order[at]).body.iter().flat_map(|b| b.callees.iter().copied());
            let next: Vec<SpecId> = callees.chain(more(order[at])).filter(|c| seen.insert(*c)).collect();
            order.extend(next);
            at += 1;
        }
        order
    }

    /// The names of specialisations.
    pub(super) fn names(&self, order: &[SpecId]) -> HashMap<SpecId, String> {
        order.iter().map(|s| (*s, self.spec(*s).name.clone())).collect()
    }

    /// Everything that specialisations depend on, each once.
    pub(super) fn deps(&self, order: &[SpecId]) -> Vec<Dep> {
        let mut deps: Vec<Dep> = order.iter().flat_map(|s| self.body(*s).deps.clone()).collect();
        deps.sort_by_key(|d| format!("{d:?}"));
        deps.dedup();
        deps
    }

    /// The first of the user's functions in each source file.
    pub(super) fn files(&self, functions: &[Arc<Function>], order: &[SpecId]) -> Vec<(usize, FuncId)> {
        let is_first = |i: &usize| functions[..*i].iter().all(|f| f.file != functions[*i].file);
        let users = (0..functions.len()).filter(|i| !functions[*i].is_library);
        users.filter(is_first).map(|i| (i, self.spec(order[i]).func)).collect()
    }

    /// The user's among functions that are called.
    pub(super) fn called(&self, order: &[SpecId]) -> Vec<Called> {
        let next = |s: &SpecId| match self.spec(*s).ret.kind() {
            TyKind::Generator(g) => Some(g.next),
            _ => None,
        };
        let nexts: HashSet<SpecId> = order.iter().filter_map(next).collect();
        let of = |s: SpecId| {
            let spec = self.spec(s);
            Called { function: spec.func, args: self.body(s).source.args(), ret: spec.ret }
        };
        order.iter().filter(|s| !self.spec(**s).is_library && !nexts.contains(s)).map(|s| of(*s)).collect()
    }

    /// Begins a compilation: forgets what may have changed, and what is of functions that are gone.
    pub(super) fn begin(&mut self, host: &mut dyn Host) {
        self.infos.retain(|_, i| i.is_library);
        self.own_options.retain(|f, _| f.as_stored().is_some());
        let ended = host.ended();
        if ended >= self.next_sweep {
            self.sweep(host);
            self.next_sweep = ended + SWEEP + self.by_key.len() / 4;
        }
    }

    /// Forgets specialisations whose objects nobody holds, and functions that are gone.
    fn sweep(&mut self, host: &mut dyn Host) {
        let is_gone: Vec<bool> = self.specs.iter().map(|s| !host.is_held(s.scope)).collect();
        let gone = is_gone.iter().filter(|gone| **gone).count();
        if gone > MANY && 2 * gone > is_gone.len() && self.variables.is_empty() {
            // Their places are freed with all others; those that are needed are typed again.
            let (objects, known_parts) = (self.objects.clone(), std::mem::take(&mut self.known_parts));
            let undone = std::mem::take(&mut self.undone);
            *self = Compiler { known_parts, undone, ..Compiler::new(objects) };
            return;
        }
        for (spec, _) in self.specs.iter_mut().zip(&is_gone).filter(|(_, gone)| **gone) {
            (spec.name, spec.body) = (String::new(), None);
        }
        self.by_key.retain(|_, id| !is_gone[id.index()]);
        self.parts.retain(|(id, _), _| !is_gone[id.index()]);
        self.splits.retain(|id, _| !is_gone[id.index()]);
        self.sites.retain(|id, _| !is_gone[id.index()]);
        self.derivatives.forget(|id| is_gone[id.index()]);
        let mut is_alive = |f: &FuncId| host.is_alive(*f);
        self.codes.retain(|f, _| is_alive(f));
        self.inner.retain(|(f, _), _| is_alive(f));
        self.parents.retain(|f, _| is_alive(f));
        self.lifted.retain(|f, _| is_alive(f));
    }
}
