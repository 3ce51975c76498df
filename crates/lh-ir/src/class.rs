//! Classes of compiled code that the library declares. The declaration is data in the class' body; types are text as in
//! [`crate::print`], in which parameters stand for the types that an instance is of, and `Self` for its own.
//!
//! ```text
//! class ring:                                          class list:
//!     __parameters__ = ("T",)                              __parameters__ = ("T",)
//!     __fields__ = {                                       __items__ = "T"
//!         "items": "array(T, 1, C)", "first": "int"}
//! ```
//!
//! Instances of a class with `__by_value__ = True` are their fields, as tuples are their elements. All others are by
//! reference: a counted object, which begins with its count, destructor and buffer ([`layout::DATA`]).
//! Then come the declared fields as a C struct; or, of a class that declares the type of items, the head of a growing
//! buffer of such items, whose number is what `len` and checks of indices read. Destroying an object releases what the
//! counted words of its fields, or of its items, refer to: no class has a destructor of its own.

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Offsets in an object, bytes; the run-time library holds its own structs against them.
pub mod layout {
    /// Address of the buffer, or of an object without one the mask of its fields' counted words.
    pub const DATA: usize = 16;
    /// The first field.
    pub const FIELDS: usize = 32;
    /// Of a class with items: their number.
    pub const LEN: usize = 32;
    /// Of a class with items: how many the buffer has room for.
    pub const CAP: usize = 40;
}

/// The class of the interpreter's lists, which displays such as `[x]` make, and which are boxed.
pub const LIST: &str = "builtins.list";

/// The declaration of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// Where the library has it: `builtins.list`.
    pub path: String,
    /// Names of its type parameters.
    pub parameters: Vec<String>,
    /// Names of its fields and the text of their types.
    pub fields: Vec<(String, String)>,
    /// The text of the type of its items, if it stores such.
    pub items: Option<String>,
    /// Whether instances are values, which are copied and never change, in place of objects.
    pub by_value: bool,
    /// Methods whose last argument becomes an item: where items are not known yet, they tell.
    pub adds: Vec<String>,
    /// Methods whose last argument has items that become such.
    pub extends: Vec<String>,
}

/// A declared class.
#[derive(Clone, Copy)]
pub struct Class(&'static Declaration);

static DECLARED: LazyLock<Mutex<HashMap<String, Class>>> = LazyLock::new(Mutex::default);
static SOURCE: OnceLock<fn(&str) -> Option<Declaration>> = OnceLock::new();

/// Sets what is asked for declarations that are not known yet. The first one stays.
pub fn set_source(source: fn(&str) -> Option<Declaration>) {
    SOURCE.get_or_init(|| source);
}

impl Class {
    /// The class at a path of the library, if it declares that it is one of compiled code.
    pub fn find(path: &str) -> Option<Class> {
        let known = || DECLARED.lock().expect("no panic while declaring").get(path).copied();
        known().or_else(|| {
            let declaration = SOURCE.get()?(path)?;
            let class = Class(Box::leak(Box::new(declaration)));
            // Another thread may have been faster: there is one of each.
            Some(*DECLARED.lock().expect("no panic while declaring").entry(path.to_owned()).or_insert(class))
        })
    }
    /// The class of the interpreter's lists.
    pub fn list() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        *FOUND.get_or_init(|| Class::find(LIST).unwrap_or_else(|| crate::bug!("the library has no `{LIST}`")))
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
    /// How textual IR has it: by its path, of which builtin ones need the name only.
    pub(crate) fn text(self) -> &'static str {
        self.path().strip_prefix("builtins.").unwrap_or(self.path())
    }
    /// The class of a name in textual IR.
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
