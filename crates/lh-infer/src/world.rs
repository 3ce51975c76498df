//! The environment of inference, which `lh-driver` implements, so that user code, library code and tests come in by the
//! same door.

use lh_ir::class::{Binding, Class};
use lh_ir::diag::Result;
use lh_ir::func::{ForeignAbi, Options};
pub use lh_ir::spec::{Adjoint, ArgTy, Spec};
use lh_ir::types::{InstanceOf, NamedTuple, TyKind};
use lh_ir::untyped::Code;
use lh_ir::{Const, ExcId, FuncId, Meaning, ObjId, SpecId, Ty};
use std::sync::Arc;

/// The module whose functions are overloaded by what programs say of values of their types.
pub(crate) const IMPLICIT: &str = "lancehead.lowlevel.implicit";

/// A Python object that is known at compile time.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// A constant: `None`, `bool`, Python or NumPy number, `str`.
    Const(Const),
    /// A tuple of objects; `Some` for a namedtuple instance.
    Tuple(Vec<ObjId>, Option<NamedTuple>),
    /// A Python function, or the function of one of our dispatchers.
    Func(FuncId),
    /// A scalar type: `np.float64`, `np.dtype("f8")`, `int`, `float`, `bool`, `complex`, `types.float64`.
    DType(Ty),
    /// Any of our types that is not a scalar type (`types.float64[:]`), as a value.
    Type(Ty),
    /// A module, by name.
    Module(String),
    /// A builtin, ufunc or library function: known by where it lives, e.g. `builtins.len`, `math.sin`, `numpy.sum`,
    /// `operator.add`, `numpy.random.rand`, `numpy.linalg.norm`, `lancehead.prange`.
    Path(String),
    /// An exception class, with its name.
    ExcClass(ExcId, String),
    /// A class made by `collections.namedtuple` or `typing.NamedTuple`.
    NamedTupleClass(NamedTuple),
    /// A class whose instances have fields.
    Class(Arc<UserClass>),
    /// A property: the functions that read and write it.
    Property(Option<ObjId>, Option<ObjId>),
    /// `bytes`.
    Bytes(Vec<u8>),
    /// A class of an enumeration.
    EnumClass(EnumClass),
    /// A member of an enumeration: the class, and its position in it; of flags, its value.
    EnumMember(EnumClass, usize),
    /// A constant array (global or captured): its type, shape and strides (bytes). Compiled code reads the array's
    /// memory; only kernels can read that of a GPU's array.
    Array { ty: Ty, shape: Vec<i64>, strides: Vec<i64>, on_gpu: bool },
    /// A container frozen at compile time: items.
    List(Vec<ObjId>),
    /// A constant dictionary or set: the type of its native copy, and the functions and the like that it holds.
    Table(Ty, Vec<ObjId>),
    /// A ufunc made by the user.
    Ufunc(Arc<Ufunc>),
    /// `functools.partial`: a function, and arguments by position and by name.
    Partial { func: ObjId, args: Vec<ObjId>, keywords: Vec<(String, ObjId)> },
    /// A method of an object, whose code is not Python's: the object, and the name.
    BoundMethod(ObjId, String),
    /// `operator.itemgetter` and the like: the class, and arguments by position and by name.
    Getter { class: String, args: Vec<ObjId>, keywords: Vec<(String, ObjId)> },
    /// A function that `functools.cache` keeps results of, and the most results; `None`: as many as there are.
    Cached(ObjId, Option<u64>),
    /// A slice of objects.
    Slice([ObjId; 3]),
    /// A stencil.
    Stencil(Arc<Stencil>),
    /// A function for devices that is defined in another language.
    Linked(Arc<Linked>),
    /// A function that was compiled elsewhere.
    Foreign(Arc<Foreign>),
    /// `...`
    Ellipsis,
    /// A constant point or span of time: its ticks and type.
    Time(i64, Ty),
    /// An object of a type that the program defines: the function that makes its value.
    Extension(FuncId),
    /// Memory of so many bytes, which belongs to the function that is being typed: variables of a code generator whose
    /// addresses it gives away.
    Frame(u64),
    /// Anything else: its type's name and a short text for messages.
    Other(String),
}

