//! Types. A [`Ty`] is an interned, immutable description: copying and comparing it cost nothing.
//!
//! Every type has a flat run-time form, [`Ty::flatten`]: a list of machine primitives. SSA values of the type are
//! lowered to that many LLVM values, arguments occupy that many 8-byte slots at the Python border, and memory holds
//! them as a C struct ([`Ty::mem_layout`]). Types known only while compiling flatten to nothing.

mod extension;
mod record;
mod weak;

pub use record::{Chars, Record, RecordField};

use crate::class::Class;
use crate::entity::{FuncId, ObjId, SpecId};
use crate::meaning::TupleMeaning;
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{LazyLock, Mutex};

/// An interned type.
#[derive(Clone, Copy)]
pub struct Ty(&'static TyKind);

/// Memory order of an array, part of its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layout {
    /// Row-major and contiguous.
    C,
    /// Column-major and contiguous.
    F,
    /// Any strides.
    A,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum TyKind {
    /// The type of an expression that never has a value (it raises), and of values not yet inferred.
    Never,
    /// `None`.
    None,
    /// `bool` and `numpy.bool_`.
    Bool,
    /// Integers. `weak` marks Python's `int` (always 64 bits, signed), which adapts to typed operands as in NEP 50.
    Int { bits: u8, signed: bool, weak: bool },
    /// `float16`, `float32` and `float64`. `weak` marks Python's `float` (64 bits).
    Float { bits: u8, weak: bool },
    /// `bfloat16`: the upper half of a `float32`, in registers and memory a 16-bit integer.
    Bfloat16,
    /// `complex64` and `complex128`. `weak` marks Python's `complex` (128 bits).
    Complex { bits: u8, weak: bool },
    /// `str`: owner, UTF-8 data, length in bytes.
    Str,
    /// A tuple; `name` is set for a namedtuple.
    Tuple { elems: Vec<Ty>, name: Option<NamedTuple> },
    /// An item of a structured dtype: the owner of memory and an address in it.
    Record(Record),
    /// A NumPy array.
    Array { dtype: Ty, ndim: u8, layout: Layout, readonly: bool },
    /// An instance of a class that the library declares, as a pointer to the object.
    Class(ClassTy),
    /// An instance of a class whose items are not known yet, by where it is made; solved within one inference.
    Pending(u32, Class),
    /// A value or `None`.
    Optional(Ty),
    /// The state of a local variable that is not assigned.
    Unbound,
    /// A local variable that may be unassigned; like an optional, with "is assigned" first.
    MaybeUnbound(Ty),
    /// `range`: start, stop, step.
    Range(Ty),
    /// A slice; each part is `None` or an integer type.
    Slice([Ty; 3]),
    /// A scalar type used as a value: `np.float64`, `np.dtype("f4")`, `int`. Known while compiling only.
    DType(Ty),
    /// A Python function known while compiling.
    Func(FuncId),
    /// An inner function with the values it captured; the last of its defaults are those of the keyword-only parameters
    /// named.
    Closure { func: FuncId, captures: Vec<Ty>, defaults: Vec<Ty>, named: Vec<String> },
    /// One of several functions, or of instances ([`Ty::several`]), chosen at run time: its number, then each of them.
    Choice(Vec<Ty>),
    /// A method looked up on a value: the value, then the function.
    BoundMethod { recv: Ty, name: String },
    /// A native value that a Python class gives its meaning.
    Instance { of: Ty, class: InstanceOf },
    /// Any other Python object known while compiling (module, class, builtin).
    Obj(ObjId),
    /// A caught exception instance: a run-time handle.
    Exc,
    /// An iterator; it exists only inside one function.
    Iter(Ty),
    /// A raw address, only in the library.
    Ptr,
    /// A reference-counted allocation, only in the library: owner of arrays and strings.
    MemInfo,
    /// An object of Python whose class has no type: the owner of a reference to it, and its address.
    PyObject,
    /// `...`
    Ellipsis,
    /// A generator: an object with one item, its frame, and the function that goes on with it.
    #[serde(skip_serializing)]
    Generator(GeneratorTy),
    /// An argument whose value is known (`literally`); at run time it is passed as a value of its type.
    Literal(Literal),
    /// A type that a program defines (`lancehead.extending`), by its number, and what its values consist of.
    #[serde(skip_serializing)]
    Extension { number: u32, model: Ty },
}

/// A class with the types that it is of.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ClassTy {
    /// The class.
    pub class: Class,
    /// A type for each of its parameters.
    pub args: Vec<Ty>,
    /// Type of the items that an instance stores, if it does.
    pub items: Option<Ty>,
    /// Type of the entries that an instance stores beside its fields, if it does.
    pub entries: Option<Ty>,
    /// Types of the fields that an instance consists of, if it is a value.
    pub parts: Option<Vec<Ty>>,
    /// Whether instances are constants, which cannot be changed: global ones.
    pub constant: bool,
}

