//! Symbols of the run-time library and of generated code to which only the code generator refers; no instruction of the
//! IR names them, so they have no rows.

macro_rules! symbols {
    ($($(#[doc = $doc:literal])* $name:ident = $symbol:literal;)*) => {
        $($(#[doc = $doc])* pub const $name: &str = $symbol;)*
    };
}

symbols! {
    /// The entry point of an object.
    ENTRY = "lh_entry";
    /// The function of an object that other objects call.
    PART = "lh_part";
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
    /// Begins a tuple, whose items follow.
    RAISE_ARG_TUPLE_BEGIN = "lh_raise_arg_tuple_begin";
    /// Ends the tuple.
    RAISE_ARG_TUPLE_END = "lh_raise_arg_tuple_end";
    /// IndexError: axis, index, extent.
    RAISE_INDEX = "lh_raise_index";
    /// The prefix of all functions that raise.
    RAISE = "lh_raise";
    /// Adds a frame to the pending exception.
    TRACEBACK = "lh_traceback";
    /// Reports an exception that cannot leave a callback.
    CALLBACK_FAILED = "lh_callback_failed";
    /// Calls a function of another module.
    FOREIGN_CALL = "lh_foreign_call";

    /// Makes an object with items: capacity, bytes of an item, mask of counted words, where its address goes.
    ITEMS_NEW = "lh_items_new";
    /// Makes an object with entries and fields.
    ENTRIES_NEW = "lh_entries_new";
    /// Makes an object with fields of zeros: bytes, mask of counted words, where its address goes.
    OBJECT_NEW = "lh_object_new";
    /// Lets a generator be closed when its last reference goes: its object, and the function that closes it.
    GENERATOR_CLOSES = "lh_generator_closed_by";
    /// Decrements a reference count.
    DECREF = "lh_decref";
    /// Compiles rarely executed code on its first call.
    RARE_CODE = "lh_rare_code";
    /// The flag that the user's Ctrl-C sets.
    INTERRUPT_FLAG = "lh_interrupt_flag";
    /// Regions of memory that are well within a stack.
    STACK_REGIONS = "lh_stack_regions";
    /// Sets bytes, with polls for Ctrl-C.
    FILL = "lh_fill";
    /// Copies bytes, with polls for Ctrl-C.
    COPY = "lh_copy";

    /// On a GPU, the variable in which the first exception of a launch is noted.
    GPU_ERROR = "lh_error";
    /// On a GPU, the function that waits for the whole grid.
    GRID_SYNC = "lh_grid_sync";
    /// On a GPU, the counter of [`GRID_SYNC`].
    GRID_BARRIER = "lh_grid_barrier";
    /// On a GPU, shared memory whose size the launch gives.
    DYNAMIC_SHARED = "lh_dynamic_shared";
}
