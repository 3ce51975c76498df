//! Library functions as they are when they have been typed and optimised, kept for the argument types that programs use most.
//!
//! What is kept mentions nothing of the process: functions of the stored library have the same numbers in all, calls are renumbered
//! on both ways, and what mentions anything else is left out, with what calls it.

use crate::host::Host;
use crate::report::Told;
use crate::session::Session;
use crate::{Body, Compiler, Key, SpecState, callees};
use lh_infer::Object;
use lh_ir::func::{Device, Function, Inst, MapExpr, Term};
use lh_ir::parse::Tables;
use lh_ir::{ExcId, FuncId, SpecId, Ty};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

/// A typed function. Numbers of specialisations are positions in the file.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: Vec<u8>,
    name: String,
    ret: Ty,
    func: Function,
    inlinable: Option<Function>,
    told: Told,
    summary: lh_opt::Summary,
}

#[derive(Serialize, Deserialize)]
struct Index<'a> {
    made_for: &'a str,
    /// Modules and names of exception classes that are not builtin; in functions their numbers follow those of these.
    classes: Vec<(String, String)>,
    /// Hashes of keys, sorted, with numbers.
    keys: Vec<(u64, u32)>,
    starts: Vec<u32>,
    bodies: &'a [u8],
}

/// Kept functions.
pub struct Typed {
    index: Index<'static>,
    package: String,
}

/// The key of what can be kept, the same in every process.
fn key_bytes(key: &Key) -> Option<Vec<u8>> {
    let is_plain = key.options.device == Device::Host && key.options.parallel == 0 && key.options.link == 0;
    let func = key.func.as_stored().filter(|_| is_plain)?;
    postcard::to_allocvec(&(func, &key.args, key.options)).ok()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut h = DefaultHasher::new();
    h.write(bytes);
    h.finish()
}

/// Visits the number of every specialisation that an instruction calls.
pub(crate) fn each_call(inst: &mut Inst, visit: &mut dyn FnMut(&mut SpecId)) {
    fn in_expr(e: &mut MapExpr, visit: &mut dyn FnMut(&mut SpecId)) {
        match e {
            MapExpr::Arg(..) | MapExpr::Const(_) => {}
            MapExpr::Cast(_, e) => in_expr(e, visit),
            MapExpr::Op(_, _, es) => es.iter_mut().for_each(|e| in_expr(e, visit)),
            MapExpr::Call(s, _, es) => {
                visit(s);
                es.iter_mut().for_each(|e| in_expr(e, visit));
            }
        }
    }
    match inst {
        Inst::Call(s, _) => visit(s),
        Inst::Map(e, _) | Inst::MapInto(e, _) => in_expr(e, visit),
        _ => {}
    }
}

/// Exception classes that have other numbers in every process, where a function raises them.
fn each_class(func: &mut Function) -> impl Iterator<Item = &mut ExcId> {
    let raised = func.blocks.iter_mut().filter_map(|b| match &mut b.term {
        Some(Term::Raise { exc, .. }) => Some(exc),
        _ => None,
    });
    raised.filter(|exc| exc.index() >= lh_runtime::classes::ALL.len())
}

