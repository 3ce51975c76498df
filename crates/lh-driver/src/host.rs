//! What the driver asks of the Python interpreter. `lh-py` implements it; tests may mock it.

use crate::cache::Digest;
use crate::typed::Typed;
use lh_frontend::raw::RawCode;
use lh_infer::{Object, Overload, Overloaded};
use lh_ir::func::{Extern, Options};
use lh_ir::untyped::Code;
use lh_ir::{Const, ExcId, FuncId, ObjId, Ty};
pub use lh_llvm::Captured;

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
    /// Options of its own dispatcher, if it has one.
    pub options: Option<Options>,
}

/// The interpreter. Objects are numbered by the host, which keeps them alive; equal objects have equal numbers.
pub trait Host {
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
    /// Types that a function's decorator gives to its variables (`locals=`).
    fn locals(&mut self, _o: ObjId) -> Vec<(String, Ty)> {
        Vec::new()
    }
    /// See [`lh_infer::World::signatures`].
    fn signatures(&mut self, _o: ObjId) -> Vec<(Vec<Ty>, Option<Ty>)> {
        Vec::new()
    }
    /// What an object is. A Python function answers `Object::Func` with a number of the host's choice, for which
    /// [`Host::function_object`] gives the object back.
    fn object(&mut self, o: ObjId) -> Object;
    /// The function object of a number given out by [`Host::object`].
    fn function_object(&mut self, f: FuncId) -> ObjId;
    /// A new function number for code that has no function object (inner functions); its object is the parent's, whose
    /// globals it shares.
    fn inner_function(&mut self, parent: FuncId) -> FuncId;
    /// A global or builtin visible to a function.
    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId>;
    /// Contents of a closure cell of a function.
    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId>;
    /// See [`lh_infer::World::import`].
    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId>;
    /// `getattr(o, name)` on modules, classes, dtypes, enums, finfo and iinfo; not on instances of user classes.
    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId>;
    /// See [`lh_infer::World::library`]; imports the library module on first use.
    fn library(&mut self, path: &str) -> Option<(ObjId, bool)>;
    /// Library functions that were typed before, if they hold for this process.
    fn typed_library(&mut self) -> Option<&'static Typed> {
        None
    }
    /// See [`lh_infer::World::fold_call`].
    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId>;
    /// The object that overloads of a call or an attribute are registered for, if there are any.
    fn overloaded(&mut self, _what: &Overload<'_>) -> Option<ObjId> {
        None
    }
    /// What overloads of that object say, with the attribute of it by which [`Host::attr`] gives the same function in
    /// any process.
    ///
    /// # Errors
    /// Why none fits.
    fn overload(&mut self, o: ObjId, _what: &Overload<'_>) -> Result<(String, Overloaded), String> {
        Err(format!("{} has no overloads", self.describe(o)))
    }
    /// See [`lh_infer::World::object_of`].
    fn object_of(&mut self, c: &Const) -> ObjId;
    /// See [`lh_infer::World::exc_is_subclass`].
    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool;
    /// A number of this process that code refers to.
    fn word(&mut self, what: Extern) -> u64;
    /// What code for a GPU has of a captured array; `None` if that is not contiguous memory of the host.
    fn captured(&mut self, o: ObjId) -> Option<Captured>;
    /// The object of an exception class that is not builtin.
    fn class_object(&mut self, class: ExcId) -> Option<ObjId>;
    /// A hash of all that [`Host::object`] and [`Host::function`] say of an object, the same in every process; `None`
    /// if it has none. It does not cover what a function reads when it is compiled, nor attributes.
    fn digest(&mut self, o: ObjId) -> Option<Digest>;
    /// Module and name by which [`Host::import`] finds an object, if it has such.
    fn name_of(&mut self, o: ObjId) -> Option<(String, String)>;
    /// PTX of all that a declared function and the kernel that calls it are linked with, and why some of it has none.
    ///
    /// # Errors
    /// Why there is none.
    fn linked_ptx(&mut self, o: ObjId, _link: u32) -> Result<(String, Option<String>), String> {
        Err(format!("{} comes with no code", self.describe(o)))
    }
    /// Source file of a function.
    fn file(&mut self, o: ObjId) -> String;
    /// Defaults of a function, positional ones first.
    fn defaults(&mut self, o: ObjId) -> Vec<ObjId>;
    /// See [`lh_infer::World::describe`].
    fn describe(&mut self, o: ObjId) -> String;
    /// Does work that needs nothing of the interpreter, which others may use meanwhile.
    fn detached(&mut self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}
