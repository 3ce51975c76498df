//! The library as untyped code, decoded when lancehead is built: what inference asks of a library function is answered
//! without importing the module that it is in.
//!
//! ```text
//! lib/**.py ─▶ code objects (decode.py) ─▶ make ─▶ bytes in the extension module ─▶ Library::open
//!           ─▶ Function, each on demand
//! ```
//!
//! The interpreter resolves names that are no functions, primitives or constants ([`Meaning::Import`]).
//!
//! `decode.py` imports `lib/` without lancehead and NumPy. A process that compiles compares the sources once; if they
//! have changed since the build, it imports and decodes them. Wheels also have the functions as they are typed for
//! frequent arguments: that file is `typed_library` of `lh-driver`.

pub mod sources;

use lh_frontend::raw::RawCode;
use lh_ir::class::{Binding, Declaration};
use lh_ir::untyped::{Code, Inst, PyConst};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// The meaning of a global name, or of a default value, of a library function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Meaning {
    /// A function of the library, by number.
    Function(u32),
    /// The module of primitives.
    Prims,
    /// A constant.
    Const(PyConst),
    /// An attribute of a module, by a name that may have dots; the module itself if the name is empty.
    Import(String, String),
}

/// A function, of which `code` is bytecode when it is being stored, and untyped code when it is read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function<C = Code> {
    /// The module that it is found in again, and its name there.
    pub home: (String, String),
    /// The name of its declared meaning, or empty.
    pub means: String,
    /// Its code; files are relative to the directory of the package.
    pub code: C,
    /// Defaults of its last positional parameters.
    pub defaults: Vec<Meaning>,
    /// Defaults of keyword-only parameters.
    pub kwdefaults: Vec<(String, Meaning)>,
    /// Global names that are not builtins.
    pub globals: Vec<(String, Meaning)>,
}

impl<C> Function<C> {
    /// Separates its code from the other fields.
    pub fn split(self) -> (C, Function<()>) {
        let Function { home, means, code, defaults, kwdefaults, globals } = self;
        (code, Function { home, means, code: (), defaults, kwdefaults, globals })
    }
}

/// The output of `decode.py`.
#[derive(Deserialize)]
struct Decoded {
    version: (u8, u8),
    functions: Vec<Function<RawCode>>,
    /// Paths such as `numpy.linalg.norm`, sorted, with the function's number.
    paths: Vec<(String, u32, Binding)>,
    classes: Vec<Declaration>,
}

/// The part that is read at once, with the places of the rest.
#[derive(Serialize, Deserialize)]
struct Index<'a> {
    digest: u64,
    #[serde(borrow)]
    paths: Vec<(&'a str, u32, Binding)>,
    /// Classes of compiled code.
    classes: Vec<Declaration>,
    /// Where each function begins among `bodies`.
    starts: Vec<u32>,
    bodies: &'a [u8],
}

/// The stored form of what `decode.py` has written, of sources with a digest.
///
/// # Panics
/// If that makes no sense, or a library function is not one of the language's: lancehead cannot be built.
pub fn make(decoded: &[u8], digest: u64) -> Vec<u8> {
    let all: Decoded = postcard::from_bytes(decoded).expect("decode.py writes what is declared here");
    let (mut bodies, mut starts) = (Vec::new(), Vec::new());
    for f in all.functions {
        let translated = lh_frontend::translate(&f.code, all.version);
        let code = translated.unwrap_or_else(|d| panic!("{}.{}: {}", f.home.0, f.home.1, d.headline));
        let mut used = HashSet::new();
        note_globals(&code, &mut used);
        let globals = f.globals.into_iter().filter(|(name, _)| used.contains(name)).collect();
        let means = f.means;
        assert!(means.is_empty() || lh_ir::Meaning::of_word(&means).is_some(), "{}: no meaning `{means}`", f.home.1);
        let stored = Function { home: f.home, means, code, defaults: f.defaults, kwdefaults: f.kwdefaults, globals };
        starts.push(u32::try_from(bodies.len()).expect("the library is small"));
        bodies = postcard::to_extend(&stored, bodies).expect("all of it has a form");
    }
    let paths = all.paths.iter().map(|(path, f, binding)| (&**path, *f, *binding)).collect();
    postcard::to_allocvec(&Index { digest, paths, classes: all.classes, starts, bodies: &bodies })
        .expect("all of it has a form")
}

/// Global names that a function and those inside it read.
fn note_globals(code: &Code, out: &mut HashSet<String>) {
    for i in code.blocks.iter().flat_map(|b| &b.insts) {
        if let Inst::Global(name) = &i.inst {
            out.insert(name.clone());
        }
    }
    code.inner.iter().for_each(|inner| note_globals(inner, out));
}

/// The stored library.
pub struct Library(Index<'static>);

impl Library {
    /// Of what [`make`] has made; `None` if lancehead was built without it.
    pub fn open(bytes: &'static [u8]) -> Option<Library> {
        postcard::from_bytes(bytes).ok().map(Library)
    }

    /// Of the sources that it was made from: see [`sources::digest`].
    pub fn digest(&self) -> u64 {
        self.0.digest
    }

    /// The number of the function at a path; of a property it is the getter.
    pub fn find(&self, path: &str) -> Option<(u32, Binding)> {
        let at = self.0.paths.binary_search_by_key(&path, |(p, ..)| *p).ok()?;
        let (_, function, binding) = self.0.paths[at];
        Some((function, binding))
    }

    /// The declaration of the class at a path.
    pub fn class(&self, path: &str) -> Option<Declaration> {
        self.0.classes.iter().find(|c| c.path == path).cloned()
    }

    /// How many functions there are.
    pub fn count(&self) -> usize {
        self.0.starts.len()
    }

    /// A function by number; `package` is where its files are.
    ///
    /// # Panics
    /// If there is no such function.
    pub fn function(&self, number: u32, package: &str) -> Function {
        let body = &self.0.bodies[self.0.starts[number as usize] as usize..];
        let (mut f, _) = postcard::take_from_bytes::<Function>(body).expect("`make` has written it");
        place(&mut f.code, package);
        f
    }
}

fn place(code: &mut Code, package: &str) {
    code.file = format!("{package}/{}", code.file);
    code.inner.iter_mut().filter_map(Arc::get_mut).for_each(|inner| place(inner, package));
}