/// A copy in which what is nowhere used has no type: it may have been an object of the process.
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
    /// What this compiler has typed of the library, for [`Typed::open`]. `package` is the directory that files are in.
    pub fn kept(&self, host: &mut dyn Host, made_for: &str, package: &str) -> Vec<u8> {
        let mut all: BTreeMap<SpecId, Kept> = BTreeMap::new();
        for (key, id) in &self.by_key {
            let state = &self.specs[id.index()];
            let Some(body) = state.body.as_ref().filter(|b| b.offsets.is_empty() && b.deps.is_empty()) else {
                continue;
            };
            let is_plain = state.is_library && body.func.bodies.is_empty();
            let Some(key) = key_bytes(key).filter(|_| is_plain) else { continue };
            let kept = Kept {
                key,
                name: state.name.rsplit_once('.').map_or("", |(base, _)| base).to_owned(),
                ret: state.ret,
                func: portable(&body.func, package),
                inlinable: body.inlinable.as_ref().map(|f| portable(f, package)),
                told: (*body.told).clone(),
                summary: (*body.summary).clone(),
            };
            if postcard::to_allocvec(&kept).is_ok() {
                all.insert(*id, kept);
            }
        }
        loop {
            let known: HashSet<SpecId> = all.keys().copied().collect();
            let before = all.len();
            all.retain(|_, k| {
                let calls = std::iter::once(&k.func).chain(&k.inlinable).flat_map(callees);
                calls.into_iter().all(|s| known.contains(&s))
            });
            if all.len() == before {
                break;
            }
        }
        // By key, so that the same library gives the same bytes.
        let mut order: Vec<(Vec<u8>, SpecId)> = all.iter().map(|(id, k)| (k.key.clone(), *id)).collect();
        order.sort();
        let numbers: BTreeMap<SpecId, u32> = order.iter().zip(0..).map(|((_, id), n)| (*id, n)).collect();
        let (mut bodies, mut starts, mut keys, mut classes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (n, (_, id)) in order.iter().enumerate() {
            let mut kept = all.remove(id).unwrap_or_else(|| lh_ir::bug!("{id} was there"));
            for f in std::iter::once(&mut kept.func).chain(&mut kept.inlinable) {
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
            keys.push((hash(&kept.key), n as u32));
            starts.push(bodies.len() as u32);
            bodies = postcard::to_extend(&kept, bodies).unwrap_or_else(|e| lh_ir::bug!("it had a form: {e}"));
        }
        keys.sort_unstable();
        let index = Index { made_for, classes, keys, starts, bodies: &bodies };
        postcard::to_allocvec(&index).unwrap_or_else(|e| lh_ir::bug!("all of it has a form: {e}"))
    }
}

impl Typed {
    /// Of what [`Compiler::kept`] has written for the same compiler; `package` is the directory that files are in.
    pub fn open(bytes: &'static [u8], made_for: &str, package: &str, tables: Tables) -> Option<Typed> {
        // Set by whoever was first.
        let _ = lh_ir::stored::TABLES.set(tables);
        let index: Index = postcard::from_bytes(bytes).ok()?;
        (index.made_for == made_for).then(|| Typed { index, package: package.to_owned() })
    }

    /// The number's function, or what it begins with.
    fn read<T: Deserialize<'static>>(&self, number: u32) -> T {
        let body = &self.index.bodies[self.index.starts[number as usize] as usize..];
        let read = postcard::take_from_bytes(body);
        read.unwrap_or_else(|e| lh_ir::bug!("typed code {number} of the library cannot be read: {e}")).0
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        let wanted = hash(key);
        let first = self.index.keys.partition_point(|(h, _)| *h < wanted);
        let same = self.index.keys[first..].iter().take_while(|(h, _)| *h == wanted);
        same.map(|(_, n)| *n).find(|n| self.read::<&[u8]>(*n) == key)
    }
}

impl Session<'_> {
    /// A library function that was typed before lancehead was packed, with what it calls.
    pub(crate) fn find_typed(&mut self, key: &Key) -> Option<SpecId> {
        let typed = self.host.typed_library()?;
        let number = typed.find(&key_bytes(key)?)?;
        Some(self.load_typed(typed, number))
    }

    fn load_typed(&mut self, typed: &'static Typed, number: u32) -> SpecId {
        if let Some(id) = self.compiler.kept.get(&number) {
            return *id;
        }
        let mut kept: Kept = typed.read(number);
        let parts = postcard::from_bytes(&kept.key);
        let (func, args, options) = parts.unwrap_or_else(|e| lh_ir::bug!("a key of the library cannot be read: {e}"));
        let key = Key { func: FuncId::stored(func), args, options };
        let id = self.compiler.by_key.get(&key).copied().unwrap_or(SpecId::new(self.compiler.specs.len()));
        self.compiler.kept.insert(number, id);
        if id.index() < self.compiler.specs.len() {
            return id;
        }
        let name = format!("{}.{}", kept.name, id.0);
        let func = key.func;
        self.compiler.by_key.insert(key, id);
        self.compiler.specs.push(SpecState { name: name.clone(), func, ret: kept.ret, body: None, is_library: true });
        for f in std::iter::once(&mut kept.func).chain(&mut kept.inlinable) {
            let insts = f.blocks.iter_mut().flat_map(|b| &mut b.insts);
            insts.for_each(|i| each_call(&mut i.inst, &mut |s| *s = self.load_typed(typed, s.0)));
            f.file = format!("{}{}", typed.package, f.file);
            f.name.clone_from(&name);
            for exc in each_class(f) {
                let (module, name) = &typed.index.classes[exc.index() - lh_runtime::classes::ALL.len()];
                let found = self.host.import(module, Some(name)).map(|o| self.host.object(o));
                let Some(Object::ExcClass(class, _)) = found else { lh_ir::bug!("there is no {module}.{name}") };
                *exc = class;
            }
        }
        self.compiler.specs[id.index()].body = Some(Body {
            callees: callees(&kept.func),
            func: Arc::new(kept.func),
            inlinable: kept.inlinable.map(Arc::new),
            deps: Vec::new(),
            told: Arc::new(kept.told),
            offsets: Vec::new(),
            summary: Arc::new(kept.summary),
        });
        id
    }
}