/// The types that go into a generator and come out.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct GeneratorTy {
    /// Its items.
    pub item: Ty,
    /// The type that is sent to it: `none`, or an optional.
    pub sent: Ty,
    /// The type that it returns at its end: `none`, or an optional, which is empty if it had ended before.
    pub ret: Ty,
    /// The function with the `yield`s.
    pub func: FuncId,
    /// The function that goes on with it.
    pub next: SpecId,
}

impl GeneratorTy {
    /// The result of the function that goes on with it: whether there is an item, the item, what it has returned.
    pub fn step(&self) -> Ty {
        Ty::tuple(vec![Ty::bool(), self.item, self.ret])
    }
}

/// The memory that values of a type refer to.
pub enum Holds {
    /// None: numbers, constants, text, whose characters are never written.
    Nothing,
    /// That of arrays and records.
    Memory,
    /// That of objects, which may hold others.
    Objects,
    /// That of their parts.
    Parts(&'static [Ty], &'static [Ty]),
}

/// The value of a literal type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Literal {
    /// An `int`.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// A `str`.
    Str(String),
    /// A list or dictionary as its display made it. Only overloads are asked with it.
    Initial(Box<Initial>),
}

/// The constants that a display gave a list or dictionary at first.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Initial {
    /// The type of the list or dictionary.
    pub ty: Ty,
    /// The keys of a dictionary; a list has none.
    pub keys: Vec<Literal>,
    /// The items of a list or values of a dictionary.
    pub values: Vec<Literal>,
}

impl Literal {
    /// The type that the value is of.
    pub fn ty(&self) -> Ty {
        match self {
            Literal::Int(_) => Ty::int(),
            Literal::Bool(_) => Ty::bool(),
            Literal::Str(_) => Ty::str(),
            Literal::Initial(d) => d.ty,
        }
    }
}

/// A Python class whose instances are native values of another type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum InstanceOf {
    /// An enumeration: a member's position, or its value where members are integers, texts or floats.
    Enum {
        /// Name of the class.
        name: String,
        /// The class.
        class: ObjId,
        /// Whether members are their values.
        values: bool,
    },
    /// A class of objects that are memory: an array.
    Buffer(Buffer),
    /// An address of values of a type.
    Pointer(Ty),
    /// A type that is defined later, by its number. Only types of fields mention it, until [`Ty::defined`].
    Deferred(u32),
    /// A function as a value of a function type: it is called with these types and gives this one. As a parameter it is
    /// the type of the function that a call passes. Where the type says nothing of that, as in a field or an item, it
    /// is an `int`: one more than the number of its object, or zero for none.
    Function {
        /// Types of the arguments.
        args: Vec<Ty>,
        /// Result type.
        ret: Ty,
    },
    /// An exception as the first argument of a method of its class.
    Error {
        /// Name of the class.
        name: String,
        /// The class.
        class: ObjId,
        /// The fields that it is known to have, by name.
        fields: Vec<(String, Ty)>,
        /// Types of its arguments, where they are known.
        args: Option<Vec<Ty>>,
    },
}

/// The class of an exception, its fields, and the types of its arguments.
pub type ErrorFacts = (ObjId, &'static [(String, Ty)], Option<&'static [Ty]>);

/// A class of objects with the buffer protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Buffer {
    /// `bytes`.
    Bytes,
    /// `bytearray`.
    ByteArray,
    /// `memoryview`.
    MemoryView,
    /// `array.array`.
    Array,
}

