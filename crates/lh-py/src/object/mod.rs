//! Objects of Python and NumPy as data: structs of C, classes, numbers, arrays, types as text. Knows no compiler.

pub mod array;
pub mod attach;
pub mod bit_generators;
pub mod buffers;
pub mod by_code;
pub mod canonical;
pub mod class_names;
pub mod constant;
pub mod descriptors;
pub mod errors;
pub mod function;
pub mod int;
pub mod leaving;
pub mod lock;
pub mod memory;
pub mod numpy;
pub mod owner;
pub mod panics;
pub mod paths;
pub mod record_dtype;
pub mod resident;
pub mod scarcity;
pub mod strong_ref;
pub mod text;
pub mod type_text;
pub mod words;
