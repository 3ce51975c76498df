//! Abstract values: what is known about a Python value while its function is typed.

use crate::world::Stencil;
use lh_ir::{Block, Const, ExcId, FuncId, ObjId, Ty, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// A Python value: its type, the SSA value that holds it if there is one, and what else is known.
#[derive(Clone, Debug)]
pub struct Val {
    /// Type.
    pub ty: Ty,
    /// Run-time value; made on demand from `known` where missing.
    pub v: Option<Value>,
    /// Constant, parts or other facts that the type alone does not give.
    pub known: Option<Rc<Known>>,
}

/// Knowledge beyond the type.
#[derive(Clone, Debug)]
pub enum Known {
    /// The value itself.
    Const(Const),
    /// Parts of a tuple, slice, range or closure.
    Parts(Vec<Val>),
    /// An iterable that exists only while compiling: `enumerate(a)`, `zip(a, b)`.
    Lazy(Lazy),
    /// A started iterator, and the untyped block in which it was started.
    Plan(Plan, Block),
    /// A new exception instance.
    Exc(ExcId, Vec<Val>),
    /// An exception of one of some classes.
    Caught(Vec<ExcId>),
    /// `e.args` of an exception that was caught.
    ExcArgs(Val),
    /// `super()`: a value, and the class in which attributes are looked up.
    Super(Val, ObjId),
    /// A method bound to a value.
    Method(Val, Method),
    /// A dictionary with constant strings as keys, for `f(**d)` only.
    Keywords(Vec<(String, Val)>, lh_ir::Span),
    /// The merging of another dictionary into a new one.
    Merge(Value),
    /// The iterable of `literal_unroll`.
    Unroll(Val),
    /// A constant copy of a list of the program's, which is this object.
    CopyOf(ObjId),
    /// Python's own `bool`: as a dtype the same as NumPy's, as a function it asks an array for its truth.
    PythonBool,
}

/// An iterable that exists only while compiling.
#[derive(Clone, Debug)]
pub enum Lazy {
    /// `enumerate(inner, start)`
    Enumerate(Val, Val),
    /// `zip(...)`
    Zip(Vec<Val>),
    /// `reversed(inner)`
    Reversed(Val),
    /// `map(f, ...)`
    Map(Val, Vec<Val>),
    /// `filter(f, inner)`
    Filter(Val, Val),
    /// `np.ndindex(shape)`: the extents.
    NdIndex(Vec<Val>),
    /// `np.ndenumerate(array)`
    NdEnumerate(Val),
    /// `array.flat`
    Flat(Val),
    /// `prange(...)` or `pndindex(...)`: the range or index.
    Parallel(Val),
}

/// A started iteration: what to ask for the next item.
#[derive(Clone, Debug)]
pub enum Plan {
    /// A range that does not step past all numbers, up, or down by 1: state is the next number.
    Range { start: Val, stop: Val, step: Val },
    /// Steps that are counted from 0, for parallel loops: state is how many there were.
    Counted { start: Val, step: Val, count: Val },
    /// Any order will do.
    Parallel(Box<Plan>),
    /// A range with any step: states are the next number and how many remain.
    Steps { start: Val, step: Val, count: Val },
    /// Items of a sequence by index: state is the index.
    Items { seq: Val, len: Option<Val>, reversed: bool },
    /// Characters of a string of so many bytes: state is the byte that the next one begins at.
    Chars { text: Val, bytes: Val },
    /// A count beside another iteration.
    Enumerate(Box<Plan>, Val),
    /// Several side by side.
    Zip(Vec<Plan>),
    /// A function of the items of others.
    Map(Val, Vec<Plan>),
    /// Items of a generator: no state; what was asked for last.
    Generator(Val, Rc<RefCell<Option<Val>>>),
    /// Entries of an instance that says itself which comes next: state is the place to search from. The place that was
    /// found last is kept.
    Places { of: Val, token: Val, found: Rc<RefCell<Option<Val>>> },
    /// Positions of an n-dimensional index in row-major order: state is the flat position.
    NdIndex { shape: Vec<Val>, total: Val, array: Option<Val>, with_index: bool },
}

/// The callee of a bound method.
#[derive(Clone, Debug)]
pub enum Method {
    /// A library function whose first parameter is the receiver.
    Library(FuncId),
    /// Something inference does itself.
    Builtin(&'static str),
    /// The function from `@overload_method` for the name and the arguments.
    Overloaded(Rc<str>),
    /// That of the class of an exception, by its name.
    Error(Rc<str>),
    /// The stencil that was made of the receiver.
    Stencil(Rc<Stencil>),
    /// The method of a name of whichever alternative the receiver is.
    Each(Rc<str>),
}

impl Val {
    /// A run-time value.
    pub fn new(ty: Ty, v: Value) -> Val {
        Val { ty, v: Some(v), known: None }
    }
    /// A value fully described by its type (`None`, functions, modules...), or one that cannot exist.
    pub fn of_type(ty: Ty) -> Val {
        let known = ty.is_none().then(|| Rc::new(Known::Const(Const::None)));
        Val { ty, v: None, known }
    }
    /// A constant.
    pub fn constant(c: Const) -> Val {
        Val { ty: c.ty(), v: None, known: Some(Rc::new(Known::Const(c))) }
    }
    /// Python's integer constant.
    pub fn int(i: i128) -> Val {
        Val::constant(Const::Int(i, Ty::int()))
    }
    /// A constant truth value.
    pub fn bool(b: bool) -> Val {
        Val::constant(Const::Bool(b))
    }
    /// A string constant.
    pub fn str(s: impl Into<String>) -> Val {
        Val::constant(Const::Str(s.into()))
    }
    /// A value with knowledge and no run-time form yet.
    pub fn known(ty: Ty, known: Known) -> Val {
        Val { ty, v: None, known: Some(Rc::new(known)) }
    }
    /// A tuple of parts.
    pub fn tuple(parts: Vec<Val>) -> Val {
        let ty = Ty::tuple(parts.iter().map(|p| p.ty).collect());
        Val::known(ty, Known::Parts(parts))
    }
    /// The constant, if it is one.
    pub fn as_const(&self) -> Option<&Const> {
        match self.known.as_deref() {
            Some(Known::Const(c)) => Some(c),
            _ => None,
        }
    }
    /// The constant integer, if it is one.
    pub fn as_int(&self) -> Option<i128> {
        match self.as_const() {
            Some(Const::Int(i, _)) => Some(*i),
            Some(Const::Bool(b)) => Some(i128::from(*b)),
            _ => None,
        }
    }
    /// The constant truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_const() {
            Some(Const::Bool(b)) => Some(*b),
            _ => None,
        }
    }
    /// The constant string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self.as_const() {
            Some(Const::Str(s)) => Some(s),
            _ => None,
        }
    }
    /// The array of `array.flat`.
    pub fn flat(&self) -> Option<Val> {
        match self.known.as_deref() {
            Some(Known::Lazy(Lazy::Flat(a))) => Some(a.clone()),
            _ => None,
        }
    }
    /// Known parts.
    pub fn parts(&self) -> Option<&[Val]> {
        match self.known.as_deref() {
            Some(Known::Parts(p)) => Some(p),
            _ => None,
        }
    }
}
