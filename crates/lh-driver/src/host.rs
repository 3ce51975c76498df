//! The driver's questions to the Python interpreter. `lh-py` implements them; tests may mock them.

use crate::digest::{Digest, Hasher};
use crate::spec::Dep;
use crate::typed_library::TypedLibrary;
use lh_frontend::raw::RawCode;
use lh_infer::{Object, Overload, Overloaded};
use lh_ir::class::Binding;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Options};
use lh_ir::untyped::Code;
use lh_ir::{Const, ExcId, FuncId, Meaning, ObjId, Ty};
pub use lh_llvm::Captured;
use lh_llvm::Output;
use std::fmt;

/// Code of a function.
pub enum Source {
    /// A code object.
    Bytecode(RawCode),
    /// Decoded before.
    Decoded(Code),
}

/// A Python function as the interpreter sees it.
pub struct RawFunction {
    /// Default values, for the last positional parameters.
    pub defaults: Vec<ObjId>,
    /// Defaults of keyword-only parameters.
    pub kwdefaults: Vec<(String, ObjId)>,
    /// Whether its module is part of `lancehead.lib`.
    pub is_library: bool,
    /// The meaning that the library declares for it.
    pub meaning: Option<Meaning>,
    /// Options of its own dispatcher, if it has one.
    pub options: Option<Options>,
}

/// Options that a function with a decorator takes from compiled code that calls it.
#[derive(Clone, Copy, Default)]
pub struct Inherited {
    /// `fastmath`.
    pub fastmath: bool,
    /// `error_model`.
    pub error_model: bool,
}

impl Inherited {
    /// The options of a function that is called by one with some options.
    pub fn applied(self, own: Options, caller: Options) -> Options {
        Options {
            fastmath: if self.fastmath { caller.fastmath } else { own.fastmath },
            numpy_errors: if self.error_model { caller.numpy_errors } else { own.numpy_errors },
            ..own
        }
    }
}

/// A GPU that a kernel is compiled for, and limits of the kernel's launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuTarget {
    /// Compute capability.
    pub capability: (u32, u32),
    /// The newest PTX that the driver reads, times ten.
    pub isa: u32,
    /// Version of the driver, which makes machine code of PTX.
    pub driver: i32,
    /// Threads of a block, at most; blocks of a multiprocessor, at least; registers of a thread and blocks of a
    /// cluster, at most.
    pub limits: (Option<u32>, Option<u32>, Option<u32>, Option<u32>),
    /// Whether the code has line numbers.
    pub lines: bool,
}

/// PTX that a kernel is linked with.
pub struct LinkedPtx {
    pub text: String,
    /// A file of which there is machine code only, and why it has no PTX.
    pub without: Option<String>,
}

/// The reason why there is no PTX to link with, for a message.
pub struct CannotLink(pub String);

