//! Compiled code that outlives the process.
//!
//! A [`Request`] has a key: the hash of the function, its argument types, the options and the environment (compiler,
//! library, processor). Files of that key are candidates; each lists everything else that was read while it was compiled, and
//! fits if all of that is there and equal now. So an entry cannot be wrong, whatever has changed, wherever it is.

mod digest;
mod entry;
mod store;
mod types;

pub use digest::{Digest, Hasher, blake2b};
pub use entry::{Entry, Facts, Place, Step};
pub use store::{CODE, INDEX, distrust, list, save};

use crate::host::Host;
use crate::{Compiled, Dep, Image};
use entry::Reader;
use lh_infer::Object;
use lh_ir::func::{Extern, Options};
use lh_ir::{ObjId, Ty};
use std::collections::HashMap;
use types::Types;

/// What is looked for.
pub struct Request<'a> {
    /// The function, as the dispatcher knows it.
    pub function: ObjId,
    /// Argument types.
    pub args: &'a [Ty],
    /// Options of the decorator.
    pub options: Options,
    /// Compiler, library, processor.
    pub environment: Digest,
}

impl Request<'_> {
    /// The key; `None` if something in it has no hash.
    pub fn key(&self, host: &mut dyn Host) -> Option<Digest> {
        let mut h = Hasher::new("request");
        h.digest(&self.environment);
        h.digest(&host.digest(self.function)?);
        h.text(&format!("{:?}", self.options));
        let mut types = Types::default();
        self.args.iter().try_for_each(|t| types.add(host, *t))?;
        h.bytes(&types.out.0);
        for o in &types.mentioned {
            h.digest(&host.digest(*o)?);
        }
        Some(h.finish())
    }

    /// Objects in the argument types.
    fn mentioned(&self, host: &mut dyn Host) -> Option<Vec<ObjId>> {
        let mut types = Types::default();
        self.args.iter().try_for_each(|t| types.add(host, *t))?;
        Some(types.mentioned)
    }

    /// The code of an entry, if all that it depends on is as it was.
    pub fn load(&self, host: &mut dyn Host, entry: &Entry) -> Option<Compiled> {
        let mentioned = self.mentioned(host)?;
        let mut found: Vec<Option<ObjId>> = Vec::with_capacity(entry.steps.len());
        let mut deps = Vec::new();
        for step in &entry.steps {
            let o = self.find(host, &found, &mentioned, &step.place, &mut deps)?;
            let digest = match o {
                Some(o) => Some(host.digest(o)?),
                None => None,
            };
            if digest != step.digest {
                return None;
            }
            found.push(o);
        }
        let at = |step: &u32| found.get(*step as usize).copied().flatten();
        // The result type names steps.
        let all: Vec<ObjId> = found.iter().map(|o| o.unwrap_or(self.function)).collect();
        let ret = types::read(&mut Reader(&entry.ret), host, &all)?;
        let mut words = HashMap::new();
        for (what, step) in &entry.words {
            words.insert(*what, word_of(host, *what, at(step)?)?);
        }
        let mut files = HashMap::new();
        for (file, step) in &entry.files {
            files.insert(*file as usize, host.file(at(step)?));
        }
        let image = Image::load(&entry.object, &|w| words.get(&w).copied(), &|f| files.get(&f).cloned());
        Some(Compiled::loaded(image, self.args, ret, deps, entry.escapes, entry.object.len()))
    }

    /// The object at a place. `None`: there is no such place; `Some(None)`: it is empty.
    fn find(
        &self,
        host: &mut dyn Host,
        found: &[Option<ObjId>],
        mentioned: &[ObjId],
        place: &Place,
        deps: &mut Vec<Dep>,
    ) -> Option<Option<ObjId>> {
        let parent = |n: &u32| found.get(*n as usize).copied().flatten();
        let function = |host: &mut dyn Host, n: &u32| match host.object(parent(n)?) {
            Object::Func(f) => Some(f),
            _ => None,
        };
        Some(match place {
            Place::Root => Some(self.function),
            Place::Argument(n) => Some(*mentioned.get(*n as usize)?),
            Place::Global(f, name) => {
                let func = function(host, f)?;
                let value = host.global(func, name);
                deps.push(Dep::Global { func, name: name.clone(), value });
                value
            }
            Place::Free(f, index) => {
                let func = function(host, f)?;
                let value = host.free(func, *index);
                deps.push(Dep::Free { func, index: *index, value });
                value
            }
            Place::Attribute(o, name) => {
                let object = parent(o)?;
                let value = host.attr(object, name);
                deps.push(Dep::Attribute { object, name: name.clone(), value });
                value
            }
            Place::Import(name, attr) => {
                let value = host.import(name, attr.as_deref());
                deps.push(Dep::Import { name: name.clone(), attr: attr.clone(), value });
                value
            }
            Place::Part(o, index) => Some(*parts(host, parent(o)?).get(*index as usize)?),
        })
    }

    /// An entry for what has just been compiled; `None` if something in it cannot be found again or has changed.
    pub fn entry(&self, host: &mut dyn Host, compiled: &Compiled, mut facts: Facts) -> Option<Entry> {
        // How a kernel is launched is not in an entry.
        if compiled.kernel.is_some() {
            return None;
        }
        let key = self.key(host)?;
        let mut steps = Steps::new(self.function, &self.mentioned(host)?);
        steps.add_deps(host, &compiled.deps)?;
        let mut words = Vec::new();
        for what in compiled.words() {
            let object = match what {
                Extern::Array(o) => o,
                Extern::Class(c) => host.class_object(c)?,
            };
            words.push((what, steps.place(host, object)?));
        }
        let mut files = Vec::new();
        for (number, func) in compiled.files() {
            let function = host.function_object(func);
            files.push((number as u32, steps.place(host, function)?));
        }
        let mut ret = Types::default();
        ret.add(host, compiled.ret)?;
        let ret = renumber(host, compiled.ret, &ret.mentioned, &mut steps)?;
        let mut entry_steps = Vec::new();
        for (place, object) in &steps.list {
            let digest = match object {
                Some(o) => Some(host.digest(*o)?),
                None => None,
            };
            entry_steps.push(Step { place: place.clone(), digest });
        }
        if !compiled.deps.iter().all(|d| crate::is_current(host, d)) {
            return None;
        }
        if facts.signature.is_empty() {
            let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
            facts.signature = format!("({}) -> {}", args.join(", "), compiled.ret);
        }
        let object = compiled.object.clone();
        Some(Entry { key, facts, steps: entry_steps, words, files, ret, escapes: compiled.escapes, object })
    }
}