impl Buffer {
    /// All of them; the position is their number in tags of arguments.
    pub const ALL: [Buffer; 4] = [Buffer::Bytes, Buffer::ByteArray, Buffer::MemoryView, Buffer::Array];
    /// The class by its path.
    pub fn path(self) -> &'static str {
        match self {
            Buffer::Bytes => "builtins.bytes",
            Buffer::ByteArray => "builtins.bytearray",
            Buffer::MemoryView => "builtins.memoryview",
            Buffer::Array => "array.array",
        }
    }
    /// The class by its name.
    pub fn name(self) -> &'static str {
        self.path().rsplit('.').next().expect("a path has a name")
    }
}

/// Identity of a namedtuple class: the Python class and its field names.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct NamedTuple {
    /// Name of the class.
    pub name: String,
    /// The class.
    pub class: ObjId,
    /// Field names in order.
    pub fields: Vec<String>,
    /// The meaning that the library declares for the class.
    pub meaning: Option<TupleMeaning>,
}

/// A machine primitive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Prim {
    /// A truth value; one byte in memory.
    I1,
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// `_Float16`.
    F16,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// An address that is not reference counted.
    Ptr,
    /// Address of a `MemInfo` (or null): the owner of array data or string data.
    Mem,
    /// Address of an object of a declared class, which starts with a `MemInfo`.
    Object,
}

impl Prim {
    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, Prim::F16 | Prim::F32 | Prim::F64)
    }
    /// Size and alignment in memory, bytes.
    pub fn size(self) -> usize {
        match self {
            Prim::I1 | Prim::I8 => 1,
            Prim::I16 | Prim::F16 => 2,
            Prim::I32 | Prim::F32 => 4,
            Prim::I64 | Prim::F64 | Prim::Ptr | Prim::Mem | Prim::Object => 8,
        }
    }
    /// Whether a value of this primitive holds a reference that is counted.
    pub fn is_counted(self) -> bool {
        matches!(self, Prim::Mem | Prim::Object)
    }
}

static INTERNED: LazyLock<Mutex<HashSet<&'static TyKind>>> = LazyLock::new(Default::default);

/// The types that have numbers.
static NUMBERED: Mutex<Vec<Ty>> = Mutex::new(Vec::new());

impl Ty {
    /// A number that stands for the type in this process.
    pub fn number(self) -> usize {
        let mut numbered = NUMBERED.lock().unwrap_or_else(|e| e.into_inner());
        numbered.iter().position(|t| *t == self).unwrap_or_else(|| {
            numbered.push(self);
            numbered.len() - 1
        })
    }
    /// The type of a number.
    pub fn of_number(number: usize) -> Option<Ty> {
        NUMBERED.lock().unwrap_or_else(|e| e.into_inner()).get(number).copied()
    }
    /// The interned type of a kind.
    pub fn new(kind: TyKind) -> Ty {
        let mut set = INTERNED.lock().expect("no panic while interning");
        if let Some(k) = set.get(&kind) {
            return Ty(k);
        }
        let k: &'static TyKind = Box::leak(Box::new(kind));
        set.insert(k);
        Ty(k)
    }
    /// Its kind.
    pub fn kind(self) -> &'static TyKind {
        self.0
    }
}

macro_rules! shorthand {
    ($($(#[$doc:meta])* $name:ident = $kind:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> Ty {
            static T: LazyLock<Ty> = LazyLock::new(|| Ty::new($kind));
            *T
        }
    )*};
}

