//! Symbols of the run-time library and of generated code that are no rows: the code generator refers to them, and no
//! instruction of the IR names them.

macro_rules! symbols {
    ($($(#[doc = $doc:literal])* $name:ident = $symbol:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: &str = $symbol;)*
    };
}

symbols! {
    /// The entry point of an object.
    ENTRY = "lh_entry";
    /// The prefix of all functions of the math library, and of this list.
    PREFIX = "lh_";
    /// The prefix of functions on vectors of lanes.
    LANES = "lh_lanes";

    /// Begins an exception: its class.
    RAISE_BEGIN = "lh_raise_begin";
    /// An argument of the exception, `None`.
    RAISE_ARG_NONE = "lh_raise_arg_none";
    /// A truth value.
    RAISE_ARG_BOOL = "lh_raise_arg_bool";
    /// A signed integer.
    RAISE_ARG_INT = "lh_raise_arg_int";
    /// An unsigned integer.
    RAISE_ARG_UINT = "lh_raise_arg_uint";
    /// A float.
    RAISE_ARG_FLOAT = "lh_raise_arg_float";
    /// A complex number.
    RAISE_ARG_COMPLEX = "lh_raise_arg_complex";
    /// A string.
    RAISE_ARG_STR = "lh_raise_arg_str";
    /// The arguments that follow are items of a tuple.
    RAISE_ARG_TUPLE_BEGIN = "lh_raise_arg_tuple_begin";
    /// The tuple ends.
    RAISE_ARG_TUPLE_END = "lh_raise_arg_tuple_end";
    /// IndexError: axis, index, extent.
    RAISE_INDEX = "lh_raise_index";
    /// All functions that raise begin so.
    RAISE = "lh_raise";
    /// Adds a frame to the pending exception.
    TRACEBACK = "lh_traceback";
    /// An exception cannot leave a callback.
    CALLBACK_FAILED = "lh_callback_failed";
    /// A call of a function of another module.
    FOREIGN_CALL = "lh_foreign_call";

    /// A new list.
    LIST_NEW = "lh_list_new";
    /// Makes an object with fields of zeros: bytes, mask of counted words, where its address goes.
    OBJECT_NEW = "lh_object_new";
    /// One reference less.
    DECREF = "lh_decref";
    /// Machine code that is made when it is first called.
    RARE_CODE = "lh_rare_code";
    /// The flag that the user's Ctrl-C sets.
    INTERRUPT_FLAG = "lh_interrupt_flag";
    /// Where the thread's stack ends.
    STACK_REGIONS = "lh_stack_regions";
    /// Sets bytes, with polls for Ctrl-C.
    FILL = "lh_fill";
    /// Copies bytes, with polls for Ctrl-C.
    COPY = "lh_copy";

    /// On a GPU, the variable in which the first exception of a launch is noted.
    GPU_ERROR = "lh_error";
    /// On a GPU, the function that waits for the whole grid.
    GRID_SYNC = "lh_grid_sync";
    /// On a GPU, the counter of that function.
    GRID_BARRIER = "lh_grid_barrier";
    /// On a GPU, shared memory whose size the launch gives.
    DYNAMIC_SHARED = "lh_dynamic_shared";
}