/// The number that code gets for an object.
fn word_of(host: &mut dyn Host, what: Extern, object: ObjId) -> Option<u64> {
    match what {
        Extern::Array(_) => Some(host.word(Extern::Array(object))),
        Extern::Class(_) => match host.object(object) {
            Object::ExcClass(c, _) => Some(host.word(Extern::Class(c))),
            _ => None,
        },
    }
}

/// Objects inside an object: items, defaults.
fn parts(host: &mut dyn Host, o: ObjId) -> Vec<ObjId> {
    match host.object(o) {
        Object::Tuple(items, _) | Object::List(items) => items,
        Object::Func(_) => host.defaults(o),
        Object::Ufunc(u) => vec![host.function_object(u.func)],
        Object::Stencil(s) => s.cval.into_iter().chain([host.function_object(s.func)]).collect(),
        _ => Vec::new(),
    }
}

/// The type as bytes, with the numbers of steps for the objects in it.
fn renumber(host: &mut dyn Host, ty: Ty, mentioned: &[ObjId], steps: &mut Steps) -> Option<Vec<u8>> {
    let mut out = Types::default();
    for o in mentioned {
        steps.place(host, *o)?;
    }
    // Mentioned objects are numbered by their first mention, so naming all steps first makes the numbers theirs.
    out.mentioned = steps.list.iter().map(|(_, o)| o.unwrap_or(ObjId(u32::MAX))).collect();
    out.add(host, ty)?;
    Some(out.out.0)
}

/// Steps in the making.
struct Steps {
    list: Vec<(Place, Option<ObjId>)>,
    known: HashMap<ObjId, u32>,
}

