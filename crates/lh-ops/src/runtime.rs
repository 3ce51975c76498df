//! Functions of the run-time library: name, signature and facts. `lh-runtime` supplies the code.

use crate::families::{ATOMICS, GEOMETRY, LINES};
use lh_ir::func::waits;
use lh_ir::runtime::Role::{
    Address, Barrier, CheckIndex, Exception, IsSame, Items, Lanes, Launch, LoopHint, Memory, Parts, Poll, Print, Race,
    Random, Shapes, Text, Threads, Warp,
};
use lh_ir::runtime::{self as roles, Combine, RuntimeFn};
use lh_ir::types::Prim::{F32, F64, I1, I8, I16, I32, I64, Mem, Object, Ptr};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Functions that may write any memory.
const SILENT: RuntimeFn = RuntimeFn::SILENT;
/// Functions that only read the memory that their operands address, unless their row says more.
const READS: RuntimeFn = RuntimeFn::SILENT.reads();
/// Functions on strings.
const TEXT: RuntimeFn = READS.role(Text(roles::Text::Other));
/// Functions that print.
const PRINT: RuntimeFn = READS.on_gpu();

macro_rules! table {
    ($($base:ident {$(
        $(#[doc = $doc:literal])*
        $name:ident($($arg:ident),*) -> [$($ret:ident),*] $($fact:ident $(($($value:expr),*))?)*;
    )*})*) => {
        $($(
            $(#[doc = $doc])*
            #[expect(non_upper_case_globals, reason = "a row is named as its symbol")]
            pub static $name: RuntimeFn = RuntimeFn {
                name: stringify!($name),
                doc: concat!($($doc),*),
                args: &[$($arg),*],
                ret: &[$($ret),*],
                ..$base
            }$(.$fact($($($value),*)?))*;
        )*)*
        static ROWS: &[&RuntimeFn] = &[$($(&$name),*),*];
    };
}

table! {
    READS {
        /// Allocates memory for array data: bytes. Returns its owner and its address (64-byte aligned).
        lh_alloc(I64) -> [Mem, Ptr] raises role(Memory(roles::Memory::Allocate));
        /// Allocates zeroed memory for array data: bytes.
        lh_calloc(I64) -> [Mem, Ptr] raises role(Memory(roles::Memory::AllocateZeroed));
        /// Allocates memory for values that a derivative keeps of each iteration of a loop: bytes, those of all values
        /// of the loop, and the loop in words for the error. The bytes are at most 2**60, more than there ever is.
        lh_tape(I64, I64, Mem, Ptr, I64) -> [Mem, Ptr] raises role(Memory(roles::Memory::Allocate));
        /// The same, zeroed.
        lh_tape_zeroed(I64, I64, Mem, Ptr, I64) -> [Mem, Ptr] raises role(Memory(roles::Memory::AllocateZeroed));
        /// Reserves memory for a total of `n` items.
        lh_items_reserve(Object, I64) -> [] raises resizes(0) role(Items(roles::Items::Reserve));
        /// Sets the number of items; the caller has initialised new items and taken removed ones.
        lh_items_set_len(Object, I64) -> [] resizes(0) role(Items(roles::Items::SetLen));
        /// Lets a generator be closed if it dies while it is suspended.
        lh_generator_closes(Object) -> [] writes(0) role(Items(roles::Items::Closes)) inlined;
        /// Keeps an object until here: a generator (the pass `keep_generators`), what a derivative needs until its end.
        lh_object_kept(Object) -> [] role(Items(roles::Items::Keeps)) inlined;
        /// Keeps memory until here: that of variables whose addresses the function has from code generators.
        lh_memory_kept(Mem) -> [] role(Items(roles::Items::Keeps)) inlined;
        /// A loop pragma: unroll factor, vector width. The pass `loop_hints` removes it.
        lh_loop_hint(I64, I64) -> [] role(LoopHint) inlined on_gpu;
        /// Marks an object with items as one that Python shares.
        lh_items_share(Object) -> [] resizes(0);
        /// Whether Python shares an object with items.
        lh_items_is_shared(Object) -> [I1];
        /// Makes changes of an object with items raise, or not any more.
        lh_items_freeze(Object, I1) -> [] resizes(0);
        /// Whether changes of an object with items raise.
        lh_items_is_frozen(Object) -> [I1];
        /// The number of items that an object has memory for.
        lh_items_allocated(Object) -> [I64];
        /// Makes the index of a hash table anew, with at least half of so many places; what the hash of a key is
        /// (`lh-runtime/src/tables.rs`), or -1 for an index without entries.
        lh_table_index(Object, I64, I64) -> [] raises resizes(0);
        /// Whether two references are to the same object.
        lh_object_is(Object, Object) -> [I1] pure role(IsSame);
        /// Counts a call of a function whose results are kept (0: there was one, 1: none), or a new result (2).
        lh_memo_count(Ptr, I64) -> [] writes(0);
        /// Copies bytes between regions that may overlap: destination, source, number.
        lh_memmove(Ptr, Ptr, I64) -> [] writes(0) role(Memory(roles::Memory::Move));
        /// Copies what a derivative keeps to larger memory, and ends the use of the old: destination, source, bytes.
        lh_tape_moved(Ptr, Ptr, I64) -> [] writes(0) role(Memory(roles::Memory::Moved));
        /// Copies adjacent items to places of any stride in other memory: destination, its stride in bytes, source,
        /// number and size of the items.
        lh_copy_row(Ptr, I64, Ptr, I64, I64) -> [] writes(0) role(Memory(roles::Memory::CopyRow));
        /// Whether the contiguous array at an address is to be read in parts, because it is filled part by part.
        lh_is_produced(Ptr) -> [I1] pure role(Parts(roles::Parts::IsProduced)) inlined;
        /// A part of such an array: its owner and address, first element in memory order, number and size of the
        /// elements. Who asks reads every element in one part, and writes no memory that existed before.
        lh_part(Mem, Ptr, I64, I64, I64) -> [Mem, Ptr] pure role(Parts(roles::Parts::Part)) inlined;
    }
    TEXT {
        /// Whether two strings are equal.
        lh_str_eq(Mem, Ptr, I64, Mem, Ptr, I64) -> [I1] pure;
        /// Compares by code points: -1, 0 or 1.
        lh_str_cmp(Mem, Ptr, I64, Mem, Ptr, I64) -> [I64] pure;
        /// Whether the second string contains the first.
        lh_str_in(Mem, Ptr, I64, Mem, Ptr, I64) -> [I1] pure;
        /// Number of code points.
        lh_str_len(Mem, Ptr, I64) -> [I64] pure;
        /// Concatenation.
        lh_str_concat(Mem, Ptr, I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises role(Text(roles::Text::Concat));
        /// `str * int`.
        lh_str_repeat(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// The code point at an index; negative indices count from the end.
        lh_str_getitem(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// The character that begins at a byte.
        lh_str_char(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64];
        /// Bytes of memory as characters with these numbers, one byte each: owner, address, number.
        lh_str_over_bytes(Mem, Ptr, I64) -> [Mem, Ptr, I64];
        /// The code points from one index to before another; indices are clamped to the string.
        lh_str_slice(Mem, Ptr, I64, I64, I64) -> [Mem, Ptr, I64] raises;
        /// A slice with a step: string, first index, step, number of code points.
        lh_str_step(Mem, Ptr, I64, I64, I64, I64) -> [Mem, Ptr, I64] raises;
        /// The text without white space at the left end (1), at the right end (2) or at both (3).
        lh_str_strip_space(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// The same without the characters of the second string.
        lh_str_strip(Mem, Ptr, I64, Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// The text with the second string so many times behind so many bytes, and so many times at its end: string,
        /// bytes, the two numbers, string.
        lh_str_pad(Mem, Ptr, I64, I64, I64, I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// The text with blanks up to the next multiple of so many columns in place of tabulators.
        lh_str_expand_tabs(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// Adds the lines of a string to a list, with what ends them or without.
        lh_str_split_lines(Mem, Ptr, I64, I64, Object) -> [] raises resizes(4);
        /// Adds the characters of a string to a list.
        lh_str_characters(Mem, Ptr, I64, Object) -> [] raises resizes(3);
        /// A string of ASCII with each character replaced by the string at its place in a list of 128.
        lh_str_mapped(Mem, Ptr, I64, Object) -> [Mem, Ptr, I64] raises;
        /// Sorts a list of strings by code points, from the last one on if asked to.
        lh_str_sort(Object, I64) -> [] resizes(0);
        /// How often the second string occurs in the first without overlaps.
        lh_str_count(Mem, Ptr, I64, Mem, Ptr, I64) -> [I64] pure;
        /// `bin`, `oct` and `hex` by the number of bits of a digit.
        lh_str_from_bits(I64, I64) -> [Mem, Ptr, I64] raises;
        /// The first byte, from one on, at which bytes are no text: address, number, first, encoding (0: UTF-8, 1:
        /// ASCII).
        lh_str_valid_end(Ptr, I64, I64, I64) -> [I64];
        /// `ord(str)`.
        lh_str_ord(Mem, Ptr, I64) -> [I64] raises;
        /// `chr(int)`.
        lh_str_chr(I64) -> [Mem, Ptr, I64] raises;
        /// The text of so many code points of 32 bits at most; zeros end it.
        lh_str_from_units(Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// Stores a text as so many code points of 32 bits: the beginning of it, or zeros after it.
        lh_str_to_units(Mem, Ptr, I64, Ptr, I64) -> [] writes(3);
        /// The order of a text and one of so many code points of 32 bits: less than 0, 0 or more.
        lh_str_cmp_units(Mem, Ptr, I64, Ptr, I64) -> [I64];
        /// The text of bytes: address, number, encoding (0: UTF-8, 1: ASCII, 2: Latin-1).
        lh_str_from_bytes(Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// `np.einsum_path`: subscripts as letters, extents of all axes in order, their number, how (0: the path is
        /// given, 1: greedy, 2: optimal), items that a result between may have (the least number: as many as the
        /// largest of the operands and the result), the path, its size. Gives the report. A path that is given has a
        /// number before the places of each contraction; another one is stored, two places for each.
        lh_contractions(Mem, Ptr, I64, Ptr, I64, I64, I64, Ptr, I64) -> [Mem, Ptr, I64] raises writes(7);
        /// Number of bytes of a text in such an encoding.
        lh_str_encoded_size(Mem, Ptr, I64, I64) -> [I64] raises;
        /// Stores the bytes of a text in such an encoding, which has all of its characters.
        lh_str_encode(Mem, Ptr, I64, I64, Ptr) -> [] writes(4);
        /// `repr(str)`.
        lh_str_repr(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// Index of the first occurrence of the second string in the first, from a non-negative index on, or -1.
        lh_str_find(Mem, Ptr, I64, Mem, Ptr, I64, I64) -> [I64] pure;
        /// Index of the last occurrence of the second string in the first, or -1.
        lh_str_rfind(Mem, Ptr, I64, Mem, Ptr, I64) -> [I64] pure;
        /// `str.isspace`.
        lh_str_isspace(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isdigit`.
        lh_str_isdigit(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isalpha`.
        lh_str_isalpha(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isalnum`.
        lh_str_isalnum(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isupper`.
        lh_str_isupper(Mem, Ptr, I64) -> [I1] pure;
        /// `str.islower`.
        lh_str_islower(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isascii`.
        lh_str_isascii(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isdecimal`.
        lh_str_isdecimal(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isnumeric`.
        lh_str_isnumeric(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isprintable`.
        lh_str_isprintable(Mem, Ptr, I64) -> [I1] pure;
        /// `str.isidentifier`.
        lh_str_isidentifier(Mem, Ptr, I64) -> [I1] pure;
        /// `str.istitle`.
        lh_str_istitle(Mem, Ptr, I64) -> [I1] pure;
        /// Whether a text has no surrogates.
        lh_str_is_utf8(Mem, Ptr, I64) -> [I1] pure;
        /// `str.upper`.
        lh_str_upper(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.lower`.
        lh_str_lower(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.casefold`.
        lh_str_casefold(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.swapcase`.
        lh_str_swapcase(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.title`.
        lh_str_title(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.capitalize`.
        lh_str_capitalize(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `str.replace(old, new, limit)`; a negative limit is none.
        lh_str_replace(Mem, Ptr, I64, Mem, Ptr, I64, Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
        /// `str.join`: the separator, then an object with strings as items.
        lh_str_join(Mem, Ptr, I64, Object) -> [Mem, Ptr, I64] raises;
        /// `str.split(sep, limit)`: adds the parts to the items of the last operand; a negative limit is none.
        lh_str_split(Mem, Ptr, I64, Mem, Ptr, I64, I64, Object) -> [] raises resizes(7);
        /// `str.split(None, limit)`, in the same way.
        lh_str_split_space(Mem, Ptr, I64, I64, Object) -> [] raises resizes(4);
        /// `str(int)`.
        lh_str_from_i64(I64) -> [Mem, Ptr, I64] raises;
        /// `str(int)` of an unsigned value.
        lh_str_from_u64(I64) -> [Mem, Ptr, I64] raises;
        /// `repr(float)`.
        lh_str_from_f64(F64) -> [Mem, Ptr, I64] raises;
        /// `str(numpy.float32)`.
        lh_str_from_f32(F32) -> [Mem, Ptr, I64] raises;
        /// `str(complex)`.
        lh_str_from_c128(F64, F64) -> [Mem, Ptr, I64] raises;
        /// `str(numpy.complex64)`.
        lh_str_from_c64(F32, F32) -> [Mem, Ptr, I64] raises;
        /// `str(bool)`.
        lh_str_from_bool(I1) -> [Mem, Ptr, I64] raises;
        /// `str(array)` or, if the last operand is true, `repr(array)`: kind of dtype (see the library's `text_of`),
        /// bytes of an item, rank, address of the extents and strides, data.
        lh_str_from_array(I64, I64, I64, Ptr, Ptr, I1) -> [Mem, Ptr, I64] raises;
        /// `format(float, spec)`.
        lh_str_format_f64(F64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `format(complex, spec)`.
        lh_str_format_c128(F64, F64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `format(int, spec)`.
        lh_str_format_i64(I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `format(int, spec)` of an unsigned value.
        lh_str_format_u64(I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `format(str, spec)`: the value, then the specification.
        lh_str_format_str(Mem, Ptr, I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
        /// `int(str, base)`.
        lh_str_to_i64(Mem, Ptr, I64, I64) -> [I64] raises;
        /// `hash(str)`.
        lh_str_hash(Mem, Ptr, I64) -> [I64] pure;
        /// A hash of a string for tables: equal strings of a process have the same.
        lh_str_table_hash(Mem, Ptr, I64) -> [I64] pure;
        /// `float(str)`.
        lh_str_to_f64(Mem, Ptr, I64) -> [F64] raises;
    }
    PRINT {
        /// Appends a string to the print buffer.
        lh_print_str(Mem, Ptr, I64) -> [] role(Print(roles::Print::Str));
        /// Appends an int to the print buffer.
        lh_print_i64(I64) -> [] role(Print(roles::Print::Signed));
        /// Appends an unsigned int to the print buffer.
        lh_print_u64(I64) -> [] role(Print(roles::Print::Unsigned));
        /// Appends `repr(float)` to the print buffer.
        lh_print_f64(F64) -> [] role(Print(roles::Print::F64));
        /// Appends `str(numpy.float32)` to the print buffer.
        lh_print_f32(F32) -> [] role(Print(roles::Print::F32));
        /// Appends a complex number to the print buffer.
        lh_print_complex(F64, F64) -> [] role(Print(roles::Print::Complex));
        /// Appends `True` or `False` to the print buffer.
        lh_print_bool(I1) -> [] role(Print(roles::Print::Bool));
        /// Appends `None` to the print buffer.
        lh_print_none() -> [] role(Print(roles::Print::None));
        /// Writes the print buffer to `sys.stdout`.
        lh_print_flush() -> [] raises role(Print(roles::Print::Flush));
    }
    READS {
        /// IndexError unless the last index is within the extent: index as written, axis, extent, index from the start.
        lh_check_index(I64, I64, I64, I64) -> [] raises role(CheckIndex) on_gpu;
        /// `numpy.random.seed(int)`.
        lh_np_seed(I64) -> [] raises;
        /// `numpy.random.seed()`.
        lh_np_seed_os() -> [];
        /// The thread's stream of `numpy.random`; generated code accesses its first fields.
        lh_np_stream() -> [Ptr] pure;
        /// `numpy.random.random()`.
        lh_np_random_f64() -> [F64] role(Random(roles::Random::NumPy));
        /// `numpy.random.random(n)` into memory.
        lh_np_random_fill(Ptr, I64) -> [] writes(0);
        /// `numpy.random.standard_normal()`.
        lh_np_gauss() -> [F64];
        /// `numpy.random.standard_normal(n)` into memory.
        lh_np_gauss_fill(Ptr, I64) -> [] writes(0);
        /// `numpy.random.standard_exponential()`.
        lh_np_exponential() -> [F64];
        /// `numpy.random.standard_gamma(shape)`.
        lh_np_gamma(F64) -> [F64] raises;
        /// `numpy.random.poisson(lam)`.
        lh_np_poisson(F64) -> [I64] raises;
        /// `numpy.random.binomial(n, p)`.
        lh_np_binomial(I64, F64) -> [I64] raises;
        /// `numpy.random.randint(low, high)` of 64 bits.
        lh_np_randint(I64, I64) -> [I64] raises;
        /// `numpy.random.randint(low, high, n)` into memory: address, n, low, high.
        lh_np_randint_fill(Ptr, I64, I64, I64) -> [] raises writes(0);
        /// An integer from 0 up to and including a limit, as `numpy.random.shuffle` draws it.
        lh_np_interval(I64) -> [I64] role(Random(roles::Random::NumPyUpTo));
        /// A new bit generator: kind, words of its seed, words of its entropy and their number, words of its spawn key
        /// and their number, and the size of the pool.
        lh_rng_new(I64, Ptr, Ptr, I64, Ptr, I64, I64) -> [Mem, Ptr] raises;
        /// Words of a seed: words of the entropy and their number, words of the spawn key and their number, the size of
        /// the pool, where the words go and how many.
        lh_seed_words(Ptr, I64, Ptr, I64, I64, Ptr, I64) -> [] writes(5);
        /// The next children of a bit generator of compiled code: the number of the first.
        lh_rng_children(Ptr, I64) -> [I64];
        /// The number of words of its entropy (0), of its spawn key (1), or the size of its pool (2).
        lh_rng_seed_len(Ptr, I64) -> [I64];
        /// These words.
        lh_rng_seed_words(Ptr, I64, Ptr) -> [] writes(2);
        /// Random bits from the operating system.
        lh_rng_entropy() -> [I64];
        /// `Generator.random()`: bit generator, kind.
        lh_rng_f64(Ptr, I64) -> [F64];
        /// `Generator.standard_normal()`.
        lh_rng_normal(Ptr, I64) -> [F64];
        /// `Generator.standard_exponential()`.
        lh_rng_exponential(Ptr, I64) -> [F64];
        /// The next word of a bit generator.
        lh_rng_raw(Ptr, I64) -> [I64];
        /// An integer up to and including a limit: bit generator, kind, limit, width.
        lh_rng_up_to(Ptr, I64, I64, I64) -> [I64];
        /// A number in single precision: bit generator, kind, distribution, parameter.
        lh_rng_draw32(Ptr, I64, I64, F32) -> [F32];
        /// A number: bit generator, kind, continuous distribution, parameters.
        lh_rng_draw(Ptr, I64, I64, F64, F64, F64) -> [F64];
        /// A number: bit generator, kind, discrete distribution, parameters.
        lh_rng_count(Ptr, I64, I64, F64, F64, I64, I64, I64) -> [I64];
        /// Numbers into memory: bit generator, kind, continuous distribution, address, n, parameters.
        lh_rng_fill(Ptr, I64, I64, Ptr, I64, F64, F64, F64) -> [] writes(3);
        /// The same in single precision, with one parameter.
        lh_rng_fill32(Ptr, I64, I64, Ptr, I64, F32) -> [] writes(3);
        /// Numbers into memory: bit generator, kind, discrete distribution, address, n, parameters.
        lh_rng_counts(Ptr, I64, I64, Ptr, I64, F64, F64, I64, I64, I64) -> [] writes(3);
        /// Integers into memory: bit generator, kind, address, n, least, limit above it, width.
        lh_rng_integers(Ptr, I64, Ptr, I64, I64, I64, I64) -> [] writes(2);
        /// Puts items in random order: bit generator, kind, address, number, the first that takes part, their size and
        /// their distance in bytes.
        lh_rng_shuffle(Ptr, I64, Ptr, I64, I64, I64, I64) -> [] writes(2);
        /// Adds integers up to limits to those in memory: bit generator, kind, address, address of limits, n, width.
        lh_rng_integers_each(Ptr, I64, Ptr, Ptr, I64, I64) -> [] writes(2);
        /// `random.seed(int)`.
        lh_py_seed(I64) -> [];
        /// `random.seed(int)` of Numba.
        lh_py_seed_word(I64) -> [];
        /// `random.seed()`.
        lh_py_seed_os() -> [];
        /// The thread's stream of `random`; generated code accesses its first fields.
        lh_py_stream() -> [Ptr] pure;
        /// `random.random()`.
        lh_py_random() -> [F64] role(Random(roles::Random::Python));
        /// `random.gauss(0, 1)`.
        lh_py_gauss() -> [F64];
        /// `random.gauss(0, 1)` of Numba.
        lh_py_polar() -> [F64];
        /// `random.getrandbits(n)`, n below 64.
        lh_py_getrandbits(I64) -> [I64] raises;
        /// An integer from 0 to before a limit, as `random.randrange` and `random.shuffle` draw it.
        lh_py_randbelow(I64) -> [I64] role(Random(roles::Random::PythonBelow));
        /// `c = a @ b` of `float32`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and
        /// c (m x n).
        lh_gemm_f32(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises writes(9);
        /// `c = a @ b` of `float64`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and
        /// c (m x n).
        lh_gemm_f64(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises writes(9);
        /// `c = a @ b` of `complex64`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n)
        /// and c (m x n).
        lh_gemm_c64(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises writes(9);
        /// `c = a @ b` of `complex128`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n)
        /// and c (m x n).
        lh_gemm_c128(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises writes(9);
        /// Factors `float32` in place: m, n, address, address of the order of rows. The number of exchanges.
        lh_lu_f32(I64, I64, Ptr, Ptr) -> [I64] writes(2) writes(3);
        /// Solves with these factors of `float32` in place: n, right-hand sides, factors, order of rows, right-hand
        /// sides.
        lh_lu_solve_f32(I64, I64, Ptr, Ptr, Ptr) -> [I64] writes(4);
        /// Solves with a triangle of `float32` in place: n, right-hand sides, matrix, whether lower, whether its
        /// diagonal is ones, right-hand sides.
        lh_triangle_f32(I64, I64, Ptr, I64, I64, Ptr) -> [I64] writes(5);
        /// Makes the Cholesky factor of `float32` in the lower triangle: n, address.
        lh_cholesky_f32(I64, Ptr) -> [I64] writes(1);
        /// Factors `float32` in place into R and reflectors: m, n, address, their factors, columns of Q, address of Q.
        lh_qr_f32(I64, I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Singular values and vectors of `float32`: m, n, address, values, columns of u, u, columns of v, v.
        lh_svd_f32(I64, I64, Ptr, Ptr, I64, Ptr, I64, Ptr) -> [I64] writes(3) writes(5) writes(7);
        /// Least-squares solution of `float32` in the first rows of b, and the rank: m, n, address, columns of b, b
        /// (of as many rows as the longer side), singular values, the part of the largest one that counts as zero.
        lh_lstsq_f32(I64, I64, Ptr, I64, Ptr, Ptr, F64) -> [I64] writes(2) writes(4) writes(5);
        /// Eigenvalues and vectors of `float32` by the lower triangle: n, address, values, whether vectors, vectors.
        lh_eigh_f32(I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(4);
        /// Eigenvalues and vectors of `float32`: n, address, values (real parts), imaginary parts, whether vectors,
        /// vectors.
        lh_eig_f32(I64, Ptr, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Factors `float64` in place: m, n, address, address of the order of rows. The number of exchanges.
        lh_lu_f64(I64, I64, Ptr, Ptr) -> [I64] writes(2) writes(3);
        /// Solves with these factors of `float64` in place: n, right-hand sides, factors, order of rows, right-hand
        /// sides.
        lh_lu_solve_f64(I64, I64, Ptr, Ptr, Ptr) -> [I64] writes(4);
        /// Solves with a triangle of `float64` in place: n, right-hand sides, matrix, whether lower, whether its
        /// diagonal is ones, right-hand sides.
        lh_triangle_f64(I64, I64, Ptr, I64, I64, Ptr) -> [I64] writes(5);
        /// Makes the Cholesky factor of `float64` in the lower triangle: n, address.
        lh_cholesky_f64(I64, Ptr) -> [I64] writes(1);
        /// Factors `float64` in place into R and reflectors: m, n, address, their factors, columns of Q, address of Q.
        lh_qr_f64(I64, I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Singular values and vectors of `float64`: m, n, address, values, columns of u, u, columns of v, v.
        lh_svd_f64(I64, I64, Ptr, Ptr, I64, Ptr, I64, Ptr) -> [I64] writes(3) writes(5) writes(7);
        /// Least-squares solution of `float64` in the first rows of b, and the rank: m, n, address, columns of b, b
        /// (of as many rows as the longer side), singular values, the part of the largest one that counts as zero.
        lh_lstsq_f64(I64, I64, Ptr, I64, Ptr, Ptr, F64) -> [I64] writes(2) writes(4) writes(5);
        /// Eigenvalues and vectors of `float64` by the lower triangle: n, address, values, whether vectors, vectors.
        lh_eigh_f64(I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(4);
        /// Eigenvalues and vectors of `float64`: n, address, values (real parts), imaginary parts, whether vectors,
        /// vectors.
        lh_eig_f64(I64, Ptr, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Factors `complex64` in place: m, n, address, address of the order of rows. The number of exchanges.
        lh_lu_c64(I64, I64, Ptr, Ptr) -> [I64] writes(2) writes(3);
        /// Solves with these factors of `complex64` in place: n, right-hand sides, factors, order of rows, right-hand
        /// sides.
        lh_lu_solve_c64(I64, I64, Ptr, Ptr, Ptr) -> [I64] writes(4);
        /// Solves with a triangle of `complex64` in place: n, right-hand sides, matrix, whether lower, whether its
        /// diagonal is ones, right-hand sides.
        lh_triangle_c64(I64, I64, Ptr, I64, I64, Ptr) -> [I64] writes(5);
        /// Makes the Cholesky factor of `complex64` in the lower triangle: n, address.
        lh_cholesky_c64(I64, Ptr) -> [I64] writes(1);
        /// Factors `complex64` in place into R and reflectors: m, n, address, their factors, columns of Q, address of
        /// Q.
        lh_qr_c64(I64, I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Singular values and vectors of `complex64`: m, n, address, values, columns of u, u, columns of v, v.
        lh_svd_c64(I64, I64, Ptr, Ptr, I64, Ptr, I64, Ptr) -> [I64] writes(3) writes(5) writes(7);
        /// Least-squares solution of `complex64` in the first rows of b, and the rank: m, n, address, columns of b, b
        /// (of as many rows as the longer side), singular values, the part of the largest one that counts as zero.
        lh_lstsq_c64(I64, I64, Ptr, I64, Ptr, Ptr, F64) -> [I64] writes(2) writes(4) writes(5);
        /// Eigenvalues and vectors of `complex64` by the lower triangle: n, address, values, whether vectors, vectors.
        lh_eigh_c64(I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(4);
        /// Eigenvalues and vectors of `complex64`: n, address, values (real parts), imaginary parts, whether vectors,
        /// vectors.
        lh_eig_c64(I64, Ptr, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Factors `complex128` in place: m, n, address, address of the order of rows. The number of exchanges.
        lh_lu_c128(I64, I64, Ptr, Ptr) -> [I64] writes(2) writes(3);
        /// Solves with these factors of `complex128` in place: n, right-hand sides, factors, order of rows, right-hand
        /// sides.
        lh_lu_solve_c128(I64, I64, Ptr, Ptr, Ptr) -> [I64] writes(4);
        /// Solves with a triangle of `complex128` in place: n, right-hand sides, matrix, whether lower, whether its
        /// diagonal is ones, right-hand sides.
        lh_triangle_c128(I64, I64, Ptr, I64, I64, Ptr) -> [I64] writes(5);
        /// Makes the Cholesky factor of `complex128` in the lower triangle: n, address.
        lh_cholesky_c128(I64, Ptr) -> [I64] writes(1);
        /// Factors `complex128` in place into R and reflectors: m, n, address, their factors, columns of Q, address of
        /// Q.
        lh_qr_c128(I64, I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Singular values and vectors of `complex128`: m, n, address, values, columns of u, u, columns of v, v.
        lh_svd_c128(I64, I64, Ptr, Ptr, I64, Ptr, I64, Ptr) -> [I64] writes(3) writes(5) writes(7);
        /// Least-squares solution of `complex128` in the first rows of b, and the rank: m, n, address, columns of b, b
        /// (of as many rows as the longer side), singular values, the part of the largest one that counts as zero.
        lh_lstsq_c128(I64, I64, Ptr, I64, Ptr, Ptr, F64) -> [I64] writes(2) writes(4) writes(5);
        /// Eigenvalues and vectors of `complex128` by the lower triangle: n, address, values, whether vectors, vectors.
        lh_eigh_c128(I64, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(4);
        /// Eigenvalues and vectors of `complex128`: n, address, values (real parts), imaginary parts, whether vectors,
        /// vectors.
        lh_eig_c128(I64, Ptr, Ptr, Ptr, I64, Ptr) -> [I64] writes(2) writes(3) writes(5);
        /// Transforms lines of `complex64` in place: length, number, address, whether to transform back.
        lh_fft_f32(I64, I64, Ptr, I64) -> [] raises writes(2);
        /// Transforms lines of `float32`, which are destroyed, into `complex64`: length, number, both addresses.
        lh_rfft_f32(I64, I64, Ptr, Ptr) -> [] raises writes(2) writes(3);
        /// Transforms lines of `complex64`, which are destroyed, into `float32`: length, number, address of the result,
        /// of the lines.
        lh_irfft_f32(I64, I64, Ptr, Ptr) -> [] raises writes(2) writes(3);
        /// Transforms lines of `complex128` in place: length, number, address, whether to transform back.
        lh_fft_f64(I64, I64, Ptr, I64) -> [] raises writes(2);
        /// Transforms lines of `float64`, which are destroyed, into `complex128`: length, number, both addresses.
        lh_rfft_f64(I64, I64, Ptr, Ptr) -> [] raises writes(2) writes(3);
        /// Transforms lines of `complex128`, which are destroyed, into `float64`: length, number, address of the
        /// result, of the lines.
        lh_irfft_f64(I64, I64, Ptr, Ptr) -> [] raises writes(2) writes(3);
        /// Takes the pending exception.
        lh_exc_take() -> [Mem] role(Exception(roles::Exception::Take));
        /// Whether the exception is an instance of the registered class.
        lh_exc_matches(Mem, I64) -> [I1] pure role(Exception(roles::Exception::Matches));
        /// Makes the exception pending.
        lh_exc_restore(Mem) -> [] role(Exception(roles::Exception::Restore));
        /// Whether two references are to the same exception.
        lh_exc_is(Mem, Mem) -> [I1] role(Exception(roles::Exception::Made));
        /// `str(exception)`.
        lh_exc_str(Mem) -> [Mem, Ptr, I64] raises role(Exception(roles::Exception::Str));
        /// `repr` of an exception.
        lh_exc_repr(Mem) -> [Mem, Ptr, I64] raises role(Exception(roles::Exception::Repr));
        /// The name of an exception's class.
        lh_exc_name(Mem) -> [Mem, Ptr, I64] raises role(Exception(roles::Exception::Made));
        /// Says that the first exception was raised while the second was handled.
        lh_exc_chain(Mem, Mem) -> [] role(Exception(roles::Exception::Chain));
        /// `raise ... from`: an exception and its cause, or null.
        lh_exc_set_cause(Mem, Mem) -> [] role(Exception(roles::Exception::Chain));
        /// `__cause__` (0) or `__context__` (1), or null.
        lh_exc_link(Mem, I64) -> [Mem] role(Exception(roles::Exception::Made));
        /// Whether a link is null.
        lh_exc_is_none(Mem) -> [I1] role(Exception(roles::Exception::Made));
        /// `__suppress_context__`
        lh_exc_suppressed(Mem) -> [I1] role(Exception(roles::Exception::Made));
        /// `exception.add_note(text)`
        lh_exc_note(Mem, Mem, Ptr, I64) -> [] role(Exception(roles::Exception::Made));
        /// Begins an exception of the registered class.
        lh_exc_begin(I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: None.
        lh_exc_put_none() -> [] role(Exception(roles::Exception::Made));
        /// An argument: a truth value.
        lh_exc_put_bool(I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: an integer.
        lh_exc_put_int(I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: an unsigned integer.
        lh_exc_put_uint(I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: a float.
        lh_exc_put_float(F64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: a complex number.
        lh_exc_put_complex(F64, F64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: a text.
        lh_exc_put_str(Mem, Ptr, I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: bytes.
        lh_exc_put_bytes(Ptr, I64) -> [] role(Exception(roles::Exception::Made));
        /// An argument: an exception.
        lh_exc_put_exception(Mem) -> [] role(Exception(roles::Exception::Made));
        /// An argument that has items, which follow.
        lh_exc_open() -> [] role(Exception(roles::Exception::Made));
        /// The items were those of a tuple (0), list (1), set (2), dictionary (3) or array (4), or a name and its value
        /// (5).
        lh_exc_close(I64) -> [] role(Exception(roles::Exception::Made));
        /// The exception that was begun.
        lh_exc_end() -> [Mem] role(Exception(roles::Exception::Made));
        /// Says that the `__init__` of the exception's class runs in compiled code.
        lh_exc_own(Mem) -> [] role(Exception(roles::Exception::Made));
        /// The values put since `lh_exc_begin` are the arguments of the exception.
        lh_exc_set_args(Mem) -> [] role(Exception(roles::Exception::Made));
        /// The value put since `lh_exc_begin` is the field of a name.
        lh_exc_set_field(Mem, Mem, Ptr, I64) -> [] role(Exception(roles::Exception::Made));
        /// The path of the field of a name, or 0.
        lh_exc_field(Mem, Mem, Ptr, I64) -> [I64] role(Exception(roles::Exception::Made));
        /// The number of arguments.
        lh_exc_count(Mem) -> [I64] role(Exception(roles::Exception::Made));
        /// The kind of the argument at a path; see `lh-runtime/src/caught.rs`.
        lh_exc_kind(Mem, I64) -> [I64] role(Exception(roles::Exception::Made));
        /// The integer at a path.
        lh_exc_int(Mem, I64) -> [I64] role(Exception(roles::Exception::Made));
        /// The float at a path, or a part of the complex number.
        lh_exc_float(Mem, I64, I64) -> [F64] role(Exception(roles::Exception::Made));
        /// The text at a path.
        lh_exc_text(Mem, I64) -> [Mem, Ptr, I64] raises role(Exception(roles::Exception::Made));
        /// RecursionError if the stack is nearly exhausted: an address in the frame. Recursive functions call it first.
        lh_check_stack(I64) -> [] raises;
        /// KeyboardInterrupt after Ctrl-C. Generated code tests the flag inline and calls only if it is set.
        lh_interrupted() -> [] raises role(Poll(roles::Poll::Loop)) on_gpu;
        /// KeyboardInterrupt after Ctrl-C, in each iteration of a loop that LLVM could not vectorise anyway.
        lh_interrupted_in_turn() -> [] raises role(Poll(roles::Poll::Iteration));
        /// KeyboardInterrupt if Ctrl-C ended the loop before.
        lh_stopped() -> [] raises role(Poll(roles::Poll::After));
        /// Number of live allocations, for leak tests.
        lh_live_allocations() -> [I64];
        /// Begins a shape in the message of `lh_raise_broadcast`.
        lh_shape_begin() -> [] role(Shapes(roles::Shapes::Begin)) on_gpu;
        /// Appends an extent to that shape.
        lh_shape_extent(I64) -> [] role(Shapes(roles::Shapes::Extent)) on_gpu;
        /// ValueError with the collected shapes: of operands that cannot be broadcast together (0), or of sources that
        /// cannot be broadcast to the destination (1; 2 if the destination is also an operand).
        lh_raise_broadcast(I64) -> [] raises role(Shapes(roles::Shapes::Raise)) on_gpu;
    }
    SILENT {
        /// Runs blocks of iterations in parallel: number of iterations, iterations of a block, address of the body,
        /// what is passed to it. See `lh-runtime/src/pool`.
        lh_parallel_for(I64, I64, Ptr, Ptr) -> [] raises;
        /// Calls a block of `objmode`: the Python function, the number of the types, a list with the tuple of the
        /// inputs, a list for that of the outputs.
        lh_call_python(Ptr, I64, Object, Object) -> [] raises;
        /// Calls a function that is a value of a function type: its word, and the rest as for `lh_call_python`.
        lh_call_function(I64, I64, Object, Object) -> [] raises;
        /// Keeps other threads out of the kept results of a function; the address of the word that refers to the table
        /// of a type.
        lh_memo_enter(Ptr, I64) -> [Ptr];
        /// The same for a table of values that refer to no memory that can be written, so that nobody sees the table.
        lh_memo_enter_plain(Ptr, I64) -> [Ptr];
        /// Lets others in again.
        lh_memo_leave(Ptr) -> [];
    }
    READS {
        /// Proposes the size of blocks: number of iterations, approximate cost of an iteration in nanoseconds (0:
        /// perhaps long).
        lh_parallel_grain(I64, I64) -> [I64] role(Threads(roles::Threads::Grain));
        /// The size of blocks, or more than all iterations if a test of each would take as long as the loop: number of
        /// iterations, size of blocks, cost of an iteration as above.
        lh_parallel_tested(I64, I64, I64) -> [I64];
        /// Whether so many integers are different indices of an axis: address, bytes from one to the next, bits
        /// (negative without a sign), number, what is added to each, extent, whether negative ones count from the end.
        lh_parallel_distinct(Ptr, I64, I64, I64, I64, I64, I64) -> [I1];
        /// Whether so many intervals follow each other, none of which counts from the end: for the beginnings and for
        /// the ends, address, bytes from one to the next, bits and what is added; number.
        lh_parallel_in_turn(Ptr, I64, I64, I64, Ptr, I64, I64, I64, I64) -> [I1];
        /// The greatest common divisor.
        lh_gcd(I64, I64) -> [I64] pure;
        /// Whether items of two sizes lie beside each other, at a distance in bytes, if all strides are multiples of a
        /// number of bytes: distance, that number, both sizes.
        lh_parallel_beside(I64, I64, I64, I64) -> [I1] pure;
        /// Warns that a parallel loop runs in order: file, a `Span` as one number, lines with what a test has found and
        /// with advice.
        lh_parallel_ordered(Mem, Ptr, I64, I64, Mem, Ptr, I64) -> [] raises;
        /// Enables the race checker for the next parallel loop: file and line.
        lh_race_loop(Mem, Ptr, I64, I64) -> [] role(Race(roles::Race::Other));
        /// Memory of the next parallel loop of which each block of iterations has a part: address and bytes.
        lh_race_own(Ptr, I64) -> [] role(Race(roles::Race::Other));
        /// An iteration of the innermost checked loop begins.
        lh_race_iteration(I64) -> [] role(Race(roles::Race::Iteration));
        /// The position of a call in the user's code: file, and a `Span` as one number.
        lh_race_place(Mem, Ptr, I64, I64) -> [] role(Race(roles::Race::Other));
        /// The array of the next access: name, address, bytes of an element.
        lh_race_array(Mem, Ptr, I64, Ptr, I64) -> [] role(Race(roles::Race::Other));
        /// Extent and stride of the next dimension of that array.
        lh_race_extent(I64, I64) -> [] role(Race(roles::Race::Other));
        /// An access: file and `Span`, address, bytes, kind (see [`access`]).
        lh_race_access(Mem, Ptr, I64, I64, Ptr, I64, I64) -> [] raises role(Race(roles::Race::Access));
        /// An access to the header of an object with items, with the operands of `lh_race_access`.
        lh_race_header(Mem, Ptr, I64, I64, Object, I64, I64) -> [] raises role(Race(roles::Race::Other));
        /// Thread-local memory of a kernel: address, bytes, whether it holds an array of the program.
        lh_race_memory(Ptr, I64, I64) -> [] role(Race(roles::Race::Other));
        /// The array reported last is passed to unchecked code.
        lh_race_handed() -> [] role(Race(roles::Race::Other));
        /// Number of threads of parallel loops that this thread begins.
        lh_get_num_threads() -> [I64] role(Threads(roles::Threads::Number));
        /// Sets the number of threads of parallel loops that this thread begins.
        lh_set_num_threads(I64) -> [] raises;
        /// Number of this thread in the innermost parallel loop.
        lh_get_thread_id() -> [I64] role(Threads(roles::Threads::ThreadId));
        /// The size of blocks of iterations that the program has set; 0 if none.
        lh_get_chunksize() -> [I64] role(Threads(roles::Threads::ChunkSize));
        /// Sets the size of blocks of iterations; returns the previous one.
        lh_set_chunksize(I64) -> [I64] raises;
        /// Prefetches memory for writing; the address may be invalid.
        lh_prefetch(Ptr) -> [] role(Memory(roles::Memory::Prefetch));
        /// Converts an address to an integer.
        lh_ptr_addr(Ptr) -> [I64] pure role(Address(roles::Address::ToNumber)) on_gpu;
        /// Converts an integer to an address.
        lh_addr_ptr(I64) -> [Ptr] pure role(Address(roles::Address::OfNumber)) on_gpu;
        /// The address of the data of an owner.
        lh_mem_data(Mem) -> [Ptr];
        /// The context of the block, in code for a CUDA device; the pass `kernel_context` passes it down as a
        /// parameter.
        lh_cuda_context() -> [Ptr] pure inlined role(Launch(roles::Launch::Context)) on_gpu;
        /// The first of the blocks for which a kernel is called.
        lh_cuda_first(Ptr) -> [I64] inlined role(Launch(roles::Launch::First));
        /// The exclusive end of the blocks for which a kernel is called.
        lh_cuda_last(Ptr) -> [I64] inlined role(Launch(roles::Launch::Last));
        /// Memory to which threads spill values across barriers.
        lh_cuda_scratch(Ptr) -> [Ptr] pure inlined role(Launch(roles::Launch::Scratch));
        /// Number of threads for which the spill memory has room.
        lh_cuda_capacity(Ptr) -> [I64] pure inlined role(Launch(roles::Launch::Capacity));
        /// Sets the block of a context: its place among the blocks that run together, x, y, z.
        lh_cuda_enter_block(Ptr, I64, I64, I64, I64) -> [] writes(0) inlined role(Launch(roles::Launch::EnterBlock));
        /// Records the index of a thread that has raised: x, y, z.
        lh_cuda_failed(Ptr, I64, I64, I64) -> [] writes(0) role(Launch(roles::Launch::Failed));
        /// Shared memory: position in the source (later replaced by its offset), bytes, alignment.
        lh_cuda_shared(Ptr, I64, I64, I64) -> [Ptr] pure inlined role(Memory(roles::Memory::Shared)) on_gpu;
        /// Shared memory whose size is given at the launch.
        lh_cuda_dynamic(Ptr) -> [Ptr] pure inlined role(Memory(roles::Memory::Dynamic)) on_gpu;
        /// Size of the shared memory that is given at the launch.
        lh_cuda_dynamic_bytes(Ptr) -> [I64] pure inlined role(Memory(roles::Memory::DynamicBytes)) on_gpu;
        /// Thread-local memory: bytes, alignment. All calls from one place get the same memory.
        lh_cuda_local(I64, I64) -> [Ptr] pure varies inlined role(Memory(roles::Memory::Local)) on_gpu;
        /// On a GPU, a temporary for a value that is computed from the array to which it is stored: bytes. ValueError
        /// unless the size is a constant.
        lh_cuda_temporary(I64) -> [Mem, Ptr] raises inlined role(Memory(roles::Memory::Temporary)) on_gpu;
        /// Copies an array with an element for each lane: source, destination, bytes of an element.
        lh_cuda_lanes_copy(Ptr, Ptr, I64) -> [] writes(1) inlined role(Lanes(roles::Lanes::Copy));
        /// Shuffles an array with an element for each lane: source, destination, kind of shuffle, uniform operand of
        /// the shuffle.
        lh_cuda_lanes_move(Ptr, Ptr, I64, I64) -> [] writes(1) inlined role(Lanes(roles::Lanes::Move));
        /// Packs truth values of the lanes into bits.
        lh_cuda_lanes_bits(Ptr) -> [I64] inlined role(Lanes(roles::Lanes::Bits));
    }
    SILENT {
        /// A fence for the block (0), the device (1) or the system (2), or for the compiler only (3): a constant.
        lh_cuda_fence(I64) -> [] role(Memory(roles::Memory::Fence)) on_gpu;
    }
    READS {
        /// Loads 8 bits on a GPU with a cache operator, an index in [`CACHE_OPERATORS`]. The load is volatile.
        lh_cuda_ld_i8(Ptr, I64) -> [I8] inlined role(Memory(roles::Memory::LoadCached)) on_gpu;
        /// The same of 16 bits.
        lh_cuda_ld_i16(Ptr, I64) -> [I16] inlined role(Memory(roles::Memory::LoadCached)) on_gpu;
        /// The same of 32 bits.
        lh_cuda_ld_i32(Ptr, I64) -> [I32] inlined role(Memory(roles::Memory::LoadCached)) on_gpu;
        /// The same of 64 bits.
        lh_cuda_ld_i64(Ptr, I64) -> [I64] inlined role(Memory(roles::Memory::LoadCached)) on_gpu;
        /// Stores 8 bits on a GPU with a cache operator, an index in [`CACHE_OPERATORS`].
        lh_cuda_st_i8(Ptr, I8, I64) -> [] writes(0) inlined role(Memory(roles::Memory::StoreCached)) on_gpu;
        /// The same of 16 bits.
        lh_cuda_st_i16(Ptr, I16, I64) -> [] writes(0) inlined role(Memory(roles::Memory::StoreCached)) on_gpu;
        /// The same of 32 bits.
        lh_cuda_st_i32(Ptr, I32, I64) -> [] writes(0) inlined role(Memory(roles::Memory::StoreCached)) on_gpu;
        /// The same of 64 bits.
        lh_cuda_st_i64(Ptr, I64, I64) -> [] writes(0) inlined role(Memory(roles::Memory::StoreCached)) on_gpu;
    }
    SILENT {
        /// `syncthreads`.
        lh_cuda_sync(Ptr) -> []
            raises role(Barrier(roles::Barrier::Block(Combine::Nothing))) waits(waits::BLOCK) uniform on_gpu;
        /// `syncthreads_count`.
        lh_cuda_sync_count(Ptr, I64) -> [I64]
            raises role(Barrier(roles::Barrier::Block(Combine::Count))) waits(waits::BLOCK) uniform on_gpu within(0, 1 << 15);
        /// `syncthreads_and`.
        lh_cuda_sync_and(Ptr, I64) -> [I64]
            raises role(Barrier(roles::Barrier::Block(Combine::All))) waits(waits::BLOCK) uniform on_gpu within(0, 1 << 15);
        /// `syncthreads_or`.
        lh_cuda_sync_or(Ptr, I64) -> [I64]
            raises role(Barrier(roles::Barrier::Block(Combine::Any))) waits(waits::BLOCK) uniform on_gpu within(0, 1 << 15);
        /// Waits for all threads of the grid.
        lh_cuda_grid_sync(Ptr) -> [] raises role(Barrier(roles::Barrier::Grid)) waits(waits::GRID) on_gpu;
        /// Yields to other threads; on a GPU, for a number of nanoseconds.
        lh_cuda_pause(Ptr, I64) -> [] raises role(Warp(roles::Warp::Pause)) waits(waits::WARP | waits::VARIES) on_gpu;
        /// A warp operation: kind, mask, value, lane. Returns a value and a truth value.
        lh_cuda_warp(Ptr, I64, I64, I64, I64) -> [I64, I64]
            raises role(Warp(roles::Warp::Exchange)) waits(waits::WARP | waits::VARIES) on_gpu;
    }
    READS {
        /// Lanes of the warp that have not ended, as bits.
        lh_cuda_activemask(Ptr) -> [I64] role(Warp(roles::Warp::ActiveMask)) waits(waits::WARP | waits::VARIES) on_gpu;
    }
}

/// Every run-time function.
pub fn all() -> impl Iterator<Item = &'static RuntimeFn> {
    ROWS.iter().copied().chain(GEOMETRY.iter().flatten()).chain(&ATOMICS).chain(LINES.iter().flatten())
}

/// The prefix of all names.
pub const PREFIX: &str = "lh_";

/// The run-time function of a name, in textual IR and in the library.
pub fn find(name: &str) -> Option<&'static RuntimeFn> {
    static BY_NAME: LazyLock<HashMap<&str, &RuntimeFn>> = LazyLock::new(|| all().map(|f| (f.name, f)).collect());
    BY_NAME.get(name).copied()
}

/// PTX's cache operators of loads and stores, by the numbers that compiled code passes.
pub const CACHE_OPERATORS: [&str; 7] = ["ca", "cg", "cs", "lu", "cv", "wb", "wt"];

/// Kinds of access to memory, as checked code passes them.
pub mod access {
    /// It reads.
    pub const READ: i64 = 0;
    /// It writes.
    pub const WRITE: i64 = 1;
    /// It reads and writes atomically.
    pub const UPDATE: i64 = 2;
    /// It writes atomically, whatever was there.
    pub const EXCHANGE: i64 = 3;
    /// Precedes a store that may leave the value unchanged.
    pub const BEFORE: i64 = 4;
    /// Follows that store; it is no race if the value is unchanged.
    pub const SAME: i64 = 5;
}
