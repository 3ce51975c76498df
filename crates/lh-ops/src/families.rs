//! Families of run-time functions: one row each for the parts of a launch's geometry and for atomic operations, with
//! the
//! axis or the type of the operands as data.

use lh_ir::runtime::{Axis, Geometry, Rmw, Role, RuntimeFn};
use lh_ir::types::Prim::{self, F32, F64, I32, I64, Ptr};

/// The rows of a part of the geometry: its base name, and facts that all axes share.
macro_rules! geometry {
    ($($(#[doc = $doc:literal])* $what:ident $name:literal($($arg:ident)?) $($fact:ident $(($($value:expr),*))?)*;)*) => {
        pub(crate) static GEOMETRY: [[RuntimeFn; 3]; 4] = [$([
            geometry!(@axis X, $what, concat!("lh_cuda_", $name, "_x"), concat!($($doc),*), [$($arg)?])
                $(.$fact($($($value),*)?))*,
            geometry!(@axis Y, $what, concat!("lh_cuda_", $name, "_y"), concat!($($doc),*), [$($arg)?])
                $(.$fact($($($value),*)?))*,
            geometry!(@axis Z, $what, concat!("lh_cuda_", $name, "_z"), concat!($($doc),*), [$($arg)?])
                $(.$fact($($($value),*)?))*,
        ]),*];
    };
    (@axis $axis:ident, $what:ident, $name:expr, $doc:expr, [$($arg:ident)?]) => {
        RuntimeFn {
            name: $name,
            doc: $doc,
            args: &[$($arg)?],
            ret: &[I64],
            ..RuntimeFn::SILENT.reads().role(Role::Geometry(Geometry::$what, Axis::$axis)).inlined().on_gpu()
        }
    };
}

geometry! {
    /// The index of the thread in its block; a pass hands it through.
    Thread "tid"() pure varies within(0, 1023);
    /// The index of a context's block.
    Block "bid"(Ptr) uniform within(0, (1 << 31) - 2);
    /// The extent of a context's block.
    BlockDim "bdim"(Ptr) uniform within(1, 1024);
    /// The extent of a context's grid.
    GridDim "gdim"(Ptr) uniform within(1, (1 << 31) - 1);
}

macro_rules! atomics {
    ($(#[doc = $doc:literal] $rmw:ident $operands:tt: $($name:literal $prim:ident),*;)*) => {
        pub(crate) static ATOMICS: [RuntimeFn; [$($($name),*),*].len()] = [$($(RuntimeFn {
            name: concat!("lh_cuda_", $name),
            doc: concat!($doc, " The value before."),
            args: atomics!(@args $prim $operands),
            ret: &[$prim],
            ..RuntimeFn::SILENT.writes(0).role(Role::Atomic(Rmw::$rmw, $prim)).inlined().on_gpu()
        }),*),*];
    };
    (@args $prim:ident 1) => { &[Ptr, $prim] };
    (@args $prim:ident 2) => { &[Ptr, $prim, $prim] };
}

atomics! {
    /// Adds at an address, at once.
    Add 1: "add_i32" I32, "add_i64" I64, "add_f32" F32, "add_f64" F64;
    /// The greater at an address, at once.
    Max 1: "max_i32" I32, "max_i64" I64, "max_f32" F32, "max_f64" F64;
    /// The greater of unsigned numbers at an address, at once.
    UMax 1: "max_u32" I32, "max_u64" I64;
    /// The lesser at an address, at once.
    Min 1: "min_i32" I32, "min_i64" I64, "min_f32" F32, "min_f64" F64;
    /// The lesser of unsigned numbers at an address, at once.
    UMin 1: "min_u32" I32, "min_u64" I64;
    /// The greater, or the one that is not NaN, at an address, at once.
    NanMax 1: "nanmax_f32" F32, "nanmax_f64" F64;
    /// The lesser, or the one that is not NaN, at an address, at once.
    NanMin 1: "nanmin_f32" F32, "nanmin_f64" F64;
    /// Conjunction of bits at an address, at once.
    And 1: "and_i32" I32, "and_i64" I64;
    /// Disjunction of bits at an address, at once.
    Or 1: "or_i32" I32, "or_i64" I64;
    /// Exclusive or of bits at an address, at once.
    Xor 1: "xor_i32" I32, "xor_i64" I64;
    /// Replaces at an address, at once.
    Exchange 1: "exch_i32" I32, "exch_i64" I64;
    /// Counts up to a limit at an address, at once.
    Inc 1: "inc_u32" I32, "inc_u64" I64;
    /// Counts down from a limit at an address, at once.
    Dec 1: "dec_u32" I32, "dec_u64" I64;
    /// Replaces at an address if the value there is as expected.
    CompareExchange 2: "cas_i32" I32, "cas_i64" I64;
}

/// The function that reads a part of the geometry.
pub fn geometry(what: Geometry, axis: Axis) -> &'static RuntimeFn {
    &GEOMETRY[what as usize][axis as usize]
}

/// The function of an atomic operation, if there is one for the primitive.
pub fn atomic(rmw: Rmw, prim: Prim) -> Option<&'static RuntimeFn> {
    ATOMICS.iter().find(|f| f.role == Role::Atomic(rmw, prim))
}

/// The atomic operation that a word of PTX or of `cuda.atomic` means for numbers of a kind; subtraction is addition of
/// the opposite.
pub fn atomic_of_word(word: &str, unsigned: bool, float: bool) -> Option<Rmw> {
    Some(match (word.trim_end_matches('_'), unsigned) {
        ("add", _) => Rmw::Add,
        ("max", false) => Rmw::Max,
        ("max", true) => Rmw::UMax,
        ("min", false) => Rmw::Min,
        ("min", true) => Rmw::UMin,
        ("nanmax", _) if float => Rmw::NanMax,
        ("nanmin", _) if float => Rmw::NanMin,
        ("nanmax" | "nanmin", _) => return atomic_of_word(&word[3..], unsigned, float),
        ("and", _) => Rmw::And,
        ("or", _) => Rmw::Or,
        ("xor", _) => Rmw::Xor,
        ("exch", _) => Rmw::Exchange,
        ("inc", true) => Rmw::Inc,
        ("dec", true) => Rmw::Dec,
        ("cas" | "compare_and_swap", _) => Rmw::CompareExchange,
        _ => return None,
    })
}
