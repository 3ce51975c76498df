//! The typed library: functions of `lib/` as they are when they have been typed and optimised, for the argument types
//! that programs use most, in a file.
//!
//! The file mentions nothing of a process. Functions of the stored library have the same numbers in every process;
//! calls are renumbered when the file is written and when it is read; a function that mentions anything else of the
//! process is left out, with its callers.

use crate::source_info::SourceInfo;
use crate::spec::Key;
use lh_ir::Ty;
use lh_ir::func::{Device, Function};
use lh_ir::parse::Tables;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};

/// A typed function. Numbers of specialisations are positions in the file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub key: Vec<u8>,
    pub name: String,
    pub ret: Ty,
    pub func: Function,
    pub inlinable: Option<Function>,
    pub source: SourceInfo,
    pub summary: lh_opt::Summary,
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

/// The functions of a file.
pub struct TypedLibrary {
    index: Index<'static>,
    package: String,
}

/// The bytes of a key that is the same in every process; `None` for others.
pub(crate) fn key_bytes(key: &Key) -> Option<Vec<u8>> {
    let is_plain = key.options.device == Device::Host && key.options.parallel == 0 && key.options.link == 0;
    let func = key.func.as_stored().filter(|_| is_plain)?;
    postcard::to_allocvec(&(func, &key.args, key.options)).ok()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut h = DefaultHasher::new();
    h.write(bytes);
    h.finish()
}

/// The file of functions whose calls are renumbered to their positions, and whose classes to those of `classes`.
pub(crate) fn write(functions: &[Stored], classes: Vec<(String, String)>, made_for: &str) -> Vec<u8> {
    let (mut bodies, mut starts, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for (n, stored) in functions.iter().enumerate() {
        keys.push((hash(&stored.key), n as u32));
        starts.push(bodies.len() as u32);
        bodies = postcard::to_extend(stored, bodies).unwrap_or_else(|e| lh_ir::bug!("it had a form: {e}"));
    }
    keys.sort_unstable();
    let index = Index { made_for, classes, keys, starts, bodies: &bodies };
    postcard::to_allocvec(&index).unwrap_or_else(|e| lh_ir::bug!("all of it has a form: {e}"))
}

impl TypedLibrary {
    /// Opens a file that `Compiler::export_library` has written for the same compiler; `package` is the directory that
    /// sources are in.
    pub fn open(bytes: &'static [u8], made_for: &str, package: &str, tables: Tables) -> Option<TypedLibrary> {
        // Set by whoever was first.
        let _ = lh_ir::stored::TABLES.set(tables);
        let index: Index = postcard::from_bytes(bytes).ok()?;
        (index.made_for == made_for).then(|| TypedLibrary { index, package: package.to_owned() })
    }

    /// A function by number, or the fields that it begins with.
    pub(crate) fn read<T: Deserialize<'static>>(&self, number: u32) -> T {
        let body = &self.index.bodies[self.index.starts[number as usize] as usize..];
        let read = postcard::take_from_bytes(body);
        read.unwrap_or_else(|e| lh_ir::bug!("typed code {number} of the library cannot be read: {e}")).0
    }

    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        let wanted = hash(key);
        let first = self.index.keys.partition_point(|(h, _)| *h < wanted);
        let same = self.index.keys[first..].iter().take_while(|(h, _)| *h == wanted);
        same.map(|(_, n)| *n).find(|n| self.read::<&[u8]>(*n) == key)
    }

    /// The module and name of an exception class, by its number among those that are not builtin.
    pub(crate) fn class(&self, number: usize) -> &(String, String) {
        &self.index.classes[number]
    }

    /// The path of a source file.
    pub(crate) fn path(&self, file: &str) -> String {
        format!("{}{file}", self.package)
    }
}
