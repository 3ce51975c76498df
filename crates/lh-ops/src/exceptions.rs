//! Numbers of the builtin exception classes: one list for inference and the run-time library.

use lh_ir::ExcId;

macro_rules! classes {
    ($($konst:ident = $id:literal, $name:literal, $parent:literal;)*) => {
        $(#[doc = $name] pub const $konst: ExcId = ExcId($id);)*
        /// Number, name and base of every builtin class, bases first; `BaseException` is its own base.
        pub const ALL: &[(ExcId, &str, &str)] = &[$((ExcId($id), $name, $parent)),*];
    };
}

/// Whether a number is a builtin class's, the same in every process.
pub fn is_builtin(class: ExcId) -> bool {
    class.index() < ALL.len()
}

classes! {
    BASE_EXCEPTION = 0, "BaseException", "BaseException";
    EXCEPTION = 1, "Exception", "BaseException";
    KEYBOARD_INTERRUPT = 2, "KeyboardInterrupt", "BaseException";
    SYSTEM_EXIT = 3, "SystemExit", "BaseException";
    GENERATOR_EXIT = 4, "GeneratorExit", "BaseException";
    ARITHMETIC_ERROR = 5, "ArithmeticError", "Exception";
    ZERO_DIVISION_ERROR = 6, "ZeroDivisionError", "ArithmeticError";
    OVERFLOW_ERROR = 7, "OverflowError", "ArithmeticError";
    FLOATING_POINT_ERROR = 8, "FloatingPointError", "ArithmeticError";
    LOOKUP_ERROR = 9, "LookupError", "Exception";
    INDEX_ERROR = 10, "IndexError", "LookupError";
    KEY_ERROR = 11, "KeyError", "LookupError";
    VALUE_ERROR = 12, "ValueError", "Exception";
    TYPE_ERROR = 13, "TypeError", "Exception";
    RUNTIME_ERROR = 14, "RuntimeError", "Exception";
    RECURSION_ERROR = 15, "RecursionError", "RuntimeError";
    NOT_IMPLEMENTED_ERROR = 16, "NotImplementedError", "RuntimeError";
    MEMORY_ERROR = 17, "MemoryError", "Exception";
    ASSERTION_ERROR = 18, "AssertionError", "Exception";
    STOP_ITERATION = 19, "StopIteration", "Exception";
    NAME_ERROR = 20, "NameError", "Exception";
    UNBOUND_LOCAL_ERROR = 21, "UnboundLocalError", "NameError";
    ATTRIBUTE_ERROR = 22, "AttributeError", "Exception";
    OS_ERROR = 23, "OSError", "Exception";
    IMPORT_ERROR = 24, "ImportError", "Exception";
    SYSTEM_ERROR = 25, "SystemError", "Exception";
    UNICODE_ERROR = 26, "UnicodeError", "ValueError";
    EOF_ERROR = 27, "EOFError", "Exception";
    BUFFER_ERROR = 28, "BufferError", "Exception";
    PARALLEL_RACE_ERROR = 29, "ParallelRaceError", "ValueError";
    UNICODE_ENCODE_ERROR = 30, "UnicodeEncodeError", "UnicodeError";
    UNICODE_DECODE_ERROR = 31, "UnicodeDecodeError", "UnicodeError";
}
