//! The run-time library: functions that compiled code calls through their C signatures.
//!
//! The table of those which the compiler's IR can name is `lh_ops::runtime`; the rest (counting, raising, tracebacks)
//! is called by the code generator. [`address`] finds all of them. Nothing here knows Python or LLVM: `lh-py` installs
//! the few hooks it needs ([`print::set_print_sink`], [`print::set_array_writer`], [`alloc::new_foreign`],
//! [`interrupt::set`]).
//!
//! - `memory`, `object`, `items`, `tables`, `text` and `strings` are the values of compiled code; `exception`, `caught`
//!   and `raise` its exceptions.
//! - `pool` runs parallel loops: a model checker explores its protocol, `pool::board`. `device` runs kernels on the CPU
//!   device, `check` finds conflicts in either.
//! - `random` has NumPy's and Python's streams: one code draws from NumPy's bit generators and from our own.

pub mod callback;
pub mod caught;
mod characters;
pub mod check;
pub mod classes;
mod contraction;
mod dense;
pub mod device;
pub mod exception;
pub mod foreign;
mod fourier;
mod generators;
pub mod interrupt;
pub mod items;
pub mod lazy;
mod linalg;
mod long_sort;
pub mod memo;
mod memory;
pub mod nrt_api;
pub mod object;
mod poll;
pub mod pool;
pub mod python;
mod raise;
pub mod random;
mod repr;
mod shape;
mod sort;
pub mod stack;
mod strings;
pub mod symbol;
pub mod tables;
mod tape;
pub mod text;

pub use exception::{ExcArg, Frame, FunctionInfo, Pending, is_pending, take_pending};
pub use memory::alloc::{self, MemInfo};
pub use memory::emergency::Emergency;
pub use strings::value::{StrValue, text};
pub use strings::{hash, index as string_index, print};
pub use symbol::OutOfMemory;
pub use text::{Text, TextBuf};

use std::collections::HashMap;
use std::sync::LazyLock;
use symbol::Symbol;

/// All functions and globals that compiled code may refer to.
pub fn symbols() -> Vec<Symbol> {
    symbol::set_raise(raise::of_panic);
    let parts = [
        alloc::symbols,
        tape::symbols,
        items::symbols,
        generators::symbols,
        memo::symbols,
        tables::symbols,
        object::symbols,
        callback::symbols,
        python::symbols,
        raise::symbols,
        caught::symbols,
        foreign::symbols,
        stack::symbols,
        interrupt::symbols,
        poll::symbols,
        strings::symbols,
        random::symbols,
        lazy::symbols,
        sort::symbols,
        linalg::symbols,
        dense::symbols,
        fourier::symbols,
        contraction::symbols,
        shape::symbols,
        pool::symbols,
        check::symbols,
        device::symbols,
    ];
    parts.iter().flat_map(|symbols| symbols()).collect()
}

/// Address of a function or global of the run-time library.
pub fn address(name: &str) -> Option<usize> {
    static ADDRESSES: LazyLock<HashMap<&'static str, usize>> =
        LazyLock::new(|| symbols().into_iter().map(|s| (s.name, s.address)).collect());
    ADDRESSES.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lh_ir::runtime::RuntimeFn;
    use lh_ir::types::Prim;
    use symbol::CType;

    fn c_type(p: &Prim) -> CType {
        match p {
            Prim::I1 | Prim::I8 => CType::I8,
            Prim::I16 | Prim::F16 => CType::I16,
            Prim::I32 => CType::I32,
            Prim::I64 => CType::I64,
            Prim::F32 => CType::F32,
            Prim::F64 => CType::F64,
            Prim::Ptr | Prim::Mem | Prim::Object => CType::Ptr,
        }
    }

    /// The C signature of a row, as `RuntimeFn` explains it.
    fn signature(row: &RuntimeFn) -> (Vec<CType>, CType) {
        let mut params: Vec<CType> = row.args.iter().map(c_type).collect();
        let through_pointer = !row.ret.is_empty() && (row.raises || row.ret.len() > 1);
        if through_pointer {
            params.push(CType::Ptr);
        }
        let result = match row.ret {
            _ if row.raises => CType::I32,
            [one] => c_type(one),
            _ => CType::Void,
        };
        (params, result)
    }

    #[test]
    fn every_row_has_a_function_of_its_signature() {
        let all = symbols();
        for row in lh_ops::runtime::all() {
            let found = all.iter().find(|s| s.name == row.name);
            assert_eq!(found.is_none(), row.inlined, "`{}` is emitted inline, or has a function", row.name);
            let Some(s) = found else { continue };
            let (params, result) = signature(row);
            assert_eq!((s.params.as_ref(), s.result), (Some(&params), result), "{}", row.name);
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        let all = symbols();
        for (i, s) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|t| t.name != s.name), "{}", s.name);
            assert_eq!(address(s.name), Some(s.address));
        }
        assert_eq!(address("lh_no_such_function"), None);
    }
}
