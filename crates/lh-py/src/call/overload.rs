//! Specialisations of a function for argument types.

use crate::call::made::Form;
use crate::gpu::loaded::Loaded;
use crate::host::guard::Guard;
use crate::object::canonical::canonical;
use lh_driver::Compiled;
use lh_ir::types::GeneratorTy;
use lh_ir::{Ty, TyKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The way in which a result is boxed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Ret {
    /// `None`.
    None,
    /// A truth value.
    Bool,
    /// A 64-bit integer.
    Int,
    /// A double.
    Float,
    /// Two doubles.
    Complex,
    /// A text.
    Text,
    /// Numbers, texts and tuples of these: see [`Overload::form`].
    Parts,
    /// A list of items that [`Overload::form`] says.
    List,
    /// Any other type.
    Other,
    /// A value that is converted to the type of the signature.
    Converted,
}

impl Ret {
    /// The boxing of a result of a type.
    pub fn of(ty: Ty) -> Ret {
        match ty.kind() {
            TyKind::None | TyKind::Never => Ret::None,
            TyKind::Bool => Ret::Bool,
            TyKind::Int { bits: 64, signed: true, .. } => Ret::Int,
            TyKind::Float { bits: 64, .. } => Ret::Float,
            TyKind::Complex { bits: 128, .. } => Ret::Complex,
            TyKind::Str => Ret::Text,
            _ => Ret::Other,
        }
    }

    /// The boxing of a result of a type, as that of a signature if there is one, and the form of its parts.
    pub fn and_form(explicit: Option<Ty>, made: Ty) -> (Ret, Option<Form>) {
        let ty = explicit.filter(|ty| !lh_infer::has_objects_of(canonical(made), *ty)).unwrap_or(made);
        if canonical(ty) != canonical(made) {
            return (Ret::Converted, None);
        }
        let (of_parts, form) = match (Ret::of(ty), made.as_list()) {
            (Ret::Other, Some(item)) => (Ret::List, Form::of(item)),
            (Ret::Other, None) => (Ret::Parts, Form::of_words(made)),
            (simple, _) => return (simple, None),
        };
        (if form.is_some() { of_parts } else { Ret::Other }, form)
    }
}

/// Numbers of machine words that going on with a generator takes and gives.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// Of the value that is sent.
    pub sent: usize,
    /// Of all that it gives: whether there is an item, the item, the value that it returns.
    pub given: usize,
    /// Of an item.
    pub item: usize,
    /// The boxing of an item.
    pub boxing: Ret,
    /// Whether items or the value that it returns hold references.
    pub is_counted: bool,
}

impl Sizes {
    /// Those of the code that goes on with one.
    pub fn of(advance: &Compiled) -> Sizes {
        let GeneratorTy { item, sent, .. } = type_of(advance);
        let words = |ty: Ty| ty.flatten().len();
        Sizes {
            sent: words(*sent),
            given: words(advance.ret),
            item: words(*item),
            boxing: Ret::of(*item),
            is_counted: advance.ret.is_counted(),
        }
    }
}

/// The type of a generator with which a function goes on.
pub fn type_of(advance: &Compiled) -> &'static GeneratorTy {
    match advance.args.first().map(|t| t.kind()) {
        Some(TyKind::Generator(g)) => g,
        _ => lh_ir::bug!("a generator is gone on with by its own function"),
    }
}

/// A specialisation.
pub struct Overload {
    /// Entry point of the machine code.
    pub entry: unsafe extern "C" fn(*const u64, *mut u64) -> i32,
    /// Whether it may take long, or polls for Ctrl-C.
    pub may_wait: bool,
    /// Whether parts of arguments may live on after the call.
    pub escapes: bool,
    /// The words of the result that are references.
    pub ret_references: Vec<usize>,
    /// Machine code and the compiler's facts about it.
    pub compiled: Arc<Compiled>,
    /// Its dependencies.
    pub guard: Guard,
    /// The boxing of its result.
    pub ret: Ret,
    /// The form of a result of [`Ret::Parts`], and of the items of one of [`Ret::List`].
    pub form: Option<Form>,
    /// How to go on with its generators, once it has made one.
    pub steps: OnceLock<Sizes>,
    /// Number of machine words of the result.
    pub ret_words: usize,
    /// Captured variables that are its last arguments.
    pub variables: usize,
    /// The result type of the signature.
    pub explicit: Option<Ty>,
    /// The kernel on its GPU.
    pub on_gpu: Option<Loaded>,
    /// Set when it has been replaced.
    pub stale: AtomicBool,
    /// Whether the code has Numba's semantics.
    pub is_numbas: bool,
}

impl Overload {
    /// Whether it has been replaced.
    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }
    /// The types of the parameters.
    pub fn args(&self) -> &[Ty] {
        &self.compiled.args[..self.compiled.args.len() - self.variables]
    }
    /// Whether it was made for the functions of a call, by a signature that leaves these open.
    pub fn is_instance(&self) -> bool {
        self.compiled.args.iter().any(|t| canonical(*t).is_open())
    }
}

/// A specialisation under the tags of arguments.
#[derive(Clone)]
pub struct Entry {
    /// Tags of the arguments.
    pub tags: Box<[u64]>,
    /// The types of the arguments before conversion, if they are converted.
    pub natural: Option<Vec<Ty>>,
    /// The specialisation; it lives as long as the dispatcher.
    pub overload: *const Overload,
}

// SAFETY: an overload is not changed once it is made, but for atomic words; machine code may run in any thread.
unsafe impl Send for Overload {}
// SAFETY: as above.
unsafe impl Sync for Overload {}
// SAFETY: what an entry points to lives as long as the state that has both.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}