/// A function for devices that is defined in another language, as its declaration says.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// Its symbol.
    pub name: String,
    /// Types of its parameters.
    pub args: Vec<Ty>,
    /// Type of its result.
    pub ret: Ty,
    /// Whether it has C's calling convention; else Numba's, `int f(T *result, ...)`.
    pub is_plain: bool,
}

/// A function that was compiled elsewhere: its code is found at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// Its name for users.
    pub name: String,
    /// How it is called.
    pub abi: ForeignAbi,
    /// A text that identifies it in every process; `None` if there is none.
    pub identity: Option<String>,
    /// Names of its parameters, if it has such.
    pub params: Vec<String>,
    /// Types of arguments and result, by signature.
    pub signatures: Vec<ForeignSignature>,
    /// Why it cannot be called, if it cannot.
    pub refused: Option<String>,
    /// Whether there is no code at its address.
    pub is_null: bool,
}

/// A signature of a function that was compiled elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignSignature {
    /// Types of its parameters.
    pub args: Vec<Ty>,
    /// Type of its result.
    pub ret: Ty,
    /// Where it stands, in bytes from the function's address on.
    pub offset: usize,
    /// Arguments whose memory it may write, as in [`lh_ir::func::Foreign`].
    pub writes: u32,
}

/// A class that a program defines, whose instances have fields.
#[derive(Clone, Debug, PartialEq)]
pub struct UserClass {
    /// The class of compiled code.
    pub class: Class,
    /// Whether its `__init__` is made of its fields; else the program defines it.
    pub is_record: bool,
    /// How its `__init__` gives values to its fields, if it is made of them.
    pub makes: Vec<FieldInit>,
    /// Parameters of `__init__` that are no fields; `__post_init__` gets them.
    pub extra: Vec<String>,
    /// The exception class that assignments raise, if its fields cannot be assigned, and whether it takes a text.
    pub frozen: Option<(ObjId, bool)>,
    /// The name and the fields that `repr` shows, if it does.
    pub shown: Option<(String, Vec<String>)>,
    /// The fields by which instances are ordered, if `attrs` orders them.
    pub order: Option<Vec<String>>,
}

/// How a field gets its value when an instance is made.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInit {
    /// Name of the field.
    pub name: String,
    /// Name of the parameter of `__init__` that gives its value, if there is one.
    pub parameter: Option<String>,
    /// The value of a field without a parameter; or the default of the parameter that stands for a call of `factory`.
    pub default: Option<ObjId>,
    /// The function that makes its value where none is given.
    pub factory: Option<ObjId>,
}

/// An enumeration whose members are objects of their own, or integers, texts or floats.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumClass {
    /// Name of the class.
    pub name: String,
    /// The class.
    pub class: ObjId,
    /// The type of the values that members are.
    pub values: Option<Ty>,
    /// Whether the text of a member that is its value is `Class.member` all the same.
    pub named: bool,
    /// Whether a format takes what `str` gives for a member that is its value.
    pub formatted: bool,
    /// Whether the program defines `__str__`, and whether it defines `__repr__`.
    pub own_texts: [bool; 2],
    /// Whether members are flags: one is its value, and several may be joined to one.
    pub flags: bool,
    /// Names and values of the members in order.
    pub members: Vec<(String, ObjId)>,
    /// Further names and the values that they stand for.
    pub aliases: Vec<(String, ObjId)>,
}

impl EnumClass {
    /// The type of its members.
    pub fn ty(&self) -> Ty {
        let class = InstanceOf::Enum { name: self.name.clone(), class: self.class, values: self.values.is_some() };
        Ty::new(TyKind::Instance { of: self.values.unwrap_or(Ty::int()), class })
    }
}

/// A ufunc that the user made from a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Ufunc {
    /// Its name for users.
    pub name: String,
    /// The function of numbers, or of arrays.
    pub func: FuncId,
    /// Number of inputs.
    pub nin: usize,
    /// Number of outputs, if it is known.
    pub nout: Option<usize>,
    /// Operand types of its loops in order: inputs, then outputs.
    pub loops: Vec<Vec<Ty>>,
    /// Whether it has a loop for any types.
    pub grows: bool,
    /// Its result for no elements.
    pub identity: Option<i64>,
    /// Inputs that are written to.
    pub writable: Vec<usize>,
    /// Core dimensions, of a generalised ufunc.
    pub layout: Option<CoreDims>,
}

