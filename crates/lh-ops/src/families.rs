//! Families of run-time functions: the parts of a launch's geometry, which differ by axis, atomic operations, which
//! differ by the operands' type, and sorts and selections of contiguous elements, which differ by theirs.

use lh_ir::runtime::{Axis, Geometry, Memory, Rmw, Role, RuntimeFn};
use lh_ir::types::Prim::{self, F32, F64, I32, I64, Ptr};

/// Rows for each part of the geometry, with facts that all axes share.
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
    /// The index of the thread in its block; the pass `kernel_context` passes it down as a parameter.
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
            doc: concat!($doc, " Returns the previous value."),
            args: atomics!(@args $prim $operands),
            ret: &[$prim],
            ..RuntimeFn::SILENT.writes(0).role(Role::Atomic(Rmw::$rmw, $prim)).inlined().on_gpu()
        }),*),*];
    };
    (@args $prim:ident 1) => { &[Ptr, $prim] };
    (@args $prim:ident 2) => { &[Ptr, $prim, $prim] };
}

atomics! {
    /// Atomically adds.
    Add 1: "add_i32" I32, "add_i64" I64, "add_f32" F32, "add_f64" F64;
    /// Atomically stores the greater number.
    Max 1: "max_i32" I32, "max_i64" I64, "max_f32" F32, "max_f64" F64;
    /// Atomically stores the greater of unsigned numbers.
    UMax 1: "max_u32" I32, "max_u64" I64;
    /// Atomically stores the lesser number.
    Min 1: "min_i32" I32, "min_i64" I64, "min_f32" F32, "min_f64" F64;
    /// Atomically stores the lesser of unsigned numbers.
    UMin 1: "min_u32" I32, "min_u64" I64;
    /// Atomically stores the greater number, or the one that is not NaN.
    NanMax 1: "nanmax_f32" F32, "nanmax_f64" F64;
    /// Atomically stores the lesser number, or the one that is not NaN.
    NanMin 1: "nanmin_f32" F32, "nanmin_f64" F64;
    /// Atomic conjunction of bits.
    And 1: "and_i32" I32, "and_i64" I64;
    /// Atomic disjunction of bits.
    Or 1: "or_i32" I32, "or_i64" I64;
    /// Atomic exclusive or of bits.
    Xor 1: "xor_i32" I32, "xor_i64" I64;
    /// Atomic exchange.
    Exchange 1: "exch_i32" I32, "exch_i64" I64;
    /// Atomically counts up to a limit, then restarts at 0.
    Inc 1: "inc_u32" I32, "inc_u64" I64;
    /// Atomically counts down to 0, then restarts at a limit.
    Dec 1: "dec_u32" I32, "dec_u64" I64;
    /// Atomic compare and exchange: expected value, new value.
    CompareExchange 2: "cas_i32" I32, "cas_i64" I64;
}

macro_rules! lines {
    ($($suffix:literal $item:literal $of:literal;)*) => {
        pub(crate) static LINES: [[RuntimeFn; 4]; [$($suffix),*].len()] = [$([
            RuntimeFn {
                name: concat!("lh_sort_", $suffix),
                doc: concat!("Sorts contiguous ", $of, ": address, number."),
                args: &[Ptr, I64],
                role: Role::Memory(Memory::Line { item: $item, number: 1 }),
                ..RuntimeFn::SILENT.reads().raises().writes(0)
            },
            RuntimeFn {
                name: concat!("lh_argsort_", $suffix),
                doc: concat!(
                    "Indices that sort contiguous ", $of, ", stably: address, address of the indices, number."
                ),
                args: &[Ptr, Ptr, I64],
                role: Role::Memory(Memory::Line { item: $item, number: 2 }),
                ..RuntimeFn::SILENT.reads().raises().writes(1)
            },
            RuntimeFn {
                name: concat!("lh_partition_", $suffix),
                doc: concat!(
                    "Puts the k-th smallest of contiguous ", $of,
                    " in its place, smaller ones before it: address, number, k."
                ),
                args: &[Ptr, I64, I64],
                role: Role::Memory(Memory::Line { item: $item, number: 1 }),
                ..RuntimeFn::SILENT.reads().raises().writes(0)
            },
            RuntimeFn {
                name: concat!("lh_enclosed_", $suffix),
                doc: concat!(
                    "Copies the elements of contiguous ", $of, " that are not before a bound, nor after another, to a ",
                    "place with room for all: address, number, address of the bounds, which of them count (1, 2), ",
                    "address to copy to, address of the number of elements there and of that before the first bound."
                ),
                args: &[Ptr, I64, Ptr, I64, Ptr, Ptr],
                role: Role::Memory(Memory::Line { item: $item, number: 1 }),
                ..RuntimeFn::SILENT.reads().writes(4).writes(5)
            },
        ]),*];
    };
}

lines! {
    "u8" 1 "`uint8` (also of `bool`)";
    "u16" 2 "`uint16`";
    "u32" 4 "`uint32`";
    "u64" 8 "`uint64`";
    "i8" 1 "`int8`";
    "i16" 2 "`int16`";
    "i32" 4 "`int32`";
    "i64" 8 "`int64`";
    "f32" 4 "`float32`";
    "f64" 8 "`float64`";
    "c64" 8 "`complex64`";
    "c128" 16 "`complex128`";
}

/// The run-time function that reads a part of the geometry.
pub fn geometry(what: Geometry, axis: Axis) -> &'static RuntimeFn {
    &GEOMETRY[what as usize][axis as usize]
}

/// The run-time function of an atomic operation, if there is one for the primitive.
pub fn atomic(rmw: Rmw, prim: Prim) -> Option<&'static RuntimeFn> {
    ATOMICS.iter().find(|f| f.role == Role::Atomic(rmw, prim))
}

/// The atomic operation that PTX or `cuda.atomic` calls by a name. Callers turn subtraction into addition.
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
