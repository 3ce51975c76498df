//! The store of objects: by the digest of a module as it was lowered, before LLVM's passes, the object that LLVM makes
//! of it.
//!
//! Front end, inference and our passes run before a module is looked up, so nothing that they depend on can be stale. A
//! process keeps objects in memory; a folder has them for other processes. Whatever is wrong with the folder (damaged
//! or foreign files, a full disk) only costs time.

use super::shipped::Shipped;
use crate::digest::{Digest, Hasher, blake2b};
use crate::files::{Folder, OpenFolder, mark_used, read};
use lh_llvm::{Lowered, Objects, Output, Unit};
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Suffix of files with objects.
pub const OBJECT: &str = ".nbo";

/// First bytes of a file; the last one is the version of the format. The hash of the object follows, then the object.
const MAGIC: &[u8; 8] = b"LHOBJEC1";

/// The most bytes of objects that a process keeps in memory.
const MEMORY: usize = 64 << 20;

/// So many files are written by a process before it looks at the size of the folder, which takes time: there may be a
/// hundred thousand files.
const BETWEEN_CHECKS: usize = 512;

/// A process that writes fewer looks if none has for so long, as the time of this file tells.
const SOMETIMES: Duration = Duration::from_secs(3600);
const CHECKED: &str = ".lh-checked";

/// Objects by the digests of their modules.
#[derive(Default)]
pub struct ObjectStore {
    memory: Mutex<Memory>,
    files: Option<Files>,
    shipped: Option<Shipped>,
    /// Objects that were found, that came with lancehead, and that LLVM made.
    found: AtomicUsize,
    came: AtomicUsize,
    made: AtomicUsize,
}

/// Objects in memory, the oldest first.
#[derive(Default)]
struct Memory {
    objects: HashMap<Digest, Arc<[u8]>>,
    order: VecDeque<Digest>,
    bytes: usize,
}

/// Files of objects, in a folder and those of two letters in it.
struct Files {
    folder: Folder,
    limit: u64,
    /// Whether a file could not be written.
    is_read_only: AtomicBool,
    written: AtomicUsize,
}

impl ObjectStore {
    /// A store in memory, in a folder of so many bytes at most, and with the objects that came with lancehead
    /// ([`Shipped::open`]).
    pub fn new(folder: Option<(Folder, u64)>, shipped: Option<Shipped>) -> ObjectStore {
        let files = folder.map(|(folder, limit)| Files {
            folder,
            limit,
            is_read_only: AtomicBool::new(false),
            written: AtomicUsize::new(0),
        });
        ObjectStore { files, shipped, ..ObjectStore::default() }
    }

    /// How many objects were found, how many of those that came with lancehead were used, and how many LLVM has made.
    pub fn counts(&self) -> (usize, usize, usize) {
        let [found, came, made] = [&self.found, &self.came, &self.made].map(|n| n.load(Ordering::Relaxed));
        (found, came, made)
    }

    /// Compiles a unit unless its object is known; with the digest of its module, which is the same for all processors.
    pub(crate) fn compile(&self, unit: &Unit<'_>) -> (Digest, Output) {
        let mut search = Search::new(self);
        let output = lh_llvm::compile_with(unit, &mut search);
        (search.module, output)
    }

    /// The digest of a unit's module, and what compiling it would give if its object is known.
    pub(crate) fn look_up(&self, unit: &Unit<'_>) -> (Digest, Option<Output>) {
        let mut search = Search { is_only_asked: true, ..Search::new(self) };
        let output = lh_llvm::compile_with(unit, &mut search);
        (search.module, search.is_found.then_some(output))
    }

    fn find(&self, module: &Digest, key: &Digest) -> Option<Vec<u8>> {
        // No thread waits for a lock that a fork may have left locked.
        let known = self.memory.try_lock().ok().and_then(|m| m.objects.get(key).cloned());
        if let Some(object) = known {
            self.found.fetch_add(1, Ordering::Relaxed);
            return Some(object.to_vec());
        }
        if let Some(object) = self.shipped.as_ref().and_then(|s| s.find(module)) {
            self.came.fetch_add(1, Ordering::Relaxed);
            return Some(object.to_vec());
        }
        let object = self.files.as_ref()?.read(key)?;
        self.found.fetch_add(1, Ordering::Relaxed);
        self.remember(key, &object);
        Some(object)
    }

