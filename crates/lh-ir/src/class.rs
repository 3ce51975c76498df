//! Classes of compiled code that the library declares. The declaration is data in the class' body. Types are written as
//! in [`crate::print`]; parameters stand for the type arguments of an instance, and `Self` for its type.
//!
//! ```text
//! class ring:                                          class list:
//!     __parameters__ = ("T",)                              __parameters__ = ("T",)
//!     __fields__ = {                                       __items__ = "T"
//!         "items": "array(T, 1, C)", "first": "int"}
//! ```
//!
//! Instances of a class with `__by_value__ = True` consist of their fields, as tuples consist of their elements.
//! All others have reference semantics: a counted object, which begins with its count, destructor and buffer
//! ([`layout::DATA`]). The declared fields follow as a C struct. In a class that declares a type of items, the
//! length and capacity of a growing buffer of items follow instead; `len` and index checks read that length.
//! Destroying an object releases the references in its fields or items: no class has a destructor of its own.

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Offsets in an object, in bytes; the run-time library asserts that its structs agree.
pub mod layout {
    /// Address of the buffer. In an object without a buffer, the mask of the fields' counted words.
    pub const DATA: usize = 16;
    /// The first field.
    pub const FIELDS: usize = 32;
    /// In a class with items, their number.
    pub const LEN: usize = 32;
    /// In a class with items, the capacity of the buffer in items.
    pub const CAP: usize = 40;
}

/// The class of Python's `list`, which list displays make.
pub const LIST: &str = "builtins.list";

/// The class whose only item is the frame of a generator.
const GENERATOR: &str = "generators.generator";

/// The declaration of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// Its path in the library: `builtins.list`.
    pub path: String,
    /// Names of its type parameters.
    pub parameters: Vec<String>,
    /// Names of its fields and the text of their types.
    pub fields: Vec<(String, String)>,
    /// The text of the type of its items, if it stores items.
    pub items: Option<String>,
    /// Whether instances are values, which are copied and never change, in place of objects.
    pub by_value: bool,
    /// Methods whose last argument becomes an item, so that calls determine an unknown type of items.
    pub adds: Vec<String>,
    /// Methods whose last argument is an iterable of new items.
    pub extends: Vec<String>,
}

/// A declared class.
#[derive(Clone, Copy)]
pub struct Class(&'static Declaration);

static DECLARED: LazyLock<Mutex<HashMap<String, Class>>> = LazyLock::new(Mutex::default);
static SOURCE: OnceLock<fn(&str) -> Option<Declaration>> = OnceLock::new();

/// Sets the function that looks up declarations on first use. Later calls have no effect.
pub fn set_source(source: fn(&str) -> Option<Declaration>) {
    SOURCE.get_or_init(|| source);
}

impl Class {
    /// The class at a path of the library, if it is declared as a class of compiled code.
    pub fn find(path: &str) -> Option<Class> {
        let known = || DECLARED.lock().expect("no panic while declaring").get(path).copied();
        known().or_else(|| {
            let declaration = SOURCE.get()?(path)?;
            let class = Class(Box::leak(Box::new(declaration)));
            // Another thread may have inserted the class: each exists once.
            Some(*DECLARED.lock().expect("no panic while declaring").entry(path.to_owned()).or_insert(class))
        })
    }
    /// The class of the interpreter's lists.
    pub fn list() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        *FOUND.get_or_init(|| Class::required(LIST))
    }
    /// The class of the objects of generators.
    pub fn generator() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        *FOUND.get_or_init(|| Class::required(GENERATOR))
    }
    fn required(path: &str) -> Class {
        Class::find(path).unwrap_or_else(|| crate::bug!("the library has no `{path}`"))
    }
    /// Its declaration.
    pub fn declaration(self) -> &'static Declaration {
        self.0
    }
    /// Its path in the library.
    pub fn path(self) -> &'static str {
        &self.0.path
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        self.path().rsplit('.').next().unwrap_or_default()
    }
    /// Its name in textual IR: the path, without `builtins.`.
    pub(crate) fn text(self) -> &'static str {
        self.path().strip_prefix("builtins.").unwrap_or(self.path())
    }
    /// The class with a name of textual IR.
    pub(crate) fn of_text(text: &str) -> Option<Class> {
        if text.contains('.') { Class::find(text) } else { Class::find(&format!("builtins.{text}")) }
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Class {}
impl Hash for Class {
    fn hash<H: Hasher>(&self, h: &mut H) {
        (std::ptr::from_ref(self.0) as usize).hash(h);
    }
}
impl std::fmt::Debug for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.path())
    }
}
impl Serialize for Class {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.path())
    }
}
impl<'de> Deserialize<'de> for Class {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Class, D::Error> {
        let path = String::deserialize(d)?;
        Class::find(&path).ok_or_else(|| serde::de::Error::custom(format!("no class `{path}`")))
    }
}
