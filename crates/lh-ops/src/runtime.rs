//! Functions of the run-time library: name, signature, effects. `lh-runtime` supplies the code.

use lh_ir::op::RuntimeFn;
use lh_ir::types::Prim::{F32, F64, I1, I8, I16, I32, I64, Mem, Object, Ptr};

macro_rules! table {
    ($($(#[doc = $doc:literal])* $name:ident($($arg:ident),*) -> [$($ret:ident),*] $($flag:ident)*;)*) => {
        /// Every run-time function.
        pub static TABLE: &[RuntimeFn] = &[$(RuntimeFn {
            name: stringify!($name),
            doc: concat!($($doc),*),
            args: &[$($arg),*],
            ret: &[$($ret),*],
            raises: table!(@has raises $($flag)*),
            pure: table!(@has pure $($flag)*),
        }),*];
    };
    (@has raises raises $($rest:ident)*) => { true };
    (@has pure pure $($rest:ident)*) => { true };
    (@has $want:ident $other:ident $($rest:ident)*) => { table!(@has $want $($rest)*) };
    (@has $want:ident) => { false };
}

table! {
    /// Memory for array data: bytes. Owner and address (64-byte aligned).
    lh_alloc(I64) -> [Mem, Ptr] raises;
    /// Zeroed memory for array data: bytes.
    lh_calloc(I64) -> [Mem, Ptr] raises;
    /// Room for `n` items in all.
    lh_list_reserve(Object, I64) -> [] raises;
    /// Sets the number of items; the caller has written or taken them.
    lh_list_set_len(Object, I64) -> [];
    /// Whether two lists are the same object.
    lh_list_is(Object, Object) -> [I1] pure;
    /// Copies bytes between regions that may overlap: destination, source, number.
    lh_memmove(Ptr, Ptr, I64) -> [];
    /// Whether two strings are equal.
    lh_str_eq(Mem, Ptr, I64, Mem, Ptr, I64) -> [I1] pure;
    /// -1, 0 or 1 by code points.
    lh_str_cmp(Mem, Ptr, I64, Mem, Ptr, I64) -> [I64] pure;
    /// Whether the second string contains the first.
    lh_str_in(Mem, Ptr, I64, Mem, Ptr, I64) -> [I1] pure;
    /// Number of code points.
    lh_str_len(Mem, Ptr, I64) -> [I64] pure;
    /// Concatenation.
    lh_str_concat(Mem, Ptr, I64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str * int`.
    lh_str_repeat(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
    /// One code point by index; negative indices count from the end.
    lh_str_getitem(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
    /// The character that begins at a byte.
    lh_str_char(Mem, Ptr, I64, I64) -> [Mem, Ptr, I64];
    /// Code points from one index to before another; what lies outside the text is left out.
    lh_str_slice(Mem, Ptr, I64, I64, I64) -> [Mem, Ptr, I64] raises;
    /// So many code points, from one on in steps: string, first, step, number.
    lh_str_step(Mem, Ptr, I64, I64, I64, I64) -> [Mem, Ptr, I64] raises;
    /// `ord(str)`.
    lh_str_ord(Mem, Ptr, I64) -> [I64] raises;
    /// `chr(int)`.
    lh_str_chr(I64) -> [Mem, Ptr, I64] raises;
    /// `repr(str)`.
    lh_str_repr(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// Index of the second string in the first, from an index on that is not negative; or -1.
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
    /// `str.upper`.
    lh_str_upper(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str.lower`.
    lh_str_lower(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str.swapcase`.
    lh_str_swapcase(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str.title`.
    lh_str_title(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str.capitalize`.
    lh_str_capitalize(Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
    /// `str.replace(old, new, limit)`; a negative limit is none.
    lh_str_replace(Mem, Ptr, I64, Mem, Ptr, I64, Mem, Ptr, I64, I64) -> [Mem, Ptr, I64] raises;
    /// `str.join`: the separator, then a list of strings.
    lh_str_join(Mem, Ptr, I64, Object) -> [Mem, Ptr, I64] raises;
    /// `str.split(sep, limit)`: a list of strings; a negative limit is none.
    lh_str_split(Mem, Ptr, I64, Mem, Ptr, I64, I64) -> [Object] raises;
    /// `str.split(None, limit)`: a list of strings; a negative limit is none.
    lh_str_split_space(Mem, Ptr, I64, I64) -> [Object] raises;
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
    /// `str(array)` or, if the last is true, `repr(array)`: number of the class of its dtype (see the library's `text_of`)
    /// and bytes of an item, rank, extents and then strides, data.
    lh_str_from_array(I64, I64, I64, Ptr, Ptr, I1) -> [Mem, Ptr, I64] raises;
    /// `format(float, spec)`.
    lh_str_format_f64(F64, Mem, Ptr, I64) -> [Mem, Ptr, I64] raises;
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
    /// `float(str)`.
    lh_str_to_f64(Mem, Ptr, I64) -> [F64] raises;
    /// Appends text to what is being printed.
    lh_print_str(Mem, Ptr, I64) -> [];
    /// Appends an int to what is being printed.
    lh_print_i64(I64) -> [];
    /// Appends an unsigned int to what is being printed.
    lh_print_u64(I64) -> [];
    /// Appends `repr(float)` to what is being printed.
    lh_print_f64(F64) -> [];
    /// Appends `str(numpy.float32)` to what is being printed.
    lh_print_f32(F32) -> [];
    /// Appends a complex number to what is being printed.
    lh_print_complex(F64, F64) -> [];
    /// Appends `True` or `False` to what is being printed.
    lh_print_bool(I1) -> [];
    /// Appends `None` to what is being printed.
    lh_print_none() -> [];
    /// Writes out what is being printed, to `sys.stdout`.
    lh_print_flush() -> [] raises;
    /// IndexError unless the last index is within the extent: index as written, axis, extent, index from the start.
    lh_check_index(I64, I64, I64, I64) -> [] raises;
    /// `numpy.random.seed(int)`.
    lh_np_seed(I64) -> [] raises;
    /// `numpy.random.seed()`.
    lh_np_seed_os() -> [];
    /// The thread's stream of `numpy.random`, of which compiled code knows the beginning.
    lh_np_stream() -> [Ptr] pure;
    /// `numpy.random.random()`.
    lh_np_random_f64() -> [F64];
    /// `numpy.random.random(n)` into memory.
    lh_np_random_fill(Ptr, I64) -> [];
    /// `numpy.random.standard_normal()`.
    lh_np_gauss() -> [F64];
    /// `numpy.random.standard_normal(n)` into memory.
    lh_np_gauss_fill(Ptr, I64) -> [];
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
    lh_np_randint_fill(Ptr, I64, I64, I64) -> [] raises;
    /// An integer from 0 up to and including a limit, as `numpy.random.shuffle` draws it.
    lh_np_interval(I64) -> [I64];
    /// `random.seed(int)`.
    lh_py_seed(I64) -> [];
    /// `random.seed()`.
    lh_py_seed_os() -> [];
    /// The thread's stream of `random`, of which compiled code knows the beginning.
    lh_py_stream() -> [Ptr] pure;
    /// `random.random()`.
    lh_py_random() -> [F64];
    /// `random.gauss(0, 1)`.
    lh_py_gauss() -> [F64];
    /// `random.getrandbits(n)`, n below 64.
    lh_py_getrandbits(I64) -> [I64] raises;
    /// An integer from 0 to before a limit, as `random.randrange` and `random.shuffle` draw it.
    lh_py_randbelow(I64) -> [I64];
    /// Sorts contiguous `uint8` (also of `bool`): address, number.
    lh_sort_u8(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `uint8` (also of `bool`), stably: address, address of the indices, number.
    lh_argsort_u8(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `uint8` (also of `bool`) in its place, smaller ones before it: address, number, k.
    lh_partition_u8(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `uint16`: address, number.
    lh_sort_u16(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `uint16`, stably: address, address of the indices, number.
    lh_argsort_u16(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `uint16` in its place, smaller ones before it: address, number, k.
    lh_partition_u16(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `uint32`: address, number.
    lh_sort_u32(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `uint32`, stably: address, address of the indices, number.
    lh_argsort_u32(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `uint32` in its place, smaller ones before it: address, number, k.
    lh_partition_u32(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `uint64`: address, number.
    lh_sort_u64(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `uint64`, stably: address, address of the indices, number.
    lh_argsort_u64(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `uint64` in its place, smaller ones before it: address, number, k.
    lh_partition_u64(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `int8`: address, number.
    lh_sort_i8(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `int8`, stably: address, address of the indices, number.
    lh_argsort_i8(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `int8` in its place, smaller ones before it: address, number, k.
    lh_partition_i8(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `int16`: address, number.
    lh_sort_i16(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `int16`, stably: address, address of the indices, number.
    lh_argsort_i16(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `int16` in its place, smaller ones before it: address, number, k.
    lh_partition_i16(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `int32`: address, number.
    lh_sort_i32(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `int32`, stably: address, address of the indices, number.
    lh_argsort_i32(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `int32` in its place, smaller ones before it: address, number, k.
    lh_partition_i32(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `int64`: address, number.
    lh_sort_i64(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `int64`, stably: address, address of the indices, number.
    lh_argsort_i64(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `int64` in its place, smaller ones before it: address, number, k.
    lh_partition_i64(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `float32`: address, number.
    lh_sort_f32(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `float32`, stably: address, address of the indices, number.
    lh_argsort_f32(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `float32` in its place, smaller ones before it: address, number, k.
    lh_partition_f32(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `float64`: address, number.
    lh_sort_f64(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `float64`, stably: address, address of the indices, number.
    lh_argsort_f64(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `float64` in its place, smaller ones before it: address, number, k.
    lh_partition_f64(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `complex64`: address, number.
    lh_sort_c64(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `complex64`, stably: address, address of the indices, number.
    lh_argsort_c64(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `complex64` in its place, smaller ones before it: address, number, k.
    lh_partition_c64(Ptr, I64, I64) -> [] raises;
    /// Sorts contiguous `complex128`: address, number.
    lh_sort_c128(Ptr, I64) -> [] raises;
    /// Indices that sort contiguous `complex128`, stably: address, address of the indices, number.
    lh_argsort_c128(Ptr, Ptr, I64) -> [] raises;
    /// Puts the k-th smallest of contiguous `complex128` in its place, smaller ones before it: address, number, k.
    lh_partition_c128(Ptr, I64, I64) -> [] raises;
    /// `c = a @ b` of `float32`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and c (m x n).
    lh_gemm_f32(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises;
    /// `c = a @ b` of `float64`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and c (m x n).
    lh_gemm_f64(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises;
    /// `c = a @ b` of `complex64`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and c (m x n).
    lh_gemm_c64(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises;
    /// `c = a @ b` of `complex128`: m, n, k; address, row stride and column stride (bytes) of a (m x k), b (k x n) and c (m x n).
    lh_gemm_c128(I64, I64, I64, Ptr, I64, I64, Ptr, I64, I64, Ptr, I64, I64) -> [] raises;
    /// Takes the pending exception: a handle.
    lh_exc_take() -> [I64];
    /// Whether the exception is an instance of the registered class.
    lh_exc_matches(I64, I64) -> [I1] pure;
    /// Makes the exception pending again and keeps the handle valid.
    lh_exc_restore(I64) -> [];
    /// Frees a handle.
    lh_exc_drop(I64) -> [];
    /// `str(exception)`.
    lh_exc_str(I64) -> [Mem, Ptr, I64] raises;
    /// `repr` of an exception.
    lh_exc_repr(I64) -> [Mem, Ptr, I64] raises;
    /// RecursionError when the stack is nearly used up; called first by recursive functions, with an address of their frame.
    lh_check_stack(I64) -> [] raises;
    /// KeyboardInterrupt if the user has asked for it. The code generator looks at the flag and calls only if it is set.
    lh_interrupted() -> [] raises;
    /// The same, in each round of a loop that would not be vectorised without it either.
    lh_interrupted_in_turn() -> [] raises;
    /// KeyboardInterrupt if the loop that has just ended did so because the user has asked for it.
    lh_stopped() -> [] raises;
    /// Number of live allocations, for leak tests.
    lh_live_allocations() -> [I64];
    /// Begins a shape of the message of `lh_raise_broadcast`.
    lh_shape_begin() -> [];
    /// Appends an extent to the last shape begun.
    lh_shape_extent(I64) -> [];
    /// ValueError that names the shapes begun: operands that do not fit together (0), or sources and the destination that
    /// they do not fit into (1; 2 if that is an operand too).
    lh_raise_broadcast(I64) -> [] raises;
    /// Runs blocks of iterations in parallel: number of iterations, iterations of a block, address of the body, what is passed to it. See `lh-runtime/src/pool`.
    lh_parallel_for(I64, I64, Ptr, Ptr) -> [] raises;
    /// Proposes how many iterations make a block: their number, the rough cost of one in nanoseconds (0: may be long).
    lh_parallel_grain(I64, I64) -> [I64];
    /// The next parallel loop is one to be checked: file and line.
    lh_race_loop(Mem, Ptr, I64, I64) -> [];
    /// Memory of the loop to come that blocks of iterations have parts of: address and bytes.
    lh_race_own(Ptr, I64) -> [];
    /// An iteration of the innermost checked loop begins.
    lh_race_iteration(I64) -> [];
    /// Where the user's code is that calls: file and place, a `Span` as one number.
    lh_race_place(Mem, Ptr, I64, I64) -> [];
    /// The array that the next access goes to: name, address, bytes of an element.
    lh_race_array(Mem, Ptr, I64, Ptr, I64) -> [];
    /// Extent and stride of its next dimension.
    lh_race_extent(I64, I64) -> [];
    /// An access: file and place, address, bytes, kind (see [`access`]).
    lh_race_access(Mem, Ptr, I64, I64, Ptr, I64, I64) -> [] raises;
    /// The same of a list as a whole.
    lh_race_list(Mem, Ptr, I64, I64, Object, I64, I64) -> [] raises;
    /// Memory of a kernel's thread: address, bytes, whether it is for an array of the program.
    lh_race_memory(Ptr, I64, I64) -> [];
    /// Code that is not checked gets the address of the array told last.
    lh_race_handed() -> [];
    /// Number of threads that a parallel loop begun by this thread uses.
    lh_get_num_threads() -> [I64];
    /// Sets the number of threads of parallel loops begun by this thread.
    lh_set_num_threads(I64) -> [] raises;
    /// Number of this thread in the innermost parallel loop.
    lh_get_thread_id() -> [I64];
    /// Iterations of a block that the program has asked for; 0: none.
    lh_get_chunksize() -> [I64];
    /// Sets the iterations of a block; gives what was set before.
    lh_set_chunksize(I64) -> [I64] raises;
    /// Says that memory will be written to soon, if there is any at the address.
    lh_prefetch(Ptr) -> [];
    /// Address as a number.
    lh_ptr_addr(Ptr) -> [I64] pure;
    /// A number as an address.
    lh_addr_ptr(I64) -> [Ptr] pure;
    /// The context of the block, in a function for a CUDA device; a pass hands it through.
    lh_cuda_context() -> [Ptr] pure;
    /// `threadIdx.x`; a pass hands it through.
    lh_cuda_tid_x() -> [I64] pure;
    /// `threadIdx.y`; a pass hands it through.
    lh_cuda_tid_y() -> [I64] pure;
    /// `threadIdx.z`; a pass hands it through.
    lh_cuda_tid_z() -> [I64] pure;
    /// `blockIdx.x` of a context.
    lh_cuda_bid_x(Ptr) -> [I64];
    /// `blockIdx.y` of a context.
    lh_cuda_bid_y(Ptr) -> [I64];
    /// `blockIdx.z` of a context.
    lh_cuda_bid_z(Ptr) -> [I64];
    /// `blockDim.x` of a context.
    lh_cuda_bdim_x(Ptr) -> [I64];
    /// `blockDim.y` of a context.
    lh_cuda_bdim_y(Ptr) -> [I64];
    /// `blockDim.z` of a context.
    lh_cuda_bdim_z(Ptr) -> [I64];
    /// `gridDim.x` of a context.
    lh_cuda_gdim_x(Ptr) -> [I64];
    /// `gridDim.y` of a context.
    lh_cuda_gdim_y(Ptr) -> [I64];
    /// `gridDim.z` of a context.
    lh_cuda_gdim_z(Ptr) -> [I64];
    /// The first of the blocks that a call of a kernel is for.
    lh_cuda_first(Ptr) -> [I64];
    /// One after the last of those.
    lh_cuda_last(Ptr) -> [I64];
    /// Memory for what threads keep while they wait.
    lh_cuda_scratch(Ptr) -> [Ptr] pure;
    /// Number of threads that this memory is for.
    lh_cuda_capacity(Ptr) -> [I64] pure;
    /// Sets the block of a context: its place among those that run together, x, y, z.
    lh_cuda_enter_block(Ptr, I64, I64, I64, I64) -> [];
    /// Notes that a thread has raised: x, y, z.
    lh_cuda_failed(Ptr, I64, I64, I64) -> [];
    /// Shared memory: where it was written (later its offset), bytes, alignment.
    lh_cuda_shared(Ptr, I64, I64, I64) -> [Ptr] pure;
    /// Shared memory whose size is given at the launch.
    lh_cuda_dynamic(Ptr) -> [Ptr] pure;
    /// Size of that memory.
    lh_cuda_dynamic_bytes(Ptr) -> [I64] pure;
    /// Memory of the thread's own: bytes, alignment. The same at each call from one place.
    lh_cuda_local(I64, I64) -> [Ptr] pure;
    /// On a GPU, memory for what is computed of what it is stored over: bytes. ValueError if they are not known while compiling.
    lh_cuda_temporary(I64) -> [Mem, Ptr] raises;
    /// Copies an array with a place for each lane: from, to, bytes of a place.
    lh_cuda_lanes_copy(Ptr, Ptr, I64) -> [];
    /// Gives each lane the place of another: from, to, kind of shuffle, by how much; that is the same for all of them.
    lh_cuda_lanes_move(Ptr, Ptr, I64, I64) -> [];
    /// Truth values of the lanes as bits.
    lh_cuda_lanes_bits(Ptr) -> [I64];
    /// Orders what is written before and read after, for the block (0), the device (1) or all (2), or only has the compiler
    /// read memory anew (3): a constant.
    lh_cuda_fence(I64) -> [];
    /// Loads 8 bits on a GPU by an instruction with a cache operator, a place in [`CACHE_OPERATORS`]. It is done each time.
    lh_cuda_ld_i8(Ptr, I64) -> [I8];
    /// The same of 16 bits.
    lh_cuda_ld_i16(Ptr, I64) -> [I16];
    /// The same of 32 bits.
    lh_cuda_ld_i32(Ptr, I64) -> [I32];
    /// The same of 64 bits.
    lh_cuda_ld_i64(Ptr, I64) -> [I64];
    /// Stores 8 bits on a GPU by an instruction with a cache operator, a place in [`CACHE_OPERATORS`].
    lh_cuda_st_i8(Ptr, I8, I64) -> [];
    /// The same of 16 bits.
    lh_cuda_st_i16(Ptr, I16, I64) -> [];
    /// The same of 32 bits.
    lh_cuda_st_i32(Ptr, I32, I64) -> [];
    /// The same of 64 bits.
    lh_cuda_st_i64(Ptr, I64, I64) -> [];
    /// `syncthreads`.
    lh_cuda_sync(Ptr) -> [] raises;
    /// `syncthreads_count`.
    lh_cuda_sync_count(Ptr, I64) -> [I64] raises;
    /// `syncthreads_and`.
    lh_cuda_sync_and(Ptr, I64) -> [I64] raises;
    /// `syncthreads_or`.
    lh_cuda_sync_or(Ptr, I64) -> [I64] raises;
    /// Waits for all threads of the grid.
    lh_cuda_grid_sync(Ptr) -> [] raises;
    /// Lets other threads go on, for so many nanoseconds on a GPU.
    lh_cuda_pause(Ptr, I64) -> [] raises;
    /// An operation of the warp: kind, mask, value, lane. A value and a truth value.
    lh_cuda_warp(Ptr, I64, I64, I64, I64) -> [I64, I64] raises;
    /// Lanes of the warp that have not come to their end.
    lh_cuda_activemask(Ptr) -> [I64];
    /// Adds at an address, at once, of `int32`: the value before.
    lh_cuda_add_i32(Ptr, I32) -> [I32];
    /// The greater at an address, at once, of `int32`: the value before.
    lh_cuda_max_i32(Ptr, I32) -> [I32];
    /// The greater at an address, at once, of `uint32`: the value before.
    lh_cuda_max_u32(Ptr, I32) -> [I32];
    /// The lesser at an address, at once, of `int32`: the value before.
    lh_cuda_min_i32(Ptr, I32) -> [I32];
    /// The lesser at an address, at once, of `uint32`: the value before.
    lh_cuda_min_u32(Ptr, I32) -> [I32];
    /// Conjunction of bits at an address, at once, of `int32`: the value before.
    lh_cuda_and_i32(Ptr, I32) -> [I32];
    /// Disjunction of bits at an address, at once, of `int32`: the value before.
    lh_cuda_or_i32(Ptr, I32) -> [I32];
    /// Exclusive or of bits at an address, at once, of `int32`: the value before.
    lh_cuda_xor_i32(Ptr, I32) -> [I32];
    /// Replaces at an address, at once, of `int32`: the value before.
    lh_cuda_exch_i32(Ptr, I32) -> [I32];
    /// Counts up to a limit at an address, at once, of `uint32`: the value before.
    lh_cuda_inc_u32(Ptr, I32) -> [I32];
    /// Counts down from a limit at an address, at once, of `uint32`: the value before.
    lh_cuda_dec_u32(Ptr, I32) -> [I32];
    /// Adds at an address, at once, of `float32`: the value before.
    lh_cuda_add_f32(Ptr, F32) -> [F32];
    /// The greater at an address, at once, of `float32`: the value before.
    lh_cuda_max_f32(Ptr, F32) -> [F32];
    /// The lesser at an address, at once, of `float32`: the value before.
    lh_cuda_min_f32(Ptr, F32) -> [F32];
    /// The greater, or the one that is not NaN, at an address, at once, of `float32`: the value before.
    lh_cuda_nanmax_f32(Ptr, F32) -> [F32];
    /// The lesser, or the one that is not NaN, at an address, at once, of `float32`: the value before.
    lh_cuda_nanmin_f32(Ptr, F32) -> [F32];
    /// Replaces at an address if what is there is as expected, of `int32`: the value before.
    lh_cuda_cas_i32(Ptr, I32, I32) -> [I32];
    /// Adds at an address, at once, of `int64`: the value before.
    lh_cuda_add_i64(Ptr, I64) -> [I64];
    /// The greater at an address, at once, of `int64`: the value before.
    lh_cuda_max_i64(Ptr, I64) -> [I64];
    /// The greater at an address, at once, of `uint64`: the value before.
    lh_cuda_max_u64(Ptr, I64) -> [I64];
    /// The lesser at an address, at once, of `int64`: the value before.
    lh_cuda_min_i64(Ptr, I64) -> [I64];
    /// The lesser at an address, at once, of `uint64`: the value before.
    lh_cuda_min_u64(Ptr, I64) -> [I64];
    /// Conjunction of bits at an address, at once, of `int64`: the value before.
    lh_cuda_and_i64(Ptr, I64) -> [I64];
    /// Disjunction of bits at an address, at once, of `int64`: the value before.
    lh_cuda_or_i64(Ptr, I64) -> [I64];
    /// Exclusive or of bits at an address, at once, of `int64`: the value before.
    lh_cuda_xor_i64(Ptr, I64) -> [I64];
    /// Replaces at an address, at once, of `int64`: the value before.
    lh_cuda_exch_i64(Ptr, I64) -> [I64];
    /// Counts up to a limit at an address, at once, of `uint64`: the value before.
    lh_cuda_inc_u64(Ptr, I64) -> [I64];
    /// Counts down from a limit at an address, at once, of `uint64`: the value before.
    lh_cuda_dec_u64(Ptr, I64) -> [I64];
    /// Adds at an address, at once, of `float64`: the value before.
    lh_cuda_add_f64(Ptr, F64) -> [F64];
    /// The greater at an address, at once, of `float64`: the value before.
    lh_cuda_max_f64(Ptr, F64) -> [F64];
    /// The lesser at an address, at once, of `float64`: the value before.
    lh_cuda_min_f64(Ptr, F64) -> [F64];
    /// The greater, or the one that is not NaN, at an address, at once, of `float64`: the value before.
    lh_cuda_nanmax_f64(Ptr, F64) -> [F64];
    /// The lesser, or the one that is not NaN, at an address, at once, of `float64`: the value before.
    lh_cuda_nanmin_f64(Ptr, F64) -> [F64];
    /// Replaces at an address if what is there is as expected, of `int64`: the value before.
    lh_cuda_cas_i64(Ptr, I64, I64) -> [I64];
}

/// The run-time function of a name.
pub fn find(name: &str) -> Option<&'static RuntimeFn> {
    TABLE.iter().find(|f| f.name == name)
}

/// The least and the greatest that a function of a launch's shape gives, or of a place in it.
pub fn launch_limits(name: &str) -> Option<(i64, i64)> {
    let axis = name.strip_prefix("lh_cuda_")?;
    match axis.get(..axis.len().checked_sub(1)?)? {
        "tid_" => Some((0, 1023)),
        "bdim_" => Some((1, 1024)),
        "bid_" => Some((0, (1 << 31) - 2)),
        "gdim_" => Some((1, (1 << 31) - 1)),
        _ => None,
    }
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
    /// It will write what perhaps all iterations write there.
    pub const BEFORE: i64 = 4;
    /// It has done so.
    pub const SAME: i64 = 5;
}
