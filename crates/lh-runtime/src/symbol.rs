//! Names, addresses and C signatures of what compiled code calls, so that a test can hold them against the table.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The panic for want of memory.
#[derive(Clone, Copy, Debug)]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub bytes: usize,
}

/// A panic that has left a function of the run-time library.
pub(crate) type Panic = dyn Any + Send;

static RAISE: OnceLock<fn(&Panic) -> i32> = OnceLock::new();

/// Sets how a panic becomes an exception, once; the answer is the status of a failure.
pub(crate) fn set_raise(raise: fn(&Panic) -> i32) {
    RAISE.get_or_init(|| raise);
}

/// A function or global.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Name in compiled code.
    pub name: &'static str,
    /// Where it is.
    pub address: usize,
    /// C types of the parameters; `None` for a global.
    pub params: Option<Vec<CType>>,
    /// C type of the result.
    pub result: CType,
}

/// A C type, as far as calling conventions tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CType {
    Void,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    Ptr,
}

/// A Rust type with a C type.
pub trait HasCType: Sized {
    /// Which.
    const C: CType;
    /// The answer of a function that a panic has left: there is none where compiled code cannot be told of a failure.
    fn failed(panic: &Panic) -> Self {
        eprintln!("lancehead: {}", text_of(panic));
        std::process::abort()
    }
}

macro_rules! c_types {
    ($($rust:ty => $c:ident),* $(,)?) => { $(impl HasCType for $rust { const C: CType = CType::$c; })* };
}
c_types!(u8 => I8, i8 => I8, u16 => I16, i16 => I16, u32 => I32, u64 => I64, i64 => I64, usize => I64, f32 => F32,
    f64 => F64);
impl<T> HasCType for *const T {
    const C: CType = CType::Ptr;
}
impl<T> HasCType for *mut T {
    const C: CType = CType::Ptr;
}
impl HasCType for () {
    const C: CType = CType::Void;
    /// Without an answer are parts of the exception that is being raised: it goes without them, or was there before.
    fn failed(panic: &Panic) {
        if !panic.is::<OutOfMemory>() {
            u8::failed(panic);
        }
    }
}
impl HasCType for i32 {
    const C: CType = CType::I32;
    /// Such answers say whether an exception is pending.
    fn failed(panic: &Panic) -> i32 {
        RAISE.get().map_or_else(|| i64::failed(panic) as i32, |raise| raise(panic))
    }
}

/// The text of a panic.
pub(crate) fn text_of(panic: &Panic) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("out of memory").to_owned()
}

macro_rules! c_functions {
    ($($of:ident ($($p:ident $v:ident)*))*) => {$(
        /// The symbol of a function that compiled code calls. A panic in it becomes an exception.
        #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
        pub fn $of<Work: Fn($($p),*) -> Answer, Answer: HasCType, $($p: HasCType),*>(_: Work, name: &'static str) -> Symbol {
            const { assert!(size_of::<Work>() == 0, "a function without state") };
            unsafe extern "C" fn call<Work: Fn($($p),*) -> Answer, Answer: HasCType, $($p: HasCType),*>($($v: $p),*) -> Answer {
                // SAFETY: a value without bytes, of which the caller of the outer function has one.
                let work = unsafe { NonNull::<Work>::dangling().as_ref() };
                catch_unwind(AssertUnwindSafe(|| work($($v),*))).unwrap_or_else(|panic| Answer::failed(&*panic))
            }
            let address = call::<Work, Answer, $($p),*> as unsafe extern "C" fn($($p),*) -> Answer as usize;
            Symbol { name, address, params: Some(vec![$($p::C),*]), result: Answer::C }
        }
    )*};
}
c_functions! {
    of_0 ()
    of_1 (A a)
    of_2 (A a B b)
    of_3 (A a B b C c)
    of_4 (A a B b C c D d)
    of_5 (A a B b C c D d E e)
    of_6 (A a B b C c D d E e F f)
    of_7 (A a B b C c D d E e F f G g)
    of_8 (A a B b C c D d E e F f G g H h)
    of_9 (A a B b C c D d E e F f G g H h I i)
    of_10 (A a B b C c D d E e F f G g H h I i J j)
    of_11 (A a B b C c D d E e F f G g H h I i J j K k)
    of_12 (A a B b C c D d E e F f G g H h I i J j K k L l)
}

/// Lists functions by their number of parameters: `functions! { (_ _) lh_a lh_b; }`.
macro_rules! functions {
    ($($arity:tt $($name:ident)+;)*) => { vec![$($(functions!(@one $arity $name)),+),*] };
    (@one () $f:ident) => { functions!(@as of_0 $f ) };
    (@one (_) $f:ident) => { functions!(@as of_1 $f a) };
    (@one (_ _) $f:ident) => { functions!(@as of_2 $f a, b) };
    (@one (_ _ _) $f:ident) => { functions!(@as of_3 $f a, b, c) };
    (@one (_ _ _ _) $f:ident) => { functions!(@as of_4 $f a, b, c, d) };
    (@one (_ _ _ _ _) $f:ident) => { functions!(@as of_5 $f a, b, c, d, e) };
    (@one (_ _ _ _ _ _) $f:ident) => { functions!(@as of_6 $f a, b, c, d, e, f) };
    (@one (_ _ _ _ _ _ _) $f:ident) => { functions!(@as of_7 $f a, b, c, d, e, f, g) };
    (@one (_ _ _ _ _ _ _ _) $f:ident) => { functions!(@as of_8 $f a, b, c, d, e, f, g, h) };
    (@one (_ _ _ _ _ _ _ _ _) $f:ident) => { functions!(@as of_9 $f a, b, c, d, e, f, g, h, i) };
    (@one (_ _ _ _ _ _ _ _ _ _) $f:ident) => { functions!(@as of_10 $f a, b, c, d, e, f, g, h, i, j) };
    (@one (_ _ _ _ _ _ _ _ _ _ _) $f:ident) => { functions!(@as of_11 $f a, b, c, d, e, f, g, h, i, j, k) };
    (@one (_ _ _ _ _ _ _ _ _ _ _ _) $f:ident) => { functions!(@as of_12 $f a, b, c, d, e, f, g, h, i, j, k, l) };
    (@as $of:ident $f:ident $($p:ident),*) => {
        $crate::symbol::$of(
            // SAFETY: compiled code calls it as its contract wants.
            #[allow(unused_unsafe, reason = "some are safe")]
            |$($p),*| unsafe { $f($($p),*) },
            stringify!($f),
        )
    };
}
pub(crate) use functions;
