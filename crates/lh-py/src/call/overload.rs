//! Specialisations of a function for argument types.

use crate::call::made::Form;
use crate::gpu::loaded::Loaded;
use crate::host::guard::Guard;
use crate::object::canonical::canonical;
use lh_driver::Compiled;
use lh_ir::{Ty, TyKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// A specialisation.
pub struct Overload {
    /// Entry point of the machine code.
    pub entry: unsafe extern "C" fn(*const u64, *mut u64) -> i32,
    /// Whether it may take long, or polls for Ctrl-C.
    pub may_wait: bool,
    /// Whether parts of arguments may live on after the call.
    pub escapes: bool,
    /// Whether the result holds references.
    pub ret_counted: bool,
    /// Machine code and the compiler's facts about it.
    pub compiled: Arc<Compiled>,
    /// Its dependencies.
    pub guard: Guard,
    /// The boxing of its result.
    pub ret: Ret,
    /// The form of a result of [`Ret::Parts`], and of the items of one of [`Ret::List`].
    pub form: Option<Form>,
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