impl Ty {
    shorthand! {
        /// No value.
        never = TyKind::Never;
        /// `None`.
        none = TyKind::None;
        /// `bool`.
        bool = TyKind::Bool;
        /// NumPy's `int8`.
        i8 = TyKind::Int { bits: 8, signed: true, weak: false };
        /// NumPy's `int16`.
        i16 = TyKind::Int { bits: 16, signed: true, weak: false };
        /// NumPy's `int32`.
        i32 = TyKind::Int { bits: 32, signed: true, weak: false };
        /// NumPy's `int64`.
        i64 = TyKind::Int { bits: 64, signed: true, weak: false };
        /// NumPy's `uint8`.
        u8 = TyKind::Int { bits: 8, signed: false, weak: false };
        /// NumPy's `uint16`.
        u16 = TyKind::Int { bits: 16, signed: false, weak: false };
        /// NumPy's `uint32`.
        u32 = TyKind::Int { bits: 32, signed: false, weak: false };
        /// NumPy's `uint64`.
        u64 = TyKind::Int { bits: 64, signed: false, weak: false };
        /// NumPy's `float16`.
        f16 = TyKind::Float { bits: 16, weak: false };
        /// `bfloat16`, of the package `ml_dtypes`.
        bf16 = TyKind::Bfloat16;
        /// NumPy's `float32`.
        f32 = TyKind::Float { bits: 32, weak: false };
        /// NumPy's `float64`.
        f64 = TyKind::Float { bits: 64, weak: false };
        /// NumPy's `complex64`.
        c64 = TyKind::Complex { bits: 64, weak: false };
        /// NumPy's `complex128`.
        c128 = TyKind::Complex { bits: 128, weak: false };
        /// Python's `int`.
        int = TyKind::Int { bits: 64, signed: true, weak: true };
        /// Python's `float`.
        float = TyKind::Float { bits: 64, weak: true };
        /// Python's `complex`.
        complex = TyKind::Complex { bits: 128, weak: true };
        /// `str`.
        str = TyKind::Str;
        /// A raw address.
        ptr = TyKind::Ptr;
        /// An owner.
        meminfo = TyKind::MemInfo;
        /// A caught exception.
        exc = TyKind::Exc;
        /// Any object of Python.
        pyobject = TyKind::PyObject;
        /// `...`
        ellipsis = TyKind::Ellipsis;
    }
    /// A plain tuple.
    pub fn tuple(elems: Vec<Ty>) -> Ty {
        Ty::new(TyKind::Tuple { elems, name: None })
    }
    /// A writable array.
    pub fn array(dtype: Ty, ndim: usize, layout: Layout) -> Ty {
        Ty::array_ro(dtype, ndim, layout, false)
    }
    /// An array, perhaps read-only. Element types are never weak; 0-d arrays are always C.
    pub fn array_ro(dtype: Ty, ndim: usize, layout: Layout, readonly: bool) -> Ty {
        let layout = if ndim == 0 || (ndim == 1 && layout == Layout::F) { Layout::C } else { layout };
        Ty::new(TyKind::Array { dtype: dtype.strong(), ndim: ndim as u8, layout, readonly })
    }
    /// A value or `None`; of an optional, itself.
    pub fn optional(t: Ty) -> Ty {
        match t.kind() {
            TyKind::Optional(_) | TyKind::None => t,
            _ => Ty::new(TyKind::Optional(t)),
        }
    }
    /// A scalar type as a value.
    pub fn dtype(t: Ty) -> Ty {
        Ty::new(TyKind::DType(t))
    }
    /// The type of the values that a pointer type's values are addresses of, if it is known.
    pub fn pointee(self) -> Option<Ty> {
        match self.0 {
            TyKind::Instance { class: InstanceOf::Pointer(t), .. } => Some(*t),
            _ => None,
        }
    }
    /// Whether values are addresses.
    pub fn is_address(self) -> bool {
        self == Ty::ptr() || self.pointee().is_some()
    }
    /// A function type in a signature: any function, used with these types only.
    pub fn function(args: Vec<Ty>, ret: Ty) -> Ty {
        Ty::new(TyKind::Instance { of: Ty::int(), class: InstanceOf::Function { args, ret } })
    }
    /// Whether a signature leaves open which functions are meant.
    pub fn is_open(self) -> bool {
        match self.0 {
            TyKind::Instance { of, class: InstanceOf::Function { .. } } => *of == Ty::int(),
            _ => self.tuple_elems().is_some_and(|elems| elems.iter().any(|t| t.is_open())),
        }
    }
    /// The type of a signature with the functions of an argument's type, which fits it, in place of those left open.
    pub fn with_functions(self, of: Ty) -> Ty {
        match (self.0, of.0) {
            (TyKind::Instance { class: a, .. }, TyKind::Instance { class: b, .. }) if a == b => of,
            (TyKind::Instance { class, .. }, _) if self.is_open() => {
                Ty::new(TyKind::Instance { of, class: class.clone() })
            }
            (TyKind::Tuple { elems, name }, TyKind::Tuple { elems: given, .. }) => {
                let elems = elems.iter().zip(given).map(|(t, g)| t.with_functions(*g)).collect();
                Ty::new(TyKind::Tuple { elems, name: name.clone() })
            }
            _ => self,
        }
    }
    /// Whether it is that of functions as values.
    pub fn is_function(self) -> bool {
        match self.0 {
            TyKind::Instance { class, .. } => matches!(class, InstanceOf::Function { .. }),
            TyKind::Choice(_) => self.several().is_none(),
            _ => matches!(self.0, TyKind::Func(_) | TyKind::Closure { .. } | TyKind::Obj(_) | TyKind::DType(_)),
        }
    }
    /// The class of memory that its values are instances of.
    pub fn as_buffer(self) -> Option<Buffer> {
        match self.0 {
            TyKind::Instance { class: InstanceOf::Buffer(b), .. } => Some(*b),
            _ => None,
        }
    }
    /// Name, class and whether members are their values, of members of an enumeration.
    pub fn as_enum(self) -> Option<(&'static str, ObjId, bool)> {
        match self.0 {
            TyKind::Instance { class: InstanceOf::Enum { name, class, values }, .. } => Some((name, *class, *values)),
            _ => None,
        }
    }
    /// The type as which a member acts that is its value; any other type is its own.
    pub fn native(self) -> Ty {
        let TyKind::Instance { of, class: InstanceOf::Enum { values: true, .. } } = self.0 else { return self };
        *of
    }
    /// The class, fields and types of arguments of an exception whose class is known.
    pub fn as_error(self) -> Option<ErrorFacts> {
        match self.0 {
            TyKind::Instance { class: InstanceOf::Error { class, fields, args, .. }, .. } => {
                Some((*class, fields, args.as_deref()))
            }
            _ => None,
        }
    }
    /// Whether no value of it exists.
    pub fn is_never(self) -> bool {
        matches!(self.0, TyKind::Never)
    }
    /// `None`.
    pub fn is_none(self) -> bool {
        matches!(self.0, TyKind::None)
    }
    /// `bool`.
    pub fn is_bool(self) -> bool {
        matches!(self.0, TyKind::Bool)
    }
    /// An integer, not `bool`.
    pub fn is_int(self) -> bool {
        matches!(self.0, TyKind::Int { .. })
    }
    /// A signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self.0, TyKind::Int { signed: true, .. })
    }
    /// A real floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self.0, TyKind::Float { .. } | TyKind::Bfloat16)
    }
    /// `float16` or `bfloat16`, which are computed in `float32`.
    pub fn is_half(self) -> bool {
        matches!(self.0, TyKind::Float { bits: 16, .. } | TyKind::Bfloat16)
    }
    /// A complex number.
    pub fn is_complex(self) -> bool {
        matches!(self.0, TyKind::Complex { .. })
    }
    /// `bool`, integer, float or complex.
    pub fn is_number(self) -> bool {
        self.is_bool() || self.is_int() || self.is_float() || self.is_complex()
    }
    /// An object of Python whose class has no type.
    pub fn is_pyobject(self) -> bool {
        matches!(self.0, TyKind::PyObject)
    }
    /// Whether it is an array of such objects, or has parts or type arguments that are one.
    pub fn mentions_object_arrays(self) -> bool {
        let is_one = |t: Ty| t.as_array().is_some_and(|(dtype, ..)| dtype.is_pyobject());
        is_one(self) || self.mentions(&is_one)
    }
    /// An array.
    pub fn is_array(self) -> bool {
        matches!(self.0, TyKind::Array { .. })
    }
    /// A tuple, perhaps named.
    pub fn is_tuple(self) -> bool {
        matches!(self.0, TyKind::Tuple { .. })
    }
    /// Width of a number in bits (a complex number's both parts together).
    pub fn bits(self) -> u32 {
        match *self.0 {
            TyKind::Bool => 8,
            TyKind::Bfloat16 => 16,
            TyKind::Int { bits, .. } | TyKind::Float { bits, .. } => u32::from(bits),
            TyKind::Complex { bits, .. } => u32::from(bits),
            _ => 0,
        }
    }
    /// Size as an array element, bytes.
    pub fn itemsize(self) -> usize {
        match self.0 {
            TyKind::Record(r) => r.size,
            // Arrays of NumPy hold addresses alone.
            TyKind::PyObject => 8,
            TyKind::Tuple { .. } | TyKind::Class(ClassTy { parts: Some(_), .. }) => self.mem_layout().1,
            _ => self.bits() as usize / 8,
        }
    }
    /// Whether values are records with fields.
    pub fn is_record(self) -> bool {
        self.as_record().is_some_and(|r| !r.fields.is_empty())
    }
    /// The fields of a record.
    pub fn as_record(self) -> Option<&'static Record> {
        let TyKind::Record(r) = self.0 else { return None };
        Some(r)
    }
    /// The units of texts of fixed length in arrays of this type.
    pub fn chars(self) -> Option<Chars> {
        self.as_record()?.chars
    }
    /// The real type of a complex type's parts; other types themselves.
    pub fn real_part(self) -> Ty {
        match *self.0 {
            TyKind::Complex { bits: 64, .. } => Ty::f32(),
            TyKind::Complex { weak, .. } => {
                if weak {
                    Ty::float()
                } else {
                    Ty::f64()
                }
            }
            _ => self,
        }
    }
    /// The type of a literal type's value; other types themselves.
    pub fn unliteral(self) -> Ty {
        match self.0 {
            TyKind::Literal(l) => l.ty(),
            _ => self,
        }
    }
    /// Elements of a tuple.
    pub fn tuple_elems(self) -> Option<&'static [Ty]> {
        match self.0 {
            TyKind::Tuple { elems, .. } => Some(elems),
            _ => None,
        }
    }
    /// Element type, rank, layout and read-only flag of an array.
    pub fn as_array(self) -> Option<(Ty, usize, Layout, bool)> {
        match *self.0 {
            TyKind::Array { dtype, ndim, layout, readonly } => Some((dtype, ndim as usize, layout, readonly)),
            _ => None,
        }
    }

    /// The machine primitives that make a value of the type, in order.
    ///
    /// Array: owner (`Mem`), data (`Ptr`), shape (`I64` each), strides in bytes (`I64` each). Str: owner, data, bytes.
    /// Class: object (`Object`). Optional: `I1` "has a value", then the value. Range: start, stop, step.
    /// Complex: real, imaginary. Tuple: its elements. Closure: captures, then defaults. Choice: `I64` which, then all
    /// of them. BoundMethod: its receiver. Instance: its value. Extension: its model. PyObject: owner, address.
    /// Slice: the parts that are not `None`. Exc: `I64` handle. Compile-time types: nothing.
    pub fn flatten(self) -> Vec<Prim> {
        let mut out = Vec::new();
        self.flatten_into(&mut out);
        out
    }
    fn flatten_into(self, out: &mut Vec<Prim>) {
        match self.0 {
            TyKind::Never
            | TyKind::None
            | TyKind::Unbound
            | TyKind::DType(_)
            | TyKind::Func(_)
            | TyKind::Obj(_)
            | TyKind::Ellipsis
            | TyKind::Iter(_) => {}
            TyKind::Bool => out.push(Prim::I1),
            TyKind::Int { bits, .. } => out.push(match bits {
                8 => Prim::I8,
                16 => Prim::I16,
                32 => Prim::I32,
                _ => Prim::I64,
            }),
            TyKind::Bfloat16 => out.push(Prim::I16),
            TyKind::Float { bits, .. } => out.push(match bits {
                16 => Prim::F16,
                32 => Prim::F32,
                _ => Prim::F64,
            }),
            TyKind::Complex { bits, .. } => {
                let p = if *bits == 64 { Prim::F32 } else { Prim::F64 };
                out.extend([p, p]);
            }
            TyKind::Str => out.extend([Prim::Mem, Prim::Ptr, Prim::I64]),
            TyKind::Record(_) | TyKind::PyObject => out.extend([Prim::Mem, Prim::Ptr]),
            TyKind::Tuple { elems, .. } => elems.iter().for_each(|t| t.flatten_into(out)),
            TyKind::Array { ndim, .. } => {
                out.extend([Prim::Mem, Prim::Ptr]);
                out.extend(std::iter::repeat_n(Prim::I64, 2 * *ndim as usize));
            }
            TyKind::Class(ClassTy { parts: Some(of), .. }) => of.iter().for_each(|t| t.flatten_into(out)),
            TyKind::Class(_) | TyKind::Pending(..) | TyKind::Generator(_) => out.push(Prim::Object),
            TyKind::Optional(t) | TyKind::MaybeUnbound(t) => {
                out.push(Prim::I1);
                t.flatten_into(out);
            }
            TyKind::Range(t) => (0..3).for_each(|_| t.flatten_into(out)),
            TyKind::Slice(parts) => parts.iter().for_each(|t| t.flatten_into(out)),
            TyKind::Closure { captures, defaults, .. } => {
                captures.iter().chain(defaults).for_each(|t| t.flatten_into(out));
            }
            TyKind::Literal(l) => l.ty().flatten_into(out),
            TyKind::Choice(of) => {
                out.push(Prim::I64);
                of.iter().for_each(|t| t.flatten_into(out));
            }
            TyKind::BoundMethod { recv, .. } => recv.flatten_into(out),
            TyKind::Instance { of, .. } | TyKind::Extension { model: of, .. } => of.flatten_into(out),
            TyKind::Ptr => out.push(Prim::Ptr),
            TyKind::Exc | TyKind::MemInfo => out.push(Prim::Mem),
        }
    }
    /// Byte offset of each primitive, total size and alignment, when a value is kept in memory as a C struct.
    pub fn mem_layout(self) -> (Vec<usize>, usize, usize) {
        let (mut offsets, mut at, mut align) = (Vec::new(), 0usize, 1usize);
        for p in self.flatten() {
            let s = p.size();
            at = at.next_multiple_of(s);
            offsets.push(at);
            at += s;
            align = align.max(s);
        }
        (offsets, at.next_multiple_of(align), align)
    }
    /// The memory that values refer to.
    pub fn holds(self) -> Holds {
        match self.0 {
            TyKind::Array { .. } | TyKind::Record(_) | TyKind::Ptr => Holds::Memory,
            TyKind::Class(ClassTy { parts: Some(of), .. }) => Holds::Parts(of, &[]),
            TyKind::Class(_) | TyKind::Pending(..) | TyKind::Generator(_) => Holds::Objects,
            TyKind::Tuple { elems, .. } | TyKind::Choice(elems) => Holds::Parts(elems, &[]),
            TyKind::Closure { captures, defaults, .. } => Holds::Parts(captures, defaults),
            TyKind::Optional(of)
            | TyKind::MaybeUnbound(of)
            | TyKind::Iter(of)
            | TyKind::BoundMethod { recv: of, .. }
            | TyKind::Instance { of, .. }
            | TyKind::Extension { model: of, .. } => Holds::Parts(std::slice::from_ref(of), &[]),
            TyKind::Never
            | TyKind::None
            | TyKind::Bool
            | TyKind::Int { .. }
            | TyKind::Float { .. }
            | TyKind::Bfloat16
            | TyKind::Complex { .. }
            | TyKind::Str
            | TyKind::Unbound
            | TyKind::Range(_)
            | TyKind::Slice(_)
            | TyKind::DType(_)
            | TyKind::Func(_)
            | TyKind::Obj(_)
            | TyKind::Exc
            | TyKind::MemInfo
            | TyKind::PyObject
            | TyKind::Ellipsis
            | TyKind::Literal(_) => Holds::Nothing,
        }
    }
    /// Whether a part, or the value itself if it has none, has a property.
    pub fn any_part(self, has: &dyn Fn(Ty) -> bool) -> bool {
        match self.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| t.any_part(has)),
            Holds::Nothing | Holds::Memory | Holds::Objects => has(self),
        }
    }
    /// As [`Ty::any_part`], for type arguments of classes, too.
    pub fn mentions(self, has: &dyn Fn(Ty) -> bool) -> bool {
        self.any_part(&|t| has(t) || t.as_class().is_some_and(|c| c.args.iter().any(|a| a.mentions(has))))
    }
    /// Whether values hold counted references.
    pub fn is_counted(self) -> bool {
        self.flatten().iter().any(|p| p.is_counted())
    }
}

impl PartialEq for Ty {
    fn eq(&self, other: &Ty) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Ty {}
impl std::hash::Hash for Ty {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        (std::ptr::from_ref(self.0) as usize).hash(h);
    }
}
impl fmt::Debug for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.numba(), f)
    }
}
