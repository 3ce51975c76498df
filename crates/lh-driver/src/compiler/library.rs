//! The compiler's side of the typed library: writing functions that it has typed, and taking functions from a file.

use super::Compiler;
use super::session::Session;
use crate::host::Host;
use crate::spec::{Body, Key, Spec, callees, each_call};
use crate::typed_library::{Stored, TypedLibrary, key_bytes, write};
use lh_infer::Object;
use lh_ir::func::{Function, Term};
use lh_ir::{ExcId, FuncId, SpecId, Ty};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The exception classes that a function raises and whose numbers differ from process to process.
fn each_class(func: &mut Function) -> impl Iterator<Item = &mut ExcId> {
    let raised = func.blocks.iter_mut().filter_map(|b| match &mut b.term {
        Some(Term::Raise { exc, .. }) => Some(exc),
        _ => None,
    });
    raised.filter(|exc| exc.index() >= lh_runtime::classes::ALL.len())
}

/// A copy in which unused values have no type, because that may mention an object of the process.
fn portable(func: &Function, package: &str) -> Function {
    let mut func = func.clone();
    let mut used = HashSet::new();
    for b in &mut func.blocks {
        used.extend(b.params.iter().copied());
        for i in &mut b.insts {
            used.extend(i.result);
            i.inst.for_each_operand(|v| _ = used.insert(v));
        }
        if let Some(t) = &mut b.term {
            t.for_each_operand_mut(&mut |v| _ = used.insert(*v));
        }
        used.extend(b.unwind.iter().flat_map(|t| t.args.iter().copied()));
    }
    for (i, t) in func.values.iter_mut().enumerate() {
        if !used.contains(&lh_ir::Value::new(i)) {
            *t = Ty::none();
        }
    }
    func.file = func.file.strip_prefix(package).unwrap_or(&func.file).to_owned();
    func
}

impl Compiler {
    /// The library functions that this compiler has typed, for [`TypedLibrary::open`]. `package` is the directory that
    /// sources are in.
    pub fn export_library(&self, host: &mut dyn Host, made_for: &str, package: &str) -> Vec<u8> {
        let mut all: BTreeMap<SpecId, Stored> = BTreeMap::new();
        for (key, id) in &self.by_key {
            let spec = self.spec(*id);
            let Some(body) = spec.body.as_deref().filter(|b| b.offsets.is_empty() && b.deps.is_empty()) else {
                continue;
            };
            let is_plain = spec.is_library && body.func.bodies.is_empty();
            let Some(key) = key_bytes(key).filter(|_| is_plain) else { continue };
            let stored = Stored {
                key,
                name: spec.name.rsplit_once('.').map_or("", |(base, _)| base).to_owned(),
                ret: spec.ret,
                func: portable(&body.func, package),
                inlinable: body.inlinable.as_ref().map(|f| portable(f, package)),
                source: (*body.source).clone(),
                summary: (*body.summary).clone(),
            };
            if postcard::to_allocvec(&stored).is_ok() {
                all.insert(*id, stored);
            }
        }
        retain_closed(&mut all);
        // By key, so that the same library gives the same bytes.
        let mut order: Vec<(SpecId, Stored)> = all.into_iter().collect();
        order.sort_by(|a, b| a.1.key.cmp(&b.1.key));
        let numbers: BTreeMap<SpecId, u32> = order.iter().zip(0..).map(|((id, _), n)| (*id, n)).collect();
        let mut functions: Vec<Stored> = order.into_iter().map(|(_, stored)| stored).collect();
        let mut classes = Vec::new();
        for f in functions.iter_mut().flat_map(|s| std::iter::once(&mut s.func).chain(&mut s.inlinable)) {
            let insts = f.blocks.iter_mut().flat_map(|b| &mut b.insts);
            insts.for_each(|i| each_call(&mut i.inst, &mut |s| *s = SpecId(numbers[s])));
            f.name.clear();
            for exc in each_class(f) {
                let name = host.class_object(*exc).and_then(|o| host.name_of(o));
                let name = name.unwrap_or_else(|| lh_ir::bug!("the library raises what has no name"));
                let at = classes.iter().position(|c| *c == name);
                let at = at.unwrap_or_else(|| {
                    classes.push(name);
                    classes.len() - 1
                });
                *exc = ExcId::new(lh_runtime::classes::ALL.len() + at);
            }
        }
        write(&functions, classes, made_for)
    }
}

/// Leaves out functions that call others than these.
fn retain_closed(all: &mut BTreeMap<SpecId, Stored>) {
    loop {
        let known: HashSet<SpecId> = all.keys().copied().collect();
        all.retain(|_, s| {
            let calls = std::iter::once(&s.func).chain(&s.inlinable).flat_map(callees);
            calls.into_iter().all(|s| known.contains(&s))
        });
        if all.len() == known.len() {
            break;
        }
    }
}

impl Session<'_> {
    /// A library function that was typed before lancehead was packed, with what it calls.
    pub(super) fn find_typed(&mut self, key: &Key) -> Option<SpecId> {
        let typed = self.host.typed_library()?;
        let number = typed.find(&key_bytes(key)?)?;
        Some(self.load_typed(typed, number))
    }

    fn load_typed(&mut self, typed: &'static TypedLibrary, number: u32) -> SpecId {
        if let Some(id) = self.compiler.from_library.get(&number) {
            return *id;
        }
        let mut stored: Stored = typed.read(number);
        let parts = postcard::from_bytes(&stored.key);
        let (func, args, options) = parts.unwrap_or_else(|e| lh_ir::bug!("a key of the library cannot be read: {e}"));
        let key = Key { func: FuncId::stored(func), args, options };
        let id = self.compiler.by_key.get(&key).copied().unwrap_or(SpecId::new(self.compiler.specs.len()));
        self.compiler.from_library.insert(number, id);
        if id.index() < self.compiler.specs.len() {
            return id;
        }
        let name = format!("{}.{}", stored.name, id.0);
        let func = key.func;
        self.compiler.by_key.insert(key, id);
        let (ret, body, is_library, scope) = (stored.ret, None, true, 0);
        self.compiler.specs.push(Spec { name: name.clone(), func, ret, body, is_library, scope });
        for f in std::iter::once(&mut stored.func).chain(&mut stored.inlinable) {
            let insts = f.blocks.iter_mut().flat_map(|b| &mut b.insts);
            insts.for_each(|i| each_call(&mut i.inst, &mut |s| *s = self.load_typed(typed, s.0)));
            f.file = typed.path(&f.file);
            f.name.clone_from(&name);
            for exc in each_class(f) {
                let (module, name) = typed.class(exc.index() - lh_runtime::classes::ALL.len());
                let found = self.host.import(module, Some(name)).map(|o| self.host.object(o));
                let Some(Object::ExcClass(class, _)) = found else { lh_ir::bug!("there is no {module}.{name}") };
                *exc = class;
            }
        }
        self.compiler.specs[id.index()].body = Some(Box::new(Body {
            primal: None,
            callees: callees(&stored.func),
            func: Arc::new(stored.func),
            inlinable: stored.inlinable.map(Arc::new),
            deps: Vec::new(),
            source: Arc::new(stored.source),
            offsets: Vec::new(),
            summary: Arc::new(stored.summary),
        }));
        id
    }
}
