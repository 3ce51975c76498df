//! Compiled code that outlives the process.
//!
//! A [`Request`] has a key: the hash of the function, its argument types, the options and the environment (compiler,
//! library, processor). Files of that key are candidates; each lists everything else that was read while it was
//! compiled, and fits if all of that is there and equal now. So an entry cannot be wrong, whatever has changed,
//! wherever it is.

mod entry;
mod lock;
mod types;

pub use crate::files::{CODE, Folder, INDEX, OpenFolder, Refused, mark_used, read, read_trusted};
pub use entry::{Entry, Facts, Place, Step, StoredPart};
pub use lock::{Lock, acquire};

use crate::code::group::Group;
use crate::code::image::{Image, Outsiders};
use crate::code::part::Part;
use crate::compiled::Compiled;
use crate::digest::{Digest, Hasher};
use crate::host::{Host, contents, is_current};
use crate::kernel::GpuKernel;
use crate::spec::Dep;
use entry::Reader;
use lh_infer::Object;
use lh_ir::class::Class;
use lh_ir::func::{Extern, Options};
use lh_ir::{ObjId, Ty};
use lh_llvm::Level;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use types::Types;

/// A request for compiled code.
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

/// Why an entry cannot be made. The texts describe the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCached {
    /// An object in the types of the arguments has no hash.
    ArgumentHash,
    /// An object that was read has no hash.
    Hash(String),
    /// There is no way to an object that a new process could go.
    NotFound(String),
    /// An exception class has no object.
    Class,
    /// The result, or what a block of `objmode` takes, is of a type that has no form outside of the process.
    Type(Ty),
    /// A value that was read has changed since.
    Changed,
}

impl fmt::Display for NotCached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCached::ArgumentHash => f.write_str("an object in the types of its arguments has no hash"),
            NotCached::Hash(object) => write!(f, "{object} has no hash"),
            NotCached::NotFound(object) => write!(f, "{object} cannot be found again"),
            NotCached::Class => f.write_str("an exception class has no object"),
            NotCached::Type(ty) => write!(f, "`{ty}` has no form outside of the process"),
            NotCached::Changed => f.write_str("something that it reads has changed meanwhile"),
        }
    }
}

impl std::error::Error for NotCached {}