/// A function of an array's neighbourhood, applied to every element.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// Its name for users.
    pub name: String,
    /// The function of the neighbourhood.
    pub func: FuncId,
    /// First and last offset in every dimension, where it is given.
    pub neighborhood: Option<Vec<(i64, i64)>>,
    /// Parameters that are indexed as usual.
    pub standard: Vec<String>,
    /// Value of elements whose neighbourhood is not inside the array, where it is given.
    pub cval: Option<ObjId>,
    /// Added to every index.
    pub shifts: Vec<i64>,
}

/// An index into a stencil's array, of each dimension; `None` where it is known only at run time.
pub type Offsets = Vec<Option<i64>>;

/// The layout of a generalised ufunc.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreDims {
    /// As written.
    pub text: String,
    /// Extent of each dimension where it is fixed, else -1.
    pub sizes: Vec<i64>,
    /// Dimensions of every operand, by number.
    pub operands: Vec<Vec<usize>>,
}

/// A request to the Python functions that are registered as overloads.
#[derive(Clone, Debug)]
pub struct Overload<'a> {
    /// The function that is called; `None` for a method or an attribute.
    pub function: Option<Ty>,
    /// Name of the method or attribute.
    pub name: &'a str,
    /// Types of the arguments, the receiver's first; those given by name are last.
    pub args: Vec<Ty>,
    /// The same, with literal types for values that are known while compiling.
    pub literals: Vec<Ty>,
    /// Names of the last arguments.
    pub names: Vec<String>,
    /// Whether it is a call, not an attribute that is read.
    pub is_call: bool,
    /// Whether the type of an argument is not known yet.
    pub is_pending: bool,
    /// Whether the code runs on a CUDA device.
    pub on_device: bool,
}

/// The answer of overloads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overloaded {
    /// There are none that are meant.
    No,
    /// There is a method of the name.
    Method,
    /// It depends on types that are not known yet.
    Later,
    /// The function to be called with the arguments.
    Function(FuncId),
    /// The function to be called with a new instance of a class and the arguments.
    Constructor {
        /// The type of the instance.
        ty: Ty,
        /// The function that sets its fields.
        init: FuncId,
        /// The object that stands for both.
        object: ObjId,
    },
}

/// Types found by typing a function for containers of undecided types.
#[derive(Clone, Debug)]
pub struct Taught {
    /// For each undecided argument the type arguments that it must have, `never` where nothing says so.
    pub args: Vec<Vec<Ty>>,
    /// Result type; `never` if it depends on what is undecided.
    pub ret: Ty,
}

/// Facts about a function.
#[derive(Clone, Debug)]
pub struct FuncInfo {
    /// Whether it belongs to lancehead's library.
    pub is_library: bool,
    /// The meaning that the library declares for it.
    pub meaning: Option<Meaning>,
    /// Compile options of its own decorator; callers' options hold for library functions.
    pub options: Options,
    /// Default values, for the last positional parameters.
    pub defaults: Vec<ObjId>,
    /// Defaults of keyword-only parameters.
    pub kwdefaults: Vec<(String, ObjId)>,
    /// Types that its decorator gives to variables.
    pub locals: Vec<(String, Ty)>,
    /// The type that is sent to it, if it is a generator whose annotation says so: `none` or an optional.
    pub sent: Option<Ty>,
}

