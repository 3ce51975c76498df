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
//! A class that declares `__entries__` has both: such a buffer, and fields behind its header. Its entries are data of
//! its methods, which define what `len`, indices and loops mean. Destroying an object releases the references in its
//! fields, items and entries: no class has a destructor of its own.
//!
//! A class of the user's ([`User`]) has no text: its fields are given as types, once they are known
//! ([`Class::set_fields`]), so that they may refer to the class itself. A field without a type has a type parameter,
//! which the values of an instance decide.

use crate::entity::ObjId;
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
    /// In a class with entries, the mask of the fields' counted words.
    pub const ENTRIES_MASK: usize = 64;
    /// In a class with entries, the first field.
    pub const ENTRIES_FIELDS: usize = 72;
    /// The summand of the first word of a generator's frame if the pending exception is thrown into it.
    pub const THROWN: i64 = 1 << 32;
    /// The answer of the function that closes a generator where an exception leaves it; else whether it yields.
    pub const CLOSE_RAISED: i32 = 2;
}

/// The class of Python's `list`, which list displays make.
pub const LIST: &str = "builtins.list";
/// That of dictionary displays.
pub const DICT: &str = "builtins.dict";
/// The path of the class of what a `bytearray` holds.
const STORAGE: &str = "bytearrays.storage";
/// That of NumPy's generators of random numbers.
const RANDOM_GENERATOR: &str = "numpy.random.Generator";
/// That of their bit generators.
const BIT_GENERATOR: &str = "numpy.random.BitGenerator";
/// That of set displays.
pub const SET: &str = "builtins.set";

/// That of list displays of values of several types, which never change.
pub const MIXED: &str = "lists.mixed_list";

/// That of tuples whose length is known only at run time.
const TUPLE: &str = "tuples.tuple";

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
    /// The text of the type of the entries that it stores beside its fields, if it does.
    pub entries: Option<String>,
    /// Methods whose arguments determine unknown type arguments, and how: see [`Teaching`].
    pub infers: Vec<(String, String)>,
    /// The class of Python, if the library does not declare it.
    #[serde(skip)]
    pub user: Option<User>,
}

/// A class that a program defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The class of Python.
    pub class: ObjId,
    /// Whether Python's objects share the object of compiled code. Else it is a copy of their attributes.
    pub is_shared: bool,
    /// Whether it holds the fields of a `StructRef`. The class of Python's objects is then another one.
    pub is_struct: bool,
    /// The class itself and those of programs that it derives from.
    pub bases: &'static [ObjId],
}

/// The type arguments of a class that the arguments of a method determine.
///
/// ```text
/// __infers__ = {"append": "T", "extend": "*T", "insert": "_, T", "update": "Self", "get": "?K, ?V -> V"}
/// ```
///
/// There is one word for each argument: the name of the parameter whose type it has; `*` before it if it is an iterable
/// of such values; `Self` for another instance; `_` if it says nothing. With `?`, it decides an unknown type only, and
/// is not converted. The type of the result follows, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Teaching(&'static str);

impl Teaching {
    /// The words for the arguments.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        self.0.split(" -> ").next().unwrap_or_default().split(", ")
    }
    /// The text of the result's type.
    pub fn result(self) -> Option<&'static str> {
        self.0.split_once(" -> ").map(|(_, result)| result)
    }
}

/// How a function of a class is called by way of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Binding {
    /// With the instance and arguments.
    Method,
    /// With the instance, when the attribute is read.
    Property,
    /// With arguments only: a static method.
    Static,
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
        Class::kept(&FOUND, LIST)
    }
    /// The class of the objects of generators.
    pub fn generator() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        Class::kept(&FOUND, GENERATOR)
    }
    /// The class of the objects that hold the memory of `bytearray`.
    pub fn storage() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        Class::kept(&FOUND, STORAGE)
    }
    /// The class of NumPy's generators of random numbers.
    pub fn random_generator() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        Class::kept(&FOUND, RANDOM_GENERATOR)
    }
    /// The class of bit generators of any kind.
    pub fn bit_generator() -> Class {
        static FOUND: OnceLock<Class> = OnceLock::new();
        Class::kept(&FOUND, BIT_GENERATOR)
    }
    /// Whether it is one of these two.
    pub fn is_random(self) -> bool {
        [RANDOM_GENERATOR, BIT_GENERATOR].contains(&self.path())
    }
    /// Whether it is one of the series of `numpy.polynomial`.
    pub fn is_polynomial(self) -> bool {
        self.path().starts_with("numpy.polynomial.")
    }
    /// The class at a path, which is looked up once. The lookup may release the interpreter's lock and take it again,
    /// so it runs outside of the `OnceLock`: a thread that waited there with that lock would stop both.
    fn kept(found: &OnceLock<Class>, path: &str) -> Class {
        found.get().copied().unwrap_or_else(|| {
            let class = Class::required(path);
            *found.get_or_init(|| class)
        })
    }
    fn required(path: &str) -> Class {
        Class::find(path).unwrap_or_else(|| crate::bug!("the library has no `{path}`"))
    }
    /// The class of the interpreter's dictionaries.
    pub fn dict() -> Class {
        Class::find(DICT).unwrap_or_else(|| crate::bug!("the library has no `{DICT}`"))
    }
    /// The class of the interpreter's sets.
    pub fn set() -> Class {
        Class::find(SET).unwrap_or_else(|| crate::bug!("the library has no `{SET}`"))
    }
    /// A new class of the user's, with so many fields whose types its values decide.
    pub fn of_user(path: String, user: User, open: usize) -> Class {
        Class(Box::leak(Box::new(Declaration {
            path,
            parameters: (0..open).map(|i| format!("T{i}")).collect(),
            fields: Vec::new(),
            items: None,
            by_value: false,
            entries: None,
            infers: Vec::new(),
            user: Some(user),
        })))
    }
    /// The class of Python, if the library does not declare it.
    pub fn user(self) -> Option<User> {
        self.0.user
    }
    /// Its declaration.
    pub fn declaration(self) -> &'static Declaration {
        self.0
    }
    /// The type arguments that the arguments of a method determine, if it declares that.
    pub fn teaching(self, method: &str) -> Option<Teaching> {
        self.0.infers.iter().find(|(name, _)| name == method).map(|(_, text)| Teaching(text))
    }
    /// The number of a type parameter.
    pub fn parameter(self, name: &str) -> Option<usize> {
        self.0.parameters.iter().position(|p| p == name)
    }
    /// Its path in the library.
    pub fn path(self) -> &'static str {
        &self.0.path
    }
    /// Whether its instances are those of a builtin class of Python.
    pub fn is_builtin(self) -> bool {
        self.path().starts_with("builtins.")
    }
    /// Whether it is that of list displays of values of several types.
    pub fn is_mixed(self) -> bool {
        self.path() == MIXED
    }
    /// Whether it is that of tuples whose length is known only at run time.
    pub fn is_tuple(self) -> bool {
        self.path() == TUPLE
    }
    /// Whether its instances become objects of a class that Python has.
    pub fn is_of_python(self) -> bool {
        self.is_builtin() || self.is_tuple() || self.path().starts_with("collections.")
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