impl Request<'_> {
    /// The key; `None` if something in it has no hash.
    pub fn key(&self, host: &mut dyn Host) -> Option<Digest> {
        // Files that a kernel is linked with are numbered anew in every process.
        if self.options.link != 0 {
            return None;
        }
        let mut h = Hasher::new("request");
        h.digest(&self.environment);
        h.digest(&host.digest(self.function)?);
        // The number of a GPU differs from process to process.
        h.text(&format!("{:?}", Options { gpu: 0, ..self.options }));
        if self.options.gpu != 0 {
            h.text(&format!("{:?}", host.gpu(self.options.gpu)));
        }
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
        if let Some(code) = &entry.on_gpu {
            // The arrays' elements are in the code: of an entry, numbers of arrays are numbers of steps.
            let captured = code.captured.iter().map(|o| at(&o.0)).collect::<Option<Vec<ObjId>>>()?;
            if contents(host, &captured) != code.contents {
                return None;
            }
            let code = GpuKernel { captured, code: entry.object.clone(), ..code.clone() };
            return Some(Compiled::gpu(self.args, deps, code, entry.kernel?.is_cooperative));
        }
        // The result type names steps.
        let all: Vec<ObjId> = found.iter().map(|o| o.unwrap_or(self.function)).collect();
        let ret = types::read(&mut Reader(&entry.ret), host, &all)?;
        let words = words_of(host, &entry.words, &entry.types, &all, &at)?;
        let mut parts: Vec<Arc<Part>> = Vec::new();
        for part in &entry.parts {
            let words = words_of(host, &part.words, &part.types, &all, &at)?;
            parts.push(Arc::new(Part::stored(part.name, &part.object, words, &parts)));
        }
        let mut files = HashMap::new();
        for (file, step) in &entry.files {
            files.insert(*file as usize, host.file(at(step)?));
        }
        let object = entry.code_for(&lh_llvm::levels())?;
        let outsiders = Outsiders {
            word: Box::new(|w| words.get(&w).copied()),
            file: Box::new(|f| files.get(&f).cloned()),
            lazy: Box::new(|_| None),
            parts,
        };
        let image = Image::load(object, &entry.facts.function, &outsiders);
        let mut code = Compiled::loaded(Some(image), self.args, ret, deps, entry.escapes, object.len());
        code.kernel = entry.kernel;
        code.races.clone_from(&entry.races);
        Some(code)
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

    /// An entry for what has just been compiled; with `levels`, one whose objects are for levels of processors.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn entry(
        &self,
        host: &mut dyn Host,
        compiled: &Compiled,
        mut facts: Facts,
        levels: &[Level],
    ) -> Result<Entry, NotCached> {
        let key = self.key(host).ok_or(NotCached::ArgumentHash)?;
        let mut steps = Steps::new(self.function, &self.mentioned(host).ok_or(NotCached::ArgumentHash)?);
        steps.add_deps(host, &compiled.deps)?;
        // Objects for levels stand alone.
        let whole = compiled.whole();
        let group = compiled.group.as_deref().filter(|_| levels.is_empty()).unwrap_or(&whole);
        let (words, types) = steps.words(host, group)?;
        let mut parts = Vec::new();
        for part in group.called_parts(&compiled.object) {
            let (words, types) = part.group.as_ref().map_or(Ok(Default::default()), |g| steps.words(host, g))?;
            let object = part.object().unwrap_or_default().to_vec();
            parts.push(StoredPart { name: part.name(), words, types, object });
        }
        let mut files = Vec::new();
        for (number, func) in compiled.files(&group.functions) {
            let function = host.function_object(func);
            files.push((number as u32, steps.place(host, function)?));
        }
        let on_gpu = compiled.on_gpu.as_ref().map(|k| {
            let captured = k.captured.iter().map(|o| steps.place(host, *o).map(ObjId)).collect::<Result<_, _>>()?;
            Ok::<_, NotCached>(GpuKernel { captured, code: Vec::new(), ..k.clone() })
        });
        let on_gpu = on_gpu.transpose()?;
        let ret = steps.type_bytes(host, compiled.ret)?;
        let steps = steps.list.iter().map(|(place, object)| step(host, place, *object)).collect::<Result<_, _>>()?;
        if !compiled.deps.iter().all(|d| is_current(host, d)) {
            return Err(NotCached::Changed);
        }
        if facts.signature.is_empty() {
            let args: Vec<String> = self.args.iter().map(|t| t.numba().to_string()).collect();
            facts.signature = format!("({}) -> {}", args.join(", "), compiled.ret.numba());
        }
        let (escapes, kernel, races) = (compiled.escapes, compiled.kernel, compiled.races.clone());
        let object = compiled.on_gpu.as_ref().map_or(&compiled.object, |k| &k.code);
        let object = if levels.is_empty() { object.clone() } else { Vec::new() };
        let variants = levels.iter().map(|l| (l.name().to_owned(), Vec::new())).collect();
        Ok(Entry {
            key,
            facts,
            steps,
            words,
            files,
            types,
            ret,
            escapes,
            kernel,
            races,
            on_gpu,
            parts,
            object,
            variants,
        })
    }
}

/// An object that was read, with its hash.
fn step(host: &mut dyn Host, place: &Place, object: Option<ObjId>) -> Result<Step, NotCached> {
    let digest = match object {
        Some(o) => Some(host.digest(o).ok_or_else(|| NotCached::Hash(host.describe(o)))?),
        None => None,
    };
    Ok(Step { place: place.clone(), digest })
}

/// The numbers that code gets, as it names them: of objects at steps, and of types.
fn words_of(
    host: &mut dyn Host,
    words: &[(Extern, u32)],
    types: &[(u32, Vec<u8>)],
    all: &[ObjId],
    at: &dyn Fn(&u32) -> Option<ObjId>,
) -> Option<HashMap<Extern, u64>> {
    let mut values = HashMap::new();
    for (what, step) in words {
        values.insert(*what, word_of(host, *what, at(step)?)?);
    }
    for (number, ty) in types {
        let ty = types::read(&mut Reader(ty), host, all)?;
        values.insert(Extern::Type(*number), ty.number() as u64);
    }
    Some(values)
}

/// The number that code gets for an object.
fn word_of(host: &mut dyn Host, what: Extern, object: ObjId) -> Option<u64> {
    match what {
        Extern::Array(_) => Some(host.word(Extern::Array(object))),
        Extern::Foreign(_) => Some(host.word(Extern::Foreign(object))),
        Extern::Function(_) => Some(host.word(Extern::Function(object))),
        Extern::Type(_) => lh_ir::bug!("types have a list of their own"),
        Extern::Class(_) => match host.object(object) {
            Object::ExcClass(c, _) => Some(host.word(Extern::Class(c))),
            _ => None,
        },
    }
}

