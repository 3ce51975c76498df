//! Names, addresses and C signatures of what compiled code calls, so that a test can hold them against the table.

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
pub trait HasCType {
    /// Which.
    const C: CType;
}

macro_rules! c_types {
    ($($rust:ty => $c:ident),* $(,)?) => { $(impl HasCType for $rust { const C: CType = CType::$c; })* };
}
c_types!(() => Void, u8 => I8, i8 => I8, u16 => I16, i16 => I16, u32 => I32, i32 => I32, u64 => I64, i64 => I64,
    usize => I64, f32 => F32, f64 => F64);
impl<T> HasCType for *const T {
    const C: CType = CType::Ptr;
}
impl<T> HasCType for *mut T {
    const C: CType = CType::Ptr;
}

/// A function pointer whose signature is known.
pub trait CFunction {
    /// Its symbol.
    fn symbol(self, name: &'static str) -> Symbol;
}

macro_rules! c_functions {
    ($(($($p:ident)*))*) => {$(
        impl<R: HasCType, $($p: HasCType),*> CFunction for unsafe extern "C" fn($($p),*) -> R {
            fn symbol(self, name: &'static str) -> Symbol {
                Symbol { name, address: self as usize, params: Some(vec![$($p::C),*]), result: R::C }
            }
        }
    )*};
}
c_functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) (A B C D E F G H I)
    (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
}

/// Lists functions by their number of parameters: `functions! { (_ _) lh_a lh_b; }`.
macro_rules! functions {
    ($($arity:tt $($name:ident)+;)*) => { vec![$($(functions!(@one $arity $name)),+),*] };
    (@one ($($p:tt)*) $name:ident) => {
        $crate::symbol::CFunction::symbol($name as unsafe extern "C" fn($($p),*) -> _, stringify!($name))
    };
}
pub(crate) use functions;