    fn remember(&self, key: &Digest, object: &[u8]) {
        let Ok(mut memory) = self.memory.try_lock() else { return };
        if memory.objects.insert(*key, object.into()).is_none() {
            memory.order.push_back(*key);
            memory.bytes += object.len();
        }
        while memory.bytes > MEMORY
            && let Some(oldest) = memory.order.pop_front()
        {
            memory.bytes -= memory.objects.remove(&oldest).map_or(0, |o| o.len());
        }
    }
}

/// A look-up of one module.
struct Search<'s> {
    store: &'s ObjectStore,
    /// The digest of the module, and that of the module and the processor.
    module: Digest,
    key: Digest,
    is_found: bool,
    /// Whether nothing is to be compiled.
    is_only_asked: bool,
}

impl Search<'_> {
    fn new(store: &ObjectStore) -> Search<'_> {
        let (module, key) = (Digest::default(), Digest::default());
        Search { store, module, key, is_found: false, is_only_asked: false }
    }
}

/// The digest of a module as it was lowered, which is the same for all processors.
pub(crate) fn digest(module: &Lowered<'_>) -> Digest {
    let mut h = Hasher::new("module");
    lh_llvm::compiler().iter().for_each(|text| h.text(text));
    h.text(module.settings);
    h.bytes(module.bitcode);
    h.finish()
}

/// The digest of an object: of its module and the processor.
pub(crate) fn key(module: &Digest, (cpu, features): (&str, &str)) -> Digest {
    let mut h = Hasher::new("object");
    h.digest(module);
    h.text(cpu);
    h.text(features);
    h.finish()
}

impl Objects for Search<'_> {
    fn find(&mut self, module: &Lowered<'_>) -> Option<Vec<u8>> {
        self.module = digest(module);
        self.key = key(&self.module, module.processor);
        let found = self.store.find(&self.module, &self.key);
        self.is_found = found.is_some();
        if found.is_none() && self.is_only_asked {
            // An object of no bytes, which nobody looks at.
            return Some(Vec::new());
        }
        if found.is_none() {
            self.store.made.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    fn keep(&mut self, object: &[u8]) {
        self.store.remember(&self.key, object);
        if let Some(files) = &self.store.files {
            files.write(&self.key, object);
        }
    }
}

impl Files {
    /// The folder and the name of a file.
    fn place(&self, key: &Digest) -> (Folder, String) {
        let name = key.to_string();
        (self.folder.inner(&name[..2]), format!("{}{OBJECT}", &name[2..]))
    }

    fn read(&self, key: &Digest) -> Option<Vec<u8>> {
        let (folder, name) = self.place(key);
        let (bytes, file) = folder.open().ok()?.read(&name).ok()?;
        let object = object_of(&bytes)?.to_vec();
        mark_used(&file);
        Some(object)
    }

    fn write(&self, key: &Digest, object: &[u8]) {
        if self.is_read_only.load(Ordering::Relaxed) {
            return;
        }
        let (folder, name) = self.place(key);
        if folder.make().and_then(|f| f.save(&name, &file_of(object))).is_err() {
            // A full disk and a folder that cannot be written are not tried again for each object.
            self.is_read_only.store(true, Ordering::Relaxed);
        } else if let Ok(root) = self.folder.open()
            && self.is_due(&root)
        {
            // Other processes see that this one looks, unless that cannot be written.
            let _ = root.save(CHECKED, b"");
            root.evict(OBJECT, self.limit);
        }
    }

    /// Whether the size of the folder is to be looked at after a file was written.
    fn is_due(&self, root: &OpenFolder) -> bool {
        match self.written.fetch_add(1, Ordering::Relaxed) {
            0 => root.age(CHECKED).is_none_or(|age| age > SOMETIMES),
            n => n.is_multiple_of(BETWEEN_CHECKS),
        }
    }
}

/// The content of a file.
fn file_of(object: &[u8]) -> Vec<u8> {
    [MAGIC, &blake2b(object).0[..], object].concat()
}

/// The object in a file; `None` if the file is damaged.
fn object_of(file: &[u8]) -> Option<&[u8]> {
    let (hash, object) = file.strip_prefix(MAGIC)?.split_at_checked(32)?;
    (blake2b(object).0 == hash).then_some(object)
}

/// Whether a file of the store is whole.
pub fn is_whole(path: &Path) -> bool {
    read(path).is_ok_and(|bytes| object_of(&bytes).is_some())
}