/// The surroundings of one inference.
pub trait World {
    /// Untyped IR of a function.
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>>;
    /// Facts about a function.
    fn info(&mut self, f: FuncId) -> FuncInfo;
    /// The signatures to which a function is limited: argument types, and the result type if it is given. Empty for
    /// functions that are compiled for any types.
    fn signatures(&mut self, f: FuncId) -> Vec<(Vec<Ty>, Option<Ty>)>;
    /// An inner function of `f`, by index into `Code::inner`.
    fn inner(&mut self, f: FuncId, index: u32) -> FuncId;
    /// Another inner function of the function that `f` is in, by index into its `Code::inner`.
    fn sibling(&mut self, f: FuncId, index: u32) -> FuncId;
    /// The object that a global name (or builtin) of `f` is bound to; remembered as a dependency of what is compiled.
    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId>;
    /// The object in a closure cell of `f`; remembered as a dependency.
    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId>;
    /// `import name` or `from name import attr`, of modules already imported.
    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId>;
    /// The object of a number.
    fn object(&mut self, o: ObjId) -> Object;
    /// Attribute of an object known while compiling (`np.sum`, `Color.RED`, `np.finfo(...)` results).
    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId>;
    /// The public names of the attributes of such an object, for messages.
    fn names(&mut self, _o: ObjId) -> Vec<String> {
        Vec::new()
    }
    /// The global names that `f` sees, for messages.
    fn globals(&mut self, _f: FuncId) -> Vec<String> {
        Vec::new()
    }
    /// Whether an attribute of a class is a static method.
    fn is_static(&mut self, class: ObjId, name: &str) -> bool;
    /// A function or class attribute of the library dialect by path: `numpy.sum` is `lancehead.lib.numpy.sum`,
    /// `numpy.ndarray.sum` the method of the class `lancehead.lib.numpy.ndarray`. A property is given as its getter
    /// with the flag set.
    fn library(&mut self, path: &str) -> Option<(FuncId, Binding)>;
    /// Calls a Python callable at compile time with constant arguments (`np.finfo(np.float64)`, `np.dtype("f4")`).
    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId>;
    /// Asks overloads about a call or an attribute; recorded as a dependency.
    fn overload(&mut self, what: &Overload<'_>) -> Result<Overloaded>;
    /// An object for a constant, to pass to [`World::fold_call`].
    fn object_of(&mut self, c: &Const) -> ObjId;
    /// Whether exception class `a` is `b` or derives from it.
    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool;
    /// The class of the program that an exception class is; `None` of Python's.
    fn exc_object(&mut self, class: ExcId) -> Option<ObjId>;
    /// The function specialised for argument types, compiling it to typed IR first where needed.
    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec>;
    /// Finds what a function stores in arguments whose types are undecided.
    ///
    /// # Errors
    /// There is no code for the function.
    fn taught(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Taught>;
    /// The derivative of a specialised function with respect to the arguments `asked`; `owners` is the type of the list
    /// that it takes last.
    ///
    /// # Errors
    /// Something has no derivative.
    fn adjoint(&mut self, s: SpecId, asked: &[bool], owners: Option<Ty>) -> Result<Adjoint>;
    /// The tangent of a specialised function, which takes those of the arguments `asked` for after the arguments, and
    /// gives a tuple of the result and its tangent.
    ///
    /// # Errors
    /// Something has no derivative.
    fn tangent(&mut self, s: SpecId, asked: &[bool]) -> Result<Adjoint>;
    /// A number for a function that comes with another one: what gives a generator's next item.
    fn reserve(&mut self, f: FuncId, name: &str) -> SpecId;
    /// Tells the result type found so far for the function being typed; answers whether a recursive call has used the
    /// previous one.
    fn provisional(&mut self, ret: Ty) -> bool;
    /// Whether the function being typed rests on no assumed result of another one.
    fn is_outermost(&mut self) -> bool;
    /// The code with the loop at a header unrolled that many times.
    fn unroll(&mut self, code: &Code, header: lh_ir::Block, times: u32) -> Option<Arc<Code>>;
    /// The indices at which a specialised function, or one that it calls, reads a stencil's arrays.
    fn offsets(&mut self, s: SpecId) -> Vec<Offsets>;
    /// The typed code of specialised functions and of those that they call, as far as it is known.
    fn functions(&mut self, specs: &[SpecId]) -> Vec<Arc<lh_ir::Function>>;
    /// The function of a [`Linked`] object, and the number of its parameters, each the address of a value: results
    /// first. `None` if only NVIDIA's linker can join it to the kernel.
    fn link(&mut self, o: ObjId, name: &str, options: Options) -> Result<Option<(SpecId, usize)>>;
    /// A name for messages: `f.__qualname__`, or the path of an object.
    fn describe(&mut self, o: ObjId) -> String;
    /// The object that stands for a type in programs.
    fn type_object(&mut self, ty: Ty) -> ObjId;
    /// The object of a function; `None` for code inside another function.
    fn function_object(&mut self, f: FuncId) -> Option<ObjId>;
}