/// Objects inside an object: items, defaults.
fn parts(host: &mut dyn Host, o: ObjId) -> Vec<ObjId> {
    match host.object(o) {
        Object::Tuple(items, _) | Object::List(items) | Object::Table(_, items) => items,
        // A function for devices is inside of what decorates it.
        Object::Func(f) => {
            Some(host.function_object(f)).filter(|f| *f != o).into_iter().chain(host.defaults(o)).collect()
        }
        Object::Ufunc(u) => vec![host.function_object(u.func)],
        Object::Cached(part, _) | Object::BoundMethod(part, _) => vec![part],
        Object::Property(get, set) => get.into_iter().chain(set).collect(),
        Object::Class(c) => {
            let fields = c.class.user_fields().iter().filter_map(|(_, t)| *t).flat_map(classes_in);
            c.makes.iter().flat_map(|f| [f.default, f.factory]).flatten().chain(fields).collect()
        }
        Object::Type(t) => classes_in(t),
        Object::Stencil(s) => s.cval.into_iter().chain([host.function_object(s.func)]).collect(),
        _ => Vec::new(),
    }
}

/// Classes of the program that a type mentions.
fn classes_in(t: Ty) -> Vec<ObjId> {
    let found = std::cell::RefCell::new(Vec::new());
    t.mentions(&|part| {
        found.borrow_mut().extend(part.class().and_then(Class::user).map(|user| user.class));
        false
    });
    found.into_inner()
}

/// Numbers of the process: objects by their steps, and types as bytes.
type Words = (Vec<(Extern, u32)>, Vec<(u32, Vec<u8>)>);

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

    /// Adds what was read, each after the object it was read of.
    fn add_deps(&mut self, host: &mut dyn Host, deps: &[Dep]) -> Result<(), NotCached> {
        let mut left: Vec<&Dep> = deps.iter().collect();
        while !left.is_empty() {
            let before = left.len();
            left.retain(|d| !self.add_dep(host, d));
            if left.len() < before {
                continue;
            }
            // The others were read of objects inside of objects, which the next round finds,
            let (found, mut failure) = (self.list.len(), None);
            for d in &left {
                let placed = owner(host, d).map_or(Ok(0), |o| self.place(host, o));
                failure = placed.err().filter(|_| !matches!(d, Dep::Attribute { .. })).or(failure);
            }
            // or of objects that were computed while compiling (`np.finfo(...)`), which depend on found ones only.
            if self.list.len() == found {
                return failure.map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    /// The numbers of the process that a group refers to: objects by their steps, and types as bytes.
    fn words(&mut self, host: &mut dyn Host, group: &Group) -> Result<Words, NotCached> {
        let (mut words, mut types) = (Vec::new(), Vec::new());
        for (number, what) in group.numbered() {
            let object = match what {
                Extern::Array(o) | Extern::Foreign(o) | Extern::Function(o) => o,
                Extern::Class(c) => host.class_object(c).ok_or(NotCached::Class)?,
                Extern::Type(ty) => {
                    let ty = Ty::of_number(ty as usize).unwrap_or_else(|| lh_ir::bug!("no type has number {ty}"));
                    types.push((number.number(), self.type_bytes(host, ty)?));
                    continue;
                }
            };
            words.push((number, self.place(host, object)?));
        }
        Ok((words, types))
    }

    /// A type as bytes; what it mentions is found by steps.
    fn type_bytes(&mut self, host: &mut dyn Host, ty: Ty) -> Result<Vec<u8>, NotCached> {
        let no_form = || NotCached::Type(ty);
        let mut types = Types::default();
        types.add(host, ty).ok_or_else(no_form)?;
        for o in types.mentioned {
            self.place(host, o)?;
        }
        // Objects are numbered as they are mentioned: mentioning those of all steps first makes the numbers theirs.
        let mentioned = self.list.iter().map(|(_, o)| o.unwrap_or(ObjId(u32::MAX))).collect();
        let mut types = Types { mentioned, ..Types::default() };
        types.add(host, ty).ok_or_else(no_form)?;
        Ok(types.out.0)
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
    fn place(&mut self, host: &mut dyn Host, object: ObjId) -> Result<u32, NotCached> {
        if let Some(n) = self.known.get(&object) {
            return Ok(*n);
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
                    return Ok(self.add_path(&reach, &parents, reach.len() - 1));
                }
            }
            at += 1;
        }
        // Objects that the library refers to have names of their own.
        match host.name_of(object) {
            Some((module, name)) => Ok(self.push(Place::Import(module, Some(name)), Some(object))),
            None => Err(NotCached::NotFound(host.describe(object))),
        }
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