impl Steps {
    fn new(function: ObjId, mentioned: &[ObjId]) -> Steps {
        let mut s = Steps { list: Vec::new(), known: HashMap::new() };
        s.push(Place::Root, Some(function));
        for (i, o) in mentioned.iter().enumerate() {
            s.push(Place::Argument(i as u32), Some(*o));
        }
        s
    }

    fn push(&mut self, place: Place, object: Option<ObjId>) -> u32 {
        let n = self.list.len() as u32;
        self.list.push((place, object));
        if let Some(o) = object {
            self.known.entry(o).or_insert(n);
        }
        n
    }

    /// Adds what was read, each after the object it was read of; `None` if that object cannot be found again.
    fn add_deps(&mut self, host: &mut dyn Host, deps: &[Dep]) -> Option<()> {
        let mut left: Vec<&Dep> = deps.iter().collect();
        while !left.is_empty() {
            let before = left.len();
            left.retain(|d| !self.add_dep(host, d));
            if left.len() < before {
                continue;
            }
            // What is left was read of objects inside others.
            for d in &left {
                if let Some(owner) = owner(host, d) {
                    if self.place(host, owner).is_none() && !matches!(d, Dep::Attribute { .. }) {
                        return None;
                    }
                }
            }
            let unchanged = left.len();
            left.retain(|d| !self.add_dep(host, d));
            if left.len() == unchanged {
                // Attributes of what was computed while compiling (`np.finfo(...)`) are as certain as it is.
                return Some(());
            }
        }
        Some(())
    }

    fn add_dep(&mut self, host: &mut dyn Host, d: &Dep) -> bool {
        let at = match owner(host, d) {
            Some(o) => match self.known.get(&o) {
                Some(n) => *n,
                None => return false,
            },
            None => 0,
        };
        let (place, value) = match d {
            Dep::Global { name, value, .. } => (Place::Global(at, name.clone()), value),
            Dep::Free { index, value, .. } => (Place::Free(at, *index), value),
            Dep::Attribute { name, value, .. } => (Place::Attribute(at, name.clone()), value),
            Dep::Import { name, attr, value } => (Place::Import(name.clone(), attr.clone()), value),
        };
        self.push(place, *value);
        true
    }

    /// The step at which an object is found, added if it is a part of what others find.
    fn place(&mut self, host: &mut dyn Host, object: ObjId) -> Option<u32> {
        if let Some(n) = self.known.get(&object) {
            return Some(*n);
        }
        let mut at = 0;
        // Parts of parts come into reach as the list grows; it ends because objects are added once.
        let mut reach: Vec<(Place, ObjId, Option<usize>)> =
            self.list.iter().enumerate().filter_map(|(i, (p, o))| Some((p.clone(), (*o)?, Some(i)))).collect();
        let mut parents: Vec<Option<usize>> = vec![None; reach.len()];
        let mut seen: std::collections::HashSet<ObjId> = reach.iter().map(|(_, o, _)| *o).collect();
        while at < reach.len() {
            let owner = reach[at].1;
            for (i, part) in parts(host, owner).into_iter().enumerate() {
                if seen.insert(part) {
                    reach.push((Place::Part(0, i as u32), part, None));
                    parents.push(Some(at));
                }
                if part == object {
                    return Some(self.add_path(&reach, &parents, reach.len() - 1));
                }
            }
            at += 1;
        }
        None
    }

    /// Adds the steps from a known object to one in reach.
    fn add_path(&mut self, reach: &[(Place, ObjId, Option<usize>)], parents: &[Option<usize>], at: usize) -> u32 {
        let (place, object, known) = &reach[at];
        if let Some(n) = known {
            return *n as u32;
        }
        let parent = parents[at].map_or(0, |p| self.add_path(reach, parents, p));
        let Place::Part(_, index) = place else { lh_ir::bug!("only parts are added") };
        self.push(Place::Part(parent, *index), Some(*object))
    }
}

/// The object that something was read of.
fn owner(host: &mut dyn Host, d: &Dep) -> Option<ObjId> {
    match d {
        Dep::Global { func, .. } | Dep::Free { func, .. } => Some(host.function_object(*func)),
        Dep::Attribute { object, .. } => Some(*object),
        Dep::Import { .. } => None,
    }
}