impl fmt::Display for CannotLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The interpreter. Objects are numbered by the host, which keeps them alive for the code that is compiled, in scopes;
/// equal objects have equal numbers.
pub trait Host {
    /// The scope in which objects are kept alive now; 0: for ever.
    fn scope(&mut self) -> u64 {
        0
    }
    /// Keeps the objects of another scope alive in this one; false if they are gone.
    fn hold(&mut self, _scope: u64) -> bool {
        true
    }
    /// Whether the objects of a scope are alive.
    fn is_held(&mut self, _scope: u64) -> bool {
        true
    }
    /// How many scopes have ended whose objects nobody keeps.
    fn ended(&mut self) -> usize {
        0
    }
    /// Whether the object of a function is alive.
    fn is_alive(&mut self, _f: FuncId) -> bool {
        true
    }
    /// CPython's version.
    fn version(&self) -> (u8, u8);
    /// A Python function's code. `ObjId` of a dispatcher stands for its function.
    fn code(&mut self, o: ObjId) -> Source;
    /// A Python function's other parts. `ObjId` of a dispatcher stands for its function.
    fn function(&mut self, o: ObjId) -> RawFunction;
    /// Options of a function's own decorator, if it has one; `None` for plain and library functions.
    fn options(&mut self, o: ObjId) -> Option<Options> {
        self.function(o).options
    }
    /// The options that a function with a decorator takes from its caller.
    fn inherited(&mut self, _o: ObjId) -> Inherited {
        Inherited::default()
    }
    /// Types that a function's decorator gives to its variables (`locals=`).
    fn locals(&mut self, _o: ObjId) -> Vec<(String, Ty)> {
        Vec::new()
    }
    /// The type of what is sent to a generator, if its function's annotation says it.
    fn sent(&mut self, _o: ObjId) -> Option<Ty> {
        None
    }
    /// See [`lh_infer::World::signatures`].
    fn signatures(&mut self, _o: ObjId) -> Vec<(Vec<Ty>, Option<Ty>)> {
        Vec::new()
    }
    /// The kind of an object, with its parts. A Python function answers `Object::Func` with a number of the host's
    /// choice, for which [`Host::function_object`] gives the object back.
    fn object(&mut self, o: ObjId) -> Object;
    /// The function object of a number given out by [`Host::object`].
    fn function_object(&mut self, f: FuncId) -> ObjId;
    /// The object that stands for a type in programs.
    fn type_object(&mut self, ty: Ty) -> ObjId;
    /// A new function number for code that has no function object (inner functions); its object is the parent's, whose
    /// globals it shares. Name and first line tell it from others inside the parent.
    fn inner_function(&mut self, parent: FuncId, code: Option<&Code>) -> FuncId;
    /// A global or builtin visible to a function.
    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId>;
    /// The value that a name had when a function of Numba's semantics was first compiled for the types.
    fn frozen(&mut self, f: FuncId, args: &[Ty], name: &str, now: Option<ObjId>) -> Option<ObjId> {
        let _ = (f, args, name);
        now
    }
    /// Contents of a closure cell of a function.
    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId>;
    /// See [`lh_infer::World::import`].
    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId>;
    /// `getattr(o, name)` on modules, classes, dtypes, enums, finfo and iinfo; not on instances of user classes.
    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId>;
    /// See [`lh_infer::World::names`].
    fn names(&mut self, _o: ObjId) -> Vec<String> {
        Vec::new()
    }
    /// See [`lh_infer::World::globals`].
    fn globals(&mut self, _f: FuncId) -> Vec<String> {
        Vec::new()
    }
    /// See [`lh_infer::World::is_static`].
    fn is_static(&mut self, _class: ObjId, _name: &str) -> bool {
        false
    }
    /// See [`lh_infer::World::library`]; imports the library module on first use.
    fn library(&mut self, path: &str) -> Option<(ObjId, Binding)>;
    /// Library functions that were typed before, if they hold for this process.
    fn typed_library(&mut self) -> Option<&'static TypedLibrary> {
        None
    }
    /// See [`lh_infer::World::fold_call`].
    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId>;
    /// The object that overloads of a call or an attribute are registered for, if there are any.
    fn overloaded(&mut self, _what: &Overload<'_>) -> Option<ObjId> {
        None
    }
    /// The answer of that object's overloads, with the attribute of it by which [`Host::attr`] gives the same function
    /// in any process.
    ///
    /// # Errors
    /// None fits.
    fn overload(&mut self, o: ObjId, _what: &Overload<'_>) -> Result<(String, Overloaded)> {
        Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("{} has no overloads", self.describe(o))))
    }
    /// See [`lh_infer::World::object_of`].
    fn object_of(&mut self, c: &Const) -> ObjId;
    /// See [`lh_infer::World::exc_is_subclass`].
    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool;
    /// See [`lh_infer::World::exc_object`].
    fn exc_object(&mut self, class: ExcId) -> Option<ObjId>;
    /// A number of this process that code refers to.
    fn word(&mut self, what: Extern) -> u64;
    /// The form of a captured array in code for a GPU; `None` if it is not contiguous memory of the host.
    fn captured(&mut self, o: ObjId) -> Option<Captured>;
    /// The object of an exception class that is not builtin.
    fn class_object(&mut self, class: ExcId) -> Option<ObjId>;
    /// A hash of all that [`Host::object`] and [`Host::function`] say of an object, the same in every process; `None`
    /// if it has none. It does not cover what a function reads when it is compiled, nor attributes.
    fn digest(&mut self, o: ObjId) -> Option<Digest>;
    /// Module and name by which [`Host::import`] finds an object, if it has such.
    fn name_of(&mut self, o: ObjId) -> Option<(String, String)>;
    /// PTX of all that a declared function and the kernel that calls it are linked with.
    ///
    /// # Errors
    /// There is none.
    fn linked_ptx(&mut self, o: ObjId, _link: u32) -> std::result::Result<LinkedPtx, CannotLink> {
        Err(CannotLink(format!("{} comes with no code", self.describe(o))))
    }
    /// The GPU of a number in [`Options::gpu`], with the limits of the kernel.
    fn gpu(&mut self, number: u32) -> GpuTarget {
        lh_ir::bug!("GPU {number} is not known")
    }
    /// Source file of a function.
    fn file(&mut self, o: ObjId) -> String;
    /// Defaults of a function, positional ones first.
    fn defaults(&mut self, o: ObjId) -> Vec<ObjId>;
    /// See [`lh_infer::World::describe`].
    fn describe(&mut self, o: ObjId) -> String;
    /// Does work that needs nothing of the interpreter, which others may use meanwhile. So many instructions are
    /// compiled at most.
    fn detached(&mut self, work: Box<dyn FnOnce() -> Output + Send>, _instructions: usize) -> Output {
        work()
    }
}

/// Whether the value that was read is still the same.
pub fn is_current(host: &mut dyn Host, d: &Dep) -> bool {
    match d {
        Dep::Global { func, name, value } => host.global(*func, name) == *value,
        Dep::Free { func, index, value } => host.free(*func, *index) == *value,
        Dep::Attribute { object, name, value } => host.attr(*object, name) == *value,
        Dep::Import { name, attr, value } => host.import(name, attr.as_deref()) == *value,
    }
}

/// A hash of the elements of arrays.
pub(crate) fn contents(host: &mut dyn Host, arrays: &[ObjId]) -> Digest {
    let mut h = Hasher::new("contents");
    for o in arrays {
        match host.captured(*o) {
            Some(Captured::Bytes(bytes)) => h.bytes(&bytes),
            Some(Captured::At(address)) => h.number(address),
            Some(Captured::Function(_)) | None => {}
        }
    }
    h.finish()
}
